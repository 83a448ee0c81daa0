"""Train every configuration of the paper on the same triples and compare them, as Table 4 of Vu & Moschitti (2021).

Each is trained by `train_ava.py` with the settings of `configurations.args` and a seed; a configuration that is there
already is not trained again. Precision, recall and F1 of "correct" at a probability of 1/2, and AUC, on dev rows.
"""

import argparse
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
from genqa_metrics.ava.judging import Judge
from genqa_metrics.ava.loading import load_judge
from genqa_metrics.ava.modeling import CONFIGURATIONS, LINEAR
from genqa_metrics.ava.models import file_digest
from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

from training.ava import triples as t

FOLDER = Path(__file__).parent

JUDGED_DEV = ("evouna_nq.dev", "evouna_tq.dev")
AS2_DEV = ("wikiqa.dev", "trecqa.dev")
MARKS = "<!-- configurations -->", "<!-- end of configurations -->"


def train(configuration: str, args: argparse.Namespace) -> Path:
    """Return the checkpoint of a configuration, trained unless it is there."""
    folder = args.output / configuration / "final"
    if not (folder / "README.md").is_file():
        command = [sys.executable, "-m", "training.ava.train_ava", "--config", FOLDER / "configurations.args"]
        command += ["--configuration", configuration, "--seed", args.seed, "--judged_dir", args.judgments]
        command += ["--as2_dir", args.as2, "--output_dir", args.output / configuration, *args.more]
        subprocess.run([str(word) for word in command], check=True, env=dict(os.environ))
    return folder


def dev_rows(args: argparse.Namespace) -> dict[str, list[t.Triple]]:
    """Return the rows that are measured on: verdicts of people, and AVA-Pos and AVA-Neg of answer sentences."""
    rng = random.Random(0)
    judged = [
        row for name in JUDGED_DEV for row in t.judged_triples(t.read_rows(t.local_file(name, args.judgments)), name)
    ]
    sentences = [row for name in AS2_DEV for row in t.as2_triples(t.as2_rows(name, args.as2), 4, rng)]
    return {
        "verdicts on answers of systems": rng.sample(judged, min(args.rows, len(judged))),
        "answer sentences": rng.sample(sentences, min(args.rows, len(sentences))),
    }


def scores(folder: Path, rows: list[t.Triple]) -> dict[str, float]:
    """Return precision, recall, F1 and AUC of a checkpoint, before any calibration on dev rows."""
    judge = Judge(load_judge(folder))
    columns = [r.question for r in rows], [r.references for r in rows], [r.candidate for r in rows]
    probabilities = judge.probabilities(*columns, "joined")
    labels = np.array([int(row.label) for row in rows])
    precision, recall, f1, _ = precision_recall_fscore_support(
        labels, probabilities >= 0.5, average="binary", zero_division=0
    )
    area = roc_auc_score(labels, probabilities)
    return {"precision": float(precision), "recall": float(recall), "f1": float(f1), "auc": float(area)}


def table(results: dict[str, dict]) -> str:
    """Return the scores of all configurations as Markdown."""
    sets = list(next(iter(results.values())))
    lines = ["| configuration | encoders | " + " | ".join(f"{name}: P / R / F1 | AUC" for name in sets) + " |"]
    lines.append("| --- |" + " --- |" * (1 + 2 * len(sets)))
    for configuration, found in results.items():
        encoders = len(CONFIGURATIONS.get(configuration, ())) * (2 if configuration == "a2" else 1)
        cells = [configuration, str(encoders)]
        for name in sets:
            row = found[name]
            cells += [f"{row['precision']:.3f} / {row['recall']:.3f} / {row['f1']:.3f}", f"{row['auc']:.3f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Train, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--judgments", type=Path, required=True, help="folder of the files of human verdicts")
    parser.add_argument("--as2", type=Path, required=True, help="folder of the answer-sentence selection files")
    parser.add_argument("--output", type=Path, required=True, help="folder for the checkpoints")
    parser.add_argument("--rows", type=int, default=1000, help="dev rows of each kind at most")
    parser.add_argument("--seed", type=int, default=1, help="seed of training")
    parser.add_argument("--only", nargs="+", default=[LINEAR, *CONFIGURATIONS], help="configurations")
    parser.add_argument("--write", type=Path, help=f"Markdown file with {MARKS[0]} marks to write the table into")
    parser.add_argument("--json", type=Path, help="result file")
    args, args.more = parser.parse_known_args()

    rows = dev_rows(args)
    results = {}
    for configuration in args.only:
        folder = train(configuration, args)
        results[configuration] = {name: scores(folder, texts) for name, texts in rows.items()}
        print(configuration, json.dumps(results[configuration]), flush=True)
    text = table(results)
    print(text)
    if args.json:
        files = [t.local_file(name, args.judgments) for name in JUDGED_DEV]
        files += [t.local_file(name, args.as2) for name in AS2_DEV]
        content = {
            "command": "python -m training.ava.compare_configurations",
            "seed": args.seed,
            "rows": {name: len(texts) for name, texts in rows.items()},
            "settings": (FOLDER / "configurations.args").read_text(encoding="utf-8").split(),
            "digests": {path.name: file_digest(path) for path in files},
            "results": results,
        }
        args.json.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    if args.write:
        old = args.write.read_text(encoding="utf-8")
        before, after = old.split(MARKS[0])[0], old.split(MARKS[1])[1]
        args.write.write_text(f"{before}{MARKS[0]}\n\n{text}\n\n{MARKS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
