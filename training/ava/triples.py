"""From answer-sentence selection, human verdicts and extractive QA to judged answers: question, references, candidate.

Vu & Moschitti, "AVA: an Automatic eValuation Approach for Question Answering Systems", NAACL 2021, section 3.2, and
what makes a judge hard to fool: answers changed so that the verdict is known without asking anybody.
"""

import gzip
import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

EVASIONS = (
    "I don't know.",
    "I'm not sure.",
    "unknown",
    "There is not enough information to answer this question.",
    "I'm sorry, but I could not find an answer to that.",
    "As a language model, I do not have access to this information.",
    "It depends.",
    "Could you give me more context?",
    "That is a good question.",
    "none",
)

_MONTHS = "January February March April May June July August September October November December".split()
_MONTH = re.compile(rf"\b({'|'.join(_MONTHS)})\b", re.IGNORECASE)
_NUMBERS = "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred".split()
_NUMBER = re.compile(rf"\d+(?:[.,]\d+)*|\b(?:{'|'.join(_NUMBERS)})\b", re.IGNORECASE)
_YEAR = re.compile(r"\b1[0-9]\d\d\b|\b20\d\d\b")
_VALUES = dict(zip(_NUMBERS[1:12], range(2, 13), strict=True))
_DATE = re.compile(
    rf"\b(?:(?P<month>{'|'.join(_MONTHS)}) (?P<day>\d\d?)(?:st|nd|rd|th)?,? (?P<year>\d{{4}})"
    rf"|(?P<day2>\d\d?)(?:st|nd|rd|th)?(?: of)? (?P<month2>{'|'.join(_MONTHS)}),? (?P<year2>\d{{4}}))\b"
)
_AUXILIARY = re.compile(r"\b(is|are|was|were|has|have|had|can|could|will|would|should|did|does|do)\b(?! not|n't)")
_NOT = re.compile(r"\b(is|are|was|were|has|have|had|can|could|will|would|should|did|does|do)(?: not|n't)\b")
_OPPOSITES = dict(
    pair.split("/")
    for words in (
        "more/less larger/smaller bigger/smaller higher/lower before/after north/south east/west northern/southern "
        "eastern/western first/last increase/decrease increased/decreased increases/decreases won/lost wins/loses "
        "above/below inside/outside always/never hot/cold warm/cool old/young older/younger early/late earlier/later "
        "left/right open/closed true/false legal/illegal possible/impossible positive/negative maximum/minimum "
        "highest/lowest largest/smallest oldest/youngest longest/shortest male/female with/without alive/dead "
        "up/down top/bottom begin/end began/ended rise/fall buy/sell bought/sold import/export"
    ).split()
    for pair in (words, "/".join(reversed(words.split("/"))))
)
_OPPOSITE = re.compile(rf"\b({'|'.join(_OPPOSITES)})\b")
_NAME = re.compile(r"(?<!\w)[A-Z][\w'-]+(?: (?:of |the )?[A-Z][\w'-]+)*")
_SYMMETRIC = re.compile(r"(?: (?:and|or|with|met|married|versus|vs)|,| ?&)+ ?(?:the )?", re.IGNORECASE)
_STARTERS = frozenset("The A An In On At It He She They This That These Those As By For From There When While".split())
_CIRCULAR = (
    "The question is {}.",
    "You ask {}.",
    "Let me tell you {}.",
    "{}? That is well known.",
    "Many people ask {}, and it has a clear answer.",
    "The answer to {} can be found in many books.",
    "It is the one that the question asks about: {}.",
    "{}? It happened at the time and in the place where it happened.",
    "There are several views on {}.",
    "I looked for {} but found nothing certain.",
)

_NOT_A_WORD = re.compile(r"[^\w\s]")
_ARTICLE = re.compile(r"\b(a|an|the)\b")


@dataclass(frozen=True)
class Triple:
    """A judged answer: `label` is 1 for correct, 0 for incorrect, between them for a grade; `kind` says where from."""

    question: str
    references: tuple[str, ...]
    candidate: str
    label: float
    kind: str


def normalised(text: str) -> str:
    """Return a text in lower case without punctuation and articles, as SQuAD compares answers.

    >>> normalised("The Beatles, 1964!")
    'beatles 1964'
    """
    return " ".join(_ARTICLE.sub(" ", _NOT_A_WORD.sub(" ", text.lower())).split())


def read_rows(path: Path) -> list[dict]:
    """Return the rows of a file of JSON lines, compressed or not."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def local_file(name: str, folder: str | Path | None) -> Path | None:
    """Return the file of a source, or None if there is none in the folder."""
    paths = [Path(folder or ".") / f"{name}{suffix}" for suffix in (".jsonl.gz", ".jsonl")]
    return next((path for path in paths if path.is_file()), None)


def as2_rows(name: str, folder: str | Path | None) -> list[dict]:
    """Return question, answer and label of an answer-sentence selection corpus: a local file or one of the Hub.

    Args:
        name: `NAME` for the file NAME.jsonl.gz in `folder`; else a name on the Hub such as microsoft/wiki_qa,
            lucadiliello/trecqa or lucadiliello/asnq, with `:SPLIT` for another split than train.
        folder: folder of the local files.

    Raises:
        ValueError: if there is neither, or the columns are others.
    """
    path = local_file(name, folder)
    if path:
        return read_rows(path)
    if "/" not in name:
        raise ValueError(f"as2: no {name}.jsonl.gz or {name}.jsonl in {folder}, and no Hub name with '/'")
    import datasets

    repository, _, split = name.partition(":")
    rows = datasets.load_dataset(repository, split=split or "train")
    answer = next((column for column in ("answer", "sentence") if column in rows.column_names), None)
    if answer is None or not {"question", "label"} <= set(rows.column_names):
        found = ", ".join(rows.column_names)
        raise ValueError(f"as2: {name}: expected columns question, answer (or sentence) and label, got {found}")
    return [{"question": row["question"], "answer": row[answer], "label": row["label"]} for row in rows]


def as2_triples(rows: Iterable[dict], negatives: int | None, rng: random.Random) -> Iterator[Triple]:
    """Yield AVA-Pos and AVA-Neg (section 3.2) of an answer-sentence selection corpus.

    With C(q) the correct and W(q) the wrong answers of question q: (q, t_i, t_j) with t_i, t_j in C(q), t_i != t_j, is
    positive; with t_i in C(q), t_j in W(q) negative. Questions with fewer than two correct answers are left out.

    Args:
        rows: `question`, `answer` and `label` 0 or 1.
        negatives: at most so many negatives of each reference, drawn by chance; None takes all, as the paper.
        rng: source of randomness.

    Yields:
        Triples with t_i as reference and t_j as candidate.
    """
    correct, wrong = defaultdict(dict), defaultdict(dict)
    for row in rows:
        (correct if int(row["label"]) else wrong)[row["question"]][row["answer"]] = None
    for question, answers in correct.items():
        if len(answers) < 2:
            continue
        for reference in answers:
            for candidate in answers:
                if candidate != reference:
                    yield Triple(question, (reference,), candidate, 1.0, "as2")
            others = [answer for answer in wrong[question] if answer not in answers]
            if negatives is not None and len(others) > negatives:
                others = rng.sample(others, negatives)
            for candidate in others:
                yield Triple(question, (reference,), candidate, 0.0, "as2")


def judged_triples(rows: Iterable[dict], kind: str) -> list[Triple]:
    """Return the triples of human verdicts: `question`, `references`, `candidate`, `label`, or `score` from 0 to 1.

    Raises:
        ValueError: if a row has neither label nor score; names it.
    """
    triples = []
    for i, row in enumerate(rows):
        verdict = row.get("label")
        verdict = row.get("score") if verdict is None else verdict
        if verdict is None:
            raise ValueError(f"{kind}, row {i}: expected a label or a score, got neither")
        triples.append(Triple(row["question"], tuple(row["references"]), row["candidate"], float(verdict), kind))
    return triples


def other_system_triples(triples: Sequence[Triple], rng: random.Random) -> list[Triple]:
    """Return each triple with a correct answer of another system as its reference: AVA-Pos and AVA-Neg of verdicts."""
    correct = defaultdict(list)
    for triple in triples:
        if triple.label == 1:
            correct[triple.question].append(triple.candidate)
    made = []
    for triple in triples:
        others = [text for text in correct[triple.question] if normalised(text) != normalised(triple.candidate)]
        if others and triple.label in (0, 1):
            made.append(replace(triple, references=(rng.choice(others),), kind="other_system"))
    return made


def answer_type(question: str, answer: str) -> str:
    """Return what kind of thing an answer is, so that another of its kind can stand in its place.

    >>> answer_type("When did it start?", "May 1, 1990"), answer_type("who won", "Ann Lee")
    ('date', 'who')
    """
    if _MONTH.search(answer) or _YEAR.search(answer):
        return "date"
    if _NUMBER.search(answer):
        return "number"
    asked = set(re.findall(r"\w+", question.lower())[:4] + re.findall(r"\w+", question.lower())[-2:])
    for word in ("who", "where", "when", "why", "how"):
        if word in asked:
            return word
    return "name" if answer[:1].isupper() else "thing"


class Answers:
    """Short answers by their type, to take wrong ones from."""

    def __init__(self, pairs: Iterable[tuple[str, str]]):
        self._by_type = defaultdict(dict)
        for question, answer in pairs:
            if len(answer.split()) <= 6:
                self._by_type[answer_type(question, answer)][answer] = None
        self._by_type = {name: list(texts) for name, texts in self._by_type.items()}

    def wrong_one(self, question: str, references: Sequence[str], rng: random.Random) -> str | None:
        """Return an answer of the same type that shares nothing with the references, or None."""
        known = [normalised(text) for text in references]
        words = {word for text in known for word in text.split()}
        pool = self._by_type.get(answer_type(question, references[0]), ())
        for _ in range(8 if pool else 0):
            text = rng.choice(pool)
            plain = normalised(text)
            if plain and not words & set(plain.split()) and not any(plain in k for k in known):
                return text
        return None


def _occurrence(references: Sequence[str], text: str) -> re.Match | None:
    for reference in sorted(references, key=len, reverse=True):
        if reference.strip():
            found = re.search(rf"(?<!\w){re.escape(reference.strip())}(?!\w)", text, re.IGNORECASE)
            if found:
                return found
    return None


def changed_number(text: str, rng: random.Random) -> str:
    """Return a number or number word changed into another one of the same form.

    >>> changed_number("1984", random.Random(0)) != "1984"
    True
    """
    if text.lower() in _NUMBERS:
        return rng.choice([word for word in _NUMBERS if word != text.lower()])
    digits = re.sub(r"\D", "", text)
    if _YEAR.fullmatch(text):
        return str(int(text) + rng.choice([-20, -10, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 10, 20]))
    place = rng.randrange(len(digits))
    changed = rng.choice([d for d in "0123456789" if d != digits[place] and not (place == 0 and d == "0")])
    positions = [i for i, character in enumerate(text) if character.isdigit()]
    return text[: positions[place]] + changed + text[positions[place] + 1 :]


def _with_wrong_answer(triple: Triple, answers: Answers, rng: random.Random) -> str | None:
    """The right answer within the candidate becomes a wrong one of the same type."""
    wrong = answers.wrong_one(triple.question, triple.references, rng)
    found = _occurrence(triple.references, triple.candidate)
    if wrong is None or found is None:
        return wrong
    text = triple.candidate[: found.start()] + wrong + triple.candidate[found.end() :]
    while found := _occurrence(triple.references, text):
        text = text[: found.start()] + wrong + text[found.end() :]
        if _occurrence(triple.references, wrong):
            return None
    return text


def _with_wrong_number(triple: Triple, answers: Answers, rng: random.Random) -> str | None:
    """A number or month of the right answer is changed."""
    found = _occurrence(triple.references, triple.candidate)
    if found is None:
        return None
    numbers = list(_NUMBER.finditer(triple.candidate, *found.span()))
    months = list(_MONTH.finditer(triple.candidate, *found.span()))
    if not numbers and not months:
        return None
    place = rng.choice(numbers + months)
    if _MONTH.fullmatch(place[0]):
        new = rng.choice([month for month in _MONTHS if month.lower() != place[0].lower()])
    else:
        new = changed_number(place[0], rng)
    text = re.sub(rf"(?<!\w){re.escape(place[0])}(?!\w)", lambda _: new, triple.candidate)
    return None if _occurrence(triple.references, text) else text


def _with_wrong_name(triple: Triple, answers: Answers, rng: random.Random) -> str | None:
    """One word of a name of several words is changed: another person of the same first or last name."""
    found = _occurrence(triple.references, triple.candidate)
    words = found[0].split() if found else []
    if len(words) < 2 or not all(word[:1].isupper() for word in words) or _NUMBER.search(found[0]):
        return None
    other = answers.wrong_one(triple.question, triple.references, rng)
    others = [word for word in (other or "").split() if word[:1].isupper() and len(word) > 2]
    if not others:
        return None
    words[rng.choice([0, -1])] = rng.choice(others)
    text = triple.candidate.replace(found[0], " ".join(words))
    return None if _occurrence(triple.references, text) else text


def _negated(triple: Triple, answers: Answers, rng: random.Random) -> str | None:
    """The sentence that holds the answer says that it is not so, or the opposite."""
    found = _occurrence(triple.references, triple.candidate)
    text = triple.candidate
    start = max((text.rfind(mark, 0, found.start() if found else 0) for mark in ".!?\n"), default=-1) + 1
    ends = [end for mark in ".!?\n" if (end := text.find(mark, found.end() if found else start)) >= 0]
    end = min(ends, default=len(text))
    if removed := _NOT.search(text, start, end):
        return text[: removed.start()] + removed[1] + text[removed.end() :]
    opposite, verb = _OPPOSITE.search(text, start, end), _AUXILIARY.search(text, start, end)
    if opposite and (verb is None or rng.random() < 0.5):
        return text[: opposite.start()] + _OPPOSITES[opposite[1]] + text[opposite.end() :]
    if verb is None:
        return None
    new = rng.choice([f"{verb[1]} not", f"{verb[1]}n't"]) if verb[1] not in ("can", "will") else f"{verb[1]} not"
    return text[: verb.start()] + new + text[verb.end() :]


def _swapped(triple: Triple, answers: Answers, rng: random.Random) -> str | None:
    """Two names of the sentence that holds the answer change places: who did it to whom."""
    found = _occurrence(triple.references, triple.candidate)
    text = triple.candidate
    names = [m for m in _NAME.finditer(text) if m[0] not in _STARTERS and not _MONTH.search(m[0])]
    pairs = [
        (first, second)
        for first, second in pairwise(names)
        if not _SYMMETRIC.fullmatch(text[first.end() : second.start()])
        and not re.search(r"[.!?;]", text[first.end() : second.start()])
        and (found is None or any(m.start() < found.end() and found.start() < m.end() for m in (first, second)))
        and first[0].lower() not in second[0].lower()
        and second[0].lower() not in first[0].lower()
    ]
    if not pairs:
        return None
    (a, b), (c, d) = (name.span() for name in rng.choice(pairs))
    return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


def _neighbour(triple: Triple, answers: Answers, rng: random.Random) -> str | None:
    """Another name or number that stands near the right answer takes its place."""
    found = _occurrence(triple.references, triple.candidate)
    if found is None:
        return None
    text, pattern = triple.candidate, _NUMBER if _NUMBER.search(found[0]) else _NAME
    if pattern is _NAME and not found[0][:1].isupper():
        return None
    known = set(normalised(f"{triple.question} {' '.join(triple.references)}").split())
    others = [
        other[0]
        for other in pattern.finditer(text)
        if not known & set(normalised(other[0]).split())
        and other[0] not in _STARTERS
        and not (pattern is _NAME and _MONTH.search(other[0]))
        and not _SYMMETRIC.fullmatch(text[min(other.end(), found.end()) : max(other.start(), found.start())])
    ]
    if not others:
        return None
    other = rng.choice(others)
    shape = rng.random()
    if shape < 0.4:
        return other
    if shape < 0.6:
        return f"It is {other}." if pattern is _NUMBER else f"It was {other}."
    text = re.sub(rf"(?<!\w){re.escape(found[0])}(?!\w)", lambda _: other, text)
    return None if _occurrence(triple.references, text) else text


CHANGES: dict[str, Callable] = {  # every one makes an incorrect answer of a correct one
    "wrong_answer": _with_wrong_answer,
    "wrong_number": _with_wrong_number,
    "wrong_name": _with_wrong_name,
    "neighbour": _neighbour,
    "negated": _negated,
    "swapped": _swapped,
}


def changed(triples: Sequence[Triple], kind: str, answers: Answers, rng: random.Random) -> list[Triple]:
    """Return incorrect answers made of the correct ones by a change of `CHANGES`, where it can be made.

    For half of them the unchanged answer takes the place of the references, so that all else agrees. A change that
    says "not" also goes the other way round: what the reference denies is wrong to say and right to deny.
    """
    made = []
    for triple in triples:
        text = CHANGES[kind](triple, answers, rng) if triple.label == 1 else None
        if not text or normalised(text) == normalised(triple.candidate):
            continue
        shape = rng.random()
        if shape < 0.5:
            made.append(replace(triple, candidate=text, label=0.0, kind=kind))
        elif shape < 0.8 or kind not in ("negated", "swapped"):
            made.append(replace(triple, references=(triple.candidate,), candidate=text, label=0.0, kind=kind))
        else:
            said = rng.choice([text, triple.candidate])
            made.append(replace(triple, references=(text,), candidate=said, label=float(said == text), kind=kind))
    return made


def flooded(triples: Sequence[Triple], rng: random.Random) -> list[Triple]:
    """Return the triples with other sentences and words of the question around the candidate; the verdict stays."""
    made = []
    for triple in triples:
        others = [rng.choice(triples).candidate for _ in range(rng.choice([1, 1, 2]))]
        if rng.random() < 0.4:
            others[0] = rng.choice(_CIRCULAR).format(triple.question.rstrip("?. "))
        others = [text for text in others if _occurrence(triple.references, text) is None]
        if others and triple.label in (0, 1):
            texts = [triple.candidate, *others]
            rng.shuffle(texts)
            made.append(replace(triple, candidate=" ".join(texts), kind="flooded"))
    return made


def off_topic(triples: Sequence[Triple], rng: random.Random) -> list[Triple]:
    """Return answers to other questions, evasions and the question itself as candidates: all incorrect."""
    made = []
    for triple in triples:
        chance, question = rng.random(), triple.question.rstrip("?. ")
        if chance < 0.3:
            text = rng.choice(triples).candidate
        elif chance < 0.5:
            text = rng.choice(EVASIONS)
        elif chance < 0.7:
            text = question + rng.choice(["?", "", "."])
        else:
            text = rng.choice(_CIRCULAR).format(question)
        if _occurrence(triple.references, text) is None:
            made.append(replace(triple, candidate=text, label=0.0, kind="off_topic"))
    return made


def aliases(triples: Sequence[Triple], rng: random.Random) -> list[Triple]:
    """Return references as candidates: one that is listed and, of short lists, one that is taken out of the list."""
    made = []
    for triple in {t.question: t for t in triples}.values():
        texts = list(triple.references)
        candidate = rng.choice(texts)
        others = [text for text in texts if normalised(text) != normalised(candidate)]
        references = tuple(others) if others and len(texts) <= 4 and rng.random() < 0.5 else triple.references
        made.append(replace(triple, references=references, candidate=candidate, label=1.0, kind="alias"))
    return made


def _other_form(text: str, rng: random.Random) -> str:
    """Return a text with its first date or number written in another way, or as it is."""
    if found := _DATE.search(text):
        day, month, year = (found[name] or found[f"{name}2"] for name in ("day", "month", "year"))
        ending = "th" if 10 < int(day) < 20 else {"1": "st", "2": "nd", "3": "rd"}.get(day[-1], "th")
        forms = [f"{month} {day}, {year}", f"{day} {month} {year}", f"the {day}{ending} of {month} {year}"]
        forms += [f"{month[:3]} {day}, {year}", f"{month} {day}{ending}, {year}"]
        new = rng.choice([form for form in forms if form != found[0]])
    elif found := re.search(rf"(?i)\b(?:{'|'.join(_VALUES)})\b|(?<![\d.,:-])\b(?:[2-9]|1[0-2])\b(?![.,:-]?\d)", text):
        said = found[0].lower()
        new = str(_VALUES[said]) if said in _VALUES else next(w for w, value in _VALUES.items() if value == int(said))
    else:
        return text
    return text[: found.start()] + new + text[found.end() :]


def reworded(triples: Sequence[Triple], rng: random.Random) -> list[Triple]:
    """Return the triples with dates and numbers of one side written in another way, and surnames for whole names.

    "two" for "2", "4 July 1776" for "July 4, 1776": the verdict stays. A surname stands for a person in correct
    answers to questions with "who" only.
    """
    made = []
    for triple in triples:
        found = _occurrence(triple.references, triple.candidate)
        person = found and re.search(r"\bwho\b", triple.question, re.IGNORECASE) and triple.label == 1
        words = found[0].split() if person else []
        if 2 <= len(words) <= 3 and all(re.fullmatch(r"[A-Z][\w'.-]+", word) for word in words):
            text = triple.candidate.replace(found[0], words[-1])
            made.append(replace(triple, references=(found[0],), candidate=text, kind="reworded"))
        elif rng.random() < 0.5:
            text = _other_form(triple.candidate, rng)
            if text != triple.candidate:
                made.append(replace(triple, candidate=text, kind="reworded"))
        else:
            texts = tuple(_other_form(text, rng) for text in triple.references)
            if texts != triple.references:
                made.append(replace(triple, references=texts, kind="reworded"))
    return made


MAKERS: dict[str, Callable] = {  # more triples of judged ones, beside the `CHANGES`
    "other_system": other_system_triples,
    "flooded": flooded,
    "off_topic": off_topic,
    "alias": aliases,
    "reworded": reworded,
}


def span_triples(rows: Iterable, answers: Answers, rng: random.Random, kind: str = "span") -> Iterator[Triple]:
    """Yield triples of extractive QA: sentences that hold the answer, the answer alone, and wrong ones of both.

    Args:
        rows: `Answer` rows of `training/kpqa/data.py`: question, sentence, label per character.
        answers: where wrong answers come from.
        rng: source of randomness.
        kind: kind of the triples.

    Yields:
        For each row a correct and an incorrect triple; reference and candidate are the span or the sentence by turns.
    """
    for row in rows:
        marked = [i for i, label in enumerate(row.labels) if label > 0]
        if not marked:
            continue
        span = row.text[marked[0] : marked[-1] + 1]
        right = Triple(row.question, (span,), row.text, 1.0, kind)
        wrong = _with_wrong_answer(right, answers, rng)
        shape = rng.random()
        if shape < 0.25:  # spans on both sides
            candidate, bad, references = span, answers.wrong_one(row.question, [span], rng), (span,)
        elif shape < 0.55:  # the span as reference, a sentence as candidate
            candidate, bad, references = row.text, wrong, (span,)
        elif shape < 0.8:  # a sentence as reference, the span as candidate
            candidate, bad, references = span, answers.wrong_one(row.question, [span], rng), (row.text,)
        else:  # sentences on both sides, only the answer in common
            candidate, bad, references = row.text, wrong, (row.text,)
        yield Triple(row.question, references, candidate, 1.0, kind)
        if bad and normalised(bad) != normalised(candidate):
            yield Triple(row.question, references, bad, 0.0, f"{kind}_wrong")


def yes_no_triples(sentences: Sequence[str], count: int, rng: random.Random) -> list[Triple]:
    """Return yes/no questions made of declarative sentences, with answers that agree with the reference or do not."""
    clause = re.compile(
        r"((?:[\w'-]+ ){1,7}?)(is|are|was|were|can|could|will|would|has|have|had|should)((?: [\w',-]+){1,14})\s*\.?"
    )
    clauses = [m.groups() for m in map(clause.fullmatch, sentences) if m]
    made = []
    for i in range(min(count, 5 * len(clauses))):
        subject, verb, rest = (text.strip() for text in clauses[i % len(clauses)])
        subject = subject[:1].lower() + subject[1:]
        pronoun = rng.choice(["he", "she", "it", "they", "i"])

        def answer(word, subject=subject, verb=verb, rest=rest, pronoun=pronoun):
            said = verb if word == "yes" else f"{verb} not"
            forms = [word, f"{word}, {pronoun} {said}", f"{word}, {subject} {said} {rest}", f"{subject} {said} {rest}"]
            return rng.choice(forms)

        question = f"{verb} {subject} {rest}{rng.choice([' ?', '?', ''])}"
        true, said = rng.choice(["yes", "no"]), rng.choice(["yes", "no"])
        references = tuple(dict.fromkeys(answer(true) for _ in range(rng.choice([1, 1, 3]))))
        made.append(Triple(question, references, answer(said), float(true == said), "yes_no"))
    return made
