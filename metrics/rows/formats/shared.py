"""What the formats of tools have in common: chats, inputs and outputs of any name, right answers and passages."""

import json
from collections.abc import Iterable, Mapping

from ..errors import Advice, RowError, name_column

# What a question and a right answer are called inside the inputs of a tool; the first that is there is taken.
QUESTIONS = ("question", "query", "prompt", "problem", "input", "user_input", "instruction", "message", "text")
ANSWERS = ("answer", "output", "response", "completion", "result", "text", "content", "final_answer", "generated")
EXPECTED = (
    "expected", "reference", "references", "expected_answer", "expected_output", "expected_response", "ground_truth",
    "ideal", "target", "gold", "answer", "answers", "output", "correct_answer",
)  # fmt: skip
CONTEXTS = ("contexts", "context", "documents", "retrieved_context", "retrieved_contexts", "retrieval_context")


_ROLES = {"user": ("user", "human"), "assistant": ("assistant", "ai", "gpt", "model", "bot", "chatbot")}
_SEVERAL = ("choices", "candidates", "messages", "output", "outputs")  # lists: answers to choose from, or messages
_TEXT = ("content", "text", "output_text", "message", "value", "parts", "generated_text", "body", "response")


def text_of(value: object, role: str = "user") -> object:
    """Return the text of what may be a chat or the response of an API: its last message of a role, else the last one.

    An answer is never the text of another role, and blocks that are no text, such as calls of tools, are left out.

    >>> text_of([{"role": "system", "content": "Be short."}, {"role": "user", "content": "Who won?"}])
    'Who won?'
    >>> text_of({"role": "assistant", "content": [{"type": "text", "text": "Ann"}]}), text_of("Ann")
    ('Ann', 'Ann')
    >>> text_of([{"role": "user", "content": "Who won?"}], "assistant")
    >>> text_of({"candidates": [{"content": {"role": "model", "parts": [{"text": "Ann"}]}}]}, "assistant")
    'Ann'
    """
    if isinstance(value, Mapping):
        lists = ((name, value[name]) for name in _SEVERAL if isinstance(value.get(name), list) and value[name])
        if several := next(lists, None):
            name, items = several
            return text_of(
                items[0] if name in ("choices", "candidates") else items, "assistant" if name != "messages" else role
            )
        inner = next((value[name] for name in _TEXT if value.get(name) is not None), None)
        return text_of(inner, role)
    if isinstance(value, list) and value and all(isinstance(part, Mapping) for part in value):
        roles = [str(part.get("role", part.get("from", part.get("type")))).casefold() for part in value]
        has_roles = any("role" in part or "from" in part for part in value)
        if not has_roles and any(part.get("type") in BLOCKS for part in value):
            return "".join(str(part.get("text", "")) for part in value if part.get("type") in BLOCKS)
        mine = [part for part, name in zip(value, roles, strict=True) if name in _ROLES[role]]
        if not mine and role == "assistant" and any(name in (*_ROLES["user"], "system", "tool") for name in roles):
            return None
        return text_of((mine or value)[-1], role)
    if isinstance(value, list) and len(value) == 1:
        return text_of(value[0], role)
    return value


BLOCKS = ("text", "output_text", "input_text")


def is_chat(value: object) -> bool:
    """Return whether a value is a message, a list of messages or of blocks of content, or the response of an API.

    >>> is_chat([{"role": "user", "content": "Who?"}]), is_chat({"gpt": "Ann"}), is_chat(["Who?"])
    (True, False, False)
    """
    if isinstance(value, list):
        return bool(value) and all(map(is_chat, value))
    if not isinstance(value, Mapping):
        return False
    is_message = any({*pair} <= value.keys() for pair in _MESSAGES) or value.get("type") in (*BLOCKS, *_OTHER_BLOCKS)
    lists = ((name, value[name]) for name in ("choices", "candidates") if isinstance(value.get(name), list))
    answers = [item.keys() | {name} for name, items in lists for item in items if isinstance(item, Mapping)]
    if any({*keys} <= item for keys in _RESPONSES for item in answers):
        return True
    return is_message or any(isinstance(value.get(name), list) and is_chat(value[name]) for name in _SEVERAL)


_MESSAGES = (("role", "content"), ("role", "parts"), ("from", "value"), ("type", "content"), ("message", "index"),
             ("message", "finish_reason"), ("generated_text",), ("content", "finishReason"))  # fmt: skip
_RESPONSES = (("choices", "message"), ("choices", "text", "index"), ("candidates", "content"))
_OTHER_BLOCKS = ("thinking", "reasoning", "redacted_thinking", "tool_use", "tool_call", "function_call", "image")


def opened(value: object) -> object:
    """Return a JSON object or list that stands in a cell of CSV as text; other values as they are."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def named_text(value: object, names: Iterable[str], role: str = "user") -> object:
    """Return the text that inputs or outputs of a tool hold under one of some names; of a single value that one.

    >>> named_text({"question": "Who?", "lang": "en"}, QUESTIONS)
    'Who?'
    >>> named_text({"messages": [{"content": "Who?"}]}, QUESTIONS)
    'Who?'
    """
    value = opened(value)
    if isinstance(value, Mapping):
        plain = {str(key).lower().replace(" ", "_"): inner for key, inner in value.items()}
        chat = "choices" in value or "content" in value
        name = next((name for name in names if plain.get(name) is not None), None)
        if name is None and isinstance(value.get("messages"), list):
            name = "messages"
        if chat and name in (None, "text", "content"):
            return text_of(value, role)
        if name is None and len(plain) == 1:
            name = next(iter(plain))
        if name is None:
            option, such_as = Advice("columns", command="--column"), name_column("question", "inputs.NAME")
            raise RowError(
                f"expected one of {', '.join(names)} in {{{', '.join(map(str, value))}}}",
                hint=Advice("name it with ", option, ", such as ", such_as),
            )
        return named_text(plain[name], names, role) if isinstance(plain[name], Mapping | list) else plain[name]
    return text_of(value, role)


def expected_answers(value: object) -> object:
    """Return the references of a value: a text, a list of texts, or what an object holds under a usual name."""
    value = opened(value)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    if isinstance(value, Mapping):
        facts = value.get("expected_facts")
        if facts is not None and not any(value.get(name) is not None for name in EXPECTED):
            raise RowError("expected_facts: are no answers; give an expected_response")
        inner = next((value[name] for name in EXPECTED if value.get(name) is not None), None)
        if isinstance(inner, list) and all(isinstance(item, str) for item in inner):
            return inner
    result = named_text(value, EXPECTED, "assistant")
    return str(result) if isinstance(result, int | float) and not isinstance(result, bool) else result


def passages_of(*values: object) -> object:
    """Return the passages that one of some objects holds under a usual name; None where there are none."""
    for value in map(opened, values):
        if isinstance(value, Mapping):
            result = next((value[name] for name in CONTEXTS if value.get(name)), None)
            if result is not None:
                return result
    return None
