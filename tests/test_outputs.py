"""What an output may replace: an older file of its name, and nothing else."""

import os
import stat

import pytest

from tests.factories.cases import with_cases
from tests.factories.files import ANSWERS, run, save

RATINGS = [{"item": "1", "rater": rater, "score": value} for rater, value in zip("abc", (1, 2, 3), strict=True)]


def refused(*arguments, status=2):
    return run(*arguments, status=status)[1]


@pytest.fixture
def answers(tmp_path):
    return save(tmp_path / "answers.jsonl", [{**row, "score": 1.0 * (row["id"] == "1")} for row in ANSWERS[:4]])


def test_devices_and_pipes_stay(answers, tmp_path):
    """Also behind a link."""
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "link.jsonl").symlink_to("/dev/null")
    (tmp_path / "loop.jsonl").symlink_to("loop.jsonl")
    for name in ("pipe", "link", "loop"):
        assert "not a file" in refused("score", answers, "-m", "aev", "-o", tmp_path / f"{name}.jsonl")
        assert "not a file" in refused("compare", answers, "-m", "aev", "--json", tmp_path / f"{name}.jsonl")
    assert stat.S_ISFIFO((tmp_path / "pipe.jsonl").stat().st_mode)
    assert (tmp_path / "link.jsonl").is_symlink()


@pytest.mark.parametrize("link", [False, True])
def test_an_input_is_never_an_output(answers, tmp_path, link):
    ratings = save(tmp_path / "ratings.jsonl", RATINGS)
    before = answers.read_bytes(), ratings.read_bytes()
    names = {path: path for path in (answers, ratings)}
    if link:
        names = {path: tmp_path / f"link{number}.jsonl" for number, path in enumerate(names)}
        for path, name in names.items():
            name.hardlink_to(path) if path == answers else name.symlink_to(path)
    for arguments in (
        ["score", answers, "-m", "aev", "-o", names[answers]],
        ["score", ratings, "-o", names[ratings]],
        *(["compare", answers, "-m", "aev", option, names[answers]] for option in ("--json", "--html", "--latex")),
        ["agree", answers, "-m", "aev", "--markdown", names[answers]],
    ):
        assert "is an input of this run" in refused(*arguments)
    assert (answers.read_bytes(), ratings.read_bytes()) == before


def test_an_empty_name_and_one_name_for_two_are_refused(answers, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "got an empty one" in refused("score", answers, "-m", "aev", "-o", "")
    both = ["--json", tmp_path / "x", "--html", tmp_path / "x"]
    assert "is the file of --json too" in refused("compare", answers, "-m", "aev", *both)
    assert os.listdir(tmp_path) == ["answers.jsonl"]


@pytest.mark.parametrize("way", ["same", "relative", "link"])
@with_cases
def test_no_output_is_another_file_of_the_run(answers, tmp_path, monkeypatch, verb, given, lost, way):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parts").mkdir()
    option, _, name = lost.partition(" ")
    path = tmp_path / (name or "x.csv")
    path.write_text("{}")
    if way == "relative":
        path = path.parent / "." / ".." / path.parent.name / path.name
    elif way == "link":
        (tmp_path / "link").symlink_to(path)
        path = tmp_path / "link"
    said = refused(verb, "q" if verb == "explain" else answers, *given, option, path)
    assert "input of this run" in said or "is the file of --output" in said or "is in the folder of --output" in said
    assert (tmp_path / (name or "x.csv")).read_text() == "{}"


def test_permissions_stay(answers, tmp_path):
    for name, arguments in {"a.jsonl": ["score", "-o"], "a.html": ["compare", "--html"]}.items():
        (tmp_path / name).touch(0o600)
        run(arguments[0], answers, "-m", "aev", arguments[1], tmp_path / name)
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
        assert (tmp_path / name).stat().st_size
