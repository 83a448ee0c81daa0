"""Samples of a log of Inspect."""

from collections.abc import Iterator, Mapping

from ..errors import RowError
from .shared import passages_of, text_of

NEEDED = (("input", "target", "output", "scores"),)


def columns_of(row: dict) -> dict:
    """Return the columns of Inspect: a sample of a log."""
    answer = row.get("output") or {}
    if row.get("error") and not answer.get("choices"):
        raise RowError(f"the sample ended with an error and has no answer: {str(row['error'])[:80]}")
    answer = answer["completion"] if isinstance(answer.get("completion"), str) else text_of(answer, "assistant")
    ident, epoch = row.get("id"), row.get("epoch", 1)
    values = {"question": text_of(row["input"]), "prediction": answer, "references": row["target"]}
    values["contexts"] = passages_of(row.get("metadata"), row.get("store"))
    values["id"] = ident if epoch == 1 else f"{ident} (epoch {epoch})"
    return values | ({"system": row["model"]} if row.get("model") else {})


def document_rows(document: Mapping) -> Iterator[dict] | None:
    """Return the samples of a log in JSON; None of another document."""
    if "eval" not in document or not isinstance(document.get("samples"), list):
        return None
    model = document["eval"].get("model") if isinstance(document["eval"], dict) else None
    return ({"scores": None, **sample, "model": model} for sample in document["samples"])
