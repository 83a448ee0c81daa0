"""`genqa_metrics.score`: rows in memory, the report, skipped rows and wrong arguments."""

import datasets
import genqa_metrics
import pandas
import pytest

from tests.factories.cases import tables, with_cases
from tests.factories.files import run, save

ROWS = tables(__name__)["rows"]


def test_a_frame_has_what_a_file_of_scores_has(tmp_path):
    run("score", save(tmp_path / "a.jsonl", ROWS), "-m", "aev", "-m", "ava", "-o", tmp_path / "o.parquet")
    written = pandas.read_parquet(tmp_path / "o.parquet").drop(columns=["file", "references"])
    for rows in (ROWS, pandas.DataFrame(ROWS), datasets.Dataset.from_list(ROWS)):
        frame = genqa_metrics.score(rows, ["aev", "ava"]).to_pandas()
        pandas.testing.assert_frame_equal(frame.drop(columns=["file", "references"]), written, check_dtype=False)


def test_the_default_for_rows_with_a_question_reads_it():
    assert list(genqa_metrics.score(ROWS).signatures) == ["ava"]
    assert list(genqa_metrics.score(ROWS, settings={"aev": {"alpha": 0}}).signatures) == ["aev"]
    without = [{name: value for name, value in row.items() if name != "question"} for row in ROWS]
    assert list(genqa_metrics.score(without).signatures) == ["aev"]


MISSING = [None, "", "  ", float("nan")]


@pytest.mark.parametrize("column", ["references", "question"])
@pytest.mark.parametrize("value", MISSING)
def test_missing_values_are_bad_rows_alike(column, value):
    rows = [ROWS[0], {**ROWS[3], column: value}]
    with pytest.raises(ValueError, match=rf"rows, row 2: {column}: expected"):
        genqa_metrics.score(rows, "ava")
    report = genqa_metrics.score(rows, "ava", on_error="skip")
    assert report.skipped == {"a": 0, "b": 1}
    if column == "question":
        assert genqa_metrics.score(rows, "aev").skipped == {"a": 0, "b": 0}


def test_skipped_answers_are_counted_beside_the_score():
    rows = [*ROWS, {**ROWS[0], "prediction": None}, {**ROWS[0], "prediction": float("nan")}]
    report = genqa_metrics.score(rows, "aev", on_error="skip")
    assert report.skipped == {"a": 2, "b": 0}
    assert "(a 2)" in report.notes[-1]
    assert report.to_dict()["systems"]["a"]["skipped"] == 2
    assert "| system | answers | skipped |" in report.to_markdown()
    assert "\n| a | 2 | 2 |" in report.to_markdown()
    assert genqa_metrics.score(ROWS, "aev").systems["a"]["aev"] == report.systems["a"]["aev"]


@with_cases
def test_arguments_of_a_wrong_type_are_named(verb, arguments, message):
    with pytest.raises(ValueError, match=message):
        getattr(genqa_metrics, verb)(ROWS, **arguments)


def test_unknown_arguments_and_no_systems_are_named():
    with pytest.raises(TypeError, match="unexpected keyword argument 'setings'"):
        genqa_metrics.score(ROWS, setings={})
    with pytest.raises(ValueError, match=r"systems: expected \{name: rows\} of at least two systems, got none"):
        genqa_metrics.compare({})
    with pytest.raises(ValueError, match="b: expected a path"):
        genqa_metrics.compare({"a": ROWS, "b": 3})
    with pytest.raises(ValueError, match=r"name: expected one of .*, got \['aev'\]"):
        genqa_metrics.load(["aev"])


def test_errors_in_python_name_no_option_of_the_command_line(tmp_path):
    """The same message, of rows in memory and of a file; the command names its own options."""
    one = [row for row in ROWS if row["system"] == "a"]
    path = save(tmp_path / "a.jsonl", one)
    for rows in (one, path):
        with pytest.raises(ValueError, match=r'the column with the system with columns=\{"system": "NAME"\}'):
            genqa_metrics.compare(rows, "aev")
        with pytest.raises(ValueError, match=r'name another with columns=\{"score": "NAME"\}'):
            genqa_metrics.agree(rows, metrics="aev")
        with pytest.raises(ValueError, match="add kpqa to metrics or drop them"):
            genqa_metrics.score(rows, "aev", {"kpqa": {"beta": 1}})
    assert "with --column system=NAME" in run("compare", path, "-m", "aev", status=1)[1]


def test_a_table_has_the_lengths_of_aev_as_one_quotient():
    """Six words that count against two; a reference without such words counts as one."""
    for reference, ratio in (("red car", 3), ("the", 6)):
        report = genqa_metrics.score([{"prediction": "red car blue bus green van", "references": reference}], "aev")
        table = report.tables()[0]
        assert float(table.rows[0][table.header.index("length_ratio")]) == ratio
        assert not {"prediction_length", "reference_length"} & set(table.header)
