"""What files of rows support: their columns, what each is read as, and the commands that can run on them.

No model is loaded. A column is read as `score` reads it; what else it may hold is guessed from its values.
"""

import math
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import islice
from typing import Any

import numpy as np

from ...ava.scorer import profile
from ...core.answers import attempts
from ...core.reading import language_counts
from ...registry import JUDGE, SCORERS, make_scorer, scorer_class
from ...reports.report import Report, briefly, say
from ...reports.table import Table, listed, print_table, visible
from ...rows.errors import FileError, in_command
from ...rows.reading import RowError, RowReader
from ...rows.sources import Source, proposed_encoding
from ...rows.values import COLUMNS, SCORED_COLUMNS, plain_name, recognized
from ...scale.options import LONG, default_metrics
from ...statistics.resampling import FEW
from ..inputs import MAX_SLICES, as_number
from ..judge_errors import LEAST_ROWS, JudgeErrors
from ..labels import LABELS_TO_BEGIN, what_labels_give

NAMES_OF_SYSTEMS = re.compile(r"(model|system|engine|llm|assistant|agent|bot|method|variant|run)(_?(name|id))?")
MANY_SEPARATED = 0.1  # of the rows have something in their references that may separate several
MAX_ROWS = 10_000  # that are read of each file
LANGUAGE_ROWS = 1000  # whose language is looked for
FEW_VALUES = 20  # values of a column that makes slices
MIN_SLICE = 5  # mean answers of a system in a slice
MIN_JUDGED = 10  # values of a column that may be scores
MIN_AGREE = 3  # rows with a human score that `agree` needs
JUDGED = "judged.jsonl"  # where it writes them, so that the other commands need not judge again


def diagnose(
    sources: Sequence[Source], columns: Mapping[str, str] | None = None, reading: Sequence[str] = ()
) -> "DoctorReport":
    """Return what files support; `reading` has the options with which they are read, such as "--sheet", "Answers"."""
    named, reading = dict(columns or {}), [*reading]
    encodings = {source: proposed_encoding(source) for source in sources}
    sources = [_with_options(source, encoding=encoding) for source, encoding in encodings.items()]
    files, facts = _facts_of(sources, named)
    proposed = _proposed(facts, named, reading)
    if proposed.get("split_references"):
        sources = [_with_options(source, split=proposed["split_references"]) for source in sources]
    if proposed:
        named |= {"system": proposed["system"]} if "system" in proposed else {}
        files, facts = _facts_of(sources, named)
    if encoding := next(filter(None, encodings.values()), ""):
        proposed = {"encoding": encoding} | proposed
    options = {name: text for name, text in proposed.items() if name != "system"}
    reading += [word for name, text in options.items() for word in (f"--{name.replace('_', '-')}", text)]
    shown = [_column(name, cells, facts) for name, cells in facts.columns.items()]
    names = list(dict.fromkeys(path for source in sources for path in source.inputs))
    reading = [word for pair in named.items() for word in ("--column", "=".join(pair))] + reading
    can, cannot = _supported(facts, names, reading, shown)
    notices = [f"{source.name}: {in_command(notice)}" for source in sources for notice in source.notices]
    return DoctorReport(
        files=files,
        rows=facts.rows,
        bad_rows=facts.bad,
        first_bad=facts.first_bad or None,
        columns=shown,
        systems=dict(facts.systems),
        can=can,
        cannot=cannot,
        notes=[*[_PROPOSALS[name].format(text) for name, text in proposed.items()], *notices, *_notes(facts)],
    )


# How doctor proposes to read files, and what it says of that.
_PROPOSALS = {
    "encoding": "the file is not UTF-8: it is read as {0}; look whether its letters are right",
    "split_references": "references hold {0!r}: it is read as standing between several; if it is a part of one, leave "
    "--split-references out",
    "system": "column {0!r} is read as the system, because questions repeat with other values of it",
}


def _with_options(source: Source, **options: str) -> Source:
    """Return a file with other options for reading it; itself where there are none, or it is no single file."""
    options = {name: text for name, text in options.items() if text}
    single = source.path not in (None, "-") and options
    return Source(source.path, options=replace(source.options, **options)) if single else source


def _facts_of(sources: Sequence[Source], named: Mapping[str, str]) -> tuple[list[dict], "_Facts"]:
    """Return name, format and number of rows of files, and what their rows say."""
    facts, files = _Facts(), []
    for source in sources:
        rows = list(islice(source.rows(), MAX_ROWS))
        form = "JSON" if source.name.endswith(".json") else source.format
        files.append({"name": source.name, "format": source.form or form, "rows": len(rows)})
        if not rows:
            raise FileError(f"{source.name}: no rows; is this the right file?")
        _read(source, rows, named, facts)
    return files, facts


def _proposed(facts: "_Facts", named: Mapping[str, str], reading: Sequence[str]) -> dict[str, str]:
    """Return what separates references, and the column with the system, where the rows show that no option says so."""
    result = {}
    mark, number = next(iter(facts.separators.most_common(1)), ("", 0))
    if number >= MANY_SEPARATED * facts.rows and "--split-references" not in reading:
        result["split_references"] = mark
    pairs = [pair for asked in facts.questions.values() for pair in asked]
    if "system" in named or "system" in facts.roles.values() or len(set(pairs)) == len(pairs):
        return result
    for name, cells in facts.columns.items():
        systems = {str(cell) for cell in cells if cell not in (None, "")}
        if NAMES_OF_SYSTEMS.fullmatch(plain_name(name)) and name not in facts.roles and 1 < len(systems) <= FEW_VALUES:
            result["system"] = name
            break
    return result


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
        can = [[action["what"], action["why"], action["command"]] for action in self.can]
        tables += [Table("What you can do", ["what", "why", "command"], can)] if can else []
        cannot = [[action["what"], action["why"]] for action in self.cannot]
        return tables + ([Table("What is missing", ["what", "why"], cannot)] if cannot else [])

    def facts(self) -> list[str]:
        """Return one line per file, then the names of the systems, and a line if only the first rows were read."""
        files = [f"{f['name']}: {f['format']}, {f['rows']:,} row{'s' * (f['rows'] != 1)}" for f in self.files]
        few = ", ".join(list(self.systems)[:5]) + ", ..." * (len(self.systems) > 5)
        cut = [f"the first {MAX_ROWS:,} rows of each file"] * (self.rows >= MAX_ROWS)
        return [*files, *[f"systems: {few}"] * bool(self.systems), *cut]

    def show(self, console) -> None:
        """Print the report; commands are lines of their own, which can be copied."""
        from rich.text import Text

        say(console, self.facts())
        say(console, [f"note: {note}" for note in self.notes], "bold yellow")
        say(console, ["", "what to run, in this order:"] * bool(self.can), "bold")
        for action in self.can:
            say(console, [f"{action['what']} ({action['why']}):"], "")
            console.print(Text(f"  {visible(action['command'])}", "bold green"), soft_wrap=True)  # can be copied
        if self.cannot:
            say(console, ["", "missing:"], "bold")
        say(console, [f"  {action['what']}: {action['why']}" for action in self.cannot], "")
        console.print()
        print_table(self.tables()[0], console)


@dataclass
class _Facts:
    """What the rows of all files say."""

    rows: int = 0  # that were read, the bad ones too
    bad: int = 0
    first_bad: str = ""  # where it is, and why
    columns: dict[str, list] = field(default_factory=dict)  # their values
    roles: dict[str, str] = field(default_factory=dict)  # what columns are read as
    systems: Counter = field(default_factory=Counter)  # their answers
    questions: dict[str, list] = field(default_factory=dict)  # by system: question or context, and references
    ids: dict[str, list] = field(default_factory=dict)  # by system
    words: Counter = field(default_factory=Counter)  # of all predictions, of all references, and their numbers
    declined: int = 0  # answers that give none
    labels: int = 0  # by people, 0 or 1
    scores: list[float] = field(default_factory=list)  # by people
    contexts: int = 0  # rows with retrieved passages
    profiles: dict[str, Counter] = field(default_factory=dict)  # by system, of rows that ava reads, see `profile`
    foreign: list[str] = field(default_factory=list)  # rows that seem not to be English, of the first `LANGUAGE_ROWS`
    separators: Counter = field(default_factory=Counter)  # that may stand between references of one text
    kind: Any = None  # of the rows; None if none is good

    @property
    def recorded(self) -> set[str]:
        """Columns with verdicts and probabilities of the judge that `score --output` wrote."""
        written = {scorer_class(JUDGE).verdict, scorer_class(JUDGE).graded}
        return written & set(self.columns) if self.columns.keys() >= SCORED_COLUMNS else set()


def _read(source: Source, rows: Sequence, columns: Mapping[str, str], facts: _Facts) -> None:
    """Add the rows of a file to the facts."""
    reader = RowReader(source, columns)
    for row in rows:
        facts.rows += 1
        try:
            if row.values is None:
                raise RowError(row.problem)
            for name, cell in row.values.items():
                facts.columns.setdefault(name, []).append(cell)
            for name in COLUMNS:
                column = columns.get(name) or recognized(tuple(row.values)).get(name)
                if column and reader.optional(row.values, name) is not None:
                    facts.roles.setdefault(column.split(".")[0] if column not in row.values else column, name)
            items = reader.read(row)
        except (RowError, FileError) as error:
            facts.bad += 1
            facts.first_bad = facts.first_bad or f"{source.name}, {source.unit} {row.number}: {in_command(error)}"
            continue
        facts.kind = reader.kind
        for item in items:
            facts.systems[item.system] += 1
            facts.ids.setdefault(item.system, []).append(item.id)
            facts.questions.setdefault(item.system, []).append((item.text, tuple(sorted(item.references))))
            for side, texts in (("prediction", item.predictions), ("reference", item.references)):
                facts.words.update({f"{side}s": sum(len(text.split()) for text in texts), side: len(texts)})
            if facts.rows <= LANGUAGE_ROWS and find_spec("py3langid"):  # of the extra of models
                texts = {"questions": [item.text or ""], "references": [item.references]}
                spoken = [language_counts({**texts, "predictions": [text]}) for text in item.predictions]
                facts.foreign += [item.id or f"line {row.number}"] * any(len(counts) > 1 for counts in spoken)
            facts.declined += sum(not attempts(text) for text in item.predictions)
            score, label = item.human
            facts.labels += label in (0.0, 1.0)
            facts.scores += [score] if score is not None else []
            facts.contexts += bool(item.contexts)
            if item.text and item.references and len(item.predictions) == 1:
                counts = facts.profiles.setdefault(item.system, Counter())
                counts.update(profile([item.references], item.predictions, np.zeros(1)))
    facts.separators += reader.separators


def _column(name: str, cells: Sequence[object], facts: _Facts) -> dict[str, Any]:
    """Return the name of a column, what it is read as, the number of filled cells, and what they hold."""
    filled = [cell for cell in cells if cell is not None and cell != ""]
    result = {"name": name, "read_as": facts.roles.get(name), "filled": len(filled), "values": "", "use": None}
    if not filled:
        return result | {"values": "empty"}
    if all(isinstance(cell, list) for cell in filled):
        least, most = min(map(len, filled)), max(map(len, filled))
        return result | {"values": f"lists of {least}{f' to {most}' * (least < most)}"}
    if any(isinstance(cell, list | dict) for cell in filled):
        return result | {"values": "lists or objects"}
    texts = Counter(map(str, filled))
    numbers = [as_number(value) for value in filled]
    few = 1 < len(texts) <= FEW_VALUES and len(filled) >= MIN_SLICE * len(texts)
    slices = few and len(filled) >= MIN_SLICE * len(texts) * len(facts.systems)
    if all(map(math.isfinite, numbers)):
        low, high = min(numbers), max(numbers)
        result["values"] = f"numbers from {low:g} to {high:g}, {len(texts):,} different"
        if result["read_as"] is None and name not in facts.recorded and len(filled) >= MIN_JUDGED:
            result["use"] = "judge" if 0 <= low < high <= 1 else "scores"
        return result
    if few:
        first = ", ".join(text[:20] for text, _ in texts.most_common(3))
        result["values"] = f"{len(texts)} values: {first}{' ...' if len(texts) > 3 else ''}"
        result["use"] = "slices" if slices and not result["read_as"] else None
        return result
    words = sum(count * len(text.split()) for text, count in texts.items()) / len(filled)
    length = f"texts of {words:.1f} words" if words > 1 else "single words"
    return result | {"values": f"{length}, {len(texts):,} different"}


def _metric_of_passages() -> str:
    return next(metric for metric in SCORERS if scorer_class(metric).evidence == "contexts")


def _supported(
    facts: _Facts, names: Sequence[str], reading: Sequence[str], columns: Sequence[Mapping]
) -> tuple[list[dict], list[dict]]:
    """Return what can be done with its command, and what cannot, with the reason and the fix."""
    can: list[dict[str, str]] = []
    cannot: list[dict[str, str]] = []

    files = list(names)
    skip = ["--on-error", "skip"] if facts.bad else []

    def add(action: str, why: str, verb: str, *more: str) -> None:
        words = ["genqa-metrics", verb, *files, *reading, *more, *skip]
        can.append({"what": action, "why": why, "command": shlex.join(words)})

    def lacks(action: str, why: str) -> None:
        cannot.append({"what": action, "why": why})

    if facts.kind is None:
        labels = {"id", "label"} <= set(recognized(tuple(facts.columns)))
        files = shlex.join(word for name in names for word in ("--labels", name))
        why = f"these are labels; name the answers that they belong to: genqa-metrics accuracy ANSWERS {files}"
        only_labels = labels and "prediction" not in facts.columns
        lacks("score, compare, accuracy", why if only_labels else facts.first_bad)
        missing = [role for role in ("prediction", "references", "question") if role not in facts.roles.values()]
        if "prediction" in missing[:-1] and not only_labels:
            named = " ".join(f"--column {role}=NAME" for role in missing)
            lacks("columns", f"none is read as {listed(missing)}; name them: {named}")
        return can, cannot
    if not facts.systems:
        lacks("score, compare, accuracy", "there are no predictions, and without them a context needs two references")
        return can, cannot
    kind = facts.kind
    grounding = _metric_of_passages()
    if kind.has_references:
        metrics, written = default_metrics(kind), []
        if JUDGE in metrics and not facts.recorded:
            written = ["-o", JUDGED]
        add("score the rows", f"default for such rows: {' and '.join(metrics)}", "score", *written)
        if written:  # has all rows that are good, in columns of usual names
            files, reading, skip = [JUDGED], [], []
    else:  # it needs a judge that is downloaded, and is not recommended where there is another way
        why = f"passages and no references: only {grounding} reads such rows (its judge is downloaded once, 1.1 GB)"
        add("score the rows", why, "score", "-m", grounding)
        why = "the worst answers, each with the nearest sentence of a passage"
        add("list the sentences that no passage supports", why, "explain", "-m", grounding)
    answers = not kind.sets and kind.text == "question" and kind.has_text and kind.has_references
    _accuracy(facts, answers, columns, add, lacks)
    by_labels = ["--labels", "labels.jsonl"] if answers and facts.labels < 2 else []  # those that it proposes to make
    shared, questions = _shared(facts)
    if len(facts.systems) < 2:
        lacks("compare systems", "one system; add a file or rows with another value in a column 'system'")
    elif not shared:
        lacks("compare systems", "no question is answered by all systems; give shared questions the same 'id'")
    else:
        all_of = all(len(set(question)) == len(shared) for question in questions.values())
        more = [] if all_of or facts.bad else ["--on-error", "skip"]
        more += [] if kind.has_references else ["-m", grounding]
        why = f"{len(facts.systems)} systems share {len(shared):,} questions"
        add("compare systems", why, "compare", *more, *by_labels)
    human = max(len(facts.scores), facts.labels)
    others = [column["name"] for column in columns if column["use"] in ("judge", "scores")]
    if human >= MIN_AGREE and not facts.kind.sets:
        more = ["-m", default_metrics(kind)[0] if kind.has_references else grounding]
        more += [word for name in others for word in ("--column", name)]
        add("measure how well metrics agree with people", f"{human:,} rows with a human score", "agree", *more)
    else:
        lacks(
            "measure how well metrics agree with people",
            "no human scores; label rows, or add a column 'score' or 'label'",
        )
    sliced = {c["name"]: len({*facts.columns[c["name"]]}) for c in columns if c["use"] == "slices"}
    verb = "compare" if len(facts.systems) > 1 and shared else "accuracy" if answers else None
    if sliced and verb:
        name, slices = next(iter(sliced.items()))
        each = facts.systems.total() / len(facts.systems) / slices
        why = f"columns with few values: {', '.join(sliced)}"
        why += f"; {each:.0f} answers of a system each: only large differences will show" * (each < FEW)
        add(f"the same by {name}", why, verb, *by_labels, "--by", name)
    return can, cannot


def _accuracy(facts: _Facts, answers: bool, columns: Sequence[Mapping], add, lacks) -> None:
    """Say what to do without labels, with them, and with another judge, in the order in which it is done."""
    if not answers:
        why = "the judge reads a question, one answer and references; name their columns with --column"
        lacks("estimate the accuracy", why)
        return
    add("read what score lists first", "why each answer was judged so", "explain")
    if facts.labels >= 2:
        few = facts.labels < LABELS_TO_BEGIN * len(facts.systems) and facts.labels < facts.systems.total()
        rough = f", below {LABELS_TO_BEGIN} a system its intervals are rough" * few
        add("estimate the accuracy", f"{facts.labels:,} labels of people in the rows{rough}", "accuracy")
        if facts.labels >= LABELS_TO_BEGIN:
            more = ["--output", "calibration.json"]
            add("calibrate the judge on your labels", f"{facts.labels:,} labels in the rows", "calibrate", *more)
    else:
        least, most, total = min(facts.systems.values()), max(facts.systems.values()), facts.systems.total()
        number = max(2, min(LABELS_TO_BEGIN, most))
        whole = number >= most
        each = f", {most} of each system" * (least == most and len(facts.systems) > 1)
        action = f"label {number} answers of every system{', or all that it has' * (least < number)}"
        if whole:
            action = f"label all {total:,} answers{each}" if total > 1 else "label the answer"
        why = "; ".join(filter(None, ["one key each", what_labels_give(number)]))
        add(action, why, "label", "--number", str(number), "-o", "labels.jsonl")
        add("estimate the accuracy", "by these labels and the judge", "accuracy", "--labels", "labels.jsonl")
    judges = [column["name"] for column in columns if column["use"] == "judge"]
    if judges:
        why = f"{judges[0]} has numbers from 0 to 1; is it a judge's verdict or probability?"
        add("estimate the accuracy with your judge", why, "accuracy", "--column", f"judge={judges[0]}")


def _shared(facts: _Facts) -> tuple[set, Mapping[str, list]]:
    """Return the questions that all systems answer, and those of each: by id where systems share ids, as `compare`."""
    for by_system in (facts.ids, facts.questions) if facts.systems else ():
        shared = set.intersection(*map(set, by_system.values())) - {None}
        if shared:
            return shared, by_system
    return set(), facts.questions


def _notes(facts: _Facts) -> list[str]:
    """Return what to know before a command is run, one sentence each."""
    notes = []
    if facts.bad and facts.kind is not None:
        notes.append(f"{facts.bad:,} of {facts.rows:,} rows are bad, the first: {facts.first_bad}")
    if facts.kind is None:
        return notes
    mean = {side: facts.words[f"{side}s"] / max(facts.words[side], 1) for side in ("prediction", "reference")}
    ratio = mean["prediction"] / max(mean["reference"], 1e-9)
    if not 1 / LONG < ratio < LONG and facts.words["reference"] and not facts.kind.sets:
        notes.append(
            f"answers have {ratio:.1f} times as many words as references: metrics of overlapping words depend on "
            f"that; {JUDGE} reads the question"
        )
    if facts.declined:
        notes.append(f"answers that decline or are empty: {facts.declined:,} of {facts.systems.total():,}")
    if facts.foreign and facts.kind.text == "question":
        count = len(facts.foreign)
        seem = f"{count:,} answer{'s' * (count > 1)} seem{'s' * (count == 1)} not to be English"
        seem += f" ({', '.join(facts.foreign[:3])}{', ...' * (count > 3)})"
        notes.append(f"{seem}: small and base were not measured on such; large was measured on German and Arabic")
    repeated = sum(len(question) - len(set(question)) for question in facts.questions.values())
    if repeated and not facts.kind.sets:
        notes.append(f"{repeated:,} rows repeat a question of the same system: such rows are not independent")
    if facts.contexts:
        way = f"score -m {_metric_of_passages()} says which answers they support (its judge: 1.1 GB, once)"
        notes.append(f"{facts.contexts:,} rows have the passages that were retrieved: {way}")
    profiles = {system: of for system, of in facts.profiles.items() if of["profiled"] >= LEAST_ROWS}
    if profiles and facts.labels < 2 and facts.kind.text == "question":
        errors = JudgeErrors.of(make_scorer(JUDGE, {}, ready=False), profiles)
        systems = f" of {briefly([*errors.unlike])}" if 0 < len(errors.unlike) < len(facts.profiles) else ""
        why = dict.fromkeys("; ".join(reasons) for reasons in errors.unlike.values())
        note = f"only labels tell the accuracy{systems}: the rows are unlike those that {JUDGE} was measured on "
        note += f"({', or '.join(why)}); a larger judge errs less: score --set {errors.stronger}"
        notes += [note] * bool(errors.unlike)
    if facts.recorded:
        notes.append("the rows have scores of an earlier run: compare OLD/ NEW/ compares two runs")
    if len(facts.systems) > MAX_SLICES:
        notes.append(f"{len(facts.systems):,} systems; is that the right column? --column system=NAME")
    return notes
