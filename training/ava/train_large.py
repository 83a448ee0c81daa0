"""Train a judge that reads prompts: an adapter of a small causal language model, of all its layers or of the first."""

import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from genqa_metrics.core import causal_judge
from genqa_metrics.core.causal_judge import END, answer_prompt, claim_prompt, pack_logits
from genqa_metrics.core.checkpoints import CAUSAL_MODEL, ENCODERS, SMALL_CAUSAL_MODEL, file_digest
from genqa_metrics.core.gguf_file import token_ids
from genqa_metrics.core.judge_model import SETTINGS_FILE, read_settings
from genqa_metrics.core.prompt_engine import packed

from training.ava import row_builders, triples
from training.common import json_rows, named_file, option, prepared, share, weighted
from training.common import trained as trained_by

CAUSAL_MODELS = {896: SMALL_CAUSAL_MODEL, 1536: CAUSAL_MODEL}  # by the size of their vectors
HEAD = "base_model.model.score.weight"  # name of the head in an adapter file, as PEFT writes it


@dataclass
class Arguments:
    """The model and its data; settings of the optimiser are those of transformers.TrainingArguments."""

    model: str = option("GGUF file of the base model")
    sources: list[str] = option("NAME=TOKENS: files of verdicts or claims, and tokens that are taken of them", [])
    made: list[str] = option("KIND=ROWS: rows built by rules; kinds: see the README", [])
    folders: list[str] = option("folders of those files", [])
    spans: list[str] = option("NAME=WEIGHT: extractive QA files that rows are built of", [])
    spans_dir: str | None = option("folder of the extractive QA files", None)
    start: str | None = option("folder of an adapter to start from; one of cut_judge.py brings layers and head", None)
    lora_rank: int = option("rank of the adapter", 16)
    lora_alpha: int = option("scale of the adapter", 32)
    first_layer: int = option("first layer that has an adapter", 6)
    pack_tokens: int = option("tokens of a sequence", 768)
    longest: int = option("tokens of a prompt; longer ones are left out", 640)
    same: int = option("rows that share question and references, at most", 6)
    average: float = option("decay of the running mean of the weights, which is what is written", 0.98)


def drawn_groups(all_groups: list, tokens: int, rng) -> list:
    """Return a random sample of groups of rows with about so many tokens; all of them, several times, if fewer."""
    taken, size = [], 0
    while size < tokens:
        for group in rng.sample(all_groups, len(all_groups)):
            taken.append(group)
            size += len(group[0]) + sum(map(len, group[1]))
            if size >= tokens:
                break
    return taken


def answer_prompts(rows: Iterable[triples.Triple], rng=None) -> list[tuple[str, str, float]]:
    """Return (prompt up to the answer, answer, label); with `rng` a fifth has its references in random order."""
    prompts = []
    for row in rows:
        references = list(row.references)
        if rng and len(references) > 1 and rng.random() < 0.2:
            rng.shuffle(references)
        prompts.append((answer_prompt(row.question, references), row.candidate, row.label))
    return prompts


def prompts_of(rows: Sequence[dict], name: str, rng=None) -> list[tuple[str, str, float]]:
    """Return `answer_prompts` of verdicts; of claims with a `context`, and of sentence pairs, the same."""
    if not any(row.get("context") or "first" in row for row in rows):
        return answer_prompts(triples.judged_triples(rows, name), rng)
    claims = [claim for claim in map(triples.as_claim, rows) if claim["label"] is not None]
    return [(claim_prompt([c["context"]], c.get("question") or ""), c["candidate"], c["label"]) for c in claims]


def groups(rows: Iterable[tuple], tokenizer, longest: int, same: int | None = None, rng=None) -> Iterator[tuple]:
    """Yield (tokens of a shared part, tokens of texts behind it, their labels) of rows (shared part, text, label).

    A group has at most `same` texts; those that are longer than `longest` tokens with their shared part are left out.
    """
    together: dict[str, dict] = defaultdict(dict)
    for shared, text, label in rows:
        together[shared][text] = label
    for shared, labels in together.items():
        texts = list(labels)
        if rng:
            rng.shuffle(texts)
        (head,) = token_ids(tokenizer, [shared])
        bodies = token_ids(tokenizer, [f" {text.strip()}{END}" for text in texts])
        fit = [(body, labels[text]) for body, text in zip(bodies, texts, strict=True) if len(head + body) <= longest]
        for start in range(0, len(fit), same or len(fit) or 1):
            bodies, chosen = zip(*fit[start : start + (same or len(fit))], strict=True)
            yield head, list(bodies), list(chosen)


def training_groups(args: Arguments, tokenizer, rng) -> tuple[list, dict[str, str]]:
    """Return the groups of all sources, in random order, and the digests of the files."""
    result, digests = [], {}

    def add(name, rows, tokens=""):
        all_groups = list(groups(rows, tokenizer, args.longest, args.same, rng))
        taken = drawn_groups(all_groups, int(tokens), rng) if tokens else all_groups
        result.extend(taken)
        count = sum(len(group[1]) for group in taken)
        size = sum(len(group[0]) + sum(map(len, group[1])) for group in taken)
        right = sum(sum(group[2]) for group in taken) / max(1, count)
        print(f"{name}: {count} rows, {size} tokens, {right:.2f} right; {len(all_groups)} groups at hand", flush=True)

    for name, _, tokens in (text.partition("=") for text in args.sources):
        path = named_file("folders", name, args.folders)
        digests[name] = file_digest(path)[:12]
        add(name, prompts_of(list(json_rows(path)), name, rng), tokens)
    sentences = []
    for name, weight in weighted(args.spans):
        sentences += triples.stated(share(triples.span_rows(name, args.spans_dir), weight, rng))
    for kind, count in weighted(args.made):
        add(kind, answer_prompts(row_builders.Builder(sentences, rng).rows(kind, int(count))))
    rng.shuffle(result)
    return result, digests


def packed_judge(model):
    """Return a module whose forward takes packs, as the Trainer calls it."""
    import torch
    from peft.helpers import disable_input_dtype_casting

    class PackedJudge(torch.nn.Module):
        """A judge with an adapter (PEFT) that reads packs."""

        def __init__(self):
            super().__init__()
            self.judge = model

        def forward(self, packs, labels=None, **_):
            by_autocast = torch.is_autocast_enabled(self.judge.device.type)  # which chooses the type of all products
            with disable_input_dtype_casting(self.judge, active=by_autocast):
                return {"logits": pack_logits(self.judge.base_model.model, packs)}

    return PackedJudge()


def write_checkpoint(model, weights: dict, folder: Path, facts: dict, layers: int | None = None, head=None) -> None:
    """Write an adapter with these weights in half precision, the settings of the judge, and what made it.

    A judge of the first `layers` alone has a `head`, (1, hidden size), in the place of the language model's words.
    """
    import torch
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    config = model.peft_config["default"]
    config.base_model_name_or_path = CAUSAL_MODELS.get(model.config.hidden_size, CAUSAL_MODEL)
    config.revision = ENCODERS[config.base_model_name_or_path].revision
    config.modules_to_save = None if head is None else ["score"]
    config.save_pretrained(folder)
    tensors = {name.replace(".default.", "."): tensor.to(torch.float16) for name, tensor in weights.items()}
    if head is not None:
        tensors[HEAD] = head.detach().to(torch.float16)
    save_file(tensors, folder / "adapter_model.safetensors", metadata={"format": "pt"})
    settings = {"configuration": "prompt", "reference_aggregation": "joined"}
    settings |= {} if layers is None else {"layers": layers}
    for name, content, indent in ((SETTINGS_FILE, settings, 2), ("training.json", facts, 1)):
        (folder / name).write_text(json.dumps(content, indent=indent) + "\n", encoding="utf-8")


def main() -> None:
    """Train, and write the running mean of the weights every `save_steps` steps."""
    import torch
    from peft import LoraConfig, get_peft_model
    from safetensors.torch import load_file
    from transformers import Trainer, TrainerCallback

    args, training = prepared(Arguments)
    layers = read_settings(Path(args.start))["layers"] if args.start else None
    base, tokenizer = causal_judge.load_causal(Path(args.model), "bfloat16", layers)

    # 1. Rows that share question and references, in packs.
    rng = random.Random(training.seed)
    sources, digests = training_groups(args, tokenizer, rng)
    numbered, labels = [], []
    for shared, texts, text_labels in sources:
        numbered.append((shared, texts, range(len(labels), len(labels) + len(texts))))
        labels += text_labels
    packs = packed(numbered, args.pack_tokens)
    rng.shuffle(packs)
    print(f"{len(labels)} rows in {len(packs)} packs, {sum(len(pack.tokens) for pack in packs)} tokens", flush=True)

    # 2. The adapter: all linear layers from `first_layer` on. The head stays: steps of Adam would move it too far.
    config = LoraConfig(
        r=args.lora_rank,
        lora_alpha=args.lora_alpha,
        target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
        layers_to_transform=list(range(args.first_layer, base.config.num_hidden_layers)),
    )
    adapted = get_peft_model(base, config)
    trained = {name: weight for name, weight in adapted.named_parameters() if weight.requires_grad}
    for weight in trained.values():
        weight.data = weight.data.float()
    if args.start:
        stored = load_file(Path(args.start) / "adapter_model.safetensors")
        if HEAD in stored:
            base.score.weight.data.copy_(stored[HEAD])
        for name, weight in trained.items():
            if name.replace(".default.", ".") in stored:  # layers that had no adapter start with that of no effect
                weight.data.copy_(stored[name.replace(".default.", ".")].float())
    mean = {name: weight.detach().clone() for name, weight in trained.items()}
    output = Path(training.output_dir)
    named = vars(args) | {"model": Path(args.model).name, "folders": [Path(folder).name for folder in args.folders]}
    for name in ("start", "spans_dir"):
        named[name] = named[name] and Path(named[name]).name
    facts = {"arguments": named, "seed": training.seed, "rows": len(labels), "sources": digests}

    class Mean(TrainerCallback):
        """Keeps the running mean of the trained weights, and writes it."""

        def on_step_end(self, arguments, state, control, **kwargs):
            decay = min(args.average, (1 + state.global_step) / (10 + state.global_step))
            for name, weight in trained.items():
                mean[name] = mean[name].to(weight.device).lerp_(weight.detach(), 1 - decay)
            if state.global_step % training.save_steps == 0 or state.global_step == state.max_steps:
                done, head = {"step": state.global_step} | facts, None if layers is None else base.score.weight
                write_checkpoint(adapted, mean, output / "mean", done, layers, head)
                torch.save(mean, output / "mean.pt")

    class AdapterTrainer(Trainer):
        """Saves and loads the trained weights alone."""

        def _save(self, output_dir=None, state_dict=None):
            folder = Path(output_dir or training.output_dir)
            folder.mkdir(parents=True, exist_ok=True)
            torch.save({name: weight.detach() for name, weight in trained.items()}, folder / "trained.pt")

        def _load_from_checkpoint(self, resume_from_checkpoint, model=None):
            for name, tensor in torch.load(Path(resume_from_checkpoint) / "trained.pt").items():
                trained[name].data.copy_(tensor)
            mean.update(torch.load(output / "mean.pt"))

    # 3. Training, from the last checkpoint if there is one.
    def collate(batch):
        rows = [row for pack in batch for row in pack.rows]
        return {"packs": batch, "labels": torch.tensor([labels[row] for row in rows], dtype=torch.float32)}

    def loss(outputs, targets, num_items_in_batch=None):
        total = torch.nn.functional.binary_cross_entropy_with_logits(outputs["logits"], targets, reduction="sum")
        return total / (num_items_in_batch if num_items_in_batch is not None else len(targets))

    training.train_sampling_strategy = "sequential"
    inputs = {"model": packed_judge(adapted), "train_dataset": packs, "data_collator": collate}
    trained_by(training, trainer_class=AdapterTrainer, callbacks=[Mean()], compute_loss_func=loss, **inputs)


if __name__ == "__main__":
    main()
