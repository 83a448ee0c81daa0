"""Write the folder of a model repository: the whole model, its tokenizer and settings, the adapter, the card."""

import json
import re
import shutil
import tomllib
from collections.abc import Sequence
from pathlib import Path

from genqa_metrics.core.ava_model import CONFIGURATIONS
from genqa_metrics.core.checkpoints import checkpoint_digest
from genqa_metrics.core.judge_model import LINEAR, read_settings
from genqa_metrics.core.scorer import quiet
from genqa_metrics.kpqa.loading import checked_settings, load_token_classifier, write_settings

from training.publish.assemble import ROOT
from training.studies.accuracy.measure import copy_measured

RECORDS = {
    "ava": ROOT / "training/ava/results/bundled.json",
    "kpqa": ROOT / "training/kpqa/results/agreement.json",
}
TASKS = {"ava": "text-classification", "kpqa": "token-classification"}
CLASSES = {"ava": "AutoModelForSequenceClassification", "kpqa": "AutoModelForTokenClassification"}
ADAPTER = ("adapter_config.json", "adapter_model.safetensors")
TEXTS = tomllib.loads(Path(__file__).with_name("texts.toml").read_text(encoding="utf-8"))
NEW_CARD = "---\nlanguage: en\ntags:\n- evaluate\n---\n\n# {title}\n\n## Limits\n\nIt reads English only.\n"
VERDICTS = {"accuracy": ("accuracy", "Accuracy"), "f1": ("f1", "F1"), "auc": ("roc_auc", "AUC")}
GRADES = {"pearson": ("pearsonr", "Pearson's r"), "spearman": ("spearmanr", "Spearman's rho")}


def loader_of(checkpoint: Path) -> str:
    """Return the metric that reads a checkpoint: ava for judges, kpqa for keyphrase predictors."""
    return "ava" if (checkpoint / "ava_config.json").is_file() else "kpqa"


def write_model(
    source: Path, repository: str, tag: str, folder: Path, metric: str | None = None, results: Sequence = ()
) -> None:
    """Write the folder of a model repository, emptied first, from a judge or keyphrase predictor of any kind.

    `metric` loads it without being asked, None for a checkpoint that has to be named; `results` are of `EvalResult`.
    """
    from huggingface_hub import ModelCard

    loader = loader_of(source)
    shutil.rmtree(folder, ignore_errors=True)
    with quiet():
        paragraph = paragraph_on_loading(loader, source)
        model, tokenizer = merged(source)
        copied = {"ava_config.json": folder} | dict.fromkeys(ADAPTER, folder / "adapter")
        if tokenizer is None:  # the linear judge, which has no encoder
            copied |= {"model.safetensors": folder, "config.json": folder}
        else:
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
        if loader == "kpqa":
            write_settings(folder, checked_settings(source))
    for file, target in copied.items():
        if (source / file).is_file():
            target.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / file, target / file)
    if loader == "ava":
        copy_measured(source, folder)

    namespace, title = repository.split("/")
    facts = {"namespace": namespace, "repository": repository, "tag": tag, "merged": checkpoint_digest(folder)}
    facts |= {"name": metric or loader, "auto": CLASSES[loader]}
    use = TEXTS["use" if metric else "use_named"] + TEXTS[paragraph] + TEXTS["settings"] * (loader == "ava")
    if (source / ADAPTER[1]).is_file():
        facts["rank"] = json.loads((source / ADAPTER[0]).read_text(encoding="utf-8"))["r"]
        use += TEXTS["files"]
    use, written = use.format(**facts), source / "README.md"
    card = ModelCard(written.read_text(encoding="utf-8") if written.is_file() else NEW_CARD.format(title=title))
    card.text = card.text.replace("\n## ", f"\n{use}## ", 1) if "\n## " in card.text else f"{card.text}\n{use}"
    card.data.library_name, card.data.model_name = "transformers", title
    card.data.pipeline_tag = TASKS[loader] if paragraph == "plain" else None
    card.data.eval_results = list(results) or None
    card.save(folder / "README.md")


def paragraph_on_loading(loader: str, source: Path) -> str:
    """Return the name of a card's paragraph on loading: "plain" where transformers alone load the checkpoint."""
    if loader == "kpqa":
        return "plain" if checked_settings(source).head == "linear" else "tanh"
    configuration = read_settings(source)["configuration"]
    if configuration == LINEAR:
        return "linear"
    return "several" if len(CONFIGURATIONS[configuration]) > 1 else "plain"


def merged(source: Path) -> tuple:
    """Return the model of a checkpoint, its adapter merged into the encoder, and its tokenizer or None."""
    if loader_of(source) == "ava":
        from genqa_metrics.ava.loading import load_judge

        judge = load_judge(source, backend="torch")
        return judge.model, judge.tokenizer
    model, tokenizer = load_token_classifier(source)
    model.config.id2label, model.config.label2id = {0: "other", 1: "keyphrase"}, {"other": 0, "keyphrase": 1}
    return model, tokenizer


def recorded_results(metric: str, source: Path) -> list:
    """Return `huggingface_hub.EvalResult` objects of a bundled checkpoint, none where nothing was measured."""
    from huggingface_hub import EvalResult

    if not RECORDS[metric].is_file():
        return []
    record, digest = json.loads(RECORDS[metric].read_text(encoding="utf-8")), checkpoint_digest(source)
    if metric == "kpqa":
        measured = re.match(r"checkpoint:([0-9a-f]+)", record["checkpoints"]["kpqa"])[1]
        rows = [
            (f"{data}.dev", GRADES, {key: ends[0] for key, ends in scores.items()}, f" of {name} with human judgments")
            for data, metrics in record["agreement"].items()
            for name, scores in metrics.items()
            if name.endswith("_kpqa")
        ]
    else:
        record = record["scores"]
        measured = record["digests"]["checkpoint"]
        rows = [(data, VERDICTS, s, "") for data, s in record["rows"].items()]
        graded = {"pearson": GRADES["pearson"]}
        rows += [(data, graded, s, " with graded judgments") for data, s in record.get("graded", {}).items()]
    if not digest.startswith(measured):
        wrong = f"expected results of the checkpoint {digest[:12]}, got those of {measured[:12]}"
        raise ValueError(f"{RECORDS[metric]}: {wrong}; run training/{metric}/evaluate_{metric}.py first")
    return [
        EvalResult(
            task_type=TASKS[loader_of(source)],
            dataset_type=data.split(".")[0].replace(" ", "_"),
            dataset_name=data,
            metric_type=kind,
            metric_name=label + addition,
            metric_value=round(float(scores[key]), 4),
        )
        for data, kinds, scores, addition in rows
        for key, (kind, label) in kinds.items()
        if key in scores
    ]
