"""Serving a demo: endpoints for programs, the preview of links, launch behind the guard."""

import functools
import importlib.util
import json
import os
import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

import gradio as gr
from genqa_metrics.core import checkpoints
from genqa_metrics.reports.table import render
from genqa_metrics.verbs.label import guard
from gradio.routes import STATIC_TEMPLATE_LIB, templates
from gradio.utils import get_function_description
from jinja2 import DictLoader
from markupsafe import escape
from starlette.middleware import Middleware
from starlette.responses import FileResponse
from starlette.routing import Route

from . import checks
from .html import script

DELETE_CACHE = (600, 3600)  # seconds between two searches for old files, and the age at which files are deleted
QUEUE = 64  # visitors that may wait; further ones are told that the demo is busy
PREVIEW, PAGE = "preview.png", "frontend/index.html"
# Gradio announces the end of a run under this key, for which it has no text.
DONE = gr.I18n(en={"common.complete": "Done"})
CHECKPOINT = os.environ.get("GENQA_CHECKPOINT", "small")  # of the judges: a size, a folder or an id of the Hub

THEME = gr.themes.Default(
    primary_hue="blue",
    font=["system-ui", "-apple-system", "Segoe UI", "Roboto", "sans-serif"],  # Gradio's fonts come from the network
    font_mono=["ui-monospace", "Consolas", "monospace"],
).set(**tomllib.loads(script("theme.toml")))


def is_here(model: str) -> bool:
    """Return whether the base model of a judge is in the Hub's cache; nothing is downloaded."""
    encoder = checkpoints.ENCODERS[model]
    folder = checkpoints.cached_folder(model, encoder.revision, encoder.files)
    return folder is not None and encoder.matches(folder)


def with_clear_errors(function: Callable) -> Callable:
    """Return a function for programs: a ValueError becomes an error of Gradio with the same message."""

    @functools.wraps(function)
    def run(*args):
        try:
            return function(*args)
        except ValueError as error:
            raise gr.Error(str(error)[: checks.MAX_MESSAGE], print_exception=False) from error

    return run


def endpoint(function: Callable, example: Sequence) -> None:
    """Add an endpoint for programs, with the name, arguments and docstring of a function, and values as an example."""
    gr.api(with_clear_errors(function), concurrency_limit=1, concurrency_id="page")
    added = list(gr.context.Context.root_block.fns.values())[-1]
    _, arguments, _ = get_function_description(function)
    for component, about, entry in zip(added.inputs, arguments.values(), example, strict=True):
        component.label = about
        component._api_info = {**component._api_info, "additional_description": about}
        component.example_value = component.example_payload = functools.partial(lambda shown: shown, entry)


_TAG = re.compile(r"""<meta\s+(?:property|name)="(?:og:|twitter:|description)[^>]*>\s*""")


def with_tags(page: str, tags: str) -> str:
    """Return a page with other tags for the preview of links, which run no scripts.

    >>> with_tags('<head><meta property="og:title" content="Gradio" /></head>', "<meta>")
    '<head><meta></head>'
    """
    return _TAG.sub("", page).replace("<head>", f"<head>{tags}", 1)


def preview_tags(title: str, description: str) -> str:
    """Return the tags that describe the page where a link to it is shown: title, text and picture."""
    host = os.environ.get("SPACE_HOST")  # such as name-kpqa.hf.space, in a Space
    texts = {"og:title": title, "og:image": f"https://{host}/{PREVIEW}" if host else PREVIEW}
    texts |= dict.fromkeys(("description", "og:description"), description) | {"twitter:card": "summary_large_image"}
    return "".join(f'<meta name={name} property="{name}" content="{escape(text)}">' for name, text in texts.items())


def launch(demo: gr.Blocks, app: str, description: str, first: Sequence, empty: Sequence) -> None:
    """Serve a demo until it is stopped; GRADIO_SERVER_PORT and GRADIO_SERVER_NAME set port and address.

    `preview.png` beside the file `app` is the picture for links, `description` their sentence. `first` are the entries
    of all fields when the page opens, `empty` those of an empty form.
    """
    entries = f"const firstEntries = {json.dumps(first)}, emptyEntries = {json.dumps(empty)};".replace("<", "\\u003c")
    # early.css has what would move the page if it came later, as the style sheet of a demo does; and the footer, which
    # that sheet does not reach: on phones Gradio hides what stands before the first divider.
    scripts = f"<script>{entries}\n{script('page.js')}</script>"
    tags = f"{preview_tags(demo.title, description)}{scripts}<style>{script('early.css')}</style>"
    page = Path(STATIC_TEMPLATE_LIB, PAGE).read_text(encoding="utf-8")
    templates.env.loader = DictLoader({PAGE: with_tags(page, f"{{% raw %}}{tags}{{% endraw %}}")})
    picture = Path(app).resolve().with_name(PREVIEW)
    demo.space_id = None  # otherwise the page requests a header from huggingface.co, which the policy forbids
    demo.queue(max_size=QUEUE, default_concurrency_limit=1).launch(
        theme=THEME,
        css=script("style.css") + str(render("cards.css")),
        mcp_server=importlib.util.find_spec("mcp") is not None,  # pip install 'gradio[mcp]'
        footer_links=["api", "settings"],
        i18n=DONE,
        app_kwargs={
            "middleware": [Middleware(guard.Guard, uploads=checks.MAX_FILE)],
            "routes": [Route(f"/{PREVIEW}", lambda request: FileResponse(picture))],
        },
        max_file_size=checks.MAX_FILE,
        max_threads=16,
        state_session_capacity=100,
        share=False,
        ssr_mode=False,
        pwa=False,
        show_error=False,
        allowed_paths=[],
    )
