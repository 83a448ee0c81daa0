"""Speed of the bases of F-meta beside pycocoevalcap's scorers called pair by pair, in one run on the same sets.

    python -m tests.programs.benchmarks.bench_f_meta --data qamr.test.jsonl.gz

The odd-numbered questions of a sentence are the predictions and the even-numbered ones the references. F-meta starts
from the texts too: tokens, n-grams and the removal of duplicates are in its time.
"""

import argparse
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from genqa_metrics.f_meta.bases import PAPER, base_function
from genqa_metrics.f_meta.scoring import score_matrices, statistics
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.rouge.rouge import Rouge

from tests.programs.benchmarks.report import facts, timed, write


def question_sets(path: Path) -> tuple[list[list[str]], list[list[str]]]:
    """Return predictions and references, one list of each per sentence.

    pycocoevalcap's ROUGE-L takes two blanks in a row for an empty word, so blanks are made single.
    """
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        sets = [[" ".join(text.split()) for text in json.loads(line)["references"]] for line in lines]
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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="qamr.test.jsonl.gz, or a folder that holds it")
    parser.add_argument("--repeats", type=int, default=3, help="the quickest of so many runs counts")
    parser.add_argument("--output", type=Path, help="write the result here as JSON")
    arguments = parser.parse_args()
    path = arguments.data
    if path.is_dir():
        path = next(iter(sorted(path.rglob("question_generation/qamr.test.jsonl.gz"))), path / "qamr.test.jsonl.gz")
    if not path.is_file():
        raise SystemExit(f"--data: there is no {path}")
    predictions, references = question_sets(path)

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
    seconds, results = dict.fromkeys(runs, float("inf")), {}
    for _ in range(arguments.repeats):
        for name, run in runs.items():
            elapsed, results[name] = timed(run)
            seconds[name] = min(seconds[name], elapsed)

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
    result = {
        "contexts": len(predictions),
        "pairs": sum(len(p) * len(r) for p, r in zip(predictions, references, strict=True)),
        "repeats": arguments.repeats,
        "results": rows,
        **facts([path], ["genqa-metrics", "numpy", "pycocoevalcap", "rapidfuzz"]),
    }
    write(result, arguments.output)


if __name__ == "__main__":
    main()
