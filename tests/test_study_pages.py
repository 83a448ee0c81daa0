"""Tables and recommendations of the pages are those of the result files."""

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from genqa_metrics.ava.loading import checkpoint_folder
from genqa_metrics.core.checkpoints import checkpoint_digest
from genqa_metrics.toolkit.reports import charts

from training.ava import evaluate_ava
from training.common import around_markers
from training.kpqa import evaluate_kpqa
from training.studies.answer_ranking import error_tables, rank_systems
from training.studies.ava_configurations import compare, data_statistics
from training.studies.judges import (
    attacks,
    choose,
    compare_judges,
    inspect_judge,
    quantity_precision,
    small_and_base,
    summary,
    worst_errors,
)
from training.studies.kpqa import seeds
from training.studies.question_generation.measures import BASES
from training.studies.question_similarity import against_people, check_bases

TRAINING = Path(__file__).parent.parent / "training"
TABLES = [  # folder of results, result file, place on the page, its table
    ("ava", "bundled", "scores", lambda r: evaluate_ava.tables(r["settings"], r["scores"], r["minimal_pairs"])),
    ("kpqa", "agreement", "tables", evaluate_kpqa.tables),
    ("studies/answer_ranking", "errors", "errors", error_tables.tables),
    ("studies/answer_ranking", "systems", "systems", lambda r: rank_systems.tables(r["judged"])),
    ("studies/answer_ranking", "small_and_base", "small_and_base", lambda r: rank_systems.tables(r["judged"])),
    ("studies/ava_configurations", "configurations", "configurations", lambda r: compare.tables(r["blocks"])),
    ("studies/ava_configurations", "data", "data", lambda r: data_statistics.table(r["corpora"])),
    ("studies/ava_configurations", "paper_judges", "paper", lambda r: compare_judges.table(r["results"])),
    ("studies/judges", "attacks", "attacks", lambda r: attacks.table(r["results"])),
    ("studies/judges", "choices", "choices", lambda r: choose.table(r["results"])),
    ("studies/judges", "judges", "judges", lambda r: compare_judges.table(r["results"])),
    ("studies/judges", "quantities", "quantities", lambda r: quantity_precision.table(r["results"])),
    ("studies/judges", "small_and_base", "bands", lambda r: small_and_base.tables(r)[0]),
    ("studies/judges", "small_and_base", "costs", lambda r: small_and_base.tables(r)[1]),
    ("studies/kpqa", "seeds", "seeds", seeds.tables),
    ("studies/question_similarity", "bases", "bases", lambda r: check_bases.tables(r, BASES)),
    ("studies/question_similarity", "people", "people", against_people.tables),
]


@pytest.mark.parametrize(("folder", "file", "place", "table"), TABLES, ids=[place for _, _, place, _ in TABLES])
def test_the_table_is_that_of_the_result_file(folder, file, place, table):
    results = TRAINING / folder / "results"
    page = (results / "tables.md").read_text(encoding="utf-8")
    before, after = around_markers(results / "tables.md", place)
    shown = page[len(before) : len(page) - len(after)].strip()
    assert shown == table(json.loads((results / f"{file}.json").read_text(encoding="utf-8"))).strip()


def test_the_card_of_ava_has_the_short_table_of_the_judges():
    before, after = around_markers(summary.CARD, summary.PLACE)
    card = summary.CARD.read_text(encoding="utf-8")
    assert card[len(before) : len(card) - len(after)].strip() == summary.card(), (
        "run python -m training.studies.judges.summary"
    )


def test_the_card_of_ava_has_the_worst_errors_of_the_base_judge_by_kind():
    found = json.loads(worst_errors.CODES.read_text(encoding="utf-8"))
    before, after = around_markers(worst_errors.CARD, worst_errors.PLACE)
    card = worst_errors.CARD.read_text(encoding="utf-8")
    assert card[len(before) : len(card) - len(after)].strip() == worst_errors.table(found["errors"])
    assert found["checkpoint"] == checkpoint_digest(checkpoint_folder("base"))
    assert set(found["data"]) == set(worst_errors.SETS)
    assert len({(error["set"], error["id"]) for error in found["errors"]}) == worst_errors.COUNT
    assert all(set(error) == {"set", "id", "label", "kind"} for error in found["errors"])  # no texts of the data


@pytest.mark.parametrize(("kind", "message"), [(None, "1 errors have no kind"), ("odd", "kinds odd: expected one of")])
def test_errors_need_a_kind(kind, message):
    with pytest.raises(ValueError, match=message):
        worst_errors.table([{"set": "beetle.dev", "id": "1", "label": 0, "kind": kind}])


@pytest.fixture
def inspected():
    """The result file of the kinds of errors."""
    return json.loads(inspect_judge.RESULTS.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("judge", "folder"), [("small", "checkpoint"), ("base", "checkpoint_base")])
def test_the_card_of_a_bundled_judge_has_its_errors_by_kind(inspected, repository, judge, folder):
    found = inspected["results"][judge]
    path = repository / f"metrics/ava/{folder}/README.md"
    before, after = around_markers(path, inspect_judge.PLACE)
    card = path.read_text(encoding="utf-8")
    assert card[len(before) : len(card) - len(after)].strip() == inspect_judge.table(found["errors_by_kind"]), (
        f"run python -m training.studies.judges.inspect_judge --judges {judge} --write metrics/ava/{folder}/README.md"
    )
    assert found["checkpoint"] == checkpoint_digest(checkpoint_folder(judge))
    assert set(inspected["data"]) == {compare_judges.WRITTEN}
    assert inspected["command"].startswith("python -m training.studies.judges.inspect_judge --judgments ")
    assert [set(kinds) for kinds in found["errors_by_kind"].values()] == [set(kinds) for kinds in inspect_judge.KINDS]


def test_errors_are_counted_by_kind_and_side():
    """Two names: 0.5 is at the threshold and accepted, 0.4 is rejected; the right answer with 0.2 is rejected."""
    probability = {"Bern": 0.5, "Bonn": 0.4, "Pariss": 0.2}
    judge = SimpleNamespace(
        loaded=SimpleNamespace(threshold=0.5),
        probabilities=lambda questions, references, answers: np.array([probability[answer] for answer in answers]),
    )
    rows = [
        {"question": "q", "references": ["Paris"], "candidate": answer, "label": label, "extra": {"kind": kind}}
        for answer, label, kind in (("Bern", 0, "name"), ("Bonn", 0, "name"), ("Pariss", 1, "typo"))
    ]
    assert inspect_judge.errors_by_kind(rows, judge) == {
        "wrong answers judged right": {"name": (1, 2)},
        "right answers judged wrong": {"typo": (1, 1)},
    }


def test_the_table_of_a_card_is_made_of_the_result_file(inspected, tmp_path, monkeypatch, capsys):
    (tmp_path / "own.json").write_text(json.dumps(inspected), encoding="utf-8")
    place = "<!-- kinds of errors -->{}<!-- end of kinds of errors -->"
    (tmp_path / "card.md").write_text(place.format("old"), encoding="utf-8")
    command = ["x", "--json", tmp_path / "own.json", "--write", tmp_path / "card.md", "--judges"]
    monkeypatch.setattr(sys, "argv", [*map(str, command), "small"])
    inspect_judge.main()
    text = inspect_judge.table(inspected["results"]["small"]["errors_by_kind"])
    assert (tmp_path / "card.md").read_text(encoding="utf-8") == place.format(f"\n\n{text}\n\n")
    assert text in capsys.readouterr().out
    for judges, message in ((["small", "base"], "--write: expected one judge, got small, base"), (["a"], "has no a")):
        monkeypatch.setattr(sys, "argv", [*map(str, command), *judges])
        with pytest.raises(SystemExit):
            inspect_judge.main()
        assert message in capsys.readouterr().err


def test_a_kind_needs_a_title():
    with pytest.raises(ValueError, match="wrong answers judged right: kinds odd have no title"):
        inspect_judge.table({"wrong answers judged right": {"odd": (1, 2)}, "right answers judged wrong": {}})


@pytest.fixture
def measured_again(tmp_path, monkeypatch):
    """Result files of the judges of which one number is another one."""
    for name in ("judges", "small_and_base"):
        found = json.loads((summary.RESULTS / f"{name}.json").read_text(encoding="utf-8"))
        if name == "judges":
            found["results"]["BERTScore"]["sets"]["beetle.dev"]["accuracy"] = 0.12345
            found["results"]["bundled"]["checkpoint"] = "0" * 64
        else:
            found["sets"]["beetle.dev"]["bands"][small_and_base.BAND]["accuracy"] = 0.98765
            found["costs"]["small, GPU"] = {"rows_per_second": 4321.0, "mb": 2000.0}
        (tmp_path / f"{name}.json").write_text(json.dumps(found), encoding="utf-8")
    monkeypatch.setattr(summary, "RESULTS", tmp_path)
    summary.results.cache_clear()
    yield
    summary.results.cache_clear()


def test_the_page_of_the_judges_shows_what_was_measured_last(measured_again):
    page = summary.page()
    row = next(line for line in page.splitlines() if line.startswith("| Beetle"))
    assert "**0.988**" in row
    assert " 0.123 " in row
    assert "| rows a second, GPU | 4,321 |" in page
    assert "Measured with an earlier version of the judge small." in page
    assert "0.988" in summary.card()


def test_the_page_of_the_judges_has_every_dev_set_and_every_way():
    page = summary.page()
    assert set(summary.SETS) == {*compare_judges.VERDICTS, *compare_judges.GRADES}
    for called, _ in summary.SETS.values():
        assert f"| {called}" in page
    header = next(line for line in page.splitlines() if line.startswith("|"))
    assert [cell.strip() for cell in header.split("|")[2:-1]] == list(summary.COLUMNS)
    known = json.loads((summary.RESULTS / "judges.json").read_text(encoding="utf-8"))["results"]
    assert set(known) == {summary.NAMES.get(name, name) for name in summary.COLUMNS if name != "both"}
    for kind in ("float32", "bfloat16", "8-bit integers"):
        assert f"| rows a second, {kind} |" in page
        assert f"| peak memory, MB, {kind} |" in page


@pytest.mark.parametrize("path", sorted(TRAINING.glob("studies/*/results/*.svg")), ids=lambda path: path.stem)
def test_figures_have_the_palette(path):
    """Okabe and Ito's colours and greys, as the pictures of the reports have."""
    found = set(re.findall("#[0-9a-fA-F]{6}", path.read_text(encoding="utf-8")))
    greys = {colour for colour in found if colour[1:3] == colour[3:5] == colour[5:7]}
    assert found - greys <= set(charts.PALETTE)


def test_which_metric_when_says_what_the_results_say(repository):
    """The recommendations of the site and of the README hold of the measurements, number by number."""
    path = repository / "training/studies/meta_evaluation/results/meta_evaluation.json"
    sets = json.loads(path.read_text(encoding="utf-8"))["sets"]
    found = {
        data: {name: one["pearson"]["value"] for name, one in sets[data]["metrics"].items()}
        for data in ("evouna_nq", "evouna_tq", "kpqa_marco", "scientsbank", "beetle", "mohler")
    }
    names = {"AVA": "AVA", "KPQA": "ROUGE-L-KPQA", "AEv": "AEv, content"}
    names |= {name: name for name in ("ROUGE-L", "BERTScore")}
    page = (repository / "spaces/docs/pages/explanation/1-which-metric.md").read_text(encoding="utf-8")
    said = " ".join(page.partition("## What the measurements say")[2].split())

    def numbers(pattern: str) -> list[float]:
        return list(map(float, re.search(pattern, said).groups()))

    evouna = [found["evouna_nq"], found["evouna_tq"]]
    assert numbers(r"Pearson's r is (\S+) and (\S+) on EVOUNA") == [round(one["AVA"], 2) for one in evouna]
    assert all(one["AVA"] == max(one[name] for name in names.values()) for one in evouna)
    low, high = numbers(r"reach (\S+) to (\S+) there")
    words = [round(one[name], 2) for one in evouna for name in ("ROUGE-L", "BERTScore")]
    assert (low, high) == (min(words), max(words))
    content = [round(one["AEv, content"], 2) for one in evouna]
    assert numbers(r"reaches (\S+) and (\S+) without a model") == content
    marco = [round(found["kpqa_marco"][name], 2) for name in ("ROUGE-L-KPQA", "AVA")]
    assert numbers(r"leads the judge, (\S+) against (\S+)\. ") == marco
    pupils = [found[data][name] for data in ("scientsbank", "beetle", "mohler") for name in names.values()]
    assert numbers(r"no metric of this table reaches more than (0\.\d+)") == [round(max(pupils), 2)]
    readme = (repository / "README.md").read_text(encoding="utf-8")
    for label, name in names.items():
        cells = re.search(rf"^\|[^|]*\| \[?{label}\b[^|]*\|([^|]*)\|([^|]*)\|", readme, re.MULTILINE).groups()
        told = [float(cell.strip(" *")) for cell in cells]
        assert told == [round(found[data][name], 2) for data in ("evouna_nq", "kpqa_marco")], label
