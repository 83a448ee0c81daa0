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


def _system_pairs(report: Mapping, title: str) -> str:
    value = report["systems"]["pairs"][title]
    return f"{value['right']}/{value['pairs']} ({value['clear_right']}/{value['clear_pairs']})"


def _classifier(report: Mapping, title: str) -> str:
    value = report["metrics"][title]["classifier"]
    ece = number(value["calibration"]["ece"], 2) if value["calibration"] else "-"
    return f"{estimate(value['auc'])}; {number(value['thresholds']['accuracy']['held_out'], 2)}; {ece}"


def group_table(grouping: str, names: Sequence[str], sets: Mapping[str, dict]) -> str:
    """Return Pearson / Spearman of every metric in the groups of some sets."""

    def cell(group: Mapping, title: str) -> str:
        return " / ".join(number(group["metrics"][title][kind]["value"]) for kind in ("pearson", "spearman"))

    places = [(name, label, group) for name in names for label, group in _groups(sets[name], grouping).items()]
    return by_metric(sets, {f"{named(n)}, {label} ({g['rows']})": partial(cell, g) for n, label, g in places})


def _groups(report: Mapping, grouping: str = "question type") -> dict[str, dict]:
    return {label: group for label, group in report["groups"].get(grouping, {}).items() if group["metrics"]}


def figures_of(sets: Mapping[str, dict]) -> dict[str, str]:
    """Return title -> file of the figures that the page shows."""
    values = {"heat map": "meta_heat_map.svg"}
    for file, name in FIGURES.items():
        if name in sets and len(_groups(sets[name])) > 1:
            values[f"{named(name)} by question type"] = f"{file}.svg"
    return values | ({f"Curves of {named(CURVES)}": f"meta_curves_{CURVES}.svg"} if CURVES in sets else {})


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
    sets, figures = facts["sets"], figures_of(facts["sets"])
    parts = [
        "# How well the metrics agree with human judgments",
        f"Written by `{facts['command']}`; all numbers are in "
        "[meta_evaluation.json](meta_evaluation.json). Nothing is trained on these rows by that "
        "command; what the checkpoints were trained on is in their model cards.",
        "Every cell is Pearson's r with its 95% interval / Spearman's rho. Bold: the best of the column, and what "
        "does not differ from it at 5% (permutation test against the best, Holm's correction for their number). "
        "Intervals and tests draw whole questions, because answers to one question are alike. The best was chosen on "
        "the same rows, so its own number is a little too good.",
    ]
    for family, names in _families(list(sets)).items():
        columns = {f"{named(n)} ({sets[n]['rows']:,})": partial(_correlations, sets[n]) for n in names}
        parts += [f"## {family}", by_metric(sets, columns)]
        if family == next(iter(FAMILIES)):
            shown = list(FAMILIES[family])
            lines = [[title, *row.split()] for title, row in PAPER.items()]
            parts += [
                "The paper's own numbers (Pearson / Spearman) for the same sets, with BERT-base, embeddings of a "
                "SQuAD-tuned BERT-large, and 1,000 rows of MS MARCO and AVSD where these files have 486 and 484:",
                table(["metric", *map(named, shown)], lines),
            ]
        notes = {note for name in names for note in sets[name]["notes"] if note.startswith("only")}
        parts += [f"{named(name)}: {note}." for name in names for note in sets[name]["notes"] if note in notes]
    parts += ["## At a glance", f"![Pearson r of every metric on every set]({figures['heat map']})"]
    parts += [
        "## The best of every set against the rest",
        "p of the difference in Pearson's r, by permutation of whole questions, corrected (Holm) for the number of "
        "metrics. Those of Spearman's rho are in the JSON file.",
        by_metric(
            sets, {named(n): partial(_against_best, sets[n]) for ns in _families(list(sets)).values() for n in ns}
        ),
    ]
    paired = [name for name in sets if sets[name]["rank_pairs"]["pairs"] >= MIN_PAIRS]
    if paired:
        values = {name: sets[name]["rank_pairs"] for name in paired}
        columns = {
            f"{named(name)} ({pairs['pairs']:,} pairs)": lambda title, pairs=pairs: estimate(pairs["metrics"][title])
            for name, pairs in values.items()
        }
        parts += [
            "## Pairs of answers ranked as humans do (Table 7 of the paper)",
            f"Two answers to one question, of two systems where systems are known, whose human scores (0 to 1) differ "
            f"by more than {RANK_GAP}; share ranked as humans do, with 95% interval; equal scores are wrong.",
            by_metric(sets, columns),
        ]
    ranked = [name for name in sets if sets[name]["systems"]]
    if ranked:
        parts += [
            "## Pairs of systems ranked as humans do",
            "By the mean of the systems' answers; in brackets the pairs whose human scores differ clearly (the 95% "
            "interval of the difference leaves out 0).",
            by_metric(sets, {named(name): partial(_system_pairs, sets[name]) for name in ranked}),
            "## By system (Table 9 of the paper)",
            group_table("system", ranked, sets),
        ]
    parts += [
        "## By question type (Figure 4 of the paper)",
        "The files have no types: `genqa_metrics/question_types.py` reads them off the wording. Pearson / Spearman; "
        "types with fewer than 10 answers are left out.",
    ]
    for name in [name for name in sets if len(_groups(sets[name])) > 1]:
        title = f"{named(name)} by question type"
        parts += [f"### {named(name)}"]
        if title in figures:
            parts.append(f"![{title}]({figures[title]})")
        parts.append(group_table("question type", [name], sets))
    classified = [name for name in sets if all("classifier" in m for m in sets[name]["metrics"].values())]
    columns = {
        f"{named(n)} ({sets[n]['share_correct']:.0%} correct)": partial(_classifier, sets[n]) for n in classified
    }
    parts += [
        "## Telling correct answers from wrong ones",
        "Area under the ROC curve with 95% interval; accuracy with a threshold from other questions (5 folds); "
        "expected calibration error of the score as a probability. Correct: the label, or human scores from 0.5 on.",
        by_metric(sets, columns),
    ]
    parts += [f"![{title}]({file})" for title, file in figures.items() if title.startswith("Curves")]
    parts += [
        "## What the numbers rest on",
        '- "AEv, content" has the settings for answers that are sentences and references that are names (README, '
        "quick start): alpha 0, N 1, no penalty for wordiness, the reference that is recalled best.\n"
        '- BERTScore and cosine use the same encoder as KPQA and AVA. "Unweighted" are KPQA\'s own scores with equal '
        "weights; their tokens are word pieces, and BERTScore's vectors are the embeddings below the first layer.\n"
        "- PEDANTS (qa-metrics 0.2.42) is left out: it downloads pickled classifiers from GitHub when it is first "
        "used, needs scikit-learn 1.3.2 to read them, and does not run offline.\n"
        + "\n".join(f"- {name}: `{signature}`" for name, signature in facts["signatures"].items()),
        f"Python {facts['python']}, "
        + ", ".join(f"{name} {number_}" for name, number_ in facts["versions"].items())
        + f"; {facts['resamples']:,} bootstrap samples, {facts['permutations']:,} permutations, seed {facts['seed']}.",
        table(
            ["file", "rows", "questions", "SHA-256"],
            [[n, f"{s['rows']:,}", f"{s['questions']:,}", f"`{s['sha256']}`"] for n, s in sets.items()],
        ),
    ]
    return "\n\n".join(parts) + "\n"


def drawn(name: str, result: Mapping) -> str:
    """Return one of `FIGURES` as SVG."""
    sets = result["sets"]
    if FIGURES[name] is None:
        return svg_of(heat_map(sets))
    report = sets[FIGURES[name]]
    shown = [title for title in NAMES["in_figures"] if title in report["metrics"]]
    return svg_of(group_figure(_groups(report), shown))
