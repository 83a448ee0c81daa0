"""Types of genqa_metrics, for editors and type checkers; made by python -m tests.programs.stubs --write."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, Protocol, overload

from .toolkit.reports.accuracy import AccuracyReport
from .toolkit.reports.agree import AgreeReport
from .toolkit.reports.calibrate import CalibrateReport
from .toolkit.reports.compare import CompareReport
from .toolkit.reports.score import ScoreReport

METRICS: tuple[str, ...]
__version__: str

class _Module(Protocol):
    name: str
    def signature(self) -> str: ...
    def __len__(self) -> int: ...

class AevModule(_Module, Protocol):
    def compute(
        self,
        *,
        predictions: Sequence[str] | None = None,
        references: Sequence[str] | Sequence[Sequence[str]] | None = None,
        alpha: float = 0.5,
        max_order: int = 2,
        brevity: float = 1.0,
        wordiness: float = 2.0,
        weights: Sequence[float] | None = None,
        stop_words: str | Collection[str] | None = "english",
        stemmer: str | None = "porter",
        tokenizer: str | Callable[[str], list[str]] = "word",
        reference_recall: str = "all",
        stop_words_orders: str = "all",
        effective_order: bool = True,
        per_example: bool = False,
        grid: bool = False,
    ) -> dict[str, Any]: ...
    def add_batch(
        self,
        *,
        predictions: Sequence[str],
        references: Sequence[str] | Sequence[Sequence[str]],
    ) -> None: ...
    def add(
        self,
        *,
        prediction: str,
        reference: str | Sequence[str],
    ) -> None: ...

class AvaModule(_Module, Protocol):
    def compute(
        self,
        *,
        questions: Sequence[str] | None = None,
        predictions: Sequence[str] | None = None,
        references: Sequence[str] | Sequence[Sequence[str]] | None = None,
        short_answers: Sequence[str] | None = None,
        threshold: float | None = None,
        reference_aggregation: str | None = None,
        early_stop: float | None = None,
        rules: bool = True,
        quantity_guard: bool = True,
        calibration: str | os.PathLike[str] | bool | None = None,
        per_example: bool = False,
        explain: bool = False,
    ) -> dict[str, Any]: ...
    def add_batch(
        self,
        *,
        questions: Sequence[str],
        predictions: Sequence[str],
        references: Sequence[str] | Sequence[Sequence[str]],
        short_answers: Sequence[str] | None = None,
    ) -> None: ...
    def add(
        self,
        *,
        question: str,
        prediction: str,
        reference: str | Sequence[str],
        short_answer: str | None = None,
    ) -> None: ...

class FMetaModule(_Module, Protocol):
    def compute(
        self,
        *,
        predictions: Sequence[Sequence[str]] | None = None,
        references: Sequence[Sequence[str]] | None = None,
        base: object = "rouge",
        base_kwargs: dict[str, Any] | None = None,
        base_key: str | None = None,
        per_example: bool = False,
        explain: bool = False,
    ) -> dict[str, Any]: ...
    def add_batch(
        self,
        *,
        predictions: Sequence[Sequence[str]],
        references: Sequence[Sequence[str]],
    ) -> None: ...
    def add(
        self,
        *,
        prediction: Sequence[str],
        reference: Sequence[str],
    ) -> None: ...

class GroundingModule(_Module, Protocol):
    def compute(
        self,
        *,
        predictions: Sequence[str] | None = None,
        contexts: Sequence[Sequence[str]] | None = None,
        questions: Sequence[str] | None = None,
        threshold: float | None = None,
        windows: int = 3,
        citations: bool = True,
        per_example: bool = False,
        explain: bool = False,
    ) -> dict[str, Any]: ...
    def add_batch(
        self,
        *,
        predictions: Sequence[str],
        contexts: Sequence[Sequence[str]],
        questions: Sequence[str] | None = None,
    ) -> None: ...
    def add(
        self,
        *,
        prediction: str,
        context: Sequence[str],
        question: str | None = None,
    ) -> None: ...

class KpqaModule(_Module, Protocol):
    def compute(
        self,
        *,
        questions: Sequence[str] | None = None,
        predictions: Sequence[str] | None = None,
        references: Sequence[str] | Sequence[Sequence[str]] | None = None,
        beta: float = 1.0,
        rouge_weights: str = "both",
        idf: bool | Sequence[str] = False,
        negation: bool = True,
        values: bool = True,
        clipped: bool = True,
        per_example: bool = False,
        explain: bool = False,
    ) -> dict[str, Any]: ...
    def add_batch(
        self,
        *,
        questions: Sequence[str],
        predictions: Sequence[str],
        references: Sequence[str] | Sequence[Sequence[str]],
    ) -> None: ...
    def add(
        self,
        *,
        question: str,
        prediction: str,
        reference: str | Sequence[str],
    ) -> None: ...

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
    stop_words_orders: str = "all",
    effective_order: bool = True,
    per_example: bool = False,
    grid: bool = False,
    config_name: str | None = None,
    num_process: int = 1,
    process_id: int = 0,
    experiment_id: str | None = None,
    cache_dir: str | None = None,
    keep_in_memory: bool = False,
    timeout: float = 100,
    settings: Mapping[str, Any] | str | os.PathLike[str] | None = None,
) -> AevModule: ...
@overload
def load(
    name: Literal["ava"],
    *,
    threshold: float | None = None,
    reference_aggregation: str | None = None,
    early_stop: float | None = None,
    rules: bool = True,
    quantity_guard: bool = True,
    calibration: str | os.PathLike[str] | bool | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    revision: str | None = None,
    device: str | None = None,
    dtype: object = None,
    batch_tokens: int = 4096,
    backend: str | None = None,
    base_model: str | os.PathLike[str] | None = None,
    escalate: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    per_example: bool = False,
    explain: bool = False,
    config_name: str | None = None,
    num_process: int = 1,
    process_id: int = 0,
    experiment_id: str | None = None,
    cache_dir: str | None = None,
    keep_in_memory: bool = False,
    timeout: float = 100,
    settings: Mapping[str, Any] | str | os.PathLike[str] | None = None,
) -> AvaModule: ...
@overload
def load(
    name: Literal["f_meta"],
    *,
    base: object = "rouge",
    base_kwargs: dict[str, Any] | None = None,
    base_key: str | None = None,
    per_example: bool = False,
    explain: bool = False,
    config_name: str | None = None,
    num_process: int = 1,
    process_id: int = 0,
    experiment_id: str | None = None,
    cache_dir: str | None = None,
    keep_in_memory: bool = False,
    timeout: float = 100,
    settings: Mapping[str, Any] | str | os.PathLike[str] | None = None,
) -> FMetaModule: ...
@overload
def load(
    name: Literal["grounding"],
    *,
    threshold: float | None = None,
    windows: int = 3,
    citations: bool = True,
    checkpoint: str | os.PathLike[str] | None = None,
    revision: str | None = None,
    device: str | None = None,
    dtype: object = None,
    batch_tokens: int = 4096,
    backend: str | None = None,
    base_model: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    per_example: bool = False,
    explain: bool = False,
    config_name: str | None = None,
    num_process: int = 1,
    process_id: int = 0,
    experiment_id: str | None = None,
    cache_dir: str | None = None,
    keep_in_memory: bool = False,
    timeout: float = 100,
    settings: Mapping[str, Any] | str | os.PathLike[str] | None = None,
) -> GroundingModule: ...
@overload
def load(
    name: Literal["kpqa"],
    *,
    beta: float = 1.0,
    rouge_weights: str = "both",
    idf: bool | Sequence[str] = False,
    negation: bool = True,
    values: bool = True,
    clipped: bool = True,
    checkpoint: str | os.PathLike[str] | None = None,
    revision: str | None = None,
    device: str | None = None,
    dtype: object = None,
    batch_tokens: int = 4096,
    embedding_model: str | os.PathLike[str] | None = None,
    embedding_layer: int | None = None,
    backend: str | None = None,
    base_model: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    per_example: bool = False,
    explain: bool = False,
    config_name: str | None = None,
    num_process: int = 1,
    process_id: int = 0,
    experiment_id: str | None = None,
    cache_dir: str | None = None,
    keep_in_memory: bool = False,
    timeout: float = 100,
    settings: Mapping[str, Any] | str | os.PathLike[str] | None = None,
) -> KpqaModule: ...
def score(
    rows: Any,
    metrics: str | Sequence[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    output: str | None = None,
    resume: bool = False,
    part_rows: int = 20000,
    engine: Literal["local", "ray"] = "local",
    address: str | None = None,
    total: bool = False,
    ignore_judge_errors: bool = False,
    calibration: str | None = None,
    on_error: Literal["fail", "skip"] = "fail",
    keep: bool = True,
    notify: Callable[[str], None] = ...,
    problem: Callable[[str], None] = ...,
    progress: Callable[[str, int, int | None], None] = ...,
) -> ScoreReport: ...
def compare(
    systems: object,
    metrics: str | Sequence[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    *,
    columns: Mapping[str, str] | None = None,
    score_columns: str | Sequence[str] = (),
    resamples: int = 10000,
    correction: str = "holm",
    rows: int = 6,
    by: str | None = None,
    runs: bool = False,
    ignore_judge_errors: bool = False,
    calibration: str | None = None,
    on_error: Literal["fail", "skip"] = "fail",
    problem: Callable[[str], None] = ...,
    progress: Callable[[str, int, int], None] = ...,
) -> CompareReport: ...
def agree(
    rows: object,
    human: str = "score",
    metrics: str | Sequence[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    *,
    columns: Mapping[str, str] | None = None,
    score_columns: str | Sequence[str] = (),
    group_columns: str | Sequence[str] = (),
    correct: float | None = None,
    gap: float | None = None,
    resamples: int = 1000,
    worst: int = 10,
    on_error: Literal["fail", "skip"] = "fail",
    problem: Callable[[str], None] = ...,
    progress: Callable[[str, int, int], None] = ...,
) -> AgreeReport: ...
def accuracy(
    rows: Any,
    labels: Any = None,
    columns: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
    *,
    finite_population: bool = False,
    by: str | None = None,
    rater_error: float | None = None,
    confidence: float = 0.95,
    ignore_judge_errors: bool = False,
    calibration: str | None = None,
    on_error: Literal["fail", "skip"] = "fail",
    problem: Callable[[str], None] = ...,
    progress: Callable[[str, int, int], None] = ...,
) -> AccuracyReport: ...
def calibrate(
    rows: Any,
    output: str | None = None,
    settings: Mapping[str, Any] | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    on_error: Literal["fail", "skip"] = "fail",
    problem: Callable[[str], None] = ...,
    progress: Callable[[str, int, int], None] = ...,
) -> CalibrateReport: ...
def explain(
    question: str,
    prediction: str,
    references: str | Sequence[str] | None = None,
    metric: str = "ava",
    settings: Mapping[str, Any] | None = None,
    *,
    contexts: Sequence[str] | None = None,
    progress: bool = False,
) -> dict[str, Any]: ...
