"""A comparison of systems as tables for the terminal, as Markdown, as LaTeX, and as one HTML page with charts."""

from collections.abc import Mapping, Sequence
from html import escape

from ..scoring.registry import SCORERS, scorer_class
from .charts import forest_chart, outcome_bar
from .explanation import HEAT_MAP_STYLE, heat_map_html, heat_map_legend
from .table import Table, html_table, latex, latex_table, limits, markdown_table, number, p_value, print_table, visible

MAX_NOTES = 5  # in the terminal, and unfolded on the page
MAX_PAIRS = 15  # in the terminal and in LaTeX; of more pairs those of neighbours in the ranking
CORRECTED = {
    "holm": "corrected by Holm's method for the {tests} of one score",
    "bonferroni": "corrected by Bonferroni's method for the {tests} of one score",
    "fdr": "corrected for the {tests} of one score so that 5% of the findings may be false (Benjamini and Hochberg)",
    "none": "not corrected for the {tests} of one score",
}
CLUSTERS = (
    "Cluster: a line is drawn where every system above is significantly better than every system below. Ranks: from "
    "1 + the number of significantly better systems to the number of systems - those that are significantly worse. "
    "Significant: corrected p of the permutation test below 5%."
)


def _shown(metric: str) -> tuple[str, ...]:
    """Return the parts of a metric's score that tables show; none of a column of scores."""
    return scorer_class(metric).shown if metric in SCORERS else ()


def compared_scores(report: Mapping, metric: str) -> list[str]:
    """Return the scores of a metric that were tested, the one that ranks first."""
    return list(report["metrics"][metric]["tests"])


def ordered(report: Mapping, metric: str, name: str) -> list[str]:
    """Return the systems, the best score first."""
    scores = report["metrics"][metric]["scores"][name]
    return sorted(scores, key=lambda system: -scores[system]["value"])


def _ranks(found: Mapping) -> str:
    best, worst = found["best_rank"], found["worst_rank"]
    return f"{best}" if best == worst else f"{best}-{worst}"


def _short(metric: str, name: str) -> str:
    return name.removeprefix(f"{metric}_").replace("_", " ") if name in _shown(metric) else name


def finding(report: Mapping, metric: str) -> str:
    """Return in one sentence which systems are first."""
    name = compared_scores(report, metric)[0]
    systems = report["metrics"][metric]["tests"][name]["systems"]
    order = ordered(report, metric, name)
    first = [system for system in order if systems[system]["cluster"] == 1]
    if len(first) == 1:
        others = "the other system" if len(order) == 2 else f"each of the {len(order) - 1} others"
        return f"{name}: {first[0]} is significantly better than {others}."
    if len(first) == len(order):
        if len(order) == 2:
            return f"{name}: {order[0]} is ahead, but not significantly; the two may be equally good."
        return f"{name}: {order[0]} is ahead, but no line separates the {len(order)} systems into clusters."
    return f"{name}: {', '.join(first[:-1])} and {first[-1]} are the first cluster; {first[0]} has the highest score."


def systems_table(report: Mapping, metric: str) -> Table:
    """Return the scores and ranks of the systems by one metric."""
    found = report["metrics"][metric]
    names = compared_scores(report, metric)
    parts = [name for name in _shown(metric) if name in found["scores"]]
    ranking = found["tests"][names[0]]["systems"]
    rows, marked = [], set()
    for place, system in enumerate(ordered(report, metric, names[0])):
        scores = [limits(found["scores"][name][system]) for name in names]
        scores += [
            number(found["scores"][name][system]["value"])
            if name.endswith("penalty")
            else limits(found["scores"][name][system])
            for name in parts
        ]
        rows.append([visible(system), _ranks(ranking[system]), str(ranking[system]["cluster"]), *scores])
        if ranking[system]["cluster"] == 1:
            marked.add(place)
    header = ["system", "ranks", "cluster", *names, *(_short(metric, name) for name in parts)]
    by = f" Ranks and clusters by {names[0]}." if len(names) > 1 else ""
    return Table(f"{metric}: systems", header, rows, f"In brackets: 95% bootstrap interval.{by}", marked)


def ranked_pairs(report: Mapping, metric: str, name: str, neighbours: bool = False) -> list[dict]:
    """Return the tests of pairs, the better system first, in the order of the ranking.

    Args:
        report: see `compare.CompareRun.report`.
        metric: its name.
        name: one of its tested scores.
        neighbours: only pairs of systems that follow each other in the ranking.
    """
    place = {system: i for i, system in enumerate(ordered(report, metric, name))}
    found = []
    for pair in report["metrics"][metric]["tests"][name]["pairs"]:
        pair = dict(pair)
        if place[pair["first"]] > place[pair["second"]]:
            difference = pair["difference"]
            pair["first"], pair["second"] = pair["second"], pair["first"]
            pair["wins"], pair["losses"] = pair["losses"], pair["wins"]
            pair["first_better_in"] = 1 - pair["first_better_in"]
            pair["difference"] = {
                "value": -difference["value"],
                "low": -difference["high"],
                "high": -difference["low"],
            }
        if not neighbours or place[pair["second"]] == place[pair["first"]] + 1:
            found.append(pair)
    return sorted(found, key=lambda pair: (place[pair["first"]], place[pair["second"]]))


def pairs_table(report: Mapping, metric: str, name: str, most: int | None = None) -> Table:
    """Return the tests of all pairs of systems by one score.

    Args:
        report: see `compare.CompareRun.report`.
        metric: its name.
        name: one of its tested scores.
        most: if there are more pairs, only those of neighbours in the ranking.
    """
    pairs = ranked_pairs(report, metric, name)
    tests = len(pairs)
    few = most is not None and tests > most
    if few:
        pairs = ranked_pairs(report, metric, name, neighbours=True)
    rows, marked = [], set()
    for place, pair in enumerate(pairs):
        rows.append(
            [
                f"{visible(pair['first'])} - {visible(pair['second'])}",
                limits(pair["difference"]),
                p_value(pair["permutation_p"]),
                p_value(pair["permutation_p_corrected"]),
                p_value(pair["bootstrap_p"]),
                p_value(pair["bootstrap_p_corrected"]),
                f"{pair['wins']:,} / {pair['ties']:,} / {pair['losses']:,}",
            ]
        )
        if pair["permutation_p_corrected"] < report["settings"]["level"]:
            marked.add(place)
    header = ["pair", "difference", "permutation p", "corrected", "bootstrap p", "corrected", "wins / ties / losses"]
    said = "Two-sided paired tests; p is " + _correction(report) + ". Wins, ties and losses: questions."
    if few:
        said += f" Neighbours in the ranking; all {tests:,} pairs are in --json, --markdown and --html."
    return Table(f"{name}: pairs of systems", header, rows, said, marked)


def _correction(report: Mapping) -> str:
    systems = len(report["systems"])
    tests = systems * (systems - 1) // 2
    if tests == 1:
        return "not corrected: there is one test"
    return CORRECTED[report["settings"]["correction"]].format(tests=f"{tests:,} tests")


def facts(report: Mapping, most_notes: int | None = None) -> list[str]:
    """Return what the numbers rest on, one sentence or line each.

    Args:
        report: see `compare.CompareRun.report`.
        most_notes: number of notes after which the others are only counted.
    """
    lines = [
        f"{len(report['systems'])} systems, {report['questions']:,} questions, matched by {report['matched_by']}",
    ]
    lines += [f"left out: {count:,} {what}" for what, count in report["left_out"].items() if count]
    notes = report["notes"]
    lines += [f"note: {note}" for note in notes[:most_notes]]
    if most_notes is not None and len(notes) > most_notes:
        lines.append(f"note: ... and {len(notes) - most_notes} more in --json, --markdown and --html")
    lines += [f"{source['name']}: {source['rows']:,} rows, SHA-256 {source['sha256']}" for source in report["inputs"]]
    lines += list(report["signatures"].values())
    settings = report["settings"]
    lines.append(
        f"genqa-metrics {report['genqa_metrics']}, {settings['resamples']:,} bootstrap samples and as many "
        f"permutations, seed {settings['seed']}, correction {settings['correction']}"
    )
    return lines


def _name_of(row: Mapping) -> str:
    text = visible(row["text"]) if row["text"] is not None else f"row {row['row']}"
    return f"{text} ({visible(row['id'])})" if row["id"] is not None else text


def _answers(row: Mapping) -> list[tuple[float, str, str]]:
    """Return score, system and answer, the best first."""
    answers = sorted(row["answers"].items(), key=lambda item: -item[1]["score"])
    return [
        (answer["score"], visible(system), visible(" | ".join(answer["predictions"]))) for system, answer in answers
    ]


def as_markdown(report: Mapping) -> str:
    """Return a comparison in Markdown."""
    parts = ["# Comparison of systems", "\n".join(f"- {finding(report, metric)}" for metric in report["metrics"])]
    for metric, found in report["metrics"].items():
        for table in (systems_table(report, metric), *(pairs_table(report, metric, name) for name in found["tests"])):
            parts.append(f"## {table.title}\n\n{table.explanation}\n\n{markdown_table(table)}")
        if found["rows"]:
            rows = Table("", ["score", "system", "answer"], [])
            parts.append(f"## {metric}: rows that differ most")
            for row in found["rows"]:
                rows.rows = [[number(score), system, answer or "(empty)"] for score, system, answer in _answers(row)]
                references = "; ".join(map(visible, row["references"]))
                parts.append(f"**{_markdown(_name_of(row))}** {_markdown(references)}\n\n{markdown_table(rows)}")
    parts.append("## What the numbers rest on\n\n" + CLUSTERS)
    parts.append("\n".join(f"- `{line}`" for line in facts(report)))
    return "\n\n".join(parts)


def _markdown(text: str) -> str:
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>#|" else letter for letter in text)


def as_latex(report: Mapping) -> str:
    """Return the tables of a comparison in LaTeX; they need the package booktabs."""
    parts = ["% Needs \\usepackage{booktabs}."]
    parts[0] += "".join(f"\n% {line}" for line in facts(report))
    for metric in report["metrics"]:
        table = systems_table(report, metric)
        caption = (
            f"{latex(metric)} of {len(report['systems'])} systems on {report['questions']:,} questions. "
            f"{latex(table.explanation)} {latex(CLUSTERS)} Bold: first cluster."
        )
        parts.append(latex_table(table, f"{metric.replace('_', '-')}-systems", caption))
        for name in compared_scores(report, metric):
            table = pairs_table(report, metric, name, MAX_PAIRS)
            caption = f"{latex(name)}: differences of systems. {latex(table.explanation)} Bold: significant at 5\\%."
            parts.append(latex_table(table, f"{name.replace('_', '-')}-pairs", caption))
    return "\n\n".join(parts) + "\n"


def print_report(report: Mapping, console) -> None:
    """Print a comparison.

    Args:
        report: see `compare.CompareRun.report`.
        console: a `rich.console.Console`.
    """
    from rich.text import Text

    for metric, found in report["metrics"].items():
        print_table(systems_table(report, metric), console)
        name = compared_scores(report, metric)[0]
        print_table(pairs_table(report, metric, name, MAX_PAIRS), console)
        if found["rows"]:
            console.print(Text(f"{name}: rows that differ most", "bold"))
        for row in found["rows"]:
            references = " | ".join(map(visible, row["references"]))
            console.print(
                Text.assemble(_name_of(row), (f"  [{references}]", "dim")), no_wrap=True, overflow="ellipsis"
            )
            answers = _answers(row)
            width = max(len(system) for _, system, _ in answers)
            for score, system, answer in answers if len(answers) < 4 else (answers[0], answers[-1]):
                line = Text.assemble(
                    f"  {number(score)}  ", (f"{system:<{width}}", "bold"), f"  {answer or '(empty)'}"
                )
                console.print(line, no_wrap=True, overflow="ellipsis")
        console.print()
    console.print(Text(CLUSTERS, style="dim"))
    for line in facts(report, MAX_NOTES):
        console.print(Text(line, style="bold yellow" if line.startswith("note: ") else "dim"), soft_wrap=True)
    console.print()
    for metric in report["metrics"]:
        console.print(Text(finding(report, metric), style="bold"))


_KEY = (
    '<svg class="key"><rect class="wins" width="100%" height="100%"/></svg> wins '
    '<svg class="key"><rect class="ties" width="100%" height="100%"/></svg> ties '
    '<svg class="key"><rect class="losses" width="100%" height="100%"/></svg> losses of the first system. Bold: '
    "significant at 5% (permutation test, corrected)."
)


def _pairs_html(report: Mapping, metric: str, name: str) -> str:
    """The table of pairs with bars of wins and losses."""
    table = pairs_table(report, metric, name)
    lines = ['<div class="wide"><table><thead><tr>']
    lines += [f'<th scope="col">{escape(cell)}</th>' for cell in table.header]
    lines.append("<td></td></tr></thead><tbody>")
    for place, ((first, *cells), pair) in enumerate(zip(table.rows, ranked_pairs(report, metric, name), strict=True)):
        marked = ' class="marked"' if place in table.marked else ""
        shown = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        lines.append(f'<tr{marked}><th scope="row">{escape(first)}</th>{shown}<td>{outcome_bar(pair)}</td></tr>')
    return "\n".join(
        [*lines, "</tbody></table></div>", f'<p class="explanation">{escape(table.explanation)} {_KEY}</p>']
    )


def _matrix_html(report: Mapping, metric: str, name: str) -> str:
    """The differences of all pairs as a square; colour where they are significant."""
    order = ordered(report, metric, name)
    pairs = {(pair["first"], pair["second"]): pair for pair in ranked_pairs(report, metric, name)}
    lines = ['<div class="wide"><table class="matrix"><thead><tr><td></td>']
    lines += [f'<th scope="col">{escape(visible(system))}</th>' for system in order]
    lines.append("</tr></thead><tbody>")
    for row in order:
        cells = []
        for column in order:
            pair = pairs.get((row, column)) or pairs.get((column, row))
            if pair is None:
                cells.append("<td></td>")
                continue
            difference = pair["difference"]["value"] * (1 if pair["first"] == row else -1)
            clear = pair["permutation_p_corrected"] < report["settings"]["level"]
            kind = (' class="better"' if difference > 0 else ' class="worse"') if clear else ""
            said = f"p {p_value(pair['permutation_p'])}, corrected {p_value(pair['permutation_p_corrected'])}"
            sign = "+" if round(difference, 3) > 0 else ""
            cells.append(f'<td{kind} title="{said}">{sign}{number(difference)}</td>')
        lines.append(f'<tr><th scope="row">{escape(visible(row))}</th>{"".join(cells)}</tr>')
    lines.append("</tbody></table></div>")
    lines.append(
        "<p class=\"explanation\">Score of the row's system - score of the column's. Coloured: significant at 5% "
        "(permutation test, corrected).</p>"
    )
    return "\n".join(lines)


def _rows_html(rows: Sequence[Mapping], explained: Sequence[Mapping]) -> str:
    lines = []
    for place, row in enumerate(rows):
        heat = explained[place] if place < len(explained) else {}
        references = " <span class='or'>or</span> ".join(escape(visible(text)) for text in row["references"])
        lines += ['<section class="row">', f'<h4 dir="auto">{escape(_name_of(row))}</h4>']
        lines += [f'<p class="references" dir="auto">Reference: {references}</p>'] * bool(references)
        answers = sorted(row["answers"].items(), key=lambda item: -item[1]["score"])
        for system, answer in answers:
            shown = escape(visible(" | ".join(answer["predictions"]))) or '<span class="unread">(empty)</span>'
            label = f"<b>{number(answer['score'])}</b> {escape(visible(system))}"
            if system in heat:
                best = heat[system].scores["rougeL_kpqa"].reference
                prediction, reference = heat[system].pairs[best]
                shown = heat_map_html(prediction)
                lines.append(f'<h5>{label}</h5><p class="text" dir="auto">{shown}</p>')
                lines.append(
                    "<details><summary>the reference, beside this answer</summary>"
                    f'<p class="text" dir="auto">{heat_map_html(reference)}</p></details>'
                )
            else:
                lines.append(f'<h5>{label}</h5><p class="answer" dir="auto">{shown}</p>')
        lines.append("</section>")
    return "\n".join(lines)


_STYLE = """
:root { color-scheme: light dark; --ground: #ffffff; --ink: #1c1b1a; --quiet: #5f5b57; --line: #d6d3d1;
  --first: #15803d; --mark: #1d4ed8; --wins: #2563eb; --ties: #d6d3d1; --losses: #ea580c;
  --better: #dbeafe; --worse: #ffedd5; --note: #9a3412; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #171615; --ink: #edebe9; --quiet: #aaa5a0; --line: #44403c;
    --first: #4ade80; --mark: #93c5fd; --wins: #60a5fa; --ties: #57534e; --losses: #fb923c;
    --better: #1e3a5f; --worse: #5c2b10; --note: #fdba74; }
}
body { margin: 0 auto; padding: 1rem; max-width: 62rem; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.2rem; margin: 2.5rem 0 .5rem; border-top: 1px solid var(--line);
  padding-top: 1.5rem; } h3 { font-size: 1rem; margin: 1.8rem 0 .5rem; } h4 { font-size: 1rem; margin: 0; }
h5 { font-size: .9rem; font-weight: normal; margin: .6rem 0 0; }
.wide { overflow-x: auto; overflow-wrap: normal; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .25rem .7rem .25rem 0; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--line); }
th:first-child { text-align: left; } tbody th { font-weight: normal; } thead th { vertical-align: bottom; }
tr.marked th, tr.marked td:nth-child(2) { font-weight: bold; }
.matrix td, .matrix th { padding: .3rem .5rem; }
.better { background: var(--better); } .worse { background: var(--worse); }
.forest { display: grid; grid-template-columns: fit-content(30%) 1fr auto; column-gap: .8rem; align-items: center;
  max-width: 46rem; margin-bottom: 1rem; }
.forest .value { font-variant-numeric: tabular-nums; } .line { width: 100%; height: 1.7rem; overflow: visible; }
.grid { stroke: var(--line); } .interval { stroke: var(--mark); stroke-width: 3; stroke-linecap: round; }
circle { fill: var(--mark); } .first .interval { stroke: var(--first); } .first circle { fill: var(--first); }
.axis { position: relative; height: 1.4rem; font-size: .75rem; color: var(--quiet); }
.axis span { position: absolute; transform: translateX(-50%); white-space: nowrap; }
.outcomes { width: 8rem; height: .8rem; display: block; } .wins { fill: var(--wins); } .ties { fill: var(--ties); }
.losses { fill: var(--losses); } .key { width: .8rem; height: .8rem; }
.row { border-left: 3px solid var(--line); padding-left: .8rem; margin: 1.2rem 0; }
.references, .explanation, .facts, .legend { color: var(--quiet); font-size: .9rem; } .references { margin: 0; }
.explanation { margin: .4rem 0; } .answer { margin: 0; } .or { font-style: italic; } .note { color: var(--note); }
.legend, .facts { padding-left: 1.2rem; } .finding { font-weight: bold; }
summary { color: var(--quiet); font-size: .85rem; cursor: pointer; }
"""


def as_html(report: Mapping, explained: Sequence[Mapping] = ()) -> str:
    """Return a comparison as one HTML page that needs nothing else: no script, no outside resource.

    Args:
        report: see `compare.CompareRun.report`.
        explained: heat maps for KPQA's rows, see `compare.explanations`.
    """
    systems = len(report["systems"])
    title = f"Comparison of {systems} systems on {report['questions']:,} questions"
    body = [f"<h1>{title}</h1>", "<ul>"]
    body += [f'<li class="finding">{escape(visible(finding(report, metric)))}</li>' for metric in report["metrics"]]
    body.append("</ul>")
    notes = [f'<p class="note">Note: {escape(visible(note))}.</p>' for note in report["notes"]]
    body += notes[:MAX_NOTES]
    if len(notes) > MAX_NOTES:
        body += [f"<details><summary>{len(notes) - MAX_NOTES} more notes</summary>", *notes[MAX_NOTES:], "</details>"]
    for metric, found in report["metrics"].items():
        body.append(f"<h2>{escape(metric)}</h2>")
        for place, name in enumerate(compared_scores(report, metric)):
            ranking = found["tests"][name]["systems"]
            estimates = {system: found["scores"][name][system] for system in ordered(report, metric, name)}
            body += [f"<h3>{escape(name)}</h3>"] * (name != metric)
            body.append(forest_chart(estimates, [system for system in estimates if ranking[system]["cluster"] == 1]))
            if place == 0:
                table = systems_table(report, metric)
                said = f"{table.explanation} Green and bold: first cluster."
                body += [html_table(table), f'<p class="explanation">{escape(said)}</p>']
            body += [_matrix_html(report, metric, name)] * (systems > 2)
            pairs = _pairs_html(report, metric, name)
            folded = systems > 3 or place
            body.append(f"<details><summary>all tests</summary>{pairs}</details>" if folded else pairs)
        if found["rows"]:
            heat = explained if metric == "kpqa" else ()
            body.append(f"<h3>Rows that differ most by {escape(compared_scores(report, metric)[0])}</h3>")
            body += ['<ul class="legend">', *heat_map_legend(), "</ul>"] if heat else []
            body.append(_rows_html(found["rows"], heat))
    body += ["<h2>What the numbers rest on</h2>", f'<p class="explanation">{escape(CLUSTERS)}</p>']
    lines = [line for line in facts(report) if not line.startswith("note: ")]
    body += ['<ul class="facts">', *(f"<li>{escape(visible(line))}</li>" for line in lines), "</ul>"]
    head = [
        '<meta charset="utf-8">',
        # Even if escaping failed, a browser would run and fetch nothing.
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title>",
        f"<style>{_STYLE}{HEAT_MAP_STYLE}</style>",
    ]
    page = ["<!DOCTYPE html>", '<html lang="en">', "<head>", *head, "</head>", "<body>", *body, "</body>", "</html>"]
    return "\n".join(page) + "\n"
