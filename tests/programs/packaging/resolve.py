"""Whether the package with all that users may install resolves on every version of Python it is for, wheels only.

python -m tests.programs.packaging.resolve
"""

import subprocess
import sys

from .requirements import required

PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def resolved(python: str, wanted: list[str]) -> list[str]:
    """Return the pins that uv finds for a version of Python, from wheels alone; SystemExit if there are none."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--no-build", "--no-header", "--no-annotate"]
    command += ["--python-version", python, "-"]
    done = subprocess.run(command, input="\n".join(wanted), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"Python {python}: {done.stderr}")
    return done.stdout.split()


if __name__ == "__main__":
    for version in PYTHONS:
        print(f"Python {version}: {len(resolved(version, required('all')))} packages, wheels for all of them")
