"""Examples with notes, links that show the same result, Python code with the visitor's inputs, the metric card."""

import base64
import functools
import json
import os
import re
import tomllib
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import resources
from math import inf
from pathlib import Path
from typing import NamedTuple

import gradio as gr
from markupsafe import Markup

from . import checks, events, html, server

MAX_LINK = 8_000  # characters of a link's fragment; results of longer texts have none
MAX_UNPACKED = 200_000  # bytes of an unpacked link
REPOSITORY = "https://github.com/genqa-metrics/genqa-metrics"
DEMOS = ("home", "compare", "ava", "grounding", "kpqa", "aev", "f_meta")
TO_EXAMPLES = "Examples: a click fills in and scores"
_COPY_LINK = html.script("copy_link.js")
_FRAGMENT = "() => location.hash.slice(1)"


class Example(NamedTuple):
    """An example to try."""

    label: str  # text of its button
    note: str  # what the example shows
    entries: tuple  # of the fields, in their order


def text_beside(app: str, name: str) -> str:
    """Return the text of a file beside that of a demo."""
    return Path(app).resolve().with_name(name).read_text(encoding="utf-8")


def packed(entries: Sequence) -> str:
    """Return values of fields in as few characters of an address as possible.

    >>> unpacked(packed(["a" * 1000, 0.5])) == ["a" * 1000, 0.5], len(packed(["a" * 1000, 0.5]))
    (True, 24)
    """
    text = json.dumps(list(entries), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    shrink = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    return base64.urlsafe_b64encode(shrink.compress(text) + shrink.flush()).decode().rstrip("=")


def unpacked(text: str) -> list:
    """Return the values that `packed` packed; a ValueError for anything else, or too much."""
    if len(text) > MAX_LINK or not text.isascii():
        raise ValueError("not a link of this page")
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        text = inflate.decompress(data, MAX_UNPACKED)
        entries = json.loads(text) if inflate.eof else None
    except (ValueError, zlib.error, RecursionError) as error:
        raise ValueError("not a link of this page") from error
    if not isinstance(entries, list):
        raise ValueError("not a link of this page")
    return entries


def slug(text: str, most: int = 40) -> str:
    """Return a short label for an address.

    >>> slug("How many legs has an insect?"), slug("?")
    ('how-many-legs-has-an-insect', 'result')
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:most].rstrip("-") or "result"


class Form(NamedTuple):
    """What a form of a page consists of."""

    inputs: list  # the entries of these components are sent
    area: events.Area
    outputs: list


def text_box(label: str, lines: int = 1, most: int = 8, **more) -> gr.Textbox:
    """Return a field for a text, not rendered yet, with a number of lines and as many as it may grow to."""
    return gr.Textbox(label=label, lines=lines, max_lines=most, render=False, **more)


def plain(number: int) -> list[gr.HTML]:
    """Add components that show HTML as it is."""
    return [gr.HTML(apply_default_css=False) for _ in range(number)]


def link_to(demo: str) -> str:
    """Return the address of the Space of a demo, beside the one that runs this."""
    return f"https://huggingface.co/spaces/{os.environ.get('SPACE_ID', 'genqa-metrics').partition('/')[0]}/{demo}"


def links(demo: str) -> str:
    """Return in Markdown the links from a demo to the other ones, the documentation and the code.

    >>> links("kpqa").count("kpqa"), links("kpqa").count("spaces/genqa-metrics/ava")
    (2, 1)
    """
    others = ", ".join(f"[{name}]({link_to(name)})" for name in DEMOS if name != demo)
    pages = {"compare": "spaces/docs/pages/how-to/2-two-systems.md", "home": "README.md"}
    page = f"{REPOSITORY}/blob/main/{pages.get(demo, f'metrics/{demo}/README.md')}"
    sources = f"[documentation]({page}), [all pages]({link_to('docs')}), [code]({REPOSITORY}/tree/main/spaces/{demo})"
    return f"Other demos: {others}. More: {sources}."


class Demo:
    """The page of a demo: its examples, its links, and what its fields and buttons do.

    A link has the values of all fields, packed, behind "#", a part of the address that a browser sends to no server.
    The page opens with the values `first`, which need no link: those of the first example, then `more`.
    """

    def __init__(self, app: str, title: str, about: str, *more: object):
        self.app, self.title, self.about = app, title, about
        examples = [list(each.values()) for each in tomllib.loads(text_beside(app, "examples.toml"))["example"]]
        self.examples = [Example(label, note, tuple(entries)) for label, note, *entries in examples]
        self.example_file = next(Path(app).resolve().parent.glob("example.[cj]s*"), None)
        self.texts = len(self.examples[0].entries)  # number of the fields of an example, which come first
        self.first = (*self.examples[0].entries, *more)

    @contextmanager
    def page(self) -> Iterator[gr.Blocks]:
        """Yield the page, which begins with the title and the text of intro.md."""
        with gr.Blocks(title=self.title, delete_cache=server.DELETE_CACHE) as self.blocks:
            gr.Markdown(f"# {self.title}\n{text_beside(self.app, 'intro.md')}")
            gr.Markdown(links(Path(self.app).resolve().parent.name), elem_classes="note")
            yield self.blocks

    def add_background(self, title: str, metric: str) -> None:
        """Add about.md, under a title, and the card of a metric; both open by a click."""
        card = resources.files(f"genqa_metrics.{metric}").joinpath("README.md").read_text(encoding="utf-8")
        card = re.sub(r"\A---\n.*?\n---\n", "", card, flags=re.DOTALL)
        card = re.sub(r"^(#+ )", r"##\1", card, flags=re.MULTILINE)
        card = re.sub(r"\]\((?!\w+:|#)", f"]({REPOSITORY}/blob/main/metrics/{metric}/", card)  # files beside the card
        card = re.sub(r"`(training/[\w./]+)`", rf"[`\1`]({REPOSITORY}/tree/main/\1)", card)
        of_card = "Metric card: how to load it, what its numbers mean, limits"
        for name, text in ((title, text_beside(self.app, "about.md")), (of_card, card)):
            with gr.Accordion(name, open=False):
                gr.Markdown(text, elem_classes="wide")

    def note(self, entries: Sequence) -> str:
        """Return the note of the example with these values; "" for other values."""
        return next((example.note for example in self.examples if example.entries == tuple(entries[: self.texts])), "")

    def mark(self, *entries: object, label: str = "") -> Markup:
        """Return hidden HTML for the status: the link to all fields' values; empty if it would be too long."""
        if entries == self.first:
            return Markup('<span hidden data-link=""></span>')
        link = f"{slug(label or str(entries[0]))}={packed(entries)}"
        return html.fill('<span hidden data-link="{link}"></span>', link=link) if len(link) <= MAX_LINK else Markup()

    def parse(self, fragment: str) -> list | None:
        """Return the values of the text behind "#", those of a wrong type as at first; None if it is no link."""
        try:
            entries = unpacked(fragment.partition("=")[2])
        except ValueError:
            return None
        result = ["" if i < self.texts else first for i, first in enumerate(self.first)]
        for i, entry in enumerate(entries[: len(result)]):
            if _kind(entry) == _kind(self.first[i]):
                result[i] = entry
        return result

    def form(
        self,
        title: str,
        fields: Sequence,
        button: str,
        function: Callable,
        results: Callable[[], list] | int = 1,
        hint: str = "Fill in the fields, or choose an example.",
        submit: Sequence = (),
        controls: Sequence = (),
    ) -> Form:
        """Add a tab with fields, a button and the examples at one side, and what `function` returns at the other.

        Without a title it is no tab but the page's only form.
        `fields` are not rendered yet. `results` adds the components of the results and returns those that `function`
        fills, or is the number of plain ones; link and code follow. The key Enter runs the function in `submit`.
        `controls` are further inputs, which `results` adds.
        """
        with gr.Tab(title) if title else gr.Column():
            with gr.Row(elem_classes="two-sides"):
                with gr.Column(min_width=280):
                    for field in fields:
                        field.render()
                    run = gr.Button(button, variant="primary")
                    examples = gr.Column()
                with gr.Column(min_width=280):
                    area = events.results_area(hint)
                    with area.results:
                        outputs = plain(results) if isinstance(results, int) else results()
                        outputs.append(link_and_code())
            inputs = [*fields, *controls]
            self.connect([run.click, *(field.submit for field in submit)], function, inputs, area, outputs, examples)
        return Form(inputs, area, outputs)

    def connect(
        self, triggers: object, function: Callable, fields: list, area: events.Area, outputs: list, column, **event
    ) -> list:
        """Connect a function as `events.connect` does, with the examples too, as buttons in a column, and with links.

        Returns the events of a trigger, of an example and of the opening of the page.
        """
        self._function = functools.partial(function, lambda *_: None) if event.get("long") else function
        self._parts = fields, area, outputs
        clicked = events.connect(triggers, function, fields, area, outputs, **event)
        chosen = events.connect(self._example_buttons(column, fields), function, fields, area, outputs, **event)
        return [clicked, chosen, self._open()]

    def _example_buttons(self, column: gr.Column, fields: Sequence):
        entries, inputs = [list(example.entries) for example in self.examples], list(fields[: self.texts])
        with column:
            texts = {"sample_labels": [example.label for example in self.examples], "label": TO_EXAMPLES}
            buttons = gr.Dataset(
                components=inputs, samples=entries, samples_per_page=len(entries), type="index", **texts
            )
        # The browser fills in: gradio.Examples asks the server, and drops a click that comes before it has answered.
        fill_in = f"number => {json.dumps(entries)}[number]"
        return buttons.click(None, buttons, inputs, js=fill_in, api_visibility="private")

    def _open(self):
        """Show what the link says when the page opens."""
        fields, area, outputs = self._parts
        run = events.shown(self._function, area, len(outputs))
        fragment = gr.Textbox(visible=False)  # only the browser knows it
        shown = [*fields, *area[:3], *outputs]

        def opened(fragment: str) -> list:
            entries = self.parse(fragment or "")
            return [gr.skip()] * len(shown) if entries is None else [*entries, *run(None, *entries)]

        ids, first = events.ids(fields), json.dumps(self.first)
        load = functools.partial(self.blocks.load, api_visibility="private")
        load(None, None, None, js=f"() => void runStarted(0, {ids}, {first})")
        queue = {"concurrency_limit": 1, "concurrency_id": "page", "show_progress": "hidden"}
        started = load(opened, fragment, shown, js=_FRAGMENT, **queue)
        started.then(None, list(fields), None, js=f"(...entries) => opened({ids}, entries)", api_visibility="private")
        return started

    def launch(self) -> None:
        """Serve the page, which opens with the result of the first values; so the models are loaded."""
        fields, area, outputs = self._parts
        try:
            events.preset(area, fields, self.first, outputs, self._function(*self.first))
        except checks.Problem as problem:  # the judge must be fetched
            message = html.fill('<div class="problem">{message}</div>', message=problem)
            events.preset(area, fields, self.first, (), [message])
        server.launch(self.blocks, self.app, self.about)


def _kind(entry: object) -> type:
    """Return the type of an entry of a field; numbers are of one."""
    return float if isinstance(entry, int) and not isinstance(entry, bool) else type(entry)


def python_code(template: str, **variables: object) -> Markup:
    """Return Python code with the visitor's inputs: `{name}` in the template stands for the `repr` of a value."""
    return _code_html(template.format(**{name: repr(variable) for name, variable in variables.items()}))


def metric_code(name: str, checkpoint: str = "small", default: str = "small", **arguments: object) -> Markup:
    """Return Python code that scores the visitor's inputs, the arguments of `compute`, with a metric.

    The metric's `default` checkpoint is left out.
    """
    written = {name: "float('inf')" if argument == inf else repr(argument) for name, argument in arguments.items()}
    lines = "".join(f"    {name}={text},\n" for name, text in written.items())
    more = f", checkpoint={checkpoint!r}" if checkpoint != default else ""
    load = f'import evaluate\n\n{name} = evaluate.load("metrics/{name}"{more})\n'
    return _code_html(f"{load}results = {name}.compute(\n{lines})\nprint(results)")


def _code_html(code: str) -> Markup:
    return html.fill('<pre tabindex="0" aria-label="Code for Python"><code>{code}</code></pre>', code=code.strip())


def link_and_code() -> gr.HTML:
    """Add the button that copies a link to the result, and return the component for the Python code."""
    with gr.Row():
        button = gr.Button("Copy a link to this", size="sm", min_width=120)
        gr.HTML('<span class="copied"></span>', apply_default_css=False, js_on_load=events.LIVE)
    button.click(None, None, None, js=_COPY_LINK, api_visibility="private")
    with gr.Accordion("Python code for this", open=False):
        return gr.HTML(apply_default_css=False, elem_classes="python")
