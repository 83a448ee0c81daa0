"""What `pip install genqa-metrics` alone brings, without torch, is enough for every bundled metric and every verb."""

import json

import pytest

from tests.factories.cases import tables
from tests.factories.light import EXTRAS, run, without_extras


def test_modules_and_python_functions(tmp_path):
    """Loaded with `evaluate`, and scored and compared as rows in memory."""
    code = """
import json, genqa_metrics
aev, f_meta, ava, kpqa = map(genqa_metrics.load, ("aev", "f_meta", "ava", "kpqa"))
question = {"questions": ["How many steps are there?"], "predictions": ["four steps"], "references": [["four steps"]]}
rows = [{"prediction": "four steps", "references": ["four steps"], "system": name} for name in "ab" for _ in range(5)]
report = genqa_metrics.score(rows)
report.to_pandas()
print(json.dumps([
    aev.compute(predictions=["four steps"], references=["four steps"])["aev"],
    aev.compute(predictions=["four steps"], references=["four steps"], tokenizer="13a")["aev"],
    f_meta.compute(predictions=[["who won"]], references=[["who won"]])["f_meta"],
    report.systems["a"]["aev"],
    ava.compute(**question)["ava_accuracy"],
    round(kpqa.compute(**question)["rougeL_kpqa"], 6),
]))
"""
    assert json.loads(without_extras(code, tmp_path)) == pytest.approx([1.0] * 6, abs=1e-6)


def test_commands_and_the_extras_that_they_lack(tmp_path, repository):
    examples = repository / "metrics/examples"
    answers, questions = (examples / name for name in ("answers.jsonl", "questions.jsonl"))
    files = ["--html", "page.html", "--latex", "table.tex", "--markdown", "table.md", "--json", "all.json"]
    lacking = tables(__name__)["lacking"]
    places = {"answers": answers, "questions": questions}
    scored, compared, *done = run(
        tmp_path,
        ["score", questions, "-o", "scores.parquet"],
        ["compare", answers, "--metric", "aev", "--resamples", "1000", *files],
        *([word.format(**places) for word in row["command"]] for row in lacking),
    )
    assert (scored[0], "diverse" in scored[1]) == (0, True), scored
    assert (compared[0], "terse" in compared[1]) == (0, True), compared
    assert {path.name for path in tmp_path.iterdir()} == {"scores.parquet", *files[1::2]}
    for row, (code, _, told) in zip(lacking, done, strict=True):
        assert code == row["status"], (row, told)
        assert row["missing"] in told, row
        assert f"pip install 'genqa-metrics[{row['extra']}]'" in told, row


SLOW = ("torch", "transformers", "evaluate", "datasets")  # packages that the command line must not import


def test_the_commands_of_the_readme_need_no_torch_and_import_nothing_slow(tmp_path, repository, prompt_judge):
    """Also where torch is installed: it is not imported."""
    answers = repository / "metrics/examples/answers.jsonl"
    asked = ["How many legs has an insect?", "--reference", "six", "--prediction", "It has eight."]
    commands = [
        ["score", answers, "-o", "judged.jsonl"],
        ["score", answers, "--metric", "kpqa"],
        ["score", repository / "metrics/examples/questions.jsonl"],
        [
            "score",
            repository / "metrics/examples/rag.jsonl",
            "-m",
            "grounding",
            "-s",
            f"grounding.checkpoint={prompt_judge}",
        ],
        ["compare", answers, "--resamples", "1000"],
        ["explain", *asked],
        ["accuracy", "judged.jsonl"],
        ["doctor", answers],
    ]
    code = """
import json

import pytest
from typer.testing import CliRunner
from genqa_metrics.cli import app
done = [CliRunner().invoke(app, command) for command in json.loads(sys.argv[2])]
slow = [name for name in json.loads(sys.argv[3]) if name in sys.modules]
print(json.dumps([[(it.exit_code, it.stdout + it.stderr) for it in done], slow]))
"""
    arguments = json.dumps([list(map(str, command)) for command in commands]), json.dumps(SLOW)
    for names in (EXTRAS, ("no_such_package",)):
        done, slow = json.loads(without_extras(code, tmp_path, *arguments, names=names))
        for command, (status, text) in zip(commands, done, strict=True):
            assert status == 0, (command, text)
        assert slow == []
