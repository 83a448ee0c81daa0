"""From a row to what every tool shows of it: a score, a verdict and a reason. Loads no tool."""

import json
import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ..core.scorer import Scorer, unknown_name_message
from ..registry import JUDGE, make_scorer, scorer_class

_LOCK = threading.Lock()  # a model is loaded once, also where a tool scores its first rows in several threads

Texts = str | Sequence[str]
Settings = Mapping[str, Any] | None  # of a metric's `load` and `compute`


def shown_scores(metric: str) -> dict[str, str]:
    """Return the scores of a metric that tools show: {name of the mean: score of a row}.

    >>> shown_scores("ava")
    {'ava_accuracy': 'ava_label', 'ava_score': 'ava_score'}
    """
    scorer = scorer_class(metric)
    row_names = dict(zip(scorer.names, scorer.row_names, strict=False))
    return {name: row_names[name] for name in scorer.significance_scores}


class Result(NamedTuple):
    """Score, verdict and reason of a row, for other tools."""

    score: float
    correct: bool | None  # the verdict of a metric that judges; None for the others
    reason: str | None  # one sentence on what decided; None if no reasons are asked for
    scores: dict[str, float]  # all scores of the row by name


def scores_to_log(systems: Mapping[str, Mapping[str, float | None]], prefix: str, separator: str) -> dict[str, float]:
    """Return the scores of a report's systems by name in a tool, without an accuracy that cannot be told.

    >>> scores_to_log({"bot": {"ava_accuracy": 0.5, "accuracy": None}}, "genqa", ".")
    {'genqa.bot.ava_accuracy': 0.5}
    """
    return {
        separator.join((prefix, system, name)): score
        for system, scores in systems.items()
        for name, score in scores.items()
        if score is not None
    }


class RowScorer:
    """Scores rows with one metric; its model is loaded with the first row. Threads may share one.

    Args:
        metric: its name; of `f_meta` every line of a prediction is one question, `grounding` reads passages.
        score: the score of a row to show; None for the metric's own, such as the probability of `ava`.
        explain: whether to give reasons, which cost `ava` one more pass for every word of the answer.
        settings: of the metric's `load` and `compute`, see its card; types that JSON has.

    Raises:
        ValueError: if there is no such metric or score; for bad settings, from the first row on.

    >>> scorer = RowScorer("aev", settings={"max_order": 1})
    >>> scorer.one(None, "four steps", "four steps").score, scorer.name
    (1.0, 'aev')
    """

    def __init__(self, metric: str = JUDGE, score: str | None = None, explain: bool = True, settings: Settings = None):
        scorer = scorer_class(metric)
        if score is not None and score not in scorer.row_names:
            problem = unknown_name_message(score, f"not a score of a row of {metric}", scorer.row_names)
            raise ValueError(f"score: {problem}")
        self.metric, self.explain, self.reads_passages = metric, explain, scorer.evidence == "contexts"
        self.name = score or scorer.graded
        self._settings = json.dumps(dict(settings or {}), sort_keys=True)

    @property
    def scorer(self) -> Scorer:
        """The metric itself, loaded."""
        with _LOCK:
            return _loaded(self.metric, self._settings)

    @property
    def signature(self) -> str:
        """Everything that the numbers depend on, on one line."""
        return self.scorer.signature

    @property
    def threshold(self) -> float | None:
        """The score from which a row is correct; None if the metric does not judge by this score."""
        return self.scorer.thresholds.get(self.name)

    def __call__(
        self, questions: Sequence[str | None], predictions: Sequence[Texts], references: Sequence[Texts]
    ) -> list[Result]:
        """Return the results of rows, in their order; models run on all of them together.

        `aev` and `f_meta` read no questions. For `grounding` references are lists of passages.
        """
        scorer = self.scorer
        if "questions" in scorer.optional:
            questions = [question or "" for question in questions]
        columns: dict[str, Any] = {"questions": questions, "predictions": predictions, scorer.evidence: references}
        if scorer.takes_sets:
            columns |= {"predictions": list(map(_lines, predictions)), "references": list(map(_lines, references))}
        if not len(predictions):
            return []
        statistics, details, _ = scorer.scored(scorer.checked(columns), self.explain)
        reasons = scorer.reasons(statistics, details) if self.explain else [None] * len(statistics)
        by_name = {name: scores.tolist() for name, scores in scorer.row_scores(statistics).items()}
        results = []
        for *row, reason in zip(*by_name.values(), reasons, strict=True):
            scores = dict(zip(by_name, row, strict=True))
            correct = next((scores[name] >= start for name, start in scorer.thresholds.items()), None)
            results.append(Result(scores[self.name], correct, reason, scores))
        return results

    def one(self, question: str | None, prediction: Texts, references: Texts) -> Result:
        """Return the result of one row; see `__call__`."""
        return self([question], [prediction], [references])[0]


@lru_cache(maxsize=8)
def _loaded(metric: str, settings: str) -> Scorer:
    return make_scorer(metric, json.loads(settings))


def _lines(texts: Texts) -> list[str]:
    """Return the questions of a text, one a line, without numbers and dashes of a list."""
    lines = texts.splitlines() if isinstance(texts, str) else texts
    return [text for line in lines if (text := line.strip().lstrip("-*0123456789.) ").strip())]
