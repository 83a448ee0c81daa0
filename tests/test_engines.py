"""Two engines for encoders like BERT: ONNX Runtime, without torch and transformers, has the numbers of torch."""

import json
import multiprocessing
import shutil
import warnings

import numpy as np
import pytest
import torch
from genqa_metrics.ava.judging import Judge
from genqa_metrics.ava.loading import load_judge
from genqa_metrics.core import checkpoints, encoders, inference, judge_model
from genqa_metrics.core import scorer as core_scorer
from genqa_metrics.core.encoders import BUNDLED, OnnxTokenizer, read_tensors
from genqa_metrics.kpqa import loading as kpqa_loading
from genqa_metrics.kpqa.encoding import Encoder
from genqa_metrics.kpqa.loading import load_models, token_classifier
from genqa_metrics.registry import make_scorer
from peft import LoraConfig, get_peft_model
from transformers import AutoTokenizer

from tests.factories import ava as ava_factory
from tests.factories import kpqa as kpqa_factory
from tests.factories.cases import with_cases
from tests.factories.kpqa import random_rows
from tests.test_hostile_checkpoints import with_tensors
from training.publish.encoder import write_encoder

NEAR = 2e-5  # of logits: rounding in another order


@pytest.fixture(scope="session")
def marked_judge(tiny_encoder, tmp_path_factory):
    """A judge that marks shared words, so that its token types are its own."""
    torch.manual_seed(4)
    model = judge_model.judge_model(tiny_encoder, "a1-r_qt", marks="valued")
    folder = tmp_path_factory.mktemp("whole") / "ava"
    return ava_factory.saved(model, tiny_encoder, folder, configuration="a1-r_qt", marks="valued")


def triples(count):
    rows = ava_factory.random_rows(count)
    return [(q, r[0], p) for q, r, p in zip(rows["questions"], rows["references"], rows["predictions"], strict=True)]


def both(load):
    return (load("torch"), load("onnx"))


def test_the_logits_of_a_judge_are_those_of_torch(marked_judge):
    first, second = both(lambda backend: Judge(load_judge(marked_judge, backend=backend)).logits(triples(60)))
    assert second == pytest.approx(first, abs=NEAR)
    assert np.ptp(first) > 0.1, "rows that differ"


@pytest.mark.parametrize("layer", [0, 1, 2])
@pytest.mark.parametrize("head", ["linear", "tanh"])
def test_keyphrase_weights_and_vectors_are_those_of_torch(tiny_encoder, tmp_path, head, layer):
    torch.manual_seed(2)
    folder = kpqa_factory.saved(token_classifier(tiny_encoder, head), tiny_encoder, tmp_path / "kpqa")
    settings = {"embedding_model": tiny_encoder, "embedding_layer": layer}
    pairs = [(question, text) for question, text, _ in random_rows(30) if text]
    texts = [text for _, text in pairs]
    first, second = both(lambda backend: Encoder(load_models(folder, backend=backend, **settings)))
    for one, other in zip(first.keyphrase_weights(pairs), second.keyphrase_weights(pairs), strict=True):
        assert other[2] == pytest.approx(one[2], abs=NEAR)
    for one, other in zip(first.vectors(texts), second.vectors(texts), strict=True):
        assert other[0] == pytest.approx(one[0], abs=NEAR)


@pytest.mark.parametrize(
    "settings",
    [
        {"target_modules": ["query", "dense"]},
        {"target_modules": "all-linear", "exclude_modules": ["pooler.dense"]},
        {"target_modules": ["value"], "layers_to_transform": [1]},
    ],
)
def test_an_adapter_is_merged_as_peft_merges_it(tiny_encoder, tmp_path, settings):
    torch.manual_seed(3)
    config = LoraConfig(task_type="SEQ_CLS", r=2, lora_alpha=4, init_lora_weights=False, **settings)
    adapted = get_peft_model(judge_model.judge_model(tiny_encoder, "a1-r_qt"), config)
    adapted.save_pretrained(tmp_path / "judge")
    (tmp_path / "judge/ava_config.json").write_text(json.dumps({**ava_factory.SETTINGS, "configuration": "a1-r_qt"}))
    settings = {"checkpoint": tmp_path / "judge", "base_model": tiny_encoder}
    first, second = both(lambda backend: Judge(load_judge(**settings, backend=backend)).logits(triples(20)))
    assert second == pytest.approx(first, abs=NEAR)
    assert np.ptp(first) > 0.1
    merged, loaded = (
        adapted.merge_and_unload().state_dict(),
        load_judge(**settings, backend="torch").model.state_dict(),
    )
    for name, weights in merged.items():
        assert loaded[name].numpy() == pytest.approx(weights.numpy(), abs=1e-6), name


def test_the_small_judge_needs_no_torch_and_gives_the_verdicts_of_torch(repository):
    """Ten bits a weight move a probability by less than 0.01."""
    rows = [json.loads(line) for line in (repository / "tests/hard_answers.jsonl").open(encoding="utf-8")][::2]
    columns = [[row[name] for row in rows] for name in ("question", "references", "candidate")]
    judge = load_judge()
    assert "|engine:onnx|dtype:float32" in judge.signature
    found, expected = Judge(judge).probabilities(*columns), Judge(load_judge(backend="torch")).probabilities(*columns)
    assert np.abs(found - expected).max() < 0.01
    far = np.abs(expected - judge.threshold) >= 0.01
    assert ((found >= judge.threshold) == (expected >= judge.threshold))[far].all()
    assert not np.array_equal(found, expected), "two engines"


def _logits_in(queue, judge, rows):
    queue.put(Judge(judge).logits(rows))


def test_a_forked_process_runs_a_loaded_judge(marked_judge):
    judge, context = load_judge(marked_judge, backend="onnx"), multiprocessing.get_context("fork")
    queue, here = context.Queue(), Judge(judge).logits(triples(9))
    process = context.Process(target=_logits_in, args=(queue, judge, triples(9)))
    process.start()
    assert queue.get(timeout=60) == pytest.approx(here, abs=1e-6)
    process.join()


def test_the_bundled_encoder_is_made_by_one_function(tmp_path):
    """Again, with the digest in the code; a damaged one is refused."""
    assert write_encoder(checkpoints.base_encoder(), tmp_path / "encoder") == encoders.BUNDLED_SHA256
    source = checkpoints.base_encoder() / "model.safetensors"
    found, expected = read_tensors(BUNDLED / "model.safetensors"), read_tensors(source)
    assert set(found) == set(expected)
    for name, values in expected.items():
        assert np.abs(found[name] - values).max() <= max(1e-3, np.abs(values).max() / 500), name


def test_a_damaged_encoder_is_refused(tmp_path, monkeypatch):
    folder = shutil.copytree(BUNDLED, tmp_path / "encoder")
    (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:-1] + b"x")
    monkeypatch.setattr(encoders, "BUNDLED", folder)
    with pytest.raises(ValueError, match=r"encoder/model.safetensors: expected the SHA-256 .* install it again"):
        load_judge()


def test_a_checkpoint_of_another_encoder_runs_in_torch(marked_judge, tiny_encoder):
    assert "engine" not in load_judge(marked_judge).facts
    assert "engine" not in load_judge(dtype="float32", backend="torch", ready=False).facts
    assert load_judge(device="cpu", ready=False).facts["engine"] == "onnx"
    assert "engine" not in load_models(embedding_model=tiny_encoder).facts


def test_one_core_in_threads_and_all_in_the_main_one(marked_judge, monkeypatch):
    """The results are the same: every batch runs on one core."""
    judge = load_judge(marked_judge, backend="onnx")
    here = Judge(judge, 60).logits(triples(40))
    monkeypatch.setattr("genqa_metrics.core.encoders.cores", lambda: 3)
    assert judge.model.workers == 3
    assert Judge(judge, 60).logits(triples(40)).tolist() == here.tolist()


@with_cases
def test_bad_arguments(marked_judge, tiny_checkpoint, arguments, message):
    with pytest.raises(ValueError, match=message):
        load_models(tiny_checkpoint, **arguments)
    with pytest.raises(ValueError, match=message):
        load_judge(marked_judge, **arguments)
    with pytest.raises(ValueError, match=message):
        make_scorer("ava", {"checkpoint": str(marked_judge), **arguments})


@pytest.mark.parametrize("configuration", ["a1-all", "a2"])
def test_judges_of_several_pairs_are_refused(judges, configuration):
    message = f"configuration {configuration}; backend 'onnx' runs those that read one pair"
    with pytest.raises(ValueError, match=message):
        load_judge(judges(configuration), backend="onnx")


@pytest.mark.parametrize("kind", ["distilbert", "roberta"])
def test_encoders_of_other_types_are_refused(tiny_encoder, tmp_path, kind):
    encoder = ava_factory.encoder_of_type(kind, tiny_encoder, tmp_path / "encoder")
    model = judge_model.judge_model(encoder, "a1-r_qt")
    folder = ava_factory.saved(model, encoder, tmp_path / "judge", configuration="a1-r_qt")
    with pytest.raises(ValueError, match=f"model_type: expected bert for backend 'onnx', got '{kind}'; take backend"):
        load_judge(folder, backend="onnx")


def without_a_layer(tensors):
    del tensors["bert.encoder.layer.1.output.dense.weight"]


def narrow(tensors):
    tensors["bert.encoder.layer.0.intermediate.dense.weight"] = torch.zeros(3, 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without_a_layer, "lacks 1 tensors, encoder.layer.1.output.dense.weight"),
        (narrow, r"expected the shape \(.*\), got \(3, 3\)"),
    ],
)
def test_broken_weights_are_refused(marked_judge, tmp_path, change, message):
    folder = with_tensors(marked_judge, tmp_path / "broken", change)
    with pytest.raises(ValueError, match=message):
        load_judge(folder, backend="onnx")
    (folder / "model.safetensors").write_bytes(b"no tensors")
    with pytest.raises(ValueError, match="cannot be read"):
        load_judge(folder, backend="onnx")


def test_what_needs_torch_says_how_to_get_it(marked_judge, monkeypatch):
    monkeypatch.setattr(core_scorer, "find_spec", lambda name: None)
    message = "torch and transformers are not installed"
    for settings in ({"device": "cuda"}, {"dtype": "bfloat16"}, {"backend": "torch"}):
        with pytest.raises(ValueError, match=rf"ava: {message}; run pip install 'genqa-metrics\[torch\]'"):
            make_scorer("ava", settings)
    monkeypatch.setattr(encoders, "find_spec", lambda name: None)
    assert load_judge(marked_judge).facts["engine"] == "onnx", "a whole BERT runs without torch"


@pytest.mark.parametrize(("name", "loading"), [("ava", judge_model), ("kpqa", kpqa_loading)])
def test_a_processor_that_emulates_a_floating_type_is_warned_of(
    name, loading, marked_judge, tiny_checkpoint, tiny_encoder, monkeypatch
):
    settings = {"checkpoint": str(marked_judge if name == "ava" else tiny_checkpoint)}
    settings |= {"embedding_model": str(tiny_encoder)} if name == "kpqa" else {}
    for emulated in (True, False):
        monkeypatch.setattr(inference, "is_emulated", lambda dtype, emulated=emulated: emulated)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            make_scorer(name, settings | {"dtype": "float32"})
            loading._loaded.cache_clear()
            make_scorer(name, settings | {"dtype": "bfloat16"})
        about = [str(one.message) for one in said if str(one.message).startswith("dtype")]
        text = "dtype: this processor only emulates bfloat16, slower than float32; use dtype='float32'"
        assert about == [text] * emulated


def test_pieces_are_those_of_transformers(marked_judge):
    own, theirs = OnnxTokenizer(marked_judge), AutoTokenizer.from_pretrained(marked_judge)
    texts = [question for question, *_ in triples(20)]
    others = [answer * 9 for *_, answer in triples(20)]
    for given in (
        {"truncation": "longest_first", "max_length": 24},
        {"truncation": "only_second", "max_length": 40, "return_offsets_mapping": True},
        {"return_special_tokens_mask": True},
    ):
        found, expected = (tokenizer(texts, others, **given) for tokenizer in (own, theirs))
        assert dict(found) == {name: [[*map(_plain, row)] for row in rows] for name, rows in expected.items()}
        assert [found.sequence_ids(i) for i in range(20)] == [expected.sequence_ids(i) for i in range(20)]
    assert own(texts[0], add_special_tokens=False)["input_ids"] == theirs.encode(texts[0], add_special_tokens=False)
    assert own.model_max_length == min(512, theirs.model_max_length)


def _plain(value):
    return tuple(value) if isinstance(value, list | tuple) else value
