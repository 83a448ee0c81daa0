"""The mixture that a judge is trained on: verdicts, sentence pairs, answer sentences, and rows made of them."""

from training.ava import constructed, manipulations, other_words, relations, spans, wrong_answers
from training.ava import triples as t
from training.common import json_rows, local_file


def weighted(names: list[str]) -> list[tuple[str, float]]:
    """Return (name, weight) of NAME or NAME=WEIGHT.

    >>> weighted(["a", "b=0.5"])
    [('a', 1.0), ('b', 0.5)]
    """
    return [(name.partition("=")[0], float(name.partition("=")[2] or 1)) for name in names]


def share(rows: list, weight: float, rng) -> list:
    """Return the rows `weight` times over; of a part of a time a random sample."""
    whole = int(weight)
    return list(rows) * whole + rng.sample(list(rows), round((weight - whole) * len(rows)))


def training_triples(args, rng) -> tuple[list, list[dict]]:
    """Return the triples of one pass over all sources, and per source its name, rows, weight and group.

    Args:
        args: arguments of `train_ava.py` that name sources.
        rng: source of randomness.

    Raises:
        ValueError: if there is no such source or kind; names it.
    """
    makers = {"off_topic": wrong_answers.off_topic, **other_words.MAKERS}

    def judged_rows(name):
        path = local_file(name, args.judged_dir)
        if path is None:
            folders = ", ".join(args.judged_dir)
            raise ValueError(f"judged: no {name}.jsonl.gz or {name}.jsonl in {folders}")
        return t.judged_triples(json_rows(path), name)

    made, facts, base = [], [], []

    def noted(name, rows, weight, group):
        facts.append({"name": name, "rows": len(rows), "weight": weight, "group": group})

    for name, weight in weighted(args.judged):
        rows = judged_rows(name)
        if name in args.augmented:
            base += rows
        made += share(rows, weight, rng)
        noted(name, rows, weight, "judged")
    for name, weight in weighted(args.pairs):
        path = local_file(name, args.pairs_dir)
        if path is None:
            raise ValueError(f"pairs: no {name}.jsonl.gz or {name}.jsonl in {args.pairs_dir}")
        rows = t.pair_triples(json_rows(path), name, rng)
        made += share(rows, weight, rng)
        noted(name, rows, weight, "pairs")
    for name, weight in weighted(args.as2):
        rows = list(t.as2_triples(t.as2_rows(name, args.as2_dir), args.as2_negatives, rng))
        made += share(rows, weight, rng)
        noted(name, rows, weight, "as2")
    sentences, changed = [], []
    if args.spans:
        from training.kpqa import data as extractive

        for name, weight in weighted(args.spans):
            rows = list(extractive.answers(name, extractive.read_rows(name, args.spans_dir), 1.0, 1.0, 60))
            answers = wrong_answers.Answers((row.question, row.text[slice(*_span(row))]) for row in rows)
            rows = share(rows, weight, rng)
            sentences += [t.Triple(row.question, (row.text[slice(*_span(row))],), row.text, 1.0, name) for row in rows]
            rows = list(spans.span_triples(rows, answers, rng))
            made += rows
            noted(name, rows, weight, "spans")
    answers = wrong_answers.Answers((row.question, text) for row in base for text in row.references)
    for kind, weight in weighted(args.augment):
        known = [*wrong_answers.CHANGES, *makers]
        if kind not in known:
            raise ValueError(f"augment: expected one of {', '.join(known)}, got {kind!r}")
        if kind in wrong_answers.CHANGES:
            rows = share(wrong_answers.changed([*base, *sentences], kind, answers, rng), weight, rng)
            changed += rows
        else:
            given = [*base, *sentences, *changed] if kind in ("flooded", "reworded", "restated") else base
            rows = share(makers[kind](given, rng), weight, rng)
        made += rows
        noted(kind, rows, weight, "")
    by_rules = constructed.CONSTRUCTED | relations.CONSTRUCTED | {"manipulation": manipulations.manipulations}
    for kind, count in weighted(args.constructed):
        if kind not in by_rules:
            known = ", ".join(by_rules)
            raise ValueError(f"constructed: expected one of {known}, got {kind!r}")
        rows = by_rules[kind](sentences, int(count), rng)
        made += rows
        noted(kind, rows, 1.0, "")
    return made, facts


def _span(row) -> tuple[int, int]:
    marked = [i for i, label in enumerate(row.labels) if label > 0]
    return marked[0], marked[-1] + 1
