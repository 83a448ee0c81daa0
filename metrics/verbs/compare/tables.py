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
from .ranking import Ranking

WITHOUT_INTERVALS = ("penalty", "_accuracy", "wrong", "declined", "attempted")  # ends of names; else too wide
MAX_SHORT_PAIRS = 6  # those of five systems without the first one
MAX_SLICE_TESTS = 30  # in LaTeX; of more only those that are significant
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
    """Return the scores of the systems by one metric, with their ranks where they are told and asked for."""
    scores, names = report.metrics[metric]["scores"], list(report.metrics[metric]["tests"])
    by = Ranking(report, metric)
    accuracy, ranks = by.judged, ranks and not by.untold  # the judge's verdicts rank no system
    shown = scorer_class(metric).shown if metric in SCORERS else ()
    parts = [name for name in shown if name in scores]
    if names[0] == ACCURACY:  # beside it what the judge says, without an interval, which would ignore its errors
        parts = [name for name in (f"{metric}_{ACCURACY}",) if name in scores] + parts
    header = ["system", *(["ranks", "cluster"] if ranks else []), *names, *parts]
    # The bootstrap interval of the judge's verdicts ignores its errors: it is in the JSON only.
    plain = {name for name in parts if name.endswith(WITHOUT_INTERVALS)} | set(names[:1] if by.untold else ())

    def cell(name: str, system: str) -> str:
        if name == ACCURACY and accuracy:
            return accuracy_cell(accuracy["systems"][system])
        value = scores[name][system]
        return number(value["value"]) if name in plain else estimate(value)

    rows = []
    for system in by.order:
        best, worst, cluster = (by.places[system][name] for name in ("best_rank", "worst_rank", "cluster"))
        place = [f"{best}" if best == worst else f"{best}-{worst}", str(cluster)] if ranks else []
        place = ["-"] * len(place) if cluster is None else place
        rows.append([system, *place, *(cell(name, system) for name in (*names, *parts))])
    said = "In brackets: 95% interval."
    if accuracy:
        rests_on = "cannot be told" if by.untold else f"has a 95% interval and comes from: {accuracy['method']}"
        rests_on += f"; it {accuracy['assumes']}" * bool(accuracy["assumes"])
        measured = accuracy["measured"]
        more = f" {measured[0].upper()}{measured[1:]}." if measured else ""
        said = f"The accuracy {rests_on}.{more} Brackets of the others: 95% intervals."
    elif "accuracy" in report.metrics[metric]:
        said = f"In brackets: 95% interval; the errors of {metric} are ignored."
    if ranks and len(names) > 1:
        said += f" Ranks and clusters by {names[0]}."
    said += "" if by.untold else f" {BEST}"
    short = judge_names(metric, header, whose(accuracy["systems"])) if accuracy else short_names(header)
    marked = set() if by.untold else by.marked
    return Table(f"{metric}: systems", header, rows, said, marked, header.index(names[0]), short=short)


def short_table(report: Report, metric: str) -> Table:
    """Return one line a system: its score with an interval, and the difference from the best, with its p-value."""
    by = Ranking(report, metric)
    behind = {pair["second"]: pair for pair in by.pairs if pair["first"] == by.order[0]}
    if by.untold:
        of_each = [by.judged["systems"][system] for system in by.order]
        rows = [[system, accuracy_cell(of), source_cell(of)] for system, of in zip(by.order, of_each, strict=True)]
        header = ["system", "right", *["from"] * any(of["labelled"] for of in of_each)]
        return Table("", header, [row[: len(header)] for row in rows])
    rows = []
    for system in by.order:
        cell = accuracy_cell(by.accuracy["systems"][system]) if by.accuracy else estimate(by.scores[system])
        pair = behind.get(system)
        difference, test = "", ""
        if pair:
            difference = estimate(pair["difference"])
            test = report.too_few_differ(pair) or p_value(pair["p_corrected"])
        rows.append([system, cell, difference, test])
    header = ["system", "right" if by.accuracy else by.name, f"{by.order[0]} leads by", "p"]
    said = f"95% intervals; p by {_test_name(by)}, {_correction(report)}.{_labels_alone(by)}"
    return Table("", header, rows, said, by.marked)


def _test_name(by: Ranking) -> str:
    """Return by which tests systems are compared."""
    told = [of for of in by.accuracy["systems"].values() if of["low"] is not None] if by.accuracy else []
    of_judge = [of for of in told if of["basis"] not in (LABELS, TOGETHER)]
    tests = [] if len(of_judge) == len(told) else ["Welch's t-tests of the labels"]
    if told and not of_judge and all(of["labelled"] == of["rows"] for of in told):
        return "paired bootstrap tests of the labels"
    return " and ".join([*tests, *["z-tests of the estimates"] * bool(of_judge)]) or "paired bootstrap tests"


def other_pairs(report: Report, metric: str) -> list[str]:
    """Return a line for each test that `short_table` leaves out; of more than `MAX_SHORT_PAIRS` only neighbours."""
    by = Ranking(report, metric)
    tested = [] if by.untold else [pair for pair in by.pairs if pair["first"] != by.order[0]]
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
    """Return which systems the judge's verdicts do not help, as a sentence with a blank before; "" for none."""
    systems = by.accuracy["systems"] if by.accuracy and by.name == ACCURACY else {}
    alone = [name for name, of in systems.items() if of["basis"] == LABELS and of["labelled"] < of["rows"]]
    if not alone:
        return ""
    if len(alone) == len(systems):
        return " By labels alone: the judge's verdicts make no interval narrower."
    return f" {briefly(alone)} by labels alone: the judge's verdicts do not narrow the interval there."


def pairs_table(report: Report, metric: str, name: str, most: int | None = None) -> Table:
    """Return the tests of all pairs of systems by one score; if there are more than `most`, those of neighbours."""
    by = Ranking(report, metric, name)
    tests, pairs = len(by.pairs), by.pairs
    tests_of = _test_name(by)
    said = f"Two-sided {tests_of}; p {_correction(report)}. Wins, ties and losses: {_counted_rows(by)}."
    if by.judged and name != ACCURACY:
        said += " Of the verdicts as they are: tests and differences take the judge to err alike on all systems."
    if most is not None and tests > most:
        following = dict(zip(by.order, by.order[1:], strict=False))
        pairs = [pair for pair in pairs if following.get(pair["first"]) == pair["second"]]
        said += f" Neighbours in the ranking; all {tests:,} pairs are in --json, --markdown and --html."
    rows = [[f"{pair['first']} - {pair['second']}", *_test_cells(report, pair)] for pair in pairs]
    header = ["pair", f"difference of {name}", *_test_names(report)]
    marked = {place for place, pair in enumerate(pairs) if report.is_clear(pair)}
    return Table(f"{name}: pairs of systems", header, rows, said, marked)


def slice_tables(report: Report, metric: str, most: int | None = None) -> list[Table]:
    """Return the scores of systems in every slice, and the tests of pairs in every slice; none without `by`.

    Of more tests than `most` only the significant ones are shown.
    """
    if not report.slices:
        return []
    column, slices, by = report.slices["column"], report.slices["metrics"][metric], Ranking(report, metric)
    verdicts = by.name != ACCURACY and bool(by.judged)

    def cell(found: Mapping) -> str:
        if verdicts:
            return f"judged {number(found['value'], 2)}"
        if by.name == ACCURACY and found["low"] is None:
            return "cannot tell" if found["value"] is None else f"{number(found['value'], 2)} (too few)"
        return estimate(found)

    rows = [
        [slice_name, f"{result['questions']:,}", *(cell(result["scores"][system]) for system in by.order)]
        for slice_name, result in slices.items()
    ]
    said = "Shares that the judge accepts, not corrected for its errors." if verdicts else "With 95% intervals."
    if any("few" in cell for row in rows for cell in row[2:]):
        said += f" Too few: an interval needs {MIN_QUESTIONS} questions with labels."
    scores = Table(f"{by.name} by {column}", [column, "questions", *by.order], rows, said)
    tests = [(name, by.from_better(pair)) for name, result in slices.items() for pair in result["pairs"]]
    over = f"corrected ({report.settings['correction']}) over" if is_corrected(report) else "not corrected for"
    said = f"Two-sided {_test_name(by)}; {over} all {len(tests):,} tests in all slices. Bold: significant at 5%. "
    said += f"Wins, ties and losses: {_counted_rows(by)}."
    said += " Of the judge's verdicts as they are." * verdicts
    if most is not None and len(tests) > most:
        tests = [(slice_name, pair) for slice_name, pair in tests if report.is_clear(pair)]
        said += " Only significant tests; all are in --verbose, --json, --markdown and --html."
    names = [f"{slice_name}: {pair['first']} - {pair['second']}" for slice_name, pair in tests]
    rows = [[name, *_test_cells(report, pair)] for name, (_, pair) in zip(names, tests, strict=True)]
    marked = {place for place, (_, pair) in enumerate(tests) if report.is_clear(pair)}
    header = [f"{column}: pair", "difference", *_test_names(report)]
    return [scores, Table(f"{scores.title}: pairs of systems", header, rows, said, marked)]


def change_tables(report: Report, most: int | None = None) -> list[Table]:
    """Return the rows that got better, those that got worse, and those of which only the recorded score changed.

    A table shows at most `most` rows; None: all.
    """
    if not report.changes:
        return []
    old, new = report.changes["runs"]
    header = ["question", f"{old} answer", "score", f"{new} answer", "score", "references"]
    kinds = {"better": "got better", "worse": "got worse"}
    kinds["recorded"] = "with the same answer and another recorded score"
    tables = []
    for entry in report.changes["metrics"].values():
        for kind, said in kinds.items():
            if rows := entry[kind]:
                more = len(rows[most:]) if most is not None else 0
                below = f"... and {more:,} more in --json, --markdown and --html." if more else ""
                title = f"{entry['score']}: {len(rows):,} {said}"
                tables.append(Table(title, header, [_change_cells(row) for row in rows[:most]], below))
    return [table for table in tables if table.rows]


def name_of(row: Mapping[str, Any]) -> str:
    """Return the question of a row, and its id where it has one."""
    text = row["text"] if row["text"] is not None else f"row {row['row']}"
    return f"{text} ({row['id']})" if row["id"] is not None else text


def shown_answers(row: Mapping[str, Any]) -> Sequence[tuple[str, str, str]]:
    """Return score, system and answer, the best first."""
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
    """Return which rows wins, ties and losses count."""
    if not by.accuracy:
        return "all rows"
    systems = [of for of in by.accuracy["systems"].values() if of["low"] is not None]
    if all(of["basis"] in (LABELS, TOGETHER) for of in systems):
        return "rows with labels of both systems"
    by_labels = "; of systems whose labels decide the rows with a label"
    return "all rows, by the judge's verdicts" + by_labels * any(of["basis"] in (LABELS, TOGETHER) for of in systems)


def _correction(report: Report) -> str:
    tests = report.settings["tests"]
    if tests == 1:
        return "not corrected: there is one test"
    return CORRECTED[report.settings["correction"]].format(tests=f"{tests:,}")
