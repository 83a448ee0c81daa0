"""Tools that report home must not, and no test reaches a network. No fixture of the other tests is needed here."""

import os
import socket

import pytest

os.environ |= {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_UPDATE_WARNING_OPT_IN": "0",
    "DO_NOT_TRACK": "1",
    "HF_EVALUATE_OFFLINE": "1",
    "HF_HUB_OFFLINE": "1",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "RAGAS_DO_NOT_TRACK": "true",
    "WANDB_ERROR_REPORTING": "false",
    "WANDB_MODE": "offline",
}

QUESTION = "How many steps are involved in a hypothesis test?"
ROWS = [
    {"question": QUESTION, "prediction": "Four steps are involved.", "references": ["Four steps are involved in it."]},
    {"question": QUESTION, "prediction": "There are seven steps.", "references": ["Four steps are involved in it."]},
    {"question": "Who wrote Hamlet?", "prediction": "It was Shakespeare.", "references": ["William Shakespeare"]},
    {"question": "Where is the Louvre?", "prediction": "", "references": ["Paris"]},
]


@pytest.fixture(scope="session")
def rows():
    """Rows of answers; the first two are to one question, the second and the last are wrong."""
    return [dict(row) for row in ROWS]


@pytest.fixture(scope="session")
def expected():
    """What AVA says of the rows."""
    from genqa_metrics.integrations.common import RowScorer

    columns = ([row[name] for row in ROWS] for name in ("question", "prediction", "references"))
    found = RowScorer("ava")(*columns)
    assert [result.correct for result in found] == [True, False, True, False]
    assert found[1].reason == '"seven" instead of "Four".'
    return found


@pytest.fixture(scope="session")
def grounded():
    """Rows with passages and what `grounding` says of them: an answer that is supported, and one that is not.

    Its judge compares words here.
    """
    from genqa_metrics.integrations.common import RowScorer

    from tests.factories.grounding import use_word_judge

    passages = ["The old bridge has a length of 120 metres.", "Roses need much sun."]
    answers = ["The bridge has 120 metres.", "The bridge was painted by Ann Lee."]
    rows = [{"question": "What of the bridge?", "prediction": text, "contexts": passages} for text in answers]
    columns = ([row[name] for row in rows] for name in ("question", "prediction", "contexts"))
    with pytest.MonkeyPatch.context() as patch:
        use_word_judge(patch)
        found = RowScorer("grounding")(*columns)
        assert [(result.score, result.correct) for result in found] == [(1.0, True), (0.0, False)]
        yield rows, found


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    connect = socket.socket.connect

    def local(self, address):
        if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise OSError(f"no network in tests: {address}")
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", local)
