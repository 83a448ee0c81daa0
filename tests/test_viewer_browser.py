"""The row viewer as readers meet it, in Chromium: filter, link, keys, label, download, phones, many rows."""

import csv
import io
import json
import threading

import pytest
from axe_playwright_python.sync_playwright import Axe
from genqa_metrics.reports.table import page as html_page
from genqa_metrics.reports.table import render
from genqa_metrics.reports.viewer import ViewedAnswer, viewer, viewer_script
from genqa_metrics.verbs.view.page import server, viewed
from playwright.sync_api import expect

from tests.factories.files import save
from tests.test_viewer import NASTY, judged_rows

TIMEOUT = 15_000  # milliseconds; the machine may be busy
VIEWS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]


def written(path, answers):
    """Write a page of answers; return its address."""
    body = render("view.html", title="Answers", headline="Judged right", notes=[], further=[]) + viewer(
        answers, command="x"
    )
    path.write_text(html_page("Answers", body, render("viewer.css"), script=viewer_script()), encoding="utf-8")
    return path.as_uri()


def answers():
    """Answers of two systems to twelve questions; those with an even number are right, one is unsure, two labelled."""
    result = []
    for n in range(24):
        is_right, system = n % 4 != 3, ("brief", "assistant")[n % 2]
        result.append(
            ViewedAnswer(
                f"{n:016x}",
                f"What does item {n // 2} cost?",
                ["$1,299.50", "1299.50 dollars"],
                system,
                "The **price** is $1,299.50." if is_right else "It costs $1,299 =1+1.",
                f"q{n // 2}-{system}",
                verdict=is_right,
                probability=0.5 if n == 4 else 0.97 if is_right else 0.004,
                label={0: 1.0, 3: 1.0}.get(n),
                kind="" if is_right else "wrong value",
                topic=("law", "art")[n // 2 % 2],
                drawn=(n, 0.5, 6) if n % 4 == 1 else None,
            )
        )
    return result


@pytest.fixture
def visit(browser):
    """Open a page; at the end nothing outside was asked for, nothing failed, and no text was run."""
    opened, problems = [], []

    def open_page(address, width=1280, scheme="light"):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.set_default_timeout(TIMEOUT)
        local = (address.partition("#")[0].rpartition("/")[0], "blob:")
        page.on("request", lambda sent: sent.url.startswith(local) or problems.append(f"asked for {sent.url}"))
        page.on("pageerror", lambda error: problems.append(f"page error {error}"))
        page.on("console", lambda said: problems.append(said.text))
        page.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
        page.goto(address)
        opened.append(page)
        return page

    expect.set_options(timeout=TIMEOUT)
    yield open_page
    for page in opened:
        assert page.evaluate("window.hacked") is None
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
        page.close()
    assert problems == []


def options(page):
    """Open the menu with the columns, what is rarely chosen, and the keys."""
    page.get_by_text("Options", exact=True).click()


def systems(page):
    return page.locator("tbody tr[id] td.of-system").all_inner_texts()


def shown(page):
    return page.locator(".dt-info").inner_text()


def test_filters_show_what_fits_and_the_link_shows_the_same(visit, tmp_path):
    page = visit(written(tmp_path / "page.html", answers()))
    assert shown(page) == "1 to 24 of 24 answers"
    page.get_by_role("combobox", name="System").select_option("assistant")
    page.get_by_role("combobox", name="Judge").select_option("wrong")
    expect(page.locator(".dt-info")).to_have_text("1 to 6 of 6 answers (24 in all)")
    counts = {name: page.get_by_role("combobox", name=name).inner_text().split("\n") for name in ("System", "Judge")}
    assert counts["System"] == ["all", "assistant (6)", "brief (0)"], "of the wrong answers"
    assert counts["Judge"] == ["all", "right (6)", "unsure (0)", "wrong (6)"], "of the answers of assistant"
    page.get_by_label("Find").fill("item (1|3|5) cost")
    expect(page.locator(".dt-info")).to_contain_text("No answers")
    options(page)
    page.get_by_label("regular expression").check()
    options(page)
    expect(page.locator("tbody tr[id]")).to_have_count(3)
    page.get_by_role("columnheader", name="Question").click()
    page.get_by_role("columnheader", name="Question").click()
    first = page.locator("tbody tr[id]").first
    expect(first).to_contain_text("item 5")
    page.keyboard.press("j")
    expect(page.locator(".detail")).to_contain_text("item 5")
    again = visit(page.url)
    expect(again.locator(".detail")).to_contain_text("item 5")
    assert systems(again) == ["assistant"] * 3
    assert again.get_by_label("Find").input_value() == "item (1|3|5) cost"
    again.get_by_label("Find").fill("item (")
    expect(again.get_by_role("status").first).to_contain_text("Not a regular expression")
    assert again.locator("tbody tr[id]").count() == 6


def test_filters_of_agreement_reason_topic_and_columns(visit, tmp_path):
    page = visit(written(tmp_path / "page.html", answers()))
    page.get_by_role("combobox", name="Agreement").select_option("label and judge disagree")
    expect(page.locator("tbody tr[id]")).to_have_count(1)
    page.get_by_role("button", name="Only where systems differ (10)").click()
    expect(page.locator("tbody tr[id]")).to_have_count(10)  # of six such questions one has labels that agree
    expect(page.get_by_role("combobox", name="Agreement")).to_have_value("systems differ")
    page.get_by_role("button", name="All answers").click()
    page.get_by_role("combobox", name="Topic").select_option("art")
    page.get_by_role("combobox", name="Judge").select_option("unsure")
    expect(page.locator(".dt-info")).to_contain_text("No answers")
    page.get_by_role("combobox", name="Topic").select_option("law")
    expect(page.locator("tbody tr[id]")).to_have_count(1)
    options(page)
    page.get_by_role("checkbox", name="Probability").check()
    expect(page.locator("td.of-probability")).to_have_text("0.50")
    page.get_by_role("checkbox", name="Answer").uncheck()
    expect(page.locator("td.of-answer")).to_have_count(0)
    assert visit(page.url).locator("td.of-probability").inner_text() == "0.50"


def test_a_row_opens_with_every_answer_and_the_words_that_differ(visit, tmp_path):
    page = visit(written(tmp_path / "page.html", answers()))
    page.get_by_role("button", name="What does item 1 cost?").last.focus()
    page.keyboard.press("Enter")
    detail = page.locator(".detail")
    expect(detail.locator("strong")).to_have_text("price")
    assert detail.locator("h3").all_inner_texts() == [
        "Question", "Accepted", "assistant ✓ right judge: wrong", "brief ✓ judged right"
    ]  # fmt: skip
    pairs = detail.locator(".pair")
    assert "1,299" in pairs.first.locator("> div").nth(1).locator("u").all_inner_texts()
    assert pairs.first.locator("> div").first.locator("u").all_inner_texts() == ["1,299.50"], "what the answer lacks"
    page.get_by_label("Compare words with").select_option("brief")
    expect(pairs.last.locator("u").first).to_have_text("The")
    assert pairs.first.locator("> div").first.locator("u").count() == 0
    page.get_by_role("button", name="Show raw text").click()
    expect(detail.locator("strong")).to_have_count(0)
    expect(detail).to_contain_text("The **price** is")
    page.keyboard.press("j")
    expect(detail).to_contain_text("item 2")
    page.keyboard.press("k")
    page.keyboard.press("k")
    expect(detail).to_contain_text("item 1")
    page.keyboard.press("Escape")
    expect(detail).to_have_count(0)
    assert "row=" not in page.url


def test_csv_has_what_is_filtered(visit, tmp_path):
    page = visit(written(tmp_path / "page.html", answers()))
    page.get_by_role("combobox", name="Judge").select_option("wrong")
    options(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV of these rows").click()
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
    assert len(rows) == 6
    assert {row["system"] for row in rows} == {"assistant"}
    assert rows[0]["references"] == "'$1,299.50 | 1299.50 dollars" or rows[0]["references"].startswith("$1,299.50")
    assert rows[0]["probability"] == "0.004"


def test_blind_hides_system_and_verdict_also_of_a_link_and_a_file(visit, tmp_path):
    page = visit(written(tmp_path / "page.html", answers()))
    options(page)
    page.get_by_label("blind").check()
    page.keyboard.press("Tab")
    for hidden in ("System", "Judge", "Agreement", "Reason"):
        assert page.get_by_role("combobox", name=hidden).count() == 0
    page.locator("body").press("j")
    text = visit(page.url).locator("main").inner_text()
    assert "assistant" not in text
    assert "judged" not in text
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV of these rows").click()
    assert not {"system", "verdict", "probability"} & {*download.value.path().read_text().split("\n")[0].split(",")}


def test_an_open_answer_is_labelled_only_while_system_and_verdict_are_hidden(visit, tmp_path):
    page = visit(written(tmp_path / "page.html", answers()))
    page.keyboard.press("j")
    page.keyboard.press("y")
    expect(page.get_by_role("status").first).to_contain_text("Labels are given blind: press b")
    assert page.get_by_role("button", name="right (y)").count() == 0
    page.get_by_role("button", name="Label blind (b)").click()
    assert "brief" not in page.locator(".detail").inner_text()
    page.keyboard.press("y")
    expect(page.get_by_role("status").first).to_contain_text("Labelled right.")


def test_labels_of_a_page_without_a_server_are_downloaded(visit, tmp_path):
    page = visit(written(tmp_path / "page.html", answers()))
    page.get_by_role("button", name="Label 6 answers").click()
    asked = page.locator(".labelling")
    expect(asked).to_contain_text("0 of 6 labelled")
    assert "assistant" not in asked.inner_text()
    assert "judged" not in asked.inner_text()
    for key, said in (
        ("y", "1 of 6"),
        ("n", "2 of 6"),
        ("u", "1 of 6"),
        ("s", "1 of 6"),
        ("1", "2 of 6"),
        ("0", "3 of 6"),
    ):
        page.keyboard.press(key)
        expect(asked).to_contain_text(f"{said} labelled")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the labels").click()
    rows = [json.loads(line) for line in download.value.path().read_text().splitlines()]
    assert [(row["id"], row["label"]) for row in rows] == [
        ("q0-assistant", 1), ("q4-assistant", 1), ("q6-assistant", 0)
    ]  # fmt: skip
    assert {row["genqa_planned"] for row in rows} == {6}
    page.keyboard.press("Escape")
    expect(page.get_by_role("combobox", name="Label")).to_be_visible()


@pytest.fixture
def labelling(visit, tmp_path):
    """Return a page of 40 answers that is served, and its file of labels."""
    labels = tmp_path / "labels.jsonl"
    of_rows = viewed(save(tmp_path / "rows.jsonl", judged_rows(20)), labels, columns={"judge": "by"}, rater="ann")
    running = server(of_rows, None)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield visit(f"http://127.0.0.1:{running.server_port}/"), labels
    running.shutdown()
    running.server_close()


def test_labels_are_saved_while_the_interval_narrows(labelling):
    page, labels = labelling
    page.get_by_role("button", name="Label 40 answers").click()
    for n in range(40):
        answer = page.locator(".labelling .pair > div").nth(1).inner_text()
        page.keyboard.press("y" if "four" in answer else "n")
        expect(page.locator(".labelling")).to_contain_text(f"{n + 1} of 40 labelled")
    # Of both systems: the server counts what it has saved, the page what was pressed.
    expect(page.locator(".estimates p", has_text="from labels; 20 of 20 labelled")).to_have_count(2)
    assert "%" not in page.locator(".estimates").inner_text().replace("95% interval", ""), "numbers in one format"
    assert len(labels.read_text().splitlines()) == 40
    page.reload()
    expect(page.locator(".labelling")).to_contain_text("All 40 answers are labelled.")
    page.keyboard.press("Escape")
    expect(page.get_by_role("columnheader", name="Label")).to_be_visible()
    expect(page.get_by_role("button", name="Label 40 answers (40 done)")).to_be_visible()
    page.get_by_role("combobox", name="Agreement").select_option("label and judge agree")
    expect(page.locator(".dt-info")).to_have_text("1 to 25 of 40 answers")


def test_undo_takes_back_a_skip_or_a_label(labelling):
    page, _ = labelling
    page.get_by_role("button", name="Label 40 answers").click()
    told, shown = page.locator(".labelling .progress"), page.locator(".labelling .detail")
    page.keyboard.press("y")
    expect(told).to_contain_text("1 of 40 labelled")
    second = shown.inner_text()
    for key, labelled, is_second in (("s", 1, False), ("u", 1, True), ("u", 0, False)):
        page.keyboard.press(key)
        expect(told).to_contain_text(f"{labelled} of 40 labelled")
        assert (shown.inner_text() == second) == is_second


def test_labels_of_a_file_are_told_from_those_of_the_page(visit, tmp_path):
    """A page that does not save: twelve answers have labels in a file that `label` did not make."""
    rows = judged_rows(15)
    save(tmp_path / "labels.jsonl", [{**row, "label": 1} for row in rows[:12]])
    html = viewed(save(tmp_path / "rows.jsonl", rows), tmp_path / "labels.jsonl", columns={"judge": "by"}).html
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    page = visit((tmp_path / "page.html").as_uri())
    page.get_by_role("button", name="Label 30 answers").click()
    page.keyboard.press("y")
    told = page.locator(".labelling .progress")
    expect(told).to_contain_text("12 labels from your file, 1 here. All 30 answers are asked, in random order")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the labels").click()
    assert download.value.suggested_filename == "new_labels.jsonl"


def test_labels_are_sent_one_after_another(labelling):
    """A label that is taken back at once cannot reach the server before the label itself."""
    page, labels = labelling
    held = []
    page.route("**/label", lambda route: held.append(route))
    page.get_by_role("button", name="Label 40 answers").click()
    page.keyboard.press("y")
    page.keyboard.press("u")
    expect(page.locator(".labelling")).to_contain_text("0 of 40 labelled")
    page.wait_for_timeout(300)
    assert len(held) == 1
    assert held[0].request.post_data_json["label"] == 1
    page.route("**/label", lambda route: route.continue_())  # from now on
    with page.expect_response(lambda answer: '"label":null' in (answer.request.post_data or "")):
        held[0].continue_()
    assert labels.read_text() == ""


def test_hostile_texts_are_shown_and_not_run(visit, tmp_path):
    hostile = [
        ViewedAnswer("k", NASTY, [NASTY], NASTY, NASTY, reason=NASTY, kind=NASTY, topic=NASTY, passages=[NASTY])
    ]
    page = visit(written(tmp_path / "page.html", hostile))
    page.keyboard.press("j")
    expect(page.locator(".detail")).to_contain_text("<img src=x onerror=window.hacked=1>")
    assert page.locator("img, a[href^='javascript'], main script:not([type])").count() == 0


@pytest.mark.parametrize(("width", "scheme"), VIEWS)
def test_every_view_is_accessible_and_fits(visit, tmp_path, width, scheme):
    page = visit(written(tmp_path / "page.html", answers()), width, scheme)
    for key in ("j", "Escape", "Options", ""):
        if key == "Options":
            options(page)
        elif key:
            page.keyboard.press(key)
        else:
            page.get_by_role("button", name="Label 6 answers").click()
        problems = Axe().run(page).response["violations"]
        assert [(of["id"], [node["html"][:200] for node in of["nodes"]]) for of in problems] == []
        boxes = "[...document.querySelectorAll('main *')].filter(e => e.scrollHeight > e.clientHeight + 1 && "
        boxes += "/auto|scroll/.test(getComputedStyle(e).overflowY + getComputedStyle(e).overflowX)).length"
        assert page.evaluate(boxes) == 0, "no box scrolls inside the page"


def test_20_000_rows_are_filtered_and_opened(visit, tmp_path):
    many = [
        ViewedAnswer(f"{n:016x}", f"Question {n // 2}?", ["four steps"], "ab"[n % 2], f"It has {n} steps. " * 20)
        for n in range(20_000)
    ]
    page = visit(written(tmp_path / "page.html", many))
    expect(page.locator("tbody tr[id]")).to_have_count(25)
    assert shown(page) == "1 to 25 of 20,000 answers"
    expect(page.locator(".dt-paging")).to_contain_text("800")
    page.get_by_label("Find").fill("question 9876?")
    expect(page.locator("tbody tr[id]")).to_have_count(2)
    page.get_by_role("button", name="Question 9876?").first.click()
    expect(page.locator(".detail")).to_contain_text("It has 19752 steps.")
