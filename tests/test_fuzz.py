"""Every attack of `fuzz.py`: a few dozen tries each, and hundreds behind the marker `slow`."""

import pytest

from tests import fuzz


@pytest.mark.parametrize("attack", fuzz.ATTACKS, ids=lambda attack: attack.__name__)
@pytest.mark.parametrize("tries", [25, pytest.param(300, marks=pytest.mark.slow)])
def test_no_attack_finds_anything(attack, tries):
    assert fuzz.tried(attack, tries).total() >= min(tries, 20)
