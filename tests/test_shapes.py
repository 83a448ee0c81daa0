"""Rows as tools and people write them: multiple choice, messages, objects, typed values, human scores, hints."""

import datetime
import json
import re
from decimal import Decimal

import genqa_metrics
import pandas
import pytest
from genqa_metrics.rows.errors import in_command
from genqa_metrics.rows.reading import FileError, RowError, RowReader, check_columns
from genqa_metrics.rows.sources import files
from genqa_metrics.rows.values import NO_ANSWER

from tests.factories.files import items, run, save

ASKED, METALS = "Which metal is liquid?", ["Iron", "Mercury", "Tin"]
LISTED = f"{ASKED}\nA. Iron\nB. Mercury\nC. Tin"
RIGHT = ["B. Mercury", "B", "Mercury"]
pytestmark = pytest.mark.filterwarnings("ignore::genqa_metrics.rows.errors.InputWarning")


def notes(source):
    return " ".join(map(in_command, source.notices))


def read(row, **columns):
    """Return the only item of a row, and what must be known of how it was read."""
    source, (item,) = items([row], columns)
    return item, notes(source)


LETTERS = {"A": "Iron", "B": "Mercury", "C": "Tin"}
CHOICES = [
    {"choices": METALS, "answer": 1},
    {"choices": METALS, "answer": "B"},
    {"options": METALS, "answer": "(b)", "answer_index": 1},
    {"options": LETTERS, "answer": "Mercury", "answer_idx": "B"},
    {"options": LETTERS, "answer_idx": "B"},
    {"choices": {"text": METALS, "label": ["A", "B", "C"]}, "answerKey": "B"},
    {"choices": [{"label": key, "text": text} for key, text in LETTERS.items()], "answerKey": "B"},
    {"options": [f"{key}) {text}" for key, text in LETTERS.items()], "correct": "B"},
    {**LETTERS, "Answer": "B"},
    {"option_a": "Iron", "option_b": "Mercury", "option_c": "Tin", "answer": "Mercury"},
    {"opa": "Iron", "opb": "Mercury", "opc": "Tin", "cop": 1},
    {"choices": str(METALS), "answer": "1"},
    {"options": METALS, "label": "B"},
    {"options": METALS, "correctIndex": 1},
    {"question": {"stem": ASKED, "choices": [{"text": text, "label": key} for key, text in LETTERS.items()]},
     "answerKey": "B"},
]  # fmt: skip


@pytest.mark.parametrize("row", CHOICES)
def test_the_options_of_a_question_are_read_with_a_note(row):
    """The letter and the text of the right option are both right; an index counts from 0."""
    item, told = read({"question": ASKED, "prediction": "It is B.", **row})
    assert (item.text, item.references, item.predictions) == (LISTED, RIGHT, ["It is B."])
    assert "whose letter and text are both accepted); leave the options unread with --column options=" in told


def test_labels_of_options_may_be_numbers():
    options = {"text": METALS, "label": ["1", "2", "3"]}
    item, _ = read({"question": ASKED, "prediction": "2", "choices": options, "answerKey": "2"})
    assert item.references == ["2. Mercury", "2", "Mercury"]
    assert item.text.endswith("\n2. Mercury\n3. Tin")


def test_several_options_are_right_together():
    for answer in (["A", "C"], "A, C"):
        item, _ = read({"question": ASKED, "prediction": "A and C", "options": METALS, "answer": answer})
        assert item.references == ["A. Iron, C. Tin", "A, C", "Iron, Tin"]


def test_columns_that_are_numbered_number_their_options():
    item, _ = read({"question": "_ is liquid.", "option1": "Iron", "option2": "Mercury", "answer": "2", "output": "2"})
    assert (item.references, item.text) == (["2. Mercury", "2", "Mercury"], "_ is liquid.\n1. Iron\n2. Mercury")


def test_an_index_in_a_column_label_is_read_only_where_it_is_named():
    """HellaSwag counts from 0, Social IQa from 1; no such label is that of a person."""
    row = {"question": ASKED, "prediction": "x", "endings": METALS, "label": "1"}
    with pytest.raises(RowError, match="label: '1' may count the options from 0 or from 1") as caught:
        read(row)
    option = re.search(r"--column references=(\S+)", in_command(caught.value))[1]
    item, _ = read(row, references=option)
    assert (item.references, item.human) == (RIGHT, (None, None))
    item, _ = read(row | {"label": "B"})
    assert (item.references, item.human) == (RIGHT, (None, None))


def test_what_is_no_multiple_choice_stays():
    for more in ({"options": {"temperature": 0.2}}, {"choices": METALS}, {"choices": [], "answer_idx": 3}):
        item, _ = read({"question": ASKED, "prediction": "x", "answer": "It is quicksilver.", **more})
        assert (item.text, item.references) == (ASKED, ["It is quicksilver."])
    item, _ = read({"question": ASKED, "prediction": "x", "answer": 1, "choices": METALS}, options="")
    assert item.references == ["1"]
    numbers = {"question": "How many?", "prediction": "x", "choices": ["3", "2", "5"], "answer": "2"}
    with pytest.raises(RowError, match="may be the text of option B or the index of C; write its letter"):
        read(numbers)
    assert read(numbers | {"answer": 2})[0].references == ["C. 5", "C", "5"], "an integer is an index"
    with pytest.raises(RowError, match="answer_idx: 7 is none of the options A, B, C"):
        read({"question": ASKED, "prediction": "x", "choices": METALS, "answer_idx": 7})


def test_the_options_of_a_data_set_stay_when_predictions_are_joined(tmp_path):
    gold = save(tmp_path / "gold.jsonl", [{"id": "q1", "question": ASKED, "choices": METALS, "answer": 1}])
    (tmp_path / "mine.json").write_text(json.dumps({"q1": "B"}))
    (source,) = files([gold, tmp_path / "mine.json"])
    (item,) = RowReader(source, {}).read(next(source.rows()))
    assert (item.text, item.references) == (LISTED, RIGHT)


SAID = {"role": "assistant", "content": "Lima"}
MESSAGES = [{"role": "user", "content": "Which capital?"}, SAID]
BLOCKS = [{"type": "thinking", "thinking": "Is it Quito?"}, {"type": "text", "text": "Lima"}]
ANSWERS = [
    SAID,
    MESSAGES,
    BLOCKS,
    {"role": "assistant", "content": BLOCKS},
    [{"from": "human", "value": "Which capital?"}, {"from": "gpt", "value": "Lima"}],
    [{"type": "human", "content": "Which capital?"}, {"type": "ai", "content": "Lima"}],
    {"choices": [{"index": 0, "message": SAID, "finish_reason": "stop"}]},
    {"output": [{"type": "reasoning", "summary": []}, {"type": "message", **SAID}]},
    {"candidates": [{"content": {"role": "model", "parts": [{"text": "Lima"}]}, "finishReason": "STOP"}]},
    [{"generated_text": "Lima"}],
    {"answer": "Lima", "confidence": 0.9},
    {"reasoning": "The coast.", "final_answer": "Lima"},
    {"text": "Lima", "tokens": 3},
    {"answer": {"text": "Lima", "start": 3}, "score": 0.9},
    {"reply": "Lima"},
    {"id": "r1", "model": "m", "choices": [{"message": SAID}], "usage": {}},
    json.dumps(MESSAGES),
]


@pytest.mark.parametrize("prediction", ANSWERS)
def test_an_answer_that_is_an_object_is_one_answer_of_one_system(prediction):
    item, told = read({"question": "Which capital?", "prediction": prediction, "references": ["Lima"]})
    assert (item.predictions, item.system) == (["Lima"], "rows")
    assert "prediction: messages were read as" in told or "prediction: objects were read as one answer" in told
    both = {"question": "Which capital?", "prediction": {"a": prediction, "b": "Quito"}, "references": ["Lima"]}
    _, found = items([both])
    assert [(item.system, item.predictions) for item in found] == [("a", ["Lima"]), ("b", ["Quito"])]


def test_an_object_of_which_no_key_is_an_answer_is_refused_with_the_option_that_works():
    row = {"question": "?", "prediction": {"guess": "Lima", "confidence": 0.9}, "references": ["Lima"]}
    with pytest.raises(RowError, match="got an object with 'confidence'") as caught:
        read(row)
    option = re.search(r"--column prediction=(\S+)", in_command(caught.value))[1]
    assert read(row, prediction=option)[0].predictions == ["Lima"]
    several = {**row, "prediction": [{"answer": "Lima", "score": 0.9}, {"answer": "Quito", "score": 0.1}]}
    with pytest.raises(RowError, match="got a list of objects") as caught:
        read(several)
    option = re.search(r"--column prediction=(\S+)", in_command(caught.value))[1]
    assert read(several, prediction=option)[0].predictions == ["Lima"]


def test_a_message_of_the_user_or_a_call_of_a_tool_is_no_answer():
    for prediction in (MESSAGES[:1], {"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]}):
        with pytest.raises(RowError, match="prediction: expected a message of the assistant"):
            read({"question": "?", "prediction": prediction, "references": ["Lima"]})


def test_a_column_of_messages_has_the_question_and_the_answer(tmp_path):
    for name in ("messages", "conversations"):
        item, told = read({name: MESSAGES, "reference": "Lima"})
        assert (item.text, item.predictions, item.references) == ("Which capital?", ["Lima"], ["Lima"])
        assert f"column {name!r} was read as the question" in told
    item, _ = read({"question": MESSAGES[:1], "prediction": "Lima", "references": "Lima"})
    assert item.text == "Which capital?"
    path = save(tmp_path / "a.csv", [{"question": "?", "prediction": MESSAGES, "references": "Lima"}])
    assert items(path)[1][0].predictions == ["Lima"]
    pandas.DataFrame([{"question": "?", "prediction": MESSAGES, "references": "Lima"}]).to_csv(path, index=False)
    assert items(path)[1][0].predictions == ["Lima"], "as pandas prints it"


def test_references_of_data_sets():
    """KILT, QASPER, Natural Questions, PopQA."""
    facts = {"unanswerable": False, "extractive_spans": ["Lima"], "yes_no": None, "free_form_answer": ""}
    none = facts | {"unanswerable": True, "extractive_spans": []}
    cases = [
        ({"input": "?", "output": [{"answer": "Lima"}, {"provenance": [{"title": "Peru"}]}]}, ["Lima"]),
        ({"question": "?", "answers": [{"answer": facts}, {"answer": none | {"free_form_answer": "Its capital."}}]},
         ["Lima", "Its capital."]),
        ({"question": "?", "answers": [{"answer": none | {"yes_no": False}}]}, ["no", "false"]),
        ({"question": "?", "answers": [{"answer": none}]}, [NO_ANSWER]),
        ({"question_text": "?", "annotations": [{"yes_no_answer": "NONE", "short_answers": [{"text": "Lima"}]}]},
         ["Lima"]),
        ({"question_text": "?", "annotations": [{"yes_no_answer": "YES", "short_answers": []}]}, ["yes"]),
        ({"question": "?", "possible_answers": '["Lima", "City of Lima"]'}, ["Lima", "City of Lima"]),
    ]  # fmt: skip
    for row, references in cases:
        item, _ = read({"id": 1, "prediction": "x", **row})
        assert (item.text, item.references) == ("?", references)


def test_states_of_helm(tmp_path):
    state = {
        "instance": {"input": {"text": "?"}, "id": "i1", "references": [
            {"output": {"text": "Quito"}, "tags": []}, {"output": {"text": "Lima"}, "tags": ["correct"]}]},
        "request": {"model": "org/m", "prompt": "Q: ?"},
        "result": {"completions": [{"text": " Lima"}]},
    }  # fmt: skip
    path = tmp_path / "scenario_state.json"
    path.write_text(json.dumps({"adapter_spec": {}, "request_states": [state]}))
    source, (item,) = items(path)
    assert source.form == "helm"
    assert (item.text, item.predictions, item.references) == ("?", [" Lima"], ["Lima"])
    assert (item.system, item.id) == ("org/m", "i1")


BATCHES = [
    {"custom_id": "q1", "response": {"status_code": 200, "body": {"choices": [{"index": 0, "message": SAID}]}}},
    {"custom_id": "q1", "result": {"type": "succeeded", "message": {"role": "assistant", "content": BLOCKS}}},
    {"key": "q1", "response": {"candidates": [{"content": {"role": "model", "parts": [{"text": "Lima"}]}}]}},
]


@pytest.mark.parametrize("line", BATCHES)
def test_the_output_of_a_batch_is_joined_with_the_questions(line, tmp_path):
    failed = {name: "q2" if value == "q1" else None for name, value in line.items()}
    answers = save(tmp_path / "batch.jsonl", [line, failed])
    told = run("score", answers, status=2)[1]
    assert "it holds predictions alone: name the file with the questions and right answers, and the" in told
    gold = [{"id": name, "question": "Which?", "answer": "Lima"} for name in ("q1", "q2")]
    (source,) = files([answers, save(tmp_path / "gold.jsonl", gold)])
    found = [item.predictions for row in source.rows() for item in RowReader(source, {}).read(row)]
    assert found == [["Lima"], [""]]


def test_further_references_are_read_under_all_their_names():
    for name in ("alt_ans", "alt_answers", "alternatives", "also_correct", "accepted_answers", "other_answers"):
        item, told = read({"question": "?", "prediction": "x", "answer": "Lima", name: ["City of Lima", None, "Lima"]})
        assert item.references == ["Lima", "City of Lima"], name
        assert f"column {name!r} was read as" in told
    two = {"alt_ans": ["City of Lima"], "also_correct": "The capital"}
    item, _ = read({"question": "?", "prediction": "x", "references": "Lima", **two})
    assert item.references == ["Lima", "City of Lima", "The capital"]
    item, _ = read({"question": "?", "prediction": "x", "references": "Lima", **two}, aliases="")
    assert item.references == ["Lima"]


def test_nulls_in_a_list_of_references_are_left_out_with_a_note():
    item, told = read({"prediction": "x", "references": ["Lima", None, "", float("nan")]})
    assert item.references == ["Lima"]
    assert "references: nulls and empty texts in lists of references were left out" in told
    for references in ([None], [""], None, ""):
        with pytest.raises(RowError, match="expected at least one reference, got"):
            read({"prediction": "x", "references": references})


def test_half_a_surrogate_pair_is_a_replacement_character_with_a_note(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"question": "\\ud83d?", "prediction": "Lima \\ud83d", "references": ["Lima", "\\udc00"]}\n')
    source, (item,) = items(path)
    assert (item.text, item.predictions, item.references) == ("�?", ["Lima �"], ["Lima", "�"])
    assert "prediction: half a surrogate pair" in notes(source)


TYPED = [
    (datetime.date(2020, 3, 4), "2020-03-04"),
    (datetime.datetime(2020, 3, 4), "2020-03-04"),
    (datetime.datetime(2020, 3, 4, 14, 30), "2020-03-04 14:30:00"),
    (pandas.Timestamp("2020-03-04"), "2020-03-04"),
    (datetime.time(14, 30), "14:30:00"),
    (Decimal("12.50"), "12.50"),
]


@pytest.mark.parametrize(("value", "text"), TYPED)
def test_typed_values_are_read_as_their_texts(value, text):
    for references in (value, [value, "x"]):
        item, told = read({"question": "?", "prediction": value, "references": references})
        assert (item.predictions, item.references[0]) == ([text], text)
        assert f"prediction: numbers, dates, true and false were read as texts, such as {text}" in told


def test_typed_columns_of_files(tmp_path):
    rows = [{"question": "?", "prediction": "x", "references": datetime.date(2020, 3, day)} for day in (4, 5)]
    for path in (save(tmp_path / "a.parquet", rows), None):
        _, found = items(path) if path else items(pandas.DataFrame(rows).to_dict("records"))
        assert [item.references for item in found] == [["2020-03-04"], ["2020-03-05"]]
    save(tmp_path / "a.csv", [{"question": "?", "prediction": "x", "references": word} for word in ("TRUE", "False")])
    assert [item.references for item in items(tmp_path / "a.csv")[1]] == [["TRUE", "yes"], ["False", "no"]]


@pytest.mark.parametrize(
    ("role", "given", "numbers"),
    [
        ("score", ["4/5", "5", "3,5", 2, "4 out of 5"], [4.0, 5.0, 3.5, 2.0, 4.0]),
        ("score", ["80%", "100 %"], [80.0, 100.0]),
        ("label", ["4/5", "100%", "0,5", "0"], [0.8, 1.0, 0.5, 0.0]),
    ],
)
def test_human_scores_as_people_write_them(role, given, numbers):
    rows = [{"prediction": "x", "references": "x", role: value} for value in given]
    source, found = items(rows)
    assert [item.human[role == "label"] for item in found] == numbers
    assert "were read as numbers" in notes(source)


def test_human_scores_that_are_no_numbers_are_counted():
    rows = [{"prediction": "x", "references": "x", "score": value} for value in ("five", "N/A", 3, None, float("nan"))]
    source, found = items(rows)
    assert [item.human[0] for item in found] == [None, None, 3.0, None, None]
    assert "score: values such as 'N/A' are no numbers and were not read (2 so far)" in notes(source)
    with pytest.raises(
        RowError, match="'8/10' is on another scale than the rows before, of 5 and of 10; use one scale"
    ):
        items([{"prediction": "x", "references": "x", "score": value} for value in ("4/5", "8/10")])


def test_labels_that_came_through_a_spreadsheet_are_of_their_rows():
    """Composed letters, blanks at the ends and line ends are another program's."""
    rows = [
        {"id": f" é{n}", "question": f"Who sang?\n{n}", "prediction": "Beyonc\xe9 ", "references": "x", "by": n % 2}
        for n in range(6)
    ]
    by_text = [{"question": f"Who sang?\r\n{n}", "prediction": "Beyonce\u0301", "label": n % 2} for n in range(6)]
    by_id = [{"id": f"e\u0301{n} ", "label": n % 2} for n in range(6)]
    for labels in (by_text, by_id):
        report = genqa_metrics.accuracy(rows, labels, columns={"judge": "by"})
        assert report.systems["rows"]["labelled"] == 6


NAMED = [
    ({"prediction": "x", "facts": {"gold": {"span": "Lima"}, "answer_text": "Lima"}}, "references"),
    ({"prediction": "x", "right": [{"answer_span": "Lima"}, {"answer_span": "City of Lima"}]}, "references"),
    ({"references": "Lima", "turns": [{"reply": "x"}]}, "prediction"),
    ({"references": "Lima", "run": {"generated_answer": "x", "tokens": 3}}, "prediction"),
]


@pytest.mark.parametrize(("row", "role"), NAMED)
def test_a_column_that_a_hint_names_can_be_read(row, role):
    row = {"id": 1, "question": "?", **row}
    with pytest.raises(RowError, match=f"no {role}") as caught:
        read(row)
    option = re.search(rf"--column {role}=(\S+?),?(?: |$)", in_command(caught.value))[1]
    item, _ = read(row, **{role: option})
    assert (item.predictions, item.references[0]) == (["x"], "Lima")


def test_rows_that_a_hint_names_can_be_read(tmp_path):
    """A nested list that only begins like rows, such as options with an `output`, is no place of rows."""
    run_of = {"cases": [{"asked": {"output": "a"}, "question": "?", "prediction": "x", "references": "y"}]}
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"options": [{"output": "a", "tags": []}], "log": run_of}))
    sources = files([path])
    with pytest.raises(FileError, match=r"rows stand at log.cases: add rows_at='log.cases' of") as caught:
        check_columns(sources, {})
    assert "add --rows-at log.cases" in in_command(caught.value)
    (source,) = genqa_metrics.read_rows(path, rows_at="log.cases")
    assert RowReader(source, {}).read(next(source.rows()))[0].predictions == ["x"]


def test_every_option_of_reading_exists_in_python(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("question;prediction;references\nOù?;Élan;Élan\n".encode("latin-1"))
    with pytest.raises(ValueError, match="encoding='cp1252' of read_rows"):
        genqa_metrics.score(str(path), "aev")
    report = genqa_metrics.score(genqa_metrics.read_rows(path, encoding="latin-1"), "aev")
    assert report.to_pandas()["prediction"].tolist() == ["Élan"]


def test_a_system_without_predictions_has_rows_and_no_score():
    rows = [
        {"question": "Who sang?", "references": ["Ann"], "prediction": answers, "system": system}
        for system, answers in (("A", []), ("B", ["Ann"]))
    ]
    report = genqa_metrics.score(rows, "aev")
    assert re.search(r"(?m)^A +-( +-)*$", str(report))
    assert re.search(r"(?m)^B +1\.000", str(report))
