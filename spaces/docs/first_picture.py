"""The picture at the top of the README: eight questions, two systems, four metrics, opposite winners.

`python spaces/docs/first_picture.py` scores `metrics/examples/echo.jsonl` and draws it for light and for dark pages.
"""

from dataclasses import dataclass
from html import escape
from pathlib import Path

HERE = Path(__file__).resolve().parent
PICTURES = {scheme: HERE / "pictures" / f"first-{scheme}.svg" for scheme in ("light", "dark")}
COLUMNS = {"rougeL": "ROUGE-L", "bertscore": "BERTScore", "rougeL_kpqa": "ROUGE-L-KPQA", "ava_accuracy": "AVA"}
COLOURS = {
    "light": {"ink": "#1f2328", "muted": "#59636e", "line": "#d1d9e0", "card": "#f6f8fa", "page": "#ffffff",
              "Echo": "#bc4c00", "Own words": "#0969da"},
    "dark": {"ink": "#f0f6fc", "muted": "#9198a1", "line": "#3d444d", "card": "#151b23", "page": "#0d1117",
             "Echo": "#f0883e", "Own words": "#58a6ff"},
}  # fmt: skip
WIDTH, HEIGHT = 480, 574
PLACES = (62, 172, 310, 411)  # of the columns
MIDDLE, TOP, BOTTOM = 238, 286, 466


@dataclass(frozen=True)
class Numbers:
    """What the picture shows: scores by system, answers judged right, and 95% intervals of the accuracy."""

    scores: dict[str, dict[str, float]]
    questions: int
    intervals: dict[str, tuple[float, float]]


def measure() -> Numbers:
    """Score the example file with KPQA and AVA."""
    import genqa_metrics

    report = genqa_metrics.score(HERE.parent.parent / "metrics/examples/echo.jsonl", ["kpqa", "ava"])
    estimates = report.accuracy["systems"]
    return Numbers(
        {system: {name: scores[name] for name in COLUMNS} for system, scores in report.systems.items()},
        len(report.to_pandas()) // len(report.systems),
        {system: (estimate["low"], estimate["high"]) for system, estimate in estimates.items()},
    )


def draw(numbers: Numbers, scheme: str) -> str:
    """Return the picture as SVG, for a "light" or "dark" scheme."""
    from jinja2 import Environment, StrictUndefined

    columns_x, lines = dict(zip(COLUMNS, PLACES, strict=True)), {}
    for system, scores in numbers.scores.items():
        low, high = (f"{_height(end):.1f}" for end in numbers.intervals[system])
        points = []
        for name, value in scores.items():
            x, y = columns_x[name], _height(value)
            shape = f'circle cx="{x}" cy="{y:.1f}" r="7"'
            if system == "Echo":
                shape = f'rect x="{x - 6}" y="{y - 6:.1f}" width="12" height="12"'
            above = value > max(other[name] for key, other in numbers.scores.items() if key != system)
            label, spot = f"{value:.2f}", (x, y - 14 if above else y + 25, "middle")
            if name == "ava_accuracy":
                label = f"{value * numbers.questions:.0f} of {numbers.questions}"
            if y > BOTTOM - 40:  # there is no room below
                spot = (x + 12, y - 12, "start")
            points.append({"at": f"{x} {y:.1f}", "shape": shape, "label": label, "place": spot})
        lines[system] = {"x": columns_x["ava_accuracy"], "low": low, "high": high, "points": points}
    options = {"trim_blocks": True, "keep_trailing_newline": True, "undefined": StrictUndefined}
    template = Environment(**options).from_string((HERE / "first.svg.j2").read_text(encoding="utf-8"))
    columns, description = [(x, COLUMNS[name]) for name, x in columns_x.items()], escape(describe(numbers))
    values = {"colours": COLOURS[scheme], "questions": numbers.questions, "columns": columns, "lines": lines}
    sizes = {"width": WIDTH, "height": HEIGHT, "middle": MIDDLE, "bottom": BOTTOM}
    return template.render(**values, **sizes, description=description)


def _height(value: float) -> float:
    """Return where a score stands in the picture."""
    return BOTTOM - value * (BOTTOM - TOP)


def describe(numbers: Numbers) -> str:
    """Return what the picture shows in words, for people who do not see it."""
    scores = "; ".join(
        f"{label}: " + ", ".join(f"{system} {values[name]:.2f}" for system, values in numbers.scores.items())
        for name, label in COLUMNS.items()
    )
    return f"Echo repeats the accepted sentence with a wrong fact; Own words gives the right fact. {scores}"


if __name__ == "__main__":
    numbers = measure()
    for scheme, path in PICTURES.items():
        path.write_text(draw(numbers, scheme), encoding="utf-8")
