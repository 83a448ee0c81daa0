"""The command `label`: people say which answers are right, in a terminal or on a page."""

import getpass
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import typer

from ... import terminal
from ...registry import JUDGE
from .guard import only_here

UNDO, SKIP, QUIT = "u", "s", "q"
VERDICTS = {"y": 1, "n": 0, "1": 1, "0": 0}
_FORM = "verdict: right or wrong. grade: how right, 1 to 5 (`agree` takes the mean of several raters)."
_SHARE = "Share of the answers drawn at random; the others are drawn by how unsure the judge is."
_UNTIL = (
    "Label until the accuracy is shown to be at least 0.75, or below (low=0.75), or until it is shown which of two "
    "systems is better (decided). Answers come in random order, and at most 5% of decisions are wrong although the "
    "rule looks after every label. --number and --uniform-share do not count then."
)
_RATER = "Who labels. Default: your user name. With --web several names with commas between them."
_WEB = (
    "A page in the browser instead of the terminal, where raters enter their names. For raters on other machines set "
    "GRADIO_SERVER_NAME=0.0.0.0 and name them with --rater: each gets a link, and no name works without it."
)


def label(
    inputs: terminal.inputs("ROWS", "Files as for `score`."),
    output: terminal.option(
        Path, "--output", "-o", metavar="FILE.jsonl", help="File for the labels. If it exists, labelling continues."
    ),
    set_: terminal.SetOfAva = None,
    column: terminal.Column = None,
    from_: terminal.From = None,
    systems: terminal.Systems = None,
    encoding: terminal.Encoding = None,
    rows_at: terminal.RowsAt = None,
    sheet: terminal.Sheet = None,
    split_references: terminal.SplitReferences = None,
    on_error: terminal.SkipOrFail = "fail",
    form: terminal.option(Literal["verdict", "grade"], "--form", help=_FORM, shown=True) = "verdict",
    number: terminal.option(
        int, "--number", "-n", metavar="N", help="Answers of every system to label.", shown=True, min=2
    ) = 30,
    seed: terminal.Seed = 0,
    uniform_share: terminal.option(
        float, "--uniform-share", metavar="SHARE", help=_SHARE, shown=True, min=0.05, max=1.0
    ) = 0.5,
    until: terminal.option(str | None, "--until", metavar="RULE", help=_UNTIL) = None,
    rater: terminal.option(str | None, "--rater", metavar="NAME", help=_RATER) = None,
    web: terminal.option(bool, "--web", help=_WEB) = False,
    port: terminal.option(int | None, "--port", metavar="N", help="Port of the page.") = None,
) -> None:
    """Select answers to label, and collect people's verdicts.

    One part is drawn at random, the other by how unsure the judge is. The file has the probability of each answer to
    be drawn, by which `genqa-metrics accuracy ROWS --labels FILE` weighs it. Raters see neither the system nor the
    judge's verdict. Every label is saved at once: run the same command again to resume, with a larger --number for
    more. A label that ROWS have in a column `label` is kept and not asked again; `--column label=` asks again. The
    number of labels is decided before looking at results; `--until` alone may look after every label.

    **Keys** in the terminal: y or 1 right, n or 0 wrong (1 to 5 for grades), u undo, s skip for now, q quit.

    Several raters may write into one file: the end of the output says how far they agree, and other commands take the
    mean of their labels.

    **Exit status**: 0 done, 1 failed, 2 bad usage.
    """
    from ...reports.report import with_files
    from .labelling import judged_answers, tasks_of
    from .page import State, serve
    from .stopping import lowest_accuracy, plan_until

    with terminal.usage("label"):
        if until is not None:
            lowest_accuracy(until)
            if form != "verdict":
                raise ValueError(f"--until: expected --form verdict, got {form}; rules decide about right and wrong")
        if output.suffix not in (".jsonl", ".json", ".ndjson"):
            raise ValueError(f"--output: expected a name that ends in .jsonl, got {output}; labels are JSON lines")
        terminal.check_outputs({"--output": output}, inputs)
        sources = terminal.read_inputs(inputs, from_, systems, encoding, rows_at, sheet, split_references)
        settings = terminal.read_settings_of(JUDGE, set_)
        columns = terminal.name_values("--column", column)
        names = [name.strip() for name in (rater or "").split(",") if name.strip()]
        if web and not names and not only_here():
            raise ValueError("--rater: name the raters, --rater ann,bob: each gets a link of their own")
        if not web and not rater:
            rater = getpass.getuser()
    with terminal.failures():
        with terminal.skipped_rows() as problem, terminal.progress_bars() as progress:
            reading = {"columns": columns, "settings": settings, "on_error": on_error}
            reading |= {"problem": problem, "progress": progress}
            if until is None:
                tasks, rule = tasks_of(sources, number, seed, uniform_share, **reading), None
            else:
                tasks, rule = plan_until(*judged_answers(sources, **reading), until, seed)
        reading = terminal.reading_words([from_, systems, encoding, rows_at, sheet, split_references], column)
        options = {"labels": [output], "settings": settings, "on_error": on_error}
        step = f"genqa-metrics agree {shlex.quote(str(output))}"
        if form == "verdict":
            step = "genqa-metrics accuracy FILE --labels LABELS"
        if web:
            then = with_files(step, terminal.names_of_files(inputs, options, reading))
            try:
                serve(output, tasks, form, port, sys.stdout.isatty(), names, rule, then)
            except OSError as error:
                raise ValueError(f"--port: {error}") from error
            return
        state = State(output, tasks, form, rule=rule)
        state.start(rater)
        session = state.session
        if session.left_out:
            terminal.warn(f"{session.left_out:,} labels in {output} are of answers not drawn; they do not count")
        if state.kept:
            files = ", ".join(dict.fromkeys(task.file for task in state.kept))
            again = "not asked again (--column label= asks)"
            terminal.say(
                f"note: {len(state.kept):,} of {session.total} answers have a label in {files}: kept, {again}"
            )
        # One key without Enter in a terminal, a line each otherwise.
        read = typer.getchar if sys.stdin.isatty() else lambda: (sys.stdin.readline() or QUIT).strip()[:1]
        ask(state, read, terminal.output_console(width=100))
    done = len(session.done)
    terminal.say(f"{done:,} of {session.total} answers labelled, in {output}")
    for line in filter(None, [session.agreement(), *session.outcomes()]):
        terminal.say(line)
    if session.next() is not None:
        terminal.say("The same command continues with the others.")
    terminal.say_steps([step], inputs, options, reading)


def ask(state, read: Callable[[], str], out) -> None:
    """Ask about one row after the other until all are labelled or the rater quits; `read` returns one key."""
    from rich.text import Text

    shown = None
    while state.task is not None:
        if state.task is not shown:
            shown = state.task
            show(shown, state.session, out)
        form = state.session.form
        keys = " y yes, n no" * (form.column == "label")
        out.print(Text(f"{form.question}{keys}  [u undo, s skip, q quit] ", style="bold"), end="")
        while True:
            key = read().lower()
            grade = VERDICTS.get(key) if form.high == 1 else int(key) if key.isdecimal() else None
            if key in (UNDO, SKIP, QUIT, "\x03", "\x04") or (grade is not None and form.low <= grade <= form.high):
                break
        out.print(Text(key if key.isprintable() else QUIT))
        if grade is not None:
            state.press(grade)
        elif key == UNDO:
            state.undo()
        elif key == SKIP:
            state.skip()
        else:
            return


def show(task, session, out) -> None:
    """Print a task with its lines: question, references and answer; words that one of them lacks are marked."""
    from rich.table import Table
    from rich.text import Text

    from ...reports.table import visible
    from .labelling import marked_words

    answer, references = marked_words(task.answer, task.references)
    grid = Table.grid(padding=(0, 1))
    rows = [("question", [(task.question, True)], "")]
    rows += [*(("accepted", pieces, "green") for pieces in references), ("answer", answer, "")]
    for name, pieces, style in rows:
        shown = Text(style=style)
        for text, same in pieces:
            shown.append("\n".join(map(visible, re.split(r"\r\n?|\n", text))), "" if same else "bold yellow")
        grid.add_row(Text(f"{name:<10}", style="dim"), shown)
    out.print(Text(f"\n{len(session.done) + 1} of {session.total}", style="dim"))
    out.print(grid)
