"""Tools of the tests: missing programs cost one loud line, and a browser ends with its module."""

import os
import subprocess
import sys

import pytest

TESTS = """
import pytest

@pytest.mark.needs("Java")
def test_java():
    pass

@pytest.mark.needs("Java")
def test_more_java():
    pass

def test_browser(chromium):
    pass
"""


@pytest.mark.parametrize("required", [False, True])
def test_missing_programs(tmp_path, repository, required):
    (tmp_path / "conftest.py").write_text(
        "from tests.conftest import chromium, pytest_runtest_setup, pytest_terminal_summary\n"
    )
    (tmp_path / "test_it.py").write_text(TESTS)
    environment = {name: value for name, value in os.environ.items() if name != "GENQA_REQUIRE_TOOLS"}
    environment |= {"PATH": str(tmp_path / "nothing"), "PYTHONPATH": str(repository)}
    environment |= {"GENQA_REQUIRE_TOOLS": "1"} if required else {}
    options = ["-p", "no:cacheprovider", "-o", "markers=needs: x", "--rootdir", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environment,
    )
    assert done.returncode == int(required), done.stdout
    loud = [
        "2 TESTS SKIPPED: Java is not installed; to run them: apt-get install default-jre-headless",
        "1 TESTS SKIPPED: Chromium is not installed; to run them: apt-get install chromium",
    ]
    assert [line in done.stdout for line in loud] == [not required] * 2
    assert ("Java is not installed (apt-get install default-jre-headless)" in done.stdout) == required or not required


BROWSED = """
def test_page(browser):
    browser.new_page().set_content("<p>one</p>")
"""


@pytest.mark.needs("Chromium")
def test_the_browser_of_a_module_is_gone_in_the_next(tmp_path, repository):
    (tmp_path / "conftest.py").write_text("from tests.conftest import browser, chromium\n")
    (tmp_path / "test_1.py").write_text(BROWSED)
    (tmp_path / "test_2.py").write_text(BROWSED)
    (tmp_path / "test_3.py").write_text("import asyncio\n\ndef test_loop():\n    asyncio.run(asyncio.sleep(0))\n")
    options = ["-p", "no:cacheprovider", "-p", "no:xdist", "--rootdir", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(repository)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
