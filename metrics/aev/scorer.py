"""The scorer of AEv: settings, statistics per row, scores, warnings, signature."""

from collections.abc import Mapping

import numpy as np

from ..core.reading import readable
from ..core.scorer import RowStatistics, Scorer, column_sums
from .scoring import GRID_ORDERS, Settings, grid_scores, readers, scores, statistics, warnings_for

PRESETS = {"paper": {"effective_order": False}}  # section 3: every order counts, also one without n-grams


class AevScorer(Scorer):
    """AEv(alpha, N) of Soricut & Brill (2004); the arguments are those of `scoring.Settings`."""

    name = "aev"
    title = "AEv"
    main = "aev"
    measures = (
        "words and word sequences in common: their share of the answer (precision) and of the reference (recall), "
        "averaged"
    )
    shown = ("aev_precision", "aev_recall", "brevity_penalty", "wordiness_penalty")
    beside = ("aev_precision", "aev_recall")
    names = ("aev", *shown, "prediction_length", "reference_length")
    presets = PRESETS
    settings_class = Settings

    def configure(self, **settings) -> None:
        """Take settings of `compute`."""
        self.settings = Settings(**settings)
        self._read = readers(self.settings)
        self.facts = self.settings.facts()

    def statistics(self, columns: Mapping[str, list], explain: bool = False) -> RowStatistics:
        """Return the n-gram statistics of every row; see `Scorer.statistics`."""
        return RowStatistics.of(statistics(*_texts(columns), self.settings, read=self._read).astype(float))

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
        """Name precision, recall and the lengths that they depend on."""
        return (
            f"Its precision is {scores['aev_precision']:.2f} and its recall {scores['aev_recall']:.2f}; it has "
            f"{scores['prediction_length']:g} words that count, the reference {scores['reference_length']:g}."
        )

    def grid_scores(self, columns: Mapping[str, list]) -> dict[str, list]:
        """Return AEv of a corpus for every alpha and N of a grid; see `scoring.grid_scores`."""
        rows = statistics(*_texts(columns), self.settings, max(GRID_ORDERS), self._read)
        return grid_scores(column_sums(rows), self.settings)


def _texts(columns: Mapping[str, list]) -> tuple[list[str], list[list[str]]]:
    """Return predictions and references as people see them."""
    predictions = [readable(text) or text for text in columns["predictions"]]
    return predictions, [[readable(text) or text for text in row] for row in columns["references"]]
