"""Scorers for Inspect: `Task(dataset, solver, scorer=ava())`. The target of a sample holds its references."""

from functools import partial
from typing import Any

from ..core.scorer import require_extra
from ..registry import JUDGE, OF_PASSAGES, scorer_class
from .common import RowScorer, Settings, shown_scores

require_extra("inspect", "inspect_ai")

import anyio.to_thread
from inspect_ai.scorer import CORRECT, INCORRECT, Metric, SampleScore, Score, Scorer, Target, accuracy, mean, metric
from inspect_ai.scorer import scorer as inspect_scorer
from inspect_ai.scorer import stderr as inspect_stderr
from inspect_ai.solver import TaskState

_QUESTION = "question"
_VERDICT = scorer_class(JUDGE).verdict


@metric
def stderr() -> Metric:
    """Standard error of the mean, in which the samples of one question are one cluster.

    It is Inspect's own clustered standard error. Where every sample has a question of its own it is the usual one.
    """

    def clustered(scores: list[SampleScore]) -> Any:
        marked = [score.model_copy(update={"sample_metadata": score.score.metadata}) for score in scores]
        return inspect_stderr(cluster=_QUESTION)(marked)

    return clustered


@inspect_scorer(metrics={_VERDICT: [accuracy(), stderr()], scorer_class(JUDGE).graded: [mean(), stderr()]})
def ava(question: str | None = None, explain: bool = True, settings: Settings = None) -> Scorer:
    """Judge answers: "ava_label" is C or I, "ava_score" the probability that the answer is right.

    `question` is the key of the sample's metadata that holds the question; None for the input of the sample. The other
    arguments are those of `common.RowScorer`.
    """
    return _scorer(JUDGE, question, explain, settings)


@inspect_scorer(metrics={"*": [mean(), stderr()]})
def kpqa(question: str | None = None, explain: bool = True, settings: Settings = None) -> Scorer:
    """Score answers by their keyphrases; the arguments are those of `ava`."""
    return _scorer("kpqa", question, explain, settings)


@inspect_scorer(metrics={"*": [mean(), stderr()]})
def aev(explain: bool = True, settings: Settings = None) -> Scorer:
    """Score answers by AEv; the mean is that of the samples, not the score of the corpus. Arguments as of `ava`."""
    return _scorer("aev", None, explain, settings, sides=2)


@inspect_scorer(metrics={"*": [mean(), stderr()]})
def f_meta(explain: bool = True, settings: Settings = None) -> Scorer:
    """Score sets of generated questions: a line of the output is one, and so is a target. Arguments as of `ava`."""
    return _scorer("f_meta", None, explain, settings, sides=2)


@inspect_scorer(metrics={"*": [mean(), stderr()]})
def grounding(
    contexts: str = "contexts", question: str | None = None, explain: bool = True, settings: Settings = None
) -> Scorer:
    """Score how far retrieved passages support answers: the share of supported sentences, and whether all are.

    `contexts` is the key of the sample's metadata that holds the passages, a list of texts; else as `ava`.
    """
    return _scorer(OF_PASSAGES, question, explain, settings, contexts)


def _scorer(
    name: str, question: str | None, explain: bool, settings: Settings, contexts: str = "", sides: int = 0
) -> Scorer:
    """Return the scorer of a metric; with `sides` of 2 its precision and recall are shown too."""
    rows = RowScorer(name, explain=explain, settings=settings)
    shown = (*shown_scores(name).values(), *scorer_class(name).shown[:sides])

    async def score(state: TaskState, target: Target) -> Score:
        asked = state.input_text if question is None else state.metadata.get(question)
        evidence = state.metadata.get(contexts) if rows.reads_passages else list(target)
        for argument, key, text in (("question", question, asked), ("contexts", contexts, evidence)):
            if text is None:
                problem = f"{argument}: sample {state.sample_id} has no {key!r} in its metadata; name another key"
                raise ValueError(problem)
        answer = state.output.completion
        result = await anyio.to_thread.run_sync(partial(rows.one, asked, answer, evidence))
        scores: dict[str, Any] = {key: result.scores[key] for key in shown}
        if _VERDICT in scores:
            scores[_VERDICT] = CORRECT if result.correct else INCORRECT
        facts = {_QUESTION: asked, "signature": rows.signature}
        return Score(value=scores, answer=answer, explanation=result.reason, metadata=facts)

    return score
