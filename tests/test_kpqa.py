"""KPQA as a module: tiny checkpoints from a seed, the contract, encoding that does not depend on its neighbours."""

import json
import random
import shutil
import warnings

import numpy as np
import pytest
import torch
from genqa_metrics.core import checkpoints, inference
from genqa_metrics.core.inference import budgeted
from genqa_metrics.kpqa import loading
from genqa_metrics.kpqa.encoding import Encoder, aligned
from genqa_metrics.kpqa.loading import SETTINGS_FILE
from genqa_metrics.registry import make_scorer
from hypothesis import given
from hypothesis import strategies as st

from tests.factories.cases import with_cases
from tests.factories.kpqa import QUESTIONS, load, random_rows, saved


@given(st.lists(st.integers(1, 40), max_size=50), st.integers(1, 100))
def test_batches_hold_every_row_once_within_the_budget(lengths, budget):
    batches = list(budgeted(lengths, budget))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= budget


def test_weights_are_the_models_own(models):
    """Parity with the plain loop: one pair at a time, softmax, tokens after the first separator."""
    pairs = [(q, p) for q, p, _ in random_rows(20)]
    found = Encoder(models).keyphrase_weights(pairs)
    for (question, text), (ids, _, weights) in zip(pairs, found, strict=True):
        inputs = models.tokenizer(question, text, return_tensors="pt")
        with torch.no_grad():
            probabilities = models.predictor(**inputs).logits.softmax(-1)[0, :, 1].numpy()
        place = inputs["input_ids"][0].tolist().index(models.tokenizer.sep_token_id) + 1
        assert weights == pytest.approx(probabilities[place:-1], abs=1e-5)
        assert ids.tolist() == inputs["input_ids"][0, place:-1].tolist()


@pytest.mark.parametrize("batch_tokens", [1, 60, 100_000])
def test_results_do_not_depend_on_batches_or_neighbours(monkeypatch, models, batch_tokens):
    monkeypatch.setattr(inference, "CPU_BATCH", 100_000)
    pairs = [(q, p) for q, p, _ in random_rows(40)]
    alone = [Encoder(models).tokens([pair])[0][0] for pair in pairs]
    shuffled = random.Random(1).sample(pairs, len(pairs))
    together, _ = Encoder(models, batch_tokens).tokens(shuffled)
    for pair, tokens in zip(shuffled, together, strict=True):
        expected = alone[pairs.index(pair)]
        assert tokens.ids.tolist() == expected.ids.tolist()
        assert tokens.weights == pytest.approx(expected.weights, abs=1e-5)
        assert tokens.vectors == pytest.approx(expected.vectors, abs=1e-5)


def test_each_pair_is_encoded_and_each_text_embedded_once(tiny_checkpoint, tiny_encoder):
    models = loading.load_models(tiny_checkpoint, embedding_model=tiny_encoder, embedding_layer=1, device="cpu")
    seen = {"predictor": 0, "embedder": 0}

    def counted(name):
        def hook(_module, _args, kwargs):
            seen[name] += len(kwargs["input_ids"])

        return getattr(models, name).register_forward_pre_hook(hook, with_kwargs=True)

    hooks = [counted(name) for name in seen]
    Encoder(models).tokens([("who", "it"), ("what", "it"), ("who", "it"), ("who", "the room"), ("what", "it")])
    for hook in hooks:
        hook.remove()
    assert seen == {"predictor": 3, "embedder": 2}


def test_only_the_answer_is_cut(models):
    question = " ".join(["steps"] * 40)
    encoder = Encoder(models)
    ((ids, _, weights),) = encoder.keyphrase_weights([(question, " ".join(["seven"] * 200))])
    assert len(ids) == len(weights) == 128 - 3 - 40
    assert len(encoder.cut) == 1
    encoder.keyphrase_weights([(question, " ".join(["seven"] * 85))])  # fits to the last piece
    assert len(encoder.cut) == 1
    ((ids, *_),) = encoder.keyphrase_weights([("steps " * 500, "seven")])  # a question alone longer than the model
    assert len(ids) == 1


def test_one_warning_counts_the_cut_answers(kpqa):
    long = "seven " * 200
    rows = {"questions": ["who"] * 3, "predictions": [long, long + "!", "it"], "references": ["it", long, "it"]}
    with pytest.warns(UserWarning, match="longer than the model reads") as caught:
        kpqa.compute(**rows)
    assert [str(w.message)[:13] for w in caught if "longer" in str(w.message)] == ["kpqa: 3 texts"], "in each row"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kpqa.compute(questions=["who"], predictions=["it"], references=["it"])


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_vectors_are_those_of_the_layer(tiny_checkpoint, tiny_encoder, layer):
    from transformers import AutoModel, AutoTokenizer

    models = loading.load_models(tiny_checkpoint, embedding_model=tiny_encoder, embedding_layer=layer, device="cpu")
    ((vectors, offsets),) = Encoder(models).vectors(["seven steps ?"])
    whole = AutoModel.from_pretrained(tiny_encoder).eval()
    inputs = AutoTokenizer.from_pretrained(tiny_encoder)("seven steps ?", return_tensors="pt")
    with torch.no_grad():
        hidden = whole(**inputs, output_hidden_states=True).hidden_states[layer][0, 1:-1]
    assert vectors == pytest.approx(torch.nn.functional.normalize(hidden, dim=-1).numpy(), abs=1e-5)
    assert offsets.tolist() == [[0, 5], [6, 11], [12, 13]]


def test_aligned_takes_the_vector_that_covers_a_token():
    """Tokens 0-3 and 4-9 on one side, 0-3, 4-6, 6-9 and 10-11 (uncovered) on the other."""
    vectors = np.array([[1.0], [2.0]])
    wanted = np.array([[0, 3], [4, 6], [6, 9], [10, 11]])
    assert aligned(vectors, np.array([[0, 3], [4, 9]]), wanted).ravel().tolist() == [1, 2, 2, 0]
    assert aligned(vectors, np.array([[0, 3], [4, 9]]), wanted[:1]).ravel().tolist() == [1]
    assert aligned(np.zeros((0, 1)), np.zeros((0, 2)), wanted).ravel().tolist() == [0, 0, 0, 0]


def with_settings(tiny_checkpoint, folder, **settings):
    shutil.copytree(tiny_checkpoint, folder)
    (folder / SETTINGS_FILE).write_text(json.dumps(settings), encoding="utf-8")
    return folder


def test_a_predictor_trained_without_the_question_is_given_none(tiny_checkpoint, tiny_encoder, tmp_path, repository):
    """Its weights are the same under every question, those of the text alone, and the signature says so."""
    folder = with_settings(tiny_checkpoint, tmp_path / "no", question=False)
    kpqa = load(repository, folder, tiny_encoder)
    rows = {"questions": QUESTIONS[:2], "predictions": ["seven steps"] * 2, "references": ["four"] * 2}
    explained = kpqa.compute(**rows, explain=True)["explanation"]
    first, second = ([weight for _, weight, _, _ in row["prediction"]] for row in explained)
    assert first == pytest.approx(second)
    model, tokenizer = loading.load_token_classifier(folder)
    with torch.no_grad():
        alone = model(**tokenizer("seven steps", return_tensors="pt")).logits.softmax(-1)[0, 1:-1, 1]
    assert first == pytest.approx(alone.tolist(), abs=1e-5)
    assert "|question:False" in kpqa.signature()


def test_the_other_class_and_fewer_pieces(models, tiny_checkpoint, tiny_encoder, tmp_path):
    """Weights of class 0 are 1 minus those of class 1; of 20 pieces 3 are special and 4 are the question's."""
    folder = with_settings(tiny_checkpoint, tmp_path / "other", keyphrase_label=0, max_length=20)
    other = Encoder(loading.load_models(folder, embedding_model=tiny_encoder, device="cpu"))
    pair = ("who is in test", "seven steps")
    ((*_, weights),) = other.keyphrase_weights([pair])
    ((*_, usual),) = Encoder(models).keyphrase_weights([pair])
    assert weights == pytest.approx(1 - usual, abs=1e-5)
    ((ids, *_),) = other.keyphrase_weights([("who is in test", "seven " * 50)])
    assert len(ids) == 13
    assert len(other.cut) == 1


@with_cases
def test_settings_that_the_metric_cannot_follow_are_refused(
    tiny_checkpoint, tiny_encoder, tmp_path, settings, message
):
    folder = with_settings(tiny_checkpoint, tmp_path / "bad", **settings)
    with pytest.raises(ValueError, match=message):
        loading.load_models(folder, embedding_model=tiny_encoder, device="cpu")


def test_the_paper_as_printed(tiny_checkpoint, tiny_encoder, repository):
    """settings="paper" is eq. 5, the first layer and the references' IDF; an argument goes before it."""
    rows = random_rows(12, seed=4)
    columns = dict(zip(("questions", "predictions", "references"), map(list, zip(*rows, strict=True)), strict=True))
    paper = load(repository, tiny_checkpoint, tiny_encoder, settings="paper")
    plain = load(repository, tiny_checkpoint, tiny_encoder, embedding_layer=1)
    texts = [text for row in columns["references"] for text in row]
    expected = plain.compute(**columns, rouge_weights="candidate", idf=texts, negation=False, values=False)
    assert paper.compute(**columns) == expected
    assert paper.signature() == plain.signature()
    assert "|layer:1|" in paper.signature()
    assert "|rouge_weights:candidate|idf:" in paper.signature()
    default = plain.compute(**columns, negation=False, values=False)
    changed = {name for name in default if default[name] != expected[name]}
    assert {"rougeL_kpqa", "bertscore"} <= changed
    assert changed <= {"rougeL_kpqa", "rougeL_kpqa_precision", "rougeL_kpqa_recall", "bertscore"}
    assert paper.compute(**columns, idf=False, rouge_weights="both") == default


@with_cases
def test_wrong_settings_are_named(kpqa, settings, message):
    with pytest.raises(ValueError, match=message):
        kpqa.compute(questions=["who"], predictions=["it"], references=["it"], **settings)


def test_rows_in_parts_cannot_give_an_idf(tiny_checkpoint):
    with pytest.raises(ValueError, match=r"kpqa\.idf: True needs all rows at once.*give a list of texts"):
        make_scorer("kpqa", {"idf": True, "checkpoint": str(tiny_checkpoint)})


def test_signature_names_what_the_numbers_depend_on(kpqa, tiny_checkpoint, tiny_encoder, repository):
    kpqa.compute(questions=["who"], predictions=["it"], references=["it"], beta=1.2)
    signature = kpqa.signature()
    assert checkpoints.checkpoint_digest(tiny_checkpoint)[:12] in signature
    assert checkpoints.checkpoint_digest(tiny_encoder)[:12] in signature
    assert "|beta:1.2|" in signature
    assert load(repository, tiny_checkpoint, tiny_encoder, embedding_layer=2).signature() != kpqa.signature()


def test_a_checkpoint_written_anew_is_loaded_anew(tiny_encoder, tmp_path, repository):
    rows = {"questions": ["who is it"], "predictions": ["it is seven"], "references": ["it is four"]}
    results = []
    for seed in (4, 5):
        torch.manual_seed(seed)
        saved(loading.token_classifier(tiny_encoder), tiny_encoder, tmp_path)
        results.append(load(repository, tmp_path, tiny_encoder).compute(**rows)["rougeL_kpqa"])
    assert results[0] != results[1]


@with_cases
def test_wrong_arguments_of_load_are_named(tiny_checkpoint, tiny_encoder, repository, arguments, message):
    with pytest.raises(ValueError, match=message):
        load(repository, tiny_checkpoint, tiny_encoder, **arguments)
