"""F-meta against people: the judged sets by hand, the estimates, the whole command on made-up rows."""

import json

import numpy as np

from tests.factories.cases import tables
from tests.factories.modules import run_program
from training.common import write_rows
from training.studies.question_similarity import against_people as people
from training.studies.question_similarity import coverage


def same(predictions, references):
    """Share of the words that two texts have in common."""
    words = [[set(text.split()) for text in texts] for texts in (predictions, references)]
    return [len(a & b) / len(a | b) for a, b in zip(*words, strict=True)]


# Its second row is the same answer with another group of teachers, and has nothing to compare with.
QUIZ = tables(__name__)["quiz"]


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


def test_pairs_of_qgstec_by_hand():
    task = people.likeness(ROWS[:1])
    assert list(zip(task.firsts, task.seconds, task.human.tolist(), strict=True)) == [
        ("who won it", "who won it", 3.0),
        ("who won it", "who lost it", 1.5),
        ("who won it", "it", 1.0),
        ("who lost it", "it", 1.5),
    ]


def test_the_whole_command(tmp_path, monkeypatch, capsys, tiny_encoder):
    words = "who won lost the cup in may june".split()
    rng = np.random.default_rng(1)

    def text():
        return " ".join(rng.choice(words, 4))

    simqg = [
        {"context": f"c{i}", "references": [text()], "predictions": {"generated": [text()]}}
        | {"human": {"generated": [{"similarity": float(rng.random())}]}}
        for i in range(12)
    ]
    names = ("x", "y", "reference")
    qgeval = [
        {"context": f"c{i}", "references": [text()], "predictions": {name: [text()] for name in names}}
        | {"human": {name: [{n: float(rng.random()) for n in ("fluency", "answer_consistency")}] for name in names}}
        for i in range(8)
    ]
    sets = {"simqg.dev": simqg, "qgeval.dev": qgeval, "quiz_design.dev": QUIZ, "qgstec2010.dev": ROWS}
    for name, rows in sets.items():
        write_rows(tmp_path / "question_generation" / f"{name}.jsonl.gz", rows)

    output = tmp_path / "people.json"
    monkeypatch.setattr("genqa_metrics.core.checkpoints.base_encoder", lambda: tiny_encoder)
    monkeypatch.setattr(people, "BERTSCORE_LAYER", 2)
    bases = ["rouge", "bleu", "bertscore", "cosine", "mean"]
    arguments = ["--data_dir", str(tmp_path), "--bases", *bases]
    arguments += ["--resamples", "50", "--json", str(output)]
    run_program(monkeypatch, people, ["against_people", *arguments])

    results = json.loads(output.read_text())
    assert set(results["data"]) == set(people.SETS)
    assert set(results["pairs"]) >= {"SimQG: similarity of two questions", "Quiz design: accepted before rejected"}
    assert str(tmp_path) not in output.read_text()
    assert capsys.readouterr().out.count("| BERTScore |") == 2


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
