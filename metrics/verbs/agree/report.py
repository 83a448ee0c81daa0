"""How well metrics agree with human scores: what `genqa-metrics agree` prints and `genqa_metrics.agree` returns."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...core.scorer import require_extra
from ...registry import judge_among
from ...reports.charts import Intervals
from ...reports.excerpt import nearest_part, plain, print_answers
from ...reports.report import WIDTH, Finding, Report, briefly, say
from ...reports.table import Table, estimate, listed, number, p_value, print_table, visible
from ...reports.viewer import ViewedAnswer
from ...rows import reading
from ...rows.errors import FileError, bad_usage, name_column
from ...scale import options
from ...statistics.correlation import LEAST_EACH
from ...statistics.intervals import CONFIDENCE
from ...statistics.intervals import MIN_QUESTIONS as MIN_EACH
from ...statistics.resampling import LEVEL
from ..calibrate.calibration import LEAST_EACH as LEAST_EACH_LABEL
from ..calibrate.calibration import LEAST_LABELS
from ..inputs import digested_sources, rounded
from ..judge_errors import confusion_table
from ..label.labels import agreement_fact, average_raters, rater_of, read_labels
from ..view.rows import scored_answer
from .measures import MIN_QUESTIONS, MIN_ROWS, PERMUTATIONS, Judgments, against_best, analyse, best_first, differing
from .rows import AgreeRow, baselines, groupings, human_column, metric_scores, read_rows

CORRELATIONS = {"pearson": "Pearson r", "spearman": "Spearman rho", "kendall": "Kendall tau-b"}
FIRST_NOTES, FIRST_ROWS, FIRST_SYSTEMS = 3, 5, 6  # on the first screen
MOST_CHARACTERS = 50  # of each text in the table of the worst rows
FIRST_COLUMNS = {  # of the table on the first screen, with their explanations
    "metric": "",
    "Pearson r": "",
    "AUC": " AUC: how often an answer that people call right scores above one that they call wrong; ties count half.",
    "p corrected": " p: permutation test of the difference of Pearson r from that of {best}, corrected (Holm).",
}
AGREEMENT, CLASSIFIED = "Agreement with people", "Telling right answers from wrong ones"
TOO_FEW = (
    f"Too few: an interval needs {MIN_QUESTIONS} questions and, for r, {LEAST_EACH} scores above and below the mean "
    f"({MIN_EACH} where scores are right or wrong)."
)


def agree(
    rows: object,
    human: str = "score",
    metrics: str | Sequence[str] | None = None,
    settings: options.Settings | None = None,
    seed: int = 0,
    *,
    labels: Any = None,
    columns: Mapping[str, str] | None = None,
    score_columns: str | Sequence[str] = (),
    group_columns: str | Sequence[str] = (),
    correct: float | None = None,
    resamples: int = 1000,
    worst: int = 10,
    on_error: options.OnError = "fail",
    problem: reading.Message = reading.ignore,
    progress: reading.Progress = reading.ignore,
) -> "AgreeReport":
    """Measure how well metrics agree with human scores: correlations, pairs, groups, thresholds.

    Args:
        rows: as for `score`, with a human score in every row, or labels beside them.
        human: the column with the human scores.
        metrics: names of metrics; None for the default ones of such rows, if no column holds scores.
        settings: {metric: {setting: value}}, or {setting: value} of the only metric.
        seed: the same rows and seed give the same numbers.
        labels: labels of people beside the rows, as for `accuracy`; human scores in the rows are not read then.
        columns: where a column has another name: {"prediction": "answer_text"}.
        score_columns: columns with other metric or human scores; higher is better.
        group_columns: columns to group by, beside question type, system, data set (source) and length of the answer.
        correct: human scores from here on count as right. Default: column label where every row has 0 or 1, else
            the middle of the range of the human scores.
        resamples: a tenth of the number of permutations.
        worst: number of rows to list on which a judge and the humans differ, worst first.
        on_error: "fail" at the first bad row, or "skip" and count bad rows.
        problem: called with each row that is left out.
        progress: called with what is scored, rows that are done, and all rows.

    Returns:
        What `genqa-metrics agree` prints; the numbers are the same.

    Raises:
        ValueError: if an argument or a row is bad; names the row and the fix.
        ImportError: if the packages of the extra `agree` are not installed.
    """
    from ... import __version__

    with bad_usage():
        require_extra("agree", "sklearn")
        counts = {"seed": seed, "resamples": resamples, "worst": worst}
        options.check_options(on_error, settings=settings, columns=columns, **counts)
        metrics = options.listed_names("metrics", metrics)
        score_columns = options.listed_names("score_columns", score_columns)
        group_columns = options.listed_names("group_columns", group_columns)
        columns = {**human_column(human), **options.checked_columns(columns)}
        sources = digested_sources(rows)
        label_sources = [] if labels is None else digested_sources(labels, "labels")
        if not (metrics or settings or score_columns):
            kind = reading.first_row_kind(sources, columns)
            metrics = options.default_metrics(kind) if kind else ()
        scorers = options.make_scorers(metrics, settings, sources)
        names = [name for scorer in scorers.values() for name in scorer.meta_evaluated]
        for column in score_columns:
            if column in names:
                raise ValueError(f"column: {column!r} is also the name of a score of --metric; rename the column")
    skips = reading.Skips(on_error == "skip", problem)
    all_rows, notes = read_rows(sources, columns, scorers, score_columns, group_columns, skips), []
    first_rows, raters = average_raters([row.item for row in all_rows], [rater_of(row.columns) for row in all_rows])
    all_rows = [all_rows[row] for row in first_rows]
    notes += [agreement_fact(raters)] * bool(raters["rows"])
    if label_sources:
        people = read_labels(label_sources, [row.item for row in all_rows], [], columns, skips, notes, widens=False)
        for row, label in zip(all_rows, people.mean.tolist(), strict=True):
            row.item.human = (None, None if math.isnan(label) else label)
    # `score` is finer than `label`, which is cut from it: the label is used where there is no score.
    field = 0 if any(row.item.human[0] is not None for row in all_rows) else 1
    column = columns.get(("score", "label")[field]) or ("score", "label")[field]
    if column in score_columns:
        raise FileError(f"column: {column!r} has the human scores, with which metrics are compared; name another")
    with_human = [row for row in all_rows if (score := row.item.human[field]) is not None and math.isfinite(score)]
    if not with_human:
        missing = f"{', '.join(source.name for source in sources)}: no row has a human score, a number in a "
        fix = f"name another with {name_column('score')}; or give labels= beside the rows"
        raise FileError(missing, "column named score or label; ", fix)
    scores, system_scores, warnings = metric_scores(with_human, scorers, score_columns, progress)
    finite = np.all([np.isfinite(scores_by_row) for scores_by_row in scores.values()], axis=0)
    kept = [row for row, is_finite in zip(with_human, finite, strict=True) if is_finite]
    if len(kept) < 3:
        raise FileError(f"rows: expected 3 or more with a human score and all metric scores, got {len(kept)}")
    human_scores = np.array([row.item.human[field] for row in kept], dtype=float)
    labels = [row.item.human[1] for row in kept]
    if correct is None and all(label in (0.0, 1.0) for label in labels):
        accepted, rule = np.array(labels) == 1, f"{columns.get('label') or 'label'} = 1"
    else:
        limit = float(human_scores.min() + human_scores.max()) / 2 if correct is None else correct
        accepted, rule = human_scores >= limit, f"{column} >= {limit:g}"
        at_limit = int((human_scores == limit).sum())
        if correct is None:
            middle = f"the middle from {human_scores.min():g} to {human_scores.max():g}"
            divided = f"; {at_limit:,} answers are at {limit:g} and count as right" * bool(at_limit)
            notes.insert(0, f"right by people: {rule}, {middle}{divided}; --correct sets another limit")
    judgments = Judgments(
        human=human_scores,
        correct=accepted,
        scores={name: scores_by_row[finite] for name, scores_by_row in scores.items()},
        questions=[(row.file, row.question or number, tuple(row.item.references)) for number, row in enumerate(kept)],
        texts=[row.question for row in kept],
        systems=[row.system or "(none)" for row in kept] if any(row.system for row in kept) else None,
        groups=groupings(kept, group_columns),
        system_scores=system_scores if finite.all() else {},
        thresholds={name: limit for scorer in scorers.values() for name, limit in scorer.thresholds.items()},
    )
    result = analyse(judgments, None, resamples, seed)
    result["notes"] = [*notes, *result["notes"], *warnings]
    beside = [name for scorer in scorers.values() for name in baselines(scorer)]
    order = sorted(best_first(result["metrics"]), key=beside.__contains__)
    settings = {"resamples": resamples, "permutations": PERMUTATIONS * resamples, "seed": seed}
    settings |= {"confidence": CONFIDENCE, "interval": result.pop("interval"), "columns": columns}
    human_facts = {"column": column, "minimum": human_scores.min(), "maximum": human_scores.max()}
    human_facts |= {"mean": human_scores.mean(), "correct": rule, "share_correct": accepted.mean(), "raters": raters}
    left_out = {"bad rows": skips.skipped, "without a human score": len(all_rows) - len(with_human)}
    return AgreeReport(
        genqa_metrics=__version__,
        inputs=reading.inputs_of([*sources, *label_sources], skips),
        rows=len(kept),
        questions=int(judgments.clusters.max()) + 1,
        left_out=left_out | {"without a score of every metric": len(with_human) - len(kept)},
        settings=settings | {"score_columns": score_columns, "group_columns": group_columns},
        human=rounded(human_facts),
        signatures={metric: scorer.signature for metric, scorer in scorers.items()},
        **result,
        worst={
            name: [
                kept[row].as_dict()
                | {"human": float(human_scores[row]), name: round(float(judgments.scores[name][row]), 6)}
                for row in differing(judgments, name, worst)
            ]
            for name in judgments.thresholds
        },
        _order=order,
        _beside=beside,
        _against_best=against_best(result["metrics"], result["differences"], best=order[0]),
        _answers=partial(_viewed, kept, judgments, judge_among(scorers)),
    )


@dataclass(frozen=True, eq=False, repr=False)
class AgreeReport(Report):
    """How well metrics agree with human scores. Numbers have six significant digits.

    Attributes:
        genqa_metrics: the version that computed it.
        inputs: "name", "sha256" and "rows" of every file.
        rows: number of answers.
        questions: number of questions.
        left_out: {reason: number of rows}.
        settings: what the numbers depend on.
        human: column, range and mean of the human scores, and from where on they count as correct.
        signatures: {metric: what its numbers depend on}.
        metrics: {metric: {"pearson", "spearman", "kendall": {"value", "low", "high"}, "classifier": ...}}; a judge has
            "verdicts" too.
        differences: tests of every pair of metrics.
        rank_pairs: share of answer pairs that each metric ranks as humans do.
        systems: scores of systems by humans and metrics, or None.
        groups: {grouping: {group: {"rows", "questions", "metrics"}}}.
        notes: what a reader must know before the numbers.
        worst: {judge: the rows on which it and the humans differ most, worst first}.
    """

    title = "Agreement with people"
    open_tables = 1

    genqa_metrics: str
    inputs: list[dict[str, Any]]
    rows: int
    questions: int
    left_out: dict[str, int]
    settings: dict[str, Any]
    human: dict[str, Any]
    signatures: dict[str, str]
    metrics: dict[str, dict[str, Any]]
    differences: list[dict[str, Any]]
    rank_pairs: dict[str, Any]
    systems: dict[str, Any] | None
    groups: dict[str, dict[str, dict[str, Any]]]
    notes: list[str]
    worst: dict[str, list[dict[str, Any]]]
    _order: list[str]  # metrics, the best correlation first, behind them the scores of `_beside`
    _beside: list[str]  # scores that metrics are compared with, such as ROUGE-L without weights
    _against_best: dict[str, dict[str, Any]]  # {metric: test of its difference from the first one}
    _answers: Callable[[], list[ViewedAnswer]] = list  # what the row viewer shows

    def answers_of_page(self) -> list[ViewedAnswer]:
        """Return all answers with their scores; labels are the humans' right and wrong."""
        return self._answers()

    def __repr__(self) -> str:
        text = ", ".join(f"{name} {number(self.metrics[name]['pearson']['value'])}" for name in self._order)
        return f"AgreeReport({self.rows:,} answers; Pearson r: {visible(text)})"

    def to_pandas(self):
        """Return a `pandas.DataFrame` with one row per metric, in the order of the tables.

        Its columns are those of `CORRELATIONS`, for scores that classify answers "auc" too, and the ends of each
        interval, such as "pearson_low" and "pearson_high".
        """
        import pandas

        rows: dict[str, dict] = {}
        for name in self._order:
            metric, rows[name] = self.metrics[name], {}
            for kind, numbers in {**metric, **metric.get("classifier", {})}.items():
                if kind in (*CORRELATIONS, "auc"):
                    rows[name] |= {
                        kind: numbers["value"],
                        f"{kind}_low": numbers["low"],
                        f"{kind}_high": numbers["high"],
                    }
        return pandas.DataFrame.from_dict(rows, orient="index").rename_axis("metric")

    @property
    def _label_column(self) -> str:
        """The column of verdicts, right or wrong."""
        return self.settings["columns"].get("label", "label")

    @property
    def _verdicts(self) -> dict[str, dict[str, Any]]:
        """{judge: how its verdicts agree with the humans}."""
        return {name: metric["verdicts"] for name, metric in self.metrics.items() if "verdicts" in metric}

    @property
    def conclusions(self) -> list[Finding]:
        """How often a judge gives people's verdict, which metric agrees best, and which others may agree as well."""
        best, on_judges = self._order[0], []
        for name, counts in self._verdicts.items():
            same, interval = counts["accepted"] + counts["rejected"], _percent(counts["agreement"])
            missed, let_through = _answers(counts["missed"], "right"), _answers(counts["let_through"], "wrong")
            on_judges.append(
                Finding(
                    f"The judge ({name}) gives people's verdict on {same:,} of {self.rows:,} answers{interval}.",
                    f"It rejects {missed} and accepts {let_through}. "
                    f"A judge that accepts every answer would agree on {counts['accepted'] + counts['missed']:,}.",
                )
            )
        pearson = self.metrics[best]["pearson"]
        if pearson["value"] is None:
            return on_judges
        tested = [name for name in self._order if name in self._against_best and name not in self._beside]
        near = [name for name in tested if not _is_behind(self._against_best[name])]
        r, interval = number(pearson["value"]), ""
        finding = f"{best} agrees{' best' * bool(tested)} with people: Pearson r {r}"
        if pearson["low"] is not None:
            interval = f"95% interval: {number(pearson['low'], 2)} to {number(pearson['high'], 2)}."
        if pearson["low"] is None:
            few = "Too few questions" if self.questions < MIN_QUESTIONS else "Too few questions or too equal scores"
            finding = f"{few} to tell how well {best} agrees with people (Pearson r {r})"
        elif pearson["low"] <= 0:
            finding = f"No metric is shown to agree with people: Pearson r of {best} is {r}"
        elif near:
            finding += f"; {briefly(near)} may agree as well"
        elif tested:
            finding += f"; significantly better than {briefly(tested)}"
        return [*on_judges, Finding(f"{finding}.", interval)]

    @property
    def next_steps(self) -> list[str]:
        """What to do with a judge and labels; the commands take verdicts of people, so grades are cut into them."""
        if not self._verdicts:
            return []
        if self.human["column"] != self._label_column:
            label = f"write 1 into a column label where {self.human['correct'].replace(' = ', ' is ')}, else 0"
            return [f"take the accuracy from these grades: {label}; then `genqa-metrics accuracy FILE`"]
        steps = ["how many answers are right: `genqa-metrics accuracy FILE`"]
        counts = next(iter(self._verdicts.values()))
        right = counts["accepted"] + counts["missed"]
        if self.rows >= LEAST_LABELS and LEAST_EACH_LABEL <= right <= self.rows - LEAST_EACH_LABEL:
            steps.append("fit the judge to these labels: `genqa-metrics calibrate FILE`")
        return steps

    def tables(self) -> list[Table]:
        """Return the tables."""
        correlations, *further = self.page_tables()
        return [correlations, *_worst(self), *further]

    def page_tables(self) -> list[Table]:
        """Return all tables except those of the worst rows, which are in the row viewer."""
        further = filter(None, [_system_scores(self), _pairs(self), *_group_tables(self), _thresholds(self)])
        explanation = "At the judge's own threshold, which was not chosen on these rows."
        verdicts = {name: of | {"agreement": of["agreement"]["value"]} for name, of in self._verdicts.items()}
        table = confusion_table("Verdicts of the judge", verdicts, explanation)
        table.header[0] = "judge"
        return [_correlations(self), *further, *[table] * bool(verdicts)]

    def show(self, console) -> None:
        """Print the finding, the metrics with the best one first, and the worst rows; `show_all` prints everything."""
        right = self.human["correct"]
        title = f"{self.title}: {self.rows:,} answers to {self.questions:,} questions; right by people: {right}"
        say(console, [title, *(f"-> {finding}" for finding in self.findings)], "bold", WIDTH)
        console.print()
        table = _correlations(self)
        kept = [i for i, name in enumerate(table.header) if name in FIRST_COLUMNS]
        header, *rows = ([cells[i] for i in kept] for cells in (table.header, *table.rows))
        explanation = "95% intervals." + "".join(text for name, text in FIRST_COLUMNS.items() if name in header)
        beside = [f"{name} {number(self.metrics[name]['pearson']['value'])}" for name in self._beside]
        explanation += f" Without weights: Pearson r of {listed(beside)}." if beside else ""
        rows = [row for row in rows if row[0] not in self._beside]
        marked = {*range(len(rows))} & table.marked
        print_table(Table("", header, rows, explanation.format(best=self._order[0]), marked), console)
        if self._verdicts and self.systems and len(self.systems["rows"]) <= FIRST_SYSTEMS:
            print_table(_system_scores(self), console)
        self.show_notes(console, FIRST_NOTES)
        console.print()
        self._print_worst(console, FIRST_ROWS)
        labels = " --labels LABELS" * ("LABELS" in getattr(console, "names", {}))
        steps = [f"Next: {step}".replace("`", "").replace("FILE", f"FILE{labels}") for step in self.next_steps]
        say(console, [*steps, "All tables, what they rest on, and signatures: --verbose"], "dim", WIDTH)

    def show_all(self, console) -> None:
        """Print everything: findings, all tables, what they rest on, and the worst rows."""
        say(console, [*(f"-> {finding}" for finding in self.findings), ""], "bold", WIDTH)
        say(console, [f"note: {note}" for note in self.notes], "bold yellow")
        for table in self.page_tables():
            print_table(table, console)
        say(console, [*self.facts(), ""])
        self._print_worst(console)

    def _print_worst(self, console, most: int | None = None) -> None:
        """Print at most so many rows for each judge on which it and people differ, the largest differences first."""
        for name, worst in self.worst.items():
            counts, rows = self._verdicts[name], worst[:most]
            every = counts["missed"] + counts["let_through"]
            heading = f"Where the judge ({name}, right from {counts['threshold']:g} on) and people give other verdicts"
            shown = f" ({len(rows):,} of {every:,} shown)" * (len(rows) < every)
            say(console, [f"{heading}: {every:,} answers{shown}"] * bool(rows), "bold")
            for row in rows:
                question = f"{row['id'] or row['line']}: {row['question'] or ''}"
                grade = f"people {row['human']:g}, judge {row[name]:.3f}"
                system = "" if (row["system"] or "") in f"{row['id'] or ''}" else row["system"]
                answer = grade, system, row["prediction"] or "", 2
                print_answers(console, question, row["references"], [answer], WIDTH)
            console.print()

    def facts(self) -> list[str]:
        """Return what the numbers rest on, one sentence or line each."""
        human, settings = self.human, self.settings
        return [
            f"{self.rows:,} answers to {self.questions:,} questions; human scores: column {human['column']}, from "
            f"{human['minimum']:g} to {human['maximum']:g}, mean {number(human['mean'])}",
            *(f"left out: {count:,} rows {why}" for why, count in self.left_out.items() if count),
            *(
                f"not shown {_by(grouping).lower()}: all groups have fewer than {MIN_ROWS} answers, or equal scores"
                for grouping, groups in self.groups.items()
                if not any(group["metrics"] or group["agreement"] for group in groups.values())
            ),
            *self._inputs(),
            *self.signatures.values(),
            "intervals: of correlations the jackknife of Fisher's z with Student's t; of AUC, same verdicts and pairs "
            f"Wilson's with an effective number of answers; of differences: {settings['interval']}",
            f"genqa-metrics {self.genqa_metrics}, {settings['permutations']:,} permutations, seed {settings['seed']}",
        ]

    def intervals(self) -> dict[str, Intervals]:
        """Return the intervals of Pearson's correlation, for the table of the metrics."""
        estimates = {name: self.metrics[name]["pearson"] for name in self._order}
        if all(of["value"] is None for of in estimates.values()):
            return {}
        return {AGREEMENT: Intervals(CORRELATIONS["pearson"], estimates)}


def _is_behind(test: Mapping[str, Any]) -> bool:
    """Return whether a metric agrees significantly less with the humans than the best one does."""
    return test["permutation_p_holm"] < LEVEL


def _answers(count: int, kind: str) -> str:
    """Return "1 right answer" or "2 right answers"."""
    return f"{count:,} {kind} answer{'s' * (count != 1)}"


def _by(grouping: str) -> str:
    return f"By {grouping.replace('_', ' ')}"


def _shown(number_and_limits: Mapping | None) -> str:
    return estimate(number_and_limits, limit_digits=2)


def _percent(share: Mapping) -> str:
    return "" if share["low"] is None else f" (95% CI {share['low']:.0%} to {share['high']:.0%})"


def _with_too_few(shown: Mapping | None) -> str:
    """Return an estimate as `_shown` does, with "(too few)" where it has no interval."""
    is_rough = shown is not None and shown["value"] is not None and shown["low"] is None
    return _shown(shown) + " (too few)" * is_rough


def _table(title: str, columns: Mapping[str, Sequence[str]], explanation: str) -> Table:
    """Return a table of {head: its cells}."""
    return Table(title, list(columns), [list(cells) for cells in zip(*columns.values(), strict=True)], explanation)


def _correlations(report: AgreeReport) -> Table:
    metrics, names, tests = report.metrics, report._order, report._against_best
    columns = {"metric": names}
    for kind, head in CORRELATIONS.items():
        columns[head] = [_with_too_few(metrics[name][kind]) for name in names]
    if any("classifier" in metric for metric in metrics.values()):
        columns["AUC"] = [_shown(metrics[name]["classifier"]["auc"]) for name in names]
    cells = [cell for cells in [*columns.values()][1:] for cell in cells]
    explanation = "With 95% intervals. " * any("[" in cell for cell in cells)
    explanation += f"{TOO_FEW} " * any("few" in cell for cell in cells)
    if not tests:
        return _table(AGREEMENT, columns, explanation.strip())
    for head, p in (("p", "permutation_p"), ("p corrected", "permutation_p_holm")):
        columns[head] = [p_value(tests[name][p]) if name in tests else "" for name in names]
    explanation += f"p: permutation test of the difference between this Pearson r and that of {names[0]}; corrected "
    explanation += "(Holm) for the tests shown."
    table, behind = _table(AGREEMENT, columns, explanation), [name for name, test in tests.items() if _is_behind(test)]
    if behind:
        table.explanation += f" Bold: {names[0]}, and those that do not differ from it at 5%."
        table.marked = {row for row, name in enumerate(names) if name not in behind}
    return table


def _pairs(report: AgreeReport) -> Table | None:
    names, ranked, sentences = report._order, report.rank_pairs, []
    columns = {"metric": names}
    if ranked["pairs"]:
        columns[f"answer pairs ({ranked['pairs']:,})"] = [_shown(ranked["metrics"][name]) for name in names]
        sentences.append(
            f"Answer pairs: two answers to one question whose human scores differ by more than {ranked['gap']:g}; "
            "share that the metric ranks as humans do, with 95% interval; equal scores are wrong."
        )
    if report.systems:
        counts = [report.systems["pairs"][name] for name in names]
        columns["system pairs"] = [f"{by_metric['right']} of {by_metric['pairs']}" for by_metric in counts]
        sentences.append("System pairs: of how many pairs of systems the metric puts the same one first as people do.")
    if not sentences:
        return None
    return _table("Who is better? Pairs of answers and of systems", columns, " ".join(sentences))


def _system_scores(report: AgreeReport) -> Table | None:
    if not report.systems:
        return None
    human, answers = report.systems["human"], report.systems["rows"]
    scores = {"human": human} | {metric: report.systems["metrics"][metric] for metric in report._order}
    systems = sorted(human, key=lambda name: (-human[name], name))
    columns = {"system": systems, "answers": [str(answers[name]) for name in systems]}
    columns |= {head: [number(by_system[name]) for name in systems] for head, by_system in scores.items()}
    explanation = "Mean human score and scores of the metrics."
    for judge in report._verdicts if "system" in report.groups else ():
        shares = [report.groups["system"][name]["agreement"][judge] for name in systems]
        columns[f"same verdict: {judge}"] = [_with_too_few(share) for share in shares]
        explanation += f" Same verdict: share of the answers on which the judge ({judge}) and people agree."
    return _table("Scores of the systems", columns, explanation)


def _group_tables(report: AgreeReport) -> list[Table]:
    tables = []
    for grouping, groups in report.groups.items():
        columns = {"metric": [*report._order, *(f"same verdict: {judge}" for judge in report._verdicts)]}
        for label, group in groups.items():
            correlations = [(group["metrics"] or {}).get(name) for name in report._order]
            cells = ["-" if of is None else _with_too_few(of["pearson"]) for of in correlations]
            shares = [_with_too_few(group["agreement"][judge]) for judge in report._verdicts]
            columns[f"{label} ({group['rows']:,})"] = cells + shares
        cells = [cell for cells in [*columns.values()][1:] for cell in cells]
        explanation = "Pearson r with 95% interval" + ", and share of answers with people's verdict" * bool(shares)
        explanation += f"; in brackets above: answers. '-': fewer than {MIN_ROWS} answers, or equal scores."
        explanation += f" {TOO_FEW}" * any("few" in cell for cell in cells)
        tables += [_table(_by(grouping), columns, explanation)] * any(cell != "-" for cell in cells)
    return tables


def _thresholds(report: AgreeReport) -> Table | None:
    classifiers = {name: of["classifier"] for name in report._order if "classifier" in (of := report.metrics[name])}
    if not classifiers:
        return None
    best = [classifier["best"] for classifier in classifiers.values()]
    columns: dict[str, list[str]] = {"metric": list(classifiers)}
    columns["right from"] = ["-" if of["threshold"] is None else f"{of['threshold']:.3g}" for of in best]
    columns["best accuracy"] = [number(of["accuracy"]) for of in best]
    columns["on other questions"] = [number(of["held_out"]) for of in best]
    for head, key in (("ECE", "ece"), ("Brier", "brier")):
        columns[head] = [number((classifier["calibration"] or {}).get(key)) for classifier in classifiers.values()]
    explanation = (
        f"Right by people: {report.human['correct']}, {report.human['share_correct']:.1%} of the answers. "
        "Right from: the score from which on answers are called right, chosen for the best accuracy on these rows. On "
        "other questions: the accuracy with a threshold chosen without them (5 folds). ECE and Brier take the score "
        "for a probability."
    )
    return _table(CLASSIFIED, columns, explanation)


def _viewed(rows: Sequence[AgreeRow], judgments: Judgments, judge: str | None) -> list[ViewedAnswer]:
    """Return the answers as the row viewer shows them; the verdict is that of the judge at its threshold."""
    probability = f"{judge}_score"
    threshold = judgments.thresholds.get(probability, 0.5)
    answers = []
    for i, row in enumerate(rows):
        scores = {name: float(scores_by_row[i]) for name, scores_by_row in judgments.scores.items()}
        beside = {"human": float(judgments.human[i])} | {n: of for n, of in scores.items() if n != probability}
        texts = {"question": row.question, "references": row.item.references, "prediction": row.prediction or ""}
        about = {"id": row.item.id, "system": row.system or row.item.system, "label": float(judgments.correct[i])}
        answers.append(scored_answer(texts | about | scores, judge, beside, threshold=threshold))
    return answers


def _worst(report: AgreeReport) -> list[Table]:
    """Return a table for each judge of the rows on which it and people differ most, texts cut."""
    tables = []
    for name, worst in report.worst.items():
        counts, rows = report._verdicts[name], []
        for row in worst:
            texts = row["question"], " | ".join(row["references"]), row["prediction"]
            cut = [nearest_part(text, MOST_CHARACTERS) for text in plain(text or "" for text in texts)]
            rows.append([f"{row['id'] or row['line']}", *cut, f"{row[name]:.3f}", f"{row['human']:g}"])
        every = counts["missed"] + counts["let_through"]
        explanation = f"{len(rows)} of {every:,} answers on which {name}, right from {counts['threshold']:g} on, and "
        explanation += "people give other verdicts. JSON and HTML have the whole texts."
        header = ["row", "question", "accepted", "answer", name, "human"]
        title = f"Where {name} and people differ most"
        tables += [Table(title, header, rows, explanation, texts={0, 1, 2, 3})] * bool(rows)
    return tables
