"""Figures of the site, drawn from results that stand in the repository; each for light and for dark pages."""

import io
import json
from collections.abc import Iterable
from pathlib import Path

import matplotlib
import numpy as np
from genqa_metrics.reports.charts import COLOURS, PALETTE
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from training.ava import measure_judges
from training.studies.meta_evaluation.page import named

TRAINING = Path(__file__).resolve().parent.parent.parent / "training"
TEXT = {"light": "#1f2328", "dark": "#e6e6e6"}
SERIES = {"ROUGE-L": (COLOURS["ROUGE-L"], "s"), "BERTScore": (COLOURS["BERTScore"], "^")}
SERIES |= {"AEv, content": (COLOURS["AEv"], "D"), "ROUGE-L-KPQA": (COLOURS["KPQA"], "v"), "AVA": (COLOURS["AVA"], "o")}
SETS = (
    "evouna_nq", "evouna_tq", "sas_nqopen", "kpqa_marco", "kpqa_avsd", "kpqa_narrativeqa", "kpqa_semeval",
    "scientsbank",
)  # fmt: skip
STUDIES = {
    "large.json": "SQuAD, 600 units",
    "printed.json": "SQuAD, as printed",
    "free_bits.json": "SQuAD, free bits",
    "all_pairs.json": "SQuAD, free bits,\ntwice the pairs",
    "qamr.json": "QAMR, free bits",
}


def read(name: str) -> dict:
    """Return a file of results."""
    return json.loads((TRAINING / name).read_text(encoding="utf-8"))


def svg(name: str, scheme: str) -> str:
    """Return a figure as SVG for "light" or "dark" pages, whose background it has; equal results give equal bytes."""
    draw, size, columns = FIGURES[name]
    names = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    with matplotlib.rc_context(
        {**dict.fromkeys(names, TEXT[scheme]), "font.size": 10, "svg.hashsalt": "genqa", "svg.fonttype": "path"}
    ):
        figure = Figure(size, layout="constrained")
        axes = figure.subplots()
        draw(axes, scheme)
        if columns:
            axes.grid(axis="x", alpha=0.25)
            axes.spines[["top", "right"]].set_visible(False)
            figure.legend(loc="outside upper left", ncols=columns, frameon=False)
        axes.set_facecolor("none")
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    return out.getvalue()


def intervals(axes: Axes, ends: np.ndarray, places: Iterable[float], colour: str, marker: str, label: str) -> None:
    """Draw values with intervals into a chart of points; `ends` are (3, rows): value, low, high."""
    middle, low, high = ends
    style = {"fmt": marker, "color": colour, "markersize": 5, "linewidth": 1.2, "label": label}
    axes.errorbar(middle, list(places), xerr=[middle - low, high - middle], **style)


def agreement(axes: Axes, scheme: str) -> None:
    """Draw Pearson's r of five metrics with people, with intervals, one row a data set."""
    sets = read("studies/meta_evaluation/results/meta_evaluation.json")["sets"]
    for i, (name, (colour, marker)) in enumerate(SERIES.items()):
        correlations = [sets[data]["metrics"][name]["pearson"] for data in SETS]
        ends = np.array([[correlation[end] for correlation in correlations] for end in ("value", "low", "high")])
        intervals(axes, ends, np.arange(len(SETS)) + 0.14 * (i - 2), colour, marker, name)
    axes.set_yticks(range(len(SETS)), map(named, SETS))
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel("Pearson's r with human judgments, 95% interval")


def judges(axes: Axes, scheme: str) -> None:
    """Draw the accuracy of the bundled judges, one row a set with verdicts."""
    report = read("ava/results/judges.json")
    for i, (name, judge) in enumerate(report["judges"].items()):
        scores = measure_judges.scores(judge["sets"])
        sets = [data for data in measure_judges.VERDICTS if "accuracy" in scores.get(data, ())]
        places = np.arange(len(sets)) + 0.2 * (i - 1)  # equal ones beside each other
        axes.plot([scores[data]["accuracy"] for data in sets], places, "osD"[i], color=PALETTE[i], label=name)
        axes.set_yticks(range(len(sets)), map(named, sets))
    axes.invert_yaxis()
    axes.set_xlabel("share of verdicts that agree with the label")


def systems(axes: Axes, scheme: str) -> None:
    """Draw estimates without labels beside the accuracy by people, of the systems that the judge had not seen."""
    report = read("studies/accuracy/results/accuracy.json")
    unseen = [system for system in report["systems"] if system["set"].endswith(".dev")]
    pairs = sorted(zip(unseen, report["without labels"], strict=True), key=lambda pair: pair[0]["accuracy"])
    names = [f"{row['system']}, {row['set'].removeprefix('evouna_').removesuffix('.dev').upper()}" for row, _ in pairs]
    rows = range(len(pairs))
    ends = np.array([[estimate[end] for _, estimate in pairs] for end in ("accuracy", "low", "high")])
    intervals(axes, ends, rows, *SERIES["AVA"], "AVA, 95% interval")
    people = [row["accuracy"] for row, _ in pairs]
    axes.plot(people, rows, "D", color=TEXT[scheme], markersize=6, fillstyle="none", label="people")
    axes.set_yticks(rows, names)
    axes.set_xlabel("accuracy")


def plane(axes: Axes, scheme: str) -> None:
    """Draw R squared of AEv with human scores of systems over alpha and N."""
    report = read("studies/aev_fits/results/evouna.json")
    cells = report["signed_r_squared"]
    colours = LinearSegmentedColormap.from_list("signed", [PALETTE[1], "#ffffff", PALETTE[0]])
    axes.imshow(cells, cmap=colours, vmin=-1, vmax=1, aspect="auto", origin="lower")
    for row, shares in enumerate(cells):
        for column, share in enumerate(shares):
            colour = "white" if share > 0.6 else "black"
            axes.text(column, row, round(100 * share), ha="center", va="center", fontsize=9, color=colour)
    axes.set_xticks(range(len(report["alpha"])), [f"{alpha:g}" for alpha in report["alpha"]])
    axes.set_yticks(range(len(report["max_order"])), report["max_order"])
    axes.set(xlabel="alpha: 0 recall, 1 precision", ylabel="N")


def variety(axes: Axes, scheme: str) -> None:
    """Draw what a latent variable changes in the conventional score, recall and F of METEOR, one row a study."""
    styles = {"conventional": (PALETTE[-1], "s"), "recall": (PALETTE[0], "o"), "f": (PALETTE[1], "D")}
    reports = [read(f"studies/question_generation/results/{name}")["several_references"] for name in STUDIES]
    changes = [report["differences"]["meteor"]["cvae_100 - baseline"] for report in reports]
    axes.axvline(0, color="#999999", linewidth=1, linestyle="--")
    for i, (score, style) in enumerate(styles.items()):
        ends = 100 * np.array([change[score] for change in changes]).T
        intervals(axes, ends, np.arange(len(STUDIES)) + 0.18 * (i - 1), *style, "F" if score == "f" else score)
    axes.set_yticks(range(len(STUDIES)), STUDIES.values())
    axes.invert_yaxis()
    axes.set_xlabel("points of METEOR, CVAE 100 − baseline, 95% interval")


# {name: (function that draws it, size in inches, columns of the legend above a chart of points)}
FIGURES = {
    "agreement": (agreement, (6.4, 7), 3),
    "systems": (systems, (6.4, 4), 2),
    "judges": (judges, (6.4, 3.2), 3),
    "plane": (plane, (6.4, 2.6), 0),
    "variety": (variety, (6.4, 3.6), 3),
}
