"""A folder that is called complete is complete: parts that were changed, swapped, added or lost are found."""

import os
import shutil

import pytest
from genqa_metrics.rows.errors import FileError
from genqa_metrics.scale.options import ScoreOptions
from genqa_metrics.scale.parts import MANIFEST
from genqa_metrics.scale.run import Run

from tests.factories.files import contents, made_rows, run, save, score


@pytest.fixture
def folder(tmp_path):
    """Folder of four parts of the rows in a.jsonl."""
    score([save(tmp_path / "a.jsonl", made_rows(100))], tmp_path / "parts")
    return tmp_path / "parts"


def test_a_folder_as_it_was_written_is_verified(folder):
    assert "complete, 4 parts with 100 rows, unchanged" in run("verify", folder)[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "part-000003.parquet").unlink(), "part-000003.parquet is missing"),
        (lambda folder: (folder / "extra.parquet").write_bytes(b"x"), "extra.parquet is not of this run"),
        (
            lambda folder: shutil.copy(folder / "part-000000.parquet", folder / "part-000001.parquet"),
            "part-000001.parquet has changed",
        ),
        (lambda folder: (folder / MANIFEST).unlink(), "_manifest.json: cannot be read, there is none; name"),
        (lambda folder: shutil.rmtree(folder), "is no folder"),
    ],
)
def test_what_is_not_as_it_was_written_is_named(folder, change, message):
    change(folder)
    assert message in run("verify", folder, status=1)[1]


@pytest.mark.parametrize("name", ["part-000001.parquet", MANIFEST])
def test_a_pipe_in_the_place_of_a_file_is_named(folder, name):
    """Opening it would wait for a writer that never comes."""
    (folder / name).unlink()
    os.mkfifo(folder / name)
    assert name in run("verify", folder, status=1)[1]
    with pytest.raises(ValueError, match=name):
        score([folder.parent / "a.jsonl"], folder)


def test_a_run_that_was_not_finished_is_not_verified(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(save(path, made_rows(50)).read_text() + "{\n")
    with pytest.raises(FileError):
        score([path], tmp_path / "parts")
    assert "is not complete" in run("verify", tmp_path / "parts", status=1)[1]


def test_a_part_of_another_run_is_refused(folder, tmp_path):
    """With the same settings and the same number, of other rows; or under another number."""
    other = shutil.copy(folder / "part-000002.parquet", folder / "part-000009.parquet")
    with pytest.raises(ValueError, match=r"damaged, or made of other input than .*: part-000009\.parquet"):
        score([folder.parent / "a.jsonl"], folder)
    other.unlink()
    score([save(tmp_path / "b.jsonl", made_rows(100, 7))], tmp_path / "others")
    shutil.copy(tmp_path / "others/part-000001.parquet", folder)
    with pytest.raises(ValueError, match=r"damaged, or made of other input than .*: part-000001\.parquet"):
        score([tmp_path / "a.jsonl"], folder)


@pytest.mark.parametrize(
    "content", [*("", "{", "[]", "[" * 9999, "{}"), '{"settings": {}, "inputs": [1], "complete": true}', None]
)
def test_a_damaged_manifest_is_one_clear_error(folder, content):
    """None for one digit that is another."""
    whole = (folder / MANIFEST).read_text()
    (folder / MANIFEST).write_text(whole.replace('"rows": ', '"rows": 1', 1) if content is None else content)
    assert "_manifest.json: is damaged" in run("verify", folder, status=1)[1]
    with pytest.raises(ValueError, match=r"_manifest\.json: is damaged"):
        score([folder.parent / "a.jsonl"], folder)


def test_what_another_run_wrote_in_between_is_seen(tmp_path):
    """The lock comes first, then the folder is looked at."""
    path = save(tmp_path / "a.jsonl", made_rows(70))
    first, second = (Run([str(path)], ScoreOptions(["aev"], output=f"{tmp_path}/parts/")) for _ in range(2))
    first.score()
    before = contents(tmp_path / "parts")
    with pytest.raises(FileError, match="holds the parts of an earlier run"):
        second.score()
    assert contents(tmp_path / "parts") == before
