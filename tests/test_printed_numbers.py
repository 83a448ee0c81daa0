"""Numbers attributed to a paper: `training/studies/printed.toml` lists them with their place.

Where GENQA_PAPERS names a folder with the texts of the papers (NAME.txt), the printed lines are looked up there.
"""

import os
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LISTED = tomllib.loads((ROOT / "training/studies/printed.toml").read_text(encoding="utf-8"))
QUOTES = LISTED["quote"]
PAGES = sorted(
    path
    for folder in ("metrics", "training", "spaces")
    for path in (ROOT / folder).rglob("*.md")
    if not {"results", "checkpoint", "checkpoint_base", "checkpoints"} & set(path.parts) and "build" not in path.parts
)
DECIMAL = re.compile(r"(?<![\w.])\d*\.\d+(?![\w.]*\d)|\d+(?:\.\d+)?%")


def words(text: str) -> str:
    return " ".join(text.split())


def printed_numbers(quote: dict) -> list[float]:
    """Return the numbers of the printed lines, without those in names of metrics such as BLEU-1 and AEv(0,4)."""
    text = re.sub(r"AEv\([^)]*\)|[A-Za-z]+-\d|P@1|\(\w+\)", " ", " ".join(quote["printed"].values()))
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]


@pytest.mark.parametrize("quote", QUOTES, ids=[f"{q['page']}: {words(q['quoted'])[:40]}" for q in QUOTES])
def test_a_quoted_number_is_printed(quote):
    assert words(quote["quoted"]) in words((ROOT / quote["page"]).read_text(encoding="utf-8"))
    printed = printed_numbers(quote)
    for number in quote.get("numbers", ()):
        assert number in quote["quoted"]
        decimals = len(number.partition(".")[2])
        assert float(number) in [round(value, decimals) for value in printed], f"{number} is not printed"
    if "differences" in quote:
        half = len(printed) // 2
        found = [abs(a - b) for a, b in zip(printed[:half], printed[half:], strict=True)]
        decimals = len(quote["differences"][0].partition(".")[2])
        first_column = found[:: 2 if half > 1 else 1]  # of r and rho, r
        assert {round(min(first_column), decimals), round(max(first_column), decimals)} == set(
            map(float, quote["differences"])
        )


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_every_number_beside_the_word_paper_is_listed(page):
    name = str(page.relative_to(ROOT))
    quoted = [words(quote["quoted"]) for quote in QUOTES if quote["page"] == name]
    own = [line for entry in LISTED["own"] if entry["page"] == name for line in entry["lines"]]
    for line in page.read_text(encoding="utf-8").splitlines():
        text = words(line)
        if not re.search(r"\bpaper\b", text) or "settings=" in text or not DECIMAL.search(text):
            continue
        known = any(part in text or text in part for part in quoted) or any(part in text for part in own)
        assert known, f"{name}: {line}: list its numbers in training/studies/printed.toml"


@pytest.mark.parametrize("quote", QUOTES, ids=[f"{q['paper']}: {', '.join(q['printed'])[:60]}" for q in QUOTES])
def test_the_printed_lines_are_those_of_the_paper(quote):
    folder = os.environ.get("GENQA_PAPERS")
    if not folder:
        pytest.skip("GENQA_PAPERS is not set: the texts of the papers are not part of the repository")
    text = words((Path(folder) / f"{quote['paper']}.txt").read_text(encoding="utf-8").replace("\xa0", " "))
    for place, line in quote["printed"].items():
        assert words(line) in text, place
