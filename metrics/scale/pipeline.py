"""Scores items in windows, with threads: what every verb scores with.

Judgments that an earlier run wrote into its rows are taken again where judge and texts are the same. Beside the scores
of a metric that `recalls`, the output has a column METRIC_digest: the signature, the digests of the texts that the
metric read and of its scores, and what must be warned of. Scores without it are columns like others.
"""

import hashlib
import json
import sys
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from threading import Lock, current_thread
from typing import Any

import numpy as np

from ..core.inference import listening
from ..core.scorer import Scorer
from ..rows.errors import FileError, RecordedScoresWarning
from ..rows.items import DIGEST, Item, RowKind
from ..rows.reading import Progress, characters_of, ignore
from .tally import (
    FAULTS,
    LABELLED,
    TOGETHER,
    Tally,
    answers_to_read,
    cell_counts,
    counts_of_rows,
    fault_counts,
    totals_by_system,
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


def statistics_of_items(scorer: Scorer, items: Sequence[Item]) -> tuple[np.ndarray, Counter]:
    """Return the statistics of items: one row per prediction, or per item if the metric takes sets.

    Equal rows are scored once, and rows not at all that the same scorer has judged before.
    """
    return explained_statistics(scorer, items, explain=False)[:2]


def explained_statistics(
    scorer: Scorer, items: Sequence[Item], explain: bool = True
) -> tuple[np.ndarray, Counter, list[str], list[str]]:
    """Return the same, and for every row one sentence that says why, and its digest.

    There are no sentences unless `explain`, for which rows are judged again, and no digests of a metric without.
    """
    rows: list[tuple] = []
    records: list[Mapping | None] = []
    for item in items:
        if scorer.needs_question and item.text is None:
            raise FileError(
                f"{item.file}, line {item.line}: question: expected a string for {scorer.name}, got null; drop the "
                "row, or leave the metric out"
            )
        reads = scorer.needs_question or "questions" in scorer.optional
        asked, evidence = item.text if reads else None, tuple(getattr(item, scorer.evidence))
        if not evidence and scorer.evidence == "references":
            raise FileError(
                f"{item.file}, line {item.line}: {scorer.evidence}: expected at least one text for {scorer.name}, got "
                "none; drop the row, or leave the metric out"
            )
        predictions = [tuple(item.predictions)] if scorer.takes_sets else item.predictions
        rows += [(asked, texts, evidence) for texts in predictions]
        records += [None if explain else item.recorded.get(scorer.name)] * len(predictions)
    known, counts = recalled(scorer, rows, records)
    distinct = dict.fromkeys(rows)
    new = [row for row in distinct if row not in known]
    parts, counts_of_row, reasons = [], [], []
    if new:
        columns = _columns(scorer, new)
        checked = scorer.checked(columns) if explain else columns
        scorer.ready()
        if current_thread().name.startswith(WORKERS) and (torch := sys.modules.get("torch")):
            torch.set_num_threads(1)  # a model that was loaded only now
        statistics, found_counts, details, counts_of_row = scorer.statistics_with_counts(checked, explain)
        parts.append(np.asarray(statistics))
        counts.update(found_counts)
        reasons = scorer.reasons(parts[0], details) if explain else []
    if known:
        values = np.array([scores for scores, _ in known.values()])
        scores = dict(zip(scorer.row_names, values.T, strict=True))
        statistics, found_counts = scorer.recalled(_columns(scorer, known), scores)
        parts.append(statistics)
        counts_of_row = [*counts_of_row, *(counted for _, counted in known.values())]
        for counted in (found_counts, *counts_of_row[len(new) :]):
            counts.update(counted)
    places = {row: place for place, row in enumerate((*new, *known))}
    order = [places[row] for row in rows]
    statistics = np.concatenate(parts)
    digests = digests_of(scorer, [*places], statistics, counts_of_row) if scorer.recalls else []
    statistic = statistics[order]
    counts = counts + label_counts(items, statistic[:, 0]) if scorer.verdict else counts
    whole = ([column[place] for place in order] if column else [] for column in (reasons, digests))
    return statistic, counts, *whole


def _columns(scorer: Scorer, rows: Iterable[tuple]) -> dict[str, list]:
    """Return what a scorer reads of rows, (question, answer or set of answers, evidence), as its columns."""
    asked, predictions, evidence = zip(*rows, strict=True)
    columns: dict[str, list] = {
        "predictions": list(map(list, predictions)) if scorer.takes_sets else list(predictions),
        scorer.evidence: list(map(list, evidence)),
    }
    if scorer.needs_question or "questions" in scorer.optional:
        columns["questions"] = [question or "" for question in asked]
    return columns


def label_counts(items: Sequence[Item], verdicts: np.ndarray) -> Counter:
    """Return how often a judge is right about answers that the rows have labels for, for `judge_errors.Counts`.

    Args:
        items: the answers; a label is 0 or 1. That of a set is of none of its predictions.
        verdicts: (predictions,) 0 or 1.
    """
    result: Counter = Counter()
    if any(len(item.predictions) != 1 for item in items):
        return result
    for item, verdict in zip(items, verdicts, strict=True):
        label = item.human[1]
        if label in (0, 1):
            whole, hit = ("correct", "accepted") if label else ("incorrect", "rejected")
            result[f"labelled {whole}"] += 1
            result[f"labelled {hit}"] += int(verdict == label)
    return result


def item_statistics(
    items: Sequence[Item], scorers: Mapping[str, Scorer], progress: Progress = ignore
) -> tuple[dict[str, np.ndarray], dict[str, Counter]]:
    """Return the statistics of items, with threads.

    Args:
        items: the items.
        scorers: {metric: what computes it}.
        progress: called with the metric, and the number of items that are done and of all, from any thread.

    Returns:
        {metric: (items, k + 1) sums over the predictions of an item, the last column their number, 1 for a metric that
        scores an item as one}, and {metric: counts of what to warn of}.
    """
    sums, counts = {}, {}
    for metric, scorer in scorers.items():
        parts, counts[metric] = [], Counter()
        windows = cut(items, window_predictions([scorer]), WINDOW_CHARACTERS)
        progress(metric, 0, len(items))
        run = counted(
            partial(statistics_of_items, scorer), lambda done, m=metric: progress(m, done, len(items)), scorer.passes
        )
        for window, (found, counts_of_window) in map_in_order(run, windows, worker_count([scorer])):
            lengths = [1 if scorer.takes_sets else len(item.predictions) for item in window]
            total = np.zeros((len(window), found.shape[1] + 1))
            np.add.at(total[:, :-1], np.repeat(np.arange(len(window)), lengths), found)
            total[:, -1] = lengths
            parts.append(total)
            counts[metric].update(counts_of_window)
        sums[metric] = np.concatenate(parts)
    warn_of_recorded(counts)
    return sums, counts


def counted(
    function: Callable, tell: Callable[[int], object], passes: int = 1, size: Callable[[Any], int] = len
) -> Callable:
    """Return a function that tells, while windows are scored in any threads, how many rows are done.

    Args:
        function: called with a window.
        tell: called with the number of rows that are done, which never falls, after every batch and every window.
        passes: how often models read a row.
        size: the rows of a window.
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


def cut(items: Iterable[Item], predictions: int, characters: int) -> Iterator[list[Item]]:
    """Yield items in windows of about a number of predictions, and of characters at most."""
    window, held, texts = [], 0, 0
    for item in items:
        window.append(item)
        held += max(len(item.predictions), 1)
        texts += characters_of(item)
        if held >= predictions or texts >= characters:
            yield window
            window, held, texts = [], 0, 0
    if window:
        yield window


def scored(
    items: Sequence[Item],
    row_kind: RowKind,
    scorers: Mapping[str, Scorer],
    worst: int = 10,
    explain: bool = False,
) -> tuple[dict[str, list], Tally]:
    """Score items.

    Args:
        items: at least one.
        row_kind: what they are.
        scorers: {metric: what computes it}.
        worst: number of answers to read first that are kept.
        explain: whether to say why, in columns METRIC_reason.

    Returns:
        The columns of the output, with one value per item, and the sums.
    """
    columns = _output_rows(items, row_kind)
    tally = Tally(Counter(columns["system"]))
    lengths = [len(item.predictions) for item in items]
    systems = list(tally.rows)
    index = {system: i for i, system in enumerate(systems)}
    owners = np.array([index[item.system] for item in items])
    for item in items:
        tally.predictions[item.system] += len(item.predictions)
    for metric, scorer in scorers.items():
        why = explain and has_reasons(row_kind, scorer)
        statistics, tally.warning_counts[metric], reasons, digests = explained_statistics(scorer, items, why)
        counted = np.column_stack([statistics, np.ones(len(statistics))])
        of_system = np.repeat(owners, lengths) if not scorer.takes_sets else owners
        tally.sums[metric] = {system: counted[of_system == i].sum(axis=0) for i, system in enumerate(systems)}
        if scorer.thresholds and scorer.evidence == "references" and not row_kind.sets:  # a judge of answers
            tally.questions = dict(totals_by_system(items, statistics[:, 1], statistics[:, 0]))
        scores = {name: values.tolist() for name, values in scorer.row_scores(statistics).items()}
        if row_kind.sets and not scorer.takes_sets:  # lists of scores, one per prediction
            starts = np.cumsum([0, *lengths]).tolist()
            scores = {name: [values[a:b] for a, b in pairwise(starts)] for name, values in scores.items()}
        columns |= scores | ({f"{metric}_reason": reasons} if why else {})
        columns |= {metric + DIGEST: digests} if has_digest(row_kind, scorer) else {}
    judge = next((scorer for scorer in scorers.values() if scorer.verdict), None)
    if worst and not row_kind.sets:
        if judge:
            (name, threshold), *_ = judge.thresholds.items()
            tally.to_read = answers_to_read(columns, worst, name, judge.verdict, threshold)
        else:
            tally.to_read = answers_to_read(columns, worst, next(iter(scorers.values())).main)
    if judge and judge.faults and not row_kind.sets:
        faults = fault_counts(columns, judge)
        tally.sums[FAULTS] = {system: faults[owners == i].sum(axis=0) for i, system in enumerate(systems)}
    cells = cell_counts(columns)
    if cells is not None:
        tally.sums[TOGETHER] = {system: cells[owners == i].sum(axis=0) for i, system in enumerate(systems)}
    cases = counts_of_rows(columns)
    if cases is not None:
        tally.sums[LABELLED] = {system: cases[owners == i].sum(axis=0) for i, system in enumerate(systems)}
    return columns, tally


def worker_count(scorers: Iterable[Scorer]) -> int:
    """Return how many windows are best scored at once; 0 for one at a time, without a thread of its own.

    A model on a CPU gets a thread for every core that this process may use (its affinity and the limit of its
    container count, and OMP_NUM_THREADS): small batches on one core each are quicker than one batch on all of them.
    Beside a model on a GPU, a second thread makes the next batch. Without a model more threads are of no use.
    """
    devices = {scorer.device for scorer in scorers} - {None}
    if devices != {"cpu"}:
        return 2 if devices else 0
    from ..core.onnx_backend import cores

    torch = sys.modules.get("torch")
    return min(torch.get_num_threads(), cores()) if torch else cores()


def map_in_order(function: Callable, windows: Iterable, workers: int) -> Iterator[tuple]:
    """Yield every window and what a function makes of it, in order, while workers are busy with the next ones.

    Args:
        function: called with a window; torch uses one core in it.
        windows: read as far ahead as the workers need. When reading fails, what was read before still comes out.
        workers: number of threads; 0 to work in the calling one, where torch uses what cores it likes.

    Yields:
        (window, result).
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


def has_reasons(row_kind: RowKind, scorer: Scorer) -> bool:
    """Return whether a row has one score by a metric, and not one for each question of a set."""
    return scorer.takes_sets or not row_kind.sets


def has_digest(row_kind: RowKind, scorer: Scorer) -> bool:
    """Return whether the output says by which judge a row was scored, so that it need not be judged again."""
    return scorer.recalls and not row_kind.sets


def output_columns(
    row_kind: RowKind, scorers: Mapping[str, Scorer], explain: bool = False, extra: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the columns of the output and their types, see `writing.Writer`.

    Args:
        row_kind: what the rows are.
        scorers: {metric: what computes it}.
        explain: see `scored`.
        extra: other columns of the input; one that is named as a column of the output is left out.
    """
    columns = {"file": "text", "line": "integer", "id": "text", "system": "text"}
    columns |= {row_kind.text: "text", **({"predictions": "texts"} if row_kind.sets else {"prediction": "text"})}
    columns |= {"references": "texts", **({"contexts": "texts"} if row_kind.has_contexts else {})}
    columns |= {"score": "number", "label": "number"}
    for scorer in scorers.values():
        lists = row_kind.sets and not scorer.takes_sets
        columns |= dict.fromkeys(scorer.row_names, "numbers" if lists else "number")
        columns |= {f"{scorer.name}_reason": "text"} if explain and has_reasons(row_kind, scorer) else {}
        columns |= {scorer.name + DIGEST: "text"} if has_digest(row_kind, scorer) else {}
    stale = {f"{metric}_reason" for metric in scorers}
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


def row_digest(signature: str, texts: object, scores: Sequence[float], counts: Mapping[str, int]) -> str:
    """Return what the column says of a row.

    Args:
        signature: of the scorer.
        texts: what it has read, in types that JSON has.
        scores: those of the row, in the order of `Scorer.row_names`.
        counts: what must be warned of, see `Scorer.statistics_with_counts`.

    >>> row_digest("ava|threshold:0.5", ["Who?", "Ann", ["Ann"]], [1.0, 0.9, 0.0], {"truncated": 1})
    'ava|threshold:0.5|row:6400618c-1bf2bb11476bdd4c|truncated:1'
    """
    texts_digest = _digest(texts)[:8]
    counted = "".join(f"|{name}:{count}" for name, count in sorted(counts.items()) if count)
    whole = _digest([signature, texts_digest, [f"{score:.10g}" for score in scores], counted])[:16]
    return f"{signature}{_ROW}{texts_digest}-{whole}{counted}"


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def recalled(
    scorer: Scorer, rows: Sequence[tuple], records: Sequence[Mapping[str, Any] | None]
) -> tuple[dict[tuple, tuple[list[float], dict[str, int]]], Counter]:
    """Return the recorded scores that may be taken.

    Args:
        scorer: what would judge the rows.
        rows: what it reads of every row.
        records: the metric's part of `Item.recorded`, None for a row without.

    Returns:
        {row: its scores, and counts of what to warn of in it}, and how many rows were taken, or why not.
    """
    known: dict[tuple, tuple[list[float], dict[str, int]]] = {}
    told: Counter = Counter()
    if not scorer.recalls:
        return known, told
    signature = scorer.signature
    for row, record in zip(rows, records, strict=True):
        scores, outcome, counts = _checked(record, scorer, signature, row)
        told[outcome] += 1
        if outcome == RECALLED:
            known[row] = scores, counts
    return known, told


def _checked(
    record: Mapping[str, Any] | None, scorer: Scorer, signature: str, row: tuple
) -> tuple[list[float], str, dict[str, int]]:
    """Return recorded scores, what becomes of the row, and the recorded counts."""
    text = (record or {}).get(scorer.name + DIGEST)
    before, result, rest = text.rpartition(_ROW) if isinstance(text, str) else ("", "", "")
    if not result:
        return [], FIRST, {}
    if before != signature:
        parts = ", ".join(f"{name} {change}" for name, change in differing_parts(before, signature).items())
        return [], f"{ANEW}the judge differs ({parts})", {}
    try:
        digests, *counted = rest.split("|")
        counts = {name: int(count) for name, _, count in (part.partition(":") for part in counted)}
        scores = [float(record[name]) for name in scorer.row_names]
    except (KeyError, TypeError, ValueError):
        return [], f"{ANEW}their recorded scores were changed", {}
    if row_digest(signature, row, scores, counts) == text:
        return scores, RECALLED, counts
    what = "texts" if digests.partition("-")[0] != _digest(row)[:8] else "recorded scores"
    return [], f"{ANEW}their {what} were changed", {}


def differing_parts(old: str, new: str) -> dict[str, str]:
    """Return the parts of two signatures that differ.

    >>> differing_parts("ava|threshold:0.5|version:1", "ava|threshold:0.6|version:1")
    {'threshold': '0.5 -> 0.6'}
    """
    parts = [dict(part.partition(":")[::2] for part in text.split("|")) for text in (old, new)]
    names = dict.fromkeys([*parts[0], *parts[1]])
    return {
        name: f"{parts[0].get(name, 'none')} -> {parts[1].get(name, 'none')}"
        for name in names
        if parts[0].get(name) != parts[1].get(name)
    }


def recall_note(metric: str, counts: Mapping[str, int]) -> str | None:
    """Return what became of the judgments in the rows, one sentence; None where they had none.

    >>> recall_note("ava", {"recalled": 88, "judged anew: their texts were changed": 3})
    'ava, rows: 88 were judged before, by the same judge; 3 were judged anew: their texts were changed'
    >>> recall_note("ava", {"judged first": 5})
    """
    anew = {name.removeprefix(ANEW): count for name, count in counts.items() if name.startswith(ANEW) and count}
    if not counts.get(RECALLED) and not anew:
        return None
    said = {"were judged before, by the same judge": counts.get(RECALLED)}
    said |= {f"were judged anew: {why}": count for why, count in anew.items()}
    said |= {"were judged for the first time": counts.get(FIRST)}
    parts = [f"{count:,} {what}" for what, count in said.items() if count]
    return f"{metric}, rows: {'; '.join(parts)}"


def digests_of(
    scorer: Scorer, rows: Sequence[tuple], statistics: np.ndarray, counts: Sequence[Mapping[str, int]]
) -> list[str]:
    """Return the column of rows that were just judged.

    Args:
        scorer: what judged them.
        rows: what it has read of each.
        statistics: (rows, k) their statistics.
        counts: what must be warned of in each.
    """
    signature, scores = scorer.signature, scorer.row_scores(statistics)
    every = np.column_stack([scores[name] for name in scorer.row_names]).tolist()
    return [row_digest(signature, *row) for row in zip(rows, every, counts, strict=True)]


def warn_of_recorded(counts: Mapping[str, Mapping[str, int]]) -> None:
    """Warn that judgments in the rows were taken, or could not be; `counts` are those of metrics."""
    for metric, of_metric in counts.items():
        if note := recall_note(metric, of_metric):
            warnings.warn(note, RecordedScoresWarning, stacklevel=3)
