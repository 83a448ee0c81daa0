"""One contract for all verbs: files, exit status, messages, every form of a report, and the same numbers in Python."""

import base64
import io
import json
import re
from hashlib import sha256

import genqa_metrics
import pandas
import pytest
from genqa_metrics.cli import app
from genqa_metrics.terminal import SHOWN_BAD_ROWS
from rich.console import Console
from typer.testing import CliRunner

from tests.factories.cases import with_cases
from tests.factories.files import lines, numbers, run, save

ROWS = [
    {"id": f"{number}", "item": f"{number // 2}", "rater": f"{number % 2}", "score": number % 3, "label": number % 2}
    | {"question": f"How many steps are in test {number}?", "prediction": text, "references": ["four steps"]}
    | {"system": system, "by": number % 2}
    for number in range(12)
    for system, text in (("a", "four steps"), ("b", f"{number} steps"))
]
RATED = [row | {"item": f"{place // 2}", "rater": f"{place % 2}"} for place, row in enumerate(ROWS)]
RESAMPLES = ["--resamples", "100"]
OPTIONS = {
    "score": ["-m", "aev"],
    "compare": ["-m", "aev", *RESAMPLES],
    "agree": ["-m", "aev", *RESAMPLES],
    "accuracy": ["-c", "judge=by"],
}
IN_PYTHON = {
    "score": lambda rows: genqa_metrics.score(rows, "aev"),
    "compare": lambda rows: genqa_metrics.compare(rows, "aev", resamples=100),
    "agree": lambda rows: genqa_metrics.agree(rows, metrics="aev", resamples=100),
    "accuracy": lambda rows: genqa_metrics.accuracy(rows, columns={"judge": "by"}),
}
FILES = {"score": ("latex", "html"), "explain": ("html",)}
FILES |= dict.fromkeys(("compare", "agree", "accuracy"), ("json", "markdown", "latex", "html"))
EXPLAINED = ["who?", "--prediction", "it", "--reference", "it"]


@pytest.fixture
def rows(tmp_path):
    return save(tmp_path / "rows.jsonl", RATED)


def command(verb, *arguments):
    """Return the exit status, standard output and standard error of a verb."""
    words = EXPLAINED if verb == "explain" else OPTIONS.get(verb, [])
    done = CliRunner().invoke(app, [str(word) for word in (verb, *words, *arguments)])
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize(("verb", "form"), [(verb, form) for verb, forms in FILES.items() for form in forms])
def test_a_file_that_cannot_be_written_is_bad_usage(verb, form, rows, tmp_path):
    inputs = [] if verb == "explain" else [rows]
    for place, problem in ((tmp_path / "none" / "a.x", "there is no folder"), (tmp_path, "is a folder; name a file")):
        status, out, said = command(verb, *inputs, f"--{form}", place)
        assert (status, out) == (2, "")
        assert problem in said
        assert said.count(f"Try 'genqa-metrics {verb} --help'.") == 1


@pytest.mark.parametrize("verb", OPTIONS)
@with_cases
def test_bad_usage(verb, arguments, problem, rows):
    places = {"rows": rows, "none": rows.with_name("none.jsonl")}
    status, out, said = command(verb, *(word.format(**places) for word in arguments))
    assert (status, out) == (2, "")
    assert problem in " ".join(said.split())


@pytest.mark.parametrize("verb", ["score", "compare", "agree", "accuracy", "calibrate", "label"])
def test_settings_of_a_metric_that_is_not_computed_are_refused(verb, rows, tmp_path):
    problem = "--set: expected ava.SETTING=VALUE, got a setting of f_meta, which is not computed here"
    if verb in ("score", "compare", "agree"):  # where other metrics can be computed too
        problem = "f_meta: has settings but is not computed; add --metric f_meta"
    more = ["--output", tmp_path / "labels.jsonl"] if verb == "label" else []
    status, _, said = command(verb, rows, "--set", "f_meta.base=bleu", *more)
    assert status == 2
    assert problem in " ".join(said.split())


@pytest.mark.parametrize("verb", OPTIONS)
def test_bad_rows_fail_or_are_listed_and_then_counted(verb, rows):
    bad = SHOWN_BAD_ROWS + 5
    rows.write_text(lines(RATED) + "{\n" * bad)
    status, out, said = command(verb, rows)
    assert (status, out) == (1, "")
    assert f"error: {rows}, line {len(RATED) + 1}: not JSON" in said
    assert said.count("--on-error skip leaves bad rows out.") == 1
    assert "Try 'genqa-metrics" not in said
    status, _, said = command(verb, rows, "--on-error", "skip")
    assert status == 0, said
    listed = [line for line in said.splitlines() if line.startswith("skipped: ")]
    assert len(set(listed)) == len(listed) == SHOWN_BAD_ROWS + 1
    assert listed[-1] == "skipped: ... and 5 more"


@pytest.mark.parametrize("verb", OPTIONS)
def test_no_rows_are_an_error(verb, rows):
    rows.write_text("\n")
    status, out, said = command(verb, rows)
    assert (status, out) == (1, "")
    assert re.search("error: .*no (row|rating)", said)


@pytest.mark.parametrize("verb", [*OPTIONS, "explain"])
def test_messages_never_control_the_terminal(verb, rows, tmp_path):
    evil = "\x1b]0;title\x07\x9b2J"
    name = tmp_path / f"none{evil}" / "a.csv"
    inputs = [] if verb == "explain" else [rows]
    for arguments in (["--output", name], ["--html", name], ["--column", f"{evil}=x"], ["--set", evil]):
        status, out, said = command(verb, *inputs, *arguments)
        assert status == 2
        assert not {"\x1b", "\x07", "\x9b"} & set(out + said)


@pytest.mark.parametrize("verb", IN_PYTHON)
def test_python_gives_what_the_command_prints_and_writes(verb, rows, tmp_path):
    """Whatever the rows are in, and however often: the same bytes."""
    written = []
    for number in "12":
        files = [f"--{form}={tmp_path / form}{number}" for form in FILES[verb]]
        status, out, said = command(verb, rows, "--format", "json", *files)
        assert status == 0, said
        written.append([out, *((tmp_path / f"{form}{number}").read_text() for form in FILES[verb])])
    assert written[0] == written[1]
    report = IN_PYTHON[verb](str(rows))
    assert report.to_dict() == json.loads(out)
    for form, text in zip(FILES[verb], written[0][1:], strict=True):
        assert getattr(report, f"to_{form}")().strip() == text.strip()
    for given in (RATED, pandas.DataFrame(RATED)):
        assert numbers(IN_PYTHON[verb](given).to_dict()) == numbers(report.to_dict())
    assert len(report.to_pandas()) > 0
    assert len(repr(report)) < 200
    assert "<table" in report._repr_html_()


@pytest.mark.filterwarnings("error::UserWarning")
@pytest.mark.parametrize("verb", IN_PYTHON)
def test_a_report_says_what_it_rests_on(verb, rows):
    found = IN_PYTHON[verb](str(rows))
    content = found.to_dict()
    assert content.get("genqa_metrics", genqa_metrics.__version__) == genqa_metrics.__version__
    facts = {genqa_metrics.__version__, *content.get("signatures", {}).values()}
    for entry in content.get("inputs", ()):
        assert entry == {"name": rows.name, "sha256": sha256(rows.read_bytes()).hexdigest(), "rows": len(RATED)}
        facts.add(entry["sha256"])
    _, shown, _ = command(verb, rows, "--verbose")
    for text in (found.to_markdown(), found.to_latex(), found.to_html().replace("<wbr>", ""), shown):
        for fact in facts:
            assert fact in " ".join(text.split())


@pytest.mark.parametrize("verb", IN_PYTHON)
def test_the_first_screen_has_at_most_30_lines(verb, rows):
    """What the numbers rest on is there with --verbose, as the test above sees."""
    _, out, _ = command(verb, rows)
    assert 0 < len(out.splitlines()) <= 30 + 2 * (verb == "compare")  # with the rows that decide
    assert genqa_metrics.__version__ not in out
    assert "SHA-256" not in out


HOSTILE = "a\x1b]0;x\x07\x9b31m\u202eb\n# | *c* <img src=x> [d](http://e) $1 %&{} [bold]"


@pytest.mark.parametrize("verb", IN_PYTHON)
def test_hostile_texts_are_raw_in_no_form(verb):
    names = {"a": HOSTILE, "b": "=b"}
    made = [row | {"question": f"{row['question']} {HOSTILE}", "system": names[row["system"]]} for row in RATED]
    found = IN_PYTHON[verb](made)
    out = io.StringIO()
    found.show(Console(file=out, width=300, force_terminal=False))
    texts = {form: getattr(found, f"to_{form}")() for form in ("markdown", "latex", "html", "json")}
    texts |= {"terminal": out.getvalue(), "notebook": found._repr_html_(), "repr": repr(found)}
    for form, text in texts.items():
        assert not set(text) & set("\x1b\x07\x9b\u202e"), form
    for form in ("html", "notebook"):
        assert "<img" not in texts[form]
    assert "<img" not in texts["markdown"].replace("\\<img", "")
    assert "[d](" not in texts["markdown"]
    assert all(line.startswith(("%", "\\", " ")) or not line for line in texts["latex"].splitlines())
    json.loads(texts["json"])
    page = texts["html"]
    scripts = re.findall("<script>(.*?)</script>", page, re.DOTALL)  # that of the row viewer, by its digest
    has_viewer = '<section class="viewer"' in page
    assert len(scripts) == has_viewer == (verb in ("score", "compare", "agree", "accuracy"))
    allowed = [f"sha256-{base64.b64encode(sha256(script.encode()).digest()).decode()}" for script in scripts]
    assert all(f"script-src '{digest}'" in page for digest in allowed)
    page = re.sub("<script>.*?</script>", "", page, flags=re.DOTALL)
    assert page.count("<script") == page.count('<script type="application/json">') == has_viewer  # the rows
    assert "default-src 'none'; style-src 'unsafe-inline'" in page
    assert not re.search(r'(src|href)="(?!#)', page)
    for tag in ("table", "div", "section", "details", "ul", "p", "h2", "h3", "svg"):
        assert len(re.findall(f"<{tag}[ >]", page)) == page.count(f"</{tag}>"), tag


def test_label_reads_what_the_other_commands_read(tmp_path):
    """Rows inside a document, which `doctor` proposes to label."""
    (tmp_path / "runs.json").write_text(json.dumps({"runs": [{"items": ROWS}]}))
    labels = tmp_path / "labels.jsonl"
    more = ["--rows-at", "runs[*].items", "--number", "2", "--uniform-share", "1", "--output", labels]
    run("label", tmp_path / "runs.json", *more, input="y\nn\ny\nn\n")
    assert len(labels.read_text().splitlines()) == 4


def test_a_setting_that_is_typed_as_an_option_is_answered_by_set():
    _, told = run("score", "rows.jsonl", "--checkpoint", "base", status=2)
    assert "--set ava.checkpoint=base" in " ".join(told.split())


def test_a_warning_is_one_sentence_without_the_place_in_the_code(tmp_path):
    """Rows that were judged before, whose verdicts are read again while a page is served or a report is made."""
    rows = [{"question": "Who won?", "references": ["Ann"], "prediction": text} for text in ("Ann", "Bo")]
    judged = tmp_path / "judged.jsonl"
    run("score", save(tmp_path / "rows.jsonl", rows), "-o", judged)
    _, told = run("view", judged, "--html", tmp_path / "page.html")
    assert "note: ava: 2 rows judged before, by the same judge" in told
    assert ".py" not in told
