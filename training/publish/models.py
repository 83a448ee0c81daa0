"""Write the folder of a model repository: the whole model, its tokenizer and settings, the adapter, the card."""

import json
import re
import shutil
import tomllib
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
    "grounding": ROOT / "training/grounding/results/bundled.json",
    "kpqa": ROOT / "training/kpqa/results/agreement.json",
}
TASKS = {"ava": "text-classification", "kpqa": "token-classification"}
CLASSES = {"ava": "AutoModelForSequenceClassification", "kpqa": "AutoModelForTokenClassification"}
ADAPTER = ("adapter_config.json", "adapter_model.safetensors")
TEXTS = tomllib.loads(Path(__file__).with_name("texts.toml").read_text(encoding="utf-8"))
NEW_CARD = "---\nlanguage: en\ntags:\n- evaluate\n---\n\n# {title}\n\n## Limits\n\nIt reads English only.\n"


def metric_of(checkpoint: Path) -> str:
    """Return the metric that loads a checkpoint: ava for judges, kpqa for keyphrase predictors."""
    return "ava" if (checkpoint / "ava_config.json").is_file() else "kpqa"


def write_model(
    source: Path,
    repository: str,
    tag: str,
    folder: Path,
    results: list,
    is_default: bool = True,
    metric: str | None = None,
) -> None:
    """Write the folder of a model repository, emptied first, from a judge or keyphrase predictor of any kind.

    `metric` loads it, by default the one that its files name; `is_default` says whether without being asked.
    """
    from huggingface_hub import ModelCard

    name = metric_of(source)
    shutil.rmtree(folder, ignore_errors=True)
    with quiet():
        plain, note = _plain(name, source)
        model, tokenizer = merged(source)
        copied = {"ava_config.json": folder} | dict.fromkeys(ADAPTER, folder / "adapter")
        if tokenizer is None:  # the linear judge, which has no encoder
            copied |= {"model.safetensors": folder, "config.json": folder}
        else:
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
        if plain:
            _check_plain(name, source, folder)
        if name == "kpqa":
            write_settings(folder, checked_settings(source))
    for file, place in copied.items():
        if (source / file).is_file():
            place.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / file, place / file)
    if name == "ava" and (source / "measured.json").is_file():
        copy_measured(source, folder)

    namespace, title = repository.split("/")
    facts = {"namespace": namespace, "repository": repository, "tag": tag}
    facts |= {"name": metric or name, "auto": CLASSES[name]}
    use = ((TEXTS["use"] if is_default else TEXTS["use_own"]) + note).format(**facts)
    use += TEXTS["settings"] if name == "ava" else ""
    if (source / ADAPTER[1]).is_file():
        rank = f"rank {json.loads((source / ADAPTER[0]).read_text(encoding='utf-8'))['r']}"
        use += TEXTS["files"].format(**facts, merged=checkpoint_digest(folder), rank=rank)
    written = source / "README.md"
    card = ModelCard(written.read_text(encoding="utf-8") if written.is_file() else NEW_CARD.format(title=title))
    card.text = card.text.replace("\n## ", f"\n{use}## ", 1) if "\n## " in card.text else f"{card.text}\n{use}"
    card.data.library_name = "transformers"
    card.data.pipeline_tag = TASKS[name] if plain else None
    card.data.model_name = title
    card.data.eval_results = results or None
    card.save(folder / "README.md")


def _plain(name: str, source: Path) -> tuple[bool, str]:
    """Return whether transformers alone load a checkpoint, and the paragraph of its card on loading."""
    if name == "kpqa":
        return (True, TEXTS["plain"]) if checked_settings(source).head == "linear" else (False, TEXTS["tanh"])
    configuration = read_settings(source)["configuration"]
    if configuration == LINEAR:
        return False, TEXTS["linear"]
    return (False, TEXTS["several"]) if len(CONFIGURATIONS[configuration]) > 1 else (True, TEXTS["plain"])


def merged(source: Path) -> tuple:
    """Return the model of a checkpoint, its adapter merged into the encoder, and its tokenizer or None."""
    if metric_of(source) == "ava":
        from genqa_metrics.ava.loading import load_judge

        judge = load_judge(source, device="cpu")
        return judge.model, judge.tokenizer
    model, tokenizer = load_token_classifier(source)
    model.config.id2label, model.config.label2id = {0: "other", 1: "keyphrase"}, {"other": 0, "keyphrase": 1}
    return model, tokenizer


def _check_plain(name: str, source: Path, folder: Path) -> None:
    """Raise ValueError if `from_pretrained` of transformers would load the model without some of its weights."""
    import transformers

    try:
        _, result = getattr(transformers, CLASSES[name]).from_pretrained(folder, output_loading_info=True)
        lost = sorted(set().union(*(result[kind] for kind in ("missing_keys", "unexpected_keys", "mismatched_keys"))))
    except (ValueError, OSError) as error:
        lost = [f"{type(error).__name__}: {error}".splitlines()[0]]
    if lost:
        raise ValueError(f"{source}: from_pretrained of transformers cannot load the whole model ({lost[0]})")


def recorded_results(name: str, source: Path) -> list:
    """Return `huggingface_hub.EvalResult` objects of a bundled checkpoint, none where nothing was measured."""
    from huggingface_hub import EvalResult

    if not RECORDS[name].is_file():
        return []
    record, digest = json.loads(RECORDS[name].read_text(encoding="utf-8")), checkpoint_digest(source)
    of_verdicts = [("accuracy", "accuracy", "Accuracy"), ("auc", "roc_auc", "AUC")]
    of_grades = [("pearson", "pearsonr", "Pearson's r"), ("spearman", "spearmanr", "Spearman's rho")]
    if name == "kpqa":
        measured = re.match(r"checkpoint:([0-9a-f]+)", record["checkpoints"]["kpqa"])[1]
        rows = [
            (f"{data}.dev", kind, values[key][0], f"{label} of {metric} with human judgments")
            for data, metrics in record["agreement"].items()
            for metric, values in metrics.items()
            if metric.endswith("_kpqa")
            for key, kind, label in of_grades
        ]
    else:
        scores = record["scores"]
        measured, of_rows = scores["digests"]["checkpoint"], scores["rows"]
        if name == "grounding":
            of_rows = {data: methods["judge of grounding"] for data, methods in of_rows.items()}
        else:
            of_verdicts.insert(1, ("f1", "f1", "F1"))
        rows = [(data, kind, v[key], label) for data, v in of_rows.items() for key, kind, label in of_verdicts]
        label = "Pearson's r with graded judgments"
        rows += [(data, "pearsonr", v["pearson"], label) for data, v in scores.get("graded", {}).items()]
    if not digest.startswith(measured):
        wrong = f"expected results of the checkpoint {digest[:12]}, got those of {measured[:12]}"
        raise ValueError(f"{RECORDS[name]}: {wrong}; run training/{name}/evaluate_{name}.py first")
    results = []
    for data, kind, value, label in rows:
        about = {"task_type": TASKS[metric_of(source)], "metric_type": kind, "metric_name": label}
        about |= {"dataset_type": data.split(".")[0].replace(" ", "_"), "dataset_name": data}
        results.append(EvalResult(**about, metric_value=round(float(value), 4)))
    return results
