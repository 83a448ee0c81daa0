"""Speed of the bases of F-meta beside pycocoevalcap's scorers called pair by pair, in one run on the same sets.

    python -m tests.programs.benchmarks.bench_f_meta --data qamr.test.jsonl.gz

The odd-numbered questions of a sentence are the predictions and the even-numbered ones the references. F-meta starts
from the texts too: tokens, n-grams and the removal of duplicates are in its time.
"""

from collections.abc import Callable

import numpy as np
from genqa_metrics.f_meta.bases import PAPER, base_function
from genqa_metrics.f_meta.scoring import score_matrices, statistics
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.rouge.rouge import Rouge

from tests.programs.benchmarks.report import quickest, speed_or_memory


def question_sets(rows: list[dict]) -> tuple[list[list[str]], list[list[str]]]:
    """Return predictions and references, one list of each per sentence.

    pycocoevalcap's ROUGE-L takes two blanks in a row for an empty word, so blanks are made single.
    """
    sets = [[" ".join(text.split()) for text in row["references"]] for row in rows]
    return [texts[::2] for texts in sets], [texts[1::2] for texts in sets]


def coco_bleu(prediction: str, reference: str) -> float:
    """Return sentence BLEU-4 of one pair."""
    return Bleu(4).compute_score({0: [reference]}, {0: [prediction]}, verbose=0)[1][3][0]


def coco_rouge(prediction: str, reference: str) -> float:
    """Return ROUGE-L of one pair, by the method that scores a data set."""
    return Rouge().compute_score({0: [reference]}, {0: [prediction]})[0]


def coco_rouge_bare(prediction: str, reference: str) -> float:
    """Return ROUGE-L of one pair, by the method below it that only computes."""
    return Rouge().calc_score([prediction], [reference])


def speed(questions: list[dict], repeats: int) -> dict:
    """Return the times of both ways for every peer, and how far apart their results are."""
    predictions, references = question_sets(questions)

    def pair_by_pair(score: Callable[[str, str], float]) -> list[np.ndarray]:
        sets = zip(predictions, references, strict=True)
        return [np.array([[score(p, r) for r in rs] for p in ps]) for ps, rs in sets]

    runs = {}
    for base in ("bleu", "rouge"):
        runs[f"f_meta {base}, pairs"] = lambda base=base: score_matrices(
            predictions, references, base_function(base, PAPER)
        )
        runs[f"f_meta {base}, all four scores"] = lambda base=base: [
            statistics(predictions, references, base_function(base, PAPER))
        ]
    peers = {
        "pycocoevalcap Bleu(4).compute_score": ("bleu", coco_bleu),
        "pycocoevalcap Rouge().compute_score": ("rouge", coco_rouge),
        "pycocoevalcap Rouge().calc_score": ("rouge", coco_rouge_bare),
    }
    for name, (_, score) in peers.items():
        runs[name] = lambda score=score: pair_by_pair(score)
    seconds, results = quickest(runs, repeats)
    rows = []
    for name, (base, _) in peers.items():
        ours = f"f_meta {base}, pairs"
        differences = (np.abs(a - b).max() for a, b in zip(results[ours], results[name], strict=True) if a.size)
        rows.append(
            {
                "peer": name,
                "base": base,
                "peer_seconds": round(seconds[name], 3),
                "f_meta_pairs_seconds": round(seconds[ours], 3),
                "f_meta_all_scores_seconds": round(seconds[f"f_meta {base}, all four scores"], 3),
                "times_as_fast": round(seconds[name] / seconds[ours], 1),
                "times_as_fast_all_scores": round(seconds[name] / seconds[f"f_meta {base}, all four scores"], 1),
                "largest_difference": max(map(float, differences)),
            }
        )
    pairs = sum(len(p) * len(r) for p, r in zip(predictions, references, strict=True))
    return {"contexts": len(predictions), "pairs": pairs, "repeats": repeats, "results": rows}


if __name__ == "__main__":
    speed_or_memory(__doc__, speed, packages=("numpy", "pycocoevalcap", "rapidfuzz"))
