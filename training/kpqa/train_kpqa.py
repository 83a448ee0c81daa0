"""Train a keyphrase predictor: for every token of an answer, the probability that it matters for the question."""

import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from genqa_metrics.core.inference import padded, tensors
from genqa_metrics.kpqa import loading
from genqa_metrics.kpqa.loading import PredictorSettings, write_settings

from training import cards
from training.common import encoder_path, option, prepared, published, share, trained, weighted
from training.folding import adapter, save_trained
from training.kpqa import data

HUB_SOURCES = ["rajpurkar/squad", "hotpotqa/hotpot_qa:distractor", "microsoft/ms_marco:v2.1"]  # the paper's


@dataclass
class Arguments:
    """The model and its data; settings of the optimiser are those of transformers.TrainingArguments."""

    sources: list[str] = option("NAME or NAME=WEIGHT: in --data_dir or of the Hub; scales rows", list(HUB_SOURCES))
    data_dir: str | None = option("folder of local files with SQuAD's columns", None)
    exclude: list[str] = option("sources to leave out (ablation)", [])
    dev_sources: list[str] = option("more sources to measure token F1 on", [])
    dev_rows: int = option("rows used of every dev source", 2000)
    dev_share: float = option("share of questions of the sources held out as dev rows", 0.0)
    encoder: str = option("folder or Hub id of the encoder", "sentence-transformers/all-MiniLM-L6-v2")
    question: bool = option("--no_question trains without the question (-KP)", True)
    head: str = option("linear, or tanh: the paper's extra layer of 768", "linear")
    lora_rank: int = option("rank of the adapter; 0 trains all weights", 0)
    lora_alpha: int = option("scale of the adapter", 32)
    max_length: int = option("word pieces of question and answer", 256)
    max_words: int = option("rows with more words in the sentence(s) are left out", 80)
    passes: int = option("times that every row is seen, varied again each time", 1)
    unit_label: float = option("label of the words beside a number, in amounts", 1.0)
    function_label: float = option("label of function words within an answer", 1.0)
    crop: float = option("share of answers cut to a fragment", 0.0)
    restate: float = option("share of 'what is' answers turned into a full sentence", 0.0)
    plain: float = option("share of questions without question mark", 0.0)
    yes_no: int = option("yes/no rows made of the sources' sentences, per pass", 0)
    logit_shift: float = option("added to the keyphrase logit once training is over", 0.0)


def tokenized(rows, tokenizer, max_length: int, with_question: bool) -> list[dict]:
    """Return input_ids, token_type_ids and labels (tokens of the answer 0 to 1, other tokens -100) of every row."""
    examples, side = [], 1 if with_question else 0
    for start in range(0, len(rows), 1000):
        batch = rows[start : start + 1000]
        texts = [row.text for row in batch]
        encoded = tokenizer(
            *([[row.question for row in batch], texts] if with_question else [texts]),
            truncation="only_second" if with_question else True,
            max_length=max_length,
            return_offsets_mapping=True,
            return_token_type_ids=True,
        )
        for i, row in enumerate(batch):
            labels = [
                max(row.labels[a:b], default=0.0) if sequence == side else -100.0
                for (a, b), sequence in zip(encoded["offset_mapping"][i], encoded.sequence_ids(i), strict=True)
            ]
            if max(labels) > 0:
                ids = np.array(encoded["input_ids"][i], dtype=np.int32)
                types = np.array(encoded["token_type_ids"][i], dtype=np.int8)
                examples.append({"input_ids": ids, "token_type_ids": types, "labels": np.array(labels, np.float32)})
    return examples


def collate(examples: list[dict]) -> dict:
    """Return a padded batch; labels are -100 at padding."""
    import torch
    from torch.nn.utils.rnn import pad_sequence

    labels = pad_sequence([torch.from_numpy(e["labels"]) for e in examples], batch_first=True, padding_value=-100.0)
    rows = [{"input_ids": e["input_ids"], "token_type_ids": e["token_type_ids"]} for e in examples]
    rows = [row | {"attention_mask": np.ones(len(row["input_ids"]))} for row in rows]
    return tensors(padded(rows)) | {"labels": labels}


def keyphrase_loss(outputs, labels, num_items_in_batch=None):
    """Return the mean cross entropy over answer tokens; labels may be shares between 0 and 1."""
    import torch

    log_probabilities = torch.log_softmax(outputs.logits.float(), dim=-1)
    used = labels >= 0
    losses = -(labels * log_probabilities[..., 1] + (1 - labels) * log_probabilities[..., 0])
    return losses[used].mean()


def runs(marks) -> set[tuple[int, int]]:
    """Return first and last place of every run of marked tokens.

    >>> sorted(runs([True, True, False, True]))
    [(0, 1), (3, 3)]
    """
    changes = np.flatnonzero(np.diff(np.concatenate([[0], np.asarray(marks, dtype=int), [0]])))
    return {(int(start), int(end) - 1) for start, end in zip(changes[::2], changes[1::2], strict=True)}


def token_f1(predictions) -> dict[str, float]:
    """Return precision, recall and F1 of keyphrase tokens (probability above 1/2), and of whole keyphrases.

    A whole keyphrase is a run of tokens, and is found if the same run is predicted: the F1 of the paper's Table 10.
    """
    logits, labels = predictions
    used = labels >= 0
    predicted, true = logits[..., 1] > logits[..., 0], labels >= 0.5
    both = [(runs(p[u]), runs(t[u])) for p, t, u in zip(predicted, true, used, strict=True)]
    spans = [sum(map(len, keyphrases)) for keyphrases in zip(*((p & t, p, t) for p, t in both), strict=True)]
    tokens = [float((predicted & true)[used].sum()), predicted[used].sum(), true[used].sum()]
    scores = {}
    for prefix, (hits, predicted_count, wanted) in (("", tokens), ("span_", spans)):
        precision, recall = hits / max(1.0, predicted_count), hits / max(1.0, wanted)
        f1 = 2 * precision * recall / max(1e-9, precision + recall)
        scores |= {f"{prefix}precision": precision, f"{prefix}recall": recall, f"{prefix}f1": f1}
    return {name: float(score) for name, score in scores.items()}


def write_checkpoint(model, tokenizer, args: Arguments, folder: Path) -> None:
    """Write the trained model (an adapter in half precision, or all of it with its tokenizer) and its settings."""
    import torch

    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, torch.nn.Linear) and module.out_features == 2:
                module.bias[1] += args.logit_shift
    save_trained(model, tokenizer, args.encoder, folder, bool(args.lora_rank))
    write_settings(folder, PredictorSettings(question=args.question, head=args.head, max_length=args.max_length))


def main() -> None:
    """Train, log the dev scores, write the checkpoint."""
    from transformers import AutoTokenizer

    args, training = prepared(Arguments)

    # 1. Question, answer sentence and labels of every source.
    encoder = encoder_path(args.encoder)
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    rng = random.Random(training.seed)

    def answers(name: str, unit: float, function: float) -> list:
        rows = data.read_rows(name, args.data_dir)
        return list(data.answers(name, rows, unit, function, args.max_words))

    pool, facts, held_out = [], [], []
    for name, weight in weighted(args.sources):
        if name in args.exclude:
            continue
        splits: tuple[list, list] = [], held_out
        for row in answers(name, args.unit_label, args.function_label):
            splits[data.is_held_out(row.question, args.dev_share)].append(row)
        rows = splits[0]
        pool.append((rows, weight))
        facts.append({"name": name, "rows": len(rows), "weight": weight})
        print(f"{name}: {len(rows)} rows, weight {weight:g}", flush=True)
    sentences = sorted({row.text for rows, _ in pool for row in rows if len(row.text.split()) < 20})
    train = []
    for _ in range(args.passes):
        rows = [row for rows, weight in pool for row in share(rows, weight, rng)]
        rows += data.yes_no_answers(rng.sample(sentences, len(sentences)), args.yes_no, rng)
        rows = [data.varied(row, rng, args.crop, args.restate, args.plain) for row in rows]
        train += tokenized(rows, tokenizer, args.max_length, args.question)
    dev = {"held_out": tokenized(held_out, tokenizer, args.max_length, args.question)} if held_out else {}
    for name in args.dev_sources:
        rows = answers(name, 1.0, 1.0)  # the paper's labels: everything in the span
        rows = random.Random(0).sample(rows, min(args.dev_rows, len(rows)))
        dev[name] = tokenized(rows, tokenizer, args.max_length, args.question)
    if not train:
        raise ValueError("sources: no row is left to train on; see the counts above")
    print(f"{len(train)} training examples, {sum(len(e['labels']) for e in train)} tokens", flush=True)

    # 2. The model: all weights but the embeddings, or an adapter on every linear layer.
    model = loading.token_classifier(encoder, args.head)
    if args.lora_rank:
        model = adapter(model, "TOKEN_CLS", args.lora_rank, args.lora_alpha)
        model.print_trainable_parameters()

    # 3. Training, from the last checkpoint if there is one.
    trainer = trained(
        training,
        dev,
        model=model,
        train_dataset=train,
        data_collator=collate,
        compute_loss_func=keyphrase_loss,
        compute_metrics=token_f1,
        processing_class=tokenizer,
    )

    scores = trainer.evaluate() if dev else {}

    # 4. The checkpoint and its card.
    folder = Path(training.output_dir) / "final"
    write_checkpoint(trainer.model, tokenizer, args, folder)
    cards.write_card(folder, "kpqa", args, training, facts, scores)
    published(trainer, training, folder)


if __name__ == "__main__":
    main()
