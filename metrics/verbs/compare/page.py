"""A comparison as one HTML page: findings, charts, tables, and the row viewer."""

from collections.abc import Mapping, Sequence
from typing import Any

from ...registry import SCORERS, judge_among, scorer_class
from ...reports.charts import forest_chart, outcome_bar
from ...reports.report import Report, meanings, of_faults
from ...reports.table import html_table, number, p_value, page, render
from ...reports.viewer import ViewedAnswer, viewer, viewer_script
from ..explain.kpqa import heat_map_html, heat_map_legend, heat_map_style
from ..view.rows import scored_answer
from .analysis import ACCURACY
from .ranking import Ranking, turned
from .tables import change_tables, is_corrected, name_of, pairs_table, shown_answers, slice_tables, systems_table

UNFOLDED_NOTES = 3  # on the page
ACCEPTED = "share that the judge accepts, not accuracy"


def comparison_page(report: Report, finding: bool = True) -> str:
    """Return a comparison as one HTML page that needs no outside resource; its one script is the row viewer's.

    Without `finding` the first one stands above the page.
    """
    explained = report.explanations()
    sections = [_section(report, metric, explained.get(metric, ())) for metric in report.metrics]
    places = [*((f"metric-{i}", section["title"]) for i, section in enumerate(sections, 1))]
    places += [("answers", "All answers"), ("facts", "What the numbers rest on")]
    body = render(
        "compare.html",
        places=places,
        report=report,
        sections=sections,
        findings=report.findings[: 1 if finding else 0] + report.findings[len(sections) :],
        changes=[html_table(table, text_columns={0, 1, 3, 5}) for table in change_tables(report)],
        most=UNFOLDED_NOTES,
        facts=report.facts(),
        rows=viewer(_all_answers(report)),
    )
    styles = (render("forest.css"), heat_map_style(), render("compare.css"), render("viewer.css"))
    return page(report.title, body, *styles, script=viewer_script())


def _all_answers(report: Report) -> list[ViewedAnswer]:
    """Return the answers of all systems, question by question; scores of the judge stand as its verdict."""
    rows, judge = report.answers(), judge_among(report.metrics)
    scores = next(iter(rows[0]["answers"].values()))["scores"]
    names = [name for name in scores if not (judge and name.startswith(f"{judge}_"))]
    return [
        scored_answer(
            {"id": row["id"], "question": row["question"] or f"row {row['number']}", "references": row["references"]}
            | {"system": system, "prediction": answer["prediction"], "label": answer["label"], **answer["scores"]},
            judge,
            {name: answer["scores"][name] for name in names},
        )
        for row in rows
        for system, answer in row["answers"].items()
    ]


def _section(report: Report, metric: str, heat: Sequence[Mapping]) -> dict[str, Any]:
    """Return what the page shows of a metric."""
    numbers, scores = report.metrics[metric], []
    for place, name in enumerate(numbers["tests"]):
        by = Ranking(report, metric, name)
        order, estimates, charted = by.order, {system: by.scores[system] for system in by.order}, name
        if place == 0 and by.accuracy:
            charted, of_systems = ACCURACY, by.accuracy["systems"]
            estimates = {system: {**of_systems[system], "value": of_systems[system][ACCURACY]} for system in by.told}
        elif by.untold:  # an interval beside it would be taken for one of the accuracy
            charted = f"{name}, not accuracy" if place else ACCEPTED
            estimates = {system: {**values, "low": None, "high": None} for system, values in estimates.items()}
        pairs = pairs_table(report, metric, name)
        scores.append(
            {
                "name": name,
                "charted": charted,
                # without intervals a part of the scale would make small differences look large
                "chart": forest_chart(estimates, [] if by.untold else by.best, ends=(0, 1) if by.untold else ()),
                "matrix": _matrix(by) if len(order) > 2 and not by.untold else None,
                "pairs": html_table(pairs, [outcome_bar(pair) for pair in by.pairs]),
                "said": pairs.explanation,
                "untold": by.untold,
                "folded": by.untold or (len(order) > 2 and place == 0),  # the matrix has the differences
            }
        )
    table, sliced = systems_table(report, metric, ranks=False), slice_tables(report, metric)
    return {
        "metric": metric,
        "title": scorer_class(metric).title if metric in SCORERS else metric,
        "finding": report.findings[list(report.metrics).index(metric)],
        "scores": scores,
        "systems": html_table(table),
        "names": table.origins,
        "said": table.explanation,
        "faults": of_faults(numbers["faults"]) if "faults" in numbers else [],
        "meanings": meanings(table),
        "legend": heat_map_legend() if heat else None,
        "sliced": [(table, html_table(table), table in sliced[1:] and not table.marked) for table in sliced],
        "rows": [_shown_row(*pair) for pair in zip(numbers["rows"], heat, strict=False)],
    }


def _matrix(by: Ranking) -> dict[str, Any]:
    """Return the differences of all pairs as a square: the order of the systems, and for each a row of cells."""
    cells = {}
    for pair in [*by.pairs, *map(turned, by.pairs)]:
        said = f"p {p_value(pair['p'])}" + f", corrected {p_value(pair['p_corrected'])}" * is_corrected(by.report)
        said = by.report.too_few_differ(pair) or said
        difference = pair["difference"]["value"]
        kind = ("better" if difference > 0 else "worse") if by.report.is_clear(pair) else ""
        plus = "+" if difference is not None and round(difference, 3) > 0 else ""
        cells[pair["first"], pair["second"]] = (kind, said, f"{plus}{number(difference)}")
    return {"order": by.order, "rows": {row: [cells.get((row, column)) for column in by.order] for row in by.order}}


def _shown_row(row: Mapping, heat: Mapping) -> dict:
    """Return what the page shows of a row; `heat` has KPQA's explanation of some systems' answers."""
    answers = []
    for score, system, answer in shown_answers(row):
        answers.append({"score": score, "system": system, "answer": answer, "heat": None})
        if system in heat:
            prediction, reference = heat[system].pairs[heat[system].scores["rougeL_kpqa"].reference]
            answers[-1] |= {"heat": heat_map_html(prediction), "reference": heat_map_html(reference)}
    return {"name": name_of(row), "references": row["references"], "answers": answers}
