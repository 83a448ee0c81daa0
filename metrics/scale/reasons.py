"""One sentence on why a row has its score; `ava`, `f_meta` and `grounding` write their own."""

from collections.abc import Mapping, Sequence
from typing import Any

NAMED = 2  # words that a sentence names at most
HEAVY = 0.3  # weight from which a word counts as a keyphrase


def reason(metric: str, scores: Mapping[str, float], row: Mapping[str, Any], details: Mapping[str, Any]) -> str:
    """Return the sentence.

    Args:
        metric: name of the metric.
        scores: all scores of the row.
        row: "predictions" and "references" of the row.
        details: of the row, from `Scorer.statistics_with_details`, with its explanation.

    >>> reason("aev", {"aev_precision": 0.5, "aev_recall": 1, "prediction_length": 4, "reference_length": 2}, {}, {})
    'Its precision is 0.50 and its recall 1.00; it has 4 words that count, the reference 2.'
    """
    makers = {"aev": _aev, "ava": _own, "f_meta": _own, "grounding": _own, "kpqa": _kpqa}
    return makers.get(metric, _scores)(scores, row, details)


def row_reasons(
    scorer: Any, columns: Mapping[str, Sequence], statistics: Any, details: Mapping[str, Sequence]
) -> list[str]:
    """Return the sentences of rows.

    Args:
        scorer: a `core.scorer.Scorer`.
        columns: the rows.
        statistics: (rows, k) their statistics.
        details: see `Scorer.statistics_with_details`.
    """

    def row(table: Mapping[str, Sequence], place: int) -> dict[str, Any]:
        return {name: column[place] for name, column in table.items()}

    scores = {name: values.tolist() for name, values in scorer.row_scores(statistics).items()}
    rows = range(len(statistics))
    return [reason(scorer.name, row(scores, i), row(columns, i), row(details, i)) for i in rows]


def _scores(scores: Mapping, row: Mapping, details: Mapping) -> str:
    """Name the scores, for a metric that has no reason of its own."""
    return ", ".join(f"{name} {value:.2f}" for name, value in scores.items()) + "."


def _own(scores: Mapping, row: Mapping, details: Mapping) -> str:
    return details["explanation"]["reason"]


def _aev(scores: Mapping, row: Mapping, details: Mapping) -> str:
    return (
        f"Its precision is {scores['aev_precision']:.2f} and its recall {scores['aev_recall']:.2f}; it has "
        f"{scores['prediction_length']:g} words that count, the reference {scores['reference_length']:g}."
    )


def _kpqa(scores: Mapping, row: Mapping, details: Mapping) -> str:
    """Say which keyphrases of the reference that counted the answer has and lacks, and which it adds."""
    explained = details["explanation"]
    prediction = _words(explained["prediction"])
    reference = _words(explained["references"][details["rougeL_kpqa_reference"]])
    has, lacks = _keyphrases(reference, prediction, True), _keyphrases(reference, prediction, False)
    adds = _keyphrases(prediction, reference, False)
    sentence = " and ".join(f"{verb} {words}" for verb, words in (("has", has), ("lacks", lacks)) if words)
    parts = [f"of the reference's keyphrases it {sentence}"] * bool(sentence) + [f"it adds {adds}"] * bool(adds)
    text = "; ".join(parts) or "no word of the answer or the reference is a keyphrase"
    return text[0].upper() + text[1:] + "."


def _words(pieces: Sequence[Sequence]) -> dict[str, float]:
    """Return the words that word pieces form, each with the weight of its heaviest piece.

    >>> _words([["Shel", 0.9, 0, 4], ["ley", 0.2, 4, 7], [",", 0.1, 7, 8], ["no", 0.3, 9, 11]])
    {',': 0.1, 'no': 0.3, 'Shelley': 0.9}
    """
    values: list[list] = []
    for text, weight, start, end in pieces:
        if values and values[-1][2] == start and values[-1][0][-1:].isalnum() and text[:1].isalnum():
            values[-1] = [values[-1][0] + text, max(weight, values[-1][1]), end]
        else:
            values.append([text, weight, end])
    return {text: weight for text, weight, _ in sorted(values, key=lambda word: word[1])}


def _keyphrases(words: Mapping[str, float], others: Mapping[str, float], shared: bool) -> str:
    """Return the heaviest keyphrases among words, in quotes, that the other text has too or has not."""
    known = {word.lower() for word in others}
    chosen = [word for word, weight in words.items() if weight >= HEAVY and (word.lower() in known) == shared]
    chosen.sort(key=lambda word: -words[word])
    return " and ".join(f"'{word}'" for word in chosen[:NAMED])
