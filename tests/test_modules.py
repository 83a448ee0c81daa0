"""Every metric as a module of `evaluate`: found in three ways, copied alone, in two processes, combined, packaged."""

import configparser
import copy
import json
import pickle
import re
import shutil
import subprocess
import sys
import warnings

import evaluate
import genqa_metrics
import numpy as np
import pandas
import pytest
from genqa_metrics.core.checkpoints import BASE_MODEL, CheckpointError
from genqa_metrics.registry import make_scorer, scorer_class

from tests.factories.modules import ROWS
from training.publish.assemble import assemble

pytestmark = pytest.mark.usefixtures("word_judge_of_module")
RANK = """
import json, sys
import evaluate
folder, cache, rank, rows = sys.argv[1], sys.argv[2], int(sys.argv[3]), json.loads(sys.argv[4])
metric = evaluate.load(folder, num_process=2, process_id=rank, experiment_id="two", cache_dir=cache)
mine = {name: column[rank * 2 : rank * 2 + 2] for name, column in rows.items()}
for i in range(2):
    metric.add_batch(**{name: column[i : i + 1] for name, column in mine.items()})
print(json.dumps(metric.compute()))
"""


@pytest.fixture
def folder(repository, request):
    return repository / "metrics" / request.getfixturevalue("name")


@pytest.fixture(params=genqa_metrics.METRICS)
def name(request):
    return request.param


def test_by_name_and_from_the_folder_of_the_checkout(name, folder):
    """From a folder where there is no package: test_published_spaces_alone_compute_the_same."""
    by_name, by_folder = genqa_metrics.load(name), evaluate.load(str(folder))
    results = [metric.compute(**ROWS[name], per_example=True) for metric in (by_name, by_folder)]
    assert results[0] == results[1]
    assert by_name.signature() == by_folder.signature()
    assert by_name.signature().startswith(f"{name}|")
    assert f"version:{genqa_metrics.__version__}" in by_name.signature()
    assert by_name.name == by_folder.name == name


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ava", "f_meta"])  # one answer a row, and a set
def test_two_processes_give_the_same_as_one(name, folder, tmp_path):
    rows = json.dumps(ROWS[name])
    command = [sys.executable, "-c", RANK, str(folder), str(tmp_path)]
    ranks = [subprocess.Popen([*command, rank, rows], stdout=subprocess.PIPE, text=True) for rank in "01"]
    first, second = (json.loads(process.communicate(timeout=120)[0]) for process in ranks)
    assert second is None
    assert first == evaluate.load(str(folder)).compute(**ROWS[name])


@pytest.fixture
def metric(folder):
    return evaluate.load(str(folder), keep_in_memory=True)


def test_rows_added_one_by_one_and_in_a_batch(name, metric):
    together = metric.compute(**ROWS[name])
    for values in zip(*(column[:2] for column in ROWS[name].values()), strict=True):
        metric.add(**{column.removesuffix("s"): value for column, value in zip(ROWS[name], values, strict=True)})
    metric.add_batch(**{column: values[2:] for column, values in ROWS[name].items()})
    assert metric.compute() == together
    assert {type(value) for value in together.values()} == {float}


def test_a_copy_has_the_rows_and_settings(name, metric, folder):
    """It is loaded from the script that was named, not from a file of evaluate's cache."""
    metric.add_batch(**ROWS[name])
    assert metric.__reduce__()[0].args == (str((folder / f"{name}.py").resolve()),)
    copies = pickle.loads(pickle.dumps(metric)), copy.deepcopy(metric)
    expected = metric.compute()
    for other in copies:
        assert other.compute() == expected
        assert other.signature() == metric.signature()


def test_no_rows_are_refused(name, metric):
    with pytest.raises(ValueError, match=r"\w+: no rows, nothing to compute on"):
        metric.compute(**{column: [] for column in ROWS[name]})


def numbers(metric, columns):
    """Return the scores of every row, by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = metric.compute(**columns, per_example=True)
    rows = {key: values for key, values in found.items() if key.endswith("_per_example")}
    return {key: values for key, values in rows.items() if isinstance(values[0], int | float)}


def test_results_are_plain_numbers_and_one_of_each_row(name, metric):
    plain = metric.compute(**ROWS[name])
    assert all(type(value) is float for value in plain.values())
    explain = {"explain": True} if "explain" in metric.flags else {}
    more = metric.compute(**ROWS[name], per_example=True, **explain)
    assert {key: more[key] for key in plain} == plain
    assert {len(values) for key, values in more.items() if key.endswith("_per_example")} == {4}
    assert len(more["explanation"] if explain else more[f"{name}_per_example"]) == 4
    json.dumps(more)


def test_a_row_depends_neither_on_its_neighbours_nor_on_their_order(name, metric):
    whole = numbers(metric, ROWS[name])
    alone = [numbers(metric, {column: values[i : i + 1] for column, values in ROWS[name].items()}) for i in range(4)]
    backwards = numbers(metric, {column: values[::-1] for column, values in ROWS[name].items()})
    for key, values in whole.items():
        assert values == pytest.approx([found[key][0] for found in alone], abs=1e-5)
        assert values == pytest.approx(backwards[key][::-1], abs=1e-5)
    assert any(len(set(values)) > 1 for values in whole.values())


def test_blank_predictions_score_0(name, metric):
    blank = [["", " \n"], []] * 2 if name == "f_meta" else ["", "  ", "\n\t", "\u2003"]
    main = {"ava": "ava_score", "kpqa": "rougeL_kpqa"}.get(name, name)
    assert set(numbers(metric, ROWS[name] | {"predictions": blank})[f"{main}_per_example"]) == {0}


@pytest.mark.parametrize("convert", [tuple, np.array, lambda values: pandas.Series(values, index=range(5, 9))])
def test_columns_of_other_types_give_the_same(name, metric, convert):
    columns = {
        column: convert(values) if isinstance(values[0], str) else tuple(map(tuple, values))
        for column, values in ROWS[name].items()
    }
    assert metric.compute(**columns) == metric.compute(**ROWS[name])


STRANGE = ["\x00\u200b\x1b[31m", "😀" * 50, "a" * 3000, "ﬁ\u0301", "مرحبا", "||| SCORE |||"]


def test_strange_texts_have_scores(name, metric):
    columns = {
        column: STRANGE[::-1] if isinstance(values[0], str) else [[text] for text in STRANGE]
        for column, values in ROWS[name].items()
    }
    for key, values in numbers(metric, columns).items():
        assert all(abs(value) <= 1 + 1e-6 for value in values if "length" not in key and "_reference_" not in key)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda values: [values[0], None], ", row 1: expected a (string|list of strings), got NoneType"),
        (lambda values: [values[0], 3], ", row 1: expected a (string|list of strings), got int 3"),
        (lambda values: [values[0], float("nan")], ", row 1: expected a (string|list of strings), got float nan"),
        (lambda values: [values[0], {"a": 1}], ", row 1: expected a (string|list of strings), got dict"),
        (lambda values: [values[0], ["\ud800"] if isinstance(values[0], list) else "\ud800"], ".*lone surrogate"),
        (lambda values: "who", ": expected a list with one entry per row, got str 'who'"),
        (lambda values: {"a": 1}, ": expected a list with one entry per row, got dict"),
        (lambda values: None, ": expected a list with one entry per row, got None; pass .*="),
        (lambda values: values[:1], r": expected as many rows as \w+ \(2\), got 1"),
    ],
)
def test_bad_rows_are_named(name, metric, change, message):
    good = {column: values[:2] for column, values in ROWS[name].items()}
    for column in list(good)[message.startswith(": expected as many") :]:
        with pytest.raises(ValueError, match=f"^{column}{message}"):
            metric.compute(**good | {column: change(good[column])})


def test_bad_items_of_lists_are_named(name, metric):
    good = {column: values[:2] for column, values in ROWS[name].items()}
    for column, values in good.items():
        if isinstance(values[0], list):
            for item in (None, 3, ["a"])[column == "references" :]:
                with pytest.raises(ValueError, match=f"^{column}, row 1, item 1: expected a string, got "):
                    metric.compute(**good | {column: [values[0], ["a", item]]})
            if column == "references":
                whole = good | {column: [values[0], ["a"]]}
                with pytest.warns(UserWarning, match="references: nulls in the lists of 1 rows were left out"):
                    found = metric.compute(**good | {column: [values[0], [None, "a"]]})
                assert repr(found) == repr(metric.compute(**whole))
                with pytest.raises(ValueError, match="references, row 0: expected at least one reference"):
                    metric.compute(**good | {column: [[], values[1]]})


def test_a_refused_call_loses_no_row(name, metric):
    good = {column: values[:2] for column, values in ROWS[name].items()}
    expected = metric.compute(**good)
    signature = metric.signature()
    metric.add_batch(**good)
    for settings, error, message in (
        ({"per_example": "yes"}, ValueError, "per_example: expected True or False, got 'yes'"),
        ({"alhpa": 1}, TypeError, f"alhpa: neither an input nor a setting of {name}"),
    ):
        with pytest.raises(error, match=message):
            metric.compute(**settings)
    with pytest.raises(ValueError, match=r"^predictions, row 2: expected a .*, got NoneType"):
        metric.add(**{column.removesuffix("s"): values[0] for column, values in good.items()} | {"prediction": None})
    assert metric.signature() == signature
    assert metric.compute() == pytest.approx(expected, abs=1e-6)
    with pytest.raises(ValueError, match="nothing to compute on"):
        metric.compute()


def test_unknown_arguments_of_load_are_refused(name, folder):
    with pytest.raises(TypeError, match=f"alhpa: .*{name}"):
        evaluate.load(str(folder), alhpa=1)


def test_one_version(repository):
    setup = configparser.ConfigParser()
    setup.read(repository / "setup.cfg")
    core = (repository / "metrics/core/scorer.py").read_text()
    assert f'VERSION = "{setup["metadata"]["version"]}"' in core
    assert genqa_metrics.__version__ == setup["metadata"]["version"]
    cited = [line.strip() for line in (repository / "CITATION.cff").read_text().splitlines() if "version: " in line]
    page = (repository / "spaces/docs/pages/reference/cite.md").read_text()
    assert {line for line in cited if "cff-" not in line} == {f"version: {genqa_metrics.__version__}"}
    assert f'version = "{genqa_metrics.__version__}"' in page


def test_assembled_script_names_every_sibling_that_evaluate_must_copy(name, tmp_path):
    """`evaluate` copies the siblings that the main script imports, and no imports of imports."""
    folder = assemble(name, tmp_path / name)
    siblings = {path.stem for path in folder.glob("*.py")} - {name}
    script = (folder / f"{name}.py").read_text()
    assert set(re.findall(r"^from \.(\w+) import [^#\n]+$", script, re.MULTILINE)) == siblings


def test_requirements_are_those_of_the_package(name, folder, repository):
    setup = configparser.ConfigParser()
    setup.read(repository / "setup.cfg")
    known = set(setup["options"]["install_requires"].split())
    for extra in setup["options.extras_require"].values():
        known |= set(extra.split())
    needed = set((folder / "requirements.txt").read_text().split())
    assert needed <= known


def test_one_core_in_a_process(repository, tmp_path):
    """`evaluate.load` and the verbs share scorer classes, the loaded judge and the class of errors."""
    by_evaluate = evaluate.load(str(repository / "metrics/ava"), keep_in_memory=True, device="cpu")
    by_package = genqa_metrics.load("ava", keep_in_memory=True, device="cpu")
    scorer = make_scorer("ava", {"device": "cpu"})
    assert type(by_evaluate._scorer) is type(by_package._scorer) is type(scorer) is scorer_class("ava")
    assert by_evaluate._scorer.loaded.model is by_package._scorer.loaded.model is scorer.loaded.model
    folder = tmp_path / "judge"
    shutil.copytree(scorer.loaded.folder, folder)
    (folder / "adapter_config.json").write_text(
        json.dumps({"peft_type": "IA3", "base_model_name_or_path": BASE_MODEL})
    )
    for load in (
        lambda: evaluate.load(str(repository / "metrics/ava"), checkpoint=str(folder)),
        lambda: genqa_metrics.load("ava", checkpoint=str(folder)),
    ):
        with pytest.raises(CheckpointError, match="peft_type: expected LORA"):
            load()
