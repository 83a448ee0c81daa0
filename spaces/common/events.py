"""What a click does: it shows results or a message; long work shows its progress and can be stopped."""

import functools
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from typing import NamedTuple

import gradio as gr
from gradio.processing_utils import move_files_to_cache
from markupsafe import Markup

from . import checks, html

STEP = 0.3  # seconds between two updates of long work
REPEAT = 3.0  # seconds after which an unchanged progress is sent again
ABANDONED = 20.0  # seconds without a reader after which long work stops
UNEXPECTED = "An error occurred on the server, not in your input. Please try again."
SCROLL = html.script("scroll.js")  # shows the status if it is out of view
QUEUE = {"concurrency_limit": 1, "concurrency_id": "page", "api_visibility": "private"}


class Stopped(Exception):
    """The visitor stopped long work or left."""


class Area(NamedTuple):
    """Where results appear: a status, which screen readers announce, the results, a button that stops long work."""

    status: gr.HTML
    results: gr.Column
    stop: gr.Button


def results_area(hint: str, name: str = "form") -> Area:
    """Return an area that shows a hint; the caller fills `results`. `name` is the id of its status, see page.js."""
    hint = html.hint(f"Results appear here. {hint}")
    script = html.script("status.js")
    status = gr.HTML(hint, elem_id=name, elem_classes="status", apply_default_css=False, js_on_load=script)
    stop = gr.Button("Stop", visible=False, size="sm", variant="stop")
    return Area(status, gr.Column(visible=False, elem_classes="results"), stop)


STOPPED = html.hint("Stopped.")


def _updates(status: Markup, results: bool | None, running: bool = False) -> list:
    return [status, gr.skip() if results is None else gr.update(visible=results), gr.update(visible=running)]


def outcome(function: Callable[[], list], outputs: int) -> list:
    """Return what the page shows: a function's status and results, or why there are none."""
    try:
        status, *results = function()
        return [*_updates(status, True), *results]
    except Stopped:
        status = STOPPED
    except Exception as error:
        if not isinstance(error, ValueError):
            traceback.print_exc()
        message = str(error)[: checks.MAX_MESSAGE] if isinstance(error, ValueError) else UNEXPECTED
        status = html.fill('<div class="problem"><b>Please check the input.</b> {message}</div>', message=message)
    return [*_updates(status, False), *[gr.skip()] * outputs]


def ignore(step: str, done: int, total: int) -> None:
    """Show no progress."""


class LongWork:
    """Work that shows its progress and can be stopped: `function` calls `tick(step, done, total)` often."""

    def __init__(self, function: Callable, outputs: int):
        self.function, self.outputs = function, outputs
        self._stops: dict[str | None, threading.Event] = {}  # of visitors' sessions

    def run(self, request: gr.Request, *args) -> Iterator[list]:
        """Yield what the page shows until the work is done or stopped. Closing the generator stops the work.

        Gradio's own `cancels` does not help: updates that are under way arrive after "Stopped." and stay.
        """
        session, stopped = request and request.session_hash, threading.Event()
        looked, progress, unchanged = [time.monotonic()], ["Reading", 0, 0], [gr.skip()] * self.outputs

        def tick(step: str, done: int, total: int) -> None:
            progress[:] = step, done, total
            if stopped.is_set() or time.monotonic() - looked[0] > ABANDONED:
                raise Stopped

        work = functools.partial(outcome, lambda: self.function(tick, *args), self.outputs)
        self._stops[session], result = stopped, Future()
        threading.Thread(target=lambda: result.set_result(work()), daemon=True).start()
        try:
            sent, when = None, 0.0
            while not (stopped.is_set() or wait([result], STEP).done):
                looked[0] = time.monotonic()
                if sent != progress or looked[0] - when > REPEAT:
                    sent, when = progress.copy(), looked[0]
                    yield [*_updates(_progress(*sent), None, running=True), *unchanged]
            yield [*_updates(STOPPED, False), *unchanged] if stopped.is_set() else result.result()
        finally:
            stopped.set()
            if self._stops.get(session) is stopped:
                del self._stops[session]

    def stop(self, request: gr.Request) -> None:
        """Stop the work of a visitor; the page shows it at once, the work ends at its next `tick`."""
        if event := self._stops.get(request and request.session_hash):
            event.set()


def _progress(step: str, done: int, total: int) -> Markup:
    return html.fill(
        '<p class="hint">{step}{numbers} …</p><progress aria-label="{step}"{so_far}></progress>',
        step=step,
        numbers=f": {done:,} of {total:,}" if total else "",
        so_far=html.fill(' max="{total}" value="{done}"', total=total, done=done) if total else "",  # else it moves
    )


def connect(
    triggers: object,
    function: Callable,
    inputs: Sequence,
    area: Area,
    outputs: Sequence,
    *,
    long: bool = False,
    linked: bool = True,
    scroll: bool = True,
    **event,
):
    """Run a function when one of the triggers fires: one visitor at a time, the others see their place in the queue.

    `function` takes `tick`, see `LongWork`, and the inputs, and returns a status (`Markup`) and what the outputs show;
    it raises ValueError for bad input. `triggers` are events, such as `button.click`, or an event to follow. A trigger
    that fires during a run starts another run after it. `linked` results have an address; `scroll` shows the area.
    """
    work = LongWork(function, len(outputs))

    def run(*args) -> list:
        return outcome(functools.partial(function, ignore, *args), len(outputs))

    on = triggers.then if callable(getattr(triggers, "then", None)) else functools.partial(gr.on, triggers)
    if scroll:
        on(None, None, None, js=SCROLL, api_visibility="private")
    js = f"(...values) => started('{area.status.elem_id}', {len(inputs)}, {str(linked).lower()}, values)"
    event = {**QUEUE, "show_progress_on": [area.status], "trigger_mode": "always_last", "js": js} | event
    run = on(work.run if long else run, list(inputs), [*area, *outputs], **event)
    if long:
        area.stop.click(work.stop, None, None, queue=False, api_visibility="private", trigger_mode="multiple")
    return run


def preset(area: Area, fields: Sequence, entries: Sequence, outputs: Sequence, results: Sequence) -> None:
    """Show an example when the page opens: the entries of its fields, and as results its status and the outputs.

    Without outputs the status is a message. Of an update (`gradio.update`) all properties are set.
    """
    area.results.visible = bool(outputs)
    for component, shown in zip((*fields, area.status, *outputs), (*entries, *results), strict=True):
        if isinstance(shown, dict) and "__type__" in shown:
            for name in shown.keys() - {"__type__", "value", "visible"}:
                setattr(component, name, shown[name])
            shown = shown.get("value")
        if isinstance(component, gr.DownloadButton):
            shown = component.postprocess(shown)
            shown = move_files_to_cache(shown, component, postprocess=True, keep_in_cache=True)
        component.value = shown
