"""What an output says as its answer: without its reasoning and its wrapping; and whether it declines to answer."""

import json
import re

from .characters import readable

_THINKING = re.compile(r"(?is)<(think|thinking|thought|reasoning|scratchpad|reflection)>.*?(?:</\1>|\Z)")
_LEFT_OPEN = re.compile(r"(?is)\A.*</(?:think|thinking|thought|reasoning)>")  # the opening tag is often in the prompt
_TAGGED = re.compile(r"(?is)<(answer|final_answer|final|response|output)>(.*?)(?:</\1>|\Z)")
_FENCED = re.compile(r"(?s)\A```\w*\n(.*?)\n?```(.*)\Z")
_FINAL = re.compile(r"(?im)^(?:[^\w\n]*+(?:the )?final answer\b(?: is)?\s*+|####)[ \t*:]*(\S.*)$")
_SIGNS = ("<", "{", "`", "####", '["')
_KEYS = ("final_answer", "answer", "prediction", "response", "result", "output", "text", "value")


def extract_answer(output: str) -> str:
    r"""Return the answer that an output of a language model gives, and what it says after it.

    Reasoning in tags is left out. Of an output with an answer in tags, in a JSON object, in a LaTeX box or behind
    "Final answer:" that answer is returned, and the words that follow it: they can take it back. Everything else comes
    back as it is.

    Args:
        output: the output.

    Returns:
        The answer; empty if the output is reasoning only.

    >>> [extract_answer(text) for text in ("<think>No.</think>Berlin", '{"answer": "Berlin"}', r"It is \boxed{42}.")]
    ['Berlin', 'Berlin', '42']
    >>> extract_answer("<answer>Bonn</answer> No, Berlin.")
    'Bonn. No, Berlin.'
    """
    if not any(sign in output for sign in _SIGNS) and "inal answer" not in output.lower():
        return output
    text = _LEFT_OPEN.sub("", _THINKING.sub("", output)).strip() if "<" in output else output
    after = ""
    tagged = list(_TAGGED.finditer(text)) if "<" in text else []
    if tagged and tagged[-1][2].strip():
        text, after = tagged[-1][2].strip(), text[tagged[-1].end() :]
    fenced = _FENCED.match(text.strip())
    if fenced:
        text, after = fenced[1], f"{fenced[2]} {after}"
    boxed = _boxed(text)
    if boxed is not None:
        return _with_rest(boxed[0], f"{boxed[1]} {after}")
    if text.strip()[:1] in ("{", "["):
        text, rest = _of_json(text.strip())
        return _with_rest(text, f"{rest} {after}")
    *_, final = None, *_FINAL.finditer(text)
    if final:
        text = f"{final[1].strip().rstrip('*').strip()}{text[final.end() :].rstrip()}"
    return _with_rest(text, after)


def _with_rest(answer: str, rest: str) -> str:
    """Return an answer and what follows it, if that has any word."""
    rest = rest.strip().lstrip("$\\])}.,;:!*` \n")
    if not any(map(str.isalnum, rest)):
        return answer
    return f"{answer}{'' if answer.rstrip()[-1:] in ('.', '!', '?') else '.'} {rest}"


def _boxed(text: str) -> tuple[str, str] | None:
    r"""Return what is in the last \boxed{...} and what follows it, or None.

    >>> _boxed(r"\boxed{1} and \boxed{\text{x} + {2}}.")
    ('x + {2}', '.')
    """
    start = text.rfind("\\boxed{")
    if start < 0:
        return None
    depth, i = 1, start + len("\\boxed{")
    begin = i
    while i < len(text) and depth:
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        i += 1
    inside = text[begin : i - 1 if depth == 0 else i]
    inside = re.sub(r"\\(?:text|mathrm|textbf)\{([^{}]*)\}", r"\1", inside).strip()
    return (inside, text[i:]) if inside else None


def _of_json(text: str) -> tuple[str, str]:
    """Return the answer in a JSON object or list and what follows it; the text as it is if there is none.

    >>> _of_json('{"answer": "Paris"} No.'), _of_json('["Paris", "Rome"]'), _of_json("[1] Paris")
    (('Paris', ' No.'), ('Paris, Rome', ''), ('[1] Paris', ''))
    """
    try:
        found, end = json.JSONDecoder().raw_decode(text)
        if isinstance(found, list) and not text[end:].strip():
            return _plain(found), ""
        lowered = {str(key).lower().replace(" ", "_"): value for key, value in found.items()}
        key = next((key for key in _KEYS if key in lowered), next(iter(lowered)) if len(lowered) == 1 else None)
        return (text, "") if key is None else (_plain(lowered[key]), text[end:])
    except (ValueError, RecursionError, AttributeError):  # no JSON, nested too deep, or a list before other text
        return text, ""


def _plain(value: object) -> str:
    """Return a JSON value as text."""
    if isinstance(value, list):
        return ", ".join(_plain(item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_plain(item)}" for key, item in value.items())
    return "" if value is None else str(value)


_SOURCE = r"(?:the |this |that |its |given |provided |above |available |supplied )*"
_SOURCE += r"(?:document|text|passage|context|article|source|report|information|paragraph|excerpt|story|material)s?"
_SOURCE = _SOURCE.replace(" ", r"\ ")  # the pattern below ignores plain spaces
_VERB = r"(?:say|state|mention|tell|specify|provide|contain|give|indicate|include|address|reveal|discuss|answer)"
_REFUSAL = re.compile(
    rf"""(?ix)\A(?:
    (?:i['’]?m\ |i\ am\ )?(?:(?:very\ )?sorry|afraid),?\s*(?:but\ )?(?=\S)
    | unfortunately,?\s* | based\ on\ {_SOURCE},?\s* | according\ to\ {_SOURCE},?\s* | as\ an\ ai[\w\ ]*,\s*
    )*(?:
    (?:i\ |we\ )?(?:really\ |honestly\ )?(?:do\ not|don['’]?t)\ (?:
        know | have\ (?:enough\ |sufficient\ |any\ |the\ )?(?:information|access\ to[\w\ -]*+)
        )(?:\ (?:the\ answer|this|that|it|for\ sure|yet))*+(?:\ (?:(?:about|on)\ [\w\ ]++|to\ answer[\w\ ]*+))?
    | (?:i\ |we\ )?(?:
        cannot|can['’]?t|can\ not|am\ unable\ to|could\ not|couldn['’]?t|am\ not\ able\ to|would\ rather\ not
        )\ (?:answer|say|tell|determine|help|find|comment|assist|provide|be\ sure)\b[\w\ ,'’-]*
    | (?:i['’]?m|i\ am)\ (?:not\ sure|unsure|unable\ to[\w\ ]+|not\ certain)
    | (?:i\ have\ )?no\ (?:idea|comment|answer|clue|information[\w\ ]*)
        (?:\ (?:is\ )?(?:given|provided|available|found|possible))?
    | (?:it\ |that\ |this\ |the\ (?:answer|question|information)\ )?(?:is\ |was\ |are\ )?(?:
        unanswerable | unknown | n/?a | not(?=\ in\ {_SOURCE}\b)
        | (?:not|never)\ (?:
            known|stated|mentioned|given|specified|provided|said|answerable|available|clear|disclosed|reported|indicated
            |possible\ to\ (?:say|tell|determine|answer)[\w\ ]*+)
        | (?:cannot|can['’]t)\ be\ (?:determined|answered|known|said|found|inferred)
        | impossible\ to\ (?:say|tell|know|determine)[\w\ ]*+
        )(?:\ (?:in|from|by|with|based\ on|on\ the\ basis\ of)\ (?:the\ |this\ )?[\w\ ]*)?
    | {_SOURCE}\ (?:does\ not|doesn['’]?t|do\ not|don['’]?t|never|did\ not|didn['’]?t)\ (?:actually\ |explicitly\ )?
        {_VERB}s?\b(?![\w\ ]*\bbut\b)[\w\ ,'’-]*
    | there\ is\ (?:no|not\ enough|insufficient)\ (?:answer|information|mention)\b[\w\ ,'’-]*
    | (?:not\ enough|insufficient)\ information\b[\w\ ]*
    )\Z"""
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def declines(text: str) -> bool:
    """Return whether a text says only that there is no answer: a refusal, "unknown", "The document does not say".

    >>> declines("I'm sorry, but I don't know."), declines("I don't know, maybe Paris."), declines("unanswerable")
    (True, False, True)
    """
    if len(text) > 400:
        return False
    sentences = [s.strip(" .!?\"'*\n\t") for s in _SENTENCE.split(text.strip())]
    return bool(sentences) and all(_REFUSAL.match(s) for s in sentences)


def attempts(output: str) -> bool:
    """Return whether an output gives an answer, right or wrong: it is not empty and does more than decline.

    >>> attempts("Paris"), attempts("<think>Hm.</think> I don't know."), attempts("  ")
    (True, False, False)
    """
    answer = readable(extract_answer(output))
    return any(character.isalnum() for character in answer) and not declines(answer)


_COUNT = re.compile(r"\d|\b(two|three|four|five|six|seven|eight|nine|ten|all|list|both)\b", re.IGNORECASE)


def identical(answer: str, reference: str, question: str) -> bool:
    """Return whether an answer is the reference, but for case, spaces, full stop and quotes at its ends.

    Where the question has a number the reference may be one of several that are asked for. Elsewhere 2,155 of 2,156
    such answers of the training and dev sets are right; the other one is a mistake of its annotator.

    >>> identical('"paris".', "Paris", "capital of France?"), identical("-12", "12", "How cold is it?")
    (True, False)
    >>> identical("pia mater", "pia mater", "What are the 3 layers of the meninges?")
    False
    """
    return _bare(answer) == _bare(reference) and not _COUNT.search(question)


def _bare(text: str) -> str:
    return " ".join(text.casefold().split()).strip(' ."')
