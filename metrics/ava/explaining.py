"""Explains verdicts: the reference that decided, and the words that count for and against an answer.

The effect of a word is the probability with it minus the probability without it (occlusion): a word with an effect
above 0 counts for the answer, below 0 against it. Without "1944", a wrong "in 1944" is empty and no better. So in an
answer that is judged wrong, a number or name is replaced by one that only the reference has. The changed answers are
judged in batches, against the reference that decided. Of a long answer each sentence is left out too, so that a
reason can begin with the one that decides.
"""

import re
from collections.abc import Callable, Sequence

import numpy as np

from ..core.answers import attempts
from ..core.quantities import quantities
from ..core.reading import COMMON, one_line
from ..core.replacing import instead, parts
from ..core.scorer import UNSURE_FROM, UNSURE_TO
from ..core.words import WORD, keys
from .differences import in_words, repairs
from .faults import ORDERED
from .judging import Rules

STRONG = 0.02  # effect of a sentence from which it decides
TELLING = 0.2  # effect of a word from which a reason names it; smaller ones name "A" and "is" of written answers
TELLING_IF_UNSURE = 0.4  # the same near the threshold, where leaving out nearly any word changes the verdict
NO_NEGATION = "the accepted answer has a negation, and this one has none"
NEAR = 0.2  # distance of a probability from the threshold up to which the judge is called unsure
NAMED = 2  # the most words that a reason names
LONG_ANSWER = 40  # words of an answer from which a reason begins with the sentence that decides
SHOWN = 25  # words of that sentence that are shown
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


def without(answer: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return an answer with some of its parts removed, and the gaps closed.

    >>> without("It was not Bonn.", [(7, 10)])
    'It was Bonn.'
    """
    for start, end in sorted(spans, reverse=True):
        answer = answer[:start] + answer[end:]
    return re.sub(r"[ \t]+", " ", re.sub(r"(?<!\s)\s++([.,;:!?])", r"\1", answer)).strip()


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
    if a rule decided; and what makes a wrong answer wrong, see `differences.repairs`, with so many changes at most.
    """
    rows = list(zip(questions, references, predictions, strict=True))

    def judged(rows: list[tuple]) -> np.ndarray:
        return np.asarray(probabilities(*(map(list, zip(*rows, strict=True)) if rows else ([], [], []))))

    single = judged([(question, [text], answer) for question, texts, answer in rows for text in texts])
    by_row = np.split(single, np.cumsum([len(texts) for texts in references])[:-1])
    deciding, best = [int(each.argmax()) for each in by_row], [float(each.max()) for each in by_row]
    accepted = [texts[number] for texts, number in zip(references, deciding, strict=True)]
    whole = probabilities(questions, references, predictions)
    words = [parts(text) for text in predictions]
    long = [sentences(text) if len(text.split()) >= LONG_ANSWER else [] for text in predictions]
    # Words of an answer that declines have no effect: without one of them it would be another answer.
    declines = [bool(by_rule and by_rule[i]) and not attempts(text) for i, text in enumerate(predictions)]
    wrong = [i for i in range(len(rows)) if whole[i] < threshold and not (by_rule and by_rule[i])] if changes else []
    wrong = [i for i in wrong if attempts(predictions[i])]
    mended = repairs(*zip(*(rows[i] for i in wrong), strict=True), probabilities, changes) if wrong else []
    repaired = {i: repair for i, repair in zip(wrong, mended, strict=True) if repair.accepted}
    whole_only = {i for i in range(len(rows)) if declines[i]} | repaired.keys()
    places = [(i, *span) for i in range(len(rows)) if i not in whole_only for span in (*words[i], *long[i])]

    def changed(i: int, start: int, end: int) -> str:
        text, other = predictions[i], None
        if whole[i] < threshold and (start, end) in words[i]:
            other = instead(questions[i], accepted[i], text, text[start:end])
        return without(text, [(start, end)]) if other is None else f"{text[:start]}{other}{text[end:]}"

    left_out = judged([(questions[i], [accepted[i]], changed(i, *span)) for i, *span in places])
    effects: list[list] = [[] for _ in rows]  # of words, then of sentences
    for (i, start, end), probability in zip(places, left_out, strict=True):
        effect, text = best[i] - float(probability), predictions[i][start:end]
        if whole[i] < threshold and _stands_in(text, accepted[i]):
            effect = max(effect, 0.0)  # what is accepted is not to blame
        effects[i].append([text, effect, start, end])
    result = []
    for i, (question, _, answer) in enumerate(rows):
        word_effects, sentence_effects = effects[i][: len(words[i])], effects[i][len(words[i]) :]
        probability, differences = float(whole[i]), []
        if i in whole_only:
            word_effects = [[answer[start:end], 0.0, start, end] for start, end in words[i]]
        if i in repaired:
            differences = repaired[i].differences()
            changed_texts = [
                (each.start, each.start + len(each.text)) for each in differences if each.kind != "missing"
            ]
            for word in word_effects:
                if any(start < word[3] and word[2] < end for start, end in changed_texts):
                    word[1] = probability - repaired[i].probability
        unsure = "the judge is unsure: " * is_unsure(probability, threshold)
        why = (by_rule and by_rule[i]) or (differences and in_words(differences, unsure))
        row = question, accepted[i], answer, probability, word_effects, threshold, sentence_effects
        result.append(
            {
                "reference": deciding[i],
                "probability": probability,
                "words": word_effects,
                "reason": why or reason(*row),
                "differences": [[each.kind, each.text, each.accepted] for each in differences],
            }
        )
    return result


def is_unsure(probability: float, threshold: float) -> bool:
    """Return whether the judge is unsure of an answer: its probability is in the middle, and near the threshold."""
    return UNSURE_FROM < probability < UNSURE_TO and abs(probability - threshold) <= NEAR


def strongest(words: Sequence[Sequence], probability: float, threshold: float, count: int) -> list[list]:
    """Return up to `count` of the words, [word, effect, start, end], that count most for the verdict."""
    sign = 1 if probability >= threshold else -1
    return sorted((word for word in words if sign * word[1] > 0), key=lambda word: -sign * word[1])[:count]


def reason(
    question: str,
    reference: str,
    answer: str,
    probability: float,
    words: Sequence[Sequence],
    threshold: float,
    sentence_effects: Sequence[Sequence] = (),
) -> str:
    """Return one sentence on what decided the verdict; for a long answer it first quotes the deciding sentence."""
    right = probability >= threshold
    if not right and words and not attempts(answer):
        return f"It declines to answer; accepted: {_short(reference)}."
    unsure = is_unsure(probability, threshold)
    start = "the judge is unsure: " if unsure else ""
    blamed = words if right else [word for word in words if not _stands_in(word[0], reference)]
    sentence = deciding_sentence(sentence_effects, reference, probability, threshold)
    if sentence:
        _, _, first, last = sentence
        start += f"in {_short(one_line(answer[first:last]), SHOWN)}: "
        blamed = [word for word in blamed if first <= word[2] < last]
    if any(says_something(text) for text, *_ in words):
        linking = [match.span() for match in _CONNECTIVE.finditer(answer)]
        blamed = [
            word
            for word in blamed
            if says_something(word[0]) and not any(first <= word[2] < last for first, last in linking)
        ]
    named = strongest(blamed, probability, threshold, len(blamed))
    least = max([TELLING_IF_UNSURE if unsure else TELLING, *(abs(word[1]) / 2 for word in named[:1])])
    named = [word for word in named if abs(word[1]) >= least]
    if right:  # what is accepted says more than what stands beside it
        named = [word for word in named if _stands_in(word[0], reference)] or named
    named = named[:NAMED]
    in_order, said_in_order = keys(reference), keys(answer)
    lacks_negation = _NEGATION.search(reference) and not _NEGATION.search(answer)
    if not words:
        text = "the answer has no words"
    elif right and named:
        counts = "moved it towards correct" if unsure else f"{_verb(named, 'count')} for it"
        text = f"{_quoted(named)} {counts}; accepted: {_cited(reference, named)}"
    elif unsure and not named:
        turning = [word for word in strongest(blamed, probability, threshold, 1) if abs(word[1]) >= TELLING]
        turns = bool(turning) and (probability - turning[0][1] >= threshold) != right
        but_for = f" and, but for {_quoted(turning)}, would call it {'wrong' if right else 'right'}" if turns else ""
        if all((probability - effect >= threshold) == right for _, effect, *_ in words):
            but_for = ", and no single word decides"
        start, text = "", f"the judge is unsure{but_for}: read it; accepted: {_short(reference)}"
        if not right and lacks_negation:
            text = f"the judge is unsure: read it; {NO_NEGATION}: {_short(reference)}"
    elif right:
        start, text = "", f"no single word decides; the judge takes it for the accepted answer {_short(reference)}"
    elif named:
        counts = "moved it towards wrong" if unsure else f"{_verb(named, 'count')} against it"
        text = f"{_quoted(named)} {counts}; {_contrast(reference, answer, named)}"
    elif lacks_negation:
        text = f"{NO_NEGATION}: {_short(reference)}"
    elif in_order != said_in_order and sorted(in_order) == sorted(said_in_order) and len(in_order) >= ORDERED:
        text = f"it has the words of the accepted answer in another order: {_short(reference)}"
    else:
        missing = _missing(reference, f"{question} {answer}")
        text = f"missing: {missing}; accepted: " if missing else "it does not match the accepted answer "
        text += _short(reference)
    text = start + text
    return text[:1].upper() + text[1:] + "."


def sentences(answer: str) -> list[tuple[int, int]]:
    r"""Return the positions of the sentences and lines of an answer.

    >>> text = "# Notes\n1. It is old.\n2. Built in 4.5 years!"
    >>> [text[start:end] for start, end in sentences(text)]
    ['# Notes', '1. It is old.', '2. Built in 4.5 years!']
    """
    return [match.span() for match in _SENTENCE.finditer(answer) if any(map(str.isalnum, match[0]))]


def deciding_sentence(
    sentence_effects: Sequence[Sequence], reference: str, probability: float, threshold: float
) -> Sequence | None:
    """Return the [sentence, effect, start, end] that decided the verdict on a long answer; None without one.

    This is the sentence with the largest effect, if that is at least `STRONG`; else, where the answer is judged wrong,
    the sentence that shares most words with the reference.
    """
    (result,) = strongest(sentence_effects, probability, threshold, 1) or [None]
    if result and abs(result[1]) >= STRONG:
        return result
    wanted = _content(reference)
    near = max(sentence_effects, key=lambda effect: len(wanted & _content(effect[0])), default=None)
    return near if near and probability < threshold and wanted & _content(near[0]) else None


_BY_RULE = {
    ("identity", True): "It is the accepted answer {accepted}",
    ("identity", False): "It has the letters of the accepted answer, and other signs; accepted: {accepted}",
    ("number", True): "It is the accepted number {accepted}",
    ("number", False): "{answer} counts against it; accepted: {accepted}",
    ("no_answer", True): "It declines, and the question has no answer; accepted: {accepted}",
    ("no_answer", False): "It answers, and the question has no answer; accepted: {accepted}",
}


def reason_by_rule(rules: Rules, question: str, references: Sequence[str], output: str) -> str | None:
    """Return one sentence that says by which rule an answer is right or wrong; None if the model decides.

    >>> rules, capital = Rules(), ("Capital of France?", ["Paris"])
    >>> reason_by_rule(rules, *capital, "Paris."), reason_by_rule(rules, *capital, "Lyon")
    ("It is the accepted answer 'Paris' (checked by rule).", None)
    >>> reason_by_rule(rules, "When did it end?", ["1945"], "1944")
    "'1944' counts against it; accepted: '1945' (checked by rule)."
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


def without_references(reason: str, references: Sequence[str]) -> str:
    """Return a reason without its quoted references, for readers who see the references beside it.

    >>> without_references("'1944' counts against it; accepted: '1945' (checked by rule).", ["In 1945", "1945"])
    "'1944' counts against it (checked by rule)."
    >>> without_references("It has the words of the accepted answer in another order: 'Ann saw Bo'.", ["Ann saw Bo."])
    'It has the words of the accepted answer in another order.'
    """
    cited = "|".join(re.escape(_short(reference)) for reference in references)
    before = r"; accepted:|(none|order|negation|declines):|(accepted (?:answer|option|quantity))"
    return re.sub(rf"(?:{before}) (?:{cited})(?=[.; ])", lambda match: match[1] or match[2] or "", reason)


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
    return bool(_content(word) - LINKING or _NEGATION.search(word))


def _content(text: str) -> set[str]:
    return {key for key in keys(text) if key not in COMMON}


def _quoted(words: Sequence[Sequence]) -> str:
    ordered = sorted(words, key=lambda word: word[2])
    return " and ".join(f"'{one_line(word[0])}'" for word in ordered)


def _verb(words: Sequence[Sequence], verb: str) -> str:
    return verb if len(words) > 1 else f"{verb}s"


def _short(text: str, most: int = 12) -> str:
    """Return a text in quotes, the first words of a long one."""
    parts_of_it = text.split()
    return f"'{' '.join(parts_of_it[:most])} ...'" if len(parts_of_it) > most else f"'{text.strip().rstrip('.')}'"


def _cited(reference: str, words: Sequence[Sequence]) -> str:
    """Return in quotes the part of a reference around the first of `words` that it contains, else its beginning."""
    for word, *_ in words:
        match = re.search(rf"(?i)(?<!\w){re.escape(word)}(?!\w)", reference)
        if match and len(reference.split()) > 12:
            before = reference[: match.start()].split()[-4:]
            after = reference[match.end() :].split()[:4]
            return f"'... {' '.join([*before, match[0], *after]).rstrip('.')} ...'"
    return _short(reference)


def _contrast(reference: str, answer: str, words: Sequence[Sequence]) -> str:
    """Return a phrase with the part of the reference that contradicts the words that count against an answer.

    >>> _contrast("20 cents a day, at most 6 euros", "€0.20 a day, at most €16", [["€16"]])
    "accepted: '6'"
    """
    blamed = " ".join(word[0] for word in words)
    if _NEGATION.search(blamed) and not _NEGATION.search(reference):
        return f"the accepted answer has no negation: {_short(reference)}"
    if re.search(r"\d", blamed):
        stated = {number for quantity in quantities(answer) for number in (quantity.value, quantity.number)}
        same = [each for each in quantities(reference) if {each.value, each.number} & stated]  # 20 cents and €0.20
        matches = re.finditer(r"\d[\d.,]*\d|\d", reference)
        numbers = [m[0] for m in matches if not any(each.start <= m.start() < each.end for each in same)]
        if numbers:
            listed = " and ".join(f"'{number}'" for number in numbers[:2])
            return f"accepted: {_short(reference) if len(reference.split()) <= 4 else listed}"
    return f"accepted: {_short(reference)}"


def _missing(reference: str, answer: str) -> str:
    """Return up to three words of a reference that an answer lacks, in quotes, names and numbers first.

    Where an answer has a quantity, the numbers and units of the reference may be there in another form.

    >>> _missing("The blue door", "a red door"), _missing("90 days", "3 months")
    ("'blue'", '')
    """
    spans = [(quantity.start, quantity.end) for quantity in quantities(reference)] if quantities(answer) else []
    answer_words = {word.lower() for word in WORD.findall(answer)}
    lacking = dict.fromkeys(
        word[0]
        for word in WORD.finditer(reference)
        if word[0].lower() not in answer_words
        and len(word[0]) > 3
        and _content(word[0]) - LINKING
        and not any(start <= word.start() < end for start, end in spans)
    )
    ordered = sorted(lacking, key=lambda word: not (word[0].isupper() or word[0].isdigit()))
    return ", ".join(f"'{word}'" for word in ordered[:3])
