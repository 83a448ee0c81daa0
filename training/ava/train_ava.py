"""Train a judge of answers: for a question, references and a candidate, the probability that it is correct."""

import json
import random
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np
from genqa_metrics.ava.judging import SEPARATOR, joined_references
from genqa_metrics.ava.loading import checkpoint_folder
from genqa_metrics.core import judge_model
from genqa_metrics.core.ava_model import CONFIGURATIONS
from genqa_metrics.core.checkpoints import read_json
from genqa_metrics.core.inference import padded, tensors
from genqa_metrics.core.judge_model import LINEAR, encoded, linear_features, read_settings
from genqa_metrics.core.words import MARKS

from training import cards
from training.ava import triples as t
from training.ava.mixture import split_rows, training_triples
from training.common import encoder_path, named_rows, option, prepared, published, trained
from training.folding import adapter, fold, save_trained

ENCODER = "sentence-transformers/all-MiniLM-L6-v2"
KEPT = ("long_answer", "passage", "reference_aggregation")  # settings of --start that training does not change
NEXT = """not calibrated: the threshold is 0.5, and intervals ignore the judge's errors. Calibrate it on labelled rows
that it was not trained on:
    genqa-metrics calibrate {rows} --set ava.checkpoint={folder} --output {folder}/calibration.json"""


@dataclass
class Arguments:
    """The model and its data; settings of the optimiser are those of transformers.TrainingArguments."""

    configuration: str | None = option("of ava_model.CONFIGURATIONS, or linear; default of --start or a1-r_qt", None)
    rows: list[str] = option("labelled rows of your own, in any form that it reads; a fifth is held out", [])
    judged: list[str] = option("NAME or NAME=WEIGHT: NAME.jsonl.gz of human verdicts; WEIGHT scales its rows", [])
    judged_dir: list[str] = option("folders of the files of human verdicts", [])
    pairs: list[str] = option("NAME or NAME=WEIGHT: sentence pairs, the first is reference of the second", [])
    pairs_dir: str | None = option("folder of the files of sentence pairs", None)
    as2: list[str] = option("NAME or NAME=WEIGHT: answer-sentence selection, files or Hub names", [])
    as2_dir: str | None = option("folder of the answer-sentence selection files", None)
    as2_negatives: int | None = option("negatives of a reference at most; default all", None)
    spans: list[str] = option("NAME or NAME=WEIGHT: extractive QA files to make triples of", [])
    spans_dir: str | None = option("folder of the extractive QA files", None)
    augment: list[str] = option("KIND=SHARE: triples made of judged ones, SHARE of the rows; see the README", [])
    augmented: list[str] = option("judged sources that triples are made of", ["evouna_nq.train", "evouna_tq.train"])
    constructed: list[str] = option("KIND=ROWS: triples built by rules; kinds: see the README", [])
    single_reference: float = option("share of rows with several references that keep only the most similar one", 0.0)
    plain: float = option("share of rows whose question loses case and question mark", 0.0)
    dev: list[str] = option("judged files to measure on; the first chooses", [])
    as2_dev: list[str] = option("answer-sentence files to measure on", [])
    dev_rows: int | None = option("rows used of every dev file, at random", None)
    encoder: str | None = option(f"folder or Hub id of the encoder; default that of --start, else {ENCODER}", None)
    start: str | None = option("checkpoint to start from: small, base, or a folder of the same form", None)
    lora_rank: int = option("rank of the adapter; 0 trains all weights, or the adapter of --start if it has one", 0)
    lora_alpha: int = option("scale of the adapter", 32)
    fold_rank: int = option("train whole matrices, write their change as an adapter of this rank; 0 does not", 0)
    dropout: float | None = option("dropout of the encoder; default its own", None)
    max_length: int | None = option("word pieces of a pair of segments; default those of --start, else 256", None)
    marks: str | None = option("valued: token types mark the words that texts share; default that of --start", None)
    shuffled_batches: bool = option("batches of similar length in a random order", False)
    class_weight: float = option("weight of incorrect rows in the loss", 1.0)
    patience: int = option("evaluations without a better score on dev before it stops; 0 never", 0)
    best_by: str = field(
        default="f1", metadata={"help": "that score: auc depends on no threshold", "choices": ["f1", "auc"]}
    )


def settle(args: Arguments) -> dict:
    """Fill missing arguments from the checkpoint to start from, and return its settings that training keeps."""
    settings: dict = {}
    if args.start:
        folder = checkpoint_folder(args.start)
        args.start, settings = str(folder), read_settings(folder)
        if (folder / "adapter_config.json").is_file():
            config = read_json(folder / "adapter_config.json")
            args.encoder = args.encoder or config["base_model_name_or_path"]
            if not args.fold_rank:  # which merges the adapter and makes another
                args.lora_rank = config["r"]
    args.encoder = args.encoder or ENCODER
    args.configuration = args.configuration or settings.get("configuration", "a1-r_qt")
    args.max_length = args.max_length or settings.get("max_length", 256)
    args.marks = args.marks or settings.get("marks")
    return {name: settings[name] for name in KEPT if name in settings}


def check(args: Arguments) -> None:
    """Raise a ValueError for arguments that cannot work together, before any work is done."""
    configurations, several = (*CONFIGURATIONS, LINEAR), len(CONFIGURATIONS.get(args.configuration, ())) != 1
    if args.marks not in (None, *MARKS):
        raise ValueError(f"marks: expected one of {', '.join(MARKS)}, got {args.marks!r}")
    if args.configuration not in configurations:
        raise ValueError(f"configuration: expected one of {', '.join(configurations)}, got {args.configuration!r}")
    if args.lora_rank and several:
        wanted = f"an adapter needs a configuration of one pair, got {args.configuration!r}"
        raise ValueError(f"lora_rank: {wanted}; use --lora_rank 0")
    if args.fold_rank and (args.lora_rank or several):
        raise ValueError("fold_rank: needs a configuration of one pair and --lora_rank 0")
    if args.patience and not (args.dev or args.as2_dev):
        raise ValueError("patience: stopping early needs dev rows; name a file with --dev or --as2_dev")


def examples(rows: list, args: Arguments, tokenizer, rng=None) -> list[dict]:
    """Return the inputs and the label of every triple; with `rng` varied by the arguments' shares."""
    texts = []
    for row in rows:
        question, reference = row.question, joined_references(row.references, row.candidate)
        if rng and len(row.references) > 1 and rng.random() < args.single_reference:
            reference = reference.split(SEPARATOR)[0]
        if rng and rng.random() < args.plain:
            question = question.lower().rstrip(" ?")
        texts.append((question, reference, row.candidate))
    columns = encoded(tokenizer, args.configuration, texts, args.max_length, args.marks)
    for row in chain(*columns):  # lists of Python numbers would take ten times the memory
        row.update({name: np.array(numbers, dtype=np.int32) for name, numbers in row.items()})
    return [
        {"pairs": [column[i] for column in columns], "input_ids": columns[0][i]["input_ids"], "labels": row.label}
        for i, row in enumerate(rows)
    ]


def collate(batch: list[dict]) -> dict:
    """Return padded inputs: those of an encoder if there is one pair, else `pairs`, a list of such inputs."""
    import torch

    columns = [tensors(padded(rows)) for rows in zip(*(example["pairs"] for example in batch), strict=True)]
    inputs = dict(columns[0]) if len(columns) == 1 else {"pairs": columns}
    return inputs | {"labels": torch.tensor([example["labels"] for example in batch])}


def scores(predictions) -> dict[str, float]:
    """Return what is logged of a dev set: accuracy, F1 and AUC of binary labels, Pearson's r of grades."""
    from scipy.stats import pearsonr
    from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

    logits, labels = predictions
    logits = np.asarray(logits).reshape(-1)
    result = {"pearson": float(pearsonr(logits, labels)[0]) if labels.std() else 0.0}
    if set(np.unique(labels)) <= {0.0, 1.0}:
        predicted, true = logits > 0, labels > 0.5
        result |= {"accuracy": float(accuracy_score(true, predicted)), "f1": float(f1_score(true, predicted))}
        result["auc"] = float(roc_auc_score(true, logits)) if len(np.unique(true)) > 1 else 0.0
    return result


def write_settings(folder: Path, args: Arguments, **more: object) -> None:
    """Write what `genqa_metrics.ava` reads beside the weights."""
    settings = {name: getattr(args, name) for name in ("configuration", "max_length", "marks")} | more
    (folder / "ava_config.json").write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")


def judge_adapter(model, args: Arguments, rank: int, alpha: int):
    """Return a judge with an untrained adapter of a rank on every linear layer but the head, which is kept whole."""
    heads = [name for name, _ in model.named_modules() if name in ("classifier.dense", "score.dense")]
    kept = ["token_type_embeddings"] if args.marks else None
    return adapter(model, "SEQ_CLS", rank, alpha, exclude_modules=heads or None, modules_to_save=kept)


def folded(model, args: Arguments):
    """Return a judge as an adapter on the bare encoder: the best approximation of every matrix's change by rank."""
    bare = judge_model.judge_model(encoder_path(args.encoder), args.configuration, args.marks)
    result = judge_adapter(bare, args, args.fold_rank, args.fold_rank)
    fold(result, model)
    return result


def train_matrices_only(model) -> None:
    """Let only that learn which an adapter can hold: matrices of linear layers, token types, the classifier."""
    import torch

    for name, module in model.named_modules():
        whole = name.partition(".")[0] in ("classifier", "score") or name.endswith("token_type_embeddings")
        for kind, parameter in module.named_parameters(recurse=False):
            parameter.requires_grad_(whole or (isinstance(module, torch.nn.Linear) and kind == "weight"))


def write_checkpoint(model, tokenizer, args: Arguments, folder: Path, **kept: object) -> None:
    """Write the trained model (an adapter in half precision, or all with the tokenizer) and settings, `kept` too."""
    if args.fold_rank:
        model = folded(model, args)
    save_trained(model, tokenizer, args.encoder, folder, bool(args.lora_rank or args.fold_rank))
    write_settings(folder, args, **kept)


def train_linear(rows: list, args: Arguments, folder: Path, seed: int) -> None:
    """Fit and write the linear judge (section 4.1): a support vector machine on x1 to x4 with Platt scaling."""
    from safetensors.numpy import save_file
    from sklearn.model_selection import cross_val_predict
    from sklearn.svm import LinearSVC

    from training.ava.measure_judges import platt

    rows = [row for row in rows if row.label in (0.0, 1.0)]
    texts = ((r.question, joined_references(r.references, r.candidate), r.candidate, r.short_answer) for r in rows)
    features = np.array([linear_features(*row) for row in texts])
    labels = np.array([int(row.label) for row in rows])
    machine = LinearSVC(class_weight={0: args.class_weight, 1: 1.0}, random_state=seed)
    margins = cross_val_predict(machine, features, labels, method="decision_function")
    slope, intercept = platt(margins, labels)
    machine.fit(features, labels)
    folder.mkdir(parents=True, exist_ok=True)
    save_file({"weight": machine.coef_.reshape(4), "bias": machine.intercept_}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({"model_type": "ava-linear"}) + "\n", encoding="utf-8")
    write_settings(folder, args, slope=slope, intercept=intercept)


def main() -> None:
    """Train, log the dev scores, write the checkpoint."""
    import torch
    from transformers import AutoTokenizer

    args, training = prepared(Arguments)
    kept = settle(args)
    check(args)
    held_out = split_rows(args, Path(training.output_dir)) if args.rows else None

    # 1. Triples of every source, and their word pieces.
    encoder = encoder_path(args.encoder)
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    rng = random.Random(training.seed)
    folder = Path(training.output_dir) / "final"
    rows, facts = training_triples(args, rng)
    if not rows:
        raise ValueError("rows, judged, as2, spans: no triple is left to train on; name a source that has some")
    if args.configuration == LINEAR:
        train_linear(rows, args, folder, training.seed)
        cards.write_card(folder, "ava", args, training, facts, {})
        print(NEXT.format(rows=held_out or "HELD_OUT.jsonl", folder=folder), flush=True)
        return
    train = examples(rows, args, tokenizer, rng)
    for fact in facts:
        print("{name}: {rows} triples, weight {weight:g}".format(**fact), flush=True)
    dev = {name: t.judged_triples(named_rows("dev", name, args.judged_dir), name) for name in args.dev}
    dev |= {name: list(t.as2_triples(t.as2_rows(name, args.as2_dir), None, rng)) for name in args.as2_dev}
    for name, rows in dev.items():
        if args.dev_rows:
            rows = random.Random(0).sample(rows, min(args.dev_rows, len(rows)))
        dev[name] = sorted(examples(rows, args, tokenizer), key=lambda row: len(row["input_ids"]))  # less padding
    print(f"{len(train)} training examples, {sum(len(e['input_ids']) for e in train)} tokens", flush=True)

    # 2. The model: all weights, or an adapter on every linear layer.
    if args.start and not args.lora_rank:
        model, _ = judge_model.load_model(Path(args.start), args.configuration, args.marks)
    else:
        model = judge_model.judge_model(encoder, args.configuration, args.marks)
    if args.lora_rank:
        from peft import PeftModel

        if args.start:
            model = PeftModel.from_pretrained(model, args.start, is_trainable=True)
        else:
            model = judge_adapter(model, args, args.lora_rank, args.lora_alpha)
        model.print_trainable_parameters()
    elif args.fold_rank:
        train_matrices_only(model)
    if args.dropout is not None:
        for module in model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = args.dropout
    if training.use_cpu:
        model.set_attn_implementation("eager")  # a third faster in training than the fused one on a CPU

    def loss(outputs, labels, num_items_in_batch=None):
        weight = torch.where(labels < 0.5, args.class_weight, 1.0)
        logits = outputs.logits.float().reshape(-1)
        return torch.nn.functional.binary_cross_entropy_with_logits(logits, labels, weight)

    # 3. Training, from the last checkpoint if there is one.
    trainer = trained(
        training,
        dev,
        patience=args.patience,
        best_by=f"{next(iter(dev), '')}_{args.best_by}",
        lengths=[len(row["input_ids"]) for row in train] if args.shuffled_batches else (),
        model=model,
        train_dataset=train,
        data_collator=collate,
        compute_loss_func=loss,
        compute_metrics=scores,
        processing_class=tokenizer,
    )

    # 4. The checkpoint and its card.
    results = trainer.evaluate() if dev else {}
    write_checkpoint(trainer.model, tokenizer, args, folder, **kept)
    cards.write_card(folder, "ava", args, training, facts, results)
    published(trainer, training, folder)
    print(NEXT.format(rows=held_out or "HELD_OUT.jsonl", folder=folder), flush=True)


if __name__ == "__main__":
    main()
