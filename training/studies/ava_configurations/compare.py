"""Train every configuration of the paper on the same triples and compare them, as Table 4 of Vu & Moschitti (2021).

Each run is made by `train_ava.py` with the settings of `--config` and stops when dev AUC no longer rises;
an existing one is not made again, so that the command can be stopped and given again. Precision, recall and F1 of
"correct" and AUC are of all AVA-Pos and AVA-Neg of the test parts, without any rule around the model. Models see fewer
incorrect answers in training than there are, so the threshold is the one of the best F1 on dev. Intervals are over
questions and, where there are several, over seeds.
"""

import json
import random
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from genqa_metrics.ava.judging import Judge
from genqa_metrics.ava.loading import load_judge
from genqa_metrics.core.checkpoint_validation import file_digest
from genqa_metrics.core.checkpoints import checkpoint_digest
from genqa_metrics.core.judge_reading import CONFIGURATIONS, LINEAR

from training.ava import triples as t
from training.common import markdown_table, option, train_once
from training.studies.answer_ranking.rankers import reading_encoder
from training.studies.ava_configurations.claims import best_threshold, resampled, summary, verdict
from training.studies.harness import Output, Study, digests

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


@dataclass
class Arguments(Output):
    """What is trained and measured; further words are train_ava.py's and go to every run."""

    as2: str = option("folder of the answer-sentence selection files")
    output: str = option("folder for the checkpoints")
    judgments: str | None = option("folder of the files of human verdicts, for other blocks", None)
    transferred: str | None = option(f"folder of what paper_transfer.args made, for the block {TWO_STEPS!r}", None)
    short_answers: str | None = option(f"folder that short_answers.py wrote, for the block {SHORT!r}", None)
    blocks: list[str] = option("what is learnt from", ["answer sentences"])
    only: list[str] = option("configurations", list(ORDER))
    seeds: list[int] = option("seeds of training", [1])
    encoder: str | None = option("folder or Hub id of the encoder; default: that of KPQA's predictor", None)
    config: str = option("file of train_ava.py's arguments", str(FOLDER / "configurations.args"))
    trained: bool = option("measure finished runs, train none", False)
    kept: str | None = option("npz file of logits: its runs are not made again, others are added", None)
    dtype: str | None = option("floating type when measuring; default float32", None)


def run_folder(args: Arguments, block: str, configuration: str, seed: int) -> Path:
    """Return the folder of a run."""
    return Path(args.output) / block.replace(" ", "_") / configuration / f"seed{seed}"


def chosen(args: Arguments, block: str) -> list[str]:
    """Return the configurations of a block that are asked for."""
    sole = {TWO_STEPS: TRANSFERRED, SHORT: LINEAR}
    return [c for c in ORDER if c in args.only and sole.get(block, c) == c]


def train(args: Arguments, block: str, configuration: str, seed: int) -> None:
    """Make a run unless it exists."""
    as2 = args.short_answers if block == SHORT else args.as2
    where = [
        "--config",
        args.config,
        "--as2_dir",
        as2,
        "--judged_dir",
        args.judgments or ".",
        "--encoder",
        args.encoder,
    ]
    where += ["--start", args.transferred] if block == TWO_STEPS else []
    settings = ["--configuration", configuration, "--seed", str(seed), *BLOCKS[block], *args.more]
    folder, recipe = run_folder(args, block, configuration, seed), file_digest(Path(args.config))
    train_once("ava.train_ava", folder, list(map(str, where)), settings, recipe)


def measured_rows(as2: str) -> dict[str, list[t.Triple]]:
    """Return the triples that are measured on: all of the test parts, and a sample of dev for the threshold.

    The same texts are drawn from files with and without short answers.
    """
    rng = random.Random(0)
    rows = {name: list(t.as2_triples(t.as2_rows(name, as2), None, rng)) for name in (*DEV, *TESTS.values())}
    return rows | {name: random.Random(0).sample(rows[name], min(DEV_ROWS, len(rows[name]))) for name in DEV}


def run_logits(folder: Path, rows: dict[str, list[t.Triple]], dtype: str | None) -> dict[str, np.ndarray]:
    """Return the logits of a run for all rows, from its file if it exists."""
    path, digest = folder / "logits.npz", checkpoint_digest(folder / "final")
    if path.is_file():
        known = np.load(path)
        if str(known["digest"]) == digest:
            return {name: known[name] for name in rows}
    loaded = load_judge(folder / "final", device="cpu", dtype=dtype)
    judge, is_linear = Judge(loaded), loaded.configuration == LINEAR

    def texts(row: t.Triple) -> tuple:
        return row.question, row.references[0], row.candidate, *([row.short_answer] if is_linear else [])

    result = {name: judge.logits([texts(row) for row in own]) for name, own in rows.items()}
    result = {name: logits.astype(np.float16) for name, logits in result.items()}  # as they are kept
    np.savez(path, digest=digest, **result)
    return result


def read_kept(path: str | None, data: dict[str, str]) -> dict[str, dict]:
    """Return "block/configuration/seed" -> logits by part, and `facts`, of runs whose checkpoints may be gone.

    A missing file holds nothing; one whose logits are of other files than `data` is refused.
    """
    if path is None or not Path(path).is_file():
        return {}
    stored = dict(np.load(path))
    known = {name.partition(".jsonl")[0]: digest for name, digest in json.loads(str(stored.pop("digests"))).items()}
    if known != data:
        raise ValueError(f"kept: the logits in {path} are of other files than those in --as2; name another file")
    runs: dict[str, dict] = {}
    for name, values in stored.items():
        run, _, part = name.rpartition("/")
        runs.setdefault(run, {})[part] = json.loads(str(values)) if part == "facts" else values
    return runs


def write_kept(path: str, data: dict[str, str], runs: dict[str, dict]) -> None:
    """Write the logits and facts of runs, so that later ones can be compared with them."""
    values = {
        f"{run}/{part}": json.dumps(value) if part == "facts" else value
        for run, parts in runs.items()
        for part, value in parts.items()
    }
    np.savez_compressed(path, digests=json.dumps(data), **values)


def _cell(values: list[float], form: str = "{:.3f} [{:.3f}, {:.3f}]") -> str:
    return form.format(*values)


def _difference_cells(found: dict[str, list[float]]) -> list[str]:
    return [f"{_cell(found[score], '{:+.3f} [{:+.3f}, {:+.3f}]')} {verdict(found[score])}" for score in ("f1", "auc")]


def tables(blocks: dict[str, dict]) -> str:
    """Return the scores of all blocks, what they say of the paper's claims and what blocks add, as Markdown."""
    parts, first = [], next(iter(blocks))
    for block, result in blocks.items():
        tests = result["tests"]
        head = [title for name in tests for title in (f"{name}: P / R", "F1", "AUC")]
        rows = []
        for configuration in next(iter(tests.values()))["scores"]:
            own = [run for run in result["runs"] if run["configuration"] == configuration]
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
    """Return what is noted of a run: steps, dev scores over them, digest."""
    states = sorted(folder.glob("checkpoint-*/trainer_state.json"), key=lambda path: int(path.parent.name[11:]))
    history = json.loads(states[-1].read_text(encoding="utf-8"))["log_history"] if states else []
    dev = {
        score: [[row["step"], value] for row in history for name, value in row.items() if name.endswith(f"_{score}")]
        for score in ("f1", "auc")
    }
    return {
        "steps": history[-1]["step"] if history else 0,
        "dev": dev,
        "checkpoint": checkpoint_digest(folder / "final"),
    }


def measured(
    args: Arguments,
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
        own = {c: [(logits[part], threshold) for logits, threshold in run] for c, run in runs.items()}
        questions = len({row.question for row in rows[part]})
        tests[name] = {"questions": questions, "triples": len(rows[part])}
        scores = resampled(rows[part], own, 0)
        first = plain.setdefault(name, scores)
        tests[name] |= summary(scores, questions, first, first if block == SHORT else None)
    return {"runs": facts, "tests": tests}


def checked(args: Arguments) -> None:
    """Raise ValueError where an argument is missing that a block needs."""
    to_train = [] if args.trained else args.blocks
    if unknown := [name for name in args.blocks if name not in BLOCKS]:
        raise ValueError(f"--blocks: expected some of {', '.join(BLOCKS)}, got {unknown[0]!r}")
    if unknown := [name for name in args.only if name not in ORDER]:
        raise ValueError(f"--only: expected some of {', '.join(ORDER)}, got {unknown[0]!r}")
    if args.judgments is None and any(BLOCKS[block] for block in to_train):
        raise ValueError("--judgments: blocks with verdicts need the folder of the files of human verdicts")
    if args.transferred is None and TWO_STEPS in to_train:
        raise ValueError(f"--transferred: the block {TWO_STEPS!r} needs the folder of a judge to start from")
    if args.short_answers is None and SHORT in args.blocks:
        raise ValueError(f"--short_answers: the block {SHORT!r} needs the folder that short_answers.py wrote")


def study(args: Arguments, more: list[str]) -> dict:
    """Train what is missing, and return the scores of all blocks."""
    checked(args)
    args.more = more
    if not args.encoder and not args.trained:
        args.encoder = reading_encoder(Path(args.output) / "encoder")
    data = digests(("trecqa.train", "wikiqa.train", *DEV, *TESTS.values()), args.as2)
    kept, rows, blocks, plain = read_kept(args.kept, data), measured_rows(args.as2), {}, {}
    short_rows = measured_rows(args.short_answers) if SHORT in args.blocks else {}
    for name, own in short_rows.items():
        if [replace(row, short_answer=None) for row in own] != [replace(row, short_answer=None) for row in rows[name]]:
            raise ValueError(
                f"--short_answers: {name} has other texts than in --as2; make it again with short_answers.py"
            )
    for block in args.blocks:
        for seed in () if args.trained else args.seeds:
            for configuration in chosen(args, block):
                if f"{block}/{configuration}/{seed}" not in kept:
                    train(args, block, configuration, seed)
        result = measured(args, block, short_rows if block == SHORT else rows, kept, plain)
        if result:
            blocks[block] = result
    if not blocks:
        raise ValueError(f"--trained: no run of {', '.join(args.blocks)} in {args.output}; leave --trained out")
    if args.kept:
        write_kept(args.kept, data, kept)
    settings = Path(args.config).read_text(encoding="utf-8").split() + more
    return {"settings": settings, "data": data, "blocks": blocks}


PLACES = {"configurations": "configurations"}
STUDY = Study(__spec__.name, Arguments, study, lambda r: tables(r["blocks"]), PLACES, more=True)

if __name__ == "__main__":
    STUDY.main()
