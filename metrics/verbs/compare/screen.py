"""A comparison in the terminal."""

from collections.abc import Sequence
from textwrap import wrap

from ...reports.excerpt import LEAST_ROOM, LONGEST_WORD, nearest_part
from ...reports.report import WIDTH, Report, of_faults, say
from ...reports.table import listed, print_table, visible
from .analysis import ACCURACY
from .ranking import Ranking
from .rows import SystemRow
from .tables import change_tables, other_pairs, short_table, shown_answers, slice_tables

MAX_NOTES = 5  # on the first screen


def print_short(report: Report, answers: Sequence[Sequence[SystemRow]], console) -> None:
    """Print one line a system, and the rows that decide; `answers` are those of all systems to each question."""
    from rich.text import Text

    for metric, numbers in report.metrics.items():
        by = report.ranking(metric)
        console.print()
        print_table(short_table(report, by), console)
        say(console, other_pairs(report, by))
        notes = report.notes if metric == next(iter(report.metrics)) else []
        if notes:
            report.show_notes(console, MAX_NOTES)
        if faults := numbers.get("faults"):
            say(console, [f"   {sentence}." for sentence in of_faults(faults)], "dim", WIDTH)
        if faults or notes:
            console.print()
        for table in slice_tables(report, metric, most=0)[: 1 if by.only_verdicts else None]:
            if table.rows:
                print_table(table, console)
            else:
                say(console, [f"No difference within a {report.slices['column']} is significant.", ""])
        if not report.changes:  # they have the rows
            print_deciding_rows(report, metric, answers, console)
    for table in change_tables(report, report.settings["rows"]):
        print_table(table, console)
    console.print()
    console.print(Text("All tests, what they rest on, and signatures: --verbose", style="dim"))


def print_deciding_rows(report: Report, metric: str, answers: Sequence[Sequence[SystemRow]], console) -> None:
    """Print the rows on which the systems differ most."""
    from rich.text import Text

    by, rows, numbers = report.ranking(metric), report.rows[metric], report.metrics[metric]
    labelled = {
        (row["row"], system): by.name == ACCURACY and answer.item.human[1] is not None
        for row in rows
        for system, answer in zip(report.systems, answers[row["row"] - 1], strict=True)
    }
    is_mixed, source = len(set(labelled.values())) > 1, ""
    if "accuracy" in numbers:
        by_labels = ", by people's labels" + ", else by the judge, which may be wrong" * is_mixed
        source = by_labels if any(labelled.values()) else ", as the judge sees them, which may be wrong"
    say(console, [f"Rows that decide{_between(report, by, len(rows))}{source}"] * bool(rows), "bold")
    judged = "judged " * (not any(labelled.values()))
    grades = {"1.000": f"{judged}right", "0.000": f"{judged}wrong"} if "accuracy" in numbers else {}
    width = min(console.width, WIDTH)
    for row in rows:
        accepted, id_ = " | ".join(row["references"]), f"{row['id']}  " * (row["id"] is not None)
        name = id_ + nearest_part(row["text"] or f"row {row['row']}", width * 3 // 5)
        accepted_part = nearest_part(accepted, max(width - len(f"{name}  []"), 12))
        console.print(Text.assemble(name, (f"  [{accepted_part}]", "dim")), no_wrap=True, overflow="crop")
        shown = shown_answers(row)
        longest = max(len(visible(system)) for _, system, _ in shown)
        differ = len({score for score, system, _ in shown if system in by.to_read}) > 1
        for score, system, answer in [of for of in shown if of[1] in by.to_read or not differ]:
            by_judge = " (judge)" * (is_mixed and not labelled[row["row"], system])
            start = f"  {grades.get(score, score) + by_judge:<{len('right (judge)') if is_mixed else 0}}  "
            named = (f"{visible(system):<{longest}}  ", "bold")
            room, lines = max(width - len(start) - len(named[0]), LEAST_ROOM), 1 + (score == "0.000" and bool(grades))
            text = nearest_part(answer, lines * room - LONGEST_WORD * (lines > 1), accepted)
            first, *more = wrap(text, room, max_lines=lines, placeholder="...") or [""]
            for line in (Text.assemble(start, named, first), *(f"{'':{width - room}}{rest}" for rest in more)):
                console.print(line, no_wrap=True, overflow="crop")


def _between(report: Report, by: Ranking, shown: int) -> str:
    """Return " between A and B: A is better in 3, B in 2 (5 of 9 shown)" for the heading of the deciding rows."""
    better, systems = report.metrics[by.metric]["deciding"], ""
    deciding = sum(better.values())
    if len(by.order) > 2:
        (first, most), (second, fewer) = better.items()
        systems = f" between {listed(by.to_read)}: {first} is better in {most:,}, {second} in {fewer:,}"
    return systems + f" ({shown:,} of {deciding:,} shown)" * (deciding > shown)
