"""The front door: type an answer, and see what every metric and the judge say of it, and where each fails."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of common/ in a checkout
from common import checks, html, server, sharing, uploads
from genqa_metrics.reports.table import listed

TITLE = "Only one answer is right. Which metric sees it?"
ABOUT = "Type an answer: ROUGE-L, BERTScore, AEv, KPQA and the judge AVA side by side, and where each of them fails."
METRICS, JUDGED = ("aev", "kpqa", "ava"), ("ava_score", "ava_label")
CONTENT = {"alpha": 0.0, "max_order": 1, "wordiness": float("inf"), "reference_recall": "best"}
SETTINGS = {"ava": {"checkpoint": server.CHECKPOINT}, "aev": CONTENT}
# score -> its name, the demo that explains it, and where it fails
SHOWN = {
    "rougeL": ("ROUGE-L", "kpqa", "a wrong fact in the right words; a right one in other words"),
    "bertscore": ("BERTScore", "kpqa", "another name or number in a similar sentence"),
    "aev": ("AEv, content", "aev", "a wrong fact; right words in any order or amount"),
    "rougeL_kpqa": ("ROUGE-L-KPQA", "kpqa", "a right answer in other words; a negation"),
    "bertscore_kpqa": ("BERTScore-KPQA", "kpqa", "a negation; similar names"),
    "ava_score": ("AVA, the judge", "ava", "long answers and lost conditions; it knows no facts"),
}
DEMO = sharing.Demo(__file__, TITLE, ABOUT)


def scores_of(question: str, answers: list[str], references: list[str]) -> list[dict]:
    """Return {name: value} of every score and the judge's label, for each answer."""
    rows = [{"question": question, "prediction": answer, "references": references} for answer in answers]
    table = uploads.scored(lambda *_: None, rows, METRICS, SETTINGS).to_pandas()
    return [{name: float(table[name][i]) for name in (*SHOWN, JUDGED[1])} for i in range(len(rows))]


def preferred(scores: list[dict]) -> str:
    """Return which scores of words prefer which of two answers, in a sentence."""
    names = {
        side: [SHOWN[name][0] for name in SHOWN if name not in JUDGED and round(scored[name] - other[name], 2) > 0]
        for side, scored, other in (("A", *scores), ("B", *scores[::-1]))
    }
    sentences = [
        f"{listed(liked)} prefer{'s' * (len(liked) == 1)} **{side}**" for side, liked in names.items() if liked
    ]
    return f"{', '.join(sentences)}." if sentences else "Scores of words see no difference."


def page(question: str, references: str, *answers: str) -> list:
    """Return what the page shows for one or two answers."""
    entries = (question, references, *answers)
    question = checks.text("Question", question)
    lines = checks.lines("Accepted answers", references)
    texts = [checks.text("Answer A", answers[0])]
    texts += filter(None, [checks.text("Answer B", answers[1], required=False)])
    scores = scores_of(question, texts, lines)
    calls = ["right" if score["ava_label"] else "wrong" for score in scores]
    verdict = " and ".join(f"**{side} {call}**" for side, call in zip("AB", calls, strict=False))
    headline = f"The judge calls {verdict}."
    status = html.headline(headline, preferred(scores) if len(scores) == 2 else "", DEMO.note(entries))
    bars = html.rendered(__file__, "crossing.html.j2", shown=SHOWN, scores=scores, calls=calls, link=sharing.link_to)
    rows = [{"question": question, "prediction": text, "references": lines} for text in texts]
    code = sharing.python_code(
        "import genqa_metrics\n\nreport = genqa_metrics.score({rows}, {metrics})\nprint(report.to_pandas().T)",
        rows=rows,
        metrics=list(METRICS),
    )
    return [status + DEMO.mark(*entries), bars, code]


def score(question: str, answer: str, references: list[str] | str) -> dict[str, float]:
    """Score an answer with every metric and the judge.

    Args:
        question: the question, in English.
        answer: the answer to be scored.
        references: one accepted answer, or a list of them.
    """
    question, answer = checks.text("question", question), checks.text("answer", answer)
    return scores_of(question, [answer], checks.texts("references", references))[0]


with DEMO.page() as demo:
    fields = [
        sharing.text_box("Question", most=6),
        sharing.text_box("Accepted answers", lines=2, info="One on each line."),
        sharing.text_box("Answer A", most=6),
        sharing.text_box("Answer B", most=6, info="Optional."),
    ]
    DEMO.form("", fields, "Score the answers", page, submit=[fields[0], *fields[2:]])
    server.endpoint(score, "How many legs has an insect?", "Six.", ["An insect has six legs."])

if __name__ == "__main__":
    DEMO.launch()
