"""Folders of runs: the files in them, and what the scores that an earlier run wrote depend on."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from .files import printable
from .row import COMPRESSIONS, READABLE, FileError
from .sources import AnySource
from .tables import is_dataset


def files_of_runs(paths: object) -> dict[str, list[str]] | None:
    """Return the files of two runs, {name of the folder: its files}; None unless just two folders are named.

    Files of other formats, and those whose name begins with "_" or ".", are skipped, as by readers of folders of
    Parquet files.

    Args:
        paths: names; anything else is not two folders.

    Raises:
        FileError: if a folder has no file that can be read.
    """
    if not isinstance(paths, Sequence) or len(paths) != 2:
        return None
    if not all(isinstance(path, str | os.PathLike) and os.path.isdir(path) and not is_dataset(path) for path in paths):
        return None
    found = {}
    for path, other in zip(paths, reversed(paths), strict=True):
        folder, second = Path(path).resolve(), Path(other).resolve()
        endings = tuple(ending + packed for ending in READABLE for packed in ("", *COMPRESSIONS))
        names = sorted(
            file.name for file in folder.iterdir() if file.is_file() and not file.name.startswith(("_", "."))
        )
        kept = [str(folder / name) for name in names if name.lower().endswith(endings)]
        if not kept:
            raise FileError(
                f"{printable(str(path))}: no file with rows in this folder; expected {', '.join(READABLE)}"
            )
        found[folder.name if folder.name != second.name else printable(str(path)).rstrip("/")] = kept
    if len(found) < 2:
        raise FileError(
            f"input: the same folder is named twice, {printable(str(paths[0]))}; name an old and a new run"
        )
    return found


def recorded_signatures(source: AnySource) -> dict[str, str]:
    """Return what the scores in a Parquet file that `score --output` wrote depend on, by metric; none elsewhere."""
    if source.format != "Parquet" or source.path is None or "://" in source.path:
        return {}
    import pyarrow.parquet

    try:
        found = json.loads((pyarrow.parquet.read_schema(source.path).metadata or {}).get(b"genqa_metrics", b"{}"))
    except (OSError, ValueError):  # pyarrow's errors are ValueErrors; reading the rows reports a damaged file
        return {}
    return {str(metric): str(text) for metric, text in found.items()} if isinstance(found, dict) else {}
