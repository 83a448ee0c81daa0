"""Tests paired differences, with intervals that leave out 0 exactly where p is below the level.

The statistic is studentized (bootstrap-t; Efron & Tibshirani 1993, chapter 12): questions are drawn with replacement,
and each sample's difference is divided by its own standard error. Unlike sign flips and percentiles this holds where
differences are skewed: a sample that lost the few large ones has a small error and a large statistic. What is drawn
are influences of the questions (jackknife pseudo-values), so that scores need not be means of rows.

Where bounds of the score are known, limits are also those of Clopper and Pearson for the widest distribution within
them, or, where all questions have one difference, of a rare opposite one that was not seen.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .intervals import MIN_QUESTIONS

LEVEL = 0.05


def influences(value: np.ndarray, without: np.ndarray) -> np.ndarray:
    """Return (questions, ...) centred pseudo-values of a statistic; their standard error is that of the statistic.

    Args:
        value: (...) the statistic of all questions.
        without: (questions, ...) its value without each question.
    """
    return (len(without) - 1) * (without.mean(axis=0) - without)


@dataclass(frozen=True)
class PairedTests:
    """Two-sided tests of differences from 0.

    Attributes:
        differences: (tests,) what is tested.
        p_values: (tests,) 1 where nothing can be said, NaN where a difference is not defined.
        spread: (tests,) root of the mean square of the influences.
        largest: (tests, m) studentized statistics of the bootstrap, the largest ones, falling.
        samples: number of bootstrap samples.
        questions: effective number of questions.
        bound: (tests,) the largest difference that scores allow; infinity where that is not known.
    """

    differences: np.ndarray
    p_values: np.ndarray
    spread: np.ndarray
    largest: np.ndarray
    samples: int
    questions: float
    bound: np.ndarray

    def limits(self, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (tests,) lower and upper limits, without 0 exactly where the p-value is below the level.

        Args:
            levels: (tests,) for each test one minus the confidence of its interval, at most `LEVEL`.
        """
        from scipy.special import betaincinv

        place = np.ceil(levels * (1 + self.samples) - 1).astype(int) - 1  # the statistic that must be surpassed
        known = (place >= 0) & (levels > smallest_p(self.questions))
        statistic = self.largest[np.arange(len(levels)), np.clip(place, 0, self.largest.shape[1] - 1)]
        half = np.where(known, statistic * (1 + 1e-6), np.inf) * np.where(self.spread > 0, self.spread, 1)
        half = np.where(self.spread > 0, half, np.inf)
        low, high = self.differences - half, self.differences + half

        bound = np.where(np.isfinite(self.bound), self.bound, 1.0)
        share = np.clip((1 + self.differences / bound) / 2, 0, 1)
        number, right = self.questions, share * self.questions
        ends = [
            np.where(right > 1e-9, betaincinv(np.maximum(right, 1e-9), number - right + 1, levels / 2), 0),
            np.where(right < number, betaincinv(right + 1, np.maximum(number - right, 1e-9), 1 - levels / 2), 1),
        ]
        unseen = 1 - (levels / 2) ** (1 / number)
        equal = [(1 - unseen) * self.differences + sign * unseen * bound for sign in (-1, 1)]
        inner = [
            np.where(self.spread > 0, bound * (2 * end - 1), value) for end, value in zip(ends, equal, strict=True)
        ]
        bounded = np.isfinite(self.bound)
        low = np.where(bounded, np.maximum(np.maximum(low, inner[0]), -bound), low)
        high = np.where(bounded, np.minimum(np.minimum(high, inner[1]), bound), high)
        nothing = ~np.isfinite(low) | ~np.isfinite(high) | np.isnan(self.p_values)
        nothing |= self.questions < MIN_QUESTIONS - 1e-9
        return np.where(nothing, np.nan, low), np.where(nothing, np.nan, high)


def smallest_p(questions: float) -> float:
    """Return the least p-value that so many questions can have: that of a sign test in which all agree.

    >>> smallest_p(5)
    0.0625
    """
    return 2.0 ** (1 - questions)


def paired_tests(
    differences: np.ndarray, influence: np.ndarray, questions: float, bound: np.ndarray, draws: Iterable[np.ndarray]
) -> PairedTests:
    """Test differences.

    Args:
        differences: (tests,) differences of scores.
        influence: (questions, tests) see `influences`.
        questions: effective number of questions.
        bound: (tests,) largest differences that scores allow; infinity where that is not known.
        draws: chunks of (samples, questions) counts, see `resampling.bootstrap_counts`.

    A difference of 1 in each of 8 questions: p is that of a sign test, 2 / 2^8.

    >>> from genqa_metrics.statistics.resampling import bootstrap_counts
    >>> result = paired_tests(np.ones(1), np.zeros((8, 1)), 8, np.ones(1), bootstrap_counts(8, 100, 0))
    >>> result.p_values.tolist()
    [0.0078125]
    """
    from scipy.special import betainc

    number = len(influence)
    spread = np.sqrt((influence**2).mean(axis=0) / number * number / max(number - 1, 1))
    scale = np.maximum(np.abs(differences), np.where(np.isfinite(bound), bound, 0))
    spread = np.where(spread > 1e-9 * np.maximum(scale, 1e-300), spread, 0.0)
    squares, chunks = influence**2, []
    for counts in draws:
        mean = counts @ influence / number
        variance = (counts @ squares / number - mean**2) / max(number - 1, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            studentized = np.abs(mean) / np.sqrt(np.maximum(variance, 0))
        lost = variance <= 1e-18 * np.maximum(spread, 1e-300) ** 2
        moved = np.abs(mean) > 1e-9 * spread
        chunks.append(np.where(lost, np.where(moved, np.inf, 0.0), studentized).astype(np.float32))
    statistics = np.concatenate(chunks)
    samples = len(statistics)
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = (np.abs(differences) / spread).astype(np.float32)
    p_values = (1 + (statistics >= observed).sum(axis=0)) / (1 + samples)
    kept = min(samples, int(LEVEL * (1 + samples)) + 1)
    largest = -np.sort(-np.partition(statistics, samples - kept, axis=0)[samples - kept :], axis=0).T

    p_values = np.where(spread > 0, np.maximum(p_values, smallest_p(questions)), 1.0)
    bounded = np.where(np.isfinite(bound), bound, 1.0)
    relative = np.clip(np.abs(differences) / bounded, 0, 1)
    right = questions * (1 + relative) / 2
    widest = 2 * betainc(right, questions - right + 1, 0.5)
    unseen = 2 * (1 + relative) ** -questions
    p_values = np.where(np.isfinite(bound), np.minimum(p_values, np.where(spread > 0, widest, unseen)), p_values)
    p_values = np.where(np.isfinite(differences) & np.isfinite(influence).all(axis=0), np.minimum(p_values, 1), np.nan)
    return PairedTests(differences, p_values, spread, largest, samples, questions, bound)
