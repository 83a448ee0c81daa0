"""One call of every demo, what the module says to it, and servers of pages."""

import json
import runpy
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import genqa_metrics
import pytest

# By demo, arguments of its endpoint for programs.
CALLS = json.loads((Path(__file__).parents[1] / "data/calls_of_demos.json").read_text(encoding="utf-8"))
BASES = {"Same question": "same_question", "ROUGE-L": "rouge", "BLEU-4": "bleu"}


def by_the_module(name: str, arguments: tuple) -> dict:
    """What the metric says of the call of a demo."""
    if name == "compare":
        return genqa_metrics.compare(*arguments, ["ava", "kpqa"]).to_dict()
    metric = genqa_metrics.load(name, keep_in_memory=True)
    if name == "aev":
        answer, reference, alpha, order = arguments
        settings = {"alpha": alpha, "max_order": order, "grid": True}
        return metric.compute(predictions=[answer], references=[reference], **settings)
    if name == "f_meta":
        generated, references, base = arguments
        return metric.compute(predictions=[generated], references=[references], base=BASES[base])
    question, answer, references = arguments
    if name == "grounding":
        return metric.compute(questions=[question], predictions=[answer], contexts=[references])
    return metric.compute(questions=[question], predictions=[answer], references=[references])


def assert_same_scores(name: str, scores: dict, arguments: tuple = ()) -> None:
    expected = by_the_module(name, arguments or CALLS[name])
    if name == "compare":
        assert scores["metrics"] == expected["metrics"]
        assert "ava_accuracy" in scores["metrics"]["ava"]["tests"]
        return
    keys = set(scores) & set(expected)
    assert keys >= {"kpqa": {"rougeL_kpqa", "rougeL"}, "ava": {"ava_score", "ava_threshold"}}.get(name, {name})
    for key in keys - {"aev_grid"}:
        assert scores[key] == pytest.approx(expected[key], abs=1e-6), key
    if name == "aev":
        assert scores["aev_grid"]["aev"] == [pytest.approx(row) for row in expected["aev_grid"]["aev"]]


def load_app(name: str) -> SimpleNamespace:
    """What the app of a demo defines."""
    folder = Path(__file__).parents[2] / "spaces" / name
    sys.path.append(str(folder))
    return SimpleNamespace(**runpy.run_path(str(folder / "app.py"), run_name="demo"))


def called(app: SimpleNamespace, arguments: tuple) -> dict:
    """What the endpoint of a demo returns."""
    return app.compare(*arguments) if hasattr(app, "compare") else app.DEMO.score(*arguments)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def started(command: list, port: int, log: Path, **options) -> subprocess.Popen:
    """Start a server and return its process as soon as the port answers."""
    with log.open("w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, **options)
    until = time.monotonic() + 900
    while True:
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return process
        if process.poll() is not None or time.monotonic() > until:
            process.kill()
            raise AssertionError(f"the server did not start:\n{log.read_text()}")
        time.sleep(0.25)


STILL = "() => !document.querySelector('.pending') && !document.getAnimations().some(a => a instanceof CSSTransition)"


def check_accessibility(page) -> None:
    """What axe finds serious or critical on an open page; the rest is Gradio's own."""
    from axe_playwright_python.sync_playwright import Axe

    page.wait_for_function(STILL)
    found = Axe().run(page).response["violations"]
    serious = [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found
               if one["impact"] in ("serious", "critical")]  # fmt: skip
    assert not serious
