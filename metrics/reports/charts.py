"""Pictures of intervals, which stand in a column of their table."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from .table import number

# Okabe and Ito's colours, told apart by people with any colour vision; without black and yellow, which pages hide.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999")
# One colour for a metric in all pictures. "shared words": scores without weights.
COLOURS = {
    "AVA": "#009e73",
    "KPQA": "#0072b2",
    "AEv": "#e69f00",
    "F-meta": "#cc79a7",
    "BERTScore": "#56b4e9",
    "ROUGE-L": "#999999",
    "shared words": "#999999",
}


def _axis(low: float, high: float) -> tuple[float, float, float]:
    """Return the ends of an axis around an interval, and the step of its marks.

    >>> _axis(0.31, 0.58)
    (0.3, 0.6, 0.1)
    """
    from math import ceil, floor, log10

    width = (high - low) or abs(high) or 1.0
    unit = 10.0 ** floor(log10(width))
    step = next(step * unit for step in (0.1, 0.2, 0.5, 1, 2, 5) if width / (step * unit) <= 4)
    start, stop = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return round(start * step, 10), round(max(stop, start + 1) * step, 10), round(step, 10)


@dataclass(frozen=True)
class Intervals:
    """Estimates with intervals on one axis, drawn in the table whose rows begin with their names.

    The axis of numbers between 0 and 1 is not cut: it would make small differences look large.
    """

    column: str  # of the table, behind which they are drawn
    estimates: Mapping[str, Mapping]  # "value", "low" and "high"; None for one that has no value or no interval
    caption: str = "95% interval"
    has_zero: bool = False  # the axis holds 0, which is marked, as for differences

    @cached_property
    def _ends(self) -> tuple[float, float, float]:
        numbers = [e[end] for e in self.estimates.values() for end in ("value", "low", "high") if e[end] is not None]
        if self.has_zero:
            return _axis(min([0.0, *numbers]), max([0.0, *numbers]))
        if all(0 <= end <= 1 for end in numbers):
            return 0.0, 1.0, 0.25
        return _axis(min(numbers), max(numbers))

    @property
    def marks(self) -> list[tuple[str, str]]:
        """Places on the axis as shares of its width, and what stands there."""
        left, right, step = self._ends
        digits = len(f"{step:g}".partition(".")[2])
        places = [round(left + i * step, 10) for i in range(round((right - left) / step) + 1)]
        return [(self.at(mark), number(mark, digits)) for mark in places]

    def at(self, estimate: float) -> str:
        """Return the place of an estimate on the axis.

        >>> Intervals("aev", {"a": {"value": 0.5, "low": None, "high": None}}).at(0.25)
        '25.00%'
        """
        left, right, _ = self._ends
        return f"{100 * (estimate - left) / (right - left):.2f}%"


def accuracy_intervals(systems: Mapping[str, Mapping], caption: str) -> Intervals | None:
    """Return a picture of the accuracy of systems; None where no accuracy can be told."""
    estimates = {system: {**accuracy, "value": accuracy["accuracy"]} for system, accuracy in systems.items()}
    has_estimate = any(of["value"] is not None for of in estimates.values())
    return Intervals("accuracy", estimates, caption) if has_estimate else None
