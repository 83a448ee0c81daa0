"""Beam search over a whole batch at once, and random beam selection (section 5)."""

from collections.abc import Sequence

import numpy as np
import torch

from training.question_generation.contexts import END, PAD, START, UNKNOWN
from training.question_generation.generator import Generator, State, copy_log_probability

MAX_WORDS = 30


class Beams:
    """The finished beams of a batch: `words`, (B, width, steps) numbers of words, PAD behind the end.

    `copied`, (B, width, steps), is the place in the context of the word that stands for UNKNOWN; `scores`, (B, width),
    are log-probabilities, the best first, -inf where there are fewer beams.
    """

    def __init__(self, words: torch.Tensor, copied: torch.Tensor, scores: torch.Tensor):
        self.words, self.copied, self.scores = words.cpu().numpy(), copied.cpu().numpy(), scores.cpu().numpy()

    def text(self, row: int, beam: int, vocabulary: Sequence[str], context: Sequence[str]) -> str:
        """Return a beam as words with blanks between them."""
        tokens = []
        for word, position in zip(self.words[row, beam], self.copied[row, beam], strict=True):
            if word in (END, PAD):
                break
            tokens.append(context[position] if word == UNKNOWN else vocabulary[word])
        return " ".join(tokens)


def _repeated(tensors, times: int):
    return type(tensors)(
        *(tuple(t.repeat_interleave(times, 0) for t in x) if isinstance(x, tuple) else x.repeat_interleave(times, 0)
          for x in tensors)
    )  # fmt: skip


@torch.inference_mode()
def beam_search(
    model: Generator,
    batch: dict,
    latent: torch.Tensor | None = None,
    width: int = 3,
    max_words: int = MAX_WORDS,
    no_repeat: int = 0,
    top: int | None = None,
) -> Beams:
    """Return the `width` likeliest questions that a beam search finds for every row of a batch of `Examples.collate`.

    A beam that has ended keeps its log-probability and its place. UNKNOWN stands for the word of the context that gets
    most attention, as in Du et al. (2017). A model that learned copies says it only where the context has a word
    outside the vocabulary, means one of those, and gives it the probability of UNKNOWN and of that word. `latent` is
    (B, d), one draw per row. No question says `no_repeat` words in a row twice (Paulus et al. 2018); 0 lets it, as the
    paper does. A row whose `top` best beams have ended is done, as the others can only become less likely; they are
    returned as they are.
    """
    encoded, state = model.encode(batch["context"], batch["lengths"])
    rows, device = len(batch["context"]), batch["context"].device
    encoded, state = _repeated(encoded, width), _repeated(state, width)
    words_of, copyable = (batch[name].repeat_interleave(width, 0) for name in ("context", "copyable"))
    if latent is not None:
        latent = latent.repeat_interleave(width, 0)
    impossible = torch.zeros(rows * width, len(model.config.words), device=device)
    impossible[:, [PAD, START]] = -torch.inf
    impossible[~copyable.any(1), UNKNOWN] = -torch.inf
    only_pad = torch.full((len(model.config.words),), -torch.inf, device=device)
    only_pad[PAD] = 0
    first = torch.arange(rows, device=device)[:, None] * width
    scores = torch.full((rows, width), -torch.inf, device=device)
    scores[:, 0] = 0
    ended = torch.zeros(rows * width, dtype=torch.bool, device=device)
    previous = words_of.new_zeros(rows * width, words_of.shape[2])
    words = torch.zeros(rows * width, 0, dtype=torch.long, device=device)
    copied = words.clone()
    for _ in range(max_words):
        state, attention = model.step(model.read(previous, latent), state, encoded)
        position = attention.masked_fill(~copyable, -1).argmax(1, keepdim=True)
        live = ~ended  # the words are most of the work, and of a beam that has ended they are known
        steps = torch.zeros_like(impossible)
        steps[live] = model.speak(state.context[live]).log_softmax(-1) + impossible[live]
        if model.config.copies:
            copies = torch.zeros_like(copyable).scatter(1, position, True) & copyable
            steps[:, UNKNOWN] += copy_log_probability(attention[:, None], copyable, copies[:, None])[:, 0]
        position = position[:, 0]
        if no_repeat and words.shape[1] >= no_repeat:
            windows = words.unfold(1, no_repeat, 1)
            start = words[:, words.shape[1] - no_repeat + 1 :]
            beam, where = (windows[..., :-1] == start[:, None]).all(-1).nonzero(as_tuple=True)
            steps[beam, windows[beam, where, -1]] = -torch.inf
        steps[ended] = only_pad
        totals = (scores[:, :, None] + steps.view(rows, width, -1)).flatten(1)
        scores, best = totals.topk(width, dim=1)
        parents = (first + best // steps.shape[1]).flatten()
        chosen = (best % steps.shape[1]).flatten()
        layers = (tuple(layer[parents] for layer in memory) for memory in (state.hidden, state.cell))
        state, position, ended = State(state.context[parents], *layers), position[parents], ended[parents]
        words = torch.cat([words[parents], chosen[:, None]], 1)
        copied = torch.cat([copied[parents], position[:, None]], 1)
        ended = ended | (chosen == END)
        ended |= ended.view(rows, width)[:, :top].all(1).repeat_interleave(width)
        if ended.all():
            break
        context_words = words_of[torch.arange(len(position), device=device), position]
        previous = torch.where((chosen == UNKNOWN)[:, None], context_words, model.vectors[chosen])
    return Beams(words.view(rows, width, -1), copied.view(rows, width, -1), scores)


@torch.inference_mode()
def draws_of_prior(model: Generator, batch: dict, noise: torch.Tensor) -> torch.Tensor:
    """Return z = mean + sigma * noise of p(z|x): (B, d) standard normal noise -> (B, d)."""
    encoded, _ = model.encode(batch["context"], batch["lengths"])
    mean, log_sigma = model.prior_of(encoded)
    return mean + log_sigma.exp() * noise.to(mean.device)


def generate(
    model: Generator,
    examples,
    contexts: Sequence[str],
    counts: Sequence[int],
    seed: int = 0,
    width: int = 3,
    top: int = 1,
    batch_size: int = 64,
    no_repeat: int = 0,
) -> list[list[str]]:
    """Return `counts[i]` questions for every context: the latent variable is drawn, and a beam chosen, once for each.

    Contexts are lower-case words separated by blanks. A question is drawn from the `top` best of `width` beams with
    equal probability (random beam selection); with 1, a model without a latent variable asks the same question again
    and again. Draws depend on `seed`, not on `batch_size`.
    """
    if not 1 <= top <= width:
        raise ValueError(f"top: expected a number of beams from 1 to width ({width}), got {top}")
    device = model.vectors.device
    rng = np.random.default_rng(seed)
    picks = [rng.integers(top, size=count) for count in counts]
    # Without a latent variable every search of a context is the same one: it is done once.
    size = model.config.latent
    searches = [(i, j) for i, count in enumerate(counts) for j in range(count if size else min(count, 1))]
    noise = torch.randn(len(searches), size, generator=torch.Generator().manual_seed(seed)) if size else None
    rows = examples.of_contexts(contexts)
    order = sorted(range(len(searches)), key=lambda n: len(rows[searches[n][0]]["input_ids"]))
    questions: list[list[str]] = [[""] * count for count in counts]
    for start in range(0, len(order), batch_size):
        numbers = order[start : start + batch_size]
        inputs = [rows[searches[n][0]] for n in numbers]
        batch = {name: tensor.to(device) for name, tensor in examples.collate(inputs).items()}
        latent = None if noise is None else draws_of_prior(model, batch, noise[numbers])
        beams = beam_search(model, batch, latent, width, no_repeat=no_repeat, top=top)
        result = np.isfinite(beams.scores).sum(axis=1)
        for row, n in enumerate(numbers):
            i, j = searches[n]
            for question in [j] if size else range(counts[i]):
                beam = min(int(picks[i][question]), int(result[row]) - 1)
                questions[i][question] = beams.text(row, beam, examples.words, inputs[row]["input_ids"])
    return questions
