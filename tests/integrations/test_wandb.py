"""Weights & Biases, offline: the table as it would be uploaded."""

import json

import pytest

wandb = pytest.importorskip("wandb")

from genqa_metrics.integrations.wandb import log_scores


def test_the_table_has_scores_and_reasons(rows, expected, tmp_path):
    with wandb.init(mode="offline", dir=tmp_path, project="answers") as run:
        report = log_scores(run, rows, "ava")
        assert run.config["genqa/signature/ava"] == report.signatures["ava"]
        assert run.summary["genqa/rows/ava_accuracy"] == 0.5
    (path,) = tmp_path.rglob("*.table.json")
    table = json.loads(path.read_text())
    places = [table["columns"].index(name) for name in ("prediction", "ava_reason")]
    assert [[row[place] for place in places] for row in table["data"]] == [
        [row["prediction"], result.reason] for row, result in zip(rows, expected, strict=True)
    ]
