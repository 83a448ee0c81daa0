"""Make `metrics/__init__.pyi`, the types of `genqa_metrics`, from the settings and options that the code declares.

    python -m tests.programs.stubs --write

Without `--write` it prints them. A test fails where the file in the repository is not what this program makes.
"""

import argparse
import inspect
import re
import subprocess
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

import evaluate
import genqa_metrics
from genqa_metrics.core.scorer import Scorer
from genqa_metrics.toolkit.scoring.registry import scorer_class

STUB = Path(genqa_metrics.__file__).with_name("__init__.pyi")
VERBS = ("score", "compare", "agree", "accuracy", "calibrate", "explain")
HEAD = '''\
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
'''
EVALUATE = """\
config_name: str | None = None, num_process: int = 1, process_id: int = 0, experiment_id: str | None = None
cache_dir: str | None = None, keep_in_memory: bool = False, timeout: float = 100
settings: Mapping[str, Any] | str | os.PathLike[str] | None = None""".replace("\n", ", ").split(", ")


def shown_type(annotation: object) -> str:
    """Return an annotation as it is written in the stub.

    >>> from collections.abc import Sequence
    >>> shown_type(Sequence[float] | None), shown_type(dict | None)
    ('Sequence[float] | None', 'dict[str, Any] | None')
    """
    if annotation is inspect.Parameter.empty:
        return "Any"
    text = inspect.formatannotation(annotation).strip("'")
    text = re.sub(r"\b(?:collections\.abc|typing|genqa_metrics(?:\.\w+)*)\.(?=\w)", "", text)
    return re.sub(r"\bdict\b(?!\[)", "dict[str, Any]", re.sub(r"PathLike\b(?!\[)", "PathLike[str]", text))


def argument(name: str, annotation: object, default: object = inspect.Parameter.empty) -> str:
    """Return one argument as it is written in the stub."""
    if default is inspect.Parameter.empty:
        return f"{name}: {shown_type(annotation)}"
    plain = default is None or isinstance(default, str | bool | int | float) or default == ()
    return f"{name}: {shown_type(annotation)} = {repr(default) if plain else '...'}"


def function(name: str, arguments: Iterable[str], returned: str) -> str:
    """Return a function with one argument a line."""
    return f"def {name}({', '.join(arguments)},) -> {returned}: ..."


def declared(parameters: dict[str, inspect.Parameter]) -> list[str]:
    """Return settings as arguments."""
    return [argument(name, one.annotation, one.default) for name, one in parameters.items()]


def module_class(scorer: type[Scorer]) -> type[evaluate.Metric]:
    """Return the class of the `evaluate` module of a metric."""
    module = import_module(f"genqa_metrics.{scorer.name}.{scorer.name}")
    return next(made for made in vars(module).values() if getattr(made, "scorer_class", None) is scorer)


def metric_types(metric: str) -> tuple[str, str]:
    """Return the protocol of a metric's module, and the overload of `load` that returns it."""
    scorer = scorer_class(metric)
    made = module_class(scorer)
    texts, answers = "Sequence[str]", "Sequence[Sequence[str]]"
    inputs = {"questions": texts} if scorer.needs_question else {}
    single = scorer.evidence == "references" and not scorer.takes_sets  # one text may stand for a list of one
    evidence = f"{texts} | {answers}" if single else answers
    inputs |= {"predictions": answers if scorer.takes_sets else texts, scorer.evidence: evidence}
    rows = [f"{name}: {kind}" for name, kind in inputs.items()]
    more = [f"{name}: {texts} | None = None" for name in scorer.optional]
    one = [
        f"{name.removesuffix('s')}: " + ("str | Sequence[str]" if single and name == "references" else kind[9:-1])
        for name, kind in inputs.items()
    ]
    one += [f"{name.removesuffix('s')}: str | None = None" for name in scorer.optional]
    flags = [f"{name}: bool = False" for name in made.flags]
    settings = declared(scorer.compute_settings)
    loading = declared(scorer.load_settings) + ["progress: bool | None = None"] * bool(scorer.load_settings)
    given = [f"{name}: {kind} | None = None" for name, kind in inputs.items()]
    protocol = "\n    ".join(
        [
            f"class {made.__name__}Module(_Module, Protocol):",
            function("compute", ["self", "*", *given, *more, *settings, *flags], "dict[str, Any]"),
            function("add_batch", ["self", "*", *rows, *more], "None"),
            function("add", ["self", "*", *one], "None"),
        ]
    )
    arguments = [f'name: Literal["{metric}"]', "*", *settings, *loading, *flags, *EVALUATE]
    return protocol, f"@overload\n{function('load', arguments, made.__name__ + 'Module')}"


def stub() -> str:
    """Return the text of the stub, formatted by ruff."""
    protocols, overloads = zip(*map(metric_types, genqa_metrics.METRICS), strict=True)
    verbs = []
    for name in VERBS:
        signature = inspect.signature(getattr(genqa_metrics, name))
        arguments = [argument(one.name, one.annotation, one.default) for one in signature.parameters.values()]
        star = next(i for i, one in enumerate(signature.parameters.values()) if one.kind is one.KEYWORD_ONLY)
        verbs.append(
            function(name, [*arguments[:star], "*", *arguments[star:]], shown_type(signature.return_annotation))
        )
    text = "\n\n".join([HEAD, *protocols, *overloads, *verbs])
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(STUB), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True, cwd=STUB.parent).stdout


def main() -> None:
    """Print the stub, or write it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write metrics/__init__.pyi")
    if parser.parse_args().write:
        STUB.write_text(stub(), encoding="utf-8")
    else:
        print(stub(), end="")


if __name__ == "__main__":
    main()
