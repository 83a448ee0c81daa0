"""The picture at the top of the README shows the numbers of its example file."""

import importlib.util
import re

import pytest

NUMBER = re.compile(r"\d+(?:\.\d+)?")


@pytest.fixture(scope="module")
def first_picture(repository):
    spec = importlib.util.spec_from_file_location("first_picture", repository / "spaces/docs/first_picture.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def numbers(first_picture):
    return first_picture.measure()


def test_words_and_readers_disagree(numbers):
    """Echo leads where words are compared, Own words where the question is read; the judge's intervals do not meet."""
    echo, own = numbers.scores["Echo"], numbers.scores["Own words"]
    assert numbers.questions == 8
    assert min(echo[name] - own[name] for name in ("rougeL", "bertscore")) > 0.3
    assert own["rougeL_kpqa"] - echo["rougeL_kpqa"] > 0.7
    assert (echo["ava_accuracy"], own["ava_accuracy"]) == (0, 1)
    assert numbers.intervals["Echo"][1] < numbers.intervals["Own words"][0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_picture_is_what_the_command_draws(first_picture, numbers, scheme):
    """Apart from the last digits of numbers, which depend on the processor."""
    committed = first_picture.PICTURES[scheme].read_text(encoding="utf-8")
    drawn = first_picture.draw(numbers, scheme)
    assert NUMBER.sub("#", committed) == NUMBER.sub("#", drawn)
    pairs = zip(NUMBER.findall(committed), NUMBER.findall(drawn), strict=True)
    assert max(abs(float(a) - float(b)) for a, b in pairs) < 1
