"""The guard of all pages, called as a server calls it: sizes, Host and Origin, memory."""

import asyncio
import importlib
import re
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlsplit

import pytest
from genqa_metrics.verbs.label import guard
from genqa_metrics.verbs.label.labelling import Task
from genqa_metrics.verbs.label.page import RaterLinks, State

from tests.factories.cases import with_cases
from tests.factories.files import made_rows, run, save


@pytest.fixture(autouse=True)
def served_here(monkeypatch):
    for name in ("GRADIO_SERVER_NAME", "GRADIO_SHARE", "SPACE_ID"):
        monkeypatch.delenv(name, raising=False)


class Page:
    """A page that keeps what it receives."""

    def __init__(self):
        self.bodies = []

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http":
            self.bodies.append(await guard.read_body(receive, 2**30))
            await guard.answer(send, 200, b"text/plain", b"ok")


def asked(guarded, path="/", chunks=(b"",), headers=(), method="POST") -> tuple[int, str, dict]:
    """Return status, text and headers of the answer to a request that is sent in chunks."""
    messages = [{"type": "http.request", "body": part, "more_body": True} for part in chunks]
    messages[-1]["more_body"] = False
    sent = []

    async def receive():
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    given = [(b"host", b"localhost:7860"), *headers]
    given = [*{name: (name, value) for name, value in given}.values()]
    scope = {"type": "http", "path": path, "method": method, "headers": given}
    asyncio.run(guarded(scope, receive, send))
    return sent[0]["status"], sent[1]["body"].decode(), dict(sent[0]["headers"])


CHUNKED = ((b"transfer-encoding", b"chunked"),)


def test_large_requests_are_refused_and_the_page_gets_nothing_of_them():
    page = Page()
    guarded = guard.Guard(page)
    large = [b"x" * 2**20] * 6
    for path, limit in (("/queue/join", guard.MAX_BODY), ("/gradio_api/upload", guard.MAX_UPLOAD + guard.FORM)):
        size = str(limit + 1).encode()
        status, text, _ = asked(guarded, path, headers=((b"content-length", size),))
        assert (status, f"the limit is {limit:,} bytes" in text) == (413, True)
        assert asked(guarded, path, large, CHUNKED)[0] == 413
        assert asked(guarded, path, headers=((b"content-length", b"-1"),))[0] == 413
    assert page.bodies == []


def test_small_requests_arrive_whole_and_uploads_where_they_are_taken():
    page = Page()
    status, text, headers = asked(guard.Guard(page), "/upload", [b"a", b"b", b"c"], CHUNKED)
    assert (status, text, page.bodies) == (200, "ok", [b"abc"])
    assert headers[b"content-security-policy"] == guard.POLICY.encode()
    assert headers[b"x-content-type-options"] == b"nosniff"
    refused = asked(guard.Guard(page, uploads=0), "/gradio_api/upload", [b"x"])[:2]
    assert (refused, len(page.bodies)) == ((413, "This page takes no files."), 1)


@with_cases
def test_foreign_names_and_pages_are_refused(monkeypatch, headers, status):
    page, headers = Page(), tuple((name.encode(), value.encode()) for name, value in headers.items())
    found, text, _ = asked(guard.Guard(page), headers=headers)
    assert found == status, text
    assert len(page.bodies) == (status == 200)
    monkeypatch.setenv("GRADIO_SERVER_NAME", "0.0.0.0")  # served to others, under names that we do not know
    assert asked(guard.Guard(page), headers=headers)[0] == 200


def test_a_foreign_websocket_is_closed():
    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "websocket", "path": "/", "headers": [(b"host", b"evil.example")]}
    asyncio.run(guard.Guard(Page())(scope, None, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_no_rater_can_take_the_name_of_another(tmp_path):
    """Where other machines reach the page, a name works with the token of its own link only."""
    links = RaterLinks(["ann", "bob"])
    task = Task("1", 1.0, "Who?", ["Ann"], "Bo")
    state = State(tmp_path / "labels.jsonl", [task], "verdict", links)
    bob = links.tokens["bob"]
    for name, token in (("ann", None), ("ann", bob), ("carl", bob), ("carl", ""), ("ann", "é")):
        state.query = {} if token is None else {"token": token}
        with pytest.raises(ValueError, match="Name: it belongs to another link; open the link that you were given"):
            state.start(name)
        assert state.session is None
    state.query = {"token": links.tokens["ann"]}
    state.start("ann")
    assert "Who?" in state.shown()[0]
    first, second = links.links("0.0.0.0", 7860)
    assert dict(parse_qsl(urlsplit(first).query)) == {"rater": "ann", "token": links.tokens["ann"]}
    assert links.tokens["ann"] not in second
    assert RaterLinks(["ann"]).tokens != {"ann": links.tokens["ann"]}


def test_raters_on_other_machines_must_be_named(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADIO_SERVER_NAME", "0.0.0.0")
    path = save(tmp_path / "rows.jsonl", made_rows(3))
    _, said = run("label", path, "-o", tmp_path / "labels.jsonl", "--web", status=2)
    assert "--rater: name the raters, --rater ann,bob: each gets a link of their own" in said


def test_every_demo_is_served_behind_the_guard(repository, monkeypatch):
    """All go through `Demo.launch`, and so through `server.launch`, which adds it."""
    monkeypatch.syspath_prepend(repository / "spaces")
    server, given = importlib.import_module("common.server"), {}
    demo = SimpleNamespace(title="A demo", queue=lambda **_: SimpleNamespace(launch=given.update))
    monkeypatch.setattr(server.templates.env, "loader", None)
    server.launch(demo, str(repository / "spaces/ava/app.py"), "What it shows.", [], [])
    (guarded,) = given["app_kwargs"]["middleware"]
    assert issubclass(guarded.cls, guard.Guard)
    assert given["share"] is False
    apps = sorted((repository / "spaces").glob("*/app.py"))
    assert len(apps) == 7
    for app in apps:
        assert re.findall(r"\w+\.launch\(.*", app.read_text()) == ["DEMO.launch()"], app
