"""Training that pushes to the Hub, and scoring with what was pushed: real clients in a process of their own."""

import json
import sys

import pytest

from tests.factories.modules import printed_by

CODE = """
import json, sys
from pathlib import Path
import datasets, genqa_metrics, torch, transformers

from training.ava import train_ava
from training.kpqa import train_kpqa

encoder, rows_folder, verdicts, output = sys.argv[1:]
rows = {
    "questions": ["how many steps are there", "who is it"],
    "predictions": ["there are seven steps", "it is the room"],
    "references": ["there are four steps", ["the room", "it is not"]],
}

def scores(checkpoint, metric="kpqa"):
    more = {"embedding_model": encoder} if metric == "kpqa" else {}
    it = genqa_metrics.load(metric, checkpoint=str(checkpoint), keep_in_memory=True, device="cpu", **more)
    return [it.compute(**rows, per_example=True), it.signature()]

results = {}

# 1. The training scripts, all weights and an adapter.
kpqa = ["--sources", "made", "--data_dir", rows_folder]
for name, script, arguments in (
    ("whole", train_kpqa, kpqa),
    ("adapter", train_kpqa, [*kpqa, "--lora_rank", "4"]),
    ("judge", train_ava, ["--judged", "made.train", "--judged_dir", verdicts, "--augmented", "made.train"]),
):
    settings = "--max_steps 4 --save_steps 2 --per_device_train_batch_size 8 --learning_rate 1e-2 --seed 3"
    sys.argv = [script.__file__, "--encoder", encoder, *arguments, "--output_dir", f"{output}/{name}"]
    sys.argv += ["--push_to_hub", "--hub_model_id", f"ns/{name}", *settings.split()]
    sys.argv += ["--use_cpu", "--report_to", "none", "--disable_tqdm", "1"]
    script.main()
    metric = "ava" if name == "judge" else "kpqa"
    results[name] = [scores(f"ns/{name}", metric), scores(f"{output}/{name}/final", metric)]

# 2. A Trainer of one's own, nothing of this repository in it.
model = transformers.AutoModelForTokenClassification.from_pretrained(encoder, num_labels=2)
tokenizer = transformers.AutoTokenizer.from_pretrained(encoder)
encoded = tokenizer(["how many steps ?"] * 8, ["there are seven steps"] * 8)
labels = [[int(i == 7) for i in range(len(ids))] for ids in encoded["input_ids"]]
arguments = transformers.TrainingArguments(
    f"{output}/own", push_to_hub=True, hub_model_id="ns/own", max_steps=3, save_steps=2, learning_rate=1e-2,
    use_cpu=True, report_to=[], disable_tqdm=True,
)
trainer = transformers.Trainer(
    model, arguments, train_dataset=datasets.Dataset.from_dict({**encoded, "labels": labels}),
    processing_class=tokenizer,
)
trainer.train()
trainer.push_to_hub()
model.save_pretrained(f"{output}/local")
tokenizer.save_pretrained(f"{output}/local")
results["own"] = [scores("ns/own"), scores(f"{output}/local")]
print(json.dumps(results))
"""


@pytest.mark.slow
def test_what_a_training_pushes_scores_like_what_it_wrote(hub, tiny_encoder, rows_folder, files, repository, tmp_path):
    """By the training scripts, whole and adapter, and by a plain Trainer(push_to_hub=True)."""
    arguments = [str(tiny_encoder), str(rows_folder), str(files), str(tmp_path / "runs")]
    environment = hub.environment(tmp_path / "home")
    del environment["PYTHONPATH"]
    (tmp_path / "home").mkdir()
    out = printed_by([sys.executable, "-c", CODE, *arguments], cwd=repository, env=environment)
    found = json.loads(out.splitlines()[-1])
    assert len({str(pushed) for pushed, _ in found.values()}) == 4
    for (pushed, signature), (local, same) in found.values():
        assert signature == same
        for key, value in local.items():
            assert pushed[key] == pytest.approx(value, abs=1e-6), key
    for name, weights in (("whole", "model"), ("adapter", "adapter_model"), ("judge", "model")):
        published = hub.content("model", f"ns/{name}")
        final = tmp_path / "runs" / name / "final"
        assert {path.name: path.read_bytes() for path in final.iterdir()}.items() <= published.items()
        assert f"{weights}.safetensors" in published
        assert not [path for path in published if path.endswith(".bin") or "checkpoint-" in path]
        assert len([write for write in hub.writes() if f"/ns/{name}/commit/" in write]) == 1
    assert "model.safetensors" in hub.content("model", "ns/own")
