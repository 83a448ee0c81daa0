"""Scores of systems: what `genqa-metrics score` prints and `genqa_metrics.score` returns."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...registry import judge_among, scorer_class
from ...reports.charts import accuracy_chart
from ...reports.glossary import judge_names, short_names
from ...reports.report import Report, highest_accuracy, say
from ...reports.table import (
    Table,
    accuracy_cell,
    markdown,
    markdown_code,
    markdown_table,
    number,
    print_table,
    visible,
)
from ...rows.errors import FileError, bad_usage
from ...rows.reading import Message, ignore
from ...scale.options import OnError, Settings
from ...scale.parts import PART_ROWS
from ...scale.run import Run, Scores
from ...scale.tally import CELLS, CONFUSION, LABELLED, TOGETHER, AnswerToRead, agreement
from ...statistics.estimation import NOTHING
from ..judge_errors import METHODS, help_of_judge, judged_systems, whose
from .first_screen import (
    READ,
    SYSTEMS,
    first_screen,
    headline,
    of_accuracy,
    of_metric,
    print_reading,
    reading_tables,
    systems_table,
)

if TYPE_CHECKING:
    import pandas

_SHORT = 5  # systems in the short form
FAULTS = "Why answers were judged wrong"
_OF_FAULTS = (
    "Numbers of answers that were judged wrong, and that no person calls right, by what their words show; where they "
    "do not show it, none is named. A fault that is named is the right one in about seven of ten cases."
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
            folder ("scores/"). It has all columns, and every verb reads it without judging again.
        resume: keep the finished parts in the output folder and continue after them.
        part_rows: rows of a part of an output folder.
        engine: "local" for this machine; "ray" for a Ray cluster, where rows may be a folder or a URI, output too.
        address: the Ray cluster, or "auto". Default: that of RAY_ADDRESS, or a new one here.
        total: add a row "all": all systems' rows as one corpus.
        worst: number of answers to list that a person should read first.
        ignore_judge_errors: with ava, without labels: intervals of the accuracy that ignore the errors of the judge.
        calibration: with ava: file of `calibrate`. Default: calibration.json in the folder of the checkpoint, if there
            is one.
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
            on_error=on_error,
            keep=keep,
            explain=explain,
        )
    try:
        return ScoreReport.of(run, run.score(notify, problem, partial(progress, "scoring")), ignore_judge_errors)
    except FileError as error:
        error.finished_parts = run.finished_parts
        raise


def _run_class(rows: Any, engine: str, address: str | None) -> type[Run]:
    """Return what scores with an engine; check what only one of them takes."""
    if engine == "ray":
        if find_spec("ray") is None:
            raise ValueError("engine: ray is not installed; run pip install 'genqa-metrics[ray]'")
        if not all(isinstance(path, str) for path in ([rows] if isinstance(rows, str) else rows)):
            raise ValueError(
                "engine: ray reads paths and URIs as they are, without --from, --systems and --encoding; convert the "
                "files first"
            )
        from ...scale.ray_run import RayRun

        return RayRun
    if address is not None:
        raise ValueError("address: only with the engine ray")
    return Run


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
    """

    title = "Scores"
    styles = ("forest.css",)

    def __init__(self, found: Scores, accuracy: Mapping[str, Any] | None = None):
        self.found, self.accuracy = found, accuracy
        self.systems = found.systems
        for system, ends in (accuracy or {"systems": {}})["systems"].items():
            self.systems[system] |= {name: ends[name] for name in ("accuracy", "low", "high")}
        self.judge = judge_among(found.scores) if accuracy else None
        self.signatures = found.signatures
        self.rows, self.predictions = found.rows, found.predictions
        self.skipped = {system: found.skipped_of.get(system, 0) for system in (*found.rows, *found.skipped_of)}
        if found.total:
            self.skipped[found.total] = found.skipped
        self.notes, self.warnings = found.notes, found.warnings

    @classmethod
    def of(cls, run: Run, found: Scores, ignore_judge_errors: bool = False) -> "ScoreReport":
        """Return the report of a run.

        Args:
            run: what was run.
            found: what it returned.
            ignore_judge_errors: see `score`.
        """
        judge = judge_among(found.scores)
        if judge is None or found.sets:
            return cls(found)
        sums = {system: totals.question_sums for system, totals in found.questions.items()}
        counts = found.counts.get(judge)
        return cls(found, judged_systems(sums, run.scorers[judge], ignore_judge_errors, counts))

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
            tables.append(self._labels())
        if self.found.faults:
            kinds = scorer_class(self.judge).faults
            rows = [[system, *(f"{of.get(kind, 0):,}" for kind in kinds)] for system, of in self.found.faults.items()]
            tables.append(Table(FAULTS, ["system", *kinds], rows, _OF_FAULTS))
        tables += reading_tables(self.found.to_read, self.faults)
        if self.found.cells:
            rows = [
                [system, *(f"{share:.4f}" for share in shares.values())] for system, shares in self.found.cells.items()
            ]
            tables.append(Table(TOGETHER, ["system", *CELLS], rows, "shares of the answers that state something"))
        return tables

    def _table(self, metric: str) -> Table:
        counts = {"questions" if self.found.sets else "answers": self.predictions}
        if self.found.sets and scorer_class(metric).takes_sets:
            counts = {"contexts": self.rows, **counts}
        if self.found.skipped:
            counts["skipped"] = self.skipped
        main = scorer_class(metric).main
        rows, best = [], self.best if metric == self.judge else []
        for system, scores in self.found.scores[metric].items():
            shown = _shown_scores(metric, scores)
            rows.append(
                [system, *(f"{count[system]:,}" for count in counts.values()), *(f"{v:.4f}" for v in shown.values())]
            )
        header = ["system", *counts, *shown]
        if metric == self.judge:
            header.append("accuracy")
            for row in rows:
                row.append(accuracy_cell(self.accuracy["systems"].get(row[0])))
        marked = {place for place, row in enumerate(rows) if row[0] in best}
        short = short_names(header)
        if metric == self.judge:
            short = judge_names(metric, header, whose(self.accuracy["systems"]))
        return Table(metric, header, rows, self.signatures[metric], marked, header.index(main), short=short)

    def charts(self) -> dict:
        """Return a chart of the accuracy, above the table of systems."""
        systems = self.accuracy["systems"] if self.accuracy else {}
        chart = accuracy_chart(systems, self.best, "95%")
        return {SYSTEMS: chart} if chart else {}

    def page_tables(self) -> list[Table]:
        """Return what the first screen shows, and all tables below it."""
        tables = self.tables()
        reading = [table for table in tables if table.title.startswith(READ)]
        return [systems_table(self), *reading, *(table for table in tables if table not in reading)]

    @property
    def open_tables(self) -> int:
        """The systems and the answers to read; what a person looks up opens by a click."""
        return 1 + len(reading_tables(self.found.to_read, self.faults))

    @property
    def headline(self) -> str:
        """What was scored by what, in one line."""
        return headline(self)

    @property
    def findings(self) -> list[str]:
        """Which system is better and whether that may be chance; what the accuracy rests on is a fact."""
        accuracy = of_accuracy(self)[:-1] or [highest_accuracy(self.accuracy["systems"])] if self.accuracy else []
        return accuracy + [said for metric in self.found.scores if (said := of_metric(self, metric))]

    @cached_property
    def leads(self) -> dict[str, tuple[float, float, float]]:
        """How far every other system is behind the first one, with limits; by labels as `compare` has them.

        Where the accuracy rests on the judge, or questions differ, systems are unpaired. Empty without a judge, of
        one system, or where an accuracy cannot be told.
        """
        systems = self.accuracy["systems"] if self.accuracy else {}
        if len(systems) < 2 or any(values["low"] is None for values in systems.values()):
            return {}
        from ...statistics.estimation import LABELS, TOGETHER, powered, tested_difference
        from ...statistics.intervals import newcombe

        totals = self.found.questions
        first = max(systems, key=lambda system: systems[system]["accuracy"])
        result = {}
        for system in systems:
            pair = (first, system)
            if system == first:
                continue
            by_labels = all(systems[name]["basis"] in (LABELS, TOGETHER) for name in pair)
            if by_labels and np.array_equal(totals[first].keys, totals[system].keys):
                result[system] = tested_difference(*(powered(totals[name].question_sums) for name in pair))
            else:
                ends = ([systems[name][end] for end in ("accuracy", "low", "high")] for name in pair)
                result[system] = tuple(map(float, newcombe(*ends)))
        return result

    @property
    def best(self) -> list[str]:
        """The system with the highest accuracy, and those whose difference from it has an interval that holds 0.

        Empty where no system is clearly worse.
        """
        behind = [system for system, (_, low, _) in self.leads.items() if low > 0]
        return [system for system in self.accuracy["systems"] if system not in behind] if behind else []

    @property
    def labels(self) -> dict[str, dict]:
        """{system: how AVA's verdicts agree with the labels in its rows}, see `confusion.agreement`."""
        return {
            system: {**dict(zip(CONFUSION, map(int, counts), strict=True)), **agreement(counts)}
            for system, counts in self.found.labelled.items()
        }

    @cached_property
    def faults(self) -> dict[AnswerToRead, str]:
        """What is wrong with answers to read that were judged wrong, in a few words, where that is known."""
        return {
            answer: scorer_class(self.judge).fault(answer.question or "", answer.references, answer.prediction)
            if answer.verdict == 0 and answer.label in (None, 0)
            else ""
            for answer in self.found.to_read.first
        }

    def _labels(self) -> Table:
        header = ["system", "labelled", "agreement", "kappa", *CONFUSION]
        rows = []
        for system, label in self.labels.items():
            counts = [label[name] for name in CONFUSION]
            shares = [number(label["agreement"]), number(label["kappa"])]
            rows.append([system, f"{sum(counts):,}", *shares, *(f"{count:,}" for count in counts)])
        said = (
            "AVA's verdicts beside the labels in the rows. Missed: correct but rejected; let through: wrong but "
            "accepted."
        )
        return Table(LABELLED, header, rows, said)

    @property
    def next_steps(self) -> list[str]:
        """Why the accuracy cannot be told, and what to do; none where it is told."""
        told = not self.accuracy or self.accuracy["method"] != METHODS[NOTHING]
        return [] if told else [f"{note[:1].upper()}{note[1:]}." for note in self.accuracy["notes"][:1]]

    def facts(self) -> list[str]:
        """Return the signatures, and how the intervals of the accuracy were made."""
        said = {step[1:-1] for step in self.next_steps}
        return [*self.signatures.values(), *(fact for fact in self._remarks() if fact[1:] not in said)]

    def _remarks(self) -> list[str]:
        marked = (
            "bold: the highest accuracy, and those not clearly below it; `compare` tests systems on the same questions"
        )
        if not self.accuracy:
            return []
        told = any(values["low"] is not None for values in self.accuracy["systems"].values())
        rests_on = [f"accuracy: 95% interval, {self.accuracy['method']}"] * told
        measured = filter(None, [self.accuracy["measured"]])
        return [*rests_on, *self._help(), *self.accuracy["notes"], *measured, *([marked] if self.best else [])]

    def _help(self) -> list[str]:
        """Return whether the judge helps beside the labels in the rows, in one sentence if there are some."""
        counts = np.sum([*self.found.labelled.values()], axis=0) if self.found.labelled else np.zeros(4)
        confusion = dict(zip(CONFUSION, counts.astype(int).tolist(), strict=True))
        return [*filter(None, [help_of_judge(self.accuracy["systems"], confusion)])]

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the rows, with all digits."""
        systems = {
            system: {
                "rows": self.rows[system],
                "predictions": self.predictions[system],
                "skipped": self.skipped[system],
                **scores,
            }
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
        parts = [f"**Note:** {markdown(note)}" for note in self.notes]
        for table in self.tables():
            parts += [f"**{markdown(table.title)}**", markdown_table(table), markdown_code(table.explanation)]
        return "\n\n".join([*parts, *map(markdown, self._remarks())])

    def show(self, console: Any) -> None:
        """Print the finding, one line a system, and the answers to read first; `show_all` prints all tables.

        Args:
            console: a `rich.console.Console`.
        """
        first_screen(self, console)

    def show_all(self, console: Any) -> None:
        """Print the notes, one table per metric with its signature, and the answers to read first.

        Args:
            console: a `rich.console.Console`.
        """
        say(console, [f"note: {note}" for note in self.notes], "bold yellow")
        for table in self.tables():
            if table.title.startswith(READ):
                continue
            table.title = ""
            wide = sum(len(name) + 3 for name in table.headings) > _WIDTH
            broken = [name for place, name in enumerate(table.header) if wide and place != table.bold]
            print_table(table, console, broken)
        print_reading(self.found.to_read, console, self.faults)
        say(console, self._remarks())


def _shown_scores(metric: str, scores: Mapping[str, float]) -> dict[str, float]:
    """Show one quotient for the two lengths, and only what fits a table."""
    hidden = scorer_class(metric).only_in_files
    shown = {name: value for name, value in scores.items() if name not in hidden}
    if "prediction_length" in shown:
        length = shown.pop("prediction_length")
        shown["length_ratio"] = length / max(shown.pop("reference_length"), 1)
    return shown
