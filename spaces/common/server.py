"""Serving a demo: endpoints for programs, the guard of its page, the preview of links, launch."""

import functools
import importlib.util
import inspect
import os
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import gradio as gr
from genqa_metrics.core import checkpoints
from genqa_metrics.reports.table import render
from genqa_metrics.verbs.label import guard
from markupsafe import escape

from . import checks
from .html import STYLE, script

DELETE_CACHE = (600, 3600)  # seconds between two searches for old files, and the age at which files are deleted
QUEUE = 64  # visitors that may wait; further ones are told that the demo is busy
PREVIEW = "preview.png"
CHECKPOINT = os.environ.get("GENQA_CHECKPOINT", "small")  # of the judges: a size, a folder or an id of the Hub
# A link replaces the results that the page opens with; until it has, they are hidden, see `sharing.Demo`.
OPENING = f"<script>\n{script('opening.js')}\n{script('outdated.js')}</script>"
# What would move the page if it came later, as the style sheet of a demo does; and the footer, which that sheet does
# not reach: on phones Gradio hides what stands before the first divider.
EARLY = f"<style>\n{STYLE.with_name('early.css').read_text(encoding='utf-8')}</style>"

THEME = gr.themes.Default(
    primary_hue="blue",
    font=["system-ui", "-apple-system", "Segoe UI", "Roboto", "sans-serif"],  # Gradio's fonts come from the network
    font_mono=["ui-monospace", "Consolas", "monospace"],
).set(**tomllib.loads(STYLE.with_name("theme.toml").read_text(encoding="utf-8")))


def is_here(model: str) -> bool:
    """Return whether the base model of a judge is in the Hub's cache; nothing is downloaded."""
    encoder = checkpoints.ENCODERS[model]
    folder = checkpoints.cached_folder(model, encoder.revision, encoder.files)
    return folder is not None and encoder.matches(folder)


def with_clear_errors(function: Callable) -> Callable:
    """Return a function for programs: a ValueError becomes an error of Gradio with the same message."""

    @functools.wraps(function)
    def run(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except ValueError as error:
            raise gr.Error(str(error)[: checks.MAX_MESSAGE], print_exception=False) from error

    return run


def endpoint(function: Callable, *examples: object, **event) -> None:
    """Add an endpoint for programs, with the description of each argument from the docstring in Google's style.

    `examples` are one value per argument, for the page "Use via API"; `event` are limits.
    """
    from gradio.utils import get_function_description

    _, descriptions, _ = get_function_description(function)
    event = {"concurrency_limit": 1, "concurrency_id": "page"} | event
    gr.api(with_clear_errors(function), api_name=function.__name__, **event)
    added = list(gr.context.Context.root_block.fns.values())[-1]
    arguments = inspect.signature(function).parameters
    for argument, component, example in zip(arguments, added.inputs, examples, strict=True):
        component.label = descriptions[argument]
        component._api_info = {**component._api_info, "additional_description": descriptions[argument]}
        component.example_value = component.example_payload = functools.partial(lambda value: value, example)


class PageGuard(guard.Guard):
    """The guard of every page, which also serves the picture for links and puts `preview_tags` into the page."""

    def __init__(self, app, tags: str = "", preview: Path | None = None):
        super().__init__(app, checks.MAX_FILE)
        self.tags, self.preview = tags, preview

    async def serve(self, scope, receive, send) -> None:
        """Answer a request: the preview and the page here, everything else by the demo."""
        path = scope["path"].rstrip("/")
        if self.preview and path.endswith(f"/{PREVIEW}"):
            return await guard.answer(send, 200, b"image/png", self.preview.read_bytes())
        if not path and scope["method"] == "GET" and self.tags:
            plain = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
            return await self._page({**scope, "headers": plain}, receive, send)
        await self.forward(scope, receive, send)

    async def _page(self, scope, receive, send) -> None:
        """Send the page with our tags in place of Gradio's; services that preview links run no scripts."""
        start, body = {}, b""

        async def gathered(message):
            nonlocal body
            start.update(message if message["type"] == "http.response.start" else {})
            body += message.get("body", b"")

        await self.forward(scope, receive, gathered)
        body = with_tags(body.decode(), self.tags).encode()
        kept = [(name, value) for name, value in start["headers"] if name.lower() != b"content-length"]
        await send({**start, "headers": [*kept, (b"content-length", str(len(body)).encode())]})
        await send({"type": "http.response.body", "body": body})


_TAG = re.compile(r"""<meta\s+(?:property|name)="(?:og:|twitter:|description)[^>]*>\s*""")


def with_tags(page: str, tags: str) -> str:
    """Return a page with other tags for the preview of links.

    >>> with_tags('<head><meta property="og:title" content="Gradio" /></head>', "<meta>")
    '<head><meta></head>'
    """
    return _TAG.sub("", page).replace("<head>", f"<head>{tags}", 1)


def preview_tags(title: str, description: str) -> str:
    """Return the tags that describe the page where a link to it is shown: title, text and picture."""
    host = os.environ.get("SPACE_HOST")  # such as name-kpqa.hf.space, in a Space
    texts = {"title": title, "description": description, "image": f"https://{host}/{PREVIEW}" if host else PREVIEW}
    contents = {'name="description"': description, 'name="twitter:card"': "summary_large_image"}
    contents |= {f'property="og:{name}"': text for name, text in texts.items()}
    contents |= {f'name="twitter:{name}"': text for name, text in texts.items()}
    return "".join(f'<meta {name} content="{escape(text)}">' for name, text in contents.items())


def launch(demo: gr.Blocks, app: str, description: str) -> None:
    """Serve a demo until it is stopped; GRADIO_SERVER_PORT and GRADIO_SERVER_NAME set port and address.

    `preview.png` beside the file `app` is the picture for links, `description` their sentence.
    """
    from starlette.middleware import Middleware

    preview = Path(app).resolve().with_name(PREVIEW)
    tags = preview_tags(demo.title, description) + OPENING + EARLY
    guarded = Middleware(PageGuard, tags=tags, preview=preview if preview.is_file() else None)
    demo.space_id = None  # otherwise the page requests a header from huggingface.co, which the policy forbids
    limits = {"max_file_size": checks.MAX_FILE, "max_threads": 16, "state_session_capacity": 100}
    off = {"share": False, "ssr_mode": False, "pwa": False, "show_error": False, "allowed_paths": []}
    demo.queue(max_size=QUEUE, default_concurrency_limit=1).launch(
        theme=THEME,
        css=STYLE.read_text(encoding="utf-8") + str(render("cards.css")),
        mcp_server=importlib.util.find_spec("mcp") is not None,  # pip install 'gradio[mcp]'
        footer_links=["api", "settings"],
        app_kwargs={"middleware": [guarded]},
        **limits,
        **off,
    )
