"""A report of agreement as tables for the terminal, as Markdown, and as one HTML page with charts."""

from collections.abc import Mapping
from html import escape

from .charts import curves_figure, forest_figure, group_figure, svg_of
from .table import Table, estimate, html_table, markdown_table, number, p_value, print_table

CRITERIA = {"f1": "F1", "accuracy": "accuracy", "youden": "Youden's J"}
LEVEL = 0.05


def ordered(report: Mapping, kind: str = "pearson") -> list[str]:
    """Return the names of the metrics, the best correlation first, undefined ones last."""
    metrics = report["metrics"]
    return sorted(
        metrics, key=lambda name: (metrics[name][kind]["value"] is None, -(metrics[name][kind]["value"] or 0.0), name)
    )


def against_best(report: Mapping, kind: str = "pearson") -> dict[str, Mapping]:
    """Return the test of every other metric against the one with the best correlation, by name.

    Args:
        report: see `agree.analyse`.
        kind: "pearson" or "spearman".
    """
    best = ordered(report, kind)[0]
    found = {}
    for entry in report["differences"]:
        if best in (entry["first"], entry["second"]):
            found[entry["second"] if entry["first"] == best else entry["first"]] = entry[kind]
    return found


def _correlations(report: Mapping) -> Table:
    tests = against_best(report)
    rows, marked = [], set()
    classified = any("classifier" in found for found in report["metrics"].values())
    for place, name in enumerate(ordered(report)):
        found = report["metrics"][name]
        test = tests.get(name)
        cells = [name, *(estimate(found[kind]) for kind in ("pearson", "spearman", "kendall"))]
        if classified:
            cells.append(estimate(found["classifier"]["auc"]))
        if tests:
            cells += [p_value(test[p]) if test else "" for p in ("permutation_p", "permutation_p_holm")]
        rows.append(cells)
        if place == 0 or (test and (test["permutation_p_holm"] or 0.0) >= LEVEL):
            marked.add(place)
    header = ["metric", "Pearson r", "Spearman rho", "Kendall tau-b", *["AUC"] * classified]
    explanation = "With 95% intervals."
    if not tests:
        return Table("Agreement with the humans", header, rows, explanation)
    explanation += (
        " p: permutation test of the difference between this Pearson r and the first one; corrected (Holm) for all "
        "pairs of metrics. Bold: the first one, and those that do not differ from it at 5%."
    )
    return Table("Agreement with the humans", [*header, "p", "p corrected"], rows, explanation, marked)


def _pairs(report: Mapping) -> Table | None:
    ranked, systems = report["rank_pairs"], report["systems"]
    if not ranked["pairs"] and not systems:
        return None
    header = ["metric"]
    said = []
    if ranked["pairs"]:
        header.append(f"answer pairs ({ranked['pairs']:,})")
        said.append(
            f"Answer pairs: two answers to one question whose human scores differ by more than {ranked['gap']:g}; "
            "share that the metric ranks as humans do, with 95% interval; equal scores are wrong."
        )
    if systems:
        first = next(iter(systems["pairs"].values()))
        header += [f"system pairs ({first['pairs']})", f"clear system pairs ({first['clear_pairs']})"]
        said.append(
            "System pairs: pairs of systems with the better one on the humans' side; clear: those in which the 95% "
            "interval of the humans' difference leaves out 0."
        )
    rows = []
    for name in ordered(report):
        cells = [name]
        if ranked["pairs"]:
            cells.append(estimate(ranked["metrics"][name]))
        if systems:
            found = systems["pairs"][name]
            cells += [f"{found['right']} of {found['pairs']}", f"{found['clear_right']} of {found['clear_pairs']}"]
        rows.append(cells)
    return Table("Who is better? Pairs of answers and of systems", header, rows, " ".join(said))


def _system_scores(report: Mapping) -> Table | None:
    systems = report["systems"]
    if not systems:
        return None
    names = ordered(report)
    order = sorted(systems["human"], key=lambda name: (-systems["human"][name], name))
    rows = [
        [
            name,
            str(systems["rows"][name]),
            number(systems["human"][name]),
            *(number(systems["metrics"][metric][name]) for metric in names),
        ]
        for name in order
    ]
    return Table("Scores of the systems", ["system", "answers", "human", *names], rows)


def _group_tables(report: Mapping) -> list[Table]:
    tables = []
    for grouping, groups in report["groups"].items():
        header = ["metric", *(f"{label} ({found['rows']:,})" for label, found in groups.items())]
        rows = []
        for name in ordered(report):
            cells = [
                estimate(found["metrics"][name]["pearson"]) if found["metrics"] else "-" for found in groups.values()
            ]
            rows.append([name, *cells])
        tables.append(
            Table(
                f"By {grouping.replace('_', ' ')}",
                header,
                rows,
                "Pearson r with 95% interval, number of answers above; '-': fewer than 10 answers, or equal scores.",
            )
        )
    return tables


def _thresholds(report: Mapping) -> Table | None:
    names = [name for name in ordered(report) if "classifier" in report["metrics"][name]]
    if not names:
        return None
    rows = []
    for name in names:
        found = report["metrics"][name]["classifier"]
        cells = [name]
        for criterion in CRITERIA:
            best = found["thresholds"][criterion]
            limit = "-" if best["threshold"] is None else f"{best['threshold']:.3g}"
            cells.append(f"{number(best['value'])} ({number(best['held_out'])}) from {limit}")
        calibrated = found["calibration"]
        cells += [number(found["average_precision"])]
        cells += [number(calibrated["ece"]), number(calibrated["brier"])] if calibrated else ["-", "-"]
        rows.append(cells)
    share = report.get("human", {}).get("share_correct")
    rule = f"Correct: {report['human']['correct']}, {share:.1%} of the answers. " if share is not None else ""
    return Table(
        "Telling correct answers from wrong ones",
        ["metric", *(f"best {name}" for name in CRITERIA.values()), "average precision", "ECE", "Brier"],
        rows,
        f"{rule}Best value on these rows, in brackets on questions that the threshold was not chosen on (5 folds), "
        "and the score from which on answers are called correct. ECE and Brier take the score for a probability.",
    )


def tables(report: Mapping) -> list[Table]:
    """Return the tables of a report."""
    found = [
        _correlations(report),
        _pairs(report),
        _system_scores(report),
        *_group_tables(report),
        _thresholds(report),
    ]
    return [table for table in found if table]


def facts(report: Mapping) -> list[str]:
    """Return what the numbers rest on, one sentence or line each."""
    human = report["human"]
    lines = [
        f"{report['rows']:,} answers to {report['questions']:,} questions; human scores: column {human['column']}, "
        f"from {human['minimum']:g} to {human['maximum']:g}, mean {number(human['mean'])}"
    ]
    lines += [f"left out: {count:,} rows {why}" for why, count in report["left_out"].items() if count]
    lines += [f"note: {note}" for note in report["notes"]]
    lines += [f"{source['name']}: {source['rows']:,} rows, SHA-256 {source['sha256']}" for source in report["inputs"]]
    lines += list(report["signatures"].values())
    settings = report["settings"]
    lines.append(
        f"genqa-metrics {report['genqa_metrics']}, {settings['resamples']:,} bootstrap samples, "
        f"{settings['permutations']:,} permutations, seed {settings['seed']}"
    )
    return lines


def as_markdown(report: Mapping) -> str:
    """Return a report in Markdown."""
    parts = [f"## {table.title}\n\n{table.explanation}\n\n{markdown_table(table)}" for table in tables(report)]
    parts.append("## What the numbers rest on\n\n" + "\n".join(f"- `{line}`" for line in facts(report)))
    return "# Agreement with human judgments\n\n" + "\n\n".join(parts).replace("\n\n\n\n", "\n\n")


def print_report(report: Mapping, console) -> None:
    """Print a report.

    Args:
        report: see `agree.AgreeRun.report`.
        console: a `rich.console.Console`.
    """
    from rich.text import Text

    for table in tables(report):
        print_table(table, console)
    for line in facts(report):
        console.print(Text(line, style="bold yellow" if line.startswith("note: ") else "dim"), soft_wrap=True)


_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em; color: #1c1917; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2em; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.25em 0.8em; text-align: right; border-bottom: 1px solid #e7e5e4; white-space: nowrap; }
th:first-child { text-align: left; } thead th { border-bottom: 2px solid #78716c; vertical-align: bottom; }
tr.marked th, tr.marked td:nth-child(2) { font-weight: bold; color: #166534; } tbody th { font-weight: normal; }
.explanation, .facts { color: #57534e; } .facts li { overflow-wrap: anywhere; } .note { color: #9a3412; }
svg { max-width: 100%; height: auto; }
"""


def as_html(report: Mapping) -> str:
    """Return a report as one HTML page that needs nothing else: no script, no outside resource.

    Args:
        report: see `agree.AgreeRun.report`.
    """
    names = [name for name in ordered(report) if report["metrics"][name]["pearson"]["value"] is not None]
    charts: dict[str, str] = {}
    if names:
        charts["Agreement with the humans"] = svg_of(forest_figure(report, ("pearson", "spearman", "kendall")))
        for grouping, groups in report["groups"].items():
            if any(found["metrics"] for found in groups.values()):
                charts[f"By {grouping.replace('_', ' ')}"] = svg_of(group_figure(groups, names))
        if all("classifier" in report["metrics"][name] for name in names):
            charts["Telling correct answers from wrong ones"] = svg_of(curves_figure(report, names))
    body = ["<h1>Agreement with human judgments</h1>", f"<p>{escape(facts(report)[0])}.</p>"]
    body += [f'<p class="note">{escape(note)}</p>' for note in report["notes"]]
    for table in tables(report):
        body.append(f"<h2>{escape(table.title)}</h2>")
        body += [charts[table.title]] if table.title in charts else []
        body.append(html_table(table))
        body += [f'<p class="explanation">{escape(table.explanation)}</p>'] if table.explanation else []
    rest = [f"<li>{escape(line)}</li>" for line in facts(report)[1:] if not line.startswith("note: ")]
    body += ["<h2>What the numbers rest on</h2>", '<ul class="facts">', *rest, "</ul>"]
    head = [
        '<meta charset="utf-8">',
        # Even if escaping failed, a browser would run and fetch nothing.
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        "<title>Agreement with human judgments</title>",
        f"<style>{_STYLE}</style>",
    ]
    lines = ["<!DOCTYPE html>", '<html lang="en">', "<head>", *head, "</head>", "<body>", *body, "</body>", "</html>"]
    return "\n".join(lines) + "\n"
