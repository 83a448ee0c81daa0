"""Judges of prompts in ONNX Runtime: 8-bit weights of a GGUF file, equality with torch, refusals."""

import json
import shutil

import gguf
import numpy as np
import pytest
import torch
from genqa_metrics.ava import scorer as ava_scorer
from genqa_metrics.ava.loading import load_judge
from genqa_metrics.core import causal_judge as cj
from genqa_metrics.core import gguf_file, judge_model
from genqa_metrics.core.gguf_file import GgufFile
from genqa_metrics.core.kept_logits import KeptLogits
from genqa_metrics.core.prompt_engine import GRAPHS, PromptEngine
from genqa_metrics.registry import make_scorer
from genqa_metrics.scale.options import with_limit
from genqa_metrics.terminal import RowClock
from safetensors.torch import load_file, save_file

from tests.factories.causal import causal_judge, tiny_gguf
from tests.factories.files import contents
from tests.factories.modules import run_program
from training.ava import cut_judge
from training.common import write_rows
from training.publish.prompt_graph import write_graphs

TYPES = {"Q5_0": gguf_file.Q5_0, "Q8_0": gguf_file.Q8_0, "Q4_K": gguf_file.Q4_K, "Q6_K": gguf_file.Q6_K}
SCALES = {
    "Q5_0": [0],
    "Q8_0": [0],
    "Q4_K": [0, 2],
    "Q6_K": [208],
}  # bytes of a block at which numbers of 16 bits stand


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return tiny_gguf(tmp_path_factory.mktemp("base") / "tiny.gguf")


@pytest.fixture(scope="module")
def checkpoint(base, tmp_path_factory):
    folder = causal_judge(tmp_path_factory.mktemp("judge"), base, slope=0.5, intercept=0.25)
    write_graphs(folder, base, together=1)
    return folder


def random_blocks(kind, rows=3, blocks=4):
    """Return bytes of a matrix of a type, random but for finite scales."""
    size, width = gguf_file._SIZES[TYPES[kind]]
    source = np.random.default_rng(1)
    data = source.integers(0, 256, (rows, blocks, width), dtype=np.uint8)
    for at in SCALES[kind]:
        halves = source.uniform(0.001, 0.02, (rows, blocks)).astype(np.float16)
        data[..., at : at + 2] = halves[..., None].view(np.uint8)
    return data, blocks * size


@pytest.mark.parametrize("kind", TYPES)
def test_blocks_are_those_of_the_package_gguf(kind):
    data, columns = random_blocks(kind)
    expected = gguf.dequantize(data.reshape(len(data), -1), gguf.GGMLQuantizationType[kind])
    blocks = gguf_file._DECODERS[TYPES[kind]](data)
    assert blocks.dequantized().shape == (len(data), columns)
    assert blocks.dequantized() == pytest.approx(expected, abs=1e-5)
    rounded = blocks.rounded()
    assert rounded.zeros.max() <= 255
    assert (rounded.zeros == np.rint(rounded.zeros)).all()
    span = np.ptp(np.pad(blocks.dequantized().reshape(*blocks.quants.shape), ((0, 0), (0, 0), (0, 1))), axis=-1)
    moved = np.abs(rounded.dequantized() - expected).reshape(blocks.quants.shape).max(axis=-1)
    assert (moved <= span / 255 + 1e-6).all()


def test_a_block_whose_weights_are_all_equal_keeps_them():
    data, _ = random_blocks("Q4_K")
    data[..., 4:8] = 0  # the first four scales are 0: these blocks hold minus their minimum
    data[..., 12:16] &= 0xF0
    expected = gguf.dequantize(data.reshape(len(data), -1), gguf.GGMLQuantizationType.Q4_K)
    assert gguf_file._q4_k(data).rounded().dequantized() == pytest.approx(expected, rel=0.02, abs=1e-3)


def test_a_largest_weight_that_is_rounded_up_stays_the_largest():
    """From -1.5 to 253.5 in 255 steps of 1: 253.5 is step 255.5 from the zero 2, and there is no step 256."""
    weights = np.array([[-1.5, 253.5, *[0.0] * 30]], dtype=np.float32)
    assert gguf_file._quantized(weights).dequantized() == pytest.approx(weights, abs=0.51)


def test_the_tokenizer_is_that_of_transformers(base):
    from transformers import AutoTokenizer

    texts = ["Question: who won? Paris yes", "l'été 2019\r\n\n x  yz", "日本 ١٢ <|endoftext|> no", ""]
    other = AutoTokenizer.from_pretrained(base.parent, gguf_file=base.name)(texts, add_special_tokens=False)[
        "input_ids"
    ]
    assert gguf_file.token_ids(GgufFile(base).tokenizer, texts) == other


def test_damaged_files_are_refused(base, tmp_path):
    for name, content, reason in (
        ("magic", b"NOPE" + base.read_bytes()[4:], "expected a GGUF file of version 3"),
        ("short", base.read_bytes()[:5000], "damaged or not supported"),
    ):
        path = tmp_path / f"{name}.gguf"
        path.write_bytes(content)
        with pytest.raises(ValueError, match=reason):
            GgufFile(path)


def prompts():
    shared = [cj.answer_prompt("Capital of France?", ["Paris"]), cj.claim_prompt(["Lyon is large."], "Where?")]
    return [(part, text) for part in shared for text in ("Paris", "It is Lyon, on the Rhone.", "Paris.")]


def test_verdicts_are_those_of_torch(checkpoint, base):
    model, tokenizer = judge_model.load_model(checkpoint, "prompt", base_model=base)
    expected = cj.prompt_logits(model, tokenizer, prompts(), 64)
    engine = PromptEngine(checkpoint, base)
    assert [last for last, _ in engine.graphs] == [1, 2]
    logits = cj.prompt_logits(engine, engine.file.tokenizer, prompts(), 64)
    assert np.abs(expected).max() > 0.5
    assert logits == pytest.approx(expected, abs=0.15)  # 8-bit weights and activations
    assert cj.prompt_logits(engine, engine.file.tokenizer, prompts(), 5000) == pytest.approx(logits, abs=0.05)


def test_a_cut_judge_has_its_own_head_and_reads_fewer_layers(checkpoint, base, tmp_path):
    folder = tmp_path / "cut"
    shutil.copytree(checkpoint, folder, ignore=shutil.ignore_patterns(GRAPHS))
    tensors = load_file(folder / "adapter_model.safetensors")
    head = torch.linspace(-1, 1, 32)[None]
    first = {name.replace("layers.1.", "layers.0."): tensor for name, tensor in tensors.items()}
    save_file(first | {"base_model.model.score.weight": head}, folder / "adapter_model.safetensors")
    config = json.loads((folder / "adapter_config.json").read_text())
    config |= {"layers_to_transform": [0], "modules_to_save": ["score"]}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    settings = json.loads((folder / "ava_config.json").read_text()) | {"layers": 1}
    (folder / "ava_config.json").write_text(json.dumps(settings))
    write_graphs(folder, base)
    model, tokenizer = judge_model.load_model(folder, "prompt", base_model=base, layers=1)
    assert len(model.model.layers) == 1
    assert model.score.weight.detach().numpy() == pytest.approx(head.numpy())
    expected = cj.prompt_logits(model, tokenizer, prompts(), 64)
    judge = load_judge(folder, device="cpu")
    assert isinstance(judge.model, PromptEngine)
    assert cj.prompt_logits(judge.model, judge.tokenizer, prompts(), 64) == pytest.approx(expected, abs=0.15)


def test_a_judge_is_cut_where_a_head_gives_its_verdicts(base, tmp_path, monkeypatch):
    whole = causal_judge(tmp_path / "judge", base, slope=2.0, intercept=0.5)
    questions = ["Capital of France?", "Who wrote Emma?", "How many legs?", "When?", "Which river?"]
    answers = ["Paris", "Austen", "six", "in May", "the Rhone", "Lyon"]
    rows = [
        {"question": question, "references": [answers[i]], "candidate": text, "label": int(text == answers[i])}
        for i, question in enumerate(questions)
        for text in answers
    ]
    for part in ("train", "dev"):
        write_rows(tmp_path / f"verdicts.{part}.jsonl", [row | {"score": None} for row in rows])
    output = tmp_path / "out"
    command = f"cut_judge --model {base} --adapter {whole} --folders {tmp_path} --output {output} --layers 1 --keep 1"
    words = [*command.split(), "--train", "verdicts.train=30", "--dev", "verdicts.dev=30"]
    run_program(monkeypatch, cut_judge, words)
    facts = json.loads((output / "cut.json").read_text())
    (line,) = facts["results"]
    assert facts["changed"]["1"]["rows"] == 30
    assert line["rows"] == 30
    assert line["r"] > 0.5  # fitted on the same rows
    run_program(monkeypatch, cut_judge, words)  # reads nothing again
    cut = load_judge(output / "judge", base_model=str(base))
    assert cut.layers == 1
    logits = cj.prompt_logits(cut.model, cut.tokenizer, prompts(), 64)
    engine = PromptEngine(output / "whole", base)
    expected = cj.prompt_logits(engine, engine.file.tokenizer, prompts(), 64)
    scaled = cut.slope * logits + cut.intercept  # with the offset of the head
    assert np.corrcoef(scaled, 2.0 * expected + 0.5)[0, 1] > 0


def test_the_engine_runs_where_nothing_else_is_asked_for(checkpoint, base, tmp_path):
    judge = load_judge(checkpoint)
    assert isinstance(judge.model, PromptEngine)
    assert judge.facts["backend"].startswith("onnx-")
    assert "dtype" not in judge.facts
    assert not isinstance(load_judge(checkpoint, dtype="float32").model, PromptEngine)
    assert not isinstance(load_judge(checkpoint, backend="torch").model, PromptEngine)
    assert isinstance(load_judge(checkpoint, backend="onnx").model, PromptEngine)
    folder = tmp_path / "plain"
    shutil.copytree(checkpoint, folder, ignore=shutil.ignore_patterns(GRAPHS))
    assert not isinstance(load_judge(folder).model, PromptEngine)
    with pytest.raises(ValueError, match="has no graphs for 'onnx'"):
        load_judge(folder, backend="onnx")


def test_a_graph_that_names_a_file_is_refused(checkpoint, base, tmp_path):
    folder = tmp_path / "hostile"
    shutil.copytree(checkpoint, folder)
    path = folder / "graph_00.onnx"
    path.write_bytes(path.read_bytes().replace(b"\x12\x04none", b"\x12\x04/etc", 1))
    with pytest.raises(ValueError, match="external data"):
        PromptEngine(folder, base)


def test_prompts_are_read_once_also_after_an_interruption(checkpoint, monkeypatch, tmp_path):
    monkeypatch.setenv("GENQA_CACHE", str(tmp_path))
    calls = []

    def logits(self, packs):
        calls.append(sum(len(pack.rows) for pack in packs))
        if len(calls) > stop:
            raise KeyboardInterrupt
        return np.concatenate([pack.rows + 0.5 for pack in packs])

    monkeypatch.setattr(PromptEngine, "pack_logits", logits)
    asked = [(cj.answer_prompt(f"Question {n}?", ["Paris"]), "It is Paris.") for n in range(8)]
    stop = 3
    with pytest.raises(KeyboardInterrupt):
        judge_model.JudgeReader(load_judge(checkpoint), batch_tokens=64).prompt_logits(asked)
    stop, calls[:] = 99, []
    first = judge_model.JudgeReader(load_judge(checkpoint), batch_tokens=64).prompt_logits(asked)
    assert 0 < sum(calls) < len(asked)
    calls.clear()
    again = judge_model.JudgeReader(load_judge(checkpoint), batch_tokens=64).prompt_logits([*asked, asked[0]])
    assert calls == []
    assert again.tolist() == [*first, first[0]]
    assert np.isfinite(first).all()
    folder = tmp_path / "other"
    shutil.copytree(checkpoint, folder)
    settings = json.loads((folder / "ava_config.json").read_text())
    for change, reads in (({"slope": 0.5, "threshold": 0.4}, False), ({"layers": 1}, True)):
        (folder / "ava_config.json").write_text(json.dumps(settings | change))
        other = load_judge(folder, ready=False)
        assert (other.kept_as != load_judge(checkpoint).kept_as) == reads


def test_what_cannot_be_kept_is_read_all_the_same(checkpoint, monkeypatch, tmp_path, capfd):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GENQA_CACHE", str(tmp_path / "file"))
    reader = judge_model.JudgeReader(load_judge(checkpoint))
    assert np.isfinite(reader.prompt_logits(prompts())).all()
    assert "judged rows cannot be kept" in capfd.readouterr().err


def test_a_kept_file_that_was_cut_off_is_read_up_to_there(monkeypatch, tmp_path):
    monkeypatch.setenv("GENQA_CACHE", str(tmp_path))
    monkeypatch.setattr(KeptLogits, "in_use", False)
    asked = [("a", "b"), ("c", "d")]
    KeptLogits("").keep(asked, np.array([1.5, -2]))
    assert not KeptLogits.in_use
    KeptLogits("judge").keep(asked, np.array([1.5, -2]))
    assert KeptLogits.in_use
    kept = KeptLogits("judge")
    assert kept.known([*asked, ("a", "c")]).tolist()[:2] == [1.5, -2]
    assert np.isnan(kept.known([("ab", "")])).all()
    kept.path.write_bytes(kept.path.read_bytes()[:-3])
    assert kept.known(asked)[0] == 1.5
    assert np.isnan(kept.known(asked)[1])
    assert np.isnan(KeptLogits("other judge").known(asked)).all()


def test_a_long_task_says_once_how_long_it_takes(monkeypatch):
    clock, seconds = RowClock(), iter([0.0, 1.0, 12.0])
    monkeypatch.setattr("time.monotonic", lambda: next(seconds))
    monkeypatch.setattr(KeptLogits, "in_use", True)
    assert [clock.time_left(done, 370) for done in (0, 1, 2)] == ["", "", ""]
    assert clock.time_left(13, 370) == (  # 357 rows, one a second
        "about 6 minutes for the other 357 rows; Ctrl-C keeps what is judged: the same command goes on there"
    )
    assert clock.time_left(300, 370) == ""
    clock, seconds = RowClock(), iter([0.0, 1.0])
    assert [clock.time_left(done, 60) for done in (1, 12, 30)] == ["", "", ""]  # 4 seconds are no news


def test_with_a_limit_the_second_judge_reads_the_unsure_rows_first(checkpoint, monkeypatch):
    scorer = make_scorer("ava", {"checkpoint": str(checkpoint), "escalate": str(checkpoint), "limit_seconds": 5})
    columns = {"questions": ["Where?"] * 20, "references": [["Paris"]] * 20}
    columns["predictions"] = [f"It is {'very ' * n}far" for n in range(20)]
    first = make_scorer("ava", {"checkpoint": str(checkpoint)}).statistics(columns)[0][:, 1]
    seconds = iter([0.0, 1.0, 4.0, 6.0])  # the end is set, two batches are read
    monkeypatch.setattr(ava_scorer.time, "monotonic", lambda: next(seconds))
    monkeypatch.setattr(type(scorer), "_by_second", lambda self, questions, *_: np.full(len(questions), 0.25))
    result = scorer.statistics(columns)
    statistics, counts = result.values, scorer.all_counts(columns, result)
    read = statistics[:, 1] == 0.25
    assert read.sum() == 2 * ava_scorer.LIMITED_BATCH
    odds = np.abs(np.log(first / (1 - first)) - np.log(scorer.threshold / (1 - scorer.threshold)))
    assert odds[read].max() <= odds[~read].min()
    assert statistics[~read, 1] == pytest.approx(first[~read])
    assert counts["left_to_first"] == 4
    assert "4 rows have the first judge's verdict" in scorer.warnings({}, counts)[-1]


def test_a_limit_needs_a_slow_judge():
    with pytest.raises(ValueError, match="limit_seconds: only with a second judge"):
        make_scorer("ava", {"limit_seconds": 5})
    with pytest.raises(ValueError, match="limit_time: name the judge"):
        with_limit({}, "5m")
    with pytest.raises(ValueError, match="limit_time: expected a second or more"):
        with_limit({"checkpoint": "large"}, "soon")
    assert with_limit({"escalate": "large", "checkpoint": "base"}, 90)["checkpoint"] == "base"


def test_a_judge_from_the_hub_brings_its_graphs(hub, client, checkpoint, base):
    hub.add("model", "ns/judge", contents(checkpoint) | {"onnx/graph_99.onnx": b"of another tool"})
    judge = load_judge("ns/judge", base_model=str(base))
    assert isinstance(judge.model, PromptEngine)
    assert sorted(path.name for path in judge.folder.rglob("*.onnx")) == ["graph_00.onnx", "graph_01.onnx"]
