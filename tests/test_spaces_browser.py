"""The demos as visitors meet them: each app runs as a process of its own, in Chromium and through gradio_client."""

import base64
import contextlib
import json
import os
import re
import sys
import zlib
from pathlib import Path

import genqa_metrics
import httpx
import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError
from playwright.sync_api import Page, expect

from tests.factories.cases import tables
from tests.factories.spaces import CALLS, assert_same_scores, check_accessibility, free_port, started

TIMEOUT = 120_000  # milliseconds; the machine may be busy
expect.set_options(timeout=TIMEOUT)
WIDTHS = {"desktop": 1280, "phone": 390}
VIEWS = {f"{device}-{scheme}": (width, scheme) for device, width in WIDTHS.items() for scheme in ("light", "dark")}

# Demos share their forms, and each takes long to start: `make test` looks at two of them.
TWO_ARE_QUICK = [
    pytest.param(name, marks=[] if name in ("ava", "aev") else pytest.mark.slow) for name in genqa_metrics.METRICS
]

# Whoever reads one of these as HTML, Markdown or a template sets window.hacked, or asks for an address.
NASTY = (
    "<script>window.hacked=1</script><img src=x onerror=window.hacked=1>"
    "[link](javascript:window.hacked=1)![i](http://192.0.2.1/a.png)<b>bold</b>${window.hacked=1}{{7*7}}"
)

# Every connection that is not to this machine is refused and written down.
NO_NETWORK = """
import os, socket
def guarded(name):
    original = getattr(socket.socket, name)
    def connect(self, address):
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost", "0.0.0.0"):
            with open(os.environ["CONNECTIONS"], "a") as file:
                file.write(f"{address}\\n")
            raise OSError("no network in this test")
        return original(self, address)
    setattr(socket.socket, name, connect)
guarded("connect"), guarded("connect_ex")
"""

# The demo of grounding with a judge that needs no download; the checkout leaves the path again, see `address`.
WITH_WORD_JUDGE = """
import runpy, sys
from pathlib import Path
import pytest
app = Path(sys.argv[1])
sys.path.insert(0, str(app.parents[2]))
from tests.factories.grounding import use_word_judge
sys.path[0] = str(app.parents[1])
from common import server
server.is_here = lambda model: True
use_word_judge(pytest.MonkeyPatch())
runpy.run_path(str(app), run_name="__main__")
"""


@pytest.fixture(scope="session")
def connections(tmp_path_factory):
    return tmp_path_factory.mktemp("connections")


@pytest.fixture(scope="session")
def address(repository, connections, tmp_path_factory):
    """From the name of a demo to its address; started when first asked for."""
    (connections / "sitecustomize.py").write_text(NO_NETWORK)
    servers = {}

    def start(name):
        if name not in servers:
            port = free_port()
            folder = tmp_path_factory.mktemp(name)
            # without the checkout, whose folder spaces/ Gradio would take for the package of the Hub
            others = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
            others = [path for path in others if Path(path).resolve() != repository.resolve()]
            environment = os.environ | {
                "CONNECTIONS": str(connections / f"{name}.txt"),
                "GRADIO_SERVER_PORT": str(port),
                "GRADIO_TEMP_DIR": str(folder / "gradio"),
                "PYTHONPATH": os.pathsep.join([str(connections), *others]),
            }
            if name == "aev":  # as on the Hub, where Gradio adds what our policy forbids
                environment |= {"SYSTEM": "spaces", "SPACE_ID": "ns/aev", "SPACE_HOST": "ns-aev.hf.space"}
            judge = ["-c", WITH_WORD_JUDGE] if name == "grounding" else []
            command = [sys.executable, *judge, repository / "spaces" / name / "app.py"]
            process = started(command, port, folder / "log.txt", cwd=folder, env=environment)
            servers[name] = process, f"http://127.0.0.1:{port}"
        return servers[name][1]

    yield start
    for process, _ in servers.values():
        process.terminate()
        process.wait(20)


@pytest.fixture(scope="session")
def client(address):
    clients = {}

    def connect(name):
        if name not in clients:
            clients[name] = Client(address(name), verbose=False, analytics_enabled=False)
        return clients[name]

    return connect


# Gradio says to screen readers what a run does, for a second; a key without a text is one of two words.
UNTRANSLATED = """window.untranslated = []; new MutationObserver(changes => window.untranslated.push(
  ...changes.map(change => change.target.data).filter(text => /^[a-z]+\\.[a-z_]+$/.test(text))))
  .observe(document, {characterData: true, subtree: true});"""


@pytest.fixture
def visit(browser, address):
    """Open a demo; at the end nothing outside was asked for, nothing failed, and nothing typed was run."""
    opened = []

    def open_page(name, width=1280, scheme="light") -> Page:
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.set_default_timeout(TIMEOUT)
        problems = []
        local = (address(name), "data:", "blob:")
        page.on("request", lambda sent: sent.url.startswith(local) or problems.append(f"asked for {sent.url}"))
        page.on("pageerror", lambda error: problems.append(f"page error {error}"))
        # Gradio catches them
        page.on("console", lambda said: "js_on_load" not in said.text or problems.append(said.text))
        page.on("dialog", lambda dialog: (problems.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.add_init_script(UNTRANSLATED)
        page.goto(address(name))
        page.get_by_role("heading", level=1).wait_for()
        opened.append((page, problems))
        return page

    yield open_page
    for page, problems in opened:
        assert problems == []
        assert page.evaluate("window.hacked") is None
        assert page.evaluate("window.untranslated") == []
        assert page.locator("img[onerror], a[href^='javascript'], img[src*='192.0.2.1']").count() == 0
        width = page.viewport_size["width"]
        assert page.evaluate("document.documentElement.scrollWidth") <= width, "the page scrolls sideways"
        page.close()


def example(page: Page, label: str) -> None:
    page.get_by_role("button", name=label).click()


def status(page: Page):
    """Where the page says what it found; screen readers are told when it changes."""
    return page.locator("[role=status].status:visible")


def result(page: Page, text: str) -> None:
    expect(status(page).first).to_contain_text(text)


def says(page: Page, text: str) -> None:
    """The message in place of results holds a text."""
    expect(status(page).locator(".problem")).to_contain_text(text)


def field(page: Page, label: str):
    # Behind the label stands what the field says of itself.
    return page.get_by_role("textbox", name=re.compile(rf"^\s*{label}"))


def upload(page: Page, path: Path) -> None:
    page.locator("input[type=file]:not([disabled])").first.set_input_files(path)
    expect(page.get_by_text(path.suffix).first).to_be_visible()


def press(page: Page) -> None:
    """Press the main button; a click at a place could miss it, which moves while a report finds its height."""
    page.locator("button.primary:visible").first.dispatch_event("click")


def framed(page: Page):
    """The report of the toolkit, in its frame, which is as high as the report."""
    return page.frame_locator("iframe:visible").first


def python(page: Page):
    """Open the Python code and return it; a click is lost while the page draws its results again."""
    code = page.locator(".python code").first
    for _ in range(5):
        page.get_by_role("button", name="Python code for this").click()
        with contextlib.suppress(AssertionError):
            expect(code).to_be_attached(timeout=5_000)
            break
    return code


def check_views(page: Page, *views: str) -> None:
    """Look for barriers in each view of an open page."""
    for view in views:
        width, scheme = VIEWS[view]
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate("dark => document.body.classList.toggle('dark', dark)", scheme == "dark")
        check_accessibility(page)


# By demo: what it opens with, the label of an example, and its result.
WAYS = {
    "kpqa": (
        "The weights lower ROUGE-L from 0.74",
        "Paper, table 5: right, in other words",
        "People gave this answer 0.94.",
    ),
    "f_meta": (
        "Covers 1 of 3",
        "Paper, appendix A: one question for two",
        "Cannot tell how many of 2 reference questions",
    ),
    "grounding": (
        "0 of 3 sentences judged supported",
        "Nothing is stated",
        "states nothing that a passage could support",
    ),
    "ava": ("The judge calls it right. Probability 0.99", "A wrong name", "The judge calls it wrong."),
}


def around_the_plane(page: Page) -> None:
    """Buttons, cells and sliders choose settings; a cell keeps the focus until it moves elsewhere."""
    result(page, "AEv(0.5, 2):")
    here, alpha = page.locator("table.plane td.here"), page.get_by_role("slider", name="alpha")
    expect(here).to_have_count(1)
    assert "BLEU" not in page.locator("table.plane").inner_text(), "words are stemmed: this corner is not BLEU"
    page.get_by_role("button", name="BLEU-4", exact=True).click()
    result(page, "without smoothing")
    expect(here).to_contain_text("BLEU")
    page.get_by_role("button", name="alpha 0.3, N 2").click()
    result(page, "AEv(0.3, 2):")
    expect(here.locator("button")).to_be_focused()
    alpha.focus()
    page.keyboard.press("ArrowRight")
    result(page, "AEv(0.4, 2):")
    page.get_by_role("button", name="alpha 0.7, N 2").click()
    alpha.focus()
    result(page, "AEv(0.7, 2):")
    page.wait_for_timeout(200)  # the cell would take the focus 50 ms after it is drawn
    expect(alpha).to_be_focused()


@pytest.mark.parametrize("name", TWO_ARE_QUICK)
def test_main_path(name, visit):
    page = visit(name, *VIEWS["phone-dark"])
    assert page.evaluate("document.body.classList.contains('dark')")
    if name == "aev":
        around_the_plane(page)
    else:
        opening, label, shown = WAYS[name]
        result(page, opening)
        example(page, label)
        result(page, shown)
        assert -1 <= status(page).first.bounding_box()["y"] < 900, "what was found is in view, on a phone too"
    check_views(page, "phone-dark", "desktop-light")


def own_answers(page: Page) -> None:
    """Unfold the fields of the comparison."""
    page.get_by_role("button", name="Compare your own answers").click()
    expect(field(page, "Questions")).to_be_visible()


@pytest.mark.parametrize("view", [pytest.param("desktop-light", marks=pytest.mark.slow), "phone-dark"])
def test_systems_are_compared(view, visit):
    """The answer first, then the report; the fields are folded until somebody wants them."""
    page = visit("compare", *VIEWS[view])
    result(page, "Accuracy by labels: own words is significantly better")
    expect(page.get_by_role("table", name="Right answers")).to_contain_text("ROUGE-L")
    box = page.locator(".headline:visible").bounding_box()
    assert box["y"] + box["height"] < 900, "the headline is on the first screen"
    look_at_rows(framed(page))
    assert page.locator("iframe").evaluate(FITS)
    check_accessibility(page)
    own_answers(page)
    for _ in range(5):  # a field that was drawn a moment ago can lose what is typed into it
        if field(page, "Questions").is_hidden():
            own_answers(page)
        field(page, "Answers of system 2").fill("12")
        press(page)
        with contextlib.suppress(AssertionError):
            expect(status(page).locator(".problem")).to_be_visible(timeout=10_000)
            break
    says(page, "Answers of own words: 1 lines for 12 questions")
    expect(field(page, "Questions")).to_be_visible()
    field(page, "Answers of system 2").fill("")
    press(page)
    result(page, "The judge calls 0 of 12 answers right")
    expect(field(page, "Questions")).to_be_hidden()
    assert -1 <= page.locator(".headline:visible").bounding_box()["y"] < 900, "what was found is in view"
    if view == "desktop-light":
        assert_compared_by_link_and_by_file(page)
        for label, start in (
            ("Report (HTML)", b"<!DOCTYPE html>"),
            ("Tables (LaTeX)", b"% Needs"),
            ("All scores (CSV)", b"id,"),
        ):
            with page.expect_download() as download:
                saved(page, label).click()
            assert Path(download.value.path()).read_bytes()[:20].lower().startswith(start.lower()), label


FITS = """frame => { const root = frame.contentDocument.documentElement;
  return root.scrollWidth <= frame.clientWidth && root.scrollHeight <= frame.clientHeight; }"""


def look_at_rows(report) -> None:
    """The report's script, which its page allows, runs in the frame: find and open a row."""
    rows = report.locator("tbody tr[id^=row-]")
    expect(rows).to_have_count(8)
    expect(report.locator(".dt-info")).to_contain_text("24 answers")
    report.get_by_label("Find").fill("penguins")
    expect(rows).to_have_count(2)
    report.get_by_label("Find").fill("")
    expect(rows).to_have_count(8)
    rows.first.get_by_role("button").click()
    expect(report.locator(".viewer .detail")).to_contain_text("Accepted")


def assert_compared_by_link_and_by_file(page):
    """Pasted texts are in the address, packed, and nothing of a file."""
    before = page.url
    example(page, "A difference that chance explains")
    page.wait_for_url(lambda url: url != before)
    page.reload()
    result(page, "too close to call: A is ahead of B, but only 5 rows differ")
    expect(python(page)).to_contain_text("answers = {'A': ['six legs'")
    own_answers(page)
    expect(field(page, "Name of system 2")).to_have_value("B")
    page.get_by_role("tab", name="A file").click()
    page.get_by_role("button", name="Use the example file").click()
    expect(page.get_by_role("table", name="The first rows of the file")).to_be_visible()
    press(page)  # the columns of the systems are guessed
    page.wait_for_url(re.compile(r"^[^#]*$"))
    result(page, "chatty and terse are significantly better than careless")
    # A click could miss the button, which moves while the report above finds its height.
    page.get_by_role("button", name="Copy a link to this").dispatch_event("click")
    expect(page.locator(".copied")).to_contain_text("No link")


FIELDS = tables(__name__)["fields"]
RESULT = tables(__name__)["result"]


def saved(page: Page, label: str):
    """The button that saves a file."""
    either = page.get_by_role("link", name=label).or_(page.get_by_role("button", name=label))
    return either.locator("visible=true").first


def test_a_file_is_scored(visit, tmp_path):
    """Semicolons, names of columns of their own, one to be picked by hand, a bad row."""
    page = visit("aev", 390, "dark")
    page.get_by_role("tab", name="A file").click()
    press(page)
    says(page, "File: no file yet")
    (tmp_path / "answers.csv").write_text("nr;Response;What is right;Model\n1;Ann won.;Ann;a\n1;Bob;Ann;b\n2;x;;a\n")
    upload(page, tmp_path / "answers.csv")
    expect(page.get_by_role("table", name="The first rows of the file")).to_contain_text("What is right")
    page.get_by_label("Column with the accepted answers").click()
    page.get_by_role("option", name="What is right").click()
    press(page)
    result(page, "scored by")
    result(page, "1 row was left out")
    expect(framed(page).locator(".lead .about")).to_have_count(1)
    expect(framed(page).locator(".lead .about")).to_be_hidden()  # it stands above the report
    with page.expect_download() as download:
        saved(page, "All scores (CSV)").click()
    lines = Path(download.value.path()).read_text().splitlines()
    assert "aev" in lines[0]
    assert len(lines) == 1 + 2
    check_accessibility(page)


@pytest.mark.slow
def test_long_work_is_stopped_by_a_click_and_by_a_reload(visit, tmp_path):
    """Who waits sees the place in the queue; the next one's turn begins when the work before it has ended."""
    rows = "".join(f"Who won race {i} of Ann {i % 89}?,As I know Bob {i} did.,Carl {i},one\n" for i in range(2000))
    (tmp_path / "answers.csv").write_text("question,prediction,references,system\n" + rows)

    def ranked(page):
        page.get_by_role("button", name="Score the file").click()

    first, second = visit("ava"), visit("ava")
    for page in (first, second):
        page.get_by_role("tab", name="Compare systems").click()
        upload(page, tmp_path / "answers.csv")
        expect(page.get_by_role("table", name="The first rows of the file")).to_be_visible()
    ranked(first)
    result(first, "Scoring")
    ranked(second)
    expect(second.get_by_text("queue: 1/1").first).to_be_visible()
    first.get_by_role("button", name="Stop").click()
    expect(status(first).first).to_have_text("Stopped.", timeout=15_000)
    expect(first.get_by_role("button", name="Stop")).to_be_hidden()
    expect(status(second).first).to_contain_text("Scoring", timeout=15_000)
    second.reload()
    ranked(first)
    expect(status(first).first).to_contain_text("Scoring", timeout=15_000)


@pytest.mark.slow
@pytest.mark.parametrize("name", genqa_metrics.METRICS)
def test_nothing_typed_or_uploaded_is_read_as_html(name, visit, tmp_path):
    """In every field, in names of systems, columns and files; what `visit` looks at in the end says the rest."""
    page = visit(name)
    for label in FIELDS[name]:
        field(page, label).fill(NASTY)
    press(page)
    result(page, RESULT[name])
    expect(python(page)).to_contain_text("<script>window.hacked=1</script>")
    if name == "f_meta":
        expect(page.locator("table.texts").filter(has_text="hacked").first).to_be_attached()
    elif name != "aev":  # which shows numbers only
        expect(framed(page).get_by_text("hacked").first).to_be_attached()
    for frame in page.frames:
        script = "main script:not([type='application/json'])"
        assert frame.locator(f"main .texts b, {script}, .text b:has-text('bold'), img[onerror]").count() == 0
        assert frame.evaluate("window.hacked") is None
    page.get_by_role("tab").nth(1).click()
    row = dict.fromkeys((NASTY, "system", "question"), NASTY) | {"references": [NASTY], "contexts": [NASTY]}
    row["prediction"] = [NASTY] if name == "f_meta" else NASTY
    good = tmp_path / "<img src=x onerror=window.hacked=1>.jsonl"
    good.write_text(json.dumps(row) + "\n" + json.dumps({**row, "references": None, "contexts": 3}) + "\n")
    upload(page, good)
    expect(page.get_by_role("table", name="The first rows of the file")).to_contain_text("<script>")
    press(page)
    result(page, "1 row was left out")
    page.get_by_label("Clear").or_(page.get_by_label("Remove file")).locator("visible=true").first.click()
    bad = tmp_path / "<b>bad<b>.csv"
    bad.write_text(f'"{NASTY}","{NASTY}"\nx,y\n')
    upload(page, bad)
    expect(page.locator(".problem:visible").first).to_contain_text("<script>")
    press(page)
    says(page, "<script>")
    expect(page.locator(".problem:visible")).to_have_count(1)


BAD_CALLS = tables(__name__)["bad calls"]


@pytest.mark.usefixtures("word_judge")
@pytest.mark.parametrize("name", TWO_ARE_QUICK)
def test_programs_get_numbers_messages_and_help_and_a_demo_calls_nobody(name, client, connections, repository):
    """Of the process, from its start to here; what the browser asks for is checked with every page."""
    endpoint, arguments, message = BAD_CALLS[name]
    assert_same_scores(name, client(name).predict(*CALLS[name], api_name=endpoint))
    with pytest.raises(AppError, match=re.escape(message)):
        client(name).predict(*arguments, api_name=endpoint)
    if name == "ava":
        ranked = client("ava").predict(handle_file(str(repository / "spaces/ava/example.csv")), api_name="/rank")
        assert list(ranked["systems"]) == ["careful", "terse", "careless"]
        assert ranked["systems"]["terse"]["accuracy"] is None  # eight answers tell too little
    found = client(name).view_api(return_format="dict")["named_endpoints"]
    assert set(found) == {endpoint, *["/rank"] * (name == "ava")}
    for parameter in found[endpoint]["parameters"]:
        assert len(parameter["label"]) > 10
        assert parameter["python_type"]["type"] != "Any"
        assert parameter["example_input"] not in (None, "...")
    log = connections / f"{name}.txt"
    assert not log.exists(), log.read_text()


@pytest.mark.parametrize("name", TWO_ARE_QUICK)
def test_no_file_of_the_server_can_be_read(name, address, repository):
    url = address(name)
    app = repository / "spaces" / name / "app.py"
    contents = ("root:", app.read_text().splitlines()[0])
    for path in ("/etc/passwd", "..%2f..%2f..%2f..%2fetc%2fpasswd", str(app), "log.txt"):
        for route in ("gradio_api/file=", "static/", "assets/"):
            answer = httpx.get(f"{url}/{route}{path}", timeout=TIMEOUT)
            assert answer.status_code >= 400, (route, path)
            assert not [content for content in contents if content in answer.text], (route, path)


def test_only_uploads_are_taken_for_files(address, repository, connections):
    """A program may send any path or address where the page sends an upload."""
    card = str(repository / "metrics/ava/README.md")
    for path in ("/etc/passwd", card, "http://192.0.2.1/a.csv", "https://example.com/a.jsonl"):
        file = {"path": path, "url": None, "orig_name": "a.csv", "meta": {"_type": "gradio.FileData"}}
        call = f"{address('ava')}/gradio_api/call/rank"
        started = httpx.post(call, json={"data": [file], "session_hash": "x"}, timeout=TIMEOUT)
        answer = httpx.get(f"{call}/{started.json()['event_id']}", timeout=TIMEOUT)
        assert "event: error" in answer.text, (path, answer.text)
        assert "root:" not in answer.text
    assert not (connections / "ava.txt").exists()


@pytest.mark.parametrize("name", TWO_ARE_QUICK)
def test_every_answer_has_the_policy_and_a_page_has_its_preview(name, address):
    """What the guard of all demos refuses is in test_guard.py."""
    url = address(name)
    page = httpx.get(url)
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert "googleapis" not in page.text + httpx.get(f"{url}/theme.css").text
    if name == "aev":
        assert 'content="https://ns-aev.hf.space/preview.png"' in page.text
    assert httpx.get(f"{url}/preview.png").content.startswith(b"\x89PNG")
    for tag in ("og:title", "og:description", "og:image", "twitter:card"):
        assert page.text.count(f'"{tag}"') == 1, tag  # ours, not Gradio's
    large = httpx.post(f"{url}/gradio_api/queue/join", content=b"x" * (2**21 + 1), timeout=TIMEOUT)
    assert large.status_code == 413


SHIFTS = """window.shifts = []; new PerformanceObserver(list => window.shifts.push(...list.getEntries()
  .map(entry => entry.value))).observe({type: 'layout-shift', buffered: true});"""


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
@pytest.mark.parametrize("name", TWO_ARE_QUICK)
def test_nothing_moves_while_a_page_opens_and_scores(name, width, address, browser):
    """The cumulative layout shift is that of a good page; on a phone the result stands above the form."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.set_default_timeout(TIMEOUT)
    page.add_init_script(SHIFTS)
    page.goto(address(name))
    page.locator(".headline:visible").wait_for()
    page.wait_for_timeout(2_000)
    assert sum(page.evaluate("window.shifts")) < 0.1
    result_top, form_top = (
        page.locator(one).first.bounding_box()["y"] for one in (".headline:visible", "textarea:visible")
    )
    assert (result_top < form_top) == (width < 640) or result_top == pytest.approx(form_top, abs=60)
    for link in ("compare", "documentation", "code"):
        expect(page.get_by_role("link", name=link, exact=True).first).to_be_visible()
    page.evaluate("window.shifts = []")
    opened_with = page.locator(".headline:visible").inner_text()
    page.locator("button.gallery-item").nth(1).click()
    expect(page.locator(".headline:visible")).not_to_have_text(opened_with)
    page.wait_for_timeout(2_000)
    assert sum(page.evaluate("window.shifts")) < 0.1
    page.close()


def linked(*entries: object) -> str:
    """The part of an address that has the values of fields, as page.js packs them."""
    shrink = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    data = shrink.compress(json.dumps(entries).encode()) + shrink.flush()
    return f"#x={base64.urlsafe_b64encode(data).decode().rstrip('=')}"


QUESTION = ("Who wrote Hamlet?", "Christopher Marlowe", "Shakespeare")
LINKS = [
    (linked(*QUESTION, "small"), "✗ The judge calls it wrong", QUESTION),
    (linked(*QUESTION, "huge"), "Judge: expected one of small", QUESTION),
    (linked(3, {}), "Question: this field is empty", ("", "", "")),
    (linked(*QUESTION, "small")[:-3], "✓ The judge calls it right", ()),
    ("#x=%%%", "✓ The judge calls it right", ()),
    ("#elsewhere", "✓ The judge calls it right", ()),
]


def test_a_link_opens_with_its_result_and_never_shows_the_first_example(visit, address):
    """What the page opens with is hidden until the result of the link is there; what is no link changes nothing."""
    page = visit("ava")
    seen = "window.seen = []; new MutationObserver(() => { for (const one of document.querySelectorAll('.headline')) "
    seen += "if (one.getClientRects().length) window.seen.push(one.textContent) })"
    page.add_init_script(seen + ".observe(document, {childList: true, subtree: true, attributes: true})")
    for link, said, entries in LINKS:
        page.goto("about:blank")  # from the open page a new fragment only reloads, at a moment of its own
        page.goto(address("ava") + link)
        result(page, said)
        for label, entry in zip(FIELDS["ava"], entries, strict=False):
            expect(field(page, label)).to_have_value(entry)
        assert not entries or not [text for text in page.evaluate("window.seen") if "right. Prob" in text]


@pytest.mark.slow
def test_a_result_beside_an_edited_text_says_so(visit):
    """Whenever the text is edited: after a run, and between the reading of the fields and their sending."""
    page = visit("ava")
    stale, question = page.locator(".stale"), field(page, "Question")
    expect(stale).to_have_count(0)
    page.locator(".headline:visible").first.wait_for()  # only a result can be of an earlier text
    question.press_sequentially(" Really?")
    expect(stale).to_have_count(1)
    said = "one => getComputedStyle(one, '::before').content"
    assert "the result of the earlier one" in page.locator(".status:visible").first.evaluate(said)
    button = page.get_by_role("button", name="Judge the answer")
    button.click()
    expect(stale).to_have_count(0)

    def send_edited(route):
        question.press_sequentially("!")
        route.continue_()

    question.fill("How many eggs are in two dozen?")
    page.route("**/queue/join*", send_edited, times=1)
    button.click()
    expect(python(page)).to_contain_text("'How many eggs are in two dozen?'")
    expect(question).to_have_value("How many eggs are in two dozen?!")
    expect(stale).to_have_count(1)
    button.click()
    expect(stale).to_have_count(0)
