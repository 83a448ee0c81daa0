"""Tests of the rankers and of how a judge measures them, on made-up questions."""

import json
import random
import sys

import numpy as np
import pytest
from scipy import stats

from tests.factories.answer_sentences import ROWS, gold_judge, questions
from training.ava import ranking
from training.studies.answer_ranking import candidates, compare_aggregate, rank_systems, rankers
from training.studies.answer_ranking.candidates import Question


def overlap_judge(asked, references, answers):
    """Return the token F1 with the reference: a stand-in for a judge that errs."""
    pairs = [(set(candidates.words(r)), set(candidates.words(a))) for r, a in zip(references, answers, strict=True)]
    return [2 * len(r & a) / (len(r) + len(a)) for r, a in pairs]


def test_equal_answers_are_one_and_correct_if_one_of_them_is():
    rows = [{"question": "q", "answer": "a b", "label": label} for label in (0, 1, 0)]
    assert candidates.questions_of(rows) == [Question("q", ("a b",), (1,))]


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


def test_word_overlap_by_hand():
    """Of who, wrote, the, blue, book the second sentence has the, blue, book: 3/5, less 8 words of 1e-6."""
    assert rankers.word_overlap(questions(), 0)[0][1] == pytest.approx(0.6 - 8e-6)


def test_bm25_by_hand():
    """Two texts of 2 and 1 words.

    k1 1.5, b 0.75, Lucene's idf ln(1 + (2 - 1 + 0.5) / (1 + 0.5)) = ln 2 for "a":
    its weight in the first text is ln 2 / (1 + 1.5 * (0.25 + 0.75 * 2 / 1.5)) = ln 2 / 2.875.
    """
    scores = rankers.bm25([Question("a", ("a b", "b"), (1, 0))], 0)[0]
    assert scores.tolist() == pytest.approx([np.log(2) / 2.875, 0])


def test_training_pairs_are_all_correct_answers_and_some_others():
    many = Question("q", ("yes", *(f"no {i}" for i in range(20))), (1, *[0] * 20))
    pairs = rankers.training_pairs([many, Question("none", ("no",), (0,))], seed=0)
    assert pairs[0] == ("q", "yes", 1)
    assert len(pairs) == len(set(pairs)) == 1 + rankers.NEGATIVES
    assert pairs == rankers.training_pairs([many], seed=0)


def test_no_candidate_is_its_own_reference():
    first, second, _, _ = questions()[0].candidates
    assert rank_systems.references_of(questions()[0]) == [[second], [first], [first, second], [first, second]]


def test_answers_of_the_same_words_are_no_reference_for_each_other():
    assert rank_systems.references_of(Question("q", ("In 1850.", "in 1850", "no"), (1, 1, 0))) is None


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


def test_an_ensemble_ranks_by_mean_rank():
    """Ranks 1 2 3 and 2 3 1 of three: means 1.5, 2.5 and 2 of 3."""
    members = [lambda asked, seed: [np.array([0.1, 5, 9])], lambda asked, seed: [np.array([0.2, 0.3, 0.1])]]
    (found,) = rankers.ensemble([Question("q", ("a", "b", "c"), (1, 0, 0))], 0, members)
    assert found == pytest.approx([1.5 / 3, 2.5 / 3, 2 / 3])


def test_compare_aggregate_does_not_read_padding():
    import torch

    torch.manual_seed(0)
    network = compare_aggregate.network_class()(compare_aggregate._vectors()[1].shape[1]).eval()
    question, (short, long, *_) = "who wrote the blue book?", questions()[0].candidates
    both = network(*compare_aggregate._inputs(question, [short, f"{long} {long}"]))
    assert both[0].item() == pytest.approx(network(*compare_aggregate._inputs(question, [short])).item(), abs=1e-5)


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
    assert ranking.rank_agreement([0.3, 0.1 + 0.2, 0.5], [1, 2, 3]).tau == pytest.approx(2 / 6**0.5)  # a tie
    assert found["rmse"] == pytest.approx([own.rmse for own in each])
    assert found["tau"] == pytest.approx([own.tau for own in each], nan_ok=True)


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


def test_the_threshold_of_dev_is_that_of_test():
    shifted = [Question(q.text, q.candidates, tuple(1 - label for label in q.labels)) for q in questions()]
    corpora = {"made up": {"dev": questions()[:2], "test": shifted}}
    found = rank_systems.compared(corpora, cheap_rankers(), {"x": overlap_judge}, 0)["x"]["mean"]["made up"]
    assert found["test"]["threshold"] == found["dev"]["threshold"]
    own = rank_systems.compared(
        {"made up": {"dev": shifted, "test": shifted}}, cheap_rankers(), {"x": overlap_judge}, 0
    )
    assert own["x"]["mean"]["made up"]["dev"]["threshold"] != found["dev"]["threshold"]


def test_the_command_writes_tables_and_result(tmp_path, monkeypatch, capsys, judges, tiny_encoder):
    monkeypatch.setattr(rankers, "reading_encoder", lambda folder: tiny_encoder)
    for corpus in rank_systems.CORPORA.values():
        for split in ("train", "dev", "test"):
            lines = [json.dumps(dict(zip(("question", "answer", "label"), row, strict=True))) for row in ROWS]
            (tmp_path / f"{corpus}.{split}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    context = "The tower is 90 meters high. A dog ran."
    row = {"question": "how high?", "context": context, "answers": {"text": ["90 meters"], "answer_start": [13]}}
    for source in rankers.SOURCES:
        (tmp_path / f"{source}.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    path = tmp_path / "own.json"
    words = ["--data_dir", str(tmp_path), "--spans_dir", str(tmp_path), "--output_dir", str(tmp_path / "runs")]
    words += ["--judges", f"tiny={judges()}", "--json", str(path)]
    monkeypatch.setattr(sys, "argv", ["rank_systems.py", *words])
    rank_systems.STUDY.main()
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


def test_the_stored_agreement_is_that_of_the_stored_measures(repository):
    """Sums that differ in their last digits are ties: without that tau-b of one table is 0.689, not 0.719."""

    def tau_b(a: list[float], b: list[float]) -> float:
        """Pairs of systems in the same order less those in the other one, by those that are no tie in a or in b."""
        pairs = [(a[i] - a[j], b[i] - b[j]) for i in range(len(a)) for j in range(i)]
        signs = np.array([[np.sign(d) * (abs(d) > 1e-9) for d in pair] for pair in pairs])
        return signs.prod(axis=1).sum() / np.sqrt(np.abs(signs).sum(axis=0).prod())

    path = repository / "training/studies/answer_ranking/results/small_and_base.json"
    compared = 0
    for by_reference in json.loads(path.read_text(encoding="utf-8"))["judged"].values():
        for splits in (splits for corpora in by_reference.values() for splits in corpora.values()):
            for found in splits.values():
                for name, stored in found["agreement"].items():
                    sides = [[own[side][name] for own in found["systems"].values()] for side in ("estimated", "true")]
                    own = ranking.rank_agreement(*sides)
                    assert (own.tau, own.rmse) == pytest.approx((stored["tau"], stored["rmse"]), abs=1e-6)
                    known = stats.kendalltau(*np.round(sides, 9))
                    assert (known.statistic, known.pvalue) == pytest.approx((stored["tau"], stored["p"]), abs=1e-6)
                    assert tau_b(*sides) == pytest.approx(stored["tau"], abs=1e-6)
                    compared += 1
    assert compared >= 24
