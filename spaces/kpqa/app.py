"""Demo of KPQA: the weights that a model gives to the words of answer and reference, and the scores they make."""

import sys
from functools import cache
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of common/ in a checkout
import gradio as gr
from common import checks, html, server, sharing, uploads
from genqa_metrics.core.reading import language_counts, language_warnings
from genqa_metrics.kpqa import explaining, loading
from genqa_metrics.verbs.explain import heat_map

TITLE = "KPQA: which words answer the question?"
ABOUT = "BLEU-1, ROUGE-L and BERTScore that give more weight to the words that answer the question."
CLOSE = 0.1  # scores that differ by less are called about the same
DEMO = sharing.Demo(__file__, TITLE, ABOUT)
# Answers that give the document frequency of words; the paper counts in the references of its data.
CORPUS = tuple(sharing.text_beside(__file__, "corpus.txt").splitlines())


@cache
def models():
    """Return the models, loaded once."""
    return loading.load_models()


def explanation(question: str, answer: str, references: list[str]):
    """Return how KPQA computes its scores for checked input."""
    return explaining.explanation(question, answer, references, models(), corpus=CORPUS)


def summary(scores: dict) -> tuple[str, str]:
    """Return what the numbers show, in two sentences; they do not tell whether an answer is right."""
    plain, weighted = scores["rougeL"].value, scores["rougeL_kpqa"].value
    change = weighted - plain
    about = "change it little" if abs(change) < CLOSE else "raise it" if change > 0 else "lower it"
    first = f"ROUGE-L is **{plain:.2f}** without weights and **{weighted:.2f}** with them: the weights {about}."
    recall, of_words = scores["rougeL_kpqa"].recall, scores["rougeL"].recall
    second = (
        f"In the reference the answer matches {100 * of_words:.0f}% of the words, and {100 * recall:.0f}% of the "
        "weight, in the same order."
    )
    return first, second


def page(question: str, answer: str, references: str) -> list:
    """Return what the page shows for one answer."""
    entries = (question, answer, references)
    question = checks.text("Question", question)
    answer = checks.text("Answer to be scored", answer)
    lines = checks.lines("Reference answers", references)
    explained = explanation(question, answer, lines)
    scores = explained.scores
    asked = {"questions": [question], "predictions": [answer], "references": [lines]}
    warnings = language_warnings(language_counts(asked))
    if explained.cut_texts:
        warnings.append("a text is longer than the model can read; its end is ignored")
    notes = [f"Note: {text}." for text in warnings]
    status = html.headline(*summary(scores), heat_map.keyphrases(explained), *notes, DEMO.note(entries))
    code = sharing.metric_code("kpqa", questions=[question], predictions=[answer], references=[lines])
    report = heat_map.explanation_html(explained, findings=False)
    return [status + DEMO.mark(*entries), html.frame("Weights of the words, and the scores", report), code]


def score(question: str, answer: str, references: list[str] | str) -> dict[str, float]:
    """Score an answer: BLEU-1, ROUGE-L and BERTScore with and without keyphrase weights.

    Args:
        question: the question, in English.
        answer: the answer to be scored.
        references: one reference answer, or a list of them; every score uses the best one.
    """
    question, answer = checks.text("question", question), checks.text("answer", answer)
    explained = explanation(question, answer, checks.texts("references", references))
    return {name: score.value for name, score in explained.scores.items()}


with DEMO.page() as demo:
    question = sharing.text_box("Question", most=6, placeholder="How many ...?")
    answer = sharing.text_box("Answer to be scored", most=6, placeholder="There are ...")
    references = sharing.text_box("Reference answers", lines=2, info="Right answers, one on each line.")
    with gr.Tabs(overflow_behavior="wrap"):
        fields = [question, answer, references]
        DEMO.form("One answer", fields, "Score the answer", page, submit=[question, answer])
        columns = ("question", "prediction", "references", "id")
        uploads.score_tab("A file", "kpqa", columns, DEMO.example_file, "Columns: question, answer, references.")
    DEMO.add_background("Results of the paper for its examples", "kpqa")
    server.endpoint(score, *DEMO.examples[0].entries[:2], ["Four steps"])

if __name__ == "__main__":
    DEMO.launch()
