"""Inputs that people who evaluate answers have: other data sets and tools, labels as words, texts without words."""

import csv
import functools
import json
import shlex
from pathlib import Path

import genqa_metrics
import numpy as np
import pandas
import pytest
from genqa_metrics.kpqa.encoding import denied_pieces
from genqa_metrics.kpqa.scoring import UNKNOWN, Tokens, pair_statistics
from genqa_metrics.rows.cells import NO_ANSWER, answers_of
from genqa_metrics.rows.columns import recognized
from genqa_metrics.rows.errors import InputWarning
from genqa_metrics.rows.reading import Skips
from genqa_metrics.rows.sources import files, sources_of
from genqa_metrics.scale.run import Reading
from genqa_metrics.verbs.calibrate.calibration import area_under_curve
from genqa_metrics.verbs.doctor.report import diagnose

from tests.factories.cases import with_cases
from tests.factories.files import run, save

WHERE = "Where is the mill?"
pytestmark = pytest.mark.filterwarnings("ignore::genqa_metrics.rows.errors.InputWarning")


def read(*paths):
    """Return the items of files, and what must be known of how they were read."""
    sources = files([str(path) for path in paths])
    found = [item for items in Reading(sources, {}, Skips()).good_rows() for item in items]
    return found, " ".join(notice for source in sources for notice in source.notices)


def write(path, content):
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_what_is_no_answer_of_a_data_set_is_refused():
    assert answers_of({"source": "x"}) is None
    assert answers_of(float("nan")) is None
    nested = functools.reduce(lambda value, _: {"text": [value]}, range(900), "Kent")
    assert answers_of(nested) != ["Kent"], "a depth has an end"
    with pytest.raises(ValueError, match="item 2: expected a string, got a list"):
        genqa_metrics.score([{"prediction": "a", "references": ["a", ["b"]]}], "aev")


@pytest.mark.parametrize("empty", [[], {"text": [], "answer_start": []}])
def test_a_question_without_an_answer_counts(empty):
    """Declining or an empty answer is right there, an invented one wrong; without references at all the row is bad."""
    rows = [{"question": WHERE, "prediction": text, "references": empty} for text in ("", "I don't know.", "In Kent.")]
    with pytest.warns(InputWarning, match="rows without any right answer"):
        report = genqa_metrics.score(rows, "ava")
    assert report.to_pandas()["ava_label"].tolist() == [1, 1, 0]
    assert report.to_pandas()["references"].tolist() == [[NO_ANSWER]] * 3
    with pytest.raises(ValueError, match="references: expected at least one reference, got none"):
        genqa_metrics.score([rows[0] | {"references": None}], "aev")


def test_answers_in_a_frame_of_pandas(tmp_path):
    """Parquet gives arrays inside objects."""
    row = {"question": WHERE, "prediction": "Kent"}
    rows = [row | {"answers": {"text": texts}} for texts in (["Kent", "in Kent"], [])]
    pandas.DataFrame(rows).to_parquet(tmp_path / "a.parquet")
    for given in (pandas.read_parquet(tmp_path / "a.parquet"), str(tmp_path / "a.parquet")):
        found = Reading(sources_of(given), {}, Skips()).good_rows()
        assert [item.references for (item,) in found] == [["Kent", "in Kent"], [NO_ANSWER]]


@with_cases
def test_one_list_of_names(names, roles):
    assert list(map(recognized(tuple(names)).get, ("question", "prediction", "references"))) == roles


FILES = json.loads((Path(__file__).parent / "data/data_sets.json").read_text(encoding="utf-8"))
GOLD, PREDICTIONS = FILES["sets"], FILES["predictions"]


@pytest.mark.parametrize("kind", GOLD)
def test_predictions_beside_their_data_set(kind, tmp_path):
    """In either order, and doctor's commands name both files; alone each says what is missing."""
    gold = write(tmp_path / "gold.json", GOLD[kind])
    answers = write(tmp_path / "mine.json", PREDICTIONS.get(kind, {"q1": "Kent", "q2": ""}))
    for paths in ((gold, answers), (answers, gold)):
        found, _ = read(*paths)
        assert [(item.text, item.predictions, item.system) for item in found] == [
            (WHERE, ["Kent"], "mine"),
            ("Who?", [NO_ANSWER], "mine"),
        ]
        assert found[0].references[0] == "in Kent"
        assert set(found[1].references) == {NO_ANSWER}
    report = diagnose(files([str(gold), str(answers)]))
    assert shlex.split(report.can[0]["command"])[2:4] == [str(gold), str(answers)]
    assert "predictions alone" in run("score", answers, status=2)[1]
    assert "right answers alone" in run("score", gold, status=2)[1]


def test_a_question_that_was_not_answered_is_wrong(tmp_path):
    gold = write(tmp_path / "gold.json", GOLD["squad"])
    found, told = read(gold, write(tmp_path / "mine.json", {"q2": "Ann"}))
    assert [(item.id, item.predictions) for item in found] == [("q1", [""]), ("q2", ["Ann"])]
    assert "1 questions of the data set have no prediction" in told
    with pytest.raises(ValueError, match="1 of 1 answers are to questions that are not in the data set"):
        read(gold, write(tmp_path / "mine.json", {"q3": "Ann"}))


BRACKETS = ["[1] Marlow Ltd.", "[sic] in Kent", '["red", "blue"]', "[2, 5]", "[]"]


@pytest.mark.parametrize("first", BRACKETS)
@pytest.mark.parametrize("header", ["prediction", "answer", "predictions"])
def test_a_cell_that_begins_with_a_bracket_is_text(first, header, tmp_path):
    """The columns say what rows are, not the first cell: sets of questions are asked about a context."""
    path = tmp_path / "a.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = ([WHERE, text, "Kent"] for text in (first, *BRACKETS))
        csv.writer(file).writerows([["question", header, "references"], *rows])
    found, _ = read(path)
    assert [item.predictions for item in found] == [[text] for text in (first, *BRACKETS)]


def test_files_of_one_name_in_two_folders_are_two_systems(tmp_path):
    rows = [{"prediction": "a", "references": "a"}]
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
        save(tmp_path / folder / "x.jsonl", rows)
    found, _ = read(tmp_path / "old/x.jsonl", tmp_path / "new/x.jsonl")
    assert [item.system for item in found] == ["old/x", "new/x"]
    save(tmp_path / "old/x.csv", rows)
    found, _ = read(tmp_path / "old/x.jsonl", tmp_path / "old/x.csv")
    assert [item.system for item in found] == ["x.jsonl", "x.csv"]


def test_a_judge_of_sets_with_labels():
    rows = [{"question": WHERE, "prediction": ["In Kent.", "In Rome."], "references": ["Kent"], "label": 1}] * 2
    assert genqa_metrics.score(rows, "ava").systems["rows"]["ava_accuracy"] == 0.5


@pytest.mark.usefixtures("word_judge")
def test_an_answer_without_passages_is_unsupported():
    rows = [
        {"question": WHERE, "prediction": text, "contexts": contexts}
        for text, contexts in (("The mill is in Kent.", []), ("The mill is in Kent.", [""]), ("I don't know.", []))
    ]
    report = genqa_metrics.score(rows, "grounding")
    assert report.to_pandas()["grounding"].tolist() == [0, 0, 1]
    assert report.systems["rows"]["grounding"] == 0
    assert any("rows have no passages" in one for one in report.results.warnings)
    assert "rows have no passages" in report.to_html()


@pytest.mark.usefixtures("word_judge")
@pytest.mark.parametrize("missing", [None, "", " "])
def test_a_row_whose_passages_are_missing_is_not_one_for_which_nothing_was_retrieved(missing):
    """A file where only some answers are from passages: the others would count as unsupported."""
    rows = [
        {"question": WHERE, "prediction": "The mill is in Kent.", "references": ["Surrey"], "passage": passage}
        for passage in ("The mill is in Kent.", missing)
    ]
    with pytest.raises(ValueError, match=r"row 2: passage: expected passages, which grounding reads, got none"):
        genqa_metrics.score(rows, "grounding")
    assert genqa_metrics.score(rows, "grounding", on_error="skip").systems["rows"]["grounding"] == 1
    assert genqa_metrics.score(rows, "ava").rows == {"rows": 2}


@pytest.mark.parametrize("text", ["A", "The Who", "%", "No", "😀", ">="])
def test_identical_texts_score_1(text):
    assert genqa_metrics.load("aev").compute(predictions=[text], references=[[text]])["aev"] == 1
    ava = genqa_metrics.load("ava")
    for answer, score in ((text, 1), ("?!", 0)):  # what has neither letter nor digit is an answer only if accepted
        judged = ava.compute(questions=["Which one?"], predictions=[answer], references=[[text]])
        assert (judged["ava_accuracy"], judged["ava_score"] > 0) == (score, score)


def test_stop_words_count_where_a_reference_has_no_other():
    aev = genqa_metrics.load("aev")
    found = aev.compute(predictions=["Yes", "the", "It was The Who"], references=["No", "The Beatles", "The Who"],
                        per_example=True)["aev_per_example"]  # fmt: skip
    assert found[:2] == [0, 0]
    assert 0 < found[2] < 1


def test_words_that_the_vocabulary_does_not_know_match_only_themselves():
    """They share one vector; ids from UNKNOWN on tell them apart."""

    def text(*ids):
        return Tokens(np.array(ids), np.ones(len(ids)), np.eye(1, 4).repeat(len(ids), 0))

    same, other = text(UNKNOWN + 1), text(UNKNOWN + 2)
    assert pair_statistics([same, same], [same, other]).tolist() == [[1.0] * 10, [0.0] * 10]


def test_emoji_and_scripts_in_kpqa():
    kpqa = genqa_metrics.load("kpqa")
    pairs = [("😀", "😀"), ("😀", "😡"), ("ಬೆಂಗಳೂರು", "ಮೈಸೂರು"), ("x >= 5", "x != 5"), ("x ≥ 5", "x >= 5")]
    found = kpqa.compute(
        questions=["What is it?"] * len(pairs),
        predictions=[one for one, _ in pairs],
        references=[other for _, other in pairs],
        per_example=True,
    )
    for name in ("bleu1_kpqa", "rougeL_kpqa", "bertscore_kpqa"):
        scores = found[f"{name}_per_example"]
        assert scores[0] == pytest.approx(1)
        assert max(scores[1:3]) < 0.1
        assert scores[3] < 0.5 < scores[4]
    assert max(found[f"{name}_per_example"][1] for name in ("bleu1", "rougeL", "bertscore")) == 0
    assert "|unknown:surface|" in kpqa.signature()


def test_an_operand_is_what_its_operator_makes_of_it():
    offsets = [(0, 1), (2, 4), (5, 6)]
    marks = {text: denied_pieces(text, offsets, np.ones(3)).tolist() for text in ("x >= 5", "x <= 5", "x == 5")}
    assert marks["x >= 5"][:2] == [0, 0]
    assert 0 not in (marks["x >= 5"][2], marks["x <= 5"][2])
    assert marks["x >= 5"] != marks["x <= 5"]
    assert marks["x == 5"] == [0, 0, 0]
    assert not denied_pieces("<b> 5", [(0, 3), (4, 5)], np.ones(2)).any()


def test_the_area_of_many_labels_needs_little_memory():
    """All pairs of 30,000 labels would take 7 GB at least; parity with the definition on few."""
    rng = np.random.default_rng(0)
    scores, labels, weights = rng.random(30_000).round(2), rng.integers(0, 3, 30_000) / 2, rng.random(30_000)
    few = slice(0, 60)
    above = np.sign(scores[few, None] - scores[few]) / 2 + 0.5
    pairs = (weights * labels)[few, None] * (weights * (1 - labels))[few]
    assert area_under_curve(scores[few], labels[few], weights[few]) == pytest.approx(
        (above * pairs).sum() / pairs.sum()
    )
    assert area_under_curve(scores, labels, weights) == pytest.approx(0.5, abs=0.02)


@with_cases
def test_what_only_begins_like_a_known_file_is_one_clear_error_or_rows(document, tmp_path):
    path = write(tmp_path / "a.json", document)
    with pytest.raises(ValueError, match=r"a\.json"):
        genqa_metrics.score([path, write(tmp_path / "b.json", document)], "aev")
    diagnose(files([path]))
