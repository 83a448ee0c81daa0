"""Pictures have the numbers of what they show: previews of the demos, and the one at the top of the README."""

import html
import importlib.util
import os
import re

import pytest
from genqa_metrics.core.checkpoints import CAUSAL_MODEL
from PIL import Image

from tests.factories.spaces import load_app
from tests.programs.pictures import NAMES, PREVIEW, SPACES

NUMBER = re.compile(r"\d+\.\d+")


def text_of(markup: object) -> str:
    return html.unescape(re.sub("<[^>]*>", " ", str(markup)))


PREVIEWS = [pytest.param(name, marks=[pytest.mark.slow] * (name == "grounding")) for name in NAMES]


@pytest.mark.parametrize("name", PREVIEWS)
def test_a_preview_shows_what_the_demo_computes(name, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", os.environ["GENQA_HUB"])
    image = Image.open(SPACES / name / "preview.png")
    assert image.size == tuple(PREVIEW.values())
    app = load_app(name)
    if name == "grounding" and not app.server.is_here(CAUSAL_MODEL):
        pytest.skip("its judge is not there: genqa-metrics download --metric grounding")
    status, *others = app.DEMO.scored(lambda *_: None, *app.DEMO.first)
    shown = NUMBER.findall(image.info["shown"])
    computed = set(NUMBER.findall(" ".join(text_of(each) for each in (status, *others) if isinstance(each, str))))
    assert set(shown) <= computed, f"run python -m tests.programs.pictures {name}"
    assert "".join(text_of(status).split()) in "".join(image.info["shown"].split())


DRAWN = re.compile(r"\d+(?:\.\d+)?")


def test_the_first_picture_is_what_its_command_draws(repository):
    """Apart from the last digits of numbers, which depend on the processor."""
    spec = importlib.util.spec_from_file_location("first_picture", repository / "spaces/docs/first_picture.py")
    first_picture = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(first_picture)
    numbers = first_picture.measure()
    for scheme in ("light", "dark"):
        committed = first_picture.PICTURES[scheme].read_text(encoding="utf-8")
        drawn = first_picture.draw(numbers, scheme)
        assert DRAWN.sub("#", committed) == DRAWN.sub("#", drawn)
        pairs = zip(DRAWN.findall(committed), DRAWN.findall(drawn), strict=True)
        assert max(abs(float(a) - float(b)) for a, b in pairs) < 1
