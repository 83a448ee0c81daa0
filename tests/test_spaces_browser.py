"""The demos as visitors meet them: each app runs as a process of its own, in Chromium and through gradio_client.

Screenshots land in the folder GENQA_SCREENSHOTS, else in pytest's temporary folder.
"""

import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import genqa_metrics
import httpx
import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError
from playwright.sync_api import Page, expect, sync_playwright

from tests.factories.spaces import CALLS, assert_same_scores

TIMEOUT = 120_000  # milliseconds; the machine may be busy
expect.set_options(timeout=TIMEOUT)
VIEWS = {"desktop-light": (1280, "light"), "phone-dark": (375, "dark")}
OTHER_VIEWS = {"desktop-dark": (1280, "dark"), "phone-light": (375, "light")}

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


def demo_group(name):
    """One demo's tests on one worker, so that its app is started once."""
    return pytest.param(name, marks=pytest.mark.xdist_group(f"demo-{name}"))


ALL = [demo_group(name) for name in genqa_metrics.METRICS]


@pytest.fixture(scope="session")
def connections(tmp_path_factory):
    return tmp_path_factory.mktemp("connections")


@pytest.fixture(scope="session")
def address(repository, connections, tmp_path_factory):
    """From the name of a demo to its address; started when first asked for."""
    (connections / "sitecustomize.py").write_text(NO_NETWORK)
    started = {}

    def start(name):
        if name not in started:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            folder = tmp_path_factory.mktemp(name)
            environment = os.environ | {
                "CONNECTIONS": str(connections / f"{name}.txt"),
                "GRADIO_SERVER_PORT": str(port),
                "GRADIO_TEMP_DIR": str(folder / "gradio"),
                "PYTHONPATH": str(connections),
            }
            log = open(folder / "log.txt", "w")
            command = [sys.executable, str(repository / "spaces" / name / "app.py")]
            process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
            started[name] = process, f"http://127.0.0.1:{port}"
            wait_until_up(process, started[name][1], folder / "log.txt")
        return started[name][1]

    yield start
    for process, _ in started.values():
        process.terminate()
        process.wait(20)


def wait_until_up(process, url, log):
    for _ in range(TIMEOUT // 250):
        assert process.poll() is None, log.read_text()
        try:
            if httpx.get(url).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.25)
    raise AssertionError(f"the demo did not start:\n{log.read_text()}")


@pytest.fixture(scope="session")
def client(address):
    clients = {}

    def connect(name):
        if name not in clients:
            clients[name] = Client(address(name), verbose=False, analytics_enabled=False)
        return clients[name]

    return connect


@pytest.fixture(scope="session")
def browser(chromium):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def screenshots(tmp_path_factory):
    folder = os.environ.get("GENQA_SCREENSHOTS")
    folder = Path(folder) if folder else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def visit(browser, address):
    """Open a demo; at the end nothing outside was asked for, nothing failed, and nothing typed was run."""
    opened = []

    def open_page(name, width=1280, scheme="light") -> Page:
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.set_default_timeout(TIMEOUT)
        problems = []
        local = (address(name), "data:", "blob:")
        page.on(
            "request", lambda request: request.url.startswith(local) or problems.append(f"asked for {request.url}")
        )
        page.on("pageerror", lambda error: problems.append(f"page error {error}"))
        page.on("dialog", lambda dialog: (problems.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.goto(address(name))
        page.get_by_role("heading", level=1).wait_for()
        opened.append((page, problems, width))
        return page

    yield open_page
    for page, problems, width in opened:
        assert problems == []
        assert page.evaluate("window.hacked") is None
        assert page.locator("img[onerror], a[href^='javascript'], img[src*='192.0.2.1']").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= width, "the page scrolls sideways"
        page.close()


def example(page: Page, label: str) -> None:
    page.get_by_role("button", name=label).click()


def result(page: Page, text: str) -> None:
    expect(page.get_by_text(text).first).to_be_visible()


def message(page: Page):
    return page.get_by_label("Please check the input")


def says(page: Page, text: str) -> None:
    """The message in place of results holds a text, and no results are shown."""
    expect(message(page)).to_have_value(re.compile(re.escape(text)))


def field(page: Page, label: str):
    return page.get_by_label(re.compile(rf"^\s*{label}"))  # behind it stands what the field says of itself


def upload(page: Page, path: Path) -> None:
    page.locator("input[type=file]").first.set_input_files(path)
    expect(page.get_by_text(path.suffix).first).to_be_visible()


def is_dark(page: Page) -> bool:
    return page.evaluate("document.body.classList.contains('dark')")


@pytest.fixture(params=VIEWS)
def view(request):
    return request.param


def main_path(name: str, page: Page) -> None:
    """The way through a demo from its empty state to its results."""
    expect(page.get_by_text("Results appear here").first).to_be_visible()
    if name == "kpqa":
        example(page, "Paper, figure 1: the wrong number")
        result(page, "the words that differ are those that answer the question")
        heaviest = page.locator(".heat .token", has_text="seven")
        expect(heaviest.locator(".label")).to_contain_text("1.0")
        expect(page.locator(".heat .token", has_text="hypothesis").first).to_contain_text("✓")
        expect(page.locator("table.bars tr")).to_have_count(9)
        example(page, "Paper, table 5: right, in other words")
        result(page, "20")
    elif name == "f_meta":
        example(page, "The same question again and again")
        result(page, "some references were never asked")
        expect(page.locator("table.matrix tbody tr")).to_have_count(3)
        assert page.locator("table.matrix td", has_text="→").count() == 3
        assert page.locator("table.matrix td", has_text="↓").count() == 3
        example(page, "Paper: one question for two")
        result(page, "the conventional score says 0.624")
    elif name == "aev":
        example(page, "One wrong word")
        result(page, "AEv(0.5, 2) is")
        here = page.locator("table.plane td.here")
        expect(here).to_have_count(1)
        page.get_by_role("button", name="BLEU-4").click()
        result(page, "This is BLEU-4, without smoothing")
        expect(here).to_contain_text("BLEU")
        page.get_by_role("button", name="ROUGE-1 recall").click()
        result(page, "This is the recall of ROUGE-1")
        expect(here).to_contain_text("ROUGE")
        page.get_by_role("slider", name="alpha").focus()
        page.keyboard.press("ArrowRight")
        result(page, "AEv(0.1, 1) is")
    else:
        example(page, "Right, in other words")
        result(page, "The probability of being right is")
        expect(page.get_by_text("Each accepted answer by itself")).to_be_visible()


@pytest.mark.parametrize("name", ALL)
def test_main_path(name, view, visit, screenshots):
    width, scheme = VIEWS[view]
    page = visit(name, width, scheme)
    assert is_dark(page) == (scheme == "dark")
    main_path(name, page)
    page.screenshot(path=screenshots / f"{name}-{view}.png", full_page=True)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("view", OTHER_VIEWS)
def test_empty_input_is_a_message_in_the_other_views(name, view, visit, screenshots):
    page = visit(name, *OTHER_VIEWS[view])
    page.locator("button.primary").first.click()
    says(page, "this field is empty; fill it in.")
    assert page.locator("[role=alert]", has=message(page)).count() == 1
    page.screenshot(path=screenshots / f"{name}-{view}-message.png", full_page=True)


@pytest.mark.xdist_group("demo-ava")
@pytest.mark.parametrize("view", VIEWS)
def test_systems_of_a_file_are_ranked(view, visit, screenshots):
    page = visit("ava", *VIEWS[view])
    page.get_by_role("tab", name="Compare systems").click()
    page.get_by_role("button", name="Rank the systems").click()
    says(page, "File: no file yet")
    page.get_by_role("button", name="Take the example file").click()
    expect(page.get_by_role("cell", name="example.csv")).to_be_visible()
    page.get_by_role("button", name="Rank the systems").click()
    result(page, "answers of 3 systems judged")
    expect(message(page)).to_have_count(0)
    expect(page.locator("table.bars .dot")).to_have_count(3)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the verdicts").click()
    lines = Path(download.value.path()).read_text().splitlines()
    assert lines[0] == "id,system,question,prediction,references,ava_score,ava_label"
    assert len(lines) == 1 + 24
    page.screenshot(path=screenshots / f"ava-{view}-ranking.png", full_page=True)


@pytest.mark.xdist_group("demo-aev")
def test_a_file_gives_a_plane(visit):
    page = visit("aev")
    page.get_by_role("tab", name="A file").click()
    page.get_by_role("button", name="Take the example file").click()
    expect(page.get_by_role("cell", name="example.csv")).to_be_visible()
    page.get_by_role("button", name="Show the plane of the file").click()
    result(page, "over 4 rows together")


FIELDS = {
    "kpqa": ("Question", "Answer to be scored", "Reference answers"),
    "f_meta": ("Generated questions", "Reference questions"),
    "aev": ("Answer to be scored", "Reference answer"),
    "ava": ("Question", "Answer to be judged", "Accepted answers"),
}
RESULT = {
    "kpqa": "without weights",
    "f_meta": "the conventional score says",
    "aev": "AEv(0.5, 2) is",
    "ava": "The probability of being right is",
}


@pytest.mark.parametrize("name", ALL)
def test_nothing_typed_is_read_as_html(name, visit, screenshots):
    """Every field at once; what `visit` looks at in the end says whether any of it was run, linked or loaded."""
    page = visit(name)
    for label in FIELDS[name]:
        field(page, label).fill(NASTY)
    page.locator("button.primary").first.click()
    result(page, RESULT[name])
    texts = {"kpqa": ".heat .text", "f_meta": ".table-wrap td", "ava": ".table-wrap td"}.get(name)
    if texts:  # the demo of AEv shows numbers only
        for _ in range(50):  # the cells of a table are filled after the result is said
            said = "".join("".join(page.locator(texts).all_text_contents()).split())
            if "<script>" in said:
                break
            page.wait_for_timeout(200)
        assert "<script>" in said
    assert page.locator("main b, main script").count() == 0
    page.screenshot(path=screenshots / f"{name}-escaping.png", full_page=True)


@pytest.mark.parametrize("name", [demo_group("ava"), demo_group("aev")])
def test_nothing_uploaded_is_read_as_html(name, visit, tmp_path):
    """In texts, in the names of systems, of columns and of the file, shown as results and in messages."""
    nasty = NASTY.replace("/", "\\/") if os.sep == "/" else NASTY
    page = visit(name)
    page.get_by_role("tab", name="A file" if name == "aev" else "Compare systems").click()
    button = page.get_by_role("button", name="Show the plane of the file" if name == "aev" else "Rank the systems")
    good = tmp_path / "<img src=x onerror=window.hacked=1>.jsonl"
    row = {"system": NASTY, "question": NASTY, "prediction": NASTY, "references": [NASTY, nasty]}
    good.write_text(json.dumps(row) + "\n")
    upload(page, good)
    button.click()
    result(page, "AEv(0.5, 2) is" if name == "aev" else "answers of 1 system judged")
    if name == "ava":
        assert "<script>window.hacked=1</script>" in page.locator(".table-wrap").last.inner_text()
    page.get_by_label("Clear").or_(page.get_by_label("Remove file")).first.click()
    bad = tmp_path / "<b>bad<b>.csv"
    bad.write_text(f'"{NASTY}","prediction"\nx,y\n')
    upload(page, bad)
    button.click()
    says(page, "there is no column named")
    assert "<script>" in message(page).input_value()


@pytest.mark.xdist_group("demo-kpqa")
def test_keyboard_alone(visit):
    page = visit("kpqa")
    page.keyboard.press("Tab")
    for label, text in zip(FIELDS["kpqa"], ("Where is it?", "It is in Rome.", "Rome"), strict=True):
        for _ in range(5):
            if field(page, label).evaluate("field => field === document.activeElement"):
                break
            page.keyboard.press("Tab")
        page.keyboard.type(text)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    result(page, "without weights")


@pytest.mark.xdist_group("demo-kpqa")
def test_too_long_a_text_is_a_message(visit):
    page = visit("kpqa", 375)
    field(page, "Question").fill("x" * 2001)
    page.get_by_role("button", name="Score the answer").click()
    says(page, "Question: 2,001 characters are too many for this page; 2,000 are the most.")


@pytest.mark.parametrize("name", ALL)
def test_programs_get_the_numbers_of_the_module(name, client):
    _, endpoint, arguments = CALLS[name]
    assert_same_scores(name, client(name).predict(*arguments, api_name=endpoint))


@pytest.mark.parametrize("name", ALL)
def test_programs_get_messages_for_bad_input(name, client):
    _, endpoint, arguments = CALLS[name]
    empty = [] if isinstance(arguments[1], list) else ""
    with pytest.raises(AppError, match="this field is empty; fill it in"):
        client(name).predict(arguments[0], empty, *arguments[2:], api_name=endpoint)


@pytest.mark.xdist_group("demo-kpqa")
def test_several_visitors_get_their_own_answers(client):
    answers = ["It is in Rome.", "It is in Paris.", "Rome", "Nobody knows."]
    jobs = [client("kpqa").submit("Where is it?", text, ["Rome"], api_name="/score") for text in answers]
    scores = [job.result(timeout=TIMEOUT / 1000)["bleu1"] for job in jobs]
    alone = [client("kpqa").predict("Where is it?", text, ["Rome"], api_name="/score")["bleu1"] for text in answers]
    assert scores == alone
    assert scores[2] == 1


@pytest.mark.parametrize("name", ALL)
def test_no_file_of_the_server_can_be_read(name, address, repository):
    url = address(name)
    app = repository / "spaces" / name / "app.py"
    for path in ("/etc/passwd", "..%2f..%2f..%2f..%2fetc%2fpasswd", str(app), "log.txt"):
        for route in ("gradio_api/file=", "static/", "assets/"):
            answer = httpx.get(f"{url}/{route}{path}", timeout=TIMEOUT)
            assert answer.status_code >= 400, (route, path)
            assert "root:" not in answer.text
            assert "genqa" not in answer.text


@pytest.mark.parametrize("name", [demo_group("ava"), demo_group("aev")])
def test_only_uploads_are_taken_for_files(name, address, client, repository, connections):
    """A program may send any path or address where the page sends an upload."""
    card = str(repository / "metrics" / name / "README.md")
    arguments, api_name = {
        "ava": (lambda file: (file,), "/rank"),
        "aev": (lambda file: ("", "", file, 0.5, 2, 1, 2, False, False), "/page"),
    }[name]
    for path in ("/etc/passwd", card, "http://192.0.2.1/a.csv", "https://example.com/a.jsonl"):
        file = {"path": path, "url": None, "orig_name": "a.csv", "meta": {"_type": "gradio.FileData"}}
        body = {"data": list(arguments(file)), "session_hash": "x"}
        started = httpx.post(f"{address(name)}/gradio_api/call{api_name}", json=body, timeout=TIMEOUT)
        answer = httpx.get(f"{address(name)}/gradio_api/call{api_name}/{started.json()['event_id']}", timeout=TIMEOUT)
        assert "event: error" in answer.text, (path, answer.text)
        assert "root:" not in answer.text
    assert not (connections / f"{name}.txt").exists()


@pytest.mark.xdist_group("demo-ava")
def test_ranking_for_programs(client, repository):
    example = handle_file(str(repository / "spaces/ava/example.csv"))
    results = client("ava").predict(example, api_name="/rank")
    assert "**24** answers of **3** systems judged." in str(results)


@pytest.mark.parametrize("name", ALL)
def test_large_requests_are_refused_and_every_answer_has_the_policy(name, address):
    url = address(name)
    page = httpx.get(url)
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert page.headers["x-content-type-options"] == "nosniff"
    assert "googleapis" not in page.text + httpx.get(f"{url}/theme.css").text
    large = httpx.post(f"{url}/gradio_api/queue/join", content=b"x" * (2**21 + 1), timeout=TIMEOUT)
    assert large.status_code == 413

    def chunks():
        for _ in range(3):
            yield b"x" * 2**20

    try:
        status = httpx.post(f"{url}/gradio_api/queue/join", content=chunks(), timeout=TIMEOUT).status_code
    except httpx.TransportError:
        status = 413  # the connection was closed
    assert status >= 400
    assert httpx.get(url).status_code == 200


@pytest.mark.parametrize("name", ALL)
def test_a_demo_calls_nobody(name, client, connections):
    """Of the process, from its start to here; what the browser asks for is checked with every page."""
    _, endpoint, arguments = CALLS[name]
    client(name).predict(*arguments, api_name=endpoint)
    log = connections / f"{name}.txt"
    assert not log.exists(), log.read_text()
