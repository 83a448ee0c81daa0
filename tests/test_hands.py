"""Numbers that hold under every hand: threads, processes, copies, typing errors, missing values, other languages."""

import inspect
import json
import os
import pickle
import re
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import evaluate
import genqa_metrics
import pytest
from genqa_metrics import cli
from genqa_metrics.core.reading import language_counts, language_warnings
from genqa_metrics.integrations.common import RowScorer
from genqa_metrics.registry import SCORERS

from tests.factories.cases import tables
from tests.factories.files import run
from tests.factories.modules import printed_by

THREADS = 8
PARTS = [
    {
        "predictions": [f"cities {i} were running {j} times" for j in range(i + 1)],
        "references": [[f"the city runs {j + i % 3} times"] for j in range(i + 1)],
    }
    for i in range(THREADS)
]


def in_threads(work):
    """Call a function with 0 to 7 in as many threads that begin at once."""
    barrier = Barrier(THREADS)

    def begin(i):
        barrier.wait()
        return work(i)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(begin, range(THREADS)))


@pytest.fixture(scope="module")
def alone():
    aev = genqa_metrics.load("aev")
    return [aev.compute(**part) for part in PARTS]


def test_threads_share_a_module(alone):
    aev = genqa_metrics.load("aev")
    for _ in range(5):
        assert in_threads(lambda i: aev.compute(**PARTS[i])) == alone

    def added(i):
        aev.add_batch(**PARTS[i])
        return aev.compute()

    assert in_threads(added) == alone
    in_threads(lambda i: aev.add_batch(**PARTS[i]))
    assert len(aev) == 0, "rows belong to the thread that adds them"


def test_a_copy_from_a_folder_where_it_was_not_loaded(repository, monkeypatch):
    """As in another process: modules that `evaluate` copied into its cache are not imported."""
    import dill

    aev = evaluate.load(str(repository / "metrics" / "aev"), settings={"alpha": 1})
    assert dill.dumps(aev) == dill.dumps(evaluate.load(str(repository / "metrics" / "aev"), settings={"alpha": 1}))
    content = pickle.dumps(aev)
    for name in [name for name in sys.modules if name.startswith("evaluate_modules")]:
        monkeypatch.delitem(sys.modules, name)
    assert pickle.loads(content).signature() == aev.signature()
    by_package = genqa_metrics.load("aev", alpha=0.0)
    assert pickle.loads(pickle.dumps(by_package)).signature() == by_package.signature()


FORKED = """
import datasets, genqa_metrics, torch
torch.set_num_threads(2)
metric = genqa_metrics.load("kpqa", device="cpu", progress=False)
rows = {"questions": ["who won?"] * 40, "predictions": ["Ann won it"] * 40, "references": [["Ann"]] * 40}
expected = metric.compute(**rows)["rougeL_kpqa"]
def add_score(row):
    return {"found": metric.compute(**{name: [value] for name, value in row.items()})["rougeL_kpqa"]}
found = datasets.Dataset.from_dict(rows).map(add_score, num_proc=2)["found"]
assert all(abs(value - expected) < 1e-4 for value in found), (found, expected)
"""


@pytest.mark.slow
def test_processes_forked_after_load():
    """Two threads of one would wait for each other for ever."""
    printed_by([sys.executable, "-c", FORKED], timeout=300, env=os.environ | {"OMP_NUM_THREADS": "2"})


def test_unknown_arguments_of_compute():
    aev, texts = genqa_metrics.load("aev"), {"predictions": ["a"], "references": ["b"], "answers": ["c"]}
    with pytest.raises(TypeError, match="answers: neither an input nor a setting of aev; did you mean predictions"):
        aev.compute(**texts)
    with pytest.raises(TypeError, match="answers: not an input of aev; did you mean predictions"):
        aev.add_batch(**texts)


@pytest.mark.slow
def test_where_no_cache_can_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    code = "import genqa_metrics as g; t = ['four steps']; print(g.load('aev').compute(predictions=t, references=t))"
    environment = {**os.environ, "HF_HOME": str(tmp_path / "file" / "home")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.stdout.startswith("{'aev': 1.0,"), done.stderr


SAME = {
    "itself": str,
    "no-break spaces": lambda text: text.replace(" ", "\xa0"),
    "two blanks": lambda text: text.replace(" ", "  "),
    "byte order mark": lambda text: f"\ufeff{text}",
    "full width": lambda text: text.translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)}),
    "zero-width characters": "\u200b".join,
    "soft hyphens": "\xad".join,
    "right-to-left marks": lambda text: text.replace(" ", "\u200f "),
    "entities": lambda text: "".join(f"&#{ord(letter)};" for letter in text),
    "named entities": lambda text: text.replace(" ", "&nbsp;"),
    "turned around, and shown as it was": lambda text: f"\u202e{text[::-1].translate({91: 93, 93: 91})}\u202c",
}


@pytest.mark.usefixtures("word_judge")
@pytest.mark.parametrize("name", ["aev", "kpqa", "ava", "grounding"])
@pytest.mark.parametrize("answer", ["The bridge was built in 1889 [1].", "I'm sorry, but I don't know."])
def test_answers_that_look_alike_score_alike(name, answer):
    """Whatever a text is made of: what counts is what people see."""
    given = {"device": "cpu", "progress": False} if name != "aev" else {}
    module = genqa_metrics.load(name, **given)
    answers, rows = [change(answer) for change in SAME.values()], len(SAME)
    evidence = {"contexts" if name == "grounding" else "references": [["It was built in 1889."]] * rows}
    questions = {} if name == "aev" else {"questions": ["When was the bridge built?"] * rows}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = module.compute(predictions=answers, **questions, **evidence, per_example=True)
    for key in (key for key in found if key.endswith("_per_example")):
        assert dict(zip(SAME, found[key], strict=True)) == pytest.approx(dict.fromkeys(SAME, found[key][0]), abs=1e-3)


COMMANDS = """
import json, sys
from genqa_metrics.cli import main
for sys.argv in json.loads(sys.argv[1]):
    try:
        main()
    except SystemExit as end:
        print(end.code)
"""


def in_a_process(*commands, **environment):
    """Run commands in one process; each prints its exit status too."""
    given = [["genqa-metrics", *map(str, command)] for command in commands]
    call = [sys.executable, "-c", COMMANDS, json.dumps(given)]
    return subprocess.run(call, capture_output=True, env={**os.environ, **environment})


@pytest.mark.slow
def test_without_docstrings(repository):
    """PYTHONOPTIMIZE=2 removes them; ONNX Runtime does without, transformers does not, and the message says so."""
    judged = ["score", repository / "metrics" / "examples" / "answers.jsonl", "-m", "ava"]
    done = in_a_process(judged, [*judged, "-s", "ava.backend=torch"], PYTHONOPTIMIZE="2")
    assert done.stdout.strip().endswith(b"0\n2"), done.stderr
    assert b"terse" in done.stdout
    assert b"set it to 1" in done.stderr


@pytest.mark.parametrize("encoding", ["cp437", "ascii"])
def test_standard_output_in_any_encoding(tmp_path, encoding):
    """What an encoding lacks becomes a question mark, or an escape in JSON; also in messages and errors."""
    row = {"question": "東京 → ½", "prediction": "東京 → 😀", "references": ["東京"], "system": "東京 → 😀"}
    rows, score = tmp_path / "東京.jsonl", ["score", tmp_path / "東京.jsonl", "-m", "aev"]
    rows.write_text(json.dumps(row) + "\n")
    verbs = ["doctor", rows], score, [*score, "--format", "markdown"], ["score", tmp_path / "東.jsonl"]
    done = in_a_process(*verbs, [*score, "--format", "json"], PYTHONIOENCODING=encoding)
    assert [int(line) for line in done.stdout.split(b"\n") if line.isdigit()] == [0, 0, 0, 2, 0], done.stderr
    printed, content = done.stdout.rsplit(b"\n2\n", 1)
    assert b"?" in printed
    assert b"?.jsonl: no such file" in done.stderr
    assert "東京 → 😀" in json.loads(content.decode(encoding).strip().removesuffix("0"))["systems"], done.stderr


def test_rows_that_are_not_english_are_counted():
    rows = tables(__name__)["foreign"]
    columns = {f"{name}s": [row[name] for row in rows] for name in ("question", "prediction", "reference")}
    counts = language_counts(columns)
    assert counts == {"rows": 5} | {f"language:{name}": 1 for name in ("de", "fr", "es", "ru", "ja")}
    assert language_warnings(counts)[0].startswith("5 of 5 rows seem not to be English (de 1, es 1, fr 1, ja 1, ru 1)")
    assert language_warnings({"rows": 60, "language:de": 1})[0].startswith("1 of 60 rows seems not to be English")
    assert language_warnings({"rows": 1000, "language:de": 3}) == []
    with pytest.warns(UserWarning, match="ava: 5 of 5 rows seem not to be English"):
        genqa_metrics.load("ava", device="cpu", progress=False).compute(**columns)


def test_repr_is_short():
    aev = genqa_metrics.load("aev", alpha=0.25)
    assert repr(aev) == "Aev(alpha=0.25), inputs: predictions, references, rows added: 0"


FILES = {"from_", "systems", "encoding", "rows_at", "sheet", "split_references"}  # how a command reads its files
SHOWN = {"json", "markdown", "latex", "html", "form", "fail_under", "verbose"}  # what it prints and writes
IN_PYTHON = {"notify", "problem", "progress", "keep", "explain"}  # arguments that only a function has


@pytest.mark.parametrize("verb", ["score", "compare", "agree", "accuracy", "calibrate"])
def test_a_command_has_the_names_and_defaults_of_its_function(verb):
    """Files and --metric, --set and --column have other forms on the command line."""
    function = inspect.signature(getattr(genqa_metrics, verb)).parameters
    command = inspect.signature(getattr(cli, verb)).parameters
    forms = {"inputs": next(iter(function)), "metric": "metrics", "set_": "settings", "column": "columns"}
    of_command = {forms.get(name, name): one.default for name, one in command.items() if name not in FILES | SHOWN}
    of_function = {name: one.default for name, one in function.items() if name not in IN_PYTHON}
    if verb in ("compare", "agree"):
        assert of_function.pop("score_columns") == ()  # --column NAME
    if verb == "agree":
        assert of_function.pop("human") == "score"  # --column score=NAME
    empty = {None: (), (): ()}
    assert {name: empty.get(value, value) for name, value in of_command.items()} == {
        name: empty.get(value, value) for name, value in of_function.items()
    }


def test_only_public_names_are_listed():
    verbs = ["accuracy", "agree", "calibrate", "compare", "explain", "load", "read_rows", "score"]
    public = ["METRICS", "__version__", *verbs]
    assert dir(genqa_metrics) == sorted(genqa_metrics.__all__) == public
    assert all(hasattr(genqa_metrics, name) for name in public)


PROGRAM = """
import genqa_metrics

rows = [{"question": "who?", "prediction": "Ann", "references": ["Ann"], "score": 1.0}]
value: float = genqa_metrics.load("aev", alpha=0.25).compute(predictions=["a"], references=["a"], max_order=1)["aev"]
share: float = genqa_metrics.score(rows, "ava", on_error="skip").systems["rows"]["ava_accuracy"]
table: str = genqa_metrics.compare({"a": rows, "b": rows}, ["aev"], {"aev": {"alpha": 0}}, seed=1).to_markdown()
everything = genqa_metrics.agree(rows, human="score", metrics=["aev"]).to_dict()
"""


@pytest.mark.slow
def test_a_program_is_accepted_by_mypy(tmp_path):
    """As with the package's wheel: mypy does not see editable installs. Other packages are not read, which is slow."""
    (tmp_path / "path").mkdir()
    (tmp_path / "path/genqa_metrics").symlink_to(Path(genqa_metrics.__file__).parent, target_is_directory=True)
    for name, program in {"good": PROGRAM, "bad": PROGRAM.replace("on_error=", "on_eror=")}.items():
        (tmp_path / f"{name}.py").write_text(program)
    settings = "[mypy]\nstrict = True\nfollow_imports = skip\n[mypy-genqa_metrics.*]\nfollow_imports = silent\n"
    (tmp_path / "mypy.ini").write_text(settings)
    environment = {**os.environ, "MYPYPATH": str(tmp_path / "path")}
    command = [sys.executable, "-m", "mypy", "good.py", "bad.py"]
    said = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment).stdout
    ((name, error),) = re.findall(r"^(\w+)\.py:\d+: error: (.*)", said, re.MULTILINE)
    assert (name, "on_eror" in error) == ("bad", True), said


TOY = '''"""The share of a reference's words that an answer has."""

import numpy as np
from genqa_metrics.core.scorer import RowStatistics, Scorer


class ToyScorer(Scorer):
    name = main = "toy"
    names = ("toy", "toy_length")

    def configure(self, lower: bool = True) -> None:
        self.lower, self.facts = lower, {"lower": str(lower)}

    def statistics(self, columns, explain=False):
        rows = []
        for texts in zip(columns["predictions"], (first for first, *_ in columns["references"]), strict=True):
            answer, wanted = (set((text.lower() if self.lower else text).split()) for text in texts)
            rows.append([len(answer & wanted) / max(1, len(wanted)), len(answer)])
        return RowStatistics.of(np.array(rows, dtype=float).reshape(-1, 2))
'''


def test_a_fifth_metric_is_one_folder_and_one_line(tmp_path, monkeypatch, repository):
    """The recipe of CONTRIBUTING: every verb and the integrations know a metric when it is in the registry."""
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "scorer.py").write_text(TOY)
    monkeypatch.setattr(genqa_metrics, "__path__", [*genqa_metrics.__path__, str(tmp_path)])
    monkeypatch.setitem(SCORERS, "toy", "ToyScorer")
    answers = str(repository / "metrics" / "examples" / "answers.jsonl")
    resampled = "--resamples", "100"
    options = "--metric", "toy", "--set", "toy.lower=false", "--verbose"
    for verb, more in (("score", ()), ("compare", resampled), ("agree", resampled)):
        assert "toy|lower:False" in run(verb, answers, *options, *more)[0]
    answered, wanted = "four Steps", "four steps are involved"
    scored = genqa_metrics.score([{"prediction": answered, "references": [wanted]}], "toy", {"toy": {"lower": False}})
    result = RowScorer("toy", settings={"lower": False}).one(None, answered, wanted)
    assert scored.systems["rows"]["toy"] == result.score == 0.25
    assert "toy" in result.reason
    assert RowScorer("toy").one(None, answered, wanted).score == 0.5
    page = scored.to_html().replace("<wbr>", "")
    assert "toy|lower:False" in page
    assert "0.2500" in page
