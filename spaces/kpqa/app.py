"""Demo of KPQA: the weights that a model gives to the words of answer and reference, and the scores they make."""

import sys
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of common/ in a checkout
from common import html
from common.demo import Demo, Result, metric_code, plain_outputs
from genqa_metrics.kpqa.scorer import TITLES, KpqaScorer
from genqa_metrics.kpqa.scoring import METRICS
from genqa_metrics.verbs.explain.report import Explainer
from markupsafe import Markup

SIDES = ("precision", "recall")
CLOSE, CLOSE_SHARE = 0.05, 0.1  # a change is called small below both: in points, and of the score without weights
# Answers that give the document frequency of words; the paper counts in the references of its data.
CORPUS = tuple(html.text_beside(__file__, "corpus.txt").splitlines())


@cache
def scorer() -> KpqaScorer:
    """Return the metric's scorer, whose models are loaded once."""
    return KpqaScorer()


def summary(scores: dict[str, float]) -> tuple[str, str]:
    """Return what the numbers show, in two sentences; they do not tell whether an answer is right.

    >>> for sentence in summary({"rougeL": 0.737, "rougeL_kpqa": 0.01, "rougeL_kpqa_recall": 0.009}): print(sentence)
    The weights lower ROUGE-L from **0.74** to **0.01**.
    The answer has **1%** of the weight of the reference's words, in the same order.
    >>> summary({"rougeL": 0.36, "rougeL_kpqa": 0.26, "rougeL_kpqa_recall": 0.3})[0]
    'The weights lower ROUGE-L from **0.36** to **0.26**.'
    >>> summary({"rougeL": 0.7, "rougeL_kpqa": 0.66, "rougeL_kpqa_recall": 0.3})[0]
    'The weights hardly change ROUGE-L: from **0.70** to **0.66**.'
    """
    plain, weighted, recall = scores["rougeL"], scores["rougeL_kpqa"], scores["rougeL_kpqa_recall"]
    change, numbers = weighted - plain, f"from **{plain:.2f}** to **{weighted:.2f}**"
    effect = f"{'raise' if change > 0 else 'lower'} ROUGE-L {numbers}"
    if abs(change) < min(CLOSE, CLOSE_SHARE * plain):
        effect = f"hardly change ROUGE-L: {numbers}"
    if f"{plain:.2f}" == f"{weighted:.2f}":
        effect = f"leave ROUGE-L at **{plain:.2f}**"
    return (
        f"The weights {effect}.",
        f"The answer has **{recall:.0%}** of the weight of the reference's words, in the same order.",
    )


def bars_of(scores: dict[str, float], shown: dict[str, str]) -> Markup:
    """Return a table of the scores without and with weights; behind ";" `shown` names the reference of each."""
    rows = []
    for name, title in TITLES.items():
        weighted = f"{name}_kpqa"
        shares = [f"{side} {scores[f'{weighted}_{side}']:.2f}" for side in SIDES if f"{weighted}_{side}" in scores]
        shares += filter(None, [shown[f"{title}-KPQA"].partition("; ")[2]])
        rows.append((title, ", ".join(shares), [(scores[name], ""), (scores[weighted], "")]))
    return html.scores("score; precision and recall with weights", ["without weights", "with weights: KPQA"], rows)


def folded(texts: Iterable[tuple[str, str]]) -> Markup:
    """Return how rare the words of each text are, folded."""
    rows = html.joined(html.fill("<dt>{name}</dt><dd>{text}</dd>", name=name, text=text) for name, text in texts)
    about = "Rarity of the words (IDF), which these scores do not use; idf=True adds it to BERTScore"
    return html.fill("<details><summary>{about}</summary><dl>{rows}</dl></details>", about=about, rows=rows)


def show(question: str, answer: str, references: list[str]) -> Result:
    """Return what the page shows for one answer."""
    explainer = Explainer(scorer(), CORPUS)
    explained = explainer.explained(question, answer, references)
    columns = {"questions": [question], "predictions": [answer], "references": [references]}
    rows = scorer().row_scores(scorer().statistics(columns).values)
    scores = {name: float(row[0]) for name, row in rows.items()}
    effect, share = summary(scores)
    sentences = [effect, explained.reason, share, *html.notes(explainer.warnings)]
    page = explainer.page([replace(explained, reason="", evidence=(), scores={})])
    rarity = folded(pair for pair in explained.evidence if pair[0].startswith("Rarity"))
    outputs = [bars_of(scores, dict(explained.evidence)), html.frame("Weights of the words", page) + rarity]
    return Result({name: scores[name] for name in METRICS}, sentences, outputs, metric_code("kpqa", **columns))


def score(question: str, answer: str, references: list[str] | str) -> dict:
    """Score an answer: BLEU-1, ROUGE-L and BERTScore with and without keyphrase weights.

    Args:
        question: the question, in English
        answer: the answer to be scored
        references: one reference answer, or a list of them; every score uses the best one
    """
    return DEMO.score(question, answer, references)


DEMO = Demo(__file__, "kpqa", show, score, results=lambda: plain_outputs(2))

if __name__ == "__main__":
    DEMO.launch()
