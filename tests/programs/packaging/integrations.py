"""The tests of `genqa_metrics.integrations` and the examples of its pages, each tool in an environment of its own.

python -m tests.programs.packaging.integrations              # all tools
python -m tests.programs.packaging.integrations ragas mlflow

The tools pin what others need newer (MLflow pyarrow, Inspect fsspec, DeepEval typer), so that no one environment holds
them all with the pins of constraints.txt; each gets what it asks for, and the newest of everything else.
"""

import os
import re
import subprocess
import sys
import tempfile

from .requirements import REPOSITORY, environment

# Extra of setup.cfg -> its file of tests and its page.
TOOLS = {
    "deepeval": ("test_deepeval.py", "deepeval.md"),
    "harness": ("test_lm_eval.py", "lm_eval.md"),
    "inspect": ("test_inspect_ai.py", "inspect.md"),
    "lighteval": ("test_lighteval.py", "lighteval.md"),
    "mlflow": ("test_mlflow.py", "mlflow.md"),
    "ragas": ("test_ragas.py", "ragas.md"),
    "wandb": ("test_wandb.py", "wandb.md"),
}
SILENT = {"DEEPEVAL_TELEMETRY_OPT_OUT": "1", "MLFLOW_DISABLE_TELEMETRY": "true", "RAGAS_DO_NOT_TRACK": "true"}
KEPT = "torch=="  # as in constraints.txt: a gigabyte, and not what is asked about


def examples(page: str) -> list[str]:
    """Return the Python examples of a page.

    >>> len(examples("wandb.md"))
    1
    """
    text = (REPOSITORY / "spaces/docs/pages/tools" / page).read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


def main(names: list[str]) -> None:
    """Install tools, none for all, and run their tests; SystemExit if there is no such tool, or a test fails."""
    unknown = [name for name in names if name not in TOOLS]
    if unknown:
        raise SystemExit(f"{unknown[0]}: expected one of {', '.join(TOOLS)}")
    pins = (REPOSITORY / "constraints.txt").read_text().split()
    torch = next(pin for pin in pins if pin.startswith(KEPT))
    settings, failed = os.environ | SILENT, []
    for name in names or TOOLS:
        print(f"== {name}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            python = environment(folder, f"{REPOSITORY}[{name}]", torch, "pytest")
            tests = ["-o", "addopts=", "--confcutdir=tests/integrations", "-p", "no:cacheprovider", "-q"]
            file, page = TOOLS[name]
            commands = [([python, "-m", "pytest", *tests, f"tests/integrations/{file}"], REPOSITORY)]
            commands += [([python, "-c", example], folder) for example in examples(page)]
            done = [subprocess.run(it, cwd=cwd, env=settings).returncode for it, cwd in commands]
            failed += [name] * any(done)
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
