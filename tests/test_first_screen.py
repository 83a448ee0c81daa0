"""What `score` shows first: the finding, one number a quantity, and the answers to read."""

import json
import re
from functools import cache
from types import SimpleNamespace

import genqa_metrics
import pytest
from genqa_metrics.ava.scorer import AvaScorer
from genqa_metrics.core.scorer import Scorer
from genqa_metrics.registry import scorer_class
from genqa_metrics.reports.excerpt import judged_lines, why_to_read
from genqa_metrics.scale.options import ScoreOptions
from genqa_metrics.scale.run import Run
from genqa_metrics.scale.scoring import (
    AGREED,
    APART,
    DISAGREE,
    LOWEST,
    OTHER_WORDS,
    UNSURE,
    WRONG,
    answers_to_read,
)

from tests.factories.cases import with_cases
from tests.factories.files import questions_of, run, save

JUDGE = SimpleNamespace(thresholds={"p": 0.5}, verdict="v", evidence="references", doubts=Scorer.doubts)


def columns(probabilities, labels, threshold=0.5):
    rows = range(len(probabilities))
    same = {"file": "a.jsonl", "system": "s", "question": "?", "references": ["accepted"]}
    return {name: [value] * len(rows) for name, value in same.items()} | {
        "p": probabilities,
        "v": [int(value >= threshold) for value in probabilities],
        "label": labels,
        "line": [row + 1 for row in rows],
        "id": [f"q{row}" for row in rows],
        "prediction": [f"answer {row}" for row in rows],
    }


def lines_of(found, width=100, threshold=0.5):
    """Return the lines of the answers to read first."""
    return judged_lines(found.first, found.counts, width, threshold)


def test_every_kind_has_its_share_and_the_worst_comes_first():
    """Answers with a label that the judge agrees with need not be read: q4 is not listed, q6 is the last one."""
    labels = [0, 1, None, None, 1, None, 0]
    found = answers_to_read(columns([0.9, 0.1, 0.45, 0.02, 0.97, 0.03, 0.01], labels), 10, JUDGE)
    expected = {"q0": DISAGREE, "q1": DISAGREE, "q2": UNSURE, "q3": WRONG, "q5": WRONG, "q6": AGREED}
    assert {answer.id: answer.kind for answer in found.first} == expected
    assert [answer.id for answer in found.first] == list(expected)
    assert found.counts == {DISAGREE: 2, WRONG: 2, UNSURE: 1, LOWEST: 0, APART: 0, OTHER_WORDS: 0, AGREED: 1}


@pytest.mark.parametrize(
    ("unsure", "wrong", "expected"), [(20, 20, (10, 0)), (2, 20, (2, 8)), (9, 1, (9, 1)), (0, 3, (0, 3))]
)
def test_unsure_answers_come_before_surely_wrong_ones(unsure, wrong, expected):
    probabilities = [0.3 + 0.01 * row for row in range(unsure)] + [0.001 * row for row in range(wrong)]
    found = answers_to_read(columns(probabilities, [None] * len(probabilities)), 10, JUDGE)
    kinds = [answer.kind for answer in found.first]
    assert (kinds.count(UNSURE), kinds.count(WRONG)) == expected
    assert (found.counts[UNSURE], found.counts[WRONG]) == (unsure, wrong)


def test_a_few_of_the_surest_right_answers_are_read_the_least_probable_first():
    """Of an item too many and a lost condition, .98 and .99; equal words are left out, and labelled ones are known."""
    rows = columns([0.95, 0.98, 0.99, 0.97, 0.96] + [0.5] * 20, [None] * 4 + [1] + [None] * 20)
    rows["references"] = [["Utah and Ohio"]] * len(rows["p"])
    rows["prediction"] = ["Utah and Ohio.", "Utah and Ohio, Maine", "Ohio and some others", "utah AND ohio", "Maine"]
    rows["prediction"] += [f"answer {row}" for row in range(20)]
    found = answers_to_read(rows, 10, JUDGE)
    assert found.counts[OTHER_WORDS] == 2
    kinds = [answer.kind for answer in found.first]
    assert (kinds.count(UNSURE), kinds.count(OTHER_WORDS)) == (8, 2)
    assert [answer.id for answer in found.first[-2:]] == ["q1", "q2"]
    shown = [lines[0].split("  ")[0] for lines in lines_of(found)]
    assert shown == [
        " judge unsure, 0.1 to 0.9 (20)",
        *[" judge unsure, 0.1 to 0.9"] * 7,
        f" {OTHER_WORDS} (2)",
        f" {OTHER_WORDS}",
    ]


def test_of_the_surest_right_answers_those_with_a_doubt_come_first():
    """An item is missing in the second one; the first one has other words alone."""
    rows = columns([0.97, 0.98, 0.96], [None] * 3)
    rows["references"] = [["Utah, Ohio and Iowa"]] * 3
    rows["prediction"] = ["The three states that were named.", "Ohio and Iowa", "Iowa, Ohio and Utah"]
    found = answers_to_read(rows, 10, SimpleNamespace(**{**vars(JUDGE), "doubts": AvaScorer.doubts}))
    assert [(answer.id, answer.fault) for answer in found.first] == [
        ("q1", 'check: "Utah" is not in the answer'),
        ("q0", ""),
    ]
    shown = '   judged    right: check: "Utah" is not in the answer (probability of being right: 0.98)'
    assert lines_of(found)[0][-1] == shown


@pytest.mark.parametrize(("answer", "shown"), [("It was Graz.", "Graz"), ("In Upper Austria.", "in Upper Austria")])
def test_an_answer_stands_beside_the_nearest_accepted_one(answer, shown):
    rows = columns([0.4], [None])
    rows["references"] = [["Graz on the Danube", "Graz", "in Upper Austria"]]
    rows["prediction"] = [answer]
    (lines,) = lines_of(answers_to_read(rows, 10, JUDGE))
    assert lines[2] == f'   accepted  "{shown}"'


def test_the_command_that_says_why_has_each_setting_once(tmp_path):
    rows = save(tmp_path / "rows.jsonl", [{"question": "Who?", "prediction": "Bo Ray", "references": ["Ann Lee"]}])
    for setting in ("ava.threshold=0.6", "ava.rules=true"):
        out, _ = run("score", rows, "--set", setting)
        assert " ".join(out.split()).count(f"--set {setting}") == 1


def test_an_answer_that_is_given_in_several_epochs_is_listed_once_and_counted_each_time():
    rows = columns([0.3, 0.3, 0.3, 0.4, 0.01, 0.01], [None] * 6)
    rows["prediction"] = ["Ann", "Ann", "Ann", "Bo", "Cy", "Cy"]
    rows["system"] = ["s", "s", "t", "s", "s", "s"]
    parts = [answers_to_read({name: values[at] for name, values in rows.items()}, 10, JUDGE)
             for at in (slice(0, 2), slice(2, 6))]  # fmt: skip
    for found in (answers_to_read(rows, 10, JUDGE), parts[0] + parts[1]):
        assert [answer.id for answer in found.first] == ["q3", "q0", "q2", "q4"]
        assert (found.counts[UNSURE], found.counts[WRONG]) == (4, 2)


def test_a_probability_in_the_list_shows_on_which_side_of_the_threshold_it_is():
    values = [0.93, 0.5796, 0.57, 0.7, 0.004]
    judge = SimpleNamespace(**{**vars(JUDGE), "thresholds": {"p": 0.58}})
    found = answers_to_read(columns(values, [0, None, None, None, None], 0.58), 10, judge)
    chance = "(probability of being right: "
    assert [lines[-1].split("judged    ")[1] for lines in lines_of(found, 100, 0.58)] == [
        f"right {chance}0.93; right from 0.58); labelled wrong",
        f"wrong {chance}0.5796; right from 0.5800)",
        f"wrong {chance}0.57; right from 0.58)",
        f"right {chance}0.70; right from 0.58)",
        f"wrong {chance}<0.01; right from 0.58)",
    ]
    assert why_to_read(found.first[1], 0.58) == "unsure, judged wrong 0.5796"


def test_a_metric_of_words_lists_the_lowest_scores_and_those_that_are_far_apart_in_turns():
    texts = ("four steps", "six legs", "four legs", "four steps make all the difference here")
    rows = [{"prediction": text, "references": ["four steps"], "system": "s"} for text in texts]
    report = genqa_metrics.score(rows, "aev", worst=3)
    kinds = [(answer.prediction, answer.kind) for answer in report.results.to_read.first]
    assert kinds == [(texts[1], LOWEST), (texts[3], APART), (texts[2], LOWEST)]
    lines = str(report).partition("Read these first\n")[2].splitlines()
    assert lines[0] == '  line 2  s  aev 0.00  "six legs"; accepted "four steps"'
    assert re.fullmatch(r"  line 4  s  aev_precision 0\.\d+, aev_recall 1\.00", lines[1])
    assert lines[2] == f'      answer    "{texts[3]}"'
    shown = [row for asked in questions_of(report.to_html()) for row in asked["rows"]]
    assert [row["answer"] for row in shown] == [*texts]
    assert shown[3]["scores"]["aev_recall"] == 1.0


def test_sets_that_ask_least_come_first_with_what_they_do_not_ask(tmp_path):
    references = ["Who won?", "When was the race?", "Why did she run?"]
    sets = {"wide": ["who won ?", "when was the race ?", "why did she run ?"], "narrow": ["who won ?", "is it far ?"]}
    rows = [{"id": name, "references": references, "predictions": {"a": texts}} for name, texts in sets.items()]
    output = tmp_path / "scores.jsonl"
    settings = {"f_meta": {"base": "rouge", "threshold": 0.7}}
    report = genqa_metrics.score(rows, "f_meta", settings, output=str(output))
    (narrow,) = report.results.to_read.first
    assert (narrow.id, narrow.missing, why_to_read(narrow)) == ("narrow", references[1:], "asks 1 of 3")
    shown = 'asks 1 of 3 with 2 questions; not asked:\n      "When was the race?", "Why did she run?"\n'
    assert f'  context narrow  a  {shown}      asked besides: "is it far ?"\n' in str(report)
    assert r"When was the race? \| Why did she run?" in report.to_markdown()
    written = [json.loads(line)["f_meta_not_asked"] for line in output.read_text().splitlines()]
    assert written == [[], references[1:]] == report.to_pandas()["f_meta_not_asked"].tolist()
    assert not genqa_metrics.score(
        rows, "f_meta", {"f_meta": {"base": "bleu"}}
    ).results.to_read.first  # counts nothing


def test_that_the_order_depends_on_the_score_comes_first_and_the_lengths_of_answers_next():
    reference = "honey bees collect sweet pollen"
    texts = {"short": reference.removesuffix(" pollen"), "long": f"{reference} daily crossing northern rivers"}
    rows = [{"prediction": text, "references": [reference], "system": name} for name, text in texts.items()]
    order, pick, overlap = genqa_metrics.score(rows, "aev").findings
    assert order == "The order depends on the score: short is first by aev; long by aev_recall."
    pick_none = "Do not pick a system by these scores alone: "
    assert pick.startswith(f"{pick_none}answers differ in length (on average long 9, short 4 words), on which")
    assert genqa_metrics.score(rows[:1], "aev").findings == [overlap]
    assert genqa_metrics.compare(rows, "aev", resamples=100).findings[1:] == [order, pick, overlap]
    worse = {**rows[0], "system": "worse", "prediction": "honey bees eat sweet"}  # as long
    pick, highest = genqa_metrics.score([rows[0], worse], "aev").findings
    assert pick == pick_none + overlap[:1].lower() + overlap[1:]
    assert re.fullmatch(r"short has .*, ahead of worse, 0.\d+ \(1 row is too few to test\)\.", highest)


@with_cases
def test_a_score_that_compares_no_systems_ranks_none(rows, metrics, says, ranks):
    report = genqa_metrics.score(rows, metrics)
    text = " ".join(str(report).split())
    assert says in text
    assert "Aev:" not in text
    assert [line.split(", ")[0].split()[-1] for line in report.findings if "highest" in line] == ranks


@pytest.mark.usefixtures("word_judge")
def test_a_judge_that_errs_often_ranks_no_system_and_quotes_the_sentence_it_flags():
    passages = ["Plans can be cancelled at any time.", "No month is refunded."]
    rows = [
        {"question": "Can I cancel my plan?", "contexts": passages, "prediction": text, "system": text[:1]}
        for text in (f"{passages[0]} We refund every month.", passages[0], "")
    ]
    report = genqa_metrics.score(rows, "grounding")
    assert [finding.partition(":")[0] for finding in report.findings] == [
        "This judge of grounding errs",
        "Read the 1 flagged and 1 empty answers; the others can be unsupported too, so these counts rank no system.",
    ]
    assert '1 of 2 supported  "We refund every month."; passage 2 "No month is refunded."' in str(report)
    assert report.results.metrics["grounding"].flagged == {"P": "1 of 2", "rows": "0 of 0"}
    assert str(report).count("grounding errs") == report.to_html().count("grounding errs") == 1
    assert str(report).index("grounding errs") < str(report).index("\nsystem")


@cache
def shown(repository, *arguments, name="answers.jsonl"):
    return run("score", repository / "metrics/examples" / name, *arguments, env={"COLUMNS": "80"})[0]


def test_the_first_screen_has_the_finding_one_number_and_what_to_read(repository):
    text = shown(repository)
    lines = text.splitlines()
    assert len(lines) <= 36
    assert lines[:4] == [
        "chatty leads terse by 16 points, but this could be chance. 95% interval: -6 to",
        "+38 points.",
        "88 answers of 2 systems, judged by AVA (small). All 88 answers have labels,",
        "which decide.",
    ]
    groups = r"Read these first: 8 against the label; 23 judged wrong as labelled \(\d shown; all 31: --worst 31\)"
    assert re.search(groups, " ".join(lines))
    assert text.count("0.659") == text.count("0.818") == 1  # 29 and 36 of 44, what the labels say
    assert "0.59" not in text  # what the judge says beside them
    everything = shown(repository, "--verbose")
    assert all(name in everything for name in ("ava_wrong", "checkpoint:", "through"))


def test_a_line_says_what_the_accuracy_counts_and_whether_answers_are_long(repository, tmp_path):
    rows = [*map(json.loads, (repository / "metrics/examples/answers.jsonl").read_text().splitlines())]
    for place, row in enumerate(rows):
        row |= {"label": None if place % 4 else row["label"]}
    text = " ".join(run("score", save(tmp_path / "rows.jsonl", rows), env={"COLUMNS": "100"})[0].split())
    assert "Next: label the other 66 answers: genqa-metrics label" in text
    for row in rows[1::2]:  # of the system chatty
        row |= {"prediction": f"{row['prediction']} {'That is what the book says. ' * 8}"}
    text = " ".join(run("score", save(tmp_path / "rows.jsonl", rows), env={"COLUMNS": "100"})[0].split())
    assert "22 of 44, rest judged" in text  # beside the accuracy of terse
    assert "With fewer than 30 labels an interval is rough: terse 22." in text
    assert "The answers of chatty are long, and of long answers this judge gets" in text
    assert "terse: its answers" not in text


def test_the_number_of_answers_to_read_is_an_option(repository):
    words = "--metric", "aev", "--format", "json", "--worst"
    more, usual = (" ".join(shown(repository, *option).split()) for option in (("--worst", "10"), ()))
    assert " (10 shown; all " in more  # than the screen has room for
    assert " (10 shown; all " not in usual
    some, more = (json.loads(shown(repository, *words, number))["to_read"] for number in ("4", "40"))
    assert len(some) == 4
    assert len(more) > 20
    assert {"prediction", "references", "kind", "score", "label"} <= set(more[0])


def test_a_resumed_run_lists_the_same_answers(repository, tmp_path):
    path = str(repository / "metrics/examples/echo.jsonl")
    settings = {"metrics": ["ava"], "output": f"{tmp_path}/parts/", "part_rows": 5}
    first = Run([path], ScoreOptions(**settings)).score().to_read.first
    again = Run([path], ScoreOptions(**settings, resume=True)).score().to_read.first
    assert [answer.line for answer in again] == [answer.line for answer in first]
    assert len(first) == 8


@pytest.mark.parametrize("metric", ["ava", "kpqa", "aev"])
def test_explain_shows_why_the_first_answers_of_a_file_were_scored_so(repository, metric):
    path = repository / "metrics/examples/echo.jsonl"
    out, _ = run("explain", path, "-m", metric, "--worst", "2")
    assert out.count("Question  ") == 2
    assert re.search(r"e1-echo of Echo: judged .*; labelled wrong", out) or metric != "ava"
    told = run("explain", path, "-m", metric, "-o", "x.csv", status=2)[1]
    assert "--output: only grounding writes its sentences" in told


def test_explain_says_why_sets_have_low_scores_and_that_one_answer_needs_another_metric(repository):
    out, _ = run("explain", repository / "metrics/examples/questions.jsonl", "-m", "f_meta", "--worst", "1")
    assert out.count("Generated  ") > 1
    assert re.search(r"Reason +Covers \d of \d+ reference questions[^;]*; not asked: ", out)
    told = run("explain", "Who?", "-m", "f_meta", "--prediction", "Ann", "--reference", "Ann", status=2)[1]
    assert "f_meta says why of rows of files" in told


@pytest.mark.parametrize("metric", ["aev", "kpqa"])
@pytest.mark.parametrize("form", [[], ["--verbose"], ["--format", "markdown"]])
def test_one_row_whose_scores_are_far_apart_is_shown_and_a_missed_demand_is_status_3(metric, form, tmp_path):
    row = {"question": "Who wrote Emma?", "prediction": "It was Jane Austen, in the year 1815."}
    path = save(tmp_path / "one.jsonl", [row | {"references": ["Jane Austen"]}])
    shown, told = run(
        "score", path, "-m", metric, "--fail-under", f"{scorer_class(metric).main}=0.99", *form, status=3
    )
    assert "It was Jane Austen, in the year 1815." in shown
    assert "--fail-under" in told
