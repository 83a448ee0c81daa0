"""Opens what users name as input: files, folders, rows in memory, a data set beside predictions."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .errors import FileError
from .formats import joined_rows, predictions_of, questions_of
from .formats.openai_evals import event_log_rows
from .sources import COMPRESSIONS, READABLE, ReadOptions, Source, printable


def files(paths: Sequence[str | os.PathLike], options: ReadOptions | None = None) -> list[Source]:
    """Return files as rows, which stand where paths may stand.

    Args:
        paths: names or addresses of files, or folders of `Dataset.save_to_disk`. For the form "squad" files of
            predictions ({id: answer}) and one with the data set.
        options: how they are read; None for the defaults.

    Raises:
        ValueError: if a file does not exist or is named twice.
    """
    options = options or ReadOptions()
    folders = {path for path in paths if is_dataset(path)}
    values: list[Source] = [
        Source(options=options, memory=load_dataset(path), name=Path(path).name, inputs=[path])
        if path in folders
        else _event_log(path, options.split)
        if options.form in (None, "openai-evals") and _starts(path, b'{"spec": ')
        else Source(path, options=options)
        for path in paths
    ]
    named: dict[object, str] = {}
    for source in values:
        if (place := source.identity) in named:
            names = dict.fromkeys((named[place], source.name))
            raise FileError(f"input: the same file is named twice, {' and '.join(names)}; name it once")
        named[place] = source.name
    _tell_apart(values)
    return _joined(values, options.form == "squad") or values


def _starts(path: str | os.PathLike, start: bytes) -> bool:
    """Return whether a text file begins with some bytes."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(start)) == start


def _event_log(path: str | os.PathLike, split: str) -> Source:
    """Return a log of OpenAI evals, in which several lines are one row."""
    source = Source(path)
    source.form = ""  # events are no rows of a tool
    rows = event_log_rows([row.values or {} for row in source.rows()])
    if not rows:
        raise FileError(
            f"{source.name}: a log of OpenAI evals without answers: it has no events of type 'sampling'; let the eval "
            "record them, or name another file"
        )
    if not any("ideal" in row for row in rows):
        raise FileError(
            f"{source.name}: a log of OpenAI evals without right answers: it has no events of type 'match'"
        )
    kept = [row for row in rows if "ideal" in row]
    result = Source(
        options=ReadOptions(form="openai-evals", split=split), memory=kept, name=source.stem, inputs=[path]
    )
    if len(kept) < len(rows):
        result.note(f"{len(rows) - len(kept):,} samples without a right answer were left out")
    return result


def _tell_apart(sources: Sequence[Source]) -> None:
    """Name the systems of files with equal names after their folders too, a/x and b/x, or after their endings."""
    by_stem: dict[str, list[Source]] = {}
    for source in sources:
        by_stem.setdefault(source.stem, []).append(source)
    for stem, alike in by_stem.items():
        places = [Path(source.name).absolute() for source in alike]
        for depth in range(1, max(len(place.parts) for place in places)):
            folders = ["/".join(place.parts[:-1][-depth:]) for place in places]
            if len(set(folders)) == len(alike) > 1:
                for source, folder in zip(alike, folders, strict=True):
                    source.stem = f"{folder}/{stem}"
                break
        else:
            for source, place in zip(alike, places, strict=True):
                source.stem = place.name if len(alike) > 1 else stem


def _joined(sources: Sequence[Source], demanded: bool) -> list[Source]:
    """Return predictions joined with the data set that they answer, where the sources are just that; else none.

    Raises:
        FileError: if they are not, but that is demanded, or the predictions are of another data set.
    """
    predictions: dict[Source, dict[str, str]] = {}
    questions: dict[str, dict] = {}
    gold: list[Source] = []
    local = [source for source in sources if source.path not in (None, "-") and not source.remote]
    for source in sources if demanded or (len(sources) > 1 and len(local) == len(sources)) else ():
        rows = _all_rows(source)
        if (answered := predictions_of(rows)) is not None:
            predictions[source] = answered
        elif (asked := questions_of(rows)) is not None:
            gold.append(source)
            questions |= asked
        else:
            break
    if len(predictions) + len(gold) < len(sources) or not predictions or not gold:
        if not demanded:
            return []
        raise FileError(
            "--from squad: expected files of predictions, {id: answer}, and the data set that they answer (with id, "
            f"question and answers), got {', '.join(source.name for source in sources)}"
        )
    result: list[Source] = []
    for source, answered in predictions.items():
        try:
            rows = joined_rows(answered, questions)
        except ValueError as error:
            raise FileError(f"{source.name}: {error}") from error
        inputs = [path for part in (*gold, source) for path in part.inputs]
        result.append(Source(memory=rows, name=source.stem, inputs=inputs))
        if unanswered := len(set(questions) - set(answered)):
            result[-1].note(f"{unanswered:,} questions of the data set have no prediction; they count as not answered")
    return result


def _all_rows(source: Source) -> list[dict]:
    """Return the good rows of a source; only the first one where that shows that no rows are joined."""
    rows: list[dict] = []
    try:
        for row in source.rows():
            rows += [row.values] if row.values is not None else []
            if len(rows) == 1 and predictions_of(rows) is None and questions_of(rows) is None:
                break
    except FileError:
        return []  # reported when the file is read
    return rows


def sources_of(rows: Any, columns: Sequence[str] | None = None, name: str = "rows") -> list[Source]:
    """Return sources of rows.

    Args:
        rows: a path or a list of paths; or a list of dicts, a pandas DataFrame (NaN is a missing value), or a
            `datasets.Dataset`.
        columns: see `Source`.
        name: see `Source`.

    Raises:
        ValueError: if they are something else, or a file is named twice.

    >>> [row.values for row in sources_of([{"id": 1.5}, {"id": float("nan")}])[0].rows()]
    [{'id': 1.5}, {'id': None}]
    """
    if isinstance(rows, str | os.PathLike):
        rows = [rows]
    if isinstance(rows, Sequence) and rows and all(isinstance(path, str | os.PathLike) for path in rows):
        rows = files(rows)
    if isinstance(rows, Sequence) and rows and all(isinstance(source, Source) for source in rows):
        for source in rows:
            source.columns = source.columns or columns
        return list(rows)
    if hasattr(rows, "iterrows"):  # pandas
        if not rows.columns.is_unique:
            double = rows.columns[rows.columns.duplicated()][0]
            raise ValueError(f"{name}: two columns are named {double!r}; rename one of them")
        rows = rows.astype(object).where(rows.notna(), None).to_dict("records")
    if isinstance(rows, Mapping | str | bytes) or not isinstance(rows, Iterable):
        fix = "; choose one of its splits" if hasattr(rows, "num_rows") else ""
        raise ValueError(
            f"{name}: expected a path, a list of paths or of dicts, a pandas DataFrame or a datasets.Dataset, got "
            f"{type(rows).__name__}{fix}"
        )
    return [Source(memory=rows if hasattr(rows, "__len__") else list(rows), name=name)]


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
    result = {}
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
        result[folder.name if folder.name != second.name else printable(str(path)).rstrip("/")] = kept
    if len(result) < 2:
        raise FileError(
            f"input: the same folder is named twice, {printable(str(paths[0]))}; name an old and a new run"
        )
    return result


def recorded_signatures(source: Source) -> dict[str, str]:
    """Return what the scores in a Parquet file that `score --output` wrote depend on, by metric; none elsewhere."""
    if source.format != "Parquet" or source.path is None or "://" in source.path:
        return {}
    import pyarrow.parquet

    try:
        content = json.loads((pyarrow.parquet.read_schema(source.path).metadata or {}).get(b"genqa_metrics", b"{}"))
    except (OSError, ValueError):  # pyarrow's errors are ValueErrors; reading the rows reports a damaged file
        return {}
    return {str(metric): str(text) for metric, text in content.items()} if isinstance(content, dict) else {}


def is_dataset(path: str | os.PathLike) -> bool:
    """Return whether a path is a folder of `Dataset.save_to_disk`."""
    return any(os.path.isfile(os.path.join(path, name)) for name in ("state.json", "dataset_dict.json"))


def load_dataset(path: str | os.PathLike):
    """Return the `datasets.Dataset` of a folder of `save_to_disk`.

    Raises:
        FileError: if it has several splits, or cannot be read.
    """
    import datasets

    try:
        result = datasets.load_from_disk(str(path))
    except Exception as error:  # datasets and pyarrow raise many kinds
        raise FileError(f"{path}: not a data set that can be read: {error}") from error
    if isinstance(result, datasets.DatasetDict):
        splits = ", ".join(str(Path(path, name)) for name in result)
        raise FileError(f"{path}: holds several splits; name one of {splits}")
    return result
