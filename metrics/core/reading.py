"""Texts as people see them: no invisible characters, special tokens, look-alikes, entities or spaced-out words.

A text that looks the same to people gets the same score from every metric: full-width letters, zero-width characters,
no-break spaces, Cyrillic letters in Latin words and "P a r i s" are ways around a judge. Plain text is returned as it
is.
"""

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
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
# Markdown
_LINK = re.compile(r"!?\[([^\[\]\n]{1,200})\]\([^()\s]{1,500}\)")
_RULE = re.compile(r"(?m)^[ \t|:-]{3,}$")
_MARK = re.compile(r"(?m)^[ \t]*(#{1,6}|[-*+•>]|\d{1,2}[.)])[ \t]+")  # of a heading, a list or a quotation
_EMPHASIS = re.compile(r"\*\*+|`+|(?<!\w)__(?=\S)|(?<=\S)__(?!\w)")
_ITALIC = re.compile(r"(?<![\w*])\*(?=\S)([^*\n]{1,200})(?<=\S)\*(?!\w)")


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
        text = unicodedata.normalize("NFC", "".join(map(_letter, text)))
        if _OTHER_SCRIPT.search(text) and _LATIN.search(text):
            text = _WORD.sub(lambda word: _latin(word[0]) if _LATIN.search(word[0]) else word[0], text)
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


def _latin(word: str) -> str:
    return "".join(_LIKE_LATIN.get(character, character) for character in word)


UNKNOWN_FAULT = "unknown"  # stands for the fault of an answer that was judged wrong and whose words show none


def probability_and_threshold(probability: float, threshold: float) -> tuple[str, str]:
    """Return a probability, never 0 or 1, and a threshold as text, with enough digits to show which is higher.

    >>> [probability_and_threshold(probability, 0.58) for probability in (0.5791, 0.2, 0.9999)]
    [('0.579', '0.580'), ('0.20', '0.58'), ('above 0.99', '0.58')]
    """
    digits = next((n for n in (2, 3, 4) if f"{probability:.{n}f}" != f"{threshold:.{n}f}"), 2)
    shown = "above 0.99" if probability > 0.99 else "below 0.01" if probability < 0.01 else f"{probability:.2f}"
    return shown if digits == 2 else f"{probability:.{digits}f}", f"{threshold:.{digits}f}"


def the_first(texts: Sequence[str], most: int) -> str:
    """Return the first texts as one phrase with the number of the others; a single other text is shown itself.

    >>> the_first("abc", 2), the_first("abcd", 2)
    ('a, b, c', 'a, b and 2 more')
    """
    if len(texts) <= most + 1:
        return ", ".join(texts)
    return f"{', '.join(texts[:most])} and {len(texts) - most:,} more"


def text_key(text: str) -> str:
    """Return a text without case and with single blanks, by which equal questions and answers are known."""
    return " ".join(text.split()).casefold()


def one_line(text: str) -> str:
    r"""Return a text on one line without the marks of Markdown; the items of a list keep their numbers, or get dots.

    >>> one_line("## Steps\n1. **Hold** the\n`button`.")
    'Steps Hold the button.'
    >>> one_line("We take:\n\n- Visa\n- [PayPal](https://a.b)"), one_line("1. Go\n2. Stop"), one_line("2 * 3 = *6*")
    ('We take: • Visa • PayPal', '1. Go 2. Stop', '2 * 3 = 6')
    """
    text = _LINK.sub(r"\1", _RULE.sub("", text))
    items = [mark for mark in _MARK.findall(text) if mark[0] not in "#>"]

    def shown(mark: re.Match) -> str:
        return "" if len(items) < 2 or mark[1] not in items else f"{mark[1] if mark[1][0].isdigit() else '•'} "

    return " ".join(_ITALIC.sub(r"\1", _EMPHASIS.sub("", _MARK.sub(shown, text))).split())


def readable_answer(text: str, references: Sequence[str]) -> str:
    r"""Return an answer as `readable` does, written like its references, which are readable.

    Words that consist of look-alikes only become Latin, unless a reference has such letters. Letters or digits with
    spaces between them become words, unless a reference has single characters side by side.

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
        text = _SPACED.sub(lambda run: _unspaced(run[0], lengths), text)
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


# --- languages ------------------------------------------------------------------------------------------------------

# Detected languages; smaller ones and Latin would mostly attract related languages and names.
LANGUAGES = (
    "af ar az be bg bn ca cs cy da de el en es et eu fa fi fr ga gl gu he hi hr hu hy id is it ja ka kk km kn ko lo "
    "lt lv mk ml mn mr ms my nb ne nl no pa pl pt ro ru sk sl sq sr sv sw ta te th tl tr uk ur uz vi zh"
).split()
SURE = 0.7  # probability from which a row counts as not English: 3 of 5,450 rows of 13 English sets do
MIN_CHARACTERS, MAX_CHARACTERS = 15, 300  # of a row: fewer say too little, more cost time
# Words and characters from which an answer is read alone too: none of 2,420 English ones counts as another language.
MIN_WORDS, MIN_ANSWER = 6, 40
MIN_SHARE = 0.005  # of rows that are not English, from which they are reported
# Words that no other language shares, and those that few others do; so large a share of them makes a text English.
_ENGLISH = frozenset("the and what who which how when where why does did that with from they there were this".split())
_MOSTLY = _ENGLISH | frozenset("of is it i a an in to was are by on for not you be has have at or can".split())
PLAIN, MOSTLY_PLAIN = 0.2, 0.4


@lru_cache(1)
def _identifier():
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages([name for name in LANGUAGES if name in identifier.labels])
    return identifier


@lru_cache(2**10)
def language_of(text: str) -> str:
    """Return the language of a text, "" where it is not clear.

    >>> language_of("Wie viele Einwohner hat der Ort?"), language_of("12 km")
    ('de', '')
    """
    if len(text) < MIN_CHARACTERS:
        return ""
    words = text[:MAX_CHARACTERS].lower().split()
    plain, mostly = (sum(word in of for word in words) for of in (_ENGLISH, _MOSTLY))
    if (plain and mostly >= PLAIN * len(words)) or mostly >= max(3, MOSTLY_PLAIN * len(words)):
        return "en"  # the model that knows languages takes as long to load as a small judge
    language, probability = _identifier().classify(text[:MAX_CHARACTERS].encode("utf-8", "replace"))
    return language if probability >= SURE else ""


def language_counts(columns: Mapping[str, Sequence]) -> Counter:
    """Return "rows" and, for other languages than English, the number of rows that are clearly in them: "language:de".

    >>> question, answer = "Wie heißt die Hauptstadt von Frankreich?", "Sie heißt Paris."
    >>> dict(language_counts({"questions": [question], "predictions": [answer], "references": [["Paris"]]}))
    {'rows': 1, 'language:de': 1}
    """
    counts = Counter(rows=len(columns["questions"]))
    for question, answer, references in zip(
        *map(columns.get, ("questions", "predictions", "references")), strict=True
    ):
        texts = [" ".join(text[:MAX_CHARACTERS] for text in (question, answer, *references[:1]))]
        texts += [answer] * (len(answer) >= MIN_ANSWER and len(answer.split()) >= MIN_WORDS)
        if other := next((language for language in map(language_of, texts) if language not in ("", "en")), ""):
            counts[f"language:{other}"] += 1
    return counts


def language_warnings(
    counts: Mapping[str, int],
    reads: str = "the model reads English only, and such scores mean little",
    measured: Sequence[str] = (),
) -> list[str]:
    """Return one sentence if more than a few rows are not English, nor in a `measured` language.

    `reads` says what that means for the scores.

    >>> language_warnings({"rows": 10, "language:de": 2, "language:fr": 1})
    ['3 of 10 rows seem not to be English (de 2, fr 1); the model reads English only, and such scores mean little']
    >>> language_warnings({"rows": 1, "language:de": 1}, "small reads English only")
    ['this row seems not to be English (language: de); small reads English only']
    """
    rows_in = {name.removeprefix("language:"): n for name, n in counts.items() if name.startswith("language:") and n}
    rows_in = {name: number for name, number in rows_in.items() if name not in measured}
    total, rows = sum(rows_in.values()), counts.get("rows", 0)
    if total < max(1, MIN_SHARE * rows):
        return []
    listed = ", ".join(f"{name} {n:,}" for name, n in sorted(rows_in.items(), key=lambda item: (-item[1], item[0])))
    if rows == 1:
        listed = f"language: {next(iter(rows_in))}"
    subject = "this row seems" if rows == 1 else f"{total:,} of {rows:,} rows seem{'s' * (total == 1)}"
    return [f"{subject} not to be English ({listed}); {reads}"]


# --- the passage of a long answer that is read ----------------------------------------------------------------------

LONG_ANSWER = 150  # words of an answer above which a passage is selected
PASSAGE = 40  # the most words of a passage, unless a single sentence is longer
_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+|\n+")
LEAST_ASKED = 0.5  # share of the words of the question in a passage that answers it
# Function words, which do not show the topic of a text.
COMMON = frozenset(
    "a an and are as at be been by did do does for from had has have he her his how in is it its no not of on or she "
    "that the their they this to was were what when where which who why with you your".split()
)


def passages(answer: str, most: int = PASSAGE) -> list[str]:
    """Return runs of sentences of an answer that overlap by half, in order, of at most `most` words or one sentence.

    >>> passages("One two. Three four. Five six.", most=4)
    ['One two. Three four.', 'Three four. Five six.']
    """
    sentences = [text for text in _END.split(answer) if text.strip()]
    lengths, result, start = [len(text.split()) for text in sentences], [], 0
    while start < len(lengths):
        end, words = start + 1, lengths[start]
        while end < len(lengths) and words + lengths[end] <= most:
            words, end = words + lengths[end], end + 1
        result.append(" ".join(sentences[start:end]))
        if end == len(lengths):
            break
        half, start = 0, start + 1
        while half + lengths[start - 1] < words / 2:  # ends within the run, of which half is less than all
            half, start = half + lengths[start - 1], start + 1
    return result


def passage(
    answer: str,
    question: str,
    references: Sequence[str],
    keys: Callable[[str], list[str]],
    longest: int = LONG_ANSWER,
    most: int = PASSAGE,
) -> str:
    """Return an answer; of one with more than `longest` words the passage nearest to question and reference.

    It has the largest share of the words of the question, and of those of the reference of which it has most; the
    first of equal ones. If another one has as many words of the question and none of the reference, it may give
    another answer: then both, in order.
    """
    if len(answer.split()) <= longest:
        return answer

    def content(text: str) -> set[str]:
        return {key for key in keys(text) if key not in COMMON}

    def share(of: set[str], words: set[str]) -> float:
        return len(of & words) / max(1, len(of))

    asked, wanted = content(question), [content(text) for text in references]
    runs = passages(answer, most)
    words = [content(text) for text in runs]
    about = [share(asked, run) for run in words]
    near = [
        question_share + max(share(of, run) for of in wanted) for question_share, run in zip(about, words, strict=True)
    ]
    best = near.index(max(near))
    least = max(about[best], LEAST_ASKED)
    unlike = [i for i, run in enumerate(words) if abs(i - best) > 1 and not any(of & run for of in wanted)]
    others = [i for i in unlike if about[i] >= least]
    return " ".join(runs[i] for i in sorted([best, *others[-1:]]))
