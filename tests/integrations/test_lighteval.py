"""lighteval: the results of a task, and its details."""

import json
import re

import pytest

pytest.importorskip("lighteval")

from lighteval.logging.evaluation_tracker import EvaluationTracker
from lighteval.models.dummy.dummy_model import DummyModel, DummyModelConfig
from lighteval.models.model_output import ModelResponse
from lighteval.pipeline import ParallelismManager, Pipeline, PipelineParameters
from lighteval.tasks.registry import Registry


class Canned(DummyModel):
    """A model that gives the answers of the rows."""

    def __init__(self, config, answers):
        super().__init__(config)
        self.answers = answers

    def greedy_until(self, docs):
        return [ModelResponse(text=[self.answers[doc.query]]) for doc in docs]


def test_the_task_of_the_page_has_scores_and_reasons(rows, expected, request, tmp_path, monkeypatch):
    page = (request.config.rootpath / "spaces/docs/pages/tools/lighteval.md").read_text(encoding="utf-8")
    (tmp_path / "my_questions.py").write_text(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1])
    (tmp_path / "my_questions").mkdir()
    rows, wanted = rows[1:], expected[1:]  # one answer a question
    documents = [{name: row[name] for name in ("question", "references")} for row in rows]
    (tmp_path / "my_questions/train.jsonl").write_text("\n".join(map(json.dumps, documents)))
    monkeypatch.chdir(tmp_path)
    for name in ("_load_from_files", "_load_from_subdirs"):  # its own tasks, some of which download files at once
        monkeypatch.setattr(Registry, name, staticmethod(lambda *args: {}))
    config = DummyModelConfig(cache_dir=str(tmp_path / "cache"))
    pipeline = Pipeline(
        tasks="my_questions|0",
        pipeline_parameters=PipelineParameters(
            launcher_type=ParallelismManager.NONE, custom_tasks_directory=str(tmp_path / "my_questions.py")
        ),
        evaluation_tracker=EvaluationTracker(output_dir=str(tmp_path / "results"), save_details=True),
        model=Canned(config, {f"Question: {row['question']}\nAnswer:": row["prediction"] for row in rows}),
    )
    pipeline.evaluate()
    pipeline.save_and_push_results()
    results = pipeline.get_results()["results"]["all"]
    assert results["ava_accuracy"] == pytest.approx(1 / 3)
    assert results["ava_score"] == pytest.approx(sum(one.score for one in wanted) / 3, abs=1e-6)
    (details,) = pipeline.evaluation_tracker.details_logger.details.values()
    reasons = {detail.doc.specific["question"]: detail.doc.specific["ava_reason"] for detail in details}
    assert reasons == {row["question"]: one.reason for row, one in zip(rows, wanted, strict=True)}
    assert list((tmp_path / "results").rglob("details_my_questions*.parquet"))
