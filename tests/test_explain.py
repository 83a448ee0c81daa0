"""The command `explain`: the module's numbers and matches, a heat map with and without colours, a safe page."""

import html
import itertools
import math
import re
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from genqa_metrics import terminal
from genqa_metrics.kpqa import loading
from genqa_metrics.kpqa.explaining import (
    Explanation,
    Segment,
    explanation,
    in_heaviest_subsequence,
    segments,
)
from genqa_metrics.kpqa.scoring import heaviest_common_subsequence
from genqa_metrics.rows.values import NO_ANSWER
from genqa_metrics.verbs.explain.explainer import Explainer
from genqa_metrics.verbs.explain.heat_map import explanation_html, print_explanation
from genqa_metrics.verbs.explain.unsupported import print_unsupported, unsupported_html
from genqa_metrics.verbs.explain.verdict import Verdict, Word, print_verdict, verdict_html
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import files
from tests.factories.cases import with_cases
from tests.factories.explained import judged as grounded
from tests.factories.explained import made, printed
from tests.factories.kpqa import random_rows

SCRIPT = "<script>alert('x')</script>\"'&amp;<img src=http://evil onerror=alert(1)>"

run = partial(files.run, "explain")
as_heat_map, as_verdict = partial(printed, print_explanation), partial(printed, print_verdict)


@pytest.fixture
def command(tiny_checkpoint, tiny_encoder, monkeypatch):
    """Arguments of a good call, with the tiny encoder in the place of the base encoder."""
    monkeypatch.setattr(loading, "base_encoder", lambda: tiny_encoder)
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    texts = ["--prediction", "there are seven xyz", "--reference", "four xyz", "--reference", "seven are there"]
    return ["how many steps are in a test", *texts, "--metric", "kpqa", "--checkpoint", tiny_checkpoint]


def test_the_numbers_are_exactly_those_of_the_module(kpqa, models):
    for question, prediction, references in random_rows(25, seed=7):
        explained = explanation(question, prediction, references, models)
        columns = {"questions": [question], "predictions": [prediction], "references": [references]}
        expected = kpqa.compute(**columns, per_example=True, explain=True)
        for metric, score in explained.scores.items():
            assert score.value == expected[metric]
            assert score.reference == expected[f"{metric}_reference_per_example"][0]
            if metric in ("rougeL_kpqa", "bertscore_kpqa"):
                assert score.precision == expected[f"{metric}_precision"]
                assert score.recall == expected[f"{metric}_recall"]
        row = expected["explanation"][0]
        for (left, right), reference in zip(explained.pairs, row["references"], strict=True):
            for found, pieces in ((left, row["prediction"]), (right, reference)):
                weighted = [(segment.text, segment.weights) for segment in found if segment.weights]
                assert weighted == [(piece, (weight,)) for piece, weight, _, _ in pieces]
        assert explained.signature == kpqa.signature()


def test_rarity_beside_the_weights(models):
    """Of two texts both have "steps", one has "four", none "seven": log(3/3), log(3/2), log(3/1), over the largest."""
    explained = explanation("who is it", "seven four steps", ["steps"], models, corpus=["four steps", "steps steps"])
    ((prediction, reference),) = explained.rarity
    found = [segment.weights[0] for segment in prediction if segment.weights]
    assert found == pytest.approx([1.0, math.log(1.5) / math.log(3), 0.0])
    assert [segment.weights for segment in reference] == [(0.0,)]
    assert "IDF, prediction  seven(1.00) four(0.37) steps\n" in as_heat_map(explained)
    assert explanation_html(explained).count("<details><summary>The same texts by rarity (IDF)") == 1
    assert 'class="finding"' not in explanation_html(explained, findings=False)
    assert "IDF" not in as_heat_map(explanation("who is it", "seven", ["steps"], models))


def test_the_marks_add_up_to_the_scores(models):
    """Marked weights over all weights: BLEU-1 of the prediction, precision and recall of ROUGE-L."""

    def share(parts, mark):
        return sum(sum(part.weights) * getattr(part, mark) for part in parts) / sum(sum(p.weights) for p in parts)

    checked = 0
    for question, prediction, references in random_rows(40, seed=8):
        explained = explanation(question, prediction, references, models)
        bleu, rouge = explained.scores["bleu1_kpqa"], explained.scores["rougeL_kpqa"]
        if bleu.value and rouge.value:
            checked += 1
            left, right = explained.pairs[rouge.reference]
            assert share(explained.pairs[bleu.reference][0], "shared") == pytest.approx(bleu.value, abs=1e-5)
            assert share(left, "in_order") == pytest.approx(rouge.precision, abs=1e-5)
            assert share(right, "in_order") == pytest.approx(rouge.recall, abs=1e-5)
    assert checked > 20


token_ids = st.lists(st.integers(0, 3), max_size=7)


@given(st.data())
def test_the_heaviest_subsequence_is_common_and_heaviest(data):
    """Against every subset of the tokens, and against the sum that the scores use."""
    ids, others = data.draw(token_ids), data.draw(token_ids)
    weights = data.draw(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=len(ids), max_size=len(ids)))

    def is_common(chosen):
        rest = iter(others)
        return all(ids[i] in rest for i in chosen)

    subsets = itertools.chain.from_iterable(itertools.combinations(range(len(ids)), n) for n in range(len(ids) + 1))
    heaviest = max(sum(weights[i] for i in chosen) for chosen in subsets if is_common(chosen))
    chosen = np.flatnonzero(in_heaviest_subsequence(ids, weights, others))
    assert is_common(chosen)
    assert sum(weights[i] for i in chosen) == heaviest
    if ids and others:
        arrays = np.array([ids]), np.array([weights]), np.array([others])
        assert heaviest_common_subsequence(*arrays)[0] == heaviest


@given(st.text("ab 😀", max_size=12), st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), max_size=8))
def test_segments_put_together_are_the_text(text, places):
    """Whatever the tokenizer says: gaps, pieces that overlap, pieces without characters. No weight is lost."""
    offsets = sorted((min(start, len(text)), min(start + size, len(text))) for start, size in places)
    weights = [i / 8 for i in range(len(offsets))]
    found = segments(text, offsets, weights, [False] * len(offsets), [False] * len(offsets))
    assert "".join(segment.text for segment in found) == text
    assert [weight for segment in found for weight in segment.weights] == weights


def test_pieces_that_share_characters_are_one_segment():
    """Two byte pieces of one emoji, the second of them found."""
    found = segments("a 😀!", [(0, 1), (2, 3), (2, 3), (3, 4)], [0.1, 0.2, 0.7, 0.3], [0, 0, 1, 0], [0, 1, 0, 0])
    assert found == [Segment("a", (0.1,)), Segment(" "), Segment("😀", (0.2, 0.7), True, True), Segment("!", (0.3,))]


def test_odd_texts(models):
    explained = explanation("who", "", ["it \x00 is 😀"], models)
    assert explained.pairs[0][0] == []
    assert "".join(segment.text for segment in explained.pairs[0][1]) == "it is 😀"  # as it is read
    assert {score.value for score in explained.scores.values()} == {0.0}
    long = explanation("who", "seven " * 300, ["seven"], models)
    assert long.cut_texts == 1
    assert "".join(segment.text for segment in long.pairs[0][0]) == "seven " * 300
    assert not long.pairs[0][0][-1].weights
    for text in (as_heat_map(long), explanation_html(long)):
        assert "longer than the model reads: 1" in text
    for references in ([], [" ", "it"]):
        with pytest.raises(ValueError, match="references, row 0"):
            explanation("who", "it", references, models)
    with pytest.raises(ValueError, match="surrogate"):
        explanation("who", "\udce9", ["it"], models)


def test_without_colours_the_weights_are_numbers():
    lines = as_heat_map(made()).splitlines()
    assert lines[:5] == [
        "Question     which test?",
        "Prediction   the hypo(0.90 BL)thesis(0.30)",
        "Reference 1  a hypo(0.80 B)thesis(0.21)",
        "Reference 2  4(0.62)",
        "Reason       ROUGE-L is 0.25 with these weights and 0.40 without. Of the reference's keyphrases it",
    ]
    assert ["ROUGE-L", "0.250", "0.200", "0.125", "0.400", "0.450", "0.550"] in [line.split() for line in lines]
    gave = "Reference 1 gives BLEU-1-KPQA, BERTScore-KPQA, BLEU-1, ROUGE-L and BERTScore; reference 2 gives"
    assert lines[lines.index(gave) + 1] == "ROUGE-L-KPQA; marks compare the prediction with 2."
    assert "kpqa|" not in as_heat_map(made())  # the signature is on the page


def test_with_colours_a_heat_map():
    out = as_heat_map(made(), force_terminal=True, color_system="truecolor")
    assert "the \x1b[1;4;38;2;0;0;0;48;2;47;159;224mhypo\x1b[0m\x1b[38;2;0;0;0;48;2;159;180;204mthesis\x1b[0m\n" in out
    assert "a \x1b[4;38;2;0;0;0;48;2;47;159;224mhypo\x1b[0m" in out  # found, but not in the common subsequence
    assert "(0.90 BL" not in out
    plain = as_heat_map(made(), force_terminal=True, color_system="truecolor", no_color=True)
    assert "hypo(0.90 BL)" in plain


def test_the_command(command, tmp_path, models):
    file = tmp_path / "page.html"
    out, err = run(*command, "--html", file)
    references = ["four xyz", "seven are there"]
    explained = explanation("how many steps are in a test", "there are seven xyz", references, models)
    assert out == as_heat_map(explained)
    assert err == ""
    assert file.read_text(encoding="utf-8") == explanation_html(explained)
    assert "##" not in out + file.read_text(encoding="utf-8")
    assert "x(" in out  # the pieces of xyz
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_answers_of_files_are_shown_when_they_are_explained(tmp_path, monkeypatch):
    """A bar is there before the models are loaded."""
    calls, order = [], []
    monkeypatch.setattr(terminal, "progress_bars", lambda: nullcontext(lambda *told: calls.append(told)))
    explaining = lambda *answer: order.append("explained")  # noqa: E731
    ways = Explainer(lambda *given: explaining, lambda *result, legend: order.append("shown"))
    monkeypatch.setattr("genqa_metrics.verbs.explain.explainer.explainer_of", lambda metric: ways)
    rows = [{"question": "Who?", "prediction": text, "references": ["Ann"]} for text in ("Bob", "Carla")]
    run(files.save(tmp_path / "rows.jsonl", rows), "--metric", "kpqa")
    assert calls[0] == ("scoring", 0, None)
    assert order == ["explained", "shown"] * 2


def test_the_command_counts_in_a_file(command, tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text('{"references": ["there are seven", "four"]}\n{"reference": "seven"}\n')
    assert "IDF, prediction   there(" in run(*command, "--idf", file)[0]
    file.write_text('{"prediction": "seven"}\n')
    assert "--idf" in run(*command, "--idf", file, status=1)[1]
    assert "only kpqa weighs" in run(*command, "--idf", file, "--metric", "ava", status=2)[1]


@with_cases
def test_bad_usage(command, place, text, message):
    command[place] = text
    _, err = run(*command, status=2)
    assert message in err
    assert "--help" in err


def test_no_checkpoint(command, tmp_path):
    command[-1] = "nobody/nothing"
    _, err = run(*command, status=1)
    assert "checkpoint: none found. Tried: nobody/nothing on the Hub" in err
    command[-1] = tmp_path
    _, err = run(*command, status=1)
    assert "checkpoint: expected a folder with a config" in err


def judged(**changes):
    """A verdict written by hand: 'In 1944.' against '1945' is wrong, '1944' counts against it."""
    words, reason = (Word(0, 2, 0.01), Word(3, 7, -0.5)), "'1944' counts against it; accepted: '1945'."
    shown = Verdict("When?", "In 1944.", ("1945", "later"), 0, 0.125, 0.5, words, reason, (), "ava|x")
    return replace(shown, **changes)


def test_a_verdict_in_the_terminal():
    lines = as_verdict(judged()).splitlines()
    assert lines[:6] == [
        "Question    When?",
        "Answer      In 1944(-0.50).",
        "Reference   1945  (decides the verdict)",
        "Reference   later",
        "Verdict     judged wrong: probability 0.12; 0.50 or more counts as right",
        "Reason      '1944' counts against it; accepted: '1945'.",
    ]
    assert "ava|x" not in lines  # it is on the page
    long = " ".join(f"word{n}" for n in range(60))
    lines = as_verdict(judged(question=long)).splitlines()
    assert max(map(len, lines)) <= 100
    assert {line[:12] for line in lines[1:5]} == {" " * 12}  # wrapped beside the label
    coloured = as_verdict(judged(), force_terminal=True, color_system="truecolor")
    assert "-0.50" not in coloured
    assert "\x1b[38;2;0;0;0;48;2;251;146;60m1944" in coloured


HOSTILE = f"{SCRIPT}\x1b[31mred\x1b]0;title\x07\u202eevil\u2066\x9b5A[bold]\r"
SCORES = {name: score._replace(reference=0) for name, score in made().scores.items()}
HEAT_MAP = Explanation(HOSTILE, [([Segment(HOSTILE, (0.5,))], [Segment(HOSTILE)])], SCORES, 0, HOSTILE)
VERDICT = judged(question=HOSTILE, answer=f"{HOSTILE} 1944", references=(HOSTILE,), words=())


@pytest.mark.parametrize(
    ("show", "page", "shown"),
    [
        (print_explanation, explanation_html, HEAT_MAP),
        (print_verdict, verdict_html, VERDICT),
        (print_unsupported, unsupported_html, grounded(HOSTILE)),
    ],
    ids=["heat map", "verdict", "sentences"],
)
def test_neither_terminal_nor_page_is_controlled_by_a_text(show, page, shown):
    for out in (printed(show, shown), page(shown)):
        assert not set("\x1b\x07\u202e\u2066\x9b\r") & set(out)
        assert "]0;title" in out
        assert "[bold]" in out
    coloured = printed(show, shown, force_terminal=True, color_system=None)
    assert "\x1b]" not in coloured
    assert "\x07" not in coloured
    assert not re.search("<(script|img)", page(shown))
    assert SCRIPT in html.unescape(page(shown))
    assert "default-src 'none'; style-src 'unsafe-inline'" in page(shown)


def test_a_verdict_as_a_page():
    page = verdict_html(judged())
    assert '<span class="against2">1944<small>-0.50</small></span>' in page
    assert "1945 <b>(decides the verdict)</b>" in page


ROWS = [
    {"id": "far", "question": "How far is it?", "prediction": "About forty steps.", "references": ["20 steps"]},
    {"id": "near", "question": "Who keeps the key?", "prediction": "The porter.", "references": ["the janitor"]},
]


@pytest.mark.parametrize(("metric", "said"), [("ava", "judged wrong"), ("kpqa", "ROUGE-L is 0")])
def test_answers_of_files_on_a_page(metric, said, tmp_path):
    """Every answer that the terminal explains stands on the page, under the name of its row."""
    rows, file = files.save(tmp_path / "rows.jsonl", ROWS), tmp_path / "page.html"
    out, err = run(rows, "--metric", metric, "--html", file)
    page = re.sub("<[^>]+>", "", file.read_text(encoding="utf-8"))
    for row in ROWS:
        for text in (f"{row['id']} of rows", row["question"]):
            assert text in page, err
            assert text in out
    assert page.lower().count(said.lower()) == 2


def test_words_of_an_answer_that_declines_by_a_rule_have_no_effect():
    """Where a rule says that it may decline no word counts; where the model reads it, what the model says of words."""
    from genqa_metrics.verbs.explain.verdict import verdict

    right, wrong = (verdict("Who wrote Hamlet?", "I don't know.", [text]) for text in (NO_ANSWER, "Shakespeare"))
    assert right.reason == "It declines, and the question has no answer (checked by rule)."
    assert right.words
    assert all(word.effect == 0 for word in right.words)
    assert wrong.reason == "It declines to answer."
    assert any(word.effect < 0 for word in wrong.words)
