"""Compare judges and simple metrics on every dev set: one command, one table.

The simple metrics are token F1, those of kpqa and the cosine of sentence vectors, on one base encoder and with the
best reference of a row. Scaling and thresholds come for each half of the questions from the other half. A judge has
one threshold for everything; the simple metrics have one for each file, which favours them.
"""

import random
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from genqa_metrics import load
from genqa_metrics.ava.judging import Judge
from genqa_metrics.ava.loading import load_judge
from genqa_metrics.core.checkpoints import checkpoint_digest
from genqa_metrics.f_meta.bases import cosines
from genqa_metrics.statistics.correlation import answer_pairs
from scipy.stats import pearsonr
from sklearn.metrics import roc_auc_score

from training.ava import evaluate_ava as e
from training.ava import triples as t
from training.ava.wrong_answers import occurrence
from training.common import named_rows, option
from training.studies.harness import ExtendableOutput, Study, best_scores, digests, filled

WRITTEN = "written.dev"
BURIED = "written.dev in 400 words"
VERDICTS = (WRITTEN, BURIED, "assistant.dev", *e.BINARY, "financebench.dev", "truthfulqa.dev", "qaeval.dev")
GRADES = (*e.GRADED, "saf_english.dev")
BURIED_WORDS = 400
NAMES = tomllib.loads(Path(__file__).with_name("names.toml").read_text(encoding="utf-8"))  # in tables
COSINE_LENGTH = 512  # word pieces that the cosine reads of a text


def buried_rows(rows: list[dict]) -> Iterator[dict]:
    """Yield the rows with the candidate amid `BURIED_WORDS` about the same subjects, the same text every time.

    They are right answers to other questions of the same domain, then of any, that hold no reference of the row.
    """
    for number, row in enumerate(rows):
        others = [r for r in rows if r["label"] == 1 and r["question"] != row["question"]]
        random.Random(number).shuffle(others)
        others.sort(key=lambda r: r["extra"]["domain"] != row["extra"]["domain"])
        texts, count = {}, len(row["candidate"].split())
        for other in others:
            if other["question"] in texts or occurrence(row["references"], other["candidate"]):
                continue
            texts[other["question"]] = other["candidate"]
            count += len(other["candidate"].split())
            if count >= BURIED_WORDS:
                break
        around = list(texts.values())
        around.insert(len(around) // 2, row["candidate"])
        yield row | {"candidate": "\n".join(around)}


def read(name: str, folders: list[str]) -> list[dict]:
    """Return the rows of a dev set that have a verdict or a grade."""
    rows = list(named_rows("judgments", WRITTEN if name == BURIED else name, folders))
    if name in VERDICTS:
        rows = [row for row in rows if row["label"] is not None]
    return list(buried_rows(rows)) if name == BURIED else rows


def columns(rows: list[dict]) -> tuple[list, list, list]:
    """Return questions, references and candidates."""
    return tuple([row[name] for row in rows] for name in ("question", "references", "candidate"))


def token_f1(references: list[str], candidate: str) -> float:
    """Return the F1 of words as SQuAD counts it, against the best reference.

    >>> round(token_f1(["the cat sat"], "a cat ran"), 3)
    0.5
    """
    counted, *wanted = (Counter(t.normalised(text).split()) for text in (candidate, *references))
    return max((2 * (counted & own).total() / max(1, counted.total() + own.total()) for own in wanted), default=0.0)


def simple_scores(rows: list[dict], kpqa) -> dict[str, np.ndarray]:
    """Return the (rows,) scores of the simple metrics; `kpqa` is the loaded module."""
    questions, references, candidates = columns(rows)
    questions = [question or "What is true?" for question in questions]  # one row of sas_squad.dev has none
    results = kpqa.compute(questions=questions, references=references, predictions=candidates, per_example=True)
    return {
        "token F1": np.array([token_f1(given, c) for given, c in zip(references, candidates, strict=True)]),
        "BERTScore": np.array(results["bertscore_per_example"]),
        "ROUGE-L-KPQA": np.array(results["rougeL_kpqa_per_example"]),
        "embedding cosine": best_scores(partial(cosines, longest=COSINE_LENGTH), candidates, references),
    }


def right_above_wrong(scores: np.ndarray, rows: list[dict]) -> float:
    """Return the share of pairs of a right and a wrong answer to one question in which the right one has more.

    >>> rows = [{"question": "q", "label": 1}, {"question": "q", "label": 0}, {"question": "q", "label": 0}]
    >>> right_above_wrong(np.array([0.5, 0.1, 0.9]), rows)
    0.5
    """
    labels = np.array([row["label"] for row in rows], float)
    right, wrong = answer_pairs([row["question"] for row in rows], None, labels, gap=0)
    return float((np.sign(scores[right] - scores[wrong]) + 1).mean() / 2)


def cross_fitted_accuracy(scores: np.ndarray, labels: np.ndarray, halves: np.ndarray) -> float:
    """Return the accuracy of scores, with the best threshold of the other half of the questions."""
    right = 0
    for own in (0, 1):
        fit, use = halves != own, halves == own
        grid = np.unique(scores[fit])
        best = grid[np.argmax([((scores[fit] >= g) == labels[fit]).mean() for g in grid])]
        right += ((scores[use] >= best) == labels[use]).sum()
    return float(right / len(labels))


def judged(folder: str, sets: dict[str, list[dict]], dtype: str | None) -> tuple:
    """Return a judge, and by set the `Dev`, the cross-fitted probabilities and verdicts, and the seconds."""
    loaded, devs, seconds = load_judge(folder, device="cpu", dtype=dtype), {}, {}
    for name, rows in sets.items():
        start = time.perf_counter()
        devs[name] = e.Dev(rows, Judge(loaded), (loaded.reference_aggregation,))
        seconds[name] = time.perf_counter() - start
    return loaded, devs, e.cross_fitted(devs, loaded.reference_aggregation), seconds


def judge_scores(folder: str, sets: dict[str, list[dict]], dtype: str | None) -> dict:
    """Return all numbers of a judge on the rows of dev sets, with its own `reference_aggregation`."""
    loaded, devs, results, _ = judged(folder, sets, dtype)
    of_sets = {}
    for name, dev in devs.items():
        probabilities, verdicts = results[name]
        if name not in VERDICTS:
            of_sets[name] = {"r": float(pearsonr(probabilities, dev.labels)[0])}
            continue
        of_sets[name] = e.row_scores(probabilities, verdicts, dev.labels)
        if name in (WRITTEN, BURIED):
            of_sets[name]["right_above_wrong"] = right_above_wrong(probabilities, sets[name])
    probabilities, verdicts, labels, systems = e.together(devs, results)
    error = e.system_scores(verdicts, labels, systems)["mean_absolute_error"]
    of_sets["evouna together"] = e.row_scores(probabilities, verdicts, labels) | {"system_error": error}
    settings = e.fitted(devs, loaded.reference_aggregation)
    passed = e.pairs_passed(Judge(replace(loaded, **settings)))
    digest = checkpoint_digest(Path(folder))
    return {"sets": of_sets, "settings": settings, "checkpoint": digest, "minimal_pairs": passed}


def simple_set(name: str, rows: list[dict], kpqa) -> dict[str, dict[str, float]]:
    """Return the numbers of the simple metrics on a dev set."""
    labels, result = np.array([t.truth(row) for row in rows], float), {}
    questions = sorted({row["question"] for row in rows})
    half = {question: e.half(question) for question in questions}
    if len(set(half.values())) == 1:  # they take turns
        half = {question: i % 2 for i, question in enumerate(questions)}
    halves = np.array([half[row["question"]] for row in rows])
    for method, scores in simple_scores(rows, kpqa).items():
        if name in VERDICTS:
            accuracy = cross_fitted_accuracy(scores, labels, halves)
            result[method] = {"accuracy": accuracy, "auc": float(roc_auc_score(labels, scores))}
            if name in (WRITTEN, BURIED):
                result[method]["right_above_wrong"] = right_above_wrong(scores, rows)
        else:
            result[method] = {"r": float(pearsonr(scores, labels)[0])}
    return result


@dataclass
class Arguments(ExtendableOutput):
    """What is measured on what."""

    judgments: list[str] = option("folders of the dev files")
    judges: list[str] = option("NAME=FOLDER of every judge", [])
    sets: list[str] = option(
        "dev sets, for a judge those of EVOUNA at least, which give its scaling; default all", [*VERDICTS, *GRADES]
    )
    simple: bool = option("also the simple metrics", False)
    dtype: str | None = option("floating type of the models; default float32", None)


def study(args: Arguments) -> dict:
    """Return the numbers of all judges and simple metrics."""
    sets = {name: read(name, args.judgments) for name in args.sets}
    data = {name: digests([WRITTEN if name == BURIED else name], args.judgments).popitem()[1] for name in sets}
    kept = args.earlier(data=data)
    judges = (text.partition("=") for text in args.judges)
    results = {name: judge_scores(folder, sets, args.dtype) for name, _, folder in judges}
    kpqa = load("kpqa", progress=False, device="cpu", dtype=args.dtype) if args.simple else None
    for name, rows in sets.items() if args.simple else ():
        for method, scores in simple_set(name, rows, kpqa).items():
            earlier = kept["results"].get(method, {"sets": {}})["sets"]  # they need no scaling from other sets
            results.setdefault(method, {"sets": dict(earlier)})["sets"][name] = scores
    known = {name: value for name, value in kept["results"].items() if name not in results}
    both = sorted([*known.items(), *results.items()], key=lambda item: "checkpoint" not in item[1])  # judges first
    return {"data": kept["data"] | data, "results": dict(both)}


TEXT = filled("judges/judges.md.j2", VERDICTS=VERDICTS, GRADES=GRADES)
STUDY = Study(__spec__.name, Arguments, study, TEXT, {"judges": "judges"})

if __name__ == "__main__":
    STUDY.main()
