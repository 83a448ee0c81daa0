"""The row viewer of every report: all answers of a judged file to filter, sort, open, compare and label in a browser.

The page has its rows as JSON, the script of DataTables (`vendor`) and viewer.js; it needs no network. Texts are set as
text; where they are Markdown, the page also has them as HTML that was made and cleaned here.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ..core.reading import text_key
from ..rows.columns import PLANNED_LABELS, SAMPLING_PROBABILITY
from .table import ESCAPES_IN_JSON, render, visible

ALL_ANSWERS = "All answers"
MOST_ROWS = 20_000  # of a page
MOST_BYTES = 15_000_000 - 400_000  # of the rows in a page; its scripts, styles and head need the rest
_IN_SCRIPT = {**ESCAPES_IN_JSON, ord("<"): "\\u003c"}  # nothing in a text ends the script that holds it
MOST_WITHOUT_SCRIPTS = 100  # answers that a browser without scripts shows
MOST_RENDERED = 20_000  # characters of a text whose Markdown is rendered
_MARKUP = re.compile(r"[*_`~|]|^ {0,3}(?:[#>+-]|\d+[.)])|\n\s*\n", re.MULTILINE)
_TAGS = {"p", "br", "em", "strong", "s", "code", "pre", "ul", "ol", "li", "blockquote", "hr"}
_TAGS |= {"table", "thead", "tbody", "tr", "th", "td"}
_ATTRIBUTES = {"p": {"class"}, "ol": {"start"}}
_NOT_RENDERED = ["image", "link", "autolink", "html_inline", "html_block", "reference"]  # shown as they are written


@dataclass(frozen=True, slots=True)
class ViewedAnswer:
    """One answer of one system, as the viewer shows it."""

    key: str  # see `labels.item_key`
    question: str
    references: Sequence[str]
    system: str
    answer: str
    id: str = ""
    verdict: bool | None = None  # whether the judge accepts it
    probability: float | None = None  # of the judge, that it is right
    label: float | None = None  # of people, 0 to 1
    reason: str = ""  # why it was scored so, one sentence
    kind: str = ""  # the reason in a few words
    topic: str = ""
    passages: Sequence[str] = ()  # that the answer was written from
    scores: Mapping[str, float] = field(default_factory=dict)
    marks: Sequence[tuple[int, int, str, str]] = ()  # of the answer: start, end, kind in viewer.css, text behind it
    reference_marks: Sequence[Sequence[tuple[int, int, str, str]]] = ()  # the same of every accepted answer
    evidence: Sequence[tuple[str, str]] = ()  # a label and a text each
    drawn: tuple[int, float, int | None] | None = None  # place in the order of labelling, probability, planned labels

    @property
    def need(self) -> int:
        """How much a person should read it: 3 for a label and a judge that disagree, 2 unsure, 1 judged wrong."""
        from ..core.scorer import UNSURE_FROM, UNSURE_TO  # needs numpy, which no page of help may wait for

        if self.label is not None and self.verdict is not None and (self.label >= 0.5) != self.verdict:
            return 3
        if self.probability is not None and UNSURE_FROM < self.probability < UNSURE_TO:
            return 2
        return int(self.verdict is False)


@cache
def _parser():
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
    return parser.disable(_NOT_RENDERED)


def safe_html(text: str) -> str:
    r"""Return a text's Markdown as HTML without links, images and raw HTML, which stay text; "" for plain text.

    >>> safe_html("**six** legs <b>")
    '<p><strong>six</strong> legs &lt;b&gt;</p>\n'
    >>> safe_html("six legs"), safe_html("5 * 3 * 2")
    ('', '')
    """
    if len(text) > MOST_RENDERED or not _MARKUP.search(text):
        return ""
    import nh3

    shown = "\n".join(visible(line) for line in re.split(r"\r\n?|\n", text))
    parser = _parser()
    tokens = parser.parse(shown)
    for token in tokens:
        if token.type.startswith("heading"):  # the page has its own headings
            token.tag, token.attrs = "p", {"class": "heading"} if token.nesting == 1 else {}
    if [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]:
        (_, inline, _) = tokens
        if all(token.type in ("text", "softbreak") for token in inline.children):
            return ""
    html = parser.renderer.render(tokens, parser.options, {})
    return nh3.clean(html, tags=_TAGS, attributes=_ATTRIBUTES)


def _with_html(text: str) -> str | list[str]:
    html = safe_html(text)
    return [text, html] if html else text


def _row(answer: ViewedAnswer, number: int) -> dict[str, Any]:
    """Return an answer as a JSON object for the page; empty fields are left out."""
    rounded = {name: round(score, 4) for name, score in answer.scores.items() if math.isfinite(score)}
    row = {
        "number": number,
        "key": answer.key,
        "system": answer.system,
        "answer": _with_html(answer.answer),
        "id": answer.id or None,
        "verdict": None if answer.verdict is None else int(answer.verdict),
        "probability": None if answer.probability is None else round(answer.probability, 4),
        "label": answer.label,
        "reason": answer.reason or None,
        "kind": answer.kind or None,
        "topic": answer.topic or None,
        "scores": rounded or None,
        "marks": answer.marks or None,
        "referenceMarks": answer.reference_marks or None,
        "evidence": answer.evidence or None,
        "drawn": answer.drawn,
    }
    return {name: cell for name, cell in row.items() if cell is not None}


def _questions(answers: Sequence[ViewedAnswer]) -> tuple[list[str], list[list[int]]]:
    """Return the questions of a page as JSON, each with the rows that answer it, and the numbers of these rows."""
    rows_by_question: dict[tuple, list[int]] = {}
    for row, answer in enumerate(answers):
        question = text_key(answer.question) or row
        rows_by_question.setdefault((question, *answer.references), []).append(row)
    texts = []
    for rows in rows_by_question.values():
        first = answers[rows[0]]
        texts_of_question = {
            "question": _with_html(first.question),
            "references": list(map(_with_html, first.references)),
            "passages": list(first.passages),
            "rows": [_row(answers[row], row + 1) for row in rows],
        }
        texts.append(json.dumps(texts_of_question, ensure_ascii=False, allow_nan=False).translate(_IN_SCRIPT))
    return texts, list(rows_by_question.values())


def rows_of_page(answers: Sequence[ViewedAnswer], most_rows: int = MOST_ROWS, most_bytes: int = MOST_BYTES):
    """Return a JSON list of questions with their rows, the number of rows, and a note on rows left out, or "".

    Where there are too many, whole questions are left out: first those that nobody needs to read, see
    `ViewedAnswer.need`.
    """
    texts, rows_of_questions = _questions(answers)
    sizes = [len(text.encode()) + 2 for text in texts]
    kept = range(len(texts))
    if len(answers) > most_rows or sum(sizes) > most_bytes:
        kept, rows, size = [], 0, 0
        need = [max(answers[row].need for row in question_rows) for question_rows in rows_of_questions]
        for number in sorted(range(len(texts)), key=lambda number: -need[number]):
            if rows + len(rows_of_questions[number]) <= most_rows and size + sizes[number] <= most_bytes:
                kept.append(number)
                rows, size = rows + len(rows_of_questions[number]), size + sizes[number]
        kept = sorted(kept)
    count = sum(len(rows_of_questions[number]) for number in kept)
    which = ""
    if count < len(answers):
        which = (
            f"This page has {count:,} of {len(answers):,} answers: first questions where label and judge disagree, "
            "where the judge is unsure, or where an answer is judged wrong. The file has all."
        )
    return f"[{', '.join(texts[number] for number in kept)}]", count, which


def viewer(
    answers: Sequence[ViewedAnswer],
    serves: bool = False,
    rater: str = "",
    command: str = "",
    legend: str = "",
    download: str = "labels.jsonl",
    colours: Mapping[str, int] | None = None,
    heading: str = ALL_ANSWERS,
):
    """Return the viewer of answers as HTML (`markupsafe.Markup`) for a page with `viewer_script` and viewer.css.

    A single answer is shown open, without what finds others. `legend` says what marks of answers mean. `serves`: the
    page comes from `genqa-metrics view`, which saves labels and estimates the accuracy; otherwise labels are
    downloaded as a file named `download`. `command` is what estimates the accuracy from such a file. `colours` are
    numbers of the colours of systems, see page.css; `heading` says which answers they are.
    """
    from markupsafe import Markup

    questions, count, which = rows_of_page(answers)
    from ..core.scorer import UNSURE_FROM, UNSURE_TO

    options = {
        "serves": serves,
        "rater": rater,
        "command": command,
        "heading": heading,
        "unsure": [UNSURE_FROM, UNSURE_TO],
    }
    options |= {
        "colours": colours or {},
        "download": download,
        "legend": legend,
        "single": len(answers) == 1 and not serves,
    }
    options["columns"] = {"probability": SAMPLING_PROBABILITY, "planned": PLANNED_LABELS}
    text = json.dumps(options).translate(_IN_SCRIPT)[:-1] + f', "questions": {questions}}}'
    plain = {
        "answers": answers[:MOST_WITHOUT_SCRIPTS],
        "count": count,
        "single": options["single"],
        "heading": heading,
    }
    return render("viewer.html", data=Markup(text), which=which, **plain)


@cache
def viewer_script():
    """Return the script of a page with a viewer (`markupsafe.Markup`)."""
    from markupsafe import Markup

    library = Path(__file__).with_name("vendor") / "datatables.min.js"
    return Markup(library.read_text(encoding="utf-8") + "\n") + render("viewer.js")
