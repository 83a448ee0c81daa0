"""Tests of the experiment with rankers that were fitted to the test questions."""

import numpy as np

from tests.factories.answer_sentences import gold_judge, questions
from training.studies.answer_ranking import overfitted
from training.studies.answer_ranking.candidates import Question


def test_nothing_is_chosen_that_was_trained_on():
    """Twins of the reference are left out too; every second wrong answer is trained on."""
    question = Question("q", ("In 1850.", "in 1850", "It was 1850", "a", "b", "c"), (1, 1, 1, 0, 0, 0))
    known, rest = overfitted.split_answers(question, np.random.default_rng(0))
    assert known.candidates[0] == "In 1850."
    assert known.labels == (1, 0, 0)
    assert rest.candidates[0] == "It was 1850"
    assert len(rest.candidates) == 2
    assert not set(known.candidates) & set(rest.candidates)


def test_a_judge_that_is_never_wrong_is_not_fooled(tmp_path, monkeypatch):
    """Rankers by hand: the fitted ones put the last answer first, the one before the first."""
    made = []

    def trained(given, folder, seed, start, epochs):
        made.append((folder.name, [q.labels for q in given]))
        return folder

    def ranked(given, seed, folder):
        sign = -1 if folder.name == "tanda" else 1
        return [sign * np.arange(len(q.labels), dtype=float) for q in given]

    monkeypatch.setattr(overfitted, "trained_cross_encoder", trained)
    monkeypatch.setattr(overfitted, "cross_encoder", ranked)
    found = overfitted.experiment(questions(), questions(), gold_judge, tmp_path, 0)
    answers, verdicts = found["one answer of every question"], found["the judge's verdicts"]
    assert answers["judge with the answer as reference"][0] == 1
    assert answers["ranker fitted to the answer"][0] == 0
    assert answers["judge - fitted"][0] == 1
    assert [name for name, _ in made] == ["fitted_to_answers", "fitted_to_verdicts"]
    assert made[1][1] == [(1, 1, 0, 0), (0, 1, 1)]  # the judge's verdicts are people's
    for name in ("the same before", "ranker fitted to the judge's verdicts"):
        assert verdicts[name]["judge - people"][0] == 0
