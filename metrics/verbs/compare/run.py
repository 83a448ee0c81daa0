"""Compare systems on the same questions: rows -> what `genqa-metrics compare` reports, as one object."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...core.scorer import Scorer
from ...registry import judge_among
from ...rows.errors import FileError
from ...rows.file_types import Row
from ...rows.inputs import files_of_runs
from ...rows.items import Item, RowError, RowKind, RowReader
from ...rows.reading import Message, Progress, Skips, check_columns, good_rows, ignore, inputs_of, is_judged
from ...rows.sources import AnySource
from ...scale.options import CompareOptions, checked_columns, default_metrics, make_scorers, needed_columns
from ...scale.pipeline import item_statistics
from ...scale.tally import totals_by_system
from ...statistics import resampling
from ..inputs import digested_sources, optional_texts, question_numbers, rounded, score_in_column
from ..slices import places_of, slice_notes, slice_of, sliced_comparison
from .compared_rows import reported_row, scored_rows
from .matching import Matched, SystemRow, match
from .notes import length_note_of, metric_warnings, question_notes, unequal_rows, unreachable_notes
from .system_comparison import INTERVAL, LEVEL, Column, analyse, most_different, row_scores
from .two_runs import changes, check_one_system, recorded_scores

MAX_SYSTEMS = 100


class CompareRun:
    """Reads what several systems answered to the same questions, scores it, and compares the systems.

    Args:
        inputs: names of files, not standard input; or rows in memory with a column `system`, see `inputs.sources_of`;
            or {name of a system: its files or rows}.
        *given, **options: see `CompareOptions`.

    Attributes:
        matched: after `report`, the rows question by question.
        statistics: after `report`, {metric: (questions, systems, k + 1) sums over the predictions of a row, and their
            number}.

    Raises:
        ValueError: if an argument is bad. Nothing has been read yet.
    """

    def __init__(self, inputs: object, *given, **options):
        self.options = CompareOptions(*given, **options)
        self.columns, self.score_columns = checked_columns(self.options.columns), tuple(self.options.score_columns)
        if self.options.correction not in resampling.CORRECTIONS:
            expected = ", ".join(resampling.CORRECTIONS)
            raise ValueError(f"correction: expected one of {expected}, got {self.options.correction!r}")
        folders = files_of_runs(inputs)
        inputs = inputs if folders is None else folders
        self.runs = self.options.runs or folders is not None
        self._one_each = isinstance(inputs, Mapping) or self.runs  # a column `system` is ignored
        self.sources, self._systems = _named_sources(inputs)
        if not self.score_columns:
            check_columns(self.sources, self.columns)
        names = dict.fromkeys(self._systems.values())
        if self.runs and len(names) != 2:
            raise ValueError(
                f"runs: expected an old and a new run, got {len(names)}: {', '.join(names)}; name two inputs"
            )
        self._first_systems: dict[str, str | None] = {}
        ready = not is_judged(self.sources)
        self.scorers = make_scorers(self.options.metrics, self.options.settings, ready)
        for column in self.score_columns:
            if any(column == metric or column in scorer.names for metric, scorer in self.scorers.items()):
                raise ValueError(f"column: {column!r} is also a score of --metric; rename the column")

    def report(self, problem: Message = ignore, progress: Progress = ignore) -> dict[str, object]:
        """Read, score and compare.

        Args:
            problem: called with each row or question that is left out.
            progress: called with the metric, and the number of rows scored and of all rows.

        Returns:
            "genqa_metrics" (the version), "inputs" (name, sha256, rows), "settings", "signatures", "matched_by",
            "questions", "rows" of every system, "left_out", "skipped_rows" (system -> bad rows), "systems", "notes",
            and "metrics": what `system_comparison.analyse` returns, with "rows": those that differ most, and of ava
            "accuracy", see `judge_errors.judged_systems`. "slices" is None, or "column" and "metrics", see
            `slices.sliced_comparison`; "changes" is None, or of two runs what `runs.changes` returns. Numbers have
            six significant digits.

        Raises:
            FileError: if a file cannot be read, a row is bad, there is only one system, or questions differ.
        """
        from ... import __version__

        skip_bad_rows = self.options.skips
        skips = Skips(skip_bad_rows, problem)
        by_system, row_kind = self._read(skips)
        if len(by_system) < 2:
            only = next(iter(by_system))
            raise FileError(
                f"{', '.join(source.name for source in self.sources)}: expected rows of at least two systems, got "
                f"only {only!r}; name a file for every system, or the column with the system with --column system=NAME"
            )
        if len(by_system) > MAX_SYSTEMS:
            raise FileError(
                f"expected at most {MAX_SYSTEMS} systems, got {len(by_system):,} such as {next(iter(by_system))!r:.60}"
                "; is that the right column? Name another with --column system=NAME, none with --column system="
            )
        matched = match(by_system, skip_bad_rows, problem)
        if skips.skipped and matched.matched_by.startswith("order"):
            raise FileError(
                f"{skips.skipped:,} bad rows were skipped, so the order of the rows no longer shows which of them "
                "belong together; give every row an 'id' or a question"
            )
        texts = [next((row.item.text for row in rows if row.item.text), None) for rows in matched.rows]
        asked = question_numbers(texts)
        shown = len(matched.rows), len(matched.systems), -1
        sums, counts = item_statistics(_items(matched), self.scorers, progress)
        statistics = {metric: found.reshape(shown) for metric, found in sums.items()}
        scorers: dict[str, Scorer] = dict(self.scorers)
        for place, column in enumerate(self.score_columns):
            values = np.array([[row.given[place] for row in question] for question in matched.rows], dtype=float)
            scorers[column] = Column(column=column)
            statistics[column] = np.stack([values, np.ones_like(values)], axis=2)
        self.matched, self.statistics = matched, statistics
        given = self.options
        found = analyse(matched.systems, scorers, statistics, given.resamples, given.seed, given.correction, asked)
        for metric, scorer in scorers.items():
            by_row = row_scores(scorer, statistics[metric], scorer.significance_scores[0])
            rows = most_different(by_row, self.options.rows)
            found[metric]["rows"] = [reported_row(matched, row, by_row[row]) for row in rows]
        judge = judge_among(self.scorers)
        if judge:
            found[judge]["accuracy"] = self._accuracy(self.scorers[judge], _items(matched), sums[judge], counts[judge])
        slices, slice_remarks = self._slices(matched, scorers, statistics, asked) if given.by else (None, [])
        of_run: dict[str, list[AnySource]] = {}
        for source in self.sources:
            of_run.setdefault(self._systems[id(source)], []).append(source)
        sizes = np.bincount(asked)
        tests = len(found) * len(matched.systems) * (len(matched.systems) - 1) // 2
        notes = [note for metric in scorers if (note := length_note_of(metric, found[metric]["scores"]))]
        report = {
            "genqa_metrics": __version__,
            "inputs": inputs_of(self.sources, skips),
            "settings": {
                "resamples": self.options.resamples,
                "seed": self.options.seed,
                "confidence": resampling.CONFIDENCE,
                "interval": INTERVAL,
                "level": LEVEL,
                "correction": self.options.correction,
                "tests": tests,
                "rows": self.options.rows,
                "columns": self.columns,
                "score_columns": list(self.score_columns),
            },
            "signatures": {metric: scorer.signature for metric, scorer in scorers.items()},
            "matched_by": matched.matched_by,
            "questions": len(sizes),
            "rows": len(matched.rows),
            "text": row_kind.text,
            "left_out": {"bad rows": skips.skipped, "questions that not all systems answer": matched.left_out},
            "skipped_rows": skips.by_system,
            "systems": matched.systems,
            "metrics": found,
            "slices": slices,
            "changes": changes(matched, scorers, statistics, of_run) if self.runs else None,
            "notes": [
                *notes,
                *slice_remarks,
                *unequal_rows(matched, skips),
                *(found[judge]["accuracy"]["notes"] if judge else []),
                *question_notes(sizes),
                *unreachable_notes(sizes, tests, given.resamples, given.correction),
                *metric_warnings(matched, scorers, statistics, counts),
            ],
        }
        return rounded(report)

    def rows(self) -> list[dict]:
        """Return every question with the answers of all systems and their scores; see `compared_rows.scored_rows`."""
        return scored_rows(self.scorers, self.statistics, self.matched)

    def _accuracy(self, judge: Scorer, items: Sequence[Item], sums: np.ndarray, counts: Mapping[str, int]) -> dict:
        """Return the accuracy of every system by labels and a judge's verdicts; `sums` is (items, k + 1)."""
        from ..judge_errors import judged_systems

        totals = totals_by_system(items, sums[:, 1], sums[:, 0])
        by_system = {system: of_system.question_sums for system, of_system in totals.items()}
        return judged_systems(by_system, judge, self.options.ignore_judge_errors, counts)

    def _slices(
        self, matched: Matched, scorers: Mapping, statistics: Mapping, asked: np.ndarray
    ) -> tuple[dict, list[str]]:
        """Return the comparison within every slice, and notes on the slices."""
        given = self.options
        for question in matched.rows:
            if len({row.slice for row in question}) > 1:
                found = ", ".join(
                    f"{row.slice!r} for {name}" for name, row in zip(matched.systems, question, strict=True)
                )
                raise FileError(
                    f"{question[0].where}: by: expected one value of {given.by} for a question, got {found}; a column "
                    "for --by says something about the question, such as its topic"
                )
        places = places_of(given.by, [question[0].slice for question in matched.rows])
        found = sliced_comparison(
            matched.systems, scorers, statistics, places, given.resamples, given.seed, given.correction, asked
        )
        notes = slice_notes(given.by, {name: len(set(asked[mine])) for name, mine in places.items()}, "questions")
        return {"column": given.by, "metrics": found}, notes

    def _read(self, skips: Skips) -> tuple[dict[str, list[SystemRow]], RowKind]:
        """Return the rows by system, and their row_kind; `scorers` are complete then."""
        by_system: dict[str, list[SystemRow]] = {}
        first: RowKind | None = None
        for source in self.sources:
            reader, before = RowReader(source, self.columns), skips.skipped

            def convert(source: AnySource, row: Row, reader=reader) -> dict[str, SystemRow]:
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
                for system, one in rows.items():
                    by_system.setdefault(system, []).append(one)
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
            raise RowError(
                "has human questions but no predictions; add a column 'predictions', or name yours with "
                f"--column prediction=NAME; columns found: {', '.join(values)}"
            )
        return row_kind

    def _rows(
        self, reader: RowReader, source: AnySource, row: Row, row_kind: RowKind, scorers: Mapping[str, Scorer]
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
        name = slice_of(self.options.by, row.values) if self.options.by else ""
        wanted = [name for scorer in scorers.values() for name in scorer.row_names] if self.runs else []
        recorded = recorded_scores(row.values, wanted)
        return {item.system: SystemRow(item, source, given, name, recorded) for item in items}


def _named_sources(inputs: object) -> tuple[list[AnySource], dict[int, str]]:
    """Return sources, and by the `id` of each the system of rows that name none."""
    if isinstance(inputs, Mapping):
        if not inputs:
            raise ValueError("systems: expected {name: rows} of at least two systems, got none")
        named = {str(name): digested_sources(rows, str(name)) for name, rows in inputs.items()}
        sources = [source for found in named.values() for source in found]
        return sources, {id(source): name for name, found in named.items() for source in found}
    sources = digested_sources(inputs)
    return sources, {id(source): source.stem for source in sources}


def _check_row_kind(
    source: AnySource, row_kind: RowKind, before: RowKind | None, scorers: Mapping[str, Scorer]
) -> None:
    if before is not None and before != row_kind:
        kinds = ("single answers", "sets of predictions")
        raise FileError(
            f"{source.name}: holds {kinds[row_kind.sets]} with a {row_kind.text}, the files before it "
            f"{kinds[before.sets]} with a {before.text}; compare them in two runs"
        )
    for metric, scorer in scorers.items():
        if scorer.needs_question and row_kind.text != "question":
            raise FileError(f"{metric}: needs rows with a question, got rows with a {row_kind.text}")


def _items(matched: Matched) -> list[Item]:
    """Return the items question by question, all with the references of the first system."""
    return [
        replace(row.item, text=question[0].item.text, references=question[0].item.references)
        for question in matched.rows
        for row in question
    ]


def _unscored_item(reader: RowReader, source: AnySource, line: int, values: dict, row_kind: RowKind) -> Item:
    """Return the item of a row whose score is in the file, which needs neither answer nor references."""
    found = optional_texts(reader, values, row_kind.text)
    system = source.stem if found["system"] is None else found["system"]
    return Item(
        source.name, line, found["id"], system, found["text"], found["prediction"], found["references"], (None, None)
    )
