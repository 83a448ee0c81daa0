"""Compares systems on the same questions: what `genqa-metrics compare` prints and `genqa_metrics.compare` returns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...core.scorer import Scorer
from ...registry import judge_among
from ...reports.report import Report, say
from ...reports.table import (
    Table,
    latex_table,
    markdown,
    markdown_code,
    markdown_table,
    print_table,
    visible,
)
from ...rows.errors import FileError, bad_usage
from ...rows.reading import Message, Progress, Skips, ignore, inputs_of
from ...rows.sources import Source
from ...scale import options
from ...scale.run import item_statistics, profiles
from ...scale.tally import fault_counts, label_of, named_faults
from ...statistics.intervals import CONFIDENCE
from ...statistics.resampling import CORRECTIONS, LEAST_DIFFERING, LEVEL
from ..explain.kpqa import Explanation, explanation
from ..inputs import digested_sources, places_of, question_numbers, rounded, slice_notes
from ..judge_errors import JudgeErrors, judged_systems
from ..labels import read_labels
from . import analysis, notes
from .findings import findings
from .page import comparison_page
from .rows import Matched, SystemRows
from .screen import print_deciding_rows, print_short
from .tables import (
    BEST,
    CLUSTERS,
    MAX_SLICE_TESTS,
    change_tables,
    name_of,
    pairs_table,
    shown_answers,
    slice_tables,
    systems_table,
)
from .two_runs import changes

MAX_PAIRS = 15  # in the terminal and in LaTeX; of more pairs those of neighbours in the ranking


def compare(
    systems: object,
    metrics: str | Sequence[str] | None = None,
    settings: options.Settings | None = None,
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
    on_error: options.OnError = "fail",
    problem: Message = ignore,
    progress: Progress = ignore,
) -> "CompareReport":
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
    >>> compare(rows, ["aev"], {"aev": {"max_order": 1}}, resamples=200).findings[0]
    'aev: a is significantly better than the other system.'
    """
    from ... import __version__

    with bad_usage():
        counts = {"seed": seed, "resamples": resamples, "rows": rows}
        options.check_options(on_error, settings=settings, columns=columns, by=by, **counts)
        metrics, settings = options.listed_names("metrics", metrics), dict(settings or {})
        score_columns = options.listed_names("score_columns", score_columns)
        if calibration is not None:
            settings["ava"] = options.with_calibration(settings.get("ava", {}), calibration)
        columns = options.checked_columns(columns)
        if correction not in CORRECTIONS:
            raise ValueError(f"correction: expected one of {', '.join(CORRECTIONS)}, got {correction!r}")
        reading = SystemRows(systems, metrics, settings, columns, score_columns, by, runs)
        label_sources = [] if labels is None else digested_sources(labels, "labels")
    skips = Skips(on_error == "skip", problem)
    matched, row_kind = reading.matched(skips)
    label_notes, label_error = _take_labels(matched, reading, label_sources, skips)
    items, shape = matched.items, (len(matched.rows), len(matched.systems), -1)
    asked = question_numbers([next((row.item.text for row in rows if row.item.text), None) for rows in matched.rows])
    sums, counts = item_statistics(items, reading.scorers, progress)
    statistics = {metric: of_rows.reshape(shape) for metric, of_rows in sums.items()}
    scorers: dict[str, Scorer] = dict(reading.scorers)
    for place, column in enumerate(score_columns):
        values = np.array([[row.given[place] for row in question] for question in matched.rows], dtype=float)
        scorers[column] = analysis.Column(column=column)
        statistics[column] = np.stack([values, np.ones_like(values)], axis=2)
    judge, accuracy, judged, told = judge_among(reading.scorers), None, None, {}
    tested_by: set[str] = set()
    if judge:
        labels_of, chances = [label_of(item) for item in items], [item.chance or 1.0 for item in items]
        of_people = (np.array(part).reshape(shape[:2]) for part in (labels_of, chances))
        of_judge = np.moveaxis(statistics[judge][..., :3], -1, 0)
        of_items = statistics[judge].reshape(len(items), -1)
        errors = JudgeErrors.of(scorers[judge], profiles(scorers[judge], items, of_items), ignore_judge_errors)
        judged = analysis.Judged(*of_judge, *of_people, errors, label_error)
        accuracy, estimates = judged_systems(judged.sums(matched.systems, asked), errors, label_error=label_error)
        with_limits = [estimate for estimate in estimates.values() if estimate.low is not None]
        if len(with_limits) > 1 and accuracy["errors_counted"]:
            told = {judge: judged}
            whole = [bool(of["labelled"] == of["rows"]) for of in accuracy["systems"].values()]
            tested_by |= {"judge"} if any(not estimate.by_labels for estimate in with_limits) else set()
            partly = any(of.by_labels and not all_of for of, all_of in zip(estimates.values(), whole, strict=True))
            tested_by |= {"labels"} if partly else set()
    sampling = resamples, seed, correction, asked, told
    numbers = analysis.analyse(matched.systems, scorers, statistics, *sampling)
    for metric, scorer in scorers.items():
        main, of_metric = scorer.significance_scores[0], statistics[metric]
        by_row = judged.by_row if metric == judge else analysis.row_scores(scorer, of_metric, main)
        finer = of_metric[..., 1] if metric == judge else by_row
        labelled_rows = ~np.isnan(judged.labels) if metric == judge else np.ones_like(by_row, dtype=bool)
        numbers[metric] |= _deciding_rows(matched, numbers[metric], by_row, finer, rows, labelled_rows)
    if accuracy:
        numbers[judge]["accuracy"] = accuracy
        numbers[judge]["faults"] = _faults(matched, scorers[judge], statistics[judge])
    slices, slice_remarks = None, []
    if by:
        verdicts = [judge] if accuracy and accuracy["errors_counted"] and judge not in told else []
        slices, slice_remarks = _slices(matched, by, scorers, statistics, verdicts, *sampling)
    of_run: dict[str, list[Source]] = {}
    for source in reading.sources:
        of_run.setdefault(reading.system_of[id(source)], []).append(source)
    sizes = np.bincount(asked)
    tests = len(numbers) * len(matched.systems) * (len(matched.systems) - 1) // 2
    return CompareReport(
        genqa_metrics=__version__,
        inputs=inputs_of([*reading.sources, *label_sources], skips),
        settings={
            "resamples": resamples,
            "seed": seed,
            "confidence": CONFIDENCE,
            "interval": "; ".join([analysis.INTERVAL, *(analysis.OF_ACCURACY[name] for name in sorted(tested_by))]),
            "level": LEVEL,
            "correction": correction,
            "tests": tests,
            "rows": rows,
            "columns": columns,
            "score_columns": score_columns,
        },
        signatures={metric: scorer.signature for metric, scorer in scorers.items()},
        matched_by=matched.matched_by,
        questions=len(sizes),
        row_count=len(matched.rows),
        text=row_kind.text,
        left_out={"bad rows": skips.skipped, "questions that not all systems answer": matched.left_out},
        skipped_rows=skips.by_system,
        systems=matched.systems,
        metrics=rounded(numbers),
        slices=rounded(slices),
        changes=rounded(changes(matched, scorers, statistics, of_run, told)) if reading.runs else None,
        notes=[
            *notes.length_notes(numbers, matched.systems),
            *slice_remarks,
            *notes.skipped_notes(matched, skips),
            *label_notes,
            *(accuracy["notes"] if accuracy else []),
            *notes.question_notes(sizes),
            *notes.few_differ_notes(numbers, len(sizes) == len(matched.rows)),
            *([] if tested_by else notes.unreachable_notes(sizes, tests, resamples, correction)),
            *notes.metric_warnings(matched, scorers, statistics, counts),
        ],
        _matched=matched,
        _scorers=scorers,
        _statistics=statistics,
    )


@dataclass(frozen=True, eq=False, repr=False)
class CompareReport(Report):
    """Systems on the same questions: scores with intervals, tests of all pairs, ranks.

    Numbers have six significant digits.

    Attributes:
        genqa_metrics: the version that computed it.
        inputs: "name", "sha256" and "rows" of every file.
        settings: what the numbers depend on.
        signatures: {metric: what its numbers depend on}.
        matched_by: what showed which rows belong together.
        questions: number of questions.
        row_count: number of rows of each system.
        text: what was asked, "question" or "context".
        left_out: {reason: number of rows or questions}.
        skipped_rows: {system: bad rows}.
        systems: names of the systems.
        metrics: {metric: its "scores", "tests" and "rows", and of a judge "accuracy" (see
            `judge_errors.judged_systems`) and "faults"; "deciding": rows in which each of the two closest is better}.
        slices: with `by` {"column", "metrics": {metric: {slice: {"questions", "scores", "pairs"}}}}, else None.
        changes: of two runs {"runs", "answers_changed", "judge", "metrics": {metric: {"better", "worse", ...}}}, else
            None.
        notes: what a reader must know before the numbers.
        scores: {metric: {score: {system: {"value", "low", "high"}}}}.
        tests: {metric: {score: {"systems": {system: cluster and ranks}, "pairs": [tests of a pair]}}}.
        rows: {metric: [rows that differ most]}.
    """

    genqa_metrics: str
    inputs: list[dict[str, Any]]
    settings: dict[str, Any]
    signatures: dict[str, str]
    matched_by: str
    questions: int
    row_count: int
    text: str
    left_out: dict[str, int]
    skipped_rows: dict[str, int]
    systems: list[str]
    metrics: dict[str, dict[str, Any]]
    slices: dict[str, Any] | None
    changes: dict[str, Any] | None
    notes: list[str]
    _matched: Matched
    _scorers: dict[str, Scorer]
    _statistics: dict[str, np.ndarray]

    def __repr__(self) -> str:
        text = f"{len(self.systems)} systems, {self.questions:,} questions; {self.findings[0]}"
        return f"CompareReport({visible(text)})"

    @property
    def title(self) -> str:
        """What the page is called."""
        return f"Comparison of {len(self.systems)} systems on {self.questions:,} questions"

    def _of_each(self, part: str) -> dict[str, Any]:
        return {metric: numbers[part] for metric, numbers in self.metrics.items()}

    scores = property(lambda self: self._of_each("scores"))
    tests = property(lambda self: self._of_each("tests"))
    rows = property(lambda self: self._of_each("rows"))

    def to_dict(self) -> dict:
        """Return everything as one object of types that JSON has."""
        return {"rows" if name == "row_count" else name: value for name, value in super().to_dict().items()}

    def is_clear(self, pair: Mapping[str, Any]) -> bool:
        """Return whether a difference is significant."""
        return pair["p_corrected"] is not None and pair["p_corrected"] < self.settings["level"]

    def too_few_differ(self, pair: Mapping[str, Any]) -> str:
        """Return that two systems differ on too few rows, or questions, for a p-value below 5%; "" otherwise."""
        if pair["differing"] is None or pair["differing"] >= LEAST_DIFFERING:
            return ""
        unit = "rows" if self.questions == self.row_count else "questions"
        return f"too few {unit} differ to test ({pair['differing']}; the least is {LEAST_DIFFERING})"

    def answers(self) -> list[dict[str, Any]]:
        """Return every question with the answers of all systems and their scores.

        Returns:
            For every question "number" (from 1), "id", "question", "references", and "answers": system ->
            "prediction", "label" (of people; None without one) and "scores" (name of a row's score -> value).
        """
        scores: dict[str, np.ndarray] = {}
        for metric, sums in self._statistics.items():
            means = sums[..., :-1] / np.maximum(sums[..., -1:], 1)
            by_name = self._scorers[metric].row_scores(means.reshape(-1, means.shape[-1]))
            scores |= {name: np.asarray(values).reshape(means.shape[:2]) for name, values in by_name.items()}
        return [
            {
                "number": q + 1,
                "id": rows[0].item.id,
                "question": rows[0].item.text,
                "references": rows[0].item.references,
                "answers": {
                    system: {
                        "prediction": " | ".join(row.item.predictions),
                        "label": row.item.human[1],
                        "scores": {name: float(values[q, s]) for name, values in scores.items()},
                    }
                    for s, (system, row) in enumerate(zip(self.systems, rows, strict=True))
                },
            }
            for q, rows in enumerate(self._matched.rows)
        ]

    def explanations(self) -> dict[str, list[dict[str, Explanation]]]:
        """Return how KPQA computes the scores of the best and the worst answer of each row that differs most.

        Returns:
            {metric: for every such row system -> explanation}; none without kpqa.
        """
        scorer, explained = self._scorers.get("kpqa"), []
        if scorer is None or isinstance(scorer, analysis.Column):
            return {}
        for row in self.rows[scorer.name]:
            texts = {system: row["answers"][system]["predictions"] for system in (row["best"], row["worst"])}
            single = {system: answers[0] for system, answers in texts.items() if len(answers) == 1}
            models, beta = scorer.models, scorer.beta
            of_row = {s: explanation(row["text"], one, row["references"], models, beta) for s, one in single.items()}
            explained.append(of_row)
        return {scorer.name: explained}

    @cached_property
    def findings(self) -> list[str]:
        """Which systems are first by every metric, slices that say the opposite, and what changed."""
        return findings(self)

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
        for metric, numbers in self.metrics.items():
            for name, by_system in numbers["scores"].items() if of == "systems" else ():
                places = numbers["tests"].get(name, {"systems": {}})["systems"]
                for system, value in by_system.items():
                    place = places.get(system, dict.fromkeys(("cluster", "best_rank", "worst_rank")))
                    rows.append({"metric": metric, "score": name, "system": system, **value, **place})
            for name, tests in numbers["tests"].items() if of == "pairs" else ():
                for pair in tests["pairs"]:
                    ends = {f"difference_{end}": pair["difference"][end] for end in ("low", "high")}
                    value = {"difference": pair["difference"]["value"]}
                    rows.append({"metric": metric, "score": name, **pair, **value, **ends})
        return pandas.DataFrame(rows).convert_dtypes()

    def tables(self) -> list[Table]:
        """Return the tables."""
        return [*(table for metric in self.metrics for table in self._of_metric(metric)), *change_tables(self)]

    def _of_metric(self, metric: str, most_pairs: int | None = None) -> list[Table]:
        """Return the tables of a metric; of more pairs than `most_pairs` those of neighbours in the ranking."""
        pairs = (pairs_table(self, metric, name, most_pairs) for name in self.tests[metric])
        return [systems_table(self, metric), *pairs, *slice_tables(self, metric)]

    def facts(self) -> list[str]:
        """Return what the numbers rest on, one sentence or line each."""
        settings = self.settings
        rows = f" in {self.row_count:,} rows of each" if self.row_count > self.questions else ""
        return [
            f"{len(self.systems)} systems, {self.questions:,} questions{rows}, matched by {self.matched_by}",
            *(f"left out: {count:,} {what}" for what, count in self.left_out.items() if count),
            *self._inputs(),
            *self.signatures.values(),
            f"intervals: {settings['interval']}",
            f"genqa-metrics {self.genqa_metrics}, {settings['resamples']:,} bootstrap samples, "
            f"seed {settings['seed']}, correction {settings['correction']}",
        ]

    def to_markdown(self) -> str:
        """Return the comparison in Markdown."""
        parts = ["# Comparison of systems", *(f"**Note:** {markdown(note)}" for note in self.notes)]
        parts.append("\n".join(f"- {markdown(line)}" for line in self.findings))
        for metric in self.metrics:
            for table in self._of_metric(metric):
                parts.append(f"## {markdown(table.title)}\n\n{markdown(table.explanation)}\n\n{markdown_table(table)}")
            parts += [f"## {markdown(metric)}: rows that differ most"] * bool(self.rows[metric])
            for row in self.rows[metric]:
                answers = Table("", ["score", "system", "answer"], [list(cells) for cells in shown_answers(row)])
                about = f"**{markdown(name_of(row))}** {markdown('; '.join(row['references']))}"
                parts.append(f"{about}\n\n{markdown_table(answers)}")
        parts += [f"## {markdown(table.title)}\n\n{markdown_table(table)}" for table in change_tables(self)]
        parts.append(f"## What the numbers rest on\n\n{CLUSTERS}")
        parts.append("\n".join(f"- {markdown_code(line)}" for line in self.facts()))
        return "\n\n".join(parts)

    def to_latex(self) -> str:
        """Return the tables in LaTeX; they need the package booktabs."""
        parts = []
        for metric, tests in self.tests.items():
            table = systems_table(self, metric)
            caption = f"{metric} of {len(self.systems)} systems on {self.questions:,} questions. {BEST}"
            parts.append(latex_table(table, f"{metric}-systems", caption, f"{table.explanation} {CLUSTERS}"))
            for name in tests:
                table = pairs_table(self, metric, name, MAX_PAIRS)
                caption = f"{name}: differences of systems. Bold: significant at 5%."
                parts.append(latex_table(table, f"{name}-pairs", caption, table.explanation))
            for table in slice_tables(self, metric, MAX_SLICE_TESTS):
                parts.append(latex_table(table, table.title.lower(), f"{table.title}.", table.explanation))
        return self._latex(parts)

    def show(self, console) -> None:
        """Print the finding, one line a system, and the rows that decide; `show_all` prints everything."""
        say(console, [self.title, *(f"-> {finding}" for finding in self.findings)], "bold")
        print_short(self, self._matched.rows, console)

    def show_all(self, console) -> None:
        """Print the whole comparison."""
        say(console, self.findings, "bold")
        say(console, [f"note: {note}" for note in self.notes], "bold yellow")
        for metric in self.metrics:
            for table in self._of_metric(metric, MAX_PAIRS):
                print_table(table, console)
            if not self.changes:
                print_deciding_rows(self, metric, self._matched.rows, console)
        for table in change_tables(self):
            print_table(table, console)
        say(console, [CLUSTERS, *self.facts()])

    def to_html(self) -> str:
        """Return the comparison as one HTML page that needs no outside resource; see `comparison_page`."""
        return comparison_page(self)


def _take_labels(
    matched: Matched, reading: SystemRows, sources: Sequence[Source], skips: Skips
) -> tuple[list[str], float]:
    """Give the rows the labels of files, or those in the rows as `accuracy` reads them.

    Return notes on them, and the share of labels that are taken to be wrong.
    """
    if judge_among(reading.scorers) is None:
        if sources:
            raise FileError("labels: expected the judge ava, whose verdicts they correct, got other metrics; add ava")
        return [], 0.0
    items, notes = [row.item for question in matched.rows for row in question], []
    plans = [(item.chance, None, item.until) for item in items]
    labels = read_labels(sources, items, plans, reading.columns, skips, notes)
    if labels:
        labels.replace_those_of(items)
    return notes, labels.error if labels else 0.0


def _deciding_rows(
    matched: Matched,
    numbers: Mapping[str, Any],
    by_row: np.ndarray,
    finer: np.ndarray,
    most: int,
    labelled: np.ndarray,
) -> dict[str, Any]:
    """Return "deciding": how often the two closest systems are better; "rows": where they differ most, or else all do.

    Scores are (rows, systems). Where some answers have labels, rows come first of which both answers have one.
    """
    name, tests = next(iter(numbers["tests"].items()))
    best = analysis.closest_pair(numbers["scores"][name], tests["pairs"])
    two = [matched.systems.index(system) for system in best]
    columns = sorted(two)
    both, chosen = labelled[:, two].all(axis=1), []
    for rows in map(np.flatnonzero, (both, ~both)):
        of_rows = analysis.most_different(by_row[rows][:, columns], most - len(chosen), finer[rows][:, columns])
        chosen += rows[of_rows].tolist()
    chosen = chosen or analysis.most_different(by_row, most, finer)
    ahead = by_row[:, two[0]] - by_row[:, two[1]]
    slack = 1e-12 * np.abs(by_row[:, two]).max(axis=1)
    better = {best[0]: int((ahead > slack).sum()), best[1]: int((ahead < -slack).sum())}
    return {"deciding": better, "rows": [matched.reported(row, by_row[row]) for row in chosen]}


def _faults(matched: Matched, judge: Scorer, sums: np.ndarray) -> dict[str, dict[str, int]]:
    """Return what is wrong with how many answers of each system; see `tally.fault_counts`."""
    counts = {}
    for place, system in enumerate(matched.systems):
        items = [question[place].item for question in matched.rows]
        columns = {
            judge.verdict: sums[:, place, 0],
            "label": [item.human[1] for item in items],
            "question": [item.text for item in items],
            "references": [item.references for item in items],
            "prediction": [item.predictions[0] for item in items],
        }
        counts[system] = fault_counts(columns, judge).sum(axis=0)
    return named_faults(judge, counts)


def _slices(
    matched: Matched,
    by: str,
    scorers: Mapping[str, Scorer],
    statistics: Mapping[str, np.ndarray],
    verdicts: Sequence[str],
    *sampling: Any,
) -> tuple[dict[str, Any], list[str]]:
    """Return the comparison within every slice, and notes on the slices; verdicts have no interval of accuracy."""
    for question in matched.rows:
        if len({row.slice for row in question}) > 1:
            named = zip(matched.systems, question, strict=True)
            values = ", ".join(f"{row.slice!r} for {name}" for name, row in named)
            raise FileError(
                f"{question[0].where}: by: expected one value of {by} for a question, got {values}; a column "
                "for --by says something about the question, such as its topic"
            )
    places = places_of(by, [question[0].slice for question in matched.rows])
    metrics, asked = analysis.sliced_comparison(matched.systems, scorers, statistics, places, *sampling), sampling[3]
    numbers = [pair for metric, of in metrics.items() if metric not in verdicts for pair in of.items()]
    told = {name for name, of in numbers if not all(np.isnan(ends["low"]) for ends in of["scores"].values())}
    notes = slice_notes(by, {name: len(set(asked[mine])) for name, mine in places.items()}, "questions", told)
    return {"column": by, "metrics": metrics}, notes
