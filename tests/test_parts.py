"""A folder of parts: what it holds, when a run may resume it, and what is kept after an error."""

import json
import math
import random
import subprocess
import sys
from itertools import pairwise
from types import SimpleNamespace
from unittest.mock import patch

import genqa_metrics
import pyarrow.parquet as pq
import pytest
from genqa_metrics.core.inference import run_padded
from genqa_metrics.registry import make_scorer
from genqa_metrics.rows.errors import FileError
from genqa_metrics.rows.reading import Item
from genqa_metrics.scale import run as scoring_run
from genqa_metrics.scale.options import ScoreOptions
from genqa_metrics.scale.parts import MANIFEST, STATE
from genqa_metrics.scale.run import WINDOWS, Run, cut, map_in_order, window_predictions
from hypothesis import given
from hypothesis import strategies as st

from tests.factories.cases import with_cases
from tests.factories.files import contents, made_rows, run, save, score


@pytest.fixture
def counted(monkeypatch):
    """Return a list that gets every item that is scored."""
    items, whole = [], scoring_run.scored
    monkeypatch.setattr(scoring_run, "scored", lambda some, *rest: items.extend(some) or whole(some, *rest))
    return items


def test_parts_hold_the_rows_of_one_file_in_order(tmp_path):
    paths = [save(tmp_path / "a.jsonl", made_rows(70)), save(tmp_path / "b.csv", made_rows(55, 70))]
    report = score(paths, tmp_path / "parts")
    single = tmp_path / "single.parquet"
    expected = Run([str(path) for path in paths], ScoreOptions(["aev"], output=str(single))).score()
    assert sorted(contents(tmp_path / "parts")) == [MANIFEST, *(f"part-{part:06}.parquet" for part in range(5))]
    assert pq.read_table(tmp_path / "parts").to_pylist() == pq.read_table(single).to_pylist()
    sizes = [pq.read_metadata(path).num_rows for path in sorted((tmp_path / "parts").glob("*.parquet"))]
    assert sizes == [30, 30, 30, 30, 5]
    for system, values in expected.scores["aev"].items():
        assert report.scores["aev"][system] == pytest.approx(values, abs=1e-12)
    manifest = json.loads((tmp_path / "parts" / MANIFEST).read_text())
    assert manifest["complete"] is True
    assert manifest["scores"] == report.scores
    assert len(manifest["inputs"][0]["sha256"]) == 64


def test_a_full_last_window_is_counted():
    rows = [{"prediction": "six legs", "references": ["six"]}] * window_predictions([make_scorer("aev")])
    report = genqa_metrics.score(rows, "aev")
    assert len(report.to_pandas()) == report.to_dict()["systems"]["rows"]["rows"] == len(rows)


def test_all_systems_of_a_row_are_in_one_part(tmp_path):
    rows = [{"question": "q", "predictions": {"A": "a b", "B": "b"}, "references": ["a"]} for _ in range(7)]
    score([save(tmp_path / "a.jsonl", rows)], tmp_path / "parts", part_rows=3)
    lines = [pq.read_table(path)["line"].to_pylist() for path in sorted((tmp_path / "parts").glob("*.parquet"))]
    assert lines == [[1, 1, 2, 2], [3, 3, 4, 4], [5, 5, 6, 6], [7, 7]]


@pytest.mark.parametrize("missing", [[0], [3], [2, 4], [0, 1, 2, 3, 4]])
def test_missing_parts_are_made_again_and_no_others(tmp_path, counted, missing):
    paths = [save(tmp_path / "a.jsonl", made_rows(70)), save(tmp_path / "b.parquet", made_rows(55, 70))]
    report, folder = score(paths, tmp_path / "parts"), tmp_path / "parts"
    before = contents(folder)
    for part in missing:
        (folder / f"part-{part:06}.parquet").unlink()
    kept = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.parquet")}
    counted.clear()
    assert score(paths, folder) == report
    assert contents(folder) == before
    assert {name: (folder / name).stat().st_mtime_ns for name in kept} == kept
    assert len(counted) == sum(5 if part == 4 else 30 for part in missing)


def test_bad_rows_at_the_edges_of_parts_are_counted_once(tmp_path):
    rows = [json.dumps(row) for row in made_rows(65)]
    for place in (65, 60, 30, 29, 0):
        rows.insert(place, "{")
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(rows) + "\n")
    whole = score([path], tmp_path / "parts", skip=True)
    assert whole.counts.skipped == 5
    for part in (1, 2):
        (tmp_path / "parts" / f"part-{part:06}.parquet").unlink()
        assert score([path], tmp_path / "parts", skip=True) == whole


@with_cases
def test_what_does_not_fit_is_refused_and_nothing_is_touched(tmp_path, monkeypatch, change, message):
    monkeypatch.chdir(tmp_path)
    path = save(tmp_path / "a.jsonl", made_rows(70))
    save(tmp_path / "file.jsonl", [])
    score([path], tmp_path / "parts")
    before = contents(tmp_path / "parts")
    given = {"inputs": [str(path)], "metrics": ["aev"], "output": "parts/", "resume": True, "part_rows": 30}
    given |= change
    with pytest.raises(ValueError, match=message):
        Run(given.pop("inputs"), ScoreOptions(**given))
    assert contents(tmp_path / "parts") == before


def test_other_input_is_refused_where_parts_were_made_of_it(tmp_path):
    a, b = save(tmp_path / "a.jsonl", made_rows(70)), save(tmp_path / "b.jsonl", made_rows(50, 70))
    score([a, b], tmp_path / "parts")
    with pytest.raises(ValueError, match=r"made of other input than .*a\.jsonl: part-000002\.parquet, part-000003"):
        score([a], tmp_path / "parts")
    save(b, made_rows(55, 999))
    with pytest.raises(ValueError, match=r"made of other input than .*b\.jsonl: part-000002\.parquet, part-000003"):
        score([a, b], tmp_path / "parts")
    for part in (2, 3):
        (tmp_path / "parts" / f"part-{part:06}.parquet").unlink()
    score([a, b], tmp_path / "parts")
    score([a, b], tmp_path / "whole", resume=False)
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")
    c = save(tmp_path / "c.jsonl", made_rows(5, 5000))
    with pytest.raises(ValueError, match=r"c\.jsonl: part-000004\.parquet; give the same files .* makes again"):
        score([a, b, c], tmp_path / "parts")


def test_a_change_while_the_input_is_read_leaves_no_part_of_it(tmp_path):
    """The parts made of changed rows counted as parts of the file as it was."""
    path, folder = save(tmp_path / "a.jsonl", made_rows(3000)), tmp_path / "parts"
    score([path], tmp_path / "whole")
    whole = path.read_bytes()
    changed = whole[:-20_000] + whole[-20_000:].replace(b"boats", b"goats")
    going = Run([str(path)], ScoreOptions(["aev"], output=f"{folder}/", part_rows=30))

    def progress(position, size):
        if path.read_bytes() == whole:
            path.write_bytes(changed)

    with pytest.raises(FileError, match=r"a\.jsonl: has changed while it was read"):
        going.score(progress=progress)
    path.write_bytes(whole)
    score([path], folder)
    assert contents(folder) == contents(tmp_path / "whole")


def test_the_number_of_rows_is_estimated_over_all_files(tmp_path, monkeypatch):
    """Two files of 70 rows: from the bytes that are read, about 140 in all, also in the second file."""
    monkeypatch.setitem(WINDOWS, None, 16)
    paths, told = [str(save(tmp_path / f"{name}.jsonl", made_rows(70))) for name in "ab"], []
    Run(paths, ScoreOptions(["aev"])).score(progress=lambda done, expected: told.append((done, expected)))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert all(abs(expected - 140) < 10 for _, expected in told)
    assert told[-1][0] == 140


def test_rows_in_memory_and_standard_input_make_parts(tmp_path):
    rows = made_rows(70)
    report = Run(rows, ScoreOptions(["aev"], output=f"{tmp_path}/memory/", part_rows=30)).score()
    before = contents(tmp_path / "memory")
    (tmp_path / "memory" / "part-000001.parquet").unlink()
    assert Run(rows, ScoreOptions(["aev"], output=f"{tmp_path}/memory/", part_rows=30, resume=True)).score() == report
    assert contents(tmp_path / "memory") == before
    with pytest.raises(ValueError, match="made of other input than rows: part-000000"):
        Run(made_rows(70, 1), ScoreOptions(["aev"], output=f"{tmp_path}/memory/", part_rows=30, resume=True))
    text = "".join(json.dumps(row) + "\n" for row in rows)
    run("score", "-", "-m", "aev", "-o", f"{tmp_path}/piped/", "--part-rows", 30, input=text)
    assert run("verify", tmp_path / "piped")[0]


def test_two_runs_do_not_write_to_one_folder(tmp_path):
    path = save(tmp_path / "a.jsonl", made_rows(70))
    runs = [Run([str(path)], ScoreOptions(["aev"], output=f"{tmp_path}/parts/", resume=True)) for _ in range(2)]
    with runs[0].output, pytest.raises(FileError, match="another run is writing to it"):
        runs[1].score()
    runs[1].score()


def test_after_a_bad_row_the_finished_parts_are_kept(tmp_path):
    path, folder = tmp_path / "a.jsonl", tmp_path / "parts"
    lines = [json.dumps(row) for row in made_rows(100)]
    path.write_text("\n".join([*lines[:80], "{", *lines[80:]]))
    arguments = "score", path, "-m", "aev", "--output", f"{folder}/", "--part-rows", 30
    _, said = run(*arguments, status=1)
    assert "a.jsonl, line 81: not JSON" in said
    assert "--on-error skip leaves bad rows out." in said
    assert "2 finished parts are kept; add --resume to continue after them." in said
    assert sorted(contents(folder)) == [MANIFEST, "part-000000.parquet", "part-000001.parquet"]
    _, said = run(*arguments, "--resume", "--on-error", "skip")
    assert "note: 2 finished parts" in said
    score([path], tmp_path / "whole", skip=True)
    assert pq.read_table(folder).to_pylist() == pq.read_table(tmp_path / "whole").to_pylist()


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
from genqa_metrics.cli import main
main()
"""


def test_a_full_disk_is_one_clear_error_and_finished_parts_are_kept(tmp_path):
    """Files of at most 20 kB stand in for the full disk: the third part, of long texts, is larger."""
    rows, draw = made_rows(120), random.Random(0)
    for row in rows[60:90]:
        row["prediction"] = " ".join(f"{draw.getrandbits(64):x}" for _ in range(100))
    path, folder = save(tmp_path / "a.jsonl", rows), tmp_path / "parts"
    command = [sys.executable, "-c", LIMITED, "score", path, "-m", "aev", "-o"]
    full = subprocess.run([*command, f"{folder}/", "--part-rows", "30"], capture_output=True, text=True, timeout=300)
    assert full.returncode == 1
    assert full.stdout == ""
    assert "part-000002.parquet: cannot be written: File too large" in " ".join(full.stderr.split())
    assert "Traceback" not in full.stderr
    assert "Exception" not in full.stderr
    assert sorted(contents(folder)) == [MANIFEST, "part-000000.parquet", "part-000001.parquet"]
    score([path], folder)
    score([path], tmp_path / "whole")
    assert contents(folder) == contents(tmp_path / "whole")


@given(
    st.lists(st.integers(1, 3), max_size=25),
    st.integers(1, 6),
    st.integers(1, 9) | st.just(math.inf),
    st.integers(2, 12) | st.just(math.inf),
)
def test_windows_hold_every_row_in_order_and_end_where_they_or_their_parts_are_full(
    sizes, most, part_rows, characters
):
    """Of items with one prediction and two characters."""
    rows = [[Item("f", n, None, "s", None, ["a"], ["r"], (None, None))] * size for n, size in enumerate(sizes)]
    with patch.object(scoring_run, "WINDOW_CHARACTERS", characters):
        windows = list(cut(rows, lambda: most, part_rows))
    is_full = [len(window) >= min(most, characters / 2) for window in windows]
    assert [item for window in windows for item in window.items] == [item for row in rows for item in row]
    assert all(window.ends_part or full for window, full in zip(windows[:-1], is_full, strict=False))
    assert all((first.part < second.part) == first.ends_part for first, second in pairwise(windows))
    of_parts = [sum(len(window) for window in windows if window.part == part) for part in {w.part for w in windows}]
    assert all(part_rows <= number < part_rows + 3 for number in of_parts[:-1])
    for last in windows[-1:]:
        unfinished = not is_full[-1] if part_rows == math.inf else of_parts[-1] < part_rows
        assert [window.is_last for window in windows] == [False] * (len(windows) - 1) + [unfinished]
        assert last.ends_part == (unfinished or of_parts[-1] >= part_rows)
        assert all(window.items for window in windows[: None if part_rows == math.inf else -1])


@pytest.mark.parametrize(
    ("devices", "workers", "predictions"),
    [((None,), 0, 1000), (("cpu", None), 3, 256), (("cuda",), 2, 10_000), (("cpu", "cuda"), 2, 10_000)],
)
def test_a_model_on_a_cpu_has_a_thread_for_every_core(monkeypatch, devices, workers, predictions):
    """One of 3 cores, or fewer where torch may use fewer; windows depend on the devices alone."""
    monkeypatch.setattr(scoring_run, "cores", lambda: 3)
    scorers = [SimpleNamespace(device=device) for device in devices]
    assert window_predictions(scorers) == predictions
    for threads, expected in ((8, workers), (2, min(workers, 2))):
        monkeypatch.setattr("torch.get_num_threads", lambda threads=threads: threads)
        assert scoring_run.worker_count(scorers) == expected


@pytest.mark.parametrize("workers", [0, 1, 2, 5])
def test_results_come_in_order_and_before_a_failure(workers):
    def windows():
        yield from range(20)
        raise FileError("line 21")

    found = []
    with pytest.raises(FileError, match="line 21"):
        found.extend(map_in_order(lambda number: number**2, windows(), workers))
    assert found == [(number, number**2) for number in range(20)]


def test_torch_has_its_threads_again_after_the_workers():
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert set(map_in_order(lambda _: torch.get_num_threads(), range(4), 2)) == {(n, 1) for n in range(4)}
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_no_more_is_read_ahead_than_the_workers_need():
    read = []
    windows = (read.append(number) or number for number in range(100))
    for done, (window, _) in enumerate(map_in_order(lambda number: None, windows, 3)):
        assert window == done
        assert len(read) <= done + 1 + 4


@pytest.mark.parametrize("workers", [0, 3])
@pytest.mark.parametrize("passes", [1, 2])
def test_progress_moves_with_every_batch_and_never_back(workers, passes):
    """A window of 10 rows of 4 tokens, in batches of 8 tokens, moves by 2 rows in one pass, by 1 in each of two."""

    def read(window):
        for _ in range(passes):
            run_padded([{"input_ids": [1] * 4}] * len(window), lambda inputs: inputs["input_ids"], budget=8)

    told = []
    run = scoring_run.counted(read, told.append, passes)
    windows = [range(10)] * 3 if workers else [range(10)]
    assert len(list(map_in_order(run, windows, workers))) == len(windows)
    assert told == sorted(told)
    assert told[-1] == 10 * len(windows)
    if not workers:
        assert told == ([2, 4, 6, 8, 10, 10] if passes == 1 else [*range(1, 11), 10])


@pytest.mark.parametrize("metric", [pytest.param("ava", marks=pytest.mark.slow), "kpqa"])
def test_workers_give_the_numbers_of_none(tmp_path, monkeypatch, metric):
    monkeypatch.setitem(WINDOWS, "cpu", 8)
    rows = made_rows(30)
    rows[7]["prediction"] = " ".join(row["prediction"] for row in made_rows(200))  # repetitions are read once
    path = save(tmp_path / "a.jsonl", rows)
    singles, reports = [], []
    for workers in (0, 3):
        monkeypatch.setattr(scoring_run, "worker_count", lambda scorers, workers=workers: workers)
        folder, single = tmp_path / f"{workers}", tmp_path / f"{workers}.parquet"
        reports.append(Run([str(path)], ScoreOptions([metric], output=f"{folder}/", part_rows=20)).score())
        assert Run([str(path)], ScoreOptions([metric], output=str(single))).score().warnings == reports[-1].warnings
        singles.append(single.read_bytes())
    assert contents(tmp_path / "0") == contents(tmp_path / "3")
    assert reports[0] == reports[1]
    assert len(reports[0].warnings) == 1
    assert singles[0] == singles[1]
    state = json.loads(pq.read_metadata(tmp_path / "3" / "part-000000.parquet").metadata[STATE.encode()])
    assert sum(state["tally"]["warning_counts"][metric].values()) > 0
