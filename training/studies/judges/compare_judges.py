"""Compare judges and simple metrics on every dev set: one command, one table.

A judge is a checkpoint of AVA. The simple metrics are token F1, those of kpqa (BERTScore, ROUGE-L weighted with
keyphrases) and the cosine of sentence vectors, all on the same base encoder and with the best reference of a row.

Nothing is reported of rows that it was fitted to: scaling and threshold of a judge, and the thresholds of the simple
metrics, come for each half of the questions from the other half (`evaluate_ava.half`). A judge has one threshold for
everything. The simple metrics have one for each file, which favours them.
"""

import argparse
import hashlib
import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from genqa_metrics.ava.judging import Judge
from genqa_metrics.ava.loading import load_judge
from genqa_metrics.core.checkpoints import checkpoint_digest
from scipy.stats import pearsonr
from sklearn.metrics import roc_auc_score

from training.ava import evaluate_ava as e
from training.ava import triples as t
from training.common import command_line, json_rows, local_file, markdown_table, put_between_markers
from training.studies.harness import Table

WRITTEN = "written.dev"
BURIED = "written.dev in 400 words"
VERDICTS = (WRITTEN, BURIED, "assistant.dev", *e.BINARY, "financebench.dev", "truthfulqa.dev", "qaeval.dev")
GRADES = (*e.GRADED, "saf_english.dev")
BURIED_WORDS = 400


def buried_rows(rows: list[dict], words: int = BURIED_WORDS) -> list[dict]:
    """Return the rows with the candidate in the middle of a text about the same subjects.

    The text is made of right answers to other questions of the same domain, then of any, none twice, up to a number of
    words; those that hold a reference of the row are left out. The same rows always get the same text.
    """
    from training.ava.wrong_answers import occurrence

    buried = []
    for number, row in enumerate(rows):
        others = [r for r in rows if r["label"] == 1 and r["question"] != row["question"]]
        random.Random(number).shuffle(others)
        others.sort(key=lambda r: r["extra"]["domain"] != row["extra"]["domain"])
        texts, seen, count = [], set(), len(row["candidate"].split())
        for other in others:
            if other["question"] in seen or occurrence(row["references"], other["candidate"]):
                continue
            seen.add(other["question"])
            texts.append(other["candidate"])
            count += len(other["candidate"].split())
            if count >= words:
                break
        middle = len(texts) // 2
        buried.append(row | {"candidate": "\n".join([*texts[:middle], row["candidate"], *texts[middle:]])})
    return buried


def read(name: str, folders: list[Path]) -> list[dict]:
    """Return the rows of a dev set that have a verdict or a grade."""
    path = local_file(WRITTEN if name == BURIED else name, folders)
    if path is None:
        raise FileNotFoundError(f"--judgments: no {name}.jsonl.gz in {', '.join(map(str, folders))}")
    rows = list(json_rows(path))
    if name in VERDICTS:
        rows = [row for row in rows if row["label"] is not None]
    return buried_rows(rows) if name == BURIED else rows


def columns(rows: list[dict]) -> tuple[list, list, list]:
    """Return questions, references and candidates."""
    return tuple([row[name] for row in rows] for name in ("question", "references", "candidate"))


def token_f1(references: list[str], candidate: str) -> float:
    """Return the F1 of words as SQuAD counts it, against the best reference.

    >>> round(token_f1(["the cat sat"], "a cat ran"), 3)
    0.5
    """
    counted, best = Counter(t.normalised(candidate).split()), 0.0
    for reference in references:
        wanted = Counter(t.normalised(reference).split())
        both = (counted & wanted).total()
        best = max(best, 2 * both / max(1, counted.total() + wanted.total()))
    return best


def simple_scores(rows: list[dict], kpqa, encode) -> dict[str, np.ndarray]:
    """Return the scores of the simple metrics for every row.

    Args:
        rows: judged answers.
        kpqa: the loaded module.
        encode: from a list of texts to their (texts, size) vectors of length 1.
    """
    questions, references, candidates = columns(rows)
    questions = [question or "What is true?" for question in questions]  # one row of sas_squad.dev has none
    found = kpqa.compute(questions=questions, references=references, predictions=candidates, per_example=True)
    texts = list(dict.fromkeys([*candidates, *(text for given in references for text in given)]))
    vectors = dict(zip(texts, encode(texts), strict=True))
    cosine = [
        max(float(vectors[c] @ vectors[r]) for r in given) for given, c in zip(references, candidates, strict=True)
    ]
    return {
        "token F1": np.array([token_f1(given, c) for given, c in zip(references, candidates, strict=True)]),
        "BERTScore": np.array(found["bertscore_per_example"]),
        "ROUGE-L-KPQA": np.array(found["rougeL_kpqa_per_example"]),
        "embedding cosine": np.array(cosine),
    }


def sentence_encoder(dtype: str | None):
    """Return a function that gives texts the vectors of the base encoder: means over word pieces, of length 1."""
    import torch
    from genqa_metrics.core.batching import budgeted, padded, tensors
    from genqa_metrics.core.encoders import base_encoder
    from transformers import AutoModel, AutoTokenizer

    folder = base_encoder()
    model, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    model.to(getattr(torch, dtype or "float32"))

    def encode(texts: list[str]) -> np.ndarray:
        batch = tokenizer(texts, truncation=True, max_length=512, return_token_type_ids=False)
        rows = [{name: batch[name][i] for name in batch} for i in range(len(texts))]
        out = np.zeros((len(texts), model.config.hidden_size), dtype=np.float32)
        for part in budgeted([len(row["input_ids"]) for row in rows], 1024):
            inputs = tensors(padded([rows[i] for i in part]))
            with torch.inference_mode():
                states = model(**inputs).last_hidden_state.float()
            mask = inputs["attention_mask"][:, :, None]
            out[part] = torch.nn.functional.normalize((states * mask).sum(1) / mask.sum(1), dim=-1).numpy()
        return out

    return encode


def halves_of(rows: list[dict]) -> np.ndarray:
    """Return the half of every row, by its question; where all fall into one half they take turns."""
    questions = sorted({row["question"] for row in rows})
    half = {question: e.half(question) for question in questions}
    if len(set(half.values())) == 1:
        half = {question: i % 2 for i, question in enumerate(questions)}
    return np.array([half[row["question"]] for row in rows])


def right_above_wrong(scores: np.ndarray, rows: list[dict]) -> float:
    """Return the share of pairs of a right and a wrong answer to one question in which the right one has more.

    >>> rows = [{"question": "q", "label": 1}, {"question": "q", "label": 0}, {"question": "q", "label": 0}]
    >>> right_above_wrong(np.array([0.5, 0.1, 0.9]), rows)
    0.5
    """
    groups = defaultdict(lambda: ([], []))
    for score, row in zip(scores, rows, strict=True):
        groups[row["question"]][int(row["label"])].append(score)
    wins = [(r > w) + 0.5 * (r == w) for wrong, right in groups.values() for r in right for w in wrong]
    return float(np.mean(wins))


def cross_fitted_accuracy(scores: np.ndarray, labels: np.ndarray, halves: np.ndarray) -> float:
    """Return the accuracy of scores, with the best threshold of the other half of the questions."""
    right = 0
    for own in (0, 1):
        fit, use = halves != own, halves == own
        grid = np.unique(scores[fit])
        best = grid[np.argmax([((scores[fit] >= g) == labels[fit]).mean() for g in grid])]
        right += ((scores[use] >= best) == labels[use]).sum()
    return float(right / len(labels))


def judge_scores(folder: Path, sets: dict[str, list[dict]], dtype: str | None) -> dict:
    """Return all numbers of a judge.

    Args:
        folder: checkpoint; its own `reference_aggregation` is used.
        sets: rows of every dev set.
        dtype: floating type of the model.
    """
    loaded = load_judge(folder, device="cpu", dtype=dtype)
    judge, how = Judge(loaded), loaded.reference_aggregation
    devs = {name: e.Dev(rows, judge, (how,)) for name, rows in sets.items()}
    found = e.cross_fitted(devs, how, "rmse")
    result = {"sets": {}, "probabilities": {}}
    for name, dev in devs.items():
        probabilities, verdicts = found[name]
        result["probabilities"][name] = probabilities
        if name not in VERDICTS:
            result["sets"][name] = {"r": float(pearsonr(probabilities, dev.labels)[0])}
            continue
        result["sets"][name] = e.row_scores(probabilities, verdicts, dev.labels)
        if name in (WRITTEN, BURIED):
            result["sets"][name]["right_above_wrong"] = right_above_wrong(probabilities, sets[name])
        own = cross_fitted_accuracy(dev.logits(how), dev.labels, halves_of(sets[name]))
        result["sets"][name]["accuracy_own_threshold"] = own
    names = e.CALIBRATION
    p, v = (np.concatenate([found[name][i] for name in names]) for i in (0, 1))
    labels = np.concatenate([devs[name].labels for name in names])
    systems = [system for name in names for system in devs[name].systems]
    result["sets"]["evouna together"] = e.row_scores(p, v, labels) | {
        "system_error": e.system_scores(v, labels, systems)["mean_absolute_error"]
    }
    result["settings"] = e.fitted(devs, how, "rmse")
    result["checkpoint"] = checkpoint_digest(folder)
    result["minimal_pairs"] = e.pairs_passed(Judge(replace(loaded, **result["settings"])))
    return result


def table(results: dict[str, dict]) -> str:
    """Return the Markdown table of all methods."""
    rows = []

    def line(name, score, key):
        values = [r.get("sets", {}).get(name, {}).get(key) for r in results.values()]
        if any(value is not None for value in values):
            rows.append([name, score, *("" if value is None else f"{value:.3f}" for value in values)])

    for name in (*VERDICTS, "evouna together"):
        line(name, "accuracy", "accuracy")
        line(name, "AUC", "auc")
        line(name, "right above wrong", "right_above_wrong")
        if name == "evouna together":
            line(name, "calibration error", "calibration_error")
            line(name, "error of system accuracies", "system_error")
    for name in GRADES:
        line(name, "Pearson", "r")
    for kind in next((r["minimal_pairs"] for r in results.values() if r.get("minimal_pairs")), {}):
        cells = []
        for r in results.values():
            passed = r.get("minimal_pairs", {}).get(kind)
            cells.append(f"{passed[0] / passed[1]:.2f}" if passed else "")
        rows.append([f"minimal pairs: {kind}", "passed", *cells])
    return markdown_table(["set", "score", *results], rows)


def kept_of(path: Path | None, keep: bool, digests: Mapping[str, str]) -> dict:
    """Return "data", "results" and, if there are some, the "command" of a result file to which more is added.

    Args:
        path: the file.
        keep: whether something is kept at all.
        digests: SHA-256 of the files that are measured on now, by set.

    Raises:
        ValueError: if there is no such file, or it was measured on other data.
    """
    if not keep:
        return {"data": {}, "results": {}}
    if not (path and path.is_file()):
        raise ValueError(f"--keep: no result file {path} to keep; name one with --json, or leave --keep out")
    kept = json.loads(path.read_text(encoding="utf-8"))
    for name, digest in digests.items():
        if kept["data"].get(name, digest) != digest:
            raise ValueError(f"--keep: {name} is not the file that {path} was measured on; leave --keep out")
    return kept


def write_results(path: Path, module: str, kept: Mapping, digests: Mapping[str, str], results: Mapping) -> None:
    """Write a result file: the command of this process behind those that are kept, digests, results.

    Args:
        path: the file.
        module: what `python -m` was given.
        kept: see `kept_of`.
        digests: SHA-256 of the files that were measured on, by set.
        results: all of them, kept ones too.
    """
    command = command_line(module, sys.argv[1:])
    command = f"{kept['command']}; {command}" if "command" in kept else command
    found = {"command": command, "data": kept["data"] | dict(digests), "results": results}
    path.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Read, judge, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--judgments", type=Path, nargs="+", required=True, help="folders of the dev files")
    parser.add_argument("--judges", nargs="*", default=[], help="NAME=FOLDER of every judge")
    parser.add_argument(
        "--sets", nargs="+", help="dev sets, for a judge those of EVOUNA at least, which give its scaling; default all"
    )
    parser.add_argument("--keep", action="store_true", help="keep what else the result file has, from the same data")
    parser.add_argument("--simple", action="store_true", help="also the simple metrics")
    parser.add_argument("--dtype", help="floating type of all models; default float32")
    parser.add_argument("--json", type=Path, help="result file")
    parser.add_argument("--write", type=Path, help="file with <!-- PLACE -->, for the table")
    parser.add_argument("--place", default="judges", help="name of that place")
    args = parser.parse_args()
    sets = {name: read(name, args.judgments) for name in args.sets or (*VERDICTS, *GRADES)}
    digests = {}
    for name in sets:
        path = local_file(WRITTEN if name == BURIED else name, args.judgments)
        digests[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    try:
        kept = kept_of(args.json, args.keep, digests)
    except ValueError as error:
        parser.error(str(error))
    results = {}
    for text in args.judges:
        name, _, folder = text.partition("=")
        results[name] = judge_scores(Path(folder), sets, args.dtype)
        results[name].pop("probabilities")
    if args.simple:
        import evaluate

        metrics = Path(__file__).parents[3] / "metrics"
        kpqa = evaluate.load(
            str(metrics / "kpqa/kpqa.py"), keep_in_memory=True, progress=False, device="cpu", dtype=args.dtype
        )
        encode = sentence_encoder(args.dtype)
        for name, rows in sets.items():
            labels = np.array([row["score"] if row["label"] is None else row["label"] for row in rows], float)
            halves = halves_of(rows)
            for method, scores in simple_scores(rows, kpqa, encode).items():
                earlier = kept["results"].get(method, {"sets": {}})["sets"]  # they need no scaling from other sets
                here = results.setdefault(method, {"sets": dict(earlier)})["sets"][name] = {}
                if name in VERDICTS:
                    here["accuracy"] = cross_fitted_accuracy(scores, labels, halves)
                    here["auc"] = float(roc_auc_score(labels, scores))
                    if name in (WRITTEN, BURIED):
                        here["right_above_wrong"] = right_above_wrong(scores, rows)
                else:
                    here["r"] = float(pearsonr(scores, labels)[0])
    known = {name: found for name, found in kept["results"].items() if name not in results}
    both = [*known.items(), *results.items()]
    results = dict(sorted(both, key=lambda item: "checkpoint" not in item[1]))  # judges before simple metrics
    text = table(results)
    print(text)
    if args.json:
        write_results(args.json, "training.studies.judges.compare_judges", kept, digests, results)
    if args.write:
        put_between_markers(args.write, args.place, text)


TABLES = [
    Table("judges", "studies/judges/results/judges", lambda r: table(r["results"])),
    Table("paper", "studies/ava_configurations/results/paper_judges", lambda r: table(r["results"])),
]


if __name__ == "__main__":
    main()
