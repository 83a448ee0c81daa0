"""How well metrics agree with human judgments: arrays in, all the numbers that `genqa-metrics agree` reports out."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np

from ...scale.scoring import CONFUSION, agreement, confusion_counts
from ...statistics import correlation, thresholds
from ...statistics.intervals import MIN_QUESTIONS as MIN_EACH
from ...statistics.intervals import kish, share_interval
from ...statistics.resampling import adjust_p_values, mean_interval
from ..inputs import question_numbers, rounded

LENGTHS = ((3, "1 to 3 words"), (10, "4 to 10 words"), (25, "11 to 25 words"), (math.inf, "26 words or more"))
MIN_ROWS = 10  # of a group, below which no correlation is given
MIN_QUESTIONS = 10  # below which no interval is given: of 5 questions 81% of them hold at worst
INTERVAL = "95% jackknife interval with Student's t, questions left out in turn"
MAX_GROUPS = 50
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

    @cached_property
    def clusters(self) -> np.ndarray:
        """(rows,) number of every row's question."""
        if self.texts is not None:
            return question_numbers(self.texts)
        numbers: dict = {}
        return np.array([numbers.setdefault(question, len(numbers)) for question in self.questions])


def _estimate(estimate: float, limits: Sequence[float], questions: np.ndarray) -> dict[str, float]:
    """Return "value", "low" and "high"; NaN limits where (rows,) numbers of questions are of too few."""
    low, high = limits if kish(np.bincount(questions)) >= MIN_QUESTIONS else (math.nan, math.nan)
    return {"value": float(estimate), "low": float(low), "high": float(high)}


def _share(hits: np.ndarray, trials: np.ndarray, questions: np.ndarray) -> dict[str, float]:
    """Return the estimate of a share, the sum of (rows,) hits divided by that of (rows,) trials."""
    share, total = hits.sum() / trials.sum(), trials.sum()
    influence = np.bincount(questions, (hits - share * trials) / total)
    return _estimate(share, share_interval(share, influence, np.bincount(questions, trials)), questions)


def _difference(first: float, second: float, without: np.ndarray, questions: np.ndarray) -> dict[str, float]:
    """Return the estimate of a difference; `without` has its (questions,) values, each with one question left out."""
    limits = mean_interval(first - second, without, float(kish(np.bincount(questions))))
    return _estimate(first - second, limits, questions)


def _correlations(
    scores: Mapping[str, np.ndarray], human: np.ndarray, kinds: Sequence[str], questions: np.ndarray
) -> dict[str, dict]:
    """Return {metric: {kind: estimate}} of (rows,) scores."""
    estimates: dict[str, dict] = {name: {} for name in scores}
    for name, metric_scores in scores.items():
        for kind in kinds:
            limits = correlation.correlation_limits(kind, metric_scores, human, questions)
            estimates[name][kind] = _estimate(getattr(correlation, kind)(metric_scores, human), limits, questions)
    return estimates


def _as_classifier(scores: np.ndarray, correct: np.ndarray, questions: np.ndarray, seed: int) -> dict[str, object]:
    """Return AUC, best threshold and calibration of a score as a classifier of answers that humans accept."""
    threshold, best = thresholds.best_threshold(scores, correct)
    held_out = thresholds.held_out(scores, correct, questions, seed)
    area, *limits = correlation.auc_limits(scores, correct, questions)
    in_range = scores.min() >= -1e-6 and scores.max() <= 1 + 1e-6  # a cosine of 1 may come out a little above it
    return {
        "auc": _estimate(area, limits, questions),
        "best": {"threshold": threshold, "accuracy": best, "held_out": held_out},
        "calibration": thresholds.calibration(np.clip(scores, 0, 1), correct) if in_range else None,
    }


def _verdicts(scores: np.ndarray, correct: np.ndarray, threshold: float, questions: np.ndarray) -> dict[str, object]:
    """Return threshold, agreement, kappa, sensitivity, specificity and `CONFUSION` of a judge's verdicts."""
    right = ((scores >= threshold) == correct).astype(float)
    counts = confusion_counts(scores >= threshold, correct).sum(axis=0).astype(int).tolist()
    shares = agreement(counts) | {"agreement": _share(right, np.ones_like(right), questions)}
    return {"threshold": threshold, **shares, **dict(zip(CONFUSION, counts, strict=True))}


def differing(judgments: Judgments, name: str, count: int) -> list[int]:
    """Return at most `count` rows on which a judge and the humans disagree, the largest differences first."""
    human = (judgments.human - judgments.human.min()) / (np.ptp(judgments.human) or 1.0)
    scores = judgments.scores[name]
    wrong = np.flatnonzero((scores >= judgments.thresholds[name]) != judgments.correct)
    return wrong[np.argsort(-np.abs(scores - human)[wrong], kind="stable")][:count].tolist()


def _differences(judgments: Judgments, estimates: Mapping, permutations: int, seed: int) -> list[dict]:
    """Return the tests of every pair of metrics, for Pearson's and for Spearman's correlation."""
    from scipy.stats import rankdata

    questions = judgments.clusters
    names = [name for name in judgments.scores if math.isfinite(estimates[name]["pearson"]["value"])]
    pairs = list(combinations(names, 2))
    tests: list[dict] = [{"first": first, "second": second} for first, second in pairs]
    for kind, as_compared in {"pearson": np.asarray, "spearman": rankdata}.items() if pairs else ():
        human, scores = as_compared(judgments.human), {name: as_compared(judgments.scores[name]) for name in names}
        x, y = (np.stack([scores[pair[side]] for pair in pairs]) for side in (0, 1))
        p_values = correlation.permutation_p(x, y, human, questions, permutations, seed)
        holm = adjust_p_values(p_values)
        without = {name: correlation.pearson_without(scores[name], human, questions) for name in names}
        for test, pair, p, p_holm in zip(tests, pairs, p_values.tolist(), holm.tolist(), strict=True):
            coefficients = (estimates[name][kind]["value"] for name in pair)
            test[kind] = _difference(*coefficients, without[pair[0]] - without[pair[1]], questions)
            test[kind] |= {"permutation_p": p, "permutation_p_holm": p_holm}
    return tests


def _rank_pairs(judgments: Judgments, gap: float) -> dict:
    """Return the share of answer pairs that each metric ranks as humans do; None where there are no pairs."""
    better, worse = correlation.answer_pairs(judgments.questions, judgments.systems, judgments.human, gap)
    shares: dict[str, dict | None] = dict.fromkeys(judgments.scores)
    rows = len(judgments.human)
    pairs = np.bincount(better, minlength=rows)
    for name, scores in judgments.scores.items() if len(better) else ():
        right = (scores[better] > scores[worse]).astype(float)
        shares[name] = _share(np.bincount(better, right, rows), pairs, judgments.clusters)
    return {"gap": gap, "pairs": len(better), "metrics": shares}


def _systems(judgments: Judgments) -> dict | None:
    """Return the scores of systems, and how many pairs of them each metric ranks as humans do."""
    if judgments.systems is None or len(set(judgments.systems)) < 2:
        return None
    distinct, numbers = np.unique(judgments.systems, return_inverse=True)
    names, rows = distinct.tolist(), np.bincount(numbers)
    human = np.bincount(numbers, judgments.human) / rows
    scores = {metric: np.bincount(numbers, row_scores) / rows for metric, row_scores in judgments.scores.items()}
    for metric, by_system in judgments.system_scores.items():
        scores[metric] = np.array([by_system[name] for name in names])
    pairs = {}
    for metric, system_scores in scores.items():
        right, all_pairs = correlation.system_pairs(human, system_scores)
        pairs[metric] = {"right": right, "pairs": all_pairs}
    by_name = {metric: dict(zip(names, numbers.tolist(), strict=True)) for metric, numbers in scores.items()}
    columns = {"human": human, "rows": rows}
    columns = {name: dict(zip(names, numbers.tolist(), strict=True)) for name, numbers in columns.items()}
    return columns | {"metrics": by_name, "pairs": pairs}


def _groups(judgments: Judgments) -> tuple[dict, list[str]]:
    """Return the correlations within groups and how often a judge's verdicts are the humans', and notes about them."""
    groups: dict[str, dict] = {}
    notes = []
    for grouping, labels in judgments.groups.items():
        names = sorted(set(labels))
        if grouping == "length":
            names = [name for _, name in LENGTHS if name in names]
        if len(names) > MAX_GROUPS:
            notes.append(f"{grouping}: {len(names):,} groups are too many to report; at most {MAX_GROUPS} are")
        if not 1 < len(names) <= MAX_GROUPS:
            continue
        groups[grouping] = {}
        for name in names:
            rows = np.flatnonzero([label == name for label in labels])
            questions = np.unique(judgments.clusters[rows], return_inverse=True)[1]
            metrics = None
            if len(rows) >= MIN_ROWS:
                scores = {metric: row_scores[rows] for metric, row_scores in judgments.scores.items()}
                metrics = _correlations(scores, judgments.human[rows], ("pearson",), questions)
            verdicts = {}
            for judge, limit in judgments.thresholds.items():
                same = (judgments.scores[judge][rows] >= limit) == judgments.correct[rows]
                verdicts[judge] = _share(same.astype(float), np.ones(len(rows)), questions)
            groups[grouping][name] = {
                "rows": len(rows),
                "questions": int(questions.max()) + 1,
                "metrics": metrics,
                "agreement": verdicts,
            }
    return groups, notes


def _notes(judgments: Judgments) -> list[str]:
    """Return which numbers are missing or rough, and why, one sentence each."""
    human, notes, sizes = judgments.human, [], np.bincount(judgments.clusters)
    effective = kish(sizes)
    if effective < MIN_QUESTIONS:
        few = f"only {len(sizes)} questions" if len(sizes) > 1 else "only one question"
        if effective < len(sizes) - 1:
            few = f"some questions have many rows: all count as about {effective:.0f} equal questions"
        notes.append(f"{few}: too few for intervals, which need {MIN_QUESTIONS}")
    if len(sizes) < len(human):
        notes.append("answers to one question are alike: intervals and tests take whole questions")
    if not np.ptp(human):
        notes.append("all human scores are equal: no correlation is defined")
    for name, scores in {**judgments.scores, "human scores": human}.items():
        if not np.ptp(scores):
            notes += [f"{name}: all its scores are equal: no correlation is defined"] * (scores is not human)
        elif not correlation.is_varied(scores):
            side = "above" if (scores > scores.mean()).sum() * 2 < len(scores) else "below"
            few = f"only {correlation.fewer_side(scores)} are {side} the mean, too few for intervals of correlations"
            notes.append(f"{name}: {few}")
    right = int(judgments.correct.sum())
    rare = min(right, len(human) - right)
    if 0 < rare < MIN_EACH:
        kind = "correct" if right == rare else "incorrect"
        notes.append(f"only {rare} {kind} answers: AUC has no interval, which needs {MIN_EACH}")
    return notes


def analyse(judgments: Judgments, gap: float | None = None, number: int = 1000, seed: int = 0) -> dict[str, object]:
    """Return how well metrics agree with the humans, from at least 3 rows.

    `gap`: a pair of answers counts where human scores differ by more; None for half of their range (the paper: more
    than 2 on a scale from 1 to 5). `number`: a tenth of the number of permutations.

    "interval": the name of the method; "metrics": by metric "pearson", "spearman", "kendall" (value, low, high), with
    both correct and wrong answers "classifier" (auc, best threshold, calibration), and of a judge
    "verdicts" (see `_verdicts`); "differences": of every pair of metrics; "rank_pairs"; "systems"; "groups"; "notes".
    Numbers have six significant digits; what is not defined is None, and a note says why.
    """
    human, correct, questions, notes = judgments.human, judgments.correct, judgments.clusters, _notes(judgments)
    metrics = _correlations(judgments.scores, human, ("pearson", "spearman", "kendall"), questions)
    differences = _differences(judgments, metrics, PERMUTATIONS * number, seed)
    if correct.any() and not correct.all():
        for name, scores in judgments.scores.items():
            metrics[name]["classifier"] = classifier = _as_classifier(scores, correct, questions, seed)
            notes += [f"{name}: has scores outside 0 to 1: no calibration"] * (classifier["calibration"] is None)
    else:
        notes.append("humans accept all or none of the answers: no thresholds and no AUC")
    for name, limit in judgments.thresholds.items():
        metrics[name]["verdicts"] = _verdicts(judgments.scores[name], correct, limit, questions)
    groups, group_notes = _groups(judgments)
    report = {
        "interval": INTERVAL,
        "metrics": metrics,
        "differences": differences,
        "rank_pairs": _rank_pairs(judgments, float(np.ptp(human)) / 2 if gap is None else gap),
        "systems": _systems(judgments),
        "groups": groups,
        "notes": [*notes, *group_notes],
    }
    return rounded(report)


def best_first(metrics: Mapping[str, Mapping], kind: str = "pearson") -> list[str]:
    """Return the names of the metrics, the best correlation first, undefined ones last."""
    coefficients = {name: metric[kind]["value"] for name, metric in metrics.items()}
    return sorted(metrics, key=lambda name: (coefficients[name] is None, -(coefficients[name] or 0.0), name))


def against_best(
    metrics: Mapping, differences: Sequence[Mapping], kind: str = "pearson", best: str | None = None
) -> dict[str, dict]:
    """Return {metric: its test} against `best`, by default the one with the best correlation of a kind.

    P-values are corrected (Holm) for these tests alone. The kind is "pearson" or "spearman".
    """
    best = best or best_first(metrics, kind)[0]
    result = {}
    for entry in differences:
        if best in (entry["first"], entry["second"]):
            result[entry["second"] if entry["first"] == best else entry["first"]] = dict(entry[kind])
    p_values = np.array([test["permutation_p"] for test in result.values()])
    for test, p_holm in zip(result.values(), adjust_p_values(p_values).tolist(), strict=True):
        test["permutation_p_holm"] = p_holm
    return result
