"""A comparison as one HTML page: findings, charts, tables, and all questions to filter, sort and open."""

from collections.abc import Mapping, Sequence
from typing import Any

from ...registry import SCORERS, scorer_class
from ...reports.charts import forest_chart, outcome_bar
from ...reports.report import Report, meanings, of_faults
from ...reports.table import html_table, number, p_value, page, render
from ..explain.kpqa import heat_map_html, heat_map_legend, heat_map_style
from .analysis import ACCURACY
from .ranking import Ranking, turned
from .tables import change_tables, is_corrected, name_of, pairs_table, shown_answers, slice_tables, systems_table

UNFOLDED_NOTES = 3  # on the page
MOST = 500  # questions that a page shows; files with all scores hold the rest
ACCEPTED = "share that the judge accepts, not accuracy"
AGREES = 0.5  # from which on a score of shared words counts as high
FILTERS = {
    "disagree": "the judge and shared words disagree",
    "labels": "people and judge disagree",
    "differ": "the systems differ",
    "wrong": "an answer is judged wrong",
}
ORDERS = {
    "disagree": "disagreement of the metrics",
    "spread": "difference of the systems",
    "lowest": "lowest score",
    "first": "order of the file",
}


def comparison_page(report: Report, finding: bool = True) -> str:
    """Return a comparison as one HTML page that needs no outside resource; one script filters and sorts its rows.

    Without `finding` the first one stands above the page.
    """
    explained = report.explanations()
    sections = [_section(report, metric, explained.get(metric, ())) for metric in report.metrics]
    places = [*((f"metric-{i}", section["title"]) for i, section in enumerate(sections, 1))]
    places += [("questions", "All questions"), ("facts", "What the numbers rest on")]
    body = render(
        "compare.html",
        places=places,
        report=report,
        sections=sections,
        findings=report.findings[: 1 if finding else 0] + report.findings[len(sections) :],
        changes=[html_table(table, text_columns={0, 1, 3, 5}) for table in change_tables(report)],
        most=UNFOLDED_NOTES,
        facts=report.facts(),
        rows=_all_rows(report),
    )
    styles = (render("forest.css"), heat_map_style(), render("compare.css"), render("rows.css"))
    return page(report.title, body, *styles, script=render("rows.js") + render("rows_connect.js"))


def _all_rows(report: Report):
    """Return the table of all questions (`markupsafe.Markup`); `rows.js` makes it filter, sort and open."""
    rows, systems = report.answers(), Ranking(report, next(iter(report.metrics))).order
    known = next(iter(rows[0]["answers"].values()))["scores"]
    names = [name for name in known if name != "ava_label"]
    first = "ava_score" if "ava_score" in known else names[0]
    words = "rougeL" if first == "ava_score" and "rougeL" in known else None
    names = sorted(names, key=lambda name: name != first)
    orders = {key: label for key, label in ORDERS.items() if words or key != "disagree"}
    order = next(iter(orders))
    shown = [_table_row(row, systems, names, words) for row in rows]
    shown = sorted(shown, key=lambda row: (-row["orders"][order], row["number"]))[:MOST]
    counts = {key: sum(key in row["kinds"].split() for row in shown) for key in FILTERS}
    return render(
        "rows.html",
        rows=shown,
        total=len(rows),
        systems=systems,
        filters=[(key, label, counts[key]) for key, label in FILTERS.items() if counts[key]],
        orders=orders.items(),
        caption="Questions: click one for its texts and scores",
    )


def _table_row(row: Mapping, systems: Sequence[str], names: Sequence[str], words: str | None) -> dict:
    """Return what the table shows of a question, see `CompareReport.answers`; the first of `names` without a verdict.

    `words` names the score of shared words that is set against the judge's probability; None for none.
    """
    answers, main = [row["answers"][system] for system in systems], names[0]
    values = [answer["scores"][main] for answer in answers]
    verdicts = [answer["scores"].get("ava_label") for answer in answers]
    judged, labels = None not in verdicts, [answer["label"] for answer in answers]
    right = [verdict if label is None else label for label, verdict in zip(labels, verdicts, strict=True)]
    apart = [abs(answer["scores"][main] - answer["scores"][words]) for answer in answers] if words else [0.0]
    spread = max(values) - min(values)
    kinds = {
        "differ": len(set(right)) > 1 if judged else spread > AGREES,
        "wrong": judged and min(right) < 1,
        "disagree": max(apart) > AGREES,
        "labels": judged and right != verdicts,
    }
    return {
        "number": row["number"],
        "name": row["question"] if row["question"] is not None else f"row {row['number']}",
        "references": row["references"],
        "kinds": " ".join(name for name, is_so in kinds.items() if is_so),
        "orders": dict(zip(ORDERS, (max(apart), spread, -min(values), -row["number"]), strict=True)),
        "answers": [
            {
                "system": system,
                "text": answer["prediction"],
                "value": number(answer["scores"][main]),
                "right": is_right >= 0.5 if judged else None,
                "judged": "" if answer["label"] is None else "right" if verdict else "wrong",
                "scores": [(name, number(answer["scores"][name])) for name in names],
            }
            for system, answer, verdict, is_right in zip(systems, answers, verdicts, right, strict=True)
        ],
    }


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
        "faults": of_faults(numbers["faults"], numbers["accuracy"]["systems"]) if "faults" in numbers else [],
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
