"""A comparison of systems: what `genqa-metrics compare` prints and `genqa_metrics.compare` returns."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..analysis.compare import CompareRun
from ..analysis.compared_rows import explanations, scored_rows
from ..analysis.resampling import adjust_p_values
from ..rows.callbacks import Message, Progress, ignore
from ..scoring.options import CompareOptions, bad_usage, takes
from ..scoring.registry import SCORERS, scorer_class
from .changes import change_tables, summary
from .glossary import short_names
from .report import Report, briefly, say
from .slices import MAX_ROWS, comparison_tables, reversals
from .table import (
    Table,
    estimate,
    latex_table,
    markdown,
    markdown_code,
    markdown_table,
    number,
    p_value,
    print_table,
    visible,
)

WITHOUT_INTERVALS = ("penalty", "wrong", "declined", "attempted")  # ends of names of scores; tables would be too wide
MAX_NOTES = 5  # in the terminal, and unfolded on the page
MAX_PAIRS = 15  # in the terminal and in LaTeX; of more pairs those of neighbours in the ranking
CORRECTED = {
    "holm": "corrected by Holm's method for the {tests} of one score",
    "bonferroni": "corrected by Bonferroni's method for the {tests} of one score",
    "fdr": "corrected for the {tests} of one score so that 5% of the findings may be false (Benjamini and Hochberg)",
    "none": "not corrected for the {tests} of one score",
}
BEST = "Bold: the best, and systems that are not significantly worse."
CLUSTERS = (
    "Cluster: a line is drawn where every system above is significantly better than every system below. Ranks: from "
    "1 + the number of significantly better systems to the number of systems - those that are significantly worse. "
    "Significant: corrected p of the permutation test below 5%."
)


def _shown(metric: str) -> tuple[str, ...]:
    """Return the parts of a metric's score that tables show; none of a column of scores."""
    return scorer_class(metric).shown if metric in SCORERS else ()


def compared_scores(report: Mapping, metric: str) -> list[str]:
    """Return the scores of a metric that were tested, the one that ranks first."""
    return list(report["metrics"][metric]["tests"])


def ordered(report: Mapping, metric: str, name: str) -> list[str]:
    """Return the systems, the best score first."""
    scores = report["metrics"][metric]["scores"][name]
    return sorted(scores, key=lambda system: -scores[system]["value"])


def best_systems(report: Mapping, metric: str, name: str) -> list[str]:
    """Return the system with the best score, and those that are not significantly worse.

    Args:
        report: see `analysis.compare.CompareRun.report`.
        metric: its name.
        name: one of its tested scores.
    """
    best = ordered(report, metric, name)[0]
    worse = {
        pair["second"] if pair["first"] == best else pair["first"]
        for pair in report["metrics"][metric]["tests"][name]["pairs"]
        if best in (pair["first"], pair["second"]) and pair["permutation_p_corrected"] < report["settings"]["level"]
    }
    return [system for system in ordered(report, metric, name) if system not in worse]


def _ranks(found: Mapping) -> str:
    best, worst = found["best_rank"], found["worst_rank"]
    return f"{best}" if best == worst else f"{best}-{worst}"


def finding(report: Mapping, metric: str) -> str:
    """Return in one sentence which systems are first."""
    name = compared_scores(report, metric)[0]
    systems = report["metrics"][metric]["tests"][name]["systems"]
    order = ordered(report, metric, name)
    first = [system for system in order if systems[system]["cluster"] == 1]
    if len(first) == 1:
        others = "the other system" if len(order) == 2 else f"each of the {len(order) - 1} others"
        return f"{name}: {first[0]} is significantly better than {others}."
    scores = [report["metrics"][metric]["scores"][name][system]["value"] for system in order]
    if scores[0] == scores[1]:
        tied = [system for system, score in zip(order, scores, strict=True) if score == scores[0]]
        rest = "" if len(tied) == len(order) else ", above the other" + "s" * (len(order) - len(tied) > 1)
        return f"{name}: {', '.join(tied[:-1])} and {tied[-1]} are tied, their scores are equal{rest}."
    if len(first) == len(order) == 2:
        return f"{name}: {order[0]} is ahead, but not significantly; the two may be equally good."
    near = [system for system in best_systems(report, metric, name) if system != order[0]]
    worse = [system for system in order[1:] if system not in near]
    said = []
    if near:
        said.append(f"{briefly(near)} may be as good")
    if worse:
        said.append(f"{briefly(worse)} {'is' if len(worse) == 1 else 'are'} significantly worse")
    return f"{name}: {order[0]} has the highest score; {', '.join(said)}."


def corrected_accuracy(report: Mapping, metric: str) -> Mapping | None:
    """Return the accuracy of the systems where an interval counts the errors of the judge, see `judge_errors`."""
    found = report["metrics"][metric].get("accuracy")
    return found if found and found["errors_counted"] else None


def systems_table(report: Mapping, metric: str) -> Table:
    """Return the scores and ranks of the systems by one metric."""
    found = report["metrics"][metric]
    names = compared_scores(report, metric)
    parts = [name for name in _shown(metric) if name in found["scores"]]
    ranking, accuracy = found["tests"][names[0]]["systems"], corrected_accuracy(report, metric)
    best = best_systems(report, metric, names[0])
    rows, marked = [], set()
    for place, system in enumerate(ordered(report, metric, names[0])):
        scores = [estimate(found["scores"][name][system]) for name in names]
        if accuracy:  # the bootstrap interval ignores the judge's errors: it is in the JSON only
            scores[0] = number(found["scores"][names[0]][system]["value"])
            scores.insert(0, estimate(accuracy["systems"][system], name="accuracy"))
        scores += [
            number(found["scores"][name][system]["value"])
            if name.endswith(WITHOUT_INTERVALS)
            else estimate(found["scores"][name][system])
            for name in parts
        ]
        rows.append([system, _ranks(ranking[system]), str(ranking[system]["cluster"]), *scores])
        marked |= {place} if system in best else set()
    header = ["system", "ranks", "cluster", *["accuracy"] * bool(accuracy), *names]
    header += parts
    kind = "jackknife" if "jackknife" in report["settings"]["interval"] else "bootstrap"
    said = f"In brackets: 95% {kind} interval."
    if accuracy:
        said = f"Accuracy: 95% interval, {accuracy['method']}; {accuracy['measured']}. Others: 95% {kind} interval."
    elif "accuracy" in found:
        said = f"In brackets: 95% {kind} interval; the errors of {metric} are ignored."
    said += f" Ranks and clusters by {names[0]}." if len(names) > 1 else ""
    bold, short = header.index(names[0]), short_names(header)
    return Table(f"{metric}: systems", header, rows, f"{said} {BEST}", marked, bold, short=short)


def ranked_pairs(report: Mapping, metric: str, name: str, neighbours: bool = False) -> list[dict]:
    """Return the tests of pairs, the better system first, in the order of the ranking.

    Args:
        report: see `analysis.compare.CompareRun.report`.
        metric: its name.
        name: one of its tested scores.
        neighbours: only pairs of systems that follow each other in the ranking.
    """
    place = {system: i for i, system in enumerate(ordered(report, metric, name))}
    found = []
    for pair in report["metrics"][metric]["tests"][name]["pairs"]:
        pair = dict(pair)
        if place[pair["first"]] > place[pair["second"]]:
            difference = pair["difference"]
            pair["first"], pair["second"] = pair["second"], pair["first"]
            pair["wins"], pair["losses"] = pair["losses"], pair["wins"]
            if pair["first_better_in"] is not None:
                pair["first_better_in"] = 1 - pair["first_better_in"]
            pair["difference"] = {
                end: None if difference[other] is None else -difference[other]
                for end, other in (("value", "value"), ("low", "high"), ("high", "low"))
            }
        if not neighbours or place[pair["second"]] == place[pair["first"]] + 1:
            found.append(pair)
    return sorted(found, key=lambda pair: (place[pair["first"]], place[pair["second"]]))


def pairs_table(report: Mapping, metric: str, name: str, most: int | None = None) -> Table:
    """Return the tests of all pairs of systems by one score.

    Args:
        report: see `analysis.compare.CompareRun.report`.
        metric: its name.
        name: one of its tested scores.
        most: if there are more pairs, only those of neighbours in the ranking.
    """
    pairs = ranked_pairs(report, metric, name)
    tests = len(pairs)
    few = most is not None and tests > most
    if few:
        pairs = ranked_pairs(report, metric, name, neighbours=True)
        for test in ("permutation_p", "bootstrap_p"):  # over those that are shown
            raw = np.array([pair[test] for pair in pairs], dtype=float)
            corrected = adjust_p_values(raw, report["settings"]["correction"]).tolist()
            pairs = [pair | {f"{test}_corrected": p} for pair, p in zip(pairs, corrected, strict=True)]
    rows, marked, bootstrapped = [], set(), any(pair["bootstrap_p"] is not None for pair in pairs)
    for place, pair in enumerate(pairs):
        rows.append(
            [
                f"{pair['first']} - {pair['second']}",
                estimate(pair["difference"]),
                p_value(pair["permutation_p"]),
                p_value(pair["permutation_p_corrected"]),
                *([p_value(pair["bootstrap_p"]), p_value(pair["bootstrap_p_corrected"])] if bootstrapped else []),
                f"{pair['wins']:,} / {pair['ties']:,} / {pair['losses']:,}",
            ]
        )
        if pair["permutation_p_corrected"] < report["settings"]["level"]:
            marked.add(place)
    scores = f"difference of {name}"
    header = ["pair", scores, "permutation p", "corrected", *["bootstrap p", "corrected"] * bootstrapped]
    header.append("wins / ties / losses")
    said = "Two-sided paired tests; p is " + _correction(report, len(pairs)) + ". Wins, ties and losses: rows."
    if corrected_accuracy(report, metric):
        said += " Of the verdicts as they are: tests and differences take the judge to err alike on all systems."
    if few:
        said += f" Neighbours in the ranking; all {tests:,} pairs are in --json, --markdown and --html."
    return Table(f"{name}: pairs of systems", header, rows, said, marked)


def _correction(report: Mapping, tests: int) -> str:
    if tests == 1:
        return "not corrected: there is one test"
    return CORRECTED[report["settings"]["correction"]].format(tests=f"{tests:,} tests")


def name_of(row: Mapping) -> str:
    """Return a row's question, and its id where it has one."""
    text = row["text"] if row["text"] is not None else f"row {row['row']}"
    return f"{text} ({row['id']})" if row["id"] is not None else text


def shown_answers(row: Mapping) -> list[tuple[str, str, str]]:
    """Return score, system and answer, the best first."""
    answers = sorted(row["answers"].items(), key=lambda item: -item[1]["score"])
    return [
        (number(answer["score"]), system, " | ".join(answer["predictions"]) or "(empty)") for system, answer in answers
    ]


class CompareReport(Report):
    """Systems on the same questions: scores with intervals, tests of all pairs, ranks.

    Args:
        report: what `analysis.compare.CompareRun.report` returns.
        explain: makes the heat maps of KPQA's rows for the page, see `compared_rows.explanations`.
        all_rows: makes all questions for the page, see `compared_rows.scored_rows`.

    Attributes:
        systems: names of the systems.
        questions: number of questions.
        scores: {metric: {score: {system: {"value", "low", "high"}}}}.
        tests: {metric: {score: {"systems": {system: cluster and ranks}, "pairs": [tests of a pair]}}}.
        rows: {metric: [rows that differ most]}.
        findings: for every metric in one sentence which systems are first; slices in which it is the other way round;
            and of two runs what changed.
        slices: with `by` {"column", "metrics": {metric: {slice: {"questions", "scores", "pairs"}}}}, else None.
        changes: of two runs {"runs", "answers_changed", "judge", "metrics": {metric: {"better", "worse", ...}}}, else
            None.
        signatures: {metric: what its numbers depend on}.
        notes: what a reader must know before the numbers.
    """

    def __init__(
        self,
        report: Mapping,
        explain: Callable[[], Sequence[Mapping]] = tuple,
        all_rows: Callable[[], Sequence[Mapping]] = tuple,
    ):
        self._report, self._explain, self._all_rows = report, explain, all_rows
        self.systems, self.questions, self.signatures = report["systems"], report["questions"], report["signatures"]
        self.notes = report["notes"]
        self.scores, self.tests, self.rows = (
            {metric: found[part] for metric, found in report["metrics"].items()}
            for part in ("scores", "tests", "rows")
        )
        self.slices, self.changes = report["slices"], report["changes"]
        self.findings = [finding(report, metric) for metric in report["metrics"]]
        self.findings += [line for metric in report["metrics"] for line in reversals(report, metric)]
        self.findings += summary(report)
        self.title = f"Comparison of {len(self.systems)} systems on {self.questions:,} questions"

    def __repr__(self) -> str:
        found = f"{len(self.systems)} systems, {self.questions:,} questions; {' '.join(self.findings)}"
        return f"CompareReport({visible(found)})"

    def to_pandas(self, of: str = "systems"):
        """Return a `pandas.DataFrame` with one row per score and system, or per score and pair of systems.

        Args:
            of: "systems" or "pairs".

        Raises:
            ValueError: if it is neither.
        """
        import pandas

        if of not in ("systems", "pairs"):
            raise ValueError(f"of: expected 'systems' or 'pairs', got {of!r}")
        rows = []
        for metric, scores in self.scores.items():
            for name, by_system in scores.items() if of == "systems" else ():
                ranking = self.tests[metric].get(name, {"systems": {}})["systems"]
                for system, found in by_system.items():
                    rows.append({"metric": metric, "score": name, "system": system, **found})
                    rows[-1] |= ranking.get(system, dict.fromkeys(("cluster", "best_rank", "worst_rank")))
            for name, found in self.tests[metric].items() if of == "pairs" else ():
                for pair in found["pairs"]:
                    difference = {f"difference_{end}": pair["difference"][end] for end in ("low", "high")}
                    flat = {**pair, "difference": pair["difference"]["value"], **difference}
                    rows.append({"metric": metric, "score": name, **flat})
        return pandas.DataFrame(rows).convert_dtypes()

    def tables(self) -> list[Table]:
        """Return the tables."""
        report, found = self._report, []
        for metric, tests in self.tests.items():
            found += [systems_table(report, metric), *(pairs_table(report, metric, name) for name in tests)]
            found += self.sliced(metric)
        return [*found, *change_tables(report)]

    def sliced(self, metric: str, most: int | None = None) -> list[Table]:
        """Return the tables of a metric by slice; of more than `most` tests only the significant ones."""
        order = ordered(self._report, metric, next(iter(self.tests[metric])))
        return comparison_tables(self._report, metric, order, most)

    def facts(self) -> list[str]:
        """Return what the numbers rest on, one sentence or line each."""
        report, settings = self._report, self._report["settings"]
        rows = f" in {report['rows']:,} rows of each" if report["rows"] > self.questions else ""
        return [
            f"{len(self.systems)} systems, {self.questions:,} questions{rows}, matched by {report['matched_by']}",
            *(f"left out: {count:,} {what}" for what, count in report["left_out"].items() if count),
            *self._inputs(),
            *self.signatures.values(),
            f"intervals: {settings['interval']}",
            f"genqa-metrics {report['genqa_metrics']}, {settings['resamples']:,} bootstrap samples and as many "
            f"permutations, seed {settings['seed']}, correction {settings['correction']}",
        ]

    def to_markdown(self) -> str:
        """Return the comparison in Markdown."""
        parts = ["# Comparison of systems", *(f"**Note:** {markdown(note)}" for note in self.notes)]
        parts.append("\n".join(f"- {markdown(line)}" for line in self.findings))
        for metric, tests in self.tests.items():
            pairs = (pairs_table(self._report, metric, name) for name in tests)
            for table in (systems_table(self._report, metric), *pairs, *self.sliced(metric)):
                parts.append(f"## {markdown(table.title)}\n\n{markdown(table.explanation)}\n\n{markdown_table(table)}")
            parts += [f"## {markdown(metric)}: rows that differ most"] * bool(self.rows[metric])
            for row in self.rows[metric]:
                answers = Table("", ["score", "system", "answer"], [list(cells) for cells in shown_answers(row)])
                about = f"**{markdown(name_of(row))}** {markdown('; '.join(row['references']))}"
                parts.append(f"{about}\n\n{markdown_table(answers)}")
        parts += [f"## {markdown(table.title)}\n\n{markdown_table(table)}" for table in change_tables(self._report)]
        parts.append(f"## What the numbers rest on\n\n{CLUSTERS}")
        parts.append("\n".join(f"- {markdown_code(line)}" for line in self.facts()))
        return "\n\n".join(parts)

    def to_latex(self) -> str:
        """Return the tables in LaTeX; they need the package booktabs."""
        parts = []
        for metric, tests in self.tests.items():
            table = systems_table(self._report, metric)
            caption = f"{metric} of {len(self.systems)} systems on {self.questions:,} questions. {BEST}"
            parts.append(latex_table(table, f"{metric}-systems", caption, f"{table.explanation} {CLUSTERS}"))
            for name in tests:
                table = pairs_table(self._report, metric, name, MAX_PAIRS)
                caption = f"{name}: differences of systems. Bold: significant at 5%."
                parts.append(latex_table(table, f"{name}-pairs", caption, table.explanation))
            for table in self.sliced(metric, MAX_ROWS):
                parts.append(latex_table(table, table.title.lower(), f"{table.title}.", table.explanation))
        return self._latex(parts)

    def show(self, console) -> None:
        """Print the comparison.

        Args:
            console: a `rich.console.Console`.
        """
        from rich.text import Text

        def cut(*parts) -> None:
            console.print(Text.assemble(*parts), no_wrap=True, overflow="ellipsis")

        more = len(self.notes) - MAX_NOTES
        rest = [f"note: ... and {more} more in --json, --markdown and --html"] if more > 0 else []
        say(console, [*(f"note: {note}" for note in self.notes[:MAX_NOTES]), *rest], "bold yellow")
        for metric, tests in self.tests.items():
            print_table(systems_table(self._report, metric), console)
            name = next(iter(tests))
            print_table(pairs_table(self._report, metric, name, MAX_PAIRS), console)
            for table in self.sliced(metric, MAX_ROWS):
                print_table(table, console)
            if self.changes:  # they have the rows
                continue
            say(console, [f"{name}: rows that differ most"] * bool(self.rows[metric]), "bold")
            for row in self.rows[metric]:
                cut(visible(name_of(row)), (f"  [{visible(' | '.join(row['references']))}]", "dim"))
                answers = [[visible(cell) for cell in cells] for cells in shown_answers(row)]
                width = max(len(system) for _, system, _ in answers)
                for score, system, answer in answers if len(answers) < 4 else (answers[0], answers[-1]):
                    cut(f"  {score}  ", (f"{system:<{width}}", "bold"), f"  {answer}")
            console.print()
        for table in change_tables(self._report, self._report["settings"]["rows"]):
            print_table(table, console)
        say(console, [CLUSTERS, *self.facts()])
        console.print()
        say(console, self.findings, "bold")

    def to_html(self) -> str:
        """Return the comparison as one HTML page that needs no outside resource; see `comparison_page`."""
        from .comparison_page import comparison_page

        return comparison_page(self, self._explain(), self._all_rows())


@takes(CompareOptions)
def compare(
    systems: object,
    *given: Any,
    problem: Message = ignore,
    progress: Progress = ignore,
    **options: Any,
) -> CompareReport:
    """Compare systems on the same questions: scores with intervals, tests of all pairs, ranks.

    Args:
        systems: {name: rows}, or rows with a column `system`. Rows are {rows}
        *given, **options: {options}
        problem: called with each row that is left out.
        progress: called with what is scored, rows that are done, and all rows.

    Returns:
        What `genqa-metrics compare` prints; the numbers are the same.

    Raises:
        ValueError: if an argument or a row is bad; names the row and the fix.

    >>> asked = [{"question": f"q{i}", "references": ["four steps"]} for i in range(40)]
    >>> answers = {"a": "four steps", "b": "seven steps"}
    >>> rows = {name: [{**row, "prediction": text} for row in asked] for name, text in answers.items()}
    >>> compare(rows, ["aev"], {"aev": {"max_order": 1}}, resamples=200).findings
    ['aev: a is significantly better than the other system.']
    """
    with bad_usage():
        run = CompareRun(systems, *given, **options)
    found = run.report(problem, progress)
    return CompareReport(found, lambda: explanations(run, found), lambda: scored_rows(run))
