"""Publish the modules, their demos, the models they load and the documentation on the Hugging Face Hub.

    python -m training.publish --namespace NAME --dry-run     # only writes the folders
    python -m training.publish --namespace NAME

Every repository becomes equal to its folder in one commit and gets a tag of this version, so the next run completes an
interrupted one. See README.md in this folder.
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from genqa_metrics import METRICS
from genqa_metrics.core.scorer import VERSION

from training.common import option, parsed
from training.publish.assemble import ROOT
from training.publish.space import COMPARED, DEMOS, WITH_CHECKPOINT, hub_names, write_site, write_space

CHECKPOINTS = {  # metric -> repository -> folder of the checkpoint, which is published as it is
    metric: {
        name: ROOT / "metrics" / metric / ("checkpoint" if size == "small" else f"checkpoint_{size}")
        for size, name in hub_names(metric).items()
    }
    for metric in WITH_CHECKPOINT
}
NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


@dataclass
class Arguments:
    """What to publish, and where."""

    namespace: str = option("user or organization on the Hub")
    dry_run: bool = option("only write the folders to --output_dir", False)
    output_dir: str = option("where the folders are written", "build/hub")
    metrics: list[str] = option("metrics to publish", list(METRICS))
    docs: bool = option("also publish the documentation that `make docs` built", False)
    move_tag: bool = option("change the files of a version that is published already", False)


@dataclass(frozen=True)
class Repository:
    """A repository: its Hub id, its kind ("model" or "space") and the folder with exactly its files."""

    name: str
    kind: str
    folder: Path


def version_tag() -> str:
    """Return the tag of this version: v0.1.0 for 0.1.0, which evaluate.load(revision="0.1.0") looks for."""
    return f"v{VERSION}"


def check(args: Arguments) -> None:
    """Refuse names that the Hub or this program does not know, before anything is written."""
    if not NAME.fullmatch(args.namespace):
        raise ValueError(f"namespace: expected the name of a user or organization, got {args.namespace!r}")
    if unknown := sorted({*args.metrics} - {*METRICS}):
        raise ValueError(f"metrics: expected some of {', '.join(METRICS)}, got {unknown[0]!r}")


def check_login(api, namespace: str) -> None:
    """Check that there is a login and that it may write to the namespace."""
    account = api.whoami()  # its error says how to log in
    names = [account["name"], *(organization["name"] for organization in account.get("orgs", []))]
    if namespace not in names:
        raise ValueError(f"namespace: expected one of yours, {', '.join(names)}, got {namespace!r}")


def write_folders(args: Arguments) -> list[Repository]:
    """Write a folder for every repository, models before the Spaces that load them, and return them in that order."""
    tag, output, repositories = version_tag(), Path(args.output_dir), []

    def added(name: str, kind: str) -> Repository:
        repository = f"{args.namespace}/{name}"
        repositories.append(Repository(repository, kind, output / f"{kind}s" / repository))
        return repositories[-1]

    for metric in args.metrics:
        for name, source in CHECKPOINTS.get(metric, {}).items():
            folder = added(name, "model").folder
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(source, folder)
    # the demo of several metrics loads their checkpoints
    for name in [*args.metrics, *DEMOS * (set(COMPARED) <= set(args.metrics))]:
        write_space(name, args.namespace, tag, added(name, "space").folder)
    if args.docs:
        write_site(added("docs", "space").folder)
    return repositories


def upload(api, repository: Repository, move_tag: bool = False) -> str:
    """Make a repository equal to its folder, tag it, and return what was done; a version that has its tag stays."""
    from huggingface_hub import RepoCard

    where, tag = {"repo_id": repository.name, "repo_type": repository.kind}, version_tag()
    is_tagged = api.revision_exists(repository.name, tag, repo_type=repository.kind)
    if is_tagged and not move_tag:
        return f"{tag} is published already; raise the version in setup.cfg and metrics/core/scorer.py, or --move_tag"
    is_space = repository.kind == "space"
    sdk = RepoCard.load(repository.folder / "README.md").data.sdk if is_space else None
    api.create_repo(**where, space_sdk=sdk, exist_ok=True)
    head = api.repo_info(**where).sha  # the Hub refuses the commit if there is another one meanwhile
    settings = {"delete_patterns": "*", "commit_message": f"Publish {tag}", "parent_commit": head}
    commit = api.upload_folder(**where, folder_path=repository.folder, **settings)
    if is_tagged:
        api.delete_tag(**where, tag=tag)
    api.create_tag(**where, tag=tag, revision=commit.oid)
    return f"{'unchanged' if commit.oid == head else 'uploaded'}, tagged {tag}"


def main() -> None:
    """Write the folders; unless it is a dry run, upload what differs."""
    from huggingface_hub import HfApi

    args, api = parsed(Arguments), HfApi()
    check(args)
    if not args.dry_run:
        check_login(api, args.namespace)
    for repository in write_folders(args):
        done = repository.folder if args.dry_run else upload(api, repository, args.move_tag)
        print(f"{repository.kind} {repository.name}: {done}", flush=True)


if __name__ == "__main__":
    main()
