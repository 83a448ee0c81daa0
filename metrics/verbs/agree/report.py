"""How well metrics agree with human scores: what `genqa-metrics agree` prints and `genqa_metrics.agree` returns."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...core.scorer import Scorer, require_extra
from ...registry import SCORERS
from ...reports.charts import CORRELATIONS, curve_panels, forest_figure, group_figure, svg_of
from ...reports.excerpt import excerpt_lines, quoted
from ...reports.report import WIDTH, Report, briefly, say
from ...reports.table import Table, estimate, number, p_value, print_table, visible
from ...reports.viewer import ViewedAnswer
from ...rows import reading
from ...rows.errors import Advice, FileError, bad_usage, name_column
from ...rows.sources import Source
from ...rows.values import Row
from ...scale import options
from ...scale.run import item_statistics, profiles
from ...statistics.intervals import CONFIDENCE
from ...statistics.resampling import LEVEL, adjust_p_values
from ..inputs import digested_sources, optional_texts, rounded, score_in_column, unscored_item
from ..judge_errors import calibrated_on
from ..labels import agreement_fact, average_raters, key_of, rater_of, read_labels
from .measures import MIN_QUESTIONS, MIN_ROWS, PERMUTATIONS, Judgments, analyse, differing, length_group
from .question_types import question_type

CRITERIA = {"f1": "F1", "accuracy": "accuracy", "youden": "Youden's J"}
FIRST_METRICS, FIRST_NOTES, FIRST_ROWS = 6, 3, 5  # on the first screen
FIRST_COLUMNS = ("metric", "Pearson r", "AUC", "p corrected")
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
        resamples: number of bootstrap samples; there are 10 times as many permutations.
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
        columns = {**_human_column(human), **options.checked_columns(columns)}
        if gap is not None and not 0 <= gap < math.inf:
            raise ValueError(f"gap: expected a number of at least 0, got {gap}")
        sources = digested_sources(rows)
        label_sources = [] if labels is None else digested_sources(labels, "labels")
        if not (metrics or settings or score_columns):
            kind = reading.first_row_kind(sources, columns)
            metrics = options.default_metrics(kind) if kind and not kind.sets and kind.has_references else ("aev",)
        scorers = options.make_scorers(metrics, settings, sources)
        names = [name for scorer in scorers.values() for name in scorer.meta_evaluated]
        for column in score_columns:
            if column in names:
                raise ValueError(f"column: {column!r} is also the name of a score of --metric; rename the column")
    skips = reading.Skips(on_error == "skip", problem)
    all_rows, notes = _read(sources, columns, scorers, score_columns, group_columns, skips), []
    first_rows, raters = average_raters([row.item for row in all_rows], [row.rater for row in all_rows])
    all_rows = [all_rows[place] for place in first_rows]
    notes += [agreement_fact(raters)] * bool(raters["rows"])
    if label_sources:
        labels_of = read_labels(label_sources, [row.item for row in all_rows], [], columns, skips, notes, error=0.0)
        for row, label in zip(all_rows, labels_of.mean.tolist(), strict=True):
            row.item.human = (None, None if math.isnan(label) else label)
    # `score` is finer than `label`, which is cut from it: the label is used where there is no score.
    place = int(not any(row.item.human[0] is not None for row in all_rows))
    column = columns.get(("score", "label")[place]) or ("score", "label")[place]
    if column in score_columns:
        raise FileError(f"column: {column!r} has the human scores, with which metrics are compared; name another")
    judged = [row for row in all_rows if (value := row.item.human[place]) is not None and math.isfinite(value)]
    if not judged:
        missing = f"{', '.join(source.name for source in sources)}: no row has a human score, a number in a "
        beside = "; or give labels beside the rows with {}"
        fix = Advice(beside.format("labels="), command=beside.format("--labels"))
        raise FileError(missing, "column named score or label; name another with ", name_column("score"), fix)
    scores, system_scores, warnings = _scores(judged, scorers, score_columns, progress)
    finite = np.all([np.isfinite(values) for values in scores.values()], axis=0)
    kept = [row for row, good in zip(judged, finite, strict=True) if good]
    if len(kept) < 3:
        raise FileError(f"{len(kept)} rows have a human score and all metric scores; 3 are the least")
    human_scores = np.array([row.item.human[place] for row in kept], dtype=float)
    labels = [row.item.human[1] for row in kept]
    if correct is None and all(label in (0.0, 1.0) for label in labels):
        accepted, rule = np.array(labels) == 1, f"{columns.get('label') or 'label'} = 1"
    else:
        limit = float(human_scores.min() + human_scores.max()) / 2 if correct is None else correct
        accepted, rule = human_scores >= limit, f"{column} >= {limit:g}"
    judgments = Judgments(
        human=human_scores,
        correct=accepted,
        scores={name: values[finite] for name, values in scores.items()},
        questions=[(row.file, row.question or number, tuple(row.item.references)) for number, row in enumerate(kept)],
        texts=[row.question for row in kept],
        systems=[row.system or "(none)" for row in kept] if any(row.system for row in kept) else None,
        groups=_groups(kept, group_columns),
        system_scores=system_scores if finite.all() else {},
        thresholds={name: limit for scorer in scorers.values() for name, limit in scorer.thresholds.items()},
    )
    result = analyse(judgments, gap, resamples, seed)
    result["notes"] = [*notes, *result["notes"], *warnings]
    return AgreeReport(
        genqa_metrics=__version__,
        inputs=reading.inputs_of([*sources, *label_sources], skips),
        rows=len(kept),
        questions=int(judgments.clusters.max()) + 1,
        left_out={
            "bad rows": skips.skipped,
            "without a human score": len(all_rows) - len(judged),
            "without a score of every metric": len(judged) - len(kept),
        },
        settings={
            "resamples": resamples,
            "permutations": PERMUTATIONS * resamples,
            "seed": seed,
            "confidence": CONFIDENCE,
            "interval": result.pop("interval"),
            "columns": columns,
            "score_columns": score_columns,
            "group_columns": group_columns,
        },
        human=rounded(
            {
                "column": column,
                "minimum": float(human_scores.min()),
                "maximum": float(human_scores.max()),
                "mean": float(human_scores.mean()),
                "correct": rule,
                "share_correct": float(accepted.mean()),
                "raters": raters,
            }
        ),
        signatures={metric: scorer.signature for metric, scorer in scorers.items()},
        **result,
        worst={
            name: [
                kept[row].as_dict() | {"human": float(human_scores[row]), name: round(float(values[row]), 6)}
                for row in differing(judgments, name, worst)
            ]
            for name, values in judgments.scores.items()
            if name in judgments.thresholds
        },
        _answers=partial(_viewed, kept, judgments),
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
    _answers: Callable[[], list[ViewedAnswer]] = list  # what the row viewer shows

    def answers_of_page(self) -> list[ViewedAnswer]:
        """Return all answers with their scores; labels are the humans' right and wrong."""
        return self._answers()

    def __repr__(self) -> str:
        text = ", ".join(f"{name} {number(self.metrics[name]['pearson']['value'])}" for name in ordered(self.metrics))
        return f"AgreeReport({self.rows:,} answers; Pearson r: {visible(text)})"

    def to_pandas(self):
        """Return a `pandas.DataFrame` with one row per metric, the best Pearson correlation first."""
        import pandas

        rows = {}
        for name in ordered(self.metrics):
            metric = self.metrics[name]
            parts = {kind: metric[kind] for kind in CORRELATIONS}
            parts |= {"auc": metric["classifier"]["auc"]} if "classifier" in metric else {}
            ends = {"": "value", "_low": "low", "_high": "high"}
            rows[name] = {f"{kind}{end}": part[of] for kind, part in parts.items() for end, of in ends.items()}
        return pandas.DataFrame.from_dict(rows, orient="index").rename_axis("metric")

    @property
    def findings(self) -> list[str]:
        """How far a judge agrees with the humans, which metric agrees best, and which others may agree as well."""
        labelled = self.human["correct"].endswith(" = 1")
        verdicts = []
        for name, metric in self.metrics.items():
            if "verdicts" in metric:
                found = metric["verdicts"]
                share, equal = _shown(found["agreement"]), found["accepted"] + found["rejected"]
                by_count = f"{name}: the judge agrees with {equal:,} of {self.rows:,} labels, {share}"
                by_count += f" (a judge that accepts every answer: {found['accepted'] + found['missed']:,}); wrong "
                by_count += f"answers accepted: {found['let_through']:,}, right ones rejected: {found['missed']:,}."
                by_share = f"{name} and the humans give the same verdict on {share} of the answers."
                verdicts.append(by_count if labelled else by_share)
        return [*verdicts, *self._correlated()] if labelled else [*self._correlated(), *verdicts]

    def _correlated(self) -> list[str]:
        """Return which metric agrees best with the humans, and which others may agree as well; [] if undefined."""
        best = ordered(self.metrics)[0]
        pearson = self.metrics[best]["pearson"]
        if pearson["value"] is None:
            return []
        p = {name: test["permutation_p_holm"] for name, test in against_best(self.metrics, self.differences).items()}
        near = [name for name in ordered(self.metrics) if name in p and (p[name] is None or p[name] >= LEVEL)]
        said = f"{briefly(near)} may agree as well" if near else "chance is unlikely to explain it"
        if pearson["low"] is not None and pearson["low"] <= 0:
            return [f"No metric is shown to agree with the humans: Pearson r of {best} {_shown(pearson)}."]
        if p:
            return [f"{best} agrees best with the humans: Pearson r {_shown(pearson)}; {said}."]
        by_verdicts = "verdicts" in self.metrics[best] and self.human["correct"].endswith(" = 1")
        return [f"{best} agrees with the humans: Pearson r {_shown(pearson)}."] * (not by_verdicts)

    @property
    def next_steps(self) -> list[str]:
        """What to do with the metric that agrees best, and with a judge."""
        best = ordered(self.metrics)[0]
        result = [
            "Every other table below opens by a click on its title; print-outs and `--format json` have all of them.",
            f"Compare systems by the scores that agree with your humans ({best} first): `genqa-metrics compare ROWS`.",
        ]
        if any(self.worst.values()):
            result.append("Read the rows on which the judge and the humans differ; `genqa-metrics explain` says why.")
        fit = "Fit the judge's threshold and error rates to labels of yours: `genqa-metrics calibrate ROWS`."
        return [*result, *[fit] * any("verdicts" in metric for metric in self.metrics.values())]

    def tables(self) -> list[Table]:
        """Return the tables."""
        correlations, *further = self.page_tables()
        return [correlations, *_worst(self), *further]

    def page_tables(self) -> list[Table]:
        """Return the tables but those of the worst rows, which the row viewer has."""
        further = _pairs(self), _system_scores(self), *_group_tables(self), _thresholds(self), _verdicts(self)
        return [_correlations(self), *filter(None, further)]

    def show(self, console) -> None:
        """Print the finding, the metrics with the best one first, and the worst rows; `show_all` prints everything."""
        from rich.text import Text

        title = f"{self.title} (column {self.human['column']}): {self.rows:,} answers to {self.questions:,} questions"
        say(console, [title, *(f"-> {finding}" for finding in self.findings)], "bold")
        console.print()
        table = _correlations(self)
        kept = [i for i, name in enumerate(table.header) if name in FIRST_COLUMNS]
        header, *rows = ([cells[i] for i in kept] for cells in (table.header, *table.rows))
        said = "95% intervals."
        if "AUC" in header:
            said += " AUC: how often an answer that people accept scores higher than one that they reject."
        if FIRST_COLUMNS[-1] in header:
            said += " p: permutation test of the difference from the first Pearson r, corrected (Holm)."
        more = len(rows) - FIRST_METRICS
        said += f" ... and {more:,} more: --verbose." if more > 0 else ""
        print_table(Table("", header, rows[:FIRST_METRICS], said, {*range(FIRST_METRICS)} & table.marked), console)
        self.show_notes(console, FIRST_NOTES)
        console.print()
        for name, worst in self.worst.items():
            every = sum(self.metrics[name]["verdicts"][kind] for kind in ("missed", "let_through"))
            more = f" ({FIRST_ROWS} of {every:,}; more: --verbose)" * (len(worst) > FIRST_ROWS)
            say(console, [f"Where {name} and the humans differ most{more}"] * bool(worst), "bold")
            width = min(console.width, WIDTH)
            for row in worst[:FIRST_ROWS]:
                line = f"  {_name(row)[:24]}  {row[name]:.3f}  human {row['human']:g}  "
                lines = [line + (quoted(row["question"], width - len(line)) if row["question"] else "")]
                lines += [" " * 6 + text for text in excerpt_lines(row["prediction"], row["references"], width - 6)]
                for text in lines:
                    console.print(Text(text), no_wrap=True, overflow="crop")
            say(console, [""] * bool(worst))
        files = "FILE" + " --labels LABELS" * ("LABELS" in getattr(console, "names", {}))
        fits = f"Next: genqa-metrics calibrate {files} fits the judge to these labels; "
        fits += f"genqa-metrics accuracy {files} tells how many answers are right."
        judges = any("verdicts" in metric for metric in self.metrics.values())
        say(console, [*[fits] * judges, "All tables, what they rest on, and signatures: --verbose"], "dim", WIDTH)

    def facts(self) -> list[str]:
        """Return what the numbers rest on, one sentence or line each."""
        human, settings = self.human, self.settings
        left_out = [f"left out: {count:,} rows {why}" for why, count in self.left_out.items() if count]
        return [
            f"{self.rows:,} answers to {self.questions:,} questions; human scores: column {human['column']}, from "
            f"{human['minimum']:g} to {human['maximum']:g}, mean {number(human['mean'])}",
            *left_out,
            *(
                f"not shown {_by(grouping).lower()}: all groups have fewer than {MIN_ROWS} answers, or equal scores"
                for grouping, groups in self.groups.items()
                if not any(group["metrics"] for group in groups.values())
            ),
            *self._inputs(),
            *self.signatures.values(),
            "intervals: of correlations the jackknife of Fisher's z with Student's t; of AUC, agreement and pairs "
            f"Wilson's with an effective number of answers; of differences: {settings['interval']}",
            f"genqa-metrics {self.genqa_metrics}, {settings['resamples']:,} bootstrap samples, "
            f"{settings['permutations']:,} permutations, seed {settings['seed']}",
        ]

    def charts(self) -> dict:
        """Return the charts for the page, by the title of the table that they stand above."""
        names = [name for name in ordered(self.metrics) if self.metrics[name]["pearson"]["value"] is not None]
        if not names:
            return {}
        charts = {AGREEMENT: svg_of(forest_figure(self.metrics, names))}
        for grouping, groups in self.groups.items():
            if any(group["metrics"] for group in groups.values()):
                charts[_by(grouping)] = svg_of(group_figure(groups, names))
        if all("classifier" in self.metrics[name] for name in names):
            charts[CLASSIFIED] = curve_panels(self.to_dict(), names)
        return charts


def _by(grouping: str) -> str:
    return f"By {grouping.replace('_', ' ')}"


def _shown(found: Mapping | None) -> str:
    return estimate(found, limit_digits=2)


def ordered(metrics: Mapping[str, Mapping], kind: str = "pearson") -> list[str]:
    """Return the names of the metrics, the best correlation first, undefined ones last."""
    values = {name: metric[kind]["value"] for name, metric in metrics.items()}
    return sorted(metrics, key=lambda name: (values[name] is None, -(values[name] or 0.0), name))


def against_best(metrics: Mapping, differences: Sequence[Mapping], kind: str = "pearson") -> dict[str, dict]:
    """Return {metric: its test} against the one with the best correlation of a kind, "pearson" or "spearman".

    P-values are corrected (Holm) for these tests alone.
    """
    best = ordered(metrics, kind)[0]
    result = {}
    for entry in differences:
        if best in (entry["first"], entry["second"]):
            result[entry["second"] if entry["first"] == best else entry["first"]] = dict(entry[kind])
    raw = np.array([test["permutation_p"] for test in result.values()], dtype=float)  # None is NaN
    for test, corrected in zip(result.values(), adjust_p_values(raw, "holm").tolist(), strict=True):
        test["permutation_p_holm"] = None if np.isnan(corrected) else corrected
    return result


def _table(title: str, columns: Mapping[str, Sequence[str]], explanation: str, marked: Collection[int] = ()) -> Table:
    """Return a table of {head: its cells}."""
    rows = [list(cells) for cells in zip(*columns.values(), strict=True)]
    return Table(title, list(columns), rows, explanation, set(marked))


def _correlations(report: AgreeReport) -> Table:
    metrics, names = report.metrics, ordered(report.metrics)
    tests = against_best(metrics, report.differences)
    columns = {"metric": names}
    for kind, head in CORRELATIONS.items():
        columns[head] = [_shown(metrics[name][kind]) for name in names]
    if any("classifier" in metric for metric in metrics.values()):
        columns["AUC"] = [_shown(metrics[name]["classifier"]["auc"]) for name in names]
    said = "With 95% intervals. " * any("[" in cell for column in [*columns.values()][1:] for cell in column)
    if not tests:
        return _table(AGREEMENT, columns, said.strip())
    for head, p in (("p", "permutation_p"), ("p corrected", "permutation_p_holm")):
        columns[head] = [p_value(tests[name][p]) if name in tests else "" for name in names]
    as_good = {names.index(name) for name, test in tests.items() if (test["permutation_p_holm"] or 0.0) >= LEVEL}
    explanation = (
        f"{said}p: permutation test of the difference between this Pearson r and the first one; "
        "corrected (Holm) for the tests shown. Bold: the first one, and those that do not differ from it at 5%."
    )
    return _table(AGREEMENT, columns, explanation, {0} | as_good)


def _pairs(report: AgreeReport) -> Table | None:
    names, ranked, said = ordered(report.metrics), report.rank_pairs, []
    columns = {"metric": names}
    if ranked["pairs"]:
        columns[f"answer pairs ({ranked['pairs']:,})"] = [_shown(ranked["metrics"][name]) for name in names]
        said.append(
            f"Answer pairs: two answers to one question whose human scores differ by more than {ranked['gap']:g}; "
            "share that the metric ranks as humans do, with 95% interval; equal scores are wrong."
        )
    if report.systems:
        of_systems = [report.systems["pairs"][name] for name in names]
        for head, kind in (("system pairs", ""), ("clear system pairs", "clear_")):
            total = of_systems[0][f"{kind}pairs"]
            columns[f"{head} ({total})"] = [f"{of_metric[f'{kind}right']} of {total}" for of_metric in of_systems]
        said.append(
            "System pairs: pairs of systems with the better one on the humans' side; clear: those in which the 95% "
            "interval of the humans' difference leaves out 0."
        )
    return _table("Who is better? Pairs of answers and of systems", columns, " ".join(said)) if said else None


def _system_scores(report: AgreeReport) -> Table | None:
    systems, names = report.systems, ordered(report.metrics)
    if not systems:
        return None
    human, of = systems["human"], systems["metrics"]
    rows = [
        [name, str(systems["rows"][name]), *map(number, (human[name], *(of[metric][name] for metric in names)))]
        for name in sorted(human, key=lambda name: (-human[name], name))
    ]
    return Table("Scores of the systems", ["system", "answers", "human", *names], rows)


def _group_tables(report: AgreeReport) -> list[Table]:
    tables, names = [], ordered(report.metrics)
    for grouping, groups in report.groups.items():
        known = [estimates for group in groups.values() for estimates in (group["metrics"] or {}).values()]
        columns = {"metric": names}
        for label, group in groups.items():
            of = group["metrics"]
            columns[f"{label} ({group['rows']:,})"] = [_shown(of[name]["pearson"]) if of else "-" for name in names]
        interval = any(estimates["pearson"]["low"] is not None for estimates in known)
        said = f", with 95% interval where a group has {MIN_QUESTIONS} questions or more" if interval else ""
        said = f"Pearson r{said}; in brackets above: answers. '-': fewer than {MIN_ROWS} answers, or equal scores."
        tables += [_table(_by(grouping), columns, said)] * bool(known)
    return tables


def _thresholds(report: AgreeReport) -> Table | None:
    metrics = report.metrics
    of = {name: metrics[name]["classifier"] for name in ordered(metrics) if "classifier" in metrics[name]}
    if not of:
        return None
    columns = {"metric": list(of)}
    for criterion, title in CRITERIA.items():
        best = [classifier["thresholds"][criterion] for classifier in of.values()]
        limits = ["-" if value["threshold"] is None else f"{value['threshold']:.3g}" for value in best]
        columns[f"best {title}"] = [
            f"{number(value['value'])} ({number(value['held_out'])}) from {limit}"
            for value, limit in zip(best, limits, strict=True)
        ]
    columns["average precision"] = [number(classifier["average_precision"]) for classifier in of.values()]
    for head, key in (("ECE", "ece"), ("Brier", "brier")):
        columns[head] = [number((classifier["calibration"] or {}).get(key)) for classifier in of.values()]
    share = report.human["share_correct"]
    rule = f"Correct: {report.human['correct']}, {share:.1%} of the answers. " if share is not None else ""
    said = (
        f"{rule}Best value on these rows, in brackets on questions that the threshold was not chosen on (5 folds), "
        "and the score from which on answers are called correct. ECE and Brier take the score for a probability."
    )
    return _table(CLASSIFIED, columns, said)


def _verdicts(report: AgreeReport) -> Table | None:
    rows = []
    for name, metric in report.metrics.items():
        if not (of := metric.get("verdicts")):
            continue
        accepts, rejects = of["accepted"] + of["missed"], of["rejected"] + of["let_through"]
        accepted = f"{of['accepted']:,} of {accepts:,} ({number(of['sensitivity'])})"
        rejected = f"{of['rejected']:,} of {rejects:,} ({number(of['specificity'])})"
        rows.append([name, f"{of['threshold']:.3g}", _shown(of["agreement"]), number(of["kappa"]), accepted, rejected])
    header = ["judge", "correct from", "agreement", "kappa"]
    header += ["accepted of those humans accept", "rejected of the others"]
    said = "At the judge's own threshold, which was not chosen on these rows; agreement with 95% interval."
    return Table("Verdicts of the judge", header, rows, said) if rows else None


def _viewed(rows: "Sequence[_Row]", judgments: Judgments) -> list[ViewedAnswer]:
    """Return the answers as the row viewer shows them; the verdict is that of the first judge."""
    judge = next((name for name in judgments.scores if name in judgments.thresholds), None)
    others = {"human": judgments.human, **{name: of for name, of in judgments.scores.items() if name != judge}}
    answers = []
    for place, row in enumerate(rows):
        probability = float(judgments.scores[judge][place]) if judge else None
        answers.append(
            ViewedAnswer(
                key=key_of(row.item),
                question=row.question or "",
                references=row.item.references,
                system=row.system or row.item.system,
                answer=row.prediction or "",
                id=row.item.id or "",
                verdict=probability >= judgments.thresholds[judge] if judge else None,
                probability=probability,
                label=float(judgments.correct[place]),
                scores={name: float(values[place]) for name, values in others.items()},
            )
        )
    return answers


def _worst(report: AgreeReport) -> list[Table]:
    """Return a table for each judge, with cut texts in one column."""
    tables = []
    said = "Answers whose verdict the humans do not share, the largest differences first; whole in JSON and HTML."
    for name, worst in report.worst.items():
        rows = []
        for row in worst:
            question, answer, references = row["question"] or "", row["prediction"], " | ".join(row["references"])
            texts = f"{_cut(question)} {_cut(answer)} [{_cut(references)}]"
            rows.append([texts, f"{row[name]:.3f}", f"{row['human']:g}"])
        header = ["question, answer [references]", name, "human"]
        title = f"Where {name} and the humans differ most"
        tables += [Table(title, header, rows, said, wraps=True)] * bool(rows)
    return tables


def _name(row: Mapping[str, Any]) -> str:
    """Return the id of a row, else its line, and its system where that does not name it."""
    name = visible(row["id"] or f"line {row['line']}")
    return name if (row["system"] or "") in name else f"{name} of {visible(row['system'])}"


def _cut(text: str | None, most: int = 50) -> str:
    text = " ".join((text or "").split())
    return text if len(text) <= most else f"{text[:most].rstrip()}…"


@dataclass(frozen=True)
class _Row:
    file: str
    item: reading.Item
    question: str | None
    prediction: str | None
    system: str | None
    scores: list[float]
    groups: dict[str, str | None]
    rater: str

    def as_dict(self) -> dict[str, Any]:
        facts = {"id": self.item.id, "line": self.item.line, "file": self.file, "question": self.question}
        return facts | {"references": self.item.references, "prediction": self.prediction, "system": self.system}


def _human_column(human: object) -> dict[str, str]:
    by_keyword = "metrics are named by keyword: metrics"
    if not isinstance(human, str):
        raise ValueError(f"human: expected the name of a column, got {human!r}; {by_keyword}=...")
    if human in SCORERS:
        got = f"the metric {human!r}; {by_keyword}={human!r}"
        raise ValueError(f"human: expected the column of human scores, got {got}")
    return {} if human == "score" else {"score": human}


def _read(
    sources: Sequence[Source],
    columns: Mapping[str, str],
    scorers: Mapping[str, Scorer],
    score_columns: Sequence[str],
    group_columns: Sequence[str],
    skips: reading.Skips,
) -> list[_Row]:
    asks = partial(options.needed_columns, scorers)
    readers = {id(source): reading.RowReader(source, columns, asks) for source in sources}

    def convert(source: Source, row: Row) -> _Row:
        reader, values = readers[id(source)], row.values
        scores = [score_in_column(column, values, missing=True) for column in score_columns]
        texts = optional_texts(reader, values)
        for column in group_columns:
            if column not in values:
                text = ", ".join(values) or "none"
                raise reading.RowError(f"no column {column!r}, which --group names; columns found: {text}")
        if scorers:
            items = reader.read(row)
            if len(items) != 1:
                of_one = "expected the answer of one system, with its human score"
                raise reading.RowError(f"{of_one}, got {len(items)}; write one row per system")
            (item,) = items
        else:
            item = unscored_item(source, row, {**texts, "prediction": texts["prediction"] or [""]})
        item.human = reader.human(values)
        groups = {name: values.get(name) for name in (*group_columns, "question_type", "source")}
        prediction = item.predictions[0] if scorers and item.predictions else reader.optional(values, "prediction")
        prediction = prediction if isinstance(prediction, str) else None
        groups = {name: None if value in (None, "") else str(value) for name, value in groups.items()}
        return _Row(source.stem, item, texts["text"], prediction, texts["system"], scores, groups, rater_of(values))

    return [row for _, _, row in reading.good_rows(sources, convert, skips)]


def _scores(
    rows: Sequence[_Row], scorers: Mapping[str, Scorer], score_columns: Sequence[str], progress: reading.Progress
) -> tuple[dict, dict, list[str]]:
    """Return name -> (rows,) scores; name -> system -> score where metrics score systems; warnings."""
    scores: dict[str, np.ndarray] = {}
    system_scores: dict[str, dict[str, float]] = {}
    items, warnings = [row.item for row in rows], []
    for metric, scorer in scorers.items():
        if not scorer.takes_sets and any(len(item.predictions) != 1 for item in items):
            raise FileError(f"{metric}: scores one answer, got rows with sets of predictions; leave it out")
        if scorer.needs_question and any(row.question is None for row in rows):
            raise FileError(f"{metric}: needs a question in every row; drop the rows without one, or leave it out")
    sums, counts = item_statistics(items, scorers, progress)
    for metric, scorer in scorers.items():
        warnings += [f"{metric}: {warning}" for warning in scorer.warnings({}, counts[metric])]
        if scorer.verdict:
            warnings += calibrated_on(sum(profiles(scorer, items, sums[metric]).values(), Counter()))
        statistics = sums[metric][:, :-1]  # of one answer, or of one set
        by_row = scorer.row_scores(statistics)
        for name in scorer.meta_evaluated:
            scores[name] = np.asarray(by_row[scorer.row_names[scorer.names.index(name)]], dtype=float)
        for system in dict.fromkeys(row.system for row in rows):
            mine = np.array([row.system == system for row in rows])
            whole = scorer.corpus_scores(statistics[mine].sum(axis=0), int(mine.sum()))
            for name in scorer.meta_evaluated:
                system_scores.setdefault(name, {})[system or "(none)"] = whole[name]
    scores |= {column: np.array([row.scores[i] for row in rows]) for i, column in enumerate(score_columns)}
    return scores, system_scores, warnings


def _groups(rows: Sequence[_Row], group_columns: Sequence[str]) -> dict[str, list[str]]:
    """Return the groupings that say something here."""
    groups = {}
    types = [row.groups["question_type"] for row in rows]
    if all(types):
        groups["question_type"] = types
    elif any(row.question for row in rows):
        groups["question_type, by rule"] = [question_type(row.question or "") for row in rows]
    if any(row.system for row in rows):
        groups["system"] = [row.system or "(none)" for row in rows]
    groups["source"] = [row.groups["source"] or row.file for row in rows]
    if all(row.prediction is not None for row in rows):
        groups["length"] = [length_group(row.prediction) for row in rows]
    for column in group_columns:
        groups[column] = [row.groups[column] or "(none)" for row in rows]
    return groups
