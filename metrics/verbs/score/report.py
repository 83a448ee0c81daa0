"""Scores systems and shows the scores: what `genqa-metrics score` prints and `genqa_metrics.score` returns."""

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from importlib.util import find_spec
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, Literal

from ...core.reading import one_line, the_first
from ...core.scorer import ASKED, Scorer
from ...registry import JUDGE, judge_among, scorer_class
from ...reports.charts import Intervals, accuracy_intervals
from ...reports.excerpt import MOST_LINES, judged_lines, nearest_part, reading_lines, set_lines, why_to_read
from ...reports.report import (
    MOST_NAMED,
    WIDTH,
    Finding,
    Report,
    as_sentence,
    caution_of_words,
    differing_orders,
    faults_table,
    highest,
    highest_accuracy,
    judge_names,
    lead,
    of_faults,
    print_first_screen,
    say,
    screen_header,
    short_names,
    untold,
)
from ...reports.table import (
    Table,
    accuracy_cell,
    listed,
    number,
    print_table,
    visible,
)
from ...reports.viewer import ViewedAnswer
from ...rows.errors import FileError, bad_usage
from ...rows.reading import Message, ignore
from ...scale.options import OnError, ScoreOptions, Settings
from ...scale.parts import PART_ROWS
from ...scale.run import Run, Scores
from ...scale.scoring import (
    AGREED,
    CELLS,
    CONFUSION,
    DISAGREE,
    EXAMPLES,
    AnswerToRead,
    QuestionTotals,
    by_kind,
    columns_to_read,
    were_recalled,
)
from ...statistics import estimation
from ..judge_errors import (
    CAN_ERR_MORE,
    SHORT_CELLS,
    JudgeErrors,
    best_first,
    confusion_table,
    differences_of_pairs,
    help_of_judge,
    judged_systems,
    to_label,
    what_decides,
)
from ..label.labels import file_for_labels, label_more
from ..view.rows import scored_answers

if TYPE_CHECKING:
    import pandas

LONG = 200  # characters of an answer in a table
READ = "Read these first"
FEW, LEAST_LINES = 10, 12  # answers that are listed unless a number is named, as far as they fit; lines for them
SYSTEMS, LABELLED = "Systems", "labels of people"


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
    worst: int | None = None,
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
            folder ("scores/"). It has all columns; with ava also ava_unsure (1 for a probability of 0.1 to 0.9) and
            ava_fault (what the words of an answer that was judged wrong show); of sets of questions f_meta_not_asked,
            the references that a set does not ask. Every verb reads it without judging again.
        resume: keep the finished parts in the output folder and continue after them.
        part_rows: rows of a part of an output folder.
        engine: "local" for this machine; "ray" for a Ray cluster, where rows may be a folder or a URI, output too.
        address: the Ray cluster, or "auto". Default: that of RAY_ADDRESS, or a new one here.
        worst: number of answers to list that a person should read first. Default: ten, of which a terminal shows as
            many as fit.
        calibration: with ava: file of `calibrate`. Default: calibration.json in the folder of the checkpoint, if there
            is one.
        limit_time: with ava and a slow judge (`ava.checkpoint=large`): it reads for so long ("5m", "90s", or seconds),
            those answers first of which the bundled judge is least sure; the others have the bundled judge's verdict.
        on_error: "fail" at the first bad row, or "skip" and count bad rows.
        keep: keep the rows with their scores in memory, for `to_pandas`.
        explain: say of every row why, in columns METRIC_reason; costs `ava` a pass for each word of a right answer and
            for every change of a wrong one.
        notify: called with what a user must know about the input.
        problem: called with each bad row that is skipped.
        progress: called with "scoring", the number of rows that are done, and of all rows: an estimate until all are
            read, None where it is unknown. It is called from any thread.

    Raises:
        ValueError: if an argument or a row is bad, or there is nothing to score.

    >>> score([{"prediction": "four steps", "references": ["four steps"]}], "aev").systems["rows"]["aev"]
    1.0
    """
    arguments = locals() | {"worst": FEW if worst is None else worst}
    with bad_usage():
        options = ScoreOptions(**{option.name: arguments[option.name] for option in fields(ScoreOptions)})
        run = _run_class(rows, engine)(rows, options)
    try:
        scores = run.score(notify, problem, partial(progress, "scoring"))
    except FileError as error:
        error.finished_parts = run.finished_parts
        raise
    judged = None if scores.sets else _judged(scores, run.scorers)
    if judged:
        scores.to_read.name_faults(run.scorers[judged.judge].differences)
    return ScoreReport(scores, judged, _details_to_read(scores, run.scorers), options.settings, worst is None)


@dataclass(frozen=True)
class Judged:
    """What the verdicts of a judge, and labels, say of systems."""

    judge: str  # the metric
    accuracy: Mapping[str, Any]  # of every system with its interval, see `judged_systems`
    leads: Mapping[str, tuple[float, float, float]]  # how far every other system is behind the first one, with limits
    help: str  # whether the judge helps beside labels, in one sentence; "" where there are no labels

    @property
    def behind(self) -> list[str]:
        """The systems that are behind the first one, where chance is unlikely to explain it."""
        return [system for system, (_, low, _) in self.leads.items() if low > 0]


def _judged(scores: Scores, scorers: Mapping[str, Scorer]) -> Judged | None:
    """Return accuracies and leads of systems by the judge among the metrics; None without a judge."""
    judge = judge_among(scores.metrics)
    if not judge:
        return None
    questions, labels = scores.judge.questions, scores.judge.labels.values()
    errors = JudgeErrors.of(scorers[judge], scores.judge.profiles)
    accuracy, estimates = judged_systems({system: totals.sums for system, totals in questions.items()}, errors)
    leads = _leads(estimates, questions)
    confusion = {case: sum(counts[case] for counts in labels) for case in CONFUSION}
    help_beside_labels = help_of_judge(accuracy["systems"], confusion, scorers[judge].stronger)
    return Judged(judge, accuracy, leads, help_beside_labels)


def _leads(
    estimates: Mapping[str, estimation.AccuracyEstimate], questions: Mapping[str, QuestionTotals]
) -> dict[str, tuple[float, float, float]]:
    """Return {system: (difference from the best system, low, high)} for all but the best, as `compare` computes them.

    Empty for one system, or where an accuracy or a limit cannot be told.
    """
    if len(estimates) < 2 or any(estimate.low is None for estimate in estimates.values()):
        return {}
    order = sorted(estimates, key=lambda system: -estimates[system].value)
    pairs = differences_of_pairs({system: estimates[system] for system in order}, questions)
    leads = {pair["second"]: tuple(pair["difference"].values()) for pair in pairs if pair["first"] == order[0]}
    return {} if None in chain.from_iterable(leads.values()) else leads


def _details_to_read(scores: Scores, scorers: Mapping[str, Scorer]) -> dict[AnswerToRead, Sequence[str]]:
    """Return what the list of answers to read shows beside texts: `Scorer.weakest`, of sets `Scorer.asked_besides`.

    Nothing for recalled rows, for which a model would be loaded.
    """
    answers = scores.to_read.first
    if not answers or were_recalled(next(iter(scores.metrics.values())).counts):
        return {}
    columns, first = columns_to_read(answers), next(iter(scorers.values()))
    if not scores.sets:
        return dict(zip(answers, first.weakest(columns), strict=False))
    columns["predictions"] = [answer.prediction.splitlines() for answer in answers]
    scorer = next(scorer for scorer in scorers.values() if scorer.missing)
    return dict(zip(answers, scorer.asked_besides(columns), strict=False))


def _run_class(rows: Any, engine: str) -> type[Run]:
    """Return the class that scores rows with an engine: `Run`, or `RayRun` for "ray"."""
    if engine != "ray":
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
        skipped: {system: bad rows that were left out}; those of no known system are only in `results.counts.skipped`.
        notes: what must be read with the scores, one sentence each.
        warnings: scores that mean less than they seem to, one sentence each.
        accuracy: with ava, the accuracy of every system with its interval, see `judge_errors.judged_systems`.
        results: everything, see `Scores`.
        leads: how far every other system is behind the first one, with limits; empty where that cannot be told.
        labels: {system: how a judge's verdicts agree with the labels in its rows}, see `scoring.agreement`.
        compares_words: whether shared words alone are counted, which do not show what answers are right.
    """

    title = "Scores"

    def __init__(
        self,
        scores: Scores,
        judged: Judged | None,
        details: Mapping[AnswerToRead, Sequence[str]],
        settings: Mapping[str, Any],
        fits: bool,
    ):
        self.results, self._judged, self._details, self._settings = scores, judged, details, settings
        self._fits = fits  # whether answers to read are listed as far as they fit on a screen
        self.accuracy, self.leads = (judged.accuracy, judged.leads) if judged else (None, {})
        self.judge = judged and judged.judge
        self.systems, self.signatures, self.labels = scores.systems, scores.signatures, scores.judge.labels
        for system, accuracy in self._judged_systems.items():
            self.systems[system] |= {name: accuracy[name] for name in ("accuracy", "low", "high")}
        counts = scores.counts
        self.rows, self.predictions = counts.rows, counts.predictions
        skipped = counts.skipped_by_system
        self.skipped = {system: skipped.get(system, 0) for system in (*counts.rows, *skipped)}
        self._scorers = {metric: scorer_class(metric) for metric in scores.metrics}
        first, *_ = classes = self._scorers.values()
        judges = scores.sets or first.evidence != "references" or any(scorer.verdict for scorer in classes)
        self.compares_words = not judges
        asked = any(answer.question for answer in scores.to_read)
        self._words = caution_of_words(scores.words, asked) if self.compares_words else []
        self.notes, self.warnings = scores.notes, [*scores.warnings, *self._words]
        self._first = next(iter(scores.metrics))

    def __repr__(self) -> str:
        shown = []
        for metric, systems in self.results.scores.items():
            main = self._scorers[metric].main
            shown.append(
                f"{main}: {the_first([f'{name} {of[main]:.4f}' for name, of in systems.items()], MOST_NAMED)}"
            )
        return visible(f"ScoreReport({'; '.join(shown)})")

    @property
    def _judged_systems(self) -> Mapping[str, Mapping[str, Any]]:
        return self.accuracy["systems"] if self.accuracy else {}

    @property
    def _threshold(self) -> float:
        """Probability from which the judge calls an answer right."""
        return self.results.metrics[self.judge].threshold if self.judge else 0.5

    @property
    def best(self) -> list[str]:
        """The system that is significantly ahead of every other one; empty where there is none."""
        behind = self._judged.behind if self._judged else ()
        first = [system for system in self._judged_systems if system not in behind]
        return first if behind and len(first) == 1 else []

    def tables(self) -> list[Table]:
        """Return one table per metric; of ava a system that is ahead of all others is marked, see `best`."""
        tables, judged = [self._table(metric) for metric in self.results.metrics], self.results.judge
        if self.labels:
            tables.append(confusion_table(LABELLED, self.labels, "AVA's verdicts beside the labels in the rows."))
        if judged.faults:
            tables.append(faults_table(judged.faults, self._scorers[self.judge].faults))
        tables += self._reading_table()
        if judged.cells:
            rows = [[system, *(f"{share:.4f}" for share in cells.values())] for system, cells in judged.cells.items()]
            support = next(metric for metric in self.results.metrics if self._scorers[metric].support)
            explanation = "shares of the answers that state something"
            tables.append(Table(f"{self.judge} and {support}", ["system", *CELLS], rows, explanation))
        return tables

    def _reading_table(self) -> list[Table]:
        """Return [a table of the answers to read first] for pages and Markdown; [] without any."""
        answers, rows, whole = self.results.to_read.first, [], {}
        beside = {"accepted answer": lambda answer: answer.references, "passages": lambda answer: answer.passages}
        beside = {name: of for name, of in beside.items() if any(map(of, answers))}
        header = ["row", "system", "why", "question", "answer", *beside]
        if self.results.sets:
            header[3:] = ["not asked", "generated questions", "reference questions"]
        for row, answer in enumerate(answers):
            cells = [answer.id or str(answer.line), answer.system, why_to_read(answer, self._threshold)]
            prediction = answer.prediction.strip() or "(empty)"
            texts = [answer.question or " | ".join(answer.missing)]
            texts.append(" | ".join(prediction.splitlines()) if self.results.sets else prediction)
            texts += [" | ".join(of(answer)) for of in beside.values()]
            accepted = " ".join(answer.references)
            for column, text in enumerate(texts, len(cells)):
                cells.append(nearest_part(one_line(text), LONG, accepted if header[column] == "answer" else ""))
                whole |= {(row, column): text} if cells[-1] != text else {}
            rows.append(cells)
        return [Table(READ, header, rows, texts=range(1, len(header)), whole=whole)] * bool(rows)

    def _table(self, metric: str) -> Table:
        """Return all scores of a metric, one line a system."""
        counts = {"questions" if self.results.sets else "answers": self.predictions}
        if self.results.sets and self._scorers[metric].takes_sets:
            counts = {"contexts": self.rows, **counts}
        if self.results.counts.skipped:
            counts["skipped"] = self.skipped
        judged, rows = self._judged_systems if metric == self.judge else {}, []
        for system, scores in self.results.scores[metric].items():
            shown = _shown_scores(scores, self._scorers[metric].only_in_files)
            numbers = (f"{count[system]:,}" for count in counts.values())
            accuracy = [accuracy_cell(judged.get(system))] * bool(judged)
            rows.append([system, *numbers, *(f"{score:.4f}" for score in shown.values()), *accuracy])
        header = ["system", *counts, *shown, *["accuracy"] * bool(judged)]
        marked = {number for number, row in enumerate(rows) if judged and row[0] in self.best}
        short = judge_names(metric, header) if judged else short_names(header)
        main = header.index(self._scorers[metric].main)
        return Table(metric, header, rows, self.signatures[metric], marked, main, short=short)

    def _systems_table(self) -> Table:
        """Return one line a system: its accuracy where there is a judge, and the main score of every other metric."""
        metrics, judged = self.results.metrics, self._judged_systems
        columns = [(metric, self._scorers[metric].main) for metric in metrics if metric != self.judge]
        if self._first != self.judge:
            names = next(iter(metrics[self._first].by_system.values()))
            columns[1:1] = [(self._first, name) for name in self._scorers[self._first].beside if name in names]
        names, rows = ["accuracy", *["labelled"] * self._are_labelled, "declined"] * bool(judged), []
        for system in best_first(judged) if judged else self.rows:
            row = [system, *(SHORT_CELLS[name](judged[system]) for name in names)]
            for metric, name in columns:
                scores = metrics[metric].by_system.get(system)  # None for a system whose rows have no predictions
                row.append(metrics[metric].flagged.get(system) or (f"{scores[name]:.3f}" if scores else "-"))
            rows.append(row)
        header = ["system", *names]
        header += ["flagged" if metrics[metric].flagged else name for metric, name in columns]
        marked = {number for number, row in enumerate(rows) if row[0] in self.best}
        return Table(SYSTEMS, header, rows, "", marked, short=short_names(header))

    def intervals(self) -> dict[str, Intervals]:
        """Return the intervals of the accuracy, for the table of systems."""
        picture = accuracy_intervals(self._judged_systems, "95% interval")
        return {SYSTEMS: picture} if picture else {}

    def page_tables(self) -> list[Table]:
        """Return what the first screen shows, and all tables below it."""
        names = {name: f"All scores of {metric.title or name}" for name, metric in self.results.metrics.items()}
        names[LABELLED] = "The judge beside labels of people"
        named = [replace(table, title=names.get(table.title, table.title)) for table in self.tables()]
        every, shown = sum(self.results.to_read.counts.values()), len(self.results.to_read.first)
        title = f"{READ} ({shown:,} of {every:,})" if every > shown else READ
        reading = [replace(table, title=title) for table in named if table.title == READ]
        return [self._systems_table(), *reading, *(table for table in named if table.title != READ)]

    def page_notes(self) -> list[str]:
        """Return the notes, and what must be known of the accuracy."""
        return [*super().page_notes(), *(self.accuracy["notes"] if self.accuracy else ())]

    @property
    def open_tables(self) -> int:
        """How many tables the page shows at first: the systems, and the answers to read; a click opens the others."""
        return 1 + bool(self.results.to_read.first)

    def answers_of_page(self) -> list[ViewedAnswer]:
        """Return all answers with what was computed of them; none where rows were not kept."""
        return scored_answers(self.results.columns or {}, list(self.results.metrics), self._threshold)

    @property
    def headline(self) -> str:
        """What was scored by what, and what the accuracy rests on or assumes, in one line."""
        if self._are_labelled:
            return ". ".join([self.page_headline, *self.certainty])
        assumes = self.accuracy["assumes"] if self.accuracy else ""
        return self.page_headline + f"; the accuracy {assumes}" * bool(assumes)

    @property
    def page_headline(self) -> str:
        """What was scored by what."""
        results = self.results
        answers = sum(self.predictions.values())
        unit = "question" if results.sets else "answer"
        labels = ", without labels" * bool(self.judge and not self._are_labelled)
        scored = f"{answers:,} {unit}{'s' * (answers != 1)} of {len(self.rows)} system{'s' * (len(self.rows) != 1)}"
        by = listed([metric.title or name for name, metric in results.metrics.items()])
        verb = "judged" if [*results.metrics] == [self.judge] else "scored"
        return f"{scored}, {verb} by {by}{labels}"

    @property
    def certainty(self) -> list[str]:
        """What the accuracy rests on, or assumes."""
        if self._are_labelled:
            return [what_decides(self._judged_systems, f"the judge {self.results.metrics[self.judge].title}")]
        assumes = self.accuracy and self.accuracy["assumes"]
        return [f"The accuracy {assumes}."] * bool(assumes)

    @property
    def conclusions(self) -> list[Finding]:
        """Which system is better and whether that may be chance; what the accuracy rests on is a fact."""
        scores = self.results.scores[self._first]
        names = self._scorers[self._first].main, *self._scorers[self._first].beside
        orders = differing_orders(names, scores) * (self._first != self.judge)
        words, further = map(as_sentence, self._words[:1]), map(as_sentence, self._words[1:])
        by_metric = [sentence for metric in self.results.metrics for sentence in self._of_metric(metric, bool(orders))]
        return [*self._of_accuracy(), *map(Finding, [*orders, *words, *by_metric, *further])]

    def _of_accuracy(self) -> list[Finding]:
        """Return which system is better and whether that may be chance, or why it cannot be told."""
        if not self.accuracy:
            return []
        if why := untold(self.accuracy["notes"])[0]:
            return why
        systems, behind = self._judged_systems, self._judged.behind
        if len(systems) == 2 and self.leads:
            ((system, ends),) = self.leads.items()
            first = next(other for other in systems if other != system)
            difference = dict(zip(("value", "low", "high"), ends, strict=True))
            return [lead({"first": first, "second": system, "difference": difference}, system not in behind)]
        return [highest_accuracy(systems, [system for system in self.leads or systems if system not in behind])]

    @property
    def _are_labelled(self) -> bool:
        return any(accuracy["labelled"] for accuracy in self._judged_systems.values())

    def _of_metric(self, metric: str, orders_differ: bool) -> list[str]:
        """Return which system a metric puts first, or why it ranks none.

        Nothing for one system, and for the judge of answers, whose accuracy is told.
        """
        scorer, results, numbers = self._scorers[metric], self.results, self.results.metrics[metric]
        main_scores = {name: scores[scorer.main] for name, scores in numbers.by_system.items()}
        if numbers.error_rate:
            low, empty = sum(results.to_read.counts.values()), numbers.counts.get("empty", 0)
            kinds = [f"{low - empty:,} flagged"] * (low > empty) + [f"{empty:,} empty"] * bool(empty)
            advice = f"Read the {' and '.join(kinds)} answer{'s' * (low != 1)}; "
            advice += "the others can be unsupported too, so these counts rank no system."
            return [as_sentence(numbers.error_rate), *[advice] * bool(low and metric == self._first)]
        if metric == self.judge or len(main_scores) < 2:
            return []
        if numbers.length_note:
            advice = f"Do not rank these systems by {scorer.main}: the lengths of their answers differ."
            return [advice] * (not self.compares_words)
        if results.sets and not scorer.takes_sets:
            return [f"The {scorer.main} is of single questions; it does not count reference questions that none asks."]
        asked = [as_sentence(note) for note in self.notes if scorer.takes_sets and note.startswith(ASKED)]
        if orders_differ and metric == self._first:
            return asked
        shown = {system: (score, number(score)) for system, score in main_scores.items()}
        return [*asked, highest(scorer.main, shown, untested=results.counts.too_few)]

    @property
    def next_steps(self) -> list[str]:
        """How to get an accuracy where it cannot be told, and how to see why answers were scored so."""
        _, steps = untold(self.accuracy["notes"] if self.accuracy else ())
        return [
            *(steps or map(as_sentence, self._to_label())),
            *[f"See why answers were scored so: {self._why}."] * bool(self._explained),
        ]

    def facts(self) -> list[str]:
        """Return the signatures, and how the intervals of the accuracy were made."""
        if not self._judged:
            return [*self.signatures.values()]
        has_interval = any(accuracy["low"] is not None for accuracy in self._judged_systems.values())
        rests_on = f"accuracy: 95% interval, {self.accuracy['method']}" * has_interval
        marked = "bold: significantly ahead of every other system; `compare` tests systems on the same questions"
        judge = [rests_on, self._judged.help, self.accuracy["measured"], marked if self.best else ""]
        return [*self.signatures.values(), *filter(None, judge)]

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
            "skipped_rows": self.results.counts.skipped,
            "notes": self.notes,
            "to_read": [asdict(answer) for answer in self.results.to_read.first],
            **({"faults": self.results.judge.faults} if self.results.judge.faults else {}),
            **({"labels": self.labels} if self.labels else {}),
            **({"accuracy": self.accuracy} if self.accuracy else {}),
        }

    def to_pandas(self) -> "pandas.DataFrame":
        """Return one line a row, with all its scores.

        Raises:
            ValueError: if the rows were not kept, as by the command line.
        """
        import pandas

        if self.results.columns is None:
            raise ValueError("rows: were not kept; genqa_metrics.score keeps them, and --output writes them")
        return pandas.DataFrame(self.results.columns).astype({"score": float, "label": float})  # None is NaN

    def show(self, console: Any) -> None:
        """Print the finding, one line a system, and the answers to read first; `show_all` prints all tables."""
        results, notes = self.results, self.accuracy["notes"] if self.accuracy else []
        first, systems = results.metrics[self._first], self._systems_table()
        caution = [as_sentence(metric.error_rate) for metric in results.metrics.values() if metric.error_rate]
        main = "" if first.flagged else f" ({self._scorers[self._first].main}, 0 to 1)"
        measures = [first.measures + main] * bool(first.measures)
        faults = of_faults(results.judge.faults, self.accuracy) if results.judge.faults else []
        _, steps = untold(notes)
        findings = [finding for finding in self._of_accuracy() or self.conclusions if str(finding) not in caution]
        shown = {*caution, *map(str, findings)}
        print_first_screen(
            console,
            findings,
            self.headline,
            replace(systems, title="", header=screen_header(systems), short={}),
            [note for note in [*faults, *measures, *notes, *self.notes] if as_sentence(note) not in shown],
            self._more(),
            partial(self._print_reading, console),
            caution,
            steps=steps or self._to_label(),
        )

    def _to_label(self) -> list[str]:
        """Return [how labels make the accuracy sure], or narrower where some answers have labels."""
        if self._are_labelled:
            rows, labels = ([of[name] for of in self._judged_systems.values()] for name in ("rows", "labelled"))
            more = label_more(file_for_labels([]), max(rows), "accuracy")
            return [f"label the other {sum(rows) - sum(labels):,} answers{more}"] * (sum(labels) < sum(rows))
        assumes = bool(self.accuracy and self.accuracy["assumes"])
        step, _, _ = to_label(self._judged_systems, "accuracy", CAN_ERR_MORE).partition(", then: ")
        return [step] * assumes

    @property
    def _explained(self) -> str:
        """The metric whose answers to read `explain` explains; "" where there is none to read."""
        metrics = [name for name in self.signatures if self._scorers[name].explains_answers] or [*self.signatures]
        return metrics[0] if self.results.to_read.first else ""

    @property
    def _why(self) -> str:
        """The command that says why answers were scored so, with the settings that they were scored with."""
        metric = self._explained
        command = ["genqa-metrics", "explain", "FILE", *(["-m", metric] if metric != JUDGE else [])]
        for name, setting in self._settings.get(metric, {}).items():
            command += ["--set", f"{metric}.{name}={setting if isinstance(setting, str) else json.dumps(setting)}"]
        return shlex.join(command)

    def _more(self) -> str:
        """Return the last line: the command that explains the listed answers, and --verbose for all tables."""
        metric, column = self._explained, ""
        if metric in ("", JUDGE):
            return f"{f'Why: {self._why}. ' if metric else ''}All tables and signatures: --verbose"
        if missing := self.results.metrics[metric].missing:
            column = f" -o FILE writes {metric}_{missing}."
        return f"Why: {self._why}.{column} All tables: --verbose"

    def show_all(self, console: Any) -> None:
        """Print the notes, one table per metric with its signature, the answers to read first, and further facts."""
        say(console, [f"note: {note}" for note in self.page_notes()], "bold yellow")
        for table in self.tables():
            if table.title != READ:
                print_table(replace(table, title=""), console)
        self._print_reading(console)
        say(console, self.facts()[len(self.signatures) :])

    def _print_reading(self, console: Any, room: int = LEAST_LINES) -> None:
        """Print the answers to read first; unless a number is named those of each kind that fit in `room` lines."""
        from rich.text import Text

        to_read = self.results.to_read
        if not to_read.first:
            return
        every, width = sum(to_read.counts.values()), min(console.width, WIDTH)
        is_judged = self._first == self.judge
        chosen = to_read.examples if is_judged and self._fits else to_read.first
        measured = ", lowest, or scores far apart" * self.compares_words
        short = {DISAGREE: "against the label"}
        kinds = {kind: f"{count:,} {short.get(kind, kind)}" for kind, count in to_read.counts.items() if count}
        against, agreed = ([kinds.pop(kind)] if kind in kinds else [] for kind in (DISAGREE, AGREED))
        others = ", then ".join(kinds.values())
        others = [f"without a label {others}" if self._are_labelled else others] if others else []
        heading = f"{READ} ({{}} of {every:,}{measured}; all: --worst {every})"
        if is_judged:
            heading = f"{READ}: {'; '.join([*against, *others, *agreed])} ({{}} shown; all {every:,}: --worst {every})"
        room = max(room - 1 - -(-len(heading) // width), LEAST_LINES)  # below an empty line and the heading

        def lines_of(answers: Sequence[AnswerToRead], most: int = MOST_LINES) -> list[list[str]]:
            if self.results.sets:
                return set_lines(answers, width, self._details)
            if is_judged:
                return judged_lines(answers, to_read.counts, width, self._threshold, most)
            return reading_lines(answers, width, self._details)

        shown = lines_of(chosen)
        if self._fits:
            fit = sum(lines <= room for lines in accumulate(map(len, shown)))
            if is_judged and fit < min(len(chosen), EXAMPLES - 1):
                shown = lines_of(chosen, most=1)
                fit = sum(lines <= room for lines in accumulate(map(len, shown)))
            answers = zip(chosen[:fit], shown, strict=False)
            ordered = sorted(answers, key=lambda answer: by_kind(answer[0])) if is_judged else answers
            shown = [lines for _, lines in ordered]
        heading = heading.format(f"{len(shown):,}") if every > len(shown) else READ
        console.print()
        say(console, [heading], "bold", WIDTH)
        for line in chain.from_iterable(shown):
            console.print(Text(line), no_wrap=True, overflow="crop")


def _shown_scores(scores: Mapping[str, float], hidden: Sequence[str]) -> dict[str, float]:
    """Return the scores that tables show; prediction and reference length become their ratio, "length_ratio"."""
    shown = {name: score for name, score in scores.items() if name not in hidden}
    if "prediction_length" in shown:
        length = shown.pop("prediction_length")
        shown["length_ratio"] = length / max(shown.pop("reference_length"), 1)
    return shown
