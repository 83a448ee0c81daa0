"""AVA as a module: tiny judges from a seed, the contract, verdicts that do not depend on their neighbours."""

import json
import random
import shutil
import warnings

import numpy as np
import pytest
import torch
from genqa_metrics.ava import loading
from genqa_metrics.ava.judging import Judge
from genqa_metrics.core import checkpoints, inference, judge_model, words
from genqa_metrics.core.ava_model import CONFIGURATIONS

from tests.factories.ava import linear_judge, load, random_rows, saved
from tests.factories.cases import with_cases
from tests.factories.kpqa import WORDS


def test_segments_are_those_of_the_paper():
    """Table 4: the second segment is a concatenation; every configuration reads each of its symbols."""
    found = {name: judge_model.segments(name, "Who?", "R", "T") for name in CONFIGURATIONS}
    assert found["a0-all"] == [("Who?", "R"), ("R", "T"), ("Who?", "T")]
    assert found["a1-all"] == [("Who?", "R T"), ("R", "Who? T"), ("T", "Who? R")]
    assert found["a2"] == [("R", "Who? T"), ("T", "Who? R")]
    assert judge_model.segments("a1-r_qt", "who ", "R", "T") == [("R", "who? T")]
    assert judge_model.segments("a1-r_qt", "", "R", "T") == [("R", " T")]


def test_settings_of_the_paper_judge_without_rules(judges, repository):
    """The model alone: no rule, each reference by itself, the mean of them."""
    rows = {"questions": ["who is it"] * 2, "references": [["seven steps", "four"]] * 2}
    rows["predictions"] = ["seven steps", "I don't know."]
    paper = load(repository, judges(), settings="paper")
    found = paper.compute(**rows, per_example=True)["ava_score_per_example"]
    loaded = loading.load_judge(judges(), device="cpu")
    references = rows["references"][0]
    triples = [("who is it", reference, answer) for answer in rows["predictions"] for reference in references]
    expected = loaded.calibrated(Judge(loaded).logits(triples)).reshape(2, 2).mean(axis=1)
    assert found == pytest.approx(expected.tolist(), abs=1e-6)
    assert "|references:mean|" in paper.signature()
    assert "|rules:none" in paper.signature()
    plain = load(repository, judges())
    assert plain.compute(**rows, per_example=True)["ava_score_per_example"][0] > 0.99
    rules = "answer+retraction+option+passage+identity+number+no_answer"
    assert f"rules:{rules}" in plain.signature()


ROW = {
    "questions": ["How many live in California?"],
    "predictions": ["It has 39 million people by now."],
    "references": ["With 39 million people California is the largest state."],
}


def test_the_linear_judge_reads_short_answers(tmp_path, repository):
    """Whether s, or for want of it the reference, stands in the answer: 1 gives sigmoid(2 * (1 - 0.5) - 0.5)."""
    ava = load(repository, linear_judge(tmp_path / "linear"))
    rows = {name: [*column * 2, text] for (name, column), text in zip(ROW.items(), ("?", "Ann?", "Ann"), strict=True)}
    scored = ava.compute(**rows, short_answers=["39 million", "", ""], per_example=True)
    found = scored["ava_score_per_example"]
    assert found == pytest.approx([1 / (1 + np.exp(-0.5)), 1 / (1 + np.exp(1.5)), 1 / (1 + np.exp(-0.5))])
    assert scored["ava_label_per_example"] == [1, 0, 1]
    assert found[1] == ava.compute(**ROW)["ava_score"]
    ava.add(short_answer="39 million", **{name.removesuffix("s"): column[0] for name, column in ROW.items()})
    assert ava.compute()["ava_score"] == found[0]
    with pytest.raises(ValueError, match="explain: not available with short_answers; leave one"):
        ava.compute(**ROW, short_answers=["39 million"], explain=True)


def test_other_judges_say_that_they_read_no_short_answers(ava):
    with pytest.warns(UserWarning, match=r"short_answers: 1 given, but only the linear judge reads them; .*a1-r_qt"):
        found = ava.compute(**ROW, short_answers=["39 million"])
    assert found == ava.compute(**ROW)


@with_cases
def test_bad_short_answers_are_refused(ava, given, message):
    with pytest.raises(ValueError, match=message):
        ava.compute(**ROW, short_answers=given)


def test_words_are_marked_in_both_texts(judges):
    """By stem, numbers by value. "Beat" comes before "Hungary" in one text only: their order differs."""
    texts = "Who won the third game?", "Ann wins the 3rd game", "Ann is winning game 3."
    marks = words.word_marks(*texts)
    assert marks == {"ann": 2, "win": 2, "#3|": 2, "game": 4, "who": 3, "won": 3, "the": 3, "third": 3}
    found = {"west": 2, "germani": 2, "beat": 1, "hungari": 1}
    assert words.word_marks("", "West Germany beat Hungary", "Hungary, I think, beat West  Germany.") == found
    assert words.word_marks("", "Ann", "Bob") == words.word_marks("", "", "") == {}
    tokenizer, row = loading.load_judge(judges()).tokenizer, ("how many steps ?", "four steps", "it is four.")
    ((inputs,),) = judge_model.encoded(tokenizer, "a1-r_qt", [row], 64, "valued")
    pieces = zip(map(tokenizer.decode, inputs["input_ids"]), inputs["token_type_ids"], strict=True)
    expected = [("four", 2), ("steps", 3), ("how", 3), ("many", 3), ("steps", 3), ("four", 2)]
    assert [(piece, mark) for piece, mark in pieces if mark] == expected
    ((plain,),) = judge_model.encoded(tokenizer, "a0-qr", [row], 64, "valued")  # it must not know the candidate
    assert set(plain["token_type_ids"]) == {0, 1}


def test_words_that_no_model_reads_are_not_compared(monkeypatch):
    """The time for it grows with the square of the texts."""
    letters = str.maketrans("0123456789", "bcdfghjkmp")
    compared, texts = [], [" ".join(f"word{i}x" for i in range(s, s + 2000)).translate(letters) for s in (0, 5000)]
    monkeypatch.setattr(words, "misspelt", lambda *pair: compared.append(pair))
    assert words.word_marks("", texts[0], f"{texts[1]} wordcx", 64) == {}
    assert words.word_marks("", texts[0], f"wordcx {texts[1]}", 64) == {"wordcx": 2}
    assert 0 < len(compared) <= 2 * 64**2


def test_an_encoder_without_token_types_cannot_see_marks(tmp_path):
    from transformers import DistilBertConfig, DistilBertModel

    config = DistilBertConfig(vocab_size=9, dim=4, n_heads=2, n_layers=1, hidden_dim=4)
    DistilBertModel(config).save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="marks: DistilBertModel has no token types"):
        judge_model.judge_model(tmp_path, "a1-r_qt", "valued")


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_every_configuration_is_the_plain_loop(judges, configuration, repository):
    """Parity with one triple at a time through the model itself, then Platt scaling by hand."""
    folder = judges(configuration)
    rows = random_rows(12)
    found = load(repository, folder).compute(**rows, per_example=True)["ava_score_per_example"]
    model, tokenizer = judge_model.load_model(folder, configuration)
    columns = (rows[name] for name in ("questions", "references", "predictions"))
    for i, (question, references, prediction) in enumerate(zip(*columns, strict=True)):
        each = []
        for reference in references:
            pairs = judge_model.segments(configuration, question, reference, prediction)
            inputs = [tokenizer(*pair, return_tensors="pt") for pair in pairs]
            with torch.no_grad():
                output = model(**inputs[0]) if len(pairs) == 1 else model(pairs=[dict(part) for part in inputs])
            each.append(1 / (1 + np.exp(0.5 - 2 * float(output.logits))))
        assert found[i] == pytest.approx(max(each), abs=1e-5)
    assert len({round(score, 6) for score in found}) > 6  # the judge reads what it is given


def test_labels_follow_from_scores_and_threshold(ava):
    rows = random_rows(10)
    found = ava.compute(**rows, per_example=True)
    scores, labels = found["ava_score_per_example"], found["ava_label_per_example"]
    assert labels == [int(score >= 0.4) for score in scores]
    assert found["ava_accuracy"] == pytest.approx(np.mean(labels))
    assert found["ava_score"] == pytest.approx(np.mean(scores))
    assert found["ava_threshold"] == 0.4
    assert set(ava.compute(**rows)) == {*ava._scorer.names, "ava_threshold"}


def test_threshold_and_aggregation_can_be_set(ava):
    rows = random_rows(10)
    scores = {}
    for how in judge_model.AGGREGATIONS:
        found = ava.compute(**rows, threshold=0.0, reference_aggregation=how, per_example=True)
        assert found["ava_accuracy"] == 1.0
        assert f"threshold:0|references:{how}|" in ava.signature()
        scores[how] = np.array(found["ava_score_per_example"])
    several = [len(set(texts)) > 1 for texts in rows["references"]]
    assert np.all(scores["max"] >= scores["mean"] - 1e-9)
    assert np.any(scores["max"][several] > scores["mean"][several])
    single = [i for i, texts in enumerate(rows["references"]) if len(texts) == 1]
    assert scores["joined"][single] == pytest.approx(scores["max"][single], abs=1e-5)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_short_floats_state_how_far_verdicts_depend_on_neighbours(judges, repository, dtype):
    """A row alone and beside a long one, whose length it is padded to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a processor that only emulates them
        ava = load(repository, judges(), dtype=dtype)
        rows = random_rows(20)
        singles = ({name: [column[i]] for name, column in rows.items()} for i in range(20))
        alone = [ava.compute(**row)["ava_score"] for row in singles]
        rows["questions"].append("who?")
        rows["predictions"].append("seven " * 40)
        rows["references"].append(rows["references"][0])
        beside = ava.compute(**rows, per_example=True)["ava_score_per_example"][:-1]
    tolerance = inference.TOLERANCES[dtype]
    assert f"|dtype:{dtype}|tolerance:{tolerance:g}|" in ava.signature()
    assert np.abs(np.array(alone) - beside).max() <= tolerance


@pytest.mark.parametrize(("how", "read"), [("max", []), ("mean", [("who?", "Bob", '"annie".')]), ("joined", [])])
def test_an_answer_that_is_a_reference_is_right_without_a_model(judges, monkeypatch, how, read):
    judge, asked = Judge(loading.load_judge(judges())), []
    monkeypatch.setattr(judge, "logits", lambda triples: asked.extend(triples) or np.zeros(len(triples)))
    found = judge.probabilities(["who?", "which 2?"], [["Annie", "Bob"]] * 2, ['"annie".', "Ann"], how)
    assert found[0] > found[1]
    assert [triple for triple in asked if triple[0] == "who?"] == read


def test_each_triple_is_judged_once_in_one_pass(judges):
    loaded = loading.load_judge(judges())
    seen = []
    hook = loaded.model.register_forward_pre_hook(
        lambda module, args, kwargs: seen.append(len(kwargs["input_ids"])), with_kwargs=True
    )
    columns = ["who?"] * 9, [["Ann", "Ann", "Bob"]] * 9, ["It's Ann"] * 8 + ["It's Bob"]
    try:
        for how, count in (("max", 4), ("joined", 2)):
            seen.clear()
            Judge(loaded).probabilities(*columns, how)
            assert sum(seen) == count
    finally:
        hook.remove()


def test_long_answers_lose_their_end_with_one_warning(ava):
    rows, source = random_rows(4), random.Random(0)  # words in random order: repetitions are read once
    rows["predictions"][1:3] = [" ".join(source.choices(WORDS, k=100)) for _ in range(2)]
    rows["references"][1:3] = [["four"], ["seven", "four", "it"]]
    with pytest.warns(UserWarning, match=r"ava: 2 answers are longer than the model reads .*\(64 word") as caught:
        ava.compute(**rows)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        question, reference = "who ?", "four"
        answer = " ".join(source.choices(WORDS, k=64 - 3 - 3))  # with [CLS] and two [SEP] exactly what the model reads
        ava.compute(questions=[question], predictions=[answer], references=[reference])


def test_signature_names_what_the_numbers_depend_on(judges, repository, tiny_encoder, tmp_path):
    ava = load(repository, judges())
    ava.compute(**random_rows(1))
    signature = ava.signature()
    assert checkpoints.checkpoint_digest(judges())[:12] in signature
    assert "|configuration:a1-r_qt|dtype:float32|threshold:0.4|references:max|reading:3|rules:" in signature
    model, _ = judge_model.load_model(judges(), "a1-r_qt")
    other = load(repository, saved(model, tiny_encoder, tmp_path / "x", configuration="a1-r_qt", intercept=0.1))
    assert other.signature() != signature  # the calibration counts too


@with_cases
def test_wrong_settings_are_named(ava, settings, message):
    with pytest.raises(ValueError, match=message):
        ava.compute(**random_rows(2), **settings)


@with_cases
def test_bad_settings_of_a_checkpoint_are_named(judges, tmp_path, settings, message):
    for path in judges().iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    path = tmp_path / "ava_config.json"
    path.unlink() if settings is None else path.write_text(json.dumps({"configuration": "a1-r_qt"} | settings))
    with pytest.raises(ValueError, match=message):
        loading.load_judge(tmp_path)


def test_a_second_judge_reads_the_rows_of_which_the_first_is_unsure(judges, repository, tmp_path, monkeypatch):
    """Rows outside the band keep their scores; the others have those of the second judge."""
    rows = random_rows(40)
    columns = rows["questions"], rows["references"], rows["predictions"]
    alone = Judge(loading.load_judge(judges())).probabilities(*columns)
    low, high = np.quantile(alone, [0.3, 0.7]).tolist()
    monkeypatch.setattr("genqa_metrics.ava.scorer.UNSURE_FROM", low)
    monkeypatch.setattr("genqa_metrics.ava.scorer.UNSURE_TO", high)
    other = shutil.copytree(judges("a1-q_rt"), tmp_path / "other")
    second = Judge(loading.load_judge(other)).probabilities(*columns)
    ava = load(repository, judges(), escalate=str(other))
    with pytest.warns(UserWarning, match=r"\d+ rows of which the judge is unsure were read by the second one"):
        found = ava.compute(**rows, per_example=True, explain=True)
    unsure = (alone > low) & (alone < high)
    assert 0 < unsure.sum() < len(unsure)
    scores = np.array(found["ava_score_per_example"])
    assert scores[~unsure] == pytest.approx(alone[~unsure], abs=1e-6)
    assert scores[unsure] == pytest.approx(second[unsure], abs=1e-6)  # both judges have the threshold .4
    assert [one["probability"] for one in found["explanation"]] == pytest.approx(scores.tolist(), abs=1e-6)
    assert f"|escalate:{judge_model.short_digest(other)}@" in ava.signature()
