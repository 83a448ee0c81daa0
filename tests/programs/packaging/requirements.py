"""What setup.cfg asks for, by extra."""

import configparser
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]


def required(*extras: str) -> list[str]:
    """Return the requirements of the package and of extras, sorted."""
    setup = configparser.ConfigParser()
    setup.read(REPOSITORY / "setup.cfg")
    wanted = [setup["options"]["install_requires"], *(setup["options.extras_require"][extra] for extra in extras)]
    return sorted(set("\n".join(wanted).split()))
