"""What a text that is one quantity and no more can mean: a number with a unit, a change, a range, arithmetic."""

import ast
import operator
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import pi, sqrt

from .dates import clocks, dates
from .numbers_with_units import LONGEST, RELATION, has_end, numbers
from .quantities import CURRENCIES, FACTORS, MORE_SCALES, NUMBER_WORDS, ROMAN, value_of_ordinal
from .quantity import Quantity, same

LONGEST_TEXT = 120  # characters of a quantity that is not a number in digits
MOST_WORDS = 20


@lru_cache(2**14)
def readings(text: str) -> tuple[Quantity, ...]:
    r"""Return what a text can mean that is one quantity and no more; nothing of any other text.

    >>> [(q.kind, q.value) for q in readings("$1.2 million")], readings("12 of them and 3 more")
    ([('dollars', Fraction(1200000, 1))], ())
    >>> [q.value for q in readings("1.500")], [q.value for q in readings("12th of May 1894")]
    ([Fraction(3, 2), Fraction(1500, 1)], [(1894, 1894, 5, 12)])
    """
    longest = LONGEST if re.fullmatch(r"\W?[\d\s.,]+", text) else LONGEST_TEXT
    if len(text) > longest or not 0 < len(text.split()) <= MOST_WORDS or re.match(r"\W*['’]\d\d\W*\Z", text):  # '74
        return ()
    written = re.sub(r"(?<=\d)D\Z", " dimensions", re.sub(r"(?<=\d) ?M\b", " million", _plain(text)))
    try:
        return tuple(dict.fromkeys(_read(written.lower(), written)))
    except (OverflowError, ValueError, ZeroDivisionError):
        return ()


_SIGNS = str.maketrans({"−": "-", "–": "-", "—": "-", "\xa0": " ", "\u2009": " ", "\u202f": " ", "’": "'", "×": "*"})
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_RELATIONS = {"le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "neq": "≠", "lt": "<", "gt": ">"}
_LATEX = (
    (r"(?<!\\)\$\$?([^$]*(?:\\\$[^$]*)*?)(?<![\s\\])\$\$?(?!\d)", r"\1"),
    (r"\\[()\[\]]|\\(?:left|right)(?![a-z])|\\[,;! ]", ""),
    (r"\\(?:text|mathrm|mathbf|textbf|boxed)\s*\{([^{}]*)\}", r"\1"),
    (r"\\[dtc]?frac\s*(\d)\s*(\d)", r" \1/\2"),
    (r"\\[dtc]?frac\s*\{(-?\w+)\}\s*\{(\w+)\}", r" \1/\2"),
    (r"\\[dtc]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r" (\1)/(\2)"),
    (r"\\sqrt\s*(?:\{([^{}]*)\}|(\d))", r" √(\1\2)"),
    (r"\^\s{0,9}\{?\s{0,9}\\circ\s{0,9}\}?|\\degree", "°"),
    (r"\\(?:times|cdot)", "*"),
    (r"\\pi", " π"),
    (r"\{,\}", ","),
    (r"\\(?=[$%#&])", ""),
)


def _plain(text: str) -> str:
    r"""Return a text without LaTeX, Markdown and the signs around it.

    >>> _plain(r"$\frac{1}{2}$."), _plain(r"\$460"), _plain(r"**90^\circ**"), _plain(r"5\sqrt 2")
    ('1/2', '$460', '90°', '5 √(2)')
    """
    text = re.sub(r"\*\*|__|`", "", text.translate(_SIGNS)).strip()
    text = re.sub(r"(?<=\d) ?['′] ?(\d+) ?[\"”″]", r" ft \1 in", text)
    if "\\" in text or "$" in text:
        for pattern, plain in _LATEX:
            text = re.sub(pattern, plain, text)
        text = re.sub(rf"\\({'|'.join(_RELATIONS)})(?![a-z])", lambda sign: _RELATIONS[sign[1]], text)
    text = re.sub(r"√\s*(\d+)", r"√(\1)", text)
    text = re.sub(r"\^\{([^{}]*)\}", r"^(\1)", text).translate(str.maketrans("{}", "()")) if "^{" in text else text
    text = re.sub(r"(?<=10)[⁰¹²³⁴-⁹⁻]+", lambda power: "^" + power[0].translate(_SUPERSCRIPTS), text)
    text = re.sub(r"\s+", " ", text).strip(" \"'“”!?;:*")
    text = text if re.search(r"(?i)\b(?:[ap]\.m|b\.c|a\.d|c\.e|b\.c\.e)\.$", text) else text.rstrip(".").rstrip()
    return text.removesuffix(",")


_PART = r"[-\d\s+*/x().,]{0,40}"  # of a calculation
_EQUATION = re.compile(rf"(?:[a-z]|{_PART}\d{_PART}?[+*/x-]{_PART}?\d[^=a-z]{{0,40}}) ?= ?([^=]+)")
_BOUND = re.compile(
    r"(?:[a-z] ?)?(?:is )?(?:(?P<more>>|more than|over|above|greater than|larger than|exceeding|in excess of)"
    r"|(?P<least>>=|≥|at least|no (?:less|fewer) than|a minimum of|minimum|min\.)"
    r"|(?P<less><|less than|fewer than|under|below|smaller than)"
    r"|(?P<most><=|≤|at most|up to|no more than|a maximum of|maximum|max\.)"
    r"|(?P<not>!=|≠|not equal to))\s*(?!=)(?=.)"
)
_OR_MORE = re.compile(
    r"(?:,? (?:or|and) (?:(?P<least>older|more|over|above|higher|greater|later|up|upwards)"
    r"|(?P<most>younger|less|fewer|under|below|lower|earlier))|(?<=\d)(?P<plus>\+))$"
)
_BEFORE = re.compile(
    r"(?:(?:in|on|at|by|for|from|since|of|is|was|be|it's|it is|it was|exactly|precisely|just|only|a total of|the year|"
    r"year|the number|number|no\.|equals?|=|#) ?(?=\W|\d|\b))+\s*(?=.)"
)
_ROUND = re.compile(
    r"(?:about|around|roughly|approximately|approx\.?|nearly|almost|circa|ca?\.|some|estimated(?: at)?|close to|~|≈|"
    r"an estimated|or so|give or take)\s*"
)
_AFTER = re.compile(r",? (?:(?P<round>or so|approximately|roughly|or thereabouts)|exactly|in total)$")


def _read(text: str, written: str) -> Sequence[Quantity]:
    """Return the readings of a plain text; `written` is the same text before it was lower-cased."""
    if equation := _EQUATION.fullmatch(text):
        return readings(equation[1])
    if bound := _BOUND.match(text):
        return [replace(reading, bound=bound.lastgroup) for reading in readings(text[bound.end() :])]
    if bound := _OR_MORE.search(text):
        name = "least" if bound["plus"] else bound.lastgroup
        return [replace(reading, bound=name) for reading in readings(text[: bound.start()])]
    tuples = _tuples(text)
    if tuples and (text[0] in "([" or "<" in text or "≤" in text or re.search(r",\s", text)):
        return tuples
    start = before.end() if (before := _BEFORE.match(text)) else 0
    around, after = _ROUND.match(text, start), _AFTER.search(text)
    span = slice(around.end() if around else start, after.start() if after else None)
    text, written = text[span], written[span]
    values = [*dates(text), *clocks(text), *_changes(text)]
    if not any(reading.certain for reading in values):
        values += list(numbers(text)) or list(_ranges(text))
    values = values or [*_named(text, written)] or [*_expressions(text)] or [*_in_two_units(text)]
    is_loose = around or (after and after["round"])
    return [replace(reading, rounded=2 if is_loose else reading.rounded) for reading in values] + tuples


def _tuples(text: str) -> list[Quantity]:
    """Return the interval or vector that a text is: (0, 1), 0 < x < 1."""
    between = re.fullmatch(r"([^<≤]+?) ?([<≤]) ?[a-z] ?\2 ?([^<≤]+)", text)
    inside = re.fullmatch(r"([(\[]?)([^()\[\]]*[,;][^()\[\]]*)([)\]]?)", text)
    if between:
        ends, brackets = [between[1], between[3]], "()" if between[2] == "<" else "[]"
    elif inside and bool(inside[1]) == bool(inside[3]):
        ends, brackets = re.split(r"[;,]", inside[2]), inside[1] + inside[3]
    else:
        return []
    are_numbers = all(re.fullmatch(r" ?-?(?:\d+(?:\.\d+)?|\d+/\d+) ?", end) for end in ends)
    if not are_numbers or not (brackets or " " in text or max(map(len, ends)) == 1):
        return []
    return [Quantity("tuple", tuple(Fraction(end.replace(" ", "")) for end in ends), noun=brackets)]


_CHANGE = re.compile(
    r"(?:(?:it |they )?(?P<before>increased?|rose|rises?|grew|up|gained|decreased?|fell|falls?|dropped|down|declined?|"
    r"shrank|lost) (?:by )?)?(?P<sign>\+|-)?(?P<number>[\d.,]+) ?(?:%|percent|per cent)"
    r" ?(?P<after>increase|rise|growth|more|higher|decrease|fall|drop|decline|less|fewer|lower|loss)?"
)
_DOWN = re.compile(r"decrease|fell|fall|drop|down|decline|shrank|lost|loss|less|fewer|lower")
_FACTOR = re.compile(
    rf"(?:it |they )?(?:has )?(?:a )?(?P<word>{'|'.join(FACTORS)})(?: (?:as (?:much|many|large|big|high|long)"
    r"(?: as (?:before|usual))?|the (?:price|number|amount|size)|in (?:size|number)|increase))?"
    r"|\*? ?(?P<number>[\d.]+) ?(?:x|times|-?fold)(?: (?:as (?:much|many|large|high)|increase|more))?"
    r"|[x*] ?(?P<by>[\d.]+)"
)


def _changes(text: str) -> Iterator[Quantity]:
    """Yield what a text says about a change: doubled, twice as much, 2x, a 100% increase."""
    if match := _FACTOR.fullmatch(text):
        yield Quantity("times", FACTORS[match["word"]] if match["word"] else Fraction(match["number"] or match["by"]))
    change = _CHANGE.fullmatch(text)
    if change and (change["before"] or change["after"] or change["sign"] == "+"):
        share = Fraction(change["number"].replace(",", "")) / 100
        down = _DOWN.search(f"{change['before'] or ''} {change['after'] or ''}")
        yield Quantity("times", 1 - share if down else 1 + share, noun="%")


_RANGE = re.compile(r"between (.+) and (.+)|(?:from )?(.+?) (?:to|until|through) (.+)|(.*\d[a-z%]*) ?- ?([$€£]?\d.*)")


def _ranges(text: str) -> Iterator[Quantity]:
    """Yield the range that a text is: between 5 and 10, 5 to 10 km, 1944-45."""
    match = _RANGE.fullmatch(text)
    if not match:
        return
    first, second = (part for part in match.groups() if part)
    if re.fullmatch(r"[12]\d{3}", first) and re.fullmatch(r"\d\d", second):
        second = first[:2] + second
    ends = ([*dates(part), *clocks(part)] or [n for n in numbers(part) if n.certain] for part in (first, second))
    lows, highs = ends
    if len(lows) != 1 or not highs:
        return
    low, high = lows[0], highs[0]
    if low.kind in CURRENCIES and high.kind == "number":
        high = replace(high, kind=low.kind)
    if low.kind == "number" and high.kind not in ("number", "date", "clock", "ordinal"):
        low = replace(low, kind=high.kind, value=low.value * high.size, size=high.size)
    scale = re.search(r"[ \d](k|thousand|million|billion|trillion|bn|mn)\b", second)
    if scale and not re.search(r"[a-z]", first):
        low = replace(low, value=low.value * MORE_SCALES[scale[1]])
    if low.kind == high.kind and low.noun in ("", high.noun):
        yield Quantity("range", (low, high))


_NAMED = re.compile(
    r"([a-z][\w'.&]*(?:[ -][a-z][\w'.&]*){0,3})[ -](?:the )?([ivxlcdm]+|\d{1,5}(?:\.\d+)?|[a-z]+(?:-[a-z]+)?)"
)


def _named(text: str, written: str) -> Iterator[Quantity]:
    """Yield a Roman numeral, or a name with its number: Apollo 11, Louis XIV, World War Two."""
    if len(written) > 1 and written.isupper() and ROMAN.fullmatch(text):
        yield Quantity("number", Fraction(value_of_ordinal(text)))
        return
    match = _NAMED.fullmatch(text)
    if not match or match[1].split()[0] in NUMBER_WORDS or len(match[1]) < 2 or written.endswith(" one"):
        return  # "one" is a pronoun there
    value = Fraction(match[2]) if match[2][0].isdigit() else value_of_ordinal(match[2])
    name = re.sub(r"^(?:the |king |queen |pope |emperor )+| the$", "", match[1])
    if value is not None and name and not RELATION.search(name):
        yield Quantity("named", Fraction(value), noun=name)


def _in_two_units(text: str) -> Iterator[Quantity]:
    """Yield the readings of one amount that is given twice: 24,901 miles (40,075 km), 5 ft or 152 cm."""
    match = re.fullmatch(r"(.+?)(?:,? or | ?\(|, | ?/ ?| ?= ?)([^()]+?)\)?", text)
    for item, other in product(*map(readings, match.groups())) if match else ():
        is_other_unit = item.kind == other.kind != "number" and item.size != other.size
        if is_other_unit or {item.kind, other.kind} == {"celsius", "fahrenheit"}:
            yield from [item] if same(item, other, "") else []


_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def _expressions(text: str) -> Iterator[Quantity]:
    """Yield the value of arithmetic with roots, powers and π.

    >>> [round(float(q.value), 3) for text in ("5 √(2)", "√(50)", "2^10", "3π", "2*(3+4)") for q in _expressions(text)]
    [7.071, 7.071, 1024.0, 9.425, 14.0]
    """
    if not re.fullmatch(r"[\d\s.+*/^()√π-]{1,60}", text) or not re.search(r"[√π^*(]", text) or "**" in text:
        return
    text = re.sub(r"(?<=[\dπ)]) ?(?=[√π(])", "*", text.replace(" ", ""))
    try:
        tree = ast.parse(text.replace("√", "root").replace("π", "pi").replace("^", "**"), mode="eval")
        value = _evaluated(tree.body)
    except (SyntaxError, RecursionError):
        return
    yield Quantity("number", value, exact=isinstance(value, Fraction) and has_end(value))


def _evaluated(node: ast.expr) -> Fraction | float:
    match node:
        case ast.Constant(value=int() | float()):
            return Fraction(str(node.value))
        case ast.Name(id="pi"):
            return pi
        case ast.UnaryOp(op=ast.USub()):
            return -_evaluated(node.operand)
        case ast.Call(func=ast.Name(id="root"), args=[of]):
            value = sqrt(_evaluated(of))
            return Fraction(int(value)) if value == int(value) else value
        case ast.BinOp(op=ast.Pow()):
            base, power = _evaluated(node.left), _evaluated(node.right)
            is_real = base >= 0 or power == int(power)
            if is_real and abs(power) <= 64 and abs(base) < 10**6:
                return base**power if power == int(power) else float(base) ** float(power)
        case ast.BinOp() if type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](_evaluated(node.left), _evaluated(node.right))
    raise ValueError("not arithmetic")
