"""What an installation takes: packages and MB of the package alone and with each extra, in clean environments.

python -m tests.programs.benchmarks.bench_install --extras torch
"""

import argparse
import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]
EXTRAS = ("", "agree", "torch", "all")


def megabytes(folder: Path) -> float:
    """Return the size of the files in a folder in MB (10^6 bytes)."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink()) / 1e6


def measured(extra: str) -> tuple[int, float]:
    """Return the packages and the MB that an extra of setup.cfg brings, "" for none, without compiled files."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        (packages,) = Path(folder).glob("lib/*/site-packages")
        before, pip = megabytes(packages), [Path(folder, "bin/python"), "-m", "pip", "--disable-pip-version-check"]
        wanted = f"{REPOSITORY}[{extra}]" if extra else str(REPOSITORY)
        options = ["--quiet", "--no-compile", "-c", REPOSITORY / "constraints.txt"]
        subprocess.run([*pip, "install", *options, wanted], check=True)
        listed = subprocess.run([*pip, "list", "--format", "json"], check=True, capture_output=True, text=True)
        names = {found["name"] for found in json.loads(listed.stdout)} - {"pip", "setuptools", "genqa-metrics"}
        return len(names), megabytes(packages) - before


def main() -> None:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--extras", nargs="*", default=EXTRAS, help="extras, '' for none (default: %(default)s)")
    print(f"| install | packages (Python {sys.version_info.major}.{sys.version_info.minor}) | MB |\n|---|---|---|")
    for extra in parser.parse_args().extras:
        name = f"genqa-metrics[{extra}]" if extra else "genqa-metrics"
        packages, size = measured(extra)
        print(f"| `{name}` | {packages} | {size:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
