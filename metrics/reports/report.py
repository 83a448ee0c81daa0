"""Shows what a verb found in every form, as the command line prints it and Python returns it; explains every column.

A quantity has one name in tables, JSON, --fail-under, charts and Python.
"""

import csv
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.reading import UNKNOWN_FAULT, the_first
from ..registry import JUDGE
from ..rows.errors import Detail
from .table import (
    Table,
    as_json,
    html_table,
    latex_table,
    listed,
    markdown,
    markdown_code,
    markdown_table,
    number,
    page,
    print_table,
    render,
    visible,
)
from .viewer import ALL_ANSWERS, ViewedAnswer, viewer, viewer_script

if TYPE_CHECKING:
    from .charts import Intervals

MOST_NAMED = 5  # in a sentence
MOST_CHARACTERS = 80  # of the names that a sentence lists
WIDTH, SCREEN = 100, 30  # columns and lines of a first screen at most
MOST_NOTES, MOST_ON_TOP = 3, 2  # on a first screen, above the tables of a page
_FILES = re.compile(r"(genqa-metrics [a-z]+ |--labels )(FILE|LABELS)\b")  # in commands that sentences name
_COMMAND = re.compile(r"genqa-metrics [a-z]+ (?:FILE|LABELS)(?: --?[a-z-]+(?: (?:[\w./=]*[\w/]|'[^']*'))?)*")
SYSTEM_COLOURS = 7  # in page.css
MOST_PLACES = 3  # tables of a page that its links name
RESTS_ON = "What the numbers rest on"
_NO_BREAK = "\ue000"  # stands for a blank in a command, which is printed on one line


@dataclass(frozen=True)
class Finding:
    """What the numbers show, in sentences: a terminal prints both on one line, a page the first as its headline.

    >>> print(Finding("b leads a by 6 points, but this could be chance.", "95% interval: -10 to +23 points."))
    b leads a by 6 points, but this could be chance. 95% interval: -10 to +23 points.
    """

    sentence: str
    certainty: str = ""  # how sure it is, or why it cannot be told

    def __str__(self) -> str:
        return f"{self.sentence} {self.certainty}".rstrip()


class Report:
    """The result of a verb. Subclasses define its tables, from which all output forms are made."""

    title: str  # of the page and the Markdown
    notes: list[str]  # what a reader must know before the numbers, one sentence each
    warnings: Sequence[str] = ()  # scores that mean less than they seem to, one sentence each
    headline: str = ""  # what was scored, for the top of the page
    conclusions: Sequence[Finding] = ()  # what the numbers show, the most important one first
    open_tables: int | None = None  # tables that the page shows; the others open by a click on their titles. None: all
    legend: str = ""  # what marks of answers in the row viewer mean
    answers_title: str = ALL_ANSWERS  # which answers the row viewer has
    next_steps: Sequence[str] = ()  # what a reader can do with the result, one sentence each, for the page

    def tables(self) -> list[Table]:
        """Return the tables."""
        raise NotImplementedError

    def page_tables(self) -> list[Table]:
        """Return the tables as pages have them, which have more room than a terminal."""
        return self.tables()

    def answers_of_page(self) -> list[ViewedAnswer]:
        """Return the answers that the row viewer of the page shows; none for a page without it."""
        return []

    @property
    def findings(self) -> list[str]:
        """What the numbers show, as the command line prints it."""
        return list(map(str, self.conclusions))

    @property
    def page_conclusions(self) -> Sequence[Finding]:
        """What the top of the page shows, the first one as its headline."""
        return self.conclusions

    @property
    def certainty(self) -> Sequence[str]:
        """What the first finding assumes, one sentence each, for the page."""
        return ()

    @property
    def page_headline(self) -> str:
        """The headline without what `certainty` says."""
        return self.headline

    def page_notes(self) -> list[str]:
        """Return the notes as pages have them."""
        return [*self.warnings, *self.notes]

    def page_facts(self) -> list[str]:
        """Return what the numbers rest on, with what pages do not say beside their tables."""
        return self.facts()

    def facts(self) -> list[str]:
        """Return what the numbers rest on, one sentence or line each."""
        raise NotImplementedError

    def to_dict(self) -> dict:
        """Return everything as one object of types that JSON has."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name[0] != "_"}

    def _inputs(self) -> list[str]:
        """Return one line per file that was read."""
        report = self.to_dict()
        sources = [*report["inputs"], *(report.get("labels") or [])]
        return [f"{source['name']}: {source['rows']:,} rows, SHA-256 {source['sha256']}" for source in sources]

    def to_latex(self) -> str:
        """Return the tables in LaTeX; they need the package booktabs."""
        lines = ["Needs \\usepackage{booktabs}.", *(f"note: {note}" for note in self.notes), *self.facts()]
        comments = "\n".join(f"% {visible(line)}" for line in lines)
        return "\n\n".join([comments, *map(latex_table, self.tables())]) + "\n"

    def intervals(self) -> "dict[str, Intervals]":
        """Return what pages draw in their tables, by the titles of these."""
        return {}

    def to_json(self) -> str:
        """Return `to_dict()` as JSON; equal reports give equal bytes."""
        return as_json(self.to_dict())

    def to_markdown(self) -> str:
        """Return the report in Markdown."""
        blocks = [f"# {markdown(self.title)}", *[markdown(self.headline)] * bool(self.headline)]
        blocks += ["\n".join(f"- {markdown(finding)}" for finding in self.findings)] * bool(self.findings)
        notes = [note for note in self.page_notes() if not isinstance(note, Untold)]
        blocks += [f"**Note:** {markdown(note)}" for note in notes]
        facts = self.facts()
        for table in self.tables():
            explained = table.explanation and table.explanation not in facts
            blocks += [f"## {markdown(table.title)}", *[markdown(table.explanation)] * bool(explained)]
            blocks.append(markdown_table(table))
        facts = "\n".join(f"- {markdown_code(line)}" for line in facts)
        return "\n\n".join([*blocks, f"## {RESTS_ON}", facts])

    def to_html(self, names: Mapping[str, str] | None = None) -> str:
        """Return the report as one HTML page that needs no outside resource; its one script is the row viewer's.

        `names` of files stand in its commands, {"FILE": name}.
        """
        first, *others = self.page_conclusions or [Finding("")]
        shown = {*self.findings, *self.next_steps}
        notes = [note for note in self.page_notes() if not isinstance(note, Untold) and as_sentence(note) not in shown]
        note, notes = first_and_further(notes)
        steps = [f"{step[:1].upper()}{step[1:]}" for step in self.next_steps]
        steps.sort(key=lambda step: "genqa-metrics " not in step)
        certainty = [*filter(None, [first.certainty]), *self.certainty]
        texts = {"finding": [*filter(None, [first.sentence])], "certainty": certainty}
        texts["further"] = list(map(str, others))
        texts |= {"note": note, "notes": notes, "facts": self.page_facts()}
        texts = {name: _commands_with_files(lines, names or {}) for name, lines in texts.items()}
        steps = [_commands_with_files(_with_commands_apart(step), names or {}) for step in steps]
        tables, answers = self.page_tables(), self.answers_of_page()
        colours = colours_of({row[0] for table in tables if table.header[0] == "system" for row in table.rows})
        places = [*self._places(tables), *[("answers", self.answers_title)] * bool(answers), ("facts", RESTS_ON)]
        texts |= {"title": self.title, "headline": self.page_headline, "places": places, "rests_on": RESTS_ON}
        texts["tables"] = self._html_tables(tables, self.intervals(), texts["facts"], steps, colours, foldable=True)
        texts["rows"] = (
            viewer(answers, legend=self.legend, colours=colours, heading=self.answers_title) if answers else ""
        )
        styles = ["viewer.css"] * bool(answers)
        script = viewer_script() if answers else None
        return page(self.title, render("report.html", **texts), *map(render, styles), script=script)

    def _places(self, tables: Sequence[Table]) -> list[tuple[str, str]]:
        """Return the ids and names of the tables that links at the top of the page lead to, but the first table."""
        shown = len(tables) if self.open_tables is None else self.open_tables
        places = [(f"table-{i}", table.title) for i, table in enumerate(tables[:shown], 1)]
        return [*places[1:][:MOST_PLACES], *[("more", "More tables")] * (len(tables) > shown)]

    def _html_tables(
        self,
        tables: Sequence[Table],
        intervals: "Mapping[str, Intervals]",
        facts: Sequence[str],
        steps: Sequence[Sequence[str]] = (),
        colours: Mapping[str, int] | None = None,
        foldable: bool = False,
    ):
        """Return the tables, the next steps below the first; an explanation that is a fact is not repeated."""
        shown = {"intervals": intervals, "facts": facts, "steps": steps, "colours": colours, "foldable": foldable}
        open_tables = len(tables) if self.open_tables is None or not foldable else self.open_tables
        written = {"html_table": html_table, "meanings": meanings}
        return render("tables.html", tables=tables, open_tables=open_tables, **shown, **written)

    def __str__(self) -> str:
        """Return what the command line prints."""
        from io import StringIO

        from rich.console import Console

        console = Console(file=StringIO(), width=1000)
        self.show(console)
        return console.file.getvalue()

    def _repr_html_(self) -> str:
        """Return the tables for a notebook."""
        return str(render("notes.html", notes=self.notes) + self._html_tables(self.page_tables(), {}, ()))

    def show(self, console) -> None:
        """Print the report to a `rich.console.Console`."""
        say(console, [f"note: {note}" for note in self.notes], "bold yellow")
        for table in self.tables():
            print_table(table, console)
        say(console, self.facts())

    def show_notes(self, console, most: int) -> None:
        """Print the first `most` notes that change a decision as sentences below a table."""
        say(console, few_notes(self.notes, most), "dim", WIDTH)

    def show_all(self, console) -> None:
        """Print everything: all tables, and what the numbers rest on."""
        Report.show(self, console)


def as_sentence(note: str) -> str:
    """Return a note as a sentence; a name before a colon at its start keeps its case."""
    return f"{note}." if note.partition(" ")[0].endswith(":") else f"{note[:1].upper()}{note[1:]}."


def colours_of(systems: Collection[str]) -> dict[str, int]:
    """Return the number of each system's colour in page.css, by the order of names; {} for one, or too many."""
    return {system: i for i, system in enumerate(sorted(systems))} if 1 < len(systems) <= SYSTEM_COLOURS else {}


def first_and_further(notes: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the first notes that can change a decision, for the top of a page, and the others, as sentences.

    >>> first_and_further([Detail("read as JSON"), "3 texts were cut"])
    (['3 texts were cut.'], ['Read as JSON.'])
    """
    notes = list(dict.fromkeys(notes))
    first = [note for note in notes if not isinstance(note, Detail)][:MOST_ON_TOP]
    return [f"{note}".removesuffix(".") + "." for note in first], [
        as_sentence(note) for note in notes if note not in first
    ]


def few_notes(notes: Iterable[str], most: int) -> list[str]:
    """Return the first `most` notes that change a decision, as sentences, and the last one if only that is left.

    >>> few_notes(["no answer is empty", Detail("read as JSON"), "few labels", "b: few"], 1)
    ['No answer is empty.', '... and 2 more notes: --verbose']
    """
    sentences = list(dict.fromkeys(as_sentence(note) for note in notes if not isinstance(note, Detail)))
    most += len(sentences) == most + 1
    more = len(sentences) - most
    return [*sentences[:most], *[f"... and {more} more notes: --verbose"] * (more > 0)]


class Untold(Detail):
    """The note that an accuracy cannot be told; it is also a `finding`, so that screens have it once.

    >>> Untold("the accuracy", "too few questions"), Untold("the accuracy", "too few questions").finding.certainty
    ('the accuracy cannot be told from these rows: too few questions', 'Too few questions.')
    """

    finding: Finding

    def __new__(cls, whose: str, why: str) -> "Untold":
        """Return the note on `whose` accuracy, and why."""
        note = super().__new__(cls, f"{whose} cannot be told from these rows: {why}")
        note.finding = Finding(as_sentence(f"{whose} cannot be told from these rows"), as_sentence(why))
        return note


class Remedy(Detail):
    """The note after one that an accuracy cannot be told: what to do; screens have it as the next step."""


def untold(notes: Iterable[str]) -> tuple[list[Finding], list[str]]:
    """Return (why accuracies cannot be told, what to do as sentences) from notes.

    >>> untold(["skipped: 2", Untold("the accuracy", "too few"), Remedy("more questions are needed")])[1]
    ['More questions are needed.']
    """
    notes = list(notes)
    why = [note.finding for note in notes if isinstance(note, Untold)]
    return why, [as_sentence(note) for note in notes if isinstance(note, Remedy)]


def highest(
    score: str,
    systems: Mapping[str, tuple[float, str]],
    as_good: Collection[str] | None = None,
    untested: str = "",
) -> str:
    """Return a sentence on the system with the highest score; "" for no systems.

    `systems` has each score, and the text that shows it; `as_good` those whose lower score may be chance; None if that
    is not tested, and `untested` why.

    >>> scores = {"a": (0.5, "0.500"), "b": (0.7, "0.700"), "c": (0.6, "0.600")}
    >>> highest("accuracy", scores, ["c"])
    'b has the highest accuracy, 0.700; its lead over c may be chance; a is clearly behind b.'
    >>> highest("accuracy", {"a": (0.7, "0.700"), "b": (0.7, "0.700"), "c": (0.6, "0.600")}, ["b", "c"])
    'a and b have the highest accuracy, 0.700; their lead over c may be chance.'
    >>> highest("aev", {"a": (0.5, "0.500"), "b": (0.7, "0.700"), "c": (0.6, "0.600")})
    'b has the highest aev, 0.700, ahead of c, 0.600 (not tested; `compare` tests it).'
    """
    if not systems:
        return ""
    top = max(height for height, _ in systems.values())
    first = [system for system, (height, _) in systems.items() if height == top]
    shown = systems[first[0]][1]
    if len(systems) == 1:
        return f"The {score} of {first[0]} is {shown}."
    best = f"{listed(first)} {'has' if len(first) == 1 else 'have'} the highest {score}, {shown}"
    if len(first) == len(systems) or (len(first) > 1 and as_good is None):
        return f"{best}."
    if as_good is None:
        behind = max(height for height, _ in systems.values() if height < top)
        second = [system for system, (height, _) in systems.items() if height == behind]
        why = untested or "not tested; `compare` tests it"
        return f"{best}, ahead of {briefly(second)}, {systems[second[0]][1]} ({why})."
    near = [system for system in systems if system in as_good and system not in first]
    as_good_as = f"all {len(near)} others" if 2 < len(near) == len(systems) - len(first) else briefly(near or first)
    if not near:
        return f"{best}; chance is unlikely to explain it."
    behind = [system for system in systems if system not in [*first, *near]]
    its, are = "its" if len(first) == 1 else "their", "is" if len(behind) == 1 else "are"
    further = f"; {briefly(behind)} {are} clearly behind {briefly(first)}" if behind else ""
    return f"{best}; {its} lead over {as_good_as} may be chance{further}."


def differing_orders(names: Sequence[str], systems: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return [a sentence] if some score puts another system first than the main score, `names[0]`, does; else [].

    `systems` are {system: {score: value}}.
    """
    firsts: dict[str, list[str]] = {}
    for name in names:
        scored = {system: scores[name] for system, scores in systems.items() if name in scores}
        firsts[name] = [system for system, mean in scored.items() if mean == max(scored.values())]
    top = firsts[names[0]]
    others = {name: first for name, first in firsts.items() if first and not {*first} & {*top}}
    are = f"{briefly(top)} {'is' if len(top) == 1 else 'are'} first by {names[0]}"
    each = [f"{briefly(first)} by {name}" for name, first in others.items()]
    return [f"The order depends on the score: {'; '.join([are, *each])}."] * bool(others)


OVERLAP = "shared words do not show which answers are right"
LONGER = 1.25  # from so many times the words of another system on, its answers are longer


def caution_of_words(words: Mapping[str, float], asked: bool) -> list[str]:
    """Return what to do with scores of shared words, and why, by the words that each system's answers have on average.

    `asked` is whether the answers are to questions.

    >>> caution_of_words({"a": 19.0, "b": 25.2}, False)[0][44:]
    'answers differ in length (on average b 25, a 19 words), on which the scores depend'
    >>> caution_of_words({"a": 19.0, "b": 22.4}, False)
    ['do not pick a system by these scores alone: shared words do not show which answers are right']
    """
    overlap = OVERLAP + f"; {JUDGE} judges that from the question: -m {JUDGE}" * asked
    if len(words) < 2:
        return [overlap]
    lengths = dict(sorted(words.items(), key=lambda named: -named[1]))
    most, *_, least = lengths.values()
    pick = "do not pick a system by these scores alone: "
    if most < least * LONGER or most < least + 1:
        return [pick + overlap]
    shown = the_first([f"{system} {mean:.0f}" for system, mean in lengths.items()], MOST_NAMED)
    why = f"answers differ in length (on average {shown} words), on which the scores depend"
    return [pick + why, overlap]


def highest_accuracy(
    systems: Mapping[str, Mapping], as_good: Collection[str] | None = None, confidence: float = 0.95
) -> Finding:
    """Return which of systems with an interval has the highest accuracy.

    `as_good` are systems whose lower accuracy may be chance; None: all.
    """
    if len(systems) == 1:
        ((system, accuracy),) = systems.items()
        right, low, high = (f"{accuracy[name]:.0%}" for name in ("accuracy", "low", "high"))
        interval = f"{confidence:.0%} interval: {low} to {high}."
        return Finding(f"{right} of the answers of {system} are right.", interval)
    shown = {system: (accuracy["accuracy"], number(accuracy["accuracy"])) for system, accuracy in systems.items()}
    return Finding(highest("accuracy", shown, list(shown) if as_good is None else as_good))


CLOSE = 0.05  # accuracies that differ by less are too close to call; a larger lead can be chance


def from_first(pair: Mapping[str, Any], first: str) -> Mapping[str, Any]:
    """Return a pair of systems, turned so that `first` comes first: their difference, and wins and losses if any.

    >>> from_first({"first": "a", "second": "b", "difference": {"value": -0.2, "low": -0.3, "high": None}}, "b")
    {'first': 'b', 'second': 'a', 'difference': {'value': 0.2, 'low': None, 'high': 0.3}}
    """
    if pair["first"] == first:
        return pair
    ends = (pair["difference"][end] for end in ("value", "high", "low"))
    negated = (None if end is None else -end for end in ends)
    turned = {**pair, "first": pair["second"], "second": pair["first"]}
    turned["difference"] = dict(zip(("value", "low", "high"), negated, strict=True))
    return turned | ({"wins": pair["losses"], "losses": pair["wins"]} if "wins" in pair else {})


def lead(pair: Mapping[str, Any], is_chance: bool, certainty: str = "", confidence: float = 0.95) -> Finding:
    """Return how far the first system of a pair leads the second in accuracy, with the interval and a `certainty`.

    >>> ends = {"value": 0.16, "low": -0.06, "high": 0.38}
    >>> print(lead({"first": "a", "second": "b", "difference": ends}, is_chance=True))
    a leads b by 16 points, but this could be chance. 95% interval: -6 to +38 points.
    """
    first, second, difference = pair["first"], pair["second"], pair["difference"]
    points, low, high = (whole_points(difference[end]) for end in ("value", "low", "high"))
    sentence = f"{first} leads {second} by {points} points, but this could be chance."
    if not is_chance:
        sentence = f"{first} is significantly better than {second}, by {points} points."
    elif difference["value"] < CLOSE:
        sentence = f"Too close to call: {first} and {second} differ by {points} points."
    return Finding(sentence, f"{confidence:.0%} interval: {low:+} to {high:+} points{certainty}.")


def whole_points(share: float) -> int:
    """Return points of 100; halves of the three digits that tables have are rounded away from zero.

    >>> whole_points(0.125), whole_points(-0.124), whole_points(0.145)
    (13, -12, 15)
    """
    tenths = round(1000 * share)
    return int(math.copysign((abs(tenths) + 5) // 10, tenths))


def lead_in_words(pair: Mapping[str, Any]) -> str:
    """Return which system of a pair leads, for a row of a table.

    >>> lead_in_words({"first": "a", "second": "b", "difference": {"value": 0.0}})
    'a equals b'
    """
    difference = pair["difference"]["value"]
    return f"{pair['first']} {'and' if difference is None else 'leads' if difference else 'equals'} {pair['second']}"


def of_faults(faults: Mapping[str, Mapping[str, int]], accuracy: Mapping | None = None) -> list[str]:
    """Return [a sentence] with the rejected answers by fault, of two systems each; [] if few faults are known.

    Answers that people call right are not among them, see `scoring.faults_of_rows`; where the `accuracy` of
    systems counts labels, the sentence says so.

    >>> of_faults({"a": {"wrong value": 4, "unknown": 3}, "b": {"declined": 1, "unknown": 1}})
    ['9 judged wrong: wrong value (a 4), declined (b 1), unknown (a 3, b 1); explain says which words these lack']
    """
    total = sum((Counter(of) for of in faults.values()), Counter())
    names = sorted(total, key=lambda name: name == UNKNOWN_FAULT)
    if 2 * total[UNKNOWN_FAULT] >= total.total():
        return []
    counts = {name: f" {total[name]:,}" for name in names}
    if len(faults) == 2:
        counts = {
            name: f" ({', '.join(f'{s} {of[name]:,}' for s, of in faults.items() if name in of)})" for name in names
        }
    have_labels = any(system["labelled"] for system in accuracy["systems"].values()) if accuracy else False
    judged = f"{total.total():,} judged wrong{' (answers labelled right are left out)' * have_labels}"
    closer = "; explain says which words these lack" * (UNKNOWN_FAULT in total)
    return [f"{judged}: {', '.join(name + shown for name, shown in counts.items())}{closer}"]


FAULTS = "Why answers were judged wrong"  # a table
_OF_FAULTS = (
    "Numbers of answers that were judged wrong, and that no person calls right, by what their words show. Wrong "
    "value: a number, name or other word in place of the accepted one. Wrong order: the accepted items in another "
    "order. Part missing: of the accepted answer. Part added: it is not accepted, and need not be wrong. Declined: "
    "gives no answer. Unknown: the words do not show it; `explain` looks at single answers more closely."
)


def faults_table(faults: Mapping[str, Mapping[str, int]], kinds: Iterable[str]) -> Table:
    """Return the number of rejected answers of each system by fault; `kinds` are the faults that a judge knows."""
    kinds = [*kinds, UNKNOWN_FAULT]
    rows = [[system, *(f"{of.get(kind, 0):,}" for kind in kinds)] for system, of in faults.items()]
    return Table(FAULTS, ["system", *kinds], rows, _OF_FAULTS)


def rejected(accuracy: Mapping) -> int:
    """Return the number of rejected answers of a system, from its "rows" and "judged", the share accepted."""
    return round((1 - accuracy["judged"]) * accuracy["rows"])


def briefly(names: Sequence[str]) -> str:
    """Return names as one phrase, or their number as "5 others" where they are too many for a sentence."""
    few = len(names) == 1 or (len(names) <= MOST_NAMED and len(listed(names)) <= MOST_CHARACTERS)
    return listed(names) if few else f"{len(names)} others"


def print_first_screen(
    console,
    findings: Iterable[object],
    about: str,
    table: Table,
    notes: Iterable[str],
    last: str,
    print_rows: Callable[[int], None] = lambda room: None,
    caution: Iterable[str] = (),
    steps: Sequence[str] = (),
) -> None:
    """Print what a person sees first: the findings, what was judged, a table, and what must be known beside it.

    `caution` is what must be known before the numbers. `print_rows` prints rows that a person should read, and is told
    how many lines the screen has left; `steps` are what to do next; `last` says where the rest is.
    """
    with console.capture() as captured:  # to count its lines
        say(console, caution, "bold yellow", WIDTH)
        say_findings(console, findings, about)
        console.print()
        print_table(table, console)
        say(console, few_notes(notes, MOST_NOTES), "dim", WIDTH)
    with console.capture() as end:
        console.print()
        say_next(console, steps)
        say(console, [last], "dim", WIDTH)
    above = captured.get().rstrip("\n") + "\n"  # each part begins with an empty line
    console.file.write(above)
    print_rows(SCREEN - (above + end.get()).count("\n"))
    console.file.write(end.get())


def screen_header(table: Table, confidence: float = 0.95) -> list[str]:
    """Return the headings of a table on a first screen, where "accuracy" says what its brackets are."""
    with_brackets = any("[" in cell for row in table.rows for cell in row)
    heading = "accuracy" + f" [{confidence:.0%} interval]" * with_brackets
    return [heading if name == "accuracy" else name for name in table.headings]


def say_findings(console, findings: Iterable[object], about: str) -> None:
    """Print the findings, and below them in one quiet line what they are about."""
    say(console, map(str, findings), "bold", WIDTH)
    say(console, [about], "dim", WIDTH)


def say(console, lines: Iterable[str], style: str = "dim", most: int | None = None) -> None:
    """Print lines of plain text, wrapped between words to `most` columns or the console's; each keeps its indentation.

    Commands are not broken.

    A word that is wider than the console, such as a signature, is one that can be copied. FILE and LABELS in commands
    become the files that were read where the console has their `names`, see `terminal.print_result`.
    """
    from rich.cells import cell_len
    from rich.text import Text

    width = min(console.width, most or console.width)
    names = getattr(console, "names", {})
    lines = _commands_with_files(lines, names, _NO_BREAK)
    for line in map(visible, [with_files(line, names) for line in lines]):
        text = line.lstrip()
        indent = line[: len(line) - len(text)]
        room = width - len(indent)
        fits = max(map(cell_len, text.split()), default=0) <= room
        for wrapped in Text(text).wrap(console, room) if fits else [Text(text)]:
            plain = wrapped.plain.rstrip().replace(_NO_BREAK, " ")
            console.print(Text.assemble(indent, (plain, style)), soft_wrap=True)


def say_next(console, steps: Iterable[str]) -> None:
    """Print what to do next; commands after a colon are lines of their own, which can be copied."""
    for step in steps:
        step = f"Next: {step[:1].lower()}{step[1:]}"
        for line in _with_commands_apart(step):
            say(console, [line], "bold green" if line.startswith("  ") else "", WIDTH)


def _with_commands_apart(step: str) -> list[str]:
    """Return the lines of a step: commands after a colon are lines of their own.

    >>> _with_commands_apart("Label all: genqa-metrics label FILE, then: genqa-metrics accuracy FILE.")
    ['Label all:', '  genqa-metrics label FILE', '  genqa-metrics accuracy FILE']
    """
    apart = re.sub(rf": ({_COMMAND.pattern})[.,]?(?: |$)", r":\n  \1\n", step).replace("\nthen:\n", "\n")
    return apart.strip().split("\n")


def _commands_with_files(lines: Iterable[str], names: Mapping[str, str], blank: str = " ") -> list[str]:
    """Return lines in whose commands FILE and LABELS are the names of files, and blanks are `blank`."""
    return [_COMMAND.sub(lambda match: with_files(match[0], names).replace(" ", blank), line) for line in lines]


def with_files(text: str, names: Mapping[str, str]) -> str:
    """Return a text in whose commands FILE and LABELS are the names of files, with options that it does not have.

    >>> with_files("genqa-metrics explain FILE --set ava.threshold=0.6", {"FILE": "a.csv --set ava.threshold=0.6"})
    'genqa-metrics explain a.csv --set ava.threshold=0.6'
    """

    def with_name(match: re.Match) -> str:
        name, *options = re.split("(?= --)", names.get(match[2], match[2]))
        return match[1] + name + "".join(option for option in options if option not in text)

    return _FILES.sub(with_name, text)


def print_field(console, label, text, columns: int) -> None:
    """Print a text beside its label of so many columns, both plain or a `rich.text.Text`, wrapped to the console."""
    from rich.text import Text

    label = label.copy() if isinstance(label, Text) else Text(label, "bold")
    text = text if isinstance(text, Text) else Text(visible(text))
    for line in text.wrap(console, max(console.width - columns, 20)):
        label.pad_right(columns - label.cell_len)
        line = Text.assemble(label, line)
        line.rstrip()
        console.print(line, soft_wrap=True)
        label = Text()


@dataclass(frozen=True)
class Quantity:
    """The explanation of one name in tables and JSON."""

    meaning: str  # one sentence
    verbs: tuple[str, ...]  # whose tables or JSON have it; () for a column that holds names and texts
    header: str = ""  # what a table calls it, where that is not its name
    short: str = ""  # what terminals and HTML call it, where its name is too long for a column


with Path(__file__).with_name("templates").joinpath("glossary.csv").open(encoding="utf-8", newline="") as _csv:
    _GLOSSARY = {
        row.pop("name"): Quantity(**row | {"verbs": (*row["verbs"].split(),)}) for row in csv.DictReader(_csv)
    }
QUANTITIES = {name: quantity for name, quantity in _GLOSSARY.items() if quantity.verbs}
TEXTS = {name: quantity.meaning for name, quantity in _GLOSSARY.items() if not quantity.verbs}  # columns of texts


def named(header: str) -> Quantity | None:
    """Return the explanation of a column of a table; None for a column that the glossary lacks.

    >>> named("accuracy").verbs
    ('score', 'compare', 'accuracy')
    """
    return QUANTITIES.get(header) or next(
        (quantity for quantity in QUANTITIES.values() if quantity.header == header), None
    )


def meanings(table: Table) -> list[tuple[str, str]]:
    """Return [(heading, meaning)] of the columns of a table that the glossary explains.

    >>> meanings(Table("", ["system", "wins", "rejected"], []))
    [('system', 'Who answered.'), ('rejected', 'Answers that people and judge call wrong.')]
    """
    result = []
    for heading, name in zip(table.headings, table.header, strict=True):
        if meaning := quantity.meaning if (quantity := named(name)) else TEXTS.get(name):
            result.append((heading, meaning + f" Its name in JSON: `{name}`." * (heading != name)))
    return result


def judge_names(judge: str, header: Iterable[str]) -> dict[str, str]:
    """Return {column: heading} for a judge's numbers.

    >>> judge_names("ava", ["system", "ava_wrong", "ava_accuracy", "accuracy"])
    {'ava_wrong': 'judge: wrong', 'ava_accuracy': 'judged right'}
    """
    prefix = f"{judge}_"
    judged = [name for name in header if name.startswith(prefix) and name in QUANTITIES]
    names = {name: f"judge: {QUANTITIES[name].short or name.removeprefix(prefix)}" for name in judged}
    return names | {name: "judged right" for name in judged if name == f"{prefix}accuracy"}


def short_names(header: Iterable[str]) -> dict[str, str]:
    """Return the columns of a table that terminals and HTML call by a shorter name, with that name.

    >>> short_names(["system", "ava_accuracy", "ava_wrong"])
    {'ava_wrong': 'wrong'}
    """
    return {name: QUANTITIES[name].short for name in header if name in QUANTITIES and QUANTITIES[name].short}
