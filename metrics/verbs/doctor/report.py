"""What files of rows support: their columns, what each is read as, and the commands that can run on them.

No model is loaded. A column is read as `score` reads it; what else it may hold is guessed from its values.
"""

import math
import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from ...ava.scorer import profile
from ...registry import JUDGE, OF_PASSAGES, make_scorer, scorer_class
from ...reports.report import Report, briefly, say
from ...reports.table import Table, listed, print_table, visible
from ...rows.columns import COLUMNS, SCORED_COLUMNS, likely_path, plain_name, recognized
from ...rows.errors import FileError, in_command
from ...rows.reading import DIGEST, SETTINGS, Item, RowError, RowKind, RowReader
from ...rows.sources import Source, proposed_encoding
from ...scale.options import default_metrics
from ...scale.scoring import columns_of_judge
from ...statistics.intervals import MIN_QUESTIONS
from ...statistics.resampling import FEW
from ..inputs import MAX_SLICES, as_number
from ..judge_errors import LEAST_ROWS, JudgeErrors, joined_reasons
from ..label.labels import LABELS_TO_BEGIN, POINTS, labels_needed, what_labels_give, what_questions_show

NAMES_OF_SYSTEMS = re.compile(r"(model|system|engine|llm|assistant|agent|bot|method|variant|run)(_?(name|id))?")
MANY_SEPARATED = 0.1  # of the rows have something in their references that may separate several
MAX_ROWS = 10_000  # that are read of each file
FEW_VALUES = 20  # values of a column that makes slices
MIN_SLICE = 5  # mean answers of a system in a slice
MIN_JUDGED = 10  # values of a column that may be scores
MIN_AGREE = 3  # rows with a human score that `agree` needs
JUDGED = "judged.jsonl"  # where `score` writes them, so that the other commands need not judge again
LABELS = "labels.jsonl"
OF_JUDGE = {  # columns that `score` writes
    *scorer_class(JUDGE).names,
    *scorer_class(JUDGE).row_names,
    *columns_of_judge(scorer_class(JUDGE)),
}
PROPOSALS = {  # how doctor proposes to read files, and what it says of that
    "encoding": "the file is not UTF-8: it is read as {0}; look whether its letters are right",
    "split_references": "references hold {0!r}: it is read as standing between several; if it is a part of one, leave "
    "--split-references out",
    "system": "column {0!r} is read as the system, because questions repeat with other values of it",
}


@dataclass(frozen=True, eq=False, repr=False)
class DoctorReport(Report):
    """What files of rows support, and the commands to run.

    `can` and `cannot` have dicts of "what", "why" and, of what can be done, "command".
    """

    title = "What the rows support"

    files: list[dict[str, Any]]  # "name", "format", "rows"
    rows: int
    bad_rows: int
    first_bad: str | None
    columns: list[dict[str, Any]]  # "name", "read_as", "filled", "values", "use"
    systems: dict[str, int]
    can: list[dict[str, str]]
    cannot: list[dict[str, str]]
    notes: list[str]

    def tables(self) -> list[Table]:
        """Return the tables."""
        rows = [[c["name"], c["read_as"] or "-", f"{c['filled']:,}", c["values"]] for c in self.columns]
        tables = [Table("Columns", ["column", "read as", "filled rows", "values"], rows)]
        for title, actions, header in (
            ("What you can do", self.can, ["what", "why", "command"]),
            ("What is missing", self.cannot, ["what", "why"]),
        ):
            tables += [Table(title, header, [[*action.values()] for action in actions])] * bool(actions)
        return tables

    def facts(self) -> list[str]:
        """Return one line per file, then the names of the systems, and a line if only the first rows were read."""
        files = [f"{f['name']}: {f['format']}, {f['rows']:,} row{'s' * (f['rows'] != 1)}" for f in self.files]
        few = ", ".join(list(self.systems)[:5]) + ", ..." * (len(self.systems) > 5)
        cut = [f"the first {MAX_ROWS:,} rows of each file"] * (self.rows >= MAX_ROWS)
        systems = f"{len(self.systems):,} system{'s' * (len(self.systems) != 1)}: {few}"
        return [*files, *[systems] * bool(self.systems), *cut]

    def show(self, console) -> None:
        """Print the report; commands are lines of their own, which can be copied."""
        from rich.padding import Padding
        from rich.text import Text

        say(console, self.facts())
        say(console, [f"note: {note}" for note in self.notes], "bold yellow")
        say(console, ["", "what to run, in this order:"] * bool(self.can), "bold")
        for number, action in enumerate(self.can, 1):
            say(console, [f"{number}. {action['what']}:"], "")
            console.print(Text(f"  {visible(action['command'])}", "bold green"), soft_wrap=True)  # can be copied
            console.print(Padding(Text(visible(action["why"]), "dim"), (0, 0, 0, 2), expand=False))
        say(console, ["", "missing:"] * bool(self.cannot), "bold")
        say(console, [f"  {action['what']}: {action['why']}" for action in self.cannot], "")
        console.print()
        print_table(self.tables()[0], console)


def diagnose(
    sources: Sequence[Source], columns: Mapping[str, str] | None = None, reading: Sequence[str] = ()
) -> DoctorReport:
    """Return what files support; `reading` has the options with which they are read, such as "--sheet", "Answers"."""
    named, encodings = dict(columns or {}), [proposed_encoding(source) for source in sources]
    sources = [_with_option(source, "encoding", text) for source, text in zip(sources, encodings, strict=True)]
    rows = _Rows.of(sources, named)
    proposed = rows.proposed(named, reading)
    if proposed:
        sources = [_with_option(source, "split", proposed.get("split_references")) for source in sources]
        named |= {"system": proposed["system"]} if "system" in proposed else {}
        rows = _Rows.of(sources, named)
    encoding = next(filter(None, encodings), "")
    proposed = ({"encoding": encoding} if encoding else {}) | proposed
    words = [word for pair in named.items() for word in ("--column", "=".join(pair))] + [*reading]
    for option, text in proposed.items():
        words += [f"--{option.replace('_', '-')}", text] * (option != "system")
    files = list(dict.fromkeys(path for source in sources for path in source.inputs))
    shown = [rows.column(name) for name in rows.columns]
    actions = list(_actions(rows, files, shown))
    can, skip, inputs = [], ["--on-error", "skip"] * bool(rows.bad and rows.kind), [*files, *words]
    for goal, why, verb, *more in (action for action in actions if len(action) > 2):
        command = ["genqa-metrics", verb, *inputs, *more, *([] if "--on-error" in more else skip)]
        can.append({"what": goal, "why": why, "command": shlex.join(command)})
        if JUDGED in more:  # which has all rows that are good, in columns of usual names
            inputs, skip = [JUDGED], []
    return DoctorReport(
        files=rows.files,
        rows=sum(file["rows"] for file in rows.files),
        bad_rows=rows.bad,
        first_bad=rows.first_bad or None,
        columns=shown,
        systems=dict(rows.systems),
        can=can,
        cannot=[{"what": action[0], "why": action[1]} for action in actions if len(action) == 2],
        notes=[
            *(PROPOSALS[name].format(text) for name, text in proposed.items()),
            *(f"{source.name}: {in_command(notice)}" for source in sources for notice in source.notices),
            *_notes(rows),
        ],
    )


def _with_option(source: Source, name: str, text: str | None) -> Source:
    """Return a source with one more option for reading it; the same one without a text, or if it is no file."""
    is_file = source.path not in (None, "-") and text
    return Source(source.path, options=replace(source.options, **{name: text})) if is_file else source


@dataclass
class _Rows:
    """What the rows of all files hold."""

    files: list[dict[str, Any]] = field(default_factory=list)  # see `DoctorReport`
    bad: int = 0
    first_bad: str = ""  # where it is, and why
    columns: dict[str, list] = field(default_factory=dict)  # {column: its cells}
    roles: dict[str, str] = field(default_factory=dict)  # {column: what it is read as}
    items: list[Item] = field(default_factory=list)  # of the good rows
    separators: Counter = field(default_factory=Counter)  # that may stand between references of one text
    kind: RowKind | None = None  # None if no row is good

    @classmethod
    def of(cls, sources: Sequence[Source], named: Mapping[str, str]) -> "_Rows":
        """Return the first `MAX_ROWS` rows of each file; `named` are {role: column}."""
        rows = cls()
        for source in sources:
            count = rows._add(source, named)
            form = "JSON" if source.name.endswith(".json") else source.format
            rows.files.append({"name": source.name, "format": source.form or form, "rows": count})
            if not count:
                raise FileError(f"{source.name}: no rows; is this the right file?")
        return rows

    def _add(self, source: Source, named: Mapping[str, str]) -> int:
        """Add the rows of a file; return their number."""
        reader, count = RowReader(source, named), 0
        for row in islice(source.rows(), MAX_ROWS):
            count += 1
            try:
                if row.values is None:
                    raise RowError(row.problem)
                for name, cell in row.values.items():
                    self.columns.setdefault(name, []).append(cell)
                for role in COLUMNS:
                    column = named.get(role) or recognized(tuple(row.values)).get(role)
                    if column and reader.optional(row.values, role) is not None:
                        self.roles.setdefault(column.split(".")[0] if column not in row.values else column, role)
                self.items += reader.read(row)
                self.kind = reader.kind
            except (RowError, FileError) as error:
                self.bad += 1
                where = f"{source.name}, {source.unit} {row.number}"
                self.first_bad = self.first_bad or f"{where}: {in_command(error)}"
        self.separators += reader.separators
        return count

    @cached_property
    def systems(self) -> Counter[str]:
        """{system: its answers}."""
        return Counter(item.system for item in self.items)

    @cached_property
    def labels(self) -> int:
        """Number of answers that people called right or wrong."""
        return sum(item.human[1] in (0.0, 1.0) for item in self.items)

    @cached_property
    def recorded(self) -> set[str]:
        """Columns with verdicts and probabilities of the judge that `score --output` wrote."""
        written = {scorer_class(JUDGE).verdict, scorer_class(JUDGE).graded}
        return written & set(self.columns) if self.columns.keys() >= SCORED_COLUMNS else set()

    def likely(self, role: str) -> str:
        """Return the column without a role that may have this one by its name; "NAME" for none."""
        return likely_path(role, {name: cells[0] for name, cells in self.columns.items() if name not in self.roles})

    def judge(self) -> str:
        """Return the judge that `score` wrote the verdicts of; with the bundled checkpoint where all rows have it."""
        is_bundled = JUDGE + DIGEST in self.columns and not any(self.columns.get(JUDGE + SETTINGS, ()))
        return scorer_class(JUDGE).title + " (small)" * is_bundled

    @property
    def asked(self) -> int:
        """Number of different questions of the system that has most."""
        return max(len(set(pairs)) for pairs in self.questions().values())

    @property
    def needs_labels(self) -> bool:
        """Whether there are no labels, or so few that intervals are rough, and answers and questions for more."""
        enough = sum(min(LABELS_TO_BEGIN, answers) for answers in self.systems.values())
        return self.labels < 2 or (self.labels < enough and self.asked >= MIN_QUESTIONS)

    @property
    def can_be_judged(self) -> bool:
        """Whether rows have a question, one answer and references."""
        kind = self.kind
        return not kind.sets and kind.text == "question" and kind.has_text and kind.has_references

    def questions(self) -> dict[str, list[tuple]]:
        """Return {system: (text, references) of its rows}."""
        questions = defaultdict(list)
        for item in self.items:
            questions[item.system].append((item.text, tuple(sorted(item.references))))
        return questions

    def shared_questions(self) -> tuple[int, bool]:
        """Return how many questions all systems answer, and whether there are no others, as `compare` matches them."""
        ids = defaultdict(set)
        for item in self.items:
            ids[item.system].add(item.id)
        for by_system in (ids, self.questions()):
            questions = [{*asked} - {None} for asked in by_system.values()]
            if shared := set.intersection(*questions):
                return len(shared), all(len(asked) == len(shared) for asked in questions)
        return 0, False

    def proposed(self, named: Mapping[str, str], reading: Sequence[str]) -> dict[str, str]:
        """Return what separates references, and the column with the system, where no option says so."""
        result = {}
        mark, number = next(iter(self.separators.most_common(1)), ("", 0))
        if number >= MANY_SEPARATED * sum(file["rows"] for file in self.files) and "--split-references" not in reading:
            result["split_references"] = mark
        pairs = [pair for pairs in self.questions().values() for pair in pairs]
        if "system" in named or "system" in self.roles.values() or len(set(pairs)) == len(pairs):
            return result
        for name, cells in self.columns.items():
            systems = {str(cell) for cell in cells if cell not in (None, "")}
            is_name = NAMES_OF_SYSTEMS.fullmatch(plain_name(name)) and name not in self.roles
            if is_name and 1 < len(systems) <= FEW_VALUES:
                return result | {"system": name}
        return result

    def column(self, name: str) -> dict[str, Any]:
        """Return the name of a column, what it is read as, the number of filled cells, what they hold, and its use."""
        filled = [cell for cell in self.columns[name] if cell is not None and cell != ""]
        is_written = bool(self.recorded) and name in {*SCORED_COLUMNS, *OF_JUDGE, JUDGE + DIGEST, JUDGE + SETTINGS}
        role, use = self.roles.get(name) or ("written by score" if is_written else None), None
        texts = Counter(map(str, filled))
        few = 1 < len(texts) <= FEW_VALUES and len(filled) >= MIN_SLICE * len(texts)
        if not filled:
            holds = "empty"
        elif all(isinstance(cell, list) for cell in filled):
            least, most = min(map(len, filled)), max(map(len, filled))
            holds = f"lists of {least}{f' to {most}' * (least < most)}"
        elif any(isinstance(cell, list | dict) for cell in filled):
            holds = "lists or objects"
        elif all(map(math.isfinite, numbers := [as_number(cell) for cell in filled])):
            low, high = min(numbers), max(numbers)
            holds = f"numbers from {low:g} to {high:g}, {len(texts):,} different"
            if role is None and len(filled) >= MIN_JUDGED:
                use = "judge" if 0 <= low < high <= 1 else "scores"
        elif few:
            first = ", ".join(text[:20] for text, _ in texts.most_common(3))
            holds = f"{len(texts)} values: {first}{' ...' if len(texts) > 3 else ''}"
            is_large = len(filled) >= MIN_SLICE * len(texts) * len(self.systems)
            use = "slices" if is_large and not role else None
        else:
            words = sum(count * len(text.split()) for text, count in texts.items()) / len(filled)
            length = f"texts of {words:.1f} words" if words > 1 else "single words"
            holds = f"{length}, {len(texts):,} different"
        return {"name": name, "read_as": role, "filled": len(filled), "values": holds, "use": use}


def _actions(rows: _Rows, files: Sequence[str], columns: Sequence[Mapping]) -> Iterator[tuple[str, ...]]:
    """Yield what can be done, (what, why, verb, options), in its order, and what cannot be done, (what, why)."""
    scoring, comparing, agreeing = (
        "score, compare, accuracy",
        "compare systems",
        "measure how well metrics agree with people",
    )
    kind, systems = rows.kind, rows.systems
    if kind is None:
        if "prediction" not in rows.columns and {"id", "label"} <= set(recognized(tuple(rows.columns))):
            labels = shlex.join(word for name in files for word in ("--labels", name))
            fix = f"name the answers that they belong to: genqa-metrics accuracy ANSWERS {labels}"
            yield scoring, f"these are labels; {fix}"
            return
        yield scoring, rows.first_bad
        missing = [role for role in ("prediction", "references", "question") if role not in rows.roles.values()]
        if "prediction" in missing[:-1]:
            options = " ".join(f"--column {role}=NAME" for role in missing)
            yield "columns", f"none is read as {listed(missing)}; name them: {options}"
        guessed = {role: path for role in missing if (path := rows.likely(role)) != "NAME"}
        if guessed:
            named = [word for role, path in guessed.items() for word in ("--column", f"{role}={path}")]
            why = f"no column has a usual name for {listed([*guessed])}; these may be the ones"
            yield "look again with columns named", why, "doctor", *named
        return
    metric = ["-m", OF_PASSAGES]
    if kind.has_references:
        metrics, metric = default_metrics(kind), []
        written = ["-o", JUDGED] if JUDGE in metrics and not rows.recorded else []
        why = f"default for such rows: {' and '.join(metrics)}"
        why = "by the verdicts in the file" if rows.recorded and tuple(metrics) == (JUDGE,) else why
        yield "score the rows", why, "score", *written
    else:  # it needs a judge that is downloaded, and is not recommended where there is another way
        why = f"passages and no references: only {OF_PASSAGES} reads such rows (its judge is downloaded once, 1.1 GB)"
        yield "score the rows", why, "score", *metric
        why = "the worst answers, each with the nearest sentence of a passage"
        yield "list the sentences that no passage supports", why, "explain", *metric
    yield from _on_accuracy(rows, columns)
    by_labels = ["--labels", LABELS] if rows.can_be_judged and rows.needs_labels else []  # that it proposes to make
    shared, are_all_shared = rows.shared_questions()
    if len(systems) < 2:
        yield comparing, "one system; add a file or rows with another value in a column 'system'"
    elif not shared:
        yield comparing, "no question is answered by all systems; give shared questions the same 'id'"
    else:
        skip = [] if are_all_shared else ["--on-error", "skip"]
        why = f"{len(systems)} systems share {shared:,} questions"
        why += f"; {what_questions_show(shared, tests=math.comb(len(systems), 2))}" * rows.can_be_judged
        yield comparing, why, "compare", *skip, *metric, *by_labels
    human = max(sum(item.human[0] is not None for item in rows.items), rows.labels)
    if human >= MIN_AGREE and not kind.sets:
        names = [column["name"] for column in columns if column["use"] in ("judge", "scores")]
        options = metric or ["-m", default_metrics(kind)[0]]
        options += [word for name in names for word in ("--column", name)]
        yield agreeing, f"{human:,} rows with a label or a score of people", "agree", *options
    else:
        yield agreeing, "no labels or scores of people; label rows, or add a column 'score' or 'label'"
    sliced = [column["name"] for column in columns if column["use"] == "slices"]
    verb = "compare" if len(systems) > 1 and shared else "accuracy" if rows.can_be_judged else None
    if sliced and verb:
        each = systems.total() / len(systems) / len({*rows.columns[sliced[0]]})
        why = f"columns with few values: {', '.join(sliced)}"
        why += f"; {each:.0f} answers of a system each: only large differences will show" * (each < FEW)
        yield f"the same by {sliced[0]}", why, verb, *by_labels, "--by", sliced[0]


def _on_accuracy(rows: _Rows, columns: Sequence[Mapping]) -> Iterator[tuple[str, ...]]:
    """Yield what to do without labels, with them, and with another judge, in its order."""
    estimating = "estimate the accuracy"
    if not rows.can_be_judged:
        column = rows.likely("question") if "question" not in rows.roles.values() else ""
        fix = f"--column question={column}" if column not in ("", "NAME") else "--column"
        yield estimating, f"the judge reads a question, one answer and references; name their columns with {fix}"
        return
    yield "read what score lists first", "why each answer was judged so", "explain"
    total = rows.systems.total()
    asked = rows.asked
    needed = f"{MIN_QUESTIONS} are needed with labels, {LEAST_ROWS} without"
    too_few = f"{asked} question{'s are' if asked > 1 else ' is'} too few; {needed}" * (asked < MIN_QUESTIONS)
    if rows.labels >= 2 and too_few:
        yield estimating, too_few
    elif not rows.needs_labels:
        few = rows.labels < LABELS_TO_BEGIN * len(rows.systems)
        rough = f", below {LABELS_TO_BEGIN} a system its intervals are rough" * few
        yield estimating, f"{rows.labels:,} labels of people in the rows{rough}", "accuracy"
    else:
        least, most = min(rows.systems.values()), max(rows.systems.values())
        number = max(2, min(LABELS_TO_BEGIN, most))
        action = f"label {number} answers of every system{', or all that it has' * (least < number)}"
        if number >= most:
            each = f", {most} of each system" * (least == most and len(rows.systems) > 1)
            action = f"label all {total:,} answers{each}" if total > 1 else "label the answer"
            if rows.labels >= 2:
                action = f"label the other {total - rows.labels:,} of {total:,} answers"
        needed = f"{labels_needed()} give +-{POINTS} points"
        why = "; ".join(filter(None, ["one key each", what_labels_give(number), needed]))
        yield action, why, "label", "--number", str(number), "-o", LABELS
        if too_few:
            yield estimating, too_few
        else:
            by = "by these labels" + " and the judge" * (number < most)
            yield estimating, by, "accuracy", "--labels", LABELS
    leaves_rows = not rows.needs_labels or LABELS_TO_BEGIN < max(rows.systems.values())  # without a label, to judge
    if LABELS_TO_BEGIN <= rows.labels < total and not too_few and leaves_rows:
        why = f"{rows.labels:,} labels in the rows"
        yield "calibrate the judge on your labels", why, "calibrate", "--output", "calibration.json"
    for name in [column["name"] for column in columns if column["use"] == "judge"][:1]:
        why = f"{name} has numbers from 0 to 1; is it a judge's verdict or probability?"
        yield "estimate the accuracy with your judge", why, "accuracy", "--column", f"judge={name}"


def _notes(rows: _Rows) -> list[str]:
    """Return what to know before a command is run, one sentence each."""
    notes: list[str] = []
    if rows.kind is None:
        return notes
    if rows.bad:
        total, verb = sum(file["rows"] for file in rows.files), "is" if rows.bad == 1 else "are"
        notes.append(f"{rows.bad:,} of {total:,} rows {verb} bad, the first: {rows.first_bad}")
    if contexts := sum(bool(item.contexts) for item in rows.items):
        way = f"score -m {OF_PASSAGES} says which answers they support (its judge: 1.1 GB, once)"
        notes.append(f"{contexts:,} rows have the passages that were retrieved: {way}")
    if rows.labels < 2 and rows.kind.text == "question":
        notes += _without_labels(rows.items)
    if rows.recorded:
        notes.append(f"already judged by {rows.judge()}: no command judges these answers again")
    if len(rows.systems) > MAX_SLICES:
        notes.append(f"{len(rows.systems):,} systems; is that the right column? --column system=NAME")
    return notes


def _without_labels(items: Sequence[Item]) -> list[str]:
    """Return notes if rows are too few, or unlike those that the judge was measured on: only labels tell more."""
    by_system = defaultdict(list)
    for item in items:
        if item.text and item.references and len(item.predictions) == 1:
            by_system[item.system].append(item)
    few = {len(rows) for rows in by_system.values() if len(rows) < LEAST_ROWS}
    notes = [
        f"without labels score will say 'cannot tell': {number} answers of a system are too few for the judge alone, "
        f"which needs {LEAST_ROWS}"
        for number in sorted(few)[:1]
    ]
    profiles = {
        system: profile([i.references for i in rows], [i.predictions[0] for i in rows], np.zeros(len(rows)))
        for system, rows in by_system.items()
        if len(rows) >= LEAST_ROWS
    }
    errors = JudgeErrors.of(make_scorer(JUDGE, {}, ready=False), profiles)
    notes += errors.long_answers(profiles, len(by_system))
    if not errors.unlike:
        return notes
    are_all = len(errors.unlike) == len(by_system)
    systems = f" of {briefly([*errors.unlike])}" * (not are_all)
    return [
        *notes,
        f"only labels tell the accuracy{systems}: {joined_reasons(errors.unlike, are_all)}; a larger judge errs less: "
        f"score --set {errors.stronger}",
    ]
