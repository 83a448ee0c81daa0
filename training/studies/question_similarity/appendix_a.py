"""Appendix A of the paper once more: which reading of sentence BLEU gives its F-BLEU of 0.2867?

One prediction p between two references. All readings that give the printed BLEU of 0.5946 are tried: how 0 matches are
smoothed, which of prediction and reference is the candidate, and whether the references end with a question mark.
"""

import math
import warnings
from collections.abc import Callable, Sequence

from training.studies.harness import Table

PREDICTION = "which event did the 2014 world cup"
REFERENCES = ("who won the 2014 world cup", "which event did germany win in 2014")
PRINTED = {"bleu": (0.5946, 0.2867), "rouge": (0.6240, 0.5987), "meteor": (0.3773, 0.3516)}
MARKS = {"none": (), "second": (1,), "both": (0, 1)}
ORDERS = ("prediction is the candidate", "reference is the candidate", "only in recall", "only in precision")


def smoothings() -> dict[str, Callable[[list[str], str], float]]:
    """Return name -> sentence BLEU-4 of references and a candidate."""
    from genqa_metrics.f_meta.bases import PAPER, base_function
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
    from sacrebleu.metrics import BLEU

    def coco(references: list[str], candidate: str) -> float:
        return float(base_function("bleu", PAPER).multiple([candidate], [references])[0])

    made: dict[str, Callable] = {"COCO's constants (`metrics/f_meta`)": coco}

    def nltk(method: str) -> Callable:
        smooth = getattr(SmoothingFunction(), method)
        return lambda references, candidate: float(
            sentence_bleu([text.split() for text in references], candidate.split(), smoothing_function=smooth)
        )

    names = ("none", "epsilon 0.1", "add 1", "NIST", "by length", "neighbouring orders", "interpolated", "4 and 5")
    for number, name in enumerate(names):
        made[f"NLTK {number}: {name}"] = nltk(f"method{number}")

    def sacre(**settings) -> Callable:
        bleu = BLEU(tokenize="none", **settings)
        return lambda references, candidate: bleu.sentence_score(candidate, references).score / 100

    made["sacrebleu: exp"] = sacre(smooth_method="exp")
    made["sacrebleu: effective order"] = sacre(smooth_method="exp", effective_order=True)
    made["sacrebleu: floor 0.1"] = sacre(smooth_method="floor")
    made["sacrebleu: add 1"] = sacre(smooth_method="add-k")
    return made


def f_of(scores: Sequence[float], exchanged: Sequence[float], order: str) -> float:
    """Return F of one prediction from s(p, r) for both references, as it is and with the two sides exchanged.

    >>> round(f_of([0.4, 0.0], [0.5, 0.0], ORDERS[0]), 4)
    0.2667
    """
    from genqa_metrics.f_meta.scoring import f_score

    of_precision = exchanged if order in (ORDERS[1], ORDERS[3]) else scores
    of_recall = exchanged if order in (ORDERS[1], ORDERS[2]) else scores
    return f_score(max(of_precision), sum(of_recall) / len(of_recall))


def readings() -> list[dict]:
    """Return all readings: `smoothing`, `mark`, `order`, `conventional` and `f`."""
    found = []
    for name, bleu in smoothings().items():
        for mark, places in MARKS.items():
            references = [text + " ?" * (i in places) for i, text in enumerate(REFERENCES)]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # NLTK warns of orders without matches
                conventional = bleu(references, PREDICTION)
                scores = [bleu([text], PREDICTION) for text in references]
                exchanged = [bleu([PREDICTION], text) for text in references]
            for order in ORDERS:
                row = {"smoothing": name, "mark": mark, "order": order, "conventional": conventional}
                found.append({**row, "f": f_of(scores, exchanged, order)})
    return found


def as_printed(value: float, digits: int = 4) -> set[float]:
    """Return a number rounded and cut off after some digits.

    >>> sorted(as_printed(0.37736))
    [0.3773, 0.3774]
    """
    scale = 10**digits
    return {round(value, digits), math.floor(value * scale) / scale}


def table(found: Sequence[dict]) -> str:
    """Return the table of the README: F of every reading, those that are printed in the paper in bold."""
    lines = [
        '| smoothing | "?" | BLEU | F: ' + " | F: ".join(ORDERS) + " |",
        "| --- | --- | ---: |" + " ---: |" * len(ORDERS),
    ]
    target, f_target = PRINTED["bleu"]
    for start in range(0, len(found), len(ORDERS)):
        rows = found[start : start + len(ORDERS)]
        conventional = rows[0]["conventional"]
        same = target in as_printed(conventional)
        cells = [f"**{r['f']:.5f}**" if same and f_target in as_printed(r["f"]) else f"{r['f']:.5f}" for r in rows]
        lines.append(
            f"| {rows[0]['smoothing']} | {rows[0]['mark']} | {conventional:.5f} | " + " | ".join(cells) + " |"
        )
    return "\n".join(lines)


TABLES = [Table("appendix", "", lambda: table(readings()), "training/studies/question_similarity/results/tables.md")]
