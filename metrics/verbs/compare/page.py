"""A comparison as one HTML page: findings, charts, tables, and all questions to filter, sort and open."""

from collections.abc import Mapping, Sequence

from ...reports.charts import forest_chart, outcome_bar
from ...reports.glossary import meanings
from ...reports.report import Report
from ...reports.table import html_table, number, p_value, page, render
from ..explain.kpqa_report import heat_map_html, heat_map_legend, heat_map_style
from .changes import change_tables
from .rows_table import rows_table
from .shown import (
    CLUSTERS,
    MAX_NOTES,
    best_systems,
    compared_scores,
    corrected_accuracy,
    name_of,
    ordered,
    pairs_table,
    ranked_pairs,
    shown_answers,
    systems_table,
)


def comparison_page(shown: Report, explained: Sequence[Mapping] = (), rows: Sequence[Mapping] = ()) -> str:
    """Return a comparison as one HTML page that needs no outside resource; one script filters and sorts its rows.

    Args:
        shown: the comparison.
        explained: heat maps for KPQA's rows, see `compared_rows.explanations`.
        rows: all questions, see `compared_rows.scored_rows`.
    """
    sections = [_section(shown, metric, explained) for metric in shown.tests]
    places = [*((f"metric-{i}", section["metric"]) for i, section in enumerate(sections, 1))]
    places += [("questions", "All questions")] * bool(rows) + [("facts", "What the numbers rest on")]
    body = render(
        "compare.html",
        places=places,
        report=shown,
        sections=sections,
        changes=[html_table(table, text_columns={0, 1, 3, 5}) for table in change_tables(shown.to_dict())],
        most=MAX_NOTES,
        clusters=CLUSTERS,
        facts=shown.facts(),
        rows=_all_rows(shown, rows) if rows else None,
    )
    styles = (render("forest.css"), heat_map_style(), render("compare.css"), render("rows.css"))
    script = render("rows.js") + render("rows_connect.js") if rows else None
    return page(shown.title, body, *styles, script=script)


def _all_rows(shown: Report, rows: Sequence[Mapping]):
    """Return the table of all questions, systems in the order of the first metric."""
    report, metric = shown.to_dict(), next(iter(shown.tests))
    known = next(iter(rows[0]["answers"].values()))["scores"]
    labels = [name for name in known if name != "ava_label"]
    first = "ava_score" if "ava_score" in known else labels[0]
    labels = {name: name for name in sorted(labels, key=lambda name: name != first)}
    words = "rougeL" if first == "ava_score" and "rougeL" in known else None
    return rows_table(rows, ordered(report, metric, compared_scores(report, metric)[0]), labels, words)


def _section(shown: Report, metric: str, explained: Sequence[Mapping]) -> dict:
    """Return what the page shows of a metric."""
    report, scores = shown.to_dict(), []
    for place, name in enumerate(shown.tests[metric]):
        order = ordered(report, metric, name)
        estimates, charted = {system: shown.scores[metric][name][system] for system in order}, name
        if place == 0 and (accuracy := corrected_accuracy(report, metric)):
            charted = "accuracy"
            estimates = {system: accuracy["systems"][system] for system in order}
            estimates = {system: {**found, "value": found[charted]} for system, found in estimates.items()}
        first = best_systems(report, metric, name)
        pairs = pairs_table(report, metric, name)
        bars = [outcome_bar(pair) for pair in ranked_pairs(report, metric, name)]
        scores.append(
            {
                "name": name,
                "charted": charted,
                "chart": forest_chart(estimates, first),
                "matrix": _matrix(shown, metric, name) if len(order) > 2 else None,
                "pairs": html_table(pairs, bars),
                "said": pairs.explanation,
                "folded": len(order) > 2 and place == 0,  # the matrix has the differences
            }
        )
    table = systems_table(report, metric)
    heat = explained if metric == "kpqa" else ()
    rows = [_shown_row(row, heat[i] if i < len(heat) else {}) for i, row in enumerate(shown.rows[metric])]
    return {
        "metric": metric,
        "scores": scores,
        "systems": html_table(table),
        "names": table.names_in_full,
        "said": table.explanation,
        "meanings": meanings(table),
        "legend": heat_map_legend() if heat else None,
        "sliced": [(table, html_table(table)) for table in shown.sliced(metric)],
        "rows": rows,
    }


def _matrix(shown: Report, metric: str, name: str) -> dict:
    """Return the differences of all pairs as a square: the order of the systems, and for each a row of cells."""
    report = shown.to_dict()
    order = ordered(report, metric, name)
    pairs = {(pair["first"], pair["second"]): pair for pair in ranked_pairs(report, metric, name)}
    rows = {}
    for row in order:
        rows[row] = []
        for column in order:
            pair = pairs.get((row, column)) or pairs.get((column, row))
            if pair is None:
                rows[row].append(None)
                continue
            difference = pair["difference"]["value"] * (1 if pair["first"] == row else -1)
            clear = pair["p_corrected"] < report["settings"]["level"]
            kind = ("better" if difference > 0 else "worse") if clear else ""
            said = f"p {p_value(pair['p'])}, corrected {p_value(pair['p_corrected'])}"
            sign = "+" if round(difference, 3) > 0 else ""
            rows[row].append((kind, said, f"{sign}{number(difference)}"))
    return {"order": order, "rows": rows}


def _shown_row(row: Mapping, heat: Mapping) -> dict:
    """Return what the page shows of a row; `heat` has KPQA's explanation of some systems' answers."""
    answers = []
    for score, system, answer in shown_answers(row):
        answers.append({"score": score, "system": system, "answer": answer, "heat": None})
        if system in heat:
            prediction, reference = heat[system].pairs[heat[system].scores["rougeL_kpqa"].reference]
            answers[-1] |= {"heat": heat_map_html(prediction), "reference": heat_map_html(reference)}
    return {"name": name_of(row), "references": row["references"], "answers": answers}
