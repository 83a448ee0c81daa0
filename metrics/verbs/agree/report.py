"""How well metrics agree with human scores: what `genqa-metrics agree` prints and `genqa_metrics.agree` returns."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...core.scorer import require_extra
from ...registry import judge_among
from ...reports.charts import CORRELATIONS, curve_panels, forest_figure, group_figure, svg_of
from ...reports.excerpt import nearest_part
from ...reports.report import WIDTH, Report, briefly, say
from ...reports.table import Table, estimate, number, p_value, print_table, visible
from ...reports.viewer import ViewedAnswer
from ...rows import reading
from ...rows.errors import FileError, bad_usage, name_column
from ...scale import options
from ...statistics.intervals import CONFIDENCE
from ...statistics.resampling import LEVEL
from ..inputs import digested_sources, rounded
from ..judge_errors import confusion_table
from ..labels import agreement_fact, average_raters, rater_of, read_labels
from ..view.rows import scored_answer
from .measures import MIN_QUESTIONS, MIN_ROWS, PERMUTATIONS, Judgments, against_best, analyse, best_first, differing
from .rows import AgreeRow, groupings, human_column, metric_scores, read_rows

CRITERIA = {"f1": "F1", "accuracy": "accuracy", "youden": "Youden's J"}
FIRST_METRICS, FIRST_NOTES, FIRST_ROWS = 6, 3, 5  # on the first screen
MOST_CHARACTERS = 50  # of each text in the table of the worst rows
FIRST_COLUMNS = {  # of the table on the first screen, with their explanations
    "metric": "",
    "Pearson r": "",
    "AUC": " AUC: how often an answer that people accept scores higher than one that they reject.",
    "p corrected": " p: permutation test of the difference from the first Pearson r, corrected (Holm).",
}
AGREEMENT, CLASSIFIED = "Agreement with the humans", "Telling correct answers from wrong ones"


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
    gap: float | None = None,
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
        correct: human scores from here on count as correct. Default: column label where every row has 0 or 1, else
            the middle of the range of the human scores.
        gap: two answers count as ranked by humans where their scores differ by more. Default: half the range.
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
        require_extra("agree", "matplotlib", "sklearn")
        counts = {"seed": seed, "resamples": resamples, "worst": worst}
        options.check_options(on_error, settings=settings, columns=columns, **counts)
        metrics = options.listed_names("metrics", metrics)
        score_columns = options.listed_names("score_columns", score_columns)
        group_columns = options.listed_names("group_columns", group_columns)
        columns = {**human_column(human), **options.checked_columns(columns)}
        if gap is not None and not 0 <= gap < math.inf:
            raise ValueError(f"gap: expected a number of at least 0, got {gap}")
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
    result = analyse(judgments, gap, resamples, seed)
    result["notes"] = [*notes, *result["notes"], *warnings]
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
        _order=best_first(result["metrics"]),
        _against_best=against_best(result["metrics"], result["differences"]),
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

    title = "Agreement with human judgments"
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
    _order: list[str]  # metrics, the best correlation first
    _against_best: dict[str, dict[str, Any]]  # {metric: test of its difference from the first one}
    _answers: Callable[[], list[ViewedAnswer]] = list  # what the row viewer shows

    def answers_of_page(self) -> list[ViewedAnswer]:
        """Return all answers with their scores; labels are the humans' right and wrong."""
        return self._answers()

    def __repr__(self) -> str:
        text = ", ".join(f"{name} {number(self.metrics[name]['pearson']['value'])}" for name in self._order)
        return f"AgreeReport({self.rows:,} answers; Pearson r: {visible(text)})"

    def to_pandas(self):
        """Return a `pandas.DataFrame` with one row per metric, the best Pearson correlation first."""
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
    def _verdicts(self) -> dict[str, dict[str, Any]]:
        """{judge: how its verdicts agree with the humans}."""
        return {name: metric["verdicts"] for name, metric in self.metrics.items() if "verdicts" in metric}

    @property
    def findings(self) -> list[str]:
        """How far a judge agrees with the humans, which metric agrees best, and which others may agree as well."""
        best, tests, on_judges = self._order[0], self._against_best, []
        for name, counts in self._verdicts.items():
            on_judges.append(
                f"{name}: the judge agrees with {counts['accepted'] + counts['rejected']:,} of {self.rows:,} human "
                f"verdicts, {_shown(counts['agreement'])} (a judge that accepts every answer: "
                f"{counts['accepted'] + counts['missed']:,}); wrong answers accepted: {counts['let_through']:,}, "
                f"right ones rejected: {counts['missed']:,}."
            )
        pearson = self.metrics[best]["pearson"]
        if pearson["value"] is None:
            return on_judges
        if pearson["low"] is not None and pearson["low"] <= 0:
            finding = f"No metric is shown to agree with the humans: Pearson r of {best} {_shown(pearson)}."
        elif tests:
            near = [name for name in self._order if name in tests and not _is_behind(tests[name])]
            lead = f"{briefly(near)} may agree as well" if near else "chance is unlikely to explain it"
            finding = f"{best} agrees best with the humans: Pearson r {_shown(pearson)}; {lead}."
        else:
            finding = f"{best} agrees with the humans: Pearson r {_shown(pearson)}."
        return [*on_judges, finding]

    @property
    def next_steps(self) -> list[str]:
        """Sentences on how to use the metric that agrees best, and a judge."""
        compare = f"Compare systems by the scores that agree with your humans ({self._order[0]} first)"
        steps = [f"{compare}: `genqa-metrics compare ROWS`."]
        if self._verdicts:
            steps.append("Fit the judge to labels of yours: `genqa-metrics calibrate ROWS`.")
        return steps

    def tables(self) -> list[Table]:
        """Return the tables."""
        correlations, *further = self.page_tables()
        return [correlations, *_worst(self), *further]

    def page_tables(self) -> list[Table]:
        """Return all tables except those of the worst rows, which are in the row viewer."""
        further = filter(None, [_pairs(self), _system_scores(self), *_group_tables(self), _thresholds(self)])
        explanation = "At the judge's own threshold, which was not chosen on these rows."
        verdicts = {name: of | {"agreement": of["agreement"]["value"]} for name, of in self._verdicts.items()}
        table = confusion_table("Verdicts of the judge", verdicts, explanation)
        table.header[0] = "judge"
        return [_correlations(self), *further, *[table] * bool(verdicts)]

    def show(self, console) -> None:
        """Print the finding, the metrics with the best one first, and the worst rows; `show_all` prints everything."""
        title = f"{self.title} (column {self.human['column']}): {self.rows:,} answers to {self.questions:,} questions"
        say(console, [title, *(f"-> {finding}" for finding in self.findings)], "bold")
        console.print()
        table = _correlations(self)
        kept = [i for i, name in enumerate(table.header) if name in FIRST_COLUMNS]
        header, *rows = ([cells[i] for i in kept] for cells in (table.header, *table.rows))
        explanation = "95% intervals." + "".join(text for name, text in FIRST_COLUMNS.items() if name in header)
        more = len(rows) - FIRST_METRICS
        explanation += f" ... and {more:,} more: --verbose." if more > 0 else ""
        marked = {*range(FIRST_METRICS)} & table.marked
        print_table(Table("", header, rows[:FIRST_METRICS], explanation, marked), console)
        self.show_notes(console, FIRST_NOTES)
        console.print()
        for table in _worst(self, FIRST_ROWS):
            print_table(table, console)
        files = "FILE" + " --labels LABELS" * ("LABELS" in getattr(console, "names", {}))
        fits = f"Next: genqa-metrics calibrate {files} fits the judge to these labels; "
        fits += f"genqa-metrics accuracy {files} tells how many answers are right."
        last = "All tables, what they rest on, and signatures: --verbose"
        say(console, [*[fits] * bool(self._verdicts), last], "dim", WIDTH)

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
                if not any(group["metrics"] for group in groups.values())
            ),
            *self._inputs(),
            *self.signatures.values(),
            "intervals: of correlations the jackknife of Fisher's z with Student's t; of AUC, agreement and pairs "
            f"Wilson's with an effective number of answers; of differences: {settings['interval']}",
            f"genqa-metrics {self.genqa_metrics}, {settings['permutations']:,} permutations, seed {settings['seed']}",
        ]

    def charts(self) -> dict:
        """Return the charts for the page, by the title of the table that they stand above."""
        names = [name for name in self._order if self.metrics[name]["pearson"]["value"] is not None]
        if not names:
            return {}
        charts = {AGREEMENT: svg_of(forest_figure(self.metrics, names))}
        for grouping, groups in self.groups.items():
            if any(group["metrics"] for group in groups.values()):
                charts[_by(grouping)] = svg_of(group_figure(groups, names))
        if all("classifier" in self.metrics[name] for name in names):
            charts[CLASSIFIED] = curve_panels(self.to_dict(), names)
        return charts


def _is_behind(test: Mapping[str, Any]) -> bool:
    """Return whether a metric agrees significantly less with the humans than the best one does."""
    return test["permutation_p_holm"] < LEVEL


def _by(grouping: str) -> str:
    return f"By {grouping.replace('_', ' ')}"


def _shown(number_and_limits: Mapping | None) -> str:
    return estimate(number_and_limits, limit_digits=2)


def _table(title: str, columns: Mapping[str, Sequence[str]], explanation: str) -> Table:
    """Return a table of {head: its cells}."""
    return Table(title, list(columns), [list(cells) for cells in zip(*columns.values(), strict=True)], explanation)


def _correlations(report: AgreeReport) -> Table:
    metrics, names, tests = report.metrics, report._order, report._against_best
    columns = {"metric": names}
    for kind, head in CORRELATIONS.items():
        columns[head] = [_shown(metrics[name][kind]) for name in names]
    if any("classifier" in metric for metric in metrics.values()):
        columns["AUC"] = [_shown(metrics[name]["classifier"]["auc"]) for name in names]
    explanation = "With 95% intervals. " * any("[" in cell for cells in [*columns.values()][1:] for cell in cells)
    if not tests:
        return _table(AGREEMENT, columns, explanation.strip())
    for head, p in (("p", "permutation_p"), ("p corrected", "permutation_p_holm")):
        columns[head] = [p_value(tests[name][p]) if name in tests else "" for name in names]
    explanation += (
        "p: permutation test of the difference between this Pearson r and the first one; corrected (Holm) for the "
        "tests shown. Bold: the first one, and those that do not differ from it at 5%."
    )
    table = _table(AGREEMENT, columns, explanation)
    table.marked = {0} | {names.index(name) for name, test in tests.items() if not _is_behind(test)}
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
        for head, kind in (("system pairs", ""), ("clear system pairs", "clear_")):
            total = counts[0][f"{kind}pairs"]
            columns[f"{head} ({total})"] = [f"{by_metric[f'{kind}right']} of {total}" for by_metric in counts]
        sentences.append(
            "System pairs: pairs of systems with the better one on the humans' side; clear: those in which the 95% "
            "interval of the humans' difference leaves out 0."
        )
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
    return _table("Scores of the systems", columns, "")


def _group_tables(report: AgreeReport) -> list[Table]:
    tables = []
    for grouping, groups in report.groups.items():
        estimates = [metric["pearson"] for group in groups.values() for metric in (group["metrics"] or {}).values()]
        columns = {"metric": report._order}
        for label, group in groups.items():
            metrics = group["metrics"]
            cells = [_shown(metrics[name]["pearson"]) if metrics else "-" for name in report._order]
            columns[f"{label} ({group['rows']:,})"] = cells
        has_interval = any(correlation["low"] is not None for correlation in estimates)
        interval = f", with 95% interval where a group has {MIN_QUESTIONS} questions or more" * has_interval
        few = f"'-': fewer than {MIN_ROWS} answers, or equal scores."
        explanation = f"Pearson r{interval}; in brackets above: answers. {few}"
        tables += [_table(_by(grouping), columns, explanation)] * bool(estimates)
    return tables


def _thresholds(report: AgreeReport) -> Table | None:
    classifiers = {name: of["classifier"] for name in report._order if "classifier" in (of := report.metrics[name])}
    if not classifiers:
        return None
    columns: dict[str, list[str]] = {"metric": list(classifiers)}
    for criterion, title in CRITERIA.items():
        columns[f"best {title}"] = [
            f"{number(best['value'])} ({number(best['held_out'])}) from "
            f"{'-' if best['threshold'] is None else format(best['threshold'], '.3g')}"
            for best in (classifier["thresholds"][criterion] for classifier in classifiers.values())
        ]
    columns["average precision"] = [number(classifier["average_precision"]) for classifier in classifiers.values()]
    for head, key in (("ECE", "ece"), ("Brier", "brier")):
        columns[head] = [number((classifier["calibration"] or {}).get(key)) for classifier in classifiers.values()]
    explanation = (
        f"Correct: {report.human['correct']}, {report.human['share_correct']:.1%} of the answers. "
        "Best value on these rows, in brackets on questions that the threshold was not chosen on (5 folds), "
        "and the score from which on answers are called correct. ECE and Brier take the score for a probability."
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


def _worst(report: AgreeReport, most: int | None = None) -> list[Table]:
    """Return a table for each judge of at most so many rows on which it and the humans differ most, texts cut."""
    tables = []
    for name, worst in report.worst.items():
        counts, rows = report._verdicts[name], []
        for row in worst[:most]:
            texts = row["question"], row["prediction"], f"[{' | '.join(row['references'])}]"
            cut = [nearest_part(text or "", MOST_CHARACTERS) for text in texts]
            rows.append([" ".join([f"{row['id'] or row['line']}:", *cut]), f"{row[name]:.3f}", f"{row['human']:g}"])
        every = counts["missed"] + counts["let_through"]
        explanation = (
            f"{len(rows)} of {every:,} answers whose verdict the humans do not share; whole in JSON and HTML."
        )
        header = ["row: question, answer [references]", name, "human"]
        title = f"Where {name} and the humans differ most"
        tables += [Table(title, header, rows, explanation, wraps=True)] * bool(rows)
    return tables
