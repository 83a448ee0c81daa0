"""Make a judge of another depth from a judge: some of its layers, or layers twice. It is a start for training.

python -m training.ava.depth --judge base --layers 0 2 4 6 8 11 --output six
python -m training.ava.train_ava --start six ...
"""

import argparse
import json
from pathlib import Path


def main() -> None:
    """Write the judge with its adapter merged, its tokenizer and its settings."""
    from copy import deepcopy

    import torch
    from genqa_metrics.ava.loading import checkpoint_folder, load_judge
    from genqa_metrics.core import judge_loading

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--judge", default="base", help="small, base, or a folder with a judge of one pair of texts")
    parser.add_argument("--layers", type=int, nargs="+", required=True, help="the layers in their new order, from 0")
    parser.add_argument("--output", type=Path, required=True, help="folder of the new judge")
    args = parser.parse_args()

    folder = checkpoint_folder(args.judge)
    loaded = load_judge(folder, device="cpu")
    model = deepcopy(loaded.model)  # the loaded one is shared
    layers = model.base_model.encoder.layer
    if wrong := [n for n in args.layers if not 0 <= n < len(layers)]:
        parser.error(f"--layers: {wrong[0]}: the judge has layers 0 to {len(layers) - 1}")
    model.base_model.encoder.layer = torch.nn.ModuleList(deepcopy(layers[n]) for n in args.layers)
    model.config.num_hidden_layers = len(args.layers)
    model.save_pretrained(args.output)
    loaded.tokenizer.save_pretrained(args.output)
    settings = json.loads((Path(folder) / judge_loading.SETTINGS_FILE).read_text(encoding="utf-8"))
    (args.output / judge_loading.SETTINGS_FILE).write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
