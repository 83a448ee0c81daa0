"""Triples built from names: who did what to whom, what came of what, whole lists, and one answer of several."""

import random
import re
from collections.abc import Callable, Iterator, Sequence

from training.ava.other_words import capitalised
from training.ava.triples import Triple
from training.ava.wrong_answers import WORDS, answer_type, built, short_answered

_DEEDS = [deed.split("/") for deed in WORDS["deeds"]]
_GIFTS = [gift.split("/") for gift in WORDS["gifts"]]
_COUNTS = {2: "two", 3: "three", 4: "four"}


def _joined(items: Sequence[str], rng: random.Random) -> str:
    """Return a list as people write it."""
    if rng.random() < 0.2:
        return rng.choice((", ", "; ", "\n- ")).join(items)
    return f"{', '.join(items[:-1])}{rng.choice((' and ', ', and ', ' and '))}{items[-1]}" if items[1:] else items[0]


def roles(sentences: Sequence[Triple], count: int, rng: random.Random) -> Iterator[Triple]:
    """Yield answers on who did what to whom, or what caused what: the same in other words, or turned round."""
    for _ in range(count):
        label = rng.random() < 0.5
        kind = rng.random()
        if kind < 0.55:
            past, participle, other_side = rng.choice(_DEEDS)
            a, b = rng.sample(rng.choice((WORDS["people"], WORDS["sides"])), 2)
            stated = [f"{{a}} {past} {{b}}", f"{{b}} was {participle} by {{a}}", f"it was {{a}} who {past} {{b}}"]
            stated += [f"{{b}} {other_side} {{a}}"] if other_side else []
            question = rng.choice((f"Who {past} whom?", "What happened?", f"Who was {participle} by whom?"))
        elif kind < 0.75:
            gave, got, thing = rng.choice(_GIFTS)
            a, b = rng.sample(WORDS["people"], 2)
            stated = [f"{{a}} {gave} the {thing} to {{b}}", f"{{b}} {got} the {thing} from {{a}}"]
            stated += [f"the {thing} went from {{a}} to {{b}}", f"{{a}} {gave} {{b}} the {thing}"]
            question = rng.choice((f"Who {gave} the {thing} to whom?", f"What became of the {thing}?"))
        else:
            a, b = rng.sample(WORDS["events"], 2)
            stated = list(WORDS["causes"])
            question = rng.choice(("What happened, and why?", "What was the cause of what?", "Why did it happen?"))
        first, second = rng.choice(stated), rng.choice(stated)
        reference = capitalised(first.format(a=a, b=b)) + "."
        a, b = (a, b) if label else (b, a)
        yield Triple(question, (reference,), capitalised(second.format(a=a, b=b)) + ".", float(label), "roles")


def lists(sentences: Sequence[Triple], count: int, rng: random.Random) -> Iterator[Triple]:
    """Yield lists as answers: in any order right; with one more, one fewer or another one wrong."""
    names = sorted({row.references[0].rstrip(".") for row in sentences if len(row.references[0].split()) <= 4})
    for _ in range(count if len(names) > 8 else 0):
        size = rng.choice((2, 2, 3, 3, 4))
        items = rng.sample(names, size + 1)
        chosen, extra = items[:size], items[size]
        label, stated = rng.random() < 0.5, rng.sample(chosen, size)
        if not label:  # one more, one fewer, or another one
            removed, added = rng.choice(((0, [extra]), (1, []), (1, [extra])))
            position = rng.randrange(size)
            stated[position : position + removed] = added
        question, noun = rng.choice(WORDS["list_questions"]), rng.choice(WORDS["listed_things"])
        frame = rng.choice(("{}", "{}", "They are {}.", "These were {}.", "{}."))
        answer = frame.format(_joined(stated, rng))
        question = question.format(n=_COUNTS[size], things=noun)
        yield Triple(question, (_joined(chosen, rng),), answer, float(label), "lists")


def alternatives(sentences: Sequence[Triple], count: int, rng: random.Random) -> list[Triple]:
    """Return answers that name several and do not choose, which are wrong, and such that choose the right one."""
    rows, answers = short_answered(sentences)

    def make(row: Triple) -> Triple | None:
        wrong = [answers.wrong_one(row.question, row.references, rng) for _ in range(2)]
        if None in wrong or wrong[0] == wrong[1]:
            return None
        label, right = rng.random() < 0.5, row.references[0].rstrip(".")
        named = [right, *wrong]
        if not label:
            rng.shuffle(named)
        form = rng.choice(WORDS["decided"] if label else WORDS["undecided"])
        text = form.format(**dict(zip("abc", named, strict=True)))
        if not label and right not in text:
            return None
        return Triple(row.question, row.references, capitalised(text), float(label), "alternatives")

    return built(rows, count, rng, make)


_PARTICLES, _TITLES = frozenset(WORDS["name_particles"]), frozenset(WORDS["titles"])
_DID = re.compile(
    r"who (?P<did>\w{2,}ed|did|had|has|is|made|played|plays|sang|sings|was|won|wrote) (?P<what>.{3,60}?)\??", re.I
)


def _parts(name: str) -> tuple[str, str] | None:
    """Return given name and family name of a person, with its particle, or None.

    >>> _parts("Leonardo da Vinci"), _parts("Ann B. Lee"), _parts("Queen Anne"), _parts("Bonn")
    (('Leonardo', 'da Vinci'), ('Ann', 'Lee'), None, None)
    """
    words = name.split()
    if not 2 <= len(words) <= 5 or words[0].strip(".") in _TITLES:
        return None
    if not all(word in _PARTICLES or re.fullmatch(r"[A-Z]\.|[A-Z][a-z][\w'-]+", word) for word in words):
        return None
    if "." in words[0] + words[-1] or words[0] in _PARTICLES or words[-1] in _PARTICLES:
        return None
    start = next((i for i, word in enumerate(words) if word in _PARTICLES), len(words) - 1)
    return words[0], " ".join(words[start:])


def names(sentences: Sequence[Triple], count: int, rng: random.Random) -> list[Triple]:
    """Return answers with a part of a person's name: of the right person, of another, or of two mixed (wrong)."""
    people = (row for row in sentences if answer_type(row.question, row.references[0]) == "who")
    rows = [row for row in people if _parts(row.references[0])]

    def make(row: Triple) -> Triple | None:
        (first_name, family), (other_given, other_family) = (_parts(r.references[0]) for r in (row, rng.choice(rows)))
        if first_name == other_given or family == other_family:
            return None
        label, reference = float(rng.random() < 0.5), row.references[0]
        if label and rng.random() < 0.25:  # the answer says more than the reference
            reference, answer = family, row.references[0]
        elif label:
            answer = rng.choice((family, family, first_name, f"{first_name} {family}"))
        else:
            crossed = f"{first_name} {other_family}", f"{other_given} {family}"
            answer = rng.choice((other_family, other_given, f"{other_given} {other_family}", *crossed))
        frames = [*WORDS["frames"], "{}", "{}.", "{} did."]
        if asked := _DID.fullmatch(row.question.strip()):
            frames += [f"{{}} {asked['did']} {thing}." for thing in (asked["what"], asked["what"], "it", "it")]
        text = capitalised(rng.choice(frames).format(answer))
        return Triple(row.question, (reference,), text, label, "names")

    return built(rows, count, rng, make)


CONSTRUCTED: dict[str, Callable] = {"roles": roles, "lists": lists, "alternatives": alternatives, "names": names}
