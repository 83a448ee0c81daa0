"""The prose of the repository in plain English: `python -m tests.programs.prose` lists phrases of `idioms.txt`.

It reads pages without their code, and docstrings, messages and comments of Python files; neither tests nor results.
Exit status 1 if a phrase is found.
"""

import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
FILES = ["*.md", "metrics/*.py", "training/*.py", "spaces/*.py", ":!tests", ":!*/results/*", ":!*/checkpoint*/*"]
FENCE = re.compile(r"^```.*?^```|^:.*?:.*?$", re.DOTALL | re.MULTILINE)
STRINGS = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}


def idioms() -> list[tuple[re.Pattern, str]]:
    """Return the phrases to avoid, each with what to write."""
    lines = (Path(__file__).parent / "idioms.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split(" -> ") for line in lines if line and not line.startswith("#")]
    spaced = [(phrase.replace(" ", r"\s+"), plain) for phrase, plain in pairs]
    return [(re.compile(rf"\b(?:{phrase})(?!\w)", re.IGNORECASE), plain) for phrase, plain in spaced]


def passages(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the prose of a file: number of its first line, text."""
    if path.suffix == ".md":
        yield 1, FENCE.sub(lambda block: "\n" * block[0].count("\n"), path.read_text(encoding="utf-8"))
        return
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type in STRINGS:
                yield token.start[0], token.string


def found(path: Path) -> Iterator[str]:
    """Yield a line for each phrase of a file: place, phrase, what to write."""
    known = idioms()
    for first, text in passages(path):
        for phrase, plain in known:
            for match in phrase.finditer(text):
                line = first + text.count("\n", 0, match.start())
                yield f"{path.relative_to(REPOSITORY)}:{line}: {' '.join(match[0].split())!r}: write {plain}"


def main() -> int:
    """Print the phrases that were found."""
    command = ["git", "ls-files", "--", *FILES]
    names = subprocess.run(command, check=True, cwd=REPOSITORY, capture_output=True, text=True).stdout.split("\n")
    lines = [line for name in filter(None, names) for line in found(REPOSITORY / name)]
    print(*lines, sep="\n", end="\n" if lines else "")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
