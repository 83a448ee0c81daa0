"""Training of keyphrase predictors: rows and labels by hand, a tiny run, its resumption, its card."""

import gzip
import json
import random
import shutil
from pathlib import Path

import huggingface_hub
import numpy as np
import pytest
import torch
from genqa_metrics.core import checkpoints, judge_model
from genqa_metrics.kpqa import loading
from genqa_metrics.kpqa.loading import PredictorSettings
from safetensors.torch import load_file, save_file
from transformers import AutoModel

from tests.factories.cases import tables, with_cases
from tests.factories.modules import run_program
from training import common, mix
from training.common import share
from training.kpqa import data, evaluate_kpqa, judge_encoder, train_kpqa
from training.studies.kpqa import ablations, settings


def row(question, context, *spans):
    starts = [context.index(span) for span in spans]
    return {"question": question, "context": context, "answers": {"text": list(spans), "answer_start": starts}}


def marked(answer):
    """The answer with its labels: [whole], (part)."""
    out, before = "", 0.0
    for letter, label in zip([*answer.text, ""], [*answer.labels, 0.0], strict=True):
        if label != before:
            out += {0.0: "", 1.0: "]"}.get(before, ")") + {0.0: "", 1.0: "["}.get(label, "(")
            before = label
        out += letter
    return out


def made(source, rows, unit=1.0, function=1.0, max_words=80):
    return [marked(a) for a in data.answers(source, rows, unit, function, max_words)]


@with_cases
def test_what_is_a_keyphrase(question, context, span, settings, expected):
    """Of the sentences that hold the answer, without articles and punctuation at its ends."""
    assert made("squad", [row(question, context, span)], **settings) == [expected]


def test_alternatives_are_averaged_and_several_answers_united():
    rows = [row("Where?", "in a big room", "big room", "room")]
    (answer,) = data.answers("squad", rows, 1.0, 1.0, 80)
    assert answer.labels == tuple([0.0] * 5 + [0.5] * 4 + [1.0] * 4)
    rows = [row("Who?", "Ann met Bob", "Ann", "Bob")]
    assert made("qanom.train", rows) == ["[Ann] met [Bob]"]


def test_yes_no_long_and_missing_answers_are_left_out():
    rows = [row("Is it?", "yes it is", "yes"), row("Who?", "word " * 30 + "Ann", "Ann"), row("Who?", "no", "no")]
    assert made("squad", rows, max_words=10) == []


def test_multi_hop_keeps_all_sentences():
    sentences = "Ann was born in Rome. She met Bob there many years after that day. " * 3
    whole = {**row("Who?", sentences.strip(), "Bob"), "whole": True}
    (answer,) = data.answers("hotpot", [whole], 1.0, 1.0, 80)
    assert answer.text == sentences.strip()


def test_rows_of_the_hub():
    """Answers of HotpotQA lie in its supporting sentences, of MS MARCO in some passage; yes and no are left out."""
    hotpot, marco = tables(__name__)["rows of the Hub"]
    found = data.hotpot_row(hotpot)
    assert found["context"] == "Bob met him. He came from Rome."
    assert found["answers"] == {"text": ["Rome"], "answer_start": [found["context"].index("Rome")]}
    assert found["whole"]
    assert data.hotpot_row({**hotpot, "answer": "yes"}) is None
    assert data.hotpot_row({**hotpot, "answer": "Paris"}) is None
    found = data.marco_row(marco)
    assert (found["context"], found["answers"]["text"]) == ("There are four steps.", ["four steps"])
    assert data.marco_row({**marco, "answers": ["Yes"]}) is None
    assert data.marco_row({**marco, "answers": ["six"]}) is None


def test_yes_no_rows():
    sentences = ["The old door is open in winter.", "What is it ?", "A dog can swim .", "Nothing here"]
    rows = data.yes_no_answers(sentences, 100, random.Random(0))
    assert {row.question.rstrip(" ?") for row in rows} == {"is the old door open in winter", "can a dog swim"}
    for answer in rows:
        assert len(answer.text) == len(answer.labels)
        assert marked(answer).startswith(("[yes]", "[no]"))
        assert all(label == 0 for letter, label in zip(answer.text, answer.labels, strict=True) if letter in ",.")
    rows = [row for seed in range(20) for row in data.yes_no_answers(sentences, 100, random.Random(seed))]
    assert any("[not]" in marked(answer) for answer in rows)
    assert data.yes_no_answers(["Nothing here"], 5, random.Random(0)) == []


def test_variants_keep_the_labelled_words():
    france = row("What is the capital of France?", "It is Paris , they say", "Paris")
    (answer,) = data.answers("squad", [france], 1, 1, 80)
    rng = random.Random(0)
    texts = {marked(data.varied(answer, rng, 0.4, 0.4, 0.0)) for _ in range(60)}
    assert texts >= {
        "[Paris]",
        "It is [Paris] , they say",
        "the capital of France is [Paris]",
        "[Paris] is the capital of France",
    }
    assert all("[Paris]" in text for text in texts)
    questions = {data.varied(answer, rng, 0, 0, 1.0).question for _ in range(60)}
    assert questions == {"What is the capital of France", "What capital France"}


def test_shares():
    rows = list(range(10))
    assert share(rows, 2, random.Random(0)) == rows * 2
    part = share(rows, 0.3, random.Random(0))
    assert len(part) == len(set(part)) == 3
    held = [data.is_held_out(f"question {i}", 0.1) for i in range(2000)]
    assert 0.07 < sum(held) / 2000 < 0.13


def train(monkeypatch, encoder, rows_folder, output, *more):
    arguments = f"""--encoder {encoder} --sources made=0.5 --data_dir {rows_folder} --dev_sources made
        --output_dir {output}
        --passes 2 --max_steps 4 --save_steps 2 --per_device_train_batch_size 8 --learning_rate 1e-2 --use_cpu
        --report_to none --disable_tqdm 1 --seed 3"""
    run_program(monkeypatch, train_kpqa, ["train_kpqa.py", *arguments.split(), *more])
    return Path(output) / "final"


def test_tiny_run_resumes_where_it_was_killed(monkeypatch, tiny_encoder, rows_folder, tmp_path):
    options = ("--lora_rank", "4", "--logit_shift", "-1.5", "--yes_no", "3")
    final = train(monkeypatch, tiny_encoder, rows_folder, tmp_path / "whole", *options)
    (tmp_path / "killed").mkdir()
    shutil.copytree(tmp_path / "whole/checkpoint-2", tmp_path / "killed/checkpoint-2")
    again = train(monkeypatch, tiny_encoder, rows_folder, tmp_path / "killed", *options)
    whole, resumed = (load_file(folder / "adapter_model.safetensors") for folder in (final, again))
    assert whole.keys() == resumed.keys()
    assert all(tensor.equal(resumed[name]) for name, tensor in whole.items())
    trained = load_file(tmp_path / "whole/checkpoint-4/adapter_model.safetensors")
    (bias,) = [name for name in whole if name.endswith("classifier.bias")]
    assert (whole[bias].float() - trained[bias]).tolist() == pytest.approx([0, -1.5], abs=1e-3)
    assert not list(final.glob("*.bin"))
    loading.load_token_classifier(final)
    card = (final / "README.md").read_text(encoding="utf-8")
    assert checkpoints.checkpoint_digest(final) in card
    assert checkpoints.file_digest(rows_folder / "made.jsonl.gz") in card
    assert '"seed": 3' in card
    assert "| made | " in card


def test_what_is_pushed_is_the_checkpoint_that_was_written(
    monkeypatch, hub, client, tiny_encoder, rows_folder, tmp_path
):
    monkeypatch.setattr(huggingface_hub.hf_api.api, "endpoint", hub.url)
    final = train(monkeypatch, tiny_encoder, rows_folder, tmp_path, "--push_to_hub", "--hub_model_id", "ns/pushed")
    published = hub.content("model", "ns/pushed")
    assert {path.name: path.read_bytes() for path in final.iterdir()}.items() <= published.items()
    assert not [path for path in published if path.endswith(".bin") or "checkpoint-" in path]
    assert len([write for write in hub.writes() if "/ns/pushed/commit/" in write]) == 1


def test_whole_model_without_question_with_the_papers_head(monkeypatch, tiny_encoder, rows_folder, tmp_path):
    options = ("--no_question", "--head", "tanh", "--dev_share", "0.5")
    final = train(monkeypatch, tiny_encoder, rows_folder, tmp_path, *options)
    model, _ = loading.load_token_classifier(final)
    assert [layer.out_features for layer in (model.classifier[0], model.classifier[2])] == [768, 2]
    assert loading.checked_settings(final) == PredictorSettings(question=False, head="tanh", max_length=256)


def test_f1_of_tokens_and_of_whole_keyphrases():
    """Spans are 0-1 and 3; 0-1 and 3-4 are predicted: 3 of 4 tokens, 1 of 2 spans. The last token is padding."""
    labels = np.array([[1.0, 0.9, 0.1, 1.0, 0.0, -100.0]])
    predicted = np.array([[True, True, False, True, True, True]])
    logits = np.stack([np.zeros(predicted.shape), np.where(predicted, 1.0, -1.0)], axis=-1)
    assert train_kpqa.token_f1((logits, labels)) == pytest.approx(
        {
            "precision": 0.75, "recall": 1.0, "f1": 6 / 7,
            "span_precision": 0.5, "span_recall": 0.5, "span_f1": 0.5,
        }
    )  # fmt: skip


def test_unknown_source(monkeypatch, tiny_encoder, rows_folder, tmp_path):
    with pytest.raises(ValueError, match=r"sources: no nothing\.jsonl\.gz"):
        train(monkeypatch, tiny_encoder, rows_folder, tmp_path, "--sources", "nothing")


@pytest.fixture(scope="module")
def judgments(tmp_path_factory):
    """Two systems' answers to twenty questions in every set: the right number, or another one."""
    folder = tmp_path_factory.mktemp("judgments")
    source = random.Random(0)
    for name in evaluate_kpqa.SETS:
        with gzip.open(folder / f"{name}.dev.jsonl.gz", "wt", encoding="utf-8") as file:
            for i in range(40):
                right = source.random() < 0.5
                made = {
                    "question": f"how many steps are in test {i // 2} ?",
                    "references": ["there are four steps in a test", "four"],
                    "candidate": f"there are {'four' if right else 'seven'} steps"
                    + " in a room" * source.randrange(2),
                    "score": float(right),
                    "system": "AB"[i % 2],
                }
                file.write(json.dumps(made) + "\n")
    return folder


@pytest.mark.slow
def test_all_tables_and_their_result_file(monkeypatch, judgments, tmp_path):
    arguments = ["--judgments", judgments, "--checkpoints", "kpqa=", "again=", "--resamples", 20]
    result = run_study(monkeypatch, evaluate_kpqa, tmp_path, *arguments)
    assert result["command"].startswith("python -m training.kpqa.evaluate_kpqa --judgments ")
    assert str(judgments.parent) not in result["command"]
    file = judgments / "kpqa_avsd.dev.jsonl.gz"
    assert result["data"]["kpqa_avsd.dev"] == checkpoints.file_digest(file)
    for name in evaluate_kpqa.SETS:
        weighted, plain = (result["agreement"][name][metric]["pearson"] for metric in ("rougeL_kpqa", "rougeL"))
        assert weighted[0] > plain[0]
        assert weighted[1] <= weighted[0] <= weighted[2]
        assert result["comparison"]["again"][name]["rougeL_kpqa"]["difference"] == [0, 0, 0]


def run_study(monkeypatch, module, tmp_path, *arguments):
    """Run a study and return its result file."""
    path = tmp_path / "result.json"
    run_program(monkeypatch, module, ["study", *map(str, arguments), "--json", str(path)])
    return json.loads(path.read_text(encoding="utf-8"))


def run_script(monkeypatch, module, *arguments):
    run_program(monkeypatch, module, [f"{module.__name__.split('.')[-1]}.py", *map(str, arguments)])


def test_predictors_are_mixed(monkeypatch, tiny_checkpoint, tiny_encoder, tmp_path):
    """Every matrix is the mean, in half precision; the card has both digests; settings must be the same."""
    folders = [shutil.copytree(tiny_checkpoint, tmp_path / name) for name in "ab"]
    weights = load_file(folders[1] / "model.safetensors")
    name = next(name for name in weights if name.endswith("query.weight"))
    weights[name] *= 3.0
    save_file(weights, folders[1] / "model.safetensors", metadata={"format": "pt"})
    (folders[0] / "README.md").write_text("# Card\n\n## Data\n", encoding="utf-8")
    given = f"--encoder {tiny_encoder} --fold_rank 64 --max_length 100 --output {tmp_path}/mixed --parts".split()
    run_script(monkeypatch, mix, *given, *(f"{folder}=0.5" for folder in folders))
    found = loading.load_token_classifier(tmp_path / "mixed")[0].state_dict()
    assert torch.allclose(found[name], 2 / 3 * weights[name], atol=1e-3)
    assert torch.allclose(found["classifier.weight"], weights["classifier.weight"], atol=1e-3)
    assert loading.checked_settings(tmp_path / "mixed").max_length == 100
    card = (tmp_path / "mixed/README.md").read_text(encoding="utf-8")
    assert all(checkpoints.checkpoint_digest(folder) in card for folder in folders)
    with pytest.raises(ValueError, match=r"parts: expected weights that sum to 1, got 0\.5, 0\.4"):
        run_script(monkeypatch, mix, *given, f"{folders[0]}=0.5", f"{folders[1]}=0.4")
    (folders[1] / "kpqa_config.json").write_text(json.dumps({"max_length": 64}), encoding="utf-8")
    with pytest.raises(ValueError, match=r"parts: .*b: expected the settings of .*max_length=64"):
        run_script(monkeypatch, mix, *given, *(f"{folder}=0.5" for folder in folders))


def test_a_predictor_can_begin_as_a_judge(tmp_path):
    """The encoder has the shapes of the base encoder and the weights of the judge."""
    judge_encoder.write_judge_encoder(tmp_path)
    encoder = AutoModel.from_pretrained(tmp_path).state_dict()
    base = load_file(checkpoints.base_encoder() / "model.safetensors")
    judge = judge_model.load_model(judge_encoder.JUDGE, "a1-r_qt", "valued")[0].base_model.state_dict()
    name = "encoder.layer.5.attention.self.query.weight"
    assert torch.equal(encoder[name], judge[name])
    assert not torch.equal(encoder[name], base[name])
    name = "embeddings.token_type_embeddings.weight"
    assert torch.equal(encoder[name], base[name])


def test_variants(monkeypatch, capsys, judgments, tiny_checkpoint, tmp_path):
    """Every variant on every set; one that changes nothing has the difference 0 and is never real."""
    arguments = ("--judgments", judgments, "--checkpoint", tiny_checkpoint, "--resamples", 40)
    result = run_study(monkeypatch, settings, tmp_path, "--sets", "kpqa_marco", *arguments)
    text = capsys.readouterr().out
    assert all(f"| {label} | " in text for label in ("default", *settings.VARIANTS))
    same = result["variants"]["negation=False"]["kpqa_marco"]["rougeL_kpqa"]
    assert same["difference"] == [0, 0, 0]
    assert not same["real"]
    assert result["comparisons"] == sum(len(metrics) for metrics, _ in settings.VARIANTS.values())


@pytest.mark.slow
def test_ablations(monkeypatch, tiny_encoder, rows_folder, judgments, tmp_path):
    """Four tiny runs, each trained once; a run with other settings is never taken for one of these."""
    (tmp_path / "data").mkdir()
    for name in ("squad.train", "other"):
        shutil.copy(rows_folder / "made.jsonl.gz", tmp_path / f"data/{name}.jsonl.gz")
    (tmp_path / "tiny.args").write_text(
        f"""--sources squad.train=0.5 other --encoder {tiny_encoder} --per_device_train_batch_size 4 --use_cpu True
        --yes_no 4 --report_to none --disable_tqdm 1 --seed 5 --save_strategy no --learning_rate 1e-2""",
        encoding="utf-8",
    )
    commands = []

    def in_this_process(command, check, stdout):
        commands.append(command[3:])
        run_program(monkeypatch, train_kpqa, command[2:])

    def ablate_again(*more):
        arguments = f"--recipe {tmp_path}/tiny.args --data_dir {tmp_path}/data --judgments {judgments} --max_steps 2"
        arguments += f" --output_dir {tmp_path}/runs --resamples 20"
        return run_study(monkeypatch, ablations, tmp_path, *arguments.split(), *more)

    monkeypatch.setattr(common.subprocess, "run", in_this_process)
    result = ablate_again()
    added = [command[command.index("2") + 1 : command.index("--output_dir")] for command in commands]
    assert added == [[], ["--no_question"], ["--yes_no", "0"], ["--exclude", "squad.train"]]
    assert (result["steps"], result["training_seed"]) == (2, 5)
    assert result["data"]["other"] == checkpoints.file_digest(tmp_path / "data/other.jsonl.gz")
    assert len(set(result["checkpoints"].values())) == 4
    ablate_again()
    assert len(commands) == 4
    assert list(ablate_again("--only", "full", "without SQuAD")["ablations"]) == ["full", "without SQuAD"]
    with pytest.raises(ValueError, match="only: expected names out of full, without the question"):
        ablate_again("--only", "without anything")
    with pytest.raises(ValueError, match=r"output_dir: .*full holds a run with other settings"):
        ablate_again("--learning_rate", "1e-3")
    assert len(commands) == 4
