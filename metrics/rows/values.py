"""A row: its columns, found by their names, and its values: paths, lists in texts, words as labels, cells of CSV."""

import hashlib
import json
import math
import re
import unicodedata
from ast import literal_eval
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from itertools import takewhile


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a file."""

    number: int  # its line in a text file (for CSV the last one of the row), else its number, from 1
    values: dict | None  # by column; None for a bad row
    problem: str = ""  # why the row is bad, and the fix; "" for a good row


def plain_name(name: str) -> str:
    """Return the name of a column without case, with underscores for blanks and hyphens, and "s" for "(s)".

    >>> plain_name("Expected answer"), plain_name("Reference(s)")
    ('expected_answer', 'references')
    """
    return name.strip().lower().replace(" ", "_").replace("-", "_").replace("(s)", "s")


MISSING = object()
MAX_PRINTED = 2**16  # characters of a text that may hold a list
_STEP = re.compile(r"\[(\*|\d+|\w+=[^\]]{1,1000}+)\]|([^.\[\]]+)")
_STRING = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
_LIST = rf"\[\s*+(?:{_STRING.pattern})(?:(?:\s*+,\s*+|\s++(?!,))(?:{_STRING.pattern}))*+\s*+,?+\s*+\]"
_TUPLE = rf"\(\s*+(?:{_STRING.pattern})\s*+,\s*+(?:(?:{_STRING.pattern})\s*+,\s*+)*(?:(?:{_STRING.pattern})\s*+)?+\)"
_PRINTED = re.compile(f"{_LIST}|{_TUPLE}", re.DOTALL)

NO_ANSWER = "unanswerable"  # stands for the reference of a question that has no answer, as in SQuAD 2


def text_of_number(value: bool | float) -> str:
    """Return a number or truth value of JSON as a text.

    >>> text_of_number(1577), text_of_number(8.0), text_of_number(0.019), text_of_number(True)
    ('1577', '8', '0.019', 'true')
    """
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)


def scalar_text(value: object) -> str | None:
    """Return a number, truth value, date, time or decimal as JSON and spreadsheets write it; None for other values.

    A time of 00:00:00 is that of a date, as Parquet and pandas hold one.

    >>> scalar_text(Decimal("12.50")), scalar_text(datetime(2020, 3, 4)), scalar_text(8.0), scalar_text("8")
    ('12.50', '2020-03-04', '8', None)
    """
    if isinstance(value, bool | int | float):
        return text_of_number(value) if value == value else None
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, datetime):
        return str(value.date() if value == datetime.combine(value.date(), time(), value.tzinfo) else value)
    return str(value) if isinstance(value, date | time | timedelta) else None


def json_value(value: object) -> object:
    """Return any value as JSON has it, in characters that a file can hold: a date as its text, NaN as None.

    >>> import datetime
    >>> json_value(datetime.date(2024, 5, 1)), json_value({"a": (1, "b")}), json_value(float("nan"))
    ('2024-05-01', {'a': [1, 'b']}, None)
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    try:
        text = value if isinstance(value, str) else json.dumps(value, default=str, allow_nan=False)
    except (TypeError, ValueError, RecursionError):  # keys that are no texts, or NaN inside
        return json_value(str(value))
    if isinstance(value, str):
        return whole_characters(text)
    content = json.loads(text)
    return json_value(content) if isinstance(content, str) else content


def json_digest(value: object) -> str:
    """Return the SHA-256 of a value as JSON, in hexadecimal; the order of keys does not matter."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


_ANSWERS = ("text", "input_text", "value", "answer", "aliases")  # where an object has them


def answers_of(value: object, depth: int = 4) -> list[object] | None:
    """Return the right answers in a value of a data set; None where a value has no known form.

    It may be an object as SQuAD, TriviaQA, DROP (where a list is one answer), CoQA, QASPER and Natural Questions write
    one. In a list, objects without an answer are left out beside others, as KILT has them; other items stay.

    >>> answers_of({"text": ["1820", "in 1820"], "answer_start": [3, 0]}), answers_of({"value": "A", "aliases": ["B"]})
    (['1820', 'in 1820'], ['A', 'B'])
    >>> answers_of(True), answers_of([7, "seven"]), answers_of({"number": "", "spans": ["Ohio", "Utah"]})
    (['yes', 'true'], ['7', 'seven'], ['Ohio, Utah'])
    >>> answers_of([{"answer": "Lima"}, {"provenance": []}]), answers_of([{"free_form_answer": "", "yes_no": True}])
    (['Lima'], ['yes', 'true'])
    """
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, bool):
        return ["yes", "true"] if value else ["no", "false"]
    if isinstance(value, str):
        return [value]
    if (text := scalar_text(value)) is not None:
        return [text]
    if isinstance(value, list | tuple):
        items: list[object] = []
        for item in value:
            inner = None if isinstance(item, list) or not depth else answers_of(item, depth - 1)
            items += [item] if inner is None else inner
        with_answer = [item for item in items if not isinstance(item, Mapping)]
        return with_answer or items
    if not isinstance(value, Mapping):
        return None
    inner = {str(name).lower(): item.tolist() if hasattr(item, "tolist") else item for name, item in value.items()}
    if "spans" in inner:  # of DROP: a number, a date or spans
        date, number = inner.get("date") or {}, inner.get("number", "")
        texts = [
            number if isinstance(number, str) else text_of_number(number),
            " ".join(str(date[name]) for name in ("day", "month", "year") if date.get(name)),
            ", ".join(map(str, inner["spans"] or ())),
        ]
        return [text for text in texts if text][:1]
    if "free_form_answer" in inner:  # of QASPER
        spans = ", ".join(map(str, inner.get("extractive_spans") or ()))
        yes_no = inner.get("yes_no")
        return answers_of(yes_no) if isinstance(yes_no, bool) else [t for t in (inner["free_form_answer"], spans) if t]
    if "short_answers" in inner:  # of Natural Questions
        yes_no = str(inner.get("yes_no_answer", "")).lower()
        return [yes_no] if yes_no in ("yes", "no") else answers_of(inner["short_answers"], depth - 1)
    known = [inner[name] for name in _ANSWERS if inner.get(name) is not None]
    if not known or not depth:
        return None
    answers: list[object] = []
    for item in known:
        inside = answers_of(item, depth - 1)
        answers += [answer for answer in ([item] if inside is None else inside) if answer not in answers]
    return answers


def as_number(value: object) -> float:
    """Return a value as a number, NaN if it is none.

    >>> as_number("0.5"), as_number(None)
    (0.5, nan)
    """
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan


def value_at(value: object, path: str) -> object:
    """Return the value at a path such as `choices[0].text` or `answers[*].text`; `MISSING` where there is none.

    `options[tags=correct]` are the items of a list whose tags are, or have among them, "correct".

    >>> value_at({"answers": [{"text": "a"}, {"text": "b"}]}, "answers[*].text")
    ['a', 'b']
    >>> value_at({"options": [{"text": "a", "right": "no"}, {"text": "b", "right": "yes"}]}, "options[right=yes].text")
    ['b']
    """
    return _follow(value, [star or key for star, key in _STEP.findall(path)])


def _follow(value: object, steps: list[str]) -> object:
    for number, name in enumerate(steps, 1):
        key, equals, wanted = name.partition("=")
        if name == "*" or (equals and isinstance(value, list)):
            if not isinstance(value, list):
                return MISSING
            if equals:
                value = [item for item in value if isinstance(item, Mapping) and _is(item.get(key), wanted)]
            values = [inner for item in value if (inner := _follow(item, steps[number:])) is not MISSING]
            return [element for inner in values for element in inner] if "*" in steps[number:] else values
        if isinstance(value, Mapping) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return MISSING
    return value


def _is(value: object, wanted: str) -> bool:
    return wanted in map(str, value) if isinstance(value, list) else str(value) == wanted


def printed_list(text: object) -> list[str] | None:
    r"""Return the strings of a text that is a printed list, else None.

    Known are JSON, and how Python and numpy print strings, as pandas writes them into CSV and lm-evaluation-harness.

    >>> printed_list("['30 days', \"thirty days\"]"), printed_list("['30 days' 'thirty days']")
    (['30 days', 'thirty days'], ['30 days', 'thirty days'])
    >>> printed_list("[30 days]"), printed_list("['a'] and ['b']"), printed_list("[]")
    (None, None, [])
    """
    if not isinstance(text, str) or text.lstrip()[:1] not in ("[", "("):
        return None
    text = text.strip()
    with suppress(ValueError, RecursionError):
        content = json.loads(text)
        return content if isinstance(content, list) and all(isinstance(value, str) for value in content) else None
    if len(text) <= MAX_PRINTED and _PRINTED.fullmatch(text):
        with suppress(ValueError, SyntaxError):
            return [literal_eval(string) for string in _STRING.findall(text)]
    return None


def literal(text: str) -> object:
    """Return the object or list that a text is in JSON or Python notation; any other text unchanged.

    >>> literal('[{"a": null}]'), literal("{'a': None}"), literal("[sic]")
    ([{'a': None}], {'a': None}, '[sic]')
    """
    for parse in (json.loads, literal_eval) if text[:1] in ("{", "[") and len(text) <= MAX_PRINTED else ():
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            return parse(text)
    return text


def paths_in(value: object, path: str = "", depth: int = 5) -> Iterator[tuple[str, object]]:
    """Yield (path, value) of everything inside a value but objects, outermost first; of a list only the first item.

    >>> list(paths_in({"a": [{"b": "x"}], "c": 1}))
    [('c', 1), ('a[*].b', 'x')]
    """
    nested: list[tuple[str, object]] = []
    items = value.items() if isinstance(value, Mapping) else ()
    for name, inner in items:
        step = f"{path}.{name}" if path else str(name)
        while isinstance(inner, list) and inner and not isinstance(inner[0], str):
            step, inner = f"{step}[*]", inner[0]
        if isinstance(inner, Mapping):
            nested.append((step, inner))
        elif not set(".[]") & set(str(name)):
            yield step, inner[0] if isinstance(inner, list) and inner else inner
    for step, inner in nested if depth else ():
        yield from paths_in(inner, step, depth - 1)


# Where an object has the text of a passage.
_PASSAGE = ("text", "content", "page_content", "passage_text", "passage", "contents", "snippet")


def kind_of(value: object) -> str:
    """Return the type of a value in words, for a message."""
    names = {type(None): "null", dict: "an object", list: "a list", str: "a string", bool: "a truth value"}
    return names.get(type(value), f"{type(value).__name__} {value!r:.40}")


def whole_characters(text: str) -> str:
    r"""Return a text with U+FFFD for every half of a surrogate pair, which no file in UTF-8 can hold.

    >>> whole_characters("Lima \ud83d"), whole_characters("\ud83d\ude00")
    ('Lima �', '😀')
    """
    try:
        text.isascii() or text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def same_text(text: str) -> str:
    r"""Return a text with spreadsheets' changes normalized: composed letters, line ends, blanks at both ends.

    >>> same_text("Beyonce\u0301 \r\n") == "Beyonc\xe9"
    True
    """
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n")).strip()


def is_given(value: object) -> bool:
    """Return whether a column has a value in a row: none is a null, NaN, an empty text or an empty list.

    >>> [is_given(value) for value in (None, math.nan, " ", [], MISSING, "Ann", ["Ann"], 0)]
    [False, False, False, False, False, True, True, True]
    """
    if value is MISSING or value is None or (isinstance(value, float) and math.isnan(value)):
        return False
    return bool(value.strip() if isinstance(value, str) else value) if isinstance(value, str | list) else True


def passages_in(value: object) -> list:
    """Return the passages of a value: a list, one text or object, or an object with a list, as MS MARCO has them.

    >>> passages_in({"passage_text": ["Ann won.", "Bo lost."], "is_selected": [1, 0]}), passages_in("Ann won.")
    (['Ann won.', 'Bo lost.'], ['Ann won.'])
    """
    if isinstance(value, dict):
        value = next((value[name] for name in _PASSAGE if isinstance(value.get(name), list)), value)
    return value if isinstance(value, list) else [value]


def passage_text(value: object) -> str:
    """Return the text of a retrieved passage; what has none is shown as JSON.

    >>> passage_text({"page_content": "Ann won.", "metadata": {"page": 2}}), passage_text(math.nan)
    ('Ann won.', '')
    """
    if isinstance(value, dict):
        value = next((value[name] for name in _PASSAGE if name in value), value)
    if isinstance(value, str):
        return value
    return json.dumps(value, default=str, ensure_ascii=False) if is_given(value) else ""


def list_in_cell(value: object) -> object:
    """Return the texts of a cell of CSV that is a list, as JSON or as pandas writes it; else the value."""
    texts = None if isinstance(value, PlainCell) else printed_list(value)
    return value if texts is None else texts


_CORRECT = (
    "correct, right, true, yes, y, t, c, pass, passed, accept, accepted, ok, correct answer, right answer, "
    "\N{CHECK MARK}, \N{HEAVY CHECK MARK}, \N{WHITE HEAVY CHECK MARK}"
)
_WRONG = (
    "incorrect, wrong, false, no, n, f, i, fail, failed, reject, rejected, not correct, incorrect answer, "
    "wrong answer, not attempted, no attempt, no answer, failed to answer, did not answer, refused, refusal, "
    "declined, abstained, \N{BALLOT X}, \N{HEAVY BALLOT X}, \N{CROSS MARK}, \N{MULTIPLICATION X}"
)
_VERDICTS = {word: verdict for words, verdict in ((_CORRECT, 1.0), (_WRONG, 0.0)) for word in words.split(", ")}


def verdict_of(value: object) -> float | None:
    """Return 1 for a word that means correct, 0 for one that means wrong, None for any other value.

    An answer that was not attempted is not correct. C and I are those of Inspect.

    >>> [verdict_of(word) for word in ("Correct answer", "FALSE", "NOT_ATTEMPTED", "I", "partly", 1)]
    [1.0, 0.0, 0.0, 0.0, None, None]
    """
    if not isinstance(value, str):
        return None
    return _VERDICTS.get(value.replace("_", " ").replace("-", " ").replace("\ufe0f", "").strip(" .!").casefold())


# A spreadsheet runs a cell that begins so as a formula. Written cells get an apostrophe before it, as OWASP advises
# against CSV injection; it is removed on reading, so that texts come back unchanged. A text that begins with a bracket
# gets one too, for it would be read as a JSON list. Many spreadsheets split at other separators than the file's: where
# a formula follows one of these, it gets an apostrophe there, and the cell one at its start.
_FORMULA = re.compile(r"'*[=+\-@\t\r\[＝＋－＠]")
_INSIDE = re.compile(r"""(?<=[,;|\t\r\n])(?=["']*[=+\-@＝＋－＠])""")
_MARKED_INSIDE = re.compile(r"""(?<=[,;|\t\r\n])'(?=["']*[=+\-@＝＋－＠])""")
_INSIDE_LIST = re.compile(r"""(?<=[,;|])(["'\\]*)([=+\-@＝＋－＠])""")


class PlainCell(str):
    """A cell of CSV that had a mark: a text, even if it begins with a bracket."""

    __slots__ = ()


def marked(cell: str) -> str:
    """Return a cell of CSV that no spreadsheet runs as a formula, whatever separator it splits at.

    >>> marked("=1+1"), marked("'=1+1"), marked("it's"), marked("a;=1+1")
    ("'=1+1", "''=1+1", "it's", "'a;'=1+1")
    """
    if _INSIDE.search(cell):
        return "'" + _INSIDE.sub("'", cell)
    return f"'{cell}" if _FORMULA.match(cell) else cell


def marked_list(values: list) -> str:
    r"""Return a list as a cell of CSV: JSON, in which what a spreadsheet might run as a formula is escaped.

    >>> marked_list(["a;=1+1", "-1"])
    '["a;\\u003d1+1", "-1"]'
    """
    text = json.dumps(values, ensure_ascii=False)
    return _INSIDE_LIST.sub(lambda match: f"{match[1]}\\u{ord(match[2]):04x}", text)


# Columns of the files that verbs write. Cells of their CSV have marks; elsewhere an apostrophe is a part of the text.
SCORED_COLUMNS = frozenset({"file", "line", "id", "system"})
WRITTEN = (SCORED_COLUMNS, frozenset({"id", "mean_of_all"}))


def without_mark(cell: str) -> str:
    """Return the cell from which `marked` made this one.

    >>> without_mark("'=1+1"), without_mark("''=1+1"), without_mark("'quoted'"), without_mark("'a;'=1+1")
    ('=1+1', "'=1+1", "'quoted'", 'a;=1+1')
    """
    if cell[:1] == "'" and _MARKED_INSIDE.search(cell):
        return PlainCell(_MARKED_INSIDE.sub("", cell[1:]))
    return PlainCell(cell[1:]) if cell[:1] == "'" and _FORMULA.match(cell) else cell


_OPTION_COLUMN = re.compile(r"([A-J])|(?i:(?:option|choice|answer|op)[ _]?([a-j]))|(?i:option|choice)[ _]?(\d)")
MAX_NAMES = 30  # of columns in a message

# How a labelled answer was sampled, as `label` writes it; the prefix keeps other columns from being read as these.
SAMPLING_PROBABILITY = "genqa_probability"  # with which the answer was drawn
PLANNED_LABELS = "genqa_planned"  # number of labels that its system was to get
STOPPED_BY = "genqa_until"  # the rule of `label --until` by which labelling stopped, and the seed of the order

# Per role: our own names, then what data sets and tools call such a column, the plainest first. A column of another
# name than ours is read with a note.
_ROLES = (
    "question", "context", "prediction", "references", "aliases", "contexts", "options", "system", "id", "score",
    "label", "probability",
)  # fmt: skip
OWN_NAMES = {role: (role,) for role in _ROLES} | {
    "prediction": ("prediction", "candidate", "predictions"),
    "references": ("references", "reference"),
    "aliases": (),
    "contexts": ("contexts", "retrieved_contexts", "retrieval_context", "retrieved_context", "passage"),
    "probability": (SAMPLING_PROBABILITY,),
    "options": ("choices", "options", "endings"),
}
_OTHER_NAMES = {
    "question": (
        "query", "user_input", "prompt", "input", "instruction", "problem", "asked", "question_text", "question_stem",
    ),
    "prediction": (
        "response", "model_answer", "model_response", "model_output", "predicted_answer", "system_answer",
        "generated_answer", "generated", "generation", "completion", "hypothesis", "pred", "candidates", "output",
    ),
    "references": (
        "expected", "expected_answer", "expected_answers", "expected_output", "correct_answer", "correct_answers",
        "accepted_answer", "accepted_answers", "reference_answer", "reference_answers", "gold_answer", "gold_answers",
        "golden_answer", "golden_answers", "ground_truth", "ground_truths", "gold", "golds", "target", "targets",
        "ideal", "true_answer", "right_answer", "possible_answers", "valid_answers", "acceptable_answers",
        "answer_key", "answerkey",
    ),
    # Further right answers, beside the references; all such columns are read.
    "aliases": (
        "answer_aliases", "aliases", "reference_aliases", "answers_aliases", "alternative_answers",
        "alternative_answer", "alternate_answers", "alternatives", "alternative_references", "alt_answers",
        "alt_answer", "alt_ans", "alt_refs", "also_correct", "also_accepted", "also_accept", "additional_answers",
        "additional_references", "other_answers", "other_correct_answers", "extra_answers", "answer_variants",
        "answer_synonyms", "accepted_answers", "acceptable_answers", "accepted_aliases", "correct_answers",
        "valid_answers", "possible_answers",
    ),
    "contexts": ("retrieved_passages", "retrieved_documents", "passages", "documents"),
    "id": ("_id", "qid", "question_id", "questionid", "query_id", "example_id", "task_id", "custom_id"),
}  # fmt: skip
COLUMNS = {role: names + _OTHER_NAMES.get(role, ()) for role, names in OWN_NAMES.items()}
# Right where another column has the system's answer, and the system's where another one has what is right.
EITHER = ("answers", "final_answer", "answer")
# Which of the options is right: only where a row has options.
KEYS = (
    "answer_idx", "answer_index", "answer_id", "answer_letter", "answer_label", "correct_option", "correct_choice",
    "correct_idx", "correct_index", "correctindex", "correctoption", "answerindex", "correct", "gold_idx",
    "gold_index", "cop",
)  # fmt: skip
CHATS = ("messages", "conversations", "conversation", "dialogue", "dialog", "chat")  # the question and its answer


@lru_cache(maxsize=256)
def recognized(names: tuple[str, ...]) -> Mapping[str, str]:
    """Return {role: column} for the roles of `COLUMNS` whose column is recognized by its name.

    Case, and blanks or hyphens for underscores, do not count; a name that is spelled exactly so comes first.

    >>> dict(recognized(("Question", "Answer", "Expected")))
    {'question': 'Question', 'references': 'Expected', 'prediction': 'Answer'}
    >>> dict(recognized(("question", "model_answer", "answer")))
    {'question': 'question', 'prediction': 'model_answer', 'references': 'answer'}
    >>> dict(recognized(("question", "answer", "contexts")))
    {'question': 'question', 'contexts': 'contexts', 'prediction': 'answer'}
    >>> dict(recognized(("question", "answer", "label")))
    {'question': 'question', 'label': 'label', 'prediction': 'answer'}
    """
    plain = {plain_name(name): name for name in reversed(names)}
    roles: dict[str, str] = {}

    def take(role: str, known: Iterable[str]) -> None:
        free = [name for name in known if name in plain and plain[name] not in roles.values()]
        if role not in roles and free:
            roles[role] = next((name for name in free if name in names), plain[free[0]])

    for role, known in (*OWN_NAMES.items(), *_OTHER_NAMES.items()):
        take(role, known)
    if "references" not in roles and "prediction" not in roles:
        take("references", ("answers",))
    if "prediction" in roles:
        if plain_name(roles.get("references", "")) in _OTHER_NAMES["aliases"]:
            first = next((plain[name] for name in EITHER if name in plain), None)
            roles |= {"references": first} if first not in (None, *roles.values()) else {}
        take("references", EITHER)
    elif {"references", "contexts", "label"} & roles.keys():
        take("prediction", ("answer", "final_answer"))
    if "options" in roles or option_columns(names):
        take("references", KEYS)
        if "references" not in roles and "label" in roles:  # then it says which option is right
            roles["references"] = roles.pop("label")
    if chat := next((plain[name] for name in CHATS if name in plain and plain[name] not in roles.values()), None):
        roles = {"question": chat, "prediction": chat} | roles
    return roles


def option_columns(names: Iterable[str]) -> dict[str, str]:
    """Return {label: column} where options have a column each: A, B, C ...; option_a ..., opa ..., choice1 ....

    >>> option_columns(["Question", "A", "B", "C", "Answer"]), option_columns(["choice1", "choice2"])
    ({'A': 'A', 'B': 'B', 'C': 'C'}, {'1': 'choice1', '2': 'choice2'})
    >>> option_columns(["A", "B", "Answer"])
    {}
    """
    by_mark: dict[str, str] = {}
    for name in names:
        if match := _OPTION_COLUMN.fullmatch(name.strip()):
            by_mark.setdefault((match[1] or match[2] or match[3]).upper(), name)
    for marks in ("ABCDEFGHIJ", "123456789", "0123456789"):
        columns = {mark: by_mark[mark] for mark in takewhile(by_mark.__contains__, marks)}
        if len(columns) > 2 or (len(columns) == 2 and len(next(iter(columns.values()))) > 1):  # not systems A and B
            return columns
    return {}


def likely(role: str, names: Iterable[str]) -> str:
    """Return the column that probably has a role, for a hint; "NAME" where no column has a usual name.

    >>> likely("prediction", ["question", "Answer"])
    'Answer'
    """
    either = EITHER if role in ("prediction", "references") else ()
    return next((name for name in names if plain_name(name) in (*COLUMNS[role], *either)), "NAME")
