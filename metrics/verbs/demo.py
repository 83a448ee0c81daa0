"""The demonstration: score the example files of the package and say what to see in the tables."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from .. import terminal
from ..registry import JUDGE, OF_SETS, OF_WORDS, scorer_class

EXAMPLES = Path(__file__).parents[1] / "examples"
TEMPLATES = Path(__file__).parents[1] / "reports" / "templates"
PARTS = (
    ("answers.jsonl", (JUDGE, "kpqa", OF_WORDS), "Answers: 44 questions, answered by two systems"),
    ("questions.jsonl", OF_SETS, "Questions: 14 short texts, asked about by three systems"),
)


def demo(every: terminal.option(bool, "--all", help="Print all tables, with remarks.") = False) -> None:
    """Score the example files that come with the package, and say what to see in the scores."""
    from rich.console import Console
    from rich.text import Text

    console = Console()
    if every:
        show_all(Console(width=min(console.width, 100) if sys.stdout.isatty() else 100))
        return
    with Console(stderr=True).status("scoring the example files"):
        text = overview(*(_report(name, metrics) for name, metrics, _ in PARTS))
    console = Console(width=min(console.width, 100) if sys.stdout.isatty() else 80)
    for line in text.splitlines():
        style = "bold" if line[:1].isdigit() or "->" in line else ""
        console.print(Text(line, style=style), soft_wrap="genqa-metrics" in line)  # a command can be copied


def overview(answers, questions) -> str:
    """Return lines on what to see in two `ScoreReport`s; a line that begins with a digit is a heading."""
    from ..ava.scorer import RIGHT_ON_LONG
    from ..scale.scoring import CONFUSION

    labels_of, scores = answers.labels, answers.results.scores
    right = {system: labels["accepted"] + labels["missed"] for system, labels in labels_of.items()}
    judged = {system: numbers[scorer_class(JUDGE).main] for system, numbers in scores[JUDGE].items()}
    rows = [["system", "right: people", "right: AVA", "ROUGE-L", "BERTScore"]]
    for system, number in right.items():
        rows_of = answers.predictions[system]
        words = (f"{scores['kpqa'][system][name]:.2f}" for name in ("rougeL", "bertscore"))
        rows.append([system, f"{number} of {rows_of}", f"{round(judged[system] * rows_of)} of {rows_of}", *words])
    first, *widths = (max(map(len, column)) for column in zip(*rows, strict=True))
    return _filled(
        "demo_overview.txt",
        table=["  ".join([f"  {name:<{first}}", *map(str.rjust, cells, widths)]) for name, *cells in rows],
        by_people=max(right, key=right.get),
        by_judge=max(judged, key=judged.get),
        by_words=max(right, key=lambda system: scores["kpqa"][system]["rougeL"]),
        lead=answers.conclusions[0].sentence,
        steps=_steps(),
        counts={name: sum(labels[name] for labels in labels_of.values()) for name in CONFUSION},
        passages=shlex.quote(str(_shown(EXAMPLES / "rag.jsonl"))),
        long_right=RIGHT_ON_LONG["small"],
        repetitive=questions.results.scores["f_meta"]["repetitive"],
    )


def show_all(console) -> None:
    """Score the example files and print tables, remarks and the commands that do the same."""
    from rich.table import Table
    from rich.text import Text

    steps = _steps()
    for name, metrics, title in PARTS:
        report = _report(name, metrics)
        console.rule(Text(title, style="bold"), align="left")
        console.print()
        report.show_all(console)
        remarks = _filled("demo_remarks.txt", part=Path(name).stem, steps=steps, **report.results.scores)
        for remark in remarks.strip().split("\n\n"):
            line = Table.grid(padding=(0, 1))
            line.add_row("•", Text(" ".join(remark.split())))
            console.print(line)
        console.print()
        path = shlex.quote(str(_shown(EXAMPLES / name)))
        command = f"genqa-metrics score {path} --metric {' --metric '.join(metrics)} --verbose"
        console.print(Text.assemble("The same table: ", (command, "bold cyan")), soft_wrap=True)
        console.print()
    console.print("Your own files: genqa-metrics score --help says what a row may look like.")


def _shown(path: Path) -> Path:
    """Return a path for a command, relative to the working directory where it lies below that."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _report(name: str, metrics: Sequence[str]):
    from .score.report import score

    return score(str(EXAMPLES / name), metrics, keep=False)


def _steps() -> dict[str, object]:
    """Return a question, a wrong answer to it that shares most words with the right one, and its scores by name."""
    from .score.report import score

    question = "How many steps are involved in a hypothesis test?"
    answer = "There are seven steps involved in a hypothesis test ."
    row = {"question": question, "prediction": answer, "references": "Four steps are involved in a hypothesis test."}
    scores = score([row], (OF_WORDS, "kpqa", JUDGE)).to_pandas()
    numbers = {name: float(scores[name][0]) for name in ("aev", "rougeL_kpqa", "ava_score")}
    return {"question": question, "answer": answer, **numbers}


def _filled(template: str, **texts: object) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, trim_blocks=True)
    environment.filters["two"] = "{:.2f}".format
    return environment.get_template(template).render(texts)
