"""The generator: BiLSTM encoder, attention, input feeding, and for d > 0 a latent variable (section 4).

Equations are those of Schlichtkrull & Cheng, "Evaluating for Diversity in Question Generation over Text", 2020.
B rows, T words of the context, L words of the question, H the hidden size, d the size of the latent variable.
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple

import torch
from genqa_metrics.core.checkpoints import checkpoint_digest
from torch import nn
from torch.nn import functional

from training.question_generation.contexts import Settings, WordVectors, encoder_folder


@dataclass
class Config(Settings):
    """What a saved generator needs to be built again: settings of training, and the output vocabulary.

    `vector` is the size of a word's vector, `mean` that of the mean state of a question, which the posterior reads.
    """

    words: list[str] = field(default_factory=list)
    layers: int = 1
    vector: int = 384
    mean: int = 384
    encoder_sha256: str = ""


class State(NamedTuple):
    """What the decoder carries from step to step."""

    context: torch.Tensor  # (B, H), c
    hidden: tuple[torch.Tensor, ...]  # (B, H) of every layer, k
    cell: tuple[torch.Tensor, ...]  # (B, H) of every layer


class Encoded(NamedTuple):
    """What the decoder knows of the context."""

    states: torch.Tensor  # (B, T, H), b
    keys: torch.Tensor  # (B, T, H), W_a b
    mask: torch.Tensor  # (B, T), whether there is a word
    mean: torch.Tensor  # (B, H), h_c


def kl_divergence(mean, log_sigma, prior_mean, prior_log_sigma) -> torch.Tensor:
    """Return KL(N(mean, sigma^2) || N(prior_mean, prior_sigma^2)) of every dimension, in nats; all (B, d).

    >>> one = torch.ones(1, 1)
    >>> kl_divergence(one, 0 * one, 0 * one, 0 * one).item()
    0.5
    """
    ratio = (2 * (log_sigma - prior_log_sigma)).exp()
    distance = ((mean - prior_mean) / prior_log_sigma.exp()) ** 2
    return prior_log_sigma - log_sigma + (ratio + distance - 1) / 2


def copy_log_probability(attention: torch.Tensor, copyable: torch.Tensor, copies: torch.Tensor) -> torch.Tensor:
    """Return (B, L) log-probabilities that the word that UNKNOWN stands for is the right one (Gulcehre et al. 2016).

    The word is drawn from those that can be copied, with the (B, L, T) attention as the odds; 0 where nothing is
    copied. `copyable`, (B, T), are words outside the vocabulary, `copies`, (B, L, T), those that the question has
    there.

    >>> attention = torch.tensor([[[0.5, 0.3, 0.2]]])
    >>> copyable = torch.tensor([[False, True, True]])
    >>> round(copy_log_probability(attention, copyable, torch.tensor([[[False, True, False]]])).exp().item(), 4)
    0.6
    """
    attention = attention.float() + 1e-9
    right, all_of_them = (attention * copies).sum(-1), (attention * copyable[:, None]).sum(-1)
    is_copied = copies.any(-1)
    return right.where(is_copied, 1).log() - all_of_them.where(is_copied, 1).log()


class Generator(nn.Module):
    """Question generator of Du et al. (2017), with `config.latent` > 0 the variational one of the paper."""

    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        size, hidden, latent = config.vector, config.hidden, config.latent
        sizes = [size, *[hidden] * (config.layers - 1)]
        self.forwards = nn.ModuleList(nn.LSTM(read, hidden // 2, batch_first=True) for read in sizes)
        self.backwards = nn.ModuleList(nn.LSTM(read, hidden // 2, batch_first=True) for read in sizes)
        if config.skip:
            self.skips = nn.Linear(size, hidden, bias=False)
        self.keys = nn.Linear(hidden, hidden, bias=False)  # W_a
        self.reads = nn.Linear(size + latent, 4 * hidden)  # the LSTM's weights of e_t and z
        self.recurs = nn.Linear(2 * hidden, 4 * hidden, bias=False)  # of c_{t-1} and k_{t-1}
        self.upper = nn.ModuleList(nn.LSTMCell(hidden, hidden) for _ in range(config.layers - 1))
        self.combines = nn.Linear(2 * hidden, hidden, bias=False)  # W_c
        if config.output == "vectors":
            self.projects = nn.Linear(hidden, size, bias=False)
        else:
            self.says = nn.Linear(hidden, len(config.words), bias=False)  # W_o
        self.bias = nn.Parameter(torch.zeros(len(config.words)))  # b_o
        self.register_buffer("vectors", torch.zeros(len(config.words), size))
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))
        self.dropout = nn.Dropout(config.dropout)
        if latent:
            read = nn.Linear(hidden + config.mean, hidden)
            self.posterior = nn.Sequential(read, nn.ReLU(), nn.Linear(hidden, 2 * latent))
            self.prior = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 2 * latent))

    def encode(self, context: torch.Tensor, lengths: torch.Tensor) -> tuple[Encoded, State]:
        """Return the encoded contexts and the decoder's first state; (B, T, size) vectors, (B,) numbers of words."""
        lengths = lengths.to(context.device)[:, None]
        places = torch.arange(context.shape[1], device=context.device)
        mask = places < lengths
        # Every row is turned round within its length: packed sequences do the same, at three times the cost on a CPU.
        turned = torch.where(mask, lengths - 1 - places, places)[..., None]

        def turn(x: torch.Tensor) -> torch.Tensor:
            return x.gather(1, turned.expand(-1, -1, x.shape[2]))

        states, hidden = context, []
        for forwards, backwards in zip(self.forwards, self.backwards, strict=True):
            states = self.dropout(states)
            there, back = forwards(states)[0], backwards(turn(states))[0]
            last = (lengths - 1)[..., None].expand(-1, -1, there.shape[2])
            hidden.append(torch.cat([there.gather(1, last), back.gather(1, last)], -1)[:, 0])
            states = torch.cat([there, turn(back)], -1)
        if self.config.skip:
            states = states + self.skips(context)
        states = states * mask[..., None]
        mean = states.sum(1) / lengths
        cell = tuple(torch.zeros_like(layer) for layer in hidden)
        return Encoded(states, self.keys(states), mask, mean), State(hidden[-1], tuple(hidden), cell)

    def prior_of(self, encoded: Encoded) -> tuple[torch.Tensor, torch.Tensor]:
        """Return mean and log sigma of p(z|x), (B, d) each (equations 15 to 17)."""
        return self.prior(encoded.mean).float().chunk(2, -1)

    def posterior_of(self, encoded: Encoded, question_mean: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return mean and log sigma of q(z|x, y), (B, d) each (equations 11 to 14)."""
        return self.posterior(torch.cat([encoded.mean, question_mean], -1)).float().chunk(2, -1)

    def read(self, previous: torch.Tensor, latent: torch.Tensor | None) -> torch.Tensor:
        """Return the share of the LSTM's gates from the word before and z: (..., size) and (..., d) -> (..., 4 H)."""
        return self.reads(previous if latent is None else torch.cat([previous, latent], -1))

    def step(self, read: torch.Tensor, state: State, encoded: Encoded) -> tuple[State, torch.Tensor]:
        """Return the next state and the (B, T) attention of one step (equations 4 to 7 and 9); `read` is (B, 4 H)."""
        gates = read + self.recurs(torch.cat([state.context, state.hidden[0]], -1))
        opened, new = gates.split([3 * self.config.hidden, self.config.hidden], -1)
        enter, forget, out = opened.sigmoid().chunk(3, -1)
        cells = [forget * state.cell[0] + enter * new.tanh()]
        hidden = [out * cells[0].tanh()]
        for cell, k, memory in zip(self.upper, state.hidden[1:], state.cell[1:], strict=True):
            k, memory = cell(self.dropout(hidden[-1]), (k, memory))
            hidden.append(k)
            cells.append(memory)
        query = hidden[-1]
        scores = (encoded.keys * query[:, None]).sum(-1)  # for one query this is 5 times as fast as bmm on a CPU
        if self.config.scaled:
            scores = scores / self.config.hidden**0.5
        attention = scores.masked_fill(~encoded.mask, -torch.inf).softmax(-1)
        seen = (encoded.states * attention[..., None]).sum(1)
        context = self.combines(torch.cat([seen, query], -1)).tanh()
        return State(context, tuple(hidden), tuple(cells)), attention

    def speak(self, context: torch.Tensor) -> torch.Tensor:
        """Return the logits of the words, (..., V), for c, (..., H) (equation 8; see `Settings.output`)."""
        if self.config.output == "free":
            return self.says(context).float() + self.bias
        table = self.vectors.T / self.vectors.shape[1] ** 0.5
        return (self.projects(context) @ table).float() + self.bias

    def kl_weight(self) -> float:
        """Return the weight of the KL term at the present step of training, from 0 to 1."""
        return min(1.0, self.config.kl_rate * (int(self.steps) // self.config.kl_steps))

    def forward(self, context, lengths, copyable, previous, target, copies, question_mean) -> dict[str, torch.Tensor]:
        """Return the loss of a batch (`Examples.collate`), the negative ELBO (equation 10) with free bits, and parts.

        "nll": (B,) negative log-likelihood of the questions; "tokens": (B,) words of the questions that the decoder
        can write, the end included; "kl": (B, d) KL of every dimension. In training mode z is a draw from the
        posterior, is dropped whole for some examples, and the KL term is annealed; else z is the posterior's mean and
        the KL term whole. The free bits count in both, so dev measures what is trained.
        """
        encoded, state = self.encode(context, lengths)
        latent, kl = None, context.new_zeros(len(context), 1)
        if self.config.latent:
            prior, posterior = self.prior_of(encoded), self.posterior_of(encoded, question_mean)
            kl = kl_divergence(*posterior, *prior)
            latent = posterior[0]
            if self.training:
                latent = latent + posterior[1].exp() * torch.randn_like(latent)
                kept = torch.rand(len(latent), 1, device=latent.device) >= self.config.latent_dropout
                latent = latent * kept
            latent = latent[:, None].expand(-1, previous.shape[1], -1)
        reads = self.read(previous, latent)
        contexts, attentions = [], []
        for read in reads.unbind(1):
            state, attention = self.step(read, state, encoded)
            contexts.append(state.context)
            attentions.append(attention)
        asked = target != -100
        logits = self.speak(self.dropout(torch.stack(contexts, 1)[asked]))
        losses = functional.cross_entropy(logits, target[asked], reduction="none")
        losses = losses - copy_log_probability(torch.stack(attentions, 1), copyable, copies)[asked]
        nll = losses.new_zeros(target.shape).masked_scatter(asked, losses).sum(1)
        penalty = kl.mean(0).clamp(min=self.config.free_bits).sum() if self.config.latent else kl.sum()
        weight = self.kl_weight() if self.training else 1.0
        self.steps += self.training
        loss = nll.mean() + weight * penalty
        return {"loss": loss, "nll": nll, "tokens": asked.sum(1), "kl": kl}


def save(model: Generator, folder: str | Path, small: bool = False) -> None:
    """Write config.json and model.safetensors; `small`: in half precision, without the encoder's word vectors."""
    from safetensors.torch import save_file

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"model_type": "question-generator", **asdict(model.config)}, indent=1, ensure_ascii=False)
    (folder / "config.json").write_text(text + "\n", encoding="utf-8")
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    if small:
        weights = {name: tensor.half() if tensor.is_floating_point() else tensor for name, tensor in weights.items()}
        del weights["vectors"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def load(folder: str | Path) -> Generator:
    """Return a saved generator, ready to generate."""
    from safetensors.torch import load_file

    folder = Path(folder)
    paths = folder / "config.json", folder / "model.safetensors"
    if not all(path.is_file() for path in paths):
        raise ValueError(f"model: expected config.json and model.safetensors in {folder}; train one first")
    settings = json.loads(paths[0].read_text(encoding="utf-8"))
    if settings.pop("model_type", None) != "question-generator":
        raise ValueError(f"model: {paths[0]} is not of a question generator of train_generator.py")
    model = Generator(Config(**settings))
    weights = load_file(paths[1])
    if "vectors" not in weights:
        weights["vectors"] = torch.from_numpy(word_vectors(model.config)(model.config.words))
    model.load_state_dict(weights)
    return model.eval()


def word_vectors(config: Config):
    """Return the contexts.WordVectors that a generator was trained with; an encoder of other weights is refused."""
    folder = encoder_folder(config.encoder)
    if config.encoder_sha256 and (digest := checkpoint_digest(folder)) != config.encoder_sha256:
        wanted = f"the generator was trained with weights {config.encoder_sha256[:12]} of {config.encoder}"
        raise ValueError(f"encoder: {wanted}, got {digest[:12]} in {folder}")
    return WordVectors(folder, config.vector)
