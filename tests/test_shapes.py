"""Rows as tools and people write them: multiple choice, messages, objects, typed values, human scores, hints."""

import datetime
import json
import re
from decimal import Decimal

import genqa_metrics
import pandas
import pytest
from genqa_metrics.rows.errors import in_command
from genqa_metrics.rows.reading import FileError, RowReader, check_columns
from genqa_metrics.rows.sources import files

from tests.factories.files import items, run, save

ASKED, METALS = "Which metal is liquid?", ["Iron", "Mercury", "Tin"]
LISTED = f"{ASKED}\nA. Iron\nB. Mercury\nC. Tin"
RIGHT = ["B. Mercury", "B", "Mercury"]
pytestmark = pytest.mark.filterwarnings("ignore::genqa_metrics.rows.errors.InputWarning")


def notes(source):
    return " ".join(map(in_command, source.notices))


def read(row, **columns):
    """Return the only item of a row, and what must be known of how it was read."""
    source, (item,) = items([row], columns)
    return item, notes(source)


def test_the_options_of_a_data_set_stay_when_predictions_are_joined(tmp_path):
    gold = save(tmp_path / "gold.jsonl", [{"id": "q1", "question": ASKED, "choices": METALS, "answer": 1}])
    (tmp_path / "mine.json").write_text(json.dumps({"q1": "B"}))
    (source,) = files([gold, tmp_path / "mine.json"])
    (item,) = RowReader(source, {}).read(next(source.rows()))
    assert (item.text, item.references) == (LISTED, RIGHT)


SAID = {"role": "assistant", "content": "Lima"}
BLOCKS = [{"type": "thinking", "thinking": "Is it Quito?"}, {"type": "text", "text": "Lima"}]


BATCHES = [
    {"custom_id": "q1", "response": {"status_code": 200, "body": {"choices": [{"index": 0, "message": SAID}]}}},
    {"custom_id": "q1", "result": {"type": "succeeded", "message": {"role": "assistant", "content": BLOCKS}}},
    {"key": "q1", "response": {"candidates": [{"content": {"role": "model", "parts": [{"text": "Lima"}]}}]}},
]


@pytest.mark.parametrize("line", BATCHES)
def test_the_output_of_a_batch_is_joined_with_the_questions(line, tmp_path):
    failed = {name: "q2" if value == "q1" else None for name, value in line.items()}
    answers = save(tmp_path / "batch.jsonl", [line, failed])
    told = run("score", answers, status=2)[1]
    assert "it holds predictions alone: name the file with the questions and right answers, and the" in told
    gold = [{"id": name, "question": "Which?", "answer": "Lima"} for name in ("q1", "q2")]
    (source,) = files([answers, save(tmp_path / "gold.jsonl", gold)])
    found = [item.predictions for row in source.rows() for item in RowReader(source, {}).read(row)]
    assert found == [["Lima"], [""]]


TYPED = [
    (datetime.date(2020, 3, 4), "2020-03-04"),
    (datetime.datetime(2020, 3, 4), "2020-03-04"),
    (datetime.datetime(2020, 3, 4, 14, 30), "2020-03-04 14:30:00"),
    (pandas.Timestamp("2020-03-04"), "2020-03-04"),
    (datetime.time(14, 30), "14:30:00"),
    (Decimal("12.50"), "12.50"),
]


@pytest.mark.parametrize(("value", "text"), TYPED)
def test_typed_values_are_read_as_their_texts(value, text):
    for references in (value, [value, "x"]):
        item, told = read({"question": "?", "prediction": value, "references": references})
        assert (item.predictions, item.references[0]) == ([text], text)
        assert f"prediction: numbers, dates, true and false were read as texts, such as {text}" in told


def test_typed_columns_of_files(tmp_path):
    rows = [{"question": "?", "prediction": "x", "references": datetime.date(2020, 3, day)} for day in (4, 5)]
    for path in (save(tmp_path / "a.parquet", rows), None):
        _, found = items(path) if path else items(pandas.DataFrame(rows).to_dict("records"))
        assert [item.references for item in found] == [["2020-03-04"], ["2020-03-05"]]
    save(tmp_path / "a.csv", [{"question": "?", "prediction": "x", "references": word} for word in ("TRUE", "False")])
    assert [item.references for item in items(tmp_path / "a.csv")[1]] == [["TRUE", "yes"], ["False", "no"]]


def test_labels_that_came_through_a_spreadsheet_are_of_their_rows():
    """Composed letters, blanks at the ends and line ends are another program's."""
    rows = [
        {"id": f" é{n}", "question": f"Who sang?\n{n}", "prediction": "Beyonc\xe9 ", "references": "x", "by": n % 2}
        for n in range(6)
    ]
    by_text = [{"question": f"Who sang?\r\n{n}", "prediction": "Beyonce\u0301", "label": n % 2} for n in range(6)]
    by_id = [{"id": f"e\u0301{n} ", "label": n % 2} for n in range(6)]
    for labels in (by_text, by_id):
        report = genqa_metrics.accuracy(rows, labels, columns={"judge": "by"})
        assert report.systems["rows"]["labelled"] == 6


def test_rows_that_a_hint_names_can_be_read(tmp_path):
    """A nested list that only begins like rows, such as options with an `output`, is no place of rows."""
    run_of = {"cases": [{"asked": {"output": "a"}, "question": "?", "prediction": "x", "references": "y"}]}
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"options": [{"output": "a", "tags": []}], "log": run_of}))
    sources = files([path])
    with pytest.raises(FileError, match=r"rows stand at log.cases: add rows_at='log.cases' of") as caught:
        check_columns(sources, {})
    assert "add --rows-at log.cases" in in_command(caught.value)
    (source,) = genqa_metrics.read_rows(path, rows_at="log.cases")
    assert RowReader(source, {}).read(next(source.rows()))[0].predictions == ["x"]


def test_every_option_of_reading_exists_in_python(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("question;prediction;references\nOù?;Élan;Élan\n".encode("latin-1"))
    with pytest.raises(ValueError, match="encoding='cp1252' of read_rows"):
        genqa_metrics.score(str(path), "aev")
    report = genqa_metrics.score(genqa_metrics.read_rows(path, encoding="latin-1"), "aev")
    assert report.to_pandas()["prediction"].tolist() == ["Élan"]


def test_a_system_without_predictions_has_rows_and_no_score():
    rows = [
        {"question": "Who sang?", "references": ["Ann"], "prediction": answers, "system": system}
        for system, answers in (("A", []), ("B", ["Ann"]))
    ]
    report = genqa_metrics.score(rows, "aev")
    assert re.search(r"(?m)^A +-( +-)*$", str(report))
    assert re.search(r"(?m)^B +1\.000", str(report))
