"""Public data sets: a copy in a folder or on a Hub gives the files that the commands read."""

import gzip
import hashlib
import json
import sys

import pytest

from tests.factories.modules import printed_by
from training import data
from training.common import json_rows

ROW = {"question": "q?", "references": ["a"], "candidate": "a", "label": 1, "system": "s"}


def copy_of(folder):
    """A copy with two sets, one of them without a licence, and their table."""
    sets = []
    for name, licence in (("made.dev", "MIT"), ("made.train", "not stated")):
        path = folder / f"judgments/{name}.jsonl.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress((json.dumps(ROW) + "\n").encode(), mtime=len(name)))
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        sets.append(data.DataSet("judgments", name, 1, "org/made", licence, digest))
    return sets


@pytest.fixture
def sets(tmp_path):
    return copy_of(tmp_path / "copy")


def test_a_folder_gives_the_files_that_commands_read(sets, tmp_path):
    said = data.fetch(sets, tmp_path / "a", str(tmp_path / "copy"))
    assert said[0].endswith("made.dev.jsonl.gz: 1 rows, MIT, https://github.com/org/made")
    path = tmp_path / "a/judgments/made.dev.jsonl.gz"
    assert (list(json_rows(path)), data.digest(path)) == ([ROW], sets[0].sha256)
    assert data.fetch(sets, tmp_path / "a", str(tmp_path / "copy"))[0].endswith("is there")


def test_the_hub_gives_them(sets, tmp_path, hub, monkeypatch):
    files = {one.path: (tmp_path / "copy" / one.path).read_bytes() for one in sets}
    hub.add("dataset", "ns/data", files)
    environment = hub.environment(tmp_path)
    environment["PYTHONPATH"] += f":{data.TABLE.parent.parent}"
    program = """
import json, pathlib, sys
from training import data
sets = [data.DataSet(**row) for row in json.loads(sys.argv[1])]
data.fetch(sets, pathlib.Path(sys.argv[2]), sys.argv[3])
"""
    given = [json.dumps([vars(one) for one in sets]), str(tmp_path / "c"), "hf://datasets/ns/data"]
    printed_by([sys.executable, "-c", program, *given], env=environment)
    assert list(json_rows(tmp_path / "c/judgments/made.train.jsonl.gz")) == [ROW]


def test_a_wrong_or_missing_file_is_named_and_nothing_is_written(sets, tmp_path):
    path = tmp_path / "copy" / sets[1].path
    path.write_bytes(b"other")
    message = r"judgments/made.train.jsonl.gz: expected the file with SHA-256 .*it has the SHA-256 .*"
    licence = r", and its licence \(not stated\) allows no copy .*https://github.com/org/made"
    with pytest.raises(ValueError, match=message + licence):
        data.fetch(sets[1:], tmp_path / "d", str(tmp_path / "copy"))
    path.unlink()
    with pytest.raises(ValueError, match="No such file"):
        data.fetch(sets[1:], tmp_path / "d", str(tmp_path / "copy"))
    assert not list((tmp_path / "d").rglob("*.gz*"))
    message = "--from: expected hf://datasets/ORG/NAME or a folder, got 'x'"
    with pytest.raises(ValueError, match=message):
        data.fetch(sets, tmp_path / "d", "x")


def test_a_copy_has_only_what_its_licence_allows(sets, tmp_path):
    free = data.pack(sets, tmp_path / "copy", tmp_path / "packed")
    assert [one.name for one in free] == ["made.dev"]
    assert [path.name for path in (tmp_path / "packed/judgments").iterdir()] == ["made.dev.jsonl.gz"]
    assert "| judgments/made.dev | 1 | org/made | MIT | yes |" in (tmp_path / "packed/README.md").read_text()


def test_names_of_sets():
    known = data.data_sets()
    assert [one.name for one in data.chosen(["evouna_nq"], known)] == ["evouna_nq.dev", "evouna_nq.train"]
    assert [one.path for one in data.chosen(["as2/wikiqa.dev"], known)] == ["as2/wikiqa.dev.jsonl.gz"]
    assert {one.folder for one in data.chosen(["judgments"], known)} == {"judgments"}
    with pytest.raises(ValueError, match=r"NAME: there is no set 'wikiq'; folders are as2, .*list names all sets"):
        data.chosen(["wikiq"], known)
    message = "NAME: 'qamr.dev' is in question_generation and span_qa; write question_gen"
    with pytest.raises(ValueError, match=message):
        data.chosen(["qamr.dev"], known)


def test_the_table_names_what_the_bundled_judge_was_measured_on(repository):
    """The digests of the table are those of measured.json and of the studies."""
    digests = {one.name: one.sha256 for one in data.data_sets() if one.folder == "judgments"}
    for file in ("metrics/ava/checkpoint/measured.json", "training/studies/accuracy/results/accuracy.json"):
        found = json.loads((repository / file).read_text())["data"]
        assert found == {name: digests[name] for name in found}
    assert all(one.source and one.licence for one in data.data_sets())
