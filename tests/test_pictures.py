"""The preview of the comparison shows what the page computes: `python -m tests.programs.pictures` makes it."""

import html
import re

import pytest
from PIL import Image

from tests.factories.spaces import load_app
from tests.programs.pictures import PREVIEW, SPACES

NUMBER = re.compile(r"\d+\.\d+")


@pytest.mark.parametrize("name", ["compare"])
def test_a_preview_shows_what_the_demo_computes(name):
    image = Image.open(SPACES / name / "preview.png")
    assert image.size == tuple(PREVIEW.values())
    app = load_app(name)
    tick = [lambda *_: None] if name == "compare" else []
    outputs = app.page(*tick, *app.ADDRESS.first)
    computed = html.unescape(re.sub("<[^>]*>", " ", " ".join(map(str, outputs))))
    shown = NUMBER.findall(image.info["shown"])
    assert len(shown) > 3
    assert set(shown) <= set(NUMBER.findall(computed)), "run python -m tests.programs.pictures"
    headline = re.search(r'class="headline">(.*?)</p>', str(outputs[0]))[1]
    assert html.unescape(re.sub("<[^>]*>", "", headline)) in image.info["shown"]
