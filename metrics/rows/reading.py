"""Reads rows: checks each one in full, converts it to what is scored, and cuts that into windows scored at once.

Two kinds of rows are known: a question with one answer, and a context with a set of questions. A bad row is a
`RowError`; one policy says what becomes of it. Where a window and a part end depends on the rows alone, never on the
machine or on where an earlier run was killed: so a run that is resumed computes what an uninterrupted one does.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from textwrap import shorten
from typing import Any, TypeVar

from ..core.reading import the_first
from ..core.scorer import warn_caller
from .errors import Advice, ColumnError, FileError, InputWarning, RowError, name_column
from .formats.shared import is_chat, text_of
from .options import Options, options_of, right_options, with_options
from .sources import Source
from .values import (
    COLUMNS,
    KEYS,
    MAX_NAMES,
    MISSING,
    NO_ANSWER,
    OWN_NAMES,
    PLANNED_LABELS,
    SCORED_COLUMNS,
    STOPPED_BY,
    PlainCell,
    Row,
    answers_of,
    as_number,
    is_given,
    kind_of,
    likely,
    list_in_cell,
    literal,
    option_columns,
    passage_text,
    passages_in,
    paths_in,
    plain_name,
    printed_list,
    recognized,
    same_text,
    scalar_text,
    value_at,
    verdict_of,
    whole_characters,
)

Message = Callable[[str], None]  # called with one sentence
Progress = Callable[[str, int, int], None]  # called with what is scored, and the numbers of rows done and of all rows
_Converted = TypeVar("_Converted")
SPLIT_HALF = "human (split half)"
MAX_SCORE = 1e10  # of what a person or another metric gave; sums of larger ones would lose their digits
DIGEST = "_digest"  # end of the name of the column that tells scores of our own from others, see `scale.scoring`
SETTINGS = "_settings"  # the same of the settings, as JSON, of scores that were not computed with the default ones
SHORT_PART = 3  # words of what stands beside a semicolon that may separate references; else it is of a sentence
MOST_REMEMBERED = 200_000  # rows of a file among which equal ones are looked for
FIRST_ROWS = 20  # that show whether a column is missing everywhere
_ADD_REFERENCE = "drop it or the row, or add one"
_TYPED = "numbers, dates, true and false"
_OUT_OF = re.compile(r"(\d+(?:[.,]\d+)?)\s*(?:/|out of|of|von)\s*(\d+(?:[.,]\d+)?)")
_DECIMAL = re.compile(r"([+-]?\d+(?:[.,]\d{1,2})?)\s*(%?)")
# Columns in which a role that is missing is looked for; what is found is tried before it is named.
_LIKELY = {
    "references": re.compile(r"answ|gold|truth|target|refer|expect|ideal|correct|solution|output|respon|label|text"),
    "prediction": re.compile(r"answ|pred|output|respon|reply|completion|generat|candidate|hypothes|content|text"),
}
_UNLIKELY = re.compile(
    r"wrong|incorrect|false|distract|confiden|type|start|offset|url|title|_id$|^id$|evidence|prompt|context"
)
_IS_PRINTED_CHAT = re.compile(r"""["'](role|from|type)["']\s*:""")
# Keys of an object that is one answer, and of facts beside an answer: such objects are no {system: answer}.
ANSWER_KEYS = (
    "final_answer", "answer", "prediction", "response", "completion", "output", "output_text", "generated_text",
    "result", "text", "content", "reply", "message", "answer_text", "model_answer", "generated_answer", "generated",
)  # fmt: skip
FACT_KEYS = (
    "confidence", "score", "probability", "prob", "logprob", "logprobs", "role", "id", "type", "reason", "reasoning",
    "explanation", "rationale", "thought", "thoughts", "thinking", "citations", "sources", "metadata", "usage",
    "tokens", "finish_reason", "stop_reason", "latency", "cost", "model", "tool_calls", "language",
)  # fmt: skip


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
    human: tuple[float | None, float | None]  # values of the columns `score` and `label`
    contexts: list[str] = field(default_factory=list)  # the passages that the answer was written from
    chance: float | None = None  # probability with which the row was drawn to be labelled
    extra: Mapping[str, object] = field(default_factory=dict)  # the other columns, where they are kept
    recorded: Mapping[str, Mapping[str, object]] = field(default_factory=dict)  # {metric: columns of an earlier run}
    until: str | None = None  # the rule by which labelling stopped


@dataclass(frozen=True)
class RowKind:
    """What the rows of a file are, read off its first good row."""

    sets: bool  # a row holds a set of predictions (question generation), not one answer
    ceiling: bool  # there are no predictions; half of the human references stand in for them
    text: str  # the column that says what was asked, or asked about: "question" or "context"
    has_text: bool = field(default=True, compare=False)  # there is such a column
    has_references: bool = field(default=True, compare=False)  # else the first row has contexts instead
    has_contexts: bool = field(default=False, compare=False)


@dataclass(eq=False)
class RowReader:
    """Converts the rows of one file to items.

    `columns` are {name of `COLUMNS`: column of the file}, "" for one that is not to be read; a name with dots goes
    into objects and lists: "choices.0.text". `asks` gets the kind of the rows and returns {column: metric that needs
    it in every row}, of "question", "references" and "contexts".
    """

    source: Source
    columns: Mapping[str, str]
    asks: Callable[[RowKind], Mapping[str, str]] = lambda kind: {}
    kind: RowKind | None = None  # of the first good row
    keeps: bool = False  # items have the columns that are not read
    not_numbers: int = field(default=0, init=False)  # values of `score` and `label`
    separators: Counter[str] = field(default_factory=Counter, init=False)  # that may split texts
    repeated: int = field(default=0, init=False)  # rows that are equal to an earlier one
    _read: set[int] = field(default_factory=set, init=False)  # hashes of rows
    _names: set[str] = field(default_factory=set, init=False)  # columns of the last row, and which have which roles
    _roles: Mapping[str, str] = field(default_factory=dict, init=False)
    _alias_columns: Sequence[str] = field(default=(), init=False)  # that have further references
    _option_columns: Mapping[str, str] = field(default_factory=dict, init=False)  # {label: column of one option}
    _words: dict[str, float] = field(default_factory=dict, init=False)  # that were read as labels
    _letters: set[str] = field(default_factory=set, init=False)
    _scale: dict[str, float] = field(default_factory=dict, init=False)  # of which scores are, by column
    _unread: Counter[str] = field(default_factory=Counter, init=False)  # values of score and label, by column

    def __post_init__(self):
        self.in_csv = self.source.format in ("CSV", "TSV", "Excel")

    def value(self, values: dict, role: str) -> tuple[str, object]:
        """Return (column, value or `MISSING`) of a role; a named column that a row lacks is a ColumnError."""
        column = self.columns.get(role)
        if column is None:
            column = self._recognized(values).get(role)
            return (COLUMNS[role][0], MISSING) if column is None else (column, values.get(column, MISSING))
        if column == "":
            return role, MISSING
        value = values[column] if column in values else value_at(values, column)
        if value is MISSING:
            named = f", which {{}} names for {role!r}"
            option = Advice(named.format("columns"), command=named.format("--column"))
            raise ColumnError(f"no column {column!r}", option, f"; {_listed(values)}")
        return column, value

    def _recognized(self, values: dict) -> Mapping[str, str]:
        """Return {role: column} of a row; adds a note for every column whose role was guessed."""
        if self._names != values.keys():
            # A column that was named for one role has no other one; its role is as if it were found by our own name.
            taken = {part for column in self.columns.values() for part in (column, re.split(r"[.\[]", column)[0])}
            roles = [OWN_NAMES[role][0] for role, column in self.columns.items() if column and OWN_NAMES.get(role)]
            names = dict.fromkeys([*roles, *(name for name in values if name not in taken)])
            self._names, self._roles = set(values), recognized(tuple(names))
            for role, column in self._roles.items():
                is_guess = plain_name(column) not in OWN_NAMES[role] and role != "id"
                if is_guess and role not in self.columns and not self.source.form:
                    meaning = "further references" if role == "aliases" else f"the {role}"
                    note = f"column {column!r} was read as {meaning}; another one: "
                    self.source.note(Advice(note, name_column(role)))
            others = {*self._roles.values(), *self.columns.values()}
            self._alias_columns = [n for n in values if plain_name(n) in COLUMNS["aliases"] and n not in others]
            self._option_columns = option_columns(values)
        return self._roles

    def needed(self, values: dict, role: str) -> tuple[str, object]:
        """Return (column, value) of a role; a row without this column is a `ColumnError`."""
        column, value = self.value(values, role)
        if value is MISSING:
            fix = self._fix(values, role)
            names = " or ".join(OWN_NAMES[role])
            raise ColumnError(f"no {role} (a column named {names}); {_listed(values)}", hint=fix)
        return column, value

    def _fix(self, values: dict, role: str) -> Advice | str:
        """Return advice how a row without a role can be read; every column in it was tried on the row."""
        if elsewhere := self.source.elsewhere(values, lambda row: bool(_trial({}).trial_items(row))):
            return elsewhere
        alone = self.source.alone(values)
        path = "" if alone and role == "prediction" else self.path_of(values, role)
        if alone and not path:
            return alone
        wide = ", or where each system has a column, with --systems A,B" if role == "prediction" else ""
        column = name_column(role, path or likely(role, values))
        return Advice("say which one it is with ", column, Advice(command=wide))

    def path_of(self, values: dict, role: str) -> str:
        """Return the path of a text that may have a role and can be read so; "" if there is none."""
        others = {column for name, column in self._recognized(values).items() if name not in (role, "options")}
        for path, value in paths_in({name: value for name, value in values.items() if name not in others}):
            path = path if role == "references" else path.replace("[*]", "[0]")
            named = path.rpartition(".")[2].lower()
            is_likely = isinstance(value, str) and _LIKELY[role].search(named) and not _UNLIKELY.search(named)
            if is_likely and _trial({**self.columns, role: path}).accepts(values, role):
                return path
        return ""

    def accepts(self, values: dict, role: str) -> bool:
        """Return whether the column of a role can be read as texts."""
        with suppress(RowError):
            column, value = self.value(values, role)
            kind = RowKind(sets=False, ceiling=False, text="question")
            if role == "references":
                return self._references(values, column, value, kind) != [NO_ANSWER]
            return bool(self._text(column, self._answer(column, value)))
        return False

    def trial_items(self, values: Mapping) -> list[Item]:
        """Return the items of a row; none where it cannot be read."""
        with suppress(RowError, FileError, StopIteration):
            return self.read(next(Source(memory=[values]).rows()))
        return []

    def has(self, values: dict, role: str) -> bool:
        """Return whether a row has a column."""
        return self.value(values, role)[1] is not MISSING

    def verdict(self, column: str, value: object) -> float | None:
        """Return the label of a word (see `verdict_of`) and note it; raise a RowError for letters of SimpleQA."""
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

    def optional(self, values: dict, name: str) -> object | None:
        """Return a row's value of one of `COLUMNS`, as it is in the file; None where there is none."""
        value = self.value(values, name)[1]
        return None if value is MISSING or value == "" else value

    def human(self, values: dict) -> tuple[float | None, float | None]:
        """Return a row's `score` and `label`; None where there is no number."""
        return self._number(values, "score"), self._number(values, "label")

    def sampling(self, values: dict) -> tuple[float | None, float | None, str | None]:
        """Return the probability with which a labelled row was drawn, the number of labels planned, and a rule.

        The rule is that by which labelling stopped. None without such a column or value, which `genqa-metrics label`
        writes.
        """
        column, value = self.value(values, "probability")
        probability = None if value in (MISSING, None, "") else as_number(value)
        if probability is not None and not 0 < probability <= 1:
            problem = f"{column}: expected a probability of being drawn, above 0 and at most 1, got {value!r:.40}"
            raise RowError(problem, hint=Advice("leave it out with ", name_column("probability", "")))
        planned = values.get(PLANNED_LABELS)
        planned = None if planned in (None, "") else as_number(planned)
        if planned is not None and not planned >= 1:
            got = f"got {values[PLANNED_LABELS]!r:.40}"
            raise RowError(f"{PLANNED_LABELS}: expected a number of labels, at least 1, {got}; leave it out")
        return probability, planned, str(values.get(STOPPED_BY) or "") or None

    def contexts(self, values: dict) -> list[str]:
        """Return the passages that the answer of a row was written from, as text; none where the row has none.

        Empty ones stay beside others, because answers cite passages by their numbers.
        """
        column, value = self.value(values, "contexts")
        if value is MISSING:
            return []
        if self.in_csv and isinstance(value, str) and value[:1] == "[" and not isinstance(value, PlainCell):
            with suppress(ValueError, RecursionError):
                value = json.loads(value)
        if not is_given(value):
            return []
        passages = passages_in(value)
        for passage in passages:
            if isinstance(passage, bool | int | float) and not (isinstance(passage, float) and math.isnan(passage)):
                problem = f"{column}: expected passages, a text or a list of texts, got {kind_of(passage)}"
                raise RowError(problem, hint=Advice("say which one it is with ", name_column("contexts")))
        texts = [self._text(column, passage_text(text)) for text in passages]
        return texts if any(text.strip() for text in texts) else []

    def row_kind(self, values: dict) -> RowKind:
        """Return the kind of a row, from its columns and values."""
        asked = self.has(values, "context") and not self.has(values, "question")
        text = "context" if asked else "question"
        # A row that names a system has its predictions somewhere, under a name that is not known here.
        human = asked and "prediction" not in self.columns and not self.has(values, "system")
        if human and not self.has(values, "prediction") and self.has(values, "references"):
            return RowKind(sets=True, ceiling=True, text=text)
        has_text = self.has(values, text)
        column, value = self._prediction(values)
        # Lists in cells of CSV can be sets of predictions; the columns say so, not a cell.
        asks = not is_given(self.value(values, "question")[1])
        if self.in_csv and asks and (self.has(values, "context") or plain_name(column) == "predictions"):
            value = list_in_cell(value)
        inner = list(value.values()) if isinstance(value, dict) else [value]
        sets = asked or any(isinstance(texts, list) for texts in inner)
        has_references = sets or is_given(self.value(values, "references")[1])
        passages = self.value(values, "contexts")[1]
        without = passages is not MISSING and (isinstance(passages, list) or not has_references)
        has_contexts = not sets and (without or bool(self.contexts(values)))
        return RowKind(sets, False, text, has_text, has_references or not has_contexts, has_contexts)

    def systems(self, values: dict) -> tuple[str, ...]:
        """Return the names of the systems that a row, good or bad, has answers of."""
        try:
            system, value = self._system(values), self._prediction(values)[1]
        except RowError:
            return ()
        return tuple(map(str, value)) if system is None and isinstance(value, dict) else (system or self.source.stem,)

    def read(self, row: Row) -> list[Item]:
        """Return the items of a row, one per system; the kind of the first good row is that of all."""
        try:
            kind = self.kind or self.row_kind(row.values)
            items = self.items(row.number, row.values, kind, self.asks(kind))
        except RowError as error:
            error.systems = self.systems(row.values)
            raise
        self.kind = kind
        self._note_repeated(items)
        return items

    def _note_repeated(self, items: Sequence[Item]) -> None:
        """Count rows that are equal to an earlier one with the same id, as those that fill up a last batch are."""
        for item in items if len(self._read) < MOST_REMEMBERED else ():
            if item.id is not None:
                key = hash((item.system, item.id, item.text, *item.predictions, *item.references))
                self.repeated += key in self._read
                self._read.add(key)
        if self.repeated:
            self.source.note(
                f"{self.repeated:,} rows are equal to an earlier one, also in id, and count again; if they fill up a "
                "last batch, drop them",
                "repeated rows",
            )

    def items(self, line: int, values: dict, row_kind: RowKind, needs: Mapping[str, str] | None = None) -> list[Item]:
        """Return the items of a row, one per system; none for a context with one reference and no predictions.

        `needs` are {column: metric that reads it}, of columns that may be missing otherwise.
        """
        needs = needs or {}
        must = "references" in needs or (row_kind.has_references and not needs)
        column, value = (self.needed if must else self.value)(values, "references")
        chosen = None if row_kind.sets or row_kind.ceiling else self._right_options(values, column, value)
        if chosen:
            references = with_options(None, *chosen)[1]
        else:
            references = self._references(values, column, value, row_kind) if must or is_given(value) else []
        if references and not must and not row_kind.has_references:
            problem = f"{column}: the first row has none, so that rows were scored without references, though others "
            named = Advice("metrics='ava', on_error='skip'", command="-m ava --on-error skip")
            self.source.note(Advice(problem, "have some; ", named, " scores those"))
        default = self._system(values)
        if row_kind.ceiling:
            if self.has(values, "prediction"):
                raise FileError(
                    f"{self.source.name}, {self.source.unit} {line}: has predictions, but the rows before have none; "
                    "put rows without predictions into a file of their own"
                )
            by_system = {SPLIT_HALF: references[0::2]} if len(references) > 1 else {}
            references = references[1::2]
        else:
            column, value = self._prediction(values)
            value = list_in_cell(value) if row_kind.sets and self.in_csv else value
            by_system = self._predictions(column, value, row_kind, default)
            if references == [NO_ANSWER] and not row_kind.sets:  # an empty answer says so, too
                by_system = {system: texts if texts[0].strip() else [NO_ANSWER] for system, texts in by_system.items()}
        ident = self.value(values, "id")[1]
        ident = None if ident in (MISSING, None) else same_text(self._text("id", scalar_text(ident) or str(ident)))
        text, contexts = self._asked(values, row_kind, needs), self._needed_contexts(values, needs)
        text = with_options(text, *chosen)[0] if chosen else text
        human = self.human(values)
        chance, _, until = (None, None, None) if human[1] is None else self.sampling(values)
        extra = self._extra(values, row_kind) if self.keeps else {}
        shared = references, human, contexts, chance, extra, _recorded(values), until
        return [
            Item(self.source.name, line, ident, system, text, predictions, *shared)
            for system, predictions in by_system.items()
        ]

    def _asked(self, values: dict, row_kind: RowKind, needs: Mapping[str, str]) -> str | None:
        """Return the question or the context of a row, which is an error where a metric needs one that is missing."""
        column, text = self.value(values, row_kind.text)
        if "question" in needs and (text in (MISSING, None) or (isinstance(text, str) and not text.strip())):
            got = "no such column" if text is MISSING else "null" if text is None else "an empty text"
            raise RowError(
                f"{column}: expected a question, which {needs['question']} reads, got {got}",
                hint="drop the row, or name a metric that reads none, such as aev",
            )
        if text in (MISSING, None):
            return None
        if row_kind.text == "context" and not isinstance(text, str):  # only passed on: a list of them is welcome
            return json.dumps(text, default=str)
        text = text_of(text) if not isinstance(text, str) and is_chat(text) else text
        if isinstance(text, Mapping):
            text = next((text[name] for name in ("text", "stem", "question") if isinstance(text.get(name), str)), text)
        return self._text(column, text)

    def _text(self, column: str, value: object) -> str:
        """Return a text of valid Unicode; notes where half a character was replaced."""
        if not isinstance(value, str):
            fix = 'use "" for an empty text' if value is None else "write it as a text, or name another column"
            raise RowError(f"{column}: expected a string, got {kind_of(value)}; {fix}")
        text = value if value.isascii() else whole_characters(value)
        if text != value:
            self.source.note(
                f"{column}: half a surrogate pair (\\ud800 to \\udfff) was read as U+FFFD, such as {text!r:.40}"
            )
        return text

    def _prediction(self, values: dict) -> tuple[str, object]:
        """Return the column of the prediction, and the answer: a text, a list of texts, or {system: either}."""
        column, value = self.needed(values, "prediction")
        value = value.tolist() if hasattr(value, "tolist") else value
        answer = self._answer(column, value)
        if isinstance(answer, list) and any(isinstance(item, Mapping) for item in answer):
            path = self.path_of(values, "prediction") or f"{column}[0].KEY"
            hint = Advice("name the text in it with ", name_column("prediction", path))
            raise RowError(f"{column}: expected a text, got a list of objects", hint=hint)
        if isinstance(answer, Mapping):
            answer = {name: self._answer(f"{column}, {name!r}", inner) for name, inner in answer.items()}
        return column, answer

    def _answer(self, column: str, value: object) -> object:
        """Return the text of an answer that is a message, a list of messages, or an object with other facts beside it.

        Other values stay; an object is {system: answer} only where no key is a usual name of an answer or of a fact
        about one.
        """
        if isinstance(value, str) and value[:1] in ("[", "{") and _IS_PRINTED_CHAT.search(value[:200]):
            value = chat if is_chat(chat := literal(value)) else value
        if isinstance(value, str):
            return value
        if is_chat(value):
            self.source.note(f"{column}: messages were read as the text of the assistant's last one")
            if (text := text_of(value, "assistant")) is None:
                raise RowError(f"{column}: expected a message of the assistant with a text, got none; drop the row")
            return text
        if not isinstance(value, Mapping):
            return value
        plain = {plain_name(str(name)): str(name) for name in value}
        key = next((plain[name] for name in ANSWER_KEYS if name in plain), None)
        if key is not None:
            more = Advice(f"{column}: objects were read as one answer, that of {key!r}; another one: ")
            self.source.note(Advice(more, name_column("prediction", f"{column}.NAME")))
            return self._answer(f"{column}.{key}", value[key])
        if facts := [name for name in plain if name in FACT_KEYS]:
            texts = [name for name in value if isinstance(value[name], str) and plain_name(name) not in FACT_KEYS]
            problem = f"{column}: expected a text or {{system: text}}, got an object with {plain[facts[0]]!r}"
            path = f"{column}.{texts[0]}" if texts else "NAME.KEY"
            raise RowError(problem, hint=Advice("say where the answer stands with ", name_column("prediction", path)))
        return value

    def _right_options(self, values: dict, column: str, key: object) -> tuple[Options, list[str]] | None:
        """Return the options of a row and the labels of the right ones; None of a row that is no multiple choice."""
        if self.source.options.systems or self.columns.get("options") == "":
            return None
        name, value = self.value(values, "options")
        asked = self.value(values, "question")[1]
        inside = asked.get("choices", MISSING) if isinstance(asked, Mapping) else MISSING
        value = inside if value is MISSING else value
        self._recognized(values)
        if value is MISSING and not self._option_columns:
            return None
        if value is MISSING:
            texts = {label: values[option] for label, option in self._option_columns.items()}
            name, value = "options", {label: text for label, text in texts.items() if text not in (None, "")}
        options = options_of(value)
        if options is None:
            return None
        keys = {column: key} | {name: value for name, value in values.items() if plain_name(name) in KEYS}
        unread = Advice("leave the options unread with ", name_column("options", ""))
        for key_column, key in keys.items():
            try:
                right = [] if key is MISSING or key is None else right_options(options, key)
            except RowError as error:
                raise RowError(f"{key_column}: {error}", hint=unread) from error
            by_index = right and str(key).strip().isdecimal() and str(key).strip() not in {*options, *options.values()}
            if by_index and plain_name(key_column) == "label" and "references" not in self.columns:
                named = "if from 0, name it with ", name_column("references", key_column)
                raise RowError(f"{key_column}: {key!r} may count the options from 0 or from 1", hint=Advice(*named))
            if right:
                text = with_options(None, options, right)[1][0]
                such = f"{key_column} {key!r:.30} is {text!r:.40}, whose letter and text are both accepted"
                self.source.note(Advice(f"{name}: read as the options of a question ({such}); ", unread))
                return options, right
        if plain_name(column) in KEYS:
            raise RowError(f"{column}: {key!r:.40} is none of the options {', '.join(options)}", hint=unread)
        self.source.note(
            f"{column}: values such as {key!r:.30} are none of the options in {name}, which were not read"
        )
        return None

    def _needed_contexts(self, values: dict, needs: Mapping[str, str]) -> list[str]:
        """Return the passages of a row; a row without a list of them is an error where a metric needs it."""
        contexts = self.contexts(values)
        column, passages = self.value(values, "contexts")
        if "contexts" in needs and not (is_given(passages) or isinstance(passages, list)):
            got = "no such column" if passages is MISSING else "none"
            problem = f"{column}: expected passages, which {needs['contexts']} reads, got {got}"
            where = ("say where they are with ", name_column("contexts"), ", or ") if passages is MISSING else ("",)
            raise RowError(problem, hint=Advice(*where, "write [] where nothing was retrieved, or leave the row out"))
        return contexts

    def _extra(self, values: dict, row_kind: RowKind) -> dict[str, object]:
        """Return the columns of a row that no field of its items holds."""
        roles = {"id", "system", "score", "label", "prediction", "references", row_kind.text}
        roles |= {"contexts"} if row_kind.has_contexts else set()
        held = {self.value(values, role)[0] for role in roles}
        return {name: value for name, value in values.items() if name not in held}

    def _references(self, values: dict, column: str, value: object, row_kind: RowKind) -> list[str]:
        if value is None or (isinstance(value, str) and not value.strip()):
            raise RowError(f"{column}: expected at least one reference, got none; {_ADD_REFERENCE}")
        if not isinstance(value, str) and (text := scalar_text(value)) is not None:
            self.source.note(f"{column}: {_TYPED} were read as texts, such as {text:.20}")
        if self.in_csv and isinstance(value, str) and value.strip().lower() in ("true", "false"):
            self.source.note(f"{column}: TRUE and FALSE were read as yes and no too")
            value = [value, *answers_of(value.strip().lower() == "true")[:1]]
        value = list_in_cell(value) if self.in_csv else value
        answers = self._several(column, value) if isinstance(value, str) else answers_of(value)
        if answers is None:
            named = "another column is named with ", name_column("references")
            path = self.path_of({**values, column: value}, "references") if isinstance(value, Mapping) else ""
            inside = name_column("references", path) if path else "NAME.KEY"
            raise RowError(
                f"{column}: expected a string or a list of strings, got {kind_of(value)}",
                hint=Advice(*named, ", a value inside an object with ", inside),
            )
        unanswerable = not answers or values.get("answerable") is False or values.get("is_impossible") is True
        if unanswerable and not (row_kind.sets or row_kind.ceiling):
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
            path = self.path_of(values, "references")
            fix = Advice("name the texts in it with ", name_column("references", path or f"{column}[*].KEY"))
            raise RowError(f"{column}: expected a string or a list of strings, got {kind_of(other)}", hint=fix)
        texts = [self._text(f"{column}, item {i}", text) for i, text in enumerate(texts, 1)]
        return texts + [alias for alias in dict.fromkeys(self._aliases(values)) if alias not in texts]

    def _aliases(self, values: dict) -> list[str]:
        """Return the further references of a row, from all columns that have some."""
        self._recognized(values)
        first = self.value(values, "aliases")
        if self.columns.get("aliases") == "" or not (self._alias_columns or first[1] is not MISSING):
            return []
        others = self._alias_columns
        columns = dict([first, *((name, values[name]) for name in others)])
        texts: list = []
        for column, value in columns.items():
            value = list_in_cell(value) if self.in_csv else value
            if is_given(value):
                texts += self._several(column, value) if isinstance(value, str) else answers_of(value) or []
            if column in others and is_given(value) and not self.source.form:
                note = f"column {column!r} was read as further references; another one: "
                self.source.note(Advice(note, name_column("aliases")), f"aliases in {column}")
        return [whole_characters(str(text)) for text in texts if is_given(text)]

    def _several(self, column: str, text: str) -> list[str]:
        """Return the references in a text: items of a printed list, parts between separators, or the whole text."""
        printed = None if isinstance(text, PlainCell) else printed_list(text)
        if printed:
            self.source.note(
                f"{column}: texts that are printed lists, such as {text!r:.60}, were read as several references"
            )
            return printed
        separator = self.source.options.split
        if separator:
            return [part for value in text.split(separator) if (part := value.strip())]
        marks = (mark for mark, stands in (("|", "|"), (";", "; ")) if stands in text)
        mark = next(marks, None) if self.in_csv else None
        is_of_sentence = mark == ";" and any(len(part.split()) > SHORT_PART for part in text.split(mark))
        if mark and not is_of_sentence:
            self.separators[mark] += 1
            such = shorten(text, 60, placeholder=" ...")
            self.source.note(
                f"{column}: {mark!r} stands in texts such as {such!r}, each of which is "
                f"one reference; if it stands between several, add --split-references {mark!r}"
            )
        return [text]

    def _system(self, values: dict) -> str | None:
        column, value = self.value(values, "system")
        if value is MISSING or value is None or value == "":
            return None
        if isinstance(value, dict | list):
            problem = f"{column}: expected the name of a system, got {kind_of(value)}"
            raise RowError(problem, hint=Advice("leave it out with ", name_column("system", "")))
        return self._text(column, scalar_text(value) or str(value))

    def _predictions(self, column: str, value: object, row_kind: RowKind, system: str | None) -> dict[str, list[str]]:
        if isinstance(value, dict):
            if system is not None:
                problem = f"{column}: expected no systems' names in it beside a column 'system'; keep one of the two"
                raise RowError(problem)
            by_system = {self._text(column, str(name)): texts for name, texts in value.items() if texts is not None}
            if not by_system:
                raise RowError(f"{column}: expected {{system: texts}}, got an empty object; drop the row")
        else:
            by_system = {system or self.source.stem: value}
        for name, texts in by_system.items():
            where = f"{column}, {name!r}" if isinstance(value, dict) else column
            if isinstance(texts, list) and not row_kind.sets:
                problem = f"{where}: expected one string as in the first row, got a list; write sets in every row"
                raise RowError(problem)
            if isinstance(texts, list):
                by_system[name] = [self._text(f"{where}, item {i}", text) for i, text in enumerate(texts, 1)]
            elif isinstance(texts, str) or texts is None:
                by_system[name] = [self._text(where, texts)]
            elif (text := scalar_text(texts)) is not None:
                self.source.note(f"{column}: {_TYPED} were read as texts, such as {text:.20}")
                by_system[name] = [text]
            else:
                raise RowError(f"{where}: expected a string or a list of strings, got {kind_of(texts)}")
        return by_system

    def _number(self, values: dict, name: str) -> float | None:
        column, value = self.value(values, name)
        if value is MISSING or value is None or value == "":
            return None
        if name == "label" and (verdict := self.verdict(column, value)) is not None:
            return verdict
        number = self.human_number(column, value, name)
        if not abs(number) <= MAX_SCORE:
            self.not_numbers += 1
            self._unread[column] += 1
            kind = "labels" if name == "label" else "numbers"
            such = f"values such as {value!r:.40} are no {kind} and were not read ({self._unread[column]:,} so far)"
            self.source.note(f"{column}: {such}", f"no {kind} in {column}")
            return None
        return number

    def human_number(self, column: str, value: object, name: str) -> float:
        """Return a person's number, also from 4/5, 80% and 3,5; NaN if a value is no number.

        A label of 4/5 is 0.8; a score stays on its scale, 4, which must be the same in all rows.
        """
        number, text = as_number(value), value.strip() if isinstance(value, str) else ""
        if not math.isnan(number) or not text:
            return number
        if match := _OUT_OF.fullmatch(text):
            number, whole = (float(part.replace(",", ".")) for part in match.groups())
            if name == "label":
                return number / whole if whole else math.nan
            if self._scale.setdefault(column, whole) != whole:
                scales = f"{self._scale[column]:g} and of {whole:g}"
                raise RowError(
                    f"{column}: {text!r} is on another scale than the rows before, of {scales}; use one scale"
                )
        elif match := _DECIMAL.fullmatch(text):
            number = float(match[1].replace(",", ".")) / (100 if match[2] and name == "label" else 1)
        if not math.isnan(number):
            self.source.note(f"{column}: texts such as {text!r:.20} were read as numbers ({number:g})")
        return number


def _trial(columns: Mapping[str, str]) -> RowReader:
    """Return a reader of a source of its own, whose notes nobody sees."""
    return RowReader(Source(memory=[]), columns)


def _listed(values: dict) -> str:
    return f"columns found: {the_first(list(values), MAX_NAMES) or 'none'}"


def _recorded(values: Mapping[str, object]) -> dict[str, dict[str, object]]:
    """Return {metric: {column: value}} of the columns that an earlier run wrote beside a digest."""
    metrics = [name.removesuffix(DIGEST) for name, value in values.items() if name.endswith(DIGEST) and value]
    return {
        metric: {name: value for name, value in values.items() if name == metric or name.startswith(f"{metric}_")}
        for metric in metrics
    }


def ignore(*arguments: object) -> None:
    """Do nothing; the default of every callback."""


# Names of counts of rows: the good ones, the bad ones that were left out, also by their system, contexts with one
# reference, which cannot be halved, and values of `score` and `label`.
GOOD, SKIPPED, SKIPPED_OF, SINGLE, NOT_NUMBERS = "good", "skipped", "skipped of ", "single", "not numbers"


def skipped_of(counts: Mapping[str, int]) -> dict[str, int]:
    """Return {system: its bad rows}.

    >>> skipped_of({"good": 3, "skipped": 1, "skipped of bert": 1})
    {'bert': 1}
    """
    return {name.removeprefix(SKIPPED_OF): n for name, n in counts.items() if name.startswith(SKIPPED_OF)}


@dataclass
class Skips:
    """The policy for bad rows: raise at the first one, or report it, count it and leave it out."""

    skip: bool = False
    problem: Message = ignore
    counts: Counter[str] = field(default_factory=Counter)
    good: Counter[str] = field(default_factory=Counter)  # {name of a source: its good rows}
    row: int = 0  # number of the last row that was read, of its source

    @property
    def skipped(self) -> int:
        """Number of rows that were left out."""
        return self.counts[SKIPPED]

    @property
    def by_system(self) -> dict[str, int]:
        """{system: rows that were left out}, for systems that have such rows."""
        return skipped_of(self.counts)


def good_rows(
    sources: Sequence[Source], convert: Callable[[Source, Row], _Converted], skips: Skips, after: int = 0
) -> Iterator[tuple[Source, Row, _Converted]]:
    """Yield (source, row, convert(source, row)) of good rows behind row `after`; `convert` raises RowError."""
    for source in sources:
        skips.row = after
        for row in source.rows(after):
            skips.row = row.number
            try:
                if row.values is None:
                    raise RowError(row.problem)
                converted = convert(source, row)
            except RowError as error:
                where = f"{source.name}, {source.unit} {row.number}: "
                if not skips.skip:
                    raise FileError(where, error, bad_row=skips.counts[GOOD] > 0) from error
                skips.counts.update([SKIPPED, *(SKIPPED_OF + system for system in error.systems)])
                skips.problem(Advice(where, error))
                continue
            skips.counts[GOOD] += 1
            skips.good[source.name] += 1
            yield source, row, converted
        for notice in source.notices:
            warn_caller(f"{source.name}: {notice}", InputWarning)
        after = 0


def _first_rows(source: Source) -> Iterator[Row]:
    """Yield the first rows of a source, fewer of a local file that cannot be read, which reading reports."""
    try:
        yield from islice(source.first_rows(), FIRST_ROWS)
    except FileError:
        if source.remote or source.path == "-":
            raise


def check_columns(sources: Sequence[Source], columns: Mapping[str, str]) -> None:
    """Raise if the first rows of a source all lack a column, before any model is loaded."""
    for source in sources:
        reader, problems = RowReader(source, columns), []
        for row in _first_rows(source):
            try:
                if row.values is None:
                    raise (ColumnError if source.form or source.options.systems else RowError)(row.problem)
                has_references = reader.row_kind(row.values).has_references
                for name in COLUMNS:
                    (reader.needed if name == "references" and has_references else reader.value)(row.values, name)
            except ColumnError as error:
                problems.append(Advice(f"{source.name}, {source.unit} {row.number}: ", error))
                continue
            except RowError:
                pass
            problems.clear()
            break
        if problems:
            raise FileError(problems[0])


def first_row_kind(sources: Sequence[Source], columns: Mapping[str, str]) -> RowKind | None:
    """Return the kind of the first good row; None without a good row."""
    reader = RowReader(sources[0], columns)
    for row in _first_rows(sources[0]):
        with suppress(RowError):
            return reader.row_kind(row.values or {})
    return None


def recorded_settings(sources: Sequence[Source]) -> tuple[dict[str, dict[str, object]], bool]:
    """Return {metric: settings} with which the rows were judged before, and whether the first source was judged.

    The first row of every judged file says it. A metric is left out where files differ, or a value is not what `score`
    writes.
    """
    settings_by_metric: dict[str, dict[str, object]] = {}
    different, is_judged = set(), False
    for source in sources:
        row = next(_first_rows(source), None)
        if row is None or row.values is None or not row.values.keys() >= SCORED_COLUMNS:
            continue
        for metric in [name.removesuffix(DIGEST) for name in row.values if name.endswith(DIGEST) and row.values[name]]:
            is_judged |= source is sources[0]
            text = row.values.get(metric + SETTINGS)
            try:
                settings = json.loads(text) if isinstance(text, str) and text else {}
            except (ValueError, RecursionError):
                settings = {}
            if not isinstance(settings, dict) or settings_by_metric.setdefault(metric, settings) != settings:
                different.add(metric)
    recorded = {metric: of for metric, of in settings_by_metric.items() if of and metric not in different}
    return recorded, is_judged


def inputs_of(sources: Sequence[Source], skips: Skips) -> list[dict[str, Any]]:
    """Return name (with folders where ambiguous), SHA-256 and number of good rows of every source that was read."""
    names = [Path(source.name).name for source in sources]
    names = [source.name if names.count(name) > 1 else name for source, name in zip(sources, names, strict=True)]
    facts = [{"sha256": source.digest, "rows": skips.good[source.name]} for source in sources]
    return [{"name": name, **of_source} for name, of_source in zip(names, facts, strict=True)]
