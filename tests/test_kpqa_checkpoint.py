"""The bundled checkpoint: small, found by itself, and close to human judgments."""

from pathlib import Path

import evaluate
import numpy as np
import pytest
from genqa_metrics.kpqa.encoding import Encoder
from genqa_metrics.kpqa.loading import load_models
from genqa_metrics.statistics import correlation as agreement

from tests.factories.cases import tables, with_cases
from training.kpqa import evaluate_kpqa

FOLDER = Path(__file__).parent.parent
QUESTION = "How many steps are involved in a hypothesis test?"

# Pearson and Spearman of the best KPQA variant, a little below what the card of the checkpoint reports
AGREEMENT = tables(__name__)["agreement"]


@pytest.fixture(scope="module")
def kpqa():
    return evaluate.load(str(FOLDER / "metrics/kpqa/kpqa.py"), keep_in_memory=True, progress=False, device="cpu")


def scored(kpqa, question, prediction, reference, **settings):
    return kpqa.compute(questions=[question], predictions=[prediction], references=[reference], **settings)


def test_figure_1(kpqa):
    texts = "There are seven steps involved in a hypothesis test.", "Four steps are involved in a hypothesis test."
    scores = scored(kpqa, QUESTION, *texts, explain=True)
    assert scores["bleu1_kpqa"] < 0.2 < 0.7 < scores["bleu1"]
    assert scores["rougeL_kpqa"] < 0.2 < 0.7 < scores["rougeL"]
    weights = {piece: weight for piece, weight, _, _ in scores["explanation"][0]["prediction"]}
    assert max(weights, key=weights.get) == "seven"


def test_the_same_answer_to_another_question(kpqa):
    """Who and when ask for different words of one sentence."""
    answer = "Anna Miller won the prize in 1911."
    explained = kpqa.compute(
        questions=["Who won the prize?", "When did Anna Miller win the prize?"],
        predictions=[answer] * 2,
        references=[answer] * 2,
        explain=True,
    )["explanation"]
    heaviest = [max(row["prediction"], key=lambda piece: piece[1])[0] for row in explained]
    assert heaviest[0] in ("Anna", "Miller")
    assert heaviest[1] == "1911"


def test_yes_and_no_are_keyphrases(kpqa):
    texts = "no , he is not alone in the room .", "yes , he is alone in the room ."
    scores = scored(kpqa, "Is he alone in the room?", *texts)
    assert scores["rougeL_kpqa"] < 0.3 < 0.7 < scores["rougeL"]


@with_cases
def test_a_denied_answer_is_wrong(kpqa, question, prediction, reference):
    scores = scored(kpqa, question, prediction, reference)
    assert max(scores["bleu1_kpqa"], scores["rougeL_kpqa"], scores["bertscore_kpqa"]) < 0.4
    assert scored(kpqa, question, prediction, prediction)["rougeL_kpqa"] == pytest.approx(1)


IN_SECONDS = ("kpqa_marco", "kpqa_semeval")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in IN_SECONDS else pytest.mark.slow) for name in AGREEMENT]
)
def test_agreement_with_human_judgments(kpqa, shared_data, name):
    (judged,) = evaluate_kpqa.read_judgments(str(shared_data / "judgments"), [name]).values()
    scores = evaluate_kpqa.metric_scores(judged.rows, Encoder(load_models(device="cpu")))
    found = {
        metric: (agreement.pearson(values, judged.human), agreement.spearman(values, judged.human))
        for metric, values in scores.items()
    }
    best = np.max([found[metric] for metric in found if metric.endswith("_kpqa")], axis=0)
    assert (best >= AGREEMENT[name]).all(), found
    if name == "kpqa_marco":
        for metric in ("bleu1", "rougeL", "bertscore"):
            assert found[f"{metric}_kpqa"][0] >= found[metric][0] + 0.10
