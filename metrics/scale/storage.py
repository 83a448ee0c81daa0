"""Input files and output folders on any file system that pyarrow reads: this machine, s3://, gs://, hf:// ..."""

import io
import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import pyarrow
from pyarrow import fs

from ..rows.errors import FileError
from ..rows.sources import FORMATS, Source, format_of
from .parts import MANIFEST

CLAIM = "_claim-"  # start of the name of a file by which a run claims its folder


def file_system(path: str):
    """Return the pyarrow file system of a path or URI, and the path in it.

    Raises:
        FileError: if there is no such file system.
    """
    try:
        return fs.FileSystem.from_uri(path if "://" in path else os.path.abspath(path))
    except (pyarrow.ArrowException, OSError, ImportError, ValueError) as error:
        raise FileError(f"{path}: no such place: {error}") from error


def listed(inputs: Sequence[str]) -> list[dict]:
    """Return the files that inputs name.

    Args:
        inputs: files, folders or URIs; of a folder all files with a known ending count, sorted by name.

    Returns:
        Per file its "name" for results and messages, its "path" to open, its "size" in bytes, and when it "changed";
        None where unknown.

    Raises:
        FileError: if there is nothing.
    """
    files = []
    for given in inputs:
        # What comes behind a question mark, such as a region, is for the file system.
        name, mark, options = given.partition("?") if "://" in given else (given, "", "")
        system, inner = file_system(given)
        try:
            info = system.get_file_info(inner)
            values = [info]
            if info.type == fs.FileType.Directory:
                values = system.get_file_info(fs.FileSelector(inner, recursive=True))
        except OSError as error:
            raise FileError(f"{given}: cannot be read: {error}") from error
        if info.type == fs.FileType.NotFound:
            raise FileError(f"{given}: no such file; check the name")
        if info.type == fs.FileType.Directory:
            inside = (file for file in values if file.is_file and _is_input(file.base_name))
            values = sorted(inside, key=lambda file: file.path)
            if not values:
                raise FileError(f"{given}: no file in it ends in {', '.join(FORMATS)}")
        for file in values:
            full = name.rstrip("/") + file.path.removeprefix(inner.rstrip("/"))
            format_of(full)
            path = full + mark + options if "://" in full else os.path.abspath(full)
            files.append({"name": full, "path": path, "size": file.size, "changed": file.mtime_ns})
    return files


def check_unchanged(files: Sequence[Mapping]) -> None:
    """Refuse files that have changed since they were `listed`.

    Raises:
        FileError: names the first one, or one that is no longer there.
    """
    for file in files:
        system, inner = file_system(file["path"])
        info = system.get_file_info(inner)
        if info.type == fs.FileType.NotFound:
            raise FileError(f"{file['name']}: is no longer there; score it again")
        if (info.size, info.mtime_ns) != (file["size"], file["changed"]):
            raise FileError(
                f"{file['name']}: has changed while it was read; score it into another folder when it is complete"
            )


@contextmanager
def claimed(folder: str) -> Iterator[None]:
    """Claim a folder for one run, on any file system: write a claim, then look for others.

    Of two runs that begin at the same time at least one sees the other's claim and gives up.

    Raises:
        FileError: if another run has claimed the folder, or it holds parts. It is as it was before.
    """
    system, inner = file_system(folder)
    name = f"{CLAIM}{uuid.uuid4().hex}"
    try:
        system.create_dir(inner, recursive=True)
        write_file(folder, name, b"")
    except OSError as error:
        raise FileError(f"{folder}: cannot be written: {error}") from error
    try:
        check_unused(folder, name)
        yield
    finally:
        system.delete_file(f"{inner.rstrip('/')}/{name}")


def check_unused(folder: str, own: str = "") -> None:
    """Refuse a folder that holds parts, or the claim of a run other than `own`.

    Raises:
        FileError: says which.
    """
    system, inner = file_system(folder)
    there = system.get_file_info(fs.FileSelector(inner, allow_not_found=True))
    for file in sorted(
        there, key=lambda file: not file.base_name.startswith(CLAIM)
    ):  # of a run that is not over first
        if file.base_name == MANIFEST or file.extension == "parquet":
            raise FileError(f"{folder}: holds the parts of an earlier run; name another folder")
        if file.base_name.startswith(CLAIM) and file.base_name != own:
            raise FileError(
                f"{folder}: another run is writing to it, or was killed; name another folder, or remove "
                f"{file.base_name} if no run is left"
            )


def _is_input(name: str) -> bool:
    try:
        return not name.startswith(("_", ".")) and bool(format_of(name))
    except FileError:
        return False


def source_of(file: Mapping, columns: Sequence[str] | None = None) -> Source:
    """Return one of the `listed` files as rows; `columns` as in `sources.Source`."""

    def opened():
        system, inner = file_system(file["path"])
        return io.BufferedReader(system.open_input_file(inner))

    return Source(file["name"], columns, opened)


def write_file(folder: str, name: str, content: bytes | memoryview) -> None:
    """Write a file into a folder, both of any file system."""
    system, inner = file_system(folder)
    with system.open_output_stream(f"{inner.rstrip('/')}/{name}") as file:
        file.write(content)
