"""No column by accident: a column that is no documented input, not named and not written by a verb moves no number."""

import json
import re
from dataclasses import asdict
from pathlib import Path

import genqa_metrics
import pytest
from genqa_metrics.rows.columns import COLUMNS, EITHER, PLANNED_LABELS, SAMPLING_PROBABILITY, STOPPED_BY
from genqa_metrics.rows.reading import RowReader
from genqa_metrics.rows.sources import Source, sources_of
from genqa_metrics.verbs.doctor.report import diagnose
from genqa_metrics.verbs.label.labelling import tasks_of

from tests.factories.files import run, save

DOCUMENTED = Path(__file__).parents[1] / "spaces/docs/pages/reference/files.md"
UNNAMED = (
    "probability", "planned", "weight", "weights", "p", "chance", "sampling_probability", "inclusion_probability",
    "label_2", "label2", "labels", "human", "human_label", "human_score", "score_2", "scores", "rating", "grade",
    "grades", "points", "correct", "right", "verdict", "judged", "judge", "accepted", "accuracy", "topic", "category",
    "difficulty", "split", "type", "kind", "tag", "comment", "notes", "reason", "explanation", "model_name", "run",
    "version", "seed", "fold", "number", "count", "n", "rows", "line", "file", "index", "item", "ava", "ava_score",
    "ava_label", "ava_accuracy", "ava_reason", "ava_digest", "ava_explanation", "aev", "aev_precision", "kpqa",
    "f_meta", "signature", "digest", "my_digest", "form", "second_pass", "metadata", "tags", "value", "date", "url",
    "language", "low", "high", "cluster", "group", "variant", "temperature", "tokens", "latency", "cost",
)  # fmt: skip
VALUES = {
    "shares": lambda place: (place * 7 % 10 + 0.5) / 11,
    "counts": lambda place: 3 + place * 1000,
    "words": lambda place: ("right", "wrong", "=1+1", "")[place % 4],
    "objects": lambda place: ([place, "right"], {"label": place % 2, "probability": 0.1}, None)[place % 3],
}
ROWS = [
    {"question": f"What is the capital in text {n}?", "prediction": said, "references": ["Bern"], "system": system}
    | {"by": int(said == "Bern"), "label": int(said == "Bern") if n % 3 else None}
    for system in ("one", "two")
    for n in range(18)
    for said in ["Bern" if (n + len(system)) % 4 else f"Rome, as text {n} says"]
]
LABELS = [
    {name: row[name] for name in row if name not in ("by", "references")} for row in ROWS if row["label"] in (0, 1)
]


def unlabelled(rows):
    return [{name: value for name, value in row.items() if name != "label"} for row in rows]


def json_of(report):
    """Return a report without what names or digests its input."""
    values = json.loads(report.to_json())
    return {name: value for name, value in values.items() if name not in ("inputs", "files", "labels")}


def calibration(rows, labels=None):
    result = genqa_metrics.calibrate(rows, labels=labels).calibration
    return {name: value for name, value in result.items() if name not in ("digest", "data")}


def scores_of_agree(rows, labels=None):
    return json_of(genqa_metrics.agree(rows, score_columns="by", labels=labels, resamples=100))


def explained(rows, folder):
    path = save(folder / "rows.jsonl", rows)
    return " ".join(run("explain", path)[0].split()).replace(str(path), "FILE")  # as a long one is shown


def examined(rows):
    """Return what doctor says but for the list of columns; it may propose further commands."""
    report = json_of(diagnose(sources_of(rows)))
    return {name: report[name] for name in ("rows", "systems", "notes", "cannot")}


JUDGE = {"judge": "by"}
BY_VERB = {
    "score": lambda rows, _: json_of(genqa_metrics.score(rows, ["ava", "aev"], keep=False)),
    "compare": lambda rows, _: json_of(genqa_metrics.compare(rows, ["ava", "aev"], resamples=100)),
    "accuracy": lambda rows, _: json_of(genqa_metrics.accuracy(rows, columns=JUDGE)),
    "agree": lambda rows, _: scores_of_agree(rows),
    "calibrate": lambda rows, _: calibration(rows),
    "label": lambda rows, _: [asdict(task) for task in tasks_of(rows, number=6, columns=JUDGE)],
    "explain": explained,
    "doctor": lambda rows, _: examined(rows),
}
BY_LABELS = {
    "compare": lambda rows, labels: json_of(genqa_metrics.compare(rows, "ava", labels=labels, resamples=100)),
    "accuracy": lambda rows, labels: json_of(genqa_metrics.accuracy(rows, labels, columns=JUDGE)),
    "agree": scores_of_agree,
    "calibrate": calibration,
}


def with_columns(rows, values):
    """Return rows with every column of `UNNAMED`, before and behind their own ones."""
    half = len(UNNAMED) // 2
    return [
        dict.fromkeys(UNNAMED[:half], values(place)) | row | dict.fromkeys(UNNAMED[half:], values(place))
        for place, row in enumerate(rows)
    ]


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """What every verb says of the rows without further columns."""
    results = {}

    def result(verb):
        if verb not in results:
            results[verb] = BY_VERB[verb](ROWS, tmp_path_factory.mktemp("rows"))
        return results[verb]

    return result


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("verb", BY_VERB)
def test_a_column_that_nobody_named_moves_no_number(verb, values, expected, tmp_path):
    assert BY_VERB[verb](with_columns(ROWS, VALUES[values]), tmp_path) == expected(verb)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("verb", BY_LABELS)
def test_a_column_of_a_file_of_labels_that_nobody_named_moves_no_number(verb):
    rows = unlabelled(ROWS)
    expected = BY_LABELS[verb](rows, LABELS)
    for values in ("shares", "words"):
        assert BY_LABELS[verb](rows, with_columns(LABELS, VALUES[values])) == expected


@pytest.mark.parametrize("verb", [verb for verb in BY_VERB if verb != "agree"])
def test_a_column_score_counts_only_where_agree_reads_it(verb, expected, tmp_path):
    """Elsewhere it is copied; `agree` says which column it compares with."""
    scored = [row | {"score": place % 3 / 2} for place, row in enumerate(ROWS)]
    result, before = BY_VERB[verb](scored, tmp_path), expected(verb)
    assert result == before
    report = genqa_metrics.agree(scored, score_columns="by", resamples=100)
    assert report.human["column"] == "score"


def test_a_column_label_counts_and_the_verbs_say_so(expected, tmp_path):
    said = "column label was read as labels of people, which 24 of 36 rows have"
    assert {said, "assumes that the labelled answers were picked at random"} <= {*expected("score")["notes"]}
    assert said in expected("accuracy")["notes"]
    assert said in expected("compare")["notes"]
    out, _ = run("agree", save(tmp_path / "rows.jsonl", ROWS), "-c", "by", "--resamples", "100")
    assert out.startswith("Agreement with people: 24 answers to 12 questions; right by people: label = 1")


def test_all_rows_labelled_with_a_column_probability_of_the_users_own():
    """With a column `probability` that was read as that of sampling, this share of .50 became .25."""
    rows = [
        {"question": f"{n}?", "prediction": "a", "references": ["a"], "label": n % 2, "by": 1}
        | {"probability": 0.9 if n % 2 else 0.3}
        for n in range(100)
    ]
    assert genqa_metrics.accuracy(rows, columns=JUDGE).systems["rows"]["accuracy"] == pytest.approx(0.5, abs=0.005)


def test_sampling_probabilities_count_under_the_name_that_label_writes_or_when_named():
    """Of 40 answers 20 are labelled: all of the 10 that are right, and 10 of the 30 wrong ones, one in three."""
    rows = [
        {
            "question": f"{n}?",
            "prediction": "a",
            "references": ["a"],
            "by": 1,
            "label": int(n < 10) if n < 20 else None,
        }
        for n in range(40)
    ]
    chances = [1.0 if n < 10 else 1 / 3 for n in range(40)]
    written = [row | {SAMPLING_PROBABILITY: p} for row, p in zip(rows, chances, strict=True)]
    by_name = [row | {"my odds": p} for row, p in zip(rows, chances, strict=True)]
    for drawn, named, share in ((rows, {}, 0.5), (written, {}, 0.25), (by_name, {"probability": "my odds"}, 0.25)):
        (result,) = genqa_metrics.accuracy(drawn, columns=JUDGE | named).systems.values()
        assert result["accuracy"] == pytest.approx(share, abs=0.001)
    with pytest.raises(ValueError, match="my odds: expected a probability of being drawn, above 0 and at most 1"):
        genqa_metrics.accuracy([row | {"my odds": 2} for row in rows], columns=JUDGE | {"probability": "my odds"})


def test_the_documentation_lists_every_name_that_is_read():
    """The first cell of a line of its table is the role, the second one has the names in the order of `COLUMNS`."""
    section = DOCUMENTED.read_text(encoding="utf-8").partition("## Which columns count")[2].partition("\n## ")[0]
    table = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", section, re.M))
    assert {role: tuple(re.findall(r"`([^`]+)`", names)) for role, names in table.items()} == COLUMNS
    assert all(f"`{name}`" in section for name in (*EITHER, PLANNED_LABELS, STOPPED_BY))
    assert not set(UNNAMED) & {*EITHER, *(name for names in COLUMNS.values() for name in names)}


def test_a_scored_file_is_told_by_all_of_its_columns(tmp_path):
    """A table of the user's own with columns line and id has no marks: its apostrophes are text."""
    path = tmp_path / "own.csv"
    path.write_text("line,id,prediction,references\n1,a,'-5,'=x\n", encoding="utf-8")
    (row,) = Source(str(path)).rows()
    (item,) = RowReader(Source(str(path)), {}).read(row)
    assert (item.predictions, item.references) == (["'-5"], ["'=x"])
