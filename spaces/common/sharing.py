"""Examples with notes, links that show the same result, Python code with the visitor's inputs, the metric card."""

import base64
import json
import re
import tomllib
import zlib
from collections.abc import Callable, Sequence
from importlib import resources
from math import inf
from pathlib import Path
from typing import NamedTuple

import gradio as gr
from markupsafe import Markup

from . import events, html

MAX_LINK = 8_000  # characters of a link's fragment; results of longer texts have none
MAX_UNPACKED = 200_000  # bytes of an unpacked link
_COPY_LINK = html.script("copy_link.js")
_FRAGMENT = "() => location.hash.slice(1)"


class Example(NamedTuple):
    """An example to try."""

    label: str  # text of its button
    note: str  # what the example shows
    values: tuple  # of the fields, in their order


def text_beside(app: str, name: str) -> str:
    """Return the text of a file beside that of a demo."""
    return Path(app).resolve().with_name(name).read_text(encoding="utf-8")


def introduction(app: str, title: str) -> None:
    """Add the title of a demo and the text of its intro.md."""
    gr.Markdown(f"# {title}\n{text_beside(app, 'intro.md')}")


def folded(title: str, text: str) -> None:
    """Add a text in Markdown that opens by a click on its title."""
    with gr.Accordion(title, open=False):
        gr.Markdown(text, elem_classes="wide")


def read_examples(app: str) -> list[Example]:
    """Return the examples of a demo, from `examples.toml` beside its file: label, note, then one value per field."""
    text = text_beside(app, "examples.toml")
    return [
        Example(*one[:2], tuple(one[2:])) for one in (list(each.values()) for each in tomllib.loads(text)["example"])
    ]


def example_note(examples: Sequence[Example], values: Sequence) -> str:
    """Return the note of the example with these values; "" for other values.

    >>> example_note([Example("a", "Look!", ("x", "y"))], ["x", "y"]), example_note([], ["x"])
    ('Look!', '')
    """
    return next((one.note for one in examples if one.values == tuple(values[: len(one.values)])), "")


def example_buttons(
    column: gr.Column,
    examples: Sequence[Example],
    fields: Sequence,
    function: Callable,
    inputs: Sequence,
    area: events.Area,
    outputs: Sequence,
    **event,
):
    """Add to a column a button per example that fills in the fields and runs the function; return the event.

    The arguments from `function` on are those of `events.connect`.
    """
    values = [list(one.values) for one in examples]
    with column:
        buttons = gr.Dataset(
            components=list(fields),
            samples=values,
            sample_labels=[one.label for one in examples],
            label="Examples: a click fills in and scores",
            samples_per_page=len(examples),
            type="index",
        )
    # The browser fills in: gradio.Examples asks the server, and drops a click that comes before it has answered.
    filled = buttons.click(
        None, buttons, list(fields), js=f"number => {json.dumps(values)}[number]", api_visibility="private"
    )
    return events.connect(filled, function, inputs, area, outputs, **event)


def packed(values: Sequence) -> str:
    """Return values of fields in as few characters of an address as possible.

    >>> unpacked(packed(["a" * 1000, 0.5])) == ["a" * 1000, 0.5], len(packed(["a" * 1000, 0.5]))
    (True, 24)
    """
    text = json.dumps(list(values), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    shrink = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    return base64.urlsafe_b64encode(shrink.compress(text) + shrink.flush()).decode().rstrip("=")


def unpacked(text: str) -> list:
    """Return the values that `packed` packed; a ValueError for anything else, or too much."""
    if len(text) > MAX_LINK or not text.isascii():
        raise ValueError("not a link of this page")
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        found = inflate.decompress(data, MAX_UNPACKED)
        values = json.loads(found) if inflate.eof else None
    except (ValueError, zlib.error, RecursionError) as error:
        raise ValueError("not a link of this page") from error
    if not isinstance(values, list):
        raise ValueError("not a link of this page")
    return values


def slug(text: str, most: int = 40) -> str:
    """Return a short label for an address.

    >>> slug("How many legs has an insect?"), slug("?")
    ('how-many-legs-has-an-insect', 'result')
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:most].rstrip("-") or "result"


class Address:
    """The address of the page for given values of its fields: a label and the packed values behind "#".

    A browser does not send that part of an address to any server. The page opens with the values `first`, which need
    no address; its first `texts` fields are texts, empty if the address does not have them.
    """

    def __init__(self, first: Sequence, texts: int):
        self.first, self.texts = tuple(first), texts

    def mark(self, *values: object, label: str = "") -> Markup:
        """Return hidden HTML for the status: the address of all fields' values; empty if it would be too long.

        >>> address = Address(("a", 2), 1)
        >>> address.mark("a", 2), address.parse(address.mark("An answer.", 3).split('"')[1])
        (Markup('<span hidden data-link=""></span>'), ['An answer.', 3])
        """
        if values == self.first:
            return Markup('<span hidden data-link=""></span>')
        link = f"{slug(label or str(values[0]))}={packed(values)}"
        return html.fill('<span hidden data-link="{link}"></span>', link=link) if len(link) <= MAX_LINK else Markup()

    def parse(self, fragment: str) -> list | None:
        """Return the values of the text behind "#"; None if it is no address. Of a wrong type they are as at first."""
        try:
            values = unpacked(fragment.partition("=")[2])
        except ValueError:
            return None
        found = ["" if place < self.texts else first for place, first in enumerate(self.first)]
        for place, value in enumerate(values[: len(found)]):
            if _kind(value) == _kind(self.first[place]):
                found[place] = value
        return found

    def open(
        self, demo: gr.Blocks, fields: Sequence, function: Callable, area: events.Area, outputs: Sequence, **event
    ):
        """Show what the address says when the page opens; return the event.

        The function takes the values of the fields; for it and the other arguments see `events.connect`.
        """
        run = events.shown(function, area, len(outputs))
        fragment = gr.Textbox(visible=False)  # only the browser knows it

        def opened(fragment: str) -> list:
            values = self.parse(fragment or "")
            if values is None:
                return [gr.skip()] * (len(fields) + len(area[:3]) + len(outputs))
            return [*values, *run(None, *values)]

        ids, first = events.ids(fields), json.dumps(self.first)
        demo.load(None, None, None, js=f"() => void runStarted(0, {ids}, {first})", api_visibility="private")
        event = {"concurrency_limit": 1, "concurrency_id": "page", "show_progress": "hidden"} | event
        started = demo.load(
            opened, fragment, [*fields, *area[:3], *outputs], js=_FRAGMENT, api_visibility="private", **event
        )
        started.then(None, list(fields), None, js=f"(...values) => opened({ids}, values)", api_visibility="private")
        return started


def _kind(value: object) -> type:
    """Return the type of a value of a field; numbers are of one."""
    return float if isinstance(value, int) and not isinstance(value, bool) else type(value)


def python_code(template: str, **values: object) -> Markup:
    """Return Python code with the visitor's inputs: `{name}` in the template stands for the `repr` of a value."""
    return _code_html(template.format(**{name: repr(value) for name, value in values.items()}))


def metric_code(name: str, checkpoint: str = "small", **arguments: object) -> Markup:
    """Return Python code that scores the visitor's inputs, the arguments of `compute`, with a metric."""
    given = ["float('inf')" if value == inf else repr(value) for value in arguments.values()]
    lines = "".join(f"    {key}={value},\n" for key, value in zip(arguments, given, strict=True))
    more = f", checkpoint={checkpoint!r}" if checkpoint != "small" else ""
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


def metric_card(name: str) -> None:
    """Add the card of a metric."""
    card = resources.files(f"genqa_metrics.{name}").joinpath("README.md").read_text(encoding="utf-8")
    card = re.sub(r"\A---\n.*?\n---\n", "", card, flags=re.DOTALL)
    card = re.sub(r"^(#+ )", r"##\1", card, flags=re.MULTILINE)
    folded("Metric card: how to load it, what its numbers mean, limits", card)
