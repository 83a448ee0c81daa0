"""Explains verdicts: the reference that decided, a sentence on what the texts show, and the effect of every word.

The effect of a word is the probability with it minus the probability without it (occlusion): a word with an effect
above 0 counts for the answer, below 0 against it. It marks words, and is no reason. Without "1944", a wrong "in 1944"
is empty and no better. So in an answer that is judged wrong, a number or name is replaced by one that only the
reference has. The changed answers are judged in batches, against the reference that decided.
"""

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..core.answers import attempts
from ..core.reading import COMMON
from ..core.replacing import instead, parts
from ..core.scorer import UNSURE_FROM, UNSURE_TO, Mark
from ..core.words import absent_words, content, keys
from .differences import LINKING, NEGATION, ORDERED, Difference, differences, doubt, pairs_that_differ
from .judging import Rules

MARKED = 0.1  # effect of a word from which it is marked
SHOWN = 12  # words of a reference that are shown
FEW_WORDS = 3  # of a reference that an answer lacks, which are named where no other reason is known
NO_REASON = "the judge gives no reason in words"

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
    by_parts: bool = False,
    word_effects: bool = True,
) -> list[dict]:
    """Return per row `reference`, `probability`, `words`, `reason` and `differences`.

    These are the number of the deciding reference, the likest by the judge; the probability of the row; [word, effect,
    start, end] in order, where a word of that reference does not count against an answer; a sentence, of `by_rule`
    if a rule decided; and how a wrong answer differs from the accepted one, see `differences.differences`, with
    `by_parts` also as the judge says of parts of both. Without `word_effects` there are no words.
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
    words = [parts(text) if word_effects else [] for text in predictions]
    # Words of an answer that declines have no effect: without one of them it would be another answer.
    declines = [bool(rule) and not attempts(text) for rule, text in zip(by_rule, predictions, strict=True)]
    wrong = [i for i in range(len(rows)) if whole[i] < threshold and not by_rule[i]]
    columns = [[row[column] for row in map(rows.__getitem__, wrong)] for column in range(3)]
    named = dict(zip(wrong, differences(*columns, probabilities if by_parts else None), strict=True))
    places = [(i, *span) for i, row in enumerate(rows) if not declines[i] for span in words[i]]

    def changed(i: int, start: int, end: int) -> str:
        text, other = predictions[i], None
        if whole[i] < threshold:
            other = instead(questions[i], accepted[i], text, text[start:end])
        return without(text, start, end) if other is None else f"{text[:start]}{other}{text[end:]}"

    left_out = judged([(questions[i], [accepted[i]], changed(i, *span)) for i, *span in places])
    effects = {(i, *span): best[i] - float(p) for (i, *span), p in zip(places, left_out, strict=True)}
    result = []
    for i, (question, texts, answer) in enumerate(rows):
        right, stated, effects_of_words = whole[i] >= threshold, named.get(i, []), []
        for start, end in words[i]:
            effect = effects.get((i, start, end), 0.0)
            if not right and set(keys(answer[start:end])) <= set(keys(accepted[i])):
                effect = max(effect, 0.0)  # what is accepted is not to blame
            effects_of_words.append([answer[start:end], effect, start, end])
        reason = [_reason(question, accepted[i], answer, right, stated), *[doubt(question, texts, answer)] * right]
        text = "unsure: " * (UNSURE_FROM < whole[i] < UNSURE_TO) + "; ".join(filter(None, reason))
        result.append(
            {
                "reference": deciding[i],
                "probability": whole[i],
                "words": effects_of_words,
                "reason": by_rule[i] or f"{text[:1].upper()}{text[1:]}.",
                "differences": [[each.kind, each.text, each.accepted] for each in stated],
            }
        )
    return result


def _reason(question: str, reference: str, answer: str, right: bool, differences: Sequence[Difference]) -> str:
    """Return what can be seen in the texts for a verdict, without a capital letter and a stop.

    Of a right answer these are the words, dates or names that differ, where nothing else does; it can still be right.

    >>> _reason("Who?", "Ann Lee", "It was Ann Lee.", True, []), _reason("Is it?", "shut", "It is closed", False, [])
    ('judged right', "the judge gives no reason in words; accepted: 'shut'")
    >>> print(_reason("Which metals?", "Copper and zinc", "Of copper and tin", False, []))
    not in the answer: "zinc"; accepted: 'Copper and zinc'
    >>> _reason("Where?", "Oslo and Porto", "Oslo and Lisbon", True, [])
    'judged right; words that differ: "Lisbon" / "Porto"'
    """
    words, in_order = keys(answer), keys(reference)
    if not words:
        return "the answer has no words"
    if right:
        pairs = pairs_that_differ(question, reference, answer)
        differ = ", ".join(f'"{each.text}" / "{each.accepted}"' for each in pairs)
        return "judged right" + f"; words that differ: {differ}" * bool(differ)
    if not attempts(answer):
        return f"it declines to answer; accepted: {_short(reference)}"
    if differences:
        return "; ".join(map(str, differences))
    if in_order != words and sorted(in_order) == sorted(words) and len(in_order) >= ORDERED:
        return f"it has the words of the accepted answer in another order: {_short(reference)}"
    lacking = [reference[start:end] for start, end in absent_words(reference, answer)]
    lacking = [f'"{word}"' for word in lacking if says_something(word)]
    shares = {*content(reference)} & {*content(answer)}
    seen = f"not in the answer: {', '.join(lacking)}" if shares and 0 < len(lacking) <= FEW_WORDS else NO_REASON
    return f"{seen}; accepted: {_short(reference)}"


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
    ("identity", False): "{answer} is not {accepted}",
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
    >>> reason_by_rule(rules, "Which version?", ["2.10"], "2.1")
    "'2.1' is not '2.10' (checked by rule)."
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


def says_something(word: str) -> bool:
    """Return whether a word carries meaning by itself, as "red" and "not" do, but not "and".

    >>> says_something("red"), says_something("not"), says_something("and")
    (True, True, False)
    """
    return bool({*keys(word)} - COMMON - LINKING or NEGATION.search(word))


def _short(text: str) -> str:
    """Return a text in quotes, the first words of a long one."""
    words = text.split()
    return f"'{' '.join(words[:SHOWN])} ...'" if len(words) > SHOWN else f"'{text.strip().rstrip('.')}'"
