"""Sentences on a comparison: which systems are first by each metric, slices that say the opposite, what changed."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from ...core.reading import the_first
from ...registry import SCORERS, scorer_class
from ...reports.report import CLOSE, MOST_CHARACTERS, Finding, Report, briefly, lead, untold, whole_points
from ...reports.table import listed, number, p_value
from .ranking import Ranking, from_better, is_clear

MOST_SHARES = 6  # systems that a sentence lists


def first_systems(report: Report, by: Ranking) -> list[Finding]:
    """Return which systems differ significantly by a metric, which are too close to call, and what cannot be told."""
    if by.only_verdicts:
        return _by_verdicts(by)
    others = [system for system in by.order if system not in by.estimated]
    sentence = "The {1} of {0} cannot be told, so {0} may be better.".format(briefly(others or [""]), by.name)
    return [_of_estimated(report, by), *[Finding(sentence, _why_untold(by))] * bool(others)]


def _by_verdicts(by: Ranking) -> list[Finding]:
    """Return that no accuracy is told, with the numbers of right answers, and which verdicts differ significantly."""
    counted = ((name, *by.right[name]) for name in by.order)
    shares = [f"{name} {right:,} of {answers:,}" for name, right, answers in counted if answers]
    counts = f"{by.counted.capitalize()}: {the_first(shares, MOST_SHARES)}."
    if by.too_few_labels:
        return [Finding("No winner: too few questions.", counts)]
    unknown = [name for name in by.order if by.judged["systems"][name]["accuracy"] is None]
    whose = f"of {briefly(unknown)} " * (len(unknown) < len(by.order))
    verdicts = f"By verdicts alone {_pairs(by.significant)}, but the judge can err more on one system than on another."
    finding = Finding(f"No winner: the accuracy {whose}cannot be told.", f"{_why_untold(by)} {counts}")
    return [finding, *[Finding(verdicts)] * bool(by.significant)]


def _why_untold(by: Ranking) -> str:
    """Return why the accuracy of some systems cannot be told, in sentences."""
    findings, _ = untold(by.judged["notes"] if by.judged else ())
    return findings[0].certainty if len(findings) == 1 else " ".join(map(str, findings))


def _of_estimated(report: Report, by: Ranking) -> Finding:
    """Return how the systems with an estimate differ."""
    if by.accuracy and len(by.estimated) == 2 and not report.too_few_differ(by.pairs[0]):
        pair = by.pairs[0]
        finding = lead(pair, not is_clear(pair), f", p {p_value(pair['p_corrected'])}")
        return finding if len(report.metrics) == 1 else replace(finding, sentence=f"{by.name}: {finding.sentence}")
    ahead = by.leaders if {*product(by.leaders, by.worse)} <= {*by.significant} else by.order[:1]
    further = _pairs([pair for pair in by.significant if pair not in {*product(ahead, by.worse)}])
    clauses = [*filter(None, _verdicts(report, by, ahead, further))]
    if not by.accuracy or len(report.metrics) > 1:
        return Finding(f"{_name_of_score(by)}: {'; '.join(clauses)}.")
    first, *others = (text if text.startswith(tuple(by.order)) else text[:1].upper() + text[1:] for text in clauses)
    return Finding(f"{first}.", " ".join(f"{text}." for text in others))


def _name_of_score(by: Ranking) -> str:
    if by.metric in SCORERS and scorer_class(by.metric).verdict and by.name == scorer_class(by.metric).main:
        return f"{scorer_class(by.metric).title}'s verdicts"
    return by.name


def _verdicts(report: Report, by: Ranking, ahead: Sequence[str], further: str) -> list[str]:
    """Return clauses on the systems with an estimate: who is significantly better, and what is too close to call."""
    order = by.estimated
    if [system for system in order if by.ranks[system]["cluster"] == 1] == order[:1]:
        is_named = len(order) == 2 or len(order) < len(by.order)  # "others" would count systems without an estimate
        others = briefly(order[1:]) if is_named else f"each of the {len(order) - 1} others"
        return [f"{order[0]} is significantly better than {others}", further]
    if len({by.scores[system]["value"] for system in order}) == 1:
        return [f"{briefly(order)} have the same score, {number(by.scores[order[0]]['value'])}"]
    if len(order) == 2:
        why = report.too_few_differ(by.pairs[0]) or "the difference is not significant"
        difference = by.pairs[0]["difference"]["value"]
        by_points = f" by {whole_points(difference)} points" * (bool(by.accuracy) and difference >= CLOSE)
        return [f"too close to call: {order[0]} is ahead of {order[1]}{by_points}, but {why}"]
    if not by.significant:
        none = f"no two of the {len(order)} systems differ significantly"
        by_chance = _lead_by_chance(report, by, order[-1])
        return [none, by_chance] if by_chance else [f"too close to call: {none}"]
    first = listed(ahead) if briefly(ahead) == listed(ahead) else f"the first {len(ahead)} systems"
    better = f"{first} {'is' if len(ahead) == 1 else 'are'} significantly better than {briefly(by.worse)}"
    leads = {system: _lead_by_chance(report, by, system) for system in by.leaders[1:]}
    close = [system for system, lead in leads.items() if not lead]
    leads = [lead for lead in leads.values() if lead]
    if len(leads) > 1:
        others = briefly([system for system in by.leaders[1:] if system not in close])
        leads = [f"the leads of {order[0]} over {others} could be chance"]
    call = f"{order[0]} vs {briefly(close)}: too close to call" if close else ""
    return [call, *leads, better if by.worse else "", further]


def _lead_by_chance(report: Report, by: Ranking, other: str) -> str:
    """Return that the first system's lead in accuracy over another one could be chance; "" where both are close."""
    [pair] = (pair for pair in by.pairs if (pair["first"], pair["second"]) == (by.order[0], other))
    difference = pair["difference"]["value"]
    if not by.accuracy or difference < CLOSE:
        return ""
    why = report.too_few_differ(pair) or f"p {p_value(pair['p_corrected'])}"
    return f"{by.order[0]} leads {other} by {whole_points(difference)} points, but this could be chance ({why})"


def _pairs(pairs: Sequence[tuple[str, str]]) -> str:
    """Return "A is significantly ahead of B" for pairs of systems, or how many pairs there are."""
    sentence = " and ".join(f"{first} is significantly ahead of {second}" for first, second in pairs)
    return sentence if len(sentence) <= 2 * MOST_CHARACTERS else f"{len(pairs):,} further pairs differ significantly"


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


def changes_between_runs(report: Report) -> list[str]:
    """Return sentences on what changed between two runs."""
    changes, on_judges = report.changes, []
    between = " and ".join(changes["runs"])
    sentences = [f"answers: {changes['answers_changed']:,} of {report.questions:,} differ between {between}."]
    for metric, entry in changes["metrics"].items():
        name = entry["score"]
        old, new = (number(report.scores[metric][name][run]["value"]) for run in changes["runs"])
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
