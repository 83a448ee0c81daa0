"""Measure how well metrics agree with human judgments of answers, beside their peers; write results/tables.md.

    pip install -c constraints.txt -e '.[train,meteor]'   # METEOR and CIDEr also need Java
    python -m training.studies.meta_evaluation.measure --judgments DATA/judgments

One page like Tables 3, 6, 7, 9 and Figure 4 of Lee et al. (2021), for every NAME.dev.jsonl.gz in the folder. The
scores of the rows are kept in OUTPUT/scores, with the digests of the data and of the metric, so that a second run is
quick.
"""

import json
import platform
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from training.common import option, parsed
from training.studies.meta_evaluation.page import FAMILIES, NAMES, RANK_GAP, named, page
from training.studies.meta_evaluation.page import figures as figures_of

HERE = Path(__file__).parent

# What is computed of this package, by the name in the caches: metric, settings, and the title of every score.
OURS = {name: (of["metric"], of["settings"], of["titles"]) for name, of in NAMES["ours"].items()}


@dataclass
class Arguments:
    """What the command line takes; read by `parsed`."""

    judgments: str = option("folder of NAME.dev.jsonl.gz")
    output: str = option("folder for results/ and scores/", str(HERE))
    sets: list[str] = option("names of sets; all that are found if none", [])
    ours: list[str] = option(f"of {', '.join(OURS)}", list(OURS))
    peers: list[str] = field(default_factory=lambda: list(PEERS), metadata={"help": "of bleu, rouge, ... (all)"})
    resamples: int = option("bootstrap samples; 10 times as many permutations", 1000)
    seed: int = option("of both", 0)
    fresh: bool = option("compute all scores again", False)


@dataclass(frozen=True)
class Peer:
    """A metric of somebody else: what its numbers depend on, and rows -> title -> scores."""

    signature: Callable[[], str]
    scores: Callable[[Sequence[Mapping]], dict[str, list[float]]]


def _texts(rows: Sequence[Mapping]) -> tuple[list[str], list[list[str]]]:
    return [row["candidate"] for row in rows], [row["references"] for row in rows]


def _flat(rows: Sequence[Mapping]) -> tuple[list[str], list[str], list[int]]:
    """Return every pair of candidate and reference, and where each row's pairs begin."""
    candidates, references, starts = [], [], []
    for row in rows:
        starts.append(len(candidates))
        candidates += [row["candidate"]] * len(row["references"])
        references += row["references"]
    return candidates, references, starts


def bleu(rows: Sequence[Mapping]) -> dict[str, list[float]]:
    """Return sentence BLEU-1 and BLEU-4 by sacrebleu: its smoothing, and only orders that the candidate has."""
    from sacrebleu.metrics import BLEU

    scorers = {f"BLEU-{order}": BLEU(max_ngram_order=order, effective_order=True) for order in (1, 4)}
    return {
        title: [
            scorer.sentence_score(text, references).score / 100 for text, references in zip(*_texts(rows), strict=True)
        ]
        for title, scorer in scorers.items()
    }


def rouge(rows: Sequence[Mapping]) -> dict[str, list[float]]:
    """Return ROUGE-L F1 by rouge_score, without stemming, the best reference."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"])
    pairs = zip(*_texts(rows), strict=True)
    return {"ROUGE-L": [scorer.score_multi(references, text)["rougeL"].fmeasure for text, references in pairs]}


def meteor(rows: Sequence[Mapping]) -> dict[str, list[float]]:
    """Return METEOR 1.5 (Java), the best reference."""
    import numpy as np
    from genqa_metrics.f_meta.bases import base_function

    candidates, references, starts = _flat(rows)
    scores = np.array(base_function("meteor").pairs(candidates, references))
    return {"METEOR": np.maximum.reduceat(scores, starts).tolist()}


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

    scores: dict[str, list[float]] = {"SQuAD EM": [], "SQuAD F1": []}
    for text, references in zip(*_texts(rows), strict=True):
        answers = {"answer_start": [0] * len(references), "text": references}
        found = measure([{"prediction_text": text, "id": "0"}], [{"answers": answers, "id": "0"}])
        scores["SQuAD EM"].append(float(found["exact_match"]) / 100)
        scores["SQuAD F1"].append(float(found["f1"]) / 100)
    return scores


def bertscore(rows: Sequence[Mapping]) -> dict[str, list[float]]:
    """Return BERTScore F1 by bert_score: the base encoder's last layer, IDF of the set's references."""
    from bert_score import BERTScorer
    from genqa_metrics.core.encoders import base_encoder

    candidates, references = _texts(rows)
    scorer = BERTScorer(
        model_type=str(base_encoder()),
        num_layers=6,
        idf=True,
        idf_sents=[text for texts in references for text in texts],
        device="cpu",
    )
    # bert_score cannot encode an empty text; such a pair scores 0.
    scores = [0.0] * len(rows)
    kept = [i for i, text in enumerate(candidates) if text.strip() and any(t.strip() for t in references[i])]
    _, _, f1 = scorer.score([candidates[i] for i in kept], [[t for t in references[i] if t.strip()] for i in kept])
    for i, value in zip(kept, f1.tolist(), strict=True):
        scores[i] = value
    return {"BERTScore": scores}


def cosine(rows: Sequence[Mapping]) -> dict[str, list[float]]:
    """Return the cosine of sentence vectors of the base encoder (SAS, bi-encoder), the best reference."""
    import numpy as np
    from genqa_metrics.core.encoders import base_encoder
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(base_encoder()), device="cpu")
    candidates, references, starts = _flat(rows)
    texts = list(dict.fromkeys([*candidates, *references]))
    vectors = model.encode(texts, normalize_embeddings=True, show_progress_bar=False)
    place = {text: i for i, text in enumerate(texts)}
    left, right = ([place[text] for text in side] for side in (candidates, references))
    cosines = (vectors[left] * vectors[right]).sum(axis=1)
    return {"cosine": np.maximum.reduceat(cosines, starts).astype(float).tolist()}


def _encoder() -> str:
    from genqa_metrics.core.checkpoints import checkpoint_digest
    from genqa_metrics.core.encoders import base_encoder

    return f"encoder {checkpoint_digest(base_encoder())[:12]}"


PEERS = {
    "squad": Peer(lambda: f"torchmetrics {version('torchmetrics')}, squad", squad),
    "bleu": Peer(lambda: f"sacrebleu {version('sacrebleu')}, sentence BLEU, effective order", bleu),
    "rouge": Peer(lambda: f"rouge_score {version('rouge_score')}, F1, no stemmer", rouge),
    "meteor": Peer(lambda: f"METEOR 1.5 of pycocoevalcap {version('pycocoevalcap')}, -l en -norm", meteor),
    "cider": Peer(lambda: f"CIDEr of pycocoevalcap {version('pycocoevalcap')}, IDF of the set's references", cider),
    "bertscore": Peer(lambda: f"bert_score {version('bert_score')}, {_encoder()}, layer 6, IDF", bertscore),
    "cosine": Peer(lambda: f"sentence-transformers {version('sentence-transformers')}, {_encoder()}", cosine),
}


def read_set(path: Path) -> list[dict]:
    """Return the rows of a file of judgments."""
    from genqa_metrics.toolkit.rows.files import Source

    rows = []
    for row in Source(path).rows():
        if row.problem:
            raise ValueError(f"{path.name}, line {row.number}: {row.problem}")
        rows.append(row.values)
    return rows


def our_scores(scorer, titles: Mapping[str, str], rows: Sequence[Mapping]) -> dict[str, list[float]]:
    """Return title -> scores of a metric of this package.

    Args:
        scorer: see `genqa_metrics.toolkit.scoring.registry.make_scorer`.
        titles: name of a score -> title.
        rows: rows of a set.
    """
    columns = {"questions": "question", "predictions": "candidate", "references": "references"}
    statistics, _ = scorer.statistics({name: [row[column] for row in rows] for name, column in columns.items()})
    scores = scorer.row_scores(statistics)
    return {title: [float(value) for value in scores[name]] for name, title in titles.items()}


def cached(path: Path, facts: Mapping[str, str], fresh: bool, compute: Callable[[], dict]) -> dict[str, list[float]]:
    """Return title -> scores from a file if it was made from the same data by the same metric, else compute them.

    Args:
        path: JSON file, written when computed.
        facts: what the scores depend on.
        fresh: compute in any case.
        compute: gives title -> scores.
    """
    if path.is_file() and not fresh:
        known = json.loads(path.read_text(encoding="utf-8"))
        if known["facts"] == facts:
            return known["scores"]
    scores = compute()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"facts": facts, "scores": scores}), encoding="utf-8")
    return scores


def judgments_of(rows: Sequence[Mapping], scores: Mapping[str, Sequence[float]]):
    """Return rows and scores as `genqa_metrics.toolkit.analysis.human_agreement.Judgments`."""
    import numpy as np
    from genqa_metrics.toolkit.analysis.agree import length_group
    from genqa_metrics.toolkit.analysis.human_agreement import Judgments
    from genqa_metrics.toolkit.analysis.question_types import question_type

    human = np.array([row["score"] for row in rows], dtype=float)
    labels = [row["label"] for row in rows]
    systems = [row["system"] or "(none)" for row in rows] if any(row["system"] for row in rows) else None
    groups = {
        "question type": [question_type(row["question"]) for row in rows],
        "length": [length_group(row["candidate"]) for row in rows],
    }
    if systems:
        groups["system"] = systems
    return Judgments(
        human=human,
        correct=np.array([label == 1 for label in labels]) if None not in labels else human >= 0.5,
        scores={title: np.array(values) for title, values in scores.items()},
        questions=[(row["question"] or row["id"], tuple(row["references"])) for row in rows],
        systems=systems,
        groups=groups,
    )


def best_and_rest(report: Mapping, kind: str) -> dict[str, object]:
    """Return the best metric of a set, and the tests of all others against it, corrected (Holm) for their number.

    Args:
        report: see `genqa_metrics.toolkit.analysis.human_agreement.analyse`.
        kind: "pearson" or "spearman".
    """
    from genqa_metrics.toolkit.analysis.resampling import adjust_p_values
    from genqa_metrics.toolkit.reports.agree import against_best, ordered

    tests = against_best(report, kind)
    holm = adjust_p_values([test["permutation_p"] for test in tests.values()], "holm").tolist()
    names = ("permutation_p", "williams_p", "value", "low", "high")
    rest = {
        title: {name: test[name] for name in names} | {"permutation_p_holm": p}
        for (title, test), p in zip(tests.items(), holm, strict=True)
    }
    return {"best": ordered(report, kind)[0], "rest": rest}


def _command(args: Arguments) -> str:
    """Return the command that gives the same page."""
    known = Arguments(judgments="DATA/judgments")
    words = ["python -m training.studies.meta_evaluation.measure --judgments DATA/judgments"]
    for name in ("sets", "ours", "peers", "resamples", "seed"):
        value = getattr(args, name)
        if value != getattr(known, name):
            words.append(f"--{name} {' '.join(value) if isinstance(value, list) else value}")
    return " ".join(words)


def main() -> None:
    """Compute or read the scores, measure, write."""
    from genqa_metrics import __version__
    from genqa_metrics.toolkit.analysis.human_agreement import PERMUTATIONS, analyse
    from genqa_metrics.toolkit.reports.charts import curves_figure, svg_of
    from genqa_metrics.toolkit.rows.files import digest as digest_of
    from genqa_metrics.toolkit.scoring.registry import SCORERS, make_scorer

    args = parsed(Arguments)
    warnings.filterwarnings("ignore", module="bert_score|transformers|torch")
    output, folder = Path(args.output), Path(args.judgments)
    found = {path.name.removesuffix(".dev.jsonl.gz"): path for path in sorted(folder.glob("*.dev.jsonl.gz"))}
    order = [name for titles in FAMILIES.values() for name in titles if name in found]
    order += [name for name in found if name not in order]
    for name in args.sets:
        if name not in found:
            raise SystemExit(f"--sets: no {name}.dev.jsonl.gz in {folder}; it has {', '.join(found) or 'none'}")
    order = [name for name in order if not args.sets or name in args.sets]
    if not order:
        raise SystemExit(f"--judgments: no NAME.dev.jsonl.gz in {folder}")
    for name_of_setting, chosen, known in (("ours", args.ours, OURS), ("peers", args.peers, PEERS)):
        for name in chosen:
            if name not in known:
                raise SystemExit(f"--{name_of_setting}: expected some of {', '.join(known)}, got {name!r}")

    sources: dict[str, tuple[str, Callable]] = {}
    for name in args.peers:
        sources[name] = PEERS[name].signature(), PEERS[name].scores
    for name in args.ours:
        metric, settings, titles = OURS[name]
        if metric in SCORERS:  # a metric that is not in this version is left out
            scorer = make_scorer(metric, settings)
            sources[name] = scorer.signature, lambda rows, s=scorer, t=titles: our_scores(s, t, rows)

    sets: dict[str, dict] = {}
    for name in order:
        rows, digest = read_set(found[name]), digest_of(str(found[name]))
        scores: dict[str, list[float]] = {}
        for label, (signature, compute) in sources.items():
            path = output / "scores" / name / f"{label}.json"
            facts = {"data": digest, "signature": signature}
            scores |= cached(path, facts, args.fresh, lambda rows=rows, compute=compute: compute(rows))
            print(f"{name}: {label}", file=sys.stderr)
        judgments = judgments_of(rows, scores)
        report = analyse(judgments, RANK_GAP, args.resamples, args.seed)
        report["best_and_rest"] = {kind: best_and_rest(report, kind) for kind in ("pearson", "spearman")}
        report |= {"rows": len(rows), "questions": len(set(judgments.questions)), "sha256": digest}
        report["share_correct"] = float(judgments.correct.mean())
        sets[name] = report

    results = output / "results"
    results.mkdir(parents=True, exist_ok=True)
    drawn = figures_of(sets)
    if "evouna_nq" in sets:
        shown = [title for title in NAMES["in_figures"] if title in sets["evouna_nq"]["metrics"]]
        figure = curves_figure(sets["evouna_nq"], shown)
        drawn[f"Curves of {named('evouna_nq')}"] = ("meta_curves_evouna_nq.svg", figure)
    figures = {}
    for title, (file, figure) in drawn.items():
        (results / file).write_text(svg_of(figure), encoding="utf-8")
        figures[title] = file
    for report in sets.values():  # what the JSON does not need: every pair of metrics, and the points of curves
        del report["differences"]
        for metric in report["metrics"].values():
            for curve in ("roc", "precision_recall"):
                metric.get("classifier", {}).pop(curve, None)
            if metric.get("classifier", {}).get("calibration"):
                del metric["classifier"]["calibration"]["bins"]
    facts = {
        "command": _command(args),
        "python": platform.python_version(),
        "versions": {"genqa-metrics": __version__}
        | {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "torch", "transformers")},
        "signatures": {label: signature for label, (signature, _) in sources.items()},
        "resamples": args.resamples,
        "permutations": PERMUTATIONS * args.resamples,
        "seed": args.seed,
    }
    lines = [f'"{name}": {json.dumps(report, ensure_ascii=False, allow_nan=False)}' for name, report in sets.items()]
    text = json.dumps(facts, indent=1, ensure_ascii=False)[:-2] + ',\n "sets": {\n' + ",\n".join(lines) + "\n}}\n"
    (results / "meta_evaluation.json").write_text(text, encoding="utf-8")
    (results / "tables.md").write_text(page(facts, sets, figures), encoding="utf-8")
    print(results / "tables.md", file=sys.stderr)


if __name__ == "__main__":
    main()
