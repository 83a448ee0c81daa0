"""The tables on the pages of results are those of the result files beside them."""

import json
from pathlib import Path

import pytest

from training.ava import evaluate_ava
from training.common import around_markers
from training.kpqa import evaluate_kpqa
from training.studies.answer_ranking import error_tables, rank_systems
from training.studies.ava_configurations import compare, data_statistics
from training.studies.judges import choose, compare_judges
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
    ("studies/judges", "choices", "choices", lambda r: choose.table(r["results"])),
    ("studies/judges", "judges", "judges", lambda r: compare_judges.table(r["results"])),
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
