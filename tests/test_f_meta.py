"""F-meta: the paper's example by hand, parity with pycocoevalcap, set arithmetic, properties."""

from fractions import Fraction
from itertools import product

import genqa_metrics
import numpy as np
import pytest
from genqa_metrics.core.checkpoints import base_encoder
from genqa_metrics.f_meta import bases, overlap
from genqa_metrics.f_meta.bases import base_function
from genqa_metrics.f_meta.scoring import NAMES, best_matches, matched, score_matrices, statistics
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.rouge.rouge import Rouge

from tests.factories.cases import tables, with_cases

P = "which event did the 2014 world cup"
R1 = "who won the 2014 world cup"
R2 = "which event did Germany win in 2014"

# few words, so that n-grams are repeated within and between the texts
texts = st.lists(st.sampled_from("a b c d".split()), min_size=1, max_size=14).map(" ".join)
text_sets = st.lists(texts, min_size=1, max_size=4)
contexts = st.lists(st.tuples(text_sets, text_sets), min_size=1, max_size=5)


def exact(predictions, references):
    return [float(p == r) for p, r in zip(predictions, references, strict=True)]


def asymmetric(predictions, references):
    return [len(p) / (len(p) + 2 * len(r)) for p, r in zip(predictions, references, strict=True)]


def coco_bleu(prediction, references):
    return Bleu(4).compute_score({0: references}, {0: [prediction]}, verbose=0)[1][3][0]


def coco_rouge(prediction, references):
    return Rouge().calc_score([prediction], references)


COCO = {"bleu": coco_bleu, "rouge": coco_rouge}


def one_context(predictions, references, base, **kwargs):
    (values,) = statistics([predictions], [references], base_function(base, **kwargs))
    return dict(zip(NAMES, values.tolist(), strict=True))


def test_example_of_the_paper_with_rouge():
    """Appendix A by hand. beta^2 = 1.44.

    s(p, r1): LCS "the 2014 world cup" = 4 tokens of 7 and 6: 2.44 * 4/7 * 4/6 / (4/6 + 1.44 * 4/7) = 0.62404
    s(p, r2): LCS "which event did 2014" = 4 of 7 and 7: 4/7 = 0.57143
    u = 0.62404; v = (0.62404 + 0.57143) / 2 = 0.59773; F = 2uv / (u + v) = 0.61060
    all references: P = max(4/7, 4/7), R = max(4/6, 4/7), which is the value of r1
    With "?" at the end of r2 its recall is 4/8: s(p, r2) = 0.52700, v = 0.57552, F = 0.59880, the paper's 0.5987.
    """
    scores = one_context([P], [R1, R2], "rouge")
    assert scores["f_meta_precision"] == pytest.approx(0.6240409207, abs=1e-10)
    assert scores["f_meta_recall"] == pytest.approx(0.5977347461, abs=1e-10)
    assert scores["f_meta"] == pytest.approx(0.6106046329, abs=1e-10)
    assert round(scores["f_meta_conventional"], 4) == 0.6240
    with_mark = one_context([P], [R1, R2 + " ?"], "rouge")
    assert round(with_mark["f_meta_conventional"], 4) == 0.6240
    assert with_mark["f_meta"] == pytest.approx(0.5987, abs=1e-4)


def test_example_of_the_paper_with_bleu():
    """Appendix A by hand: p has 7 tokens, r1 6 and r2 7.

    all references: unigrams 7 of 7 ("which event did", "the 2014 world cup"), bigrams 2 + 3 of 6, trigrams 1 + 2 of 5,
    4-grams 1 of 4: (1 * 5/6 * 3/5 * 1/4) ** (1/4) = 0.59460, length 7 against 7
    s(p, r1): 4/7, 3/6, 2/5, 1/4: (4/7 * 3/6 * 2/5 * 1/4) ** (1/4) = 0.41113, longer than r1
    s(p, r2): 4/7, 2/6, 1/5 and no 4-gram: (4/7 * 2/6 * 1/5 * 1e-15/4) ** (1/4) = 0.0000556
    u = 0.41113, v = (0.41113 + 0.00006) / 2 = 0.20559, F = 0.27411
    """
    scores = one_context([P], [R1, R2], "bleu")
    assert round(scores["f_meta_conventional"], 4) == 0.5946
    assert scores["f_meta_precision"] == pytest.approx((4 / 7 * 3 / 6 * 2 / 5 * 1 / 4) ** 0.25, abs=1e-9)
    assert scores["f_meta_recall"] == pytest.approx(0.2055945846, abs=1e-9)
    assert round(scores["f_meta"], 4) == 0.2741


@given(st.sets(st.integers(0, 8), min_size=1), st.sets(st.integers(0, 8), min_size=1))
def test_exact_match_is_precision_recall_and_f1(predicted, relevant):
    common = len(predicted & relevant)
    precision, recall = Fraction(common, len(predicted)), Fraction(common, len(relevant))
    f1 = Fraction(2 * common, len(predicted) + len(relevant))
    scores = one_context([f"q{i}" for i in predicted], [f"q{i}" for i in relevant], exact)
    expected = {"f_meta_precision": precision, "f_meta_recall": recall, "f_meta": f1, "f_meta_conventional": precision}
    assert scores == pytest.approx({name: float(value) for name, value in expected.items()}, abs=1e-15)


@given(contexts)
def test_matrices_and_means_are_those_of_the_definition(corpus):
    """u, v and F from loops over the definition, with a scoring function that is not symmetric."""
    predictions, references = map(list, zip(*corpus, strict=True))
    base = base_function(asymmetric)
    rows = statistics(predictions, references, base)
    for matrix, (ps, rs), row in zip(score_matrices(predictions, references, base), corpus, rows, strict=True):
        slow = [[asymmetric([p], [r])[0] for r in rs] for p in ps]
        assert matrix.tolist() == slow
        u = sum(max(scores) for scores in slow) / len(ps)
        v = sum(max(scores[j] for scores in slow) for j in range(len(rs))) / len(rs)
        assert row == pytest.approx([u, v, 2 * u * v / (u + v), u], abs=1e-12)
        best = best_matches(matrix)
        assert [match["score"] for match in best["predictions"]] == [max(scores) for scores in slow]
        for j, match in enumerate(best["references"]):
            assert match["score"] == slow[match["prediction"]][j]
            assert all(match["score"] > scores[j] for scores in slow[: match["prediction"]])


@settings(max_examples=200)
@given(contexts, st.sampled_from(["bleu", "rouge"]))
def test_pairs_and_conventional_scores_equal_pycocoevalcap(corpus, base):
    predictions, references = map(list, zip(*corpus, strict=True))
    matrices = score_matrices(predictions, references, base_function(base))
    rows = statistics(predictions, references, base_function(base))
    for (ps, rs), matrix, row in zip(corpus, matrices, rows, strict=True):
        expected = np.array([[COCO[base](p, [r]) for r in rs] for p in ps])
        np.testing.assert_allclose(matrix, expected, rtol=0, atol=1e-12)
        assert row[3] == pytest.approx(np.mean([COCO[base](p, rs) for p in ps]), abs=1e-12)


def test_every_pair_is_asked_once_for_the_whole_corpus():
    calls = []

    def base(predictions, references):
        calls.append(list(zip(predictions, references, strict=True)))
        return exact(predictions, references)

    predictions = [["a", "b", "a", " "], [], ["a", ""]]
    references = [["a", "c", "c"], ["a"], ["c", "d"]]
    matrices = score_matrices(predictions, references, base_function(base))
    assert len(calls) == 1
    assert sorted(calls[0]) == sorted({*product("ab", "ac"), *product("a", "cd")})
    assert matrices[0].tolist() == [[1, 0, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert matrices[1].shape == (0, 1)


@pytest.mark.parametrize("base", ["bleu", "rouge", lambda ps, rs: [1.0] * len(ps)])
def test_blank_predictions_score_zero_whatever_the_base(base):
    rows = statistics([["", " \n", "\u2003"], []], [["a b", ""], ["a"]], base_function(base))
    assert rows.tolist() == [[0.0] * 4] * 2


def test_tokenizers():
    raw, tokenised = "Who won the “World Cup”, in 2014?", "who won the “ world cup ” , in 2014 ?"
    for base in ("bleu", "rouge"):
        assert one_context([raw], [tokenised], base, base_kwargs={"tokenizer": "word"})["f_meta"] > 0.999
        assert one_context([raw], [tokenised], base, base_kwargs=bases.PAPER)["f_meta"] < 0.8
        letters = one_context(["abcd"], ["abcd!"], base, base_kwargs={"tokenizer": list})
        assert letters["f_meta_precision"] == pytest.approx(COCO[base]("a b c d", ["a b c d !"]), abs=1e-12)
    expected = [*"谁赢了?", *"don't 10 , 5 हिन्दी 👩 \u200d 👩".split(" ")]
    assert overlap.words("谁赢了? Don’t 10,5 हिन्दी 👩‍👩") == expected


def test_a_tokenizer_without_tokens_scores_zero():
    for base in ("bleu", "rouge"):
        scores = one_context(["a"], ["a", "b"], base, base_kwargs={"tokenizer": lambda text: []})
        assert scores == dict.fromkeys(NAMES, 0.0)


@with_cases
def test_bad_bases_are_refused(base, kwargs, message):
    with pytest.raises(ValueError, match=message):
        base_function(base, kwargs)


def test_the_cosine_is_that_of_sentence_transformers_and_same_question_is_made_of_it(monkeypatch):
    """Nearly, of the encoder with ten bits a weight; of the whole one, which a module alone reads, to rounding."""
    from sentence_transformers import SentenceTransformer

    left = ["who won the cup ?", "where was ada born ?", "why " * 300, "Café ?"]
    right = ["which team won the cup ?", "when was ada born ?", "why ?", "cafe ?"]
    model = SentenceTransformer(str(base_encoder()), device="cpu")
    vectors = [model.encode(texts, normalize_embeddings=True) for texts in (left, right)]
    cosine = base_function("cosine")
    np.testing.assert_allclose(cosine.pairs(left, right), (vectors[0] * vectors[1]).sum(axis=1), atol=0.002)
    rouge = base_function("rouge", {"tokenizer": "word"}).pairs(left, right)
    both = base_function("same_question")
    expected = bases.same_question_scores(rouge, cosine.pairs(left, right))
    np.testing.assert_allclose(both.pairs(left, right), expected, atol=1e-6)
    assert cosine.facts == {"base": "cosine", "encoder": "all-MiniLM-L6-v2@c7638b16f01c"}
    assert both.facts == {"base": "same_question", "encoder": "all-MiniLM-L6-v2@c7638b16f01c"}
    monkeypatch.setattr(bases, "bundled", lambda: False)
    np.testing.assert_allclose(cosine.pairs(left, right), (vectors[0] * vectors[1]).sum(axis=1), atol=1e-5)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda ps, rs: 0.5, r"base .*<lambda>: expected a list of 4 numbers, got 0.5; a base gets two equally long"),
        (lambda ps, rs: ["1", "2", "3", "4"], "expected a list of 4 numbers, got .'1'"),
        (lambda ps, rs: [1, None, 3, 4], "finite scores, got nan for prediction 'a' and reference 'd'"),
        (lambda ps, rs: np.ones((4, 1)), r"got an array of shape \(4, 1\)"),
        (lambda ps, rs: (0.1 for _ in ps), "expected a list of 4 numbers, got <generator"),
        (lambda ps, rs: [1.0, 2.0, float("nan"), 0.0], "finite scores, got nan for prediction 'b' and reference 'c'"),
        (lambda p, r: float(p == r), "a base gets two equally long lists"),
        (lambda p, r: len(set(p.split()) & set(r.split())), "AttributeError.*a base gets two equally long lists"),
        (lambda text: 1.0, "TypeError.*a base gets two equally long lists"),
    ],
)
def test_bad_answers_of_a_base_are_refused(answer, message):
    with pytest.raises(ValueError, match=message):
        statistics([["a", "b"]], [["c", "d"]], base_function(answer))


def test_a_tokenizer_that_returns_no_list_is_refused():
    with pytest.raises(ValueError, match="must return a list of tokens, got str 'a b'"):
        one_context(["A b"], ["a b"], "bleu", base_kwargs={"tokenizer": str.lower})


def test_a_context_with_too_many_pairs_is_refused_before_any_work():
    """10,000 x 10,000 questions would take 5 GB."""
    texts = [f"Who was number {i}?" for i in range(10_000)]
    metric = genqa_metrics.load("f_meta")
    message = r"predictions, row 1: 10,000 questions against 10,000 references are 100,000,000 pairs; the limit is"
    with pytest.raises(ValueError, match=message):
        metric.compute(predictions=[["Who?"], texts], references=[["Who?"], texts])


ASKED, IN_OTHER_WORDS = (tables(__name__)[name] for name in ("asked", "asked in other words"))
COPIED = [ASKED[i] for i in (0, 6)]


def test_six_questions_in_other_words_cover_more_than_two_copies():
    """As recall and as a count; a copy that is repeated covers no more."""
    metric = genqa_metrics.load("f_meta")
    copied, repeated, others = (
        metric.compute(predictions=[texts], references=[ASKED], explain=True)
        for texts in (COPIED, COPIED * 2, IN_OTHER_WORDS)
    )
    assert others["f_meta_recall"] > copied["f_meta_recall"] == repeated["f_meta_recall"]
    assert copied["f_meta_covered"] == repeated["f_meta_covered"] == 2 / 8
    assert 4 / 8 <= others["f_meta_covered"] <= 6 / 8
    assert copied["f_meta_relevant"] == 1.0
    explained = copied["explanation"][0]
    assert explained["matched"] == [[0, 0], [1, 6]]
    assert explained["not_asked"] == [text for text in ASKED if text not in COPIED]
    assert explained["reason"].startswith('Covers 2 of 8 reference questions; not asked: "How wide is')
    words = genqa_metrics.load("f_meta", base="rouge")
    recalls = [words.compute(predictions=[s], references=[ASKED])["f_meta_recall"] for s in (COPIED, IN_OTHER_WORDS)]
    assert recalls[0] > recalls[1], "shared words alone prefer the copies"


@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=5))
def test_a_question_asks_the_closest_reference_only(rows):
    """Against the definition: reference r is asked by the closest of the questions that have r as their first best."""
    matrix, threshold = np.array(rows, dtype=float), 2.0
    expected = []
    for r in range(3):
        asking = [p for p, row in enumerate(rows) if row.index(max(row)) == r and row[r] >= threshold]
        if asking:
            expected.append((max(asking, key=lambda p: (rows[p][r], -p)), r))
    assert matched(matrix, threshold) == sorted(expected)


def test_counts_of_sets_without_questions():
    metric = genqa_metrics.load("f_meta", base=exact, threshold=1.0)
    found = metric.compute(predictions=[[], ["a", "A", "b"]], references=[["a"], ["a", "c"]], per_example=True)
    assert found["f_meta_covered_per_example"] == [0.0, 0.5]
    assert found["f_meta_relevant_per_example"] == [0.0, pytest.approx(1 / 3)]
    assert found["not_asked_per_example"] == [["a"], ["c"]]
