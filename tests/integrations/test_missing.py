"""Without its tool a module says in one line what to install."""

import sys
from importlib import import_module

import pytest

EXTRAS = {name: name for name in ("deepeval", "lighteval", "mlflow", "ragas", "wandb")} | {"inspect_ai": "inspect"}


@pytest.mark.parametrize("tool", EXTRAS)
def test_a_missing_tool_is_named_with_its_extra(tool, monkeypatch):
    monkeypatch.delitem(sys.modules, f"genqa_metrics.integrations.{tool}", raising=False)
    monkeypatch.setattr("genqa_metrics.core.scorer.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=rf"^{tool} is not installed; run pip .*\[{EXTRAS[tool]}\]"):
        import_module(f"genqa_metrics.integrations.{tool}")


def test_unknown_scores_and_metrics_are_refused():
    from genqa_metrics.integrations.common import RowScorer

    with pytest.raises(ValueError, match="did you mean ava_label"):
        RowScorer("ava", "ava_labl")
    with pytest.raises(ValueError, match="did you mean kpqa"):
        RowScorer("kqpa")
    with pytest.raises(ValueError, match=r"references, row 0"):
        RowScorer("aev").one(None, "four", "")
