"""What a click does: results or a message appear in their area; long work says how far it is, and can be stopped."""

import functools
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import common
import gradio as gr
import look
from gradio.processing_utils import move_files_to_cache
from markupsafe import Markup

STEP = 0.3  # seconds between two looks at long work
AGAIN = 3.0  # seconds after which the page is told again what it knows; a slow one drowns in more
ALONE = 20.0  # seconds after which long work that nobody looks at any more stops
UNEXPECTED = "Something went wrong here, not in your input. Please try again."


class Untouched(Exception):
    """There is nothing to score yet; the page says what to do."""


class Stopped(Exception):
    """The visitor stopped long work, or is gone."""


class Area(NamedTuple):
    """Where results appear: what is said of them, the results, and a button that stops long work.

    The status is always there, so that screen readers notice when it changes.
    """

    status: gr.HTML
    results: gr.Column
    stop: gr.Button
    hint: Markup


def results_area(hint: str) -> Area:
    """Return an area that shows a hint of ours; the caller fills `results`."""
    hint = look.html('<p class="hint">Results appear here. {hint}</p>', hint=hint)
    status = gr.HTML(hint, elem_classes="status", apply_default_css=False, js_on_load=LIVE)
    stop = gr.Button("Stop", visible=False, size="sm", variant="stop")
    return Area(status, gr.Column(visible=False), stop, hint)


STOPPED = look.html('<p class="hint">Stopped.</p>')
LIVE = "element.setAttribute('role', 'status'); element.setAttribute('aria-live', 'polite')"
_SCROLL = """() => { for (const status of document.querySelectorAll('.status')) {
  const box = status.getBoundingClientRect();
  if (box.width && (box.top < 0 || box.top > innerHeight - 160)) status.scrollIntoView({block: 'start'}); } }"""


def _said(area: Area, status: Markup, results: bool, running: bool = False) -> list:
    return [status, gr.update(visible=results), gr.update(visible=running)]


def _problem(message: str) -> Markup:
    return look.html('<div class="problem"><b>Please check the input.</b> {message}</div>', message=message)


def _outcome(function: Callable[[], list], area: Area, outputs: int) -> list:
    """Return what the page shows of a function's results, or of why there are none."""
    try:
        status, *results = function()
    except Untouched:
        return [*_said(area, area.hint, False), *[gr.skip()] * outputs]
    except Stopped:
        return [*_said(area, STOPPED, False), *[gr.skip()] * outputs]
    except ValueError as error:
        message = str(error)[: common.MAX_MESSAGE]
    except Exception:
        traceback.print_exc()
        message = UNEXPECTED
    else:
        return [*_said(area, status, True), *results]
    return [*_said(area, _problem(message), False), *[gr.skip()] * outputs]


def shown(function: Callable, area: Area, outputs: int) -> Callable:
    """Return a function whose outputs are status, results' column and stop button of an `Area`, and the results.

    Args:
        function: from inputs to what is said (HTML of ours) and a list of results; raises ValueError if input is bad.
        area: where it is shown.
        outputs: number of results.
    """

    @functools.wraps(function)
    def run(*args):
        return _outcome(lambda: function(*args), area, outputs)

    return run


class LongWork:
    """Does what `shown` does for work that takes long: it says how far it is, and stops when it is told to.

    Args:
        function: takes a function `tick(what, done, of_all)` before the inputs, and calls it often.
        area: where it is shown.
        outputs: number of results.
    """

    def __init__(self, function: Callable, area: Area, outputs: int):
        self.function, self.area, self.outputs = function, area, outputs
        self._news: dict[str | None, tuple[threading.Event, threading.Event]] = {}

    def run(self, request: gr.Request, *args) -> Iterator[list]:
        """Yield what the page shows, until the work is done, or stopped; closed, as when a visitor is gone, it stops.

        Gradio's own `cancels` is no use: what is on its way to the page then comes after "Stopped.", and stays.
        """
        session = request and request.session_hash
        news, stopped = threading.Event(), threading.Event()
        looked, progress, found = [time.monotonic()], ["Reading", 0, 0], []

        def tick(what: str, so_far: int, of_all: int) -> None:
            progress[:] = what, so_far, of_all
            if stopped.is_set() or time.monotonic() - looked[0] > ALONE:
                raise Stopped

        def work() -> None:
            found.append(_outcome(lambda: self.function(tick, *args), self.area, self.outputs))
            news.set()

        self._news[session] = news, stopped
        threading.Thread(target=work, daemon=True).start()
        try:
            told, when = None, 0.0
            while not news.wait(STEP):
                looked[0] = time.monotonic()
                if told != progress or looked[0] - when > AGAIN:
                    told, when = progress.copy(), looked[0]
                    yield self._shown(_progress(*told), running=True)
            yield self._shown(STOPPED) if stopped.is_set() else found[0]
        finally:
            stopped.set()
            if self._news.get(session) == (news, stopped):
                del self._news[session]

    def stop(self, request: gr.Request) -> None:
        """Stop the work of a visitor; what ran is over within a `tick`, and the page says so at once."""
        for event in self._news.get(request and request.session_hash, ()):
            event.set()

    def _shown(self, status: Markup, running: bool = False) -> list:
        return [*_said(self.area, status, False, running), *[gr.skip()] * self.outputs]


def _progress(what: str, so_far: int, of_all: int) -> Markup:
    return look.html(
        '<p class="hint">{what}{numbers} …</p><progress aria-label="{what}" max="{of}" value="{done}"></progress>',
        what=what,
        numbers=f": {so_far:,} of {of_all:,}" if of_all else "",
        of=of_all or 1,
        done=so_far,
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
    """Run a function when one of the triggers fires; one visitor at a time, the others see their place.

    Args:
        triggers: events, such as `button.click`, or what happened before.
        function: see `shown`, or `LongWork` if it takes long.
        inputs: components.
        area: where it is said what was found, or what is wrong.
        outputs: components in `area.results`, one per result.
        long: see `LongWork`.
        scroll: bring the area into view; on a phone it is below what is filled in.
        **event: other arguments of the event.

    Returns:
        The event, for what comes after it.
    """
    work = LongWork(function, area, len(outputs))
    run = work.run if long else shown(function, area, len(outputs))
    event = {"concurrency_limit": 1, "concurrency_id": "page", "show_progress_on": [area.status]} | event
    on = triggers.then if callable(getattr(triggers, "then", None)) else functools.partial(gr.on, triggers)
    if scroll:
        on(None, None, None, js=_SCROLL, api_visibility="private")
    started = on(run, inputs, [*area[:3], *outputs], api_visibility="private", **event)
    if long:
        area.stop.click(work.stop, None, None, queue=False, api_visibility="private")
    return started


def preset(area: Area, fields: Sequence, values: Sequence, outputs: Sequence, results: Sequence) -> None:
    """Make an example what the page shows before anybody has done anything.

    Args:
        area: where its results appear.
        fields: what is filled in.
        values: what with.
        outputs: components in `area.results`.
        results: what is said of the example, and what `outputs` show.
    """
    area.results.visible = True
    for component, value in zip((*fields, area.status, *outputs), (*values, *results), strict=True):
        if isinstance(component, gr.DownloadButton):
            value = component.postprocess(value)
            value = move_files_to_cache(value, component, postprocess=True, keep_in_cache=True)
        component.value = value
