"""An explanation of KPQA's scores in the terminal, or as a page."""

from html import escape

from ..analysis.explanation import Explanation, Segment
from .table import visible

NAMES = {"bleu1": "BLEU-1", "rougeL": "ROUGE-L", "bertscore": "BERTScore"}
# Lower end of a step of weights, and its background. All of middling brightness, so that a heavy piece catches the eye
# more than a light one on a light as on a dark ground; black on them has a contrast of at least 4.5 (WCAG AA).
STEPS = ((0.05, "#a8a29e"), (0.2, "#d6b36a"), (0.4, "#f5b82e"), (0.6, "#fb923c"), (0.8, "#f0625a"))


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


def _score_rows(explained: Explanation) -> list[list[str]]:
    """Return the score table as text, its header first."""
    several = len(explained.pairs) > 1
    rows = [["", "KPQA", *["from reference"] * several, "unweighted", *["from reference"] * several]]
    for base, name in NAMES.items():
        scores = explained.scores[f"{base}_kpqa"], explained.scores[base]
        row = [name]
        for score in scores:
            row += [f"{score.value:.4f}", *[str(score.reference + 1)] * several]
        rows.append(row)
        for part in ("precision", "recall") if scores[0].precision is not None else ():
            row = [f"  {part}"]
            for score in scores:
                row += [f"{getattr(score, part):.4f}", *[""] * several]
            rows.append(row)
    return rows


def _cut_note(explained: Explanation) -> str:
    return (
        f"Texts longer than the model reads: {explained.cut_texts}. What is behind its limit has no weight and does "
        "not count."
    )


_FOUND = "in the other text too; in the prediction BLEU-1 counts it"
_IN_ORDER = "in the heaviest common subsequence; ROUGE-L counts it"


def print_explanation(explained: Explanation, console) -> None:
    """Print an explanation: with colours a heat map, without colours the weights as numbers.

    Args:
        explained: the explanation.
        console: a `rich.console.Console`.
    """
    from rich import box
    from rich.table import Table
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
    for number, (prediction, reference) in enumerate(explained.pairs):
        console.print()
        if len(explained.pairs) > 1:
            console.print(Text(_reference(explained, number), "bold"), soft_wrap=not coloured)
        show("Prediction", heat_map(prediction))
        show("Reference ", heat_map(reference))
    console.print()
    if coloured:
        scale = Text("Weight  ")
        for lower, colour in STEPS:
            scale.append(f" {lower:.2f} ", f"#000000 on {colour}")
        console.print(scale.append(f" and above; none: below {STEPS[0][0]:.2f}"))
        for style, meaning in (("underline", _FOUND), ("bold", _IN_ORDER)):
            console.print(Text.assemble((style, style), f"  {meaning}"))
    else:
        console.print(Text("(0.00)  weight of the word piece before it, from 0 to 1"), soft_wrap=True)
        for mark, meaning in (("B", _FOUND), ("L", _IN_ORDER)):
            console.print(Text(f"{mark}       {meaning}"), soft_wrap=True)
    if explained.cut_texts:
        console.print(Text(_cut_note(explained), "italic"), soft_wrap=not coloured)
    console.print()
    header, *rows = _score_rows(explained)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    for i, name in enumerate(header):
        table.add_column(Text(name), justify="right" if i else "left", vertical="bottom", no_wrap=not i)
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)
    console.print(Text(explained.signature, "dim"), soft_wrap=True)


HEAT_MAP_STYLE = """
.text { margin: 0; line-height: 2.4; }
.word { display: inline-block; max-width: 100%; line-height: 1.9; }
ruby { ruby-position: under; }
rt { font-size: .65rem; color: var(--quiet); padding: 0 .15em; font-variant-numeric: tabular-nums; }
.piece { padding: .1em 0; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.found { text-decoration: underline; text-decoration-thickness: .12em; text-underline-offset: .15em; }
.in-order { font-weight: bold; }
.unread { color: var(--quiet); font-style: italic; }
""" + "".join(f".step{i} {{ background: {c}; color: #000000; }}\n" for i, (_, c) in enumerate(STEPS, 1))
_STYLE = """
:root { color-scheme: light dark; --ground: #ffffff; --ink: #1c1b1a; --quiet: #5f5b57; --line: #d6d3d1; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #171615; --ink: #edebe9; --quiet: #aaa5a0; --line: #44403c; }
}
body { margin: 0 auto; padding: 1rem; max-width: 46rem; background: var(--ground); color: var(--ink);
  font: 1.05rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.3rem; }
h2 { font-size: 1rem; margin: 1.5rem 0 0; }
h3 { font-size: .85rem; font-weight: normal; color: var(--quiet); margin: .8rem 0 0; }
.legend, .signature { font-size: .85rem; color: var(--quiet); }
.legend { padding: 0; list-style: none; }
.scores { overflow-x: auto; overflow-wrap: normal; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem .25rem 0; text-align: right; border-bottom: 1px solid var(--line); }
th:first-child { text-align: left; white-space: pre; }
tbody th { font-weight: normal; }
"""


def heat_map_html(parts: list[Segment]) -> str:
    """Return a text as HTML, every word piece with its weight; `HEAT_MAP_STYLE` is what it looks like.

    Args:
        parts: the segments of a text.
    """
    html, word = [], []

    def end_word() -> None:
        if word:
            html.append(f'<span class="word">{"".join(word)}</span>')
            word.clear()

    for part in parts:
        text = escape(visible(part.text))
        if part.weights:
            numbers = " ".join(f"{weight:.2f}" for weight in part.weights)
            marks = {"found": "in the other text too", "in-order": "in the common subsequence"}
            marks = {name: mark for (name, mark), set_ in zip(marks.items(), part[2:], strict=True) if set_}
            classes = " ".join(["piece", f"step{_step(max(part.weights))}", *marks])
            title = "; ".join([f"weight {numbers}", *marks.values()])
            word.append(
                f'<ruby title="{escape(title)}"><span class="{classes}">{text}</span>'
                f"<rp>(</rp><rt>{numbers}</rt><rp>)</rp></ruby>"
            )
        elif part.text.isspace():
            end_word()
            html.append(" ")
        else:
            word.append(f'<span class="unread" title="not read by the model">{text}</span>')
    end_word()
    return "".join(html) if any(part.text.strip() for part in parts) else '<span class="unread">(empty)</span>'


def heat_map_legend() -> list[str]:
    """Return what the marks of `heat_map_html` mean, as items of an HTML list."""
    swatches = " ".join(
        f'<span class="piece step{i}">&nbsp;{low:.2f}&nbsp;</span>' for i, (low, _) in enumerate(STEPS, 1)
    )
    return [
        "<li>The number below a word piece is its keyphrase weight, from 0 to 1: how much it answers the question. "
        f"Background from {swatches} on.</li>",
        f'<li><span class="found">underlined</span>: {_FOUND}</li>',
        f'<li><span class="in-order">bold</span>: {_IN_ORDER}</li>',
    ]


def explanation_html(explained: Explanation) -> str:
    """Return an explanation as one HTML page that needs nothing else: no script, no outside resource.

    Args:
        explained: the explanation.
    """
    question = escape(visible(explained.question))
    body = [
        "<h1>What KPQA weighs in this answer</h1>",
        "<h2>Question</h2>",
        f'<p class="text" dir="auto">{question}</p>',
    ]
    for number, (prediction, reference) in enumerate(explained.pairs):
        several = len(explained.pairs) > 1
        body.append(f"<h2>{_reference(explained, number) if several else 'Answer'}</h2>")
        for label, parts in (("Prediction", prediction), ("Reference", reference)):
            body.append(f'<h3>{label}</h3>\n<p class="text" dir="auto">{heat_map_html(parts)}</p>')
    body += [
        '<ul class="legend">',
        *heat_map_legend(),
        *[f"<li>{_cut_note(explained)}</li>"] * bool(explained.cut_texts),
        "</ul>",
        "<h2>Scores</h2>",
    ]
    header, *rows = _score_rows(explained)
    body += ['<div class="scores"><table>', "<thead><tr>"]
    body += [f'<th scope="col">{name}</th>' if name else "<td></td>" for name in header]
    body += ["</tr></thead>", "<tbody>"]
    for name, *cells in rows:
        body.append(f'<tr><th scope="row">{name}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>')
    body += ["</tbody></table></div>", f'<p class="signature">{escape(explained.signature)}</p>']
    head = [
        '<meta charset="utf-8">',
        # Even if escaping failed, a browser would run and fetch nothing.
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>KPQA: {question}</title>",
        f"<style>{_STYLE}{HEAT_MAP_STYLE}</style>",
    ]
    lines = ["<!DOCTYPE html>", '<html lang="en">', "<head>", *head, "</head>", "<body>", *body, "</body>", "</html>"]
    return "\n".join(lines) + "\n"
