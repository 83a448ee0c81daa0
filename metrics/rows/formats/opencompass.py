"""Predictions of OpenCompass."""

import re

NEEDED = (("origin_prompt", "prediction", "gold"),)


def columns_of(row: dict) -> dict:
    r"""Return the columns of OpenCompass; the question is what the last message of its prompt asks.

    >>> columns_of({"origin_prompt": "Question: Who?\nAnswer:", "prediction": "Ann", "gold": "Ann"})["question"]
    'Who?'
    """
    prompt = row["origin_prompt"]
    if isinstance(prompt, list):
        asked = [part for part in prompt if part.get("role") in ("HUMAN", "user")] or prompt
        prompt = asked[-1].get("prompt") or asked[-1].get("content") or ""
    only = re.fullmatch(r"(?is)(?:question|q):\s{0,9}(.+?)\s{0,9}\n\s{0,9}(?:answer|a):?\s{0,9}", prompt.strip())
    return {"question": only[1] if only else prompt, "prediction": row["prediction"], "references": row["gold"]}
