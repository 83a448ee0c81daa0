"""What the formats of tools have in common: chats, inputs and outputs of any name, right answers and passages."""

from collections.abc import Iterable, Mapping

from ..cells import literal
from ..columns import NAMES
from ..errors import RowError, name_column

# What a question, an answer, a right answer and passages are called inside the inputs and outputs of a tool.
QUESTIONS, ANSWERS, EXPECTED, CONTEXTS = (
    tuple(NAMES["tools"][name]) for name in ("questions", "answers", "expected", "contexts")
)

_ROLES = {"user": ("user", "human"), "assistant": ("assistant", "ai", "gpt", "model", "bot", "chatbot")}
_CHOICES = ("choices", "candidates")  # lists of answers to choose from
_LISTS = (*_CHOICES, "messages", "output", "outputs")
_TEXT = ("content", "text", "output_text", "message", "value", "parts", "generated_text", "body", "response")
_BLOCKS = ("text", "output_text", "input_text")
_OTHER_BLOCKS = ("thinking", "reasoning", "redacted_thinking", "tool_use", "tool_call", "function_call", "image")
_MESSAGES = (("role", "content"), ("role", "parts"), ("from", "value"), ("type", "content"), ("message", "index"),
             ("message", "finish_reason"), ("generated_text",), ("content", "finishReason"))  # fmt: skip
_RESPONSES = (("choices", "message"), ("choices", "text", "index"), ("candidates", "content"))


def text_of(content: object, role: str = "user") -> object:
    """Return the text of what may be a chat or the response of an API: its last message of a role, else the last one.

    An answer is never the text of another role, and blocks that are no text, such as calls of tools, are left out.

    >>> text_of([{"role": "system", "content": "Be short."}, {"role": "user", "content": "Who won?"}])
    'Who won?'
    >>> text_of({"role": "assistant", "content": [{"type": "text", "text": "Ann"}]}), text_of("Ann")
    ('Ann', 'Ann')
    """
    if isinstance(content, Mapping):
        for name in _LISTS:
            if isinstance(content.get(name), list) and content[name]:
                items = content[name][0] if name in _CHOICES else content[name]
                return text_of(items, role if name == "messages" else "assistant")
        return text_of(next((content[name] for name in _TEXT if content.get(name) is not None), None), role)
    if isinstance(content, list) and content and all(isinstance(message, Mapping) for message in content):
        roles = [str(message.get("role", message.get("from", message.get("type")))).casefold() for message in content]
        has_roles = any("role" in message or "from" in message for message in content)
        if not has_roles and any(block.get("type") in _BLOCKS for block in content):
            return "".join(str(block.get("text", "")) for block in content if block.get("type") in _BLOCKS)
        messages_of_role = [message for message, name in zip(content, roles, strict=True) if name in _ROLES[role]]
        if not messages_of_role and role == "assistant" and {*roles} & {*_ROLES["user"], "system", "tool"}:
            return None
        return text_of((messages_of_role or content)[-1], role)
    return text_of(content[0], role) if isinstance(content, list) and len(content) == 1 else content


def is_chat(content: object) -> bool:
    """Return whether a value is a message, a list of messages or of blocks of content, or the response of an API.

    >>> is_chat([{"role": "user", "content": "Who?"}]), is_chat({"gpt": "Ann"}), is_chat(["Who?"])
    (True, False, False)
    """
    if isinstance(content, list):
        return bool(content) and all(map(is_chat, content))
    if not isinstance(content, Mapping):
        return False
    if any({*names} <= content.keys() for names in _MESSAGES) or content.get("type") in (*_BLOCKS, *_OTHER_BLOCKS):
        return True
    lists = {name: content[name] for name in _LISTS if isinstance(content.get(name), list)}
    choices = [
        choice.keys() | {name} for name in _CHOICES for choice in lists.get(name, ()) if isinstance(choice, Mapping)
    ]
    return any({*names} <= keys for names in _RESPONSES for keys in choices) or any(map(is_chat, lists.values()))


def named_text(content: object, names: Iterable[str], role: str = "user") -> object:
    """Return the text under the first of some names in the inputs or outputs of a tool; a single value needs no name.

    >>> named_text({"question": "Who?", "lang": "en"}, QUESTIONS)
    'Who?'
    """
    content = literal(content)
    if not isinstance(content, Mapping):
        return text_of(content, role)
    plain = {str(key).lower().replace(" ", "_"): inner for key, inner in content.items()}
    key = next((name for name in names if plain.get(name) is not None), None)
    if key in (None, "text", "content") and (is_chat(content) or "messages" in content):
        return text_of(content, role)
    if key is None and len(plain) == 1:
        (key,) = plain
    if key is None:
        problem = f"expected one of {', '.join(names)} in {{{', '.join(map(str, content))}}}"
        raise RowError(problem, f"name it, such as {name_column('question', 'inputs.NAME')}")
    return named_text(plain[key], names, role)


def expected_answers(content: object) -> object:
    """Return the references of a value: a text, a list of texts, or what an object holds under a usual name."""
    content = inner = literal(content)
    if isinstance(content, Mapping):
        inner = next((content[name] for name in EXPECTED if content.get(name) is not None), None)
        if inner is None and content.get("expected_facts") is not None:
            raise RowError("expected_facts: are no answers; give an expected_response")
    if isinstance(inner, list) and all(isinstance(text, str) for text in inner):
        return inner
    answer = named_text(content, EXPECTED, "assistant")
    return str(answer) if isinstance(answer, int | float) and not isinstance(answer, bool) else answer


def passages_of(*holders: object) -> object:
    """Return the passages that one of some objects holds under a usual name; None where there are none."""
    for holder in map(literal, holders):
        if isinstance(holder, Mapping) and (name := next((name for name in CONTEXTS if holder.get(name)), None)):
            return holder[name]
    return None
