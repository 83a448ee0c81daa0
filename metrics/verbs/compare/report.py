"""A comparison of systems: what `genqa-metrics compare` prints and `genqa_metrics.compare` returns."""

from collections.abc import Mapping, Sequence

from ...core.reading import one_line
from ...reports.report import Report, of_faults, say
from ...reports.table import Table, latex_table, markdown, markdown_code, markdown_table, print_table, visible
from ...rows.errors import bad_usage
from ...rows.reading import Message, Progress, ignore
from ...scale.options import OnError, Settings
from .comparison import Comparison, name_of, shown_answers
from .page import MAX_NOTES, comparison_page
from .run import CompareRun
from .tables import (
    BEST,
    CLUSTERS,
    MAX_SLICE_TESTS,
    change_tables,
    pairs_table,
    short_table,
    slice_tables,
    systems_table,
)

MAX_PAIRS = 15  # in the terminal and in LaTeX; of more pairs those of neighbours in the ranking


class CompareReport(Report):
    """Systems on the same questions: scores with intervals, tests of all pairs, ranks.

    Args:
        numbers: the comparison.
        run: what computed it; the page shows its questions. None: the page shows the rows that differ most.

    Attributes:
        numbers: the comparison.
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

    def __init__(self, numbers: Comparison, run: CompareRun | None = None):
        self.numbers, self._run = numbers, run
        self.systems, self.questions, self.signatures = numbers.systems, numbers.questions, numbers.signatures
        self.notes, self.slices, self.changes = numbers.notes, numbers.slices, numbers.changes
        self.scores, self.tests, self.rows = (
            {metric: result[part] for metric, result in numbers.metrics.items()}
            for part in ("scores", "tests", "rows")
        )
        self.findings = numbers.findings()
        self.title = f"Comparison of {len(self.systems)} systems on {self.questions:,} questions"

    def __repr__(self) -> str:
        text = f"{len(self.systems)} systems, {self.questions:,} questions; {' '.join(self.findings)}"
        return f"CompareReport({visible(text)})"

    def to_dict(self) -> dict:
        """Return everything as one object of types that JSON has."""
        return self.numbers.to_dict()

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
                for system, value in by_system.items():
                    rows.append({"metric": metric, "score": name, "system": system, **value})
                    rows[-1] |= ranking.get(system, dict.fromkeys(("cluster", "best_rank", "worst_rank")))
            for name, value in self.tests[metric].items() if of == "pairs" else ():
                for pair in value["pairs"]:
                    difference = {f"difference_{end}": pair["difference"][end] for end in ("low", "high")}
                    flat = {**pair, "difference": pair["difference"]["value"], **difference}
                    rows.append({"metric": metric, "score": name, **flat})
        return pandas.DataFrame(rows).convert_dtypes()

    def tables(self) -> list[Table]:
        """Return the tables."""
        values = []
        for metric, tests in self.tests.items():
            values += [
                systems_table(self.numbers, metric),
                *(pairs_table(self.numbers, metric, name) for name in tests),
            ]
            values += slice_tables(self.numbers, metric)
        return [*values, *change_tables(self.numbers)]

    def facts(self) -> list[str]:
        """Return what the numbers rest on, one sentence or line each."""
        numbers, settings = self.numbers, self.numbers.settings
        rows = f" in {numbers.rows:,} rows of each" if numbers.rows > self.questions else ""
        return [
            f"{len(self.systems)} systems, {self.questions:,} questions{rows}, matched by {numbers.matched_by}",
            *(f"left out: {count:,} {what}" for what, count in numbers.left_out.items() if count),
            *self._inputs(),
            *self.signatures.values(),
            f"intervals: {settings['interval']}",
            f"genqa-metrics {numbers.genqa_metrics}, {settings['resamples']:,} bootstrap samples, "
            f"seed {settings['seed']}, correction {settings['correction']}",
        ]

    def to_markdown(self) -> str:
        """Return the comparison in Markdown."""
        parts = ["# Comparison of systems", *(f"**Note:** {markdown(note)}" for note in self.notes)]
        parts.append("\n".join(f"- {markdown(line)}" for line in self.findings))
        for metric, tests in self.tests.items():
            pairs = (pairs_table(self.numbers, metric, name) for name in tests)
            for table in (systems_table(self.numbers, metric), *pairs, *slice_tables(self.numbers, metric)):
                parts.append(f"## {markdown(table.title)}\n\n{markdown(table.explanation)}\n\n{markdown_table(table)}")
            parts += [f"## {markdown(metric)}: rows that differ most"] * bool(self.rows[metric])
            for row in self.rows[metric]:
                answers = Table("", ["score", "system", "answer"], [list(cells) for cells in shown_answers(row)])
                about = f"**{markdown(name_of(row))}** {markdown('; '.join(row['references']))}"
                parts.append(f"{about}\n\n{markdown_table(answers)}")
        parts += [f"## {markdown(table.title)}\n\n{markdown_table(table)}" for table in change_tables(self.numbers)]
        parts.append(f"## What the numbers rest on\n\n{CLUSTERS}")
        parts.append("\n".join(f"- {markdown_code(line)}" for line in self.facts()))
        return "\n\n".join(parts)

    def to_latex(self) -> str:
        """Return the tables in LaTeX; they need the package booktabs."""
        parts = []
        for metric, tests in self.tests.items():
            table = systems_table(self.numbers, metric)
            caption = f"{metric} of {len(self.systems)} systems on {self.questions:,} questions. {BEST}"
            parts.append(latex_table(table, f"{metric}-systems", caption, f"{table.explanation} {CLUSTERS}"))
            for name in tests:
                table = pairs_table(self.numbers, metric, name, MAX_PAIRS)
                caption = f"{name}: differences of systems. Bold: significant at 5%."
                parts.append(latex_table(table, f"{name}-pairs", caption, table.explanation))
            for table in slice_tables(self.numbers, metric, MAX_SLICE_TESTS):
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
            print_table(short_table(self.numbers, metric, name), console)
            if faults := of_faults(self.numbers.metrics[metric].get("faults", {})):
                say(console, [*faults, ""])
            scores_and_tests = slice_tables(self.numbers, metric, most=0)
            for table in scores_and_tests[:1] if self.numbers.untold(metric, name) else scores_and_tests:
                if table.rows:
                    print_table(table, console)
                else:
                    say(console, [f"No difference within a {self.slices['column']} is significant.", ""])
            if not self.changes:  # they have the rows
                self._show_rows(console, metric)
        for table in change_tables(self.numbers, self.numbers.settings["rows"]):
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
            print_table(systems_table(self.numbers, metric), console)
            for name in tests:
                print_table(pairs_table(self.numbers, metric, name, MAX_PAIRS), console)
            for table in slice_tables(self.numbers, metric):
                print_table(table, console)
            if not self.changes:
                self._show_rows(console, metric)
        for table in change_tables(self.numbers):
            print_table(table, console)
        say(console, [CLUSTERS, *self.facts()])

    def _show_rows(self, console, metric: str) -> None:
        """Print the rows on which the systems differ most."""
        from rich.text import Text

        def cut(*parts) -> None:
            console.print(Text.assemble(*parts), no_wrap=True, overflow="ellipsis")

        rows = self.rows[metric]
        by_judge = ", as the judge sees them" * self.numbers.untold(metric, next(iter(self.tests[metric])))
        say(console, [f"Rows that decide{by_judge}"] * bool(rows), "bold")
        grades = {"1.000": "right", "0.000": "wrong"} if "accuracy" in self.numbers.metrics[metric] else {}
        for row in rows:
            cut(visible(name_of(row)), (f"  [{visible(' | '.join(map(one_line, row['references'])))}]", "dim"))
            answers = [[visible(one_line(cell)) for cell in cells] for cells in shown_answers(row)]
            width = max(len(system) for _, system, _ in answers)
            for score, system, answer in answers if len(answers) < 4 else (answers[0], answers[-1]):
                cut(f"  {grades.get(score, score)}  ", (f"{system:<{width}}", "bold"), f"  {answer}")

    def to_html(self) -> str:
        """Return the comparison as one HTML page that needs no outside resource; see `comparison_page`."""
        return comparison_page(self, self._run)


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
    rows: int = 5,
    by: str | None = None,
    runs: bool = False,
    ignore_judge_errors: bool = False,
    calibration: str | None = None,
    labels: object = None,
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
        labels: with ava: labels of people for some of the rows, as for `accuracy`. Default: those in a column label
            of the rows.
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
            labels=labels,
            on_error=on_error,
        )
    numbers = run.report(problem, progress)
    return CompareReport(numbers, run)
