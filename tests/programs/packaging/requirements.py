"""What setup.cfg asks for, by extra, and environments with it."""

import configparser
import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]


def required(*extras: str) -> list[str]:
    """Return the requirements of the package and of extras, sorted."""
    setup = configparser.ConfigParser()
    setup.read(REPOSITORY / "setup.cfg")
    wanted = [setup["options"]["install_requires"], *(setup["options.extras_require"][extra] for extra in extras)]
    return sorted(set("\n".join(wanted).split()))


def environment(folder: str | Path, *wanted: str) -> Path:
    """Install requirements into a new virtual environment; return its Python."""
    uv, python = [sys.executable, "-m", "uv"], Path(folder, "bin/python")
    links = os.environ.get("PIP_FIND_LINKS")  # uv does not read the settings of pip
    settings = ({"UV_FIND_LINKS": links} if links else {}) | os.environ
    subprocess.run([*uv, "venv", "--quiet", "--python", sys.executable, str(folder)], check=True)
    subprocess.run([*uv, "pip", "install", "--quiet", "--python", str(python), *wanted], check=True, env=settings)
    return python
