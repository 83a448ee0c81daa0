"""Runs studies: arguments -> measurement -> result file -> tables that pages include.

    python -m training.studies.accuracy.measure ... --json FILE   # measures one study
    python -m training.studies.harness --write                             # renews all tables from the stored results
    python -m training.studies.harness                                     # names the tables that are out of date

A module of a study has a `STUDY`, which runs it and names its tables; other tables are in `TABLES` of a module.
"""

import argparse
import importlib
import json
import pkgutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

import numpy as np
from genqa_metrics.core.checkpoints import file_digest

from training import common, studies

ROOT = Path(__file__).parents[2]


@dataclass(kw_only=True)
class Output:
    """Argument of every study: where its result goes."""

    json: str | None = common.option("result file; `python -m training.studies.harness --write` renews pages", None)


@dataclass(frozen=True)
class Table:
    """A table of a page: `text` makes Markdown of the contents of `results`; a missing file among several is {}.

    `marker` names the lines `<!-- MARKER -->` and `<!-- end of MARKER -->`, None the whole page. `results` are files
    below training, without ".json", with blanks between them; `page` is below the repository, default tables.md beside
    the first.
    """

    marker: str | None
    results: str
    text: Callable[..., str]
    page: str = ""

    @property
    def path(self) -> Path:
        """The page."""
        return ROOT / (self.page or f"training/{Path(self.results.split()[0]).parent}/tables.md")

    def renewed(self) -> str:
        """Return the content of the page with the tables of the present result files."""
        paths = [ROOT / f"training/{name}.json" for name in self.results.split()]
        text = self.text(*(read(path) if path.is_file() or len(paths) == 1 else {} for path in paths))
        return text if self.marker is None else common.between_markers(self.path, self.marker, text.strip())


@dataclass(frozen=True)
class Study:
    """A measurement: from `arguments` (with `more`, further words too) to a result file and the tables of pages.

    `module` is `__spec__.name`; `text` makes the printed tables of the content; `places` has marker -> result file,
    see `Table`; a name without folder is of a file in results/ beside the module.
    """

    module: str
    arguments: type
    measure: Callable[..., dict]
    text: Callable[[dict], str]
    places: Mapping[str | None, str] = field(default_factory=dict)
    more: bool = False

    @property
    def tables(self) -> list[Table]:
        """The tables of pages."""
        folder = "/".join(self.module.split(".")[1:-1])
        files = {marker: name if "/" in name else f"{folder}/results/{name}" for marker, name in self.places.items()}
        return [Table(marker, name, self.text) for marker, name in files.items()]

    def main(self) -> None:
        """Measure by the arguments of the command line, print the tables, and write the result file of --json."""
        from transformers import HfArgumentParser

        parser = HfArgumentParser(self.arguments)
        args, *words = parser.parse_args_into_dataclasses(return_remaining_strings=self.more)
        result = self.measure(args, *words)
        result = {"command": common.command_line(self.module, sys.argv[1:])} | result
        print(self.text(result))
        if args.json:
            common.write_json(args.json, result)


def read(path: str | Path) -> dict:
    """Return the content of a result file."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


def rendered(template: str, **fields: object) -> str:
    """Return a jinja2 template, a file below this folder or that of training, filled with `fields`."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    here = Path(__file__).parent
    loader, options = FileSystemLoader([here, here.parent]), {"trim_blocks": True, "keep_trailing_newline": True}
    return Environment(loader=loader, undefined=StrictUndefined, **options).get_template(template).render(fields)


def filled(template: str, **shared: object) -> Callable[[Mapping], str]:
    """Return a function from the content of a result file to a template with it, see `rendered`."""
    return lambda result: rendered(template, **result, **shared, result=result)


def digests(names: Iterable[str], folders: str | Path | Iterable[str | Path]) -> dict[str, str]:
    """Return the SHA-256 of files of rows by name, see `common.local_file`; those that are not local are left out."""
    paths = {name: common.local_file(name, folders) for name in names}
    return {name: file_digest(path) for name, path in paths.items() if path}


def versions(*packages: str) -> dict[str, str]:
    """Return package -> installed version."""
    return {name: metadata.version(name) for name in packages}


def best_scores(score: Callable, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> np.ndarray:
    """Return (rows,) scores of every candidate and its best reference, of a function that scores pairs of texts."""
    firsts = [text for text, accepted in zip(candidates, references, strict=True) for _ in accepted]
    result = score(firsts, [text for accepted in references for text in accepted])
    return np.maximum.reduceat(np.asarray(result), np.cumsum([0, *map(len, references[:-1])]))


def tables() -> list[Table]:
    """Return all tables of all pages."""
    packages = pkgutil.walk_packages(studies.__path__, "training.studies.")
    names = ["training.kpqa.evaluate_kpqa", *(module.name for module in packages if not module.ispkg)]
    modules = list(map(importlib.import_module, names))
    study_tables = [table for module in modules if hasattr(module, "STUDY") for table in module.STUDY.tables]
    return study_tables + [table for module in modules for table in getattr(module, "TABLES", ())]


def main() -> None:
    """Renew the tables, or say which are out of date."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="renew the pages")
    args, stale = parser.parse_args(), []
    for table in tables():
        text = table.renewed()
        if not table.path.is_file() or table.path.read_text(encoding="utf-8") != text:
            stale.append(f"{table.path.relative_to(ROOT)}: {table.marker or 'the page'}")
            if args.write:
                table.path.write_text(text, encoding="utf-8")
    print("\n".join(stale))
    if stale and not args.write:
        sys.exit("out of date: run python -m training.studies.harness --write")


if __name__ == "__main__":
    main()
