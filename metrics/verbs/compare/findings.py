"""Sentences on a comparison: which systems are first by each metric, slices that say the opposite, what changed."""

from collections.abc import Container, Mapping
from itertools import chain, product
from statistics import mean
from typing import Any

from ...registry import scorer_class
from ...reports.report import (
    MOST_CHARACTERS,
    Report,
    as_sentence,
    briefly,
    caution_of_words,
    differing_orders,
    rejected,
)
from ...reports.table import listed, number
from .analysis import ACCURACY
from .ranking import Ranking

MOST_SHARES = 6  # systems that a sentence lists


def findings(report: Report) -> list[str]:
    """Return which systems are first by every metric, slices that say the opposite, and what changed."""
    rankings = [Ranking(report, metric) for metric in report.metrics]
    first = [_of_verdicts(by) if by.untold else _first_systems(by) for by in rankings]
    opposite = [line for by in rankings if report.slices and not by.untold for line in _reversals(report, by)]
    return [*first, *_of_words(report), *opposite, *(_changes(report, report.changes) if report.changes else [])]


def _of_words(report: Report) -> list[str]:
    """Return what to do with scores of shared words, where no other scores are compared."""
    scorers, rows = list(report._scorers.values()), report._matched.rows
    judged = any(scorer.takes_sets or scorer.verdict or scorer.evidence != "references" for scorer in scorers)
    if judged or report.changes or any(len(row.item.predictions) != 1 for row in chain.from_iterable(rows)):
        return []
    counts = [[len(row.item.predictions[0].split()) for row in question] for question in rows]
    words = dict(zip(report.systems, map(mean, zip(*counts, strict=True)), strict=True))
    scores = report.metrics[scorers[0].name]["scores"].items()
    systems = {system: {name: of[system]["value"] for name, of in scores} for system in report.systems}
    caution = caution_of_words(words, any(row.item.text for row in rows[0]))
    return [*differing_orders((scorers[0].main, *scorers[0].beside), systems), *map(as_sentence, caution)]


def _of_verdicts(by: Ranking) -> str:
    """Return which systems' answers a judge accepts more often, where it cannot be told how many are right."""
    answers = by.report.row_count
    accepts = {system: answers - rejected(by.judged["systems"][system]) for system in by.order}
    further = _further(by, by.all_ahead)
    if not by.worse:
        shares = [f"{system} {accepts[system]:,}" for system in by.order]
        said = f"{', '.join(shares[:MOST_SHARES])}{', ...' * (len(shares) > MOST_SHARES)} of {answers:,}"
        return f"Which system has more right answers cannot be told: the judge accepts {said}{further}."
    more, fewer = (
        briefly([f"{system} ({accepts[system]:,})" for system in systems]) for systems in (by.ahead, by.worse)
    )
    said = f"Of {answers:,} answers each the judge accepts more of {more} than of {fewer}: more than chance explains"
    said += further
    said += f"; between {briefly(by.leaders)} it does not decide" if len(by.leaders) > 1 else ""
    return f"{said}. It can err more on one system than on another, so how many are right cannot be told."


def _first_systems(by: Ranking) -> str:
    """Return which systems have the highest score, which are significantly worse, and of which it cannot be told."""
    others = [system for system in by.order if system not in by.told]
    untold = f" The {by.name} of {briefly(others)} cannot be told." if others else ""
    return _first_of_told(by) + untold


def _first_of_told(by: Ranking) -> str:
    """Return which systems have the highest score, and which are significantly worse."""
    name, order = by.name, by.told
    if by.accuracy and by.accuracy["assumes"]:
        name += f" ({by.accuracy['assumes']})"
    if name == f"{by.metric}_{ACCURACY}":
        name = f"{scorer_class(by.metric).title}'s verdicts"
    first = [system for system in order if by.places[system]["cluster"] == 1]
    if len(first) == 1:
        others = "the other system" if len(order) == 2 else f"each of the {len(order) - 1} others"
        return f"{name}: {first[0]} is significantly better than {others}{_further(by)}."
    tied = [system for system in order if by.scores[system]["value"] == by.scores[order[0]]["value"]]
    if len(tied) > 1:
        names = listed(tied) if briefly(tied) == listed(tied) else f"{tied[0]} and {len(tied) - 1} others"
        said = f"{name}: {names} have the same score, {number(by.scores[order[0]]['value'])}"
        worse = [system for system in order if {*product(tied, [system])} <= {*by.significant}]
        near = [system for system in order if system not in (*tied, *worse)]
        said += f"; that {briefly(near)} {'has' if len(near) == 1 else 'have'} less may be chance" if near else ""
        said += f"; {briefly(worse)} {'is' if len(worse) == 1 else 'are'} significantly worse" if worse else ""
        return f"{said}{_further(by, {*product(tied, worse)})}."
    if len(first) == len(order) == 2 and (few := by.report.too_few_differ(by.pairs[0])):
        return f"{name}: {order[0]} is ahead; {few}."
    if len(first) == len(order) == 2:
        return f"{name}: {order[0]} is ahead, but not significantly; the two may be equally good."
    near = by.leaders[1:]
    said = f"{name}: {order[0]} has the highest score; its lead over {briefly(near)} may be chance"
    if by.worse:
        said += f"; {briefly(by.worse)} {'is' if len(by.worse) == 1 else 'are'} significantly worse than "
        said += briefly(by.ahead)
        undecided = [pair for pair in product(near, by.worse) if pair not in by.significant]
        said += f"; between {listed(undecided[0])} this does not decide" if len(undecided) == 1 else ""
    return f"{said}{_further(by, by.all_ahead)}."


def _further(by: Ranking, known: Container[tuple[str, str]] = ()) -> str:
    """Return which other systems than the first one are significantly ahead of which, with a semicolon before."""
    pairs = [pair for pair in by.significant if pair[0] != by.order[0] and pair not in known]
    said = " and ".join(f"{first} is significantly ahead of {second}" for first, second in pairs)
    if len(said) > 2 * MOST_CHARACTERS:
        said = f"{len(pairs):,} further pairs differ significantly"
    return f"; {said}" if said else ""


def _reversals(report: Report, by: Ranking) -> list[str]:
    """Return a sentence for every slice in which a pair is significantly the other way round than overall."""
    result = []
    for slice_name, numbers in report.slices["metrics"][by.metric].items():
        for pair in map(by.from_better, filter(report.is_clear, numbers["pairs"])):
            systems, here = (pair["first"], pair["second"]), pair["difference"]["value"]
            if here * by.differences[systems]["value"] < 0:
                better, worse = systems if here > 0 else systems[::-1]
                result.append(
                    f"{by.name}: in {report.slices['column']} {slice_name}, {better} is significantly better than "
                    f"{worse} ({abs(here):.3f}), which is ahead overall."
                )
    return result


def _changes(report: Report, changes: Mapping[str, Any]) -> list[str]:
    """Return what changed between two runs."""
    runs, of_judges = changes["runs"], []
    between = " and ".join(runs)
    result = [f"answers: {changes['answers_changed']:,} of {report.questions:,} differ between {between}."]
    for metric, entry in changes["metrics"].items():
        name = entry["score"]
        values = [number(report.scores[metric][name][run]["value"]) for run in runs]
        pair = report.tests[metric][name]["pairs"][0]
        clear = report.too_few_differ(pair) or "not " * (not report.is_clear(pair)) + "significant"
        result.append(
            f"{name}: {len(entry['better']):,} got better, {len(entry['worse']):,} got worse, {entry['same']:,} "
            f"are the same; {' -> '.join(values)}, {clear}."
        )
        differs = changes["judge"][metric]["differs"]
        if differs is not None:
            parts = ", ".join(f"{part} {how}" for part, how in differs.items())
            how = f"were made differently: {parts}" if parts else "have the same signature"
            of_judges.append(f"{metric}: the scores in the files of {between} {how}.")
        if entry["recorded"]:
            of_judges.append(
                f"{metric}: {len(entry['recorded']):,} recorded scores changed though the answer did not: the "
                "judge changed between the runs. The other numbers here are all by one judge."
            )
    return result + of_judges
