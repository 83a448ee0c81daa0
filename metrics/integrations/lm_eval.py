"""Functions for tasks of lm-evaluation-harness: `process_results: !function genqa_metrics.integrations.lm_eval.ava`.

A document has "question" and "references" (or "answer"). All that is returned is in the log of samples.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from ..registry import JUDGE
from .common import RowScorer, shown_scores

REFERENCES = ("references", "answers", "answer", "target")


@cache
def _rows(metric: str) -> RowScorer:
    return RowScorer(metric)


def _scored(metric: str, doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Any]:
    name = next((name for name in REFERENCES if name in doc), None)
    if name is None:
        raise ValueError(f"doc: expected one of {', '.join(REFERENCES)}, got {', '.join(doc)}; write process_results")
    result = _rows(metric).one(doc.get("question"), results[0].strip(), doc[name])
    shown = {name: result.scores[score] for name, score in shown_scores(metric).items()}
    return shown | {f"{metric}_reason": result.reason or ""}


def ava(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """Return the verdict "ava_accuracy" (0 or 1), the probability "ava_score" and "ava_reason" of an answer."""
    return _scored(JUDGE, doc, results)


def kpqa(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """Return "rougeL_kpqa", "bleu1_kpqa", "bertscore_kpqa" and "kpqa_reason" of an answer."""
    return _scored("kpqa", doc, results)


def aev(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """Return "aev" and "aev_reason" of an answer; the mean is that of the answers, not the score of the corpus."""
    return _scored("aev", doc, results)


def count(reasons: Sequence[str]) -> int:
    """Return the number of reasons, which the results show in place of a mean."""
    return len(reasons)
