"""A small run of `tests/chaos.py`: kills, a full disk, a changed input and two competing runs."""

import pytest

from tests.chaos import attacked


@pytest.mark.slow
def test_nothing_is_lost_or_doubled(tmp_path):
    assert attacked(tmp_path, "aev", 3000, 30, 3)["killed"] >= 1
