"""What is shown of a comparison wherever it is shown: a sentence, the tables of systems and of pairs, and rows."""

from collections.abc import Mapping

from ...registry import SCORERS, scorer_class
from ...reports.glossary import short_names
from ...reports.report import briefly
from ...reports.table import Table, accuracy_cell, estimate, number, p_value

WITHOUT_INTERVALS = ("penalty", "wrong", "declined", "attempted")  # ends of names of scores; tables would be too wide
MAX_NOTES = 5  # in the terminal, and unfolded on the page
CORRECTED = {
    "holm": "corrected by Holm's method for the {tests}, and so are the intervals",
    "bonferroni": "corrected by Bonferroni's method for the {tests}, and so are the intervals",
    "fdr": "corrected for the {tests} so that 5% of the findings may be false (Benjamini and Hochberg)",
    "none": "not corrected for the {tests}",
}
BEST = "Bold: the best, and systems that are not significantly worse."
CLUSTERS = (
    "Cluster: a line is drawn where every system above is significantly better than every system below. Ranks: from "
    "1 + the number of significantly better systems to the number of systems - those that are significantly worse. "
    "Significant: corrected p below 5%; the interval of the difference leaves out 0 then, and only then."
)


def _shown(metric: str) -> tuple[str, ...]:
    """Return the parts of a metric's score that tables show; none of a column of scores."""
    return scorer_class(metric).shown if metric in SCORERS else ()


def compared_scores(report: Mapping, metric: str) -> list[str]:
    """Return the scores of a metric that were tested, the one that ranks first."""
    return list(report["metrics"][metric]["tests"])


def ordered(report: Mapping, metric: str, name: str) -> list[str]:
    """Return the systems, the best score first."""
    scores = report["metrics"][metric]["scores"][name]
    return sorted(scores, key=lambda system: -scores[system]["value"])


def best_systems(report: Mapping, metric: str, name: str) -> list[str]:
    """Return the system with the best score, and those that are not significantly worse.

    Args:
        report: see `analysis.compare.CompareRun.report`.
        metric: its name.
        name: one of its tested scores.
    """
    best = ordered(report, metric, name)[0]
    worse = {
        pair["second"] if pair["first"] == best else pair["first"]
        for pair in report["metrics"][metric]["tests"][name]["pairs"]
        if best in (pair["first"], pair["second"]) and pair["p_corrected"] < report["settings"]["level"]
    }
    return [system for system in ordered(report, metric, name) if system not in worse]


def _ranks(found: Mapping) -> str:
    best, worst = found["best_rank"], found["worst_rank"]
    return f"{best}" if best == worst else f"{best}-{worst}"


def finding(report: Mapping, metric: str) -> str:
    """Return in one sentence which systems are first."""
    name = compared_scores(report, metric)[0]
    systems = report["metrics"][metric]["tests"][name]["systems"]
    order = ordered(report, metric, name)
    first = [system for system in order if systems[system]["cluster"] == 1]
    if len(first) == 1:
        others = "the other system" if len(order) == 2 else f"each of the {len(order) - 1} others"
        return f"{name}: {first[0]} is significantly better than {others}."
    scores = [report["metrics"][metric]["scores"][name][system]["value"] for system in order]
    if scores[0] == scores[1]:
        tied = [system for system, score in zip(order, scores, strict=True) if score == scores[0]]
        rest = "" if len(tied) == len(order) else ", above the other" + "s" * (len(order) - len(tied) > 1)
        return f"{name}: {', '.join(tied[:-1])} and {tied[-1]} are tied, their scores are equal{rest}."
    if len(first) == len(order) == 2:
        return f"{name}: {order[0]} is ahead, but not significantly; the two may be equally good."
    near = [system for system in best_systems(report, metric, name) if system != order[0]]
    worse = [system for system in order[1:] if system not in near]
    said = []
    if near:
        said.append(f"{briefly(near)} may be as good")
    if worse:
        said.append(f"{briefly(worse)} {'is' if len(worse) == 1 else 'are'} significantly worse")
    return f"{name}: {order[0]} has the highest score; {', '.join(said)}."


def counted_accuracy(report: Mapping, metric: str) -> Mapping | None:
    """Return the accuracy of the systems unless the judge's errors are ignored, see `judge_errors.judged_systems`."""
    accuracy = report["metrics"][metric].get("accuracy")
    return accuracy if accuracy and accuracy["errors_counted"] else None


def corrected_accuracy(report: Mapping, metric: str) -> Mapping | None:
    """Return the same where every system has an interval."""
    accuracy = counted_accuracy(report, metric)
    told = accuracy and all(values["low"] is not None for values in accuracy["systems"].values())
    return accuracy if told else None


def systems_table(report: Mapping, metric: str) -> Table:
    """Return the scores and ranks of the systems by one metric."""
    found = report["metrics"][metric]
    names = compared_scores(report, metric)
    parts = [name for name in _shown(metric) if name in found["scores"]]
    ranking, accuracy = found["tests"][names[0]]["systems"], counted_accuracy(report, metric)
    best = best_systems(report, metric, names[0])
    rows, marked = [], set()
    for place, system in enumerate(ordered(report, metric, names[0])):
        scores = [estimate(found["scores"][name][system]) for name in names]
        if accuracy:  # the bootstrap interval ignores the judge's errors: it is in the JSON only
            scores[0] = number(found["scores"][names[0]][system]["value"])
            scores.insert(0, accuracy_cell(accuracy["systems"][system]))
        scores += [
            number(found["scores"][name][system]["value"])
            if name.endswith(WITHOUT_INTERVALS)
            else estimate(found["scores"][name][system])
            for name in parts
        ]
        rows.append([system, _ranks(ranking[system]), str(ranking[system]["cluster"]), *scores])
        marked |= {place} if system in best else set()
    header = ["system", "ranks", "cluster", *["accuracy"] * bool(accuracy), *names]
    header += parts
    said = "In brackets: 95% interval."
    if accuracy:
        rests_on = "; ".join(filter(None, (accuracy["method"], accuracy["measured"])))
        said = f"Accuracy: 95% interval, {rests_on}. Others: 95% interval."
    elif "accuracy" in found:
        said = f"In brackets: 95% interval; the errors of {metric} are ignored."
    said += f" Ranks and clusters by {names[0]}." if len(names) > 1 else ""
    bold, short = header.index(names[0]), short_names(header)
    return Table(f"{metric}: systems", header, rows, f"{said} {BEST}", marked, bold, short=short)


def short_table(report: Mapping, metric: str, name: str) -> Table:
    """Return one line a system: its score with an interval, and the difference from the best, with its p-value.

    Args:
        report: see `analysis.compare.CompareRun.report`.
        metric: its name.
        name: one of its tested scores.
    """
    found, accuracy = report["metrics"][metric], corrected_accuracy(report, metric)
    order, best = ordered(report, metric, name), best_systems(report, metric, name)
    behind = {pair["second"]: pair for pair in ranked_pairs(report, metric, name) if pair["first"] == order[0]}
    rows = []
    for system in order:
        scored = found["scores"][name][system]
        pair = behind.get(system)
        difference = [estimate(pair["difference"]), p_value(pair["p_corrected"])] if pair else ["", ""]
        rows.append(
            [system, accuracy_cell(accuracy["systems"][system]) if accuracy else estimate(scored), *difference]
        )
    header = ["system", "right" if accuracy else name, f"{order[0]} leads by", "p"]
    corrected = f"; the difference is of {name}" if accuracy else ""
    said = f"95% intervals; p is {_correction(report)}{corrected}."
    return Table("", header, rows, said, {place for place, system in enumerate(order) if system in best})


def ranked_pairs(report: Mapping, metric: str, name: str, neighbours: bool = False) -> list[dict]:
    """Return the tests of pairs, the better system first, in the order of the ranking.

    Args:
        report: see `analysis.compare.CompareRun.report`.
        metric: its name.
        name: one of its tested scores.
        neighbours: only pairs of systems that follow each other in the ranking.
    """
    place = {system: i for i, system in enumerate(ordered(report, metric, name))}
    found = []
    for pair in report["metrics"][metric]["tests"][name]["pairs"]:
        pair = dict(pair)
        if place[pair["first"]] > place[pair["second"]]:
            difference = pair["difference"]
            pair["first"], pair["second"] = pair["second"], pair["first"]
            pair["wins"], pair["losses"] = pair["losses"], pair["wins"]
            pair["difference"] = {
                end: None if difference[other] is None else -difference[other]
                for end, other in (("value", "value"), ("low", "high"), ("high", "low"))
            }
        if not neighbours or place[pair["second"]] == place[pair["first"]] + 1:
            found.append(pair)
    return sorted(found, key=lambda pair: (place[pair["first"]], place[pair["second"]]))


def pairs_table(report: Mapping, metric: str, name: str, most: int | None = None) -> Table:
    """Return the tests of all pairs of systems by one score.

    Args:
        report: see `analysis.compare.CompareRun.report`.
        metric: its name.
        name: one of its tested scores.
        most: if there are more pairs, only those of neighbours in the ranking.
    """
    pairs = ranked_pairs(report, metric, name)
    tests = len(pairs)
    few = most is not None and tests > most
    if few:
        pairs = ranked_pairs(report, metric, name, neighbours=True)
    rows, marked = [], set()
    for place, pair in enumerate(pairs):
        rows.append(
            [
                f"{pair['first']} - {pair['second']}",
                estimate(pair["difference"]),
                p_value(pair["p"]),
                p_value(pair["p_corrected"]),
                f"{pair['wins']:,} / {pair['ties']:,} / {pair['losses']:,}",
            ]
        )
        if pair["p_corrected"] < report["settings"]["level"]:
            marked.add(place)
    scores = f"difference of {name}"
    header = ["pair", scores, "p", "corrected", "wins / ties / losses"]
    said = f"Two-sided paired tests; p is {_correction(report)}. Wins, ties and losses: rows."
    if corrected_accuracy(report, metric):
        said += " Of the verdicts as they are: tests and differences take the judge to err alike on all systems."
    if few:
        said += f" Neighbours in the ranking; all {tests:,} pairs are in --json, --markdown and --html."
    return Table(f"{name}: pairs of systems", header, rows, said, marked)


def _correction(report: Mapping) -> str:
    tests = report["settings"]["tests"]
    if tests == 1:
        return "not corrected: there is one test"
    return CORRECTED[report["settings"]["correction"]].format(tests=f"{tests:,} tests, of all pairs and metrics")


def name_of(row: Mapping) -> str:
    """Return a row's question, and its id where it has one."""
    text = row["text"] if row["text"] is not None else f"row {row['row']}"
    return f"{text} ({row['id']})" if row["id"] is not None else text


def shown_answers(row: Mapping) -> list[tuple[str, str, str]]:
    """Return score, system and answer, the best first."""
    answers = sorted(row["answers"].items(), key=lambda item: -item[1]["score"])
    return [
        (number(answer["score"]), system, " | ".join(answer["predictions"]) or "(empty)") for system, answer in answers
    ]
