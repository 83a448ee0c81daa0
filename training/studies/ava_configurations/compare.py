"""Train every configuration of the paper on the same triples and compare them, as Table 4 of Vu & Moschitti (2021).

    python -m training.studies.ava_configurations.compare --as2 AS2 --output RUNS --seeds 1 2 3 --write tables.md

Each run is made by `train_ava.py` with the settings of `--config` and stops when dev AUC no longer rises;
an existing one is not made again, so that the command can be stopped and given again. Precision, recall and F1 of
"correct" and AUC are of all AVA-Pos and AVA-Neg of the test parts, without any rule around the model. Models see fewer
incorrect answers in training than there are, so the threshold is the one of the best F1 on dev. Intervals are over
questions and, where there are several, over seeds.
"""

import argparse
import json
import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from genqa_metrics.ava.judging import Judge
from genqa_metrics.ava.loading import load_judge
from genqa_metrics.core.checkpoint_validation import file_digest
from genqa_metrics.core.checkpoints import checkpoint_digest
from genqa_metrics.core.judge_model import CONFIGURATIONS, LINEAR

from training.ava import triples as t
from training.common import around_markers, clocks, command_line, local_file, markdown_table, put_between_markers
from training.studies.answer_ranking.transfer import reading_encoder
from training.studies.ava_configurations.claims import best_threshold, resampled, summary, verdict
from training.studies.harness import Table

FOLDER = Path(__file__).parent
TESTS = {"TREC-QA": "trecqa.test", "WikiQA": "wikiqa.test"}
DEV = ("trecqa.dev", "wikiqa.dev")
DEV_ROWS = 1000  # of each dev part at most, for the threshold
DECISIVE = ("a1-r_qt-t_qr", "a2", "a1-r_qt", "a0-all", "a0-rt")  # decide the paper's claims, so they come first
ORDER = (*DECISIVE, LINEAR, *(name for name in CONFIGURATIONS if name not in DECISIVE))
VERDICTS = ("--judged", "evouna_nq.train=0.3", "evouna_tq.train=0.3", "scientsbank.train", "beetle.train")
TWO_STEPS = "in two steps"
SHORT = "with short answers"
TRANSFERRED = "a1-r_qt"  # the configuration of paper_transfer.args
BLOCKS: dict[str, tuple[str, ...]] = {  # more arguments of train_ava.py
    "answer sentences": (),
    SHORT: (),  # the linear judge alone reads them
    TWO_STEPS: (),  # after paper_transfer.args
    "and verdicts": VERDICTS,
    "and marks": (*VERDICTS, "--marks", "valued"),
}


def run_folder(args: argparse.Namespace, block: str, configuration: str, seed: int) -> Path:
    """Return the folder of a run."""
    return args.output / block.replace(" ", "_") / configuration / f"seed{seed}"


def chosen(args: argparse.Namespace, block: str) -> list[str]:
    """Return the configurations of a block that are asked for."""
    sole = {TWO_STEPS: TRANSFERRED, SHORT: LINEAR}
    return [c for c in ORDER if c in args.only and sole.get(block, c) == c]


def train(args: argparse.Namespace, block: str, configuration: str, seed: int) -> None:
    """Make a run unless it exists, and note how long it took on the clock and on cores."""
    folder = run_folder(args, block, configuration, seed)
    if (folder / "final/README.md").is_file():
        return
    command = [sys.executable, "-m", "training.ava.train_ava", "--config", args.config]
    as2 = args.short_answers if block == SHORT else args.as2
    command += ["--configuration", configuration, "--seed", seed, "--as2_dir", as2, "--output_dir", folder]
    command += ["--judged_dir", args.judgments or ".", "--encoder", args.encoder, *BLOCKS[block], *args.more]
    command += ["--start", args.transferred] if block == TWO_STEPS else []
    before, noted = clocks(), folder / "seconds.json"
    seconds = json.loads(noted.read_text(encoding="utf-8")) if noted.is_file() else {}
    try:
        subprocess.run([str(word) for word in command], check=True, env=dict(os.environ))
    finally:
        folder.mkdir(parents=True, exist_ok=True)
        seconds = {name: seconds.get(name, 0.0) + value - before[name] for name, value in clocks().items()}
        noted.write_text(json.dumps(seconds), encoding="utf-8")


def measured_rows(as2: Path) -> dict[str, list[t.Triple]]:
    """Return the triples that are measured on: all of the test parts, and a sample of dev for the threshold.

    The same texts are drawn from files with and without short answers.
    """
    rng = random.Random(0)
    rows = {name: list(t.as2_triples(t.as2_rows(name, as2), None, rng)) for name in (*DEV, *TESTS.values())}
    return rows | {name: random.Random(0).sample(rows[name], min(DEV_ROWS, len(rows[name]))) for name in DEV}


def run_logits(folder: Path, rows: dict[str, list[t.Triple]], dtype: str | None) -> dict[str, np.ndarray]:
    """Return the logits of a run for all rows, from its file if it exists.

    Args:
        folder: of the run.
        rows: name -> triples.
        dtype: floating type of the model.
    """
    path, digest = folder / "logits.npz", checkpoint_digest(folder / "final")
    if path.is_file():
        known = np.load(path)
        if str(known["digest"]) == digest:
            return {name: known[name] for name in rows}
    loaded = load_judge(folder / "final", device="cpu", dtype=dtype)
    judge, is_linear = Judge(loaded), loaded.configuration == LINEAR

    def texts(row: t.Triple) -> tuple:
        return row.question, row.references[0], row.candidate, *([row.short_answer] if is_linear else [])

    found = {name: judge.logits([texts(row) for row in own]) for name, own in rows.items()}
    found = {name: logits.astype(np.float16) for name, logits in found.items()}  # as they are kept
    np.savez(path, digest=digest, **found)
    return found


def read_kept(path: Path | None, digests: dict[str, str]) -> dict[str, dict]:
    """Return "block/configuration/seed" -> logits by part, and `facts`, of runs whose checkpoints may be gone.

    Args:
        path: file that `write_kept` wrote; None or a missing one holds nothing.
        digests: of the files that are measured on now.

    Raises:
        ValueError: if the logits are of other files.
    """
    if path is None or not path.is_file():
        return {}
    stored = dict(np.load(path))
    if json.loads(str(stored.pop("digests"))) != digests:
        raise ValueError(f"kept: the logits in {path} are of other files than those in --as2; name another file")
    runs: dict[str, dict] = {}
    for name, values in stored.items():
        run, _, part = name.rpartition("/")
        runs.setdefault(run, {})[part] = json.loads(str(values)) if part == "facts" else values
    return runs


def write_kept(path: Path, digests: dict[str, str], runs: dict[str, dict]) -> None:
    """Write the logits and facts of runs, so that later ones can be compared with them."""
    values = {
        f"{run}/{part}": json.dumps(value) if part == "facts" else value
        for run, parts in runs.items()
        for part, value in parts.items()
    }
    np.savez_compressed(path, digests=json.dumps(digests), **values)


def _cell(values: list[float], form: str = "{:.3f} [{:.3f}, {:.3f}]") -> str:
    return form.format(*values)


def _difference_cells(found: dict[str, list[float]]) -> list[str]:
    return [f"{_cell(found[score], '{:+.3f} [{:+.3f}, {:+.3f}]')} {verdict(found[score])}" for score in ("f1", "auc")]


def tables(blocks: dict[str, dict]) -> str:
    """Return the scores of all blocks, what they say of the paper's claims and what blocks add, as Markdown."""
    parts, first = [], next(iter(blocks))
    for block, found in blocks.items():
        tests = found["tests"]
        head = [title for name in tests for title in (f"{name}: P / R", "F1", "AUC")]
        rows = []
        for configuration in next(iter(tests.values()))["scores"]:
            own = [run for run in found["runs"] if run["configuration"] == configuration]
            encoders = len(CONFIGURATIONS.get(configuration, ())) * (2 if configuration == "a2" else 1)
            cells = [configuration, str(encoders), str(len(own)), ", ".join(str(run["steps"]) for run in own)]
            best = [max(value for _, value in run["dev"]["auc"]) for run in own if run["dev"]["auc"]]
            cells.append(f"{np.mean(best):.3f}" if best else "")
            for test in tests.values():
                values = test["scores"][configuration]
                cells.append(f"{values['precision'][0]:.3f} / {values['recall'][0]:.3f}")
                cells += [_cell(values["f1"]), _cell(values["auc"])]
            rows.append(cells)
        parts.append(markdown_table([block, "encoders", "seeds", "steps", "best dev AUC", *head], rows))
        rows = []
        for i, claim in enumerate(next(iter(tests.values()))["claims"]):
            cells = [claim["claim"], f"{claim['better']} - {claim['worse']}"]
            rows.append([*cells, *(cell for test in tests.values() for cell in _difference_cells(test["claims"][i]))])
        for configuration in next(iter(tests.values()))["added"]:
            cells = [f'(not the paper\'s) above the block "{first}"', configuration]
            cells += [cell for test in tests.values() for cell in _difference_cells(test["added"][configuration])]
            rows.append(cells)
        head = [title for name in tests for title in (f"{name}: F1", "AUC")]
        if rows:
            parts.append(markdown_table(["what the paper says", f"{block}:", *head], rows))
    return "\n\n".join(parts)


def run_facts(folder: Path) -> dict:
    """Return what is noted of a run: steps, dev scores over them, hours on the clock and on cores, digest."""
    states = sorted(folder.glob("checkpoint-*/trainer_state.json"), key=lambda path: int(path.parent.name[11:]))
    history = json.loads(states[-1].read_text(encoding="utf-8"))["log_history"] if states else []
    dev = {
        score: [[row["step"], value] for row in history for name, value in row.items() if name.endswith(f"_{score}")]
        for score in ("f1", "auc")
    }
    seconds = json.loads((folder / "seconds.json").read_text(encoding="utf-8"))
    return {
        "steps": history[-1]["step"] if history else 0,
        "dev": dev,
        "hours": {name: round(value / 3600, 3) for name, value in seconds.items()},
        "checkpoint": checkpoint_digest(folder / "final"),
    }


def measured(
    args: argparse.Namespace,
    block: str,
    rows: dict[str, list[t.Triple]],
    kept: dict[str, dict],
    plain: dict[str, dict[str, np.ndarray]],
) -> dict | None:
    """Return runs, scores and claims of a block; None if it has no run yet.

    What is measured is added to `kept`, and to `plain` by test if no block is there that this one is compared with.
    """
    runs, facts = {}, []
    for configuration in chosen(args, block):
        for seed in args.seeds:
            folder, name = run_folder(args, block, configuration, seed), f"{block}/{configuration}/{seed}"
            if (folder / "final/README.md").is_file():
                kept[name] = {**run_logits(folder, rows, args.dtype), "facts": run_facts(folder)}
            if name not in kept:
                continue
            logits = kept[name]
            dev = np.concatenate([logits[part] for part in DEV])
            threshold = best_threshold(dev, np.array([int(row.label) for part in DEV for row in rows[part]]))
            runs.setdefault(configuration, []).append((logits, threshold))
            facts.append({"configuration": configuration, "seed": seed, "threshold": threshold} | logits["facts"])
    if not runs:
        return None
    runs = {name: runs[name] for name in (LINEAR, *CONFIGURATIONS) if name in runs}
    tests = {}
    for name, part in TESTS.items():
        own = {c: [(logits[part], threshold) for logits, threshold in found] for c, found in runs.items()}
        questions = len({row.question for row in rows[part]})
        tests[name] = {"questions": questions, "triples": len(rows[part])}
        scores = resampled(rows[part], own, 0)
        first = plain.setdefault(name, scores)
        tests[name] |= summary(scores, questions, first, first if block == SHORT else None)
    return {"runs": facts, "tests": tests}


def main() -> None:
    """Train what is missing, measure, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--as2", type=Path, required=True, help="folder of the answer-sentence selection files")
    parser.add_argument("--judgments", type=Path, help="folder of the files of human verdicts, for other blocks")
    parser.add_argument(
        "--transferred", type=Path, help=f"folder of what paper_transfer.args made, for the block {TWO_STEPS!r}"
    )
    parser.add_argument(
        "--short_answers", type=Path, help=f"folder that short_answers.py wrote, for the block {SHORT!r}"
    )
    parser.add_argument("--output", type=Path, required=True, help="folder for the checkpoints")
    parser.add_argument(
        "--blocks", nargs="+", default=["answer sentences"], choices=BLOCKS, help="what is learnt from"
    )
    parser.add_argument("--only", nargs="+", default=ORDER, choices=ORDER, metavar="CONFIGURATION")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1], help="seeds of training")
    parser.add_argument("--encoder", help="folder or Hub id of the encoder; default: that of KPQA's predictor")
    parser.add_argument(
        "--config", type=Path, default=FOLDER / "configurations.args", help="file of train_ava.py's arguments"
    )
    parser.add_argument("--trained", action="store_true", help="measure finished runs, train none")
    parser.add_argument("--kept", type=Path, help="npz file of logits: its runs are not made again, others are added")
    parser.add_argument("--dtype", help="floating type when measuring; default float32")
    parser.add_argument("--write", type=Path, help="file with <!-- PLACE --> marks, for the tables")
    parser.add_argument("--place", default="configurations", help="name of the marks")
    parser.add_argument("--json", type=Path, help="result file")
    args, args.more = parser.parse_known_args()
    to_train = [] if args.trained else args.blocks
    if args.judgments is None and any(BLOCKS[block] for block in to_train):
        parser.error("--judgments: blocks with verdicts need the folder of the files of human verdicts")
    if args.write:
        around_markers(args.write, args.place)  # a wrong page fails before the work
    if args.transferred is None and TWO_STEPS in to_train:
        parser.error(f"--transferred: the block {TWO_STEPS!r} needs the folder of a judge to start from")

    if args.short_answers is None and SHORT in args.blocks:
        parser.error(f"--short_answers: the block {SHORT!r} needs the folder that short_answers.py wrote")

    if not args.encoder and to_train:
        args.encoder = reading_encoder(args.output / "encoder")
    files = [local_file(name, args.as2) for name in ("trecqa.train", "wikiqa.train", *DEV, *TESTS.values())]
    digests = {path.name: file_digest(path) for path in files}
    kept = read_kept(args.kept, digests)
    rows, blocks, plain = measured_rows(args.as2), {}, {}
    short_rows = measured_rows(args.short_answers) if SHORT in args.blocks else {}
    for name, own in short_rows.items():
        if [replace(row, short_answer=None) for row in own] != [replace(row, short_answer=None) for row in rows[name]]:
            parser.error(f"--short_answers: {name} has other texts than in --as2; make it again with short_answers.py")
    for block in args.blocks:
        for seed in args.seeds if to_train else []:
            for configuration in chosen(args, block):
                if f"{block}/{configuration}/{seed}" not in kept:
                    train(args, block, configuration, seed)
        found = measured(args, block, short_rows if block == SHORT else rows, kept, plain)
        if found:
            blocks[block] = found
    if not blocks:
        parser.error(f"--trained: no run of {', '.join(args.blocks)} in {args.output}; leave --trained out")
    if args.kept:
        write_kept(args.kept, digests, kept)
    text = tables(blocks)
    print(text)
    if args.json:
        content = {
            "command": command_line("training.studies.ava_configurations.compare", sys.argv[1:]),
            "settings": args.config.read_text(encoding="utf-8").split() + args.more,
            "digests": digests,
            "blocks": blocks,
        }
        args.json.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    if args.write:
        put_between_markers(args.write, args.place, text)


TABLES = [
    Table("configurations", "studies/ava_configurations/results/configurations", lambda r: tables(r["blocks"])),
]


if __name__ == "__main__":
    main()
