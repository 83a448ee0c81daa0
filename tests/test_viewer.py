"""The row viewer as data and as a server: what a page holds, what it leaves out and says so, what it saves."""

import hashlib
import json
import threading
from html.parser import HTMLParser
from http.client import HTTPConnection
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
from genqa_metrics.reports import viewer as viewer_module
from genqa_metrics.reports.table import page, render
from genqa_metrics.reports.viewer import ViewedAnswer, rows_of_page, safe_html, viewer, viewer_script
from genqa_metrics.verbs.accuracy.report import accuracy
from genqa_metrics.verbs.label.labelling import Session
from genqa_metrics.verbs.view.page import server, viewed

from tests.factories.files import questions_of, save
from tests.programs.packaging import vendor

NASTY = (
    "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1> **b** <!-- "
    "[link](javascript:window.hacked=1)![i](http://192.0.2.1/a.png)\u202e"
)


def judged_rows(number=40, systems=("brief", "assistant")):
    """Rows of some questions that a judge in a column accepts where the number of the question and system is even."""
    return [
        {"question": f"How many steps has test {n}?", "references": ["four steps", "4"], "system": system}
        | {"prediction": f"It has {('four', 'seven')[(n + s) % 2]} steps.", "by": (0.9, 0.2)[(n + s) % 2]}
        | {"topic": ("law", "art")[n % 2]}
        for n in range(number)
        for s, system in enumerate(systems)
    ]


def answers_of(number, **values):
    texts = {"references": ["4"], "system": "s", "answer": "four"} | values
    return [ViewedAnswer(f"{n:016x}", f"Question {n}?", **texts) for n in range(number)]


def test_all_rows_are_on_the_page_with_what_is_said_of_them(tmp_path):
    rows = judged_rows()
    html = viewed(save(tmp_path / "rows.jsonl", rows), columns={"judge": "by"}, by="topic").html
    questions = questions_of(html)
    assert [asked["question"] for asked in questions] == [row["question"] for row in rows[::2]]
    shown = [row for asked in questions for row in asked["rows"]]
    assert [row["answer"] for row in shown] == [row["prediction"] for row in rows]
    assert [row["verdict"] for row in shown] == [int(row["by"] >= 0.5) for row in rows]
    assert [row["probability"] for row in shown] == [row["by"] for row in rows]
    assert [row["topic"] for row in shown] == [row["topic"] for row in rows]
    assert "Judged right: brief 20 of 40 and assistant 20 of 40." in html
    assert sum("drawn" in row for row in shown) == 60, "30 of each system are drawn to be labelled"


class Elements(HTMLParser):
    """Names of the elements and their attributes."""

    def __init__(self, html):
        super().__init__()
        self.found = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_hostile_texts_stay_texts():
    answers = [ViewedAnswer("k", NASTY, [NASTY], NASTY, NASTY, reason=NASTY, kind=NASTY, topic=NASTY)]
    html = page("t", viewer(answers), script=viewer_script())
    elements = Elements(html).found
    assert [tag for tag, _ in elements].count("script") == 2, "the rows and the script of the page"
    assert not [tag for tag, _ in elements if tag in ("img", "a", "iframe", "object")]
    assert "\u202e" not in html
    (asked,) = questions_of(html)
    assert asked["question"][0] == NASTY, "labels that are downloaded have the text as it is"
    rendered = asked["rows"][0]["answer"][1]
    assert "<strong>b</strong>" in rendered
    assert {tag for tag, _ in Elements(rendered).found} == {"p", "strong"}


def test_markdown_is_shown_without_links_images_and_html():
    html = safe_html("# Title\n\n1. one\n2. two\n\n| a | b |\n|--|--|\n| 1 | 2 |\n\n```py\nx = '<b>'\n```\n")
    tags = [tag for tag, _ in Elements(html).found]
    assert tags[:4] == ["p", "ol", "li", "li"], "a heading is no heading of the page"
    assert {"table", "pre", "code"} < {*tags}
    assert "x = '&lt;b&gt;'" in html
    assert safe_html("[a](http://192.0.2.1) <http://192.0.2.1> ![b](c) _d_") == (
        "<p>[a](http://192.0.2.1) &lt;http://192.0.2.1&gt; ![b](c) <em>d</em></p>\n"
    )
    assert safe_html("a" * viewer_module.MOST_RENDERED + "**b**") == ""


def test_a_page_that_is_too_large_says_how_many_rows_it_has_and_which():
    answers = answers_of(50)
    answers[40] = ViewedAnswer("w", "Wrong?", ["4"], "s", "five", verdict=False, probability=0.01)
    answers[41] = ViewedAnswer("u", "Unsure?", ["4"], "s", "fore", verdict=True, probability=0.6)
    answers[42] = ViewedAnswer("d", "Other?", ["4"], "s", "for", verdict=True, probability=0.99, label=0.0)
    text, count, which = rows_of_page(answers, most_rows=5)
    questions = [asked["question"] for asked in json.loads(text)]
    assert questions == ["Question 0?", "Question 1?", "Wrong?", "Unsure?", "Other?"]
    assert (count, which.partition(":")[0]) == (5, "This page has 5 of 50 answers")
    text, count, which = rows_of_page(answers, most_bytes=600)
    assert len(text.encode()) <= 600
    assert 3 <= count == len(json.loads(text)) < 50
    assert rows_of_page(answers)[1:] == (50, "")
    pairs = [answer for answer in answers for _ in "ab"]  # questions stay whole
    assert [len(asked["rows"]) for asked in json.loads(rows_of_page(pairs, most_rows=5)[0])] == [2, 2]


def test_a_page_of_the_most_rows_has_at_most_15_megabytes():
    answers = answers_of(21_000, answer="It is <four steps. " * 45)
    html = page("t", viewer(answers), render("viewer.css"), script=viewer_script())
    assert len(html.encode()) <= 15_000_000
    rows = sum(len(asked["rows"]) for asked in questions_of(html))
    assert f"This page has {rows:,} of 21,000 answers" in html


def test_the_script_that_pages_carry_is_the_one_of_the_registry():
    for name, digest in vendor.DIGESTS.items():
        assert hashlib.sha256((vendor.FOLDER / vendor.NAMES[name]).read_bytes()).hexdigest() == digest


@pytest.fixture
def served(tmp_path):
    """Serve a page of rows and a new file of labels; the address, and the path of the labels."""
    labels = tmp_path / "labels.jsonl"
    page_of_rows = viewed(save(tmp_path / "rows.jsonl", judged_rows()), labels, columns={"judge": "by"}, rater="ann")
    running = server(page_of_rows, None)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_port}/", labels, page_of_rows
    running.shutdown()
    running.server_close()


def ask(address, sent=None, **headers):
    """Return status and text of an answer."""
    body = None if sent is None else json.dumps(sent).encode()
    headers = ({"content-type": "application/json"} if body else {}) | headers
    try:
        with urlopen(Request(address, body, headers)) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


def test_labels_are_saved_at_once_and_narrow_the_interval(served):
    address, path, page_of_rows = served
    assert json.loads(ask(f"{address}accuracy")[1]) == {"systems": [], "findings": []}
    widths = []
    for place, answer in enumerate(sorted((a for a in page_of_rows.answers if a.drawn), key=lambda a: a.drawn[0])):
        assert ask(f"{address}label", {"key": answer.key, "label": int("four" in answer.answer)})[0] == 200
        if place + 1 in (24, 60):
            systems = json.loads(ask(f"{address}accuracy")[1])["systems"]
            assert [of["system"] for of in systems] == ["brief", "assistant"]
            widths.append(max(of["high"] - of["low"] for of in systems))
    assert widths[1] < widths[0]
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(rows) == 60
    assert {row["rater"] for row in rows} == {"ann"}
    assert all(0 < row["genqa_probability"] <= 1 and row["genqa_planned"] == 30 for row in rows)
    assert ask(f"{address}labels.jsonl")[1] == path.read_text()
    assert ask(f"{address}label", {"key": rows[-1]["item"], "label": None})[0] == 200
    assert len(path.read_text().splitlines()) == 59


def test_a_label_of_an_answer_that_was_not_drawn_does_not_count_as_drawn(served):
    address, path, page_of_rows = served
    answer = next(answer for answer in page_of_rows.answers if not answer.drawn)
    assert ask(f"{address}label", {"key": answer.key, "label": 1})[0] == 200
    assert json.loads(path.read_text())["genqa_probability"] is None


def test_only_pages_of_this_machine_are_answered(served, monkeypatch):
    monkeypatch.setenv("GRADIO_SERVER_NAME", "0.0.0.0")  # the label page may be served to others, this one never is
    address, path, page_of_rows = served
    sent = {"key": page_of_rows.answers[0].key, "label": 1}
    assert ask(address, host="evil.example")[0] == 403
    assert ask(f"{address}label", sent, origin="http://evil.example")[0] == 403
    assert ask(f"{address}label", sent, **{"content-type": "text/plain"})[0] == 400
    connection = HTTPConnection(urlsplit(address).netloc)
    connection.request("POST", "/label", headers={"content-length": "3000000", "content-type": "application/json"})
    assert connection.getresponse().status == 413
    for bad in ({"key": "none", "label": 1}, {"key": sent["key"], "label": 2}, {"label": 1}, [], "text"):
        assert ask(f"{address}label", bad)[0] == 400
    assert ask(f"{address}../rows.jsonl")[0] == 404
    assert not path.exists() or path.read_text() == ""
    assert ask(f"{address}label", sent, origin=address.rstrip("/"))[0] == 200


def test_labels_of_label_are_continued_and_those_of_another_plan_are_not_changed(tmp_path):
    rows, labels = save(tmp_path / "rows.jsonl", judged_rows()), tmp_path / "labels.jsonl"
    first = viewed(rows, labels, columns={"judge": "by"}, number=35, rater="ann")
    drawn = [answer for answer in first.answers if answer.drawn]
    assert len(drawn) == 70
    first.save(drawn[0].key, 1)
    again = viewed(rows, labels, columns={"judge": "by"}, rater="ann")
    assert sum(answer.drawn is not None for answer in again.answers) == 70, "as many as were planned"
    assert [answer.label for answer in again.answers if answer.key == drawn[0].key] == [1.0]
    before = labels.read_text()
    with pytest.raises(ValueError, match="drawn otherwise"):
        viewed(rows, labels, columns={"judge": "by"}, number=20, rater="ann")
    assert labels.read_text() == before
    Session(labels, list(again.tasks.values()), "ann")  # it is the file that `label` resumes


def test_labels_that_go_on_have_not_stopped_early(tmp_path):
    rows, labels = save(tmp_path / "rows.jsonl", judged_rows()), tmp_path / "labels.jsonl"
    first = viewed(rows, labels, columns={"judge": "by"}, rater="ann")
    for answer in [answer for answer in first.answers if answer.drawn][:40]:
        first.save(answer.key, 1)
    [early] = [note for note in accuracy(rows, labels, {"judge": "by"}).notes if "stopped early" in note]
    assert early.count("of the labels planned for") == 2, "one note for both systems"
    for saves in (True, False):
        assert "stopped early" not in viewed(rows, labels, columns={"judge": "by"}, rater="ann", saves=saves).html


def test_the_page_says_when_labels_are_enough(tmp_path):
    rows = [row | {"prediction": ("four", "seven")[row["system"] == "brief"]} for row in judged_rows(60)]
    rows = save(tmp_path / "rows.jsonl", [row | {"by": float(row["prediction"] == "four")} for row in rows])
    result = viewed(rows, tmp_path / "labels.jsonl", columns={"judge": "by"}, until="decided", rater="ann")
    tasks = sorted((answer for answer in result.answers if answer.drawn), key=lambda answer: answer.drawn[0])
    result.save(tasks[0].key, int(tasks[0].answer == "four"))
    shown = result.accuracy()
    assert shown["systems"] == [], "an interval that is looked at after every label would be too narrow"
    assert shown["findings"][0].startswith(("brief - assistant: not decided", "assistant - brief: not decided"))
    for answer in tasks[1:]:
        result.save(answer.key, int(answer.answer == "four"))
    assert result.accuracy()["findings"][0].startswith("assistant is better than brief")


def test_labels_of_other_tools_are_shown_and_not_written(tmp_path):
    rows = judged_rows(3)
    labels = save(tmp_path / "labels.jsonl", [{**row, "label": 1, "by": None} for row in rows[:2]])
    before = (tmp_path / "labels.jsonl").read_text()
    people = tmp_path / "labels.jsonl"
    result = viewed(save(tmp_path / "rows.jsonl", rows), people, columns={"judge": "by"})
    assert result.warning.startswith(
        f"{people} was not made by genqa-metrics label: it is only shown. New labels are not"
    )
    assert "label</code>: it is only shown. New labels are not saved; give a new file name" in result.html
    assert "--labels new_labels.jsonl" in result.html, "the download does not have the name of another file"
    assert [answer.label for answer in result.answers] == [1.0, 1.0, None, None, None, None]
    assert result.session is None
    with pytest.raises(ValueError, match="labels: the page has no file for them"):
        result.save(result.answers[0].key, 1)
    assert (tmp_path / "labels.jsonl").read_text() == before
    with pytest.raises(ValueError, match=r"ends in \.jsonl"):
        viewed(rows, tmp_path / "new.csv", columns={"judge": "by"})
    assert labels
