"""The suite of minimal pairs is what it claims to be, and is counted as it says."""

import re
from collections import Counter

import pytest
from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from training.ava.minimal_pairs import FOLDER, KINDS, load, pass_rates

ITEMS = load()


def words(text: str) -> list[str]:
    return re.findall(r"[\w.,:°%-]*\w", text.casefold())


def of_kind(kind: str) -> list[dict]:
    return [item for item in ITEMS if item["kind"] == kind]


def nearest(wrong: str, rights: list[str]) -> str:
    return max(rights, key=lambda right: fuzz.ratio(wrong, right))


def pairs(kind: str) -> list:
    """Each wrong answer of a kind beside the most similar right one."""
    return [
        pytest.param(nearest(wrong, item["right"]), wrong, id=f"{item['id']}-{number}")
        for item in of_kind(kind)
        for number, wrong in enumerate(item["wrong"])
    ]


def test_there_are_enough_items():
    counts = Counter(item["kind"] for item in ITEMS)
    assert set(counts) == set(KINDS) == {path.stem for path in FOLDER.glob("*.jsonl")}
    assert min(counts.values()) >= 40
    assert len(ITEMS) >= 300


def test_ids_and_questions_with_answers_are_unique():
    assert len({item["id"] for item in ITEMS}) == len(ITEMS)
    rows = [(item["question"], answer) for item in ITEMS for answer in item["right"] + item["wrong"]]
    assert [row for row, count in Counter(rows).items() if count > 1] == []


def test_schema():
    for item in ITEMS:
        assert list(item) == ["id", "kind", "question", "references", "right", "wrong"]
        assert re.fullmatch(rf"{item['kind']}-\d{{3}}", item["id"])
        assert item["right"]
        assert item["wrong"] or item["kind"] == "paraphrase"
        strings = [item["question"], *item["references"], *item["right"], *item["wrong"]]
        assert all(isinstance(text, str) and text and text == text.strip() for text in strings)
        right = {" ".join(words(text)) for text in item["references"] + item["right"]}
        assert right.isdisjoint(" ".join(words(text)) for text in item["wrong"])


@pytest.mark.parametrize(("right", "wrong"), pairs("number") + pairs("name") + pairs("negation"))
def test_one_change_tells_right_from_wrong(right, wrong):
    changed = Levenshtein.distance(words(right), words(wrong))
    assert 1 <= changed <= 3
    if len(words(right)) >= 6:
        assert fuzz.ratio(right, wrong) >= 70


@pytest.mark.parametrize(("right", "wrong"), pairs("word_order"))
def test_word_order_has_nearly_the_same_bag_of_words(right, wrong):
    assert words(right) != words(wrong)
    left, other = Counter(words(right)), Counter(words(wrong))
    assert ((left - other) + (other - left)).total() <= 2


def test_one_wrong_verdict_fails_one_item():
    target = (ITEMS[0]["question"], ITEMS[0]["wrong"][0])
    truth = {(item["question"], answer): 1 for item in ITEMS for answer in item["right"]} | {target: 1}
    rates = pass_rates(
        lambda questions, references, answers: [truth.get(row, 0) for row in zip(questions, answers, strict=True)]
    )
    assert [items - passed for passed, items in rates.values()] == [1, 0, 0, 0, 0, 0, 0, 0]


def test_lexical_matching_is_fooled():
    """A reference found in the answer is not enough: the suite is harder than string matching."""

    def contains(questions, references, answers):
        return [
            int(any(f" {' '.join(words(text))} " in f" {' '.join(words(answer))} " for text in texts))
            for texts, answer in zip(references, answers, strict=True)
        ]

    passed, items = map(sum, zip(*pass_rates(contains).values(), strict=True))
    assert passed / items < 0.5
