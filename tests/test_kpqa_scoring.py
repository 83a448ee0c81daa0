"""The arithmetic of KPQA: worked examples by hand, brute force, parity with rouge_score, properties."""

from itertools import chain, combinations

import numpy as np
import pytest
from genqa_metrics.kpqa import scoring
from genqa_metrics.kpqa.encoding import denied_pieces, values_of
from genqa_metrics.kpqa.scoring import PAIR_STATISTICS, Tokens, f_score, pair_statistics, row_scores
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import _score_lcs

from tests.factories.cases import with_cases

VOCABULARY = 5
VECTORS = np.linalg.qr(np.random.default_rng(0).normal(size=(8, 8)))[0][:VOCABULARY] + 0.3
VECTORS = (VECTORS / np.linalg.norm(VECTORS, axis=1, keepdims=True)).astype(np.float32)

a_text = st.lists(st.tuples(st.integers(0, VOCABULARY - 1), st.floats(0, 1, width=16)), max_size=7)


def tokens(pairs) -> Tokens:
    ids = np.array([i for i, _ in pairs], dtype=int)
    return Tokens(ids, np.array([w for _, w in pairs], dtype=float), VECTORS[ids])


def statistics(candidate, reference, *settings) -> dict:
    (row,) = pair_statistics([tokens(candidate)], [tokens(reference)], *settings)
    return dict(zip(PAIR_STATISTICS, row, strict=True))


def test_equation_1_as_printed():
    """Candidate "a a b", weights .5 .3 .2, reference "a a": each a matches twice, so (2 * .5 + 2 * .3) / 1 = 1.6."""
    candidate, reference = [(1, 0.5), (1, 0.3), (2, 0.2)], [(1, 0.7), (1, 0.3)]
    printed = statistics(candidate, reference, "both", None, False)
    assert printed["bleu1_kpqa"] == pytest.approx(1.6)
    clipped = statistics(candidate, reference)
    assert clipped["bleu1_kpqa"] == pytest.approx(0.8)
    assert printed | {"bleu1_kpqa": 0.8} == pytest.approx(clipped)  # nothing else changes, BLEU-1 neither
    once = [(1, 0.5), (2, 0.5)], [(1, 1.0), (3, 1.0)]
    assert statistics(*once, "both", None, False) == statistics(*once)  # without repeated words no difference


def effective(pairs):
    return pairs if any(w for _, w in pairs) else [(i, 1.0) for i, _ in pairs]


def is_subsequence(part, whole):
    rest = iter(whole)
    return all(x in rest for x in part)


def heaviest(candidate, is_common):
    """Return the most weight of tokens of `candidate` whose ids are common, by trying every subset in order."""
    subsets = chain.from_iterable(combinations(candidate, size) for size in range(len(candidate) + 1))
    return max(sum(w for _, w in chosen) for chosen in subsets if is_common([i for i, _ in chosen]))


def brute_force_lcs(candidate, reference):
    ids = [i for i, _ in reference]
    return heaviest(candidate, lambda used: is_subsequence(used, ids))


def brute_force_bleu1(candidate, reference):
    """Return the share of the candidate's weight in the best clipped matching."""
    ids = [i for i, _ in reference]
    best = heaviest(candidate, lambda used: all(used.count(i) <= ids.count(i) for i in used))
    return best / sum(w for _, w in candidate) if candidate else 0.0


def test_worked_example():
    """Figure 1 in small: "seven(.9) steps(.1)" against "four(.8) steps(.2)".

    BLEU-1: .1 / 1 = .1. ROUGE-L: the LCS is "steps", P = .1 / 1, R = .2 / 1, F = 2 * .1 * .2 / .3 = .133...
    Without weights each is 1 / 2.
    """
    scores = statistics([(0, 0.9), (1, 0.1)], [(2, 0.8), (1, 0.2)])
    assert scores["bleu1_kpqa"] == pytest.approx(0.1)
    assert scores["rougeL_kpqa_precision"] == pytest.approx(0.1)
    assert scores["rougeL_kpqa_recall"] == pytest.approx(0.2)
    assert scores["bleu1"] == scores["rougeL_precision"] == scores["rougeL_recall"] == 0.5
    assert f_score(np.array(0.1), np.array(0.2)) == pytest.approx(0.04 / 0.3)


def test_bertscore_worked_example():
    """Unit vectors (1, 0) and (.6, .8), weights .75 and .25, against (0, 1), weight 1.

    Cosines are 0 and .8. P = .75 * 0 + .25 * .8 = .2, R = max(0, .8) = .8, F = 2 * .2 * .8 / 1 = .32.
    """
    candidate = Tokens(np.array([0, 1]), np.array([0.75, 0.25]), np.array([[1, 0], [0.6, 0.8]], np.float32))
    reference = Tokens(np.array([2]), np.array([1.0]), np.array([[0, 1]], np.float32))
    values = pair_statistics([candidate], [reference])
    scores, _ = row_scores(values, np.array([0]))
    assert scores["bertscore_kpqa_precision"][0] == pytest.approx(0.2)
    assert scores["bertscore_kpqa_recall"][0] == pytest.approx(0.8)
    assert scores["bertscore_kpqa"][0] == pytest.approx(0.32)
    assert dict(zip(PAIR_STATISTICS, values[0], strict=True))["bertscore_precision"] == pytest.approx(0.4)


def test_equation_5_sums_the_weights_of_the_prediction_for_both_ratios():
    """Tokens "seven(.9) steps(.1)" against "four(.1) steps(.05)": the LCS weighs .1 in the prediction.

    P = .1 / 1, R = .1 / .15. With both texts' weights R = .05 / .15; the unweighted metric stays.
    """
    printed = statistics([(0, 0.9), (1, 0.1)], [(2, 0.1), (1, 0.05)], "candidate")
    assert printed["rougeL_kpqa_precision"] == pytest.approx(0.1)
    assert printed["rougeL_kpqa_recall"] == pytest.approx(2 / 3)
    assert printed["rougeL_recall"] == 0.5
    assert statistics([(0, 0.5)], [(0, 0.1)], "candidate")["rougeL_kpqa_recall"] == pytest.approx(5)


def published_table(candidate, reference):
    """Return the last cell of the published table: a row for each token of the reference, whose weights count."""
    table = [[0.0] * (len(candidate) + 1)]
    for token, weight in reference:
        row = [0.0]
        for place, (other, _) in enumerate(candidate):
            row.append(table[-1][place] + weight if other == token else max(table[-1][place + 1], row[-1]))
        table.append(row)
    return table[-1][-1]


@given(a_text.filter(len), a_text.filter(len))
def test_the_published_code_sums_the_weights_of_the_reference_on_its_table(candidate, reference):
    found = statistics(candidate, reference, "code")
    candidate, reference = effective(candidate), effective(reference)
    common = published_table(candidate, reference)
    assert common <= brute_force_lcs(reference, candidate) + 1e-9
    assert found["rougeL_kpqa_precision"] == pytest.approx(common / sum(w for _, w in candidate))
    assert found["rougeL_kpqa_recall"] == pytest.approx(common / sum(w for _, w in reference))


def test_a_denied_token_is_another_token():
    """Nothing of "not(0) twelve(1)" matches "twelve(1)", unless both deny it; equal weights know no denial."""
    denied = tokens([(3, 0.0), (1, 1.0)])._replace(denied=np.array([False, True]))
    rows = pair_statistics([denied, denied, tokens([(1, 1.0)])], [tokens([(1, 1.0)]), denied, denied])
    for row, expected in zip(rows, (0.0, 1.0, 0.0), strict=True):
        found = dict(zip(PAIR_STATISTICS, row, strict=True))
        weighted = [found[name] for name in PAIR_STATISTICS[:3]]
        assert weighted == [expected] * 3
    assert rows[0][5:8].tolist() == [0.5, 0.5, 1.0]
    assert rows[0][3] == pytest.approx(0)
    assert rows[1][3] == pytest.approx(1)


@with_cases
def test_what_is_denied(text, expected):
    """The word behind the negation, up to a stop or comma; every piece is a letter or digit and weighs 1."""
    offsets = [(i, i + 1) for i, letter in enumerate(text) if not letter.isspace()]
    denied = denied_pieces(text, offsets, np.ones(len(offsets)))
    assert "".join(text[a:b] for (a, b), is_so in zip(offsets, denied, strict=True) if is_so) == expected
    assert not denied_pieces(text, offsets, np.full(len(offsets), 0.2)).any()


def test_a_heavy_not_hides_no_denial():
    """The cue may weigh more than what it denies, another word may not: then that is the answer."""
    offsets = [(0, 3), (4, 12)]  # Not Canberra
    assert denied_pieces("Not Canberra", offsets, np.array([0.9, 0.6])).tolist() == [False, True]
    offsets = [(0, 5), (7, 10), (11, 15)]  # Paris, not Rome
    assert not denied_pieces("Paris, not Rome", offsets, np.array([0.9, 0.0, 0.6])).any()


@with_cases
def test_values_that_exclude_each_other(text, pieces, alike):
    ends = [text.index(pieces[0]) + len(pieces[0]), len(text)]
    values = values_of(text, [(end - len(piece), end) for end, piece in zip(ends, pieces, strict=True)])
    assert (values > 0).all()
    assert (values[0] == values[1]) == alike


def test_another_value_is_half_as_alike():
    """One token each with the cosine 0.6: of another value 0.3, of the same one 1; no value, or equal weights, 0.6."""
    vectors = np.array([[1, 0]], np.float32), np.array([[0.6, 0.8]], np.float32)

    def found(*values):
        texts = (
            [Tokens(np.array([i]), np.ones(1), vectors[i], values=np.array([value]))] for i, value in enumerate(values)
        )
        return dict(zip(PAIR_STATISTICS, pair_statistics(*texts)[0], strict=True))

    expected = {(7, 8): 0.3, (7, 7): 1.0, (7, 0): 0.6, (0, 0): 0.6}
    for values, likeness in expected.items():
        scores = found(*values)
        assert scores["bertscore_kpqa_precision"] == scores["bertscore_kpqa_recall"] == pytest.approx(likeness)
        assert scores["bertscore_precision"] == pytest.approx(0.6)
        assert scores["rougeL_precision"] == scores["bleu1_kpqa"] == 0


def test_idf_weighs_bertscore_without_keyphrase_weights_only():
    """Token 1 is in every reference, log(3/3) = 0; token 0 in one of two, log(3/2); the rest in none, log 3.

    The prediction "0 1" weighs (log 1.5, 0), the reference "2 1" weighs (log 3, 0).
    """
    idf = scoring.inverse_document_frequencies([np.array([0, 1]), np.array([1, 1])])
    candidate, reference = [(0, 0.5), (1, 0.5)], [(2, 0.5), (1, 0.5)]
    weighed, plain = statistics(candidate, reference, "both", idf), statistics(candidate, reference)
    cosines = VECTORS[[0, 1]] @ VECTORS[[2, 1]].T
    assert weighed["bertscore_precision"] == pytest.approx(cosines[0].max(), abs=1e-6)
    assert weighed["bertscore_recall"] == pytest.approx(cosines[:, 0].max(), abs=1e-6)
    changed = {name for name in plain if weighed[name] != plain[name]}
    assert changed <= {"bertscore_precision", "bertscore_recall"}
    everywhere = scoring.inverse_document_frequencies([np.array([0, 1, 2])])
    assert statistics(candidate, reference, "both", everywhere) == plain  # weights that are all 0 count as equal


@given(a_text, a_text)
def test_matches_brute_force(candidate, reference):
    scores = statistics(candidate, reference)
    assert np.isfinite(list(scores.values())).all()
    candidate, reference = effective(candidate), effective(reference)
    if not candidate or not reference:
        assert not any(scores.values())
        return
    assert scores["bleu1_kpqa"] == pytest.approx(brute_force_bleu1(candidate, reference))
    precision = brute_force_lcs(candidate, reference) / sum(w for _, w in candidate)
    recall = brute_force_lcs(reference, candidate) / sum(w for _, w in reference)
    assert scores["rougeL_kpqa_precision"] == pytest.approx(precision)
    assert scores["rougeL_kpqa_recall"] == pytest.approx(recall)
    cosines = VECTORS[[i for i, _ in candidate]] @ VECTORS[[i for i, _ in reference]].T
    expected = np.average(cosines.max(axis=1), weights=[w for _, w in candidate])
    assert scores["bertscore_kpqa_precision"] == pytest.approx(expected, abs=1e-6)
    expected = np.average(cosines.max(axis=0), weights=[w for _, w in reference])
    assert scores["bertscore_kpqa_recall"] == pytest.approx(expected, abs=1e-6)


@given(a_text, a_text, st.sampled_from([0.0, 0.25, 1.0]))
def test_equal_weights_give_the_unweighted_metric(candidate, reference, weight):
    values = statistics([(i, weight) for i, _ in candidate], [(i, weight) for i, _ in reference])
    values = list(values.values())
    assert values[:5] == pytest.approx(values[5:])


@given(a_text, a_text)
def test_unweighted_rouge_is_that_of_rouge_score(candidate, reference):
    scores = statistics(candidate, reference)
    expected = _score_lcs([i for i, _ in reference], [i for i, _ in candidate])
    assert scores["rougeL_precision"] == pytest.approx(expected.precision)
    assert scores["rougeL_recall"] == pytest.approx(expected.recall)
    assert f_score(scores["rougeL_precision"], scores["rougeL_recall"]) == pytest.approx(expected.fmeasure)


@given(a_text.filter(len))
def test_identity_scores_1_and_scale_does_not_matter(text):
    scores = statistics(text, [(i, w / 2) for i, w in text])
    assert list(scores.values()) == pytest.approx([1.0] * len(scores), abs=1e-6)


def test_precision_and_recall_are_those_of_the_reference_that_won():
    """Against "1 2 3" the prediction "1" has P 1, R 1/3, F 1/2; against "1 0" P 1, R 1/2, F 2/3, which wins."""
    candidate = [(1, 1.0)]
    references = [[(1, 1.0), (2, 1.0), (3, 1.0)], [(1, 1.0), (0, 1.0)]]
    values = pair_statistics([tokens(candidate)] * 2, [tokens(r) for r in references])
    scores, winners = row_scores(values, np.array([0, 0]))
    assert winners["rougeL_kpqa"].tolist() == [1]
    assert scores["rougeL_kpqa_recall"].tolist() == [0.5]
    assert scores["rougeL_kpqa"] == pytest.approx([2 / 3])
    assert winners["bleu1_kpqa"].tolist() == [0]  # equal: the first one
