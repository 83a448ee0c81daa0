"""Reads rows: checks each one in full, and converts it to what is scored.

Two kinds of rows are known: a question with one answer, and a context with a set of questions. A bad row is a
`RowError`; `Skips` says what becomes of it.
"""

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import shorten
from typing import Any, TypeVar

from ..core.scorer import warn_caller
from .cells import (
    NO_ANSWER,
    answers_of,
    as_number,
    kind_of,
    list_in_cell,
    literal,
    printed_list,
    scalar_text,
    whole_characters,
)
from .columns import (
    COLUMNS,
    KEYS,
    MISSING,
    NAMES,
    OWN_NAMES,
    PLANNED_LABELS,
    SCORED_COLUMNS,
    STOPPED_BY,
    Row,
    alias_columns,
    columns_found,
    likely_path,
    option_columns,
    plain_name,
    recognized,
    value_at,
)
from .errors import ColumnError, FileError, InputWarning, RowError, name_column
from .formats.shared import is_chat, text_of
from .marks import PlainCell
from .options import Options, options_of, right_options, with_options
from .sources import Source

Message = Callable[[str], None]  # called with one sentence
Progress = Callable[[str, int, int], None]  # called with what is scored, and the numbers of rows done and of all rows
_Converted = TypeVar("_Converted")
MAX_SCORE = 1e10  # of what a person or another metric gave; sums of larger ones would lose their digits
DIGEST = "_digest"  # end of the name of the column that tells scores of our own from others, see `scale.scoring`
SETTINGS = "_settings"  # the same of the settings, as JSON, of scores that were not computed with the default ones
SHORT = 3  # words beside a semicolon that may separate references; more of them are of a sentence
_ADD_REFERENCE = "drop it or the row, or add one"
_OUT_OF = re.compile(r"(\d+(?:[.,]\d+)?)\s*(?:/|out of|of|von)\s*(\d+(?:[.,]\d+)?)")
_DECIMAL = re.compile(r"([+-]?\d+(?:[.,]\d{1,2})?)\s*(%?)")
_IS_PRINTED_CHAT = re.compile(r"""["'](role|from|type)["']\s*:""")
ANSWER_KEYS, FACT_KEYS = NAMES["further"]["answers"], NAMES["further"]["facts"]
_PASSAGE = NAMES["tools"]["passages"]  # where an object has the text of a passage
_VERDICTS = dict.fromkeys(NAMES["labels"]["correct"], 1.0) | dict.fromkeys(NAMES["labels"]["wrong"], 0.0)


@dataclass(slots=True)
class Item:
    """The answer or answers of one system to one row."""

    file: str  # name of the input file
    line: int  # or row of a Parquet file
    id: str | None
    system: str
    text: str | None  # the question, or the context that questions were asked about
    predictions: list[str]  # one answer, or a set of questions, which may be empty
    references: list[str]  # at least one; none where no metric reads them and the row has contexts
    human: tuple[float | None, float | None]  # numbers of the columns `score` and `label`
    contexts: list[str] = field(default_factory=list)  # the passages that the answer was written from
    chance: float | None = None  # probability with which the row was drawn to be labelled
    extra: Mapping[str, object] = field(default_factory=dict)  # the other columns, where they are kept
    recorded: Mapping[str, Mapping[str, object]] = field(default_factory=dict)  # {metric: columns of an earlier run}
    until: str | None = None  # the rule by which labelling stopped


@dataclass(frozen=True)
class RowKind:
    """Whether rows have answers or sets of questions, and which columns, by the first good row of a file."""

    sets: bool  # a row holds a set of predictions (question generation), not one answer
    text: str  # the column that says what was asked, or asked about: "question" or "context"
    has_text: bool = field(default=True, compare=False)  # there is such a column
    has_references: bool = field(default=True, compare=False)  # else the first row has contexts instead
    has_contexts: bool = field(default=False, compare=False)


@dataclass(eq=False)
class RowReader:
    """Converts the rows of one file to items.

    `columns` are {name of `COLUMNS`: column of the file}, "" for one that is not to be read; a name with dots goes
    into objects and lists: "choices.0.text". `needs` are {column: metric that needs it in every row}, of "question",
    "references" and "contexts"; without any, rows need what the first one has.
    """

    source: Source
    columns: Mapping[str, str]
    needs: Mapping[str, str] = field(default_factory=dict)
    keeps: bool = False  # items have the columns that are not read
    kind: RowKind | None = field(default=None, init=False)  # of the first good row
    not_numbers: int = field(default=0, init=False)  # cells of `score` and `label` that were not read
    separators: Counter[str] = field(default_factory=Counter, init=False)  # that may split texts
    _names: set[str] = field(default_factory=set, init=False)  # columns of the last row, and which have which roles
    _roles: Mapping[str, str] = field(default_factory=dict, init=False)
    _alias_columns: Sequence[str] = field(default=(), init=False)  # that have further references
    _option_columns: Mapping[str, str] = field(default_factory=dict, init=False)  # {label: column of one option}
    _words: dict[str, float] = field(default_factory=dict, init=False)  # that were read as labels
    _letters: set[str] = field(default_factory=set, init=False)
    _scale: dict[str, float] = field(default_factory=dict, init=False)  # of which scores are, by column

    def __post_init__(self):
        self.in_csv = self.source.format in ("CSV", "TSV", "Excel")

    def cell(self, cells: dict, role: str) -> tuple[str, object]:
        """Return (column, cell or `MISSING`) of a role; a named column that a row lacks is a ColumnError."""
        column = self.columns.get(role)
        if column is None:
            column = self._recognized(cells).get(role)
            return (COLUMNS[role][0], MISSING) if column is None else (column, cells.get(column, MISSING))
        if column == "":
            return role, MISSING
        cell = cells[column] if column in cells else value_at(cells, column)
        if cell is MISSING:
            raise ColumnError(f"no column {column!r}, which columns names for {role!r}; {columns_found(cells)}")
        return column, cell

    def _recognized(self, cells: dict) -> Mapping[str, str]:
        """Return {role: column} of a row; adds a note for every column whose role was guessed."""
        if self._names != cells.keys():
            # A column that was named for one role has no other one; its role is as if it were found by our own name.
            taken = {name for column in self.columns.values() for name in (column, re.split(r"[.\[]", column)[0])}
            roles = [OWN_NAMES[role][0] for role, column in self.columns.items() if column and OWN_NAMES.get(role)]
            names = dict.fromkeys([*roles, *(name for name in cells if name not in taken)])
            self._names, self._roles = set(cells), recognized(tuple(names))
            self._option_columns, aliases = option_columns(cells), alias_columns(cells)
            for role, column in self._roles.items() if not self.source.form else ():
                if role not in ("id", *self.columns) and plain_name(column) not in OWN_NAMES[role]:
                    meaning = "further references" if role == "aliases" else f"the {role}"
                    self.source.note(f"column {column!r} was read as {meaning}; another one: {name_column(role)}")
            others = {*self._roles.values(), *self.columns.values()}
            self._alias_columns = [name for name in aliases if name not in others]
        return self._roles

    def needed(self, cells: dict, role: str) -> tuple[str, object]:
        """Return (column, cell) of a role; a row without this column is a `ColumnError`."""
        column, cell = self.cell(cells, role)
        if cell is MISSING:
            names = " or ".join(OWN_NAMES[role])
            raise ColumnError(f"no {role} (a column named {names}); {columns_found(cells)}", self._fix(cells, role))
        return column, cell

    def _fix(self, cells: dict, role: str) -> str:
        """Return advice how a row without a role can be read."""
        if elsewhere := self.source.elsewhere(cells):
            return elsewhere
        others = {column for other, column in self._recognized(cells).items() if other not in (role, "options")}
        path = likely_path(role, {name: cell for name, cell in cells.items() if name not in others})
        alone = self.source.alone(cells)
        if alone and (role == "prediction" or path == "NAME"):
            return alone
        other = {"prediction": ", or where each system has a column, with systems=['A', 'B'] of read_rows"}
        if path == "NAME":
            other["references"] = ", or add one: an accepted answer, or a list of them, in every row"
        return f"say which one it is with {name_column(role, path)}{other.get(role, '')}"

    def verdict(self, column: str, cell: object) -> float | None:
        """Return the label of a word (see `verdict_of`) and note it; raise a RowError for letters of SimpleQA."""
        word = cell.strip() if isinstance(cell, str) else ""
        self._letters |= {"A", "B", "C"} & {word.upper()}
        if "C" in self._letters and len(self._letters) > 1:
            problem = f"{column}: A, B and C are grades of SimpleQA, and C alone is correct elsewhere"
            raise RowError(problem, "write CORRECT, INCORRECT and NOT_ATTEMPTED, or 1 and 0")
        label = verdict_of(word)
        if label is not None and word not in self._words:
            self._words[word] = label
            read = (
                f"{', '.join(repr(word) for word, other in self._words.items() if other == label)} as {label:g}"
                for label in dict.fromkeys(sorted(self._words.values(), reverse=True))
            )
            self.source.note(f"{column}: words were read as labels: {' and '.join(read)}", f"words of {column}")
        return label

    def has(self, cells: dict, role: str) -> bool:
        """Return whether a row has a column."""
        return self.cell(cells, role)[1] is not MISSING

    def optional(self, cells: dict, role: str) -> object | None:
        """Return a row's cell of a role, as it is in the file; None where there is none."""
        cell = self.cell(cells, role)[1]
        return None if cell is MISSING or cell == "" else cell

    def human(self, cells: dict) -> tuple[float | None, float | None]:
        """Return a row's `score` and `label`; None where there is no number."""
        return self._number(cells, "score"), self._number(cells, "label")

    def sampling(self, cells: dict) -> tuple[float | None, float | None, str | None]:
        """Return the probability with which a labelled row was drawn, the number of labels planned, and a rule.

        The rule is that by which labelling stopped. None without such a column, which `genqa-metrics label` writes.
        """
        column, chance = self.cell(cells, "probability")[0], self.optional(cells, "probability")
        if chance is not None and not 0 < as_number(chance) <= 1:
            problem = f"{column}: expected a probability of being drawn, above 0 and at most 1, got {chance!r:.40}"
            raise RowError(problem, f"leave it out with {name_column('probability', '')}")
        planned = None if cells.get(PLANNED_LABELS) == "" else cells.get(PLANNED_LABELS)
        if planned is not None and not as_number(planned) >= 1:
            raise RowError(f"{PLANNED_LABELS}: expected a number of labels, got {planned!r:.40}; leave it out")
        numbers = [None if number is None else as_number(number) for number in (chance, planned)]
        return *numbers, str(cells.get(STOPPED_BY) or "") or None

    def contexts(self, cells: dict) -> list[str]:
        """Return the passages that the answer of a row was written from, as text; none where the row has none.

        Empty ones stay beside others, because answers cite passages by their numbers.
        """
        column, cell = self.cell(cells, "contexts")
        if self.in_csv and isinstance(cell, str) and cell[:1] == "[" and not isinstance(cell, PlainCell):
            with suppress(ValueError, RecursionError):
                cell = json.loads(cell)
        if not is_given(cell):
            return []
        passages = passages_in(cell)
        for passage in passages:
            if isinstance(passage, bool | int | float) and passage == passage:
                problem = f"{column}: expected passages, a text or a list of texts, got {kind_of(passage)}"
                raise RowError(problem, f"say which one it is with {name_column('contexts')}")
        texts = [self._text(column, passage_text(passage)) for passage in passages]
        return texts if any(text.strip() for text in texts) else []

    def row_kind(self, cells: dict) -> RowKind:
        """Return the kind of a row, from its columns and cells."""
        asked = self.has(cells, "context") and not self.has(cells, "question")
        text = "context" if asked else "question"
        column, answer = self._prediction(cells)
        # Lists in cells of CSV can be sets of predictions; the columns say so, not a cell.
        may_be_set = self.in_csv and (self.has(cells, "context") or plain_name(column) == "predictions")
        if may_be_set and not is_given(self.cell(cells, "question")[1]):
            answer = list_in_cell(answer)
        by_system = answer if isinstance(answer, dict) else {"": answer}
        sets = asked or any(isinstance(texts, list) for texts in by_system.values())
        has_references = sets or is_given(self.cell(cells, "references")[1])
        passages = self.cell(cells, "contexts")[1]
        without = passages is not MISSING and (isinstance(passages, list) or not has_references)
        has_contexts = not sets and (without or bool(self.contexts(cells)))
        return RowKind(sets, text, self.has(cells, text), has_references or not has_contexts, has_contexts)

    def systems(self, cells: dict) -> tuple[str, ...]:
        """Return the names of the systems that a row, good or bad, has answers of."""
        try:
            system, answer = self._system(cells), self._prediction(cells)[1]
        except RowError:
            return ()
        by_system = system is None and isinstance(answer, dict)
        return tuple(map(str, answer)) if by_system else (system or self.source.stem,)

    def read(self, row: Row) -> list[Item]:
        """Return the items of a row, one per system; the kind of the first good row is that of all."""
        try:
            kind = self.kind or self.row_kind(row.values)
            items = self.items(row.number, row.values, kind)
        except RowError as error:
            error.systems = self.systems(row.values)
            raise
        self.kind = kind
        return items

    def items(self, line: int, cells: dict, row_kind: RowKind) -> list[Item]:
        """Return the items of a row, one per system."""
        must = "references" in self.needs or (row_kind.has_references and not self.needs)
        column, cell = (self.needed if must else self.cell)(cells, "references")
        text, contexts = self._asked(cells, row_kind), self._needed_contexts(cells)
        options = None if row_kind.sets else self._right_options(cells, column, cell)
        if options:
            text, references = with_options(text, *options)
        else:
            references = self._references(cells, column, cell, row_kind) if must or is_given(cell) else []
        if references and not must and not row_kind.has_references:
            problem = f"{column}: the first row has none, so that rows were scored without references, though others "
            self.source.note(f"{problem}have some; metrics='ava', on_error='skip' scores those")
        by_system = self._predictions(cells, row_kind)
        if references == [NO_ANSWER] and not row_kind.sets:  # an empty answer says so, too
            by_system = {system: texts if texts[0].strip() else [NO_ANSWER] for system, texts in by_system.items()}
        ident = self.cell(cells, "id")[1]
        ident = None if ident in (MISSING, None) else same_text(self._text("id", scalar_text(ident) or str(ident)))
        human = self.human(cells)
        chance, _, until = (None, None, None) if human[1] is None else self.sampling(cells)
        extra = self._extra(cells, row_kind) if self.keeps else {}
        shared = references, human, contexts, chance, extra, _recorded(cells), until
        return [
            Item(self.source.name, line, ident, system, text, predictions, *shared)
            for system, predictions in by_system.items()
        ]

    def _asked(self, cells: dict, row_kind: RowKind) -> str | None:
        """Return the question or the context of a row, which is an error where a metric needs one that is missing."""
        column, text = self.cell(cells, row_kind.text)
        is_needed = "question" in self.needs and row_kind.text == "question"
        if is_needed and (text in (MISSING, None) or (isinstance(text, str) and not text.strip())):
            got = "no such column" if text is MISSING else "null" if text is None else "an empty text"
            raise RowError(
                f"{column}: expected a question, which {self.needs['question']} reads, got {got}",
                "drop the row, or name a metric that reads none, such as aev",
            )
        if text in (MISSING, None):
            return None
        if row_kind.text == "context" and not isinstance(text, str):  # only passed on: a list of them is welcome
            return json.dumps(text, default=str)
        text = text_of(text) if not isinstance(text, str) and is_chat(text) else text
        if isinstance(text, Mapping):
            text = next((text[name] for name in ("text", "stem", "question") if isinstance(text.get(name), str)), text)
        return self._text(column, text)

    def _text(self, column: str, cell: object) -> str:
        """Return a text of valid Unicode; notes where half a character was replaced."""
        if not isinstance(cell, str):
            fix = 'use "" for an empty text' if cell is None else "write it as a text, or name another column"
            raise RowError(f"{column}: expected a string, got {kind_of(cell)}; {fix}")
        text = cell if cell.isascii() else whole_characters(cell)
        if text != cell:
            half = "half a surrogate pair (\\ud800 to \\udfff)"
            self.source.note(f"{column}: {half} was read as U+FFFD, such as {text!r:.40}")
        return text

    def _prediction(self, cells: dict) -> tuple[str, object]:
        """Return the column of the prediction, and the answer: a text, a list of texts, or {system: either}."""
        column, cell = self.needed(cells, "prediction")
        answer = self._answer(column, cell.tolist() if hasattr(cell, "tolist") else cell)
        if isinstance(answer, list) and any(isinstance(item, Mapping) for item in answer):
            path = likely_path("prediction", {column: answer})
            hint = f"name the text in it with {name_column('prediction', path)}"
            raise RowError(f"{column}: expected a text, got a list of objects", hint)
        if isinstance(answer, Mapping):
            answer = {name: self._answer(f"{column}, {name!r}", inner) for name, inner in answer.items()}
        return column, answer

    def _answer(self, column: str, cell: object) -> object:
        """Return the text of an answer that is a message, a list of messages, or an object with other facts beside it.

        Other cells stay; an object is {system: answer} only where no key is a usual name of an answer or of a fact
        about one.
        """
        if isinstance(cell, str) and cell[:1] in ("[", "{") and _IS_PRINTED_CHAT.search(cell[:200]):
            cell = chat if is_chat(chat := literal(cell)) else cell
        if isinstance(cell, str):
            return cell
        if is_chat(cell):
            self.source.note(f"{column}: messages were read as the text of the assistant's last one")
            if (text := text_of(cell, "assistant")) is None:
                raise RowError(f"{column}: expected a message of the assistant with a text, got none; drop the row")
            return text
        if not isinstance(cell, Mapping):
            return cell
        plain = {plain_name(str(name)): str(name) for name in cell}
        if key := next((plain[name] for name in ANSWER_KEYS if name in plain), None):
            other = name_column("prediction", f"{column}.NAME")
            self.source.note(f"{column}: objects were read as one answer, that of {key!r}; another one: {other}")
            return self._answer(f"{column}.{key}", cell[key])
        if facts := [name for name in plain if name in FACT_KEYS]:
            texts = [name for name in cell if isinstance(cell[name], str) and plain_name(name) not in FACT_KEYS]
            problem = f"{column}: expected a text or {{system: text}}, got an object with {plain[facts[0]]!r}"
            path = f"{column}.{texts[0]}" if texts else "NAME.KEY"
            raise RowError(problem, f"say where the answer stands with {name_column('prediction', path)}")
        return cell

    def _right_options(self, cells: dict, column: str, key: object) -> tuple[Options, list[str]] | None:
        """Return the options of a row and the labels of the right ones; None of a row that is no multiple choice."""
        if self.source.options.systems or self.columns.get("options") == "":
            return None
        name, listed = self.cell(cells, "options")
        asked = self.cell(cells, "question")[1]
        if listed is MISSING and isinstance(asked, Mapping):
            listed = asked.get("choices", MISSING)
        if listed is MISSING:
            texts = {label: cells[option] for label, option in self._option_columns.items()}
            name, listed = "options", {label: text for label, text in texts.items() if text not in (None, "")}
            if not listed:
                return None
        options = options_of(listed)
        if options is None:
            return None
        keys = {column: key} | {name: cell for name, cell in cells.items() if plain_name(name) in KEYS}
        unread = f"leave the options unread with {name_column('options', '')}"
        for key_column, key in keys.items():
            try:
                right = [] if key is MISSING or key is None else right_options(options, key)
            except RowError as error:
                raise RowError(f"{key_column}: {error}", unread) from error
            by_index = right and str(key).strip().isdecimal() and str(key).strip() not in {*options, *options.values()}
            if by_index and plain_name(key_column) == "label" and "references" not in self.columns:
                fix = f"if from 0, name it with {name_column('references', key_column)}"
                raise RowError(f"{key_column}: {key!r} may count the options from 0 or from 1", fix)
            if right:
                text = with_options(None, options, right)[1][0]
                such = f"{key_column} {key!r:.30} is {text!r:.40}, whose letter and text are both accepted"
                self.source.note(f"{name}: read as the options of a question ({such}); {unread}")
                return options, right
        if plain_name(column) in KEYS:
            raise RowError(f"{column}: {key!r:.40} is none of the options {', '.join(options)}", unread)
        self.source.note(f"{column}: {key!r:.30} and others are none of the options in {name}, which were not read")
        return None

    def _needed_contexts(self, cells: dict) -> list[str]:
        """Return the passages of a row; a row without a list of them is an error where a metric needs it."""
        contexts = self.contexts(cells)
        column, passages = self.cell(cells, "contexts")
        if "contexts" in self.needs and not (is_given(passages) or isinstance(passages, list)):
            got = "no such column" if passages is MISSING else "none"
            problem = f"{column}: expected passages, which {self.needs['contexts']} reads, got {got}"
            where = f"say where they are with {name_column('contexts')}, or " if passages is MISSING else ""
            raise RowError(problem, f"{where}write [] where nothing was retrieved, or leave the row out")
        return contexts

    def _extra(self, cells: dict, row_kind: RowKind) -> dict[str, object]:
        """Return the columns of a row that no field of its items holds."""
        roles = ("id", "system", "score", "label", "prediction", "references", row_kind.text)
        held = {self.cell(cells, role)[0] for role in (*roles, *["contexts"] * row_kind.has_contexts)}
        return {name: cell for name, cell in cells.items() if name not in held}

    def _references(self, cells: dict, column: str, cell: object, row_kind: RowKind) -> list[str]:
        """Return the references of a row, its aliases too; [NO_ANSWER] of a question without a right answer."""
        if not is_given(cell) and not isinstance(cell, list):
            raise RowError(f"{column}: expected at least one reference, got none; {_ADD_REFERENCE}")
        self._note_typed(column, cell)
        if self.in_csv and isinstance(cell, str) and cell.strip().lower() in ("true", "false"):
            self.source.note(f"{column}: TRUE and FALSE were read as yes and no too")
            cell = [cell, *answers_of(cell.strip().lower() == "true")[:1]]
        answers = self._several(column, cell)
        if answers is None:
            path = likely_path("references", {column: cell}) if isinstance(cell, Mapping) else "NAME"
            path = "NAME.KEY" if path == "NAME" else path
            fix = f"another column is named with {name_column('references')}, a text inside an object with "
            problem = f"{column}: expected a string or a list of strings, got {kind_of(cell)}"
            raise RowError(problem, fix + name_column("references", path))
        unanswerable = not answers or cells.get("answerable") is False or cells.get("is_impossible") is True
        if unanswerable and not row_kind.sets:
            self.source.note(
                f"{column}: rows without any right answer, such as [], are questions that have none; an answer that "
                "declines or is empty is right there"
            )
            return [NO_ANSWER]
        texts = [text for text in answers if is_given(text)]
        if not texts:
            got = f"only an empty text or null as item {len(answers)}" if answers else "none"
            raise RowError(f"{column}: expected at least one reference, got {got}; {_ADD_REFERENCE}")
        if len(texts) < len(answers):
            self.source.note(f"{column}: nulls and empty texts in lists of references were left out")
        if (other := next((text for text in texts if isinstance(text, Mapping)), None)) is not None:
            path = likely_path("references", {column: texts})
            fix = f"name the texts in it with {name_column('references', path)}"
            raise RowError(f"{column}: expected a string or a list of strings, got {kind_of(other)}", fix)
        texts = [self._text(f"{column}, item {i}", text) for i, text in enumerate(texts, 1)]
        return texts + [alias for alias in dict.fromkeys(self._aliases(cells)) if alias not in texts]

    def _aliases(self, cells: dict) -> list[str]:
        """Return the further references of a row, from all columns that have some."""
        column, cell = self.cell(cells, "aliases")
        if self.columns.get("aliases") == "":
            return []
        for name in self._alias_columns if not self.source.form else ():
            if is_given(cells[name]):
                note = f"column {name!r} was read as further references; another one: {name_column('aliases')}"
                self.source.note(note, f"aliases in {name}")
        columns = {column: cell} | {name: cells[name] for name in self._alias_columns}
        texts = [text for name, cell in columns.items() if is_given(cell) for text in self._several(name, cell) or ()]
        return [whole_characters(str(text)) for text in texts if is_given(text)]

    def _several(self, column: str, cell: object) -> list | None:
        """Return the references in a cell: items of a list, parts between separators; None of an unknown object."""
        cell = list_in_cell(cell) if self.in_csv else cell
        if not isinstance(cell, str):
            is_plain = isinstance(cell, list) and all(isinstance(text, str) for text in cell)
            return cell if is_plain else answers_of(cell)
        if printed := None if isinstance(cell, PlainCell) else printed_list(cell):
            such = f"texts that are printed lists, such as {cell:.60}, were read as several references"
            self.source.note(f"{column}: {such}")
            return printed
        if separator := self.source.options.split:
            return [text.strip() for text in cell.split(separator) if text.strip()]
        mark = "|" if "|" in cell else ";" if "; " in cell else ""
        is_of_sentence = mark == ";" and any(len(text.split()) > SHORT for text in cell.split(mark))
        if self.in_csv and mark and not is_of_sentence:
            self.separators[mark] += 1
            such = f"{mark!r} stands in texts such as {shorten(cell, 60, placeholder=' ...')!r}, each of which is one"
            fix = f"if it stands between several, add --split-references {mark!r}"
            self.source.note(f"{column}: {such} reference; {fix}")
        return [cell]

    def _note_typed(self, column: str, cell: object) -> str | None:
        """Return a number, date or truth as text, with a note; None of any other cell."""
        text = None if isinstance(cell, str | list) else scalar_text(cell)
        if text is not None:
            self.source.note(f"{column}: numbers, dates, true and false were read as texts, such as {text:.20}")
        return text

    def _system(self, cells: dict) -> str | None:
        column, cell = self.cell(cells, "system")
        if cell is MISSING or cell is None or cell == "":
            return None
        if isinstance(cell, dict | list):
            problem = f"{column}: expected the name of a system, got {kind_of(cell)}"
            raise RowError(problem, f"leave it out with {name_column('system', '')}")
        return self._text(column, scalar_text(cell) or str(cell))

    def _predictions(self, cells: dict, row_kind: RowKind) -> dict[str, list[str]]:
        """Return {system: its answer, or its set of questions} of a row."""
        system, (column, answer) = self._system(cells), self._prediction(cells)
        answer = list_in_cell(answer) if row_kind.sets and self.in_csv else answer
        by_system = {system or self.source.stem: answer}
        if isinstance(answer, dict):
            if system is not None:
                problem = f"{column}: expected no systems' names in it beside a column 'system'; keep one of the two"
                raise RowError(problem)
            by_system = {self._text(column, str(name)): texts for name, texts in answer.items() if texts is not None}
            if not by_system:
                raise RowError(f"{column}: expected {{system: texts}}, got an empty object; drop the row")
        predictions = {}
        for name, texts in by_system.items():
            where = f"{column}, {name!r}" if isinstance(answer, dict) else column
            if isinstance(texts, list):
                if not row_kind.sets:
                    problem = f"{where}: expected one string as in the first row, got a list; write sets in every row"
                    raise RowError(problem)
                predictions[name] = [self._text(f"{where}, item {i}", text) for i, text in enumerate(texts, 1)]
            elif isinstance(texts, str) or texts is None:
                predictions[name] = [self._text(where, texts)]
            elif (text := self._note_typed(column, texts)) is not None:
                predictions[name] = [text]
            else:
                raise RowError(f"{where}: expected a string or a list of strings, got {kind_of(texts)}")
        return predictions

    def _number(self, cells: dict, role: str) -> float | None:
        column, cell = self.cell(cells, role)
        if cell is MISSING or cell is None or cell == "":
            return None
        if role == "label" and (verdict := self.verdict(column, cell)) is not None:
            return verdict
        number = self.human_number(column, cell, role)
        if abs(number) <= MAX_SCORE:
            return number
        self.not_numbers += 1
        kind = "labels" if role == "label" else "numbers"
        self.source.note(f"{column}: values such as {cell!r:.40} are no {kind} and were not read", f"not {column}")
        return None

    def human_number(self, column: str, cell: object, role: str) -> float:
        """Return a person's number, also from 4/5, 80% and 3,5; NaN if a cell is no number.

        A label of 4/5 is 0.8; a score stays on its scale, 4, which must be the same in all rows.
        """
        number, text = as_number(cell), cell.strip() if isinstance(cell, str) else ""
        if not math.isnan(number) or not text:
            return number
        if match := _OUT_OF.fullmatch(text):
            number, whole = (float(digits.replace(",", ".")) for digits in match.groups())
            if role == "label":
                return number / whole if whole else math.nan
            if self._scale.setdefault(column, whole) != whole:
                scales = f"{self._scale[column]:g} and of {whole:g}"
                problem = f"{column}: {text!r} is on another scale than the rows before, of {scales}; use one scale"
                raise RowError(problem)
        elif match := _DECIMAL.fullmatch(text):
            number = float(match[1].replace(",", ".")) / (100 if match[2] and role == "label" else 1)
        if not math.isnan(number):
            self.source.note(f"{column}: texts such as {text!r:.20} were read as numbers ({number:g})")
        return number


def is_given(cell: object) -> bool:
    """Return whether a column has a cell in a row: none is a null, NaN, an empty text or an empty list.

    >>> [is_given(cell) for cell in (None, math.nan, " ", [], MISSING, "Ann", ["Ann"], 0)]
    [False, False, False, False, False, True, True, True]
    """
    if cell is MISSING or cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return False
    return bool(cell.strip() if isinstance(cell, str) else cell) if isinstance(cell, str | list) else True


def same_text(text: str) -> str:
    r"""Return a text with spreadsheets' changes normalized: composed letters, line ends, blanks at both ends.

    >>> same_text("Beyonce\u0301 \r\n") == "Beyonc\xe9"
    True
    """
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n")).strip()


def passages_in(cell: object) -> list:
    """Return the passages of a cell: a list, one text or object, or an object with a list, as MS MARCO has them.

    >>> passages_in({"passage_text": ["Ann won.", "Bo lost."], "is_selected": [1, 0]}), passages_in("Ann won.")
    (['Ann won.', 'Bo lost.'], ['Ann won.'])
    """
    if isinstance(cell, dict):
        cell = next((cell[name] for name in _PASSAGE if isinstance(cell.get(name), list)), cell)
    return cell if isinstance(cell, list) else [cell]


def passage_text(cell: object) -> str:
    """Return the text of a retrieved passage; what has none is shown as JSON.

    >>> passage_text({"page_content": "Ann won.", "metadata": {"page": 2}}), passage_text(math.nan)
    ('Ann won.', '')
    """
    if isinstance(cell, dict):
        cell = next((cell[name] for name in _PASSAGE if name in cell), cell)
    if isinstance(cell, str):
        return cell
    return json.dumps(cell, default=str, ensure_ascii=False) if is_given(cell) else ""


def verdict_of(cell: object) -> float | None:
    """Return 1 for a word that means correct, 0 for one that means wrong, None for any other cell.

    An answer that was not attempted is not correct.

    >>> [verdict_of(word) for word in ("Correct answer", "FALSE", "NOT_ATTEMPTED", "I", "partly", 1)]
    [1.0, 0.0, 0.0, 0.0, None, None]
    """
    if not isinstance(cell, str):
        return None
    return _VERDICTS.get(cell.replace("_", " ").replace("-", " ").replace("\ufe0f", "").strip(" .!").casefold())


def _recorded(cells: Mapping[str, object]) -> dict[str, dict[str, object]]:
    """Return {metric: {column: cell}} of the columns that an earlier run wrote beside a digest."""
    metrics = [name.removesuffix(DIGEST) for name, cell in cells.items() if name.endswith(DIGEST) and cell]
    return {
        metric: {name: cell for name, cell in cells.items() if name == metric or name.startswith(f"{metric}_")}
        for metric in metrics
    }


def ignore(*arguments: object) -> None:
    """Do nothing; the default of every callback."""


@dataclass
class Skips:
    """The policy for bad rows, raise at the first one or report it and leave it out; and counts of rows."""

    skip: bool = False
    problem: Message = ignore
    good: Counter[str] = field(default_factory=Counter)  # {name of a source: its good rows}
    skipped: int = 0  # rows that were left out
    by_system: Counter[str] = field(default_factory=Counter)  # those of them whose system is known
    not_numbers: int = 0  # cells of `score` and `label` that are no numbers

    def add(self, other: "Skips") -> None:
        """Add the counts of other rows."""
        self.good.update(other.good)
        self.skipped += other.skipped
        self.by_system.update(other.by_system)
        self.not_numbers += other.not_numbers


def good_rows(
    readers: Sequence[RowReader], convert: Callable[[RowReader, Row], _Converted], skips: Skips
) -> Iterator[_Converted]:
    """Yield convert(reader, row) of all good rows; `convert`, such as `RowReader.read`, raises RowError."""
    for reader in readers:
        source = reader.source
        for row in source.rows():
            try:
                if row.values is None:
                    raise RowError(row.problem)
                converted = convert(reader, row)
            except RowError as error:
                where = f"{source.name}, {source.unit} {row.number}: "
                if not skips.skip:
                    raise FileError(where, error, bad_row=skips.good.total() > 0) from error
                skips.skipped += 1
                skips.by_system.update(error.systems)
                skips.problem(f"{where}{error}")
                continue
            skips.good[source.name] += 1
            yield converted
        for notice in source.notices:
            warn_caller(f"{source.name}: {notice}", InputWarning)


def check_columns(sources: Sequence[Source], columns: Mapping[str, str]) -> None:
    """Raise if the first rows of a source all lack a column, before any model is loaded."""
    for source in sources:
        reader, problems = RowReader(source, columns), []
        for row in source.sample():
            try:
                if row.values is None:
                    raise (ColumnError if source.form or source.options.systems else RowError)(row.problem)
                has_references = reader.row_kind(row.values).has_references
                for name in COLUMNS:
                    (reader.needed if name == "references" and has_references else reader.cell)(row.values, name)
            except ColumnError as error:
                problems.append(f"{source.name}, {source.unit} {row.number}: {error}")
                continue
            except RowError:
                pass
            problems.clear()
            break
        if problems:
            raise FileError(problems[0])


def first_row_kind(sources: Sequence[Source], columns: Mapping[str, str]) -> RowKind | None:
    """Return the kind of the first row that has one; None without such a row."""
    for source in sources:
        reader = RowReader(source, columns)
        for row in source.sample(None):
            with suppress(RowError):
                return reader.row_kind(row.values or {})
    return None


def recorded_settings(sources: Sequence[Source]) -> tuple[dict[str, dict[str, object]], bool]:
    """Return {metric: settings} with which the rows were judged before, and whether the first source was judged.

    The first row of every judged file says it. A metric is left out where files differ, or a cell is not what `score`
    writes.
    """
    settings_by_metric: dict[str, dict[str, object]] = {}
    different, is_judged = set(), False
    for source in sources:
        row = next(source.sample(), None)
        cells = (row and row.values) or {}
        for metric in _recorded(cells) if cells.keys() >= SCORED_COLUMNS else ():
            is_judged |= source is sources[0]
            text, settings = cells.get(metric + SETTINGS), {}
            with suppress(ValueError, RecursionError):
                settings = json.loads(text) if isinstance(text, str) and text else {}
            if not isinstance(settings, dict) or settings_by_metric.setdefault(metric, settings) != settings:
                different.add(metric)
    by_metric = settings_by_metric.items()
    return {metric: settings for metric, settings in by_metric if settings and metric not in different}, is_judged


def inputs_of(sources: Sequence[Source], skips: Skips) -> list[dict[str, Any]]:
    """Return name (with folders where ambiguous), SHA-256 and number of good rows of every source that was read."""
    names = [Path(source.name).name for source in sources]
    return [
        {"name": source.name if names.count(name) > 1 else name}
        | {"sha256": source.digest, "rows": skips.good[source.name]}
        for source, name in zip(sources, names, strict=True)
    ]
