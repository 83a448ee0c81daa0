"""Prints what a person sees first of scores: which system is better, how many answers are right, which to read."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import takewhile
from typing import Any

from ...core.reading import one_line
from ...core.scorer import UNSURE_FROM, UNSURE_TO
from ...registry import scorer_class
from ...reports.glossary import short_names
from ...reports.report import WIDTH, Report, briefly, highest, of_faults, print_first_screen
from ...reports.table import Table, accuracy_cell, listed, number, source_cell, visible
from ...scale.tally import DISAGREE, LOWEST, SHARES, UNSURE, WRONG, AnswersToRead, AnswerToRead

LONG = 200  # characters of an answer in a table
READ = "Read these first"
SYSTEMS = "Systems"
HEADINGS = {  # of the kinds of answers to read, where it is not the kind
    UNSURE: f"judge unsure, probability {UNSURE_FROM:g} to {UNSURE_TO:g}",
    WRONG: "judged wrong, surest first",
}


def first_screen(report: Report, console: Any) -> None:
    """Print the finding, one line a system, and the answers to read first.

    Args:
        report: the scores.
        console: a `rich.console.Console`.
    """
    result, accuracy = report.found, report.accuracy or {"notes": []}
    print_first_screen(
        console,
        headline(report),
        replace(systems_table(report), title=""),
        of_accuracy(report) if report.accuracy else report.findings,
        [*of_faults(result.faults), *accuracy["notes"], *result.notes],
        f"{'Why: genqa-metrics explain FILE. ' * bool(report.accuracy)}All tables and signatures: --verbose",
        lambda: print_reading(result.to_read, console, report.faults),
    )


def print_reading(to_read: AnswersToRead, console: Any, faults: Mapping[AnswerToRead, str]) -> None:
    """Print the answers to read first, those judged wrong with their faults; nothing if there is none."""
    from rich.text import Text

    if to_read.first:
        every = sum(to_read.counts.values())
        more = f" ({len(to_read.first)} of {every:,}; --worst {every} lists all)" * (every > len(to_read.first))
        console.print()
        console.print(Text(f"{READ}{more}", style="bold"))
        for line in _reading_lines(to_read, min(console.width, WIDTH), faults):
            console.print(Text(line), no_wrap=True, overflow="crop")


def headline(report: Report) -> str:
    """Return what was scored by what, in one line."""
    value = report.found
    systems = [system for system in value.rows if system != value.total]
    answers = sum(value.predictions[system] for system in systems)
    what = "question" if value.sets else "answer"
    of = f"{answers:,} {what}{'s' * (answers != 1)} of {len(systems)} system{'s' * (len(systems) != 1)}"
    asked = {key for system in value.questions for key in value.questions[system].keys.tolist()}
    to = f" to {len(asked):,} questions" if asked else ""
    return f"{of}{to}, scored by {listed([value.titles.get(metric) or metric for metric in value.scores])}"


def systems_table(report: Report) -> Table:
    """Return one line a system: its accuracy where there is a judge, and the main score of every other metric."""
    result, judged = report.found, report.accuracy["systems"] if report.accuracy else {}
    columns = {metric: scorer_class(metric).main for metric in result.scores if metric != report.judge}
    labelled, rows = any(values["labelled"] for values in judged.values()), []
    for system in result.rows:
        row = [system]
        if judged:
            row.append(accuracy_cell(judged.get(system)))
            row += [source_cell(judged.get(system))] * labelled
            declined = result.scores[report.judge][system][f"{report.judge}_declined"]
            row.append(f"{round(declined * result.predictions[system]):,} of {result.predictions[system]:,}")
        rows.append([*row, *(f"{result.scores[metric][system][main]:.3f}" for metric, main in columns.items())])
    header = ["system", *(["right", *["from"] * labelled, "declined"] if judged else []), *columns.values()]
    marked = {place for place, row in enumerate(rows) if row[0] in report.best}
    return Table(SYSTEMS, header, rows, "", marked, short=short_names(header))


def of_accuracy(report: Report) -> list[str]:
    """Return which system is better and whether that may be chance, and what the accuracy rests on."""
    if not report.accuracy:
        return []
    systems = report.accuracy["systems"]
    if any(values["low"] is None for values in systems.values()):
        return []  # a note says that it cannot be told
    rests_on = f"right: {report.accuracy['method']}, {report.accuracy['confidence']:.0%} interval"
    if not report.leads:
        return [rests_on]
    first = max(systems, key=lambda system: systems[system]["accuracy"])
    behind = [system for system in report.leads if report.leads[system][1] > 0]
    chance = [system for system in report.leads if system not in behind]
    if len(systems) == 2:
        ((system, ends),) = report.leads.items()
        value, low, high = (100 * end for end in ends)
        leads = f"{first} leads {system} by {value:.0f} points [{low:+.0f}, {high:+.0f}]"
        return [f"{leads}: {'this could be chance' if chance else 'chance is unlikely to explain it'}", rests_on]
    near = f"; {briefly(chance)} may be as good" if chance else ""
    return [f"{first} is first{near}{f'; {briefly(behind)} clearly behind' if behind else ''}", rests_on]


def of_metric(report: Report, metric: str) -> str:
    """Return which system a metric puts first; "" for one system, and for the judge, whose accuracy is told."""
    if metric == report.judge:
        return ""
    main = scorer_class(metric).main
    values = {system: scores[main] for system, scores in report.found.scores[metric].items()}
    values.pop(report.found.total, None)
    if len(values) < 2:
        return ""
    return highest(main, {system: (value, number(value)) for system, value in values.items()})


def reading_tables(to_read: AnswersToRead, faults: Mapping[AnswerToRead, str]) -> list[Table]:
    """Return the answers to read first as tables for pages and Markdown, one of each kind."""
    beside = "passages" if any(answer.passages for answer in to_read.first) else "accepted answer"
    header, tables = ["row", "system", "why", "question", "answer", beside], []
    for kind in SHARES:
        answers = [answer for answer in to_read.first if answer.kind == kind]
        rows, whole = [], {}
        for number_, answer in enumerate(answers):
            cells = [answer.id or str(answer.line), answer.system, why_to_read(answer, faults[answer])]
            texts = [answer.question or "", answer.prediction.strip() or "(empty)"]
            texts.append("; ".join(answer.passages or answer.references))
            for column, text in enumerate(texts, len(cells)):
                cells.append(_short(text))
                whole |= {(number_, column): text} if cells[-1] != text else {}
            rows.append(cells)
        said = f"{len(rows)} of {to_read.counts[kind]:,}" * (len(rows) < to_read.counts[kind])
        title = READ if kind == LOWEST else f"{READ}: {HEADINGS.get(kind, kind)}"
        tables.append(Table(title, header, rows, said, texts=(1, 2, 3, 4, 5), whole=whole))
    return [table for table in tables if table.rows]


def _short(text: str) -> str:
    """Return a text on one line without markup, the beginning of a long one."""
    text = one_line(text)
    return text if len(text) <= LONG else f"{text[:LONG]}..."


def _reading_lines(to_read: AnswersToRead, width: int, faults: Mapping[AnswerToRead, str]) -> list[str]:
    """Return the answers to read first below the reason to read them, each line in so many columns."""
    answers = to_read.first
    names = {answer: visible(answer.id or f"line {answer.line}") for answer in answers}
    systems = {answer: visible(answer.system) for answer in answers}
    if all(system in names[answer] for answer, system in systems.items()):
        systems = dict.fromkeys(answers, "")
    of_name, of_system = (min(max(map(len, texts.values())), 12) for texts in (names, systems))
    lines, kind = [], ""
    for answer in answers:
        if answer.kind != kind:
            kind = answer.kind
            lines.append(f" {HEADINGS.get(kind, kind)} ({to_read.counts[kind]:,})" * (kind != LOWEST))
        line = f"  {names[answer][:of_name]:<{of_name}}  "
        line += f"{systems[answer][:of_system]:<{of_system}}  " * bool(of_system)
        line += f"{_grade(answer):<5}, " * (kind == DISAGREE) + f"{answer.score:.2f}  "
        line += f"{_grade(answer)}? " * (kind == UNSURE)
        line += f"{faults[answer]}: " if faults[answer] else ""
        lines.append(line + _excerpt(answer, max(width - len(line), 30)))
    return [line for line in lines if line]


def why_to_read(answer: AnswerToRead, fault: str = "") -> str:
    """Return in a few words why an answer should be read.

    >>> from types import SimpleNamespace
    >>> why_to_read(SimpleNamespace(kind=DISAGREE, label=1.0, score=0.2))
    'label right, judged 0.20'
    """
    if answer.kind == DISAGREE:
        return f"label {_grade(answer)}, judged {answer.score:.2f}"
    kind = {LOWEST: "score", UNSURE: f"unsure, judged {_grade(answer)}"}.get(answer.kind, answer.kind)
    return f"{kind} {answer.score:.2f}{f': {fault}' if fault else ''}"


def _grade(answer: AnswerToRead) -> str:
    """Return what people say of an answer where the judge disagrees, else what the judge says."""
    return "right" if (answer.label if answer.kind == DISAGREE else answer.verdict) else "wrong"


def _excerpt(answer: AnswerToRead, room: int) -> str:
    """Return an answer beside what it is compared with, in so many characters."""
    beside, name = (answer.passages, "passage") if answer.passages else (answer.references, "accepted")
    if not beside:
        return _quoted(one_line(answer.prediction), room)
    said, expected = one_line(answer.prediction), one_line(beside[0])
    if len(said) + len(expected) + len(f"; {name} ") + 4 > room:
        said, expected = _from_difference(said, expected)
    shown = f"; {name} {_quoted(expected, max(room * 2 // 5, 12))}"
    return _quoted(said, room - len(shown)) + shown


def _from_difference(first: str, second: str) -> tuple[str, str]:
    """Return two texts from the word on before they differ.

    >>> _from_difference("An insect has eight legs.", "An insect has six legs.")
    ('...has eight legs.', '...has six legs.')
    """
    words = first.split(), second.split()
    same = sum(1 for _ in takewhile(lambda pair: pair[0].casefold() == pair[1].casefold(), zip(*words, strict=False)))
    if same < 2 or same == min(map(len, words)):
        return first, second
    return tuple("..." + " ".join(of_text[same - 1 :]) for of_text in words)


def _quoted(text: str, room: int) -> str:
    """Return a text in quotes in so many characters, on one line.

    >>> _quoted("one  two three", 12), _quoted(" ", 12)
    ('"one two..."', '(empty)')
    """
    text = visible(" ".join(text.split()))
    if not text:
        return "(empty)"
    return f'"{text}"' if len(text) + 2 <= room else f'"{text[: max(room - 5, 1)].rstrip()}..."'
