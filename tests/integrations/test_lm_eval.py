"""lm-evaluation-harness: its results, and the log of samples that it writes."""

import json

import pytest

lm_eval = pytest.importorskip("lm_eval")

import genqa_metrics
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

TASK = """
task: my_questions
dataset_path: json
dataset_kwargs:
  data_files: answers.jsonl
test_split: train
output_type: generate_until
doc_to_text: "Question: {{question}}\\nAnswer:"
doc_to_target: "{{references[0]}}"
generation_kwargs:
  until: ["\\n"]
process_results: !function genqa_metrics.integrations.lm_eval.ava
metric_list:
  - metric: ava_accuracy
    aggregation: mean
    higher_is_better: true
  - metric: ava_score
    aggregation: mean
    higher_is_better: true
  - metric: ava_reason
    aggregation: !function genqa_metrics.integrations.lm_eval.count
    higher_is_better: true
"""


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


def test_a_task_has_scores_errors_and_reasons(rows, expected, tmp_path, monkeypatch):
    (tmp_path / "my_questions.yaml").write_text(TASK)
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
