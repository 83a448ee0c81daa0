"""Errors and warnings about arguments, files and rows, and their advice in words of Python or of the command line."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager


class Advice(str):
    """A message in words of Python; `command` has it in words of the command line.

    `problem` is the same without the hint (the fix, behind a semicolon) and what differs between Python and commands.

    >>> message = Advice("no score", hint=Advice("name it with ", name_column("score")))
    >>> message, message.command, message.problem
    ('no score; name it with columns={"score": "NAME"}', 'no score; name it with --column score=NAME', 'no score')
    """

    def __new__(cls, *texts: object, command: str | None = None, hint: object = None) -> "Advice":
        """Join texts, some of which may have advice themselves."""
        whole = texts if hint is None else (*texts, "; ", hint)
        advice = super().__new__(cls, "".join(map(str, whole)))
        advice.command = "".join(map(in_command, whole)) if command is None else command
        advice.problem = "".join(map(without_hints, texts)) if command is None else ""
        return advice


def in_command(message: object) -> str:
    """Return a text or the message of an error in words of the command line."""
    if isinstance(message, BaseException):
        message = message.args[0] if len(message.args) == 1 else str(message)
    return getattr(message, "command", str(message))


def without_hints(message: object) -> str:
    """Return a text or the message of an error as a web page shows it, which has no arguments and no options."""
    if isinstance(message, BaseException):
        message = message.args[0] if len(message.args) == 1 else str(message)
    return getattr(message, "problem", str(message))


def name_column(role: str, column: str = "NAME") -> Advice:
    """Return advice on naming the column that has a role; `column` "" names none."""
    return Advice(f'columns={{"{role}": "{column}"}}', command=f"--column {role}={column}")


def read_option(name: str, choice: str) -> Advice:
    """Return advice on reading a file with an option, such as an encoding."""
    quoted = shlex.quote(choice) if choice != "NAME" else choice
    return Advice(f"{name}={choice!r} of read_rows", command=f"--{name.replace('_', '-')} {quoted}")


def add_metric(metric: str) -> Advice:
    """Return how to add a metric."""
    return Advice(f"add {metric} to metrics", command=f"add --metric {metric}")


def too_many_systems(number: str, system: str) -> Advice:
    """Return the message for a file with too many systems, such as `system`, with its fix."""
    fix = name_column("system"), ", none with ", name_column("system", "")
    return Advice(f"{number} systems, such as {system!r:.60}; is that the right column? Name another with ", *fix)


SKIP_BAD_ROWS = Advice('on_error="skip"', command="--on-error skip")
RESUME = Advice("resume=True", command="--resume")


class UsageError(ValueError):
    """An argument of a verb is bad; nothing was read yet."""


class MissingPackageError(ImportError, UsageError):
    """A package that a verb needs is not installed; nothing was read yet."""


class InputWarning(UserWarning):
    """Something in the input was read in a way that its names do not say."""


class RecordedScoresWarning(UserWarning):
    """Scores in the input were taken instead of judging its rows again, or could not be."""


class FileError(ValueError):
    """A file cannot be read or written; the message names it, gives the reason, and the fix."""

    def __init__(self, *texts: object, bad_row: bool = False):
        super().__init__(Advice(*texts))
        self.bad_row, self.finished_parts = bad_row, 0


class RowError(ValueError):
    """A bad row; the message says what is wrong and the fix, the caller adds where."""

    systems: tuple[str, ...] = ()

    def __init__(self, *texts: object, hint: object = None):
        super().__init__(Advice(*texts, hint=hint))


class ColumnError(RowError):
    """A row without a column that is needed or was named."""


@contextmanager
def bad_usage() -> Iterator[None]:
    """Raise a `UsageError` for a ValueError or an ImportError inside: nothing was read yet."""
    try:
        yield
    except ValueError as error:
        raise UsageError(Advice(error)) from error
    except ImportError as error:
        raise MissingPackageError(str(error), name=error.name) from error
