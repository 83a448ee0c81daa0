"""The HTML page of every report: one skeleton, one style, and templates whose values are escaped once."""

from functools import cache

from .table import visible

STYLE = """
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
th:first-child { text-align: left; white-space: pre; } tbody th { font-weight: normal; }
thead th { vertical-align: bottom; } tr.marked th, tr.marked .bold { font-weight: bold; }
.explanation, .facts, .legend { color: var(--quiet); font-size: .9rem; } .explanation { margin: .4rem 0; }
.legend, .facts { padding-left: 1.2rem; } .note { color: var(--note); } .finding { font-weight: bold; }
summary { color: var(--quiet); font-size: .85rem; cursor: pointer; }
figure { margin: 0; } figure svg { max-width: 100%; height: auto; }
"""

# Even if escaping failed, a browser would run and fetch nothing.
_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ title }}</title>
<style>{{ style }}</style>
</head>
<body>
{{ body }}
</body>
</html>
"""


@cache
def _template(source: str):
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    def shown(value: object) -> object:
        return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    environment = Environment(
        autoescape=True, finalize=shown, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(source)


def render(source: str, **values):
    """Return a jinja2 template filled in, as `markupsafe.Markup`.

    Args:
        source: the template.
        **values: what it needs. A string is made visible (see `table.visible`) and escaped, but not `Markup`.

    >>> print(render("<b>{{ name }}</b>", name="<i>"))
    <b>&lt;i&gt;</b>
    """
    from markupsafe import Markup

    return Markup(_template(source).render(values))


def page(title: str, body, style: str = "") -> str:
    """Return one HTML page that needs nothing else: no script, no outside resource.

    Args:
        title: plain text.
        body: `markupsafe.Markup`; a plain string is escaped.
        style: CSS beside `STYLE`.
    """
    from markupsafe import Markup

    return str(render(_PAGE, title=title, body=body, style=Markup(STYLE + style)))
