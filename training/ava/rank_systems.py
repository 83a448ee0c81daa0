"""Measure how well a judge measures rankers of answers: Table 5 of Vu & Moschitti (2021) on WikiQA and TREC-QA.

    python -m training.ava.rank_systems --data_dir AS2 --output_dir RUNS --write training/ava/README.md

Rankers of different kinds (`rankers.py`) put the candidate answers of every question in order. P@1, MAP and MRR of
their rankings come once from the gold labels and once from the judge's. References are correct answers of the
question; of several the probabilities are averaged. The threshold is the one with the least RMSE of P@1 over the
systems on dev. Questions without a correct or without an incorrect answer are left out.

The paper does not say whether a correct answer may be its own reference. Both readings are measured:

- `others`: a candidate is never compared with itself, which leaves the questions with two or more correct answers;
- `all`: all correct answers are references, so that a judge that knows equal texts has correct answers for nothing.
"""

import json
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

CORPORA = {"TREC-QA": "trecqa", "WikiQA": "wikiqa"}  # name -> NAME.train, NAME.dev, NAME.test in the folder of data
SPLITS = ("dev", "test")
REFERENCES = ("others", "all")
TITLES = {"p_at_1": "P@1", "map": "MAP", "mrr": "MRR"}
MARKERS = ("<!-- systems -->", "<!-- end of systems -->")

Judge = Callable[[list[str], list[list[str]], list[str]], Sequence[float]]


@dataclass
class Arguments:
    """What is measured on what."""

    data_dir: str = field(metadata={"help": "folder of the answer-sentence selection corpora"})
    output_dir: str = field(metadata={"help": "folder of the cross-encoder: trained if it is not there"})
    checkpoint: str | None = field(default=None, metadata={"help": "folder or Hub id of the judge; default: bundled"})
    seed: int = field(default=0, metadata={"help": "of the noise and of the cross-encoder"})
    plain: bool = field(default=True, metadata={"help": "--no_plain leaves the blanks between tokens as they are"})
    write: str | None = field(
        default=None,
        metadata={"help": "Markdown file in which the tables are put; results/systems.json is put beside it"},
    )


def references_of(question, references: str) -> list[list[str]] | None:
    """Return the references of every candidate, or None if the question cannot be used.

    Args:
        question: a `rankers.Question`.
        references: "others" or "all", see the head of this file; texts with the same words are the same answer.

    Returns:
        One list of correct answers per candidate.
    """
    from training.ava.rankers import words
    from training.ava.ranking import is_usable

    if not is_usable(question.labels):
        return None
    correct = [text for text, label in zip(question.candidates, question.labels, strict=True) if label]
    if references == "all":
        return [correct for _ in question.candidates]
    found = [[text for text in correct if words(text) != words(candidate)] for candidate in question.candidates]
    return found if all(found) else None


def judged(questions: Sequence, judge: Judge) -> dict[str, list]:
    """Return the judge's probabilities of the candidates of all questions, for each of `REFERENCES`.

    Args:
        questions: `rankers.Question`s.
        judge: from (rows,) questions, (rows,) lists of references and (rows,) answers to (rows,) probabilities.

    Returns:
        "others", "all" -> per question its (candidates,) probabilities, or None if it cannot be used.
    """
    import numpy as np

    given = {how: [references_of(question, how) for question in questions] for how in REFERENCES}
    rows = [
        (question.text, references, candidate)
        for how in REFERENCES
        for question, own in zip(questions, given[how], strict=True)
        if own
        for candidate, references in zip(question.candidates, own, strict=True)
    ]
    values, found = iter(judge(*map(list, zip(*rows, strict=True)))), {}
    for how in REFERENCES:
        found[how] = [own and np.array([next(values) for _ in own], dtype=float) for own in given[how]]
    return found


def best_threshold(tops, true) -> float:
    """Return the threshold with the least RMSE of P@1 over systems.

    Args:
        tops: (systems, questions) probabilities of the first answers.
        true: (systems,) P@1 from gold labels.

    Returns:
        The middle one of the best thresholds, each half-way between two neighbouring probabilities.

    Two systems, two questions: between 0.3 and 0.6 all first answers of one and half of the other's are accepted.

    >>> import numpy as np
    >>> round(best_threshold(np.array([[0.9, 0.6], [0.8, 0.3]]), np.array([1.0, 0.5])), 3)
    0.45
    """
    import numpy as np

    values = np.unique(np.r_[0.0, tops.ravel(), 1.0])
    thresholds = (values[1:] + values[:-1]) / 2
    estimated = (tops[None] >= thresholds[:, None, None]).mean(axis=2)
    losses = ((estimated - true) ** 2).mean(axis=1)
    best = thresholds[losses <= losses.min() + 1e-12]
    return float(best[len(best) // 2])


def measured(questions: Sequence, orders: dict[str, list], probabilities: list, threshold: float | None) -> dict:
    """Return the true and the estimated measures of rankers, and how near they are.

    Args:
        questions: `rankers.Question`s.
        orders: ranker -> per question the numbers of its candidates, best first.
        probabilities: per question the judge's (candidates,) probabilities, None for one that is left out.
        threshold: probability from which an answer counts as correct; None takes the best for these questions.
    """
    import numpy as np

    from training.ava.ranking import MEASURES, rank_agreement, ranking_scores

    used = [i for i, own in enumerate(probabilities) if own is not None]
    labels = [np.array(question.labels) for question in questions]
    true = {name: ranking_scores([labels[i][order[i]] for i in used]) for name, order in orders.items()}
    if threshold is None:
        tops = np.array([[probabilities[i][order[i][0]] for i in used] for order in orders.values()])
        threshold = best_threshold(tops, np.array([scores["p_at_1"] for scores in true.values()]))
    estimated = {
        name: ranking_scores([probabilities[i][order[i]] >= threshold for i in used]) for name, order in orders.items()
    }
    said = np.concatenate([probabilities[i] for i in used]) >= threshold
    gold = np.concatenate([labels[i] for i in used]) == 1
    return {
        "questions": len(used),
        "answers": len(gold),
        "threshold": threshold,
        "sensitivity": float(said[gold].mean()),
        "specificity": float(1 - said[~gold].mean()),
        "agreement": {
            name: asdict(rank_agreement(*([scores[name] for scores in side.values()] for side in (estimated, true))))
            for name in MEASURES
        },
        "systems": {name: {"true": true[name], "estimated": estimated[name]} for name in orders},
    }


def compared(corpora: dict[str, dict[str, list]], rankers: dict, judge: Judge, seed: int) -> dict:
    """Return, by references, corpus and split, what `measured` returns.

    Args:
        corpora: corpus -> "dev" and "test" -> `rankers.Question`s.
        rankers: name -> function from questions and a seed to per question (candidates,) scores.
        judge: see `judged`.
        seed: of the rankers.
    """
    import numpy as np

    from training.ava.ranking import is_usable

    result = {how: {} for how in REFERENCES}
    for corpus, splits in corpora.items():
        known = {how: {} for how in REFERENCES}
        for split in SPLITS:
            questions = [question for question in splits[split] if is_usable(question.labels)]
            orders = {}
            for name, ranker in rankers.items():
                print(f"{corpus} {split}: {len(questions)} questions, {name}", file=sys.stderr, flush=True)
                orders[name] = [np.argsort(-scores, kind="stable") for scores in ranker(questions, seed)]
            for how, probabilities in judged(questions, judge).items():
                threshold = known[how]["dev"]["threshold"] if split == "test" else None
                known[how][split] = measured(questions, orders, probabilities, threshold)
                rmse = known[how][split]["agreement"]["p_at_1"]["rmse"]
                print(f"{corpus} {split}, {how}: RMSE of P@1 {rmse:.3f}", file=sys.stderr, flush=True)
        for how in REFERENCES:
            result[how][corpus] = known[how]
    return result


def tables(result: dict) -> str:
    """Return the agreement as Table 5, and the measures of every ranker on test, in Markdown."""
    parts = []
    for how, corpora in result.items():
        kind = "other correct answers" if how == "others" else "all correct answers, a candidate's own text too"
        parts.append(f"References: {kind} (`{how}`). Threshold from dev.")
        lines = [
            "| questions | measure | RMSE ± std | Kendall's tau-b (p) |",
            "| --- | --- | --- | --- |",
        ]
        for corpus, splits in corpora.items():
            for split, found in splits.items():
                for name, row in found["agreement"].items():
                    lines.append(
                        f"| {corpus} {split}, {found['questions']} | {TITLES[name]} | {row['rmse']:.3f} ± "
                        f"{row['std']:.3f} | {row['tau']:.3f} ({row['p']:.3f}) |"
                    )
        parts.append("\n".join(lines))
    for how, corpora in result.items():
        head = [f"{corpus} {title}" for corpus in corpora for title in TITLES.values()]
        lines = [
            f"| ranker (test, `{how}`): true / estimated | " + " | ".join(head) + " |",
            "| --- |" + " --- |" * len(head),
        ]
        tests = [splits["test"] for splits in corpora.values()]
        for ranker in tests[0]["systems"]:
            pairs = [test["systems"][ranker] for test in tests]
            cells = [f"{pair['true'][name]:.3f} / {pair['estimated'][name]:.3f}" for pair in pairs for name in TITLES]
            lines.append(f"| {ranker} | " + " | ".join(cells) + " |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def around_markers(markdown: str | Path) -> tuple[str, str]:
    """Return the text of a Markdown file before and after its markers.

    Raises:
        ValueError: if the markers are not in the file, each once.
    """
    content, (start, end) = Path(markdown).read_text(encoding="utf-8"), MARKERS
    if content.count(start) != 1 or content.count(end) != 1:
        raise ValueError(f"write: expected the lines {start} and {end} once each in {markdown}; add them")
    return content.split(start)[0], content.split(end)[1]


def write_result(markdown: str | Path, text: str, result: dict) -> None:
    """Put tables between the markers of a Markdown file, and the result as JSON into the folder results beside it."""
    path = Path(markdown)
    (path.parent / "results").mkdir(exist_ok=True)
    (path.parent / "results/systems.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    before, after = around_markers(path)
    path.write_text(f"{before}{MARKERS[0]}\n\n{text}\n\n{MARKERS[1]}{after}", encoding="utf-8")


def command_line(words: Sequence[str]) -> str:
    """Return the command that was given, folders without their paths.

    >>> command_line(["--data_dir", "/data/as2", "--seed", "1"])
    'python -m training.ava.rank_systems --data_dir as2 --seed 1'
    """
    return shlex.join(["python", "-m", "training.ava.rank_systems", *(re.sub(r"^/\S*/", "", word) for word in words)])


def main() -> None:
    """Train what is missing, measure, print the tables, and put them into a file if asked."""
    from importlib.metadata import version

    from genqa_metrics.ava import judging, loading
    from genqa_metrics.ava.models import checkpoint_digest, file_digest
    from transformers import HfArgumentParser

    from training.ava.rankers import all_rankers, questions_of, trained_cross_encoder
    from training.ava.triples import as2_rows, local_file

    (args,) = HfArgumentParser(Arguments).parse_args_into_dataclasses()
    if args.write:
        around_markers(args.write)  # what is wrong with it is said before the work
    judge = judging.Judge(loading.load_judge(args.checkpoint))

    def read(name):
        return questions_of(as2_rows(name, args.data_dir), args.plain)

    training = [question for corpus in CORPORA.values() for question in read(f"{corpus}.train")]
    cross_encoder = trained_cross_encoder(training, Path(args.output_dir) / "cross_encoder", args.seed)
    corpora = {name: {split: read(f"{corpus}.{split}") for split in SPLITS} for name, corpus in CORPORA.items()}
    result = compared(
        corpora,
        all_rankers(cross_encoder),
        lambda *rows: judge.probabilities(*rows, reference_aggregation="mean"),  # as the paper
        args.seed,
    )
    text = tables(result)
    print(text)
    if args.write:
        files = [local_file(f"{c}.{split}", args.data_dir) for c in CORPORA.values() for split in ("train", *SPLITS)]
        facts = {
            "command": command_line(sys.argv[1:]),
            "seed": args.seed,
            "versions": {name: version(name) for name in ("genqa-metrics", "bm25s", "torch", "transformers")},
            "judge": judge.loaded.signature,
            "cross_encoder": checkpoint_digest(cross_encoder),
            "data": {path.name: file_digest(path) for path in files},
        }
        write_result(args.write, text, facts | result)


if __name__ == "__main__":
    main()
