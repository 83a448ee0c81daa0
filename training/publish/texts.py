"""How to use a model, for its published card."""

USE = """\
## Use

```python
import evaluate

{name} = evaluate.load("{namespace}/{name}")  # this checkpoint is its default
```

"""
PLAIN = """\
```python
from transformers import {auto}, AutoTokenizer

model = {auto}.from_pretrained("{repository}", revision="{tag}")
tokenizer = AutoTokenizer.from_pretrained("{repository}", revision="{tag}")
```

"""
SETTINGS = """\
The model gives a logit. Calibration, threshold and what the segments hold are in `ava_config.json`, for the metric.

"""
FILES = """\
`model.safetensors` (SHA-256 `{merged}`) is the whole model in float32: the adapter of {rank} below, merged into its
encoder. The adapter alone is in the folder `adapter`, for `PeftModel.from_pretrained(encoder, "{repository}",
subfolder="adapter")`.

"""
SEVERAL = """\
The judge has an encoder for each pair of texts that it reads, which a plain `from_pretrained` of transformers does not
know; the metric finds them by `ava_config.json`.

"""
LINEAR = """\
The judge is a weighted sum of four overlaps of words, without an encoder; the metric finds it by `ava_config.json`.

"""
TANH = """\
The head is a layer of 768 with tanh and the classifier, which a plain `from_pretrained` of transformers does not know;
the metric finds it in `kpqa_config.json`.

"""
