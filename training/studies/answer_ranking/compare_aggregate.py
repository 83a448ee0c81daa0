"""Compare-Aggregate, a ranker of answer sentences without a transformer.

Wang & Jiang, "A Compare-Aggregate Model for Matching Text Sequences", ICLR 2017, section 2: gated words, attention of
the answer to the question, comparison by difference and product (SUBMULT+NN), and a convolution. Trained on lists: the
softmax over a question's candidates against its labels. Word vectors are MiniLM's first layer, fixed; theirs GloVe's.
"""

import functools
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from genqa_metrics.core.checkpoints import base_encoder
from safetensors.torch import load_file, save_file
from torch import nn

from training.ava.ranking import Question, is_usable, ranking_scores

HIDDEN = 100  # theirs 150
WINDOWS = (1, 2, 3, 4, 5)
LENGTH = 60  # word pieces of an answer
CANDIDATES = 20  # of a question in training; the correct ones stay
EPOCHS = 6
QUESTIONS = 8  # of a batch
FILE = "model.safetensors"


class CompareAggregate(nn.Module):
    """Scores pairs of (pairs, m, size) question words and (pairs, n, size) answer words with their masks."""

    def __init__(self, size: int):
        super().__init__()
        self.gate, self.content = nn.Linear(size, HIDDEN), nn.Linear(size, HIDDEN)
        self.asked = nn.Linear(HIDDEN, HIDDEN)
        self.compare = nn.Linear(2 * HIDDEN, HIDDEN)
        self.windows = nn.ModuleList(nn.Conv1d(HIDDEN, HIDDEN, width, padding=width // 2) for width in WINDOWS)
        self.score = nn.Sequential(nn.Linear(len(WINDOWS) * HIDDEN, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, 1))

    def forward(self, question, answer, question_mask, answer_mask):
        """Return (pairs,) scores."""
        q, a = (torch.sigmoid(self.gate(x)) * torch.tanh(self.content(x)) for x in (question, answer))
        weights = a @ self.asked(q).transpose(1, 2)  # equation 2
        weights = weights.masked_fill(~question_mask[:, None], -1e9).softmax(dim=-1)
        asked = weights @ q
        compared = torch.relu(self.compare(torch.cat([(a - asked) ** 2, a * asked], dim=-1)))
        compared = (compared * answer_mask[..., None]).transpose(1, 2)
        seen = [torch.relu(window(compared)[..., : answer_mask.shape[1]]) for window in self.windows]
        pooled = [(activations * answer_mask[:, None]).amax(dim=-1) for activations in seen]
        return self.score(torch.cat(pooled, dim=-1)).reshape(-1)


@functools.cache
def _vectors():
    """Return the tokenizer and the (words, size) vectors of MiniLM's first layer."""
    from transformers import AutoTokenizer

    folder = Path(base_encoder())
    return AutoTokenizer.from_pretrained(folder), load_file(folder / FILE)["embeddings.word_embeddings.weight"].float()


def _inputs(question: str, answers: Sequence[str]) -> tuple:
    """Return word vectors of a question and of its answers, then the masks of both."""
    tokenizer, vectors = _vectors()

    def numbers(texts: list[str]):
        batch = tokenizer(texts, truncation=True, max_length=LENGTH, padding=True, add_special_tokens=False)
        ids, mask = torch.tensor(batch["input_ids"]), torch.tensor(batch["attention_mask"]).bool()
        if ids.shape[1] == 0:  # texts of blanks
            ids, mask = torch.zeros(len(texts), 1, dtype=torch.long), torch.zeros(len(texts), 1, dtype=torch.bool)
        return torch.nn.functional.normalize(vectors[ids], dim=-1), mask

    (asked, asked_mask), (answered, answered_mask) = numbers([question]), numbers(list(answers))
    count = len(answers)
    return asked.expand(count, -1, -1), answered, asked_mask.expand(count, -1), answered_mask


def _mean_average_precision(network, questions: Sequence[Question]) -> float:
    scores = _scores(network, questions)
    ranked = [np.array(q.labels)[np.argsort(-s, kind="stable")] for q, s in zip(questions, scores, strict=True)]
    return ranking_scores(ranked)["map"]


def _scores(network, questions: Sequence[Question]) -> list[np.ndarray]:
    network.eval()
    with torch.inference_mode():
        return [network(*_inputs(question.text, question.candidates)).numpy() for question in questions]


def trained(
    training: Sequence[Question], dev: Sequence[Question], folder: str | Path, seed: int, start: Path | None = None
) -> Path:
    """Train the network, unless it exists, from `start` if given; keep the best MAP on dev, return its folder."""
    folder = Path(folder)
    if (folder / FILE).is_file():
        return folder

    torch.manual_seed(seed)
    rng, network = random.Random(seed), CompareAggregate(_vectors()[1].shape[1])
    optimizer = torch.optim.Adamax(network.parameters(), lr=2e-3)
    training, dev = ([q for q in questions if is_usable(q.labels)] for questions in (training, dev))
    best, kept = -1.0, {}
    if start is not None:
        kept = load_file(start / FILE)
        network.load_state_dict(kept)
        best = _mean_average_precision(network, dev)
        print(f"Compare-Aggregate, start: MAP {best:.3f} on dev", flush=True)
    for epoch in range(EPOCHS):
        network.train()
        rng.shuffle(training)
        for i, question in enumerate(training):
            order = sorted(range(len(question.labels)), key=lambda j: (-question.labels[j], rng.random()))[:CANDIDATES]
            target = torch.tensor([float(question.labels[j]) for j in order])
            scores = network(*_inputs(question.text, [question.candidates[j] for j in order]))
            loss = -(target / target.sum() * scores.log_softmax(dim=0)).sum() / QUESTIONS
            loss.backward()
            if (i + 1) % QUESTIONS == 0 or i + 1 == len(training):
                optimizer.step()
                optimizer.zero_grad()
        score = _mean_average_precision(network, dev)
        print(f"Compare-Aggregate, epoch {epoch + 1}: MAP {score:.3f} on dev", flush=True)
        if score > best:
            best, kept = score, {name: tensor.clone() for name, tensor in network.state_dict().items()}
    folder.mkdir(parents=True, exist_ok=True)
    save_file(kept, folder / FILE)
    return folder


def ranked(questions: Sequence[Question], seed: int, folder: str | Path) -> list[np.ndarray]:
    """Return the scores of the network in a folder, see `trained`."""
    network = CompareAggregate(_vectors()[1].shape[1])
    network.load_state_dict(load_file(Path(folder) / FILE))
    return _scores(network, questions)
