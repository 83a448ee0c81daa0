"""A folder of Parquet parts that a run fills and, killed at any moment, resumes to fill.

A part and what a later run must know of it (sums, and the row where the next part begins) are one file that appears in
one step; so there is no moment at which they disagree. `_manifest.json` says what the parts were made of and with.
Its name begins with an underscore, because readers of folders of Parquet files pass over such names.
"""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..rows.files import Source
from ..rows.formats import FileError
from ..rows.writing import Writer, new_file

MANIFEST = "_manifest.json"
PART_ROWS = 20_000
STATE = "genqa_metrics_state"
_FORMAT = 1


def is_folder(output: str) -> bool:
    """Return whether an output is a folder of parts: its name ends in a slash, or a folder of that name is there.

    >>> is_folder("scores/"), is_folder("scores.parquet")
    (True, False)
    """
    return output.endswith(("/", os.sep)) or Path(output).is_dir()


def part_name(part: int) -> str:
    """Return the name of a part's file.

    >>> part_name(3)
    'part-000003.parquet'
    """
    return f"part-{part:06}.parquet"


def fingerprint(source: Source) -> dict:
    """Return name, size and SHA-256 of an input file.

    Raises:
        FileError: if it cannot be read.
    """
    return {"name": source.name, "size": source.size, "sha256": source.digest}


def manifest(settings: Mapping, inputs: Sequence[Mapping], facts: Mapping) -> bytes:
    """Return the content of a manifest.

    Args:
        settings: whatever the numbers depend on.
        inputs: per file "name", "size" and, where it was computed, "sha256".
        facts: facts about the run.
    """
    content = {"format": _FORMAT, "settings": settings, "inputs": inputs, **facts}
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


class Parts:
    """The parts of one run.

    Args:
        folder: the folder; it is made if its parent is there.
        settings: whatever the numbers depend on, by name, as JSON.
        sources: the input files.
        resume: whether parts that an earlier run has finished are to be kept.

    Attributes:
        finished: number of each part that is there -> what was noted at its end.

    Raises:
        FileError: if the folder cannot be used, holds parts and `resume` is not asked for, or holds parts of other
            settings or other input. Nothing has been written yet.
    """

    def __init__(self, folder: str, settings: Mapping, sources: Sequence[Source], resume: bool):
        self.folder = Path(folder).resolve()
        self.settings = json.loads(json.dumps(settings))
        self.inputs = [fingerprint(source) for source in sources]
        self.finished: dict[int, dict] = {}
        self._writer: Writer | None = None
        self._lock: int | None = None
        if self.folder.exists() and not self.folder.is_dir():
            raise FileError(f"{folder}: is a file; name a folder")
        if not self.folder.parent.is_dir():
            raise FileError(f"{folder}: there is no folder {self.folder.parent}; make it first")
        if not (self.folder / MANIFEST).exists():
            if self.folder.is_dir() and any(self.folder.glob("*.parquet")):
                raise FileError(f"{folder}: holds Parquet files that are not of such a run; name an empty folder")
        elif resume:
            self._check(json.loads(self._text()))
        else:
            raise FileError(
                f"{folder}: holds the parts of an earlier run; resume it with --resume, or name another folder"
            )

    def _text(self) -> str:
        try:
            return (self.folder / MANIFEST).read_text(encoding="utf-8")
        except OSError as error:
            raise FileError(f"{self.folder / MANIFEST}: cannot be read: {error.strerror}") from error

    def _check(self, manifest: dict) -> None:
        if manifest["format"] != _FORMAT:
            raise FileError(f"{self.folder}: was written by another version; name another folder")
        if manifest["settings"] != self.settings:
            old, new = manifest["settings"], self.settings
            name = next(name for name in {**old, **new} if old.get(name) != new.get(name))
            raise FileError(
                f"{self.folder}: holds parts made with other settings: {name} was {json.dumps(old.get(name))}, now it "
                f"is {json.dumps(new.get(name))}; repeat the command that began it, or name another folder"
            )
        for path in sorted(self.folder.glob("part-*.parquet")):
            self.finished[int(path.stem.removeprefix("part-"))] = self._state(path)
        old, new = manifest["inputs"], self.inputs
        for number, name in enumerate(file["name"] for file in old):
            if new[number : number + 1] != old[number : number + 1]:
                made = [part for part, state in self.finished.items() if state["place"][0] >= number]
                if made:
                    raise FileError(
                        f"{self.folder}: {part_name(min(made))} and later parts were made with another {name} than "
                        "this run's input; give the same files in the same order, remove these parts, or name "
                        "another folder"
                    )
        if len(new) > len(old) and any(state["last"] for state in self.finished.values()):
            raise FileError(
                f"{self.folder}: is complete for {len(old)} files, {new[len(old)]['name']} is new; score the new "
                "files into another folder"
            )

    def _state(self, path: Path) -> dict:
        import pyarrow
        import pyarrow.parquet

        try:
            return json.loads(pyarrow.parquet.read_metadata(path).metadata[STATE.encode()])
        except (pyarrow.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
            raise FileError(
                f"{path}: is damaged, or not a part of this run: {error}; remove it, and --resume makes it again"
            ) from error

    def __enter__(self) -> "Parts":
        try:
            self.folder.mkdir(exist_ok=True)
            self._take_lock()
            for left in self.folder.glob(".*.part"):  # begun by a run that was killed, see new_file
                left.unlink()
            self._write_manifest({"complete": False})
        except OSError as error:
            raise FileError(f"{self.folder}: cannot be written: {error.strerror or error}") from error
        return self

    def _take_lock(self) -> None:
        try:
            import fcntl
        except ImportError:  # Windows
            return
        self._lock = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the system frees it when the process ends
        except BlockingIOError:
            raise FileError(f"{self.folder}: another run is writing to it; wait for it, or name another") from None

    def _write_manifest(self, facts: Mapping) -> None:
        with new_file(self.folder / MANIFEST) as file:
            file.write(manifest(self.settings, self.inputs, facts))

    def write(self, part: int, columns: Mapping[str, str], metadata: Mapping[str, str], rows: Mapping) -> None:
        """Write rows of a part.

        Args:
            part: its number.
            columns: see `files.Writer`.
            metadata: facts about the file.
            rows: one list per column.

        Raises:
            FileError: if it cannot be written.
        """
        if self._writer is None:
            self._writer = Writer(self.folder / part_name(part), columns, metadata).__enter__()
        self._writer.write(rows)

    def end(self, part: int, state: Mapping) -> None:
        """Finish a part: from now on it is there, with what a later run must know."""
        writer, self._writer = self._writer, None
        writer.note({STATE: json.dumps(state)})
        writer.__exit__(None, None, None)
        self.finished[part] = dict(state)

    def complete(self, facts: Mapping) -> None:
        """Write down that all input was scored, with facts about the whole run."""
        names = [part_name(part) for part in sorted(self.finished)]
        self._write_manifest({"complete": True, **facts, "parts": names})

    def __exit__(self, kind, error, trace) -> None:
        if self._writer is not None:
            self._writer.__exit__(kind, error, trace)
        if self._lock is not None:
            os.close(self._lock)
