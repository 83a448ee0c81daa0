"""The mixture that a judge is trained on: verdicts, sentence pairs, answer sentences, and rows made of them."""

import hashlib
from pathlib import Path

from genqa_metrics.rows.reading import Skips
from genqa_metrics.rows.sources import sources_of
from genqa_metrics.verbs.label.labels import labelled_rows

from training.ava import other_words, row_builders, wrong_answers
from training.ava import triples as t
from training.common import named_rows, share, weighted, write_rows


def split_rows(args, output: Path) -> Path:
    """Write the labelled --rows to `output`/rows, add these files to `args`; return the file with a held-out fifth."""
    splits: dict[str, list[dict]] = {"own.train": [], "own.dev": []}
    labelled = labelled_rows(sources_of(list(map(str, args.rows))), {}, Skips(), (), [])
    columns = labelled.items, labelled.labels.tolist(), labelled.weights.tolist()
    for item, label, weight in zip(*columns, strict=True):
        row = {"question": item.text, "references": item.references, "candidate": item.predictions[0]}
        row |= {"score": label, "label": int(label) if label in (0.0, 1.0) else label}
        row |= {"system": item.system, "source": Path(item.file).name, "weight": round(weight, 6)}
        remainder = hashlib.sha256(item.text.lower().encode()).digest()[0] % 5
        splits["own.train" if remainder else "own.dev"].append(row)
    if not all(splits.values()):
        raise ValueError("rows: expected labels of at least some ten questions, to hold out a fifth of them; add some")
    folder = output / "rows"
    for name, rows in splits.items():
        write_rows(folder / f"{name}.jsonl", rows)
    args.judged_dir, args.judged = [str(folder), *args.judged_dir], ["own.train", *args.judged]
    args.dev = [*args.dev, "own.dev"]
    return folder / "own.dev.jsonl"


def training_triples(args, rng) -> tuple[list, list[dict]]:
    """Return the triples of one pass over all sources, and per source its name, rows, weight and group."""
    result, facts, base, sentences, changed = [], [], [], [], []

    def add(name: str, rows: list, weight: float, group: str = "", taken: list | None = None) -> list:
        """Record a source and add its rows to the result: `weight` times over, or the rows `taken`."""
        taken = share(rows, weight, rng) if taken is None else taken
        result.extend(taken)
        facts.append({"name": name, "rows": len(rows), "weight": weight, "group": group})
        return taken

    def known(argument: str, kind: str, kinds) -> None:
        if kind not in kinds:
            raise ValueError(f"{argument}: expected one of {', '.join(kinds)}, got {kind!r}")

    for name, weight in weighted(args.judged):
        rows = t.judged_triples(named_rows("judged", name, args.judged_dir), name)
        base += rows if name in args.augmented else []
        add(name, rows, weight, "judged")
    for name, weight in weighted(args.pairs):
        rows = list(t.pair_triples(named_rows("pairs", name, args.pairs_dir), name, rng))
        add(name, rows, weight, "pairs")
    for name, weight in weighted(args.as2):
        rows = list(t.as2_triples(t.as2_rows(name, args.as2_dir), args.as2_negatives, rng))
        add(name, rows, weight, "as2")
    for name, weight in weighted(args.spans):
        rows = t.span_rows(name, args.spans_dir)
        answers = wrong_answers.Answers((row.question, row.span) for row in rows)
        rows = share(rows, weight, rng)
        sentences += t.stated(rows)
        rows = list(wrong_answers.span_triples(rows, answers, rng))
        add(name, rows, weight, "spans", rows)
    makers = {"off_topic": wrong_answers.off_topic, **other_words.MAKERS}
    answers = wrong_answers.Answers((row.question, text) for row in base for text in row.references)
    for kind, weight in weighted(args.augment):
        known("augment", kind, (*wrong_answers.CHANGES, *makers))
        if kind in wrong_answers.CHANGES:
            rows = share(list(wrong_answers.changed([*base, *sentences], kind, answers, rng)), weight, rng)
            changed += rows
        else:
            candidates = [*base, *sentences, *changed] if kind in ("flooded", "reworded", "restated") else base
            rows = share(list(makers[kind](candidates, rng)), weight, rng)
        add(kind, rows, weight, taken=rows)
    for kind, count in weighted(args.constructed):
        known("constructed", kind, row_builders.TEMPLATES)
        rows = row_builders.Builder(sentences, rng).rows(kind, int(count))
        add(kind, rows, 1.0, taken=rows)
    return result, facts
