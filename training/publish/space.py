"""Write the folder of a Space: the assembled module, the demo, and the package that the demo imports."""

import re
import shutil
from collections.abc import Collection
from pathlib import Path

from training.publish.assemble import METRICS, ROOT, assemble

CHECKPOINTS_LINE = re.compile(r"^HUB_CHECKPOINTS = \{[^}]*\}", re.MULTILINE)
HUB_ID = re.compile(r'"([^"/]+)/([^"@]+)(?:@[^"]+)?"')
WITH_CHECKPOINT = ("ava", "kpqa")
DEMOS = ("home", "compare")  # the front door and the demo that compares systems, which are no metrics
COMPARED = ("ava", "kpqa")  # their metrics that have a checkpoint
BUNDLED = ("checkpoint", "checkpoint_base", "checkpoint_large")  # the Hub has them
LEFT_OUT = shutil.ignore_patterns("__pycache__", *BUNDLED, "examples", "integrations", ".*")


def default_checkpoints(text: str, namespace: str, tag: str) -> str:
    """Return a module's source with its bundled checkpoints, on its one line HUB_CHECKPOINTS, in a namespace at a tag.

    >>> default_checkpoints('HUB_CHECKPOINTS = {"small": "old/kpqa-minilm"}  # a remark', "me", "v1")
    'HUB_CHECKPOINTS = {"small": "me/kpqa-minilm@v1"}  # a remark'
    """
    text, count = CHECKPOINTS_LINE.subn(lambda line: HUB_ID.sub(rf'"{namespace}/\2@{tag}"', line[0]), text)
    if count != 1:
        raise ValueError(f"expected one line HUB_CHECKPOINTS = {{...}}, found {count}")
    return text


def hub_names(metric: str) -> dict[str, str]:
    """Return the names of the repositories of a metric's checkpoints on the Hub, by size.

    >>> hub_names("kpqa")
    {'small': 'kpqa-minilm'}
    """
    lines = CHECKPOINTS_LINE.search((METRICS / metric / "loading.py").read_text(encoding="utf-8"))[0]
    return {size: name for size, _, name in re.findall(r'"(\w+)": ' + HUB_ID.pattern, lines)}


def write_space(name: str, namespace: str, tag: str, folder: Path) -> None:
    """Write the folder, emptied first, of the Space of a metric or a demo; the Hub has its checkpoints, at `tag`."""
    from huggingface_hub import RepoCard

    shutil.rmtree(folder, ignore_errors=True)
    demo, is_metric = ROOT / "spaces" / name, (METRICS / name).is_dir()
    if is_metric:
        assemble(name, folder)
        for name_of_folder in BUNDLED:
            shutil.rmtree(folder / name_of_folder, ignore_errors=True)
    paths = [path for target in (folder, demo) for path in target.glob("requirements.txt")]
    requirements = {line for path in paths for line in path.read_text(encoding="utf-8").split()}
    shutil.copytree(demo, folder, ignore=LEFT_OUT, dirs_exist_ok=True)
    shutil.copytree(demo.with_name("common"), folder / "common", ignore=LEFT_OUT)
    shutil.copytree(METRICS, folder / "genqa_metrics", ignore=LEFT_OUT)
    (folder / "requirements.txt").write_text("\n".join(on_cpu(requirements)) + "\n", encoding="utf-8")
    for path in (*folder.rglob("*.py"), *folder.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        text = re.sub(r'evaluate\.load\("metrics/', f'evaluate.load("{namespace}/', text)
        text = default_checkpoints(text, namespace, tag) if path.name == "loading.py" else text
        path.write_text(_without_dead_ends(text, namespace) if path.suffix == ".md" else text, encoding="utf-8")
    models = [metric for metric in WITH_CHECKPOINT if metric == name] if is_metric else list(COMPARED)
    if models:
        card = RepoCard.load(folder / "README.md")
        card.data["models"] = [f"{namespace}/{hub_names(metric)['small']}" for metric in models]
        card.save(folder / "README.md")


def write_site(folder: Path, site: Path = ROOT / "spaces" / "docs") -> None:
    """Write the folder, emptied first, of the documentation Space: the site that `make docs` built, and its card."""
    built = site / "build" / "html"
    if not (built / "index.html").is_file():
        raise ValueError(f"{built}: expected the built documentation; run `make docs` first")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(built, folder, ignore=shutil.ignore_patterns(".*"))
    shutil.copyfile(site / "README.md", folder / "README.md")


def on_cpu(requirements: Collection[str]) -> list[str]:
    """Return the lines of a Space's requirements, with the small build of torch for processors.

    >>> on_cpu({"scipy>=1.15"})
    ['scipy>=1.15']
    """
    lines = sorted(requirements)
    if not any(re.match(r"torch\b", line) for line in lines):
        return lines
    pin = re.search(r"(?m)^torch==\S+", (ROOT / "constraints.txt").read_text(encoding="utf-8"))[0]
    lines = [f"{pin}+cpu" if re.match(r"torch\b", line) else line for line in lines]
    return ["--extra-index-url https://download.pytorch.org/whl/cpu", *lines]


def _without_dead_ends(card: str, namespace: str) -> str:
    """Return a card that links the checkpoint's card, and calls files outside the Space "of the repository"."""
    title = re.search(r"^title: *(\w+)", card, re.MULTILINE)
    name = title[1].lower() if title else ""
    if name in WITH_CHECKPOINT:
        model = f"{namespace}/{hub_names(name)['small']}"
        card = card.replace("`checkpoint/README.md`", f"[{model}](https://huggingface.co/{model})")
    return re.sub(r"(`training/[\w./]+`)(?! of the\s+repository)", r"\1 of the repository", card)
