"""METEOR 1.5 as base: the paper's example, parity with pycocoevalcap, hostile texts, what is missing."""

import shutil
import subprocess
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from genqa_metrics.f_meta import bases
from genqa_metrics.f_meta.bases import base_function
from genqa_metrics.f_meta.scoring import statistics

from tests.test_f_meta import R1, R2, P

TEXTS = [P, R1, R2, "Who won the World Cup?", "what's the cat's name , then ?", "winning winners win", "x", "the of"]
TEXTS += ["a a a b a", "b a a", "It is 10,000.50 m.", "who is the one who wins who", "teacher lecturer"]
ONE_LINE = ["a\nb", "a\r\nb", "a \x0b\x0c b", "a\u2028b", "a\x85b", "a\tb", "a b"]
HOSTILE = ["a ||| b", "|||", "SCORE ||| a ||| b", "\x00", "😀 👩", "من فاز", "<seg> &amp; </seg>", "-norm", "\ufeffa"]

needs_java = pytest.mark.needs("Java")


@pytest.fixture(scope="module")
def scored():
    """Scores by pair, from one run of Java, because starting METEOR takes seconds."""
    pairs = [*product(TEXTS, TEXTS), *product(ONE_LINE, ["a b"]), *zip(HOSTILE, HOSTILE, strict=True), ("a", "")]
    predictions, references = map(list, zip(*pairs, strict=True))
    return dict(zip(pairs, base_function("meteor").pairs(predictions, references), strict=True))


@pytest.mark.slow
@needs_java
def test_example_of_the_paper(scored):
    """Appendix A: METEOR 0.3773 and F-METEOR 0.3516, as printed.

    u = s(p, r1) = 0.37736 and s(p, r2) = 0.28098, so v = (0.37736 + 0.28098) / 2 = 0.32917 and F = 0.35162. METEOR
    takes the best reference, so that the conventional score of one prediction is u.
    """
    base = replace(base_function("meteor"), pairs=lambda ps, rs: [scored[pair] for pair in zip(ps, rs, strict=True)])
    u, v, f, conventional = statistics([[P]], [[R1, R2]], base)[0]
    assert conventional == u == pytest.approx(0.3773, abs=1e-4)
    assert v == pytest.approx((0.3773598824 + 0.2809821541) / 2, abs=1e-9)
    assert round(f, 4) == 0.3516


@pytest.mark.slow
@needs_java
def test_pairs_equal_pycocoevalcap(scored, monkeypatch):
    from pycocoevalcap.meteor import meteor

    def popen(command, **options):  # a blank in its path hides the paraphrases unless they are named
        return subprocess.Popen([*command, "-a", "data/paraphrase-en.gz"], **options)

    monkeypatch.setattr(meteor, "subprocess", SimpleNamespace(Popen=popen, PIPE=subprocess.PIPE))
    pairs = list(product(TEXTS, TEXTS))
    predictions = {i: [prediction] for i, (prediction, _) in enumerate(pairs)}
    references = {i: [reference] for i, (_, reference) in enumerate(pairs)}
    expected = meteor.Meteor().compute_score(references, predictions)[1]
    found = [scored[pair] for pair in pairs]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    assert 0.1 < np.mean(np.array(found) > 0.1) < 0.9


@needs_java
def test_every_text_is_one_line(scored):
    assert {scored[text, "a b"] for text in ONE_LINE} == {scored["a b", "a b"]}
    assert scored["a", ""] == 0.0
    assert scored["a ||| b", "a ||| b"] > 0.5
    assert all(np.isfinite(score) and 0 <= score <= 1 for score in scored.values())


@needs_java
def test_a_failing_java_is_reported(monkeypatch, tmp_path):
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho 'Segment 1 score:\t0.5'\necho 'out of memory' >&2\nexit 3\n", encoding="utf-8")
    java.chmod(0o755)
    monkeypatch.setattr(bases.shutil, "which", lambda name: str(java))
    base = base_function("meteor")
    with pytest.raises(RuntimeError, match=r"status 3 after 1 of 2 pairs: out of memory"):
        base.pairs(["a", "b"], ["a", "b"])


@pytest.mark.parametrize("missing", ["java", "pycocoevalcap", "both"])
def test_what_is_missing_is_named(monkeypatch, missing):
    if missing != "pycocoevalcap":
        monkeypatch.setattr(bases.shutil, "which", lambda name: None)
    if missing != "java":
        monkeypatch.setattr(bases, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"genqa-metrics\[meteor\].*Java") as caught:
        base_function("meteor")
    not_found = str(caught.value).split("not found: ")[1]
    assert ("java" in not_found) == (missing != "pycocoevalcap" or shutil.which("java") is None)
    assert ("pycocoevalcap" in not_found) == (missing != "java")
