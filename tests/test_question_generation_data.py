"""Pairs of sentence and question from rows of span QA, and the check that nothing comes near the test part."""

import hashlib
import json

import pytest

from training.common import write_rows
from training.question_generation import contexts, prepare_pairs

TEST = [{"context": "immediately behind the basilica is the grotto -lrb- a marian place -rrb- .", "references": []}]
TEST[0]["references"].append("what is the grotto ?")


def pair(sentence="Ada won the cup.", question="Who won the cup?", passage=None, article=None):
    return {"sentence": sentence, "question": question, "passage": passage or sentence, "article": article}


def test_a_pair_is_the_sentence_with_the_answer():
    text = "It rained in 1843. Ada (the cup's owner) won it. All were glad."
    row = {"title": "Ada", "context": text, "question": "Who won?"}
    row["answers"] = {"text": ["Ada"], "answer_start": [text.index("Ada")]}
    (found,) = prepare_pairs.pairs_of([row], articles=True)
    assert found["sentence"] == "ada -lrb- the cup 's owner -rrb- won it ."
    assert found["question"] == "who won ?"
    assert (found["article"], found["passage"]) == ("Ada", text)
    assert prepare_pairs.pairs_of([row])[0]["article"] is None
    across = {"text": ["owner) won it. All were"], "answer_start": [text.index("owner")]}
    assert prepare_pairs.pairs_of([{**row, "answers": across}])[0]["sentence"].endswith("all were glad .")


def test_leaks_are_found_however_they_are_written():
    check = prepare_pairs.LeakCheck(TEST)
    sentence = "Immediately behind the basilica is the Grotto (a Marian place)."
    for leak, reason in (
        (pair(sentence), "sentence"),
        (pair(passage=f"First words. {sentence} Last words."), "sentence"),
        (pair(question="What is the Grotto?"), "question"),
    ):
        assert check.reason(leak) == f"{reason} of the test set"
    assert check.reason(pair()) is None
    rows = [pair(sentence, article="Lourdes"), pair(article="Lourdes"), pair(article="Ada"), pair()]
    kept, dropped = check.split(rows)
    assert [p["article"] for p in kept] == ["Ada", None]
    assert dropped == {"article of the test set": 2}


@pytest.fixture
def folder(tmp_path):
    """Span QA of three articles, one of them in the test part, and the files of Du et al."""
    rows = []
    for title, places in (("Steps", "house garden town yard"), ("Grotto", "grotto cave")):
        for place in places.split():
            context = f"Nobody counts. There are seven steps in the {place} of the old king."
            answers = {"text": ["seven"], "answer_start": [context.index("seven")]}
            question = f"How many steps are in the {place}?"
            rows.append({"title": title, "context": context, "question": question, "answers": answers})
    write_rows(tmp_path / "span_qa/squad.train.jsonl.gz", rows)
    write_rows(tmp_path / "span_qa/squadshifts_reddit.jsonl.gz", rows[:2])  # the same pairs again
    write_rows(
        tmp_path / "question_generation/squad_du2017.dev.jsonl.gz",
        [
            {"context": f"there are {n} rooms in this house of ours .", "references": [f"how many rooms , {n} ?"]}
            for n in ("two", "three", "four", "five", "six")
        ],
    )
    test = {"context": "there are seven steps in the grotto of the old king .", "references": ["where are they ?"]}
    write_rows(tmp_path / "question_generation/squad_du2017.test.jsonl.gz", [test])
    # As with QAMR: span QA has one row a question, and not all of them.
    write_rows(tmp_path / "span_qa/both.test.jsonl.gz", rows[-1:])
    write_rows(
        tmp_path / "question_generation/both.test.jsonl.gz",
        [{"context": rows[-1]["context"], "references": [rows[-1]["question"], rows[0]["question"]]}],
    )
    return tmp_path


def test_preparing_twice_gives_the_same_files_without_leaks(folder, tmp_path):
    found = []
    for name in ("a", "b"):
        sources = ["squad_du2017.dev", "squad.train", "squadshifts_reddit"]
        args = prepare_pairs.Arguments(str(folder), str(tmp_path / name), sources=sources, dev_contexts=2)
        facts = prepare_pairs.prepare(args)
        found.append({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()})
    assert found[0] == found[1]
    assert set(found[0]) == {"sentences.train.jsonl.gz", "sentences.dev.jsonl.gz", "sentences.json"}
    assert facts["sources"]["squad.train"]["dropped"] == {"article of the test set": 2}
    assert facts["pairs"]["by source"] == {"squad_du2017.dev": 3, "squad.train": 4}
    train, dev = (contexts.read_contexts(f"sentences.{part}", tmp_path / "a") for part in ("train", "dev"))
    assert (len(train), len(dev)) == (7, 2)
    assert not {context.text for context in train} & {context.text for context in dev}
    assert not any("grotto" in context.text or "cave" in context.text for context in train)
    # What is tokenised stays as it is: read again, "-lrb-" would fall into pieces.
    rows = [{"sentence": "ada -lrb- 1843 -rrb- won .", "question": "who won ?", "tokenized": True}]
    (tmp_path / "made.jsonl").write_text(json.dumps(rows[0]) + "\n", encoding="utf-8")
    assert contexts.read_contexts("made", tmp_path)[0].text == "ada -lrb- 1843 -rrb- won ."


def test_a_test_set_that_both_folders_have_keeps_all_its_questions_away(folder, tmp_path):
    args = prepare_pairs.Arguments(
        str(folder), str(tmp_path / "a"), sources=["squadshifts_reddit"], test=["both.test"], dev_contexts=0
    )
    facts = prepare_pairs.prepare(args)
    assert facts["sources"]["squadshifts_reddit"]["dropped"] == {"question of the test set": 1}
    digest = hashlib.sha256((folder / "question_generation" / "both.test.jsonl.gz").read_bytes()).hexdigest()
    assert facts["data_digests"]["both.test.jsonl.gz"] == digest
