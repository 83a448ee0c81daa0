"""Reads the rows of several systems, and matches those that answer the same question."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Any

import numpy as np

from ...core.scorer import Scorer
from ...rows.columns import SCORED_COLUMNS, Row
from ...rows.errors import SKIP_BAD_ROWS, FileError, name_column, too_many_systems
from ...rows.reading import Item, RowError, RowKind, RowReader, Skips, check_columns, good_rows
from ...rows.sources import Source, files_of_runs
from ...scale.options import Settings, check_questions, default_metrics, make_scorers, needed_columns
from ..inputs import digested_sources, optional_texts, score_in_column, slice_of, unscored_item

MAX_SYSTEMS = 100


@dataclass(slots=True)
class SystemRow:
    """A row of one system with its file, scores in columns, slice and recorded scores."""

    item: Item
    source: Source
    column_scores: tuple[float, ...]
    slice: str = ""  # what `--by` sorts it by
    recorded: Mapping[str, float] = field(default_factory=dict)  # scores that an earlier run wrote

    @property
    def where(self) -> str:
        """File and line, for messages."""
        return f"{self.source.name}, {self.source.unit} {self.item.line}"


@dataclass(frozen=True)
class Matched:
    """Rows of several systems, question by question."""

    systems: list[str]
    rows: list[list[SystemRow]]  # for every question one row per system, in their order
    matched_by: str  # what showed which rows belong together
    left_out: int  # number of questions that not all systems have

    @property
    def items(self) -> list[Item]:
        """The items question by question, all with the references of the first system."""
        firsts = [(question[0].item, row.item) for question in self.rows for row in question]
        return [replace(item, text=first.text, references=first.references) for first, item in firsts]

    def reported(self, number: int, scores: np.ndarray) -> dict[str, Any]:
        """Return texts, answers and (systems,) scores of a question as reports have them."""
        rows = self.rows[number]
        asked = rows[0].item
        return {
            "row": number + 1,
            "id": asked.id if self.matched_by == "id" else None,
            "text": asked.text,
            "references": asked.references,
            "slice": rows[0].slice or None,
            "answers": {
                system: {"predictions": row.item.predictions, "score": float(score)}
                for system, row, score in zip(self.systems, rows, scores, strict=True)
            },
        }


class SystemRows:
    """Reads the rows of several systems, and matches them; bad arguments are refused before any reading.

    `system_of` has by the `id` of a source the system of its rows that name none; `scorers` those of default metrics
    after `matched`.
    """

    def __init__(
        self,
        inputs: object,
        metrics: Sequence[str],
        settings: Settings,
        columns: Mapping[str, str],
        score_columns: Sequence[str],
        by: str | None,
        runs: bool,
    ):
        self.columns, self.score_columns, self.by = columns, score_columns, by
        folders = files_of_runs(inputs)
        inputs = inputs if folders is None else folders
        self.runs = runs or folders is not None
        self._one_each = isinstance(inputs, Mapping) or self.runs  # a column `system` is ignored
        if isinstance(inputs, Mapping):
            if not inputs:
                raise ValueError("systems: expected {name: rows} of at least two systems, got none")
            named = {str(name): digested_sources(rows, str(name)) for name, rows in inputs.items()}
            self.system_of = {id(source): name for name, sources in named.items() for source in sources}
            self.sources = list(chain.from_iterable(named.values()))
        else:
            self.sources = digested_sources(inputs)
            self.system_of = {id(source): source.stem for source in self.sources}
        if not score_columns:
            check_columns(self.sources, columns)
        names = dict.fromkeys(self.system_of.values())
        if self.runs and len(names) != 2:
            got = f"got {len(names)}: {', '.join(names)}"
            raise ValueError(f"runs: expected an old and a new run, {got}; name two inputs")
        self._first_systems: dict[str, str | None] = {}  # of the runs
        self.scorers = make_scorers(metrics, settings, self.sources)
        for column in score_columns:
            if any(column == metric or column in scorer.names for metric, scorer in self.scorers.items()):
                raise ValueError(f"column: {column!r} is also a score of --metric; rename the column")

    @property
    def sources_by_system(self) -> dict[str, list[Source]]:
        """{system: files of its rows that name none}."""
        by_system: dict[str, list[Source]] = {}
        for source in self.sources:
            by_system.setdefault(self.system_of[id(source)], []).append(source)
        return by_system

    def matched(self, skips: Skips) -> tuple[Matched, RowKind]:
        """Return the rows question by question, and what they are; sets `scorers` to the default metrics if none.

        Raises:
            FileError: if a file cannot be read, a row is bad, there is only one system, or questions differ.
        """
        by_system: dict[str, list[SystemRow]] = {}
        first: RowKind | None = None
        for source in self.sources:
            reader, before = RowReader(source, self.columns), skips.skipped
            for rows in good_rows([reader], self._rows, skips):
                for row in rows:
                    by_system.setdefault(row.item.system, []).append(row)
            if reader.kind is None:
                bad = skips.skipped - before
                reason = f"all {bad:,} rows are bad" if bad else "no rows"
                raise FileError(f"{source.name}: {reason}; is this the right file?")
            first = first or reader.kind
            if reader.kind != first:
                kinds = ("single answers", "sets of predictions")
                raise FileError(
                    f"{source.name}: holds {kinds[reader.kind.sets]} with a {reader.kind.text}, the files before it "
                    f"{kinds[first.sets]} with a {first.text}; compare them in two runs"
                )
        if len(by_system) < 2:
            files = ", ".join(source.name for source in self.sources)
            problem = f"{files}: expected rows of at least two systems, got "
            fix = f"only {next(iter(by_system))!r}; name a file for every system, or the column with the system with "
            raise FileError(problem, fix, name_column("system"))
        if len(by_system) > MAX_SYSTEMS:
            problem = f"expected at most {MAX_SYSTEMS} systems, got {len(by_system):,}"
            raise FileError(too_many_systems(problem, next(iter(by_system))))
        matched = match(by_system, skips.skip, skips.problem)
        if skips.skipped and matched.matched_by.startswith("order"):
            raise FileError(
                f"{skips.skipped:,} bad rows were skipped, so the order of the rows no longer shows which of them "
                "belong together; give every row an 'id' or a question"
            )
        return matched, first

    def _rows(self, reader: RowReader, row: Row) -> list[SystemRow]:
        """Return a row of a file as a row of every system; the first good one says what the file's rows are."""
        try:
            row_kind = reader.kind or self._row_kind(reader, row.values)
            scorers = self.scorers
            if not scorers and not self.score_columns:
                scorers = make_scorers(default_metrics(row_kind), sources=self.sources)
            rows = self._rows_of_systems(reader, row, row_kind, scorers)
        except RowError as error:
            error.systems = reader.systems(row.values)
            if self._one_each or error.systems == (reader.source.stem,):
                error.systems = (self.system_of[id(reader.source)],)
            raise
        reader.kind, self.scorers = row_kind, scorers
        return rows

    def _row_kind(self, reader: RowReader, cells: dict) -> RowKind:
        if self.score_columns and not self.scorers:  # only numbers are needed
            asked = reader.optional(cells, "question") is None and reader.optional(cells, "context") is not None
            return RowKind(sets=False, text="context" if asked else "question")
        row_kind = reader.row_kind(cells)
        check_questions(self.scorers, row_kind)
        return row_kind

    def _rows_of_systems(
        self, reader: RowReader, row: Row, row_kind: RowKind, scorers: Mapping[str, Scorer]
    ) -> list[SystemRow]:
        column_scores = tuple(score_in_column(column, row.values) for column in self.score_columns)
        if scorers:
            reader.needs = needed_columns(scorers)
            items = reader.items(row.number, row.values, row_kind)
        else:
            items = [unscored_item(reader.source, row, optional_texts(reader, row.values, row_kind.text))]
        if column_scores and len(items) != 1:
            with_score = f"with its score in column {self.score_columns[0]!r}"
            raise RowError(f"expected one system, {with_score}, got {len(items)}; write one row per system")
        system, run = reader.optional(row.values, "system"), self.system_of[id(reader.source)]
        if self.runs and system != (first := self._first_systems.setdefault(run, system)):
            raise RowError(
                f"run {run!r} holds several systems, {first!r} and {system!r}; two runs are of one system: keep the "
                "rows of one, or compare systems without --runs"
            )
        if self._one_each and len(items) != 1:
            raise RowError(f"expected rows of system {run!r} alone, got {len(items)} systems")
        if self._one_each or (len(items) == 1 and system is None):
            items[0].system = run
        name = slice_of(self.by, row.values) if self.by else ""
        wanted = [name for scorer in scorers.values() for name in scorer.row_names] if self.runs else []
        recorded = _recorded_scores(row.values, wanted)
        return [SystemRow(item, reader.source, column_scores, name, recorded) for item in items]


def _recorded_scores(cells: Mapping[str, object], names: Sequence[str]) -> dict[str, float]:
    """Return the scores that `score --output` wrote into a row; columns of other files with such names are no scores.

    >>> scored = {"file": "a", "line": 1, "id": None, "system": "a", "ava_label": 1, "ava_score": "0.9", "aev": None}
    >>> _recorded_scores(scored, ["ava_label", "ava_score", "aev"]), _recorded_scores({"ava_label": 1}, ["ava_label"])
    ({'ava_label': 1.0, 'ava_score': 0.9}, {})
    """
    result = {}
    for name in names if cells.keys() >= SCORED_COLUMNS else ():
        with suppress(KeyError, TypeError, ValueError):
            result[name] = float(cells[name])  # type: ignore[arg-type]
    return result


def _content(item: Item) -> tuple:
    """Return a row's question and sorted references with white space normalized: equal for rows to be matched."""
    text = None if item.text is None else " ".join(item.text.split())
    return text, tuple(sorted({" ".join(reference.split()) for reference in item.references}))


def _shown(item: Item) -> str:
    texts = [f"id {item.id!r}"] * (item.id is not None) + [f"{item.text!r:.60}"] * (item.text is not None)
    return " ".join(texts) or f"references {item.references!r:.60}"


def _counted(contents: Sequence[tuple]) -> list[tuple]:
    """Return contents with a running number each, so that the k-th repetition matches the k-th of another system."""
    numbers: dict[tuple, Iterator[int]] = defaultdict(count)
    return [(*content, next(numbers[content])) for content in contents]


def _keys(by_system: Mapping[str, list[SystemRow]]) -> tuple[str, dict[str, list]]:
    """Return the name of the matching rule, and {system: the key of every row}."""
    ids = {system: [row.item.id for row in rows] for system, rows in by_system.items()}
    distinct = set().union(*ids.values())
    if len(distinct) < sum(len({*of}) for of in ids.values()) and None not in distinct:  # systems share some
        for system, rows in by_system.items():
            first: dict[str, SystemRow] = {}
            for row in rows:
                if (before := first.setdefault(row.item.id, row)) is not row:
                    problem = f"{row.where}: id {row.item.id!r} of system {system!r} was there before, in "
                    fix = f"{before.where}; give every row of a system an id of its own, or leave the ids "
                    raise FileError(problem, fix, "unread with ", name_column("id", ""))
        return "id", ids
    contents = {system: [_content(row.item) for row in rows] for system, rows in by_system.items()}
    if all(text is not None for rows in contents.values() for text, _ in rows):
        return "question and references", {system: _counted(rows) for system, rows in contents.items()}
    if not all(references for rows in contents.values() for _, references in rows):
        problem = "rows cannot be matched: they need an 'id' that the systems share, or a question with references; "
        raise FileError(problem, "say which column it is with ", name_column("id"))
    # Without questions equal references ('yes') say little: only the order can show what belongs together.
    return "order of the rows and references", {system: list(range(len(rows))) for system, rows in contents.items()}


def match(by_system: Mapping[str, list[SystemRow]], skip: bool, problem: Callable[[str], None]) -> Matched:
    """Return the rows of several systems, matched by question.

    By id if all rows have one and systems share them; else by question (or context) and references; without questions
    by the order of the rows. However found, questions and references must be the same. Questions that not all systems
    answer are left out with `skip`, else a FileError.
    """
    matched_by, keys = _keys(by_system)
    first, *others = by_system
    by_key = {system: dict(zip(keys[system], rows, strict=True)) for system, rows in by_system.items()}
    names = {system: f"system {system!r} ({rows[0].source.name})" for system, rows in by_system.items()}
    problems: dict[object, str] = {}
    for system in others:
        for key, row in by_key[system].items():
            if other := by_key[first].get(key):
                if matched_by != "question and references" and (difference := _difference(row, other)):
                    problems.setdefault(key, difference)
            else:
                problems.setdefault(key, f"{row.where}: {_shown(row.item)} is not among the rows of {names[first]}")
        for key, row in by_key[first].items():
            if key not in by_key[system]:
                problems.setdefault(key, f"{row.where}: {_shown(row.item)} is not among the rows of {names[system]}")
    for message in problems.values():
        if not skip:
            fix = "; systems are compared on the same questions: add what is missing, or compare on the questions "
            raise FileError(message, fix, "that all of them have with ", SKIP_BAD_ROWS)
        problem(message)
    rows = [[by_key[system][key] for system in by_system] for key in by_key[first] if key not in problems]
    if not rows:
        raise FileError("no question is answered by every system; are these files about the same questions?")
    return Matched(list(by_system), rows, matched_by, len(problems))


def _difference(row: SystemRow, other: SystemRow) -> str:
    """Return a message on different questions or references of two matched rows; "" if both are equal."""
    (text, references), (other_text, other_references) = _content(row.item), _content(other.item)
    if None not in (text, other_text) and text != other_text:
        return f"{row.where}: is about {text!r:.60}, but {other.where}, about {other_text!r:.60}"
    if references and other_references and references != other_references:
        shown = f"{row.item.references!r:.60}", f"{other.item.references!r:.60}"
        return f"{row.where}: has the references {shown[0]}, but {other.where}, the references {shown[1]}"
    return ""
