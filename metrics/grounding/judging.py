"""Judge every sentence of an answer against the nearest windows of its passages, each distinct pair once."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise

import numpy as np

from ..core.answers import extract_answer
from ..core.causal_judge import claim_prompt
from ..core.judge_model import PROMPT, STATEMENT, JudgeReader
from ..core.reading import readable
from ..core.replacing import instead, parts
from .sentences import Sentence, sentences_of
from .windows import (
    WINDOW,
    Window,
    content_keys,
    evidence_span,
    nearest_sentences,
    nearest_windows,
    passage_numbers,
    windows_of,
)

WINDOWS = 3  # windows that are read for a sentence
SHORT = 5  # words up to which a sentence is read with the question
VERBATIM = 4  # words from which a sentence that stands in a passage needs no judge
CERTAIN = 8.0  # logit of such a sentence
MOST_CHANGES = 8  # changed forms of a sentence that are judged to find a contradiction
CLEAR = 0.2  # rise of the probability that a change must bring
WHOLE = 1000  # words of passages that a judge of prompts reads whole; of more, it reads windows of so many words
WRONG_CITATION = "wrong citation"  # the verdict on a sentence that a passage supports which it does not cite
_NOT = re.compile(r"(?i)\s(?:not|never)\b|(?<=\w)n['’]t\b")
_VERB = re.compile(r"(?i)\b(?:is|are|was|were|has|have|had|can|could|will|would|does|did|do|may|should)\b")


@dataclass(slots=True)
class Verdict:
    """What the judge says of a sentence."""

    sentence: Sentence
    probability: float = 0.0  # that a passage supports it
    window: Window | None = None  # the one that supports it best
    windows: Sequence[Window] = ()  # those that may support it, of the passages that it cites or of all
    read: tuple[str, ...] = ()  # what the judge reads before the sentence
    change: str = ""  # what the passages say instead ("1889"); "" where no contradiction was found or looked for
    others: Sequence[Window] = ()  # those of the passages that it does not cite, where it cites some
    before: str = ""  # what is read as the question
    elsewhere: Window | None = None  # of a passage that it does not cite and that supports it, if one was looked for

    def judged(self, claim: str) -> tuple[str, ...]:
        """Return what is judged for a claim: the claim, and the claim behind the sentence that its pronoun refers to.

        The less probable of both counts: alone "it" can be anything, and a true sentence before it makes a false claim
        more probable.
        """
        return (claim, f"{self.sentence.before} {claim}") if self.sentence.before else (claim,)

    @property
    def nearest(self) -> list[tuple[Window, tuple[int, int]]]:
        """The sentences of the passages that share most words with it; of the judge's own window first."""
        found = nearest_sentences(content_keys(self.sentence.claim), self.windows)
        return sorted(found, key=lambda pair: pair[0] != self.window)

    @property
    def to_read(self) -> list[tuple[Window, tuple[int, int]]]:
        """The nearest sentences; those of uncited passages where the cited ones share no word with it."""
        return self.nearest or nearest_sentences(content_keys(self.sentence.claim), self.others)


def _plain(text: str) -> str:
    return " ".join(readable(text).casefold().split()).strip(' ."')


def answer_of(prediction: str) -> str:
    """Return the answer that is read: what an output gives as its answer, as people see it."""
    return readable(extract_answer(prediction))


class Grounder:
    """Computes the probability that sentences are supported; `cut_rows` are rows of the last call that were cut."""

    def __init__(self, loaded, batch_tokens: int = 4096, windows: int = WINDOWS, citations: bool = True):
        self.reader = JudgeReader(loaded, batch_tokens)
        self.windows, self.citations = windows, citations
        self.cut_rows: set[int] = set()

    def verdicts(
        self, questions: Sequence[str], predictions: Sequence[str], contexts: Sequence[Sequence[str]]
    ) -> list[list[Verdict]]:
        """Return the verdict on every sentence of answers; equal passages are split once, equal pairs judged once."""
        split = {text: windows_of(text) for text in dict.fromkeys(text for given in contexts for text in given)}
        plain = {text: _plain(text) for text in split}
        result, asked = [], []
        for question, prediction, passages in zip(questions, predictions, contexts, strict=True):
            windows = [replace(window, passage=i) for i, text in enumerate(passages) for window in split[text]]
            numbers, copies = passage_numbers(passages), [plain[text] for text in passages]
            verdicts = [Verdict(sentence) for sentence in sentences_of(answer_of(prediction))]
            for verdict in verdicts:
                sentence = verdict.sentence
                if not sentence.states:
                    continue
                cited = {numbers[number] for number in sentence.citations if number in numbers}
                restricted = bool(cited) and self.citations
                usable = [window for window in windows if not restricted or window.passage in cited]
                verdict.windows = usable
                verdict.others = [window for window in windows if restricted and window.passage not in cited]
                verdict.before = _read_before(sentence, question, len(verdicts))
                own = _plain(sentence.claim)
                same = len(own.split()) >= VERBATIM and [w for w in usable if own in copies[w.passage]]
                if same:
                    (verdict.window,) = nearest_windows(_wanted(verdict), same, 1)
                    (verdict.probability,) = self._probabilities([CERTAIN])
                    continue
                asked += self._readings(verdict, usable)
            result.append(verdicts)
        logits = self._logits([(read, verdict.judged(verdict.sentence.claim)) for verdict, _, read in asked])
        for (verdict, window, read), probability in zip(asked, self._probabilities(logits), strict=True):
            if verdict.window is None or probability > verdict.probability:
                verdict.probability, verdict.window, verdict.read = float(probability), window, read
        owners = {id(verdict): row for row, verdicts in enumerate(result) for verdict in verdicts}
        cut = set(self.reader.cut)
        self.cut_rows = {
            owners[id(verdict)]
            for verdict, _, read in asked
            if any((*read, text) in cut for text in verdict.judged(verdict.sentence.claim))
        }
        return result

    def _readings(self, verdict: Verdict, windows: Sequence[Window]) -> list[tuple[Verdict, Window, tuple[str, ...]]]:
        """Return (verdict, window, what is read before the sentence) for each of the nearest windows."""
        near = nearest_windows(_wanted(verdict), windows, self.windows)
        if self.reads_prompts:
            return [(verdict, window, (_prompt(verdict, windows),)) for window in near[:1]]
        return [(verdict, window, (verdict.before, window.read)) for window in near]

    @property
    def reads_prompts(self) -> bool:
        """The judge reads all passages in one prompt."""
        return self.reader.loaded.configuration == PROMPT

    def _logits(self, asked: Sequence[tuple[tuple[str, ...], tuple[str, ...]]]) -> np.ndarray:
        """Return the lowest logits of (what is read before, texts of `judged`)."""
        pairs = [(*read, text) for read, texts in asked for text in texts]
        logits = (self.reader.prompt_logits if self.reads_prompts else self.reader.logits)(pairs)
        starts = np.cumsum([0, *(len(texts) for _, texts in asked)])[:-1]
        return np.minimum.reduceat(logits, starts) if len(starts) else logits

    def _probabilities(self, logits: Iterable[float]) -> np.ndarray:
        logits = np.asarray(logits, dtype=float)
        return self.reader.loaded.calibrated(logits, np.ones(len(logits)))

    def find_contradictions(self, rows: Sequence[Sequence[Verdict]], threshold: float) -> None:
        """Set `elsewhere` and `change` of unsupported sentences.

        A sentence with a wrong citation is supported by a passage that it does not cite. Of others, a passage
        contradicts those that it supports once a number, a name, a word or "not" changes. The change is looked for in
        the sentences of the passages that share most words with the sentence.
        """
        unsupported = [verdict for verdicts in rows for verdict in verdicts if verdict.probability < threshold]
        asked = [
            reading for verdict in unsupported if verdict.others for reading in self._readings(verdict, verdict.others)
        ]
        logits = self._logits([(read, verdict.judged(verdict.sentence.claim)) for verdict, _, read in asked])
        for (verdict, window, _), probability in zip(asked, self._probabilities(logits), strict=True):
            if probability >= threshold and verdict.elsewhere is None:  # the nearest window comes first
                verdict.elsewhere = window
        asked = []
        for verdict in unsupported:
            if verdict.window is not None and verdict.elsewhere is None:
                for window, (start, end) in verdict.nearest:
                    evidence = readable(window.text[start - window.start : end - window.start])
                    read = verdict.read if self.reads_prompts else (verdict.before, window.read)
                    changes = changed_claims(verdict.sentence.claim, evidence)
                    asked += [(verdict, window, change, (read, verdict.judged(claim))) for claim, change in changes]
        best: dict[int, float] = {}
        logits = self._logits([pair for *_, pair in asked])
        for (verdict, window, change, _), probability in zip(asked, self._probabilities(logits), strict=True):
            least = max(threshold, verdict.probability + CLEAR, best.get(id(verdict), 0.0))
            if probability > least:
                verdict.change, verdict.window, best[id(verdict)] = change, window, float(probability)


def _wanted(verdict: Verdict) -> frozenset[str]:
    """Return the content words of what is judged for a sentence, and of its question."""
    question = "" if verdict.before is STATEMENT else verdict.before
    return content_keys(f"{question} {verdict.sentence.before} {verdict.sentence.claim}")


def _prompt(verdict: Verdict, windows: Sequence[Window]) -> str:
    """Return what a judge of prompts reads before a claim: the passages in an order that does not depend on theirs."""
    passages: dict[int, list[Window]] = {}
    for window in windows:
        passages.setdefault(window.passage, []).append(window)
    if sum(len(window.text.split()) for window in windows) <= 2 * WHOLE:  # windows overlap by half
        texts = [" ".join(_without_overlap(own)) for own in passages.values()]
    else:
        texts = [window.read for window in nearest_windows(_wanted(verdict), windows, WHOLE // WINDOW)]
    return claim_prompt(sorted(set(texts)), "" if verdict.before is STATEMENT else verdict.before)


def _without_overlap(windows: Sequence[Window]) -> Iterator[str]:
    """Yield the text of consecutive windows of a passage, each part once."""
    end = 0
    for window in windows:
        if window.end > end:
            yield readable(window.text[max(0, end - window.start) :])
            end = window.end


def _read_before(sentence: Sentence, question: str, sentences: int) -> str:
    """Return what is read as the question: the question itself for a short answer."""
    short = not sentence.before and (sentences == 1 or len(sentence.claim.split()) <= SHORT)
    return readable(question) if question and short else STATEMENT


def changed_claims(claim: str, passage: str) -> list[tuple[str, str]]:
    """Return a claim with a number, name or word of a passage in its place, or the opposite verb; and the change.

    >>> changed_claims("It opened in 1887.", "It was opened in 1889.")
    [('It opened in 1889.', '1889')]
    >>> changed_claims("Wine, made of red grapes.", "It is made of white grapes.")
    [('Wine, made of white grapes.', 'white')]
    >>> changed_claims("It was not open.", "It was open.")
    [('It was open.', 'without "not"')]
    """
    values = []
    for start, end in parts(claim):
        other = instead("", passage, claim, claim[start:end])
        if other is not None:
            values.append((f"{claim[:start]}{other}{claim[end:]}", other))
    values += [
        (f"{claim[:start]}{other}{claim[end:]}", other)
        for start, end, other in replaced_words(claim, passage)
        if other not in [change for _, change in values]
    ]
    if _NOT.search(claim):
        values.append((_NOT.sub("", claim, count=1), 'without "not"'))
    elif verb := _VERB.search(claim):
        values.append((f"{claim[: verb.end()]} not{claim[verb.end() :]}", f'"{verb[0]} not"'))
    return values[:MOST_CHANGES]


def replaced_words(claim: str, passage: str) -> list[tuple[int, int, str]]:
    """Return the content words of a claim between two words in whose place the passage has another one.

    >>> replaced_words("Wine, made of red grapes.", "It is made of white grapes.")
    [(14, 17, 'white')]
    """
    spans, there = parts(claim), [passage[start:end] for start, end in parts(passage)]
    here = [claim[start:end] for start, end in spans]
    same = SequenceMatcher(None, *([word.casefold() for word in words] for words in (here, there)), autojunk=False)
    blocks = pairwise(block for block in same.get_matching_blocks() if block.size)
    gaps = [(one.a + one.size, one.b + one.size) for one, other in blocks
            if other.a - one.a - one.size == other.b - one.b - one.size == 1]  # fmt: skip
    return [(*spans[i], there[k]) for i, k in gaps if content_keys(here[i]) and content_keys(there[k])]


def explained(prediction: str, verdicts: Sequence[Verdict], passages: Sequence[str], threshold: float) -> dict:
    """Return the explanation of a row: "answer", the text that was read, "sentences", and "reason", a sentence.

    "passage" is the index of the one that supports or contradicts a sentence, also of one that it does not cite, else
    of the one with the nearest sentence; "span" the place of the evidence in it; "nearest", of an unsupported
    sentence, which has no evidence, the place of the sentence that shares most words with it, see `Verdict.to_read`.
    All can be None.
    """
    answer, sentences = answer_of(prediction), []
    for verdict in verdicts:
        own = verdict.sentence
        window, name = verdict.window, verdict_name(verdict, threshold)
        span = nearest = None
        if name == WRONG_CITATION:
            window = verdict.elsewhere
        if name == "unsupported":
            window, nearest = next(iter(verdict.to_read), (window, None))
        elif window is not None:
            span = evidence_span(content_keys(f"{own.claim} {verdict.change}"), window, passages[window.passage])
        sentences.append(
            {
                "text": answer[own.start : own.end],
                "start": own.start,
                "end": own.end,
                "verdict": name,
                "probability": verdict.probability if own.states else None,
                "passage": None if window is None else window.passage,
                "span": list(span) if span else None,
                "nearest": list(nearest) if nearest else None,
                "citations": list(own.citations),
                "instead": verdict.change or None,
            }
        )
    return {"answer": answer, "sentences": sentences, "reason": reason(sentences)}


def verdict_name(verdict: Verdict, threshold: float) -> str:
    """Return "supported", "contradicted", "wrong citation" or "unsupported"; "states nothing" for one not judged."""
    if not verdict.sentence.states:
        return "states nothing"
    if verdict.probability >= threshold:
        return "supported"
    if verdict.elsewhere is not None:
        return WRONG_CITATION
    return "contradicted" if verdict.change else "unsupported"


def reason(sentences: Sequence[dict]) -> str:
    """Return one sentence on a row: how many sentences are supported, and the first that is not.

    >>> reason([{"verdict": "contradicted", "text": "It opened in 1887.", "instead": "1889", "passage": 0}])
    "0 of 1 sentences supported; contradicted: 'It opened in 1887.' (passage 1 says 1889)."
    >>> reason([{"verdict": "unsupported", "text": "It is tall.", "instead": "", "passage": None}])
    "0 of 1 sentences supported; unsupported: 'It is tall.'"
    """
    judged = [sentence for sentence in sentences if sentence["verdict"] != "states nothing"]
    if not judged:
        return "The answer states nothing that a passage could support."
    right = sum(sentence["verdict"] == "supported" for sentence in judged)
    text = f"{right} of {len(judged)} sentences supported"
    bad = next(
        (s for kind in ("contradicted", WRONG_CITATION, "unsupported") for s in judged if s["verdict"] == kind), None
    )
    if bad is None:
        return f"{text}."
    says = "it" if bad["verdict"] == WRONG_CITATION else bad["instead"]
    why = f" (passage {bad['passage'] + 1} says {says})" if says else ""
    said = f"{text}; {bad['verdict']}: {bad['text']!r:.200}{why}"
    return said if said.endswith((".'", '."')) else f"{said}."
