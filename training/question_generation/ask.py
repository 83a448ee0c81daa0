"""A trained generator in use: `load(...)` one, and ask questions about texts of your own.

    python -m training.question_generation.ask --text "Ada Lovelace wrote the first program."

--model is "diverse" (the default) or "baseline", which are bundled, a folder or a Hub id. Without --text it reads a
sentence a line. `genqa-metrics score --metric f_meta` reads its JSON lines once `references` are added.
"""

import json
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from training.common import option, parsed
from training.question_generation.contexts import Examples, checkpoint_folder, treebank

CHECKPOINTS = Path(__file__).with_name("checkpoints")
BUNDLED = ("baseline", "diverse")  # without and with a latent variable
WIDTH = 3  # beams of a search
MAX_DRAWS = 4  # draws for one wanted question, where the draws repeat questions
ORDINARY = frozenset(  # words that a sentence begins with and that are no names
    "a about after all although an and another any as at because before both but by despite during each every for "
    "from he her here his how however i if in into it its many more most much my no not of on once one only or "
    "other our over several she since so some such that the their there these they this those three through to "
    "two under until we what when where which while who with you your".split()
)
_CLOSE = {"-rrb-": ")", "-rsb-": "]", "-rcb-": "}"}
_OPEN = {"-lrb-": "(", "-lsb-": "[", "-lcb-": "{"}


@dataclass
class Arguments:
    """The texts, the number of questions about each, and the generator."""

    model: str = option("diverse, baseline, or folder or Hub id of a generator of export.py", "diverse")
    text: list[str] = option("sentences; default: lines of standard input", [])
    count: int = option("questions wanted of every sentence", 3)
    seed: int = option("of the draws", 0)


def readable(question: str, context: str) -> str:
    r"""Return a question (Penn treebank tokens) as people write it, with the capitals of its words in the context.

    >>> readable("where did ada 's mother -lrb- anne -rrb- live ?", "Ada's mother (Anne) lived in London.")
    "Where did Ada's mother (Anne) live?"
    >>> readable("when did the heart stop", "The heart stopped in May.")
    'When did the heart stop?'
    >>> readable("who \u200b won ?", "Ada won.")  # what cannot be seen is left out
    'Who won?'
    """
    from nltk.tokenize import NLTKWordTokenizer, TreebankWordDetokenizer

    written = {}
    for i, token in enumerate(NLTKWordTokenizer().tokenize(context)):
        if i or token.lower() not in ORDINARY:  # the first word of a text has a capital whatever it is
            written.setdefault(token.lower(), token)
    seen = (word for word in question.split() if any(unicodedata.category(letter) != "Cf" for letter in word))
    words = [written.get(word, word) for word in seen]
    words = [_OPEN.get(word, _CLOSE.get(word, {"``": '"', "''": '"'}.get(word, word))) for word in words]
    text = TreebankWordDetokenizer().detokenize(words).rstrip("?. ")
    return f"{text[:1].upper()}{text[1:]}?"


class QuestionGenerator:
    """Asks questions about texts: a generator.Generator in evaluation mode, and its contexts.WordVectors."""

    def __init__(self, model, vectors):
        config = model.config
        self.model = model
        self.examples = Examples(config.words, vectors, config.max_context, config.max_question, config.copies)

    def ask(
        self,
        texts: Sequence[str],
        count: int = 3,
        seed: int = 0,
        top: int = 1,
        distinct: bool = True,
        no_repeat: int = 3,
    ) -> list[list[str]]:
        """Return `count` questions about every text, of which `config.max_context` words are read.

        A question is drawn from the `top` best of `WIDTH` beams, and says no `no_repeat` words in a row twice (0 lets
        it, as in the study). `distinct` leaves out repetitions: where there are fewer different questions than wanted,
        all beams are drawn from, and where those are too few, fewer come back.
        """
        from training.question_generation.decoding import generate

        if isinstance(texts, str):
            raise ValueError("texts: expected a list of texts, got one; put it into a list")
        if count < 1:
            raise ValueError(f"count: expected at least 1, got {count}")
        contexts = [treebank(text) for text in texts]
        for i, text in enumerate(contexts):
            if not text.split():
                raise ValueError(f"texts, row {i}: expected a text with words, got {texts[i]!r}")

        def drawn(places: Sequence[int], top: int) -> list[list[str]]:
            chosen, counts = [contexts[i] for i in places], [count * MAX_DRAWS if distinct else count] * len(places)
            result = generate(self.model, self.examples, chosen, counts, seed, WIDTH, top, no_repeat=no_repeat)
            return [[readable(q, texts[i]) for q in asked] for i, asked in zip(places, result, strict=True)]

        asked = drawn(range(len(texts)), top)
        if not distinct:
            return asked
        # Where the latent variable brings too little, the next beams of its draws do; the baseline has nothing else.
        few = [i for i, questions in enumerate(asked) if len(set(questions)) < count]
        if few and top < WIDTH:
            for i, more in zip(few, drawn(few, WIDTH), strict=True):
                asked[i] += more
        return [list(dict.fromkeys(questions))[:count] for questions in asked]


def load(name: str | Path = "diverse") -> QuestionGenerator:
    """Load a generator: "diverse" or "baseline" (bundled), a folder, or a Hub id ("org/name@v1")."""
    from training.question_generation import generator

    model = generator.load(checkpoint_folder("model", CHECKPOINTS / name if name in BUNDLED else name))
    return QuestionGenerator(model, generator.word_vectors(model.config))


def main() -> None:
    """Load, ask, write."""
    args = parsed(Arguments)
    texts = args.text or [line.strip() for line in sys.stdin if line.strip()]
    try:
        if not texts:
            raise ValueError("text: expected a sentence, after --text or on standard input")
        asked = load(args.model).ask(texts, args.count, args.seed)
    except ValueError as error:
        sys.exit(f"error: {error}")
    for text, questions in zip(texts, asked, strict=True):
        print(json.dumps({"context": text, "predictions": questions}, ensure_ascii=False))


if __name__ == "__main__":
    main()
