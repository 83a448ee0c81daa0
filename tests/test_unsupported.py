"""`explain --metric grounding`: the sentences that no passage supports, of files and of one answer."""

import csv
import json
import re
from collections import Counter

import genqa_metrics
import pytest
from genqa_metrics.verbs.explain import unsupported

from tests.factories.cases import tables, with_cases
from tests.factories.files import questions_of, run, save

PASSAGES = ["The old bridge was built in 1889 by a firm from Lyon. It has a length of 120 metres.", "Roses need sun."]
pytestmark = pytest.mark.usefixtures("word_judge")
ROWS = [row | {"contexts": PASSAGES} for row in tables(__name__)["rows"]]


@pytest.fixture
def rows(tmp_path):
    return save(tmp_path / "rows.jsonl", ROWS)


def test_the_worst_answers_of_a_file_and_all_sentences_in_another(rows, tmp_path):
    """What is printed and written is what `compute(explain=True)` says of the same rows."""
    page, table, lines = tmp_path / "page.html", tmp_path / "found.csv", tmp_path / "found.jsonl"
    out, err = run("explain", rows, "-m", "grounding", "--html", page, "-o", table)
    assert err == ""
    shown = [" ".join(line.split()) for line in out.splitlines()]
    assert shown[0] == "In 2 of 4 answers a sentence is judged unsupported (probability below 0.50)"
    assert shown[1].startswith("This judge of grounding errs: in ")
    assert shown[3] == "Not judged, as they state nothing: 1 declining"
    assert shown[4] == "By system, of the answers that state something: bad 2 of 2, good 0 of 1"
    assert shown[5] == "Read each sentence beside the passage under it: does the passage say so?"
    assert shown[7:9] == ["b of bad", "Reason 0 of 1 sentences judged supported"]
    assert shown[9].startswith("Contradicted The bridge was built in 1887. (probability 0.")
    assert shown[10] == 'passage 1 says "1889": The old bridge was built in 1889 by a firm from Lyon.'
    assert shown[12:14] == ["c of bad", "Reason 1 of 2 sentences judged supported"]
    assert shown[-2].startswith("Unsupported Bob sells tea. (probability ")
    assert shown[-1] == "passages none shares a content word with the sentence"
    assert "Hello" not in out
    assert "grounding|" not in out  # the signature is on the page
    shown_rows = [asked["rows"][0] for asked in questions_of(page.read_text(encoding="utf-8"))]
    assert [row["id"] for row in shown_rows] == ["b", "c"]
    assert [[label.strip() for label, _ in row["evidence"]] for row in shown_rows] == [
        ["Contradicted", "passage 1"], ["Unsupported", "passages"]
    ]  # fmt: skip
    answer, (supported, unsupported_one) = ROWS[2]["prediction"], shown_rows[1]["marks"]
    assert answer[slice(*supported[:2])] == "The bridge has a length of 120 metres."
    assert (answer[slice(*unsupported_one[:2])], *unsupported_one[2:]) == ("Bob sells tea.", "against", "unsupported")

    found = list(csv.DictReader(table.open(encoding="utf-8", newline="")))
    assert list(found[0]) == list(unsupported.COLUMNS)
    assert [(one["id"], one["grounding"], one["sentence"], one["verdict"], one["instead"]) for one in found] == [
        ("b", "0.0", "The bridge was built in 1887.", "contradicted", "1889"),
        ("c", "0.5", "Bob sells tea.", "unsupported", ""),
    ]
    columns = {"predictions": [row["prediction"] for row in ROWS], "questions": [row["question"] for row in ROWS]}
    module = genqa_metrics.load("grounding", progress=False)
    expected = module.compute(**columns, contexts=[PASSAGES] * 4, explain=True)["explanation"]
    bad = [one for row in expected for one in row["sentences"] if one["verdict"] in ("unsupported", "contradicted")]
    assert [float(one["probability"]) for one in found] == [pytest.approx(one["probability"], abs=1e-5) for one in bad]
    assert [one["passage"] for one in found] == ["1", ""]
    assert [one["passage"] for one in bad] == [0, None]

    out, _ = run("explain", rows, "-m", "grounding", "--worst", "1", "-o", lines)
    assert "(probability below 0.50); the worst 1 below" in " ".join(out.split())
    assert out.count("sentences judged supported") == 1
    assert [json.loads(line)["id"] for line in lines.read_text(encoding="utf-8").splitlines()] == ["b", "c"]


def test_one_answer_shows_every_sentence():
    out, _ = run("explain", "", "--prediction", ROWS[2]["prediction"], "--context", PASSAGES[0])
    lines = [re.split(" {2,}", line.strip()) for line in out.splitlines()]
    shown = [line for line in lines if len(line) == 2]
    assert [label for label, _ in shown] == ["Reason", "Supported", "passage 1", "Unsupported", "passages"]
    assert shown[0][1] == "1 of 2 sentences judged supported"
    assert shown[2][1] == "It has a length of 120 metres."
    words = "--prediction", "Bob keeps roses [1].", "--context", "It is old.", "--context", PASSAGES[1]
    uncited = r"Unsupported .*\n +cited passages +none shares .*\n +passage 2, uncited "
    assert re.search(uncited, run("explain", "", *words)[0])
    out, _ = run("explain", "Who?", "--prediction", "I don't know.", "--context", PASSAGES[0])
    assert "The answer states nothing that a passage could support." in out


def test_one_answer_in_python():
    found = genqa_metrics.explain("", "Bob sells tea.", metric="grounding", contexts=PASSAGES)
    assert found["grounding"] == 0
    assert found["explanation"]["sentences"][0]["verdict"] == "unsupported"
    for texts in ({}, {"references": "Ann", "contexts": PASSAGES}):
        with pytest.raises(
            ValueError, match=r"grounding compares answers with contexts alone; give contexts=\[\.\.\.\]"
        ):
            genqa_metrics.explain("", "Bob sells tea.", metric="grounding", **texts)
    with pytest.raises(ValueError, match="references: ava compares answers with references alone"):
        genqa_metrics.explain("Who?", "Bob")


@with_cases
def test_bad_usage(words, message, rows, monkeypatch):
    monkeypatch.chdir(rows.parent)
    _, err = run("explain", *words, status=2)
    assert message in err
    assert "Try 'genqa-metrics explain --help'." in err
    assert [path.name for path in rows.parent.iterdir()] == ["rows.jsonl"]


def test_a_row_without_a_column_of_passages_is_named_or_skipped(tmp_path):
    silent = ROWS[1] | {"id": "silent", "prediction": "I do not know."}
    bad = {name: value for name, value in ROWS[1].items() if name != "contexts"}
    path = save(tmp_path / "rows.jsonl", [ROWS[1], bad, silent])
    _, err = run("explain", path, "-m", "grounding", "-o", tmp_path / "a.csv", status=1)
    assert "line 2: contexts: expected passages, which grounding reads, got no such column" in err
    assert "--on-error skip leaves bad rows out." in err
    assert not (tmp_path / "a.csv").exists()
    out, err = run("explain", path, "-m", "grounding", "--on-error", "skip")
    assert "In 1 of 2 answers" in out
    assert "Not judged, as they state nothing: 1 declining" in out
    assert "skipped 1 bad rows" in err


def test_the_counts_of_systems():
    counts = unsupported.Counts(Counter(a=2), Counter(a=1))
    assert counts.lines() == []
    assert counts.headline(0.5, 1) == "In 1 of 2 answers a sentence is judged unsupported (probability below 0.50)"
    counts = unsupported.Counts(Counter(a=2, b=1), Counter(a=1, b=1), Counter(empty=1, declining=2))
    assert counts.headline(0.5, 1).startswith("In 2 of 6 answers ")
    assert counts.headline(0.5, 1).endswith("; the worst 1 below")
    assert counts.lines() == [
        "Not judged, as they state nothing: 2 declining, 1 empty",
        "By system, of the answers that state something: b 1 of 1, a 1 of 2",
    ]
