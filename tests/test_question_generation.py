"""The question generator: masks, ELBO, beam search against all sentences, random beams, training that goes on."""

import itertools
import json
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from tests.factories.cases import with_cases
from tests.factories.question_generation import PAIRS, WORDS, Vectors, batch_of, examples, generator, run
from training.common import write_rows
from training.question_generation import contexts as data
from training.question_generation import decoding, train_generator
from training.question_generation import generator as m


@pytest.mark.parametrize("layers", [1, 2])
def test_the_encoder_is_the_bidirectional_lstm_of_torch(layers):
    model = generator(layers=layers, hidden=8)
    model.skips.weight.data.zero_()
    torch.manual_seed(1)
    context, lengths = torch.randn(3, 6, 6), torch.tensor([4, 6, 1])
    plain = torch.nn.LSTM(6, 4, layers, batch_first=True, bidirectional=True)
    for i in range(layers):
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            getattr(plain, f"{name}_l{i}").data = getattr(model.forwards[i], f"{name}_l0").data
            getattr(plain, f"{name}_l{i}_reverse").data = getattr(model.backwards[i], f"{name}_l0").data
    packed = torch.nn.utils.rnn.pack_padded_sequence(context, lengths, batch_first=True, enforce_sorted=False)
    states, (hidden, _) = plain(packed)
    states, _ = torch.nn.utils.rnn.pad_packed_sequence(states, batch_first=True)
    encoded, state = model.encode(context, lengths)
    torch.testing.assert_close(encoded.states, states)
    for i in range(layers):
        torch.testing.assert_close(state.hidden[i], torch.cat([hidden[2 * i], hidden[2 * i + 1]], -1))
    assert torch.equal(state.context, state.hidden[-1])  # c_0
    torch.testing.assert_close(encoded.mean[0], states[0, :4].mean(0))


@pytest.mark.parametrize("latent", [0, 3])
def test_padding_changes_nothing(latent):
    model = generator(latent=latent, layers=2)
    with torch.no_grad():
        together = model(**batch_of(PAIRS))
        for i, pair in enumerate(PAIRS):
            alone = batch_of(PAIRS)
            alone = {name: tensor[i : i + 1] for name, tensor in alone.items()}
            words, said = len(pair[0].split()), len(pair[1].split()) + 1
            for name in ("context", "copyable"):
                alone[name] = alone[name][:, :words]
            alone["copies"] = alone["copies"][:, :said, :words]
            alone["previous"], alone["target"] = alone["previous"][:, :said], alone["target"][:, :said]
            found = model(**alone)
            for name in ("nll", "kl", "tokens"):
                torch.testing.assert_close(found[name][0], together[name][i])


def test_a_question_does_not_repeat_itself():
    model = generator()
    with torch.no_grad():
        model.bias[data.END] = -8  # a model that does not want to end

    def said(no_repeat):
        words = decoding.generate(model, examples(), ["ann won"], [1], no_repeat=no_repeat)[0][0].split()
        return [tuple(words[i : i + 2]) for i in range(len(words) - 1)]

    assert len(set(said(0))) < len(said(0))
    assert len(set(said(2))) == len(said(2)) > 2


def test_the_loss_is_the_negative_elbo():
    """Equation 10, word by word for one pair: -log p(y | z, x), z the posterior's mean, plus the KL."""
    model = generator(latent=2)
    maker = examples()
    batch = batch_of([("ann won the cup", "who won ann ?")], maker)
    with torch.no_grad():
        found = model(**batch)
        encoded, state = model.encode(batch["context"], batch["lengths"])
        both = torch.cat([encoded.states.mean(1), batch["question_mean"]], -1)
        mean, log_sigma = model.posterior(both)[0].chunk(2)
        prior_mean, prior_log_sigma = model.prior(encoded.states.mean(1))[0].chunk(2)
        kl = torch.distributions.kl_divergence(
            torch.distributions.Normal(mean, log_sigma.exp()),
            torch.distributions.Normal(prior_mean, prior_log_sigma.exp()),
        )
        log_p, previous = 0.0, torch.zeros(1, 6)
        for word in ("who", "won", "ann", "?", "</s>"):
            state, attention = model.step(model.read(previous, mean[None]), state, encoded)
            p = model.speak(state.context)[0].softmax(-1)
            if word == "ann":  # said as UNKNOWN, and picked from "ann", "the", "cup", which are outside the vocabulary
                log_p += p[data.UNKNOWN].log() + (attention[0, 0] / attention[0, [0, 2, 3]].sum()).log()
            else:
                log_p += p[maker.number[word]].log()
            previous = torch.from_numpy(Vectors()([word]))
    assert found["nll"].item() == pytest.approx(-log_p.item(), rel=1e-4)
    torch.testing.assert_close(found["kl"][0], kl)
    assert found["loss"].item() == pytest.approx(-log_p.item() + kl.sum().item(), rel=1e-4)


def test_the_kl_term_is_annealed_and_leaves_free_bits():
    """0.25 an iteration of 2 steps: weights 0, 0, 0.25, 0.25, 0.5, ..., at most 1."""
    model = generator(latent=2, dropout=0.0, kl_rate=0.25, kl_steps=2, latent_dropout=1.0).train()
    weights = []
    for _ in range(11):
        weights.append(model.kl_weight())
        found = model(**batch_of(PAIRS))
        expected = found["nll"].mean() + weights[-1] * found["kl"].mean(0).sum()
        torch.testing.assert_close(found["loss"], expected)
    assert weights == [0, 0, 0.25, 0.25, 0.5, 0.5, 0.75, 0.75, 1, 1, 1]
    model.config.free_bits = 1e3
    found = model(**batch_of(PAIRS))
    torch.testing.assert_close(found["loss"], found["nll"].mean() + 2 * 1e3)
    found["loss"].backward()
    assert all(weight.grad is None or not weight.grad.any() for weight in model.posterior.parameters())
    found = model.eval()(**batch_of(PAIRS))  # dev chooses by what is trained
    torch.testing.assert_close(found["loss"], found["nll"].mean() + 2 * 1e3)


def ended(beams, row):
    """Return (words, score) of the beams of a row that have an end."""
    return [
        (tuple(words[: words.index(data.END)]), float(score))
        for words, score in zip(beams.words[row].tolist(), beams.scores[row], strict=True)
        if data.END in words and np.isfinite(score)
    ]


@pytest.mark.parametrize(("latent", "layers"), [(0, 2), (3, 1)])
def test_a_wide_beam_search_finds_what_an_exhaustive_search_finds(latent, layers):
    """All sentences of up to 3 words of who, won, ? and the one word that can be copied, by forward's likelihood."""
    model, maker = generator(latent=latent, layers=layers), examples()
    context = "ann won ?"
    batch = maker.collate(maker.of_contexts([context, "who won ?"]))
    z = torch.randn(2, latent) if latent else None
    beams = decoding.beam_search(model, batch, z, width=400, max_words=4)
    expected = {}
    for length in range(4):
        for words in itertools.product(("who", "won", "?", "ann"), repeat=length):
            pair = batch_of([(context, " ".join(words))], maker)
            if latent:  # the likelihood under this z
                model.posterior_of = lambda *_: (z[:1], torch.zeros_like(z[:1]))
            with torch.no_grad():
                nll = model(**pair)["nll"].item()
            expected[tuple(maker.number.get(word, data.UNKNOWN) for word in words)] = -nll
    found = ended(beams, 0)
    assert len(found) == len(expected)
    assert [words for words, _ in found] == sorted(expected, key=expected.get, reverse=True)
    for words, score in found:
        assert score == pytest.approx(expected[words], rel=1e-4, abs=1e-4)
    assert all(data.UNKNOWN not in words for words, _ in ended(beams, 1))  # nothing to copy there
    best = next(n for n, words in enumerate(beams.words[0].tolist()) if data.UNKNOWN in words and data.END in words)
    assert "ann" in beams.text(0, best, maker.words, context.split())


def test_random_beam_selection_draws_from_the_best_b_only():
    model, maker = generator(), examples()
    beams = decoding.beam_search(model, maker.collate(maker.of_contexts(["ann won ?"])), width=3)
    texts = [beams.text(0, n, WORDS, ["ann", "won", "?"]) for n in range(3)]
    assert len(set(texts)) == 3
    (said,) = decoding.generate(model, maker, ["ann won ?"], [400], seed=1, top=2)
    assert 150 < said.count(texts[0]) < 250
    assert said.count(texts[0]) + said.count(texts[1]) == 400
    (again,) = decoding.generate(model, maker, ["ann won ?"], [400], seed=1, top=2)
    assert said == again
    with pytest.raises(ValueError, match=r"top: expected a number of beams from 1 to width \(3\), got 4"):
        decoding.generate(model, maker, ["ann won ?"], [1], top=4)


def test_the_latent_variable_is_drawn_from_the_prior_once_for_every_question():
    model, maker = generator(latent=3), examples()
    model.bias.data[data.END] = -9.0  # no empty sentences
    contexts, counts = ["ann won ?", "bob lost the cup", "it"], [8, 8, 2]
    said = decoding.generate(model, maker, contexts, counts, seed=1)
    assert len(set(said[0])) > 1
    assert said == decoding.generate(model, maker, contexts, counts, seed=1, batch_size=2)
    assert said != decoding.generate(model, maker, contexts, counts, seed=2)
    batch = maker.collate(maker.of_contexts(["ann won ?"]))
    encoded, _ = model.encode(batch["context"], batch["lengths"])
    mean, log_sigma = model.prior_of(encoded)
    noise = torch.tensor([[1.0, -1.0, 0.0]])
    torch.testing.assert_close(decoding.draws_of_prior(model, batch, noise), mean + noise * log_sigma.exp())
    model.prior_of = lambda encoded: (mean, torch.full_like(mean, -30.0))  # a prior without width
    assert len(set(decoding.generate(model, maker, ["ann won ?"], [8])[0])) == 1


def test_save_and_load(tmp_path):
    model = generator(latent=3, layers=2)
    m.save(model, tmp_path / "model")
    again = m.load(tmp_path / "model")
    assert again.config == model.config
    batch = batch_of(PAIRS)
    with torch.no_grad():
        assert torch.equal(again(**batch)["loss"], model(**batch)["loss"])
    with pytest.raises(ValueError, match=r"model: expected config.json and model.safetensors in .*; train one first"):
        m.load(tmp_path)
    (tmp_path / "model/config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(ValueError, match="is not of a question generator"):
        m.load(tmp_path / "model")


def test_contexts_of_files_and_of_the_hub(tmp_path, monkeypatch):
    rows = [
        {"context": "Ann won  it.", "references": ["Who won?", "What did Ann win?"]},
        {"context": "Ann won it.", "references": ["Who won?", "Who?"]},
    ]
    write_rows(tmp_path / "own.jsonl.gz", rows)
    (found,) = data.read_contexts("own", tmp_path)
    assert found == data.Context("ann won it .", ("who won ?", "what did ann win ?", "who ?"))
    (tmp_path / "squad_du2017.x.jsonl").write_text(json.dumps({"context": "a -lrb- b", "references": ["c 's ?"]}))
    assert data.read_contexts("squad_du2017.x", tmp_path) == [data.Context("a -lrb- b", ("c 's ?",))]
    (tmp_path / "bad.jsonl").write_text(json.dumps({"context": "a", "references": []}))
    with pytest.raises(ValueError, match=r"bad, row 0: expected a column references or question with a value, got"):
        data.read_contexts("bad", tmp_path)
    (tmp_path / "blank.jsonl").write_text(json.dumps({"context": "a", "references": ["Who?", " "]}))
    with pytest.raises(ValueError, match=r"blank, row 0: expected text and questions with words, got 'a' and"):
        data.read_contexts("blank", tmp_path)
    with pytest.raises(ValueError, match=r"sources: no other.jsonl.gz or other.jsonl in .* no Hub name"):
        data.read_contexts("other", tmp_path)

    def load_dataset(name, split):
        assert (name, split) == ("org/qg", "validation")
        return [{"sentence": "It rains.", "context": "Long. It rains.", "question": q} for q in ("Why?", "When?")]

    monkeypatch.setattr("datasets.load_dataset", load_dataset)
    assert data.read_contexts("org/qg:validation") == [data.Context("it rains .", ("why ?", "when ?"))]


def test_states_of_words_are_means_over_their_pieces(tiny_encoder, tmp_path):
    from transformers import AutoModel, AutoTokenizer

    texts = ["how many zq steps", "test"]
    model, tokenizer = AutoModel.from_pretrained(tiny_encoder).eval(), AutoTokenizer.from_pretrained(tiny_encoder)
    with torch.no_grad():
        states = model(**tokenizer(texts[0], return_tensors="pt")).last_hidden_state[0].numpy()
    found = data.encoder_states(tiny_encoder, texts)
    assert [len(rows) for rows in found] == [4, 1]
    expected = [states[1], states[2], states[3:5].mean(0), states[5]]
    np.testing.assert_allclose(found[0], expected, atol=1e-5)
    means = data.mean_states(tiny_encoder, texts, tmp_path)
    assert means.std() == pytest.approx(1, rel=1e-5)
    np.testing.assert_allclose(means[0] / means[1], found[0].mean(0) / found[1].mean(0), rtol=1e-3)
    assert len(list(tmp_path.iterdir())) == 1
    assert np.array_equal(data.mean_states(tiny_encoder, texts, tmp_path), means)


@pytest.mark.slow
def test_a_tiny_run_goes_on_where_it_was_killed(made_up, tiny_encoder, tmp_path):
    """Killed in the middle of the second of two epochs, of 5 batches each."""
    more = "--latent 3 --patience 0 --eval_strategy no --save_strategy steps --save_steps 7".split()
    facts = run(made_up, tmp_path / "whole", tiny_encoder, *more)
    assert facts["steps"] == 10
    assert facts["dev"]["active_dimensions"] == sum(kl > 0.01 for kl in facts["kl_per_dimension"])
    assert len(facts["kl_per_dimension"]) == 3
    assert facts["dev"]["kl"] == pytest.approx(sum(facts["kl_per_dimension"]), rel=1e-4)
    assert json.loads((tmp_path / "whole/final/train.json").read_text())["steps"] == facts["steps"]
    shutil.copytree(tmp_path / "whole/checkpoint-7", tmp_path / "killed/checkpoint-6")
    run(made_up, tmp_path / "killed", tiny_encoder, *more)
    whole, resumed = (load_file(tmp_path / name / "final/model.safetensors") for name in ("whole", "killed"))
    assert whole["steps"] == facts["steps"]
    assert whole.keys() == resumed.keys()
    assert all(tensor.equal(resumed[name]) for name, tensor in whole.items())
    model = m.load(tmp_path / "whole/final")
    assert model.config.latent == 3
    assert model.config.layers == 1


@with_cases
def test_bad_arguments_are_refused_at_once(settings, message):
    with pytest.raises(ValueError, match=message):
        train_generator.check(train_generator.Arguments(**settings))
