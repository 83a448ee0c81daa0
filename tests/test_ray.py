"""The Ray engine on a local cluster: its rows and scores are those of the local engine, also when an actor dies."""

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import nullcontext

import genqa_metrics
import pyarrow.parquet as pq
import pytest
import ray
from genqa_metrics.rows.errors import FileError
from genqa_metrics.scale.options import ScoreOptions
from genqa_metrics.scale.parts import MANIFEST, verify
from genqa_metrics.scale.ray_run import CLAIM, RayRun, _cause, check_unchanged, claimed, listed
from genqa_metrics.scale.run import WINDOWS, Run

from tests.factories.cases import with_cases
from tests.factories.files import QUESTIONS, made_rows, run, save


@pytest.fixture(scope="module")
def cluster():
    """A cluster of two workers on this machine."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    options = {"num_cpus": 2, "object_store_memory": 80 * 2**20, "include_dashboard": False, "log_to_driver": False}
    options["address"] = "local"  # another cluster of this machine is none of ours
    for attempt in range(3):  # a machine that is busy can miss the half minute that Ray gives its own processes
        try:
            ray.init(**options)
            break
        except Exception:
            ray.shutdown()
            if attempt == 2:
                raise
    yield
    ray.shutdown()


def by_place(path):
    """Return {(file, line, system): row} of Parquet files; no row may be there twice."""
    rows = pq.read_table(path).to_pylist()
    found = {(row["file"], row["line"], row["system"]): row for row in rows}
    assert len(found) == len(rows)
    return found


def assert_equal_rows(path, other):
    rows, others = by_place(path), by_place(other)
    assert rows.keys() == others.keys()
    for place, row in rows.items():
        numbers = {name: value for name, value in row.items() if isinstance(value, float)}
        digests = {name: value for name, value in row.items() if name.endswith("_digest")}  # of scores to ten digits
        assert row | numbers == others[place] | digests | numbers
        assert numbers == pytest.approx({name: others[place][name] for name in numbers}, abs=1e-6)


def without_functions(report):
    """Return the signatures but that of f_meta, which has the name of a function."""
    return {metric: signature for metric, signature in report.signatures.items() if metric != "f_meta"}


def assert_equal_reports(report, other):
    assert report.counts == other.counts
    assert without_functions(report) == without_functions(other)
    assert report.warnings == other.warnings
    for metric, by_system in report.scores.items():
        for system, values in by_system.items():
            assert values == pytest.approx(other.scores[metric][system], abs=1e-6)


@pytest.mark.slow
def test_an_actor_that_is_killed_loses_and_doubles_nothing(cluster, tmp_path):
    """The base of F-meta kills its actor, as a failing machine would, in the middle of the fourth of 14 windows."""
    first = save(tmp_path / "a.jsonl.gz", made_rows(9000))
    with open(tmp_path / "b.jsonl", "w") as file:
        lines = [json.dumps(row | {"score": "?"}) for row in made_rows(3000, 9000)]
        file.write("\n".join([*lines[:1000], "{", *lines[1000:]]))
    third = save(tmp_path / "c.parquet", made_rows(500, 12000))
    inputs, log = [str(first), str(tmp_path / "b.jsonl"), str(third)], tmp_path / "log"
    log.mkdir()

    def exact(predictions, references):
        return [float(p == r) for p, r in zip(predictions, references, strict=True)]

    def deadly(predictions, references):
        (log / f"{os.getpid()}").touch()
        (log / "rows").open("a").write("." * len(predictions))
        if (log / "rows").stat().st_size > 3000:
            try:
                (log / "killed").touch(exist_ok=False)
                os.kill(os.getpid(), signal.SIGKILL)
            except FileExistsError:
                pass
        return exact(predictions, references)

    output = tmp_path / "parts"
    arguments = {"metrics": ["aev", "f_meta"], "columns": {"references": "references"}}
    arguments |= {"on_error": "skip"}
    told = []
    settings = {"f_meta": {"base": deadly}}
    found = RayRun(inputs, ScoreOptions(output=f"{output}/", settings=settings, part_rows=4000, **arguments)).score(
        problem=told.append
    )
    assert (log / "killed").exists()
    assert len(list(log.iterdir())) >= 4, "a second actor took over, beside the files 'rows' and 'killed'"
    single = tmp_path / "single.parquet"
    expected = Run(inputs, ScoreOptions(output=str(single), settings={"f_meta": {"base": exact}}, **arguments)).score()
    assert_equal_reports(found, expected)
    assert (found.counts.skipped, found.counts.not_numbers) == (1, 3000)
    assert [message.partition(":")[0] for message in told] == [f"{inputs[1]}, line 1001"]
    assert_equal_rows(output, single)
    sizes = [pq.read_metadata(path).num_rows for path in output.glob("*.parquet")]
    assert len(sizes) < 6
    written = json.loads((output / MANIFEST).read_text())
    assert written["complete"]
    assert written["rows"] == expected.counts.rows
    with pytest.raises(ValueError, match="holds the parts of an earlier run"):
        RayRun(inputs, ScoreOptions(output=f"{output}/", **arguments))


class Task:
    """Stands in for what `ray.remote` returns: a task that is done at once, in this process."""

    def __init__(self, function):
        self.function = function

    def remote(self, *arguments):
        return Reference(self.function(*arguments))


class Reference:
    """Stands in for Ray's reference to a result."""

    def __init__(self, result):
        self.result = result


@pytest.fixture
def in_process(monkeypatch):
    """A cluster of six workers, whose tasks run in this process: the work is cut as it is on a cluster."""
    monkeypatch.setattr("genqa_metrics.scale.ray_run._connected", lambda address: nullcontext())
    monkeypatch.setattr(ray, "cluster_resources", lambda: {"CPU": 6})
    monkeypatch.setattr(ray, "remote", lambda **options: Task)
    monkeypatch.setattr(ray, "put", lambda value: value)
    monkeypatch.setattr(ray, "get", lambda reference: reference.result)
    monkeypatch.setattr(ray, "wait", lambda references: (references[-1:], references[:-1]))


def assert_report_of_the_local_engine(folder, metrics, number):
    """With the answers to read, reasons, labels, and the rows in memory in their order; several windows a file."""
    rows = [row | {"topic": f"topic {n % 3}", "label": n % 2} for n, row in enumerate(made_rows(number))]
    paths = [str(save(folder / "a.jsonl", rows[:-40])), str(save(folder / "b.csv", rows[-40:]))]
    options = {"worst": 3, "explain": True, "keep": True}
    local, other = (genqa_metrics.score(paths, metrics, engine=engine, **options) for engine in ("local", "ray"))
    assert_equal_reports(other.results, local.results)
    assert other.labels == local.labels
    assert other.notes == local.notes
    shown, expected = (report.results.to_read.as_json() for report in (other, local))
    for answer, like in zip(shown.pop("answers"), expected.pop("answers"), strict=True):
        assert answer == like | {name: pytest.approx(like[name], abs=1e-5) for name in ("rank", "score", "scores")}
    assert shown == expected
    assert expected["number"] == 3
    kept, expected = other.results.columns, local.results.columns
    assert list(kept) == list(expected)
    for name, values in expected.items():
        if isinstance(values[0], float):
            assert kept[name] == pytest.approx(values, abs=1e-6)
        elif not name.endswith("_digest"):  # of scores to ten digits
            assert kept[name] == values
    assert all(f"{metric}_reason" in kept for metric in metrics)
    assert str(other) == str(local)


@pytest.mark.parametrize(("metrics", "number"), [(["aev"], 3300), (["ava"], 120)])
def test_tasks_make_the_report_of_the_local_engine(in_process, tmp_path, metrics, number, monkeypatch):
    monkeypatch.setitem(WINDOWS, "cpu", 16)
    assert_report_of_the_local_engine(tmp_path, metrics, number)


@pytest.mark.parametrize(("settings", "gpus"), [({}, 1), ({"device": "cpu"}, 0)])
def test_tasks_ask_for_a_gpu_where_there_are_some_and_no_device_is_named(
    in_process, tmp_path, monkeypatch, settings, gpus
):
    asked = []
    monkeypatch.setattr(ray, "cluster_resources", lambda: {"CPU": 6, "GPU": 2})
    monkeypatch.setattr(ray, "remote", lambda **options: asked.append(options["num_gpus"]) or Task)
    genqa_metrics.score(str(save(tmp_path / "a.jsonl", made_rows(3))), "ava", settings, engine="ray")
    assert asked == [gpus]


@pytest.mark.slow
def test_sets_from_and_to_uris(cluster, tmp_path):
    """A URI of fsspec takes the way that hf:// takes, with local files."""
    path = save(tmp_path / "a.jsonl", QUESTIONS)
    path.write_text(path.read_text() + "{\n")
    skip, output = ("--on-error", "skip", "--format", "json"), f"fsspec+file://{tmp_path}/made/parts"
    out, said = run("score", f"fsspec+file://{path}", "--engine", "ray", "--output", output, *skip)
    local, _ = run("score", path, *skip)
    assert json.loads(out.replace("fsspec+file://", "")) == json.loads(local)
    assert "skipped 1 bad rows; 4 were scored" in said
    rows = pq.read_table(tmp_path / "made" / "parts").to_pylist()
    assert sorted((row["line"], row["system"]) for row in rows) == [(1, "one"), (1, "two"), (2, "one"), (2, "two")]
    parts = tmp_path / "made" / "parts"
    assert verify(str(parts)) == {"parts": len(list(parts.glob("*.parquet"))), "rows": 4}
    assert not list(parts.glob(f"{CLAIM}*"))
    changed = next(parts.glob("*.parquet"))
    changed.write_bytes(changed.read_bytes() + b"x")
    with pytest.raises(FileError, match=f"{changed.name} has changed"):
        verify(str(parts))


def test_an_error_of_a_task_is_one_clear_error():
    """As `score` raises it; what Ray puts around it is taken off."""
    wrapped = RuntimeError("by Ray")
    wrapped.cause = FileError("line 3: not JSON")
    assert _cause(wrapped) is wrapped.cause
    full = _cause(OSError(28, "No space left"))
    assert type(full) is FileError
    assert str(full) == "cannot be read or written: [Errno 28] No space left"
    lost = _cause(KeyError("actor"))
    assert type(lost) is RuntimeError
    assert str(lost) == "ray: KeyError: 'actor'"


@with_cases
def test_bad_usage_is_told_before_a_cluster_is_asked_for(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    save(tmp_path / "a.jsonl", made_rows(3))
    (tmp_path / "empty").mkdir()
    monkeypatch.setattr(ray, "init", None)
    assert re.search(message, run("score", *arguments, "--engine", "ray", status=2)[1])


def test_two_runs_cannot_write_into_one_folder(tmp_path):
    """The second one is refused before it reads, and nothing of it stays; the folder is free when the first ends."""
    path = save(tmp_path / "a.jsonl", made_rows(3))
    output = f"{tmp_path}/parts/"
    with claimed(output):
        options = ScoreOptions(["aev"], output=output)
        for begin in (lambda: RayRun([str(path)], options), lambda: claimed(output).__enter__()):
            with pytest.raises((FileError, ValueError), match="another run is writing to it, or was killed; name"):
                begin()
        assert len(list((tmp_path / "parts").iterdir())) == 1
    assert not list((tmp_path / "parts").iterdir())
    second = RayRun([str(path)], ScoreOptions(["aev"], output=output))
    with claimed(output), pytest.raises(FileError, match="another run is writing"):  # it began in between
        second.score()


KILLED = """
import os, signal, sys
from genqa_metrics.scale import ray_run
from genqa_metrics.scale.options import ScoreOptions
def killed(*_):
    ray_run.write_file(sys.argv[2], "part-000000.parquet", b"a part of a task that was quick")
    os.kill(os.getpid(), signal.SIGKILL)
ray_run._connected = lambda address: ray_run.nullcontext()
ray_run.RayRun._results = killed
ray_run.RayRun([sys.argv[1]], ScoreOptions(["aev"], output=sys.argv[2])).score()
"""


def test_a_driver_that_is_killed_leaves_a_folder_that_no_one_takes_for_complete(tmp_path):
    path, output = save(tmp_path / "a.jsonl", made_rows(3)), f"{tmp_path}/parts/"
    done = subprocess.run([sys.executable, "-c", KILLED, path, output], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    (claim,) = (tmp_path / "parts").glob(f"{CLAIM}*")
    with pytest.raises(FileError, match=r"cannot be read, there is none"):
        verify(output)
    for left in ("or was killed; name another", "holds the parts of an earlier run; name another"):
        with pytest.raises(ValueError, match=left):
            RayRun([str(path)], ScoreOptions(["aev"], output=output))
        claim.unlink(missing_ok=True)


def test_input_that_changes_is_noticed(tmp_path, monkeypatch):
    path = save(tmp_path / "a.jsonl", made_rows(3))
    started = RayRun([str(path)], ScoreOptions(["aev"], output=f"{tmp_path}/parts/"))
    check_unchanged(started.files)
    text = path.read_text()
    path.write_text(text.replace("1", "2"))
    os.utime(path, ns=(0, 0))
    with pytest.raises(FileError, match=r"a\.jsonl: has changed while it was read"):
        check_unchanged(started.files)
    monkeypatch.setattr("genqa_metrics.scale.ray_run._connected", lambda address: nullcontext())
    monkeypatch.setattr(RayRun, "_results", lambda *_: [])
    monkeypatch.setattr("genqa_metrics.scale.ray_run.finished", lambda *_: None)
    with pytest.raises(FileError, match="has changed while it was read"):
        started.score()
    assert not list((tmp_path / "parts").iterdir()), "no manifest says that it is complete"
    path.unlink()
    with pytest.raises(FileError, match="is no longer there"):
        check_unchanged(started.files)


def test_an_address_is_for_ray_and_ray_must_be_there(tmp_path, monkeypatch):
    path = save(tmp_path / "a.jsonl", made_rows(3))
    assert "address: only with the engine ray; leave it out" in run("score", path, "--address", "auto", status=2)[1]
    monkeypatch.setattr("genqa_metrics.verbs.score.report.find_spec", lambda name: None)
    assert "pip install 'genqa-metrics[ray]'" in run("score", path, "--engine", "ray", status=2)[1]


def test_files_of_folders_are_listed_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("b/2.jsonl", "b/1.csv.gz", "b/.hidden.jsonl", "b/_manifest.json", "b/readme.md", "a.parquet"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    files = listed(["b/", "a.parquet", f"file://{tmp_path}/b/2.jsonl"])
    address = listed([f"file://{tmp_path}/b?region=here"])[1]
    assert (address["name"], address["size"]) == (f"file://{tmp_path}/b/2.jsonl", 1)
    assert address["path"] == f"file://{tmp_path}/b/2.jsonl?region=here"
    assert [file["name"] for file in files] == ["b/1.csv.gz", "b/2.jsonl", "a.parquet", f"file://{tmp_path}/b/2.jsonl"]
    assert files[0]["path"] == str(tmp_path / "b/1.csv.gz")
    with pytest.raises(FileError, match="expected a name that ends in"):
        listed(["b/readme.md"])
