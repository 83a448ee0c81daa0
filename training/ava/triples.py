"""Judged answers as triples of question, references and candidate, from human verdicts and answer-sentence selection.

Vu & Moschitti, "AVA: an Automatic eValuation Approach for Question Answering Systems", NAACL 2021, section 3.2.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from genqa_metrics.core.judge_model import STATEMENT

from training.common import source_rows
from training.kpqa import data as extractive

ENTAILED = ("entailment", "paraphrase")  # labels of sentence pairs whose second is right if the first is
_NOT_A_WORD = re.compile(r"[^\w\s]")
_ARTICLE = re.compile(r"\b(a|an|the)\b")
_DETACHED = (  # tokens of the corpora that stand apart from their word
    (re.compile(r"\s*(?:``|''|\")\s+([^\"'`]*?)\s+(?:''|\")"), r' "\1"'),
    (re.compile(r"``|''"), '"'),
    (re.compile(r"-lrb-\s*|\(\s+", re.IGNORECASE), "("),
    (re.compile(r"\s*-rrb-|\s+\)", re.IGNORECASE), ")"),
    (re.compile(r"([$#])\s+(?=\d)"), r"\1"),
    (re.compile(r"\s+(n't|'(?:s|re|ve|ll|d|m))\b", re.IGNORECASE), r"\1"),
    (re.compile(r"\s+([.,;:!?%])(?=\s|$|\")"), r"\1"),
)


@dataclass(frozen=True)
class Triple:
    """A judged answer: `label` is 1 for correct, 0 for incorrect, between them for a grade; `kind` says where from.

    `short_answer` holds the words that answer the question, if they are known; only the linear judge reads them.
    """

    question: str
    references: tuple[str, ...]
    candidate: str
    label: float
    kind: str
    short_answer: str | None = None

    def as_verdict(self) -> dict:
        """Return the row of a file of verdicts, see `judged_triples`."""
        return {"question": self.question, "references": list(self.references), "candidate": self.candidate,
                "score": self.label, "source": self.kind}  # fmt: skip


def normalised(text: str) -> str:
    """Return a text in lower case without punctuation and articles, as SQuAD compares answers.

    >>> normalised("The Beatles, 1964!")
    'beatles 1964'
    """
    return " ".join(_ARTICLE.sub(" ", _NOT_A_WORD.sub(" ", text.lower())).split())


def detokenized(text: str) -> str:
    """Return a text of blank-separated tokens as people write it.

    >>> print(detokenized("It was n't `` big '' , he said ( for $ 5 ) ."))
    It wasn't "big", he said (for $5).
    """
    for pattern, replacement in _DETACHED:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())


def as2_rows(name: str, folder: str | Path | None) -> list[dict]:
    """Return detokenized question, answer and label of a local file, or of NAME or NAME:SPLIT of the Hub."""
    rows = []
    for row in source_rows("as2", name, folder):
        answer = row.get("answer", row.get("sentence"))
        if answer is None or not {"question", "label"} <= set(row):
            text = ", ".join(row)
            raise ValueError(f"as2: {name}: expected columns question, answer (or sentence) and label, got {text}")
        rows.append(row | {"question": detokenized(row["question"]), "answer": detokenized(answer)})
    return rows


def as2_triples(rows: Iterable[dict], negatives: int | None, rng: random.Random) -> Iterator[Triple]:
    """Yield AVA-Pos and AVA-Neg (section 3.2) of an answer-sentence selection corpus.

    With C(q) the correct and W(q) the wrong answers of question q: (q, reference t_i, candidate t_j) with t_i, t_j in
    C(q), t_i != t_j, is positive; with t_i in C(q), t_j in W(q) negative, at most `negatives` of each t_i. Questions
    with fewer than two correct answers are left out; a reference may take another answer's `short_answer`.
    """
    correct, wrong, short = defaultdict(dict), defaultdict(dict), defaultdict(dict)
    for row in rows:
        (correct if int(row["label"]) else wrong)[row["question"]][row["answer"]] = None
        if row.get("short_answer"):
            short[row["question"]][row["answer"]] = row["short_answer"]

    def triple(question: str, reference: str, candidate: str, label: float) -> Triple:
        short_answers = short[question]  # without the candidate's own, which would tell its label
        others = (answer for text, answer in reversed(short_answers.items()) if text != candidate)
        answer = short_answers.get(reference) or next(others, None)
        return Triple(question, (reference,), candidate, label, "as2", answer)

    for question, answers in correct.items():
        if len(answers) < 2:
            continue
        for reference in answers:
            yield from (triple(question, reference, other, 1.0) for other in answers if other != reference)
            others = [answer for answer in wrong[question] if answer not in answers]
            if negatives is not None and len(others) > negatives:
                others = rng.sample(others, negatives)
            yield from (triple(question, reference, other, 0.0) for other in others)


def span_rows(name: str, folder: str | Path | None) -> list[extractive.Answer]:
    """Return questions of a file of extractive QA with the sentence, of at most 60 words, that holds the answer."""
    return list(extractive.answers(name, extractive.read_rows(name, folder), 1.0, 1.0, 60))


def stated(rows: Iterable[extractive.Answer]) -> list[Triple]:
    """Return answers of extractive QA as right answers: the span is the reference, its sentence the candidate."""
    return [Triple(row.question, (row.span,), row.text, 1.0, row.source) for row in rows if row.span]


def truth(row: dict) -> float | None:
    """Return the verdict of a row, 0 or 1, or else its grade from 0 to 1, if it has one."""
    return row.get("score") if row.get("label") is None else row["label"]


def judged_triples(rows: Iterable[dict], kind: str) -> list[Triple]:
    """Return the triples of human verdicts: `question`, `references`, `candidate`, `label`, or `score` from 0 to 1.

    The answer may be called `prediction`, as `genqa-metrics label` does. The `context` of a row, the passage that
    supports its candidate or does not, is its reference; it needs no question.
    """
    triples = []
    for i, row in enumerate(rows):
        if (verdict := truth(row)) is None:
            raise ValueError(f"{kind}, row {i}: expected a label or a score, got neither")
        references = row.get("references", row.get("reference", row.get("context")))
        candidate = row.get("candidate", row.get("prediction"))
        for name, text in (("references", references), ("candidate or prediction", candidate)):
            if text is None:
                raise ValueError(f"{kind}, row {i}: expected {name}, found only {', '.join(row)}; name the column so")
        references = (references,) if isinstance(references, str) else tuple(references)
        texts = row.get("question") or STATEMENT, references, candidate
        triples.append(Triple(*texts, float(verdict), kind, row.get("short_answer") or None))
    return triples


def as_claim(row: dict) -> dict:
    """Return a row of a passage and a claim, also of a sentence pair."""
    if "context" in row:
        return row
    supported = None if row.get("label") is None else float(row["label"] in ENTAILED)
    return {"context": row["first"], "candidate": row["second"], "label": supported, "question": None}


def pair_triples(rows: Iterable[dict], kind: str, rng: random.Random) -> Iterator[Triple]:
    """Yield pairs of sentences as triples: is the second right if the first is the reference?

    Entailed sentences and paraphrases are right, all others wrong; pairs without a label are left out. What holds in
    both directions (a paraphrase, no paraphrase, a contradiction) is turned round for every second pair.
    """
    for row in (row for row in rows if row["label"] is not None):
        first, second = row["first"], row["second"]
        if row["label"] in ("paraphrase", "not_paraphrase", "contradiction") and rng.random() < 0.5:
            first, second = second, first
        yield Triple(STATEMENT, (first,), second, float(row["label"] in ENTAILED), kind)
