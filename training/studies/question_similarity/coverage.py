"""How many reference questions does a set ask? F-meta's default base and thresholds are learned and measured here.

NACo has human questions for one answer in a passage: those ask the same, others do not. References are one question of
each of several neighbouring answers; predictions ask for some of these, word for word or as another person does, and
for others, and may repeat themselves. So the number of references that they ask is known.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np
from genqa_metrics.f_meta.bases import Base, same_question_scores
from genqa_metrics.f_meta.scoring import matched, score_matrices

from training.common import json_rows, option
from training.studies.harness import Output, Study, digests, filled
from training.studies.question_similarity.against_people import TITLES as BASES
from training.studies.question_similarity.against_people import base, votes_of

FILES = ("naco_squad", "fairytaleqa.train", "quiz_design.dev")
LEARNED = 500  # rows of NACo, its first two thirds, that weights and thresholds are learned from
SECTIONS = 350  # of FairytaleQA, whose questions with different answers are further pairs of different questions
NEIGHBOURS = 4  # later rows of NACo that a row is paired with
SETS = 250  # of each part
SHARPNESS = 2  # factor of the logits, 1 to 4 were tried on the sets that are learned from: more gains little
TITLES = {"same_question": "whether two questions ask the same (default)"}
TITLES |= {name: BASES[name] for name in ("rouge", "bleu", "cosine", "mean")}
COLUMNS = {  # what is measured: how tables call it
    "recall": "recall, rho",
    "recall_error": "error",
    "covered": "covered, rho",
    "covered_error": "error",
    "one_to_one_error": "error, one to one",
    "any_error": "error, any match",
    "relevant_error": "relevant, error",
    "order": "order by recall",
}


@dataclass
class Arguments(Output):
    """What is measured."""

    data_dir: str = option("folder of naco_squad, fairytaleqa.train and quiz_design.dev")
    seed: int = option("of the sets", 0)


@dataclass(frozen=True)
class Sets:
    """A set of predictions, its references, how many references it asks and how many predictions ask one."""

    predictions: list[str]
    references: list[str]
    asked: int
    relevant: int


def pairs(naco: Sequence[Mapping], fairy: Sequence[Mapping], seed: int) -> Iterator[tuple[str, str, int]]:
    """Yield pairs of questions, 1 if they ask the same."""
    for i, row in enumerate(naco):
        yield from [(*two, 1) for two in combinations(row["references"], 2)]
        yield from [
            (row["references"][0], other["references"][-1], 0)
            for distance, other in enumerate(naco[i + 1 : i + 8], 1)
            if other["context"] == row["context"] or distance <= NEIGHBOURS
        ]
    for row in random.Random(seed).sample(list(fairy), min(SECTIONS, len(fairy))):
        answers = [{text.lower().strip(" .") for text in texts} for texts in row["answers"]]
        for i, j in combinations(range(len(answers)), 2):
            if not answers[i] & answers[j]:
                yield (row["references"][i], row["references"][j], 0)


def one_set(groups: Sequence[Sequence[str]], number: int, copies: float, draw: random.Random) -> Sets:
    """Return a set that asks for `number` of the answers but the last quarter, which only it may ask for.

    `groups` are questions by answer, the first the reference, which is asked with probability `copies`.
    """
    wanted = groups[: len(groups) - len(groups) // 4]
    asked = [texts[0] if draw.random() < copies else draw.choice(texts[1:]) for texts in wanted[:number]]
    others = [draw.choice(texts) for texts in groups[len(wanted) :][: draw.randint(0, len(groups) // 4)]]
    repeated = [draw.choice([*asked[:1], *groups[0]]) for _ in range(draw.choice([0, 0, 1, 2]))]
    return Sets(asked + repeated + others, [texts[0] for texts in wanted], number, len(asked + repeated))


def sets_of(passages: Sequence[Sequence[Sequence[str]]], seed: int) -> tuple[list[Sets], list[Sets]]:
    """Return single sets, and pairs with the same references: copies of some, then others' words for more.

    The first of a pair is at least as large. `passages`: passage -> answer -> questions, neighbours of one article.
    """
    draw, single, double = random.Random(seed), [], []
    passages = [groups for groups in passages if len(groups) >= 6]
    while len(single) < SETS:
        groups = draw.choice(passages)
        size = draw.randint(6, min(18, len(groups)))
        start = draw.randint(0, len(groups) - size)
        groups = draw.sample(groups[start : start + size], size)
        number = size - size // 4
        single.append(one_set(groups, draw.randint(1, number), draw.choice([0, 0.5, 1]), draw))
        fewer, more = sorted(draw.sample(range(1, number + 1), 2))
        copies, words = one_set(groups, fewer, 1, draw), one_set(groups, more, 0, draw)
        missing = len(words.predictions) - len(copies.predictions)
        double += [replace(copies, predictions=copies.predictions + copies.references[:1] * missing), words]
    return single, double


def matrices(sets: Sequence[Sets], base: Callable) -> list[np.ndarray]:
    """Return the scores of all pairs of every set."""
    return score_matrices([s.predictions for s in sets], [s.references for s in sets], Base("", {}, base))


def counted(scores: Sequence[np.ndarray], threshold: float) -> np.ndarray:
    """Return how many references every set asks if a prediction asks the closest one only, the rule of F-meta."""
    return np.array([len(matched(matrix, threshold)) for matrix in scores])


def learned_threshold(scores: Sequence[np.ndarray], sets: Sequence[Sets]) -> float:
    """Return the threshold with the smallest error of the number of references asked."""
    truth = np.array([s.asked for s in sets])
    grid = np.unique(np.quantile(np.concatenate([m.ravel() for m in scores]), np.linspace(0.5, 0.995, 100)).round(2))
    errors = [np.abs(counted(scores, threshold) - truth).mean() for threshold in grid]
    return float(grid[int(np.argmin(errors))])


def in_order(values: np.ndarray) -> float:
    """Return the share of pairs whose second value is higher; equal ones count half.

    >>> in_order(np.array([0.1, 0.2, 0.3, 0.3]))
    0.75
    """
    return float(((np.sign(values[1::2] - values[::2]) + 1) / 2).mean())


def agreement(base: Callable, threshold: float, single: Sequence[Sets], double: Sequence[Sets]) -> dict[str, float]:
    """Return how well recall and counts of a base tell what sets ask, see `COLUMNS`."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching
    from scipy.stats import spearmanr

    of_all = matrices([*single, *double], base)
    scores, of_pairs = of_all[: len(single)], of_all[len(single) :]
    sizes = np.array([len(s.references) for s in single])
    truth = np.array([s.asked for s in single])
    recall = np.array([matrix.max(axis=0).mean() for matrix in scores])
    counts = counted(scores, threshold)
    one_to_one = [(maximum_bipartite_matching(csr_array(m >= threshold)) >= 0).sum() for m in scores]
    any_of_them, relevant = ([(m.max(axis=axis) >= threshold).sum() for m in scores] for axis in (0, 1))
    values = (
        spearmanr(recall, truth / sizes).statistic,
        np.abs(recall - truth / sizes).mean(),
        spearmanr(counts / sizes, truth / sizes).statistic,
        np.abs(counts - truth).mean(),
        np.abs(one_to_one - truth).mean(),
        np.abs(any_of_them - truth).mean(),
        np.abs(relevant - np.array([s.relevant for s in single])).mean(),
        in_order(np.array([matrix.max(axis=0).mean() for matrix in of_pairs])),
    )
    return {name: round(float(value), 4) for name, value in zip(COLUMNS, values, strict=True)}


def measure(args: Arguments) -> dict:
    """Learn weights and thresholds, and return how well they do on other sets."""
    from sklearn.linear_model import LogisticRegression

    data = {name: list(json_rows(Path(args.data_dir) / f"{name}.jsonl.gz")) for name in FILES}
    naco = data["naco_squad"]
    bases = {name: base(name) for name in TITLES if name != "same_question"}
    *texts, labels = zip(*pairs(naco[:LEARNED], data["fairytaleqa.train"], args.seed), strict=True)
    features = np.stack([bases[name](*map(list, texts)) for name in ("rouge", "cosine")], axis=1)
    model = LogisticRegression(C=100, class_weight="balanced").fit(features, labels)
    questions, quizzes = [row["references"] for row in naco], defaultdict(list)
    for (passage, _), asked in votes_of(data["quiz_design.dev"]).items():
        quizzes[passage].append([text for text, votes in asked.items() if all(votes)])  # that teachers accept
    passages = {"learned": [questions[:LEARNED]], "NACo, other passages": [questions[LEARNED:]]}
    passages["Quiz design"] = list(quizzes.values())
    parts = {name: [[t for t in texts if len(t) > 1] for texts in of_part] for name, of_part in passages.items()}
    sets = {name: sets_of(passages, args.seed + number) for number, (name, passages) in enumerate(parts.items())}
    single, _ = sets.pop("learned")

    def same_question(*texts: list[str]) -> np.ndarray:
        return same_question_scores(bases["rouge"](*texts), bases["cosine"](*texts), weights)

    weights = [*model.coef_[0], *model.intercept_]
    even = learned_threshold(matrices(single, same_question), single)
    weights[2] -= np.log(even / (1 - even))  # so that 0.5 is the threshold
    weights = [round(SHARPNESS * float(weight), 2) for weight in weights]
    values = {"same_question": same_question, **bases}
    thresholds = {"same_question": 0.5}
    thresholds |= {name: learned_threshold(matrices(single, base), single) for name, base in bases.items()}
    return {
        "data": digests(FILES, args.data_dir),
        "weights": weights,
        "pairs": len(labels),
        "sets": SETS,
        "thresholds": thresholds,
        "results": {
            part: {name: agreement(base, thresholds[name], *of_part) for name, base in values.items()}
            for part, of_part in sets.items()
        },
    }


TEXT = filled("question_similarity/coverage.md.j2", TITLES=TITLES, COLUMNS=COLUMNS)
STUDY = Study(__spec__.name, Arguments, measure, TEXT, {"coverage": "coverage"})

if __name__ == "__main__":
    STUDY.main()
