"""The page of `genqa-metrics label --web`: the same as in the terminal, with keys, for several raters."""

from collections.abc import Sequence
from pathlib import Path

from ..analysis.labelling import FORMS, OF_SETS, Session, Task, marked_words
from ..reports.table import render


def card(task: Task, sets: bool) -> str:
    """Return a task as HTML; words of the answer that are not in the nearest reference are marked."""
    pieces = [[(text, True)] if sets else marked_words(text, task.references) for text in task.answers]
    return str(render("label_card.html", task=task, answers=pieces, sets=sets))


class State:
    """Where a rater is; one of each browser.

    Args:
        output: the file of labels.
        tasks: what to label.
        form: a key of `FORMS`.
    """

    def __init__(self, output: Path, tasks: Sequence[Task], form: str):
        self.output, self.tasks, self.form = output, tasks, form
        self.session: Session | None = None
        self.skipped: list[str] = []
        self.values: dict[str, int] = {}
        self.task: Task | None = None

    def start(self, rater: str) -> tuple[str, str]:
        """Begin or resume the labels of a rater."""
        if not rater.strip():
            raise ValueError("Name: write who labels, so that the labels of several people are kept apart")
        self.session = Session(self.output, self.tasks, rater.strip(), self.form)
        self.skipped, self.values = [], {}
        return self.advance()

    def advance(self, task: Task | None = None) -> tuple[str, str]:
        """Go to a task, or to the next one without a label; return the card and what is asked."""
        assert self.session is not None
        self.task = task or self.session.next(self.skipped)
        return self.shown()

    def shown(self) -> tuple[str, str]:
        """Return the card and what is asked of it."""
        if self.session is None:
            return "", "Write your name to begin."
        done, total = len(self.session.done), len(self.tasks)
        if self.task is None:
            return "", f"All {total:,} rows are labelled. Thank you: you can close this page."
        name = self.waiting()
        asked = self.session.fields[name][0]
        return card(self.task, self.form in OF_SETS), f"**{done + 1:,} of {total:,}** · {name}: {asked}"

    def waiting(self) -> str:
        """Return the name of the value that is asked for next."""
        return next(name for name in FORMS[self.form] if name not in self.values)

    def press(self, value: int) -> tuple[str, str]:
        """Take a value; with the last one of a task the label is written."""
        if self.session is None or self.task is None:
            return self.shown()
        self.values[self.waiting()] = value
        if len(self.values) < len(FORMS[self.form]):
            return self.shown()
        self.session.label(self.task, **self.values)
        self.values = {}
        return self.advance()

    def skip(self) -> tuple[str, str]:
        """Leave a task for later."""
        if self.session is None or self.task is None:
            return self.shown()
        self.skipped, self.values = [*self.skipped, self.task.key], {}
        return self.advance()

    def undo(self) -> tuple[str, str]:
        """Take back the last value or label."""
        if self.session is None:
            return self.shown()
        if self.values:
            self.values.popitem()
            return self.shown()
        return self.advance(self.session.undo() or self.task)


def page(output: Path, tasks: Sequence[Task], form: str):
    """Return the page (`gradio.Blocks`).

    Args:
        output: the file of labels.
        tasks: what to label.
        form: a key of `FORMS`.

    Raises:
        ImportError: if gradio is not installed.
    """
    import os

    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
    try:
        import gradio as gr
    except ImportError as error:
        raise ImportError("--web needs gradio; run pip install 'genqa-metrics[spaces]'") from error
    Session(output, tasks, "", form)  # a file that cannot be resumed is reported before anybody labels
    states: dict[str, State] = {}

    def of(request) -> State:
        return states.setdefault(request.session_hash or "", State(output, tasks, form))

    low, high = next(iter(FORMS[form].values()))[1:]
    names = {0: "n wrong", 1: "y correct"} if (low, high) == (0, 1) else {n: str(n) for n in range(low, high + 1)}
    with gr.Blocks(title="Label answers", analytics_enabled=False) as blocks:
        with gr.Row():
            rater = gr.Textbox(label="Name", scale=4)
            begin = gr.Button("Begin or resume", variant="primary", scale=1)
        asked = gr.Markdown("Write your name to begin.", elem_id="asked")
        shown = gr.HTML(elem_id="task")
        with gr.Row():
            for value, name in names.items():
                button = gr.Button(name, elem_classes="key")

                def press(request: gr.Request, value=value):
                    return of(request).press(value)

                button.click(press, None, [shown, asked], api_name=False)
        with gr.Row():
            undo, skip = (gr.Button(name, elem_classes="key") for name in ("u undo", "s skip"))

        def start(name: str, request: gr.Request):
            try:
                return of(request).start(name)
            except ValueError as error:
                raise gr.Error(str(error)) from error

        def taken_back(request: gr.Request):
            return of(request).undo()

        def skipped(request: gr.Request):
            return of(request).skip()

        for event in (begin.click, rater.submit):
            event(start, rater, [shown, asked], api_name=False)
        undo.click(taken_back, None, [shown, asked], api_name=False)
        skip.click(skipped, None, [shown, asked], api_name=False)
    return blocks


def serve(output: Path, tasks: Sequence[Task], form: str, port: int | None, open_browser: bool) -> None:
    """Serve the page until it is stopped, to this machine alone unless GRADIO_SERVER_NAME says otherwise.

    Args:
        output: the file of labels.
        tasks: what to label.
        form: a key of `FORMS`.
        port: of the page; None for a free one from 7860 on.
        open_browser: open it in a browser.

    Raises:
        ImportError: if gradio is not installed.
        OSError: if the port is taken.
    """
    blocks = page(output, tasks, form)
    import gradio as gr

    fonts = ["system-ui", "Segoe UI", "Roboto", "sans-serif"]  # gradio's own come from the network
    blocks.launch(
        server_port=port,
        inbrowser=open_browser,
        theme=gr.themes.Default(primary_hue="blue", font=fonts, font_mono=["ui-monospace", "monospace"]).set(
            body_text_color_subdued="*neutral_600",  # gradio's grey is too pale to read
            body_text_color_subdued_dark="*neutral_300",
        ),
        css=str(render("label.css")),
        head=str(render("label_keys.html")),
        share=False,
        ssr_mode=False,
        footer_links=[],
    )
