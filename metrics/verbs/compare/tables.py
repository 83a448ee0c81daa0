"""Tables of a comparison: systems, tests of pairs, slices, and what changed between two runs."""

from collections.abc import Iterable, Mapping, Sequence

from ...registry import SCORERS, scorer_class
from ...reports.report import judge_names, short_names
from ...reports.table import Table, accuracy_cell, estimate, number, p_value, source_cell
from ...statistics.estimation import NOTHING
from ...statistics.intervals import MIN_QUESTIONS
from ..judge_errors import METHODS, whose
from .comparison import ACCURACY, Comparison, Pair, Rank, turned

WITHOUT_INTERVALS = ("penalty", "_accuracy", "wrong", "declined", "attempted")  # ends of names; else too wide
MAX_SLICE_TESTS = 30  # in LaTeX; of more only those that are significant
CORRECTED = {
    "holm": "corrected by Holm's method for the {tests}, and so are the intervals",
    "bonferroni": "corrected by Bonferroni's method for the {tests}, and so are the intervals",
    "fdr": "corrected for the {tests} so that 5% of the findings may be false (Benjamini and Hochberg)",
    "none": "not corrected for the {tests}",
}
BEST = "Bold: the best, and systems that are not significantly worse."
CLUSTERS = (
    "Cluster: a line is drawn where every system above is significantly better than every system below. Ranks: from "
    "1 + the number of significantly better systems to the number of systems - those that are significantly worse. "
    "Significant: corrected p below 5%; the interval of the difference leaves out 0 then, and only then."
)
_TESTS = ("p", "corrected", "wins / ties / losses")


def systems_table(numbers: Comparison, metric: str) -> Table:
    """Return the scores and ranks of the systems by one metric."""
    scores, names, accuracy = (
        numbers.metrics[metric]["scores"],
        numbers.tested(metric),
        numbers.accuracy(metric, everywhere=False),
    )
    ranking, best = numbers.metrics[metric]["tests"][names[0]]["systems"], numbers.best_systems(metric, names[0])
    shown = scorer_class(metric).shown if metric in SCORERS else ()
    parts = [name for name in shown if name in scores]
    if names[0] == ACCURACY:  # beside it what the judge says, without an interval, which would ignore its errors
        parts = [name for name in (f"{metric}_{ACCURACY}",) if name in scores] + parts
    order, untold = numbers.ordered(metric), numbers.untold(metric, names[0])
    rows = []
    for system in order:
        cells = [estimate(scores[name][system]) for name in names]
        if names[0] == ACCURACY:
            cells[0] = accuracy_cell(accuracy["systems"][system])
        elif accuracy:  # the bootstrap interval ignores the judge's errors: it is in the JSON only
            cells[:1] = [accuracy_cell(accuracy["systems"][system]), number(scores[names[0]][system]["value"])]
        cells += [
            number(scores[name][system]["value"])
            if name.endswith(WITHOUT_INTERVALS)
            else estimate(scores[name][system])
            for name in parts
        ]
        place = [] if untold else [_ranks(ranking[system]), str(ranking[system]["cluster"])]
        rows.append([system, *place, *cells])
    extra = [ACCURACY] if accuracy and names[0] != ACCURACY else []
    places = [] if untold else ["ranks", "cluster"]
    header = ["system", *places, *extra, *names, *parts]
    said = "In brackets: 95% interval."
    if accuracy:
        told = accuracy["method"] != METHODS[NOTHING]
        rests_on = f"has a 95% interval and comes from: {accuracy['method']}" if told else "cannot be told"
        measured = accuracy["measured"]
        more = f" {measured[0].upper()}{measured[1:]}." if measured else ""
        said = f"The accuracy {rests_on}.{more} Brackets of the others: 95% intervals."
    elif "accuracy" in numbers.metrics[metric]:
        said = f"In brackets: 95% interval; the errors of {metric} are ignored."
    if not untold:  # the judge's verdicts rank no system
        said += f" Ranks and clusters by {names[0]}." * (len(names) > 1) + f" {BEST}"
    marked, bold = set() if untold else _places(order, best), header.index(names[0])
    short = short_names(header)
    if accuracy:
        short = judge_names(metric, header, whose(accuracy["systems"]))
    return Table(f"{metric}: systems", header, rows, said, marked, bold, short=short)


def short_table(numbers: Comparison, metric: str, name: str) -> Table:
    """Return one line a system: its score with an interval, and the difference from the best, with its p-value.

    Args:
        numbers: the comparison.
        metric: its name.
        name: one of its tested scores.
    """
    scores, accuracy = numbers.metrics[metric]["scores"][name], numbers.accuracy(metric)
    order = numbers.ordered(metric, name)
    behind = {pair["second"]: pair for pair in numbers.ranked_pairs(metric, name) if pair["first"] == order[0]}
    if numbers.untold(metric, name):
        of_each = numbers.accuracy(metric, everywhere=False)["systems"]
        rows = [[system, accuracy_cell(of_each[system]), source_cell(of_each[system])] for system in order]
        labelled = any(values["labelled"] for values in of_each.values())
        header = ["system", "right", *["from"] * labelled]
        rows = [row[: len(header)] for row in rows]
        return Table("", header, rows, "Tests of the judge's verdicts: --verbose.")
    rows = []
    for system in order:
        cell = accuracy_cell(accuracy["systems"][system]) if accuracy else estimate(scores[system])
        pair = behind.get(system)
        difference = [estimate(pair["difference"]), p_value(pair["p_corrected"])] if pair else ["", ""]
        rows.append([system, cell, *difference])
    header = ["system", "right" if accuracy else name, f"{order[0]} leads by", "p"]
    of_verdicts = f"; the difference is of {name}" if accuracy and name != ACCURACY else ""
    said = f"95% intervals; p is {_correction(numbers)}{of_verdicts}."
    return Table("", header, rows, said, _places(order, numbers.best_systems(metric, name)))


def pairs_table(numbers: Comparison, metric: str, name: str, most: int | None = None) -> Table:
    """Return the tests of all pairs of systems by one score.

    Args:
        numbers: the comparison.
        metric: its name.
        name: one of its tested scores.
        most: if there are more pairs, only those of neighbours in the ranking.
    """
    tests = len(numbers.metrics[metric]["tests"][name]["pairs"])
    few = most is not None and tests > most
    pairs = numbers.ranked_pairs(metric, name, neighbours=few)
    said = f"Two-sided paired tests; p is {_correction(numbers)}. Wins, ties and losses: rows."
    if numbers.accuracy(metric, everywhere=False) and name != ACCURACY:
        said += " Of the verdicts as they are: tests and differences take the judge to err alike on all systems."
    if few:
        said += f" Neighbours in the ranking; all {tests:,} pairs are in --json, --markdown and --html."
    rows = [[f"{pair['first']} - {pair['second']}", *_test_cells(pair)] for pair in pairs]
    header = ["pair", f"difference of {name}", *_TESTS]
    marked = {place for place, pair in enumerate(pairs) if numbers.is_clear(pair)}
    return Table(f"{name}: pairs of systems", header, rows, said, marked)


def slice_tables(numbers: Comparison, metric: str, most: int | None = None) -> list[Table]:
    """Return the scores of systems in every slice, and the tests of pairs in every slice; none without `by`.

    Args:
        numbers: the comparison.
        metric: its name.
        most: if there are more tests, only the significant ones are shown.
    """
    if not numbers.slices:
        return []
    column, slices = numbers.slices["column"], numbers.slices["metrics"][metric]
    name, order = numbers.tested(metric)[0], numbers.ordered(metric)
    verdicts = name != ACCURACY and bool(numbers.accuracy(metric, everywhere=False))

    def cell(found: Mapping) -> str:
        if verdicts:
            return f"judged {number(found['value'], 2)}"
        if name == ACCURACY and found["low"] is None:
            return "cannot tell" if found["value"] is None else f"{number(found['value'], 2)} (too few)"
        return estimate(found)

    rows = [
        [slice_name, f"{result['questions']:,}", *(cell(result["scores"][system]) for system in order)]
        for slice_name, result in slices.items()
    ]
    said = "Shares that the judge accepts, not corrected for its errors." if verdicts else "With 95% intervals."
    said += f" Too few: an interval needs {MIN_QUESTIONS} questions with labels." * any(
        "few" in cell for row in rows for cell in row[2:]
    )
    scores = Table(f"{name} by {column}", [column, "questions", *order], rows, said)
    tests = [
        (slice_name, turned(pair) if order.index(pair["first"]) > order.index(pair["second"]) else pair)
        for slice_name, result in slices.items()
        for pair in result["pairs"]
    ]
    said = (
        f"Two-sided paired tests; corrected ({numbers.settings['correction']}) over all {len(tests):,} tests in all "
        "slices. Bold: significant at 5%."
    )
    said += " Of the judge's verdicts as they are." * verdicts
    if most is not None and len(tests) > most:
        tests = [(slice_name, pair) for slice_name, pair in tests if numbers.is_clear(pair)]
        said += " Only significant tests; all are in --verbose, --json, --markdown and --html."
    rows = [[f"{slice_name}: {pair['first']} - {pair['second']}", *_test_cells(pair)] for slice_name, pair in tests]
    marked = {place for place, (_, pair) in enumerate(tests) if numbers.is_clear(pair)}
    header = [f"{column}: pair", "difference", *_TESTS]
    return [scores, Table(f"{scores.title}: pairs of systems", header, rows, said, marked)]


def change_tables(numbers: Comparison, most: int | None = None) -> list[Table]:
    """Return the rows that got better, those that got worse, and those of which only the recorded score changed.

    Args:
        numbers: the comparison.
        most: rows of a table at most; None for all.
    """
    if not numbers.changes:
        return []
    old, new = numbers.changes["runs"]
    header = ["question", f"{old} answer", "score", f"{new} answer", "score", "references"]
    kinds = {
        "better": "got better",
        "worse": "got worse",
        "recorded": "with the same answer and another recorded score",
    }
    tables = []
    for entry in numbers.changes["metrics"].values():
        for kind, said in kinds.items():
            if rows := entry[kind]:
                more = len(rows[most:]) if most is not None else 0
                tables.append(
                    Table(
                        f"{entry['score']}: {len(rows):,} {said}",
                        header,
                        [_change_cells(row) for row in rows[:most]],
                        f"... and {more:,} more in --json, --markdown and --html." if more else "",
                    )
                )
    return [table for table in tables if table.rows]


def _change_cells(row: Mapping) -> list[str]:
    cells = [(row["text"] or f"row {row['row']}") + (f" ({row['id']})" if row["id"] is not None else "")]
    for run in ("old", "new"):
        cells += [" | ".join(row[run]["predictions"]) or "(empty)", number(row[run]["score"])]
    return [*cells, "; ".join(row["references"])]


def _test_cells(pair: Pair) -> list[str]:
    outcomes = f"{pair['wins']:,} / {pair['ties']:,} / {pair['losses']:,}"
    return [estimate(pair["difference"]), p_value(pair["p"]), p_value(pair["p_corrected"]), outcomes]


def _ranks(rank: Rank) -> str:
    best, worst = rank["best_rank"], rank["worst_rank"]
    return f"{best}" if best == worst else f"{best}-{worst}"


def _places(order: Sequence[str], best: Iterable[str]) -> set[int]:
    return {order.index(system) for system in best}


def _correction(numbers: Comparison) -> str:
    tests = numbers.settings["tests"]
    if tests == 1:
        return "not corrected: there is one test"
    return CORRECTED[numbers.settings["correction"]].format(tests=f"{tests:,} tests, of all pairs and metrics")
