"""The figure of the study: correlations within groups, as Figure 4 of the KPQA paper."""

import io
from collections.abc import Mapping, Sequence

import numpy as np
from genqa_metrics.reports.charts import PALETTE


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


def group_figure(groups: Mapping, names: Sequence[str]):
    """Return a figure of Pearson's r within groups, with 95% intervals; see `agree.measures.analyse`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(max(5.0, 1.1 + len(groups) * (0.5 + 0.13 * len(names))), 3.4))
    axes, step, lefts = figure.subplots(), 0.8 / len(names), np.arange(len(groups)) - 0.4
    for i, name in enumerate(names):
        results = [group["metrics"][name]["pearson"] for group in groups.values()]
        value, low, high = (np.array([result[end] for result in results], float) for end in ("value", "low", "high"))
        style = {"color": PALETTE[i % len(PALETTE)], "hatch": "//" * (i >= len(PALETTE)), "edgecolor": "#ffffff"}
        style |= {"yerr": [value - low, high - value], "error_kw": {"linewidth": 0.8}, "linewidth": 0, "label": name}
        axes.bar(lefts + (i + 0.5) * step, value, 0.9 * step, **style)
    axes.set_xticks(range(len(groups)), [f"{label}\n({group['rows']})" for label, group in groups.items()])
    axes.set_ylabel("Pearson r")
    axes.axhline(0, color="#888888", linewidth=0.8)
    axes.grid(axis="y", color="#999999", alpha=0.3, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper left", bbox_to_anchor=(-0.02, -0.16), ncols=3, frameon=False)
    return figure
