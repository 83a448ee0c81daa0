"""Tests of the rankers and of how a judge measures them, on made-up questions."""

import json
import random

import numpy as np
import pytest

from tests.factories.cases import tables
from tests.factories.modules import run_program
from training.ava import ranking
from training.ava.ranking import Question, questions_of
from training.common import write_rows
from training.studies.answer_ranking import rank_systems, rankers

ROWS = tables(__name__)["questions"]


def questions() -> list[Question]:
    return questions_of(ROWS)


def gold_judge(asked, references, answers):
    """Return the gold label: a stand-in for a judge that is never wrong."""
    labels = {(q.text, c): label for q in questions() for c, label in zip(q.candidates, q.labels, strict=True)}
    return [float(labels[pair]) for pair in zip(asked, answers, strict=True)]


@pytest.mark.parametrize("name", [*rankers.RANKERS])
def test_a_ranker_gives_each_candidate_a_number_that_its_seed_fixes(name):
    first, second = rankers.RANKERS[name](questions(), 3), rankers.RANKERS[name](questions(), 3)
    assert [scores.shape for scores in first] == [(4,), (3,), (2,), (1,)]
    assert np.isfinite(np.concatenate(first)).all()
    assert np.array_equal(np.concatenate(first), np.concatenate(second))


@pytest.mark.parametrize("name", ["bm25", "tfidf", "encoder_cosine", "keyphrase_overlap", "word_overlap"])
def test_a_ranker_by_content_puts_the_answer_first(name):
    for question, scores in zip(questions()[:3], rankers.RANKERS[name](questions(), 0), strict=False):
        assert question.labels[int(np.argmax(scores))] == 1


def test_no_candidate_is_its_own_reference():
    first, second, _, _ = questions()[0].candidates
    assert rank_systems.references_of(questions()[0]) == [[second], [first], [first, second], [first, second]]


def test_several_references_by_mean_and_by_the_best():
    """The candidates of the first question have 1, 1, 2 and 2 references, those of the second 2, 1 and 1."""
    found = rank_systems.judged(questions(), lambda asked, references, answers: list(range(len(asked))))
    assert [None if own is None else own.tolist() for own in found["max"]] == [[0, 1, 3, 5], [7, 8, 9], None, None]
    assert found["mean"][0].tolist() == [0, 1, 2.5, 4.5]


def test_sentences_of_paragraphs_become_candidates():
    """The span stands in the second sentence; the third names the answer too and may be right, so it is left out."""
    context = "It was cold. Ann Lee won the cup. Ann Lee smiled. Nobody else came."
    row = {"question": "Who won?", "context": context, "answers": {"text": ["Ann Lee"], "answer_start": [13]}}
    (found,) = rankers.sentence_questions([row], random.Random(0))
    assert dict(zip(found.candidates, found.labels, strict=True)) == {
        "Ann Lee won the cup.": 1,
        "It was cold.": 0,
        "Nobody else came.": 0,
    }


def test_measures_by_hand():
    """Two questions, ranker one.

    Orders put the labels as 1 0 1 0 and 0 1 1: true P@1 1/2, MAP (5/6 + 7/12) / 2, MRR (1 + 1/2) / 2. The judge
    accepts 0.9, 0.8 and 0.7, so it sees 1 1 0 0 and 0 0 1: P@1 1/2, MAP (1 + 1/3) / 2.
    Ranker two: labels 0 0 1 1 and 1 1 0, seen 1 0 1 0 and 0 1 0: the same P@1 and MAP. MAP is 17/24 - 2/3 = 1/24 off.
    """
    orders = {
        "one": [np.array([0, 2, 1, 3]), np.array([0, 1, 2])],
        "two": [np.array([2, 3, 0, 1]), np.array([1, 2, 0])],
    }
    probabilities = [np.array([0.9, 0.1, 0.8, 0.2]), np.array([0.0, 0.3, 0.7])]
    found = rank_systems.measured(questions()[:2], orders, probabilities, 0.5)
    assert found["systems"]["one"]["true"] == pytest.approx({"p_at_1": 0.5, "map": 17 / 24, "mrr": 0.75})
    assert found["systems"]["one"]["estimated"] == pytest.approx({"p_at_1": 0.5, "map": 2 / 3, "mrr": 2 / 3})
    assert (found["questions"], found["answers"], found["sensitivity"]) == (2, 7, 0.5)
    assert found["specificity"] == pytest.approx(2 / 3)
    assert found["agreement"]["p_at_1"]["rmse"] == 0
    assert found["agreement"]["map"]["rmse"] == pytest.approx(1 / 24)


def test_agreement_of_many_samples_is_that_of_each():
    rng = np.random.default_rng(0)
    sides = rng.integers(0, 5, (2, 30, 6)) / 5
    sides[0, 0] = 0.4  # all systems equal: no tau
    found = ranking.resampled_agreement(*sides)
    each = [ranking.rank_agreement(*pair) for pair in zip(*sides, strict=True)]
    assert ranking.rank_agreement([0.3, 0.1 + 0.2, 0.5], [1, 2, 3])["tau"] == pytest.approx(2 / 6**0.5)  # a tie
    assert found["rmse"] == pytest.approx([own["rmse"] for own in each])
    assert found["tau"] == pytest.approx([own["tau"] for own in each], nan_ok=True)


def cheap_rankers() -> dict:
    return {name: rankers.RANKERS[name] for name in ("tfidf", "word_overlap", "bm25")} | {
        "worst": lambda asked, seed: [-np.array(q.labels, dtype=float) for q in asked]
    }


def test_a_judge_that_is_never_wrong_measures_as_people_do():
    corpora = {"made up": {"dev": questions(), "test": questions()}}
    result = rank_systems.compared(corpora, cheap_rankers(), {"gold": gold_judge}, 0)["gold"]
    for how in ("mean", "max"):
        found = result[how]["made up"]["test"]
        assert found["questions"] == 2
        for row in found["agreement"].values():
            assert (row["rmse"], row["tau"]) == pytest.approx((0, 1))
            assert row["rmse_interval"] == pytest.approx([np.nan, np.nan], nan_ok=True)  # of two questions


@pytest.mark.slow
def test_the_command_writes_tables_and_result(tmp_path, monkeypatch, capsys, judges, tiny_encoder):
    monkeypatch.setattr(rankers, "reading_encoder", lambda folder: tiny_encoder)
    for corpus in rank_systems.CORPORA.values():
        for split in ("train", "dev", "test"):
            write_rows(tmp_path / f"{corpus}.{split}.jsonl", ROWS)
    context = "The tower is 90 meters high. A dog ran."
    row = {"question": "how high?", "context": context, "answers": {"text": ["90 meters"], "answer_start": [13]}}
    for source in rankers.SOURCES:
        (tmp_path / f"{source}.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    path = tmp_path / "own.json"
    words = ["--data_dir", str(tmp_path), "--spans_dir", str(tmp_path), "--output_dir", str(tmp_path / "runs")]
    words += ["--judges", f"tiny={judges()}", "--json", str(path)]
    run_program(monkeypatch, rank_systems, ["rank_systems.py", *words])
    models = sorted((tmp_path / "runs").glob("*/model.safetensors"))
    trained = [model.stat().st_mtime_ns for model in models]
    assert "| tiny: questions | measure | mean: RMSE" in capsys.readouterr().out
    result = json.loads(path.read_text(encoding="utf-8"))
    systems = set(result["judged"]["tiny"]["mean"]["WikiQA"]["test"]["systems"])
    assert systems == {*rankers.RANKERS, "compare_aggregate", "cross_encoder", "transferred", "tanda", "ensemble"}
    assert set(result["rankers"]) == {f"compare_aggregate_{part}" for part in ("transferred", "adapted")} | {
        "cross_encoder",
        "transferred",
        "tanda",
    }
    assert len(result["data"]) == 6 + len(rankers.SOURCES)
    assert str(tmp_path.parent) not in json.dumps(result)

    rank_systems.STUDY.main()  # the models are there
    assert [model.stat().st_mtime_ns for model in models] == trained
    assert json.loads(path.read_text(encoding="utf-8"))["judged"] == result["judged"]
