"""Measure how well KPQA agrees with human judgments of answers.

    python -m training.kpqa.evaluate_kpqa --judgments JUDGMENTS --write training/kpqa/results/tables.md

Tables 3, 4 and 6 of Lee et al. (2021); training/studies/meta_evaluation has Tables 7 and 9 and Figure 4. The judgments
choose between checkpoints and settings; nothing is trained on them.
"""

import json
import re
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from genqa_metrics.toolkit.analysis import correlation as agreement
from genqa_metrics.toolkit.analysis.resampling import bootstrap, interval

from training.common import command_line, json_rows, markdown_table, option, parsed, put_between_markers

SETS = ("kpqa_marco", "kpqa_avsd", "kpqa_narrativeqa", "kpqa_semeval", "kpqa_marcomulti")
METRICS = ("bleu1", "bleu1_kpqa", "rougeL", "rougeL_kpqa", "bertscore", "bertscore_kpqa")
WEIGHTED = METRICS[1::2]
SEED = 0  # of the bootstrap


@dataclass
class Arguments:
    """What is measured on what."""

    judgments: str = option("folder of NAME.dev.jsonl.gz with question, references, candidate, score")
    checkpoints: list[str] = option(
        "NAME=FOLDER of predictors, NAME= is the bundled one; the first is measured in full", ["kpqa="]
    )
    sets: list[str] = option("names of the judgment files", list(SETS))
    embedding_layer: int | None = option("layer that BERTScore compares", None)
    resamples: int = option("bootstrap samples for the 95%% intervals", 1000)
    write: str | None = option("Markdown file in which the tables are put; agreement.json is put beside it", None)


def judgment_file(folder: str, name: str) -> Path:
    """Return the path of a file of judgments."""
    return Path(folder) / f"{name}.dev.jsonl.gz"


def read_set(folder: str, name: str) -> list[dict]:
    """Return the rows of a file of judgments."""
    return list(json_rows(judgment_file(folder, name)))


def question_text_pairs(rows: list[dict]) -> list[tuple[str, str]]:
    """Return (question, candidate) of all rows, then (question, reference) of all their references."""
    pairs = [(row["question"], row["candidate"]) for row in rows]
    return pairs + [(row["question"], text) for row in rows for text in row["references"]]


def scores_of_tokens(
    rows: list[dict], tokens: list, idf: bool = False, negation: bool = True, values: bool = True, **settings
) -> dict:
    """Return metric -> (rows,) scores of the candidates, the maximum over the references.

    Args:
        rows: the judged rows.
        tokens: of `question_text_pairs`.
        idf: weigh BERTScore by rarity in the references.
        negation: see the metric.
        values: see the metric.
        **settings: of `pair_statistics`.
    """
    from genqa_metrics.kpqa.scoring import inverse_document_frequencies, pair_statistics, row_scores

    if idf:
        settings["idf"] = inverse_document_frequencies([np.asarray(one.ids) for one in tokens[len(rows) :]])
    if not negation:
        tokens = [one._replace(denied=None) for one in tokens]
    if not values:
        tokens = [one._replace(values=None) for one in tokens]
    numbers = np.repeat(np.arange(len(rows)), [len(row["references"]) for row in rows])
    statistics = pair_statistics([tokens[n] for n in numbers], tokens[len(rows) :], **settings)
    scores, _ = row_scores(statistics, numbers)
    return {metric: scores[metric] for metric in METRICS}


def metric_scores(rows: list[dict], encoder) -> dict:
    """Return metric -> (rows,) scores of the candidates, the maximum over the references."""
    return scores_of_tokens(rows, encoder.tokens(question_text_pairs(rows))[0])


def question_numbers(rows: list[dict]) -> np.ndarray:
    """Return the number of every row's question, 0, 1, ...: what a bootstrap sample draws."""
    return np.unique([row["question"] for row in rows], return_inverse=True)[1]


def with_intervals(scores: dict, human, clusters, resamples: int) -> dict:
    """Return metric -> "pearson" and "spearman" -> [correlation, low, high], the ends of its 95% bootstrap interval.

    Args:
        scores: metric -> (rows,) scores.
        human: (rows,) judgments.
        clusters: (rows,) see `question_numbers`.
        resamples: bootstrap samples.
    """
    resampled = {"pearson": agreement.resampled_pearson, "spearman": agreement.resampled_spearman}
    statistics = {
        (metric, name): partial(function, values, human)
        for metric, values in scores.items()
        for name, function in resampled.items()
    }
    samples = bootstrap(statistics, clusters, resamples, SEED)
    found: dict = {metric: {} for metric in scores}
    for (metric, name), values in samples.items():
        value = getattr(agreement, name)(scores[metric], human)
        found[metric][name] = [round(v, 4) for v in (value, *interval(values, clusters.max() + 1))]
    return found


def correlations(scores, human) -> list[float]:
    """Return [Pearson's r, Spearman's rho] of scores with human judgments."""
    return [round(agreement.pearson(scores, human), 4), round(agreement.spearman(scores, human), 4)]


def compared(measured: dict, human: dict, clusters: dict, resamples: int) -> dict:
    """Return how every checkpoint agrees with people, and how far it is from the first (Table 4).

    Args:
        measured: label -> set -> metric -> (rows,) scores.
        human: set -> (rows,) judgments.
        clusters: set -> (rows,) see `question_numbers`.
        resamples: bootstrap samples.

    Returns:
        label -> set -> metric of KPQA -> "pearson", "spearman" and "difference", the Pearson's r minus that of the
        first checkpoint with its 95% interval.
    """

    def difference(x, first, y, counts):
        return agreement.resampled_pearson(x, y, counts) - agreement.resampled_pearson(first, y, counts)

    base = next(iter(measured.values()))
    result: dict = {}
    for label, sets in measured.items():
        result[label] = {}
        for name, scores in sets.items():
            of_set = {
                m: dict(zip(("pearson", "spearman"), correlations(scores[m], human[name]), strict=True))
                for m in WEIGHTED
            }
            if sets is not base:
                statistics = {m: partial(difference, scores[m], base[name][m], human[name]) for m in WEIGHTED}
                samples = bootstrap(statistics, clusters[name], resamples, SEED)
                for m in WEIGHTED:
                    value = agreement.pearson(scores[m], human[name]) - agreement.pearson(base[name][m], human[name])
                    of_set[m]["difference"] = [
                        round(v, 4) for v in (value, *interval(samples[m], clusters[name].max() + 1))
                    ]
            result[label][name] = of_set
    return result


def _title(name: str) -> str:
    return name.removeprefix("kpqa_")


def comparison_table(result: dict) -> str:
    """Return the Markdown table of `compared`."""

    def cell(values: dict) -> str:
        text = f"{values['pearson']:.3f} / {values['spearman']:.3f}"
        if "difference" in values:
            _, low, high = values["difference"]
            text += f" ({low:+.3f} to {high:+.3f})"
        return text

    names = list(next(iter(result.values())))
    lines = [
        [label, metric, *(cell(sets[name][metric]) for name in names)]
        for label, sets in result.items()
        for metric in WEIGHTED
    ]
    return markdown_table(["checkpoint", "metric", *map(_title, names)], lines)


def tables(result: dict) -> str:
    """Return the Markdown tables of a result."""

    def cell(values: dict) -> str:
        return " / ".join(f"{r:.3f} ({low:.2f} to {high:.2f})" for r, low, high in values.values())

    sets = result["agreement"]
    parts = ["Agreement with human judgments, Pearson / Spearman with 95% intervals (Tables 3 and 6)."]
    lines = [[metric, *(cell(sets[name][metric]) for name in sets)] for metric in METRICS]
    parts.append(markdown_table(["metric", *map(_title, sets)], lines))
    if "comparison" in result:
        parts.append(
            "Checkpoints, Pearson / Spearman (95% interval of Pearson's difference to the first checkpoint; Table 4)."
        )
        parts.append(comparison_table(result["comparison"]))
    return "\n\n".join(parts)


def facts(module: str, data_files: list[Path]) -> dict:
    """Return what is needed to measure again: command, seed, versions, digests of the data."""
    from importlib.metadata import version

    from genqa_metrics.core.checkpoint_validation import file_digest

    return {
        "command": command_line(module, sys.argv[1:]),
        "bootstrap_seed": SEED,
        "versions": {name: version(name) for name in ("genqa-metrics", "scipy", "torch", "transformers")},
        "data": {path.name: file_digest(path) for path in data_files},
    }


def write_result(markdown: str | Path, marker: str, text: str, name: str, result: dict) -> None:
    """Put tables between the markers of a Markdown file, and the result as JSON into the folder results beside it.

    Args:
        markdown: the file, with the lines `<!-- MARKER -->` and `<!-- end of MARKER -->`.
        marker: name of the markers.
        text: the tables.
        name: name of the JSON file.
        result: the numbers, with `facts`.

    Raises:
        ValueError: if the markers are not in the file, each once.
    """
    path = Path(markdown)
    put_between_markers(path, marker, text)
    folder = path.parent
    folder.mkdir(exist_ok=True)
    content = json.dumps(result, indent=1)
    content = re.sub(r"\[[^\[\]{}\"]+\]", lambda numbers: " ".join(numbers[0].split()), content)  # on one line
    (folder / f"{name}.json").write_text(content + "\n", encoding="utf-8")


def main() -> None:
    """Print the tables, and put them into a file if asked."""
    from genqa_metrics.kpqa.encoding import Encoder
    from genqa_metrics.kpqa.loading import load_models

    args = parsed(Arguments)
    data = {name: read_set(args.judgments, name) for name in args.sets}
    human = {name: np.array([row["score"] for row in rows]) for name, rows in data.items()}
    clusters = {name: question_numbers(rows) for name, rows in data.items()}
    measured, signatures = {}, {}
    for entry in args.checkpoints:
        label, _, folder = entry.partition("=")
        models = load_models(folder or None, embedding_layer=args.embedding_layer)
        encoder = Encoder(models)
        measured[label] = {name: metric_scores(rows, encoder) for name, rows in data.items()}
        signatures[label] = models.signature
    first = next(iter(measured.values()))
    result: dict = {"agreement": {}}
    for name in data:
        result["agreement"][name] = with_intervals(first[name], human[name], clusters[name], args.resamples)
    if len(measured) > 1:
        result["comparison"] = compared(measured, human, clusters, args.resamples)
    result["checkpoints"] = signatures
    result |= facts(__spec__.name, [judgment_file(args.judgments, name) for name in data])
    text = tables(result)
    print(text)
    if args.write:
        write_result(args.write, "tables", text, "agreement", result)


if __name__ == "__main__":
    main()
