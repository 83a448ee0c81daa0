"""Rows of a file -> what is scored: the predictions of one system and their references.

Two kinds of rows are known: a question with one answer, and a context with a set of questions. A row is checked in
full; a bad one is a `RowError`.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .columns import COLUMNS, OWN_NAMES, is_guess, likely, recognized
from .csv_cells import PlainCell
from .formats import FileError, Row, plain_name
from .sources import AnySource
from .values import MISSING, NO_ANSWER, answers_of, is_path, printed_list, text_of_number, value_at, verdict_of

SPLIT_HALF = "human (split half)"
MAX_SCORE = 1e10  # of what a person or another metric gave; sums of larger ones would lose their digits
MAX_NAMES = 30  # of columns in a message
_ADD_REFERENCE = "drop it or the row, or add one"


class RowError(ValueError):
    """A bad row; the message says what is wrong and the fix, the caller adds where.

    Attributes:
        systems: those whose row it is, as far as they are known.
    """

    systems: tuple[str, ...] = ()


class ColumnError(RowError):
    """A row without a column that is needed or was named."""


@dataclass(slots=True)
class Item:
    """The answer or answers of one system to one row.

    Attributes:
        file: name of the input file.
        line: line (or row of a Parquet file).
        id: the row's id, or None.
        system: name of the system.
        text: the question, or the context that questions were asked about, or None.
        predictions: one answer, or a set of questions (which may be empty).
        references: at least one; none where no metric reads them and the row has contexts.
        human: values of the columns `score` and `label`; None where there is no number.
        contexts: the passages that the answer was written from, in order; none where the row has none.
    """

    file: str
    line: int
    id: str | None
    system: str
    text: str | None
    predictions: list[str]
    references: list[str]
    human: tuple[float | None, float | None]
    contexts: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class RowKind:
    """What the rows of a file are, read off its first good row.

    Attributes:
        sets: a row holds a set of predictions (question generation), not one answer.
        ceiling: there are no predictions; half of the human references stand in for them.
        text: the column that says what was asked, or asked about: "question" or "context".
        given: there is such a column.
        has_references: rows have references; False only where the first row has contexts instead.
        has_contexts: rows have the passages that an answer was written from.
    """

    sets: bool
    ceiling: bool
    text: str
    given: bool = field(default=True, compare=False)
    has_references: bool = field(default=True, compare=False)
    has_contexts: bool = field(default=False, compare=False)


def _kind(value: object) -> str:
    names = {type(None): "null", dict: "an object", list: "a list", str: "a string", bool: "a truth value"}
    return names.get(type(value), f"{type(value).__name__} {value!r:.40}")


def _text(column: str, value: object) -> str:
    if not isinstance(value, str):
        fix = 'use "" for an empty text' if value is None else "put it into quotation marks"
        raise RowError(f"{column}: expected a string, got {_kind(value)}; {fix}")
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise RowError(f"{column}: holds half of a surrogate pair (\\ud800 to \\udfff); write it whole") from None
    return value


def _is_given(value: object) -> bool:
    """Return whether a column has a value in a row: none is a null, NaN, an empty text or an empty list.

    >>> [_is_given(value) for value in (None, math.nan, " ", [], MISSING, "Ann", ["Ann"], 0)]
    [False, False, False, False, False, True, True, True]
    """
    if value is MISSING or value is None or (isinstance(value, float) and math.isnan(value)):
        return False
    return bool(value.strip() if isinstance(value, str) else value) if isinstance(value, str | list) else True


def _json_list(text: str) -> object:
    """Return the list of a text that is one in JSON; else the text."""
    try:
        found = json.loads(text) if text.startswith("[") else text
    except (ValueError, RecursionError):
        return text
    return found


def _passage(value: object) -> str:
    """Return the text of a retrieved passage; what has none is shown as JSON.

    >>> _passage("Ann won."), _passage({"page_content": "Ann won.", "metadata": {"page": 2}}), _passage(math.nan)
    ('Ann won.', 'Ann won.', '')
    """
    if isinstance(value, dict):
        value = next((value[name] for name in ("text", "content", "page_content") if name in value), value)
    if isinstance(value, str) or not _is_given(value):
        return value if isinstance(value, str) else ""
    return json.dumps(value, default=str, ensure_ascii=False)


class RowReader:
    """Converts the rows of one file to items.

    Args:
        source: the file.
        columns: names of the columns in the file, by the names of `COLUMNS`; "" for a column that is not to be read.
            A name with dots goes into objects and lists: "answers.text", "choices.0.text".
        asks: called with the kind of the rows; returns {column: metric that needs it in every row}, of "question",
            "references" and "contexts".
        kind: what the rows are, if it is known before the first one is read.

    Attributes:
        kind: what the rows are, from the first good row; None before it.
        not_numbers: values of `score` and `label` that are not numbers.
    """

    def __init__(
        self,
        source: AnySource,
        columns: Mapping[str, str],
        asks: Callable[[RowKind], Mapping[str, str]] = lambda kind: {},
        kind: RowKind | None = None,
    ):
        self.source = source
        self.columns = columns
        self.asks, self.kind = asks, kind
        self.in_csv = source.format in ("CSV", "TSV", "Excel")
        self.not_numbers = 0
        self._words: dict[str, float] = {}  # read as labels
        self._letters: set[str] = set()  # grades in the column of labels
        self._names: set[str] = set()
        self._roles: Mapping[str, str] = {}

    def _value(self, values: dict, name: str) -> tuple[str, object]:
        """Return the column's name in the file and its value, or `MISSING`."""
        column = self.columns.get(name)
        if column is None:
            column = self._recognized(values).get(name, COLUMNS[name][0])
            return column, values.get(column, MISSING)
        if column == "":
            return name, MISSING
        value = values.get(column, MISSING)
        if value is MISSING and is_path(column):
            value = value_at(values, column)
        if value is MISSING:
            option = "columns names" if self.source.path is None else "--column names"
            raise ColumnError(f"no column {column!r}, which {option} for {name!r}; {self._found(values)}")
        return column, value

    def _recognized(self, values: dict) -> Mapping[str, str]:
        """Return the columns of a row by the names of `COLUMNS`; says once what was guessed."""
        if self._names != values.keys():
            self._names, self._roles = set(values), recognized(tuple(values))
            for role, column in self._roles.items():
                if role not in self.columns and not self.source.form and is_guess(role, column) and role != "id":
                    what = "further references" if role == "aliases" else f"the {role}"
                    self.source.note(f"column {column!r} was read as {what}; another one: --column {role}=NAME")
        return self._roles

    def _fix(self, name: str, guess: str, wide: str) -> str:
        """Return how a column is named: by an argument for rows in memory, else by an option of the command line."""
        if self.source.path is None:
            return f'say which one it is with columns={{"{name}": "{guess}"}}'
        return f"say which one it is with --column {name}={guess}{wide}"

    @staticmethod
    def _found(values: dict) -> str:
        more = f" and {len(values) - MAX_NAMES:,} more" if len(values) > MAX_NAMES else ""
        return f"columns found: {', '.join(list(values)[:MAX_NAMES]) or 'none'}{more}"

    def _needed(self, values: dict, name: str) -> tuple[str, object]:
        column, value = self._value(values, name)
        if value is MISSING:
            wide = ", or where each system has a column, with --systems A,B" if name == "prediction" else ""
            fix = self.source.elsewhere(values) or self._fix(name, likely(name, values), wide)
            named = " or ".join(OWN_NAMES[name])
            raise ColumnError(f"no {name} (a column named {named}); {self._found(values)}; {fix}")
        return column, value

    def _has(self, values: dict, name: str) -> bool:
        return self._value(values, name)[1] is not MISSING

    def _list_in_cell(self, value: object) -> object:
        """Return the texts of a cell of CSV that is a list, as JSON or as pandas writes it; else the value."""
        if not self.in_csv or isinstance(value, PlainCell):
            return value
        texts = printed_list(value)
        return value if texts is None else texts

    def _holds_sets(self, values: dict, column: str) -> bool:
        """Return whether lists in cells of CSV can be sets of predictions; the columns say so, not a cell."""
        asked = self._value(values, "question")[1]
        return not _is_given(asked) and (self._has(values, "context") or plain_name(column) == "predictions")

    def optional(self, values: dict, name: str) -> object | None:
        """Return a row's value of one of `COLUMNS`, as it is in the file; None where there is none.

        Raises:
            RowError: if the column that was named for it is missing.
        """
        value = self._value(values, name)[1]
        return None if value is MISSING or value == "" else value

    def human(self, values: dict) -> tuple[float | None, float | None]:
        """Return a row's `score` and `label`; None where there is no number."""
        return self._number(values, "score"), self._number(values, "label")

    def contexts(self, values: dict) -> list[str]:
        """Return the passages that the answer of a row was written from, as text; none where the row has none.

        A passage may be a string, or an object with its text under `text`, `content` or `page_content`. Empty ones
        stay beside others, because answers cite passages by their numbers.
        """
        column, value = self._value(values, "contexts")
        if self.in_csv and isinstance(value, str) and not isinstance(value, PlainCell):
            value = _json_list(value)
        if not _is_given(value):
            return []
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, bool | int | float) and not (isinstance(one, float) and math.isnan(one)):
                raise RowError(
                    f"{column}: expected passages, a text or a list of texts, got {_kind(one)}; "
                    f"{self._fix('contexts', 'NAME', '')}"
                )
        texts = [_text(column, _passage(text)) for text in (value if isinstance(value, list) else [value])]
        return texts if any(text.strip() for text in texts) else []

    def row_kind(self, values: dict) -> RowKind:
        """Return what a row is.

        Raises:
            RowError: if it has neither predictions nor what stands in for them.
        """
        asked = self._has(values, "context") and not self._has(values, "question")
        text = "context" if asked else "question"
        # A row that names a system has its predictions somewhere, under a name that is not known here.
        human = asked and "prediction" not in self.columns and not self._has(values, "system")
        if human and not self._has(values, "prediction") and self._has(values, "references"):
            return RowKind(sets=True, ceiling=True, text=text)
        given = self._has(values, text)
        column, value = self._needed(values, "prediction")
        value = self._list_in_cell(value) if self._holds_sets(values, column) else value
        inner = list(value.values()) if isinstance(value, dict) else [value]
        sets = asked or any(isinstance(texts, list) for texts in inner)
        has_references = sets or _is_given(self._value(values, "references")[1])
        passages = self._value(values, "contexts")[1]
        without = passages is not MISSING and (isinstance(passages, list) or not has_references)
        has_contexts = not sets and (without or bool(self.contexts(values)))
        return RowKind(sets, False, text, given, has_references or not has_contexts, has_contexts)

    def check_columns(self, values: dict) -> None:
        """Raise a `ColumnError` if a row lacks a column that is needed or was named."""
        row_kind = self.row_kind(values)
        for name in COLUMNS:
            (self._needed if name == "references" and row_kind.has_references else self._value)(values, name)

    def systems(self, values: dict) -> tuple[str, ...]:
        """Return the systems whose row it is, also of a bad row; never raises."""
        try:
            system = self._system(values)
            value = self._value(values, "prediction")[1]
        except RowError:
            return ()
        if system is None and isinstance(value, dict):
            return tuple(map(str, value))
        return (system or self.source.stem,)

    def read(self, row: Row) -> list[Item]:
        """Return the items of a row, one per system; the first good row decides of what kind all rows must be.

        Raises:
            RowError: if the row is bad; it names the systems.
            FileError: see `items`.
        """
        try:
            kind = self.kind or self.row_kind(row.values)
            items = self.items(row.number, row.values, kind, self.asks(kind))
        except RowError as error:
            error.systems = self.systems(row.values)
            raise
        self.kind = kind
        return items

    def items(self, line: int, values: dict, row_kind: RowKind, needs: Mapping[str, str] | None = None) -> list[Item]:
        """Return the items of a row, one per system; none for a context with one reference and no predictions.

        Args:
            line: number of the row.
            values: its values.
            row_kind: what it should be.
            needs: {column: metric that reads it}, of columns that may be missing otherwise.

        Raises:
            RowError: if the row is bad.
            FileError: if it has predictions and the rows before it have none.
        """
        needs = needs or {}
        if "references" in needs or (row_kind.has_references and not needs):
            references = self._references(values, *self._needed(values, "references"), row_kind)
        else:
            column, given = self._value(values, "references")
            references = self._references(values, column, given, row_kind) if _is_given(given) else []
            if references and not row_kind.has_references:
                named = "metrics='ava', on_error='skip'" if self.source.path is None else "-m ava --on-error skip"
                self.source.note(
                    f"{column}: the first row has none, so that rows were scored without references, though others "
                    f"have some; {named} scores those"
                )
        default = self._system(values)
        if row_kind.ceiling:
            if self._has(values, "prediction"):
                raise FileError(
                    f"{self.source.name}, {self.source.unit} {line}: has predictions, but the rows before have none; "
                    "put rows without predictions into a file of their own"
                )
            by_system = {SPLIT_HALF: references[0::2]} if len(references) > 1 else {}
            references = references[1::2]
        else:
            column, value = self._needed(values, "prediction")
            value = self._list_in_cell(value) if row_kind.sets else value
            by_system = self._predictions(column, value, row_kind, default)
            if references == [NO_ANSWER] and not row_kind.sets:  # an empty answer says so, too
                by_system = {system: texts if texts[0].strip() else [NO_ANSWER] for system, texts in by_system.items()}
        ident = self._value(values, "id")[1]
        ident = None if ident is MISSING or ident is None else _text("id", str(ident))
        column, text = self._value(values, row_kind.text)
        if row_kind.text == "context" and not isinstance(text, str):  # only passed on: a list of paragraphs is welcome
            text = None if text is MISSING or text is None else json.dumps(text, default=str)
        empty = isinstance(text, str) and not text.strip()
        if "question" in needs and (text is MISSING or text is None or empty):
            got = "no such column" if text is MISSING else "an empty text" if empty else "null"
            raise RowError(
                f"{column}: expected a question, which {needs['question']} reads, got {got}; drop the row, or name a "
                "metric that reads none, such as aev"
            )
        text = None if text is MISSING or text is None else _text(column, text)
        human, contexts = self.human(values), self.contexts(values)
        if "contexts" in needs and self._value(values, "contexts")[1] is MISSING:
            raise RowError(
                f"contexts: expected passages, which {needs['contexts']} reads, got no such column; say where they "
                "are with --column contexts=NAME, or write [] where there was none"
            )
        return [
            Item(self.source.name, line, ident, system, text, predictions, references, human, contexts)
            for system, predictions in by_system.items()
        ]

    def _references(self, values: dict, column: str, value: object, row_kind: RowKind) -> list[str]:
        if value is None or (isinstance(value, str) and not value.strip()):
            raise RowError(f"{column}: expected at least one reference, got none; {_ADD_REFERENCE}")
        if isinstance(value, bool | int | float):
            self.source.note(f"{column}: numbers, true and false were read as texts, such as {value!r:.20}")
        value = self._list_in_cell(value)
        answers = self._several(column, value) if isinstance(value, str) else answers_of(value)
        if answers is None:
            raise RowError(
                f"{column}: expected a string or a list of strings, got {_kind(value)}; "
                "another column is named with --column references=NAME, a value inside an object with NAME.KEY"
            )
        unanswerable = not answers or values.get("answerable") is False or values.get("is_impossible") is True
        if unanswerable and not (row_kind.sets or row_kind.ceiling):
            self.source.note(
                f"{column}: rows without any right answer, such as [], are questions that have none; an answer that "
                "declines or is empty is right there"
            )
            return [NO_ANSWER]
        answers += answers_of(self.optional(values, "aliases") or []) or []
        texts = [_text(f"{column}, item {i}", text) for i, text in enumerate(answers, 1)]
        empty = next((i for i, text in enumerate(texts, 1) if not text.strip()), 0)
        if empty or not texts:
            got = f"an empty text as item {empty}" if empty else "none"
            raise RowError(f"{column}: expected at least one reference, got {got}; {_ADD_REFERENCE}")
        return list(dict.fromkeys(texts)) if len(answers) > 1 and not (row_kind.sets or row_kind.ceiling) else texts

    def _several(self, column: str, text: str) -> list[str]:
        """Return the references of a text: those of a printed list, those between separators, or itself."""
        printed = None if isinstance(text, PlainCell) else printed_list(text)
        if printed:
            self.source.note(
                f"{column}: texts that are printed lists, such as {text!r:.60}, were read as several references"
            )
            return printed
        separator = self.source.options.split
        if separator:
            return [part for one in text.split(separator) if (part := one.strip())]
        mark = next((mark for mark in ("|", ";") if f"{mark} " in text), None) if self.in_csv else None
        if mark:
            self.source.note(
                f"{column}: texts such as {text!r:.60} are read as one reference; if {mark!r} stands between several, "
                f"add --split-references {mark!r}"
            )
        return [text]

    def _system(self, values: dict) -> str | None:
        column, value = self._value(values, "system")
        if value is MISSING or value is None or value == "":
            return None
        if isinstance(value, dict | list):
            raise RowError(
                f"{column}: expected the name of a system, got {_kind(value)}; leave it out with --column system="
            )
        return _text(column, str(value))

    def _predictions(self, column: str, value: object, row_kind: RowKind, system: str | None) -> dict[str, list[str]]:
        if isinstance(value, dict):
            if system is not None:
                raise RowError(
                    f"{column}: expected no systems' names in it beside a column 'system'; keep one of the two"
                )
            by_system = {_text(column, str(name)): texts for name, texts in value.items() if texts is not None}
            if not by_system:
                raise RowError(f"{column}: expected {{system: texts}}, got an empty object; drop the row")
        else:
            by_system = {system or self.source.stem: value}
        for name, texts in by_system.items():
            where = f"{column}, {name!r}" if isinstance(value, dict) else column
            if isinstance(texts, list) and not row_kind.sets:
                raise RowError(
                    f"{where}: expected one string as in the first row, got a list; write sets in every row"
                )
            if isinstance(texts, list):
                by_system[name] = [_text(f"{where}, item {i}", text) for i, text in enumerate(texts, 1)]
            elif isinstance(texts, bool | int | float) and texts == texts:
                self.source.note(f"{column}: numbers, true and false were read as texts, such as {texts!r:.20}")
                by_system[name] = [text_of_number(texts)]
            elif isinstance(texts, str) or texts is None:
                by_system[name] = [_text(where, texts)]
            else:
                raise RowError(f"{where}: expected a string or a list of strings, got {_kind(texts)}")
        return by_system

    def _number(self, values: dict, name: str) -> float | None:
        column, value = self._value(values, name)
        if value is MISSING or value is None or value == "":
            return None
        if name == "label" and (verdict := self.verdict(column, value)) is not None:
            return verdict
        try:
            number = float(value)
        except (ValueError, TypeError, OverflowError):
            number = math.nan
        if not abs(number) <= MAX_SCORE:
            self.not_numbers += 1
            if name == "label":
                self.source.note(f"{column}: values such as {value!r:.40} are no labels and were not read")
            return None
        return number

    def verdict(self, column: str, value: object) -> float | None:
        """Return the label that a word stands for, see `values.verdict_of`; notes which words were read as what.

        Raises:
            RowError: if the words are the letters of SimpleQA, in which C is not correct.
        """
        word = value.strip() if isinstance(value, str) else ""
        if word.upper() in ("A", "B", "C"):
            self._letters.add(word.upper())
            if "C" in self._letters and len(self._letters) > 1:
                raise RowError(
                    f"{column}: A, B and C are grades of SimpleQA, and C alone is correct elsewhere; write CORRECT, "
                    "INCORRECT and NOT_ATTEMPTED, or 1 and 0"
                )
        label = verdict_of(word)
        if label is not None and word not in self._words:
            self._words[word] = label
            read = (
                f"{', '.join(repr(word) for word, of in self._words.items() if of == label)} as {label:g}"
                for label in dict.fromkeys(sorted(self._words.values(), reverse=True))
            )
            self.source.note(f"{column}: words were read as labels: {' and '.join(read)}", f"words of {column}")
        return label
