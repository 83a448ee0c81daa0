"""What is measured of generated questions in the study of F-meta: arrays in, numbers and findings out."""

import sys
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from genqa_metrics.f_meta import scoring
from genqa_metrics.f_meta.bases import PAPER, base_function
from genqa_metrics.f_meta.overlap import MAX_ORDER, bleu_counts

from training.resampling import bootstrap, interval

MODELS = {"baseline": 0, "cvae_25": 25, "cvae_50": 50, "cvae_100": 100}  # name -> size of the latent variable
SYSTEMS = {  # name -> model, beams that a question is drawn from
    "baseline": ("baseline", 1),
    "cvae_25": ("cvae_25", 1),
    "cvae_50": ("cvae_50", 1),
    "cvae_100": ("cvae_100", 1),
    "baseline_rbs": ("baseline", 2),
    "cvae_100_rbs": ("cvae_100", 2),
}
BASES = {"meteor": "METEOR 1.5", "rouge": "ROUGE-L", "bleu": "BLEU-4", "cosine": "encoder cosine"}
PARTS = ("precision", "recall", "f", "conventional")  # in the order of f_meta.scoring.NAMES
DIVERSITY = ("distinct_1", "distinct_2", "self_bleu", "different")
NEEDED = ("baseline", "cvae_100")  # the models that every study has
PAIRS = (  # differences that the paper's findings are about
    ("cvae_25", "baseline"),
    ("cvae_50", "baseline"),
    ("cvae_100", "baseline"),
    ("cvae_50", "cvae_25"),
    ("cvae_100", "cvae_50"),
    ("baseline_rbs", "baseline"),
    ("cvae_100_rbs", "cvae_100"),
)


def systems_of(models: Collection[str]) -> tuple[str, ...]:
    """Return the systems that some models make, in the order of `SYSTEMS`.

    >>> systems_of(["baseline"])
    ('baseline', 'baseline_rbs')
    """
    return tuple(system for system, (model, _) in SYSTEMS.items() if model in models)


def pairs_of(systems: Collection[str]) -> list[tuple[str, str]]:
    """Return the pairs of `PAIRS` of which both systems are there."""
    return [pair for pair in PAIRS if set(pair) <= set(systems)]


def base_of(name: str):
    """Return a base by its name in `BASES`; the cosine is that of sentence vectors of the bundled encoder."""
    if name not in BASES:
        raise ValueError(f"bases: expected some of {', '.join(BASES)}, got {name!r}")
    return base_function(name, PAPER if name in ("rouge", "bleu") else None)


def diversity(questions: Sequence[Sequence[str]]) -> np.ndarray:
    """Return (contexts, 4): how different the questions of a context are, see `DIVERSITY`; NaN for fewer than two.

    distinct-n is the share of a context's n-grams that are different (Li et al. 2016), self-BLEU the mean BLEU-4 of a
    question against the others of its context (Zhu et al. 2018), the last the share of questions that are different.

    >>> diversity([["who won the cup ?"] * 2, ["who won ?"]]).round(2).tolist()
    [[0.5, 0.5, 1.0, 0.5], [nan, nan, nan, nan]]
    """
    rows = [(i, j) for i, texts in enumerate(questions) if len(texts) > 1 for j in range(len(texts))]
    result = np.full((len(questions), len(DIVERSITY)), np.nan)
    if not rows:
        return result
    others = [[*questions[i][:j], *questions[i][j + 1 :]] for i, j in rows]
    scores = base_function("bleu", PAPER).multiple([questions[i][j] for i, j in rows], others)
    self_bleu = np.bincount([i for i, _ in rows], scores, len(questions))
    for i in dict.fromkeys(i for i, _ in rows):
        words = [text.split() for text in questions[i]]
        for column, n in ((0, 1), (1, 2)):
            grams = [tuple(w[k : k + n]) for w in words for k in range(len(w) - n + 1)]
            result[i, column] = len(set(grams)) / max(len(grams), 1)
        result[i, 2] = self_bleu[i] / len(words)
        result[i, 3] = len(set(questions[i])) / len(questions[i])
    return result


def corpus_bleu(sums: np.ndarray) -> np.ndarray:
    """Return corpus BLEU-4 without smoothing, of (..., 10) matches and n-grams of orders 1 to 4, and lengths.

    >>> round(float(corpus_bleu(np.array([7, 5, 3, 1, 7, 6, 5, 4, 7.0, 6.0]))), 4)
    0.5946
    """
    matches, ngrams, length, reference_length = sums[..., :4], sums[..., 4:8], sums[..., 8], sums[..., 9]
    precision = np.prod(matches / np.maximum(ngrams, 1e-9), axis=-1) ** 0.25
    return precision * np.exp(np.minimum(0, 1 - reference_length / np.maximum(length, 1e-9)))


def statistics_of(generated: Mapping[int, Mapping[str, list]], contexts: Sequence, bases: Sequence[str]) -> dict:
    """Return (contexts, systems, seeds, k) of every base (`PARTS`), "corpus" (first questions) and "diversity".

    Systems, of seed -> system -> questions of every context, are in the order of `SYSTEMS`. One that has fewer seeds
    than others is put down several times with each, so that its mean is that of its own seeds; one that has none is
    left out.
    """
    seeds = list(generated)
    trained = {system: [seed for seed in seeds if system in generated[seed]] for system in SYSTEMS}
    names = [system for system in SYSTEMS if trained[system]]
    columns = [
        generated[trained[system][k % len(trained[system])]][system] for system in names for k in range(len(seeds))
    ]
    references = [list(context.references) for context in contexts]
    predictions = [list(questions) for column in columns for questions in column]
    shape = len(names), len(seeds), len(contexts), -1
    statistics = {}
    for name in bases:  # one call: a pair that several systems ask is scored once, Java starts once
        print(f"scoring with {name}", file=sys.stderr, flush=True)
        statistics[name] = scoring.statistics(predictions, references * len(columns), base_of(name))
    matches, length, wanted = bleu_counts(str.split, [texts[0] for texts in predictions], references * len(columns))
    ngrams = np.maximum(length[:, None] - np.arange(MAX_ORDER), 0)
    statistics["corpus"] = np.column_stack([matches, ngrams, length, wanted]).astype(float)
    statistics["diversity"] = diversity(predictions)
    return {name: np.moveaxis(rows.reshape(shape), 2, 0) for name, rows in statistics.items()}


def resampled_means(rows: np.ndarray, samples: int, seed: int, names: Sequence[str] = tuple(SYSTEMS)) -> np.ndarray:
    """Return (samples, systems, k) means of (contexts, systems, seeds, k) in bootstrap samples of contexts and seeds.

    Systems share the contexts, and those of one model the seeds, so that their differences are paired.
    """
    contexts, systems, seeds, k = rows.shape
    flat = rows.reshape(contexts, systems * seeds, k)
    sums = bootstrap({"sums": lambda counts: np.tensordot(counts, flat, 1)}, contexts, samples, seed)["sums"]
    sums = sums.reshape(samples, systems, seeds, k)
    rng = np.random.default_rng([seed, 2])
    draws = {model: rng.integers(seeds, size=(samples, seeds)) for model in MODELS}
    chosen = np.stack([draws[model] for model, _ in map(SYSTEMS.get, names)], axis=1)[..., None]
    return np.take_along_axis(sums, chosen, axis=2).mean(axis=2) / contexts


def report_of(
    statistics: Mapping[str, np.ndarray], kept: np.ndarray, samples: int, names: Sequence[str] = tuple(SYSTEMS)
) -> dict:
    """Return scores of the (contexts,) kept, and differences of `pairs_of`, with 95% intervals."""

    def rounded(numbers: np.ndarray) -> list[float]:
        return [round(float(number), 5) for number in numbers]

    report: dict = {"contexts": int(kept.sum()), "systems": {name: {} for name in names}, "differences": {}}
    for base, base_rows in statistics.items():
        rows = base_rows[kept & ~np.isnan(base_rows).any(axis=(1, 2, 3))]
        if not len(rows):
            continue
        means, resampled = rows.mean(axis=(0, 2)), resampled_means(rows, samples, 0, names)
        if base == "corpus":
            means, low, high = corpus_bleu(means), *interval(corpus_bleu(resampled), len(rows))
            for system, bleu, *ends in zip(names, means, low, high, strict=True):
                report["systems"][system][base] = {"bleu": round(float(bleu), 5), "interval": rounded(ends)}
            continue
        score_names, ends = DIVERSITY if base == "diversity" else PARTS, np.stack(interval(resampled, len(rows)))
        for i, system in enumerate(names):
            intervals = {score: rounded(ends[:, i, j]) for j, score in enumerate(score_names)}
            entry = dict(zip(score_names, rounded(means[i]), strict=True))
            report["systems"][system][base] = entry | {"intervals": intervals}
        report["differences"][base] = {}
        for first, second in pairs_of(names):
            a, b = list(names).index(first), list(names).index(second)
            change = np.stack([means[a] - means[b], *interval(resampled[:, a] - resampled[:, b], len(rows))])
            changes = {score: rounded(change[:, j]) for j, score in enumerate(score_names)}
            report["differences"][base][f"{first} - {second}"] = changes
    return report


def findings(report: Mapping) -> dict[str, dict]:
    """Return {base: {finding of the paper: whether it is reproduced}}, without findings about missing models.

    "flat": the conventional score of CVAE 100 differs from the baseline's by a smaller share of it than F does.
    "recall_and_f_rise": recall and F of every CVAE are above the baseline's, with intervals above 0. "rise_with_d":
    recall and F of CVAE 25, 50, 100 rise; "..._surely" with intervals above 0. "rbs_adds": recall and F with random
    beam selection are above those without, for both, with intervals above 0.
    """
    result = {}
    more = [f"cvae_{d} - baseline" for d in (25, 50, 100)]
    larger = ["cvae_50 - cvae_25", "cvae_100 - cvae_50"]
    beams = ["baseline_rbs - baseline", "cvae_100_rbs - cvae_100"]
    for base, differences in report["differences"].items():
        if base == "diversity":
            continue
        start, most = report["systems"]["baseline"][base], differences["cvae_100 - baseline"]
        change = {score: abs(most[score][0]) / max(start[score], 1e-9) for score in ("conventional", "f")}
        least = {  # pair -> the smaller one of the changes of recall and F, and of the lower ends of their intervals
            pair: [min(change_of_pair[score][position] for score in ("recall", "f")) for position in (0, 1)]
            for pair, change_of_pair in differences.items()
        }
        result[base] = {
            "flat": change["conventional"] < change["f"],
            "recall_and_f_rise": all(least[pair][1] > 0 for pair in more if pair in least),
            "rbs_adds": all(least[pair][1] > 0 for pair in beams),
        }
        if set(larger) <= set(least):
            for position, name in enumerate(("rise_with_d", "rise_with_d_surely")):
                result[base][name] = all(least[pair][position] > 0 for pair in larger)
    return result
