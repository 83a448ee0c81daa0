"""Run a checkpoint's model in 8-bit integers on a CPU with ONNX Runtime, without torch and transformers."""

import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from .checkpoints import CheckpointError, check_onnx, file_digest, read_json
from .inference import cores

FAST_FILE = "model.int8.onnx"


def _how_to_make(folder: Path, metric: str) -> str:
    return f"run genqa-metrics export --metric {metric} --checkpoint {folder} OUTPUT and pass checkpoint=OUTPUT"


def fast_file(folder: Path, metric: str) -> Path:
    """Return the path of a checkpoint's model for the backend "onnx", or name the command that makes it."""
    path = folder / FAST_FILE
    if not path.is_file():
        lacks = f"{folder} has no {FAST_FILE}, which backend 'onnx' runs"
        raise ValueError(f"checkpoint: {lacks}; {_how_to_make(folder, metric)}")
    return path


class FastModel:
    """Replaces the torch model of a checkpoint whose weights have the SHA-256 `digest`; runs in ONNX Runtime.

    It runs on as many threads as torch would in the thread that calls it. Where torch is not in use, it has all cores
    in the main thread and one in any other: whoever starts threads shares the cores among them.
    """

    def __init__(self, folder: Path, digest: str, metric: str):
        self._path = fast_file(folder, metric)
        self._sessions: dict[tuple[int, int], object] = {}
        self._lock = threading.Lock()
        fix = _how_to_make(folder, metric)
        check_onnx(self._path)
        try:
            session = self._session()
        except Exception as error:  # ONNX Runtime has its own exception types
            why = str(error).splitlines()[0]
            raise ValueError(f"checkpoint: {self._path} cannot be loaded: {why}; {fix}") from error
        facts = session.get_modelmeta().custom_metadata_map
        if facts.get("checkpoint") != digest:
            raise ValueError(
                f"checkpoint: {self._path} was made of weights with the SHA-256 "
                f"{facts.get('checkpoint', 'unknown'):.12}, those beside it have {digest:.12}; {fix}"
            )
        self._names = [given.name for given in session.get_inputs()]
        self.device = SimpleNamespace(type="cpu")
        positions = facts.get("positions")
        self.config = SimpleNamespace(max_position_embeddings=int(positions) if positions else None)
        self.name = f"onnx-{file_digest(self._path)[:12]}"

    def _session(self):
        import onnxruntime

        torch = sys.modules.get("torch")
        main = threading.current_thread() is threading.main_thread()
        threads = torch.get_num_threads() if torch else cores() if main else 1
        key = os.getpid(), threads  # a forked child lacks the threads of a session
        with self._lock:
            if key not in self._sessions:
                options = onnxruntime.SessionOptions()
                options.intra_op_num_threads = threads
                options.log_severity_level = 3  # errors only
                # Keeps products exact on x86 without VNNI, where sums would otherwise saturate at 16 bits.
                options.add_session_config_entry("session.x64quantprecision", "1")
                on_cpu = {"providers": ["CPUExecutionProvider"]}
                self._sessions[key] = onnxruntime.InferenceSession(str(self._path), options, **on_cpu)
            return self._sessions[key]

    def __call__(self, **inputs: np.ndarray) -> np.ndarray:
        """Return the logits of padded inputs, see `inference.padded`."""
        (logits,) = self._session().run(["logits"], {name: inputs[name] for name in self._names})
        return logits


class Batch(dict):
    """Tokenized texts: name -> list per text; `encodings` has words, offsets and segments."""

    def __init__(self, encodings: Sequence, columns: dict[str, str]):
        super().__init__({name: [getattr(encoding, kind) for encoding in encodings] for name, kind in columns.items()})
        self.encodings = encodings

    def sequence_ids(self, number: int) -> list[int | None]:
        """Return the segment, 0 or 1, of every word piece of a text; None for special ones."""
        return self.encodings[number].sequence_ids


class FastTokenizer:
    """Replaces a fast tokenizer of transformers; it supports the calls that the metrics make."""

    def __init__(self, folder: Path):
        from tokenizers import Tokenizer

        try:
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # the library raises bare Exception
            raise CheckpointError(
                f"checkpoint: {folder} has no readable tokenizer.json ({str(error).splitlines()[0]:.80}); make it "
                "again with genqa-metrics export"
            ) from error
        self._tokenizer.no_padding()
        longest = read_json(folder / "tokenizer_config.json").get("model_max_length", 512)
        self.model_max_length = int(min(longest, 512))
        unknown = getattr(self._tokenizer.model, "unk_token", None)
        self.unk_token_id = None if unknown is None else self._tokenizer.token_to_id(unknown)

    def __call__(
        self,
        texts: Sequence[str] | str,
        others: Sequence[str] | None = None,
        add_special_tokens: bool = True,
        truncation: str | bool = False,
        max_length: int | None = None,
        return_offsets_mapping: bool = False,
        return_special_tokens_mask: bool = False,
        **unused: object,
    ) -> Batch:
        """Return the word pieces of texts, or of pairs of texts, as transformers does."""
        if truncation:
            strategy = "longest_first" if truncation is True else truncation
            self._tokenizer.enable_truncation(max_length, strategy=strategy)
        else:
            self._tokenizer.no_truncation()
        single = isinstance(texts, str)
        rows = [texts] if single else list(texts) if others is None else list(zip(texts, others, strict=True))
        columns = {"input_ids": "ids", "token_type_ids": "type_ids", "attention_mask": "attention_mask"}
        columns |= {"offset_mapping": "offsets"} if return_offsets_mapping else {}
        columns |= {"special_tokens_mask": "special_tokens_mask"} if return_special_tokens_mask else {}
        batch = Batch(self._tokenizer.encode_batch(rows, add_special_tokens=add_special_tokens), columns)
        if single:
            batch.update({name: values[0] for name, values in batch.items()})
        return batch
