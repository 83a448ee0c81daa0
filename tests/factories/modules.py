"""Rows for every module, and code for a process in which the package cannot be imported."""

import json
from pathlib import Path

REFUSE_PACKAGE = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "genqa_metrics":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Refuse())
"""

ROWS = json.loads((Path(__file__).parents[1] / "data/rows.json").read_text(encoding="utf-8"))["modules"]
