"""Fitting AEv to human system scores: the R-squared table, the bootstrap, and the script as a whole."""

import json
import random
import subprocess
import sys

import genqa_metrics
import numpy as np
import pytest

from tests.factories.cases import with_cases
from training.aev.fit_aev import Arguments, best_cell, bootstrap, fit, r_squared_table

WORDS = "amber birch cedar delta ember fjord grove heath islet jetty knoll ledge".split()


@pytest.fixture
def outputs_file(tmp_path):
    """Five systems that keep 1 to 5 of the 6 words of a reference; a person counts the words that were kept."""
    source = random.Random(3)
    path = tmp_path / "outputs.jsonl"
    with path.open("w") as file:
        for i in range(60):
            reference = " ".join(source.sample(WORDS, 6))
            for kept in range(1, 6):
                noise = " ".join(source.sample(["zinc", "zebra", "zest", "zone", "zeal", "zoom"], 3))
                candidate = f"{' '.join(reference.split()[:kept])} {noise}"
                human = {"kept": float(kept), "luck": source.random() if i else None}
                row = {"system": f"keeps {kept}", "candidate": candidate, "references": [reference], "human": human}
                file.write(json.dumps(row) + "\n")
    return path


def test_a_reversed_ranking_is_no_fit():
    """Correlations are -1 and 0.5: the square alone would prefer the first cell."""
    metric = np.stack([[3.0, 2.0, 1.0], [1.0, 3.0, 2.0]], axis=1)[:, None, :]
    table = r_squared_table(np.array([1.0, 2.0, 3.0]), metric)
    assert table.tolist() == [[pytest.approx(-1.0), pytest.approx(0.25)]]
    assert best_cell(table) == (0, 1)


def test_bootstrap_finds_what_is_certain_and_what_is_not():
    generator = np.random.default_rng(11)
    human = np.linspace(0, 1, 12)
    metric = generator.random((12, 4, 11))
    metric[:, 1, 4] = human * 0.3 + 0.1
    sure = bootstrap(human, metric, 500, seed=1)
    assert sure == {"interval": [1.0, 1.0], "best_alpha": [0.4, 0.4], "best_max_order": [2, 2], "same_cell": 1.0}
    metric[:, 1, 4] = generator.random(12)
    unsure = bootstrap(human, metric, 500, seed=1)
    assert unsure["same_cell"] < 0.9
    assert unsure["interval"][1] - unsure["interval"][0] > 0.2
    assert unsure == bootstrap(human, metric, 500, seed=1)


def test_fit_recovers_the_measure_that_the_people_used(outputs_file):
    """People counted the recalled words, which is AEv(0, 1) up to a factor; luck is explained by nothing."""
    arguments = Arguments(data=[str(outputs_file)], output_folder="", aspect="kept", stop_words="none", resamples=200)
    result = fit(arguments)
    assert result["settings"]["alpha"] == 0.0
    assert result["settings"]["max_order"] == 1
    assert result["signed_r_squared"][0][0] == pytest.approx(1.0)
    assert (result["points"], result["rows"]) == (5, 300)
    assert result["systems"]["keeps 3"] == {"human": 3.0, "aev": pytest.approx(0.5)}
    luck = fit(Arguments(data=[str(outputs_file)], output_folder="", aspect="luck", resamples=200))
    assert luck["rows"] == 295
    assert luck["interval"][0] < 0.5


@with_cases
def test_errors_say_what_to_do(outputs_file, change, message):
    arguments = Arguments(**{"data": [str(outputs_file)], "output_folder": "", "aspect": "kept", **change})
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        fit(arguments)


def test_script_writes_settings_that_load_takes(outputs_file, tmp_path):
    options = ["--aspect", "kept", "--stop_words", "none", "--resamples", "50", "--wordiness", "inf"]
    module = [sys.executable, "-m", "training.aev.fit_aev"]
    run = [*module, "--data", str(outputs_file), "--output_folder", str(tmp_path / "out"), *options]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert "   1  [100.0]" in done.stdout
    assert "AEv(0, 1), R² = 100.0%" in done.stdout
    assert (tmp_path / "out" / "outputs.png").read_bytes().startswith(b"\x89PNG")
    loaded = genqa_metrics.load("aev", settings=str(tmp_path / "out" / "outputs.json"))
    loaded.compute(predictions=["amber birch"], references=["amber cedar"])
    assert loaded.signature().startswith("aev|alpha:0|order:1|brevity:1|wordiness:inf|weights:uniform|stop:None|")
    refused = subprocess.run([*run[:-1], "-3"], capture_output=True, text=True)
    assert refused.returncode == 1
    assert refused.stderr.strip().endswith("fit_aev: wordiness: expected a number above 0, or infinity, got -3.0")
