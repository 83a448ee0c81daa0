"""Options of the verbs, checked; which metrics are computed with which settings."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from numbers import Integral
from typing import Any, Literal

from ..core.scorer import Scorer, warn_caller
from ..registry import JUDGE, OF_PASSAGES, OF_SETS, OF_WORDS, SCORERS, judge_among, make_scorer, scorer_class
from ..rows.columns import COLUMNS
from ..rows.errors import FileError, RecordedScoresWarning, name_column
from ..rows.reading import RowKind, recorded_settings
from ..rows.sources import Source
from .parts import PART_ROWS, is_folder

BUNDLED = ("small", "base", "large")  # checkpoints that a judged file may name
# Settings that a judged file says; others depend on the machine.
RECORDED_SETTINGS = (
    "checkpoint", "escalate", "dtype", "backend", "threshold", "reference_aggregation", "rules",
    "quantity_guard", "calibration",
)  # fmt: skip
Settings = Mapping[str, Any]  # see `settings_by_metric`
OnError = Literal["fail", "skip"]


@dataclass(frozen=True)
class ScoreOptions:
    """What `score` computes, and where rows with scores go: checked arguments of the function and of the command.

    A bad value is a ValueError. Settings include `calibration` and `limit_time`.
    """

    metrics: Sequence[str] = ()  # a name, names or None
    settings: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    output: str | None = None
    resume: bool = False
    part_rows: int = PART_ROWS
    engine: Literal["local", "ray"] = "local"
    address: str | None = None
    worst: int = 10
    calibration: str | None = None
    limit_time: str | float | None = None
    on_error: OnError = "fail"
    keep: bool = False  # rows with their scores in memory
    explain: bool = False

    def __post_init__(self):
        check_options(self.on_error, settings=self.settings, columns=self.columns, worst=self.worst)
        if self.part_rows < 1:
            raise ValueError(f"part_rows: expected at least 1, got {self.part_rows}")
        if self.engine != "ray" and self.address is not None:
            raise ValueError("address: only with the engine ray; leave it out, or add engine='ray'")
        metrics = tuple(listed_names("metrics", self.metrics))
        settings = settings_by_metric(self.settings, metrics)
        if self.calibration is not None:
            settings[JUDGE] = with_calibration(settings.get(JUDGE, {}), self.calibration)
        if self.limit_time is not None:
            settings[JUDGE] = with_limit(settings.get(JUDGE, {}), self.limit_time)
        checked = {"metrics": metrics, "settings": settings}
        for name, chosen in (checked | {"columns": checked_columns(self.columns)}).items():
            object.__setattr__(self, name, chosen)

    @property
    def in_parts(self) -> bool:
        """Whether the output is a folder of parts."""
        return bool(self.output) and is_folder(str(self.output))


def listed_names(argument: str, names: Any) -> list[str]:
    """Return the names in an argument, each once."""
    names = [names] if isinstance(names, str) else names or ()
    if not isinstance(names, Iterable) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{argument}: expected a name or a list of names, got {type(names).__name__} {names!r:.40}")
    return list(dict.fromkeys(names))


def check_options(on_error: str, **options: Any) -> None:
    """Check types and ranges of the arguments that several verbs have."""
    if on_error not in ("fail", "skip"):
        raise ValueError(f"on_error: expected 'fail' or 'skip', got {on_error!r}")
    for name, least in (("resamples", 100), ("seed", 0), ("rows", 0), ("worst", 0)):
        number = options.get(name, least)
        if isinstance(number, bool) or not isinstance(number, Integral) or number < least:
            raise ValueError(f"{name}: expected a number of at least {least}, got {number!r}")
    for name in ("settings", "columns"):
        mapping = options.get(name)
        if mapping is not None and not isinstance(mapping, Mapping):
            form = "{setting: value}, or {metric: {setting: value}}" if name == "settings" else "{name: column}"
            raise ValueError(f"{name}: expected {form}, got {type(mapping).__name__} {mapping!r:.40}")
    by = options.get("by")
    if by is not None and not isinstance(by, str):
        raise ValueError(f"by: expected the name of a column, got {by!r:.40}")


def with_calibration(settings: Mapping[str, Any], calibration: str | None) -> dict[str, Any]:
    """Return settings of the judge, with a file of `calibrate` as their calibration where one is named."""
    if calibration is None:
        return dict(settings)
    if settings.get("calibration", calibration) != calibration:
        raise ValueError(f"calibration: given twice, as an option and as a setting of {JUDGE}; drop one of the two")
    return {**settings, "calibration": calibration}


def seconds_of(duration: str | float) -> float:
    """Return a duration in seconds: a number of them, or a text with s, m or h.

    >>> seconds_of("5m"), seconds_of(90), seconds_of("1.5h")
    (300.0, 90.0, 5400.0)
    """
    units = {"s": 1, "m": 60, "h": 3600}
    text = str(duration).strip()
    try:
        seconds = float(text.rstrip("smh")) * units[text[-1]] if text[-1:] in units else float(text)
    except ValueError:
        seconds = 0.0
    if not 1 <= seconds < inf:
        raise ValueError(f"limit_time: expected a second or more, such as '5m' or '90s', got {duration!r:.40}")
    return seconds


def with_limit(settings: Mapping[str, Any], limit: str | float | None) -> dict[str, Any]:
    """Return settings with which the bundled judge judges all answers, and a slow one reads again for `limit`.

    >>> with_limit({"checkpoint": "large"}, "5m")
    {'checkpoint': 'small', 'escalate': 'large', 'limit_seconds': 300.0}
    """
    if limit is None:
        return dict(settings)
    slow, first = settings.get("escalate", settings.get("checkpoint")), settings.get("checkpoint", "small")
    if slow in (None, "small"):
        raise ValueError(f"limit_time: name the judge that it is for, with the setting {JUDGE}.checkpoint=large")
    first = "small" if "escalate" not in settings else first
    return {**settings, "checkpoint": first, "escalate": slow, "limit_seconds": seconds_of(limit)}


def checked_columns(columns: Mapping[str, str] | None, more: Sequence[str] = ()) -> dict[str, str]:
    """Return {role: column of the files}; a role that is neither in `COLUMNS` nor in `more` is a ValueError."""
    for name in columns or {}:
        if name not in (*COLUMNS, *more):
            raise ValueError(f"column: expected one of {', '.join((*COLUMNS, *more))} as the name, got {name!r}")
    return dict(columns or {})


def with_recorded(
    metric: str, settings: Mapping[str, Any], recorded: Mapping[str, Any], sources: Sequence[Source]
) -> dict[str, Any]:
    """Return the settings recorded in judged rows (see `recorded_settings`), overwritten by `settings`.

    Another checkpoint than the recorded one drops these. A file may name a checkpoint of this package, or a folder,
    but nothing that would be downloaded from elsewhere.
    """
    recorded = {name: setting for name, setting in recorded.items() if name in RECORDED_SETTINGS}
    names = [recorded[name] for name in ("checkpoint", "escalate") if name in recorded]
    if not recorded or settings.get("checkpoint", recorded.get("checkpoint")) != recorded.get("checkpoint"):
        return dict(settings)
    calibration = recorded.get("calibration")
    if isinstance(calibration, str) and not os.path.exists(calibration):  # then it stands beside the judged file
        folders = [os.path.dirname(source.path) for source in sources if source.path]
        beside = [path for folder in folders if os.path.exists(path := os.path.join(folder, calibration))]
        recorded |= {"calibration": beside[0]} if beside else {}
    listed = ", ".join(f"{name}={setting}" for name, setting in recorded.items())
    if not all(isinstance(name, str) and (name in BUNDLED or os.path.isdir(name)) for name in names):
        warn_caller(f"{metric}: judged before with {listed}, which is not on this machine", RecordedScoresWarning)
        return dict(settings)
    if not recorded.items() <= settings.items():
        warn_caller(f"{metric}: settings as the rows were judged before: {listed}", RecordedScoresWarning)
    return {**recorded, **settings}


def settings_by_metric(settings: Settings | None, metrics: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return {metric: {setting: value}} from this, {"metric.setting": value}, or {setting: value} of the only metric.

    >>> settings_by_metric({"ava.checkpoint": "large"}, ["ava", "aev"])
    {'ava': {'checkpoint': 'large'}}
    >>> settings_by_metric({"checkpoint": "large", "ava": {"threshold": 0.6}}, ["ava"])
    {'ava': {'checkpoint': 'large', 'threshold': 0.6}}
    """
    result: dict[str, dict[str, Any]] = {}
    for name, setting in (settings or {}).items():
        metric, dot, setting_name = name.partition(".")
        if isinstance(setting, Mapping):
            result.setdefault(name, {}).update(setting)
        elif dot:
            result.setdefault(metric, {})[setting_name] = setting
        elif len(metrics) == 1 and name not in SCORERS:
            result.setdefault(metrics[0], {})[name] = setting
        else:
            form = f"{{{name!r}: {{setting: value}}}}" if name in SCORERS else f"{{'METRIC.{name}': value}}"
            raise ValueError(f"settings: expected {form}, got {{{name!r}: {setting!r:.40}}}")
    return result


def make_scorers(
    metrics: Sequence[str], settings: Settings | None = None, sources: Sequence[Source] = ()
) -> dict[str, Scorer]:
    """Return {metric: its scorer} with `settings` in any form of `settings_by_metric`.

    Settings that are not given are those with which the rows of the sources were judged before, see `with_recorded`;
    of such rows no model is loaded before it is needed.

    >>> make_scorers(["aev"], {"f_meta": {"base": "bleu"}})
    Traceback (most recent call last):
        ...
    ValueError: f_meta: has settings but is not computed; add f_meta to metrics or drop them
    """
    settings = settings_by_metric(settings, metrics)
    for metric in settings:
        if metrics and metric not in metrics:
            raise ValueError(f"{metric}: has settings but is not computed; add {metric} to metrics or drop them")
    names = dict.fromkeys((*metrics, *settings))
    recorded, is_judged = recorded_settings(sources)
    whole = {m: with_recorded(m, settings.get(m, {}), recorded.get(m, {}), sources) for m in names}
    return {metric: make_scorer(metric, whole[metric], ready=not is_judged) for metric in names}


def default_metrics(row_kind: RowKind) -> tuple[str, ...]:
    """Return the metrics that are computed when none is named.

    Rows with a question get a metric that reads it: without it, long right answers look worse than short wrong ones.
    Grounding is computed only where it is named: its judge has to be downloaded.

    >>> default_metrics(RowKind(sets=False, text="question", has_contexts=True))
    ('ava',)
    """
    if row_kind.sets:
        return OF_SETS
    if not row_kind.has_references:
        raise FileError(
            f"rows have passages and no references, which only {OF_PASSAGES} reads; its judge is downloaded once "
            f"(1.1 GB), so that it is computed only where it is named: add {OF_PASSAGES} to metrics"
        )
    return (JUDGE,) if row_kind.text == "question" and row_kind.has_text else (OF_WORDS,)


def needed_columns(scorers: Mapping[str, Scorer]) -> dict[str, str]:
    """Return {column: first metric that needs it in every row}."""
    result: dict[str, str] = {}
    for metric, scorer in scorers.items():
        result.setdefault(scorer.evidence, metric)
        if scorer.needs_question:
            result.setdefault("question", metric)
    return result


def check_questions(scorers: Mapping[str, Scorer], row_kind: RowKind) -> None:
    """Raise a FileError about a metric that reads questions where rows have none."""
    for metric, scorer in scorers.items():
        if scorer.needs_question and row_kind.text != "question":
            problem = f"{metric}: needs rows with a question, got rows with a {row_kind.text}; leave it out, or "
            raise FileError(problem, "name the question with ", name_column("question"))


def score_names(metrics: Sequence[str]) -> list[str]:
    """Return the names of the scores of a system by some metrics, as `score` reports them.

    >>> score_names(["ava"])[-3:], score_names(["f_meta"])[0]
    (['accuracy', 'low', 'high'], 'f_meta')
    """
    names = [name for metric in metrics for name in scorer_class(metric).names]
    return names + (["accuracy", "low", "high"] if judge_among(metrics) else [])


def length_note(metric: str, systems: Mapping[str, Mapping[str, float]]) -> str:
    """Return `Scorer.length_note` of a metric; "" for a column of scores."""
    return scorer_class(metric).length_note(systems) if metric in SCORERS else ""
