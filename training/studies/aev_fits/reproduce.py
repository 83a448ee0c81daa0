"""Fit AEv to every set of system outputs with human scores.

DATA holds `system_level/`, `judgments/` and `question_generation/`. Result files and pictures go to `results/`.
"""

import sys
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

from training.aev import fit_aev
from training.common import option, parsed
from training.studies.harness import Table, rendered

HERE = Path(__file__).parent

FITS = tomllib.loads((HERE / "fits.toml").read_text(encoding="utf-8"))
CELLS = ((0.0, 1), (0.0, 2), (1.0, 4))  # alpha and N of the cells that the paper chooses


@dataclass
class Arguments:
    """What the command line takes; read by `parsed`."""

    data_folder: str = option("folder with system_level/, judgments/ and question_generation/")


def page(*results: dict) -> str:
    """Return the tables of all fits."""
    names = {"FITS": FITS, "CELLS": CELLS, "cell_name": fit_aev.cell_name}
    return rendered("aev_fits/tables.md.j2", results=dict(zip(FITS, results, strict=True)), **names)


def main() -> None:
    """Fit everything."""
    args = parsed(Arguments)
    for name, fit in FITS.items():
        paths = [str(Path(args.data_folder, file)) for file in fit["files"]]
        arguments = fit_aev.Arguments(data=paths, output_folder=str(HERE / "results"), name=name)
        result = fit_aev.run(replace(arguments, **fit["arguments"]))
        print(f"{name}: {fit_aev.cell_name(result)}", file=sys.stderr)


TABLES = [Table("fits", " ".join(f"studies/aev_fits/results/{name}" for name in FITS), page)]

if __name__ == "__main__":
    main()
