"""The tests of `genqa_metrics.integrations` with the real tools, each in an environment of its own.

python -m tests.packaging.integrations              # all tools
python -m tests.packaging.integrations ragas mlflow

The tools pin what others need newer (MLflow pyarrow, Inspect fsspec, DeepEval typer), so that no one environment holds
them all with the pins of constraints.txt; each gets what it asks for, and the newest of everything else.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from .requirements import REPOSITORY

# Extra of setup.cfg -> file of tests.
TOOLS = {
    "deepeval": "test_deepeval.py",
    "harness": "test_lm_eval.py",
    "inspect": "test_inspect_ai.py",
    "mlflow": "test_mlflow.py",
    "ragas": "test_ragas.py",
    "wandb": "test_wandb.py",
}
KEPT = "torch=="  # as in constraints.txt: a gigabyte, and not what is asked about


def main(names: list[str]) -> None:
    """Install tools and run their tests.

    Args:
        names: keys of `TOOLS`, none for all.

    Raises:
        SystemExit: if there is no such tool, or the tests of one fail.
    """
    unknown = [name for name in names if name not in TOOLS]
    if unknown:
        raise SystemExit(f"{unknown[0]}: expected one of {', '.join(TOOLS)}")
    pins = (REPOSITORY / "constraints.txt").read_text().split()
    torch = next(pin for pin in pins if pin.startswith(KEPT))
    environment = dict(os.environ)
    if "PIP_FIND_LINKS" in environment:  # uv does not read the settings of pip
        environment.setdefault("UV_FIND_LINKS", environment["PIP_FIND_LINKS"])
    uv = [sys.executable, "-m", "uv"]
    failed = []
    for name in names or TOOLS:
        print(f"== {name}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            python = Path(folder, "bin/python")
            subprocess.run([*uv, "venv", "--quiet", "--python", sys.executable, folder], check=True)
            wanted = [f"{REPOSITORY}[{name}]", torch, "pytest"]
            command = [*uv, "pip", "install", "--quiet", "--python", python, *wanted]
            subprocess.run(command, check=True, env=environment)
            tests = ["-o", "addopts=", "--confcutdir=tests/integrations", "-p", "no:cacheprovider", "-q"]
            command = [python, "-m", "pytest", *tests, f"tests/integrations/{TOOLS[name]}"]
            if subprocess.run(command, check=False, cwd=REPOSITORY).returncode:
                failed.append(name)
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
