"""Which metrics are computed, with which settings."""

from collections.abc import Mapping, Sequence

from ..core.scorer import Scorer
from ..registry import SCORERS, judge_among, make_scorer, scorer_class
from ..rows.columns import COLUMNS
from ..rows.items import RowKind
from ..rows.row import FileError

LONG = 2.0  # ratio of lengths, or its inverse, from which a note is shown


def checked_columns(columns: Mapping[str, str] | None, more: Sequence[str] = ()) -> dict[str, str]:
    """Return names of columns in the files, by the names of `items.COLUMNS`.

    Args:
        columns: what the user gave.
        more: further names that a verb knows.

    Raises:
        ValueError: if there is no such name.
    """
    for name in columns or {}:
        if name not in (*COLUMNS, *more):
            raise ValueError(f"column: expected one of {', '.join((*COLUMNS, *more))} as the name, got {name!r}")
    return dict(columns or {})


def make_scorers(metrics: Sequence[str], settings: Mapping[str, Mapping] | None = None) -> dict[str, Scorer]:
    """Return {metric: what computes it}.

    Args:
        metrics: names of metrics; none for those that have settings.
        settings: {metric: {setting: value}}, or {setting: value} of the only metric.

    Raises:
        ValueError: if there is no such metric or setting, a value is bad, or a metric with settings is not computed.

    >>> make_scorers(["aev"], {"f_meta": {"base": "bleu"}})
    Traceback (most recent call last):
        ...
    ValueError: f_meta: has settings but is not computed; add --metric f_meta or drop them
    """
    settings = settings or {}
    if len(metrics) == 1 and settings and not set(settings) & {*SCORERS}:
        settings = {metrics[0]: settings}  # those of the only metric
    for metric in settings:
        if metrics and metric not in metrics:
            raise ValueError(f"{metric}: has settings but is not computed; add --metric {metric} or drop them")
    return {metric: make_scorer(metric, settings.get(metric)) for metric in dict.fromkeys((*metrics, *settings))}


def default_metrics(row_kind: RowKind) -> tuple[str, ...]:
    """Return the metrics that are computed when none is named.

    Rows with a question get a metric that reads it: without it, long right answers look worse than short wrong ones.

    Grounding, which reads the passages that an answer was written from, is computed only where it is named: it agrees
    too little with people to be shown to those who do not ask for it.

    Raises:
        FileError: if rows have passages and no references, so that nothing else can be computed.

    >>> default_metrics(RowKind(sets=False, ceiling=False, text="question", has_contexts=True))
    ('ava',)
    """
    if row_kind.sets:
        return "f_meta", "aev"
    if not row_kind.has_references:
        raise FileError(
            "rows have passages and no references, which only grounding reads; it errs often, so that it is computed "
            "only where it is named: add --metric grounding"
        )
    return ("ava",) if row_kind.text == "question" and row_kind.given else ("aev",)


def needed_columns(metrics: Mapping[str, Scorer | type[Scorer]], row_kind: RowKind) -> dict[str, str]:
    """Return {column: first metric that needs it in every row}.

    Args:
        metrics: {metric: what computes it}.
        row_kind: what the rows are.
    """
    found: dict[str, str] = {}
    for metric, scorer in metrics.items():
        found.setdefault(scorer.evidence, metric)
        if scorer.needs_question and row_kind.text == "question":
            found.setdefault("question", metric)
    return found


def score_names(metrics: Sequence[str]) -> list[str]:
    """Return the names of the scores of a system by some metrics, as `score` reports them.

    >>> score_names(["ava"])[-3:], score_names(["f_meta"])[0]
    (['accuracy', 'low', 'high'], 'f_meta')
    """
    names = [name for metric in metrics for name in scorer_class(metric).names]
    return names + (["accuracy", "low", "high"] if judge_among(metrics) else [])


def length_note(metric: str, systems: Mapping[str, Mapping[str, float]]) -> str | None:
    """Return one sentence where a score depends more on the length of answers than on their content.

    Args:
        metric: name of the metric.
        systems: {system: {score: value}}.

    >>> length_note("aev", {"a": {"aev": 0.1, "prediction_length": 90.0, "reference_length": 9.0}})[:73]
    'aev: the answers of a are 10.0 times as long as the references, which AEv'
    """
    ratios = {
        system: scores["prediction_length"] / scores["reference_length"]
        for system, scores in systems.items()
        if scores.get("prediction_length") and scores.get("reference_length")
    }
    far = [system for system, ratio in ratios.items() if not 1 / LONG < ratio < LONG]
    if not far:
        return None
    far.sort(key=ratios.__getitem__, reverse=True)
    names = f"{', '.join(far[:3])}{f' and {len(far) - 3:,} more' if len(far) > 3 else ''}"
    found = ", ".join(f"{ratios[system]:.1f}" for system in far[:3])
    remedy = "wordiness=infinity or --set aev.alpha=0" if ratios[far[0]] >= LONG else "brevity=infinity"
    return (
        f"{metric}: the answers of {names} are {found} times as long as the references, which AEv marks down; "
        f"--set {metric}.{remedy} corrects this, and --metric ava reads the question"
    )
