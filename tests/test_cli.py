"""The command line: what it reads, prints and writes, its exit status; its numbers are those of the modules."""

import csv
import gzip
import json
import os
import subprocess
import sys
import tracemalloc

import genqa_metrics
import pyarrow.parquet as pq
import pytest
from genqa_metrics.scale.options import ScoreOptions
from genqa_metrics.scale.run import Run
from genqa_metrics.verbs.inputs import digested_sources

from tests.factories.cases import with_cases
from tests.factories.files import ANSWERS, QUESTIONS, lines, run, save, scores
from tests.factories.modules import printed_by


@pytest.fixture
def answers(tmp_path):
    return save(tmp_path / "answers.jsonl", ANSWERS)


@pytest.fixture
def questions(tmp_path):
    return save(tmp_path / "questions.jsonl", QUESTIONS)


@pytest.mark.usefixtures("word_judge")
@with_cases
def test_scores_are_those_of_the_module(repository, tmp_path, name, metric, settings):
    """Of every system, and of every row in the output."""
    example, output = repository / f"metrics/examples/{name}.jsonl", tmp_path / "scores.parquet"
    first = [json.loads(line) for line in example.read_text().splitlines()[:24]]
    path = save(tmp_path / "rows.jsonl", first)
    given = [f"--set={metric}.{setting}={value}" for setting, value in settings.items()]
    found = json.loads(run("score", path, "-m", metric, *given, "-o", output, "-f", "json")[0])
    module, written = genqa_metrics.load(metric), pq.read_table(output).to_pylist()
    rows = []
    for row in first:
        texts = row["predictions"] if name == "questions" else {row["system"]: [row["prediction"]]}
        rows += [row | {"system": system, "predictions": texts[system]} for system in texts]
    evidence = "contexts" if metric == "grounding" else "references"
    for system, values in found["systems"].items():
        mine = [row for row in rows if row["system"] == system]
        asked = [(row, row["predictions"]) for row in mine]
        if metric != "f_meta":
            asked = [(row, text) for row, texts in asked for text in texts]
        columns = {"predictions": [text for _, text in asked], evidence: [row[evidence] for row, _ in asked]}
        if "question" in rows[0] and metric not in ("aev", "f_meta"):
            columns["questions"] = [row["question"] for row, _ in asked]
        expected = module.compute(**columns, **settings, per_example=True)
        assert values["rows"] == len(mine)
        shared = values.keys() & expected.keys()
        assert any(score.startswith(metric) or metric == "kpqa" for score in shared)
        assert {score: values[score] for score in shared} == pytest.approx({s: expected[s] for s in shared}, abs=1e-5)
        for score in (score for score in shared if f"{score}_per_example" in expected and score in written[0]):
            cells = [row[score] for row in written if row["system"] == system]
            flat = [value for cell in cells for value in (cell if isinstance(cell, list) else [cell])]
            assert flat == pytest.approx(expected[f"{score}_per_example"], abs=1e-5)


def test_a_refused_row_or_input_names_what_to_change(tmp_path):
    path = save(tmp_path / "a.jsonl", ANSWERS)
    columns = ", ".join(ANSWERS[0])
    for words, status, message in (
        (
            ["accuracy", path, "--column", "judge=nli"],
            1,
            f"judge: no column 'nli'; columns found: {columns}; name",
        ),
        (["score", path, "--from", "ragas"], 2, "; name another tool, or leave it out"),
    ):
        error = run(*words, status=status)[1]
        assert "a.jsonl, line 1: " in error
        assert message in error
    with pytest.raises(ValueError, match=r"labels: standard input can be read only once.*; name a file"):
        digested_sources("-", "labels")
    save(path, QUESTIONS)
    assert "got a set of questions; sets are scored by score" in run("accuracy", path, status=1)[1]
    with pytest.raises(ValueError, match=r"references: ava compares answers with references alone; give references="):
        genqa_metrics.explain("When?", "1945", contexts=["It ended in 1945."])


def test_problems_of_kpqa_are_told(tmp_path):
    path = save(tmp_path / "a.jsonl", [{"question": "who?", "prediction": "it " * 600, "references": ["it"]}])
    assert "warning: kpqa: 1 texts are longer than the model reads" in run("score", path, "-m", "kpqa")[1]
    assert "batch_tokens: expected" in run("score", path, "-m", "kpqa", "-s", "kpqa.batch_tokens=x", status=2)[1]
    save(path, QUESTIONS)
    error = run("score", path, "-m", "kpqa", status=1)[1]
    fix = "leave it out, or name the question with --column question=NAME"
    assert f"kpqa: needs rows with a question, got rows with a context; {fix}" in error
    save(path, [{"prediction": "a", "references": ["a"]}])
    assert "line 1: question: expected a question, which kpqa reads" in run("score", path, "-m", "kpqa", status=1)[1]


def test_question_sets_in_csv_and_parquet(questions, tmp_path):
    flat = [
        {"context": row["context"], "system": system, "references": row["references"], "predictions": texts}
        for row in QUESTIONS
        for system, texts in row["predictions"].items()
    ]
    expected = scores(questions)
    assert scores(save(tmp_path / "flat.jsonl", flat)) == expected
    assert scores(save(tmp_path / "flat.csv", flat)) == expected
    assert scores(save(tmp_path / "flat.parquet", flat)) == expected
    assert scores(save(tmp_path / "nested.parquet", QUESTIONS)) == expected


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path):
    words = [f"word{i}" for i in range(500)]

    def peak(rows):
        path = tmp_path / f"{rows}.jsonl.gz"
        with gzip.open(path, "wt", compresslevel=1) as file:
            for i in range(rows):
                text = " ".join(words[(i * 7 + j * 13) % 500] for j in range(4))
                row = {"prediction": text, "references": [text[8:]], "system": "AB"[i % 2], "id": i}
                file.write(json.dumps(row) + "\n")
        scoring = Run([str(path)], ScoreOptions(["aev"], output=str(tmp_path / f"{rows}.parquet")))
        tracemalloc.start()
        scoring.score()
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(1000)  # imports and caches
    small, large = peak(25_000), peak(60_000)  # sums by question are kept for 20,000 clusters at most
    assert small < 30e6
    assert large < small * 1.1


@with_cases
def test_rows_and_their_systems(tmp_path, name, rows, found):
    scored = scores(save(tmp_path / name, rows), "-m", "aev")
    assert {system: values["aev"] for system, values in scored.items()} == found


def test_rows_of_two_kinds_and_of_too_many_systems_are_refused(tmp_path):
    rows = [{"prediction": "a", "references": "a", "system": f"id{i}"} for i in range(1100)]
    assert "more than 1,000 systems" in run("score", save(tmp_path / "a.jsonl", rows), status=1)[1]
    assert "line 2: " in run("score", save(tmp_path / "a.jsonl", [*ANSWERS[:1], *QUESTIONS[:1]]), status=1)[1]


def test_human_scores_and_ids_are_passed_on(tmp_path):
    rows = [
        {"id": 7, "question": "q", "prediction": "a", "references": ["a"], "score": 0.5, "label": 1},
        {"id": None, "question": None, "prediction": "a", "references": ["a"], "score": None, "label": "good"},
    ]
    path, output = save(tmp_path / "a.jsonl", rows), tmp_path / "o.csv"
    _, said = run("score", path, "-m", "aev", "-o", output)
    assert "1 values of 'score' or 'label' are no numbers" in said
    first, second = csv.DictReader(output.open())
    assert (first["id"], first["score"], first["label"], first["line"]) == ("7", "0.5", "1.0", "1")
    assert (second["id"], second["score"], second["label"], second["question"]) == ("", "", "", "")
    assert first["references"] == '["a"]'


def test_a_file_without_predictions_is_no_file_to_score(tmp_path):
    human = {"context": "c", "references": ["r1", "r2"], "made up": ["r1"]}
    said = run("score", save(tmp_path / "a.jsonl", [human]), status=2)[1]
    assert "line 1: no prediction" in said
    assert "columns found: context, references, made up" in said
    several = save(tmp_path / "d.jsonl", ANSWERS), save(tmp_path / "e.jsonl", QUESTIONS)
    assert "score them in two runs" in run("score", *several, status=1)[1]


def test_a_bad_row_is_reported_with_file_line_reason_and_fix(tmp_path):
    good, bad = '{"prediction": "four", "references": ["four"]}\n', '{"prediction": "a", "references": null}\n'
    path, output = tmp_path / "a.jsonl", tmp_path / "o.parquet"
    output.write_bytes(b"old")
    path.write_text(f"{good}\n{bad}{good}")
    _, said = run("score", path, "-o", output, status=1)
    problem = "references: expected at least one reference, got none"
    assert f"error: {path}, line 3: {problem}" in said
    assert "--on-error skip" in said
    assert output.read_bytes() == b"old"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.jsonl", "o.parquet"]
    out, said = run("score", path, "-o", output, "--on-error", "skip", "--format", "json")
    assert f"skipped: {path}, line 3: {problem}" in said
    assert "skipped 1 bad rows; 2 were scored" in said
    assert json.loads(out)["skipped_rows"] == 1
    assert json.loads(out)["systems"]["a"]["rows"] == 2
    assert pq.read_table(output)["line"].to_pylist() == [1, 4]


@pytest.mark.parametrize("arguments", [(), ("--on-error", "skip")])
def test_nothing_but_bad_rows_and_nothing_at_all_are_errors(tmp_path, arguments):
    path, output = tmp_path / "a.jsonl", tmp_path / "o.jsonl"
    path.write_text("{\n{\n")
    _, said = run("score", path, "-o", output, *arguments, status=1)
    assert "all 2 rows are bad; see the messages above" in said or not arguments
    path.write_text("\n")
    assert "no rows; is this the right file?" in run("score", path, "-o", output, *arguments, status=1)[1]
    assert not output.exists()


def test_a_file_name_that_is_not_utf8(tmp_path):
    path = os.path.join(os.fsencode(tmp_path), b"m\xff.jsonl")
    with open(path, "wb") as file:
        file.write(lines([{"prediction": "a b", "references": "a b"}]).encode())
    output = tmp_path / "o.parquet"
    report = Run([os.fsdecode(path)], ScoreOptions(output=str(output))).score()
    assert list(report.counts.rows) == ["m\\xff"]
    assert pq.read_table(output)["system"].to_pylist() == ["m\\xff"]


@with_cases
def test_bad_usage_is_status_2_and_says_what_is_right(answers, arguments, message, monkeypatch):
    monkeypatch.chdir(answers.parent)
    _, said = run("score", *(argument.replace("{}", answers.name) for argument in arguments), status=2)
    assert message in said
    assert list(answers.parent.iterdir()) == [answers]


def test_version():
    assert run("--version")[0] == f"genqa-metrics {genqa_metrics.__version__}\n"


def test_nothing_slow_is_imported(answers):
    """By `--help`; models by `score` only where one is asked for; `evaluate` never."""
    code = f"""
import sys
def check(*names):
    assert not {{*names}} & {{*sys.modules}}, {{*names}} & {{*sys.modules}}
from genqa_metrics.cli import app
from genqa_metrics.verbs.explain import command as explain
slow = "evaluate", "datasets", "torch", "transformers"
check(*slow, "numpy", "pandas", "pyarrow", "scipy", "jinja2", "rich.table", "rich.progress")
output = {str(answers.with_suffix(".parquet"))!r}
words = ["-m", "aev", "-m", "f_meta", "-s", "f_meta.base=rouge"]
app(["score", {str(answers)!r}, *words, "-o", output], standalone_mode=False)
check(*slow)
app(["score", {str(answers)!r}, "-m", "ava"], standalone_mode=False)
app(["explain", "Who?", "--prediction", "Ann", "--reference", "Ann", "-m", "kpqa"], standalone_mode=False)
check("evaluate", "datasets")
"""
    printed_by([sys.executable, "-c", code], timeout=120)


def test_the_installed_command_and_its_streams(answers):
    command = [os.path.join(os.path.dirname(sys.executable), "genqa-metrics")]
    quiet = [*command, "score", "-", "--verbose", "--set", "aev.brevity=inf", "--set", "aev.max_order=1"]
    good = subprocess.run(quiet, input=lines(ANSWERS), capture_output=True, text=True, timeout=120)
    assert (good.returncode, good.stderr) == (0, "reading standard input\n")
    assert "aev|alpha" in good.stdout
    bad = subprocess.run([*command, "score", "-"], input='{"a": "\t"}\n', capture_output=True, text=True, timeout=120)
    assert (bad.returncode, bad.stdout) == (1, "")
    assert "standard input, line 1: not JSON: Invalid control character at character 8;" in bad.stderr
    usage = subprocess.run([*command, "score", "--unknown"], capture_output=True, text=True, timeout=120)
    assert (usage.returncode, usage.stdout) == (2, "")


def test_warnings_of_a_metric_are_passed_on(tmp_path):
    path = tmp_path / "words.jsonl"
    path.write_text(lines([{"prediction": "Paris", "references": ["Paris"]}]))
    out, said = run("score", path)
    assert "warning: aev: words: the texts have no 2-grams, which are left out: this is AEv with N = 1" in said
    assert "1.000" in out
    assert "0.000" in run("score", path, "--set", "aev.effective_order=false")[0]
    assert "warning" not in run("score", path, "--set", "aev.max_order=1")[1]
