"""Tables of a comparison: systems, tests of pairs, slices, and what changed between two runs."""

from collections.abc import Mapping, Sequence
from typing import Any

from ...registry import SCORERS, scorer_class
from ...reports.report import Report, briefly, judge_names, short_names
from ...reports.table import Table, accuracy_cell, estimate, number, p_value, source_cell
from ...statistics.estimation import LABELS, TOGETHER
from ...statistics.intervals import MIN_QUESTIONS
from ..judge_errors import whose
from .analysis import ACCURACY
from .ranking import Ranking, from_better, is_clear

WITHOUT_INTERVALS = ("penalty", "_accuracy", "wrong", "declined", "attempted")  # ends of names; else too wide
MAX_SHORT_PAIRS = 6  # those of five systems without the first one
CORRECTED = {
    "holm": "corrected for the {tests} tests (Holm), as are the intervals of differences",
    "bonferroni": "corrected for the {tests} tests (Bonferroni), as are the intervals of differences",
    "fdr": "corrected for the {tests} tests so that 5% of the findings may be false (Benjamini and Hochberg)",
    "none": "not corrected for the {tests} tests",
}
BEST = "Bold: the best, and systems that are not significantly worse."
CLUSTERS = (
    "Cluster: a line is drawn where every system above is significantly better than every system below. Ranks: from "
    "1 + the number of significantly better systems to the number of systems - those that are significantly worse. "
    "Significant: corrected p below 5%; the interval of the difference leaves out 0 then, and only then."
)


def systems_table(report: Report, metric: str, ranks: bool = True) -> Table:
    """Return the scores of the systems by one metric, with ranks unless only verdicts are known."""
    scores, tested = report.metrics[metric]["scores"], list(report.metrics[metric]["tests"])
    by = report.ranking(metric)
    accuracy, ranks = by.judged, ranks and not by.only_verdicts  # the judge's verdicts rank no system
    shown = scorer_class(metric).shown if metric in SCORERS else ()
    beside = [name for name in shown if name in scores]
    if tested[0] == ACCURACY:  # beside it what the judge says, without an interval, which would ignore its errors
        beside = [name for name in (scorer_class(metric).main,) if name in scores] + beside
    header = ["system", *(["ranks", "cluster"] if ranks else []), *tested, *beside]
    # The bootstrap interval of the judge's verdicts ignores its errors: it is in the JSON only.
    plain = {name for name in beside if name.endswith(WITHOUT_INTERVALS)}
    plain |= set(tested[:1] if by.only_verdicts else ())

    def cell(name: str, system: str) -> str:
        if name == ACCURACY and accuracy:
            return accuracy_cell(accuracy["systems"][system])
        score = scores[name][system]
        return number(score["value"]) if name in plain else estimate(score)

    rows = []
    for system in by.order:
        best, worst, cluster = (by.ranks[system][name] for name in ("best_rank", "worst_rank", "cluster"))
        rank = "-" if cluster is None else f"{best}" if best == worst else f"{best}-{worst}"
        rank_cells = [rank, "-" if cluster is None else str(cluster)] if ranks else []
        rows.append([system, *rank_cells, *(cell(name, system) for name in (*tested, *beside))])
    explanation = "In brackets: 95% interval."
    if accuracy:
        estimated = f"has a 95% interval and comes from: {accuracy['method']}"
        estimated += f"; it {accuracy['assumes']}" * bool(accuracy["assumes"])
        measured = accuracy["measured"]
        more = f" {measured[0].upper()}{measured[1:]}." if measured else ""
        explanation = f"The accuracy {'cannot be told' if by.only_verdicts else estimated}.{more}"
        explanation += " Brackets of the others: 95% intervals."
    elif "accuracy" in report.metrics[metric]:
        explanation = f"In brackets: 95% interval; the errors of {metric} are ignored."
    if ranks and len(tested) > 1:
        explanation += f" Ranks and clusters by {tested[0]}."
    explanation += "" if by.only_verdicts else f" {BEST}"
    explanation += f" {CLUSTERS}" if ranks and metric == next(iter(report.metrics)) else ""
    short = judge_names(metric, header, whose(accuracy["systems"])) if accuracy else short_names(header)
    marked = set() if by.only_verdicts else by.marked
    return Table(f"{metric}: systems", header, rows, explanation, marked, header.index(tested[0]), short=short)


def short_table(report: Report, by: Ranking) -> Table:
    """Return one line a system: its score with an interval, and the difference from the best, with its p-value."""
    if by.only_verdicts:
        accuracies = [by.judged["systems"][system] for system in by.order]
        header = ["system", "right", *["from"] * any(of["labelled"] for of in accuracies)]
        rows = [[system, accuracy_cell(of), source_cell(of)] for system, of in zip(by.order, accuracies, strict=True)]
        return Table("", header, [row[: len(header)] for row in rows])
    from_first = {pair["second"]: pair for pair in by.pairs if pair["first"] == by.order[0]}
    rows = []
    for system in by.order:
        cell = accuracy_cell(by.accuracy["systems"][system]) if by.accuracy else estimate(by.scores[system])
        difference, test = "", ""
        if pair := from_first.get(system):
            difference = estimate(pair["difference"])
            test = report.too_few_differ(pair) or p_value(pair["p_corrected"])
        rows.append([system, cell, difference, test])
    header = ["system", "right" if by.accuracy else by.name, f"{by.order[0]} leads by", "p"]
    explanation = f"95% intervals; p by {_test_name(by)}, {_correction(report)}.{_labels_alone(by)}"
    return Table("", header, rows, explanation, by.marked)


def matrix_table(report: Report, by: Ranking) -> Table:
    """Return the differences of all pairs as a square, a row and a column for each system."""
    cells = {}
    for pair in by.pairs:
        difference, star = pair["difference"]["value"], "*" * is_clear(pair)
        for ends, sign in (((pair["first"], pair["second"]), 1), ((pair["second"], pair["first"]), -1)):
            plus = "+" if difference is not None and round(sign * difference, 3) > 0 else ""
            shown = "-" if difference is None else f"{plus}{number(sign * difference)}{star}"
            cells[ends] = shown
    rows = [[system, *(cells.get((system, other), "") for other in by.order)] for system in by.order]
    explanation = f"{by.name} of the row's system minus that of the column's. *: significant at 5%, "
    explanation += f"{_correction(report)}."
    untested = [f"{pair['first']} and {pair['second']}" for pair in by.pairs if report.too_few_differ(pair)]
    explanation += f" Too few rows differ to test {briefly(untested)}." if untested else ""
    return Table(f"{by.name}: differences of all pairs", ["system", *by.order], rows, explanation)


def _by_labels(accuracy: Mapping[str, Any] | None) -> list[bool]:
    """Return whether labels decide, for each system with an interval."""
    systems = accuracy["systems"].values() if accuracy else ()
    return [system["basis"] in (LABELS, TOGETHER) for system in systems if system["low"] is not None]


def _test_name(by: Ranking) -> str:
    """Return the name of the tests."""
    by_labels = _by_labels(by.accuracy)
    if by_labels and all(by_labels) and all(of["labelled"] == of["rows"] for of in by.accuracy["systems"].values()):
        return "paired bootstrap tests of the labels"
    tests = ["Welch's t-tests of the labels"] * any(by_labels) + ["z-tests of the estimates"] * (not all(by_labels))
    return " and ".join(tests) or "paired bootstrap tests"


def other_pairs(report: Report, by: Ranking) -> list[str]:
    """Return a line for each test that `short_table` leaves out; of more than `MAX_SHORT_PAIRS` only neighbours."""
    tested = [] if by.only_verdicts else [pair for pair in by.pairs if pair["first"] != by.order[0]]
    pairs = tested
    if len(tested) > MAX_SHORT_PAIRS:
        following = dict(zip(by.order, by.order[1:], strict=False))
        pairs = [pair for pair in tested if following.get(pair["first"]) == pair["second"]][:MAX_SHORT_PAIRS]
    lines = [
        f"{pair['first']} leads {pair['second']} by {estimate(pair['difference'])}, "
        f"{report.too_few_differ(pair) or 'p ' + p_value(pair['p_corrected'])}"
        for pair in pairs
    ]
    more = len(tested) - len(pairs)
    return [*lines, *[f"{more:,} more pairs: --verbose"] * (more > 0), *[""] * bool(lines)]


def _labels_alone(by: Ranking) -> str:
    """Return a sentence on systems whose interval the judge does not narrow, with a blank before; "" for none."""
    systems = by.accuracy["systems"] if by.accuracy else {}
    alone = [name for name, of in systems.items() if of["basis"] == LABELS and of["labelled"] < of["rows"]]
    if alone and len(alone) == len(systems):
        return " By labels alone: the judge's verdicts make no interval narrower."
    verdicts = "by labels alone: the judge's verdicts do not narrow the interval there."
    return f" {briefly(alone)} {verdicts}" if alone else ""


def pairs_table(report: Report, by: Ranking) -> Table:
    """Return the tests of all pairs of systems by one score."""
    explanation = f"Two-sided {_test_name(by)}; p {_correction(report)}. Wins, ties and losses: {_counted_rows(by)}."
    if by.judged and not by.accuracy:
        explanation += " Of the verdicts as they are: tests assume that the judge errs alike on all systems."
    rows = [[f"{pair['first']} - {pair['second']}", *_test_cells(report, pair)] for pair in by.pairs]
    header = ["pair", f"difference of {by.name}", *_test_names(report)]
    marked = {row for row, pair in enumerate(by.pairs) if is_clear(pair)}
    return Table(f"{by.name}: pairs of systems", header, rows, explanation, marked)


def slice_tables(report: Report, metric: str, most: int | None = None) -> list[Table]:
    """Return the scores of systems in every slice, and the tests of pairs in every slice; none without `by`.

    Slices without an estimate of any system are one line. Of more tests than `most` only significant ones are shown.
    """
    if not report.slices:
        return []
    column, slices, by = report.slices["column"], report.slices["metrics"][metric], report.ranking(metric)
    are_verdicts = bool(by.judged) and not by.accuracy

    def cell(score: Mapping) -> str:
        if are_verdicts:
            return f"judged {number(score['value'], 2)}"
        if by.accuracy and score["low"] is None:
            return "cannot tell" if score["value"] is None else f"{number(score['value'], 2)} (too few)"
        return estimate(score)

    rows, without_estimate = [], []
    for slice_name, numbers in slices.items():
        cells = [cell(numbers["scores"][system]) for system in by.order]
        if {*cells} == {"cannot tell"}:
            without_estimate.append(slice_name)
        else:
            rows.append([slice_name, f"{numbers['questions']:,}", *cells])
    if without_estimate:
        questions = sum(slices[slice_name]["questions"] for slice_name in without_estimate)
        rows.append([briefly(without_estimate), f"{questions:,}", *["cannot tell"] * len(by.order)])
    explanation = "With 95% intervals."
    if are_verdicts:
        explanation = "Shares that the judge accepts, not corrected for its errors."
    if any("few" in cell for row in rows for cell in row[2:]):
        explanation += f" Too few: an interval needs {MIN_QUESTIONS} questions with labels."
    scores = Table(f"{by.name} by {column}", [column, "questions", *by.order], rows, explanation)
    tests = [(name, from_better(by.order, pair)) for name, numbers in slices.items() for pair in numbers["pairs"]]
    over = f"corrected ({report.settings['correction']}) over" if is_corrected(report) else "not corrected for"
    explanation = f"Two-sided {_test_name(by)}; {over} all {len(tests):,} tests in all slices. Bold: significant at "
    explanation += f"5%. Wins, ties and losses: {_counted_rows(by)}."
    explanation += " Of the judge's verdicts as they are." * are_verdicts
    if most is not None and len(tests) > most:
        tests = [(slice_name, pair) for slice_name, pair in tests if is_clear(pair)]
        explanation += " Only significant tests; all are in --verbose, --json, --markdown and --html."
    rows = [
        [f"{slice_name}: {pair['first']} - {pair['second']}", *_test_cells(report, pair)] for slice_name, pair in tests
    ]
    marked = {row for row, (_, pair) in enumerate(tests) if is_clear(pair)}
    header = [f"{column}: pair", "difference", *_test_names(report)]
    return [scores, Table(f"{scores.title}: pairs of systems", header, rows, explanation, marked)]


def change_tables(report: Report, most: int | None = None) -> list[Table]:
    """Return the rows that got better, those that got worse, and those of which only the recorded score changed.

    A table shows at most `most` rows; None: all.
    """
    if not report.changes:
        return []
    old, new = report.changes["runs"]
    header = ["question", f"{old} answer", "score", f"{new} answer", "score", "references"]
    kinds = {
        "better": "got better",
        "worse": "got worse",
        "recorded": "with the same answer and another recorded score",
    }
    tables = []
    for entry in report.changes["metrics"].values():
        for kind, description in kinds.items():
            rows = entry[kind] or []
            more = len(rows[most:]) if most is not None else 0
            below = f"... and {more:,} more in --json, --markdown and --html." if more else ""
            title = f"{entry['score']}: {len(rows):,} {description}"
            tables.append(Table(title, header, [_change_cells(row) for row in rows[:most]], below, texts={0, 1, 3, 5}))
    return [table for table in tables if table.rows]


def name_of(row: Mapping[str, Any]) -> str:
    """Return the question of a row, and its id where it has one."""
    text = row["text"] if row["text"] is not None else f"row {row['row']}"
    return f"{text} ({row['id']})" if row["id"] is not None else text


def shown_answers(row: Mapping[str, Any]) -> Sequence[tuple[str, str, str]]:
    """Return (score, system, answer) of every system as text, the best first."""
    answers = sorted(row["answers"].items(), key=lambda item: -item[1]["score"])
    return [(number(of["score"]), system, " | ".join(of["predictions"]) or "(empty)") for system, of in answers]


def _change_cells(row: Mapping) -> list[str]:
    cells = [name_of(row)]
    for run in ("old", "new"):
        cells += [" | ".join(row[run]["predictions"]) or "(empty)", number(row[run]["score"])]
    return [*cells, "; ".join(row["references"])]


def is_corrected(report: Report) -> bool:
    """Return whether p-values are corrected for the number of tests."""
    return report.settings["correction"] != "none" and (report.settings["tests"] > 1 or bool(report.slices))


def _test_names(report: Report) -> list[str]:
    return ["p", *["corrected"] * is_corrected(report), "wins / ties / losses"]


def _test_cells(report: Report, pair: Mapping) -> list[str]:
    outcomes = f"{pair['wins']:,} / {pair['ties']:,} / {pair['losses']:,}"
    few = report.too_few_differ(pair)
    corrected = ["-" if few else p_value(pair["p_corrected"])] * is_corrected(report)
    return [estimate(pair["difference"]), few or p_value(pair["p"]), *corrected, outcomes]


def _counted_rows(by: Ranking) -> str:
    """Return a phrase on the rows in which wins, ties and losses are counted."""
    by_labels = _by_labels(by.accuracy)
    if not by.accuracy:
        return "all rows"
    if all(by_labels):
        return "rows with labels of both systems"
    labelled = "; of systems whose labels decide the rows with a label" * any(by_labels)
    return f"all rows, by the judge's verdicts{labelled}"


def _correction(report: Report) -> str:
    tests = report.settings["tests"]
    if tests == 1:
        return "not corrected: there is one test"
    return CORRECTED[report.settings["correction"]].format(tests=f"{tests:,}")
