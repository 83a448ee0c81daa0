"""HTML of the demos: sentences, numbers, and the toolkit's tables and reports.

Every text becomes HTML in one place, `escaped`. Values of type `markupsafe.Markup` are HTML already.
"""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from genqa_metrics.reports.table import Table, html_table
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

NARROW = 40  # characters of a row of a table that stays a table on phones
# Gradio renders HTML as a template of JavaScript and of Handlebars: neither may see a placeholder in a visitor's text.
_TEMPLATE = str.maketrans({"$": "&#36;", "{": "&#123;", "}": "&#125;", "`": "&#96;", "\\": "&#92;"})


def text_beside(file: str, name: str) -> str:
    """Return the text of a file in the folder of another one."""
    return Path(file).resolve().with_name(name).read_text(encoding="utf-8")


def script(name: str) -> str:
    """Return a script of JavaScript of this folder."""
    return text_beside(__file__, name).strip()


def escaped(text: object) -> Markup:
    """Return a text as HTML that shows it; `Markup` stays as it is.

    >>> escaped("<b>${1}"), escaped(Markup("<b>1</b>"))
    (Markup('&lt;b&gt;&#36;&#123;1&#125;'), Markup('<b>1</b>'))
    """
    return text if isinstance(text, Markup) else Markup(str(escape(text)).translate(_TEMPLATE))


def fill(template: str, **texts: object) -> Markup:
    """Return an HTML template with texts in it, each escaped.

    >>> fill("<b>{text}</b>", text="<")
    Markup('<b>&lt;</b>')
    """
    return Markup(template.format(**{name: escaped(text) for name, text in texts.items()}))


def rendered(app: str, name: str, **variables: object) -> Markup:
    """Return a template of jinja2 that stands beside a demo, with variables in it, each escaped."""
    template = Environment(autoescape=True, undefined=StrictUndefined).from_string(text_beside(app, name))
    return Markup(template.render(variables))


def scores(about: str, sides: Sequence[str], rows: Sequence[tuple]) -> Markup:
    """Return a table of scores from 0 to 1 with bars: rows of a name, a note, and (score, text behind it) by side.

    >>> scores("score", ["A"], [("F", "<so>", [(0.5, "")])]).striptags().split()
    ['Scores', 'from', '0', 'to', '1scoreA', 'F<so>0.50']
    """
    return rendered(__file__, "scores.html.j2", about=about, sides=sides, rows=rows)


def joined(texts: Iterable[object]) -> Markup:
    """Return texts one after the other, each escaped.

    >>> joined(["<", Markup("<br>")])
    Markup('&lt;<br>')
    """
    return Markup().join(map(escaped, texts))


def frame(name: str, report: str, classes: str = "embedded") -> Markup:
    """Return a page of the toolkit's reports in a frame as high as it is; `name` is for screen readers.

    For `classes` see page.css; "headed": the page around it has its headline; "rows-first": the answers stand above
    the tables, which are folded.
    """
    report = report.replace("<html ", f'<html class="{classes}" ', 1)
    return fill('<iframe title="{name}" onload="fitFrame(this)" srcdoc="{report}"></iframe>', name=name, report=report)


def notes(warnings: Iterable[str]) -> list[str]:
    """Return warnings of a metric as sentences, but for those about options of the command, which a page has not.

    >>> notes(["1 text was cut", "no reason; --set ava.checkpoint=large gives one"])
    ['Note: 1 text was cut.']
    """
    return [f"Note: {warning}." for warning in warnings if "--" not in warning]


def hint(text: str) -> Markup:
    """Return a quiet sentence.

    >>> hint("Stopped.")
    Markup('<p class="hint">Stopped.</p>')
    """
    return fill('<p class="hint">{text}</p>', text=text)


def headline(text: str, *more: str) -> Markup:
    """Return a headline and the sentences after it that are not empty; `**bold**` is the only mark-up in them.

    >>> headline("F is **0.5**.", "So <so>.", "")
    Markup('<p class="headline">F is <b>0.5</b>.</p><p>So &lt;so&gt;.</p>')
    """
    paragraphs = joined(fill("<p>{text}</p>", text=_bold(sentence)) for sentence in more if sentence)
    return fill('<p class="headline">{text}</p>', text=_bold(text)) + paragraphs


def _bold(sentence: str) -> Markup:
    pieces = escaped(sentence).split("**")
    return joined(fill("<b>{text}</b>", text=text) if i % 2 else text for i, text in enumerate(pieces))


def python(code: str) -> Markup:
    """Return Python code as HTML."""
    return fill('<pre tabindex="0" aria-label="Code for Python"><code>{code}</code></pre>', code=code.strip())


def table(header: Sequence[str], rows: Iterable[Sequence], caption: str, numbers: Collection[int] = ()) -> Markup:
    """Return a table in the HTML of the toolkit's reports; `numbers` are columns, from 0, aligned at the right."""
    texts, cells = set(range(len(header))) - set(numbers), list(map(list, rows))
    markup = str(html_table(Table(caption, list(header), cells), text_columns=texts))
    if sum(max(len(Markup(row[i]).striptags()) for row in [header, *cells]) for i in range(len(header))) < NARROW:
        markup = markup.replace(' cards"', '"', 1)
    return Markup(markup.translate(_TEMPLATE))
