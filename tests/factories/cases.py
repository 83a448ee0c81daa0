"""Tables of cases: tests/data/cases/MODULE.json has them by the name of their test, and what several tests read."""

import functools
import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "data/cases"


@functools.cache
def tables(module: str) -> dict[str, list[dict]]:
    """Return the rows of every table of a test module."""
    return json.loads((FOLDER / f"{module.rpartition('.')[2]}.json").read_text(encoding="utf-8"))


def with_cases(test):
    """Run a test with every row of its table; the keys of a row are arguments, but for `why`, a comment."""
    rows = [
        {name: value for name, value in row.items() if name != "why"} for row in tables(test.__module__)[test.__name__]
    ]
    return pytest.mark.parametrize(list(rows[0]), [list(row.values()) for row in rows])(test)
