"""Renew the pictures of the demos: `python -m tests.programs.pictures [NAME ...] [--views FOLDER]`.

Each demo is started, opened in Chromium and photographed as it opens. `spaces/NAME/preview.png` is the picture that a
link shows; its metadata hold the text on it.
`--views` also writes the whole pages at desktop and phone width, light and dark, for looking at.
"""

import argparse
import contextlib
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo
from playwright.sync_api import Page, sync_playwright

from tests.conftest import TOOLS
from tests.factories.spaces import free_port, started

SPACES = Path(__file__).resolve().parents[2] / "spaces"
NAMES = ("compare", "ava", "grounding", "kpqa", "f_meta", "aev")
PREVIEW = {"width": 1200, "height": 630}
WIDTHS = {"desktop": 1280, "phone": 390}
SHOWN = """() => [...document.querySelectorAll('.status > .html-container, .results .html-container')]
  .filter(one => { const box = one.getBoundingClientRect(); return box.width && box.top < innerHeight; })
  .map(one => one.innerText).join('\\n')"""
STARTS_IN = 900  # seconds
COLOURS = 128  # of a preview: enough for text, and half the bytes


@contextlib.contextmanager
def running(name: str) -> Iterator[str]:
    """Start a demo and yield its address."""
    port = free_port()
    environment = os.environ | {"GRADIO_SERVER_PORT": str(port), "HF_HUB_OFFLINE": "1"}
    with tempfile.TemporaryDirectory() as folder:
        process = started([sys.executable, SPACES / name / "app.py"], port, Path(folder, "log"), env=environment)
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


def opened(browser, address: str, width: int, height: int, scheme: str) -> Page:
    """Return a page that shows the first result."""
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.goto(address)
    page.locator(".status .headline:visible").first.wait_for(timeout=1000 * STARTS_IN)
    page.wait_for_timeout(500)
    return page


def preview(browser, address: str, path: Path) -> None:
    """Write the picture for links, with the text on it in its metadata."""
    page = opened(browser, address, PREVIEW["width"], PREVIEW["height"], "light")
    facts = PngInfo()
    facts.add_itxt("shown", page.evaluate(SHOWN))
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, pnginfo=facts, optimize=True)
    page.close()


def views(browser, address: str, name: str, folder: Path) -> None:
    """Write the whole page at every width, light and dark."""
    folder.mkdir(parents=True, exist_ok=True)
    for device, width in WIDTHS.items():
        for scheme in ("light", "dark"):
            page = opened(browser, address, width, 900, scheme)
            page.screenshot(path=folder / f"{name}-{device}-{scheme}.png", full_page=True)
            page.close()


def main() -> None:
    """Renew the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NAME", help=f"of {', '.join(NAMES)}; all")
    parser.add_argument("--views", type=Path, metavar="FOLDER", help="also write views of whole pages there")
    given = parser.parse_args()
    with sync_playwright() as tool:
        found = next(filter(None, map(shutil.which, TOOLS["Chromium"][0])), None)
        browser = tool.chromium.launch(executable_path=found, args=["--no-sandbox"])
        for name in given.names:
            with running(name) as address:
                preview(browser, address, SPACES / name / "preview.png")
                if given.views:
                    views(browser, address, name, given.views)
            print(name)
        browser.close()


if __name__ == "__main__":
    main()
