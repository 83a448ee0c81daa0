"""Judges with several encoders: the configurations of Vu & Moschitti (2021, section 4), and their torch model.

A configuration is a list of pairs of segments over q (question), r (reference) and t (candidate); "qt" is q and t one
after the other. Each pair is read by an encoder of its own; the classifier sees their pooled outputs side by side.
"""

from collections.abc import Sequence
from functools import cache

from .inference import checked_encoder

CONFIGURATIONS: dict[str, tuple[tuple[str, str], ...]] = {
    "a0-qr": (("q", "r"),),
    "a0-rt": (("r", "t"),),
    "a0-qt": (("q", "t"),),
    "a0-all": (("q", "r"), ("r", "t"), ("q", "t")),
    "a1-q_rt": (("q", "rt"),),
    "a1-r_qt": (("r", "qt"),),
    "a1-t_qr": (("t", "qr"),),
    "a1-q_rt-t_qr": (("q", "rt"), ("t", "qr")),
    "a1-r_qt-t_qr": (("r", "qt"), ("t", "qr")),
    "a1-r_qt-q_rt": (("r", "qt"), ("q", "rt")),
    "a1-all": (("q", "rt"), ("r", "qt"), ("t", "qr")),
    "a2": (("r", "qt"), ("t", "qr")),
}
PEER_ATTENTION = ("a2",)  # those whose encoders read each other's texts in a second round


@cache
def ava_classes() -> tuple[type, type]:
    """Return the classes AvaConfig and AvaModel; made on first use, because importing torch takes seconds."""
    import torch
    from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel
    from transformers.modeling_outputs import SequenceClassifierOutput

    class AvaConfig(PretrainedConfig):
        """Configuration of a judge with several encoders: its name in CONFIGURATIONS and the encoder's own."""

        model_type = "ava"

        def __init__(self, configuration: str = "a1-all", encoder: dict | None = None, **kwargs):
            self.configuration = configuration
            self.encoder = encoder or {}
            super().__init__(**kwargs)

    class AvaModel(PreTrainedModel):
        """A judge of several pairs of texts, each read by an encoder of its own (A0, A1) or in two rounds (A2)."""

        config_class = AvaConfig

        def __init__(self, config):
            super().__init__(config)
            count = len(CONFIGURATIONS[config.configuration])
            has_peers = config.configuration in PEER_ATTENTION
            checked_encoder(config.encoder["model_type"], config.configuration, has_peers)

            def encoder(**changes):
                kind = dict(config.encoder)
                return AutoModel.from_config(AutoConfig.for_model(kind.pop("model_type"), **{**kind, **changes}))

            self.encoders = torch.nn.ModuleList(encoder() for _ in range(count))
            self.peers = torch.nn.ModuleList()
            if has_peers:
                for _ in range(count):
                    peer = encoder(is_decoder=True, add_cross_attention=True)
                    peer.config.is_decoder = False  # reads its own text in both directions
                    peer.config.use_cache = False
                    for module in peer.modules():
                        if hasattr(module, "is_causal"):
                            module.is_causal = False
                    self.peers.append(peer)
            size = self.encoders[0].config.hidden_size
            self.dropout = torch.nn.Dropout(0.1)
            self.classifier = torch.nn.Linear(count * size, 1)
            self.post_init()

        def forward(self, pairs: Sequence[dict], labels=None) -> SequenceClassifierOutput:
            outputs = [encoder(**inputs) for encoder, inputs in zip(self.encoders, pairs, strict=True)]
            if self.peers:  # section 4.3: each text is read again with attention to the other
                outputs = [
                    peer(
                        **inputs,
                        encoder_hidden_states=other.last_hidden_state,
                        encoder_attention_mask=other_inputs["attention_mask"],
                    )
                    for peer, inputs, other, other_inputs in zip(
                        self.peers, pairs, outputs[::-1], pairs[::-1], strict=True
                    )
                ]
            first = [output.last_hidden_state[:, 0] for output in outputs]
            pooled = [output.get("pooler_output", state) for output, state in zip(outputs, first, strict=True)]
            return SequenceClassifierOutput(logits=self.classifier(self.dropout(torch.cat(pooled, dim=-1))))

    return AvaConfig, AvaModel
