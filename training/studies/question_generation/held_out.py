"""How varied and how good the questions of finished generators are on held-out contexts."""

import sys
from dataclasses import dataclass

import numpy as np
from genqa_metrics.core.checkpoints import file_digest
from genqa_metrics.f_meta.bases import PAPER, base_function
from genqa_metrics.f_meta.scoring import statistics

from training.common import option
from training.question_generation.ask import BUNDLED, find, load
from training.question_generation.contexts import read_contexts
from training.question_generation.decoding import generate
from training.resampling import bootstrap, interval
from training.studies.harness import Output, Study, digests, filled
from training.studies.question_generation.measures import DIVERSITY, PARTS, diversity

QUESTIONS = 4  # asked about every context
COLUMNS = {  # measured for every context: name -> title
    "different": "different questions",
    "self_bleu": "self-BLEU",
    "conventional": "ROUGE-L, conventional",
    "precision": "precision",
    "recall": "recall",
}


@dataclass
class Arguments(Output):
    """What is asked about what."""

    data_dir: str = option("folder of the contexts: that of prepare_pairs.py")
    models: list[str] = option("bundled ones, or NAME=FOLDER; the others are compared with the first", list(BUNDLED))
    source: str = option("the contexts and their questions", "sentences.dev")
    seed: int = option("of the questions", 1)
    resamples: int = option("bootstrap samples", 1000)


def rows_of(questions: list[list[str]], references: list[list[str]]) -> np.ndarray:
    """Return (contexts, measures) numbers, with the measures in the order of `COLUMNS`."""
    columns = dict(zip(DIVERSITY, diversity(questions).T, strict=True))
    columns |= dict(zip(PARTS, statistics(questions, references, base_function("rouge", PAPER)).T, strict=True))
    return np.column_stack([columns[name] for name in COLUMNS])


def report_of(rows: np.ndarray, resamples: int) -> list[dict]:
    """Return per model of (contexts, models, columns) the means and, against the first, differences with intervals."""
    differences = rows - rows[:, :1]
    sums = bootstrap({"sums": lambda counts: np.tensordot(counts, differences, 1)}, len(rows), resamples, 0)["sums"]
    low, high = interval(sums / len(rows), len(rows))
    means, middle = rows.mean(axis=0), differences.mean(axis=0)
    report: list[dict] = [{} for _ in means]
    for (model, j), mean in np.ndenumerate(means):
        entry = report[model][[*COLUMNS][j]] = {"mean": round(float(mean), 5)}
        if model:
            entry["difference"] = [round(float(x[model, j]), 5) for x in (middle, low, high)]
    return report


def study(args: Arguments) -> dict:
    """Return the measures of all generators."""
    folders = dict(word.split("=", 1) if "=" in word else (word, word) for word in args.models)
    contexts, rows = read_contexts(args.source, args.data_dir), []
    for name, folder in folders.items():
        print(f"questions of {name}", file=sys.stderr, flush=True)
        asker, texts = load(folder), [context.text for context in contexts]
        asked = generate(asker.model, asker.examples, texts, [QUESTIONS] * len(texts), args.seed)
        rows.append(rows_of(asked, [list(context.references) for context in contexts]))
    return {
        "models": {name: file_digest(find(folder) / "model.safetensors") for name, folder in folders.items()},
        "data": digests([args.source], args.data_dir),
        "seed": args.seed,
        "contexts": len(contexts),
        "questions": QUESTIONS,
        "runs": dict(zip(folders, report_of(np.stack(rows, axis=1), args.resamples), strict=True)),
    }


table = filled("question_generation/held_out.md.j2", COLUMNS=COLUMNS)  # of a result, in percent
STUDY = Study(__spec__.name, Arguments, study, table)

if __name__ == "__main__":
    STUDY.main()
