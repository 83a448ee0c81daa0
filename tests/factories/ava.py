"""Tiny judges of AVA, and rows for them."""

import json
import random
import shutil

import evaluate

from tests.factories import kpqa
from tests.factories.kpqa import QUESTIONS, WORDS

SETTINGS = {"max_length": 64, "slope": 2.0, "intercept": -0.5, "threshold": 0.4, "reference_aggregation": "max"}

SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
OTHER_NAMES = {
    "distilbert": {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32},
    "albert": SIZES | {"embedding_size": 8},
    "electra": SIZES | {"embedding_size": 8},
    "modernbert": SIZES | {"reference_compile": False, "cls_token_id": 2, "sep_token_id": 3},
}
WITHOUT_TYPES = ("distilbert", "mpnet", "modernbert", "roberta", "camembert", "xlm-roberta")


def encoder_of_type(kind, tiny_encoder, folder):
    """Return the folder with a tiny encoder of a type, its weights drawn from a seed, and the tokenizer of another."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_encoder)
    if kind in WITHOUT_TYPES:
        tokenizer.model_input_names = ["input_ids", "attention_mask"]
    sizes = {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id, "max_position_embeddings": 80}
    config = transformers.AutoConfig.for_model(kind, **sizes, **OTHER_NAMES.get(kind, SIZES))
    torch.manual_seed(5)
    transformers.AutoModel.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def saved(model, tokenizer_folder, folder, **settings):
    kpqa.saved(model, tokenizer_folder, folder)
    (folder / "ava_config.json").write_text(json.dumps(SETTINGS | settings))
    return folder


COUNTS = {"accepted": 90, "correct": 100, "rejected": 45, "incorrect": 50}


def measured(judge, folder, **more):
    """Copy a judge that was measured to accept 90 of 100 correct and reject 45 of 50 incorrect answers."""
    from genqa_metrics.core.judge_model import short_digest

    shutil.copytree(judge, folder)
    facts = {"checkpoint": short_digest(folder), "threshold": "0.4", "references": "max", "data": {"made.dev": "0"}}
    (folder / "measured.json").write_text(json.dumps(facts | {"systems": [COUNTS]} | more))
    return folder


def linear_judge(folder):
    """A linear judge with weights by hand: an answer that holds the reference is right."""
    import numpy as np
    from safetensors.numpy import save_file

    folder.mkdir(parents=True, exist_ok=True)
    save_file({"weight": np.array([1.0, 0, 0, 0]), "bias": np.array([-0.5])}, folder / "model.safetensors")
    (folder / "config.json").write_text("{}")
    (folder / "ava_config.json").write_text(json.dumps(SETTINGS | {"configuration": "linear"}))
    return folder


def load(repository, checkpoint, **arguments):
    arguments |= {"checkpoint": str(checkpoint), "device": "cpu"}
    return evaluate.load(str(repository / "metrics/ava/ava.py"), keep_in_memory=True, progress=False, **arguments)


def random_rows(count, seed=0):
    source = random.Random(seed)

    def text(longest=12):
        return " ".join(source.choices([*WORDS, "xyz", "1,234.5"], k=source.randint(1, longest)))

    return {
        "questions": [source.choice(QUESTIONS) for _ in range(count)],
        "predictions": [text() for _ in range(count)],
        "references": [[text(4) for _ in range(source.randint(1, 3))] for _ in range(count)],
    }
