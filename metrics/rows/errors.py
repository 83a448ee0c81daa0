"""Notes, errors and warnings about arguments, files and rows; their messages name arguments of Python."""

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager

_OPTIONS = {  # of the command line, for what messages name of Python
    r'columns=\{"(\w+)": "(.*?)"\}': r"--column \1=\2",
    r"(\w+)='([^']*)' of read_rows": lambda match: f"--{match[1].replace('_', '-')} {shlex.quote(match[2])}",
    r"systems=\['A', 'B'\] of read_rows": "--systems A,B",
    r"\badd (\w+) to metrics": r"add --metric \1",
    r"metrics='(\w+)', on_error='skip'": r"-m \1 --on-error skip",
    r'on_error="skip"': "--on-error skip",
    r"\bresume=True": "--resume",
    r"which columns names": "which --column names",
    r"which systems names": "which --systems names",
    r"give labels= beside": "give --labels beside",
}
SKIP_BAD_ROWS, RESUME = 'on_error="skip"', "resume=True"


class Detail(str):
    """A note that changes no decision: pages and --verbose have it, the first screen of a terminal does not."""


def in_command(message: object) -> str:
    """Return a text or the message of an error in words of the command line.

    >>> in_command('no score; name it with columns={"score": "NAME"}')
    'no score; name it with --column score=NAME'
    """
    text = str(message)
    for pattern, option in _OPTIONS.items():
        text = re.sub(pattern, option, text)
    return text


def without_options(message: object) -> str:
    """Return a message without the clauses that name options, for a web page, which has none.

    >>> without_options('no score; name it with columns={"score": "NAME"}')
    'no score'
    """
    return "; ".join(clause for clause in str(message).split("; ") if in_command(clause) == clause)


def name_column(role: str, column: str = "NAME") -> str:
    """Return advice on naming the column that has a role; `column` "" names none."""
    return f'columns={{"{role}": "{column}"}}'


def too_many_systems(number: str, system: str) -> str:
    """Return the message for a file with too many systems, such as `system`, with its fix."""
    fix = f"Name another with {name_column('system')}, none with {name_column('system', '')}"
    return f"{number} systems, such as {system!r:.60}; is that the right column? {fix}"


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
        super().__init__("".join(map(str, texts)))
        self.bad_row, self.finished_parts = bad_row, 0


class RowError(ValueError):
    """A bad row; the message says what is wrong and the fix, the caller adds where."""

    systems: tuple[str, ...] = ()

    def __init__(self, problem: object, hint: str = ""):
        super().__init__(f"{problem}; {hint}" if hint else str(problem))


class ColumnError(RowError):
    """A row without a column that is needed or was named."""


@contextmanager
def bad_usage() -> Iterator[None]:
    """Raise a `UsageError` for a ValueError or an ImportError inside: nothing was read yet."""
    try:
        yield
    except ValueError as error:
        raise UsageError(str(error)) from error
    except ImportError as error:
        raise MissingPackageError(str(error), name=error.name) from error
