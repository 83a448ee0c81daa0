"""Renew the pictures of the demos and of the row viewer: `python -m tests.programs.pictures [NAME ...]`.

Each demo is started, opened in Chromium and photographed as it opens. `spaces/NAME/preview.png` is the picture that a
link shows; its metadata hold the text on it.
"""

import argparse
import io
import os
import shutil
import sys
import tempfile
from pathlib import Path

from genqa_metrics.verbs.view.page import viewed
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from playwright.sync_api import sync_playwright

from tests.conftest import TOOLS
from tests.factories.spaces import free_port, started

SPACES = Path(__file__).resolve().parents[2] / "spaces"
EXAMPLE = SPACES.parent / "metrics/examples/answers.jsonl"
NAMES = ("home", "compare", "ava", "grounding", "kpqa", "f_meta", "aev")
PREVIEW = {"width": 1200, "height": 630}
SHOWN = """() => [...document.querySelectorAll('.status > .html-container, .results .html-container')]
  .filter(one => { const box = one.getBoundingClientRect(); return box.width && box.top < innerHeight; })
  .map(one => one.innerText).join('\\n')"""
STARTS_IN = 900  # seconds
COLOURS = 128  # of a preview: enough for text, and half the bytes


def preview(browser, name: str) -> None:
    """Start a demo and write the picture for links, with the text on it in its metadata."""
    port = free_port()
    # Importing the tests sets a cache of the Hub without models, and keeps where the user's one is.
    own = {"HF_HUB_CACHE": os.environ["GENQA_HUB"], "HF_HUB_OFFLINE": "1"}
    environment = os.environ | own | {"GRADIO_SERVER_PORT": str(port)}
    with tempfile.TemporaryDirectory() as folder:
        process = started([sys.executable, SPACES / name / "app.py"], port, Path(folder, "log"), env=environment)
        try:
            page = browser.new_page(viewport=PREVIEW, color_scheme="light")
            page.goto(f"http://127.0.0.1:{port}")
            shown = page.locator(".status .headline:visible, .status .problem:visible").first
            shown.wait_for(timeout=1000 * STARTS_IN)
            if problem := page.locator(".status .problem:visible").all_inner_texts():
                raise SystemExit(f"{name}: no picture: {problem[0]}")
            page.wait_for_timeout(500)
            facts = PngInfo()
            facts.add_itxt("shown", page.evaluate(SHOWN))
            image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            page.close()
        finally:
            process.terminate()
            process.wait()
    image = image.quantize(COLOURS, dither=Image.Dither.NONE)
    image.save(SPACES / name / "preview.png", pnginfo=facts, optimize=True)


def viewer(browser) -> None:
    """Write the pictures of the row viewer, one for each colour: the example's answers, one of them open."""
    html = viewed([str(EXAMPLE)], None, number=30).html
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "page.html")
        path.write_text(html, encoding="utf-8")
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport={"width": 1200, "height": 900}, color_scheme=scheme)
            page.goto(f"{path.as_uri()}#agreement=systems+differ&row=2")
            page.locator(".detail").wait_for()
            page.evaluate("scrollTo(0, 0)")
            image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            image = image.quantize(COLOURS, dither=Image.Dither.NONE)
            image.save(SPACES / f"docs/pictures/viewer-{scheme}.png", optimize=True)
            page.close()


def main() -> None:
    """Renew the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every = (*NAMES, "viewer")
    parser.add_argument("names", nargs="*", default=every, metavar="NAME", help=f"of {', '.join(every)}; all")
    names = parser.parse_args().names
    with sync_playwright() as tool:
        found = next(filter(None, map(shutil.which, TOOLS["Chromium"][0])), None)
        browser = tool.chromium.launch(executable_path=found, args=["--no-sandbox"])
        for name in names:
            viewer(browser) if name == "viewer" else preview(browser, name)
            print(name)
        browser.close()


if __name__ == "__main__":
    main()
