"""The page of `meta_evaluation`: its tables in Markdown, its heat map, and the words between them."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from genqa_metrics.reports.table import estimate, number, p_value
from matplotlib.figure import Figure

from training.studies.harness import rendered
from training.studies.meta_evaluation.figures import group_figure, svg_of

RANK_GAP = 0.5  # Table 7: more than 2 on the scale from 1 to 5, which the files map to 0 to 1
MIN_PAIRS = 20  # of answers, below which a set has no place in the table of pairs
NAMES = tomllib.loads(Path(__file__).with_name("names.toml").read_text(encoding="utf-8"))
FAMILIES, PAPER = NAMES["families"], NAMES["paper"]  # sets by what they are; numbers of the paper
CURVES = "evouna_nq"  # the set whose curves are drawn
FIGURES = {  # figure that the result file is enough for -> its set, None for all
    "meta_heat_map": None,
    "meta_types_kpqa_marco": "kpqa_marco",
    "meta_types_evouna_nq": "evouna_nq",
}


def named(name: str) -> str:
    """Return the name of a set in the tables."""
    return next((titles[name] for titles in FAMILIES.values() if name in titles), name)


def _families(names: Sequence[str]) -> dict[str, list[str]]:
    """Return the available sets by family."""
    families = {family: [name for name in titles if name in names] for family, titles in FAMILIES.items()}
    placed = {name for result in families.values() for name in result}
    families["Others"] = [name for name in names if name not in placed]
    return {family: result for family, result in families.items() if result}


def _groups(report: Mapping, grouping: str = "question type") -> dict[str, dict]:
    return {label: group for label, group in report["groups"].get(grouping, {}).items() if group["metrics"]}


def heat_map(sets: Mapping[str, dict]):
    """Return a figure of Pearson's r of every metric on every set."""
    names = [name for family in _families(list(sets)).values() for name in family]
    titles = list(next(iter(sets.values()))["metrics"])
    correlations = np.array([[sets[n]["metrics"][t]["pearson"]["value"] for n in names] for t in titles], dtype=float)
    figure = Figure(figsize=(2.2 + 0.72 * len(names), 1.6 + 0.3 * len(titles)))
    axes = figure.subplots()
    image = axes.imshow(correlations, cmap="YlGnBu", vmin=0, vmax=1, aspect="auto")
    for i, j in np.ndindex(correlations.shape):
        text = "-" if np.isnan(correlations[i, j]) else f"{correlations[i, j]:.2f}"
        best = correlations[i, j] == np.nanmax(correlations[:, j])
        colour = "white" if correlations[i, j] > 0.6 else "black"
        axes.text(j, i, text, ha="center", va="center", fontsize=8, color=colour, weight="bold" if best else "normal")
    axes.set_xticks(range(len(names)), [*map(named, names)], rotation=35, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(titles)), titles)
    figure.colorbar(image, ax=axes, label="Pearson r")
    return figure


def page(facts: Mapping) -> str:
    """Return results/tables.md from the content of the result file."""
    sets = facts["sets"]
    return rendered(
        "meta_evaluation/page.md.j2",
        **{**facts, "curves": CURVES, "rank_gap": RANK_GAP, "PAPER": PAPER, "of_paper": next(iter(FAMILIES))},
        **{"named": named, "number": number, "estimate": estimate, "p_value": p_value, "groups_of": _groups},
        families=_families(list(sets)),
        paired=[name for name in sets if sets[name]["rank_pairs"]["pairs"] >= MIN_PAIRS],
        ranked=[name for name in sets if sets[name]["systems"]],
        typed=[name for name in sets if len(_groups(sets[name])) > 1],
        figures={name: file for file, name in FIGURES.items()},
        classified=[name for name in sets if all("classifier" in m for m in sets[name]["metrics"].values())],
    )


def drawn(name: str, result: Mapping) -> str:
    """Return one of `FIGURES` as SVG."""
    sets = result["sets"]
    if FIGURES[name] is None:
        return svg_of(heat_map(sets))
    report = sets[FIGURES[name]]
    shown = [title for title in NAMES["in_figures"] if title in report["metrics"]]
    return svg_of(group_figure(_groups(report), shown))
