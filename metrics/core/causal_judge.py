"""Judges that read one prompt through a causal language model.

A prompt has two parts: what rows share (question and accepted answers, or passages) and what is judged (an answer
or a claim). Rows that share the first part are packed into one sequence whose attention mask is a tree, so that the
shared part is read once. The verdict is the logit of " yes" minus that of " no" at the last token of each judged text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .inference import budgeted, report_done

PROMPT_VERSION = 1
WORDS = (" yes", " no")
END = "\nVerdict:"
WINDOW = 2048  # tokens of a prompt; a longer judged text is read in windows
LEAST_JUDGED = 256  # tokens of a window that are left to the judged text, however long the shared part is
PACK = 1024  # tokens of a pack that is read: the mask of a longer one, whose size is squared, costs more than it saves


def answer_prompt(question: str, references: Sequence[str]) -> str:
    """Return the shared part of the prompt for answers.

    >>> print(answer_prompt("Who won?", ["Ann"]))
    Question: Who won?
    Accepted answers:
    - Ann
    Does the answer below agree with an accepted answer? Reply yes or no.
    Answer:
    """
    accepted = "\n".join(f"- {reference.strip()}" for reference in references)
    return (
        f"Question: {question.strip()}\nAccepted answers:\n{accepted}\n"
        "Does the answer below agree with an accepted answer? Reply yes or no.\nAnswer:"
    )


def claim_prompt(passages: Sequence[str], question: str = "") -> str:
    """Return the shared part of the prompt for claims.

    >>> print(claim_prompt(["Ann won."]))
    Passages:
    - Ann won.
    Do the passages support the claim below? Reply yes or no.
    Claim:
    """
    listed = "\n".join(f"- {passage.strip()}" for passage in passages)
    asked = f"Question: {question.strip()}\n" if question.strip() else ""
    return f"Passages:\n{listed}\n{asked}Do the passages support the claim below? Reply yes or no.\nClaim:"


@dataclass(frozen=True)
class Pack:
    """One sequence of several prompts."""

    tokens: np.ndarray  # (length,) token ids
    positions: np.ndarray  # (length,) position of each token in its own prompt
    parts: np.ndarray  # (length,) number of the shared part that a token belongs to
    branches: np.ndarray  # (length,) number of the judged text that a token belongs to, 0 for a shared part
    ends: np.ndarray  # (rows,) index of the last token of each judged text
    rows: np.ndarray  # (rows,) numbers of the rows, in the order of `ends`


def packed(prompts: Sequence[tuple[Sequence[int], Sequence[Sequence[int]], Sequence[int]]], budget: int) -> list[Pack]:
    """Return packs of at most `budget` tokens, or of one text, from (shared part, judged texts, their rows)."""
    packs, current, size = [], [], 0
    for shared, texts, rows in prompts:
        position = 0
        while position < len(texts):
            if current and size + len(shared) + len(texts[position]) > budget:
                packs.append(_pack(current))
                current, size = [], 0
            taken, size = position, size + len(shared)
            while taken < len(texts) and (taken == position or size + len(texts[taken]) <= budget):
                size += len(texts[taken])
                taken += 1
            current.append((shared, texts[position:taken], rows[position:taken]))
            position = taken
    if current:
        packs.append(_pack(current))
    return packs


def _pack(prompts) -> Pack:
    columns, ends, numbers = [], [], []
    for part, (shared, texts, rows) in enumerate(prompts):
        columns += [(token, position, part, 0) for position, token in enumerate(shared)]
        for text, row in zip(texts, rows, strict=True):
            numbers.append(row)
            columns += [(token, position, part, len(numbers)) for position, token in enumerate(text, len(shared))]
            ends.append(len(columns) - 1)
    of_rows = np.array([ends, numbers], dtype=np.int64)
    return Pack(*np.array(columns, dtype=np.int64).T.copy(), *of_rows)


def load_causal(path: Path, dtype: str = "float32"):
    """Return the sequence classifier of one output over a GGUF file of a Qwen2 model, and its tokenizer.

    Its head, which the file lacks, starts as the difference of the output layer's rows of " yes" and " no", so that an
    untrained judge says what the language model says. Tensors are read one by one: transformers reads the whole file
    in float32 first, which takes three times the memory of the model in bfloat16.
    """
    import torch
    from gguf import MODEL_ARCH, GGUFReader, dequantize, get_tensor_name_map
    from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

    source = {"pretrained_model_name_or_path": str(path.parent), "gguf_file": path.name}
    tokenizer, config = AutoTokenizer.from_pretrained(**source), AutoConfig.from_pretrained(**source, num_labels=1)
    tensors = {tensor.name: tensor for tensor in GGUFReader(path).tensors}
    if config.model_type != "qwen2":
        raise ValueError(f"base_model: expected a GGUF file of a qwen2 model, got {config.model_type}: {path.name}")
    names = get_tensor_name_map(MODEL_ARCH.QWEN2, config.num_hidden_layers)

    def values(name, rows=slice(None)):
        tensor = tensors[name]
        return torch.from_numpy(np.array(dequantize(tensor.data[rows], tensor.tensor_type))).to(getattr(torch, dtype))

    with torch.device("meta"):
        model = AutoModelForSequenceClassification.from_config(config, dtype=getattr(torch, dtype))
    parameters = [name for name, _ in model.model.named_parameters()]
    stored = {name: values(names.get_name(f"model.{name}", (".weight", ".bias"))) for name in parameters}
    model.model.load_state_dict(stored, assign=True)
    model.model.rotary_emb = type(model.model.rotary_emb)(config)  # its frequencies are computed, not stored
    words = [tokenizer(word, add_special_tokens=False)["input_ids"][0] for word in WORDS]
    yes, no = values("output.weight" if "output.weight" in tensors else "token_embd.weight", words)
    model.score.weight = torch.nn.Parameter((yes - no)[None])
    return model.eval(), tokenizer


def tree_mask(parts, branches):
    """Return (packs, length, length) booleans, True where a token (second axis) reads another (third axis)."""
    same_part = parts[:, :, None] == parts[:, None, :]
    visible = (branches[:, None, :] == 0) | (branches[:, :, None] == branches[:, None, :])
    return (same_part & visible).tril()


def pack_logits(model, packs: Sequence[Pack]):
    """Return (rows,) logits of packs that are read at once, as a torch tensor, in the order of `Pack.rows`."""
    import torch

    def padded(name, value):
        columns = [torch.from_numpy(getattr(pack, name)) for pack in packs]
        return torch.nn.utils.rnn.pad_sequence(columns, batch_first=True, padding_value=value).to(model.device)

    mask = tree_mask(padded("parts", -1), padded("branches", -1))
    additive = torch.zeros(mask.shape, dtype=model.dtype, device=model.device)
    additive = additive.masked_fill_(~mask, torch.finfo(model.dtype).min)[:, None]
    tokens = {"input_ids": padded("tokens", 0), "position_ids": padded("positions", 0)}
    hidden = model.model(**tokens, attention_mask=additive, use_cache=False).last_hidden_state
    which = np.repeat(np.arange(len(packs)), [len(pack.ends) for pack in packs])
    ends = np.concatenate([pack.ends for pack in packs])
    judged = hidden[torch.from_numpy(which).to(model.device), torch.from_numpy(ends).to(model.device)]
    return model.score(judged)[:, 0].float()


def windows(tokens: Sequence[int], size: int) -> list[list[int]]:
    """Return overlapping windows of a text that is too long: each begins half a window after the one before.

    >>> windows([1, 2, 3, 4, 5], 4), windows([1, 2], 4)
    ([[1, 2, 3, 4], [3, 4, 5]], [[1, 2]])
    """
    if len(tokens) <= size:
        return [list(tokens)]
    starts = range(0, len(tokens) - size // 2, max(1, size // 2))
    return [list(tokens[start : start + size]) for start in starts]


def prompt_logits(model, tokenizer, prompts: Sequence[tuple[str, str]], budget: int) -> np.ndarray:
    """Return (prompts,) logits of (shared part, judged text), above 0 for yes; equal prompts are read once.

    A text of more than `WINDOW` tokens together with its shared part is read in windows, of which the highest logit
    counts; a shared part that leaves it fewer than `LEAST_JUDGED` loses its middle. `budget` tokens are read at once.
    """
    import torch

    unique = {prompt: number for number, prompt in enumerate(dict.fromkeys(prompts))}
    if not unique:
        return np.zeros(0)
    together: dict[str, list[int]] = {}
    for number, (shared, _) in enumerate(unique):
        together.setdefault(shared, []).append(number)

    def tokens(texts):
        return tokenizer(texts, add_special_tokens=False)["input_ids"]

    end = tokens([END])[0]
    bodies = tokens([f" {text.strip()}{END}" for _, text in unique])
    groups = []
    for numbers, head in zip(together.values(), tokens(list(together)), strict=True):
        most = WINDOW - LEAST_JUDGED
        head = head if len(head) <= most else head[: most // 2] + head[len(head) - most // 2 :]
        room, texts = WINDOW - len(head), []
        for number in numbers:
            body = bodies[number]
            parts = [body] if len(body) <= room else [part + end for part in windows(body[:-2], room - len(end))]
            texts += [(part, number) for part in parts]
        groups.append((head, [text for text, _ in texts], [number for _, number in texts]))
    groups.sort(key=lambda group: len(group[0]) + len(group[1][0]))
    values = np.full(len(unique), -np.inf)
    packs = packed(groups, min(budget, PACK))
    total = sum(len(pack.rows) for pack in packs)
    with torch.inference_mode():
        for batch in budgeted([len(pack.tokens) for pack in packs], budget):
            rows = np.concatenate([packs[i].rows for i in batch])
            np.maximum.at(values, rows, pack_logits(model, [packs[i] for i in batch]).cpu().numpy())
            report_done(len(rows) / total)
    return values[[unique[prompt] for prompt in prompts]]
