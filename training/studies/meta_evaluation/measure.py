"""Measure how well metrics agree with human judgments of answers, beside their peers; write results/tables.md.

One page like Tables 3, 6, 7, 9 and Figure 4 of Lee et al. (2021), for every NAME.dev.jsonl.gz in the folder. Scores of
rows are kept in OUTPUT/scores by the digests of data and metric, so that a second run is quick.
"""

import json
import platform
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np
from genqa_metrics.core.checkpoints import base_encoder, checkpoint_digest, file_digest
from genqa_metrics.f_meta.bases import base_function, cosines
from genqa_metrics.registry import SCORERS, make_scorer
from genqa_metrics.statistics.resampling import adjust_p_values
from genqa_metrics.verbs.agree.measures import (
    PERMUTATIONS,
    Judgments,
    against_best,
    analyse,
    best_first,
    length_group,
)
from genqa_metrics.verbs.agree.question_types import question_type

from training.common import json_rows, option
from training.studies.harness import Output, Study, Table, best_scores, read, versions
from training.studies.meta_evaluation.figures import styles, svg_of
from training.studies.meta_evaluation.page import CURVES, FAMILIES, FIGURES, NAMES, RANK_GAP, drawn, page

HERE = Path(__file__).parent

# What is computed of this package, by the name in the caches: metric, settings, and the title of every score.
OURS = {name: (of["metric"], of["settings"], of["titles"]) for name, of in NAMES["ours"].items()}


@dataclass
class Arguments(Output):
    """What the command line takes."""

    judgments: str = option("folder of NAME.dev.jsonl.gz")
    output: str = option("folder for results/meta_curves_*.svg and scores/", str(HERE))
    sets: list[str] = option("names of sets; all that are found if none", [])
    ours: list[str] = option(f"of {', '.join(OURS)}", list(OURS))
    peers: list[str] = field(default_factory=lambda: list(PEERS), metadata={"help": "of bleu, rouge, ... (all)"})
    resamples: int = option("bootstrap samples; 10 times as many permutations", 1000)
    seed: int = option("of both", 0)


def _texts(rows: Sequence[Mapping]) -> tuple[list[str], list[list[str]]]:
    return [row["candidate"] for row in rows], [row["references"] for row in rows]


def bleu(rows: Sequence[Mapping]) -> dict[str, list[float]]:
    """Return sentence BLEU-1 and BLEU-4 by sacrebleu: its smoothing, and only orders that the candidate has."""
    from sacrebleu.metrics import BLEU

    scorers = {f"BLEU-{order}": BLEU(max_ngram_order=order, effective_order=True) for order in (1, 4)}
    pairs = list(zip(*_texts(rows), strict=True))
    return {title: [bleu.sentence_score(*pair).score / 100 for pair in pairs] for title, bleu in scorers.items()}


def rouge(rows: Sequence[Mapping]) -> dict[str, list[float]]:
    """Return ROUGE-L F1 by rouge_score, without stemming, the best reference."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"])
    pairs = zip(*_texts(rows), strict=True)
    return {"ROUGE-L": [scorer.score_multi(references, text)["rougeL"].fmeasure for text, references in pairs]}


def meteor(rows: Sequence[Mapping]) -> dict[str, list[float]]:
    """Return METEOR 1.5 (Java), the best reference."""
    return {"METEOR": best_scores(base_function("meteor").pairs, *_texts(rows)).tolist()}


def cider(rows: Sequence[Mapping]) -> dict[str, list[float]]:
    """Return CIDEr by pycocoevalcap after its tokenizer (Java); document frequencies of the set's references."""
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    tokenizer = PTBTokenizer()
    # Line breaks would end a caption.
    candidates = {i: [{"caption": " ".join(row["candidate"].split())}] for i, row in enumerate(rows)}
    references = {i: [{"caption": " ".join(t.split())} for t in row["references"]] for i, row in enumerate(rows)}
    _, scores = Cider().compute_score(tokenizer.tokenize(references), tokenizer.tokenize(candidates))
    return {"CIDEr": [float(score) for score in scores]}


def squad(rows: Sequence[Mapping]) -> dict[str, list[float]]:
    """Return exact match and F1 of SQuAD by torchmetrics, the best reference."""
    from torchmetrics.functional.text import squad as measure

    results = []
    for text, references in zip(*_texts(rows), strict=True):
        answers = {"answer_start": [0] * len(references), "text": references}
        results.append(measure([{"prediction_text": text, "id": "0"}], [{"answers": answers, "id": "0"}]))
    keys = {"SQuAD EM": "exact_match", "SQuAD F1": "f1"}
    return {title: [float(result[key]) / 100 for result in results] for title, key in keys.items()}


def bertscore(rows: Sequence[Mapping]) -> dict[str, list[float]]:
    """Return BERTScore F1 by bert_score: the base encoder's last layer, IDF of the set's references."""
    from bert_score import BERTScorer

    candidates, references = _texts(rows)
    idf = {"idf": True, "idf_sents": [text for texts in references for text in texts]}
    scorer = BERTScorer(model_type=str(base_encoder()), num_layers=6, device="cpu", **idf)
    # bert_score cannot encode an empty text; such a pair scores 0.
    scores = np.zeros(len(rows))
    kept = [i for i, text in enumerate(candidates) if text.strip() and any(t.strip() for t in references[i])]
    _, _, f1 = scorer.score([candidates[i] for i in kept], [[t for t in references[i] if t.strip()] for i in kept])
    scores[kept] = f1.tolist()
    return {"BERTScore": scores.tolist()}


def cosine(rows: Sequence[Mapping]) -> dict[str, list[float]]:
    """Return the cosine of sentence vectors of the base encoder (SAS, bi-encoder), the best reference."""
    return {"cosine": best_scores(cosines, *_texts(rows)).tolist()}


def _encoder() -> str:
    return f"encoder {checkpoint_digest(base_encoder())[:12]}"


PEERS = {  # metrics of others: what their numbers depend on, and rows -> title -> scores
    "squad": (lambda: f"torchmetrics {version('torchmetrics')}, squad", squad),
    "bleu": (lambda: f"sacrebleu {version('sacrebleu')}, sentence BLEU, effective order", bleu),
    "rouge": (lambda: f"rouge_score {version('rouge_score')}, F1, no stemmer", rouge),
    "meteor": (lambda: f"METEOR 1.5 of pycocoevalcap {version('pycocoevalcap')}, -l en -norm", meteor),
    "cider": (lambda: f"CIDEr of pycocoevalcap {version('pycocoevalcap')}, IDF of the set's references", cider),
    "bertscore": (lambda: f"bert_score {version('bert_score')}, {_encoder()}, layer 6, IDF", bertscore),
    "cosine": (lambda: f"cosine of sentence vectors, {_encoder()}", cosine),
}


def our_scores(scorer, titles: Mapping[str, str], rows: Sequence[Mapping]) -> dict[str, list[float]]:
    """Return title -> scores of a scorer of this package, whose scores have those titles."""
    columns = {"questions": "question", "predictions": "candidate", "references": "references"}
    statistics, *_ = scorer.statistics({name: [row[column] for row in rows] for name, column in columns.items()})
    scores = scorer.row_scores(statistics)
    return {title: [float(score) for score in scores[name]] for name, title in titles.items()}


def cached(path: Path, facts: Mapping[str, str], compute: Callable[[], dict]) -> dict[str, list[float]]:
    """Return {title: scores} of a file that was made from the same facts, else compute and write them."""
    if path.is_file() and (before := read(path))["facts"] == facts:
        return before["scores"]
    scores = compute()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"facts": facts, "scores": scores}), encoding="utf-8")
    return scores


def judgments_of(rows: Sequence[Mapping], scores: Mapping[str, Sequence[float]]):
    """Return rows and scores as `genqa_metrics.verbs.agree.measures.Judgments`."""
    human = np.array([row["score"] for row in rows], dtype=float)
    labels = [row["label"] for row in rows]
    systems = [row["system"] or "(none)" for row in rows] if any(row["system"] for row in rows) else None
    groups = {"question type": [question_type(row["question"]) for row in rows]}
    groups |= {"length": [length_group(row["candidate"]) for row in rows]} | ({"system": systems} if systems else {})
    return Judgments(
        human=human,
        correct=np.array([label == 1 for label in labels]) if None not in labels else human >= 0.5,
        scores={title: np.array(numbers) for title, numbers in scores.items()},
        questions=[(row["question"] or row["id"], tuple(row["references"])) for row in rows],
        systems=systems,
        groups=groups,
    )


def best_and_rest(report: Mapping, kind: str) -> dict[str, object]:
    """Return the best metric of a report of `analyse`, and the tests of all others against it, corrected (Holm)."""
    tests, best = against_best(report["metrics"], report["differences"], kind), best_first(report["metrics"], kind)[0]
    holm = adjust_p_values([test["permutation_p"] for test in tests.values()]).tolist()
    rest = {t: {name: test[name] for name in ("permutation_p", "value", "low", "high")} for t, test in tests.items()}
    for test, p in zip(rest.values(), holm, strict=True):
        test["permutation_p_holm"] = p
    return {"best": best, "rest": rest}


def sources_of(args: Arguments) -> dict[str, tuple[str, Callable]]:
    """Return {metric: (signature of its numbers, function from rows to {title: scores})}."""
    for argument, names, table in (("ours", args.ours, OURS), ("peers", args.peers, PEERS)):
        if unknown := [name for name in names if name not in table]:
            raise ValueError(f"--{argument}: expected some of {', '.join(table)}, got {unknown[0]!r}")
    sources = {name: (signature(), compute) for name in args.peers for signature, compute in (PEERS[name],)}
    for name in args.ours:
        metric, settings, titles = OURS[name]
        if metric in SCORERS:  # a metric that is not in this version is left out
            scorer = make_scorer(metric, settings)
            sources[name] = scorer.signature, partial(our_scores, scorer, titles)
    return sources


def files_of(args: Arguments) -> dict[str, Path]:
    """Return {set: file}, in the order of the page."""
    paths = {path.name.split(".dev.")[0]: path for path in sorted(Path(args.judgments).glob("*.dev.jsonl.gz"))}
    if not paths:
        raise ValueError(f"--judgments: no NAME.dev.jsonl.gz in {args.judgments}")
    if unknown := [name for name in args.sets if name not in paths]:
        raise ValueError(f"--sets: no {unknown[0]}.dev.jsonl.gz in {args.judgments}; it has {', '.join(paths)}")
    in_order = [name for titles in FAMILIES.values() for name in titles if name in paths]
    order = dict.fromkeys([*in_order, *paths])
    return {name: paths[name] for name in order if not args.sets or name in args.sets}


def without_points(report: dict) -> dict:
    """Return a report without the pairs of metrics and the bins of calibration, which no table shows."""
    del report["differences"]
    for classifier in (metric.get("classifier", {}) for metric in report["metrics"].values()):
        if classifier.get("calibration"):
            del classifier["calibration"]["bins"]
    return report


def curves_figure(judgments: Judgments, names: list[str]):
    """Return a figure of ROC, precision-recall and, of scores within 0 to 1, calibration curves."""
    from matplotlib.figure import Figure
    from sklearn.calibration import calibration_curve
    from sklearn.metrics import precision_recall_curve, roc_curve

    curves = {  # what lies across and up
        "ROC": lambda right, scores: roc_curve(right, scores)[:2],
        "Precision and recall": lambda right, scores: precision_recall_curve(right, scores)[1::-1],
        "Calibration": lambda right, scores: calibration_curve(right, scores, n_bins=10)[::-1],
    }
    figure = Figure(figsize=(13, 4.2))
    for axes, (title, curve) in zip(figure.subplots(1, 3), curves.items(), strict=True):
        for name, look in styles(names).items():
            scores, line = judgments.scores[name], {key: look[key] for key in ("color", "linestyle")}
            is_share = scores.min() >= -1e-6 and scores.max() <= 1 + 1e-6
            if title != "Calibration" or is_share:
                scores = np.clip(scores, 0, 1) if is_share else scores
                axes.plot(*curve(judgments.correct, scores), label=name, **line)
        axes.set(title=title, xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    figure.tight_layout()
    handles = figure.axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=7, frameon=False)
    return figure


def study(args: Arguments) -> dict:
    """Compute or read the scores, draw the curves, and return the agreement with people on every set."""
    warnings.filterwarnings("ignore", module="bert_score|transformers|torch")
    files, sources, output, sets = files_of(args), sources_of(args), Path(args.output), {}
    judged = {}
    for name, file in files.items():
        rows, digest = list(json_rows(file)), file_digest(file)
        scores: dict[str, list[float]] = {}
        for label, (signature, compute) in sources.items():
            facts = {"data": digest, "signature": signature}
            path = output / "scores" / name / f"{label}.json"
            scores |= cached(path, facts, partial(compute, rows))
            print(f"{name}: {label}", file=sys.stderr)
        judgments = judged[name] = judgments_of(rows, scores)
        report = sets[name] = analyse(judgments, RANK_GAP, args.resamples, args.seed)
        report["best_and_rest"] = {kind: best_and_rest(report, kind) for kind in ("pearson", "spearman")}
        report |= {"rows": len(rows), "questions": len(set(judgments.questions)), "sha256": digest}
        report["share_correct"] = float(judgments.correct.mean())
    if CURVES in sets:
        shown = [title for title in NAMES["in_figures"] if title in sets[CURVES]["metrics"]]
        path = output / f"results/meta_curves_{CURVES}.svg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(svg_of(curves_figure(judged[CURVES], shown)), encoding="utf-8")
    return {
        "python": platform.python_version(),
        "versions": versions("genqa-metrics", "numpy", "scipy", "scikit-learn", "torch", "transformers"),
        "signatures": {label: signature for label, (signature, _) in sources.items()},
        "resamples": args.resamples,
        "permutations": PERMUTATIONS * args.resamples,
        "seed": args.seed,
        "sets": {name: without_points(report) for name, report in sets.items()},
    }


RESULT = "studies/meta_evaluation/results/meta_evaluation"
STUDY = Study(__spec__.name, Arguments, study, page, {None: "meta_evaluation"})
TABLES = [  # which are drawn
    Table(None, RESULT, partial(drawn, name), f"training/studies/meta_evaluation/results/{name}.svg")
    for name in FIGURES
]

if __name__ == "__main__":
    STUDY.main()
