"""What an output says as its answer: without reasoning, wrapping, tool calls and later turns; and whether it declines.

Nothing here decides whether an answer is right. What a text says outside its answer is taken off; everything else
stays as it is.
"""

import json
import re
from collections.abc import Iterable
from functools import lru_cache

from .reading import readable

_NAMES = r"(?:think|thinking|thought|thoughts|reasoning|scratchpad|reflection|analysis|seed:think)"
_OPEN = rf"(?:<{_NAMES}>|\[(?:THINK|think|THINKING|REASONING)\]|◁think▷|<\|(?:begin_of_thought|thinking)\|>)"
_CLOSED = rf"(?:</{_NAMES}>|\[/(?:THINK|think|THINKING|REASONING)\]|◁/think▷|<\|(?:end_of_thought|/thinking)\|>)"
_THINKING = re.compile(rf"(?s)(?m:^)\W{{0,3}}(?:\w{{1,20}}:\s{{0,3}})?{_OPEN}.*?(?:{_CLOSED}|\Z)", re.IGNORECASE)
_LEFT_OPEN = re.compile(rf"(?s)\A.*{_CLOSED}(?!\W*\Z)|\A.*{_CLOSED}\s*\Z", re.IGNORECASE)  # opened in the prompt
# Channels of the harmony format: the text of the last final one is the answer.
_CHANNEL = re.compile(
    r"<\|channel\|>\s*(\w++)[^<]*+(?:<\|message\|>)((?:(?!<\|(?:end|return|call|start|channel)\|>).)*)", re.DOTALL
)
_TAGGED = re.compile(r"(?is)<(answer|final_answer|final|response|output)>(.*?)(?:</\1>|\Z)")
_FENCED = re.compile(r"(?s)\A```\w*\n(.*?)\n?```(.*)\Z")
_HASHES = re.compile(r"(?m)^####[ \t*:]*(?=\S)")
_STRUCK = re.compile(
    r"(?s)~~(?!~)(?=\S).{1,2000}?(?<=\S)~~|<(del|strike|s)>.{1,2000}?</\1>|(?:[^\s\u0336]\u0336\s?)+", re.IGNORECASE
)
# A further turn of a chat, the end of a turn, or another question: what follows is no part of the answer.
_TURN = re.compile(
    r"<\|(?:im_start|start_header_id)\|>\s*(?:user|human|system)|<\|(?:user|human)\|>|<start_of_turn>\s*user|\[INST\]"
    r"|<\|(?:im_end|eot_id|end_of_turn|endoftext|end_of_text|eom_id)\|>|<end_of_turn>|</s>"
    r"|\n[ \t]*(?:\#{1,6} *|\*\*)?(?:Question|QUESTION|Q|Human|HUMAN|User|USER|Frage|Pregunta|Вопрос|问题|問題)"
    r"(?: ?\d{1,3})?(?:\*\*)? ?[:：]"
    r"|\n[ \t]*\n[ \t]*(?:\#{1,6} *|\*\*)?(?:Problem|Exercise|Task|Instruction|Input"
    r"|Example)(?: ?\d{1,3})?(?:\*\*)? ?[:：]"
)
_TOOL_NAMES = r"(?:tool|function)_(?:calls?|use|responses?|results?|outputs?)"
_TOOLS = re.compile(
    rf"(?is)<({_TOOL_NAMES})\b[^>]*>.*?(?:</\1>|\Z)|<function=[^>]*>.*?(?:</function>|\Z)|<\|python_tag\|>.*"
    r"|\[TOOL_CALLS\]\s*(?:\[.*\]|\S.*)|\[TOOL_RESULTS\].*?(?:\[/TOOL_RESULTS\]|\Z)"
)
_ACTION = re.compile(r"(?m)^Action(?: \d+)?:[ \t]*+(?:\w+\[.*\][ \t]*$|.*\n+(?:Action Input|Observation)\b)")
_STEP = re.compile(r"(?m)^(?:Thought|Action|Action Input|Observation)(?: \d+)?:.*$")
_ANSWER_WORDS = (
    "Antwort|réponse|respuesta|risposta|resposta|antwoord|svar|vastaus|odpowiedź|odpověď|válasz|răspuns|cevap|yanıt|"
    "jawaban|đáp án|ответ|відповідь|απάντηση|答案|回答|解答|정답|답변|답|الإجابة|الجواب|תשובה|उत्तर|คำตอบ"
)
_STATED = re.compile(
    r"(?im)(?:^[^\w\n]*+|[.!?。！？]\s{1,3})(?:(?:so|thus|hence|therefore|actually|i (?:think|believe)|the|my|final"
    r"|correct|right|die|das|la"
    r"|le|el|il|o|a|het|richtige)[, ]{1,2}|正确)*+"
    rf"(?:answer\b(?:[ \t]*[:=]|[ \t]+is\b(?! not\b)[ \t]*+:?)"
    rf"|(?:{_ANSWER_WORDS})(?:[ \t]*[:：]|[ \t]+(?:ist|est|es|è|é|är|er|is)\b|是|为|は))[\s*]*+(?=[^\s*])"
)
_KEYS = ("final_answer", "answer", "prediction", "response", "result", "output", "text", "value")
_CALL = {"arguments", "parameters", "args", "tool_calls", "function_call"}
_AROUND = re.compile(
    r"(?s)\A(?:(?P<mark>\*{1,3}|__|`{1,3}|\$\$?)(?P<inner>(?=\S)(?:(?!(?P=mark)).)+(?<=\S))(?P=mark)"
    r"|\\[(\[](?P<math>.+?)\\[)\]]|\\(?:text|mathrm|mathbf|textbf)\{(?P<text>[^{}]*)\})(?P<end>[.。]?)\Z"
)


def extract_answer(output: str) -> str:
    r"""Return the answer in the output of a language model and the text behind this answer; "" without an answer.

    Reasoning, tool calls and their results, struck-out text, and what follows a further question or turn are left out.
    Of an output with an answer in tags, in a JSON object, in a LaTeX box or behind "Answer:" that answer is returned,
    and the words that follow it: they can take it back. Everything else comes back as it is; a tag that a sentence
    only names ("Use the <output> element.") is text.

    >>> [extract_answer(text) for text in ("<think>No.</think>Berlin", '{"answer": "Berlin"}', r"It is \boxed{42}.")]
    ['Berlin', 'Berlin', '42']
    >>> extract_answer("<answer>Bonn</answer> No, Berlin."), extract_answer("~~Bonn~~ Berlin")
    ('Bonn. No, Berlin.', 'Berlin')
    >>> extract_answer("Rome\n\nQuestion: And of Peru?\nAnswer: Lima"), extract_answer("Die Antwort ist Rom")
    ('Rome', 'Rom')
    >>> extract_answer("Use the <output> element."), extract_answer("<tool_call>{}</tool_call>")
    ('Use the <output> element.', '')
    """
    text = _without_tools(_first_turn(_without_reasoning(output)))
    if "~~" in text or "<" in text or "\u0336" in text:
        text = re.sub(r"[ \t]{2,}", " ", _STRUCK.sub(" ", text)).strip() if _STRUCK.search(text) else text
    after = ""
    tagged = [match for match in _TAGGED.finditer(text) if _is_wrapping(match, text)] if "<" in text else []
    if tagged:
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
    for prefix in (_HASHES, _STATED, _STATED):  # "Final answer: The final answer is D."
        *_, last = None, *prefix.finditer(text)
        if last and any(map(str.isalnum, text[last.end() :])):
            text = text[last.end() :].rstrip()
            text = re.sub(r"\A([^\n*]+)\*\*", r"\1", text)  # **Answer: Rome**
    return _with_rest(_unwrapped(text), after)


def _unwrapped(text: str) -> str:
    r"""Return a text without marks of Markdown or LaTeX that stand around all of it.

    >>> _unwrapped("**Rome**."), _unwrapped("`==`"), _unwrapped(r"$\text{13}$"), _unwrapped("$5 or $6")
    ('Rome', '==', '13', '$5 or $6')
    """
    for _ in range(4):
        match = _AROUND.match(text.strip())
        if not match:
            break
        text = match["inner"] or match["math"] or match["text"] or ""
    return text


def _first_turn(text: str) -> str:
    r"""Return the text before a further turn or question that the model invented, if any word is before it.

    >>> _first_turn("Rome<|im_end|>\n<|im_start|>user\nThanks"), _first_turn("Question: Who?\nAnswer: Ann")
    ('Rome', 'Question: Who?\nAnswer: Ann')
    """
    for turn in _TURN.finditer(text):
        if any(map(str.isalnum, readable(text[: turn.start()]))):
            return text[: turn.start()].rstrip()
    return text


def _without_tools(text: str) -> str:
    r"""Return a text without tool calls and their results.

    >>> _without_tools("<tool_response>Rome</tool_response> It is Bonn.")
    'It is Bonn.'
    >>> _without_tools("Action: find[Rome]\nObservation: Rome is old.\nFinal Answer: Bonn")
    'Final Answer: Bonn'
    """
    result = _TOOLS.sub(" ", text) if "<" in text or "[TOOL" in text else text
    result = _STEP.sub("", result) if "Action" in result and _ACTION.search(result) else result
    return text if result == text else result.strip()


def _without_reasoning(output: str) -> str:
    """Return an output without reasoning, in any of the tags that models use.

    >>> _without_reasoning("[THINK]Bonn?[/THINK]Berlin"), _without_reasoning("Bonn?</think>Berlin")
    ('Berlin', 'Berlin')
    >>> _without_reasoning("<|channel|>analysis<|message|>Bonn?<|end|><|channel|>final<|message|>Berlin")
    'Berlin'
    """
    if "<|channel|>" in output:
        channels = _CHANNEL.findall(output)
        finals = [text for name, text in channels if name == "final"]
        if channels:
            return finals[-1].strip() if finals else ""
    if "assistantfinal" in output:  # channels whose marks a tokenizer left out
        return output.rpartition("assistantfinal")[2].strip()
    if re.match(r"(?:assistant)?analysis(?=[A-Z])", output):
        return ""
    if not re.search(r"[<\[◁]", output):
        return output
    text = _THINKING.sub("", output)
    if re.search(_CLOSED, text, re.IGNORECASE):
        text = _LEFT_OPEN.sub("", text)
    return text if text == output else text.strip()


def _is_wrapping(tagged: re.Match, text: str) -> bool:
    """Return whether a tag holds the answer of a text: it begins a line, or its closing tag ends the text."""
    if not any(map(str.isalnum, tagged[2])):
        return False
    closed = tagged[0].lower().endswith(f"</{tagged[1].lower()}>")
    begins = not text[: tagged.start()].rpartition("\n")[2].strip()
    ends = not any(map(str.isalnum, text[tagged.end() :]))
    return begins or (closed and ends)


def _with_rest(answer: str, rest: str) -> str:
    """Return an answer as a sentence, with the `rest` of the text behind it if that has a word."""
    rest = rest.strip().lstrip("$\\])}.,;:!*` \n")
    if not any(map(str.isalnum, rest)):
        return answer
    return f"{answer}{'' if answer.rstrip()[-1:] in ('.', '!', '?') else '.'} {rest}"


def _boxed(text: str) -> tuple[str, str] | None:
    r"""Return what is in the last \boxed{...} and what follows it, or None.

    >>> _boxed(r"\boxed{1} and \boxed{\text{x} + {2}}."), _boxed(r"$\boxed 7$")
    (('x + {2}', '.'), ('7', '$'))
    """
    bare = re.search(r"\\boxed\s+(-?[\w.]+)(?!.*\\boxed)", text, re.DOTALL)
    if bare:
        return bare[1].rstrip("."), text[bare.end() :]
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
    """Return the answer in a JSON object or list with the text behind it; the text unchanged if it holds no such JSON.

    >>> _of_json('{"answer": "Paris"} No.'), _of_json('["Paris", "Rome"]'), _of_json("[1] Paris"), _of_json("[0, 1]")
    (('Paris', ' No.'), ('Paris, Rome', ''), ('[1] Paris', ''), ('[0, 1]', ''))
    """
    try:
        result, end = json.JSONDecoder().raw_decode(text)
        if isinstance(result, list) and not text[end:].strip():
            numbers = all(isinstance(item, int | float) for item in result)  # an interval or a vector
            if any(isinstance(item, dict) and _CALL & set(item) for item in result):
                return "", ""
            return (text, "") if numbers else (_plain(result), "")
        lowered = {str(key).lower().replace(" ", "_"): content for key, content in result.items()}
        key = next((key for key in _KEYS if key in lowered), next(iter(lowered)) if len(lowered) == 1 else None)
        if _CALL & set(lowered) and key not in _KEYS:
            return "", text[end:]
        return (text, "") if key is None else (_plain(lowered[key]), text[end:])
    except (ValueError, RecursionError, AttributeError):  # no JSON, nested too deep, or a list before other text
        return text, ""


def _plain(content: object) -> str:
    """Return a JSON value as text."""
    if isinstance(content, list):
        return ", ".join(map(_plain, content))
    if isinstance(content, bool):
        return "yes" if content else "no"
    if isinstance(content, dict):
        return ", ".join(f"{key}: {_plain(item)}" for key, item in content.items())
    return "" if content is None else str(content)


# --- what an answer takes back -----------------------------------------------------------------------------------

_YES_NO = re.compile(
    r"(?i)\A\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|must|true or false)\b"
)
_WRONG = r"(?:all )?(?:wrong|incorrect|false|not (?:right|correct|true)|(?:an?|my) (?:mistake|error))"
_WORDS_OF_DOUBT = r"(?:(?:no|wait|sorry|actually|hmm|oh)\b[\s,.;:!—–-]{1,4}){1,3}"
# The speaker takes back all that was said before, or calls it wrong and says what is right.
_TAKEN_BACK = re.compile(
    r"(?i)(?:\A|[.!?\n,;(—–*])\s{0,3}(?:"
    rf"{_WORDS_OF_DOUBT}(?:that|this|it)(?:['’]s| is| was) {_WRONG}"
    rf"|{_WORDS_OF_DOUBT}(?=(?:it(?:['’]s| is| was)|the (?:correct |right )?answer|i meant?|make that|rather)\b)"
    r"|(?:no,? wait|wait,? no|oh,? no|hmm,? no|no,? sorry|sorry,? no|no,? actually"
    r"|actually,? no)(?=[\s,.;:!—–-]{1,4}\w)"
    rf"|on (?:reflection|second thoughts?)(?:,? (?:that|this|it)(?:['’]s| is| was) {_WRONG})?"
    rf"|(?:that|this)(?:['’]s| is| was) {_WRONG}"
    r"(?=[\s,.;:!)—–-]{1,4}(?:it|the (?:correct |right |actual |real |true )?(?:answer|one)) (?:is|was|should|must)\b)"
    r"|scratch that|i take (?:that|it) back|i (?:was|am) (?:wrong|mistaken)|i made an? (?:mistake|error)|my mistake"
    r"|i(?:['’]ve| have)? changed my mind|i stand corrected|correction *(?=:)|(?:or )?(?:sorry, )?i (?:mean"
    r"|meant)(?= )"
    r")(?![\w'’])"
)
_REST = re.compile(r"[\s,.;:!—–)\]*-]*(?:(?:and|but|so)\b\s*)?")


def without_retracted(answer: str, question: str) -> str:
    """Return the part of an answer behind its last retraction, such as "No, wait"; all of it if no word would be left.

    The answer to a yes/no question is returned whole: there, such words can be the answer.

    >>> without_retracted("Paris. No, that is wrong: Lyon", "Capital?"), without_retracted("Paris. No wait, Lyon.", "")
    ('Lyon', 'Lyon.')
    >>> without_retracted("No, that is wrong.", "Capital?"), without_retracted("Bonn. No wait.", "Capital?")
    ('No, that is wrong.', 'Bonn. No wait.')
    """
    *_, last = None, *_TAKEN_BACK.finditer(answer)
    if last is None or _YES_NO.match(question) or not any(map(str.isalnum, answer[: last.start()])):
        return answer
    rest = answer[_REST.match(answer, last.end()).end() :]
    return rest if any(map(str.isalnum, rest)) else answer


# --- declining ---------------------------------------------------------------------------------------------------

NO_ANSWER = frozenset(  # how data sets write that a question has no answer
    ["no answer present", "no answer", "noanswer", "no_answer", "unanswerable", "cannotanswer",
     "not answerable", "not answerable from the passage", "no answer found"]
)  # fmt: skip
_SOURCE = (
    r"(?:(?:the|this|that|these|your|any|given|provided|above|available|retrieved|of) )*(?:document|text|passage"
    r"|context"
    r"|article|source|report|information|paragraph|material|page|file|knowledge base|database|record|data)s?"
)
_UNSAID = (
    r"(?:stated|mentioned|specified|disclosed|indicated|listed|discussed|given|provided|known|available|found|clear"
    r"|reported)"
)
_ABOUT = (
    r"(?: (?:about|on|for|of|to|in|from|by|with|that|if|whether|at|based|regarding|the|this|which|who|what|when|where"
    r"|why|how|here)\b[\w '/-]*)?"
)
_REFUSAL = re.compile(
    r"(?:idk|dunno|pass"
    r"|(?:i |we )?(?:really |honestly |currently )?(?:do not|don't|didn't|cannot|can't|could not|couldn't"
    r"|am unable to|am not able to)"
    rf" (?:(?:know|recall|remember)(?! how to\b)(?: (?:the |an? )?[\w'-]+)?{_ABOUT}|(?:answer|say|tell|determine|help"
    rf"|find|assist|provide"
    r"|locate|confirm)\b[\w '/-]*|(?:currently )?have [\w '-]{0,99}(?:information|answer|access|data|details|idea"
    r"|clue|at hand)"
    rf"\b{_ABOUT})"
    rf"|(?:i am |we are )?(?:not (?:really |entirely )?(?:sure|certain)|unsure){_ABOUT}"
    rf"|(?:i have |there (?:is|are) )?(?:no|not enough|insufficient) (?:idea|answer|information|data|details?"
    rf"|evidence|comment|clue)\b"
    rf"(?: (?:is |was )?(?:{_UNSAID}|present|to answer))?{_ABOUT}"
    rf"|(?:(?:it|this|that|(?:the|this) (?:answer|question|information)) )?(?:is |was |remains )?(?:unanswerable"
    rf"|unknown|unclear|n/a"
    rf"|not (?:explicitly )?(?:answerable|{_UNSAID})|(?:cannot|can't|could not) be (?:determined|answered|known"
    rf"|found)){_ABOUT}"
    r"|(?:it |this )?(?:is )?(?:impossible|not possible) to (?:say|tell|know|determine|answer)\b[\w '/-]*"
    rf"|the [\w '-]{{1,50}} (?:is|was|are|were) not (?:explicitly )?{_UNSAID} in {_SOURCE}"
    rf"|{_SOURCE} (?:(?:does not|doesn't|do not|don't|never|did not) (?:actually |explicitly )?(?:say|state|mention"
    rf"|tell|specify|provide"
    r"|contain|give|indicate|include|answer|have)s?\b[\w '/-]*"
    r"|(?:has|have|contains?|provides?|gives?) no (?:answer|information|mention)\b[\w '/-]*)"
    r"|not[ _]attempted)\Z"
)
# What may stand beside a refusal and is no answer.
_BESIDE = re.compile(
    rf"(?:(?:i am )?(?:very |so )?(?:sorry|afraid)|unfortunately|apologies|i apologi[sz]e|(?:based on|according to"
    rf"|from|in) {_SOURCE}"
    r"|as an? (?:ai|(?:large )?language model)[\w ]*|(?:please|you (?:can|could|may|might)|could you|can you|try"
    r"|i suggest|feel free"
    r"|(?:so )?that i can|let me know|contact|is there anything else|thank)\b[\w '@/.-]*|(?:therefore|so|but|however"
    r"|and))\Z"
)
_CLAUSE = re.compile(r"(?<=[.!?])\s+|\s{0,9}[.!?]{0,9}\n+|[,;:]\s+|\s[—–-]\s|,?\s(?:but|so|therefore)\s(?=\w)")
LONGEST_REFUSAL = 400  # characters


def _bare_words(text: str) -> str:
    text = " ".join(text.replace("’", "'").casefold().strip(" \t\n.!?\"'*_`()[]<>{}-").split())
    text = re.sub(r"\bi'm\b", "i am", re.sub(r"\b(it|that|there)'s\b", r"\1 is", text))
    return re.sub(r"\A(?:(?:and|but|so) (?=.))?(?:i am (?:very |so )?(?:afraid|sorry) (?:that )?(?=\w))?", "", text)


@lru_cache(2**14)
def declines(text: str) -> bool:
    """Return whether a text says only that there is no answer: a refusal, "unknown", "The document does not say".

    >>> declines("I'm sorry, but I don't know."), declines("I can't say for sure, but it is Paris."), declines("N/A")
    (True, False, True)
    >>> declines("I don't know. Please contact support."), declines("The passage doesn't mention Bonn, it names Ulm.")
    (True, False)
    >>> declines("I'm not certain who discovered it."), declines("I'm not certain who did, but it was Ann.")
    (True, False)
    """
    if len(text) > LONGEST_REFUSAL:
        return False
    clauses = [clause for clause in map(_bare_words, _CLAUSE.split(text.strip())) if clause]
    others = [clause for clause in clauses if not (clause in NO_ANSWER or _REFUSAL.match(clause))]
    return len(others) < len(clauses) and all(_BESIDE.match(clause) for clause in others)


def has_no_answer(reference: str) -> bool:
    """Return whether a reference stands for "there is no answer", as data sets write it.

    >>> has_no_answer("No Answer Present."), has_no_answer("unanswerable"), has_no_answer("unknown")
    (True, True, False)
    """
    return _bare_words(reference) in NO_ANSWER


def attempts(output: str) -> bool:
    """Return whether an output gives an answer, right or wrong: it is not empty and does more than decline.

    >>> attempts("Paris"), attempts("<think>Hm.</think> I don't know."), attempts("  ")
    (True, False, False)
    """
    return attempted([output])[0]


def attempted(outputs: Iterable[str]) -> list[bool]:
    """Return whether each output gives an answer; see `attempts`."""
    answers = list(map(readable, list(map(extract_answer, outputs))))
    return [any(map(str.isalnum, answer)) and not declines(answer) for answer in answers]
