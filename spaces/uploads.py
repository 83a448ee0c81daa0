"""Files of visitors: what is taken, which column is what, a preview, rows with bad ones listed; files to download."""

import os
import re
import shutil
import struct
import tempfile
import time
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import clicks
import common
import gradio as gr
import look
from gradio_client.utils import is_http_url_like
from markupsafe import Markup

MAX_ROWS = 2_000  # of a file,
MAX_PAIRS = 10_000  # and answers with each of their references
MAX_UNPACKED = 2**26  # bytes that a workbook or a table may unpack to
MAX_LISTED = 10  # bad rows that are listed
WINDOW = 64  # rows that are scored at once
MAX_WORKERS = 2
PEEK = 50  # rows that show which columns there are
ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".xlsx", ".parquet", ".eval")
NONE = "(none)"
LABELS = {
    "question": "Column with the question",
    "prediction": "Column with the answer",
    "references": "Column with the accepted answers",
    "system": "Column with the system",
    "id": "Column with the id",
}
_FILES = tempfile.TemporaryDirectory(prefix="genqa-demo-", ignore_cleanup_errors=True)


def _rows(name: str):
    return import_module(f"genqa.toolkit.rows.{name}")


class Picked(NamedTuple):
    """A field for a file and, once there is one, what its columns are.

    Attributes:
        file: the field.
        columns: names of what is read, in the order of `menus`.
        menus: one menu of columns each.
    """

    file: gr.File
    columns: tuple[str, ...]
    menus: list[gr.Dropdown]

    @property
    def inputs(self) -> list:
        """Components whose values `read` takes."""
        return [self.file, *self.menus]


def upload_field() -> gr.File:
    """Return a field for a file of the visitor; unlike a plain `gr.File` it fetches no address sent instead of one."""
    field = gr.File(label="File", file_types=list(ENDINGS), type="filepath", height=140)
    take = field.async_move_resource_to_block_cache

    async def take_uploads_only(path):
        if is_http_url_like(str(path or "")):
            raise gr.Error("File: addresses are not fetched; upload the file itself.", print_exception=False)
        return await take(path)

    field.async_move_resource_to_block_cache = take_uploads_only
    return field


def picker(columns: Sequence[str], example: Path, labels: Mapping[str, str] | None = None) -> Picked:
    """Add a field for a file, a button for the example, and, once there is a file, menus of columns and a preview.

    Args:
        columns: what is read: keys of `LABELS`; several columns of answers are one system each.
        example: a file of the demo.
        labels: what the menus are called, where it is something else than in `LABELS`.
    """
    field = upload_field()
    path = Path(_FILES.name, f"{example.parent.name}-{example.name}")
    shutil.copyfile(example, path)  # where Gradio may serve it, wherever the demo was started
    button = gr.Button("Take the example file", size="sm")
    menus = []
    with gr.Column(visible=False) as shown:
        with gr.Row():
            for name in columns:
                several = name == "prediction" and "system" in columns
                label = {**LABELS, **(labels or {})}[name]
                info = "several, if each system has one" if several else None
                menus.append(gr.Dropdown([], label=label, info=info, multiselect=several, min_width=170))
        preview = gr.HTML(apply_default_css=False)

    def looked(path: str | None) -> list:
        try:
            found, rows = peek(path)
        except ValueError as error:
            message = look.html('<div class="problem">{text}</div>', text=str(error)[: common.MAX_MESSAGE])
            return [gr.update(visible=bool(path)), *[gr.skip()] * len(menus), message if path else ""]
        guesses = guessed(found)
        rest = [name for name in found if name not in guesses.values()]  # a column for each system, if none is theirs
        updates = []
        for name, menu in zip(columns, menus, strict=True):
            choices = [NONE, *found] if name in ("system", "id") else found
            guess = guesses.get(name) or (NONE if name in ("system", "id") else None)
            if menu.multiselect:
                guess = [guess] if guess else rest
            updates.append(gr.update(choices=choices, value=guess))
        cells = [[str(i), *(_short(row.get(name)) for name in found)] for i, row in enumerate(rows[:3], 1)]
        table = look.table(["", *found], cells, "The first rows of the file")
        return [gr.update(visible=True), *updates, table]

    field.change(looked, field, [shown, *menus, preview], api_visibility="private", concurrency_id="peek")
    button.click(lambda: str(path), None, field, api_visibility="private")
    return Picked(field, tuple(columns), menus)


def file_tab(
    title: str,
    columns: Sequence[str],
    example: Path,
    function: Callable,
    needs: str,
    buttons: tuple[str, str],
    labels: Mapping[str, str] | None = None,
    others: Sequence = (),
) -> Picked:
    """Add a tab in which a file is scored as a whole, with progress, what was found, and a file to download.

    Args:
        title: of the tab.
        columns: see `picker`.
        example: see `picker`.
        function: takes `tick`, the file, its columns and the values of `others`; see `clicks.LongWork`. Results are
            HTML and the path of a file.
        needs: which columns are needed.
        buttons: what the buttons say that start it and that download the file.
        labels: see `picker`.
        others: fields beside the file, not yet rendered.
    """
    start, save = buttons
    with gr.Tab(title):
        gr.Markdown(what_is_taken(needs))
        with gr.Row():
            with gr.Column(min_width=280):
                picked = picker(columns, example, labels)
                for field in others:
                    field.render()
                button = gr.Button(start, variant="primary")
            with gr.Column(min_width=280):
                area = clicks.results_area("Choose a file, or take the example.")
                with area.results:
                    outputs = [gr.HTML(apply_default_css=False), gr.DownloadButton(save)]
    inputs = [*picked.inputs, *others]  # who asks about one answer does not wait for a whole file: another queue
    clicks.connect([button.click], function, inputs, area, outputs, long=True, concurrency_id="file")
    return picked


def _short(value: object, most: int = 80) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= most else text[: most - 1] + "…"


def checked_path(path: str | None) -> str:
    """Return the path of an upload that can be read here.

    Raises:
        common.Problem: if there is none, it is gone, too large, of another kind, or unpacks to too much.
    """
    formats = _rows("formats")
    if not path:
        raise common.Problem("File: no file yet; choose one, or take the example.")
    if Path(path).suffix.lower() not in ENDINGS:
        raise common.Problem(f"File: expected a name that ends in {', '.join(ENDINGS)}; save it as one of them.")
    try:
        size = os.path.getsize(path)
        with open(path, "rb") as file:
            start = file.read(8)
    except OSError:
        raise common.Problem(
            f"File: it is no longer here; files are deleted after {common.KEEP[1] // 60} minutes. Upload it again."
        ) from None
    if size > common.MAX_FILE:
        raise common.Problem(
            f"File: larger than {common.MAX_FILE // 2**20} MB; upload a part, or use genqa-metrics at home."
        )
    if any(start.startswith(magic) for magic in formats.COMPRESSIONS.values()):
        raise common.Problem("File: it is compressed; unpack it first.")  # a small one can unpack to gigabytes
    if start.startswith(b"PK") and not _unpacks(path):
        raise common.Problem("File: damaged, or it unpacks to too much; save the rows as CSV.")
    if start.startswith(b"PAR1") and not _parquet_fits(path):
        raise common.Problem("File: it unpacks to too much; save the rows as CSV.")
    return path


def _unpacks(path: str) -> bool:
    """Return whether the members of a zip file unpack to little, whatever their headers say."""
    left = MAX_UNPACKED
    try:
        with zipfile.ZipFile(path) as packed, open(path, "rb") as raw:
            for member in packed.infolist():
                size = member.file_size
                if member.compress_type == zipfile.ZIP_DEFLATED:
                    raw.seek(member.header_offset + 26)
                    lengths = raw.read(4)
                    raw.seek(
                        int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little"), os.SEEK_CUR
                    )
                    unpacked = zlib.decompressobj(-15).decompress(raw.read(member.compress_size), max(left, 0) + 1)
                    size = max(size, len(unpacked))
                left -= size
                if left < 0:
                    return False
    except (zipfile.BadZipFile, OSError, zlib.error, struct.error, ValueError):
        return False
    return True


def _parquet_fits(path: str) -> bool:
    """Return whether a Parquet file says that it unpacks to little; what is no Parquet is said on reading."""
    import pyarrow
    import pyarrow.parquet

    try:
        facts = pyarrow.parquet.read_metadata(path)
    except (pyarrow.ArrowException, OSError):
        return True
    size = sum(facts.row_group(i).total_byte_size for i in range(facts.num_row_groups))
    return size <= MAX_UNPACKED and facts.num_rows <= 100 * MAX_ROWS


def peek(path: str | None) -> tuple[list[str], list[dict]]:
    """Return the columns of an upload and its first good rows.

    Raises:
        common.Problem: if it cannot be read or holds no rows.
    """
    path = checked_path(path)
    problem = "File: it holds no rows; the first line names the columns, every other line is a row."
    rows = []
    try:
        source = _rows("files").Source(path)
        for row in islice(source.rows(), PEEK):
            if row.values is not None:
                rows.append(row.values)
            elif not rows:
                problem = _plain(f"{path}, {source.unit} {row.number}: {row.problem}", path)
    except _rows("formats").FileError as error:
        raise common.Problem(_plain(error, path)) from error
    if not rows:
        raise common.Problem(problem)
    return list(dict.fromkeys(name for row in rows for name in row))[:50], rows


def guessed(columns: Sequence[str]) -> dict[str, str]:
    """Return which column is probably what, by its name.

    >>> guessed(["Prompt", "response", "gold", "model"])
    {'question': 'Prompt', 'prediction': 'response', 'references': 'gold', 'system': 'model'}
    """
    items, known = _rows("items"), {column.lower().strip(): column for column in reversed(columns)}
    likely = {**items.LIKELY, "system": ("model", "model_name", "run"), "id": ("qid", "question_id", "example_id")}
    found: dict[str, str] = {}
    for name, ours in items.COLUMNS.items():
        likeliest = next((word for word in (*ours, *likely.get(name, ())) if word in known), None)
        if likeliest and known[likeliest] not in found.values():
            found[name] = known[likeliest]
    return found


def _plain(message: object, path: str) -> str:
    """Leave out what only helps at the command line, and where the server keeps uploads."""
    kept = []
    for part in re.split(r"(?=;)", str(message)):
        start = re.search(r"[;,] ", part)
        hint = start and re.search(r"--|jq |iconv ", part[start.end() :])
        kept.append(part[: start.start()] if hint else part)
    text = "".join(kept).replace(str(path), "File").rstrip(".") + "."
    return text if text.startswith("File") else f"File: {text}"


class Rows(NamedTuple):
    """What was read of a file.

    Attributes:
        items: `genqa.toolkit.rows.items.Item`, at least one.
        bad: what is wrong with rows that were left out.
        left_out: number of those rows.
    """

    items: list
    bad: list[str]
    left_out: int

    def said(self) -> Markup:
        """Return a list of the bad rows as HTML; "" if there are none."""
        if not self.left_out:
            return Markup("")
        lines = look.joined(look.html("<li>{line}</li>", line=line) for line in self.bad[:MAX_LISTED])
        more = f"… and {self.left_out - MAX_LISTED:,} more" if self.left_out > MAX_LISTED else ""
        return look.html(
            '<details class="bad" open><summary>{number} left out</summary><ul>{lines}</ul>{more}</details>',
            number=f"{self.left_out:,} row{'s were' if self.left_out > 1 else ' was'}",
            lines=lines,
            more=more,
        )


def read(path: str | None, columns: Mapping[str, object], reader: str = "", sets: bool = False) -> Rows:
    """Return the rows of an upload; bad ones are left out and listed.

    Args:
        path: the upload, or None.
        columns: what is read -> its column; NONE for none, None or nothing for the column of that name. Several
            columns with answers are one system each.
        reader: the metric that reads the question; "" if it may be missing.
        sets: whether rows hold sets of questions instead of one answer.

    Raises:
        common.Problem: if the file cannot be used, or no row is good.
    """
    path = checked_path(path)
    files, formats, items, reading = map(_rows, ("files", "formats", "items", "reading"))
    given = {
        name: column[0] if isinstance(column, list) and len(column) == 1 else column
        for name, column in columns.items()
    }
    systems = given.pop("prediction") if isinstance(given.get("prediction"), list) and given["prediction"] else []
    named = {name: "" if column == NONE else str(column) for name, column in given.items() if column}
    found: list = []
    bad: list[str] = []
    skips = reading.Skips(skip=True, problem=lambda message: bad.append(_plain(message, path)))
    pairs = 0
    try:
        source = files.Source(path, systems=systems)
        rows = items.RowReader(source, named | ({"system": ""} if systems else {}))
        shape = None

        def convert(_, row) -> list:
            nonlocal shape
            shape = shape or rows.shape(row.values)
            if shape.ceiling or shape.sets != sets:
                expected = "a list of generated questions" if sets else "one answer"
                raise items.RowError(f"expected {expected} in each row")
            return rows.items(row.number, row.values, shape, reader)

        for *_, made in reading.good_rows([source], convert, skips):
            found += made
            pairs += sum(len(item.references) for item in made)
            if len(found) > MAX_ROWS or pairs > MAX_PAIRS:
                raise common.Problem(
                    f"File: more than {MAX_ROWS:,} rows, or {MAX_PAIRS:,} references in them; upload a part, or use "
                    "the command genqa-metrics at home."
                )
    except formats.FileError as error:
        raise common.Problem(_plain(error, path)) from error
    if not found:
        raise common.Problem(
            bad[0] if bad else "File: it holds no rows; the first line names the columns, every other line is a row."
        )
    return Rows(found, bad, skips.skipped)


def scored(items: Sequence, scorer, tick: Callable[[str, int, int], None], what: str = "Scoring") -> list:
    """Return what a scorer says of every row, a few rows at a time.

    Args:
        items: the rows.
        scorer: `genqa.aev.shared.Scorer`.
        tick: see `clicks.LongWork`.
        what: is being done, for the visitor.

    Returns:
        (statistics of all items, one row per prediction or set; counts of what to warn of).
    """
    import numpy as np

    pipeline = import_module("genqa.toolkit.scoring.pipeline")
    windows = (items[start : start + WINDOW] for start in range(0, len(items), WINDOW))
    workers = min(MAX_WORKERS, len(os.sched_getaffinity(0))) if scorer.device == "cpu" else 0
    parts, counts, done = [], Counter(), 0
    tick(what, 0, len(items))
    for window, (found, counted) in pipeline.map_in_order(
        partial(pipeline.statistics_of_items, scorer), windows, workers
    ):
        parts.append(found)
        counts.update(counted)
        done += len(window)
        tick(what, done, len(items))
    return np.concatenate(parts), counts


def written(name: str, columns: Mapping[str, str], values: Mapping[str, Sequence]) -> str:
    """Write a table for the visitor, and return its path; older ones are deleted.

    Args:
        name: of the file; its ending is the format.
        columns: columns and their types, see `toolkit.rows.writing.Writer`.
        values: one list per column.
    """
    path = fresh_path(name)
    with _rows("writing").Writer(path, columns, {}) as file:
        file.write(values)
    return path


def fresh_path(name: str) -> str:
    """Return a path in a new folder, from which Gradio may serve; older folders are deleted."""
    for old in Path(_FILES.name).iterdir():
        if old.is_dir() and time.time() - old.stat().st_mtime > common.KEEP[1]:
            shutil.rmtree(old, ignore_errors=True)
    return str(Path(tempfile.mkdtemp(dir=_FILES.name), name))


def what_is_taken(columns: str) -> str:
    """Return in Markdown which files are taken.

    Args:
        columns: which columns are needed.
    """
    return (
        "CSV (any separator), TSV, Excel, Parquet, JSON, JSON lines, or what RAGAS, lm-evaluation-harness, OpenAI "
        f"evals and Inspect write; at most {common.MAX_FILE // 2**20} MB and {MAX_ROWS:,} rows. {columns} Files are "
        "deleted after an hour; nothing of them gets into the address."
    )
