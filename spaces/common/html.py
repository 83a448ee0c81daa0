"""HTML of the demos: numbers, tables, charts and marked texts.

Every text becomes HTML in one place, `escaped`. Values of type `markupsafe.Markup` are HTML already.
"""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from genqa_metrics.reports.table import Table, estimate, html_table, render
from markupsafe import Markup, escape

STYLE = Path(__file__).with_name("style.css")
# Gradio renders HTML as a template of JavaScript and of Handlebars: neither may see a placeholder in a visitor's text.
_TEMPLATE = str.maketrans({"$": "&#36;", "{": "&#123;", "}": "&#125;", "`": "&#96;", "\\": "&#92;"})


def script(name: str) -> str:
    """Return a script of JavaScript that lies beside this file."""
    return STYLE.with_name(name).read_text(encoding="utf-8").strip()


def escaped(text: object) -> Markup:
    """Return a text as HTML that shows it; `Markup` stays as it is.

    >>> escaped("<b>${1}"), escaped(Markup("<b>1</b>"))
    (Markup('&lt;b&gt;&#36;&#123;1&#125;'), Markup('<b>1</b>'))
    """
    return text if isinstance(text, Markup) else Markup(str(escape(text)).translate(_TEMPLATE))


def fill(template: str, **values: object) -> Markup:
    """Return an HTML template with values in it, each escaped.

    >>> fill("<b>{text}</b>", text="<")
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
    """Return a probability as text; only 0 and 1 are shown as 0 and 1.

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
    """Return a headline and the sentences after it; `**bold**` is the only mark-up in them.

    >>> headline("F is **0.5**.", "So <so>.")
    Markup('<p class="headline">F is <b>0.5</b>.</p><p>So &lt;so&gt;.</p>')
    """
    return fill('<p class="headline">{text}</p>', text=_bold(text)) + paragraphs(*more)


def paragraphs(*sentences: str) -> Markup:
    """Return sentences that are not empty, one paragraph each; `**bold**` is the only mark-up in them.

    >>> paragraphs("**a**", "")
    Markup('<p><b>a</b></p>')
    """
    return joined(fill("<p>{text}</p>", text=_bold(sentence)) for sentence in sentences if sentence)


def _bold(sentence: str) -> Markup:
    parts = escaped(sentence).split("**")
    return joined(fill("<b>{part}</b>", part=part) if i % 2 else part for i, part in enumerate(parts))


def notes(sentences: Sequence[str]) -> Markup:
    """Return notes on the numbers, folded under the number of them; "" for none.

    >>> notes(["few rows"])
    Markup('<details class="notes"><summary>A note on these numbers</summary><p>few rows.</p></details>')
    """
    if not sentences:
        return Markup()
    title = "A note on these numbers" if len(sentences) == 1 else f"{len(sentences)} notes on these numbers"
    return fill(
        '<details class="notes"><summary>{title}</summary>{text}</details>',
        title=title,
        text=paragraphs(*(f"{sentence.rstrip('.')}." for sentence in sentences)),
    )


def bars(
    groups: Sequence[tuple[str, Sequence[tuple[str, float]]]],
    caption: str,
    muted: Collection[str] = (),
    metric: str = "",
) -> Markup:
    """Return a chart of scores from 0 to 1 as an HTML table.

    Args:
        groups: (heading or "", [(label, score), ...]).
        caption: what the chart shows.
        muted: labels whose bars are grey.
        metric: a class of the style sheet, which gives the colour.
    """
    rows = []
    for heading, values in groups:
        if heading:
            rows.append(fill('<tr><th colspan="3" scope="rowgroup">{heading}</th></tr>', heading=heading))
        rows += [
            fill(
                '<tr><th scope="row">{label}</th><td><div class="bar{shade}" style="width: {width}%"></div></td>'
                '<td class="number">{score}</td></tr>',
                label=label,
                shade=" muted" * (label in muted),
                width=f"{100 * min(1.0, max(0.0, score)):.1f}",
                score=probability(score, 3),
            )
            for label, score in values
        ]
    return fill(
        '<table class="numbers bars {metric}"><caption>{caption}</caption><tbody>{rows}</tbody></table>',
        metric=metric,
        caption=caption,
        rows=joined(rows),
    )


def intervals(rows: Sequence[tuple[str, float, float | None, float | None]], caption: str, metric: str = "") -> Markup:
    """Return a plot of values from 0 to 1 with their intervals: names at the left, an axis below.

    Args:
        rows: (name, value, lower end, upper end); ends are None where there is no interval.
        caption: what the plot shows.
        metric: a class of the style sheet, which gives the colour.
    """
    lines = []
    for name, value, low, high in rows:
        left, middle, right = (
            100 * min(1.0, max(0.0, each))
            for each in (value if low is None else low, value, value if high is None else high)
        )
        span = fill(
            '<div class="span" style="left: {left}%; width: {width}%"></div>',
            left=f"{left:.2f}",
            width=f"{right - left:.2f}",
        )
        lines.append(
            fill(
                '<tr><th scope="row" dir="auto">{name}</th><td><div class="line">{span}'
                '<div class="dot" style="left: {middle}%"></div></div></td><td class="number">{text}</td></tr>',
                name=name,
                span="" if low is None else span,
                middle=f"{middle:.2f}",
                text=estimate({"value": value, "low": low, "high": high}).replace(", ", ",\u00a0"),
            )
        )
    ticks = joined(fill('<span style="left: {at}%">{tick}</span>', at=25 * i, tick=f"{i / 4:.2f}") for i in range(5))
    return fill(
        '<table class="numbers bars intervals {metric}"><caption>{caption}</caption><tbody>{lines}'
        '<tr aria-hidden="true"><td></td><td><div class="axis">{ticks}</div></td><td></td></tr></tbody></table>',
        metric=metric,
        caption=caption,
        lines=joined(lines),
        ticks=ticks,
    )


def table(
    header: Sequence[str], rows: Iterable[Sequence[object]], caption: str, numbers: Collection[int] = ()
) -> Markup:
    """Return a table in the HTML of the toolkit's reports; the first cell of a row is its header.

    Args:
        header: one name per column.
        rows: cells, texts or `Markup`.
        caption: what the table shows.
        numbers: columns of numbers, from 0, which are aligned at the right.
    """
    texts = set(range(len(header))) - set(numbers)
    return of_a_report(html_table(Table(caption, list(header), list(map(list, rows))), text_columns=texts))


def of_a_report(found: Markup) -> Markup:
    """Return HTML of the toolkit's reports, without placeholders of Gradio's templates."""
    return Markup(found.translate(_TEMPLATE))


def style() -> str:
    """Return the style sheet of all demos."""
    return STYLE.read_text(encoding="utf-8") + str(render("rows.css")) + str(render("cards.css"))


def marked_text(label: str, pieces: Iterable[tuple[str, str, str]]) -> Markup:
    """Return a text in which words have a background colour and a small note behind them.

    Args:
        label: what the text is.
        pieces: (characters, CSS colour or "", note or ""); together they are the text.
    """
    template = '<span class="mark" style="background: {colour}">{text}<small>{note}</small></span>'
    found = [
        fill(template, colour=colour or "transparent", text=text, note=note) if colour or note else escaped(text)
        for text, colour, note in pieces
    ]
    return fill(
        '<figure class="marked"><figcaption>{label}</figcaption><p dir="auto">{text}</p></figure>',
        label=label,
        text=joined(found),
    )
