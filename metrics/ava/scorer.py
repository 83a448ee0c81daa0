"""The scorer of AVA: settings, statistics per row, scores, warnings, signature."""

import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from ..core.answers import attempted
from ..core.checkpoints import CAUSAL_MODEL, ENCODERS
from ..core.inference import check_fork
from ..core.judge_model import AGGREGATIONS, LINEAR, PROMPT, LoadedJudge, read_measured
from ..core.reading import language_counts, language_warnings
from ..core.scorer import (
    AT_LEAST_1,
    PROBABILITY,
    SWITCH,
    UNSURE_FROM,
    UNSURE_TO,
    ExplainedRow,
    RowStatistics,
    Scorer,
    check_setting,
    is_number,
)
from .calibration import AGAIN, CALIBRATION_FILE, answer_key, log_odds, read_calibration
from .differences import FAULTS, LONG, brief, differences, doubts, faults_of
from .explaining import NO_REASON, explanations, marks, reason_by_rule
from .judging import READING_VERSION, Judge, Rules, default_rules
from .loading import load_judge

RIGHT_ON_LONG = {"small": "64%", "base": "79%", "large": "88%"}  # of 160 long answers of assistants, see README.md


class AvaScorer(Scorer):
    """AVA of Vu & Moschitti (2021): the statistics of a row are its verdict, its probability, and whether it declines.

    An answer is correct, declined (it gives no answer, and the reference does) or wrong, as in SimpleQA's grading.
    """

    name = "ava"
    explains_answers = True
    word_effects = True  # whether explanations have the effect of each word, which costs a pass for each
    legend = (
        "A number after a word is how much the probability falls (+) or rises (-) without this word. It does not say "
        "whether the word is true."
    )
    colours_of_marks = "Blue counts for the answer, orange against it."
    title = "AVA"
    verdict = "ava_label"
    graded = "ava_score"
    main = "ava_accuracy"
    names = ("ava_accuracy", "ava_score", "ava_declined", "ava_wrong", "ava_accuracy_given_attempted")
    row_names = ("ava_label", "ava_score", "ava_declined")
    significance_scores = ("ava_accuracy", "ava_score")
    meta_evaluated = ("ava_score",)
    shown = ("ava_wrong", "ava_declined", "ava_accuracy_given_attempted")
    needs_question = True
    presets: ClassVar = {"paper": {"rules": False, "reference_aggregation": "mean"}}  # the model alone, section 4
    optional = ("short_answers",)
    checks: ClassVar = {
        "batch_tokens": AT_LEAST_1,
        "threshold": PROBABILITY,
        "reference_aggregation": (lambda how: how in (None, *AGGREGATIONS), f"one of {', '.join(AGGREGATIONS)}"),
        "rules": SWITCH,
        "quantity_guard": SWITCH,
        "calibration": (lambda file: file is not True, "a file, or False for none"),
    }
    recalls = True
    faults = FAULTS
    faults_of, doubts = staticmethod(faults_of), staticmethod(doubts)
    device = "cpu"  # until the model is loaded

    def load(
        self,
        checkpoint: str | os.PathLike | None = None,
        revision: str | None = None,
        device: str | None = None,
        dtype: object = None,
        batch_tokens: int = 4096,
        backend: str | None = None,
        base_model: str | os.PathLike | None = None,
        escalate: str | os.PathLike | None = None,
        limit_seconds: float | None = None,
    ) -> None:
        """Load the judge; see `loading.load_judge`, and `inference.budget_on` for `batch_tokens`.

        `escalate` names the checkpoint of a second judge, such as "base". It reads the rows of which the first is
        unsure: their probability lies between `UNSURE_FROM` and `UNSURE_TO`. With
        `limit_seconds` it reads all rows, those first of which the first judge is least sure, until the time is over.
        """
        if limit_seconds is not None:
            if escalate is None:
                raise ValueError("limit_seconds: only with a second judge; name it with escalate, such as 'large'")
            check_setting("limit_seconds", is_number(limit_seconds, 1), "seconds, 1 or more", limit_seconds)
        self.limit_seconds, self._end = limit_seconds, None
        self.batch_tokens = batch_tokens
        self._process = os.getpid()
        self.loaded = load_judge(checkpoint, revision, device, dtype, backend, base_model, ready=False)
        self.measured = read_measured(self.loaded.folder)
        self._size = f"{_shown(checkpoint or 'small')}{f', {_shown(escalate)} where unsure' if escalate else ''}"
        size, name = ENCODERS[CAUSAL_MODEL].megabytes, str(checkpoint or "small")
        if name in ("small", "base") and escalate is None:
            right = f"right on {RIGHT_ON_LONG['large']} of long answers, {name} on {RIGHT_ON_LONG[name]}"
            costs = f"{size / 1000:.1f} GB once, two seconds or more for a long answer"
            self.stronger = f"ava.checkpoint=large ({costs}; {right})"
            right = RIGHT_ON_LONG[name]
            self.on_long = f"of long answers this judge gets {right} right (in a test)"
        self.second = None if escalate is None else load_judge(escalate, None, device, dtype, ready=False)

    def ready(self) -> Self:
        """Load the models; see `Scorer.ready`."""
        self.device = self.loaded.device
        if self.second is not None:
            self.second.ready()
        return self

    def configure(
        self,
        threshold: float | None = None,
        reference_aggregation: str | None = None,
        rules: bool = True,
        quantity_guard: bool = True,
        calibration: str | os.PathLike | bool | None = None,
    ) -> None:
        """Take settings of `compute`; None is the checkpoint's own value."""
        beside = self.loaded.folder / CALIBRATION_FILE
        file = beside if calibration is None and beside.is_file() else calibration
        calibrated = self.calibration = read_calibration(file) if file else None
        self.title = f"AVA ({self._size})"
        if calibrated:  # scores are on the new scale, and so is the threshold
            name, labels = Path(file).name, calibrated.content.get("labels")
            unscaled = calibrated.unscaled(calibrated.threshold)
            moved = f"{name}; right from {calibrated.threshold:.2f}, on its old scale {unscaled:.2f}"
            self.title = f"AVA ({self._size}, calibrated on {labels} labels of yours: {moved})"
        default = self.loaded.threshold if calibrated is None else calibrated.threshold
        self.threshold = default if threshold is None else float(threshold)
        self.thresholds = {"ava_score": self.threshold}
        default = self.loaded.reference_aggregation if calibrated is None else calibrated.judge.get("references")
        self.aggregation = reference_aggregation or default
        self.facts = {**self.loaded.facts, "threshold": f"{self.threshold:.12g}", "references": self.aggregation}
        if self.second is not None:
            band = f"{UNSURE_FROM:g}-{UNSURE_TO:g}"
            self.facts |= {"escalate": f"{self.second.facts['checkpoint']}@{band}"}
            self.facts |= {} if self.limit_seconds is None else {"limit_seconds": f"{self.limit_seconds:g}"}
        self.facts |= {"reading": str(READING_VERSION)}
        self.rules = default_rules(self.loaded, quantity_guard) if rules else Rules(())
        self.facts |= {"rules": str(self.rules)}
        if calibrated is not None:
            for name in sorted(calibrated.judge.keys() | self.judge.keys()):
                if calibrated.judge.get(name) != self.judge.get(name):
                    raise ValueError(
                        f"calibration: {file} is of a judge with {name} {calibrated.judge.get(name)}, this one has "
                        f"{self.judge.get(name)}; {AGAIN}, or leave it out"
                    )
            self.facts |= {"calibration": calibrated.digest}

    @property
    def judge(self) -> dict[str, str]:
        """The parts of the signature that a calibration depends on."""
        names = ("checkpoint", "references", "backend", "escalate", "reading", "rules")
        return {name: str(self.facts[name]) for name in names if name in self.facts}

    def _scaled(self, probabilities: np.ndarray) -> np.ndarray:
        return probabilities if self.calibration is None else self.calibration.scaled(probabilities)

    def _judge(self, loaded: LoadedJudge) -> Judge:
        return Judge(loaded, self.batch_tokens, self.rules)

    def probabilities(self, *columns: Sequence) -> np.ndarray:
        """Return the first judge's (n,) probabilities of questions, references and answers; see `Judge`."""
        return self._scaled(self._judge(self.loaded).probabilities(*columns, self.aggregation))

    def _by_second(self, *columns: Sequence) -> np.ndarray:
        """Return (rows,) probabilities of the second judge, shifted so that its threshold equals the first judge's."""
        first, second = log_odds(self.loaded.threshold, 1e-9), log_odds(self.second.threshold, 1e-9)
        odds = log_odds(self._judge(self.second).probabilities(*columns), 1e-9)
        return 1 / (1 + np.exp(second - first - odds))

    def _read_again(self, rows: Sequence[Sequence], scores: np.ndarray) -> np.ndarray:
        """Return indices of the rows that the second judge reads; overwrite their `scores` with its probabilities."""
        if self.second is None:
            return np.zeros(0, dtype=int)
        if self.limit_seconds is None:
            unsure = np.flatnonzero((scores > UNSURE_FROM) & (scores < UNSURE_TO))
            if len(unsure):
                scores[unsure] = self._by_second(*_taken(rows, unsure))
            return unsure
        distance = np.abs(log_odds(scores, 1e-9) - log_odds(self.loaded.threshold, 1e-9))
        order, done = np.argsort(distance, kind="stable"), 0
        self.second.ready()  # what loading takes is not counted
        self._end = self._end or time.monotonic() + self.limit_seconds
        while done < len(order) and time.monotonic() < self._end:
            batch = order[done : done + LIMITED_BATCH]
            scores[batch] = self._by_second(*_taken(rows, batch))
            done += len(batch)
        return np.sort(order[:done])

    def statistics(self, columns: Mapping[str, list], explain: bool = False) -> RowStatistics:
        """Return verdict, probability and abstention of rows, with explanations, and counts for `warnings`."""
        check_fork(self.device, self._process)
        short, linear = columns.get("short_answers"), self.loaded.configuration == LINEAR
        if explain and linear and any(short or ()):
            raise ValueError("explain: not available with short_answers; leave one of the two out")
        rows = columns["questions"], columns["references"], columns["predictions"]
        judge = self._judge(self.loaded)
        scores = judge.probabilities(*rows, self.aggregation, short)
        unsure = self._read_again(rows, scores)
        scores = self._scaled(scores)
        correct = scores >= self.threshold
        declined = np.zeros(len(correct))
        declined[~correct] = ~np.array(attempted(compress(rows[2], ~correct)), dtype=bool)
        statistics = np.stack([correct, scores, declined], axis=1).astype(float)
        again, is_limited = set(unsure.tolist()), self.limit_seconds is not None
        row_counts = [
            {
                "truncated": int(i in judge.cut_rows),
                "escalated": int(i in again),
                "left_to_first": int(is_limited and i not in again),
                "unread": int(bool(short and short[i]) and not linear),
            }
            for i in range(len(scores))
        ]
        return RowStatistics(statistics, self._explained(rows, unsure) if explain else {}, row_counts)

    def counts(self, columns: Mapping[str, list], statistics: np.ndarray) -> Counter:
        """Return how many rows there are, and are in other languages; see `Scorer.counts`."""
        return language_counts(columns)

    def profile(self, columns: Mapping[str, list], statistics: np.ndarray) -> Counter:
        """Return the counts of `profile`, and "calibrated", the number of rows that the judge was calibrated on."""
        probabilities = np.asarray(statistics)[:, self.row_names.index("ava_score")]
        if self.calibration is not None:
            probabilities = np.array([self.calibration.unscaled(score) for score in probabilities.tolist()])
        result = profile(columns["references"], columns["predictions"], probabilities)
        if self.calibration is not None:
            keys = map(answer_key, columns["questions"], columns["predictions"])
            result["calibrated"] = sum(key in self.calibration.answer_keys for key in keys)
        return result

    def differences(self, columns: Mapping[str, list]) -> list[str]:
        """Return how wrong answers differ from the accepted ones; see `Scorer.differences`.

        A loaded judge of prompts is also asked about parts, but of answers of up to `LONG` words: it would take long.
        """
        ways = (self.probabilities, self.loaded), (self._by_second_scaled, self.second)
        loaded = [way for way, judge in ways if judge and judge.configuration == PROMPT and judge.is_loaded] or [None]
        rows = columns["questions"], columns["references"], columns["predictions"]
        return list(map(brief, differences(*rows, loaded[0], LONG)))

    def _by_second_scaled(self, *columns: Sequence) -> np.ndarray:
        return self._scaled(self._by_second(*columns))

    def _explained(self, rows: tuple, unsure: np.ndarray) -> dict[str, list]:
        ways = (
            (self._by_second_scaled, self.second, unsure),
            (self.probabilities, self.loaded, np.setdiff1d(np.arange(len(rows[0])), unsure)),
        )
        result: list = [None] * len(rows[0])
        for probabilities, loaded, numbers in ways:
            if not len(numbers):  # the model need not run, and a second judge may be missing
                continue
            read = _taken(rows, numbers)
            ruled = [reason_by_rule(self.rules, *row) for row in zip(*read, strict=True)]
            by_parts = loaded.configuration == PROMPT
            explained = explanations(*read, probabilities, self.threshold, ruled, by_parts, self.word_effects)
            for i, item in zip(numbers, explained, strict=True):
                result[i] = item
        return {"explanation": result}

    def explained(
        self, columns: Mapping[str, list], corpus: Sequence[str] = ()
    ) -> tuple[list[ExplainedRow], RowStatistics]:
        """Return rows with marks, and which of several references decided; see `Scorer.explained`."""
        rows, result = super().explained(columns)
        explanations = result.details["explanation"]
        for i, (row, explanation) in enumerate(zip(rows, explanations, strict=True)):
            is_open = len(row.references) > 1 and not explanation["differences"]
            decided = [("Compared with", row.references[explanation["reference"]])] * is_open
            rows[i] = row._replace(marks=marks(row.prediction, explanation), evidence=decided)
        if self.loaded.configuration != PROMPT and self.second is None:
            for counts, explanation in zip(result.counts, explanations, strict=True):
                reason = explanation["reason"].removeprefix("Unsure: ").lower()
                counts["no_reason"] = int(reason.startswith(NO_REASON))
        return rows, result

    def resampled_scores(self, totals: np.ndarray, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Return the scores of many corpora; accuracy given an attempt is 0 without one, as in SimpleQA's grading."""
        totals, rows = np.asarray(totals), np.asarray(rows)
        correct, probability, declined = np.moveaxis(totals, -1, 0)
        every = np.maximum(rows, 1)
        shares = correct / every, probability / every, declined / every, (rows - correct - declined) / every
        return dict(zip(self.names, (*shares, correct / np.maximum(rows - declined, 1)), strict=True))

    def warnings(self, totals: Mapping[str, np.ndarray], counts: Mapping[str, int]) -> list[str]:
        """Return warnings: rows that are not English, truncated, or escalated, and inputs that were not read."""
        configuration, longest = self.loaded.configuration, self.loaded.max_length
        sentences = {
            "truncated": "{} answers are longer than the model reads together with question and reference "
            f"({longest} word pieces); what is behind its limit was left out",
            "unread": "short_answers: {} given, but only the linear judge reads them; this one "
            f"({configuration}) judged without them",
            "escalated": "{:,} rows of which the judge is unsure were read by the second one",
            "no_reason": "answers shown here that are judged wrong without a reason in words: {:,}; "
            "--set ava.checkpoint=large gives one more often",
            "left_to_first": "{:,} rows have the first judge's verdict: the time was over; the same command reads on",
        }
        reads, measured = "small reads English only, base and large German and Arabic too", ()
        if configuration == PROMPT:
            reads, measured = "the model was measured in English, German and Arabic only", ("de", "ar")
        texts = [sentence.format(counts[name]) for name, sentence in sentences.items() if counts.get(name)]
        return [*language_warnings(counts, reads, measured), *texts]


def _shown(checkpoint: str | os.PathLike) -> str:
    """Return the name of a checkpoint without its folders."""
    return Path(str(checkpoint)).name


def _taken(rows: Sequence[Sequence], numbers: Sequence[int]) -> list[list]:
    return [[column[i] for i in numbers] for column in rows]


LIMITED_BATCH = 8  # rows that are read between two looks at the clock
LONGEST = 10  # lengths from 2^9 words on are one class
LENGTHS = ("answer_words", "reference_words")


def length_class(words: int) -> int:
    """Return the class of a length: 0, 1, 2-3, 4-7, 8-15 words and so on.

    >>> [length_class(words) for words in (0, 1, 3, 8, 5000)]
    [0, 1, 2, 4, 10]
    """
    return min(words.bit_length(), LONGEST)


def profile(references: Sequence[Sequence[str]], predictions: Sequence[str], probabilities: np.ndarray) -> Counter:
    """Return counts of rows: "profiled", "unsure", "answer_words:CLASS" and, of the shortest, "reference_words:CLASS".

    >>> sorted(profile([["Paris", "in Paris"]], ["I think it is Paris"], np.array([0.5])).items())
    [('answer_words:3', 1), ('profiled', 1), ('reference_words:1', 1), ('unsure', 1)]
    """
    result = Counter(profiled=len(predictions))
    result["unsure"] = int(((probabilities > UNSURE_FROM) & (probabilities < UNSURE_TO)).sum())
    result.update(f"answer_words:{length_class(len(text.split()))}" for text in predictions)
    result.update(f"reference_words:{length_class(min(len(text.split()) for text in texts))}" for texts in references)
    return result
