"""Grounding: sentences, parts of passages, citations, scores and contradictions, with a judge that compares words."""

import json
from itertools import permutations

import genqa_metrics
import numpy as np
import pytest
from genqa_metrics.grounding import judging, loading, passages, scorer, sentences
from genqa_metrics.grounding.passages import Passage
from genqa_metrics.grounding.scorer import MEASURED, SETS, GroundingScorer
from genqa_metrics.scale.scoring import CELLS

from tests.factories.cases import tables, with_cases
from tests.factories.grounding import WORD_JUDGE
from training.grounding import evaluate_grounding

PASSAGES = [
    "The old bridge has a length of 120 metres. It was built in 1889 by a firm from Lyon.",
    "Roses need much sun.",
]


pytestmark = pytest.mark.usefixtures("word_judge_of_module")


@pytest.fixture(scope="module")
def grounding(word_judge_of_module):
    return genqa_metrics.load("grounding", device="cpu", progress=False)


@pytest.fixture
def real_judge(monkeypatch):
    """Judges are found and loaded as for users."""
    monkeypatch.setattr(scorer, "load_judge", loading.load_judge)


@pytest.fixture
def prompts(monkeypatch):
    """Every prompt that is judged, as (shared part, claim)."""
    read, kept = judging.JudgeReader.prompt_logits, []
    monkeypatch.setattr(judging.JudgeReader, "prompt_logits", lambda _, asked: kept.extend(asked) or read(_, asked))
    return kept


@with_cases
def test_what_an_answer_states(answer, claims):
    assert [sentence.claim for sentence in sentences.sentences_of(answer) if sentence.states] == claims


def test_an_item_of_a_list_is_read_behind_the_line_above():
    listed = sentences.sentences_of("The causes were:\n- frost\n- rain\nBob agrees.")
    assert [sentence.list_heading for sentence in listed] == ["", "The causes were:", "The causes were:", ""]
    numbered = sentences.sentences_of("The causes were:\n1. Frost.\n2. Rain.")
    assert [judging.Verdict(sentence).claim for sentence in numbered[1:]] == [
        "The causes were: Frost.", "The causes were: Rain."
    ]  # fmt: skip


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


def test_parts_cover_a_passage():
    text = " ".join(f"Sentence number {i} has six words." for i in range(40))
    parts = passages.parts_of(text, most=30)
    assert " ".join(text[part.start : part.end] for part in parts) == text
    assert {part.words for part in parts} == {30}
    assert len(passages.parts_of("word " * 1000, most=100)) == 10  # without sentences it is cut
    assert len(passages.parts_of("x" * 100_000)) > 50  # one "word" of many characters


def test_of_long_passages_the_parts_nearest_to_each_claim_are_read():
    text = "The town has a mill. " * 50 + "The town has a lighthouse. " + "The town has a port. " * 50
    claims = [passages.content_keys(claim) for claim in ("A town has one lighthouse", "A harbour or port")]
    (read,) = passages.texts_to_read([Passage(text), Passage("Roses need sun. " * 100)], claims, 260)
    assert "lighthouse" in read
    assert "port" in read
    assert len(read.split()) <= 260
    whole = passages.texts_to_read([Passage("b c"), Passage("a"), Passage("a"), Passage(" ")], claims, 260)
    assert whole == ["a", "b c"]


def test_a_long_context_is_cut_for_all_sentences_of_an_answer_together(grounding, prompts):
    filler = " ".join(f"Line {number} says nothing of rivers." for number in range(600))
    contexts = [[f"{filler} The mill stands at the Loire. {filler}", "The port lies at the Rhone."]]
    answer = "The mill stands at the Rhine. The port lies at the Loire."
    grounding.compute(predictions=[answer], contexts=contexts)
    (shared,) = {shared for shared, _ in prompts}
    assert "The mill stands at the Loire." in shared
    assert "The port lies at the Rhone." in shared
    assert len(shared.split()) < judging.WORDS + 30
    prompts.clear()
    grounding.compute(predictions=[answer], contexts=contexts, words=200)
    assert len(prompts[0][0].split()) < 230
    prompts.clear()
    cited = "The mill stands at the Rhine [1]. The port lies at the Loire [2]."
    grounding.compute(predictions=[cited], contexts=contexts)
    assert ["Rhone" in shared for shared, _ in prompts] == [False, True]


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


def test_the_order_of_passages_and_repeated_ones_change_nothing(grounding, prompts):
    answer = "The bridge has 130 metres. It was built by a firm. Roses like sun. It was sold in May 1950."
    texts = [*PASSAGES, "The tower of the town has 130 steps.", "The firm from Lyon built many bridges."]
    rows = [*permutations(texts), [*texts, texts[0]], [*texts, ""]]
    found = grounding.compute(predictions=[answer] * len(rows), contexts=list(map(list, rows)), explain=True)
    probabilities = np.array([[one["probability"] for one in row["sentences"]] for row in found["explanation"]])
    assert np.ptp(probabilities, axis=0) == pytest.approx(0, abs=1e-4)
    assert len({shared for shared, _ in prompts}) == 1


def test_the_error_rate_is_that_of_the_results(repository):
    """It is said of the large judge with its own scaling and threshold, and of no other."""
    result = json.loads((repository / "training/grounding/results/large.json").read_text())
    assert [*MEASURED] == [*loading.CLAIM_SCALING, "words"] == [result["checkpoint"][:12], "words"]
    assert [*loading.CLAIM_SCALING.values()] == [tuple(result["scaling"])]
    assert len(result["sets"]) == SETS
    expected = evaluate_grounding.errors(result["sets"])
    assert np.array(MEASURED[result["checkpoint"][:12]]) == pytest.approx(np.array(expected), abs=0.005)
    assert loading.checkpoint_folder("large").samefile(repository / "metrics/ava/checkpoint_large")
    assert "it passed 50% (25% to 75%) of" in GroundingScorer().error_rate
    assert "was not measured" in GroundingScorer(threshold=0.3).error_rate


@pytest.mark.parametrize("claim", ["Ann has a garden.", "Use the front door."])
def test_a_word_that_starts_a_sentence_is_no_evidence(claim):
    changes = judging.changed_claims(claim, "The house is old. On all days it is open. Any key fits.")
    assert not {"The", "On", "Any"} & {change for _, change in changes}


def test_a_contradiction_says_what_the_passage_says(grounding):
    texts = ["The old bridge is long. It was built in 1889 by a firm from Lyon.", PASSAGES[1]]
    found = grounding.compute(
        predictions=["The bridge was built in 1887.", "Roses like the shade of a wall.", "Bob sells tea."],
        contexts=[texts] * 3,
        explain=True,
    )
    verdicts = [row["sentences"][0]["verdict"] for row in found["explanation"]]
    assert verdicts == ["contradicted", "unsupported", "unsupported"]
    assert found["explanation"][0]["reason"].endswith("(passage 1 says 1889).")
    wrong, unknown, other = (row["sentences"][0] for row in found["explanation"])
    assert texts[0][slice(*wrong["span"])] == "It was built in 1889 by a firm from Lyon."
    assert (unknown["passage"], unknown["span"]) == (1, None)  # the closest passage, which is no evidence
    assert texts[1][slice(*unknown["nearest"])] == "Roses need much sun."
    assert (wrong["nearest"], other["nearest"]) == (None, None)  # evidence; no sentence that shares a word


def judged_by(texts, answer, probability=0.4):
    """Return verdicts of a judge that gives every sentence the same probability."""
    usable = dict(enumerate(map(Passage, texts)))
    return [judging.Verdict(sentence, probability, usable=usable) for sentence in sentences.sentences_of(answer)]


def test_the_nearest_sentence_is_that_of_any_passage_with_most_shared_words():
    texts = ["We keep the archive in Oslo, Norway.", "It is old. All rooms are locked with doors of steel."]
    answer = "It is locked with steel. It has a cat."
    locked, cat = judging.explained(answer, judged_by(texts, answer), 0.5)["sentences"]
    assert locked["passage"] == 1
    assert texts[1][slice(*locked["nearest"])] == "All rooms are locked with doors of steel."
    assert (cat["passage"], cat["nearest"]) == (None, None)
    verdicts = judged_by(texts, answer)
    for verdict in verdicts:  # it cites the first passage, which shares no word with it
        verdict.usable, verdict.others = {0: verdict.usable[0]}, {1: verdict.usable[1]}
    assert judging.explained(answer, verdicts, 0.5)["sentences"][0] == locked


def test_only_the_nearest_sentence_can_contradict(monkeypatch):
    """This judge takes any change for supported; a sentence that shares no word with the answer changes nothing."""
    monkeypatch.setattr(judging.Grounder, "_probabilities", lambda self, prompts: np.full(len(prompts), 0.9))
    texts = ["We keep the archive in Oslo, Norway.", "All rooms have doors of Steel Works. They close at 9."]
    answer = "Copies stay in Rome. The archive is in Bergen."
    verdicts = judged_by(texts, answer)
    judging.Grounder.__new__(judging.Grounder).find_contradictions([verdicts], 0.5)
    copies, archive = verdicts
    assert copies.change == ""
    assert archive.change == "Oslo"
    assert judging.explained(answer, verdicts, 0.5)["sentences"][0]["verdict"] == "unsupported"


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
    """A whole one from four words on; this judge calls everything unsupported."""
    monkeypatch.setattr(judging.JudgeReader, "prompt_logits", lambda _, prompts: np.full(len(prompts), -9.0))
    answers = ["roses need much sun", "Roses need much.", "It was built in 1889", "It is old."]
    contexts = [[*PASSAGES, "It is false that roses need much.", "It is old."]] * 4
    found = grounding.compute(predictions=answers, contexts=contexts, per_example=True)
    assert found["grounding_per_example"] == [1, 0, 0, 0]


def test_each_prompt_is_read_once_and_passages_stand_first():
    """Answers with the same passages share the first part of the prompt, which the judge reads once."""
    judge, asked = judging.Grounder(WORD_JUDGE), []
    judge.reader.prompt_logits = lambda prompts: asked.extend(prompts) or np.zeros(len(prompts))
    judge.verdicts(["", "Who?", ""], ["It is long. It is red.", "Ann Lee.", "It is wide."], [PASSAGES] * 3)
    shared = [shared for shared, _ in asked]
    assert shared[0] == shared[1] == shared[3]
    assert [claim for _, claim in asked] == ["It is long.", "It is red.", "Ann Lee.", "It is wide."]
    assert "Question: Who?" in shared[2]
    asked.clear()
    judge.verdicts(["When was it built?"], ["It was built by Ann Lee."], [PASSAGES])
    assert asked[0][0] == shared[0]  # the judge takes whole sentences behind a question for wrong


def test_answers_that_state_nothing_are_left_out_of_the_means(grounding):
    answers = ["The bridge has 120 metres.", "I don't know."]
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
    """Of a megabyte the nearest parts are read; rows in another language are reported."""
    passage = "The river flows to the sea. " * 37_000 + "The bridge is 120 metres long."
    assert grounding.compute(predictions=["The bridge is long."], contexts=[[passage]])["grounding"] == 1
    foreign = ["Die alte Brücke über den Fluss wurde im neunzehnten Jahrhundert gebaut."]
    with pytest.warns(UserWarning, match="this row seems not to be English"):
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
    rows = [{"prediction": "The bridge has 120 metres.", "retrieved_contexts": PASSAGES}]
    report = genqa_metrics.score(rows, "grounding")
    with pytest.raises(ValueError, match=r"no references, which only grounding reads; .*: add grounding to metrics"):
        genqa_metrics.score(rows)
    assert report.systems["rows"]["grounding"] == 1
    with pytest.raises(ValueError, match="rows, row 1: no references"):
        genqa_metrics.score(rows, "aev")
    with pytest.raises(ValueError, match="row 1: contexts: expected passages, which grounding reads, got no such"):
        genqa_metrics.score([{"prediction": "a", "references": "b"}], "grounding")


@pytest.mark.usefixtures("real_judge")
@pytest.mark.parametrize("checkpoint", ["small", "base"])
def test_other_judges_of_answers_are_refused(checkpoint, judges):
    """`base` passes and flags too much: training/grounding/results/base.json."""
    with pytest.raises(ValueError, match=rf"expected one of large, a folder or a Hub id, got '{checkpoint}'"):
        genqa_metrics.load("grounding", checkpoint=checkpoint)
    with pytest.raises(
        ValueError, match=r"a judge of configuration a1-r_qt, which cannot read passages; grounding needs one"
    ):
        genqa_metrics.load("grounding", checkpoint=str(judges()))


def test_claims_have_a_scaling_of_their_own(prompt_judge, monkeypatch):
    """That of the judge's settings is fitted on answers."""
    digest = loading.load_judge(prompt_judge).facts["checkpoint"].partition("-")[0]
    monkeypatch.setitem(loading.CLAIM_SCALING, digest, (2.0, -1.0, 0.6))
    judge = loading.load_judge(prompt_judge)
    assert judge.calibrated(np.array([0.5])).tolist() == [0.5]
    assert judge.threshold == 0.6
