"""Tables of what changed between two runs of one system; see `analysis.runs`."""

from collections.abc import Mapping

from ...reports.table import Table, number

_SHOWN = {"better": "got better", "worse": "got worse"}


def summary(report: Mapping) -> list[str]:
    """Return what changed in a few sentences; none if the report is not of two runs."""
    changed = report["changes"]
    if not changed:
        return []
    old, new = changed["runs"]
    found = [f"answers: {changed['answers_changed']:,} of {report['questions']:,} differ between {old} and {new}."]
    for metric, entry in changed["metrics"].items():
        score = entry["score"]
        scores = report["metrics"][metric]["scores"][score]
        pair = report["metrics"][metric]["tests"][score]["pairs"][0]
        clear = "" if pair["p_corrected"] < report["settings"]["level"] else "not "
        found.append(
            f"{score}: {len(entry['better']):,} got better, {len(entry['worse']):,} got worse, {entry['same']:,} are "
            f"the same; {number(scores[old]['value'])} -> {number(scores[new]['value'])}, {clear}significant."
        )
    return found + [line for metric in changed["metrics"] for line in _judge(changed, metric)]


def _judge(changed: Mapping, metric: str) -> list[str]:
    """Return what is known of the judge of each run, by signatures and recorded scores."""
    old, new = changed["runs"]
    judge, recorded = changed["judge"].get(metric), changed["metrics"][metric]["recorded"]
    found = []
    if judge and judge["differs"]:
        parts = ", ".join(f"{name} {part}" for name, part in judge["differs"].items())
        found.append(f"{metric}: the scores in the files of {old} and {new} were made differently: {parts}.")
    elif judge and judge["differs"] == {}:
        found.append(f"{metric}: the scores in the files of {old} and {new} have the same signature.")
    if recorded:
        found.append(
            f"{metric}: {len(recorded):,} recorded scores changed though the answer did not: the judge changed "
            "between the runs. The other numbers here are all by one judge."
        )
    return found


def change_tables(report: Mapping, most: int | None = None) -> list[Table]:
    """Return the rows that got better, those that got worse, and those of which only the recorded score changed.

    Args:
        report: see `analysis.compare.CompareRun.report`.
        most: rows of a table at most; None for all.
    """
    if not report["changes"]:
        return []
    old, new = report["changes"]["runs"]
    header = ["question", f"{old} answer", "score", f"{new} answer", "score", "references"]
    tables = []
    for entry in report["changes"]["metrics"].values():
        for kind, said in _SHOWN.items():
            rows = entry[kind]
            tables.append(_table(f"{entry['score']}: {len(rows):,} {said}", header, rows, most))
        if entry["recorded"]:
            title = f"{entry['score']}: {len(entry['recorded']):,} with the same answer and another recorded score"
            tables.append(_table(title, header, entry["recorded"], most))
    return [table for table in tables if table.rows]


def _table(title: str, header: list[str], rows: list[Mapping], most: int | None) -> Table:
    shown = [
        [
            (row["text"] or f"row {row['row']}") + (f" ({row['id']})" if row["id"] is not None else ""),
            *(
                cell
                for run in ("old", "new")
                for cell in (" | ".join(row[run]["predictions"]) or "(empty)", number(row[run]["score"]))
            ),
            "; ".join(row["references"]),
        ]
        for row in rows[:most]
    ]
    more = len(rows) - len(shown)
    return Table(title, header, shown, f"... and {more:,} more in --json, --markdown and --html." if more else "")
