"""The picture at the top of the README: eight questions, two systems, four metrics, opposite winners.

`python spaces/docs/first_picture.py` scores `metrics/examples/echo.jsonl` and draws it for light and for dark pages.
"""

from html import escape
from pathlib import Path

from jinja2 import Environment, StrictUndefined

HERE = Path(__file__).resolve().parent
PICTURES = {scheme: HERE / "pictures" / f"first-{scheme}.svg" for scheme in ("light", "dark")}
COLUMNS = {"rougeL": "ROUGE-L", "bertscore": "BERTScore", "rougeL_kpqa": "ROUGE-L-KPQA", "ava_accuracy": "AVA"}
COLUMNS_X = dict(zip(COLUMNS, (62, 172, 310, 411), strict=True))
COLOURS = {
    "light": {"ink": "#1f2328", "muted": "#59636e", "line": "#d1d9e0", "card": "#f6f8fa", "page": "#ffffff",
              "Echo": "#bc4c00", "Own words": "#0969da"},
    "dark": {"ink": "#f0f6fc", "muted": "#9198a1", "line": "#3d444d", "card": "#151b23", "page": "#0d1117",
             "Echo": "#f0883e", "Own words": "#58a6ff"},
}  # fmt: skip
TOP, BOTTOM = 286, 466
SIZES = {"width": 480, "height": 574, "middle": 238, "bottom": BOTTOM}


def measure():
    """Return the report of KPQA and AVA on the example file."""
    import genqa_metrics

    return genqa_metrics.score(HERE.parent.parent / "metrics/examples/echo.jsonl", ["kpqa", "ava"])


def draw(report, scheme: str) -> str:
    """Return the picture of a report as SVG, for a "light" or "dark" scheme."""
    scores = {system: {name: shown[name] for name in COLUMNS} for system, shown in report.systems.items()}
    questions, lines = len(report.to_pandas()) // len(scores), {}
    for system, shown in scores.items():
        points = []
        for name, score in shown.items():
            x, y = COLUMNS_X[name], _height(score)
            shape = f'circle cx="{x}" cy="{y:.1f}" r="7"'
            if system == "Echo":
                shape = f'rect x="{x - 6}" y="{y - 6:.1f}" width="12" height="12"'
            is_highest = score > max(others[name] for other, others in scores.items() if other != system)
            spot = (x, y - 14 if is_highest else y + 25, "middle")
            if y > BOTTOM - 40:  # there is no room below
                spot = (x + 12, y - 12, "start")
            label = f"{score * questions:.0f} of {questions}" if name == "ava_accuracy" else f"{score:.2f}"
            points.append({"at": f"{x} {y:.1f}", "shape": shape, "label": label, "place": spot})
        ends = {end: f"{_height(report.accuracy['systems'][system][end]):.1f}" for end in ("low", "high")}
        lines[system] = {"x": COLUMNS_X["ava_accuracy"], **ends, "points": points}
    in_words = "; ".join(
        f"{label}: " + ", ".join(f"{system} {shown[name]:.2f}" for system, shown in scores.items())
        for name, label in COLUMNS.items()
    )
    description = f"Echo repeats the accepted sentence with a wrong fact; Own words gives the right fact. {in_words}"
    options = {"trim_blocks": True, "keep_trailing_newline": True, "undefined": StrictUndefined}
    template = Environment(**options).from_string((HERE / "first.svg.j2").read_text(encoding="utf-8"))
    columns = [(COLUMNS_X[name], label) for name, label in COLUMNS.items()]
    drawn = {"colours": COLOURS[scheme], "questions": questions, "columns": columns, "lines": lines}
    return template.render(**drawn, **SIZES, description=escape(description))


def _height(score: float) -> float:
    """Return where a score stands in the picture."""
    return BOTTOM - score * (BOTTOM - TOP)


if __name__ == "__main__":
    report = measure()
    for scheme, path in PICTURES.items():
        path.write_text(draw(report, scheme), encoding="utf-8")
