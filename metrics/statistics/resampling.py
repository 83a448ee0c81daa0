"""Resampling of systems on the same rows: intervals, corrections of p-values and ranks. Arrays in, numbers out.

A score of a corpus need not be the mean of the scores of its rows, so what is resampled is the statistics whose sums
make the score, as sacrebleu does it: AEv sums counts of n-grams, a mean sums scores and counts rows. Every resample
is the same rows for all systems, which makes the tests paired. Where several rows are alike, such as the answers to
one question, what is drawn and exchanged is such a cluster of rows.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np

CONFIDENCE = 0.95
INTERVAL = "95% expanded percentile bootstrap interval, {} resampled"  # which every report states
MIN_ROWS = 5  # of fewer a bootstrap has too few different samples (35 of 4 rows) for an interval or a test
CORRECTIONS = ("holm", "bonferroni", "fdr", "none")
_CELLS = 2**22  # resamples x rows that are in memory at once: 32 MiB
_BOOTSTRAP, _SWAPS = 0, 1  # streams of one seed


def _steps(rows: int, samples: int) -> Iterator[int]:
    step = max(1, _CELLS // max(rows, 1))
    return (min(step, samples - start) for start in range(0, samples, step))


def bootstrap_counts(rows: int | np.ndarray, samples: int, seed: int) -> Iterator[np.ndarray]:
    """Yield how often every row is in every bootstrap sample, a chunk of samples at a time.

    Args:
        rows: number of rows; or (rows,) number of every row's cluster: 0, 1, ... without gaps. A sample has as many
            rows, or clusters, as there are.
        samples: number of samples.
        seed: the same seed gives the same samples.

    Yields:
        (samples of the chunk, rows) counts.

    >>> next(bootstrap_counts(3, 1, 0)).sum()
    np.float64(3.0)
    """
    rng = np.random.default_rng([seed, _BOOTSTRAP])
    clusters = None if np.ndim(rows) == 0 else np.asarray(rows)
    size = int(rows) if clusters is None else int(clusters.max()) + 1
    for step in _steps(size if clusters is None else len(clusters), samples):
        counts = np.empty((step, size))
        for sample in counts:  # one sample at a time stays in the processor's cache
            sample[:] = np.bincount(rng.integers(size, size=size), minlength=size)
        yield counts if clusters is None else counts[:, clusters]


def bootstrap(
    statistics: Mapping[str, Callable[[np.ndarray], np.ndarray]], rows: int | np.ndarray, samples: int, seed: int
) -> dict[str, np.ndarray]:
    """Return the values of statistics in the same bootstrap samples.

    Args:
        statistics: name -> function from (samples, rows) counts to (samples, ...) values.
        rows: see `bootstrap_counts`.
        samples: number of samples.
        seed: the same seed gives the same samples.

    Returns:
        name -> (samples, ...) values.
    """
    chunks = [
        {name: values(counts) for name, values in statistics.items()}
        for counts in bootstrap_counts(rows, samples, seed)
    ]
    return {name: np.concatenate([chunk[name] for chunk in chunks]) for name in statistics}


def swaps(rows: int, samples: int, seed: int) -> Iterator[np.ndarray]:
    """Yield which rows two systems exchange, each with probability 1/2, a chunk of permutations at a time.

    Args:
        rows: number of rows.
        samples: number of permutations.
        seed: the same seed gives the same permutations.

    Yields:
        (permutations of the chunk, rows) ones and zeros.
    """
    rng = np.random.default_rng([seed, _SWAPS])
    for step in _steps(rows, samples):
        bits = rng.integers(256, size=(step, -(-rows // 8)), dtype=np.uint8)
        yield np.unpackbits(bits, axis=1, count=rows).astype(float)


def resampled_sums(weights: Iterable[np.ndarray], statistics: np.ndarray) -> np.ndarray:
    """Return the weighted sums of the rows' statistics.

    Args:
        weights: chunks of (samples, rows) weights.
        statistics: (rows, systems, k) statistics of every row.

    Returns:
        (samples, systems, k) sums over the rows.
    """
    flat = np.ascontiguousarray(statistics, dtype=float).reshape(len(statistics), -1)
    return np.concatenate([chunk @ flat for chunk in weights]).reshape(-1, *statistics.shape[1:])


def interval(scores: np.ndarray, rows: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the expanded percentile interval of bootstrap scores.

    Percentiles of the bootstrap are too narrow for few rows, as if a mean had z in place of t and n in place of n - 1;
    expanded ones make up for it (Hesterberg 2015, "What teachers should know about the bootstrap", section 5.2).

    Args:
        scores: (samples, ...) scores of the bootstrap samples; NaN where they are not defined.
        rows: number of rows, or of clusters, that were drawn, at least 1; see `intervals.kish`.

    Returns:
        Lower and upper ends, (...) each; NaN where half of the scores or more are not defined, and for fewer rows than
        `MIN_ROWS`.
    """
    from scipy import stats

    if rows < MIN_ROWS:
        nothing = np.full(np.shape(scores)[1:], np.nan)
        return nothing[()], nothing[()]
    tail = stats.norm.sf(np.sqrt(rows / (rows - 1)) * stats.t.isf((1 - CONFIDENCE) / 2, rows - 1))
    missing = np.isnan(scores)
    if not missing.any():
        low, high = np.percentile(scores, [100 * tail, 100 * (1 - tail)], axis=0)
        return low, high
    enough = missing.mean(axis=0) < 0.5
    low, high = np.nanpercentile(np.where(enough, scores, 0.0), [100 * tail, 100 * (1 - tail)], axis=0)
    return np.where(enough, low, np.nan)[()], np.where(enough, high, np.nan)[()]


def adjust_p_values(p_values: np.ndarray, method: str = "holm") -> np.ndarray:
    """Return p-values corrected for the number of tests.

    Args:
        p_values: (tests,) p-values; NaN means no test and stays NaN.
        method: one of `CORRECTIONS`: "holm" and "bonferroni" keep the chance of one false finding or more at the
            level, "fdr" (Benjamini & Hochberg) the expected share of false ones among the findings.

    >>> adjust_p_values(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    from scipy import stats

    array = np.array(p_values, dtype=float)
    tests = np.flatnonzero(np.isfinite(array))
    if method == "fdr" and len(tests):
        array[tests] = stats.false_discovery_control(array[tests])
    elif method == "bonferroni":
        array[tests] = np.minimum(array[tests] * len(tests), 1)
    elif method == "holm":  # the i-th smallest times the number of those that are not smaller, never below one before
        tests = tests[np.argsort(array[tests], kind="stable")]
        steps = array[tests] * np.arange(len(tests), 0, -1)
        array[tests] = np.minimum(np.maximum.accumulate(steps), 1)
    return array


def ranking(scores: np.ndarray, better: np.ndarray) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the clusters of systems and the range of ranks of each, by the rules of the WMT shared tasks.

    A line is drawn between two systems of the ranked list if every system above it is significantly better than every
    system below it; systems without a line between them are one cluster. The ranks of a system run from 1 + the
    number of systems that are significantly better to the number of systems - those than which it is significantly
    better (Bojar et al. 2014, "Findings of the 2014 Workshop on Statistical Machine Translation", section 3).

    Args:
        scores: (systems,) scores.
        better: (systems, systems) booleans, the system of the row is significantly better than that of the column.

    Returns:
        Number of every system's cluster, from 1, and its best and its worst rank.

    >>> ranking(np.array([0.5, 0.9, 0.6]), np.array([[0, 0, 0], [1, 0, 1], [0, 0, 0]], dtype=bool))
    ([2, 1, 2], [(2, 3), (1, 1), (2, 3)])
    """
    order = np.argsort(-scores, kind="stable")
    ranked = better[np.ix_(order, order)]
    clusters, cluster = [0] * len(order), 1
    for place, system in enumerate(order):
        cluster += bool(place) and bool(ranked[:place, place:].all())
        clusters[system] = cluster
    ranks = zip((1 + better.sum(axis=0)).tolist(), (len(scores) - better.sum(axis=1)).tolist(), strict=True)
    return clusters, list(ranks)
