"""From extractive QA rows to the rows a keyphrase predictor is trained on: question, answer sentence(s), labels.

Lee et al., "KPQA: A Metric for Generative Question Answering Using Keyphrase Weights", NAACL 2021, section 3.1.
A label is the share of annotators (0 to 1) who put a character inside the answer, so annotators may disagree.
"""

import hashlib
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from training.common import source_rows

SEVERAL_ANSWERS = ("qasrl_gs", "qanom")  # whose texts of a row are all answers; elsewhere alternatives of one answer
SHORT_AMOUNT = 5  # words of a span that counts as an amount, under any question, if it contains a number
RESTATED = 0.1  # label of the question's words in an answer to a yes/no question

WORD = re.compile(r"\w+(?:'\w+)?|[^\w\s]")
_MONTHS = frozenset("january february march april may june july august september october november december".split())
_EDGES = re.compile(r"^(?:\W|(?:a|an|the)\b)+|\W+$", re.IGNORECASE)
_NUMBER = re.compile(
    r"\d[\d.,:/-]*|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|twenty|thirty|forty|"
    r"fifty|sixty|seventy|eighty|ninety|half|twice)\b",
    re.IGNORECASE,
)
_AMOUNT_QUESTION = re.compile(
    r"\bhow (?:\w+ )?(?:many|much|long|old|far|tall|big|high|deep|large|fast|often|wide)\b", re.I
)
_IS_QUESTION = re.compile(r"(?:what|who|where|when)(?:'s| (is|was|are|were)) ([^,?]+?)\s*\??", re.IGNORECASE)
CLAUSE = re.compile(
    r"((?:[\w'-]+ ){1,7}?)(is|are|was|were|can|could|will|would|has|have|had|should)((?: [\w',-]+){1,14})\s*\.?"
)
NEGATED = {"can": "can't", "will": "won't"}
_OPENINGS = frozenset(
    "and as at but by during for from how if in of on or so that then there to what when where who why".split()
)
FUNCTION_WORDS = frozenset(
    "a an the of in on at to for from by with as is are was were be been has have had do does did can could will "
    "would should and or that this these those it its he she they his her their there".split()
)


@dataclass(frozen=True)
class Answer:
    """One training row: `labels[i]` (0 to 1) is the label of character i of `text`, the answer to `question`."""

    question: str
    text: str
    labels: tuple[float, ...]
    source: str

    @property
    def span(self) -> str:
        """From the first to the last labelled character; "" if none is labelled."""
        marked = [i for i, label in enumerate(self.labels) if label > 0]
        return self.text[marked[0] : marked[-1] + 1] if marked else ""


def read_rows(source: str, folder: str | Path | None = None) -> Iterator[dict]:
    """Yield rows with SQuAD's columns of a local file, or of the training split of a data set on the Hub.

    SQuAD, HotpotQA, MS MARCO or any set with these columns; a configuration can follow a colon
    (`hotpotqa/hotpot_qa:distractor`). `whole` is true where all of the context is the answer's sentences.
    """
    converters = {"hotpotqa/hotpot_qa": hotpot_row, "microsoft/ms_marco": marco_row}
    rows = source_rows("sources", source, folder, setting="name", streaming=True)
    yield from filter(None, map(converters.get(source.partition(":")[0], dict), rows))


def located(question: str, context: str, answer: str, whole: bool) -> dict | None:
    """Return a row in which the answer is a span of the context, or None if it is none."""
    start = context.lower().find(answer.lower()) if answer.strip() else -1
    if start < 0 or len(context.lower()) != len(context):  # a few letters change length in lower case
        return None
    answers = {"text": [context[start : start + len(answer)]], "answer_start": [start]}
    return {"question": question, "context": context, "answers": answers, "whole": whole}


def hotpot_row(row: dict) -> dict | None:
    """Return a HotpotQA row with all supporting sentences as context; None for yes and no."""
    sentences = dict(zip(row["context"]["title"], row["context"]["sentences"], strict=True))
    facts = zip(row["supporting_facts"]["title"], row["supporting_facts"]["sent_id"], strict=True)
    context = " ".join(sentences[title][i].strip() for title, i in facts if i < len(sentences.get(title, ())))
    return None if row["answer"].lower() in ("yes", "no") else located(row["question"], context, row["answer"], True)


def marco_row(row: dict) -> dict | None:
    """Return an MS MARCO row with a passage that holds an answer, a selected one if possible; None if none does."""
    passages = sorted(zip(row["passages"]["is_selected"], row["passages"]["passage_text"], strict=True), reverse=True)
    no_span = ("", "yes", "no", "no answer present")
    answers = [text.strip() for text in row["answers"] if text.strip().lower().rstrip(".") not in no_span]
    rows = (located(row["query"], passage, answer, False) for answer in answers for _, passage in passages)
    return next(filter(None, rows), None)


def keyphrase_labels(
    question: str, text: str, spans: Sequence[tuple[int, int]], several: bool, unit: float, function: float
) -> list[float]:
    """Return one label (0 to 1) per character of `text`; spans are character offsets of the answers.

    Spans lose articles and punctuation at their ends, as in SQuAD's own normalisation of answers. Function words and
    punctuation within are labelled `function`: that both texts contain "of" means nothing. Where a question asks for
    an amount, words beside the number (units, "million", the thing that is counted) are labelled `unit`. Unless all
    spans are answers (`several`), they are alternatives, which are averaged.
    """
    labels = [0.0] * len(text)
    for start, end in spans:
        inner = _EDGES.match(text[start:end])
        if inner and inner.end() < end - start:
            start += inner.end()
        while end > start + 1 and not text[end - 1].isalnum() and text[end - 1] not in "%)":
            end -= 1
        numbers = [m.span() for m in _NUMBER.finditer(text, start, end)]
        amount = _AMOUNT_QUESTION.search(question) or len(text[start:end].split()) <= SHORT_AMOUNT
        words = [m for m in WORD.finditer(text, start, end) if m[0][0].isalnum()]
        content = any(m[0].lower() not in FUNCTION_WORDS for m in words)
        weights = [function if content else 1.0] * (end - start)
        for m in words:
            beside = numbers and amount and m[0].islower() and m[0] not in _MONTHS
            weight = unit if beside and not any(a < m.end() and m.start() < b for a, b in numbers) else 1.0
            weight = function if content and m[0].lower() in FUNCTION_WORDS else weight
            weights[m.start() - start : m.end() - start] = [weight] * len(m[0])
        for i, weight in enumerate(weights, start):
            labels[i] = max(labels[i], weight) if several else labels[i] + weight / len(spans)
    return [min(1.0, label) for label in labels]


def answers(source: str, rows: Iterable[dict], unit: float, function: float, max_words: int) -> Iterator[Answer]:
    """Yield each question with the sentence(s) of the context, `max_words` at most, that hold its spans."""
    from sentencex import get_sentence_boundaries

    several = source.split(".")[0] in SEVERAL_ANSWERS
    for row in rows:
        question, context = row["question"].strip(), row["context"]
        pairs = zip(row["answers"]["answer_start"], row["answers"]["text"], strict=True)
        spans = [(start, start + len(text)) for start, text in pairs if text.strip().lower() not in ("", "yes", "no")]
        if not spans:
            continue
        bounds = [(0, len(context))]
        if not row.get("whole") and (len(context.split()) > 20 or "\n" in context):
            bounds = [(s["start_index"], s["end_index"]) for s in get_sentence_boundaries("en", context)]
        touched = [(a, b) for a, b in bounds if a < spans[0][1] and b > spans[0][0]]
        end, text = touched[-1][1], context[touched[0][0] : touched[-1][1]].lstrip()
        start, text = end - len(text), text.rstrip()
        inside = [(a - start, b - start) for a, b in spans if a >= start and b <= start + len(text)]
        if inside and len(text.split()) <= max_words:
            labels = keyphrase_labels(question, text, inside, several, unit, function)
            yield Answer(question, text, tuple(labels), source)


def yes_no_answers(sentences: Sequence[str], count: int, rng: random.Random) -> list[Answer]:
    """Return at most `count` rows whose keyphrase is yes or no; extractive data has none: its answers are spans.

    "The door is open ." gives "is the door open ?" with answers such as "yes", "no , the door is not open" or "yes it
    is". Yes, no and not are labelled 1, other words 0.5, or RESTATED if the question holds them, function words 0.
    """
    clauses = [m.groups() for m in map(CLAUSE.fullmatch, sentences) if m and m[1].split()[0].lower() not in _OPENINGS]
    rows = []
    for i in range(min(count, 2 * len(clauses)) if clauses else 0):
        subject, verb, rest = clauses[i % len(clauses)]
        subject, rest = subject.strip(), rest.strip()
        subject = subject[0].lower() + subject[1:]
        question = f"{verb} {subject} {rest}{rng.choice([' ?', '?', ''])}"
        pronoun = rng.choice(["he", "she", "it", "they", "i", "there", subject, subject, subject])
        comma = rng.choice([", ", " , ", " "])
        word, other = rng.choice(["yes", "no"]), rng.choice(clauses)[2].strip()
        verb_phrase = verb if word == "yes" else rng.choice([f"{verb} not", NEGATED.get(verb, f"{verb}n't"), verb])
        shape = rng.random()
        new = other if shape >= 0.75 else ""
        text = f"{word}{comma}{pronoun} {verb} {new}" if new else f"{word}{comma}{pronoun} {verb_phrase} {rest}"
        if shape < 0.35:
            text = word if shape < 0.15 else f"{word}{comma}{pronoun} {verb_phrase}"
        question_words = set(question.lower().split())
        labels = [0.0] * len(text)
        for m in WORD.finditer(text):
            token = m[0].lower()
            label = RESTATED if token.isalnum() and token not in FUNCTION_WORDS else 0.0
            if m.start() == 0 or token == "not" or token.endswith("n't"):
                label = 1.0
            if new and m.start() >= len(text) - len(new) and token.isalnum():
                label = RESTATED if token in question_words else 0.0 if token in FUNCTION_WORDS else 0.5
            labels[m.start() : m.end()] = [label] * len(m[0])
        ending = rng.choice(["", "", " .", "."])
        rows.append(Answer(question, text + ending, (*labels, *[0.0] * len(ending)), "yes_no"))
    return rows


def varied(row: Answer, rng: random.Random, crop: float, restate: float, plain: float) -> Answer:
    """Return the row, or at random a variant of it that is closer to what QA systems answer and users ask.

    With probability `crop` the answer is cut to a fragment around the labelled words ("at a church"), with `restate`
    that to "what is X?" becomes "X is ANSWER" or "ANSWER is X", with `plain` the question loses its mark, a quarter of
    them all function words.
    """
    question, text, labels = row.question, row.text, row.labels
    marked = [i for i, label in enumerate(labels) if label > 0]
    if marked and row.source != "yes_no":
        start, end = marked[0], marked[-1] + 1
        chance = rng.random()
        shape = _IS_QUESTION.fullmatch(question)
        if shape and chance < restate and end - start < 120:
            verb, thing, ending = shape[1] or "is", shape[2], rng.choice(["", ".", " ."])
            first = rng.random() < 0.7
            before, after = (f"{thing} {verb} ", ending) if first else ("", f" {verb} {thing}{ending}")
            text = before + text[start:end] + after
            labels = (*[0.0] * len(before), *labels[start:end], *[0.0] * len(after))
        elif restate <= chance < restate + crop:
            words = [m.span() for m in re.finditer(r"\S+", text)]
            first = next(i for i, (_, b) in enumerate(words) if b > start)
            last = next(i for i in reversed(range(len(words))) if words[i][0] < end)
            first = max(0, first - rng.choice([0, 0, 1, 1, 2, 3, 5]))
            last = min(len(words) - 1, last + rng.choice([0, 0, 0, 1, 2, 4]))
            a, b = words[first][0], words[last][1]
            text, labels = text[a:b], labels[a:b]
    chance = rng.random()
    if chance < plain:
        question = question.rstrip(" ?")
    if chance < plain / 4:
        question = " ".join(w for w in question.split() if w.lower() not in FUNCTION_WORDS) or question
    return Answer(question, text, tuple(labels), row.source)


def is_held_out(question: str, held_share: float) -> bool:
    """Return whether a question belongs to the held-out share (0 to 1) of questions, by its hash."""
    return int(hashlib.sha1(question.lower().encode()).hexdigest()[:8], 16) < held_share * 16**8
