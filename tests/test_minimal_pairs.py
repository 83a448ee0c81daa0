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


@pytest.mark.parametrize("item", ITEMS, ids=[item["id"] for item in ITEMS])
def test_schema(item):
    assert list(item) == ["id", "kind", "question", "references", "right", "wrong"]
    assert re.fullmatch(rf"{item['kind']}-\d{{3}}", item["id"])
    assert 1 <= len(item["references"]) <= 3
    assert item["right"]
    assert len(item["right"]) + len(item["wrong"]) >= 2
    strings = [item["question"], *item["references"], *item["right"], *item["wrong"]]
    assert all(isinstance(text, str) and text and text == text.strip() for text in strings)
    right = {" ".join(words(text)) for text in item["references"] + item["right"]}
    assert right.isdisjoint(" ".join(words(text)) for text in item["wrong"])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "paraphrase"])
def test_every_item_has_a_right_and_a_wrong_answer(kind):
    assert [item["id"] for item in of_kind(kind) if not (item["right"] and item["wrong"])] == []


def test_a_tenth_of_the_questions_are_as_in_search_logs():
    logged = [item for item in ITEMS if item["question"] == item["question"].lower() and item["question"][-1] != "?"]
    assert 0.08 <= len(logged) / len(ITEMS) <= 0.2


@pytest.mark.parametrize(("right", "wrong"), pairs("number") + pairs("name") + pairs("negation"))
def test_one_change_tells_right_from_wrong(right, wrong):
    changed = Levenshtein.distance(words(right), words(wrong))
    assert 1 <= changed <= 3
    if len(words(right)) >= 6:
        assert fuzz.ratio(right, wrong) >= 70


@pytest.mark.parametrize(("right", "wrong"), pairs("number"))
def test_without_its_numbers_the_wrong_answer_is_the_right_one(right, wrong):
    spelled = "one two three four five six seven eight nine ten eleven twelve".split()

    def rest(text: str) -> list[str]:
        return [word for word in words(text) if word not in spelled and not any(map(str.isdigit, word))]

    assert rest(right) == rest(wrong)


@pytest.mark.parametrize(("right", "wrong"), pairs("word_order"))
def test_word_order_has_nearly_the_same_bag_of_words(right, wrong):
    assert words(right) != words(wrong)
    left, other = Counter(words(right)), Counter(words(wrong))
    assert ((left - other) + (other - left)).total() <= 2


def test_paraphrases_share_few_words_with_the_references():
    """At least a third of the right answers share under half of their words with every reference."""
    shares = [
        max(
            len(set(words(answer)) & set(words(reference))) / len(set(words(answer)))
            for reference in item["references"]
        )
        for item in of_kind("paraphrase")
        for answer in item["right"]
    ]
    assert all(len(item["right"]) >= 2 for item in of_kind("paraphrase"))
    assert sum(share < 0.5 for share in shares) >= len(shares) / 3


def test_flooded_answers_are_long():
    lengths = [len(words(answer)) for item in of_kind("flooding") for answer in item["right"] + item["wrong"]]
    assert min(lengths) >= 25


def test_the_right_answer_to_each_row_passes_everything():
    truth = {(item["question"], answer): 1 for item in ITEMS for answer in item["right"]}
    rates = pass_rates(
        lambda questions, references, answers: [truth.get(row, 0) for row in zip(questions, answers, strict=True)]
    )
    assert list(rates) == list(KINDS)
    assert all(passed == items for passed, items in rates.values())


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
