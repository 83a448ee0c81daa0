"""The demos without a browser: reading of input, limits, and the folder that becomes a Space."""

import configparser
import doctest
import gzip
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import genqa_metrics
import pytest

from tests.factories.spaces import CALLS, assert_same_scores
from training import publish

ROOT = Path(__file__).parent.parent

# An app as a Space has it: run from its folder, without the repository's package, and without Java.
IN_A_SPACE = """
import json, pathlib, runpy, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "genqa_metrics":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
app = runpy.run_path(sys.argv[1], run_name="demo")
assert "genqa_metrics" not in sys.modules
limits = [function.concurrency_limit for function in app["demo"].fns.values() if function.inputs]
call = app[sys.argv[2]](*json.loads(sys.argv[3]))
example = pathlib.Path(sys.argv[1]).with_name("example.csv")
if example.is_file():
    assert app["common"].read_items(str(example), ("prediction", "references"))
files = sorted({module.__file__ for name, module in sys.modules.items() if name.startswith("genqa")
               and getattr(module, "__file__", None)})
print(json.dumps([call, limits, files, app.get("METEOR_NOTE"), list(app.get("BASES", []))]))
"""
# The function of an app that programs call, and its name among the endpoints.


@pytest.fixture(scope="module")
def common():
    sys.path.append(str(ROOT / "spaces"))
    return importlib.import_module("common")


@pytest.fixture
def read(common, tmp_path):
    """Read a file as the demo of AVA does."""
    common.find_metric(str(ROOT / "spaces/ava/app.py"), "ava")

    def read_file(content, name="answers.csv", needed=("question", "prediction", "references")):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return common.read_items(str(path), needed)

    return read_file


def test_examples_in_docstrings(common):
    assert doctest.testmod(common).failed == 0
    assert doctest.testmod(common).attempted >= 2


def test_rows_of_a_file(read):
    rows = 'system,question,prediction,references\na,Who?,I,"[""me"", ""I""]"\nb,Who?,you,me\n'
    items = read(rows)
    assert [(item.system, item.text, item.predictions, item.references) for item in items] == [
        ("a", "Who?", ["I"], ["me", "I"]),
        ("b", "Who?", ["you"], ["me"]),
    ]
    lines = [{"question": "Who?", "candidate": {"a": "I", "b": "you"}, "reference": "me"}]
    assert len(read("\n".join(map(json.dumps, lines)), "answers.JSONL")) == 2


HEADER = "question,prediction,references\n"
BAD_FILES = [
    ("", "answers.csv", "File: it holds no rows"),
    (HEADER, "answers.csv", "File: it holds no rows"),
    ("x", "answers.txt", "File: expected a name that ends in .csv or .jsonl; save it as one of them."),
    ("x", "answers.csv.gz", "File: expected a name that ends in .csv or .jsonl"),
    (b"PK\x03\x04\x00", "answers.xlsx", "File: expected a name that ends in .csv or .jsonl"),
    (gzip.compress(HEADER.encode() * 10), "answers.csv", "File: it is compressed; unpack it first."),
    (b"x" * (2**20 + 1), "answers.csv", "File: larger than 1 MB"),
    ("question,answer,references\nx,y,z\n", "answers.csv", "File, line 2: there is no column named prediction or"),
    ("q,prediction,references\nx,y,z\n", "answers.csv", "rename one of yours: q, prediction, references."),
    (HEADER + "x,y\n", "answers.csv", "File, line 2: expected 3 cells as in the header, got 2"),
    (
        HEADER + "x,y,\n",
        "answers.csv",
        "File, line 2: references: expected at least one reference, got none; drop it or the row",
    ),
    (HEADER + " ,y,z\n", "answers.csv", "File, line 2: the question is empty; fill it in or drop the row."),
    (HEADER + f"x,{'y' * 2001},z\n", "answers.csv", "File, line 2: a text of 2,001 characters is too long"),
    (HEADER + "x,y,z\n" * 2001, "answers.csv", "File: more than 2,000 rows"),
    (HEADER + 'x,y,"[' + ", ".join(['""z""'] * 5001) + ']"\n', "answers.csv", "or 5,000 references in them"),
    (HEADER.encode() + b"x,y,\xff\n", "answers.csv", "File, line 2: not UTF-8"),
    ("[1]\n", "answers.jsonl", "File, line 1: expected a JSON object"),
    ("{not json}\n", "answers.jsonl", "File, line 1: not JSON"),
    (
        '{"question": 1, "prediction": "y", "references": "z"}\n',
        "a.jsonl",
        "File, line 1: question: expected a string",
    ),
    ('{"question": "x", "prediction": ["y"], "references": "z"}\n', "a.jsonl", "several predictions in one row"),
]


@pytest.mark.parametrize(("content", "name", "message"), BAD_FILES, ids=[message for *_, message in BAD_FILES])
def test_bad_files(read, common, tmp_path, content, name, message):
    with pytest.raises(common.Problem, match=re.escape(message)) as error:
        read(content, name)
    assert str(tmp_path) not in str(error.value), "where the server keeps uploads is nobody's business"
    assert "--" not in str(error.value), "options of the command line are no help here"


def test_no_file(common):
    with pytest.raises(common.Problem, match="no file yet"):
        common.read_items(None, ("question",))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "Question: this field is empty; fill it in."),
        (" \n ", "Question: this field is empty; fill it in."),
        ("x" * 2001, "Question: 2,001 characters are too many for this page; 2,000 are the most."),
        ("\ud800", "Question: this is not valid Unicode text"),
        (["x"], "Question: expected a text."),
    ],
)
def test_bad_texts(common, value, message):
    with pytest.raises(common.Problem, match=re.escape(message)):
        common.checked_text("Question", value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("\n \n", "References: this field is empty"),
        ("a\n" * 11, "References: 11 lines are too many for this page; 10 are the most."),
        ("a\n" + "x" * 2001, "References, line 2: 2,001 characters are too many"),
        ("x" * 30_000, "References: 30,000 characters are too many"),
    ],
)
def test_bad_lines(common, value, message):
    with pytest.raises(common.Problem, match=re.escape(message)):
        common.checked_lines("References", value)


def test_a_bar_stays_within_its_row(common):
    chart = common.bars([("", [("low", -0.5), ("high", 1.5)])], "caption", muted={"high"})
    assert re.findall(r"width: ([\d.]+)%", chart) == ["0.0", "100.0"]
    assert chart.count("muted") == 1


def test_an_unexpected_error_tells_nothing_of_the_server(common, capsys):
    def broken():
        raise RuntimeError("/secret/place")

    message = common.shown(broken, 1)()[0]["value"]
    assert message == "Something went wrong here, not in your input. Please try again."
    assert "/secret/place" in capsys.readouterr().err


def packed(name: str, folder: Path) -> Path:
    """Put together a Space as `training/publish.py` does, with the checkpoint beside it where the Hub has it else."""
    publish.write_space(name, "ns", "v0", folder)
    checkpoint = ROOT / "metrics" / name / "checkpoint"
    if checkpoint.is_dir():
        shutil.copytree(checkpoint, folder / "checkpoint")
    return folder


@pytest.mark.parametrize("name", genqa_metrics.METRICS)
def test_a_space_alone_gives_the_numbers_of_the_module(name, tmp_path):
    space = packed(name, tmp_path / "space")
    (tmp_path / "bin").mkdir()
    environment = {**os.environ, "PATH": str(tmp_path / "bin")}  # no java there
    function, _, arguments = CALLS[name]
    command = [sys.executable, "-c", IN_A_SPACE, str(space / "app.py"), function, json.dumps(arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=space, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    scores, limits, files, note, bases = json.loads(done.stdout.splitlines()[-1])
    assert_same_scores(name, scores)
    assert limits
    assert set(limits) <= {1, "default"}, "every event has a limit; the default is 1"
    assert files
    assert all(path.startswith(str(space)) for path in files)
    if name == "f_meta":
        assert "METEOR is not offered: it needs Java" in note
        assert bases == ["ROUGE-L", "BLEU-4"]


@pytest.mark.parametrize("name", genqa_metrics.METRICS)
def test_a_space_says_what_it_needs(name, tmp_path):
    """What the app and its files import from elsewhere is in the requirements, or comes with Gradio."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    known = set(setup["options"]["install_requires"].split())
    for extra in setup["options.extras_require"].values():
        known |= set(extra.split())
    space = packed(name, tmp_path / "space")
    needed = set((space / "requirements.txt").read_text().split())
    assert needed <= known
    gradio = (ROOT / "constraints.txt").read_text().split()
    version = next(pin.partition("==")[2] for pin in gradio if pin.startswith("gradio=="))
    assert f"sdk_version: {version}" in (space / "README.md").read_text()
    names = {re.split(r"[<>=]", line)[0] for line in needed} | {"gradio", "gradio_client", "starlette", "genqa"}
    own = {path.stem for path in space.glob("*.py")}
    imported = {
        line.split()[1].partition(".")[0]
        for path in space.glob("*.py")
        for line in path.read_text().splitlines()
        if re.match(r"(import|from) \w", line)
    }
    unknown = {module for module in imported if module not in sys.stdlib_module_names | own | names}
    assert unknown == set()


def test_every_include_exists():
    for name in genqa_metrics.METRICS:
        for line in (ROOT / "spaces" / name / "includes.txt").read_text().split():
            assert (ROOT / line).is_file()
