"""Tables, and how they are written: terminal, Markdown, HTML."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape


@dataclass
class Table:
    """One table: cells are text, the first column is a name; `marked` are the rows that stand out."""

    title: str
    header: list[str]
    rows: list[list[str]]
    explanation: str = ""
    marked: set[int] = field(default_factory=set)


def as_json(report: Mapping) -> str:
    """Return everything in a report as one JSON object; equal reports give equal bytes."""
    return json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def number(value: float | None, digits: int = 3) -> str:
    """Return a number as text, "-" where it is not defined.

    >>> number(0.12345), number(None), number(-0.0001)
    ('0.123', '-', '0.000')
    """
    if value is None:
        return "-"
    return f"{round(value, digits) + 0.0:.{digits}f}"


def p_value(value: float | None) -> str:
    """Return a p-value as text.

    >>> p_value(0.2), p_value(0.00002)
    ('0.200', '<0.001')
    """
    return "<0.001" if value is not None and value < 0.001 else number(value)


def estimate(found: Mapping | None, digits: int = 3) -> str:
    """Return an estimate with its interval as text.

    >>> estimate({"value": 0.5, "low": 0.4, "high": 0.61})
    '0.500 (0.40, 0.61)'
    """
    if found is None or found["value"] is None:
        return "-"
    limits = "" if found["low"] is None else f" ({number(found['low'], 2)}, {number(found['high'], 2)})"
    return number(found["value"], digits) + limits


def markdown_table(table: Table) -> str:
    """Return a table in Markdown."""
    lines = [table.header, ["---", *["---:"] * (len(table.header) - 1)]]
    for place, row in enumerate(table.rows):
        cells = [cell.replace("|", "\\|").replace("\n", " ") for cell in row]
        lines.append([f"**{cells[0]}**", *cells[1:]] if place in table.marked else cells)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def print_table(table: Table, console) -> None:
    """Print one table.

    Args:
        table: the table.
        console: a `rich.console.Console`.
    """
    import sys

    from rich import box
    from rich.measure import Measurement
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    for place, name in enumerate(table.header):
        shown.add_column(Text(name), justify="left" if place == 0 else "right", vertical="bottom", no_wrap=True)
    for place, row in enumerate(table.rows):
        style = "bold green" if place in table.marked else ""
        shown.add_row(*(Text(visible(cell), style=style if column < 2 else "") for column, cell in enumerate(row)))
    console.print(Text(table.title, style="bold"))
    # A table that is too wide for the terminal goes over the edge; cut numbers would be of no use.
    width = console.width
    needed = Measurement.get(console, console.options.update(max_width=sys.maxsize), shown).maximum
    console.width = max(width, needed)
    console.print(shown, crop=False)
    console.width = width
    if table.explanation:
        console.print(Text(table.explanation, style="dim"))
    console.print()


def html_table(table: Table) -> str:
    """Return a table in HTML."""
    header = "".join(f'<th scope="col">{escape(name)}</th>' for name in table.header)
    lines = [f'<div class="wide"><table><thead><tr>{header}</tr></thead>', "<tbody>"]
    for place, (name, *cells) in enumerate(table.rows):
        marked = ' class="marked"' if place in table.marked else ""
        shown = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        lines.append(f'<tr{marked}><th scope="row">{escape(name)}</th>{shown}</tr>')
    return "\n".join([*lines, "</tbody></table></div>"])


# A line break is a space, and what would control a terminal or turn the direction of writing is shown, not obeyed.
_CONTROLS = [*range(0x20), *range(0x7F, 0xA0), 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_VISIBLE = dict.fromkeys(_CONTROLS, "\ufffd") | dict.fromkeys((0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x85), " ")


def visible(text: str) -> str:
    """Return a text without characters that control a terminal or the direction of writing."""
    return text.translate(_VISIBLE)


_LATEX = {letter: f"\\{letter}" for letter in "&%$#_{}"}
_LATEX |= {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"}
_LATEX |= {"<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}"}


def latex(text: str) -> str:
    r"""Return a text so that LaTeX prints it.

    >>> print(latex("50%_a"))
    50\%\_a
    """
    return "".join(_LATEX.get(letter, letter) for letter in visible(text))


def latex_table(table: Table, label: str, caption: str) -> str:
    """Return a table in LaTeX, with booktabs."""
    lines = [
        "\\begin{table}[ht]",
        "  \\centering",
        f"  \\caption{{{caption}}}",
        f"  \\label{{tab:{label}}}",
        f"  \\begin{{tabular}}{{@{{}}l{'r' * (len(table.header) - 1)}@{{}}}}",
        "    \\toprule",
        f"    {' & '.join(map(latex, table.header))} \\\\",
        "    \\midrule",
    ]
    for place, (name, *cells) in enumerate(table.rows):
        shown = [latex(name), *(latex(cell).replace(" - ", " -- ") for cell in cells)]
        if place in table.marked:
            shown[0] = f"\\textbf{{{shown[0]}}}"
        lines.append(f"    {' & '.join(shown)} \\\\")
    return "\n".join([*lines, "    \\bottomrule", "  \\end{tabular}", "\\end{table}"])


def limits(estimate: Mapping) -> str:
    """Return a score with its interval as text.

    >>> limits({"value": 0.5, "low": 0.4, "high": 0.61})
    '0.500 [0.400, 0.610]'
    """
    return f"{number(estimate['value'])} [{number(estimate['low'])}, {number(estimate['high'])}]"
