"""Sentences on a comparison: which systems are first by each metric, slices that say the opposite, what changed."""

from collections.abc import Container, Mapping
from itertools import product
from typing import Any

from ...registry import SCORERS, scorer_class
from ...reports.report import MOST_CHARACTERS, Report, briefly, rejected
from ...reports.table import listed, number
from .ranking import Pair, Ranking, from_better, is_clear

MOST_SHARES = 6  # systems that a sentence lists


def first_systems(report: Report, by: Ranking) -> str:
    """Return a sentence on which systems are first by a metric, and which are significantly worse."""
    if by.only_verdicts:
        return _accepted_answers(by, report.row_count)
    others = [system for system in by.order if system not in by.estimated]
    untold = f" The {by.name} of {briefly(others)} cannot be told." if others else ""
    return _first_of_estimated(report, by) + untold


def _accepted_answers(by: Ranking, answers: int) -> str:
    """Return a sentence on how many answers a judge accepts, where the accuracy cannot be estimated."""
    accepts = {system: answers - rejected(by.judged["systems"][system]) for system in by.order}
    if not by.worse:
        shares = ", ".join(f"{system} {accepts[system]:,}" for system in by.order[:MOST_SHARES])
        shares += ", ..." * (len(by.order) > MOST_SHARES) + f" of {answers:,}{_further_pairs(by, by.all_ahead)}"
        return f"Which system has more right answers cannot be told: the judge accepts {shares}."
    more, fewer = (
        briefly([f"{system} ({accepts[system]:,})" for system in systems]) for systems in (by.ahead, by.worse)
    )
    sentence = f"Of {answers:,} answers each the judge accepts more of {more} than of {fewer}: "
    sentence += f"more than chance explains{_further_pairs(by, by.all_ahead)}"
    sentence += f"; between {briefly(by.leaders)} it does not decide" if len(by.leaders) > 1 else ""
    return f"{sentence}. It can err more on one system than on another, so how many are right cannot be told."


def _first_of_estimated(report: Report, by: Ranking) -> str:
    name, order = by.name, by.estimated
    if by.accuracy and by.accuracy["assumes"]:
        name += f" ({by.accuracy['assumes']})"
    elif by.metric in SCORERS and scorer_class(by.metric).verdict and name == scorer_class(by.metric).main:
        name = f"{scorer_class(by.metric).title}'s verdicts"
    first = [system for system in order if by.ranks[system]["cluster"] == 1]
    if len(first) == 1:
        others = "the other system" if len(order) == 2 else f"each of the {len(order) - 1} others"
        return f"{name}: {first[0]} is significantly better than {others}{_further_pairs(by)}."
    top = by.scores[order[0]]["value"]
    tied = [system for system in order if by.scores[system]["value"] == top]
    if len(tied) > 1:
        names = listed(tied) if briefly(tied) == listed(tied) else f"{tied[0]} and {len(tied) - 1} others"
        worse = [system for system in order if {*product(tied, [system])} <= {*by.significant}]
        near = [system for system in order if system not in (*tied, *worse)]
        sentence = f"{name}: {names} have the same score, {number(top)}"
        sentence += f"; that {briefly(near)} {'has' if len(near) == 1 else 'have'} less may be chance" if near else ""
        sentence += f"; {_are(worse)} significantly worse" if worse else ""
        return f"{sentence}{_further_pairs(by, {*product(tied, worse)})}."
    if len(first) == len(order) == 2:
        few = report.too_few_differ(by.pairs[0])
        return f"{name}: {order[0]} is ahead" + (
            f"; {few}." if few else ", but not significantly; the two may be equally good."
        )
    near = by.leaders[1:]
    sentence = f"{name}: {order[0]} has the highest score; its lead over {briefly(near)} may be chance"
    if by.worse:
        sentence += f"; {_are(by.worse)} significantly worse than {briefly(by.ahead)}"
        undecided = [pair for pair in product(near, by.worse) if pair not in by.significant]
        sentence += f"; between {listed(undecided[0])} this does not decide" if len(undecided) == 1 else ""
    return f"{sentence}{_further_pairs(by, by.all_ahead)}."


def _are(systems: list[str]) -> str:
    return f"{briefly(systems)} {'is' if len(systems) == 1 else 'are'}"


def _further_pairs(by: Ranking, mentioned: Container[Pair] = ()) -> str:
    """Return "; A is significantly ahead of B" for the pairs without the first system that are not `mentioned`."""
    pairs = [pair for pair in by.significant if pair[0] != by.order[0] and pair not in mentioned]
    sentence = " and ".join(f"{first} is significantly ahead of {second}" for first, second in pairs)
    if len(sentence) > 2 * MOST_CHARACTERS:
        sentence = f"{len(pairs):,} further pairs differ significantly"
    return f"; {sentence}" if sentence else ""


def reversals(report: Report, by: Ranking) -> list[str]:
    """Return a sentence for every slice in which a pair is significantly the other way round than overall."""
    sentences = []
    overall = {(pair["first"], pair["second"]): pair["difference"]["value"] for pair in by.pairs}
    for slice_name, numbers in report.slices["metrics"][by.metric].items():
        for pair in (from_better(by.order, pair) for pair in numbers["pairs"] if is_clear(pair)):
            systems, here = (pair["first"], pair["second"]), pair["difference"]["value"]
            if here * overall[systems] < 0:
                better, worse = systems if here > 0 else systems[::-1]
                sentences.append(
                    f"{by.name}: in {report.slices['column']} {slice_name}, {better} is significantly better than "
                    f"{worse} ({abs(here):.3f}), which is ahead overall."
                )
    return sentences


def changes_between_runs(report: Report, changes: Mapping[str, Any]) -> list[str]:
    """Return sentences on what changed between two runs."""
    runs, on_judges = changes["runs"], []
    between = " and ".join(runs)
    sentences = [f"answers: {changes['answers_changed']:,} of {report.questions:,} differ between {between}."]
    for metric, entry in changes["metrics"].items():
        name = entry["score"]
        old, new = (number(report.scores[metric][name][run]["value"]) for run in runs)
        [pair] = report.tests[metric][name]["pairs"]
        clear = report.too_few_differ(pair) or "not " * (not is_clear(pair)) + "significant"
        sentences.append(
            f"{name}: {len(entry['better']):,} got better, {len(entry['worse']):,} got worse, {entry['same']:,} "
            f"are the same; {old} -> {new}, {clear}."
        )
        differs = changes["judge"][metric]["differs"]
        if differs is not None:
            settings = ", ".join(f"{setting} {change}" for setting, change in differs.items())
            how = f"were made differently: {settings}" if settings else "have the same signature"
            on_judges.append(f"{metric}: the scores in the files of {between} {how}.")
        if entry["recorded"]:
            on_judges.append(
                f"{metric}: {len(entry['recorded']):,} recorded scores changed though the answer did not: the "
                "judge changed between the runs. The other numbers here are all by one judge."
            )
    return sentences + on_judges
