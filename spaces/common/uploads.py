"""Files of visitors: formats, choice of columns, preview, rows with bad ones listed; files to download."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import genqa_metrics
import gradio as gr
import pyarrow.parquet
from genqa_metrics import registry
from genqa_metrics.rows import errors, packed, reading, sources
from genqa_metrics.rows.columns import recognized
from genqa_metrics.rows.reading import verdict_of
from genqa_metrics.scale import options, run
from gradio.processing_utils import save_file_to_cache
from gradio.utils import get_upload_folder
from gradio_client.utils import is_http_url_like
from markupsafe import Markup

from . import checks, html, server

MAX_ROWS = 2_000  # of a file
MAX_PAIRS = 10_000  # answers with each of their references; of sets of questions each with each
MAX_CHARACTERS = 2_000_000  # of all texts of a file
MAX_UNPACKED = 2**26  # bytes of an unpacked workbook or table
MAX_LISTED = 10  # bad rows that are listed
PEEK = 50  # rows that are read to find the columns
ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".xlsx", ".parquet", ".eval")
NONE = "(none)"
OPTIONAL = ("system", "label", "id")  # columns that a file need not have
NO_ROWS = "File: it holds no rows; the first line names the columns, every other line is a row."
LABELS = {"prediction": "answer", "references": "accepted answers", "contexts": "passages"}


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


def picker(described: Mapping, example: Path) -> tuple[list, gr.HTML]:
    """Add a field for a file, a button for the example, and, once there is a file, menus of its columns.

    `described` has "columns", names of what is read; "needs", which columns the file must have; and perhaps "labels",
    what a column is called where it is not as in `LABELS`. Returns the components whose values `read` takes, and a
    component for the first rows, which the caller renders where it has the width of the page.
    """
    gr.Markdown(
        "CSV (any separator), TSV, Excel, Parquet, JSON, JSON lines, or results of RAGAS, lm-evaluation-harness, "
        f"OpenAI evals and Inspect; at most {checks.MAX_FILE // 2**20} MB and {MAX_ROWS:,} rows. {described['needs']} "
        "Files are deleted after an hour; file contents never appear in links."
    )
    columns, labels = described["columns"], LABELS | described.get("labels", {})
    field = upload_field()
    button = gr.Button("Use the example file", size="sm")
    menus = []
    with gr.Column(visible=False) as shown, gr.Row():
        for name in columns:
            several = name == "prediction" and "system" in columns
            label = f"Column with the {labels.get(name, name)}"
            info = "several, if each system has one" if several else None
            menus.append(gr.Dropdown([], label=label, info=info, multiselect=several, min_width=170))
    preview = gr.HTML(apply_default_css=False, render=False, elem_classes="preview")

    def look(path: str | None) -> list:
        try:
            names, rows = peek(path)
        except ValueError as error:
            message = html.fill('<div class="problem">{text}</div>', text=str(error)[: checks.MAX_MESSAGE])
            return [gr.update(visible=bool(path)), *[gr.skip()] * len(menus), message if path else ""]
        guesses = guessed(names, rows)
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

    field.change(look, field, [shown, *menus, preview], api_visibility="private", concurrency_id="peek")
    quiet = {"api_visibility": "private", "trigger_mode": "multiple"}
    button.click(lambda: save_file_to_cache(example, get_upload_folder()), None, field, **quiet)
    return [field, *menus], preview


def scored(tick: Callable, rows: Sequence[Mapping], metrics: object, settings: Mapping, output: str | None = None):
    """Return the report of `score` on rows, and write them with their scores; for `tick` see `LongWork`."""

    def progress(_, done: int, total: int | None) -> None:
        tick("Scoring", done, len(rows))

    return genqa_metrics.score(rows, metrics, settings, output=output, on_error="skip", progress=progress)


def new_path(name: str) -> Path:
    """Return the path of a new file for download, which Gradio deletes after an hour."""
    folder = Path(get_upload_folder(), secrets.token_hex(16))
    folder.mkdir(parents=True)
    return folder / name


def saved(name: str, text: str) -> str:
    """Write a text for download, and return its path."""
    path = new_path(name)
    path.write_text(text, encoding="utf-8")
    return str(path)


def downloads(*labels: str) -> list[gr.DownloadButton]:
    """Add a row of buttons that save files."""
    with gr.Row():
        return [gr.DownloadButton(label, size="sm", min_width=120) for label in labels]


def _short(cell: object, most: int = 80) -> str:
    text = " | ".join(map(str, cell)) if isinstance(cell, list) else "" if cell is None else str(cell)
    return text if len(text) <= most else text[: most - 1] + "…"


def checked_path(path: str | None) -> str:
    """Return the path of an upload after checking its name, format and what it unpacks to."""
    if not path:
        raise checks.Problem("File: no file yet; choose one, or use the example.")
    if Path(path).suffix.lower() not in ENDINGS:
        raise checks.Problem(f"File: expected a name that ends in {', '.join(ENDINGS)}; save it as one of them.")
    try:
        with open(path, "rb") as file:
            start = file.read(8)
    except OSError:
        problem = f"File: it was deleted; files are kept for {server.DELETE_CACHE[1] // 60} minutes. Upload it again."
        raise checks.Problem(problem) from None
    if any(start.startswith(magic) for magic in sources.COMPRESSIONS.values()):
        raise checks.Problem("File: it is compressed; unpack it first.")  # a small one can unpack to gigabytes
    if start.startswith(b"PK"):
        try:
            with open(path, "rb") as raw:
                packed.check_size(raw, path, MAX_UNPACKED)
        except errors.FileError as error:
            raise checks.Problem(_plain(error, path)) from error
    if start.startswith(b"PAR1"):
        with suppress(pyarrow.ArrowException, OSError):  # `read` reports a damaged one
            metadata = pyarrow.parquet.read_metadata(path)
            size = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
            if size > MAX_UNPACKED or metadata.num_rows > 100 * MAX_ROWS:
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
                problem = _plain(f"{path}, {source.unit} {row.number}: {row.problem}", path)
    except errors.FileError as error:
        raise checks.Problem(_plain(error, path)) from error
    if not rows:
        raise checks.Problem(problem)
    return list(dict.fromkeys(name for row in rows for name in row))[:50], rows


def guessed(columns: Sequence[str], rows: Sequence[Mapping] = ()) -> dict[str, str]:
    """Guess from their names what the columns hold; in a form, where a visitor sees it, also "accepted".

    `rows` are the first ones: a column "accepted" can also hold labels.

    >>> guessed(["Prompt", "response", "gold", "model"])
    {'question': 'Prompt', 'prediction': 'response', 'references': 'gold', 'system': 'model'}
    >>> [guessed(["accepted"], [{"accepted": cell}]) for cell in ("Rome", "yes")]
    [{'references': 'accepted'}, {}]
    """
    guesses = dict(recognized(tuple(columns)))
    plain = {name.lower().strip(): name for name in columns}
    accepted = plain.get("accepted")
    if "references" not in guesses and any(row.get(accepted) and verdict_of(row[accepted]) is None for row in rows):
        renamed = ("references" if name == accepted else name for name in columns)  # so that "answer" is the system's
        guesses = dict(recognized(tuple(renamed))) | {"references": accepted}
    system = next((plain[name] for name in plain if name in ("model", "model_name", "run")), None)
    if system is not None:
        guesses.setdefault("system", system)
    return guesses


def _plain(message: object, path: str) -> str:
    """Return a message without hints for programs and without the server's path of the upload.

    >>> _plain('/tmp/a.csv, line 2: no answer; name it with columns={"prediction": "NAME"}', "/tmp/a.csv")
    'File, line 2: no answer.'
    """
    text = errors.without_options(message).replace(path, "File").rstrip(".") + "."
    return text if text.startswith("File") else f"File: {text}"


class Rows(NamedTuple):
    """The rows of a file, at least one, as the verbs take them; one without an id is known by its line."""

    rows: list[dict]
    bad: list[str]  # problems of rows that were left out

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


def read(path: str | None, columns: Mapping[str, object], metric: str) -> Rows:
    """Return the rows of an upload with the columns that a metric needs; bad ones are left out and listed.

    `columns` are {what is read: its column}; NONE for no column, None for the column of that name. Several columns of
    answers are one system each.
    """
    path, scorer = checked_path(path), registry.scorer_class(metric)
    answers = columns.get("prediction") or []
    systems = answers if isinstance(answers, list) else [answers]
    chosen = columns | ({"prediction": None, "system": NONE} if len(systems) > 1 else {"prediction": "".join(systems)})
    named = {name: "" if column == NONE else str(column) for name, column in chosen.items() if column}
    rows: list[dict] = []
    bad: list[str] = []
    skips = reading.Skips(skip=True, problem=lambda message: bad.append(_plain(message, path)))
    pairs = characters = 0

    def as_row(item: reading.Item) -> dict:
        row = {"id": item.id or f"line {item.line}", "system": item.system, "references": item.references}
        row["prediction"] = item.predictions if scorer.takes_sets else item.predictions[0]
        more = {"question": item.text or None, "label": item.human[1]}
        more["contexts"] = item.contexts if scorer.evidence == "contexts" else None
        return row | {name: entry for name, entry in more.items() if entry is not None}

    try:
        source = sources.Source(path, options=sources.ReadOptions(systems=systems if len(systems) > 1 else []))
        needs = options.needed_columns({metric: scorer})
        read = run.Reading([source], named, skips, needs=needs)
        for items in read.good_rows():
            if read.row_kind.sets != scorer.takes_sets:
                expected = "a list of generated questions" if scorer.takes_sets else "one answer"
                skips.problem(f"{source.name}, {source.unit} {items[0].line}: expected {expected} in each row")
                continue
            rows += map(as_row, items)
            pairs += sum(len(item.predictions) * (len(item.references) + len(item.contexts)) for item in items)
            characters += sum(map(run.characters_of, items))
            check_budget("File", len(rows), pairs, characters)
    except errors.FileError as error:
        raise checks.Problem(_plain(error, path)) from error
    if not rows:
        raise checks.Problem(f"{bad[0]} Choose the columns above, or another file." if bad else NO_ROWS)
    return Rows(rows, bad)


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
