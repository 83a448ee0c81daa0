"""The questions of a comparison as a table that filters, sorts and opens: of the HTML report and of the demo."""

from collections.abc import Mapping, Sequence

from ...reports.table import number, render

MOST = 500  # questions that a page shows; files with all scores hold the rest
AGREES = 0.5  # from which on a score of shared words counts as high


def shown_row(row: Mapping, systems: Sequence[str], labels: Mapping[str, str], words: str | None) -> dict:
    """Return what the table shows of a question.

    Args:
        row: see `compared_rows.scored_rows`.
        systems: in the order of the columns.
        labels: names of scores of a row -> labels; the first one is shown where there is no verdict.
        words: name of the score of shared words that is set against the judge's probability; None for none.
    """
    answers, main = [row["answers"][system] for system in systems], next(iter(labels))
    found = [{name: answer["scores"][name] for name in labels} for answer in answers]
    values = [scores[main] for scores in found]
    verdicts = [answer["scores"].get("ava_label") for answer in answers]
    judged = None not in verdicts
    apart = [abs(scores[main] - scores[words]) for scores in found] if words else [0.0]
    kinds = {
        "differ": max(values) - min(values) > AGREES if judged is False else len(set(verdicts)) > 1,
        "wrong": judged and min(verdicts) < 1,
        "disagree": words is not None and max(apart) > AGREES,
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
                "right": bool(verdict) if judged else None,
                "scores": [(label, number(scores[name])) for name, label in labels.items()],
            }
            for system, answer, scores, verdict in zip(systems, answers, found, verdicts, strict=True)
        ],
    }


FILTERS = {
    "disagree": "the judge and shared words disagree",
    "differ": "the systems differ",
    "wrong": "an answer is judged wrong",
}
ORDERS = {
    "disagree": "disagreement of the metrics",
    "spread": "difference of the systems",
    "lowest": "lowest score",
    "first": "order of the file",
}


def rows_table(
    rows: Sequence[Mapping], systems: Sequence[str], labels: Mapping[str, str], words: str | None, static: bool = True
):
    """Return the table (`markupsafe.Markup`); `rows.js` makes it filter, sort and open.

    Args:
        rows: see `compared_rows.scored_rows`; at most `MOST` are shown, the first in the order.
        systems: in the order of the columns.
        labels: see `shown_row`.
        words: see `shown_row`.
        static: whether the controls appear only with the script.
    """
    shown = [shown_row(row, systems, labels, words) for row in rows]
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
