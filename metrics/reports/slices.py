"""The table of slices that `--by` adds to the report of `accuracy`."""

from collections.abc import Mapping

from .table import Table, accuracy_cell, number


def accuracy_table(report: Mapping) -> Table | None:
    """Return the accuracy of every system in every slice; None without `--by`.

    Args:
        report: see `analysis.accuracy_run.AccuracyRun.report`.
    """
    if not report["slices"]:
        return None
    column, values = report["slices"]["column"], report["slices"]["values"]
    labelled = bool(report["labels"])
    header = [column, "system", "accuracy", "wrong", "declined", "answers", *["labelled"] * labelled]
    rows = []
    for name, systems in values.items():
        for system, result in systems.items():
            cells = [
                name,
                system,
                accuracy_cell(result),
                number(result["wrong"]),
                number(result["declined"]),
                f"{result['rows']:,}",
            ]
            rows.append(cells + [f"{result['labelled']:,}"] * labelled)
    told = sum(result["low"] is not None for systems in values.values() for result in systems.values())
    said = f"Each interval by itself: of {told:,} intervals about "
    said += f"{told * (1 - report['settings']['confidence']):.1f} miss the truth."
    return Table(f"Accuracy by {column}", header, rows, said if told else "")
