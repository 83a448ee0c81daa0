"""What the demos share: where the metric's code is, checks of input, endpoints, launch.

Import this before gradio: it switches off what would call home.
"""

import functools
import importlib.util
import inspect
import os
import re
import sys
import types
from collections.abc import Callable, Mapping
from pathlib import Path

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # a row is too small for two: on busy cores they wait for each other

import gradio as gr
import look
from markupsafe import escape

METRICS = ("aev", "ava", "f_meta", "kpqa")
MAX_TEXT = 2_000  # characters of a question, an answer or a reference that is typed
MAX_REFERENCES = 10
MAX_MESSAGE = 1_000  # characters; names of columns can fill a whole file
MAX_FILE = 5 * 2**20  # bytes of an uploaded file
MAX_BODY = 2 * 2**20  # bytes of any other request
KEEP = (600, 3600)  # seconds between two looks for old uploads and results, and from which age they go
QUEUE = 64  # visitors that may wait; the next one is told that the demo is busy

# The page loads, runs and contacts nothing but itself, even with hostile text in it. Gradio needs inline scripts and
# eval for its charts and templates.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; object-src 'none'; base-uri 'self'; "
    "form-action 'self'"
)


class Problem(ValueError):
    """What a visitor typed or uploaded cannot be used; the message says why and what to do."""


def find_metric(app: str, name: str) -> Path:
    """Make a metric importable as `genqa.NAME` and the toolkit as `genqa.toolkit`; nothing is installed.

    Args:
        app: file of the demo. In a Space the metric's files lie beside it, in a checkout in `metrics/NAME`.
        name: name of the metric; "" for a demo of several, whose Space has them in its folder `metrics`.

    Returns:
        Folder of the metric, or of all.
    """
    here = Path(app).resolve().parent
    alone = (here / f"{name}.py").is_file()
    metrics = here if alone else here / "metrics" if (here / "metrics").is_dir() else here.parents[1] / "metrics"
    folders = {each: here if alone else metrics / each for each in METRICS}
    for package, path in (("genqa", metrics), *((f"genqa.{each}", folder) for each, folder in folders.items())):
        module = types.ModuleType(package)
        module.__path__ = [str(path)]
        sys.modules[package] = module
    sys.modules["genqa"].__version__ = importlib.import_module("genqa.aev.shared").VERSION
    return folders.get(name, metrics)


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


def checked_list(name: str, value: object, most: int = MAX_REFERENCES, limit: int = MAX_TEXT) -> list[str]:
    """Return the texts that a program sent.

    Args:
        name: of the argument.
        value: what came: a text, which is one, or a list of texts.
        most: number of texts at most.
        limit: characters of a text at most.

    Raises:
        Problem: if it is something else, empty, or too much.

    >>> checked_list("references", "Paris"), checked_list("references", ["four", "4"])
    (['Paris'], ['four', '4'])
    """
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list | tuple):
        got = "null" if value is None else type(value).__name__
        raise Problem(f'{name}: expected a text or a list of texts such as ["four", "4"], got {got}.')
    if not texts:
        raise Problem(f"{name}: this field is empty; fill it in: one text at least.")
    if len(texts) > most:
        raise Problem(f"{name}: {len(texts)} texts are too many for this page; {most} are the most.")
    alone = len(texts) == 1
    return [checked_text(name if alone else f"{name}, item {i}", text, limit) for i, text in enumerate(texts, 1)]


def answered(function: Callable) -> Callable:
    """Return a function for the API: bad input is an error with the same message as on the page."""

    @functools.wraps(function)
    def run(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except ValueError as error:
            raise gr.Error(str(error)[:MAX_MESSAGE], print_exception=False) from error

    return run


def endpoint(function: Callable, name: str, examples: Mapping[str, object], **event) -> None:
    """Add an endpoint for programs, with what its docstring says of every argument.

    Args:
        function: has types, and Google's docstring.
        name: the endpoint's.
        examples: one value per argument, for the page "Use via API".
        **event: limits.
    """
    from gradio.utils import get_function_description

    _, said, _ = get_function_description(function)
    event = {"concurrency_limit": 1, "concurrency_id": "page"} | event
    gr.api(answered(function), api_name=name, **event)
    found = list(gr.context.Context.root_block.fns.values())[-1]
    for argument, component in zip(inspect.signature(function).parameters, found.inputs, strict=True):
        component.label = said[argument]
        component._api_info = {**component._api_info, "additional_description": said[argument]}
        component.example_value = component.example_payload = functools.partial(_same, examples[argument])


def _same(value: object) -> object:
    return value


class Guard:
    """ASGI middleware: the security policy on every answer, no request larger than the demo needs, the preview.

    Args:
        app: the demo.
        tags: of the page's head, see `preview_tags`.
        preview: picture that a link to the demo is shown with.
    """

    def __init__(self, app, tags: str = "", preview: Path | None = None):
        self.app, self.tags, self.preview = app, tags, preview

    async def __call__(self, scope, receive, send):
        """Pass a request on."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        path = scope["path"].rstrip("/")
        if self.preview and path.endswith(f"/{PREVIEW}"):
            return await _answer(send, 200, b"image/png", self.preview.read_bytes())
        most = left = MAX_FILE + 2**16 if path.endswith("/upload") else MAX_BODY

        async def limited():
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            return message if left >= 0 else {"type": "http.disconnect"}

        sizes = [value for name, value in scope["headers"] if name == b"content-length"]
        if any(not size.isdigit() or int(size) > most for size in sizes):
            return await _answer(send, 413, b"text/plain", b"This is more than the demo takes.")

        if not path and scope["method"] == "GET" and self.tags:
            plain = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
            return await self._page({**scope, "headers": plain}, limited, send)
        await self._passed(scope, limited, send)

    async def _page(self, scope, receive, send) -> None:
        """Send the page with our tags in place of Gradio's; who shows a link runs no script that could add them."""
        start, body = {}, b""

        async def gathered(message):
            nonlocal body
            start.update(message if message["type"] == "http.response.start" else {})
            body += message.get("body", b"")

        await self._passed(scope, receive, gathered)
        body = with_tags(body.decode(), self.tags).encode()
        kept = [(name, value) for name, value in start["headers"] if name.lower() != b"content-length"]
        await send({**start, "headers": [*kept, (b"content-length", str(len(body)).encode())]})
        await send({"type": "http.response.body", "body": body})

    async def _passed(self, scope, receive, send) -> None:
        async def answer(message):
            if message["type"] == "http.response.start":
                added = [(b"content-security-policy", POLICY.encode()), (b"x-content-type-options", b"nosniff")]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        await self.app(scope, receive, answer)


async def _answer(send, status: int, kind: bytes, body: bytes) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", kind)]})
    await send({"type": "http.response.body", "body": body})


PREVIEW = "preview.png"
_TAG = re.compile(r"""<meta\s+(?:property|name)="(?:og:|twitter:|description)[^>]*>\s*""")


def with_tags(page: str, tags: str) -> str:
    """Return a page with other tags for those who show links to it.

    >>> with_tags('<head><meta property="og:title" content="Gradio" /></head>', "<meta>")
    '<head><meta></head>'
    """
    return _TAG.sub("", page).replace("<head>", f"<head>{tags}", 1)


def preview_tags(title: str, description: str) -> str:
    """Return what the page's head says to those who show a link to it: title, text and picture."""
    host = os.environ.get("SPACE_HOST")  # such as name-kpqa.hf.space, in a Space
    picture = f"https://{host}/{PREVIEW}" if host else PREVIEW
    tags = {
        "description": description,
        "og:title": title,
        "og:description": description,
        "og:image": picture,
        "twitter:card": "summary_large_image",
        "twitter:title": title,
        "twitter:description": description,
        "twitter:image": picture,
    }
    kinds = {name: "property" if name.startswith("og:") else "name" for name in tags}
    return "".join(f'<meta {kinds[name]}="{name}" content="{escape(text)}">' for name, text in tags.items())


def launch(demo: gr.Blocks, app: str, description: str) -> None:
    """Serve a demo until it is stopped; port and address as in GRADIO_SERVER_PORT and GRADIO_SERVER_NAME.

    Args:
        demo: the demo.
        app: its file; a picture `preview.png` beside it is what links are shown with.
        description: one sentence, for links.
    """
    from starlette.middleware import Middleware

    preview = Path(app).resolve().with_name(PREVIEW)
    tags = preview_tags(demo.title, description)
    guard = Middleware(Guard, tags=tags, preview=preview if preview.is_file() else None)
    demo.space_id = None  # else the page asks huggingface.co and Google's fonts for a header, which the policy forbids
    demo.queue(max_size=QUEUE, default_concurrency_limit=1).launch(
        theme=look.THEME,
        css=look.CSS,
        share=False,
        ssr_mode=False,
        pwa=False,
        mcp_server=importlib.util.find_spec("mcp") is not None,  # pip install 'gradio[mcp]'
        show_error=False,
        allowed_paths=[],
        max_file_size=MAX_FILE,
        max_threads=16,
        state_session_capacity=100,
        footer_links=["api", "settings"],
        app_kwargs={"middleware": [guard]},
    )
