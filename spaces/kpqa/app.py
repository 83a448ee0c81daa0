"""Demo of KPQA: the weights that a model gives to the words of answer and reference, and the scores they make."""

import sys
from functools import cache
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of common/ in a checkout
from common import html
from common.demo import Demo, Result, metric_code
from genqa_metrics.core.reading import language_counts, language_warnings
from genqa_metrics.kpqa import explaining, loading
from genqa_metrics.verbs.explain import heat_map

CLOSE = 0.1  # scores that differ by less are called about the same
# Answers that give the document frequency of words; the paper counts in the references of its data.
CORPUS = tuple(html.text_beside(__file__, "corpus.txt").splitlines())


@cache
def models():
    """Return the models, loaded once."""
    return loading.load_models()


def summary(scores: dict) -> tuple[str, str]:
    """Return what the numbers show, in two sentences; they do not tell whether an answer is right."""
    plain, weighted = scores["rougeL"], scores["rougeL_kpqa"]
    change = weighted.value - plain.value
    effect = "change it little" if abs(change) < CLOSE else "raise it" if change > 0 else "lower it"
    return (
        f"ROUGE-L is **{plain.value:.2f}** without weights and **{weighted.value:.2f}** with them: the weights "
        f"{effect}.",
        f"In the reference the answer matches {plain.recall:.0%} of the words, and {weighted.recall:.0%} of the "
        "weight, in the same order.",
    )


def show(question: str, answer: str, references: list[str]) -> Result:
    """Return what the page shows for one answer."""
    explained = explaining.explanation(question, answer, references, models(), corpus=CORPUS)
    columns = {"questions": [question], "predictions": [answer], "references": [references]}
    warnings = language_warnings(language_counts(columns))
    if explained.cut_texts:
        warnings.append("a text is longer than the model can read; its end is ignored")
    sentences = [*summary(explained.scores), heat_map.keyphrases(explained), *(f"Note: {text}." for text in warnings)]
    report = html.frame("Weights of the words, and the scores", heat_map.explanation_html(explained, findings=False))
    scores = {name: score.value for name, score in explained.scores.items()}
    return Result(scores, sentences, [report], metric_code("kpqa", **columns))


DEMO = Demo(__file__, "kpqa", show)

if __name__ == "__main__":
    DEMO.launch()
