"""What kind of answer a question asks for, read off its wording: the types of Figure 4 of the KPQA paper, and yes/no.

The rule: of the patterns below, the one that begins first in the question decides; where two begin at one place, the
one that stands first here. A question without question words (a search query) is decided by `KEYWORDS`, else "OTHER".
It reads English and knows only words: "What is the capital of Peru?" is LOCATION, "What is a capital?" DESCRIPTION.
"""

import regex

_MEASURE = (
    r"(?:year|date|day|month|time|age|century|decade|percent\w*|proportion|number|amount|price|cost|fee|salary|temperature"
    r"|size|length|height|weight|speed|distance|population|rate|score|range|limit)s?"
)
_PLACE = (
    r"(?:city|cities|country|countries|county|counties|state|continent|region|district|town|village|place|location"
    r"|island|capital)s?"
)
_PEOPLE = (
    r"(?:person|man|woman|boy|girl|actor|actress|president|king|queen|singer|author|writer|novelist|poet|player|artist"
    r"|director|leader|founder|scientist|politician|minister|composer|painter|character)s?"
)
_BE = r"(?:\s+(?:is|are|was|were)|['’]s)"
_ASKED = (
    rf"(?:what|which)(?:{_BE})?(?:\s+the)?(?:\s+(?:max|min|maximum|minimum|average|total|exact|first|last|current))?"
)

TYPES = {
    "YES/NO": r"^\W*(?:is|are|was|were|am|do|does|did|can|could|will|would|has|have|had|should|may|might)\b",
    "NUMERIC": r"\bhow\s+(?:many|much|long|old|far|tall|high|deep|big|large|small|heavy|fast|often|wide|thick|hot|cold"
    rf"|late|early|soon|quickly)\b|\bwhen\b|\b{_ASKED}\s+{_MEASURE}\b",
    "LOCATION": rf"\bwhere\b|\b{_ASKED}\s+(?:\w+\s+)?{_PLACE}\b",
    "PERSON": rf"\b(?:who|whom|whose)\b|\b(?:what|which)\s+(?:\w+\s+)?{_PEOPLE}\b",
    "DESCRIPTION": r"\b(?:why|how|define|describe|explain)\b|\bwhat\s+(?:happen\w*|do|does|did)\b"
    rf"|\bwhat{_BE}(?!\s+(?:he|she|they|it|the\s+(?:name|title|word|term|{_PEOPLE}))\b)",
    "ENTITY": r"\b(?:what|which)\b",
}
KEYWORDS = {
    "DESCRIPTION": r"\b(?:definition|defined?|meaning|means?|symptoms|causes?|difference|purpose|function)\b",
    "NUMERIC": rf"\b(?:{_MEASURE}|average|number|phone|zip|code|hours|temps?)\b",
}
OTHER = "OTHER"

_TYPES = {name: regex.compile(pattern, regex.IGNORECASE) for name, pattern in TYPES.items()}
_KEYWORDS = {name: regex.compile(pattern, regex.IGNORECASE) for name, pattern in KEYWORDS.items()}


def question_type(question: str) -> str:
    """Return PERSON, NUMERIC, DESCRIPTION, LOCATION, ENTITY, YES/NO or OTHER, by the rule above.

    >>> [question_type(text) for text in ("In 1912, who sank?", "how long is the nile", "what is a variable")]
    ['PERSON', 'NUMERIC', 'DESCRIPTION']
    >>> [question_type(text) for text in ("Which dog barks?", "is he alone ?", "average rent omaha", "big dogs omaha")]
    ['ENTITY', 'YES/NO', 'NUMERIC', 'OTHER']
    """
    places = {name: match.start() for name, pattern in _TYPES.items() if (match := pattern.search(question))}
    if places:
        return min(places, key=places.__getitem__)
    return next((name for name, pattern in _KEYWORDS.items() if pattern.search(question)), OTHER)
