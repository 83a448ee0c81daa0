"""The `compute_metrics` of the documentation in a real, tiny training run."""

import re

import numpy as np
import pytest
import transformers
from datasets import Dataset
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

WORDS = "<pad> </s> <unk> red blue green car bus train".split()


@pytest.fixture
def tokenizer():
    words = Tokenizer(WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>"))
    words.pre_tokenizer = Whitespace()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )


def test_compute_metrics_in_a_seq2seq_trainer(repository, tmp_path, tokenizer):
    """A model of two layers learns to copy "colour vehicle"; the score of what it generates rises to 1."""
    marked = r"<!-- executed by tests/test_trainer.py -->\n```python\n(.*?)```"
    snippet = re.search(marked, (repository / "spaces/docs/pages/tools/hooks.md").read_text(), re.DOTALL)[1]
    namespace = {"tokenizer": tokenizer}
    exec(snippet, namespace)

    phrases = [f"{colour} {vehicle}" for colour in WORDS[3:6] for vehicle in WORDS[6:]]
    encoded = [[*tokenizer(phrase).input_ids, tokenizer.eos_token_id] for phrase in phrases]
    rows = Dataset.from_dict({"input_ids": encoded, "attention_mask": [[1, 1, 1]] * 9, "labels": encoded})

    transformers.set_seed(4)
    config = transformers.T5Config(
        vocab_size=len(WORDS),
        d_model=32,
        d_kv=16,
        d_ff=64,
        num_layers=1,
        num_heads=2,
        dropout_rate=0.0,
        decoder_start_token_id=0,
    )
    model = transformers.T5ForConditionalGeneration(config)
    arguments = transformers.Seq2SeqTrainingArguments(
        output_dir=str(tmp_path),
        use_cpu=True,
        max_steps=60,
        per_device_train_batch_size=3,
        learning_rate=3e-3,
        lr_scheduler_type="constant",
        eval_strategy="steps",
        eval_steps=20,
        eval_on_start=True,
        predict_with_generate=True,
        generation_max_length=4,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
    )
    trainer = transformers.Seq2SeqTrainer(
        model,
        arguments,
        train_dataset=rows,
        eval_dataset=rows,
        processing_class=tokenizer,
        compute_metrics=namespace["compute_metrics"],
    )
    trainer.train()
    scores = [entry["eval_aev"] for entry in trainer.state.log_history if "eval_aev" in entry]
    assert len(scores) == 4
    assert scores[0] < 0.7
    assert scores[-1] == 1.0
    assert not np.isnan(scores).any()
