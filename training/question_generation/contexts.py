"""Contexts with their questions, words as vectors of the bundled encoder, and padded batches."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from genqa_metrics.core import checkpoints
from genqa_metrics.core.checkpoints import BASE_MODEL, checkpoint_digest, hub_folder, token_limit
from genqa_metrics.core.inference import CPU_BATCH, run_padded, tensors
from genqa_metrics.core.scorer import quiet
from genqa_metrics.f_meta import overlap

from training.common import option, source_rows

PAD, UNKNOWN, START, END = range(4)
SPECIAL = ("<pad>", "<unk>", "<s>", "</s>")


@dataclass
class Settings:
    """Settings of a generator: arguments of its training, which the model keeps.

    The paper divides no scores by the root of H (equation 9); its W_a could learn that, but at first the softmax is
    then nearly all at one word and has next to no gradient.
    """

    latent: int = option("size of the latent variable; 0: the deterministic baseline", 0)
    hidden: int = option("size of the encoder's two directions together, H", 600)
    dropout: float = option("share of numbers dropped between layers", 0.3)
    kl_rate: float = option("weight that every iteration adds to the KL term", 0.03)
    kl_steps: int = option("training steps that are an iteration of kl_rate", 1)
    latent_dropout: float = option("probability that z is dropped whole", 0.2)
    free_bits: float = option("nats per dimension that the KL term leaves free", 0.0)
    output: str = option("W_o: 'free' (equation 8), or 'vectors': E (P c) with the words' vectors E", "vectors")
    skip: bool = option("add a map of the word's vector to the context states", True)
    copies: bool = option("learn which word of the context is copied", True)
    scaled: bool = option("divide the attention's scores by the root of --hidden", True)
    max_context: int = option("words of a context that are read", 60)
    max_question: int = option("words of a question that are learned", 20)
    encoder: str = option("folder or Hub id of the encoder", "sentence-transformers/all-MiniLM-L6-v2")


@dataclass(frozen=True)
class Context:
    """A text and the human questions about it, both as tokens in lower case separated by blanks."""

    text: str
    references: tuple[str, ...]


def treebank(text: str) -> str:
    r"""Return the lower-case tokens of the Penn treebank with blanks between them, as in the files of Du et al.

    >>> treebank('Bell (1847) didn\'t say "hello".')
    "bell -lrb- 1847 -rrb- did n't say `` hello '' ."
    """
    from nltk.tokenize import NLTKWordTokenizer

    text = text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").replace("\N{LEFT SINGLE QUOTATION MARK}", "'")
    text = text.replace("\N{LEFT DOUBLE QUOTATION MARK}", '"').replace("\N{RIGHT DOUBLE QUOTATION MARK}", '"')
    text = text.replace("\N{EM DASH}", " -- ").replace("\N{EN DASH}", " -- ")
    return " ".join(NLTKWordTokenizer().tokenize(text, convert_parentheses=True)).lower()


def _column(row: Mapping, names: Sequence[str], where: str) -> object:
    for name in names:
        if row.get(name):
            return row[name]
    got = ", ".join(row) or "nothing"
    raise ValueError(f"{where}: expected a column {' or '.join(names)} with a value, got {got}")


def read_contexts(source: str, folder: str | Path | None = None) -> list[Context]:
    """Return one `Context` per different text of a source with all its questions, in the order of their first row.

    The source is a file NAME.jsonl.gz or NAME.jsonl in `folder`, or `NAME` or `NAME:SPLIT` of the Hub, with `context`
    or `sentence`, and `references` (a list) or `question`. Rows that are `tokenized`, and the files of Du et al., are
    tokens of the Penn treebank and stay as they are.
    """
    questions_by_text: dict[str, dict[str, None]] = {}
    for i, row in enumerate(source_rows("sources", source, folder)):
        where = f"{source}, row {i}"
        tokens = str.split if row.get("tokenized") or source.startswith("squad_du2017") else overlap.words
        text = " ".join(tokens(_column(row, ("sentence", "context"), where)))
        questions = _column(row, ("references", "question"), where)
        questions = [questions] if isinstance(questions, str) else questions
        asked = [" ".join(tokens(question)) for question in questions]
        if not text or not all(asked):
            raise ValueError(f"{where}: expected text and questions with words, got {text!r:.60} and {asked!s:.60}")
        questions_by_text.setdefault(text, {}).update(dict.fromkeys(asked))
    return [Context(text, tuple(questions)) for text, questions in questions_by_text.items()]


def checkpoint_folder(argument: str, name: str | Path) -> Path:
    """Return a folder, or that of a download from the Hub; a ValueError names the argument and what was tried."""
    tried: list[str] = []
    folder = Path(name) if Path(name).is_dir() else hub_folder(str(name), None, checkpoints.is_checkpoint, tried)
    if folder is None:
        raise ValueError(f"{argument}: expected a folder or a Hub id, got {str(name)!r}; {'; '.join(tried)}")
    return folder


def encoder_folder(name: str) -> Path:
    """Return the folder of an encoder: the bundled one by its Hub id, a local folder, or a download."""
    return checkpoints.base_encoder() if name == BASE_MODEL else checkpoint_folder("encoder", name)


class WordVectors:
    """Means of the encoder's embeddings of word pieces, or of their first `size` components, of variance 1."""

    def __init__(self, folder: str | Path, size: int | None = None):
        from safetensors import safe_open
        from transformers import AutoTokenizer

        self.folder = Path(folder)
        self.tokenizer = AutoTokenizer.from_pretrained(self.folder)
        with safe_open(self.folder / "model.safetensors", "np") as file:
            name = next(name for name in file.keys() if name.endswith("word_embeddings.weight"))
            self._table = file.get_tensor(name).astype(np.float32)
        if size is not None and not 1 <= size <= self._table.shape[1]:
            raise ValueError(f"vector: expected a size from 1 to {self._table.shape[1]}, got {size}")
        if size is not None and size < self._table.shape[1]:
            self._table = self._table - self._table.mean(axis=0)
            _, axes = np.linalg.eigh(self._table.T.astype(np.float64) @ self._table)
            axes = axes[:, : -size - 1 : -1]
            # The sign of an axis is arbitrary; a model that is loaded elsewhere must find the same one.
            axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(size)])
            self._table = self._table @ axes.astype(np.float32)
        self._scale = float(self._table.std())
        self._vectors: dict[str, np.ndarray] = {}

    @property
    def size(self) -> int:
        """Numbers of a vector."""
        return self._table.shape[1]

    def __call__(self, words: Sequence[str]) -> np.ndarray:
        """Return (words, size) vectors."""
        if new := [word for word in dict.fromkeys(words) if word not in self._vectors]:
            pieces = self.tokenizer(new, add_special_tokens=False)["input_ids"]
            rows = [self._table[p or [self.tokenizer.unk_token_id]].mean(axis=0) / self._scale for p in pieces]
            self._vectors |= zip(new, rows, strict=True)
        return np.array([self._vectors[word] for word in words], np.float32).reshape(-1, self.size)


def encoder_states(folder: str | Path, texts: Sequence[str]) -> list[np.ndarray]:
    """Return per text (words, size) last states, the mean over a word's pieces; 0 beyond what the encoder reads."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    with quiet():
        model = AutoModel.from_pretrained(folder, add_pooling_layer=False).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    split = [text.split() for text in texts]
    encoded = tokenizer(split, is_split_into_words=True, truncation=True, max_length=token_limit(model, tokenizer))
    columns = encoded["input_ids"], encoded["attention_mask"]
    rows = [{"input_ids": ids, "attention_mask": mask} for ids, mask in zip(*columns, strict=True)]
    with torch.inference_mode():
        states = run_padded(rows, lambda inputs: model(**tensors(inputs)).last_hidden_state.numpy(), CPU_BATCH)
    results = []
    for i, (words, row) in enumerate(zip(split, states, strict=True)):
        word_numbers = np.array([-1 if word is None else word for word in encoded.word_ids(i)])
        sums, counts = np.zeros((len(words), row.shape[1]), np.float32), np.zeros(len(words), np.float32)
        np.add.at(sums, word_numbers[word_numbers >= 0], row[word_numbers >= 0])
        np.add.at(counts, word_numbers[word_numbers >= 0], 1)
        results.append(sums / np.maximum(counts, 1)[:, None])
    return results


def mean_states(folder: str | Path, texts: Sequence[str], cache: str | Path | None = None) -> np.ndarray:
    """Return (texts, size) mean states of texts' words (equation 12), of variance 1; `cache` keeps them."""
    from safetensors.numpy import load_file, save_file

    facts = "\n".join([checkpoint_digest(Path(folder)), *texts])
    path = Path(cache) / f"{hashlib.sha256(facts.encode()).hexdigest()[:16]}.safetensors" if cache else None
    if path and path.is_file():
        return load_file(path)["means"]
    means = np.array([states.mean(axis=0) for states in encoder_states(folder, texts)], np.float32)
    means /= means.std()
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        save_file({"means": means}, path)
    return means


def vocabulary(questions: Iterable[str], min_count: int) -> list[str]:
    """Return the output vocabulary: the special tokens, then words by frequency, those of one frequency by alphabet.

    >>> vocabulary(["who won ?", "who lost ?"], min_count=2)
    ['<pad>', '<unk>', '<s>', '</s>', '?', 'who']
    """
    counts = Counter(word for question in questions for word in question.split())
    kept = [word for word, count in counts.items() if count >= min_count]
    return [*SPECIAL, *sorted(kept, key=lambda word: (-counts[word], word))]


class Examples:
    """Makes the inputs of the model from texts: word numbers, vectors and masks.

    With `copies` UNKNOWN stands for a word of the context that is outside the vocabulary, and which one is learned
    (Gulcehre et al. 2016). Else it is a word like any other, learned wherever a question has a word outside the
    vocabulary, and replaced by the word of the context that gets most attention (Du et al. 2017).
    """

    def __init__(self, words: Sequence[str], vectors: WordVectors, max_context=60, max_question=20, copies=True):
        self.words, self.vectors, self.copies = list(words), vectors, copies
        self.number = {word: i for i, word in enumerate(self.words)}
        self.max_context, self.max_question = max_context, max_question

    def of_contexts(self, texts: Sequence[str]) -> list[dict]:
        """Return per text "input_ids", its words; their vectors are found for all texts at once."""
        rows = [{"input_ids": text.split()[: self.max_context]} for text in texts]
        self.vectors(list({word for row in rows for word in row["input_ids"]}))
        return rows

    def of_pairs(self, pairs: Sequence[tuple[str, str]], means: np.ndarray) -> list[dict]:
        """Return training examples of (context, question) pairs, with (pairs, size) mean states of the questions."""
        rows = self.of_contexts([text for text, _ in pairs])
        self.vectors(list({word for _, question in pairs for word in question.split()}))
        for row, (_, question), mean in zip(rows, pairs, means, strict=True):
            words = question.split()
            row |= {
                "question": words[: self.max_question],
                "ends": len(words) <= self.max_question,
                "question_mean": mean,
            }
        return rows

    def collate(self, rows: Sequence[Mapping]) -> dict:
        """Return a padded batch of B rows with contexts of T words and questions of L words.

        `context`: (B, T, size) vectors; `lengths`: (B,); `copyable`: (B, T) whether UNKNOWN can stand for the word:
        one outside the vocabulary or, without `copies`, any. For training also `previous`: (B, L + 1, size) vectors of
        the question's words, the first 0 (the start); `target`: (B, L + 1) their numbers and END, UNKNOWN for a word
        outside the vocabulary that is in the context, -100 for one in neither (without `copies` UNKNOWN for both) and
        behind the end; `copies`: (B, L + 1, T) where in the context that UNKNOWN is; `question_mean`: (B, mean).
        """
        import torch
        from torch.nn.utils.rnn import pad_sequence

        def padded(arrays: Iterable[np.ndarray], fill: int = 0) -> torch.Tensor:
            return pad_sequence([torch.from_numpy(array) for array in arrays], batch_first=True, padding_value=fill)

        texts = [row["input_ids"] for row in rows]
        copyable = ([not self.copies or word not in self.number for word in text] for text in texts)
        batch = {"context": padded(map(self.vectors, texts)), "copyable": padded(map(np.array, copyable))}
        batch["lengths"] = torch.tensor([len(words) for words in texts])
        if "question" not in rows[0]:
            return batch
        start, targets = np.zeros((1, self.vectors.size), np.float32), []
        previous = padded(np.concatenate([start, self.vectors(row["question"])]) for row in rows)
        copies = torch.zeros(*previous.shape[:2], batch["context"].shape[1], dtype=torch.bool)
        for i, (text, row) in enumerate(zip(texts, rows, strict=True)):
            target = []
            for position, word in enumerate(row["question"]):
                number = self.number.get(word, UNKNOWN)
                if self.copies and word not in self.number:
                    places = [n for n, other in enumerate(text) if other == word]
                    copies[i, position, places] = True
                    number = UNKNOWN if places else -100
                target.append(number)
            # The end of a question that was cut is not to be learned here.
            targets.append(np.array([*target, END if row["ends"] else -100]))
        means = torch.from_numpy(np.stack([row["question_mean"] for row in rows]))
        batch |= {"previous": previous, "target": padded(targets, -100), "copies": copies}
        return batch | {"question_mean": means}
