"""Estimates accuracy from labels of people for some answers and a judge of every answer. Arrays in, numbers out.

Every verb calls `estimate_accuracy`, and `accuracy_tests` for differences. With labels of at least five questions:

- labels alone: Wilson's interval with the effective number of labels, see `intervals`;
- labels and judge, where that is narrower: prediction-powered inference (Angelopoulos, Duchi & Zrnic, "PPI++:
  Efficient Prediction-Powered Inference", 2023), which surveys call the difference estimator: the mean label plus
  `trust` times the judge's mean on all rows minus its mean on the labelled ones. `trust` minimizes the variance.

With fewer labels the judge's rate is corrected for its errors on other data (Rogan & Gladen 1978; Lang & Reiczigel
2014), on the assumption that it errs as often here. `tests/programs/label_simulations.py` measures the coverage of
all these intervals. The package ppi_python has no weights and no clusters.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from .intervals import CONFIDENCE, MIN_QUESTIONS, effective_size, kish, rogan_gladen, wilson
from .resampling import LEVEL, PairedTests, bootstrap_counts, corrected, paired_tests

# Questions that are added to the variance for each of the four pairs of a label and a verdict: few labels show few
# errors of the judge (Agresti & Min 2005 add 0.5 for matched pairs).
PRIOR = 0.35
MIN_LABELS = 2
SAMPLES, FEWER = 10_000, 1_000  # bootstrap samples, as in `compare`; fewer from `MANY` questions on
MANY = 2_000
MOST_LABELS = 1e7  # the largest number of labels that a plan considers
TINY = 1e-300  # the smallest p-value
NORMAL = 1e9  # degrees of freedom with which Student's t is normal
WIDEST = 0.6  # width above which an interval of the judge alone is not reported


@dataclass(frozen=True)
class QuestionSums:
    """Sums over the rows of every question, from which accuracy is estimated. Arrays of (..., questions)."""

    rows: np.ndarray  # number of answers
    judged: np.ndarray  # sum of the judge's probabilities or verdicts, 0 to 1
    accepted: np.ndarray  # number of answers that the judge accepts
    labelled: np.ndarray  # number of answers with a label
    weight: np.ndarray  # over answers with a label: sum of 1 / probability of being drawn
    label: np.ndarray  # over answers with a label: sum of label (0 to 1) / probability
    judged_labelled: np.ndarray  # over answers with a label: sum of the judge's number / probability
    right: np.ndarray  # number of answers whose label is 0.5 or more
    declined: np.ndarray  # number of answers that decline, and that neither the judge nor a label calls right

    @property
    def declined_share(self) -> np.ndarray:
        """(...) share of the answers that decline."""
        return self.declined.sum(axis=-1) / self.rows.sum(axis=-1)

    def each(self, function: Callable[[np.ndarray], np.ndarray]) -> "QuestionSums":
        """Return sums with a function applied to every array."""
        return QuestionSums(**{name: function(sums) for name, sums in vars(self).items()})


def row_sums(judged, verdicts, labels, probabilities, gives_none=0.0) -> QuestionSums:
    """Return the sums of rows, with every row as a question of its own.

    Args:
        judged: (..., rows) the judge's probabilities or verdicts, 0 to 1.
        verdicts: (..., rows) 1 where the judge accepts, else 0.
        labels: (..., rows) 0 to 1, the mean where several people labelled a row, NaN where nobody did.
        probabilities: (..., rows) of being drawn to be labelled; read where there are labels.
        gives_none: (..., rows) 1 for an answer that declines and that the judge does not accept, else 0.
    """
    judged, labels = np.asarray(judged, dtype=float), np.asarray(labels, dtype=float)
    judged, labels = np.broadcast_arrays(judged, labels)
    is_labelled = ~np.isnan(labels)
    weight = is_labelled / np.where(is_labelled, probabilities, 1.0)
    human = np.where(is_labelled, labels, 0.0)
    sums = QuestionSums(
        rows=np.ones_like(judged),
        judged=judged,
        accepted=verdicts,
        labelled=is_labelled,
        weight=weight,
        label=weight * human,
        judged_labelled=weight * judged,
        right=human >= 0.5,
        declined=np.where(human > 0, 0.0, gives_none),
    )
    return sums.each(lambda terms: np.broadcast_to(terms, judged.shape).astype(float))


def question_sums(
    judged, verdicts, labels, probabilities, questions: np.ndarray | None = None, gives_none=0.0
) -> QuestionSums:
    """Return the sums of `row_sums` over the rows of each question; without `questions` each row is its own."""
    sums = row_sums(judged, verdicts, labels, probabilities, gives_none)
    return sums.each(partial(cluster_sums, clusters=questions))


def cluster_sums(terms: np.ndarray, clusters: np.ndarray | None) -> np.ndarray:
    """Return the (..., clusters) sums of (..., rows) terms over the rows of each cluster; `terms` without clusters.

    >>> cluster_sums(np.array([1, 2, 3]), np.array([1, 0, 1]))
    array([2, 4])
    """
    if clusters is None:
        return terms
    order = np.argsort(clusters, kind="stable")
    _, starts = np.unique(clusters[order], return_index=True)
    return np.add.reduceat(terms[..., order], starts, axis=-1)


@dataclass(frozen=True)
class Powered:
    """Accuracy from labels and judge; arrays of (...) for a batch. Limits are NaN for too few questions."""

    value: np.ndarray  # the accuracy, 0 to 1, at most the share that does not decline
    low: np.ndarray
    high: np.ndarray
    size: np.ndarray  # effective number of labels: a random sample of this size has the same interval without a judge
    trust: np.ndarray  # weight of the judge's numbers: 0 ignores the judge, 1 takes its numbers as they are
    labels_value: np.ndarray  # the accuracy by labels alone, with its limits
    labels_low: np.ndarray
    labels_high: np.ndarray
    labels_size: np.ndarray  # effective number of labels without the judge
    labels_influence: np.ndarray  # (..., questions) influence of each question on the accuracy by labels alone
    questions: np.ndarray  # effective number of questions with labels
    complete: np.ndarray  # whether every row has a label
    influence: np.ndarray  # (..., questions) influence of each on the accuracy, scaled to the standard error


def powered(sums: QuestionSums, confidence: float = CONFIDENCE) -> Powered:
    """Return the accuracy from the judge's numbers of all rows and labels of at least two of them.

    Args:
        sums: of every question.
        confidence: of the interval.

    Raises:
        ValueError: for fewer than `MIN_LABELS` labels.

    >>> judged, labels = np.tile([1.0, 1, 0, 0], 250), np.full(1000, np.nan)
    >>> labels[:80] = np.tile([1, 1, 0, 1], 20)
    >>> result = powered(question_sums(judged, judged, labels, np.full(1000, 0.08)))
    >>> [round(float(end), 2) for end in (result.value, result.low, result.high)]
    [0.75, 0.66, 0.82]
    """
    rows, number = sums.rows.sum(axis=-1), sums.labelled.sum(axis=-1)
    if number.min() < MIN_LABELS:
        raise ValueError(f"labels: expected at least {MIN_LABELS} labelled rows, got {int(number.min())}; label more")
    scale = number / sums.weight.sum(axis=-1)  # the weights sum to the number of labels
    weight, human, judged = (w * scale[..., None] for w in (sums.weight, sums.label, sums.judged_labelled))
    labels_mean, labelled_mean = np.clip(human.sum(axis=-1) / number, 0, 1), judged.sum(axis=-1) / number
    judged_mean = sums.judged.sum(axis=-1) / rows
    by_labels = (human - labels_mean[..., None] * weight) / number[..., None]
    by_judge = (sums.judged - judged_mean[..., None] * sums.rows) / rows[..., None]
    by_judge = by_judge - (judged - labelled_mean[..., None] * weight) / number[..., None]

    questions = kish(weight)
    prior = PRIOR / questions**2
    alone = (by_labels**2).sum(axis=-1) + prior
    slope = -(by_labels * by_judge).sum(axis=-1) / np.maximum((by_judge**2).sum(axis=-1) + prior, 1e-300)
    trust = np.clip(slope, 0, 1)
    seen = ((by_labels + trust[..., None] * by_judge) ** 2).sum(axis=-1)
    together = seen + prior * (1 + trust**2)
    gain = alone / np.maximum(together, 1e-300) * (questions - 2) / np.maximum(questions - 1, 1e-9)
    labels_size = effective_size(labels_mean, by_labels, weight, confidence)
    size = labels_size * gain

    z = NormalDist().inv_cdf((1 + confidence) / 2)
    accuracy = np.clip(labels_mean + trust * (judged_mean - labelled_mean), 0, 1)
    labels_limits, limits = wilson(labels_mean, labels_size, z), wilson(accuracy, np.maximum(size, 1e-9), z)
    helps = (gain > 1) & (limits[1] - limits[0] <= labels_limits[1] - labels_limits[0])
    trust = np.where(helps, trust, 0.0)
    enough, most = questions >= MIN_QUESTIONS - 1e-9, 1 - sums.declined_share
    low, high, labels_low, labels_high = (np.where(enough, end, np.nan) for end in (*limits, *labels_limits))
    labels_alone = np.minimum(labels_mean, most), np.minimum(labels_low, most), labels_high, labels_size
    with_judge = np.minimum(accuracy, most), np.minimum(low, most), high, size
    ends = (np.where(helps, *pair) for pair in zip(with_judge, labels_alone, strict=True))
    fitted = helps & (seen > 1e-18)
    excess = together / np.where(fitted, seen, 1.0) * (questions - 1) / np.maximum(questions - 2, 1)
    influence = (by_labels + trust[..., None] * by_judge) * np.sqrt(np.where(fitted, excess, 1.0))[..., None]
    return Powered(*ends, trust, *labels_alone, by_labels, questions, number == rows, influence)


def prediction_powered(judged, labels, probabilities, questions=None, confidence: float = CONFIDENCE) -> Powered:
    """Return `powered` of rows; see `question_sums`, with the judge's numbers for its verdicts."""
    return powered(question_sums(judged, judged, labels, probabilities, questions), confidence)


class Reason(NamedTuple):
    """Why a system has no estimate, such as how its rows differ from those that the judge was measured on.

    >>> str(Reason("the judge is unsure about {}", (12, 24))), str(Reason("not measured"))
    ('the judge is unsure about 12 of 24 answers', 'not measured')
    """

    text: str  # with {} for `number`
    counts: tuple[int, int] | None = None  # answers that it is true of, and all
    needs_questions: bool = False  # only more questions help, not labels of these rows
    unit: str = "answers"

    def number(self, systems: str = "") -> str:
        """Return how many of the answers of `systems` it is true of, as a share of 100 or more.

        >>> Reason("", (12, 24)).number("a"), Reason("", (60, 120)).number(), Reason("", (120, 120)).number()
        ('12 of 24 answers of a', '50% of the answers', 'all 120 answers')
        """
        number, size = self.counts or (0, 0)
        share = f"{number} of {size}" if size < 100 else f"{number / size:.0%} of the"
        share = f"all {size:,}" if number == size else share
        return f"{share} {self.unit}{f' of {systems}' * bool(systems)}"

    def __str__(self) -> str:
        return self.text.format(self.number()) if self.counts else self.text


LABELS, TOGETHER, MEASURED, NOTHING = BASES = ("labels", "labels and judge", "judge's measured errors", "cannot tell")


@dataclass(frozen=True)
class AccuracyEstimate:
    """The accuracy of a system."""

    value: float | None  # None where there is no estimate; at most the share that does not decline
    low: float | None  # None where there is no estimate
    high: float | None
    basis: str  # one of `BASES`
    reasons: Sequence[Reason] = ()  # why there is no interval; none with one
    labels_alone: tuple[float, float] | None = None  # limits without the judge; None for too few questions
    powered: Powered | None = None  # the estimate by labels, for differences; None with fewer than `MIN_LABELS`

    @property
    def reason(self) -> str:
        """The reasons as one text."""
        return "; ".join(map(str, self.reasons))

    @property
    def by_labels(self) -> bool:
        """Whether people's labels decide."""
        return self.basis in (LABELS, TOGETHER)


def numbered_alike(estimates: Sequence[AccuracyEstimate], keys: Sequence[np.ndarray]) -> list[AccuracyEstimate]:
    """Return estimates whose influences are aligned: one position per question of any estimate, 0 where it is absent.

    `keys` are, for each estimate, the sorted keys of its questions.
    """
    every = np.unique(np.concatenate(keys))
    result = []
    for estimate, keys_of_estimate in zip(estimates, keys, strict=True):
        if estimate.powered is not None:
            influences = np.zeros((2, len(every)))
            both = estimate.powered.influence, estimate.powered.labels_influence
            influences[:, np.searchsorted(every, keys_of_estimate)] = both
            aligned = replace(estimate.powered, influence=influences[0], labels_influence=influences[1])
            estimate = replace(estimate, powered=aligned)
        result.append(estimate)
    return result


def estimate_accuracy(
    sums: QuestionSums,
    errors: Sequence[float] | None,
    no_errors: Sequence[Reason] = (),
    *,
    confidence: float = CONFIDENCE,
    label_error: float = 0.0,
) -> AccuracyEstimate:
    """Return the accuracy of a system with its interval and basis, or the reason why there is none.

    Labels of at least `MIN_QUESTIONS` questions decide. With fewer, the judge's rate is corrected for `errors`.

    Args:
        sums: of every question of the system.
        errors: accepted of correct and rejected of incorrect answers on other data, see `rogan_gladen`; None where
            they are not known.
        no_errors: why they are not known, or why they may not hold here.
        confidence: of the interval.
        label_error: share of wrong labels, by which intervals of labels are wider on both sides.

    >>> verdicts, labels = np.repeat([1.0, 0], [62, 38]), np.full(100, np.nan)
    >>> alone = question_sums(verdicts, verdicts, labels, 0.1)
    >>> result = estimate_accuracy(alone, (90, 100, 80, 100))
    >>> [round(end, 3) for end in (result.value, result.low, result.high)], result.basis
    ([0.6, 0.443, 0.749], "judge's measured errors")
    >>> unknown = estimate_accuracy(alone, None, [Reason("the judge's errors were not measured")])
    >>> unknown.basis, unknown.reason
    ('cannot tell', "the judge's errors were not measured")
    >>> labels[::10] = 1
    >>> estimate_accuracy(question_sums(verdicts, verdicts, labels, 0.1), (90, 100, 80, 100)).basis
    'labels'
    """
    labelled, rows = sums.labelled.sum(), sums.rows.sum()
    by_labels = powered(sums, confidence) if labelled >= MIN_LABELS else None
    if by_labels is not None and not np.isnan(by_labels.labels_low):
        return AccuracyEstimate(
            float(by_labels.value),
            *wider(by_labels.low, by_labels.high, label_error),
            TOGETHER if by_labels.trust > 0 else LABELS,
            labels_alone=wider(by_labels.labels_low, by_labels.labels_high, label_error),
            powered=by_labels,
        )
    reasons: Sequence[Reason] = ()
    if labelled < rows:
        judged, reasons = _judge_alone(sums, errors, no_errors, confidence)
        if judged:
            return judged
    if by_labels is not None:
        asked = float(kish(sums.rows))
        needs_questions = asked < MIN_QUESTIONS - 1e-9
        few = f"too few {'questions' if needs_questions else 'labels'}: the labels are of "
        few += _labelled_questions(sums, float(by_labels.questions))
        reasons = [Reason(few, needs_questions=needs_questions)]
    return AccuracyEstimate(None, None, None, NOTHING, reasons, powered=by_labels)


def _judge_alone(
    sums: QuestionSums, errors, no_errors: Sequence[Reason], confidence: float
) -> tuple[AccuracyEstimate | None, Sequence[Reason]]:
    """Return (estimate by verdicts alone, ()), or (None, the reasons why there is none)."""
    rows, questions = sums.rows.sum(), float(kish(sums.rows))
    rate = float(sums.accepted.sum() / rows)
    if questions < MIN_QUESTIONS - 1e-9:
        return None, [Reason(f"too few questions: {_questions(questions)} with labels", needs_questions=True)]
    if errors is None:
        return None, no_errors
    size = effective_size(rate, (sums.accepted - rate * sums.rows) / rows, sums.rows, confidence)
    accuracy, low, high = map(float, rogan_gladen(rate * size, size, *errors, confidence))
    if np.isnan(accuracy):
        return None, [Reason("the judge hardly tells right from wrong where its errors were measured")]
    accuracy = min(accuracy, 1 - float(sums.declined_share))
    low, high = min(low, accuracy), max(high, accuracy)  # the published limits are of a shifted center
    if high - low > WIDEST:
        return None, no_errors or [Reason(f"the judge's errors leave {low:.2f} to {high:.2f} open")]
    return AccuracyEstimate(accuracy, low, high, MEASURED), ()


def _labelled_questions(sums: QuestionSums, effective: float) -> str:
    """Return how many questions have labels, and their `effective` number where that is smaller."""
    number = int(np.count_nonzero(sums.labelled))
    if effective > number - 0.05:
        return _questions(number)
    shown = f"{np.floor(10 * effective) / 10:.1f}"
    return f"{number} questions that count as {shown} (unequal weights), an interval needs {MIN_QUESTIONS}"


def _questions(number: float) -> str:
    return f"{number:.0f} question{'' if number < 1.5 else 's'}, an interval needs {MIN_QUESTIONS}"


@dataclass(frozen=True)
class LabelTests:
    """Two-sided tests of differences by labels, with intervals that exclude 0 exactly where p is below the level.

    Attributes:
        differences: (tests,) differences of accuracy.
        p_values: (tests,) 1 where labels are of too few questions, NaN where a system has no estimate.
        centers: (tests,) the differences after one right and one wrong answer were added to each system.
        errors: (tests,) standard errors of `centers`.
        freedom: (tests,) degrees of freedom of Student's t.
        complete: (tests,) whether every row of both systems has a label.
        paired: `paired_tests` of all pairs, used where `complete`; None where no pair is.
        slack: added to the limits on both sides, for labels that may be wrong.
    """

    differences: np.ndarray
    p_values: np.ndarray
    centers: np.ndarray
    errors: np.ndarray
    freedom: np.ndarray
    complete: np.ndarray
    paired: PairedTests | None
    slack: float = 0.0

    @property
    def differing(self) -> np.ndarray:
        """(tests,) effective number of questions on which systems differ; NaN where not all rows have a label."""
        return np.where(self.complete, np.nan if self.paired is None else self.paired.differing, np.nan)

    def limits(self, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (tests,) lower and upper limits within -1 and 1; see `PairedTests.limits`."""
        from scipy.special import stdtrit

        half = stdtrit(self.freedom, 1 - levels / 2) * self.errors + self.slack
        low = np.maximum(np.minimum(self.centers - half, self.differences), -1)
        high = np.minimum(np.maximum(self.centers + half, self.differences), 1)
        if self.paired is not None:
            complete_limits = self.paired.limits(levels)
            low, high = (np.where(self.complete, *ends) for ends in zip(complete_limits, (low, high), strict=True))
        return low, high


def label_tests(systems: Sequence[Powered | None], draws=None, level: float = LEVEL, slack: float = 0.0) -> LabelTests:
    """Test the differences of all pairs of systems with labels, in the order of `itertools.combinations`.

    One right and one wrong answer are added to each system (Agresti & Caffo 2000, "Simple and effective confidence
    intervals for proportions and differences of proportions result from adding two successes and two failures"); the
    statistic has Welch's t distribution. A bootstrap of few labels is less powerful: it does not reject where Fisher's
    exact test of the labels does. Pairs of systems with a label in every row have `resampling.paired_tests`.

    Args:
        systems: at least two, with influences of the same questions; None for one without enough labels.
        draws: see `resampling.paired_tests`; None: of seed 0, fewer where there are many questions.
        level: one minus the confidence of the intervals.
        slack: see `LabelTests`; with a slack no pair has `resampling.paired_tests`.
    """
    from scipy.special import stdtr, stdtrit

    first, second = np.array(list(combinations(range(len(systems)), 2))).T
    example = next((system for system in systems if system is not None), None)
    if example is None:
        nothing = np.full(len(first), np.nan)
        return LabelTests(*[nothing] * 5, np.zeros(len(first), dtype=bool), None, slack)
    unknown = Powered(**{name: np.full(np.shape(numbers), np.nan) for name, numbers in vars(example).items()})
    filled = [unknown if system is None else system for system in systems]
    names = ("value", "size", "influence", "labels_value", "labels_size", "labels_influence", "questions", "complete")
    columns = (np.array([getattr(system, name) for system in filled], dtype=float) for name in names)
    value, size, influence, *alone, questions, complete = columns
    differences = value[first] - value[second]
    with_judge, labels_alone = _enlarged(value, size, influence, questions), _enlarged(*alone, questions)
    # The judge's weight is the best for each system, not for the difference of two that fail on the same questions.
    widths = [error * stdtrit(freedom, 1 - LEVEL / 2) for _, error, freedom in (labels_alone, with_judge)]
    ends = zip(labels_alone, with_judge, strict=True)
    centers, errors, freedom = (np.where(widths[0] < widths[1], *pair) for pair in ends)
    least = np.minimum(questions[first], questions[second])
    enough = least >= MIN_QUESTIONS - 1e-9
    # Equal systems stay equal with the answers that are added.
    ahead = np.maximum(np.sign(differences) * centers - slack, 0)
    p_values = np.where(enough | np.isnan(differences), np.maximum(2 * stdtr(freedom, -ahead / errors), TINY), 1.0)
    whole, paired = (complete[first] == 1) & (complete[second] == 1) & (slack == 0), None
    if whole.any():
        number = influence.shape[-1]
        if draws is None:
            draws = bootstrap_counts(number, SAMPLES if number < MANY else FEWER, 0)
        moves = number * (influence[first] - influence[second]).T
        paired = paired_tests(differences, moves, least, np.ones(len(first)), draws, level)
        p_values = np.where(whole, paired.p_values, p_values)
    errors = np.where(enough, errors, np.nan)
    return LabelTests(differences, p_values, centers, errors, freedom, whole, paired, slack)


def _enlarged(accuracies, sizes, influence, questions) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (pairs,) differences after one right and one wrong answer were added to each system, with their errors.

    The third array has their degrees of freedom. Accuracies, effective numbers of labels and of questions with labels
    are (systems,), influences (systems, questions). The correlation of two systems is that of their influences, with
    one question added for each of the four pairs of right and wrong answers. With half a question, as Agresti & Min
    (2005) add, only 88% of the intervals of 20 labels hold where one system is right wherever the other one is.
    """
    first, second = np.array(list(combinations(range(len(accuracies)), 2))).T
    shares = (accuracies * sizes + 1) / (sizes + 2)
    variance = shares * (1 - shares) / (sizes + 2)
    spread = np.sqrt((influence**2).sum(axis=-1) + 4 * 0.5**2 / questions**2)  # each is .5 from the mean
    correlation = (influence[first] * influence[second]).sum(axis=-1) / (spread[first] * spread[second])
    v1, v2 = variance[first], variance[second]
    less = np.maximum(questions - 1, 1)
    freedom = (v1 + v2) ** 2 / (v1**2 / less[first] + v2**2 / less[second])
    errors = np.sqrt(v1 + v2 - 2 * np.clip(correlation, -1, 1) * np.sqrt(v1 * v2))
    return shares[first] - shares[second], errors, freedom


def accuracy_tests(
    estimates: Sequence[AccuracyEstimate],
    draws=None,
    level: float = LEVEL,
    label_error: float = 0.0,
) -> LabelTests:
    """Test the differences of all pairs of systems, in the order of `itertools.combinations`; NaN without an estimate.

    Two estimates by labels have `label_tests`. Where one rests on measured errors of the judge, the test is a z-test:
    the standard error is that of two independent normal estimates with these intervals.

    Args:
        estimates: at least two, with intervals at one minus `level`; see `numbered_alike`.
        draws: see `label_tests`.
        level: one minus the confidence of the intervals.
        label_error: share of wrong labels in each of the two systems.

    .8 and .6 with +-.1 each: the standard errors are .1 / 1.96, of the difference .072, and .2 / .072 = 2.77.

    >>> systems = [AccuracyEstimate(value, value - 0.1, value + 0.1, MEASURED) for value in (0.8, 0.6)]
    >>> tests = accuracy_tests(systems)
    >>> tests.p_values.round(4).tolist(), [end.round(2).tolist() for end in tests.limits(np.array([0.05]))]
    ([0.0056], [[0.06], [0.34]])
    """
    from scipy.special import ndtr

    by_labels = [estimate.powered if estimate.by_labels else None for estimate in estimates]
    tests = label_tests(by_labels, draws, level, 2 * label_error)
    first, second = np.array(list(combinations(range(len(estimates)), 2))).T
    z = NormalDist().inv_cdf(1 - level / 2)
    ends = [(np.nan,) * 3 if of.low is None else (of.value, of.low, of.high) for of in estimates]
    accuracies, low, high = np.array(ends, dtype=float).T
    errors = np.maximum(accuracies - low, high - accuracies) / z
    together = np.hypot(errors[first], errors[second])
    differences = accuracies[first] - accuracies[second]
    p_values = np.maximum(2 * ndtr(-np.abs(differences) / np.maximum(together, 1e-12)), TINY)
    others = np.isnan(tests.differences)
    normal = differences, p_values, differences, together, np.full(len(first), NORMAL)
    by_label = tests.differences, tests.p_values, tests.centers, tests.errors, tests.freedom
    chosen = (np.where(others, *pair) for pair in zip(normal, by_label, strict=True))
    return LabelTests(*chosen, tests.complete & ~others, tests.paired, tests.slack)


def accuracy_differences(
    estimates: Sequence[AccuracyEstimate],
    confidence: float = CONFIDENCE,
    label_error: float = 0.0,
) -> list[dict[str, float | None]]:
    """Return "value", "low" and "high" of the differences of all pairs, as `compare` has them; see `accuracy_tests`.

    Limits are None for too few questions, all three where a system has no estimate. `confidence` is that before Holm's
    correction for the number of pairs.
    """
    tests = accuracy_tests(estimates, None, 1 - confidence, label_error)
    [(_, *limits)] = corrected([tests], 1 - confidence)
    columns = (np.where(np.isnan(ends), None, ends) for ends in (tests.differences, *limits))
    return [{"value": value, "low": low, "high": high} for value, low, high in zip(*columns, strict=True)]


def wider(low, high, error: float) -> tuple[float, float]:
    """Return limits that are wider by a share of wrong labels on both sides, within 0 and 1.

    >>> [round(end, 2) for end in wider(0.7, 0.95, 0.1)]
    [0.6, 1.0]
    """
    return float(np.maximum(0.0, low - error)), float(np.minimum(1.0, high + error))


class LabelPlan:
    """Predicts the width of a system's interval with more labels, from its `powered` estimate.

    The plan assumes that the accuracy is the middle of the interval, and that right answers are as correlated within a
    question as the judge's verdicts.
    """

    def __init__(self, estimate: Powered, sums: QuestionSums, confidence: float = CONFIDENCE):
        self.labels, self.rows = int(sums.labelled.sum()), int(sums.rows.sum())
        self.middle, self.questions = float(estimate.low + estimate.high) / 2, float(kish(sums.rows))
        self.z = NormalDist().inv_cdf((1 + confidence) / 2)
        self.size = float(estimate.size)  # effective number of labels, and what it is if every row has a label
        rate = sums.accepted.sum() / self.rows
        size_of_all = effective_size(rate, (sums.accepted - rate * sums.rows) / self.rows, sums.rows, confidence)
        self.largest = self.size if self.labels == self.rows else float(size_of_all)

    def half_width(self) -> float:
        """Return half the width of the interval if every row had a label."""
        low, high = wilson(self.middle, self.largest, self.z)
        return float(high - low) / 2

    def labels_needed(self, half_width: float) -> int | None:
        """Return how many more labels make the interval about +- `half_width`; None if labels of all rows do not."""
        wanted = self._size_for(half_width)
        if wanted > max(self.largest, self.size):
            return None
        if wanted <= self.size:
            return 0
        variance_of_label = (1 / self.size - 1 / self.largest) / (1 / self.labels - 1 / self.rows)
        needed = 1 / ((1 / wanted - 1 / self.largest) / variance_of_label + 1 / self.rows)
        return min(int(np.ceil(needed)), self.rows) - self.labels

    def questions_needed(self, half_width: float) -> int | None:
        """Return the number of questions whose rows, all labelled, give about +- `half_width`; None without one."""
        needed = self.questions * self._size_for(half_width) / self.largest
        return int(np.ceil(needed)) if np.isfinite(needed) else None

    def _size_for(self, half_width: float) -> float:
        """Return the effective number of labels that gives this half width, infinite if none does."""
        sizes = np.geomspace(1, MOST_LABELS, 5000)
        low, high = wilson(self.middle, sizes, self.z)
        narrow = (high - low) / 2 <= half_width
        return float(sizes[narrow.argmax()]) if narrow.any() else np.inf
