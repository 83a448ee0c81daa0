"""Compares systems on the same questions: reads and scores their rows, and returns one `Comparison`."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...core.scorer import Scorer
from ...registry import judge_among
from ...rows.errors import FileError, name_column, too_many_systems
from ...rows.reading import (
    Item,
    Message,
    Progress,
    RowError,
    RowKind,
    RowReader,
    Skips,
    check_columns,
    good_rows,
    ignore,
    inputs_of,
    is_judged,
)
from ...rows.sources import Source, files_of_runs
from ...rows.values import Row
from ...scale.options import (
    OnError,
    Settings,
    check_options,
    checked_columns,
    default_metrics,
    length_note,
    listed_names,
    make_scorers,
    needed_columns,
    with_calibration,
)
from ...scale.run import item_statistics
from ...scale.tally import fault_counts, label_of, named_faults
from ...statistics import resampling
from ...statistics.estimation import LABELS, TOGETHER
from ...statistics.intervals import MIN_QUESTIONS, kish
from ...statistics.resampling import FEW, LEVEL, smallest_p
from ..explain.kpqa import Explanation, explanation
from ..inputs import digested_sources, optional_texts, question_numbers, rounded, score_in_column
from ..labels import read_labels
from ..slices import places_of, slice_notes, slice_of
from .analysis import INTERVAL, Column, Judged, analyse, most_different, row_scores, sliced_comparison
from .comparison import Comparison, Interval, Slices
from .matching import Matched, SystemRow, match
from .two_runs import changes, check_one_system, recorded_scores

MAX_SYSTEMS = 100


class CompareRun:
    """Reads what several systems answered to the same questions, scores it, and compares the systems.

    Args:
        inputs: names of files, not standard input; or rows in memory with a column `system`, see `sources.sources_of`;
            or {name of a system: its files or rows}.
        metrics, settings, seed, columns, score_columns, resamples, correction, rows, by, runs, ignore_judge_errors,
            calibration, labels, on_error: see `genqa_metrics.compare`.

    Attributes:
        matched: after `report`, the rows question by question.
        statistics: after `report`, {metric: (questions, systems, k + 1) sums over the predictions of a row, and their
            number}.

    Raises:
        ValueError: if an argument is bad. Nothing has been read yet.
    """

    def __init__(
        self,
        inputs: object,
        metrics: str | Sequence[str] | None = None,
        settings: Settings | None = None,
        seed: int = 0,
        *,
        columns: Mapping[str, str] | None = None,
        score_columns: str | Sequence[str] = (),
        resamples: int = 10_000,
        correction: str = "holm",
        rows: int = 5,
        by: str | None = None,
        runs: bool = False,
        ignore_judge_errors: bool = False,
        calibration: str | None = None,
        labels: object = None,
        on_error: OnError = "fail",
    ):
        check_options(on_error, settings=settings, columns=columns, seed=seed, resamples=resamples, rows=rows, by=by)
        metrics, settings = listed_names("metrics", metrics), dict(settings or {})
        self.score_columns = tuple(listed_names("score_columns", score_columns))
        if calibration is not None:
            settings["ava"] = with_calibration(settings.get("ava", {}), calibration)
        self.columns, self.by, self.shown_rows = checked_columns(columns), by, rows
        self.seed, self.resamples, self.correction = seed, resamples, correction
        self.ignore_judge_errors, self.skips_rows = ignore_judge_errors, on_error == "skip"
        if correction not in resampling.CORRECTIONS:
            expected = ", ".join(resampling.CORRECTIONS)
            raise ValueError(f"correction: expected one of {expected}, got {correction!r}")
        folders = files_of_runs(inputs)
        inputs = inputs if folders is None else folders
        self.runs = runs or folders is not None
        self._one_each = isinstance(inputs, Mapping) or self.runs  # a column `system` is ignored
        self.sources, self._systems = _named_sources(inputs)
        self.label_sources = [] if labels is None else digested_sources(labels, "labels")
        if not self.score_columns:
            check_columns(self.sources, self.columns)
        names = dict.fromkeys(self._systems.values())
        if self.runs and len(names) != 2:
            raise ValueError(
                f"runs: expected an old and a new run, got {len(names)}: {', '.join(names)}; name two inputs"
            )
        self._first_systems: dict[str, str | None] = {}
        ready = not is_judged(self.sources)
        self.scorers = make_scorers(metrics, settings, ready)
        for column in self.score_columns:
            if any(column == metric or column in scorer.names for metric, scorer in self.scorers.items()):
                raise ValueError(f"column: {column!r} is also a score of --metric; rename the column")

    def report(self, problem: Message = ignore, progress: Progress = ignore) -> Comparison:
        """Read, score and compare.

        Args:
            problem: called with each row or question that is left out.
            progress: called with the metric, and the number of rows scored and of all rows.

        Raises:
            FileError: if a file cannot be read, a row is bad, there is only one system, or questions differ.
        """
        from ... import __version__

        skips = Skips(self.skips_rows, problem)
        self.matched, row_kind = self._matched(skips)
        matched = self.matched
        label_notes = self._take_labels(skips)
        items, shape = matched.items, (len(matched.rows), len(matched.systems), -1)
        asked = question_numbers(
            [next((row.item.text for row in rows if row.item.text), None) for rows in matched.rows]
        )
        sums, counts = item_statistics(items, self.scorers, progress)
        self.statistics = {metric: of_rows.reshape(shape) for metric, of_rows in sums.items()}
        scorers: dict[str, Scorer] = dict(self.scorers)
        for place, column in enumerate(self.score_columns):
            values = np.array([[row.given[place] for row in question] for question in matched.rows], dtype=float)
            scorers[column] = Column(column=column)
            self.statistics[column] = np.stack([values, np.ones_like(values)], axis=2)
        statistics, judge = self.statistics, judge_among(self.scorers)
        accuracy, labelled = self._accuracy(judge, items, asked, counts) if judge else (None, {})
        sampling = self.resamples, self.seed, self.correction, asked, labelled
        metrics = analyse(matched.systems, scorers, statistics, *sampling)
        for metric, scorer in scorers.items():
            main = scorer.significance_scores[0]
            by_row = labelled[metric].by_row if metric in labelled else row_scores(scorer, statistics[metric], main)
            finer = statistics[judge][..., 1] if metric == judge else None
            metrics[metric]["rows"] = [
                matched.reported(row, by_row[row]) for row in most_different(by_row, self.shown_rows, finer)
            ]
        if accuracy:
            metrics[judge]["accuracy"] = accuracy
            metrics[judge]["faults"] = self._faults(judge)
        verdicts = [judge] if accuracy and accuracy["errors_counted"] and judge not in labelled else []
        slices, slice_remarks = self._slices(scorers, verdicts, *sampling) if self.by else (None, [])
        of_run: dict[str, list[Source]] = {}
        for source in self.sources:
            of_run.setdefault(self._systems[id(source)], []).append(source)
        sizes = np.bincount(asked)
        tests = len(metrics) * len(matched.systems) * (len(matched.systems) - 1) // 2
        return Comparison(
            genqa_metrics=__version__,
            inputs=inputs_of([*self.sources, *self.label_sources], skips),
            settings={
                "resamples": self.resamples,
                "seed": self.seed,
                "confidence": resampling.CONFIDENCE,
                "interval": INTERVAL,
                "level": LEVEL,
                "correction": self.correction,
                "tests": tests,
                "rows": self.shown_rows,
                "columns": self.columns,
                "score_columns": list(self.score_columns),
            },
            signatures={metric: scorer.signature for metric, scorer in scorers.items()},
            matched_by=matched.matched_by,
            questions=len(sizes),
            rows=len(matched.rows),
            text=row_kind.text,
            left_out={"bad rows": skips.skipped, "questions that not all systems answer": matched.left_out},
            skipped_rows=skips.by_system,
            systems=matched.systems,
            metrics=rounded(metrics),
            slices=rounded(slices),
            changes=rounded(changes(matched, scorers, statistics, of_run)) if self.runs else None,
            notes=[
                *(note for metric in scorers if (note := _length_note(metric, metrics[metric]["scores"]))),
                *slice_remarks,
                *_unequal_rows(matched, skips),
                *label_notes,
                *(accuracy["notes"] if accuracy else []),
                *_question_notes(sizes),
                *_unreachable_notes(sizes, tests, self.resamples, self.correction),
                *_metric_warnings(matched, scorers, statistics, counts),
            ],
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return every question with the answers of all systems and their scores; see `Matched.scored`."""
        return self.matched.scored(self.scorers, self.statistics)

    def explanations(self, numbers: Comparison) -> dict[str, list[dict[str, Explanation]]]:
        """Return how KPQA computes the scores of the best and the worst answer of each row that differs most.

        Args:
            numbers: what `report` returned.

        Returns:
            {metric: for every such row system -> explanation}; none without kpqa.
        """
        scorer, explained = self.scorers.get("kpqa"), []
        if scorer is None:
            return {}
        for row in numbers.metrics[scorer.name]["rows"]:
            texts = {system: row["answers"][system]["predictions"] for system in (row["best"], row["worst"])}
            explained.append(
                {
                    system: explanation(row["text"], answers[0], row["references"], scorer.models, scorer.beta)
                    for system, answers in texts.items()
                    if len(answers) == 1
                }
            )
        return {scorer.name: explained}

    def _matched(self, skips: Skips) -> tuple[Matched, RowKind]:
        """Return the rows question by question."""
        by_system, row_kind = self._read(skips)
        if len(by_system) < 2:
            only = next(iter(by_system))
            problem = (
                f"{', '.join(source.name for source in self.sources)}: expected rows of at least two systems, got "
            )
            fix = f"only {only!r}; name a file for every system, or the column with the system with "
            raise FileError(problem, fix, name_column("system"))
        if len(by_system) > MAX_SYSTEMS:
            problem = f"expected at most {MAX_SYSTEMS} systems, got {len(by_system):,}"
            raise FileError(too_many_systems(problem, next(iter(by_system))))
        matched = match(by_system, self.skips_rows, skips.problem)
        if skips.skipped and matched.matched_by.startswith("order"):
            raise FileError(
                f"{skips.skipped:,} bad rows were skipped, so the order of the rows no longer shows which of them "
                "belong together; give every row an 'id' or a question"
            )
        return matched, row_kind

    def _take_labels(self, skips: Skips) -> list[str]:
        """Give the rows the labels of the files of labels, in place of their own; return notes on them."""
        if not self.label_sources:
            return []
        if judge_among(self.scorers) is None:
            raise FileError("labels: expected the judge ava, whose verdicts they correct, got other metrics; add ava")
        items, notes = [row.item for question in self.matched.rows for row in question], []
        labels = read_labels(self.label_sources, items, [], self.columns, skips, notes, error=0.0)
        for item, label, chance in zip(items, labels.mean, labels.probability, strict=True):
            item.human = item.human[0], None if np.isnan(label) else float(label)
            item.chance = None if np.isnan(chance) else float(chance)
        return notes

    def _accuracy(
        self, judge: str, items: Sequence[Item], asked: np.ndarray, counts: Mapping[str, Mapping]
    ) -> tuple[dict[str, Any], dict[str, Judged]]:
        """Return the accuracy of every system, and verdicts with labels where all systems have it by labels.

        Of two runs the verdicts are compared: their rows say what one judge makes of both.
        """
        from ..judge_errors import judged_systems

        systems, sums = self.matched.systems, self.statistics[judge]
        labels, chances = (
            np.array(values).reshape(sums.shape[:2])
            for values in ([label_of(item) for item in items], [item.chance or 1.0 for item in items])
        )
        judged = Judged(sums[..., 1], sums[..., 0], labels, chances)
        by_system = dict(zip(systems, judged.sums(asked), strict=True))
        accuracy = judged_systems(by_system, self.scorers[judge], self.ignore_judge_errors, counts[judge])
        told = all(
            values["basis"] in (LABELS, TOGETHER) and values["low"] is not None
            for values in accuracy["systems"].values()
        )
        return accuracy, {judge: judged} if told and not self.runs else {}

    def _faults(self, judge: str) -> dict[str, dict[str, int]]:
        """Return what is wrong with how many answers of each system; see `tally.fault_counts`."""
        counts = {}
        for place, system in enumerate(self.matched.systems):
            items = [question[place].item for question in self.matched.rows]
            columns = {
                self.scorers[judge].verdict: self.statistics[judge][:, place, 0],
                "label": [item.human[1] for item in items],
                "question": [item.text for item in items],
                "references": [item.references for item in items],
                "prediction": [item.predictions[0] for item in items],
            }
            counts[system] = fault_counts(columns, self.scorers[judge]).sum(axis=0)
        return named_faults(self.scorers[judge], counts)

    def _slices(
        self, scorers: Mapping[str, Scorer], verdicts: Sequence[str], *sampling: Any
    ) -> tuple[Slices, list[str]]:
        """Return the comparison within every slice, and notes on the slices; verdicts have no interval of accuracy."""
        by, matched, asked = self.by, self.matched, sampling[3]
        for question in matched.rows:
            if len({row.slice for row in question}) > 1:
                values = ", ".join(
                    f"{row.slice!r} for {name}" for name, row in zip(matched.systems, question, strict=True)
                )
                raise FileError(
                    f"{question[0].where}: by: expected one value of {by} for a question, got {values}; a column "
                    "for --by says something about the question, such as its topic"
                )
        places = places_of(by, [question[0].slice for question in matched.rows])
        metrics = sliced_comparison(matched.systems, scorers, self.statistics, places, *sampling)
        told = {
            name
            for metric, of_slices in metrics.items()
            for name, found in of_slices.items()
            if metric not in verdicts and not all(np.isnan(ends["low"]) for ends in found["scores"].values())
        }
        notes = slice_notes(by, {name: len(set(asked[mine])) for name, mine in places.items()}, "questions", told)
        return {"column": by, "metrics": metrics}, notes

    def _read(self, skips: Skips) -> tuple[dict[str, list[SystemRow]], RowKind]:
        """Return the rows by system, and their row_kind; `scorers` are complete then."""
        by_system: dict[str, list[SystemRow]] = {}
        first: RowKind | None = None
        for source in self.sources:
            reader, before = RowReader(source, self.columns), skips.skipped

            def convert(source: Source, row: Row, reader=reader) -> dict[str, SystemRow]:
                nonlocal first
                try:
                    row_kind = reader.kind or self._row_kind(reader, row.values)
                    scorers = self.scorers
                    if not scorers and not self.score_columns:
                        scorers = make_scorers(default_metrics(row_kind), ready=not is_judged(self.sources))
                    rows = self._rows(reader, source, row, row_kind, scorers)
                except RowError as error:
                    error.systems = reader.systems(row.values)
                    if self._one_each or error.systems == (source.stem,):
                        error.systems = (self._systems[id(source)],)
                    raise
                if reader.kind is None:
                    reader.kind = row_kind
                    _check_row_kind(source, row_kind, first, scorers)
                    first, self.scorers = first or row_kind, scorers
                return rows

            for _, _, rows in good_rows([source], convert, skips):
                for system, result in rows.items():
                    by_system.setdefault(system, []).append(result)
            if reader.kind is None:
                bad = skips.skipped - before
                reason = f"all {bad:,} rows are bad" if bad else "no rows"
                raise FileError(f"{source.name}: {reason}; is this the right file?")
        return by_system, first

    def _row_kind(self, reader: RowReader, values: dict) -> RowKind:
        if self.score_columns and not self.scorers:  # only numbers are needed
            asked = reader.optional(values, "question") is None and reader.optional(values, "context") is not None
            return RowKind(sets=False, ceiling=False, text="context" if asked else "question")
        row_kind = reader.row_kind(values)
        if row_kind.ceiling:
            problem = "has human questions but no predictions; add a column 'predictions', or name yours with "
            raise RowError(problem, name_column("prediction"), f"; columns found: {', '.join(values)}")
        return row_kind

    def _rows(
        self, reader: RowReader, source: Source, row: Row, row_kind: RowKind, scorers: Mapping[str, Scorer]
    ) -> dict[str, SystemRow]:
        given = tuple(score_in_column(column, row.values) for column in self.score_columns)
        if scorers:
            items = reader.items(row.number, row.values, row_kind, needed_columns(scorers, row_kind))
        else:
            items = [_unscored_item(reader, source, row.number, row.values, row_kind)]
        if given and len(items) != 1:
            raise RowError(
                f"expected one system, with its score in column {self.score_columns[0]!r}, got {len(items)}; write "
                "one row per system"
            )
        if self.runs:
            check_one_system(self._systems[id(source)], reader.optional(row.values, "system"), self._first_systems)
        if self._one_each and len(items) != 1:
            raise RowError(f"expected rows of system {self._systems[id(source)]!r} alone, got {len(items)} systems")
        if self._one_each or (len(items) == 1 and reader.optional(row.values, "system") is None):
            items[0].system = self._systems[id(source)]
        name = slice_of(self.by, row.values) if self.by else ""
        wanted = [name for scorer in scorers.values() for name in scorer.row_names] if self.runs else []
        recorded = recorded_scores(row.values, wanted)
        return {item.system: SystemRow(item, source, given, name, recorded) for item in items}


def _named_sources(inputs: object) -> tuple[list[Source], dict[int, str]]:
    """Return sources, and by the `id` of each the system of rows that name none."""
    if isinstance(inputs, Mapping):
        if not inputs:
            raise ValueError("systems: expected {name: rows} of at least two systems, got none")
        named = {str(name): digested_sources(rows, str(name)) for name, rows in inputs.items()}
        sources = [source for value in named.values() for source in value]
        return sources, {id(source): name for name, value in named.items() for source in value}
    sources = digested_sources(inputs)
    return sources, {id(source): source.stem for source in sources}


def _check_row_kind(source: Source, row_kind: RowKind, before: RowKind | None, scorers: Mapping[str, Scorer]) -> None:
    if before is not None and before != row_kind:
        kinds = ("single answers", "sets of predictions")
        raise FileError(
            f"{source.name}: holds {kinds[row_kind.sets]} with a {row_kind.text}, the files before it "
            f"{kinds[before.sets]} with a {before.text}; compare them in two runs"
        )
    for metric, scorer in scorers.items():
        if scorer.needs_question and row_kind.text != "question":
            raise FileError(f"{metric}: needs rows with a question, got rows with a {row_kind.text}")


def _unscored_item(reader: RowReader, source: Source, line: int, values: dict, row_kind: RowKind) -> Item:
    """Return the item of a row whose score is in the file, which needs neither answer nor references."""
    result = optional_texts(reader, values, row_kind.text)
    system = source.stem if result["system"] is None else result["system"]
    return Item(
        source.name,
        line,
        result["id"],
        system,
        result["text"],
        result["prediction"],
        result["references"],
        (None, None),
    )


def _question_notes(sizes: np.ndarray) -> list[str]:
    """Return notes on repeated questions and on too few of them for intervals.

    Args:
        sizes: (questions,) number of rows of each.
    """
    questions, rows, number = len(sizes), int(sizes.sum()), float(kish(sizes))
    notes = []
    if questions < rows:
        notes.append(f"{rows:,} rows of {questions:,} questions: rows of one question count together")
    if number < questions - 1 and number < FEW:
        said = f"one question has {sizes.max():,} of {rows:,} rows: all count as about {number:.0f} equal questions"
    else:
        said = f"only {questions:,} questions" if questions > 1 else "only one question"
    if number < MIN_QUESTIONS - 1e-9:
        notes.append(f"{said}: too few for intervals, which need {MIN_QUESTIONS}")
    elif number < FEW:
        notes.append(f"{said}: only clear differences can be told from chance")
    return notes


def _unreachable_notes(sizes: np.ndarray, tests: int, resamples: int, correction: str) -> list[str]:
    """Return a note where no corrected p of so many tests can be below the level; none elsewhere."""
    questions = float(kish(sizes))
    times = tests if correction in ("holm", "bonferroni") else 1
    asked = "one question" if len(sizes) == 1 else f"{len(sizes):,} questions"
    with_tests = f" and {tests} tests" if times > 1 else ""
    if smallest_p(questions) * times >= LEVEL:
        return [f"with {asked}{with_tests} no p-value can be below {LEVEL:g}, whatever the scores are"]
    if times / (1 + resamples) >= LEVEL:
        return [
            f"with {tests} tests and {resamples} bootstrap samples hardly a corrected p can be below {LEVEL:g}; use "
            f"--resamples {math.ceil(2 * times / LEVEL)}"
        ]
    return []


def _length_note(metric: str, scores: Mapping[str, Mapping[str, Interval]]) -> str | None:
    """Return a note on systems whose answers differ in length; see `selection.length_note`."""
    systems: dict[str, dict[str, float]] = {}
    for name, by_system in scores.items():
        for system, value in by_system.items():
            systems.setdefault(system, {})[name] = value["value"]
    return length_note(metric, systems)


def _unequal_rows(matched: Matched, skips: Skips) -> list[str]:
    """Return a note on bad rows, whose questions were left out for all systems."""
    if not skips.skipped:
        return []
    text = ", ".join(f"{system} {rows:,}" for system, rows in skips.by_system.items())
    return [
        f"bad rows were skipped ({text or f'{skips.skipped:,} of no known system'}), and their questions for all "
        f"systems: {len(matched.rows):,} questions are left, which may be easier than the others; "
        'write "" for a system that gave no answer, which scores 0'
    ]


def _metric_warnings(
    matched: Matched, scorers: Mapping[str, Scorer], statistics: Mapping[str, np.ndarray], counts: Mapping
) -> list[str]:
    """Return what the metrics warn of; what is the same for several systems once."""
    notes = []
    for metric, scorer in scorers.items():
        sums = dict(zip(matched.systems, statistics[metric][..., :-1].sum(axis=0), strict=True))
        notes += [scorer.error_rate] * bool(scorer.error_rate)
        warnings = scorer.warnings(sums, counts.get(metric, {}))
        notes += [f"{metric}: {warning}" for warning in _gathered(warnings, matched.systems)]
    return notes


def _gathered(warnings: Sequence[str], systems: Sequence[str]) -> list[str]:
    """Write warnings that are the same for several systems once.

    >>> _gathered(["a: too long", "b: too long", "b: too short"], ["a", "b"])
    ['a, b: too long', 'b: too short']
    """
    of: dict[str, list[str]] = {}
    for warning in warnings:
        system = next((system for system in systems if warning.startswith(f"{system}: ")), "")
        of.setdefault(warning.removeprefix(f"{system}: "), []).extend([system] * bool(system))
    notes = []
    for warning, names in of.items():
        who = "all systems" if len(names) > 2 and len(names) == len(systems) else ", ".join(names)
        notes.append(f"{who}: {warning}" if who else warning)
    return notes
