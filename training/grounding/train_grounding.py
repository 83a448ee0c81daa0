"""Train a judge of grounding: the training of AVA's judges, on windows of passages in the place of references.

The rows are written first, into OUTPUT/rows: every passage is cut to the window that the metric would read, and
answers of extractive QA get three passages each, see `rows.py`. Everything else is `training/ava/train_ava.py`, whose
options this script takes too; those of `small.args` are the default.
"""

import random
import sys
from pathlib import Path

HERE = Path(__file__).parent
FILES = ("condaqa", "factcheck_gpt", "q_squared", "wice")  # of DATA/grounding
SPANS = "span_passages.train"
WRITTEN = ("written_passages.train", "plain_passages.train")  # beside this file


def prepare(data: Path, folder: Path, span_source: str, span_count: int, seed: int) -> None:
    """Write the rows of a training.

    Args:
        data: folder of the data sets.
        folder: where to write; made if it is missing.
        span_source: file of extractive QA.
        span_count: its rows that are used, at random.
        seed: of the sample, and of the passages that are put beside answers.
    """
    from training.common import json_rows, local_file, write_rows
    from training.grounding.rows import span_rows, windowed

    for name in FILES:
        for part in ("train", "dev"):
            path = local_file(f"{name}.{part}", data / "grounding")
            write_rows(folder / f"{name}.{part}.jsonl.gz", map(windowed, json_rows(path)))
    for name in WRITTEN:
        write_rows(folder / f"{name}.jsonl.gz", map(windowed, json_rows(HERE / f"{name}.jsonl.gz")))
    rng = random.Random(seed)
    rows = list(json_rows(local_file(span_source, data / "span_qa")))
    rows = rng.sample(rows, min(span_count, len(rows)))
    write_rows(folder / f"{SPANS}.jsonl.gz", map(windowed, span_rows(rows, rng)))


def card(folder: Path) -> None:
    """Turn the card that the training wrote into that of a judge of grounding."""
    path = folder / "README.md"
    text = path.read_text(encoding="utf-8")
    data = text[text.index("## Training data") : text.index("Sources without a file")]
    settings = text[text.index("## Settings") : text.index("## Limits")]
    head = text[: text.index("# Judge of answers")]
    weights = text.split("Weights: SHA-256 `")[1].split("`")[0]
    sentence = (HERE / "card.txt").read_text(encoding="utf-8")
    path.write_text(
        head + sentence.format(weights=weights, data=data.strip(), settings=settings.strip()), encoding="utf-8"
    )


def main() -> None:
    """Write the rows, train, and write the card."""
    import argparse

    from training.ava import train_ava

    parser = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0],
        epilog="Further options are those of training.ava.train_ava.",
        allow_abbrev=False,
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with grounding, sentence_pairs and span_qa")
    parser.add_argument("--output_dir", type=Path, required=True, help="folder that is written")
    parser.add_argument("--config", type=Path, default=HERE / "small.args", help="file of options")
    parser.add_argument("--span_source", default="squad.train", help="file of extractive QA")
    parser.add_argument("--span_count", type=int, default=3000, help="its rows that are used")
    parser.add_argument("--seed", type=int, default=3, help="of the rows and the training")
    own, others = parser.parse_known_args()
    rows = own.output_dir / "rows"
    prepare(own.data, rows, own.span_source, own.span_count, own.seed)
    given = ["--config", own.config, "--judged_dir", rows, "--pairs_dir", own.data / "sentence_pairs"]
    given += ["--licences", HERE / "licences.json", "--output_dir", own.output_dir, "--seed", own.seed, *others]
    sys.argv = [sys.argv[0], *map(str, given)]
    train_ava.main()
    card(own.output_dir / "final")


if __name__ == "__main__":
    main()
