"""How well metrics agree with human judgments: arrays in, all the numbers that `genqa-metrics agree` reports out."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations

import numpy as np

from ...scale.scoring import CONFUSION, agreement, confusion_counts
from ...statistics import correlation, thresholds
from ...statistics.correlation import ratio
from ...statistics.intervals import MIN_QUESTIONS as MIN_EACH
from ...statistics.intervals import share_interval
from ...statistics.resampling import FEW, Resampler, adjust_p_values
from ..inputs import question_numbers, rounded

LENGTHS = ((3, "1 to 3 words"), (10, "4 to 10 words"), (25, "11 to 25 words"), (math.inf, "26 words or more"))
MIN_ROWS = 10  # of a group, below which no correlation is given
MIN_QUESTIONS = 10  # below which no interval is given: of 5 questions 81% of them hold at worst
FEW_INTERVALS = "intervals of differences by jackknife and Student's t"
NO_INTERVALS = f"too few for intervals, which need {MIN_QUESTIONS}"
MAX_GROUPS = 50
CURVE_POINTS = 100
PERMUTATIONS = 10  # per resample: many pairs of metrics, corrected for their number, need small p-values


def length_group(answer: str) -> str:
    """Return the class of an answer's length in words, separated by white space.

    >>> length_group("in the spring of 1912")
    '4 to 10 words'
    """
    words = len(answer.split())
    return next(name for limit, name in LENGTHS if words <= limit)


@dataclass
class Judgments:
    """Answers with human scores and metric scores, row by row."""

    human: np.ndarray  # (rows,) all finite
    correct: np.ndarray  # (rows,) booleans, which answers humans accept
    scores: dict[str, np.ndarray]  # name -> (rows,) scores of a metric, all finite
    questions: list  # (rows,) what makes rows answers to the same question with the same references
    texts: list[str | None] | None = None  # (rows,) of questions; rows with the same are resampled together
    systems: list[str] | None = None  # (rows,) names; None where rows have none
    groups: dict[str, list[str]] = field(default_factory=dict)  # name of a grouping -> (rows,) group of every row
    system_scores: dict[str, dict[str, float]] = field(default_factory=dict)  # where not means of rows
    thresholds: dict[str, float] = field(default_factory=dict)  # from which answers are called correct

    @property
    def clusters(self) -> np.ndarray:
        """(rows,) number of every row's question."""
        if self.texts is not None:
            return question_numbers(self.texts)
        numbers: dict = {}
        return np.array([numbers.setdefault(question, len(numbers)) for question in self.questions])


def _estimate(draw: Resampler, value: float, low: float, high: float) -> dict[str, float | None]:
    """Return "value", "low" and "high"; limits are None for too few questions or an undefined value."""
    if not math.isfinite(value) or draw.number < draw.least:
        return {"value": float(value), "low": None, "high": None}
    return {"value": float(value), "low": float(low), "high": float(high)}


def _share(draw: Resampler, hits: np.ndarray, trials: np.ndarray) -> dict[str, float | None]:
    """Return the estimate of a share, the sum of (rows,) hits divided by that of (rows,) trials."""
    share, total = hits.sum() / trials.sum(), trials.sum()
    influence = np.bincount(draw.questions, (hits - share * trials) / total)
    return _estimate(draw, share, *share_interval(share, influence, np.bincount(draw.questions, trials)))


def _correlations(
    scores: Mapping[str, np.ndarray], human: np.ndarray, kinds: Sequence[str], draw: Resampler
) -> tuple[dict[str, dict], dict[str, np.ndarray]]:
    """Return {metric: {kind: estimate}}, and resampled correlations by "kind metric" for their differences."""
    resampled = {"pearson": correlation.resampled_pearson, "spearman": correlation.resampled_spearman}
    statistics = {
        f"{kind} {name}": partial(resampled[kind], metric_scores, human)
        for name, metric_scores in scores.items()
        for kind in resampled
    }
    samples = draw.values(statistics)
    estimates = {
        name: {
            kind: _estimate(
                draw,
                getattr(correlation, kind)(metric_scores, human),
                *correlation.correlation_limits(kind, metric_scores, human, draw.questions),
            )
            for kind in kinds
        }
        for name, metric_scores in scores.items()
    }
    return estimates, samples


def _thinned(*columns: np.ndarray) -> list[list[float]]:
    """Return the points of a curve, evenly thinned to `CURVE_POINTS`; the first and the last stay."""
    points = np.stack(columns, axis=1)
    kept = np.unique(np.linspace(0, len(points) - 1, min(len(points), CURVE_POINTS)).round().astype(int))
    return points[kept].tolist()


def _as_classifier(scores: np.ndarray, correct: np.ndarray, draw: Resampler) -> dict[str, object]:
    """Return AUC, thresholds, calibration and curves of a score as a classifier of answers that humans accept."""
    from sklearn.metrics import average_precision_score, precision_recall_curve, roc_curve

    false, hits, _ = roc_curve(correct, scores)
    precision, recall, _ = precision_recall_curve(correct, scores)
    chosen = {}
    for criterion in thresholds.CRITERIA:
        threshold, best = thresholds.best_threshold(scores, correct, criterion)
        held_out = thresholds.held_out(scores, correct, draw.questions, criterion, draw.seed)
        chosen[criterion] = {"threshold": threshold, "value": best, "held_out": held_out}
    in_range = scores.min() >= -1e-6 and scores.max() <= 1 + 1e-6  # a cosine of 1 may come out a little above it
    return {
        "auc": _estimate(draw, *correlation.auc_limits(scores, correct, draw.questions)),
        "average_precision": float(average_precision_score(correct, scores)),
        "thresholds": chosen,
        "calibration": thresholds.calibration(np.clip(scores, 0, 1), correct) if in_range else None,
        "roc": _thinned(false, hits),
        "precision_recall": _thinned(recall[::-1], precision[::-1]),
    }


def _verdicts(scores: np.ndarray, correct: np.ndarray, threshold: float, draw: Resampler) -> dict[str, object]:
    """Return threshold, agreement, kappa, sensitivity, specificity and `CONFUSION` of a judge's verdicts."""
    right = ((scores >= threshold) == correct).astype(float)
    counts = confusion_counts(scores >= threshold, correct).sum(axis=0).astype(int).tolist()
    shares = {"threshold": threshold, **agreement(counts), "agreement": _share(draw, right, np.ones_like(right))}
    return shares | dict(zip(CONFUSION, counts, strict=True))


def differing(judgments: Judgments, name: str, count: int) -> list[int]:
    """Return at most `count` rows on which a judge and the humans disagree, the largest differences first."""
    human = (judgments.human - judgments.human.min()) / (np.ptp(judgments.human) or 1.0)
    scores = judgments.scores[name]
    wrong = np.flatnonzero((scores >= judgments.thresholds[name]) != judgments.correct)
    return wrong[np.argsort(-np.abs(scores - human)[wrong], kind="stable")][:count].tolist()


def _differences(judgments: Judgments, estimates: Mapping, samples: Mapping, draw: Resampler) -> list[dict]:
    """Return the tests of every pair of metrics, for Pearson's and for Spearman's correlation."""
    from scipy.stats import rankdata

    names = [name for name in judgments.scores if math.isfinite(estimates[name]["pearson"]["value"])]
    pairs = list(combinations(names, 2))
    result: list[dict] = [{"first": first, "second": second} for first, second in pairs]
    for kind, as_compared in {"pearson": np.asarray, "spearman": rankdata}.items() if pairs else ():
        human, scores = as_compared(judgments.human), {name: as_compared(judgments.scores[name]) for name in names}
        x, y = (np.stack([scores[pair[side]] for pair in pairs]) for side in (0, 1))
        p_values = correlation.permutation_p(x, y, human, draw.questions, PERMUTATIONS * draw.samples, draw.seed)
        holm = adjust_p_values(p_values, "holm")
        for entry, (first, second), p, p_holm in zip(result, pairs, p_values.tolist(), holm.tolist(), strict=True):
            difference = estimates[first][kind]["value"] - estimates[second][kind]["value"]
            resampled = samples[f"{kind} {first}"] - samples[f"{kind} {second}"]
            tests = {"permutation_p": p, "permutation_p_holm": p_holm}
            entry[kind] = _estimate(draw, difference, *draw.limits(difference, resampled)) | tests
    return result


def _rank_pairs(judgments: Judgments, gap: float, draw: Resampler) -> dict:
    """Return the share of answer pairs that each metric ranks as humans do; None where there are no pairs."""
    better, worse = correlation.answer_pairs(judgments.questions, judgments.systems, judgments.human, gap)
    shares: dict[str, dict | None] = dict.fromkeys(judgments.scores)
    rows = len(judgments.human)
    pairs = np.bincount(better, minlength=rows)
    for name, scores in judgments.scores.items() if len(better) else ():
        right = (scores[better] > scores[worse]).astype(float)
        shares[name] = _share(draw, np.bincount(better, right, rows), pairs)
    return {"gap": gap, "pairs": len(better), "metrics": shares}


def _systems(judgments: Judgments, draw: Resampler) -> dict | None:
    """Return the scores of systems, and how many pairs of them each metric ranks as humans do."""
    if judgments.systems is None or len(set(judgments.systems)) < 2:
        return None
    distinct, numbers = np.unique(judgments.systems, return_inverse=True)
    names, masks = distinct.tolist(), np.eye(len(distinct))[:, numbers]

    def means(scores: np.ndarray) -> np.ndarray:
        return masks @ scores / masks.sum(axis=1)

    human = means(judgments.human)
    scores = {metric: means(metric_scores) for metric, metric_scores in judgments.scores.items()}
    for metric, by_system in judgments.system_scores.items():
        scores[metric] = np.array([by_system[name] for name in names])
    means_of = {"human": lambda counts: ratio(counts @ (masks * judgments.human).T, counts @ masks.T)}
    samples = draw.values(means_of)["human"]
    clear = []
    for i, j in zip(*np.triu_indices(len(names), 1), strict=True):
        low, high = draw.limits(human[i] - human[j], samples[:, i] - samples[:, j])
        if low > 0 or high < 0:
            clear.append((i, j))
    pairs = {}
    for metric, metric_scores in scores.items():
        right, all_pairs = correlation.system_pairs(human, metric_scores)
        clearly = sum(bool((human[i] - human[j]) * (metric_scores[i] - metric_scores[j]) > 0) for i, j in clear)
        pairs[metric] = {"right": right, "pairs": all_pairs, "clear_right": clearly, "clear_pairs": len(clear)}
    return {
        "human": dict(zip(names, human.tolist(), strict=True)),
        "rows": dict(zip(names, masks.sum(axis=1).astype(int).tolist(), strict=True)),
        "metrics": {metric: dict(zip(names, of.tolist(), strict=True)) for metric, of in scores.items()},
        "pairs": pairs,
    }


def _groups(judgments: Judgments, draw: Resampler) -> tuple[dict, list[str]]:
    """Return the correlations within groups, and notes about them."""
    items: dict[str, dict] = {}
    notes = []
    for grouping, labels in judgments.groups.items():
        order = dict.fromkeys(sorted(labels))
        if grouping == "length":
            order = dict.fromkeys(name for _, name in LENGTHS if name in order)
        if len(order) < 2:
            continue
        if len(order) > MAX_GROUPS:
            notes.append(f"{grouping}: {len(order):,} groups are too many to report; at most {MAX_GROUPS} are")
            continue
        items[grouping] = {}
        for label in order:
            rows = np.flatnonzero([other == label for other in labels])
            questions = np.unique(draw.questions[rows], return_inverse=True)[1]
            entry: dict = {"rows": len(rows), "questions": int(questions.max()) + 1, "metrics": None}
            if len(rows) >= MIN_ROWS:
                scores = {name: metric_scores[rows] for name, metric_scores in judgments.scores.items()}
                kinds, draw_of_group = ("pearson", "spearman"), replace(draw, questions=questions)
                entry["metrics"], _ = _correlations(scores, judgments.human[rows], kinds, draw_of_group)
            items[grouping][label] = entry
    return items, notes


def _few_on_one_side(scores: np.ndarray) -> str:
    side = "above" if (scores > scores.mean()).sum() * 2 < len(scores) else "below"
    return f"only {correlation.fewer_side(scores)} are {side} the mean, too few for intervals of correlations"


def analyse(judgments: Judgments, gap: float | None = None, number: int = 1000, seed: int = 0) -> dict[str, object]:
    """Return how well metrics agree with the humans, from at least 3 rows.

    `gap`: a pair of answers counts where human scores differ by more; None for half of their range (the paper: more
    than 2 on a scale from 1 to 5). `number`: bootstrap samples; there are ten times as many permutations.

    "interval": the name of the method; "metrics": by metric "pearson", "spearman", "kendall" (value, low, high), with
    both correct and wrong answers "classifier" (auc, average_precision, thresholds, calibration, roc,
    precision_recall), and of a judge "verdicts" (see `_verdicts`); "differences": of every pair of metrics;
    "rank_pairs"; "systems"; "groups"; "notes". Numbers have six significant digits; what is not defined is None, and a
    note says why.
    """
    human, correct = judgments.human, judgments.correct
    notes = []
    draw = Resampler(judgments.clusters, number, seed, MIN_QUESTIONS)
    questions = int(draw.questions.max()) + 1
    if draw.number < FEW:
        few = f"only {questions} questions" if questions > 1 else "only one question"
        if draw.number < questions - 1:
            few = f"some questions have many rows: all count as about {draw.number:.0f} equal questions"
        notes.append(f"{few}: {FEW_INTERVALS if draw.number >= MIN_QUESTIONS else NO_INTERVALS}")
    if questions < len(human):
        notes.append("answers to one question are alike: intervals and permutations draw whole questions")
    if not np.ptp(human):
        notes.append("all human scores are equal: no correlation is defined")
    for name, scores in judgments.scores.items():
        if not np.ptp(scores):
            notes.append(f"{name}: all its scores are equal: no correlation is defined")
        elif not correlation.is_varied(scores):
            notes.append(f"{name}: {_few_on_one_side(scores)}")
    if np.ptp(human) and not correlation.is_varied(human):
        notes.append(f"human scores: {_few_on_one_side(human)}")
    if 0 < (rare := int(min(correct.sum(), (~correct).sum()))) < MIN_EACH:
        kind = "correct" if correct.sum() == rare else "incorrect"
        notes.append(f"only {rare} {kind} answers: AUC has no interval, which needs {MIN_EACH}")
    estimates, samples = _correlations(judgments.scores, human, ("pearson", "spearman", "kendall"), draw)
    metrics: dict[str, dict] = {name: dict(estimate) for name, estimate in estimates.items()}
    if correct.any() and not correct.all():
        for name, scores in judgments.scores.items():
            metrics[name]["classifier"] = _as_classifier(scores, correct, draw)
            if metrics[name]["classifier"]["calibration"] is None:
                notes.append(f"{name}: has scores outside 0 to 1: no calibration")
    else:
        notes.append("humans accept all or none of the answers: no thresholds and no ROC")
    for name, limit in judgments.thresholds.items():
        metrics[name]["verdicts"] = _verdicts(judgments.scores[name], correct, limit, draw)
    if gap is None:
        gap = float(np.ptp(human)) / 2
    groups, group_notes = _groups(judgments, draw)
    report = {
        "interval": draw.interval,
        "metrics": metrics,
        "differences": _differences(judgments, estimates, samples, draw),
        "rank_pairs": _rank_pairs(judgments, gap, draw),
        "systems": _systems(judgments, draw),
        "groups": groups,
        "notes": [*notes, *group_notes],
    }
    return rounded(report)


def best_first(metrics: Mapping[str, Mapping], kind: str = "pearson") -> list[str]:
    """Return the names of the metrics, the best correlation first, undefined ones last."""
    coefficients = {name: metric[kind]["value"] for name, metric in metrics.items()}
    return sorted(metrics, key=lambda name: (coefficients[name] is None, -(coefficients[name] or 0.0), name))


def against_best(metrics: Mapping, differences: Sequence[Mapping], kind: str = "pearson") -> dict[str, dict]:
    """Return {metric: its test} against the one with the best correlation of a kind, "pearson" or "spearman".

    P-values are corrected (Holm) for these tests alone.
    """
    best = best_first(metrics, kind)[0]
    result = {}
    for entry in differences:
        if best in (entry["first"], entry["second"]):
            result[entry["second"] if entry["first"] == best else entry["first"]] = dict(entry[kind])
    raw = np.array([test["permutation_p"] for test in result.values()], dtype=float)  # None is NaN
    for test, corrected in zip(result.values(), adjust_p_values(raw, "holm").tolist(), strict=True):
        test["permutation_p_holm"] = None if np.isnan(corrected) else corrected
    return result
