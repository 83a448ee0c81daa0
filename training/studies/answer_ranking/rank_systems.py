"""Measure how well a judge measures rankers of answers: Table 5 of Vu & Moschitti (2021) on WikiQA and TREC-QA.

P@1, MAP and MRR of rankers come once from the gold labels and once from the judge's. References are the other correct
answers of the question; of several the probabilities are averaged, as in the paper, or the best counts. The threshold
has the least RMSE of P@1 over systems on dev. Questions need a correct and an incorrect answer.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from genqa_metrics.ava.judging import Judge
from genqa_metrics.ava.loading import load_judge
from genqa_metrics.core.checkpoints import file_digest
from genqa_metrics.statistics.resampling import bootstrap_counts

from training import common
from training.ava.ranking import (
    MEASURES,
    Question,
    is_usable,
    questions_of,
    rank_agreement,
    ranking_scores,
    resampled_agreement,
    words,
)
from training.ava.triples import as2_rows
from training.resampling import interval
from training.studies.answer_ranking.rankers import SOURCES, all_rankers
from training.studies.harness import Output, Study, digests, filled, versions

CORPORA = {"TREC-QA": "trecqa", "WikiQA": "wikiqa"}  # name -> NAME.train, NAME.dev, NAME.test in the folder of data
SPLITS = ("dev", "test")
AGGREGATIONS = ("mean", "max")
SAMPLES = 1000  # of questions, for intervals
TITLES = {"p_at_1": "P@1", "map": "MAP", "mrr": "MRR"}

# From (rows,) questions, references and answers to (rows,) probabilities.
Probabilities = Callable[[list[str], list[str], list[str]], Sequence[float]]


@dataclass
class Arguments(Output):
    """The models that are measured, and the data."""

    data_dir: str = common.option("folder of the answer-sentence selection corpora")
    spans_dir: str = common.option("folder of the extractive QA that one ranker learns from first")
    output_dir: str = common.option("folder of the rankers that are trained: trained if they are missing")
    judges: list[str] = common.option("NAME=FOLDER or Hub id of every judge; bundled: the package's", ["bundled"])
    seed: int = common.option("of the rankers and of the samples of questions", 0)
    dtype: str | None = common.option("floating type of the judges; default float32", None)


def references_of(question: Question) -> list[list[str]] | None:
    """Return, by candidate, the correct answers with other words than its own; None if a candidate has none."""
    if not is_usable(question.labels):
        return None
    correct = [text for text, label in zip(question.candidates, question.labels, strict=True) if label]
    references = [[text for text in correct if words(text) != words(candidate)] for candidate in question.candidates]
    return references if all(references) else None


def judged(questions: Sequence[Question], judge: Probabilities) -> dict[str, list]:
    """Return "mean", "max" -> per question its (candidates,) probabilities, or None if it cannot be used."""
    nested = [references_of(question) for question in questions]
    rows = [
        (question.text, reference, candidate)
        for question, lists in zip(questions, nested, strict=True)
        if lists
        for candidate, references in zip(question.candidates, lists, strict=True)
        for reference in references
    ]
    probabilities = iter(judge(*map(list, zip(*rows, strict=True)))) if rows else iter(())
    pairs = [lists and [[next(probabilities) for _ in references] for references in lists] for lists in nested]
    return {
        how: [lists and np.array([getattr(np, how)(probabilities) for probabilities in lists]) for lists in pairs]
        for how in AGGREGATIONS
    }


def best_threshold(tops: np.ndarray, true: np.ndarray) -> float:
    """Return the threshold with the least RMSE of P@1 over systems, half-way between two neighbouring probabilities.

    `tops` are (systems, questions) probabilities of the first answers. Two systems, two questions: between 0.3 and 0.6
    all first answers of one and half of the other's are accepted.

    >>> round(best_threshold(np.array([[0.9, 0.6], [0.8, 0.3]]), np.array([1.0, 0.5])), 3)
    0.45
    """
    ends = np.unique(np.r_[0.0, tops.ravel(), 1.0])
    thresholds = (ends[1:] + ends[:-1]) / 2
    estimated = (tops[None] >= thresholds[:, None, None]).mean(axis=2)
    losses = ((estimated - true) ** 2).mean(axis=1)
    best = thresholds[losses <= losses.min() + 1e-12]
    return float(best[len(best) // 2])


def measured(
    questions: Sequence[Question], orders: dict[str, list], probabilities: list, threshold: float | None, seed: int = 0
) -> dict:
    """Return the true and the estimated measures of rankers, and how near they are, with intervals over questions.

    `orders`: ranker -> question -> candidates, best first. Probabilities None: left out; threshold None: the best.
    """
    used = [i for i, judged in enumerate(probabilities) if judged is not None]
    labels = [np.array(question.labels) for question in questions]

    def scores(of: list) -> np.ndarray:  # (systems, questions, measures)
        each = [[list(ranking_scores([of[i][order[i]]]).values()) for i in used] for order in orders.values()]
        return np.array(each)

    true = scores(labels)
    if threshold is None:
        tops = np.array([[probabilities[i][order[i][0]] for i in used] for order in orders.values()])
        threshold = best_threshold(tops, true[..., 0].mean(axis=1))
    accepted = [None if judged is None else (judged >= threshold).astype(int) for judged in probabilities]
    estimated = scores(accepted)
    judged_right, gold = (np.concatenate([of[i] for i in used]) == 1 for of in (accepted, labels))
    (counts,) = bootstrap_counts(len(used), SAMPLES, seed)
    agreement = {}
    for k, name in enumerate(MEASURES):
        sides = [side[..., k] for side in (estimated, true)]
        agreement[name] = rank_agreement(*(side.mean(axis=1) for side in sides))
        for measure, resampled in resampled_agreement(*(counts @ side.T / len(used) for side in sides)).items():
            agreement[name][f"{measure}_interval"] = [*map(float, interval(resampled, len(used)))]
    return {
        "questions": len(used),
        "answers": len(gold),
        "threshold": threshold,
        "sensitivity": float(judged_right[gold].mean()),
        "specificity": float(1 - judged_right[~gold].mean()),
        "agreement": agreement,
        "systems": {
            name: {
                side: dict(zip(MEASURES, scores_of_side[i].mean(axis=0).tolist(), strict=True))
                for side, scores_of_side in (("true", true), ("estimated", estimated))
            }
            for i, name in enumerate(orders)
        },
    }


def compared(corpora: dict[str, dict[str, list]], rankers: dict, judges: dict[str, Probabilities], seed: int) -> dict:
    """Return, by judge, aggregation of references, corpus and split, what `measured` returns."""
    result = {name: {how: {corpus: {} for corpus in corpora} for how in AGGREGATIONS} for name in judges}
    for corpus, splits in corpora.items():
        for split in SPLITS:
            questions = [question for question in splits[split] if references_of(question)]
            orders = {}
            for name, ranker in rankers.items():
                print(f"{corpus} {split}: {len(questions)} questions, {name}", file=sys.stderr, flush=True)
                orders[name] = [np.argsort(-scores, kind="stable") for scores in ranker(questions, seed)]
            for name, judge in judges.items():
                for how, probabilities in judged(questions, judge).items():
                    measures = result[name][how][corpus]
                    threshold = measures["dev"]["threshold"] if split == "test" else None
                    measures[split] = measured(questions, orders, probabilities, threshold, seed)
    return result


def probabilities_of(loaded) -> Probabilities:
    """Return a function to the calibrated probabilities of a judge's model, without the rules beside it."""

    def judge(*rows):
        triples = list(zip(*rows, strict=True))
        return loaded.calibrated(Judge(loaded).logits(triples))

    return judge


def study(args: Arguments) -> dict:
    """Train the rankers that are missing, and return the measures of all rankers by all judges."""
    loaded = {}
    for name, _, folder in (text.partition("=") for text in args.judges):
        checkpoint = folder or (None if name == "bundled" else name)
        loaded[name] = load_judge(checkpoint, device="cpu", dtype=args.dtype)
    corpora = {
        name: {split: questions_of(as2_rows(f"{corpus}.{split}", args.data_dir)) for split in ("train", *SPLITS)}
        for name, corpus in CORPORA.items()
    }
    training, dev = ([q for splits in corpora.values() for q in splits[split]] for split in ("train", "dev"))
    rankers = all_rankers(training, dev, args.spans_dir, args.output_dir, args.seed)
    judges = {name: probabilities_of(judge) for name, judge in loaded.items()}
    result = compared(corpora, rankers, judges, args.seed)
    models = sorted(Path(args.output_dir).glob("*/model.safetensors"))
    names = [f"{corpus}.{split}" for corpus in CORPORA.values() for split in ("train", *SPLITS)]
    return {
        "seed": args.seed,
        "versions": versions("genqa-metrics", "bm25s", "torch", "transformers"),
        "judges": {name: judge.signature for name, judge in loaded.items()},
        "rankers": {path.parent.name: file_digest(path) for path in models},
        "data": digests(names, args.data_dir) | digests(SOURCES, args.spans_dir),
        "judged": result,
    }


PLACES = {"small_and_base": "small_and_base"}
STUDY = Study(__spec__.name, Arguments, study, filled("answer_ranking/tables.md.j2", TITLES=TITLES), PLACES)

if __name__ == "__main__":
    STUDY.main()
