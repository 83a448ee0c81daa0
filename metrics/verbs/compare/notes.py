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
from ...statistics.intervals import MIN_QUESTIONS, kish
from ...statistics.resampling import FEW, LEVEL, smallest_p
from ..label.labels import smallest_lead
from .rows import Matched


def question_notes(sizes: np.ndarray, are_right_or_wrong: bool, half_width: float, tests: int) -> list[str]:
    """Return notes on repeated questions and on too few questions, from (questions,) numbers of rows.

    Of answers that are right or wrong a note says which differences can be told, see `smallest_lead`.
    """
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
        clear = "only clear differences can be told from chance"
        notes.append(f"{few}: {smallest_lead(round(number), half_width, tests) if are_right_or_wrong else clear}")
    return notes


def unreachable_notes(sizes: np.ndarray, tests: int, resamples: int) -> list[str]:
    """Return a note if no corrected p-value can be below the level, with so few questions or resamples."""
    least = smallest_p(float(kish(sizes)))
    if least < LEVEL <= least * tests:
        return [
            f"with {len(sizes):,} questions and {tests} tests no p can be below {LEVEL:g}, whatever the scores are"
        ]
    if least < LEVEL <= tests / (1 + resamples):
        return [
            f"with {tests} tests and {resamples} bootstrap samples hardly a corrected p can be below {LEVEL:g}; use "
            f"--resamples {math.ceil(2 * tests / LEVEL)}"
        ]
    return []


def values_by_system(numbers: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return {system: {score: value}} by one metric of a report."""
    systems: dict[str, dict[str, float]] = {}
    for name, by_system in numbers["scores"].items():
        for system, score in by_system.items():
            systems.setdefault(system, {})[name] = score["value"]
    return systems


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
    caution = caution_of_words(words, any(row.item.text for row in rows[0]))
    orders = differing_orders((first.main, *first.beside), values_by_system(metrics[first.name]))
    return [*orders, *map(as_sentence, caution)]


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
    names: dict[str, list[str]] = {}
    for warning in warnings:
        system = next((system for system in systems if warning.startswith(f"{system}: ")), "")
        names.setdefault(warning.removeprefix(f"{system}: "), []).extend([system] * bool(system))
    every = "all systems" if len(systems) > 2 else ", ".join(systems)
    who = {warning: every if len(of) == len(systems) else ", ".join(of) for warning, of in names.items()}
    return [f"{who[warning]}: {warning}" if who[warning] else warning for warning in names]
