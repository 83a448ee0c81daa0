"""Compares systems on the same questions: what `genqa-metrics compare` prints and `genqa_metrics.compare` returns."""

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from ...core.scorer import Scorer
from ...registry import judge_among, scorer_class
from ...reports.excerpt import nearest_part
from ...reports.report import MOST_CHARACTERS, WIDTH, Report, briefly, either, of_faults, say
from ...reports.table import (
    Table,
    estimate,
    latex_table,
    listed,
    markdown,
    markdown_code,
    markdown_table,
    number,
    print_table,
    visible,
)
from ...rows.errors import FileError, bad_usage
from ...rows.reading import Message, Progress, Skips, ignore, inputs_of
from ...rows.sources import Source
from ...scale import options
from ...scale.run import item_statistics
from ...scale.tally import fault_counts, label_of, named_faults
from ...statistics.estimation import LABELS, TOGETHER
from ...statistics.intervals import CONFIDENCE, MIN_QUESTIONS, kish
from ...statistics.resampling import CORRECTIONS, FEW, LEVEL, smallest_p
from ..explain.kpqa import Explanation, explanation
from ..inputs import digested_sources, places_of, question_numbers, rounded, slice_notes
from ..judge_errors import calibrated_on, judged_systems
from ..labels import read_labels
from . import analysis
from .page import MAX_NOTES, comparison_page
from .rows import Matched, SystemRows
from .tables import (
    BEST,
    CLUSTERS,
    MAX_SLICE_TESTS,
    Ranking,
    change_tables,
    name_of,
    other_pairs,
    pairs_table,
    short_table,
    shown_answers,
    slice_tables,
    systems_table,
)
from .two_runs import changes

MAX_PAIRS = 15  # in the terminal and in LaTeX; of more pairs those of neighbours in the ranking
MOST_SHARES = 6  # systems that a sentence lists


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
    >>> compare(rows, ["aev"], {"aev": {"max_order": 1}}, resamples=200).findings
    ['aev: a is significantly better than the other system.']
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
    label_notes = _take_labels(matched, reading, label_sources, skips)
    items, shape = matched.items, (len(matched.rows), len(matched.systems), -1)
    asked = question_numbers([next((row.item.text for row in rows if row.item.text), None) for rows in matched.rows])
    sums, counts = item_statistics(items, reading.scorers, progress)
    statistics = {metric: of_rows.reshape(shape) for metric, of_rows in sums.items()}
    scorers: dict[str, Scorer] = dict(reading.scorers)
    for place, column in enumerate(score_columns):
        values = np.array([[row.given[place] for row in question] for question in matched.rows], dtype=float)
        scorers[column] = analysis.Column(column=column)
        statistics[column] = np.stack([values, np.ones_like(values)], axis=2)
    judge, accuracy, labelled, some = judge_among(reading.scorers), None, {}, False
    if judge:
        labels_of, chances = [label_of(item) for item in items], [item.chance or 1.0 for item in items]
        of_people = (np.array(part).reshape(shape[:2]) for part in (labels_of, chances))
        judged = analysis.Judged(statistics[judge][..., 1], statistics[judge][..., 0], *of_people)
        by_system = dict(zip(matched.systems, judged.sums(asked), strict=True))
        accuracy = judged_systems(by_system, scorers[judge], ignore_judge_errors, counts[judge])
        of_each = accuracy["systems"].values()
        by_labels = all(values["basis"] in (LABELS, TOGETHER) and values["low"] is not None for values in of_each)
        # Of two runs the verdicts are compared: their rows say what one judge makes of both.
        labelled = {judge: judged} if by_labels and not reading.runs else {}
        some = bool(labelled) and bool(np.isnan(judged.labels).any())
    sampling = resamples, seed, correction, asked, labelled
    numbers = analysis.analyse(matched.systems, scorers, statistics, *sampling)
    for metric, scorer in scorers.items():
        main = scorer.significance_scores[0]
        of_metric = statistics[metric]
        by_row = labelled[metric].by_row if metric in labelled else analysis.row_scores(scorer, of_metric, main)
        finer = statistics[judge][..., 1] if metric == judge else by_row
        scores = numbers[metric]["scores"][next(iter(numbers[metric]["tests"]))]
        best = analysis.closest_pair(scores, next(iter(numbers[metric]["tests"].values()))["pairs"])
        two = [place for place, system in enumerate(matched.systems) if system in best]
        chosen = analysis.most_different(by_row[:, two], rows, finer[:, two])
        chosen = chosen or analysis.most_different(by_row, rows, finer)
        numbers[metric]["rows"] = [matched.reported(row, by_row[row]) for row in chosen]
    if accuracy:
        numbers[judge]["accuracy"] = accuracy
        numbers[judge]["faults"] = _faults(matched, scorers[judge], statistics[judge])
    slices, slice_remarks = None, []
    if by:
        verdicts = [judge] if accuracy and accuracy["errors_counted"] and judge not in labelled else []
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
            "interval": analysis.INTERVAL + analysis.BY_LABELS * some,
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
        changes=rounded(changes(matched, scorers, statistics, of_run)) if reading.runs else None,
        notes=[
            *_length_notes(numbers, matched.systems),
            *slice_remarks,
            *_skipped_notes(matched, skips),
            *label_notes,
            *calibrated_on(reading.scorers.values(), [*reading.sources, *label_sources]),
            *(accuracy["notes"] if accuracy else []),
            *_question_notes(sizes),
            *([] if some else _unreachable_notes(sizes, tests, resamples, correction)),
            *_metric_warnings(matched, scorers, statistics, counts),
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
            `judge_errors.judged_systems`) and "faults"}.
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
        text = f"{len(self.systems)} systems, {self.questions:,} questions; {' '.join(self.findings)}"
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
        values = [self._finding(metric) for metric in self.metrics]
        values += [line for metric in self.metrics for line in self._reversals(metric)]
        return values + self._changed()

    def _finding(self, metric: str) -> str:
        """Return in one sentence which systems are first."""
        by = Ranking(self, metric)
        name, order, scores = by.name, by.order, [by.scores[system]["value"] for system in by.order]
        first = [system for system in order if by.places[system]["cluster"] == 1]
        if name == f"{metric}_{analysis.ACCURACY}":
            name = f"{scorer_class(metric).title}'s verdicts"
        if by.untold:
            shares = [f"{system} {number(share, 2)}" for system, share in zip(order, scores, strict=True)]
            listing = f"{', '.join(shares[:MOST_SHARES])}{', ...' * (len(shares) > MOST_SHARES)}"
            behind = [pair for pair in by.pairs if pair["first"] == order[0] and self.is_clear(pair)]
            if not behind:
                untold = "Which system has more right answers cannot be told: the judge accepts"
                return f"{untold} {listing}{self._further(by)}."
            worse = [pair["second"] for pair in behind]
            best = [system for system in order if system not in worse]
            clear = {(pair["first"], pair["second"]) for pair in by.pairs if self.is_clear(pair)}
            ahead = best if clear.issuperset(product(best, worse)) else best[:1]
            said = f"{briefly(ahead)} {'is' if len(ahead) == 1 else 'are'} significantly ahead of {briefly(worse)}"
            said += f" ({estimate(behind[0]['difference'])})" if len(worse) == len(ahead) == 1 else ""
            further = self._further(by, set(product(ahead, worse))).removeprefix("; ")
            said += f", {further}" if further else ""
            said += f" ({either(best)}: not decided)" if len(best) > 1 else ""
            return f"In the judge's verdicts {said}; how many answers are right cannot be told: it accepts {listing}."
        if len(first) == 1:
            others = "the other system" if len(order) == 2 else f"each of the {len(order) - 1} others"
            return f"{name}: {first[0]} is significantly better than {others}{self._further(by)}."
        if scores[0] == scores[1]:
            tied = [system for system, score in zip(order, scores, strict=True) if score == scores[0]]
            rest = "" if len(tied) == len(order) else ", above the other" + "s" * (len(order) - len(tied) > 1)
            names = listed(tied) if briefly(tied) == listed(tied) else f"{tied[0]} and {len(tied) - 1} others"
            return f"{name}: {names} are tied, their scores are equal{rest}{self._further(by)}."
        if len(first) == len(order) == 2:
            return f"{name}: {order[0]} is ahead, but not significantly; the two may be equally good."
        best, worse = by.best, [system for system in order if system not in by.best]
        clear = {(pair["first"], pair["second"]) for pair in by.pairs if self.is_clear(pair)}
        than_all = set(product(best, worse)) if clear.issuperset(product(best, worse)) else set()
        near = [system for system in best if system != order[0]]
        said = f"{name}: {order[0]} has the highest score; its lead over {briefly(near)} may be chance"
        if worse:
            than = briefly(best) if than_all else order[0]
            said += f"; {briefly(worse)} {'is' if len(worse) == 1 else 'are'} significantly worse than {than}"
            undecided = [pair for pair in product(near, worse) if pair not in clear]
            said += f"; {either(undecided[0])}: not decided" if len(undecided) == 1 else ""
        return f"{said}{self._further(by, than_all)}."

    def _further(self, by: Ranking, known: Container[tuple[str, str]] = ()) -> str:
        """Return which other systems than the first one are significantly ahead of which, with a semicolon before."""
        pairs = [(pair["first"], pair["second"]) for pair in by.pairs if self.is_clear(pair)]
        pairs = [pair for pair in pairs if pair[0] != by.order[0] and pair not in known]
        said = " and ".join(f"{first} is significantly ahead of {second}" for first, second in pairs)
        if len(said) > 2 * MOST_CHARACTERS:
            said = f"{len(pairs):,} further pairs differ significantly"
        return f"; {said}" if said else ""

    def _reversals(self, metric: str) -> list[str]:
        """Return a sentence for every slice in which a pair is significantly the other way round than overall."""
        by = Ranking(self, metric)
        if not self.slices or by.untold:
            return []
        pairs = self.metrics[metric]["tests"][by.name]["pairs"]
        overall = {(pair["first"], pair["second"]): pair["difference"]["value"] for pair in pairs}
        result = []
        for slice_name, numbers in self.slices["metrics"][metric].items():
            for pair in filter(self.is_clear, numbers["pairs"]):
                here = pair["difference"]["value"]
                if here * overall[(pair["first"], pair["second"])] < 0:
                    better, worse = (pair["first"], pair["second"]) if here > 0 else (pair["second"], pair["first"])
                    result.append(
                        f"{by.name}: in {self.slices['column']} {slice_name}, {better} is significantly better than "
                        f"{worse} ({abs(here):.3f}), which is ahead overall."
                    )
        return result

    def _changed(self) -> list[str]:
        """Return what changed between two runs; nothing where there are none."""
        if not self.changes:
            return []
        runs, of_judges = self.changes["runs"], []
        between = " and ".join(runs)
        changed = self.changes["answers_changed"]
        items = [f"answers: {changed:,} of {self.questions:,} differ between {between}."]
        for metric, entry in self.changes["metrics"].items():
            name = entry["score"]
            values = [number(self.metrics[metric]["scores"][name][run]["value"]) for run in runs]
            clear = "" if self.is_clear(self.metrics[metric]["tests"][name]["pairs"][0]) else "not "
            items.append(
                f"{name}: {len(entry['better']):,} got better, {len(entry['worse']):,} got worse, {entry['same']:,} "
                f"are the same; {' -> '.join(values)}, {clear}significant."
            )
            differs = self.changes["judge"][metric]["differs"]
            if differs is not None:
                parts = ", ".join(f"{part} {how}" for part, how in differs.items())
                how = f"were made differently: {parts}" if parts else "have the same signature"
                of_judges.append(f"{metric}: the scores in the files of {between} {how}.")
            if entry["recorded"]:
                of_judges.append(
                    f"{metric}: {len(entry['recorded']):,} recorded scores changed though the answer did not: the "
                    "judge changed between the runs. The other numbers here are all by one judge."
                )
        return items + of_judges

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
        from rich.text import Text

        self._show_findings(console, self.title, MAX_NOTES)
        for metric in self.metrics:
            console.print()
            print_table(short_table(self, metric), console)
            say(console, other_pairs(self, metric))
            if faults := of_faults(self.metrics[metric].get("faults", {})):
                say(console, [*faults, ""])
            scores_and_tests = slice_tables(self, metric, most=0)
            for table in scores_and_tests[:1] if Ranking(self, metric).untold else scores_and_tests:
                if table.rows:
                    print_table(table, console)
                else:
                    say(console, [f"No difference within a {self.slices['column']} is significant.", ""])
            if not self.changes:  # they have the rows
                self._show_rows(console, metric)
        for table in change_tables(self, self.settings["rows"]):
            print_table(table, console)
        console.print()
        console.print(Text("All tests, what they rest on, and signatures: --verbose", style="dim"))

    def show_all(self, console) -> None:
        """Print the whole comparison."""
        say(console, self.findings, "bold")
        say(console, [f"note: {note}" for note in self.notes], "bold yellow")
        for metric in self.metrics:
            for table in self._of_metric(metric, MAX_PAIRS):
                print_table(table, console)
            if not self.changes:
                self._show_rows(console, metric)
        for table in change_tables(self):
            print_table(table, console)
        say(console, [CLUSTERS, *self.facts()])

    def _show_rows(self, console, metric: str) -> None:
        """Print the rows on which the systems differ most."""
        from rich.text import Text

        rows = self.rows[metric]
        by = Ranking(self, metric)
        between = f" between {listed(by.to_read)}" * (len(self.systems) > 2)
        (read,) = (pair for pair in by.pairs if {pair["first"], pair["second"]} == set(by.to_read))
        deciding = read["wins"] + read["losses"]
        if len(self.systems) > 2:
            first, second = read["first"], read["second"]
            between += f": {first} is better in {read['wins']:,}, {second} in {read['losses']:,}"
        between += f" ({len(rows):,} of {deciding:,} shown)" * (deciding > len(rows))
        labelled = {
            (row["row"], system): by.name == analysis.ACCURACY and answer.item.human[1] is not None
            for row in rows
            for system, answer in zip(self.systems, self._matched.rows[row["row"] - 1], strict=True)
        }
        mixed, seen = len(set(labelled.values())) > 1, ""
        if "accuracy" in self.metrics[metric]:
            by_labels = ", by people's labels" + " or the judge" * mixed
            seen = by_labels if any(labelled.values()) else ", as the judge sees them, which may be wrong"
        say(console, [f"Rows that decide{between}{seen}"] * bool(rows), "bold")
        grades = {"1.000": "right", "0.000": "wrong"} if "accuracy" in self.metrics[metric] else {}
        width = min(console.width, WIDTH)
        for row in rows:
            expected, id_ = " | ".join(row["references"]), f"{row['id']}  " * (row["id"] is not None)
            name = id_ + nearest_part(row["text"] or f"row {row['row']}", width * 3 // 5)
            wanted = nearest_part(expected, max(width - len(f"{name}  []"), 12))
            console.print(Text.assemble(name, (f"  [{wanted}]", "dim")), no_wrap=True, overflow="crop")
            answers = shown_answers(row)
            of_name = max(len(visible(system)) for _, system, _ in answers)
            if len(answers) > 3:
                answers = [cells for cells in answers if cells[1] in by.to_read]
            for score, system, answer in answers:
                judged = " (judge)" * (mixed and not labelled[row["row"], system])
                start = f"  {grades.get(score, score) + judged:<{len('right (judge)') if mixed else 0}}  "
                shown = nearest_part(answer, width - len(start) - of_name - 2, expected)
                named = (f"{visible(system):<{of_name}}", "bold")
                console.print(Text.assemble(start, named, f"  {shown}"), no_wrap=True, overflow="crop")

    def to_html(self) -> str:
        """Return the comparison as one HTML page that needs no outside resource; see `comparison_page`."""
        return comparison_page(self)


def _take_labels(matched: Matched, reading: SystemRows, sources: Sequence[Source], skips: Skips) -> list[str]:
    """Give the rows the labels of files, or those in the rows as `accuracy` reads them; return notes on them."""
    if judge_among(reading.scorers) is None:
        if sources:
            raise FileError("labels: expected the judge ava, whose verdicts they correct, got other metrics; add ava")
        return []
    items, notes = [row.item for question in matched.rows for row in question], []
    plans = [(item.chance, None) for item in items]
    labels = read_labels(sources, items, plans, reading.columns, skips, notes, error=0.0)
    if labels:
        labels.replace_those_of(items)
    return notes


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


def _question_notes(sizes: np.ndarray) -> list[str]:
    """Return notes on repeated questions and on too few of them for intervals, from (questions,) numbers of rows."""
    questions, rows, number = len(sizes), int(sizes.sum()), float(kish(sizes))
    notes = []
    if questions < rows:
        notes.append(f"{rows:,} rows of {questions:,} questions: rows of one question count together")
    if number < questions - 1 and number < FEW:
        said = f"one question has {sizes.max():,} of {rows:,} rows: all count as about {number:.0f} equal questions"
    else:
        said = f"only {questions:,} questions" if questions > 1 else "only one question"
    if number < MIN_QUESTIONS - 1e-9:
        notes.append(f"{said}: too few for intervals, which need {MIN_QUESTIONS}")
    elif number < FEW:
        notes.append(f"{said}: only clear differences can be told from chance")
    return notes


def _unreachable_notes(sizes: np.ndarray, tests: int, resamples: int, correction: str) -> list[str]:
    """Return a note where no corrected p of so many tests can be below the level; none elsewhere."""
    questions = float(kish(sizes))
    times = tests if correction in ("holm", "bonferroni") else 1
    asked = "one question" if len(sizes) == 1 else f"{len(sizes):,} questions"
    with_tests = f" and {tests} tests" if times > 1 else ""
    if smallest_p(questions) * times >= LEVEL:
        return [f"with {asked}{with_tests} no p-value can be below {LEVEL:g}, whatever the scores are"]
    if times / (1 + resamples) >= LEVEL:
        return [
            f"with {tests} tests and {resamples} bootstrap samples hardly a corrected p can be below {LEVEL:g}; use "
            f"--resamples {math.ceil(2 * times / LEVEL)}"
        ]
    return []


def _length_notes(metrics: Mapping[str, Mapping[str, Any]], systems: Sequence[str]) -> list[str]:
    """Return notes on systems whose answers differ in length; see `options.length_note`."""
    values = {
        metric: {system: {name: of[system]["value"] for name, of in numbers["scores"].items()} for system in systems}
        for metric, numbers in metrics.items()
    }
    return [note for metric, of_systems in values.items() if (note := options.length_note(metric, of_systems))]


def _skipped_notes(matched: Matched, skips: Skips) -> list[str]:
    """Return a note on bad rows, whose questions were left out for all systems."""
    if not skips.skipped:
        return []
    text = ", ".join(f"{system} {rows:,}" for system, rows in skips.by_system.items())
    return [
        f"bad rows were skipped ({text or f'{skips.skipped:,} of no known system'}), and their questions for all "
        f"systems: {len(matched.rows):,} questions are left, which may be easier than the others; "
        'write "" for a system that gave no answer, which scores 0'
    ]


def _metric_warnings(
    matched: Matched, scorers: Mapping[str, Scorer], statistics: Mapping[str, np.ndarray], counts: Mapping
) -> list[str]:
    """Return what the metrics warn of; what is the same for several systems once."""
    notes = []
    for metric, scorer in scorers.items():
        sums = dict(zip(matched.systems, statistics[metric][..., :-1].sum(axis=0), strict=True))
        notes += [scorer.error_rate] * bool(scorer.error_rate)
        warnings = scorer.warnings(sums, counts.get(metric, {}))
        notes += [f"{metric}: {warning}" for warning in _gathered(warnings, matched.systems)]
    return notes


def _gathered(warnings: Sequence[str], systems: Sequence[str]) -> list[str]:
    """Write warnings that are the same for several systems once.

    >>> _gathered(["a: too long", "b: too long", "b: too short"], ["a", "b"])
    ['a, b: too long', 'b: too short']
    """
    of: dict[str, list[str]] = {}
    for warning in warnings:
        system = next((system for system in systems if warning.startswith(f"{system}: ")), "")
        of.setdefault(warning.removeprefix(f"{system}: "), []).extend([system] * bool(system))
    notes = []
    for warning, names in of.items():
        who = "all systems" if len(names) > 2 and len(names) == len(systems) else ", ".join(names)
        notes.append(f"{who}: {warning}" if who else warning)
    return notes
