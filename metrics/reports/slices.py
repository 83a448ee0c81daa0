"""Tables of slices: what `--by` adds to the reports of `compare` and `accuracy`."""

from collections.abc import Mapping, Sequence

from .table import Table, accuracy_cell, estimate, number, p_value

_INTERVALS = "With 95% intervals."
MAX_ROWS = 30  # of pairs in slices in the terminal; of more only those that are significant


def comparison_tables(report: Mapping, metric: str, order: Sequence[str], most: int | None = None) -> list[Table]:
    """Return the scores of systems in every slice, and the tests of pairs in every slice; none without `--by`.

    Args:
        report: see `analysis.compare.CompareRun.report`.
        metric: its name.
        order: systems, the best first.
        most: if there are more tests, only the significant ones are shown.
    """
    if not report["slices"]:
        return []
    column, slices = report["slices"]["column"], report["slices"]["metrics"][metric]
    score = next(iter(report["metrics"][metric]["tests"]))
    level = report["settings"]["level"]
    rows = [
        [name, f"{found['questions']:,}", *(estimate(found["scores"][system]) for system in order)]
        for name, found in slices.items()
    ]
    scores = Table(f"{score} by {column}", [column, "questions", *order], rows, _INTERVALS)
    place = {system: i for i, system in enumerate(order)}
    tests = [(name, _turned(pair, place)) for name, found in slices.items() for pair in found["pairs"]]
    number_of_tests = len(tests)
    few = most is not None and number_of_tests > most
    if few:
        tests = [(name, pair) for name, pair in tests if pair["p_corrected"] < level]
    cells, marked = [], set()
    for i, (name, pair) in enumerate(tests):
        cells.append(
            [
                f"{name}: {pair['first']} - {pair['second']}",
                estimate(pair["difference"]),
                p_value(pair["p"]),
                p_value(pair["p_corrected"]),
                f"{pair['wins']:,} / {pair['ties']:,} / {pair['losses']:,}",
            ]
        )
        marked |= {i} if pair["p_corrected"] < level else set()
    said = (
        f"Two-sided paired tests; corrected ({report['settings']['correction']}) over all "
        f"{number_of_tests:,} tests in all slices. Bold: significant at 5%."
    )
    said += " Only significant tests; all are in --json, --markdown and --html." if few else ""
    header = [f"{column}: pair", "difference", "p", "corrected", "wins / ties / losses"]
    return [scores, Table(f"{score} by {column}: pairs of systems", header, cells, said, marked)]


def _turned(pair: Mapping, place: Mapping[str, int]) -> dict:
    """Return a test with the system first that ranks first."""
    if place[pair["first"]] < place[pair["second"]]:
        return dict(pair)
    found = pair["difference"]
    ends = (("value", "value"), ("low", "high"), ("high", "low"))
    difference = {end: None if found[other] is None else -found[other] for end, other in ends}
    swapped = {"first": pair["second"], "second": pair["first"], "wins": pair["losses"], "losses": pair["wins"]}
    return {**pair, **swapped, "difference": difference}


def reversals(report: Mapping, metric: str) -> list[str]:
    """Return a sentence for every slice in which a pair of systems is significantly the other way round than overall.

    Args:
        report: see `analysis.compare.CompareRun.report`.
        metric: its name.
    """
    if not report["slices"]:
        return []
    score, tests = next(iter(report["metrics"][metric]["tests"].items()))
    overall = {(pair["first"], pair["second"]): pair["difference"]["value"] for pair in tests["pairs"]}
    found = []
    for name, entry in report["slices"]["metrics"][metric].items():
        for pair in entry["pairs"]:
            here, whole = pair["difference"]["value"], overall[(pair["first"], pair["second"])]
            if pair["p_corrected"] < report["settings"]["level"] and here * whole < 0:
                better, worse = (pair["first"], pair["second"]) if here > 0 else (pair["second"], pair["first"])
                found.append(
                    f"{score}: in {report['slices']['column']} {name}, {better} is significantly better than {worse} "
                    f"({abs(here):.3f}), which is ahead overall."
                )
    return found


def accuracy_table(report: Mapping) -> Table | None:
    """Return the accuracy of every system in every slice; None without `--by`.

    Args:
        report: see `analysis.accuracy_run.AccuracyRun.report`.
    """
    if not report["slices"]:
        return None
    column, values = report["slices"]["column"], report["slices"]["values"]
    labelled = bool(report["labels"])
    header = [column, "system", "accuracy", "wrong", "declined", "answers", *["labelled"] * labelled]
    rows = []
    for name, systems in values.items():
        for system, found in systems.items():
            cells = [
                name,
                system,
                accuracy_cell(found),
                number(found["wrong"]),
                number(found["declined"]),
                f"{found['rows']:,}",
            ]
            rows.append(cells + [f"{found['labelled']:,}"] * labelled)
    said = f"Each interval by itself: of {len(rows):,} intervals about "
    said += f"{len(rows) * (1 - report['settings']['confidence']):.1f} miss the truth."
    return Table(f"Accuracy by {column}", header, rows, said)
