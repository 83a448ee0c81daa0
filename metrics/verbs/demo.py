"""The demonstration: score the example files of the package and say what to see in the tables."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

EXAMPLES = Path(__file__).parents[1] / "examples"
WORLD_CUP = "which event did the 2014 world cup"
HOW_MANY_STEPS = "How many steps are involved in a hypothesis test?"
SEVEN_STEPS = "There are seven steps involved in a hypothesis test ."
Scores = Mapping[str, Mapping[str, Mapping[str, float]]]  # {metric: {system: {name: score}}}


def _shown(path: Path) -> str:
    """The path as one would type it here."""
    here = Path.cwd()
    return shlex.quote(str(path.relative_to(here) if path.is_relative_to(here) else path))


def _row_score(metric: str, name: str, prediction: str, references: list[str], text: str | None = None) -> float:
    from ..registry import make_scorer
    from ..rows.items import Item
    from ..scale.pipeline import statistics_of_items

    scorer = make_scorer(metric)
    item = Item("", 1, None, "", text, [prediction], references, (None, None))
    return float(scorer.row_scores(statistics_of_items(scorer, [item])[0])[name][0])


def _answer_remarks(scores: Scores) -> list[str]:
    terse, chatty = (scores["aev"][system] for system in ("terse", "chatty"))
    by_weight, plain = (
        f"{scores['kpqa']['chatty'][name]:.2f} against {scores['kpqa']['terse'][name]:.2f}"
        for name in ("rougeL_kpqa", "rougeL")
    )
    judged = {system: score["ava_accuracy"] for system, score in scores["ava"].items()}
    steps = SEVEN_STEPS, ["Four steps are involved in a hypothesis test."], HOW_MANY_STEPS
    seven = {"aev": _row_score("aev", "aev", *steps), "kpqa": _row_score("kpqa", "rougeL_kpqa", *steps)}
    return [
        "Judged by hand (column 'label' of the file), chatty is right 36 times (0.82) and terse 29 times (0.66). AVA, "
        f"a judge that reads question, references and answer, says {judged['chatty']:.2f} and {judged['terse']:.2f}: "
        "the right order, and within four answers of each, though these were written to be hard.",
        "ROUGE-L-KPQA, which weighs each word by how much it answers the question, closes most of the gap that the "
        f"many words of chatty make: {by_weight}. Without the weights ROUGE-L has {plain}.",
        f"AEv puts terse first: {terse['aev']:.2f} against {chatty['aev']:.2f}. Their recall is alike "
        f"({terse['aev_recall']:.2f}, {chatty['aev_recall']:.2f}), but chatty adds much irrelevant text "
        f"(precision {chatty['aev_precision']:.2f} against {terse['aev_precision']:.2f}). Whether that should count "
        "is the setting alpha: with --set aev.alpha=0 only recall counts, and chatty leads.",
        f"{SEVEN_STEPS!r} is wrong, four would be right, and still gets AEv {seven['aev']:.2f}: a metric of "
        "overlapping words cannot know which word is the answer. KPQA asks the question: ROUGE-L-KPQA is "
        f"{seven['kpqa']:.2f}. To see why: genqa-metrics explain --help.",
    ]


def _question_remarks(scores: Scores) -> list[str]:
    repetitive, diverse, blended = (scores["f_meta"][system] for system in ("repetitive", "diverse", "blended"))
    recall, f, covered = (
        f"{repetitive[name]:.2f} against {diverse[name]:.2f}" for name in ("f_meta_recall", "f_meta", "f_meta_covered")
    )
    return [
        "repetitive asks one good question again and again, so its precision is perfect. What it never asks lowers "
        f"its recall ({recall} for diverse), its F-meta ({f}), and the share of the reference questions that it "
        f"covers ({covered}).",
        f"blended mixes halves of two references into questions that make no sense, such as {WORLD_CUP!r}. Each half "
        f"is like a reference, so its F-meta is high ({blended['f_meta']:.2f}). The count lets a question ask one "
        f"reference only: covered is {blended['f_meta_covered']:.2f}.",
    ]


def demo(
    every: Annotated[bool, typer.Option("--all", help="Print all tables, with remarks.", show_default=False)] = False,
) -> None:
    """Score the example files that come with the package, and say what to see in the scores."""
    if every:
        show_all()
        return
    from rich.console import Console

    with Console(stderr=True).status("scoring the example files"):
        reports = [_report(name, metrics) for name, metrics, _ in PARTS]
        text = overview(*reports)
    console = Console()
    print_lines(text, Console(width=min(console.width, 100) if sys.stdout.isatty() else 80))


PARTS = (
    ("answers.jsonl", ("ava", "kpqa", "aev"), "Answers: 44 questions, answered by two systems"),
    ("questions.jsonl", ("f_meta", "aev"), "Questions: 14 short texts, asked about by three systems"),
    ("rag.jsonl", ("ava", "grounding"), "Answers from passages: six questions, answered by two systems"),
)


def _report(name: str, metrics: Sequence[str]):
    from ..scale.run import Run
    from .score.report import ScoreReport

    run = Run([str(EXAMPLES / name)], metrics)
    return ScoreReport.of(run, run.score())


def overview(answers, questions, passages) -> list[str]:
    """Return what a newcomer should see, as lines; one that begins with a digit is a heading.

    Args:
        answers: scores of answers.jsonl, a `ScoreReport`.
        questions: scores of questions.jsonl.
        passages: scores of rag.jsonl.
    """
    from ..scale.tally import CONFUSION
    from .score.first_screen import of_accuracy

    labels_of, judge_of = answers.labels, answers.found.scores["ava"]
    by_people = max(labels_of, key=lambda system: labels_of[system]["accepted"] + labels_of[system]["missed"])
    by_judge = max(judge_of, key=lambda system: judge_of[system]["ava_accuracy"])
    by_words = max(judge_of, key=lambda system: answers.found.scores["kpqa"][system]["rougeL"])
    result, rows = answers.found, []
    for system, labels in answers.labels.items():
        number = result.predictions[system]
        right = labels["accepted"] + labels["missed"]
        judged = round(result.scores["ava"][system]["ava_accuracy"] * number)
        words = (result.scores["kpqa"][system][name] for name in ("rougeL", "bertscore"))
        cells = [f"{right} of {number}", f"{judged} of {number}", *(f"{value:.2f}" for value in words)]
        rows.append([system, *cells])
    header = ["system", "right: people", "right: AVA", "ROUGE-L", "BERTScore"]
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    table = [
        "  " + "  ".join(f"{cell:{'<' if not place else '>'}{widths[place]}}" for place, cell in enumerate(row))
        for row in (header, *rows)
    ]
    counts = {name: sum(labels[name] for labels in answers.labels.values()) for name in CONFUSION}
    agreeing = counts["accepted"] + counts["rejected"]
    steps = SEVEN_STEPS, ["Four steps are involved in a hypothesis test."], HOW_MANY_STEPS
    seven = {
        name: _row_score(metric, name, *steps)
        for metric, name in (("aev", "aev"), ("kpqa", "rougeL_kpqa"), ("ava", "ava_score"))
    }
    supported = ", ".join(
        f"{system} {scores['grounding']:.0%}" for system, scores in passages.found.scores["grounding"].items()
    )
    repetitive = questions.found.scores["f_meta"]["repetitive"]
    return [
        "genqa-metrics demo: example files, offline",
        "",
        "1 Which system is better? 44 questions, every answer labelled by people",
        *table,
        f"  -> People prefer {by_people}, AVA {by_judge}; shared words prefer {by_words}.",
        f"     {of_accuracy(answers)[0]}.",
        "",
        "2 Why shared words mislead",
        f"  Question  {HOW_MANY_STEPS} (four)",
        f"  Answer    {SEVEN_STEPS}",
        f"  -> AEv {seven['aev']:.2f}; ROUGE-L-KPQA {seven['rougeL_kpqa']:.2f}; "
        f"AVA's probability that it is right {seven['ava_score']:.2f}",
        "",
        "3 How far to trust AVA",
        f"  {agreeing} of {sum(counts.values())} verdicts agree: {counts['missed']} right answers rejected, "
        f"{counts['let_through']} wrong accepted",
        "  -> Label 50 to 100 answers of yours before you rely on it.",
        "",
        f"4 Answers from passages: sentences that these support: {supported}",
        f"5 Generated questions: one repeated scores {repetitive['f_meta_conventional']:.2f}, "
        f"covers {repetitive['f_meta_covered']:.2f} of references",
        "",
        "Next  genqa-metrics doctor YOUR_FILE   what it supports",
        "      genqa-metrics score YOUR_FILE    how many are right, which to read",
        "      genqa-metrics demo --all         all tables",
    ]


def print_lines(lines: Sequence[str], console) -> None:
    """Print lines, headings in bold.

    Args:
        lines: plain text.
        console: a `rich.console.Console`.
    """
    from rich.text import Text

    for line in lines:
        console.print(Text(line, style="bold" if line[:1].isdigit() or "->" in line else ""))


def _passage_remarks(scores: Scores) -> list[str]:
    careful, eager = (scores["grounding"][system] for system in ("careful", "eager"))
    return [
        f"careful says only what the retrieved passages say. They support {careful['grounding']:.2f} of its "
        f"sentences, and {eager['grounding']:.2f} of eager's. grounding needs no accepted answer.",
        "The last table sees both sides: an answer can be right without support, and supported but wrong.",
    ]


def show_all(width: int | None = None) -> None:
    """Score the example files and print tables, remarks and the commands that do the same.

    Args:
        width: columns of the output; None for those of the terminal, at most 100.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    console = Console(width=width or (min(console.width, 100) if sys.stdout.isatty() else 100))
    all_remarks = (_answer_remarks, _question_remarks, _passage_remarks)
    for (name, metrics, title), remarks in zip(PARTS, all_remarks, strict=True):
        report = _report(name, metrics)
        console.rule(Text(title, style="bold"), align="left")
        console.print()
        report.show_all(console)
        for remark in remarks(report.found.scores):
            line = Table.grid(padding=(0, 1))
            line.add_row("•", Text(remark))
            console.print(line)
        console.print()
        chosen = "".join(f" --metric {metric}" for metric in metrics)
        command = f"genqa-metrics score {_shown(EXAMPLES / name)}{chosen} --verbose"
        console.print(Text.assemble("The same table: ", (command, "bold cyan")), soft_wrap=True)
        console.print()
    console.print("Your own files: genqa-metrics score --help says what a row may look like.")
