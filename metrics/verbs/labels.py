"""Labels of people for some rows: read, matched with the rows, and checked. Several raters of a row are averaged."""

import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ..rows.errors import Advice, FileError, name_column
from ..rows.reading import GOOD, SKIPPED, Item, RowError, RowReader, Skips, good_rows
from ..rows.sources import Source
from ..rows.values import Row, same_text
from ..scale.tally import label_note
from ..statistics.estimation import cluster_sums
from ..statistics.intervals import MIN_QUESTIONS, wilson
from .inputs import read_answers, share_of

RATER_COLUMNS = ("rater", "annotator", "worker")
LABELS_TO_BEGIN = 30  # of a system: the one number that every verb proposes, and below which it says "rough"
COMPLETE = 0.9  # 1 / probability of the labels sums to at least this share of the rows when labelling was finished
SELECTED = 3.5  # standard errors from the judge's mean of all rows, above which labels look selected
DIFFERENT_ROWS = 4.0  # standard errors of the sum of 1 / probability, above which labels are of other rows
MIN_CHECKED = 10  # labels below which these two are not checked
TAKEN_AS_DRAWN = (
    "assumes that the labelled answers were picked at random from all answers of a system; if they were not, the "
    "interval can miss the truth"
)
SEED = " seed="  # stands in the column between the rule and the seed of the order of the labels
STOPPED = (
    "labelling stopped by --until {}: intervals and tests here are for a number of labels that was decided before "
    "looking, and can miss the truth; genqa-metrics accuracy has the interval that holds at any number"
)


@dataclass
class Labels:
    """Labels, row by row; NaN where a row has none."""

    mean: np.ndarray  # (rows,) over raters
    probability: np.ndarray  # (rows,) with which the row was drawn
    number: np.ndarray  # (rows,) of labels
    raters: dict[str, float | int | None]  # what `rater_agreement` returns
    error: float = 0.0  # share of labels that are taken to be wrong
    until: str | None = None  # the rule by which labelling stopped, see `rows.values.STOPPED_BY`

    def replace_those_of(self, items: Sequence[Item]) -> None:
        """Give the rows these labels in place of their own: a judge is compared with them before they are used."""
        for item, label, chance in zip(items, self.mean, self.probability, strict=True):
            item.human = item.human[0], None if np.isnan(label) else float(label)
            item.chance = None if np.isnan(chance) else float(chance)


def what_labels_give(number: int) -> str:
    """Return in words how narrow an interval is by so many labels, where 8 or 5 of 10 are right; "" for few.

    >>> what_labels_give(30), what_labels_give(4)
    ('30 labels of a system give about +-14 to +-17 points', '')
    """
    if number < MIN_QUESTIONS:
        return ""
    (low, high), (least, most) = (wilson(share, number, 1.96) for share in (0.8, 0.5))
    return f"{number:,} labels of a system give about +-{50 * (high - low):.0f} to +-{50 * (most - least):.0f} points"


def _drawn_by_chance(systems: Mapping[object, str], rows: Counter) -> dict:
    """Return {row: probability} of labelled rows, each with its system, drawn from so many rows of every system."""
    labelled = Counter(systems.values())
    return {row: labelled[system] / rows[system] for row, system in systems.items()}


def read_labels(
    sources: Sequence[Source] | None,
    items: Sequence[Item],
    plans_of_rows: Sequence[tuple[float | None, float | None, str | None]],
    columns: Mapping[str, str],
    skips: Skips,
    notes: list[str],
    error: float | None = None,
) -> Labels | None:
    """Return the labels of files, and without such files those in the rows; None where there are none.

    `plans_of_rows`: see `RowReader.sampling`; `notes` gets what a reader must know; `error` is the share of wrong
    labels, None to estimate it from rows with several raters. A rater's second label of a row is a bad row.
    """
    if sources:
        labels = _labels_of_files(sources, items, columns, skips, notes)
    else:
        labels = _labels_of_rows(items, plans_of_rows, notes)
    if not labels:
        return None
    labels_of: dict[int, list[float]] = defaultdict(list)
    plans: dict[str, dict[str, float | None]] = defaultdict(dict)  # system -> key of a row -> planned number of labels
    for label in labels:
        labels_of[label.place].append(label.value)
        if label.key is not None:
            plans[items[label.place].system][label.key] = label.planned
    odds = {label.place: label.probability for label in labels}
    drawn = [place for place, probability in odds.items() if probability is not None]
    if drawn and len(drawn) < len(odds):
        notes.append(f"{len(odds) - len(drawn):,} labels have no probability of being drawn; they were left out")
    elif not drawn:
        if len(odds) < len(items):
            notes.append(TAKEN_AS_DRAWN)
        odds = _drawn_by_chance({place: items[place].system for place in odds}, Counter(item.system for item in items))
        drawn = list(odds)
    else:
        _scale_early_stop(odds, items, plans, notes)
    mean, share, number = np.full(len(items), np.nan), np.full(len(items), np.nan), np.zeros(len(items))
    for place in drawn:
        mean[place], share[place], number[place] = np.mean(labels_of[place]), odds[place], len(labels_of[place])
    agreement = rater_agreement([labels_of[place] for place in drawn], [1 / odds[place] for place in drawn])
    agreement = {"raters": len({label.rater for label in labels}), **agreement}
    until = next((label.until for label in labels if label.until is not None), None)
    if until is not None:
        notes.append(STOPPED.format(until.partition(SEED)[0]))
    return Labels(mean, share, number, agreement, _error(error, agreement, notes), until)


@dataclass(frozen=True)
class _Label:
    """A label of one of the items, what its row says of how it was drawn, and the key by which it was planned."""

    place: int
    value: float
    probability: float | None
    planned: float | None
    until: str | None
    key: str | None
    rater: str = ""


def _labels_of_rows(items: Sequence[Item], plans_of_rows: Sequence[tuple], notes: list[str]) -> list[_Label]:
    """Return the labels that stand in the rows."""
    given = {place: item.human[1] for place, item in enumerate(items) if item.human[1] is not None}
    outside = {place: label for place, label in given.items() if not 0 <= label <= 1}
    if outside and len(outside) >= len(given) / 2:
        notes.append("the column label has values outside 0 to 1, which are no labels of people; they were not used")
        return []
    if outside:
        place, label = next(iter(outside.items()))
        where = f"{items[place].file}, line {items[place].line}"
        notes.append(f"{len(outside):,} labels outside 0 to 1 were not used; the first is {label:g} in {where}")
    used = len(given) - len(outside)
    if used:
        notes.append(label_note(used, len(items)))
    inside = {place: label for place, label in given.items() if place not in outside}
    return [_Label(place, label, *plans_of_rows[place], str(place)) for place, label in inside.items()]


def _labels_of_files(
    sources: Sequence[Source], items: Sequence[Item], columns: Mapping[str, str], skips: Skips, notes: list[str]
) -> list[_Label]:
    """Return the labels of files, matched by question, prediction and system, or by id."""
    place_of: dict[str, list[int]] = defaultdict(list)
    by_id: dict[str, list[int]] = defaultdict(list)
    for place, item in enumerate(items):
        place_of[key_of(item)].append(place)
        place_of[item_key("", item.text, item.predictions[0])].append(place)
        if item.id is not None:
            by_id[item.id].append(place)
    readers: dict = {}
    label_skips = Skips(skips.skip, skips.problem)
    seen: dict[tuple[str, int], str] = {}

    def with_id(ident: object, system: object) -> list[int]:
        places = by_id.get(same_text(str(ident)), [])
        if system is not None:
            return [place for place in places if items[place].system == str(system)]
        systems = {items[place].system: None for place in places}
        if len(systems) > 1:
            raise RowError(
                f"id: {str(ident)!r:.40} is that of answers of {len(systems)} systems, such as "
                f"{', '.join(list(systems)[:2])}; add a column 'system'"
            )
        return places

    def convert(source: Source, row: Row) -> list[_Label]:
        if source.name not in readers:  # columns of other names, where the labels have them too
            own = {name: column for name, column in columns.items() if column.split(".")[0] in row.values}
            readers[source.name] = RowReader(source, own)
        reader = readers[source.name]
        texts = {name: reader.optional(row.values, name) for name in ("question", "prediction", "system")}
        value = reader.optional(row.values, "label")
        ident = reader.optional(row.values, "id")
        if value is None or (texts["prediction"] is None and ident is None):
            problem = "expected a label, 0 or 1 in a column label, and id, or question and prediction"
            raise RowError(problem, hint=Advice("another column is named with ", name_column("label")))
        if texts["prediction"] is None:
            places, key = with_id(ident, texts["system"]), str(ident)
        else:
            key = item_key(str(texts["system"] or ""), texts["question"], texts["prediction"])
            places = place_of.get(key, [])
        plan = reader.sampling(row.values)
        word = reader.verdict("label", value)
        label = share_of("label", reader.human_number("label", value, "label")) if word is None else word
        rater = rater_of(row.values)
        for place in places:
            if (rater, place) in seen:
                who = f"rater {rater!r} has" if rater else "somebody has, and the labels name no rater,"
                fix = "keep one of the two" + ("" if rater else ", or say who labelled in a column 'rater'")
                raise RowError(f"{who} labelled this row before, at {seen[rater, place]}; {fix}")
        seen.update({(rater, place): f"{source.name}, {source.unit} {row.number}" for place in places})
        return [_Label(place, label, *plan, key if place == places[0] else None, rater) for place in places]

    of_rows = [labels for _, _, labels in good_rows(sources, convert, label_skips)]
    notes += [f"{source.name}: {notice}" for source in sources for notice in source.notices if "labels" in notice]
    skips.counts[SKIPPED] += label_skips.skipped
    skips.good.update(label_skips.good)
    names = ", ".join(source.name for source in sources)
    if not any(of_rows):
        raise FileError(
            f"{names}: none of the {label_skips.counts[GOOD]:,} labels is of one of the rows; id, or question "
            "and prediction, and system must be those of the rows"
        )
    if lost := sum(not labels for labels in of_rows):
        notes.append(f"{lost:,} labels are of answers that are not among the rows; they were left out")
    return [label for labels in of_rows for label in labels]


def _error(given: float | None, agreement: Mapping, notes: list[str]) -> float:
    """Return the share of wrong labels, and note what it rests on."""
    seen = agreement["error"]
    if agreement["rows"]:
        notes.append(agreement_fact(agreement))
    if given is not None:
        if seen is not None and seen > given:
            notes.append(
                f"rater_error is {given:.1%}, but raters disagree as if {seen:.1%} of their labels were wrong; the "
                "intervals can be too narrow"
            )
        return given
    if seen:
        so_many = "so many labels are wrong if raters err independently"
        notes.append(f"the intervals are {seen:.1%} wider on both sides: {so_many}")
    return seen or 0.0


def agreement_fact(raters: Mapping) -> str:
    """Return in one line how far raters agree, from `rater_agreement`."""
    if not raters["rows"]:
        return "labels: one of every row; wrong labels are not in the intervals, see --rater-error"
    shares = [] if raters["agreement"] is None else [f"they agree in {raters['agreement']:.0%}"]
    shares += [] if raters["alpha"] is None else [f"Krippendorff's alpha {raters['alpha']:.2f}"]
    return f"{raters['rows']:,} rows have labels of several raters: {', '.join(shares) or 'all labels are the same'}"


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
    several = [([value >= 0.5 for value in row], weight) for row, weight in weighted if len(row) > 1]
    if not several:
        return {"rows": 0, "agreement": None, "alpha": None, "error": None}
    shares = [np.mean([a == b for a, b in combinations(row, 2)]) for row, _ in several]
    agreement = float(np.average(shares, weights=[weight for _, weight in several]))
    error = (1 - math.sqrt(max(0.0, 2 * agreement - 1))) / 2
    alpha = krippendorff_alpha(row for row, _ in several)
    return {"rows": len(several), "agreement": agreement, "alpha": alpha, "error": error}


def rater_of(values: Mapping[str, object]) -> str:
    """Return who rated a row; "" where no column says it."""
    return next((str(values[name]) for name in RATER_COLUMNS if values.get(name)), "")


def average_raters(items: Sequence[Item], raters: Sequence[str]) -> tuple[list[int], dict[str, float | int | None]]:
    """Return the first row of every answer, and how far raters agree, see `rater_agreement`.

    Rows of one answer and different raters are one answer: the first gets the mean of their human scores, in place.
    """
    rows_of: dict[object, list[int]] = defaultdict(list)
    times: Counter = Counter()
    for row, (item, rater) in enumerate(zip(items, raters, strict=True)):
        answer = key_of(item), tuple(item.references)
        times[answer, rater] += bool(rater)
        rows_of[(answer, times[answer, rater]) if rater else row].append(row)
    ratings: list[list[float]] = []
    for rows in rows_of.values():
        columns = zip(*(items[row].human for row in rows), strict=True)
        columns = [[value for value in column if value is not None] for column in columns]
        items[rows[0]].human = tuple(sum(column) / len(column) if column else None for column in columns)
        ratings.append(columns[0] or columns[1])
    of_labels = all(rating in (0, 1) for row in ratings for rating in row)
    agreement = rater_agreement(ratings, [1] * len(ratings))
    if not of_labels:
        agreement |= {"agreement": None, "error": None, "alpha": krippendorff_alpha(ratings)}
    return [rows[0] for rows in rows_of.values()], {"raters": len(set(raters) - {""}), **agreement}


def _scale_early_stop(odds: dict, items: Sequence[Item], plans: Mapping, notes: list[str]) -> None:
    """Scale the probabilities of systems with fewer labels than planned, in place.

    Labels come in random order, so a row was labelled with its probability times labelled / planned. Files without
    "planned" show it, too: 1 / probability sums to about the number of rows when all planned labels are there.
    """
    for system, by_key in plans.items():
        mine = [place for place, p in odds.items() if p is not None and items[place].system == system]
        if planned := max((number for number in by_key.values() if number is not None), default=0):
            share = len(by_key) / planned
        else:
            rows = sum(item.system == system for item in items)
            share = sum(1 / odds[place] for place in mine) / rows
            share = 1.0 if share >= COMPLETE else share
        if mine and share < 1:
            odds.update({place: odds[place] * share for place in mine})
            notes.append(
                f"{system}: labelling stopped early, at {share:.0%} of the planned labels; probabilities are "
                "scaled down, which makes intervals of these rows wider"
            )


def selection_notes(system: str, judged: np.ndarray, probability: np.ndarray, clusters: np.ndarray) -> list[str]:
    """Return notes where labels cannot be a random sample of the (rows,) rows; `probability` is NaN without a label.

    Labels that stand for the rows have about the judge's mean of all rows, and their 1 / probability sum to the number
    of rows.
    """
    known = ~np.isnan(probability)
    if known.sum() < MIN_CHECKED or known.all():
        return []
    odds = np.where(known, probability, 1.0)
    weights, rows, notes = known / odds, len(judged), []
    total = weights.sum()
    chance = np.sqrt(((1 - odds) * weights**2).sum())
    if abs(total - rows) > DIFFERENT_ROWS * chance + 0.01 * rows:
        notes.append(
            f"{system}: the labels stand for {total:,.0f} rows, the sum of 1 / probability, but there are {rows:,}; "
            "give the rows that they were drawn from, or the interval can miss the truth"
        )
    labelled, everywhere = (weights * judged).sum() / total, judged.mean()
    error = np.sqrt((cluster_sums(weights * np.sqrt(1 - odds) * (judged - labelled), clusters) ** 2).sum()) / total
    if abs(labelled - everywhere) > SELECTED * error + 0.01:
        notes.append(
            f"{system}: the labels look selected: the judge gives the labelled rows {labelled:.2f} in the mean, all "
            f"rows {everywhere:.2f}, more than chance explains; the interval can miss the truth. Keep all labels of "
            "the rows that genqa-metrics label draws"
        )
    return notes


@dataclass(frozen=True)
class Labelled:
    """Answers that people labelled, each once."""

    items: Sequence[Item]
    labels: np.ndarray  # (answers,) mean label, 0 to 1
    weights: np.ndarray  # (answers,) 1 / probability of being drawn, see `read_labels`, with mean 1
    number: int  # of labels; an answer may have several
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
    if label_sources:
        all_items, *_ = read_answers(sources, columns, skips)
        beside = read_labels(label_sources, all_items, [], columns, skips, notes)
        known = np.flatnonzero(~np.isnan(beside.mean))
        weights, number = 1 / beside.probability[known], int(beside.number.sum())
        items_of = [all_items[place] for place in known]
        return Labelled(items_of, beside.mean[known], weights / weights.mean(), number, len(all_items) - len(known))
    readers: dict = {}

    def convert(source: Source, row: Row) -> tuple[Item, float | None, float | None]:
        reader = readers.setdefault(source.name, RowReader(source, columns, lambda kind: "ava"))
        if reader.row_kind(row.values).sets:
            raise RowError("prediction: expected one answer, got a set; labels are of answers")
        result = reader.read(row)
        if len(result) > 1:
            raise RowError("prediction: expected the answer of one system; a label is of one answer")
        value = result[0].human[1]
        if value is not None and not 0 <= value <= 1:
            raise RowError(f"label: expected a number from 0 to 1, got {value:g}; scale it")
        return result[0], value, None if value is None else reader.sampling(row.values)[0]

    items: dict[str, Item] = {}
    labels: dict[str, list[float]] = {}
    odds: dict[str, float | None] = {}
    unlabelled: Counter = Counter()
    for _, _, (item, value, probability) in good_rows(sources, convert, skips):
        if value is None:
            unlabelled[item.system] += 1
            continue
        key = key_of(item)
        items.setdefault(key, item)
        labels.setdefault(key, []).append(value)
        odds[key] = probability
    if not items:
        names = ", ".join(source.name for source in sources)
        problem = f"{names}: no row has a label (0 or 1 in a column label); label some rows "
        raise FileError(problem, "with genqa-metrics label, or name the column with ", name_column("label"))
    drawn = all(probability is not None for probability in odds.values())
    if not drawn:
        systems = {key: item.system for key, item in items.items()}
        odds = _drawn_by_chance(systems, unlabelled + Counter(systems.values()))
        notes += [TAKEN_AS_DRAWN] * bool(unlabelled)
    weights = np.array([1 / odds[key] for key in items])
    means, number = np.array([np.mean(labels[key]) for key in items]), sum(map(len, labels.values()))
    return Labelled(list(items.values()), means, weights / weights.mean(), number, unlabelled.total())


def item_key(system: str, question: str | None, answer: str | Sequence[str]) -> str:
    """Return the key by which a row and its label are matched, also where the labels came through a spreadsheet."""
    answers = same_text(answer) if isinstance(answer, str) else list(map(same_text, answer))
    text = json.dumps([same_text(system), same_text(question or ""), answers], ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def key_of(item) -> str:
    """Return the key of a `rows.reading.Item`."""
    answer = item.predictions[0] if len(item.predictions) == 1 else item.predictions
    return item_key(item.system, item.text, answer)
