"""The documentation site: settings of Sphinx, and what is generated before it reads the pages."""

import re
import subprocess
import sys
from importlib.metadata import version as version_of
from itertools import product
from os.path import relpath
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
GENERATED = HERE / "build" / "generated"
FILES = "https://github.com/genqa-metrics/genqa-metrics/blob/main"
LINK = re.compile(
    r"(!?\[[^\[\]]*\])\((?!\w+:|#)([^()\[\]#\s]+)(#[^()\[\]\s]*)?\)"
)  # to a file, not to an address or within the page
sys.path[:0] = [str(HERE), str(REPOSITORY)]

project = "genqa-metrics"
author = "The genqa-metrics authors"
project_copyright = author
version = release = version_of("genqa-metrics")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
myst_enable_extensions = ["attrs_block", "colon_fence"]
myst_heading_anchors = 4
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE / "build" / "notebooks")
nb_execution_raise_on_error = True
nb_execution_timeout = 3600  # a cell; a busy machine takes many times the minute that an idle one does
nb_merge_streams = True
nb_output_stderr = "remove"
default_role = "code"  # docstrings have Markdown's single backticks
smartquotes = False  # it makes a dash of --option
autodoc_typehints = "description"
maximum_signature_line_length = 60  # a longer one has a line for each argument
autodoc_member_order = "bysource"
napoleon_use_rtype = False
napoleon_custom_sections = [("Results", "params_style")]

html_domain_indices = False  # one module: an index of one line
html_theme = "furo"
html_title = "genqa-metrics"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_theme_options = {
    "source_repository": "https://github.com/genqa-metrics/genqa-metrics",
    "source_branch": "main",
    "source_directory": "spaces/docs/pages/",
}


def page_beginnings() -> dict[Path, str]:
    """Return {file of the repository: page that includes it first}; links to the file lead to the page."""
    pages = {}
    for page in sorted((HERE / "pages").rglob("*.md")):
        if match := re.search(r"\{include\} (\S+)", page.read_text(encoding="utf-8")):
            pages.setdefault((page.parent / match[1]).resolve(), page.relative_to(HERE / "pages").as_posix())
    return pages


PAGES = page_beginnings()


def with_links_of_the_site(text: str, file: Path) -> str:
    """Return Markdown of a file of the repository with links that lead somewhere on the site; code stays as it is."""

    def link(match: re.Match) -> str:
        words, target, anchor = match.groups(default="")
        path = (file.parent / target).resolve()
        if not path.is_relative_to(REPOSITORY):
            raise ValueError(f"{file}: expected a link to a file of the repository, got {target}")
        name = path.relative_to(REPOSITORY).as_posix()
        if words.startswith("!") or path.is_relative_to(HERE / "pages"):
            address = f"/{relpath(path, HERE / 'pages')}"
        else:
            address = f"/{PAGES[path]}" if path in PAGES else f"{FILES}/{name}"
        return f"{words}({address}{anchor})"

    blocks = re.split(r"(^```.*?^```)", text, flags=re.DOTALL | re.MULTILINE)  # every other one is code
    blocks[::2] = [LINK.sub(link, block) for block in blocks[::2]]
    return "".join(blocks)


def generate(app: object) -> None:
    """Write the pages of the command line and the figures, from the program and the results."""
    import figures

    GENERATED.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "typer", "genqa_metrics.cli", "utils", "docs", "--name", "genqa-metrics"]
    text = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8").stdout
    write(GENERATED / "commands.md", text.split("\n", 1)[1])
    write(GENERATED / "columns.md", columns())
    for name, scheme in product(figures.FIGURES, ("light", "dark")):
        write(GENERATED / f"{name}-{scheme}.svg", figures.svg(name, scheme))


def columns() -> str:
    """Return the glossary of the tables' columns in Markdown."""
    from genqa_metrics.reports.report import QUANTITIES

    from training.common import markdown_table

    rows = [
        [name, column.header or "", column.meaning, ", ".join(column.verbs)] for name, column in QUANTITIES.items()
    ]
    return markdown_table(["name", "in tables", "meaning", "of"], rows) + "\n"


def write(path: Path, text: str) -> None:
    """Write a file if it changes, so that Sphinx does not read it again otherwise."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def include_read(app: object, path: Path, parent: str, content: list[str]) -> None:
    """Correct the links of a file of the repository that a page includes."""
    file = (HERE / "pages" / path).resolve()
    if not file.is_relative_to(HERE):
        text = with_links_of_the_site(content[0], file)
        content[0] = with_commands_last(text) if file.is_relative_to(REPOSITORY / "training") else text


def with_commands_last(text: str) -> str:
    r"""Return Markdown of a study with what was found first: its commands, and what wrote it, stand at the end.

    Those of a section stay in it.

    >>> with_commands_last("Written by `x`; all is in y.\n\n```bash\nrun\n```\n\nIt is so.\n")
    'It is so.\n\n## How to run it\n\nWritten by `x`; all is in y.\n\n```bash\nrun\n```\n'
    """
    first, section, others = text.partition("\n## ")
    commands = re.compile(r"^(?:Written by `[^\n]*|```bash\n(?:(?!```)[^\n]*\n)*```)\n+", re.MULTILINE)
    blocks = [block.strip() for block in commands.findall(first)]
    text = commands.sub("", first) + section + others
    return "\n\n".join([text.strip(), "## How to run it", *blocks]) + "\n" if blocks else text


def docstring(app: object, kind: str, name: str, object_: object, options: object, lines: list[str]) -> None:
    """Show what a metric returns as a list of names, as its arguments are."""
    if kind == "class" and name.count(".") == 3:
        lines[:] = ["Results:" if line == "Returns:" else line.replace("|", r"\|") for line in lines]


def signature(app: object, kind: str, name: str, object_: object, options: object, text: str, returns: str) -> tuple:
    """Return a signature whose defaults are code: `notify=ignore`, not `<function ignore>`."""
    return re.sub(r"<function (\w+)>", r"\1", text) if text else text, returns


def finish(app: object, page: str, template: str, context: dict, doctree: object) -> None:
    """Set tables for phones, keep --options on one line, and write a colon after an argument in place of hyphens."""
    import tables

    if "body" in context:
        body = re.sub(r"(</strong>(?: \((?:(?!</strong>).)*?\))?) -- ", r"\1: ", context["body"])
        body = re.sub(r"(?<=[\s>])--[a-z][a-z-]*", r'<span class="whole">\g<0></span>', body)
        context["body"] = tables.for_phones(body)


def setup(app) -> None:
    """Connect the functions above with Sphinx."""
    app.connect("autodoc-process-docstring", docstring, priority=100)  # before napoleon
    app.connect("autodoc-process-signature", signature)
    app.connect("builder-inited", generate)
    app.connect("include-read", include_read)
    app.connect("html-page-context", finish)
