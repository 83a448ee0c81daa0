"""Coreference in multi-hop rows: a pronoun is replaced by what it refers to, as in Lee et al. (2021), section 3.1."""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

Span = tuple[int, int]

WORD = re.compile(r"\w+(?:'\w+)?|[^\w\s]")

_POSSESSIVE = frozenset("his its their".split())
_PRONOUNS = frozenset("he him she it they them".split()) | _POSSESSIVE  # not "her": it is either


def chain_finder(model: str | Path, device: str = "cpu") -> Callable[[str], list[list[Span]]]:
    """Return a function that gives the coreference chains of a text, each a list of character spans.

    Args:
        model: stanza's coreference model, the file en/coref/NAME.pt of its resources; the encoder that it names is
            looked for on the Hub or in a folder.
        device: torch device.

    Raises:
        ValueError: if there is no such file.
    """
    if not Path(model).is_file():
        raise ValueError(
            f"coreference: no file {model}; get one with "
            "python -c \"import stanza; stanza.download('en', processors='coref')\""
        )
    import torch
    from sentencex import get_sentence_boundaries
    from stanza.models.coref.model import CorefModel

    coreference = CorefModel.load_model(str(model), map_location=device, config_update={"device": device})
    coreference.training = False

    def chains(text: str) -> list[list[Span]]:
        words, sentences = [], []
        for number, sentence in enumerate(get_sentence_boundaries("en", text)):
            values = [m.span() for m in WORD.finditer(text, sentence["start_index"], sentence["end_index"])]
            words += values
            sentences += [number] * len(values)
        if len(words) < 2:
            return []
        document = {
            "document_id": "wb",  # the genre that stanza's own pipeline gives to any text
            "cased_words": [text[a:b] for a, b in words],
            "sent_id": sentences,
            "speaker": ["_"] * len(words),
        }
        with torch.inference_mode():
            values = coreference.run(coreference.build_doc(document)).span_clusters
        return [sorted((words[first][0], words[last - 1][1]) for first, last in chain) for chain in values]

    return chains


def with_names(row: dict, chains: Iterable[Sequence[Span]]) -> dict:
    """Return a row whose pronouns are replaced by the longest mention of their chain.

    An answer stays as it is, and so do the pronouns that stand for it: else it would be in the text twice, labelled
    once.

    Args:
        row: row with `context` and `answers`.
        chains: chains of character spans in the context.

    Returns:
        The row with a new `context` and new offsets of its answers.

    >>> row = {"context": "Ann left. She met Bob.", "answers": {"text": ["Bob"], "answer_start": [18]}}
    >>> with_names(row, [[(0, 3), (10, 13)]])
    {'context': 'Ann left. Ann met Bob.', 'answers': {'text': ['Bob'], 'answer_start': [18]}}
    """
    context, texts = row["context"], row["answers"]["text"]
    spans = [(start, start + len(text)) for start, text in zip(row["answers"]["answer_start"], texts, strict=True)]
    changes = {}
    for chain in chains:
        a, b = max(chain, key=lambda span: span[1] - span[0])
        name = context[a:b]
        if name.lower() in _PRONOUNS or any(c < b and a < d for c, d in spans):
            continue
        for start, end in chain:
            word = context[start:end].lower()
            if word in _PRONOUNS and not any(start < d and c < end for c, d in [*spans, (a, b)]):
                changes[start, end] = name + ("'s" if word in _POSSESSIVE else "")
    starts = [a for a, _ in spans]
    for (start, end), name in sorted(changes.items(), reverse=True):  # from behind, so that offsets before it hold
        context = context[:start] + name + context[end:]
        starts = [a + len(name) - (end - start) if a >= end else a for a in starts]
    return {**row, "context": context, "answers": {"text": list(texts), "answer_start": starts}}
