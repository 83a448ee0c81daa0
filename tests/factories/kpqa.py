"""Tiny encoders and checkpoints of KPQA, and rows for them."""

import random

import evaluate
import torch

WORDS = "how many steps are in a test there four seven the of what who is it yes no not room".split()
QUESTIONS = ["how many steps are in a test", "what is it ?", "who is in the room"]


def tiny_encoder(folder):
    """Write a two-layer BERT with a vocabulary of words and letters, its weights drawn from a seed."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    letters = [chr(c) for c in range(97, 123)] + list("0123456789.,?!'")
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *letters, *(f"##{x}" for x in letters)]
    vocabulary = list(dict.fromkeys(vocabulary))
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    tokenizer = BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=128)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    config = BertConfig(vocab_size=len(vocabulary), max_position_embeddings=128, initializer_range=0.4, **sizes)
    BertModel(config).save_pretrained(folder)
    return folder


def saved(model, tokenizer_folder, folder):
    from transformers import AutoTokenizer

    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(tokenizer_folder).save_pretrained(folder)
    return folder


def load(repository, checkpoint, embedding_model, **arguments):
    arguments |= {"checkpoint": str(checkpoint), "embedding_model": str(embedding_model)}
    return evaluate.load(str(repository / "metrics/kpqa/kpqa.py"), keep_in_memory=True, progress=False, **arguments)


def random_rows(count, seed=0):
    source = random.Random(seed)

    def text(least=0):
        return " ".join(source.choices([*WORDS, "xyz", "1,234.5"], k=source.randint(least, 12)))

    return [(source.choice(QUESTIONS), text(), [text(1) for _ in range(source.randint(1, 3))]) for _ in range(count)]
