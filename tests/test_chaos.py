"""A small run of `tests/chaos.py`: kills, a full disk, a changed input and two competing runs."""

import subprocess
import sys

import pytest

from tests.chaos import HEADER, has_small_disks


@pytest.mark.slow
@pytest.mark.skipif(not has_small_disks(), reason="no mount without rights here")
def test_nothing_is_lost_or_doubled():
    command = [sys.executable, "-m", "tests.chaos", "--aev_rows", "3000", "--ava_rows", "300", "--kills", "4"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    names, _, *tables = ([cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines())
    assert names == [cell.strip() for cell in HEADER.split("|")[1:-1]]
    for table, metric in zip(tables, ("aev", "ava"), strict=True):
        found = dict(zip(names, table, strict=True))
        assert (found["metric"], found["parts"], found["disk full"]) == (metric, "100", "1")
        assert int(found["killed"]) >= 1
        assert found["changed input refused"] == "2"
