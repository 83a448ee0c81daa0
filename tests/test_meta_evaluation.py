"""The page of all metrics and their peers on human judgments: made from small files, twice."""

import json

import numpy as np
import pytest

from tests.factories.modules import run_program
from training.common import write_rows
from training.studies.meta_evaluation import measure as meta

QUESTIONS = ("who", "when did", "why does", "where is", "what is")


def made_up(number_of_questions, systems, labels, seed):
    rng = np.random.default_rng(seed)
    words = [f"word{n}" for n in range(30)]
    rows = []
    for number in range(number_of_questions):
        reference = rng.choice(words, 5, replace=False).tolist()
        for system in systems:
            kept = int(rng.integers(0, 6))
            answer = reference[:kept] + rng.choice(words, 5 - kept).tolist()
            score = float(np.clip(kept / 5 + 0.1 * rng.normal(), 0, 1))
            row = {"id": f"{number}-{system}", "question": f"{QUESTIONS[number % 5]} number {number}", "extra": {}}
            row |= {"references": [" ".join(reference), "something else"], "candidate": " ".join(answer)}
            row |= {"score": score, "label": int(score > 0.5) if labels else None}
            rows.append(row | {"system": system, "source": "made up"})
    return rows


@pytest.fixture
def judgments(tmp_path):
    folder = tmp_path / "judgments"
    sets = {
        "kpqa_marco": made_up(60, ["UniLM", "MHPGM"], False, 0),
        "evouna_nq": made_up(40, ["a", "b", "c"], True, 1),
        "own": made_up(12, [None], False, 2),
    }
    for name, rows in sets.items():
        write_rows(folder / f"{name}.dev.jsonl.gz", rows)
    return folder


def run(monkeypatch, folder, output, *arguments):
    options = ["--peers", "squad", "bleu", "rouge", "--ours", "aev", "aev_content", "--resamples", "100"]
    options += ["--output", str(output), "--json", str(output / "results/meta_evaluation.json")]
    run_program(monkeypatch, meta, ["meta_evaluation.py", "--judgments", str(folder), *options, *arguments])


def test_page_and_second_run(monkeypatch, capsys, judgments, tmp_path):
    output = tmp_path / "out"
    run(monkeypatch, judgments, output)
    results = json.loads((output / "results" / "meta_evaluation.json").read_text())
    assert list(results["sets"]) == ["kpqa_marco", "evouna_nq", "own"]
    page = capsys.readouterr().out
    for figure in meta.FIGURES:
        assert meta.drawn(figure, results).startswith("<svg")
    assert (output / "results/meta_curves_evouna_nq.svg").read_text().startswith("<svg")
    assert str(tmp_path) not in page + json.dumps(results)
    # What follows the overlap of words is close to the humans here; exact match sees nothing.
    found = results["sets"]["kpqa_marco"]
    assert found["metrics"]["BLEU-1"]["pearson"]["value"] > 0.8
    assert found["metrics"]["SQuAD EM"]["pearson"]["value"] < found["metrics"]["SQuAD F1"]["pearson"]["value"]
    pairs, types = found["rank_pairs"], found["groups"]["question type"]
    assert pairs["pairs"] > 5
    assert pairs["metrics"]["BLEU-1"]["value"] > 0.9 > pairs["metrics"]["SQuAD EM"]["value"]
    assert sum(group["rows"] for group in types.values()) == found["rows"]
    assert set(found["groups"]["system"]) == {"UniLM", "MHPGM"}
    best = found["best_and_rest"]["pearson"]
    assert best["best"] == max(found["metrics"], key=lambda title: found["metrics"][title]["pearson"]["value"])
    assert set(best["rest"]) == set(found["metrics"]) - {best["best"]}
    assert best["rest"]["SQuAD EM"]["permutation_p_holm"] >= best["rest"]["SQuAD EM"]["permutation_p"]

    before = {path: path.read_bytes() for path in output.rglob("*") if path.is_file()}
    for name in ("squad", "bleu", "rouge"):
        signature, _ = meta.PEERS[name]
        monkeypatch.setitem(meta.PEERS, name, (signature, lambda rows: pytest.fail("computed again")))
    run(monkeypatch, judgments, output)
    assert {path: path.read_bytes() for path in output.rglob("*") if path.is_file()} == before


ROWS = [
    {"question": "q", "candidate": "the big cat sat", "references": ["a cat sat", "dogs ran off today"]},
    {"question": "q", "candidate": "yes", "references": ["no", "Yes."]},
    {"question": "q", "candidate": "nothing shared", "references": ["other words"]},
]


def test_peers_by_hand():
    """Row 0: SQuAD drops articles, big cat sat against cat sat: P 2/3, R 1, F1 0.8.

    BLEU-1: "cat" and "sat" of 4 tokens match, the closest reference has 4 tokens: 0.5. ROUGE-L: cat sat of 4 and of 3
    tokens: P 1/2, R 2/3, F1 4/7. Row 1: the second reference is the same but for case and the full stop; to BLEU,
    which minds the case, it is another word.
    """
    squad = meta.squad(ROWS)
    assert squad["SQuAD F1"] == pytest.approx([0.8, 1, 0], abs=1e-6)
    assert squad["SQuAD EM"] == [0, 1, 0]
    assert meta.bleu(ROWS)["BLEU-1"] == pytest.approx([0.5, 0, 0], abs=1e-9)
    assert meta.rouge(ROWS)["ROUGE-L"] == pytest.approx([4 / 7, 1, 0])


@pytest.mark.slow
@pytest.mark.needs("Java")
def test_peers_of_java_and_of_the_encoder():
    """No arithmetic by hand here: the same text is best, nothing in common is worst, the best reference counts."""
    rows = [*ROWS, {"question": "q", "candidate": "a cat sat", "references": ["dogs ran", "a cat sat"]}]
    for peer in (meta.meteor, meta.bertscore, meta.cosine):
        (scores,) = peer(rows).values()
        assert scores[3] == pytest.approx(1, abs=1e-5)
        assert scores[3] > scores[0] > scores[2]
    (cider,) = meta.cider(rows).values()
    assert cider[3] > cider[0] > cider[2] == 0
    empty = [{"question": "q", "candidate": "", "references": ["a cat"]}, rows[3]]
    assert meta.bertscore(empty)["BERTScore"] == pytest.approx([0, 1], abs=1e-5)
