"""Tiny question generators, from a seed or from a tiny training, and what they read."""

import numpy as np
import torch

from training.common import prepared
from training.question_generation import contexts as data
from training.question_generation import generator as m
from training.question_generation import train_generator

TINY = (
    "--sources squad_du2017.dev --dev_sources fairytaleqa.test --hidden 16 --vector 16 --min_count 2 --kl_steps 1 "
    "--free_bits 0.1 --patience 1 --learning_rate 1e-2 --per_device_train_batch_size 32 --num_train_epochs 2 "
    "--eval_strategy epoch --save_strategy epoch --use_cpu True --disable_tqdm True --report_to none"
)

WORDS = [*data.SPECIAL, "who", "won", "?"]


class Vectors:
    """A vector of 6 random numbers for every word, always the same."""

    size = 6

    def __call__(self, words):
        rows = [np.random.default_rng(sum(map(ord, word)) * 7 + len(word)).normal(size=self.size) for word in words]
        return np.array(rows, np.float32).reshape(-1, self.size)


def examples(words=WORDS, **settings):
    return data.Examples(words, Vectors(), **settings)


def generator(words=WORDS, latent=0, layers=1, hidden=8, seed=0, scale=3.0, **settings):
    torch.manual_seed(seed)
    config = m.Config(words=words, latent=latent, layers=layers, hidden=hidden, vector=6, mean=5, **settings)
    model = m.Generator(config).eval()
    model.vectors.copy_(torch.from_numpy(Vectors()(words)))
    with torch.no_grad():
        for weight in model.parameters():
            weight *= scale  # clear preferences, so that no two sentences are equally likely
    return model


def batch_of(pairs, maker=None, seed=0):
    maker = maker or examples()
    means = np.random.default_rng(seed).normal(size=(len(pairs), 5)).astype(np.float32)
    return maker.collate(maker.of_pairs(pairs, means))


PAIRS = [("ann won the cup .", "who won cup ?"), ("bob lost", "who lost"), ("it rains in may , they say", "when ?")]


def run(folder, output, encoder, *more):
    words = [*TINY.split(), "--data_dir", str(folder), "--output_dir", str(output), "--encoder", str(encoder), *more]
    return train_generator.train(*prepared(train_generator.Arguments, words))
