"""Tests that intervals and tests hold where this is hard: the worlds of `tests.programs.interval_simulations`."""

import pytest

from tests.programs import interval_simulations as simulations

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("questions", "rows"), [(10, 1), (20, 1), (40, 1), (100, 1), (10, 5), (20, 5), (40, 5)])
def test_skewed_differences_are_rarely_found_where_there_are_none(questions, rows):
    """Sign flips found .35, .16, .09 and .07 in as many rows, .13 to .16 in few questions of 5 rows."""
    assert simulations.compare_skewed(questions, rows) <= 0.085


def test_many_columns_find_no_more_than_one():
    """Without a correction over columns .20 to .34 had a finding."""
    assert simulations.compare_columns() <= 0.08


@pytest.mark.parametrize("share", [0.7, 0.9, 0.95])
@pytest.mark.parametrize("questions", [5, 8, 12, 20])
def test_equal_answers_to_few_questions(questions, share):
    """By the variance between questions alone .57 to .86 of the intervals held."""
    assert simulations.accuracy_of_alike_answers(questions, share) >= 0.915


@pytest.mark.parametrize("questions", [10, 100])
def test_a_calibration_on_few_questions(questions):
    assert simulations.calibrated_by_question(questions) >= 0.92


@pytest.mark.parametrize("world", simulations.WORLDS)
@pytest.mark.parametrize("rows", [15, 40, 100])
def test_intervals_of_pearson(rows, world):
    """Percentiles and Fisher's error held in .83 to .89 of probabilities, a studentized bootstrap in .89 to .93."""
    assert simulations.agreement(rows, world) >= 0.925


@pytest.mark.parametrize("share", [0.98, 0.99, 1.0])
def test_nearly_perfect_systems(share):
    assert simulations.nearly_perfect(share) >= 0.92
