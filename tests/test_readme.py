"""What the README shows is what happens, and its numbers are those that were measured."""

import json
import re
import shlex

import genqa_metrics
import pytest
from genqa_metrics.ava.scorer import RIGHT_ON_LONG
from genqa_metrics.cli import app
from typer.testing import CliRunner

from tests.factories.pages import Page, is_same, run_command
from training.ava import measure_judges

DEMO = "<!-- `genqa-metrics demo` -->"
AGREEMENT = "training/studies/meta_evaluation/results/meta_evaluation.json"
AGREEMENT_SETS = ["evouna_nq", "evouna_tq", "kpqa_marco", "kpqa_narrativeqa"]  # in the order of the table
SETS = ["evouna_nq", "assistant", "written", "beetle", "scientsbank"]  # in the order of the table of judges


@pytest.fixture(scope="module")
def readme(repository):
    return (repository / "README.md").read_text()


def test_blocks_print_what_the_readme_shows(repository, monkeypatch):
    monkeypatch.chdir(repository)
    page = Page(repository / "README.md")
    page.text = page.text.partition(DEMO)[0] + page.text.partition(DEMO)[2].partition("```text")[2].partition("```")[2]
    page.run()
    assert page.ran == 2
    assert [(block.code, printed) for block, printed in page.differences] == []


def test_demo_prints_what_the_readme_shows(readme):
    shown = re.search(f"{re.escape(DEMO)}\\n```text\\n(.*?)```", readme, re.DOTALL)[1]
    assert is_same(shown, run_command(["genqa-metrics", "demo"]))


def rows_of_tables(text):
    """Return {first cell: further cells} of all rows of tables, without marks of code and bold and counts of rows."""
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return {re.sub(r"[`*]| \([\d,]+\)$", "", first.strip()): [re.sub(r"[`*]", "", cell).strip() for cell in cells]
            for first, *cells in lines}  # fmt: skip


def test_the_table_of_judges_is_measured(readme, repository):
    """What each needs, and its accuracy on sets of rows."""
    needs = json.loads((repository / "tests/programs/benchmarks/results/judges.json").read_text(encoding="utf-8"))
    judges = json.loads((repository / "training/ava/results/judges.json").read_text(encoding="utf-8"))["judges"]
    shown = {name.partition(",")[0]: cells for name, cells in rows_of_tables(readme).items()}
    for line in needs["results"]:
        scores = measure_judges.scores(judges[line["judge"]]["sets"])
        accuracies = [f"{scores[name]['accuracy']:.0%}" for name in SETS]
        measured = [f"{line['start, s']} s", f"{line['memory, MB']:,} MB", f"{line['long answers a second']}"]
        assert shown[line["judge"]][1:] == measured + accuracies
        assert accuracies[SETS.index("assistant")] == RIGHT_ON_LONG[line["judge"]]
    small, base, large = (line["long answers a second"] for line in needs["results"])
    pages = [
        repository / "spaces/docs/pages" / name for name in ("explanation/1-which-metric.md", "how-to/6-languages.md")
    ]
    which, languages = (page.read_text(encoding="utf-8") for page in pages)
    assert round(small / base) == 7
    assert "seven times the time" in which
    for text in (which, languages):
        assert f"about {small / large:.0f} times" in text
    both = measure_judges.scores(measure_judges.escalated(judges["base"], judges["large"])["sets"])
    assert f"{both['written']['accuracy']:.0%} on the hard answers" in " ".join(readme.split())


def test_pages_say_how_many_minimal_pairs_of_word_order_pass(repository):
    judges = json.loads((repository / "training/ava/results/judges.json").read_text(encoding="utf-8"))["judges"]
    right, number = judges["small"]["pairs"]["word_order"]
    for page in ("metrics/ava/README.md", "spaces/docs/pages/explanation/3-judge-limits.md"):
        assert f"{right} of {number} such minimal pairs" in (repository / page).read_text(encoding="utf-8")


def test_pages_say_how_far_small_agrees_on_evouna_and_by_what_it_is_deceived(repository):
    pages = {
        page: " ".join((repository / page).read_text(encoding="utf-8").split())
        for page in (
            "training/ava/README.md",
            "spaces/docs/pages/explanation/3-judge-limits.md",
            "spaces/ava/about.md",
        )
    }
    readme, limits, about = pages.values()
    result = json.loads((repository / "training/ava/results/small.json").read_text(encoding="utf-8"))
    evouna = measure_judges.scores(result["judges"]["small"]["sets"])["evouna"]
    accuracy, error = evouna["accuracy"], evouna["error of systems"]
    assert f"agrees with {accuracy:.3f}".replace("0.", ".") in readme
    assert f"off by {error:.3f} on average".replace("0.", ".") in readme
    assert f"agrees with people on {accuracy:.1%} of answers" in limits
    assert f"off by {100 * error:.1f} points" in limits
    assert f"On {evouna['rows']:,} short factual answers (EVOUNA)" in about
    assert f"agree with people's on {accuracy:.1%}" in about
    result = json.loads((repository / "training/ava/results/judges.json").read_text(encoding="utf-8"))
    families = result["judges"]["small"]["families"]
    of = {name: f"{errors['accepted']} of {errors['wrong']}" for name, errors in families.items()}
    assert f"{of['deceptions.addressed']} answers that only link" in limits
    assert f"{of['deceptions.doubted']} that doubt it" in limits
    assert f"{of['deceptions.about']} that only speak about it" in limits
    deceptions = [errors for name, errors in families.items() if name.startswith("deceptions.")]
    accepted, wrong = (sum(errors[name] for errors in deceptions) for name in ("accepted", "wrong"))
    assert f"`small` accepts {accepted} of {wrong} wrong answers" in readme


def test_the_table_of_agreement_is_measured(readme, repository):
    sets = json.loads((repository / AGREEMENT).read_text(encoding="utf-8"))["sets"]
    shown = {name.partition(",")[0]: cells for name, cells in rows_of_tables(readme).items()}
    for name in ("ROUGE-L", "BERTScore", "ROUGE-L-KPQA", "AVA"):
        values = [sets[data]["metrics"][name]["pearson"]["value"] for data in AGREEMENT_SETS]
        assert shown[name] == [f"{value:.2f}" for value in values]


@pytest.mark.usefixtures("word_judge")
def test_cards_run(repository):
    """The first example of every metric card, executed."""
    for name in genqa_metrics.METRICS:
        card = (repository / "metrics" / name / "README.md").read_text()
        exec(re.search(r"```python\n(.*?)```", card, re.DOTALL)[1], {})


@pytest.mark.usefixtures("word_judge")
def test_the_card_of_grounding_shows_what_explain_prints(repository, monkeypatch):
    """But for what another judge says: the probabilities, its errors, and the sentences that it flags."""
    monkeypatch.chdir(repository)
    page = Page(repository / "metrics/grounding/README.md")
    page.text = re.sub(r"```python\n.*?```", "", page.text, flags=re.DOTALL)  # which test_cards_run runs
    page.run()
    assert page.ran == 1
    ((block, printed),) = page.differences
    for line in (-1, 4, 5):
        assert block.code.splitlines()[line].split()[0] == printed.splitlines()[line].split()[0]


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


def test_commands_are_those_of_the_command_line(readme):
    commands = re.findall(r"^genqa-metrics (.*)$", readme, re.MULTILINE)
    assert commands
    for command in commands:
        arguments = [word for word in shlex.split(command) if word != "--help"]
        options = [word for word in arguments if word.startswith("--")]
        shown = CliRunner().invoke(app, [arguments[0], "--help"], terminal_width=200).output
        assert all(option in shown for option in options), command


def test_settings_files_that_pages_name_are_there(repository):
    """A settings file that is renamed leaves commands that fail; MPNET stands for files of an earlier commit."""
    pages = [path for folder in ("metrics", "training", "spaces") for path in (repository / folder).rglob("*.md")]
    named = [
        (page.relative_to(repository).as_posix(), name)
        for page in [repository / "README.md", *pages]
        for name in re.findall(r"(?<!MPNET/)\b\w+\.args\b", page.read_text(encoding="utf-8"))
    ]
    known = {path.name for path in (repository / "training").rglob("*.args")}
    assert len(named) > 10
    assert [(page, name) for page, name in named if name not in known] == []
