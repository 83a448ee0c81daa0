"""A cross-encoder: an encoder reads two texts together and gives one probability; trained in minutes on a CPU."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

LENGTH = 96  # word pieces of a pair that training reads; 95% of the answer pairs of WikiQA and TREC-QA have fewer


def trained(pairs: Sequence[tuple[str, str, int]], folder: str | Path, seed: int, start: str | Path) -> Path:
    """Train a cross-encoder on labelled pairs for one epoch, unless it exists, and return its folder.

    Args:
        pairs: two texts and 1 or 0.
        folder: where the model is put; an existing one is used.
        seed: of the order of the pairs and of the new layer.
        start: folder of an encoder, or of another cross-encoder that is adapted.
    """
    folder = Path(folder)
    if (folder / "model.safetensors").is_file():
        return folder

    from genqa_metrics.core.scorer import quiet
    from transformers import (
        AutoModelForSequenceClassification,
        AutoTokenizer,
        DataCollatorWithPadding,
        TrainingArguments,
        set_seed,
    )

    from training.batches import LikeLengthTrainer
    from training.common import float32_if_emulated

    set_seed(seed)
    tokenizer = AutoTokenizer.from_pretrained(start)
    with quiet():
        model = AutoModelForSequenceClassification.from_pretrained(
            start,
            num_labels=1,
            problem_type="multi_label_classification",  # a logistic loss
        )
    model.set_attn_implementation("eager")
    for module in model.modules():
        if hasattr(module, "p"):  # dropout costs more time than it helps on so few rows
            module.p = 0.0
    rows = [
        {**tokenizer(first, second, truncation=True, max_length=LENGTH), "labels": [float(label)]}
        for first, second, label in pairs
    ]
    settings = TrainingArguments(
        output_dir=str(folder),
        use_cpu=True,
        bf16=True,
        seed=seed,
        learning_rate=1e-4,
        num_train_epochs=1,
        warmup_steps=20,
        per_device_train_batch_size=32,
        save_strategy="no",
        logging_steps=25,
        report_to="none",
        disable_tqdm=True,
    )
    float32_if_emulated(settings)
    LikeLengthTrainer(
        length_of=lambda row: len(row["input_ids"]),
        model=model,
        args=settings,
        train_dataset=rows,
        data_collator=DataCollatorWithPadding(tokenizer),
    ).train()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def probabilities(pairs: Sequence[tuple[str, str]], folder: str | Path) -> np.ndarray:
    """Return the probability of label 1 of every pair, (pairs,), by the cross-encoder in a folder, see `trained`."""
    from genqa_metrics.core.scorer import quiet
    from sentence_transformers import CrossEncoder

    with quiet():
        model = CrossEncoder(str(folder), device="cpu", max_length=2 * LENGTH)
    return model.predict(list(pairs), batch_size=64, show_progress_bar=False)
