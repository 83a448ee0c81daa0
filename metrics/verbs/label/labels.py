"""Labels of people for some rows: read, matched with the rows, and checked. Several raters of a row are averaged."""

import math
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, count
from statistics import NormalDist

import numpy as np

from ...rows.columns import Row
from ...rows.errors import FileError, name_column
from ...rows.reading import Item, RowError, RowReader, Skips, good_rows, same_text
from ...rows.sources import Source
from ...scale.scoring import TAKEN_AS_DRAWN, label_note, question_keys, rows_by_system
from ...statistics.estimation import cluster_sums
from ...statistics.intervals import MIN_QUESTIONS, wilson
from ...statistics.resampling import LEAST_DIFFERING, LEVEL
from ..inputs import Plan, Rating, item_key, key_of, rater_of, read_answers, rows_of_answers, share_of

LABELS_TO_BEGIN = 30  # of a system: the one number that every verb proposes, and below which it says "rough"
COMPLETE = 0.9  # 1 / probability of the labels sums to at least this share of the rows when labelling was finished
SELECTED = 3.5  # standard errors from the judge's mean of all rows, above which labels look selected
DIFFERENT_ROWS = 4.0  # standard errors of the sum of 1 / probability, above which labels are of other rows
MIN_CHECKED = 10  # labels below which these two are not checked
SEED = " seed="  # stands in the column between the rule and the seed of the order of the labels
LABELLING_STOPPED = "labelling stopped"  # so begin notes on labels that are fewer than planned
STOPPED = (
    LABELLING_STOPPED + " by --until {}: intervals and tests here are for a number of labels that was decided before "
    "looking, and can miss the truth; genqa-metrics accuracy has the interval that holds at any number"
)


def file_for_labels(sources: Sequence[Source]) -> str:
    """Return the file to which `label` adds: the one file of labels, if it wrote it; "" where it adds to none.

    Without a file it is a new one, in which `label` keeps the labels that rows have.
    """
    if not sources:
        return "labels.jsonl"
    if len(sources) != 1 or not sources[0].path:
        return ""
    is_label = all({"item", "rater"} <= (row.values or {}).keys() for row in sources[0].sample())
    return str(sources[0].path) if is_label else ""


def label_more(path: str, number: int, verb: str) -> str:
    """Return the commands that add labels to a file of `label` and use them, after a colon; "" without such a file."""
    add = f"genqa-metrics label FILE --number {number} -o {shlex.quote(path)}"
    return f": {add}, then: genqa-metrics {verb} FILE --labels {shlex.quote(path)}" if path else ""


@dataclass
class Labels:
    """Labels, row by row; NaN where a row has none."""

    mean: np.ndarray  # (rows,) over raters
    probability: np.ndarray  # (rows,) with which the row was drawn
    number: np.ndarray  # (rows,) of labels
    raters: dict[str, float | int | None]  # what `rater_agreement` returns
    error: float = 0.0  # share of labels that are taken to be wrong
    until: str | None = None  # the rule by which labelling stopped, see `rows.columns.STOPPED_BY`

    def taken(self, rows: np.ndarray) -> "Labels":
        """Return the labels of some rows."""
        return replace(self, mean=self.mean[rows], probability=self.probability[rows], number=self.number[rows])

    def replace_those_of(self, items: Sequence[Item]) -> None:
        """Replace the labels and sampling probabilities of items, in place, by these."""
        for item, label, chance in zip(items, self.mean, self.probability, strict=True):
            item.human = item.human[0], None if np.isnan(label) else float(label)
            item.chance = None if np.isnan(chance) else float(chance)


def what_labels_give(number: int) -> str:
    """Return in words the half width of an interval by `number` labels, if 50% are right; "" for few.

    >>> what_labels_give(30), what_labels_give(4)
    ('30 labels of a system give up to +-17 points, less near an accuracy of 0 or 1', '')
    """
    if number < MIN_QUESTIONS:
        return ""
    widest = _half_width(number, USUAL_SHARES[1])
    return f"{number:,} labels of a system give up to +-{widest:.0f} points, less near an accuracy of 0 or 1"


POWER = ((1.96 + 0.842) / 1.96) ** 2  # times the questions whose interval just leaves out 0, for a power of 80%
USUAL_SHARES = 0.8, 0.5  # of right answers, for which a number of labels is planned
POINTS = 10  # an error, or a difference of two systems, that is small enough to decide something


def _half_width(number: int, share: float) -> float:
    low, high = wilson(share, number, 1.96)
    return 50 * float(high - low)


def labels_needed(points: float = POINTS) -> int:
    """Return the number of labels of a system whose interval is at most +- so many points, if 50% are right.

    >>> labels_needed(10), labels_needed(5)
    (93, 381)
    """
    return next(number for number in count(MIN_QUESTIONS) if _half_width(number, USUAL_SHARES[1]) <= points)


def smallest_lead(number: int, half_width: float = 0, tests: int = 1) -> str:
    """Return in words which lead of one of two systems so many labelled questions can show.

    Fewer than `LEAST_DIFFERING` questions on which systems differ are never significant. The errors of the two systems
    are taken for independent, with 80% right answers, unless the `half_width` of the interval of a lead is known. The
    best of several `tests` must have a p below 5% by their number (Holm).

    >>> smallest_lead(12), smallest_lead(5)
    ('a lead below about 50 points is hardly ever significant, a larger one can be', 'no lead can be significant')
    """
    least = max(_least_lead(number, tests), 100 * half_width)
    if least > 100:
        return "no lead can be significant"
    return f"a lead below about {least:.0f} points is hardly ever significant, a larger one can be"


def _least_lead(number: int, tests: int = 1) -> float:
    wider = NormalDist().inv_cdf(1 - 0.025 / tests) / 1.96
    differing = next(n for n in count(LEAST_DIFFERING) if tests * 0.5 ** (n - 1) < LEVEL)  # all for one system
    return max(100 * differing / number, 2**0.5 * _half_width(number, USUAL_SHARES[0]) * wider)


def questions_needed(number: int = 0, half_width: float = 0) -> str:
    """Return in words how many questions show a lead of `POINTS` in four of five samples (a power of 80%).

    If 50% are right and errors are independent, or where so many questions gave the interval of a lead a `half_width`.

    >>> questions_needed(), questions_needed(24, 0.4)
    ('a lead of 10 points needs about 390 questions', 'a lead of 10 points needs about 780 questions')
    """
    needed = POWER * (number * (100 * half_width / POINTS) ** 2 or labels_needed(POINTS / 2**0.5))
    return f"a lead of {POINTS} points needs about {round(needed, -1):.0f} questions"


def what_questions_show(number: int, half_width: float = 0, tests: int = 1) -> str:
    """Return which lead so many labelled questions can show, and how many one of `POINTS` needs where that is more."""
    least = max(_least_lead(number, tests), 100 * half_width)
    return smallest_lead(number, half_width, tests) + f"; {questions_needed(number, half_width)}" * (least > POINTS)


def read_labels(
    sources: Sequence[Source] | None,
    items: Sequence[Item],
    ratings: Sequence[Sequence[Rating]],
    columns: Mapping[str, str],
    skips: Skips,
    notes: list[str],
    widens: bool = True,
) -> Labels | None:
    """Return the labels of files, and without such files those in the rows; None where there are none.

    `ratings`: the labels of each item in the rows; `notes` gets what a reader must know; `widens`: intervals get
    wider by the share of wrong labels that disagreement shows. A rater's second label of a row is a bad row.
    """
    if sources:
        labels = _labels_of_files(sources, items, columns, skips, notes)
        in_rows = {row for row, rated in enumerate(ratings) if any(label is not None for label, _, _ in rated)}
        if unused := in_rows - {label.row for label in labels}:
            notes.append(
                f"labels in the rows were not used, {len(unused):,} in all, as the labels are in another file"
            )
    else:
        labels = _labels_of_rows(items, ratings, notes)
    if not labels:
        return None
    labels_of: dict[int, list[float]] = defaultdict(list)
    plans: dict[str, dict[str, float | None]] = defaultdict(dict)  # system -> key of a row -> planned number of labels
    odds: dict[int, float | None] = {}
    for label in labels:
        labels_of[label.row].append(label.label)
        odds[label.row], planned, _ = label.plan
        if label.key is not None:
            plans[items[label.row].system][label.key] = planned
    drawn = [row for row, probability in odds.items() if probability is not None]
    if drawn and len(drawn) < len(odds):
        notes.append(f"{len(odds) - len(drawn):,} labels have no probability of being drawn; they were left out")
    elif drawn:
        _scale_early_stop(odds, items, plans, notes)
    else:
        answers, drawn = Counter(item.system for item in items), list(odds)
        labelled = Counter(items[row].system for row in odds)
        notes += [TAKEN_AS_DRAWN] * any(number < answers[system] for system, number in labelled.items())
        odds = {row: labelled[items[row].system] / answers[items[row].system] for row in odds}
    mean, share, number = np.full(len(items), np.nan), np.full(len(items), np.nan), np.zeros(len(items))
    for row in drawn:
        mean[row], share[row], number[row] = np.mean(labels_of[row]), odds[row], len(labels_of[row])
    agreement = rater_agreement([labels_of[row] for row in drawn], [1 / odds[row] for row in drawn])
    agreement = {"raters": len({label.rater for label in labels}), **agreement}
    until = next((label.plan[2] for label in labels if label.plan[2] is not None), None)
    if until is not None:
        notes.insert(0, STOPPED.format(until.partition(SEED)[0]))  # it comes before what a screen may leave out
    notes += [agreement_fact(agreement)] * bool(agreement["rows"])
    error = (agreement["error"] or 0.0) * widens
    if error:
        wrong = f"about {error:.1%} of the labels are wrong, if raters err independently"
        notes.append(f"the intervals are {100 * error:.1f} points wider on both sides: {wrong}")
    return Labels(mean, share, number, agreement, error, until)


@dataclass(frozen=True)
class _Label:
    """A label of one of the items, how its row was drawn, and the key by which it was planned."""

    row: int  # of the items
    label: float
    plan: Plan
    key: str | None
    rater: str = ""


def _labels_of_rows(items: Sequence[Item], ratings: Sequence[Sequence[Rating]], notes: list[str]) -> list[_Label]:
    """Return the labels that stand in the rows."""
    labels = [
        _Label(row, label, plan, str(row), rater)
        for row, rated in enumerate(ratings)
        for label, plan, rater in rated
        if label is not None
    ]
    inside = [label for label in labels if 0 <= label.label <= 1]
    outside = [label for label in labels if not 0 <= label.label <= 1]
    if outside and len(outside) >= len(inside):
        notes.append("the column label has values outside 0 to 1, which are no labels of people; they were not used")
        return []
    if outside:
        first = items[outside[0].row]
        first_label = f"{outside[0].label:g} in {first.file}, line {first.line}"
        notes.append(f"{len(outside):,} labels outside 0 to 1 were not used; the first is {first_label}")
    if inside:
        notes.append(label_note(len(inside), sum(map(len, ratings))))
    return inside


def _labels_of_files(
    sources: Sequence[Source], items: Sequence[Item], columns: Mapping[str, str], skips: Skips, notes: list[str]
) -> list[_Label]:
    """Return the labels of files, matched by question, prediction and system, or by id."""
    rows_of: dict[str, list[int]] = defaultdict(list)  # {key, without and with the system: rows}
    by_id: dict[str | None, list[int]] = defaultdict(list)
    for row, item in enumerate(items):
        for key in dict.fromkeys((key_of(item), item_key("", item.text, item.predictions[0]))):
            rows_of[key].append(row)
        by_id[item.id].append(row)
    readers: dict = {}
    label_skips = Skips(skips.skip, skips.problem)
    labelled_at: dict[tuple[str, int], str] = {}

    def rows_with_id(ident: str, system: object) -> list[int]:
        rows = [row for row in by_id[same_text(ident)] if system is None or items[row].system == str(system)]
        systems = list(dict.fromkeys(items[row].system for row in rows))
        if len(systems) > 1:
            raise RowError(
                f"id: {ident!r:.40} is the id of answers of {len(systems)} systems, such as "
                f"{', '.join(systems[:2])}; add a column 'system'"
            )
        return rows

    def convert(reader: RowReader, row: Row) -> list[_Label]:
        source = reader.source
        if source.name not in readers:  # columns of other names, where the labels have them too
            named = {name: column for name, column in columns.items() if column.split(".")[0] in row.values}
            readers[source.name] = RowReader(source, named)
        reader = readers[source.name]
        question, prediction, system, verdict, ident = (
            reader.optional(row.values, name) for name in ("question", "prediction", "system", "label", "id")
        )
        if verdict is None or (prediction is None and ident is None):
            problem = "expected a label, 0 or 1 in a column label, and id, or question and prediction"
            raise RowError(problem, f"another column is named with {name_column('label')}")
        if prediction is None:
            key = str(ident)
            rows = rows_with_id(key, system)
        else:
            key = item_key(str(system or ""), question, prediction)
            rows = rows_of.get(key, [])
        plan = reader.sampling(row.values)
        label = reader.verdict("label", verdict)
        if label is None:  # a number
            label = share_of("label", reader.human_number("label", verdict, "label"))
        rater = rater_of(row.values)
        for number in rows:
            if (rater, number) in labelled_at:
                who = f"rater {rater!r} has" if rater else "somebody has, and the labels name no rater,"
                fix = "keep one of the two" + ("" if rater else ", or say who labelled in a column 'rater'")
                raise RowError(f"{who} labelled this row before, at {labelled_at[rater, number]}; {fix}")
        labelled_at.update({(rater, number): f"{source.name}, {source.unit} {row.number}" for number in rows})
        return [_Label(number, label, plan, key if number == rows[0] else None, rater) for number in rows]

    matched = list(good_rows([RowReader(source, {}) for source in sources], convert, label_skips))
    notes += [f"{source.name}: {notice}" for source in sources for notice in source.notices if "labels" in notice]
    skips.add(label_skips)
    if not any(matched):
        raise FileError(
            f"{', '.join(source.name for source in sources)}: none of the {label_skips.good.total():,} labels belongs "
            "to one of the rows; id, or question and prediction, and system must be those of the rows"
        )
    if lost := sum(not labels for labels in matched):
        notes.append(f"{lost:,} labels belong to answers that are not among the rows; they were left out")
    return [label for labels in matched for label in labels]


def agreement_fact(raters: Mapping) -> str:
    """Return in one line how far raters agree, from `rater_agreement`."""
    if not raters["rows"]:
        return "labels: one of every row; labels of a second rater would show how many are wrong"
    shares = [] if raters["agreement"] is None else [f"they agree in {raters['agreement']:.0%}"]
    shares += [] if raters["alpha"] is None else [f"Krippendorff's alpha {raters['alpha']:.2f}"]
    return f"{raters['rows']:,} rows were rated by several raters: {', '.join(shares) or 'all ratings are the same'}"


def krippendorff_alpha(ratings: Iterable[Sequence[float]]) -> float | None:
    """Return Krippendorff's alpha (2011) of the ratings of every row; None where there is nothing to compare.

    1 is full agreement, 0 that of chance. Two ratings are as far apart as the square of their difference (the interval
    alpha); for labels of 0 and 1 that is the nominal alpha. Rows with one rating do not count.

    Variance within rows over variance of all ratings: of 1 1, 0 0 and 1 0 they are (0 + 0 + 2 * 0.5) / 6 and 0.3.

    >>> krippendorff_alpha([[1, 1], [0, 0], [1, 0]])
    0.4444444444444444
    """
    several = [np.asarray(row, dtype=float) for row in ratings if len(row) > 1]
    every = np.concatenate(several) if several else np.zeros(1)
    if not np.ptp(every):
        return None
    return float(1 - sum(len(row) * row.var(ddof=1) for row in several) / (len(every) * every.var(ddof=1)))


def rater_agreement(labels: Sequence[Sequence[float]], weights: Sequence[float]) -> dict[str, float | int | None]:
    """Return how far raters agree on the rows that several of them labelled; 0.5 or more counts as correct.

    `weights` has the number of rows that each row stands for. "rows" with several labels; "agreement", the weighted
    share of pairs of raters that agree; "alpha", see `krippendorff_alpha`; "error", the share of wrong labels e with
    which two independent raters disagree as often: 1 - agreement = 2 e (1 - e). None without such rows.

    >>> agreement = rater_agreement([[1, 1], [0, 0], [1, 1], [1, 0]], [1, 1, 1, 1])
    >>> agreement["agreement"], round(agreement["alpha"], 3), round(agreement["error"], 3)
    (0.75, 0.533, 0.146)
    """
    weighted = zip(labels, weights, strict=True)
    several = [([label >= 0.5 for label in row], weight) for row, weight in weighted if len(row) > 1]
    if not several:
        return {"rows": 0, "agreement": None, "alpha": None, "error": None}
    shares = [np.mean([a == b for a, b in combinations(row, 2)]) for row, _ in several]
    agreement = float(np.average(shares, weights=[weight for _, weight in several]))
    error = (1 - math.sqrt(max(0.0, 2 * agreement - 1))) / 2
    alpha = krippendorff_alpha(row for row, _ in several)
    return {"rows": len(several), "agreement": agreement, "alpha": alpha, "error": error}


def average_raters(items: Sequence[Item], raters: Sequence[str]) -> tuple[list[int], dict[str, float | int | None]]:
    """Return the first row of every answer, and how far raters agree, see `rater_agreement`.

    Rows of one answer and different raters are one answer: the first gets the mean of their human scores, in place.
    """
    answers, ratings = rows_of_answers(items, raters), []
    for rows in answers:
        columns = zip(*(items[row].human for row in rows), strict=True)
        columns = [[rating for rating in column if rating is not None] for column in columns]
        items[rows[0]].human = tuple(sum(column) / len(column) if column else None for column in columns)
        ratings.append(columns[0] or columns[1])
    agreement = rater_agreement(ratings, [1] * len(ratings))
    if not all(rating in (0, 1) for row in ratings for rating in row):
        agreement |= {"agreement": None, "error": None, "alpha": krippendorff_alpha(ratings)}
    return [rows[0] for rows in answers], {"raters": len(set(raters) - {""}), **agreement}


def _scale_early_stop(odds: dict, items: Sequence[Item], plans: Mapping, notes: list[str]) -> None:
    """Scale the probabilities of systems with fewer labels than planned, in place.

    Labels come in random order, so a row was labelled with its probability times labelled / planned. Files without
    "planned" show it, too: 1 / probability sums to about the number of rows when all planned labels are there.
    """
    shares = []
    for system, planned_by_key in plans.items():
        labelled = [row for row, p in odds.items() if p is not None and items[row].system == system]
        if planned := max((number for number in planned_by_key.values() if number is not None), default=0):
            share = len(planned_by_key) / planned
        else:
            share = sum(1 / odds[row] for row in labelled) / sum(item.system == system for item in items)
            share = 1.0 if share >= COMPLETE else share
        if labelled and share < 1:
            odds.update({row: odds[row] * share for row in labelled})
            shares.append(f"{share:.0%} of the labels planned for {system}")
    if shares:
        early = f"{LABELLING_STOPPED} early, at {' and '.join(shares)}"
        notes.append(f"{early}; the probabilities with which they were drawn are scaled down")


def selection_notes(items: Sequence[Item], judged: np.ndarray, probability: np.ndarray) -> list[str]:
    """Return notes on systems whose labels cannot be a random sample of their rows; `probability` is NaN without one.

    Labels that stand for the rows have about the judge's mean of all rows, and their 1 / probability sum to the number
    of rows.
    """
    notes: list[str] = []
    for system, rows in rows_by_system([item.system for item in items]).items():
        questions = question_keys([items[row] for row in rows])
        notes += _selection_notes(system, judged[rows], probability[rows], questions)
    return notes


def _selection_notes(system: str, judged: np.ndarray, probability: np.ndarray, clusters: np.ndarray) -> list[str]:
    labelled = ~np.isnan(probability)
    if labelled.sum() < MIN_CHECKED or labelled.all():
        return []
    odds = np.where(labelled, probability, 1.0)
    weights, rows, notes = labelled / odds, len(judged), []
    total = weights.sum()
    chance = np.sqrt(((1 - odds) * weights**2).sum())
    if abs(total - rows) > DIFFERENT_ROWS * chance + 0.01 * rows:
        notes.append(
            f"{system}: the labels stand for {total:,.0f} rows, the sum of 1 / probability, but there are {rows:,}; "
            "give the rows that they were drawn from, or the interval can miss the truth"
        )
    labelled_mean, overall_mean = (weights * judged).sum() / total, judged.mean()
    error = (
        np.sqrt((cluster_sums(weights * np.sqrt(1 - odds) * (judged - labelled_mean), clusters) ** 2).sum()) / total
    )
    if abs(labelled_mean - overall_mean) > SELECTED * error + 0.01:
        notes.append(
            f"{system}: the labels look selected: the judge gives the labelled rows {labelled_mean:.2f} in the mean, "
            f"all rows {overall_mean:.2f}, more than chance explains; the interval can miss the truth. Keep all "
            "labels of the rows that genqa-metrics label draws"
        )
    return notes


@dataclass(frozen=True)
class Labelled:
    """Answers that people labelled, each once."""

    items: Sequence[Item]
    labels: np.ndarray  # (answers,) mean label, 0 to 1
    weights: np.ndarray  # (answers,) 1 / probability of being drawn, see `read_labels`, with mean 1
    numbers: np.ndarray  # (answers,) of labels
    unlabelled: int  # rows without a label, which were left out


def labelled_rows(
    sources: Sequence[Source],
    columns: Mapping[str, str],
    skips: Skips,
    label_sources: Sequence[Source],
    notes: list[str],
) -> Labelled:
    """Return the labelled answers of files, as `genqa-metrics label` writes them, or any rows with a label.

    Labels are in `label_sources`, see `read_labels`, or without these in the rows; `notes` gets what a reader must
    know.
    """
    items, _, _, ratings, _ = read_answers(sources, columns, skips)
    labels = read_labels(label_sources, items, ratings, columns, skips, notes, widens=False)
    if labels is None:
        names = ", ".join(source.name for source in sources)
        if any(label is not None for rated in ratings for label, *_ in rated):
            limit = "write 1 into a column label where the grade counts as right, else 0"
            raise FileError(f"{names}: labels are grades, expected numbers from 0 to 1; {limit}")
        problem = f"{names}: no row has a label, a number from 0 to 1 in a column label; label some rows "
        raise FileError(problem, "with genqa-metrics label, or name the column with ", name_column("label"))
    rows_of: dict[object, list[int]] = defaultdict(list)  # in files of labels an answer has a row for each rater
    for row in np.flatnonzero(~np.isnan(labels.mean)).tolist():
        rows_of[row if label_sources else key_of(items[row])].append(row)
    weights = np.array([1 / labels.probability[rows[-1]] for rows in rows_of.values()])
    return Labelled(
        items=[items[rows[0]] for rows in rows_of.values()],
        labels=np.array([labels.mean[rows].mean() for rows in rows_of.values()]),
        weights=weights / weights.mean(),
        numbers=np.array([labels.number[rows].sum() for rows in rows_of.values()]),
        unlabelled=int(np.isnan(labels.mean).sum()),
    )
