"""Texts as people see them: no invisible characters, special tokens, look-alikes, entities or spaced-out words.

A text that looks the same to people gets the same score from every metric: full-width letters, zero-width characters,
no-break spaces, Cyrillic letters in Latin words and "P a r i s" are ways around a judge. Plain text is returned as it
is.
"""

import html
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

# Tokens that a model gives a meaning, as they are written in texts: of BERT, of RoBERTa and MPNet, of chat templates.
_SPECIAL = re.compile(
    r"\[/?(?:PAD|SEP|CLS|MASK|UNK|BOS|EOS|INST|unused\d{1,4})\]|</?(?:s|pad|unk|mask|bos|eos|cls|sep)>"
    r"|<\|[\w ]{1,40}\|>|<</?SYS>>",
    re.IGNORECASE,
)
# Decompositions that change what a text says: x² is not x2, and 1½ is not 11/2.
_KEPT = ("<super>", "<sub>", "<fraction>", "<vertical>")
_INVISIBLE = dict.fromkeys(
    [0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)]
)  # not of category Cf, but shown as nothing
# Look-alikes of Latin letters in Cyrillic, Greek and a few others.
_LIKE_LATIN = {
    **dict(zip("асеіјорѕухԁԛԝһӏԍЅІЈАВСЕНКМОРТХУҮԚԜЗ", "aceijopsyxdqwhlgSIJABCEHKMOPTXYYQW3", strict=True)),
    **dict(zip("αικνορτυχγΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aikvoptuxyABEZHIKMNOPTYX", strict=True)),
    **dict(zip("ɑɡıɩⅼօոսցհ", "agiilonugh", strict=True)),
}
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z]\w{1,30});")
_ODD = re.compile(r"[^\t\n\r -~]")  # what may need another form
_LINE_ENDS = "\v\f\x85\u2028\u2029"
_BLANKS = re.compile(r"(?<=\S)[ \t]{2,}(?=\S)")
# Shown from right to left up to the sign that ends it, or the end of the line; brackets are mirrored there.
_OVERRIDE = re.compile("\u202e([^\u202c\n]*)")
_MIRRORED = str.maketrans("()[]{}<>«»", ")(][}{><»«")
_OTHER_SCRIPT = re.compile("[\u0370-\u03ff\u0400-\u052f\u0531-\u058f\u0250-\u02afı]")
_LATIN = re.compile("[A-Za-z]")
_WORD = re.compile(r"\w+")
# Single characters between spaces or signs, at least four of them.
_SPACED = re.compile(r"(?<![^\s\"'(*_])[^\W_](?:[\s*_·.\-]{1,4}[^\W_](?![^\W_])){3,}+")
_SINGLES = re.compile(r"\b[^\W_]\W{1,3}[^\W_]\b")
_BETWEEN_WORDS = re.compile(r"\s{2,}|(?<=[a-z])(?=[\s*_·.\-]{1,4}[A-Z])")
_DIGITS = re.compile(r"\d+")


def readable(text: str) -> str:
    r"""Return a text as people see it, in plain characters: the form in which every metric reads texts.

    Letters of full width, in mathematical fonts or in circles become plain ones, and look-alikes of Latin letters
    become Latin in words that have Latin letters too. Superscripts and fractions stay. Invisible characters and the
    special tokens of models are left out, all kinds of blanks are one blank, entities of HTML are the characters that
    they stand for, and what an override turns around is read in the order in which it is shown.

    >>> readable("\uff30\uff41\uff52\uff49\uff53 [SEP]"), readable("P\u200bar\u00adis</s>"), readable("P\u0430ris")
    ('Paris', 'Paris', 'Paris')
    >>> readable("\ufeffI\xa0don&#39;t  know"), readable("x &lt; 3"), readable("In \u202e4491")
    ("I don't know", 'x < 3', 'In 1944')
    """
    return _BLANKS.sub(" ", _shown(text))


def _shown(text: str) -> str:
    """Return a readable text that may have several blanks between words."""
    if "&" in text:
        text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    if _ODD.search(text):
        text = _OVERRIDE.sub(lambda run: run[1][::-1].translate(_MIRRORED), text)
        text = _plain_letters(text)
    if ("[" in text or "<" in text) and _SPECIAL.search(text):
        text = _SPECIAL.sub(" ", text).strip()  # a space, so that no other token appears
    return text


@lru_cache(2**12)
def _letter(character: str) -> str:
    """Return the plain form of a character; nothing if it is invisible."""
    if character.isspace():
        return character if character in "\t\n\r " else "\n" if character in _LINE_ENDS else " "
    kind = unicodedata.category(character)
    if kind in ("Cf", "Cc") or ord(character) in _INVISIBLE:
        return ""
    form, _, letters = unicodedata.decomposition(character).rpartition(">")
    if not form or form + ">" in _KEPT or letters.startswith(" 0020"):  # spacing accents
        return character
    return unicodedata.normalize("NFKC", character)


def _plain_letters(text: str) -> str:
    text = unicodedata.normalize("NFC", "".join(map(_letter, text)))
    if _OTHER_SCRIPT.search(text) and _LATIN.search(text):
        text = _WORD.sub(lambda word: _latin(word[0]) if _LATIN.search(word[0]) else word[0], text)
    return text


def _latin(word: str) -> str:
    return "".join(_LIKE_LATIN.get(character, character) for character in word)


def readable_answer(text: str, references: Sequence[str]) -> str:
    r"""Return an answer as `readable` does, written like its references.

    Words that consist of look-alikes only become Latin, unless a reference has such letters. Letters or digits with
    spaces between them become words, unless a reference has single characters side by side.

    Args:
        text: the answer.
        references: the references of the row, readable.

    >>> readable_answer("It is P a r i s.", ["Paris"]), readable_answer("A C E D", ["A, C, D and E"])
    ('It is Paris.', 'A C E D')
    >>> readable_answer("\u0420\u043e\u0440\u0435", ["Pope"]), readable_answer("1 9 4 4", ["1945"])
    ('Pope', '1944')
    """
    text = _shown(text)
    if not text.isascii() and _OTHER_SCRIPT.search(text) and not any(map(_OTHER_SCRIPT.search, references)):
        text = _WORD.sub(lambda word: _all_latin(word[0]), text)
    if _SPACED.search(text) and not any(map(_SINGLES.search, references)):
        lengths = {len(digits) for reference in references for digits in _DIGITS.findall(reference)}
        text = _SPACED.sub(lambda found: _unspaced(found[0], lengths), text)
    return _BLANKS.sub(" ", text)


def _all_latin(word: str) -> str:
    """Return a word in Latin letters if it has two or more letters, all of them look-alikes."""
    latin = _latin(word)
    return latin if len(word) > 1 and latin.isascii() else word


def _unspaced(run: str, lengths: set[int]) -> str:
    """Return the words of letters with spaces between them; wider spaces and capitals are between words.

    >>> _unspaced("N e w  Y o r k", set()), _unspaced("N e w Y o r k", set()), _unspaced("1 2 3 4", {2})
    ('New York', 'New York', '1 2 3 4')
    """
    characters = [character for character in run if character.isalnum()]
    if all(map(str.isdigit, characters)) and len(characters) not in lengths:
        return run  # a list of numbers
    if "." in run and all(map(str.isupper, characters)):
        return run  # U.S.S.R.
    words = ["".join(filter(str.isalnum, word)) for word in _BETWEEN_WORDS.split(run)]
    return " ".join(word for word in words if word)
