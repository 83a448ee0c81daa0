"""Answers in another notation, or one that looks nearly like it: units, LaTeX, money, dates, bounds, weekdays, times.

`notations.toml` has, by family, accepted answers with right and wrong ways to write them. The first of every three
ways trains judges, the others measure them; the numbers and names in them are drawn anew for every row.
"""

import datetime
import random
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from math import gcd
from pathlib import Path

from training.ava.constructed import number_word, ordinal
from training.ava.triples import Triple
from training.ava.wrong_answers import MONTHS

FAMILIES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
TRAINED = 3  # the first of so many ways trains judges
UNITS = (  # unit, its name, smaller unit, its name, how many of these, another unit, its name
    ("kW", "kilowatts", "W", "watts", 1000, "kWh", "kilowatt hours"),
    ("MW", "megawatts", "kW", "kilowatts", 1000, "MWh", "megawatt hours"),
    ("kg", "kilograms", "g", "grams", 1000, "lb", "pounds"),
    ("g", "grams", "mg", "milligrams", 1000, "oz", "ounces"),
    ("km", "kilometres", "m", "metres", 1000, "miles", "miles"),
    ("m", "metres", "cm", "centimetres", 100, "ft", "feet"),
    ("l", "litres", "ml", "millilitres", 1000, "gal", "gallons"),
    ("GB", "gigabytes", "MB", "megabytes", 1000, "Gb", "gigabits"),
    ("V", "volts", "mV", "millivolts", 1000, "A", "amperes"),
    ("h", "hours", "min", "minutes", 60, "d", "days"),
)
CURRENCIES = (  # sign, code, units, hundredths
    ("$", "USD", "dollars", "cents"),
    ("€", "EUR", "euros", "euro cents"),
    ("£", "GBP", "pounds", "pence"),
)
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


def _units(rng: random.Random) -> dict:
    number, other = rng.sample([n for n in range(2, 60) if n % 10], 2)
    big, bigs, small, smalls, factor, unit, units = rng.choice(UNITS)
    fields = {"n": number, "m": other, "n10": 10 * number, "N": number * factor, "N10": number * factor * 10}
    fields |= {"Nc": f"{number * factor:,}", "words": number_word(number), "thousand": factor == 1000 or None}
    return fields | {"big": big, "bigs": bigs, "small": small, "smalls": smalls, "other": unit, "others": units}


def _latex(rng: random.Random) -> dict:
    pairs = [(a, b) for a in range(2, 10) for b in range(3, 14) if gcd(a, b) == 1]
    (a, b), (p, q) = rng.choice(pairs), rng.sample([2, 3, 5, 6, 7, 11, 13, 17, 19], 2)
    n, m = rng.sample(range(3, 12), 2)
    return {"a": a, "b": b, "c": a + b + 1, "p": p, "q": q, "n": n, "m": m}


def _money(rng: random.Random) -> dict:
    (sign, code, units, cents), (osign, ocode, others, _) = rng.sample(CURRENCIES, 2)
    number, other = rng.sample([n for n in range(3, 90) if n % 10], 2)
    fields = {"sign": sign, "code": code, "units": units, "cents": cents, "osign": osign, "ocode": ocode}
    fields |= {"others": others, "n": number, "m": other, "n10": 10 * number, "cc": rng.randrange(11, 99)}
    return fields | {"words": number_word(number)}


def _dates(rng: random.Random) -> dict:
    date = datetime.date(1800, 1, 1) + datetime.timedelta(days=rng.randrange(80_000))
    other = date.replace(day=date.day % 28 + 1, month=date.month % 12 + 1, year=date.year + rng.choice([-10, -1, 1]))
    quarter, decade = rng.randrange(1, 5), date.year // 10 * 10
    fields = {"day": date.day, "oday": other.day, "th": ordinal(date.day), "iso": date.isoformat()}
    fields |= {"isoday": date.replace(day=other.day, month=2).isoformat(), "monthnumber": date.month}
    for prefix, when in (("", date), ("o", other)):
        name = MONTHS[when.month - 1]
        fields |= {f"{prefix}month": name, f"{prefix}mon": name[:3], f"{prefix}year": when.year}
    fields |= {f"year{more}": date.year + more for more in (5, 6, 10)}
    for prefix, number in (("", quarter), ("o", quarter % 4 + 1)):
        months = MONTHS[3 * number - 3 : 3 * number]
        fields |= {f"{prefix}q": number, f"{prefix}qth": ("first", "second", "third", "fourth")[number - 1]}
        fields |= {f"{prefix}qstart": months[0], f"{prefix}qend": months[-1]}
    other = decade + rng.choice([-10, 10])
    return fields | {"decade": decade, "decade9": decade + 9, "odecade": other, "odecade9": other + 9}


def _bounds(rng: random.Random) -> dict:
    number = rng.randrange(3, 90)
    more = number + rng.randrange(2, 30)
    return {"n": number, "m": more, "m2": more + rng.randrange(1, 9)}


def _weekdays(rng: random.Random) -> dict:
    days = rng.sample(DAYS, 3)
    return {f"d{i}": day for i, day in enumerate(days, 1)} | {f"s{i}": day[:3] for i, day in enumerate(days, 1)}


def _times(rng: random.Random) -> dict:
    hour, close, late = rng.randrange(1, 11), rng.randrange(1, 5), rng.random() < 0.5
    phrases = ("in the evening" if hour > 5 else "in the afternoon", "in the morning")
    fields = dict(zip(("half", "ohalf"), ("pm", "am") if late else ("am", "pm"), strict=True))
    fields |= dict(zip(("phrase", "ophrase"), phrases if late else phrases[::-1], strict=True))
    fields |= {"h": hour, "g": hour + 1, "H": hour + 12 * late, "O": hour + 12 * (not late), "hh": f"{hour:02d}"}
    return fields | {"k": close, "K": close + 12, "k1": close + 1, "K1": close + 13}


FIELDS: dict[str, Callable] = {
    "units": _units,
    "latex": _latex,
    "money": _money,
    "dates": _dates,
    "bounds": _bounds,
    "weekdays": _weekdays,
    "times": _times,
}


def filled(text: str, fields: dict) -> str:
    r"""Return a way to write something, with fields in the place of <name>.

    >>> filled(r"\frac{<a>}{<b>}", {"a": 1, "b": 2})
    '\\frac{1}{2}'
    """
    return re.sub(r"<(\w+)>", lambda match: str(fields[match[1]]), text)


def ways(texts: Sequence[str], trained: bool) -> list[str]:
    """Return the ways to write something that train judges, or those that measure them."""
    return [text for number, text in enumerate(texts) if (number % TRAINED == 0) == trained]


def notations(
    sentences: Sequence[Triple], count: int, rng: random.Random, trained: bool = True, family: str | None = None
) -> Iterator[Triple]:
    """Yield answers that are the accepted thing in another notation, or not, of all families or of one."""
    for _ in range(count):
        name = family or rng.choice(list(FAMILIES))
        fields = FIELDS[name](rng)
        shape = rng.choice([s for s in FAMILIES[name]["shapes"] if "for" not in s or fields[s["for"]]])
        accepted, label = filled(rng.choice(shape["accepted"]), fields), rng.random() < 0.5
        texts = [filled(text, fields) for text in ways(shape["right" if label else "wrong"], trained)]
        text = rng.choice([text for text in texts if text != accepted] or texts)
        yield Triple(rng.choice(FAMILIES[name]["questions"]), (accepted,), text, float(label), f"notations.{name}")


CONSTRUCTED = {"notations": notations}
