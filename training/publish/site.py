"""Write the folder of the documentation Space: the site that `make docs` built, and the card of the Space."""

import shutil
from pathlib import Path

SITE = Path(__file__).resolve().parents[2] / "spaces" / "docs"


def write_site(folder: Path, site: Path = SITE) -> None:
    """Write the folder of the Space.

    Args:
        folder: where to write; its previous content is deleted.
        site: folder with the card README.md and the site in build/html.

    Raises:
        ValueError: if the site was not built.
    """
    built = site / "build" / "html"
    if not (built / "index.html").is_file():
        raise ValueError(f"{built}: expected the built documentation; run `make docs` first")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(built, folder, ignore=shutil.ignore_patterns(".*"))
    shutil.copyfile(site / "README.md", folder / "README.md")
