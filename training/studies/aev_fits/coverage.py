"""How often the bootstrap interval of a corpus AEv holds the truth, at the kink of the brevity penalty and elsewhere.

    python -m training.studies.aev_fits.coverage

Answers and references are drawn with lengths whose ratio is known, and the truth is the score of two million rows.
"""

from dataclasses import dataclass

import numpy as np
from genqa_metrics.aev.scoring import Settings, scores
from genqa_metrics.statistics.resampling import interval
from scipy.stats import norm

from training.common import option
from training.studies.harness import Output, Study

ROWS = 200
# Share of answers that are two words longer (above 0) or shorter, and B of the brevity penalty.
WORLDS = ((-0.6, 1.0), (-0.15, 1.0), (0.0, 1.0), (0.15, 1.0), (0.6, 1.0), (0.0, float("inf")))


@dataclass
class Arguments(Output):
    """How much is drawn."""

    worlds: int = option("sets of rows of every kind", 600)
    samples: int = option("bootstrap samples of a set", 300)
    seed: int = option("of the random numbers", 0)


def drawn(rng: np.random.Generator, rows: int, shift: float) -> np.ndarray:
    """Return statistics of rows, see `scoring.row_statistics`: references of 2 words or more, answers up to 4 off."""
    references = rng.poisson(8, rows) + 2
    changed = (rng.random(rows) < abs(shift)) * int(np.sign(shift)) * 2
    answers = np.maximum(1, references + rng.integers(-4, 5, rows) + changed)
    matches = rng.binomial(np.minimum(answers, references), 0.6)
    return np.stack([answers, references, matches, answers, matches, references], axis=1)


def covered(shift: float, brevity: float, arguments: Arguments) -> dict:
    """Return the ratio of lengths, the shares of intervals that hold the truth, and of truths below and above.

    "basic" and "corrected" are two other kinds of interval: the percentiles mirrored at the score, and percentiles
    shifted by the share of resampled scores below it (Efron's bias-corrected interval).
    """
    rng = np.random.default_rng([arguments.seed, round(100 * (shift + 1))])
    settings = Settings(alpha=1.0, max_order=1, brevity=brevity)
    everything = drawn(rng, 2_000_000, shift).sum(axis=0)
    truth = float(scores(everything, settings)["aev"])
    found = []
    for _ in range(arguments.worlds):
        rows = drawn(rng, ROWS, shift)
        counts = rng.multinomial(ROWS, np.full(ROWS, 1 / ROWS), arguments.samples)
        resampled, score = scores(counts @ rows, settings)["aev"], float(scores(rows.sum(axis=0), settings)["aev"])
        low, high = interval(resampled, ROWS)
        bias = norm.ppf(np.clip(((resampled < score).mean() + (resampled <= score).mean()) / 2, 0.001, 0.999))
        start, end = np.quantile(resampled, norm.cdf(2 * bias + norm.ppf([0.025, 0.975])))
        mirrored = 2 * score - high <= truth <= 2 * score - low
        found.append((low <= truth <= high, truth < low, truth > high, mirrored, start <= truth <= end))
    names = ("inside", "below", "above", "basic", "corrected")
    ratio = round(float(everything[0] / everything[1]), 3)
    return {"ratio": ratio, "brevity": brevity} | dict(
        zip(names, np.mean(found, axis=0).round(4).tolist(), strict=True)
    )


def table(result: dict) -> str:
    """Return the shares of all worlds."""
    header = ["answers / references in length", "brevity penalty", "interval holds the truth", "truth below it"]
    header += ["truth above it", "basic interval", "bias-corrected"]
    lines = [f"| {' | '.join(header)} |", "|---" * len(header) + "|"]
    for one in result["coverage"]:
        penalty = "B = 1" if float(one["brevity"]) == 1 else "off"
        shares = " | ".join(f"{100 * one[name]:.1f}%" for name in list(one)[2:])
        lines.append(f"| {one['ratio']:.2f} | {penalty} | {shares} |")
    return "\n".join(lines)


def study(args: Arguments) -> dict:
    """Return the coverage in all worlds."""
    found = [covered(*world, args) for world in WORLDS]
    facts = {"rows": ROWS, "worlds": args.worlds, "samples": args.samples, "seed": args.seed}
    return facts | {"coverage": [{**one, "brevity": str(one["brevity"])} for one in found]}


STUDY = Study(__spec__.name, Arguments, study, table, {"coverage": "coverage"})

if __name__ == "__main__":
    STUDY.main()
