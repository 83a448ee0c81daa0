"""How varied and how good the questions of finished generators are on held-out contexts."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from training.common import local_file, markdown_table, option, parsed
from training.question_generation.ask import BUNDLED, find
from training.studies.question_generation.differences import COLUMNS, FOLDER, QUESTIONS, cells_of, measured


@dataclass
class Arguments:
    """What is asked about what."""

    data_dir: str = option("folder of the contexts: that of prepare_pairs.py")
    models: list[str] = option("bundled ones, or NAME=FOLDER; the others are compared with the first", list(BUNDLED))
    source: str = option("the contexts and their questions", "sentences.dev")
    seed: int = option("of the questions", 1)
    resamples: int = option("bootstrap samples", 1000)
    keep: bool = option("add to the generators that were measured before, beside the same first one", False)
    results: str = option("file that is written", str(FOLDER / "results/held_out.json"))


def table(reports: Mapping[str, Mapping]) -> str:
    """Return reports by the generator's name as Markdown, in percent."""
    rows = [[name, *cells_of(report)] for name, report in reports.items()]
    return markdown_table(["", *COLUMNS.values()], rows, "---:")


def earlier_run(facts: Mapping, path: Path) -> dict:
    """Return what an earlier run wrote, to which another is added.

    Args:
        facts: of the new run: its models and what it is measured on.
        path: file of the earlier one.

    Raises:
        ValueError: if that one had another first generator, other contexts or other questions.
    """
    earlier = json.loads(path.read_text(encoding="utf-8"))
    first = next(iter(facts["models"].items()))
    if next(iter(earlier["models"].items())) != first:
        raise ValueError(f"keep: {path.name} compares with another first generator than {first[0]}; leave --keep out")
    for name in ("data_digests", "seed", "contexts", "questions"):
        if earlier[name] != facts[name]:
            raise ValueError(f"keep: {path.name} has other {name}: {earlier[name]}, here {facts[name]}")
    return earlier


def main() -> None:
    """Ask, measure, write."""
    from genqa_metrics.core.checkpoint_validation import file_digest

    from training.question_generation.contexts import read_contexts
    from training.studies.question_generation.tables import write_page

    args = parsed(Arguments)
    folders = dict(word.split("=", 1) if "=" in word else (word, word) for word in args.models)
    contexts = read_contexts(args.source, args.data_dir)
    results = {
        "command": "python -m training.studies.question_generation.held_out --data_dir PAIRS --models "
        + " ".join(name if name in BUNDLED else f"'{name}=FOLDER'" for name in folders),
        "models": {name: file_digest(find(folder) / "model.safetensors") for name, folder in folders.items()},
        "data_digests": {args.source: file_digest(local_file(args.source, args.data_dir))},
        "seed": args.seed,
        "contexts": len(contexts),
        "questions": QUESTIONS,
    }
    earlier = earlier_run(results, Path(args.results)) if args.keep else {"models": {}, "runs": {}}
    reports = dict(zip(folders, measured(folders, contexts, args.seed, args.resamples), strict=True))
    results["models"] = earlier["models"] | results["models"]
    results["runs"] = earlier["runs"] | reports
    if args.keep:
        results["command"] = f"{earlier['command']}; {results['command']} --keep True"
    print(table(results["runs"]))
    Path(args.results).write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    write_page(Path(args.results).parent)


if __name__ == "__main__":
    main()
