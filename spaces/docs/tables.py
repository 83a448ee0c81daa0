"""Tables on a phone: those of words become one card a row, those of numbers keep their first column in view."""

import re

from bs4 import BeautifulSoup, Tag

TABLE = re.compile(r"<table class=\"docutils(?:(?!<table\b).)*?</table>", re.DOTALL)
INTERVAL = re.compile(r"\[-?[\d.]+, -?[\d.]+\]|\(-?[\d.]+, -?[\d.]+\)")
MANY_WORDS = 3
# A number and, behind it, intervals or further numbers: 0.748 (0.70, 0.79) / 0.698
MEASURED = re.compile(r"([-+]?\d*\.?\d+%?|-)((?: [\[(][-+\d., to]+[\])]| ?/ ?(?:[-+]?\d*\.?\d+%?|-))*)")


def for_phones(body: str) -> str:
    """Return the HTML of a page whose tables have what `static/site.css` needs to set them on a narrow screen.

    >>> words = "<table class='docutils'><thead><tr><th>a</th><th>b</th><th>c</th></tr></thead><tbody>"
    >>> words += "<tr><td>x</td><td>one two three</td><td>four five six</td></tr></tbody></table>"
    >>> for_phones(words.replace("'", '"')).count("data-label")
    3
    """
    return TABLE.sub(lambda match: _set(match[0]), body)


def _set(table: str) -> str:
    soup = BeautifulSoup(table, "html.parser")
    names = [cell.get_text(" ", strip=True) for cell in soup.select("thead th")]
    rows = [row.find_all(["td", "th"]) for row in soup.select("tbody tr")]
    if len(names) > 2 and _has_words(rows):
        soup.table["class"].append("cards")
        # As blocks they would be no table to a screen reader.
        for name, role in (("table", "table"), ("tr", "row"), ("th", "columnheader"), ("td", "cell")):
            for tag in soup.select(name):
                tag["role"] = role
        for row in rows:
            for name, cell in zip(names, row, strict=True):
                cell["data-label"] = name
                if not cell.get_text(strip=True):
                    cell["class"] = [*cell.get("class", []), "empty"]
    else:
        soup.table["class"].append("numbers")
        folded = [_fold_what_follows(soup, cell) for row in rows for cell in row[1:]]
        markup = INTERVAL.sub(r'<span class="whole">\g<0></span>', str(soup))  # a line breaks beside it, not within
        box = '<label class="further"><input type="checkbox"> intervals and further numbers</label>'
        return f'<div class="measured">{box}{markup}</div>' if any(folded) else markup
    return str(soup)


def _fold_what_follows(soup: BeautifulSoup, cell: Tag) -> bool:
    """Fold what stands behind the number of a cell, which a box above the table shows; return whether there is any.

    >>> soup = BeautifulSoup("<td><strong>0.748</strong> (0.70, 0.79) / <strong>0.698</strong></td>", "html.parser")
    >>> _fold_what_follows(soup, soup.td), str(soup)
    (True, '<td><strong>0.748</strong><span class="more"> (0.70, 0.79) / <strong>0.698</strong></span></td>')
    """
    measured = MEASURED.fullmatch(cell.get_text(" ", strip=True).replace("  ", " "))
    if not (measured and measured[2]):
        return False
    holder = cell.p or cell
    first = next(child for child in holder.children if not isinstance(child, str) or child.strip())
    more = soup.new_tag("span", attrs={"class": "more"})
    if isinstance(first, str):
        more.append(first.strip()[len(measured[1]) :])
        number = soup.new_string(measured[1])
        first.replace_with(number)
        first = number
    for child in list(first.next_siblings):
        more.append(child.extract())
    holder.append(more)
    return True


def _has_words(rows: list[list[Tag]]) -> bool:
    """Say whether half of the rows have a cell of several words behind the first."""
    texts = [[cell.get_text(" ", strip=True) for cell in row[1:]] for row in rows]
    long = [any(len(re.findall(r"[^\W\d_]{2,}", text)) >= MANY_WORDS for text in row) for row in texts]
    return sum(long) >= len(rows) / 2
