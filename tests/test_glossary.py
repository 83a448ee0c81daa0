"""Every column of the tables has one meaning, and one name in tables, JSON, gates and Python."""

import random

import genqa_metrics
import pytest
from genqa_metrics.registry import scorer_class
from genqa_metrics.reports.report import QUANTITIES, TEXTS, named

# Columns of names and texts.
NOT_QUANTITIES = {"metric", "pair", "judge", *TEXTS}


@pytest.fixture(scope="module")
def rows():
    draw = random.Random(0)
    return [
        {"system": system, "question": f"q{n}?", "prediction": draw.choice("ab"), "references": "a", "by": n % 2,
         "score": draw.random()}
        for n in range(30)
        for system in ("one", "two")
    ]  # fmt: skip


def headers(report):
    for table in report.tables():
        yield from (name for name in table.header if name not in NOT_QUANTITIES)


def test_every_column_of_score_compare_and_accuracy_is_explained(rows):
    labels = [{**row, "label": row["prediction"] == "a"} for row in rows[:40]]
    sets = [{"context": "c", "references": ["who won?", "who lost?"], "predictions": ["who won?"]}]
    columns = {"judge": "by"}
    found = {
        "score": [*headers(genqa_metrics.score(rows, "aev")), *headers(genqa_metrics.score(sets, "f_meta"))],
        "compare": [*headers(genqa_metrics.compare(rows, "aev", resamples=100))],
        "accuracy": [*headers(genqa_metrics.accuracy(rows, labels, columns=columns))],
    }
    for verb, names in found.items():
        for name in names:
            if name.startswith(("+-", "difference of ")) or name == "questions":
                continue
            assert (quantity := named(name)), f"{verb}: {name} is not in the glossary"
            assert verb in quantity.verbs, f"{verb}: the glossary says that {name} is of {quantity.verbs}"


def test_names_of_scores_are_those_of_the_glossary():
    for metric in genqa_metrics.METRICS:
        made = scorer_class(metric)
        for name in (*made.significance_scores, *made.shown):
            assert name in QUANTITIES, f"{name} of {metric} is not in the glossary"
