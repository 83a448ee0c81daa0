"""Multiple choice: the options of a row, which one is right, and the question and references that say so."""

import re
import string
from collections.abc import Mapping, Sequence

from .cells import printed_list, scalar_text
from .errors import RowError

Options = Mapping[str, str]  # {label: text}
_LABEL = re.compile(r"[A-Za-z]|\d{1,2}")
_LABELLED = re.compile(r"\s*[(\[]?([A-Za-z]|\d{1,2})\s*[).\]:]\s*(\S.*)", re.DOTALL)  # "A) Mars"
_TEXTS, _LABELS = ("text", "content", "value", "option", "answer"), ("label", "key", "id", "letter")


def options_of(listed: object) -> Options | None:
    """Return {label: text} of a list or an object of options; None of anything else.

    >>> options_of(["Iron", "Tin"]), options_of({"text": ["Iron", "Tin"], "label": ["1", "2"]})
    ({'A': 'Iron', 'B': 'Tin'}, {'1': 'Iron', '2': 'Tin'})
    """
    labels: list = []
    if isinstance(listed, str):
        listed = printed_list(listed)
    if isinstance(listed, Mapping):
        by_name = {str(name): item for name, item in listed.items()}
        lists = [by_name[name] for name in ("text", "texts") if isinstance(by_name.get(name), list)]
        listed, labels = (lists[0], by_name.get("label") or []) if lists else (list(by_name.values()), list(by_name))
    elif isinstance(listed, list) and listed and all(isinstance(item, Mapping) for item in listed):
        labels = [next((item[name] for name in _LABELS if name in item), None) for item in listed]
        listed = [next((item[name] for name in _TEXTS if name in item), None) for item in listed]
        labels = [] if None in labels else labels
    if not isinstance(listed, list) or not 2 <= len(listed) <= len(string.ascii_uppercase):
        return None
    texts = [item.strip() if isinstance(item, str) else scalar_text(item) for item in listed]
    if not all(texts):
        return None
    matches = [_LABELLED.fullmatch(text) for text in texts]
    letters = list(string.ascii_uppercase[: len(texts)])
    if not labels and all(matches) and [match[1].upper() for match in matches] == letters:
        labels, texts = [match[1] for match in matches], [match[2] for match in matches]
    labels = [str(label).strip() for label in labels] or letters
    is_labelled = len(set(labels)) == len(texts) and all(map(_LABEL.fullmatch, labels))
    return dict(zip(labels, texts, strict=True)) if is_labelled else None


def right_options(options: Options, key: object) -> list[str]:
    """Return the labels of the right options: several where a list, or a text with commas, names that many.

    >>> right_options({"A": "Iron", "B": "Tin", "C": "Lead"}, "A, C"), right_options({"A": "Iron", "B": "Tin"}, "Lead")
    (['A', 'C'], [])
    """
    keys = [item.strip() for item in key.split(",")] if isinstance(key, str) else key
    if isinstance(keys, list | tuple) and len(keys) > 1:
        labels = {label.casefold(): label for label in options}
        several = [labels.get(str(item).strip("(). ").casefold()) for item in keys]
        if None not in several and len(set(several)) == len(several):
            return several
    label = right_option(options, key)
    return [] if label is None else [label]


def right_option(options: Options, key: object) -> str | None:
    """Return the label of the right option by its label, its text or its index from 0; None where it is none of them.

    >>> options = {"A": "2", "B": "3"}
    >>> right_option(options, "(b)"), right_option(options, "3"), right_option(options, 1), right_option(options, "9")
    ('B', 'B', 'B', None)
    """
    if isinstance(key, list | tuple) and len(key) == 1:
        key = key[0]
    labels, text = list(options), scalar_text(key) if not isinstance(key, str) else key.strip()
    if text is None or isinstance(key, bool):
        return None
    bare = text.strip("().[]: ")
    if (label := next((label for label in labels if label.casefold() == bare.casefold()), None)) is not None:
        return label
    by_index = labels[int(bare)] if bare.isdecimal() and int(bare) < len(labels) else None
    if by_index is not None and not isinstance(key, str):
        return by_index
    by_text = next((label for label in labels if options[label].casefold() == text.casefold()), None)
    if by_text and by_index and by_text != by_index:
        raise RowError(f"{key!r} may be the text of option {by_text} or the index of {by_index}; write its letter")
    if by_text is None and by_index is None and (match := _LABELLED.fullmatch(text)):
        label = right_option(options, match[1])
        return label if label and options[label].casefold() == match[2].strip().casefold() else None
    return by_text or by_index


def with_options(asked: str | None, options: Options, right: Sequence[str]) -> tuple[str | None, list[str]]:
    r"""Return a question with its options, and label and text of the right one, or of all right ones, as references.

    >>> with_options("Which?", {"A": "Iron", "B": "Tin"}, ["B"])
    ('Which?\nA. Iron\nB. Tin', ['B. Tin', 'B', 'Tin'])
    """
    if isinstance(asked, str) and not all(text in asked for text in options.values()):
        asked = "\n".join([asked, *(f"{label}. {text}" for label, text in options.items())])
    ways = ([f"{label}. {options[label]}" for label in right], right, [options[label] for label in right])
    return asked, list(dict.fromkeys(map(", ".join, ways)))
