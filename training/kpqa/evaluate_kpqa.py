"""Measure how well KPQA agrees with human judgments of answers: Tables 3, 4, 6, 7 and 9 of Lee et al. (2021).

The judgments choose between checkpoints and settings; nothing is trained on them.
"""

import gzip
import json
from dataclasses import dataclass, field
from pathlib import Path

SETS = ("kpqa_marco", "kpqa_avsd", "kpqa_narrativeqa", "kpqa_semeval", "kpqa_marcomulti")
METRICS = ("bleu1", "bleu1_kpqa", "rougeL", "rougeL_kpqa", "bertscore", "bertscore_kpqa")
RANK_GAP = 0.5  # Table 7: more than 2 of the scale 1 to 5, which the files map to 0 to 1


@dataclass
class Arguments:
    """What is measured on what."""

    judgments: str = field(
        metadata={"help": "folder of NAME.dev.jsonl.gz with question, references, candidate, score"}
    )
    checkpoints: list[str] = field(
        default_factory=lambda: ["kpqa="],
        metadata={"help": "NAME=FOLDER of predictors, NAME= is the bundled one; the first is measured in full"},
    )
    no_question: list[str] = field(
        default_factory=list, metadata={"help": "NAMEs that were trained without the question"}
    )
    sets: list[str] = field(default_factory=lambda: list(SETS), metadata={"help": "names of the judgment files"})
    embedding_layer: int | None = field(default=None, metadata={"help": "layer that BERTScore compares"})
    resamples: int = field(default=1000, metadata={"help": "bootstrap samples for the 95%% intervals"})
    write: str | None = field(
        default=None, metadata={"help": "Markdown file in which the tables are put at the markers"}
    )


MARKERS = ("<!-- tables -->", "<!-- end of tables -->")


def read_set(folder: str, name: str) -> list[dict]:
    """Return the rows of a file of judgments."""
    with gzip.open(Path(folder) / f"{name}.dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        return list(map(json.loads, lines))


def metric_scores(rows: list[dict], encoder) -> dict:
    """Return metric -> (rows,) scores of the candidates, the maximum over the references."""
    import numpy as np
    from genqa_metrics.kpqa.scoring import pair_statistics, row_scores

    numbers = np.repeat(np.arange(len(rows)), [len(row["references"]) for row in rows])
    pairs = [(row["question"], row["candidate"]) for row in rows]
    pairs += [(row["question"], text) for row in rows for text in row["references"]]
    tokens, _ = encoder.tokens(pairs)
    statistics = pair_statistics([tokens[n] for n in numbers], tokens[len(rows) :])
    scores, _ = row_scores(statistics, numbers)
    return {metric: scores[metric] for metric in METRICS}


def pearson(x, y, axis=-1):
    """Return Pearson's r along an axis; 0 where one side is constant."""
    import numpy as np

    x, y = x - x.mean(axis=axis, keepdims=True), y - y.mean(axis=axis, keepdims=True)
    scale = np.sqrt((x**2).sum(axis=axis) * (y**2).sum(axis=axis))
    return np.divide((x * y).sum(axis=axis), scale, out=np.zeros_like(scale), where=scale > 0)


def spearman(x, y, axis=-1):
    """Return Spearman's rho along an axis."""
    from scipy.stats import rankdata

    return pearson(rankdata(x, axis=axis), rankdata(y, axis=axis), axis)


def interval(statistic, x, y, resamples: int) -> tuple[float, float]:
    """Return the 95% interval of a statistic of paired samples, by the percentile bootstrap with a fixed seed."""
    import numpy as np

    picks = np.random.default_rng(0).integers(len(x), size=(resamples, len(x)))
    low, high = np.percentile(statistic(x[picks], y[picks]), [2.5, 97.5])
    return float(low), float(high)


def ranked_as_humans_do(rows: list[dict], scores, gap: float = RANK_GAP) -> tuple[float, int]:
    """Return the share of pairs of answers to a question that are ranked as humans do, and their number (Table 7).

    Args:
        rows: rows with `question`, `system` and human `score`.
        scores: (rows,) scores of a metric.
        gap: only pairs whose human scores differ by more than this count.

    Returns:
        Share in 0..1 (equal scores count as wrong, as in the paper's strict ranking) and number of pairs.
    """
    from collections import defaultdict
    from itertools import combinations

    groups = defaultdict(list)
    for row, score in zip(rows, scores, strict=True):
        groups[row["question"], tuple(row["references"])].append((row["score"], float(score)))
    pairs = [(a, b) for group in groups.values() for a, b in combinations(group, 2) if abs(a[0] - b[0]) > gap]
    right = sum((a[0] - b[0]) * (a[1] - b[1]) > 0 for a, b in pairs)
    return right / max(1, len(pairs)), len(pairs)


def table(header: list[str], lines: list[list[str]]) -> str:
    """Return a Markdown table."""
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def main() -> None:
    """Print the tables, and put them into a file if asked."""
    import numpy as np
    from genqa_metrics.kpqa.encoding import Encoder
    from genqa_metrics.kpqa.loading import load_models
    from transformers import HfArgumentParser

    (args,) = HfArgumentParser(Arguments).parse_args_into_dataclasses()
    data = {name: read_set(args.judgments, name) for name in args.sets}
    human = {name: np.array([row["score"] for row in rows]) for name, rows in data.items()}
    measured = {}
    for entry in args.checkpoints:
        label, _, folder = entry.partition("=")
        models = load_models(folder or None, embedding_layer=args.embedding_layer)
        encoder = Encoder(models, with_question=label not in args.no_question)
        measured[label] = {name: metric_scores(rows, encoder) for name, rows in data.items()}
    first = measured[next(iter(measured))]

    def agreement(scores, name: str) -> str:
        return f"{pearson(scores, human[name]):.3f} / {spearman(scores, human[name]):.3f}"

    def with_interval(scores, name: str) -> str:
        texts = []
        for statistic in (pearson, spearman):
            low, high = interval(statistic, scores, human[name], args.resamples)
            texts.append(f"{statistic(scores, human[name]):.3f} ({low:.2f} to {high:.2f})")
        return " / ".join(texts)

    titles = [name.removeprefix("kpqa_") for name in data]
    parts = ["Agreement with human judgments, Pearson / Spearman with 95% intervals (Tables 3 and 6)."]
    parts.append(table(["metric", *titles], [[m, *(with_interval(first[n][m], n) for n in data)] for m in METRICS]))
    if len(measured) > 1:
        parts.append("Checkpoints, Pearson / Spearman (Table 4).")
        lines = [
            [label, metric, *(agreement(scores[name][metric], name) for name in data)]
            for label, scores in measured.items()
            for metric in METRICS
            if metric.endswith("_kpqa")
        ]
        parts.append(table(["checkpoint", "metric", *titles], lines))
    paired = [name for name, rows in data.items() if len({row["system"] for row in rows}) > 1]
    if paired:
        parts.append("Share of answer pairs of two systems that are ranked as humans do (Table 7).")
        counts = {name: ranked_as_humans_do(data[name], human[name])[1] for name in paired}
        header = ["metric", *(f"{name.removeprefix('kpqa_')} ({counts[name]} pairs)" for name in paired)]
        shares = [[m, *(f"{ranked_as_humans_do(data[n], first[n][m])[0]:.1%}" for n in paired)] for m in METRICS]
        parts.append(table(header, shares))
        parts.append("Agreement by system, Pearson / Spearman (Table 9).")
        header, places = ["metric"], []
        for name in paired:
            for system in sorted({str(row["system"]) for row in data[name]}):
                header.append(f"{name.removeprefix('kpqa_')}, {system}")
                places.append((name, np.array([str(row["system"]) == system for row in data[name]])))
        lines = [
            [
                m,
                *(
                    f"{pearson(first[n][m][p], human[n][p]):.3f} / {spearman(first[n][m][p], human[n][p]):.3f}"
                    for n, p in places
                ),
            ]
            for m in METRICS
        ]
        parts.append(table(header, lines))
    text = "\n\n".join(parts)
    print(text)
    if args.write:
        path = Path(args.write)
        before, rest = path.read_text(encoding="utf-8").split(MARKERS[0])
        after = rest.split(MARKERS[1])[1]
        path.write_text(f"{before}{MARKERS[0]}\n\n{text}\n\n{MARKERS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
