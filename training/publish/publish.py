"""Publish on the Hugging Face Hub: a Space per metric, a model repository per checkpoint. See README.md."""

import json
import re
import shutil
from dataclasses import dataclass
from hashlib import sha1
from pathlib import Path

from genqa_metrics import METRICS

from training.common import option
from training.publish import texts
from training.publish.site import write_site
from training.publish.space import ROOT, checkpoint_repository, write_space
from training.studies.accuracy.measure import copy_measured

CHECKPOINTS = {name: ROOT / "metrics" / name / "checkpoint" for name in ("ava", "kpqa")}
RECORDS = {"ava": ROOT / "training/ava/results/bundled.json", "kpqa": ROOT / "training/kpqa/results/agreement.json"}
COMPARE = "compare"  # the demo of several metrics
TASKS = {"ava": "text-classification", "kpqa": "token-classification"}
CLASSES = {"ava": "AutoModelForSequenceClassification", "kpqa": "AutoModelForTokenClassification"}
ADAPTER = ("adapter_config.json", "adapter_model.safetensors")


@dataclass
class Arguments:
    """What is published where."""

    namespace: str = option("user or organization on the Hub")
    dry_run: bool = option("only write the trees to --output_dir", False)
    output_dir: str = option("folder that the trees are written to", "build/hub")
    metrics: list[str] = option("the metrics to publish", list(METRICS))
    docs: bool = option("publish the documentation, built by `make docs`, too", False)
    move_tag: bool = option("let the version's tag name other files than before", False)


@dataclass(frozen=True)
class Repository:
    """A repository to be: its Hub id, its kind ("model" or "space") and the folder with exactly its files."""

    name: str
    kind: str
    folder: Path


def check(args: Arguments) -> None:
    """Refuse what cannot work, before anything is written.

    Raises:
        ValueError: names argument and fix.
    """
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]*", args.namespace):
        raise ValueError(f"namespace: expected the name of a user or organization, got {args.namespace!r}")
    for name in args.metrics:
        if name not in METRICS:
            raise ValueError(f"metrics: expected some of {', '.join(METRICS)}, got {name!r}")
        if not (ROOT / "spaces" / name / "app.py").is_file():
            raise ValueError(f"metrics: {name} has no demo; expected spaces/{name}/app.py")


def version_tag() -> str:
    """Return the tag of this version: v0.1.0 for 0.1.0, because evaluate.load(revision="0.1.0") looks for that."""
    from genqa_metrics.core.scorer import VERSION

    return f"v{VERSION}"


def write_model(name: str, namespace: str, tag: str, folder: Path) -> None:
    """Write the tree of a checkpoint: the whole model, its tokenizer and settings, the adapter beside, the card.

    Args:
        name: name of the metric.
        namespace: user or organization.
        tag: the version, for the card.
        folder: where to; what it held before is gone.

    Raises:
        ValueError: if plain transformers cannot load the model, or the recorded results are those of another one.
    """
    from genqa_metrics.core.scorer import quiet
    from genqa_metrics.kpqa.loading import checked_settings
    from genqa_metrics.kpqa.settings import write_settings
    from huggingface_hub import ModelCard

    source = CHECKPOINTS[name]
    results = recorded_results(name)  # before any work
    shutil.rmtree(folder, ignore_errors=True)
    with quiet():
        plain, note = _plain(name, source)
        model, tokenizer = _merged(name)
        if tokenizer is None:  # the linear judge, which has no encoder
            for file in ("model.safetensors", "config.json"):
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source / file, folder / file)
        else:
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
        if plain:
            _check_plain(name, folder)
        if name == "kpqa":
            write_settings(folder, checked_settings(source))
    is_adapter = (source / ADAPTER[1]).is_file()
    copied = {"ava_config.json": folder} | dict.fromkeys(ADAPTER, folder / "adapter")
    for file, place in copied.items():
        if (source / file).is_file():
            place.mkdir(exist_ok=True)
            shutil.copyfile(source / file, place / file)
    if name == "ava":
        copy_measured(source, folder)

    repository = checkpoint_repository(name, namespace)
    facts = {"name": name, "namespace": namespace, "repository": repository, "tag": tag, "auto": CLASSES[name]}
    use = (texts.USE + note).format(**facts)
    use += texts.SETTINGS if name == "ava" else ""
    if is_adapter:
        rank = f"rank {json.loads((source / ADAPTER[0]).read_text(encoding='utf-8'))['r']}"
        use += texts.FILES.format(**facts, merged=_digest(folder), rank=rank)
    card = ModelCard.load(source / "README.md")
    card.text = card.text.replace("\n## ", f"\n{use}## ", 1)
    card.data.library_name = "transformers"
    card.data.pipeline_tag = TASKS[name] if plain else None
    card.data.model_name = repository.split("/")[1]
    card.data.eval_results = results
    card.save(folder / "README.md")


def _plain(name: str, source: Path) -> tuple[bool, str]:
    """Return whether plain transformers load a checkpoint, and what its card says about loading it."""
    from genqa_metrics.ava.loading import read_settings
    from genqa_metrics.ava.modeling import CONFIGURATIONS, LINEAR
    from genqa_metrics.kpqa.loading import checked_settings

    if name == "kpqa":
        return (True, texts.PLAIN) if checked_settings(source).head == "linear" else (False, texts.TANH)
    configuration = read_settings(source)["configuration"]
    if configuration == LINEAR:
        return False, texts.LINEAR
    several = len(CONFIGURATIONS[configuration]) > 1
    return (False, texts.SEVERAL) if several else (True, texts.PLAIN)


def _merged(name: str) -> tuple:
    """Return the model of a checkpoint, an adapter merged into its encoder, and its tokenizer, None without one."""
    if name == "ava":
        from genqa_metrics.ava.loading import load_judge

        judge = load_judge(CHECKPOINTS[name], device="cpu")
        return judge.model, judge.tokenizer
    from genqa_metrics.kpqa.loading import load_token_classifier

    model, tokenizer = load_token_classifier(CHECKPOINTS[name])
    model.config.id2label, model.config.label2id = {0: "other", 1: "keyphrase"}, {"other": 0, "keyphrase": 1}
    return model, tokenizer


def _check_plain(name: str, folder: Path) -> None:
    """Refuse a model that a plain `from_pretrained` would load without some of its weights."""
    import transformers

    try:
        _, found = getattr(transformers, CLASSES[name]).from_pretrained(folder, output_loading_info=True)
        lost = sorted(set().union(*(found[kind] for kind in ("missing_keys", "unexpected_keys", "mismatched_keys"))))
    except (ValueError, OSError) as error:
        lost = [f"{type(error).__name__}: {error}".splitlines()[0]]
    if lost:
        raise ValueError(
            f"{CHECKPOINTS[name]}: a plain from_pretrained of transformers cannot load this model ({lost[0]}); "
            "publish a checkpoint with one encoder"
        )


def _digest(folder: Path) -> str:
    from genqa_metrics.core.checkpoints import checkpoint_digest

    return checkpoint_digest(folder)


def recorded_results(name: str) -> list:
    """Return what was measured with a checkpoint as results of a model card.

    Args:
        name: name of the metric.

    Returns:
        `huggingface_hub.EvalResult` objects.

    Raises:
        ValueError: if the record is of another checkpoint; names the command that makes it again.
    """
    from huggingface_hub import EvalResult

    record = json.loads(RECORDS[name].read_text(encoding="utf-8"))
    digest = _digest(CHECKPOINTS[name])
    if name == "ava":
        scores = record["scores"]
        measured = scores["digests"]["checkpoint"]
        rows = [
            (data, kind, scores["rows"][data][key], label)
            for data in scores["rows"]
            for key, kind, label in (
                ("accuracy", "accuracy", "Accuracy"),
                ("f1", "f1", "F1"),
                ("auc", "roc_auc", "AUC"),
            )
        ]
        rows += [
            (data, "pearsonr", values["pearson"], "Pearson's r with graded judgments")
            for data, values in scores["graded"].items()
        ]
    else:
        measured = re.match(r"checkpoint:([0-9a-f]+)", record["checkpoints"]["kpqa"])[1]
        rows = [
            (f"{data}.dev", kind, values[key][0], f"{label} of {metric} with human judgments")
            for data, metrics in record["agreement"].items()
            for metric, values in metrics.items()
            if metric.endswith("_kpqa")
            for key, kind, label in (
                ("pearson", "pearsonr", "Pearson's r"),
                ("spearman", "spearmanr", "Spearman's rho"),
            )
        ]
    if not digest.startswith(measured):
        raise ValueError(
            f"{RECORDS[name]}: expected results of the checkpoint {digest[:12]}, got those of {measured[:12]}; "
            f"run training/{name}/evaluate_{name}.py first"
        )
    return [
        EvalResult(
            task_type=TASKS[name],
            dataset_type=data.split(".")[0].replace(" ", "_"),
            dataset_name=data,
            metric_type=kind,
            metric_name=label,
            metric_value=round(float(value), 4),
        )
        for data, kind, value, label in rows
    ]


def write_trees(args: Arguments) -> list[Repository]:
    """Write the files of every repository to a folder, models before the Spaces that load them.

    Args:
        args: what is published where.

    Returns:
        The repositories, in the order of publishing.
    """
    tag, output = version_tag(), Path(args.output_dir)
    repositories = []
    for name in args.metrics:
        if name in CHECKPOINTS:
            repository = checkpoint_repository(name, args.namespace)
            write_model(name, args.namespace, tag, output / "models" / repository)
            repositories.append(Repository(repository, "model", output / "models" / repository))
    for name in args.metrics:
        folder = output / "spaces" / args.namespace / name
        write_space(name, args.namespace, tag, folder)
        repositories.append(Repository(f"{args.namespace}/{name}", "space", folder))
    if set(CHECKPOINTS) <= set(args.metrics):  # which the demo of several metrics loads
        folder = output / "spaces" / args.namespace / COMPARE
        write_space(COMPARE, args.namespace, tag, folder)
        repositories.append(Repository(f"{args.namespace}/{COMPARE}", "space", folder))
    if args.docs:
        folder = output / "spaces" / args.namespace / "docs"
        write_site(folder)
        repositories.append(Repository(f"{args.namespace}/docs", "space", folder))
    return repositories


def remote_files(api, repository: Repository, revision: str) -> dict[str, str] | None:
    """Return path -> digest of the files on the Hub, None if there is no such repository or revision.

    The digest is a SHA-256 (64 digits) of large files and Git's SHA-1 (40 digits) of others. `.gitattributes` is the
    Hub's own business and left out.
    """
    from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError
    from huggingface_hub.hf_api import RepoFile

    where = {"revision": revision, "repo_type": repository.kind}
    try:
        entries = list(api.list_repo_tree(repository.name, recursive=True, **where))
    except (RepositoryNotFoundError, RevisionNotFoundError):
        return None
    files = [entry for entry in entries if isinstance(entry, RepoFile) and entry.path != ".gitattributes"]
    return {file.path: file.lfs.sha256 if file.lfs else file.blob_id for file in files}


def changes(folder: Path, remote: dict[str, str]) -> tuple[list[str], list[str]]:
    """Return the paths to upload and the paths to delete that make a repository equal to a folder.

    Args:
        folder: what it is to hold.
        remote: what it holds, see `remote_files`.
    """
    from genqa_metrics.core.checkpoint_validation import file_digest

    def is_same(path: Path, digest: str | None) -> bool:
        if digest is None or len(digest) == 64:
            return digest == file_digest(path)
        content = path.read_bytes()
        return digest == sha1(b"blob %d\0" % len(content) + content).hexdigest()

    local = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    upload = [name for name, path in sorted(local.items()) if not is_same(path, remote.get(name))]
    return upload, sorted(set(remote) - set(local))


def upload(api, repository: Repository, tag: str) -> str:
    """Make a repository on the Hub equal to its folder in at most one commit, and tag it.

    Args:
        api: `huggingface_hub.HfApi`.
        repository: what and where.
        tag: moved here if it names other files.

    Returns:
        What was done, in a few words.
    """
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, RepoCard
    from huggingface_hub.errors import RepositoryNotFoundError

    where = {"repo_id": repository.name, "repo_type": repository.kind}
    tagged = remote_files(api, repository, tag)
    try:
        head = api.repo_info(**where).sha
    except RepositoryNotFoundError:
        is_space = repository.kind == "space"
        api.create_repo(
            **where, space_sdk=RepoCard.load(repository.folder / "README.md").data.sdk if is_space else None
        )
        head = api.repo_info(**where).sha
    added, deleted = changes(repository.folder, remote_files(api, repository, head))
    done = []
    if added or deleted:
        operations = [CommitOperationAdd(path, repository.folder / path) for path in added]
        operations += [CommitOperationDelete(path) for path in deleted]
        message = f"Publish {tag}"
        # with its parent named, the commit is refused if somebody else has committed meanwhile
        head = api.create_commit(**where, operations=operations, commit_message=message, parent_commit=head).oid
        done.append(f"{len(added)} files uploaded, {len(deleted)} deleted")
    if tagged is None or any(changes(repository.folder, tagged)):
        if tagged is not None:
            api.delete_tag(**where, tag=tag)
        api.create_tag(**where, tag=tag, revision=head)
        done.append(f"tagged {tag}")
    return ", ".join(done) or "unchanged"


def check_login(api, namespace: str) -> None:
    """Refuse to begin without a login, or with somebody else's namespace.

    Raises:
        ValueError: says what to do.
    """
    from huggingface_hub.errors import HfHubHTTPError, LocalTokenNotFoundError

    try:
        me = api.whoami()
    except (HfHubHTTPError, LocalTokenNotFoundError) as error:
        if isinstance(error, HfHubHTTPError) and error.response.status_code != 401:
            raise
        raise ValueError(f"not logged in to {api.endpoint}: run `hf auth login`, or set HF_TOKEN") from error
    mine = [me["name"], *(organization["name"] for organization in me.get("orgs", []))]
    if namespace not in mine:
        raise ValueError(f"namespace: expected one of yours, {', '.join(mine)}, got {namespace!r}")


def check_version(api, repositories: list[Repository]) -> None:
    """Refuse to let a version that is published already name other files.

    Raises:
        ValueError: says what to do.
    """
    tag = version_tag()
    for repository in repositories:
        tagged = remote_files(api, repository, tag)
        if tagged is not None and any(changes(repository.folder, tagged)):
            raise ValueError(
                f"{repository.name}: {tag} is published already and its files differ; raise the version in setup.cfg "
                "and metrics/core/scorer.py, or let people who pinned it get other files with --move_tag"
            )


def main() -> None:
    """Write the trees; unless it is a dry run, upload what differs."""
    from huggingface_hub import HfApi
    from transformers import HfArgumentParser

    (args,) = HfArgumentParser(Arguments).parse_args_into_dataclasses()
    check(args)
    api = HfApi()
    if not args.dry_run:
        check_login(api, args.namespace)
    repositories = write_trees(args)
    if not args.dry_run and not args.move_tag:
        check_version(api, repositories)
    for repository in repositories:
        done = repository.folder if args.dry_run else upload(api, repository, version_tag())
        print(f"{repository.kind} {repository.name}: {done}", flush=True)


if __name__ == "__main__":
    main()
