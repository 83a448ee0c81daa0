"""Sums over rows do not depend on how the rows are cut: torchmetrics' pattern, "batches = whole", for every tally.

Every metric scores rows one at a time, in uneven windows and at once; what is summed and what is reported is equal.
"""

import itertools
import json
from dataclasses import is_dataclass
from functools import cache, reduce

import genqa_metrics
import numpy as np
import pytest
from genqa_metrics.registry import SCORERS, make_scorer
from genqa_metrics.rows.reading import RowReader, Skips
from genqa_metrics.rows.sources import sources_of
from genqa_metrics.scale import scoring
from genqa_metrics.scale.run import finished
from genqa_metrics.scale.scoring import AnswersToRead, AnswerToRead, QuestionTotals, Tally, scored, totals_of
from genqa_metrics.statistics.estimation import row_sums

CAPITALS = ["Bern", "Rome", "Paris", "Oslo", "Lima", "Cairo", "Quito", "Dakar"]
ANSWERS = [
    {"question": f"What is the capital of country {n}?", "references": [CAPITALS[n % 8]], "system": system}
    | {"prediction": [f"{start}{CAPITALS[(n + (n % 3) * len(start)) % 8]}", f"{start}I don't know.", start][n % 7 % 3]}
    | {"label": [1, 0, None][(n + len(start)) % 3], "id": f"q{n}"}
    | {"contexts": [f"The capital of country {n} is {CAPITALS[n % 8]}.", "It has a lake."]}
    for n in range(11)
    for system, start in (("one", ""), ("two", "Oh, "))
]
SETS = [
    {"context": f"{name} is a capital on a river.", "system": system, "id": name}
    | {"predictions": [f"What is {name}?", "Who?"][:size], "references": [f"What is {name}?", f"Where is {name}?"]}
    for name in CAPITALS
    for size, system in ((1, "one"), (2, "two"))
]
CASES = {metric: (metric, ANSWERS) for metric in SCORERS if metric != "f_meta"}
CASES |= {"f_meta": ("f_meta", SETS), "aev of sets": ("aev", SETS)}

LONG = "It is on a river and has a lake and a hill. " * 80
SENTENCE = "It is on a river and has a lake and a hill and " * 80
REPEATED = [
    {"question": "Wie heißt die Hauptstadt von Frankreich, und wie viele Menschen leben dort?", "system": system}
    | {"prediction": "Die Hauptstadt von Frankreich heißt Paris, und dort leben viele Menschen."}
    | {"references": ["Paris"], "contexts": ["Paris is the capital of France."]}
    | ({"question": f"Where? {LONG}", "prediction": SENTENCE, "references": [f"Paris. {LONG}"]} if n % 3 else {})
    for n in range(6)
    for system in ("one", "two")
]
CASES |= {f"{metric} of equal rows": (metric, REPEATED) for metric in ("ava", "kpqa", "grounding", "aev")}

pytestmark = pytest.mark.usefixtures("word_judge_of_module")
COMPARED = ("scores", "counts", "metrics", "judge", "words", "warnings", "notes")


@cache
def items_of(case):
    """Return the scorers, the items and what they are."""
    metric, rows = CASES[case]
    (source,) = sources_of(rows)
    reader = RowReader(source, {})
    return {metric: make_scorer(metric, {})}, [item for row in source.rows() for item in reader.read(row)], reader.kind


@cache
def tally_of(case, size):
    """Return the rows and the sums of windows of so many items."""
    scorers, items, kind = items_of(case)
    windows = [scored(items[start : start + size], kind, scorers, 5) for start in range(0, len(items), size)]
    overall = Tally()
    for _, of_window in windows:
        overall.add(
            Tally.from_json(json.loads(json.dumps(of_window.as_json())))
        )  # as a part of an output folder keeps it
    return [rows for rows, _ in windows], overall


def assert_near(value, other, path=""):
    """Compare nested values; floats to six digits, because models round differently in batches of other sizes."""
    if isinstance(value, QuestionTotals):
        value, other = value.as_json(), other.as_json()
    if is_dataclass(value):
        value, other = vars(value), vars(other)
    if isinstance(value, dict):
        assert list(value) == list(other) or sorted(value) == sorted(other), path
        for name in value:
            assert_near(value[name], other[name], f"{path}/{name}")
    elif isinstance(value, list | tuple):
        assert len(value) == len(other), path
        for place, pair in enumerate(zip(value, other, strict=True)):
            assert_near(*pair, f"{path}/{place}")
    elif isinstance(value, float):
        assert value == pytest.approx(other, abs=1e-5, nan_ok=True), path
    else:
        assert value == other, path


@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize("case", CASES)
def test_windows_of_any_size_have_the_sums_and_the_report_of_one(case, size):
    rows, overall = tally_of(case, size)
    (whole_rows,), whole = tally_of(case, len(items_of(case)[1]))
    names = [name for name in whole_rows if not name.endswith("_digest")]  # of scores to ten digits
    assert_near([[value for some in rows for value in some[name]] for name in names], [whole_rows[n] for n in names])
    assert_near(overall.as_json(), whole.as_json())
    scorers, _, kind = items_of(case)
    reports = [finished(sums, kind, scorers, Skips()) for sums in (overall, whole)]
    for name in COMPARED:
        assert_near(*(getattr(report, name) for report in reports), name)


@pytest.mark.parametrize("case", CASES)
def test_rows_in_any_order_and_any_split_have_the_same_sums(case):
    scorers, items, kind = items_of(case)
    rng, sums = np.random.default_rng(0), Tally()
    shuffled = [items[row] for row in rng.permutation(len(items))]
    cuts = [0, *np.sort(rng.choice(np.arange(1, len(items)), 3, replace=False)).tolist(), len(items)]
    for start, end in itertools.pairwise(cuts):
        sums.add(scored(shuffled[start:end], kind, scorers, 5)[1])
    _, whole = tally_of(case, len(items))
    sums, whole = sums.as_json(), whole.as_json()
    for values in (sums, whole):
        values.pop("to_read")  # of equal answers the first one is listed
    assert_near(sums, whole)


@pytest.mark.parametrize(("metric", "truncated"), [("ava", 8), ("kpqa", 16), ("grounding", 0)])
def test_warnings_count_every_row_of_repeated_texts(metric, truncated):
    """12 rows, 4 of them German and 8 cut, of kpqa two texts each; equal rows are scored once in each window."""
    for size in (1, 7, 256):
        counts = tally_of(f"{metric} of equal rows", size)[1].warning_counts[metric]
        assert (counts["rows"], counts["language:de"], counts["truncated"]) == (12, 4, truncated), size


def totals_in_windows(keys, sums, order, size):
    windows = [totals_of(keys, sums, order[start : start + size]) for start in range(0, len(order), size)]
    return reduce(QuestionTotals.__add__, windows)


@pytest.mark.parametrize("most", [20, 300, 20_000])
def test_totals_of_many_questions_depend_on_no_window_and_no_order(monkeypatch, most):
    """300 questions with two rows each, one early and one late, which are one cluster also of merged questions."""
    monkeypatch.setattr(scoring, "MOST", most)
    rng = np.random.default_rng(0)
    keys = np.tile(rng.integers(2**55, size=300), 2)
    sums = row_sums(rng.integers(2, size=600), 1.0, np.full(600, np.nan), 1.0)
    whole = QuestionTotals(keys, sums)
    assert len(whole.keys) == 300 if most >= 300 else most / 2 <= len(whole.keys) <= most
    assert whole.sums.rows.sum() == 600
    for size in (1, 7, 256):
        for order in (np.arange(600), np.arange(600)[::-1], rng.permutation(600)):
            result = totals_in_windows(keys, sums, order, size)
            again = QuestionTotals.from_json(json.loads(json.dumps(result.as_json())))
            for totals in (result, again):
                assert totals.as_json() == whole.as_json()


def test_systems_with_the_same_questions_in_another_order_stay_paired(monkeypatch):
    """60 questions in at most 20 clusters, with labels: `score`, in windows of 7, has the leads of `accuracy`."""
    monkeypatch.setattr(scoring, "MOST", 20)
    monkeypatch.setattr("genqa_metrics.scale.run.window_predictions", lambda scorers: 7)
    first = [
        {
            "question": f"capital {n}?",
            "prediction": "Bern",
            "references": ["Bern"],
            "system": "one",
            "label": int(n % 3 > 0),
        }
        for n in range(60)
    ]
    second = [row | {"system": "two", "label": int(n % 4 > 1)} for n, row in enumerate(first)]
    leads = [genqa_metrics.score(first + rows, "ava").leads for rows in (second, second[::-1])]
    assert_near(*leads)
    reports = [genqa_metrics.accuracy(first + rows) for rows in (second, second[::-1])]
    assert_near(*(report.differences for report in reports))
    (pair,) = reports[0].differences
    (lead,) = leads[0].values()
    assert_near([abs(pair["difference"]["value"]), pair["difference"]["high"] - pair["difference"]["low"]],
                [lead[0], lead[2] - lead[1]])  # fmt: skip


def test_answers_to_read_are_the_first_ones_of_any_windows():
    """50 answers of equal and other ranks; of each kind the first three by rank and place are kept."""
    answers = [
        AnswerToRead(kind, float(n % 7), "a.jsonl", n, None, "s", None, "", [], 0.5, None)
        for n in range(50)
        for kind in [list(scoring.SHARES)[n % len(scoring.SHARES)]]
    ]
    whole = AnswersToRead(answers, 3)
    for size in (1, 7, 20):
        windows = [AnswersToRead(answers[a : a + size], 3) for a in range(0, 50, size)]
        for order in (windows, windows[::-1]):
            assert reduce(AnswersToRead.__add__, order).as_json() == whole.as_json()
