"""What the demos share: where the metric's code is, limits and reading of input, messages, looks, launch.

Import this before gradio: it switches off what would call home.
"""

import functools
import os
import re
import shutil
import sys
import tempfile
import traceback
import types
from collections.abc import Callable, Collection, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # a row is too small for two: on busy cores they wait for each other

import gradio as gr
from gradio_client.utils import is_http_url_like

MAX_TEXT = 2_000  # characters of a question, an answer or a reference
MAX_REFERENCES = 10
MAX_ROWS = 2_000  # of a file,
MAX_PAIRS = 5_000  # and answers with each of their references
MAX_MESSAGE = 1_000  # characters; names of columns can fill a whole file
MAX_FILE = 2**20  # bytes of an uploaded file
MAX_BODY = 2 * MAX_FILE  # bytes of any other request
ENDINGS = (".csv", ".jsonl")
_EXAMPLES = tempfile.TemporaryDirectory(prefix="genqa-demo-", ignore_cleanup_errors=True)
KEEP = (3600, 3600)  # seconds between two looks for old uploads and results, and from which age they go
QUEUE = 32  # visitors that may wait; the next one is told that the demo is busy

# The page loads, runs and contacts nothing but itself, even with hostile text in it. Gradio needs inline scripts and
# eval for its charts and templates.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; object-src 'none'; base-uri 'self'; "
    "form-action 'self'"
)


class Problem(ValueError):
    """What a visitor typed or uploaded cannot be used; the message says why and what to do."""


class Untouched(Exception):
    """A setting was moved before there is anything to score; the page stays as it is."""


def find_metric(app: str, name: str) -> Path:
    """Make a metric importable as `genqa.NAME` and the toolkit as `genqa.toolkit`; nothing is installed.

    Args:
        app: file of the demo. In a Space the metric's files lie beside it, in a checkout in `metrics/NAME`.
        name: name of the metric.

    Returns:
        Folder of the metric.
    """
    here = Path(app).resolve().parent
    alone = (here / f"{name}.py").is_file()
    metrics = here if alone else here.parents[1] / "metrics"
    folder = here if alone else metrics / name
    for package, path in (("genqa", metrics), (f"genqa.{name}", folder)):
        module = types.ModuleType(package)
        module.__path__ = [str(path)]
        sys.modules[package] = module
    return folder


def bundled_checkpoint(metric: Path) -> Path | None:
    """Return the folder of the checkpoint that comes with a metric; None if it comes from the Hub."""
    folder = metric / "checkpoint"
    return folder if folder.is_dir() else None


def checked_text(name: str, value: object, limit: int = MAX_TEXT, needed: bool = True) -> str:
    """Return a text that was typed, without blanks around it.

    Args:
        name: what the visitor knows it as.
        value: what came.
        limit: characters at most.
        needed: whether it must hold something.

    Raises:
        Problem: if it is no text, too long, not Unicode, or empty though it is needed.

    >>> checked_text("Question", " Who? ")
    'Who?'
    """
    text = "" if value is None else value
    if not isinstance(text, str):
        raise Problem(f"{name}: expected a text.")
    if len(text) > limit:
        raise Problem(f"{name}: {len(text):,} characters are too many for this page; {limit:,} are the most.")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise Problem(f"{name}: this is not valid Unicode text; type it again.")
    text = text.strip()
    if needed and not text:
        raise Problem(f"{name}: this field is empty; fill it in.")
    return text


def checked_lines(name: str, value: object, most: int = MAX_REFERENCES, limit: int = MAX_TEXT) -> list[str]:
    r"""Return the lines of a text, empty ones left out.

    Args:
        name: what the visitor knows it as.
        value: what came.
        most: number of lines at most.
        limit: characters of a line at most.

    Raises:
        Problem: if there is no line, there are too many, or one is too long.

    >>> checked_lines("References", "four\n\n 4 ")
    ['four', '4']
    """
    text = checked_text(name, value, most * (limit + 1))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > most:
        raise Problem(f"{name}: {len(lines)} lines are too many for this page; {most} are the most.")
    return [checked_text(f"{name}, line {i}", line, limit) for i, line in enumerate(lines, 1)]


def read_items(path: str | None, needed: Sequence[str]) -> list:
    """Return the rows of an uploaded file, checked.

    Args:
        path: the upload, or None.
        needed: columns that must be there: "question", "prediction", "references".

    Returns:
        `genqa.toolkit.rows.items.Item`, at least one.

    Raises:
        Problem: if there is no file, it is too large, of another kind, or a row is bad; names the line.
    """
    layer = "genqa.toolkit.rows"
    files, formats, reading = (import_module(f"{layer}.{name}") for name in ("files", "formats", "reading"))
    if not path:
        raise Problem("File: no file yet; choose one, or take the example.")
    if Path(path).suffix.lower() not in ENDINGS:
        raise Problem(f"File: expected a name that ends in {' or '.join(ENDINGS)}; save it as one of them.")
    if os.path.getsize(path) > MAX_FILE:
        raise Problem(f"File: larger than {MAX_FILE // 2**20} MB; use the command genqa-metrics at home.")
    with open(path, "rb") as file:
        start = file.read(8)
    if any(start.startswith(magic) for magic in formats.COMPRESSIONS.values()):
        raise Problem("File: it is compressed; unpack it first.")  # a small one can unpack to gigabytes
    items, pairs = [], 0
    try:
        source = files.Source(path)
        for *_, found in reading.good_rows([source], _row_reader(source, needed), reading.Skips()):
            items += found
            pairs += sum(len(item.references) for item in found)
            if len(items) > MAX_ROWS or pairs > MAX_PAIRS:
                raise Problem(
                    f"File: more than {MAX_ROWS:,} rows, or {MAX_PAIRS:,} references in them; upload a part, or use "
                    "the command genqa-metrics at home."
                )
    except formats.FileError as error:
        message = _plain(error).replace(str(path), "File").rstrip(".") + "."
        raise Problem(message if message.startswith("File") else f"File: {message}") from error
    if not items:
        raise Problem("File: it holds no rows; the first line names the columns, every other line is a row.")
    return items


def _plain(message: object) -> str:
    """Leave out what only helps at the command line."""
    return re.sub(r"[;,] [^;]*(--|jq |iconv )[^;]*", "", str(message))


def _row_reader(source, needed: Sequence[str]) -> Callable:
    """Return the function that makes items of a row, or says what a page of this size cannot use in it."""
    rows = import_module("genqa.toolkit.rows.items")
    reader, shape = rows.RowReader(source, {}), None

    def items_of(_, row) -> list:
        nonlocal shape
        for name in needed:
            if not any(column in row.values for column in rows.COLUMNS[name]):
                raise rows.RowError(
                    f"there is no column named {' or '.join(rows.COLUMNS[name])}; rename one of yours: "
                    f"{', '.join(map(str, row.values)) or 'none found'}."
                )
        shape = shape or reader.shape(row.values)
        if shape.sets:
            raise rows.RowError("several predictions in one row; write one answer in each row.")
        found = reader.items(row.number, row.values, shape)
        for item in found:
            for text in (item.text or "", *item.predictions, *item.references):
                if len(text) > MAX_TEXT:
                    raise rows.RowError(f"a text of {len(text):,} characters is too long; {MAX_TEXT:,} are the most.")
            if "question" in needed and not (item.text or "").strip():
                raise rows.RowError("the question is empty; fill it in or drop the row.")
        return found

    return items_of


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


def example_button(field: gr.File, example: Path) -> None:
    """Add a button that puts a file of the demo into a field for uploads.

    Args:
        field: see `upload_field`.
        example: the file; a copy in the temporary folder is what Gradio may serve wherever the demo was started.
    """
    path = Path(_EXAMPLES.name, example.name)
    shutil.copyfile(example, path)
    button = gr.Button("Take the example file", size="sm")
    button.click(lambda: str(path), None, field, api_visibility="private")


class Area(NamedTuple):
    """The part of a page that shows, one at a time: a hint, a message, or results."""

    message: gr.Textbox
    hint: gr.Markdown
    results: gr.Column


def results_area(hint: str) -> Area:
    """Return an area that shows a hint of ours; the caller fills `results`."""
    with gr.Column(elem_classes="alerts"):
        # A text field never reads its text as HTML or Markdown.
        message = gr.Textbox(
            label="Please check the input", visible=False, interactive=False, elem_classes="problem", max_lines=8
        )
    return Area(message, gr.Markdown(f"*Results appear here. {hint}*"), gr.Column(visible=False))


def shown(function: Callable, outputs: int) -> Callable:
    """Return a function whose outputs are those of an `Area` and the results.

    Args:
        function: from inputs to a list of results; raises ValueError if the input is bad.
        outputs: number of results.

    Returns:
        A function that shows either the results or a message in their place.
    """

    @functools.wraps(function)
    def run(*args, **kwargs):
        try:
            results = function(*args, **kwargs)
        except Untouched:
            return [gr.skip()] * (outputs + len(Area._fields))
        except ValueError as error:
            message = str(error)[:MAX_MESSAGE]
        except Exception:
            traceback.print_exc()
            message = "Something went wrong here, not in your input. Please try again."
        else:
            return [gr.update(value="", visible=False), gr.update(visible=False), gr.update(visible=True), *results]
        hidden = gr.update(visible=False)
        return [gr.update(value=message, visible=True), hidden, hidden, *[gr.skip()] * outputs]

    return run


def connect(
    triggers: Sequence,
    function: Callable,
    inputs: Sequence,
    area: Area,
    outputs: Sequence,
    api_name: str = "page",
    examples: tuple[gr.Column, dict] | None = None,
    **event,
) -> None:
    """Run a function when one of the triggers fires; one visitor at a time, the others wait.

    Args:
        triggers: events, such as `button.click`.
        function: see `shown`.
        inputs: components.
        area: where a message stands in place of results.
        outputs: components in `area.results`, one per result.
        api_name: name of the event for programs; what they should call is documented by `gr.api`.
        examples: where buttons with examples go, and label -> the first inputs; a click fills in and runs.
        **event: other arguments of the event.
    """
    run, results = shown(function, len(outputs)), [*area, *outputs]
    event = {
        "show_progress_on": [area.message, area.hint, *outputs],
        "concurrency_limit": 1,
        "concurrency_id": "page",
    } | event
    gr.on(triggers, run, inputs, results, api_name=api_name, api_visibility="undocumented", **event)
    if examples:
        column, rows = examples
        width = len(next(iter(rows.values())))
        with column:
            made = gr.Examples(
                [list(row) for row in rows.values()],
                list(inputs[:width]),
                example_labels=list(rows),
                label="Examples",
                api_visibility="private",
            )
        made.load_input_event.then(
            run, inputs, results, api_name=f"{api_name}_example", api_visibility="private", **event
        )


def answered(function: Callable) -> Callable:
    """Return a function for the API: bad input is an error with the same message as on the page."""

    @functools.wraps(function)
    def run(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except ValueError as error:
            raise gr.Error(str(error)[:MAX_MESSAGE], print_exception=False) from error

    return run


def bars(groups: Sequence[tuple[str, Sequence[tuple[str, float]]]], caption: str, muted: Collection[str] = ()) -> str:
    """Return a chart of scores from 0 to 1 as an HTML table; for labels of our own and numbers only.

    Args:
        groups: (heading or "", [(label, score), ...]).
        caption: what the chart shows.
        muted: labels whose bars are grey.
    """
    rows = []
    for heading, values in groups:
        if heading:
            rows.append(f'<tr><th colspan="3" scope="rowgroup">{heading}</th></tr>')
        for label, score in values:
            width, shade = 100 * min(1.0, max(0.0, score)), " muted" * (label in muted)
            rows.append(
                f'<tr><th scope="row">{label}</th><td><div class="bar{shade}" style="width: {width:.1f}%"></div></td>'
                f"<td>{score:.3f}</td></tr>"
            )
    return f'<table class="numbers bars"><caption>{caption}</caption><tbody>{"".join(rows)}</tbody></table>'


THEME = gr.themes.Default(
    primary_hue="blue",
    font=["system-ui", "-apple-system", "Segoe UI", "Roboto", "sans-serif"],  # Gradio's own come from the network
    font_mono=["ui-monospace", "Consolas", "monospace"],
).set(  # Gradio's greys are too pale to read
    body_text_color_subdued="*neutral_600",
    body_text_color_subdued_dark="*neutral_300",
    block_info_text_color="*neutral_600",
    block_info_text_color_dark="*neutral_300",
    block_label_text_color="*neutral_700",
    block_title_text_color="*neutral_700",
)

CSS = """
.gradio-container { max-width: min(60rem, 100%) !important; margin: 0 auto; }
.gradio-container, .gradio-container .column, .gradio-container .row { min-width: 0; }
.gradio-container .block { max-width: 100%; }
.prose, .heat, td { overflow-wrap: anywhere; }
.table-wrap { --font-mono: var(--font); }
.problem { border-left: .3rem solid #dc2626 !important; }
.problem textarea { font-size: 1rem; color: var(--body-text-color) !important;
  -webkit-text-fill-color: var(--body-text-color); opacity: 1; }
.wide { overflow-x: auto; max-width: 100%; }
table.numbers { border-collapse: collapse; overflow-wrap: normal; font-variant-numeric: tabular-nums;
  font-size: var(--text-md); color: var(--body-text-color); }
table.numbers caption { text-align: left; color: var(--body-text-color-subdued); padding-bottom: .25rem; }
table.numbers th { font-weight: normal; text-align: left; }
table.numbers th, table.numbers td { white-space: nowrap; padding: .15rem .4rem; }
table.bars { width: 100%; }
table.bars th { padding-left: 0; width: 1%; }
table.bars th[colspan] { font-weight: 600; padding-top: .5rem; }
table.bars td:last-child { text-align: right; padding-right: 0; width: 1%; }
.bar { height: .9rem; min-width: 2px; border-radius: .2rem; background: #2563eb; }
.bar.muted { background: #94a3b8; }
.line { position: relative; height: 1rem; border-bottom: 1px solid var(--border-color-primary); }
.line > div { position: absolute; top: .35rem; height: .3rem; background: #94a3b8; border-radius: .15rem; }
.line > .dot { top: .15rem; width: .7rem; height: .7rem; margin-left: -.35rem; border-radius: 50%;
  background: #2563eb; }
table.plane td { text-align: right; min-width: 3.2rem; }
table.plane caption, table.matrix caption { white-space: nowrap; }
table.plane small { display: block; line-height: 1.1; }
table.plane td.here { outline: .2rem solid #f97316; outline-offset: -.1rem; font-weight: 700; }
table.matrix td, table.matrix thead th { text-align: right; border: 1px solid var(--border-color-primary); }
table.matrix td { background: color-mix(in srgb, var(--match) var(--strength, 0%), transparent); --match: #fdba74; }
.dark table.matrix td { --match: #9a3412; }
.heat .textfield { background: #fafaf9; border-radius: .3rem; padding: .3rem !important; line-height: 2; }
.heat .text { color: #1c1917 !important; }
.heat .label { color: #1c1917 !important; font-size: .7rem; font-weight: 500; font-variant-numeric: tabular-nums; }
.headline { font-size: 1.15rem; }
footer { flex-wrap: wrap; }
@media (max-width: 480px) {
  table.numbers { font-size: var(--text-sm); }
  table.numbers th, table.numbers td { padding: .15rem .25rem; }
  table.plane td { min-width: 2.6rem; }
}
"""


class Guard:
    """ASGI middleware: the security policy on every answer, and no request larger than the demo needs."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        """Pass a request on."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        left = MAX_BODY

        async def limited():
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            return message if left >= 0 else {"type": "http.disconnect"}

        sizes = [value for name, value in scope["headers"] if name == b"content-length"]
        if any(not size.isdigit() or int(size) > MAX_BODY for size in sizes):
            await send({"type": "http.response.start", "status": 413, "headers": [(b"content-type", b"text/plain")]})
            return await send({"type": "http.response.body", "body": b"This is more than the demo takes."})

        async def answer(message):
            if message["type"] == "http.response.start":
                added = [(b"content-security-policy", POLICY.encode()), (b"x-content-type-options", b"nosniff")]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        return await self.app(scope, limited, answer)


# A screen reader says the message when it appears.
_ALERTS = "() => document.querySelectorAll('.alerts').forEach(area => area.setAttribute('role', 'alert'))"


def launch(demo: gr.Blocks) -> None:
    """Serve a demo until it is stopped; port and address as in GRADIO_SERVER_PORT and GRADIO_SERVER_NAME."""
    from starlette.middleware import Middleware

    demo.queue(max_size=QUEUE, default_concurrency_limit=1).launch(
        theme=THEME,
        css=CSS,
        js=_ALERTS,
        share=False,
        ssr_mode=False,
        mcp_server=False,
        show_error=False,
        allowed_paths=[],
        max_file_size=MAX_FILE,
        max_threads=8,
        state_session_capacity=100,
        footer_links=["api", "settings"],
        app_kwargs={"middleware": [Middleware(Guard)]},
    )
