"""Runs a verb as a command: reads its options, prints messages, errors and progress, prints and writes the result."""

import codecs
import io
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import typer

from ..reports import report
from ..reports.table import visible
from ..rows.errors import FileError, InputWarning, RecordedScoresWarning, UsageError, in_command
from ..rows.sources import files_of_runs
from ..rows.writing import output_path, write_text
from . import options

SHOWN_BAD_ROWS = 10


def _json_escapes(error: UnicodeError) -> tuple[str, int]:
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


codecs.register_error("json", _json_escapes)


def say(message: str, style: str = "") -> None:
    """Print a message to standard error; characters that control a terminal are made visible.

    The lines of an error are not broken, so that the command in it can be copied.
    """
    from rich.text import Text

    console, lines = output_console(sys.stderr), in_command(message).split("\n")
    if style != "red":
        report.say(console, lines, style)
        return
    for line in lines:
        console.print(Text(visible(line), style), soft_wrap=True)


def warn(message: str) -> None:
    """Print a warning to standard error."""
    say(message, "yellow")


def say_forms(sources: Iterable) -> None:
    """Say of every file as what it was read, where its columns or texts do not say so."""
    for source in sources:
        if source.form:
            say(f"note: {source.name} was read as rows of {source.form}, see --from")
        for notice in source.notices:
            say(f"note: {source.name}: {in_command(notice)}")


@contextmanager
def noted_warnings() -> Iterator[None]:
    """Print what is warned of recorded scores as notes; `say_forms` says what is warned of columns."""
    with warnings.catch_warnings():
        shown = warnings.showwarning

        def show(message, category, *place) -> None:
            if issubclass(category, RecordedScoresWarning):
                say(f"note: {message}")
            else:
                shown(message, category, *place)

        warnings.simplefilter("ignore", InputWarning)
        warnings.simplefilter("always", RecordedScoresWarning)
        warnings.showwarning = show
        yield


def stop(message: str, status: int) -> typer.Exit:
    """Print an error and return the exception that ends the command with this exit status."""
    say(f"error: {message}", "red")
    return typer.Exit(status)


@contextmanager
def usage(verb: str) -> Iterator[None]:
    """Turn a ValueError or a missing package inside into exit status 2, with a hint at the verb's help."""
    try:
        yield
    except (ValueError, ImportError) as error:
        raise stop(f"{in_command(error)}\nTry 'genqa-metrics {verb} --help'.", 2) from error


@contextmanager
def failures(verb: str = "") -> Iterator[None]:
    """Turn what may go wrong while a command runs into exit status 1, and bad usage of its verb into 2."""
    try:
        yield
    except UsageError as error:
        raise stop(f"{in_command(error)}\nTry 'genqa-metrics {verb} --help'.", 2) from error
    except FileError as error:
        hint = "\n--on-error skip leaves bad rows out." if error.bad_row else ""
        if error.finished_parts:
            hint += f"\n{error.finished_parts:,} finished parts are kept; add --resume to continue after them."
        raise stop(f"{in_command(error)}{hint}", 1) from error
    except (ValueError, RuntimeError, ImportError) as error:
        raise stop(in_command(error), 1) from error


@contextmanager
def skipped_rows() -> Iterator[Callable[[str], None]]:
    """Yield a function that reports a skipped row; after the first ten they are only counted."""
    count = 0

    def problem(message: str) -> None:
        nonlocal count
        count += 1
        if count <= SHOWN_BAD_ROWS:
            warn(f"skipped: {in_command(message)}")

    yield problem
    if count > SHOWN_BAD_ROWS:
        warn(f"skipped: ... and {count - SHOWN_BAD_ROWS:,} more")


@contextmanager
def progress_bars() -> Iterator[Callable[[str, int, int | None], None]]:
    """Yield a function that shows how far a task is; it shows nothing where standard error is no terminal.

    Yields:
        A function of the task's name, the rows that are done, and all rows (None where that is unknown).
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(" of "), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        tasks: dict = {}

        def progress(name: str, done: int, whole: int | None) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=whole)
            bar.update(tasks[name], completed=done, total=whole)

        yield progress


def check_outputs(
    outputs: Mapping[str, str | Path | None],
    inputs: Iterable[str | Path | None] = (),
    folder: str | None = None,
) -> None:
    """Check before any work that the files of some options can be written, and that none of them is lost.

    Args:
        outputs: {option: path}; None is skipped.
        inputs: files that are read.
        folder: of the parts of --output, which may hold nothing else.

    Raises:
        ValueError: if a path is not a file, is an input or that of another option, or its folder does not exist.
    """
    places: dict[Path, str] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        try:
            place = output_path(path, inputs)
        except FileError as error:
            raise ValueError(f"{option} {error}") from error
        if place in places:
            raise ValueError(f"{option} {path}: is the file of {places[place]} too; name another")
        if folder and place.parent == Path(os.path.realpath(folder)):
            raise ValueError(
                f"{option} {path}: is in the folder of --output, which holds its parts only; name another"
            )
        places[place] = option


def write_outputs(outputs: Mapping[str, tuple[Path | None, Callable[[], str]]]) -> None:
    """Write the files of some options; exit status 1 if that fails.

    Args:
        outputs: {option: (path, function that makes the text)}; a path that is None is skipped.
    """
    for option, (path, make) in outputs.items():
        if path is not None:
            with failures():
                text = make()
            try:
                write_text(path, text)
            except OSError as error:
                raise stop(f"{option} {path}: cannot be written: {error.strerror or error}", 1) from error


def output_console(stream=None, width: int | None = None):
    """Return the `rich` console of standard output or standard error.

    Args:
        stream: None for standard output.
        width: columns of a file or a pipe; None: what COLUMNS says, and without it as many as a line has.
    """
    from rich.console import Console

    if width is None and "COLUMNS" not in os.environ:
        width = 1000
    return Console(stderr=stream is sys.stderr, width=None if (stream or sys.stdout).isatty() else width)


def print_result(
    form: str, as_json: Callable[[], str], as_markdown: Callable[[], str], print_tables: Callable
) -> None:
    """Print the result of a command in the form of --format.

    Args:
        form: "table", "json" or "markdown".
        as_json: makes the result's JSON.
        as_markdown: makes its Markdown.
        print_tables: prints its tables on a `rich` console.
    """
    if form == "table":
        print_tables(output_console())
    else:
        text = as_json() if form == "json" else as_markdown()
        if form == "json":  # has a way to write what the encoding lacks
            encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
            text = text.encode(encoding, "json").decode(encoding)
        typer.echo(text.rstrip("\n"))


def run(app: typer.Typer) -> None:
    """Run the command line; after Ctrl-C it ends at once, and a stream that is closed is an empty one.

    Characters that the encoding of a stream lacks become question marks.
    Where standard output cannot be written, such as on a full disk, one error says so; exit status 1.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left in the buffer is dropped
        if not isinstance(error, BrokenPipeError):  # a reader such as head needs no message
            say(f"error: {error.filename or 'standard output'}: {error.strerror or error}", "red")
        sys.exit(1)
    except SystemExit as end:
        if end.code == 130:  # Ctrl-C: do not wait for the windows that are being scored
            sys.stdout.flush()
            os._exit(130)
        raise


def check_demands(demands: Mapping[str, float], systems: Mapping[str, Mapping]) -> None:
    """End with exit status 3 if a system misses what --fail-under demands.

    Args:
        demands: {name: least value}.
        systems: {system: {name: value}}.
    """
    missed = False
    for name, least in demands.items():
        if not any(name in result for result in systems.values()):
            known = ", ".join(dict.fromkeys(key for result in systems.values() for key in result))
            raise stop(f"--fail-under: there is no score {name!r}; there are: {known}", 2)
        for system, result in systems.items():
            if name in result and (result[name] is None or not result[name] >= least):
                missed = True
                value = "cannot be told" if result[name] is None else f"is {result[name]:.4f}, below {least:g}"
                say(f"--fail-under: {name} of {system} {value}", "red")
    if missed:
        raise typer.Exit(3)


def carry_out(
    verb: str,
    arguments: Mapping[str, Any],
    *,
    scores: bool = False,
    demanded: Callable[[dict, list], Sequence[str] | None] = lambda given, sources: (),
    after: Callable[[Any], None] = lambda report: None,
    **more: Any,
) -> None:
    """Call the Python function of a verb, write the files that were requested, and print the report.

    Args:
        verb: its name.
        arguments: the arguments of the command: `inputs`, the paths, and the values of its options.
        scores: --column may name columns of scores, and two folders are two runs.
        demanded: gets the arguments and the sources; returns the names that --fail-under knows, None where they are
            known only afterwards.
        after: gets the report before it is printed.
        **more: further arguments of the function.
    """
    import genqa_metrics

    from ..scale.parts import is_folder

    given = dict(arguments)
    inputs, forms = given.pop("inputs"), ("json", "markdown", "latex", "html")
    files = {f"--{kind}": given.pop(kind) for kind in forms if kind in given}
    verbose = given.pop("verbose", False)
    form, reading = given.pop("form"), [given.pop(name, None) for name in options.READING]
    column, pairs = given.pop("column"), given.pop("set_")
    with usage(verb):
        runs = (files_of_runs(inputs) if scores else None) or {}
        inputs = [path for paths in runs.values() for path in paths] or inputs
        read = [*inputs, *(given.get("labels") or []), given.get("calibration"), given.get("settings_file")]
        output = given.get("output")
        folder = output if output and is_folder(output) else None
        is_file = output not in (None, "-") and not folder and "://" not in output
        check_outputs({"--output": output if is_file else None, **files}, read, folder)
        if "metric" in given:
            given["metrics"] = given.pop("metric") or []
            for name in given["metrics"]:
                if name not in options.METRICS:
                    raise ValueError(f"--metric: expected one of {', '.join(options.METRICS)}, got {name!r}")
            given["settings"] = options.read_settings(given.pop("settings_file"), pairs, given["metrics"])
        else:
            given["settings"] = options.read_settings_of("ava", pairs)
        check_outputs(files, [value for value in _values(given["settings"]) if isinstance(value, str)])
        if scores:  # without '=' it is a column of scores
            given["score_columns"] = [value for value in column or () if "=" not in value]
            column = [value for value in column or () if "=" in value]
        given["columns"] = options.name_values("--column", column)
        as_paths = given.get("engine") == "ray" and not any(reading)
        sources = inputs if as_paths else options.read_inputs(inputs, *reading)
        if runs:
            given["runs"] = True
            named = {path: name for name, paths in runs.items() for path in paths}
            by_run = {name: [source for source in sources if named[source.path] == name] for name in runs}
        asked = given.pop("fail_under", None)
        demands = options.demands(asked, demanded(given, [] if as_paths else sources)) if asked else {}
    with failures(verb), noted_warnings():
        with skipped_rows() as problem, progress_bars() as progress:
            report = getattr(genqa_metrics, verb)(
                by_run if runs else sources, **given, **more, problem=problem, progress=progress
            )
    say_forms(() if as_paths else sources)
    after(report)
    write_outputs({option: (path, partial(_text, report, option)) for option, path in files.items()})
    print_result(form, report.to_json, report.to_markdown, report.show_all if verbose else report.show)
    if demands:
        check_demands(demands, report.systems)


def _values(settings: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the values of settings, also of those of several metrics; some are files."""
    for value in settings.values():
        if isinstance(value, Mapping):
            yield from _values(value)
        else:
            yield value


def _text(report: Any, option: str) -> str:
    return getattr(report, f"to_{option[2:]}")() + ("\n" if option == "--markdown" else "")
