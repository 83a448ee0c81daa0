"""A judge's calibration on a user's own labels: a JSON file, checked when it is loaded.

`genqa-metrics calibrate` writes a calibration: a scale, a threshold and errors for one judge. It names that judge and
its own digest, so that it is not used for another judge, and a file that was changed by hand is refused.
"""

import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..core.checkpoints import CheckpointError, read_json
from ..core.judge_model import MOST_ANSWERS, check_measured, limits_of_counts
from ..core.reading import text_key
from ..core.scorer import is_number

CALIBRATION_FILE = "calibration.json"  # the name by which it is found beside a checkpoint
AGAIN = "write it again with genqa-metrics calibrate"


def log_odds(probabilities: np.ndarray | float, least: float = 1e-6) -> np.ndarray:
    """Return the log-odds of probabilities, none of them infinite.

    >>> log_odds(np.array([0.5])).tolist()
    [0.0]
    """
    within = np.clip(np.asarray(probabilities, dtype=float), least, 1 - least)
    return np.log(within / (1 - within))


def scaled(probabilities: np.ndarray, slope: float, intercept: float) -> np.ndarray:
    """Return probabilities with scaled log-odds; 0, of an answer without any word, stays 0.

    >>> scaled(np.array([0.0, 0.5]), 1.0, 0.0).tolist()
    [0.0, 0.5]
    """
    odds = np.clip(slope * log_odds(probabilities) + intercept, -60, 60)
    return np.where(np.asarray(probabilities) > 0, 1 / (1 + np.exp(-odds)), 0.0)


def content_digest(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the content of a calibration file, its entry "digest" left out."""
    others = {name: content[name] for name in content if name != "digest"}
    return hashlib.sha256(json.dumps(others, sort_keys=True).encode()).hexdigest()


def answer_key(question: str, answer: str) -> int:
    """Return a number for an answer to a question: the same for equal texts; case and white space do not matter."""
    normal = "\n".join(text_key(text) for text in (question, answer))
    return int.from_bytes(hashlib.blake2b(normal.encode("utf-8", "surrogatepass"), digest_size=7).digest())


@dataclass(frozen=True)
class Calibration:
    """Scale, threshold and error counts of a judge, as `calibrate` found them."""

    slope: float  # of the log-odds of the judge's probability of a row
    intercept: float
    threshold: float  # scaled probability from which an answer counts as correct
    judge: Mapping[str, str]  # the parts of the judge's signature that it holds for
    content: Mapping[str, Any]  # all that the file says

    @cached_property
    def answer_keys(self) -> frozenset[int]:
        """The `answer_key`s of the answers that it is from."""
        return frozenset(self.content.get("answer_keys", ()))

    @property
    def digest(self) -> str:
        """The start of the digest, for signatures."""
        return content_digest(self.content)[:12]

    def scaled(self, probabilities: np.ndarray) -> np.ndarray:
        """Return the judge's probabilities on the scale of the labels."""
        return scaled(probabilities, self.slope, self.intercept)

    def unscaled(self, probability: float) -> float:
        """Return the judge's probability before scaling, from a scaled one.

        >>> round(Calibration(2.0, -1.0, 0.5, {}, {}).unscaled(0.5), 3)
        0.622
        """
        odds = (float(log_odds(np.array(probability))) - self.intercept) / self.slope
        return 1 / (1 + math.exp(-min(60.0, max(-60.0, odds))))


def read_calibration(path: str | os.PathLike) -> Calibration:
    """Return the calibration in a file; a ValueError names file and fix if it is missing, bad, or was changed."""
    path = Path(path)
    if not path.exists():
        raise ValueError(f"calibration: {path} does not exist; genqa-metrics calibrate writes one")
    try:
        content = read_json(path)
        numbers = [content[name] for name in ("slope", "intercept", "threshold")]
        judge = {str(name): str(fact) for name, fact in content["judge"].items()}
        for number in numbers:
            if not is_number(number, -1e4, 1e4):
                raise ValueError(f"expected slope, intercept and threshold as numbers, got {number!r:.40}")
        if not numbers[0] > 0 or not 0 <= numbers[2] <= 1:
            raise ValueError("expected a slope above 0 and a threshold from 0 to 1")
        if content["digest"] != content_digest(content):
            raise ValueError("it was edited after it was written (another digest)")
        errors = limits_of_counts(content["errors"], least=1e-6)  # effective numbers, which can be small
        check_measured(content, 0, [("labels", content["labels"], 1, MOST_ANSWERS), *errors])
    except (CheckpointError, ValueError, KeyError, AttributeError, TypeError) as error:
        reason = error.__cause__ if isinstance(error, CheckpointError) and error.__cause__ else error
        kind = f"{type(reason).__name__}: " if not isinstance(reason, ValueError) else ""
        raise ValueError(f"calibration: {path} cannot be used: {kind}{reason}; {AGAIN}") from error
    return Calibration(*map(float, numbers), judge, content)
