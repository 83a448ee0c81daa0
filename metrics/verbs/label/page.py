"""The page of `genqa-metrics label --web`: guidelines, keys, comments, and a second pass over disagreements."""

import hmac
import secrets
import socket
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlencode

from ...reports.report import as_sentence
from ...reports.table import markdown, markdown_code, render
from .guard import Guard, only_here
from .labelling import FORMS, Session, Task, marked_words, position

MOST_BROWSERS = 1_000  # whose places are kept; of more the one that came first writes its name again
MOST_COMMENT = 1_000  # characters


def card(task: Task, others: Sequence[dict] = (), rater: str = "") -> str:
    """Return a task as HTML: words that only answer or reference has are underlined; in the second pass all labels."""
    answer, references = marked_words(task.answer, task.references)
    labels = [
        ("you" if row["rater"] == rater else row["rater"], _in_words(row), row.get("comment", "")) for row in others
    ]
    return str(render("label_card.html", task=task, answer=answer, references=references, labels=labels))


def _in_words(row: dict) -> str:
    return ("right" if row["label"] else "wrong") if "label" in row else f"score {row['score']}"


class RaterLinks:
    """Links for a page that other machines can reach: a secret token for each rater, made when the page starts."""

    def __init__(self, raters: Iterable[str]):
        self.tokens = {name: secrets.token_urlsafe(16) for name in raters}

    def check(self, rater: str, query: Mapping[str, str]) -> None:
        """Refuse a name whose token is not in the query of the link that was opened."""
        token = self.tokens.get(rater, "")
        if not token or not hmac.compare_digest(token.encode(), str(query.get("token", "")).encode()):
            raise ValueError("Name: it belongs to another link; open the link that you were given")

    def links(self, host: str, port: int) -> list[str]:
        """Return the link of every rater; a page at all addresses of this machine is linked by the machine's name.

        >>> made = RaterLinks(["Ann Lee"])
        >>> made.tokens["Ann Lee"] = "x"
        >>> made.links("10.0.0.7", 7860)
        ['http://10.0.0.7:7860/?rater=Ann+Lee&token=x']
        """
        host = socket.gethostname() if host in ("0.0.0.0", "::", "") else host
        queries = (urlencode({"rater": name, "token": token}) for name, token in self.tokens.items())
        return [f"http://{host}:{port}/?{query}" for query in queries]


class State:
    """Where a rater is; one of each browser.

    `query` has what the link has behind its question mark; `then` is the command that uses the labels; for `rule` see
    `Session`.
    """

    def __init__(
        self,
        output: Path,
        tasks: Sequence[Task],
        form: str,
        links: RaterLinks | None = None,
        rule=None,
        then: str = "",
    ):
        self.output, self.tasks, self.form, self.links, self.rule = output, tasks, form, links, rule
        self.then = then
        self.query: dict[str, str] = {}
        self.session: Session | None = None
        self.task: Task | None = None
        self.others: list[dict] = []  # the labels of all raters, in the second pass
        self.left = 0  # disagreements in it
        self.kept: list[Task] = []  # whose labels the rows have
        self._begin(second_pass=False)

    def _begin(self, second_pass: bool) -> None:
        self.skipped: list[str] = []
        self.before: list[list[str] | None] = []  # of every skip what was skipped before it, None of a label
        self.second_pass = second_pass
        if self.session is not None:
            self.advance()

    def start(self, rater: str) -> None:
        """Begin or resume the labels of a rater."""
        if not rater.strip():
            raise ValueError("Name: write who labels, so that the labels of several people are kept apart")
        if self.links is not None:
            self.links.check(rater.strip(), self.query)
        self.session = Session(self.output, self.tasks, rater.strip(), self.form, self.rule)
        self.kept = self.session.keep_labels_of_rows()
        self._begin(second_pass=False)

    def settle(self) -> None:
        """Begin the second pass: rows that another rater labels differently, with everybody's labels."""
        self._begin(second_pass=True)

    def advance(self, task: Task | None = None) -> None:
        """Go to a task, or to the next one."""
        if self.second_pass:
            left = self.session.disagreements()
            first = min(left, key=lambda pair: position(pair[0], self.skipped), default=(None, []))
            self.left, (self.task, self.others) = len(left), first
        else:
            self.task, self.others = task or self.session.next(self.skipped), []

    def shown(self) -> tuple[str, str]:
        """Return the card of the current task as HTML, and the question that the rater answers."""
        if self.session is None:
            return "", "Write your name to begin."
        if self.task is None:
            finished = ". ".join(self.session.outcomes()) or f"All {len(self.tasks):,} answers are labelled."
            finished = "You have looked at all disagreements." if self.second_pass else markdown(finished)
            then = f" Next, in the terminal: {markdown_code(self.then)}" * bool(self.then)
            return "", f"{finished} Thank you: you can close this page.{then}"
        where = f"{len(self.session.done) + 1:,} of {self.session.total}"
        if self.second_pass:
            where = f"Second pass, {self.left:,} left: keep your label or change it"
        return card(self.task, self.others, self.session.rater), f"**{where}** · {self.session.form.question}"

    def press(self, grade: int, comment: str = "") -> None:
        """Write a label and go to the next task."""
        if self.task is None:
            return
        if len(comment) > MOST_COMMENT:
            raise ValueError(f"Comment: {len(comment):,} characters are too many; the limit is {MOST_COMMENT:,}")
        self.session.label(self.task, grade, comment=comment, second_pass=self.second_pass)
        self.before.append(None)
        self.advance()

    def skip(self) -> None:
        """Leave a task for later."""
        if self.task is not None:
            self.before.append(self.skipped)
            self.skipped = [*(key for key in self.skipped if key != self.task.key), self.task.key]
            self.advance()

    def undo(self) -> None:
        """Take back the last skip or label; not in the second pass, so that no label is lost."""
        if self.session is None or self.second_pass:
            return
        before = self.before.pop() if self.before else None
        if before is None:
            self.advance(self.session.undo() or self.task)
        else:
            key, self.skipped = self.skipped[-1], before
            self.advance(next(task for task in self.tasks if task.key == key))

    def undone(self) -> str:
        """Return what `undo` takes back, in words."""
        if self.before and self.before[-1] is not None:
            return "the skip"
        done = self.session.done if self.session is not None else {}
        return f"the last label ({_in_words([*done.values()][-1])})" if done else "the last label"

    def progress(self) -> str:
        """Return how far the rater is and how far raters agree, as HTML; empty before the name is known."""
        if self.session is None:
            return ""
        counts = {"done": len(self.session.done), "total": len(self.tasks), "agreement": self.session.agreement()}
        return str(render("label_progress.html", **counts))

    def disagreements(self) -> int:
        """Return the number of answers for the second pass; 0 until all are labelled."""
        if self.session is None or self.session.next() is not None or (self.second_pass and self.task):
            return 0
        return len(self.session.disagreements())


def page(output: Path, tasks: Sequence[Task], form: str, links: RaterLinks | None = None, rule=None, then: str = ""):
    """Return the page (`gradio.Blocks`); with `links` a name needs its link; for `rule` and `then` see `State`."""
    import os

    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
    try:
        import gradio as gr
    except ImportError as error:
        raise ImportError("--web needs gradio; run pip install 'genqa-metrics[spaces]'") from error
    Session(output, tasks, "", form)  # a file that cannot be resumed is reported before anybody labels
    states: dict[str, State] = {}

    def of(request) -> State:
        state = states.setdefault(request.session_hash or "", State(output, tasks, form, links, rule, then))
        state.query = dict(request.query_params)
        if len(states) > MOST_BROWSERS:
            del states[next(iter(states))]
        return state

    def named(request: gr.Request):
        """Return the name in the link; without one, what somebody has typed by now stays."""
        return dict(request.query_params).get("rater") or gr.skip()

    grades = range(FORMS[form].low, FORMS[form].high + 1)
    names = {1: "y · right", 0: "n · wrong"} if form == "verdict" else {grade: str(grade) for grade in grades}
    title = "Label answers"
    with gr.Blocks(title=title, analytics_enabled=False) as blocks:
        gr.Markdown(f"# {title}")
        with gr.Accordion("Guidelines", open=True) as guidelines:
            gr.Markdown(str(render(f"label_{form}.md")))
        with gr.Row() as naming:
            rater = gr.Textbox(label="Name", info="Labels of several people are kept apart by it.", scale=4)
            begin = gr.Button("Begin or resume", variant="primary", scale=1)
        progress = gr.HTML()
        asked = gr.Markdown("Write your name to begin.", elem_id="asked")
        shown = gr.HTML(elem_id="task")
        with gr.Column(visible=False) as answering:
            with gr.Row():
                grade_buttons = [(gr.Button(name, elem_classes="key"), grade) for grade, name in names.items()]
            info = "Optional; saved with the label."
            comment = gr.Textbox(label="Comment (c)", info=info, elem_id="comment", max_lines=3)
        settle = gr.Button("", variant="primary", visible=False)
        with gr.Row():
            skip = gr.Button("s · skip for now", elem_classes="key", size="sm", visible=False)
            undo = gr.Button("u · undo the last label", elem_classes="key", size="sm", visible=False)
        outputs = [shown, asked, progress, answering, skip, undo, settle, comment, naming, guidelines]

        def view(state: State, starts: bool, problem: str) -> list:
            """Return the values of all outputs; from the start on guidelines are open when a rater opens them."""
            begun, differ = state.session is not None, state.disagreements()
            task, question = state.shown()
            more = f"{differ:,} answers are labelled differently by another rater: look at them again"
            return [
                task,
                f"**{markdown(as_sentence(problem))}** {question}" if problem else question,
                state.progress(),
                *[gr.update(visible=state.task is not None)] * 2,
                gr.update(visible=begun and not state.second_pass, value=f"u · undo {state.undone()}"),
                gr.update(visible=differ > 0, value=more if differ != 1 else more.replace("answers are", "answer is")),
                gr.skip() if problem else "",
                gr.update(visible=not begun),
                gr.update(open=False) if starts else gr.skip(),
            ]

        def connect(event, change, box=comment) -> None:
            """Run a change of a rater's state at an event, with what a box holds; a ValueError is a message."""

            def run(written: str | None, request: gr.Request):
                state, problem = of(request), ""
                try:
                    change(state, written or "")
                except ValueError as error:  # as `gradio.Error` it would hide the fields until it is closed
                    problem = str(error)
                return view(state, change is State.start and not problem, problem)

            # "multiple": or gradio drops clicks that come before it has closed the last event; label_keys.html guards.
            event(run, box, outputs, api_name=False, trigger_mode="multiple")

        for event in (begin.click, rater.submit):
            connect(event, State.start, rater)
        for button, grade in grade_buttons:
            connect(button.click, lambda state, written, grade=grade: state.press(grade, written))
        for button, change in ((undo, State.undo), (skip, State.skip), (settle, State.settle)):
            connect(button.click, lambda state, _, change=change: change(state))
        blocks.load(named, None, rater, api_name=False)
    return blocks


def serve(
    output: Path,
    tasks: Sequence[Task],
    form: str,
    port: int | None,
    open_browser: bool,
    raters: Sequence[str] = (),
    rule=None,
    then: str = "",
) -> None:
    """Serve the page until it is stopped, to this machine alone unless GRADIO_SERVER_NAME says otherwise.

    Where other machines can reach it, every rater has a link, which is printed, and no name can be used without it.
    `port`: None for a free one from 7860 on.
    """
    links = None if only_here() else RaterLinks(raters)
    blocks = page(output, tasks, form, links, rule, then)
    import gradio as gr
    from starlette.middleware import Middleware

    fonts = ["system-ui", "-apple-system", "Segoe UI", "Roboto", "sans-serif"]  # gradio's own come from the network
    blocks.launch(
        server_port=port,
        inbrowser=open_browser,
        theme=gr.themes.Default(primary_hue="blue", font=fonts, font_mono=["ui-monospace", "monospace"]).set(
            body_text_color_subdued="*neutral_600",  # gradio's greys are too pale to read
            body_text_color_subdued_dark="*neutral_300",
            block_info_text_color="*neutral_600",
            block_info_text_color_dark="*neutral_300",
            block_title_text_color="*neutral_700",
            button_primary_background_fill="*primary_700",
            button_primary_background_fill_hover="*primary_800",
            button_primary_background_fill_dark="*primary_700",
        ),
        css=str(render("label.css")),
        head=str(render("label_keys.html")),
        share=False,
        ssr_mode=False,
        footer_links=[],
        app_kwargs={"middleware": [Middleware(Guard, uploads=0)]},
        prevent_thread_lock=True,
    )
    for link in [] if links is None else links.links(blocks.server_name, blocks.server_port):
        print(link, flush=True)
    blocks.block_thread()
