"""Scores rows: their statistics by metric, the columns of the output, and what is summed over rows.

Judgments that an earlier run wrote into its rows are taken again where judge and texts are the same. Beside the scores
of a metric that `recalls`, the output has a column METRIC_digest: the signature, the digests of the texts that the
metric read and of its scores, and what must be warned of. Scores without it are columns like others.
"""

import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, pairwise, zip_longest
from threading import current_thread
from typing import Any

import numpy as np

from ..core.reading import UNKNOWN_FAULT, text_key
from ..core.scorer import UNSURE_FROM, UNSURE_TO, Scorer, warn_caller
from ..rows.errors import Detail, FileError, RecordedScoresWarning
from ..rows.reading import DIGEST, SETTINGS, Item, RowKind
from ..rows.sources import json_digest
from ..statistics.estimation import QuestionSums, row_sums

WORKERS = "scoring"  # names of threads that score windows begin with it


@dataclass(eq=False)
class Tally:
    """Sums over rows by system, from which the scores of a corpus follow. Tallies can be added."""

    rows: Counter[str] = field(default_factory=Counter)  # {system: rows; contexts, of sets of predictions}
    predictions: Counter[str] = field(default_factory=Counter)
    # {metric: {system: (k + 1,) sums of its statistics, the last one their number}}
    sums: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)
    warning_counts: dict[str, Counter[str]] = field(default_factory=dict)  # {metric: see `Scorer.all_counts`}
    confusion: dict[str, np.ndarray] = field(default_factory=dict)  # {system: (4,) answers in `CONFUSION`}
    cells: dict[str, np.ndarray] = field(default_factory=dict)  # {system: (4,) answers in `CELLS`}
    faults: dict[str, Counter[str]] = field(default_factory=dict)  # {system: {fault: answers}}
    words: Counter[str] = field(default_factory=Counter)  # {system: words of its answers}
    profiles: dict[str, Counter[str]] = field(default_factory=dict)  # {system: counts of `Scorer.profile`}
    questions: dict[str, "QuestionTotals"] = field(default_factory=dict)
    to_read: "AnswersToRead" = field(default_factory=lambda: AnswersToRead(number=0))

    def add(self, other: "Tally") -> None:
        """Add the sums of other rows."""
        for name, sums in vars(other).items():
            setattr(self, name, _added(getattr(self, name), sums))

    def as_json(self) -> dict[str, Any]:
        """Return the argument of `from_json`, in types that JSON has."""
        return _as_json(vars(self))

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Tally":
        """Return the tally that `as_json` wrote."""
        questions = {system: QuestionTotals.from_json(totals) for system, totals in content["questions"].items()}
        made = {"questions": questions, "to_read": AnswersToRead(**content["to_read"])}
        return cls(**{name: _from_json(sums) for name, sums in content.items() if name not in made}, **made)


def rows_by_system(systems: Sequence[str]) -> dict[str, list[int]]:
    """Return {system: numbers of its rows}, in the order of the rows."""
    rows: dict[str, list[int]] = {}
    for row, system in enumerate(systems):
        rows.setdefault(system, []).append(row)
    return rows


def sums_by_system(numbers: np.ndarray, systems: Sequence[str]) -> dict[str, np.ndarray]:
    """Return {system: (k,) sums} of (rows, k) numbers, by the system of each row, in the order of the rows."""
    return {system: numbers[rows].sum(axis=0) for system, rows in rows_by_system(systems).items()}


def _added(sums: Any, other: Any) -> Any:
    """Return the sum of two numbers, arrays or objects; mappings are added name by name."""
    if not isinstance(sums, Mapping):
        return sums + other
    both = {name: _added(sums[name], other[name]) if name in sums else other[name] for name in other}
    return type(sums)({**sums, **both})


def _as_json(sums: Any) -> Any:
    if isinstance(sums, Mapping):
        return {name: _as_json(inner) for name, inner in sums.items()}
    if isinstance(sums, np.ndarray):
        return sums.tolist()
    return sums.as_json() if hasattr(sums, "as_json") else sums


def _from_json(sums: Mapping[str, Any] | list[float]) -> Any:
    """Return what `_as_json` wrote: a list is an array, and an object of numbers a `Counter`."""
    if isinstance(sums, list):
        return np.array(sums, dtype=float)
    is_count = all(isinstance(number, int | float) for number in sums.values())
    return Counter(sums) if is_count else {name: _from_json(inner) for name, inner in sums.items()}


CELLS = ("correct_grounded", "correct_ungrounded", "wrong_grounded", "wrong_ungrounded")


def cell_counts(columns: Mapping[str, Sequence], judge: Scorer, support: Scorer) -> np.ndarray:
    """Return in which of the four `CELLS` every answer is, (rows, 4) ones and zeros; see `Scorer.support`.

    An answer that states nothing has only zeros.

    >>> from types import SimpleNamespace
    >>> judge, support = SimpleNamespace(verdict="right"), SimpleNamespace(support=("supported", "states"))
    >>> cell_counts({"right": [1, 0], "supported": [0, 0], "states": [1, 1]}, judge, support).tolist()
    [[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    """
    names = (judge.verdict, *support.support)
    correct, grounded, states = (np.asarray(columns[name], dtype=float) > 0.5 for name in names)
    cells = [correct & grounded, correct & ~grounded, ~correct & grounded, ~correct & ~grounded]
    return np.stack([cell & states for cell in cells], axis=1).astype(float)


def cell_shares(counts: Mapping[str, np.ndarray]) -> dict[str, dict[str, float]]:
    """Return {system: {cell: share of the answers that state something}}, from sums of `cell_counts`.

    >>> cell_shares({"a": np.array([2.0, 1.0, 1.0, 0.0])})["a"]["correct_grounded"]
    0.5
    """
    shares = {system: (cells / max(cells.sum(), 1.0)).tolist() for system, cells in counts.items()}
    return {system: dict(zip(CELLS, of, strict=True)) for system, of in shares.items()}


CONFUSION = ("accepted", "missed", "rejected", "let_through")


def confusion_counts(verdicts: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return which of the four cases of `CONFUSION` every answer is, (rows, 4) ones and zeros.

    Accepted and correct, missed (rejected though correct), rejected and wrong, let through (accepted though wrong);
    only zeros where the label is NaN. Labels are 0 to 1; from 0.5 an answer is correct.

    >>> confusion_counts(np.array([1, 0, 0, 1]), np.array([1, 1, 0, np.nan])).sum(axis=0).tolist()
    [1.0, 1.0, 1.0, 0.0]
    """
    labelled, right, accepts = ~np.isnan(labels), labels >= 0.5, np.asarray(verdicts) > 0.5
    cases = [accepts & right, ~accepts & right, ~accepts & ~right, accepts & ~right]
    return np.stack([case & labelled for case in cases], axis=1).astype(float)


def agreement(counts: Sequence[float]) -> dict[str, float | None]:
    """Return agreement, kappa, sensitivity and specificity of a judge and people, from counts as in `CONFUSION`.

    Cohen (1960): kappa is (agreement - expected) / (1 - expected), where expected is the agreement of verdicts and
    labels with the same shares that are drawn independently; None where both say the same of all answers, or there are
    none. Counts may be weighted. Sensitivity is the share of correct answers that are accepted, specificity that of
    wrong ones that are rejected.

    Of 10 answers 7 are judged as people do; expected are .5 * .6 + .5 * .4 = .5, so kappa is .2 / .5 = .4.

    >>> agreement([4, 1, 3, 2])["kappa"]
    0.4
    """
    accepted, missed, rejected, let_through = map(float, counts)
    total = accepted + missed + rejected + let_through
    if not total:
        return dict.fromkeys(("agreement", "kappa", "sensitivity", "specificity"))
    observed = (accepted + rejected) / total
    correct, accepts = (accepted + missed) / total, (accepted + let_through) / total
    expected = correct * accepts + (1 - correct) * (1 - accepts)
    return {
        "agreement": observed,
        "kappa": round((observed - expected) / (1 - expected), 12) if expected < 1 else None,
        "sensitivity": accepted / (accepted + missed) if accepted + missed else None,
        "specificity": rejected / (rejected + let_through) if rejected + let_through else None,
    }


def faults_of_rows(columns: Mapping[str, Sequence], judge: Scorer) -> list[str | None]:
    """Return the fault of each answer that is judged wrong and that no label calls right, else None."""
    verdicts = zip(columns[judge.verdict], columns["label"], strict=True)
    wrong = [i for i, (right, label) in enumerate(verdicts) if not right and not 0.5 <= (label or 0) <= 1]
    faults = dict(zip(wrong, judge.faults_of(*_texts_of(columns, wrong)), strict=True))
    return [(faults[i] or UNKNOWN_FAULT) if i in faults else None for i in range(len(columns["prediction"]))]


def _texts_of(columns: Mapping[str, Sequence], rows: Iterable[int]) -> tuple[list, ...]:
    """Return questions, references and answers of some rows; a missing question is ""."""
    questions = columns.get("question") or [None] * len(columns["prediction"])
    texts = [(questions[i] or "", columns["references"][i], columns["prediction"][i]) for i in rows]
    return tuple(map(list, zip(*texts, strict=True))) if texts else ([], [], [])


def faults_in_order(judge: Scorer, counts: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    """Return {system: {fault: answers}} in the order of `Scorer.faults`, without systems that have none."""
    kinds = (*judge.faults, UNKNOWN_FAULT)
    ordered = {system: {kind: faults[kind] for kind in kinds if faults.get(kind)} for system, faults in counts.items()}
    return {system: faults for system, faults in ordered.items() if faults}


MOST = 20_000  # clusters of a system


def question_keys(items: Sequence[Item]) -> np.ndarray:
    """Return (items,) numbers of their questions: the same for equal texts; case and white space do not matter."""
    texts = list(map(text_key, [item.text or item.id or f"{item.file}:{item.line}" for item in items]))
    digests = [hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=7).digest() for text in texts]
    return np.array(list(map(int.from_bytes, digests)), dtype=np.int64)


class QuestionTotals:
    """Sums over the rows of each question, with their (questions,) keys.

    Of more than `MOST` questions those whose keys are equal without the last `dropped_bits` bits are one cluster. It
    is the least number of bits that leaves `MOST` clusters, which depends on the questions alone: totals of the same
    rows are equal, in whatever order and windows they were added.
    """

    def __init__(self, keys: Sequence[int] | np.ndarray, sums: QuestionSums, dropped_bits: int = 0):
        self.dropped_bits = dropped_bits
        while True:
            self.keys, clusters = np.unique(self.key_of(keys), return_inverse=True)
            if len(self.keys) <= MOST:
                break
            self.dropped_bits += 1
        self.sums = sums.each(partial(np.bincount, clusters, minlength=len(self.keys)))

    def key_of(self, keys: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return the key of the cluster of each question."""
        return np.asarray(keys, dtype=np.int64) >> self.dropped_bits << self.dropped_bits

    def __add__(self, other: "QuestionTotals") -> "QuestionTotals":
        dropped_bits = max(self.dropped_bits, other.dropped_bits)
        both = {name: np.r_[sums, getattr(other.sums, name)] for name, sums in vars(self.sums).items()}
        return QuestionTotals(np.r_[self.keys, other.keys], QuestionSums(**both), dropped_bits)

    def as_json(self) -> dict[str, Any]:
        """Return the argument of `from_json`, in types that JSON has."""
        sums = {name: column.tolist() for name, column in vars(self.sums).items()}
        return {"keys": self.keys.tolist(), "sums": sums, "dropped_bits": self.dropped_bits}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "QuestionTotals":
        """Return the totals that `as_json` wrote."""
        sums = QuestionSums(**{name: np.array(column) for name, column in content["sums"].items()})
        return cls(content["keys"], sums, content["dropped_bits"])


def label_of(item: Item) -> float:
    """Return the label of an item, 0 to 1; NaN without one."""
    label = item.human[1]
    return label if label is not None and 0 <= label <= 1 else np.nan


TAKEN_AS_DRAWN = "assumes that the labelled answers were picked at random"  # of all answers of a system


def label_note(labelled: int, rows: int) -> Detail:
    """Return one sentence on how many rows have a label that counts.

    >>> label_note(12, 1000)
    'column label was read as labels of people, which 12 of 1,000 rows have'
    """
    return Detail(f"column label was read as labels of people, which {labelled:,} of {rows:,} rows have")


def totals_by_system(
    items: Sequence[Item], verdicts: np.ndarray, judged: np.ndarray, declined: np.ndarray
) -> Mapping[str, QuestionTotals]:
    """Return {system: sums by question} from a judge's (answers,) verdicts, probabilities and abstentions."""
    labels = np.array([label_of(item) for item in items])
    chances = np.array([item.chance or 1.0 for item in items])
    sums = row_sums(judged, verdicts, labels, chances, declined)
    keys = question_keys(items)
    rows_of = rows_by_system([item.system for item in items])
    return {system: totals_of(keys, sums, rows) for system, rows in rows_of.items()}


def totals_of(keys: np.ndarray, sums: QuestionSums, rows: Sequence[int] | np.ndarray) -> QuestionTotals:
    """Return the sums by question of some rows, from the (all rows,) keys and sums."""
    return QuestionTotals(keys[rows], sums.each(lambda column: column[rows]))


DISAGREE, UNSURE, WRONG, LOWEST = "label and judge disagree", "unsure", "judged wrong", "lowest score"
OTHER_WORDS = "judged right but not word for word"  # surely; a lost condition can be among these
APART = "scores far apart"  # of an answer by one metric
AGREED = "judged wrong as labelled"  # which need not be read, and come behind all others
# What people and judge disagree about is read beside the rest, 4 to 3. Of the rest what is nearest to the threshold
# comes first: of 60 answers without labels the ten then hold 3.2 to 5.2 of the judge's errors, and 2.2 to 4.1 where
# five of them are the surest wrong ones. One or two are surely right: a judge that accepts too much shows there. Of
# these, first those with a second candidate, then the least probable: of 150 answers the ten then hold 1.4 (short) and
# 3.7 (long answers) of its errors, and 1.1 and 3.6 where the words that differ most come first.
SHARES = {DISAGREE: 4, UNSURE: 3, WRONG: 3, OTHER_WORDS: 1, LOWEST: 6, APART: 4, AGREED: 1}
_OF_ROW = ("file", "line", "id", "system", "prediction", "references", "label")
EXAMPLES = 4  # answers to read that a first screen shows at most
BEST = 1.0  # no answer with this score need be read
FAR = 0.3  # between two scores of an answer that are far apart


@dataclass(frozen=True, eq=False)
class AnswerToRead:
    """An answer that a person should read, and why."""

    kind: str  # a key of `SHARES`
    rank: float  # sort key within the kind, lower first
    file: str
    line: int
    id: str | None
    system: str
    question: str | None
    prediction: str
    references: list[str]
    score: float  # the probability of a judge, the main score of another metric, or the share of references of a set
    label: float | None  # by people, 0 to 1
    verdict: int | None = None  # 1 right, 0 wrong; None of a metric that judges nothing
    passages: Sequence[str] = ()  # of a metric that reads passages in place of accepted answers
    scores: Mapping[str, float] = field(default_factory=dict)  # of a metric of words, two of them if far apart
    missing: Sequence[str] = field(default_factory=list)  # references that a set lacks; `prediction` has its lines
    fault: str = ""  # what is wrong with an answer that was judged wrong, or to be checked, in a few words, if known


def by_kind(answer: AnswerToRead) -> tuple[int, float]:
    """Return the key that sorts answers by kind, and within a kind as they should be read."""
    return list(SHARES).index(answer.kind), answer.rank


class AnswersToRead:
    """The first `number` answers of every kind, and how many there are. Lists can be added, and written as JSON.

    What a system answers several times to one question is listed once, and counted each time.
    """

    def __init__(
        self,
        answers: Iterable[AnswerToRead | Mapping[str, Any]] = (),
        number: int = 10,
        counts: Mapping[str, int] | None = None,
    ):
        listed = [answer if isinstance(answer, AnswerToRead) else AnswerToRead(**answer) for answer in answers]
        listed.sort(key=lambda answer: (answer.rank, answer.file, answer.line))
        distinct: dict[str, dict[tuple, AnswerToRead]] = {kind: {} for kind in SHARES}
        for answer in listed:
            key = answer.system, answer.question, answer.prediction, *answer.references
            distinct[answer.kind].setdefault(key, answer)
        self.number = number
        counts = Counter(answer.kind for answer in listed) if counts is None else counts
        self.counts = Counter(dict.fromkeys(SHARES, 0) | dict(counts))
        self.by_kind = {kind: list(answers.values())[:number] for kind, answers in distinct.items()}

    def __add__(self, other: "AnswersToRead") -> "AnswersToRead":
        counts = self.counts + other.counts
        return AnswersToRead([*self, *other], max(self.number, other.number), counts)

    def __iter__(self) -> Iterator[AnswerToRead]:
        for answers in self.by_kind.values():
            yield from answers

    def as_json(self) -> dict[str, Any]:
        """Return the arguments that make this list again, in types that JSON has."""
        return {"answers": [asdict(answer) for answer in self], "number": self.number, "counts": dict(self.counts)}

    def name_faults(self, differences: Callable[[Mapping[str, list]], Sequence[str]]) -> None:
        """Set the fault of the `first` answers that are judged wrong, and not labelled right, to their difference.

        `differences` is `Scorer.differences`; where it says nothing, an answer keeps its fault.
        """
        listed = dict.fromkeys([*self.first, *self.examples])
        wrong = [answer for answer in listed if answer.verdict == 0 and answer.label in (None, 0)]
        texts = dict(zip(wrong, differences(columns_to_read(wrong)), strict=False))
        named = {answer: replace(answer, fault=texts.get(answer) or answer.fault) for answer in listed}
        self.first, self.examples = ([named[answer] for answer in chosen] for chosen in (self.first, self.examples))

    @cached_property
    def first(self) -> list[AnswerToRead]:
        """The answers to read first, by kind; disagreements and the rest take turns, unsure before wrong ones.

        Without a judge they are in turns: lowest scores, and scores far apart.
        """
        kinds = list(SHARES)
        before = {WRONG: len(self.by_kind[UNSURE])}
        turns = [
            ((turn + 0.5) / SHARES[kind], kinds.index(kind), turn, answer)
            for kind, answers in self.by_kind.items()
            for turn, answer in enumerate(answers, before.get(kind, 0))
        ]
        last = kinds.index(AGREED)
        chosen = sorted(turns, key=lambda turn: (turn[1] == last, *turn[:3]))[: self.number]
        judged = any(self.by_kind[kind] for kind in (DISAGREE, UNSURE, WRONG, OTHER_WORDS, AGREED))
        return [answer for *_, answer in (sorted(chosen, key=lambda turn: turn[1:3]) if judged else chosen)]

    @cached_property
    def examples(self) -> list[AnswerToRead]:
        """At most `EXAMPLES` answers, of each kind in turns, empty ones last; those of `AGREED` if no others."""
        kinds = [answers for kind, answers in self.by_kind.items() if answers and kind != AGREED]
        kinds = [sorted(of, key=lambda of: not of.prediction.strip()) for of in kinds or [self.by_kind[AGREED]]]
        return list(filter(None, chain.from_iterable(zip_longest(*kinds))))[:EXAMPLES]


def columns_to_read(answers: Sequence[AnswerToRead]) -> dict[str, list]:
    """Return the texts of answers as the columns of a `Scorer`."""
    return {
        "questions": [answer.question or "" for answer in answers],
        "predictions": [answer.prediction for answer in answers],
        "references": [answer.references for answer in answers],
        "contexts": [answer.passages for answer in answers],
    }


def answers_to_read(
    columns: Mapping[str, Sequence], number: int, scorer: Scorer, faults: Sequence[str | None] = ()
) -> AnswersToRead:
    """Return the answers to read first, from columns of rows and scores; `faults`: see `faults_of_rows`."""
    answers = []
    score, threshold = next(iter(scorer.thresholds.items())) if scorer.verdict else (scorer.main, None)
    questions = columns.get("question") or [None] * len(columns["prediction"])
    names = [scorer.main, *scorer.beside] if not scorer.verdict and scorer.beside else []
    from_last = names[::-1]
    far = _other_words(columns, score, scorer.verdict) if scorer.verdict else []
    doubts = dict(zip(far, scorer.doubts(*_texts_of(columns, far)), strict=True))
    for row, row_score in enumerate(columns[score]):
        label, verdict = columns["label"][row], int(columns[scorer.verdict][row]) if scorer.verdict else None
        scores = {name: round(float(columns[name][row]), 6) for name in names}
        ends = sorted(from_last, key=scores.get)  # of equal scores not the main one
        if ends and (gap := scores[ends[-1]] - scores[ends[0]]) >= FAR:
            kind, rank, scores = APART, -gap, {name: scores[name] for name in names if name in (ends[0], ends[-1])}
        elif verdict is None:
            kind, rank, scores = LOWEST, row_score, {name: scores[name] for name in names[:1]}
            if row_score >= BEST:
                continue
        elif label in (0, 1) and label != verdict:
            kind, rank = DISAGREE, -abs(row_score - label)
        elif label in (0, 1):
            if verdict:
                continue
            kind, rank = AGREED, row_score
        elif UNSURE_FROM < row_score < UNSURE_TO:
            kind, rank = UNSURE, abs(row_score - threshold)
        elif not verdict:
            kind, rank = WRONG, row_score
        elif row in far:
            kind, rank = OTHER_WORDS, row_score - bool(doubts[row])  # these first, then what is least probable
        else:
            continue
        texts = {name: columns[name][row] for name in _OF_ROW} | {"question": questions[row]}
        texts["passages"] = list(columns[scorer.evidence][row]) if scorer.evidence != "references" else []
        fault = doubts[row] if kind == OTHER_WORDS else faults[row] if faults else ""
        texts["fault"] = (fault or "").replace(UNKNOWN_FAULT, "")
        numbers = {"rank": round(float(rank), 6), "score": round(float(row_score), 6), "verdict": verdict}
        answers.append(AnswerToRead(kind, **numbers, **texts, scores=scores))
    return AnswersToRead(answers, number)


def _other_words(columns: Mapping[str, Sequence], score: str, verdict: str) -> list[int]:
    """Return the rows without a label whose answers are surely right, in other words than an accepted answer."""
    judged = enumerate(zip(columns[score], columns[verdict], columns["label"], strict=True))
    right = [(row, chance) for row, (chance, accepts, label) in judged if accepts and label not in (0, 1)]
    rows = [row for row, chance in right if not UNSURE_FROM < chance < UNSURE_TO]
    differ = map(other_words, *_texts_of(columns, rows))
    return [row for row, differs in zip(rows, differ, strict=True) if differs]


def other_words(question: str, references: Sequence[str], answer: str) -> bool:
    """Return whether an answer has other words than every reference, but for those of the question.

    >>> texts = ("Where?", ["Utah and Ohio"], "Ohio, Utah"), ("Its legs?", ["six"], "Its legs: six")
    >>> [other_words(*row) for row in texts]
    [True, False]
    """
    asked, words, *others = (set(re.findall(r"\w+", text.lower())) for text in (question, answer, *references))
    return all(words - asked != other - asked for other in others)


def sets_to_read(columns: Mapping[str, Sequence], number: int, scorers: Iterable[Scorer]) -> AnswersToRead:
    """Return the sets of questions that miss most references, by the first metric that names the missing ones."""
    lacks = next((f"{scorer.name}_{scorer.missing}" for scorer in scorers if scorer.missing), None)
    sets = []
    for row, missing in enumerate(columns[lacks] if lacks else ()):
        if missing:
            texts = {name: columns[name][row] for name in _OF_ROW if name != "prediction"}
            share = round(1 - len(missing) / len(texts["references"]), 6)
            asked = "\n".join(" ".join(text.split()) for text in columns["predictions"][row])
            texts |= {"question": None, "prediction": asked, "missing": missing}
            sets.append(AnswerToRead(LOWEST, share, score=share, **texts))
    return AnswersToRead(sets, number)


FIRST, RECALLED, ANEW = "judged first", "recalled", "judged anew: "
_ROW = "|row:"


def statistics_of_items(
    scorer: Scorer, items: Sequence[Item], explain: bool = False
) -> tuple[np.ndarray, Counter, list[str], list[str], list[list[str]]]:
    """Return (rows, k) statistics of items, counts for warnings, and the rows' reasons, digests and missing texts.

    There is one row per prediction, or per item if the metric takes sets. Equal rows are scored once, and rows that
    the same scorer judged before not at all, unless reasons are asked for. Only metrics that recall have digests.
    """
    rows = _rows_of_items(scorer, items)
    signature = scorer.signature if scorer.recalls else ""
    recalled, counts = _known_rows(scorer, signature, items, rows, explain) if signature else ({}, Counter())
    new = [row for row in dict.fromkeys(rows) if row not in recalled]
    blocks, counts_of_row, reasons, missing = [], [], [], []
    if new:
        columns = _columns(scorer, new)
        scorer.ready()
        if current_thread().name.startswith(WORKERS) and (torch := sys.modules.get("torch")):
            torch.set_num_threads(1)  # a model that was loaded only now
        statistics, details, counts_of_row = scorer.statistics(columns, explain)
        blocks.append(np.asarray(statistics))
        reasons = scorer.reasons(blocks[0], details) if explain else []
        missing = details[scorer.missing] if scorer.missing else []
    if recalled:
        recorded = np.array([scores for scores, _ in recalled.values()])
        scores = dict(zip(scorer.row_names, recorded.T, strict=True))
        blocks.append(scorer.recalled(_columns(scorer, recalled), scores))
        counts_of_row = [*counts_of_row, *(row_counts for _, row_counts in recalled.values())]
    numbers = {row: number for number, row in enumerate((*new, *recalled))}
    order = [numbers[row] for row in rows]
    statistics, digests = np.concatenate(blocks), []
    if signature:
        row_scores = scorer.row_scores(statistics)
        scores = np.column_stack([row_scores[name] for name in scorer.row_names]).tolist()
        digests = _row_digests(signature, list(numbers), scores, counts_of_row)
    statistics = statistics[order]
    counts += scorer.counts(_columns(scorer, rows), statistics)  # of all rows: windows cut equal ones apart
    for number in order:
        counts.update({name: count for name, count in counts_of_row[number].items() if count})
    whole = ([column[number] for number in order] if column else [] for column in (reasons, digests, missing))
    return statistics, counts, *whole


def _rows_of_items(scorer: Scorer, items: Sequence[Item]) -> list[tuple]:
    """Return (question, answer or set, evidence) of every row that a scorer reads; a missing text is a FileError."""
    rows: list[tuple] = []
    for item in items:
        asked = item.text if _reads_question(scorer) else None
        evidence, missing = tuple(getattr(item, scorer.evidence)), ""
        if scorer.needs_question and asked is None:
            missing = f"question: expected a string for {scorer.name}, got null"
        elif not evidence and scorer.evidence == "references":
            missing = f"references: expected at least one text for {scorer.name}, got none"
        if missing:
            raise FileError(f"{item.file}, line {item.line}: {missing}; drop the row, or leave the metric out")
        predictions = [tuple(item.predictions)] if scorer.takes_sets else item.predictions
        rows += [(asked, texts, evidence) for texts in predictions]
    return rows


def _known_rows(
    scorer: Scorer, signature: str, items: Sequence[Item], rows: Sequence[tuple], anew: bool
) -> tuple[dict[tuple, tuple[list[float], dict[str, int]]], Counter]:
    """Return {row: (scores, counts)} of rows judged before, and {why a row is recalled or judged: rows}."""
    judged_before, counts = {}, Counter()
    records: list[Mapping] = []
    for item in items:
        record = {} if anew else item.recorded.get(scorer.name, {})
        records += [record] * (1 if scorer.takes_sets else len(item.predictions))
    for row, record in zip(rows, records, strict=True):
        recalled = _recalled(record, scorer, signature, row)
        counts[recalled if isinstance(recalled, str) else RECALLED] += 1
        if not isinstance(recalled, str):
            judged_before[row] = recalled
    return judged_before, counts


def _reads_question(scorer: Scorer) -> bool:
    return scorer.needs_question or "questions" in scorer.optional


def _columns(scorer: Scorer, rows: Iterable[tuple]) -> dict[str, list]:
    """Return rows, (question, answer or set, evidence), as the columns of `Scorer.statistics`."""
    asked, predictions, evidence = zip(*rows, strict=True)
    columns: dict[str, list] = {
        "predictions": list(map(list, predictions)) if scorer.takes_sets else list(predictions),
        scorer.evidence: list(map(list, evidence)),
    }
    if _reads_question(scorer):
        columns["questions"] = [question or "" for question in asked]
    return columns


def profiles(scorer: Scorer, items: Sequence[Item], statistics: np.ndarray) -> dict[str, Counter]:
    """Return {system: counts of `Scorer.profile`} from the items of a judge and their (items, k) statistics."""
    result = {}
    for system, rows in rows_by_system([item.system for item in items]).items():
        columns = _columns(scorer, _rows_of_items(scorer, [items[row] for row in rows]))
        result[system] = scorer.profile(columns, statistics[rows])
    return result


def scored(
    items: Sequence[Item], row_kind: RowKind, scorers: Mapping[str, Scorer], worst: int = 10, explain: bool = False
) -> tuple[dict[str, list], Tally]:
    """Return {column of the output: values of items}, and the sums over items; with `explain` METRIC_reason too.

    `worst` is the number of answers to read first that are kept.
    """
    columns = _output_rows(items, row_kind)
    systems = columns["system"]
    tally = Tally(rows=Counter(systems))
    lengths = [len(item.predictions) for item in items]
    for item in items:
        tally.predictions[item.system] += len(item.predictions)
    systems_of_predictions = [system for system, length in zip(systems, lengths, strict=True) for _ in range(length)]
    for metric, scorer in scorers.items():
        lists = row_kind.sets and not scorer.takes_sets  # of scores, one for each question of a set
        why = explain and not lists
        statistics, counts, reasons, digests, missing = statistics_of_items(scorer, items, why)
        tally.warning_counts[metric] = counts
        with_ones = np.column_stack([statistics, np.ones(len(statistics))])
        tally.sums[metric] = sums_by_system(with_ones, systems if scorer.takes_sets else systems_of_predictions)
        if scorer.thresholds and scorer.evidence == "references" and not row_kind.sets:  # a judge of answers
            tally.questions = dict(totals_by_system(items, *statistics[:, :3].T))
            tally.profiles = profiles(scorer, items, statistics)
        scores = {name: column.tolist() for name, column in scorer.row_scores(statistics).items()}
        if lists:
            starts = np.cumsum([0, *lengths]).tolist()
            scores = {name: [column[a:b] for a, b in pairwise(starts)] for name, column in scores.items()}
        columns |= scores | ({f"{metric}_{scorer.missing}": missing} if scorer.missing else {})
        columns |= {f"{metric}_reason": reasons} if why else {}
        columns |= {metric + DIGEST: digests} if scorer.recalls and not row_kind.sets else {}
        if digests and scorer.chosen_settings:
            settings = json.dumps(scorer.chosen_settings, default=str, sort_keys=True)
            columns[metric + SETTINGS] = [settings] * len(items)
    if not row_kind.sets:
        _add_answers(tally, columns, np.array(list(map(label_of, items))), scorers, worst)
    elif worst:
        tally.to_read = sets_to_read(columns, worst, scorers.values())
    return columns, tally


def _add_answers(
    tally: Tally, columns: dict[str, list], labels: np.ndarray, scorers: Mapping[str, Scorer], worst: int
) -> None:
    """Add to a tally the words of answers, their faults and verdicts beside labels, and the answers to read first.

    The columns get METRIC_unsure and METRIC_fault of a judge that names faults, see `faults_of_rows`.
    """
    systems, faults = columns["system"], []
    for system, text in zip(systems, columns["prediction"], strict=True):
        tally.words[system] += len(text.split())
    judge = next((scorer for scorer in scorers.values() if scorer.verdict), None)
    support = next((scorer for scorer in scorers.values() if scorer.support), None)
    if judge:
        if not np.isnan(labels).all():
            counts = confusion_counts(np.asarray(columns[judge.verdict]), labels)
            tally.confusion = sums_by_system(counts, systems)
        if judge.faults:
            faults = faults_of_rows(columns, judge)
            unsure = [float(UNSURE_FROM < chance < UNSURE_TO) for chance in columns[judge.graded]]
            columns |= dict(zip(columns_of_judge(judge), (unsure, faults), strict=True))
            tally.faults = {system: Counter() for system in tally.rows}
            for system, fault in zip(systems, faults, strict=True):
                tally.faults[system].update([fault] if fault else [])
        if support:
            tally.cells = sums_by_system(cell_counts(columns, judge, support), systems)
    if worst:
        tally.to_read = answers_to_read(columns, worst, judge or next(iter(scorers.values())), faults)


def columns_of_judge(judge: Scorer | type[Scorer]) -> dict[str, str]:
    """Return {column: type} of what the output has beside a judge's scores: is it unsure, what is wrong."""
    return {f"{judge.name}_unsure": "number", f"{judge.name}_fault": "text"} if judge.faults else {}


def output_columns(
    row_kind: RowKind, scorers: Mapping[str, Scorer], explain: bool, extra: Mapping[str, str] | None
) -> dict[str, str]:
    """Return the columns of the output and their types, see `writing.Writer`, with `extra` ones of the input."""
    columns = {"file": "text", "line": "integer", "id": "text", "system": "text"}
    columns |= {row_kind.text: "text", **({"predictions": "texts"} if row_kind.sets else {"prediction": "text"})}
    columns |= {"references": "texts", **({"contexts": "texts"} if row_kind.has_contexts else {})}
    columns |= {"score": "number", "label": "number"}
    for scorer in scorers.values():
        lists = row_kind.sets and not scorer.takes_sets
        columns |= dict.fromkeys(scorer.row_names, "numbers" if lists else "number")
        columns |= {} if row_kind.sets else columns_of_judge(scorer)
        columns |= {f"{scorer.name}_{scorer.missing}": "texts"} if scorer.missing else {}
        columns |= {f"{scorer.name}_reason": "text"} if explain and not lists else {}
        judges = scorer.recalls and not row_kind.sets
        columns |= {scorer.name + DIGEST: "text"} if judges else {}
        columns |= {scorer.name + SETTINGS: "text"} if judges and scorer.chosen_settings else {}
    stale = {metric + name for metric in scorers for name in ("_reason", SETTINGS)}
    kept = {name: kind for name, kind in (extra or {}).items() if name not in {*columns, *stale}}
    before = list(columns).index("label") + 1
    return dict([*columns.items()][:before]) | kept | columns


def _output_rows(items: Sequence[Item], row_kind: RowKind) -> dict[str, list]:
    rows = {name: [item.extra[name] for item in items] for name in items[0].extra}
    rows |= {name: [getattr(item, name) for item in items] for name in ("file", "line", "id", "system", "references")}
    rows[row_kind.text] = [item.text for item in items]
    if row_kind.sets:
        rows["predictions"] = [item.predictions for item in items]
    else:
        rows["prediction"] = [item.predictions[0] for item in items]
    if row_kind.has_contexts:
        rows["contexts"] = [item.contexts for item in items]
    rows["score"], rows["label"] = (list(column) for column in zip(*(item.human for item in items), strict=True))
    return rows


def _row_digests(
    signature: str, rows: Sequence[Any], scores: Sequence[Sequence[float]], counts: Sequence[Mapping[str, int]]
) -> list[str]:
    """Return METRIC_digest of rows: signature, digests of texts and scores, and counts for warnings.

    >>> _row_digests("ava|threshold:0.5", [["Who?", "Ann", ["Ann"]]], [[1.0, 0.9, 0.0]], [{"truncated": 1}])
    ['ava|threshold:0.5|row:6400618c-1bf2bb11476bdd4c|truncated:1']
    """
    digests = list(map(json_digest, rows))
    texts = [digest[:8] for digest in digests]
    counted = ["".join(f"|{name}:{count}" for name, count in sorted(of.items()) if count) for of in counts]
    written = [[f"{score:.10g}" for score in of] for of in scores]
    wholes = list(map(json_digest, [[signature, *row] for row in zip(texts, written, counted, strict=True)]))
    ends = zip(texts, wholes, counted, strict=True)
    return [f"{signature}{_ROW}{text}-{whole[:16]}{warned_of}" for text, whole, warned_of in ends]


def _recalled(
    record: Mapping[str, Any], scorer: Scorer, signature: str, row: tuple
) -> tuple[list[float], dict[str, int]] | str:
    """Return the recorded scores and counts of a row, or the reason why it must be judged."""
    digest = record.get(scorer.name + DIGEST)
    before, result, rest = digest.rpartition(_ROW) if isinstance(digest, str) else ("", "", "")
    if not result:
        return FIRST
    if before != signature:
        changes = ", ".join(f"{name} {change}" for name, change in differing_parts(before, signature).items())
        return f"{ANEW}the judge differs ({changes})"
    texts, *counted = rest.split("|")
    try:
        counts = {name: int(count) for name, _, count in (text.partition(":") for text in counted)}
        scores = [float(record[name]) for name in scorer.row_names]
    except (KeyError, TypeError, ValueError):
        return f"{ANEW}their recorded scores were changed"
    if _row_digests(signature, [row], [scores], [counts]) == [digest]:
        return scores, counts
    changed = "recorded scores" if texts.startswith(json_digest(row)[:8]) else "texts"
    return f"{ANEW}their {changed} were changed"


def differing_parts(old: str, new: str) -> dict[str, str]:
    """Return {setting: "old -> new"} of the settings in which two signatures differ.

    >>> differing_parts("ava|threshold:0.5|version:1", "ava|threshold:0.6|version:1")
    {'threshold': '0.5 -> 0.6'}
    """
    settings = [dict(setting.partition(":")[::2] for setting in text.split("|")) for text in (old, new)]
    changes = {name: tuple(named.get(name, "none") for named in settings) for name in settings[0] | settings[1]}
    return {name: f"{old} -> {new}" for name, (old, new) in changes.items() if old != new}


def were_recalled(counts: Mapping[str, int]) -> bool:
    """Return whether a metric judged no row of a run, but recalled them all; `counts` are those of its rows."""
    return bool(counts.get(RECALLED)) and not any(name == FIRST or name.startswith(ANEW) for name in +Counter(counts))


def _recall_note(metric: str, counts: Mapping[str, int]) -> str | None:
    """Return one sentence on how many rows were recalled and judged anew; None where no row had a judgment.

    >>> _recall_note("ava", {"recalled": 88, "judged anew: their texts were changed": 3})
    'ava: 88 rows judged before, by the same judge; 3 rows judged anew: their texts were changed'
    >>> _recall_note("ava", {"judged first": 5})
    """
    anew = {name.removeprefix(ANEW): count for name, count in counts.items() if name.startswith(ANEW) and count}
    if not counts.get(RECALLED) and not anew:
        return None
    rows = {
        "judged before, by the same judge": counts.get(RECALLED),
        **{f"judged anew: {why}": count for why, count in anew.items()},
        "judged for the first time": counts.get(FIRST),
    }
    counted_rows = [f"{count:,} row{'s' * (count > 1)} {how}" for how, count in rows.items() if count]
    return f"{metric}: {'; '.join(counted_rows)}"


def warn_of_recorded(counts: Mapping[str, Mapping[str, int]]) -> None:
    """Warn how many recorded judgments were recalled or judged anew; `counts` are {metric: counts}."""
    for metric, metric_counts in counts.items():
        if note := _recall_note(metric, metric_counts):
            warn_caller(note, RecordedScoresWarning)
