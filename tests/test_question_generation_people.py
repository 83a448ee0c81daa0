"""F-meta against people: the judged sets by hand, the estimates, the whole command on made-up rows."""

import gzip
import json
import sys

import numpy as np
import pytest

from training.studies.question_similarity import against_people as people
from training.studies.question_similarity import coverage, question_bases


def same(predictions, references):
    """Share of the words that two texts have in common."""
    words = [[set(text.split()) for text in texts] for texts in (predictions, references)]
    return [len(a & b) / len(a | b) for a, b in zip(*words, strict=True)]


QUIZ = [
    {
        "context": "c",
        "answer": "a",
        "predictions": {"m1": ["good one"], "m2": ["good two"], "m3": ["bad"], "m4": ["divided"]},
        "human": {"m1": [{"accept": 1}], "m2": [{"accept": 1}], "m3": [{"accept": 0}], "m4": [{"accept": 1}]},
    },
    # the same answer with another group of teachers, and one with nothing to compare with
    {"context": "c", "answer": "a", "predictions": {"m4": ["divided"]}, "human": {"m4": [{"accept": 0}]}},
    {
        "context": "d",
        "answer": "a",
        "predictions": {"m1": ["good"], "m2": ["bad"]},
        "human": {"m1": [{"accept": 1}], "m2": [{"accept": 0}]},
    },
]


def test_accepted_and_rejected_questions_have_the_same_references():
    task = people.quiz(QUIZ)
    assert list(zip(task.firsts, task.seconds, task.rows.tolist(), strict=True)) == [
        ("good one", "good two", 0),
        ("bad", "good two", 1),
        ("good two", "good one", 2),
        ("bad", "good one", 3),
    ]
    assert task.human.tolist() == [1, 0, 1, 0]
    assert task.clusters.tolist() == [0, 0, 0, 0]
    assert task.scores(same).tolist() == [1 / 3, 0, 1 / 3, 0]


def test_the_best_reference_counts():
    task = people.Task("", "order", ["a", "a"], ["b", "a"], np.array([0, 0]), np.zeros(1), np.zeros(1, int))
    assert task.scores(same).tolist() == [1.0]


def rating(variety, relevance=1.0, correctness=1.0):
    return {"variety": variety, "relevance": relevance, "correctness": correctness}


def qgstec(i, variety):
    """A sentence with two questions by one system and three good ones, a bad one and one of another type by others."""
    second = "who lost it" if variety < 2 else "who won it"
    return {
        "context": f"sentence {i}",
        "predictions": {"a": ["who won it", second], "b": ["who won it", "who lost it", "it", "why"]},
        "types": {"a": ["who", "who"], "b": ["who", "who", "who", "why"]},
        "human": {
            "a": [rating(variety), rating(variety)],
            "b": [rating(1.0), rating(2.0), rating(1.0, relevance=4.0), rating(1.0)],
        },
    }


ROWS = [qgstec(i, 1.0 if i % 2 else 3.0) for i in range(12)]


def test_pairs_and_sets_of_qgstec_by_hand():
    task = people.likeness(ROWS[:1])
    assert list(zip(task.firsts, task.seconds, task.human.tolist(), strict=True)) == [
        ("who won it", "who won it", 3.0),
        ("who won it", "who lost it", 1.5),
        ("who won it", "it", 1.0),
        ("who lost it", "it", 1.5),
    ]
    sets = people.sets_of_one_type(ROWS[1:2])
    assert sets.predictions[0] == ["who won it", "who lost it"]
    assert sets.references[0] == ["who won it", "who lost it"]  # not the bad one, not the one of another type
    assert sets.variety[0] == 2.0
    whole = people.sets_of_systems(ROWS[1:2])
    assert whole.predictions == [["who won it", "who lost it"], ["who won it", "who lost it", "it", "why"]]
    assert whole.references == [["who won it", "who lost it", "why"], ["who won it", "who lost it"]]
    assert whole.variety.tolist() == [2.0, 2.0]
    assert len(people.sets_of_systems(ROWS[:1]).predictions) == 1  # for b there is one reference only


def test_recall_sees_variety_and_precision_does_not():
    sets = people.Sets(
        [["who won it", "who lost it"], ["who won it", "who won it"]] * 10,
        [["who won it", "who lost it"]] * 20,
        np.array([2.0, 0.0] * 10),
        np.arange(20),
    )
    found = people.of_sets(sets, "made", same, 200, 0)
    assert found["recall"]["value"] == 1
    assert np.isnan(found["precision"]["value"])  # constant
    assert found["f"]["value"] == 1


def test_estimates_with_the_difference_to_the_default():
    rng = np.random.default_rng(0)
    human = rng.random(60)
    task = people.Task("", "spearman", [], [], np.arange(60), human, np.arange(60) // 2)
    found = people.estimates({"rouge": human + rng.random(60), "perfect": human}, task, 300, 0)
    assert found["perfect"]["value"] == 1
    assert found["perfect"]["interval"] == [1.0, 1.0]
    assert "difference" not in found["rouge"]
    low, high = found["perfect"]["difference"]["interval"]
    assert 0 < low < 1 - found["rouge"]["value"] < high
    rows = people.Task("", "order", [], [], np.arange(60), np.tile([1.0, 0.0], 30), np.repeat(np.arange(15), 4))
    assert people.estimates({"perfect": np.tile([0.3, 0.1], 30)}, rows, 50, 0)["perfect"]["value"] == 1


def test_the_whole_command(tmp_path, monkeypatch, capsys, tiny_encoder):
    (tmp_path / "question_generation").mkdir()
    (tmp_path / "sentence_pairs").mkdir()
    words = "who won lost the cup in may june".split()
    rng = np.random.default_rng(1)

    def text():
        return " ".join(rng.choice(words, 4))

    simqg = [
        {
            "context": f"c{i}",
            "references": [text()],
            "predictions": {"generated": [text()]},
            "human": {"generated": [{"similarity": float(rng.random())}]},
        }
        for i in range(12)
    ]
    qgeval = [
        {
            "context": f"c{i}",
            "references": [text()],
            "predictions": {name: [text()] for name in ("x", "y", "reference")},
            "human": {
                name: [{"fluency": float(rng.random()), "answer_consistency": float(rng.random())}]
                for name in ("x", "y", "reference")
            },
        }
        for i in range(8)
    ]
    sets = {"simqg.dev": simqg, "qgeval.dev": qgeval, "quiz_design.dev": QUIZ, "qgstec2010.dev": ROWS}
    pairs = [
        {
            "first": (a := text()),
            "second": a if i % 2 else text(),
            "label": "paraphrase" if i % 2 else "not_paraphrase",
        }
        for i in range(40)
    ]
    for folder, files in (
        ("question_generation", sets),
        ("sentence_pairs", dict.fromkeys(("quora.train", "quora.dev", "paws_wiki.train"), pairs)),
    ):
        for name, rows in files.items():
            with gzip.open(tmp_path / folder / f"{name}.jsonl.gz", "wt") as file:
                file.writelines(json.dumps(row) + "\n" for row in rows)

    def vectors(texts):
        found = np.array([[text.split().count(word) for word in words] for text in texts], float) + 0.01
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    monkeypatch.setattr(question_bases, "sentence_vectors", vectors)
    output = tmp_path / "people.json"
    monkeypatch.setattr("genqa_metrics.core.encoders.base_encoder", lambda: tiny_encoder)
    bases = ["rouge", "bleu", "cosine", "judge", "cross_encoder", "mean"]
    arguments = ["--data_dir", str(tmp_path), "--bases", *bases]
    arguments += ["--resamples", "50", "--json", str(output)]
    monkeypatch.setattr(sys, "argv", ["against_people", *arguments])
    people.STUDY.main()

    def numbers(found):
        found = found if isinstance(found, dict) else json.loads(found.read_text())
        return {name: value for name, value in found.items() if name != "command"}

    results = json.loads(output.read_text())
    assert results["judges"]["judge"]["dev_accuracy"] > 0.9
    assert results["judges"]["cross_encoder"]["pairs"] == 80
    assert len(results["data"]) == 7
    assert set(results["pairs"]) >= {"SimQG: similarity of two questions", "Quiz design: accepted before rejected"}
    assert str(tmp_path) not in output.read_text()
    assert results["sets"]["two questions of one type"]["units"] == 30  # 12 by a, 18 by b
    parts = results["sets"]["all questions about a sentence"]["bases"]["rouge"]
    assert parts["recall - precision"]["value"] == pytest.approx(
        parts["recall"]["value"] - parts["precision"]["value"], abs=2e-4
    )
    text = capsys.readouterr().out
    assert text.count("| paraphrase judge, frozen encoder |") == 4
    assert text.count("| paraphrase judge, cross-encoder |") == 4
    # Killed and begun again: nothing is computed twice.
    monkeypatch.setattr(sys, "argv", ["against_people", *arguments, "--cache", str(tmp_path / "cache")])
    people.STUDY.main()
    assert numbers(output) == numbers(results)
    question_bases._judge.cache_clear()
    for name in ("features", "cosine", "sentence_vectors", "trained_judge", "trained_cross_encoder"):
        monkeypatch.setattr(question_bases, name, None)
    people.STUDY.main()
    assert numbers(output) == numbers(results)


def test_an_unknown_base_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"bases: expected some of bleu, .*, got 'blue'"):
        question_bases.functions(["blue"], tmp_path)


def test_the_judge_does_not_mind_the_order_of_two_questions(monkeypatch):
    rng = np.random.default_rng(0)
    known = {}
    monkeypatch.setattr(
        question_bases,
        "sentence_vectors",
        lambda texts: np.stack([known.setdefault(text, rng.normal(size=5)) for text in texts]),
    )
    left, right = ["who won it ?", "why ?"], ["who lost ?", "why was it ?"]
    np.testing.assert_allclose(question_bases.features(left, right), question_bases.features(right, left))


def test_the_cross_encoder_learns_and_does_not_mind_the_order(tmp_path, monkeypatch, tiny_encoder):
    texts = ["who won the game ?", "where is the tower ?"]
    rows = [
        {"first": a, "second": b, "label": "paraphrase" if a == b else "not_paraphrase"} for a in texts for b in texts
    ]
    for name in ("quora.train", "quora.dev", "paws_wiki.train"):
        with gzip.open(tmp_path / f"{name}.jsonl.gz", "wt") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows * (1 if name == "quora.dev" else 200))
    monkeypatch.setattr("genqa_metrics.core.encoders.base_encoder", lambda: tiny_encoder)
    judge, facts = question_bases.trained_cross_encoder(tmp_path, cache=tmp_path / "cache")
    assert facts["dev_accuracy"] == 1
    there, back = judge(texts, texts[::-1]), judge(texts[::-1], texts)
    np.testing.assert_allclose(there, back, rtol=1e-5)
    assert (there < 0.5).all()
    assert (judge(texts, texts) > 0.5).all()
    monkeypatch.setattr("transformers.Trainer.train", None)  # it is there: not trained again
    again, _ = question_bases.trained_cross_encoder(tmp_path, cache=tmp_path / "cache")
    np.testing.assert_array_equal(again(texts, texts[::-1]), there)


def test_sets_of_the_study_of_coverage_ask_what_they_say():
    """Answer i has the questions "iA", the reference, "iB" and "iC"."""
    passages = [[[f"{i}{letter}" for letter in "ABC"] for i in range(12)]]
    single, double = coverage.sets_of(passages, seed=0)
    assert (len(single), len(double)) == (coverage.SETS, 2 * coverage.SETS)
    for one in [*single, *double]:
        wanted = {text[:-1] for text in one.references}
        assert len({text[:-1] for text in one.predictions} & wanted) == one.asked
        assert sum(text[:-1] in wanted for text in one.predictions) >= one.relevant
    for copies, words in zip(double[::2], double[1::2], strict=True):
        assert copies.asked < words.asked
        assert len(copies.predictions) >= len(words.predictions)
        assert copies.references[0] in copies.predictions
        assert not set(words.predictions[: words.asked]) & set(words.references)
