"""Tables for papers: LaTeX and HTML of every verb, short captions, and bold that claims no more than a test."""

import re

import genqa_metrics
import numpy as np
import pytest
from genqa_metrics.reports.table import MAX_CAPTION, listed
from genqa_metrics.statistics.resampling import adjust_p_values
from genqa_metrics.verbs.agree.measures import against_best
from genqa_metrics.verbs.compare.tables import systems_table

CAPTION = re.compile(r"\\caption\{(.*)\}")


def scored(systems, questions=40, seed=0):
    """Return rows of systems with a score in column "points": each has a mean, and noise of its own."""
    rng = np.random.default_rng(seed)
    return [
        {"id": str(i), "system": system, "points": float(rng.normal(mean, 1)), "score": float(rng.normal())}
        for system, mean in systems.items()
        for i in range(questions)
    ]


def compared(systems, **options):
    return genqa_metrics.compare(scored(systems), score_columns=["points"], resamples=2000, **options)


@pytest.fixture(scope="module")
def many():
    """Eight systems, the means of neighbours a third of the noise apart."""
    return compared({f"s{i}": i / 3 for i in range(8)})


def captions(latex):
    return CAPTION.findall(latex)


def test_captions_are_short(many):
    agreed = genqa_metrics.agree(scored({"a": 0, "b": 1}), score_columns=["points"], resamples=100)
    judged = [{"question": f"{i}?", "prediction": "x", "references": "x", "j": i % 2, "t": i % 3} for i in range(60)]
    accuracy = genqa_metrics.accuracy(judged, columns={"judge": "j"}, by="t")
    for report in (many, agreed, accuracy):
        latex = report.to_latex()
        assert captions(latex)
        assert latex.count(r"\begin{table}") == latex.count(r"\end{table}") == len(captions(latex))
        assert max(map(len, captions(latex))) <= MAX_CAPTION, captions(latex)


def test_bold_is_the_best_and_what_is_not_significantly_worse(many):
    """By the definition: every pair with the best system whose corrected p is 5% or more."""
    values = {system: found["value"] for system, found in many.scores["points"]["points"].items()}
    best = max(values, key=values.get)
    tied = {best}
    for pair in many.tests["points"]["points"]["pairs"]:
        names = {pair["first"], pair["second"]}
        if best in names and pair["p_corrected"] >= 0.05:
            tied |= names
    assert set(many.ranking("points").leaders) == tied
    assert 1 < len(tied) < 8
    table = systems_table(many, "points")
    assert {table.rows[i][0] for i in table.marked} == tied
    assert table.header[table.bold] == "points"
    latex = many.to_latex().partition(r"\begin{table}")[2].partition(r"\end{table}")[0]
    assert latex.count(r"\textbf{") == 2 * len(tied)  # name and score


def test_a_cluster_is_not_bold_where_its_last_system_is_significantly_worse():
    """Small steps: no line separates all systems, so all are one cluster, and yet the last is worse."""
    report = compared({f"s{i}": i / 4 for i in range(5)})
    systems = report.tests["points"]["points"]["systems"]
    assert {found["cluster"] for found in systems.values()} == {1}
    ranking = report.ranking("points")
    best = ranking.leaders
    assert "s0" not in best
    worse = [system for system in ranking.order if system not in best]
    (said,) = report.findings
    close = f"s4 vs {listed(best[1:])}: too close to call"
    assert said == f"points: {close}; s4 is significantly better than {listed(worse)}."


def test_agree_corrects_over_the_tests_that_are_shown():
    """Four metrics, so six pairs; shown are the three with the best one."""
    rng = np.random.default_rng(1)
    human = rng.normal(size=60)
    rows = [
        {"id": str(i), "question": f"{i}?", "prediction": "x", "score": float(h)}
        | {f"m{k}": float(h + rng.normal(0, 1 + k / 2)) for k in range(4)}
        for i, h in enumerate(human)
    ]
    report = genqa_metrics.agree(rows, score_columns=[f"m{k}" for k in range(4)], resamples=200)
    tests = against_best(report.metrics, report.differences)
    raw = np.array([test["permutation_p"] for test in tests.values()])
    assert [test["permutation_p_holm"] for test in tests.values()] == pytest.approx(adjust_p_values(raw).tolist())
    assert len(tests) == 3
    assert "tests shown" in report.tables()[0].explanation
    assert r"\toprule" in report.to_latex()


def answers(right, of=60, truth="Ann Lee"):
    return [
        {"question": f"Who wrote book {i}?", "references": truth, "prediction": truth if i < right else "Bo Ek"}
        for i in range(of)
    ]


def test_score_marks_only_a_system_that_is_ahead_of_all_others():
    """55 and 50 of 60 may be equally good, so neither is marked, also beside 5 of 60; 55 is better than 5."""
    rows = [row | {"system": str(right)} for right in (55, 50, 5) for row in answers(right)]
    for left_out, best in (("", []), ("5", []), ("50", ["55"])):
        report = genqa_metrics.score([row for row in rows if row["system"] != left_out])
        assert report.best == best
        assert all({table.rows[i][0] for i in table.marked} == {*best} for table in report.tables()[:1])
        assert ("bold: significantly ahead of every other system" in report.to_markdown()) == bool(best)
