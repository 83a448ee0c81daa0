"""The HTML page of a comparison: tables, charts, tests, and the rows that differ most."""

from collections.abc import Mapping, Sequence

from .charts import FOREST_STYLE, forest_chart, outcome_bar
from .compare import (
    CLUSTERS,
    MAX_NOTES,
    CompareReport,
    corrected_accuracy,
    name_of,
    ordered,
    pairs_table,
    ranked_pairs,
    shown_answers,
    systems_table,
)
from .explanation import HEAT_MAP_STYLE, heat_map_html, heat_map_legend
from .page import page, render
from .table import html_table, number, p_value

_PAGE = """\
{% macro matrix(found) %}
<div class="wide"><table class="matrix"><thead><tr><td></td>
{%- for system in found.order %}<th scope="col">{{ system }}</th>{% endfor %}</tr></thead><tbody>
{% for system, cells in found.rows.items() %}
<tr><th scope="row">{{ system }}</th>
{%- for cell in cells %}
{%- if cell %}<td class="{{ cell[0] }}" title="{{ cell[1] }}">{{ cell[2] }}</td>{% else %}<td></td>{% endif %}
{%- endfor %}</tr>
{% endfor %}
</tbody></table></div>
<p class="explanation">Score of the row's system - score of the column's. Coloured: significant at 5%
(permutation test, corrected).</p>
{% endmacro %}
{% macro tests(score) %}
{{ score.pairs }}
<p class="explanation">{{ score.said }}
{% for kind in ("wins", "ties", "losses") -%}
<svg class="key"><rect class="{{ kind }}" width="100%" height="100%"/></svg> {{ kind }}
{% endfor %} of the first system. Bold: significant at 5% (permutation test, corrected).</p>
{% endmacro %}
{% macro answer(found) %}
<h5><b>{{ found.score }}</b> {{ found.system }}</h5>
{% if found.heat %}
<p class="text" dir="auto">{{ found.heat }}</p>
<details><summary>the reference, beside this answer</summary>
<p class="text" dir="auto">{{ found.reference }}</p></details>
{% else %}
<p class="answer" dir="auto">{{ found.answer }}</p>
{% endif %}
{% endmacro %}
<h1>{{ report.title }}</h1>
{% for note in report.notes[:most] %}
<p class="note">Note: {{ note }}.</p>
{% endfor %}
{% if report.notes|length > most %}
<details><summary>{{ report.notes|length - most }} more notes</summary>
{% for note in report.notes[most:] %}
<p class="note">Note: {{ note }}.</p>
{% endfor %}
</details>
{% endif %}
<ul>
{% for line in report.findings %}
<li class="finding">{{ line }}</li>
{% endfor %}
</ul>
{% for section in sections %}
<h2>{{ section.metric }}</h2>
{% for score in section.scores %}
{% if score.name != section.metric %}
<h3>{{ score.name }}</h3>
{% endif %}
{{ score.chart }}
{% if loop.first %}
{{ section.systems }}
<p class="explanation">{{ section.said }} Green and bold: first cluster.</p>
{% endif %}
{% if score.matrix %}
{{ matrix(score.matrix) }}
{% endif %}
{% if score.folded %}
<details><summary>all tests</summary>{{ tests(score) }}</details>
{% else %}
{{ tests(score) }}
{% endif %}
{% endfor %}
{% if section.rows %}
<h3>Rows that differ most by {{ section.scores[0].name }}</h3>
{% endif %}
{% if section.legend %}
<ul class="legend">{{ section.legend }}</ul>
{% endif %}
{% for row in section.rows %}
<section class="row">
<h4 dir="auto">{{ row.name }}</h4>
{% if row.references %}
<p class="references" dir="auto">Reference:
{% for text in row.references %}{{ text }}{% if not loop.last %} <span class="or">or</span> {% endif %}{% endfor %}</p>
{% endif %}
{% for found in row.answers %}
{{ answer(found) }}
{% endfor %}
</section>
{% endfor %}
{% endfor %}
<h2>What the numbers rest on</h2>
<p class="explanation">{{ clusters }}</p>
<ul class="facts">
{% for line in facts %}
<li>{{ line }}</li>
{% endfor %}
</ul>
"""
_STYLE = """
.matrix td, .matrix th { padding: .3rem .5rem; }
.better { background: var(--better); } .worse { background: var(--worse); }
.row { border-left: 3px solid var(--line); padding-left: .8rem; margin: 1.2rem 0; }
.references { color: var(--quiet); font-size: .9rem; margin: 0; } .answer { margin: 0; } .or { font-style: italic; }
"""


def comparison_page(shown: CompareReport, explained: Sequence[Mapping] = ()) -> str:
    """Return a comparison as one HTML page that needs nothing else: no script, no outside resource.

    Args:
        shown: the comparison.
        explained: heat maps for KPQA's rows, see `analysis.compare.explanations`.
    """
    sections = [_section(shown, metric, explained) for metric in shown.tests]
    body = render(_PAGE, report=shown, sections=sections, most=MAX_NOTES, clusters=CLUSTERS, facts=shown.facts())
    return page(shown.title, body, FOREST_STYLE + HEAT_MAP_STYLE + _STYLE)


def _section(shown: CompareReport, metric: str, explained: Sequence[Mapping]) -> dict:
    """Return what the page shows of a metric."""
    report, scores = shown.to_dict(), []
    for place, (name, tests) in enumerate(shown.tests[metric].items()):
        order = ordered(report, metric, name)
        estimates = {system: shown.scores[metric][name][system] for system in order}
        if place == 0 and (accuracy := corrected_accuracy(report, metric)):
            estimates = {system: accuracy["systems"][system] for system in order}
        first = [system for system in order if tests["systems"][system]["cluster"] == 1]
        pairs = pairs_table(report, metric, name)
        bars = [outcome_bar(pair) for pair in ranked_pairs(report, metric, name)]
        scores.append(
            {
                "name": name,
                "chart": forest_chart(estimates, first),
                "matrix": _matrix(shown, metric, name) if len(order) > 2 else None,
                "pairs": html_table(pairs, bars),
                "said": pairs.explanation,
                "folded": len(order) > 3 or place > 0,
            }
        )
    table = systems_table(report, metric)
    heat = explained if metric == "kpqa" else ()
    rows = [_shown_row(row, heat[i] if i < len(heat) else {}) for i, row in enumerate(shown.rows[metric])]
    return {
        "metric": metric,
        "scores": scores,
        "systems": html_table(table),
        "said": table.explanation,
        "legend": heat_map_legend() if heat else None,
        "rows": rows,
    }


def _matrix(shown: CompareReport, metric: str, name: str) -> dict:
    """Return the differences of all pairs as a square: the order of the systems, and for each a row of cells."""
    report = shown.to_dict()
    order = ordered(report, metric, name)
    pairs = {(pair["first"], pair["second"]): pair for pair in ranked_pairs(report, metric, name)}
    rows = {}
    for row in order:
        rows[row] = []
        for column in order:
            pair = pairs.get((row, column)) or pairs.get((column, row))
            if pair is None:
                rows[row].append(None)
                continue
            difference = pair["difference"]["value"] * (1 if pair["first"] == row else -1)
            clear = pair["permutation_p_corrected"] < report["settings"]["level"]
            kind = ("better" if difference > 0 else "worse") if clear else ""
            said = f"p {p_value(pair['permutation_p'])}, corrected {p_value(pair['permutation_p_corrected'])}"
            sign = "+" if round(difference, 3) > 0 else ""
            rows[row].append((kind, said, f"{sign}{number(difference)}"))
    return {"order": order, "rows": rows}


def _shown_row(row: Mapping, heat: Mapping) -> dict:
    """Return what the page shows of a row; `heat` has KPQA's explanation of some systems' answers."""
    answers = []
    for score, system, answer in shown_answers(row):
        answers.append({"score": score, "system": system, "answer": answer, "heat": None})
        if system in heat:
            prediction, reference = heat[system].pairs[heat[system].scores["rougeL_kpqa"].reference]
            answers[-1] |= {"heat": heat_map_html(prediction), "reference": heat_map_html(reference)}
    return {"name": name_of(row), "references": row["references"], "answers": answers}
