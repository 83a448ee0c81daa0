"""The options of the verbs as records that check their values."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, Literal

from ..rows.row import FileError, MissingPackageError, UsageError
from .parts import PART_ROWS

Settings = Mapping[str, Any]  # {metric: {setting: value}}, or {setting: value} of the only metric
OnError = Literal["fail", "skip"]


def _names(name: str, given: Any) -> list[str]:
    """Return the names that an argument gives, each once."""
    names = [given] if isinstance(given, str) else given or ()
    if not isinstance(names, Iterable) or not all(isinstance(one, str) for one in names):
        raise ValueError(f"{name}: expected a name or a list of names, got {type(given).__name__} {given!r:.40}")
    return list(dict.fromkeys(names))


class _Checked:
    def __post_init__(self):
        if self.on_error not in ("fail", "skip"):
            raise ValueError(f"on_error: expected 'fail' or 'skip', got {self.on_error!r}")
        for name, least in (("resamples", 100), ("seed", 0), ("rows", 0), ("worst", 0)):
            number = getattr(self, name, least)
            if isinstance(number, bool) or not isinstance(number, Integral) or number < least:
                raise ValueError(f"{name}: expected a number of at least {least}, got {number!r}")
        for name in ("settings", "columns"):
            given = getattr(self, name, None)
            if given is not None and not isinstance(given, Mapping):
                form = "{setting: value}, or {metric: {setting: value}}" if name == "settings" else "{name: column}"
                raise ValueError(f"{name}: expected {form}, got {type(given).__name__} {given!r:.40}")
        by = getattr(self, "by", None)
        if by is not None and not isinstance(by, str):
            raise ValueError(f"by: expected the name of a column, got {by!r:.40}")
        for name in ("metrics", "score_columns", "group_columns"):
            if hasattr(self, name):
                object.__setattr__(self, name, _names(name, getattr(self, name)))
        if getattr(self, "calibration", None) is not None:
            of_ava = isinstance(self, AccuracyOptions)  # its settings are those of ava
            settings = dict(self.settings or {})
            own = settings if of_ava else dict(settings.get("ava", {}))
            if own.get("calibration", self.calibration) != self.calibration:
                raise ValueError("calibration: given twice, as an option and as a setting of ava; drop one of the two")
            own["calibration"] = self.calibration
            object.__setattr__(self, "settings", own if of_ava else settings | {"ava": own})

    @property
    def skips(self) -> bool:
        """Bad rows are skipped and counted."""
        return self.on_error == "skip"


@dataclass(frozen=True)
class ScoreOptions(_Checked):
    """Options of `score`, see `reports.score.score`."""

    metrics: str | Sequence[str] | None = None
    settings: Settings | None = None
    _: KW_ONLY
    columns: Mapping[str, str] | None = None
    output: str | None = None
    resume: bool = False
    part_rows: int = PART_ROWS
    engine: Literal["local", "ray"] = "local"
    address: str | None = None
    total: bool = False
    worst: int = 10
    ignore_judge_errors: bool = False
    calibration: str | None = None
    on_error: OnError = "fail"
    keep: bool = True
    explain: bool = False


@dataclass(frozen=True)
class CompareOptions(_Checked):
    """Options of `compare`, see `reports.compare.compare`."""

    metrics: str | Sequence[str] | None = None
    settings: Settings | None = None
    seed: int = 0
    _: KW_ONLY
    columns: Mapping[str, str] | None = None
    score_columns: str | Sequence[str] = ()
    resamples: int = 10_000
    correction: str = "holm"
    rows: int = 6
    by: str | None = None
    runs: bool = False
    ignore_judge_errors: bool = False
    calibration: str | None = None
    on_error: OnError = "fail"


@dataclass(frozen=True)
class AgreeOptions(_Checked):
    """Options of `agree`, see `reports.agree.agree`."""

    human: str = "score"
    metrics: str | Sequence[str] | None = None
    settings: Settings | None = None
    seed: int = 0
    _: KW_ONLY
    columns: Mapping[str, str] | None = None
    score_columns: str | Sequence[str] = ()
    group_columns: str | Sequence[str] = ()
    correct: float | None = None
    gap: float | None = None
    resamples: int = 1000
    worst: int = 10
    on_error: OnError = "fail"

    def __post_init__(self):
        super().__post_init__()
        if not isinstance(self.human, str):
            raise ValueError(
                f"human: expected the name of a column, got {self.human!r}; metrics are named by keyword: metrics=..."
            )
        human = {} if self.human == "score" else {"score": self.human}
        object.__setattr__(self, "columns", {**human, **(self.columns or {})})


@dataclass(frozen=True)
class AccuracyOptions(_Checked):
    """Options of `accuracy`, see `reports.accuracy.accuracy`."""

    labels: Any = None
    columns: Mapping[str, str] | None = None
    settings: Settings | None = None
    _: KW_ONLY
    finite_population: bool = False
    by: str | None = None
    rater_error: float | None = None
    confidence: float = 0.95
    ignore_judge_errors: bool = False
    calibration: str | None = None
    on_error: OnError = "fail"


@dataclass(frozen=True)
class CalibrateOptions(_Checked):
    """Options of `calibrate`, see `reports.calibrate.calibrate`."""

    output: str | None = None
    settings: Settings | None = None
    _: KW_ONLY
    labels: Any = None
    columns: Mapping[str, str] | None = None
    on_error: OnError = "fail"


@dataclass(frozen=True)
class LabelOptions(_Checked):
    """Options of `analysis.label_tasks.tasks_of`: which rows people are asked about, and what."""

    form: Literal["verdict", "grade", "questions", "questions-3"] = "verdict"
    number: int = 100
    seed: int = 0
    uniform_share: float = 0.5
    _: KW_ONLY
    columns: Mapping[str, str] | None = None
    settings: Settings | None = None
    on_error: OnError = "fail"


@contextmanager
def bad_usage() -> Iterator[None]:
    """Raise a `UsageError` for a ValueError or an ImportError inside: nothing was read yet."""
    try:
        yield
    except ValueError as error:
        raise UsageError(str(error)) from error
    except ImportError as error:
        raise MissingPackageError(str(error), name=error.name) from error


def in_python(message: str) -> str:
    """Return a message with arguments of Python in place of options of the command line.

    >>> in_python("name another with --column score=NAME; --on-error skip leaves bad rows out")
    'name another with columns={"score": "NAME"}; on_error="skip" leaves bad rows out'
    """
    message = re.sub(r"--column (\w+)=([\w.]*)", r'columns={"\1": "\2"}', message)
    message = re.sub(r"add --metric (\w+)", r"add \1 to metrics", message)
    return message.replace("--on-error skip", 'on_error="skip"').replace("--column names", "columns names")


def _of_command(rows: Any) -> bool:
    """Return whether the rows are the files of a command, which opens them before it calls the function."""
    from ..rows.files import AnySource

    first = next(iter(rows.values()), None) if isinstance(rows, Mapping) else rows
    return isinstance(first, list) and bool(first) and all(isinstance(one, AnySource) for one in first)


@contextmanager
def errors_of_python(rows: Any) -> Iterator[None]:
    """Let errors inside speak of arguments of Python, but of options where the rows are the files of a command."""
    try:
        yield
    except (UsageError, FileError) as error:
        if not _of_command(rows):
            error.args = (in_python(str(error)), *error.args[1:])
        raise
