"""Shows answers beside the texts that they are compared with, of long ones the part that tells most; lists answers."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from textwrap import wrap

from ..core.reading import COMMON, one_line, probability_and_threshold
from ..core.scorer import UNSURE_FROM, UNSURE_TO
from ..core.words import nearest_reference
from ..scale import scoring
from .table import number, visible

LABELS = 10  # columns of the names of lines
LEAST_ROOM = 20  # characters of a text, however narrow the terminal is
LEAST_QUESTION = 8  # the same of a question behind the kind and the name of an answer
MOST_LINES = 2  # of an answer
LONGEST_NAME = 20  # characters of a row or a system in a list
LONGEST_WORD = 12  # characters, so that a text of two lines less a word seldom needs a third
# Of the kinds of answers to read, where it is not the kind.
HEADINGS = {scoring.UNSURE: f"judge unsure, {UNSURE_FROM} to {UNSURE_TO}"}
CHANCE = "probability of being right"
_WORD = re.compile(r"\w+")


def plain(texts: Iterable[str]) -> list[str]:
    """Return texts on one line each, without Markdown and without characters that control a terminal."""
    lines = list(map(one_line, texts))
    return list(map(visible, lines))


def excerpt_lines(answer: str, other: str, width: int, name: str = "accepted", most: int = MOST_LINES) -> list[str]:
    """Return lines of so many characters: at most `most` of a plain answer, one of the text beside it, if any.

    >>> excerpt_lines("An insect has eight legs.", "An insect has six legs.", 60)
    ['answer    "An insect has eight legs."', 'accepted  "An insect has six legs."']
    >>> [line[:6] for line in excerpt_lines("Eight long legs and two wings.", "Six", 4)]  # of a narrow terminal
    ['answer', '      ', 'accept']
    """
    labels = max(LABELS, len(name) + 2)
    room = max(width - labels, LEAST_ROOM)
    answer_lines = wrap(quoted(answer, 10**6), room)
    if len(answer_lines) > most:
        shorter = quoted(answer, most * room - LONGEST_WORD * (most > 1), other)
        answer_lines = wrap(shorter, room, max_lines=most, placeholder='..."')
    lines = list(zip(("answer", ""), answer_lines, strict=False))
    lines += [(name, quoted(other, room, answer))] * bool(other)
    return [f"{label:<{labels}}{text}" for label, text in lines]


def quoted(text: str, room: int, other: str = "") -> str:
    """Return a plain text in quotes, cut to `room` characters; see `nearest_part`.

    >>> quoted("one two three", 12), quoted("", 12)
    ('"one two..."', '(empty)')
    """
    shown = nearest_part(text, room - len('""'), other)
    return f'"{shown}"' if shown else "(empty)"


def nearest_part(text: str, room: int, other: str = "") -> str:
    """Return a `plain` text, cut to the `room` characters that share most words with `other`.

    >>> nearest_part("Yes, of course. It has 3 ports.", 20, "four ports"), nearest_part("one two three", 10)
    ('...It has 3 ports.', 'one two...')
    """
    if len(text) <= room:
        return text
    start = _nearest(text, room - len("......"), other)
    shown = "..." * bool(start) + text[start:]
    return shown if len(shown) <= room else f"{shown[: max(room - len('...'), 1)].rstrip()}..."


def _nearest(text: str, room: int, other: str) -> int:
    """Return the start of the first part of `room` characters with most words of `other`.

    Numbers count twice where `other` has one, which they may contradict.
    """
    telling = set(_WORD.findall(other.casefold())) - COMMON
    words, has_number = list(_WORD.finditer(text)), any(map(str.isnumeric, telling))
    counts = (2 * has_number if word[0].isnumeric() else word[0].casefold() in telling for word in words)
    sums = [0, *accumulate(counts)]
    best, start, last = 0, 0, 0
    for first, word in enumerate(words if telling else []):
        while last < len(words) and words[last].end() <= word.start() + room:
            last += 1
        if sums[max(last, first)] - sums[first] > best:
            best, start = sums[last] - sums[first], word.start() if first else 0
    return start


def why_to_read(answer: scoring.AnswerToRead, threshold: float = 0.5) -> str:
    """Return in a few words why an answer should be read.

    >>> from types import SimpleNamespace
    >>> why_to_read(SimpleNamespace(kind=scoring.DISAGREE, label=1.0, score=0.2, verdict=0))
    'labelled right, judged wrong 0.20'
    """
    score, _ = probability_and_threshold(answer.score, threshold)
    if answer.kind == scoring.DISAGREE:
        return f"labelled {_grade(answer)}, judged {'right' if answer.verdict else 'wrong'} {score}"
    if answer.kind == scoring.APART:
        return _shown_scores(answer)
    if answer.kind == scoring.LOWEST and answer.missing:
        return f"asks {len(answer.references) - len(answer.missing)} of {len(answer.references)}"
    kind = {scoring.UNSURE: f"unsure, judged {_grade(answer)}"}.get(answer.kind, answer.kind)
    fault = f": {answer.fault}" * bool(answer.fault)
    return f"{kind} {number(answer.score, 2) if answer.kind == scoring.LOWEST else score}{fault}"


def judged_lines(
    answers: Sequence[scoring.AnswerToRead],
    counts: Mapping[str, int],
    width: int,
    threshold: float,
    most: int = MOST_LINES,
) -> list[list[str]]:
    """Return the lines of each judged answer: why it is listed, its texts, and the verdict with its reason.

    `counts` are the answers of each kind, which stand beside the first answer of a kind; `most`: see `excerpt_lines`.
    """
    result, seen = [], set()
    for answer in answers:
        heading = HEADINGS.get(answer.kind, answer.kind)
        heading += f" ({counts[answer.kind]:,})" * (answer.kind not in seen)
        seen.add(answer.kind)
        name = visible(answer.id or f"line {answer.line}")
        named = [name, *[visible(answer.system)] * (answer.system not in name)]
        line = f" {'  '.join([heading, *named])}  "
        accepted = nearest_reference(answer.references, answer.prediction) if answer.references else ""
        question, text, accepted = plain([answer.question or "", answer.prediction, accepted])
        line += nearest_part(question, max(width - len(line), LEAST_QUESTION))
        texts = excerpt_lines(text, accepted, max(width - 3, 2 * LEAST_ROOM), most=most)
        verdict = _verdict_lines(answer, threshold, max(width - 3, 2 * LEAST_ROOM))
        result.append([line.rstrip(), *(f"   {each}" for each in (*texts, *verdict))])
    return result


def chance(probability: float, threshold: float) -> str:
    """Return the probability that an answer is right, and from which one it counts as right where that is not 0.5.

    >>> chance(0.604, 0.5), chance(0.604, 0.7)
    ('probability of being right: 0.60', 'probability of being right: 0.60; right from 0.70')
    """
    _, least = probability_and_threshold(probability, threshold)
    shown = f"{CHANCE}: {short_probability(probability, threshold)}"
    return shown + f"; right from {least}" * (round(threshold, 2) != 0.5)


def short_probability(probability: float, threshold: float) -> str:
    """Return a probability with enough digits to show on which side of a threshold it is.

    >>> short_probability(0.999, 0.5), short_probability(0.4998, 0.5)
    ('>0.99', '0.4998')
    """
    shown, _ = probability_and_threshold(probability, threshold)
    return shown.replace("below ", "<").replace("above ", ">")


def _verdict_lines(answer: scoring.AnswerToRead, threshold: float, width: int) -> list[str]:
    """Return the verdict on an answer, with its reason where the texts show it, and the label of people."""
    label = f"; labelled {_grade(answer)}" * (answer.kind == scoring.DISAGREE)
    fault = f": {answer.fault}" * bool(answer.fault)
    verdict = f"{'right' if answer.verdict else 'wrong'}{fault} ({chance(answer.score, threshold)}){label}"
    lines = wrap(verdict, width - LABELS, max_lines=2, placeholder="...")
    return [f"{label:<{LABELS}}{line}" for label, line in zip(("judged", ""), lines, strict=False)]


def reading_lines(
    answers: Sequence[scoring.AnswerToRead],
    width: int,
    weakest: Mapping[scoring.AnswerToRead, Sequence[str]] = {},
) -> list[list[str]]:
    """Return the lines of each answer with low scores, or scores that are far apart, in so many columns.

    `weakest` is what `Scorer.weakest` returns of an answer.
    """
    names = {answer: visible(answer.id or f"line {answer.line}") for answer in answers}
    systems = {answer: visible(answer.system) for answer in answers}
    if all(system in names[answer] for answer, system in systems.items()):
        systems = dict.fromkeys(answers, "")
    name_width, system_width = (min(max(map(len, texts.values())), LONGEST_NAME) for texts in (names, systems))
    scores = {answer: _shown_scores(answer) for answer in answers}
    scores |= {answer: supported for answer, (supported, *_) in weakest.items()}
    rows = {}
    for answer in answers:
        accepted = nearest_reference(answer.references, answer.prediction) if answer.references else ""
        _, *compared = weakest.get(answer, ("", answer.prediction, "accepted", accepted))
        rows[answer] = (answer.question or "", *compared, accepted)
    texts = [text for row in rows.values() for text in row]
    shown = dict(zip(texts, plain(texts), strict=True))
    score_width = max((len(scores[answer]) for answer in answers if len(answer.scores) < 2), default=0)
    result = []
    for answer in answers:
        line = f"  {cut(names[answer], name_width):<{name_width}}  "
        line += f"{cut(systems[answer], system_width):<{system_width}}  " * bool(system_width)
        line += f"{scores[answer]:<{score_width}}  "
        (question, text, name, other, accepted), below = map(shown.get, rows[answer]), []
        if answer in weakest:  # a sentence and its evidence stand beside each other, the accepted answer below
            below = [("accepted", quoted(accepted, max(width - 6, 40) - LABELS, text))] * bool(accepted)
        both = "; ".join([quoted(text, 10**6), *[f"{name} {quoted(other, 10**6)}"] * bool(other)])
        if len(line) + len(both) <= width and not below:
            result.append([line + both])
        else:
            line += quoted(question, max(width - len(line), 12)) if question else ""
            below = [f"{label:<{LABELS}}{line_below}" for label, line_below in below]
            both = (*excerpt_lines(text, other, max(width - 6, 40), name), *below)
            result.append([line.rstrip(), *(" " * 6 + each for each in both)])
    return result


def cut(text: str, room: int) -> str:
    """Return a text cut to `room` characters, with dots where some are left out.

    >>> cut("mixture", 7), cut("mixture-of-both", 12)
    ('mixture', 'mixture-o...')
    """
    return text if len(text) <= room else f"{text[: max(room - 3, 1)]}..."


def set_lines(
    sets: Sequence[scoring.AnswerToRead], width: int, besides: Mapping[scoring.AnswerToRead, Sequence[str]]
) -> list[list[str]]:
    """Return the lines to print for each set of questions: how many references it asks, which ones not, what else."""
    names = [visible(f"context {answer.id}" if answer.id else f"line {answer.line}") for answer in sets]
    systems = [visible(answer.system) for answer in sets]
    name_width, system_width = (min(max(map(len, texts)), LONGEST_NAME) for texts in (names, systems))
    result = []
    for answer, name, system in zip(sets, names, systems, strict=True):
        asked, indent = len(answer.prediction.splitlines()), " " * 6
        line = f"  {cut(name, name_width):<{name_width}}  {cut(system, system_width):<{system_width}}  "
        line += f"{why_to_read(answer)} with {asked:,} question{'s' * (asked != 1)}; not asked:"
        missing, others = (
            ", ".join(quoted(text, 10**6) for text in plain(texts))
            for texts in (answer.missing, besides.get(answer, ()))
        )
        shape = {"width": width, "initial_indent": indent, "subsequent_indent": indent, "placeholder": " ..."}
        fits = len(line) + len(missing) < width
        lines = [f"{line} {missing}"] if fits else [line, *wrap(missing, **shape, max_lines=2)]
        result.append(lines + wrap(f"asked besides: {others}" * bool(others), **shape, max_lines=1))
    return result


def _shown_scores(answer: scoring.AnswerToRead) -> str:
    """Return the scores of an answer as text: those of several metrics by name, a single score alone."""
    return ", ".join(f"{name} {number(score, 2)}" for name, score in answer.scores.items()) or number(answer.score, 2)


def _grade(answer: scoring.AnswerToRead) -> str:
    """Return "right" or "wrong": the label of people where the judge disagrees with it, else the verdict."""
    return "right" if (answer.label if answer.kind == scoring.DISAGREE else answer.verdict) else "wrong"


def print_answers(
    console, question: str, references: Sequence[str], answers: Sequence[tuple[str, str, str, int]], most: int
) -> None:
    """Print a question with its accepted answers, and below it a line for each answer, `most` columns wide at most.

    `answers` are (what is said of it, system, answer, lines that it may have).
    """
    from rich.text import Text

    width = min(console.width, most)
    question, accepted, *texts = plain([question, " | ".join(references), *(text for _, _, text, _ in answers)])
    title = nearest_part(question, width * 3 // 5)
    shown = nearest_part(accepted, max(width - len(f"{title}  accepted: "), 12))
    console.print(Text.assemble(title, (f"  accepted: {shown}", "dim")), no_wrap=True, overflow="crop")
    grades, names = (max(len(visible(answer[column])) for answer in answers) for column in (0, 1))
    for (grade, system, _, lines), answer in zip(answers, texts, strict=True):
        start, name = f"  {grade:<{grades}}  ", (f"{visible(system):<{names}}" + "  " * bool(names), "bold")
        room = max(width - len(start) - len(name[0]), LEAST_ROOM)
        text = nearest_part(answer, lines * room - LONGEST_WORD * (lines > 1), accepted)
        first, *more = wrap(text, room, max_lines=lines, placeholder="...") or [""]
        for line in (Text.assemble(start, name, first), *(f"{'':{width - room}}{rest}" for rest in more)):
            console.print(line, no_wrap=True, overflow="crop")
