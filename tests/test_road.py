"""The way of a row through `score`: its input is opened once, and it passes few files of the package."""

import builtins
import dataclasses
import inspect
import json
import os
import re
from collections import Counter

import genqa_metrics
import pytest
from genqa_metrics.scale.options import ScoreOptions

from tests.factories.files import run, save
from tests.programs.measures import followed

ROW = {"question": "Who won?", "prediction": "Ann", "references": ["Ann"], "system": "s"}
ROWS = [ROW | {"id": number} for number in range(30)]


@pytest.fixture
def opened(monkeypatch):
    """Return how often each file has been opened by Python, by its name."""
    counts, original = Counter(), builtins.open

    def counting(file, *arguments, **options):
        if isinstance(file, str | os.PathLike):
            counts[os.path.basename(file)] += 1
        return original(file, *arguments, **options)

    monkeypatch.setattr(builtins, "open", counting)
    return counts


@pytest.mark.parametrize("ending", ["jsonl", "json", "csv", "parquet"])
def test_the_input_of_score_is_opened_once(ending, tmp_path, opened):
    written = tmp_path / f"rows.{ending if ending != 'json' else 'jsonl'}"
    genqa_metrics.score(ROWS, "aev", output=str(written))
    paths = [tmp_path / f"{name}.{ending}" for name in "ab"]
    for path in paths:
        path.write_bytes(written.read_bytes())
    opened.clear()
    run("score", *paths, "--fail-under", "ava_accuracy=0.1", "--column", "system=")
    assert {name: opened[name] for name in (paths[0].name, paths[1].name)} == {f"a.{ending}": 1, f"b.{ending}": 1}


def test_a_judged_file_is_opened_once_too(tmp_path, opened):
    genqa_metrics.score(ROWS, "ava", output=str(tmp_path / "judged.jsonl"))
    opened.clear()
    report = genqa_metrics.score(str(tmp_path / "judged.jsonl"), "ava")
    assert (report.rows, opened["judged.jsonl"]) == ({"s": 30}, 1)


def test_the_function_takes_every_option_and_nothing_else_but_rows_and_callbacks():
    parameters = inspect.signature(genqa_metrics.score).parameters
    options = ScoreOptions()
    for field in dataclasses.fields(ScoreOptions):
        default = parameters[field.name].default
        assert default == getattr(options, field.name) or (default or ()) == () or field.name == "keep", field.name
    names = {field.name for field in dataclasses.fields(ScoreOptions)}
    assert set(parameters) - names == {"rows", "notify", "problem", "progress"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"part_rows": 0}, "part_rows: expected at least 1, got 0"),
        ({"address": "auto"}, "address: only with the engine ray"),
        ({"metrics": [1]}, "metrics: expected a name or a list of names"),
        ({"columns": {"answer": "a"}}, "column: expected one of"),
        ({"settings": {"threshold": 0.4}, "metrics": ["aev", "ava"]}, "settings: expected"),
        ({"limit_time": "5m"}, "limit_time: name the judge that it is for"),
    ],
)
def test_bad_options_are_refused_before_anything_is_read(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        ScoreOptions(**options)


def test_rows_that_were_looked_at_are_read_again_where_the_caller_begins_again(tmp_path):
    path = save(tmp_path / "rows.jsonl", ROWS)
    (source,) = genqa_metrics.read_rows(path)
    looked_at = [row.number for row, _ in zip(source.first_rows(), range(3), strict=False)]
    again = [next(source.first_rows()).number, *(row.number for row in source.rows())]
    assert (looked_at, again) == ([1, 2, 3], [1, *range(1, 31)])


def test_a_broken_file_that_was_looked_at_is_still_an_error(tmp_path):
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(b"\x1f\x8b" + json.dumps(ROWS).encode())
    (source,) = genqa_metrics.read_rows(path)
    for rows in (source.first_rows, source.rows, source.rows):
        with pytest.raises(ValueError, match="cannot be read"):
            list(rows())


def test_contributing_names_the_files_and_functions_that_a_row_passes(repository):
    text = (repository / "CONTRIBUTING.md").read_text(encoding="utf-8")
    way = re.findall(r"^\d+\. `(metrics/[\w/]+\.py)`: (.+)$", text.partition("## The way of a row")[2], re.MULTILINE)
    assert len(way) == 10
    for path, sentence in way:
        code = (repository / path).read_text(encoding="utf-8")
        first = re.search(r"`(\w+)`", sentence)[1]
        assert re.search(rf"^(def|class) {first}\b", code, re.MULTILINE), (path, first)
        for name in re.findall(r"`(\w+)`", sentence):
            assert re.search(rf"\b{name}\b", code), (path, name)


def test_two_rows_pass_few_files_of_the_package():
    """At most as many files, and changes of file, as now and a few more; `make measures` has the goals."""
    score = "command(['score', str(input_file), '--metric', 'ava'])"
    files, changes, opened = followed(score, "from genqa_metrics.cli import app as command")
    assert opened == 1
    assert files <= 31
    assert changes <= 395  # threads take turns in no fixed order
    compute = "load('ava').compute(questions=questions, predictions=predictions, references=references)"
    files, changes, _ = followed(compute, "from genqa_metrics import load")
    assert files <= 12
    assert changes <= 150
