"""Judges of prompts for tests of grounding: one that compares words in place of the large one, and a tiny real one."""

import json
from pathlib import Path

import numpy as np
from genqa_metrics.core.judge_model import PROMPT, JudgeReader, LoadedJudge
from genqa_metrics.grounding import scorer
from genqa_metrics.grounding.passages import content_keys

WORD_JUDGE = LoadedJudge(
    load=lambda: (None, None), folder=Path("words"), facts={"checkpoint": "words"}, configuration=PROMPT
)


def logit_by_words(shared, claim):
    """Return 4 if every content word and every "not" of a claim stands in the passages of a prompt, else -4."""
    passages = shared.partition("\nDo the passages")[0].removeprefix("Passages:").partition("\nQuestion: ")[0]
    has_words = bool(passages.strip()) and content_keys(claim) <= content_keys(passages)
    passages_negate, claim_negates = (bool({"not", "cannot"} & {*text.split()}) for text in (passages, claim))
    return 4.0 if has_words and claim_negates <= passages_negate else -4.0


def use_word_judge(patch):
    """Let `logit_by_words` decide in the place of any judge of grounding, and measure it as erring in half."""
    patch.setattr(scorer, "load_judge", lambda *_, **__: WORD_JUDGE)
    patch.setitem(scorer.MEASURED, "words", ((0.5, 0.25, 0.75), (0.4, 0.2, 0.6)))
    patch.setattr(
        JudgeReader, "prompt_logits", lambda _, prompts: np.array([logit_by_words(*prompt) for prompt in prompts])
    )


def prompt_judge(folder):
    """Write a tiny judge of prompts that ONNX Runtime runs, without torch; its weights are drawn from a seed."""
    from safetensors.numpy import save_file

    from tests.factories.causal import HIDDEN, tiny_gguf
    from training.publish.prompt_graph import write_graphs

    folder.mkdir(parents=True, exist_ok=True)
    base = tiny_gguf(folder.with_name(f"{folder.name}.gguf"))
    source, name = np.random.default_rng(3), "base_model.model.model.layers.1.self_attn.q_proj"
    shapes = {"A": (2, HIDDEN), "B": (HIDDEN, 2)}
    lora = {f"{name}.lora_{side}.weight": source.normal(0, 0.3, shape) for side, shape in shapes.items()}
    save_file({name: values.astype(np.float32) for name, values in lora.items()}, folder / "adapter_model.safetensors")
    settings = {"peft_type": "LORA", "r": 2, "lora_alpha": 4, "target_modules": ["q_proj"], "layers_to_transform": [1]}
    settings["base_model_name_or_path"] = str(base)
    (folder / "adapter_config.json").write_text(json.dumps(settings))
    (folder / "ava_config.json").write_text(json.dumps({"configuration": "prompt", "reference_aggregation": "joined"}))
    write_graphs(folder, base, together=1)
    return folder
