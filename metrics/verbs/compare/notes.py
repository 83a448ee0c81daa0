"""What a reader must know before the numbers of a comparison: few questions, long answers, skipped rows, warnings."""

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from statistics import mean
from typing import Any

import numpy as np

from ...core.scorer import ASKED, Scorer
from ...reports.report import as_sentence, caution_of_words, differing_orders
from ...rows.reading import Skips
from ...scale.options import length_note
from ...statistics.intervals import MIN_QUESTIONS, kish
from ...statistics.resampling import FEW, LEAST_DIFFERING, LEVEL, smallest_p
from .rows import Matched

MOST_PAIRS = 3  # that a note names


def question_notes(sizes: np.ndarray) -> list[str]:
    """Return notes on repeated questions and on too few questions, from (questions,) numbers of rows."""
    questions, rows, number = len(sizes), int(sizes.sum()), float(kish(sizes))
    notes = []
    if questions < rows:
        notes.append(f"{rows:,} rows of {questions:,} questions: rows of one question count together")
    if number < questions - 1 and number < FEW:
        few = f"one question has {sizes.max():,} of {rows:,} rows: all count as about {number:.0f} equal questions"
    else:
        few = f"only {questions:,} questions" if questions > 1 else "only one question"
    if number < MIN_QUESTIONS - 1e-9:
        notes.append(f"{few}: too few for intervals, which need {MIN_QUESTIONS}")
    elif number < FEW:
        notes.append(f"{few}: only clear differences can be told from chance")
    return notes


def few_differ_notes(metrics: Mapping[str, Mapping[str, Any]], single: bool) -> list[str]:
    """Return a note for each metric on the pairs that differ on too few rows, or questions, for a test."""
    result = []
    for numbers in metrics.values():
        name, tests = next(iter(numbers["tests"].items()))
        counts = [(pair["differing"], f"{pair['first']} and {pair['second']}") for pair in tests["pairs"]]
        few = [pair for pair in counts if pair[0] is not None and pair[0] < LEAST_DIFFERING]
        if few:
            unit, several = "rows" if single else "questions", len(counts) > 1
            which = ", ".join(f"{count} of {pair}" if several else str(count) for count, pair in few[:MOST_PAIRS])
            which += f" and {len(few) - MOST_PAIRS:,} more pairs" * (len(few) > MOST_PAIRS)
            result.append(f"{name}: too few {unit} differ to test ({which}; the least is {LEAST_DIFFERING})")
    return result


def unreachable_notes(sizes: np.ndarray, tests: int, resamples: int, correction: str) -> list[str]:
    """Return a note if no corrected p-value can be below the level, with so few questions or resamples."""
    questions = float(kish(sizes))
    times = tests if correction in ("holm", "bonferroni") else 1
    if smallest_p(questions) < LEVEL <= smallest_p(questions) * times:
        return [
            f"with {len(sizes):,} questions and {tests} tests no p-value can be below {LEVEL:g}, whatever the scores "
            "are"
        ]
    if smallest_p(questions) < LEVEL <= times / (1 + resamples):
        return [
            f"with {tests} tests and {resamples} bootstrap samples hardly a corrected p can be below {LEVEL:g}; use "
            f"--resamples {math.ceil(2 * times / LEVEL)}"
        ]
    return []


def word_cautions(
    scorers: Mapping[str, Scorer], matched: Matched, metrics: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """Return cautions on scores of shared words, if only such scores are compared."""
    first, rows = next(iter(scorers.values())), matched.rows
    others = any(scorer.takes_sets or scorer.verdict or scorer.evidence != "references" for scorer in scorers.values())
    if others or any(len(row.item.predictions) != 1 for row in chain.from_iterable(rows)):
        return []
    lengths = [[len(row.item.predictions[0].split()) for row in question] for question in rows]
    words = dict(zip(matched.systems, map(mean, zip(*lengths, strict=True)), strict=True))
    scores = metrics[first.name]["scores"].items()
    systems = {system: {name: by_system[system]["value"] for name, by_system in scores} for system in matched.systems}
    caution = caution_of_words(words, any(row.item.text for row in rows[0]))
    return [*differing_orders((first.main, *first.beside), systems), *map(as_sentence, caution)]


def length_notes(metrics: Mapping[str, Mapping[str, Any]], systems: Sequence[str]) -> list[str]:
    """Return notes on systems whose answers differ in length; see `length_note`."""
    scores = {
        metric: {system: {name: of[system]["value"] for name, of in numbers["scores"].items()} for system in systems}
        for metric, numbers in metrics.items()
    }
    return [note for metric, by_system in scores.items() if (note := length_note(metric, by_system))]


def skipped_notes(matched: Matched, skips: Skips) -> list[str]:
    """Return a note on bad rows, whose questions were left out for all systems."""
    if not skips.skipped:
        return []
    text = ", ".join(f"{system} {rows:,}" for system, rows in skips.by_system.items())
    return [
        f"bad rows were skipped ({text or f'{skips.skipped:,} of no known system'}), and their questions for all "
        f"systems: {len(matched.rows):,} questions are left, which may be easier than the others; "
        'write "" for a system that gave no answer, which scores 0'
    ]


def metric_warnings(
    matched: Matched, scorers: Mapping[str, Scorer], statistics: Mapping[str, np.ndarray], counts: Mapping
) -> list[str]:
    """Return the warnings of all metrics; one that several systems share names them together."""
    notes = []
    for metric, scorer in scorers.items():
        sums = dict(zip(matched.systems, statistics[metric][..., :-1].sum(axis=0), strict=True))
        notes += [scorer.error_rate] * bool(scorer.error_rate)
        notes += [note for note in scorer.remarks(sums, counts.get(metric, {})) if note.startswith(ASKED)]
        warnings = scorer.warnings(sums, counts.get(metric, {}))
        notes += [f"{metric}: {warning}" for warning in _gathered(warnings, matched.systems)]
    return notes


def _gathered(warnings: Sequence[str], systems: Sequence[str]) -> list[str]:
    """Return warnings, each once with all systems that it is about.

    >>> _gathered(["a: too long", "b: too long", "b: too short"], ["a", "b"])
    ['a, b: too long', 'b: too short']
    """
    of: dict[str, list[str]] = {}
    for warning in warnings:
        system = next((system for system in systems if warning.startswith(f"{system}: ")), "")
        of.setdefault(warning.removeprefix(f"{system}: "), []).extend([system] * bool(system))
    notes = []
    for warning, names in of.items():
        who = "all systems" if len(names) > 2 and len(names) == len(systems) else ", ".join(names)
        notes.append(f"{who}: {warning}" if who else warning)
    return notes
