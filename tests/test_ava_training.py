"""Training of judges: triples by hand, changes with a known verdict, tiny runs of every configuration, calibration."""

import itertools
import json
import random
import re
import sys

import numpy as np
import pytest
import torch
from genqa_metrics.ava import loading
from genqa_metrics.core import checkpoints, judge_model
from safetensors.torch import load_file

from tests.factories.ava import load, random_rows
from tests.factories.cases import with_cases
from tests.factories.modules import run_program
from training import mix
from training.ava import other_words, train_ava, wrong_answers
from training.ava import triples as t
from training.common import write_rows
from training.kpqa.data import Answer

FRAMES = wrong_answers.WORDS["frames"]
QUESTION = "who won the cup in 1990?"


def triple(candidate="Ann Lee won it.", references=("Ann Lee",), label=1.0, question=QUESTION, kind="x"):
    return t.Triple(question, tuple(references), candidate, label, kind)


def test_ava_pos_and_ava_neg():
    """Section 3.2 by hand: q1 has 2 correct, 2 wrong answers: 2 positives and 2 * 2 negatives; q2 has 1 correct."""
    rows = [
        {"question": question, "answer": answer, "label": label}
        for question, answer, label in [
            ("q1", "a", 1), ("q1", "b", 1), ("q1", "c", 0), ("q1", "d", 0), ("q2", "a", 1), ("q2", "c", 0)
        ]
    ]  # fmt: skip
    found = {(x.question, x.references[0], x.candidate, x.label) for x in t.as2_triples(rows, None, random.Random(0))}
    positive = {("q1", "a", "b", 1), ("q1", "b", "a", 1)}
    negative = {("q1", r, c, 0) for r in "ab" for c in "cd"}
    assert found == positive | negative
    fewer = list(t.as2_triples(rows, 1, random.Random(0)))
    assert sum(x.label == 0 for x in fewer) == 2


def test_short_answers_train_the_linear_judge(tmp_path):
    """Right answers hold the short answer "4", wrong ones "5"; they overlap with the reference alike."""
    rows = [
        {"question": "q", "references": ["r"], "candidate": f"x {4 + i % 2}", "label": 1 - i % 2, "short_answer": "4"}
        for i in range(20)
    ]
    train_ava.train_linear(t.judged_triples(rows, "n"), train_ava.Arguments(configuration="linear"), tmp_path, 0)
    weight = load_file(tmp_path / "model.safetensors")["weight"]
    assert weight[0] > 0.5
    assert weight[1:].abs().max() == 0
    sentences = [{"question": "q", "answer": f"{i}", "label": 1, "short_answer": "4"} for i in range(2)]
    assert {x.short_answer for x in t.as2_triples(sentences, None, random.Random(0))} == {"4"}


def test_verdicts_and_grades():
    rows = [
        {"question": "q", "references": ["a"], "candidate": "b", "label": 1, "score": 0.2},
        {"question": "q", "references": ["a"], "candidate": "b", "label": None, "score": 0.5},
    ]
    assert [x.label for x in t.judged_triples(rows, "n")] == [1.0, 0.5]
    rows[1]["score"] = None
    with pytest.raises(ValueError, match="n, row 1: expected a label or a score, got neither"):
        t.judged_triples(rows, "n")


def test_answers_of_other_systems_become_references():
    rows = [triple("Ann Lee won it."), triple("It was Ann."), triple("Bob", label=0.0)]
    found = list(other_words.other_system_triples(rows, random.Random(0)))
    assert [(x.references, x.candidate, x.label) for x in found[:2]] == [
        (("It was Ann.",), "Ann Lee won it.", 1.0),
        (("Ann Lee won it.",), "It was Ann.", 1.0),
    ]
    assert found[2].candidate == "Bob"
    assert found[2].references[0] in ("Ann Lee won it.", "It was Ann.")


def test_pairs_of_sentences_as_triples():
    """Entailed and paraphrased is right; only what holds in both directions is turned round."""
    rows = [
        {"first": "a", "second": "b", "label": label}
        for label in ("entailment", "neutral", "contradiction", "paraphrase", "not_paraphrase", None)
    ] * 30
    found = {(x.label, x.references, x.candidate) for x in t.pair_triples(rows, "n", random.Random(0))}
    assert found == {(1.0, ("a",), "b"), (1.0, ("b",), "a"), (0.0, ("a",), "b"), (0.0, ("b",), "a")}
    for label, turned in (("entailment", {"b"}), ("neutral", {"b"}), ("contradiction", {"a", "b"})):
        own = [row for row in rows if row["label"] == label]
        assert {x.candidate for x in t.pair_triples(own, "n", random.Random(0))} == turned


def test_buried_answers_stand_in_long_text_without_the_reference():
    said = "It is said that number {} came from Bonn."
    others = [triple(said.format(i), ("Bonn",), question=f"cup {i}?") for i in range(60)]
    rows = [triple(), triple("Bob did.", label=0.0), *others]
    found = list(other_words.buried(rows, random.Random(0)))
    assert [x.label for x in found[:2]] == [1.0, 0.0]
    for before, after in zip(rows[:2], found[:2], strict=True):
        assert before.candidate in after.candidate
        assert 60 <= len(after.candidate.split()) <= 400
        assert after.references == before.references
    assert "Ann Lee" not in found[1].candidate


def test_typing_errors_keep_the_verdict():
    rows = [triple("Elizabeth discovered radium."), triple("Ann", label=0.0), triple("Wilhelmina", label=0.0)]
    for seed in range(30):
        first, second = other_words.misspelt(rows, random.Random(seed))
        assert (first.label, second.label) == (1.0, 0.0)
        assert second.candidate.lower() != "wilhelmina"
        assert second.candidate[0].lower() == "w"
        assert first.candidate.lower() != rows[0].candidate.lower()
        assert len(first.candidate.split()) == 3


ANSWERS = wrong_answers.Answers(
    [("who is it?", "Bob Ray"), ("who was he?", "Carl May"), ("when?", "May 1, 1990"), ("when?", "June 1950")]
)


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        ("wrong_answer", triple(), {"Bob Ray won it.", "Carl May won it."}),
        ("wrong_number", triple("In 1990, I think.", ("1990",), question="when?"), None),
        ("wrong_number", triple("On May 3.", ("May 3",), question="when?"), None),
        ("wrong_name", triple(), {f"{a} won it." for a in ("Bob Lee", "Ray Lee", "Carl Lee", "May Lee")}
         | {f"{a} won it." for a in ("Ann Bob", "Ann Ray", "Ann Carl", "Ann May")}),
        ("neighbour", triple("Ann Lee won it before Bob Ray."),
         {"Bob Ray", "Bob Ray won it before Bob Ray."} | {frame.format("Bob Ray") for frame in FRAMES}),
        ("neighbour", triple("In 1990, not 1991.", ("1990",), question="when?"),
         {"1991", "In 1991, not 1991."} | {frame.format("1991") for frame in FRAMES}),
        ("negated", triple("It was Ann Lee. He is old."), {f"It was{n} Ann Lee. He is old." for n in (" not", "n't")}),
        ("negated", triple("I can not say. Ann Lee did not lose."), {"I can not say. Ann Lee did lose."}),
        ("negated", triple("Ann Lee won."), {"Ann Lee lost."}),
        ("swapped", triple("Then, Ann Lee beat Bob Ray in Rome."), {"Then, Bob Ray beat Ann Lee in Rome."}),
    ],
)  # fmt: skip
def test_changes_make_wrong_answers(kind, given, expected):
    references = set()
    for seed in range(40):
        (found,) = wrong_answers.changed([given], kind, ANSWERS, random.Random(seed))
        references.add(found.references)
        if kind == "wrong_number":
            assert given.references[0] not in found.candidate
        elif found.references in (given.references, (given.candidate,)):
            assert found.candidate in expected
        else:  # the other way round: the reference denies what was right
            assert found.references[0] in expected
            assert found.label == float(found.candidate == found.references[0])
            continue
        assert found.label == 0
        assert found.candidate != given.candidate
    assert {given.references, (given.candidate,)} <= references
    assert (len(references) > 2) == (kind in ("negated", "swapped"))


@pytest.mark.parametrize("kind", wrong_answers.CHANGES)
def test_what_cannot_be_changed_is_left_out(kind):
    """Ann and Bob are Bob and Ann."""
    for row, of_kind, answers in (
        (triple("It was Ann and Bob.", ("Ann",)), "swapped", ANSWERS),
        (triple("Bob", label=0.0), kind, ANSWERS),
        (triple("hm", ("?",), question="why?"), kind, wrong_answers.Answers([])),
    ):
        assert not list(wrong_answers.changed([row], of_kind, answers, random.Random(0)))


def test_flooding_keeps_the_verdict_and_off_topic_is_wrong():
    rows = [triple(), triple("Bob Ray", label=0.0), triple("Paris", ("Paris",), question="where?")]
    for seed in range(20):
        for row in other_words.flooded(rows, random.Random(seed)):
            own = [x for x in rows if x.question == row.question and x.candidate in row.candidate]
            assert row.label in {x.label for x in own}
            assert len(row.candidate) > max(len(x.candidate) for x in own)
    made = [row for seed in range(30) for row in wrong_answers.off_topic(rows, random.Random(seed))]
    assert {row.label for row in made} == {0.0}
    assert not any("Ann Lee" in row.candidate for row in made if row.references == ("Ann Lee",))
    assert any(QUESTION.rstrip("?") in row.candidate for row in made)


@with_cases
def test_other_forms_keep_the_verdict(candidate, references, label, question, expected):
    found = set()
    for seed in range(40):
        for made in other_words.reworded([triple(candidate, references, label, question)], random.Random(seed)):
            assert made.label == label
            found.add((made.references[0], made.candidate))
    if expected is None:
        texts = {text for _, text in found}
        assert {"On July 4, 1776.", "On the 4th of July 1776.", "On Jul 4, 1776."} < texts
        assert all("1776" in reference and "1776" in candidate for reference, candidate in found)
    else:
        assert found == set(map(tuple, expected))


@with_cases
def test_restated_sentences_keep_words_and_verdict(sentence, expected):
    found, references = set(), set()
    for label, seed in itertools.product((0.0, 1.0), range(30)):
        for made in other_words.restated([triple(sentence, label=label)], random.Random(seed)):
            assert made.label == label
            found.add(made.candidate)
            references.add((made.references, label))
    spaced = {re.sub(r"(?<=\w)([.])", r" \1", text.lower()) for text in expected}
    assert {text for text in found if text != text.lower()} == {text for text in expected if text != text.lower()}
    assert {text for text in found if text == text.lower()} == spaced
    if expected:
        assert references == {(("Ann Lee",), 0.0), (("Ann Lee",), 1.0), ((sentence,), 1.0)}


def test_aliases_are_right_answers():
    rows = [triple(references=("NYC", "New York City", "new york city"))]
    found = [row for seed in range(200) for row in other_words.aliases(rows, random.Random(seed))]
    assert {row.label for row in found} == {1.0}
    names = {"NYC", "New York City", "new york city"}
    framed = {frame.format(name): name for frame in FRAMES for name in names}
    assert names < {row.candidate for row in found} <= names | set(framed)
    frames = {row.candidate.replace(framed[row.candidate], "{}") for row in found if row.candidate in framed}
    assert frames == set(FRAMES)  # right answers stand in all frames that wrong ones stand in
    taken_out = [row for row in found if framed.get(row.candidate, row.candidate) not in row.references]
    assert taken_out
    assert all(
        t.normalised(framed.get(row.candidate, row.candidate)) not in map(t.normalised, row.references)
        for row in taken_out
    )


def test_spans_make_right_and_wrong_answers():
    text = "Ann Lee won it in 1990."
    row = Answer("who won?", text, tuple([1.0] * 7 + [0.0] * (len(text) - 7)), "made")
    shapes = set()
    for seed in range(60):
        right, wrong = wrong_answers.span_triples([row], ANSWERS, random.Random(seed))
        assert (right.label, wrong.label) == (1.0, 0.0)
        assert "Ann Lee" in right.candidate
        assert "Ann Lee" not in wrong.candidate
        assert right.references == wrong.references
        shapes.add((right.references[0], right.candidate))
    assert shapes == {(a, b) for a in ("Ann Lee", text) for b in ("Ann Lee", text)}


def train(monkeypatch, files, encoder, output, *more):
    arguments = f"""train_ava.py --judged made.train=2 --judged_dir {files} --as2 sentences --as2_dir {files}
        --spans spans --spans_dir {files} --augmented made.train --augment flooded off_topic=0.5 alias
        --constructed yes_no=2 opposite=3
        --single_reference 0.5 --plain 0.5 --dev made.dev --as2_dev sentences --encoder {encoder} --max_length 48
        --output_dir {output} --use_cpu --report_to none --disable_tqdm 1 --logging_steps 5 --save_steps 4
        --per_device_train_batch_size 4 --learning_rate 1e-3 --max_steps 8"""
    run_program(monkeypatch, train_ava, [*arguments.split(), *more])
    return output / "final"


@pytest.mark.parametrize("configuration", ["a0-all", "a1-r_qt", "a1-all", "a2", "linear"])  # one of each form
def test_every_configuration_trains_and_is_loaded(
    monkeypatch, files, tiny_encoder, tmp_path, repository, configuration
):  # fmt: skip
    final = train(monkeypatch, files, tiny_encoder, tmp_path, "--configuration", configuration, "--marks", "valued")
    rows = random_rows(6)
    found = load(repository, final).compute(**rows, per_example=True)["ava_score_per_example"]
    assert len({round(score, 9) for score in found}) > 2
    card = (final / "README.md").read_text()
    assert f"`{configuration}`" in card
    assert checkpoints.checkpoint_digest(final) in card
    assert judge_model.file_digest(files / "made.train.jsonl.gz") in card
    assert "| made.train | 24 | 2 | see the source | `" in card
    assert "| flooded | " in card


def test_an_adapter_resumes_where_it_was_killed(monkeypatch, files, tiny_encoder, tmp_path):
    more = "--lora_rank", "4", "--class_weight", "2", "--marks", "valued", "--shuffled_batches", "True"
    whole = train(monkeypatch, files, tiny_encoder, tmp_path / "whole", *more)
    half = tmp_path / "half"
    half.mkdir()
    (tmp_path / "whole/checkpoint-4").rename(half / "checkpoint-4")
    resumed = train(monkeypatch, files, tiny_encoder, half, *more)
    first, second = (load_file(folder / "adapter_model.safetensors") for folder in (whole, resumed))
    assert {str(tensor.dtype) for tensor in first.values()} == {"torch.float16"}
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert any("token_type_embeddings" in name for name in first)
    assert loading.load_judge(resumed).marks == "valued"


def test_whole_matrices_are_folded_into_an_adapter(monkeypatch, files, tiny_encoder, tmp_path):
    """An adapter of full rank judges as the trained matrices; one of a lower rank is smaller."""
    kept = {}
    folded = train_ava.folded
    monkeypatch.setattr(train_ava, "folded", lambda model, args: folded(kept.setdefault("model", model), args))
    pairs = [{"first": f"a {i}", "second": f"b {i}", "label": "paraphrase"} for i in range(8)]
    write_rows(files / "pairs.jsonl", pairs)
    more = ["--pairs", "pairs", "--pairs_dir", str(files), "--marks", "valued", "--dropout", "0", "--fold_rank"]
    final = train(monkeypatch, files, tiny_encoder, tmp_path / "whole", *more, "64")
    model, _ = judge_model.load_model(final, "a1-r_qt", "valued")
    trained = kept.pop("model").eval()
    inputs = {name: torch.tensor([[2, 3, 4, 5]]) for name in ("input_ids", "token_type_ids")}
    inputs["token_type_ids"] %= 6
    with torch.inference_mode():
        found, expected = (m(**inputs).logits.item() for m in (model, trained))
    assert found == pytest.approx(expected, abs=2e-3)  # written in half precision
    small = train(monkeypatch, files, tiny_encoder, tmp_path / "small", *more, "2")
    sizes = [(folder / "adapter_model.safetensors").stat().st_size for folder in (small, final)]
    assert sizes[0] < sizes[1]
    assert "| pairs | 8 | 1 | see the source |" in (small / "README.md").read_text()

    settings = json.loads((final / "ava_config.json").read_text())
    settings |= {"long_answer": 90, "passage": 30, "reference_aggregation": "max"}
    (final / "ava_config.json").write_text(json.dumps(settings))
    mixed = tmp_path / "mixed"
    judges = [f"{final}=0.75", f"{small}=0.25"]
    run_program(monkeypatch, mix, ["mix", "--parts", *judges, "--fold_rank", "64", "--output", str(mixed)])
    models = [judge_model.load_model(folder, "a1-r_qt", "valued")[0] for folder in (final, small, mixed)]
    first, second, mean = (model.classifier.weight for model in models)
    assert torch.allclose(0.75 * first + 0.25 * second, mean, atol=1e-3)
    assert json.loads((mixed / "ava_config.json").read_text()) == settings
    assert "training.mix --parts" in (mixed / "README.md").read_text()
    assert checkpoints.checkpoint_digest(mixed) in (mixed / "README.md").read_text()
    monkeypatch.setattr(sys, "argv", ["mix", "--parts", f"{final}=0.5", f"{small}=0.2", "--output", str(mixed)])
    with pytest.raises(ValueError, match=r"parts: expected weights that sum to 1, got 0\.5, 0\.2"):
        mix.main()


@pytest.mark.parametrize("score", ["f1", "auc"])
def test_it_stops_early_and_keeps_the_best(monkeypatch, files, tiny_encoder, tmp_path, score):
    more = "--patience 1 --eval_strategy steps --eval_steps 4 --max_steps 40 --learning_rate 0".split()
    train(monkeypatch, files, tiny_encoder, tmp_path, *more, "--best_by", score)
    steps = sorted(int(path.name.split("-")[1]) for path in tmp_path.glob("checkpoint-*"))
    assert max(steps) == 8  # nothing gets better at a learning rate of 0: the second evaluation is the last
    state = json.loads((tmp_path / "checkpoint-8/trainer_state.json").read_text(encoding="utf-8"))
    (name,) = {name for row in state["log_history"] for name in row if name.endswith(f".dev_{score}")}
    assert state["best_metric"] == next(row[name] for row in state["log_history"] if name in row)


@with_cases
def test_wrong_arguments_are_named(monkeypatch, files, tiny_encoder, tmp_path, more, message):
    with pytest.raises(ValueError, match=message):
        train(monkeypatch, files, tiny_encoder, tmp_path, *more.split())
    assert not list(tmp_path.iterdir())


def test_stopping_early_needs_dev_rows():
    with pytest.raises(ValueError, match="patience: stopping early needs dev rows; name a file with --dev"):
        train_ava.check(train_ava.Arguments(configuration="a1-r_qt", patience=2))
