"""The options of the verbs, each declared once: command line, Python functions, stubs and runs take them from here."""

import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field, fields
from numbers import Integral
from typing import Any, Literal

from ..rows.formats import FileError, MissingPackageError, UsageError
from .parts import PART_ROWS

Settings = Mapping[str, Any]  # {metric: {setting: value}}, or {setting: value} of the only metric
_ROWS = """a list of dicts, a `pandas.DataFrame`, a `datasets.Dataset`, a path or a list of paths. A row has
            "prediction" and "references", and where it has them "question", "system", "id", "score" and "label"; or
            "context", "predictions" and "references"."""


def option(default: Any, help: str, *flags: str, **more: Any) -> Any:
    """Return a field of a dataclass of options.

    Args:
        default: its default.
        help: what it means, for the docstring of the Python function and for `--help`.
        *flags: how the command line spells it; none for an option of the Python function only, or one that all
            commands read alike.
        **more: for the command line: "metavar", limits ("min", "max"), and "type" if it is not that of the field.
    """
    return field(default=default, metadata={"help": help, "flags": flags, **more})


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


def _metrics() -> Any:
    return option(None, "names of metrics; None for the default ones of such rows, if no column holds scores.")


def _settings() -> Any:
    return option(None, "{metric: {setting: value}}, or {setting: value} of the only metric.")


def _columns() -> Any:
    return option(None, 'where a column has another name: {"prediction": "answer_text"}.')


def _on_error() -> Any:
    return option("fail", '"fail" at the first bad row, or "skip" and count bad rows.')


def _score_columns() -> Any:
    return option((), "columns that hold scores of further metrics, or of people; higher is better.")


def _resamples(default: int, help: str) -> Any:
    return option(default, help, "--resamples", metavar="N")


def _seed() -> Any:
    return option(0, "Seed: the same rows and seed give the same numbers.", "--seed", metavar="N")


def _by() -> Any:
    help = "The same for the rows of every value of COLUMN too, such as a topic; COLUMN.KEY goes into objects."
    return option(None, help, "--by", metavar="COLUMN")


def _ignore_judge_errors() -> Any:
    help = "With ava, without labels: intervals of the accuracy that ignore the errors of the judge."
    return option(False, help, "--ignore-judge-errors", group="Metrics")


def _calibration() -> Any:
    help = "With ava: FILE of `calibrate`. Default: calibration.json in the folder of the checkpoint, if there is one."
    return option(None, help, "--calibration", metavar="FILE", group="Metrics")


@dataclass(frozen=True)
class ScoreOptions(_Checked):
    """Options of `score`."""

    metrics: str | Sequence[str] | None = _metrics()
    settings: Settings | None = _settings()
    _: KW_ONLY
    columns: Mapping[str, str] | None = _columns()
    output: str | None = option(
        None,
        "Write the scores of every row to FILE (.parquet, .jsonl, .csv, .tsv), or as Parquet parts to FOLDER/.",
        "--output",
        "-o",
        metavar="FILE",
        group="Output",
    )
    resume: bool = option(
        False,
        "Keep the finished parts in --output FOLDER/ and continue after them.",
        "--resume",
        group="Large files",
    )
    part_rows: int = option(
        PART_ROWS,
        "Rows of a part of --output FOLDER/.",
        "--part-rows",
        metavar="N",
        min=1,
        group="Large files",
    )
    engine: Literal["local", "ray"] = option(
        "local",
        "local: this machine. ray: a Ray cluster; INPUT may then be a folder or a URI, --output FOLDER/ too.",
        "--engine",
        group="Large files",
    )
    address: str | None = option(
        None,
        "The Ray cluster, or 'auto'. Default: that of RAY_ADDRESS, or a new one here.",
        "--address",
        metavar="HOST:PORT",
        group="Large files",
    )
    total: bool = option(False, "Add a row 'all': all systems' rows as one corpus.", "--total", group="Output")
    ignore_judge_errors: bool = _ignore_judge_errors()
    calibration: str | None = _calibration()
    on_error: Literal["fail", "skip"] = _on_error()
    keep: bool = option(True, "keep the rows with their scores in memory, for `to_pandas`.")


@dataclass(frozen=True)
class CompareOptions(_Checked):
    """Options of `compare`."""

    metrics: str | Sequence[str] | None = _metrics()
    settings: Settings | None = _settings()
    seed: int = _seed()
    _: KW_ONLY
    columns: Mapping[str, str] | None = _columns()
    score_columns: str | Sequence[str] = _score_columns()
    resamples: int = _resamples(10_000, "Number of bootstrap samples, and of permutations.")
    correction: str = option(
        "holm",
        "Correction of p-values for the number of pairs: holm, bonferroni, fdr (Benjamini-Hochberg) or none.",
        "--correction",
        metavar="NAME",
    )
    rows: int = option(6, "Number of rows to show on which the systems differ most.", "--rows", metavar="N")
    by: str | None = _by()
    runs: bool = option(
        False,
        "The two inputs are an old and a new run of one system: say what got better and what got worse, row by row. "
        "Two folders are always read so.",
        "--runs",
    )
    ignore_judge_errors: bool = _ignore_judge_errors()
    calibration: str | None = _calibration()
    on_error: Literal["fail", "skip"] = option(
        "fail", '"fail" at the first bad row or question that not all systems answer, or "skip" and count them.'
    )


@dataclass(frozen=True)
class AgreeOptions(_Checked):
    """Options of `agree`."""

    human: str = option("score", "the column with the human scores.")
    metrics: str | Sequence[str] | None = _metrics()
    settings: Settings | None = _settings()
    seed: int = _seed()
    _: KW_ONLY
    columns: Mapping[str, str] | None = _columns()
    score_columns: str | Sequence[str] = _score_columns()
    group_columns: str | Sequence[str] = option(
        (),
        "A column to group by, beside question type, system, data set (source) and length of the answer.",
        "--group",
        "-g",
        metavar="COLUMN",
        type=list[str] | None,
    )
    correct: float | None = option(
        None,
        "Human scores from here on count as correct. Default: column label where every row has 0 or 1, else the "
        "middle of the range of the human scores.",
        "--correct",
        metavar="SCORE",
    )
    gap: float | None = option(
        None,
        "Two answers count as ranked by humans where their scores differ by more. Default: half the range.",
        "--gap",
        metavar="SCORE",
    )
    resamples: int = _resamples(1000, "Number of bootstrap samples; there are 10 times as many permutations.")
    worst: int = option(
        10, "Number of rows to list on which a judge and the humans differ, worst first.", "--worst", metavar="N"
    )
    on_error: Literal["fail", "skip"] = _on_error()

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
    """Options of `accuracy`."""

    labels: Any = option(
        None,
        "Labels of people for some of the rows, as `label` writes them: label with question and prediction, or with "
        "id; system; the probability of being drawn. Default: those in a column label of the rows.",
        "--labels",
        "-l",
        metavar="FILE",
        type=list[str] | None,
    )
    columns: Mapping[str, str] | None = option(
        None,
        'where a column has another name; {"judge": column} takes the verdicts or probabilities of another judge from '
        "a column.",
    )
    settings: Mapping[str, Any] | None = option(None, "settings of ava, such as threshold or checkpoint.")
    _: KW_ONLY
    finite_population: bool = option(
        False,
        "Intervals of these very rows, not of questions like them: narrower, for a fixed test set. Needs labels.",
        "--finite-population",
    )
    by: str | None = _by()
    rater_error: float | None = option(
        None,
        "Share of the labels that are wrong, 0.05 for 5%: intervals are wider by it on both sides. Default: what the "
        "disagreement of several raters shows; 0 where every row has one label.",
        "--rater-error",
        metavar="SHARE",
    )
    confidence: float = option(0.95, "Probability that an interval holds the truth.", "--confidence", metavar="P")
    ignore_judge_errors: bool = _ignore_judge_errors()
    calibration: str | None = _calibration()
    on_error: Literal["fail", "skip"] = _on_error()


@dataclass(frozen=True)
class CalibrateOptions(_Checked):
    """Options of `calibrate`."""

    output: str | None = option(
        None, "Write the calibration to FILE, such as mine.json.", "--output", "-o", metavar="FILE", group="Output"
    )
    settings: Mapping[str, Any] | None = option(None, "settings of ava, such as checkpoint.")
    _: KW_ONLY
    columns: Mapping[str, str] | None = _columns()
    on_error: Literal["fail", "skip"] = _on_error()


@dataclass(frozen=True)
class LabelOptions(_Checked):
    """Options of `label`: which rows people are asked about, and what."""

    form: Literal["verdict", "grade", "questions", "questions-3"] = option(
        "verdict",
        "verdict: correct or not. grade: how correct, 1 to 5 (several raters; `raters` reads it). questions: "
        "relevance, fluency and variety of a set of generated questions, 1 to 5; questions-3: 1 to 3.",
        "--form",
    )
    number: int = option(100, "Rows of every system to label.", "--number", "-n", metavar="N", min=2)
    seed: int = _seed()
    uniform_share: float = option(
        0.5,
        "Share of the rows drawn at random; the others are drawn by how unsure the judge is.",
        "--uniform-share",
        metavar="SHARE",
        min=0.05,
        max=1.0,
    )
    _: KW_ONLY
    columns: Mapping[str, str] | None = option(
        None, 'where a column has another name; "judge" names a column with a judge\'s probabilities.'
    )
    settings: Mapping[str, Any] | None = option(None, "settings of ava.")
    on_error: Literal["fail", "skip"] = _on_error()


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
    from ..rows.files import Source
    from ..rows.sources import MemorySource

    first = next(iter(rows.values()), None) if isinstance(rows, Mapping) else rows
    return isinstance(first, list) and bool(first) and all(isinstance(one, Source | MemorySource) for one in first)


def takes(options: type) -> Callable[[Callable], Callable]:
    """Name the options of a verb in the signature of its Python function, and describe them in its docstring.

    The function refuses arguments that it does not know, and its errors speak of arguments of Python, but those of a
    command of its options.

    Args:
        options: the dataclass; the function has `*given` and `**options` in their place, and "{options}" and, if it
            likes, "{rows}" in its docstring.
    """

    def described(function: Callable) -> Callable:
        own = list(inspect.signature(function).parameters.values())
        of_options = list(inspect.signature(options).parameters.values())
        named = [p for p in own if p.kind is p.KEYWORD_ONLY]
        signature = inspect.signature(function).replace(
            parameters=sorted([own[0], *of_options, *named], key=lambda parameter: parameter.kind)
        )
        lines = [
            textwrap.fill(
                f"{one.name}: {one.metadata['help']}", 110, initial_indent=" " * 8, subsequent_indent=" " * 12
            )
            for one in fields(options)
        ]
        function.__doc__ = (
            (function.__doc__ or "")
            .replace("*given, **options: {options}", "\n".join(lines).lstrip())
            .replace("{rows}", _ROWS)
        )

        @functools.wraps(function)
        def called(*given: Any, **named: Any) -> Any:
            unknown = next((name for name in named if name not in signature.parameters), None)
            if unknown is not None:
                from ...core.scorer import unknown_name_message

                what = f"not an argument of {function.__name__}"
                raise TypeError(unknown_name_message(unknown, what, signature.parameters))
            try:
                return function(*given, **named)
            except (UsageError, FileError) as error:
                if not _of_command(given[0] if given else named.get(own[0].name)):
                    error.args = (in_python(str(error)), *error.args[1:])
                raise

        called.__signature__ = signature
        return called

    return described
