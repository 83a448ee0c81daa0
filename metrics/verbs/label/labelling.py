"""Select answers to label, and read and write the file of labels.

One part is drawn at random from all answers. The rest is drawn by how unsure the judge is: in proportion to the
standard deviation of a verdict that is right with the judge's probability, which minimises the variance of the
estimate (Neyman 1934). Every answer can be drawn. Its label has this probability, by which `estimation` weighs it.
"""

import hashlib
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from ...core.reading import text_key
from ...rows.columns import PLANNED_LABELS, SAMPLING_PROBABILITY, STOPPED_BY
from ...rows.errors import FileError
from ...rows.reading import Message, Progress, Skips, ignore
from ...rows.sources import check_regular
from ...rows.writing import lock_folder, write_text
from ...scale.options import OnError, Settings, check_options
from ..inputs import digested_sources, read_answers
from ..judge_errors import checked_judge, judge_answers
from .labels import LABELS_TO_BEGIN, key_of, krippendorff_alpha

_WRITING = Lock()  # raters of one page write into one file
UNIFORM_SHARE = 0.5  # share of the labels that are drawn from all rows alike


@dataclass(frozen=True)
class Form:
    """What raters are asked about an answer."""

    column: str  # of the file of labels
    question: str
    low: int
    high: int


FORMS = {
    "verdict": Form("label", "Is this answer right?", 0, 1),
    "grade": Form("score", "How right is this answer, from 1 (not at all) to 5 (fully)?", 1, 5),
}


def tasks_of(
    rows: Any, number: int = LABELS_TO_BEGIN, seed: int = 0, uniform_share: float = UNIFORM_SHARE, **reading: Any
) -> "Sequence[Task]":
    """Return `plan` of the answers in files; `reading`: as of `judged_answers`."""
    return plan(*judged_answers(rows, uniform_share < 1, **reading), number, seed, uniform_share)


def judged_answers(
    rows: Any,
    needs_judge: bool = True,
    *,
    columns: Mapping[str, str] | None = None,
    settings: Settings | None = None,
    on_error: OnError = "fail",
    problem: Message = ignore,
    progress: Progress = ignore,
) -> tuple[Sequence, np.ndarray | None]:
    """Return the answers of all rows, and the judge's (answers,) probabilities; None where these are not needed."""
    check_options(on_error, settings=settings, columns=columns)
    named, judge = checked_judge(columns, settings)
    sources, skips = digested_sources(rows), Skips(on_error == "skip", problem)
    items, judged, *_ = read_answers(sources, named, skips, judge, judged=needs_judge)
    if needs_judge and judge is None:
        judged, *_ = judge_answers(items, settings or {}, sources, progress)
    return items, judged if needs_judge else None


def probabilities(judged: np.ndarray, number: int, uniform_share: float = UNIFORM_SHARE) -> np.ndarray:
    """Return (rows,) probabilities of being drawn, all above 0, which sum to `number`; all 1 where rows are no more.

    `judged` has the judge's (rows,) probabilities; `uniform_share` of the sample is drawn from all rows alike.

    >>> probabilities(np.array([0.5, 1.0, 1.0, 0.0]), 2).round(3)
    array([1.   , 0.333, 0.333, 0.333])
    >>> probabilities(np.array([0.0, 1.0, 1.0, 0.0]), 2)
    array([0.5, 0.5, 0.5, 0.5])
    """
    judged = np.asarray(judged, dtype=float)
    rows = len(judged)
    if number >= rows:
        return np.ones(rows)
    unsure = np.sqrt(judged * (1 - judged))
    unsure = unsure if unsure.any() else np.ones(rows)
    sizes = uniform_share / rows + (1 - uniform_share) * unsure / unsure.sum()
    sure = np.zeros(rows, dtype=bool)  # rows drawn with probability 1
    while True:
        odds = np.where(sure, 1.0, 0.0)
        odds[~sure] = (number - sure.sum()) * sizes[~sure] / sizes[~sure].sum()
        more = ~sure & (odds > 1)
        if not more.any():
            return odds
        sure |= more


def pareto_sample(odds: np.ndarray, luck: np.ndarray, number: int) -> np.ndarray:
    """Return (rows,) booleans, which rows are drawn: Pareto sampling (Rosen 1997), `number` rows, nearly by `odds`.

    Rows with the same luck, 0 to 1, are drawn together where they can be: systems that answer the same questions share
    labelled questions, which makes their difference sharper, and more labels keep those that were drawn before.
    """
    odds, luck = np.clip(odds, 1e-12, 1), np.clip(luck, 1e-12, 1 - 1e-12)
    with np.errstate(divide="ignore"):
        rank = luck / (1 - luck) * (1 - odds) / odds
    chosen = np.zeros(len(odds), dtype=bool)
    chosen[np.argsort(rank, kind="stable")[:number]] = True
    return chosen


def hash_uniform(texts: Iterable[str], seed: int) -> np.ndarray:
    """Return a number from 0 to 1 for each text, the same for the same text and seed.

    >>> hash_uniform(["a", "b", "a"], 0).round(3)
    array([0.372, 0.659, 0.372])
    """
    digests = (hashlib.sha256(f"{seed}\0{text}".encode("utf-8", "surrogatepass")).digest() for text in texts)
    return np.array([(int.from_bytes(digest[:6], "big") + 0.5) / 2**48 for digest in digests])


@dataclass(frozen=True)
class Task:
    """One answer to label. Raters see neither the system nor the judge's verdict."""

    key: str  # see `labels.item_key`
    probability: float | None  # with which it was drawn; None: it was not
    question: str
    references: list[str]  # what is right
    answer: str
    columns: Mapping[str, Any] = field(default_factory=dict)  # what else goes into the file: system, id
    planned: int | None = None  # labels of its system; if there are fewer, each was drawn less often
    label: float | None = None  # that the rows have
    file: str = field(default="", compare=False)  # of the rows


def ranks_within(questions: Sequence[str], systems: Sequence[str], keys: Sequence[str], seed: int) -> np.ndarray:
    """Return (rows,) ranks from 0, in random order, of the answers of one system to one question.

    >>> sorted(ranks_within(["a", "b", "a", "a"], ["x"] * 4, ["1", "2", "3", "4"], 0)[[0, 2, 3]].tolist())
    [0, 1, 2]
    """
    groups: dict[tuple[str, str], int] = {}
    group = np.array([groups.setdefault(pair, len(groups)) for pair in zip(systems, questions, strict=True)])
    order = np.lexsort((hash_uniform(keys, seed + 2), group))
    starts = np.searchsorted(group[order], np.arange(len(groups)))
    rank = np.empty(len(group), dtype=int)
    rank[order] = np.arange(len(group)) - starts[group[order]]
    return rank


def spread_sample(
    judged: np.ndarray, sizes: np.ndarray, rank: np.ndarray, luck: np.ndarray, number: int, uniform_share: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return (rows,) booleans, which rows are drawn, and (rows,) probabilities with which they could be.

    First an answer to each question is drawn, then a second one, and so on: labels of the same question say less than
    labels of others. Among the first answers rows are drawn by `probabilities`, among later ones by chance.

    Args:
        judged: (rows,) probabilities of the judge.
        sizes: (rows,) number of answers to the row's question.
        rank: (rows,) the row's place among these, see `ranks_within`.
        luck: (rows,) see `pareto_sample`; the same for answers to one question.
        number: rows to draw.
        uniform_share: see `probabilities`.
    """
    odds, chosen = np.zeros(len(rank)), np.zeros(len(rank), dtype=bool)
    for answers_before in range(int(sizes.max())):
        layer, left = np.flatnonzero(rank == answers_before), number - int(chosen.sum())
        if left >= len(layer):
            drawn = np.ones(len(layer))
        elif answers_before:
            drawn = np.full(len(layer), left / len(layer))
        else:
            drawn = probabilities(judged[layer], left, uniform_share)
        chosen[layer[pareto_sample(drawn, luck[layer], left)]] = True
        if answers_before:
            odds += np.where(sizes > answers_before, drawn[0] / sizes, 0)
        else:
            odds[layer] = drawn / sizes[layer]
            if left >= len(layer):
                odds = 1 / sizes
        if left <= len(layer):
            break
    return chosen, odds


def plan(
    items: Sequence, judged: np.ndarray | None, number: int, seed: int, uniform_share: float = UNIFORM_SHARE
) -> list:
    """Draw `number` rows of every system to label, by (items,) probabilities of the judge; None: by chance alone.

    Rows are spread over questions, see `spread_sample`. Tasks are in an order that is mixed over systems, the same for
    all raters. Rows that say the same are one task.
    """
    keys = [key_of(item) for item in items]
    first_rows = np.array(sorted({key: row for row, key in reversed(list(enumerate(keys)))}.values()))
    odds, chosen = np.zeros(len(items)), np.zeros(len(items), dtype=bool)
    texts = [text_key(items[row].text or keys[row]) for row in first_rows]
    systems = [items[row].system for row in first_rows]
    rank = ranks_within(texts, systems, [keys[row] for row in first_rows], seed)
    answers = Counter(zip(systems, texts, strict=True))
    sizes = np.array([answers[pair] for pair in zip(systems, texts, strict=True)])
    luck = hash_uniform((items[row].text or keys[row] for row in first_rows), seed)
    judge = np.full(len(first_rows), 0.5) if judged is None else np.asarray(judged, dtype=float)[first_rows]
    for system in dict.fromkeys(systems):
        mine = np.flatnonzero([name == system for name in systems])
        rows, columns = first_rows[mine], (column[mine] for column in (judge, sizes, rank, luck))
        chosen[rows], odds[rows] = spread_sample(*columns, number, uniform_share)
    order = np.flatnonzero(chosen)
    planned = Counter(items[row].system for row in order)
    order = order[np.argsort(hash_uniform((keys[row] for row in order), seed + 1), kind="stable")]
    return [task_of(items[row], keys[row], float(odds[row]), planned[items[row].system]) for row in order]


def task_of(item, key: str, probability: float | None, planned: int | None) -> Task:
    """Return the task of a row; without a probability for one that is not drawn."""
    columns = {"system": item.system} | ({"id": item.id} if item.id is not None else {})
    texts = item.text or "", item.references, item.predictions[0]
    return Task(key, probability, *texts, columns, planned, item.human[1], item.file)


class Session:
    """One rater's session; every label is on disk before the next task is shown.

    The file has the labels of all raters, JSON lines; it is made, or resumed. One that is no file of labels, or of
    another form, is a FileError. `left_out` counts its labels of rows that are no tasks; they have no probability.
    With a `rule` (`stopping.StoppingRule`) rows are labelled until it has decided.
    """

    def __init__(self, path: str | Path, tasks: Sequence[Task], rater: str, form: str = "verdict", rule=None):
        self.path, self.tasks, self.rater, self.form, self.rule = Path(path), list(tasks), rater, FORMS[form], rule
        self.left_out = 0
        self._update_plan()

    def _rows(self) -> list[dict]:
        try:
            check_regular(self.path)
            # Not splitlines(): JSON may hold the other line separators of Unicode unescaped.
            lines = self.path.read_text(encoding="utf-8").removesuffix("\n").split("\n") if self.path.exists() else []
        except (OSError, ValueError) as error:
            raise FileError(f"{self.path}: cannot be read: {error}; name another file") from error
        rows = []
        for number, line in enumerate(lines if lines != [""] else [], 1):
            try:
                row = json.loads(line)
                row["item"], row["rater"], row[self.form.column]
            except (ValueError, KeyError, TypeError) as error:
                if number == len(lines) and not isinstance(error, KeyError):
                    break  # cut off while it was written
                raise FileError(
                    f"{self.path}, line {number}: expected a label with item, rater and {self.form.column}; "
                    "name a new file, or take the --form that it was made with"
                ) from error
            rows.append(row)
        return rows

    def _write(self, rows: Sequence[Mapping]) -> None:
        write_text(self.path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))

    def _update_plan(self) -> None:
        """Overwrite the sampling probabilities of existing labels by this plan's; rows outside the plan get None."""
        plans = {task.key: (task.probability, task.planned) for task in self.tasks}
        with self._locked():
            rows, changed = self._rows(), False
            for row in rows:
                plan = plans.get(row["item"], (None, None))
                self.left_out += plan[0] is None
                changed |= (row.get(SAMPLING_PROBABILITY), row.get(PLANNED_LABELS)) != plan
                row[SAMPLING_PROBABILITY], row[PLANNED_LABELS] = plan
            if changed:
                self._write(rows)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep other threads and processes from changing the file while it is read and written."""
        with _WRITING:
            lock = None
            try:
                lock = lock_folder(self.path.resolve().parent)
                yield
            except OSError as error:
                raise FileError(f"{self.path}: cannot be written: {error.strerror or error}") from error
            finally:
                if lock is not None:
                    os.close(lock)

    def keep_labels_of_rows(self) -> list[Task]:
        """Write the labels, 0 or 1, that the rows have and the file has not, as those of this rater; return the tasks.

        They are not asked again: the file then has all labels, with the probabilities by which they count.
        """
        has_label = {row["item"] for row in self._rows()}
        tasks = [task for task in self.tasks if task.label in (0, 1) and task.key not in has_label]
        if self.form.column != "label":
            return []
        for task in tasks:
            self.label(task, int(task.label), comment=f"label in {task.file}")
        return tasks

    @property
    def done(self) -> dict[str, dict]:
        """{key: row} of this rater's labels, in the order in which they were given."""
        keys = {task.key for task in self.tasks}
        return {row["item"]: row for row in self._rows() if row["rater"] == self.rater and row["item"] in keys}

    def next(self, skipped: Sequence[str] = ()) -> Task | None:
        """Return the next task without a label of this rater, see `position`; None when all are done."""
        done = self.done
        closed = self.rule.closed(_labels_in(done)) if self.rule else set()
        waiting = [task for task in self.tasks if task.key not in done and task.key not in closed]
        return min(waiting, key=lambda task: position(task, skipped), default=None)

    @property
    def total(self) -> str:
        """How many answers are to be labelled, at most where a rule decides."""
        return f"{'at most ' * (self.rule is not None)}{len(self.tasks):,}"

    def outcomes(self) -> list[str]:
        """Return one line for each decision of the stopping rule; [] without a rule."""
        return self.rule.outcomes(_labels_in(self.done)) if self.rule else []

    def agreement(self) -> str:
        """Return in one line how far raters agree on the answers that several have labelled; "" without such."""
        several = [rows for rows in self._by_item().values() if len(rows) > 1]
        if not several:
            return ""
        alpha = krippendorff_alpha([row[self.form.column] for row in rows] for rows in several)
        shown = "" if alpha is None else f" (Krippendorff's alpha: {alpha:.2f})"
        same = sum(not self._differ(rows) for rows in several)
        return f"Raters agree on {same:,} of {len(several):,} answers that several have labelled{shown}"

    def disagreements(self) -> list[tuple[Task, list[dict]]]:
        """Return tasks that another rater labels differently, with the rows of all raters, this one's first.

        Tasks that this rater has looked at in a second pass are left out.
        """
        by_item, result = self._by_item(), []
        for task in self.tasks:
            rows = sorted(by_item[task.key], key=lambda row: row["rater"] != self.rater)
            if self._differ(rows) and rows[0]["rater"] == self.rater and not rows[0].get("second_pass"):
                result.append((task, rows))
        return result

    def _by_item(self) -> Mapping[str, list[dict]]:
        by_item: dict[str, list[dict]] = defaultdict(list)
        for row in self._rows():
            by_item[row["item"]].append(row)
        return by_item

    def _differ(self, rows: Sequence[Mapping]) -> bool:
        return len({row[self.form.column] for row in rows}) > 1

    def label(self, task: Task, grade: int, *, comment: str = "", second_pass: bool = False) -> None:
        """Write the rater's label of a task; it replaces an earlier one."""
        if grade not in range(self.form.low, self.form.high + 1):
            raise ValueError(f"{self.form.column}: expected {self.form.low} to {self.form.high}, got {grade!r}")
        row = {
            "item": task.key,
            **task.columns,
            "question": task.question,
            "references": task.references,
            "prediction": task.answer,
            "rater": self.rater,
            self.form.column: int(grade),
            "score": int(grade),  # what `agree` reads
            SAMPLING_PROBABILITY: task.probability,
            PLANNED_LABELS: task.planned,
            **({STOPPED_BY: self.rule.text} if self.rule else {}),
            **({"comment": comment.strip()} if comment.strip() else {}),
            **({"second_pass": True} if second_pass else {}),
        }
        with self._locked():
            self._write([*self._others(task.key), row])

    def remove(self, key: str) -> None:
        """Take back this rater's label of a task."""
        with self._locked():
            self._write(self._others(key))

    def _others(self, key: str) -> list[dict]:
        """Return the labels of the file, without this rater's label of a task."""
        return [row for row in self._rows() if (row["item"], row["rater"]) != (key, self.rater)]

    def undo(self) -> Task | None:
        """Remove this rater's last label; return its task, or None."""
        with self._locked():
            rows = self._rows()
            last = max((number for number, row in enumerate(rows) if row["rater"] == self.rater), default=None)
            if last is None:
                return None
            key = rows.pop(last)["item"]
            self._write(rows)
        return next((task for task in self.tasks if task.key == key), None)


def position(task: Task, skipped: Sequence[str]) -> int:
    """Return 0 for a task that was not skipped; skipped ones come later, in the order in which they were skipped."""
    return skipped.index(task.key) + 1 if task.key in skipped else 0


def _labels_in(rows: Mapping[str, Mapping]) -> dict[str, float]:
    return {key: row["label"] for key, row in rows.items()}


_WORDS = re.compile(r"\w+(?:[.,'’:/-]\w+)*|\W+")  # as in viewer.js: numbers stay whole, 1,299 is not 1,299.50
Pieces = list[tuple[str, bool]]  # of a text; True where the other text has its words


def marked_words(answer: str, references: Sequence[str]) -> tuple[Pieces, list[Pieces]]:
    """Return the pieces of an answer and of every reference, with the words that only one side has apart.

    The answer is compared with the reference that shares most with it; the other references are one piece each.

    >>> marked_words("It costs 10 cents, not 20.", ["10 cents a page", "twelve"])[0]
    [('It costs', False), (' 10 cents, ', True), ('not 20', False), ('.', True)]
    >>> marked_words("$1,299", ["$1,299.50"])
    ([('$', True), ('1,299', False)], [[('$', True), ('1,299.50', False)]])
    """
    words, *others = ({word.lower() for word in _WORDS.findall(text)} for text in (answer, *references))
    shared = [sum(len(word) for word in _WORDS.findall(answer) if word.lower() in other) for other in others]
    nearest = shared.index(max(shared)) if shared else None
    pieces = [_pieces(text, words) if number == nearest else [(text, True)] for number, text in enumerate(references)]
    return _pieces(answer, set() if nearest is None else others[nearest]), pieces


def _pieces(text: str, others: Collection[str]) -> Pieces:
    """Return [(piece, whether `others` has it)] of a text; missing words on a line join the blanks between them."""
    tokens = _WORDS.findall(text)
    is_word = [bool(re.match(r"\w", token)) for token in tokens]
    lacks = [word and token.lower() not in others for token, word in zip(tokens, is_word, strict=True)]
    marks = list(lacks)
    for n in range(1, len(tokens) - 1):
        marks[n] |= lacks[n - 1] and lacks[n + 1] and not is_word[n] and "\n" not in tokens[n]
    groups = groupby(zip(tokens, marks, strict=True), key=lambda pair: pair[1])
    return [("".join(token for token, _ in group), not mark) for mark, group in groups]
