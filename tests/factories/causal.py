"""Tiny causal language models as GGUF files, and judges that are adapters of them; made from a seed."""

import json

import numpy as np

HIDDEN, LAYERS, HEADS, INNER, CONTEXT = 32, 2, 2, 64, 4096
WORDS = (" yes", " no", " Paris", " Lyon", "Question", "Answer")


def _byte_symbols() -> list[str]:
    """Return the 256 symbols that byte-level BPE writes bytes with (GPT-2's)."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [byte for byte in range(256) if byte not in printable]
    symbols = dict(zip(printable, map(chr, printable), strict=True))
    symbols |= {byte: chr(256 + number) for number, byte in enumerate(rest)}
    return [symbols[byte] for byte in range(256)]


def tiny_gguf(path, seed=0):
    """Write a causal model of the architecture of Qwen2 whose tokens are bytes and a few words."""
    import gguf

    symbols = _byte_symbols()
    tokens, merges = list(symbols), []
    for word in WORDS:
        pieces = [symbols[byte] for byte in word.encode()]
        left = pieces[0]
        for piece in pieces[1:]:
            merges.append(f"{left} {piece}")
            left += piece
            tokens += [left] if left not in tokens else []
    tokens.append("<|endoftext|>")
    writer = gguf.GGUFWriter(str(path), "qwen2")
    end = len(tokens) - 1
    facts = {"name": "tiny", "context_length": CONTEXT, "embedding_length": HIDDEN, "block_count": LAYERS}
    facts |= {"feed_forward_length": INNER, "head_count": HEADS, "head_count_kv": 1, "layer_norm_rms_eps": 1e-6}
    facts |= {"rope_freq_base": 10000.0, "vocab_size": len(tokens), "tokenizer_model": "gpt2"}
    facts |= {"tokenizer_pre": "qwen2", "token_list": tokens, "token_merges": list(dict.fromkeys(merges))}
    facts["token_types"] = [gguf.TokenType.NORMAL] * end + [gguf.TokenType.CONTROL]
    for name, value in (facts | dict.fromkeys(("eos_token_id", "bos_token_id", "pad_token_id"), end)).items():
        getattr(writer, f"add_{name}")(value)
    source = np.random.default_rng(seed)

    def add(name, *shape, scale=0.3):
        writer.add_tensor(name, source.normal(0, scale, shape).astype(np.float32))

    head = HIDDEN // HEADS
    add("token_embd.weight", len(tokens), HIDDEN)
    add("output.weight", len(tokens), HIDDEN)
    writer.add_tensor("output_norm.weight", np.ones(HIDDEN, np.float32))
    for layer in range(LAYERS):
        for norm in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{layer}.{norm}.weight", np.ones(HIDDEN, np.float32))
        for part, width in (("q", HIDDEN), ("k", head), ("v", head)):
            add(f"blk.{layer}.attn_{part}.weight", width, HIDDEN)
            add(f"blk.{layer}.attn_{part}.bias", width)
        add(f"blk.{layer}.attn_output.weight", HIDDEN, HIDDEN)
        add(f"blk.{layer}.ffn_gate.weight", INNER, HIDDEN)
        add(f"blk.{layer}.ffn_up.weight", INNER, HIDDEN)
        add(f"blk.{layer}.ffn_down.weight", HIDDEN, INNER)
    writer.add_chat_template("{% for message in messages %}{{ message.content }}\n{% endfor %}")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def causal_judge(folder, base, **settings):
    """Write a judge: an adapter of a tiny causal model, its weights drawn from a seed."""
    import torch
    from genqa_metrics.core.causal_judge import load_causal
    from peft import LoraConfig, get_peft_model

    model, _ = load_causal(base)
    config = LoraConfig(r=2, target_modules=["q_proj", "down_proj"], layers_to_transform=[1])
    torch.manual_seed(3)
    adapted = get_peft_model(model, config)
    for name, weight in adapted.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, std=0.3)
    config = adapted.peft_config["default"]
    config.base_model_name_or_path = str(base)
    adapted.save_pretrained(folder)
    written = {"configuration": "prompt", "reference_aggregation": "joined"} | settings
    (folder / "ava_config.json").write_text(json.dumps(written))
    return folder
