"""The public data sets that commands here read: where they are from, their licences, and a copy of them.

    python -m training.data list
    python -m training.data fetch judgments as2/wikiqa.dev --to DATA

`fetch` writes DATA/FOLDER/NAME.jsonl.gz, which the commands of the studies read (`--judgments DATA/judgments`). The
files are from a copy on the Hub or in a folder, and each is checked by its SHA-256 in `data.csv`.
`pack` makes such a copy of the sets whose licences allow it; the others come from their sources.
"""

import argparse
import csv
import os
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from genqa_metrics.core.checkpoints import file_digest as digest

from training.common import markdown_table

TABLE = Path(__file__).with_name("data.csv")
COPY = "hf://datasets/genqa-metrics/data"
_ALLOWS = re.compile(r"Apache|MIT|BSD|CC0|CC BY(?!-NC)|ODC-BY|CDLA|Computational Use")
_FORBIDS = re.compile(r"not stated|-NC|non-commercial|research|see its|Microsoft", re.IGNORECASE)
_CARD = """\
# Data sets of genqa-metrics

Public data sets as rows of JSON that the commands of genqa-metrics read, each with the licence that its source states.
Sets whose source states no licence that allows a copy are not here. Made by `python -m training.data pack`.

{table}
"""


@dataclass(frozen=True)
class DataSet:
    """One file of rows: folder below DATA, name with the part (wikiqa.dev), GitHub repository and its licence."""

    folder: str
    name: str
    rows: int
    source: str
    licence: str
    sha256: str

    @property
    def path(self) -> str:
        """Its place below DATA."""
        return f"{self.folder}/{self.name}.jsonl.gz"

    @property
    def link(self) -> str:
        """Its first source."""
        return f"https://github.com/{self.source.split(',')[0]}"

    @property
    def free(self) -> bool:
        """Whether the licence allows a copy.

        >>> [DataSet("as2", "x", 1, "a/b", licence, "").free for licence in ("CC BY-SA 4.0", "not stated")]
        [True, False]
        """
        return bool(_ALLOWS.search(self.licence)) and not _FORBIDS.search(self.licence)


def data_sets() -> list[DataSet]:
    """Return all sets of the table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [DataSet(**row | {"rows": int(row["rows"])}) for row in csv.DictReader(file)]


def chosen(names: Sequence[str], sets: Sequence[DataSet]) -> list[DataSet]:
    """Return the sets that names mean: a folder, a set in all its parts, or one part, with or without its folder."""
    selected: dict[str, DataSet] = {}
    for name in names:
        matches = [s for s in sets if name in (s.folder, s.name, f"{s.folder}/{s.name}")]
        matches = matches or [s for s in sets if s.path.startswith((f"{name}.", f"{s.folder}/{name}."))]
        folders = sorted({match.folder for match in matches})
        if not matches:
            listed = f"folders are {', '.join(dict.fromkeys(match.folder for match in sets))}"
            raise ValueError(f"NAME: there is no set {name!r}; {listed}; python -m training.data list names all sets")
        if len(folders) > 1:
            raise ValueError(f"NAME: {name!r} is in {' and '.join(folders)}; write {folders[0]}/{name}")
        selected |= {match.path: match for match in matches}
    return list(selected.values())


def local_copy(address: str) -> Callable[[str], Path]:
    """Return a function that returns a local file of a copy on the Hub or in a folder."""
    if address.startswith("hf://datasets/"):
        from huggingface_hub import hf_hub_download

        name, _, revision = address.removeprefix("hf://datasets/").partition("@")
        return lambda path: Path(hf_hub_download(name, path, repo_type="dataset", revision=revision or None))
    if not Path(address).is_dir():
        raise ValueError(f"--from: expected hf://datasets/ORG/NAME or a folder, got {address!r}")
    return lambda path: Path(address, path)


def fetch(sets: Sequence[DataSet], target: Path, address: str = COPY) -> list[str]:
    """Write files of a copy below `target`; return a line a set. A right file is kept, a wrong one is not written."""
    lines, local = [], local_copy(address)
    for data_set in sets:
        path = target / data_set.path
        if path.is_file() and digest(path) == data_set.sha256:
            lines.append(f"{path}: is there")
            continue
        try:
            result = local(data_set.path)
            wrong = f"it has the SHA-256 {digest(result)}" if digest(result) != data_set.sha256 else ""
        except (OSError, ValueError) as error:  # what huggingface_hub raises is one of these
            wrong = str(error).splitlines()[0]
        if wrong:
            why = "" if data_set.free else f", and its licence ({data_set.licence}) allows no copy in {COPY}"
            wanted = f"expected the file with SHA-256 {data_set.sha256} in {address}: {wrong}{why}"
            raise ValueError(f"{data_set.path}: {wanted}. Source: {data_set.link}; name another copy with --from")
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"{path.name}.unfinished")
        shutil.copyfile(result, unfinished)
        os.replace(unfinished, path)
        lines.append(f"{path}: {data_set.rows:,} rows, {data_set.licence}, {data_set.link}")
    return lines


def table_of(sets: Sequence[DataSet]) -> str:
    """Return a Markdown table of sets."""
    header = ["set", "rows", "source", "licence stated there", "in the copy"]
    rows = [[f"{s.folder}/{s.name}", f"{s.rows:,}", s.source, s.licence, "yes" if s.free else "no"] for s in sets]
    return markdown_table(header, rows)


def pack(sets: Sequence[DataSet], data: Path, output: Path) -> list[DataSet]:
    """Copy the sets whose licences allow it to a new folder, for the Hub, and return them."""
    if output.exists():
        raise ValueError(f"--output: {output} exists; name another folder")
    free = [result for result in sets if result.free]
    fetch(free, output, str(data))
    (output / "README.md").write_text(_CARD.format(table=table_of(free)), encoding="utf-8")
    return free


def main() -> None:
    """List, fetch or pack."""
    parser = argparse.ArgumentParser(prog="python -m training.data", description=(__doc__ or "").partition("\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("list", help="all sets with source and licence, as Markdown")
    verb = verbs.add_parser("fetch", help="write files of sets")
    verb.add_argument("names", nargs="+", metavar="NAME", help="a folder (judgments), a set (as2/wikiqa), or a part")
    verb.add_argument("--to", type=Path, required=True, metavar="DATA", help="folder that they are written below")
    where = f"{COPY} (default), or a folder"
    verb.add_argument("--from", dest="place", default=COPY, metavar="COPY", help=where)
    verb = verbs.add_parser("pack", help="make a copy of the sets whose licences allow it")
    verb.add_argument("--data", type=Path, required=True, help="folder that has all sets")
    verb.add_argument("--output", type=Path, required=True, help="folder that is made")
    args = parser.parse_args()
    sets = data_sets()
    try:
        if args.verb == "list":
            print(table_of(sets))
        elif args.verb == "fetch":
            print("\n".join(fetch(chosen(args.names, sets), args.to, args.place)))
        else:
            print(f"{args.output}: {len(pack(sets, args.data, args.output))} of {len(sets)} sets")
    except ValueError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
