"""Judges that read one prompt through a causal language model.

A prompt has two parts: what rows share (question and accepted answers, or passages) and what is judged (an answer, or a
claim). Rows that share the first part are packed into one sequence whose attention mask is a tree, so that the shared
part is read once. The verdict is the logit of " yes" minus that of " no" at the last token of each judged text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

PROMPT_VERSION = 1
WORDS = (" yes", " no")
END = "\nVerdict:"
WINDOW = 2048  # tokens of a prompt; a longer judged text is read in windows
LEAST_JUDGED = 256  # tokens of a window that are left to the judged text, however long the shared part is


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
    """One sequence of several prompts.

    Attributes:
        tokens: (length,) token ids.
        positions: (length,) position of each token in its own prompt.
        parts: (length,) number of the shared part that a token belongs to.
        branches: (length,) number of the judged text that a token belongs to, 0 for a shared part.
        ends: (rows,) index of the last token of each judged text.
        rows: (rows,) numbers of the rows, in the order of `ends`.
    """

    tokens: np.ndarray
    positions: np.ndarray
    parts: np.ndarray
    branches: np.ndarray
    ends: np.ndarray
    rows: np.ndarray

    def mask(self) -> np.ndarray:
        """Return (length, length) booleans: True where a token (first axis) reads another (second axis)."""
        index = np.arange(len(self.tokens))
        before = index[:, None] >= index[None, :]
        same = self.parts[:, None] == self.parts[None, :]
        visible = (self.branches[None, :] == 0) | (self.branches[:, None] == self.branches[None, :])
        return before & same & visible


def packed(
    prompts: Sequence[tuple[Sequence[int], Sequence[Sequence[int]], Sequence[int]]], budget: int
) -> list[Pack]:
    """Return packs of prompts.

    Args:
        prompts: (tokens of the shared part, tokens of each judged text, number of each row).
        budget: tokens of a pack; a prompt of one judged text that has more is a pack of its own.
    """
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
    tokens, positions, parts, branches, ends, numbers = [], [], [], [], [], []
    branch = 0
    for part, (shared, texts, rows) in enumerate(prompts):
        tokens += shared
        positions += range(len(shared))
        parts += [part] * len(shared)
        branches += [0] * len(shared)
        for text, row in zip(texts, rows, strict=True):
            branch += 1
            tokens += text
            positions += range(len(shared), len(shared) + len(text))
            parts += [part] * len(text)
            branches += [branch] * len(text)
            ends.append(len(tokens) - 1)
            numbers.append(row)
    return Pack(*(np.array(values, dtype=np.int64) for values in (tokens, positions, parts, branches, ends, numbers)))


def causal_classes():
    """Return the class CausalJudge; made on first use, because importing torch takes seconds."""
    import torch

    class CausalJudge(torch.nn.Module):
        """A causal language model without its output layer, of which the difference of two rows is kept."""

        def __init__(self, backbone, direction):
            super().__init__()
            self.backbone = backbone
            self.direction = torch.nn.Parameter(direction.float())

        def forward(self, input_ids, position_ids, attention_mask, ends, labels=None, **_):
            hidden = self.backbone(
                input_ids=input_ids, position_ids=position_ids, attention_mask=attention_mask, use_cache=False
            ).last_hidden_state
            return {"logits": hidden[0, ends].float() @ self.direction}

    return CausalJudge


def load_base(path: Path, dtype: str = "float32"):
    """Return a CausalJudge without an adapter, and its tokenizer.

    Args:
        path: a GGUF file.
        dtype: name of a torch floating type.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    folder, file = str(path.parent), path.name
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=file)
    model = AutoModelForCausalLM.from_pretrained(
        folder, gguf_file=file, quantization_config=GgufConfig(dequantize=True), dtype=getattr(torch, dtype)
    )
    yes, no = (tokenizer(word, add_special_tokens=False)["input_ids"][0] for word in WORDS)
    rows = model.get_output_embeddings().weight.detach()
    return causal_classes()(model.model, rows[yes].float() - rows[no].float()), tokenizer


def pack_inputs(pack: Pack, dtype) -> dict:
    """Return the inputs of a CausalJudge for one pack."""
    import torch

    mask = torch.from_numpy(pack.mask())
    additive = torch.zeros(mask.shape, dtype=dtype).masked_fill_(~mask, torch.finfo(dtype).min)
    return {
        "input_ids": torch.from_numpy(pack.tokens)[None],
        "position_ids": torch.from_numpy(pack.positions)[None],
        "attention_mask": additive[None, None],
        "ends": torch.from_numpy(pack.ends),
    }
