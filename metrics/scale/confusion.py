"""A judge's verdicts beside labels of people that stand in the rows: the four counts, agreement, Cohen's kappa."""

from collections.abc import Mapping, Sequence

import numpy as np

LABELLED = "labels of people"  # the name of these counts among those of the metrics
CONFUSION = ("accepted", "missed", "rejected", "let_through")


def confusion_counts(verdicts: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return which of the four cases every answer is.

    Args:
        verdicts: (rows,) the judge's, 1 correct and 0 wrong.
        labels: (rows,) those of people, 0 to 1; from 0.5 an answer is correct. NaN where there is none.

    Returns:
        (rows, 4) ones and zeros in the order of `CONFUSION`: accepted and correct, missed (rejected though correct),
        rejected and wrong, let through (accepted though wrong). Only zeros without a label.

    >>> confusion_counts(np.array([1, 0, 0, 1]), np.array([1, 1, 0, np.nan])).sum(axis=0).tolist()
    [1.0, 1.0, 1.0, 0.0]
    """
    known, right, accepts = ~np.isnan(labels), labels >= 0.5, np.asarray(verdicts) > 0.5
    cases = [accepts & right, ~accepts & right, ~accepts & ~right, accepts & ~right]
    return np.stack([case & known for case in cases], axis=1).astype(float)


def counts_of_rows(columns: Mapping[str, Sequence]) -> np.ndarray | None:
    """Return `confusion_counts` of rows with AVA's verdicts and labels from 0 to 1; None where there are none.

    Args:
        columns: the columns of the output, by name.
    """
    if "ava_label" not in columns or "label" not in columns:
        return None
    labels = np.array([np.nan if value is None else value for value in columns["label"]], dtype=float)
    labels[(labels < 0) | (labels > 1)] = np.nan
    return None if np.isnan(labels).all() else confusion_counts(np.asarray(columns["ava_label"]), labels)


def agreement(counts: Sequence[float]) -> dict[str, float | None]:
    """Return how far a judge and people agree, from the four counts, which may be weighted.

    Cohen (1960): kappa is (agreement - expected) / (1 - expected), where expected is the agreement of verdicts and
    labels with the same shares that are drawn independently.

    Args:
        counts: numbers in the order of `CONFUSION`.

    Returns:
        "agreement", "kappa" (None where both say the same of all answers, or there are none), "sensitivity" (share of
        the correct answers that are accepted), "specificity" (share of the wrong ones that are rejected).

    Of 10 answers 7 are judged as people do; expected are .5 * .6 + .5 * .4 = .5, so kappa is .2 / .5 = .4.

    >>> agreement([4, 1, 3, 2])["kappa"]
    0.4
    """
    accepted, missed, rejected, let_through = map(float, counts)
    total = accepted + missed + rejected + let_through
    if not total:
        return dict.fromkeys(("agreement", "kappa", "sensitivity", "specificity"))
    observed = (accepted + rejected) / total
    correct, accepts = (accepted + missed) / total, (accepted + let_through) / total
    expected = correct * accepts + (1 - correct) * (1 - accepts)
    return {
        "agreement": observed,
        "kappa": round((observed - expected) / (1 - expected), 12) if expected < 1 else None,
        "sensitivity": accepted / (accepted + missed) if accepted + missed else None,
        "specificity": rejected / (rejected + let_through) if rejected + let_through else None,
    }
