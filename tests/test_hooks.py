"""The blocks of hooks.md, and the one for a Trainer in README.md, each in the tool that it is written for."""

import json
import re
import sys

import datasets
import genqa_metrics
import pytest
import transformers
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from tests.factories.cases import tables
from tests.factories.modules import printed_by

WORDS = "<pad> </s> <unk> red blue green car bus train which the is it ?".split()
ROWS = tables(__name__)["rows"]


@pytest.fixture(scope="module")
def blocks(request):
    text = (request.config.rootpath / "spaces/docs/pages/tools/hooks.md").read_text(encoding="utf-8")
    return dict(re.findall(r"<!-- block: (.+?) -->\n```\w+\n(.*?)```", text, re.DOTALL))


@pytest.fixture(scope="module")
def columns():
    return {
        "questions": [row["question"] for row in ROWS],
        "predictions": [row["prediction"] for row in ROWS],
        "references": [row["references"] for row in ROWS],
    }


def test_every_block_is_executed(blocks, request):
    source = request.path.read_text(encoding="utf-8")
    assert len(blocks) == 5
    assert all(f'blocks["{name}"]' in source for name in blocks)


@pytest.fixture
def tokenizer():
    words = Tokenizer(WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>"))
    words.pre_tokenizer = Whitespace()
    special = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=words, **special)


def test_all_four_metrics_in_a_seq2seq_trainer(blocks, tokenizer, tmp_path, request):
    """A model of two layers learns to answer "which car is red ?"; its scores rise to those of the labels."""
    namespace, short = {"tokenizer": tokenizer}, {"tokenizer": tokenizer}
    exec(blocks["trainer"], namespace)
    exec(blocks["short trainer"], short)
    in_readme = {"ava": namespace["ava"], "texts": namespace["texts"]}
    text = (request.config.rootpath / "README.md").read_text(encoding="utf-8")
    exec(re.search(r"```python\n(def compute_metrics.*?)```", text, re.DOTALL)[1], in_readme)
    asked = [(f"which {what} is {colour} ?", f"the {colour} {what}") for colour in WORDS[3:6] for what in WORDS[6:9]]
    questions, answers = map(list, zip(*asked, strict=True))
    inputs, labels = (
        [[*ids, tokenizer.eos_token_id] for ids in tokenizer(texts).input_ids] for texts in (questions, answers)
    )
    columns = {"input_ids": inputs, "attention_mask": [[1] * len(ids) for ids in inputs], "labels": labels}
    rows = datasets.Dataset.from_dict(columns)
    seen = []

    def compute_metrics(evaluation):
        results = namespace["answer_metrics"](evaluation) | namespace["question_metrics"](evaluation)
        results["short_aev"] = short["compute_metrics"](evaluation)["aev"]
        assert in_readme["compute_metrics"](evaluation).items() <= results.items()
        seen.append(tuple(namespace["texts"](ids) for ids in (evaluation.inputs, evaluation.predictions)))
        return results

    transformers.set_seed(4)
    sizes = {"d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": 1, "num_heads": 2, "dropout_rate": 0.0}
    config = transformers.T5Config(vocab_size=len(WORDS), decoder_start_token_id=0, **sizes)
    arguments = {"use_cpu": True, "max_steps": 120, "per_device_train_batch_size": 3, "learning_rate": 3e-3}
    arguments |= {"lr_scheduler_type": "constant", "eval_strategy": "steps", "eval_steps": 120, "eval_on_start": True}
    arguments |= {"generation_max_length": 6, "save_strategy": "no", "report_to": [], "disable_tqdm": True}
    trainer = transformers.Seq2SeqTrainer(
        transformers.T5ForConditionalGeneration(config),
        transformers.Seq2SeqTrainingArguments(str(tmp_path), **arguments, **namespace["arguments"]),
        train_dataset=rows,
        eval_dataset=rows,
        processing_class=tokenizer,
        compute_metrics=compute_metrics,
    )
    trainer.train()
    first, last = [entry for entry in trainer.state.log_history if "eval_aev" in entry]
    assert seen[-1] == (questions, answers)
    for name in ("aev", "short_aev", "rougeL_kpqa", "ava_score", "f_meta"):
        assert first[f"eval_{name}"] < last[f"eval_{name}"], name
    for name in ("aev", "short_aev", "rougeL_kpqa", "bertscore_kpqa", "f_meta", "f_meta_recall"):
        assert last[f"eval_{name}"] == pytest.approx(1)
    ava = genqa_metrics.load("ava", keep_in_memory=True)
    expected = ava.compute(questions=questions, predictions=answers, references=answers)["ava_score"]
    assert last["eval_ava_score"] == pytest.approx(expected)


def test_combine(blocks):
    namespace = {}
    exec(blocks["combine"], namespace)
    results = namespace["results"]
    questions = {"questions": ["Who wrote Hamlet?", "How many eggs are in a dozen?"]}
    answers = {
        "predictions": ["It was William Shakespeare.", "There are ten."],
        "references": [["Shakespeare", "William Shakespeare"], ["twelve"]],
    }
    expected = genqa_metrics.load("aev").compute(**answers)
    for name in ("kpqa", "ava"):
        expected |= genqa_metrics.load(name).compute(**questions, **answers)
    assert results == expected


@pytest.mark.slow
def test_two_processes_of_accelerate(blocks, columns, tmp_path):
    (tmp_path / "score.py").write_text(blocks["distributed"])
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    options = "--cpu --num_processes 2 --num_machines 1 --mixed_precision no --dynamo_backend no --main_process_port 0"
    launch = [sys.executable, "-m", "accelerate.commands.launch", *options.split()]
    out = printed_by([*launch, "score.py", "rows.jsonl"], cwd=tmp_path)
    found = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    assert found == [genqa_metrics.load(name, keep_in_memory=True).compute(**columns) for name in ("kpqa", "ava")]


def test_map_over_a_data_set(blocks, columns):
    namespace = {"rows": datasets.Dataset.from_list(ROWS)}
    exec(blocks["map"], namespace)
    expected = genqa_metrics.load("kpqa", keep_in_memory=True).compute(**columns, per_example=True)
    for name in ("bleu1_kpqa", "rougeL_kpqa"):
        assert list(namespace["rows"][name]) == expected[f"{name}_per_example"]
