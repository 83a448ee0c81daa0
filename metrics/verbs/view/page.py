"""The page of `genqa-metrics view` and its server on this machine, which saves labels and estimates the accuracy."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from ...registry import JUDGE
from ...reports.report import colours_of, first_and_further
from ...reports.table import accuracy_cell, listed, page, render
from ...reports.viewer import ViewedAnswer, viewer, viewer_script
from ...rows.columns import PLANNED_LABELS, SAMPLING_PROBABILITY
from ...rows.reading import Item, Message, Progress, Skips, ignore
from ...scale.options import OnError, Settings
from ..accuracy.report import accuracy
from ..inputs import digested_sources, read_answers
from ..judge_errors import checked_judge, judge_answers
from ..label.guard import MAX_BODY, foreign
from ..label.labelling import Session, Task, plan, task_of
from ..label.labels import LABELLING_STOPPED, LABELS_TO_BEGIN, key_of, read_labels
from ..label.stopping import plan_until
from .rows import viewed_answers

SHOWN_ONLY = (
    "{labels} was not made by genqa-metrics label: it is only shown. New labels are not saved; give a new file name "
    "to save them."
)
JUDGES = (
    "judging {new:,} answers that no verb has judged yet; to judge them once for every verb: "
    "genqa-metrics score {file} -o judged.jsonl"
)
HOLDS = (
    "The 95% intervals hold once all drawn answers are labelled. To stop as soon as labels are enough, use --until."
)


@dataclass
class Viewed:
    """A page with the answers of a judged file, and the session that saves labels given on the page."""

    html: str
    answers: Sequence[ViewedAnswer]
    tasks: Mapping[str, Task]  # by key, of all answers
    session: Session | None  # of the file of labels; None where labels stay in the page
    estimate: Callable[[], Any]  # returns an `AccuracyReport`, of the labels in the file
    warning: str = ""  # why labels of the page are not saved in the file that was named

    def save(self, key: str, label: int | None) -> None:
        """Write a label into the file; None takes it back."""
        if self.session is None:
            raise ValueError("labels: the page has no file for them; begin again with its name behind the rows")
        if key not in self.tasks:
            raise ValueError("key: this is no answer of the page; reload it")
        if label is None:
            self.session.remove(key)
        else:
            self.session.label(self.tasks[key], label)

    def accuracy(self) -> dict[str, Any]:
        """Return the accuracy of every system as the page shows it: "systems" and "findings"."""
        if self.session is None or not self.session.done:
            return {"systems": [], "findings": []}
        if self.session.rule is not None:  # intervals assume a number of labels that is decided before
            labels = {key: row["label"] for key, row in self.session.done.items()}
            return {"systems": [], "findings": self.session.rule.outcomes(labels)}
        report = self.estimate()
        systems = [
            {
                "system": system,
                "shown": f"{_with_source(estimate)}; {estimate['labelled']:,} of {estimate['rows']:,} labelled",
                **{name: estimate[name] for name in ("accuracy", "low", "high")},
            }
            for system, estimate in report.systems.items()
        ]
        return {"systems": systems, "findings": [*report.findings, HOLDS]}


def viewed(
    rows: Any,
    labels: Path | None = None,
    settings: Settings | None = None,
    columns: Mapping[str, str] | None = None,
    *,
    by: str | None = None,
    number: int | None = None,
    until: str | None = None,
    seed: int = 0,
    rater: str = "",
    saves: bool = True,
    on_error: OnError = "fail",
    notify: Message = ignore,
    problem: Message = ignore,
    progress: Progress = ignore,
) -> Viewed:
    """Return the page of all rows, which AVA judges where no verb has yet; `notify` is told so.

    `labels` is a file of labels, which `label` or this page wrote or which is new; another one is only shown, and so
    are all unless the page `saves` labels. `number` answers of every system are drawn to be labelled, as by `label`;
    None: as many as for the labels in the file. With `until`, see `stopping`, the page says when labels are enough.
    """
    named, judge = checked_judge(columns, settings, labels is not None)
    sources, skips, notes = digested_sources(rows), Skips(on_error == "skip", problem), []
    items, judged, topics, ratings, _ = read_answers(sources, named, skips, judge, by)
    names = " ".join(dict.fromkeys(source.name for source in sources))
    if judge is None:
        if new := sum(JUDGE not in item.recorded for item in items):
            notify(JUDGES.format(new=new, file=names))
        judged, verdicts, *_ = judge_answers(items, settings or {}, sources, progress)
    else:
        verdicts = judged >= 0.5
    drawn = None if labels is None else _drawn(labels)
    if number is None:
        number = max([planned or 0 for _, planned in (drawn or {}).values()], default=0) or LABELS_TO_BEGIN
    rule = None
    if until is None:
        tasks = plan(items, judged, number, seed)
    else:
        tasks, rule = plan_until(items, judged, until, seed)
    plans_of_tasks = {task.key: (task.probability, task.planned) for task in tasks}
    if any(plans_of_tasks.get(key) != drawn_with for key, drawn_with in (drawn or {}).items()):
        fix = "give the --number, --until and --seed of `label`, or name a new file"
        raise ValueError(f"labels: {labels} has labels that were drawn otherwise, which would not count; {fix}")
    label_sources = None if labels is None or not _has_labels(labels) else digested_sources(str(labels), "labels")
    is_read = label_sources or labels is None
    people = read_labels(label_sources, items, ratings, named, skips, notes) if is_read else None
    session = Session(labels, tasks, rater, rule=rule) if saves and drawn is not None else None
    warning = SHOWN_ONLY.format(labels=labels) if saves and labels is not None and session is None else ""
    if warning:
        notes.insert(0, warning)
    means = people.mean if people else np.full(len(items), np.nan)
    answers = viewed_answers(items, judged, verdicts, means, topics if by else (), tasks, "" if judge else JUDGE)
    keys_without_label = {answer.key for answer in answers if answer.label is None}
    if session.next() if session else any(task.key in keys_without_label for task in tasks):  # it goes on here
        notes = [note for note in notes if not note.startswith(LABELLING_STOPPED)]
    is_taken = session is None and labels is not None and labels.name == "labels.jsonl"
    download = "new_labels.jsonl" if is_taken else "labels.jsonl"
    command = f"genqa-metrics accuracy {names} --labels {download}"
    title = f"Answers of {listed(list(dict.fromkeys(Path(source.name).name for source in sources)))}"
    systems = {item.system for item in items}
    first, further = first_and_further(notes)
    body = render("view.html", title=title, headline=_headline(items, answers), notes=first, further=further)
    body += viewer(answers, session is not None, rater, command, download=download, colours=colours_of(systems))
    # A person may label other answers, too; such labels have no probability, and do not count as drawn.
    others = [task_of(item, key_of(item), None, None) for item in items]
    every = {task.key: task for task in [*others, *tasks]}
    estimate = partial(accuracy, sources, str(labels), columns, settings, on_error=on_error)
    html = page(title, body, render("viewer.css"), script=viewer_script(), served=session is not None)
    return Viewed(html, answers, every, session, estimate, warning)


def _has_labels(labels: Path) -> bool:
    """Return whether a file has labels; raise a ValueError if a missing file's name does not end in .jsonl."""
    if not labels.exists() and labels.suffix not in (".jsonl", ".json", ".ndjson"):
        raise ValueError(f"labels: expected a name that ends in .jsonl, got {labels}; labels are JSON lines")
    return labels.exists() and labels.stat().st_size > 0


def _drawn(labels: Path) -> dict[str, tuple] | None:
    """Return {key: (sampling probability, planned labels)} of sampled labels; None for a file of another tool."""
    if not _has_labels(labels):
        return {}
    try:
        rows = [json.loads(line) for line in labels.read_text(encoding="utf-8").split("\n") if line]
        plans = {row["item"]: (row[SAMPLING_PROBABILITY], row[PLANNED_LABELS]) for row in rows}
    except (ValueError, KeyError, TypeError):
        return None
    return {key: plan for key, plan in plans.items() if plan[0] is not None}


def _with_source(estimate: Mapping[str, Any]) -> str:
    """Return the accuracy of a system with its interval and source; see `judge_errors.JudgeErrors.accuracy`.

    >>> _with_source({"accuracy": 0.5, "low": 0.31, "high": 0.709, "source": "judge, corrected"})
    'accuracy 0.500 [0.310, 0.709] from judge, corrected'
    """
    if estimate["low"] is None:
        return accuracy_cell(estimate)
    return f"accuracy {accuracy_cell(estimate)} from {estimate['source']}"


def _headline(items: Sequence[Item], answers: Sequence[ViewedAnswer]) -> str:
    """Return in one line how many answers of each system the judge accepts."""
    systems = dict.fromkeys(item.system for item in items)
    verdicts = ([answer.verdict for answer in answers if answer.system == name] for name in systems)
    counts = [f"{name} {sum(each):,} of {len(each):,}" for name, each in zip(systems, verdicts, strict=True)]
    return f"Judged right: {listed(counts)}."


class _Handler(BaseHTTPRequestHandler):
    """Answers requests of this machine's own pages alone."""

    viewed: Viewed
    estimating = Lock()
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer with the page, the accuracy or the labels."""
        if self._is_foreign():
            return
        session = self.viewed.session
        if self.path == "/":
            self._answer(200, "text/html; charset=utf-8", self.viewed.html)
        elif self.path == "/accuracy":
            with self.estimating:  # each reads all rows
                try:
                    self._answer(200, "application/json", json.dumps(self.viewed.accuracy()))
                except ValueError as error:
                    self._answer(200, "application/json", json.dumps({"systems": [], "findings": [str(error)]}))
        elif self.path == "/labels.jsonl" and session is not None:
            text = session.path.read_text(encoding="utf-8") if session.path.exists() else ""
            self._answer(200, "application/x-ndjson", text)
        else:
            self._answer(404, "text/plain", "There is no such page.")

    def do_POST(self) -> None:
        """Save a label."""
        if self._is_foreign():
            return
        size = self.headers.get("content-length", "")
        if not size.isdigit() or int(size) > MAX_BODY:
            self._answer(413, "text/plain", f"The request is too large: the limit is {MAX_BODY:,} bytes.")
            return
        content = self.rfile.read(int(size))
        try:
            if self.path != "/label" or self.headers.get_content_type() != "application/json":
                raise ValueError("expected a label as JSON at /label")
            sent = json.loads(content)
            self.viewed.save(str(sent["key"]), sent["label"])
        except (ValueError, KeyError, TypeError) as error:
            self._answer(400, "text/plain", str(error))
            return
        self._answer(200, "application/json", "{}")

    def _is_foreign(self) -> bool:
        """Answer a request of another site or under another name with a refusal; return whether it is one."""
        names = ("host", "origin")
        headers = {name.encode(): [text.encode() for text in self.headers.get_all(name, [])] for name in names}
        problem = foreign(headers)
        if problem is not None or not headers[b"host"]:
            self._answer(403, "text/plain", (problem or b"The request names no host.").decode())
            return True
        return False

    def _answer(self, status: int, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        for name, content in (
            ("content-type", kind),
            ("content-length", str(len(body))),
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
            *([("connection", "close")] if status >= 400 else []),
        ):
            self.send_header(name, content)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing for each request."""


def server(viewed: Viewed, port: int | None) -> ThreadingHTTPServer:
    """Return a server of the page on this machine alone; `port` None takes a free one."""
    handler = type("Handler", (_Handler,), {"viewed": viewed, "estimating": Lock()})
    return ThreadingHTTPServer(("127.0.0.1", port or 0), handler)
