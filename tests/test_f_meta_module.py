"""The f_meta module of `evaluate`: loading, settings, other modules as bases, errors, batches."""

import evaluate
import genqa_metrics
import numpy as np
import pytest
from genqa_metrics.f_meta import bases
from genqa_metrics.f_meta.scorer import FMetaScorer

from tests.factories.cases import with_cases
from tests.test_f_meta import R1, R2, P, exact

PREDICTIONS = [[P, R1], ["what is it", "what is it", "why"], []]
REFERENCES = [[R1, R2], ["what is it ?", "why is it so ?", "who is it"], ["where"]]
NAMES = ["f_meta", "f_meta_precision", "f_meta_recall", "f_meta_conventional"]


@pytest.fixture(scope="module")
def path(repository):
    return str(repository / "metrics" / "f_meta")


@pytest.fixture
def f_meta(path):
    return evaluate.load(path)


@pytest.fixture(scope="module")
def expected(path):
    return evaluate.load(path).compute(predictions=PREDICTIONS, references=REFERENCES)


MODULE = """
import datasets

import evaluate

class {name}(evaluate.Metric):
    loads = []

    def _info(self):
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description="", citation="", inputs_description="", features=datasets.Features({features})
        )

    def _download_and_prepare(self, dl_manager):
        self.loads.append(1)

    def _compute(self, {inputs}, scale=1.0):
        {body}
"""


@pytest.fixture
def module(tmp_path):
    """A function that writes a module of `evaluate` and returns its folder."""

    def write(name, features, body, inputs="predictions, references"):
        folder = tmp_path / name.lower()
        folder.mkdir()
        script = MODULE.format(name=name, features=features, body=body, inputs=inputs)
        (folder / f"{name.lower()}.py").write_text(script, encoding="utf-8")
        return str(folder)

    return write


SINGLE = '{"predictions": text, "references": text}'
SEVERAL = '{"predictions": text, "references": datasets.Sequence(text)}'


def test_settings_of_the_paper(path):
    """ROUGE-L of tokenised text, and no counts: its example, see `test_example_of_the_paper_with_rouge`."""
    paper = evaluate.load(path, settings="paper")
    found = paper.compute(predictions=[[P]], references=[[R1, R2]])
    assert sorted(found) == sorted(NAMES)
    assert found["f_meta_recall"] == pytest.approx(0.5977347461, abs=1e-10)
    assert paper.signature().startswith("f_meta|base:rouge|beta:1.2|tok:whitespace|version:")
    rows = {"predictions": [["Who won?"]], "references": [["who won ?"]]}
    with pytest.warns(UserWarning, match="has no blank before it"):
        assert paper.compute(**rows)["f_meta"] == 0.0
    assert evaluate.load(path).compute(**rows, base="rouge")["f_meta"] == 1.0


def test_a_module_alone_is_lexical_without_onnxruntime_and_says_so(path, monkeypatch):
    monkeypatch.setattr(bases, "bundled", lambda: False)  # the package has the encoder, a module alone has none
    monkeypatch.setattr(bases, "find_spec", lambda name: None)
    metric = evaluate.load(path)
    found = metric.compute(predictions=PREDICTIONS, references=REFERENCES)
    start = "f_meta|base:rouge|beta:1.2|tok:word|instead:same_question (onnxruntime missing)|threshold:0.3|version:"
    assert metric.signature().startswith(start)
    assert found == evaluate.load(path).compute(predictions=PREDICTIONS, references=REFERENCES, base="rouge")


def test_explanation(f_meta):
    results = f_meta.compute(predictions=PREDICTIONS, references=REFERENCES, base=exact, explain=True)
    assert results["explanation"][0] == {
        "scores": [[0.0, 0.0], [1.0, 0.0]],
        "predictions": [P, R1],
        "references": [R1, R2],
        "best_match": {
            "predictions": [{"reference": 0, "score": 0.0}, {"reference": 0, "score": 1.0}],
            "references": [{"prediction": 1, "score": 1.0}, {"prediction": 0, "score": 0.0}],
        },
        "reason": f'Least covered, with 0.00, is "{R2}".',
    }
    assert [np.shape(context["scores"]) for context in results["explanation"]] == [(2, 2), (3, 3), (0,)]


@with_cases
def test_bad_settings_are_refused_before_any_row_is_lost(f_meta, expected, settings, message):
    signature = f_meta.signature()
    f_meta.add_batch(predictions=PREDICTIONS, references=REFERENCES)
    for given in (settings, {"base": exact, "base_key": "x"}):
        with pytest.raises(ValueError, match=message if given is settings else "base_key: "):
            f_meta.compute(**given)
    assert f_meta.signature() == signature
    assert f_meta.compute() == expected


def test_signature(f_meta):
    def signature(**settings):
        f_meta.compute(predictions=PREDICTIONS, references=REFERENCES, **settings)
        assert "\n" not in f_meta.signature()
        return f_meta.signature().rsplit("|version:", 1)[0]

    assert signature() == "f_meta|base:same_question|encoder:all-MiniLM-L6-v2@c7638b16f01c|threshold:0.5"
    assert signature(base="rouge") == "f_meta|base:rouge|beta:1.2|tok:word|threshold:0.3"
    assert signature(base=exact, threshold=1) == "f_meta|base:exact|threshold:1"
    assert signature(base="bleu", base_kwargs={"tokenizer": str.split}) == "f_meta|base:bleu|order:4|tok:str.split"
    assert signature(base=exact) == "f_meta|base:exact"


def test_a_module_with_one_reference_per_row(f_meta, module):
    body = 'return {"score": [scale * (p == r) for p, r in zip(predictions, references)], "mean": 0.5}'
    base = module("Exactly", SINGLE, body)
    half = f_meta.compute(predictions=PREDICTIONS, references=REFERENCES, base=base, base_kwargs={"scale": 0.5})
    assert f_meta.signature().startswith("f_meta|base:exactly|hash:")
    assert "|scale:0.5|" in f_meta.signature()
    whole = f_meta.compute(predictions=PREDICTIONS, references=REFERENCES, base=exact)
    assert half == {name: value / 2 for name, value in whole.items()}


def test_a_loaded_module_and_a_script_are_bases(f_meta, module):
    base = module("Script", SINGLE, 'return {"score": [float(p == r) for p, r in zip(predictions, references)]}')
    whole = f_meta.compute(predictions=PREDICTIONS, references=REFERENCES, base=exact)
    for same in (evaluate.load(base), f"{base}/script.py"):
        assert f_meta.compute(predictions=PREDICTIONS, references=REFERENCES, base=same) == whole


def test_a_module_with_several_references_keeps_its_own_rule(f_meta, module):
    """The module counts references, so the conventional score of a context is |R| and each pair scores 1."""
    base = module("Counting", SEVERAL, 'return {"score": [len(texts) for texts in references]}')
    results = f_meta.compute(predictions=PREDICTIONS, references=REFERENCES, base=base, per_example=True)
    assert results["f_meta_precision_per_example"] == [1.0, 1.0, 0.0]
    assert results["f_meta_conventional_per_example"] == [2.0, 3.0, 0.0]


def test_aev_is_a_base(f_meta, repository):
    aev = str(repository / "metrics" / "aev")
    settings = {"base_kwargs": {"per_example": True, "alpha": 1.0}, "base_key": "aev_per_example"}
    results = f_meta.compute(predictions=[[P, "why"]], references=[[R1, R2]], base=aev, explain=True, **settings)
    pairs = {"predictions": [P, P, "why", "why"], "references": [R1, R2, R1, R2]}
    direct = evaluate.load(aev).compute(**pairs, per_example=True, alpha=1.0)
    assert np.ravel(results["explanation"][0]["scores"]).tolist() == direct["aev_per_example"]
    assert f_meta.signature().startswith("f_meta|base:aev|hash:")
    assert f_meta.signature().split("|version:")[0].endswith("|per_example:True|alpha:1.0|key:aev_per_example")


def test_which_result_is_the_score(f_meta, module):
    body = 'return {"first": [1.0] * len(predictions), "second": [0.5] * len(predictions), "mean": 0.5, "text": "ab"}'
    base = module("Two", SINGLE, body)
    rows = {"predictions": [["a", "b"]], "references": [["c"]], "base": base}
    assert f_meta.compute(**rows, base_key="second")["f_meta"] == 0.5
    with pytest.raises(ValueError, match=r"base_key: None .*'first', 'mean', 'second', 'text'.*\['first', 'second'\]"):
        f_meta.compute(**rows)
    with pytest.raises(ValueError, match=r"base_key: 'mean' .*use_aggregator"):
        f_meta.compute(**rows, base_key="mean")
    with pytest.raises(ValueError, match=r"base_key: 'third' "):
        f_meta.compute(**rows, base_key="third")
    assert f_meta.compute(**rows, base_key="first")["f_meta"] == 1.0


@with_cases
def test_modules_that_do_not_score_pairs_of_texts(f_meta, module, features, inputs):
    base = module("Other", features, 'return {"score": [1.0] * len(predictions)}', inputs)
    with pytest.raises(ValueError, match="base 'other': expected a module with the inputs predictions and references"):
        f_meta.compute(predictions=[["a"]], references=[["a"]], base=base)


@with_cases
def test_text_that_is_not_in_tokens_is_warned_of(question, settings, warned):
    scorer = FMetaScorer(**settings)
    columns = {"predictions": [["who won ?"], ["when ?"]], "references": [[question, "when ?"], ["when ?"]]}
    said = scorer.warnings({}, scorer.all_counts(columns, scorer.statistics(columns)))
    assert [text.startswith('a "?" has no blank before it in 1 row: ') for text in said] == [True] * warned


def test_score_says_how_many_references_every_system_asks():
    sets = {"one": ["Who won?", "Who won it?"], "two": ["Who won?", "Why?"]}
    rows = [{"references": ["who won ?", "why ?", "when ?"], "predictions": sets}]
    settings = {"f_meta": {"base": "rouge", "threshold": 0.5}}
    asked, covered = genqa_metrics.score(rows, "f_meta", settings=settings).notes
    assert asked == "reference questions asked: one 1 of 3 (1 repeat), two 2 of 3"
    assert covered.endswith("covered counts each reference question once, from a similarity of 0.5 on")
