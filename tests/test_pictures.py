"""The previews, which links to the demos show, have the numbers of the pages: `python -m tests.programs.pictures`."""

import html
import re

import pytest
from PIL import Image

from tests.factories.spaces import load_app
from tests.programs.pictures import NAMES, PREVIEW, SPACES

NUMBER = re.compile(r"\d+\.\d+")


def text_of(markup: object) -> str:
    return html.unescape(re.sub("<[^>]*>", " ", str(markup)))


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("name", NAMES)
def test_a_preview_shows_what_the_demo_computes(name):
    image = Image.open(SPACES / name / "preview.png")
    assert image.size == tuple(PREVIEW.values())
    app = load_app(name)
    tick = [lambda *_: None] if name == "compare" else []
    status, *others = app.page(*tick, *app.ADDRESS.first)
    shown = NUMBER.findall(image.info["shown"])
    computed = set(NUMBER.findall(" ".join(text_of(each) for each in (status, *others) if isinstance(each, str))))
    assert set(shown) <= computed, f"run python -m tests.programs.pictures {name}"
    headline = re.search(r'class="headline">(.*?)</p>', str(status))[1]
    assert words(html.unescape(re.sub("<[^>]*>", "", headline))) in words(image.info["shown"])
