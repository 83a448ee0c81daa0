"""Attacks with drawn input, and what must hold of each; `python -m tests.fuzz` prints the table of SECURITY.md.

An attack returns what came of one try, "refused" with a clear error or "harmless"; everything else that it raises is a
finding. `test_fuzz.py` runs every attack some dozen times, and many more times behind the marker `slow`.
"""

import bz2
import gzip
import json
import math
import re
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

import genqa_metrics
from genqa_metrics.cli import app
from genqa_metrics.core import checkpoints as trust
from genqa_metrics.reports.table import Table, as_json, html_table, latex_table, markdown, visible
from genqa_metrics.rows.cells import list_in_cell
from genqa_metrics.rows.errors import FileError
from genqa_metrics.rows.sources import Source
from genqa_metrics.rows.writing import Writer
from genqa_metrics.scale.parts import MANIFEST, verify
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from tests.factories.files import lines, made_rows

TRIES = 100
PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress}
HOSTILE = [*"%$|`[\r\n\0\\~#*_", "\x1b]0;x\x07", "\x9b2J", "\u202e", "<img src=x>", "![a](http://e)"]
HOSTILE += ["\\input{x}", "^^M", "[a]: http://e", "=1+1", "'=1", "{{7*7}}", "{% x %}", "&lt;"]
texts = st.lists(st.sampled_from(HOSTILE) | st.text(max_size=6), max_size=5).map("".join)
numbers = st.floats() | st.integers(-(10**30), 10**30) | st.booleans() | st.none()
values = st.recursive(numbers | texts, lambda inner: st.lists(inner, max_size=3), max_leaves=5)


def rows_of(path: Path) -> list:
    """Read a file; what is wrong in it may only be a bad row or a FileError."""
    return [row.values for row in Source(path).rows() if row.values is not None]


def same_texts(folder: Path, drawn: tuple) -> str:
    """Texts are written in every format, and come back as they were."""
    ending, some = drawn
    columns = {"file": "text", "line": "integer", "id": "text", "system": "text"}
    columns |= {"prediction": "text", "references": "texts"}
    with Writer(folder / f"a{ending}", columns, {}) as writer:
        lines = {name: ["a"] * len(some) for name in ("file", "id", "system")} | {"line": range(len(some))}
        writer.write(lines | {"prediction": some, "references": [[text, "b"] for text in some]})
    read = [row.values for row in Source(folder / f"a{ending}").rows()]
    assert [row["prediction"] for row in read] == some
    assert [list_in_cell(row["references"]) for row in read] == [[text, "b"] for text in some]
    return "harmless"


def any_bytes(folder: Path, drawn: tuple) -> str:
    """Any bytes as a file of any format: rows, bad rows, or one clear error."""
    ending, content = drawn
    (folder / f"a{ending}").write_bytes(content)
    try:
        rows_of(folder / f"a{ending}")
    except FileError:
        return "refused"
    return "harmless"


def damaged_stream(folder: Path, drawn: tuple) -> str:
    """Two compressed streams, one byte changed: no row is lost or changed silently."""
    ending, place, byte = drawn
    path, rows = folder / f"a.jsonl{ending}", made_rows(20)
    packed = bytearray(b"".join(PACKERS[ending](lines(part).encode()) for part in (rows[:10], rows[10:])))
    packed[place % len(packed)] = byte
    path.write_bytes(packed)
    try:
        read = list(Source(path).rows())
    except FileError:
        return "refused"
    if any(row.problem for row in read):  # its first bytes are those of no format
        return "refused"
    assert [row.values for row in read] == rows
    return "harmless"


def any_manifest(folder: Path, drawn: object) -> str:
    """Any JSON as a manifest is one clear error."""
    (folder / MANIFEST).write_text(json.dumps(drawn), encoding="utf-8")
    try:
        verify(str(folder))
    except FileError:
        return "refused"
    raise AssertionError("it was verified")


def named_in_reports(folder: Path, drawn: str) -> str:
    """A text in a table of every form: it controls no terminal, and is no markup and no formula."""
    from markdown_it import MarkdownIt

    table = Table(drawn, ["system", drawn], [[drawn, drawn]], drawn)
    forms = visible(drawn), markdown(drawn), latex_table(table), as_json({drawn: drawn})
    for form in (*forms, str(html_table(table))):
        assert not set(form) & {*map(chr, range(9)), *map(chr, range(11, 32)), *map(chr, range(127, 160)), "\u202e"}
    kinds = {token.type for block in MarkdownIt("commonmark").parse(f"note: {markdown(drawn)}") for token in (
        block, *(block.children or ()))}  # fmt: skip
    assert kinds <= {"paragraph_open", "inline", "text", "text_special", "paragraph_close"}, kinds
    bare = re.sub(r"\\([&%$#_{}]|(textbackslash|textasciitilde|textasciicircum|textless|textgreater|textbar)\{\})", "",
                  latex_table(table).split("\\toprule")[1].split("\\bottomrule")[0])  # fmt: skip
    assert set(re.findall(r"\\[a-z]+|[%$#~^_]", bare)) <= {"\\midrule"}
    return "harmless"


def any_adapter(folder: Path, drawn: dict) -> str:
    """Any settings of an adapter: refused, or a plain LoRA adapter with finite numbers in range."""
    plain = {"peft_type": "LORA", "r": 2, "lora_alpha": 4, "target_modules": ["query"]}
    (folder / "adapter_config.json").write_text(json.dumps(plain | drawn), encoding="utf-8")
    try:
        found = trust.adapter_settings(folder)
    except trust.CheckpointError:
        return "refused"
    assert set(found) <= set(trust.LORA)
    assert 0 < found.get("lora_alpha", 8) <= trust.MAX_SCALE * found.get("r", 8)
    return "harmless"


def any_judge(folder: Path, drawn: dict) -> str:
    """Any settings of a judge: refused, or finite."""
    from genqa_metrics.core.judge_model import read_settings

    content = json.dumps({"configuration": "a1-r_qt"} | drawn)
    (folder / "ava_config.json").write_text(content, encoding="utf-8")
    try:
        found = read_settings(folder)
    except ValueError:
        return "refused"
    assert all(math.isfinite(value) for value in found.values() if isinstance(value, float))
    return "harmless"


def any_rows(folder: Path, drawn: list) -> str:
    """Good rows in which some values are any others are scored or refused, by `score` in Python."""
    try:
        report = genqa_metrics.score(
            [row | other for row, other in zip(made_rows(3), drawn, strict=False)], "aev", on_error="skip"
        )
    except ValueError:
        return "refused"
    json.loads(report.to_json(), parse_constant=lambda name: 1 / 0)
    return "harmless"


def any_arguments(folder: Path, drawn: list) -> str:
    """Any arguments of the command line: exit status 0, 1 or 2, and no traceback."""
    path = folder / "a.jsonl"
    content = lines(made_rows(3))
    path.write_text(content)
    result = CliRunner().invoke(app, ["score", str(path), "-m", "aev", *drawn])
    assert result.exit_code in (0, 1, 2)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert path.read_text() == content
    return "refused" if result.exit_code else "harmless"


ENDINGS = st.sampled_from([".csv", ".tsv", ".jsonl", ".parquet", ".csv.gz", ".jsonl.zst"])
BYTES = st.binary(max_size=80) | texts.map(lambda text: text.encode("utf-8", "surrogatepass"))
START = st.sampled_from([b"", b"PAR1", b"\x1f\x8b\x08", b"BZh9", b"\x28\xb5\x2f\xfd", b"\xff\xfe", b'{"'])
SETTINGS = st.sampled_from([*trust.LORA, "peft_type", "megatron_config", "auto_mapping", "use_dora", "loftq_config"])
JUDGE = st.sampled_from(["max_length", "marks", "slope", "intercept", "threshold", "other"])
COLUMNS = st.sampled_from(["prediction", "references", "system", "id", "score", "question", "predictions", "context"])
OPTIONS = st.sampled_from(["-o", "--column", "--set", "--format", "--fail-under", "--part-rows", "--worst"])
PLACES = st.integers(0, 2**30)
SOME = texts.filter(lambda text: "/" not in text and "\0" not in text)
ATTACKS = {
    same_texts: st.tuples(ENDINGS, st.lists(texts, min_size=1, max_size=4)),
    any_bytes: st.tuples(ENDINGS, st.tuples(START, BYTES).map(b"".join)),
    damaged_stream: st.tuples(st.sampled_from(list(PACKERS)), PLACES, st.integers(0, 255)),
    any_manifest: values
    | st.dictionaries(st.sampled_from(["format", "settings", "inputs", "complete", "parts"]), values),
    named_in_reports: texts,
    any_adapter: st.dictionaries(SETTINGS, values, max_size=2),
    any_judge: st.dictionaries(JUDGE, values, max_size=2),
    any_rows: st.lists(st.dictionaries(COLUMNS, values, max_size=4), max_size=3),
    any_arguments: st.lists(OPTIONS | SOME, max_size=4),
}


def tried(attack, tries: int) -> Counter:
    """Return how often an attack was tried with which result; raises what it finds."""
    found: Counter = Counter()
    with tempfile.TemporaryDirectory() as place:

        @settings(max_examples=tries, deadline=None, database=None, derandomize=True,
                  suppress_health_check=list(HealthCheck))  # fmt: skip
        @given(ATTACKS[attack])
        def run(drawn):
            folder = Path(place, "try")
            folder.mkdir()
            try:
                found[attack(folder, drawn)] += 1
            finally:
                shutil.rmtree(folder)

        run()
    return found


def main() -> None:
    """Print the table; the number of tries may be an argument."""
    tries = int(sys.argv[1]) if len(sys.argv) > 1 else TRIES
    print("| attack | tries | refused | harmless |\n|---|---:|---:|---:|")
    for attack in ATTACKS:
        found = tried(attack, tries)
        print(f"| {attack.__doc__} | {found.total():,} | {found['refused']:,} | {found['harmless']:,} |", flush=True)


if __name__ == "__main__":
    main()
