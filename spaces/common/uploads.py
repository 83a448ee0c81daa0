"""Files of visitors: formats, choice of columns, preview, rows with bad ones listed; files to download."""

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import genqa_metrics
import gradio as gr
import pyarrow.parquet
from genqa_metrics import registry
from genqa_metrics.rows import compression, errors, packed, reading, sources
from genqa_metrics.rows.values import recognized
from genqa_metrics.scale import options, run
from gradio.processing_utils import save_file_to_cache
from gradio.utils import get_upload_folder
from gradio_client.utils import is_http_url_like
from markupsafe import Markup

from . import checks, events, html, server

MAX_ROWS = 2_000  # of a file
MAX_PAIRS = 10_000  # answers with each of their references; of sets of questions each with each
MAX_CHARACTERS = 2_000_000  # of all texts of a file
MAX_UNPACKED = 2**26  # bytes of an unpacked workbook or table
MAX_CELLS = 2**20  # of a sheet of a workbook, empty ones included
MAX_LISTED = 10  # bad rows that are listed
PEEK = 50  # rows that are read to find the columns
ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".xlsx", ".parquet", ".eval")
NONE = "(none)"
OPTIONAL = ("system", "label", "id")  # columns that a file need not have
SAVED = ("All scores (CSV)", "Report (HTML)")
NO_ROWS = "File: it holds no rows; the first line names the columns, every other line is a row."
LABELS = {"prediction": "answer", "references": "accepted answers", "contexts": "passages"}


class Picked(NamedTuple):
    """A field for a file, and a menu for each column."""

    file: gr.File
    menus: list[gr.Dropdown]
    preview: gr.HTML  # the first rows, rendered by the caller where they have the width of the page

    @property
    def inputs(self) -> list:
        """Components whose values `read` takes."""
        return [self.file, *self.menus]


def upload_field() -> gr.File:
    """Return a field for a file; unlike a plain `gr.File` it does not fetch an address sent in place of a file."""
    field = gr.File(label="File", file_types=list(ENDINGS), type="filepath", height=140)
    take = field.async_move_resource_to_block_cache

    async def take_uploads_only(path):
        if is_http_url_like(str(path or "")):
            raise gr.Error("File: addresses are not fetched; upload the file itself.", print_exception=False)
        return await take(path)

    field.async_move_resource_to_block_cache = take_uploads_only
    return field


def picker(columns: Sequence[str], example: Path, labels: Mapping[str, str] | None = None) -> Picked:
    """Add a field for a file, a button for the example, and, once there is a file, menus of its columns.

    `labels` say what a column is called, where it is not as in `LABELS`; several columns of answers are one system
    each.
    """
    field = upload_field()
    button = gr.Button("Use the example file", size="sm")
    menus = []
    with gr.Column(visible=False) as shown:
        with gr.Row():
            for name in columns:
                several = name == "prediction" and "system" in columns
                label = f"Column with the {(LABELS | (labels or {})).get(name, name)}"
                info = "several, if each system has one" if several else None
                menus.append(gr.Dropdown([], label=label, info=info, multiselect=several, min_width=170))
    preview = gr.HTML(apply_default_css=False, render=False, elem_classes="preview")

    def looked(path: str | None) -> list:
        try:
            names, rows = peek(path)
        except ValueError as error:
            message = html.fill('<div class="problem">{text}</div>', text=str(error)[: checks.MAX_MESSAGE])
            return [gr.update(visible=bool(path)), *[gr.skip()] * len(menus), message if path else ""]
        guesses = guessed(names)
        rest = [name for name in names if name not in guesses.values()]  # perhaps one column per system
        updates = []
        for name, menu in zip(columns, menus, strict=True):
            choices = [NONE, *names] if name in OPTIONAL else names
            guess = guesses.get(name) or (NONE if name in OPTIONAL else None)
            if menu.multiselect:
                guess = [guess] if guess else rest
            updates.append(gr.update(choices=choices, value=guess))
        cells = [[str(i), *(_short(row.get(name)) for name in names)] for i, row in enumerate(rows[:3], 1)]
        return [gr.update(visible=True), *updates, html.table(["", *names], cells, "The first rows of the file")]

    field.change(looked, field, [shown, *menus, preview], api_visibility="private", concurrency_id="peek")
    quiet = {"api_visibility": "private", "trigger_mode": "multiple"}
    button.click(lambda: save_file_to_cache(example, get_upload_folder()), None, field, **quiet)
    return Picked(field, menus, preview)


def score_tab(
    title: str,
    metric: str,
    columns: Sequence[str],
    example: Path,
    needs: str,
    labels: Mapping[str, str] | None = None,
    others: Sequence = (),
    settings: Callable[..., Mapping] = dict,
) -> Picked:
    """Add a tab that scores a whole file and shows the report of `genqa-metrics score`; see `picker`.

    `needs` says which columns the file must have; `others` are further fields, not rendered yet, of whose values
    `settings` makes the settings of the metric.
    """

    def page(tick: Callable, path: str | None, *entries: object) -> list:
        chosen = settings(*entries[len(columns) :])
        rows = read(path, dict(zip(columns, entries, strict=False)), metric, registry.scorer_class(metric).takes_sets)
        reports = []
        results = kept("scores.csv", lambda file: reports.append(scored(tick, rows.rows(), metric, chosen, file)))
        finding = "".join(reports[0].findings[:1]).replace("`", "")  # the report has all
        status = html.headline(finding, f"{reports[0].headline}.")
        report = reports[0].to_html()
        return [status + rows.problems_html(), html.frame("Report", report), results, saved("report.html", report)]

    with gr.Tab(title):
        gr.Markdown(accepted_files(needs))
        picked = picker(columns, example, labels)
        for field in others:
            field.render()
        button = gr.Button("Score the file", variant="primary")
        picked.preview.render()
        area = events.results_area("Choose a file, or use the example.")
        with area.results:
            outputs = [gr.HTML(apply_default_css=False)]
            with gr.Row():
                outputs += [gr.DownloadButton(label, size="sm", min_width=120) for label in SAVED]
    inputs = [*picked.inputs, *others]  # files have a queue of their own: one answer does not wait for a whole file
    events.connect([button.click], page, inputs, area, outputs, long=True, concurrency_id="file")
    return picked


def scored(tick: Callable, rows: Sequence[Mapping], metrics: object, settings: Mapping, output: str | None = None):
    """Return the report of `score` on rows, and write them with their scores; for `tick` see `LongWork`."""

    def progress(_, done: int, total: int | None) -> None:
        tick("Scoring", done, len(rows))

    return genqa_metrics.score(rows, metrics, settings, output=output, on_error="skip", progress=progress)


def kept(name: str, write: Callable[[str], object]) -> str:
    """Let a function write a file for download, and return its path, from which Gradio deletes it after an hour."""
    with tempfile.TemporaryDirectory() as folder:
        write(str(Path(folder, name)))
        return save_file_to_cache(Path(folder, name), get_upload_folder())


def saved(name: str, text: str) -> str:
    """Write a text for download, and return its path."""
    return kept(name, lambda path: Path(path).write_text(text, encoding="utf-8"))


def _short(value: object, most: int = 80) -> str:
    text = " | ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)
    return text if len(text) <= most else text[: most - 1] + "…"


def checked_path(path: str | None) -> str:
    """Return the path of an upload after checking its name, size, format and what it unpacks to."""
    if not path:
        raise checks.Problem("File: no file yet; choose one, or use the example.")
    if Path(path).suffix.lower() not in ENDINGS:
        raise checks.Problem(f"File: expected a name that ends in {', '.join(ENDINGS)}; save it as one of them.")
    try:
        size = os.path.getsize(path)
        with open(path, "rb") as file:
            start = file.read(8)
    except OSError:
        problem = f"File: it was deleted; files are kept for {server.DELETE_CACHE[1] // 60} minutes. Upload it again."
        raise checks.Problem(problem) from None
    if size > checks.MAX_FILE:
        raise checks.Problem(
            f"File: larger than {checks.MAX_FILE // 2**20} MB; upload a part, or use the command "
            "genqa-metrics on your machine."
        )
    if any(start.startswith(magic) for magic in compression.COMPRESSIONS.values()):
        raise checks.Problem("File: it is compressed; unpack it first.")  # a small one can unpack to gigabytes
    if start.startswith(b"PK"):  # a workbook is refused for its empty cells too
        try:
            with open(path, "rb") as raw:
                packed.check_size(raw, path, MAX_UNPACKED)
                if Path(path).suffix.lower() == ".xlsx":
                    packed.check_workbook(raw, path, MAX_UNPACKED, MAX_CELLS, MAX_UNPACKED)
        except errors.FileError as error:
            raise checks.Problem(_plain(error, path)) from error
    if start.startswith(b"PAR1"):
        with suppress(pyarrow.ArrowException, OSError):  # `read` reports a damaged one
            facts = pyarrow.parquet.read_metadata(path)
            size = sum(facts.row_group(i).total_byte_size for i in range(facts.num_row_groups))
            if size > MAX_UNPACKED or facts.num_rows > 100 * MAX_ROWS:
                raise checks.Problem("File: it unpacks to too much; save the rows as CSV.")
    return path


def peek(path: str | None) -> tuple[list[str], list[dict]]:
    """Return the columns of an upload and its first good rows."""
    path = checked_path(path)
    problem = NO_ROWS
    rows = []
    try:
        source = sources.Source(path)
        for row in islice(source.rows(), PEEK):
            if row.values is not None:
                rows.append(row.values)
            elif not rows:
                problem = _plain(errors.Advice(f"{path}, {source.unit} {row.number}: ", row.problem), path)
    except errors.FileError as error:
        raise checks.Problem(_plain(error, path)) from error
    if not rows:
        raise checks.Problem(problem)
    return list(dict.fromkeys(name for row in rows for name in row))[:50], rows


def guessed(columns: Sequence[str]) -> dict[str, str]:
    """Guess from their names what the columns hold.

    >>> guessed(["Prompt", "response", "gold", "model"])
    {'question': 'Prompt', 'prediction': 'response', 'references': 'gold', 'system': 'model'}
    """
    guesses = dict(recognized(tuple(columns)))
    system = next((name for name in columns if name.lower().strip() in ("model", "model_name", "run")), None)
    if system is not None:
        guesses.setdefault("system", system)
    return guesses


def _plain(message: object, path: str) -> str:
    """Return a message without hints for programs and without the server's path of the upload.

    >>> _plain(errors.Advice("/tmp/a.csv, line 2: no answer", hint="name it with --column"), "/tmp/a.csv")
    'File, line 2: no answer.'
    """
    text = errors.without_hints(message).replace(path, "File").rstrip(".") + "."
    return text if text.startswith("File") else f"File: {text}"


class Rows(NamedTuple):
    """The rows of a file, at least one."""

    items: list  # `genqa_metrics.rows.reading.Item`
    bad: list[str]  # problems of rows that were left out
    sets: bool = False  # rows hold sets of questions
    contexts: bool = False  # rows hold passages

    def rows(self) -> list[dict]:
        """Return the rows as the verbs take them; one without an id is known by its line."""
        return [
            {"id": item.id or f"line {item.line}", "system": item.system, "references": item.references}
            | {"prediction": item.predictions if self.sets else item.predictions[0]}
            | ({"question": item.text} if item.text else {})
            | ({"contexts": item.contexts} if self.contexts else {})
            | ({"label": item.human[1]} if item.human[1] is not None else {})
            for item in self.items
        ]

    def problems_html(self) -> Markup:
        """Return a list of the bad rows; empty if there are none."""
        if not self.bad:
            return Markup("")
        number = len(self.bad)
        lines = html.joined(html.fill("<li>{line}</li>", line=line) for line in self.bad[:MAX_LISTED])
        return html.fill(
            '<details class="bad" open><summary>{number} left out</summary><ul>{lines}</ul>{more}</details>',
            number=f"{number:,} row{'s were' if number > 1 else ' was'}",
            lines=lines,
            more=f"… and {number - MAX_LISTED:,} more" if number > MAX_LISTED else "",
        )


def read(path: str | None, columns: Mapping[str, object], reader: str = "", sets: bool = False) -> Rows:
    """Return the rows of an upload; bad ones are left out and listed.

    `columns` are {what is read: its column}; NONE for no column, None for the column of that name. Several columns of
    answers are one system each. `reader` is the metric whose columns every row must have.
    """
    path = checked_path(path)
    picked = {
        name: column[0] if isinstance(column, list) and len(column) == 1 else column
        for name, column in columns.items()
    }
    systems = picked.pop("prediction") if isinstance(picked.get("prediction"), list) and picked["prediction"] else []
    named = {name: "" if column == NONE else str(column) for name, column in picked.items() if column}
    items: list = []
    bad: list[str] = []
    skips = reading.Skips(skip=True, problem=lambda message: bad.append(_plain(message, path)))
    pairs = characters = 0
    wanted = {reader: registry.scorer_class(reader)} if reader else {}

    def needs(row_kind: reading.RowKind) -> dict[str, str]:
        if row_kind.ceiling or row_kind.sets != sets:
            expected = "a list of generated questions" if sets else "one answer"
            raise errors.RowError(f"expected {expected} in each row")
        return options.needed_columns(wanted, row_kind)

    try:
        source = sources.Source(path, options=sources.ReadOptions(systems=systems))
        named |= {"system": ""} if systems else {}
        for new in run.Reading([source], named, skips, asks=needs).good_rows():
            items += new
            pairs += sum(len(item.predictions) * (len(item.references) + len(item.contexts)) for item in new)
            characters += sum(map(run.characters_of, new))
            check_budget("File", len(items), pairs, characters)
    except errors.FileError as error:
        raise checks.Problem(_plain(error, path)) from error
    if not items:
        raise checks.Problem(f"{bad[0]} Choose the columns above, or another file." if bad else NO_ROWS)
    return Rows(items, bad, sets, reader == "grounding")


def check_budget(name: str, rows: int, pairs: int, characters: int) -> None:
    """Refuse more work than a visitor may ask for at once; `pairs` are answers with each of their references."""
    for count, most, unit in (
        (rows, MAX_ROWS, "rows"),
        (pairs, MAX_PAIRS, "pairs of an answer and a reference"),
        (characters, MAX_CHARACTERS, "characters"),
    ):
        if count > most:
            raise checks.Problem(
                f"{name}: {count:,} {unit} are too many for this page; the limit is {most:,}. Send a part, or use the "
                "command genqa-metrics on your machine."
            )


def accepted_files(columns: str) -> str:
    """Return in Markdown which files are accepted, with a sentence on the columns that they must have."""
    return (
        "CSV (any separator), TSV, Excel, Parquet, JSON, JSON lines, or results of RAGAS, lm-evaluation-harness, "
        f"OpenAI evals and Inspect; at most {checks.MAX_FILE // 2**20} MB and {MAX_ROWS:,} rows. {columns} Files are "
        "deleted after an hour; file contents never appear in links."
    )
