"""Detect the language of rows, for metrics whose model reads English only."""

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

# Detected languages; smaller ones and Latin would mostly attract related languages and names.
LANGUAGES = (
    "af ar az be bg bn ca cs cy da de el en es et eu fa fi fr ga gl gu he hi hr hu hy id is it ja ka kk km kn ko lo "
    "lt lv mk ml mn mr ms my nb ne nl no pa pl pt ro ru sk sl sq sr sv sw ta te th tl tr uk ur uz vi zh"
).split()
SURE = 0.7  # probability from which a row counts as not English: 3 of 5,450 rows of 13 English sets do
MIN_CHARACTERS, MAX_CHARACTERS = 15, 300  # of a row: fewer say too little, more cost time
MIN_SHARE = 0.02  # of rows that are not English, from which they are reported


@lru_cache(1)
def _identifier():
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    try:
        identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    except OSError as error:
        fix = "the model that detects languages is unpacked there; make room, or set TMPDIR to another folder"
        raise OSError(error.errno, f"{error.strerror or error}; {fix}", tempfile.tempdir or "TMPDIR") from error
    identifier.set_languages([name for name in LANGUAGES if name in identifier.labels])
    return identifier


def language_counts(columns: Mapping[str, Sequence]) -> Counter:
    """Return the number of rows, and of rows clearly in each language other than English.

    Args:
        columns: "questions", "predictions" and "references" (lists of texts), which are read together.

    Returns:
        "rows" -> their number, "language:de" -> rows in German, and so on.

    >>> question, answer = "Wie heißt die Hauptstadt von Frankreich?", "Sie heißt Paris."
    >>> dict(language_counts({"questions": [question], "predictions": [answer], "references": [["Paris"]]}))
    {'rows': 1, 'language:de': 1}
    """
    counts = Counter(rows=len(columns["questions"]))
    for question, prediction, references in zip(
        columns["questions"], columns["predictions"], columns["references"], strict=True
    ):
        text = " ".join(part[:MAX_CHARACTERS] for part in (question, prediction, *references[:1]))
        if len(text) >= MIN_CHARACTERS:
            language, probability = _identifier().classify(text[:MAX_CHARACTERS].encode("utf-8", "replace"))
            if language != "en" and probability >= SURE:
                counts[f"language:{language}"] += 1
    return counts


ENGLISH_ONLY = "the model reads English only, and their scores mean little"
MEASURED = "de", "ar"  # languages beside English in which the judge of prompts was measured
OTHER_LANGUAGES = "the model was measured in English, German and Arabic only"


def language_warnings(counts: Mapping[str, int], reads: str = ENGLISH_ONLY) -> list[str]:
    """Return one sentence if more than a few rows are not English.

    Args:
        counts: what `language_counts` returned.
        reads: what that means for the scores.

    >>> language_warnings({"rows": 10, "language:de": 2, "language:fr": 1})
    ['3 of 10 rows seem not to be English (de 2, fr 1); the model reads English only, and their scores mean little']
    """
    found = {name.removeprefix("language:"): n for name, n in counts.items() if name.startswith("language:") and n}
    total, rows = sum(found.values()), counts.get("rows", 0)
    if total < max(1, MIN_SHARE * rows):
        return []
    listed = ", ".join(f"{name} {n:,}" for name, n in sorted(found.items(), key=lambda item: (-item[1], item[0])))
    return [f"{total:,} of {rows:,} rows seem not to be English ({listed}); {reads}"]
