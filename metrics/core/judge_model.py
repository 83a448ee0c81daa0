"""The judges of Vu & Moschitti (2021), section 4: the texts that each configuration reads, and the models.

A configuration is a list of pairs of segments over q (question), r (reference) and t (candidate); "qt" is q and t one
after the other. Each pair is read by an encoder of its own; the classifier sees their pooled outputs side by side.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from .checkpoint_validation import NO_CODE, SAFE_WEIGHTS, whole_model
from .scorer import quiet

WORD = re.compile(r"\w+")

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
PEER_ATTENTION = ("a2",)
LINEAR = "linear"
PROMPT = "prompt"  # one prompt through a causal language model, see `causal_judge`
# Encoder types in transformers; all have their class token first.
ENCODERS = (
    "albert", "bert", "camembert", "deberta-v2", "distilbert", "electra", "modernbert", "mpnet", "roberta",
    "xlm-roberta",
)  # fmt: skip
CROSS_ATTENTION = ("bert", "camembert", "electra", "roberta", "xlm-roberta")  # types with cross attention
MARKS = {
    "shared": 3,
    "asked": 6,
    "valued": 6,
}  # number of token types, by kind of marks; see `judge_reading.word_marks`


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, without punctuation.

    >>> words("In 1,905 B.C.")
    ['in', '1', '905', 'b', 'c']
    """
    return WORD.findall(text.lower())


def segments(configuration: str, question: str, reference: str, candidate: str) -> list[tuple[str, str]]:
    """Return the pairs of texts that a configuration reads (section 4.2).

    Args:
        configuration: name in `CONFIGURATIONS`.
        question: the question; one without punctuation at its end gets a question mark, so that its end is seen.
        reference: the reference.
        candidate: the answer to be judged.

    Returns:
        One pair of segments per encoder.

    >>> segments("a1-r_qt", "who won", "Ann", "It was Ann.")
    [('Ann', 'who won? It was Ann.')]
    """
    question = question.strip()
    question += "" if question[-1:] in ("?", ".", "!", "") else "?"
    texts = {"q": question, "r": reference, "t": candidate}
    return [
        tuple(" ".join(texts[symbol] for symbol in segment) for segment in pair)
        for pair in CONFIGURATIONS[configuration]
    ]


def linear_features(question: str, reference: str, candidate: str, short_answer: str | None = None) -> list[float]:
    """Return x1 to x4 of the linear judge (section 4.1).

    Args:
        question: the question q.
        reference: the reference r.
        candidate: the answer t to be judged.
        short_answer: the short answer s; where there is none the reference takes its place.

    Returns:
        Whether s occurs in t, sim(r, t), sim(r, q) and sim(q, t), with sim(a, b) = 2 |a & b| / (|a| + |b|) on the sets
        of their words.

    >>> linear_features("who won?", "Ann", "Ann did.")
    [1.0, 0.6666666666666666, 0.0, 0.0]
    """
    wanted = words(reference if short_answer is None else short_answer)
    found = bool(wanted) and f" {' '.join(wanted)} " in f" {' '.join(words(candidate))} "

    def sim(a: str, b: str) -> float:
        first, second = set(words(a)), set(words(b))
        return 2 * len(first & second) / (len(first) + len(second)) if first or second else 0.0

    return [float(found), sim(reference, candidate), sim(reference, question), sim(question, candidate)]


def checked_encoder(kind: str, configuration: str) -> None:
    """Refuse an encoder type that a configuration does not support, or that is not tested.

    Args:
        kind: type of the encoder, `config.model_type`.
        configuration: name in `CONFIGURATIONS`.

    Raises:
        ValueError: names those that are possible.
    """
    possible = CROSS_ATTENTION if configuration in PEER_ATTENTION else ENCODERS
    if kind not in possible:
        why = "has no layers that read a peer" if kind in ENCODERS else "is not supported"
        raise ValueError(
            f"encoder: type {kind!r} {why}; for configuration {configuration} take one of {', '.join(possible)}"
        )


NEW_HEAD = r"^(classifier|score)\."  # tensors that an adapter adds to an encoder
POOLER = r"|(^|\.)(pooler|pre_classifier)\.|^head\."  # missing in some encoders; trained with the head


def judge_model(source, configuration: str, marks: str | None = None, new: str = NEW_HEAD + POOLER):
    """Return an untrained judge over an encoder: a sequence classifier of one output, or an `AvaModel` of several.

    Args:
        source: folder or Hub id of the encoder.
        configuration: name in `CONFIGURATIONS`.
        marks: name in `MARKS`: token types are marks of words, see `judge_reading.encoded`; None leaves them.
        new: regular expression of tensors that the encoder may lack.

    Returns:
        A model whose `logits` are (rows, 1): for one pair it takes the inputs of any encoder, for several `pairs`, a
        list of such inputs.

    Raises:
        ValueError: if the encoder is of a type that the configuration cannot have.
    """
    from transformers import AutoConfig, AutoModel, AutoModelForSequenceClassification

    def loaded(auto, **kwargs):
        if Path(source).is_dir():
            return whole_model(auto, Path(source), new, **kwargs)
        return auto.from_pretrained(source, **SAFE_WEIGHTS, **kwargs)

    checked_encoder(AutoConfig.from_pretrained(source, **NO_CODE).model_type, configuration)
    if len(CONFIGURATIONS[configuration]) == 1:
        with quiet():
            model = loaded(AutoModelForSequenceClassification, num_labels=1)
        if marks:
            _widen_types(model.base_model, MARKS[marks])
        return model
    ava_config, ava_model = ava_classes()
    encoder = loaded(AutoModel)
    if marks:
        _widen_types(encoder, MARKS[marks])
    model = ava_model(ava_config(configuration=configuration, encoder=encoder.config.to_dict()))
    trained = encoder.state_dict()
    for part in (*model.encoders, *model.peers):
        part.load_state_dict(trained, strict=False)  # the cross attention of peers is new
    return model


def _widen_types(encoder, count: int) -> None:
    """Give an encoder one token type per mark, all initialised near its first."""
    import torch

    old = getattr(getattr(encoder, "embeddings", None), "token_type_embeddings", None)
    if old is None:
        raise ValueError(
            f"marks: {type(encoder).__name__} has no token types; take an encoder like BERT or RoBERTa, or no marks"
        )
    weight = old.weight.detach()[:1].repeat(count, 1)
    weight[1:] += 0.02 * torch.randn_like(weight[1:])
    encoder.embeddings.token_type_embeddings = torch.nn.Embedding.from_pretrained(weight, freeze=False)
    encoder.config.type_vocab_size = count


_CLASSES: tuple = ()


def ava_classes() -> tuple[type, type]:
    """Return the classes AvaConfig and AvaModel; made on first use, because importing torch takes seconds."""
    global _CLASSES
    if _CLASSES:
        return _CLASSES

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
            checked_encoder(config.encoder["model_type"], config.configuration)

            def encoder(**changes):
                kind = dict(config.encoder)
                return AutoModel.from_config(AutoConfig.for_model(kind.pop("model_type"), **{**kind, **changes}))

            self.encoders = torch.nn.ModuleList(encoder() for _ in range(count))
            self.peers = torch.nn.ModuleList()
            if config.configuration in PEER_ATTENTION:
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
            pooled = [
                output.last_hidden_state[:, 0] if output.get("pooler_output") is None else output.pooler_output
                for output in outputs
            ]
            return SequenceClassifierOutput(logits=self.classifier(self.dropout(torch.cat(pooled, dim=-1))))

    _CLASSES = (AvaConfig, AvaModel)
    return _CLASSES
