"""Paragraphs of published model cards: how to use the model."""

USE = """\
## Use

```python
import evaluate

{name} = evaluate.load("{namespace}/{name}")  # loads this checkpoint by default
```

"""
USE_OWN = """\
## Use

```python
import evaluate

{name} = evaluate.load("{namespace}/{name}", checkpoint="{repository}@{tag}")
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
The model returns a logit. The metric reads calibration, threshold and order of the texts from `ava_config.json`.

"""
FILES = """\
`model.safetensors` (SHA-256 `{merged}`) is the whole model in float32: the adapter of {rank}, merged into its encoder.
The folder `adapter` holds the adapter alone, for
`PeftModel.from_pretrained(encoder, "{repository}", subfolder="adapter")`.

"""
SEVERAL = """\
The judge has an encoder for each pair of texts, which `from_pretrained` of transformers cannot load. The metric reads
`ava_config.json` to load it.

"""
LINEAR = """\
The judge is a weighted sum of four word overlaps, without an encoder; the metric loads it as described in
`ava_config.json`.

"""
TANH = """\
The head is a layer of 768 with tanh and a classifier, which `from_pretrained` of transformers cannot load. The metric
reads `kpqa_config.json` to load it.

"""
