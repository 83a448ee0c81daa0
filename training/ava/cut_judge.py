"""Cut a judge that reads prompts at the layer where its verdict is made, with a linear head on that layer.

    python -m training.ava.cut_judge --config training/ava/cut.args --model MODEL.gguf --adapter JUDGE --output CUT

1. Training rows are read once by the whole judge; the vectors of their last tokens behind each of the layers are kept.
2. A ridge regression on these vectors, one a layer, is fitted to the logits of the whole judge.
3. The same is measured on dev rows: correlation with the whole judge's logits, and AUC of both by set.
4. The adapter of the first `keep` layers is written with that head. `train_large.py --start` trains it further.
"""

import json
import math
import random
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from genqa_metrics.core.checkpoints import file_digest, read_json
from genqa_metrics.core.judge_model import SETTINGS_FILE
from genqa_metrics.core.prompt_engine import Pack, PromptEngine, packed

from training.ava.train_large import groups, prompts_of, write_checkpoint
from training.common import command_line, json_rows, markdown_table, named_file, option, write_json
from training.publish.prompt_graph import write_graphs

PACK_TOKENS = 1024
PENALTIES = 10.0 ** np.arange(0, 7)  # of the ridge regression, chosen by leave-one-out


@dataclass
class Arguments:
    """Which judge is cut behind which layer, and the rows that its head is fitted to and measured on."""

    model: str = option("GGUF file of the base model")
    adapter: str = option("folder of the judge")
    output: str = option("folder of the cut judge")
    layers: list[int] = option("numbers of layers to look at", [16, 18, 20])
    keep: int | None = option("number of layers that the cut judge has; none is written without it", None)
    train: list[str] = option("NAME=ROWS: files of verdicts or claims to fit the head on", [])
    dev: list[str] = option("NAME=ROWS: files to measure it on", [])
    folders: list[str] = option("folders of those files", [])
    longest: int = option("tokens of a prompt; longer ones are left out", 900)
    seed: int = option("of the rows that are drawn", 0)


def vectors(engine: PromptEngine, packs: Sequence[Pack], layers: Sequence[int], cache: Path) -> dict[str, np.ndarray]:
    """Return numbers and logits of (rows,) and their (rows, layers, size) vectors, after the model's last norm.

    The vectors of each pack are kept in `cache`, so that an interrupted run continues.
    """
    cache.mkdir(parents=True, exist_ok=True)
    weight = engine.file.array("output_norm.weight")
    epsilon = engine.file.setting("attention.layer_norm_rms_epsilon")
    for number, pack in enumerate(packs):
        path = cache / f"{number:05d}.npz"
        if path.exists():
            continue
        inputs, kept = engine.inputs(pack), {}
        *graphs, (_, last) = engine.graphs
        for behind, graph in graphs:
            (inputs["vectors"],) = graph.run(None, inputs)
            kept[behind] = inputs["vectors"][pack.ends]
        (logits,) = last.run(None, inputs | {"ends": pack.ends})
        hidden = np.stack([kept[layer] for layer in layers], axis=1)
        normed = hidden / np.sqrt((hidden**2).mean(axis=-1, keepdims=True) + epsilon) * weight
        with path.with_suffix(".part").open("wb") as file:
            np.savez(file, rows=pack.rows, logits=logits[:, 0], vectors=normed.astype(np.float16))
        path.with_suffix(".part").rename(path)
        if number % 10 == 0:
            print(f"{cache.name}: {number + 1} of {len(packs)} packs", flush=True)
    files = [np.load(cache / f"{number:05d}.npz") for number in range(len(packs))]
    return {name: np.concatenate([file[name] for file in files]) for name in ("rows", "logits", "vectors")}


def fitted_head(inputs: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return (size + 1,) weights and offset of a ridge regression of (rows,) targets on (rows, size) inputs."""
    from sklearn.linear_model import RidgeCV

    scale = inputs.std(axis=0) + 1e-6
    model = RidgeCV(PENALTIES).fit(inputs / scale, targets)
    return np.append(model.coef_ / scale, model.intercept_)


def table_of(rows: Sequence[tuple], results: dict[str, np.ndarray], heads: dict[int, np.ndarray]) -> list[dict]:
    """Return, by layer and set, AUC and accuracy of the whole judge and of the head, and the r of their logits."""
    from sklearn.metrics import roc_auc_score

    table = []
    labels = np.array([rows[number][2] for number in results["rows"]])
    names = np.array([rows[number][3] for number in results["rows"]])
    for at, (layer, head) in enumerate(heads.items()):
        logits = results["vectors"][:, at].astype(np.float32) @ head[:-1] + head[-1]
        for name in dict.fromkeys(names):
            chosen = (names == name) & np.isin(labels, (0, 1))
            if len(set(labels[chosen])) < 2:
                continue
            line = {"layer": layer, "set": str(name), "rows": int(chosen.sum())}
            line["r"] = float(np.corrcoef(results["logits"][chosen], logits[chosen])[0, 1])
            for judge, judge_logits in (("whole", results["logits"][chosen]), ("cut", logits[chosen])):
                line[f"AUC {judge}"] = float(roc_auc_score(labels[chosen], judge_logits))
                line[f"accuracy {judge}"] = float(((judge_logits > 0) == labels[chosen]).mean())
            table.append(line)
    return table


def changed_verdicts(args: Arguments, results: dict[str, np.ndarray], heads: dict[int, np.ndarray]) -> dict[str, dict]:
    """Return {layer: rows, rows with another verdict, and those of them with a probability outside .45 to .55}."""
    settings = read_json(Path(args.adapter) / SETTINGS_FILE)
    slope, intercept = settings.get("slope", 1.0), settings.get("intercept", 0.0)

    def probabilities(logits):
        return 1 / (1 + np.exp(-slope * logits - intercept))

    whole, counts = probabilities(results["logits"]), {}
    for at, (layer, head) in enumerate(heads.items()):
        cut = probabilities(results["vectors"][:, at].astype(np.float32) @ head[:-1] + head[-1])
        changed = (whole >= 0.5) != (cut >= 0.5)
        far = np.maximum(np.abs(whole - 0.5), np.abs(cut - 0.5)) > 0.05
        counts[str(layer)] = {"rows": len(cut), "changed": int(changed.sum()), "outside": int((changed & far).sum())}
    return counts


def table(facts: dict) -> str:
    """Return the Markdown table of the cut judge beside the whole one, by set."""
    columns = ("set", "rows", "r", "AUC whole", "AUC cut", "accuracy whole", "accuracy cut")
    kept = [line for line in facts["results"] if facts["kept"] in (None, line["layer"])]
    lines = [
        [f"{line[name]:.3f}" if isinstance(line[name], float) else line[name] for name in columns] for line in kept
    ]
    return markdown_table(columns, lines)


def write_cut(args: Arguments, stored: dict, head: np.ndarray, rows: int) -> None:
    """Write the judge of the first `keep` layers, with the scale of the whole one plus the offset of the head."""
    import torch
    from peft import LoraConfig

    config, folder = read_json(Path(args.adapter) / "adapter_config.json"), Path(args.output) / "judge"
    numbers = {name: int(name.split(".layers.")[1].split(".")[0]) for name in stored}
    adapter = {name: weight for name, weight in stored.items() if numbers[name] < args.keep}
    layers = [layer for layer in config["layers_to_transform"] if layer < args.keep]
    kept = {name: config[name] for name in ("r", "lora_alpha", "target_modules")}
    model = SimpleNamespace(
        peft_config={"default": LoraConfig(layers_to_transform=layers, **kept)},
        config=SimpleNamespace(hidden_size=head.size - 1),
    )
    facts = {"layers": args.keep, "rows": rows, "seed": args.seed, "sources": args.train}
    write_checkpoint(model, adapter, folder, facts, args.keep, torch.from_numpy(head[:-1])[None])
    settings = read_json(Path(args.adapter) / SETTINGS_FILE) | {"layers": args.keep}
    settings["intercept"] = round(settings.get("intercept", 0.0) + settings.get("slope", 1.0) * float(head[-1]), 6)
    (folder / SETTINGS_FILE).write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
    write_graphs(folder, Path(args.model))


def main() -> None:
    """Fit the heads, print the measures of each layer, and write the cut judge."""
    from safetensors.torch import load_file, save_file
    from transformers import HfArgumentParser

    (args,) = HfArgumentParser(Arguments).parse_args_into_dataclasses(args_file_flag="--config")
    output = Path(args.output)
    whole = output / "whole"
    stored = load_file(Path(args.adapter) / "adapter_model.safetensors")
    shutil.copytree(args.adapter, whole, dirs_exist_ok=True)
    half = {name: weight.half() for name, weight in stored.items()}
    save_file(half, whole / "adapter_model.safetensors", metadata={"format": "pt"})
    write_graphs(whole, Path(args.model), math.gcd(*args.layers))
    engine = PromptEngine(whole, Path(args.model))
    rng = random.Random(args.seed)
    rows, results = {}, {}
    for split in ("train", "dev"):
        rows[split] = []
        for name, _, count in (text.partition("=") for text in getattr(args, split)):
            prompts = prompts_of(list(json_rows(named_file("folders", name, args.folders))), name)
            rows[split] += [(*row, name) for row in rng.sample(prompts, min(int(count), len(prompts)))]
        numbered = [(shared, text, number) for number, (shared, text, *_) in enumerate(rows[split])]
        by_prompt = sorted(groups(numbered, engine.file.tokenizer, args.longest), key=lambda group: len(group[0]))
        packs = packed(by_prompt, PACK_TOKENS)
        size = sum(len(pack.tokens) for pack in packs)
        print(f"{split}: {len(rows[split])} rows, {size} tokens, {len(packs)} packs", flush=True)
        results[split] = vectors(engine, packs, args.layers, output / split)
    heads = {
        layer: fitted_head(results["train"]["vectors"][:, at].astype(np.float32), results["train"]["logits"])
        for at, layer in enumerate(args.layers)
    }
    names = [text.partition("=")[0] for text in (*args.train, *args.dev)]
    facts = {
        "command": command_line(__spec__.name if __spec__ else "training.ava.cut_judge", sys.argv[1:]),
        "seed": args.seed,
        "data": {name: file_digest(named_file("folders", name, args.folders)) for name in names},
        "kept": args.keep,
        "changed": changed_verdicts(args, results["dev"], heads),
        "results": table_of(rows["dev"], results["dev"], heads),
    }
    print(table(facts), facts["changed"])
    write_json(output / "cut.json", facts)
    if args.keep:
        write_cut(args, half, heads[args.keep], len(rows["train"]))


if __name__ == "__main__":
    main()
