"""Whether rows are like those that a judge's errors were measured on, by counts of `ava.scorer.profile`."""

from collections.abc import Mapping

from ..statistics.intervals import wilson

RARE = 0.02  # a length is rare in the measured data below this share of their rows
RARE_SHARE = 0.25  # rows of such lengths, above which rows are unlike the measured ones
LEAST_ROWS = 20  # below this, what rows are like is not known
LEAST_LABELS = 8  # correct, or incorrect, answers with a label in the rows, from which they are compared
Z = 2.576  # of 99% intervals, which must not overlap


def disagreements(measured: Mapping[str, float], rows: Mapping[str, float]) -> list[str]:
    """Return in words where labels in the rows show other errors of the judge than were measured.

    Args:
        measured: "accepted", "correct", "rejected" and "incorrect" answers, as in `judge_errors.Counts`.
        rows: the same of the rows, each after "labelled ".

    >>> measured = {"accepted": 90, "correct": 100, "rejected": 87, "incorrect": 100}
    >>> disagreements(measured, {"labelled rejected": 10, "labelled incorrect": 20})
    ['by 20 labels in the rows it rejects 50% of the incorrect answers, there 87%']
    >>> disagreements(measured, {"labelled rejected": 17, "labelled incorrect": 20})
    []
    """
    result = []
    for hit, whole, verb in (("accepted", "correct", "accepts"), ("rejected", "incorrect", "rejects")):
        size, base = rows.get(f"labelled {whole}", 0), measured[whole]
        if size < LEAST_LABELS:
            continue
        here, there = rows.get(f"labelled {hit}", 0) / size, measured[hit] / base
        (low, high), (least, most) = wilson(here, size, Z), wilson(there, base, Z)
        if high < least or most < low:
            result.append(
                f"by {size:,} labels in the rows it {verb} {here:.0%} of the {whole} answers, there {there:.0%}"
            )
    return result


def differences(measured: Mapping[str, float], rows: Mapping[str, float]) -> list[str]:
    """Return in words in what rows differ from those that a judge's errors were measured on.

    Rows of a part of the measured data are like them; only what is rare there counts.

    Args:
        measured: the counts of `ava.scorer.profile` of the measured rows; without "unsure" where no row was judged for
            them.
        rows: those of other rows.

    >>> measured = {"profiled": 100, "unsure": 10, "answer_words:1": 60, "answer_words:3": 40}
    >>> differences(measured, {"profiled": 50, "unsure": 5, "answer_words:1": 50})
    []
    >>> differences(measured, {"profiled": 50, "unsure": 30, "answer_words:6": 50})
    ['100% of the answers have a length that is rare there', 'the judge is unsure of 60%, there of 10%']
    """
    size, base = rows.get("profiled", 0), measured.get("profiled", 0)
    if not base:
        return []
    if size < LEAST_ROWS:
        return [f"{size:.0f} rows are too few to compare; {LEAST_ROWS} are the least"]
    result = []
    for part, what in (("answer_words", "answers"), ("reference_words", "references")):
        unknown = sum(
            count
            for name, count in rows.items()
            if name.startswith(f"{part}:") and measured.get(name, 0) < RARE * base
        )
        if unknown > RARE_SHARE * size:
            result.append(f"{unknown / size:.0%} of the {what} have a length that is rare there")
    if "unsure" not in measured:
        return result
    unsure, usual = rows.get("unsure", 0) / size, measured["unsure"] / base
    low, _ = wilson(unsure, size, Z)
    _, high = wilson(usual, base, Z)
    if low > high and unsure > usual + 0.1:
        result.append(f"the judge is unsure of {unsure:.0%}, there of {usual:.0%}")
    return result
