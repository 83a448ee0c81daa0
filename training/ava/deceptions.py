"""Answers in forms that deceive a judge, and answers that differ in one small thing; their verdicts are known.

`deceptions.toml` has families of forms: a text names two answers and asserts one of them, or names the accepted answer
and asserts nothing. The first of every three forms of a family trains judges, the others measure them. `DETAILS` makes
pairs of texts of one kind (days, times, versions, units, code, ...) that are the same thing or another one.
"""

import random
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from training.ava.other_words import capitalised
from training.ava.triples import Triple
from training.ava.wrong_answers import built, short_answered

TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
FAMILIES = TEXTS["families"]
TRAINED = 3  # the first of so many forms trains judges
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


def forms(family: str, trained: bool) -> list[str]:
    """Return the forms of a family that train judges, or those that measure them.

    >>> len(forms("edited", True)), len(forms("edited", False))
    (3, 6)
    """
    return [text for number, text in enumerate(FAMILIES[family]) if (number % TRAINED == 0) == trained]


def filled(form: str, asserted: str, denied: str) -> str:
    """Return a form with the answer that it asserts and the one that it names.

    >>> filled("~~{no}~~ {yes}", "Rome", "Oslo")
    '~~Oslo~~ Rome'
    """
    struck = "".join(letter + "\u0336" for letter in denied)
    hashtag = "".join(capitalised(word) for word in asserted.split())
    return form.format(yes=asserted, no=denied, ref=asserted, struck=struck, hashtag=hashtag)


def deceptions(
    sentences: Sequence[Triple], count: int, rng: random.Random, trained: bool = True, family: str | None = None
) -> list[Triple]:
    """Return answers in the forms of all families, or of one: half of those that assert an answer are right."""
    rows, answers = short_answered(sentences)
    names = [family] if family else list(FAMILIES)

    def make(row: Triple) -> Triple | None:
        name = rng.choice(names)
        wrong = answers.wrong_one(row.question, row.references, rng)
        if not wrong:
            return None
        form, accepted = rng.choice(forms(name, trained)), row.references[0].rstrip(".")
        right = "{ref}" not in form and rng.random() < 0.5
        asserted, denied = (accepted, wrong) if right or "{ref}" in form else (wrong, accepted)
        references = (row.candidate,) if rng.random() < 0.2 and trained else row.references
        return Triple(row.question, references, filled(form, asserted, denied), float(right), f"deceptions.{name}")

    return built(rows, count, rng, make, tries=6)


def _days(rng: random.Random) -> tuple[str, list[str], list[str]]:
    first, second, third = rng.sample(DAYS, 3)
    shape = rng.randrange(3)
    if shape == 0:
        return first, [f"On {first}.", f"It is on {first}s.", first[:3] + "."], [f"On {second}.", second, f"{second}s"]
    if shape == 1:
        both = f"{first} and {second}"
        right = [f"On {second}s and {first}s.", f"{first}s, {second}s"]
        return both, right, [f"{first} and {third}", f"On {third}s and {second}s.", f"Only on {first}."]
    day, month = rng.randrange(1, 29), rng.choice(["March", "May", "July", "October"])
    other = rng.choice(["April", "June", "August", "November"])
    right = [f"{month} {day}", f"the {day}. of {month}", f"On {day} {month}."]
    return f"{day} {month}", right, [f"{day} {other}", f"{month} {day + 1}", f"On {other} {day}."]


def _times(rng: random.Random) -> tuple[str, list[str], list[str]]:
    hour = rng.randrange(1, 12)
    early = rng.random() < 0.5
    half, other = ("am", "pm") if early else ("pm", "am")
    words = {"am": "in the morning", "pm": "in the evening" if hour > 5 else "in the afternoon"}
    right = [
        f"{hour} {words[half]}",
        f"{hour + 12 * (not early)}:00",
        f"At {hour} {half}.",
        f"{hour} o'clock {words[half]}",
    ]
    wrong = [f"{hour} {words[other]}", f"{hour + 12 * early}:00", f"At {hour} {other}.", f"{hour % 11 + 1} {half}"]
    return f"{hour} {half}", right, wrong


def _versions(rng: random.Random) -> tuple[str, list[str], list[str]]:
    major, minor = rng.randrange(1, 9), rng.randrange(1, 6)
    ten = f"{major}.{minor}0"
    other = [f"{major}.{minor}", f"{major}.{minor}00", f"{minor}0.{major}", f"{major}.{minor}1"]
    return ten, [f"version {ten}", f"v{ten}", f"It is {ten}."], [f"version {other[0]}", *other]


def _codes(rng: random.Random) -> tuple[str, list[str], list[str]]:
    code = f"0{rng.randrange(1000, 9999)}"
    spread = f"{code[:2]} {code[2:]}"
    swapped = code[:-2] + code[-1] + code[-2] if code[-1] != code[-2] else code[:-1]
    return code, [f"It is {code}.", f"{code}.", spread], [code[1:], swapped, f"It is {code[1:]}.", code + "0"]


def _conditions(rng: random.Random) -> tuple[str, list[str], list[str]]:
    term, other = rng.choice(TEXTS["conditions"]["terms"])
    right = [f"Yes, but only {term}.", f"Yes, {term}.", f"Only {term}, then yes."]
    wrong = ["Yes, always.", "Yes.", "Yes, without any condition.", f"Yes, but only {other}.", f"No, not even {term}."]
    return f"Yes, {term} only.", right, wrong


def _brackets(rng: random.Random) -> tuple[str, list[str], list[str]]:
    amount = rng.randrange(101, 999)
    right = [f"-{amount}", f"minus {amount}", f"({amount})", f"a loss of {amount}", f"−{amount}"]
    return (
        rng.choice([f"({amount})", f"-{amount}"]),
        right,
        [f"{amount}", f"a gain of {amount}", f"+{amount}", f"(-{amount + 10})"],
    )


def _bounds(rng: random.Random) -> tuple[str, list[str], list[str]]:
    number = rng.randrange(3, 60)
    least = [f"at least {number}", f"{number} or more", f"no fewer than {number}", f"a minimum of {number}"]
    most = [f"at most {number}", f"{number} or fewer", f"up to {number}", f"a maximum of {number}"]
    right, wrong = (least, most) if rng.random() < 0.5 else (most, least)
    return right[0], right[1:], [*wrong, f"exactly {number}", right[0].replace(str(number), str(number + 1))]


def _zones(rng: random.Random) -> tuple[str, list[str], list[str]]:
    hour, offset = rng.randrange(6, 18), rng.randrange(1, 6)
    right = [f"{hour + offset}:00 UTC+{offset}", f"{hour:02d}:00Z", f"{hour:02d}:00 GMT"]
    wrong = [f"{hour:02d}:00 UTC+{offset}", f"{hour - offset}:00 UTC+{offset}", f"{hour + offset:02d}:00 UTC"]
    return f"{hour:02d}:00 UTC", right, wrong


DETAILS: dict[str, Callable] = {
    "days": _days,
    "times": _times,
    "versions": _versions,
    "codes": _codes,
    "units": lambda rng: rng.choice(TEXTS["details"]["units"]),
    "languages": lambda rng: rng.choice(TEXTS["details"]["languages"]),
    "patterns": lambda rng: rng.choice(TEXTS["details"]["patterns"]),
    "formulas": lambda rng: rng.choice(TEXTS["details"]["formulas"]),
    "conditions": _conditions,
    "brackets": _brackets,
    "bounds": _bounds,
    "zones": _zones,
}  # fmt: skip


def details(sentences: Sequence[Triple], count: int, rng: random.Random) -> Iterator[Triple]:
    """Yield answers that are the accepted thing in another form, or a thing that looks nearly like it."""
    for _ in range(count):
        kind = rng.choice(list(DETAILS))
        accepted, right, wrong = DETAILS[kind](rng)
        label = rng.random() < 0.5
        text = rng.choice([accepted, *right] if label else wrong)
        yield Triple(rng.choice(TEXTS["questions"][kind]), (accepted,), text, float(label), f"details.{kind}")


def misspelt_names(sentences: Sequence[Triple], count: int, rng: random.Random) -> list[Triple]:
    """Return answers in which one letter is missing, which are right, beside other answers, which are not."""
    rows, answers = short_answered(sentences)

    def make(row: Triple) -> Triple | None:
        accepted = row.references[0].rstrip(".")
        long_words = [word for word in accepted.split() if len(word) > 5 and word.isalpha()]
        wrong = answers.wrong_one(row.question, row.references, rng)
        if not long_words or not wrong:
            return None
        label, word = rng.random() < 0.5, rng.choice(long_words)
        at = rng.randrange(1, len(word))
        text = accepted.replace(word, word[:at] + word[at + 1 :], 1) if label else wrong
        return Triple(row.question, row.references, text, float(label), "misspelt_names")

    return built(rows, count, rng, make, tries=6)


CONSTRUCTED = {"deceptions": deceptions, "details": details, "misspelt_names": misspelt_names}
