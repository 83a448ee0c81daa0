"""Errors and warnings about arguments, files and rows."""


class UsageError(ValueError):
    """An argument of a verb is bad; nothing was read yet."""


class MissingPackageError(ImportError, UsageError):
    """A package that a verb needs is not installed; nothing was read yet."""


class InputWarning(UserWarning):
    """Something in the input was read in a way that its names do not say."""


class RecordedScoresWarning(UserWarning):
    """Scores in the input were taken instead of judging its rows again, or could not be."""


class FileError(ValueError):
    """A file cannot be read or written; the message names it, gives the reason, and the fix.

    Attributes:
        bad_row: it is only one row that is bad; it could be left out.
        finished_parts: number of parts of the output that are kept; a run with --resume starts from them.
    """

    def __init__(self, message: str, bad_row: bool = False):
        super().__init__(message)
        self.bad_row, self.finished_parts = bad_row, 0


class RowError(ValueError):
    """A bad row; the message says what is wrong and the fix, the caller adds where.

    Attributes:
        systems: those whose row it is, as far as they are known.
    """

    systems: tuple[str, ...] = ()


class ColumnError(RowError):
    """A row without a column that is needed or was named."""
