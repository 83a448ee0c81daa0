"""Scores of systems: what `genqa-metrics score` prints and `genqa_metrics.score` returns."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..scoring.registry import scorer_class
from ..scoring.run import Run, Scores
from .report import Report, listed, say, skips_bad_rows
from .table import Table, estimate, markdown, markdown_code, markdown_table, print_table, visible

if TYPE_CHECKING:
    import pandas

_SHORT = 5  # systems in the short form


def score(
    rows: Any,
    metrics: str | Sequence[str] | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    on_error: str = "fail",
    total: bool = False,
    ignore_judge_errors: bool = False,
    problem: Callable[[str], None] = lambda message: None,
) -> "ScoreReport":
    """Score rows; the numbers are those of `genqa-metrics score`.

    Args:
        rows: a list of dicts, a pandas DataFrame, a `datasets.Dataset`, a path or a list of paths. A row has
            "prediction" and "references", and where it has them "question", "system", "id", "score" and "label"; or
            "context", "predictions" and "references".
        metrics: names of metrics; None for those that have settings, or else "ava" for rows with a question, "f_meta"
            and "aev" for sets of questions, and "aev" for others.
        settings: {metric: {setting: value}}.
        columns: where a column has another name: {"prediction": "answer"}.
        on_error: "fail" at the first bad row, or "skip" and count bad rows.
        total: add a row for all systems together.
        ignore_judge_errors: with ava, give intervals of the accuracy that ignore the judge's errors.
        problem: called with each bad row that is skipped.

    Raises:
        ValueError: if an argument or a row is bad, or there is nothing to score.

    >>> score([{"prediction": "four steps", "references": ["four steps"]}], "aev").systems["rows"]["aev"]
    1.0
    """
    skip = skips_bad_rows(on_error)
    run = Run(rows, listed(metrics), settings, columns, keep=True)
    return ScoreReport.of(run, run.score(skip, total, problem=problem), ignore_judge_errors)


class ScoreReport(Report):
    """Scores of systems and rows.

    Attributes:
        systems: {system: {score: value}}, of all metrics.
        signatures: {metric: what its numbers depend on}.
        rows: {system: rows that were scored}.
        predictions: {system: predictions that were scored}.
        skipped: {system: bad rows that were left out}; what is known of no system is only in `found.skipped`.
        notes: what must be read with the scores, one sentence each.
        warnings: scores that mean less than they seem to, one sentence each.
        accuracy: with ava, the accuracy of every system with its interval, see `judge_errors.judged_systems`.
        found: everything, see `Scores`.
    """

    title = "Scores"

    def __init__(self, found: Scores, accuracy: Mapping[str, Any] | None = None):
        self.found, self.accuracy = found, accuracy
        self.systems = found.systems
        self.signatures = found.signatures
        self.rows, self.predictions = found.rows, found.predictions
        self.skipped = {system: found.skipped_of.get(system, 0) for system in (*found.rows, *found.skipped_of)}
        if found.total:
            self.skipped[found.total] = found.skipped
        self.notes, self.warnings = found.notes, found.warnings

    @classmethod
    def of(cls, run: Run, found: Scores, ignore_judge_errors: bool = False) -> "ScoreReport":
        """Return the report of a run.

        Args:
            run: what was run.
            found: what it returned.
            ignore_judge_errors: ignore the errors of ava in the intervals of the accuracy.
        """
        if "ava" not in found.scores or found.sets:
            return cls(found)
        from ..analysis.judge_errors import judged_systems

        rates = {
            system: (scores["ava_accuracy"], found.predictions[system])
            for system, scores in found.scores["ava"].items()
            if system != found.total
        }
        accuracy = judged_systems(rates, run.scorers["ava"], ignore_judge_errors)
        accuracy["note"] += "; answers count as independent, and `accuracy` takes those to one question together"
        return cls(found, accuracy)

    def __repr__(self) -> str:
        shown = []
        for metric, systems in self.found.scores.items():
            main = scorer_class(metric).main
            some = [f"{system} {scores[main]:.4f}" for system, scores in list(systems.items())[:_SHORT]]
            shown.append(f"{main}: {', '.join(some)}{', ...' if len(systems) > _SHORT else ''}")
        return visible(f"ScoreReport({'; '.join(shown)})")

    def tables(self) -> list[Table]:
        """Return one table per metric; the best score of several systems is marked."""
        return [self._table(metric) for metric in self.found.scores]

    def _table(self, metric: str) -> Table:
        counts = {"questions" if self.found.sets else "answers": self.predictions}
        if self.found.sets and scorer_class(metric).takes_sets:
            counts = {"contexts": self.rows, **counts}
        if self.found.skipped:
            counts["skipped"] = self.skipped
        main = scorer_class(metric).main
        rows, values = [], []
        for system, scores in self.found.scores[metric].items():
            shown = _shown_scores(metric, scores)
            rows.append(
                [system, *(f"{count[system]:,}" for count in counts.values()), *(f"{v:.4f}" for v in shown.values())]
            )
            values.append(None if system == self.found.total else rows[-1][-len(shown) + list(shown).index(main)])
        header = ["system", *counts, *shown]
        if metric == "ava" and self.accuracy:
            header.append("accuracy")
            for row in rows:
                row.append(estimate(self.accuracy["systems"].get(row[0])))
        best = max((value for value in values if value is not None), default=None)
        marked = {place for place, value in enumerate(values) if value == best} if len(rows) > 1 else set()
        return Table(metric, header, rows, self.signatures[metric], marked, header.index(main))

    def facts(self) -> list[str]:
        """Return the signatures, and how the intervals of the accuracy were made."""
        return [*self.signatures.values(), *([self.accuracy["note"]] if self.accuracy else [])]

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the rows, with all digits."""
        systems = {
            system: {
                "rows": self.rows[system],
                "predictions": self.predictions[system],
                "skipped": self.skipped[system],
                **scores,
            }
            for system, scores in self.systems.items()
        }
        return {
            "systems": systems,
            "signatures": self.signatures,
            "skipped_rows": self.found.skipped,
            "contexts_without_a_second_reference": self.found.single,
            "notes": self.notes,
            **({"accuracy": self.accuracy} if self.accuracy else {}),
        }

    def to_pandas(self) -> "pandas.DataFrame":
        """Return one line a row, with all its scores.

        Raises:
            ValueError: if the rows were not kept, as by the command line.
        """
        import pandas

        if self.found.columns is None:
            raise ValueError("rows: were not kept; genqa_metrics.score keeps them, and --output writes them")
        return pandas.DataFrame(self.found.columns).astype({"score": float, "label": float})  # None is NaN

    def to_markdown(self) -> str:
        """Return the notes, and one table per metric with its signature."""
        parts = [f"**Note:** {markdown(note)}" for note in self.notes]
        for table in self.tables():
            table.marked = set()
            parts += [f"**{markdown(table.title)}**", markdown_table(table), markdown_code(table.explanation)]
        return "\n\n".join([*parts, *([markdown(self.accuracy["note"])] if self.accuracy else [])])

    def show(self, console: Any) -> None:
        """Print the notes, and one table per metric with its signature.

        Args:
            console: a `rich.console.Console`.
        """
        say(console, [f"note: {note}" for note in self.notes], "bold yellow")
        for table in self.tables():
            table.title = ""
            print_table(table, console, [name for name in table.header if name != table.header[table.bold]])
        say(console, [self.accuracy["note"]] if self.accuracy else [])


def _shown_scores(metric: str, scores: Mapping[str, float]) -> dict[str, float]:
    """Leave the metric's name out of those of its parts, and show one quotient for the two lengths."""
    main = scorer_class(metric).main
    if metric == "kpqa":  # precision and recall of its parts are in --output and --format json; here they are too wide
        return {name: value for name, value in scores.items() if not name.endswith(("_precision", "_recall"))}
    shown = {name if name == main else name.removeprefix(f"{metric}_"): value for name, value in scores.items()}
    if "prediction_length" in shown:
        length = shown.pop("prediction_length")
        shown["length_ratio"] = length / max(shown.pop("reference_length"), 1)
    return shown
