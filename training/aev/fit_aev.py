"""Fit AEv(alpha, N) to human scores of systems: which cell of the evaluation plane explains the human ranking best?

    python -m training.aev.fit_aev --data answers.jsonl.gz --output_folder fitted

As in sections 3.3 and 4 of Soricut & Brill (2004): the table has the squared Pearson correlation of human system
scores with each of 44 cells; resampled systems say how sure its best cell is. It is written as JSON, whose "settings"
`load("aev", settings=...)` takes, and as a heat map, beside BLEU's own R-squared (sacrebleu; section 4.1).
"""

import json
import shlex
import sys
from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from genqa_metrics.aev.scoring import GRID_ALPHAS, GRID_ORDERS, Settings, grid_scores, statistics
from genqa_metrics.rows.sources import Source, digest

from training.common import option, parsed
from training.studies.harness import rendered

REFERENCES = ("first", "pooled", "best")


@dataclass
class Arguments:
    """What the command line takes; read by `parsed`."""

    data: list[str] = option(
        "files with system, candidate, references and a human score per row (`score`, or `human`: "
        "{aspect: value}); a system is a point of its own in every file"
    )
    output_folder: str = option("folder for NAME.json and NAME.png")
    name: str = option("name of the outputs; the first file's name by default", "")
    aspect: str = option("aspect of `human` to fit; needed where there are several", "")
    exclude_system: list[str] = option("systems that are left out", [])
    references: str = option("'first' (one, as in the paper), 'pooled' (all), or 'best' (of alternatives)", "pooled")
    stop_words: str = option("'english', 'smart' or 'none'", "english")
    stemmer: str = option("'porter' or 'none'", "porter")
    tokenizer: str = option("'word' or '13a' (sacrebleu's)", "word")
    brevity: float = option("B of the brevity penalty", 1.0)
    wordiness: float = option("W of the wordiness penalty; inf for none", 2.0)
    resamples: int = option("bootstrap samples of the systems", 10_000)
    seed: int = option("seed of the bootstrap", 1)


def command(arguments: Arguments) -> str:
    """Return the command line of this fit, with file names instead of paths."""
    settings = replace(arguments, data=[Path(path).name for path in arguments.data], output_folder="")
    defaults, words = asdict(Arguments([], "")), ["python", "-m", "training.aev.fit_aev"]
    for name, setting in asdict(settings).items():
        if setting != defaults[name]:
            words += [f"--{name}", *map(str, setting if isinstance(setting, list) else [setting])]
    return shlex.join(words)


def outputs_of(row: dict) -> list[dict]:
    """Return the judged outputs of a row: itself, or one for each prediction where it holds those of all systems.

    >>> row = {"references": ["why?"], "predictions": {"a": ["who?"]}, "human": {"a": [{"fluency": 3}]}}
    >>> outputs_of(row)
    [{'system': 'a', 'candidate': 'who?', 'references': ['why?'], 'human': {'fluency': 3}}]
    """
    predictions, human = row.get("predictions"), row.get("human")
    if not isinstance(predictions, dict) or not isinstance(human, dict):
        return [row]
    return [
        {"system": system, "candidate": text, "references": row.get("references"), "human": judged}
        for system, texts in predictions.items()
        for text, judged in zip(texts, human.get(system, ()), strict=True)
    ]


def read_outputs(files: list[str], aspect: str, excluded: Collection[str] = ()) -> list[dict]:
    """Return the judged rows: unit (system, with its file if there are several), candidate, references, human."""
    outputs = []
    for path in files:
        source = Source(path)
        for row in source.rows():
            where = f"{path}, {source.unit} {row.number}"
            if row.problem:
                raise ValueError(f"{where}: {row.problem}")
            for output in (judged_output(judged, where, aspect) for judged in outputs_of(row.values)):
                if output["human"] is not None and output["unit"] not in excluded:
                    outputs.append(output | {"unit": output["unit"] + f" ({source.stem})" * (len(files) > 1)})
    if (count := len({row["unit"] for row in outputs})) < 3:
        raise ValueError(f"data: expected judged outputs of at least 3 systems, got {count}")
    return outputs


def judged_output(scores: dict, where: str, aspect: str) -> dict:
    """Return the checked unit, candidate, references and human score (None: not judged) of one output at `where`."""
    missing = [name for name in ("system", "references") if not scores.get(name)]
    if missing:
        raise ValueError(f"{where}: expected a value for {missing[0]!r}; a fit needs outputs of named systems")
    human = scores.get("human", {"score": scores.get("score")})
    if aspect == "" and len(human) > 1:
        raise ValueError(f"aspect: expected one of {', '.join(human)}, got none; pass --aspect")
    chosen = aspect or next(iter(human), "")
    if chosen not in human:
        raise ValueError(f"{where}: expected a human score for {chosen!r}, got {', '.join(human) or 'none'}")
    candidate = scores.get("candidate", scores.get("prediction"))
    if not isinstance(candidate, str):
        raise ValueError(f"{where}: expected a text for 'candidate', got {candidate!r}")
    references = scores["references"]
    references = [references] if isinstance(references, str) else references
    score = None if human[chosen] is None else float(human[chosen])
    return {"unit": scores["system"], "candidate": candidate, "references": references, "human": score}


def bleu_of_systems(texts: list[str], references: list[list[str]], rows_by_system: list[np.ndarray]) -> np.ndarray:
    """Return corpus BLEU-4 of every system as sacrebleu computes it by default; `rows_by_system` marks its rows."""
    from sacrebleu.metrics import BLEU

    bleu = BLEU(force=True)
    streams = [[row[i] if i < len(row) else None for row in references] for i in range(max(map(len, references)))]
    rows = np.array(bleu._extract_corpus_statistics(texts, streams))
    return np.array([bleu._compute_score_from_stats(rows[i].sum(axis=0).tolist()).score for i in rows_by_system])


def r_squared_table(human: np.ndarray, metric: np.ndarray) -> np.ndarray:
    """Return R-squared with the sign of the correlation: a cell that ranks systems upside down is no fit.

    (... x systems), (... x systems x orders x alphas) -> (... x orders x alphas); NaN where one side does not vary.
    """
    human = (human - human.mean(-1, keepdims=True))[..., None, None]
    metric = metric - metric.mean(-3, keepdims=True)
    covariance = (human * metric).sum(-3)
    spread = (human**2).sum(-3) * (metric**2).sum(-3)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(spread > 1e-24, np.sign(covariance) * covariance**2 / spread, np.nan)


def best_cell(table: np.ndarray) -> tuple[int, int]:
    """Return (row, column) of the largest value; of equal ones the shortest N and the alpha nearest to 0."""
    if np.isnan(table).all():
        raise ValueError("data: expected systems that differ, got equal human or equal metric scores for all of them")
    return tuple(int(i) for i in np.unravel_index(np.nanargmax(table.round(9)), table.shape))


def bootstrap(human: np.ndarray, metric: np.ndarray, resamples: int, seed: int) -> dict:
    """Return 95% intervals of R-squared and place of the best cell, and the share of samples with the same best cell.

    Samples of the (systems,) and systems x orders x alphas with fewer than three different systems are drawn again.
    """
    cell = best_cell(r_squared_table(human, metric))
    generator = np.random.default_rng(seed)
    fits, places = [], []
    while len(fits) < resamples:
        drawn = generator.integers(0, len(human), size=len(human))
        if len(set(drawn.tolist())) < 3:
            continue
        table = r_squared_table(human[drawn], metric[drawn])
        if np.isnan(table).all():
            continue
        fits.append(table[cell])
        places.append(best_cell(table))
    rows, columns = np.array(places).T
    return {
        "interval": np.nanpercentile(fits, [2.5, 97.5]).round(4).tolist(),
        "best_alpha": [GRID_ALPHAS[i] for i in np.percentile(columns, [2.5, 97.5], method="nearest")],
        "best_max_order": [GRID_ORDERS[i] for i in np.percentile(rows, [2.5, 97.5], method="nearest")],
        "same_cell": round(float(np.mean([best == cell for best in places])), 3),
    }


def rounded(number: float) -> float | None:
    """Return a number with four decimals, None for NaN."""
    return None if np.isnan(number) else round(float(number), 4)


def fit(arguments: Arguments) -> dict:
    """Return the R-squared table with its axes, settings, seed, command and digests."""
    if arguments.references not in REFERENCES:
        raise ValueError(f"references: expected one of {', '.join(REFERENCES)}, got {arguments.references!r}")
    settings = Settings(
        reference_recall="best" if arguments.references == "best" else "all",
        stop_words=None if arguments.stop_words == "none" else arguments.stop_words,
        stemmer=None if arguments.stemmer == "none" else arguments.stemmer,
        tokenizer=arguments.tokenizer,
        brevity=arguments.brevity,
        wordiness=arguments.wordiness,
    )
    outputs = read_outputs(arguments.data, arguments.aspect, arguments.exclude_system)
    texts, every = [row["candidate"] for row in outputs], [row["references"] for row in outputs]
    first = [references[:1] for references in every]
    units, human = (np.array([row[name] for row in outputs]) for name in ("unit", "human"))
    names = sorted(set(units.tolist()))
    rows_by_system = [units == name for name in names]
    human_by_system = np.array([human[numbers].mean() for numbers in rows_by_system])
    counts = statistics(texts, first if arguments.references == "first" else every, settings, max(GRID_ORDERS))
    grid = np.array([grid_scores(counts[numbers].sum(axis=0), settings)["aev"] for numbers in rows_by_system])
    table = r_squared_table(human_by_system, grid)
    bleu_fit = {}
    for name, references in (("first", first), ("all", every)):
        bleu = bleu_of_systems(texts, references, rows_by_system)
        bleu_fit[name] = rounded(r_squared_table(human_by_system, bleu[:, None, None])[0, 0])
    row, column = best_cell(table)
    chosen = {"alpha": GRID_ALPHAS[column], "max_order": GRID_ORDERS[row]}
    fixed = {name: cell for name, cell in asdict(settings).items() if name not in ("weights", *chosen)}
    return {
        "metric": "aev",
        "settings": {**chosen, **fixed},
        "references": arguments.references,
        "r_squared": rounded(table[row, column]),
        **bootstrap(human_by_system, grid, arguments.resamples, arguments.seed),
        "alpha": list(GRID_ALPHAS),
        "max_order": list(GRID_ORDERS),
        "signed_r_squared": [[rounded(cell) for cell in row] for row in table],
        "bleu_signed_r_squared": bleu_fit,
        "systems": {
            name: {"human": rounded(score), "aev": rounded(scores[row, column])}
            for name, score, scores in zip(names, human_by_system, grid, strict=True)
        },
        "points": len(names),
        "rows": len(outputs),
        "several_references": sum(len(references) > 1 for references in every),
        "seed": arguments.seed,
        "command": command(arguments),
        "data": {Path(path).name: digest(path) for path in arguments.data},
    }


def heat_map(result: dict, title: str, path: Path) -> None:
    """Draw the R-squared table as the evaluation plane: alpha to the right, N upwards, the best cell framed."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    fits = np.array(result["signed_r_squared"], dtype=float)
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(fits, origin="lower", aspect="auto", vmin=-1, vmax=1, cmap="RdBu")
    for i, row in enumerate(fits):
        for j, fit in enumerate(row):
            shown = "–" if np.isnan(fit) else f"{100 * fit:.0f}"
            axes.text(j, i, shown, ha="center", va="center", color="w" if abs(fit) > 0.55 else "k")
    i, j = best_cell(fits)
    axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, lw=3, ec="gold"))
    axes.set_xticks(range(len(result["alpha"])), [f"{alpha:g}" for alpha in result["alpha"]])
    axes.set_yticks(range(len(result["max_order"])), result["max_order"])
    axes.set_xlabel("alpha (guideline axis: 0 recall, 1 precision)")
    axes.set_ylabel("N (application axis)")
    axes.set_title(title)
    figure.colorbar(image, label="R² with the sign of r")
    figure.savefig(path, dpi=80, metadata={"Software": None})


def run(arguments: Arguments) -> dict:
    """Fit, write NAME.json and NAME.png into the output folder, and return the result."""
    result = fit(arguments)
    folder = Path(arguments.output_folder)
    folder.mkdir(parents=True, exist_ok=True)
    name = arguments.name or Source(arguments.data[0]).stem
    (folder / f"{name}.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    heat_map(result, f"{name}: best cell {cell_name(result)}", folder / f"{name}.png")
    return result


def cell_name(result: dict) -> str:
    """Return the best cell and its R-squared as text."""
    settings = result["settings"]
    return f"AEv({settings['alpha']:g}, {settings['max_order']}), R² = {100 * result['r_squared']:.1f}%"


def main() -> None:
    """Read the arguments, fit and print."""
    arguments = parsed(Arguments)
    try:
        result = run(arguments)
    except ValueError as error:
        sys.exit(f"fit_aev: {error}")
    print(rendered("aev/fit.md.j2", result=result, cell_name=cell_name))


if __name__ == "__main__":
    main()
