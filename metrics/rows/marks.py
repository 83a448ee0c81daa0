"""Marks in CSV that is written, so that no spreadsheet runs a text as a formula; reading takes them off."""

import json
import re

# A spreadsheet runs a cell that begins so as a formula. Written cells get an apostrophe before it, as OWASP advises
# against CSV injection; it is removed on reading, so that texts come back unchanged. A text that begins with a bracket
# gets one too, for it would be read as a JSON list. Many spreadsheets split at other separators than the file's: where
# a formula follows one of these, it gets an apostrophe there, and the cell one at its start.
_FORMULA = re.compile(r"'*[=+\-@\t\r\[＝＋－＠]")
_INSIDE = re.compile(r"""(?<=[,;|\t\r\n])(?=["']*[=+\-@＝＋－＠])""")
_MARKED_INSIDE = re.compile(r"""(?<=[,;|\t\r\n])'(?=["']*[=+\-@＝＋－＠])""")
_INSIDE_LIST = re.compile(r"""(?<=[,;|])(["'\\]*)([=+\-@＝＋－＠])""")


class PlainCell(str):
    """A cell of CSV that had a mark: a text, even if it begins with a bracket."""

    __slots__ = ()


def marked(cell: str) -> str:
    """Return a cell of CSV that no spreadsheet runs as a formula, whatever separator it splits at.

    >>> marked("=1+1"), marked("'=1+1"), marked("it's"), marked("a;=1+1")
    ("'=1+1", "''=1+1", "it's", "'a;'=1+1")
    """
    if _INSIDE.search(cell):
        return "'" + _INSIDE.sub("'", cell)
    return f"'{cell}" if _FORMULA.match(cell) else cell


def marked_list(texts: list) -> str:
    r"""Return a list as a cell of CSV: JSON, in which what a spreadsheet might run as a formula is escaped.

    >>> marked_list(["a;=1+1", "-1"])
    '["a;\\u003d1+1", "-1"]'
    """
    text = json.dumps(texts, ensure_ascii=False)
    return _INSIDE_LIST.sub(lambda match: f"{match[1]}\\u{ord(match[2]):04x}", text)


def without_mark(cell: str) -> str:
    """Return the cell from which `marked` made this one.

    >>> without_mark("'=1+1"), without_mark("''=1+1"), without_mark("'quoted'"), without_mark("'a;'=1+1")
    ('=1+1', "'=1+1", "'quoted'", 'a;=1+1')
    """
    if cell[:1] == "'" and _MARKED_INSIDE.search(cell):
        return PlainCell(_MARKED_INSIDE.sub("", cell[1:]))
    return PlainCell(cell[1:]) if cell[:1] == "'" and _FORMULA.match(cell) else cell
