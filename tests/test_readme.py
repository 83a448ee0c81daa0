"""What the README shows is what happens."""

import contextlib
import io
import json
import re
import shlex

import genqa_metrics
import pytest


@pytest.fixture(scope="module")
def readme(repository):
    return (repository / "README.md").read_text()


def test_quick_start_prints_what_it_says(readme):
    code, output = re.search(r"## Quick start.*?```python\n(.*?)```\s+```text\n(.*?)```", readme, re.DOTALL).groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    assert printed.getvalue() == output


def test_cards_run(repository):
    """The first example of every metric card, executed."""
    for name in genqa_metrics.METRICS:
        card = (repository / "metrics" / name / "README.md").read_text()
        exec(re.search(r"```python\n(.*?)```", card, re.DOTALL)[1], {})


def test_every_metric_is_in_the_tables(readme):
    for name in genqa_metrics.METRICS:
        assert f"metrics/{name}/README.md" in readme


def test_paths_and_links_exist(readme, repository):
    for target in re.findall(r"\]\(([^)#:]+)\)", readme):
        assert (repository / target).exists(), target
    tests = {path.name: path.read_text() for path in (repository / "tests").glob("test_*.py")}
    assert set(re.findall(r"`(test_\w+\.py)`", readme)) <= set(tests)
    for name in re.findall(r"`(test_\w+)`", readme):
        assert any(f"def {name}" in text for text in tests.values()), name


def test_speed_is_what_the_results_say(readme, repository):
    results = repository / "tests" / "programs" / "benchmarks" / "results"
    aev = json.loads((results / "aev.json").read_text())
    bleu, rouge, bare = (row["times_as_fast"] for row in json.loads((results / "f_meta.json").read_text())["results"])
    kpqa = json.loads((results / "kpqa.json").read_text())
    assert f"one text at a time | {kpqa['times_as_fast_as_the_loop']:.1f} |" in readme
    ava = json.loads((results / "ava.json").read_text())
    assert f"one triple at a time | {ava['times_as_fast_as_the_loop']:.1f} |" in readme
    assert f"AVA judges {ava['answers_a_second_and_core']} answers" in readme
    assert f"a million in {ava['core_hours_a_million_answers']:.1f} core-hours" in readme
    assert f"spends {100 * kpqa['share_of_time_in_the_models']:.0f}% of its time" in readme
    assert f"| {aev['peers_together_over_aev_grid']:.1f} | {aev['peak_mib_by_pairs']['100000']} MiB beside" in readme
    assert f"same values to 1e-15 | {bleu:.0f} |" in readme
    assert f"| {rouge:.0f} ({bare} against its bare" in readme


def test_commands_are_those_of_the_command_line(readme):
    from genqa_metrics.toolkit.cli import app
    from typer.testing import CliRunner

    commands = re.findall(r"^genqa-metrics (.*)$", readme, re.MULTILINE)
    assert commands
    for command in commands:
        arguments = [word for word in shlex.split(command) if word != "--help"]
        options = [word for word in arguments if word.startswith("--")]
        shown = CliRunner().invoke(app, [arguments[0], "--help"], terminal_width=200).output
        assert all(option in shown for option in options), command


def test_settings_files_that_pages_name_are_there(repository):
    """A settings file that is renamed leaves commands that fail."""
    pages = [path for folder in ("metrics", "training", "spaces") for path in (repository / folder).rglob("*.md")]
    named = [
        (page.relative_to(repository).as_posix(), name)
        for page in [repository / "README.md", *pages]
        for name in re.findall(r"\b\w+\.args\b", page.read_text(encoding="utf-8"))
    ]
    known = {path.name for path in (repository / "training").rglob("*.args")}
    assert len(named) > 10
    assert [(page, name) for page, name in named if name not in known] == []
