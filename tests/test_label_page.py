"""The page of `label --web` as raters meet it: a process of its own, in Chromium."""

import json
import re
import sys

import pytest
from playwright.sync_api import expect

from tests.factories.spaces import check_accessibility, free_port, started
from training.common import write_rows

TIMEOUT = 120_000  # milliseconds; the machine may be busy
ROWS = [
    {"question": f"How many steps has a test of hypothesis {n}?", "prediction": said, "system": system}
    | {"references": ["four steps", "4"]}
    for n in range(2)
    for system, said in (
        ("secretsystem", "It has:\n\n- <b>seven</b> steps\n  - in order."),
        ("othersystem", "It has:\n\n- four steps\n  - in order."),
    )
]


@pytest.fixture
def open_page(browser, tmp_path):
    """Start the command on rows, and open its page in windows of some width; nothing outside is asked for."""
    processes, problems, pages = [], [], []

    def start(rows, *arguments):
        write_rows(tmp_path / "rows.jsonl", rows)
        port = free_port()
        command = [sys.executable, "-c", "from genqa_metrics.cli import main; main()", "label", "rows.jsonl"]
        command += ["-o", "labels.jsonl", "--web", "--port", str(port), "--uniform-share", "1", *arguments]
        processes.append(started(command, port, tmp_path / "log.txt", cwd=tmp_path))

        def window(width, rater):
            page = browser.new_page(viewport={"width": width, "height": 800})
            pages.append(page)
            page.set_default_timeout(TIMEOUT)
            page.on("request", lambda asked: asked.url.startswith((address, "data:")) or problems.append(asked.url))
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.goto(address)
            expect(page.get_by_role("button", name="Begin or resume")).to_be_visible()
            assert page.locator("button.key:visible").count() == 0, "nobody labels without a name"
            page.get_by_label("Name").fill(rater)
            page.get_by_label("Name").press("Enter")
            # The buttons of the values and the comment below them come last; from here on keys work.
            expect(page.locator("#comment").or_(page.get_by_text("Thank you"))).to_be_visible()
            return page

        address = f"http://127.0.0.1:{port}"
        return window

    expect.set_options(timeout=TIMEOUT)
    yield start
    for page in pages:
        page.close()
    for process in processes:
        process.terminate()
        process.wait(20)
    assert problems == []


def labels(folder):
    return [json.loads(line) for line in (folder / "labels.jsonl").read_text().splitlines()]


def assert_fits(page):
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]


def test_raters_label_with_keys_and_resume(open_page, tmp_path):
    window = open_page(ROWS, "-n", "2")
    ann = window(1280, "ann")
    asked, card = ann.locator("#asked"), ann.locator("#task")
    expect(asked).to_contain_text("1 of 4")
    left = "element => element.getBoundingClientRect().left"
    places = [ann.locator(name).evaluate(left) for name in ("#asked p", ".progress", ".card")]
    assert max(places) - min(places) < 1, "all parts begin at the same edge"
    assert "secretsystem" not in ann.content()
    expect(card).to_contain_text("four steps")
    assert re.search(r"It has:\n\n- .*steps\n  - in order", card.inner_text()), "lists keep their lines"
    assert ann.get_by_role("progressbar").get_attribute("max") == "4"
    expect(ann.get_by_role("button", name="y · right")).to_be_visible()
    assert_fits(ann)
    first = card.text_content()
    for key, then in (("y", "2 of 4"), ("0", "3 of 4"), ("u", "2 of 4"), ("y", "3 of 4")):
        ann.keyboard.press(key)
        expect(asked).to_contain_text(then)
    expect(ann.get_by_role("button", name="u · undo the last label (right)")).to_be_visible()
    third = card.text_content()
    for _ in range(2):
        ann.keyboard.press("s")  # this row comes last
        expect(card).not_to_have_text(third)
        ann.keyboard.press("u")  # the skip, not a label
        expect(card).to_have_text(third)
        expect(asked).to_contain_text("3 of 4")
    ann.keyboard.press("s")
    expect(card).not_to_have_text(third)
    expect(ann.get_by_role("button", name="u · undo the skip")).to_be_visible()
    bob = window(390, "bob")
    expect(bob.locator("#asked")).to_contain_text("1 of 4")
    assert bob.locator("#task").text_content() == first
    assert_fits(bob)
    bob.get_by_role("button", name="n · wrong").click()
    expect(bob.locator("#asked")).to_contain_text("2 of 4")
    again = window(1280, "ann")
    expect(again.locator("#asked")).to_contain_text("3 of 4")
    for then in ("4 of 4", "All 4 answers"):
        again.keyboard.press("1")
        expect(again.locator("#asked")).to_contain_text(re.compile(then))
    expect(again.locator("#asked code")).to_have_text("genqa-metrics accuracy rows.jsonl --labels labels.jsonl")
    found = labels(tmp_path)
    assert [row["label"] for row in found if row["rater"] == "ann"] == [1, 1, 1, 1]
    assert [row["label"] for row in found if row["rater"] == "bob"] == [0]


def test_no_label_is_lost_or_given_twice(open_page, tmp_path):
    """Who presses in the moment that a row appears is heard; of two clicks in one moment the second is not."""
    page = open_page(ROWS)(1280, "ann")
    press = """() => {
        const asked = document.querySelector("#asked"), seen = new Set();
        const buttons = () => [...document.querySelectorAll("button.key")];
        const click = () => buttons().find((button) => button.textContent.trim()[0] === "y")?.click();
        new MutationObserver(() => {
            const place = asked.textContent.match(/[234] of 4/)?.[0];
            if (!place || seen.has(place)) return;
            seen.add(place);
            click();
            click();
        }).observe(asked, {childList: true, characterData: true, subtree: true});
        click();
        click();
    }"""
    page.evaluate(press)
    expect(page.locator("#asked")).to_contain_text("All 4 answers")
    assert [row["label"] for row in labels(tmp_path)] == [1, 1, 1, 1]


@pytest.mark.slow
def test_comments_agreement_and_a_second_pass(open_page, tmp_path):
    """Buttons are there from the name to the last row, and favour none; rows labelled differently come once more."""
    window = open_page(ROWS[:2], "-n", "2")
    for rater, keys, width in (("ann", "yy", 390), ("bob", "yn", 1280)):
        page = window(width, rater)
        page.emulate_media(color_scheme="dark" if rater == "ann" else "light")
        buttons = [page.get_by_role("button", name=name) for name in ("y · right", "n · wrong")]
        expect(buttons[0]).to_be_visible()
        # In one moment: colours change gradually from light to dark.
        style = "b => ['color', 'backgroundColor', 'borderColor'].map(name => getComputedStyle(b)[name])"
        styles = f"(first, second) => [first, second].map({style})"
        first, second = buttons[0].evaluate(styles, buttons[1].element_handle())
        assert first == second
        check_accessibility(page)
        for place, key in enumerate(keys, 1):
            expect(page.locator("#asked")).to_contain_text(f"{place} of 2")
            if rater == "bob" and place == 2:
                page.keyboard.press("c")
                page.keyboard.type("yes, but seven is wrong")
                page.keyboard.press("Enter")
            page.keyboard.press(key)
        expect(page.locator("#asked")).to_contain_text("All 2 answers")
        expect(page.get_by_role("button", name="y · right")).to_be_hidden()
    expect(page.get_by_text("Raters agree on 1 of 2 answers")).to_be_visible()
    assert labels(tmp_path)[-1]["comment"] == "yes, but seven is wrong"
    again = window(390, "ann")
    again.get_by_role("button", name="1 answer is labelled differently by another rater").click()
    expect(again.locator("#asked")).to_contain_text("Second pass, 1 left: keep your label or change it")
    expect(again.locator("#task")).to_contain_text("you: right")
    expect(again.locator("#task")).to_contain_text("bob: wrong · “yes, but seven is wrong”")
    expect(again.get_by_text("the answer says what an accepted answer says")).to_be_hidden()  # folded guidelines
    assert_fits(again)
    again.keyboard.press("n")
    expect(again.locator("#asked")).to_contain_text("You have looked at all disagreements")
    found = {(row["item"], row["rater"]): row for row in labels(tmp_path)}
    assert len(found) == 4
    [settled] = [row for row in found.values() if row.get("second_pass")]
    assert (settled["rater"], settled["label"]) == ("ann", 0)
