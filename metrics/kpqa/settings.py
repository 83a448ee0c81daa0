"""The settings of a keyphrase predictor that the metric needs: `kpqa_config.json` beside the weights."""

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path

SETTINGS_FILE = "kpqa_config.json"
SETTINGS_VERSION = 1
SHORTEST = 16  # word pieces; fewer leave no room for an answer
HEADS = ("linear", "tanh")


@dataclass(frozen=True)
class PredictorSettings:
    """Content of `kpqa_config.json`; the defaults apply to a checkpoint without the file.

    Attributes:
        version: number of this format.
        question: whether the model reads the question before the answer; False for a predictor trained without (-KP).
        head: "linear", or "tanh" for the paper's extra layer before the classifier.
        max_length: word pieces of question and answer that are read at most.
        keyphrase_label: number of the class that means "keyphrase", 0 or 1.
    """

    version: int = SETTINGS_VERSION
    question: bool = True
    head: str = "linear"
    max_length: int = 512
    keyphrase_label: int = 1

    def facts(self) -> dict[str, str]:
        """Return the settings that differ from the defaults, for the metric's signature.

        >>> PredictorSettings().facts(), PredictorSettings(question=False).facts()
        ({}, {'question': 'False'})
        """
        used = ("question", "max_length", "keyphrase_label")
        default = PredictorSettings()
        return {name: str(getattr(self, name)) for name in used if getattr(self, name) != getattr(default, name)}


def read_settings(folder: Path, head: str) -> PredictorSettings:
    """Return the checked settings of a checkpoint.

    Args:
        folder: checkpoint folder.
        head: the head that its weights have.

    Raises:
        ValueError: if the file cannot be read, or a setting is unknown, bad, or not that of the weights; names file,
            setting and fix.
    """
    path = folder / SETTINGS_FILE
    if not path.exists():
        return PredictorSettings(head=head)
    where = f"checkpoint: {path}"
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{where}: expected a JSON object, got {type(error).__name__}; fetch it again") from error
    if not isinstance(given, dict):
        raise ValueError(f"{where}: expected a JSON object, got {type(given).__name__}; fetch it again")
    known = [field.name for field in fields(PredictorSettings)]
    fix = "take the version of genqa-metrics that made the checkpoint, or train it again"
    if unknown := sorted(set(given) - set(known)):  # ignoring a setting it was trained with would change the weights
        raise ValueError(
            f"{where}: {unknown[0]}: not a setting of this version, which knows {', '.join(known)}; {fix}"
        )
    settings = PredictorSettings(**{"head": head, **given})

    def check(name: str, good: bool, expected: str, way_out: str = fix) -> None:
        if not good:
            raise ValueError(f"{where}: {name}: expected {expected}, got {getattr(settings, name)!r}; {way_out}")

    check("version", type(settings.version) is int and settings.version == SETTINGS_VERSION, str(SETTINGS_VERSION))
    check("question", type(settings.question) is bool, "true or false")
    check("head", settings.head in HEADS, " or ".join(HEADS))
    check("head", settings.head == head, f"{head!r}, the head of the weights", "fetch both files again")
    whole = type(settings.max_length) is int and SHORTEST <= settings.max_length <= 512
    check("max_length", whole, f"a whole number from {SHORTEST} to 512")
    label = settings.keyphrase_label
    check("keyphrase_label", type(label) is int and label in (0, 1), "0 or 1")
    return settings


def write_settings(folder: Path, settings: PredictorSettings) -> None:
    """Write the settings beside the weights of a checkpoint."""
    (folder / SETTINGS_FILE).write_text(json.dumps(asdict(settings), indent=2) + "\n", encoding="utf-8")
