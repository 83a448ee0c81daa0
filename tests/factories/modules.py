"""Rows for every module, and code for a process in which the package cannot be imported."""

REFUSE_PACKAGE = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "genqa_metrics":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Refuse())
"""

ROWS = {
    "aev": {
        "predictions": ["There are seven steps.", "It is in Paris.", "", "42 km"],
        "references": [["Four steps are involved.", "four"], ["Paris"], ["nothing"], ["42 kilometres", "42 km"]],
    },
    "ava": {
        "questions": ["how many steps are there?", "where is it?", "what is there?", "how far is it?"],
        "predictions": ["There are seven steps.", "It is in Paris.", "", "42 km"],
        "references": [["Four steps are involved.", "four"], ["Paris"], ["nothing"], ["42 kilometres", "42 km"]],
    },
    "grounding": {
        "predictions": ["There are seven steps.", "It is in Paris. It is old [1].", "", "I don't know."],
        "contexts": [
            ["The stairs have four steps."],
            ["The tower is in Paris.", "It is old."],
            ["nothing"],
            ["42 km"],
        ],
    },
    "kpqa": {
        "questions": ["how many steps are there?", "where is it?", "what is there?", "how far is it?"],
        "predictions": ["There are seven steps.", "It is in Paris.", "", "42 km"],
        "references": [["Four steps are involved.", "four"], ["Paris"], ["nothing"], ["42 kilometres", "42 km"]],
    },
    "f_meta": {
        "predictions": [["who won the cup ?"], ["when was it ?", "where was it ?"], [], ["what is it ?"]],
        "references": [["who won the cup ?", "which cup ?"], ["when was it ?"], ["who ?"], ["what was it ?", "why ?"]],
    },
}
