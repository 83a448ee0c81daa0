"""Why a metric scored answers as it did: what `genqa_metrics.explain` returns, and what the command shows."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...ava.differences import LINKING, NEGATION
from ...ava.explaining import NO_REASON
from ...core.reading import COMMON, probability_and_threshold
from ...core.scorer import UNSURE_FROM, UNSURE_TO
from ...core.words import absent_words, nearest_reference
from ...registry import JUDGE, SCORERS, scorer_class
from ...reports.excerpt import chance
from ...reports.report import Finding, Report, print_field, say
from ...reports.table import listed, number, visible
from ...reports.viewer import ALL_ANSWERS, ViewedAnswer

if TYPE_CHECKING:
    from ...core.scorer import ExplainedRow, Scorer

MOST_WORDS = 3  # of an accepted answer that are named
COMPARED = "Compared with"  # the accepted answer that decided, of several


def explain(
    question: str,
    prediction: str,
    references: str | Sequence[str] | None = None,
    metric: str = JUDGE,
    settings: Mapping[str, Any] | None = None,
    *,
    contexts: Sequence[str] | None = None,
    progress: bool = False,
) -> dict[str, Any]:
    """Explain the score of one answer, as `genqa-metrics explain` does; no file is needed.

    Args:
        question: the question.
        prediction: the answer.
        references: one or several right answers; grounding reads none.
        metric: "ava" (how a wrong answer differs from the accepted one, and the words that count), "kpqa" (weights and
            matches) or "grounding" (which sentences the passages support).
        settings: settings of the metric, such as checkpoint.
        contexts: for grounding, the passages that were retrieved.
        progress: whether progress is shown.

    Returns:
        The scores of the answer, and "explanation", as on the metric's card.

    Raises:
        ValueError: if the metric does not explain an answer, or a text or setting is bad.

    >>> explained = explain("Who won?", "It was Ann.", "Ann")
    >>> sorted(explained["explanation"])
    ['differences', 'probability', 'reason', 'reference', 'words']
    """
    from ... import load

    metrics = sorted(name for name in SCORERS if scorer_class(name).explains_answers)
    if metric not in metrics:
        raise ValueError(f"metric: expected one of {', '.join(metrics)}, got {metric!r}")
    name = scorer_class(metric).evidence
    wanted = contexts if name == "contexts" else references
    if wanted is None or (references is not None and contexts is not None):
        raise ValueError(f"{name}: {metric} compares answers with {name} alone; give {name}=[...], nothing else")
    result = load(metric, progress=progress, **(settings or {}))
    results = result.compute(questions=[question], predictions=[prediction], **{name: [wanted]}, explain=True)
    return {**results, "explanation": results["explanation"][0]}


@dataclass(kw_only=True)
class Explanations(Report):
    """Answers with the reasons for their scores, for a page."""

    title: str
    answers: Sequence[ViewedAnswer]
    legend: str  # what marks mean
    signature: str
    headline: str = ""
    answers_title: str = ALL_ANSWERS
    conclusions: Sequence[Finding] = ()
    next_steps: Sequence[str] = ()
    notes: Sequence[str] = ()

    def tables(self) -> list:
        """Return no tables: the row viewer has all answers."""
        return []

    def answers_of_page(self) -> list[ViewedAnswer]:
        """Return the answers."""
        return [*self.answers]

    def facts(self) -> list[str]:
        """Return the signature."""
        return [self.signature]


class Explainer:
    """Explains answers by one metric, and counts what a reader must be warned of."""

    def __init__(self, scorer: "Scorer", corpus: Sequence[str] = (), word_effects: bool = True):
        self.scorer, self.corpus, self.counts = scorer, corpus, Counter()
        self.shows_effects = word_effects  # of each word, on a terminal

    def explained(self, question: str, prediction: str, texts: Sequence[str]) -> ViewedAnswer:
        """Return an answer, of a set a line for each question, compared with references or passages."""
        columns = {"predictions": [prediction.splitlines() if self.scorer.takes_sets else prediction]}
        columns |= {"questions": [question], self.scorer.evidence: [[*texts]]}
        columns = self.scorer.checked(columns)
        (row,), result = self.scorer.explained(columns, self.corpus)
        self.counts += self.scorer.all_counts(columns, result)
        scores = {name: float(column[0]) for name, column in self.scorer.row_scores(result.values).items()}
        return viewed(self.scorer, question, row, scores, (columns.get("contexts") or [()])[0])

    def page(
        self,
        answers: Sequence[ViewedAnswer],
        title: str = "",
        names: Mapping[str, str] | None = None,
        **texts: str | Sequence[str],
    ) -> str:
        """Return explained answers as an HTML page, with texts of `Explanations`; `names` as in `Report.to_html`."""
        title = title or f"Why {self.scorer.title} scores this answer so"
        answers = [replace(answer, reason=why(answer)) if answer.verdict is not None else answer for answer in answers]
        judge = {"legend": self._legend(in_colours=True), "signature": self.scorer.signature}
        return Explanations(title=title, answers=answers, **judge, **texts).to_html(names)

    @property
    def warnings(self) -> list[str]:
        """What a reader must know before the reasons."""
        return self.scorer.warnings({}, self.counts)

    def verdict(self, answer: ViewedAnswer) -> str:
        """Return the verdict of a judge on an answer in a line, with a probability that is never 0 or 1; else ""."""
        if answer.verdict is None:
            return ""
        probability, threshold = probability_and_threshold(answer.probability, self.scorer.threshold)
        return f"judged {self._verdict(answer)}: probability {probability}; {threshold} or more counts as right"

    def show(self, answer: ViewedAnswer, console: Any, name: str = "") -> None:
        """Print the verdict on an answer and why it has its score, with the texts that it is compared with."""
        fields = self._judged_fields(answer) if answer.verdict is not None else self._scored_fields(answer)
        say(console, [self._heading(answer, name)] * bool(name or answer.verdict is not None), "bold")
        width = max(len(label) for label, _ in fields) + 2
        for label, text in fields:
            print_field(console, visible(label), text, width)

    def _heading(self, answer: ViewedAnswer, name: str) -> str:
        """Return the name of an answer, the verdict on it, and its label."""
        heading = name
        if answer.verdict is not None:
            judged = f"judged {self._verdict(answer)} ({chance(answer.probability, self.scorer.threshold)})"
            heading = f"{name}: {judged}" if name else judged.capitalize()
        label = {1: "right", 0: "wrong"}.get(answer.label, answer.label)
        return heading + ("" if label is None else f"; labelled {label}")

    def _verdict(self, answer: ViewedAnswer) -> str:
        called = "right" if answer.verdict else "wrong"
        return called + ", but unsure" * (UNSURE_FROM < answer.probability < UNSURE_TO)

    def _judged_fields(self, answer: ViewedAnswer) -> list[tuple[str, Any]]:
        """Return the reason for a verdict, and the texts, the accepted answer that decided first."""
        reason, evidence = why(answer), dict(answer.evidence)
        fields: list[tuple[str, Any]] = [("Why", reason)]
        fields += [("Question", answer.question)] * bool(answer.question)
        marks = [mark for mark in answer.marks if self.shows_effects or not mark[3]]
        fields += [] if answer.passages else [("Answer", _marked(answer.answer, marks))]
        decided = evidence.pop(COMPARED, None)
        accepted = sorted(answer.references, key=lambda text: text != decided)
        return [*fields, *zip(["Accepted", *["or"] * len(accepted)], accepted, strict=False), *evidence.items()]

    def _scored_fields(self, answer: ViewedAnswer) -> list[tuple[str, Any]]:
        """Return the texts, with marks of words, and why the answer has its score."""
        several = len(answer.references) > 1
        references = [f"Reference {i}" if several else "Reference" for i in range(1, len(answer.references) + 1)]
        marks = answer.reference_marks or [()] * len(references)
        fields: list[tuple[str, Any]] = [("Question", answer.question)] * bool(answer.question)
        if self.scorer.takes_sets:
            fields += [("Generated", line.strip() or "(empty)") for line in answer.answer.splitlines()]
        elif not answer.passages:
            fields.append(("Answer", _marked(answer.answer, answer.marks)))
        fields += zip(references, map(_marked, answer.references, marks), strict=True)
        if not self.scorer.explains_answers:
            fields.append(("Score", f"{self.scorer.main} {number(answer.scores[self.scorer.main])}"))
        return [*fields, *[("Reason", answer.reason)] * bool(answer.reason), *answer.evidence]

    def _legend(self, in_colours: bool) -> str:
        """Return what marks mean; what their colours mean only where there are colours."""
        return " ".join(filter(None, [self.scorer.colours_of_marks * in_colours, self.scorer.legend]))

    def show_legend(self, answers: Sequence[ViewedAnswer], console: Any) -> None:
        """Print what the marks mean, if there are some, and warnings."""
        has_marks = any(text for answer in answers if not answer.passages for *_, text in answer.marks)
        hides = not self.shows_effects and any(answer.verdict is not None for answer in answers)
        legend = self._legend(in_colours=console.color_system is not None)
        lines = [legend] * (has_marks and not hides) + [f"Note: {warning}." for warning in self.warnings]
        say(console, [*[""] * bool(lines), *lines], "italic")


def viewed(
    scorer: "Scorer", question: str, row: "ExplainedRow", scores: Mapping[str, float], passages: Sequence[str] = ()
) -> ViewedAnswer:
    """Return an explained row with its scores as the row viewer shows it."""
    from ..label.labels import item_key

    names = () if scorer.verdict else dict.fromkeys((scorer.main, *scorer.beside))
    return ViewedAnswer(
        key=item_key("", question, row.prediction),
        question=question,
        references=row.references,
        system="",
        answer=row.prediction,
        verdict=bool(scores[scorer.verdict]) if scorer.verdict else None,
        probability=scores[scorer.graded] if scorer.verdict else None,
        reason=row.reason,
        passages=passages,
        scores={name: scores[name] for name in names},
        marks=row.marks,
        reference_marks=row.reference_marks,
        evidence=row.evidence,
    )


def of_row(answer: ViewedAnswer, row: Any) -> ViewedAnswer:
    """Return an explained answer under the name, the system and the label of its row in a file."""
    from ..label.labels import item_key

    key = item_key(row.system, answer.question, answer.answer)
    name = row.id or f"{row.file}, line {row.line}"
    return replace(answer, key=key, id=name, system=row.system, label=getattr(row, "label", None))


def beside_verdict(reason: str) -> str:
    """Return the reason of a verdict without what stands beside it: the verdict, and the accepted answer.

    >>> beside_verdict("Unsure: the judge gives no reason; accepted: 'Rome'."), beside_verdict("Judged right.")
    ('The judge gives no reason.', '')
    >>> beside_verdict('Judged right; check: "Cy Dee" is missing.'), beside_verdict("Unsure: judged right; check.")
    ('Check: "Cy Dee" is missing.', 'Check.')
    """
    reason = reason.removeprefix("Unsure: ")
    reason, stop, _ = re.sub(r"\A[Jj]udged right; ", "", reason).partition("; accepted: ")
    reason += "." * bool(stop)
    return "" if reason.lower() == "judged right." else reason[:1].upper() + reason[1:]


def why(answer: ViewedAnswer) -> str:
    """Return what the texts show for the verdict on an answer, and first whether its label says the opposite.

    >>> texts = {"key": "", "question": "Who?", "references": ["Ann Lee"], "system": "", "answer": "It was Ann."}
    >>> why(ViewedAnswer(**texts, verdict=True, reason="Judged right."))
    'Not in it: "Lee".'
    >>> texts |= {"references": ["Yes, if they are used by 3 May and only at home"], "answer": "Yes."}
    >>> why(ViewedAnswer(**texts, verdict=True, reason="Judged right."))
    'Not in it: "used", "3", "May" and 2 more words.'
    >>> why(ViewedAnswer(**texts, verdict=False, reason='Missing: "Lee".', label=1.0))
    'Label and judge disagree. Missing: "Lee".'
    """
    reason = beside_verdict(answer.reason)
    if not reason or reason.lower().startswith(NO_REASON):
        reason = f"{reason} {_words_it_lacks(answer)}".strip()
    disagree = answer.label in (0, 1) and answer.label != answer.verdict
    return "Label and judge disagree. " * disagree + reason


def _words_it_lacks(answer: ViewedAnswer) -> str:
    """Return which words of the nearest accepted answer an answer lacks, in any form of them.

    >>> grams = ViewedAnswer("", "How much of 80 g is left?", ["10 g"], "", "10 mg", True)
    >>> why(grams)
    'It has all telling words of the accepted answer, or forms of them, but "g", which the question has.'
    """
    accepted = nearest_reference(answer.references, answer.answer)

    def lacks(question: str) -> list[str]:
        words = [accepted[start:end] for start, end in absent_words(accepted, answer.answer, question)]
        return [word for word in words if word.lower() not in COMMON | LINKING or NEGATION.fullmatch(word)]

    if absent := lacks(answer.question):
        return f"Not in it: {_named(absent)}."
    asked = lacks("")
    but = f", but {_named(asked)}, which the question has" if asked else ""
    return f"It has all telling words of the accepted answer, or forms of them{but}."


def _named(words: Sequence[str]) -> str:
    """Return words in quotation marks as one phrase, the number of further ones."""
    more = len(words) - MOST_WORDS
    named = [f'"{word}"' for word in words[:MOST_WORDS]]
    return listed([*named, f"{more:,} more word{'s' * (more > 1)}"] if more > 0 else named)


COLOURS = {  # of kinds of marks, as in viewer.css; black text on them has a contrast of at least 4.5 (WCAG AA)
    "for": "#93c5fd",
    "against": "#fdba74",
    "weight1": "#a8a29e",
    "weight2": "#9fb4cc",
    "weight3": "#86b9e8",
    "weight4": "#56b4e9",
    "weight5": "#2f9fe0",
}


def _marked(text: str, marks: Sequence[tuple[int, int, str, str]]):
    """Return a `rich.text.Text` with the marks of a text as backgrounds, and what they show behind them."""
    from rich.text import Text

    result, end = Text(), 0
    for start, stop, kind, behind in marks:
        result.append(visible(text[end:start]))
        result.append(visible(text[start:stop]), f"#000000 on {COLOURS[kind]}" if kind in COLOURS else "")
        result.append(f"({behind})" if behind else "")
        end = stop
    result.append(visible(text[end:]))
    return result if result.plain.strip() else Text("(empty)", "italic")
