"""What each judge is worth: the small one, the base one, both, and simple metrics, with speed and memory.

The short table in AVA's card and the page of the site, which `page` makes when it is built, show the result files of
`compare_judges` and `small_and_base`.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from training.common import markdown_table
from training.studies.harness import Table, rendered
from training.studies.judges.compare_judges import GRADES, VERDICTS
from training.studies.judges.compare_judges import NAMES as TITLES
from training.studies.judges.small_and_base import BAND

RESULTS = Path(__file__).parent / "results"
PLACE = "worth"
NAMES = {"small": "bundled", "base": "base", "cosine": "embedding cosine"}  # names in judges.json, if they differ
COLUMNS = ("small", "base", "both", "token F1", "ROUGE-L-KPQA", "BERTScore", "cosine")
IN_CARD = ("small", "base", "both", "ROUGE-L-KPQA", "BERTScore")
SETS = TITLES["sets"]  # name -> what tables call it, and whose answers people judged
SPEEDS = {"float32": "", "bfloat16": ", bfloat16", "8-bit integers": ", int8"}
PAIRS = {"number": "minimal pairs of numbers: passed", "word_order": "of word order: passed"}
CARD_ROWS = ("evouna_nq.dev", "evouna_tq.dev", "financebench.dev", "beetle.dev", "assistant.dev", "kpqa_marco.dev")


@cache
def results() -> tuple[dict, dict]:
    """Return the result files of `compare_judges` and of `small_and_base`."""
    return tuple(json.loads((RESULTS / f"{name}.json").read_text("utf-8")) for name in ("judges", "small_and_base"))


def scores(name: str, key: str) -> dict[str, float | None]:
    """Return a score of every column on a dev set, None where it was not measured.

    Those of the judges come from the run that judged with both, where it has the set, so that they can be compared.
    """
    judges, pairs = results()
    together = pairs["sets"].get(name, {})
    values = {
        column: judges["results"][NAMES.get(column, column)]["sets"].get(name, {}).get(key)
        for column in COLUMNS
        if column != "both"
    }
    values |= {column: together[column][key] for column in ("small", "base") if key in together.get(column, {})}
    values["both"] = together.get("bands", {}).get(BAND, {}).get(key)
    return {column: values[column] for column in COLUMNS}


def best(found: Mapping[str, float | None]) -> set[str]:
    """Return the columns with the highest score to three decimals; none if a judge or a metric was not measured.

    >>> best({"a": 0.5, "b": 0.7001, "c": 0.6999}) == {"b", "c"}, best({"a": 0.5, "b": None})
    (True, set())
    """
    if None in found.values():
        return set()
    most = max(round(value, 3) for value in found.values())
    return {name for name, value in found.items() if round(value, 3) == most}


def line(name: str, key: str, columns: tuple[str, ...] = COLUMNS) -> list[str]:
    """Return the row of a dev set: the best in bold, empty where nothing was measured."""
    values = {column: value for column, value in scores(name, key).items() if column in columns}
    cells = {column: "" if value is None else f"{value:.3f}" for column, value in values.items()}
    cells |= {column: f"**{cells[column]}**" for column in best(values)}
    rows = results()[1]["sets"].get(name, {}).get("rows")
    return [SETS[name][0] + (f" ({rows:,})" if rows else ""), *(cells[column] for column in columns)]


def cost_lines(columns: tuple[str, ...] = COLUMNS) -> list[list[str]]:
    """Return the rows of speed and memory."""
    costs = results()[1]["costs"]
    lines = []
    for title, key in (("rows a second", "rows_per_second"), ("peak memory, MB", "mb")):
        for kind, ending in SPEEDS.items():
            names = [NAMES["cosine"] if column == "cosine" else column for column in columns]
            values = [costs.get(f"{name}{ending}") for name in names]
            if any(values):
                lines.append([f"{title}, {kind}", *(f"{value[key]:,.0f}" if value else "" for value in values)])
    return lines


def pair_lines(columns: tuple[str, ...]) -> list[list[str]]:
    """Return the rows of minimal pairs: in how many both answers are judged rightly."""
    lines = []
    for kind, title in PAIRS.items():
        values = [results()[0]["results"].get(NAMES.get(c, c), {}).get("minimal_pairs", {}).get(kind) for c in columns]
        lines.append([title, *(f"{value[0]} of {value[1]}" if value else "" for value in values)])
    return lines


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


def page() -> str:
    """Return the page of the documentation site, without its title."""
    header, verdicts = ["", *COLUMNS], [name for name in SETS if name in VERDICTS]
    quality = [line(name, "accuracy" if name in VERDICTS else "r") for name in SETS]
    about = [[called, what, "verdicts" if name in VERDICTS else "grades"] for name, (called, what) in SETS.items()]
    return rendered(
        "judges/page.md.j2",
        finding=finding(),
        quality=markdown_table(header, quality + cost_lines(), "---:"),
        band=BAND,
        auc=markdown_table(header, [line(name, "auc") for name in verdicts], "---:"),
        sets=markdown_table(["set", "answers", "people gave"], about),
    )


def card() -> str:
    """Return the short table of AVA's card."""
    rows = []
    for name in CARD_ROWS:
        key = "r" if name in GRADES else "accuracy"
        called, *cells = line(name, key, IN_CARD)
        rows.append([f"{called}: {key}", *cells])
    return markdown_table(["", *IN_CARD], rows + pair_lines(IN_CARD) + cost_lines(IN_CARD), "---:")


TABLES = [Table(PLACE, "", card, "metrics/ava/README.md")]
