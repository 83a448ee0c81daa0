"""A comparison of systems: what `genqa-metrics compare` prints and `genqa_metrics.compare` returns."""

from collections.abc import Callable, Mapping, Sequence

from ...reports.report import Report, say
from ...reports.slices import MAX_ROWS, comparison_tables, reversals
from ...reports.table import Table, latex_table, markdown, markdown_code, markdown_table, print_table, visible
from ...rows.reading import Message, Progress, ignore
from ...scale.options import OnError, Settings, bad_usage, errors_of_python
from .changes import change_tables, summary
from .compared_rows import explanations
from .page import comparison_page
from .run import CompareRun
from .shown import (
    BEST,
    CLUSTERS,
    MAX_NOTES,
    finding,
    name_of,
    ordered,
    pairs_table,
    short_table,
    shown_answers,
    systems_table,
)

FIRST_ROWS = 5  # that decide, on the first screen
MAX_PAIRS = 15  # in the terminal and in LaTeX; of more pairs those of neighbours in the ranking


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
            f"genqa-metrics {report['genqa_metrics']}, {settings['resamples']:,} bootstrap samples, "
            f"seed {settings['seed']}, correction {settings['correction']}",
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
        """Print the finding, one line a system, and the rows that decide; `show_all` prints everything.

        Args:
            console: a `rich.console.Console`.
        """
        from rich.text import Text

        console.print(Text(self.title, style="bold"))
        for line in self.findings:
            console.print(Text(f"-> {visible(line)}", style="bold"))
        more = len(self.notes) - MAX_NOTES
        rest = [f"note: ... and {more} more: --verbose"] if more > 0 else []
        say(console, [*(f"note: {note}" for note in self.notes[:MAX_NOTES]), *rest], "yellow")
        for metric, tests in self.tests.items():
            name = next(iter(tests))
            console.print()
            print_table(short_table(self._report, metric, name), console)
            for table in self.sliced(metric, MAX_ROWS):
                print_table(table, console)
            if not self.changes:  # they have the rows
                self._show_rows(console, metric, FIRST_ROWS)
        for table in change_tables(self._report, self._report["settings"]["rows"]):
            print_table(table, console)
        console.print()
        console.print(Text("All tests, what they rest on, and signatures: --verbose", style="dim"))

    def show_all(self, console) -> None:
        """Print the whole comparison.

        Args:
            console: a `rich.console.Console`.
        """
        say(console, self.findings, "bold")
        say(console, [f"note: {note}" for note in self.notes], "bold yellow")
        for metric, tests in self.tests.items():
            print_table(systems_table(self._report, metric), console)
            for name in tests:
                print_table(pairs_table(self._report, metric, name, MAX_PAIRS), console)
            for table in self.sliced(metric):
                print_table(table, console)
            if not self.changes:
                self._show_rows(console, metric)
        for table in change_tables(self._report):
            print_table(table, console)
        say(console, [CLUSTERS, *self.facts()])

    def _show_rows(self, console, metric: str, most: int | None = None) -> None:
        """Print the rows on which the systems differ most."""
        from rich.text import Text

        def cut(*parts) -> None:
            console.print(Text.assemble(*parts), no_wrap=True, overflow="ellipsis")

        rows = self.rows[metric][:most]
        say(console, ["Rows that decide"] * bool(rows), "bold")
        for row in rows:
            cut(visible(name_of(row)), (f"  [{visible(' | '.join(row['references']))}]", "dim"))
            answers = [[visible(cell) for cell in cells] for cells in shown_answers(row)]
            width = max(len(system) for _, system, _ in answers)
            for score, system, answer in answers if len(answers) < 4 else (answers[0], answers[-1]):
                cut(f"  {score}  ", (f"{system:<{width}}", "bold"), f"  {answer}")

    def to_html(self) -> str:
        """Return the comparison as one HTML page that needs no outside resource; see `comparison_page`."""
        return comparison_page(self, self._explain(), self._all_rows())


def compare(
    systems: object,
    metrics: str | Sequence[str] | None = None,
    settings: Settings | None = None,
    seed: int = 0,
    *,
    columns: Mapping[str, str] | None = None,
    score_columns: str | Sequence[str] = (),
    resamples: int = 10_000,
    correction: str = "holm",
    rows: int = 6,
    by: str | None = None,
    runs: bool = False,
    ignore_judge_errors: bool = False,
    calibration: str | None = None,
    on_error: OnError = "fail",
    problem: Message = ignore,
    progress: Progress = ignore,
) -> CompareReport:
    """Compare systems on the same questions: scores with intervals, tests of all pairs, ranks.

    Args:
        systems: {name: rows}, or rows with a column `system`. Rows are a list of dicts, a `pandas.DataFrame`, a
            `datasets.Dataset`, a path or a list of paths, see `score`.
        metrics: names of metrics; None for the default ones of such rows, if no column holds scores.
        settings: {metric: {setting: value}}, or {setting: value} of the only metric.
        seed: the same rows and seed give the same numbers.
        columns: where a column has another name: {"prediction": "answer_text"}.
        score_columns: columns with other metric or human scores; higher is better.
        resamples: number of bootstrap samples.
        correction: for the number of tests: "holm", "bonferroni", "fdr" (Benjamini-Hochberg) or "none".
        rows: number of rows to show on which the systems differ most.
        by: also report results for each value of this column, such as a topic; COLUMN.KEY goes into objects.
        runs: the two inputs are an old and a new run of one system: say what got better and worse, row by row. Two
            folders are always read so.
        ignore_judge_errors: with ava, without labels: intervals of the accuracy that ignore the errors of the judge.
        calibration: with ava: file of `calibrate`. Default: calibration.json in the folder of the checkpoint, if there
            is one.
        on_error: "fail" at the first bad row or question that not all systems answer, or "skip" and count them.
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
    with errors_of_python(systems):
        with bad_usage():
            run = CompareRun(
                systems,
                metrics,
                settings,
                seed,
                columns=columns,
                score_columns=score_columns,
                resamples=resamples,
                correction=correction,
                rows=rows,
                by=by,
                runs=runs,
                ignore_judge_errors=ignore_judge_errors,
                calibration=calibration,
                on_error=on_error,
            )
        found = run.report(problem, progress)
    return CompareReport(found, lambda: explanations(run.scorers, found), run.rows)
