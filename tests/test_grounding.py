"""Grounding: sentences by hand, windows, citations, scores from statistics, and the bundled judge on clear cases."""

import json
from itertools import pairwise, permutations

import genqa_metrics
import numpy as np
import pytest
from genqa_metrics.ava import loading as ava_loading
from genqa_metrics.grounding import judging, loading, sentences, windows
from genqa_metrics.grounding.scorer import MEASURED, SETS, SMALL, GroundingScorer
from genqa_metrics.scale.tally import CELLS

from tests.factories.cases import tables, with_cases
from training.studies import pages

PASSAGES = [
    "The old bridge has a length of 120 metres. It was built in 1889 by a firm from Lyon.",
    "Roses need much sun.",
]


@pytest.fixture(scope="module")
def grounding():
    return genqa_metrics.load("grounding", device="cpu", progress=False)


@with_cases
def test_what_an_answer_states(answer, claims):
    assert [sentence.claim for sentence in sentences.sentences_of(answer) if sentence.states] == claims


def test_what_is_read_before_a_sentence():
    """The nearest sentence without a pronoun; "this" means the sentence before; a list item has the line above it."""
    found = sentences.sentences_of("Ann Lee won. She was 30. She left. This surprised Bob.")
    assert [sentence.before for sentence in found] == ["", "Ann Lee won.", "Ann Lee won.", "She left."]
    assert judging.Verdict(found[1]).judged("She is 31.") == ("She is 31.", "Ann Lee won. She is 31.")
    listed = sentences.sentences_of("The causes were:\n- frost\n- rain\nBob agrees.")
    assert [sentence.before for sentence in listed] == ["", "The causes were:", "The causes were:", ""]
    numbered = sentences.sentences_of("The causes were:\n1. Frost.\n2. Rain.")
    assert [sentence.before for sentence in numbered] == ["", "The causes were:", "The causes were:"]


def test_sentences_have_their_place_in_the_answer():
    answer = "  Ünï won [2].\n\n* 東京 is big. It grows【3】."
    found = sentences.sentences_of(answer)
    assert [answer[s.start : s.end] for s in found] == ["Ünï won [2].", "* 東京 is big.", "It grows【3】."]
    assert [s.citations for s in found] == [(2,), (), (3,)]
    (found,) = sentences.sentences_of("It grows (Sources 1, 4; see [2]).")
    assert found.citations == (2,)
    assert sentences.citations("It grows (Source 1). It is old (Passages 3-4).") == (1, 3, 4)


@pytest.mark.parametrize("sentence", ["The river flows. ", "“So it is.” "])
def test_a_long_line_is_split_piece_by_piece(monkeypatch, sentence):
    """The library takes time that grows as the square of a line's quotes; the sentences are those of short lines."""
    import sentencex

    split, lengths = sentencex.get_sentence_boundaries, []

    def counted(language, text):
        lengths.append(len(text))
        return split(language, text)

    monkeypatch.setattr(sentencex, "get_sentence_boundaries", counted)
    few = len(sentences.sentence_spans(sentence * 20))
    assert len(sentences.sentence_spans(sentence * 2000)) == 100 * few
    assert max(lengths) <= sentences.LONGEST
    assert sum(lengths) < 3 * 2000 * len(sentence)
    spans = sentences.sentence_spans("`" * 10_000)
    assert (spans[0][0], spans[-1][1]) == (0, 10_000)


def test_code_is_no_claim_however_many_blocks_there_are():
    answer = "```\nmake all\n```\nIt is red.\n" * 1000
    assert [one.claim for one in sentences.sentences_of(answer) if one.states] == ["It is red."] * 1000


def test_windows_overlap_and_cover_a_passage():
    passage = " ".join(f"Sentence number {i} has six words." for i in range(40))
    found = windows.windows_of(passage, most=30)
    assert all(passage[w.start : w.end] == w.text and len(w.text.split()) <= 30 for w in found)
    assert found[0].start == 0
    assert found[-1].end == len(passage)
    assert all(later.start < earlier.end for earlier, later in pairwise(found))
    assert len(windows.windows_of("word " * 1000, most=100)) == 10  # without sentences it is cut
    assert len(windows.windows_of("x" * 100_000)) <= 20


def test_rare_words_choose_the_window():
    passage = "The town has a mill. " * 50 + "The town has a lighthouse. " + "The town has a port. " * 50
    found = windows.windows_of(passage, most=20)
    (best,) = windows.nearest_windows(windows.content_keys("A town has one lighthouse"), found, 1)
    assert "lighthouse" in best.text
    assert passage[slice(*windows.evidence_span({"lighthous"}, best, passage))] == "The town has a lighthouse."


def test_a_heading_is_no_evidence():
    passage = "## Leave\n\nBenefits\nStaff have 28 days of leave. The office opens at nine."
    (window,) = windows.windows_of(passage)
    assert [passage[slice(*span)] for span in windows.evidence_spans(window)] == [
        "Staff have 28 days of leave.", "The office opens at nine."
    ]  # fmt: skip
    assert window.text == passage
    (alone,) = windows.windows_of("Benefits")
    assert windows.evidence_spans(alone) == [(0, 8)]


def test_scores_of_a_corpus_from_its_statistics():
    """Rows: 1 of 2 sentences; all of 1; an empty answer; a refusal, which counts only in the answer rate.

    grounding = (0.5 + 1 + 0) / 3, grounding_answers = 1 / 3, grounding_score = (0.2 + 0.9 + 0) / 3, rate = 2 / 4.
    """
    statistics = np.array([[0.5, 0, 0.2, 1, 1], [1, 1, 0.9, 1, 1], [0, 0, 0, 1, 0], [0, 0, 0, 0, 0]])
    scorer = GroundingScorer.__new__(GroundingScorer)
    found = scorer.corpus_scores(statistics.sum(axis=0), 4)
    assert found == pytest.approx({
        "grounding": 0.5, "grounding_answers": 1 / 3, "grounding_score": 1.1 / 3, "grounding_answer_rate": 0.5
    })  # fmt: skip
    rows = scorer.row_scores(statistics)
    assert rows["grounding"].tolist() == [0.5, 1, 0, 1]
    assert rows["grounding_answer_rate"].tolist() == [1, 1, 0, 0]
    assert scorer.corpus_scores(np.zeros(5), 0) == dict.fromkeys(found, 0.0)


def test_clear_cases(grounding):
    answers = tables(__name__)["clear cases"]
    rows = {"predictions": list(answers), "contexts": [PASSAGES] * len(answers)}
    found = grounding.compute(**rows, per_example=True, explain=True)
    assert found["grounding_per_example"] == list(answers.values())
    assert found["grounding"] == pytest.approx(np.mean(list(answers.values())))
    (first, *_) = found["explanation"]
    assert [PASSAGES[s["passage"]][slice(*s["span"])] for s in first["sentences"]] == [PASSAGES[0][:42]]


def test_the_order_of_passages_and_irrelevant_ones_change_nothing(grounding):
    answer = "The bridge is 130 metres long. It was built by a firm. Roses like sun. It was sold in May 1950."
    passages = [*PASSAGES, "The tower of the town has 130 steps.", "The firm from Lyon built many bridges."]
    rows = [*permutations(passages), [*passages, "A quiet lake lies in the north."], [*passages, passages[0]]]
    found = grounding.compute(predictions=[answer] * len(rows), contexts=list(map(list, rows)), explain=True)
    probabilities = np.array([[one["probability"] for one in row["sentences"]] for row in found["explanation"]])
    assert np.ptp(probabilities, axis=0) == pytest.approx(0, abs=1e-4)


def test_the_error_rate_is_that_of_the_results(repository):
    """It is said of the bundled judges with their own thresholds, and of no other."""
    sizes = json.loads((repository / "training/ava/results/judges.json").read_text())
    errors = {digest[:12]: pages.grounding_errors(sizes)[size] for size, digest in sizes["grounding"].items()}
    assert next(iter(MEASURED)) == SMALL
    for digest, measured in MEASURED.items():
        assert len(errors[digest]) == SETS
        shares = np.array([*errors[digest].values()])[:, 1:].T
        expected = [(of.mean(), of.min(), of.max()) for of in shares]
        assert np.array(measured) == pytest.approx(np.array(expected), abs=0.005)
    assert "it passed" in GroundingScorer().error_rate
    assert "was not measured" in GroundingScorer(threshold=0.3).error_rate


@pytest.mark.parametrize("claim", ["Ann has a garden.", "Use the front door."])
def test_a_word_that_starts_a_sentence_is_no_evidence(claim):
    changes = judging.changed_claims(claim, "The house is old. On all days it is open. Any key fits.")
    assert not {"The", "On", "Any"} & {change for _, change in changes}


def test_a_contradiction_says_what_the_passage_says(grounding):
    found = grounding.compute(
        predictions=["The bridge was built in 1887.", "Roses like the shade of a wall.", "Bob sells tea."],
        contexts=[PASSAGES] * 3,
        explain=True,
    )
    verdicts = [row["sentences"][0]["verdict"] for row in found["explanation"]]
    assert verdicts == ["contradicted", "unsupported", "unsupported"]
    assert found["explanation"][0]["reason"].endswith("(passage 1 says 1889).")
    wrong, unknown, other = (row["sentences"][0] for row in found["explanation"])
    assert PASSAGES[0][slice(*wrong["span"])] == "It was built in 1889 by a firm from Lyon."
    assert (unknown["passage"], unknown["span"]) == (1, None)  # the closest passage, which is no evidence
    assert PASSAGES[1][slice(*unknown["nearest"])] == "Roses need much sun."
    assert (wrong["nearest"], other["nearest"]) == (None, None)  # evidence; no sentence that shares a word


def judged_by(passages, answer, probability=0.4):
    """Return verdicts that name the first passage as the best one, whatever it says."""
    split = [window for number, text in enumerate(passages) for window in windows.windows_of(text, number)]
    return [
        judging.Verdict(sentence, probability, split[0], split, ("", split[0].read))
        for sentence in sentences.sentences_of(answer)
    ]


def test_the_nearest_sentence_is_that_of_any_passage_with_most_shared_words():
    passages = ["We keep the archive in Oslo, Norway.", "It is old. All rooms are locked with doors of steel."]
    answer = "It is locked with steel. It has a cat."
    found = judging.explained(answer, judged_by(passages, answer), passages, 0.5)
    locked, cat = found["sentences"]
    assert locked["passage"] == 1
    assert passages[1][slice(*locked["nearest"])] == "All rooms are locked with doors of steel."
    assert (cat["passage"], cat["nearest"]) == (0, None)
    verdicts = judged_by(passages, answer)
    for verdict in verdicts:  # it cites the first passage, which shares no word with it
        verdict.windows, verdict.others = verdict.windows[:1], verdict.windows[1:]
    assert judging.explained(answer, verdicts, passages, 0.5)["sentences"][0] == locked


def test_only_the_nearest_sentence_can_contradict(monkeypatch):
    """This judge takes any change for supported; a sentence that shares no word with the answer changes nothing."""
    monkeypatch.setattr(judging.Grounder, "reads_prompts", False)
    monkeypatch.setattr(judging.Grounder, "_logits", lambda self, asked: np.full(len(asked), 0.9))
    monkeypatch.setattr(judging.Grounder, "_probabilities", lambda self, logits: logits)
    passages = ["We keep the archive in Oslo, Norway.", "All rooms have doors of Steel Works. They close at 9."]
    answer = "Copies stay in Rome. The archive is in Bergen."
    verdicts = judged_by(passages, answer)
    judging.Grounder.__new__(judging.Grounder).find_contradictions([verdicts], 0.5)
    copies, archive = verdicts
    assert copies.change == ""
    assert archive.change == "Oslo"
    assert judging.explained(answer, verdicts, passages, 0.5)["sentences"][0]["verdict"] == "unsupported"


def test_a_citation_must_support_its_sentence(grounding):
    answers = [f"The bridge was built in 1889{mark}." for mark in ("", " [1]", " [2]", " [1, 2]", " [9]")]
    found = grounding.compute(predictions=answers, contexts=[PASSAGES] * 5, per_example=True)
    assert found["grounding_per_example"] == [1, 1, 0, 1, 1]
    ignored = grounding.compute(predictions=answers, contexts=[PASSAGES] * 5, citations=False)
    assert ignored["grounding"] == 1
    spaced = grounding.compute(predictions=answers, contexts=[["", *PASSAGES]] * 5, per_example=True)
    assert spaced["grounding_per_example"] == [1, 0, 1, 1, 1]  # an empty passage counts
    numbered = [[f"[7] {PASSAGES[0]}", "", f"[1] {PASSAGES[1]}"]] * 2
    cited = [answers[1], "The bridge was built in 1889 [7]."]
    found = grounding.compute(predictions=cited, contexts=numbered, per_example=True)
    assert found["grounding_per_example"] == [0, 1]
    explanations = grounding.compute(predictions=answers, contexts=[PASSAGES] * 5, explain=True)["explanation"]
    verdicts = [sentence["verdict"] for explanation in explanations for sentence in explanation["sentences"]]
    assert verdicts == ["supported", "supported", "wrong citation", "supported", "supported"]
    assert explanations[2]["sentences"][0]["passage"] == 0
    reason = "wrong citation: 'The bridge was built in 1889 [2].' (passage 1 says it)."
    assert explanations[2]["reason"].endswith(reason)


def test_another_word_in_the_same_place_contradicts(grounding):
    answers = ["The wine is made of red grapes.", "The wine is made by monks."]
    passage = "Wine is made of white grapes."
    found = grounding.compute(predictions=answers, contexts=[[passage]] * 2, explain=True)["explanation"]
    sentences = [explanation["sentences"][0] for explanation in found]
    assert [(s["verdict"], s["instead"]) for s in sentences] == [("contradicted", "white"), ("unsupported", None)]


def test_a_sentence_that_stands_in_a_passage_is_supported_whatever_the_judge_says(grounding, monkeypatch):
    """From four words on: one of three is judged, by a judge that calls everything unsupported."""
    monkeypatch.setattr(judging.Grounder, "_logits", lambda self, asked: np.full(len(asked), -9.0))
    answers = ["Roses need much sun.", "Roses need much.", "It was built in 1889", "It was sold in 1889"]
    found = grounding.compute(predictions=answers, contexts=[PASSAGES] * 4, per_example=True)
    assert found["grounding_per_example"] == [1, 0, 1, 0]


def test_shared_passages_are_split_once(grounding, monkeypatch):
    seen = []
    split = judging.windows_of
    monkeypatch.setattr(judging, "windows_of", lambda text: seen.append(text) or split(text))
    judge = judging.Grounder(grounding._scorer.loaded)
    judge.verdicts([""] * 3, ["It is long."] * 3, [PASSAGES] * 3)
    assert seen == PASSAGES


def test_answers_that_state_nothing_are_left_out_of_the_means(grounding):
    answers = ["The bridge is 120 metres long.", "I don't know."]
    found = grounding.compute(predictions=answers, contexts=[PASSAGES] * 2, per_example=True)
    with pytest.warns(UserWarning, match="grounding: no answer states anything"):
        assert grounding.compute(predictions=["I don't know."], contexts=[PASSAGES])["grounding"] == 0
    assert (found["grounding"], found["grounding_answer_rate"]) == (1.0, 0.5)
    assert found["grounding_per_example"] == [1.0, 1.0]


@with_cases
def test_bad_input(grounding, columns, message):
    with pytest.raises(ValueError, match=message):
        grounding.compute(predictions=["It is long."], **columns)


def test_large_and_foreign_passages(grounding):
    """A megabyte is read in windows; rows in another language are reported."""
    passage = "The river flows to the sea. " * 37_000 + "The bridge is 120 metres long."
    assert grounding.compute(predictions=["The bridge is 120 m long."], contexts=[[passage]])["grounding"] == 1
    foreign = ["Die alte Brücke über den Fluss wurde im neunzehnten Jahrhundert gebaut."]
    with pytest.warns(UserWarning, match="1 of 1 rows seems not to be English"):
        grounding.compute(predictions=foreign, contexts=[foreign])


def test_score_shows_correctness_and_grounding_and_their_four_cells():
    """Right and grounded, right only, grounded only, neither; a refusal is in no cell."""
    question = {"question": "When was the bridge built?", "references": ["1889"]}
    supported, other = ["The bridge was built in {}."], ["Roses need much sun."]
    rows = [
        question | {"prediction": f"It was built in {year}.", "contexts": [text.format(year) for text in passages]}
        for year in (1889, 1875)
        for passages in (supported, other)
    ] + [question | {"prediction": "I don't know.", "contexts": other}]
    report = genqa_metrics.score(rows, ["ava", "grounding"])
    assert list(report.signatures) == ["ava", "grounding"]
    cells = {name: report.systems["rows"][name] for name in CELLS}
    assert cells == dict.fromkeys(CELLS, 0.25)
    assert report.tables()[-1].rows == [["rows", *["0.2500"] * 4]]
    assert report.systems["rows"]["grounding_answer_rate"] == 0.8
    assert report.to_pandas()["contexts"].tolist() == [row["contexts"] for row in rows]


def test_rows_without_references_are_scored_by_their_passages():
    rows = [{"prediction": "The bridge is 120 metres long.", "retrieved_contexts": PASSAGES}]
    report = genqa_metrics.score(rows, "grounding")
    with pytest.raises(ValueError, match=r"no references, which only grounding reads; .*: add grounding to metrics"):
        genqa_metrics.score(rows)
    assert report.systems["rows"]["grounding"] == 1
    with pytest.raises(ValueError, match="rows, row 1: no references"):
        genqa_metrics.score(rows, "aev")
    with pytest.raises(ValueError, match="row 1: contexts: expected passages, which grounding reads, got no such"):
        genqa_metrics.score([{"prediction": "a", "references": "b"}], "grounding")


def test_ten_bits_a_weight_change_little():
    """The bundled encoder in ONNX Runtime, and the whole one in torch."""
    rows = [{"prediction": "The bridge is 120 metres long. It was painted by Ann Lee.", "contexts": PASSAGES}]
    reports = [genqa_metrics.score(rows, settings={"grounding": {"backend": name}}) for name in ("onnx", "torch")]
    assert ["|engine:onnx|" in report.signatures["grounding"] for report in reports] == [True, False]
    assert [report.systems["rows"]["grounding"] for report in reports] == [0.5, 0.5]
    fast, whole = (report.systems["rows"]["grounding_score"] for report in reports)
    assert fast == pytest.approx(whole, abs=0.01)


def test_the_base_judge_is_that_of_answers(repository):
    """It lies in AVA's folder once; a published module, which has no such folder, takes it from the Hub."""
    assert loading.checkpoint_folder("base").samefile(repository / "metrics/ava/checkpoint_base")
    assert loading.HUB_CHECKPOINTS["base"] == ava_loading.HUB_CHECKPOINTS["base"]
    assert loading.checkpoint_folder().samefile(repository / "metrics/grounding/checkpoint")
