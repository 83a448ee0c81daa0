"""Numbers that pages quote are those of the result files: `training/studies/measured.toml` lists them.

A result file that is measured again fails the quotes of its numbers until the page says the new ones.
"""

import json
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
from genqa_metrics.ava.loading import checkpoint_folder
from genqa_metrics.core.checkpoints import checkpoint_digest

ROOT = Path(__file__).parent.parent
LISTED = tomllib.loads((ROOT / "training/studies/measured.toml").read_text(encoding="utf-8"))
PAGES = LISTED["page"]
WHOLE = [(page, heading) for page in PAGES for heading in page.get("whole", ())]
NUMBER = re.compile(r"(?<![\w.])\d*\.\d+|\d+(?:\.\d+)?%")


class Measured(float):
    """A number of a result file.

    >>> f"{Measured(0.946):.1p}% {Measured(0.946):.2f}"
    '94.6% 0.95'
    """

    def __format__(self, spec: str) -> str:
        return f"{100 * self:{spec[:-1]}f}" if spec.endswith("p") else super().__format__(spec)


@cache
def result(path: str) -> dict:
    return json.loads((ROOT / path).read_text(encoding="utf-8"), parse_float=Measured)


FILES = {name: result(path) for name, path in LISTED["files"].items()}


def plain(text: str) -> str:
    """Return a text on one line, without bold and without the 0 before a point."""
    return re.sub(r"(?<![\d.])0\.", ".", " ".join(text.replace("**", "").split()))


def page_text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def section(path: str, heading: str) -> str:
    """Return what stands between a heading and the next one, without the addresses of links."""
    found = re.search(rf"^#+ {re.escape(heading)}$\n(.*?)(?=^#+ |\Z)", page_text(path), re.MULTILINE | re.DOTALL)
    return re.sub(r"\]\([^)]*\)", "]", found[1])


@pytest.mark.parametrize(
    ("path", "quote"), [pytest.param(p["path"], q, id=f"{p['path']}: {q[:40]}") for p in PAGES for q in p["quotes"]]
)
def test_a_page_quotes_what_was_measured(path, quote):
    assert plain(quote.format_map(FILES)) in plain(page_text(path))


@pytest.mark.parametrize(("page", "heading"), WHOLE, ids=[f"{page['path']}: {heading}" for page, heading in WHOLE])
def test_no_number_of_these_sections_is_without_a_result_file(page, heading):
    text = plain(section(page["path"], heading))
    for quote in page["quotes"]:
        text = text.replace(plain(quote.format_map(FILES)), " ")
    assert NUMBER.findall(text) == [], "list it in training/studies/measured.toml"


def test_other_numbers_fail():
    """A page of the earlier judge does not quote the present one."""
    files = {"ava": {"accuracy": Measured(0.948)}}
    assert plain("Accuracy {ava[accuracy]:.3f}".format_map(files)) in plain("**Accuracy .948** and")
    assert plain("Accuracy {ava[accuracy]:.3f}".format_map(files)) not in plain("Accuracy 0.946 and")
    assert NUMBER.findall(plain("0.3 of 5%, v0.1, EVOUNA 2,640")) == [".3", "5%"]


@pytest.mark.parametrize("name", ["small", "base"])
def test_the_judges_that_were_compared_are_the_bundled_ones(name):
    """Else the numbers of the pages are those of a judge that is no longer bundled."""
    digest = checkpoint_digest(checkpoint_folder(name))
    assert FILES["judges"]["results"]["bundled" if name == "small" else name]["checkpoint"] == digest
    assert FILES["both"]["checkpoints"][name] == digest
    assert FILES["base_errors" if name == "base" else "small_errors"]["checkpoint"].startswith(digest[:12])
    assert f"`{digest}`" in page_text(f"metrics/ava/checkpoint{'_base' * (name == 'base')}/README.md")


def test_the_card_of_the_small_judge_has_the_tables_of_its_result_file():
    tables, card = (page_text(p) for p in ("training/ava/results/tables.md", "metrics/ava/checkpoint/README.md"))
    between = re.compile(r"<!-- scores -->.*<!-- end of scores -->", re.DOTALL)
    assert between.search(tables)[0] == between.search(card)[0]


def test_the_rule_for_quantities_is_right_as_often_as_the_pages_say():
    found = [one for name, one in FILES["quantities"]["results"].items() if name.endswith(".dev")]
    fired, right, accepted = (sum(one[key] for one in found) for key in ("fired", "right", "accepted by the model"))
    card, page = (plain(page_text(f"{name}/README.md")) for name in ("metrics/ava", "training/studies/judges"))
    assert f"speaks on {fired} answers, of which people call {right} wrong" in card
    assert f"speaks on {fired} answers of the dev files, and people call {right} of them wrong" in page
    assert f"alone accepts {accepted} of these {right}" in page


def cell(scores: dict | None, digits: int) -> str:
    """Return accuracy and AUC of a set of verdicts, Pearson's r of one of grades."""
    values = [scores[key] for key in ("accuracy", "auc", "r") if key in scores] if scores else []
    return " / ".join(f"{value:.{digits}f}" for value in values)


def taught_judges() -> list[list[str]]:
    found = FILES["taught"]["results"].values()
    verdicts = ("evouna together", "written.dev", "assistant.dev", "financebench.dev", "beetle.dev", "scientsbank.dev")
    table = [
        [kind, *(cell(one["sets"][kind], 3) for one in found)]
        for kind in (*verdicts, "kpqa_marco.dev", "kpqa_avsd.dev")
    ]
    passed = [map(sum, zip(*one["minimal_pairs"].values(), strict=True)) for one in found]
    return [*table, ["minimal pairs", *("{} of {}".format(*pair) for pair in passed)]]


def small_judges() -> list[list[str]]:
    """The bundled judge below its predecessors."""
    names = ("first", "second", "third", "close_reading", "fifth", "sixth", "seventh")
    table = []
    for found in [*(result(f"training/studies/judges/results/{name}.json") for name in names), FILES["ava"]]:
        scores, pairs = found["scores"], found["minimal_pairs"]
        values = [scores["systems"]["evouna together"]["mean_absolute_error"]]
        values += [scores["rows"][kind]["accuracy"] for kind in ("scientsbank.dev", "beetle.dev")]
        values += [scores["graded"][kind]["pearson"] for kind in ("kpqa_marco.dev", "kpqa_avsd.dev")]
        shares = [f"{pairs[kind][0] / pairs[kind][1]:.2f}" for kind in ("number", "negation", "flooding")]
        table.append([cell(scores["rows"]["evouna together"], 3), *(f"{value:.3f}" for value in values), *shares])
    return table


def keyphrase_metrics() -> list[list[str]]:
    """The highest Pearson and the highest Spearman of the three KPQA metrics on each set."""
    sets = result("training/kpqa/results/agreement.json")["agreement"].values()
    names = ("bleu1_kpqa", "rougeL_kpqa", "bertscore_kpqa")
    best = [[max(found[name][kind][0] for name in names) for kind in ("pearson", "spearman")] for found in sets]
    return [["bundled", *(f"{pearson:.3f} / {spearman:.3f}" for pearson, spearman in best)]]


GROUNDING = ("bundled", "from_the_encoder", "from_the_small_judge", "written_passages", "plain_passages", "mean")
SIMPLE = ("token overlap", "ROUGE-L precision", "embedding cosine")


def grounding(name: str) -> dict[str, dict]:
    return result(f"training/grounding/results/{name}.json")["scores"]["rows"]


def trained_for_passages() -> list[list[str]]:
    table = []
    for kind, found in grounding("bundled").items():
        judges = [grounding(name).get(kind, {}).get("judge of grounding") for name in GROUNDING]
        table.append([kind, *(cell(one, 2) for one in [*(found[name] for name in SIMPLE), *judges])])
        base = grounding("base")[kind]
        table.append([kind, cell(base["judge of grounding"], 2), cell(base["judge of answers"], 2)])
    return table


def bundled_for_passages() -> list[list[str]]:
    return [
        [
            cell(found["judge of grounding"], 2),
            cell(grounding("base")[kind]["judge of grounding"], 2),
            cell(found["token overlap"], 2),
        ]
        for kind, found in grounding("bundled").items()
    ]


@pytest.mark.parametrize(
    ("path", "table"),
    [
        ("training/ava/README.md", taught_judges),
        ("training/studies/judges/README.md", small_judges),
        ("training/kpqa/README.md", keyphrase_metrics),
        ("training/grounding/README.md", trained_for_passages),
        ("metrics/grounding/README.md", bundled_for_passages),
    ],
)
def test_the_table_of_a_page_is_that_of_the_result_files(path, table):
    shown = plain(page_text(path))
    lines = [f"| {' | '.join(row)} |" for row in table()]
    assert lines
    assert [line for line in lines if plain(line) not in shown] == []


def test_the_card_of_the_base_judge_has_what_was_measured():
    """Of itself, its second stage and the small judge; no file has the third stage."""
    judges = FILES["judges"]["results"]
    measured = [judges["base"], FILES["stages"]["results"]["second stage"], judges["bundled"]]
    card = page_text("metrics/ava/checkpoint_base/README.md")
    checked = 0
    for kind, scores in {**measured[0]["sets"], **measured[0]["minimal_pairs"]}.items():
        line = re.search(rf"^\| {re.escape(kind)} \| (0\.\d+ .*|\d+ of .*) \|$", card, re.MULTILINE)
        if not line:  # a set that the card leaves out
            continue
        cells = [found.strip() for found in line[1].split("|")]
        if isinstance(scores, list):
            passed = [one["minimal_pairs"][kind] for one in measured]
            expected = ["{} of {}".format(*passed[0]), *(str(one[0]) for one in passed[1:])]
        else:
            expected = " / ".join(cell(one["sets"][kind], 3) for one in measured).split(" / ")
        width = len(expected) // len(measured)
        assert cells[:width] + cells[2 * width :] == expected, kind
        checked += 1
    assert checked == 18
