"""How well metrics agree with human scores: what `genqa-metrics agree` prints and `genqa_metrics.agree` returns."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...reports.charts import curve_panels, forest_figure, group_figure, svg_of
from ...reports.report import Report, briefly, say
from ...reports.table import Table, estimate, number, p_value, print_table, visible
from ...rows.errors import bad_usage
from ...rows.reading import Message, Progress, ignore
from ...scale.options import OnError, Settings
from ...statistics.resampling import adjust_p_values
from .measures import MIN_QUESTIONS, MIN_ROWS
from .run import Agreement, AgreeRun

CRITERIA = {"f1": "F1", "accuracy": "accuracy", "youden": "Youden's J"}
LEVEL = 0.05
FIRST_METRICS, FIRST_ROWS, FIRST_NOTES = 6, 5, 3  # on the first screen
FIRST_COLUMNS = ("metric", "Pearson r", "AUC", "p corrected")
AGREEMENT, CLASSIFIED = "Agreement with the humans", "Telling correct answers from wrong ones"


def _by(grouping: str) -> str:
    return f"By {grouping.replace('_', ' ')}"


def _estimate(found: Mapping | None) -> str:
    return estimate(found, limit_digits=2)


def ordered(metrics: Mapping[str, Mapping], kind: str = "pearson") -> list[str]:
    """Return the names of the metrics, the best correlation first, undefined ones last."""
    return sorted(
        metrics, key=lambda name: (metrics[name][kind]["value"] is None, -(metrics[name][kind]["value"] or 0.0), name)
    )


def against_best(
    metrics: Mapping[str, Mapping], differences: Sequence[Mapping], kind: str = "pearson"
) -> dict[str, dict]:
    """Return the test of every other metric against the one with the best correlation, by name.

    Args:
        metrics: see `measures.analyse`.
        differences: see `measures.analyse`.
        kind: "pearson" or "spearman".

    Returns:
        {metric: its test}, with p-values that are corrected (Holm) for these tests alone.
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


def _correlations(numbers: Agreement) -> Table:
    tests = against_best(numbers.metrics, numbers.differences)
    rows, marked = [], set()
    classified = any("classifier" in metric for metric in numbers.metrics.values())
    for place, name in enumerate(ordered(numbers.metrics)):
        metric = numbers.metrics[name]
        test = tests.get(name)
        cells = [name, *(_estimate(metric[kind]) for kind in ("pearson", "spearman", "kendall"))]
        if classified:
            cells.append(_estimate(metric["classifier"]["auc"]))
        if tests:
            cells += [p_value(test[p]) if test else "" for p in ("permutation_p", "permutation_p_holm")]
        rows.append(cells)
        if place == 0 or (test and (test["permutation_p_holm"] or 0.0) >= LEVEL):
            marked.add(place)
    header = ["metric", "Pearson r", "Spearman rho", "Kendall tau-b", *["AUC"] * classified]
    explanation = "With 95% intervals."
    if not tests:
        return Table(AGREEMENT, header, rows, explanation)
    explanation += (
        " p: permutation test of the difference between this Pearson r and the first one; corrected (Holm) for the "
        "tests shown. Bold: the first one, and those that do not differ from it at 5%."
    )
    return Table(AGREEMENT, [*header, "p", "p corrected"], rows, explanation, marked)


def _pairs(numbers: Agreement) -> Table | None:
    ranked, systems = numbers.rank_pairs, numbers.systems
    if not ranked["pairs"] and not systems:
        return None
    header = ["metric"]
    said = []
    if ranked["pairs"]:
        header.append(f"answer pairs ({ranked['pairs']:,})")
        said.append(
            f"Answer pairs: two answers to one question whose human scores differ by more than {ranked['gap']:g}; "
            "share that the metric ranks as humans do, with 95% interval; equal scores are wrong."
        )
    if systems:
        first = next(iter(systems["pairs"].values()))
        header += [f"system pairs ({first['pairs']})", f"clear system pairs ({first['clear_pairs']})"]
        said.append(
            "System pairs: pairs of systems with the better one on the humans' side; clear: those in which the 95% "
            "interval of the humans' difference leaves out 0."
        )
    rows = []
    for name in ordered(numbers.metrics):
        cells = [name]
        if ranked["pairs"]:
            cells.append(_estimate(ranked["metrics"][name]))
        if systems:
            system = systems["pairs"][name]
            cells += [f"{system['right']} of {system['pairs']}", f"{system['clear_right']} of {system['clear_pairs']}"]
        rows.append(cells)
    return Table("Who is better? Pairs of answers and of systems", header, rows, " ".join(said))


def _system_scores(numbers: Agreement) -> Table | None:
    systems = numbers.systems
    if not systems:
        return None
    names = ordered(numbers.metrics)
    order = sorted(systems["human"], key=lambda name: (-systems["human"][name], name))
    rows = [
        [
            name,
            str(systems["rows"][name]),
            number(systems["human"][name]),
            *(number(systems["metrics"][metric][name]) for metric in names),
        ]
        for name in order
    ]
    return Table("Scores of the systems", ["system", "answers", "human", *names], rows)


def _group_tables(numbers: Agreement) -> list[Table]:
    tables = []
    for grouping, groups in numbers.groups.items():
        known = [group["metrics"] for group in groups.values() if group["metrics"]]
        if not known:
            continue
        interval = any(metrics[name]["pearson"]["low"] is not None for metrics in known for name in metrics)
        said = f", with 95% interval where a group has {MIN_QUESTIONS} questions or more" if interval else ""
        header = ["metric", *(f"{label} ({group['rows']:,})" for label, group in groups.items())]
        rows = []
        for name in ordered(numbers.metrics):
            cells = [
                _estimate(group["metrics"][name]["pearson"]) if group["metrics"] else "-" for group in groups.values()
            ]
            rows.append([name, *cells])
        tables.append(
            Table(
                _by(grouping),
                header,
                rows,
                f"Pearson r{said}; in brackets above: answers. '-': fewer than {MIN_ROWS} answers, or equal scores.",
            )
        )
    return tables


def _thresholds(numbers: Agreement) -> Table | None:
    names = [name for name in ordered(numbers.metrics) if "classifier" in numbers.metrics[name]]
    if not names:
        return None
    rows = []
    for name in names:
        metric = numbers.metrics[name]["classifier"]
        cells = [name]
        for criterion in CRITERIA:
            best = metric["thresholds"][criterion]
            limit = "-" if best["threshold"] is None else f"{best['threshold']:.3g}"
            cells.append(f"{number(best['value'])} ({number(best['held_out'])}) from {limit}")
        calibrated = metric["calibration"]
        cells += [number(metric["average_precision"])]
        cells += [number(calibrated["ece"]), number(calibrated["brier"])] if calibrated else ["-", "-"]
        rows.append(cells)
    share = numbers.human["share_correct"]
    rule = f"Correct: {numbers.human['correct']}, {share:.1%} of the answers. " if share is not None else ""
    return Table(
        CLASSIFIED,
        ["metric", *(f"best {name}" for name in CRITERIA.values()), "average precision", "ECE", "Brier"],
        rows,
        f"{rule}Best value on these rows, in brackets on questions that the threshold was not chosen on (5 folds), "
        "and the score from which on answers are called correct. ECE and Brier take the score for a probability.",
    )


def _verdicts(numbers: Agreement) -> Table | None:
    judges = {name: metric["verdicts"] for name, metric in numbers.metrics.items() if "verdicts" in metric}
    if not judges:
        return None
    rows = []
    for name, metric in judges.items():
        accepts = metric["accepted"] + metric["missed"]
        rejects = metric["rejected"] + metric["let_through"]
        rows.append(
            [
                name,
                f"{metric['threshold']:.3g}",
                _estimate(metric["agreement"]),
                number(metric["kappa"]),
                f"{metric['accepted']:,} of {accepts:,} ({number(metric['sensitivity'])})",
                f"{metric['rejected']:,} of {rejects:,} ({number(metric['specificity'])})",
            ]
        )
    return Table(
        "Verdicts of the judge",
        ["judge", "correct from", "agreement", "kappa", "accepted of those humans accept", "rejected of the others"],
        rows,
        "At the judge's own threshold, which was not chosen on these rows; agreement with 95% interval.",
    )


def _worst(numbers: Agreement, whole: bool = False) -> list[Table]:
    """Return a table for each judge; `whole` with the texts in columns of their own, else cut and in one column."""
    tables = []
    for name, value in numbers.worst.items():
        rows = []
        for row in value:
            question, answer, references = row["question"] or "", row["prediction"], " | ".join(row["references"])
            short = f"{_cut(question)} {_cut(answer)} [{_cut(references)}]"
            texts = [question, answer or "(empty)", references] if whole else [short]
            rows.append([*texts, f"{row[name]:.3f}", f"{row['human']:g}"])
        header = [*(["question", "answer", "references"] if whole else ["question, answer [references]"]), name]
        title = f"Where {name} and the humans differ most"
        said = "Answers whose verdict the humans do not share, the largest differences first"
        if rows and whole:
            tables.append(Table(title, [*header, "human"], rows, f"{said}.", texts=(0, 1, 2)))
        elif rows:
            tables.append(Table(title, [*header, "human"], rows, f"{said}; whole in JSON and HTML.", wraps=True))
    return tables


def _top(table: Table, most: int) -> Table:
    """Return the first rows of a table."""
    more = len(table.rows) - most
    if more <= 0:
        return table
    said = f"{table.explanation} ... and {more:,} more: --verbose."
    return replace(table, rows=table.rows[:most], marked={i for i in table.marked if i < most}, explanation=said)


def _cut(text: str | None, most: int = 50) -> str:
    text = " ".join((text or "").split())
    return text if len(text) <= most else f"{text[:most].rstrip()}…"


class AgreeReport(Report):
    """How well metrics agree with human scores.

    Args:
        numbers: what `run.AgreeRun.report` returns.

    Attributes:
        metrics: {metric: {"pearson", "spearman", "kendall": {"value", "low", "high"}, "classifier": ...}}; a judge has
            "verdicts" too.
        worst: {judge: the rows on which it and the humans differ most, worst first}.
        differences: tests of every pair of metrics.
        rank_pairs: share of answer pairs that each metric ranks as humans do.
        systems: scores of systems by humans and metrics, or None.
        groups: {grouping: {group: {"rows", "questions", "metrics"}}}.
        human: column, range and mean of the human scores.
        rows: number of answers.
        questions: number of questions.
        signatures: {metric: what its numbers depend on}.
        notes: what a reader must know before the numbers.
    """

    title = "Agreement with human judgments"
    open_tables = 1

    def __init__(self, numbers: Agreement):
        self.numbers = numbers
        self.metrics, self.differences, self.groups = numbers.metrics, numbers.differences, numbers.groups
        self.rank_pairs, self.systems, self.human = numbers.rank_pairs, numbers.systems, numbers.human
        self.worst = numbers.worst
        self.rows, self.questions = numbers.rows, numbers.questions
        self.signatures, self.notes = numbers.signatures, numbers.notes

    def __repr__(self) -> str:
        text = ", ".join(f"{name} {number(self.metrics[name]['pearson']['value'])}" for name in ordered(self.metrics))
        return f"AgreeReport({self.rows:,} answers; Pearson r: {visible(text)})"

    def to_dict(self) -> dict:
        """Return everything as one object of types that JSON has."""
        return self.numbers.to_dict()

    def to_pandas(self):
        """Return a `pandas.DataFrame` with one row per metric, the best Pearson correlation first."""
        import pandas

        rows = {}
        for name in ordered(self.metrics):
            metric = self.metrics[name]
            parts = {kind: metric[kind] for kind in ("pearson", "spearman", "kendall")}
            parts |= {"auc": metric["classifier"]["auc"]} if "classifier" in metric else {}
            rows[name] = {
                f"{kind}{'' if end == 'value' else f'_{end}'}": part[end]
                for kind, part in parts.items()
                for end in ("value", "low", "high")
            }
        return pandas.DataFrame.from_dict(rows, orient="index").rename_axis("metric")

    @property
    def findings(self) -> list[str]:
        """Which metric agrees best with the humans, which others may agree as well, and how far a judge agrees."""
        best = ordered(self.metrics)[0]
        pearson = self.metrics[best]["pearson"]
        if pearson["value"] is None:
            return []
        p = {name: test["permutation_p_holm"] for name, test in against_best(self.metrics, self.differences).items()}
        near = [name for name in ordered(self.metrics) if name in p and (p[name] is None or p[name] >= LEVEL)]
        said = f"{briefly(near)} may agree as well" if near else "chance is unlikely to explain it"
        if pearson["low"] is not None and pearson["low"] <= 0:
            result = [f"No metric is shown to agree with the humans: Pearson r of {best} {_estimate(pearson)}."]
        elif p:
            result = [f"{best} agrees best with the humans: Pearson r {_estimate(pearson)}; {said}."]
        else:
            result = [f"{best} agrees with the humans: Pearson r {_estimate(pearson)}."]
        for name, metric in self.metrics.items():
            if "verdicts" in metric:
                share = _estimate(metric["verdicts"]["agreement"])
                result.append(f"{name} and the humans give the same verdict on {share} of the answers.")
        return result

    @property
    def next_steps(self) -> list[str]:
        """What to do with the metric that agrees best, and with a judge."""
        best, judges = ordered(self.metrics)[0], [name for name in self.metrics if "verdicts" in self.metrics[name]]
        result = [
            "Every other table below opens by a click on its title; paper and `--format json` have all of them.",
            f"Compare systems by the scores that agree with your humans ({best} first): `genqa-metrics compare ROWS`.",
        ]
        if any(self.worst.values()):
            result.append("Read the rows on which the judge and the humans differ; `genqa-metrics explain` says why.")
        if judges:
            result.append(
                "Fit the judge's threshold and error rates to labels of yours: `genqa-metrics calibrate ROWS`."
            )
        return result

    def tables(self) -> list[Table]:
        """Return the tables."""
        return self._tables(_worst(self.numbers))

    def page_tables(self) -> list[Table]:
        """Return the tables with the texts of the worst rows as they are."""
        return self._tables(_worst(self.numbers, whole=True))

    def _tables(self, worst: list[Table]) -> list[Table]:
        numbers = self.numbers
        one_each = _correlations(numbers), _pairs(numbers), _system_scores(numbers), *_group_tables(numbers)
        return [table for table in (*one_each, _thresholds(numbers), _verdicts(numbers), *worst) if table]

    def show(self, console) -> None:
        """Print the finding, the metrics with the best one first, and the worst rows; `show_all` prints everything.

        Args:
            console: a `rich.console.Console`.
        """
        from rich.text import Text

        console.print(Text(f"{self.title}: {self.rows:,} answers to {self.questions:,} questions", style="bold"))
        for line in self.findings:
            console.print(Text(f"-> {visible(line)}", style="bold"))
        more = len(self.notes) - FIRST_NOTES
        say(console, [f"note: {note}" for note in self.notes[:FIRST_NOTES]], "yellow")
        say(console, [f"note: ... and {more} more: --verbose"] if more > 0 else [], "yellow")
        console.print()
        table = _correlations(self.numbers)
        kept = [i for i, name in enumerate(table.header) if name in FIRST_COLUMNS]
        header, *rows = ([cells[i] for i in kept] for cells in (table.header, *table.rows))
        said = "95% intervals; p: permutation test of the difference from the first Pearson r, corrected (Holm)."
        short = Table("", header, rows, said if FIRST_COLUMNS[-1] in header else "95% intervals.", table.marked)
        print_table(_top(short, FIRST_METRICS), console)
        for name, worst in self.worst.items():
            title = f"Where {name} and the humans differ most ({min(FIRST_ROWS, len(worst))} of {len(worst)})"
            say(console, [title] * bool(worst), "bold")
            for row in worst[:FIRST_ROWS]:
                answer, references = _cut(row["prediction"]) or "(empty)", " | ".join(row["references"])
                line = (
                    f"  {row[name]:.3f}  human {row['human']:g}  {answer} [{_cut(references)}] {row['question'] or ''}"
                )
                console.print(Text(visible(line)), no_wrap=True, overflow="ellipsis")
            say(console, [""] * bool(worst))
        console.print(Text("All tables, what they rest on, and signatures: --verbose", style="dim"))

    def facts(self) -> list[str]:
        """Return what the numbers rest on, one sentence or line each."""
        numbers, human, settings = self.numbers, self.human, self.numbers.settings
        left_out = [f"left out: {count:,} rows {why}" for why, count in numbers.left_out.items() if count]
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
            f"intervals: {settings['interval']}",
            f"genqa-metrics {numbers.genqa_metrics}, {settings['resamples']:,} bootstrap samples, "
            f"{settings['permutations']:,} permutations, seed {settings['seed']}",
        ]

    def charts(self) -> dict:
        """Return the charts for the page, by the title of the table that they stand above."""
        metrics = self.metrics
        names = [name for name in ordered(self.metrics) if metrics[name]["pearson"]["value"] is not None]
        if not names:
            return {}
        charts = {AGREEMENT: svg_of(forest_figure(metrics, names))}
        for grouping, groups in self.groups.items():
            if any(group["metrics"] for group in groups.values()):
                charts[_by(grouping)] = svg_of(group_figure(groups, names))
        if all("classifier" in metrics[name] for name in names):
            charts[CLASSIFIED] = curve_panels(self.to_dict(), names)
        return charts


def agree(
    rows: object,
    human: str = "score",
    metrics: str | Sequence[str] | None = None,
    settings: Settings | None = None,
    seed: int = 0,
    *,
    columns: Mapping[str, str] | None = None,
    score_columns: str | Sequence[str] = (),
    group_columns: str | Sequence[str] = (),
    correct: float | None = None,
    gap: float | None = None,
    resamples: int = 1000,
    worst: int = 10,
    on_error: OnError = "fail",
    problem: Message = ignore,
    progress: Progress = ignore,
) -> AgreeReport:
    """Measure how well metrics agree with human scores: correlations, pairs, groups, thresholds.

    Args:
        rows: as for `score`, with a human score in every row.
        human: the column with the human scores.
        metrics: names of metrics; None for the default ones of such rows, if no column holds scores.
        settings: {metric: {setting: value}}, or {setting: value} of the only metric.
        seed: the same rows and seed give the same numbers.
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
    with bad_usage():
        run = AgreeRun(
            rows,
            human,
            metrics,
            settings,
            seed,
            columns=columns,
            score_columns=score_columns,
            group_columns=group_columns,
            correct=correct,
            gap=gap,
            resamples=resamples,
            worst=worst,
            on_error=on_error,
        )
    return AgreeReport(run.report(problem, progress))
