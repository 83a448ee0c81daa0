"""The description on the package index: README.md with absolute links, for the files are not there."""

import re
from configparser import ConfigParser
from pathlib import Path

from setuptools import setup

REPOSITORY = Path(__file__).parent


def absolute(text: str, files: str, images: str) -> str:
    """Return Markdown whose links do not depend on where it is shown.

    Args:
        text: Markdown with links relative to the repository.
        files: address of the repository's files.
        images: address of their raw contents.
    """
    text = re.sub(r"(!\[[^\]]*\]\(|src(?:set)?=\")(?!https?:)", rf"\1{images}/", text)
    return re.sub(r"(\]\()(?!https?:|#)", rf"\1{files}/", text)


metadata = ConfigParser()
metadata.read(REPOSITORY / "setup.cfg")
url, version = metadata["metadata"]["url"], metadata["metadata"]["version"]
readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
setup(long_description=absolute(readme, f"{url}/blob/v{version}", f"{url}/raw/v{version}"))
