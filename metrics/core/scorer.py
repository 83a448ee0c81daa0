"""The base class of all metrics, the checks of their inputs, and what loading one needs."""

import inspect
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from difflib import get_close_matches
from importlib.util import find_spec
from itertools import chain
from math import fsum, inf, isfinite
from numbers import Integral, Real
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np


def loaded_from() -> Path | None:
    """Return the script that a running `evaluate.load` was given, None if there is none or it is on the Hub."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "load" and frame.f_globals.get("__name__") == "evaluate.loading":
            path = Path(str(frame.f_locals.get("path")))
            script = path / f"{path.name}.py" if path.is_dir() else path
            return script.resolve() if script.is_file() else None
        frame = frame.f_back
    return None


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn with the caller's line as place, not a line of this package or of `evaluate`."""
    ours, frame, level = (__name__.partition(".")[0], "evaluate"), sys._getframe(1), 2
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in ours:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def shown(content: object) -> str:
    """Return the `repr` of a value for an error message, cut to 60 characters."""
    text = repr(content)
    return text if len(text) <= 60 else text[:57] + "..."


def _rows(argument: str, column: object) -> list:
    if column is None:
        raise ValueError(f"{argument}: expected a list with one entry per row, got None; pass {argument}=[...]")
    if isinstance(column, str | bytes | Mapping) or not isinstance(column, Iterable):
        raise ValueError(
            f"{argument}: expected a list with one entry per row, got {type(column).__name__} {shown(column)}; "
            f"put a single row into a list: {argument}=[...]"
        )
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def _is_missing(cell: object) -> bool:
    """Return whether a cell is missing: None, NaN, or pandas' NA and NaT."""
    is_nan = isinstance(cell, float | np.floating) and cell != cell
    return cell is None or is_nan or type(cell).__name__ in ("NAType", "NaTType")


def _text(where: str, text: object, needed: bool = False) -> str:
    """Return a text; raise a ValueError if it is not a text, or if it is required but empty."""
    fix = "drop the row, or write the missing text" if needed else 'use "" for an empty answer, or drop the row'
    if not isinstance(text, str):
        fix = fix if _is_missing(text) else "convert it with str() if that is what you mean"
        raise ValueError(f"{where}: expected a string, got {type(text).__name__} {shown(text)}; {fix}")
    if needed and not text.strip():
        raise ValueError(f"{where}: expected a text, got {shown(text)}; {fix}")
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError(
                f"{where}: the text {shown(text)} holds a lone surrogate and is not valid Unicode; "
                'repair it with text.encode("utf-8", "replace").decode("utf-8")'
            ) from None
    return str(text)


def checked_column(argument: str, column: object, shape: str, first_row: int = 0, needed: bool = False) -> list:
    """Return one string, or list of strings, per row; a ValueError names argument, row and fix of a bad one.

    With the shape "text" a row is a string, with "texts" a list of strings, with "either" both, which becomes a list.
    With `needed` empty texts and empty lists are refused. A null beside other references is left out with a warning.

    >>> checked_column("predictions", ("four", "seven"), "text")
    ['four', 'seven']
    >>> checked_column("references", ["four", ["4", "four"]], "either")
    [['four'], ['4', 'four']]
    """
    checked, nulls = [], 0
    for i, row in enumerate(_rows(argument, column), first_row):
        where = f"{argument}, row {i}"
        is_single = shape == "either" and (isinstance(row, str | float) or row is None)
        if shape == "text" or is_single:
            text = _text(where, row, needed)
            checked.append([text] if is_single else text)
            continue
        if isinstance(row, Mapping | bytes | str) or not isinstance(row, Sequence | np.ndarray):
            fix = "; wrap a single text in a list" if isinstance(row, str) else ""
            fix = "; drop the row, or write the missing text" if _is_missing(row) else fix
            raise ValueError(f"{where}: expected a list of strings, got {type(row).__name__} {shown(row)}{fix}")
        missing = {k for k, text in enumerate(row) if argument == "references" and _is_missing(text)}
        missing = missing if len(missing) < len(row) else set()
        nulls += bool(missing)
        checked.append([_text(f"{where}, item {k}", text, needed) for k, text in enumerate(row) if k not in missing])
        if needed and not checked[-1]:
            raise ValueError(f"{where}: expected at least one reference, got an empty list; drop the row or add one")
    if nulls:
        warn_caller(f"{argument}: nulls in the lists of {nulls} rows were left out")
    return checked


def is_number(number: object, least: float = -inf, most: float = inf) -> bool:
    """Return whether something is a number within limits, and not NaN, infinite, True or False."""
    return isinstance(number, Real) and not isinstance(number, bool) and isfinite(number) and least <= number <= most


def is_whole(number: object, least: int, most: float = inf) -> bool:
    """Return whether something is a whole number within limits, and not True or False."""
    return isinstance(number, Integral) and not isinstance(number, bool) and least <= number <= most


def check_setting(name: str, is_good: bool, expected: str, setting: object) -> None:
    """Raise a ValueError with the name and value of a setting, and what was expected, unless it is good."""
    if not is_good:
        raise ValueError(f"{name}: expected {expected}, got {setting!r}")


def whole(least: int, most: float = inf) -> tuple[Callable[[object], bool], str]:
    """Return (test, description) for `Scorer.checks` of a setting that is a whole number from `least` to `most`."""
    limits = f"of at least {least}" if most == inf else f"from {least} to {most}"
    return lambda setting: is_whole(setting, least, most), f"a whole number {limits}"


def number_within(least: float, most: float) -> tuple[Callable[[object], bool], str]:
    """Return (test, description) for `Scorer.checks` of a setting that is a number from `least` to `most`."""
    return lambda setting: is_number(setting, least, most), f"a number from {least:g} to {most:g}"


def one_of(options: Sequence) -> tuple[Callable[[object], bool], str]:
    """Return (test, description) for `Scorer.checks` of a setting that is one of `options`."""
    return lambda setting: setting in options, f"one of {', '.join(options)}"


def or_null(check: tuple[Callable[[object], bool], str]) -> tuple[Callable[[object], bool], str]:
    """Return (test, description) of a setting in a file that `check` allows, or that is null."""
    is_good, expected = check
    return lambda setting: setting is None or is_good(setting), f"null or {expected}"


SWITCH = (lambda setting: isinstance(setting, bool), "True or False")
AT_LEAST_1 = whole(1)
PROBABILITY = (lambda setting: setting is None or is_number(setting, 0, 1), "a number from 0 to 1")
VERSION = "0.1.0"
ASKED = "reference questions asked"  # start of the remark that counts them for every system
UNSURE_FROM, UNSURE_TO = 0.1, 0.9  # a judge is unsure of an answer with a probability between these
ALIASES = {  # names of the inputs in other libraries
    **dict.fromkeys(("answer", "answers", "candidate", "candidates", "hypotheses", "outputs"), "predictions"),
    **dict.fromkeys(("gold", "golds", "ground_truth", "ground_truths", "labels", "targets"), "references"),
    **dict.fromkeys(("query", "queries", "prompts"), "questions"),
    **dict.fromkeys(("documents", "passages", "retrieval_context", "retrieved_contexts"), "contexts"),
}


class Stemmer(threading.local):
    """A stemmer of Snowball that threads can share; each thread has its own copy, because it has state.

    >>> Stemmer("porter").stem("cities")
    'citi'
    """

    def __init__(self, name: str):
        import snowballstemmer

        self.name = name
        self.stem = snowballstemmer.stemmer(name).stemWord

    def __reduce__(self):
        return Stemmer, (self.name,)


def counted_ngrams(terms: Sequence[str], order: int) -> set:
    """Return n-grams as a set that has every repetition: intersections are clipped counts, unions the larger counts.

    >>> sorted(counted_ngrams(["to", "be", "to", "be"], 2), key=str)
    [('be', 'to'), ('to', 'be'), (('to', 'be'), 2)]
    """
    ngrams = terms if order == 1 else list(zip(*(terms[i:] for i in range(order)), strict=False))
    distinct = set(ngrams)
    if len(distinct) < len(ngrams):
        seen = Counter()
        for ngram in ngrams:
            seen[ngram] += 1
            if seen[ngram] > 1:
                distinct.add((ngram, seen[ngram]))
    return distinct


def require_extra(extra: str, *packages: str) -> None:
    """Raise an ImportError that names the extra of this project to install if a package is missing.

    >>> require_extra("torch", "no_such_package")
    Traceback (most recent call last):
        ...
    ImportError: no_such_package is not installed; run pip install 'genqa-metrics[torch]'
    """
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        verb = "are" if len(missing) > 1 else "is"
        message = f"{' and '.join(missing)} {verb} not installed; run pip install 'genqa-metrics[{extra}]'"
        raise ImportError(message, name=missing[0])


@contextmanager
def quiet():
    """Silence transformers while a model loads: messages on new heads, and short progress bars."""
    if sys.flags.optimize > 1:
        raise ImportError("transformers needs docstrings, which PYTHONOPTIMIZE=2 (python -OO) removes; set it to 1")
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # deprecations between libraries
            yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


def unknown_name_message(name: str, problem: str, names: Iterable[str]) -> str:
    """Return the error message for an unknown name, with a suggestion.

    >>> unknown_name_message("devise", "not a setting of ava", ["device", "dtype"])
    'devise: not a setting of ava; did you mean device? Known are device, dtype'
    """
    names = list(names)
    close = [ALIASES[name]] if ALIASES.get(name) in names else get_close_matches(name, names, cutoff=0.7)
    hint = f"did you mean {close[0]}? Known" if close else "known"
    return f"{name}: {problem}; {hint} are {', '.join(names)}"


def check_names(names: Iterable[str], problem: str, allowed: Sequence[str]) -> None:
    """Raise a TypeError about the first unknown name, with a suggestion."""
    for name in names:
        if name not in allowed:
            raise TypeError(unknown_name_message(name, problem, allowed))


Mark = tuple[int, int, str, str]  # start and end in a text, its kind (a name of viewer.css), what is shown behind it


class ExplainedRow(NamedTuple):
    """A row as `explain` shows it. Marks are places in the texts as they are here."""

    prediction: str
    references: Sequence[str]
    reason: str
    marks: Sequence[Mark] = ()  # of the prediction
    reference_marks: Sequence[Sequence[Mark]] = ()  # of every reference
    evidence: Sequence[tuple[str, str]] = ()  # a label and a text each, such as a sentence and what a passage says


class RowStatistics(NamedTuple):
    """Statistics of rows by one metric, with details for explanations and counts for warnings."""

    values: np.ndarray  # (rows, k) floats, whose sum is all that the scores of a corpus need
    details: dict[str, list]  # columns with details of every row
    counts: list[dict[str, int]]  # those of each row that do not follow from its texts and scores, by name

    @classmethod
    def of(cls, values: np.ndarray, details: dict | None = None) -> Self:
        """Return statistics without counts."""
        return cls(values, details or {}, [{}] * len(values))


class Scorer:
    """A metric. The module of `evaluate` and the verbs compute every score with it.

    Statistics are a small vector per row; their sum is all that the score of a corpus needs. A scorer is not changed
    by scoring, and threads may share one. In all methods `columns` are those of `checked`, `statistics` (rows, k)
    floats, `total` and `totals` their (k,) sums of one system and {system: sums}, and `counts` those of
    `all_counts`.

    The settings of a metric are declared once: those of `load`, which find and load a model, are the arguments of the
    method `load`; those of `compute` are the arguments of `configure`.
    """

    name = ""  # of the metric and of its folder
    title = ""  # what people call it
    stronger = ""  # a slower, more accurate setting, NAME=VALUE, with its cost and accuracy
    on_long = ""  # a note on a system with long answers, on which it errs more; "" where that is not known
    names: tuple[str, ...] = ()  # of the scores of a corpus
    row_names: tuple[str, ...] = ()  # of the same scores of a single row, in the same order; default: `names`
    main = ""  # the score that ranks systems
    measures = ""  # what the main score is, from 0 to 1, or what is `flagged`; "" where its name says it
    significance_scores: tuple[str, ...] = ()  # differences between systems are tested; default: the main one
    meta_evaluated: tuple[str, ...] = ()  # compared with human judgments; default: the main one
    verdict = ""  # score of a row that is 1 where the metric calls the answer correct, else 0; "" if it judges nothing
    graded = ""  # score of a row that says how good the answer is; default: the main one
    shown: tuple[str, ...] = ()  # further scores in tables, beside `significance_scores`
    beside: tuple[str, ...] = ()  # scores on the first screen beside the main one, if the metric is the first
    only_in_files: tuple[str, ...] = ()  # scores that tables leave out for want of room
    faults: tuple[str, ...] = ()  # what `faults_of` returns
    error_rate = ""  # a clause: how often its verdicts were wrong in our tests; "" if scores come with intervals
    # Of a metric that compares answers with passages, two scores of a row: the first is 1 where passages support all
    # claims of the answer, the second where the answer has a claim.
    support: tuple[str, str] | tuple[()] = ()
    evidence = "references"  # what predictions are compared with, or "contexts", the passages that a system retrieved
    needs_question = False  # whether there is a column "questions"
    optional: tuple[str, ...] = ()  # further columns of texts, which may be left out; "" is a row without one
    takes_sets = False  # whether a row holds a set of predictions instead of one
    missing = ""  # of a metric of sets: name of the detail that lists the references without a match
    presets: Mapping[str, Mapping] = {}  # named settings of `compute`: name -> settings
    load_settings: Mapping[str, inspect.Parameter] = {}  # parameters of `load` by name
    compute_settings: Mapping[str, inspect.Parameter] = {}  # parameters of `configure`, or of `settings_class`
    settings_class: type | None = None  # dataclass of the settings of `compute`, where `configure` makes one
    setting_names: tuple[str, ...] = ()  # all settings
    checks: Mapping[str, tuple[Callable[[object], bool], str]] = {}  # whether a value is good, and what is expected
    thresholds: Mapping[str, float] = {}  # score of a row -> value from which the metric calls the answer correct
    device: str | None = None  # kind of device that a model runs on; None for a metric without a model
    passes = 1  # how often its models read a text, for showing progress
    explains_answers = False  # whether `explain` explains one answer, without a file
    legend = ""  # what the marks of an `ExplainedRow` mean
    colours_of_marks = ""  # what their colours mean, where colours are shown
    recalls = False  # whether `recalled` returns the statistics of a row from its scores
    chosen_settings: Mapping[str, object] = {}  # those that were chosen, not the default ones
    facts: Mapping[str, str] = {}  # everything else that the scores depend on, in the order of the signature

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        declared = vars(cls)
        if "main" in declared:
            cls.significance_scores = declared.get("significance_scores", (cls.main,))
            cls.meta_evaluated = declared.get("meta_evaluated", (cls.main,))
            cls.row_names = declared.get("row_names", cls.names)
            cls.graded = declared.get("graded", cls.main)
        signatures = map(inspect.signature, (cls.load, cls.settings_class or cls.configure))
        parameters = ({n: p for n, p in signature.parameters.items() if n != "self"} for signature in signatures)
        cls.load_settings, cls.compute_settings = parameters
        cls.setting_names = (*cls.compute_settings, *cls.load_settings)

    def __init__(self, *, ready: bool = True, **settings):
        check_names(settings, f"not a setting of {self.name}", self.setting_names)
        loading = {name: setting for name, setting in settings.items() if name in self.load_settings}
        others = {name: setting for name, setting in settings.items() if name not in loading}
        self.check(**settings)
        self.load(**loading)
        self.configure(**others)
        if ready:
            self.ready()

    @classmethod
    def check(cls, **settings) -> None:
        """Refuse bad settings before a model is loaded; `load` and `configure` may find more."""
        for name, (is_good, expected) in cls.checks.items():
            if name in settings:
                check_setting(name, is_good(settings[name]), expected, settings[name])

    @classmethod
    def check_parts(cls, **settings) -> None:
        """Raise a ValueError for settings that need all rows at once, because files are read in parts."""

    def load(self) -> None:
        """Load what the metric needs, or find it and leave the loading to `ready`; called once."""

    def ready(self) -> Self:
        """Return the metric with its models loaded; `statistics` needs them, `recalled` does not."""
        return self

    def configure(self) -> None:
        """Take settings of `compute`."""

    @classmethod
    def length_note(cls, systems: Mapping[str, Mapping[str, float]]) -> str:
        """Return a sentence where the lengths of answers decide {system: scores}; "" where they do not."""
        return ""

    def weakest(self, columns: Mapping[str, list]) -> list[tuple[str, str, str, str]]:
        """Return (score, weakest part of the answer, name of a source, its text) of each answer.

        Lists of answers to read show it. [] for a metric that has no such part.
        """
        return []

    def differences(self, columns: Mapping[str, list]) -> list[str]:
        """Return what each wrong answer lacks, adds or contradicts, in words; "" where that is unknown.

        [] for a metric that cannot tell, or whose model is not loaded.
        """
        return []

    def asked_besides(self, columns: Mapping[str, list]) -> list[list[str]]:
        """Return per set the generated questions that match no reference; [] for a metric without `missing`."""
        return []

    @staticmethod
    def faults_of(questions: Sequence[str], references: Sequence[Sequence[str]], answers: Sequence[str]) -> list[str]:
        """Return what is wrong with answers that were judged wrong, each one of `faults`; "" where that is unknown."""
        return [""] * len(answers)

    @staticmethod
    def doubts(questions: Sequence[str], references: Sequence[Sequence[str]], answers: Sequence[str]) -> list[str]:
        """Return in a few words what a person should check of answers that were judged right; "" where nothing."""
        return [""] * len(answers)

    def with_settings(self, **settings) -> Self:
        """Return this metric with other settings of `compute`; what was loaded is shared.

        Raises:
            TypeError: if there is no such setting.
            ValueError: if a value is bad.
        """
        check_names(settings, f"not a setting of {self.name}", list(self.compute_settings))
        self.check(**settings)
        other = copy(self)
        other.configure(**settings)
        return other

    def for_rows(self, columns: Mapping[str, list]) -> Self:
        """Return the scorer with settings fitted to all rows of one call, such as IDF weights; by default itself."""
        return self

    @property
    def signature(self) -> str:
        """Everything that the scores depend on, on one line."""
        settings = [f"{name}:{fact}" for name, fact in {**self.facts, "version": VERSION}.items()]
        return "|".join([self.name, *settings])

    @classmethod
    def checked(cls, columns: Mapping[str, object], first_row: int = 0) -> dict[str, list]:
        """Return columns of rows, every text of which has been checked.

        Args:
            columns: "predictions", what `evidence` names and, if the metric needs them, "questions"; those in
                `optional`.
            first_row: number of the first row, for error messages.

        Raises:
            ValueError: if a column or a row is bad; names column, row and fix.
        """
        shapes = {"questions": ("text", True)} if cls.needs_question else {}
        shapes["predictions"] = ("texts" if cls.takes_sets else "text", False)
        if cls.evidence == "contexts":
            shapes["contexts"] = ("texts", False)
        else:
            shapes["references"] = ("texts" if cls.takes_sets else "either", True)
        optional = [name for name in cls.optional if columns.get(name) is not None]
        shapes |= dict.fromkeys(optional, ("text", False))
        checked = {
            name: checked_column(name, columns.get(name), shape, first_row, needed)
            for name, (shape, needed) in shapes.items()
        }
        (first, rows), *others = checked.items()
        for name, column in others:
            if len(column) != len(rows):
                raise ValueError(
                    f"{name}: expected as many rows as {first} ({len(rows)}), got {len(column)}; "
                    f"every row needs one entry in each of {', '.join(checked)}"
                )
        return checked | {name: [""] * len(rows) for name in cls.optional if name not in optional}

    def chunks(self, columns: Mapping[str, list]) -> Iterator[Sequence[int]]:
        """Yield the indices of rows that are best scored together, each row once."""
        rows = len(columns["predictions"])
        yield from (range(start, min(start + 4096, rows)) for start in range(0, rows, 4096))

    def statistics(self, columns: Mapping[str, list], explain: bool = False) -> RowStatistics:
        """Return the statistics of every row; with `explain` the details have what `reason` reads of a row."""
        raise NotImplementedError

    def scored(
        self, columns: Mapping[str, list], explain: bool = False, done: Callable[[int], object] = lambda rows: None
    ) -> RowStatistics:
        """Return the `statistics` of one row or more, read in `chunks`; `done` gets the number of rows of each."""
        order, chunks = [], []
        for numbers in self.chunks(columns):
            rows = {name: [column[i] for i in numbers] for name, column in columns.items()}
            chunks.append(self.statistics(rows, explain))
            order += numbers
            done(len(numbers))
        inverse = np.argsort(order)

        def in_order(lists: Iterable[Sequence]) -> list:
            entries = list(chain.from_iterable(lists))
            return [entries[i] for i in inverse]

        details = {name: in_order(chunk.details[name] for chunk in chunks) for name in chunks[0].details}
        statistics = np.concatenate([chunk.values for chunk in chunks])[inverse]
        return RowStatistics(statistics, details, in_order(chunk.counts for chunk in chunks))

    def reason(self, scores: Mapping[str, float], details: Mapping[str, object]) -> str:
        """Return one sentence that says why a row has its scores; `details` are its own, with its explanation."""
        explained = details.get("explanation")
        if isinstance(explained, Mapping) and "reason" in explained:
            return str(explained["reason"])
        return ", ".join(f"{name} {score:.2f}" for name, score in scores.items()) + "."

    def reasons(self, statistics: np.ndarray, details: Mapping[str, Sequence]) -> list[str]:
        """Return the `reason` of every row; `details` are those of `RowStatistics`."""
        scores = {name: column.tolist() for name, column in self.row_scores(statistics).items()}
        tables, rows = (scores, details), range(len(statistics))
        return [self.reason(*({name: column[i] for name, column in table.items()} for table in tables)) for i in rows]

    def explained(
        self, columns: Mapping[str, list], corpus: Sequence[str] = ()
    ) -> tuple[list[ExplainedRow], RowStatistics]:
        """Return rows as `explain` shows them, with their statistics.

        Args:
            columns: see `checked`.
            corpus: texts in which words are counted, for metrics that show how rare words are.
        """
        result = self.statistics(columns, explain=True)
        reasons = self.reasons(result.values, result.details)
        predictions = ["\n".join(row) if self.takes_sets else row for row in columns["predictions"]]
        references = columns.get("references") or [[]] * len(predictions)
        return [ExplainedRow(*row) for row in zip(predictions, references, reasons, strict=True)], result

    def counts(self, columns: Mapping[str, list], statistics: np.ndarray) -> Counter:
        """Return the counts for `warnings` that follow from texts and statistics, such as languages."""
        return Counter()

    def all_counts(self, columns: Mapping[str, list], result: RowStatistics) -> Counter:
        """Return all counts for `warnings`: those that follow from texts and statistics, and those of each row."""
        counts = self.counts(columns, result.values)
        for row_counts in result.counts:
            counts.update(row_counts)
        return counts

    def recalled(self, columns: Mapping[str, list], scores: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the statistics of rows from recorded {name: (rows,) scores}, without a model; where `recalls`."""
        return np.stack([scores[name] for name in self.row_names], axis=1)

    def profile(self, columns: Mapping[str, list], statistics: np.ndarray) -> Counter:
        """Return counts of short, long and unsure rows, to compare with the rows on which the judge was measured."""
        return Counter()

    def row_scores(self, statistics: np.ndarray) -> dict[str, np.ndarray]:
        """Return the scores of single rows, name in `row_names` -> (rows,), from their statistics."""
        return dict(zip(self.row_names, np.asarray(statistics).T, strict=True))

    def corpus_scores(self, total: np.ndarray, rows: int) -> dict[str, float]:
        """Return the scores of a corpus, name in `names` -> number, from the sum of its statistics."""
        scores = self.resampled_scores(np.asarray(total)[None], np.array([rows]))
        return {name: float(scores[name][0]) for name in self.names}

    def resampled_scores(self, totals: np.ndarray, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Return {name in `names`: (...) scores} of many corpora, by default means over rows, and 0 of no rows.

        Args:
            totals: (..., k) sums of statistics.
            rows: (...) numbers of rows.
        """
        means = np.asarray(totals) / np.maximum(rows, 1)[..., None]
        return {name: means[..., k] for k, name in enumerate(self.names)}

    def remarks(self, totals: Mapping[str, np.ndarray], counts: Mapping[str, int]) -> list[str]:
        """Return sentences that put the scores into words; `counts` are those of all rows."""
        return []

    def flagged(self, total: np.ndarray) -> str:
        """Return how many answers the metric flags for reading, such as "2 of 5"; "" for a metric that flags none."""
        return ""

    def warnings(self, totals: Mapping[str, np.ndarray], counts: Mapping[str, int]) -> list[str]:
        """Return warnings about the scores, one sentence each; `counts` are those of all rows.

        A sentence about one system starts with its name and ": ", unless the name is "".
        """
        return []


def column_sums(statistics: np.ndarray) -> np.ndarray:
    """Return the exactly rounded sum of every column; it does not depend on the order of rows."""
    return np.array([fsum(column) for column in np.asarray(statistics).T.tolist()])
