"""The page of `meta_evaluation`: its tables in Markdown, its heat map, and the words between them."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from genqa_metrics.reports.charts import group_figure, svg_of
from genqa_metrics.reports.table import estimate, number, p_value
from matplotlib.figure import Figure

from training.common import markdown_table
from training.studies.harness import rendered

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
table = partial(markdown_table, align="---:")


def named(name: str) -> str:
    """Return the name of a set in the tables."""
    return next((titles[name] for titles in FAMILIES.values() if name in titles), name)


def _families(names: Sequence[str]) -> dict[str, list[str]]:
    """Return the available sets by family."""
    families = {family: [name for name in titles if name in names] for family, titles in FAMILIES.items()}
    known = {name for result in families.values() for name in result}
    families["Others"] = [name for name in names if name not in known]
    return {family: result for family, result in families.items() if result}


def by_metric(sets: Mapping[str, dict], columns: Mapping[str, Callable[[str], str]]) -> str:
    """Return the table metric x columns: title of a column -> cell of a metric."""
    titles = next(iter(sets.values()))["metrics"]
    return table(["metric", *columns], [[title, *(cell(title) for cell in columns.values())] for title in titles])


def _correlations(report: Mapping, title: str) -> str:
    """Return Pearson with interval and Spearman of a metric on a set; bold: not worse than the best."""
    shown = []
    for kind in ("pearson", "spearman"):
        value, tests = report["metrics"][title][kind], report["best_and_rest"][kind]
        text = number(value["value"])
        p = tests["rest"].get(title, {}).get("permutation_p_holm")
        if title == tests["best"] or (p is not None and p >= 0.05):
            text = f"**{text}**"
        if kind == "pearson" and value["low"] is not None:
            text += f" ({number(value['low'], 2)}, {number(value['high'], 2)})"
        shown.append(text)
    return " / ".join(shown)


def _against_best(report: Mapping, title: str) -> str:
    """Return the p of a metric against the one with the best Pearson r."""
    tests = report["best_and_rest"]["pearson"]
    return "best" if title == tests["best"] else p_value(tests["rest"].get(title, {}).get("permutation_p_holm"))


def _rank_pairs(report: Mapping, title: str) -> str:
    return estimate(report["rank_pairs"]["metrics"][title])


def _system_pairs(report: Mapping, title: str) -> str:
    value = report["systems"]["pairs"][title]
    return f"{value['right']}/{value['pairs']} ({value['clear_right']}/{value['clear_pairs']})"


def _classifier(report: Mapping, title: str) -> str:
    value = report["metrics"][title]["classifier"]
    ece = number(value["calibration"]["ece"], 2) if value["calibration"] else "-"
    return f"{estimate(value['auc'])}; {number(value['thresholds']['accuracy']['held_out'], 2)}; {ece}"


def group_table(sets: Mapping[str, dict], grouping: str, names: Sequence[str]) -> str:
    """Return Pearson / Spearman of every metric in the groups of some sets."""

    def cell(group: Mapping, title: str) -> str:
        return " / ".join(number(group["metrics"][title][kind]["value"]) for kind in ("pearson", "spearman"))

    places = [(name, label, group) for name in names for label, group in _groups(sets[name], grouping).items()]
    return by_metric(sets, {f"{named(n)}, {label} ({g['rows']})": partial(cell, g) for n, label, g in places})


def _groups(report: Mapping, grouping: str = "question type") -> dict[str, dict]:
    return {label: group for label, group in report["groups"].get(grouping, {}).items() if group["metrics"]}


def heat_map(sets: Mapping[str, dict]):
    """Return a figure of Pearson's r of every metric on every set."""
    names = [name for family in _families(list(sets)).values() for name in family]
    titles = list(next(iter(sets.values()))["metrics"])
    nan = float("nan")
    values = np.array(
        [[nan if (v := sets[n]["metrics"][t]["pearson"]["value"]) is None else v for n in names] for t in titles]
    )
    figure = Figure(figsize=(2.2 + 0.72 * len(names), 1.6 + 0.3 * len(titles)))
    axes = figure.subplots()
    image = axes.imshow(values, cmap="YlGnBu", vmin=0, vmax=1, aspect="auto")
    for i, j in np.ndindex(values.shape):
        text = "-" if np.isnan(values[i, j]) else f"{values[i, j]:.2f}"
        best = values[i, j] == np.nanmax(values[:, j])
        colour = "white" if values[i, j] > 0.6 else "black"
        axes.text(j, i, text, ha="center", va="center", fontsize=8, color=colour, weight="bold" if best else "normal")
    axes.set_xticks(
        range(len(names)), [named(name) for name in names], rotation=35, ha="right", rotation_mode="anchor"
    )
    axes.set_yticks(range(len(titles)), titles)
    figure.colorbar(image, ax=axes, label="Pearson r")
    return figure


def page(facts: Mapping) -> str:
    """Return results/tables.md from the content of the result file."""
    sets = facts["sets"]
    families = _families(list(sets))
    in_order = [name for names in families.values() for name in names]
    pairs = {name: report["rank_pairs"] for name, report in sets.items() if report["rank_pairs"]["pairs"] >= MIN_PAIRS}
    ranked = [name for name in sets if sets[name]["systems"]]
    classified = [name for name in sets if all("classifier" in m for m in sets[name]["metrics"].values())]

    def titled(title: str, cell: Callable, names: Sequence[str]) -> str:
        """Return a table with a column for each set; `title` may have its report."""
        columns = {title.format(name=named(name), **sets[name]): partial(cell, sets[name]) for name in names}
        return by_metric(sets, columns)

    return rendered(
        "meta_evaluation/page.md.j2",
        **{**facts, "families": families, "named": named, "curves": CURVES, "rank_gap": RANK_GAP},
        correlations=partial(titled, "{name} ({rows:,})", _correlations),
        of_paper=next(iter(FAMILIES)),
        paper=table(
            ["metric", *map(named, next(iter(FAMILIES.values())))],
            [[title, *row.split()] for title, row in PAPER.items()],
        ),
        against_best=titled("{name}", _against_best, in_order),
        paired=pairs and titled("{name} ({rank_pairs[pairs]:,} pairs)", _rank_pairs, list(pairs)),
        ranked=ranked,
        system_pairs=ranked and titled("{name}", _system_pairs, ranked),
        group_table=partial(group_table, sets),
        typed=[name for name in sets if len(_groups(sets[name])) > 1],
        figures={name: file for file, name in FIGURES.items()},
        classified=titled("{name} ({share_correct:.0%} correct)", _classifier, classified),
        files=table(
            ["file", "rows", "questions", "SHA-256"],
            [[n, f"{s['rows']:,}", f"{s['questions']:,}", f"`{s['sha256']}`"] for n, s in sets.items()],
        ),
    )


def drawn(name: str, result: Mapping) -> str:
    """Return one of `FIGURES` as SVG."""
    sets = result["sets"]
    if FIGURES[name] is None:
        return svg_of(heat_map(sets))
    report = sets[FIGURES[name]]
    shown = [title for title in NAMES["in_figures"] if title in report["metrics"]]
    return svg_of(group_figure(_groups(report), shown))
