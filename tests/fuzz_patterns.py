"""A timing attack on every regular expression of metrics and spaces; `python -m tests.fuzz_patterns` shows slow ones.

For every repetition in a pattern the attack builds texts in which it matches very often and the rest of the pattern
then fails. The time to search such a text must grow with its length, not with a power of it.
"""

import ast
import importlib
import itertools
import math
import random
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from re import _constants as codes
from re import _parser as parser

import regex

REPOSITORY = Path(__file__).parents[1]
FUNCTIONS = {"compile", "sub", "subn", "split", "findall", "finditer", "search", "match", "fullmatch"}
ANCHORED = {"match", "fullmatch"}
LENGTHS = (60, 250, 1_000, 4_000, 16_000)
FEW = 0.01  # seconds; a shorter time is not measured well
CUBE = 64  # growth of a cubic time when the text is four times as long
LIMIT = 1.0  # seconds; a search that takes longer is slow, however its time grows
TRIES = 3  # of a search that looks slow; other programs on the machine can slow it down
GROWTH = 9  # of the time when the text is four times as long: 4 if linear, 16 if quadratic
KINDS = {"DIGIT": "1", "SPACE": " ", "WORD": "a", "NOT_DIGIT": "a", "NOT_SPACE": "a", "NOT_WORD": "."}
PIECES = (" ", "a", "A", "1", ".", "$", "\n", "<", "a ", "\n ", "1,", "-", "(", "[", '"', "\\", ". ")
ENDS = ("\0", "\n\0x", "")


def patterns() -> Iterator[tuple[str, re.Pattern, bool]]:
    """Yield place, compiled pattern, and whether it is only matched at the start of a text."""
    for path in sorted(itertools.chain(*(REPOSITORY.glob(f"{folder}/**/*.py") for folder in ("metrics", "spaces")))):
        text = path.read_text(encoding="utf-8")
        place = str(path.relative_to(REPOSITORY))
        tree = ast.parse(text)
        names = {id(node.value): node.targets[0].id for node in tree.body
                 if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)}  # fmt: skip
        built = False
        for node in ast.walk(tree):
            called = re.fullmatch(r"(re|regex)\.(\w+)", ast.unparse(node.func) if isinstance(node, ast.Call) else "")
            if not called or called[2] not in FUNCTIONS:
                continue
            if not isinstance(node.args[0], ast.Constant):
                built = True
                continue
            flags = [keyword.value for keyword in node.keywords if keyword.arg == "flags"]
            flags += node.args[{"compile": 1, "sub": 4, "subn": 4, "split": 3}.get(called[2], 2) :]
            library = {"re": re, "regex": regex}[called[1]]
            flags = int(eval(ast.unparse(flags[0]), {"re": re, "regex": regex})) if flags else 0
            used = set(re.findall(rf"\b{names[id(node)]}\.(\w+)\(", text)) if id(node) in names else {called[2]}
            yield f"{place}:{node.lineno}", library.compile(node.args[0].value, flags), bool(used) and used <= ANCHORED
        if built and place.startswith("metrics/"):  # patterns put together: from the imported module
            module = importlib.import_module(
                place.removesuffix(".py").replace("metrics/", "genqa_metrics/").replace("/", ".")
            )
            for name, value in vars(module).items():
                used = set(re.findall(rf"\b{name}\.(\w+)\(", text))
                for pattern in value.values() if isinstance(value, dict) else [value]:
                    if isinstance(pattern, re.Pattern | regex.Pattern):
                        yield f"{place} {name}", pattern, bool(used) and used <= ANCHORED


def matched(tree: parser.SubPattern, draw: random.Random) -> str:
    """Return a text that a parsed pattern matches, as far as that is easy."""
    found = []
    for code, value in tree:
        if code is codes.LITERAL:
            found.append(chr(value))
        elif code is codes.NOT_LITERAL:
            found.append("a" if value != ord("a") else "b")
        elif code is codes.ANY:
            found.append("a")
        elif code is codes.IN:
            found.append(member(value, draw))
        elif code is codes.BRANCH:
            found.append(matched(draw.choice(value[1]), draw))
        elif code is codes.SUBPATTERN:
            found.append(matched(value[3], draw))
        elif code is codes.ATOMIC_GROUP:
            found.append(matched(value, draw))
        elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            found.append("".join(matched(value[2], draw) for _ in range(max(value[0], draw.choice((0, 1))))))
    return "".join(found)


def member(choices: list, draw: random.Random) -> str:
    """Return a character of a set."""
    if choices[0][0] is codes.NEGATE:
        shut_out = re.compile(
            "[" + "".join(chr(v) for c, v in choices[1:] if c is codes.LITERAL and chr(v).isalnum()) + "~]"
        )
        return next(text for text in "a.b;" if not shut_out.match(text))
    code, value = draw.choice(choices)
    if code is codes.CATEGORY:
        return KINDS[str(value).removeprefix("CATEGORY_").removeprefix("UNI_")]
    return chr(value if code is codes.LITERAL else value[0])


def pumps(tree: parser.SubPattern, draw: random.Random, before: str = "") -> Iterator[tuple[str, str]]:
    """Yield, for every repetition in a parsed pattern, a text before it and a text that it matches once."""
    for i, (code, value) in enumerate(tree):
        start = before + matched(tree[:i], draw)
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            if value[1] > 20:
                yield start, matched(value[2], draw)
            yield from pumps(value[2], draw, start)
        elif code is codes.BRANCH:
            for branch in value[1]:
                yield from pumps(branch, draw, start)
        elif code is codes.ATOMIC_GROUP:
            yield from pumps(value, draw, start)
        elif code in (codes.SUBPATTERN, codes.ASSERT, codes.ASSERT_NOT):
            yield from pumps(value[-1], draw, start)


def attacks(pattern: re.Pattern) -> set[tuple[str, str]]:
    """Return starts and repeated pieces against a pattern."""
    found = {("", piece) for piece in PIECES}
    try:
        tree = parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE if isinstance(pattern, re.Pattern) else 0)
    except re.error:  # of the package `regex` alone
        return found
    draw = random.Random(0)
    for _ in range(5):
        found |= {(start, piece) for start, piece in pumps(tree, draw) if piece}
        found.add(("", matched(tree, draw)[:40]))
    return found | {("", start + piece) for start, piece in found if start}


def slowest(pattern: re.Pattern, anchored: bool) -> tuple[float, str]:
    """Return the greatest growth of the time for a text that is four times as long, and that text's parts."""
    worst = (0.0, "")
    for (start, piece), end in itertools.product(sorted(attacks(pattern)), ENDS):
        if not piece:
            continue
        last = FEW
        for longer, length in zip(reversed(range(len(LENGTHS))), LENGTHS, strict=True):
            text = start + piece * (length // len(piece)) + end
            for _ in range(TRIES):
                begun = time.perf_counter()
                taken = max(timed(pattern, text, anchored), FEW)
                passed = time.perf_counter() - begun  # its resolution is finer than that of the CPU's time
                if taken <= GROWTH * last or taken == math.inf:
                    break
            worst = max(worst, (taken / last, f"{start!r} + {piece!r} * {length} + {end!r}"))
            if worst[0] > GROWTH:
                return worst
            if passed * CUBE**longer < FEW:  # even then no longer text would take a time that is measured
                break
            last = taken
    return worst


def timed(pattern: re.Pattern, text: str, anchored: bool) -> float:
    """Return the CPU seconds that a pattern takes on a text; infinity if they are more than `LIMIT`."""
    before = signal.signal(signal.SIGVTALRM, _interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)
    start = time.process_time()
    try:
        if anchored:
            pattern.match(text)
        else:
            for _ in pattern.finditer(text):
                pass
        return time.process_time() - start
    except TimeoutError:
        return math.inf
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _interrupt(*_) -> None:
    raise TimeoutError


def main() -> None:
    """Print every place before its attack, and the patterns whose time grows too fast."""
    slow, count = [], 0
    for place, pattern, anchored in patterns():
        print(place, flush=True)
        count += 1
        growth, text = slowest(pattern, anchored)
        if growth > GROWTH:
            slow.append(f"{place}: {growth:.0f} times the time for 4 times the text: {text[:200]}")
    print(f"{count} patterns, {len(slow)} slow", flush=True)
    raise SystemExit("\n".join(slow) or 0)


if __name__ == "__main__":
    main()
