"""Scores of metrics whose models are bundled on the example files: refactoring changes no number.

`tests/data/golden.json` holds results of `compute`: those of the corpus, and the main score of every row. It changes
only together with a bundled checkpoint or a formula, and then CHANGELOG.md names the reason.
"""

import json

import genqa_metrics
import pytest

NO_MODEL = ("aev",)
# Processors differ: by 1.3e-6 between one of AMD and of Intel for a model, in the last digit for a logarithm of numpy.
PROCESSORS = 1e-5


@pytest.mark.parametrize("metric", [name for name in genqa_metrics.METRICS if name != "grounding"])
def test_scores_are_those_of_the_golden_file(repository, metric):
    golden = json.loads((repository / "tests/data/golden.json").read_text())
    compared = 0
    for name in golden:
        if metric not in golden[name]:
            continue
        rows = [json.loads(line) for line in (repository / "metrics/examples" / name).read_text().splitlines()]
        if "predictions" in rows[0]:
            rows = [{**row, "predictions": texts} for row in rows for texts in row["predictions"].values()]
        columns = {"predictions": [row.get("predictions", row.get("prediction")) for row in rows]}
        columns["references"] = [row["references"] for row in rows]
        if metric in ("ava", "kpqa"):
            columns["questions"] = [row["question"] for row in rows]
        found = genqa_metrics.load(metric).compute(**columns, per_example=True)
        for key, expected in golden[name][metric].items():
            compared += 1
            tolerance = {"rel": 1e-14} if metric in NO_MODEL else {"abs": PROCESSORS}
            assert found[key] == pytest.approx(expected, **tolerance), key
    assert compared
