"""Triples that are built from numbers and pairs of opposites, so that the verdict is known.

Verdicts on answers of systems hold few quantities in two forms and hardly any yes/no question; a judge that is trained
on them alone goes by shared words there.
"""

import datetime
import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from training.ava.other_words import capitalised, tokenised
from training.ava.triples import Triple, normalised
from training.ava.wrong_answers import MONTHS, WORDS, built, short_answered
from training.kpqa.data import CLAUSE, NEGATED

_STATE_PAIRS = [
    (subject, *pair.split("/"))
    for subjects, pairs in WORDS["states"].items()
    for subject in subjects.split("/")
    for pair in pairs.split()
]
_ACTION_PAIRS = [[verb.split() for verb in line.split("/")] for line in WORDS["actions"]]
_WHY = ("", "", "", *WORDS["tails"])


@cache
def _engine():
    import inflect

    return inflect.engine()


def number_word(number: int | str) -> str:
    """Return a number in words: "twenty-one"."""
    return _engine().number_to_words(number)


def ordinal(number: int) -> str:
    """Return a number of an order in digits: "21st"."""
    return _engine().ordinal(number)


def _ordinal(number: int) -> str:
    return number_word(ordinal(number))


def _time(rng: random.Random) -> tuple[str, list[str], list[str]]:
    hour, minute = rng.randrange(1, 12), rng.choice([0, 0, 5, 10, 15, 20, 30, 40, 45, 50])
    late = rng.random() < 0.5

    def forms(hour, minute, late):
        mark, word = "pm" if late else "am", number_word(hour)
        when = "in the afternoon" if late and hour < 6 else "in the evening" if late else "in the morning"
        texts = [f"{hour}:{minute:02d} {half}" for half in (f"{mark[0]}.m.", mark.upper(), mark)]
        texts.append(f"{hour + 12 * late:02d}:{minute:02d}")
        if minute == 0:
            texts += [f"{hour} {mark}", f"{hour} o'clock {when}", f"{word} {when}", f"{hour} {mark[0]}.m."]
        if minute in (15, 30):
            texts.append(f"{'half' if minute == 30 else 'quarter'} past {word} {when}")
        return texts

    wrong = forms(hour, minute, not late) + forms(hour % 11 + 1, minute, late) + forms(hour, (minute + 10) % 60, late)
    event = rng.choice(["the meeting", "the train", "the show", "school", "the party", "the bank"])
    return f"{rng.choice(['When', 'What time'])} does {event} start?", forms(hour, minute, late), wrong


def _amount(rng: random.Random) -> tuple[str, list[str], list[str]]:
    names = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
    number, name = rng.choice([0.5, 1, 1.2, 1.5, 2, 2.5, 3, 4, 5.5, 7, 8, 10, 12, 20, 25, 40]), rng.choice([*names])

    def forms(number, name):
        whole = round(number * names[name])
        texts = [f"${number:g} {name}", f"{number:g} {name} dollars", f"${whole:,}", f"{whole:,} dollars"]
        texts += [f"US${number:g} {name}", f"{whole} dollars"]
        if number % 1 == 0.5:
            half = f"{number_word(int(number))} and a half" if number > 1 else "half a"
            texts.append(f"{half} {name} dollars")
        elif number % 1 == 0:
            texts.append(f"{number_word(int(number))} {name} dollars")
        return texts

    others = [other for other in names if other != name]
    wrong = [text for other in others for text in forms(number, other)]
    wrong += forms(number * 10, name) + forms(number + rng.choice([1, 2, 3]), name)
    event = rng.choice(["the house cost", "they pay for it", "the film earn", "the painting sell for", "he win"])
    return f"How much did {event}?", forms(number, name), wrong


def _measure(rng: random.Random) -> tuple[str, list[str], list[str]]:
    units, other, factor, offset = rng.choice(WORDS["units"])
    number = rng.choice([15, 20, 25, 30, 37, 42, 50, 60, 75, 80, 100, 120, 150, 200, 250, 300, 400, 500, 1000])
    converted = number * factor + offset
    same = [f"{number} {unit}" for unit in units] + [f"{number_word(number)} {units[1]}"]
    for unit in other:
        same += [f"{converted:.1f} {unit}", f"about {round(converted)} {unit}"]
    wrong = [f"{number} {unit}" for unit in other] + [f"about {round(converted)} {unit}" for unit in units]
    wrong += [f"{number + rng.choice([3, 10, -7])} {unit}" for unit in units]
    wrong += [f"about {round(converted * rng.choice([0.5, 2, 3]) + 4)} {unit}" for unit in other]
    questions = {"km": "How far is it?", "m": "How tall is the tower?", "kg": "How much does it weigh?"}
    questions |= {"cm": "How long is it?", "litres": "How much does the tank hold?", "°C": "How hot does it get?"}
    return questions[units[0]], same, wrong


def _duration(rng: random.Random) -> tuple[str, list[str], list[str]]:
    small, large, size = rng.choice(WORDS["durations"])
    number = rng.choice([1, 1, 2, 2, 3, 4, 5, 6])

    def forms(number):
        name = _engine().singular_noun(large) if number == 1 else large
        texts = [f"{count} {unit}" for whole, unit in ((number, name), (number * size, small))
                 for count in (whole, number_word(whole))]  # fmt: skip
        return texts + ([f"{'an' if name == 'hour' else 'a'} {name}"] if number == 1 else [])

    wrong = [*forms(number + rng.choice([1, 2, 3])), f"{number} {small}", f"{number * size} {large}"]
    question = rng.choice(["How long did it take?", "How long does it last?", "how long was he there"])
    return question, forms(number), wrong


def _day(rng: random.Random) -> tuple[str, list[str], list[str]]:
    day = datetime.date(1500, 1, 1) + datetime.timedelta(days=rng.randrange(190_000))

    def forms(day):
        month, ordinal = MONTHS[day.month - 1], _engine().ordinal(day.day)
        texts = [f"{month} {day.day}, {day.year}", f"{day.day} {month} {day.year}", f"{month} {ordinal}, {day.year}"]
        texts += [f"the {ordinal} of {month} {day.year}", f"the {_ordinal(day.day)} of {month} {day.year}"]
        texts += [f"{month[:3]} {day.day}, {day.year}", f"{day.month}/{day.day}/{day.year}", day.isoformat()]
        return texts + ([f"{day.day:02d}/{day.month:02d}/{day.year}"] if day.day > 12 else [])

    wrong = day + datetime.timedelta(days=rng.choice([-9, -1, 1, 2, 10, 31, -30, 61, 365, -366, 1461, 3653]))
    event = rng.choice(["was the treaty signed", "did she die", "did the war begin", "was it founded", "was he born"])
    return f"When {event}?", forms(day), forms(wrong)


def _count(rng: random.Random) -> tuple[str, list[str], list[str]]:
    number = rng.choice(
        [rng.randrange(2, 30), rng.randrange(20, 100), 10 * rng.randrange(10, 100), rng.randrange(9999)]
    )
    noun = rng.choice(["people", "islands", "members", "states", "books", "soldiers", "species", "rooms"])

    def forms(number):
        texts = [str(number), number_word(number), f"{number} {noun}", f"{number_word(number)} {noun}"]
        texts += [f"{number:,}", f"{number:,} {noun}"] if number > 999 else []
        return texts + ([f"a dozen {noun}"] if number == 12 else [])

    near = [number + rng.choice([1, 2, 3, 10, 100]), number * 10, number + rng.choice([5, 20, 1000])]
    return f"How many {noun} were there?", forms(number), [text for wrong in near for text in forms(wrong)]


def _rank(rng: random.Random) -> tuple[str, list[str], list[str]]:
    numerals = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIII", "XIV")
    number = rng.randrange(2, len(numerals))
    other = rng.choice([n for n in range(2, len(numerals)) if n != number])
    if rng.random() < 0.4:
        number, other = number + 7, other + 7

        def forms(number):
            texts = [f"the {_engine().ordinal(number)} century", f"the {_ordinal(number)} century"]
            return texts + ([f"the {number - 1}00s"] if number > 9 else [])

        return "In which century did it happen?", forms(number), forms(other)
    name = rng.choice(WORDS["numbered_names"])

    def forms(number):
        return [
            f"{name} {numerals[number - 1]}",
            f"{name} the {_ordinal(number).title()}",
            f"{name} {number_word(number)}",
        ]

    return rng.choice(["Which one was it?", "Who was it?", "Which came next?"]), forms(number), forms(other)


def _part(rng: random.Random) -> tuple[str, list[str], list[str]]:
    same = rng.choice(WORDS["parts"])
    fact = rng.choice(["the cake is left", "the voters said yes", "the land is forest", "the money is gone"])
    others = [text for share in WORDS["parts"] if share is not same for text in share]
    return f"How much of {fact}?", list(same), others


_QUANTITIES = (_time, _amount, _measure, _duration, _day, _day, _count, _count, _rank, _part)


def _as_written(text: str, rng: random.Random) -> str:
    shape = rng.random()  # half of the texts are unchanged
    if shape < 0.2:
        return text.lower()
    if shape < 0.35:
        return tokenised(text)
    return text.rstrip(".") if shape < 0.5 else text


def quantities(sentences: Sequence[Triple], count: int, rng: random.Random) -> list[Triple]:
    """Return times, amounts, measures, durations, dates, counts and parts, in another form, and near misses."""
    result = []
    while len(result) < count:
        question, same, wrong = rng.choice(_QUANTITIES)(rng)
        label, reference = float(rng.random() < 0.5), rng.choice(same)
        candidate = rng.choice([text for text in same if text != reference] if label else wrong)
        if not label and normalised(candidate) in map(normalised, same):
            continue
        references = (rng.choice(WORDS["frames"]).format(reference) if rng.random() < 0.2 else reference,)
        if rng.random() < 0.5:
            candidate = rng.choice(WORDS["frames"]).format(candidate)
        result.append(Triple(question, references, _as_written(candidate, rng), label, "quantity"))
    return result


def _state(rng: random.Random, asked: bool) -> tuple:
    """Return a question on a state, sentences that say it, that deny it, "it is" and "it is not", and the choice."""
    subject, first, second = rng.choice(_STATE_PAIRS)
    if rng.random() < 0.5:
        first, second = second, first
    be = rng.choice(["is", "is", "was"])
    pronoun = "he" if subject in ("her brother", "the king", "the man") else "it"
    pronoun = rng.choice(["he", "she"]) if subject in ("the author", "the patient", "the singer") else pronoun
    yes = [f"{who} {be} {first}" for who in (subject, subject, pronoun)]
    no = [f"{who} {be} {second}" for who in (subject, subject, pronoun)]
    no += [f"{subject} {be} not {first}", f"{pronoun} {be}n't {first}", f"{pronoun} {be} not {first}"]
    short = f"{pronoun} {be}", f"{pronoun} {be} not", f"{pronoun} {be}n't"
    question = f"{be} {subject} {first}" if asked else f"{be} {subject} {first} or {second}"
    return question, yes, no, short, (first, second)


def _action(rng: random.Random, asked: bool) -> tuple:
    """Return the same as `_state` for what somebody does or did."""
    actor, thing = rng.choice(WORDS["actors"]), rng.choice(WORDS["objects"])
    (base, third, past), (other, other_third, other_past) = rng.sample(rng.choice(_ACTION_PAIRS), 2)
    do = rng.choice(["does", "did"])
    first, second = (third, other_third) if do == "does" else (past, other_past)
    pronoun = actor if actor in ("she", "he") else rng.choice(["he", "she", "it", "they"])
    if pronoun == "they" and do == "does":
        pronoun = "it"
    yes = [f"{who} {first} {thing}" for who in (actor, actor, pronoun)] + [f"{actor} {do} {base} {thing}"]
    no = [f"{who} {second} {thing}" for who in (actor, actor, pronoun)]
    no += [f"{actor} {do} not {base} {thing}", f"{pronoun} {do}n't {base} {thing}"]
    no += [f"{actor} never {first} {thing}"] if do == "did" else []
    short = f"{pronoun} {do}", f"{pronoun} {do} not", f"{pronoun} {do}n't"
    question = f"{do} {actor} {base} {thing}" if asked else f"{do} {actor} {base} or {other} {thing}"
    return question, yes, no, short, (base, other)


def opposites(sentences: Sequence[Triple], count: int, rng: random.Random) -> Iterator[Triple]:
    """Yield yes/no questions and choices between opposites, with answers that agree with the reference or do not."""
    for _ in range(count):
        asked, true, stated = rng.random() < 0.7, rng.random() < 0.5, rng.random() < 0.5
        question, yes, no, short, choice = (_state if rng.random() < 0.6 else _action)(rng, asked)
        if asked:  # yes or no
            yes = [*yes, *(f"yes, {text}" for text in yes), "yes", f"yes, {short[0]}"]
            no = [*no, *(f"no, {text}" for text in no), "no", f"no, {short[1]}", f"no, {short[2]}"]
        else:
            yes, no = [*yes, choice[0], choice[0]], [*no, choice[1], choice[1]]

        def answer(positive, forms=(no, yes)):
            return capitalised(rng.choice(forms[positive])) + rng.choice(_WHY) + "."

        references = tuple(dict.fromkeys(answer(true) for _ in range(rng.choice([1, 1, 1, 2, 3]))))
        text = _as_written(answer(stated), rng)
        yield Triple(capitalised(question) + "?", references, text, float(true == stated), "opposite")


def mentions(sentences: Sequence[Triple], count: int, rng: random.Random) -> list[Triple]:
    """Return answers that name a right and a wrong answer and assert one of the two."""
    rows, answers = short_answered(sentences)

    def make(row: Triple) -> Triple | None:
        wrong = answers.wrong_one(row.question, row.references, rng)
        if wrong is None:
            return None
        label, right = float(rng.random() < 0.5), row.references[0].rstrip(".")
        yes, no = (right, wrong) if label else (wrong, right)
        references = (row.candidate,) if rng.random() < 0.2 else row.references
        text = rng.choice(WORDS["rejections"]).format(yes=yes, no=no)
        return Triple(row.question, references, _as_written(capitalised(text), rng), label, "mention")

    return built(rows, count, rng, make)


def yes_no(sentences: Sequence[Triple], count: int, rng: random.Random) -> Iterator[Triple]:
    """Yield yes/no questions made of declarative sentences, with answers that agree with the reference or do not."""
    texts = sorted({row.candidate for row in sentences if len(row.candidate.split()) < 20})
    rng.shuffle(texts)
    clauses = [m.groups() for m in map(CLAUSE.fullmatch, texts) if m]
    for i in range(min(count, 5 * len(clauses))):
        subject, verb, rest = (text.strip() for text in clauses[i % len(clauses)])
        subject = subject[:1].lower() + subject[1:]
        pronoun = "they" if verb in ("are", "were", "have") else rng.choice(["he", "she", "it"])

        def answer(word, subject=subject, verb=verb, rest=rest, pronoun=pronoun):
            stated = verb if word == "yes" else rng.choice([f"{verb} not", NEGATED.get(verb, f"{verb}n't")])
            sentence = f"{subject} {stated} {rest}"
            return rng.choice([word, f"{word}, {pronoun} {stated}", f"{word}, {sentence}", sentence])

        question = f"{verb} {subject} {rest}{rng.choice([' ?', '?', ''])}"
        true, stated = rng.choice(["yes", "no"]), rng.choice(["yes", "no"])
        references = tuple(dict.fromkeys(answer(true) for _ in range(rng.choice([1, 1, 3]))))
        yield Triple(question, references, answer(stated), float(true == stated), "yes_no")


# Each takes the triples of the spans, the number of rows and the source of randomness.
CONSTRUCTED: dict[str, Callable] = {
    "yes_no": yes_no,
    "quantity": quantities,
    "opposite": opposites,
    "mention": mentions,
}
