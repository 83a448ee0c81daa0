"""A comparison as one HTML page: findings, charts, tables, and all questions to filter, sort and open."""

from collections.abc import Mapping, Sequence
from typing import Any

from ...reports.charts import forest_chart, outcome_bar
from ...reports.report import Report, meanings, of_faults
from ...reports.table import html_table, number, p_value, page, render
from ..explain.kpqa import heat_map_html, heat_map_legend, heat_map_style
from .comparison import ACCURACY, Comparison, name_of, shown_answers
from .run import CompareRun
from .tables import CLUSTERS, change_tables, pairs_table, slice_tables, systems_table

MAX_NOTES = 5  # in the terminal, and unfolded on the page
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


def comparison_page(report: Report, run: CompareRun | None) -> str:
    """Return a comparison as one HTML page that needs no outside resource; one script filters and sorts its rows.

    Args:
        report: the comparison.
        run: what computed it, for heat maps of KPQA's rows and the table of all questions; None for neither.
    """
    numbers: Comparison = report.numbers
    explained, rows = (run.explanations(numbers), run.rows()) if run else ({}, [])
    sections = [_section(numbers, metric, explained.get(metric, ())) for metric in numbers.metrics]
    places = [*((f"metric-{i}", section["metric"]) for i, section in enumerate(sections, 1))]
    places += [("questions", "All questions")] * bool(rows) + [("facts", "What the numbers rest on")]
    body = render(
        "compare.html",
        places=places,
        report=report,
        sections=sections,
        changes=[html_table(table, text_columns={0, 1, 3, 5}) for table in change_tables(numbers)],
        most=MAX_NOTES,
        clusters=CLUSTERS,
        facts=report.facts(),
        rows=_all_rows(numbers, rows) if rows else None,
    )
    styles = (render("forest.css"), heat_map_style(), render("compare.css"), render("rows.css"))
    script = render("rows.js") + render("rows_connect.js") if rows else None
    return page(report.title, body, *styles, script=script)


def rows_table(
    rows: Sequence[Mapping], systems: Sequence[str], labels: Mapping[str, str], words: str | None, static: bool = True
):
    """Return the table (`markupsafe.Markup`); `rows.js` makes it filter, sort and open.

    Args:
        rows: see `Matched.scored`; at most `MOST` are shown, the first in the order.
        systems: in the order of the columns.
        labels: see `_table_row`.
        words: see `_table_row`.
        static: whether the controls appear only with the script.
    """
    shown = [_table_row(row, systems, labels, words) for row in rows]
    orders = {key: label for key, label in ORDERS.items() if words or key != "disagree"}
    first = next(iter(orders))
    shown = sorted(shown, key=lambda row: (-row["orders"][first], row["number"]))[:MOST]
    counts = {key: sum(key in row["kinds"].split() for row in shown) for key in FILTERS}
    return render(
        "rows.html",
        rows=shown,
        total=len(rows),
        systems=systems,
        filters=[(key, label, counts[key]) for key, label in FILTERS.items() if counts[key]],
        orders=orders.items(),
        caption="Questions: click one for its texts and scores",
        static=static,
    )


def _table_row(row: Mapping, systems: Sequence[str], labels: Mapping[str, str], words: str | None) -> dict:
    """Return what the table shows of a question.

    Args:
        row: see `Matched.scored`.
        systems: in the order of the columns.
        labels: names of scores of a row -> labels; the first one is shown where there is no verdict.
        words: name of the score of shared words that is set against the judge's probability; None for none.
    """
    answers, main = [row["answers"][system] for system in systems], next(iter(labels))
    items = [{name: answer["scores"][name] for name in labels} for answer in answers]
    values = [scores[main] for scores in items]
    verdicts = [answer["scores"].get("ava_label") for answer in answers]
    judged = None not in verdicts
    right = [
        v if answer.get("label") is None else answer["label"] for answer, v in zip(answers, verdicts, strict=True)
    ]
    apart = [abs(scores[main] - scores[words]) for scores in items] if words else [0.0]
    kinds = {
        "differ": max(values) - min(values) > AGREES if judged is False else len(set(right)) > 1,
        "wrong": judged and min(right) < 1,
        "disagree": max(apart) > AGREES,
        "labels": judged and right != verdicts,
    }
    return {
        "number": row["number"],
        "name": row["question"] if row["question"] is not None else f"row {row['number']}",
        "references": row["references"],
        "kinds": " ".join(name for name, is_so in kinds.items() if is_so),
        "orders": {
            "disagree": max(apart),
            "spread": max(values) - min(values),
            "lowest": -min(values),
            "first": -row["number"],
        },
        "answers": [
            {
                "system": system,
                "text": answer["prediction"],
                "value": number(scores[main]),
                "right": is_right >= 0.5 if judged else None,
                "judged": "" if answer.get("label") is None else "right" if verdict else "wrong",
                "scores": [(label, number(scores[name])) for name, label in labels.items()],
            }
            for system, answer, scores, verdict, is_right in zip(systems, answers, items, verdicts, right, strict=True)
        ],
    }


def _all_rows(numbers: Comparison, rows: Sequence[Mapping]):
    """Return the table of all questions, systems in the order of the first metric."""
    known = next(iter(rows[0]["answers"].values()))["scores"]
    labels = [name for name in known if name != "ava_label"]
    first = "ava_score" if "ava_score" in known else labels[0]
    labels = {name: name for name in sorted(labels, key=lambda name: name != first)}
    words = "rougeL" if first == "ava_score" and "rougeL" in known else None
    return rows_table(rows, numbers.ordered(next(iter(numbers.metrics))), labels, words)


def _section(numbers: Comparison, metric: str, heat: Sequence[Mapping]) -> dict[str, Any]:
    """Return what the page shows of a metric."""
    scores = []
    for place, name in enumerate(numbers.tested(metric)):
        order, untold = numbers.ordered(metric, name), numbers.untold(metric, name)
        estimates, charted = {system: numbers.metrics[metric]["scores"][name][system] for system in order}, name
        if place == 0 and (accuracy := numbers.accuracy(metric)):
            charted = ACCURACY
            of_systems = {system: accuracy["systems"][system] for system in order}
            estimates = {
                system: {**of_system, "value": of_system[ACCURACY]} for system, of_system in of_systems.items()
            }
        elif untold:  # an interval beside it would be taken for one of the accuracy
            charted = f"{name}, not accuracy" if place else ACCEPTED
            estimates = {system: {**found, "low": None, "high": None} for system, found in estimates.items()}
        pairs = pairs_table(numbers, metric, name)
        bars = [outcome_bar(pair) for pair in numbers.ranked_pairs(metric, name)]
        scores.append(
            {
                "name": name,
                "charted": charted,
                "chart": forest_chart(estimates, [] if untold else numbers.best_systems(metric, name)),
                "matrix": _matrix(numbers, metric, name) if len(order) > 2 and not untold else None,
                "pairs": html_table(pairs, bars),
                "said": pairs.explanation,
                "untold": untold,
                "folded": untold or (len(order) > 2 and place == 0),  # the matrix has the differences
            }
        )
    table = systems_table(numbers, metric)
    rows = [_shown_row(row, heat[i] if i < len(heat) else {}) for i, row in enumerate(numbers.metrics[metric]["rows"])]
    return {
        "metric": metric,
        "scores": scores,
        "systems": html_table(table),
        "names": table.origins,
        "said": table.explanation,
        "faults": of_faults(numbers.metrics[metric].get("faults", {})),
        "meanings": meanings(table),
        "legend": heat_map_legend() if heat else None,
        "sliced": [(table, html_table(table)) for table in slice_tables(numbers, metric)],
        "rows": rows,
    }


def _matrix(numbers: Comparison, metric: str, name: str) -> dict[str, Any]:
    """Return the differences of all pairs as a square: the order of the systems, and for each a row of cells."""
    order = numbers.ordered(metric, name)
    cells = {}
    for pair in numbers.ranked_pairs(metric, name):
        said = f"p {p_value(pair['p'])}, corrected {p_value(pair['p_corrected'])}"
        for sign, ends in ((1, ("first", "second")), (-1, ("second", "first"))):
            difference = None if pair["difference"]["value"] is None else sign * pair["difference"]["value"]
            kind = ("better" if difference > 0 else "worse") if numbers.is_clear(pair) else ""
            plus = "+" if difference is not None and round(difference, 3) > 0 else ""
            cells[tuple(pair[end] for end in ends)] = (kind, said, f"{plus}{number(difference)}")
    return {"order": order, "rows": {row: [cells.get((row, column)) for column in order] for row in order}}


def _shown_row(row: Mapping, heat: Mapping) -> dict:
    """Return what the page shows of a row; `heat` has KPQA's explanation of some systems' answers."""
    answers = []
    for score, system, answer in shown_answers(row):
        answers.append({"score": score, "system": system, "answer": answer, "heat": None})
        if system in heat:
            prediction, reference = heat[system].pairs[heat[system].scores["rougeL_kpqa"].reference]
            answers[-1] |= {"heat": heat_map_html(prediction), "reference": heat_map_html(reference)}
    return {"name": name_of(row), "references": row["references"], "answers": answers}
