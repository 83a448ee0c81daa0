"""Metrics for generated answers and questions; `load` gives one of the `evaluate` modules of this package."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

if TYPE_CHECKING:
    from .modules import AevModule, AvaModule, FMetaModule, KpqaModule
    from .toolkit.reports.accuracy import accuracy as accuracy
    from .toolkit.reports.agree import agree as agree
    from .toolkit.reports.compare import compare as compare
    from .toolkit.reports.score import score as score

# Of the toolkit, by the module in its folder `reports`; imported where they are used.
_FUNCTIONS = {"score": "score", "compare": "compare", "agree": "agree", "accuracy": "accuracy"}

METRICS: tuple[str, ...]  # see __getattr__

try:
    __version__ = version("genqa-metrics")
except PackageNotFoundError:  # a checkout that is on sys.path but not installed
    __version__ = "unknown"

Settings = Mapping[str, Any] | str | os.PathLike[str] | None


def __getattr__(name: str) -> Any:
    if name == "METRICS":
        from .toolkit.scoring.registry import SCORERS

        return tuple(SCORERS)
    if name in _FUNCTIONS:
        return getattr(import_module(f"{__name__}.toolkit.reports.{_FUNCTIONS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@overload
def load(
    name: Literal["aev"],
    *,
    alpha: float = 0.5,
    max_order: int = 2,
    brevity: float = 1.0,
    wordiness: float = 2.0,
    weights: Sequence[float] | None = None,
    stop_words: str | Collection[str] | None = "english",
    stemmer: str | None = "porter",
    tokenizer: str | Callable[[str], list[str]] = "word",
    reference_recall: str = "all",
    grid: bool = False,
    config_name: str | None = None,
    num_process: int = 1,
    process_id: int = 0,
    experiment_id: str | None = None,
    cache_dir: str | None = None,
    keep_in_memory: bool = False,
    timeout: float = 100,
    settings: Settings = None,
    per_example: bool = False,
) -> "AevModule": ...


@overload
def load(
    name: Literal["ava"],
    *,
    threshold: float | None = None,
    reference_aggregation: str | None = None,
    early_stop: float | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    revision: str | None = None,
    device: str | None = None,
    dtype: object = None,
    batch_tokens: int = 4096,
    backend: str | None = None,
    base_model: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    config_name: str | None = None,
    num_process: int = 1,
    process_id: int = 0,
    experiment_id: str | None = None,
    cache_dir: str | None = None,
    keep_in_memory: bool = False,
    timeout: float = 100,
    settings: Settings = None,
    per_example: bool = False,
) -> "AvaModule": ...


@overload
def load(
    name: Literal["f_meta"],
    *,
    base: object = "rouge",
    base_kwargs: dict[str, Any] | None = None,
    base_key: str | None = None,
    explain: bool = False,
    config_name: str | None = None,
    num_process: int = 1,
    process_id: int = 0,
    experiment_id: str | None = None,
    cache_dir: str | None = None,
    keep_in_memory: bool = False,
    timeout: float = 100,
    settings: Settings = None,
    per_example: bool = False,
) -> "FMetaModule": ...


@overload
def load(
    name: Literal["kpqa"],
    *,
    beta: float = 1.0,
    explain: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    revision: str | None = None,
    device: str | None = None,
    dtype: object = None,
    batch_tokens: int = 4096,
    backend: str | None = None,
    base_model: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    embedding_model: str | None = None,
    embedding_layer: int | None = None,
    config_name: str | None = None,
    num_process: int = 1,
    process_id: int = 0,
    experiment_id: str | None = None,
    cache_dir: str | None = None,
    keep_in_memory: bool = False,
    timeout: float = 100,
    settings: Settings = None,
    per_example: bool = False,
) -> "KpqaModule": ...


@overload
def load(name: str, **kwargs: Any) -> Any: ...


def load(name: str, **kwargs: Any) -> Any:
    """Load a metric of the installed package; needs no network.

    Args:
        name: "aev", "ava", "f_meta" or "kpqa".
        **kwargs: settings of the metric, which are the defaults of its `compute`, and arguments of `evaluate.load`,
            for example `num_process`. `revision` is the checkpoint's; `evaluate.load` keeps it for the module, where
            it means nothing for one that is installed.

    Returns:
        The `evaluate.Metric`.

    Raises:
        ValueError: if there is no such metric, or a value is bad.
        TypeError: if there is no such argument.

    >>> load("aev").compute(predictions=["four steps"], references=["four steps"])["aev"]
    1.0
    """
    from .toolkit.scoring.registry import SCORERS

    if name not in SCORERS:
        raise ValueError(f"name: expected one of {', '.join(SCORERS)}, got {name!r}")
    import evaluate

    given = dict(kwargs)
    if kwargs.get("revision") and kwargs.get("checkpoint") and not Path(kwargs["checkpoint"]).is_dir():
        given["checkpoint"] = f"{kwargs['checkpoint']}@{given.pop('revision')}"
    try:
        metric = evaluate.load(str(Path(__file__).parent / name / f"{name}.py"), **given)
    except OSError:
        # evaluate copies a module into HF_HOME and imports the copy; where nothing can be written, import it here.
        if os.access(evaluate.config.HF_MODULES_CACHE, os.W_OK):
            raise
        module = import_module(f"{__name__}.{name}.{name}")
        metric = next(
            made
            for made in vars(module).values()
            if isinstance(made, type) and issubclass(made, evaluate.Metric) and made.__module__ == module.__name__
        )(**given)
    metric.loaded_by = partial(load, name, **kwargs)
    return metric
