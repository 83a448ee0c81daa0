"""An explanation of KPQA's scores in the terminal, or as a page."""

from ...reports.table import Table, html_table, number, page, print_table, render, visible
from .kpqa import Explanation, Segment

NAMES = {"bleu1": "BLEU-1", "rougeL": "ROUGE-L", "bertscore": "BERTScore"}
# Lower end of a step of weights, and its background. All of middling brightness, so that a heavy piece catches the eye
# more than a light one on a light as on a dark ground; black on them has a contrast of at least 4.5 (WCAG AA).
# One hue that says neither right nor wrong: a weight is how much a word answers the question.
STEPS = ((0.05, "#a8a29e"), (0.2, "#9fb4cc"), (0.4, "#86b9e8"), (0.6, "#56b4e9"), (0.8, "#2f9fe0"))


def _step(weight: float) -> int:
    """Number of the heat map's step, 0 for a weight without a background."""
    return sum(weight >= lower for lower, _ in STEPS)


def _reference(explained: Explanation, number: int) -> str:
    """Heading of one of several references: its number and the scores that it gave."""
    won = [_name(metric) for metric, score in explained.scores.items() if score.reference == number]
    listed = "every score" if len(won) == len(explained.scores) else ", ".join(won) or "no score"
    return f"Reference {number + 1}: best for {listed}"


def _name(metric: str) -> str:
    base, weighted, _ = metric.partition("_kpqa")
    return f"{NAMES[base]}-KPQA" if weighted else NAMES[base]


def _score_table(explained: Explanation) -> Table:
    several = len(explained.pairs) > 1
    header, rows = ["", "KPQA", *["from reference"] * several, "unweighted", *["from reference"] * several], []
    for base, name in NAMES.items():
        scores = explained.scores[f"{base}_kpqa"], explained.scores[base]
        row = [name]
        for score in scores:
            row += [number(score.value, 4), *[str(score.reference + 1)] * several]
        rows.append(row)
        for part in ("precision", "recall") if scores[0].precision is not None else ():
            row = [f"  {part}"]
            for score in scores:
                row += [number(getattr(score, part), 4), *[""] * several]
            rows.append(row)
    return Table("", header, rows)


def _finding(explained: Explanation) -> str:
    """Return what the weights do to ROUGE-L, and the heaviest piece of the answer."""
    weighted, plain = explained.scores["rougeL_kpqa"], explained.scores["rougeL"]
    said = f"ROUGE-L is {number(weighted.value, 2)} with these weights and {number(plain.value, 2)} without."
    prediction = explained.pairs[weighted.reference][0]
    heaviest = max(prediction, key=lambda part: max(part.weights, default=-1.0))
    if not heaviest.weights:
        return said
    where = "is in the reference too" if heaviest.found else "is not in the reference"
    return f"{said} The heaviest piece of the answer, '{heaviest.text}' ({number(max(heaviest.weights), 2)}), {where}."


def _cut_note(explained: Explanation) -> str:
    return f"Texts longer than the model reads: {explained.cut_texts}. The part beyond its limit does not count."


_FOUND = "in the other text too; BLEU-1 counts it in the prediction"
_IN_ORDER = "in the heaviest common subsequence; ROUGE-L counts it"
_RARITY = "rarity in the given texts, 1 for the rarest piece of a text; the weights of the paper's BERTScore"


def print_explanation(explained: Explanation, console) -> None:
    """Print an explanation: with colours a heat map, without colours the weights as numbers.

    Args:
        explained: the explanation.
        console: a `rich.console.Console`.
    """
    from rich.text import Text

    coloured = console.color_system is not None and not console.no_color

    def heat_map(parts: list[Segment]) -> Text:
        line = Text()
        for part in parts:
            if coloured:
                step = _step(max(part.weights, default=0.0))
                styles = [f"#000000 on {STEPS[step - 1][1]}"] * (step > 0)
                styles += ["underline"] * part.found + ["bold"] * part.in_order
                line.append(visible(part.text), " ".join(styles))
            else:
                line.append(visible(part.text))
                if part.weights:
                    marks = "B" * part.found + "L" * part.in_order
                    line.append(
                        f"({' '.join([*(f'{weight:.2f}' for weight in part.weights), *[marks] * bool(marks)])})"
                    )
        return line if line.plain.strip() else Text("(empty)", "italic")

    def show(label: str, text: Text) -> None:
        console.print(Text.assemble((f"{label}  ", "bold"), text), soft_wrap=not coloured)

    show("Question", Text(visible(explained.question)))
    for place, (prediction, reference) in enumerate(explained.pairs):
        console.print()
        if len(explained.pairs) > 1:
            console.print(Text(_reference(explained, place), "bold"), soft_wrap=not coloured)
        show("Prediction", heat_map(prediction))
        show("Reference ", heat_map(reference))
        if explained.rarity:
            for label, text in zip(("IDF, prediction", "IDF, reference "), explained.rarity[place], strict=True):
                show(label, heat_map(text))
    console.print()
    if coloured:
        scale = Text("Weight  ")
        for lower, colour in STEPS:
            scale.append(f" {lower:.2f} ", f"#000000 on {colour}")
        console.print(scale.append(f" and above; no colour: below {STEPS[0][0]:.2f}"))
        for style, meaning in (("underline", _FOUND), ("bold", _IN_ORDER)):
            console.print(Text.assemble((style, style), f"  {meaning}"))
    else:
        console.print(Text("(0.00)  weight of the word piece before it, from 0 to 1"), soft_wrap=True)
        for mark, meaning in (("B", _FOUND), ("L", _IN_ORDER)):
            console.print(Text(f"{mark}       {meaning}"), soft_wrap=True)
    if explained.rarity:
        console.print(Text(f"IDF     {_RARITY}"), soft_wrap=True)
    if explained.cut_texts:
        console.print(Text(_cut_note(explained), "italic"), soft_wrap=not coloured)
    console.print()
    print_table(_score_table(explained), console)
    console.print(Text(visible(explained.signature), "dim"), soft_wrap=True)


def heat_map_html(parts: list[Segment]):
    """Return a text as HTML (`markupsafe.Markup`), every word piece with its weight; its style is `heat_map_style()`.

    Args:
        parts: the segments of a text.
    """
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


def explanation_html(explained: Explanation) -> str:
    """Return an explanation as one HTML page that needs nothing else: no script, no outside resource.

    Args:
        explained: the explanation.
    """
    several = len(explained.pairs) > 1
    sides = ("Prediction", "Reference")
    pairs = []
    for i, (prediction, reference) in enumerate(explained.pairs):
        rare = explained.rarity[i] if explained.rarity else ()
        rarity = [(side, heat_map_html(text)) for side, text in zip(sides, rare, strict=False)]
        heading = _reference(explained, i) if several else "Answer"
        pairs.append((heading, heat_map_html(prediction), heat_map_html(reference), rarity))
    body = render(
        "explanation.html",
        finding=_finding(explained),
        question=explained.question,
        pairs=pairs,
        legend=heat_map_legend(),
        idf=_RARITY if explained.rarity else "",
        cut=_cut_note(explained) if explained.cut_texts else "",
        scores=html_table(_score_table(explained)),
        signature=explained.signature,
    )
    return page(f"KPQA: {explained.question}", body, heat_map_style(), render("explanation.css"))
