"""The base of every module of `evaluate`: checks rows and settings, supports threads and copies, and scores."""

import inspect
import json
import sys
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from .scorer import Scorer, check_names, column_sums, loaded_from, shown, warn_caller


def read_settings(settings: Mapping | str | Path | None) -> dict:
    """Return settings of `compute` from a mapping or from a JSON file, which has them at the top or in "settings"."""
    if settings is None or isinstance(settings, Mapping):
        return dict(settings or {})
    try:
        content = json.loads(Path(settings).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"settings: expected a mapping or a JSON file, got {settings!r}: {error}") from error
    content = content.get("settings", content) if isinstance(content, dict) else content
    if not isinstance(content, dict):
        raise ValueError(f"settings: expected a JSON object in {settings!r}, got {shown(content)}")
    return content


class CheckedModule:
    """Base class of the metric modules, before `evaluate.Metric`: checks rows and settings, then scores.

    A subclass names its scorer in `scorer_class`. Settings given to `load` are the defaults of `compute`. A refused
    call changes nothing: rows that were added before are still there.

    Threads can share a module. Rows belong to the thread that adds them: `compute` scores the rows given, and those
    that its own thread has added.

    Args:
        settings: settings by name, a JSON file with them, or the name of a preset; equivalent to keyword arguments.
        progress: show a progress bar, for a metric with a model; default: if stderr is a terminal.
        **kwargs: settings of the metric, and arguments of `evaluate.Metric`.
    """

    scorer_class: type[Scorer] = Scorer
    loaded_by: Callable | None = None  # loads the same module again, without arguments
    url = ""  # of the paper
    flags: tuple[str, ...] = ("per_example", "explain")  # arguments of `compute` that add results and change none

    def __init__(self, *args, settings: Mapping | str | Path | None = None, progress: bool | None = None, **kwargs):
        import evaluate

        scorer = self.scorer_class
        named = read_settings(scorer.presets.get(settings, settings) if isinstance(settings, str) else settings)
        evaluates = set(inspect.signature(evaluate.EvaluationModule).parameters) - {"kwargs"}
        allowed = [*scorer.setting_names, *self.flags, "settings", *(["progress"] if scorer.load_settings else [])]
        arguments = {**({"progress": progress} if progress is not None else {}), **named, **kwargs}
        for_scorer = [name for name in arguments if name not in evaluates or name in named]
        check_names(for_scorer, f"not a setting of {scorer.name}", allowed)
        named |= {name: setting for name, setting in kwargs.items() if name not in evaluates}
        loading = {name: setting for name, setting in named.items() if name in scorer.load_settings}
        self.settings = {name: setting for name, setting in named.items() if name not in loading}
        self.progress = progress
        self._arguments = kwargs | {"settings": settings, "progress": progress}
        self._script = loaded_from()
        self._thread = threading.local()  # `rows`: those added; `signature`: of the last `compute`
        super().__init__(*args, **{name: setting for name, setting in kwargs.items() if name in evaluates})
        self._scorer = scorer(**loading, **self._without_flags(self.settings))
        self._loading = loading

    def _described(self, description: str, usage: str, citation: str):
        """Return the `evaluate.MetricInfo` of a module: its texts and the required columns of its rows."""
        import datasets
        import evaluate

        text, texts = datasets.Value("string"), datasets.Sequence(datasets.Value("string"))
        columns = {"questions": text} if self.scorer_class.needs_question else {}
        columns |= {"predictions": texts if self.scorer_class.takes_sets else text, self.scorer_class.evidence: texts}
        texts_of_module = {"description": description, "citation": citation, "inputs_description": usage}
        features = datasets.Features(columns)
        return evaluate.MetricInfo(**texts_of_module, features=features, reference_urls=[self.url])

    def _build_data_dir(self) -> str:
        """Return the folder of evaluate's files; "" where none can be written, which only several processes need."""
        try:
            return super()._build_data_dir()
        except OSError:
            if self.num_process > 1:
                raise
            return ""

    def __repr__(self) -> str:
        chosen = {**self._loading, **self.settings}
        settings = ", ".join(f"{name}={shown(setting)}" for name, setting in chosen.items())
        return f"{type(self).__name__}({settings}), inputs: {', '.join(self._input_names())}, rows added: {len(self)}"

    def __reduce__(self):
        """Return the function that loads the module again, no arguments, and the rows that were added."""
        import evaluate

        if self.num_process > 1 and len(self):
            raise TypeError(f"{self.name}: rows of several processes cannot be copied; compute first")
        arguments = {n: argument for n, argument in self._arguments.items() if argument is not None and n != "hash"}
        module = sys.modules[type(self).__module__].__file__
        script = self._script if self._script and self._script.is_file() else module
        loaded_by = self.loaded_by or partial(evaluate.load, str(script), **arguments)
        return loaded_by, (), self._added or None

    def __setstate__(self, rows: dict[str, list]) -> None:
        self._thread.rows = rows

    @property
    def _added(self) -> dict[str, list]:
        """The columns of the rows that this thread has added."""
        return getattr(self._thread, "rows", {})

    def _without_flags(self, settings: Mapping) -> dict:
        """Return the settings of the metric among those of `compute`, after a check of the others, its `flags`."""
        for name in self.flags:
            if not isinstance(settings.get(name, False), bool):
                raise ValueError(f"{name}: expected True or False, got {settings[name]!r}")
        return {name: setting for name, setting in settings.items() if name not in self.flags}

    def _configured(self, settings: Mapping) -> Scorer:
        """Return the loaded scorer with the settings of one `compute`."""
        return self._scorer.with_settings(**self._without_flags(settings))

    def signature(self) -> str:
        """Return everything that the scores of this thread's last `compute` depend on, on one line."""
        return getattr(self._thread, "signature", self._scorer.signature)

    def _input_names(self) -> list[str]:
        """Return the names of the inputs: the required ones, which `evaluate` knows, then the optional ones."""
        return [*self._feature_names(), *self.scorer_class.optional]

    def _checked(self, columns: Mapping, first_row: int) -> dict[str, list]:
        names = self._input_names()
        check_names(columns, f"not an input of {self.name}", names)
        optional = self.scorer_class.optional if self.num_process > 1 else ()
        for name in optional:
            if columns.get(name) is not None:
                raise ValueError(f"{name}: not shared by several processes; leave it out, or load with num_process=1")
        checked = self.scorer_class.checked(columns, first_row)
        return {name: column for name, column in checked.items() if name not in optional}

    def __len__(self) -> int:
        if self.num_process > 1:
            return super().__len__()
        return len(self._added.get("predictions", ()))

    def add_batch(self, **columns) -> None:
        """Check and add rows; see `evaluate.Metric.add_batch`."""
        checked = self._checked(columns, len(self))
        if self.num_process > 1:
            return super().add_batch(**checked)
        self._thread.rows = self._added or {name: [] for name in checked}
        for name, column in checked.items():
            self._added[name] += column

    def add(self, **row) -> None:
        """Check and add one row, each input in the singular (prediction=, reference=); see `evaluate.Metric.add`."""
        plural = {name.removesuffix("s"): name for name in self._input_names()}
        self.add_batch(**{plural.get(name, name): [entry] for name, entry in row.items()})

    def compute(self, **inputs_and_settings) -> dict | None:
        """Check everything, then compute on the rows given and added; see `evaluate.Metric.compute`."""
        names = self._input_names()
        if "references" in inputs_and_settings and inputs_and_settings["references"] is None:
            del inputs_and_settings["references"]  # `evaluate.combine` passes None to metrics that have none
        settings = {**self.settings, **{k: v for k, v in inputs_and_settings.items() if k not in names}}
        for name in settings:
            if name in self.scorer_class.load_settings:
                raise TypeError(f"{name}: an argument of load, not of compute")
        allowed = [*names, *self.scorer_class.compute_settings, *self.flags]
        check_names(settings, f"neither an input nor a setting of {self.name}", allowed)
        scorer = self._configured(settings)
        inputs = {k: v for k, v in inputs_and_settings.items() if k in names and v is not None}
        if inputs:
            self.add_batch(**inputs)
        if self.num_process > 1:
            return super().compute(**settings)
        columns, self._thread.rows = self._added, {}
        return self._results(scorer, columns, settings)

    def _compute(self, **columns_and_settings) -> dict:
        """Return the results of rows from several processes: what `evaluate.Metric.compute` calls."""
        columns = {name: columns_and_settings[name] for name in self._input_names() if name in columns_and_settings}
        settings = {name: setting for name, setting in columns_and_settings.items() if name not in columns}
        return self._results(self._configured(settings), columns, settings)

    def _more(self, scorer: Scorer, columns: dict[str, list], results: dict) -> dict:
        """Return {name: result} that a subclass adds to `results`; its own flags, such as `grid`, are arguments."""
        return {}

    def _results(self, scorer: Scorer, columns: dict[str, list], settings: Mapping) -> dict:
        """Return {name: result} of `compute`: scores of the corpus, and lists with one entry per row if asked for."""
        from tqdm import tqdm

        names, flags = self._feature_names(), {name: settings.get(name, False) for name in self.flags}
        per_example, explain = flags.pop("per_example"), flags.pop("explain", False)
        if not columns.get("predictions"):
            problem = f"no rows, nothing to compute on; pass {' and '.join(names)}, or add rows first"
            raise ValueError(f"{names[0]}: {problem}")
        scorer = scorer.for_rows(columns)
        self._thread.signature = scorer.signature
        rows = len(columns["predictions"])
        wanted = sys.stderr.isatty() if self.progress is None else self.progress
        hidden = not (wanted and self.scorer_class.load_settings)
        with tqdm(total=rows, desc=scorer.name, unit="row", disable=hidden) as bar:
            result = scorer.scored(columns, explain, bar.update)
        statistics, details, _ = result
        total = column_sums(statistics)
        for warning in scorer.warnings({"": total}, scorer.all_counts(columns, result)):
            warn_caller(f"{scorer.name}: {warning}")
        results = scorer.corpus_scores(total, rows)
        explanation = details.pop("explanation", None)
        if per_example:
            lists = {name: scores.tolist() for name, scores in scorer.row_scores(statistics).items()} | details
            results |= {f"{name}_per_example": entries for name, entries in lists.items()}
        results |= self._more(scorer, columns, results, **flags)
        return results | ({"explanation": explanation} if explain else {})
