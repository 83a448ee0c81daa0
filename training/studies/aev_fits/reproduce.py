"""Fit AEv to every set of system outputs with human scores.

DATA holds `system_level/`, `judgments/` and `question_generation/`. Result files and pictures go to `results/`.
"""

import sys
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

from training.aev import fit_aev
from training.aev.fit_aev import bleu_line, cell_name, run, sureness, table_lines
from training.common import markdown_table, option, parsed
from training.studies.harness import Table, rendered

HERE = Path(__file__).parent

_FITS = tomllib.loads((HERE / "fits.toml").read_text(encoding="utf-8"))
# name: (what people judged, the paper's cell for such a guideline, files, other arguments)
FITS = {name: tuple(fit.values()) for name, fit in _FITS.items()}
CELLS = ((0.0, 1), (0.0, 2), (1.0, 4))


@dataclass
class Arguments:
    """What the command line takes; read by `parsed`."""

    data_folder: str = option("folder with system_level/, judgments/ and question_generation/")


def percent(value: float | None) -> str:
    """Return R-squared in percent."""
    return "-" if value is None else f"{100 * value:.1f}"


def summary(results: dict[str, dict]) -> str:
    """Return a Markdown table, one line per fit."""
    lines = []
    for name, result in results.items():
        judged, prediction, _, _ = FITS[name]
        interval = " to ".join(f"{100 * value:.1f}" for value in result["interval"])
        rows, columns, bleu = (result[key] for key in ("max_order", "alpha", "bleu_signed_r_squared"))
        values = [result["signed_r_squared"][rows.index(order)][columns.index(alpha)] for alpha, order in CELLS]
        values += [bleu["first"], bleu["all"] if result["several_references"] else None]
        lines.append([name, judged, result["points"], cell_name(result), interval, *map(percent, values), prediction])
    header = ["set", "what was judged", "n", "best cell", "95% interval", "AEv(0,1)", "AEv(0,2)", "AEv(1,4)"]
    return markdown_table([*header, "BLEU, 1 reference", "BLEU, all", "paper's cell"], lines)


def page(*fits: dict) -> str:
    """Return the tables of all fits."""
    results = dict(zip(FITS, fits, strict=True))
    functions = {function.__name__: function for function in (table_lines, cell_name, sureness, bleu_line)}
    return rendered("aev_fits/tables.md.j2", summary=summary(results), results=results, **functions)


def main() -> None:
    """Fit everything."""
    args = parsed(Arguments)
    for name, (_, _, files, options) in FITS.items():
        paths = [str(Path(args.data_folder, file)) for file in files]
        result = run(replace(fit_aev.Arguments(data=paths, output_folder=str(HERE / "results"), name=name), **options))
        print(f"{name}: {cell_name(result)}; {sureness(result)}", file=sys.stderr)


TABLES = [Table("fits", " ".join(f"studies/aev_fits/results/{name}" for name in FITS), page)]

if __name__ == "__main__":
    main()
