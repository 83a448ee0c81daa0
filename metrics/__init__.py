"""Metrics for generated answers and questions; `load` gives one of the `evaluate` modules of this package."""

import os
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .rows.sources import read_rows
    from .verbs.accuracy.report import accuracy
    from .verbs.agree.report import agree
    from .verbs.calibrate.report import calibrate
    from .verbs.compare.report import compare
    from .verbs.explain.report import explain
    from .verbs.score.report import score

    METRICS: tuple[str, ...]

_VERBS = ("accuracy", "agree", "calibrate", "compare", "explain", "score")  # imported where they are used
__all__ = [
    "METRICS",
    "__version__",
    "accuracy",
    "agree",
    "calibrate",
    "compare",
    "explain",
    "load",
    "read_rows",
    "score",
]

try:
    __version__ = version("genqa-metrics")
except PackageNotFoundError:  # a checkout that is on sys.path but not installed
    __version__ = "unknown"


def __getattr__(name: str) -> Any:
    if name == "METRICS":
        from .registry import SCORERS

        return tuple(SCORERS)
    if name == "read_rows":
        from .rows.sources import read_rows

        return read_rows
    if name in _VERBS:
        return getattr(import_module(f"{__name__}.verbs.{name}.report"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)


def load(name: str, **kwargs: Any) -> Any:
    """Load a metric of the installed package; needs no network.

    Args:
        name: "aev", "ava", "f_meta", "grounding" or "kpqa".
        **kwargs: settings of the metric, which are the defaults of its `compute`, and arguments of `evaluate.load`,
            for example `num_process`. `revision` is that of the checkpoint.

    Returns:
        The `evaluate.Metric`.

    Raises:
        ValueError: if there is no such metric, or a value is bad.
        TypeError: if there is no such argument.

    >>> load("aev").compute(predictions=["four steps"], references=["four steps"])["aev"]
    1.0
    """
    from .registry import SCORERS

    if not isinstance(name, str) or name not in SCORERS:
        raise ValueError(f"name: expected one of {', '.join(SCORERS)}, got {name!r}")
    import evaluate

    arguments = dict(kwargs)
    if kwargs.get("revision") and kwargs.get("checkpoint") and not Path(kwargs["checkpoint"]).is_dir():
        arguments["checkpoint"] = f"{kwargs['checkpoint']}@{arguments.pop('revision')}"
    try:
        metric = evaluate.load(str(Path(__file__).parent / name / f"{name}.py"), **arguments)
    except OSError:
        # evaluate copies a module into HF_HOME and imports the copy; where nothing can be written, import it here.
        if os.access(evaluate.config.HF_MODULES_CACHE, os.W_OK):
            raise
        module = import_module(f"{__name__}.{name}.{name}")
        metric = next(
            var
            for var in vars(module).values()
            if isinstance(var, type) and issubclass(var, evaluate.Metric) and var.__module__ == module.__name__
        )(**arguments)
    metric.loaded_by = partial(load, name, **kwargs)
    return metric
