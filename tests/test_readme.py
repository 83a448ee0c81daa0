"""What the README shows is what happens, and its numbers are those that were measured."""

import json
import re
import shlex

import genqa_metrics
import pytest

from tests.factories.pages import Page, is_same, run_command

COMPARED = ("AVA", "ROUGE-L-KPQA", "AEv, content", "ROUGE-L", "BERTScore")
DEMO = "<!-- lines of `genqa-metrics demo` -->"


@pytest.fixture(scope="module")
def readme(repository):
    return (repository / "README.md").read_text()


@pytest.fixture(scope="module")
def agreement(repository):
    """Pearson's r with people on the two data sets of the table, by metric."""
    path = repository / "training/studies/meta_evaluation/results/meta_evaluation.json"
    sets = json.loads(path.read_text(encoding="utf-8"))["sets"]
    return {
        data: {name: f"{found['metrics'][name]['pearson']['value']:.2f}" for name in COMPARED}
        for data, found in sets.items()
        if data in ("evouna_nq", "kpqa_marco")
    }


def test_blocks_print_what_the_readme_shows(repository, monkeypatch):
    monkeypatch.chdir(repository)
    page = Page(repository / "README.md")
    page.text = page.text.partition(DEMO)[0] + page.text.partition(DEMO)[2].partition("```text")[2].partition("```")[2]
    page.run()
    assert page.ran == 3
    assert [(block.code, printed) for block, printed in page.differences] == []


def test_demo_prints_these_lines(readme):
    """In this order; other lines stand between them."""
    shown = re.search(f"{re.escape(DEMO)}\\n```text\\n(.*?)```", readme, re.DOTALL)[1].splitlines()
    printed = iter(run_command(["genqa-metrics", "demo"]).splitlines())
    assert len(shown) == 9
    for line in shown:
        assert any(is_same(line, candidate.rstrip()) for candidate in printed), line


def test_agreement_and_speed_of_the_table_are_measured(readme, agreement, repository):
    long, sentences = agreement["evouna_nq"], agreement["kpqa_marco"]
    names = {"AVA": "AVA", "KPQA": "ROUGE-L-KPQA", "AEv": "AEv, content"}
    results = repository / "tests/programs/benchmarks/results"
    ava, kpqa, aev = (json.loads((results / f"{name}.json").read_text()) for name in ("ava", "kpqa", "aev"))
    speed = {
        "AVA": f"{ava['answers_a_second_and_core']:.0f}",
        "KPQA": f"{kpqa['rows'] / kpqa['processor_seconds']['kpqa_all_scores']:.0f}",
        "AEv": f"{round(aev['pairs'] / aev['seconds']['aev_grid_44_cells'], -3):,.0f}",
    }
    plain = readme.replace("**", "")
    for name, peer in names.items():
        row = re.search(rf"\| \[{name}\].*?\| ([\d.]+) \| ([\d.]+) \| ([\d,]+) \|", plain)
        assert row.groups() == (long[peer], sentences[peer], speed[name]), name
    for peer in ("ROUGE-L", "BERTScore"):
        assert f"| {peer} | {long[peer]} | {sentences[peer]} |" in plain


def test_limits_of_the_judge_are_those_of_its_card(readme, repository):
    card = (repository / "metrics/ava/checkpoint/README.md").read_text(encoding="utf-8")
    found = re.search(r"\| evouna together \| ([\d.]+) \|.*?\| evouna together \| ([\d.]+) \|", card, re.DOTALL)
    assert f"{100 * float(found[1]):.1f}% of verdicts" in readme
    assert f"off by {100 * float(found[2]):.1f} points" in readme
    for kind in ("name", "word_order"):
        passed, of = re.search(rf"\| {kind} \| (\d+) \| (\d+) \|", card).groups()
        assert re.search(rf"{passed}\s+of {of}\b", readme), kind
    accuracy = re.search(r"\| scientsbank.dev \| ([\d.]+) \|", card)[1]
    assert f"{100 * float(accuracy):.0f}% of the time" in readme


def test_intervals_hold_as_often_as_measured(readme, repository):
    path = repository / "training/studies/accuracy/results/accuracy.json"
    found = json.loads(path.read_text(encoding="utf-8"))
    means = [one["active"] for one in found["means"]["not seen by the judge"].values()]
    held, narrower = (sorted(100 * one[name] for one in means) for name in ("held", "narrower"))
    assert f"With {found['labels']} labels" in readme
    assert f"truth in {held[0]:.0f}% to {held[1]:.0f}% of" in readme
    assert f"{narrower[0]:.0f}% to {narrower[1]:.0f}%\nnarrower" in readme


def test_the_card_of_grounding_has_its_measured_speed(repository):
    found = json.loads((repository / "tests/programs/benchmarks/results/grounding.json").read_text(encoding="utf-8"))
    card = (repository / "metrics/grounding/README.md").read_text(encoding="utf-8")
    assert (
        f"{found['answers']:,} answers of 5 sentences over 5 passages of 150 words take {found['seconds']:.0f} s"
        in card
    )
    assert f"takes {found['times_as_fast_as_the_loop']:.1f} times as long" in card


def test_cards_run(repository):
    """The first example of every metric card, executed."""
    for name in genqa_metrics.METRICS:
        card = (repository / "metrics" / name / "README.md").read_text()
        exec(re.search(r"```python\n(.*?)```", card, re.DOTALL)[1], {})


def test_the_card_of_grounding_shows_what_explain_prints(repository, monkeypatch):
    monkeypatch.chdir(repository)
    page = Page(repository / "metrics/grounding/README.md")
    page.text = re.sub(r"```python\n.*?```", "", page.text, flags=re.DOTALL)  # which test_cards_run runs
    page.run()
    assert page.ran == 1
    assert [(block.code, printed) for block, printed in page.differences] == []


def test_every_metric_is_in_the_tables(readme):
    for name in genqa_metrics.METRICS:
        assert f"metrics/{name}/README.md" in readme


def test_paths_and_links_exist(readme, repository):
    targets = re.findall(r"\]\(([^)#:]+)\)", readme) + re.findall(r'src(?:set)?="([^"]+)"', readme)
    for target in targets:
        assert (repository / target).exists(), target


def test_the_index_of_papers_names_files_and_tests(repository):
    page = (repository / "spaces/docs/pages/reference/papers.md").read_text(encoding="utf-8")
    for path in re.findall(r"`(training/[\w/]+\.py)`", page):
        assert (repository / path).exists(), path
    tests = {path.name: path.read_text() for path in (repository / "tests").glob("test_*.py")}
    assert set(re.findall(r"`(test_\w+\.py)`", page)) <= set(tests)
    for name in re.findall(r"`(test_\w+)`", page):
        assert any(f"def {name}" in text for text in tests.values()), name


def test_speed_is_what_the_results_say(repository):
    page = (repository / "spaces/docs/pages/results/6-speed.md").read_text(encoding="utf-8")
    results = repository / "tests" / "programs" / "benchmarks" / "results"
    aev = json.loads((results / "aev.json").read_text())
    bleu, rouge, bare = (row["times_as_fast"] for row in json.loads((results / "f_meta.json").read_text())["results"])
    kpqa = json.loads((results / "kpqa.json").read_text())
    assert f"one text at a time | {kpqa['times_as_fast_as_the_loop']:.1f} |" in page
    ava = json.loads((results / "ava.json").read_text())
    assert f"one triple at a time | {ava['times_as_fast_as_the_loop']:.1f} |" in page
    assert f"AVA judges {ava['answers_a_second_and_core']} answers" in page
    assert f"a million in {ava['core_hours_a_million_answers']:.1f} core-hours" in page
    assert f"spends {100 * kpqa['share_of_time_in_the_models']:.0f}% of its time" in page
    assert f"| {aev['peers_together_over_aev_grid']:.1f} | {aev['peak_mib_by_pairs']['100000']} MiB beside" in page
    assert f"same values to 1e-15 | {bleu:.0f} |" in page
    assert f"| {rouge:.0f} ({bare} against its bare" in page


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
