"""Tests that intervals and tests hold where this is hard: the worlds of `tests.programs.interval_simulations`."""

import pytest

from tests.programs.interval_simulations import SIMULATIONS

CASES = [(function, case, bounds) for _, function, cases, bounds in SIMULATIONS for case in cases]


@pytest.mark.slow
@pytest.mark.parametrize(("function", "case", "bounds"), CASES, ids=lambda value: getattr(value, "__name__", None))
def test_a_simulation_stays_in_its_bounds(function, case, bounds):
    assert bounds[0] <= function(*case) <= bounds[1]
