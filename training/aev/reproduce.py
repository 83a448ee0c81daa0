"""Fit AEv to every set of system outputs with human scores, and write the tables into README.md.

    python -m training.aev.reproduce --data_folder DATA

DATA holds `system_level/` and `judgments/`. The part of README.md between the two marks is replaced; the JSON files
and the pictures go to `results/`.
"""

import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

from training.aev.fit_aev import Arguments, cell_name, run, sureness, table_lines

HERE = Path(__file__).parent
BEGIN, END = "<!-- begin: written by reproduce.py -->", "<!-- end: written by reproduce.py -->"

EVOUNA = ["judgments/evouna_nq.train.jsonl.gz", "judgments/evouna_tq.train.jsonl.gz"]
ALTERNATIVES = {"reference_recall": "best", "wordiness": float("inf")}
# name: (what humans judged, the paper's cell for such a guideline, files, other arguments)
FITS = {
    "mt_wmt21_deen": (
        "translation, direct assessment (z-scores)",
        "low alpha, high N",
        ["system_level/mt_wmt21_deen.jsonl.gz"],
        {"aspect": "system_da_z"},
    ),
    "mt_wmt21_deen_raw": (
        "translation, direct assessment (raw)",
        "low alpha, high N",
        ["system_level/mt_wmt21_deen.jsonl.gz"],
        {"aspect": "system_da_raw"},
    ),
    "mt_ted_zhen": (
        "translation of talks, errors by experts (MQM)",
        "high N",
        ["system_level/mt_ted_zhen.jsonl.gz"],
        {},
    ),
    "summ_realsumm": (
        "summaries, share of content units recalled",
        "alpha 0, N 1",
        ["system_level/summ_realsumm.jsonl.gz"],
        {},
    ),
    "dialog_dailydialog": (
        "replies in a dialogue, appropriateness (without the human 'system')",
        "none made",
        ["system_level/dialog_dailydialog_multiref.jsonl.gz"],
        {"reference_recall": "best", "exclude_system": ["human"]},
    ),
    "evouna_paper_settings": (
        "answers, correct or not; W = 2 and pooled references as in the paper",
        "alpha 0, N 2",
        EVOUNA,
        {},
    ),
    "evouna": ("answers, correct or not; W = infinity, best reference", "alpha 0, N 2", EVOUNA, ALTERNATIVES),
    "evouna_nq": ("the same, Natural Questions only", "alpha 0, N 2", EVOUNA[:1], ALTERNATIVES),
    "evouna_tq": ("the same, TriviaQA only", "alpha 0, N 2", EVOUNA[1:], ALTERNATIVES),
    "evouna_flooded": (
        "answers, flooded ones marked down; W = infinity, best reference",
        "alpha 0.3, N 2",
        EVOUNA,
        {**ALTERNATIVES, "flood": True},
    ),
}


@dataclass
class ReproduceArguments:
    """What the command line takes; read by transformers' HfArgumentParser."""

    data_folder: str = field(metadata={"help": "folder with system_level/ and judgments/"})


def cell(result: dict, alpha: float, order: int) -> str:
    """Return one cell of the table in percent."""
    value = result["signed_r_squared"][result["max_order"].index(order)][result["alpha"].index(alpha)]
    return "-" if value is None else f"{100 * value:.1f}"


def summary(results: dict[str, dict]) -> list[str]:
    """Return a Markdown table, one line per fit."""
    lines = [
        "| set | what was judged | n | best cell | 95% interval | AEv(0,1) | AEv(0,2) | AEv(1,4) | paper's cell |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, result in results.items():
        judged, prediction, _, _ = FITS[name]
        interval = "-" if result["flooded"] else " to ".join(f"{100 * value:.1f}" for value in result["interval"])
        cells = " | ".join(cell(result, *place) for place in ((0.0, 1), (0.0, 2), (1.0, 4)))
        points = result["points"]
        lines.append(f"| {name} | {judged} | {points} | {cell_name(result)} | {interval} | {cells} | {prediction} |")
    return lines


def section(name: str, result: dict) -> list[str]:
    """Return the part of the README about one fit."""
    return [
        f"### {name}",
        "",
        f"`{result['command']}`",
        "",
        "```text",
        *table_lines(result),
        "```",
        "",
        f"{cell_name(result)}; {sureness(result)}.",
        "",
        f"![R² by alpha and N, {name}](results/{name}.png)",
        "",
    ]


def main() -> None:
    """Fit everything and write the tables."""
    from transformers import HfArgumentParser

    (arguments,) = HfArgumentParser(ReproduceArguments).parse_args_into_dataclasses()
    results = {}
    for name, (_, _, files, options) in FITS.items():
        paths = [str(Path(arguments.data_folder, file)) for file in files]
        fit_arguments = replace(Arguments(data=paths, output_folder=str(HERE / "results"), name=name), **options)
        results[name] = run(fit_arguments)
        print(f"{name}: {cell_name(results[name])}; {sureness(results[name])}", file=sys.stderr)
    written = [*summary(results), ""]
    for name, result in results.items():
        written += section(name, result)
    readme = HERE / "README.md"
    before, rest = readme.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    readme.write_text(before + BEGIN + "\n\n" + "\n".join(written) + END + after, encoding="utf-8")


if __name__ == "__main__":
    main()
