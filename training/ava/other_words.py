"""The same verdict in other words: references and answers rephrased, or with other text around them."""

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from training.ava.triples import Triple, normalised
from training.ava.wrong_answers import MONTHS, NUMBERS, STARTERS, WORDS, occurrence

_VALUES = dict(zip(NUMBERS[1:12], range(2, 13), strict=True))
_DATE = re.compile(
    rf"\b(?:(?P<month>{'|'.join(MONTHS)}) (?P<day>\d\d?)(?:st|nd|rd|th)?,? (?P<year>\d{{4}})"
    rf"|(?P<day2>\d\d?)(?:st|nd|rd|th)?(?: of)? (?P<month2>{'|'.join(MONTHS)}),? (?P<year2>\d{{4}}))\b"
)
_WHAT = r"(?:[Tt]he|[Aa]n?) [\w' -]{3,60}?"  # patterns of sentences that can be reordered
_THING = r"(?:(?:the )?[A-Z0-9$][\w.'-]*(?: (?:of |the |and )?[A-Z0-9][\w.'-]*){0,4})"
_END = r"(?= (?:is|was|are|were|has|had)\b|[,.])"
_DONE = r"(?:was|were) (?P<verb>[a-z]+ed|won|built|made|led|held)"
_ORDERS = [  # patterns of sentences, and the same in another order
    (re.compile(pattern), order)
    for pattern, order in (
        (
            r"^(?P<place>(?:In|On|At|During|After|Before|By|Since|From) [^,.]{2,40}), (?P<rest>[^;?!]+)\.$",
            "{rest} {place}.",
        ),
        (rf"^(?P<what>[Tt]he [\w' -]{{3,80}}?) (?P<is>is|was|are|were) (?P<name>{_THING})\.$", "{name} {is} {what}."),
        (rf"^(?P<name>{_THING}) (?P<is>is|was|are|were) (?P<what>the [\w' -]{{3,80}}?)\.$", "{what} {is} {name}."),
        (rf"\b[Tt]he (?P<what>[a-z-]+(?: [a-z-]+)?) of (?P<owner>{_THING}){_END}", "{owner}'s {what}"),
        (
            rf"(?<!\w)(?<!\b[Tt]he )(?P<owner>[A-Z][\w-]+(?: [A-Z][\w-]+)?)'s (?P<what>[a-z]+){_END}",
            "the {what} of {owner}",
        ),
        (rf"^(?P<what>{_WHAT}|{_THING}) {_DONE} by (?P<by>{_THING})\.$", "{by} {verb} {what}."),
    )
]


def other_system_triples(triples: Sequence[Triple], rng: random.Random) -> Iterator[Triple]:
    """Yield each triple with a correct answer of another system as its reference: AVA-Pos and AVA-Neg of verdicts."""
    correct = defaultdict(list)
    for triple in triples:
        if triple.label == 1:
            correct[triple.question].append(triple.candidate)
    for triple in triples:
        others = [text for text in correct[triple.question] if normalised(text) != normalised(triple.candidate)]
        if others and triple.label in (0, 1):
            yield replace(triple, references=(rng.choice(others),), kind="other_system")


def _surrounded(triple: Triple, others: Sequence[str], words: int, rng: random.Random) -> str | None:
    """Return the candidate between at least `words` words of other texts without an accepted answer, or None."""
    texts: dict[str, None] = {}
    for text in map(str.strip, others):
        if sum(len(each.split()) for each in texts) >= words:
            break
        if text != triple.candidate and occurrence(triple.references, text) is None:
            texts[text] = None
    if not texts or triple.label not in (0, 1):
        return None
    whole = [*texts, triple.candidate]
    rng.shuffle(whole)
    return rng.choice((" ", "\n", "\n\n")).join(whole)


def flooded(triples: Sequence[Triple], rng: random.Random) -> Iterator[Triple]:
    """Yield the triples with other sentences and words of the question around the candidate; the verdict stays."""
    for triple in triples:
        others = [rng.choice(triples).candidate for _ in range(rng.choice([1, 1, 2]))]
        if rng.random() < 0.4:
            others[0] = rng.choice(WORDS["circular"]).format(triple.question.rstrip("?. "))
        if text := _surrounded(triple, others, 1000, rng):
            yield replace(triple, candidate=text, kind="flooded")


def buried(triples: Sequence[Triple], rng: random.Random) -> Iterator[Triple]:
    """Yield the triples with the candidate amid 60 to 350 words of answers to other questions; the verdict stays."""
    for triple in triples:
        others = [other.candidate for other in rng.choices(triples, k=60) if other.question != triple.question]
        if text := _surrounded(triple, others, rng.randint(60, 350), rng):
            yield replace(triple, candidate=text, kind="buried")


def aliases(triples: Sequence[Triple], rng: random.Random) -> Iterator[Triple]:
    """Yield references as right answers; from half of the short lists of references the answer is left out.

    Half of the short ones stand in a frame such as "It was ...", as wrong answers do.
    """
    for triple in {t.question: t for t in triples}.values():
        texts = list(triple.references)
        candidate = rng.choice(texts)
        others = [text for text in texts if normalised(text) != normalised(candidate)]
        references = tuple(others) if others and len(texts) <= 4 and rng.random() < 0.5 else triple.references
        if len(candidate.split()) <= 6 and rng.random() < 0.5:
            candidate = rng.choice(WORDS["frames"]).format(candidate.rstrip("."))
        yield replace(triple, references=references, candidate=candidate, label=1.0, kind="alias")


def _other_form(text: str, rng: random.Random) -> str:
    """Return a text with its first date or number written in another way, or as it is."""
    if match := _DATE.search(text):
        day, month, year = (match[name] or match[f"{name}2"] for name in ("day", "month", "year"))
        ending = "th" if 10 < int(day) < 20 else {"1": "st", "2": "nd", "3": "rd"}.get(day[-1], "th")
        forms = [f"{month} {day}, {year}", f"{day} {month} {year}", f"the {day}{ending} of {month} {year}"]
        forms += [f"{month[:3]} {day}, {year}", f"{month} {day}{ending}, {year}"]
        new = rng.choice([form for form in forms if form != match[0]])
    elif match := re.search(rf"(?i)\b(?:{'|'.join(_VALUES)})\b|(?<![\d.,:-])\b(?:[2-9]|1[0-2])\b(?![.,:-]?\d)", text):
        new = str(_VALUES.get(match[0].lower()) or NUMBERS[int(match[0]) - 1])
    else:
        return text
    return text[: match.start()] + new + text[match.end() :]


def _restated(text: str, rng: random.Random) -> str | None:
    """Return a sentence of the same meaning with its clauses in another order, or None."""
    forms = []
    for pattern, order in _ORDERS:
        if match := pattern.search(text):
            phrases = {name: _plain_start(phrase) for name, phrase in match.groupdict().items()}
            new = order.format(**phrases).replace("s's ", "s' ")
            forms.append(capitalised(text[: match.start()] + new + text[match.end() :]))
    return rng.choice(forms) if forms else None


def capitalised(text: str) -> str:
    """Return a text whose first letter is a capital."""
    return text[:1].upper() + text[1:]


def tokenised(text: str) -> str:
    """Return a text as some systems write: in lower case, with spaces around punctuation.

    >>> tokenised("Yes, it is.")
    'yes , it is .'
    """
    return re.sub(r"(?<=\w)([.,;:!?])(?=\s|$)", r" \1", text.lower())


def _plain_start(text: str) -> str:
    """Return a text whose first word loses its capital where it is a word that starts sentences."""
    return text[:1].lower() + text[1:] if text.split(" ")[0] in STARTERS else text


def restated(triples: Sequence[Triple], rng: random.Random) -> Iterator[Triple]:
    """Yield the triples with the first sentence of the candidate in another order; the verdict stays.

    "Paris is the capital of France." for "The capital of France is Paris.", "Bonn's mayor" for "the mayor of Bonn". Of
    correct ones the unchanged candidate is the reference of every second; half are `tokenised`.
    """
    for triple in triples:
        first, dot, rest = triple.candidate.strip().partition(". ")
        first = _restated(f"{first.rstrip('.')}.", rng) if triple.label in (0, 1) else None
        if first is None:
            continue
        text, references = first + (f" {rest}" if dot else ""), triple.references
        if triple.label == 1 and rng.random() < 0.5:
            references = (triple.candidate,)
        text = tokenised(text) if rng.random() < 0.5 else text
        yield replace(triple, references=references, candidate=text, kind="restated")


def reworded(triples: Sequence[Triple], rng: random.Random) -> Iterator[Triple]:
    """Yield the triples with dates and numbers of one side written in another way, and surnames for whole names.

    A surname stands for a person in correct answers to questions with "who" only; else the verdict stays.
    """
    for triple in triples:
        result = occurrence(triple.references, triple.candidate)
        person = result and re.search(r"\bwho\b", triple.question, re.IGNORECASE) and triple.label == 1
        words = result[0].split() if person else []
        if 2 <= len(words) <= 3 and all(re.fullmatch(r"[A-Z][\w'.-]+", word) for word in words):
            text = triple.candidate.replace(result[0], words[-1])
            yield replace(triple, references=(result[0],), candidate=text, kind="reworded")
        elif rng.random() < 0.5:
            text = _other_form(triple.candidate, rng)
            if text != triple.candidate:
                yield replace(triple, candidate=text, kind="reworded")
        else:
            texts = tuple(_other_form(text, rng) for text in triple.references)
            if texts != triple.references:
                yield replace(triple, references=texts, kind="reworded")


def _misspelt(word: str, rng: random.Random) -> str:
    """Return a word with a typing error that leaves its first letter: swapped, dropped, doubled or another letter."""
    position = rng.randrange(1, len(word) - 1)
    before, letter, following, after = word[:position], word[position], word[position + 1], word[position + 2 :]
    other = WORDS["misspellings"].get(letter, letter * 2)
    return before + rng.choice((following + letter, following, letter * 2 + following, other + following)) + after


def misspelt(triples: Sequence[Triple], rng: random.Random) -> Iterator[Triple]:
    """Yield the triples with typing errors in long words of the candidate, half in lower case; the verdict stays."""
    for triple in triples:
        places = [match.span() for match in re.finditer(r"\b[a-zA-Z]{5,}\b", triple.candidate)]
        if not places or triple.label not in (0, 1):
            continue
        text = triple.candidate
        for start, end in sorted(rng.sample(places, min(len(places), rng.randint(1, 4))), reverse=True):
            text = text[:start] + _misspelt(text[start:end], rng) + text[end:]
        yield replace(triple, candidate=text.lower() if rng.random() < 0.5 else text, kind="misspelt")


MAKERS: dict[str, Callable] = {
    "other_system": other_system_triples,
    "flooded": flooded,
    "buried": buried,
    "misspelt": misspelt,
    "alias": aliases,
    "reworded": reworded,
    "restated": restated,
}
