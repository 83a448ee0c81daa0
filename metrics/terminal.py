"""Runs a verb as a command: declares and reads its options, prints messages, errors and progress, shows the result."""

import codecs
import io
import json
import math
import os
import shlex
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from .registry import JUDGE, OF_SETS, OF_WORDS, SCORERS, WITH_CHECKPOINT
from .reports import report
from .reports.table import visible
from .rows.cells import as_number
from .rows.columns import COLUMNS
from .rows.errors import FileError, InputWarning, RecordedScoresWarning, UsageError, bad_usage, in_command
from .rows.formats import TOOLS
from .rows.sources import files_of_runs, read_rows
from .rows.writing import output_path, write_text

SHOWN_BAD_ROWS = 10
LONGEST_NAME = 60  # characters of the files in a command
_WORDS = {"none": None, "true": True, "false": False, "inf": math.inf, "infinity": math.inf}
_DEFAULT = f"{JUDGE}, which reads the question, for rows with one; {' and '.join(OF_SETS)} for sets of questions; "
_DEFAULT += f"{OF_WORDS} otherwise"
ModelMetric = Literal[WITH_CHECKPOINT]
INPUT, METRIC, OUTPUT = "Input", "Metrics", "Output"  # groups of options in --help


def option(
    kind: Any, *names: str, help: str, metavar: str | None = None, group: str | None = None, shown=False, **more: Any
):
    """Return the declaration of an option; `group` is its group in --help, `shown` whether --help has its default."""
    declared = typer.Option(*names, metavar=metavar, help=help, show_default=shown, rich_help_panel=group, **more)
    return Annotated[kind, declared]


def repeated(*names: str, metavar: str, help: str, group: str | None = INPUT):
    """Return the declaration of an option that may be given several times."""
    return option(list[str] | None, *names, metavar=metavar, help=help, group=group)


def inputs(metavar: str, help: str):
    """Return the declaration of the files that a command reads."""
    return Annotated[list[str], typer.Argument(metavar=metavar, help=help, show_default=False)]


def resamples(help: str):
    """Return the declaration of --resamples."""
    return option(int, "--resamples", metavar="N", help=help, shown=True)


def _file(name: str, content: str):
    return option(Path | None, name, metavar="FILE", help=f"Write {content} to FILE.", group=OUTPUT)


def _reading(name: str, metavar: str, help: str):
    return option(str | None, name, metavar=metavar, help=help, group=INPUT)


def _metrics(default: str):
    listed = f"{', '.join(SCORERS)}; once for each. Default: {default}."
    return repeated("--metric", "-m", metavar="NAME", help=listed, group=METRIC)


def _set(help: str):
    help = f"{help} VALUE is JSON or a string."
    return repeated("--set", "-s", metavar="KEY=VALUE", help=help, group=METRIC)


_BAD_ROW = "A bad row: fail at the first, or count and skip them."
Metrics = _metrics(_DEFAULT)
MetricsOrColumns = _metrics(f"none if --column names scores; else {_DEFAULT}")
Column = repeated(
    "--column",
    "-c",
    metavar="NAME=COLUMN",
    help="Where a column has another name, once for each: prediction=choices.0.text. Nothing after '=': unread.",
)
ScoresOrColumn = repeated(
    "--column",
    "-c",
    metavar="NAME[=COLUMN]",
    help="Without '=': a column that holds scores, higher is better, once for each. With '=': where a column has "
    "another name, as for `score`: --column score=human_rating.",
)
From = _reading(
    "--from",
    "TOOL",
    f"What wrote the files: {', '.join(TOOLS)}. Default: detected.",
)
RowsAt = _reading("--rows-at", "PATH", "Where the rows stand in JSON: runs[*].items.")
Sheet = _reading("--sheet", "NAME", "Sheet of a workbook, by name or number.")
SplitReferences = _reading("--split-references", "TEXT", "What separates references in one text, such as '|'.")
Systems = _reading("--systems", "A,B", "Columns with the answers of one system each.")
Encoding = _reading("--encoding", "NAME", "Encoding of text files, such as cp1252. Default: UTF-8 or UTF-16.")
READING = ("from_", "systems", "encoding", "rows_at", "sheet", "split_references")  # a command has all of them
Set = _set("METRIC.SETTING=VALUE, once for each: aev.alpha=0.3, f_meta.base=bleu.")
SetOfAva = _set(f"{JUDGE}.SETTING=VALUE, once for each: {JUDGE}.checkpoint=base, {JUDGE}.threshold=0.6.")
Json = _file("--json", "everything, with all tests, as JSON")
Markdown = _file("--markdown", "the tables as Markdown")
Latex = _file("--latex", "LaTeX (booktabs)")
Html = _file("--html", "one HTML page")
SamePage = _file("--html", "the same as one HTML page")
_BAD_QUESTION = (
    "A bad row, or a question that not all systems answer: fail at the first one, or report, count and skip them."
)
_Policy = Literal["fail", "skip"]
SkipOrFail = option(_Policy, "--on-error", help=_BAD_ROW, group=INPUT, shown=True)
SkipOrFailOrNone = option(_Policy | None, "--on-error", help=f"{_BAD_ROW} Default: fail.", group=INPUT)
SkipOrFailAll = option(_Policy, "--on-error", help=_BAD_QUESTION, group=INPUT, shown=True)
_Form = Literal["table", "json", "markdown"]
PrintAs = option(_Form, "--format", "-f", metavar="FORM", help="table, json or markdown.", group=OUTPUT, shown=True)
FailUnder = repeated(
    "--fail-under", metavar="NAME=VALUE", help="Exit status 3 if NAME is below VALUE for any system.", group=OUTPUT
)
Seed = option(int, "--seed", metavar="N", help="Seed: the same rows and seed give the same numbers.", shown=True)
By = option(
    str | None,
    "--by",
    metavar="COLUMN",
    help="The same for the rows of every value of COLUMN too, such as a topic; COLUMN.KEY goes into objects.",
)
_ALL = "Print all tables, signatures and how the intervals were made."
Verbose = option(bool, "--verbose", "-v", help=_ALL, group=OUTPUT)
Calibration = option(
    str | None,
    "--calibration",
    metavar="FILE",
    help=f"With {JUDGE}: FILE of `calibrate`. Default: calibration.json beside the checkpoint, if there is one.",
    group=METRIC,
)
Labels = option(
    list[str] | None,
    "--labels",
    "-l",
    metavar="FILE",
    help="Labels of people for some of the rows, as `label` writes them: label with question and prediction, or with "
    "id; system; the probability of being drawn. Default: those in a column label of the rows.",
)


def name_values(option: str, texts: Sequence[str] | None) -> dict[str, str]:
    """Read the NAME=VALUE of a repeated option.

    >>> name_values("--column", ["prediction=answer", "system="])
    {'prediction': 'answer', 'system': ''}
    """
    pairs = {}
    for pair in texts or ():
        name, equals, content = pair.partition("=")
        if not equals:
            raise ValueError(f"{option}: expected NAME=VALUE, got {pair!r}")
        pairs[name.strip()] = content
    return pairs


def read_inputs(
    inputs: list[str],
    form: str | None,
    systems: str | None,
    encoding: str | None,
    rows_at: str | None = None,
    sheet: str | None = None,
    split_references: str | None = None,
) -> list:
    """Return the sources of paths that are read with the options `READING`, see `rows.sources.files`."""
    names = [name.strip() for name in (systems or "").split(",") if name.strip()]
    if systems and len(set(names)) < max(len(names), 1):
        raise ValueError(f"--systems: expected different names of columns, A,B, got {systems!r}")
    more = {"rows_at": rows_at or "", "sheet": sheet or "1", "split_references": split_references or ""}
    return read_rows(inputs, tool=form, systems=names, encoding=encoding, **more)


def _value(text: str) -> object:
    """Return a text read as JSON; any other text is a string, except words such as True that mean a JSON value.

    >>> _value("0.3"), _value("bleu"), _value("infinity"), _value('["a"]')
    (0.3, 'bleu', inf, ['a'])
    """
    try:
        return json.loads(text)
    except ValueError:
        return _WORDS.get(text.lower(), text)


def read_settings(pairs: Sequence[str] | None) -> dict[str, dict]:
    """Return {metric: {setting: value}} of --set."""
    settings: dict[str, dict] = {}
    for name, text in name_values("--set", pairs).items():
        metric, dot, setting = name.partition(".")
        if not dot or metric not in SCORERS:
            expected = f"METRIC.SETTING=VALUE with METRIC one of {', '.join(SCORERS)}"
            raise ValueError(f"--set: expected {expected}, got {name}={text}")
        settings.setdefault(metric, {})[setting] = _value(text)
    return settings


def read_settings_of(only: str, pairs: Sequence[str] | None) -> dict[str, Any]:
    """Return the settings of --set for a command that computes one metric alone.

    >>> read_settings_of("ava", ["ava.threshold=0.6"])
    {'threshold': 0.6}
    """
    settings = read_settings(pairs)
    other = next((metric for metric in settings if metric != only), None)
    if other is not None:
        raise ValueError(f"--set: expected {only}.SETTING=VALUE, got a setting of {other}, which is not computed here")
    return settings.get(only, {})


def read_demands(pairs: Sequence[str] | None, names: Sequence[str] | None = None) -> dict[str, float]:
    """Read --fail-under; `names` are None where they are known only afterwards.

    >>> read_demands(["low=0.8"], ["accuracy", "low"])
    {'low': 0.8}
    """
    result = {}
    for name, text in name_values("--fail-under", pairs).items():
        if names is not None and name not in names:
            more = f"; accuracy and its interval come with --metric {JUDGE}" * (name in ("accuracy", "low", "high"))
            raise ValueError(f"--fail-under: expected one of {', '.join(names)} before '=', got {name!r}{more}")
        result[name] = as_number(text)
        if not math.isfinite(result[name]):
            raise ValueError(f"--fail-under: expected a number after {name}=, got {text!r}")
    return result


codecs.register_error("json", lambda error: (json.dumps(error.object[error.start : error.end])[1:-1], error.end))


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
    """Print the tool format and the notices of every file."""
    for source in sources:
        if source.form:
            say(f"note: {source.name} was read as rows of {source.form}, see --from")
        for notice in source.notices:
            say(f"note: {source.name}: {in_command(notice)}")


@contextmanager
def noted_warnings() -> Iterator[None]:
    """Print each warning once, as one sentence; drop those about columns, which `say_forms` prints."""
    printed: set[str] = set()
    with warnings.catch_warnings():

        def show(message, category, *_) -> None:
            if str(message) not in printed:
                printed.add(str(message))
                kind = "note" if issubclass(category, RecordedScoresWarning) else "warning"
                say(f"{kind}: {in_command(message)}")

        warnings.simplefilter("ignore", InputWarning)
        warnings.simplefilter("always", RecordedScoresWarning)
        warnings.showwarning = show
        yield


def stop(message: str, status: int) -> typer.Exit:
    """Print an error and return the exception that ends the command with this exit status."""
    say(f"error: {message}", "red")
    return typer.Exit(status)


@contextmanager
def failures(verb: str = "") -> Iterator[None]:
    """Turn errors of a running command into exit status 1, and bad usage of its verb into 2."""
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
def usage(verb: str) -> Iterator[None]:
    """Turn a ValueError or a missing package inside into exit status 2, with a hint at the verb's help."""
    with failures(verb), bad_usage():
        yield


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


class RowClock:
    """Estimates once how long the rows of a long task will take, from the first of them."""

    LEAST = 10  # rows that are timed
    LONG = 60  # seconds from which it is told

    def __init__(self):
        self._first: tuple[float, int] | None = None  # when the first rows were done, and how many
        self._is_told = False

    def time_left(self, done: int, whole: int) -> str:
        """Return one sentence on how long the other rows take, the first time that it is a minute or more; else ""."""
        if self._is_told or not done:
            return ""
        now = time.monotonic()
        self._first = self._first or (now, done)
        begin, first = self._first
        if done - first < self.LEAST:
            return ""
        self._is_told = True
        seconds = (whole - done) * (now - begin) / (done - first)
        if seconds < self.LONG:
            return ""
        minutes = round(seconds / 60)
        text = f"about {minutes} minute{'s' * (minutes != 1)} for the other {whole - done:,} rows"
        kept = "; Ctrl-C keeps what is judged: the same command goes on there"
        judges = sys.modules.get(f"{__package__}.core.kept_logits")  # not imported for this: it needs numpy
        return text + kept * (judges is not None and judges.KeptLogits.in_use)


@contextmanager
def progress_bars() -> Iterator[Callable[[str, int, int | None], None]]:
    """Yield a function of a task's name, its rows done, and all (None: unknown).

    It shows a bar on a terminal, and says once, everywhere, how long a task of more than a minute will take.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(" of "), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        tasks: dict = {}
        clock = RowClock()

        def progress(name: str, done: int, whole: int | None) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=whole)
            bar.update(tasks[name], completed=done, total=whole)
            if whole and (text := clock.time_left(done, whole)):
                console.print(text)

        yield progress


def check_outputs(
    outputs: Mapping[str, str | Path | None], inputs: Iterable[str | Path | None] = (), folder: str | None = None
) -> None:
    """Check before any work that the files of options, {option: path}, can be written, and that none is lost."""
    option_by_path: dict[Path, str] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        try:
            real_path = output_path(path, inputs)
        except FileError as error:
            raise ValueError(f"{option} {error}") from error
        if real_path in option_by_path:
            raise ValueError(f"{option} {path}: is the file of {option_by_path[real_path]} too; name another")
        if folder and real_path.parent == Path(os.path.realpath(folder)):
            problem = f"{option} {path}: is in the folder of --output, which holds its parts only; name another"
            raise ValueError(problem)
        option_by_path[real_path] = option


def write_outputs(outputs: Mapping[str, tuple[Path | None, Callable[[], str]]]) -> None:
    """Write the files of some options, {option: (path, function that makes the text)}; exit status 1 if that fails."""
    for option, (path, make) in outputs.items():
        if path is not None:
            with failures():
                text = make()
            try:
                write_text(path, text)
            except OSError as error:
                raise stop(f"{option} {path}: cannot be written: {error.strerror or error}", 1) from error


def output_console(stream=None, width: int | None = None):
    """Return the `rich` console of standard output, or another stream.

    The width of a file or pipe is `width`, else what COLUMNS says, and without it as many columns as a line has.
    """
    from rich.console import Console

    if width is None and "COLUMNS" not in os.environ:
        width = 1000
    return Console(stderr=stream is sys.stderr, width=None if (stream or sys.stdout).isatty() else width)


def print_result(
    form: str, shown: report.Report, verbose: bool = False, names: Mapping[str, str] | None = None
) -> None:
    """Print a report in the form of --format: "table", "json" or "markdown"; `names` of files stand in commands."""
    if form == "table":
        console = output_console()
        console.names = names or {}
        (shown.show_all if verbose else shown.show)(console)
    else:
        text = shown.to_json() if form == "json" else shown.to_markdown()
        if form == "json":  # has a way to write what the encoding lacks
            encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
            text = text.encode(encoding, "json").decode(encoding)
        typer.echo(text.rstrip("\n"))


INTERRUPTED, TERMINATED = 130, 143  # exit statuses after Ctrl-C and SIGTERM: 128 and the signal's number


def run(app: typer.Typer) -> None:
    """Run the command line; after Ctrl-C or SIGTERM it ends at once, and a stream that is closed is an empty one.

    Both remove the files that are being written; the exit status is 130 or 143.
    Characters that the encoding of a stream lacks become question marks.
    Where standard output cannot be written, such as on a full disk, one error says so; exit status 1.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
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
        if end.code in (INTERRUPTED, TERMINATED):  # do not wait for the windows that are being scored
            sys.stdout.flush()
            os._exit(end.code)
        raise


def check_demands(demands: Mapping[str, float], systems: Mapping[str, Mapping]) -> None:
    """End with exit status 3 if a system misses what --fail-under demands."""
    missed = False
    for name, least in demands.items():
        if not any(name in result for result in systems.values()):
            scores = ", ".join(dict.fromkeys(key for result in systems.values() for key in result))
            raise stop(f"--fail-under: there is no score {name!r}; there are: {scores}", 2)
        for system, result in systems.items():
            if name in result and (result[name] is None or not result[name] >= least):
                missed = True
                why = "cannot be told" if result[name] is None else f"is {result[name]:.4f}, below {least:g}"
                say(f"--fail-under: {name} of {system} {why}", "red")
    if missed:
        raise typer.Exit(3)


def _check_outputs_of_verb(files: Mapping[str, Path | None], output: str | None, inputs: Sequence) -> None:
    """Check the files of options and --output, which may be a file, a folder of parts, an address or "-"."""
    from .scale.parts import is_folder

    folder = output if output and is_folder(output) else None
    is_file = output not in (None, "-") and not folder and "://" not in output
    check_outputs({"--output": output if is_file else None, **files}, inputs, folder)


def _read_metrics(arguments: dict[str, Any]) -> None:
    """Replace the options --metric and --set of a command by the arguments of its verb."""
    pairs = arguments.pop("set_")
    if "metric" not in arguments:
        arguments["settings"] = read_settings_of(JUDGE, pairs)
        return
    arguments["metrics"] = arguments.pop("metric") or []
    for name in arguments["metrics"]:
        if name not in SCORERS:
            close = get_close_matches(name, SCORERS)
            meant = f"; did you mean {close[0]}?" if close else ""
            raise ValueError(f"--metric: expected one of {', '.join(SCORERS)}, got {name!r}{meant}")
    arguments["settings"] = read_settings(pairs)


def carry_out(
    verb: str,
    options: Mapping[str, Any],
    *,
    scores: bool = False,
    demanded: Callable[[dict, list], Sequence[str] | None] = lambda arguments, sources: (),
    after: Callable[[Any], None] = lambda report: None,
    **more: Any,
) -> None:
    """Call the Python function of a verb, write the files that were requested, and print the report.

    `scores`: --column may name columns of scores, and two folders are two runs. `demanded` gets arguments and sources
    and returns the names that --fail-under knows, None where they are known only afterwards. `after` gets the report.
    """
    arguments = dict(options)
    paths = inputs = arguments.pop("inputs")
    forms = ("json", "markdown", "latex", "html")
    files = {f"--{kind}": arguments.pop(kind) for kind in forms if kind in arguments}
    form, verbose = arguments.pop("form"), arguments.pop("verbose", False)
    reading, column = [arguments.pop(name, None) for name in READING], arguments.pop("column")
    with usage(verb):
        runs = (files_of_runs(inputs) if scores else None) or {}
        inputs = [path for paths in runs.values() for path in paths] or inputs
        read = [*inputs, *(arguments.get("labels") or []), arguments.get("calibration")]
        _check_outputs_of_verb(files, arguments.get("output"), read)
        _read_metrics(arguments)
        chosen = arguments["settings"].values()
        chosen = [
            text for setting in chosen for text in (setting.values() if isinstance(setting, dict) else [setting])
        ]
        check_outputs(files, [text for text in chosen if isinstance(text, str)])
        if scores:  # without '=' it is a column of scores
            arguments["score_columns"] = [named for named in column or () if "=" not in named]
            column = [named for named in column or () if "=" in named]
        arguments["columns"] = name_values("--column", column)
        as_paths = arguments.get("engine") == "ray" and not any(reading)
        sources = inputs if as_paths else read_inputs(inputs, *reading)
        if runs:
            arguments["runs"] = True
            named = {path: name for name, paths in runs.items() for path in paths}
            by_run = {name: [source for source in sources if named[source.path] == name] for name in runs}
        asked = arguments.pop("fail_under", None)
        demands = read_demands(asked, demanded(arguments, [] if as_paths else sources)) if asked else {}
    say(shown_paths([source if as_paths else source.path for source in sources]))  # what follows imports for a second
    with failures(verb), skipped_rows() as problem, progress_bars() as progress:
        compute = getattr(import_module(f"{__package__}.verbs.{verb}.report"), verb)
        report = compute(by_run if runs else sources, **arguments, **more, problem=problem, progress=progress)
    say_forms(() if as_paths else sources)
    after(report)
    words = reading_words(reading, column)
    written = None if verb == "calibrate" else arguments.get("output")  # a calibration has no rows
    names = names_of_files(paths, arguments | {"output": written}, words)
    write_outputs({option: (path, partial(_text, report, option, names)) for option, path in files.items()})
    print_result(form, report, verbose, names)
    if demands:
        check_demands(demands, report.systems)


def reading_words(reading: Sequence[str | None], column: Sequence[str] | None) -> list[str]:
    """Return the words of a command that reads files with the same options `READING` and the same --column."""
    words = [word for pair in zip(READING, reading, strict=True) if pair[1] for word in (flag(pair[0]), pair[1])]
    return words + [
        word for named in column or () for word in ("--column", named) if named.partition("=")[0] in COLUMNS
    ]


def say_steps(steps: Sequence[str], inputs: Sequence[str], options: Mapping[str, Any], reading: Sequence[str]) -> None:
    """Print to standard error what to do next: commands in which FILE and LABELS become the files of this command."""
    console = output_console(sys.stderr)
    console.names = names_of_files(inputs, options, reading)
    report.say(console, [f"Next: {step}" for step in steps], "")


def shown_paths(paths: Sequence[object]) -> str:
    """Return the first line that a command prints: which input it reads.

    >>> shown_paths(["-"]), shown_paths(["s3://bucket/a.parquet", "b.csv"])
    ('reading standard input', 'reading a.parquet and 1 more')
    """
    names = ["standard input" if str(path) == "-" else os.path.basename(str(path).rstrip("/")) for path in paths]
    return f"reading {names[0]}" + (f" and {len(names) - 1:,} more" if len(names) > 1 else "")


def flag(name: str) -> str:
    """Return the option of a parameter: --rows-at of rows_at."""
    return f"--{name.strip('_').replace('_', '-')}"


def names_of_files(inputs: Sequence[str], arguments: Mapping[str, Any], reading: Sequence[str] = ()) -> dict[str, str]:
    """Return {"FILE": files and options, "LABELS": files} for commands that a report prints.

    A file that was written has its columns under usual names, and says how it was judged. A long name stays FILE.

    >>> names_of_files(["a.jsonl", "my b.jsonl"], {"settings": {"ava": {"threshold": 0.6}}})
    {'FILE': "a.jsonl 'my b.jsonl' --set ava.threshold=0.6"}
    """
    output, labels = arguments.get("output"), arguments.get("labels")
    files = {"FILE": [output] if output else inputs, "LABELS": labels or []}
    names = {name: shlex.join(map(str, paths)) for name, paths in files.items() if paths and "-" not in paths}
    names = {name: shown if len(shown) <= LONGEST_NAME else name for name, shown in names.items()}
    if "FILE" in names and not output:
        settings = arguments.get("settings") or {}
        judge = settings.get(JUDGE, {} if "metrics" in arguments else settings)
        pairs = judge | ({"calibration": arguments["calibration"]} if arguments.get("calibration") else {})
        texts = {name: setting if isinstance(setting, str) else json.dumps(setting) for name, setting in pairs.items()}
        words = [word for name, text in texts.items() for word in ("--set", f"{JUDGE}.{name}={text}")]
        words += ["--on-error", "skip"] if arguments.get("on_error") == "skip" else []
        names["FILE"] = " ".join(filter(None, [names["FILE"], shlex.join([*reading, *words])]))
    return {name: shown for name, shown in names.items() if shown != name}


def _text(report: Any, option: str, names: Mapping[str, str]) -> str:
    if option == "--html":
        return report.to_html(names)
    return getattr(report, f"to_{option[2:]}")() + ("\n" if option == "--markdown" else "")
