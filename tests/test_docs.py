"""The documentation site: what its pages show is what happens, it builds without a warning, and it stands alone."""

import contextlib
import re
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from tests.factories.pages import PAGES, Page
from tests.factories.spaces import free_port, started

SITE = PAGES.parent / "build/html"


@pytest.fixture(scope="module")
def site(repository):
    """The folder of the site, by the command of `make docs` in this environment; only what has changed is built."""
    command = re.search(r"\$\(BIN\)/python (-m sphinx .+)", (repository / "Makefile").read_text())[1].split()
    done = subprocess.run([sys.executable, *command], cwd=repository, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return SITE


# Those of other tools need them: `make integrations` runs their examples, each with its tool.
READ_HERE = ("promptfoo", "langfuse")  # whose files are read without the tool
OURS = sorted(path for path in PAGES.rglob("*.md") if path.parent.name != "tools" or path.stem in READ_HERE)
WITH_CODE = [path for path in OURS if re.search(r"```(python|bash)", path.read_text())]


@pytest.mark.parametrize("path", WITH_CODE, ids=lambda path: path.stem)
def test_code_of_a_page_prints_what_the_page_says(path, tmp_path):
    page = Page(path)
    with contextlib.chdir(tmp_path):
        page.run()
    assert [(block.code, printed) for block, printed in page.differences] == []


@pytest.mark.slow
def test_the_site_builds_without_a_warning(site):
    """Sphinx warns of links within the site that lead to no page or heading."""
    assert len(list(site.rglob("*.html"))) > 25


@pytest.fixture
def address(site, tmp_path):
    """Address of the site on this machine."""
    port = free_port()
    command = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", str(site)]
    server = started(command, port, tmp_path / "log.txt")
    yield f"http://127.0.0.1:{port}/"
    server.terminate()
    server.wait(20)


@pytest.mark.slow
@pytest.mark.needs("Chromium")
def test_pages_fit_a_phone_and_the_search_works_alone(address, browser):
    """In the dark, with no other host; wide tables and code scroll by themselves."""
    page = browser.new_page(viewport={"width": 390, "height": 800}, color_scheme="dark")
    page.set_default_timeout(120_000)
    errors, asked = [], []
    page.on("pageerror", lambda error: errors.append(error))
    page.on("request", lambda request: asked.append(request.url))
    for name in ("index", "how-to/2b-compare", "reference/f_meta", "explanation/2-intervals"):
        page.goto(f"{address}{name}.html")
        assert page.evaluate("document.documentElement.scrollWidth") == 390, name
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    page.goto(f"{address}explanation/1-which-metric.html")
    last = page.get_by_text("it reads the question and gives a probability")
    assert last.bounding_box()["x"] + last.bounding_box()["width"] <= 390
    page.goto(f"{address}results/2-agreement.html")
    table = page.locator("table.numbers").first
    table.evaluate("found => found.parentElement.scrollLeft = 200")
    assert table.locator("td").first.bounding_box()["x"] >= 0
    for query in ("confidence interval", "sample size", "faithfulness", "LLM as a judge"):
        page.goto(f"{address}search.html?q={query}")
        expect(page.locator("#search-results a[href^='explanation/4-other-names']").first).to_be_visible()
    for query, found in {
        "confidence interval": ("explanation/2-intervals", "how-to/4-label"),
        "sample size": ("explanation/2-intervals", "how-to/4-label"),
        "faithfulness": ("reference/grounding",),
        "power": ("explanation/2-intervals",),
    }.items():
        page.goto(f"{address}search.html?q={query}")
        for name in found:
            expect(page.locator(f"#search-results a[href^='{name}']").first).to_be_visible()
    assert not errors
    assert all(url.startswith((address, "data:")) for url in asked)
    page.close()
