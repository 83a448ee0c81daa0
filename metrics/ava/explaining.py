"""Explains verdicts: the reference that decided, and what a wrong answer lacks, adds or contradicts.

Where no difference is known, and of right answers, the effect of every word is the probability with it minus the
probability without it (occlusion): a word with an effect above 0 counts for the answer, below 0 against it. Without
"1944", a wrong "in 1944" is empty and no better. So in an answer that is judged wrong, a number or name is replaced by
one that only the reference has. The changed answers are judged in batches, against the reference that decided.
"""

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..core.answers import attempts
from ..core.quantities import quantities
from ..core.reading import COMMON, one_line
from ..core.replacing import instead, parts
from ..core.scorer import UNSURE_FROM, UNSURE_TO, Mark
from ..core.words import WORD, keys
from .differences import Difference, in_words, repairs, stated_differences
from .faults import ORDERED
from .judging import Rules

TELLING = 0.2  # effect of a word from which a reason names it; smaller ones name "A" and "is" of written answers
MARKED = 0.1  # effect of a word from which it is marked
NEAR = 0.2  # distance of a probability from the threshold up to which the judge is called unsure
NAMED = 2  # the most words that a reason names
LONG_ANSWER = 40  # words of an answer from which a reason begins with the sentence of the word that counts most
SHOWN = 12  # words of that sentence, of a difference, and of a reference that are shown
_SENTENCE = re.compile(
    r"(?:(?m:^)[ \t]*\d{1,2}[.)][ \t]+(?=\S))?[^\s.!?](?:[^.!?\n]|[.!?]++(?![\s\"'*)]|\Z))*[.!?]*[\"'*)]*"
)
_NEGATION = re.compile(r"(?i)\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot)\b|n['’]t\b")
LINKING = frozenset(  # beside COMMON: words that a reason does not name, since they say nothing alone
    "about almost also although approximately around because but can could enough fairly fully here however i if just "
    "me my nearly our please quite rather roughly since so some such then there therefore these those thus too us "
    "very we while will would".split()
)
_CONNECTIVE = re.compile(r"(?i)\b(as (?:far|long|soon|well) as|or (?:more|less)|i\.e|e\.g)\b")  # LINKING as a whole

Probabilities = Callable[[Sequence[str], Sequence[Sequence[str]], Sequence[str]], np.ndarray]


def without(answer: str, start: int, end: int) -> str:
    """Return an answer with one of its parts removed, and the gap closed.

    >>> without("It was not Bonn.", 7, 10)
    'It was Bonn.'
    """
    text = answer[:start] + answer[end:]
    return re.sub(r"[ \t]+", " ", re.sub(r"(?<!\s)\s++([.,;:!?])", r"\1", text)).strip()


def explanations(
    questions: Sequence[str],
    references: Sequence[Sequence[str]],
    predictions: Sequence[str],
    probabilities: Probabilities,
    threshold: float,
    by_rule: Sequence[str | None] | None = None,
    changes: int = 0,
) -> list[dict]:
    """Return per row `reference`, `probability`, `words`, `reason` and `differences`.

    These are the number of the deciding reference, the likest by the judge; the probability of the row; [word, effect,
    start, end] in order, where a word of that reference does not count against an answer; a sentence, of `by_rule`
    if a rule decided; and what makes a wrong answer wrong: by changes that the judge accepts, see
    `differences_of_wrong`.
    """
    rows = list(zip(questions, references, predictions, strict=True))
    by_rule = by_rule or [None] * len(rows)

    def judged(rows: list[tuple]) -> np.ndarray:
        return np.asarray(probabilities(*(map(list, zip(*rows, strict=True)) if rows else ([], [], []))))

    single = judged([(question, [text], answer) for question, texts, answer in rows for text in texts])
    by_row = np.split(single, np.cumsum([len(texts) for texts in references])[:-1])
    deciding, best = [int(each.argmax()) for each in by_row], [float(each.max()) for each in by_row]
    accepted = [texts[number] for texts, number in zip(references, deciding, strict=True)]
    whole = [float(probability) for probability in probabilities(questions, references, predictions)]
    words = [parts(text) for text in predictions]
    # Words of an answer that declines have no effect: without one of them it would be another answer.
    declines = [bool(rule) and not attempts(text) for rule, text in zip(by_rule, predictions, strict=True)]
    wrong = [i for i, row in enumerate(rows) if whole[i] < threshold and not by_rule[i] and attempts(row[2])]
    stated_of = differences_of_wrong([rows[i] for i in wrong], probabilities, changes)
    differences = {i: stated for i, (stated, _) in zip(wrong, stated_of, strict=True)}
    rises = {i: whole[i] - repaired for i, (_, repaired) in zip(wrong, stated_of, strict=True) if repaired is not None}
    places = [(i, *span) for i, row in enumerate(rows) if not declines[i] and i not in rises for span in words[i]]

    def changed(i: int, start: int, end: int) -> str:
        text, other = predictions[i], None
        if whole[i] < threshold:
            other = instead(questions[i], accepted[i], text, text[start:end])
        return without(text, start, end) if other is None else f"{text[:start]}{other}{text[end:]}"

    left_out = judged([(questions[i], [accepted[i]], changed(i, *span)) for i, *span in places])
    effects = {(i, *span): best[i] - float(p) for (i, *span), p in zip(places, left_out, strict=True)}
    result = []
    for i, (question, _, answer) in enumerate(rows):
        stated = differences.get(i, [])
        spans = [(each.start, each.start + len(each.text)) for each in stated if each.kind != "missing"]
        word_effects = []
        for start, end in words[i]:
            effect = effects.get((i, start, end), 0.0)
            if i in rises and any(first < end and start < last for first, last in spans):
                effect = rises[i]
            if whole[i] < threshold and _stands_in(answer[start:end], accepted[i]):
                effect = max(effect, 0.0)  # what is accepted is not to blame
            word_effects.append([answer[start:end], effect, start, end])
        unsure = "unsure: " * is_unsure(whole[i], threshold)
        row = question, accepted[i], answer, whole[i], word_effects, threshold
        result.append(
            {
                "reference": deciding[i],
                "probability": whole[i],
                "words": word_effects,
                "reason": by_rule[i] or (in_words(stated, unsure) if stated else reason(*row)),
                "differences": [[each.kind, each.text, each.accepted] for each in stated],
            }
        )
    return result


def differences_of_wrong(
    rows: Sequence[tuple[str, Sequence[str], str]], probabilities: Probabilities, changes: int
) -> list[tuple[list[Difference], float | None]]:
    """Return what makes each wrong answer, (question, references, answer), wrong, by the least change that helps.

    At most `changes` are tried, see `repairs`. With it comes the probability of the changed answer: None where no
    change says it, but dates, numbers, names and negations do.
    """
    result, repaired = [], [None] * len(rows)
    if rows and changes:
        repaired = repairs(*zip(*rows, strict=True), probabilities, changes)
    for row, repair in zip(rows, repaired, strict=True):
        stated = repair.differences() if repair and repair.accepted else []
        is_short = stated and max(len(each.text.split()) for each in stated) <= SHOWN  # a longer one says nothing
        result.append((stated, repair.probability) if is_short else (stated_differences(*row), None))
    return result


def is_unsure(probability: float, threshold: float) -> bool:
    """Return whether the judge is unsure of an answer: its probability is in the middle, and near the threshold."""
    return UNSURE_FROM < probability < UNSURE_TO and abs(probability - threshold) <= NEAR


def reason(
    question: str, reference: str, answer: str, probability: float, words: Sequence[Sequence], threshold: float
) -> str:
    """Return one sentence on what decided the verdict; for a long answer it first quotes the sentence of the word."""
    right = probability >= threshold
    if not words:
        return "The answer has no words."
    if not right and not attempts(answer):
        return f"It declines to answer; accepted: {_short(reference)}."
    blamed = words if right else [word for word in words if not _stands_in(word[0], reference)]
    if any(says_something(text) for text, *_ in words):
        linking = [match.span() for match in _CONNECTIVE.finditer(answer)]
        blamed = [
            word
            for word in blamed
            if says_something(word[0]) and not any(first <= word[2] < last for first, last in linking)
        ]
    named = sorted(blamed, key=lambda word: -word[1] if right else word[1])
    least = max([TELLING, *(abs(word[1]) / 2 for word in named[:1])])
    named = [word for word in named if (word[1] if right else -word[1]) >= least]
    if right:  # what is accepted says more than what stands beside it
        named = [word for word in named if _stands_in(word[0], reference)] or named
    named = named[:NAMED]
    in_order, said_in_order = keys(reference), keys(answer)
    if named:
        ordered = sorted(named, key=lambda word: word[2])
        quoted = " and ".join(f"'{one_line(word[0])}'" for word in ordered)
        counts = f"{'count' if len(named) > 1 else 'counts'} {'for' if right else 'against'} it"
        text = f"{_sentence_of(named[0], answer)}{quoted} {counts}; accepted: {_cited(reference, named)}"
    elif right:
        text = f"the judge reads it as the accepted answer {_short(reference)}"
    elif in_order != said_in_order and sorted(in_order) == sorted(said_in_order) and len(in_order) >= ORDERED:
        text = f"it has the words of the accepted answer in another order: {_short(reference)}"
    elif missing := _missing(reference, f"{question} {answer}"):
        text = f"missing: {missing}; accepted: {_short(reference)}"
    else:
        text = f"it does not match the accepted answer {_short(reference)}"
    text = "unsure: " * is_unsure(probability, threshold) + text
    return text[:1].upper() + text[1:] + "."


def _sentence_of(word: Sequence, answer: str) -> str:
    """Return the beginning of a reason that quotes the sentence or line of a word of a long answer; else ""."""
    if len(answer.split()) < LONG_ANSWER:
        return ""
    lines = (match for match in _SENTENCE.finditer(answer) if match.start() <= word[2] < match.end())
    return next((f"in {_short(one_line(match[0]))}: " for match in lines), "")


def marks(answer: str, explanation: Mapping) -> list[Mark]:
    """Return the marks of an answer: what differs from the accepted answer, else words that count, with their effects.

    >>> words, differences = [["In", -0.3, 0, 2], ["1944", -0.5, 3, 7]], [["contradicts", "1944", "1945"]]
    >>> marks("In 1944", {"words": words, "differences": []}), marks("In 1944", {"differences": differences})
    ([(3, 7, 'against', '-0.50')], [(3, 7, 'against', '')])
    """
    if explanation["differences"]:
        texts = [text for kind, text, _ in explanation["differences"] if kind != "missing" and text in answer]
        starts = sorted((answer.index(text), text) for text in texts)
        return [(start, start + len(text), "against", "") for start, text in starts]
    words = explanation["words"]
    is_telling = any(says_something(word) for word, *_ in words)
    return [
        (start, end, "for" if effect > 0 else "against", f"{effect:+.2f}")
        for word, effect, start, end in words
        if abs(effect) >= MARKED and (says_something(word) or not is_telling)
    ]


_BY_RULE = {
    ("identity", True): "It is the accepted answer {accepted}",
    ("identity", False): "It has the letters of the accepted answer, and other signs; accepted: {accepted}",
    ("number", True): "It is the accepted number {accepted}",
    ("number", False): "{answer} is not {accepted}",
    ("no_answer", True): "It declines, and the question has no answer; accepted: {accepted}",
    ("no_answer", False): "It answers, and the question has no answer; accepted: {accepted}",
}


def reason_by_rule(rules: Rules, question: str, references: Sequence[str], output: str) -> str | None:
    """Return one sentence that says by which rule an answer is right or wrong; None if the model decides.

    >>> rules, capital = Rules(), ("Capital of France?", ["Paris"])
    >>> reason_by_rule(rules, *capital, "Paris."), reason_by_rule(rules, *capital, "Lyon")
    ("It is the accepted answer 'Paris' (checked by rule).", None)
    >>> reason_by_rule(rules, "When did it end?", ["1945"], "1944")
    "'1944' is not '1945' (checked by rule)."
    """
    row = rules.read(question, references, output)
    if not any(map(str.isalnum, row.answer)) and any(map(str.isalnum, output)):
        return f"It only reasons, or calls a tool; accepted: {_short(references[0])} (checked by rule)."
    pairs = list(zip(row.references, row.verdicts, strict=True))
    right = [(text, verdict) for text, verdict in pairs if verdict and verdict.right]
    if not right and None in row.verdicts:
        return None
    text, verdict = (right or pairs)[0]
    reason = _BY_RULE[verdict.rule, verdict.right].format(accepted=_short(text), answer=_short(row.answer))
    return f"{reason} (checked by rule)."


def _stands_in(phrase: str, reference: str) -> bool:
    """Return whether every word of a part of an answer stands in the reference, in any form.

    >>> _stands_in("12 eggs", "twelve eggs"), _stands_in("ten eggs", "twelve eggs")
    (True, False)
    """
    return set(keys(phrase)) <= set(keys(reference))


def says_something(word: str) -> bool:
    """Return whether a word carries meaning by itself, as "red" and "not" do, but not "and".

    >>> says_something("red"), says_something("not"), says_something("and")
    (True, True, False)
    """
    return bool({*keys(word)} - COMMON - LINKING or _NEGATION.search(word))


def _short(text: str, most: int = SHOWN) -> str:
    """Return a text in quotes, the first words of a long one."""
    words = text.split()
    return f"'{' '.join(words[:most])} ...'" if len(words) > most else f"'{text.strip().rstrip('.')}'"


def _cited(reference: str, words: Sequence[Sequence]) -> str:
    """Return in quotes the part of a reference around the first of `words` that it contains, else its beginning."""
    for word, *_ in words:
        match = re.search(rf"(?i)(?<!\w){re.escape(word)}(?!\w)", reference)
        if match and len(reference.split()) > 12:
            before = reference[: match.start()].split()[-4:]
            after = reference[match.end() :].split()[:4]
            return f"'... {' '.join([*before, match[0], *after]).rstrip('.')} ...'"
    return _short(reference)


def _missing(reference: str, answer: str) -> str:
    """Return up to three words of a reference that an answer lacks, in quotes, names first.

    Where an answer has a quantity, those of the reference may be there in another form.

    >>> _missing("The blue door", "a red door"), _missing("90 days", "3 months")
    ("'blue'", '')
    """
    if quantities(answer):
        spans = [(each.start, each.end) for each in quantities(reference)]
        reference = "".join(letter for i, letter in enumerate(reference) if not any(a <= i < b for a, b in spans))
    in_answer = {word.lower() for word in WORD.findall(answer)}
    lacking = dict.fromkeys(
        word
        for word in WORD.findall(reference)
        if word.lower() not in in_answer and len(word) > 3 and {*keys(word)} - COMMON - LINKING
    )
    return ", ".join(f"'{word}'" for word in sorted(lacking, key=lambda word: not word[0].isupper())[:3])
