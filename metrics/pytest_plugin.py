"""A plugin for pytest: tests that demand how good answers are, and show the worst ones where they are not.

def test_my_system(assert_accuracy):
    assert_accuracy("answers.jsonl", at_least=0.8)
"""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

SHOWN = 5
ENDS = ("accuracy", "low")


@pytest.fixture(name="assert_accuracy")
def assert_accuracy_fixture() -> Callable:
    """Return the function `assert_accuracy`."""
    return assert_accuracy


def assert_accuracy(
    rows: Any, at_least: float, labels: Any = None, bound: str = "accuracy", show: int = SHOWN, **options: Any
):
    """Fail if the answers of a system are less accurate than demanded; the failure shows the worst rows.

    Args:
        rows: paths, a list of dicts, a DataFrame or a Dataset, see `genqa_metrics.accuracy`.
        at_least: the least accuracy of every system, 0 to 1.
        labels: labels of people for some of the rows.
        bound: "accuracy" demands the estimate, "low" the lower end of its interval.
        show: number of rows to show.
        **options: further arguments of `genqa_metrics.accuracy`.

    Returns:
        The report, for further demands.

    Raises:
        ValueError: if an argument is bad.
    """
    __tracebackhide__ = True
    if bound not in ENDS:
        raise ValueError(f"bound: expected one of {', '.join(ENDS)}, got {bound!r}")
    if isinstance(at_least, bool) or not 0 <= at_least <= 1:
        raise ValueError(f"at_least: expected a number from 0 to 1, got {at_least!r}; 0.8 is 80%")
    import genqa_metrics

    report = genqa_metrics.accuracy(rows, labels, **options)
    results = report.systems.items()
    missed = {system: r for system, r in results if r[bound] is None or r[bound] < at_least}
    if missed:
        pytest.fail(_failure(report, missed, at_least, bound, show), pytrace=False)
    return report


def _failure(report: Any, missed: Mapping[str, Mapping], at_least: float, bound: str, show: int) -> str:
    from .reports.table import accuracy_cell
    from .verbs.judge_errors import assumption

    name, assumes = "accuracy" if bound == "accuracy" else "lower bound of the accuracy", assumption(report.systems)
    lines = [f"the accuracy {assumes}"] * bool(assumes)
    for system, item in missed.items():
        value = f"cannot be told: {item['reason']}"
        if item[bound] is not None:
            value = f"{item[bound]:.3f} is below {at_least:g}; {accuracy_cell(item)}"
        lines.append(f"{system}: {name} {value}, {item['rows']:,} answers, {item['method']}")
    worst = [row for row in report.worst if row["system"] in missed][:show]
    if worst:
        lines.append("worst rows:")
    for row in worst:
        verdict = f"judge {row['judged']:.2f}" if row["label"] is None else f"people {row['label']:g}"
        lines.append(f"  {row['place']} ({row['system']}, {verdict}): {row['question']!r:.120}")
        lines.append(f"    answered {row['prediction']!r:.160}, accepted {' | '.join(row['references'])!r:.160}")
    return "\n".join(lines)
