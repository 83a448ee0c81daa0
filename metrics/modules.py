"""Types of the modules of `evaluate` that `genqa_metrics.load` returns, for editors and type checkers only."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol

Texts = Sequence[str]
References = Sequence[str] | Sequence[Sequence[str]]
Sets = Sequence[Sequence[str]]


class Module(Protocol):
    """What all modules have."""

    name: str

    def signature(self) -> str:
        """Return one line with everything that the numbers of the last `compute` depend on."""
        ...

    def __len__(self) -> int:
        """Return the number of rows that were added."""
        ...


class AevModule(Module, Protocol):
    """The module `aev`; its card says what the arguments mean."""

    def compute(
        self,
        *,
        predictions: Texts | None = None,
        references: References | None = None,
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
        grid: bool = False,
        per_example: bool = False,
    ) -> dict[str, Any]:
        """Return the scores of the rows given and added."""
        ...

    def add_batch(self, *, predictions: Texts, references: References) -> None:
        """Add rows."""
        ...

    def add(self, *, prediction: str, reference: str | Sequence[str]) -> None:
        """Add one row."""
        ...


class AvaModule(Module, Protocol):
    """The module `ava`; its card says what the arguments mean."""

    def compute(
        self,
        *,
        questions: Texts | None = None,
        predictions: Texts | None = None,
        references: References | None = None,
        threshold: float | None = None,
        reference_aggregation: str | None = None,
        early_stop: float | None = None,
        per_example: bool = False,
    ) -> dict[str, Any]:
        """Return the scores of the rows given and added."""
        ...

    def add_batch(self, *, questions: Texts, predictions: Texts, references: References) -> None:
        """Add rows."""
        ...

    def add(self, *, question: str, prediction: str, reference: str | Sequence[str]) -> None:
        """Add one row."""
        ...


class FMetaModule(Module, Protocol):
    """The module `f_meta`; its card says what the arguments mean."""

    def compute(
        self,
        *,
        predictions: Sets | None = None,
        references: Sets | None = None,
        base: object = "rouge",
        base_kwargs: dict[str, Any] | None = None,
        base_key: str | None = None,
        explain: bool = False,
        per_example: bool = False,
    ) -> dict[str, Any]:
        """Return the scores of the rows given and added."""
        ...

    def add_batch(self, *, predictions: Sets, references: Sets) -> None:
        """Add rows."""
        ...

    def add(self, *, prediction: Sequence[str], reference: Sequence[str]) -> None:
        """Add one row."""
        ...


class KpqaModule(Module, Protocol):
    """The module `kpqa`; its card says what the arguments mean."""

    def compute(
        self,
        *,
        questions: Texts | None = None,
        predictions: Texts | None = None,
        references: References | None = None,
        beta: float = 1.0,
        rouge_weights: str = "both",
        idf: bool | Sequence[str] = False,
        negation: bool = True,
        values: bool = True,
        explain: bool = False,
        per_example: bool = False,
    ) -> dict[str, Any]:
        """Return the scores of the rows given and added."""
        ...

    def add_batch(self, *, questions: Texts, predictions: Texts, references: References) -> None:
        """Add rows."""
        ...

    def add(self, *, question: str, prediction: str, reference: str | Sequence[str]) -> None:
        """Add one row."""
        ...
