"""A report as tables for the terminal, as Markdown, or as JSON."""

import json
import sys

from ..scoring.registry import scorer_class
from ..scoring.run import Report


def _shown_scores(metric: str, scores: dict[str, float]) -> dict[str, float]:
    """Leave the metric's name out of those of its parts, and show one quotient for the two lengths."""
    if metric == "kpqa":  # precision and recall of its parts are in --output and --format json; here they are too wide
        return {name: value for name, value in scores.items() if not name.endswith(("_precision", "_recall"))}
    main = scorer_class(metric).main
    shown = {name if name == main else name.removeprefix(f"{metric}_"): value for name, value in scores.items()}
    if "prediction_length" in shown:
        length = shown.pop("prediction_length")
        shown["length_ratio"] = length / max(shown.pop("reference_length"), 1)
    return shown


def _cells(report: Report, metric: str) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of one metric's table as text."""
    systems = report.scores[metric]
    units = {"questions": report.predictions} if report.sets else {"answers": report.predictions}
    if scorer_class(metric).takes_sets:
        units = {"contexts": report.rows, **units} if report.sets else units
    rows = []
    for system, scores in systems.items():
        shown = _shown_scores(metric, scores)
        counts = [f"{count[system]:,}" for count in units.values()]
        rows.append([system, *counts, *(f"{value:.4f}" for value in shown.values())])
    return ["system", *units, *shown], rows


def as_json(report: Report) -> str:
    """Return everything in a report, with all digits, as one JSON object."""
    systems = {}
    for system, rows in report.rows.items():
        systems[system] = {"rows": rows, "predictions": report.predictions[system]}
        for scores in report.scores.values():
            systems[system] |= scores[system]
    facts = {
        "systems": systems,
        "signatures": report.signatures,
        "skipped_rows": report.skipped,
        "contexts_without_a_second_reference": report.single,
    }
    return json.dumps(facts, indent=2, ensure_ascii=False)


def as_markdown(report: Report) -> str:
    """Return one Markdown table per metric, each with its signature."""
    parts = []
    for metric in report.scores:
        header, rows = _cells(report, metric)
        lines = [header, ["---", *["---:"] * (len(header) - 1)]]
        lines += [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        parts.append(f"**{metric}**\n\n{table}\n\n`{report.signatures[metric]}`")
    return "\n\n".join(parts)


def print_tables(report: Report, console) -> None:
    """Print one table per metric, each with its signature; the best score of several systems is bold.

    Args:
        report: the scores.
        console: a `rich.console.Console`.
    """
    from rich import box
    from rich.measure import Measurement
    from rich.table import Table
    from rich.text import Text

    for metric in report.scores:
        header, rows = _cells(report, metric)
        first = header.index(scorer_class(metric).main)
        best = max(row[first] for row in rows if row[0] != report.total) if len(rows) > 1 else None
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
        table.add_column("system", vertical="bottom", no_wrap=True)
        for name in header[1:]:
            shown = name if name == scorer_class(metric).main else name.replace("_", "\n")
            table.add_column(Text(shown), justify="right", vertical="bottom", no_wrap=True)
        for row in rows:
            style = "bold green" if row[first] == best and row[0] != report.total else ""
            table.add_row(*(Text(cell, style=style if i in (0, first) else "") for i, cell in enumerate(row)))
        # A table that is too wide for the terminal goes over the edge; cut numbers would be of no use.
        width = console.width
        needed = Measurement.get(console, console.options.update(max_width=sys.maxsize), table).maximum
        console.width = max(width, needed)
        console.print(table, crop=False)
        console.width = width
        console.print(Text(report.signatures[metric], style="dim"), soft_wrap=True)
        console.print()
