"""The scorer of AEv: settings, statistics per row, scores, warnings, signature."""

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from ..core.reading import readable, the_first
from ..core.scorer import RowStatistics, Scorer, column_sums
from .scoring import COUNTS, GRID_ORDERS, Settings, grid_scores, readers, scores, statistics, warnings_for

NAMED = 5  # words that a reason names
LONG = 2.0  # ratio of lengths, or its inverse, from which a note is shown
_WORDS = re.compile(r"\w+(?:'\w+)*")


class AevScorer(Scorer):
    """AEv(alpha, N) of Soricut & Brill (2004); the arguments are those of `scoring.Settings`."""

    name = "aev"
    title = "AEv"
    main = "aev"
    measures = (
        "words and word sequences in common, stop words left out: their share of the answer (precision) "
        "and of the reference (recall), averaged; of a system by its words in all rows, not the mean of its rows"
    )
    shown = ("aev_precision", "aev_recall", "brevity_penalty", "wordiness_penalty")
    beside = ("aev_precision", "aev_recall")
    names = ("aev", *shown, "prediction_length", "reference_length")
    presets: ClassVar = {"paper": {"effective_order": False}}  # section 3: every order counts, also without n-grams
    settings_class = Settings

    @classmethod
    def length_note(cls, systems: Mapping[str, Mapping[str, float]]) -> str:
        """Return one sentence if answers are much longer or shorter than references; see `Scorer.length_note`.

        >>> AevScorer.length_note({"a": {"aev": 0.1, "prediction_length": 90.0, "reference_length": 9.0}})[:68]
        'the answers of a are 10.0 times as long as the references, which AEv'
        """
        lengths = {s: (of.get("prediction_length"), of.get("reference_length")) for s, of in systems.items()}
        ratios = {system: answer / other for system, (answer, other) in lengths.items() if answer and other}
        far = [system for system, ratio in ratios.items() if not 1 / LONG < ratio < LONG]
        if not far:
            return ""
        far.sort(key=ratios.__getitem__, reverse=True)
        text = ", ".join(f"{ratios[system]:.1f}" for system in far[: 4 if len(far) == 4 else 3])
        remedy = "wordiness=infinity or --set aev.alpha=0" if ratios[far[0]] >= LONG else "brevity=infinity"
        return (
            f"the answers of {the_first(far, 3)} are {text} times as long as the references, which {cls.title} marks "
            f"down; --set aev.{remedy} corrects this, and --metric ava reads the question"
        )

    def configure(self, **settings) -> None:
        """Take settings of `compute`."""
        self.settings = Settings(**settings)
        if self.settings.stop_words is None:
            self.measures = type(self).measures.replace(", stop words left out", "")
        self._read = readers(self.settings)
        self.facts = self.settings.facts()

    def statistics(self, columns: Mapping[str, list], explain: bool = False) -> RowStatistics:
        """Return the n-gram statistics of every row; see `Scorer.statistics`."""
        texts = _texts(columns)
        rows = statistics(*texts, self.settings, read=self._read).astype(float)
        details = {"shared_words": list(map(self._shared_words, *texts))} if explain else {}
        if explain:
            details["unmatched_order"] = [_unmatched_order(row, self.settings.max_order) for row in rows]
        return RowStatistics.of(rows, details)

    def _shared_words(self, prediction: str, references: Sequence[str]) -> list[str]:
        """Return the words of an answer that are in a reference too, as they are counted."""
        read = next((read for read in self._read if all(map(read, references))), self._read[-1])
        theirs = {term for text in references for term in read(text)}
        return list({word.lower(): word for word in _WORDS.findall(prediction) if theirs & {*read(word)}}.values())

    def row_scores(self, statistics: np.ndarray) -> dict[str, np.ndarray]:
        """Return the scores of single rows; orders for which a row is too short are left out (effective order)."""
        return scores(statistics, self.settings, effective_order=True)

    def resampled_scores(self, totals: np.ndarray, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Return the scores of corpora from sums of statistics."""
        return scores(totals, self.settings)

    def warnings(self, totals: Mapping[str, np.ndarray], counts: Mapping[str, int]) -> list[str]:
        """Return the warnings of `scoring.warnings_for`, each with the name of its system."""
        return [
            f"{system}: {warning}" if system else warning
            for system, total in totals.items()
            for warning in warnings_for(total, self.settings)
        ]

    def reason(self, scores: Mapping[str, float], details: Mapping[str, object]) -> str:
        """Name the words that answer and references have in common, the lengths, and precision and recall."""
        lengths = f"it has {scores['prediction_length']:g} words that count, the reference "
        lengths += f"{scores['reference_length']:g}"
        if not (words := details["shared_words"]):
            longer = ", but a sequence of words is" if scores["aev"] else ""
            return f"No word that counts is in a reference{longer}; {lengths}."
        shared = f"In common with a reference: {the_first([repr(word) for word in words], NAMED)}; "
        if (order := details["unmatched_order"]) and not scores["aev"]:
            return f"{shared}no sequence of {order} words, so the score is 0; {lengths}."
        precision = _penalized("precision", scores["aev_precision"], "brevity penalty", scores["brevity_penalty"])
        recall = _penalized("recall", scores["aev_recall"], "wordiness penalty", scores["wordiness_penalty"])
        return f"{shared}{lengths}: {precision}, {recall}."

    def grid_scores(self, columns: Mapping[str, list]) -> dict[str, list]:
        """Return AEv of a corpus for every alpha and N of a grid; see `scoring.grid_scores`."""
        rows = statistics(*_texts(columns), self.settings, max(GRID_ORDERS), self._read)
        return grid_scores(column_sums(rows), self.settings)


def _penalized(name: str, score: float, penalty_name: str, penalty: float) -> str:
    """Return precision or recall of AEv in words, before and after its penalty.

    >>> _penalized("recall", 0.607, "wordiness penalty", 0.607), _penalized("precision", 0.5, "brevity penalty", 1.0)
    ('recall 1.00 times wordiness penalty 0.61 = 0.61', 'precision 0.50')
    """
    if penalty >= 0.995 or not penalty:
        return f"{name} {score:.2f}"
    return f"{name} {score / penalty:.2f} times {penalty_name} {penalty:.2f} = {score:.2f}"


def _unmatched_order(row: np.ndarray, orders: int) -> int:
    """Return the shortest length (2 or more) of word sequences that answer and references do not share; else 0."""
    counts = row[COUNTS:].reshape(-1, 4)[:orders]
    none = (counts[:, 1] > 0) & (counts[:, 0] == 0) & (counts[0, 0] > 0)
    return int(none.argmax()) + 1 if none.any() else 0


def _texts(columns: Mapping[str, list]) -> tuple[list[str], list[list[str]]]:
    """Return predictions and references as people see them."""
    predictions = [readable(text) or text for text in columns["predictions"]]
    return predictions, [[readable(text) or text for text in row] for row in columns["references"]]
