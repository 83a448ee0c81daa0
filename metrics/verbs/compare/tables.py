"""Tables of a comparison: systems, tests of pairs, slices, what changed between two runs; and its first screen."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from ...registry import SCORERS, scorer_class
from ...reports.charts import Intervals, accuracy_intervals
from ...reports.excerpt import print_answers
from ...reports.report import (
    MOST_NOTES,
    WIDTH,
    Report,
    briefly,
    few_notes,
    judge_names,
    lead_in_words,
    of_faults,
    say,
    short_names,
)
from ...reports.table import Table, estimate, number, p_value, print_table
from ...statistics.estimation import LABELS, TOGETHER
from ...statistics.intervals import MIN_QUESTIONS
from ...statistics.resampling import LEAST_DIFFERING
from .analysis import ACCURACY
from .ranking import Ranking, from_better, is_clear

ACCEPTED = "judged right, not accuracy"
WITHOUT_INTERVALS = ("penalty", "_accuracy", "wrong", "declined", "attempted")  # ends of names; else too wide
MAX_SHORT_PAIRS = 3
POSITIONS = {0: "main", 1: "second", 2: "third"}  # of a tested score among those of its metric
LEAST_SHOWN = 2  # rows that decide, on a screen without room for more
BEST = "Bold: the first, and systems that are not significantly worse."
CLUSTERS = (
    "Cluster: a line is drawn where every system above is significantly better than every system below. Ranks: from "
    "1 + the number of significantly better systems to the number of systems - those that are significantly worse. "
    "Significant: corrected p below 5%; the interval of the difference leaves out 0 then, and only then."
)
CHANGES = {
    "better": "got better",
    "worse": "got worse",
    "recorded": "with the same answer and another recorded score",
}


def systems_title(by: Ranking) -> str:
    """Return the title of the table of systems by one metric."""
    return "Systems" if by.judged else f"{by.metric}: systems"


def pairs_title(by: Ranking) -> str:
    """Return the title of the table of the tests by one score."""
    is_count = by.judged and by.name == scorer_class(by.metric).main
    return f"{'judged right' if is_count else by.name}: pairs of systems"


def page_title_of_systems(by: Ranking) -> str:
    """Return the title that pages give to the table of systems by one metric."""
    return "Systems" if by.judged else f"Systems by {by.metric}"


def page_title_of_pairs(by: Ranking) -> str:
    """Return the title that pages give to the table of the tests by one score."""
    judge = scorer_class(by.metric) if by.judged else None
    names = {judge.main: "answers judged right", judge.graded: "the judge's probabilities"} if judge else {}
    return f"Differences in {names.get(by.name, by.name)}"


def page_systems_table(report: Report, by: Ranking) -> Table:
    """Return the scores of the systems as pages have them: what does not fit is shown when a reader asks for it."""
    table = systems_table(report, by.metric, ranks=False)
    drawn, shown = intervals_of_systems(report, by).column, ("system", by.counted, ACCURACY)
    extra = [name for name in table.header if name not in (*shown, drawn)]
    short = dict(table.short)
    if by.judged:
        judge = scorer_class(by.metric)
        names = {judge.graded: "judge's probability", f"{by.metric}_wrong": "judged wrong"}
        names |= {f"{by.metric}_declined": "declined", f"{judge.main}_given_attempted": "judged right if attempted"}
        short |= {name: short_name for name, short_name in names.items() if name in table.header}
    texts = {"title": page_title_of_systems(by), "explanation": BEST * bool(by.marked)}
    return replace(table, **texts, extra=extra * (len(table.header) > 4), short=short)


def intervals_of_systems(report: Report, by: Ranking) -> Intervals:
    """Return what pages draw in the table of the systems: their scores, or the shares of right answers."""
    if by.accuracy:
        return accuracy_intervals(by.accuracy["systems"], "95% interval")
    if not by.only_verdicts:
        return Intervals(by.name, by.scores)
    # An interval beside it would be taken for one of the accuracy.
    caption = "share that people call right" if by.too_few_labels else ACCEPTED
    shares = {system: right / answers if answers else None for system, (right, answers) in by.right.items()}
    return Intervals(by.counted, {s: {"value": of, "low": None, "high": None} for s, of in shares.items()}, caption)


def page_pairs_table(report: Report, by: Ranking) -> Table:
    """Return `pairs_table` as pages have it, in words; what the tests are stands with what the numbers rest on."""
    table = in_words(pairs_table(report, by), [("", pair) for pair in by.pairs])
    sentences = [_too_few(report, by.pairs).strip(), "Bold: significant at 5%." * bool(table.marked)]
    explanation = " ".join(filter(None, [*sentences, f"Counted: {_counted(by)}."]))
    return replace(table, title=page_title_of_pairs(by), explanation=explanation)


def in_words(table: Table, tests: Sequence[tuple[str, Mapping]]) -> Table:
    """Return a table of tests that says who leads whom, and has wins, ties and losses in columns of their own."""
    rows = [
        [
            before + lead_in_words(pair),
            *cells[1:-1],
            *(f"{pair[count]:,}" for count in ("wins", "ties", "losses")),
        ]
        for cells, (before, pair) in zip(table.rows, tests, strict=True)
    ]
    header = ["comparison", *table.header[1:-1], "first better", "alike", "second better"]
    return replace(table, header=header, rows=rows)


def intervals_of_pairs(by: Ranking) -> Intervals:
    """Return what pages draw in the table of pairs."""
    differences = {lead_in_words(pair): pair["difference"] for pair in by.pairs}
    return Intervals(f"difference of {by.name}", differences, has_zero=True)


def systems_table(report: Report, metric: str, ranks: bool = True) -> Table:
    """Return the scores of the systems by one metric, with ranks unless only verdicts are known."""
    numbers, by = report.metrics[metric], report.ranking(metric)
    scores, tested, accuracy = numbers["scores"], list(numbers["tests"]), by.judged
    ranks = ranks and not by.only_verdicts  # the judge's verdicts rank no system
    beside = [name for name in (scorer_class(metric).shown if metric in SCORERS else ()) if name in scores]
    if tested[0] == ACCURACY:  # beside it what the judge says, without an interval, which would ignore its errors
        beside = [name for name in (scorer_class(metric).main,) if name in scores] + beside
    counted = {scorer_class(metric).main} if by.counted == "judged right" else set()  # the number before it
    shown = [name for name in [*[ACCURACY] * by.only_verdicts, *tested, *beside] if name not in counted]
    header = ["system", *[by.counted] * bool(by.judged), *["ranks", "cluster"] * ranks, *shown]
    # The bootstrap interval of the judge's verdicts ignores its errors: it is in the JSON only.
    plain = {name for name in beside if name.endswith(WITHOUT_INTERVALS)} | {*tested[: by.only_verdicts]}

    def cell(name: str, system: str) -> str:
        if name == ACCURACY and accuracy:
            return _accuracy_cell(accuracy["systems"][system])
        return number(scores[name][system]["value"]) if name in plain else estimate(scores[name][system])

    rows = []
    for system in by.order:
        best, worst, cluster = (by.ranks[system][name] for name in ("best_rank", "worst_rank", "cluster"))
        rank_cells = [f"{best}" if best == worst else f"{best}-{worst}", f"{cluster}"] if cluster else ["-", "-"]
        rows.append([system, *_counts(by, system), *rank_cells * ranks, *(cell(name, system) for name in shown)])
    sentences = ["In brackets: 95% interval."]
    if accuracy:
        estimated = f"has a 95% interval, by {accuracy['method']}{_by_labels_alone(accuracy['systems'])}"
        estimated += f"; it {accuracy['assumes']}" * bool(accuracy["assumes"])
        sentences = [f"The accuracy {'cannot be told' if by.only_verdicts else estimated}."]
        measured = (accuracy["measured"] or "").partition("; unlike")[0]  # a note says which rows are unlike
        sentences += [f"{measured[:1].upper()}{measured[1:]}."] * bool(measured)
        sentences.append("Brackets of the others: 95% intervals.")
    sentences += [f"Ranks and clusters by {tested[0]}."] * (ranks and len(tested) > 1)
    sentences += [BEST] * bool(by.marked) + [CLUSTERS] * (ranks and metric == next(iter(report.metrics)))
    short = judge_names(metric, header) if accuracy else short_names(header)
    bold = header.index(shown[0])
    return Table(systems_title(by), header, rows, " ".join(sentences), by.marked, bold, short=short)


def _by_labels_alone(systems: Mapping[str, Mapping]) -> str:
    """Return in brackets which of several systems the judge does not help, some of whose answers have labels."""
    alone = [name for name, of in systems.items() if of["basis"] == LABELS and of["labelled"] < of["rows"]]
    return f" ({briefly(alone)}: labels alone)" if 0 < len(alone) < len(systems) else ""


def short_table(report: Report, by: Ranking) -> Table:
    """Return one line a system: its score with an interval, and the difference from the best, with its p-value."""
    accuracies = by.judged["systems"] if by.judged else {}
    if by.only_verdicts:
        rows = [[system, *_counts(by, system), _accuracy_cell(accuracies[system])] for system in by.order]
        return Table("", ["system", by.counted, ACCURACY], rows)
    rows = []
    for system in by.order:
        cell = _accuracy_cell(accuracies[system]) if by.accuracy else estimate(by.scores[system])
        from_first = [pair for pair in by.pairs if (pair["first"], pair["second"]) == (by.order[0], system)]
        test = [[estimate(pair["difference"]), _p(report, pair)] for pair in from_first] or [["", ""]]
        rows.append([system, *_counts(by, system), cell, *test[0]])
    header = ["system", *[by.counted] * bool(by.judged), by.name, f"{by.order[0]} leads by", "p"]
    tests = _family_size(report, by)
    explanation = "In brackets: 95% intervals. p below 0.05: significant."
    explanation += f" p and the intervals of leads are corrected for {tests:,} tests." * (tests > 1)
    explanation = (explanation * (by.metric == next(iter(report.metrics))) + _too_few(report, by.pairs)).strip()
    return Table("", header, rows, explanation, by.marked, header.index(by.name))


def _accuracy_cell(accuracy: Mapping) -> str:
    return "cannot tell" if accuracy["accuracy"] is None else estimate(accuracy, name="accuracy")


def _counts(by: Ranking, system: str) -> list[str]:
    """Return [how many answers of a system are right]; [] for scores that judge no answer."""
    return (
        [f"{right:,} of {answers:,}" if answers else "-" for right, answers in [by.right[system]]] if by.judged else []
    )


def _by_labels(by: Ranking) -> list[bool]:
    """Return whether labels decide, for each system with an interval of its accuracy."""
    systems = by.accuracy["systems"].values() if by.accuracy else ()
    return [system["basis"] in (LABELS, TOGETHER) for system in systems if system["low"] is not None]


def _test_name(by: Ranking) -> str:
    by_labels = _by_labels(by)
    if not by_labels:
        return "paired bootstrap tests"
    if all(by_labels) and all(of["labelled"] == of["rows"] for of in by.accuracy["systems"].values()):
        tests = ["paired bootstrap tests"]
    else:
        tests = ["paired t-tests"] * any(by_labels) + ["z-tests"] * (not all(by_labels))
    return " and ".join(tests)


def _position(report: Report, by: Ranking) -> int:
    return [*report.tests[by.metric]].index(by.name)


def _family_size(report: Report, by: Ranking) -> int:
    """Return for how many tests p is corrected: those by the scores of all metrics at the same position."""
    position = _position(report, by)
    families = [[*of.values()][position]["pairs"] for of in report.tests.values() if len(of) > position]
    return sum(pair["p_uncorrected"] is not None for pairs in families for pair in pairs)


def _correction(report: Report, by: Ranking) -> str:
    """Return for how many tests p is corrected, in words."""
    tests, position = _family_size(report, by), _position(report, by)
    scores = f"by {POSITIONS.get(position, f'{position + 1}th')} scores"
    if tests > 1:
        return f"corrected for {tests:,} tests {scores} (Holm), as are intervals of differences"
    return f"not corrected: no other test {scores}"


def _p(report: Report, pair: Mapping, before: str = "") -> str:
    """Return the corrected p-value of a test with a text before it, or that too few questions differ."""
    return f"too few ({pair['differing']})" if report.too_few_differ(pair) else before + p_value(pair["p_corrected"])


def _too_few(report: Report, pairs: Iterable[Mapping]) -> str:
    """Return what "too few" in a table of these tests means; "" where it does not stand there."""
    meaning = f" Too few: {report.text or 'row'}s on which the two differ; a test needs {LEAST_DIFFERING}."
    return meaning * any(map(report.too_few_differ, pairs))


def other_pairs(report: Report, by: Ranking) -> list[str]:
    """Return a line for each significant test that `short_table` leaves out, at most `MAX_SHORT_PAIRS`."""
    tested = [pair for pair in by.pairs if pair["first"] != by.order[0] and pair["p_uncorrected"] is not None]
    tested = [] if by.only_verdicts else tested
    clear = [pair for pair in tested if is_clear(pair)]
    pairs = clear[:MAX_SHORT_PAIRS]
    lines = [
        f"{pair['first']} leads {pair['second']} by {estimate(pair['difference'])}, {_p(report, pair, 'p ')}"
        for pair in pairs
    ]
    more, none = len(tested) - len(pairs), ", none significant" * (len(clear) == len(pairs))
    return [*lines, *[f"{more:,} more pair{'s' * (more > 1)}{none}: --verbose"] * (more > 0)]


def pairs_table(report: Report, by: Ranking) -> Table:
    """Return the tests of all pairs of systems by one score."""
    header, explanation = (
        ["pair", f"difference of {by.name}"],
        f"Two-sided {_test_name(by)}; p {_correction(report, by)}.",
    )
    verdicts = " Of the verdicts as they are: tests assume that the judge errs alike on all systems."
    explanation += verdicts * bool(by.judged and not by.accuracy)
    return _tests_table(report, by, pairs_title(by), header, [("", p) for p in by.pairs], explanation)


def _tests_table(
    report: Report, by: Ranking, title: str, header: list[str], tests: Sequence[tuple[str, Mapping]], explanation: str
) -> Table:
    """Return a table of (what stands before the names of the systems, test of the pair)."""
    rows = [
        [
            f"{before}{pair['first']} - {pair['second']}",
            estimate(pair["difference"]),
            _p(report, pair),
            f"{pair['wins']:,} / {pair['ties']:,} / {pair['losses']:,}",
        ]
        for before, pair in tests
    ]
    marked = {row for row, (_, pair) in enumerate(tests) if is_clear(pair)}
    explanation += f"{_too_few(report, [pair for _, pair in tests])} Bold: significant at 5%."
    explanation += f" Wins, ties and losses: {_counted(by)}."
    return Table(title, [*header, "p", "wins / ties / losses"], rows, explanation, marked)


def _counted(by: Ranking) -> str:
    """Return which rows are counted as wins, ties and losses, and by what."""
    by_labels = _by_labels(by)
    if not by_labels:
        return "all rows"
    labelled = "; of systems whose labels decide the rows with a label" * any(by_labels)
    return "rows with labels of both systems" if all(by_labels) else f"by the judge's verdicts{labelled}"


def slice_tables(report: Report, metric: str, most: int | None = None, on_page: bool = False) -> list[Table]:
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

    rows, without_estimate = [], {}
    for slice_name, numbers in slices.items():
        cells = [cell(numbers["scores"][system]) for system in by.order]
        if {*cells} == {"cannot tell"}:
            without_estimate[slice_name] = numbers["questions"]
        else:
            rows.append([slice_name, f"{numbers['questions']:,}", *cells])
    if without_estimate:
        questions = f"{sum(without_estimate.values()):,}"
        rows.append([briefly([*without_estimate]), questions, *["cannot tell"] * len(by.order)])
    verdicts = "Shares that the judge accepts, not corrected for its errors."
    explanation = verdicts if are_verdicts else "With 95% intervals."
    if any("few" in cell for row in rows for cell in row[2:]):
        explanation += f" Too few: an interval needs {MIN_QUESTIONS} questions with labels."
    scores = Table(f"{by.name} by {column}", [column, "questions", *by.order], rows, explanation)
    tests = [
        (f"{name}: ", from_better(by.order, pair)) for name, numbers in slices.items() for pair in numbers["pairs"]
    ]
    explanation = f"Two-sided {_test_name(by)}; p corrected for all {len(tests):,} tests in all slices (Holm)."
    explanation += " Of the judge's verdicts as they are." * are_verdicts
    if most is not None and len(tests) > most:
        tests = [(name, pair) for name, pair in tests if is_clear(pair)]
        explanation += " Only significant tests; all are in --verbose, --json, --markdown and --html."
    header, title = [f"{column}: pair", "difference"], f"{scores.title}: pairs of systems"
    table = _tests_table(report, by, title, header, tests, explanation)
    if on_page:
        explanation = table.explanation.replace("Wins, ties and losses: ", "Counted: ")
        table = replace(in_words(table, tests), title=f"{scores.title}: differences", explanation=explanation)
    return [scores, table]


def change_tables(report: Report, most: int | None = None) -> list[Table]:
    """Return the rows that got better, those that got worse, and those of which only the recorded score changed.

    A table shows at most `most` rows; None: all.
    """
    if not report.changes:
        return []
    old, new = report.changes["runs"]
    header, tables = ["question", "accepted", f"{old} answer", "score", f"{new} answer", "score"], []
    for entry in report.changes["metrics"].values():
        for kind, description in CHANGES.items():
            changed = entry[kind] or []
            shown = [(row, *map(_scored, row["answers"].values())) for row in changed[:most]]
            rows = [[name_of(row), " | ".join(row["references"]), *before, *after] for row, before, after in shown]
            more = len(changed) - len(rows)
            below = f"... and {more:,} more in --json, --markdown and --html." if more else ""
            title = f"{entry['score']}: {len(changed):,} {description}"
            tables += [Table(title, header, rows, below, texts={0, 1, 2, 4})] * bool(rows)
    return tables


def name_of(row: Mapping[str, Any]) -> str:
    """Return the question of a row, and its id where it has one."""
    text = row["text"] if row["text"] is not None else f"row {row['row']}"
    return f"{text} ({row['id']})" if row["id"] is not None else text


def _scored(answer: Mapping[str, Any]) -> tuple[str, str]:
    return " | ".join(answer["predictions"]) or "(empty)", number(answer["score"])


def shown_answers(row: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return (score, system, answer) of every system as text, the best first."""
    answers = sorted(row["answers"].items(), key=lambda item: -item[1]["score"])
    return [(score, system, text) for system, answer in answers for text, score in [_scored(answer)]]


def print_metric(report: Report, metric: str, console) -> None:
    """Print one line a system, with notes, why answers were judged wrong, and slices."""
    by, numbers = report.ranking(metric), report.metrics[metric]
    notes = report.notes * (metric == next(iter(report.metrics)))
    notes = of_faults(numbers.get("faults") or {}, numbers.get("accuracy")) + notes
    console.print()
    print_table(_narrowed(short_table(report, by), by, console.width), console)
    pairs = other_pairs(report, by)
    say(console, pairs, "", WIDTH)
    sentences = few_notes(notes, MOST_NOTES)
    say(console, sentences, "dim", WIDTH)
    tables = slice_tables(report, metric, most=0)[: 1 if by.only_verdicts else None]
    if tables and (pairs or sentences):
        console.print()
    for table in tables:
        if table.rows:
            print_table(table, console)
        else:
            say(console, [f"No difference within a {report.slices['column']} is significant."])


def _narrowed(table: Table, by: Ranking, width: int) -> Table:
    """Return a table without the number of right answers where it is too wide and has the accuracy beside it."""
    if not by.accuracy or table.width <= width:
        return table
    rows = [[system, *cells] for system, _, *cells in table.rows]
    return replace(table, header=[table.header[0], *table.header[2:]], rows=rows, bold=table.bold - 1)


def print_deciding_rows(report: Report, metric: str, console, room: int | None = None) -> None:
    """Print the rows on which the systems differ most: as many as fit into `room` lines (0: none; None: all)."""
    by, rows, numbers = report.ranking(metric), report.rows[metric], report.metrics[metric]
    is_judged, closest, decisive = "accuracy" in numbers, [*numbers["deciding"]], sum(numbers["deciding"].values())
    (first, wins), (second, losses) = numbers["deciding"].items()
    source, grades = by.name, {"1.000": "right", "0.000": "wrong"} if is_judged else {}
    if is_judged:
        are_labelled = {
            report.label(row, system) is not None for row in range(1, report.row_count + 1) for system in closest
        }
        sources = {False: "the judge's verdicts", True: "people's labels"}
        source = ", else ".join(sources[has_label] for has_label in sorted(are_labelled, reverse=True))

    def by_judge(row: Mapping, system: str) -> str:
        if not is_judged or report.label(row["row"], system) is not None:
            return ""
        return f" (judge, {report.probability(row['row'], system)})"

    printed: list[str] = []
    for row in rows if room != 0 else ():
        id_ = f"{row['id']}: " * (row["id"] is not None)
        shown = shown_answers(row)
        differ = len({score for score, system, _ in shown if system in closest}) > 1
        answers = []
        for score, system, answer in [of for of in shown if of[1] in closest or not differ]:
            lines = 1 + (score == "0.000" and bool(grades))
            answers.append((grades.get(score, score) + by_judge(row, system), system, answer, lines))
        with console.capture() as captured:
            print_answers(console, id_ + (row["text"] or f"row {row['row']}"), row["references"], answers, WIDTH)
        lines = "".join([*printed, captured.get()]).count("\n")
        if room is not None and lines > room and len(printed) >= LEAST_SHOWN:
            break
        printed.append(captured.get())
    more = f" ({len(printed):,} of {decisive:,} shown; all: --rows {decisive})" * (decisive > len(printed))
    counts = f"{first} better on {wins:,}, {second} on {losses:,}{more}"
    heights = {system: by.scores[system]["value"] for system in by.estimated}
    ordered = sorted(heights.values())
    gaps, lead = [upper - lower for lower, upper in pairwise(ordered)], abs(heights[first] - heights[second])
    is_one = sum(gap <= lead + 1e-6 for gap in gaps) == 1
    are_closest = len(report.systems) == len(ordered) > 2 and not by.too_few_labels and is_one
    which = ", the two closest," * are_closest
    heading = ["", f"Where {first} and {second}{which} differ, by {source}: {counts}"]
    say(console, heading * bool(rows), "bold", WIDTH)
    console.file.write("".join(printed))
