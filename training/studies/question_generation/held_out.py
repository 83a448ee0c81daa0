"""How varied and how good the questions of finished generators are on held-out contexts."""

from collections.abc import Mapping
from dataclasses import dataclass

from genqa_metrics.core.checkpoint_validation import file_digest

from training.common import markdown_table, option
from training.question_generation.ask import BUNDLED, find
from training.question_generation.contexts import read_contexts
from training.studies.harness import ExtendableOutput, Study, digests
from training.studies.question_generation.differences import COLUMNS, QUESTIONS, cells_of, measured


@dataclass
class Arguments(ExtendableOutput):
    """What is asked about what; with --keep, generators are added beside the same first one."""

    data_dir: str = option("folder of the contexts: that of prepare_pairs.py")
    models: list[str] = option("bundled ones, or NAME=FOLDER; the others are compared with the first", list(BUNDLED))
    source: str = option("the contexts and their questions", "sentences.dev")
    seed: int = option("of the questions", 1)
    resamples: int = option("bootstrap samples", 1000)


def table(reports: Mapping[str, Mapping]) -> str:
    """Return reports by the generator's name as Markdown, in percent."""
    rows = [[name, *cells_of(report)] for name, report in reports.items()]
    return markdown_table(["", *COLUMNS.values()], rows, "---:")


def study(args: Arguments) -> dict:
    """Return what was measured of all generators."""
    folders = dict(word.split("=", 1) if "=" in word else (word, word) for word in args.models)
    contexts = read_contexts(args.source, args.data_dir)
    models = {name: file_digest(find(folder) / "model.safetensors") for name, folder in folders.items()}
    facts = {"seed": args.seed, "contexts": len(contexts), "questions": QUESTIONS}
    data = digests([args.source], args.data_dir)
    earlier = {"models": {}, "runs": {}} | args.earlier(data=data, **facts)
    first = next(iter(models.items()))
    if args.keep and next(iter(earlier["models"].items())) != first:
        raise ValueError(f"--keep: {args.json} compares with another first generator than {first[0]}; leave it out")
    reports = dict(zip(folders, measured(folders, contexts, args.seed, args.resamples), strict=True))
    found = {"models": earlier["models"] | models, "data": data}
    return found | facts | {"runs": earlier["runs"] | reports}


STUDY = Study(__spec__.name, Arguments, study, lambda r: table(r["runs"]))

if __name__ == "__main__":
    STUDY.main()
