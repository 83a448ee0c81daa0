"""A Hugging Face Hub on the loopback interface, as much of it as huggingface_hub, evaluate and transformers ask for.

Repositories have commits, tags and files; large files go up through Git LFS. Nothing but the real clients talks to it:
start it with `LoopbackHub(folder)` and give a subprocess its `environment(...)`.
"""

import base64
import fnmatch
import hashlib
import json
import os
import re
import sysconfig
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

TOKEN = "hf_loopback"
OWNER, ORGANIZATION = "someone", "ns"
LARGE = ("*.safetensors", "*.bin", "*.png")  # what the Hub keeps in Git LFS
KINDS = {"models/": "model", "spaces/": "space", "datasets/": "dataset", None: "model"}
REPOSITORY = r"(?P<repository>[\w.-]+/[\w.-]+)"
API = rf"/api/(?P<kind>models/|spaces/|datasets/){REPOSITORY}"


@dataclass(frozen=True)
class File:
    """A file of a commit: digest of its content, size, and whether it is in Git LFS."""

    sha256: str
    git_sha1: str
    size: int
    is_large: bool

    @property
    def etag(self) -> str:
        return self.sha256 if self.is_large else self.git_sha1


@dataclass
class Repository:
    """Commits, newest last, and the names that point at one."""

    commits: dict[str, dict[str, File]] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)

    def find(self, revision: str) -> str | None:
        """Return the commit that a branch, tag or commit names."""
        if revision == "main":
            return list(self.commits)[-1]
        return self.tags.get(revision, revision if revision in self.commits else None)


class LoopbackHub:
    """The server and what it holds: repositories by kind and name, and every request, in order."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.repositories: dict[tuple[str, str], Repository] = {}
        self.requests: list[tuple[str, str]] = []  # method, path
        self.corrupt: set[str] = set()  # SHA-256 of files whose next download has a wrong last byte
        self.unavailable: set[str] = set()  # names of repositories for which the answer is 503
        handler = type("Handler", (_Handler,), {"hub": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        """Close the port: every later connection is refused."""
        self.server.shutdown()
        self.server.server_close()

    def environment(self, home: Path, **more: str) -> dict[str, str]:
        """Return the environment of a process that knows this Hub and no other, and not this repository.

        Started with `python -S`, such a process does not read .pth files, so it does not find an editable install.
        """
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": str(home),
            "HF_HOME": str(home / "huggingface"),
            "HF_ENDPOINT": self.url,
            "HF_TOKEN": TOKEN,
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_UPDATE_DOWNLOAD_COUNTS": "0",
            "NO_PROXY": "127.0.0.1",
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": os.pathsep.join({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}),
            "TOKENIZERS_PARALLELISM": "false",
            **more,
        }

    def bodies(self) -> list[str]:
        """Return the paths of the files that were downloaded."""
        return [path for method, path in self.requests if method == "GET" and "/resolve/" in path]

    def writes(self) -> list[str]:
        """Return the requests that changed something: new repositories, commits, uploads, tags."""
        changing = ("/api/repos/create", "/commit/", "/tag/", "/lfs/")
        return [f"{m} {p}" for m, p in self.requests if m not in ("GET", "HEAD") and any(c in p for c in changing)]

    def add(self, kind: str, name: str, files: dict[str, bytes], tag: str | None = None) -> str:
        """Commit files to a repository, created where needed, without a client; returns the commit."""
        repository = self.repositories.setdefault((kind, name), Repository())
        tree = dict(repository.commits[repository.find("main")]) if repository.commits else {}
        commit = self.commit(repository, tree | {path: self.store(path, body) for path, body in files.items()})
        if tag:
            repository.tags[tag] = commit
        return commit

    def commit(self, repository: Repository, tree: dict[str, File]) -> str:
        """Add a commit of these files; returns its name."""
        content = repr((len(repository.commits), sorted(tree.items())))
        name = hashlib.sha1(content.encode()).hexdigest()
        repository.commits[name] = tree
        return name

    def store(self, path: str, body: bytes, is_large: bool | None = None) -> File:
        """Keep the content of a file."""
        sha256 = hashlib.sha256(body).hexdigest()
        (self.folder / sha256).write_bytes(body)
        git_sha1 = hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()
        return File(sha256, git_sha1, len(body), is_large_name(path) if is_large is None else is_large)

    def files(self, kind: str, name: str, revision: str = "main") -> dict[str, File]:
        """Return the files of a repository, by path."""
        repository = self.repositories[kind, name]
        return repository.commits[repository.find(revision)]

    def content(self, kind: str, name: str, revision: str = "main") -> dict[str, bytes]:
        """Return the content of the files of a repository, by path."""
        files = self.files(kind, name, revision)
        return {path: (self.folder / file.sha256).read_bytes() for path, file in files.items()}


@pytest.fixture
def hub(tmp_path) -> LoopbackHub:
    """An empty Hub for one test."""
    folder = tmp_path / "hub"
    folder.mkdir()
    it = LoopbackHub(folder)
    yield it
    it.stop()


@pytest.fixture
def client(hub, monkeypatch):
    """The client of huggingface_hub in this process, which talks to this Hub and to nothing else."""
    from huggingface_hub import HfApi, constants

    monkeypatch.setattr(constants, "ENDPOINT", hub.url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", hub.url + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return HfApi()


def is_large_name(path: str) -> bool:
    """Return whether a file goes to Git LFS."""
    return any(fnmatch.fnmatch(path, pattern) for pattern in LARGE)


class _Handler(BaseHTTPRequestHandler):
    """Answers one request; the routes are the table ROUTES at the end of this file."""

    hub: LoopbackHub
    protocol_version = "HTTP/1.1"

    def answer(self):
        url = urlsplit(self.path)
        path = unquote(url.path)
        self.hub.requests.append((self.command, path))
        self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if any(f"/{name}" in path for name in self.hub.unavailable):
            return self.error(503, None)
        for methods, pattern, needs_token, route in ROUTES:
            match = re.fullmatch(pattern, path)
            if match and self.command in methods:
                if needs_token and self.headers.get("Authorization") != f"Bearer {TOKEN}":
                    return self.error(401, None)
                asked = match.groupdict()
                if "repository" not in asked:
                    return route(self, **asked)
                it = self.hub.repositories.get((KINDS[asked.pop("kind")], asked["repository"]))
                commit = it.find(asked.pop("revision", "main")) if it else None
                if commit is None:
                    return self.error(404, "RevisionNotFound" if it else "RepoNotFound")
                return route(self, it, commit, **asked)
        return self.error(404, None)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = answer

    def reply(self, code: int, body: bytes = b"", **headers):
        self.send_response(code)
        for name, value in {"Content-Length": len(body), **headers}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def json(self, content: object, code: int = 200):
        self.reply(code, json.dumps(content).encode(), Content_Type="application/json")

    def error(self, code: int, name: str | None):
        self.reply(code, b"{}", **({"X_Error_Code": name} if name else {}))

    def whoami(self):
        self.json({"type": "user", "name": OWNER, "orgs": [{"name": ORGANIZATION}], "auth": {}})

    def validate(self):
        self.json({"errors": [], "warnings": []})

    def create(self):
        asked = json.loads(self.body)
        key = asked.get("type", "model"), f"{asked['organization'] or OWNER}/{asked['name']}"
        url = f"{self.hub.url}/{'spaces/' if key[0] == 'space' else ''}{key[1]}"
        is_new = key not in self.hub.repositories
        if is_new:
            self.hub.repositories[key] = Repository()
            self.hub.add(*key, {".gitattributes": b"*.safetensors filter=lfs\n"})
        self.json({"url": url, "name": key[1]}, 200 if is_new else 409)

    def info(self, it, commit, repository):
        files = [{"rfilename": path} for path in it.commits[commit]]
        self.json({"id": repository, "sha": commit, "siblings": files, "tags": [], "private": False})

    def tree(self, it, commit, repository):
        self.json([_entry(path, file) for path, file in it.commits[commit].items()])

    def paths(self, it, commit, repository):
        wanted = json.loads(self.body)["paths"]
        self.json([_entry(path, file) for path, file in it.commits[commit].items() if path in wanted])

    def preupload(self, it, commit, repository):
        answers = []
        for asked in json.loads(self.body)["files"]:
            known = it.commits[commit].get(asked["path"])
            mode = "lfs" if is_large_name(asked["path"]) else "regular"
            oid = known.etag if known else None
            answers.append({"path": asked["path"], "uploadMode": mode, "shouldIgnore": False, "oid": oid})
        self.json({"files": answers})

    def large(self, it, commit, repository):
        objects = json.loads(self.body)["objects"]
        for asked in objects:
            if not (self.hub.folder / asked["oid"]).is_file():
                asked["actions"] = {"upload": {"href": f"{self.hub.url}/lfs/{asked['oid']}"}}
        self.json({"transfer": "basic", "objects": objects})

    def put(self, oid):
        if hashlib.sha256(self.body).hexdigest() != oid:
            return self.error(422, None)
        self.hub.store(oid, self.body)
        return self.reply(200)

    def commit(self, it, parent, repository):
        tree = dict(it.commits[parent])
        for line in self.body.splitlines():
            key, value = json.loads(line).values()
            if key == "header" and value.get("parentCommit", parent) != parent:
                return self.error(412, None)
            if key == "file":
                tree[value["path"]] = self.hub.store(value["path"], base64.b64decode(value["content"]), False)
            elif key == "lfsFile":
                body = (self.hub.folder / value["oid"]).read_bytes()
                tree[value["path"]] = self.hub.store(value["path"], body, True)
            elif key == "deletedFile":
                del tree[value["path"]]
        commit = self.hub.commit(it, tree)
        self.json({"success": True, "commitUrl": f"{self.hub.url}/{repository}/commit/{commit}", "commitOid": commit})

    def tag(self, it, commit, repository):
        if self.command == "DELETE":
            del it.tags[unquote(self.path).rpartition("/")[2]]
            return self.json({})
        tag = json.loads(self.body)["tag"]
        if tag in it.tags:
            return self.json({"error": "Tag reference exists already"}, 409)
        it.tags[tag] = commit
        return self.json({})

    def resolve(self, it, commit, repository, name):
        file = it.commits[commit].get(name)
        if file is None:
            return self.reply(404, b"", X_Error_Code="EntryNotFound", X_Repo_Commit=commit)
        body = (self.hub.folder / file.sha256).read_bytes()
        if self.command == "GET" and file.sha256 in self.hub.corrupt:
            self.hub.corrupt.remove(file.sha256)
            body = body[:-1] + bytes([body[-1] ^ 1])
        return self.reply(200, body, ETag=f'"{file.etag}"', X_Repo_Commit=commit)

    def log_message(self, *args):
        pass


def _entry(path: str, file: File) -> dict:
    large = {"lfs": {"oid": file.sha256, "size": file.size, "pointerSize": 130}} if file.is_large else {}
    return {"type": "file", "path": path, "size": file.size, "oid": file.git_sha1, **large}


REVISION = r"(?P<revision>[^/]+)"
ROUTES = [
    (("GET",), r"/api/whoami-v2", True, _Handler.whoami),
    (("POST",), r"/api/validate-yaml", False, _Handler.validate),
    (("POST",), r"/api/repos/create", True, _Handler.create),
    (("GET",), API, False, _Handler.info),
    (("GET",), rf"{API}/revision/{REVISION}", False, _Handler.info),
    (("GET",), rf"{API}/tree/{REVISION}", False, _Handler.tree),
    (("POST",), rf"{API}/paths-info/{REVISION}", False, _Handler.paths),
    (("POST",), rf"{API}/preupload/{REVISION}", True, _Handler.preupload),
    (("POST",), rf"/(?P<kind>spaces/)?{REPOSITORY}\.git/info/lfs/objects/batch", True, _Handler.large),
    (("PUT",), r"/lfs/(?P<oid>[0-9a-f]{64})", False, _Handler.put),
    (("POST",), rf"{API}/commit/{REVISION}", True, _Handler.commit),
    (("POST", "DELETE"), rf"{API}/tag/{REVISION}", True, _Handler.tag),
    (
        ("GET", "HEAD"),
        rf"/(?P<kind>spaces/|datasets/)?{REPOSITORY}/resolve/{REVISION}/(?P<name>.+)",
        False,
        _Handler.resolve,
    ),
]
