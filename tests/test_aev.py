"""AEv(alpha, N): worked examples, parity with sacrebleu, rouge_score and a slow implementation, hostile input."""

import math
import random

import evaluate
import genqa_metrics
import pytest
from genqa_metrics.aev.scoring import (
    GRID_ALPHAS,
    GRID_ORDERS,
    Settings,
    grid_scores,
    scores,
    statistics,
    terms_function,
    warnings_for,
)
from genqa_metrics.aev.stop_words import STOP_WORDS
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import corpus_bleu

from tests.factories.cases import with_cases

PLAIN = {"stop_words": None, "stemmer": None, "tokenizer": str.split, "effective_order": False}
FIGURE_1 = ("There are seven steps involved in a hypothesis test.", "Four steps are involved in a hypothesis test.")

# few words, so that n-grams are repeated within and between the texts
words = st.lists(st.sampled_from("a b c d e".split()), min_size=1, max_size=12).map(" ".join)
rows = st.lists(st.tuples(words, st.lists(words, min_size=1, max_size=3)), min_size=1, max_size=6)


def corpus_score(predictions, references, **values):
    chosen = Settings(**values)
    total = statistics(predictions, references, chosen).sum(axis=0)
    return {name: float(value) for name, value in scores(total, chosen).items()}


def random_corpus(seed, references_per_row):
    source = random.Random(seed)
    vocabulary = [f"w{i}" for i in range(source.choice([3, 8, 30]))]

    def text():
        return " ".join(source.choices(vocabulary, k=source.randint(1, 20)))

    size = source.randint(1, 12)
    return [text() for _ in range(size)], [[text() for _ in range(references_per_row)] for _ in range(size)]


def slow_count(ngram, terms):
    """How often an n-gram occurs in a list of terms, by looking at every position."""
    return sum(tuple(terms[i : i + len(ngram)]) == ngram for i in range(len(terms)))


def slow_ngrams(terms, order):
    return [tuple(terms[i : i + order]) for i in range(len(terms) - order + 1)]


def slow_aev(predictions, references, alpha, order, brevity=1.0, wordiness=2.0):
    """The formulas of section 3, one n-gram at a time; several references clipped as in BLEU, pooled for recall."""
    candidates = [text.split() for text in predictions]
    reference_terms = [[text.split() for text in row] for row in references]
    length = sum(map(len, candidates))
    closest = sum(
        min((len(r) for r in row), key=lambda n: (abs(n - len(c)), n))
        for c, row in zip(candidates, reference_terms, strict=True)
    )
    precision = recall = 1.0
    for n in range(1, order + 1):
        clipped = total = 0
        for candidate, row in zip(candidates, reference_terms, strict=True):
            for ngram in set(slow_ngrams(candidate, n)):
                count = slow_count(ngram, candidate)
                clipped += min(count, max(slow_count(ngram, reference) for reference in row))
                total += count
        precision *= (clipped / total) ** (1 / order) if total else 0.0
        clipped = total = 0
        for candidate, row in zip(candidates, reference_terms, strict=True):
            for reference in row:
                for ngram in set(slow_ngrams(reference, n)):
                    count = slow_count(ngram, reference)
                    clipped += min(count, slow_count(ngram, candidate))
                    total += count
        recall *= (clipped / total) ** (1 / order) if total else 0.0
    ps = precision * (1.0 if brevity * length >= closest else math.exp(1 - closest / (brevity * length)))
    rs = recall * (1.0 if length <= wordiness * closest else math.exp(1 - length / (wordiness * closest)))
    if alpha in (0, 1):
        return ps if alpha else rs
    return rs * ps / (alpha * rs + (1 - alpha) * ps) if rs and ps else 0.0


def test_hand_computation():
    """Candidate "a b a c" against "a b b": BP and WP are 1, as 4 >= 3 and 4 <= 2 * 3.

    P(1) = (min(2, 1) + min(1, 2) + 0) / 4 = 2/4, P(2) = 1/3 ("a b" of "a b", "b a", "a c");
    R(1) = 2/3, R(2) = 1/2 ("a b" of "a b", "b b"). PS = sqrt(1/2 * 1/3), RS = sqrt(2/3 * 1/2).
    """
    got = corpus_score(["a b a c"], [["a b b"]], **PLAIN)
    assert got["aev_precision"] == pytest.approx(math.sqrt(1 / 6))
    assert got["aev_recall"] == pytest.approx(math.sqrt(1 / 3))
    assert got["aev"] == pytest.approx(2 * math.sqrt(1 / 18) / (math.sqrt(1 / 6) + math.sqrt(1 / 3)))
    assert (got["prediction_length"], got["reference_length"]) == (4.0, 3.0)


def test_penalties_by_hand():
    """|c| = 1, |r| = 3: BP = exp(1 - 3). |c| = 5, |r| = 2, W = 2: WP = exp(1 - 5/4)."""
    short = corpus_score(["a"], [["a b c"]], max_order=1, **PLAIN)
    assert short["brevity_penalty"] == pytest.approx(math.exp(-2))
    assert short["aev_precision"] == pytest.approx(math.exp(-2))
    long = corpus_score(["a b c d e"], [["a b"]], max_order=1, **PLAIN)
    assert long["wordiness_penalty"] == pytest.approx(math.exp(-0.25))
    assert long["aev_recall"] == pytest.approx(math.exp(-0.25))
    without = corpus_score(["a b c d e"], [["a b"]], max_order=1, wordiness=math.inf, **PLAIN)
    assert (without["wordiness_penalty"], without["aev_recall"]) == (1.0, 1.0)
    assert corpus_score(["a"], [["a b c"]], max_order=1, brevity=math.inf, **PLAIN)["brevity_penalty"] == 1.0


def test_weights_by_hand():
    """P(1) = 1/2, P(2) = 1/3 as above; weights 0.8 and 0.2 give 0.5^0.8 * (1/3)^0.2."""
    got = corpus_score(["a b a c"], [["a b b"]], weights=[0.8, 0.2], alpha=1, **PLAIN)
    assert got["aev"] == pytest.approx(0.5**0.8 * (1 / 3) ** 0.2)
    # an order without weight does not matter, even when nothing matches there
    assert corpus_score(["a c"], [["a b"]], weights=[1, 0], alpha=1, **PLAIN)["aev"] == pytest.approx(0.5)


def test_alpha_1_order_4_is_sacrebleu():
    for seed in range(1000):
        predictions, references = random_corpus(seed, references_per_row=1 + seed % 3)
        columns = [list(column) for column in zip(*references, strict=True)]
        expected = corpus_bleu(predictions, columns, smooth_method="none", tokenize="none")
        got = corpus_score(predictions, references, alpha=1, max_order=4, **PLAIN)
        assert got["aev"] == pytest.approx(expected.score / 100, abs=1e-9), seed
        assert (got["prediction_length"], got["reference_length"]) == (expected.sys_len, expected.ref_len), seed


def test_13a_is_sacrebleus_default_on_raw_text():
    predictions = ["The U.S. won 3-2 (in Paris), didn't it?", "Prices rose by 4.5% in 1999 & 2000, she said."]
    references = [["The U.S. won 3-2 in Paris, didn't it?"], ["Prices rose 4.5% in 1999 & 2000, he said."]]
    expected = corpus_bleu(predictions, [[row[0] for row in references]], smooth_method="none").score / 100
    got = corpus_score(predictions, references, alpha=1, max_order=4, stop_words=None, stemmer=None, tokenizer="13a")
    assert expected > 0.3
    assert got["aev"] == pytest.approx(expected, abs=1e-9)


def test_alpha_0_order_1_is_rouge_1_recall():
    for seed in range(200):
        (prediction, *_), ((reference, *_), *_) = random_corpus(seed, references_per_row=1)
        expected = RougeScorer(["rouge1"]).score(reference, prediction)["rouge1"].recall
        got = corpus_score([prediction], [[reference]], alpha=0, max_order=1, wordiness=math.inf, **PLAIN)
        assert got["aev"] == pytest.approx(expected, abs=1e-9), seed


@given(rows, st.sampled_from(GRID_ALPHAS), st.integers(1, 4), st.sampled_from([0.5, 1.0, 1.5]))
def test_slow_implementation(corpus, alpha, order, wordiness):
    predictions, references = zip(*corpus, strict=True)
    got = corpus_score(predictions, references, alpha=alpha, max_order=order, wordiness=wordiness, **PLAIN)
    expected = slow_aev(predictions, references, alpha, order, wordiness=wordiness)
    assert got["aev"] == pytest.approx(expected, abs=1e-9)


@given(rows)
def test_grid_is_the_single_scores(corpus):
    predictions, references = zip(*corpus, strict=True)
    plain = Settings(**PLAIN)
    grid = grid_scores(statistics(predictions, references, plain, max(GRID_ORDERS)).sum(axis=0), plain)
    assert (grid["alpha"], grid["max_order"]) == ([i / 10 for i in range(11)], [1, 2, 3, 4])
    for i, order in enumerate(GRID_ORDERS):
        for j, alpha in enumerate(GRID_ALPHAS):
            single = corpus_score(predictions, references, alpha=alpha, max_order=order, **PLAIN)
            assert grid["aev"][i][j] == pytest.approx(single["aev"], abs=1e-12)


@given(st.text(min_size=1).filter(lambda text: terms_function(Settings())(text)), st.floats(0, 1))
def test_identity_is_one_and_everything_is_in_range(text, alpha):
    chosen = Settings(alpha=alpha)
    row = scores(statistics([text], [[text]], chosen), chosen, effective_order=True)
    assert row["aev"][0] == pytest.approx(1.0)
    other = scores(statistics([text + " other words"], [[text]], chosen), chosen, effective_order=True)
    assert all(0 <= other[name][0] <= 1 for name in ("aev", "aev_precision", "aev_recall"))


@given(words, st.lists(words, min_size=1, max_size=3), words)
def test_another_reference_never_lowers_the_best(prediction, references, other):
    chosen = Settings(reference_recall="best", max_order=1, **PLAIN, wordiness=math.inf)
    few, many = (statistics([prediction], [row], chosen) for row in (references, [*references, other]))
    assert scores(many, chosen)["aev_recall"][0] >= scores(few, chosen)["aev_recall"][0]


def test_best_reference_is_the_one_that_is_answered():
    """Two names of one thing: "nyc" recalls 1 of the 4 words of both together, and 1 of 1 of the better one."""
    pooled = corpus_score(["nyc"], [["nyc", "new york city"]], alpha=0, max_order=1, **PLAIN)
    best = corpus_score(["nyc"], [["nyc", "new york city"]], alpha=0, max_order=1, reference_recall="best", **PLAIN)
    assert (pooled["aev"], best["aev"]) == (0.25, 1.0)


def test_a_corpus_of_one_word_answers_is_scored_by_words():
    """2 of 4 words: PS(1) = RS(1) = .5. There are no bigrams, so that the paper's formula gives 0."""
    texts = {"predictions": ["Paris", "Rome", "Oslo", "Bern"], "references": ["Paris", "Rome", "Lima", "Riga"]}
    metric = genqa_metrics.load("aev")
    assert metric.compute(**texts)["aev"] == pytest.approx(0.5)
    assert "|orders:effective|" in metric.signature()
    paper = genqa_metrics.load("aev", settings="paper")
    assert paper.compute(**texts)["aev"] == metric.compute(**texts, effective_order=False)["aev"] == 0
    assert "|orders:all|" in paper.signature()
    with pytest.raises(ValueError, match="effective_order: expected True or False, got 'no'"):
        metric.compute(**texts, effective_order="no")


@with_cases
def test_terms(text, terms):
    assert terms_function(Settings())(text) == terms


def test_stop_words_and_stemmer_settings():
    assert len(STOP_WORDS["smart"]) == 570
    assert STOP_WORDS["english"] < STOP_WORDS["smart"]
    text = "The seven steps"
    assert terms_function(Settings(stop_words="smart"))(text) == ["step"]
    assert terms_function(Settings(stop_words=None))(text) == ["the", "seven", "step"]
    assert terms_function(Settings(stop_words=["Seven"], stemmer=None))(text) == ["the", "steps"]
    assert terms_function(Settings(tokenizer="13a", stemmer=None))("The U.S. Flag.") == "U . S . Flag .".split()


@with_cases
def test_bad_settings_name_the_setting(setting, value):
    with pytest.raises(ValueError, match=f"^{setting}: expected .* got "):
        Settings(**{setting: value})


def test_signature_changes_with_every_setting():
    others = {"alpha": [0.1], "max_order": [3], "brevity": [2], "wordiness": [math.inf], "weights": [[0.9, 0.1]]}
    others |= {"stop_words": [None, ["a"], ["b"]], "stemmer": [None], "tokenizer": ["13a", str.split]}
    others |= {"reference_recall": ["best"]}
    changed = [{}, *({name: value} for name, values in others.items() for value in values)]
    assert len({tuple(Settings(**one).facts().items()) for one in changed}) == len(changed) == 13


def test_warnings_say_what_cannot_be_scored():
    def warned(predictions, references, **values):
        return warnings_for(statistics(predictions, references, Settings(**values)).sum(axis=0), Settings(**values))

    texts = ["Paris", "nothing here"], [["Berlin"], ["Rome"]]
    (too_long,) = warned(*texts)
    assert "the texts have no 2-grams, which are left out: this is AEv with N = 1" in too_long
    assert "no 2-grams, so the corpus score is 0" in warned(*texts, effective_order=False)[0]
    assert warned(["red car"], [["car"]])[0].startswith("the references have no 2-grams, so precision is 0;")
    assert warned(["car"], [["red car"]], brevity=math.inf)[0].startswith(
        "the answers have no 2-grams, so recall is 0;"
    )
    assert warned(["four steps"], [["four steps"]]) == []
    (unmatched,) = warned(["red car", "blue bus"], [["car red"], ["bus"]])
    assert unmatched.startswith("no 2-gram of an answer is in its reference, so the corpus score is 0 though words")
    assert warned(["red car", "blue bus"], [["green boat"], ["van"]]) == []
    assert warned(["red car", "blue bus"], [["car red"], ["bus"]], weights=[1, 0]) == []
    wordy = ["red car on a hill beside another blue car and big green trees"]  # 8 terms against 2: WP = exp(1 - 8 / 4)
    assert "the wordiness_penalty is 0.37" in warned(wordy, [["red car"]])[0]
    assert warned(wordy, [["red car"]], wordiness=math.inf) == []
    assert "the brevity_penalty is 0.05" in warned(["red car"], [wordy])[0]


@pytest.fixture(scope="module")
def aev(repository):
    return evaluate.load(str(repository / "metrics" / "aev"), keep_in_memory=True)


def test_figure_1_of_kpqa(aev):
    """Terms "seven step involv hypothesi test" and "four step involv hypothesi test": 4 of 5 words, 3 of 4 bigrams."""
    got = aev.compute(predictions=[FIGURE_1[0]], references=[FIGURE_1[1]])
    assert got["aev"] == pytest.approx(math.sqrt(4 / 5 * 3 / 4))


def test_a_reason_names_shared_words_and_why_they_score_nothing():
    answers = ["Six members can share it.", "None.", "Up to six people may."]
    rows = [{"prediction": text, "references": ["up to six people", "6"]} for text in answers]
    said = genqa_metrics.score(rows, "aev", explain=True).to_pandas()["aev_reason"].tolist()
    lengths = "it has {} words that count, the reference {}"
    no_pair = f"In common with a reference: 'Six'; no sequence of 2 words, so the score is 0; {lengths.format(3, 2)}."
    none = f"No word that counts is in a reference; {lengths.format(1, 1)}."
    assert said == [
        no_pair,
        none,
        f"In common with a reference: 'six', 'people'; {lengths.format(2, 2)}: precision 1.00, recall 0.82.",
    ]


def test_settings_of_load(repository, tmp_path):
    path = tmp_path / "fit.json"
    path.write_text('{"settings": {"alpha": 0.0, "max_order": 1, "stop_words": null}, "other": 1}')
    folder = str(repository / "metrics" / "aev")
    rows = {"predictions": ["what is it"], "references": ["what it was"]}
    loaded = evaluate.load(folder, settings=str(path)).compute(**rows)
    assert loaded == evaluate.load(folder).compute(**rows, alpha=0.0, max_order=1, stop_words=None)
    assert loaded["aev"] == pytest.approx(2 / 3)
    other = evaluate.load(folder, settings={"alpha": 1.0})
    assert other.compute(**rows, alpha=0.0, stop_words=None, max_order=1) == loaded
    with pytest.raises(ValueError, match="alpha: expected"):
        evaluate.load(folder, settings={"alpha": 2})
    with pytest.raises(ValueError, match=r"settings: expected a mapping or a JSON file, got 'none\.json'"):
        evaluate.load(folder, settings="none.json")
    with pytest.raises(TypeError, match="alhpa: not a setting of aev"):
        evaluate.load(folder, settings={"alhpa": 1})
