"""Weights & Biases: a table of rows with scores and reasons, and the scores of the systems in the summary of a run."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.scorer import require_extra
from ..verbs.score.report import ScoreReport, score
from .common import scores_to_log

require_extra("wandb", "wandb")

import wandb


def log_scores(
    run: "wandb.Run",
    rows: Any,
    metrics: str | Sequence[str] | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    prefix: str = "genqa",
) -> ScoreReport:
    """Score rows, log them to a run of `wandb.init`, and return the report; see `genqa_metrics.score` for arguments.

    Logged are the table PREFIX/rows, one value PREFIX/SYSTEM/SCORE for each (none for an accuracy that cannot be
    told), and in the configuration of the run PREFIX/signature/METRIC.
    """
    report = score(rows, metrics, settings, explain=True)
    table = report.to_pandas().dropna(axis="columns", how="all")
    run.config.update({f"{prefix}/signature/{metric}": line for metric, line in report.signatures.items()})
    run.log({f"{prefix}/rows": wandb.Table(dataframe=table), **scores_to_log(report.systems, prefix, "/")})
    return report
