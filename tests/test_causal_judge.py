"""Judges that read one prompt through a causal language model: packs, windows, loading, verdicts."""

import json
import os
import shutil
import warnings
from itertools import chain

import numpy as np
import pytest
import torch
from genqa_metrics import load
from genqa_metrics.ava.loading import load_judge
from genqa_metrics.core import causal_judge as cj
from genqa_metrics.core import checkpoints
from genqa_metrics.core.gguf_file import token_ids
from genqa_metrics.core.prompt_engine import WORDS, packed, tree_mask
from safetensors.torch import load_file, save_file

from tests.factories.cases import with_cases
from tests.factories.causal import causal_judge, tiny_gguf
from tests.factories.modules import run_program
from training import mix
from training.ava import train_large
from training.common import write_rows


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return tiny_gguf(tmp_path_factory.mktemp("base") / "tiny.gguf")


@pytest.fixture(scope="module")
def checkpoint(base, tmp_path_factory):
    return causal_judge(tmp_path_factory.mktemp("judge"), base)


@pytest.fixture(scope="module")
def judge(checkpoint):
    return load_judge(checkpoint, device="cpu")


def plain_logit(judge, shared, text):
    """The same without packs: one whole prompt, the usual causal mask, the last token."""
    tokens = [*chain(*token_ids(judge.tokenizer, [shared, f" {text}{cj.END}"]))]
    with torch.inference_mode():
        hidden = judge.model.model(input_ids=torch.tensor([tokens])).last_hidden_state
        return float(judge.model.score(hidden[:, -1])[0, 0])


def test_packs_hold_every_row_once_and_share_what_is_shared():
    packs = packed([([1, 2, 3], [[4], [5, 6], [7]], [0, 1, 2]), ([8], [[9, 9]], [3])], budget=8)
    assert [pack.tokens.tolist() for pack in packs] == [[1, 2, 3, 4, 5, 6, 7], [8, 9, 9]]
    assert packs[0].positions.tolist() == [0, 1, 2, 3, 3, 4, 3]  # each text follows the shared part
    assert packs[0].ends.tolist() == [3, 5, 6]
    assert np.concatenate([pack.rows for pack in packs]).tolist() == [0, 1, 2, 3]
    groups, branches = (torch.from_numpy(getattr(packs[0], name))[None] for name in ("groups", "branches"))
    seen = tree_mask(groups, branches)[0]
    assert seen[5].tolist() == [True, True, True, False, True, True, False]  # its own text, not its neighbours
    assert seen[2].tolist() == [True, True, True, False, False, False, False]
    packs = packed([([1] * 5, [[2] * 9, [3]], [0, 1]), ([4], [[5]], [2])], budget=8)
    assert [pack.rows.tolist() for pack in packs] == [[0], [1, 2]], "a row longer than the budget is a pack of its own"


@pytest.mark.parametrize(("budget", "pack"), [(1, 1024), (64, 1024), (5000, 1024), (5000, 64)])
def test_packed_logits_are_those_of_whole_prompts(judge, monkeypatch, budget, pack):
    monkeypatch.setattr(cj, "PACK", pack)  # the last one reads several packs at once
    shared = [cj.answer_prompt("Capital of France?", ["Paris"]), cj.claim_prompt(["Lyon is large."], "Where?")]
    prompts = [(part, text) for part in shared for text in ("Paris", "It is Lyon, on the Rhone.", "Paris.", "Paris")]
    logits = cj.prompt_logits(judge.model, judge.tokenizer, prompts, budget)
    assert logits == pytest.approx([plain_logit(judge, *prompt) for prompt in prompts], abs=1e-4)
    assert len({round(value, 4) for value in logits}) == 6  # the texts differ, the repeated one does not


def test_a_text_beyond_the_window_is_read_to_its_end(judge, monkeypatch):
    monkeypatch.setattr(cj, "WINDOW", 160)
    monkeypatch.setattr(cj, "LEAST_JUDGED", 40)
    shared = cj.answer_prompt("Capital of France?", ["Paris"])
    ends = [f"{'Nothing here. ' * 30}{end}" for end in ("Paris", "Lyon")]
    first, second = cj.prompt_logits(judge.model, judge.tokenizer, [(shared, text) for text in ends], 64)
    assert np.isfinite([first, second]).all()
    assert first != second


def test_an_untrained_head_says_what_the_language_model_says(base):
    from transformers import AutoModelForCausalLM, GgufConfig

    model, tokenizer = cj.load_causal(base)
    options = {"gguf_file": base.name, "quantization_config": GgufConfig(dequantize=True)}
    whole = AutoModelForCausalLM.from_pretrained(base.parent, **options)
    tokens, (yes,), (no,) = token_ids(tokenizer, ["Answer: yes", *WORDS])
    with torch.inference_mode():
        logits = whole(input_ids=torch.tensor([tokens])).logits[0, -1]
        hidden = model.model(input_ids=torch.tensor([tokens])).last_hidden_state
        assert float(model.score(hidden[:, -1])) == pytest.approx(float(logits[yes] - logits[no]), abs=1e-4)


def test_ava_judges_with_it(checkpoint, judge):
    ava = load("ava", checkpoint=str(checkpoint), device="cpu")
    rows = {
        "questions": ["Capital of France?"] * 3,
        "predictions": ["It is Lyon, I think", "Perhaps Nice or Metz", "It is Lyon, I think"],
        "references": [["Paris", "the city of Paris"]] * 3,
    }
    results = ava.compute(**rows, per_example=True)
    prompt = cj.answer_prompt("Capital of France?", ["Paris", "the city of Paris"])
    expected = [1 / (1 + np.exp(-plain_logit(judge, prompt, text))) for text in rows["predictions"]]
    assert results["ava_score_per_example"] == pytest.approx(expected, abs=1e-4)
    assert "prompt:1" in ava.signature()
    assert "window:2048" in ava.signature()


@pytest.mark.parametrize("order", [1, -1])
def test_grounding_reads_all_passages_in_one_prompt(checkpoint, judge, order):
    grounding = load("grounding", checkpoint=str(checkpoint), device="cpu")
    passages = ["Lyon is a city in France. It lies on the Rhone.", "Metz is older than Lyon."]
    rows = {"predictions": ["Lyon lies on the Loire."], "contexts": [passages[::order]]}
    results = grounding.compute(**rows, per_example=True, explain=True)
    prompt = cj.claim_prompt(sorted(passages))
    expected = 1 / (1 + np.exp(-plain_logit(judge, prompt, "Lyon lies on the Loire.")))
    assert results["grounding_score_per_example"] == pytest.approx([expected], abs=1e-4)
    assert results["explanation"][0]["sentences"][0]["passage"] == passages[::order].index(passages[0])


def test_the_base_model_is_part_of_the_digest(checkpoint, tmp_path):
    other = tiny_gguf(tmp_path / "tiny.gguf", seed=1)
    first, second = (load_judge(checkpoint, device="cpu", base_model=model) for model in (None, str(other)))
    assert first.facts["checkpoint"] == second.facts["checkpoint"]
    assert first.facts["files"] != second.facts["files"]


@with_cases
def test_an_adapter_that_does_not_fit_is_refused(checkpoint, tmp_path, name, value, message):
    folder = shutil.copytree(checkpoint, tmp_path / "judge")
    config = json.loads((folder / "adapter_config.json").read_text())
    (folder / "adapter_config.json").write_text(json.dumps(config | {name: value}))
    with pytest.raises(ValueError, match=message):
        load_judge(folder, device="cpu")


def test_a_file_of_another_architecture_is_refused(base, tmp_path):
    """Files of Llama store queries and keys in another order: they would load, and judge wrongly."""
    path = tmp_path / "llama.gguf"
    path.write_bytes(base.read_bytes().replace(b"qwen2", b"llama"))
    with pytest.raises(ValueError, match="expected a GGUF file of a qwen2 model, got llama"):
        cj.load_causal(path)


@pytest.mark.slow
def test_training_makes_a_judge_that_ava_loads(base, tmp_path, monkeypatch):
    """The same rows again and again: the loss falls, the run resumes, and the checkpoint says what it was made of."""
    right = {"Capital of France?": "Paris", "Who wrote Emma?": "Austen", "How many legs?": "six"}
    rows = [
        {"question": question, "references": [answer], "candidate": text, "label": int(text == answer), "score": None}
        for question, answer in right.items()
        for text in right.values()
    ]
    write_rows(tmp_path / "verdicts.jsonl", rows)
    claims = [{"context": "Ann won.", "question": None, "candidate": text, "label": n} for n, text in enumerate("ab")]
    write_rows(tmp_path / "claims.jsonl", claims)
    output = tmp_path / "out"
    command = f"train_large --model {base} --sources verdicts=900 claims --folders {tmp_path}"
    command += f" --output_dir {output} --first_layer 0 --lora_rank 4 --learning_rate 0.02 --num_train_epochs 40"
    command += " --per_device_train_batch_size 1 --save_steps 20 --logging_steps 20 --use_cpu --report_to none"
    run_program(monkeypatch, train_large, [*command.split(), "--max_steps", "20"])
    run_program(monkeypatch, train_large, [*command.split(), "--max_steps", "40"])
    state = json.loads((output / "checkpoint-40" / "trainer_state.json").read_text())
    losses = [entry["loss"] for entry in state["log_history"] if "loss" in entry]
    assert len(losses) == 2  # the second run went on after the first
    assert losses[1] < losses[0]
    facts = json.loads((output / "mean" / "training.json").read_text())
    assert facts["step"] == 40
    assert set(facts["sources"]) == {"verdicts", "claims"}
    assert str(tmp_path) not in json.dumps(facts)
    judge = load_judge(output / "mean", device="cpu", base_model=str(base))
    assert judge.configuration == "prompt"


def test_a_mean_of_adapters_has_the_mean_of_their_factors(checkpoint, tmp_path, monkeypatch):
    name, mixed = "adapter_model.safetensors", tmp_path / "mixed"
    earlier = shutil.copytree(checkpoint, tmp_path / "earlier")
    later = load_file(checkpoint / name)
    save_file({key: 3 * tensor for key, tensor in later.items()}, earlier / name)
    run_program(monkeypatch, mix, ["mix", "--parts", f"{checkpoint}=0.5", f"{earlier}=0.5", "--output", str(mixed)])
    mean = load_file(mixed / name)
    assert mean.keys() == later.keys()
    assert all(torch.equal(mean[key], 2 * later[key]) for key in later)
    row = {"questions": ["Where?"], "predictions": ["Paris"], "references": ["Rome"]}
    assert 0 < load("ava", checkpoint=str(mixed)).compute(**row)["ava_score"] < 1
    save_file({key: tensor[:1] for key, tensor in later.items()}, earlier / name)
    with pytest.raises(ValueError, match="earlier: expected the layers and the rank of"):
        mix.main()


@pytest.mark.slow
def test_the_real_base_model_gives_the_verdicts_of_the_card(monkeypatch):
    """Where the file is in the Hub's cache."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", os.environ["GENQA_HUB"])
    pinned = checkpoints.ENCODERS[checkpoints.CAUSAL_MODEL]
    if not checkpoints.cached_folder(checkpoints.CAUSAL_MODEL, pinned.revision, [pinned.file]):
        pytest.skip("large's base model is not there: genqa-metrics download --metric ava --checkpoint large")
    ava = load("ava", checkpoint="large", device="cpu", progress=False)
    asked = ["Wer schrieb den Faust?", "How many vacation days do I get?"]
    answers = ["Das Drama stammt von Johann Wolfgang von Goethe.", "You get 28 working days a year."]
    rows = {"questions": asked * 2, "references": ["Goethe", "28 working days"] * 2}
    said = [*answers, "Es war Friedrich Schiller.", "Full-time employees receive 25 days of leave."]
    assert ava.compute(**rows, predictions=said, per_example=True)["ava_label_per_example"] == [1, 1, 0, 0]


def test_languages_that_were_measured_raise_no_alarm(checkpoint):
    ava = load("ava", checkpoint=str(checkpoint), device="cpu")
    german = {"questions": ["Wer schrieb den Faust?"], "references": ["Goethe"]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ava.compute(**german, predictions=["Das Drama stammt von Johann Wolfgang von Goethe."])
    french = {"questions": ["Quelle est la capitale de la France ?"], "references": ["Paris"]}
    with pytest.warns(UserWarning, match="measured in English, German and Arabic only"):
        ava.compute(**french, predictions=["La capitale est Paris, une grande ville."])
