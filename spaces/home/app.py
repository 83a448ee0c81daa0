"""The front door: type an answer, and see what every metric and the judge say of it, and where each fails."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of common/ in a checkout
from common import events, html, server, uploads
from common.demo import Demo, Result, link_to
from genqa_metrics.core.reading import language_counts, language_warnings
from genqa_metrics.core.scorer import UNSURE_FROM, UNSURE_TO
from genqa_metrics.reports.table import listed
from markupsafe import Markup

METRICS = ["aev", "kpqa", "ava"]
CLOSE = 0.05  # a smaller difference of two scores is a little one
CONTENT = {"alpha": 0.0, "max_order": 1, "wordiness": float("inf"), "reference_recall": "best"}
NOT_ENGLISH = "Note: the texts seem not to be English, so these scores mean little."
SETTINGS = {"ava": {"checkpoint": server.CHECKPOINT}, "aev": CONTENT}
CODE = """
import genqa_metrics

rows = {rows!r}
settings = {settings}
print(genqa_metrics.score(rows, {metrics!r}, settings).to_pandas().T)
"""
# score -> its name, the demo that explains it, and where it fails
SHOWN = {
    "rougeL": ("ROUGE-L", "kpqa", "a wrong fact in the right words; a right one in other words"),
    "bertscore": ("BERTScore", "kpqa", "another name or number in a similar sentence"),
    "aev": (
        "AEv for content",
        "aev",
        "the share of the accepted answer's words; a wrong fact, another order and extra text can pass",
    ),
    "rougeL_kpqa": ("ROUGE-L-KPQA", "kpqa", "a right answer in other words; a negation"),
    "bertscore_kpqa": ("BERTScore-KPQA", "kpqa", "a negation; similar names"),
    "ava_score": ("AVA, the judge", "ava", "long answers and changed conditions; it knows no facts"),
}


def doubt(probability: float) -> str:
    """Return what to add to a verdict of which the judge is unsure; "" for others."""
    return f" (unsure: probability {probability:.2f})" if UNSURE_FROM < probability < UNSURE_TO else ""


def preferred(scores: list[dict]) -> str:
    """Return which scores, but the judge, prefer which of two answers, in sentences."""
    others = [name for name in SHOWN if name != "ava_score"]
    lead = {name: round(round(scores[0][name], 2) - round(scores[1][name], 2), 2) for name in others}  # as shown
    effects = {
        "prefer{s} **A**": [name for name in others if lead[name] >= CLOSE],
        "prefer{s} **B**": [name for name in others if lead[name] <= -CLOSE],
        "see{s} little difference": [name for name in others if abs(lead[name]) < CLOSE],
    }
    clauses = []
    for effect, names in effects.items():
        if names:
            subject = "All other scores" if names == others else listed([SHOWN[name][0] for name in names])
            clauses.append(f"{subject} {effect.format(s='s' * (len(names) == 1))}")
    return f"{', '.join(clauses)}."


def bars_of(scores: list[dict], calls: list[str]) -> Markup:
    """Return a table of the scores of all answers, and of where each score can fail."""
    link = '<a href="{address}" target="_blank" rel="noopener">{name}</a>'
    verdicts = ["✓ right" if call == "right" else "✗ wrong" for call in calls]
    rows = []
    for name, (title, demo, fails) in SHOWN.items():
        after = verdicts if name == "ava_score" else [""] * len(scores)
        numbers = zip((score[name] for score in scores), after, strict=True)
        rows.append((html.fill(link, address=link_to(demo), name=title), fails, list(numbers)))
    return html.scores("score, and where it can fail", ["answer A", "answer B"][: len(scores)], rows)


def show(question: str, references: list[str], *answers: str) -> Result:
    """Return what the page shows for one or two answers."""
    rows = [{"question": question, "prediction": answer, "references": references} for answer in answers if answer]
    table = uploads.scored(events.ignore, rows, METRICS, SETTINGS).to_pandas()
    scores = table[[*SHOWN, "ava_label"]].astype(float).to_dict("records")
    calls = ["right" if score["ava_label"] else "wrong" for score in scores]
    doubts = [doubt(score["ava_score"]) for score in scores]
    verdicts = " and ".join(
        f"**{side} {call}**{unsure}" for side, call, unsure in zip("AB", calls, doubts, strict=False)
    )
    sentences = [f"The judge calls {verdicts}.", preferred(scores) if len(scores) == 2 else ""]
    columns = {"questions": [question] * len(rows), "references": [references] * len(rows)}
    counts = language_counts(columns | {"predictions": [row["prediction"] for row in rows]})
    sentences += [NOT_ENGLISH] * bool(language_warnings(counts))
    bars = bars_of(scores, calls)
    settings = repr(SETTINGS).replace(": inf", ": float('inf')")
    code = html.python(CODE.format(rows=rows, settings=settings, metrics=METRICS))
    return Result({"scores": scores}, sentences, [bars], code)


def score(question: str, references: list[str] | str, answer: str, other_answer: str = "") -> dict:
    """Score one or two answers with every metric and the judge.

    Args:
        question: the question, in English
        references: one accepted answer, or a list of them
        answer: the answer to be scored
        other_answer: another answer, or ""
    """
    return DEMO.score(question, references, answer, other_answer)


DEMO = Demo(__file__, "home", show, score)

if __name__ == "__main__":
    DEMO.launch()
