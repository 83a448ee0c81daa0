"""What training scripts share: arguments, files of rows, pages of results, facts for model cards."""

import gzip
import json
import random
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING, field
from pathlib import Path
from typing import Any

from genqa_metrics.core.checkpoints import ENCODERS, base_encoder
from genqa_metrics.core.inference import is_emulated


class LikeLength:
    """Sampler of rows: batches have rows of similar length, in a random order that depends on seed and epoch alone.

    transformers goes from long to short, 50 batches at a time: a model that has just seen short rows alone is wrong
    about long ones, and a generator of questions ended every one early.

    >>> lengths = [1, 9, 2, 8]
    >>> order = list(LikeLength(lengths, 2, seed=0))
    >>> sorted(sorted(lengths[row] for row in order[i : i + 2]) for i in (0, 2))
    [[1, 2], [8, 9]]
    """

    def __init__(self, lengths: Sequence[int], size: int, seed: int):
        self.lengths, self.size, self.seed, self.epoch = lengths, size, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of an epoch; the Trainer calls it."""
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.lengths)

    def __iter__(self) -> Iterator[int]:
        rng, size = random.Random(1000 * self.seed + self.epoch), self.size
        rows = rng.sample(range(len(self)), len(self))
        whole, batches = len(rows) // size * size, []
        for start in range(0, whole, 50 * size):  # as transformers does, so that batches differ from seed to seed
            near = sorted(rows[start : min(start + 50 * size, whole)], key=lambda row: self.lengths[row])
            batches += [near[i : i + size] for i in range(0, len(near), size)]
        rng.shuffle(batches)
        return iter([row for batch in [*batches, rows[whole:]] for row in batch])


def float32_if_emulated(training) -> None:
    """Train in float32 where bfloat16 is asked of a processor that only emulates it: it is slower, and LSTMs fail."""
    if training.bf16 and training.device.type == "cpu" and is_emulated("bfloat16"):
        print("this processor only emulates bfloat16: training in float32", file=sys.stderr)
        training.bf16, training.mixed_precision = False, "no"


def encoder_path(name: str) -> str:
    """Return the folder of an encoder that the metrics know by its Hub id, else the folder or Hub id as it is."""
    return str(base_encoder(name)) if name in ENCODERS else name


def prepared(arguments: type, words: Sequence[str] | None = None) -> tuple:
    """Return `arguments` and TrainingArguments from a command line, --config being a file of more; sets the seed."""
    from transformers import HfArgumentParser, TrainingArguments, set_seed

    parser = HfArgumentParser((arguments, TrainingArguments))
    args, training = parser.parse_args_into_dataclasses(words, args_file_flag="--config")
    set_seed(training.seed)
    float32_if_emulated(training)
    return args, training


def trained(
    training,
    dev: object = None,
    trainer_class: type | None = None,
    labels: str = "labels",
    patience: int = 0,
    best_by: str = "loss",
    callbacks: Sequence = (),
    lengths: Sequence[int] = (),
    **settings: Any,
):
    """Return a transformers.Trainer, made of `settings` too, after its training, from the last checkpoint if any.

    `labels` is the input that dev scores need. `patience` evaluations without a better dev score `best_by` stop it,
    with the best weights; 0 never. A lower loss is better, and a higher score of any other name. With `lengths` of the
    training rows batches are those of `LikeLength`.
    """
    from transformers import EarlyStoppingCallback, Trainer
    from transformers.trainer_utils import HubStrategy, get_last_checkpoint

    training.remove_unused_columns = False
    training.label_names = [labels]
    training.hub_strategy = HubStrategy.END  # with --push_to_hub: what is pushed is the finished checkpoint
    if patience:
        training.load_best_model_at_end = True
        training.metric_for_best_model, training.greater_is_better = f"eval_{best_by}", best_by != "loss"
        callbacks = [EarlyStoppingCallback(early_stopping_patience=patience), *callbacks]
    trainer = (trainer_class or Trainer)(args=training, eval_dataset=dev or None, callbacks=[*callbacks], **settings)
    if lengths:
        sampler = LikeLength(lengths, training.train_batch_size, training.seed)
        trainer._get_train_sampler = lambda train_dataset=None: sampler
    last = get_last_checkpoint(training.output_dir) if Path(training.output_dir).is_dir() else None
    trainer.train(resume_from_checkpoint=last)
    return trainer


def published(trainer, training, folder: Path) -> None:
    """Print where a checkpoint was written, and upload it if `training` asks for that."""
    from huggingface_hub import HfApi

    print(f"written to {folder}", flush=True)
    if training.push_to_hub:
        where = {"repo_id": trainer.hub_model_id, "revision": training.hub_revision, "token": training.hub_token}
        print(HfApi().upload_folder(**where, folder_path=folder, commit_message="Train").commit_url, flush=True)


def option(help: str, default: Any = MISSING) -> Any:
    """Return a field of a dataclass that HfArgumentParser reads; required without a default; a list is copied."""
    if isinstance(default, list):
        return field(default_factory=default.copy, metadata={"help": help})
    return field(default=default, metadata={"help": help})


def parsed(arguments: type) -> Any:
    """Return the arguments of the command line as a dataclass of fields made by `option`."""
    from transformers import HfArgumentParser

    return HfArgumentParser(arguments).parse_args_into_dataclasses()[0]


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table; cells are written with `str`.

    >>> print(markdown_table(["set", "r"], [["a", 0.5]]))
    | set | r |
    | --- | --- |
    | a | 0.5 |
    """
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in [header, ["---"] * len(header), *rows])


def write_json(path: str | Path, content: object) -> None:
    """Write JSON, lists of numbers on one line each, and the folder if it does not exist."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content, indent=1, ensure_ascii=False)
    text = re.sub(r"\[[^\[\]{}\"]+\]", lambda numbers: " ".join(numbers[0].split()), text)
    Path(path).write_text(text + "\n", encoding="utf-8")


def weighted(names: Sequence[str]) -> list[tuple[str, float]]:
    """Return (name, weight) of NAME or NAME=WEIGHT.

    >>> weighted(["a", "b=0.5"])
    [('a', 1.0), ('b', 0.5)]
    """
    return [(name.partition("=")[0], float(name.partition("=")[2] or 1)) for name in names]


def share(rows: Sequence, weight: float, rng: random.Random) -> list:
    """Return the rows `weight` times over; of a part of a time a random sample."""
    whole = int(weight)
    return list(rows) * whole + rng.sample(list(rows), round((weight - whole) * len(rows)))


def json_rows(path: str | Path) -> Iterator[dict]:
    """Yield the rows of a file of JSON lines, plain or packed by gzip."""
    path = Path(path)
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def write_rows(path: str | Path, rows: Iterable[dict]) -> None:
    """Write JSON lines, packed where the name ends with .gz: the same rows give the same bytes."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    if path.suffix != ".gz":
        path.write_bytes(lines)
        return
    with open(path, "wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as file:
        file.write(lines)


def local_file(name: str, folders: str | Path | Sequence[str] | None) -> Path | None:
    """Return the file NAME.jsonl.gz or NAME.jsonl of the first folder that has one (None: the current), else None."""
    if folders is None or isinstance(folders, str | Path):
        folders = [folders or "."]
    paths = [Path(folder, f"{name}{suffix}") for folder in folders for suffix in (".jsonl.gz", ".jsonl")]
    return next((path for path in paths if path.is_file()), None)


def named_file(argument: str, name: str, folders: str | Path | Sequence[str] | None) -> Path:
    """Return the file of `local_file`, or raise a ValueError that names the argument that asks for it."""
    path = local_file(name, folders)
    if path is None:
        places = folders if isinstance(folders, str | Path | None) else ", ".join(map(str, folders))
        raise ValueError(f"{argument}: no {name}.jsonl.gz or {name}.jsonl in {places}")
    return path


def named_rows(argument: str, name: str, folders: str | Path | Sequence[str] | None) -> Iterator[dict]:
    """Return the rows of `named_file`."""
    return json_rows(named_file(argument, name, folders))


def source_rows(
    argument: str, name: str, folder: str | Path | None, setting: str = "split", **options: object
) -> Iterable[dict]:
    """Return the rows of `local_file`, or of ORG/NAME on the Hub; a colon and its `setting` may follow."""
    if path := local_file(name, folder):
        return json_rows(path)
    if "/" not in name:
        raise ValueError(f"{argument}: no {name}.jsonl.gz or {name}.jsonl in {folder}, and no Hub name with '/'")
    import datasets

    repository, _, chosen = name.partition(":")
    return datasets.load_dataset(repository, **({"split": "train"} | options | ({setting: chosen} if chosen else {})))


def between_markers(markdown: str | Path, name: str, text: str) -> str:
    """Return a Markdown file with this text between its lines `<!-- NAME -->` and `<!-- end of NAME -->`."""
    content, start, end = Path(markdown).read_text(encoding="utf-8"), f"<!-- {name} -->", f"<!-- end of {name} -->"
    if content.count(start) != 1 or content.count(end) != 1:
        raise ValueError(f"write: expected the lines {start} and {end} once each in {markdown}; add them")
    return f"{content.split(start)[0]}{start}\n\n{text}\n\n{end}{content.split(end)[1]}"


def command_line(module: str, words: Sequence[str]) -> str:
    """Return the command that was given, files and folders without their paths.

    >>> command_line("training.x", ["--data_dir", "/data/as2/", "--judges", "own=/my runs/judge"])
    'python -m training.x --data_dir as2/ --judges own=judge'
    """
    return shlex.join(["python", "-m", module, *(re.sub("(^|=)/.*/(?=[^/])", r"\1", word) for word in words)])


def train_once(
    module: str, output: Path, where: Sequence[str], settings: Sequence[str], recipe: str, last: str = "README.md"
) -> Path:
    """Train a run of training.`module` in its own process, or resume it; return its folder `final`.

    A run whose final folder has the `last` file that is written is done. `where` are arguments that say where files
    are, `settings` all others; with `recipe`, a digest, they must be those of an earlier run in the folder.
    """
    record = output / "settings.json"
    if record.is_file() and json.loads(record.read_text(encoding="utf-8")) != [recipe, *settings]:
        raise ValueError(f"output_dir: {output} holds a run with other settings; delete it or take another folder")
    if (output / "final" / last).is_file():
        return output / "final"
    output.mkdir(parents=True, exist_ok=True)
    record.write_text(json.dumps([recipe, *settings]), encoding="utf-8")
    print(f"training in {output}", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", f"training.{module}", *where, *settings, "--output_dir", str(output)]
    subprocess.run(command, check=True, stdout=sys.stderr)
    return output / "final"
