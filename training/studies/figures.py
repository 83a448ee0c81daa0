"""Draw the figures of the studies again from their result files: `python -m training.studies.figures`.

The curves of EVOUNA NQ need the scores of its rows; `training.studies.meta_evaluation.measure` draws those.
"""

import json
from pathlib import Path

from genqa_metrics.toolkit.reports.charts import svg_of

from training.studies.accuracy import measure
from training.studies.meta_evaluation import page

STUDIES = Path(__file__).parent


def main() -> None:
    """Write the figures beside the results."""
    meta, accuracy = STUDIES / "meta_evaluation/results", STUDIES / "accuracy/results"
    sets = json.loads((meta / "meta_evaluation.json").read_text(encoding="utf-8"))["sets"]
    for file, figure in page.figures(sets).values():
        (meta / file).write_text(svg_of(figure), encoding="utf-8")
    systems = json.loads((accuracy / "accuracy.json").read_text(encoding="utf-8"))["systems"]
    (accuracy / "accuracy.svg").write_text(svg_of(measure.figure(systems)), encoding="utf-8")


if __name__ == "__main__":
    main()
