"""What a click does: it shows results or a message; long work shows its progress and can be stopped."""

import functools
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import gradio as gr
from gradio.processing_utils import move_files_to_cache
from markupsafe import Markup

from . import checks, html

STEP = 0.3  # seconds between two updates of long work
REPEAT = 3.0  # seconds after which an unchanged progress is sent again
ABANDONED = 20.0  # seconds without a reader after which long work stops
UNEXPECTED = "An error occurred on the server, not in your input. Please try again."
# The status is announced by screen readers. The address of the page follows it: results that can be linked carry their
# query, see `sharing.Demo`. In a Space the page lies in a frame, and the page around it is told.
LIVE = "element.setAttribute('role', 'status'); element.setAttribute('aria-live', 'polite');"
_STATUS = LIVE + html.script("status.js")
# Which result is of the inputs as they are now, see outdated.js.
_STARTED, _EDITED = "(_, ...values) => runStarted(++last, {}, values)", "(...values) => edited({}, values)"
SCROLL = html.script("scroll.js")  # shows the status if it is out of view


class NothingToScore(Exception):
    """The fields are empty; the page shows its hint."""


class Stopped(Exception):
    """The visitor stopped long work or left."""


class Area(NamedTuple):
    """Where results appear: a status, the results, and a button that stops long work.

    The status is always visible, so that screen readers notice its changes. `run` is the number of the run whose
    inputs are sent, which only the browser knows; `watched` are the inputs whose changes mark a result as out of date.
    """

    status: gr.HTML
    results: gr.Column
    stop: gr.Button
    hint: Markup
    run: gr.Number
    watched: set


def results_area(hint: str) -> Area:
    """Return an area that shows a hint; the caller fills `results`."""
    hint = html.fill('<p class="hint">Results appear here. {hint}</p>', hint=hint)
    status = gr.HTML(hint, elem_classes="status", apply_default_css=False, js_on_load=_STATUS)
    stop = gr.Button("Stop", visible=False, size="sm", variant="stop")
    run = gr.Number(visible=False, precision=0)
    return Area(status, gr.Column(visible=False, elem_classes="results"), stop, hint, run, set())


def ids(components: Sequence) -> list[int]:
    """Return what outdated.js calls components."""
    return [component._id for component in components]


STOPPED = html.fill('<p class="hint">Stopped.</p>')


def _updates(status: Markup, results: bool | None, running: bool = False) -> list:
    return [status, gr.skip() if results is None else gr.update(visible=results), gr.update(visible=running)]


def _outcome(function: Callable[[], list], area: Area, outputs: int, number: int | None = None) -> list:
    """Return what the page shows: a function's results with the number of their run, or why there are none."""
    try:
        status, *results = function()
        if number is not None:
            status += html.fill('<span hidden data-run="{number}"></span>', number=number)
        return [*_updates(status, True), *results]
    except (NothingToScore, Stopped) as reason:
        status = STOPPED if isinstance(reason, Stopped) else area.hint
    except Exception as error:
        if not isinstance(error, ValueError):
            traceback.print_exc()
        message = str(error)[: checks.MAX_MESSAGE] if isinstance(error, ValueError) else UNEXPECTED
        status = html.fill('<div class="problem"><b>Please check the input.</b> {message}</div>', message=message)
    return [*_updates(status, False), *[gr.skip()] * outputs]


def shown(function: Callable, area: Area, outputs: int) -> Callable:
    """Return a function of the number of its run, or None, and the inputs, whose outputs are what `connect` shows.

    `function` takes the inputs and returns a status (`Markup`) and results; it raises ValueError for bad input.
    """

    def run(number, *args):
        return _outcome(lambda: function(*args), area, outputs, number)

    return run


class LongWork:
    """Does what `shown` does for work that takes long: it shows its progress and can be stopped.

    `function` takes a function `tick(what, done, total)` before the inputs, and calls it often.
    """

    def __init__(self, function: Callable, area: Area, outputs: int):
        self.function, self.area, self.outputs = function, area, outputs
        self._running: dict[str | None, tuple[threading.Event, threading.Event]] = {}

    def run(self, request: gr.Request, number: int | None = None, *args) -> Iterator[list]:
        """Yield what the page shows until the work is done or stopped. Closing the generator stops the work.

        `number` is that of the run. Gradio's own `cancels` does not help: updates that are under way arrive after
        "Stopped." and stay.
        """
        session = request and request.session_hash
        finished, stopped = threading.Event(), threading.Event()
        looked, progress, outcomes = [time.monotonic()], ["Reading", 0, 0], []

        def tick(step: str, done: int, total: int) -> None:
            progress[:] = step, done, total
            if stopped.is_set() or time.monotonic() - looked[0] > ABANDONED:
                raise Stopped

        def work() -> None:
            outcomes.append(_outcome(lambda: self.function(tick, *args), self.area, self.outputs, number))
            finished.set()

        self._running[session] = finished, stopped
        threading.Thread(target=work, daemon=True).start()
        try:
            sent, when = None, 0.0
            while not finished.wait(STEP):
                looked[0] = time.monotonic()
                if sent != progress or looked[0] - when > REPEAT:
                    sent, when = progress.copy(), looked[0]
                    yield self._shown(_progress(*sent), running=True)
            yield self._shown(STOPPED) if stopped.is_set() else outcomes[0]
        finally:
            stopped.set()
            if self._running.get(session) == (finished, stopped):
                del self._running[session]

    def stop(self, request: gr.Request) -> None:
        """Stop the work of a visitor; the page shows it at once, the work ends at its next `tick`."""
        for event in self._running.get(request and request.session_hash, ()):
            event.set()

    def _shown(self, status: Markup, running: bool = False) -> list:
        """Return a status in place of a result; while work is running, the result before it stays, greyed."""
        return [*_updates(status, None if running else False, running), *[gr.skip()] * self.outputs]


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
    scroll: bool = True,
    **event,
):
    """Run a function when one of the triggers fires: one visitor at a time, the others see their place in the queue.

    A trigger that fires during a run starts another run after it, with the fields as they are then. A change of any
    input marks the result as out of date, see outdated.js. `triggers` are events, such as `button.click`, or an event
    to follow; `function` is that of `shown`, or `LongWork` if `long`. `scroll` shows the area, on a phone below the
    fields.
    """
    work = LongWork(function, area, len(outputs))
    run = work.run if long else shown(function, area, len(outputs))
    defaults = {"concurrency_limit": 1, "concurrency_id": "page", "show_progress_on": [area.status]}
    event = {**defaults, "trigger_mode": "always_last", "api_visibility": "private"} | event
    on = triggers.then if callable(getattr(triggers, "then", None)) else functools.partial(gr.on, triggers)
    if scroll:
        on(None, None, None, js=SCROLL, api_visibility="private")
    if new := [component for component in inputs if component not in area.watched]:
        area.watched.update(new)
        gr.on(
            [component.change for component in new],
            None,
            new,
            None,
            js=_EDITED.format(ids(new)),
            api_visibility="private",
        )
    event["js"] = _STARTED.format(ids(inputs))
    started = on(run, [area.run, *inputs], [*area[:3], *outputs], **event)
    if long:
        area.stop.click(work.stop, None, None, queue=False, api_visibility="private", trigger_mode="multiple")
    return started


def preset(area: Area, fields: Sequence, values: Sequence, outputs: Sequence, results: Sequence) -> None:
    """Show an example when the page opens: the values of its fields, and as results its status and the outputs.

    Without outputs the status is a message. Of an update (`gradio.update`) all properties are set.
    """
    area.results.visible = bool(outputs)
    for component, value in zip((*fields, area.status, *outputs), (*values, *results), strict=True):
        if isinstance(value, dict) and "__type__" in value:
            for name in value.keys() - {"__type__", "value", "visible"}:
                setattr(component, name, value[name])
            value = value.get("value")
        if isinstance(component, gr.DownloadButton):
            value = component.postprocess(value)
            value = move_files_to_cache(value, component, postprocess=True, keep_in_cache=True)
        component.value = value
