"""Scores systems and shows the scores: what `genqa-metrics score` prints and `genqa_metrics.score` returns."""

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property, partial
from importlib.util import find_spec
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...core.reading import UNKNOWN_FAULT, one_line
from ...core.scorer import ASKED, UNSURE_FROM, UNSURE_TO, Scorer
from ...registry import judge_among, scorer_class
from ...reports.charts import accuracy_chart
from ...reports.excerpt import excerpt, excerpt_lines, quoted
from ...reports.report import (
    WIDTH,
    Report,
    as_sentence,
    briefly,
    caution_of_words,
    differing_orders,
    highest,
    highest_accuracy,
    judge_names,
    of_faults,
    print_first_screen,
    say,
    short_names,
    untold,
)
from ...reports.table import (
    Table,
    accuracy_cell,
    listed,
    markdown,
    markdown_code,
    markdown_table,
    number,
    print_table,
    probability_and_threshold,
    source_cell,
    visible,
)
from ...reports.viewer import ViewedAnswer
from ...rows.errors import FileError, bad_usage
from ...rows.reading import Message, ignore
from ...scale import tally
from ...scale.options import OnError, Settings, length_note
from ...scale.parts import PART_ROWS
from ...scale.run import Run, Scores
from ...statistics import estimation
from ...statistics.intervals import MIN_QUESTIONS
from ..explain.report import METRICS as EXPLAINED
from ..judge_errors import JudgeErrors, confusion_table, help_of_judge, judged_systems, whose
from ..view.rows import scored_answers

if TYPE_CHECKING:
    import pandas

LONG = 200  # characters of an answer in a table
READ = "Read these first"
FEW, LEAST_LINES = 10, 12  # so few answers are printed as far as the screen has room, and in that many lines
LEAST_CUT = 24  # characters of a cut text that a list of texts shows beside others
SYSTEMS = "Systems"
HEADINGS = {  # of the kinds of answers to read, where it is not the kind
    tally.UNSURE: f"judge unsure, probability {UNSURE_FROM:g} to {UNSURE_TO:g}: it errs often there",
    tally.DISAGREE: "label and judge disagree, either can be wrong: label, probability",
    tally.WRONG: "judged wrong, surest first",
    tally.OTHER_WORDS: "judged right in other words: a lost condition or extra item can hide here",
}
_SHORT = 5  # systems in the short form
FAULTS = "Why answers were judged wrong"
_OF_FAULTS = (
    "Numbers of answers that were judged wrong, and that no person calls right, by what their words show. A fault "
    "that is named is the right one in about seven of ten cases."
)
_WIDTH = 80  # letters, above which the names of columns go over several lines


def score(
    rows: Any,
    metrics: str | Sequence[str] | None = None,
    settings: Settings | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    output: str | None = None,
    resume: bool = False,
    part_rows: int = PART_ROWS,
    engine: Literal["local", "ray"] = "local",
    address: str | None = None,
    total: bool = False,
    worst: int = 10,
    ignore_judge_errors: bool = False,
    calibration: str | None = None,
    limit_time: str | float | None = None,
    on_error: OnError = "fail",
    keep: bool = True,
    explain: bool = False,
    notify: Message = ignore,
    problem: Message = ignore,
    progress: Callable[[str, int, int | None], None] = ignore,
) -> "ScoreReport":
    """Score rows; the numbers are those of `genqa-metrics score`.

    Without metrics and settings rows with a question are scored by "ava", sets of questions by "f_meta" and "aev", and
    others by "aev"; "grounding", for rows with contexts, the retrieved passages, only where it is named.

    Args:
        rows: a list of dicts, a `pandas.DataFrame`, a `datasets.Dataset`, a path or a list of paths. A row has
            "prediction" and "references", and where it has them "question", "system", "id", "score" and "label"; or
            "context", "predictions" and "references".
        metrics: names of metrics; None for the default ones of such rows, if no column holds scores.
        settings: {metric: {setting: value}}, or {setting: value} of the only metric.
        columns: where a column has another name: {"prediction": "answer_text"}.
        output: write every row with its scores to this file (.parquet, .jsonl, .csv, .tsv), or as Parquet parts to a
            folder ("scores/"). It has all columns, of sets of questions also f_meta_not_asked, the references that a
            set does not ask; every verb reads it without judging again.
        resume: keep the finished parts in the output folder and continue after them.
        part_rows: rows of a part of an output folder.
        engine: "local" for this machine; "ray" for a Ray cluster, where rows may be a folder or a URI, output too.
        address: the Ray cluster, or "auto". Default: that of RAY_ADDRESS, or a new one here.
        total: add a row "all": all systems' rows as one corpus.
        worst: number of answers to list that a person should read first.
        ignore_judge_errors: with ava, without labels: intervals of the accuracy that ignore the errors of the judge.
        calibration: with ava: file of `calibrate`. Default: calibration.json in the folder of the checkpoint, if there
            is one.
        limit_time: with ava and a slow judge (`ava.checkpoint=large`): it reads for so long ("5m", "90s", or seconds),
            those answers first of which the bundled judge is least sure; the others have the bundled judge's verdict.
        on_error: "fail" at the first bad row, or "skip" and count bad rows.
        keep: keep the rows with their scores in memory, for `to_pandas`.
        explain: say of every row why, in columns METRIC_reason; costs `ava` a pass for every word of an answer.
        notify: called with what a user must know about the input.
        problem: called with each bad row that is skipped.
        progress: called with "scoring", the number of rows that are done, and of all rows: an estimate until all are
            read, None where it is unknown. It is called from any thread.

    Raises:
        ValueError: if an argument or a row is bad, or there is nothing to score.

    >>> score([{"prediction": "four steps", "references": ["four steps"]}], "aev").systems["rows"]["aev"]
    1.0
    """
    with bad_usage():
        run = _run_class(rows, engine, address)(
            rows,
            metrics,
            settings,
            columns=columns,
            output=output,
            resume=resume,
            part_rows=part_rows,
            address=address,
            total=total,
            worst=worst,
            calibration=calibration,
            limit_time=limit_time,
            on_error=on_error,
            keep=keep,
            explain=explain,
        )
    try:
        found = run.score(notify, problem, partial(progress, "scoring"))
    except FileError as error:
        error.finished_parts = run.finished_parts
        raise
    judge, accuracy, leads = judge_among(found.scores), None, {}
    if judge and not found.sets:
        sums = {system: totals.question_sums for system, totals in found.questions.items()}
        errors = JudgeErrors.of(run.scorers[judge], found.profiles, ignore_judge_errors)
        accuracy, estimates = judged_systems(sums, errors)
        leads = _leads(estimates, found.questions)
    return ScoreReport(found, accuracy, run.scorers, run.settings, leads)


def _leads(
    estimates: Mapping[str, estimation.AccuracyEstimate], questions: Mapping[str, tally.QuestionTotals]
) -> dict[str, tuple[float, float, float]]:
    """Return how far every other system is behind the first one, with limits, as `compare` has them.

    Empty for one system, or where an accuracy or a limit cannot be told.
    """
    if len(estimates) < 2 or any(estimate.low is None for estimate in estimates.values()):
        return {}
    order = sorted(estimates, key=lambda system: -estimates[system].value)
    keys = [questions[system].keys for system in order]
    pairs = estimation.accuracy_differences(estimation.numbered_alike([estimates[name] for name in order], keys))
    first = [tuple(pair.values()) for pair in pairs[: len(order) - 1]]  # the pairs of the first one come first
    return {} if None in [end for ends in first for end in ends] else dict(zip(order[1:], first, strict=True))


def why_to_read(answer: tally.AnswerToRead, fault: str = "", threshold: float = 0.5) -> str:
    """Return in a few words why an answer should be read.

    >>> from types import SimpleNamespace
    >>> why_to_read(SimpleNamespace(kind=tally.DISAGREE, label=1.0, score=0.2))
    'label right, judged 0.20'
    """
    score, _ = probability_and_threshold(answer.score, threshold)
    if answer.kind == tally.DISAGREE:
        return f"label {_grade(answer)}, judged {score}"
    if answer.kind == tally.APART:
        return _scores(answer)
    if answer.kind == tally.LOWEST and answer.missing:
        return f"asks {len(answer.references) - len(answer.missing)} of {len(answer.references)}"
    kind = {tally.UNSURE: f"unsure, judged {_grade(answer)}"}.get(answer.kind, answer.kind)
    return f"{kind} {number(answer.score, 2) if answer.kind == tally.LOWEST else score}{f': {fault}' if fault else ''}"


def _run_class(rows: Any, engine: str, address: str | None) -> type[Run]:
    """Return what scores with an engine; check what only one of them takes."""
    if engine != "ray":
        if address is not None:
            raise ValueError("address: only with the engine ray")
        return Run
    if find_spec("ray") is None:
        raise ValueError("engine: ray is not installed; run pip install 'genqa-metrics[ray]'")
    if not all(isinstance(path, str) for path in ([rows] if isinstance(rows, str) else rows)):
        as_they_are = "ray reads paths and URIs as they are, without --from, --systems and --encoding"
        raise ValueError(f"engine: {as_they_are}; convert the files first")
    from ...scale.ray_run import RayRun

    return RayRun


class ScoreReport(Report):
    """Scores of systems and rows.

    Attributes:
        systems: {system: {score: value}}, of all metrics; with ava also "accuracy", and "low" and "high", the ends of
            its interval.
        judge: the metric whose verdicts the accuracy corrects; None without one.
        signatures: {metric: what its numbers depend on}.
        rows: {system: rows that were scored}.
        predictions: {system: predictions that were scored}.
        skipped: {system: bad rows that were left out}; what is known of no system is only in `found.skipped`.
        notes: what must be read with the scores, one sentence each.
        warnings: scores that mean less than they seem to, one sentence each.
        accuracy: with ava, the accuracy of every system with its interval, see `judge_errors.judged_systems`.
        found: everything, see `Scores`.
        leads: how far every other system is behind the first one, with limits; empty where that cannot be told.
        compares_words: whether shared words alone are counted, which do not show what answers are right.
    """

    title = "Scores"
    styles = ("forest.css",)

    def __init__(
        self,
        found: Scores,
        accuracy: Mapping[str, Any] | None = None,
        scorers: Mapping[str, Scorer] | None = None,
        settings: Mapping[str, Any] | None = None,
        leads: Mapping[str, tuple[float, float, float]] | None = None,
    ):
        self.found, self.accuracy, self.leads = found, accuracy, leads or {}
        self._scorers, self._settings = scorers or {}, settings or {}
        self.systems = found.systems
        for system, ends in (accuracy or {"systems": {}})["systems"].items():
            self.systems[system] |= {name: ends[name] for name in ("accuracy", "low", "high")}
        self.judge = judge_among(found.scores) if accuracy else None
        self.signatures = found.signatures
        self.rows, self.predictions = found.rows, found.predictions
        self.skipped = {system: found.skipped_of.get(system, 0) for system in (*found.rows, *found.skipped_of)}
        if found.total:
            self.skipped[found.total] = found.skipped
        classes = [scorer_class(metric) for metric in found.scores]
        judged = found.sets or classes[0].evidence != "references" or any(known.verdict for known in classes)
        self.compares_words = not judged
        asked = any(answer.question for answer in found.to_read)
        self._words = caution_of_words(found.words, asked) if self.compares_words else []
        self.notes, self.warnings = found.notes, [*found.warnings, *self._words]

    def __repr__(self) -> str:
        shown = []
        for metric, systems in self.found.scores.items():
            main = scorer_class(metric).main
            some = [f"{system} {scores[main]:.4f}" for system, scores in list(systems.items())[:_SHORT]]
            shown.append(f"{main}: {', '.join(some)}{', ...' if len(systems) > _SHORT else ''}")
        return visible(f"ScoreReport({'; '.join(shown)})")

    def tables(self) -> list[Table]:
        """Return one table per metric; of ava the best systems are marked, see `best`."""
        tables = [self._table(metric) for metric in self.found.scores]
        if self.found.labelled:
            said = "AVA's verdicts beside the labels in the rows. "
            said += "Missed: correct but rejected; let through: wrong but accepted."
            tables.append(confusion_table(tally.LABELLED, self.labels, said))
        if self.found.faults:
            kinds = (*scorer_class(self.judge).faults, UNKNOWN_FAULT)
            rows = [[system, *(f"{of.get(kind, 0):,}" for kind in kinds)] for system, of in self.found.faults.items()]
            tables.append(Table(FAULTS, ["system", *kinds], rows, _OF_FAULTS))
        tables += self._reading_tables()
        if self.found.cells:
            of_systems = self.found.cells.items()
            rows = [[system, *(f"{share:.4f}" for share in shares.values())] for system, shares in of_systems]
            said = "shares of the answers that state something"
            tables.append(Table(tally.TOGETHER, ["system", *tally.CELLS], rows, said))
        return tables

    def _reading_tables(self) -> list[Table]:
        """Return the answers to read first as tables for pages and Markdown, one of each kind."""
        to_read, faults = self.found.to_read, self.faults
        beside = "passages" if any(answer.passages for answer in to_read.first) else "accepted answer"
        header, tables = ["row", "system", "why", "question", "answer", beside], []
        if self.found.sets:
            header[3:] = ["not asked", "generated questions", "reference questions"]
        for kind in tally.SHARES:
            answers = [answer for answer in to_read.first if answer.kind == kind]
            rows, whole = [], {}
            for number_, answer in enumerate(answers):
                why = why_to_read(answer, faults[answer], self._threshold)
                cells = [answer.id or str(answer.line), answer.system, why]
                said = answer.prediction.strip() or "(empty)"
                texts = [answer.question or " | ".join(answer.missing)]
                texts.append(" | ".join(said.splitlines()) if self.found.sets else said)
                texts.append(" | ".join(answer.passages or answer.references))
                for column, text in enumerate(texts, len(cells)):
                    cells.append(_short(text))
                    whole |= {(number_, column): text} if cells[-1] != text else {}
                rows.append(cells)
            of = f"{len(rows)} of {to_read.counts[kind]:,}" * (len(rows) < to_read.counts[kind])
            said = "; ".join(filter(None, [HEADINGS.get(kind), of]))
            title = READ if kind == tally.LOWEST else f"{READ}: {kind}"
            tables.append(Table(title, header, rows, said, texts=(1, 2, 3, 4, 5), whole=whole))
        return [table for table in tables if table.rows]

    def _table(self, metric: str) -> Table:
        counts = {"questions" if self.found.sets else "answers": self.predictions}
        if self.found.sets and scorer_class(metric).takes_sets:
            counts = {"contexts": self.rows, **counts}
        if self.found.skipped:
            counts["skipped"] = self.skipped
        judged, rows = self.accuracy["systems"] if metric == self.judge else {}, []
        for system, scores in self.found.scores[metric].items():
            shown = _shown_scores(metric, scores)
            numbers = (f"{count[system]:,}" for count in counts.values())
            accuracy = [accuracy_cell(judged.get(system))] * bool(judged)
            rows.append([system, *numbers, *(f"{value:.4f}" for value in shown.values()), *accuracy])
        header = ["system", *counts, *shown, *["accuracy"] * bool(judged)]
        marked = {place for place, row in enumerate(rows) if judged and row[0] in self.best}
        short = judge_names(metric, header, whose(judged)) if judged else short_names(header)
        main = header.index(scorer_class(metric).main)
        return Table(metric, header, rows, self.signatures[metric], marked, main, short=short)

    def _systems_table(self) -> Table:
        """Return one line a system: its accuracy where there is a judge, and the main score of every other metric."""
        result, judged = self.found, self.accuracy["systems"] if self.accuracy else {}
        columns = [(metric, scorer_class(metric).main) for metric in result.scores if metric != self.judge]
        first = next(iter(result.scores))
        if first != self.judge:
            known = next(iter(result.scores[first].values()))
            columns[1:1] = [(first, name) for name in scorer_class(first).beside if name in known]
        labelled, rows = any(values["labelled"] for values in judged.values()), []
        for system in result.rows:
            row = [system]
            if judged:
                row.append(accuracy_cell(judged.get(system)))
                row += [source_cell(judged.get(system))] * labelled
                of = judged.get(system)  # none for all systems together
                row.append(f"{round(of['declined'] * of['rows']):,} of {of['rows']:,}" if of else "-")
            of_metrics = (f"{result.scores[metric][system][name]:.3f}" for metric, name in columns)
            flagged = [result.flagged.get(metric, {}).get(system) for metric, _ in columns]
            rows.append([*row, *(count or score for count, score in zip(flagged, of_metrics, strict=True))])
        header = ["system", *(["right", *["from"] * labelled, "declined"] if judged else [])]
        header += ["flagged" if metric in result.flagged else name for metric, name in columns]
        marked = {place for place, row in enumerate(rows) if row[0] in self.best}
        return Table(SYSTEMS, header, rows, "", marked, short=short_names(header))

    def charts(self) -> dict:
        """Return a chart of the accuracy, above the table of systems."""
        systems = self.accuracy["systems"] if self.accuracy else {}
        chart = accuracy_chart(systems, self.best, "95%")
        return {SYSTEMS: chart} if chart else {}

    def page_tables(self) -> list[Table]:
        """Return what the first screen shows, and all tables below it."""
        tables = self.tables()
        reading = [table for table in tables if table.title.startswith(READ)]
        if self.found.columns and not self.found.sets:  # the row viewer has all answers
            tables, reading = [table for table in tables if table not in reading], []
        names = {metric: f"All scores of {self.found.titles.get(metric) or metric}" for metric in self.found.scores}
        names[tally.LABELLED] = "The judge beside labels of people"
        named = [replace(table, title=names.get(table.title, table.title)) for table in tables]
        return [self._systems_table(), *reading, *(table for table in named if table not in reading)]

    def page_notes(self) -> list[str]:
        """Return the notes, and what must be known of the accuracy."""
        return [*super().page_notes(), *(self.accuracy["notes"] if self.accuracy else ())]

    @property
    def open_tables(self) -> int:
        """The systems and the answers to read; what a person looks up opens by a click."""
        return 1 + sum(table.title.startswith(READ) for table in self.page_tables())

    def answers_of_page(self) -> list[ViewedAnswer]:
        """Return all answers with what was computed of them; none where rows were not kept."""
        return scored_answers(self.found.columns or {}, list(self.found.scores), self._threshold)

    @property
    def headline(self) -> str:
        """What was scored by what, in one line."""
        value = self.found
        systems = [system for system in value.rows if system != value.total]
        answers = sum(value.predictions[system] for system in systems)
        what = "question" if value.sets else "answer"
        of = f"{answers:,} {what}{'s' * (answers != 1)} of {len(systems)} system{'s' * (len(systems) != 1)}"
        asked = {key for system in value.questions for key in value.questions[system].keys.tolist()}
        to = f" to {len(asked):,} questions" if asked else ""
        by = listed([value.titles.get(metric) or metric for metric in value.scores])
        assumes = self.accuracy["assumes"] if self.accuracy else ""
        return f"{of}{to}, scored by {by}{f'; the accuracy {assumes}' * bool(assumes)}"

    @property
    def findings(self) -> list[str]:
        """Which system is better and whether that may be chance; what the accuracy rests on is a fact."""
        accuracy = []
        if self.accuracy:
            why, _ = untold(self.accuracy["notes"])
            accuracy = (
                why
                or [f"{said}." for said in self._of_accuracy()[:-1]]
                or [highest_accuracy(self.accuracy["systems"])]
            )
        first = next(iter(self.found.scores))
        scores = {system: of for system, of in self.found.scores[first].items() if system != self.found.total}
        names = scorer_class(first).main, *scorer_class(first).beside
        orders = differing_orders(names, scores) * (first != self.judge)
        words, further = map(as_sentence, self._words[:1]), map(as_sentence, self._words[1:])
        of_metrics = [said for metric in self.found.scores for said in self._of_metric(metric, bool(orders))]
        return [*accuracy, *orders, *words, *of_metrics, *further]

    def _of_accuracy(self) -> list[str]:
        """Return which system is better and whether that may be chance, and what the accuracy rests on."""
        systems = self.accuracy["systems"]
        if any(values["low"] is None for values in systems.values()):
            return []  # a note says that it cannot be told
        rests_on = f"right: {self.accuracy['method']}, {self.accuracy['confidence']:.0%} interval"
        if not self.leads:
            return [rests_on]
        first = max(systems, key=lambda system: systems[system]["accuracy"])
        behind = [system for system in self.leads if self.leads[system][1] > 0]
        chance = [system for system in self.leads if system not in behind]
        if len(systems) == 2:
            ((system, ends),) = self.leads.items()
            value, low, high = (100 * end for end in ends)
            leads = f"{first} leads {system} by {value:.0f} points [{low:+.0f}, {high:+.0f}]"
            return [f"{leads}: {'this could be chance' if chance else 'chance is unlikely to explain it'}", rests_on]
        near = f"; its lead over {briefly(chance)} may be chance" if chance else ""
        are = "is" if len(behind) == 1 else "are"
        far = f"; {briefly(behind)} {are} clearly behind {first}" if behind else ""
        return [f"{first} is first{near}{far}", rests_on]

    def _of_metric(self, metric: str, orders_differ: bool) -> list[str]:
        """Return which system a metric puts first, or why it ranks none.

        Nothing for one system, and for the judge of answers, whose accuracy is told.
        """
        known, found = scorer_class(metric), self.found
        values = {system: scores[known.main] for system, scores in found.scores[metric].items()}
        values.pop(found.total, None)
        if error_rate := metric in self._scorers and self._scorers[metric].error_rate:
            low, empty = sum(found.to_read.counts.values()), found.counts.get(metric, {}).get("empty", 0)
            kinds = [f"{low - empty:,} flagged"] * (low > empty) + [f"{empty:,} empty"] * bool(empty)
            said = f"Read the {' and '.join(kinds)} answer{'s' * (low != 1)}; "
            said += "the others can be unsupported too, so these counts rank no system."
            return [as_sentence(error_rate), *[said] * bool(low and metric == next(iter(found.scores)))]
        if metric == self.judge or len(values) < 2:
            return []
        if length_note(metric, found.scores[metric]):
            said = f"Do not rank these systems by {known.main}: the lengths of their answers differ."
            return [said] * (not self.compares_words)
        if found.sets and not known.takes_sets:
            return [f"The {known.main} is of single questions; it does not count reference questions that none asks."]
        asked = [as_sentence(note) for note in found.notes if known.takes_sets and note.startswith(ASKED)]
        if orders_differ and metric == next(iter(found.scores)):
            return asked
        fewest, unit = min(map(found.rows.get, values)), "context" if found.sets else "row"
        few = f"{fewest} {unit}{'s are' if fewest != 1 else ' is'} too few to test" * (fewest < MIN_QUESTIONS)
        shown = {system: (value, number(value)) for system, value in values.items()}
        return [*asked, highest(known.main, shown, untested=few)]

    @property
    def best(self) -> list[str]:
        """The system with the highest accuracy, and those whose difference from it has an interval that holds 0.

        Empty where no system is clearly worse.
        """
        behind = [system for system, (_, low, _) in self.leads.items() if low > 0]
        return [system for system in self.accuracy["systems"] if system not in behind] if behind else []

    @property
    def labels(self) -> dict[str, dict]:
        """{system: how AVA's verdicts agree with the labels in its rows}, see `tally.agreement`."""
        return {
            system: {**dict(zip(tally.CONFUSION, map(int, counts), strict=True)), **tally.agreement(counts)}
            for system, counts in self.found.labelled.items()
        }

    @property
    def _threshold(self) -> float:
        """Probability from which the judge calls an answer right."""
        return getattr(self._scorers.get(self.judge), "threshold", 0.5)

    @cached_property
    def faults(self) -> dict[tally.AnswerToRead, str]:
        """What is wrong with answers to read that were judged wrong, in a few words, where that is known."""
        faults = dict.fromkeys(self.found.to_read.first, "")
        for answer in faults:
            if answer.verdict == 0 and answer.label in (None, 0):
                texts = answer.question or "", answer.references, answer.prediction
                faults[answer] = scorer_class(self.judge).fault(*texts)
        return faults

    @cached_property
    def _weakest(self) -> dict[tally.AnswerToRead, tuple[str, str, str, str]]:
        """What `GroundingScorer.weakest` says of answers to read that are compared with passages."""
        first, scorer = self.found.to_read.first, self._scorers.get("grounding")
        if not scorer or next(iter(self.found.scores)) != "grounding":
            return {}
        columns = {
            "questions": [answer.question or "" for answer in first],
            "predictions": [answer.prediction for answer in first],
            "contexts": [answer.passages for answer in first],
        }
        return dict(zip(first, scorer.weakest(columns), strict=True))

    @property
    def _asked_besides(self) -> list[list[str]]:
        """The questions of each set to read that ask no reference."""
        first, scorer = self.found.to_read.first, next(scorer for scorer in self._scorers.values() if scorer.missing)
        columns = {"predictions": [one.prediction.splitlines() for one in first]}
        columns["references"] = [one.references for one in first]
        explained = scorer.ready().statistics(columns, explain=True).details["explanation"]
        return [of_set["asked_besides"] for of_set in explained]

    @property
    def next_steps(self) -> list[str]:
        """How to get an accuracy where it cannot be told, and how to see why answers were scored so."""
        _, steps = untold(self.accuracy["notes"] if self.accuracy else ())
        return [*steps, *[f"See why answers were scored so: {self._why}."] * bool(self._explained)]

    def facts(self) -> list[str]:
        """Return the signatures, and how the intervals of the accuracy were made."""
        noted = self.page_notes()
        return [*self.signatures.values(), *(fact for fact in self._remarks() if fact not in noted)]

    def _remarks(self) -> list[str]:
        if not self.accuracy:
            return []
        systems = self.accuracy["systems"]
        told = any(values["low"] is not None for values in systems.values())
        rests_on = [f"accuracy: 95% interval, {self.accuracy['method']}"] * told
        counts = np.sum([*self.found.labelled.values()], axis=0) if self.found.labelled else np.zeros(4)
        confusion = dict(zip(tally.CONFUSION, counts.astype(int).tolist(), strict=True))
        help_beside_labels = help_of_judge(systems, confusion, self._scorers[self.judge].stronger)
        marked = "bold: the highest accuracy, and those not clearly below it; "
        marked += "`compare` tests systems on the same questions"
        judge = [self.accuracy["measured"], marked if self.best else ""]
        return list(filter(None, [*rests_on, help_beside_labels, *self.accuracy["notes"], *judge]))

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the rows, with all digits."""
        counts = {"rows": self.rows, "predictions": self.predictions, "skipped": self.skipped}
        systems = {
            system: {name: numbers[system] for name, numbers in counts.items()} | scores
            for system, scores in self.systems.items()
        }
        return {
            "systems": systems,
            "signatures": self.signatures,
            "skipped_rows": self.found.skipped,
            "contexts_without_a_second_reference": self.found.single,
            "notes": self.notes,
            "to_read": [asdict(answer) | {"fault": self.faults[answer]} for answer in self.found.to_read.first],
            **({"faults": self.found.faults} if self.found.faults else {}),
            **({"labels": self.labels} if self.found.labelled else {}),
            **({"accuracy": self.accuracy} if self.accuracy else {}),
        }

    def to_pandas(self) -> "pandas.DataFrame":
        """Return one line a row, with all its scores.

        Raises:
            ValueError: if the rows were not kept, as by the command line.
        """
        import pandas

        if self.found.columns is None:
            raise ValueError("rows: were not kept; genqa_metrics.score keeps them, and --output writes them")
        return pandas.DataFrame(self.found.columns).astype({"score": float, "label": float})  # None is NaN

    def to_markdown(self) -> str:
        """Return the notes, and one table per metric with its signature."""
        parts = [markdown(self.headline), *(f"**Note:** {markdown(note)}" for note in self.notes)]
        for table in self.tables():
            parts += [f"**{markdown(table.title)}**", markdown_table(table), markdown_code(table.explanation)]
        return "\n\n".join([*parts, *map(markdown, self._remarks())])

    def show(self, console: Any) -> None:
        """Print the finding, one line a system, and the answers to read first; `show_all` prints all tables."""
        result, accuracy = self.found, self.accuracy or {"notes": []}
        findings = self._of_accuracy() if self.accuracy else self.findings
        first = next(iter(result.scores))
        main, systems = self._scorers.get(first) or scorer_class(first), self._systems_table()
        caution = [as_sentence(scorer.error_rate) for scorer in self._scorers.values() if scorer.error_rate]
        of_main = "" if first in result.flagged else f" ({main.main}, 0 to 1)"
        measures = [main.measures + of_main] * bool(main.measures)
        faults = of_faults(result.faults) if result.faults else []
        notes = [*measures, *accuracy["notes"], *result.notes, *faults]
        print_first_screen(
            console,
            self.headline,
            replace(systems, title="", header=systems.headings, short={}),
            [finding for finding in findings if finding not in caution],
            [note for note in notes if as_sentence(note) not in (*findings, *caution)],
            self._more(),
            partial(self._print_reading, console),
            caution,
        )

    @property
    def _explained(self) -> str:
        """The metric whose answers to read `explain` explains; "" where there is none to read."""
        metrics = [name for name in self.signatures if name in EXPLAINED] or [*self.signatures]
        return metrics[0] if self.found.to_read.first else ""

    @property
    def _why(self) -> str:
        """The command that says why answers were scored so, with the settings that they were scored with."""
        metric = self._explained
        command = ["genqa-metrics", "explain", "FILE", *(["-m", metric] if metric != EXPLAINED[0] else [])]
        for name, value in self._settings.get(metric, {}).items():
            command += ["--set", f"{metric}.{name}={value if isinstance(value, str) else json.dumps(value)}"]
        return shlex.join(command)

    def _more(self) -> str:
        """Return where the rest is, and which command says why the answers to read were scored so."""
        metric, column = self._explained, ""
        if metric in ("", EXPLAINED[0]):
            return f"{f'Why: {self._why}. ' if metric else ''}All tables and signatures: --verbose"
        if (scorer := self._scorers.get(metric)) and scorer.missing:
            column = f" -o FILE writes {metric}_{scorer.missing}."
        return f"Why: {self._why}.{column} All tables: --verbose"

    def show_all(self, console: Any) -> None:
        """Print the notes, one table per metric with its signature, and the answers to read first."""
        say(console, [f"note: {note}" for note in self.notes], "bold yellow")
        for table in self.tables():
            if table.title.startswith(READ):
                continue
            table.title = ""
            wide = sum(len(name) + 3 for name in table.headings) > _WIDTH
            broken = [name for place, name in enumerate(table.header) if wide and place != table.bold]
            print_table(table, console, broken)
        self._print_reading(console)
        say(console, self._remarks())

    def _print_reading(self, console: Any, room: int = LEAST_LINES) -> None:
        """Print the answers to read first, those judged wrong with their faults; few of them in `room` lines."""
        from rich.text import Text

        to_read = self.found.to_read
        if to_read.first:
            every = sum(to_read.counts.values())
            width = min(console.width, WIDTH)
            if self.found.sets:
                answers = _lines_of_sets(to_read.first, width, self._asked_besides)
            else:
                answers = _reading_lines(to_read, width, self._threshold, self.faults, self._weakest)
            lengths = np.cumsum([len(lines) for lines in answers])
            kinds = [f"{count:,} {kind}" for kind, count in to_read.counts.items() if count and kind != tally.LOWEST]
            counts = f": {', '.join(kinds)}" * (len(kinds) > 1) + ": lowest, or scores far apart" * self.compares_words
            heading = f"{READ} ({{}} of {every:,}{counts}; all: --worst {every})"
            room -= 1 + -(-len(heading) // width)  # an empty line before, and the lines of the heading
            fit = int((lengths <= max(room, LEAST_LINES)).sum())
            shown = answers[:fit] if len(answers) <= FEW else answers
            heading = heading.format(len(shown)) if every > len(shown) else READ
            console.print()
            console.print(Text(heading, style="bold"))
            for line in chain.from_iterable(shown):
                console.print(Text(line), no_wrap=True, overflow="crop")


def _shown_scores(metric: str, scores: Mapping[str, float]) -> dict[str, float]:
    """Show one quotient for the two lengths, and only what fits a table."""
    hidden = scorer_class(metric).only_in_files
    shown = {name: value for name, value in scores.items() if name not in hidden}
    if "prediction_length" in shown:
        length = shown.pop("prediction_length")
        shown["length_ratio"] = length / max(shown.pop("reference_length"), 1)
    return shown


def _short(text: str) -> str:
    """Return a text on one line without markup, the beginning of a long one."""
    text = one_line(text)
    return text if len(text) <= LONG else f"{text[:LONG]}..."


def _reading_lines(
    to_read: tally.AnswersToRead,
    width: int,
    threshold: float,
    faults: Mapping[tally.AnswerToRead, str],
    weakest: Mapping[tally.AnswerToRead, tuple[str, str, str, str]],
) -> list[list[str]]:
    """Return the lines of each answer to read first, below the reason to read them, in so many columns."""
    answers = to_read.first
    names = {answer: visible(answer.id or f"line {answer.line}") for answer in answers}
    systems = {answer: visible(answer.system) for answer in answers}
    if all(system in names[answer] for answer, system in systems.items()):
        systems = dict.fromkeys(answers, "")
    of_name, of_system = (min(max(map(len, texts.values())), 12) for texts in (names, systems))
    scores = {answer: _scores(answer) for answer in answers}
    scores |= {answer: supported for answer, (supported, *_) in weakest.items()}
    for answer in answers:
        if answer.verdict is not None:
            chance, _ = probability_and_threshold(answer.score, threshold)
            scores[answer] = chance.replace("below ", "<").replace("above ", ">")
    of_score = max((len(scores[answer]) for answer in answers if len(answer.scores) < 2), default=0)
    result, kind = [], ""
    for answer in answers:
        lines = []
        if answer.kind != kind and answer.verdict is not None:
            kind = answer.kind
            counts = f" ({to_read.counts[kind]:,})"
            if kind == tally.UNSURE:
                counts += f"; right from {threshold:g}"
            lines.append(f" {HEADINGS.get(kind, kind)}{counts}")
        result.append(lines)
        line = f"  {names[answer][:of_name]:<{of_name}}  "
        line += f"{systems[answer][:of_system]:<{of_system}}  " * bool(of_system)
        line += f"{_grade(answer):<5}, " * (kind == tally.DISAGREE) + f"{scores[answer]:<{of_score}}  "
        line += f"{_grade(answer)}? " * (kind == tally.UNSURE)
        line += f"{faults[answer]}: " if faults[answer] else ""
        said, beside, name = answer.prediction, answer.references, "accepted"
        if answer in weakest:
            _, said, name, evidence = weakest[answer]
            beside = [evidence] * bool(evidence)
        texts = excerpt(said, beside, 10**6, name)
        if len(line) + len(texts) <= width:
            lines.append(line + texts)
        elif not answer.question:
            lines.append(line + excerpt(said, beside, max(width - len(line), 30), name))
        else:
            lines.append(line + quoted(answer.question, max(width - len(line), 12)))
            lines += [" " * 6 + text for text in excerpt_lines(said, beside, max(width - 6, 40), name)]
    return result


def _lines_of_sets(
    sets: Sequence[tally.AnswerToRead], width: int, besides: Sequence[Sequence[str]]
) -> list[list[str]]:
    """Return the lines of each set: how many references it asks, those that it does not ask, and what else it asks."""
    names = [visible(f"context {one.id}" if one.id else f"line {one.line}") for one in sets]
    systems = [visible(one.system) for one in sets]
    of_name, of_system = (min(max(map(len, texts)), most) for texts, most in ((names, 20), (systems, 12)))
    result = []
    for one, name, system, others in zip(sets, names, systems, besides, strict=True):
        asked = len(one.prediction.splitlines())
        line = f"  {name[:of_name]:<{of_name}}  {system[:of_system]:<{of_system}}  {why_to_read(one)} with {asked:,} "
        line += f"question{'s' * (asked != 1)}; not asked:"
        lines, texts = [f"{line} {_fitted(one.missing, 10**6)}"], " " * 6
        if len(lines[0]) > width:
            lines = [line, texts + _fitted(one.missing, width - len(texts))]
        label = f"{texts}asked besides: "
        result.append(lines + [label + _fitted(others, width - len(label))] * bool(others))
    return result


def _fitted(texts: Sequence[str], room: int) -> str:
    """Return texts in quotes, so many of them as are read in so many characters, and how many more there are.

    >>> _fitted(["Who won?", "When?", "Why was it?"], 30), _fitted(["Who won it?", "When?"], 20)
    ('"Who won?", "When?"; 1 more', '"Who won..."; 1 more')
    """
    shown = ""
    for place, text in enumerate(texts, 1):
        more = f"; {len(texts) - place} more" * (place < len(texts))
        said = quoted(text, room - len(shown) - len(", ") * bool(shown) - len(more))
        if shown and said.endswith('..."') and len(said) < LEAST_CUT:
            return f"{shown}; {len(texts) - place + 1} more"
        shown += f"{', ' * bool(shown)}{said}"
    return shown


def _scores(answer: tally.AnswerToRead) -> str:
    """Return the score of an answer, of a metric of words by name, or its two that are far apart."""
    return ", ".join(f"{name} {number(value, 2)}" for name, value in answer.scores.items()) or number(answer.score, 2)


def _grade(answer: tally.AnswerToRead) -> str:
    """Return what people say of an answer where the judge disagrees, else what the judge says."""
    return "right" if (answer.label if answer.kind == tally.DISAGREE else answer.verdict) else "wrong"
