"""Slices by a column, and two runs of one system: compare and accuracy within slices, and what changed, row by row."""

import json
from pathlib import Path

import genqa_metrics
import numpy as np
import pytest
from genqa_metrics.rows.errors import FileError
from genqa_metrics.rows.sources import files_of_runs
from genqa_metrics.statistics import resampling

from tests.factories.cases import with_cases
from tests.factories.files import run, save

SETTINGS = {"aev": {"max_order": 1}}


def rows(number, right, topic="law"):
    """Return rows, of which the first `right` are answered correctly."""
    return [
        {"id": f"{topic}{place}", "question": f"What is {topic} {place}?", "references": [f"answer {place}"]}
        | {"prediction": f"answer {place}" if place < right else "nothing", "meta": {"topic": topic}, "topic": topic}
        for place in range(number)
    ]


@pytest.fixture(scope="module")
def two():
    """In law a is right in 38 of 40 and b in 10; in art it is 10 of 30 against 28."""
    return {"a": rows(40, 38) + rows(30, 10, "art"), "b": rows(40, 10) + rows(30, 28, "art")}


@pytest.fixture(scope="module")
def sliced(two):
    return genqa_metrics.compare(two, ["aev"], SETTINGS, by="topic", resamples=1000)


def test_a_slice_is_the_comparison_of_its_rows(two, sliced):
    """Scores, differences and raw p-values are those of a comparison of these rows alone."""
    alone = {system: [row for row in own if row["topic"] == "art"] for system, own in two.items()}
    expected = genqa_metrics.compare(alone, ["aev"], SETTINGS, resamples=1000).to_dict()["metrics"]["aev"]
    found = sliced.slices["metrics"]["aev"]["art"]
    assert found["questions"] == 30
    assert found["scores"] == expected["scores"]["aev"]
    [pair], [other] = found["pairs"], expected["tests"]["aev"]["pairs"]
    assert {name: pair[name] for name in ("difference", "p_uncorrected", "wins", "losses")} == {
        name: other[name] for name in ("difference", "p_uncorrected", "wins", "losses")
    }


def test_p_values_are_corrected_over_all_slices(sliced):
    pairs = [pair for found in sliced.slices["metrics"]["aev"].values() for pair in found["pairs"]]
    raw = np.array([pair["p_uncorrected"] for pair in pairs])
    corrected = [pair["p_corrected"] for pair in pairs]
    assert corrected == pytest.approx(resampling.adjust_p_values(raw), rel=1e-4)
    assert min(corrected) > raw.min()


def test_a_slice_that_is_the_other_way_round_is_a_finding(sliced):
    assert any("in topic art, b is significantly better than a" in line for line in sliced.findings)
    assert not any("topic law" in line for line in sliced.findings)


def test_tests_within_slices_are_folded(two, sliced):
    title = "aev by topic: differences"
    few = {system: [row for row in own if row["topic"] == "art"][:6] for system, own in two.items()}
    page = genqa_metrics.compare(few, ["aev"], SETTINGS, by="topic", resamples=200).to_html()
    scores, tests = (page.index(text) for text in (">aev by topic</h2>", f">{title}</h3>"))
    assert page.index('<details class="part">') < tests
    assert scores < page.index('<details class="part">'), "scores within slices are not folded"
    assert title in sliced.to_html()


def test_nested_columns_and_the_command(two, tmp_path):
    paths = [save(tmp_path / f"{system}.jsonl", own) for system, own in two.items()]
    arguments = ("compare", *paths, "-m", "aev", "--by", "meta.topic", "--resamples", "200", "-f", "json")
    assert set(json.loads(run(*arguments)[0])["slices"]["metrics"]["aev"]) == {"art", "law"}


@with_cases
def test_bad_columns(two, by, message):
    both = {system: own + rows(70, 1, "more") for system, own in two.items()}
    with pytest.raises(ValueError, match=message):
        genqa_metrics.compare(both, ["aev"], SETTINGS, by=by, resamples=100)


def test_systems_must_share_the_slice(two):
    changed = {**two, "b": [{**row, "topic": "math"} for row in two["b"]]}
    with pytest.raises(ValueError, match="expected one value of topic for a question, got 'law' for a, 'math' for b"):
        genqa_metrics.compare(changed, ["aev"], SETTINGS, by="topic", resamples=100)


def test_small_slices_and_rows_without_a_value_are_noted(two):
    new = [{**row, "topic": None} for row in rows(6, 2, "new")]
    some = {system: own + new for system, own in two.items()}
    report = genqa_metrics.compare(some, ["aev"], SETTINGS, by="topic", resamples=200)
    assert any("fewer than 30 questions in (none)" in note for note in report.notes)
    assert any("6 questions have no value" in note for note in report.notes)


def test_accuracy_of_a_slice_is_that_of_its_rows(two):
    """With a judge's column and labels for half of the rows, per slice the numbers of these rows alone."""
    judged = [{**row, "judge": float(row["prediction"] != "nothing"), "system": "a"} for row in two["a"]]
    labels = [{**row, "label": row["judge"]} for row in judged[::2]]
    columns = {"judge": "judge"}
    report = genqa_metrics.accuracy(judged, labels, columns=columns, by="topic")
    art = [row for row in judged if row["topic"] == "art"]
    of_art = [row for row in labels if row["topic"] == "art"]
    alone = genqa_metrics.accuracy(art, of_art, columns=columns).systems["a"]
    found = report.slices["art"]["a"]
    for name in ("accuracy", "low", "high", "wrong", "declined", "rows", "labelled"):
        assert found[name] == pytest.approx(alone[name]), name
    assert "Accuracy by topic" in str(report)
    assert "Accuracy by topic" in report.to_html()


def test_slices_without_an_estimate_are_one_line(two):
    """Of law there are labels; of art and math none: 10 + 3 of 30 + 5 rows are accepted there."""
    mine = two["a"] + rows(5, 3, "math")
    judged = [{**row, "judge": float(row["prediction"] != "nothing"), "system": "a"} for row in mine]
    labels = [{**row, "label": row["judge"]} for row in judged if row["topic"] == "law"]
    report = genqa_metrics.accuracy(judged, labels, columns={"judge": "judge"}, by="topic")
    [table] = [table for table in report.tables() if table.title == "Accuracy by topic"]
    assert [row[0] for row in table.rows] == ["law", "art and math"]
    cells = dict(zip(table.header, table.rows[1], strict=True))
    assert cells["accuracy"] == "cannot tell (13 of 35 judged right)"
    assert (cells["answers"], cells["labelled"], cells["wrong"]) == ("35", "0", "-")
    assert any("by topic: fewer than 2 labels in art" in note for note in report.notes)


def folder(path, *files):
    path.mkdir()
    for number, own in enumerate(files):
        save(path / f"part{number}.jsonl", own)
    return path


@pytest.fixture
def folders(tmp_path):
    """The new run answers 2 questions better and 1 worse, and says 1 other thing that scores the same."""
    old, new = rows(20, 10), rows(20, 12)
    new[0]["prediction"], new[19]["prediction"] = "nothing", "nothing at all"
    return folder(tmp_path / "1", old[:10], old[10:]), folder(tmp_path / "2", new)


def test_two_folders_say_what_got_better_and_worse(folders):
    found = json.loads(run("compare", *folders, "-m", "aev", "--resamples", "200", "-f", "json")[0])["changes"]
    assert found["runs"] == ["1", "2"]
    assert found["answers_changed"] == 4
    entry = found["metrics"]["aev"]
    assert [row["id"] for row in entry["better"]] == ["law10", "law11"]
    assert [row["id"] for row in entry["worse"]] == ["law0"]
    assert entry["same"] == 17
    assert entry["worse"][0]["answers"]["2"] == {"predictions": ["nothing"], "score": 0.0}


def test_python_and_files_with_runs(folders):
    old, new = (sorted(map(str, path.iterdir())) for path in folders)
    by_name = genqa_metrics.compare({"old": old, "new": new}, ["aev"], SETTINGS, runs=True, resamples=100)
    paths = genqa_metrics.compare([str(path) for path in folders], ["aev"], SETTINGS, resamples=100)
    (first, second) = (report.changes["metrics"]["aev"] for report in (by_name, paths))
    for kind in ("better", "worse"):
        assert [row["id"] for row in first[kind]] == [row["id"] for row in second[kind]]
    assert list(first["better"][0]["answers"]) == ["old", "new"]
    assert genqa_metrics.compare({"old": old, "new": new}, ["aev"], SETTINGS, resamples=100).changes is None


def test_a_judge_that_changed_is_told_from_answers_that_changed(tmp_path):
    """The answers are the same; AEv's settings were others: the signatures and the recorded scores say so."""
    own = rows(20, 10)
    for row in own[:10]:
        row["prediction"] += " banana"
    path = save(tmp_path / "rows.jsonl", own)
    for name, alpha in (("old", 0.5), ("new", 0.9)):
        (tmp_path / name).mkdir()
        run("score", path, "-s", f"aev.alpha={alpha}", "-o", tmp_path / name / "scores.parquet")
    found, _ = run("compare", tmp_path / "old", tmp_path / "new", "-m", "aev", "--resamples", "100")
    assert "answers: 0 of 20 differ" in found
    assert "were made differently: alpha 0.5 -> 0.9." in found
    assert "10 recorded scores changed though the answer did not: the judge changed" in found
    arguments = ("compare", tmp_path / "old", tmp_path / "old2", "-m", "aev", "--resamples", "100")
    (tmp_path / "old2").mkdir()
    run("score", path, "-s", "aev.alpha=0.5", "-o", tmp_path / "old2" / "scores.parquet")
    assert "have the same signature" in run(*arguments)[0]


def test_runs_of_several_systems_are_refused(folders, tmp_path):
    mixed = [{**row, "system": "ab"[place % 2]} for place, row in enumerate(rows(4, 2))]
    path = folder(tmp_path / "mixed", mixed)
    said = run("compare", path, folders[1], "-m", "aev", status=1)[1]
    assert "run 'mixed' holds several systems, 'a' and 'b'" in said


def test_bad_runs(folders, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty/notes.txt").write_text("x")
    assert "no file with rows in this folder" in run("compare", tmp_path / "empty", folders[0], status=2)[1]
    assert "the same folder is named twice" in run("compare", folders[0], folders[0], status=2)[1]
    first = next(folders[0].iterdir())
    assert "expected an old and a new run, got 1" in run("compare", first, "--runs", status=2)[1]
    with pytest.raises(FileError):
        files_of_runs([str(tmp_path / "empty"), str(folders[0])])


def test_folders_of_one_name_are_named_by_their_paths(tmp_path):
    paths = [f"{tmp_path}/{name}/out" for name in ("v1", "v2")]
    for path in map(Path, paths):
        path.parent.mkdir()
        folder(path, rows(6, 3))
    assert list(files_of_runs(paths)) == paths
