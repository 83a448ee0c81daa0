"""Charts of reports."""

from collections.abc import Mapping, Sequence

from .table import estimate, number, render

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


def forest_chart(
    estimates: Mapping[str, Mapping], first: Sequence[str], caption: str = "", ends: Sequence[float] = ()
):
    """Return a chart of systems' scores with intervals (`markupsafe.Markup`), in which the `first` ones stand out.

    `ends` are values that the axis holds, too.
    """
    limits = (e[end] for e in estimates.values() for end in ("value", "low", "high") if e[end] is not None)
    places = [*limits, *ends]
    left, right, step = _axis(min(places), max(places))
    marks = [round(left + i * step, 10) for i in range(round((right - left) / step) + 1)]
    digits = len(f"{step:g}".partition(".")[2])

    def at(score: float) -> str:
        return f"{100 * (score - left) / (right - left):.2f}%"

    shown = {"estimates": estimates, "first": first, "caption": caption, "marks": marks, "digits": digits}
    return render("forest.html", **shown, at=at, number=number, estimate=estimate)


MAX_CHARTED = 30  # systems of a chart of accuracies


def accuracy_chart(systems: Mapping[str, Mapping], first: Sequence[str], percent: str):
    """Return a chart of the accuracy of systems (`markupsafe.Markup`), the best first; None for too many systems."""
    systems = {system: accuracy for system, accuracy in systems.items() if accuracy["accuracy"] is not None}
    if not 0 < len(systems) <= MAX_CHARTED:
        return None
    order = sorted(systems, key=lambda system: -systems[system]["accuracy"])
    estimates = {system: {**systems[system], "value": systems[system]["accuracy"]} for system in order}
    return forest_chart(estimates, first, f"accuracy, with {percent} intervals")
