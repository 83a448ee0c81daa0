"""What reading fewer layers would save: a head after each layer that settles the verdicts of which it is sure.

    python -m tests.programs.benchmarks.early_exit --data DATA --states FOLDER \
        --write tests/programs/benchmarks/results/benchmarks.md

DATA holds judgments/ and written/. The first vector of the judge after layers 2 to 5 is kept in FOLDER for pairs of
the training and dev sets, which takes most of the time; a set that is there is not read again. A small network per
layer is fitted to the judge's own logits on training pairs. Then, for every choice of layers to leave at, the least
sure value to leave with is sought on the dev sets themselves such that at least 99.5% of the verdicts of each remain:
no honest choice saves more. What is saved is counted in layers and word pieces, heads and smaller batches left out.
"""

import argparse
import itertools
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.programs.benchmarks.contestants import read
from tests.programs.benchmarks.report import table
from training.common import put_between_markers

TRAIN = {"evouna_nq.train": 1700, "evouna_tq.train": 800, "written.train": 1000}  # rows
DEV = {"evouna_nq": 600, "evouna_tq": 120, "written": 600, "sas_nqopen": 400, "beetle": 150}
FEW = 2  # references of a training row
LAYERS, OF = (2, 3, 4, 5), 6
EXITS = ((2,), (3,), (4,), (5,), (3, 5), (3, 4, 5))
QUANTILES = (0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.94, 0.97, 0.985, 0.995)  # of how sure a head is
SAME = 0.995
MARKER = "early exit"


def states(loaded, rows: Sequence[dict], most: int | None = None) -> dict[str, np.ndarray]:
    """Return what the judge holds of every pair that it reads of rows.

    Args:
        loaded: the judge.
        rows: of a file of judgments.
        most: references of a row.

    Returns:
        "logits" (pairs,), "rows" (pairs,) their rows, "read" (pairs,) whether the model read them and no rule decided;
        of those that were read "states" (read, layers, size) and "pieces" (read,), their word pieces.
    """
    import torch
    from genqa_metrics.ava.judging import Judge
    from genqa_metrics.core.batching import CPU_BATCH, budgeted, padded, tensors
    from genqa_metrics.core.judge_reading import encoded

    kept: dict[str, np.ndarray] = {}

    class Traced(Judge):
        def logits(self, triples):
            given = self.loaded
            (column,) = encoded(given.tokenizer, given.configuration, triples, given.max_length, given.marks)
            pieces = [len(inputs["input_ids"]) for inputs in column]
            logits, found = np.zeros(len(triples)), [None] * len(triples)
            for batch in budgeted(pieces, CPU_BATCH):
                with torch.inference_mode():
                    inputs = tensors(padded([column[i] for i in batch]), "cpu")
                    output = given.model(**inputs, output_hidden_states=True)
                logits[batch] = output.logits.reshape(-1).numpy()
                first = torch.stack([output.hidden_states[layer][:, 0] for layer in LAYERS], dim=1).half().numpy()
                for i, vectors in zip(batch, first, strict=True):
                    found[i] = vectors
            kept.update(states=np.array(found), pieces=np.array(pieces), own=logits)
            return np.full(len(triples), np.nan)  # tells them from what a rule decides

    references = [row["references"][:most] for row in rows]
    columns = [row["question"] for row in rows], references, [row["candidate"] for row in rows]
    logits, numbers = Traced(loaded).pairs(*columns, joined=False, best=True)
    read_ones = np.isnan(logits)
    logits[read_ones] = kept.pop("own")
    return kept | {"logits": logits, "rows": numbers, "read": read_ones}


def verdicts(found: dict[str, np.ndarray], above: np.ndarray) -> np.ndarray:
    """Return the rows of which a pair is right, given which of the pairs that were read are above the threshold."""
    right = found["logits"] >= 0
    right[found["read"]] = above
    return np.unique(found["rows"][right])


def left_early(found: dict[str, np.ndarray], heads: Sequence[tuple[int, np.ndarray, float]]) -> tuple[float, float]:
    """Return the share of rows with the same verdict, and the share of layers that is not read.

    Args:
        found: see `states`; logits are above 0 where the verdict is right.
        heads: layer, (read,) what its head says of every pair, and the value from which a pair leaves.
    """
    full = found["logits"][found["read"]] >= 0
    above, left_at = full.copy(), np.full(len(full), OF)
    for layer, says, sure in heads:
        out = (left_at == OF) & (np.abs(says) >= sure)
        above[out], left_at[out] = says[out] >= 0, layer
    different = np.setxor1d(verdicts(found, above), verdicts(found, full)).size
    saved = 1 - (left_at * found["pieces"]).sum() / (OF * found["pieces"].sum())
    return 1 - different / (found["rows"].max() + 1), saved


def best_exits(dev: dict[str, dict], says: dict[int, dict[str, np.ndarray]], layers: Sequence[int]) -> dict:
    """Return the shares that are the same and saved, by set, where most is saved on EVOUNA and verdicts remain."""
    sure = [[*np.quantile(np.abs(np.concatenate(list(says[layer].values()))), QUANTILES), np.inf] for layer in layers]
    best = dict.fromkeys(dev, (1.0, 0.0))
    for chosen in itertools.product(*sure):
        found = {
            name: left_early(one, [(k, says[k][name], value) for k, value in zip(layers, chosen, strict=True)])
            for name, one in dev.items()
        }
        gain, so_far = (sum(of[name][1] for name in ("evouna_nq", "evouna_tq")) for of in (found, best))
        if gain > so_far and min(same for same, _ in found.values()) >= SAME:
            best = found
    return best


def main() -> None:
    """Measure, and write or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with judgments/ and written/")
    parser.add_argument("--states", type=Path, required=True, help="folder for what the judge holds of the pairs")
    parser.add_argument("--write", type=Path, metavar="PAGE.md", help=f"write between its lines {MARKER}; or print")
    arguments = parser.parse_args()

    import torch
    from genqa_metrics.ava.loading import load_judge
    from sklearn.neural_network import MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    torch.set_num_threads(1)
    loaded = load_judge(device="cpu")
    limit = (np.log(loaded.threshold / (1 - loaded.threshold)) - loaded.intercept) / loaded.slope
    arguments.states.mkdir(exist_ok=True)
    found = {}
    for name, count in (TRAIN | {f"{name}.dev": count for name, count in DEV.items()}).items():
        path = arguments.states / f"{name}.npz"
        if not path.exists():
            folder = "written" if name.startswith("written") else "judgments"
            rows = read(arguments.data / folder / f"{name}.jsonl.gz")
            random.Random(0).shuffle(rows)
            np.savez(path, **states(loaded, rows[:count], FEW if name in TRAIN else None))
        found[name] = dict(np.load(path))
        found[name]["logits"] = found[name]["logits"] - limit
    train, dev = [found[name] for name in TRAIN], {name: found[f"{name}.dev"] for name in DEV}
    target = np.clip(np.concatenate([one["logits"][one["read"]] for one in train]), -4, 4)
    says: dict[int, dict[str, np.ndarray]] = {}
    for k, layer in enumerate(LAYERS):
        network = MLPRegressor(hidden_layer_sizes=(128,), alpha=1.0, early_stopping=True, max_iter=60, random_state=0)
        head = make_pipeline(StandardScaler(), network)
        head.fit(np.concatenate([one["states"][:, k] for one in train]).astype(np.float32), target)
        says[layer] = {name: head.predict(one["states"][:, k].astype(np.float32)) for name, one in dev.items()}
    rows = []
    for layers in EXITS:
        best = best_exits(dev, says, layers)
        least = min(same for same, _ in best.values())
        rows.append([", ".join(map(str, layers)), *(f"{saved:.1%}" for _, saved in best.values()), f"{least:.1%}"])
    lines = table(["left after layer", *dev, "same verdict, the worst set"], rows)
    if arguments.write:
        put_between_markers(arguments.write, MARKER, "\n".join(lines))
    else:
        print("\n".join(lines))


if __name__ == "__main__":
    main()
