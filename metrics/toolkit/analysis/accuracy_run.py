"""Rows of systems, a judge, and labels of people where there are some -> the accuracy of each system as one object."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from ...core.answers import attempts
from ..rows.formats import FileError, Row
from ..rows.items import Item, RowError, RowReader
from ..rows.reading import Skips, good_rows, inputs_of
from ..scoring.confusion import CONFUSION, agreement, confusion_counts
from ..scoring.options import AccuracyOptions
from ..scoring.registry import make_scorer
from ..scoring.selection import checked_columns
from .estimation import (
    MIN_LABELS,
    Estimate,
    cluster_sums,
    difference,
    labels_needed,
    newcombe,
    paired_difference,
    prediction_powered,
)
from .inputs import digested_sources
from .judge_errors import METHODS, Measured, effective_sample_size, from_rate, measured_for, method_text, notes_of
from .labelling import item_key, key_of
from .slices import places_of, slice_notes, slice_of

POINTS = (0.01, 0.02, 0.05)
FEW_LABELS = 30
COMPLETE = 0.9  # 1 / probability of the labels sums to at least this share of the rows when labelling was finished
HELPFUL = 1.1  # gain in effective labels, below which a note says that the judge does not help
MAX_PAIRS_OF = 30  # systems, above which differences are left out


class AccuracyRun:
    """Reads rows and labels, judges the rows, and estimates the accuracy of every system.

    Args:
        rows: paths, a list of dicts, a DataFrame or a Dataset; see `files.sources_of`.
        *given, **options: see `AccuracyOptions`.

    Raises:
        ValueError: if an argument is bad. Nothing has been read yet.
    """

    def __init__(self, rows: Any, *given, **options):
        self.options = AccuracyOptions(*given, **options)
        self.columns = checked_columns(self.options.columns, ["judge"])
        self.settings, labels = dict(self.options.settings or {}), self.options.labels
        confidence, self.finite = self.options.confidence, self.options.finite_population
        self.judge_column = self.columns.pop("judge", None)
        if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 < confidence < 1:
            raise ValueError(f"confidence: expected a number between 0 and 1, got {confidence!r}; 0.95 is usual")
        if self.judge_column and self.settings:
            raise ValueError("settings: the judge is a column, which has no settings; drop one of the two")
        self.sources = digested_sources(rows)
        self._plans: list[tuple[float | None, float | None]] = []  # probability and plan of labels in the rows
        self.label_sources = None if labels is None else digested_sources(labels, "labels")

    def report(
        self,
        problem: Callable[[str], None] = lambda message: None,
        progress: Callable[[str, int, int], None] = lambda name, done, rows: None,
    ) -> dict[str, Any]:
        """Read, judge and estimate.

        Args:
            problem: called with each row that is left out.
            progress: called with what is judged, rows that are done, and all rows.

        Returns:
            "systems": {system: "rows", "questions", "labelled", "judged", "accuracy", "low", "high", "method",
            "declined", "wrong" (shares), "accuracy_given_attempted" ("value", "low", "high", or None), and with labels
            "effective_sample_size", "agreement", "kappa", "confusion", "needed" ...}, "differences" of every pair,
            "notes", "judge",
            "inputs", "settings", "worst" rows, and "slices": None, or "column" and "values", {slice: systems}.

        Raises:
            FileError: if a file cannot be read, a row is bad, or no label is of one of the rows.
        """
        from ... import __version__

        skips = Skips(self.options.skips, problem)
        items, given, slices = self._items(skips)
        inputs = inputs_of(self.sources, skips)
        notes: list[str] = []
        if self.finite and not self.label_sources and all(item.human[1] is None for item in items):
            raise FileError(
                "finite_population: needs labels; give some with labels, or in a column 'label' of the rows"
            )
        judged, verdicts, judge, measured = self._judge(items, given, progress, notes)
        labels = self._labels(items, skips, notes)
        systems: dict[str, dict] = {}
        estimates: dict[str, Any] = {}
        places = defaultdict(list)
        for place, item in enumerate(items):
            places[item.system].append(place)
        questions = {name: number for number, name in enumerate(dict.fromkeys(map(_question, items)))}
        asked = np.array([questions[_question(item)] for item in items])
        tried = np.array(
            [bool(verdict) or attempts(item.predictions[0]) for item, verdict in zip(items, verdicts, strict=True)]
        )
        rows = judged, verdicts, asked, labels, measured, len(questions)
        for system, mine in places.items():
            mine = np.array(mine)
            systems[system], estimates[system] = self._system(mine, *rows)
            systems[system] |= self._abstention(systems[system], mine, tried, rows)
        self._notes(systems, labels, measured, notes)
        sliced = self._slices(slices, places, tried, rows, notes) if self.options.by else None
        return {
            "genqa_metrics": __version__,
            "inputs": inputs,
            "labels": inputs_of(self.label_sources, skips) if self.label_sources else [] if labels else None,
            "judge": judge,
            "settings": {
                "confidence": self.options.confidence,
                "truth": "these rows" if self.finite else "questions like these",
                "columns": self.columns | ({"judge": self.judge_column} if self.judge_column else {}),
            },
            "measured": dict(measured.facts) if measured else None,
            "unlike": list(measured.unlike) if measured else [],
            "systems": systems,
            "differences": self._differences(systems, estimates, places, rows),
            "slices": sliced,
            "bad_rows": skips.skipped,
            "notes": notes,
            "worst": [_shown(items[place], judged[place], labels, place) for place in _worst(judged, labels)],
        }

    def judged(self, problem, progress, needed: bool) -> tuple[list[Item], np.ndarray | None]:
        """Return the items of all rows and, where that is needed, the judge's (items,) probabilities."""
        items, given, _ = self._items(Skips(self.options.skips, problem), needed)
        return items, self._judge(items, given, progress, [])[0] if needed else None

    def _items(self, skips: Skips, judged: bool = True) -> tuple[list[Item], list[float], list[str]]:
        """Return the answers, the judge's numbers from a column, and the slices that the answers belong to."""
        items, given, slices, readers = [], [], [], {}
        self._plans.clear()
        asked = {"question": "ava", "references": "ava"} if judged and self.judge_column is None else {}

        def convert(source, row: Row) -> list[tuple[Item, float, str, tuple]]:
            reader = readers.setdefault(source.name, RowReader(source, self.columns, lambda kind: asked))
            if reader.row_kind(row.values).sets:
                raise RowError("prediction: expected one answer, got a set; accuracy is of answers")
            value = self._given(row.values)
            name = slice_of(self.options.by, row.values) if self.options.by else ""
            plan = tuple(_optional_number(row.values, column) for column in ("probability", "planned"))
            return [(item, value, name, plan) for item in reader.read(row)]

        for _, _, converted in good_rows(self.sources, convert, skips):
            items += [item for item, *_ in converted]
            self._plans += [plan for *_, plan in converted]
            given += [value for _, value, *_ in converted]
            slices += [name for *_, name, _ in converted]
        if not items:
            names = ", ".join(source.name for source in self.sources)
            raise FileError(f"{names}: no rows with an answer; is this the right file?")
        return items, given, slices

    def _given(self, values: Mapping) -> float:
        if self.judge_column is None:
            return math.nan
        if self.judge_column not in values:
            raise RowError(f"no column {self.judge_column!r}, which is to have the judge's verdicts")
        return _share(self.judge_column, values[self.judge_column])

    def _judge(self, items, given, progress, notes) -> tuple[np.ndarray, np.ndarray, str, Measured | None]:
        if self.judge_column is not None:
            judged = np.array(given)
            return judged, (judged >= 0.5).astype(float), f"column:{self.judge_column}", None
        from ..scoring.pipeline import item_statistics

        scorer = make_scorer("ava", self.settings)
        sums, counts = item_statistics(items, {"ava": scorer}, progress)
        verdicts, judged = sums["ava"][:, 0], sums["ava"][:, 1]
        notes += scorer.warnings({"all": sums["ava"].sum(axis=0)[:-1]}, counts["ava"])
        measured = measured_for(scorer)
        return judged, verdicts, scorer.signature, measured and measured.on(counts["ava"])

    def _labels(self, items: Sequence[Item], skips: Skips, notes: list[str]) -> dict[str, np.ndarray] | None:
        """Return (items,) mean labels and probabilities, NaN where there are none, and numbers of labels.

        The labels are those of files, and without such files those in the rows; None where there are none.
        """
        labels_of: dict[int, list[float]] = defaultdict(list)
        odds: dict[int, float | None] = {}
        plans: dict[str, dict[str, float | None]] = defaultdict(dict)
        if self.label_sources:
            self._read_labels(items, skips, notes, (labels_of, odds, plans))
        else:
            self._own_labels(items, notes, (labels_of, odds, plans))
        if not labels_of:
            return None
        drawn = [place for place, probability in odds.items() if probability is not None]
        if drawn and len(drawn) < len(odds):
            notes.append(f"{len(odds) - len(drawn):,} labels have no probability of being drawn; they were left out")
        elif not drawn:
            if len(odds) < len(items):
                notes.append(
                    "the labels have no column 'probability': they are taken to be drawn by chance from all rows of a "
                    "system; if they were chosen otherwise, the interval can miss the truth"
                )
            systems = Counter(item.system for item in items)
            labelled = Counter(items[place].system for place in odds)
            odds = {place: labelled[items[place].system] / systems[items[place].system] for place in odds}
            drawn = list(odds)
        else:
            self._scale_early_stop(odds, items, plans, notes)
        mean, share, number = np.full(len(items), np.nan), np.full(len(items), np.nan), np.zeros(len(items))
        for place in drawn:
            mean[place], share[place], number[place] = np.mean(labels_of[place]), odds[place], len(labels_of[place])
        return {"mean": mean, "probability": share, "number": number}

    def _own_labels(self, items: Sequence[Item], notes: list[str], found: tuple[dict, dict, dict]) -> None:
        """Add the labels that stand in the rows."""
        labels_of, odds, plans = found
        given = {place: item.human[1] for place, item in enumerate(items) if item.human[1] is not None}
        if not all(0 <= label <= 1 for label in given.values()):
            notes.append(
                "the column label has values outside 0 to 1, which are no labels of people; they were not used"
            )
            return
        if not given:
            return
        notes.append(f"{len(given):,} of {len(items):,} rows have a label in the file, which were used")
        for place, label in given.items():
            labels_of[place].append(label)
            odds[place], plans[items[place].system][str(place)] = self._plans[place]

    def _read_labels(
        self, items: Sequence[Item], skips: Skips, notes: list[str], collected: tuple[dict, dict, dict]
    ) -> None:
        """Add the labels of files, matched by question, prediction and system, or by id."""
        labels_of, odds, plans = collected
        place_of: dict[str, list[int]] = defaultdict(list)
        by_id: dict[str, list[int]] = defaultdict(list)
        for place, item in enumerate(items):
            place_of[key_of(item)].append(place)
            place_of[item_key("", item.text, item.predictions[0])].append(place)
            if item.id is not None:
                by_id[item.id].append(place)
        readers: dict = {}
        label_skips = Skips(skips.skip, skips.problem)
        lost = 0

        def with_id(ident: object, system: object) -> list[int]:
            places = by_id.get(str(ident), [])
            if system is not None:
                return [place for place in places if items[place].system == str(system)]
            systems = {items[place].system: None for place in places}
            if len(systems) > 1:
                raise RowError(
                    f"id: {str(ident)!r:.40} is that of answers of {len(systems)} systems, such as "
                    f"{', '.join(list(systems)[:2])}; add a column 'system'"
                )
            return places

        def convert(source, row: Row) -> tuple[list[int], float, float | None]:
            if source.name not in readers:  # columns of other names, where the labels have them too
                own = {name: column for name, column in self.columns.items() if column.split(".")[0] in row.values}
                readers[source.name] = RowReader(source, own)
            reader = readers[source.name]
            texts = {name: reader.optional(row.values, name) for name in ("question", "prediction", "system")}
            given = (reader.optional(row.values, name) for name in ("label", "score"))
            value = next((label for label in given if label is not None), None)
            ident = reader.optional(row.values, "id")
            if value is None or (texts["prediction"] is None and ident is None):
                raise RowError(
                    "expected a label: label 0 or 1 (or score from 0 to 1), and id, or question and prediction"
                )
            if texts["prediction"] is None:
                places, key = with_id(ident, texts["system"]), str(ident)
            else:
                key = item_key(str(texts["system"] or ""), texts["question"], texts["prediction"])
                places = place_of.get(key, [])
            probability = _optional_number(row.values, "probability")
            if probability is not None and not 0 < probability <= 1:
                raise RowError(f"probability: expected a number above 0, at most 1, got {probability:g}")
            planned = _optional_number(row.values, "planned")
            if planned is not None and not planned >= 1:
                raise RowError(f"planned: expected a number of rows, at least 1, got {planned:g}")
            if places:
                plans[items[places[0]].system][key] = planned
            return places, _share("label", value), probability

        for _, _, (found, value, probability) in good_rows(self.label_sources, convert, label_skips):
            lost += not found
            for place in found:
                labels_of[place].append(value)
                odds[place] = probability
        skips.counts["skipped"] += label_skips.skipped
        skips.good.update(label_skips.good)
        names = ", ".join(source.name for source in self.label_sources)
        if not labels_of:
            raise FileError(
                f"{names}: none of the {label_skips.counts['good']:,} labels is of one of the rows; id, or question "
                "and prediction, and system must be those of the rows"
            )
        if lost:
            notes.append(f"{lost:,} labels are of answers that are not among the rows; they were left out")

    @staticmethod
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

    def _slices(self, slices, places: Mapping, tried: np.ndarray, rows: tuple, notes: list[str]) -> dict[str, Any]:
        """Return the accuracy of every system on the rows of every slice."""
        column = self.options.by
        values: dict[str, dict] = {}
        by_slice = places_of(column, slices)
        notes += slice_notes(column, {name: len(mine) for name, mine in by_slice.items()}, "answers")
        for name, of_slice in by_slice.items():
            values[name] = {}
            for system, mine in places.items():
                mine = np.intersect1d(mine, of_slice)
                if len(mine):
                    values[name][system] = self._system(mine, *rows)[0]
                    values[name][system] |= self._abstention(values[name][system], mine, tried, rows)
        few = [name for name, of in values.items() if any(found["labelled"] < MIN_LABELS for found in of.values())]
        if few and self.label_sources:
            notes.append(
                f"by {column}: fewer than {MIN_LABELS} labels in {', '.join(few)}: intervals of the judge alone"
            )
        return {"column": column, "values": values}

    def _abstention(self, found: Mapping, mine: np.ndarray, tried: np.ndarray, rows: tuple) -> dict[str, Any]:
        """Return the shares of answers that decline and that are wrong, and the accuracy of those that do not decline.

        Args:
            found: what was estimated of all answers of a system.
            mine: their places.
            tried: (items,) whether an answer is correct or an attempt.
            rows: what `_system` takes beside places.
        """
        attempted = mine[tried[mine]]
        declined = 1 - len(attempted) / len(mine)
        given = None
        if len(attempted):
            ends = found if not declined else self._system(attempted, *rows)[0]
            given = {"value": ends["accuracy"], "low": ends["low"], "high": ends["high"]}
        wrong = max(0.0, 1 - declined - found["accuracy"])
        return {"declined": declined, "wrong": wrong, "accuracy_given_attempted": given}

    def _system(self, mine, judged, verdicts, asked, labels, measured, questions) -> tuple[dict, Any]:
        judged, verdicts, asked = judged[mine], verdicts[mine], asked[mine]
        clusters = np.unique(asked, return_inverse=True)[1]
        found: dict[str, Any] = {
            "rows": len(mine),
            "questions": int(clusters.max()) + 1,
            "judged": float(verdicts.mean()),
        }
        if self.judge_column is None:
            found["ava_accuracy"] = found["judged"]  # the name of the same share in `score` and `compare`
        human = labels["mean"][mine] if labels else np.full(len(mine), np.nan)
        known = ~np.isnan(human)
        found["labelled"], found["labels"] = int(known.sum()), int(labels["number"][mine].sum()) if labels else 0
        if known.sum() >= 2:
            odds = np.where(known, labels["probability"][mine], 1)
            options = {"clusters": clusters, "finite": self.finite, "confidence": self.options.confidence}
            result = prediction_powered(judged, human, odds, **options)
            alone = prediction_powered(judged, human, odds, **options, trusted=False)
            found |= _limits(result.value, result.low, result.high)
            number = int(known.sum())
            weights = (known / odds)[known]
            cases = confusion_counts(verdicts[known], human[known])
            needed = {
                f"{points:g}": labels_needed(result, number, len(mine), points, self.finite, self.options.confidence)
                for points in POINTS
            }
            found |= {
                "method": METHODS["labels"],
                "effective_sample_size": float(
                    min(result.effective_sample_size, len(mine) if not self.finite else np.inf)
                ),
                "labels_alone": {"low": float(alone.low), "high": float(alone.high)},
                "gain": float(alone.error**2 / max(result.error**2, 1e-12)) if alone.error > 0 else 1.0,
                **agreement((weights[:, None] * cases).sum(axis=0)),
                "confusion": dict(zip(CONFUSION, cases.sum(axis=0).astype(int).tolist(), strict=True)),
                "needed": needed,
            }
            whole = np.zeros(questions)
            whole[np.unique(asked)] = result.influence
            return found, replace(result, influence=whole)
        rate, size = found["judged"], effective_sample_size(cluster_sums(verdicts, clusters), np.bincount(clusters))
        alone = from_rate(rate, size, None if self.options.ignore_judge_errors else measured, self.options.confidence)
        return found | alone | {"method": method_text(str(alone["method"]), measured)}, None

    def _notes(self, systems: Mapping[str, Mapping], labels: Mapping | None, measured, notes: list[str]) -> None:
        for system, found in systems.items():
            if labels and not found["labelled"] >= 2:
                notes.append(f"{system}: no labels, or only one; its interval is that of the judge")
            if "gain" not in found:
                continue
            if found["labelled"] < FEW_LABELS:
                notes.append(f"{system}: {found['labelled']} labelled rows; below {FEW_LABELS} an interval is rough")
            if found["gain"] < HELPFUL and found["labelled"] < found["rows"]:
                notes.append(
                    f"{system}: judge and people agree on {found['agreement']:.0%} of the labelled rows, too few for "
                    "the judge to make the interval narrower; label more, or take another judge"
                )
        methods = {found["method"] for found in systems.values()}
        named = {name for name in METHODS if method_text(name, measured) in methods}
        notes += notes_of(named, measured, self.options.ignore_judge_errors or self.judge_column is not None)

    def _differences(self, systems, estimates, places, rows: tuple) -> list[dict]:
        if len(systems) > MAX_PAIRS_OF:
            return []
        found, asked = [], rows[2]
        for first, second in combinations(systems, 2):
            one, other = estimates[first], estimates[second]
            shared = len(np.intersect1d(asked[places[first]], asked[places[second]]))
            if isinstance(one, Estimate) and isinstance(other, Estimate):
                value, low, high = self._paired(places[first], places[second], rows) or difference(one, other)
            else:
                ends = ([systems[name][end] for end in ("accuracy", "low", "high")] for name in (first, second))
                value, low, high = newcombe(*ends)
            found.append(
                {
                    "first": first,
                    "second": second,
                    "shared_questions": shared,
                    "difference": {"value": float(value), "low": float(low), "high": float(high)},
                }
            )
        return found

    def _paired(self, first: Sequence[int], second: Sequence[int], rows: tuple) -> tuple | None:
        """Return the difference of two systems with labels for the same questions, drawn alike; None for others."""
        judged, _, asked, labels, *_ = rows
        pair = [np.array(places)[np.argsort(asked[places], kind="stable")] for places in (first, second)]
        one, other = (asked[mine] for mine in pair)
        if len(np.unique(one)) < len(one) or not np.array_equal(one, other):
            return None
        human, odds = (np.stack([labels[name][mine] for mine in pair]) for name in ("mean", "probability"))
        if not np.array_equal(*np.isnan(human)) or not np.allclose(*odds, equal_nan=True):
            return None
        judges = np.stack([judged[mine] for mine in pair])
        return paired_difference(judges, human, odds[0], self.finite, self.options.confidence)


def _limits(value, low, high) -> dict[str, float]:
    return {"accuracy": float(value), "low": float(low), "high": float(high)}


def _question(item: Item) -> str:
    return item.text if item.text else (item.id or f"{item.file}:{item.line}")


def _optional_number(values: Mapping, name: str) -> float | None:
    value = values.get(name)
    try:
        return None if value in (None, "") else float(value)
    except (TypeError, ValueError):
        raise RowError(f"{name}: expected a number, got {value!r:.40}; label with genqa-metrics label") from None


def _share(name: str, value: object) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not 0 <= number <= 1:
        raise RowError(f"{name}: expected a number from 0 to 1, got {value!r:.40}; scale it, or name another column")
    return number


def _worst(judged: np.ndarray, labels: Mapping | None, number: int = 10) -> list[int]:
    """Return the rows most likely to be wrong: by their labels, and without one by the judge."""
    value = judged if labels is None else np.where(np.isnan(labels["mean"]), judged, labels["mean"] * 1.001 - 0.001)
    return np.argsort(value, kind="stable")[:number].tolist()


def _shown(item: Item, judged: float, labels: Mapping | None, place: int) -> dict[str, Any]:
    label = None if labels is None or np.isnan(labels["mean"][place]) else float(labels["mean"][place])
    return {
        "system": item.system,
        "place": f"{item.file}:{item.line}",
        "question": item.text,
        "references": item.references,
        "prediction": item.predictions[0],
        "judged": float(judged),
        "label": label,
    }
