"""Rows as people and tools write them, and what is read of them, in tests/data/read_rows.jsonl.

`python -m tests.test_read_rows` writes what is read now into that file: look at the difference before a commit.
"""

import json
import re
import tempfile
from dataclasses import asdict
from pathlib import Path

import pytest
from genqa_metrics.rows.errors import RowError
from genqa_metrics.rows.reading import Item, RowReader
from genqa_metrics.rows.sources import ReadOptions, files

CASES = Path(__file__).parent / "data/read_rows.jsonl"


def cases():
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def fields_of(item):
    """Return what is particular to an item, as JSON."""
    usual = asdict(Item(item.file, item.line, None, "rows", "", [], [], (None, None)))
    return json.loads(json.dumps({name: value for name, value in asdict(item).items() if value != usual[name]}))


def read(folder, content, name="rows.jsonl", columns=None, options=None, needs=None, **_):
    """Return the format of a file, the items of its rows or why they are bad, and the first words of its notes."""
    path = Path(folder, name)
    rows = [json.dumps(row) for row in content] if isinstance(content, list) else [json.dumps(content, indent=1)]
    path.write_text(content if isinstance(content, str) else "\n".join(rows) + "\n", encoding="utf-8")
    (source,) = files([path], ReadOptions(**(options or {})))
    reader, found = RowReader(source, columns or {}, needs or {}), []
    for row in source.rows():
        try:
            found += map(fields_of, reader.read(row)) if row.values is not None else [row.problem]
        except RowError as error:
            found.append(str(error))
    return {"form": source.form, "items": found, "notes": sorted(" ".join(n.split()[:6]) for n in source.notices)}


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["why"])
def test_rows_are_read(case, tmp_path):
    """A column that a message names for a role can be read in this role."""
    assert read(tmp_path, **case) == case["read"]
    rows = case["content"] if isinstance(case["content"], list) else []
    for row, item in zip(rows, case["read"]["items"], strict=False):
        hint = re.search(r'with columns=\{"(\w+)": "(.+?)"\}', item) if isinstance(item, str) else None
        if hint and "NAME" not in hint[2]:
            (item,) = read(tmp_path, [row], columns={hint[1]: hint[2]})["items"]
            assert isinstance(item, dict), item


def main() -> None:
    """Write what is read of every case."""
    with tempfile.TemporaryDirectory() as folder:
        written = [case | {"read": read(folder, **case)} for case in cases()]
    CASES.write_text("".join(json.dumps(case, ensure_ascii=False) + "\n" for case in written), encoding="utf-8")


if __name__ == "__main__":
    main()
