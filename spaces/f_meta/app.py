"""Demo of F-meta: does a set of generated questions cover the set of reference questions?"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of common/ in a checkout
import gradio as gr
import numpy as np
from common import checks, html
from common.demo import Demo, Result, metric_code, plain_outputs
from genqa_metrics.f_meta.scorer import FMetaScorer
from genqa_metrics.reports.table import listed
from markupsafe import Markup

MANY = 8  # a matrix with more columns is drawn small
CANNOT_TELL = "cannot tell"  # whether one of some references that are too alike is asked
DEFAULT, METEOR = "Same question", "METEOR"
BASES = {DEFAULT: "same_question", "ROUGE-L": "rouge", "BLEU-4": "bleu", METEOR: "meteor"}
METEOR_NOTE = " METEOR takes seconds: it starts Java."
try:
    FMetaScorer(base="meteor")
except ImportError as error:
    missing = str(error).rsplit("not found: ", 1)[-1].replace("the command java", "Java")
    METEOR_NOTE = f" METEOR is not offered: it needs {missing}, which was not found."
    del BASES[METEOR]
OF_FILES = [name for name in BASES if name != METEOR]  # which takes minutes
MARKS = (
    "→ the best reference of the generated question in this row; ↓ the best generated question of the reference in "
    "this column. Precision is the mean of →, recall the mean of ↓: both measure similarity, so they can be high for "
    "questions that ask something else."
)


def in_two_letters(score: float) -> str:
    """Return a score in two characters.

    >>> in_two_letters(0.26), in_two_letters(0.98), in_two_letters(0.0)
    ('.3', '1', '0')
    """
    return f"{score:.1f}".removesuffix(".0").replace("0.", ".")


def matches_html(explained: dict, side: str) -> Markup:
    """Return a table of the questions of one side: which question of the other side each asks, and its best match.

    Of references that are too alike, the numbers in "alike", it cannot tell which one is asked.
    """
    this, other, which = ("G", "R", "asks") if side == "predictions" else ("R", "G", "asked by")
    has_matches = "matched" in explained  # a base without a threshold has none
    pairs = [pair if this == "G" else pair[::-1] for pair in explained.get("matched", ())]
    same = {question: f"{other}{matched + 1}" for question, matched in pairs}
    header, rows = ["", "question", *[which] * has_matches, "best match", "score"], []
    for i, (match, score) in enumerate(map(dict.values, explained["best_match"][side])):
        is_near = has_matches and score >= explained["threshold"]
        asked = same.get(i, f"{other}{match + 1}, again" if is_near and this == "G" else "none")
        is_unclear = is_near and (match if this == "G" else i) in explained["alike"]
        asked = [CANNOT_TELL if is_unclear else asked] * has_matches
        rows.append([f"{this}{i + 1}", explained[side][i], *asked, f"{other}{match + 1}", f"{score:.3f}"])
    title = "Generated questions" if this == "G" else "Reference questions"
    return html.table(header, rows, title, {len(header) - 1})


def coverage(explained: dict, doubt: str = "") -> list[str]:
    """Return which references are asked, in words; of a base without a threshold which one is covered least.

    `doubt` says which references are too alike: which of those are asked cannot be told.

    >>> explained = {"best_match": {"references": [{"score": 1.0}, {"score": 0.9}]}, "references": ["Who?", "When?"]}
    >>> explained |= {"threshold": 0.5, "alike": []}
    >>> for sentence in coverage({**explained, "matched": [[0, 0]], "not_asked": ["When?"]}): print(sentence)
    Covers **1 of 2** reference questions.
    Not asked: "When?" (0.90). Recall counts them in part, by the similarity in brackets.
    R2 is similar to a generated question that asks another reference more closely; each counts for one reference.
    >>> coverage({**explained, "matched": [[0, 0], [1, 1]], "not_asked": []})
    ['Covers **2 of 2** reference questions.']
    >>> coverage({**explained, "matched": [[0, 0]], "not_asked": ["When?"], "alike": [0, 1]}, "R1 and R2 are alike.")
    ['**Cannot tell** how many of 2 reference questions are covered.', 'R1 and R2 are alike.']
    """
    if "not_asked" not in explained:
        return [explained["reason"]]
    missing, references = explained["not_asked"], explained["references"]
    scores = [match["score"] for match in explained["best_match"]["references"]]
    count = f"Covers **{len(references) - len(missing)} of {len(references)}** reference questions."
    if doubt:
        count = f"**Cannot tell** how many of {len(references)} reference questions are covered."
    sentences = [count, *[doubt] * bool(doubt)]
    unclear = {i for i in explained["alike"] if scores[i] >= explained["threshold"]}
    best = [(text, score) for i, (text, score) in enumerate(zip(references, scores, strict=True)) if i not in unclear]
    if named := ", ".join(f'"{text}" ({score:.2f})' for text, score in best if text in missing):
        sentences.append(f"Not asked: {named}. Recall counts them in part, by the similarity in brackets.")
    asked = {reference for _, reference in explained["matched"]}
    near = [f"R{i + 1}" for i, score in enumerate(scores) if score >= explained["threshold"] and i not in asked]
    if near and not doubt:
        sentences.append(
            f"{', '.join(near)} {'is' if len(near) == 1 else 'are'} similar to a generated question that asks another "
            "reference more closely; each counts for one reference."
        )
    return sentences


def alike(references: list[str], best: list[float], scorer: FMetaScorer) -> tuple[list[int], str]:
    """Return which references the base metric takes for one question, and this in sentences; [] and "" without any.

    References count whose `best` score is that of a question which asks them; of the others nothing is in doubt.
    """
    columns = {"predictions": [references], "references": [references]}
    matrix = np.array(scorer.statistics(columns, explain=True)[1]["explanation"][0]["scores"])
    np.fill_diagonal(matrix, 0)
    nearest = np.minimum(matrix, matrix.T).max(axis=1)
    numbers = np.flatnonzero(nearest >= scorer.threshold).tolist()
    if not any(best[i] >= scorer.threshold for i in numbers):
        return [], ""
    least = np.floor(100 * nearest[numbers].min()) / 100  # not "1.00 or more"
    return numbers, (
        f"**{listed([f'R{i + 1}' for i in numbers])} are too alike for this base metric**: it gives them "
        f"{least:.2f} or more, and takes two questions for one from {scorer.threshold:.2f} on. A "
        "generated question that asks one of them can count for another, and F-meta can be too high."
    )


def show(generated: list[str], references: list[str], base: str) -> Result:
    """Return what the page shows for two lists."""
    if base not in BASES:
        raise checks.Problem(f"base: expected one of {', '.join(BASES)}, got {base!s:.40}.{METEOR_NOTE}")
    scorer = FMetaScorer(base=BASES[base])
    rows, details, _ = scorer.statistics({"predictions": [generated], "references": [references]}, explain=True)
    explained, scores = {**details["explanation"][0], "threshold": scorer.threshold}, scorer.corpus_scores(rows[0], 1)
    best = [match["score"] for match in explained["best_match"]["references"]]
    explained["alike"], doubt = alike(references, best, scorer) if scorer.threshold is not None else ([], "")
    summary = (
        f"F-meta is **{scores['f_meta']:.3f}**, the harmonic mean of precision **{scores['f_meta_precision']:.3f}** "
        f"and recall **{scores['f_meta_recall']:.3f}**, which are mean similarities. The conventional score, which "
        f"leaves recall out, is {scores['f_meta_conventional']:.3f}."
    )
    code = metric_code("f_meta", predictions=[generated], references=[references], base=BASES[base])
    matrix = explained["scores"]
    drawn = {"matrix": matrix, "many": len(matrix[0]) > MANY, "short": in_two_letters, **explained["best_match"]}
    tables = matches_html(explained, "references") + matches_html(explained, "predictions")
    outputs = [html.rendered(__file__, "matrix.html.j2", **drawn), tables]
    return Result(scores, [*coverage(explained, doubt), summary], outputs, code)


def score(generated: list[str] | str, references: list[str] | str, base: str = DEFAULT) -> dict:
    """Score a set of generated questions against a set of reference questions.

    Args:
        generated: the generated questions, a list of texts
        references: the reference questions, a list of texts
        base: the score of a pair of questions: "Same question", "ROUGE-L", "BLEU-4" or "METEOR"
    """
    return DEMO.score(generated, references, base)


def settings_of_file(base: str) -> dict:
    """Return the settings for a file."""
    if base not in OF_FILES:
        raise checks.Problem(f"Base metric: a file is scored with {', '.join(OF_FILES)}; METEOR takes minutes.")
    return {"base": BASES[base]}


def base_field(names: list[str], info: str | None = None) -> gr.Radio:
    """Return the choice of a base metric, not rendered yet."""
    return gr.Radio(names, value=DEFAULT, label="Base metric", info=info, render=False)


def results() -> list:
    """Add the tables of matches and the matrix, with its legend."""
    tables, matrix = plain_outputs(2)
    gr.Markdown(MARKS, elem_classes="note")
    return [matrix, tables]


DEMO = Demo(
    __file__,
    "f_meta",
    show,
    score,
    controls=[base_field(list(BASES), f"Scores a pair of questions.{METEOR_NOTE}")],
    results=results,
    file_controls=lambda: [base_field(OF_FILES)],
    settings=settings_of_file,
)

if __name__ == "__main__":
    DEMO.launch()
