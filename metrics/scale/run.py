"""Scores files of any size: rows come in, statistics are summed by system, one result row goes out for each row in.

Rows are cut into windows, which threads score while the calling thread reads ahead and writes behind, and into parts
of an output folder. Where a window and a part end depends on the rows alone, never on the machine. A run that is
resumed reads all rows again, takes the sums of finished parts from their files, and scores the windows of the others:
its result is that of an uninterrupted run.
"""

import json
import math
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from threading import Lock
from typing import Any, Literal

import numpy as np

from .. import __version__
from ..core.inference import cores, listening
from ..core.scorer import Scorer
from ..rows.cells import json_value
from ..rows.errors import FileError, too_many_systems
from ..rows.reading import (
    Item,
    Message,
    Progress,
    RowKind,
    RowReader,
    Skips,
    check_columns,
    first_row_kind,
    good_rows,
    ignore,
)
from ..rows.sources import Source, format_of, sources_of
from ..rows.writing import Writer, type_of
from ..statistics.intervals import MIN_QUESTIONS
from .options import ScoreOptions, check_questions, default_metrics, make_scorers, needed_columns
from .parts import Parts
from .scoring import (
    CONFUSION,
    TAKEN_AS_DRAWN,
    WORKERS,
    AnswersToRead,
    QuestionTotals,
    Tally,
    agreement,
    cell_shares,
    faults_in_order,
    label_note,
    output_columns,
    scored,
    statistics_of_items,
    warn_of_recorded,
)

MAX_SYSTEMS = 1000
# Predictions that are scored at once, by device: a model sorts them by length, and batches for a GPU are large. They
# depend on the rows alone, never on the number of threads, so that every machine gives the same numbers.
WINDOWS = {None: 1000, "cpu": 256, "cuda": 10_000, "mps": 10_000}
WINDOW_CHARACTERS = 2**20


def window_predictions(scorers: Iterable[Scorer]) -> int:
    """Return the number of predictions of a window for scorers that work side by side."""
    sizes = [WINDOWS[scorer.device] for scorer in scorers if scorer.device is not None]
    return max(sizes, default=WINDOWS[None])


@dataclass
class Window:
    """Items that are scored at once; no items where only a part ends."""

    part: int = 0  # number of their part of an output folder, from 0
    items: list[Item] = field(default_factory=list)
    predictions: int = 0  # an item without any counts as one
    characters: int = 0  # of all texts
    ends_part: bool = False
    is_last: bool = False  # the input ends with it before its part is full
    files: int = 0  # input files that were read up to its end

    def add(self, items: Sequence[Item]) -> None:
        """Add items."""
        self.items += items
        self.predictions += sum(max(len(item.predictions), 1) for item in items)
        self.characters += sum(map(characters_of, items))

    def __len__(self) -> int:
        return len(self.items)


def characters_of(item: Item) -> int:
    """Return the number of characters of an item's texts."""
    texts = (*item.predictions, *item.references, *item.contexts)
    return sum(map(len, texts)) + len(item.text or "")


def cut(
    rows: Iterable[Sequence[Item]], predictions: Callable[[], int], part_rows: float = math.inf
) -> Iterator[Window]:
    """Yield windows of about a number of predictions, and of `WINDOW_CHARACTERS` at most; a row is in one window.

    A part has about `part_rows` items, and ends with a window. `predictions` is called when the first row was read.
    """
    window, in_part = Window(), 0
    for items in rows:
        window.add(items)
        in_part += len(items)
        window.ends_part = in_part >= part_rows
        if window.ends_part or window.predictions >= predictions() or window.characters >= WINDOW_CHARACTERS:
            yield window
            in_part = 0 if window.ends_part else in_part
            window = Window(window.part + window.ends_part)
    if window.items or (in_part and part_rows < math.inf):  # without items, only a part ends
        window.ends_part = window.is_last = True
        yield window


@dataclass(eq=False)
class Reading:
    """Reads sources, checks every row, and cuts the items into windows.

    `needs`: see `RowReader`. `keeps` says what becomes of columns that no metric reads: None drops them, "any" keeps
    every value, and "typed" keeps values of one type per column, as Parquet needs them.
    """

    sources: Sequence[Source]
    columns: Mapping[str, str]
    skips: Skips = field(default_factory=Skips)
    notify: Message = ignore
    needs: Mapping[str, str] = field(default_factory=dict)
    keeps: Literal["any", "typed"] | None = None
    row_kind: RowKind | None = field(default=None, init=False)  # of the first file; None before `windows`
    extra: dict[str, str] | None = field(default=None, init=False)  # {kept column: type}, of the first window
    _noted: set[str] = field(default_factory=set, init=False)  # columns of which `notify` was told
    _file: int = field(default=0, init=False)  # number of the file that is read

    @property
    def position(self) -> int:
        """Number of bytes read so far, where it is known."""
        before = sum(source.size or 0 for source in self.sources[: self._file])
        return before + self.sources[self._file].position

    def windows(self, predictions: Callable[[], int], part_rows: float = math.inf) -> Iterator[Window]:
        """Return the items of all files, see `cut`; the first window is read now, so that `row_kind` is known."""
        windows = self._windows(predictions, part_rows)
        return chain([next(windows)], windows)

    def _windows(self, predictions: Callable[[], int], part_rows: float) -> Iterator[Window]:
        for window in cut(self.good_rows(), predictions, part_rows):
            self.fit(window.items)
            window.files = self._file + 1
            yield window
        if not self.skips.good and self.skips.skipped:
            problem = f"no row could be scored: all {self.skips.skipped:,} rows are bad; see the messages above"
            raise FileError(problem)
        if not self.skips.good:
            raise FileError(f"{', '.join(source.name for source in self.sources)}: no rows; is this the right file?")

    def good_rows(self) -> Iterator[list[Item]]:
        """Yield the items of every good row; `skips` counts a row before it is yielded."""
        for number, source in enumerate(self.sources):
            self._file = number
            reader = RowReader(source, self.columns, self.needs, keeps=bool(self.keeps))
            for items in good_rows([reader], RowReader.read, self.skips):
                self._check_row_kind(source, reader.kind)
                yield items
            self.skips.not_numbers += reader.not_numbers

    def fit(self, items: Sequence[Item]) -> None:
        """Reduce the extra columns of items to those of the first items, with their types; report what is dropped."""
        if not self.keeps:
            return
        if self.extra is None:
            columns: dict[str, list] = {}
            for item in items:
                for name, cell in item.extra.items():
                    columns.setdefault(name, []).append(json_value(cell))
            self.extra = {name: "any" if self.keeps == "any" else type_of(column) for name, column in columns.items()}
        for item in items:
            for name in item.extra:
                if name not in self.extra:
                    self._note(name, f"column {name!r} is not in the first rows, and is left out of the output")
            item.extra = {name: self._fitted(name, json_value(item.extra.get(name))) for name in self.extra}

    def _fitted(self, name: str, cell: object) -> object:
        kind = self.extra[name]
        if cell is None or kind == "any" or type_of([cell]) in (kind, "integer" if kind == "number" else kind):
            return cell
        self._note(name, f"column {name!r}: the output has null for values such as {cell!r:.40}, which are no {kind}")
        return None

    def _note(self, name: str, message: str) -> None:
        if name not in self._noted:
            self._noted.add(name)
            self.notify(message)

    def _check_row_kind(self, source: Source, row_kind: RowKind) -> None:
        if self.row_kind is not None and self.row_kind.sets != row_kind.sets:
            kinds = ("single answers", "sets of questions")
            raise FileError(
                f"{source.name}: holds {kinds[row_kind.sets]}, the files before it {kinds[self.row_kind.sets]}; "
                "score them in two runs"
            )
        self.row_kind = self.row_kind or row_kind


def counted(function: Callable, tell: Callable[[int], object], passes: int = 1) -> Callable:
    """Return `function`, which calls `tell` with the number of finished rows after every batch and window.

    That number never falls; `passes` is how often models read a row.
    """
    lock, running, finished = Lock(), {}, 0

    def run(window: Any) -> Any:
        nonlocal finished
        rows, share = len(window), 0.0

        def batch(rows_read: float) -> None:
            nonlocal share
            with lock:
                share = min(1.0, share + rows_read / passes)
                running[id(window)] = int(rows * share + 1e-6)
                tell(finished + sum(running.values()))

        with listening(batch):
            result = function(window)
        with lock:
            running.pop(id(window), None)
            finished += rows
            tell(finished + sum(running.values()))
        return result

    return run


def worker_count(scorers: Iterable[Scorer]) -> int:
    """Return how many windows are best scored at once; 0 for one at a time, without a thread of its own.

    A model on a CPU gets a thread for every core that this process may use: small batches on one core each are quicker
    than one batch on all of them. Beside a model on a GPU, a second thread makes the next batch.
    """
    devices = {scorer.device for scorer in scorers} - {None}
    if devices != {"cpu"}:
        return 2 if devices else 0
    torch = sys.modules.get("torch")
    return min(torch.get_num_threads(), cores()) if torch else cores()


def map_in_order(function: Callable, windows: Iterable, workers: int) -> Iterator[tuple]:
    """Yield (window, function(window)) in the order of the windows; worker threads compute the next ones ahead.

    torch uses one core in a worker. When reading fails, what was read before still comes out.
    """
    if not workers:
        yield from ((window, function(window)) for window in windows)
        return
    torch, windows, failure = sys.modules.get("torch"), iter(windows), None
    threads = torch.get_num_threads() if torch else 1
    one_core = {"initializer": torch.set_num_threads, "initargs": (1,)} if torch else {}
    pool = ThreadPoolExecutor(workers, WORKERS, **one_core)
    pending: deque = deque()
    try:
        while failure is None:
            try:
                window = next(windows)
            except (FileError, StopIteration) as end:
                failure = end
            else:
                pending.append((window, pool.submit(function, window)))
            while pending and (failure or len(pending) > workers + 1):
                window, result = pending.popleft()
                yield window, result.result()
        if not isinstance(failure, StopIteration):
            raise failure
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        if torch:
            torch.set_num_threads(threads)


def item_statistics(
    items: Sequence[Item], scorers: Mapping[str, Scorer], progress: Progress = ignore
) -> tuple[dict[str, np.ndarray], dict[str, Counter]]:
    """Return {metric: (items, k + 1) sums of statistics} and {metric: counts for warnings}, computed in threads.

    A row holds the sums over the predictions of an item; its last column is their number, 1 for a metric that scores
    an item as one. `progress` gets the metric, and the items that are done and of all, from any thread.
    """
    sums, counts = {}, {}
    for metric, scorer in scorers.items():
        blocks, counts[metric] = [], Counter()
        windows = cut(([item] for item in items), partial(window_predictions, [scorer]))
        progress(metric, 0, len(items))
        run = counted(
            lambda window, scorer=scorer: statistics_of_items(scorer, window.items),
            lambda done, metric=metric: progress(metric, done, len(items)),
            scorer.passes,
        )
        for window, (statistics, counts_of_window, *_) in map_in_order(run, windows, worker_count([scorer])):
            lengths = [1 if scorer.takes_sets else len(item.predictions) for item in window.items]
            total = np.zeros((len(window), statistics.shape[1] + 1))
            np.add.at(total[:, :-1], np.repeat(np.arange(len(window)), lengths), statistics)
            total[:, -1] = lengths
            blocks.append(total)
            counts[metric].update(counts_of_window)
        sums[metric] = np.concatenate(blocks)
    warn_of_recorded(counts)
    return sums, counts


@dataclass(frozen=True)
class MetricScores:
    """Scores of one metric, by system, and what must be known to read them."""

    by_system: Mapping[str, Mapping[str, float]]  # {system: {score: value}}
    signature: str  # what the numbers depend on
    title: str  # its name and judge
    measures: str  # what its main score is, in words
    error_rate: str  # how often its verdicts are wrong, in words; "" where scores alone say it
    threshold: float  # score from which it calls an answer right
    flagged: Mapping[str, str]  # {system: answers that it flags for reading, "2 of 5"}; empty where means say more
    counts: Mapping[str, int]  # see `Scorer.all_counts`
    missing: str  # see `Scorer.missing`
    length_note: str  # see `Scorer.length_note`


@dataclass(frozen=True)
class RowCounts:
    """Numbers of rows."""

    rows: Mapping[str, int]  # {system: rows (contexts, of sets) that were scored}
    predictions: Mapping[str, int]  # {system: predictions that were scored}
    skipped: int  # bad rows that were left out
    skipped_by_system: Mapping[str, int]  # those of them whose system is known
    not_numbers: int  # values of `score` and `label` that are not numbers; the output has null for them
    too_few: str  # why differences between systems cannot be tested, in words; "" where they can


@dataclass(frozen=True)
class JudgeCounts:
    """Sums over the verdicts of a judge of answers, by system; empty without one."""

    labels: Mapping[str, Mapping[str, Any]]  # {system: counts of `CONFUSION`, and `agreement` with its labels}
    faults: Mapping[str, Mapping[str, int]]  # {system: {fault: answers}}
    cells: Mapping[str, Mapping[str, float]]  # {system: {one of `CELLS`: share of its answers}}
    questions: Mapping[str, QuestionTotals] = field(compare=False)
    profiles: Mapping[str, Mapping[str, int]]  # see `Scorer.profile`


@dataclass
class Scores:
    """The scores and counts of every system, with warnings and notes; what `score` shows and writes."""

    sets: bool  # a row was a context with a set of predictions, not a question with an answer
    counts: RowCounts
    metrics: Mapping[str, MetricScores]  # in the order of the columns
    judge: JudgeCounts = field(repr=False)
    words: Mapping[str, float] = field(repr=False)  # {system: mean number of words of its answers}
    to_read: AnswersToRead = field(repr=False, compare=False)
    warnings: list[str]  # of scores that mean less than they seem to
    notes: list[str]  # what must be read with the scores
    columns: dict[str, list] | None = field(default=None, repr=False)  # rows with their scores, as written

    @property
    def scores(self) -> dict[str, Mapping[str, Mapping[str, float]]]:
        """{metric: {system: {score: value}}}."""
        return {name: metric.by_system for name, metric in self.metrics.items()}

    @property
    def signatures(self) -> dict[str, str]:
        """{metric: what its numbers depend on}."""
        return {name: metric.signature for name, metric in self.metrics.items()}

    @property
    def systems(self) -> dict[str, dict[str, float]]:
        """{system: {score: value}}, of all metrics."""
        systems: dict[str, dict[str, float]] = {system: {} for system in self.counts.rows}
        for by_system in (*self.scores.values(), self.judge.cells):
            for system, scores in by_system.items():
                systems[system] |= scores
        return systems


class _OneFile(ExitStack):
    """A single output file, or none; keeps the rows in memory where that is asked for."""

    def __init__(self, options: ScoreOptions):
        super().__init__()
        self.path, self.writer = options.output, None
        self.kept: dict[str, list] | None = {} if options.keep else None

    def write(self, part: int, columns: Mapping[str, str], metadata: Mapping[str, str], rows: Mapping) -> None:
        if self.path is not None:
            self.writer = self.writer or self.enter_context(Writer(self.path, columns, metadata))
            self.writer.write(rows)
        if self.kept is not None:
            for name in columns:
                self.kept.setdefault(name, []).extend(rows[name])

    finished: Mapping[int, dict] = {}
    end_part = complete = staticmethod(ignore)


class Run:
    """Scores the rows of files; memory does not grow with their number.

    A bad argument is a ValueError, raised before anything is written. Rows are not kept unless that is asked for.
    """

    def __init__(self, inputs: Any, options: ScoreOptions):
        self.options = options
        try:
            self.keeps: Literal["any", "typed"] | None = None
            self._find(inputs)
            row_kind = None if options.metrics or options.settings else first_row_kind(self.sources, options.columns)
            metrics = default_metrics(row_kind) if row_kind else options.metrics
            self.scorers = make_scorers(metrics, options.settings, self.sources)
            self.needs = needed_columns(self.scorers)
            self.output = _OneFile(options)
            if self.in_parts:
                self.output = Parts(str(options.output), self._facts(), self.sources, options.resume)
        except FileError as error:  # bad usage: nothing was read yet
            raise ValueError(str(error)) from error

    def _find(self, inputs: Any) -> None:
        """Open the sources, and check that the output can be written."""
        output, resume = self.options.output, self.options.resume
        self.in_parts = self.options.in_parts
        if output or self.options.keep:
            typed = self.in_parts or (output and format_of(output)[0] == "Parquet")
            self.keeps = "typed" if typed else "any"
        if resume and not self.in_parts:
            raise ValueError("resume: only the output to a folder can be resumed; end its name with a slash")
        self.sources = sources_of(inputs)
        if resume and any(source.path == "-" for source in self.sources):
            raise ValueError("resume: standard input cannot be read again; name files")
        if output == "-":
            raise FileError("output: standard output has the table; name a file")
        if output is not None and not self.in_parts:
            Writer(output, {}, {}, [source.path for source in self.sources])
        check_columns(self.sources, self.options.columns)

    def _facts(self) -> dict:
        """Return everything but the input that the numbers depend on, as JSON."""
        signatures = {metric: scorer.signature for metric, scorer in self.scorers.items()}
        options = self.options
        facts = {"version": __version__, "metrics": options.metrics, "signatures": signatures, "set": options.settings}
        facts |= {"columns": options.columns, "part_rows": options.part_rows}
        # What JSON cannot hold, such as a function for a setting, is known by its name.
        named = json.dumps(facts, default=lambda setting: getattr(setting, "__qualname__", None) or str(setting))
        return json.loads(named)

    def score(
        self, notify: Message = ignore, problem: Message = ignore, progress: Callable[[int, int | None], None] = ignore
    ) -> Scores:
        """Read, score and write; after an error the output file is as before, and a folder keeps its finished parts.

        `notify` gets what a user must know about the input, `problem` each bad row that is left out, `progress` from
        any thread the rows that are done and of all: an estimate until all input is read, None where its size is
        unknown.
        """
        if self.finished_parts:
            notify(f"{self.finished_parts:,} finished parts in {self.options.output} are kept")
        reading, output = self._reading(problem, notify), self.output
        sizes = [source.size for source in self.sources]
        size = None if None in sizes else sum(sizes)
        expected: int | None = None  # rows: an estimate from the bytes read so far; exact when all are read
        kept = 0  # rows of finished parts

        def read(windows: Iterable[Window]) -> Iterator[Window]:
            nonlocal expected, kept
            rows = 0
            for window in windows:
                rows += len(window)
                kept += len(window) * (window.part in output.finished)
                if size and (position := reading.position):
                    expected = max(rows, round(rows * size / position))
                yield window
            expected = rows

        part_rows = self.options.part_rows if self.in_parts else math.inf
        with output:
            scorers = self.scorers
            windows = reading.windows(partial(window_predictions, scorers.values()), part_rows)
            row_kind = reading.row_kind
            check_questions(scorers, row_kind)
            signatures = {metric: scorer.signature for metric, scorer in scorers.items()}
            columns = output_columns(row_kind, scorers, self.options.explain, reading.extra)
            metadata = {"genqa_metrics": json.dumps(signatures)}
            overall, part_sums = Tally(), Tally()
            worst, explain = self.options.worst, self.options.explain
            score_window = counted(
                lambda window: scored(window.items, row_kind, scorers, worst, explain),
                lambda done: progress(done + kept, expected),
                sum(scorer.passes for scorer in scorers.values()),
            )
            results = map_in_order(
                lambda window: score_window(window) if window.items and window.part not in output.finished else None,
                read(windows),
                worker_count(scorers.values()),
            )
            for window, result in results:
                if result:
                    rows, tally = result
                    part_sums.add(tally)
                    if len(overall.rows | part_sums.rows) > MAX_SYSTEMS:
                        raise FileError(too_many_systems(f"more than {MAX_SYSTEMS:,}", window.items[-1].system))
                    output.write(window.part, columns, metadata, rows)
                if window.ends_part:
                    if window.part in output.finished:
                        part_sums = Tally.from_json(output.finished[window.part]["tally"])
                    else:
                        output.end_part(window.part, window.files, window.is_last, part_sums)
                    overall.add(part_sums)
                    part_sums = Tally()
            overall.add(part_sums)  # without parts, and with a full last window, nothing ends one
            warn_of_recorded(overall.warning_counts)
            scores = finished(overall, row_kind, scorers, reading.skips)
            output.complete(facts_of(scores))
        scores.columns = output.kept
        return scores

    def _reading(self, problem: Message, notify: Message) -> Reading:
        skips = Skips(self.options.on_error == "skip", problem)
        return Reading(self.sources, self.options.columns, skips, notify, self.needs, self.keeps)

    @property
    def finished_parts(self) -> int:
        """Number of finished parts in the output folder."""
        return len(self.output.finished)


def facts_of(scores: Scores) -> dict[str, Any]:
    """Return the numbers of rows, scores (None without predictions) and signatures, for the manifest of the folder."""
    counts = scores.counts
    return {
        "rows": counts.rows,
        "scores": {
            name: {system: by_system.get(system) for system in counts.rows}
            for name, by_system in scores.scores.items()
        },
        "signatures": scores.signatures,
        "skipped_rows": counts.skipped,
        "skipped": counts.skipped_by_system,
    }


def finished(tally: Tally, row_kind: RowKind, scorers: Mapping[str, Scorer], skips: Skips) -> Scores:
    """Return the numbers of every system from the sums over all rows."""
    metrics, warnings, notes = {}, [], []
    for metric, scorer in scorers.items():
        metric_sums, counted_rows = tally.sums[metric], tally.warning_counts[metric]
        totals = {system: sums[:-1] for system, sums in metric_sums.items()}
        warnings += [f"{metric}: {warning}" for warning in scorer.warnings(totals, counted_rows)]
        notes += scorer.remarks(totals, counted_rows)
        metrics[metric] = _metric_scores(scorer, metric_sums, counted_rows)
    judge = next((scorer for scorer in scorers.values() if scorer.verdict), None)
    labelled = {system: cases for system, cases in tally.confusion.items() if cases.any()}
    if number := int(sum(cases.sum() for cases in labelled.values())):
        rows, weights = tally.rows.total(), sum(float(of.sums.weight.sum()) for of in tally.questions.values())
        is_assumed = number < rows and abs(weights - number) < 0.5  # where no row has a probability of being drawn
        notes += [label_note(number, rows), *[TAKEN_AS_DRAWN] * is_assumed]
    skipped = dict(skips.by_system)
    notes += filter(None, [scores.length_note for scores in metrics.values()])
    if len({skipped.get(system, 0) for system in (*tally.rows, *skipped)}) > 1:
        text = ", ".join(f"{system} {rows:,}" for system, rows in skipped.items())
        notes.append(
            f"skipped rows differ between systems ({text}): their scores are over unequal rows, and a skipped answer "
            'lowers no score; write "" for a system that gave no answer, which scores 0'
        )
    fewest = min(tally.rows.values())
    unit = ("context" if row_kind.sets else "row") + ("s are" if fewest != 1 else " is")
    return Scores(
        sets=row_kind.sets,
        counts=RowCounts(
            rows=dict(tally.rows),
            predictions=dict(tally.predictions),
            skipped=skips.skipped,
            skipped_by_system=skipped,
            not_numbers=skips.not_numbers,
            too_few=f"{fewest} {unit} too few to test" * (fewest < MIN_QUESTIONS),
        ),
        metrics=metrics,
        judge=JudgeCounts(
            labels={
                system: {**dict(zip(CONFUSION, map(int, cases), strict=True)), **agreement(cases)}
                for system, cases in labelled.items()
            },
            faults=faults_in_order(judge, tally.faults) if judge else {},
            cells=cell_shares(tally.cells),
            questions=tally.questions,
            profiles=tally.profiles,
        ),
        words={system: words / tally.rows[system] for system, words in tally.words.items()},
        to_read=tally.to_read,
        warnings=warnings,
        notes=notes,
    )


def _metric_scores(scorer: Scorer, sums: Mapping[str, Any], counts: Mapping[str, int]) -> MetricScores:
    """Return the scores of a metric from {system: (k + 1,) sums of statistics, the last one their number}."""
    by_system, flagged = {}, {}
    for system, of in sums.items():
        by_system[system] = scorer.corpus_scores(of[:-1], int(of[-1]))
        flagged[system] = scorer.flagged(of[:-1])
    return MetricScores(
        by_system=by_system,
        signature=scorer.signature,
        title=scorer.title,
        measures=scorer.measures,
        error_rate=scorer.error_rate,
        threshold=getattr(scorer, "threshold", 0.5),
        flagged=flagged if any(flagged.values()) else {},
        counts=counts,
        missing=scorer.missing,
        length_note=scorer.length_note(by_system),
    )
