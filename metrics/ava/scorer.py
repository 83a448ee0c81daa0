"""AVA as the module of `evaluate` and the command line use it: settings, statistics, scores, warnings, signature."""

import os
from collections import Counter
from collections.abc import Mapping

import numpy as np

from ..core.batching import checked_budget
from ..core.devices import check_fork
from ..core.languages import language_counts, language_warnings
from ..core.scorer import Scorer
from .explaining import explanations
from .judging import Judge
from .loading import checked_aggregation, checked_early_stop, checked_threshold, load_judge
from .modeling import LINEAR


class AvaScorer(Scorer):
    """AVA of Vu & Moschitti (2021): the statistics of a row are its verdict and its probability.

    Args:
        threshold: probability from which an answer counts as correct; None for the checkpoint's own.
        reference_aggregation: "joined", "max" or "mean"; None for the checkpoint's own.
        early_stop: probability from which no further reference of a row is read, not below the threshold: no verdict
            changes, and of probabilities only those above it. None reads all references.
        batch_tokens: word pieces of a batch at most, padding included.
        checkpoint, revision, device, dtype, backend, base_model: see `loading.load_judge`.
    """

    name = "ava"
    main = "ava_accuracy"
    names = ("ava_accuracy", "ava_score")
    row_names = ("ava_label", "ava_score")
    significance_scores = ("ava_accuracy", "ava_score")
    meta_evaluated = ("ava_score",)
    needs_question = True
    optional = ("short_answers",)

    @classmethod
    def check(cls, threshold=None, reference_aggregation=None, early_stop=None):
        """Refuse values that no judge could have; see `Scorer.check`."""
        checked_threshold(threshold)
        checked_aggregation(reference_aggregation)
        checked_threshold(early_stop, "early_stop")

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
        """Load the judge; see `loading.load_judge`, and `batching.budget_on` for `batch_tokens`."""
        self.batch_tokens = checked_budget(batch_tokens)
        self._process = os.getpid()
        self.loaded = load_judge(checkpoint, revision, device, dtype, backend, base_model)
        self.device = self.loaded.model.device.type if hasattr(self.loaded.model, "device") else "cpu"

    def configure(
        self,
        threshold: float | None = None,
        reference_aggregation: str | None = None,
        early_stop: float | None = None,
    ) -> None:
        """Take settings of `compute`; None is the checkpoint's own value."""
        self.threshold = self.loaded.threshold if threshold is None else checked_threshold(threshold)
        self.thresholds = {"ava_score": self.threshold}
        self.aggregation = checked_aggregation(reference_aggregation) or self.loaded.reference_aggregation
        self.early_stop = checked_early_stop(early_stop, self.aggregation, self.threshold)
        self.facts = {**self.loaded.facts, "threshold": f"{self.threshold:g}", "references": self.aggregation}
        self.facts |= {} if self.early_stop is None else {"early_stop": f"{self.early_stop:g}"}

    def statistics(self, columns: Mapping[str, list]) -> tuple[np.ndarray, Counter]:
        """Return verdict and probability of every row; counts answers of which the model could not read the end.

        Counts also short answers that the judge does not read.
        """
        check_fork(self.device, self._process)
        judge, short = Judge(self.loaded, self.batch_tokens), columns.get("short_answers")
        rows = columns["questions"], columns["references"], columns["predictions"]
        scores = judge.probabilities(*rows, self.aggregation, short, self.early_stop)
        statistics = np.stack([scores >= self.threshold, scores], axis=1).astype(float)
        unread = sum(map(bool, short or ())) if self.loaded.configuration != LINEAR else 0
        return statistics, language_counts(columns) + Counter(truncated=judge.cut_triples, unread=unread)

    def statistics_with_details(
        self, columns: Mapping[str, list], explain: bool
    ) -> tuple[np.ndarray, Counter, dict[str, list]]:
        """Return the same, and of every row why it was judged so, see `explaining.explanations`."""
        if explain and self.loaded.configuration == LINEAR and any(columns.get("short_answers", ())):
            raise ValueError("explain: what short answers do is not explained; leave explain or short_answers out")
        if explain and self.early_stop is not None:
            raise ValueError("explain: it reads all references of a row; leave explain or early_stop out")
        found = self.statistics(columns)
        if not explain:
            return *found, {}
        judge = Judge(self.loaded, self.batch_tokens)

        def probabilities(questions, references, predictions):
            return judge.probabilities(questions, references, predictions, self.aggregation)

        rows = columns["questions"], columns["references"], columns["predictions"]
        return *found, {"explanation": explanations(*rows, probabilities, self.threshold)}

    def warnings(self, totals: Mapping[str, np.ndarray], counts: Mapping[str, int]) -> list[str]:
        """Say how many rows are not English, how many answers were truncated, and that short answers are not read."""
        judge = Judge(self.loaded)
        judge.cut_triples = counts.get("truncated", 0)
        unread = (
            f"short_answers: {counts['unread']} given, but only the linear judge reads them; this one "
            f"({self.loaded.configuration}) judged without them"
        )
        return [*language_warnings(counts), *judge.warnings(), *([unread] if counts.get("unread") else [])]
