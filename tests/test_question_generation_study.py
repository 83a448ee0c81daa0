"""The study of the question generators: scores by hand, intervals, findings, made-up sets."""

import json
import sys

import numpy as np
import pytest

from tests.factories import files
from tests.factories.cases import with_cases
from tests.factories.modules import run_program
from tests.factories.question_generation import TINY
from training import common
from training.question_generation import train_generator
from training.studies.question_generation import measures, study


def scores(effect, contexts=80, seeds=3, noise=0.02):
    """Return made-up (contexts, systems, seeds, 4) scores; `effect` adds to systems by name."""
    rng = np.random.default_rng(0)
    rows = np.tile(rng.uniform(0.2, 0.6, size=(contexts, 1, 1, 1)), (1, len(measures.SYSTEMS), seeds, 4))
    rows += rng.normal(scale=noise, size=rows.shape)
    for i, name in enumerate(measures.SYSTEMS):
        rows[:, i, :, 1:3] += effect.get(name, 0.0)
    return rows


@with_cases
def test_findings(effect, expected):
    report = measures.report_of({"rouge": scores(effect)}, np.ones(80, bool), 200)
    found = measures.findings(report)["rouge"]
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize("models", [["baseline"], ["baseline", "cvae_100", "cvae_75"]])
def test_models_that_a_study_lacks_are_refused(models, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["study", "--data_dir", "d", "--work", "w", "--models", *models])
    with pytest.raises(ValueError, match="models: expected baseline and cvae_100"):
        study.STUDY.main()


@pytest.mark.slow
def test_the_whole_study(made_up, tiny_encoder, tmp_path, monkeypatch, capsys):
    config = tmp_path / "tiny.args"
    config.write_text(f"{TINY} --encoder {tiny_encoder}", encoding="utf-8")
    words = f"study --data_dir {made_up} --work {tmp_path}/work --json {tmp_path}/large.json --use_cpu True".split()
    words += ["--config", str(config)]
    baseline = tmp_path / "baseline.args"
    baseline.write_text(f"{config.read_text()} --min_count 1", encoding="utf-8")
    words += ["--baseline_config", str(baseline)]
    words += "--seeds 1 2 --seeds_of_others 1 --contexts 0 --bases rouge bleu --resamples 50".split()

    def in_this_process(command, check, stdout):
        train_generator.train(*common.prepared(train_generator.Arguments, command[3:]))

    monkeypatch.setattr(common.subprocess, "run", in_this_process)
    run_program(monkeypatch, study, words)
    results = json.loads((tmp_path / "large.json").read_text())
    assert set(results["systems"]) == set(measures.SYSTEMS)
    for bases in results["systems"].values():
        for base in ("rouge", "bleu"):
            assert {"conventional", "precision", "recall", "f", "intervals"} <= set(bases[base])
    assert "--baseline_config baseline.args" in results["command"]
    counts = {
        model: json.loads((tmp_path / f"work/models/{model}_1/final/train.json").read_text())["arguments"]["min_count"]
        for model in ("baseline", "cvae_25")
    }
    assert counts == {"baseline": 1, "cvae_25": 2}
    assert all(run["1"]["kept_step"] <= run["1"]["steps"] for run in results["training"].values())
    for latent in (25, 50, 100):
        found = results["training"][f"cvae_{latent}"]["1"]
        assert 0 <= found["dev"]["active_dimensions"] <= latent
    assert results["seeds"] == [1, 2]
    assert results["seeds_of"] == {"baseline": [1, 2], "cvae_25": [1], "cvae_50": [1], "cvae_100": [1, 2]}
    assert set(results["training"]["cvae_25"]) == {"1"}
    for scores in results["systems"].values():
        low, high = scores["corpus"]["interval"]
        assert low <= scores["corpus"]["bleu"] <= high
    assert set(results["data"]) == {"squad_du2017.dev", "squad_du2017.test", "fairytaleqa.test"}
    assert results["contexts"] == 20
    assert 0 < results["several_references"]["contexts"] < 20
    assert "| CVAE 100 + RBS | " in capsys.readouterr().out

    path = tmp_path / "work/questions/squad_du2017.test.seed_1.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert all(len(texts) == len(row["references"]) for row in rows for texts in row["predictions"].values())
    assert all(len(set(row["predictions"]["baseline"])) == 1 for row in rows)
    out, _ = files.run("score", path, "--metric", "f_meta", "-s", "f_meta.base=rouge")
    assert all(system in out for system in measures.SYSTEMS)

    baseline.write_text(baseline.read_text() + " --hidden 8", encoding="utf-8")
    with pytest.raises(ValueError, match=r"output_dir: .*baseline_1 holds a run with other settings"):
        study.STUDY.main()
