"""Tables and pages as text for terminals, Markdown, LaTeX and HTML, with everything escaped."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ..core.reading import one_line

GAP, NARROW_GAP = 3, 2  # characters between two columns in a terminal
ORIGINS = {
    "judge": "what the judge says, its errors included",
}
PHONE_WIDTH = 40  # characters of a table's line on a phone


@dataclass
class Table:
    """One table of plain text; the first column is a name."""

    title: str  # what stands above it
    header: list[str]  # names of the columns
    rows: list[list[str]]  # cells as text, not escaped
    explanation: str = ""  # what stands below it
    marked: set[int] = field(default_factory=set)  # numbers of the rows that stand out
    bold: int = 1  # number of the column that is bold in a marked row, beside the first
    wraps: bool = False  # the first column is a long text, over several lines where the others need the room
    texts: Collection[int] = ()  # numbers of the columns that hold texts, which pages break over several lines
    whole: Mapping[tuple[int, int], str] = field(default_factory=dict)  # texts that pages unfold in place of a cell
    short: Mapping[str, str] = field(default_factory=dict)  # what terminals and HTML call a column
    extra: Collection[str] = ()  # columns that pages show when a reader asks for more

    @property
    def headings(self) -> list[str]:
        """What terminals and HTML call the columns."""
        return [self.short.get(name, name) for name in self.header]

    @property
    def width(self) -> int:
        """How many columns of a terminal it needs without breaking cells."""
        columns = zip(self.headings, *self.rows, strict=True)
        return sum(max(map(len, cells)) for cells in columns) + GAP * (len(self.header) - 1)

    @property
    def cards(self) -> bool:
        """Whether a phone shows each row as a block, because the columns do not fit side by side."""
        headings = [max(name.split(), key=len, default="") for name in self.headings]  # they break between words
        widths = [max(map(len, cells)) + 1 for cells in zip(headings, *self.rows, strict=True)]
        return len(widths) > 4 or sum(widths) > PHONE_WIDTH

    @property
    def origins(self) -> str:
        """What the words before the colons in the headings mean, as one line; "" where there are none."""
        words = dict.fromkeys(name.partition(": ")[0] for name in self.headings if ": " in name)
        return "; ".join(f"{word}: {ORIGINS[word]}" for word in words if word in ORIGINS)


def number(amount: float | None, digits: int = 3) -> str:
    """Return a number as text, "-" where it is not defined.

    >>> number(0.12345), number(None), number(-0.0001)
    ('0.123', '-', '0.000')
    """
    return "-" if amount is None else f"{round(amount, digits) + 0.0:.{digits}f}"


def p_value(probability: float | None) -> str:
    """Return a p-value as text.

    >>> p_value(0.2), p_value(0.00002)
    ('0.200', '<0.001')
    """
    return "<0.001" if probability is not None and probability < 0.001 else number(probability)


def estimate(numbers: Mapping | None, digits: int = 3, limit_digits: int | None = None, name: str = "value") -> str:
    """Return an estimate with its interval as text; `name` is the key of the estimate beside "low" and "high".

    >>> estimate({"value": 0.5, "low": 0.4, "high": 0.61}), estimate({"value": 0.5, "low": None, "high": None})
    ('0.500 [0.400, 0.610]', '0.500')
    """
    if numbers is None or numbers[name] is None:
        return "-"
    if numbers["low"] is None:
        return number(numbers[name], digits)
    low, high = (number(numbers[end], limit_digits or digits) for end in ("low", "high"))
    return f"{number(numbers[name], digits)} [{low}, {high}]"


def accuracy_cell(accuracy: Mapping | None) -> str:
    """Return the accuracy of a system as text; see `judge_errors.JudgeErrors.accuracy`.

    >>> accuracy_cell({"accuracy": 0.5, "low": 0.4, "high": 0.61})
    '0.500 [0.400, 0.610]'
    >>> accuracy_cell({"accuracy": None, "labelled": 0, "judged": 0.25, "rows": 8})
    'cannot tell (2 of 8 judged right)'
    >>> accuracy_cell({"accuracy": None, "labelled": 4, "labelled_right": 3, "judged": 0.25})
    'cannot tell (3 of 4 labelled right)'
    """
    if accuracy is None:
        return "-"
    if accuracy["accuracy"] is not None:
        return estimate(accuracy, name="accuracy")
    if accuracy["labelled"]:
        return f"cannot tell ({accuracy['labelled_right']:,} of {accuracy['labelled']:,} labelled right)"
    return f"cannot tell ({round(accuracy['judged'] * accuracy['rows']):,} of {accuracy['rows']:,} judged right)"


def source_cell(accuracy: Mapping | None) -> str:
    """Return the source of a system's accuracy with the labelled rows; see `judge_errors.JudgeErrors.accuracy`.

    >>> source_cell({"source": "labels and judge", "labelled": 6, "rows": 20})
    'labels of 6 of 20 and judge'
    >>> source_cell({"source": "judge, corrected", "labelled": 1, "rows": 20})
    'judge, corrected'
    """
    if accuracy is None:
        return "-"
    source = "labels" if accuracy["source"] == "-" and accuracy["labelled"] else accuracy["source"]
    return source.replace("labels", f"labels of {accuracy['labelled']:,} of {accuracy['rows']:,}")


# A line break is a space; what would control a terminal, turn the direction of writing, or is half a letter is shown.
_CONTROLS = [*range(0x20), *range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_VISIBLE = dict.fromkeys([*_CONTROLS, *range(0xD800, 0xE000)], "\ufffd")
ESCAPES_IN_JSON = {letter: f"\\u{letter:04x}" for letter in _VISIBLE if letter > 0x1F}
_VISIBLE |= dict.fromkeys((0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029), " ")


def listed(names: Sequence[str]) -> str:
    """Return names as one phrase.

    >>> listed(["BLEU-1", "ROUGE-L", "BERTScore"])
    'BLEU-1, ROUGE-L and BERTScore'
    """
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def visible(text: str) -> str:
    r"""Return a text on one line without characters that control a terminal or the direction of writing.

    >>> visible("a\x1b[31m\nb")
    'a\ufffd[31m b'
    """
    return text if text.isascii() and text.isprintable() else text.translate(_VISIBLE)


def as_json(report: Mapping) -> str:
    r"""Return everything in a report as one JSON object; equal reports give equal bytes.

    Characters that would control a terminal or the direction of writing are written as escapes.

    >>> as_json({"name": "\x9b\u202e"})
    '{\n  "name": "\\u009b\\u202e"\n}\n'
    """
    return json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False).translate(ESCAPES_IN_JSON) + "\n"


_LATEX = {letter: f"\\{letter}" for letter in "&%$#_{}"}
_LATEX |= {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"}
_LATEX |= {"<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}"}


def latex(text: str) -> str:
    r"""Return a text so that LaTeX prints it.

    >>> print(latex("50%_a"))
    50\%\_a
    """
    return "".join(_LATEX.get(letter, letter) for letter in visible(text))


def markdown(text: str) -> str:
    r"""Return a text so that Markdown, with the extensions of GitHub, prints it.

    >>> print(markdown("<b> *x* | rougeL_kpqa _y_"))
    \<b\> \*x\* \| rougeL_kpqa \_y\_
    """
    text = re.sub(r"([\\`*<>#|~$]|&(?=[#\w])|\](?=[(\[:]))", r"\\\1", visible(text))
    text = re.sub(r"(?<![^\W_])_|_(?![^\W_])", r"\\_", text)  # between letters it is only a letter
    return re.sub(r"^(\s*)([-+])(?=\s)", r"\1\\\2", text)


def markdown_code(text: str) -> str:
    """Return a text as inline code in Markdown, within as many backticks as it needs.

    >>> markdown_code("a`b")
    '`` a`b ``'
    """
    text = visible(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{text}{fence}" if fence == "`" else f"{fence} {text} {fence}"


def _blocks(widths: Sequence[int], width: int) -> list[list[int]]:
    """Return blocks of columns that fit side by side; the first column is in every block.

    >>> _blocks([10, 20, 20, 20], 60)
    [[0, 1, 2], [0, 3]]
    """
    blocks, room = [[0]], width - widths[0]
    for column, needed in enumerate(widths[1:], 1):
        if needed + NARROW_GAP > room and len(blocks[-1]) > 1:
            blocks.append([0])
            room = width - widths[0]
        blocks[-1].append(column)
        room -= needed + NARROW_GAP
    return blocks


def _widths(columns: Sequence[Sequence[str]]) -> list[int]:
    """Return the width in characters of columns whose cells have several lines."""
    from rich.cells import cell_len

    return [max(cell_len(line) for cell in cells for line in cell.split("\n")) for cells in columns]


def print_table(table: Table, console) -> None:
    """Print a table; one that is too wide for the terminal has intervals below their values, and blocks of columns."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    width = console.width
    headings = list(map(visible, table.headings))
    columns = [list(cells) for cells in zip(headings, *(map(visible, row) for row in table.rows), strict=True)]
    widths, bold = _widths(columns), table.bold
    blocks = [list(range(len(columns)))]
    narrow = sum(widths) + GAP * (len(columns) - 1) > width
    if narrow:
        # Columns without a value, such as p-values of a test that was not made, leave their room to the others.
        kept = [0, *(column for column in blocks[0][1:] if set(columns[column][1:]) != {"-"})]
        columns, headings = [columns[column] for column in kept], [headings[column] for column in kept]
        bold = kept.index(bold) if bold in kept else 0
        for column in range(1, len(columns)):
            name = re.sub(r"_| (?=\S{3}|\w$)", "\n", headings[column])
            columns[column] = [name, *(cell.replace(" [", "\n[") for cell in columns[column][1:])]
        widths = _widths(columns)
        if table.wraps:
            widths[0] = min(widths[0], max(24, width - sum(widths[1:]) - NARROW_GAP * (len(columns) - 1)))
        blocks = _blocks(widths, width)
    gap = NARROW_GAP if narrow else GAP
    if table.title:
        console.print(Text(visible(table.title), style="bold"))
    for block in blocks:
        shown = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, gap - 2))
        shown.header_style = "bold"
        for column in block:
            looks = {"justify": "right" if column else "left", "vertical": "top" if narrow else "bottom"}
            wraps = table.wraps and column == 0
            shown.add_column(Text(columns[column][0]), **looks, no_wrap=not wraps, max_width=widths[column])
        for number_, row in enumerate(zip(*(columns[column][1:] for column in block), strict=True)):
            style = "bold green" if number_ in table.marked else ""
            cells = zip(block, row, strict=True)
            shown.add_row(*(Text(cell, style if column in (0, bold) else "") for column, cell in cells))
        # What is still too wide goes over the edge; cut numbers would be of no use.
        console.width = max(width, sum(widths[column] + gap for column in block))
        console.print(shown, crop=False)
        console.width = width
    if table.short:
        in_full = (f"{table.short[name]}: {name}" for name in table.header if name in table.short)
        console.print(Text(visible("; ".join(in_full)), style="dim"))
    if table.explanation:
        # A signature, which has no spaces, is one line that can be copied.
        console.print(Text(visible(table.explanation), style="dim"), soft_wrap=" " not in table.explanation)
    console.print()


def markdown_table(table: Table) -> str:
    """Return a table in Markdown, without its title and explanation."""
    lines = [[markdown(name) for name in table.header], ["---", *["---:"] * (len(table.header) - 1)]]
    for i, row in enumerate(table.rows):
        cells = [markdown(cell) for cell in row]
        lines.append([f"**{cells[0]}**", *cells[1:]] if i in table.marked else cells)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


MAX_CAPTION = 200  # characters


def latex_table(table: Table) -> str:
    """Return a table in LaTeX, with booktabs; a marked row has its name and its bold column in bold.

    Its label is the title after "tab:", and so is its caption, cut after `MAX_CAPTION` characters.
    """
    label, caption, note = table.title.lower(), f"{table.title}.", table.explanation
    caption = caption if len(caption) <= MAX_CAPTION else f"{caption[: MAX_CAPTION - 3]}..."
    lines = [
        "\\begin{table}[ht]",
        "  \\centering",
        f"  \\caption{{{latex(caption)}}}",
        f"  \\label{{tab:{re.sub('[^A-Za-z0-9]+', '-', label)}}}",
        f"  \\begin{{tabular}}{{@{{}}l{'r' * (len(table.header) - 1)}@{{}}}}",
        "    \\toprule",
        f"    {' & '.join(map(latex, table.header))} \\\\",
        "    \\midrule",
    ]
    for i, row in enumerate(table.rows):
        name, *cells = map(latex, row)
        name = f"{{}}{name}" if name.startswith(("[", "*")) else name  # else an argument of the line's end above
        if i in table.marked:
            name = f"\\textbf{{{name}}}"
            cells = [f"\\textbf{{{cell}}}" if i == table.bold else cell for i, cell in enumerate(cells, 1)]
        lines.append(f"    {' & '.join([name, *(cell.replace(' - ', ' -- ') for cell in cells)])} \\\\")
    below = [f"  \\par\\smallskip{{\\footnotesize {latex(note)}}}"] if note else []
    return "\n".join([*lines, "    \\bottomrule", "  \\end{tabular}", *below, "\\end{table}"])


def html_table(
    table: Table,
    text_columns: Collection[int] | None = None,
    intervals: Any = None,
    colours: Mapping[str, int] | None = None,
    foldable: bool = False,
):
    """Return a table in HTML (`markupsafe.Markup`), without its title and explanation.

    `text_columns` are aligned at the left, of a table whose title is its caption. `intervals` (`charts.Intervals`) are
    drawn behind their column; `colours` are numbers of systems' colours, see page.css; `foldable`: `Table.extra` is
    hidden at first.
    """
    options = {"texts": text_columns, "intervals": intervals, "colours": colours or {}, "foldable": foldable}
    drawn_behind = table.header.index(intervals.column) if intervals else None
    return render("table.html", table=table, rows=table.rows, drawn_behind=drawn_behind, **options)


@cache
def _templates():
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    def shown(text: object) -> object:
        return visible(text) if isinstance(text, str) and not isinstance(text, Markup) else text

    loader, options = FileSystemLoader(Path(__file__).with_name("templates")), {"autoescape": True, "finalize": shown}
    options |= {"undefined": StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    environment = Environment(loader=loader, **options)
    environment.filters |= {"with_code": with_code, "with_lines": with_lines, "one_line": one_line}
    return environment


# A command in a sentence: its verb, options, files and placeholders; or an option that sets a value.
_COMMAND = re.compile(
    r"(?<![>\w-])(?:genqa-metrics [a-z]+(?: (?:-m \w+|--metric \w+|--?[a-z][a-z-]*|[A-Z]+\b"
    r"|[\w.]+=[\w.]*\w|\d+\b|&#39;.*?&#39;|[\w./-]+\.[a-z]+\b))*"
    r"|(?:-m|--metric) [a-z_]+|--set [\w.]+=[\w.]*\w)"
)


def with_code(text: str):
    """Return a sentence as HTML (`markupsafe.Markup`): `names` and commands as code, signatures break at separators.

    A signature that is copied from the page is the signature: `<wbr>` is no character.

    >>> with_code("`compare` reads a|b:x+y|c"), with_code("<i> | `")
    (Markup('<code>compare</code> reads a|<wbr>b:x+<wbr>y|<wbr>c'), Markup('&lt;i&gt; | `'))
    >>> print(with_code("+-18 points (+-5 points need more)"))
    ±18 points (±5 points need more)
    >>> with_code("genqa-metrics label FILE -n 24 labels.jsonl")
    Markup('<code>genqa-metrics label FILE <span class="option">-n</span> 24 labels.jsonl</code>')
    >>> with_code("genqa-metrics explain 'my a.csv' -s ava.threshold=0.6.")
    Markup('<code>genqa-metrics explain &#39;my a.csv&#39; <span class="option">-s</span> ava.threshold=0.6</code>.')
    """
    from markupsafe import Markup, escape

    shown = re.sub(r"(?<![^\s(])\+-(?=\d)", "\u00b1", visible(text))
    shown = re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(shown)))
    shown = _COMMAND.sub(r"<code>\g<0></code>", shown)
    shown = re.sub(r"(?<=[ >])--?[a-z][a-z-]*", r'<span class="option">\g<0></span>', shown)  # on one line
    words = (re.sub(r"[|+](?=.)", r"\g<0><wbr>", w) if w.count("|") > 1 else w for w in shown.split(" "))
    return Markup(" ".join(words))


def with_lines(text: str):
    """Return a text as HTML (`markupsafe.Markup`) with its line breaks, for an element that keeps them."""
    from markupsafe import Markup, escape

    return Markup("\n").join(escape(visible(line)) for line in re.split(r"\r\n?|\n", text))


def render(name: str, **context):
    """Return the file `name` of the folder templates, filled in with `context`, as `markupsafe.Markup`.

    Strings in `context` are made visible (see `visible`) and escaped, except those that are `Markup`.

    >>> print(render("notes.html", notes=["<i>"]))
    <p class="note">Note: &lt;i&gt;</p>
    """
    from markupsafe import Markup

    return Markup(_templates().get_template(name).render(context))


def page(title: str, body, *styles, script=None, served: bool = False) -> str:
    """Return the text of one HTML page that needs no outside resource.

    `body` is `markupsafe.Markup`; a plain string is escaped. `styles` are texts of CSS, which follow page.css and
    cards.css. The browser runs no script but the text `script`, which the page's policy names by its SHA-256; that of
    a page that is `served` may ask its server.
    """
    import base64
    import hashlib

    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() if script else None
    styles = [render("page.css"), render("cards.css"), *styles]
    return str(render("page.html", title=title, body=body, styles=styles, script=script, digest=digest, served=served))
