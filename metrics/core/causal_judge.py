"""Judges that read one prompt through a causal language model.

A prompt has two parts: what rows share (question and accepted answers, or passages) and what is judged (an answer
or a claim). Rows that share the first part are packed into one sequence whose attention mask is a tree, so that the
shared part is read once. The verdict is the logit of " yes" minus that of " no" at the last token of each judged text.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from .gguf_file import MODULES, GgufFile, token_ids
from .inference import budgeted, report_done
from .prompt_engine import Pack, PromptEngine, head_of, packed, tree_mask

PROMPT_VERSION = 1
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


def load_causal(path: Path, dtype: str = "float32", layers: int | None = None):
    """Return the torch sequence classifier of one output over a GGUF file of a Qwen2 model, and its tokenizer.

    Args:
        path: the file.
        dtype: of the weights.
        layers: number of layers that are read; None for all.

    The head, which the file lacks, starts as the difference of the output layer's rows of " yes" and " no", so that an
    untrained judge says what the language model says.
    """
    import torch
    from transformers import Qwen2Config, Qwen2ForSequenceClassification

    file = GgufFile(path)
    layers = layers or file.setting("block_count")
    config = Qwen2Config(
        vocab_size=len(file.fields["tokenizer.ggml.tokens"]),
        hidden_size=file.setting("embedding_length"),
        intermediate_size=file.setting("feed_forward_length"),
        num_hidden_layers=layers,
        num_attention_heads=file.setting("attention.head_count"),
        num_key_value_heads=file.setting("attention.head_count_kv"),
        rms_norm_eps=file.setting("attention.layer_norm_rms_epsilon"),
        max_position_embeddings=file.setting("context_length"),
        rope_parameters={"rope_type": "default", "rope_theta": file.setting("rope.freq_base")},
        num_labels=1,
        pad_token_id=file.fields.get("tokenizer.ggml.padding_token_id"),
    )

    def tensor(name):
        return torch.from_numpy(file.array(name)).to(getattr(torch, dtype))

    with torch.device("meta"):
        model = Qwen2ForSequenceClassification._from_config(config, dtype=getattr(torch, dtype))
    names = {"embed_tokens.weight": "token_embd.weight", "norm.weight": "output_norm.weight"}
    for layer in range(layers):
        names |= {f"layers.{layer}.{ours}": f"blk.{layer}.{theirs}" for ours, theirs in _LAYER_NAMES.items()}
    model.model.load_state_dict({ours: tensor(theirs) for ours, theirs in names.items()}, assign=True)
    model.model.rotary_emb = type(model.model.rotary_emb)(config)  # its frequencies are computed, not stored
    model.score.weight = torch.nn.Parameter(torch.from_numpy(head_of(file)).to(getattr(torch, dtype)))
    return model.eval(), file.tokenizer


_LAYER_NAMES = {  # of transformers, and of GGUF
    "input_layernorm.weight": "attn_norm.weight",
    "post_attention_layernorm.weight": "ffn_norm.weight",
    **{f"{ours}.weight": f"{theirs}.weight" for theirs, ours in MODULES.items()},
    **{f"{MODULES[name]}.bias": f"{name}.bias" for name in ("attn_q", "attn_k", "attn_v")},
}


def pack_logits(model, packs: Sequence[Pack]):
    """Return (rows,) logits of packs that are read at once, as a torch tensor, in the order of `Pack.rows`."""
    import torch

    def padded(name, padding):
        columns = [torch.from_numpy(getattr(pack, name)) for pack in packs]
        return torch.nn.utils.rnn.pad_sequence(columns, batch_first=True, padding_value=padding).to(model.device)

    mask = tree_mask(padded("groups", -1), padded("branches", -1))
    additive = torch.zeros(mask.shape, dtype=model.dtype, device=model.device)
    additive = additive.masked_fill_(~mask, torch.finfo(model.dtype).min)[:, None]
    tokens = {"input_ids": padded("tokens", 0), "position_ids": padded("positions", 0)}
    hidden = model.model(**tokens, attention_mask=additive, use_cache=False).last_hidden_state
    which = np.repeat(np.arange(len(packs)), [len(pack.ends) for pack in packs])
    ends = np.concatenate([pack.ends for pack in packs])
    judged = hidden[torch.from_numpy(which).to(model.device), torch.from_numpy(ends).to(model.device)]
    return model.score(judged)[:, 0].float()


def model_logits(model, packs: Sequence[Pack]) -> np.ndarray:
    """Return (rows,) logits of packs by a torch model or a `prompt_engine.PromptEngine`."""
    if isinstance(model, PromptEngine):
        return model.pack_logits(packs)
    import torch

    with torch.inference_mode():
        return pack_logits(model, packs).cpu().numpy()


def windows(tokens: Sequence[int], size: int) -> list[list[int]]:
    """Return overlapping windows of a text that is too long: each begins half a window after the one before.

    >>> windows([1, 2, 3, 4, 5], 4), windows([1, 2], 4)
    ([[1, 2, 3, 4], [3, 4, 5]], [[1, 2]])
    """
    if len(tokens) <= size:
        return [list(tokens)]
    starts = range(0, len(tokens) - size // 2, max(1, size // 2))
    return [list(tokens[start : start + size]) for start in starts]


def prompt_logits(
    model, tokenizer, prompts: Sequence[tuple[str, str]], budget: int, read: Callable[..., object] | None = None
) -> np.ndarray:
    """Return (prompts,) logits of (shared part, judged text), above 0 for yes; equal prompts are read once.

    A text of more than `WINDOW` tokens together with its shared part is read in windows, of which the highest logit
    counts; a shared part that leaves it fewer than `LEAST_JUDGED` loses its middle. `budget` tokens are read at once.
    `read` is called with prompts and their logits as soon as these are known.
    """
    unique = list(dict.fromkeys(prompts))
    if not unique:
        return np.zeros(0)
    together: dict[str, list[int]] = {}
    for number, (shared, _) in enumerate(unique):
        together.setdefault(shared, []).append(number)

    end = token_ids(tokenizer, [END])[0]
    bodies = token_ids(tokenizer, [f" {text.strip()}{END}" for _, text in unique])
    groups = []
    for numbers, head in zip(together.values(), token_ids(tokenizer, together), strict=True):
        most = WINDOW - LEAST_JUDGED
        head = head if len(head) <= most else head[: most // 2] + head[len(head) - most // 2 :]
        room, texts = WINDOW - len(head), []
        for number in numbers:
            body = bodies[number]
            pieces = [piece + end for piece in windows(body[: -len(end)], room - len(end))]
            texts += [(piece, number) for piece in (pieces if len(body) > room else [body])]
        groups.append((head, [text for text, _ in texts], [number for _, number in texts]))
    groups.sort(key=lambda group: len(group[0]) + len(group[1][0]))
    logits, packs = np.full(len(unique), -np.inf), packed(groups, min(budget, PACK))
    left = np.bincount(np.concatenate([pack.rows for pack in packs]))  # windows of each text that are not read yet
    total = left.sum()
    for batch in budgeted([len(pack.tokens) for pack in packs], budget):
        rows = np.concatenate([packs[i].rows for i in batch])
        np.maximum.at(logits, rows, model_logits(model, [packs[i] for i in batch]))
        np.subtract.at(left, rows, 1)
        if read:
            whole = [row for row in dict.fromkeys(rows.tolist()) if not left[row]]
            read([unique[row] for row in whole], logits[whole])
        report_done(len(rows) / total)
    by_prompt = dict(zip(unique, logits, strict=True))
    return np.array([by_prompt[prompt] for prompt in prompts])
