"""Score files of any size: rows come in, statistics are summed per system, one result row goes out for each row in.

Reading, scoring and writing overlap: the calling thread reads ahead and writes behind, workers score.

Judgments that an earlier run wrote into its rows are taken again where judge and texts are the same. Beside the scores
of a metric that `recalls`, the output has a column METRIC_digest: the signature, the digests of the texts that the
metric read and of its scores, and what must be warned of. Scores without it are columns like others.
"""

import json
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from threading import Lock, current_thread
from typing import Any, Literal

import numpy as np

from .. import __version__
from ..core.inference import cores, listening
from ..core.scorer import Scorer, warn_caller
from ..registry import scorer_class
from ..rows.errors import Advice, FileError, RecordedScoresWarning, too_many_systems
from ..rows.reading import (
    DIGEST,
    NOT_NUMBERS,
    SETTINGS,
    SINGLE,
    SKIPPED,
    Item,
    Message,
    Progress,
    Reading,
    RowKind,
    Skips,
    Window,
    check_columns,
    cut,
    ignore,
    skipped_of,
)
from ..rows.sources import format_of, sources_of
from ..rows.values import json_digest
from ..rows.writing import Writer
from .options import (
    OnError,
    Settings,
    check_options,
    checked_columns,
    default_metrics,
    length_note,
    listed_names,
    make_scorers,
    needed_columns,
    with_calibration,
    with_limit,
)
from .parts import PART_ROWS, Parts, is_folder
from .tally import (
    FAULTS,
    LABELLED,
    TOGETHER,
    WORDS,
    AnswersToRead,
    QuestionTotals,
    Tally,
    answers_to_read,
    cell_counts,
    cell_shares,
    counts_of_rows,
    fault_counts,
    label_note,
    named_faults,
    sets_to_read,
    totals_by_system,
)

MAX_SYSTEMS = 1000


@dataclass
class Scores:
    """Scores of every system, and what happened on the way."""

    sets: bool  # rows were sets of predictions
    total: str | None  # name of the row for all systems together
    scores: dict[str, dict[str, dict[str, float]]]  # {metric: {system: {name: value}}}, in the order of the rows
    rows: dict[str, int]  # {system: rows (contexts, for sets) that were scored}
    predictions: dict[str, int]  # {system: predictions that were scored}
    signatures: dict[str, str]  # {metric: what its numbers depend on}
    skipped: int  # bad rows that were left out
    skipped_of: dict[str, int]  # {system: its bad rows that were left out}
    single: int  # contexts that were left out because their one reference cannot be halved
    not_numbers: int  # values of `score` and `label` that are not numbers; the output has null for them
    warnings: list[str]  # of scores that mean less than they seem to
    notes: list[str]  # what must be read with the scores
    columns: dict[str, list] | None = field(default=None, repr=False)  # rows with their scores, as written
    cells: dict[str, dict[str, float]] = field(default_factory=dict)  # {system: {cell: share of its answers}}
    labelled: dict[str, list[float]] = field(default_factory=dict)  # {system: counts, see `CONFUSION`}
    faults: dict[str, dict[str, int]] = field(default_factory=dict)  # {system: {fault: answers}}, see `fault_counts`
    counts: dict[str, Mapping[str, int]] = field(default_factory=dict, repr=False)  # {metric: of `Scorer.statistics`}
    questions: dict[str, QuestionTotals] = field(default_factory=dict, repr=False, compare=False)
    profiles: dict[str, Mapping[str, int]] = field(default_factory=dict, repr=False)  # {system: see `Scorer.profile`}
    words: dict[str, float] = field(default_factory=dict, repr=False)  # {system: words of its answers, on average}
    to_read: AnswersToRead = field(default_factory=AnswersToRead, repr=False, compare=False)
    titles: dict[str, str] = field(default_factory=dict, repr=False)  # {metric: name and judge}
    flagged: dict[str, dict[str, str]] = field(default_factory=dict, repr=False)  # {metric: {system: "2 of 5"}}

    @property
    def systems(self) -> dict[str, dict[str, float]]:
        """{system: {score: value}}, of all metrics."""
        result: dict[str, dict[str, float]] = {system: {} for system in self.rows}
        for systems in self.scores.values():
            for system, scores in systems.items():
                result[system] |= scores
        for system, shares in self.cells.items():
            result[system] |= shares
        return result


class _OneFile(ExitStack):
    """A single output file, or none; keeps the rows in memory where that is asked for."""

    def __init__(self, path: str | None, keep: bool):
        super().__init__()
        self.path, self.writer = path, None
        self.kept: dict[str, list] | None = {} if keep else None

    def write(self, part: int, columns: Mapping[str, str], metadata: Mapping[str, str], rows: Mapping) -> None:
        if self.path is not None:
            self.writer = self.writer or self.enter_context(Writer(self.path, columns, metadata))
            self.writer.write(rows)
        if self.kept is not None:
            for name in columns:
                self.kept.setdefault(name, []).extend(rows[name])

    end = complete = staticmethod(ignore)


class Run:
    """Scores the rows of files in memory that does not grow with them; arguments are those of `genqa_metrics.score`.

    A bad argument is a ValueError, raised before anything is written. Rows are not kept unless that is asked for.
    """

    def __init__(
        self,
        inputs: Any,
        metrics: str | Sequence[str] | None = None,
        settings: Settings | None = None,
        *,
        columns: Mapping[str, str] | None = None,
        output: str | None = None,
        resume: bool = False,
        part_rows: int = PART_ROWS,
        address: str | None = None,
        total: bool = False,
        worst: int = 10,
        calibration: str | None = None,
        limit_time: str | float | None = None,
        on_error: OnError = "fail",
        keep: bool = False,
        explain: bool = False,
    ):
        check_options(on_error, settings=settings, columns=columns, worst=worst)
        self.output, self.part_rows, self.resume, self.address = output, part_rows, resume, address
        self.total, self.worst, self.skips, self.keep, self.explain = total, worst, on_error == "skip", keep, explain
        if part_rows < 1:
            raise ValueError(f"part_rows: expected at least 1, got {part_rows}")
        self.metrics = tuple(listed_names("metrics", metrics))
        self.settings = dict(settings or {})
        if calibration is not None:
            self.settings["ava"] = with_calibration(self.settings.get("ava", {}), calibration)
        if limit_time is not None:
            self.settings["ava"] = with_limit(self.settings.get("ava", {}), limit_time)
        self.columns = checked_columns(columns)
        try:
            self.keeps: Literal["any", "typed"] | None = None
            self._find(inputs, resume)
            self.scorers = make_scorers(self.metrics, self.settings, self.sources)
            if self.in_parts:
                self._parts = Parts(str(self.output), self._facts(), self.sources, resume)
        except FileError as error:  # bad usage: nothing was read yet
            raise ValueError(Advice(error)) from error

    def _find(self, inputs: Any, resume: bool) -> None:
        """Find the input, and a place for the output."""
        self.in_parts = bool(self.output) and is_folder(str(self.output))
        if self.output or self.keep:
            typed = self.in_parts or (self.output and format_of(self.output)[0] == "Parquet")
            self.keeps = "typed" if typed else "any"
        if resume and not self.in_parts:
            raise ValueError("resume: only the output to a folder can be resumed; end its name with a slash")
        self.sources = sources_of(inputs)
        if resume and any(source.path == "-" for source in self.sources):
            raise ValueError("resume: standard input cannot be read again; name files")
        if self.output == "-":
            raise FileError("output: standard output has the table; name a file")
        if self.output is not None and not self.in_parts:
            Writer(self.output, {}, {}, [source.path for source in self.sources])
        check_columns(self.sources, self.columns)

    def _facts(self) -> dict:
        """Return everything but the input that the numbers depend on, as JSON."""
        signatures = {metric: scorer.signature for metric, scorer in self.scorers.items()}
        facts = {"version": __version__, "metrics": self.metrics, "signatures": signatures, "set": self.settings}
        facts |= {"columns": self.columns, "part_rows": self.part_rows}
        # What JSON cannot hold, such as a function for a setting, is known by its name.
        named = json.dumps(facts, default=lambda value: getattr(value, "__qualname__", None) or str(value))
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
            notify(f"{self.finished_parts:,} finished parts in {self.output} are kept")
        reading = Reading(self.sources, self.columns, Skips(self.skips, problem), notify, self._needs, self.keeps)
        sizes = [source.size for source in self.sources]
        size = None if None in sizes else sum(sizes)
        expected: int | None = None  # rows: an estimate from the bytes read so far; exact when all are read

        def read(windows: Iterable[Window]) -> Iterator[Window]:
            nonlocal expected
            rows = 0
            for window in windows:
                rows += len(window.items)
                if size and (position := reading.position):
                    expected = max(rows, round(rows * size / position))
                yield window
            expected = rows

        with self._parts if self.in_parts else _OneFile(self.output, self.keep) as output:
            parts = (self.part_rows, self._parts.finished) if self.in_parts else ()
            windows = reading.windows(
                lambda kind: (window_predictions(self._checked_scorers(kind).values()), WINDOW_CHARACTERS), *parts
            )
            row_kind = reading.row_kind
            scorers = self._checked_scorers(row_kind)
            signatures = {metric: scorer.signature for metric, scorer in scorers.items()}
            columns = output_columns(row_kind, scorers, self.explain, reading.extra)
            metadata = {"genqa_metrics": json.dumps(signatures)}
            overall, of_part = Tally(), Tally()
            run = counted(
                lambda window: window.items and scored(window.items, row_kind, scorers, self.worst, self.explain),
                lambda done: progress(done, expected),
                sum(scorer.passes for scorer in scorers.values()),
                lambda window: len(window.items),
            )
            for window, result in map_in_order(run, read(windows), worker_count(scorers.values())):
                if result:
                    rows, tally = result
                    of_part.add(tally)
                    if len(overall.rows | of_part.rows) > MAX_SYSTEMS:
                        raise FileError(too_many_systems(f"more than {MAX_SYSTEMS:,}", window.items[-1].system))
                    output.write(window.part, columns, metadata, rows)
                if window.done:
                    overall.add(Tally(**window.end["tally"]))
                elif window.end is not None:
                    output.end(window.part, {**window.end, "tally": of_part.as_json()})
                    overall.add(of_part)
                    of_part = Tally()
            report = report_of(overall, row_kind, scorers, reading.counts, self.total)
            output.complete(facts_of(report))
        report.columns = output.kept
        return report

    @property
    def finished_parts(self) -> int:
        """Number of finished parts in the output folder."""
        return len(self._parts.finished) if self.in_parts else 0

    def _checked_scorers(self, row_kind: RowKind) -> dict[str, Scorer]:
        if not self.scorers:
            self.scorers = make_scorers(default_metrics(row_kind), sources=self.sources)
        for metric, scorer in self.scorers.items():
            if scorer.needs_question and row_kind.text != "question":
                raise FileError(f"{metric}: needs rows with a question, got rows with a {row_kind.text}")
        return self.scorers

    def _needs(self, row_kind: RowKind) -> dict[str, str]:
        metrics = tuple(self.scorers) or default_metrics(row_kind)
        return needed_columns({metric: scorer_class(metric) for metric in metrics}, row_kind)


def facts_of(report: Scores) -> dict:
    """Return what the manifest of a folder of parts says about a finished run."""
    systems = [system for system in report.rows if system != report.total]
    scores = {metric: {system: of_metric[system] for system in systems} for metric, of_metric in report.scores.items()}
    rows = {system: report.rows[system] for system in systems}
    skipped = {"skipped_rows": report.skipped, "skipped": report.skipped_of}
    return {"rows": rows, "scores": scores, "signatures": report.signatures, **skipped}


def report_of(overall: Tally, row_kind: RowKind, scorers: Mapping, counts: Counter, total: bool) -> Scores:
    """Return the scores of every system from the sums over all rows."""
    _warn_of_recorded(overall.warning_counts)
    judge = next((scorer for scorer in scorers.values() if scorer.verdict), None)
    name = None if not total else "all systems" if "all" in overall.rows else "all"
    scores, flagged, warnings, notes = {}, {}, [], []

    def with_total(values: Mapping) -> dict:
        return {**values, name: sum(values.values())} if total and values else dict(values)

    for metric, scorer in scorers.items():
        totals = {system: values[:-1] for system, values in overall.sums[metric].items()}
        warnings += [f"{metric}: {warning}" for warning in scorer.warnings(totals, overall.warning_counts[metric])]
        notes += scorer.remarks(totals, overall.warning_counts[metric])
        scores[metric] = {
            system: scorer.corpus_scores(values[:-1], int(values[-1]))
            for system, values in with_total(overall.sums[metric]).items()
        }
        counts_of = {system: scorer.flagged(values) for system, values in with_total(totals).items()}
        flagged |= {metric: counts_of} if any(counts_of.values()) else {}
    if labelled := int(sum(cases.sum() for cases in overall.sums.get(LABELLED, {}).values())):
        notes.append(label_note(labelled, overall.rows.total()))
    skipped = skipped_of(counts)
    notes += [length_note(metric, of_metric) for metric, of_metric in scores.items()]
    if len({skipped.get(system, 0) for system in (*overall.rows, *skipped)}) > 1:
        text = ", ".join(f"{system} {rows:,}" for system, rows in skipped.items())
        notes.append(
            f"skipped rows differ between systems ({text}): their scores are over unequal rows, and a skipped answer "
            'lowers no score; write "" for a system that gave no answer, which scores 0'
        )
    return Scores(
        sets=row_kind.sets,
        total=name,
        scores=scores,
        rows=with_total(overall.rows),
        predictions=with_total(overall.predictions),
        signatures={metric: scorer.signature for metric, scorer in scorers.items()},
        skipped=counts[SKIPPED],
        skipped_of=skipped,
        single=counts[SINGLE],
        not_numbers=counts[NOT_NUMBERS],
        warnings=warnings,
        notes=[note for note in notes if note],
        cells=cell_shares(with_total(overall.sums.get(TOGETHER, {}))),
        labelled={system: cases.tolist() for system, cases in overall.sums.get(LABELLED, {}).items() if cases.any()},
        faults=named_faults(judge, overall.sums[FAULTS]) if FAULTS in overall.sums else {},
        counts=dict(overall.warning_counts),
        questions=overall.questions,
        profiles=overall.profiles,
        words={system: float(of[0]) / overall.rows[system] for system, of in overall.sums.get(WORDS, {}).items()},
        to_read=overall.to_read,
        titles={metric: scorer.title for metric, scorer in scorers.items()},
        flagged=flagged,
    )


# Predictions that are scored at once, by device: a model sorts them by length, and batches for a GPU are large. They
# depend on the rows alone, never on the number of threads, so that every machine gives the same numbers.
WINDOWS = {None: 1000, "cpu": 256, "cuda": 10_000, "mps": 10_000}
WINDOW_CHARACTERS = 2**20
WORKERS = "scoring"  # their names begin with it
FIRST, RECALLED, ANEW = "judged first", "recalled", "judged anew: "
_ROW = "|row:"


def window_predictions(scorers: Iterable[Scorer]) -> int:
    """Return the number of predictions of a window for scorers that work side by side."""
    sizes = [WINDOWS[scorer.device] for scorer in scorers if scorer.device is not None]
    return max(sizes, default=WINDOWS[None])


def _statistics_of_items(
    scorer: Scorer, items: Sequence[Item], explain: bool = False
) -> tuple[np.ndarray, Counter, list[str], list[str], list[list[str]]]:
    """Return the statistics of items, counts of what to warn of, and for every row why, its digest, and what it lacks.

    There is one row per prediction, or per item if the metric takes sets. Equal rows are scored once, and rows that
    the same scorer judged before not at all, unless reasons are asked for. Only metrics that recall have digests.
    """
    rows = _rows_of_items(scorer, items)
    signature = scorer.signature if scorer.recalls else ""
    known, counts = _known_rows(scorer, signature, items, rows, explain) if signature else ({}, Counter())
    new = [row for row in dict.fromkeys(rows) if row not in known]
    parts, counts_of_row, reasons, missing = [], [], [], []
    if new:
        columns = _columns(scorer, new)
        checked = scorer.checked(columns) if explain else columns
        scorer.ready()
        if current_thread().name.startswith(WORKERS) and (torch := sys.modules.get("torch")):
            torch.set_num_threads(1)  # a model that was loaded only now
        statistics, _, details, counts_of_row = scorer.statistics(checked, explain)
        parts.append(np.asarray(statistics))
        reasons = scorer.reasons(parts[0], details) if explain else []
        missing = details[scorer.missing] if scorer.missing else []
    if known:
        values = np.array([scores for scores, _ in known.values()])
        scores = dict(zip(scorer.row_names, values.T, strict=True))
        parts.append(scorer.recalled(_columns(scorer, known), scores))
        counts_of_row = [*counts_of_row, *(of_row for _, of_row in known.values())]
    places = {row: place for place, row in enumerate((*new, *known))}
    order = [places[row] for row in rows]
    statistics, digests = np.concatenate(parts), []
    if signature:
        of_rows = scorer.row_scores(statistics)
        scores = np.column_stack([of_rows[name] for name in scorer.row_names]).tolist()
        digests = [_row_digest(signature, *row) for row in zip(places, scores, counts_of_row, strict=True)]
    statistics = statistics[order]
    counts += scorer.counts(_columns(scorer, rows), statistics)  # of all rows: windows cut equal ones apart
    for place in order:
        counts.update({name: count for name, count in counts_of_row[place].items() if count})
    whole = ([column[place] for place in order] if column else [] for column in (reasons, digests, missing))
    return statistics, counts, *whole


def _rows_of_items(scorer: Scorer, items: Sequence[Item]) -> list[tuple]:
    """Return what a scorer reads: question, answer or set of answers, evidence; raise where an item lacks it."""
    rows: list[tuple] = []
    for item in items:
        asked = item.text if _reads_question(scorer) else None
        evidence, missing = tuple(getattr(item, scorer.evidence)), ""
        if scorer.needs_question and asked is None:
            missing = f"question: expected a string for {scorer.name}, got null"
        elif not evidence and scorer.evidence == "references":
            missing = f"references: expected at least one text for {scorer.name}, got none"
        if missing:
            raise FileError(f"{item.file}, line {item.line}: {missing}; drop the row, or leave the metric out")
        predictions = [tuple(item.predictions)] if scorer.takes_sets else item.predictions
        rows += [(asked, texts, evidence) for texts in predictions]
    return rows


def _known_rows(
    scorer: Scorer, signature: str, items: Sequence[Item], rows: Sequence[tuple], anew: bool
) -> tuple[dict[tuple, tuple[list[float], dict[str, int]]], Counter]:
    """Return rows that the scorer judged before, with scores and counts, and counts of these and of why not others."""
    known, counts = {}, Counter()
    records: list[Mapping] = []
    for item in items:
        record = {} if anew else item.recorded.get(scorer.name, {})
        records += [record] * (1 if scorer.takes_sets else len(item.predictions))
    for row, record in zip(rows, records, strict=True):
        taken = _recalled(record, scorer, signature, row)
        counts[taken if isinstance(taken, str) else RECALLED] += 1
        if not isinstance(taken, str):
            known[row] = taken
    return known, counts


def _reads_question(scorer: Scorer) -> bool:
    return scorer.needs_question or "questions" in scorer.optional


def _columns(scorer: Scorer, rows: Iterable[tuple]) -> dict[str, list]:
    """Return what a scorer reads of rows, (question, answer or set of answers, evidence), as its columns."""
    asked, predictions, evidence = zip(*rows, strict=True)
    columns: dict[str, list] = {
        "predictions": list(map(list, predictions)) if scorer.takes_sets else list(predictions),
        scorer.evidence: list(map(list, evidence)),
    }
    if _reads_question(scorer):
        columns["questions"] = [question or "" for question in asked]
    return columns


def profiles(scorer: Scorer, items: Sequence[Item], statistics: np.ndarray) -> dict[str, Counter]:
    """Return what each system's answers are like for a judge, see `Scorer.profile`; statistics are (items, k)."""
    places: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        places.setdefault(item.system, []).append(place)
    result = {}
    for system, mine in places.items():
        columns = _columns(scorer, _rows_of_items(scorer, [items[place] for place in mine]))
        result[system] = scorer.profile(columns, statistics[mine])
    return result


def item_statistics(
    items: Sequence[Item], scorers: Mapping[str, Scorer], progress: Progress = ignore
) -> tuple[dict[str, np.ndarray], dict[str, Counter]]:
    """Return the statistics of items by metric, with threads, and {metric: counts of what to warn of}.

    They are (items, k + 1) sums over the predictions of an item, the last column their number, 1 for a metric that
    scores an item as one. `progress` gets the metric, and the items that are done and of all, from any thread.
    """
    sums, counts = {}, {}
    for metric, scorer in scorers.items():
        parts, counts[metric] = [], Counter()
        windows = cut(items, (window_predictions([scorer]), WINDOW_CHARACTERS))
        progress(metric, 0, len(items))
        run = counted(
            partial(_statistics_of_items, scorer), lambda done, m=metric: progress(m, done, len(items)), scorer.passes
        )
        for window, (found, counts_of_window, *_) in map_in_order(run, windows, worker_count([scorer])):
            lengths = [1 if scorer.takes_sets else len(item.predictions) for item in window]
            total = np.zeros((len(window), found.shape[1] + 1))
            np.add.at(total[:, :-1], np.repeat(np.arange(len(window)), lengths), found)
            total[:, -1] = lengths
            parts.append(total)
            counts[metric].update(counts_of_window)
        sums[metric] = np.concatenate(parts)
    _warn_of_recorded(counts)
    return sums, counts


def counted(
    function: Callable, tell: Callable[[int], object], passes: int = 1, size: Callable[[Any], int] = len
) -> Callable:
    """Return a function that tells, while windows are scored in any threads, how many rows are done.

    `tell` gets a number that never falls, after every batch and window; `passes` is how often models read a row.
    """
    lock, running, finished = Lock(), {}, 0

    def run(window: Any) -> Any:
        nonlocal finished
        rows, share = size(window), 0.0

        def batch(part: float) -> None:
            nonlocal share
            with lock:
                share = min(1.0, share + part / passes)
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


def scored(
    items: Sequence[Item], row_kind: RowKind, scorers: Mapping[str, Scorer], worst: int = 10, explain: bool = False
) -> tuple[dict[str, list], Tally]:
    """Return the columns of the output, one value per item, and the sums; METRIC_reason says why if that is asked for.

    `worst` is the number of answers to read first that are kept.
    """
    columns = _output_rows(items, row_kind)
    tally = Tally(Counter(columns["system"]))
    lengths = [len(item.predictions) for item in items]
    places = {system: i for i, system in enumerate(tally.rows)}
    owners = np.array([places[item.system] for item in items])
    for item in items:
        tally.predictions[item.system] += len(item.predictions)
    for metric, scorer in scorers.items():
        lists = row_kind.sets and not scorer.takes_sets  # of scores, one for each question of a set
        why = explain and not lists
        statistics, counts, reasons, digests, missing = _statistics_of_items(scorer, items, why)
        tally.warning_counts[metric] = counts
        with_ones = np.column_stack([statistics, np.ones(len(statistics))])
        of_system = np.repeat(owners, lengths) if not scorer.takes_sets else owners
        tally.sums[metric] = {system: with_ones[of_system == i].sum(axis=0) for system, i in places.items()}
        if scorer.thresholds and scorer.evidence == "references" and not row_kind.sets:  # a judge of answers
            tally.questions = dict(totals_by_system(items, *statistics[:, :3].T))
            tally.profiles = profiles(scorer, items, statistics)
        scores = {name: values.tolist() for name, values in scorer.row_scores(statistics).items()}
        if lists:
            starts = np.cumsum([0, *lengths]).tolist()
            scores = {name: [values[a:b] for a, b in pairwise(starts)] for name, values in scores.items()}
        columns |= scores | ({f"{metric}_{scorer.missing}": missing} if scorer.missing else {})
        columns |= {f"{metric}_reason": reasons} if why else {}
        columns |= {metric + DIGEST: digests} if scorer.recalls and not row_kind.sets else {}
        if digests and scorer.chosen_settings:
            columns[metric + SETTINGS] = [json.dumps(scorer.chosen_settings, default=str, sort_keys=True)] * len(
                digests
            )
    judge = next((scorer for scorer in scorers.values() if scorer.verdict), None)
    if worst and row_kind.sets and not row_kind.ceiling:
        tally.to_read = sets_to_read(columns, worst, scorers.values())
    elif worst and not row_kind.sets:
        tally.to_read = answers_to_read(columns, worst, judge or next(iter(scorers.values())))
    counted = {TOGETHER: cell_counts(columns), LABELLED: counts_of_rows(columns)}
    if not row_kind.sets:
        counted[WORDS] = np.array([[len(text.split())] for text in columns["prediction"]], dtype=float)
    if judge and judge.faults and not row_kind.sets:
        counted[FAULTS] = fault_counts(columns, judge)
    for name, counts in counted.items():
        if counts is not None:
            tally.sums[name] = {system: counts[owners == i].sum(axis=0) for system, i in places.items()}
    return columns, tally


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
    """Yield every window and what a function makes of it, in order, while workers are busy with the next ones.

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


def output_columns(
    row_kind: RowKind, scorers: Mapping[str, Scorer], explain: bool = False, extra: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the columns of the output and their types, see `writing.Writer`, with `extra` ones of the input."""
    columns = {"file": "text", "line": "integer", "id": "text", "system": "text"}
    columns |= {row_kind.text: "text", **({"predictions": "texts"} if row_kind.sets else {"prediction": "text"})}
    columns |= {"references": "texts", **({"contexts": "texts"} if row_kind.has_contexts else {})}
    columns |= {"score": "number", "label": "number"}
    for scorer in scorers.values():
        lists = row_kind.sets and not scorer.takes_sets
        columns |= dict.fromkeys(scorer.row_names, "numbers" if lists else "number")
        columns |= {f"{scorer.name}_{scorer.missing}": "texts"} if scorer.missing else {}
        columns |= {f"{scorer.name}_reason": "text"} if explain and not lists else {}
        judges = scorer.recalls and not row_kind.sets
        columns |= {scorer.name + DIGEST: "text"} if judges else {}
        columns |= {scorer.name + SETTINGS: "text"} if judges and scorer.chosen_settings else {}
    stale = {metric + name for metric in scorers for name in ("_reason", SETTINGS)}
    kept = {name: kind for name, kind in (extra or {}).items() if name not in {*columns, *stale}}
    place = list(columns).index("label") + 1
    return dict([*columns.items()][:place]) | kept | columns


def _output_rows(items: Sequence[Item], row_kind: RowKind) -> dict[str, list]:
    rows = {name: [item.extra[name] for item in items] for name in items[0].extra}
    rows |= {name: [getattr(item, name) for item in items] for name in ("file", "line", "id", "system", "references")}
    rows[row_kind.text] = [item.text for item in items]
    if row_kind.sets:
        rows["predictions"] = [item.predictions for item in items]
    else:
        rows["prediction"] = [item.predictions[0] for item in items]
    if row_kind.has_contexts:
        rows["contexts"] = [item.contexts for item in items]
    rows["score"], rows["label"] = (list(values) for values in zip(*(item.human for item in items), strict=True))
    return rows


def _row_digest(signature: str, texts: object, scores: Sequence[float], counts: Mapping[str, int]) -> str:
    """Return what the column says of a row: who judged it, digests of its texts and of the scores, and warnings.

    >>> _row_digest("ava|threshold:0.5", ["Who?", "Ann", ["Ann"]], [1.0, 0.9, 0.0], {"truncated": 1})
    'ava|threshold:0.5|row:6400618c-1bf2bb11476bdd4c|truncated:1'
    """
    texts_digest = json_digest(texts)[:8]
    counted = "".join(f"|{name}:{count}" for name, count in sorted(counts.items()) if count)
    whole = json_digest([signature, texts_digest, [f"{score:.10g}" for score in scores], counted])[:16]
    return f"{signature}{_ROW}{texts_digest}-{whole}{counted}"


def _recalled(
    record: Mapping[str, Any], scorer: Scorer, signature: str, row: tuple
) -> tuple[list[float], dict[str, int]] | str:
    """Return the recorded scores of a row, and counts of what to warn of in it, or why it is judged."""
    digest = record.get(scorer.name + DIGEST)
    before, result, rest = digest.rpartition(_ROW) if isinstance(digest, str) else ("", "", "")
    if not result:
        return FIRST
    if before != signature:
        parts = ", ".join(f"{name} {change}" for name, change in differing_parts(before, signature).items())
        return f"{ANEW}the judge differs ({parts})"
    texts, *counted = rest.split("|")
    try:
        counts = {name: int(count) for name, _, count in (part.partition(":") for part in counted)}
        scores = [float(record[name]) for name in scorer.row_names]
    except (KeyError, TypeError, ValueError):
        return f"{ANEW}their recorded scores were changed"
    if _row_digest(signature, row, scores, counts) == digest:
        return scores, counts
    changed = "recorded scores" if texts.startswith(json_digest(row)[:8]) else "texts"
    return f"{ANEW}their {changed} were changed"


def differing_parts(old: str, new: str) -> dict[str, str]:
    """Return the parts of two signatures that differ.

    >>> differing_parts("ava|threshold:0.5|version:1", "ava|threshold:0.6|version:1")
    {'threshold': '0.5 -> 0.6'}
    """
    parts = [dict(part.partition(":")[::2] for part in text.split("|")) for text in (old, new)]
    changes = {name: tuple(some.get(name, "none") for some in parts) for name in parts[0] | parts[1]}
    return {name: f"{old} -> {new}" for name, (old, new) in changes.items() if old != new}


def _recall_note(metric: str, counts: Mapping[str, int]) -> str | None:
    """Return what became of the judgments in the rows, one sentence; None where they had none.

    >>> _recall_note("ava", {"recalled": 88, "judged anew: their texts were changed": 3})
    'ava: 88 rows judged before, by the same judge; 3 rows judged anew: their texts were changed'
    >>> _recall_note("ava", {"judged first": 5})
    """
    anew = {name.removeprefix(ANEW): count for name, count in counts.items() if name.startswith(ANEW) and count}
    if not counts.get(RECALLED) and not anew:
        return None
    said = {
        "judged before, by the same judge": counts.get(RECALLED),
        **{f"judged anew: {why}": count for why, count in anew.items()},
        "judged for the first time": counts.get(FIRST),
    }
    parts = [f"{count:,} row{'s' * (count > 1)} {what}" for what, count in said.items() if count]
    return f"{metric}: {'; '.join(parts)}"


def _warn_of_recorded(counts: Mapping[str, Mapping[str, int]]) -> None:
    """Warn that judgments in the rows were taken, or could not be; `counts` are those of metrics."""
    for metric, of_metric in counts.items():
        if note := _recall_note(metric, of_metric):
            warn_caller(note, RecordedScoresWarning)
