"""What each judge is worth: the small one, the base one, both, and simple metrics, with speed and memory.

The short table in AVA's card and the page of the site, which `page` makes when it is built, show the result files of
`compare_judges` and `small_and_base`.
"""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path

from training.studies.harness import Table, read, rendered
from training.studies.judges.compare_judges import GRADES, VERDICTS
from training.studies.judges.compare_judges import NAMES as TITLES
from training.studies.judges.small_and_base import BAND

RESULTS = Path(__file__).parent / "results"
PLACE = "worth"
NAMES = {"small": "bundled", "base": "base", "cosine": "embedding cosine"}  # names in judges.json, if they differ
COLUMNS = ("small", "base", "both", "token F1", "ROUGE-L-KPQA", "BERTScore", "cosine")
IN_CARD = ("small", "base", "both", "ROUGE-L-KPQA", "BERTScore")
SETS = TITLES["sets"]  # name -> what tables call it, and whose answers people judged


@cache
def results() -> tuple[dict, dict]:
    """Return the result files of `compare_judges` and of `small_and_base`."""
    return tuple(read(RESULTS / f"{name}.json") for name in ("judges", "small_and_base"))


def scores(name: str, key: str, columns: Sequence[str] = COLUMNS) -> dict[str, float | None]:
    """Return a score of every column on a dev set, those of judges from the run with both if that has it."""
    judges, pairs = results()
    together = pairs["sets"].get(name, {})
    values = {
        column: judges["results"][NAMES.get(column, column)]["sets"].get(name, {}).get(key)
        for column in COLUMNS
        if column != "both"
    }
    values |= {column: together[column][key] for column in ("small", "base") if key in together.get(column, {})}
    values["both"] = together.get("bands", {}).get(BAND, {}).get(key)
    return {column: values[column] for column in columns}


def best(found: Mapping[str, float | None]) -> set[str]:
    """Return the columns with the highest score to three decimals; none if a judge or a metric was not measured.

    >>> best({"a": 0.5, "b": 0.7001, "c": 0.6999}) == {"b", "c"}, best({"a": 0.5, "b": None})
    (True, set())
    """
    if None in found.values():
        return set()
    most = max(round(value, 3) for value in found.values())
    return {name for name, value in found.items() if round(value, 3) == most}


def finding() -> str:
    """Return what the tables show, in sentences made of their numbers."""
    sentences = []
    for what, names, key in (("accuracy", VERDICTS, "accuracy"), ("correlation with grades", GRADES, "r")):
        winners = [best(scores(name, key)) for name in names]
        complete = [winner for winner in winners if winner]
        if complete:
            wins = sorted(((sum(c in winner for winner in complete), c) for c in COLUMNS), reverse=True)
            said = ", ".join(f"{column} on {count}" for count, column in wins if count)
            sentences.append(f"Highest {what}, of {len(complete)} sets on which all were measured: {said}.")
    judged = results()[1]["sets"]
    for name in ("evouna_nq.dev", "evouna_tq.dev"):
        both, base = judged[name]["bands"][BAND], judged[name]["base"]["accuracy"]
        sentences.append(
            f"On {SETS[name][0]} both have accuracy {both['accuracy']:.3f} (base alone {base:.3f}), and the base "
            f"judge reads {both['escalated']:.0%} of the rows."
        )
    return " ".join(sentences)


def _filled(template: str) -> str:
    judges, pairs = results()
    functions = {"scores": scores, "best": best, "finding": finding}
    names = {"NAMES": NAMES, "COLUMNS": COLUMNS, "IN_CARD": IN_CARD, "SETS": SETS, "BAND": BAND}
    return rendered(template, judges=judges, pairs=pairs, VERDICTS=VERDICTS, GRADES=GRADES, **functions, **names)


page = partial(_filled, "judges/page.md.j2")  # of the documentation site, without its title
TABLES = [Table(PLACE, "", partial(_filled, "judges/card.md.j2"), "metrics/ava/README.md")]
