"""Which base of F-meta agrees with people? Four sets of questions that people have judged.

On one pair: similarity to a reference (SimQG), ratings of 14 systems (QGEval), questions that teachers accepted or not
(quiz design), two questions of one type about one sentence whose variety was rated (QGSTEC 2010).
"""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from genqa_metrics.core.checkpoints import base_encoder
from genqa_metrics.core.scorer import quiet
from genqa_metrics.f_meta.bases import base_function, cosines
from genqa_metrics.f_meta.overlap import words
from genqa_metrics.statistics import correlation as a
from genqa_metrics.statistics.resampling import bootstrap, interval

from training.common import json_rows, option
from training.studies.harness import Output, Study, digests, filled

BERTSCORE_LAYER = 6  # the encoder's last
TITLES = {
    "bleu": "BLEU-4",
    "rouge": "ROUGE-L",
    "meteor": "METEOR 1.5",
    "bertscore": "BERTScore",
    "cosine": "encoder cosine",
    "mean": "mean of ROUGE-L and cosine",
}
SETS = ("simqg.dev", "qgeval.dev", "quiz_design.dev", "qgstec2010.dev")
BASELINE = "rouge"  # that others are compared with
COPY = "reference"  # the "system" of QGEval that repeats the reference; every base gives it the best score


@dataclass
class Arguments(Output):
    """What is checked."""

    data_dir: str = option("folder with the folder question_generation")
    bases: list[str] = option("names in `TITLES`", list(TITLES))
    resamples: int = option("bootstrap samples, of clusters", 2000)
    seed: int = option("of the bootstrap", 0)


@cache
def overlap(name: str) -> Callable:
    """Return BLEU-4, ROUGE-L or METEOR of raw texts."""
    if name != "meteor":
        return base_function(name, {"tokenizer": "word"}).pairs
    pairs = base_function(name).pairs
    return lambda predictions, references: pairs(
        *([" ".join(words(text)) for text in texts] for texts in (predictions, references))
    )


def bertscore(predictions: Sequence[str], references: Sequence[str]) -> np.ndarray:
    """Return BERTScore F of two lists of texts with the bundled encoder's last layer, without idf or rescaling."""
    from bert_score import BERTScorer

    with quiet():
        scorer = BERTScorer(model_type=str(base_encoder()), num_layers=BERTSCORE_LAYER, batch_size=64, device="cpu")
        return scorer.score(list(predictions), list(references))[2].numpy()


def base(name: str) -> Callable:
    """Return one of `TITLES`: from predictions and references, two lists of texts, to (pairs,) scores."""
    if name not in TITLES:
        raise ValueError(f"bases: expected some of {', '.join(TITLES)}, got {name!r}")
    if name == "mean":
        return lambda first, second: (np.asarray(overlap("rouge")(first, second)) + cosines(first, second)) / 2
    return {"bertscore": bertscore, "cosine": cosines}.get(name) or overlap(name)


class Task:
    """One question put to a base: does it agree with people here?

    `kind` is "spearman", the correlation of scores with `human`, or "order", the share of pairs of rows, the even rows
    the better ones, that the scores put in the right order, equal ones counting half. `pairs` are two texts, the
    number of their row, what people say of it (higher is better, or more alike), and what is drawn together in the
    bootstrap. Where a row has several pairs, its score is that of the best one.
    """

    def __init__(self, title: str, kind: str, pairs: Iterable[tuple[str, str, int, float, object]]):
        self.title, self.kind = title, kind
        self.firsts, self.seconds, rows, human, clusters = map(list, zip(*pairs, strict=True))
        self.rows, first = np.array(rows), np.unique(rows, return_index=True)[1]
        self.human, self.clusters = np.array(human, float)[first], pd.factorize(np.array(clusters)[first])[0]

    def scores(self, base: Callable) -> np.ndarray:
        """Return the score of every row."""
        best = np.full(len(self.human), -np.inf)
        np.maximum.at(best, self.rows, np.asarray(base(self.firsts, self.seconds), dtype=float))
        return best


def simqg(rows: Sequence[Mapping]) -> Task:
    """Return the pairs of SimQG with their similarity, clusters are passages."""
    pairs = []
    for i, row in enumerate(rows):
        question, human = row["predictions"]["generated"][0], row["human"]["generated"][0]["similarity"]
        pairs.append((question, row["references"][0], i, human, row["context"]))
    return Task("SimQG: similarity of two questions", "spearman", pairs)


def qgeval(rows: Sequence[Mapping], scale: str | None = None) -> Task:
    """Return QGEval's questions against the reference, with one scale or the mean of all; clusters are passages."""
    rated = [
        (question, row["references"][0], np.mean(list(ratings.values())) if scale is None else ratings[scale], i)
        for i, row in enumerate(rows)
        for system in row["predictions"]
        if system != COPY
        for question, ratings in zip(row["predictions"][system], row["human"][system], strict=True)
    ]
    title = f"QGEval: {'mean of the scales' if scale is None else scale.replace('_', ' ')}"
    return Task(title, "spearman", ((*texts, n, human, i) for n, (*texts, human, i) in enumerate(rated)))


def votes_of(rows: Sequence[Mapping]) -> dict[tuple[str, str], dict[str, list[int]]]:
    """Return (passage, answer) -> question of the quiz design -> whether each teacher accepted it."""
    votes: dict[tuple[str, str], dict[str, list[int]]] = {}
    for row in rows:
        asked = votes.setdefault((row["context"], row["answer"]), {})
        for system, questions in row["predictions"].items():
            for question, human in zip(questions, row["human"][system], strict=True):
                asked.setdefault(question, []).append(human["accept"])
    return votes


def quiz(rows: Sequence[Mapping]) -> Task:
    """Return pairs of a question that teachers accept and one that none does, against others that they accept."""
    pairs, row = [], 0
    for cluster, asked in enumerate(votes_of(rows).values()):
        good = [text for text, accepted in asked.items() if all(accepted)]
        bad = [text for text, accepted in asked.items() if not any(accepted)]
        for right in good:
            others = [text for text in good if text != right]
            for wrong in bad if others else ():
                for text, human in ((right, 1.0), (wrong, 0.0)):
                    pairs += [(text, other, row, human, cluster) for other in others]
                    row += 1
    return Task("Quiz design: accepted before rejected", "order", pairs)


def likeness(rows: Sequence[Mapping]) -> Task:
    """Return two questions of one type by one system with their mean variety, 1 (differ) to 3 (are the same)."""
    pairs = []
    for i, row in enumerate(rows):
        for system, questions in row["predictions"].items():
            kinds, human = row["types"][system], row["human"][system]
            for j, k in combinations(range(len(questions)), 2):
                if kinds[j] == kinds[k]:
                    alike = (human[j]["variety"] + human[k]["variety"]) / 2
                    pairs.append((questions[j], questions[k], len(pairs), alike, i))
    return Task("QGSTEC: likeness of two questions of one type", "spearman", pairs)


def order(scores: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the share of pairs in the right order of every resample: even rows above the odd ones after them.

    >>> order(np.array([0.9, 0.1, 0.2, 0.4, 0.5, 0.5]), np.ones((1, 6))).tolist()
    [0.5]
    """
    right = (np.sign(scores[::2] - scores[1::2]) + 1) / 2
    weights = counts[:, ::2]
    return (weights @ right) / weights.sum(axis=1)


def estimate(value: float, samples: np.ndarray, clusters: int) -> dict:
    """Return a number with its 95% interval."""
    ends = [round(float(end), 4) for end in interval(samples, clusters)]
    return {"value": round(float(value), 4), "interval": None if np.isnan(ends).any() else ends}


def estimates(
    functions: Mapping[str, Callable], clusters: np.ndarray, number: int, seed: int, baseline: str = ""
) -> dict[str, dict]:
    """Return name -> value of a function of (samples, rows) counts, interval, and difference to `baseline`."""
    samples = bootstrap(functions, clusters, number, seed)
    once = {name: function(np.ones((1, len(clusters))))[0] for name, function in functions.items()}
    count, result = int(clusters.max()) + 1, {}
    for name, value in once.items():
        result[name] = estimate(value, samples[name], count)
        if baseline in once and name != baseline:
            change = value - once[baseline], samples[name] - samples[baseline]
            result[name]["difference"] = estimate(*change, count)
    return result


def agreement(scores: Mapping[str, np.ndarray], task: Task, number: int, seed: int) -> dict[str, dict]:
    """Return base -> its agreement with people, with the difference to `BASELINE`."""
    functions = {
        name: partial(order, values) if task.kind == "order" else partial(a.resampled_spearman, values, task.human)
        for name, values in scores.items()
    }
    return estimates(functions, task.clusters, number, seed, BASELINE)


def study(args: Arguments) -> dict:
    """Return how all bases agree with people."""
    folder = Path(args.data_dir, "question_generation")
    rows = {name: list(json_rows(folder / f"{name}.jsonl.gz")) for name in SETS}
    items = {name: base(name) for name in args.bases}
    tasks = [
        simqg(rows["simqg.dev"]),
        likeness(rows["qgstec2010.dev"]),
        quiz(rows["quiz_design.dev"]),
        qgeval(rows["qgeval.dev"]),
        qgeval(rows["qgeval.dev"], "answer_consistency"),
    ]
    of_pairs = {}
    for task in tasks:
        print(f"{task.title}: {len(task.human)} rows, {len(task.rows)} pairs", file=sys.stderr, flush=True)
        scores = {name: task.scores(function) for name, function in items.items()}
        facts = {"rows": len(task.human), "clusters": int(task.clusters.max()) + 1, "kind": task.kind}
        of_pairs[task.title] = facts | {"bases": agreement(scores, task, args.resamples, args.seed)}
    facts = {"bases": args.bases, "resamples": args.resamples, "seed": args.seed, "data": digests(SETS, folder)}
    return facts | {"pairs": of_pairs}


TEXT = filled("question_similarity/people.md.j2", TITLES=TITLES, BASELINE=BASELINE)
STUDY = Study(__spec__.name, Arguments, study, TEXT, {"people": "people"})

if __name__ == "__main__":
    STUDY.main()
