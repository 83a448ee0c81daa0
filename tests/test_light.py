"""The light core: what `pip install genqa-metrics` alone brings is enough for aev, f_meta, score and compare."""

import json

from tests.factories.cases import tables
from tests.factories.light import run, without_extras


def test_modules_and_python_functions(tmp_path):
    """Loaded with `evaluate`, and scored and compared as rows in memory."""
    code = """
import json, genqa_metrics
aev, f_meta = genqa_metrics.load("aev"), genqa_metrics.load("f_meta")
rows = [{"prediction": "four steps", "references": ["four steps"], "system": name} for name in "ab" for _ in range(5)]
report = genqa_metrics.score(rows)
report.to_pandas()
print(json.dumps([
    aev.compute(predictions=["four steps"], references=["four steps"])["aev"],
    aev.compute(predictions=["four steps"], references=["four steps"], tokenizer="13a")["aev"],
    f_meta.compute(predictions=[["who won"]], references=[["who won"]])["f_meta"],
    report.systems["a"]["aev"],
]))
"""
    assert json.loads(without_extras(code, tmp_path)) == [1.0] * 4


def test_commands_and_the_extras_that_they_lack(tmp_path, repository):
    examples = repository / "metrics/examples"
    answers, questions, ratings = (examples / name for name in ("answers.jsonl", "questions.jsonl", "ratings.csv"))
    files = ["--html", "page.html", "--latex", "table.tex", "--markdown", "table.md", "--json", "all.json"]
    lacking = tables(__name__)["lacking"]
    places = {"answers": answers, "questions": questions, "ratings": ratings}
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
