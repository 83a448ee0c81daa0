"""`explain --metric grounding`: the sentences that no passage supports, of files and of one answer."""

import csv
import json
from dataclasses import replace

import genqa_metrics
import pytest
from genqa_metrics.verbs.explain import unsupported
from genqa_metrics.verbs.explain.unsupported import by_system, headline, not_judged

from tests.factories.cases import tables, with_cases
from tests.factories.explained import judged
from tests.factories.files import run, save

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
    assert shown[7] == "b of bad: 0 of 1 sentences judged supported"
    assert shown[8].startswith("Contradicted The bridge was built in 1887. (probability 0.")
    assert shown[9] == 'passage 1 says "1889": The old bridge was built in 1889 by a firm from Lyon.'
    assert shown[11] == "c of bad: 1 of 2 sentences judged supported"
    assert shown[-2].startswith("Unsupported Bob sells tea. (probability ")
    assert shown[-1] == "passages none shares a content word with the sentence"
    assert "Hello" not in out
    assert "grounding|" not in out  # the signature is on the page
    text = page.read_text(encoding="utf-8")
    assert '<b class="contradicted">contradicted</b>' in text
    assert "Bob sells tea." in text

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
    assert out.splitlines()[0] == "1 of 2 sentences judged supported, from a probability of 0.50"
    labels = [line[: unsupported.LABELS].strip() for line in out.splitlines()[5:]]
    assert labels == ["Supported", "passage 1", "Unsupported", "passages"]
    assert f"{'  passage 1':<{unsupported.LABELS}}It has a length of 120 metres." in out
    words = "--prediction", "Bob keeps roses [1].", "--context", "It is old.", "--context", PASSAGES[1]
    labels = [line[: unsupported.LABELS].strip() for line in run("explain", "", *words)[0].splitlines()[5:]]
    assert labels == ["Unsupported", "cited passages", "passage 2, uncited"]
    out, _ = run("explain", "Who?", "--prediction", "I don't know.", "--context", PASSAGES[0])
    assert out.startswith("The answer states nothing that a passage could support.")


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
    assert "skipped 1 bad rows; 2 were read" in err


def test_the_headline_of_two_answers():
    assert by_system(judged()) == ""
    said = "In 1 of {} answers a sentence is judged unsupported (probability below 0.50)"
    assert headline(judged()) == said.format(2)
    more = replace(judged(), silent={"empty": 1, "declining": 2})
    assert headline(more) == said.format(5)
    assert not_judged(more) == "Not judged, as they state nothing: 2 declining, 1 empty"
