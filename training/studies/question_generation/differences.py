"""What each part of this repository's variant gives: short trainings of CVAE 100, each with one thing as printed."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from genqa_metrics.f_meta.bases import PAPER, base_function
from genqa_metrics.f_meta.scoring import statistics
from genqa_metrics.statistics.resampling import bootstrap_counts, interval, resampled_sums

from training.common import markdown_table, option
from training.question_generation.ask import load
from training.question_generation.contexts import read_contexts
from training.studies.harness import Output, Study, digests
from training.studies.question_generation.measures import DIVERSITY, PARTS, diversity

FOLDER = Path(__file__).parent
LATENT = 100
QUESTIONS = 4  # asked about every held-out context
PRINTED = {  # what is as in the paper -> arguments of train_generator.py
    "no free bits": ["--free_bits", "0"],
    "KL annealed by 0.03 a step": ["--kl_steps", "1"],
    "no loss for copies": ["--copies", "False"],
    "context states b alone": ["--skip", "False"],
    "W_o free": ["--output", "free"],
    "attention not scaled": ["--scaled", "False"],
    "first weights between -0.1 and 0.1": ["--init", "0.1"],
}
RUNS = {"variant": [], **PRINTED, "all seven, as printed": [word for words in PRINTED.values() for word in words]}
COLUMNS = {  # measured for every context: name -> title
    "different": "different questions",
    "self_bleu": "self-BLEU",
    "conventional": "ROUGE-L, conventional",
    "precision": "precision",
    "recall": "recall",
}


@dataclass
class Arguments(Output):
    """What is trained, and where it is written."""

    train_dir: str = option("folder of prepare_pairs.py")
    work: str = option("folder of the trained models; a killed run continues there")
    config: str = option("arguments of train_generator.py", str(FOLDER / "free_bits.args"))
    steps: int = option("of every training; in the last third the rate decays", 500)
    seed: int = option("of the trainings and of the questions", 1)
    resamples: int = option("bootstrap samples", 1000)
    use_cpu: bool = option("train on the CPU also where there is another device", False)


def trained(args: Arguments, name: str) -> Path:
    """Return the folder of the trained model of a run; train it if it is not there."""
    from training.question_generation.train_generator import trained as trained_in

    words = ["--config", args.config, "--data_dir", args.train_dir, "--cache", str(Path(args.work) / "cache")]
    words += ["--latent", str(LATENT), "--seed", str(args.seed), "--use_cpu", str(args.use_cpu), "--patience", "0"]
    words += ["--max_steps", str(args.steps), "--eval_strategy", "no", "--save_steps", str(max(args.steps // 4, 1))]
    words += ["--lr_scheduler_type", "warmup_stable_decay"]
    words += ["--lr_scheduler_kwargs", json.dumps({"num_decay_steps": args.steps // 3})]
    return trained_in(Path(args.work) / name.replace(" ", "_").replace(",", ""), words + RUNS[name])


def rows_of(questions: list[list[str]], references: list[list[str]]) -> np.ndarray:
    """Return what is measured of every context: (contexts, columns of `COLUMNS`)."""
    found = dict(zip(DIVERSITY, diversity(questions).T, strict=True))
    found |= dict(zip(PARTS, statistics(questions, references, base_function("rouge", PAPER)).T, strict=True))
    return np.column_stack([found[name] for name in COLUMNS])


def report_of(rows: np.ndarray, resamples: int) -> list[dict]:
    """Return per run of (contexts, runs, columns) the means and, against the first, the differences with intervals."""
    differences = rows - rows[:, :1]
    low, high = interval(resampled_sums(bootstrap_counts(len(rows), resamples, 0), differences) / len(rows), len(rows))
    means, middle = rows.mean(axis=0), differences.mean(axis=0)
    return [
        {
            column: {"mean": round(float(means[run, j]), 5)}
            | ({"difference": [round(float(x[run, j]), 5) for x in (middle, low, high)]} if run else {})
            for j, column in enumerate(COLUMNS)
        }
        for run in range(rows.shape[1])
    ]


def cells_of(report: Mapping[str, Mapping]) -> list[str]:
    """Return a row of `report_of` as cells of a table, in percent.

    >>> change = {"mean": 0.5, "difference": [0.1, 0.05, 0.15]}
    >>> cells_of({column: change for column in COLUMNS})[0]
    '50.0; +10.0 (+5.0, +15.0)'
    """
    cells = []
    for column in COLUMNS:
        value = report[column]
        change = [100 * x for x in value.get("difference", [])]
        cells.append(f"{100 * value['mean']:.1f}" + ("; {:+.1f} ({:+.1f}, {:+.1f})".format(*change) if change else ""))
    return cells


def table(runs: Mapping[str, Mapping]) -> str:
    """Return the runs as Markdown, in percent but for perplexity and nats."""
    titles = ["perplexity", "KL, nats", "active dimensions", *COLUMNS.values()]
    rows = []
    for name, run in runs.items():
        cells = [f"{run['dev']['perplexity']:.1f}", f"{run['dev']['kl']:.1f}", str(run["dev"]["active_dimensions"])]
        rows.append([name, *cells, *cells_of(run["measured"])])
    return markdown_table(["CVAE 100", *titles], rows, "---:")


def measured(folders: Mapping[str, str | Path], contexts: Sequence, seed: int, resamples: int) -> list[dict]:
    """Return what `report_of` says of `QUESTIONS` questions of each generator about every context."""
    texts, references = [c.text for c in contexts], [list(c.references) for c in contexts]
    rows = []
    for name, folder in folders.items():
        print(f"questions of {name}", file=sys.stderr, flush=True)
        asked = load(folder).ask(texts, QUESTIONS, seed, distinct=False, raw=False, no_repeat=0)
        rows.append(rows_of(asked, references))
    return report_of(np.stack(rows, axis=1), resamples)


def study(args: Arguments) -> dict:
    """Train, ask, and return what was measured of every run."""
    folders = {name: trained(args, name) for name in RUNS}
    facts = {name: json.loads((f / "train.json").read_text(encoding="utf-8")) for name, f in folders.items()}
    sources = facts["variant"]["arguments"]["sources"] + facts["variant"]["arguments"]["dev_sources"]
    contexts = read_contexts(sources[-1], args.train_dir)
    reports = dict(zip(RUNS, measured(folders, contexts, args.seed, args.resamples), strict=True))
    return {
        "data": digests(sources, args.train_dir),
        "seed": args.seed,
        "steps": args.steps,
        "contexts": len(contexts),
        "questions": QUESTIONS,
        "runs": {
            name: {"arguments": RUNS[name], "dev": facts[name]["dev"], "measured": report}
            for name, report in reports.items()
        },
    }


STUDY = Study(__spec__.name, Arguments, study, lambda r: table(r["runs"]))

if __name__ == "__main__":
    STUDY.main()
