"""Tables and recommendations of the pages are those of the result files."""

import json
import re
from pathlib import Path

import pytest
from genqa_metrics.toolkit.reports import charts

from training.ava import evaluate_ava
from training.common import around_markers
from training.kpqa import evaluate_kpqa
from training.studies.answer_ranking import error_tables, rank_systems
from training.studies.ava_configurations import compare, data_statistics
from training.studies.judges import attacks, choose, compare_judges, quantity_precision
from training.studies.question_generation.measures import BASES
from training.studies.question_similarity import against_people, check_bases

TRAINING = Path(__file__).parent.parent / "training"
TABLES = [  # folder of results, result file, place on the page, its table
    ("ava", "bundled", "scores", lambda r: evaluate_ava.tables(r["settings"], r["scores"], r["minimal_pairs"])),
    ("kpqa", "agreement", "tables", evaluate_kpqa.tables),
    ("studies/answer_ranking", "errors", "errors", error_tables.tables),
    ("studies/answer_ranking", "systems", "systems", lambda r: rank_systems.tables(r["judged"])),
    ("studies/ava_configurations", "configurations", "configurations", lambda r: compare.tables(r["blocks"])),
    ("studies/ava_configurations", "data", "data", lambda r: data_statistics.table(r["corpora"])),
    ("studies/ava_configurations", "paper_judges", "paper", lambda r: compare_judges.table(r["results"])),
    ("studies/judges", "attacks", "attacks", lambda r: attacks.table(r["results"])),
    ("studies/judges", "choices", "choices", lambda r: choose.table(r["results"])),
    ("studies/judges", "judges", "judges", lambda r: compare_judges.table(r["results"])),
    ("studies/judges", "quantities", "quantities", lambda r: quantity_precision.table(r["results"])),
    ("studies/question_similarity", "bases", "bases", lambda r: check_bases.tables(r, BASES)),
    ("studies/question_similarity", "people", "people", against_people.tables),
]


@pytest.mark.parametrize(("folder", "file", "place", "table"), TABLES, ids=[file for _, file, *_ in TABLES])
def test_the_table_is_that_of_the_result_file(folder, file, place, table):
    results = TRAINING / folder / "results"
    page = (results / "tables.md").read_text(encoding="utf-8")
    before, after = around_markers(results / "tables.md", place)
    shown = page[len(before) : len(page) - len(after)].strip()
    assert shown == table(json.loads((results / f"{file}.json").read_text(encoding="utf-8"))).strip()


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
