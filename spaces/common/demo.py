"""The factory of demos: a description of fields, results and files becomes a page with examples and links."""

import functools
import inspect
import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from math import inf
from pathlib import Path
from typing import NamedTuple

import gradio as gr
from markupsafe import Markup

from . import checks, events, html, server, uploads

REPOSITORY = "https://github.com/genqa-metrics/genqa-metrics"
DEMOS = ("home", "compare", "ava", "grounding", "kpqa", "aev", "f_meta")
CARD = "Metric card: how to load it, what its numbers mean, limits"
KINDS = {bool: "true or false", int | float: "a number", str: "a text"}  # of values of controls


class Text(NamedTuple):
    """A field for a text, or for several."""

    label: str
    info: str | None = None
    placeholder: str | None = None
    lines: int = 1
    grows_to: int = 8  # lines
    separator: str = ""  # a pattern between texts; "" for one text
    most: int = checks.MAX_REFERENCES  # texts
    limit: int = checks.MAX_TEXT  # characters of a text
    required: bool = True

    def component(self, **options) -> gr.Textbox:
        """Return the field, not rendered yet."""
        texts = {"label": self.label, "info": self.info, "placeholder": self.placeholder}
        return gr.Textbox(lines=self.lines, max_lines=self.grows_to, render=False, **texts, **options)

    def checked(self, entry: object, name: str) -> str | list[str]:
        """Return the text, or the list of texts; a `Problem` names the field as `name`."""
        if self.separator:
            return checks.texts(name, entry, self.most, self.limit, self.separator)
        return checks.text(name, entry, self.limit, self.required)


class Result(NamedTuple):
    """What a page shows for the entries of its form, and what a program gets."""

    scores: dict  # for programs
    sentences: Sequence[str]  # the first is the headline
    outputs: Sequence  # of the components of the results
    code: Markup  # for Python
    after: Markup = Markup()  # behind the sentences


class Example(NamedTuple):
    """An example to try."""

    label: str  # text of its button
    note: str  # what the example shows
    entries: tuple  # of all fields, in their order


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


def card_of(metric: str) -> str:
    """Return the card of a metric in Markdown for a page: smaller headings, links to the repository."""
    card = resources.files(f"genqa_metrics.{metric}").joinpath("README.md").read_text(encoding="utf-8")
    card = re.sub(r"\A---\n.*?\n---\n", "", card, flags=re.DOTALL)
    card = re.sub(r"^(#+ )", r"##\1", card, flags=re.MULTILINE)
    card = re.sub(r"\]\((?!\w+:|#)", f"]({REPOSITORY}/blob/main/metrics/{metric}/", card)  # files beside the card
    return re.sub(r"`(training/[\w./]+)`", rf"[`\1`]({REPOSITORY}/tree/main/\1)", card)


class Demo:
    """The page of a demo, made of the files beside `app`: demo.toml, intro.md, about.md, an example file.

    `name` is that of its metric, or another of `DEMOS`. demo.toml has texts of the page, in `file` those of the tab
    for a file, the fields, see `Text`, and examples; the page opens with the first one. `show` takes the checked
    entries of the fields and the values of `controls`, components that are not rendered yet, and returns a `Result`.
    `endpoint` is the function for programs, with an argument for each of these. `results` adds the components of the
    outputs, and the controls where they are not `controls_in_form`; default: one for HTML. Of a file, `file_controls`
    returns further fields, and `settings` makes the settings of the metric of their values.
    """

    long = False  # whether work shows its progress

    def __init__(
        self,
        app: str,
        name: str,
        show: Callable[..., Result],
        endpoint: Callable[..., dict],
        *,
        fields: Sequence[Text] = (),
        controls: Sequence[gr.components.FormComponent] = (),
        controls_in_form: bool = True,
        results: Callable[[], list] | None = None,
        file_controls: Callable[[], list] = list,
        settings: Callable[..., Mapping] = dict,
    ):
        self.app, self.name, self.show, self.settings, self.file_controls = app, name, show, settings, file_controls
        self.controls, self.controls_in_form, self.results = controls, controls_in_form, results or plain_outputs
        self.arguments = list(inspect.signature(endpoint).parameters)
        self.description = tomllib.loads(html.text_beside(app, "demo.toml"))
        self.fields = fields or [Text(**field) for field in self.description["field"]]
        defaults = tuple(control.value for control in controls)
        examples = [list(each.values()) for each in self.description["example"]]
        self.examples = [Example(label, note, (*entries, *defaults)) for label, note, *entries in examples]
        self.first, self.example_file = self.examples[0].entries, next(Path(app).parent.glob("example.[cj]s*"), None)
        with gr.Blocks(title=self.description["title"], delete_cache=server.DELETE_CACHE) as self.page:
            gr.Markdown(f"# {self.page.title}\n{html.text_beside(app, 'intro.md')}")
            gr.Markdown(links(name), elem_classes="note")
            self.texts = [field.component() for field in self.fields]
            self.inputs = [*self.texts, *controls]
            self.layout()
            server.endpoint(endpoint, self.example_arguments())

    def layout(self) -> None:
        """Add the form, the tab for a file, and the background."""
        if "file" not in self.description:
            return self.add_form()
        with gr.Tabs(overflow_behavior="wrap"):
            with gr.Tab(self.description.get("tab", "One answer")):
                self.add_form()
            with gr.Tab(self.description["file"]["title"]):
                self.add_file()
        background = self.description["background"], html.text_beside(self.app, "about.md")
        for name, text in (background, (CARD, card_of(self.name))):
            with gr.Accordion(name, open=False):
                gr.Markdown(text, elem_classes="wide")

    def add_form(self) -> None:
        """Add the fields, a button and the examples at one side, and the results at the other."""
        with gr.Row(elem_classes="two-sides"):
            with gr.Column(min_width=280):
                for component in self.inputs if self.controls_in_form else self.texts:
                    component.render()
                run = gr.Button(self.description.get("button", "Score the answer"), variant="primary")
                examples = gr.Column()
            with gr.Column(min_width=280):
                hint = "Fill in the fields, or choose an example."
                area = events.results_area(self.description.get("hint", hint))
                with area.results:
                    outputs = [*self.results(), link_and_code()]
        single = [text.submit for text, field in zip(self.texts, self.fields, strict=True) if field.lines == 1]
        self.connect([run.click, *single], area, outputs, examples)

    def connect(self, triggers: object, area: events.Area, outputs: list, examples: gr.Column) -> list:
        """Show results in an area after a trigger, a click on an example, or when a link opens the page.

        Returns these events.
        """
        self.area, self.outputs = area, outputs
        connect = functools.partial(events.connect, long=self.long)
        clicked = connect(triggers, self.scored, self.inputs, area, outputs)
        chosen = connect(self._example_buttons(examples), self.scored, self.inputs, area, outputs)
        return [clicked, chosen, self._open_links()]

    def _example_buttons(self, column: gr.Column):
        texts = [list(example.entries[: len(self.texts)]) for example in self.examples]
        labels = [example.label for example in self.examples]
        shown = {"samples_per_page": len(texts), "label": "Examples: a click fills in and scores"}
        with column:
            buttons = gr.Dataset(components=self.texts, samples=texts, sample_labels=labels, type="index", **shown)
        # The browser fills in: gradio.Examples asks the server, and drops a click that comes before it has answered.
        fill_in = f"number => {json.dumps(texts)}[number]"
        return buttons.click(None, buttons, self.texts, js=fill_in, api_visibility="private")

    def _open_links(self):
        """Show what the link says when the page opens."""
        entries = gr.JSON(visible=False)  # only the browser knows them
        shown = [*self.inputs, *self.area, *self.outputs]

        def opened(entries: list | None) -> list:
            if not isinstance(entries, list) or len(entries) != len(self.inputs):
                return [gr.skip()] * len(shown)
            score = functools.partial(self.scored, events.ignore, *entries)
            return [*entries, *events.outcome(score, len(self.outputs))]

        started = self.page.load(opened, entries, shown, js="() => unpacked()", show_progress="hidden", **events.QUEUE)
        visible = "() => document.documentElement.classList.remove('opening')"
        started.then(None, None, None, js=visible, api_visibility="private")
        return started

    def example_arguments(self) -> list:
        """Return values of the arguments of the endpoint, those that the page opens with."""
        split = [bool(field.separator) for field in self.fields] + [False] * len(self.controls)
        return [entry.splitlines() if lines else entry for lines, entry in zip(split, self.first, strict=True)]

    def score(self, *entries: object) -> dict:
        """Return what programs get for the entries of all fields and controls."""
        return self.show(*self.checked(entries, self.arguments)).scores

    def checked(self, entries: Sequence, names: Sequence[str]) -> list:
        """Return the checked texts and values of controls; a `Problem` calls them by their names."""
        texts = [field.checked(*pair) for field, *pair in zip(self.fields, entries, names, strict=False)]
        chosen = entries[len(texts) :]
        for name, control, entry in zip(names[len(texts) :], self.controls, chosen, strict=True):
            kind = next(kind for kind in KINDS if isinstance(control.value, kind))
            if not isinstance(entry, kind) or isinstance(entry, bool) != isinstance(control.value, bool):
                got = "null" if entry is None else type(entry).__name__
                raise checks.Problem(f"{name}: expected {KINDS[kind]}, got {got}.")
        return [*texts, *chosen]

    def scored(self, tick: Callable, *entries: object) -> list:
        """Return the status of a result, its outputs and its code, for the entries of the form."""
        names = [field.label for field in self.fields] + [control.label for control in self.controls]
        result = self.show(*self.checked(entries, names))
        status = html.headline(*result.sentences, self.note(entries)) + result.after
        return [status, *result.outputs, result.code]

    def note(self, entries: Sequence) -> str:
        """Return the note of the example with these entries; "" for others."""
        return next((example.note for example in self.examples if example.entries == tuple(entries)), "")

    def add_file(self) -> None:
        """Add a field for a file, menus of its columns, and the report of `genqa-metrics score`."""
        self.upload, preview = uploads.picker(self.description["file"], self.example_file)
        for control in (controls := self.file_controls()):
            control.render()
        button = gr.Button("Score the file", variant="primary")
        preview.render()
        area = events.results_area("Choose a file, or use the example.", "file")
        with area.results:
            outputs = [*plain_outputs(1), *uploads.downloads("All scores (CSV)", "Report (HTML)")]
        inputs = [*self.upload, *controls]  # files have a queue of their own: one answer waits for no file
        shown = {"long": True, "linked": False, "concurrency_id": "file"}
        events.connect([button.click], self.scored_file, inputs, area, outputs, **shown)

    def scored_file(self, tick: Callable, path: str | None, *entries: object) -> list:
        """Return what the page shows for a file, of the values of the menus of its columns and further fields."""
        columns = self.description["file"]["columns"]
        settings = self.settings(*entries[len(columns) :])
        upload = uploads.read(path, dict(zip(columns, entries, strict=False)), self.name)
        scores = str(uploads.new_path("scores.csv"))
        report = uploads.scored(tick, upload.rows, self.name, settings, scores)
        sentences = [*report.findings[:1], report.headline.removesuffix(".") + "."]  # the report has all findings
        status = html.headline(*(text.replace("`", "") for text in sentences)) + upload.problems_html()
        page = report.to_html()
        frame = html.frame("Report", page, "embedded headed")
        return [status, frame, scores, uploads.saved("report.html", page)]

    def launch(self) -> None:
        """Serve the page, which opens with the result of the first example; so the models are loaded."""
        try:
            events.preset(self.area, self.inputs, self.first, self.outputs, self.scored(events.ignore, *self.first))
        except checks.Problem as problem:  # the judge must be fetched
            message = html.fill('<div class="problem">{message}</div>', message=problem)
            events.preset(self.area, self.inputs, self.first, (), [message])
        empty = [*[""] * len(self.texts), *self.first[len(self.texts) :]]
        server.launch(self.page, self.app, self.description["about"], self.first, empty)


def plain_outputs(number: int = 1) -> list[gr.HTML]:
    """Add components that show HTML as it is."""
    return [gr.HTML(apply_default_css=False) for _ in range(number)]


def metric_code(name: str, checkpoint: str = "small", default: str = "small", **arguments: object) -> Markup:
    """Return Python code that scores the visitor's inputs, the arguments of `compute`, with a metric.

    The metric's `default` checkpoint is left out.
    """
    written = {name: "float('inf')" if argument == inf else repr(argument) for name, argument in arguments.items()}
    lines = "".join(f"    {name}={text},\n" for name, text in written.items())
    more = f", checkpoint={checkpoint!r}" if checkpoint != default else ""
    load = f'import evaluate\n\n{name} = evaluate.load("metrics/{name}"{more})\n'
    return html.python(f"{load}results = {name}.compute(\n{lines})\nprint(results)")


def link_and_code() -> gr.HTML:
    """Add the button that copies a link to the result, and return the component for the Python code."""
    live = "element.setAttribute('role', 'status'); element.setAttribute('aria-live', 'polite');"
    with gr.Row():
        button = gr.Button("Copy a link to this", size="sm", min_width=120)
        gr.HTML('<span class="copied"></span>', apply_default_css=False, js_on_load=live)
    button.click(None, None, None, js=html.script("copy_link.js"), api_visibility="private")
    with gr.Accordion("Python code for this", open=False):
        return gr.HTML(apply_default_css=False, elem_classes="python")
