"""What wrong labels do to intervals; behind the marker `slow`. `tests/test_simulations.py` has right labels."""

import numpy as np
import pytest
from genqa_metrics.statistics.estimation import powered, question_sums

from tests.programs.label_simulations import simulated

pytestmark = pytest.mark.slow


def held(world, labels, truth, error):
    """Return the share of the repeats whose interval, wider by `error` on both sides, holds the truth."""
    labelled = np.where(world.labelled, labels, np.nan)
    result = powered(question_sums(world.judged, world.judged >= 0.5, labelled, world.chance, world.questions))
    return ((result.low - error <= truth + 1e-12) & (truth - 1e-12 <= np.minimum(result.high + error, 1))).mean()


@pytest.mark.parametrize("labels", [100, 300])
def test_wrong_labels(labels):
    """One label in ten is wrong: the intervals hold again when they are made wider by that share."""
    rng, shares = np.random.default_rng(labels), {0.0: [], 0.1: []}
    for accuracy in (0.9, 0.95):
        world = simulated("uniform", accuracy, 0.9, 0.9, labels, 200)
        wrong = np.where(rng.random(world.truth.shape) < 0.1, 1 - world.truth, world.truth)
        for error in shares:
            shares[error].append(held(world, wrong, accuracy, error))
    print(f"\n{labels} labels, one in ten wrong, accuracy 0.9 and 0.95: {np.round(shares[0.0], 3).tolist()}")
    print(f"made wider by 0.1: {np.round(shares[0.1], 3).tolist()}")
    assert np.mean(shares[0.0]) < 0.7
    assert min(shares[0.1]) > 0.95
