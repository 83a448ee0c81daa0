"""The suite of minimal pairs is what it claims to be, and is counted as it says."""

import re
from collections import Counter

from training.ava.minimal_pairs import FOLDER, KINDS, load, pass_rates

ITEMS = load()


def words(text: str) -> list[str]:
    return re.findall(r"[\w.,:°%-]*\w", text.casefold())


def test_there_are_enough_items_and_each_is_one():
    counts = Counter(item["kind"] for item in ITEMS)
    assert set(counts) == set(KINDS) == {path.stem for path in FOLDER.glob("*.jsonl")}
    assert min(counts.values()) >= 40
    assert len(ITEMS) == len({item["id"] for item in ITEMS}) >= 300
    rows = [(item["question"], answer) for item in ITEMS for answer in item["right"] + item["wrong"]]
    assert len(set(rows)) == len(rows)


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


def test_one_wrong_verdict_fails_one_item():
    target = (ITEMS[0]["question"], ITEMS[0]["wrong"][0])
    truth = {(item["question"], answer): 1 for item in ITEMS for answer in item["right"]} | {target: 1}
    rates = pass_rates(
        lambda questions, references, answers: [truth.get(row, 0) for row in zip(questions, answers, strict=True)]
    )
    assert [items - passed for passed, items in rates.values()] == [1, 0, 0, 0, 0, 0, 0, 0]
