"""How the demos look: numbers, tables, charts and marked texts as HTML in which every text is escaped, theme, CSS.

A text becomes HTML in one place, `escaped`. What is HTML already is a `markupsafe.Markup`; f-strings make none.
"""

from collections.abc import Collection, Iterable, Sequence

import gradio as gr
from markupsafe import Markup, escape

# Gradio renders HTML as a template of JavaScript and of Handlebars: neither sees a placeholder in a visitor's text.
_TEMPLATE = str.maketrans({"$": "&#36;", "{": "&#123;", "}": "&#125;", "`": "&#96;", "\\": "&#92;"})


def escaped(text: object) -> Markup:
    """Return a text as HTML that shows it; HTML of our own stays as it is.

    >>> escaped("<b>${1}"), escaped(Markup("<b>1</b>"))
    (Markup('&lt;b&gt;&#36;&#123;1&#125;'), Markup('<b>1</b>'))
    """
    return text if isinstance(text, Markup) else Markup(str(escape(text)).translate(_TEMPLATE))


def html(template: str, **values: object) -> Markup:
    """Return HTML of ours with values in it, each escaped.

    >>> html("<b>{text}</b>", text="<")
    Markup('<b>&lt;</b>')
    """
    return Markup(template.format(**{name: escaped(value) for name, value in values.items()}))


def joined(parts: Iterable[object], between: str = "") -> Markup:
    """Return parts one after the other, each escaped.

    >>> joined(["<", Markup("<br>")])
    Markup('&lt;<br>')
    """
    return Markup(between).join([escaped(part) for part in parts])


def probability(value: float, digits: int = 2) -> str:
    """Return a probability as it is said; none that is not 0 or 1 is rounded to it.

    >>> probability(0.997), probability(0.0004, 3), probability(0.5), probability(1.0), probability(0)
    ('above 0.99', 'below 0.001', '0.50', '1.00', '0.00')
    """
    step = 10**-digits
    if 1 - step < value < 1:
        return f"above {1 - step:.{digits}f}"
    if 0 < value < step:
        return f"below {step:.{digits}f}"
    return f"{value:.{digits}f}"


def headline(text: str, *more: str) -> Markup:
    """Return what the page says first, and sentences after it; `**bold**` is the one mark in them.

    >>> headline("F is **0.5**.", "So <so>.")
    Markup('<p class="headline">F is <b>0.5</b>.</p><p>So &lt;so&gt;.</p>')
    """

    def bold(sentence: str) -> Markup:
        parts = escaped(sentence).split("**")
        return Markup("").join(Markup("<b>{}</b>").format(part) if i % 2 else part for i, part in enumerate(parts))

    return Markup('<p class="headline">{}</p>').format(bold(text)) + Markup("").join(
        Markup("<p>{}</p>").format(bold(sentence)) for sentence in more if sentence
    )


def bars(
    groups: Sequence[tuple[str, Sequence[tuple[str, float]]]], caption: str, muted: Collection[str] = ()
) -> Markup:
    """Return a chart of scores from 0 to 1 as an HTML table.

    Args:
        groups: (heading or "", [(label, score), ...]).
        caption: what the chart shows.
        muted: labels whose bars are grey.
    """
    rows = []
    for heading, values in groups:
        if heading:
            rows.append(html('<tr><th colspan="3" scope="rowgroup">{heading}</th></tr>', heading=heading))
        for label, score in values:
            width, shade = 100 * min(1.0, max(0.0, score)), " muted" * (label in muted)
            rows.append(
                html(
                    '<tr><th scope="row">{label}</th><td><div class="bar{shade}" style="width: {width}%"></div></td>'
                    '<td class="number">{score}</td></tr>',
                    label=label,
                    shade=shade,
                    width=f"{width:.1f}",
                    score=probability(score, 3),
                )
            )
    return html(
        '<table class="numbers bars"><caption>{caption}</caption><tbody>{rows}</tbody></table>',
        caption=caption,
        rows=joined(rows),
    )


def intervals(
    rows: Sequence[tuple[str, float, float, float]], caption: str, low: float = 0.0, high: float = 1.0
) -> Markup:
    """Return a plot of values with their intervals: names at the left, an axis below.

    Args:
        rows: (name, value, lower end, upper end).
        caption: what the plot shows.
        low: left end of the axis.
        high: its right end.
    """

    def place(value: float) -> str:
        return f"{100 * (min(high, max(low, value)) - low) / (high - low):.2f}"

    lines = joined(
        html(
            '<tr><th scope="row" dir="auto">{name}</th><td><div class="line"><div class="span" style="left: {left}%; '
            'width: {width}%"></div><div class="dot" style="left: {middle}%"></div></div></td>'
            '<td class="number">{said}</td></tr>',
            name=name,
            left=place(start),
            width=f"{float(place(end)) - float(place(start)):.2f}",
            middle=place(value),
            said=f"{value:.3f} ({start:.3f} to {end:.3f})",
        )
        for name, value, start, end in rows
    )
    ticks = joined(
        html(
            '<span style="left: {at}%">{tick}</span>',
            at=f"{100 * i / 4:.0f}",
            tick=f"{low + (high - low) * i / 4:.2f}",
        )
        for i in range(5)
    )
    return html(
        '<table class="numbers bars intervals"><caption>{caption}</caption><tbody>{lines}'
        '<tr aria-hidden="true"><td></td><td><div class="axis">{ticks}</div></td><td></td></tr></tbody></table>',
        caption=caption,
        lines=lines,
        ticks=ticks,
    )


def table(
    headers: Sequence[str], rows: Iterable[Sequence[object]], caption: str, numbers: Collection[int] = ()
) -> Markup:
    """Return a table of texts; the first cell of a row is its header.

    Args:
        headers: one per column.
        rows: cells, texts or HTML of ours.
        caption: what the table shows.
        numbers: columns with numbers, from 0, which stand at the right.
    """

    def kind(place: int) -> str:
        return ' class="number"' if place in numbers else ""

    head = joined(html(f'<th scope="col"{kind(i)}>{{text}}</th>', text=text) for i, text in enumerate(headers))
    body = []
    for cells in rows:
        first, *others = cells
        line = html(f'<th scope="row" dir="auto"{kind(0)}>{{text}}</th>', text=first)
        line += joined(html(f'<td dir="auto"{kind(i)}>{{text}}</td>', text=text) for i, text in enumerate(others, 1))
        body.append(html("<tr>{line}</tr>", line=line))
    return html(
        '<div class="wide" role="region" tabindex="0" aria-label="{caption}"><table class="texts"><caption>{caption}'
        "</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>",
        caption=caption,
        head=head,
        body=joined(body),
    )


def marked_text(label: str, pieces: Iterable[tuple[str, str, str]]) -> Markup:
    """Return a text in which words have a ground, and a small note behind them.

    Args:
        label: what the text is.
        pieces: (characters, CSS colour of the ground or "", note or ""); together they are the text.
    """
    found = []
    for text, ground, note in pieces:
        if ground or note:
            template = '<span class="mark" style="background: {ground}">{text}<small>{note}</small></span>'
            found.append(html(template, ground=ground or "transparent", text=text, note=note))
        else:
            found.append(escaped(text))
    return html(
        '<figure class="marked"><figcaption>{label}</figcaption><p dir="auto">{text}</p></figure>',
        label=label,
        text=joined(found),
    )


def tabs() -> gr.Tabs:
    """Return tabs that go on in a second line; Gradio's menu for those without room hides some that have it."""
    return gr.Tabs(overflow_behavior="wrap")


THEME = gr.themes.Default(
    primary_hue="blue",
    font=["system-ui", "-apple-system", "Segoe UI", "Roboto", "sans-serif"],  # Gradio's own come from the network
    font_mono=["ui-monospace", "Consolas", "monospace"],
).set(  # Gradio's greys are too pale to read, and white on its blue too
    body_text_color_subdued="*neutral_600",
    body_text_color_subdued_dark="*neutral_300",
    block_info_text_color="*neutral_600",
    block_info_text_color_dark="*neutral_300",
    block_label_text_color="*neutral_700",
    block_title_text_color="*neutral_700",
    input_placeholder_color="*neutral_500",
    input_placeholder_color_dark="*neutral_400",
    button_primary_background_fill="*primary_700",
    button_primary_background_fill_hover="*primary_800",
    button_primary_background_fill_dark="*primary_700",
    button_primary_background_fill_hover_dark="*primary_600",
    button_cancel_background_fill="#b91c1c",
    button_cancel_background_fill_hover="#991b1b",
    button_cancel_background_fill_dark="#b91c1c",
    button_cancel_background_fill_hover_dark="#991b1b",
    link_text_color="*primary_700",
    link_text_color_dark="*primary_300",
)

CSS = """
.gradio-container { max-width: min(64rem, 100%) !important; margin: 0 auto; }
.gradio-container, .gradio-container .column, .gradio-container .row { min-width: 0; }
.gradio-container .block { max-width: 100%; }
.prose, .marked { overflow-wrap: anywhere; }
.prose a { text-decoration: underline; }
.gradio-container button[role=tab].selected { color: var(--primary-700); }
.dark .gradio-container button[role=tab].selected, .gradio-container.dark button[role=tab].selected {
  color: var(--primary-300); }
.status { color: var(--body-text-color); font-size: var(--text-md); scroll-margin-top: .5rem; }
.status p { margin: .15rem 0; }
.status .headline { font-size: 1.3rem; line-height: 1.4; }
.status .hint, .note { color: var(--body-text-color-subdued); }
.status .problem { border-left: .3rem solid #dc2626; padding: .5rem .75rem; background: var(--block-background-fill);
  overflow-wrap: anywhere; white-space: pre-line; }
.status progress { width: 100%; accent-color: #1d4ed8; }
.wide { overflow-x: auto; max-width: 100%; padding: .2rem;  /* a shadow at the side where there is more */
  background: linear-gradient(to right, var(--body-background-fill) 30%, transparent) left / 2rem 100% local,
    linear-gradient(to left, var(--body-background-fill) 30%, transparent) right / 2rem 100% local,
    linear-gradient(to right, #0005, transparent) left / .7rem 100% scroll,
    linear-gradient(to left, #0005, transparent) right / .7rem 100% scroll;
  background-repeat: no-repeat; }
.wide:focus-visible { outline: .15rem solid #1d4ed8; }
table.numbers, table.texts { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: var(--text-md);
  color: var(--body-text-color); }
table.numbers { overflow-wrap: normal; }
table.numbers caption, table.texts caption, .marked figcaption { text-align: left; padding-bottom: .25rem;
  color: var(--body-text-color-subdued); font-size: var(--text-sm); }
table.numbers th { font-weight: normal; text-align: left; }
table.numbers th, table.numbers td { white-space: nowrap; padding: .15rem .4rem; }
table.texts { width: 100%; margin: .5rem 0; }
table.texts th, table.texts td { text-align: left; vertical-align: top; padding: .35rem .5rem;
  border-bottom: 1px solid var(--border-color-primary); }
table.texts thead th { font-weight: 600; white-space: nowrap; }
table.texts tbody th { font-weight: normal; }
table.texts td, table.texts th { overflow-wrap: break-word; }  /* whole words; a wide table scrolls by itself */
button.why { color: var(--link-text-color); text-decoration: underline; min-height: 1.6rem; }
table .number { text-align: right !important; white-space: nowrap; }
table.bars { width: 100%; }
table.bars th { padding-left: 0; width: 1%; }
table.bars th[colspan] { font-weight: 600; padding-top: .5rem; }
table.bars td:last-child { padding-right: 0; width: 1%; }
.bar { height: .9rem; min-width: 2px; border-radius: .2rem; background: #2563eb; }
.bar.muted { background: #94a3b8; }
.line { position: relative; height: 1rem; border-bottom: 1px solid var(--border-color-primary); }
.line > div { position: absolute; top: .35rem; height: .3rem; background: #94a3b8; border-radius: .15rem; }
.line > .dot { top: .15rem; width: .7rem; height: .7rem; margin-left: -.35rem; border-radius: 50%;
  background: #2563eb; }
table.intervals th { white-space: normal; overflow-wrap: anywhere; min-width: 4rem; max-width: 10rem; width: auto; }
table.intervals td:nth-child(2) { width: 65%; min-width: 9rem; padding: .15rem 1.2rem; }
.axis { position: relative; height: 1.2rem; font-size: .75rem; color: var(--body-text-color-subdued); }
.axis span { position: absolute; transform: translateX(-50%); }
.marked { margin: .5rem 0; }
.marked p { background: #fafaf9; color: #1c1917; border: 1px solid var(--border-color-primary); border-radius: .3rem;
  padding: .5rem; line-height: 2.1; margin: 0; white-space: pre-wrap; }
.mark { border-radius: .2rem; padding: .1rem .15rem; color: #1c1917; }
.mark small { font-size: .7rem; margin-left: .15rem; font-variant-numeric: tabular-nums; }
.plot { width: 100%; height: auto; color: var(--body-text-color); }
.python pre { overflow-x: auto; padding: .75rem; background: var(--block-background-fill); white-space: pre-wrap;
  border: 1px solid var(--border-color-primary); border-radius: .3rem; color: var(--body-text-color); }
table.plane td { padding: 0; }
table.plane td button { all: unset; box-sizing: border-box; width: 100%; min-width: 3.4rem; min-height: 1.8rem;
  text-align: right; padding: .15rem .4rem; cursor: pointer; }
table.plane td button:focus-visible { outline: .2rem solid #000; outline-offset: -.3rem;
  box-shadow: 0 0 0 .1rem #fff; }
table.numbers caption { white-space: normal; }
table.plane small { display: block; line-height: 1.1; }
table.plane td.here { outline: .2rem solid #f97316; outline-offset: -.1rem; font-weight: 700; }
table.matrix td, table.matrix thead th { text-align: right; border: 1px solid var(--border-color-primary); }
table.matrix td { background: color-mix(in srgb, var(--match) var(--strength, 0%), transparent); --match: #fdba74; }
.dark table.matrix td { --match: #9a3412; }
table.matrix.many { font-size: .7rem; }
table.matrix.many th, table.matrix.many td { padding: .05rem .1rem; line-height: 1.15; text-align: center; }
table.matrix.many small { display: block; font-size: .6rem; line-height: 1; }
table.matrix tbody th { position: sticky; left: 0; background: var(--body-background-fill); }
footer { flex-wrap: wrap; }
@media (max-width: 480px) {
  table.numbers { font-size: var(--text-sm); }
  table.numbers th, table.numbers td { padding: .15rem .25rem; }
  table.texts thead th, table.intervals td.number { white-space: normal; }
  table.plane td { padding: 0; }
  table.plane td button { min-width: 2.7rem; min-height: 2.2rem; }
}
"""
