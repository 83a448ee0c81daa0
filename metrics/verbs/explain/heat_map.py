"""Shows how KPQA scores an answer: a heat map of its weights, in the terminal or on a page."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate, pairwise

from ...kpqa.explaining import Explanation, Segment, explanation
from ...kpqa.scorer import keyphrase_reason
from ...registry import make_scorer
from ...reports.report import as_sentence, print_field, say
from ...reports.table import Table, html_table, listed, number, page, print_table, render, visible
from .explainer import Explainer


def explainer(metric: str, settings: Mapping | None, corpus: Sequence[str] | None) -> Callable[..., Explanation]:
    """Return `explanation` with the models of a metric, and with the texts in which word pieces are counted."""
    scorer = make_scorer(metric, settings)
    return partial(explanation, models=scorer.models, beta=scorer.beta, corpus=corpus)


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
    references = {f"Reference {index}" if several else "Reference": there for index, (_, there) in enumerate(pairs, 1)}
    return {"Prediction": pairs[explained.scores["rougeL_kpqa"].reference][0], **references}


def _best(explained: Explanation) -> str:
    """Return a sentence on which reference gave each score, and which the marks compare; "" for one reference."""
    if len(explained.pairs) == 1:
        return ""
    won: dict[int, list[str]] = {}
    for metric, score in explained.scores.items():
        won.setdefault(score.reference + 1, []).append(_name(metric))
    gave = "; ".join(f"reference {index} gives {listed(names)}" for index, names in sorted(won.items()))
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
    comparison = f"ROUGE-L is {number(weighted.value, 2)} with these weights and {number(plain.value, 2)} without."
    return f"{comparison} {keyphrases(explained)}"


def keyphrases(explained: Explanation) -> str:
    """Return which keyphrases of the reference that gave ROUGE-L-KPQA the answer has and lacks, and which it adds."""
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
            styles += ["underline"] * part.shared + ["bold"] * part.in_order
            line.append(visible(part.text), " ".join(styles) if coloured else "")
            if part.weights and not coloured:
                numbers = [f"{weight:.2f}" for weight in part.weights if _step(weight)]
                marks = " ".join(filter(None, [*numbers, "B" * part.shared + "L" * part.in_order]))
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


EXPLAINER = Explainer(explainer, print_explanation, explanation_html)
