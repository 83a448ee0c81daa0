"""Publish on the Hugging Face Hub: a Space per metric, a model repository per checkpoint. See README.md."""

import re
from dataclasses import dataclass
from pathlib import Path

from genqa_metrics import METRICS
from genqa_metrics.core.checkpoints import is_checkpoint

from training.common import option, parsed
from training.publish.assemble import ROOT
from training.publish.hub import Repository, check_login, check_version, upload, version_tag
from training.publish.models import recorded_results, write_model
from training.publish.space import COMPARED, WITH_CHECKPOINT, checkpoint_repository, write_site, write_space

CHECKPOINTS = {name: ROOT / "metrics" / name / "checkpoint" for name in WITH_CHECKPOINT}
COMPARE = "compare"  # the demo of several metrics
NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


@dataclass
class Arguments:
    """What to publish, and where."""

    namespace: str = option("user or organization on the Hub")
    dry_run: bool = option("only write the folders to --output_dir", False)
    output_dir: str = option("where the folders are written", "build/hub")
    metrics: list[str] = option("metrics to publish", list(METRICS))
    checkpoint: str | None = option("folder of a judge or keyphrase predictor; publish only that, as --name", None)
    name: str | None = option("repository of --checkpoint in the namespace", None)
    docs: bool = option("also publish the documentation that `make docs` built", False)
    move_tag: bool = option("allow changed files under a published version", False)


def check(args: Arguments) -> None:
    """Check the arguments before anything is written."""
    if not NAME.fullmatch(args.namespace):
        raise ValueError(f"namespace: expected the name of a user or organization, got {args.namespace!r}")
    for name in args.metrics:
        if name not in METRICS:
            raise ValueError(f"metrics: expected some of {', '.join(METRICS)}, got {name!r}")
        if not (ROOT / "spaces" / name / "app.py").is_file():
            raise ValueError(f"metrics: {name} has no demo; expected spaces/{name}/app.py")
    if (args.checkpoint is None) != (args.name is None):
        raise ValueError("checkpoint: expected --checkpoint FOLDER and --name NAME together, got only one of them")
    if args.checkpoint is not None:
        if not NAME.fullmatch(args.name):
            raise ValueError(f"name: expected the name of a repository in the namespace, got {args.name!r}")
        if not is_checkpoint(Path(args.checkpoint)):
            raise ValueError(f"checkpoint: expected a folder with config and weights, got {args.checkpoint!r}")


def write_folders(args: Arguments) -> list[Repository]:
    """Write a folder for every repository, models before the Spaces that load them, and return them in that order."""
    tag, output, repositories = version_tag(), Path(args.output_dir), []

    def added(name: str, kind: str) -> Repository:
        repository = f"{args.namespace}/{name}"
        repositories.append(Repository(repository, kind, output / f"{kind}s" / repository))
        return repositories[-1]

    if args.checkpoint is not None:
        model = added(args.name, "model")
        write_model(Path(args.checkpoint), model.name, tag, model.folder, [], is_default=False)
        return repositories
    for name in args.metrics:
        if name in CHECKPOINTS:
            results = recorded_results(name, CHECKPOINTS[name])
            model = added(checkpoint_repository(name, args.namespace).split("/")[1], "model")
            write_model(CHECKPOINTS[name], model.name, tag, model.folder, results, metric=name)
    # the demo of several metrics loads their checkpoints
    for name in [*args.metrics, *[COMPARE] * (set(COMPARED) <= set(args.metrics))]:
        write_space(name, args.namespace, tag, added(name, "space").folder)
    if args.docs:
        write_site(added("docs", "space").folder)
    return repositories


def main() -> None:
    """Write the folders; unless it is a dry run, upload what differs."""
    from huggingface_hub import HfApi

    args = parsed(Arguments)
    check(args)
    api = HfApi()
    if not args.dry_run:
        check_login(api, args.namespace)
    repositories = write_folders(args)
    if not args.dry_run and not args.move_tag:
        check_version(api, repositories)
    for repository in repositories:
        done = repository.folder if args.dry_run else upload(api, repository, version_tag())
        print(f"{repository.kind} {repository.name}: {done}", flush=True)


if __name__ == "__main__":
    main()
