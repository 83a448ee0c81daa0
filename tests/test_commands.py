"""What all commands have in common: exit status, messages, help."""

import json

import pytest
from genqa_metrics.cli import app
from genqa_metrics.terminal.console import SHOWN_BAD_ROWS
from typer.testing import CliRunner

VERBS = ("score", "compare", "agree", "raters", "explain", "export", "demo")
ROWS = [
    {
        "id": str(number),
        "system": system,
        "prediction": text,
        "references": ["four steps"],
        "score": len(text),
    }
    for number in range(6)
    for system, text in (("a", "four steps"), ("b", f"{number} steps"))
]
RATED = [{"item": str(n // 2), "rater": str(n % 2), **row, "score": n % 3} for n, row in enumerate(ROWS)]


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(lines(ROWS))
    return path


def command(verb, rows, *arguments):
    """Return the exit status, standard output and standard error of a verb."""
    inputs = {
        "explain": ["who?", "--prediction", "it", "--reference", "it"],
        "compare": [rows, "--resamples", "100"],
        "agree": [rows, "--resamples", "100"],
    }
    done = CliRunner().invoke(app, [str(word) for word in (verb, *inputs.get(verb, [rows]), *arguments)])
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("verb", "option"),
    [
        ("score", "--output"),
        ("compare", "--json"),
        ("compare", "--markdown"),
        ("compare", "--latex"),
        ("compare", "--html"),
        ("agree", "--json"),
        ("agree", "--markdown"),
        ("agree", "--html"),
        ("explain", "--html"),
        ("raters", "--output"),
    ],
)
def test_a_missing_folder_is_bad_usage_in_every_command(verb, option, rows, tmp_path):
    file = tmp_path / "none" / ("a.csv" if option == "--output" else "a.html")
    status, out, said = command(verb, rows, option, file)
    assert (status, out) == (2, "")
    assert "there is no folder" in said
    assert said.count(f"Try 'genqa-metrics {verb} --help'.") == 1


@pytest.mark.parametrize("verb", ["compare", "agree", "explain"])
def test_a_folder_for_a_file_is_bad_usage(verb, rows, tmp_path):
    status, _, said = command(verb, rows, "--html", tmp_path)
    assert status == 2
    assert "is a folder; name a file in it" in said


@pytest.mark.parametrize("verb", ["score", "compare", "agree", "raters"])
def test_a_bad_row_fails_alike_in_every_command(verb, rows):
    rows.write_text(lines(RATED) + "{\n")
    status, out, said = command(verb, rows)
    assert (status, out) == (1, "")
    assert said.startswith("error: ")
    assert said.count("--on-error skip leaves bad rows out.") == 1
    assert "Try 'genqa-metrics" not in said


@pytest.mark.parametrize("verb", ["score", "compare", "agree", "raters"])
def test_skipped_rows_are_listed_once_and_then_counted(verb, rows):
    bad = SHOWN_BAD_ROWS + 5
    rows.write_text(lines(RATED) + "{\n" * bad)
    options = ["-m", "aev"] if verb != "raters" else []
    status, _, said = command(verb, rows, "--on-error", "skip", *options)
    assert status == 0, said
    listed = [line for line in said.splitlines() if line.startswith("skipped: ")]
    assert len(listed) == SHOWN_BAD_ROWS + 1
    assert listed[-1] == "skipped: ... and 5 more"
    assert len(set(listed)) == len(listed)


@pytest.mark.parametrize("verb", ["score", "compare", "agree", "raters", "explain"])
def test_messages_never_control_the_terminal(verb, rows, tmp_path):
    evil = "\x1b]0;title\x07\x9b2J"
    name = tmp_path / f"none{evil}" / "a.csv"
    for arguments in (["--output", name], ["--html", name], ["--column", f"{evil}=x"], ["--set", evil]):
        status, out, said = command(verb, rows, *arguments)
        assert status == 2
        assert not {"\x1b", "\x07", "\x9b"} & set(out + said)


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_has_help_with_its_exit_status(verb):
    done = CliRunner().invoke(app, [verb, "--help"])
    assert done.exit_code == 0
    assert verb == "demo" or "0 done, 1 failed, 2 bad usage" in " ".join(done.stdout.split())


def test_explain_and_score_have_the_same_default_metric():
    texts = ["who?", "--prediction", "it", "--reference", "it"]
    explained = CliRunner().invoke(app, ["explain", *texts])
    assert explained.exit_code == 0
    assert CliRunner().invoke(app, ["explain", *texts, "--metric", "ava"]).stdout == explained.stdout
    from genqa_metrics.rows.items import RowKind
    from genqa_metrics.scale.options import default_metrics

    assert default_metrics(RowKind(sets=False, ceiling=False, text="question")) == ("ava",)


@pytest.mark.parametrize("verb", ["accuracy", "calibrate", "label"])
def test_settings_of_a_metric_that_is_not_computed_are_refused(verb, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text(lines(ROWS))
    more = ["--output", str(tmp_path / "labels.jsonl")] if verb == "label" else []
    result = CliRunner().invoke(app, [verb, str(rows), "--set", "aev.alpha=0.3", *more])
    assert result.exit_code == 2
    told = " ".join(result.stderr.split())
    assert "--set: expected ava.SETTING=VALUE, got a setting of aev, which is not computed here" in told


def test_label_reads_what_the_other_commands_read(tmp_path):
    """Rows inside a document, which `doctor` proposes to label."""
    (tmp_path / "runs.json").write_text(
        json.dumps({"runs": [{"items": [row | {"question": "How many?"} for row in ROWS]}]})
    )
    labels = tmp_path / "labels.jsonl"
    more = ["--rows-at", "runs[*].items", "--number", "2", "--uniform-share", "1", "--output", str(labels)]
    result = CliRunner().invoke(app, ["label", str(tmp_path / "runs.json"), *more], input="y\nn\n")
    assert result.exit_code == 0, result.output
    assert len(labels.read_text().splitlines()) == 2
