"""What every metric of genqa-metrics shares: the version, the checking of texts, the scorer, the checked module.

`evaluate` itself checks only the first row of a column: later numbers become strings, None passes, and a string
where a list is expected is cut into characters. These functions check every row and name the first bad one.

This file stands in every metric folder, because a folder must work when it is copied alone. The copy in `aev` is
the original; `make copies` renews the others and a test keeps them identical.
"""

import inspect
import json
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from math import fsum
from pathlib import Path

import numpy as np

VERSION = "0.1.0"
ALIASES = {  # what other libraries call the inputs
    **dict.fromkeys(("answer", "answers", "candidate", "candidates", "hypotheses", "outputs"), "predictions"),
    **dict.fromkeys(("gold", "golds", "ground_truth", "ground_truths", "labels", "targets"), "references"),
    **dict.fromkeys(("query", "queries", "prompts"), "questions"),
}


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _rows(argument: str, column: object) -> list:
    if column is None:
        raise ValueError(f"{argument}: expected a list with one entry per row, got None")
    if isinstance(column, str | bytes | Mapping) or not isinstance(column, Iterable):
        raise ValueError(
            f"{argument}: expected a list with one entry per row, got {type(column).__name__} {_shown(column)}; "
            f"put a single row into a list: {argument}=[...]"
        )
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def _text(where: str, value: object) -> str:
    if not isinstance(value, str):
        fix = 'use "" for a missing text' if value is None else "convert it with str() if that is what you mean"
        raise ValueError(f"{where}: expected a string, got {type(value).__name__} {_shown(value)}; {fix}")
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError(
                f"{where}: the text {_shown(value)} holds a lone surrogate and is not valid Unicode; "
                'repair it with text.encode("utf-8", "replace").decode("utf-8")'
            ) from None
    return str(value)


def _text_list(where: str, value: object) -> list[str]:
    if isinstance(value, Mapping | bytes | str) or not isinstance(value, Sequence | np.ndarray):
        raise ValueError(f"{where}: expected a list of strings, got {type(value).__name__} {_shown(value)}")
    return [_text(f"{where}, item {i}", text) for i, text in enumerate(value)]


def checked_texts(argument: str, column: object, first_row: int = 0) -> list[str]:
    """Return a column of texts as a list of strings.

    Args:
        argument: name of the argument, for the error message.
        column: list, tuple, array or other sequence of strings, one per row.
        first_row: number of the column's first row, for the error message.

    Returns:
        The texts, one per row.

    Raises:
        ValueError: if the column is not a sequence of strings; names argument, row and fix.

    >>> checked_texts("predictions", ("four", "seven"))
    ['four', 'seven']
    """
    return [_text(f"{argument}, row {i}", text) for i, text in enumerate(_rows(argument, column), first_row)]


def checked_references(argument: str, column: object, first_row: int = 0) -> list[list[str]]:
    """Return a column of references as lists of strings; a row may be one string or a non-empty list of strings.

    Args:
        argument: name of the argument, for the error message.
        column: sequence of strings or of lists of strings, one per row.
        first_row: number of the column's first row, for the error message.

    Returns:
        One non-empty list of references per row.

    Raises:
        ValueError: if a row is neither, or has no reference; names argument, row and fix.

    >>> checked_references("references", ["four", ["4", "four"]])
    [['four'], ['4', 'four']]
    """
    checked = []
    for i, row in enumerate(_rows(argument, column), first_row):
        where = f"{argument}, row {i}"
        texts = [_text(where, row)] if row is None or isinstance(row, str) else _text_list(where, row)
        if not texts:
            raise ValueError(f"{where}: expected at least one reference, got an empty list; drop the row or add one")
        checked.append(texts)
    return checked


def checked_text_sets(argument: str, column: object, first_row: int = 0) -> list[list[str]]:
    """Return a column of sets of texts as lists of strings; a row must be a list and may be empty.

    Args:
        argument: name of the argument, for the error message.
        column: sequence of lists of strings, one per row.
        first_row: number of the column's first row, for the error message.

    Returns:
        One list of texts per row.

    Raises:
        ValueError: if a row is not a list of strings; names argument, row and fix.

    >>> checked_text_sets("predictions", [["who won?", "when?"], []])
    [['who won?', 'when?'], []]
    """
    checked = []
    for i, row in enumerate(_rows(argument, column), first_row):
        if isinstance(row, str):
            raise ValueError(
                f"{argument}, row {i}: expected a list of strings, got the string {_shown(row)}; "
                "wrap a single text in a list"
            )
        checked.append(_text_list(f"{argument}, row {i}", row))
    return checked


def check_same_length(**columns: list) -> None:
    """Raise a ValueError that names both lengths if the columns differ in length.

    Args:
        **columns: checked columns by argument name.

    Raises:
        ValueError: if two columns have different numbers of rows.
    """
    (first, rows), *others = columns.items()
    for name, column in others:
        if len(column) != len(rows):
            raise ValueError(
                f"{name}: expected as many rows as {first} ({len(rows)}), got {len(column)}; "
                f"every row needs one entry in each of {', '.join(columns)}"
            )


def read_settings(settings: Mapping | str | Path | None) -> dict:
    """Return settings of `compute` from a mapping or from a JSON file, as the scripts in `training` write them.

    Args:
        settings: the settings by name, or a path to a JSON object that is them or holds them under "settings".

    Returns:
        The settings by name; empty for None.

    Raises:
        ValueError: if the file is missing or holds no JSON object.
    """
    if settings is None or isinstance(settings, Mapping):
        return dict(settings or {})
    try:
        content = json.loads(Path(settings).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"settings: expected a mapping or a JSON file, got {settings!r}: {error}") from error
    content = content.get("settings", content) if isinstance(content, dict) else content
    if not isinstance(content, dict):
        raise ValueError(f"settings: expected a JSON object in {settings!r}, got {_shown(content)}")
    return content


class Stemmer(threading.local):
    """A stemmer that threads can share: each has one of its own, for a Snowball stemmer keeps its state in itself.

    Args:
        name: an algorithm of Snowball, "porter" for example.

    >>> Stemmer("porter").stem("cities")
    'citi'
    """

    def __init__(self, name: str):
        import snowballstemmer

        self.name = name
        self.stem = snowballstemmer.stemmer(name).stemWord

    def __reduce__(self):
        return Stemmer, (self.name,)


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean X?" for a name like a known one, "" if none is like it.

    >>> suggestion("devise", ["device", "dtype"])
    '; did you mean device?'
    """
    known = list(known)
    close = [ALIASES[name]] if ALIASES.get(name) in known else get_close_matches(name, known, 1, 0.7)
    return f"; did you mean {close[0]}?" if close else ""


class Scorer:
    """A metric, written once: the module of `evaluate` and the command line compute every number with it.

    Statistics are a small vector per row; their sum is all that the score of a corpus needs. A scorer is not changed
    by scoring, and threads may share one. The arguments of a subclass's `__init__` are the settings of the metric.

    Attributes:
        name: name of the metric and of its folder.
        names: names of the scores of a corpus.
        row_names: names of the same scores of a single row, in the same order; default: `names`.
        main: the score that ranks systems.
        tested: scores whose differences between systems are tested; default: the main one.
        measured: scores that are compared with human judgments; default: the main one.
        shown: parts of the score that tables show beside the tested ones.
        needs_question: whether there is a column "questions".
        takes_sets: whether a row holds a set of predictions instead of one.
        load_names: settings of `load` that `compute` does not take.
        setting_names: all settings.
        device: kind of device that a model runs on; None for a metric without a model.
        signature: everything that the numbers depend on, on one line.
    """

    name = ""
    names: tuple[str, ...] = ()
    row_names: tuple[str, ...] = ()
    main = ""
    tested: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    needs_question = False
    takes_sets = False
    load_names: tuple[str, ...] = ()
    setting_names: tuple[str, ...] = ()
    device: str | None = None
    signature = ""

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        own = vars(cls)
        if "main" in own:
            cls.tested = own.get("tested", (cls.main,))
            cls.measured = own.get("measured", (cls.main,))
            cls.row_names = own.get("row_names", cls.names)
        if "__init__" in own:
            cls.setting_names = tuple(inspect.signature(cls).parameters)

    def __new__(cls, *args, **settings):
        """Refuse unknown settings, with the name that was perhaps meant."""
        for name in settings:
            if name not in cls.setting_names:
                raise TypeError(
                    f"{name}: not a setting of {cls.name}{suggestion(name, cls.setting_names)}; "
                    f"its settings are {', '.join(cls.setting_names)}"
                )
        return super().__new__(cls)

    @classmethod
    def checked(cls, columns: Mapping[str, object], first_row: int = 0) -> dict[str, list]:
        """Return columns of rows, every text of which has been checked.

        Args:
            columns: "predictions", "references" and, if the metric needs them, "questions".
            first_row: number of the first row, for error messages.

        Raises:
            ValueError: if a column or a row is bad; names column, row and fix.
        """
        texts = {"questions": columns.get("questions")} if cls.needs_question else {}
        checked = {name: checked_texts(name, column, first_row) for name, column in texts.items()}
        if cls.takes_sets:
            checked["predictions"] = checked_text_sets("predictions", columns.get("predictions"), first_row)
            checked["references"] = checked_text_sets("references", columns.get("references"), first_row)
            for row, texts in enumerate(checked["references"], first_row):
                if not texts:
                    raise ValueError(
                        f"references, row {row}: expected at least one reference, got an empty list; drop the row or "
                        "add one"
                    )
        else:
            checked["predictions"] = checked_texts("predictions", columns.get("predictions"), first_row)
            checked["references"] = checked_references("references", columns.get("references"), first_row)
        check_same_length(**checked)
        return checked

    def chunks(self, columns: Mapping[str, list]) -> Iterator[Sequence[int]]:
        """Yield the numbers of rows that are best scored together, each row once."""
        rows = len(columns["predictions"])
        yield from (range(start, min(start + 4096, rows)) for start in range(0, rows, 4096))

    def statistics(self, columns: Mapping[str, list]) -> tuple[np.ndarray, Counter]:
        """Return the statistics of every row, and counts of what a user should be warned of.

        Args:
            columns: see `checked`.

        Returns:
            (rows, k) floats, and numbers by name, which can be added up; see `warnings`.
        """
        raise NotImplementedError

    def examined(self, columns: Mapping[str, list], explain: bool) -> tuple[np.ndarray, Counter, dict[str, list]]:
        """Return the same as `statistics`, and columns of what else is known of every row.

        Args:
            columns: see `checked`.
            explain: whether to add a column "explanation".
        """
        return *self.statistics(columns), {}

    def row_scores(self, statistics: np.ndarray) -> dict[str, np.ndarray]:
        """Return the scores of single rows, name in `row_names` -> (rows,), from their statistics."""
        return dict(zip(self.row_names, np.asarray(statistics).T, strict=True))

    def corpus_scores(self, total: np.ndarray, rows: int) -> dict[str, float]:
        """Return the scores of a corpus, name in `names` -> number, from the sum of its statistics."""
        scores = self.resampled_scores(np.asarray(total)[None], np.array([rows]))
        return {name: float(scores[name][0]) for name in self.names}

    def resampled_scores(self, totals: np.ndarray, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Return the scores of many corpora at once: means over rows, if a subclass does not know better.

        Args:
            totals: (..., k) sums of statistics.
            rows: (...) numbers of rows.

        Returns:
            Name in `names` -> (...) scores, 0 where there are no rows.
        """
        means = np.asarray(totals) / np.maximum(rows, 1)[..., None]
        return {name: means[..., place] for place, name in enumerate(self.names)}

    def warnings(self, totals: Mapping[str, np.ndarray], counts: Mapping[str, int]) -> list[str]:
        """Return what a user should know about the scores, one sentence each.

        Args:
            totals: system -> (k,) sum of statistics; a sentence about one system begins with its name and ": ",
                unless that is "".
            counts: what `statistics` counted in all rows.
        """
        return []


def column_sums(statistics: np.ndarray) -> np.ndarray:
    """Return the sum of every column, exactly rounded: the order of the rows does not change the last digit."""
    return np.array([fsum(column) for column in np.asarray(statistics).T.tolist()])


class CheckedModule:
    """What a metric module puts before `evaluate.Metric`: rows and settings are checked before any work, and scored.

    A subclass names its scorer in `scorer_class`. Settings given to `load` are the defaults of `compute`. A refused
    call changes nothing: rows that were added before are still there.

    Threads can share a module. Rows belong to the thread that adds them: `compute` scores the rows given, and those
    that its own thread has added. In a thread that has added none, and without rows given, it scores all that were
    added.

    Args:
        settings: settings by name, or a JSON file with them; the same as to give them one by one.
        progress: for a metric with a model: show a progress bar; default: where stderr is a terminal.
        **kwargs: settings of the metric, and arguments of `evaluate.Metric`.
    """

    scorer_class: type[Scorer] = Scorer
    flags: tuple[str, ...] = ("per_example",)  # arguments of `compute` that add results and change none

    def __init__(self, *args, settings: Mapping | str | Path | None = None, progress: bool | None = None, **kwargs):
        import evaluate

        scorer = self.scorer_class
        own = read_settings(settings)
        evaluates = set(inspect.signature(evaluate.EvaluationModule).parameters) - {"kwargs"}
        known = [*scorer.setting_names, *self.flags, "settings", *(["progress"] if scorer.load_names else [])]
        given = {**({"progress": progress} if progress is not None else {}), **own, **kwargs}
        for name in given:
            if name not in known and (name not in evaluates or name in own):
                raise TypeError(
                    f"{name}: not a setting of {scorer.name}{suggestion(name, [*known, *evaluates])}; "
                    f"its settings are {', '.join(known)}"
                )
        own |= {name: value for name, value in kwargs.items() if name not in evaluates}
        self.load_settings = {name: value for name, value in own.items() if name in scorer.load_names}
        self.settings = {name: value for name, value in own.items() if name not in scorer.load_names}
        self.progress = progress
        self._arguments = kwargs | {"settings": settings, "progress": progress}
        self._lock = threading.RLock()
        self._rows: dict[threading.Thread, dict[str, list]] = {}
        self._last = threading.local()
        super().__init__(*args, **{name: value for name, value in kwargs.items() if name in evaluates})
        self._scorer = self._new_scorer(self.settings)

    def _new_scorer(self, settings: Mapping) -> Scorer:
        """Return the scorer with some settings; raise for a bad one."""
        flags = {name: value for name, value in settings.items() if name in self.flags}
        for name, flag in flags.items():
            if not isinstance(flag, bool):
                raise ValueError(f"{name}: expected True or False, got {flag!r}")
        return self.scorer_class(**self.load_settings, **{k: v for k, v in settings.items() if k not in flags})

    def signature(self) -> str:
        """Return one line with everything that the numbers of the last `compute` of this thread depend on."""
        return getattr(self._last, "scorer", self._scorer).signature

    def _checked(self, columns: Mapping, first_row: int) -> dict[str, list]:
        names = self._feature_names()
        for name in columns:
            if name not in names:
                raise TypeError(
                    f"{name}: not an input of {self.name}{suggestion(name, names)}; its inputs are {', '.join(names)}"
                )
        return self.scorer_class.checked(columns, first_row)

    def __len__(self) -> int:
        if self.num_process > 1:
            return super().__len__()
        return sum(len(columns["predictions"]) for columns in list(self._rows.values()))

    def add_batch(self, **columns) -> None:
        """Check and add rows; see `evaluate.Metric.add_batch`."""
        with self._lock:
            if self.num_process > 1:
                return super().add_batch(**self._checked(columns, len(self)))
            mine = self._rows.get(threading.current_thread(), {})
            checked = self._checked(columns, len(mine.get("predictions", ())))
            self._rows[threading.current_thread()] = mine or {name: [] for name in checked}
            for name, column in checked.items():
                self._rows[threading.current_thread()][name] += column

    def add(self, **row) -> None:
        """Check and add one row, each input in the singular (prediction=, reference=); see `evaluate.Metric.add`."""
        plural = {name.removesuffix("s"): name for name in self._feature_names()}
        self.add_batch(**{plural.get(name, name): [value] for name, value in row.items()})

    def _taken(self, inputs: Mapping) -> dict[str, list]:
        """Return the rows that `compute` is to score, and forget them; nothing is forgotten if a row is bad."""
        me = threading.current_thread()
        with self._lock:
            mine = self._rows.get(me)
            if inputs:
                checked = self._checked(inputs, len(mine["predictions"]) if mine else 0)
                found = [mine, checked] if mine else [checked]
            else:
                found = [mine] if mine else list(self._rows.values())
            if mine:
                del self._rows[me]
            elif not inputs:
                self._rows.clear()
        return {name: [value for columns in found for value in columns[name]] for name in self._feature_names()}

    def compute(self, **inputs_and_settings) -> dict | None:
        """Check everything, then compute on the rows given and added; see `evaluate.Metric.compute`."""
        names = self._feature_names()
        settings = {**self.settings, **{k: v for k, v in inputs_and_settings.items() if k not in names}}
        fixed = self.scorer_class.load_names
        known = [name for name in (*self.scorer_class.setting_names, *self.flags) if name not in fixed]
        for name in settings:
            if name in fixed:
                raise TypeError(f"{name}: an argument of load, not of compute")
            if name not in known:
                raise TypeError(
                    f"{name}: neither an input nor a setting of {self.name}{suggestion(name, [*names, *known])}; "
                    f"its inputs are {', '.join(names)}, its settings {', '.join(known)}"
                )
        scorer = self._new_scorer(settings)
        inputs = {k: v for k, v in inputs_and_settings.items() if k in names and v is not None}
        if self.num_process > 1:
            with self._lock:
                if inputs:
                    self.add_batch(**inputs)
                self._last.scorer = scorer
                return super().compute(**settings)
        columns = self._taken(inputs)
        self._last.scorer = scorer
        return self._compute(**columns, **settings)

    def _compute(self, **columns_and_settings) -> dict:
        names = self._feature_names()
        columns = {name: columns_and_settings[name] for name in names}
        if not columns["predictions"]:
            raise ValueError(f"{names[0]}: no rows to compute on; pass {' and '.join(names)}, or add rows first")
        flags = {name: value for name, value in columns_and_settings.items() if name in self.flags}
        return self._results(self._last.scorer, columns, **flags)

    def _results(
        self, scorer: Scorer, columns: dict[str, list], per_example: bool = False, explain: bool = False
    ) -> dict:
        """Return the results of `compute`."""
        rows = len(columns["predictions"])
        statistics, details, counts = None, {}, Counter()
        with self._bar(rows) as update:
            for chunk in scorer.chunks(columns):
                part = {name: [column[i] for i in chunk] for name, column in columns.items()}
                if per_example or explain:
                    values, counted, more = scorer.examined(part, explain)
                else:
                    (values, counted), more = scorer.statistics(part), {}
                statistics = np.zeros((rows, values.shape[1])) if statistics is None else statistics
                statistics[chunk] = values
                counts.update(counted)
                for name, column in more.items():
                    whole = details.setdefault(name, [None] * rows)
                    for i, value in zip(chunk, column, strict=True):
                        whole[i] = value
                update(len(chunk))
        total = column_sums(statistics)
        for warning in scorer.warnings({"": total}, counts):
            warnings.warn(f"{scorer.name}: {warning}", stacklevel=4)
        results = scorer.corpus_scores(total, rows)
        explanation = details.pop("explanation", None)
        if per_example:
            found = {name: values.tolist() for name, values in scorer.row_scores(statistics).items()} | details
            results |= {f"{name}_per_example": values for name, values in found.items()}
        return results | ({"explanation": explanation} if explain else {})

    @contextmanager
    def _bar(self, rows: int) -> Iterator[Callable[[int], object]]:
        """Yield what moves the progress bar on."""
        if not self.scorer_class.load_names or not (sys.stderr.isatty() if self.progress is None else self.progress):
            yield lambda done: None
            return
        from tqdm import tqdm

        with tqdm(total=rows, desc=self.scorer_class.name, unit="row") as bar:
            yield bar.update
