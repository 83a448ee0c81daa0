"""AVA as the module of `evaluate` and the command line use it: settings, statistics, scores, warnings, signature."""

import os
from collections import Counter
from collections.abc import Mapping

import numpy as np

from .explaining import explanations
from .judging import Judge
from .languages import language_counts, language_warnings
from .loading import checked_aggregation, checked_enough, checked_threshold, load_judge
from .modeling import LINEAR
from .models import check_fork, checked_budget
from .shared import VERSION, Scorer


class AvaScorer(Scorer):
    """AVA of Vu & Moschitti (2021): the statistics of a row are its verdict and its probability.

    Args:
        threshold: probability from which an answer counts as correct; None for the checkpoint's own.
        reference_aggregation: "joined", "max" or "mean"; None for the checkpoint's own.
        enough: probability from which no further reference of a row is read, not below the threshold: no verdict
            changes, and of probabilities only those above it. None reads all references.
        batch_tokens: word pieces of a batch at most, padding included.
        checkpoint, revision, device, dtype, backend, base_model: see `loading.load_judge`.
    """

    name = "ava"
    main = "ava_accuracy"
    names = ("ava_accuracy", "ava_score")
    row_names = ("ava_label", "ava_score")
    tested = ("ava_accuracy", "ava_score")
    measured = ("ava_score",)
    needs_question = True
    optional = ("short_answers",)
    load_names = ("checkpoint", "revision", "device", "dtype", "batch_tokens", "backend", "base_model")

    def __init__(
        self,
        threshold: float | None = None,
        reference_aggregation: str | None = None,
        batch_tokens: int = 4096,
        checkpoint: str | None = None,
        revision: str | None = None,
        device: str | None = None,
        dtype: object = None,
        backend: str | None = None,
        base_model: str | None = None,
        enough: float | None = None,
    ):
        threshold = checked_threshold(threshold)
        aggregation = checked_aggregation(reference_aggregation)
        self.batch_tokens = checked_budget(batch_tokens)
        self._process = os.getpid()
        self.loaded = load_judge(checkpoint, revision, device, dtype, backend, base_model)
        self.threshold = self.loaded.threshold if threshold is None else threshold
        self.verdicts_from = {"ava_score": self.threshold}
        self.aggregation = aggregation or self.loaded.reference_aggregation
        self.enough = checked_enough(enough, self.aggregation, self.threshold)
        self.device = self.loaded.model.device.type if hasattr(self.loaded.model, "device") else "cpu"
        settings = f"threshold:{self.threshold:g}|references:{self.aggregation}"
        settings += "" if self.enough is None else f"|enough:{self.enough:g}"
        self.signature = f"ava|{self.loaded.signature}|{settings}|version:{VERSION}"

    def statistics(self, columns: Mapping[str, list]) -> tuple[np.ndarray, Counter]:
        """Return verdict and probability of every row; counts answers of which the model could not read the end.

        Counts also short answers that the judge does not read.
        """
        check_fork(self.device, self._process)
        judge, short = Judge(self.loaded, self.batch_tokens), columns.get("short_answers")
        rows = columns["questions"], columns["references"], columns["predictions"]
        scores = judge.probabilities(*rows, self.aggregation, short, self.enough)
        statistics = np.stack([scores >= self.threshold, scores], axis=1).astype(float)
        unread = sum(map(bool, short or ())) if self.loaded.configuration != LINEAR else 0
        return statistics, language_counts(columns) + Counter(truncated=judge.cut_triples, unread=unread)

    def examined(self, columns: Mapping[str, list], explain: bool) -> tuple[np.ndarray, Counter, dict[str, list]]:
        """Return the same, and of every row why it was judged so, see `explaining.explanations`."""
        if explain and self.loaded.configuration == LINEAR and any(columns.get("short_answers", ())):
            raise ValueError("explain: what short answers do is not explained; leave explain or short_answers out")
        if explain and self.enough is not None:
            raise ValueError("explain: it reads all references of a row; leave explain or enough out")
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
