"""Metrics for generated answers and questions; `load` gives one of the `evaluate` modules of this package."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .toolkit.reports.agree import agree as agree
    from .toolkit.reports.compare import compare as compare
    from .toolkit.reports.score import score as score

# Of the toolkit, by the module in its folder `reports`; imported where they are used.
_FUNCTIONS = {"score": "score", "compare": "compare", "agree": "agree"}

METRICS = ("aev", "ava", "f_meta", "kpqa")

try:
    __version__ = version("genqa-metrics")
except PackageNotFoundError:  # a checkout that is on sys.path but not installed
    __version__ = "unknown"


def load(name: str, **kwargs):
    """Load a metric of the installed package; needs no network.

    Args:
        name: "aev", "ava", "f_meta" or "kpqa".
        **kwargs: arguments of `evaluate.load`, for example `num_process`, and of the metric itself. `revision` is the
            checkpoint's; `evaluate.load` keeps it for the module, where it means nothing for one that is installed.

    Returns:
        The `evaluate.Metric`.

    Raises:
        ValueError: if there is no such metric.

    >>> load("aev").compute(predictions=["four steps"], references=["four steps"])["aev"]
    1.0
    """
    if name not in METRICS:
        raise ValueError(f"name: expected one of {', '.join(METRICS)}, got {name!r}")
    import evaluate

    if kwargs.get("revision") and kwargs.get("checkpoint") and not Path(kwargs["checkpoint"]).is_dir():
        kwargs["checkpoint"] = f"{kwargs['checkpoint']}@{kwargs.pop('revision')}"
    return evaluate.load(str(Path(__file__).parent / name / f"{name}.py"), **kwargs)


def __getattr__(name: str):
    if name in _FUNCTIONS:
        return getattr(import_module(f"{__name__}.toolkit.reports.{_FUNCTIONS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
