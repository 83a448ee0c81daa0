"""Settings that must stand before `evaluate` or `transformers` is imported: no network, a cache of its own."""

import itertools
import os
import random
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

from tests.loopback_hub import client, hub  # noqa: F401
from training.common import write_rows

_cache = tempfile.TemporaryDirectory(prefix="genqa-metrics-tests-", ignore_cleanup_errors=True)
# Where the user's base models are, for the tests that need real ones.
os.environ.setdefault("GENQA_HUB", str(Path(os.environ.get("HF_HOME", "~/.cache/huggingface")).expanduser() / "hub"))
os.environ["HF_HOME"] = _cache.name  # evaluate's module cache ignores text after '#', so an old copy must not be found
os.environ["GENQA_CACHE"] = _cache.name + "/exported"
os.environ["HF_EVALUATE_OFFLINE"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_UPDATE_DOWNLOAD_COUNTS"] = "0"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ.setdefault("OMP_NUM_THREADS", "1")
for _name in ("COLUMNS", "LINES"):  # the processes of pytest-xdist have them, and output would be wrapped to 80
    os.environ.pop(_name, None)

settings.register_profile("steady", deadline=None, derandomize=True)  # a slow machine is no failure; same runs twice
settings.load_profile("steady")

REPOSITORY = Path(__file__).parent.parent


# Programs that some tests need: the names of the command, and what installs it.
TOOLS = {
    "Chromium": (("chromium", "chromium-browser", "google-chrome"), "apt-get install chromium"),
    "Java": (("java",), "apt-get install default-jre-headless"),
}
MISSING = "{} is not installed ({})"


def needed(name):
    """Return the path of a program of `TOOLS`; skip the test without it, fail it with GENQA_REQUIRE_TOOLS."""
    commands, install = TOOLS[name]
    path = next(filter(None, map(shutil.which, commands)), None)
    if path is None:
        (pytest.fail if os.environ.get("GENQA_REQUIRE_TOOLS") else pytest.skip)(MISSING.format(name, install))
    return path


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    for mark in item.iter_markers("needs"):
        needed(*mark.args)


def pytest_terminal_summary(terminalreporter):
    """Say in one line for each missing program how many tests it cost."""
    reasons = [report.longrepr[2] for report in terminalreporter.stats.get("skipped", ())]
    for name, (_, install) in TOOLS.items():
        if count := sum(MISSING.format(name, install) in reason for reason in reasons):
            line = f"{count} TESTS SKIPPED: {name} is not installed; to run them: {install}"
            terminalreporter.write_line(line, red=True, bold=True)


@pytest.fixture(scope="session")
def chromium():
    """Path of Chromium."""
    return needed("Chromium")


@pytest.fixture(scope="module")
def browser(chromium):
    """Chromium, for one module: as long as Playwright is started, `asyncio.run` fails in the tests of this worker."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def repository() -> Path:
    """Root of the checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of the real data sets, named by GENQA_DATA."""
    folder = os.environ.get("GENQA_DATA")
    if not folder:
        pytest.skip("GENQA_DATA is not set: the real data sets are not part of the repository")
    return Path(folder)


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory):
    """Folder of a two-layer BERT with a vocabulary of words and letters, its weights drawn from a seed."""
    from tests.factories import kpqa

    return kpqa.tiny_encoder(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def tiny_checkpoint(tiny_encoder, tmp_path_factory):
    """Folder of a whole token classifier."""
    import torch
    from genqa_metrics.kpqa import loading

    from tests.factories.kpqa import saved

    torch.manual_seed(1)
    return saved(loading.token_classifier(tiny_encoder), tiny_encoder, tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="session")
def kpqa(tiny_checkpoint, tiny_encoder, repository):
    from tests.factories.kpqa import load

    return load(repository, tiny_checkpoint, tiny_encoder)


@pytest.fixture(scope="session")
def models(tiny_checkpoint, tiny_encoder):
    from genqa_metrics.kpqa import loading

    return loading.load_models(tiny_checkpoint, embedding_model=tiny_encoder, device="cpu")


@pytest.fixture(scope="session")
def judges(tiny_encoder, tmp_path_factory):
    """Folders of tiny judges, one per configuration, made when first asked for."""
    import torch
    from genqa_metrics.core import judge_model

    from tests.factories.ava import saved

    made = {}

    def judge(configuration="a1-r_qt"):
        if configuration not in made:
            torch.manual_seed(3)
            model = judge_model.judge_model(tiny_encoder, configuration)
            folder = tmp_path_factory.mktemp("judge") / configuration
            made[configuration] = saved(model, tiny_encoder, folder, configuration=configuration)
        return made[configuration]

    return judge


@pytest.fixture(scope="session")
def prompt_judge(tmp_path_factory):
    """Folder of a tiny judge of prompts, which ONNX Runtime runs."""
    from tests.factories import grounding

    return grounding.prompt_judge(tmp_path_factory.mktemp("prompts") / "judge")


@pytest.fixture
def word_judge(monkeypatch):
    """The judge of grounding compares words: no test downloads one that reads."""
    from tests.factories.grounding import use_word_judge

    use_word_judge(monkeypatch)


@pytest.fixture(scope="module")
def word_judge_of_module():
    """The same for a whole module."""
    from tests.factories.grounding import use_word_judge

    with pytest.MonkeyPatch.context() as patch:
        use_word_judge(patch)
        yield


@pytest.fixture(scope="session")
def ava(judges, repository):
    from tests.factories.ava import load

    return load(repository, judges())


@pytest.fixture(scope="session")
def rows_folder(tmp_path_factory):
    """Folder of made-up rows with SQuAD's columns."""
    folder = tmp_path_factory.mktemp("rows")
    source = random.Random(0)
    words = "how many steps are in a test there four seven room".split()
    rows = []
    for i in range(60):
        text = " ".join(source.choices(words, k=12))
        answer = text.split()[source.randrange(12)]
        answers = {"text": [answer], "answer_start": [text.index(answer)]}
        rows.append({"question": f"who is it {i} ?", "context": text, "answers": answers})
    write_rows(folder / "made.jsonl.gz", rows)
    return folder


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Human verdicts, answer sentences and extractive rows, made up."""
    from tests.factories.ava import random_rows

    folder = tmp_path_factory.mktemp("data")
    rows = random_rows(24)
    rows = [
        {
            "id": str(i), "question": f"{q} {i % 8}", "references": r, "candidate": r[0] if i % 2 else p,
            "score": float(i % 2), "label": i % 2, "system": "AB"[i % 3 > 1], "source": "made",
        }
        for i, (q, p, r) in enumerate(zip(*(rows[n] for n in ("questions", "predictions", "references")), strict=True))
    ]  # fmt: skip
    for name in ("made.train", "made.dev"):
        write_rows(folder / f"{name}.jsonl.gz", rows)
    sentences = [
        {"question": f"q {i}", "answer": f"{word} {i}", "label": int(word in ("four", "seven"))}
        for i in range(4)
        for word in ("four", "seven", "room", "not")
    ]
    write_rows(folder / "sentences.jsonl", sentences)
    spans = {"question": "who is it", "context": "The test is Ann ."}
    spans["answers"] = {"text": ["Ann"], "answer_start": [12]}
    write_rows(folder / "spans.jsonl", [spans] * 4)
    return folder


@pytest.fixture(scope="session")
def made_up(tmp_path_factory):
    """Folder with made-up sets: numbers of steps, rooms and tests."""
    folder = tmp_path_factory.mktemp("sets")
    numbers = "one two three four five six seven eight nine ten".split()
    for name, places in (
        ("squad_du2017.dev", "room test house garden town yard hall shop".split()),
        ("squad_du2017.test", ["room", "attic"]),
        ("fairytaleqa.test", ["wood"]),
    ):
        rows = []
        for i, (number, place) in enumerate(itertools.product(numbers, places)):
            asked = [f"how many steps are in the {place} ?", f"where are {number} steps ?"]
            context = f"there are {number} steps in the {place} ."
            rows.append({"context": context, "references": asked if i % 3 else asked[:1]})
        write_rows(folder / f"{name}.jsonl.gz", rows)
    return folder
