"""Compares systems on the same questions: what `genqa-metrics compare` prints and `genqa_metrics.compare` returns."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import comb
from typing import Any

import numpy as np

from ...core.scorer import Scorer
from ...registry import JUDGE, SCORERS, judge_among, scorer_class
from ...reports.charts import Intervals
from ...reports.excerpt import short_probability
from ...reports.report import (
    SCREEN,
    Finding,
    Report,
    as_sentence,
    faults_table,
    of_faults,
    say,
    say_findings,
    say_next,
    untold,
)
from ...reports.table import Table, listed, markdown, markdown_table, p_value, print_table, visible
from ...reports.viewer import ViewedAnswer
from ...rows.errors import FileError, bad_usage
from ...rows.reading import Message, Progress, Skips, ignore, inputs_of
from ...rows.sources import Source
from ...scale import options
from ...scale.run import item_statistics
from ...scale.scoring import faults_in_order, faults_of_rows, label_of, profiles
from ...statistics.estimation import MEASURED
from ...statistics.intervals import CONFIDENCE
from ...statistics.resampling import FEW, LEAST_DIFFERING, LEVEL
from ..inputs import digested_sources, places_of, question_numbers, rounded, slice_notes
from ..judge_errors import CAN_ERR_MORE, JudgeErrors, judged_systems, to_label, what_decides
from ..label.labels import (
    LABELS_TO_BEGIN,
    file_for_labels,
    label_more,
    questions_needed,
    read_labels,
    what_questions_show,
)
from ..view.rows import scored_answer
from . import analysis, notes
from .findings import changes_between_runs, first_systems, reversals
from .ranking import Ranking, ranking_by
from .rows import Matched, SystemRows
from .tables import (
    BEST,
    change_tables,
    intervals_of_pairs,
    intervals_of_systems,
    name_of,
    page_pairs_table,
    page_systems_table,
    page_title_of_pairs,
    page_title_of_systems,
    pairs_table,
    print_deciding_rows,
    print_metric,
    shown_answers,
    slice_tables,
    systems_table,
)
from .two_runs import changes

HEADING = 3  # lines above these rows
SHOWN_ROWS = 5  # on which the systems differ most


def compare(
    systems: object,
    metrics: str | Sequence[str] | None = None,
    settings: options.Settings | None = None,
    seed: int = 0,
    *,
    columns: Mapping[str, str] | None = None,
    score_columns: str | Sequence[str] = (),
    resamples: int = 10_000,
    rows: int | None = None,
    by: str | None = None,
    runs: bool = False,
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
        rows: number of rows to show on which the systems differ most. Default: five, of which a terminal shows as many
            as fit.
        by: also report results for each value of this column, such as a topic; COLUMN.KEY goes into objects.
        runs: the two inputs are an old and a new run of one system: say what got better and worse, row by row. Two
            folders are always read so.
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
    'aev: a is significantly better than b.'
    """
    from ... import __version__

    with bad_usage():
        fits, rows = rows is None, SHOWN_ROWS if rows is None else rows
        counts = {"seed": seed, "resamples": resamples, "rows": rows}
        options.check_options(on_error, settings=settings, columns=columns, by=by, **counts)
        metrics, settings = options.listed_names("metrics", metrics), dict(settings or {})
        score_columns = options.listed_names("score_columns", score_columns)
        if calibration is not None:
            settings = options.settings_by_metric(settings, metrics)
            settings[JUDGE] = options.with_calibration(settings.get(JUDGE, {}), calibration)
        columns = options.checked_columns(columns)
        reading = SystemRows(systems, metrics, settings, columns, score_columns, by, runs)
        label_sources = [] if labels is None else digested_sources(labels, "labels")
    skips = Skips(on_error == "skip", problem)
    matched, row_kind = reading.matched(skips)
    label_file = file_for_labels(label_sources)
    label_notes, label_error = _take_labels(matched, reading, label_sources, skips)
    items, shape = matched.items, (len(matched.rows), len(matched.systems), -1)
    texts = [next((row.item.text for row in question if row.item.text), None) for question in matched.rows]
    sums, counts = item_statistics(items, reading.scorers, progress)
    scorers = reading.scorers | {column: analysis.Column(column) for column in score_columns}
    statistics = {metric: metric_sums.reshape(shape) for metric, metric_sums in sums.items()}
    for position, column in enumerate(score_columns):
        scores = np.array([[row.column_scores[position] for row in rows] for rows in matched.rows], dtype=float)
        statistics[column] = np.stack([scores, np.ones_like(scores)], axis=2)
    compared = analysis.Compared(matched.systems, scorers, statistics, question_numbers(texts), {}, resamples, seed)
    judge, accuracy, judged, is_partial = judge_among(reading.scorers), None, None, False
    if judge:
        labels_and_chances = (
            np.array(column).reshape(shape[:2])
            for column in ([label_of(item) for item in items], [item.chance or 1.0 for item in items])
        )
        errors = JudgeErrors.of(scorers[judge], profiles(scorers[judge], items, sums[judge]))
        verdicts = np.moveaxis(statistics[judge][..., :3], -1, 0)
        judged = analysis.Judged(*verdicts, *labels_and_chances, errors, label_error)
        question_sums = judged.sums(matched.systems, compared.questions)
        accuracy, _ = judged_systems(question_sums, errors, "compare", label_error=label_error)
        with_interval = [of for of in accuracy["systems"].values() if of["low"] is not None]
        if len(with_interval) > 1:
            compared = replace(compared, judges={judge: judged})
            is_partial = any(of["labelled"] < of["rows"] for of in with_interval)
    numbers, row_scores = analysis.analyse(compared), compared.row_scores
    for metric, scorer in scorers.items():
        by_row = row_scores[metric][analysis.row_name(scorer, scorer.significance_scores[0])]
        deciding = by_row, by_row, np.ones_like(by_row, dtype=bool)
        if metric == judge:
            numbers[judge] |= {"accuracy": accuracy, "faults": _faults(matched, scorers[judge], statistics[judge])}
            deciding = judged.by_row, judged.judged, ~np.isnan(judged.labels)
        numbers[metric] |= _deciding_rows(matched, numbers[metric], *deciding, rows)
    slices, slice_remarks = None, []
    if by:
        verdicts = [judge] if accuracy and not compared.judges else []
        slices, slice_remarks = _slices(matched, by, compared, verdicts)
    run_changes = rounded(changes(matched, compared, reading.sources_by_system)) if reading.runs else None
    sizes = np.bincount(compared.questions)
    numbers = rounded(numbers)
    families = [next(iter(of["tests"].values()))["pairs"] for of in numbers.values()]
    tests = sum(pair["p_uncorrected"] is not None for pairs in families for pair in pairs)
    lengths = [options.length_note(metric, notes.values_by_system(of)) for metric, of in numbers.items()]
    report = CompareReport(
        genqa_metrics=__version__,
        inputs=inputs_of([*reading.sources, *label_sources], skips),
        settings={
            "resamples": resamples,
            "seed": seed,
            "confidence": CONFIDENCE,
            "interval": analysis.INTERVAL + analysis.OF_ACCURACY * is_partial,
            "level": LEVEL,
            "correction": "holm",
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
        metrics=numbers,
        slices=rounded(slices),
        changes=run_changes,
        notes=[
            *filter(None, lengths),
            *slice_remarks,
            *notes.skipped_notes(matched, skips),
            *label_notes,
            *(accuracy["notes"] if accuracy else []),
            *notes.question_notes(
                sizes, bool(accuracy), _least_half_width(numbers.get(judge, {})), comb(len(matched.systems), 2)
            ),
            *([] if is_partial else notes.unreachable_notes(sizes, tests, resamples)),
            *notes.metric_warnings(matched, scorers, statistics, counts),
        ],
        _matched=matched,
        _labels=label_file,
        _titles=[getattr(scorer, "title", "") or metric for metric, scorer in scorers.items()],
        _row_scores={name: scores for by_name in row_scores.values() for name, scores in by_name.items()},
        _threshold=scorers[judge].threshold if judge else 0.5,
        _fits=fits,
    )
    rankings = [report.ranking(metric) for metric in numbers]
    cautions = [] if run_changes else notes.word_cautions(scorers, matched, numbers)
    opposite = [reversals(report, ranking) for ranking in rankings if by and not ranking.only_verdicts]
    first = chain.from_iterable(first_systems(report, ranking) for ranking in rankings)
    changed = changes_between_runs(report) if run_changes else []
    further = [*cautions, *chain.from_iterable(opposite), *changed]
    return replace(report, conclusions=[*first, *map(Finding, further)])


@dataclass(frozen=True, eq=False, repr=False)
class CompareReport(Report):
    """Systems on the same questions: scores with intervals, tests of all pairs, ranks.

    Numbers have six significant digits.

    Attributes:
        settings: what the numbers depend on, as "signatures" of the metrics.
        matched_by: what showed which rows belong together.
        questions: number of questions.
        row_count: number of rows of each system.
        text: what was asked, "question" or "context".
        left_out: {reason: number of rows or questions}, "skipped_rows" {system: bad rows}.
        metrics: {metric: its "scores", "tests" and "rows", and of a judge "accuracy" (see
            `judge_errors.judged_systems`) and "faults"; "deciding": rows in which each of the two closest is better}.
        slices: with `by` {"column", "metrics": {metric: {slice: {"questions", "scores", "pairs"}}}}, else None.
        changes: of two runs {"runs", "answers_changed", "judge", "metrics": {metric: {"better", "worse", ...}}}, else
            None.
        notes: what a reader must know before the numbers.
        conclusions: which systems are first by every metric, slices that say the opposite, and what changed;
            `findings` are their sentences.
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
    _row_scores: dict[str, np.ndarray]  # {name: (rows, systems)}
    _labels: str  # file to which `label` adds; "" where it adds to none
    _titles: list[str]  # of the metrics
    conclusions: list[Finding] = field(default_factory=list)
    _threshold: float = 0.5  # from which on the judge calls an answer right
    _fits: bool = False  # whether a terminal shows only as many rows as fit

    def __repr__(self) -> str:
        text = f"{len(self.systems)} systems, {self.questions:,} questions; {self.findings[0]}"
        return f"CompareReport({visible(text)})"

    @property
    def title(self) -> str:
        """What the page is called."""
        return f"Comparison of {len(self.systems)} systems on {self.questions:,} questions"

    @property
    def next_steps(self) -> list[str]:
        """What to do where the accuracy cannot be told, and how many questions show a difference that is not clear."""
        _, steps = untold(self.notes)
        by = next((by for by in map(self.ranking, self.metrics) if by.accuracy), None)
        if steps or not by:
            return steps
        systems = by.accuracy["systems"]
        by_judge = any(of["basis"] == MEASURED for of in systems.values())
        is_close = len(by.significant) < len(by.pairs)
        is_complete = all(of["labelled"] == of["rows"] for of in systems.values())
        if by_judge or (is_close and not is_complete):
            return [as_sentence(_more_labels(systems, self._labels))]
        with_these = self.questions, _least_half_width(self.metrics[by.metric])
        enough = f"with {self.questions:,}, {what_questions_show(*with_these)}"
        return [f"Add questions: {enough if self.questions >= FEW else questions_needed(*with_these)}."] * is_close

    scores = property(lambda self: {metric: numbers["scores"] for metric, numbers in self.metrics.items()})
    tests = property(lambda self: {metric: numbers["tests"] for metric, numbers in self.metrics.items()})
    rows = property(lambda self: {metric: numbers["rows"] for metric, numbers in self.metrics.items()})

    def to_dict(self) -> dict:
        """Return everything as one object of types that JSON has."""
        content = super().to_dict()
        return {"rows" if name == "row_count" else name: content[name] for name in content if name != "conclusions"}

    def ranking(self, metric: str, name: str | None = None) -> Ranking:
        """Return the ranking of systems by a tested score of a metric, by default its first tested score."""
        return ranking_by(metric, name or next(iter(self.tests[metric])), self.metrics[metric])

    def too_few_differ(self, pair: Mapping[str, Any]) -> str:
        """Return that two systems differ on too few questions for a p-value below 5%; "" otherwise."""
        if pair["differing"] is None or pair["differing"] >= LEAST_DIFFERING:
            return ""
        unit = self.text or "row"
        differ = f"{unit} differs" if pair["differing"] == 1 else f"{unit}s differ"
        return f"only {pair['differing']} {differ}; a test needs {LEAST_DIFFERING}"

    def label(self, number: int, system: str) -> float | None:
        """Return people's label of a system's answer to the question with this number, from 1; None without one."""
        return self._matched.rows[number - 1][self.systems.index(system)].item.human[1]

    def probability(self, number: int, system: str) -> str:
        """Return the judge's probability that a system's answer to the question with this number, from 1, is right."""
        probability = self._row_scores[scorer_class(judge_among(self.metrics)).graded][number - 1]
        return short_probability(float(probability[self.systems.index(system)]), self._threshold)

    def answers(self) -> list[dict[str, Any]]:
        """Return a row for every answer, question by question.

        Returns:
            "number" of the question (from 1), "id", "system", "question", "references", "prediction", "label" (of
            people; None without one), and the answer's scores by their names.
        """
        return [
            {"number": q + 1, "id": rows[0].item.id, "system": system, "question": rows[0].item.text}
            | {"references": rows[0].item.references, "prediction": " | ".join(row.item.predictions)}
            | {"label": row.item.human[1]}
            | {name: float(scores[q, s]) for name, scores in self._row_scores.items()}
            for q, rows in enumerate(self._matched.rows)
            for s, (system, row) in enumerate(zip(self.systems, rows, strict=True))
        ]

    def answers_of_page(self) -> list[ViewedAnswer]:
        """Return the answers of all systems, question by question; scores of the judge stand as its verdict."""
        judge = judge_among(self.metrics)
        names = [name for name in self._row_scores if not (judge and name.startswith(f"{judge}_"))]
        rows = [row | {"question": row["question"] or f"row {row['number']}"} for row in self.answers()]
        return [scored_answer(row, judge, {name: row[name] for name in names}) for row in rows]

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
        rows, unranked = [], dict.fromkeys(("cluster", "best_rank", "worst_rank"))
        for metric, numbers in self.metrics.items():
            for name, by_system in numbers["scores"].items() if of == "systems" else ():
                ranks = numbers["tests"].get(name, {"systems": {}})["systems"]
                rows += [
                    {"metric": metric, "score": name, "system": system, **score, **ranks.get(system, unranked)}
                    for system, score in by_system.items()
                ]
            for name, tests in numbers["tests"].items() if of == "pairs" else ():
                for pair in tests["pairs"]:
                    lead, low, high = pair["difference"].values()
                    difference = {"difference": lead, "difference_low": low, "difference_high": high}
                    rows.append({"metric": metric, "score": name, **pair, **difference})
        return pandas.DataFrame(rows).convert_dtypes()

    def _pairs_tables(self, metric: str) -> list[Table]:
        """Return the tests of all pairs by each score, but not by verdicts on answers that people labelled."""
        rankings = [self.ranking(metric, name) for name in self.tests[metric]]
        return [pairs_table(self, by) for by in rankings if not by.too_few_labels]

    def tables(self) -> list[Table]:
        """Return the tables, metric by metric: systems, pairs, slices; and what changed between two runs."""
        by_metric = (
            [systems_table(self, metric), *self._pairs_tables(metric), *slice_tables(self, metric)]
            for metric in self.metrics
        )
        return [*chain.from_iterable(by_metric), *change_tables(self)]

    @property
    def page_headline(self) -> str:
        """How many answers were scored by what, and how many have a label of a person."""
        by = listed([scorer_class(name).title if name in SCORERS else name for name in self.metrics])
        return f"{self.row_count * len(self.systems):,} answers, scored by {by}"

    @property
    def page_conclusions(self) -> list[Finding]:
        """The findings, without those that stand with the tables of further metrics."""
        by_metric = [first_systems(self, self.ranking(metric)) for metric in self.metrics]
        beside = [*chain.from_iterable(by_metric[1:])]
        return [finding for finding in self.conclusions if finding not in beside]

    @property
    def certainty(self) -> list[str]:
        """The interval of a difference that no finding has, the correction, and what the accuracy rests on."""
        by, sentences, tests = self.ranking(next(iter(self.metrics))), [], self.settings["tests"]
        low, high = (by.pairs[0]["difference"][end] for end in ("low", "high"))
        if len(by.pairs) == 1 and low is not None and not by.judged:
            p = f", p {p_value(by.pairs[0]['p_corrected'])}" * (not self.too_few_differ(by.pairs[0]))
            sentences.append(f"The difference is between {low:+.3f} and {high:+.3f} (95% interval{p}).")
        if len(by.pairs) > 1 and tests > 1 and not by.only_verdicts:
            sentences.append(f"A lead is significant if p, corrected for {tests:,} tests, is below 0.05.")
        return [*sentences, *self._what_decides()]

    def _what_decides(self) -> list[str]:
        """Return [what the accuracy rests on, labels or the judge]; [] without a judge."""
        if not (judge := judge_among(self.metrics)):
            return []
        title = self._titles[[*self.metrics].index(judge)]
        return [what_decides(self.metrics[judge]["accuracy"]["systems"], f"the judge {title}")]

    def page_facts(self) -> list[str]:
        """Return what the numbers rest on, with what the tables of systems and pairs are."""
        facts = []
        for metric in self.metrics:
            for by in (self.ranking(metric, name) for name in self.tests[metric]):
                first, table = by.name == next(iter(self.tests[metric])), systems_table(self, metric, ranks=False)
                facts += [f"{page_title_of_systems(by)}: {table.explanation.replace(f' {BEST}', '')}"] * first
                facts += [f"{page_title_of_pairs(by)}: {pairs_table(self, by).explanation}"] * (not by.too_few_labels)
        return [*self.facts(), *facts]

    def _first_tables(self) -> list[Table]:
        """Return the tables that the page shows: systems by every metric, their differences, scores by slice."""
        tables = change_tables(self)
        for metric in self.metrics:
            by = self.ranking(metric)
            table = page_systems_table(self, by)
            findings = first_systems(self, by) if metric != next(iter(self.metrics)) else []
            tables.append(replace(table, explanation=" ".join([*map(str, findings), table.explanation]).strip()))
            tables += [page_pairs_table(self, by)] * (not by.only_verdicts)
            tables += slice_tables(self, metric)[:1]
        return tables

    def _of_faults(self, metric: str) -> list[str]:
        """Return [a sentence] on why answers were judged wrong by a metric; [] where that is not known."""
        return of_faults(self.metrics[metric]["faults"], self.metrics[metric].get("accuracy"))

    def page_tables(self) -> list[Table]:
        """Return the tables of the page: `open_tables` that are shown, then folded ones with further tests."""
        first, folded = self._first_tables(), []
        for metric in self.metrics:
            is_open = not self.ranking(metric).only_verdicts  # the tests by its first score
            rankings = [self.ranking(metric, name) for name in self.tests[metric]]
            pairs = [page_pairs_table(self, by) for by in rankings if not by.too_few_labels]
            if faults := self.metrics[metric].get("faults"):
                table = faults_table(faults, scorer_class(metric).faults)
                folded += [replace(table, explanation=f"{of}. {table.explanation}") for of in self._of_faults(metric)]
            folded += [*pairs[is_open:], *slice_tables(self, metric, on_page=True)[1:]]
        return [*first, *folded]

    @property
    def open_tables(self) -> int:
        """How many tables the page shows."""
        return len(self._first_tables())

    def intervals(self) -> dict[str, Intervals]:
        """Return what the page draws in the tables of systems and of pairs."""
        pictures = {}
        for metric, tests in self.tests.items():
            for by in (self.ranking(metric, name) for name in tests):
                pictures[page_title_of_pairs(by)] = intervals_of_pairs(by)
            by = self.ranking(metric)
            pictures[page_title_of_systems(by)] = intervals_of_systems(self, by)
        return pictures

    def facts(self) -> list[str]:
        """Return what the numbers rest on, one sentence or line each."""
        settings = self.settings
        rows = f" in {self.row_count:,} rows of each" if self.row_count > self.questions else ""
        return [
            f"{len(self.systems)} systems, {self.questions:,} questions{rows}, matched by {self.matched_by}",
            *(f"left out: {count:,} {reason}" for reason, count in self.left_out.items() if count),
            *self._inputs(),
            *self.signatures.values(),
            f"intervals: {settings['interval']}",
            f"genqa-metrics {self.genqa_metrics}, {settings['resamples']:,} bootstrap samples, "
            f"seed {settings['seed']}, correction {settings['correction']}",
        ]

    def to_markdown(self) -> str:
        """Return the comparison in Markdown, with the rows that differ most."""
        sections = [super().to_markdown()]
        for metric, rows in self.rows.items():
            sections += [f"## {markdown(metric)}: rows that differ most"] * bool(rows)
            for row in rows:
                answers = Table("", ["score", "system", "answer"], [list(cells) for cells in shown_answers(row)])
                about = f"**{markdown(name_of(row))}** accepted: {markdown(' | '.join(row['references']))}"
                sections += [about, markdown_table(answers)]
        return "\n\n".join(sections)

    @property
    def headline(self) -> str:
        """What the accuracy rests on, and what was compared by other metrics, in one line."""
        answers, decides = self.row_count * len(self.systems), self._what_decides()
        scored = f"{answers:,} answers of {len(self.systems)} systems, scored by {listed(self._titles)}"
        return " ".join([*[f"{scored}{'.' * bool(decides)}"] * ([*self.metrics] != [JUDGE]), *decides])

    def show(self, console) -> None:
        """Print the finding and what to do next, one line a system, and the rows that decide."""
        blocks = {}
        with console.capture() as top:
            say_findings(console, self.conclusions, self.headline)
            say_next(console, self.next_steps)
        for metric in self.metrics:
            with console.capture() as block:
                print_metric(self, metric, console)
            blocks[metric] = block.get().rstrip("\n") + "\n"  # what follows begins with an empty line
        with console.capture() as end:
            console.print()
            say(console, ["All tests and signatures: --verbose"], "dim")
        lines = "".join([top.get(), *blocks.values(), end.get()]).count("\n")
        console.file.write(top.get())
        room = (SCREEN - lines) // len(blocks) - HEADING
        for position, (metric, block) in enumerate(blocks.items()):
            console.file.write(block)
            if not self.changes and (room > 0 or not position or not self._fits):  # changes have the rows
                print_deciding_rows(self, metric, console, max(room, 1) if self._fits else None)
        for table in change_tables(self, self.settings["rows"]):
            console.print()
            print_table(table, console)
        console.file.write(end.get())

    def show_all(self, console) -> None:
        """Print the findings, all tables, what they rest on, and the rows that decide."""
        say_findings(console, self.conclusions, self.headline)
        say_next(console, self.next_steps)
        super().show_all(console)
        for metric in self.metrics if not self.changes else ():
            print_deciding_rows(self, metric, console)


def _least_half_width(numbers: Mapping[str, Any]) -> float:
    """Return half of the shortest interval of a lead in accuracy, from the numbers of the judge; 0 without one."""
    pairs = numbers.get("tests", {}).get(analysis.ACCURACY, {}).get("pairs", ())
    ends = [(pair["difference"]["low"], pair["difference"]["high"]) for pair in pairs]
    return min(((high - low) / 2 for low, high in ends if low is not None), default=0.0)


def _more_labels(systems: Mapping[str, Mapping], path: str) -> str:
    """Return how many answers to label next, and the commands that add labels to a file and use them."""
    labelled, rows = [of["labelled"] for of in systems.values()], max(of["rows"] for of in systems.values())
    if not any(labelled):
        return to_label(systems, "compare", CAN_ERR_MORE)
    number = min(max(LABELS_TO_BEGIN, 2 * min(labelled)), rows)
    left = sum(of["rows"] - of["labelled"] for of in systems.values())
    answers = f"{number:,} answers of every system" if number < rows else f"the other {left:,} answers"
    return f"label {answers}{label_more(path, number, 'compare')}"


def _take_labels(
    matched: Matched, reading: SystemRows, sources: Sequence[Source], skips: Skips
) -> tuple[list[str], float]:
    """Set the labels of the rows, from files or from the rows themselves as `accuracy` reads them.

    Return notes on them, and the share of labels that are taken to be wrong.
    """
    if judge_among(reading.scorers) is None:
        if sources:
            expected = f"expected the judge {JUDGE}, whose verdicts they correct"
            raise FileError(f"labels: {expected}, got other metrics; add {JUDGE}")
        return [], 0.0
    items, label_notes = [row.item for question in matched.rows for row in question], []
    ratings = [[(item.human[1], (item.chance, None, item.until), "")] for item in items]
    labels = read_labels(sources, items, ratings, reading.columns, skips, label_notes)
    if labels:
        labels.replace_those_of(items)
    return label_notes, labels.error if labels else 0.0


def _deciding_rows(
    matched: Matched,
    numbers: Mapping[str, Any],
    by_row: np.ndarray,
    finer: np.ndarray,
    labelled: np.ndarray,
    most: int,
) -> dict[str, Any]:
    """Return {"deciding": wins of the two closest systems, "rows": rows on which these, or else all systems, differ}.

    Scores are (rows, systems), see `most_different`. Rows come first of which both answers have a label.
    """
    name, tests = next(iter(numbers["tests"].items()))
    scores, pairs = numbers["scores"][name], tests["pairs"]
    if (
        "accuracy" in numbers and name != analysis.ACCURACY and labelled.all()
    ):  # of too few questions for an accuracy: nothing was tested
        scores, pairs = {s: {"value": mean} for s, mean in zip(matched.systems, by_row.mean(axis=0), strict=True)}, []
    closest = analysis.closest_pair(scores, pairs)
    two = [matched.systems.index(system) for system in closest]
    columns, both = sorted(two), labelled[:, two].all(axis=1)
    chosen = analysis.most_different(by_row[:, columns], most, finer[:, columns], both)
    chosen = chosen or analysis.most_different(by_row, most, finer)
    lead = by_row[:, two[0]] - by_row[:, two[1]]
    slack = 1e-12 * np.abs(by_row[:, two]).max(axis=1)
    better = {closest[0]: int((lead > slack).sum()), closest[1]: int((lead < -slack).sum())}
    return {"deciding": better, "rows": [matched.reported(row, by_row[row]) for row in chosen]}


def _faults(matched: Matched, judge: Scorer, sums: np.ndarray) -> dict[str, dict[str, int]]:
    """Return {system: {fault: answers}}; see `scoring.faults_of_rows`."""
    counts = {}
    for s, system in enumerate(matched.systems):
        items = [question[s].item for question in matched.rows]
        columns = {
            judge.verdict: sums[:, s, 0],
            "label": [item.human[1] for item in items],
            "question": [item.text for item in items],
            "references": [item.references for item in items],
            "prediction": [item.predictions[0] for item in items],
        }
        counts[system] = Counter(filter(None, faults_of_rows(columns, judge)))
    return faults_in_order(judge, counts)


def _slices(
    matched: Matched, by: str, compared: analysis.Compared, verdicts: Sequence[str]
) -> tuple[dict[str, Any], list[str]]:
    """Return the comparison within every slice, and notes on the slices; verdicts have no interval of accuracy."""
    for question in matched.rows:
        if len({row.slice for row in question}) > 1:
            named = zip(matched.systems, question, strict=True)
            got = ", ".join(f"{row.slice!r} for {name}" for name, row in named)
            raise FileError(
                f"{question[0].where}: by: expected one value of {by} for a question, got {got}; a column "
                "for --by says something about the question, such as its topic"
            )
    metrics = analysis.analyse_slices(compared, places_of(by, [question[0].slice for question in matched.rows]))
    estimated = {
        name
        for metric, slices in metrics.items()
        for name, of in slices.items()
        if metric not in verdicts and not all(np.isnan(score["low"]) for score in of["scores"].values())
    }
    questions = {name: of["questions"] for name, of in next(iter(metrics.values())).items()}
    return {"column": by, "metrics": metrics}, slice_notes(by, questions, "questions", estimated)
