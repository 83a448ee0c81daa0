"""lm-evaluation-harness: its results, and the log of samples that it writes."""

import json
import re

import pytest

lm_eval = pytest.importorskip("lm_eval")

import genqa_metrics
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager


class Canned(LM):
    """A model that answers with the given texts, in the order of the questions."""

    def __init__(self, answers):
        super().__init__()
        self.answers = answers

    def generate_until(self, requests):
        return [f" {self.answers[request.doc_id]}" for request in requests]

    def loglikelihood(self, requests):
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


def test_the_task_of_the_page_has_scores_errors_and_reasons(rows, expected, request, tmp_path, monkeypatch):
    page = (request.config.rootpath / "spaces/docs/pages/tools/lm_eval.md").read_text(encoding="utf-8")
    (tmp_path / "my_questions.yaml").write_text(re.search(r"```yaml\n(.*?)```", page, re.DOTALL)[1])
    documents = [{name: row[name] for name in ("question", "references")} for row in rows]
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, documents)))
    monkeypatch.chdir(tmp_path)
    manager = TaskManager(include_path=str(tmp_path), include_defaults=False)
    model = Canned([row["prediction"] for row in rows])
    found = lm_eval.simple_evaluate(model=model, tasks=["my_questions"], task_manager=manager, log_samples=True)
    results = found["results"]["my_questions"]
    assert (results["ava_accuracy,none"], results["ava_reason,none"]) == (0.5, 4)
    assert results["ava_accuracy_stderr,none"] == pytest.approx((1 / 3) ** 0.5 / 2)
    assert [sample["ava_reason"] for sample in found["samples"]["my_questions"]] == [one.reason for one in expected]

    tracker = EvaluationTracker(output_path=str(tmp_path / "results"))
    tracker.save_results_aggregated(results=found, samples=found["samples"])
    tracker.save_results_samples(task_name="my_questions", samples=found["samples"]["my_questions"])
    (log,) = (tmp_path / "results").rglob("samples_*.jsonl")
    report = genqa_metrics.score(str(log), "ava")
    assert [scores["ava_accuracy"] for scores in report.systems.values()] == [0.5]
