"""Train a generator of questions: the deterministic baseline, or the variational one with a latent variable."""

import json
import random
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
from genqa_metrics.core.checkpoints import checkpoint_digest
from genqa_metrics.core.scorer import quiet

from training import common
from training.common import option, prepared
from training.question_generation import contexts as data
from training.question_generation.contexts import Settings

ACTIVE = 0.01  # nat of mean KL above which a dimension of the latent variable is in use


@dataclass
class Arguments(Settings):
    """The model and its data; settings of the optimiser are those of transformers.TrainingArguments."""

    sources: list[str] = option("files NAME.jsonl.gz in data_dir, or NAME or NAME:SPLIT of the Hub", [])
    data_dir: str | None = option("folder of the local files", None)
    dev_sources: list[str] = option("held-out pairs, as sources", [])
    dev_rows: int | None = option("pairs used of the held-out part, at random", None)
    layers: int | None = option("LSTM layers; default 2, with a latent variable 1", None)
    vector: int | None = option("principal components of the embeddings; default all", None)
    min_count: int = option("times a word is in the questions, else it is only copied", 3)
    init: float = option("weights begin between -init and init, all as likely; 0: as PyTorch draws them", 0.0)
    patience: int = option("evaluations without a better loss before it stops; 0 never", 0)
    cache: str | None = option("folder for the encoder's states of the questions", None)


def check(args: Arguments) -> None:
    """Refuse what cannot work, before any work is done."""
    if not args.sources:
        raise ValueError("sources: nothing to train on; name a file of data_dir or a data set of the Hub")
    if both := [name for name in args.dev_sources if name in args.sources]:
        raise ValueError(f"dev_sources: expected sources that are not trained on, got {both[0]}; name others")
    for name, low, high in (("dropout", 0, 0.99), ("latent_dropout", 0, 1), ("init", 0, 1)):
        if not low <= getattr(args, name) <= high:
            raise ValueError(f"{name}: expected a number from {low} to {high}, got {getattr(args, name)}")
    for name, least in (("latent", 0), ("hidden", 2), ("kl_steps", 1), ("max_context", 1), ("max_question", 1)):
        if getattr(args, name) < least:
            raise ValueError(f"{name}: expected a number of at least {least}, got {getattr(args, name)}")
    if args.hidden % 2:
        raise ValueError(f"hidden: expected an even number, got {args.hidden}")
    if args.output not in ("vectors", "free"):
        raise ValueError(f"output: expected 'vectors' or 'free', got {args.output!r}")
    if args.patience and not args.dev_sources:
        raise ValueError("patience: stopping early needs held-out pairs; name some with dev_sources")


def measures(predictions) -> dict[str, float]:
    """Return what is logged of held-out pairs: loss per word, perplexity and the dimensions in use."""
    (nll, tokens, kl), _ = predictions
    words = tokens.sum()
    return {
        "nll_per_word": float(nll.sum() / words),
        "perplexity": float(np.exp(nll.sum() / words)),
        "kl": float(kl.sum(axis=1).mean()),
        "active_dimensions": int((kl.mean(axis=0) > ACTIVE).sum()),
    }


def train(args: Arguments, training) -> dict:
    """Train or resume, write the model to final/, and return measures and facts (train.json)."""
    import torch

    from training.question_generation.generator import Config, Generator, save

    check(args)

    # 1. Pairs of context and question.
    pairs, held_out = (
        [(c.text, text) for name in names for c in data.read_contexts(name, args.data_dir) for text in c.references]
        for names in (args.sources, args.dev_sources)
    )
    if not pairs or (args.dev_sources and not held_out):
        raise ValueError(f"sources: {len(pairs)} pairs to train on and {len(held_out)} held out; name larger sources")
    if args.dev_rows:
        held_out = random.Random(0).sample(held_out, min(args.dev_rows, len(held_out)))

    # 2. Their words as vectors, the mean states of the questions.
    encoder = data.encoder_folder(args.encoder)
    with quiet():
        vectors = data.WordVectors(encoder, args.vector)
        questions = list(dict.fromkeys(text for _, text in pairs + held_out))
        means = np.zeros((len(questions), 1), np.float32)  # the baseline has no posterior that reads them
        if args.latent:
            means = data.mean_states(encoder, questions, args.cache)
    position = {text: i for i, text in enumerate(questions)}
    words = data.vocabulary((text for _, text in pairs), args.min_count)
    examples = data.Examples(words, vectors, args.max_context, args.max_question, args.copies)
    rows, dev = (
        split and examples.of_pairs(split, means[[position[text] for _, text in split]]) for split in (pairs, held_out)
    )
    print(f"{len(pairs)} pairs, {len(held_out)} held out, {len(words)} words to say", flush=True)

    # 3. The model.
    config = Config(
        words=words,
        layers=args.layers or (1 if args.latent else 2),
        vector=vectors.size,
        mean=means.shape[1],
        encoder_sha256=checkpoint_digest(encoder),
        **{field.name: getattr(args, field.name) for field in fields(Settings)},
    )
    model = Generator(config)
    if args.init:
        for weights in model.parameters():
            torch.nn.init.uniform_(weights, -args.init, args.init)
    model.vectors.copy_(torch.from_numpy(vectors(words)))

    # 4. Training.
    trainer = common.trained(
        training,
        dev,
        labels="target",
        patience=args.patience,
        # A word more of the question costs more than one of the context: the decoder takes a step for it.
        lengths=[len(row["question"]) * (args.max_context + 1) + len(row["input_ids"]) for row in rows],
        model=model,
        train_dataset=rows,
        data_collator=examples.collate,
        compute_metrics=measures,
    )

    # 5. The model and what was measured.
    facts = {"arguments": asdict(args), "seed": training.seed, "pairs": len(pairs), "held_out": len(held_out)}
    facts |= {"steps": trainer.state.global_step, "kept_step": int(model.steps)}
    facts |= {"encoder_sha256": config.encoder_sha256, "dev": {}}
    if held_out:
        result = trainer.predict(dev)
        facts["dev"] = {name.removeprefix("test_"): score for name, score in result.metrics.items()}
        facts["kl_per_dimension"] = result.predictions[2].mean(axis=0).tolist() if args.latent else []
    folder = Path(training.output_dir) / "final"
    save(trainer.accelerator.unwrap_model(trainer.model), folder)
    (folder / "train.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    print(f"written to {folder}: {facts['dev']}", flush=True)
    return facts


if __name__ == "__main__":
    train(*prepared(Arguments))
