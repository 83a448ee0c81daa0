"""Figures of the study: curves of metrics as classifiers, and correlations within groups; all in one style."""

import io
from collections.abc import Mapping, Sequence

from genqa_metrics.reports.charts import COLOURS, PALETTE
from genqa_metrics.reports.table import visible

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
    axes.grid(axis="y", color="#999999", alpha=0.3, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper left", bbox_to_anchor=(-0.02, -0.16), ncols=3, frameon=False)
    return figure
