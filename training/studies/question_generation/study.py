"""What F-meta sees: train the six systems of the paper, let them ask, score their questions (tables 1, 3 and 4)."""

import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from genqa_metrics.core.checkpoints import file_digest

from training.common import option, train_once, write_rows
from training.question_generation.ask import load
from training.question_generation.contexts import read_contexts
from training.question_generation.decoding import generate
from training.studies.harness import Output, Study, digests, read
from training.studies.question_generation import measures as m
from training.studies.question_generation.measures import BASES, MODELS, NEEDED, SYSTEMS
from training.studies.question_generation.tables import study_section

FOLDER = Path(__file__).parent


@dataclass
class Arguments(Output):
    """What is trained, asked and scored."""

    data_dir: str = option("folder of squad_du2017.dev, squad_du2017.test and the other sets")
    work: str = option("folder of the trained models and of the generated questions")
    train_dir: str | None = option("folder of the training sources; default data_dir", None)
    config: str = option("arguments of train_generator.py", str(FOLDER / "large.args"))
    baseline_config: str | None = option("the same for the baseline; default config", None)
    models: list[str] = option("models that are trained, at least baseline and cvae_100", list(MODELS))
    seeds: list[int] = option("one training each", [1, 2, 3])
    seeds_of_others: int = option("seeds of CVAE 25 and 50, the first of `seeds`; 0: all of them", 0)
    test: str = option("set that the results are of", "squad_du2017.test")
    contexts: int = option("contexts of the test set asked about, at random; 0: all", 500)
    bases: list[str] = option(f"some of {', '.join(BASES)}", list(BASES))
    resamples: int = option("bootstrap samples", 1000)
    use_cpu: bool = option("train on the CPU also where there is another device", False)


def seeds_of(args: Arguments, model: str) -> list[int]:
    """Return the seeds that a model is trained with: all of them where the findings are about it."""
    return args.seeds if model in NEEDED else args.seeds[: args.seeds_of_others or None]


def trained(args: Arguments, model: str, seed: int) -> Path:
    """Return the folder of a trained model; train it, or resume its training, if it does not exist."""
    config = args.config if MODELS[model] else args.baseline_config or args.config
    where = ["--config", config, "--data_dir", args.train_dir or args.data_dir, "--cache", f"{args.work}/cache"]
    settings = ["--latent", str(MODELS[model]), "--seed", str(seed), "--use_cpu", str(args.use_cpu)]
    folder = Path(args.work) / "models" / f"{model}_{seed}"
    return train_once(
        "question_generation.train_generator", folder, where, settings, file_digest(Path(config)), "train.json"
    )


def asked(args: Arguments, contexts: Sequence, seed: int) -> dict[str, list[list[str]]]:
    """Return {system: questions of every context, as many as references}, and write them to a file."""
    counts = [len(context.references) for context in contexts]
    texts, generated = [context.text for context in contexts], {}
    for system, (model, top) in SYSTEMS.items():
        if model in args.models and seed in seeds_of(args, model):
            print(f"questions of {system}, seed {seed}", file=sys.stderr, flush=True)
            asker = load(trained(args, model, seed))
            generated[system] = generate(asker.model, asker.examples, texts, counts, seed=seed, top=top)
    predictions = [{system: questions[i] for system, questions in generated.items()} for i in range(len(contexts))]
    rows = (
        {"context": c.text, "references": c.references, "predictions": p}
        for c, p in zip(contexts, predictions, strict=True)
    )
    write_rows(Path(args.work) / "questions" / f"{args.test}.seed_{seed}.jsonl", rows)
    return generated


def study(args: Arguments) -> dict:
    """Train the generators, let them ask, and return the scores of their questions."""
    if not args.seeds:
        raise ValueError("seeds: expected at least one number")
    if not set(NEEDED) <= set(args.models) <= set(MODELS):
        raise ValueError(f"models: expected {' and '.join(NEEDED)}, with or without others of {', '.join(MODELS)}")
    for name in args.bases:
        m.base_of(name)
    contexts = read_contexts(args.test, args.data_dir)
    picks = random.Random(0).sample(range(len(contexts)), min(args.contexts or len(contexts), len(contexts)))
    contexts = [contexts[i] for i in sorted(picks)]
    # Seed by seed, the models of the findings first: a run that ends early has the most telling ones.
    order = [*NEEDED, *(model for model in MODELS if model in args.models and model not in NEEDED)]
    folders: dict = {model: {} for model in MODELS if model in args.models}
    for seed in args.seeds:
        for model in order:
            if seed in seeds_of(args, model):
                folders[model][seed] = trained(args, model, seed)
    facts = {name: {seed: read(f / "train.json") for seed, f in runs.items()} for name, runs in folders.items()}
    systems, active = m.systems_of(args.models), {}
    for system in systems:
        model = SYSTEMS[system][0]
        dims = [fact["dev"].get("active_dimensions", 0) for fact in facts[model].values()]
        active[system] = dims if MODELS[model] else [0] * len(dims)
    generated = {seed: asked(args, contexts, seed) for seed in args.seeds}
    statistics = m.statistics_of(generated, contexts, args.bases)
    several = np.array([len(context.references) > 1 for context in contexts])
    groups = {"all": several | True, "several": several}
    reports = {group: m.report_of(statistics, kept, args.resamples, systems) for group, kept in groups.items()}
    report, first = reports["all"], next(iter(facts["cvae_100"].values()))
    arguments = {name: setting for name, setting in first["arguments"].items() if name not in ("data_dir", "cache")}
    trained_on = arguments["sources"] + arguments["dev_sources"]
    noted = ("dev", "steps", "kept_step", "pairs")
    return {
        "systems": report["systems"],
        "seeds": args.seeds,
        "seeds_of": {model: seeds_of(args, model) for model in folders},
        "data": digests([args.test], args.data_dir) | digests(trained_on, args.train_dir or args.data_dir),
        "test": args.test,
        "contexts": report["contexts"],
        "resamples": args.resamples,
        "findings": {group: m.findings(reports[group]) for group in ("several", "all")},
        "several_references": reports["several"],
        "active_latent_dimensions_per_seed": active,
        "training": {
            model: {seed: {name: fact.get(name) for name in noted} for seed, fact in folder.items()}
            for model, folder in facts.items()
        },
        "arguments": arguments,
    }


STUDY = Study(__spec__.name, Arguments, study, lambda results: study_section("Study", results))

if __name__ == "__main__":
    STUDY.main()
