"""Do the bases under F-meta agree with people? QGEval's ratings of 14 systems, and NACo's good and bad questions."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from genqa_metrics.f_meta.overlap import words
from genqa_metrics.f_meta.scoring import score_matrices
from genqa_metrics.statistics import correlation as a
from genqa_metrics.statistics.resampling import bootstrap, interval

from training.common import json_rows, markdown_table, option
from training.studies.harness import Output, Study, digests
from training.studies.question_generation.measures import BASES, base_of

COPY = "reference"  # the "system" of QGEval that repeats the reference; every base gives it the best score


@dataclass
class Arguments(Output):
    """What is checked."""

    data_dir: str = option("folder of qgeval.dev, naco_squad and naco_hotpotqa.dev")
    bases: list[str] = option("bases of study.py", ["meteor", "rouge", "bleu", "cosine"])
    resamples: int = option("bootstrap samples, of contexts", 2000)


def read(folder: str, name: str) -> list[dict]:
    """Return the rows of NAME.jsonl.gz."""
    return list(json_rows(Path(folder) / f"{name}.jsonl.gz"))


def plain(text: str) -> str:
    """Return a raw text as lower-case tokens with blanks between them.

    >>> plain("Who won?")
    'who won ?'
    """
    return " ".join(words(text))


def best_scores(base, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> np.ndarray:
    """Return the score of every prediction with its best reference."""
    sets = [[plain(text)] for text in predictions]
    matrices = score_matrices(sets, [[plain(text) for text in texts] for texts in references], base)
    return np.array([matrix.max() for matrix in matrices])


def rated(rows: Sequence[Mapping]) -> tuple[list[str], list[list[str]], np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Return the rated questions of QGEval without the copy of the reference.

    With their references, (n,) numbers of their contexts and of their systems, and scale -> (n,) ratings.
    """
    systems = sorted({name for row in rows for name in row["predictions"]} - {COPY})
    found = [
        (question, row["references"], i, systems.index(system), ratings)
        for i, row in enumerate(rows)
        for system in row["predictions"]
        if system != COPY
        for question, ratings in zip(row["predictions"][system], row["human"][system], strict=True)
    ]
    questions, references, contexts, numbers, ratings = zip(*found, strict=True)
    scales = {name: np.array([r[name] for r in ratings], dtype=float) for name in ratings[0]}
    return list(questions), list(references), np.array(contexts), np.array(numbers), scales


def estimate(value: float, samples: np.ndarray, contexts: int) -> dict:
    """Return a number with its 95% interval."""
    ends = [round(float(x), 4) for x in interval(samples, contexts)]
    return {"value": round(float(value), 4), "interval": None if np.isnan(ends).any() else ends}


def estimates(functions: Mapping[str, Callable], contexts: np.ndarray, number: int, seed: int = 0) -> dict[str, dict]:
    """Return name -> the value of a function of (samples, n) counts of rows, with its interval over contexts."""
    samples = bootstrap(functions, contexts, number, seed)
    once, clusters = np.ones((1, len(contexts))), int(contexts.max()) + 1
    return {name: estimate(function(once)[0], samples[name], clusters) for name, function in functions.items()}


def correlations(
    scores: np.ndarray, human: np.ndarray, contexts: np.ndarray, systems: np.ndarray, number: int
) -> dict:
    """Return how (n,) scores and ratings agree, with intervals of resampled contexts.

    "pearson" and "spearman" are over questions, "systems" is Spearman's rho of the systems' means.
    """
    one_hot = np.eye(systems.max() + 1)[systems]

    def of_systems(counts: np.ndarray) -> np.ndarray:
        total = counts @ one_hot
        means = ((counts * scores) @ one_hot / total, (counts * human) @ one_hot / total)
        return np.array([a.spearman(x, y) for x, y in zip(*means, strict=True)])

    functions = {
        "pearson": lambda counts: a.resampled_pearson(scores, human, counts),
        "spearman": lambda counts: a.resampled_spearman(scores, human, counts),
        "systems": of_systems,
    }
    return estimates(functions, contexts, number)


def pairs_of(rows: Sequence[Mapping], kind: str | None) -> tuple[list[str], list[list[str]], np.ndarray, np.ndarray]:
    """Return human questions against the other human questions of their context, and bad questions against the same.

    Bad ones are those of a kind in `predictions`, or a human question of the next context. The last two parts are (n,)
    booleans (a human question of this context) and (n,) numbers of the contexts.
    """
    rows = [row for row in rows if len(row["references"]) > 1]
    found = []
    for i, row in enumerate(rows):
        texts = row["references"]
        bad = rows[(i + 1) % len(rows)]["references"][0] if kind is None else row["predictions"][kind][0]
        for j, text in enumerate(texts):
            others = texts[:j] + texts[j + 1 :]
            found += [(text, others, True, i), (bad, others, False, i)]
    questions, references, human, contexts = zip(*found, strict=True)
    return list(questions), list(references), np.array(human), np.array(contexts)


def separation(scores: np.ndarray, human: np.ndarray, contexts: np.ndarray, number: int) -> dict:
    """Return the area under the ROC curve of human against bad questions, and the mean score of the human ones."""
    functions = {
        "auc": lambda counts: a.resampled_auc(scores, human, counts),
        "human_mean": lambda counts: (counts @ (scores * human)) / (counts @ human),
        "bad_mean": lambda counts: (counts @ (scores * ~human)) / (counts @ ~human),
    }
    return estimates(functions, contexts, number)


def shown(entry: Mapping, digits: int = 3) -> str:
    """Return a number with its interval as text."""
    value, *ends = (f"{number:.{digits}f}" for number in (entry["value"], *(entry["interval"] or ())))
    return f"{value} ({', '.join(ends)})" if ends else value


def tables(results: Mapping) -> str:
    """Return the three tables of the README."""
    bases = list(results["bases"])
    header, parts = [BASES[base] for base in bases], []
    for kind, text in (
        ("spearman", "Spearman's rho over questions"),
        ("pearson", "Pearson's r over questions"),
        ("systems", "Spearman's rho over the means of the systems"),
    ):
        found = results["qgeval"]
        rows = [[scale, *(shown(found[b][scale][kind]) for b in bases)] for scale in found[bases[0]]]
        parts += [f"{text}:", markdown_table(["QGEval, scale", *header], rows, "---:")]
    found = results["naco"]
    rows = [[name, *(shown(found[b][name]["auc"]) for b in bases)] for name in found[bases[0]]]
    parts.append("Area under the ROC curve of human questions against others:")
    return "\n\n".join([*parts, markdown_table(["NACo", *header], rows, "---:")])


def study(args: Arguments) -> dict:
    """Return how bases agree with QGEval's ratings, and whether they tell NACo's questions apart."""
    bases = {name: base_of(name) for name in args.bases}
    names = ("qgeval.dev", "naco_squad", "naco_hotpotqa.dev")
    qgeval, squad, hotpot = (read(args.data_dir, name) for name in names)
    questions, references, contexts, systems, scales = rated(qgeval)
    sets = {"SQuAD: question of another context": pairs_of(squad, None)}
    sets |= {f"HotpotQA: {kind}": pairs_of(hotpot, kind) for kind in hotpot[0]["predictions"]}
    of_scales, of_sets = {}, {}
    for name, base in bases.items():
        print(f"checking {name}", file=sys.stderr, flush=True)
        scores = best_scores(base, questions, references)
        of_scales[name] = {
            scale: correlations(scores, ratings, contexts, systems, args.resamples)
            for scale, ratings in scales.items()
        }
        of_sets[name] = {
            label: separation(best_scores(base, texts, others), human, rows, args.resamples)
            for label, (texts, others, human, rows) in sets.items()
        }
    facts = {"bases": args.bases, "questions": len(questions), "systems": int(systems.max()) + 1}
    facts |= {"resamples": args.resamples, "data": digests(names, args.data_dir)}
    return facts | {"qgeval": of_scales, "naco": of_sets}


STUDY = Study(__spec__.name, Arguments, study, tables, {"bases": "bases"})

if __name__ == "__main__":
    STUDY.main()
