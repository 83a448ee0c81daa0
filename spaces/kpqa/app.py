"""Demo of KPQA: the weights that a model gives to the words of answer and reference, and the scores they make."""

import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of common/ in a checkout
from common import html
from common.demo import Demo, Result, metric_code
from genqa_metrics.kpqa.scorer import KpqaScorer
from genqa_metrics.kpqa.scoring import METRICS
from genqa_metrics.verbs.explain.report import Explainer

CLOSE = 0.1  # scores that differ by less are called about the same
# Answers that give the document frequency of words; the paper counts in the references of its data.
CORPUS = tuple(html.text_beside(__file__, "corpus.txt").splitlines())


@cache
def scorer() -> KpqaScorer:
    """Return the metric's scorer, whose models are loaded once."""
    return KpqaScorer()


def summary(scores: dict[str, float]) -> tuple[str, str]:
    """Return what the numbers show, in two sentences; they do not tell whether an answer is right."""
    plain, weighted, recall = scores["rougeL"], scores["rougeL_kpqa"], scores["rougeL_kpqa_recall"]
    change = weighted - plain
    effect = "change it little" if abs(change) < CLOSE else "raise it" if change > 0 else "lower it"
    effect = "change nothing" if f"{plain:.2f}" == f"{weighted:.2f}" else effect
    return (
        f"ROUGE-L is **{plain:.2f}** without weights and **{weighted:.2f}** with them: the weights {effect}.",
        f"The answer matches {recall:.0%} of the reference's weight, in the same order.",
    )


def show(question: str, answer: str, references: list[str]) -> Result:
    """Return what the page shows for one answer."""
    explainer = Explainer(scorer(), CORPUS)
    explained = explainer.explained(question, answer, references)
    columns = {"questions": [question], "predictions": [answer], "references": [references]}
    rows = scorer().row_scores(scorer().statistics(columns).values)
    scores = {name: float(row[0]) for name, row in rows.items()}
    sentences = [*summary(scores), explained.reason, *html.notes(explainer.warnings)]
    report = html.frame("Weights of the words, and the scores", explainer.page([replace(explained, reason="")]))
    return Result({name: scores[name] for name in METRICS}, sentences, [report], metric_code("kpqa", **columns))


def score(question: str, answer: str, references: list[str] | str) -> dict:
    """Score an answer: BLEU-1, ROUGE-L and BERTScore with and without keyphrase weights.

    Args:
        question: the question, in English
        answer: the answer to be scored
        references: one reference answer, or a list of them; every score uses the best one
    """
    return DEMO.score(question, answer, references)


DEMO = Demo(__file__, "kpqa", show, score)

if __name__ == "__main__":
    DEMO.launch()
