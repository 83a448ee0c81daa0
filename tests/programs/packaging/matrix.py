"""The modules under the oldest evaluate, datasets and transformers that setup.cfg allows, and under the newest.

python -m tests.programs.packaging.matrix             # both
python -m tests.programs.packaging.matrix oldest
"""

import re
import subprocess
import sys
import tempfile

from .requirements import REPOSITORY, environment, required

VARIED = ("evaluate", "datasets", "transformers")
KEPT = ("torch",)  # as in constraints.txt: a gigabyte, and not what is asked about


def wanted(which: str) -> list[str]:
    """Return the requirements of one end of the matrix, "oldest" or "newest".

    >>> [line for line in wanted("oldest") if line.startswith("evaluate")]
    ['evaluate==0.4.6']
    """
    lines = required("models")
    if which == "oldest":
        lines = [line.replace(">=", "==") if re.split("[<>=]", line)[0] in VARIED else line for line in lines]
        lines = [f"{line}.0" if re.fullmatch(r"\w+==\d+\.\d+", line) else line for line in lines]
    pins = (REPOSITORY / "constraints.txt").read_text().split()
    return lines + [pin for pin in pins if pin.split("==")[0] in KEPT]


def main() -> None:
    """Install both ends in environments of their own and run the smoke test in them."""
    for which in sys.argv[1:] or ("oldest", "newest"):
        with tempfile.TemporaryDirectory() as folder:
            python = environment(folder, str(REPOSITORY), *wanted(which))
            print(f"{which}: ", end="", flush=True)
            subprocess.run([python, REPOSITORY / "tests/programs/packaging/smoke.py"], check=True, cwd=folder)


if __name__ == "__main__":
    main()
