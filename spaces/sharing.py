"""What makes a demo worth sending: examples with notes, state in the address, the same in Python, the card."""

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import clicks
import gradio as gr
import look
from markupsafe import Markup

MAX_QUERY = 1_500  # characters of an address; longer texts stay out of it

# What was scored stands in the address, so that a link shows the same; what the page opens with needs no words there.
# A Space lies in a frame, whose page is told.
_ADDRESS = """const old = new URLSearchParams(location.search);
  if (old.has('__theme')) query.set('__theme', old.get('__theme'));
  document.documentElement.dataset.linked = linked;
  const text = query.toString();
  history.replaceState(null, '', location.pathname + (text && '?' + text));
  if (parent !== window) parent.postMessage({queryString: text, hash: ''}, 'https://huggingface.co');"""
_REMEMBER = """(...values) => {
  const names = %s, first = %s, all = new URLSearchParams();
  names.forEach((name, i) => all.set(name, values[i] ?? ''));
  const usual = first.every((value, i) => String(value ?? '') === String(values[i] ?? ''));
  const linked = usual || all.toString().length <= %d, query = usual || !linked ? new URLSearchParams() : all;
  %s }"""
_FORGET = "() => { const linked = false, query = new URLSearchParams(); %s }" % _ADDRESS  # noqa: UP031
_COPY_LINK = """async () => { const said = document.querySelector('.copied');
  if (document.documentElement.dataset.linked === 'false')
    return void (said.textContent = 'No link: long texts and files do not leave this page.');
  try { await navigator.clipboard.writeText(location.href); said.textContent = 'Link copied.'; }
  catch { said.textContent = 'Copy the address of this page from the address bar.'; } }"""


class Example(NamedTuple):
    """A case to look at.

    Attributes:
        label: of its button.
        values: of the fields, in their order.
        note: what to see in it.
    """

    label: str
    values: tuple
    note: str


def note_of(examples: Sequence[Example], values: Sequence) -> str:
    """Return what is to be seen in the example with these values; "" for other values.

    >>> note_of([Example("a", ("x", "y"), "Look!")], ["x", "y"]), note_of([], ["x"])
    ('Look!', '')
    """
    return next((one.note for one in examples if tuple(one.values) == tuple(values[: len(one.values)])), "")


def gallery(
    column: gr.Column,
    examples: Sequence[Example],
    fields: Sequence,
    function: Callable,
    inputs: Sequence,
    area: clicks.Area,
    outputs: Sequence,
    **event,
):
    """Add buttons with examples; a click fills in and runs; the event is returned.

    Args:
        column: where the buttons go.
        examples: see `Example`.
        fields: what the values of an example fill in.
        function: see `clicks.connect`.
        inputs: see `clicks.connect`.
        area: see `clicks.connect`.
        outputs: see `clicks.connect`.
        **event: other arguments of the event.
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
    return clicks.connect(made.load_input_event, function, inputs, area, outputs, **event)


def in_address(
    demo: gr.Blocks,
    names: Mapping[str, Callable],
    fields: Sequence,
    first: Example,
    function: Callable,
    area: clicks.Area,
    outputs: Sequence,
    runs: Sequence,
    others: Sequence = (),
    **event,
):
    """Show on opening what the address says, where it says something; and keep the address up to date.

    Args:
        demo: the page.
        names: {name in the address: makes a value of its text, or raises ValueError}, in the order of `fields`.
        fields: components.
        first: the example that the page shows for an address that says nothing, see `clicks.preset`.
        function: takes the values of the fields, see `clicks.connect`.
        area: see `clicks.connect`.
        outputs: see `clicks.connect`.
        runs: events after which the address is set.
        others: events whose results have no place in an address, such as those of a file.
        **event: other arguments of the event.

    Returns:
        The event of the page's opening, for what comes after it.
    """
    run = clicks.shown(function, area, len(outputs))
    given = (*first.values, *(field.value for field in fields[len(first.values) :]))

    def opened(request: gr.Request) -> list:
        asked = dict(request.query_params) if request else {}
        if not set(names) & set(asked):
            return [gr.skip()] * (len(fields) + len(area[:3]) + len(outputs))
        values = []
        for place, ((name, read), preset) in enumerate(zip(names.items(), given, strict=True)):
            try:
                values.append(read(asked[name]))
            except (KeyError, ValueError):
                values.append("" if place < len(first.values) else preset)
        return [*values, *run(*values)]

    event = {"concurrency_limit": 1, "concurrency_id": "page", "show_progress": "hidden"} | event
    started = demo.load(opened, None, [*fields, *area[:3], *outputs], api_visibility="private", **event)
    remember = _REMEMBER % (list(names), json.dumps(given), MAX_QUERY, _ADDRESS)
    for one in runs:
        one.then(None, list(fields), None, js=remember, api_visibility="private")
    for one in others:
        one.then(None, None, None, js=_FORGET, api_visibility="private")
    return started


def text(value: str) -> str:
    """Return a text of an address as it is."""
    return value


def number(low: float, high: float) -> Callable[[str], float]:
    """Return what reads a number of an address.

    >>> number(0, 1)("0.5")
    0.5
    """

    def read(value: str) -> float:
        found = float(value)
        if not low <= found <= high:
            raise ValueError(value)
        return int(found) if found.is_integer() else found

    return read


def flag(value: str) -> bool:
    """Return a truth value of an address."""
    return value == "true"


def python_code(template: str, **values: object) -> Markup:
    """Return code for Python with the visitor's inputs in it.

    Args:
        template: the code; `{name}` stands for `repr` of a value.
        **values: strings, numbers, lists.
    """
    code = template.format(**{name: repr(value) for name, value in values.items()})
    return look.html('<pre tabindex="0" aria-label="Code for Python"><code>{code}</code></pre>', code=code.strip())


def share_row() -> None:
    """Add the button that copies a link to what the page shows."""
    with gr.Row():
        button = gr.Button("Copy a link to this", size="sm", min_width=120)
        gr.HTML('<span class="copied"></span>', apply_default_css=False, js_on_load=clicks.LIVE)
    button.click(None, None, None, js=_COPY_LINK, api_visibility="private")


def card(metric: Path) -> None:
    """Add the metric's card, as the widget of `evaluate` shows it below a metric.

    Args:
        metric: folder with its README.md.
    """
    written = (metric / "README.md").read_text(encoding="utf-8")
    written = re.sub(r"\A---\n.*?\n---\n", "", written, flags=re.DOTALL)
    written = re.sub(r"^(#+ )", r"##\1", written, flags=re.MULTILINE)
    with gr.Accordion("Metric card: how to load it, what its numbers mean, limits", open=False):
        gr.Markdown(written, elem_classes="wide")


def namespace() -> str:
    """Return whose Space this is; NAME in a checkout."""
    return os.environ.get("SPACE_ID", "NAME/").split("/")[0]
