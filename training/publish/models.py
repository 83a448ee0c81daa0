"""Write the folder of a model repository: the model, its tokenizer and settings, the adapter, the card."""

import re
import shutil
from pathlib import Path

from genqa_metrics.ava.loading import load_judge
from genqa_metrics.core.checkpoints import checkpoint_digest, read_json
from genqa_metrics.core.scorer import quiet
from genqa_metrics.kpqa.loading import load_token_classifier

from training.publish.assemble import ROOT
from training.studies.accuracy.measure import copy_measured

RECORDS = {
    "ava": ROOT / "training/ava/results/small.json",
    "kpqa": ROOT / "training/kpqa/results/agreement.json",
}
TASKS = {"ava": "text-classification", "kpqa": "token-classification"}  # by what loads a checkpoint
CLASSES = {"ava": "AutoModelForSequenceClassification", "kpqa": "AutoModelForTokenClassification"}
ADAPTER = ("adapter_config.json", "adapter_model.safetensors")
SCORES = {  # scores of result files -> their names on the Hub and in cards
    "accuracy": ("accuracy", "Accuracy"),
    "F1": ("f1", "F1"),
    "AUC": ("roc_auc", "AUC"),
    "r": ("pearsonr", "Pearson's r with graded judgments"),
}
CORRELATIONS = {"pearson": ("pearsonr", "Pearson's r"), "spearman": ("spearmanr", "Spearman's rho")}
USE = (Path(__file__).parent / "use.md").read_text(encoding="utf-8")


def write_model(metric: str, source: Path, repository: str, tag: str, folder: Path) -> None:
    """Write the folder of a model repository, emptied first, from the adapter that a metric loads by default."""
    from huggingface_hub import ModelCard

    results, loader = recorded_results(metric, source), loader_of(source)
    shutil.rmtree(folder, ignore_errors=True)
    model, tokenizer = merged(source)
    with quiet():
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    shutil.copyfile(source / f"{loader}_config.json", folder / f"{loader}_config.json")
    (folder / "adapter").mkdir()
    for name in ADAPTER:
        shutil.copyfile(source / name, folder / "adapter" / name)
    if loader == "ava":
        copy_measured(source, folder)

    namespace, title = repository.split("/")
    facts = {"name": metric, "namespace": namespace, "repository": repository, "tag": tag, "auto": CLASSES[loader]}
    facts |= {"merged": checkpoint_digest(folder), "rank": read_json(source / ADAPTER[0])["r"]}
    card, use = ModelCard((source / "README.md").read_text(encoding="utf-8")), USE.format(**facts)
    card.text = card.text.replace("\n## ", f"\n{use}\n## ", 1)
    card.data.library_name, card.data.model_name = "transformers", title
    card.data.pipeline_tag, card.data.eval_results = TASKS[loader], results or None
    card.save(folder / "README.md")


def loader_of(checkpoint: Path) -> str:
    """Return the metric whose code loads a checkpoint: ava judges, kpqa keyphrase predictors."""
    return "ava" if (checkpoint / "ava_config.json").is_file() else "kpqa"


def merged(source: Path) -> tuple:
    """Return the model of a checkpoint, its adapter merged into the encoder, and its tokenizer."""
    with quiet():
        if loader_of(source) == "ava":
            judge = load_judge(source, backend="torch")
            return judge.model, judge.tokenizer
        model, tokenizer = load_token_classifier(source)
    model.config.id2label, model.config.label2id = {0: "other", 1: "keyphrase"}, {"other": 0, "keyphrase": 1}
    return model, tokenizer


def recorded_results(metric: str, source: Path) -> list:
    """Return `huggingface_hub.EvalResult` objects of what was measured of a bundled checkpoint; [] without record."""
    from huggingface_hub import EvalResult

    from training.ava.measure_judges import scores

    if metric not in RECORDS:
        return []
    record, digest = read_json(RECORDS[metric]), checkpoint_digest(source)
    if metric == "kpqa":
        measured = re.match(r"checkpoint:([0-9a-f]+)", record["checkpoints"]["kpqa"])[1]
        rows = [
            (f"{data}.dev", kind, f"{label} of {name} with human judgments", correlations[key][0])
            for data, agreement in record["agreement"].items()
            for name, correlations in agreement.items()
            if name.endswith("_kpqa")
            for key, (kind, label) in CORRELATIONS.items()
        ]
    else:
        (judge,) = record["judges"].values()
        measured = judge["checkpoint"]
        rows = [
            (data, kind, label, table[key])
            for data, table in scores(judge["sets"], record["fit"]).items()
            for key, (kind, label) in SCORES.items()
            if key in table
        ]
    if not digest.startswith(measured):
        wrong = f"expected results of the checkpoint {digest[:12]}, got those of {measured[:12]}"
        command = {"ava": "python -m training.ava.measure_judges", "kpqa": "python -m training.kpqa.evaluate_kpqa"}
        raise ValueError(f"{RECORDS[metric]}: {wrong}; run {command[metric]} first")
    return [
        EvalResult(TASKS[metric], data.split(".")[0], data, kind, round(float(score), 4), metric_name=label)
        for data, kind, label, score in rows
    ]
