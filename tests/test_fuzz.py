"""Every attack of `fuzz.py`: a few dozen tries each, and hundreds behind `slow`; the time of every pattern."""

import re
import sys
import time

import pytest
from genqa_metrics.verbs.label.labelling import marked_words

from tests import fuzz
from tests.factories.modules import printed_by


@pytest.mark.parametrize("attack", fuzz.ATTACKS, ids=lambda attack: attack.__name__)
@pytest.mark.parametrize("tries", [25, pytest.param(300, marks=pytest.mark.slow)])
def test_no_attack_finds_anything(attack, tries):
    assert fuzz.tried(attack, tries).total() >= min(tries, 20)


@pytest.mark.slow
def test_the_time_of_every_pattern_grows_with_the_length_of_the_text(repository):
    out = printed_by([sys.executable, "-m", "tests.fuzz_patterns"], cwd=repository)
    assert int(re.search(r"(\d+) patterns, 0 slow", out)[1]) > 60


def test_words_of_a_long_answer_are_marked_in_bounded_time():
    start = time.process_time()
    answer, references = marked_words("a b, " * 5_000, [" ,b a" * 5_000])
    assert time.process_time() - start < 2
    assert "".join(text for text, _ in answer) == "a b, " * 5_000
    assert "".join(text for text, _ in references[0]) == " ,b a" * 5_000
