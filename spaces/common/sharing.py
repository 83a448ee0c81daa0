"""Examples with notes, links that show the same result, Python code with the visitor's inputs, the metric card."""

import re
import tomllib
from collections.abc import Callable, Sequence
from importlib import resources
from math import inf
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import gradio as gr
from markupsafe import Markup

from . import events, html

MAX_QUERY = 1_500  # characters of a link; results of longer texts have none
_COPY_LINK = html.script("copy_link.js")
_OPENED = "() => document.documentElement.classList.remove('opening')"


class Example(NamedTuple):
    """An example to try.

    Attributes:
        label: text of its button.
        note: what the example shows.
        values: values of the fields, in their order.
    """

    label: str
    note: str
    values: tuple


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
    with column:
        made = gr.Examples(
            [list(one.values) for one in examples],
            list(fields),
            example_labels=[one.label for one in examples],
            label="Examples: a click fills in and scores",
            examples_per_page=len(examples),
            api_visibility="private",
        )
    return events.connect(made.load_input_event, function, inputs, area, outputs, **event)


class Address:
    """The address of the page for given values of its fields.

    Args:
        parsers: for every field its name in the address and a function that parses its value or raises ValueError.
        first: the values that the page opens with; they need no query.
        texts: the number of leading fields that are texts; they are empty if the address does not have them.
    """

    def __init__(self, parsers: dict[str, Callable[[str], object]], first: Sequence, texts: int):
        self.parsers, self.first, self.texts = parsers, tuple(first), texts

    def mark(self, *values: object) -> Markup:
        """Return hidden HTML for the status: the query of these values; empty if it would be too long.

        >>> address = Address({"answer": str, "n": parse_query_number(1, 4)}, ("a", 2), 1)
        >>> address.mark("a", 2), address.mark("b", 3), address.mark("b" * 2000, 3)
        (Markup('<span hidden data-query=""></span>'), Markup('<span hidden data-query="answer=b&amp;n=3"></span>'), \
Markup(''))
        """
        texts = [str(value).lower() if isinstance(value, bool) else value for value in values]
        query = "" if values == self.first else urlencode(dict(zip(self.parsers, texts, strict=True)))
        return (
            html.fill('<span hidden data-query="{query}"></span>', query=query)
            if len(query) <= MAX_QUERY
            else Markup()
        )

    def parse(self, query: dict[str, str]) -> list | None:
        """Return the values of a query; None if it names no field. Values that cannot be parsed are as at first."""
        if not set(self.parsers) & set(query):
            return None
        values = []
        for place, ((name, parser), first) in enumerate(zip(self.parsers.items(), self.first, strict=True)):
            try:
                values.append(parser(query[name]))
            except (KeyError, ValueError):
                values.append("" if place < self.texts else first)
        return values

    def open(
        self, demo: gr.Blocks, fields: Sequence, function: Callable, area: events.Area, outputs: Sequence, **event
    ):
        """Show what the address says when the page opens; return the event.

        The function takes the values of the fields; for it and the other arguments see `events.connect`.
        """
        run = events.shown(function, area, len(outputs))

        def opened(request: gr.Request) -> list:
            values = self.parse(dict(request.query_params) if request else {})
            if values is None:
                return [gr.skip()] * (len(fields) + len(area[:3]) + len(outputs))
            return [*values, *run(*values)]

        event = {"concurrency_limit": 1, "concurrency_id": "page", "show_progress": "hidden"} | event
        started = demo.load(opened, None, [*fields, *area[:3], *outputs], api_visibility="private", **event)
        started.then(None, None, None, js=_OPENED, api_visibility="private")
        return started


def parse_query_number(low: float, high: float) -> Callable[[str], float]:
    """Return a parser of numbers between two limits.

    >>> parse_query_number(0, 1)("0.5")
    0.5
    """

    def parse(value: str) -> float:
        found = float(value)
        if not low <= found <= high:
            raise ValueError(value)
        return int(found) if found.is_integer() else found

    return parse


def parse_query_flag(value: str) -> bool:
    """Return a truth value."""
    return value == "true"


def python_code(template: str, **values: object) -> Markup:
    """Return Python code with the visitor's inputs in it.

    Args:
        template: the code; `{name}` stands for the `repr` of a value.
        **values: strings, numbers, lists.
    """
    return _code_html(template.format(**{name: repr(value) for name, value in values.items()}))


def metric_code(name: str, **arguments: object) -> Markup:
    """Return Python code that scores the visitor's inputs with a metric.

    Args:
        name: of the metric.
        **arguments: of its `compute`.
    """
    given = ["float('inf')" if value == inf else repr(value) for value in arguments.values()]
    lines = "".join(f"    {key}={value},\n" for key, value in zip(arguments, given, strict=True))
    load = f'import evaluate\n\n{name} = evaluate.load("metrics/{name}")\n'
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
