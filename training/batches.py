"""Training batches of rows of similar length, in a random order that changes every epoch."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence

import torch
from transformers import Trainer

from training.common import shuffled_batches


class LikeLengthSampler(torch.utils.data.Sampler):
    """Rows in the order of `shuffled_batches`, which depends on seed and epoch alone: a killed run has it again."""

    def __init__(self, lengths: Sequence[int], size: int, seed: int):
        self.lengths, self.size, self.seed, self.epoch = lengths, size, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of an epoch; the Trainer calls it."""
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.lengths)

    def __iter__(self) -> Iterator[int]:
        return iter(shuffled_batches(self.lengths, self.size, random.Random(1000 * self.seed + self.epoch)))


class LikeLengthTrainer(Trainer):
    """A Trainer with `LikeLengthSampler`."""

    def __init__(self, length_of: Callable[[Mapping], int], **kwargs):
        super().__init__(**kwargs)
        self.length_of = length_of

    def _get_train_sampler(self, train_dataset=None) -> LikeLengthSampler:
        lengths = [self.length_of(row) for row in train_dataset or self.train_dataset]
        return LikeLengthSampler(lengths, self.args.train_batch_size, self.args.seed)
