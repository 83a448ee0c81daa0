"""Appendix D of the paper once more: what the bundled generators ask about its four contexts.

As in the paper every system asks as many questions as a context has references; the baseline, which always asks the
same one, asks once. The contexts are found in the test set by their first words, nothing was trained on them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from genqa_metrics.core.checkpoint_validation import file_digest

from training.common import markdown_table, option
from training.question_generation.ask import find, load
from training.question_generation.contexts import read_contexts
from training.question_generation.decoding import generate
from training.studies.harness import Output, Study, digests

STARTS = (  # of D.1 to D.4
    "according to the doctrine of impermanence",
    "the world trade center path station",
    "michiru ōshima created orchestral arrangements",
    "examples include a concert on 23 march 1833",
)
SYSTEMS = {  # name -> bundled generator and the beams that a question is drawn from
    "baseline": ("baseline", 1),
    "CVAE": ("diverse", 1),
    "baseline + RBS": ("baseline", 2),
    "CVAE + RBS": ("diverse", 2),
}


@dataclass
class Arguments(Output):
    """What is asked about."""

    data_dir: str = option("folder of the test set")
    source: str = option("the test set: a file NAME.jsonl.gz or NAME.jsonl in data_dir", "squad_du2017.test")
    starts: list[str] = option("first words of the contexts; default: those of the paper", list(STARTS))
    seed: int = option("of the draws", 0)


def chosen(contexts: Sequence, starts: Sequence[str]) -> list:
    """Return for every start the one context that begins with it."""
    result = []
    for i, start in enumerate(starts):
        own = [context for context in contexts if context.text.startswith(start)]
        if len(own) != 1:
            raise ValueError(f"starts, row {i}: expected the first words of one context, got {start!r} of {len(own)}")
        result.append(own[0])
    return result


def asked(contexts: Sequence, seed: int) -> dict[str, list[list[str]]]:
    """Return system -> its questions about every context, as the generator writes them, repetitions included."""
    generators = {name: load(name) for name, _ in SYSTEMS.values()}
    texts = [context.text for context in contexts]
    result = {}
    for system, (name, top) in SYSTEMS.items():
        counts = [1 if system == "baseline" else len(context.references) for context in contexts]
        result[system] = generate(generators[name].model, generators[name].examples, texts, counts, seed, top=top)
    return result


def tables(results: Mapping) -> str:
    """Return one table per context: a row per system, its questions in columns."""
    parts = []
    for number, context in enumerate(results["contexts"], 1):
        most = max(map(len, context["questions"].values()))
        rows = [[system, *own, *[""] * (most - len(own))] for system, own in context["questions"].items()]
        columns = [f"question {i + 1}" for i in range(most)]
        parts += [f'D.{number}: "{context["start"]} ..."', markdown_table(["", *columns], rows)]
    return "\n\n".join(parts)


def study(args: Arguments) -> dict:
    """Return what every system asks about every context."""
    contexts = chosen(read_contexts(args.source, args.data_dir), args.starts)
    result = asked(contexts, args.seed)
    return {
        "models": {name: file_digest(find(name) / "model.safetensors") for name, _ in SYSTEMS.values()},
        "data": digests([args.source], args.data_dir),
        "seed": args.seed,
        "contexts": [
            {
                "start": args.starts[i],
                "references": len(context.references),
                "questions": {system: questions[i] for system, questions in result.items()},
            }
            for i, context in enumerate(contexts)
        ],
    }


STUDY = Study(__spec__.name, Arguments, study, tables)

if __name__ == "__main__":
    STUDY.main()
