"""Does a judge notice that a ranker was fitted to the test questions? An experiment of Vu & Moschitti (2021).

`RUNS` is the folder of `rank_systems.py`, whose transferred and adapted cross-encoder is trained further in two ways:

- on one correct answer of every test question, as the paper's reranker. It and the judge, which has that answer as
  reference, each choose one of the answers that neither has seen: how often is it correct?
- on the judge's own verdicts about the answers of the test questions. Its P@1 by the judge's verdicts is compared with
  the P@1 by people's: a judge that does not notice finds it better than it is.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from genqa_metrics.ava.loading import load_judge
from genqa_metrics.statistics.resampling import bootstrap_counts, interval

from training.common import option
from training.studies.answer_ranking import rank_systems
from training.studies.answer_ranking.candidates import Question, words
from training.studies.answer_ranking.rankers import cross_encoder, trained_cross_encoder
from training.studies.harness import Output, Study, digests

EPOCHS = 4.0  # of the training on test questions: enough to know them by heart
SAMPLES = 1000  # of questions, for intervals
TANDA = "tanda"  # folder of the transferred and adapted ranker
FITTED = "fitted_to_answers"  # folder of the ranker that has one correct answer of every test question by heart


def split_answers(question: Question, rng: np.random.Generator) -> tuple[Question, Question]:
    """Return a question with the answers to train on, and with those to choose from.

    Trained on are the first correct answer and every second incorrect one; the others, without those of the same words
    as the first, are chosen from.
    """
    answers = list(zip(question.candidates, question.labels, strict=True))
    first = next(text for text, label in answers if label)
    wrong = [text for text, label in answers if not label]
    seen = {wrong[i] for i in rng.permutation(len(wrong))[::2]}
    rest = [(text, label) for text, label in answers if text not in seen and words(text) != words(first)]
    trained = (first, *sorted(seen))
    return (
        replace(question, candidates=trained, labels=(1, *[0] * len(seen))),
        replace(question, candidates=tuple(t for t, _ in rest), labels=tuple(label for _, label in rest)),
    )


def known_and_unseen(questions: Sequence[Question], seed: int) -> list[tuple[Question, Question]]:
    """Return `split_answers` of the questions that keep a correct and an incorrect answer to choose from."""
    rng = np.random.default_rng(seed)
    halves = [split_answers(question, rng) for question in questions]
    return [(known, unseen) for known, unseen in halves if 0 < sum(unseen.labels) < len(unseen.labels)]


def judge_of_unseen(halves: Sequence[tuple[Question, Question]], judge: Callable) -> list[np.ndarray]:
    """Return the judge's probabilities of the answers to choose from, with the known correct answer as reference."""
    rows = [(unseen.text, known.candidates[0], text) for known, unseen in halves for text in unseen.candidates]
    values = iter(judge(*map(list, zip(*rows, strict=True))))
    return [np.array([next(values) for _ in unseen.candidates]) for _, unseen in halves]


def judged_labels(questions: Sequence[Question], probabilities: list, threshold: float) -> list[Question]:
    """Return the questions with the judge's verdicts in place of people's."""
    return [
        replace(question, labels=tuple(int(value >= threshold) for value in own))
        for question, own in zip(questions, probabilities, strict=True)
    ]


def share(hits: Sequence[float], seed: int) -> list[float]:
    """Return a mean over questions with its interval."""
    (counts,) = bootstrap_counts(len(hits), SAMPLES, seed)
    values = np.asarray(hits, dtype=float)
    return [float(values.mean()), *map(float, interval(counts @ values / len(values), len(values)))]


def chosen(scores: list[np.ndarray], questions: Sequence[Question]) -> list[int]:
    """Return the label of the best answer of every question."""
    return [question.labels[int(np.argmax(own))] for own, question in zip(scores, questions, strict=True)]


def experiment(
    tests: Sequence[Question], dev: Sequence[Question], judge: Callable, folder: Path, seed: int
) -> dict[str, dict]:
    """Return the shares of both parts, with intervals over questions; see the head of this file.

    Test questions without two correct answers are left out; the judge's threshold comes from dev questions.
    """
    tanda = folder / TANDA
    tests, dev = ([q for q in own if rank_systems.references_of(q)] for own in (tests, dev))
    halves = known_and_unseen(tests, seed)
    trained, unseen = (list(own) for own in zip(*halves, strict=True))
    fitted = trained_cross_encoder(trained, folder / FITTED, seed, tanda, EPOCHS)
    values = {
        "judge with the answer as reference": judge_of_unseen(halves, judge),
        "ranker fitted to the answer": cross_encoder(unseen, seed, fitted),
        "the same before": cross_encoder(unseen, seed, tanda),
    }
    hits = {name: chosen(scores, unseen) for name, scores in values.items()}
    difference = np.subtract(hits["judge with the answer as reference"], hits["ranker fitted to the answer"])
    answers = {name: share(own, seed) for name, own in hits.items()}
    answers |= {"by chance": share([np.mean(q.labels) for q in unseen], seed)}
    answers |= {"judge - fitted": share(difference, seed), "questions": len(unseen)}

    judged = rank_systems.judged(dev, judge)["mean"]
    order = cross_encoder(dev, seed, tanda)
    tops = np.array([[own[int(np.argmax(s))] for own, s in zip(judged, order, strict=True)]])
    threshold = rank_systems.best_threshold(tops, np.array([np.mean(chosen(order, dev))]))
    judged = rank_systems.judged(tests, judge)["mean"]
    taught = [q for q in judged_labels(tests, judged, threshold) if 0 < sum(q.labels) < len(q.labels)]
    pupil = trained_cross_encoder(taught, folder / "fitted_to_verdicts", seed, tanda, EPOCHS)
    verdicts: dict[str, object] = {"questions": len(tests), "threshold": threshold}
    for name, model in (("ranker fitted to the judge's verdicts", pupil), ("the same before", tanda)):
        scores = cross_encoder(tests, seed, model)
        true = chosen(scores, tests)
        judged_right = [float(own[int(np.argmax(s))] >= threshold) for own, s in zip(judged, scores, strict=True)]
        sides = {"people": true, "judge": judged_right, "judge - people": np.subtract(judged_right, true)}
        verdicts[name] = {side: share(own, seed) for side, own in sides.items()}
    return {"one answer of every question": answers, "the judge's verdicts": verdicts}


@dataclass
class Arguments(Output):
    """What is fitted to what."""

    data_dir: str = option("folder of the answer-sentence selection files")
    output_dir: str = option("folder of the rankers of rank_systems.py")
    judge: str | None = option("folder or Hub id of the judge; default: bundled", None)
    seed: int = option("of halves and training", 0)
    dtype: str | None = option("floating type of the judge; default float32", None)


def need(folder: str | Path, *names: str) -> None:
    """Raise ValueError where a folder of rankers lacks one of some names."""
    for name in names:
        if not Path(folder, name, "model.safetensors").is_file():
            raise ValueError(f"--output_dir: no ranker {folder}/{name}; run rank_systems.py and overfitted.py first")


def study(args: Arguments) -> dict:
    """Return what `experiment` returns of the test parts."""
    need(args.output_dir, TANDA)
    loaded = load_judge(args.judge, device="cpu", dtype=args.dtype)
    test, dev = (rank_systems.as2_questions(args.data_dir, split) for split in ("test", "dev"))
    judge = rank_systems.probabilities_of(loaded)
    result = experiment(test, dev, judge, Path(args.output_dir), args.seed)
    names = [f"{corpus}.{split}" for corpus in rank_systems.CORPORA.values() for split in ("dev", "test")]
    return result | {"judge": loaded.signature, "seed": args.seed, "data": digests(names, args.data_dir)}


STUDY = Study(__spec__.name, Arguments, study, lambda result: json.dumps(result, indent=2))

if __name__ == "__main__":
    STUDY.main()
