"""How KPQA computes its scores for one answer, piece by piece: weights, matches and which reference won.

The numbers are those of the module; only its siblings without `evaluate` are used, which takes seconds to import.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple

from ...reports.report import as_sentence, print_field, say
from ...reports.table import Table, html_table, listed, number, page, print_table, render, visible


class Segment(NamedTuple):
    """Some characters of a text; all segments of a text put together are the text."""

    text: str
    weights: tuple[float, ...] = ()  # keyphrase weights of the word pieces there, mostly one; none between pieces
    found: bool = False  # the other text has this piece too: what BLEU-1 counts
    in_order: bool = False  # it belongs to the heaviest common subsequence: what ROUGE-L counts


class Score(NamedTuple):
    """A score, its precision and recall if it has them, and the number of the reference that gave it, from 0."""

    value: float
    precision: float | None
    recall: float | None
    reference: int


@dataclass(frozen=True)
class Explanation:
    """How KPQA computes its scores for one answer.

    Pairs are, per reference, the segments of the prediction, held against it, and the segments of the reference.
    `rarity` is like these, with the inverse document frequency of every piece over the largest of its text in place of
    its weight (Table 5 of the paper); None without texts to count in. Scores are bleu1_kpqa, rougeL_kpqa,
    bertscore_kpqa and the unweighted ones; `cut_texts` is the number of texts whose end the model could not read.
    """

    question: str
    pairs: list[tuple[list[Segment], list[Segment]]]
    scores: dict[str, Score]
    cut_texts: int
    signature: str
    rarity: list[tuple[list[Segment], list[Segment]]] | None = None


def in_heaviest_subsequence(ids: Sequence[int], weights: Sequence[float], others: Sequence[int]):
    """Return which of (m,) tokens form the common subsequence that carries most weight, as ROUGE-L-KPQA counts it.

    >>> in_heaviest_subsequence([1, 2, 3], [0.2, 0.5, 0.4], [2, 1, 3]).tolist()
    [False, True, True]
    """
    import numpy as np

    others = np.asarray(others)
    best = np.zeros((len(ids) + 1, len(others) + 1))  # of the first i tokens here and the first j there
    for i, (token, weight) in enumerate(zip(ids, weights, strict=True)):
        with_token = np.where(others == token, best[i, :-1] + weight, 0.0)
        best[i + 1, 1:] = np.maximum.accumulate(np.maximum(best[i, 1:], with_token))
    chosen = np.zeros(len(ids), dtype=bool)
    j = len(others)
    for i in range(len(ids) - 1, -1, -1):
        # The first column with this sum: the token either made it there, or was not needed for it.
        j = int(np.searchsorted(best[i + 1, : j + 1], best[i + 1, j]))
        if best[i, j] < best[i + 1, j]:
            chosen[i], j = True, j - 1
    return chosen


def segments(text: str, offsets: Sequence, weights: Sequence, found: Sequence, in_order: Sequence) -> list[Segment]:
    """Return a text cut into its word pieces and what is between them.

    Offsets are (tokens, 2) characters. Pieces that share characters (bytes of one emoji) become one segment.

    >>> [segment.text for segment in segments("a pun", [(0, 1), (2, 3), (3, 5)], [0.1, 0.9, 0.8], [0] * 3, [0] * 3)]
    ['a', ' ', 'p', 'un']
    """
    values: list[Segment] = []
    end = 0
    for (start, stop), weight, *marks in zip(offsets, weights, found, in_order, strict=True):
        if values and (start < end or stop <= end) and values[-1].weights:
            last = values.pop()
            text_of_both = last.text + text[end : max(end, stop)]
            both = (bool(a or b) for a, b in zip(last[2:], marks, strict=True))
            values.append(Segment(text_of_both, (*last.weights, float(weight)), *both))
        else:
            if start > end:
                values.append(Segment(text[end:start]))
            values.append(Segment(text[start:stop], (float(weight),), *map(bool, marks)))
        end = max(end, stop)
    return [*values, Segment(text[end:])] if end < len(text) else values


def explanation(
    question: str,
    prediction: str,
    references: Sequence[str],
    models,
    beta: float = 1.0,
    corpus: Sequence[str] | None = None,
) -> Explanation:
    """Return how KPQA computes its scores for one answer, exactly those of the module with the same settings.

    `models` is what `kpqa.loading.load_models` returns; word pieces are counted in the `corpus` for their rarity.
    """
    import numpy as np

    from ...core.reading import readable
    from ...core.scorer import VERSION, checked_column
    from ...kpqa import scoring
    from ...kpqa.encoding import Encoder, word_pieces

    (question,), (prediction,) = (
        checked_column(name, [text], "text") for name, text in (("question", question), ("prediction", prediction))
    )
    (references,) = checked_column("references", [list(references)], "either", needed=True)
    question, *texts = map(readable, (question, prediction, *references))
    encoder = Encoder(models)
    tokens, offsets = encoder.tokens([(question, text) for text in texts])
    statistics = scoring.pair_statistics([tokens[0]] * len(references), tokens[1:])
    values, winners = scoring.row_scores(statistics, np.zeros(len(references), dtype=int), beta)
    scores = {}
    for metric in scoring.METRICS:
        best = int(winners[metric][0])
        parts, names = (f"{metric}_precision", f"{metric}_recall"), scoring.PAIR_STATISTICS
        parts = (float(statistics[best, names.index(part)]) if part in names else None for part in parts)
        scores[metric] = Score(float(values[metric][0]), *parts, best)

    def side(here: int, there: int) -> list[Segment]:
        ids, weights, others = tokens[here].keyphrase_ids(), tokens[here].weights, tokens[there].keyphrase_ids()
        used = weights if np.any(weights) else np.ones(len(ids))  # as the scores do
        clipped_match = scoring.clipped_matches(ids[None], used[None], others[None])[0]
        return segments(texts[here], offsets[here], weights, clipped_match, in_heaviest_subsequence(ids, used, others))

    pairs = [(side(0, i), side(i, 0)) for i in range(1, len(texts))]
    signature = f"kpqa|{models.signature}|beta:{beta:g}|unknown:surface|version:{VERSION}"
    rarity = None
    if corpus:
        documents = [np.unique(pieces) for pieces in word_pieces(models.tokenizer, list(map(readable, corpus)))]
        frequencies = scoring.inverse_document_frequencies(documents)

        def rare(place: int) -> list[Segment]:
            values = np.array([frequencies.get(int(token), frequencies[-1]) for token in tokens[place].ids])
            values = values / max(values.max(initial=0.0), 1e-9)
            none = np.zeros(len(values), dtype=bool)
            return segments(texts[place], offsets[place], values, none, none)

        rarity = [(rare(0), rare(i)) for i in range(1, len(texts))]
    return Explanation(question, pairs, scores, len(encoder.cut), signature, rarity)


NAMES = {"bleu1": "BLEU-1", "rougeL": "ROUGE-L", "bertscore": "BERTScore"}
# Lower end of a step of weights, and its background. All of middling brightness, so that a heavy piece catches the eye
# more than a light one on a light as on a dark ground; black on them has a contrast of at least 4.5 (WCAG AA).
# One hue that says neither right nor wrong: a weight is how much a word answers the question.
STEPS = ((0.05, "#a8a29e"), (0.2, "#9fb4cc"), (0.4, "#86b9e8"), (0.6, "#56b4e9"), (0.8, "#2f9fe0"))


def _step(weight: float) -> int:
    """Number of the heat map's step, 0 for a weight without a background."""
    return sum(weight >= lower for lower, _ in STEPS)


def _texts(explained: Explanation, pairs: Sequence[tuple[list[Segment], list[Segment]]]) -> dict[str, list[Segment]]:
    """Return the prediction, marked against the reference that gave ROUGE-L-KPQA, and every reference."""
    several = len(pairs) > 1
    references = {f"Reference {place}" if several else "Reference": there for place, (_, there) in enumerate(pairs, 1)}
    return {"Prediction": pairs[explained.scores["rougeL_kpqa"].reference][0], **references}


def _best(explained: Explanation) -> str:
    """Return which of several references gave which scores, and with which the marks compare the prediction."""
    if len(explained.pairs) == 1:
        return ""
    won: dict[int, list[str]] = {}
    for metric, score in explained.scores.items():
        won.setdefault(score.reference + 1, []).append(_name(metric))
    gave = "; ".join(f"reference {place} gives {listed(names)}" for place, names in sorted(won.items()))
    gave = gave if len(won) > 1 else f"reference {min(won)} gives every score"
    return as_sentence(f"{gave}; marks compare the prediction with {explained.scores['rougeL_kpqa'].reference + 1}")


def _name(metric: str) -> str:
    base, weighted, _ = metric.partition("_kpqa")
    return f"{NAMES[base]}-KPQA" if weighted else NAMES[base]


def _score_table(explained: Explanation) -> Table:
    header, rows = ["", "KPQA", "precision", "recall", "unweighted", "precision", "recall"], []
    for base, name in NAMES.items():
        both = explained.scores[f"{base}_kpqa"], explained.scores[base]
        parts = [part for score in both for part in (score.value, score.precision, score.recall)]
        rows.append([name, *("" if part is None else number(part) for part in parts)])
    return Table("", header, rows)


def _finding(explained: Explanation) -> str:
    """Return what the weights do to ROUGE-L, and which keyphrases the answer has, lacks and adds."""
    weighted, plain = explained.scores["rougeL_kpqa"], explained.scores["rougeL"]
    said = f"ROUGE-L is {number(weighted.value, 2)} with these weights and {number(plain.value, 2)} without."
    return f"{said} {keyphrases(explained)}"


def keyphrases(explained: Explanation) -> str:
    """Return which keyphrases of the reference that gave ROUGE-L-KPQA the answer has and lacks, and which it adds."""
    from ...kpqa.scorer import keyphrase_reason

    texts = []
    for parts in explained.pairs[explained.scores["rougeL_kpqa"].reference]:
        ends = [0, *accumulate(len(part.text) for part in parts)]
        placed = zip(parts, pairwise(ends), strict=True)
        texts.append([(part.text, max(part.weights), *ends) for part, ends in placed if part.weights])
    return keyphrase_reason(*texts)


def _cut_note(explained: Explanation) -> str:
    return f"Texts longer than the model reads: {explained.cut_texts}. The part beyond its limit does not count."


_FOUND = "in the other text too; BLEU-1 counts it in the prediction"
_IN_ORDER = "in the heaviest common subsequence; ROUGE-L counts it"
_RARITY = "rarity in the given texts, 1 for the rarest piece of a text; the weights of the paper's BERTScore"


def print_explanation(explained: Explanation, console, legend: bool = True) -> None:
    """Print an explanation: with colours a heat map, without colours the weights as numbers.

    With `legend` what the marks mean too.
    """
    from rich.text import Text

    coloured = console.color_system is not None and not console.no_color

    def heat_map(parts: list[Segment]) -> Text:
        line = Text()
        for part in parts:
            step = _step(max(part.weights, default=0.0))
            styles = [f"#000000 on {STEPS[step - 1][1]}"] * (step > 0)
            styles += ["underline"] * part.found + ["bold"] * part.in_order
            line.append(visible(part.text), " ".join(styles) if coloured else "")
            if part.weights and not coloured:
                numbers = [f"{weight:.2f}" for weight in part.weights if _step(weight)]
                marks = " ".join(filter(None, [*numbers, "B" * part.found + "L" * part.in_order]))
                line.append(f"({marks})" if marks else "")
        return line if line.plain.strip() else Text("(empty)", "italic")

    texts = _texts(explained, explained.pairs)
    if explained.rarity:
        rare = _texts(explained, explained.rarity)
        texts |= {f"IDF, {label.lower()}": parts for label, parts in rare.items()}
    columns = max(map(len, texts)) + 2
    print_field(console, "Question", explained.question, columns)
    for label, parts in texts.items():
        print_field(console, label, heat_map(parts), columns)
    print_field(console, "Reason", _finding(explained), columns)
    console.print()
    print_table(_score_table(explained), console)
    say(console, filter(None, [_best(explained), _cut_note(explained) if explained.cut_texts else ""]), "italic")
    if legend:
        _print_legend(console, coloured, bool(explained.rarity))


def _print_legend(console, coloured: bool, rarity: bool) -> None:
    from rich.text import Text

    console.print()
    if coloured:
        scale = Text()
        for lower, colour in STEPS:
            scale.append(f" {lower:.2f} ", f"#000000 on {colour}")
        scale.append(f" and above; no colour: below {STEPS[0][0]:.2f}")
        marks = [("Weight", scale), (Text("underline", "underline"), _FOUND), (Text("bold", "bold"), _IN_ORDER)]
    else:
        weight = f"weight of the word piece before it, from 0 to 1; none below {STEPS[0][0]:.2f}"
        marks = [("(0.50)", weight), ("B", _FOUND), ("L", _IN_ORDER)]
    for mark, meaning in [*marks, *[("IDF", _RARITY)] * rarity]:
        print_field(console, mark, meaning, 11 if coloured else 8)


def heat_map_html(parts: list[Segment]):
    """Return a text as HTML (`markupsafe.Markup`), every word piece with its weight; see `heat_map_style`."""
    marked = {"found": "in the other text too", "in-order": "in the common subsequence"}
    words: list[list[tuple] | None] = []  # None is the space between two
    for part in parts:
        if not part.weights and part.text.isspace():
            words.append(None)
            continue
        if not words or words[-1] is None:
            words.append([])
        numbers = " ".join(number(weight, 2) for weight in part.weights)
        marks = {name: mark for (name, mark), true in zip(marked.items(), part[2:], strict=True) if true}
        classes = " ".join(["piece", f"step{_step(max(part.weights, default=0.0))}", *marks])
        words[-1].append((part.text, numbers, classes, "; ".join([f"weight {numbers}", *marks.values()])))
    return render("heat_map.html", words=words if any(part.text.strip() for part in parts) else [])


def heat_map_style():
    """Return the CSS of heat maps (`markupsafe.Markup`)."""
    return render("heat_map.css", colours=[colour for _, colour in STEPS])


def heat_map_legend():
    """Return what the marks of `heat_map_html` mean, as items of an HTML list (`markupsafe.Markup`)."""
    return render("legend.html", steps=[number(low, 2) for low, _ in STEPS], found=_FOUND, in_order=_IN_ORDER)


def explanation_html(*answers: Explanation, headings: Sequence[str] = ("",), findings: bool = True) -> str:
    """Return explanations as one HTML page that needs nothing else: no script, no outside resource.

    Headings say which answers they are; with `findings` the page says what the numbers show.
    """
    last, shown = answers[-1], []
    for name, explained in zip(headings, answers, strict=True):
        texts, rare = (
            {label: heat_map_html(parts) for label, parts in _texts(explained, pairs).items()} if pairs else {}
            for pairs in (explained.pairs, explained.rarity)
        )
        scores = _score_table(explained)
        header, *rows = map(list, zip(scores.header, *scores.rows, strict=True))  # for narrow pages
        shown.append(
            {
                "heading": name,
                "finding": _finding(explained) if findings else "",
                "question": explained.question,
                "texts": texts,
                "rarity": rare,
                "best": _best(explained),
                "cut": _cut_note(explained) if explained.cut_texts else "",
                "scores": html_table(Table("", header, rows)),
            }
        )
    facts = {"legend": heat_map_legend(), "idf": _RARITY if last.rarity else "", "signature": last.signature}
    body = render("explanation.html", answers=shown, **facts)
    title = "KPQA: the answers to read first" if len(answers) > 1 else f"KPQA: {last.question}"
    return page(title, body, heat_map_style(), render("explanation.css"))
