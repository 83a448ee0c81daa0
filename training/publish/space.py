"""The tree of a Space: module, card, demo and what the demo includes, requirements, the one default checkpoint."""

import re
import shutil
from collections.abc import Collection
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHECKPOINTS_LINE = re.compile(r"^HUB_CHECKPOINTS = \{[^}]*\}", re.MULTILINE)
HUB_ID = re.compile(r'"([^"/]+)/([^"@]+)(?:@[^"]+)?"')
WITH_CHECKPOINT = ("ava", "kpqa")


def default_checkpoints(text: str, namespace: str, tag: str) -> str:
    """Return a module's source with its bundled checkpoints in a namespace and at a tag.

    Raises:
        ValueError: if the source does not have exactly one line HUB_CHECKPOINTS.

    >>> default_checkpoints('HUB_CHECKPOINTS = {"small": "old/kpqa-minilm"}  # a remark', "me", "v1")
    'HUB_CHECKPOINTS = {"small": "me/kpqa-minilm@v1"}  # a remark'
    """
    text, count = CHECKPOINTS_LINE.subn(lambda line: HUB_ID.sub(rf'"{namespace}/\2@{tag}"', line[0]), text)
    if count != 1:
        raise ValueError(f"expected one line HUB_CHECKPOINTS = {{...}}, found {count}")
    return text


def checkpoint_repository(name: str, namespace: str) -> str:
    """Return the Hub id of a metric's small checkpoint."""
    line = CHECKPOINTS_LINE.search((ROOT / "metrics" / name / "loading.py").read_text(encoding="utf-8"))
    return f"{namespace}/{HUB_ID.search(line[0])[2]}"


def write_space(name: str, namespace: str, tag: str, folder: Path) -> None:
    """Write the tree of a Space: the module, its siblings, its card, the demo and what the demo includes.

    Args:
        name: name of the metric.
        namespace: user or organization.
        tag: of the checkpoint that the module loads by default.
        folder: where to; what it held before is gone.
    """
    from huggingface_hub import RepoCard

    shutil.rmtree(folder, ignore_errors=True)
    module, demo = ROOT / "metrics" / name, ROOT / "spaces" / name
    alone = module.is_dir()  # else a demo of several metrics, which stay in their folders
    shutil.copytree(demo, folder, ignore=shutil.ignore_patterns("__pycache__", "includes.txt", "*.pyi", ".*"))
    includes = demo / "includes.txt"
    lines = includes.read_text(encoding="utf-8").split() if includes.is_file() else []
    included = [path for line in lines for path in sorted(ROOT.glob(line)) if path.name != "__init__.py"]
    own = [path for path in module.iterdir() if path.is_file() and path.name != "__init__.py"] if alone else []
    for path in [demo / "app.py", *own, *included]:
        if path.name == "requirements.txt":
            continue
        # Layers of the toolkit, and training, stay in their folders: they import each other.
        if ROOT / "training" in path.parents:
            place = folder / path.relative_to(ROOT)
        elif "toolkit" in path.parts or not (alone or ROOT / "spaces" in path.parents):
            place = folder / path.relative_to(ROOT / "metrics" if alone else ROOT)
        else:
            place = folder / path.name
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".safetensors":
            shutil.copyfile(path, place)
            continue
        text = path.read_text(encoding="utf-8")
        text = text.replace(f'evaluate.load("metrics/{name}', f'evaluate.load("{namespace}/{name}')
        place.write_text(text, encoding="utf-8")
    wanted = {line for part in (module, demo) if (part / "requirements.txt").is_file() for line in _lines(part)}
    (folder / "requirements.txt").write_text("\n".join(on_cpu(wanted)) + "\n", encoding="utf-8")
    card = folder / "README.md"
    card.write_text(_without_dead_ends(card.read_text(encoding="utf-8"), name, namespace), encoding="utf-8")
    models = []
    for metric in WITH_CHECKPOINT:
        loading = folder / "loading.py" if metric == name else folder / "metrics" / metric / "loading.py"
        if loading.is_file():
            text = default_checkpoints(loading.read_text(encoding="utf-8"), namespace, tag)
            loading.write_text(text, encoding="utf-8")
            models.append(checkpoint_repository(metric, namespace))
    if models:
        card = RepoCard.load(folder / "README.md")
        card.data["models"] = models
        card.save(folder / "README.md")


def on_cpu(requirements: Collection[str]) -> list[str]:
    """Return the lines of a Space's requirements, with the small build of torch for processors.

    >>> on_cpu({"scipy>=1.15"})
    ['scipy>=1.15']
    """
    lines = sorted(requirements)
    if not any(re.match(r"torch\b", line) for line in lines):
        return lines
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    pin = next(pin for pin in pins if pin.startswith("torch=="))
    lines = [f"{pin}+cpu" if re.match(r"torch\b", line) else line for line in lines]
    return ["--extra-index-url https://download.pytorch.org/whl/cpu", *lines]


def _without_dead_ends(card: str, name: str, namespace: str) -> str:
    """Return a card in which files that lie in the repository alone are said to, and a checkpoint's card is a link."""
    if name in WITH_CHECKPOINT:
        model = checkpoint_repository(name, namespace)
        card = card.replace("`checkpoint/README.md`", f"[{model}](https://huggingface.co/{model})")
    return re.sub(r"(`training/[\w./]+`)(?! of the\s+repository)", r"\1 of the repository", card)


def _lines(folder: Path) -> list[str]:
    return (folder / "requirements.txt").read_text(encoding="utf-8").split()
