"""Make repositories on the Hugging Face Hub equal to folders: digests are compared, each version has a tag."""

from dataclasses import dataclass
from hashlib import sha1
from pathlib import Path

from genqa_metrics.core.checkpoints import file_digest
from genqa_metrics.core.scorer import VERSION


@dataclass(frozen=True)
class Repository:
    """A repository: its Hub id, its kind ("model" or "space") and the folder with exactly its files."""

    name: str
    kind: str
    folder: Path


def version_tag() -> str:
    """Return the tag of this version: v0.1.0 for 0.1.0, which evaluate.load(revision="0.1.0") looks for."""
    return f"v{VERSION}"


def remote_files(api, repository: Repository, revision: str) -> dict[str, str] | None:
    """Return path -> digest on the Hub, but for .gitattributes; None if there is no such repository or revision.

    The digest is a SHA-256 (64 digits) of large files and Git's SHA-1 (40 digits) of others.
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
    """Return the paths to upload and the paths to delete that make a repository equal to a folder."""

    def is_same(path: Path, digest: str | None) -> bool:
        if digest is None or len(digest) == 64:
            return digest == file_digest(path)
        content = path.read_bytes()
        return digest == sha1(b"blob %d\0" % len(content) + content).hexdigest()

    local = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    upload = [name for name, path in sorted(local.items()) if not is_same(path, remote.get(name))]
    return upload, sorted(set(remote) - set(local))


def upload(api, repository: Repository, tag: str) -> str:
    """Make a repository equal to its folder in at most one commit, and tag it; a tag of other files is moved."""
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, RepoCard

    where = {"repo_id": repository.name, "repo_type": repository.kind}
    tagged = remote_files(api, repository, tag)
    if not api.repo_exists(**where):
        is_space = repository.kind == "space"
        sdk = RepoCard.load(repository.folder / "README.md").data.sdk if is_space else None
        api.create_repo(**where, space_sdk=sdk)
    head = api.repo_info(**where).sha
    added, deleted = changes(repository.folder, remote_files(api, repository, head))
    done = []
    if added or deleted:
        operations = [CommitOperationAdd(path, repository.folder / path) for path in added]
        operations += [CommitOperationDelete(path) for path in deleted]
        message = f"Publish {tag}"
        # the Hub refuses the commit if there was another one since `parent_commit`
        head = api.create_commit(**where, operations=operations, commit_message=message, parent_commit=head).oid
        done.append(f"{len(added)} files uploaded, {len(deleted)} deleted")
    if tagged is None or any(changes(repository.folder, tagged)):
        if tagged is not None:
            api.delete_tag(**where, tag=tag)
        api.create_tag(**where, tag=tag, revision=head)
        done.append(f"tagged {tag}")
    return ", ".join(done) or "unchanged"


def check_login(api, namespace: str) -> None:
    """Check that there is a login and that it may write to the namespace."""
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
    """Check that a published version keeps its files."""
    tag = version_tag()
    for repository in repositories:
        tagged = remote_files(api, repository, tag)
        if tagged is not None and any(changes(repository.folder, tagged)):
            fix = "raise the version in setup.cfg and metrics/core/scorer.py, or change the published version"
            raise ValueError(
                f"{repository.name}: {tag} is published already and its files differ; {fix} with --move_tag"
            )
