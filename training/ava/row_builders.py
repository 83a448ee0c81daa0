"""Rows with a known verdict, built from the templates of `row_builders.toml`: see there."""

import datetime
import random
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment, Undefined

from training.ava.other_words import capitalised, tokenised
from training.ava.triples import Triple
from training.ava.wrong_answers import WORDS, Answers, answer_type, occurrence
from training.kpqa.data import CLAUSE, NEGATED

TEMPLATES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
SPLIT = ("deceptions", "notations")  # kinds whose forms either train judges or measure them
TRAINED = 3  # the first of so many forms trains judges
TRIES = 6  # draws for every row
SHORT = 6  # words of a short answer
FILLER = 40  # words between an answer and its denial, at least
ASSERTING = re.compile(r"\{(?:yes|hashtag|spelt|misspelt)\}")
EXPRESSION = re.compile(r"<([\w'(\[][^<>]*)>")


@cache
def _expression(text: str):
    return Environment().compile_expression(text)


@cache
def _functions() -> dict:
    import inflect

    english = inflect.engine()
    return {
        "words": english.number_to_words,  # also of "21st"
        "ordinal": english.ordinal,
        "singular": english.singular_noun,
        "with_article": english.a,
        "grouped": "{:,}".format,
        "day": datetime.date.fromordinal,
        "contracted": lambda verb: NEGATED.get(verb, f"{verb}n't"),
    }


def filled(forms: Iterable[str], fields: Mapping) -> list[str]:
    r"""Return forms with their expressions computed, without those in which an expression has no value.

    >>> filled([r"\frac{<a>}{<2 * b>}", "<a if b == 3> of"], {"a": 1, "b": 2})
    ['\\frac{1}{4}']
    """
    forms, texts = list(forms), []
    lists = [f"[{', '.join(EXPRESSION.findall(form))}]" for form in forms]
    for form, results in zip(forms, _expression(f"[{', '.join(lists)}]")(fields), strict=True):
        if not any(result is None or isinstance(result, Undefined) for result in results):
            pieces = EXPRESSION.split(form)  # text and expressions by turns
            pieces[1::2] = map(str, results)
            texts.append("".join(pieces))
    return texts


def forms_of(kind: str, forms: Sequence[str], trained: bool) -> list[str]:
    """Return the forms that train judges, or those that measure them; all of them unless the kind is in `SPLIT`.

    >>> forms_of("deceptions", ["a", "b", "c", "d"], True), forms_of("deceptions", ["a", "b", "c", "d"], False)
    (['a', 'd'], ['b', 'c'])
    """
    return [text for i, text in enumerate(forms) if kind not in SPLIT or (i % TRAINED == 0) == trained]


def person(name: str) -> dict[str, str] | None:
    """Return first name and family name, with its particle, of a person's name; None for other names.

    >>> person("Leonardo da Vinci"), person("Queen Anne"), person("Bonn")
    ({'first': 'Leonardo', 'family': 'da Vinci', 'name': 'Leonardo da Vinci'}, None, None)
    """
    words, particles = name.split(), {*WORDS["name_particles"]}
    if not 2 <= len(words) <= 5 or words[0] in WORDS["titles"] or particles & {words[0], words[-1]}:
        return None
    if not all(word in particles or re.fullmatch(r"[A-Z]\.|[A-Z][a-z][\w'-]+", word) for word in words):
        return None
    start = next((i for i, word in enumerate(words) if word in particles), len(words) - 1)
    names = {"first": words[0], "family": " ".join(words[start:]), "name": name}
    return None if "." in words[0] + words[-1] else names


class Builder:
    """Builds rows; some need the short answers of `sentences`, right answers in sentences of extractive QA."""

    def __init__(self, sentences: Sequence[Triple], rng: random.Random, trained: bool = True):
        self.sentences, self.rng, self.trained = sentences, rng, trained
        self.answered = [row for row in sentences if len(row.references[0].split()) <= SHORT]
        self.answers = Answers((row.question, row.references[0]) for row in self.answered)
        asked = [row for row in self.answered if answer_type(row.question, row.references[0]) == "who"]
        persons = [(row.question, person(row.references[0])) for row in asked]
        texts = sorted({row.candidate for row in sentences if len(row.candidate.split()) < 20})
        self.words = WORDS | _functions() | {
            "choice": lambda items: rng.choice(items) if items else None,
            "sample": lambda items, count: rng.sample(items, count) if len(items) >= count else None,
            "integer": rng.randint,
            "joined": self.joined,
            "short_answers": sorted({row.references[0].rstrip(".") for row in self.answered}),
            "persons": [names | {"question": question} for question, names in persons if names],
            "clauses": [[*map(str.strip, match.groups())] for match in map(CLAUSE.fullmatch, texts) if match],
        }  # fmt: skip

    def joined(self, items: Sequence[str]) -> str:
        """Return a list as people write it."""
        if self.rng.random() < 0.2 or len(items) < 2:
            return self.rng.choice((", ", "; ", "\n- ")).join(items)
        return f"{', '.join(items[:-1])}{self.rng.choice((' and ', ', and '))}{items[-1]}"

    def varied(self, text: str) -> str:
        """Return a text as systems write: half of them in lower case, tokenised or without the full stop."""
        shape = self.rng.random()
        if shape < 0.35:
            return text.lower() if shape < 0.2 else tokenised(text)
        return text.rstrip(".") if shape < 0.5 else text

    def rows(self, kind: str, count: int, family: str | None = None) -> list[Triple]:
        """Return `count` rows of a kind, half of them right, or fewer if they cannot be built of the sentences."""
        rows: list[Triple] = []
        for _ in range(TRIES * count):
            right = self.rng.random() < 0.5
            names = [family] if family else [name for name in TEMPLATES[kind] if not right or self.asserts(kind, name)]
            name = self.rng.choice(names)
            template = TEMPLATES[kind][name]
            build = self.around_answer if isinstance(template, list) else self.from_ways
            if row := build(kind, template, right and self.asserts(kind, name)):
                rows.append(Triple(*row, f"{kind}.{name}" if len(TEMPLATES[kind]) > 1 else kind))
            if len(rows) == count:
                break
        return rows

    def asserts(self, kind: str, family: str) -> bool:
        """Return whether a family has right answers."""
        template = TEMPLATES[kind][family]
        forms = forms_of(kind, template, self.trained) if isinstance(template, list) else ("{yes}",)
        return any(map(ASSERTING.search, forms))

    def from_ways(self, kind: str, family: Mapping, right: bool) -> tuple | None:
        """Return question, references, answer and label of a family of ways to write something."""
        rng, draw = self.rng, dict(self.words)
        for name, expression in family.get("draw", {}).items():
            draw[name] = _expression(expression)(draw)
            if draw[name] is None:  # the sentences have nothing to draw from
                return None
        shape = rng.choice(family.get("shapes", [family]))
        if isinstance(shape, list):
            shape = {"accepted": [shape[0]], "right": shape[1], "wrong": shape[2]}

        def fields_of(changes: Mapping[str, str]) -> dict:
            fields = draw | {name: _expression(expression)(draw) for name, expression in changes.items()}
            for name, expression in family.get("fields", {}).items():
                fields[name] = _expression(expression)(fields)
            return fields

        fields, forms = fields_of({}), forms_of(kind, shape.get("right", shape["accepted"]), self.trained)
        (question,), accepted = filled([rng.choice(family["questions"])], fields), filled(shape["accepted"], fields)
        answers = filled(forms, fields) if "right" in shape else accepted
        wrong = filled(forms_of(kind, shape.get("wrong", ()), self.trained), fields)
        wrong += [text for changes in shape.get("changes", ()) for text in filled(forms, fields_of(changes))]
        wrong = [text for text in wrong if text not in accepted and text not in answers]
        if not (accepted and wrong):
            return None
        if family.get("swap") and rng.random() < 0.5:
            accepted, answers, wrong = wrong, wrong, answers
        references = rng.sample(accepted, min(len(accepted), rng.randint(1, family.get("references", 1))))
        text = rng.choice([text for text in answers if text not in references] or answers if right else wrong)
        if family.get("sentences"):
            tails = ["", "", "", *WORDS["tails"]]
            *references, text = [f"{capitalised(each)}{rng.choice(tails)}." for each in (*references, text)]
            question = capitalised(question)
        if family.get("framed"):
            frames = WORDS["frames"]
            references = [rng.choice(frames).format(each) if rng.random() < 0.2 else each for each in references]
            text = rng.choice(frames).format(text) if rng.random() < 0.5 else text
        text = self.varied(text) if family.get("sentences") or family.get("framed") else text
        return question, tuple(dict.fromkeys(references)), text, float(right)

    def around_answer(self, kind: str, forms: Sequence[str], right: bool) -> tuple | None:
        """Return question, references, answer and label of a form around a short answer that it asserts or not."""
        rng = self.rng
        forms = [form for form in forms_of(kind, forms, self.trained) if not right or ASSERTING.search(form)]
        row, form = rng.choice(self.answered or [None]), rng.choice(forms)
        drawn = {self.answers.another(row.question, row.references, rng) for _ in range(3)} if row else set()
        if not (others := sorted(drawn - {None})):
            return None
        rng.shuffle(others)
        accepted = row.references[0].rstrip(".")
        asserted, denied = (accepted, others[0]) if right or not ASSERTING.search(form) else (others[0], accepted)
        a, b, c = rng.sample([accepted, *others, *others][:3], 3)
        long_words = [word for word in asserted.split() if len(word) > 5 and word.isalpha()]
        if "{misspelt}" in form and not long_words:
            return None
        word = rng.choice(long_words or ["--"])
        position, mark = rng.randrange(1, len(word)), rng.choice(("{} - {}", "({}) {}", "{}. It is {}."))
        text = form.format(
            yes=asserted, no=denied, ref=accepted, a=a, b=b, c=c,
            demand=rng.choice(WORDS["demands"]),
            aside=rng.choice(WORDS["asides"]),
            filler=self.filler((accepted, *others)) if "{filler}" in form else "",
            struck="".join(letter + "\u0336" for letter in denied),
            hashtag="".join(capitalised(word) for word in asserted.split()),
            spelt="\n".join(mark.format(letter, asserted) for letter in denied if letter.isalnum()),
            misspelt=asserted.replace(word, word[:position] + word[position + 1 :], 1),
        )  # fmt: skip
        text = text if kind in ("deceptions", "misspelt_names") else capitalised(text)
        text = self.varied(text) if kind == "mention" else text
        references = (row.candidate,) if self.trained and rng.random() < 0.2 else row.references
        return row.question, references, text, float(right)

    def filler(self, answers: Sequence[str]) -> str:
        """Return sentences of at least `FILLER` words that name none of the answers."""
        texts: list[str] = []
        while sum(len(text.split()) for text in texts) < FILLER:
            text = self.rng.choice(self.sentences).candidate
            neutral = self.rng.random() < 0.5 or occurrence(answers, text)
            texts.append(self.rng.choice(WORDS["neutral"]) if neutral else text)
        return " ".join(texts)
