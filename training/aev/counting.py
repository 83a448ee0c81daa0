"""Counts of outputs from which AEv and BLEU of any set of them follow by adding up."""

import numpy as np
from genqa_metrics.aev.scoring import GRID_ORDERS, Settings, grid_scores, statistics


def bleu_statistics(texts: list[str], references: list[list[str]]) -> dict[str, np.ndarray]:
    """Return sacrebleu's statistics of every text, "first" (one reference) and "all" -> rows x 10 integers."""
    from sacrebleu.metrics import BLEU

    def counts(texts: list[str], references: list[list[str]]) -> np.ndarray:
        streams = [[row[i] if i < len(row) else None for row in references] for i in range(max(map(len, references)))]
        return np.array(BLEU(force=True)._extract_corpus_statistics(texts, streams))

    chosen = {"first": [row[:1] for row in references], "all": references}
    return {name: counts(texts, rows) for name, rows in chosen.items()}


def bleu_score(total: np.ndarray) -> float:
    """Return corpus BLEU-4 as sacrebleu computes it by default, from summed statistics."""
    from sacrebleu.metrics import BLEU

    lengths, counts = total[:2].tolist(), total[2:].tolist()
    return BLEU.compute_bleu(counts[:4], counts[4:], *lengths, smooth_method="exp").score


class Counted:
    """The statistics of all outputs, and what they give for systems."""

    def __init__(self, outputs: list[dict], settings: Settings):
        texts, references = [row["candidate"] for row in outputs], [row["references"] for row in outputs]

        self.settings = settings
        self.aev = statistics(texts, references, settings, max(GRID_ORDERS))
        self.bleu = bleu_statistics(texts, references)

    def of_systems(self, units: np.ndarray, names: list[str]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Return the grids (systems x orders x alphas) and BLEU, "first" and "all" -> systems."""
        of_unit = [units == name for name in names]
        grids = [grid_scores(self.aev[chosen].sum(axis=0), self.settings)["aev"] for chosen in of_unit]
        bleu = {k: np.array([bleu_score(rows[own].sum(axis=0)) for own in of_unit]) for k, rows in self.bleu.items()}
        return np.array(grids), bleu
