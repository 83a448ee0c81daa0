"""Both sides of every limit of core and scale: the last value that is good, and the first that is not."""

import inspect
import json
from types import SimpleNamespace

import numpy as np
import pytest
from genqa_metrics.core.answers import declines
from genqa_metrics.core.checkpoints import CheckpointError, adapter_settings, check_row, read_json, token_limit
from genqa_metrics.core.encoders import encoder_config
from genqa_metrics.core.inference import cores
from genqa_metrics.core.reading import language_counts, language_warnings, passage
from genqa_metrics.core.replacing import instead, parts
from genqa_metrics.core.scorer import Scorer
from genqa_metrics.core.words import equal, misspelt, quantities, value_of_words, word_marks
from genqa_metrics.registry import scorer_class
from genqa_metrics.scale.options import check_options, seconds_of

from tests.factories.cases import with_cases

BERT = {
    "model_type": "bert", "num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 32, "vocab_size": 90,
    "intermediate_size": 64, "max_position_embeddings": 128,
}  # fmt: skip


def is_refused(call, *arguments):
    try:
        call(*arguments)
    except ValueError:
        return True
    return False


@with_cases
def test_quantities(texts, expected):
    """1% for rounding in another unit, one degree between Celsius and Fahrenheit, all else exactly."""
    assert equal(*quantities(texts)) is equal(*quantities(texts)[::-1]) is expected


@with_cases
def test_numbers_of_texts(text, expected):
    assert [[number.number, number.kind] for number in quantities(text)] == expected


def test_values_of_number_words():
    assert value_of_words("one hundred thousand and five") == 100_005
    assert value_of_words("hundred") == 100
    assert value_of_words("thousand") == 1000
    assert value_of_words("one hundred twenty three million four hundred five") == 123_000_405


@with_cases
def test_settings_of_an_encoder(tmp_path, change, refused):
    (tmp_path / "config.json").write_text(json.dumps(BERT | change), encoding="utf-8")
    assert is_refused(encoder_config, tmp_path) is refused


@with_cases
def test_settings_of_an_adapter(tmp_path, change, refused):
    plain = {"peft_type": "LORA", "r": 2, "lora_alpha": 4, "target_modules": ["query"]}
    (tmp_path / "adapter_config.json").write_text(json.dumps(plain | change), encoding="utf-8")
    assert is_refused(adapter_settings, tmp_path) is refused


def test_config_files(tmp_path):
    """A megabyte at most, an object, a file."""
    path = tmp_path / "config.json"
    for size, refused in ((2**20, False), (2**20 + 1, True)):
        path.write_text('{"a": 1}'.ljust(size), encoding="utf-8")
        assert is_refused(read_json, path) is refused
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(CheckpointError, match="expected an object, got list"):
        read_json(path)
    with pytest.raises(CheckpointError, match="not a file"):
        read_json(tmp_path)


@pytest.mark.parametrize(
    ("output", "refused"),
    [([[-999_999.0]], False), ([1.0, 1e6], True), ([float("nan")], True), ([], True), (1 / np.float64(2), False)],
)
def test_outputs_of_models(tmp_path, output, refused):
    assert is_refused(check_row, "judge", tmp_path, lambda: output) is refused


def test_an_output_that_is_refused_is_shown(tmp_path):
    with pytest.raises(CheckpointError, match=r"returns -1000000\.0 for a row"):
        check_row("judge", tmp_path, lambda: [1.0, -1e6, 2e6])
    with pytest.raises(CheckpointError, match="cannot read a row: IndexError: list index out of range"):
        check_row("judge", tmp_path, lambda: [][0])


def test_tokens_that_a_model_reads():
    """The least of positions, the tokenizer's limit and 512; None and 0 positions are unknown."""
    for positions, longest, expected in ((128, 500, 128), (514, 100, 100), (4096, 10**30, 512), (None, 10**30, 512)):
        model = SimpleNamespace(config=SimpleNamespace(max_position_embeddings=positions))
        assert token_limit(model, SimpleNamespace(model_max_length=longest)) == expected


def test_means_over_no_row_one_row_and_two_rows():
    scorer = SimpleNamespace(names=("first", "second"))
    totals = np.array([[0.0, 0.0], [0.5, 1.0], [0.5, 2.0]])
    means = Scorer.resampled_scores(scorer, totals, np.array([0, 1, 2]))
    assert {name: column.tolist() for name, column in means.items()} == {"first": [0, 0.5, 0.25], "second": [0, 1, 1]}


def test_a_warning_is_about_the_line_that_called():
    line = inspect.currentframe().f_lineno + 2
    with pytest.warns(UserWarning, match="nulls in the lists of 2 rows were left out") as caught:
        scorer_class("aev").checked({"predictions": ["a"] * 3, "references": [["a", None], ["a"], [None, "b"]]})
    assert [(warning.filename, warning.lineno) for warning in caught] == [(__file__, line)]


def test_cores(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(64)), raising=False)
    monkeypatch.setattr("pathlib.Path.read_text", lambda *_, **__: "300000 100000")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert cores() == 3
    for threads, expected in (("2", 2), ("8", 3), ("0", 3), ("x", 3)):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        assert cores() == expected
    monkeypatch.setattr("pathlib.Path.read_text", lambda *_, **__: "20000 100000")
    assert cores() == 1


@with_cases
def test_misspelt_words(word, other, expected):
    assert misspelt(word, other) is misspelt(other, word) is expected


@with_cases
def test_marks_of_words(question, reference, answer, expected):
    assert word_marks(question, reference, answer) == expected


def test_a_refusal_has_at_most_400_characters():
    refusal = "I don't know. " + "Please contact support. " * 16
    assert len(refusal) == 398
    assert declines(f"{refusal} \n")
    assert not declines(f"{refusal}  \n")


def words(text):
    return text.lower().split()


def test_a_passage_is_taken_of_answers_above_150_words():
    start = "Ann won the cup. " + "It rained all day. " * 36
    whole, longer = f"{start}It was cold.", f"{start}It was cold and."
    assert [len(text.split()) for text in (whole, longer)] == [151, 152]
    whole = whole.removesuffix(" cold.")
    assert passage(whole, "who won the cup", ["Ann"], words) == whole
    assert len(passage(longer, "who won the cup", ["Ann"], words).split()) <= 40
    assert passage(longer, "who won the cup", ["Ann"], words).startswith("Ann won the cup.")


def test_a_second_passage_that_answers_the_question_otherwise_is_read_too():
    filler = "It rained all day long here. " * 30
    answer = f"Ann won the big cup. {filler}Bob won the big cup."
    shown = passage(answer, "who won the big cup", ["Ann"], words)
    assert shown.startswith("Ann won the big cup.")
    assert shown.endswith("Bob won the big cup.")
    assert "Bob" not in passage(answer, "who won the big cup", ["Ann", "Bob"], words)


def test_the_second_passage_may_stand_right_behind_the_first():
    """Of sentences of 20 words a passage has two, and half of it is in the next one."""
    rain = "It rained all day long " * 3
    first, last = (f"{name} won the big cup {rain}here." for name in ("Ann", "Bob"))
    dry = ("It was dry and warm " * 4).strip() + "."
    shown = passage(" ".join([first, dry, last, *[dry] * 6]), "who won the big cup", ["Ann"], words)
    assert shown.startswith("Ann won the big cup")
    assert "Bob won the big cup" in shown


def test_a_question_of_one_word_weighs_as_much_as_a_longer_one():
    """The passage with all words of the question is nearer than one with half of the reference."""
    rain = "It rained all day long here. " * 30
    shown = passage(f"Lee ran. {rain}The cup was gold.", "cup", ["Lee won"], words)
    assert shown.endswith("The cup was gold.")
    assert "Lee" not in shown
    shown = passage(f"The cup is here. {rain}The cup was gold.", "cup", ["tin", "gold."], words)
    assert shown.endswith("The cup was gold."), "of two passages about the question the one with an accepted answer"


def test_languages():
    """Few rows are not reported; an answer is read alone from 6 words and 40 characters on."""
    assert language_warnings({"rows": 200, "language:de": 1}) != []
    assert language_warnings({"rows": 201, "language:de": 1}) == []
    columns = {"questions": ["What is the opening time of this shop on a Sunday?"], "references": [["at noon"]]}
    for answer, counted in (("Am Sonntag öffnet das Geschäft um zwölf Uhr.", 1), ("Um zwölf Uhr am Sonntag", 0)):
        assert language_counts(columns | {"predictions": [answer]}).total() == 1 + counted


@with_cases
def test_what_can_stand_instead(question, reference, answer, part, expected):
    assert instead(question, reference, answer, part) == expected


def test_phrases_of_an_answer():
    """As many as are allowed, and of a sentence as long as the others."""
    assert len(parts("one two three four", 4)) == 4
    assert parts("one two three four", 3) == [(0, 7), (8, 18)]
    assert parts("1. one\n2. two", 4) == [(3, 6), (10, 13)]
    assert parts("1. one", 4) == [(0, 1), (3, 6)]


@with_cases
def test_options_of_verbs(options, refused):
    assert is_refused(lambda: check_options(**options)) is refused


def test_durations():
    assert [seconds_of(text) for text in ("1", "90s", " 2h ", 1)] == [1, 90, 7200, 1]
    for text in ("0.99", "0m", "inf", "nan", "5 days", "", "m"):
        assert is_refused(seconds_of, text)


def test_lengths_that_are_noted():
    def note(**lengths):
        systems = {name: {"prediction_length": length, "reference_length": 10.0} for name, length in lengths.items()}
        return scorer_class("aev").length_note(systems)

    assert note(a=19.9, b=5.1, c=0.0) == ""
    assert "of a are 2.0 times" in note(a=20.0)
    assert "wordiness=infinity" in note(a=20.0, b=5.0)
    assert "of a are 0.5 times" in note(a=5.0)
    assert "brevity=infinity" in note(a=5.0)
    assert "of d, c, b, a are 5.0, 4.0, 3.0, 2.0 times" in note(a=20.0, b=30.0, c=40.0, d=50.0)
