"""Labelling until something is decided, and labels that are spread over questions."""

from collections import Counter

import genqa_metrics
import numpy as np
import pytest
from genqa_metrics.statistics.sequential import controlled, log_wealth
from genqa_metrics.verbs.label.labelling import Session, plan
from genqa_metrics.verbs.label.page import State
from genqa_metrics.verbs.label.stopping import lowest_accuracy, plan_until

from tests.factories.files import run, save
from tests.programs import sequential_simulations as simulations


class Answer:
    """An answer to a question, as `read_answers` returns it."""

    def __init__(self, system, question, number=0):
        self.system, self.text, self.id = system, f"question {question}?", None
        self.references, self.predictions = ["r"], [f"answer {number} of {system}"]
        self.human, self.file = (None, None), "rows.jsonl"


def answers(systems="a", questions=20, of_each=1):
    return [Answer(s, q, n) for s in systems for q in range(questions) for n in range(of_each)]


def test_labels_are_spread_over_questions_first():
    """30 labels of 20 questions with 10 answers each came from 3 questions."""
    asked = Counter(task.question for task in plan(answers("a", 20, 10), None, 30, 0))
    assert sorted(asked.values()) == [1] * 10 + [2] * 10
    judged = np.random.default_rng(0).random(200)
    assert len({task.question for task in plan(answers("a", 20, 10), judged, 12, 0)}) == 12


@pytest.mark.parametrize("number", [7, 30, 45])
def test_probabilities_of_spread_labels_are_right(number):
    """Over many seeds an answer is drawn as often as its task says; questions have 1 to 6 answers."""
    rows = [Answer("a", q, n) for q in range(20) for n in range(1 + q % 6)]
    judged = np.random.default_rng(0).random(len(rows))
    often, weights = Counter(), []
    for seed in range(400):
        tasks = plan(rows, judged, number, seed)
        assert len(tasks) == min(number, len(rows))
        often.update(task.answer + task.question for task in tasks)
        weights.append(sum(1 / task.probability for task in tasks))
    assert np.mean(weights) == pytest.approx(len(rows), rel=0.05)
    alone = [often[row.predictions[0] + row.text] / 400 for row in rows if row.text == "question 5?"]
    assert np.ptp(alone) < 0.2


def test_the_weight_of_the_judge_rests_on_earlier_labels_only():
    rng = np.random.default_rng(0)
    labels, judged, fresh = (rng.random(20) < 0.5).astype(float), rng.random(20), rng.random(20)
    _, weight = controlled(labels, judged, fresh, 4)
    for changed in (labels, judged, fresh):
        changed[-1] = 1 - changed[-1]
        assert controlled(labels, judged, fresh, 4)[1] == pytest.approx(weight)


def test_more_labels_keep_earlier_ones_and_systems_share_questions():
    rows = answers("ab", 20, 10)
    few, many = ({task.key for task in plan(rows, None, number, 3)} for number in (15, 33))
    assert few < many
    asked = {s: {t.question for t in plan(rows, None, 15, 3) if t.columns["system"] == s} for s in "ab"}
    assert asked["a"] == asked["b"]


@pytest.mark.parametrize(
    ("until", "message"), [("low=75", "between 0 and 1"), ("high=0.5", "low=0.75"), ("low", "low=")]
)
def test_a_rule_that_is_none_is_named(until, message):
    with pytest.raises(ValueError, match=f"^--until: expected .*{message}"):
        lowest_accuracy(until)


def test_decided_needs_two_systems_that_answer_the_same_questions():
    with pytest.raises(ValueError, match="expected two systems, got 1"):
        plan_until(answers("a"), np.ones(20), "decided", 0)
    rows = [*answers("a", 5), *(Answer("b", q + 100) for q in range(5))]
    with pytest.raises(ValueError, match="no question in common"):
        plan_until(rows, np.ones(10), "decided", 0)


def test_rows_are_labelled_in_random_order_until_it_is_decided(tmp_path):
    """All answers are right: after some labels the accuracy is at least .75, and no row is asked for any more."""
    rows = answers("a", 60, 3)
    tasks, rule = plan_until(rows, np.full(180, 0.9), "low=0.75", 0)
    assert len({task.question for task in tasks}) == len(tasks) == 60
    assert [task.question for task in tasks] != sorted(task.question for task in tasks)
    session = Session(tmp_path / "labels.jsonl", tasks, "ann", rule=rule)
    while (task := session.next()) is not None:
        session.label(task, 1)
    assert 8 <= len(session.done) <= 20
    assert session.outcomes()[0].startswith(
        f"a: the accuracy is at least 75% ({len(session.done)} questions; accuracy "
    )
    assert [row["item"] for row in session.done.values()] == [task.key for task in tasks[: len(session.done)]]


def test_a_row_that_was_skipped_is_waited_for(tmp_path):
    """Rows that are left out because they are hard would make the order no random one."""
    tasks, rule = plan_until(answers("a", 60), np.full(60, 0.9), "low=0.75", 0)
    session = Session(tmp_path / "labels.jsonl", tasks, "ann", rule=rule)
    for task in tasks[1:]:
        session.label(task, 1)
    assert "not decided (0 questions" in session.outcomes()[0]
    assert session.next() == tasks[0]
    session.label(tasks[0], 1)
    assert session.next() is None


def test_two_systems_are_labelled_until_one_is_better(tmp_path):
    rows = [*answers("a", 100), *answers("b", 100)]
    tasks, rule = plan_until(rows, np.full(200, 0.5), "decided", 0)
    state = State(tmp_path / "labels.jsonl", tasks, "verdict", rule=rule)
    state.start("ann")
    assert "1 of at most 200" in state.shown()[1]
    while state.task is not None:
        state.press(int(state.task.columns["system"] == "b"))
    assert "b is better than a" in state.shown()[1]
    done = state.session.done.values()
    assert Counter(row["question"] for row in done).most_common()[-1][1] == 2
    assert len(done) < 60


def test_the_command_stops_and_says_what_was_decided(tmp_path, judges):
    rows = [{"question": f"what is {n}?", "references": ["r"], "prediction": "r", "system": "a"} for n in range(40)]
    path, labels = save(tmp_path / "rows.jsonl", rows), tmp_path / "labels.jsonl"
    arguments = ["label", path, "-o", labels, "--until", "low=0.75", "-s", f"ava.checkpoint={judges()}"]
    out, err = run(*arguments, input="y\n" * 40)
    screen = " ".join((out + err).split())
    assert "1 of at most 40" in screen
    assert "a: the accuracy is at least 75%" in screen
    assert "a number of labels that was decided before looking" in screen
    assert 8 <= len(labels.read_text().splitlines()) < 40
    assert "expected --form verdict" in run(*arguments, "--form", "grade", status=2)[1]


@pytest.mark.parametrize("judge", simulations.JUDGES)
def test_at_most_5_percent_of_decisions_are_wrong(judge):
    assert simulations.wrong_decisions(0.75, judge, repeats=500) <= 0.06
    assert simulations.wrong_differences(0.75, judge, repeats=500) <= 0.06


@pytest.mark.slow
@pytest.mark.parametrize("judge", simulations.JUDGES)
@pytest.mark.parametrize("questions", [60, 200, 500])
@pytest.mark.parametrize("share", [0.5, 0.75, 0.9])
def test_at_most_5_percent_of_many_decisions_are_wrong(share, questions, judge):
    assert simulations.wrong_decisions(share, judge, questions) <= 0.05
    assert simulations.wrong_differences(share, judge, questions) <= 0.05


def test_the_judge_makes_the_limits_narrower_than_those_of_a_plain_mixture():
    for share in (0.5, 0.8):
        with_judge, plain = (
            simulations.width(share, name, 30) for name in ("usual judge (.9, .8)", simulations.PLAIN)
        )
        assert with_judge < plain
    (_, few), (_, many) = (
        simulations.labels_needed(0.9, name) for name in ("usual judge (.9, .8)", simulations.PLAIN)
    )
    assert few < 0.8 * many


@pytest.mark.parametrize("until", ["low=0.75", "decided"])
def test_labels_carry_the_rule_that_stopped_them(tmp_path, until):
    """`accuracy` says that its interval does not hold, and has the one that does: that which `label` printed."""
    path, rows = tmp_path / "labels.jsonl", answers("ab", 300)
    judged = np.random.default_rng(1).random(600).round(3)
    tasks, rule = plan_until(rows, judged, until, 3)
    session = Session(path, tasks, "ann", rule=rule)
    while (task := session.next()) is not None:
        session.label(task, int(task.columns["system"] == "a"))
    *printed, _ = session.outcomes()
    file = [
        {"question": row.text, "references": row.references, "prediction": row.predictions[0], "system": row.system}
        | {"by": float(value)}
        for row, value in zip(rows, judged, strict=True)
    ]
    report = genqa_metrics.accuracy(file, str(path), columns={"judge": "by"})
    assert {row["genqa_until"] for row in session.done.values()} == {f"{until} seed=3"}
    (said,) = (note for note in report.notes if "can miss the truth" in note)
    assert said.startswith(
        f"labelling stopped by --until {until}: intervals and tests here are for a number of labels"
    )
    assert set(printed) < set(report.notes)
    assert all(line in " ".join(str(report).split()) for line in (said[20:60], printed[0][2:40]))
    one = genqa_metrics.accuracy(file[:300], str(path), columns={"judge": "by"})
    assert any("at any number of labels" in note for note in one.notes)


def test_a_fixed_number_of_labels_names_no_rule_and_a_changed_rule_is_refused(tmp_path):
    path, rows = tmp_path / "labels.jsonl", answers("a", 40)
    session = Session(path, plan(rows, None, 10, 0), "ann")
    for task in session.tasks:
        session.label(task, 1)
    file = [
        {"question": row.text, "references": row.references, "prediction": row.predictions[0], "system": "a", "by": 1}
        for row in rows
    ]
    labels = list(session.done.values())
    report = genqa_metrics.accuracy(file, labels, columns={"judge": "by"})
    assert not any("until" in note for note in (*labels[0], *report.notes))
    for text in ("low=0.75", "low=2 seed=0", "often seed=1", "decided seed=x"):
        with pytest.raises(ValueError, match=f"labels: genqa_until: expected a rule .*, got '{text}'"):
            genqa_metrics.accuracy(file, [row | {"genqa_until": text} for row in labels], columns={"judge": "by"})


@pytest.mark.parametrize(("side", "mean", "least"), [(1, 0.6, 0.0), (-1, 0.8, 0.0), (1, 0.1, -1.0)])
def test_wealth_is_that_of_bets_that_only_earlier_labels_decide(side, mean, least):
    """Label by label: two fixed stakes with .4 of the wealth, and a bet by earlier gains and squares with the rest."""
    rng = np.random.default_rng(0)
    moved, weight = rng.uniform(least, 1, 40), rng.uniform(0, 0.3, 40)
    fixed, learned, wealth = np.ones(2), 1.0, []
    gains, squares, scale = 0.0, 0.0, 1 - least
    for n, (label, w) in enumerate(zip(moved, weight, strict=True)):
        gain = side * (label - mean)
        worst = (mean - least if side > 0 else 1 - mean) + scale * w
        bet = (gains + 3 * 0.15 * scale) / (n + 3) / ((squares + 3 * 0.16 * scale**2) / (n + 3))
        learned *= 1 + min(max(bet, 0), 0.95 / worst) * gain
        fixed *= 1 + np.array([0.4, 0.8]) / worst * gain
        gains, squares = gains + gain, squares + gain**2
        wealth.append(0.4 * fixed.mean() + 0.6 * learned)
    assert log_wealth(moved, weight, mean, side, least) == pytest.approx(np.log(wealth))
