"""The statistics of `accuracy` beside those of TRUESCORE, on the same labelled file and on repeated draws of it.

    pip install truescore==0.7.4
    python -m tests.programs.benchmarks.compare_truescore --output tests/programs/benchmarks/results/truescore.md

The file is made here from a seed, so the truth is known: two systems answer 1,000 questions of three topics, a judge
accepts 93% of the correct answers and rejects 80% of the wrong ones, and people label some questions, drawn by chance,
for both systems. Both packages get the same verdicts and labels.
"""

import argparse
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import genqa_metrics
import numpy as np
import pandas
from genqa_metrics.statistics.estimation import paired_difference, prediction_powered
from genqa_metrics.statistics.judge_errors import rogan_gladen

from training.common import markdown_table

QUESTIONS, LABELS, REPEATS = 1000, (30, 100, 300), 500
TOPICS = {"law": 0.1, "medicine": 0.0, "history": -0.1}  # added to the accuracy of both systems
ACCURACY = {"a": 0.75, "b": 0.65}
SENSITIVITY, SPECIFICITY = 0.93, 0.80
TARGETS = {"accuracy": ACCURACY["a"], "difference": ACCURACY["a"] - ACCURACY["b"]}  # of all questions like these

Numbers = tuple[float, float, float]


def world(rng: np.random.Generator, labels: int) -> dict[str, np.ndarray]:
    """Return arrays of (questions,) topics and labelled places, and of (systems, questions) truth and verdicts."""
    topics = rng.integers(len(TOPICS), size=QUESTIONS)
    hard = rng.random(QUESTIONS)
    shift = np.array(list(TOPICS.values()))[topics]
    truth = np.stack([hard < accuracy + shift for accuracy in ACCURACY.values()])
    accepted = np.where(truth, SENSITIVITY, 1 - SPECIFICITY)
    verdicts = rng.random(truth.shape) < accepted
    known = np.sort(rng.permutation(QUESTIONS)[:labels])
    return {"topics": topics, "truth": truth.astype(float), "verdicts": verdicts.astype(float), "known": known}


def rows_of(made: dict[str, np.ndarray]) -> list[dict]:
    """Return the rows of a world, one per answer; the label is empty where no one labelled it."""
    known, names = set(made["known"].tolist()), list(TOPICS)
    return [
        {
            "question": f"Question {place}?",
            "prediction": f"answer {place} of {system}",
            "references": f"reference {place}",
            "system": system,
            "topic": names[made["topics"][place]],
            "judge": int(made["verdicts"][number, place]),
            "label": int(made["truth"][number, place]) if place in known else "",
        }
        for number, system in enumerate(ACCURACY)
        for place in range(QUESTIONS)
    ]


def ours(path: Path) -> dict[str, Numbers]:
    """Return value, low and high of every quantity, by genqa-metrics."""
    report = genqa_metrics.accuracy(str(path), str(path), {"judge": "judge"}, by="topic", on_error="skip")
    found = {f"accuracy of {name}": _ends(values) for name, values in report.systems.items()}
    pair = report.differences[0]["difference"]
    found["a - b"] = pair["value"], pair["low"], pair["high"]
    return found | {f"a, {topic}": _ends(systems["a"]) for topic, systems in report.slices.items()}


def _ends(values: dict) -> Numbers:
    return values["accuracy"], values["low"], values["high"]


def theirs(path: Path) -> dict[str, Numbers]:
    """Return the same by TRUESCORE."""
    import truescore
    from truescore.io import load_labels, read_rows

    rows = read_rows(path)
    own = {name: [row for row in rows if row["system"] == name] for name in ACCURACY}
    read = {name: load_labels(some, judge="judge", gold="label") for name, some in own.items()}
    found = {}
    for name, labels in read.items():
        estimate = truescore.ppi_estimate(labels.judge, labels.gold, labels.gold_index)
        found[f"accuracy of {name}"] = estimate.point, estimate.low, estimate.high
    a, b = read["a"], read["b"]
    pair = truescore.ppi_compare(a.judge, b.judge, a.gold, b.gold, a.gold_index)
    found["a - b"] = pair.difference, pair.low, pair.high
    sliced = truescore.estimate_slices(a.judge, a.gold, a.gold_index, [row["topic"] for row in own["a"]])
    for entry in sliced.estimates:
        estimate = entry.corrected
        found[f"a, {entry.name}"] = (estimate.point, estimate.low, estimate.high) if estimate else (np.nan,) * 3
    return found


def truths(made: dict[str, np.ndarray]) -> dict[str, float]:
    """Return the true values of these quantities in these rows."""
    means = made["truth"].mean(axis=1)
    found = {"accuracy of a": means[0], "accuracy of b": means[1], "a - b": means[0] - means[1]}
    names = enumerate(TOPICS)
    return found | {f"a, {name}": made["truth"][0, made["topics"] == number].mean() for number, name in names}


def drawn(made: dict[str, np.ndarray]) -> dict[tuple[str, str], Callable[[], Numbers]]:
    """Return what estimates the accuracy of a, and the difference, from one world: (what, by whom) -> function."""
    import truescore

    known, verdicts = made["known"], made["verdicts"]
    gold, odds = made["truth"][:, known], np.full(QUESTIONS, len(known) / QUESTIONS)
    sparse = np.full(verdicts.shape, np.nan)
    sparse[:, known] = gold
    counts = (
        (gold[0] * verdicts[0, known]).sum(),
        gold[0].sum(),
        ((1 - gold[0]) * (1 - verdicts[0, known])).sum(),
        (1 - gold[0]).sum(),
    )

    def ppi(judged, labels) -> Numbers:
        found = prediction_powered(judged, labels, odds)
        return found.value, found.low, found.high

    def of(estimate) -> Numbers:
        return getattr(estimate, "point", getattr(estimate, "difference", np.nan)), estimate.low, estimate.high

    return {
        ("accuracy", "genqa-metrics, PPI"): lambda: ppi(verdicts[0], sparse[0]),
        ("accuracy", "genqa-metrics, Rogan-Gladen"): lambda: rogan_gladen(verdicts[0].sum(), QUESTIONS, *counts),
        ("accuracy", "TRUESCORE, PPI"): lambda: of(truescore.ppi_estimate(verdicts[0], gold[0], known)),
        ("accuracy", "TRUESCORE, Rogan-Gladen"): lambda: of(
            truescore.rogan_gladen_estimate(verdicts[0], gold[0], known)
        ),
        ("difference", "genqa-metrics, PPI"): lambda: paired_difference(verdicts, sparse, odds),
        ("difference", "TRUESCORE, PPI"): lambda: of(truescore.ppi_compare(*verdicts, *gold, known)),
    }


def repeated(labels: int, repeats: int) -> dict[tuple[str, str], np.ndarray]:
    """Return (repeats, 3) value, low and high in repeated worlds, by what is estimated and by whom; NaN if refused."""
    found: dict[tuple[str, str], list[Numbers]] = {}
    for repeat in range(repeats):
        for key, estimate in drawn(world(np.random.default_rng([labels, repeat]), labels)).items():
            try:
                ends = tuple(map(float, estimate()))
            except ValueError:
                ends = (np.nan,) * 3
            found.setdefault(key, []).append(ends)
    return {key: np.array(ends) for key, ends in found.items()}


def page(repeats: int) -> str:
    """Return the page of results in Markdown."""
    made = world(np.random.default_rng(0), LABELS[1])
    with TemporaryDirectory() as folder:
        path = Path(folder) / "labelled.csv"
        pandas.DataFrame(rows_of(made)).to_csv(path, index=False)
        first, second, truth = ours(path), theirs(path), truths(made)

    def cells(ends: Numbers) -> list[str]:
        value, low, high = ends
        known = not np.isnan(value)
        return [f"{value:.3f} [{low:.3f}, {high:.3f}]", f"{high - low:.3f}"] if known else ["too few labels", "-"]

    one = [[name, f"{truth[name]:.3f}", *cells(first[name]), *cells(second[name])] for name in truth]
    many = []
    for labels in LABELS:
        for (what, who), ends in sorted(repeated(labels, repeats).items()):
            known, target = ~np.isnan(ends[:, 0]), TARGETS[what]
            value, low, high = ends[known].T
            held = ((low <= target) & (target <= high)).mean()
            error = np.sqrt(((value - target) ** 2).mean())
            refused = f"{(~known).sum():,}" if not known.all() else "-"
            many.append(
                [f"{what}, {labels} labels", who, f"{held:.1%}", f"{(high - low).mean():.3f}", f"{error:.3f}", refused]
            )
    parts = [
        "# genqa-metrics and TRUESCORE on the same labels",
        "Written by `python -m tests.programs.benchmarks.compare_truescore`; "
        f"genqa-metrics {genqa_metrics.__version__}, truescore {version('truescore')}.",
        "## One file",
        f"{QUESTIONS:,} questions, two systems, {LABELS[1]} labelled questions.",
        markdown_table(["quantity", "truth", "genqa-metrics", "width", "TRUESCORE", "width"], one, "---:"),
        "## Repeated draws",
        f"{repeats:,} draws of such a file: how often the 95% interval holds the truth, its mean width, and the error "
        "of the estimate (root of the mean square).",
        markdown_table(["what", "by", "holds the truth", "width", "error", "refused"], many, "---:"),
    ]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Print the page, or write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, help="file for the page; default: standard output")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="draws per number of labels")
    arguments = parser.parse_args()
    try:
        import truescore  # noqa: F401
    except ImportError:
        parser.error("truescore is not installed; run pip install truescore==0.7.4")
    text = page(arguments.repeats)
    if arguments.output:
        arguments.output.write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
