"""The scorer of grounding: settings, statistics per row, scores, warnings, signature."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import numpy as np

from ..core.inference import check_fork
from ..core.reading import language_counts, language_warnings, readable
from ..core.scorer import AT_LEAST_1, PROBABILITY, SWITCH, ExplainedRow, RowStatistics, Scorer, whole
from .judging import WORDS, Grounder, answer_of, evidence, explained
from .loading import load_judge

READING_VERSION = 3  # what the judge reads; 3: every sentence once, all passages in one prompt
LEAST_WORDS, MOST_WORDS = 50, 1200  # of passages that are read for an answer
# Digest of a judge's weights -> shares of the unsupported texts that pass and of the supported ones that are flagged:
# mean, least and most of `SETS` dev sets, by training/grounding/results.
MEASURED = {"455265961e90": ((0.17, 0.03, 0.45), (0.34, 0.0, 0.92))}  # large
SETS = 7


class GroundingScorer(Scorer):
    """Grounding: the share of the sentences of an answer that the retrieved passages support.

    The statistics of a row are that share, whether it is 1, the lowest probability of a sentence, whether the row
    counts in these means, and whether the answer states something. An empty answer counts and scores 0; one that only
    declines, asks or greets does not count. Without passages all that an answer states is unsupported.
    """

    name = "grounding"
    explains_answers = True
    legend = (
        "A sentence is contradicted if a passage supports it with another number, name, word or negation; its "
        "citation is wrong if only a passage that it does not cite supports it. The nearest passage of an unsupported "
        "sentence is no evidence. Sentences that state nothing are left out."
    )
    title = "Grounding"
    main = "grounding"
    measures = "flagged: a sentence is judged unsupported by the passages that it cites, or by all if it cites none"
    names = ("grounding", "grounding_answers", "grounding_score", "grounding_answer_rate")
    significance_scores = ("grounding", "grounding_answers")
    meta_evaluated = ("grounding_score",)
    support = ("grounding_answers", "grounding_answer_rate")
    evidence = "contexts"
    optional = ("questions",)
    checks: ClassVar = {
        "batch_tokens": AT_LEAST_1,
        "threshold": PROBABILITY,
        "words": whole(LEAST_WORDS, MOST_WORDS),
        "citations": SWITCH,
    }
    recalls = True
    device = "cpu"  # until the model is loaded

    def load(
        self,
        checkpoint: str | os.PathLike | None = None,
        revision: str | None = None,
        device: str | None = None,
        dtype: object = None,
        batch_tokens: int = 4096,
        backend: str | None = None,
        base_model: str | os.PathLike | None = None,
    ) -> None:
        """Load the judge; see `loading.load_judge`, and `inference.budget_on` for `batch_tokens`."""
        self.batch_tokens = batch_tokens
        self._process = os.getpid()
        self.loaded = load_judge(checkpoint, revision, device, dtype, backend, base_model, ready=False)

    def ready(self) -> Self:
        """Load the model; see `Scorer.ready`."""
        self.device = self.loaded.device
        return self

    def configure(self, threshold: float | None = None, words: int = WORDS, citations: bool = True) -> None:
        """Take settings of `compute`; None is the checkpoint's own value."""
        self.threshold = self.loaded.threshold if threshold is None else float(threshold)
        self.thresholds = {"grounding_score": self.threshold}
        self.words, self.citations = words, citations
        if not citations:
            self.measures = "flagged: a sentence is judged unsupported by all passages"
        self.facts = {**self.loaded.facts, "threshold": f"{self.threshold:g}", "words": str(words)}
        self.facts["citations"] = "read" if citations else "ignored"
        self.facts["reading"] = str(READING_VERSION)

    def statistics(self, columns: Mapping[str, list], explain: bool = False) -> RowStatistics:
        """Return (rows, 5) statistics, see the class, with explanations; see `Scorer.statistics`."""
        check_fork(self.device, self._process)
        predictions, contexts = columns["predictions"], columns["contexts"]
        questions = columns.get("questions") or [""] * len(predictions)
        grounder = Grounder(self.loaded, self.batch_tokens, self.words, self.citations)
        rows = grounder.verdicts(questions, predictions, contexts)
        statistics = np.zeros((len(rows), 5))
        for row, prediction, verdicts in zip(statistics, predictions, rows, strict=True):
            probabilities = np.array([verdict.probability for verdict in verdicts if verdict.sentence.states])
            if len(probabilities):
                supported = probabilities >= self.threshold
                row[:] = supported.mean(), supported.all(), probabilities.min(), 1, 1
            elif not any(letter.isalnum() for letter in prediction):
                row[3] = 1  # an empty answer scores 0
        details = {}
        if explain:
            grounder.find_contradictions(rows, self.threshold)
            texts = zip(predictions, rows, strict=True)
            details["explanation"] = [explained(*row, self.threshold) for row in texts]
        return RowStatistics.of(statistics, details)

    def explained(
        self, columns: Mapping[str, list], corpus: Sequence[str] = ()
    ) -> tuple[list[ExplainedRow], RowStatistics]:
        """Return rows with the verdict on every sentence and what passages say of it; see `Scorer.explained`."""
        rows, result = super().explained(columns)
        explanations = result.details["explanation"]
        for i, (row, explanation) in enumerate(zip(rows, explanations, strict=True)):
            stating = [each for each in explanation["sentences"] if each["verdict"] != "states nothing"]
            supported = [each for each in stating if each["verdict"] == "supported"]
            rows[i] = row._replace(
                prediction=explanation["answer"],
                reason=f"{len(supported)} of {len(stating)} sentences judged supported" if stating else row.reason,
                marks=[
                    (each["start"], each["end"], "for" if each in supported else "against", each["verdict"])
                    for each in stating
                ],
                evidence=[line for each in stating for line in evidence(each, columns["contexts"][i], self.threshold)],
            )
        return rows, result

    def weakest(self, columns: Mapping[str, list]) -> list[tuple[str, str, str, str]]:
        """Return of every answer (count, sentence, passage, evidence) about its least supported sentence.

        Such as ("1 of 2 supported", the sentence, "passage 1", the passage's nearest text). All four are "" for an
        answer that states nothing, the last two where no passage shares a word with the sentence.
        """
        questions, predictions, contexts = (columns[name] for name in ("questions", "predictions", "contexts"))
        grounder = Grounder(self.ready().loaded, self.batch_tokens, self.words, self.citations)
        result = []
        for prediction, verdicts in zip(predictions, grounder.verdicts(questions, predictions, contexts), strict=True):
            stating = [verdict for verdict in verdicts if verdict.sentence.states]
            supported = sentence = name = evidence = ""
            if stating:
                verdict = min(stating, key=lambda verdict: verdict.probability)
                count = sum(verdict.probability >= self.threshold for verdict in stating)
                supported = f"{count} of {len(stating)} supported"
                sentence = answer_of(prediction)[verdict.sentence.start : verdict.sentence.end]
                for index, span in verdict.nearest[:1]:
                    name = f"passage {index + 1}"
                    evidence = readable(verdict.usable[index].text[slice(*span)])
            result.append((supported, sentence, name, evidence))
        return result

    def counts(self, columns: Mapping[str, list], statistics: np.ndarray) -> Counter:
        """Return how many answers state nothing, are empty, or lack passages, and languages; see `Scorer.counts`."""
        predictions, contexts = columns["predictions"], columns["contexts"]
        counted, states = statistics[:, 3] > 0, statistics[:, 4] > 0
        counts = Counter(silent=int((~counted).sum()), empty=int((counted & ~states).sum()))
        counts["bare"] = sum(not any(text.strip() for text in passages) for passages in contexts)
        questions = columns.get("questions") or [""] * len(predictions)
        return counts + language_counts({"questions": questions, "predictions": predictions, "references": contexts})

    def recalled(self, columns: Mapping[str, list], scores: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the statistics of rows from their scores; see `Scorer.recalled`."""
        *means, states = (scores[name] for name in self.row_names)
        empty = [not any(map(str.isalnum, text)) for text in columns["predictions"]]
        counted = np.where(states > 0, 1.0, empty)
        return np.stack([*(np.where(counted > 0, score, 0.0) for score in means), counted, states], axis=1)

    def row_scores(self, statistics: np.ndarray) -> dict[str, np.ndarray]:
        """Return the scores of rows; an answer that states nothing has no unsupported sentence, so that it gets 1."""
        *scores, counted, states = np.asarray(statistics).T
        scores = [np.where(counted > 0, score, 1.0) for score in scores]
        return dict(zip(self.names, [*scores, states], strict=True))

    def resampled_scores(self, totals: np.ndarray, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Return means over the answers that count, and the share of rows that state something."""
        totals, rows = np.asarray(totals, dtype=float), np.asarray(rows)
        counted = np.maximum(totals[..., 3], 1)
        means = {name: totals[..., column] / counted for column, name in enumerate(self.names[:3])}
        return means | {self.names[3]: totals[..., 4] / np.maximum(rows, 1)}

    @property
    def error_rate(self) -> str:
        """How often the judge's verdicts are wrong, in a sentence without its point."""
        measured = MEASURED.get(self.facts["checkpoint"].partition("-")[0])
        if measured is None or self.threshold != self.loaded.threshold:
            return "how often this judge of grounding errs was not measured; check its verdicts"
        overlooked, doubted = (f"{mean:.0%} ({least:.0%} to {most:.0%})" for mean, least, most in measured)
        return (
            f"this judge of grounding errs: in {SETS} data sets with known verdicts it passed {overlooked} of "
            f"the unsupported texts and flagged {doubted} of the supported ones"
        )

    def flagged(self, totals: np.ndarray) -> str:
        """Return how many of the answers that state something have an unsupported sentence; see `Scorer.flagged`."""
        return f"{totals[4] - totals[1]:,.0f} of {totals[4]:,.0f}"

    def remarks(self, totals: Mapping[str, np.ndarray], counts: Mapping[str, int]) -> list[str]:
        """Return how often the judge errs, and how many answers the means leave out; see `Scorer.remarks`."""
        silent, rows, empty = (counts.get(name, 0) for name in ("silent", "rows", "empty"))
        answers = f"{silent:,} of {rows:,} answers"
        left_out = f"{answers} state nothing and are left out: they decline, ask or greet"
        if silent == 1:
            left_out = f"{answers} states nothing and is left out: it declines, asks or greets"
        left_out += f"; {empty:,} more {'is' if empty == 1 else 'are'} empty" * bool(empty)
        return [self.error_rate, *[left_out] * (0 < silent < rows)]

    def warnings(self, totals: Mapping[str, np.ndarray], counts: Mapping[str, int]) -> list[str]:
        """Return warnings: rows that are not English, rows without passages, no answer that states anything."""
        result = language_warnings(counts)
        if bare := counts.get("bare"):
            unsupported = "so that whatever their answers state counts as unsupported"
            result.append(f"{bare:,} rows have no passages, {unsupported}")
        if 0 < counts.get("rows", 0) == counts.get("silent"):
            result.append("no answer states anything (all decline, ask or greet), so that the scores are 0")
        return result
