"""Charts of reports."""

import io
from collections.abc import Mapping, Sequence

from .table import estimate, number, render, visible

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
CORRELATIONS = {"pearson": "Pearson r", "spearman": "Spearman rho", "kendall": "Kendall tau-b"}
LINES = ("-", "--", ":", "-.")
MARKERS = "os^Dv"


def svg_of(figure):
    """Return a figure as SVG (`markupsafe.Markup`), the same bytes for the same figure.

    Its ground is the page's, and its black is the page's text colour, so that it follows a dark page.
    """
    import matplotlib
    from markupsafe import Markup

    text = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "genqa-metrics", "svg.fonttype": "none"}):
        figure.savefig(text, format="svg", metadata={"Date": None}, bbox_inches="tight", transparent=True)
    svg = text.getvalue().replace("#000000", "currentColor")
    return Markup(svg[svg.index("<svg") :])


def _label(name: str) -> str:
    return visible(name).replace("$", r"\$")  # no formula


def styles(names: Sequence[str]) -> dict[str, dict]:
    """Return colour, line style and marker for names of scores, as arguments of matplotlib.

    A metric has its own colour; further scores of it have other lines and markers.

    >>> {name: (style["color"], style["linestyle"]) for name, style in styles(["ava_score", "other", "ava"]).items()}
    {'ava_score': ('#009e73', '-'), 'other': ('#0072b2', '-'), 'ava': ('#009e73', '--')}
    """
    colours = {name: _own_colour(name) for name in names}
    free = [colour for colour in PALETTE if colour not in colours.values()] or list(PALETTE)
    others = [name for name in names if colours[name] is None]
    colours |= {name: free[i % len(free)] for i, name in enumerate(others)}
    result: dict[str, dict] = {}
    for name in names:
        same = sum(style["color"] == colours[name] for style in result.values())
        line, marker = LINES[same % len(LINES)], MARKERS[same % len(MARKERS)]
        result[name] = {"color": colours[name], "linestyle": line, "marker": marker}
    return result


def _own_colour(name: str) -> str | None:
    """Return the colour of the metric that a score belongs to; None if it has none."""
    words = name.lower().replace("-", "_").split("_")
    words.append("".join(words[:2]))  # as F-meta and ROUGE-L are two words
    return next((colour for metric, colour in COLOURS.items() if metric.lower().replace("-", "") in words), None)


def _without_frame(axes, grid: str = "both") -> None:
    axes.grid(axis=grid, color="#999999", alpha=0.3, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def forest_figure(metrics: Mapping, names: Sequence[str]):
    """Return a figure of metrics' correlations with their 95% intervals; see `agree.measures.analyse`."""
    from matplotlib.figure import Figure

    names = names[::-1]
    figure = Figure(figsize=(5, 1 + 0.34 * len(names)))  # no wider, so that its text can be read on a phone
    axes = figure.subplots()
    for step, ((kind, title), marker) in enumerate(zip(CORRELATIONS.items(), "os^", strict=True)):
        for row, name in enumerate(names):
            metric = metrics[name][kind]
            height = row + 0.24 * ((len(CORRELATIONS) - 1) / 2 - step)
            colour = PALETTE[step]
            if metric["low"] is not None:
                axes.plot([metric["low"], metric["high"]], [height] * 2, color=colour, linewidth=1.5)
            axes.plot(metric["value"], height, marker, color=colour, markersize=5, label=None if row else title)
    axes.set_yticks(range(len(names)), map(_label, names))
    axes.axvline(0, color="#888888", linewidth=0.8)
    axes.set_ylim(-0.5, len(names) - 0.5)
    bars = any(metrics[name][kind]["low"] is not None for name in names for kind in CORRELATIONS)
    axes.set_xlabel("correlation with the humans" + ", 95% intervals" * bars)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(CORRELATIONS), frameon=False)
    _without_frame(axes, "x")
    return figure


def group_figure(groups: Mapping, names: list[str]):
    """Return a figure of Pearson's r within groups, as Figure 4 of the KPQA paper; see `agree.measures.analyse`."""
    from matplotlib.figure import Figure

    shown = {label: group for label, group in groups.items() if group["metrics"]}
    figure = Figure(figsize=(max(5.0, 1.1 + len(shown) * (0.5 + 0.13 * len(names))), 3.4))
    axes = figure.subplots()
    looks, hatches = styles(names), dict(zip(LINES, ("", "//", "..", "xx"), strict=True))
    step = 0.8 / max(len(names), 1)
    for group_number, group in enumerate(shown.values()):
        for number_, name in enumerate(names):
            correlation, look, label = group["metrics"][name]["pearson"], looks[name], _label(name)
            if correlation["value"] is None:
                continue
            left = group_number - 0.4 + (number_ + 0.5) * step
            style = {"color": look["color"], "hatch": hatches[look["linestyle"]], "edgecolor": "#ffffff"}
            style["label"] = None if label in axes.get_legend_handles_labels()[1] else label
            axes.bar(left, correlation["value"], step * 0.9, linewidth=0, **style)
            if correlation["low"] is not None:
                axes.plot([left, left], [correlation["low"], correlation["high"]], color="#000000", linewidth=0.8)
    axes.set_xticks(range(len(shown)), [f"{_label(label)}\n({group['rows']})" for label, group in shown.items()])
    axes.set_ylabel("Pearson r")
    axes.axhline(0, color="#888888", linewidth=0.8)
    _without_frame(axes, "y")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper left", bbox_to_anchor=(-0.02, -0.16), ncols=3, frameon=False)
    return figure


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
