"""Judges rows: what a judge reads of them, what is compared exactly before the model, and each distinct triple once.

A rule takes a wrapper off, or compares two texts exactly. What the model reads, the model decides: no rule makes an
answer right or wrong because of how it is phrased. References are ordered; triples go in batches of a token budget.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, pairwise
from typing import Any
from unicodedata import numeric

import numpy as np

from ..core.answers import declines, extract_answer, has_no_answer, without_retracted
from ..core.judge_model import LINEAR, PROMPT, JudgeReader
from ..core.reading import COMMON, passage, readable, readable_answer
from ..core.words import NUMBER_WORD, NUMBER_WORDS, SCALES, keys, value_of_words, words

# What is read: a text without wrappers and without what it takes back, an option's text for its letter, a passage of a
# long answer. What is compared before the model: letters, plain numbers, and whether an answer declines where the
# question has no answer.
READING = ("answer", "retraction", "option", "passage")
EXACT = ("identity", "number", "no_answer")
NO_ANSWER = "unanswerable"  # how a model reads that a question has no answer


@dataclass(frozen=True)
class Verdict:
    """Verdict of an exact comparison of an answer and a reference: right or wrong, and the rule, one of `EXACT`."""

    right: bool
    rule: str


@dataclass(frozen=True)
class Row:
    """The texts of a row as a judge reads them, with the verdicts of exact comparisons."""

    question: str
    references: list[str]  # of an option's letter its text, or `NO_ANSWER`
    answer: str  # without wrapping
    verdicts: list[Verdict | None]  # per reference what an exact comparison says, None where the model decides

    @property
    def is_reference(self) -> bool:
        """Whether the answer is a reference itself, such as "%"."""
        return any(verdict is not None and verdict.right for verdict in self.verdicts)


@dataclass(frozen=True)
class Rules:
    """Which rules a judge applies; none of them, as in the paper, with `Rules(())`."""

    names: tuple[str, ...] = READING + EXACT

    def __str__(self) -> str:
        """Return the rules by name, for a signature.

        >>> str(Rules()), str(Rules(()))
        ('answer+retraction+option+passage+identity+number+no_answer', 'none')
        """
        return "+".join(self.names) or "none"

    def read(self, question: str, references: Sequence[str], output: str) -> Row:
        """Return a row as a judge reads it; see `rows`."""
        return self.rows([question], [references], [output])[0]

    def rows(self, questions: Sequence[str], references: Sequence[Sequence[str]], outputs: Sequence[str]) -> list[Row]:
        """Return rows as a judge reads them, with the verdicts of exact comparisons."""
        shown = _of_each(readable, references)
        questions, answers = list(map(readable, questions)), list(map(readable, outputs))
        accepted = [[shown[text] or text for text in texts] for texts in references]
        if "answer" in self.names:
            extracted, outputs = _of_each(extract_answer, accepted), list(map(extract_answer, outputs))
            unwrapped = [[extracted[text] for text in texts] for texts in accepted]
            rows = [i for i, texts in enumerate(unwrapped) if all(texts)]  # a reference can be a call of a tool
            read = map(readable_answer, *([column[i] for i in rows] for column in (outputs, unwrapped)))
            for i, answer in zip(rows, read, strict=True):
                accepted[i], answers[i] = unwrapped[i], answer
        if "retraction" in self.names:
            rows = zip(questions, accepted, answers, strict=True)
            answers = [text if text in texts else without_retracted(text, question) for question, texts, text in rows]
        for i, letters in enumerate(map(options, questions) if "option" in self.names else ()):
            if letters:
                accepted[i] = [with_option(text, letters) for text in accepted[i]]
                answers[i] = with_option(answers[i], letters)
        if "no_answer" in self.names:
            is_none = _of_each(has_no_answer, accepted)
            accepted = [[NO_ANSWER if is_none[text] else text for text in texts] for texts in accepted]
        return [
            Row(question, texts, answer, [self._verdict(question, text, answer) for text in texts])
            for question, texts, answer in zip(questions, accepted, answers, strict=True)
        ]

    def _verdict(self, question: str, reference: str, answer: str) -> Verdict | None:
        """Return the verdict of the first exact comparison that decides on an answer and a reference; else None."""
        comparisons = {
            "identity": lambda: identical(reference, answer, question),
            "number": lambda: same_number(reference, answer, question),
            "no_answer": lambda: (reference == NO_ANSWER and declines(answer)) or None,
        }
        verdicts = ((comparisons[rule](), rule) for rule in EXACT if rule in self.names)
        return next((Verdict(right, rule) for right, rule in verdicts if right is not None), None)


def _of_each(function: Callable[[str], Any], rows: Iterable[Sequence[str]]) -> dict[str, Any]:
    """Return {text: function(text)} of all texts in rows; each different text is computed once."""
    texts = dict.fromkeys(chain.from_iterable(rows))
    return dict(zip(texts, map(function, texts), strict=True))


_OPTION = re.compile(r"(?m)^[ \t]*\(?([A-J])[).:][ \t]+(\S.*?)[ \t]{0,9}$")
_INLINE = re.compile(r"(?<!\w)\(?([A-J])[).:][ \t]*(\S.*?)(?=[\s,;]{0,9}(?<!\w)\(?[A-J][).:][ \t]|[\n?]|\Z)")
_LETTER = re.compile(
    r"(?i:(?:option|choice|letter|选项?)\s*)?[\[(]{0,2}([A-J]|[a-j](?=\W*\Z))[\])]{0,2}"
    r"(?:(?P<mark>[.:,、，：。)]+)\s*|(?=\s+(?:because|since|as|is)\b)|\s*\Z)"
)
_LETTERS = re.compile(r"\(?[A-J]\)?(?:(?![A-J(])\s*+(?:(?:,|and|&|/)\s*+)?\(?[A-J]\)?)+|[A-J]{2,4}")


def options(question: str) -> dict[str, str]:
    r"""Return the options that a question lists, by their letters.

    >>> options("Which is red?\nA. Mars\nB. Venus"), options("Which is red? (A) Mars (B) Venus"), options("Who?")
    ({'A': 'Mars', 'B': 'Venus'}, {'A': 'Mars', 'B': 'Venus'}, {})
    """
    for pattern in (_OPTION, _INLINE):
        result = {letter: text.strip() for letter, text in pattern.findall(question)}
        if len(result) > 1 and list(result) == [chr(ord("A") + i) for i in range(len(result))]:
            return result
    return {}


def with_option(text: str, letters: dict[str, str]) -> str:
    """Return a text with the texts of options in place of the letters by which it chooses them.

    >>> metals = {"A": "Iron", "B": "Mercury", "C": "Tin"}
    >>> [with_option(text, metals) for text in ("b", "(B) Mercury", "B because it flows", "C and A", "A metal")]
    ['Mercury', 'Mercury', 'Mercury', 'Iron, Tin', 'A metal']
    """
    bare = text.strip()
    if _LETTERS.fullmatch(bare) and not {*re.findall("[A-J]", bare)} - letters.keys():
        return ", ".join(letters[letter] for letter in sorted({*re.findall("[A-J]", bare)}))
    match = _LETTER.match(bare)
    if not match or match[1].upper() not in letters:
        return text
    option, rest = letters[match[1].upper()], bare[match.end() :]
    if rest.casefold().startswith(option.casefold()):
        rest, match = rest[len(option) :], None
    if re.fullmatch(r"(?i)[\s,]*(?:because|since|as|for)\b[^.!?\n]*\.?", rest):
        return option  # the reason is no part of it
    return f"{option}{rest}" if match is None else f"{option}{match['mark'] or ''} {rest}".strip() if rest else option


# --- exact comparisons ------------------------------------------------------------------------------------------
#
# A plain number is one number and at most a few words that name its unit: digits, also in groups of thousands, or
# number words. Versions (3.10), codes (02134), clauses (2.1.4), scores (3-2), brackets ((412)) and what stands behind
# a bullet ("- 1912") are none. Numbers with other units are not compared.

_LONGEST = 400  # characters of a number
_YEARS = 2_100  # whole numbers up to this one are never taken for rounded
_NEAR = Fraction(1, 20)  # relative difference that rounding explains
_QUOTES = "\"'“”‘’«»`"
_SAME_SIGNS = str.maketrans(
    {"≥": ">=", "≤": "<=", "≠": "!=", "−": "-", "–": "-", "×": "*", "·": "*", "’": "'", "\u2009": " ", "\u202f": " "}
    | dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-", strict=True))
)
_SUPERSCRIPT = re.compile("[⁰¹²³⁴-⁹⁺⁻]+")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
# Signs that change what letters and digits say, unlike punctuation: \d and \D, C++, A-, x += 1, a && b, 10^6, !ready.
_OPERATOR = re.compile(
    r"\\[dDsSwWbBntr](?![^\W_])|[-+*/<>!=]=+|&&|\|\||±|(?<=[^\W\d])\+\+?\Z|(?<=\w)\+(?=\w)|(?<=\b[A-Z])[-#]\Z|(?<=\b[A-Z]{2})-\Z"
    r"|(?<=\s)[+*/<>](?=\s)|[<>](?=\d)|(?<=\w)[*](?=\w)|(?<=\d)\^(?=\d)|(?<![\w!?])!(?=\w)|(?<=\s)-[A-Za-z](?!\w)"
)
# Plain words, of which only short ones and code depend on capitals: Paris and PARIS, but not mW, None or getName.
_WORDS = re.compile(r"(?=.{5})(?:(?:[^\W\d_A-Z]+|[A-Z][^\W\d_A-Z]+|[A-Z]+)(?:[ ,.']+(?!\Z)|-|\Z))+")
# Addresses, files and paths, which are other ones if a letter differs.
_ADDRESS = re.compile(
    r"(?:mailto:|https?://(?:www\.)?|www\.)?([\w.+-]+@[\w.-]+|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,5}(?:/\S*)?|/\S+)"
)
_VERSION = re.compile(
    r"((?:(?!(?:About|Around|Roughly|Nearly|Some) )[A-Z][A-Za-z]+ |[Vv](?:ersion )?|[Ss]ection |§ ?)?)(\d+(?:\.\d+)+)"
)
_ASKS_VERSION = re.compile(r"(?i)\b(?:version|release|section|chapter|clause|paragraph|article|build|edition)\b")


def _plain(text: str) -> str:
    """Return a text with one form of signs and blanks, without quotes and the full stop of a sentence around it.

    >>> _plain('"Paris."'), _plain("C++."), _plain("..."), _plain("O(n²)"), _plain("H₂O"), _plain("x ≥ 5")
    ('Paris', 'C++', '...', 'O(n^2)', 'H2O', 'x >= 5')
    """
    text = _SUPERSCRIPT.sub(lambda power: f"^{power[0].translate(_RAISED)}", text.translate(_SAME_SIGNS))
    text = " ".join(text.replace("+/-", "±").replace("\\pm", "±").replace("± ", "±").split())
    text = re.sub(rf"(?<=[^.\s{_QUOTES}])[{_QUOTES}]*\.[{_QUOTES}]*\Z", "", text)
    inner = text if re.match(r"['’]\d\d\b", text) else text.strip(_QUOTES)  # '74
    return inner if any(map(str.isalnum, inner)) else text


def identical(reference: str, answer: str, question: str = "") -> bool | None:
    r"""Return whether an answer is a reference letter for letter; None where that does not settle it.

    Case counts in code and short words, symbols everywhere: "c++" is left to the model. The same letters with another
    operator, another address, and another version are wrong.

    >>> identical("Paris", '"Paris".'), identical("C++", "C"), identical(r"\\d+", r"\\D+"), identical("n²", "n^2")
    (True, False, False, True)
    >>> identical("Paris", "paris"), identical("MW", "mW"), identical("x + 1", "x+1"), identical("==", "=")
    (True, None, None, False)
    >>> identical("a@b.org", "a@b.com"), identical("Go 1.10", "Go 1.1"), identical("3.10", "3.1", "Which version?")
    (False, False, False)
    """
    first, second = _plain(reference), _plain(answer)
    if first == second:
        return True
    if first.casefold() == second.casefold() and _WORDS.fullmatch(first) and _WORDS.fullmatch(second):
        return True
    address, other = _ADDRESS.fullmatch(first), _ADDRESS.fullmatch(second)
    if address and other:
        return address[1].rstrip("/").casefold() == other[1].rstrip("/").casefold()
    version, other = _VERSION.fullmatch(first), _VERSION.fullmatch(second)
    if version and other and (version[1] == other[1] or not (version[1] and other[1])):
        is_version = version[1] or other[1] or version[2].count(".") > 1 or _ASKS_VERSION.search(question)
        return version[2] == other[2] if is_version else None
    letters = ("".join(filter(str.isalnum, text)).casefold() for text in (first, second))
    if len(set(letters)) > 1:
        return None
    return None if _OPERATOR.findall(first) == _OPERATOR.findall(second) else False


_MONEY = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yen", "₹": "rupee"}
_SCALES = SCALES | {"k": 10**3, "mn": 10**6, "bn": 10**9, "M": 10**6}
_SCALE = "thousand|million|billion|trillion"
_NUMBER = re.compile(
    rf"(?P<sign>[-+](?=[\d$€£¥₹])|(?:[Mm]inus|[Nn]egative) )?(?P<money>[$€£¥₹] ?)?"
    r"(?:(?P<whole>\d{1,3}(?:,\d{3})+|\d{1,3}(?: \d{3})+|\d{1,3}(?:'\d{3})+|\d{1,3}(?:\.\d{3}){2,}|\d+|(?=[½⅓⅔¼¾⅛]))"
    r"(?:\.(?P<decimals>\d+))?(?:(?: ?\* ?10\^|[eE])(?P<power>[-+]?\d{1,2}))?(?P<part>[½⅓⅔¼¾⅛])?"
    rf"|(?P<words>(?i:(?:an? (?=hundred|{_SCALE}))?(?:{NUMBER_WORD})\b(?:(?:[ -]| and )(?:{NUMBER_WORD})\b)*)))"
    rf"(?: ?(?P<scale>(?i:{_SCALE})|k|mn|bn|M(?=\Z))\b)?(?:[ -]?(?P<unit>[^\W\d_]\S*(?: \S+){{0,2}}|[%°]\S*))?"
)
_NO_UNIT = re.compile(rf"(?i)[\d:;]|\b(?:{NUMBER_WORD}|half|quarters?|dozen|not|or|to|and)\b")
_LETTER_SIZES = frozenset("W Wh V A Hz J Pa N Ω".split())  # units with both m (milli) and M (mega)
_ROUGHLY = re.compile(r"(?i)\b(?:about|roughly|approximate(?:ly)?|around|estimated?|thousands|millions|billions)\b")


@dataclass(frozen=True)
class _Number:
    amount: Fraction
    step: Fraction  # place value of its last digit that is sure to count
    unit: str


def _number(text: str) -> _Number | None:
    """Return a text as a plain number; None if it is none.

    >>> [float(_number(text).amount) for text in ("1,234.5", "$1.2 million", "ten jars", "-3 %", "10^6", "1½")]
    [1234.5, 1200000.0, 10.0, -3.0, 1000000.0, 1.5]
    >>> [_number(text) for text in ("3.10", "02134", "- 1912", "(412)", "3-2", "1.500", "nineteen eighty-four", "'74")]
    [None, None, None, None, None, None, None, None]
    """
    text = re.sub(r"\A10\^", "1 * 10^", text)
    match = _NUMBER.fullmatch(text) if len(text) <= _LONGEST else None
    if not match or _NO_UNIT.search(match["unit"] or ""):
        return None
    unit, money = _unit(match["unit"] or ""), (match["money"] or "").strip()
    if (money and unit) or (match["scale"] == "M" and not money):
        return None
    unit = _MONEY.get(money, unit)
    step, decimals = Fraction(1), match["decimals"] or ""
    if match["words"]:
        words = match["words"].lower()
        small = [NUMBER_WORDS.get(word, 100) for word in re.findall("[a-z]{3,}", words) if word != "and"]
        if any(not a >= 20 > 10 > b for a, b in pairwise(small) if 100 not in (a, b)):
            return None
        amount = Fraction(value_of_words(re.sub(r"\Aan? ", "", words)))
    else:
        digits = re.sub(r"\D", "", match["whole"])
        is_code = len(digits) > 1 and digits[0] == "0"
        is_version = decimals.endswith("0") and not (money or unit == "%")
        is_either = len(decimals) == 3 and digits == match["whole"] != "0" and len(digits) <= 3  # 1.500 or 1500
        if is_code or is_version or is_either or (decimals and "." in match["whole"]):
            return None
        factor = Fraction(10) ** int(match["power"] or 0)
        amount, step = Fraction(f"{digits or 0}.{decimals or 0}") * factor, factor / 10 ** len(decimals)
        amount += Fraction(numeric(match["part"])).limit_denominator(9) if match["part"] else 0
    scale = match["scale"] or ""
    factor = _SCALES.get(scale, _SCALES.get(scale.lower(), 1))
    amount, step = amount * factor, step * factor
    if amount > _YEARS and amount % 1000 == 0 and step < 1000:
        step = Fraction(10 ** (len(str(int(amount))) - len(str(int(amount)).rstrip("0"))))
    if scale or match["power"]:
        step = max(step, 2 * _NEAR * amount)
    return _Number(-amount if (match["sign"] or "+") != "+" else amount, step, unit)


def _unit(text: str) -> str:
    """Return a unit, in small letters and the singular where it is a word.

    >>> [_unit(text) for text in ("per cent", "Jars", "mW", "km/h")]
    ['%', 'jar', 'mW', 'km/h']
    """
    if text.lower() in ("percent", "per cent"):
        return "%"
    return re.sub(r"(?<=[a-rt-z])s\b", "", text.lower()) if re.fullmatch(r"[^\W\d_]{4,}(?: .+)?", text) else text


def same_number(reference: str, answer: str, question: str = "") -> bool | None:
    """Return whether two texts are one plain number with one unit; None where either is none, or one may be rounded.

    >>> same_number("1,000", "1000"), same_number("24 months", "25 months"), same_number("twelve", "12")
    (True, False, True)
    >>> same_number("5 km", "5 miles"), same_number("3.14", "3.1416"), same_number("5 MW", "5 mW")
    (None, None, False)
    """
    first, second = _number(_plain(reference)), _number(_plain(answer))
    if first is None or second is None:
        return None
    if first.unit != second.unit:
        is_other_size = {first.unit[:1], second.unit[:1]} == {"m", "M"} and first.unit[1:] == second.unit[1:]
        return False if is_other_size and first.unit[1:] in _LETTER_SIZES else None
    if first.amount == second.amount:
        return True
    gap, step = abs(first.amount - second.amount), max(first.step, second.step)
    is_rounded = 2 * gap <= step and gap <= _NEAR * abs(first.amount)
    return None if is_rounded or _ROUGHLY.search(question) else False


# --- judging ----------------------------------------------------------------------------------------------------

CERTAIN = 8.0  # logit of an answer that a rule decides; see `Judge.pairs`
READING_VERSION = 3  # of the rules that prepare texts for the model; a part of signatures
LONG_REFERENCE = 20  # a longer one of several references is read only if it shares a word with the answer
SEPARATOR = "; "  # between references that are read together


def joined_references(references: Sequence[str], candidate: str) -> str:
    """Return the different references as one text, joined by "; ", the most similar to the candidate first.

    A model reads only the start of a long list, and the reference that decides should be in it. References that the
    candidate contains word for word come first, then by the share of their words in the candidate.

    >>> joined_references(["CA", "California", "california"], "It is in California.")
    'California; CA'
    """
    if len(references) == 1:
        return references[0]
    spoken, ranked = words(candidate), {}
    for reference in references:
        reference_keys = words(reference)
        key = " ".join(reference_keys) or reference
        if key not in ranked:
            inside = reference_keys and f" {' '.join(reference_keys)} " in f" {' '.join(spoken)} "
            share = sum(word in spoken for word in reference_keys) / max(1, len(reference_keys))
            ranked[key] = (not inside, -share, len(ranked), reference)
    return SEPARATOR.join(reference for *_, reference in sorted(ranked.values()))


def read_references(row: Row, joined: bool, best: bool) -> list[tuple[tuple[str, ...], bool | None]]:
    """Return [(references that are read together, verdict)] of a row: True or False by a rule, None for the model.

    With `joined` all references that no rule rejects are one entry. With `best` the first reference that a rule
    accepts is the only entry.
    """
    verdicts = {}
    for text, verdict in zip(row.references, row.verdicts, strict=True):
        verdicts[text] = None if verdict is None else verdict.right
    if joined:
        left = [text for text, right in verdicts.items() if right is None]
        right = True if True in verdicts.values() else None if left else False
        return [(tuple(left or verdicts), right)]
    if best and True in verdicts.values():
        return [((next(text for text, right in verdicts.items() if right),), True)]
    pairs = [((text,), right) for text, right in verdicts.items()]
    return [pair for pair in pairs if pair[1] is not None or _is_relevant(pair[0][0], row)] or pairs


def _is_relevant(reference: str, row: Row) -> bool:
    """Return whether a reference can make an answer right; a judge may accept long references on other subjects."""
    if len(reference.split()) <= LONG_REFERENCE:
        return True
    content = " ".join(word for word in words(row.answer) if word not in COMMON)
    new = set(keys(content)) - set(keys(row.question))
    return not new or bool(new & set(keys(reference)))


def default_rules(loaded, quantity_guard: bool = True) -> Rules:
    """Return the rules applied before a judge; judges that read a prompt get answers whole, retractions included."""
    names = ("answer", "option", *EXACT) if loaded.configuration == PROMPT else READING + EXACT
    return Rules(tuple(name for name in names if quantity_guard or name != "number"))


class Judge(JudgeReader):
    """Computes the probability that a candidate is correct; `cut_rows` are rows of one call with cut text."""

    def __init__(self, loaded, batch_tokens: int = 4096, rules: Rules | None = None):
        super().__init__(loaded, batch_tokens)
        self.rules = rules or default_rules(loaded)
        self.cut_rows: set[int] = set()

    def probabilities(
        self,
        questions: Sequence[str],
        references: Sequence[Sequence[str]],
        predictions: Sequence[str],
        reference_aggregation: str | None = None,
        short_answers: Sequence[str] | None = None,
    ) -> np.ndarray:
        """Return (n,) calibrated probabilities that answers are correct; 0 without letters, unless it is a reference.

        "joined" reads all references of a row at once, "max" and "mean" one at a time; None is the checkpoint's own.
        Only the linear judge reads short answers.
        """
        how = reference_aggregation or self.loaded.reference_aggregation
        logits, rows = self.pairs(questions, references, predictions, how == "joined", how == "max", short_answers)
        return aggregated(self.loaded.calibrated(logits), rows, len(predictions), how)

    def pairs(
        self,
        questions: Sequence[str],
        references: Sequence[Sequence[str]],
        predictions: Sequence[str],
        joined: bool,
        best: bool = False,
        short_answers: Sequence[str] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return (pairs,) logits, one for each row and reference that are read together, and (pairs,) numbers of rows.

        No model is needed where answer and reference are the same text, or are both a plain number: these are compared
        exactly, see `Rules`. For `joined` and `best` see `read_references`.
        """
        rows, triples, asked, logits = [], [], [], []
        short = short_answers if short_answers is not None and self.loaded.configuration == LINEAR else None
        whole, lengths = self.loaded.configuration == PROMPT, (self.loaded.long_answer, self.loaded.passage)
        read = self.rules.rows(questions, references, predictions)
        answers = [row.answer for row in read]
        if "passage" in self.rules.names and not whole:
            answers = [passage(row.answer, row.question, row.references, keys, *lengths) for row in read]
        for i, (row, answer) in enumerate(zip(read, answers, strict=True)):
            if not row.answer.strip() or not (row.is_reference or any(map(str.isalnum, row.answer))):
                continue
            for texts, right in read_references(row, joined, best):
                if right is None:
                    asked.append(len(rows))
                logits.append(CERTAIN if right else -CERTAIN)
                text = texts if whole else joined_references(texts, answer)
                triples.append((row.question, text, answer, *([short[i] or None] if short else [])))
                rows.append(i)
        logits = np.array(logits)
        if asked:
            logits[asked] = self.logits([triples[number] for number in asked])
        self.cut_rows.update(row for row, triple in zip(rows, triples, strict=True) if triple in self.cut)
        return logits, np.array(rows, dtype=int)


def aggregated(probabilities: np.ndarray, rows: np.ndarray, count: int, how: str) -> np.ndarray:
    """Return (count,) probabilities: "max" or "mean" (the paper's) over the pairs of each row, 0 without pairs.

    >>> aggregated(np.array([0.2, 0.6, 0.5]), np.array([0, 0, 2]), 3, "mean")
    array([0.4, 0. , 0.5])
    """
    out = np.zeros(count)
    if how == "mean":
        np.add.at(out, rows, probabilities)
        return out / np.maximum(1, np.bincount(rows, minlength=count))
    np.maximum.at(out, rows, probabilities)
    return out
