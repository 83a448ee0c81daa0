"""Judges every sentence of an answer beside the passages, each distinct prompt once, and says what passages say."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import pairwise

import numpy as np

from ..core.answers import extract_answer
from ..core.causal_judge import claim_prompt
from ..core.judge_model import JudgeReader
from ..core.reading import one_line, probability_and_threshold, readable
from ..core.replacing import instead, parts
from .passages import Passage, content_keys, nearest_sentences, passage_numbers, plain, texts_to_read
from .sentences import Sentence, sentences_of

WORDS = 1000  # words of passages that are read for an answer; of longer ones the parts nearest to its sentences
SHORT = 3  # words up to which a sentence is read with the question, beside which the judge takes whole ones for wrong
VERBATIM = 4  # words from which a sentence that is one of a passage, letter by letter, needs no judge
CERTAIN = 0.999  # probability of such a sentence
MOST_CHANGES = 8  # changed forms of a sentence that are judged to find a contradiction
CLEAR = 0.2  # rise of the probability that a change must bring
WRONG_CITATION = "wrong citation"  # the verdict on a sentence that a passage supports which it does not cite
_NOT = re.compile(r"(?i)\s(?:not|never)\b|(?<=\w)n['’]t\b")
_NEGATION = re.compile(r"(?i)\b(?:not|never|no|none|nobody|nothing|without|cannot)\b|n['’]t\b")
_VERB = re.compile(r"(?i)\b(?:is|are|was|were|has|have|had|can|could|will|would|does|did|do|may|should)\b")


@dataclass(slots=True)
class Verdict:
    """What the judge says of a sentence."""

    sentence: Sentence
    probability: float = 0.0  # that the passages support it
    question: str = ""  # read with it
    usable: Mapping[int, Passage] = field(default_factory=dict)  # {index: passage} that it cites, or all
    others: Mapping[int, Passage] = field(default_factory=dict)  # those that it does not cite, if it cites some
    shared: str = ""  # the prompt before the claim
    elsewhere: bool = False  # whether one of the others supports it, if that was asked
    change: str = ""  # what a passage says instead ("1889"), if a contradiction was looked for
    evidence: tuple[int, tuple[int, int]] | None = None  # the passage that says so, and (start, end) in it

    @property
    def claim(self) -> str:
        """What is judged: the sentence, behind the line above its list."""
        return f"{self.sentence.list_heading} {self.sentence.claim}".strip()

    @property
    def nearest(self) -> list[tuple[int, tuple[int, int]]]:
        """The sentences of passages that share most words with the claim; see `passages.nearest_sentences`."""
        return nearest_sentences(self.claim, self.usable)


def answer_of(prediction: str) -> str:
    """Return the answer that an output gives, without what is around it, as people see it."""
    return readable(extract_answer(prediction))


class Grounder:
    """Computes the probability that passages support the sentences of answers."""

    def __init__(self, loaded, batch_tokens: int = 4096, words: int = WORDS, citations: bool = True):
        self.reader = JudgeReader(loaded, batch_tokens)
        self.words, self.citations = words, citations

    def verdicts(
        self, questions: Sequence[str], predictions: Sequence[str], contexts: Sequence[Sequence[str]]
    ) -> list[list[Verdict]]:
        """Return the verdicts on the sentences of every answer."""
        passages = {text: Passage(text) for texts in contexts for text in texts}
        rows, asked = [], []
        for question, prediction, texts in zip(questions, predictions, contexts, strict=True):
            row_passages, numbers = dict(enumerate(passages[text] for text in texts)), passage_numbers(texts)
            sentences = sentences_of(answer_of(prediction))
            verdicts = [Verdict(sentence, usable=row_passages) for sentence in sentences]
            for verdict in verdicts:
                if len(verdict.sentence.claim.split()) <= SHORT:
                    verdict.question = readable(question)
                cited = {numbers[number] for number in verdict.sentence.citations if number in numbers}
                if cited and self.citations:
                    verdict.usable = {index: passage for index, passage in row_passages.items() if index in cited}
                    verdict.others = {index: passage for index, passage in row_passages.items() if index not in cited}
            stating = [verdict for verdict in verdicts if verdict.sentence.states]
            self._set_prompts(stating)
            for verdict in stating:
                claim, usable = plain(verdict.sentence.claim), verdict.usable.values()
                if len(claim.split()) >= VERBATIM and any(claim in passage.statements for passage in usable):
                    verdict.probability = CERTAIN
                elif any(passage.text.strip() for passage in usable):
                    asked.append(verdict)
            rows.append(verdicts)
        probabilities = self._probabilities([(verdict.shared, verdict.claim) for verdict in asked])
        for verdict, probability in zip(asked, probabilities.tolist(), strict=True):
            verdict.probability = probability
        return rows

    def _set_prompts(self, verdicts: Sequence[Verdict]) -> None:
        """Set `shared`, the prompt before the claim: equal for all sentences that are read with the same passages."""
        by_passages: dict[tuple[int, ...], list[Verdict]] = {}
        for verdict in verdicts:
            by_passages.setdefault(tuple(verdict.usable), []).append(verdict)
        for together in by_passages.values():
            texts = self._texts(together[0].usable, together)
            for verdict in together:
                verdict.shared = claim_prompt(texts, verdict.question)

    def _texts(self, passages: Mapping[int, Passage], verdicts: Sequence[Verdict]) -> list[str]:
        """Return the texts of passages that the judge reads for these sentences; see `passages.texts_to_read`."""
        claims = [content_keys(f"{verdict.question} {verdict.claim}") for verdict in verdicts]
        return texts_to_read(passages.values(), claims, self.words)

    def _probabilities(self, prompts: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return (prompts,) probabilities that passages, the first part of a prompt, support a claim, the second."""
        return self.reader.loaded.calibrated(self.reader.prompt_logits(prompts))

    def find_contradictions(self, rows: Sequence[Sequence[Verdict]], threshold: float) -> None:
        """Set `elsewhere` (other passages support it), `change` and `evidence` of the unsupported sentences.

        A passage contradicts a sentence that it supports once a number, a name, a word or "not" changes to what a
        nearest sentence of the passages has.
        """
        stating = (verdict for verdicts in rows for verdict in verdicts if verdict.sentence.states)
        unsupported = [verdict for verdict in stating if verdict.probability < threshold]
        citing = [verdict for verdict in unsupported if verdict.others]
        prompts = [
            (claim_prompt(self._texts(verdict.others, [verdict]), verdict.question), verdict.claim)
            for verdict in citing
        ]
        for verdict, probability in zip(citing, self._probabilities(prompts).tolist(), strict=True):
            verdict.elsewhere = probability >= threshold
            places = nearest_sentences(verdict.claim, verdict.others)
            verdict.evidence = places[0] if verdict.elsewhere and places else None
        asked = []
        for verdict in unsupported:
            for index, span in [] if verdict.elsewhere else verdict.nearest:
                says = readable(verdict.usable[index].text[slice(*span)])
                asked += [(verdict, (index, span), *changed) for changed in changed_claims(verdict.claim, says)]
        best = {id(verdict): max(threshold, verdict.probability + CLEAR) for verdict, *_ in asked}
        probabilities = self._probabilities([(verdict.shared, claim) for verdict, _, claim, _ in asked])
        for (verdict, evidence, _, change), probability in zip(asked, probabilities.tolist(), strict=True):
            if probability > best[id(verdict)]:
                verdict.change, verdict.evidence, best[id(verdict)] = change, evidence, probability


def changed_claims(claim: str, passage: str) -> list[tuple[str, str]]:
    """Return [(changed claim, change)]: one number, name or word replaced by the passage's, or the verb negated.

    The verb changes only where one of the two alone has a negation.

    >>> changed_claims("It opened in 1887.", "It was opened in 1889.")
    [('It opened in 1889.', '1889')]
    >>> changed_claims("Wine, made of red grapes.", "It is made of white grapes.")
    [('Wine, made of white grapes.', 'white')]
    >>> changed_claims("It was not open.", "It was open."), changed_claims("It was open.", "It never was open.")
    ([('It was open.', 'without "not"')], [('It was not open.', '"was not"')])
    """
    replaced = [(*span, instead("", passage, claim, claim[slice(*span)])) for span in parts(claim)]
    replaced = [change for change in replaced if change[2] is not None] + replaced_words(claim, passage)
    changed = {f"{claim[:start]}{other}{claim[end:]}": other for start, end, other in replaced}
    negates = bool(_NEGATION.search(passage))
    if _NOT.search(claim) and not negates:
        changed[_NOT.sub("", claim, count=1)] = 'without "not"'
    elif negates and not _NEGATION.search(claim) and (verb := _VERB.search(claim)):
        changed[f"{claim[: verb.end()]} not{claim[verb.end() :]}"] = f'"{verb[0]} not"'
    return [*changed.items()][:MOST_CHANGES]


def replaced_words(claim: str, passage: str) -> list[tuple[int, int, str]]:
    """Return [(start, end, other word)] of words of a claim that differ in the passage between equal neighbours.

    >>> replaced_words("Wine, made of red grapes.", "It is made of white grapes.")
    [(14, 17, 'white')]
    """
    spans, in_passage = parts(claim), [passage[start:end] for start, end in parts(passage)]
    in_claim = [claim[start:end] for start, end in spans]
    lower = ([word.casefold() for word in words] for words in (in_claim, in_passage))
    blocks = [block for block in SequenceMatcher(None, *lower, autojunk=False).get_matching_blocks() if block.size]
    gaps = [
        (block.a + block.size, block.b + block.size)
        for block, following in pairwise(blocks)
        if following.a - block.a - block.size == following.b - block.b - block.size == 1
    ]
    return [
        (*spans[here], in_passage[there])
        for here, there in gaps
        if content_keys(in_claim[here]) and content_keys(in_passage[there])
    ]


def explained(prediction: str, verdicts: Sequence[Verdict], threshold: float) -> dict:
    """Return the explanation of a row: "answer", the text that was read, "sentences", and "reason", a sentence.

    Of a sentence "passage" is the index of the passage with "span", the (start, end) of the evidence: what the passage
    says instead if it contradicts the sentence, else the sentence of the passages that shares most words with it. An
    unsupported sentence has no evidence, and "nearest" in place of "span". All are None where no word is shared.
    """
    answer, sentences = answer_of(prediction), []
    for verdict in verdicts:
        sentence, name = verdict.sentence, verdict_name(verdict, threshold)
        evidence = verdict.evidence
        if evidence is None and sentence.states:
            evidence = next(iter(verdict.nearest or nearest_sentences(verdict.claim, verdict.others)), None)
        passage, span = evidence or (None, None)
        sentences.append(
            {
                "text": answer[sentence.start : sentence.end],
                "start": sentence.start,
                "end": sentence.end,
                "verdict": name,
                "probability": verdict.probability if sentence.states else None,
                "passage": passage,
                "span": list(span) if span and name != "unsupported" else None,
                "nearest": list(span) if span and name == "unsupported" else None,
                "citations": list(sentence.citations),
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
    if verdict.elsewhere:
        return WRONG_CITATION
    return "contradicted" if verdict.change else "unsupported"


def evidence(sentence: Mapping, contexts: Sequence[str], threshold: float) -> list[tuple[str, str]]:
    """Return the labels and texts that show a sentence that states something, and what passages say of it.

    Args:
        sentence: of an explanation, see `explained`.
        contexts: the passages that it was read beside.
        threshold: probability from which it is supported.
    """
    kind, index, says = sentence["verdict"], sentence["passage"], sentence["instead"]
    probability, _ = probability_and_threshold(sentence["probability"], threshold)
    judged = kind.capitalize(), f"{one_line(sentence['text'])} (probability {probability})"
    no_word = "none shares a content word with the sentence"
    if index is None:
        return [judged, ("  passages", no_word)]
    numbers = passage_numbers(contexts)
    cited = [numbers[number] for number in sentence["citations"] if number in numbers]
    name, text = f"  passage {index + 1}", readable(contexts[index][slice(*(sentence["span"] or sentence["nearest"]))])
    if kind == "unsupported":
        role = "cited" if index in cited else "uncited" if cited else "nearest"
        return [judged, *[("  cited passages", no_word)] * (role == "uncited"), (f"{name}, {role}", text)]
    if kind == WRONG_CITATION:
        return [judged, (name, f"says it, not {', '.join(f'[{n}]' for n in sentence['citations'])}: {text}")]
    if says:
        text = f"says it {says}: {text}" if says.startswith("without") else f'says "{says.strip(chr(34))}": {text}'
    return [judged, (name, text)]


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
    supported = sum(sentence["verdict"] == "supported" for sentence in judged)
    text = f"{supported} of {len(judged)} sentences supported"
    kinds = ("contradicted", WRONG_CITATION, "unsupported")
    bad = next((sentence for kind in kinds for sentence in judged if sentence["verdict"] == kind), None)
    if bad is None:
        return f"{text}."
    says = "it" if bad["verdict"] == WRONG_CITATION else bad["instead"]
    why = f" (passage {bad['passage'] + 1} says {says})" if says and bad["passage"] is not None else ""
    result = f"{text}; {bad['verdict']}: {bad['text']!r:.200}{why}"
    return result if result.endswith((".'", '."')) else f"{result}."
