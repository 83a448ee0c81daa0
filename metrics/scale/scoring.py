"""Scores rows: their statistics by metric, the output's columns, and the sums over the rows of a window.

Judgments that an earlier run wrote into its rows are taken again where judge and texts are the same. Beside the scores
of a metric that `recalls`, the output has a column METRIC_digest: the signature, the digests of the texts that the
metric read and of its scores, and what must be warned of. Scores without it are columns like others.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from threading import current_thread
from typing import Any

import numpy as np

from ..core.scorer import Scorer, warn_caller
from ..rows.errors import FileError, RecordedScoresWarning
from ..rows.reading import DIGEST, SETTINGS, Item, Progress, RowKind, ignore
from ..rows.values import json_digest
from .tally import (
    Tally,
    answers_to_read,
    cell_counts,
    confusion_counts,
    faults_of_rows,
    labels_in,
    sets_to_read,
    sums_by_system,
    totals_by_system,
)
from .windows import WINDOW_CHARACTERS, WORKERS, counted, cut, map_in_order, window_predictions, worker_count

FIRST, RECALLED, ANEW = "judged first", "recalled", "judged anew: "
_ROW = "|row:"


def _statistics_of_items(
    scorer: Scorer, items: Sequence[Item], explain: bool = False
) -> tuple[np.ndarray, Counter, list[str], list[str], list[list[str]]]:
    """Return (rows, k) statistics of items, counts for warnings, and the rows' reasons, digests and missing texts.

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
    numbers = {row: number for number, row in enumerate((*new, *known))}
    order = [numbers[row] for row in rows]
    statistics, digests = np.concatenate(parts), []
    if signature:
        of_rows = scorer.row_scores(statistics)
        scores = np.column_stack([of_rows[name] for name in scorer.row_names]).tolist()
        digests = [_row_digest(signature, *row) for row in zip(numbers, scores, counts_of_row, strict=True)]
    statistics = statistics[order]
    counts += scorer.counts(_columns(scorer, rows), statistics)  # of all rows: windows cut equal ones apart
    for number in order:
        counts.update({name: count for name, count in counts_of_row[number].items() if count})
    whole = ([column[number] for number in order] if column else [] for column in (reasons, digests, missing))
    return statistics, counts, *whole


def _rows_of_items(scorer: Scorer, items: Sequence[Item]) -> list[tuple]:
    """Return (question, answer or set, evidence) of every row that a scorer reads; a missing text is a FileError."""
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
    """Return {row: (scores, counts)} of rows judged before, and {why a row is recalled or judged: rows}."""
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
    """Return rows, (question, answer or set, evidence), as the columns of `Scorer.statistics`."""
    asked, predictions, evidence = zip(*rows, strict=True)
    columns: dict[str, list] = {
        "predictions": list(map(list, predictions)) if scorer.takes_sets else list(predictions),
        scorer.evidence: list(map(list, evidence)),
    }
    if _reads_question(scorer):
        columns["questions"] = [question or "" for question in asked]
    return columns


def profiles(scorer: Scorer, items: Sequence[Item], statistics: np.ndarray) -> dict[str, Counter]:
    """Return {system: counts of `Scorer.profile`} from the items of a judge and their (items, k) statistics."""
    numbers: dict[str, list[int]] = {}
    for number, item in enumerate(items):
        numbers.setdefault(item.system, []).append(number)
    result = {}
    for system, chosen in numbers.items():
        columns = _columns(scorer, _rows_of_items(scorer, [items[number] for number in chosen]))
        result[system] = scorer.profile(columns, statistics[chosen])
    return result


def item_statistics(
    items: Sequence[Item], scorers: Mapping[str, Scorer], progress: Progress = ignore
) -> tuple[dict[str, np.ndarray], dict[str, Counter]]:
    """Return {metric: (items, k + 1) sums of statistics} and {metric: counts for warnings}, computed in threads.

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
        for window, (statistics, counts_of_window, *_) in map_in_order(run, windows, worker_count([scorer])):
            lengths = [1 if scorer.takes_sets else len(item.predictions) for item in window]
            total = np.zeros((len(window), statistics.shape[1] + 1))
            np.add.at(total[:, :-1], np.repeat(np.arange(len(window)), lengths), statistics)
            total[:, -1] = lengths
            parts.append(total)
            counts[metric].update(counts_of_window)
        sums[metric] = np.concatenate(parts)
    warn_of_recorded(counts)
    return sums, counts


def scored(
    items: Sequence[Item], row_kind: RowKind, scorers: Mapping[str, Scorer], worst: int = 10, explain: bool = False
) -> tuple[dict[str, list], Tally]:
    """Return {column of the output: values of items}, and the sums over items; with `explain` METRIC_reason too.

    `worst` is the number of answers to read first that are kept.
    """
    columns = _output_rows(items, row_kind)
    systems = columns["system"]
    tally = Tally(rows=Counter(systems))
    lengths = [len(item.predictions) for item in items]
    for item in items:
        tally.predictions[item.system] += len(item.predictions)
    systems_of_predictions = [system for system, length in zip(systems, lengths, strict=True) for _ in range(length)]
    for metric, scorer in scorers.items():
        lists = row_kind.sets and not scorer.takes_sets  # of scores, one for each question of a set
        why = explain and not lists
        statistics, counts, reasons, digests, missing = _statistics_of_items(scorer, items, why)
        tally.warning_counts[metric] = counts
        with_ones = np.column_stack([statistics, np.ones(len(statistics))])
        tally.sums[metric] = sums_by_system(with_ones, systems if scorer.takes_sets else systems_of_predictions)
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
            settings = json.dumps(scorer.chosen_settings, default=str, sort_keys=True)
            columns[metric + SETTINGS] = [settings] * len(items)
    if not row_kind.sets:
        _add_answers(tally, columns, scorers, worst)
    elif worst and not row_kind.ceiling:
        tally.to_read = sets_to_read(columns, worst, scorers.values())
    return columns, tally


def _add_answers(tally: Tally, columns: Mapping[str, list], scorers: Mapping[str, Scorer], worst: int) -> None:
    """Add to a tally the words of answers, their faults and verdicts beside labels, and the answers to read first."""
    systems, faults = columns["system"], []
    for system, text in zip(systems, columns["prediction"], strict=True):
        tally.words[system] += len(text.split())
    judge = next((scorer for scorer in scorers.values() if scorer.verdict), None)
    support = next((scorer for scorer in scorers.values() if scorer.support), None)
    if judge:
        labels = labels_in(columns)
        if not np.isnan(labels).all():
            counts = confusion_counts(np.asarray(columns[judge.verdict]), labels)
            tally.confusion = sums_by_system(counts, systems)
        if judge.faults:
            faults = faults_of_rows(columns, judge)
            tally.faults = {system: Counter() for system in tally.rows}
            for system, fault in zip(systems, faults, strict=True):
                tally.faults[system].update([fault] if fault else [])
        if support:
            tally.cells = sums_by_system(cell_counts(columns, judge, support), systems)
    if worst:
        tally.to_read = answers_to_read(columns, worst, judge or next(iter(scorers.values())), faults)


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
    before = list(columns).index("label") + 1
    return dict([*columns.items()][:before]) | kept | columns


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
    """Return the value of METRIC_digest: signature, digests of texts and scores, and counts for warnings.

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
    """Return the recorded scores and counts of a row, or the reason why it must be judged."""
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
    """Return {setting: "old -> new"} of the settings in which two signatures differ.

    >>> differing_parts("ava|threshold:0.5|version:1", "ava|threshold:0.6|version:1")
    {'threshold': '0.5 -> 0.6'}
    """
    parts = [dict(part.partition(":")[::2] for part in text.split("|")) for text in (old, new)]
    changes = {name: tuple(some.get(name, "none") for some in parts) for name in parts[0] | parts[1]}
    return {name: f"{old} -> {new}" for name, (old, new) in changes.items() if old != new}


def were_recalled(counts: Mapping[str, int]) -> bool:
    """Return whether a metric judged no row of a run, but recalled them all; `counts` are those of its rows."""
    return bool(counts.get(RECALLED)) and not any(name == FIRST or name.startswith(ANEW) for name in +Counter(counts))


def _recall_note(metric: str, counts: Mapping[str, int]) -> str | None:
    """Return one sentence on how many rows were recalled and judged anew; None where no row had a judgment.

    >>> _recall_note("ava", {"recalled": 88, "judged anew: their texts were changed": 3})
    'ava: 88 rows judged before, by the same judge; 3 rows judged anew: their texts were changed'
    >>> _recall_note("ava", {"judged first": 5})
    """
    anew = {name.removeprefix(ANEW): count for name, count in counts.items() if name.startswith(ANEW) and count}
    if not counts.get(RECALLED) and not anew:
        return None
    rows = {
        "judged before, by the same judge": counts.get(RECALLED),
        **{f"judged anew: {why}": count for why, count in anew.items()},
        "judged for the first time": counts.get(FIRST),
    }
    counted_rows = [f"{count:,} row{'s' * (count > 1)} {how}" for how, count in rows.items() if count]
    return f"{metric}: {'; '.join(counted_rows)}"


def warn_of_recorded(counts: Mapping[str, Mapping[str, int]]) -> None:
    """Warn how many recorded judgments were recalled or judged anew; `counts` are {metric: counts}."""
    for metric, of_metric in counts.items():
        if note := _recall_note(metric, of_metric):
            warn_caller(note, RecordedScoresWarning)
