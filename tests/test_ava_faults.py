"""What is wrong with an answer that was judged wrong: named where its words show it, nothing where they do not."""

import genqa_metrics
from genqa_metrics.ava.differences import Difference, brief, faults_of
from genqa_metrics.reports.report import FAULTS
from genqa_metrics.verbs.score.report import READ

from tests.factories.cases import with_cases


@with_cases
def test_a_fault_is_named_where_the_words_show_it(reference, answer, expected):
    assert faults_of(["What is it?"], [[reference]], [answer]) == [expected]


def test_the_nearest_reference_counts():
    references = ["a fortnight", "14 days of the calendar"]
    assert faults_of(["How long?"], [references], ["20 days of the calendar"]) == ["wrong value"]


def test_score_names_what_explain_names():
    """The fault of a listed answer is what `explain` says of it, the kind of it by words what is counted."""
    texts = {
        "the Orla river": "the Senna",
        "bicycles": "bicycles and dogs",
        "form C3": "form C2",
        "At 11 am": "at 9 am",
    }
    rows = [{"question": "Which is it?", "references": [of], "prediction": text} for text, of in texts.items()]
    report = genqa_metrics.score(rows, "ava")
    listed = {answer.prediction: answer.fault for answer in report.results.to_read.first if answer.verdict == 0}
    assert listed
    questions, references = ["Which is it?"] * len(listed), [[texts[text]] for text in listed]
    columns = {"questions": questions, "references": references, "predictions": [*listed]}
    explained = genqa_metrics.load("ava").compute(**columns, explain=True)["explanation"]
    for named, explanation in zip(listed.values(), explained, strict=True):
        assert named == brief([Difference(*difference) for difference in explanation["differences"]])
    (counts,) = report.results.judge.faults.values()
    assert counts.get("unknown", 0) < len(listed)


def test_score_and_compare_count_the_faults_of_every_system():
    """An answer that a person calls right has no fault, whatever the judge says."""
    asked = [("How many legs has an insect?", "six legs"), ("When did it end?", "in 1945")]
    answers = {"a": ["An insect has eight legs.", "in 1944"], "b": ["I don't know.", "in 1946"], "c": ["6", "1945"]}
    rows = [
        {"system": system, "question": question, "references": accepted, "prediction": text}
        for system, texts in answers.items()
        for (question, accepted), text in zip(asked, texts, strict=True)
    ]
    rows[3]["label"] = 1
    expected = {"a": {"wrong value": 2}, "b": {"declined": 1}}
    report = genqa_metrics.score(rows, "ava")
    assert report.to_dict()["faults"] == expected
    written = report.to_pandas()
    assert written["ava_fault"].fillna("").tolist() == ["wrong value", "wrong value", "declined", "", "", ""]
    assert (written["ava_unsure"] == written["ava_score"].between(0.1, 0.9, "neither")).all()
    assert f">{READ}</h2>" in report.to_html()
    said = "3 judged wrong (answers labelled right are left out): wrong value (a 2), declined (b 1)"
    assert said in " ".join(str(report).split())
    (table,) = [table for table in report.tables() if table.title == FAULTS]
    assert table.rows == [["a", "0", "2", "0", "0", "0", "0"], ["b", "1", "0", "0", "0", "0", "0"]]
    compared = genqa_metrics.compare(rows, "ava", resamples=100)
    assert compared.to_dict()["metrics"]["ava"]["faults"] == expected
    assert said in " ".join(str(compared).split())
    assert said in compared.to_html()
