"""A folder of Parquet parts that a run fills and, killed at any moment, resumes to fill.

A part and the sums over its rows are one file that appears in one step, so they never disagree. `_manifest.json`
records the input and the settings of the parts.
Its name begins with an underscore, because readers of folders of Parquet files pass over such names. It has the
SHA-256 of every finished part and its own: a run that is resumed, and `verify`, see every change. A part that is not
in it yet, because the run was killed in between, is made again.
"""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from ..rows.errors import RESUME, FileError
from ..rows.sources import Source, check_regular, digest, json_digest
from ..rows.writing import TEMPORARY, Writer, can_be_written, lock_folder, new_file

if TYPE_CHECKING:
    from .scoring import Tally

MANIFEST = "_manifest.json"
PART_ROWS = 20_000
STATE = "genqa_metrics_state"
_FORMAT = 9


def is_folder(output: str) -> bool:
    """Return whether an output is a folder of parts: its name ends in a slash, or a folder of that name is there."""
    return output.endswith(("/", os.sep)) or os.path.isdir(output)


def part_name(part: int) -> str:
    """Return the name of a part's file, such as part-000003.parquet."""
    return f"part-{part:06}.parquet"


def manifest(settings: Mapping, inputs: Sequence[Mapping], facts: Mapping) -> bytes:
    """Return the content of a manifest; inputs have "name", "size" and, where it was computed, "sha256"."""
    content = {"format": _FORMAT, "settings": settings, "inputs": inputs, **facts}
    return (json.dumps({**content, "sha256": json_digest(content)}, indent=1, ensure_ascii=False) + "\n").encode()


def read_manifest(folder: Path) -> dict:
    """Return the content of a folder's manifest; a damaged or edited one is a FileError."""
    path = folder / MANIFEST
    damaged = "restore it, or score into another folder"
    check_regular(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        problem = f"{path}: cannot be read, there is none; name a folder that score --output FOLDER/ wrote"
        raise FileError(problem) from None
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path}: is damaged, not JSON ({error}); {damaged}") from error
    if isinstance(content, dict) and content.get("format", _FORMAT) != _FORMAT:
        raise FileError(f"{folder}: was written by another version; name another folder")
    if not isinstance(content, dict) or content.pop("sha256", None) != json_digest(content):
        raise FileError(f"{path}: is damaged, or was edited: its content has another SHA-256; {damaged}")
    return content


def verify(folder: str) -> dict[str, int]:
    """Return {"parts": number, "rows": number} of a complete folder; a missing or changed part is a FileError."""
    import pyarrow.parquet

    root = Path(folder)
    if not root.is_dir():
        raise FileError(f"{folder}: is no folder; name one that score --output FOLDER/ wrote")
    content = read_manifest(root)
    if not content["complete"]:
        raise FileError(f"{folder}: is not complete; run the command that began it again, with --resume")
    digests, there = content["parts"], {path.name for path in root.iterdir() if path.name != MANIFEST}
    problems = [f"{name} is missing" for name in sorted(set(digests) - there)]
    problems += [f"{name} is not of this run" for name in sorted(there - set(digests))]
    rows = 0
    for name in sorted(there & set(digests)):
        if not (root / name).is_file():
            problems.append(f"{name} is not a file")
        elif digest(root / name) != digests[name]:
            problems.append(f"{name} has changed")
        else:
            rows += pyarrow.parquet.read_metadata(root / name).num_rows
    if problems:
        more = f"; and {len(problems) - 10:,} more" if len(problems) > 10 else ""
        raise FileError(f"{folder}: is not what its run wrote: {'; '.join(problems[:10])}{more}")
    return {"parts": len(digests), "rows": rows}


class Parts:
    """The parts of one run; those that an earlier run `finished`, {number: what was noted}, are kept with `resume`.

    `settings` are everything that the numbers depend on, as JSON. The folder is made if its parent is there.
    """

    kept = None

    def __init__(self, folder: str, settings: Mapping, sources: Sequence[Source], resume: bool):
        if "://" in str(folder):
            raise FileError(f"{folder}: only --engine ray writes to an address; name a folder here")
        self.folder = Path(folder).resolve()
        self.settings = json.loads(json.dumps(settings))
        self._sources = sources
        self.inputs = [{"name": file.name, "size": file.size, "sha256": file.digest} for file in sources]
        self.finished: dict[int, dict] = {}
        self._digests: dict[str, str] = {}
        self._resume, self._name = resume, folder
        self._writer: Writer | None = None
        self._begun = False
        if self.folder.exists() and not self.folder.is_dir():
            raise FileError(f"{folder}: is a file; name a folder")
        if not self.folder.parent.is_dir():
            raise FileError(f"{folder}: there is no folder {self.folder.parent}; make it first")
        self._look()

    def _look(self) -> None:
        """Read the manifest of the folder; parts of another run, or of other settings, are a FileError."""
        self.finished.clear()
        self._digests.clear()
        if not (self.folder / MANIFEST).exists():
            if self.folder.is_dir() and any(self.folder.glob("*.parquet")):
                raise FileError(f"{self._name}: holds Parquet files that are not of such a run; name an empty folder")
        elif self._resume:
            self._check(read_manifest(self.folder))
        else:
            problem = f"{self._name}: holds the parts of an earlier run; resume it with "
            raise FileError(problem, RESUME, ", or name another folder")

    def _check(self, manifest: dict) -> None:
        if manifest["settings"] != self.settings:
            old, new = manifest["settings"], self.settings
            name = next(name for name in {**old, **new} if old.get(name) != new.get(name))
            raise FileError(
                f"{self.folder}: holds parts made with other settings: {name} was {json.dumps(old.get(name))}, now it "
                f"is {json.dumps(new.get(name))}; repeat the command that began it, or name another folder"
            )
        digests, unfit = manifest["parts"], []
        for path in sorted(self.folder.glob("*.parquet")):
            check_regular(path)
            number = path.stem.removeprefix("part-")
            part = int(number) if number.isascii() and number.isdigit() else -1
            state = self._state(path, part)
            if state is None or digests.get(path.name) not in (None, digest(path)):
                unfit.append(path.name)
            elif path.name in digests:
                self.finished[part], self._digests[path.name] = state, digests[path.name]
        if unfit:
            names = ", ".join(unfit[:10]) + f" and {len(unfit) - 10:,} more" * (len(unfit) > 10)
            problem = (
                f"{self.folder}: damaged, or made of other input than {', '.join(file.name for file in self._sources)}"
            )
            fix = "give the same files in the same order, or remove these parts, which "
            raise FileError(f"{problem}: {names}; {fix}", RESUME, " makes again")

    def _origin(self, part: int, state: Mapping) -> str:
        """Return one SHA-256 of a part's number and state, and of the settings and input that the part was made of."""
        inputs = self.inputs if state["is_last"] else self.inputs[: state["files"]]
        facts = [state[name] for name in ("files", "is_last", "tally")]
        return json_digest([part, facts, self.settings, inputs])

    def _state(self, path: Path, part: int) -> dict | None:
        """Return the state in the file of a finished part; None if it is damaged, or was not made of this input."""
        import pyarrow
        import pyarrow.parquet

        try:
            state = json.loads(pyarrow.parquet.read_metadata(path).metadata[STATE.encode()])
            is_of_run = part_name(part) == path.name and state["origin"] == self._origin(part, state)
        except (pyarrow.ArrowException, OSError, KeyError, TypeError, ValueError):
            return None
        return state if is_of_run else None

    def __enter__(self) -> "Parts":
        with ExitStack() as stack, can_be_written(self.folder):
            if not self.folder.exists():
                self.folder.mkdir(exist_ok=True)
                stack.callback(lambda: any(self.folder.iterdir()) or self.folder.rmdir())  # if nothing came of it
            try:
                lock = lock_folder(self.folder, wait=False)
            except BlockingIOError:
                problem = "another run is writing to it; wait for it, or name another"
                raise FileError(f"{self.folder}: {problem}") from None
            if lock is not None:
                stack.callback(os.close, lock)
            self._look()  # again: another run may have written there in between
            for left in self.folder.glob(TEMPORARY.format("?" * 16)):  # begun by a run that was killed
                left.unlink()
            self._stack = stack.pop_all()
        return self

    def _write_manifest(self, facts: Mapping) -> None:
        with can_be_written(self.folder), new_file(self.folder / MANIFEST) as file:
            file.write(manifest(self.settings, self.inputs, facts))

    def write(self, part: int, columns: Mapping[str, str], metadata: Mapping[str, str], rows: Mapping) -> None:
        """Write rows of a part, one list per column."""
        if not self._begun:
            self._write_manifest({"complete": False, "parts": self._digests})
            self._begun = True
        self._writer = self._writer or Writer(self.folder / part_name(part), columns, metadata).__enter__()
        self._writer.write(rows)

    def end_part(self, part: int, files: int, is_last: bool, tally: "Tally") -> None:
        """Close a part's file with its sums, for a later run; an input that has changed is a FileError.

        `files` were read up to its end; `is_last`: all of them were.
        """
        for source in self._sources:
            source.check_unchanged()
        state = {"files": files, "is_last": is_last, "tally": json.loads(json.dumps(tally.as_json()))}
        state["origin"] = self._origin(part, state)
        writer, self._writer = self._writer, None
        writer.note({STATE: json.dumps(state)})
        writer.__exit__(None, None, None)
        self.finished[part] = state
        self._digests[part_name(part)] = digest(self.folder / part_name(part))
        self._write_manifest({"complete": False, "parts": self._digests})

    def complete(self, facts: Mapping) -> None:
        """Write the complete manifest: digests of all parts, and `facts`; a changed input is a FileError."""
        for source, before in zip(self._sources, self.inputs, strict=True):
            if source.digest != before["sha256"]:
                raise FileError(
                    f"{source.name}: has changed while it was read; remove the parts made of it, or score it into "
                    "another folder when it is complete"
                )
        self._write_manifest({"complete": True, **facts, "parts": dict(sorted(self._digests.items()))})

    def __exit__(self, kind, error, trace) -> None:
        if self._writer is not None:
            self._writer.__exit__(kind, error, trace)
        self._stack.close()
