"""AVA on every type of encoder: each text counts, padding does not, and a saved judge judges the same."""

import json

import pytest
import torch
import transformers
from genqa_metrics.ava import loading
from genqa_metrics.ava.judging import Judge
from genqa_metrics.core import inference, judge_model

from tests.factories.ava import encoder_of_type

ROW = ("who is it", "seven steps", "there are four")
CHANGED = [("how many", *ROW[1:]), (ROW[0], "four rooms", ROW[2]), (*ROW[:2], "a test")]


@pytest.fixture(scope="module")
def encoder(tiny_encoder, tmp_path_factory):
    """Return the folder of a tiny encoder of a type."""
    return lambda kind: encoder_of_type(kind, tiny_encoder, tmp_path_factory.mktemp(kind))


def judge(encoder, configuration, folder):
    torch.manual_seed(6)
    model = judge_model.judge_model(encoder, configuration)
    with torch.no_grad():  # an untrained encoder hardly tells texts apart
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.mul_(10)
    model.save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(encoder).save_pretrained(folder)
    (folder / "ava_config.json").write_text(json.dumps({"configuration": configuration, "max_length": 64}))
    return model.eval(), Judge(loading.load_judge(folder, device="cpu"))


@pytest.mark.parametrize("kind", inference.ENCODERS)
def test_every_text_counts_and_padding_does_not(kind, encoder, tmp_path):
    source = encoder(kind)
    for configuration in ("a1-r_qt", "a0-all", *(["a2"] if kind in inference.CROSS_ATTENTION else [])):
        _, judging = judge(source, configuration, tmp_path / configuration)
        alone = judging.logits([ROW])[0]
        logits = judging.logits([ROW, *CHANGED, (ROW[0], "long " * 9, ROW[2])])  # beside a longer row
        assert logits[0] == pytest.approx(alone, abs=1e-5)
        assert (abs(logits[1:4] - alone) > 1e-3).all()


@pytest.mark.parametrize("kind", inference.CROSS_ATTENTION)
def test_a_peer_is_read(kind, encoder, tmp_path):
    """Other states of the peer, the same of the text itself, give another output of the second round."""
    model, judging = judge(encoder(kind), "a2", tmp_path / "a2")
    inputs = judging.loaded.tokenizer(["who is it"], return_tensors="pt")
    with torch.no_grad():
        first, second = (
            model.peers[0](
                **inputs,
                encoder_hidden_states=torch.randn(1, 4, 16, generator=torch.Generator().manual_seed(seed)),
                encoder_attention_mask=torch.ones(1, 4),
            ).last_hidden_state
            for seed in (0, 1)
        )
    assert (first - second).abs().max() > 1e-3


@pytest.mark.parametrize("kind", sorted(set(inference.ENCODERS) - set(inference.CROSS_ATTENTION)))
def test_an_encoder_that_cannot_read_a_peer_is_refused(kind, encoder):
    with pytest.raises(ValueError, match=f"type '{kind}' has no layers that read a peer; for configuration a2 take"):
        judge_model.judge_model(encoder(kind), "a2")


def test_other_types_are_refused(tmp_path):
    """XLNet's class token is the last one, GPT-2 has none."""
    for kind in ("xlnet", "gpt2"):
        transformers.AutoConfig.for_model(kind).save_pretrained(tmp_path / kind)
        with pytest.raises(ValueError, match=f"encoder: type '{kind}' is not supported; for configuration a1-r_qt"):
            judge_model.judge_model(tmp_path / kind, "a1-r_qt")
