"""Demo of F-meta: does a set of generated questions cover the set of reference questions?"""

import sys
from pathlib import Path
from typing import Literal

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of common/ in a checkout
import gradio as gr
from common import checks, html, server, sharing, uploads
from genqa_metrics.f_meta.scorer import FMetaScorer
from markupsafe import Markup

TITLE = "F-meta: is everything asked?"
ABOUT = "Precision and recall of a set of generated questions: repeating one good question no longer wins."
MAX_QUESTIONS = 20
MAX_LENGTH = 500  # characters of a question
CLOSE = 0.05  # parts that differ by less are called about the same
MANY = 8  # a matrix with more columns is drawn small
NAMES = {"same_question": "Same question", "rouge": "ROUGE-L", "bleu": "BLEU-4", "meteor": "METEOR"}
BaseName = Literal["Same question", "ROUGE-L", "BLEU-4", "METEOR"]
DEFAULT = NAMES["same_question"]
DEMO = sharing.Demo(__file__, TITLE, ABOUT, DEFAULT)


def available() -> tuple[dict[str, str], str]:
    """Return the base metrics that run here, label -> name, and a note on METEOR."""
    offered = {label: name for name, label in NAMES.items()}
    try:
        FMetaScorer(base="meteor")
    except ImportError as error:
        missing = str(error).rsplit("not found: ", 1)[-1].replace("the command java", "Java")
        del offered[NAMES["meteor"]]
        return offered, f" METEOR is not offered: it needs {missing}, which was not found."
    return offered, " METEOR takes seconds: it starts Java."


BASES, METEOR_NOTE = available()


def check_base(base: object) -> None:
    """Raise checks.Problem if a base is not offered."""
    if base not in BASES:
        raise checks.Problem(f"base: expected one of {', '.join(BASES)}, got {base!s:.40}.{METEOR_NOTE}")


def results_of(generated: list[str], references: list[str], base: object) -> tuple:
    """Return the explanation of checked lists of questions, and the scores."""
    check_base(base)
    scorer = FMetaScorer(base=BASES[base])
    columns = {"predictions": [generated], "references": [references]}
    rows, _, details, _ = scorer.statistics(columns, explain=True)
    explained = {**details["explanation"][0], "threshold": scorer.threshold}
    return explained, scorer.corpus_scores(rows[0], 1)


def _short(value: float) -> str:
    """Return a score in two characters.

    >>> _short(0.26), _short(0.98), _short(0.0)
    ('.3', '1', '0')
    """
    return f"{value:.1f}".removesuffix(".0").replace("0.", ".")


def matches_html(explained: dict, side: str) -> Markup:
    """Return a table of the questions of one side: which question of the other side each asks, and its best match."""
    this, other, which = ("G", "R", "asks") if side == "predictions" else ("R", "G", "asked by")
    pairs = [pair if this == "G" else pair[::-1] for pair in explained.get("matched", ())]
    same = {question: f"{other}{matched + 1}" for question, matched in pairs}
    header = ["", "question", *[which] * ("matched" in explained), "best match", "score"]
    rows = []
    for i, (match, score) in enumerate(map(dict.values, explained["best_match"][side])):
        again = f"{other}{match + 1}, again" if this == "G" and score >= explained.get("threshold", 2) else "none"
        asked = [same.get(i, again)] * ("matched" in explained)
        rows.append([f"{this}{i + 1}", explained[side][i], *asked, f"{other}{match + 1}", f"{score:.3f}"])
    title = "Generated questions" if this == "G" else "Reference questions"
    return html.table(header, rows, title, {len(header) - 1})


def summary(scores: dict, explained: dict) -> tuple[str, ...]:
    """Return what the numbers show, first in words."""
    first = (
        f"F-meta, the mean similarity, is **{scores['f_meta']:.3f}**: precision **{scores['f_meta_precision']:.3f}**, "
        f"recall **{scores['f_meta_recall']:.3f}**. The conventional score is {scores['f_meta_conventional']:.3f}."
    )
    return *coverage(explained), first, balance(scores)


def coverage(explained: dict) -> tuple[str, ...]:
    """Return which references are asked, in words; of a base without a threshold which one is covered least.

    >>> explained = {"best_match": {"references": [{"score": 1.0}, {"score": 0.9}]}, "references": ["Who?", "When?"]}
    >>> explained["threshold"] = 0.5
    >>> for sentence in coverage({**explained, "matched": [[0, 0]], "not_asked": ["When?"]}): print(sentence)
    Covers **1 of 2** reference questions.
    Not asked: "When?" (0.90). Recall counts them in part, by the similarity in brackets.
    R2 is similar to a generated question that asks another reference more closely; each counts for one reference.
    >>> coverage({**explained, "matched": [[0, 0], [1, 1]], "not_asked": []})
    ('Covers **2 of 2** reference questions.',)
    """
    if "not_asked" not in explained:
        return (explained["reason"],)
    missing, number = explained["not_asked"], len(explained["references"])
    sentences = [f"Covers **{number - len(missing)} of {number}** reference questions."]
    if missing:
        best = zip(explained["references"], explained["best_match"]["references"], strict=True)
        listed = ", ".join(f'"{text}" ({match["score"]:.2f})' for text, match in best if text in missing)
        sentences.append(f"Not asked: {listed}. Recall counts them in part, by the similarity in brackets.")
    asked = {reference for _, reference in explained["matched"]}
    scores = enumerate(match["score"] for match in explained["best_match"]["references"])
    if near := [f"R{i + 1}" for i, score in scores if score >= explained["threshold"] and i not in asked]:
        verb = "is" if len(near) == 1 else "are"
        sentences.append(
            f"{', '.join(near)} {verb} similar to a generated question that asks another reference more closely; each "
            "counts for one reference."
        )
    return tuple(sentences)


def balance(scores: dict) -> str:
    """Return which of the two parts is lower, and what that means; both may be low.

    >>> balance({"f_meta_precision": 0.9, "f_meta_recall": 0.5})
    'Recall is lower: references are matched less well than generated questions, as when one is repeated.'
    """
    ahead = scores["f_meta_precision"] - scores["f_meta_recall"]
    if abs(ahead) < CLOSE:
        return "Precision and recall are about the same."
    if ahead > 0:
        return "Recall is lower: references are matched less well than generated questions, as when one is repeated."
    why = "generated questions are matched less well than references, as when some ask other things"
    return f"Precision is lower: {why}."


def page(generated: str, references: str, base: str) -> list:
    """Return what the page shows for two lists."""
    entries = (generated, references, base)
    note = DEMO.note(entries) if base == DEFAULT else ""  # notes describe that base only
    generated = checks.lines("Generated questions", generated, MAX_QUESTIONS, MAX_LENGTH)
    references = checks.lines("Reference questions", references, MAX_QUESTIONS, MAX_LENGTH)
    explained, scores = results_of(generated, references, base)
    matches = explained["best_match"]
    code = sharing.metric_code("f_meta", predictions=[generated], references=[references], base=BASES[base])
    status = html.headline(*summary(scores, explained), note)
    tables = matches_html(explained, "references") + matches_html(explained, "predictions")
    matrix = explained["scores"]
    drawn = {"matrix": matrix, "many": len(matrix[0]) > MANY, "short": _short, **matches}
    return [status + DEMO.mark(*entries), html.rendered(__file__, "matrix.html.j2", **drawn), tables, code]


def score(generated: list[str] | str, references: list[str] | str, base: BaseName = DEFAULT) -> dict[str, float]:
    """Score a set of generated questions against a set of reference questions.

    Args:
        generated: the generated questions, a list of texts.
        references: the reference questions, a list of texts.
        base: what scores a pair: whether both ask the same, from shared words and sentence vectors, ROUGE-L, BLEU-4,
            or METEOR if Java is installed.
    """
    generated = checks.texts("generated", generated, MAX_QUESTIONS, MAX_LENGTH)
    references = checks.texts("references", references, MAX_QUESTIONS, MAX_LENGTH)
    return results_of(generated, references, base)[1]


OF_FILES = [name for name in BASES if name != NAMES["meteor"]]  # which takes minutes


def settings_of_file(base: str) -> dict:
    """Return the settings for a file."""
    if base not in OF_FILES:
        raise checks.Problem(f"Base metric: a file is scored with {', '.join(OF_FILES)}; METEOR takes minutes.")
    return {"base": BASES[base]}


def results() -> list:
    """Add the tables of matches and the matrix, with its legend."""
    tables, matrix = sharing.plain(2)
    gr.Markdown(
        "→ the best reference of the generated question in this row; ↓ the best generated question of the reference "
        "in this column. Precision is the mean of →, recall the mean of ↓: both measure similarity, so they can be "
        "high for questions that ask something else.",
        elem_classes="note",
    )
    return [matrix, tables]


with DEMO.page() as demo:
    limits = f"One on each line, at most {MAX_QUESTIONS}."
    about_base = {"label": "Base metric", "value": DEFAULT, "render": False}
    fields = [
        *(sharing.text_box(f"{side} questions", 4, 12, info=limits) for side in ("Generated", "Reference")),
        gr.Radio(list(BASES), info=f"Scores a pair of questions.{METEOR_NOTE}", **about_base),
    ]
    with gr.Tabs(overflow_behavior="wrap"):
        hint = "Fill in both lists, or choose an example."
        DEMO.form("Two lists", fields, "Compare the sets", page, results, hint)
        uploads.score_tab(
            "A file",
            "f_meta",
            ("prediction", "references", "id"),
            DEMO.example_file,
            'Columns: generated questions and references of a context, lists such as `["Who?", "When?"]`.',
            {"prediction": "generated questions", "references": "reference questions"},
            [gr.Radio(OF_FILES, **about_base)],
            settings_of_file,
        )
    DEMO.add_background("The paper's example", "f_meta")
    server.endpoint(score, *(text.split("\n") for text in DEMO.first[:2]), DEFAULT)

if __name__ == "__main__":
    DEMO.launch()
