"""Options that several commands share, and how their values are read."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from .. import METRICS

_WORDS = {"none": None, "true": True, "false": False, "inf": math.inf, "infinity": math.inf}
_DEFAULT = (
    "ava, which judges an answer with its question, for rows with a question; f_meta and aev for sets of questions; "
    "aev otherwise"
)


ModelMetric = Literal["kpqa", "ava", "grounding"]  # has a model, which can be exported
INPUT, METRIC, OUTPUT = "Input", "Metrics", "Output"  # groups of options in --help


def option(
    kind: Any,
    *names: str,
    help: str,
    metavar: str | None = None,
    group: str | None = None,
    shown: bool = False,
    **more,
):
    """Return the declaration of an option.

    Args:
        kind: type of its value.
        *names: "--output", "-o".
        help: what it does.
        metavar: what stands for its value in --help.
        group: of options in --help.
        shown: whether --help shows its default.
        **more: see `typer.Option`.
    """
    given = typer.Option(*names, metavar=metavar, help=help, show_default=shown, rich_help_panel=group, **more)
    return Annotated[kind, given]


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
    listed = f"{', '.join(METRICS)}; once for each. Default: {default}."
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
    "What wrote the files: ragas, lm-eval, squad, openai-evals, inspect, promptfoo, deepeval, langfuse, langsmith, "
    "mlflow, azure, opencompass, bioasq or truthfulqa. Default: detected.",
)
RowsAt = _reading("--rows-at", "PATH", "Where the rows stand in JSON: runs[*].items.")
Sheet = _reading("--sheet", "NAME", "Sheet of a workbook, by name or number.")
SplitReferences = _reading("--split-references", "TEXT", "What separates references in one text, such as '|'.")
Systems = _reading("--systems", "A,B", "Columns with the answers of one system each.")
Encoding = _reading("--encoding", "NAME", "Encoding of text files, such as cp1252. Default: UTF-8 or UTF-16.")
READING = ("from_", "systems", "encoding", "rows_at", "sheet", "split_references")  # a command has all of them
Set = _set("METRIC.SETTING=VALUE, once for each: aev.alpha=0.3, f_meta.base=bleu.")
SetOfAva = _set("ava.SETTING=VALUE, once for each: ava.checkpoint=base, ava.threshold=0.6.")
SetOfGrounding = repeated(
    "--set",
    "-s",
    metavar="KEY=VALUE",
    help="grounding.SETTING=VALUE, once for each: grounding.threshold=0.6, grounding.windows=1.",
    group=METRIC,
)
SettingsFile = option(
    Path | None,
    "--settings",
    metavar="FILE.json",
    help='The same from a file: {"aev": {"alpha": 0.3}}. --set wins.',
    group=METRIC,
)
Json = _file("--json", "everything, with all tests, as JSON")
Markdown = _file("--markdown", "the tables as Markdown")
Latex = _file("--latex", "LaTeX (booktabs)")
Html = _file("--html", "one HTML page")
SamePage = _file("--html", "the same as one HTML page")
SkipOrFail = option(Literal["fail", "skip"], "--on-error", help=_BAD_ROW, group=INPUT, shown=True)
SkipOrFailOrNone = option(Literal["fail", "skip"] | None, "--on-error", help=f"{_BAD_ROW} Default: fail.", group=INPUT)
SkipOrFailAll = option(
    Literal["fail", "skip"],
    "--on-error",
    help="A bad row, or a question that not all systems answer: fail at the first one, or report, count and skip "
    "them.",
    group=INPUT,
    shown=True,
)
PrintAs = option(
    Literal["table", "json", "markdown"],
    "--format",
    "-f",
    metavar="FORM",
    help="table, json or markdown.",
    group=OUTPUT,
    shown=True,
)
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
IgnoreJudgeErrors = option(
    bool,
    "--ignore-judge-errors",
    help="With ava, without labels: intervals of the accuracy that ignore the errors of the judge.",
    group=METRIC,
)
Verbose = option(
    bool, "--verbose", "-v", help="Print all tables, signatures and how the intervals were made.", group=OUTPUT
)
Calibration = option(
    str | None,
    "--calibration",
    metavar="FILE",
    help="With ava: FILE of `calibrate`. Default: calibration.json in the folder of the checkpoint, if there is one.",
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


def name_values(option: str, values: Sequence[str] | None) -> dict[str, str]:
    """Read the NAME=VALUE of a repeated option.

    >>> name_values("--column", ["prediction=answer", "system="])
    {'prediction': 'answer', 'system': ''}
    """
    pairs = {}
    for value in values or ():
        name, equals, content = value.partition("=")
        if not equals:
            raise ValueError(f"{option}: expected NAME=VALUE, got {value!r}")
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
    """Return the sources of paths that are read with the options `READING`, see `rows.sources.files`.

    Raises:
        ValueError: if a value is bad, or a file does not exist.
    """
    from ..rows.sources import ReadOptions, files

    names = [name.strip() for name in (systems or "").split(",") if name.strip()]
    if systems and len(set(names)) < max(len(names), 1):
        raise ValueError(f"--systems: expected different names of columns, A,B, got {systems!r}")
    return files(inputs, ReadOptions(form, names, encoding, rows_at or "", sheet or "1", split_references or ""))


def _value(text: str) -> object:
    """Read a value as JSON; what is not JSON is a string, except for the words that clearly mean a value.

    >>> _value("0.3"), _value("bleu"), _value("infinity"), _value('["a"]')
    (0.3, 'bleu', inf, ['a'])
    """
    try:
        return json.loads(text)
    except ValueError:
        return _WORDS.get(text.lower(), text)


def read_settings(file: Path | None, pairs: Sequence[str] | None, metrics: Sequence[str]) -> dict[str, dict]:
    """Merge the settings of a file with those of --set, which win.

    Args:
        file: a JSON file, or None.
        pairs: the METRIC.SETTING=VALUE of --set.
        metrics: the values of --metric; a file may hold the settings of the only one.

    Returns:
        {metric: {setting: value}}.

    Raises:
        ValueError: if the file cannot be read, or its content or a pair is not of that form.
    """
    settings = {} if file is None else _settings_of(file, metrics)
    for name, text in name_values("--set", pairs).items():
        metric, dot, setting = name.partition(".")
        if not dot or metric not in METRICS:
            raise ValueError(
                f"--set: expected METRIC.SETTING=VALUE with METRIC one of {', '.join(METRICS)}, got {name}={text}"
            )
        settings.setdefault(metric, {})[setting] = _value(text)
    return settings


def read_settings_of(only: str, pairs: Sequence[str] | None) -> dict[str, Any]:
    """Return the settings of --set for a command that computes one metric alone.

    Raises:
        ValueError: if a pair is not of that form, or is a setting of another metric.

    >>> read_settings_of("ava", ["ava.threshold=0.6"])
    {'threshold': 0.6}
    """
    settings = read_settings(None, pairs, [only])
    other = next((metric for metric in settings if metric != only), None)
    if other is not None:
        raise ValueError(f"--set: expected {only}.SETTING=VALUE, got a setting of {other}, which is not computed here")
    return settings.get(only, {})


def _settings_of(file: Path, metrics: Sequence[str]) -> dict[str, dict]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"--settings: {file} cannot be read as JSON: {error}") from error
    if isinstance(content, dict) and isinstance(content.get("settings"), dict):  # what the fitting scripts write
        content = {content["metric"]: content["settings"]} if "metric" in content else content["settings"]
    if isinstance(content, dict):
        if set(content) <= set(METRICS) and all(isinstance(values, dict) for values in content.values()):
            return content
        if len(metrics) == 1:
            return {metrics[0]: content}
    raise ValueError(
        f'--settings: expected {{"METRIC": {{"SETTING": VALUE}}}} in {file}, with METRIC one of '
        f"{', '.join(METRICS)}; for a file with the settings of one metric, name it with one --metric"
    )


def demands(values: Sequence[str] | None, names: Sequence[str] | None = None) -> dict[str, float]:
    """Read --fail-under.

    Args:
        values: NAME=VALUE.
        names: the names that there are; None where they are known only afterwards.

    >>> demands(["low=0.8"], ["accuracy", "low"])
    {'low': 0.8}
    """
    result = {}
    for name, text in name_values("--fail-under", values).items():
        if names is not None and name not in names:
            more = "; accuracy and its interval come with --metric ava" if name in ("accuracy", "low", "high") else ""
            raise ValueError(f"--fail-under: expected one of {', '.join(names)} before '=', got {name!r}{more}")
        try:
            result[name] = float(text)
        except ValueError:
            result[name] = math.nan
        if not math.isfinite(result[name]):
            raise ValueError(f"--fail-under: expected a number after {name}=, got {text!r}")
    return result
