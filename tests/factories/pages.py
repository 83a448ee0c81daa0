"""Run the code on a page of the documentation, in order and in one process; spaces/docs/README.md says how.

`python -m tests.factories.pages PAGE ...` writes what the blocks print now into the page.
"""

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from markdown_it import MarkdownIt

PAGES = Path(__file__).resolve().parent.parent.parent / "spaces/docs/pages"
NOT_RUN = re.compile(r"<!-- not run: (.+?) -->")
# Included files whose blocks other tests run.
ELSEWHERE = {"README.md": "test_readme.py", "metrics": "test_readme.py"}
BEGINNING = re.compile(r"\Areading .+\n")  # what a command says on standard error until it has read its files
NUMBER = re.compile(r"\d+\.\d+")
NEAR = 0.02  # what the judge's numbers may move by before a page is written anew


@dataclass
class Block:
    """A fenced block of code, and where it is."""

    language: str
    code: str
    lines: tuple[int, int]
    options: dict[str, str] = field(default_factory=dict)
    not_run: str = ""


def blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of a page; options of a directive are taken out of its code."""
    reason = ""
    for token in MarkdownIt().parse(text):
        if token.type == "html_block":
            found = NOT_RUN.search(token.content)
            reason = found[1] if found else reason
        elif token.type == "fence":
            options = dict(re.findall(r"^:([\w-]+): *(.*)$", token.content, re.MULTILINE)) if "{" in token.info else {}
            code = re.sub(r"\A(:[\w-]+:.*\n)+\n?", "", token.content) if options else token.content
            yield Block(token.info.strip(), code, tuple(token.map), options, reason)
            reason = ""
        elif token.type.endswith("_open"):
            reason = ""


def is_same(shown: str, printed: str) -> bool:
    """Say whether a page shows what was printed: `...` stands for anything, decimals may differ by a little.

    Spaces at the ends of lines and blank lines at the end do not count, as `main` does not write them.
    """
    shown, printed = ("\n".join(map(str.rstrip, text.rstrip().split("\n"))) + "\n" for text in (shown, printed))
    if not doctest.OutputChecker().check_output(NUMBER.sub("#", shown), NUMBER.sub("#", printed), doctest.ELLIPSIS):
        return False
    lines = zip(shown.splitlines(), printed.splitlines(), strict=False)
    pairs = (zip(NUMBER.findall(ours), NUMBER.findall(theirs), strict=False) for ours, theirs in lines)
    return all(abs(float(a) - float(b)) <= NEAR for pair in pairs for a, b in pair)


def included(block: Block, page: Path) -> str | None:
    """Return what an include block puts into a page; None if it has no code, or code that another test runs."""
    path = (page.parent / block.language.removeprefix("{include} ")).resolve()
    if not path.is_relative_to(PAGES.parent.parent.parent) or "build" in path.parts:
        return None
    name = path.relative_to(PAGES.parent.parent.parent).as_posix()
    if any(name.startswith(known) for known in ELSEWHERE):
        return None
    text = path.read_text(encoding="utf-8")
    text = text.partition(block.options["start-after"].strip('"'))[2] if "start-after" in block.options else text
    return text.partition(block.options["end-before"].strip('"'))[0] if "end-before" in block.options else text


def command_lines(code: str) -> list[list[str]]:
    """Return the words of each command of a block of shell."""
    return [words for line in code.replace("\\\n", " ").splitlines() if (words := shlex.split(line, comments=True))]


def run_command(words: list[str]) -> str:
    """Run `genqa-metrics ...` in this process and return what it prints, without the line that it begins with.

    A missed --fail-under is no error.
    """
    from genqa_metrics.cli import app
    from typer.testing import CliRunner

    if words[0] != "genqa-metrics":
        raise ValueError(f"{shlex.join(words)}: only genqa-metrics is run; put <!-- not run: why --> before the block")
    done = CliRunner().invoke(app, words[1:])
    if done.exit_code not in (0, *(3 for word in words if word == "--fail-under")):
        raise RuntimeError(f"{shlex.join(words)}: exit status {done.exit_code}\n{done.output}") from done.exception
    return BEGINNING.sub("", done.output)


class Page:
    """A page that is being run."""

    def __init__(self, path: Path):
        self.path = path
        self.text = path.read_text(encoding="utf-8")
        self.namespace: dict = {"__name__": "page"}
        self.printed = ""
        self.differences: list[tuple[Block, str]] = []  # `text` blocks that say something else, and what was printed
        self.not_run: list[str] = []  # reasons of the blocks that are left out
        self.ran = 0  # number of blocks that were run or written

    def run(self) -> None:
        """Run all blocks in the current folder, with the files that the page offers for download."""
        for name in re.findall(r"\{download\}`[^<`]*<([^>]+)>`", self.text):
            shutil.copy(self.path.parent / name, ".")
        self._run(self.text)

    def _run(self, text: str) -> None:
        for block in blocks(text):
            if block.language.startswith("{include}"):
                more = included(block, self.path)
                if more:
                    self._run(more)
            elif block.not_run:
                self.not_run.append(f"{self.path.name}: {block.not_run}")
            elif "caption" in block.options:
                Path(block.options["caption"]).write_text(block.code, encoding="utf-8")
                self.ran += 1
            elif block.language == "bash":
                self.printed = "".join(map(run_command, command_lines(block.code)))
                self.ran += 1
            elif block.language == "python":
                self._python(block.code)
                self.ran += 1
            elif block.language == "text" and not is_same(block.code, self.printed):
                self.differences.append((block, self.printed))

    def _python(self, code: str) -> None:
        """Run code; functions named test_... are called as pytest would call them, with the fixture of the package."""
        from genqa_metrics.pytest_plugin import assert_accuracy

        known = set(self.namespace)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, f"<{self.path.name}>", "exec"), self.namespace)
            for name in set(self.namespace) - known:
                if name.startswith("test_"):
                    self.namespace[name](assert_accuracy)
        self.printed = out.getvalue()


def cut(line: str, most: int = 120) -> str:
    """Return a line that a page can show; what is cut off is three dots, which stand for anything."""
    line = line.rstrip()
    start, space, _ = line[:most].rpartition(" ")
    return line if len(line) <= most else f"{start} ..." if space else f"{line[:most]}..."


def main() -> None:
    """Write into pages what their blocks print now; those beside code, such as a metric's card, run at the root."""
    for name in sys.argv[1:]:
        page = Page(Path(name).resolve())
        own = page.path.is_relative_to(PAGES)
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder if own else PAGES.parents[2]):
            page.run()
        lines = page.text.splitlines(keepends=True)
        for block, printed in reversed(page.differences):
            start, end = block.lines
            lines[start + 1 : end - 1] = "\n".join(map(cut, printed.rstrip().split("\n"))) + "\n"
        page.path.write_text("".join(lines), encoding="utf-8")
        print(f"{name}: {page.ran} blocks run, {len(page.differences)} outputs written, {len(page.not_run)} not run")


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    main()
