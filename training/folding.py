"""The mean of several models of one kind, a model as an adapter on the encoder that it was trained from, and its file.

A model that was trained further, or from another beginning, and one that was not lie close together; between them is
one that keeps most of what each of them can (Wortsman et al., "Robust fine-tuning of zero-shot models", CVPR 2022).
"""

from collections.abc import Sequence
from pathlib import Path

from genqa_metrics.core.checkpoints import ENCODERS


def mean_states(states: Sequence[dict], weights: Sequence[float]) -> dict:
    """Return the weighted mean of the floating tensors of some states, in the types that the first has."""
    return {
        name: sum(weight * state[name].float() for weight, state in zip(weights, states, strict=True)).to(tensor.dtype)
        for name, tensor in states[0].items()
        if tensor.is_floating_point()
    }


def mean_model(models: Sequence, weights: Sequence[float]):
    """Return the first of some models of one shape, with the weighted mean of the weights of all."""
    models[0].load_state_dict(mean_states([model.state_dict() for model in models], weights), strict=False)
    return models[0]


def adapter(model, task: str, rank: int, alpha: int, dropout: float = 0.05, **more: object):
    """Return a model with an untrained adapter (PEFT) of a rank on every linear layer of its encoder."""
    from peft import LoraConfig, get_peft_model

    modules = ["query", "key", "value", "q", "k", "v", "o", "dense"]
    settings = {"task_type": task, "lora_alpha": alpha, "lora_dropout": dropout, "target_modules": modules}
    return get_peft_model(model, LoraConfig(r=rank, **settings, **more))


def fold(bare, trained) -> None:
    """Fill the untrained adapter (PEFT) of `bare` with the best approximation of every matrix's change by rank."""
    import torch

    modules = dict(trained.named_modules())
    with torch.no_grad():
        for name, module in bare.base_model.model.named_modules():
            if hasattr(module, "lora_A"):
                weight = modules[name].weight  # perhaps on a GPU, where it was trained
                change = (weight - module.base_layer.weight.to(weight.device)).float()
                left, singular, right = torch.linalg.svd(change, full_matrices=False)
                down, up = module.lora_A["default"].weight.zero_(), module.lora_B["default"].weight.zero_()
                kept = min(len(down), len(singular))
                root = singular[:kept].sqrt()
                down[:kept] = (root[:, None] * right[:kept]).to(down.device)
                up[:, :kept] = (left[:, :kept] * root).to(up.device)
            elif hasattr(module, "modules_to_save"):
                module.modules_to_save["default"].load_state_dict(modules[name].state_dict())


def save_trained(model, tokenizer, encoder: str, folder: Path, is_adapter: bool) -> None:
    """Write a trained model: an adapter (PEFT) in half precision, or all its weights with the tokenizer."""
    if is_adapter:
        save_adapter(model, encoder, folder)
    else:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)


def save_adapter(model, encoder: str, folder: Path) -> None:
    """Write an adapter (PEFT) in half precision, with its encoder's name and the revision of a pinned one."""
    from safetensors.torch import load_file, save_file

    config = model.peft_config["default"]
    config.base_model_name_or_path = encoder
    config.revision = ENCODERS[encoder].revision if encoder in ENCODERS else None
    model.save_pretrained(folder)
    path = folder / "adapter_model.safetensors"
    save_file({name: tensor.half() for name, tensor in load_file(path).items()}, path, metadata={"format": "pt"})
