"""The output of `score` as an input: it has all columns, and its rows are not judged again by the same judge."""

import json
import math
import warnings
from datetime import date

import genqa_metrics
import pandas
import pyarrow.parquet as pq
import pytest
from genqa_metrics.core import judge_model
from genqa_metrics.core.judge_model import JudgeReader
from genqa_metrics.rows.errors import RecordedScoresWarning
from genqa_metrics.rows.sources import files
from genqa_metrics.scale.options import with_recorded
from genqa_metrics.verbs.label.labelling import tasks_of

from tests.factories.cases import tables
from tests.factories.files import numbers, save, score

OTHERS = tables(__name__)["other columns"]
SOME = 40  # rows where a judge reads them several times
TEXT = [json.dumps(value, ensure_ascii=False) if value else None for value in OTHERS["meta"]]


@pytest.fixture
def judged(monkeypatch):
    """Return a list that gets every triple and every prompt that a judge reads."""
    read = []
    for name in ("logits", "prompt_logits"):
        whole = getattr(JudgeReader, name)
        recording = lambda reader, some, whole=whole: read.extend(some) or whole(reader, some)  # noqa: E731
        monkeypatch.setattr(JudgeReader, name, recording)
    return read


@pytest.fixture(scope="module")
def rows(repository):
    lines = (repository / "metrics/examples/answers.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return [{**row, **{name: values[i // 2 % 3] for name, values in OTHERS.items()}} for i, row in enumerate(found)]


def told(call, *given, **options):
    """Return what a call returns, and what it says of recorded scores."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = call(*given, **options)
    assert {one.filename for one in caught if one.category is RecordedScoresWarning} <= {__file__}  # no line of ours
    return found, [str(one.message) for one in caught if one.category is RecordedScoresWarning]


def scored(rows, output=None):
    genqa_metrics.score(rows, "ava", output=output and str(output))
    return output


@pytest.fixture(scope="module")
def judged_file(rows, tmp_path_factory):
    """The file that `score` writes of labelled rows."""
    return scored(rows[:SOME], tmp_path_factory.mktemp("judged") / "judged.jsonl")


def read(path):
    return [row.values for row in files([path])[0].rows()]


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".tsv.gz", ".parquet"])
def test_a_judged_file_has_all_columns_and_comes_back_as_it_is(tmp_path, rows, judged, ending):
    first, again = tmp_path / f"first{ending}", tmp_path / f"again{ending}"
    scored(rows[:12], first)
    judged.clear()
    told(scored, first, again)
    assert not judged
    before, after = ([{**row, "file": 0, "line": 0} for row in read(path)] for path in (first, again))
    assert after == before
    for name, values in OTHERS.items():
        expected = values
        if "sv" in ending:
            expected = ["" if v is None else v if isinstance(v, str) else json.dumps(v) for v in values]
        elif name == "meta" and ending == ".parquet":
            expected = TEXT
        found = [row[name] for row in after[:6:2]]
        assert list(map(_opened, found)) == list(map(_opened, expected)), name


def _opened(cell):
    """Return the JSON in a cell: it may have escapes that no spreadsheet runs."""
    return json.loads(cell) if isinstance(cell, str) and cell[:1] in "[{" and cell else cell


def test_a_frame_has_all_columns_and_is_not_judged_again(rows, judged):
    report = genqa_metrics.score(rows[:12], "ava")
    frame = report.to_pandas()
    assert frame["meta"].tolist() == [row["meta"] for row in rows[:12]]
    assert [text for text in frame["topic"] if text == text] == [row["topic"] for row in rows[:12] if row["topic"]]
    judged.clear()
    again, said = told(genqa_metrics.score, frame, "ava")
    assert not judged
    assert said == ["ava: 12 rows judged before, by the same judge"]
    assert again.to_dict() == report.to_dict()
    pandas.testing.assert_frame_equal(again.to_pandas(), frame)


def test_a_recorded_calibration_may_stand_beside_the_judged_file(tmp_path):
    """One that is where it was is taken; another name than a file's stays, for an error that names it."""
    moved, kept = tmp_path / "moved.json", tmp_path / "kept" / "moved.json"
    kept.parent.mkdir()
    for path in (moved, kept):
        path.write_text("{}")
    sources = files([save(tmp_path / "rows.jsonl", [{"prediction": "a", "references": ["a"]}])])
    for recorded, expected in (("moved.json", moved), (str(kept), kept), ("lost.json", "lost.json")):
        (settings, [_]) = told(with_recorded, "ava", {}, {"calibration": recorded}, sources)
        assert settings["calibration"] == str(expected)


def test_columns_that_are_read_under_other_names_are_written_under_ours(tmp_path):
    row = {"query": "Who won?", "answer": "Ann", "expected": "Ann", "model": "m", "answer_aliases": ["Anna"]}
    output = tmp_path / "o.jsonl"
    genqa_metrics.score([row], "aev", columns={"system": "model"}, output=str(output))
    (found,) = read(output)
    assert (found["question"], found["prediction"], found["references"]) == ("Who won?", "Ann", ["Ann", "Anna"])
    assert (found["system"], found["answer_aliases"]) == ("m", ["Anna"])
    assert not {"query", "answer", "expected", "model"} & set(found)


def test_columns_that_come_later_are_left_out_with_one_note(tmp_path):
    rows = [{"prediction": "a", "references": ["a"], "topic": "x"} for _ in range(1500)]
    rows += [{**rows[0], "late": place} for place in range(3)]
    said, output = [], tmp_path / "o.jsonl"
    genqa_metrics.score(rows, "aev", output=str(output), notify=said.append)
    assert said == ["column 'late' is not in the first rows, and is left out of the output"]
    assert {"topic"} == set(read(output)[-1]) & {"topic", "late"}


def test_values_of_another_type_than_the_first_ones_are_null_in_parquet(tmp_path):
    rows = [{"prediction": "a", "references": ["a"], "year": 2000} for _ in range(1500)]
    rows += [{**rows[0], "year": value} for value in ("unknown", 2.5, 2001)]
    said = []
    for ending, expected in ((".parquet", [None, None, 2001]), (".jsonl", ["unknown", 2.5, 2001])):
        output = tmp_path / f"o{ending}"
        genqa_metrics.score(rows, "aev", output=str(output), notify=said.append)
        assert [row["year"] for row in read(output)[-3:]] == expected
    assert said == ["column 'year': the output has null for values such as 'unknown', which are no integer"]


def test_values_that_json_lacks_are_written_as_texts(tmp_path):
    row = {"prediction": "a", "references": "a", "day": date(2024, 5, 1), "bad": "\ud800", "inner": {(1, 2): math.nan}}
    for ending in (".jsonl", ".parquet", ".csv"):
        genqa_metrics.score([row], "aev", output=str(tmp_path / f"o{ending}"))
        (found,) = read(tmp_path / f"o{ending}")
        assert (found["day"], found["bad"], found["inner"]) == ("2024-05-01", "�", "{(1, 2): nan}")


def test_parts_have_the_columns_of_the_first_one_however_often_a_run_is_resumed(tmp_path):
    rows = [{"prediction": "a", "references": ["a"], "year": 2000 + place} for place in range(100)]
    path, folder = save(tmp_path / "a.jsonl", rows), tmp_path / "parts"
    score([path], folder)
    whole = pq.read_table(folder)
    assert whole["year"].to_pylist() == [row["year"] for row in rows]
    (folder / "part-000002.parquet").unlink()
    score([path], folder, resume=True)
    assert pq.read_table(folder) == whole


def test_every_verb_gives_the_numbers_of_the_rows_without_judging_again(tmp_path, rows, judged):
    given = [{**row, "score": row["label"]} for row in rows[:SOME]]
    original = save(tmp_path / "rows.jsonl", given)
    output = scored(original, tmp_path / "judged.jsonl")
    calls = {
        "score": lambda path: genqa_metrics.score(path).to_dict(),
        "compare": lambda path: genqa_metrics.compare(path, by="topic", resamples=500).to_dict(),
        "agree": lambda path: genqa_metrics.agree(path, metrics="ava", resamples=500).to_dict(),
        "accuracy": lambda path: genqa_metrics.accuracy(path).to_dict(),
        "calibrate": lambda path: genqa_metrics.calibrate(path).to_dict() | {"instead": "", "notes": []},  # paths
        "label": lambda path: {"tasks": tasks_of([path], number=9)},
    }
    for verb, call in calls.items():
        expected = call(original)
        judged.clear()
        found, said = told(call, output)
        assert not judged, verb
        assert said == [f"ava: {SOME} rows judged before, by the same judge"], verb
        assert numbers(found) == numbers(expected), verb


def test_rows_are_judged_anew_where_a_text_or_a_score_was_changed(tmp_path, rows, judged):
    found = read(scored(rows[:12], tmp_path / "judged.jsonl"))
    found[0]["prediction"] += " No, it was Rome."
    found[1]["references"] = ["Rome"]
    found[2]["ava_score"] = 0.123
    found[3] = {name: value for name, value in found[3].items() if not name.startswith("ava_")}
    judged.clear()
    report, said = told(genqa_metrics.score, found, "ava")
    assert said == [
        "ava: 8 rows judged before, by the same judge; 2 rows judged anew: their texts were changed; "
        "1 row judged anew: their recorded scores were changed; 1 row judged for the first time"
    ]
    assert {triple[0] for triple in judged} <= {row["question"] for row in found[:4]}
    plain = [{name: value for name, value in row.items() if not name.startswith("ava_")} for row in found]
    expected = genqa_metrics.score(plain, "ava")
    assert report.notes == expected.notes
    for system, scores in expected.to_dict()["systems"].items():
        assert report.to_dict()["systems"][system] == pytest.approx(scores, abs=1e-6)


def test_rows_are_judged_anew_by_another_judge(tmp_path, rows, judged):
    output = scored(rows[:12], tmp_path / "judged.jsonl")
    judged.clear()
    report, said = told(genqa_metrics.score, output, "ava", {"threshold": 0.7})
    assert judged
    assert said == ["ava: 12 rows judged anew: the judge differs (threshold 0.5 -> 0.7)"]
    expected = genqa_metrics.score(rows[:12], "ava", {"threshold": 0.7})
    assert report.to_dict()["systems"] == expected.to_dict()["systems"]


@pytest.mark.parametrize("digest", [{}, {"ava_digest": None}, {"ava_digest": "0.99"}, {"ava_digest": 7}])
def test_scores_of_a_foreign_file_are_not_trusted(rows, judged, digest):
    foreign = [{**row, "ava_label": 1.0, "ava_score": 0.99, "ava_declined": 0.0, **digest} for row in rows[:6]]
    report, said = told(genqa_metrics.score, foreign, "ava")
    assert judged
    assert not said
    assert report.to_dict() == genqa_metrics.score(rows[:6], "ava").to_dict()


def test_a_judged_file_keeps_the_judgments_when_another_metric_scores_it(tmp_path, rows, judged):
    first = scored(rows[:6], tmp_path / "judged.jsonl")
    genqa_metrics.score(first, "aev", output=str(tmp_path / "both.jsonl"))
    judged.clear()
    told(genqa_metrics.accuracy, tmp_path / "both.jsonl")
    assert not judged
    assert "aev" in read(tmp_path / "both.jsonl")[0]


def test_answers_that_the_judge_could_not_read_to_their_end_are_warned_of_again(rows, judged):
    long = {**rows[0], "prediction": " ".join(f"{word}{place}" for place in range(300) for word in ("abc", "Xy-z"))}
    given = [{**long, "references": ["four " + "steps more " * 200]}, *rows[:4]]
    report = genqa_metrics.score(given, "ava")
    assert "longer than the model reads" in str(report.warnings)
    judged.clear()
    again, _ = told(genqa_metrics.score, report.to_pandas(), "ava")
    assert not judged
    assert again.warnings == report.warnings
    assert again.to_dict() == report.to_dict()


@pytest.mark.usefixtures("word_judge")
def test_grounding_is_not_judged_again(tmp_path, judged):
    passages = ["The museum opened in 1889. It is closed on Mondays.", "Tickets cost " + "ten euros " * 200]
    texts = ["It opened in 1889.", "It opened in 1887. Tickets cost ten euros.", "", "I don't know.", "Danke! 1 [2]"]
    rows = [{"question": "When?", "prediction": text, "contexts": passages, "references": ["1889"]} for text in texts]
    rows.append({**rows[0], "contexts": []})
    first = genqa_metrics.score(rows, ["grounding", "ava"], output=str(tmp_path / "judged.csv"))
    judged.clear()
    again, said = told(genqa_metrics.score, tmp_path / "judged.csv", ["grounding", "ava"])
    assert not judged
    assert said == [f"{metric}: 6 rows judged before, by the same judge" for metric in ("grounding", "ava")]
    for name in ("systems", "signatures"):
        assert again.to_dict()[name] == first.to_dict()[name]
    assert again.warnings == first.warnings


@pytest.mark.parametrize("verb", ["score", "accuracy", "compare", "calibrate", "agree"])
def test_no_model_is_loaded_where_every_row_is_judged(tmp_path, rows, judged_file, verb, monkeypatch):
    fresh = save(tmp_path / "fresh.jsonl", rows)

    def load(*given):
        raise ValueError("a model is loaded")

    monkeypatch.setattr(judge_model, "_loaded", load)  # of all backends
    more = {"metrics": "ava", "resamples": 500} if verb in ("agree", "compare") else {}
    with pytest.raises(ValueError, match="a model is loaded"):
        getattr(genqa_metrics, verb)(str(fresh), **more)
    told(getattr(genqa_metrics, verb), str(judged_file), **more)
