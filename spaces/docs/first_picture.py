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
WRONG, RIGHT = "M-5 -5 5 5M-5 5 5 -5", "M-6 0 -2 5 6 -5"


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
        {system: (one["low"], one["high"]) for system, one in estimates.items()},
    )


def draw(numbers: Numbers, scheme: str) -> str:
    """Return the picture as SVG.

    Args:
        numbers: what to show.
        scheme: "light" or "dark".
    """
    colours = COLOURS[scheme]
    parts: list[str] = []

    def text(x, y, words, size=16, fill="ink", anchor="start", weight=400, family=""):
        family = f' font-family="{family}"' if family else ""
        parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size}" font-weight="{weight}" fill="{colours[fill]}" '
            f'text-anchor="{anchor}"{family}>{words}</text>'
        )

    def card(x, system, answer, mark, verdict):
        colour = colours[system]
        parts.append(
            f'<rect x="{x}" y="86" width="216" height="94" rx="8" fill="{colours["card"]}" '
            f'stroke="{colours["line"]}"/>'
            f'<rect x="{x}" y="86" width="5" height="94" rx="2.5" fill="{colour}"/>'
            f'<path d="{mark}" transform="translate({x + 24} 158)" fill="none" stroke="{colour}" stroke-width="2.5"/>'
        )
        text(x + 16, 110, system, 15, system, weight=600)
        text(x + 16, 137, answer, 16.5)
        text(x + 38, 163, verdict, 15, "muted")

    text(16, 38, "How many legs has an insect?", 25, weight=700)
    text(16, 66, "Accepted answer: An insect has six legs.", 16, "muted")
    bold = '<tspan font-weight="700">{}</tspan>'
    card(16, "Echo", f"An insect has {bold.format('eight')} legs.", WRONG, "wrong")
    card(248, "Own words", f"{bold.format('Six.')}", RIGHT, "right")

    text(16, 218, f"Scores over {numbers.questions} such questions", 16, weight=600)
    text(WIDTH - 16, 218, "bars: 95% interval", 14, "muted", "end")
    text((16 + MIDDLE) / 2, 248, "compare words", 15, "muted", "middle")
    text((WIDTH - 16 + MIDDLE) / 2, 248, "read the question", 15, "muted", "middle")
    parts.append(
        f'<path d="M{MIDDLE} 234V{BOTTOM + 34}" stroke="{colours["line"]}" stroke-dasharray="3 4"/>'
        f'<path d="M16 {BOTTOM}H{WIDTH - 16}" stroke="{colours["line"]}"/>'
    )
    places = dict(zip(COLUMNS, PLACES, strict=True))
    for name, x in places.items():
        text(x, BOTTOM + 26, COLUMNS[name], 14, weight=600, anchor="middle")
    for system, scores in numbers.scores.items():
        colour = colours[system]
        points = [(places[name], BOTTOM - value * (BOTTOM - TOP)) for name, value in scores.items()]
        low, high = (BOTTOM - end * (BOTTOM - TOP) for end in numbers.intervals[system])
        x = places["ava_accuracy"]
        parts.append(
            f'<path d="M{x} {low:.1f}V{high:.1f}M{x - 6} {low:.1f}h12M{x - 6} {high:.1f}h12" stroke="{colour}" '
            'stroke-width="2"/>'
            f'<path d="M{"L".join(f"{x} {y:.1f}" for x, y in points)}" fill="none" stroke="{colour}" '
            'stroke-width="3"/>'
        )
        for (name, value), (x, y) in zip(scores.items(), points, strict=True):
            shape = f'circle cx="{x}" cy="{y:.1f}" r="7"'
            if system == "Echo":
                shape = f'rect x="{x - 6}" y="{y - 6:.1f}" width="12" height="12"'
            parts.append(f'<{shape} fill="{colour}" stroke="{colours["page"]}" stroke-width="2"/>')
            above = value > max(other[name] for key, other in numbers.scores.items() if key != system)
            label, place = f"{value:.2f}", (x, y - 14 if above else y + 25, "middle")
            if name == "ava_accuracy":
                label = f"{value * numbers.questions:.0f} of {numbers.questions}"
            if y > BOTTOM - 40:  # there is no room below
                place = (x + 12, y - 12, "start")
            text(place[0], place[1], label, 15, system, place[2], 600)

    text(WIDTH / 2, 530, "Same answers, opposite winners. Only one is right.", 18, weight=700, anchor="middle")
    text(WIDTH / 2, 558, "genqa-metrics score metrics/examples/echo.jsonl -m kpqa -m ava", 12, "muted", "middle",
         family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace")  # fmt: skip
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(describe(numbers))}" '
        'font-family="-apple-system, BlinkMacSystemFont, Segoe UI, Noto Sans, Helvetica, Arial, sans-serif">\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def describe(numbers: Numbers) -> str:
    """Return what the picture shows in words, for people who do not see it."""
    scores = "; ".join(
        f"{label}: " + ", ".join(f"{system} {values[name]:.2f}" for system, values in numbers.scores.items())
        for name, label in COLUMNS.items()
    )
    return f"Echo repeats the accepted sentence with a wrong fact; Own words gives the right fact. {scores}"


if __name__ == "__main__":
    found = measure()
    for scheme, path in PICTURES.items():
        path.write_text(draw(found, scheme), encoding="utf-8")
