"""`genqa-metrics compare`: which rows belong together, the numbers, what is written, what is said about bad input."""

import json
import re
from dataclasses import replace
from itertools import combinations

import genqa_metrics
import numpy as np
import pytest
from genqa_metrics.aev import scoring
from genqa_metrics.reports import table
from genqa_metrics.rows.errors import FileError
from genqa_metrics.scale.options import ScoreOptions
from genqa_metrics.scale.run import Run
from genqa_metrics.verbs.compare.analysis import most_different

from tests.factories.cases import tables, with_cases
from tests.factories.explained import on_console
from tests.factories.files import questions_of, save
from tests.factories.files import run as command

QUESTIONS = tables(__name__)["questions"]
ANSWERS = tables(__name__)["answers"]


def rows(system):
    return [
        {"id": f"q{number}", "question": question, "references": references, "prediction": answer}
        for number, ((question, references), answer) in enumerate(zip(QUESTIONS, ANSWERS[system], strict=True))
    ]


@pytest.fixture
def files(tmp_path):
    return [save(tmp_path / f"{system}.jsonl", rows(system)) for system in ANSWERS]


def report(paths, metrics=("aev",), resamples=200, **options):
    return genqa_metrics.compare([str(path) for path in paths], metrics, resamples=resamples, **options).to_dict()


def run(*arguments, **options):
    """Run the command; return (standard output, standard error)."""
    more = [] if {"--metric", "-m", "--column", "-c"} & set(arguments) else ["--metric", "aev"]
    return command("compare", *arguments, *more, **options)


UNIGRAMS = {"max_order": 1}


def row_scores(system):
    settings = scoring.Settings(**UNIGRAMS)
    statistics = scoring.statistics(ANSWERS[system], [r for _, r in QUESTIONS], settings)
    return scoring.scores(statistics, settings, effective_order=True)["aev"].tolist()


def without_inputs(found):
    return {name: value for name, value in found.items() if name not in ("inputs", "matched_by")}


@pytest.mark.parametrize("name", ["answers", "questions"])
def test_scores_are_those_of_score(name, repository):
    """Of single answers and of sets of questions, whose scores of a corpus are no means of rows."""
    path = repository / f"metrics/examples/{name}.jsonl"
    metrics = ["aev"] if name == "answers" else ["aev", "f_meta"]
    found = report([path], metrics)
    for metric, by_system in Run([str(path)], ScoreOptions(metrics)).score().scores.items():
        for system, values in by_system.items():
            scores = {score: found["metrics"][metric]["scores"][score][system]["value"] for score in values}
            assert scores == pytest.approx(values, abs=1e-4)
    assert (found["questions"], found["text"]) == {"answers": (44, "question"), "questions": (14, "context")}[name]


def test_pairs_and_outcomes(files):
    """Question by question with AEv of single words: good has more of the reference than bad in all four."""
    found = report(files, settings={"aev": UNIGRAMS})
    assert found["systems"] == ["good", "bad", "middling"]
    pairs = found["metrics"]["aev"]["tests"]["aev"]["pairs"]
    assert [(pair["first"], pair["second"]) for pair in pairs] == list(combinations(found["systems"], 2))
    assert (pairs[0]["wins"], pairs[0]["ties"], pairs[0]["losses"]) == (4, 0, 0)
    for pair in pairs:
        first, second = (row_scores(pair[side]) for side in ("first", "second"))
        signs = [(a > b) - (a < b) for a, b in zip(first, second, strict=True)]
        assert [pair["wins"], pair["ties"], pair["losses"]] == [signs.count(1), signs.count(0), signs.count(-1)]
        scores = found["metrics"]["aev"]["scores"]["aev"]
        value = scores[pair["first"]]["value"] - scores[pair["second"]]["value"]
        assert pair["difference"]["value"] == pytest.approx(value, abs=1e-5)


def test_equal_differences_by_hand(tmp_path):
    """Five questions, all won by 0.1."""
    for system, plus in (("a", 0.1), ("b", 0.0)):
        save(tmp_path / f"{system}.jsonl", [{"id": i, "f1": 0.1 * i + plus} for i in range(5)])
    found = report([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], (), 20_000, score_columns=["f1"])
    assert found["matched_by"] == "id"
    entry = found["metrics"]["f1"]
    assert entry["scores"]["f1"]["a"]["value"] == pytest.approx(0.3)
    (pair,) = entry["tests"]["f1"]["pairs"]
    # Equal differences show no error. A difference of -1 in 1 - .025^(1/5) = .52 of the questions would not have
    # been seen with 2.5%: the limits are .48 * .1 +- .52. In five questions nothing has a p below 2 / 2^5.
    unseen = 1 - 0.025 ** (1 / 5)
    low, high = (0.1 * (1 - unseen) + sign * unseen for sign in (-1, 1))
    assert pair["difference"] == pytest.approx({"value": 0.1, "low": low, "high": high}, abs=1e-6)
    assert (pair["p_uncorrected"], pair["wins"]) == (1, 5)
    assert found["notes"] == ["only 5 questions: only clear differences can be told from chance"]


def test_one_file_with_a_column_system_is_the_same(files, tmp_path):
    together = save(tmp_path / "all.jsonl", [{**row, "system": name} for name in ANSWERS for row in rows(name)])
    assert without_inputs(report([together])) == without_inputs(report(files))
    turned = save(tmp_path / "turned.jsonl", [{**row, "system": "bad"} for row in rows("bad")[::-1]])
    assert without_inputs(report([files[0], turned])) == without_inputs(report(files[:2]))


def test_rows_without_shared_ids_are_matched_by_question_and_references(files, tmp_path):
    """Ids that are unique in a file, or none; references in another order, blanks that do not matter."""
    other = [{**row, "id": f"bad-{i}"} for i, row in enumerate(rows("bad")[::-1])]
    other[0]["references"] = other[0]["references"][::-1]
    other[1]["question"] = f" {other[1]['question']}\n"
    found = report([files[0], save(tmp_path / "bad2.jsonl", [{**row, "system": "bad"} for row in other])])
    assert found["matched_by"] == "question and references"
    assert found["metrics"] == report(files[:2])["metrics"] | {
        "aev": report(files[:2])["metrics"]["aev"] | {"rows": found["metrics"]["aev"]["rows"]}
    }
    assert {row["id"] for row in found["metrics"]["aev"]["rows"]} == {None}


def test_repeated_questions_are_matched_in_their_order(tmp_path):
    for system, answers in (("a", "xy"), ("b", "yy")):
        lines = [{"question": "q", "references": "x", "prediction": answer} for answer in answers]
        save(tmp_path / f"{system}.jsonl", lines)
    (pair,) = report([tmp_path / "a.jsonl", tmp_path / "b.jsonl"])["metrics"]["aev"]["tests"]["aev"]["pairs"]
    assert (pair["wins"], pair["ties"]) == (1, 1)


def test_rows_without_questions_are_matched_by_their_order(tmp_path):
    def lines(answers, references):
        return [{"prediction": a, "references": r} for a, r in zip(answers, references, strict=True)]

    paths = [
        save(tmp_path / "a.jsonl", lines(("yes", "no", "no"), ("yes", "no", "yes"))),
        save(tmp_path / "b.jsonl", lines(("yes", "yes", "yes"), ("yes", "no", "yes"))),
    ]
    found = report(paths)
    assert found["matched_by"] == "order of the rows and references"
    assert found["questions"] == 3
    save(paths[1], lines(("yes", "yes", "yes"), ("yes", "yes", "no")))
    with pytest.raises(FileError, match=r"b\.jsonl, line 2: has the references .* but .*a\.jsonl, line 2"):
        report(paths)


def test_rows_that_differ_equally_are_told_apart_by_labels_and_the_judge():
    verdicts = np.array([[1.0, 0.0, 0.0]] * 10 + [[0.0, 0.0, 0.0]] * 10)
    sure = np.where(verdicts == 1, 0.7, 0.2)
    sure[7], sure[4] = (0.99, 0.01, 0.01), (0.9, 0.1, 0.1)
    assert most_different(verdicts, 2, sure) == [7, 4]
    assert most_different(verdicts, 4, sure) == [7, 4, 0, 1]
    assert most_different(verdicts[:, :2], 2, None, np.arange(20) == 5) == [5, 0]
    assert most_different(np.array([[1.0, 0.0], [0.9, 0.0], [0.8, 0.0], [0.0, 0.1], [0.3, 0.3]]), 2) == [0, 3]


def test_too_few_permutations_are_said(tmp_path):
    rng = np.random.default_rng(0)
    lines = [{"id": i, "system": f"s{j}", "f1": float(rng.random() + j)} for j in range(12) for i in range(40)]
    path = save(tmp_path / "many.jsonl", lines)
    found = report([path], (), 1000, score_columns=["f1"])
    assert found["notes"] == [
        "with 66 tests and 1000 bootstrap samples hardly a corrected p can be below 0.05; use --resamples 2640"
    ]
    ranks = found["metrics"]["f1"]["tests"]["f1"]["systems"]
    assert {entry["cluster"] for entry in ranks.values()} == {1}
    found = report([path], (), 2640, score_columns=["f1"])
    ranks = found["metrics"]["f1"]["tests"]["f1"]["systems"]
    assert [ranks[f"s{j}"]["cluster"] for j in range(12)] == list(range(12, 0, -1))
    assert found["notes"] == []


def test_a_wide_table_fits_a_narrow_terminal():
    """Intervals go below their values, then columns into a second part; in a pipe every row stays one line."""
    header = ["system", *(f"score_{i}" for i in range(8))]
    wide = table.Table("t", header, [["a", *["0.500 [0.400, 0.610]"] * 8], ["b", *["0.300 [0.200, 0.410]"] * 8]])
    for width in (80, 1000):
        out = on_console(lambda console: table.print_table(wide, console), width)
        lines = out.splitlines()
        assert max(map(len, lines)) <= min(width, 200)
        assert out.count("0.500") == out.count("[0.400, 0.610]") == 8
        assert (len([line for line in lines if line.startswith("a ")]) > 1) == (width == 80)


def test_a_table_says_with_which_tests_its_p_values_are_corrected(files):
    report = genqa_metrics.compare(list(map(str, files[:2])), ["aev", "kpqa"], resamples=100)
    said = re.findall(r"Two-sided paired bootstrap tests; p (.*?)[,.]", report.to_markdown())
    assert said == [
        *["corrected for 2 tests by main scores (Holm)"] * 2,
        "not corrected: no other test by second scores",
        "not corrected: no other test by third scores",
    ]


def test_questions_that_differ(files, tmp_path):
    lines = rows("bad")
    other = [*lines[:2], {**lines[2], "question": "where is Bern?"}, *lines[3:]]
    path = save(tmp_path / "other.jsonl", other)
    _, err = run(files[0], path, status=1)
    assert "other.jsonl, line 3: is about 'where is Bern?', but" in err
    assert "good.jsonl, line 3, about 'where is Zürich?'" in err
    assert "--on-error skip" in err
    path = save(path, [{k: v for k, v in row.items() if k != "id"} for row in other])
    _, err = run(files[0], path, status=1)
    assert "other.jsonl, line 3: 'where is Bern?' is not among the rows of system 'good'" in err
    path = save(path, [{**lines[2], "references": ["Bern"], "id": "q2"}, lines[0], lines[1], lines[3]])
    _, err = run(files[0], path, status=1)
    assert "other.jsonl, line 1: has the references ['Bern'], but" in err


def test_questions_that_some_systems_lack(files, tmp_path):
    path = save(tmp_path / "short.jsonl", rows("bad")[:3])
    _, err = run(files[0], path, status=1)
    assert "good.jsonl, line 4: id 'q3' 'when did it sink?' is not among the rows of system 'short'" in err
    out, err = run(files[0], path, "--on-error", "skip", "--resamples", 100, "--format", "json")
    found = json.loads(out)
    assert found["questions"] == 3
    assert found["left_out"] == {"bad rows": 0, "questions that not all systems answer": 1}
    assert "skipped: " in err
    _, err = run(save(tmp_path / "none.jsonl", [{**rows("bad")[0], "id": "x", "question": "?"}]), path, status=1)
    assert "none.jsonl" in err


@with_cases
def test_errors(systems, arguments, status, said, tmp_path):
    made = {"a": rows("good"), "b": rows("bad")} | systems
    paths = [save(tmp_path / f"{name}.jsonl", lines) for name, lines in made.items() if lines is not None]
    _, err = run(*paths, *arguments, status=status)
    assert said in err


def test_too_many_systems(tmp_path):
    path = save(tmp_path / "many.jsonl", [{"id": 1, "system": f"s{i}", "f": 1.0} for i in range(101)])
    with pytest.raises(FileError, match="at most 100 systems, got 101"):
        report([path], (), score_columns=["f"])


def test_rows_with_a_question_are_compared_by_a_metric_that_reads_it(files):
    """Right long answers against wrong short ones: AEv alone ranks them the other way round."""
    found = genqa_metrics.compare([str(path) for path in files], resamples=100)
    assert list(found.metrics) == ["ava"]
    plain = {name: [{"prediction": text, "references": "x"}] * 3 for name, text in (("a", "x"), ("b", "y"))}
    assert list(genqa_metrics.compare(plain, resamples=100).metrics) == ["aev"]


def test_skipped_rows_are_counted_by_system_and_left_out_for_all(files, tmp_path):
    refused = [{**row, "prediction": None} if i < 2 else row for i, row in enumerate(rows("bad"))]
    path = save(tmp_path / "refuses.jsonl", refused)
    out, _ = run(files[0], path, "--on-error", "skip", "--resamples", 100, "--format", "json")
    found = json.loads(out)
    assert found["questions"] == 2
    assert found["skipped_rows"] == {"refuses": 2}
    note = "bad rows were skipped (refuses 2), and their questions for all systems: 2 questions are left"
    assert any(found.startswith(note) for found in found["notes"])


def test_rows_matched_by_their_order_cannot_be_skipped(tmp_path):
    """Without questions or ids, behind a skipped row every row would be compared with the wrong one."""
    good = [{"references": "yes", "prediction": text} for text in ("yes", "no", "yes")]
    paths = [save(tmp_path / "a.jsonl", good), save(tmp_path / "b.jsonl", [{"references": "yes"}, *good[1:]])]
    _, err = run(*paths, "--on-error", "skip", status=1)
    assert "the order of the rows no longer shows which of them belong together" in err


def labelled_rows(known=20):
    """Answers of two systems, one right and one wrong, to 20 questions; people label those to the first ones."""
    return [
        {"question": f"how many steps has {n}?", "references": ["four steps"], "system": system, "prediction": text}
        | {"label": int((n + (system == "b")) % 3 > 0) if n < known else None}
        for n in range(20)
        for system, text in (("a", "four steps"), ("b", "seven steps"))
    ]


def test_labels_of_people_are_what_is_tested():
    """Where people labelled every answer, table, difference and p are those of the labels, not of the verdicts."""
    rows = labelled_rows()
    found = genqa_metrics.compare(rows, "ava", resamples=200)
    assert list(found.tests["ava"]) == ["accuracy", "ava_score"]
    assert {system: values["value"] for system, values in found.scores["ava"]["accuracy"].items()} == {
        system: values["accuracy"] for system, values in found.metrics["ava"]["accuracy"]["systems"].items()
    }
    assert found.findings == [
        "b leads a by 5 points, but this could be chance. 95% interval: -36 to +46 points, p 0.801."
    ]
    assert "All 40 answers have labels, which decide." in str(found)
    shown = [row for asked in questions_of(found.to_html()) for row in asked["rows"]]
    assert [row["label"] for row in shown] == [row["label"] for row in rows]
    assert {(row["verdict"], row["label"]) for row in shown} == {(0, 0), (0, 1), (1, 0), (1, 1)}
    without = genqa_metrics.compare([row | {"label": None} for row in rows], "ava", resamples=200)
    assert next(iter(without.tests["ava"])) == "accuracy"
    assert re.fullmatch("No labels: the judge AVA .* is assumed to err as often as on other data.", without.headline)
    assert without.headline.replace("`", "") in without.to_markdown()
    assert without.headline in without.to_html()


def untold_rows(**more):
    texts = {"Who won?": ("Ann", "Bob"), "When?": ("1912", "1915"), "Where?": ("In Paris", "In Rome")}
    return [
        {"question": question, "references": [right], "prediction": text, "system": system} | more
        for question, (right, wrong) in texts.items()
        for system, text in (("good", right), ("bad", wrong))
    ]


def test_no_system_wins_where_how_many_are_right_cannot_be_told():
    report = genqa_metrics.compare(untold_rows(), resamples=200)
    why = "Too few questions: 3 questions, an interval needs 5 with labels."
    assert report.findings == [f"No winner: the accuracy cannot be told. {why} Judged right: good 3 of 3, bad 0 of 3."]
    assert "good is significantly better" not in report.to_html() + str(report)
    assert "good 3 of 3 cannot tell" in " ".join(str(report).split())
    page = report.to_html()
    assert "judged right, not accuracy" in page
    assert '<line class="interval"' not in page
    assert page.count("he judge was measured on") == 1
    assert "interval, cannot tell" not in page
    assert "Of the verdicts as they are" in page


def test_labels_of_all_answers_to_few_questions_are_what_is_counted():
    """The judge accepts 3 answers of good and none of bad; people say otherwise."""
    rows = [row | {"label": int(n in (0, 1, 3))} for n, row in enumerate(untold_rows())]
    report = genqa_metrics.compare(rows, resamples=200)
    finding = "No winner: too few questions. Labelled right: bad 2 of 3, good 1 of 3."
    assert report.findings == [finding]
    assert "differ, by people's labels: bad better on 1, good on 0" in str(report)
    page = report.to_html()
    assert "share that people call right" in page
    assert "ava_accuracy: pairs" not in page + report.to_markdown()
    assert [row[:2] for row in report.tables()[0].rows] == [["bad", "2 of 3"], ["good", "1 of 3"]]


def test_the_closest_pair_is_that_of_the_labels_where_people_labelled_all():
    """By verdicts good and copy are closest; by labels copy and bad, with 2 and 3 right answers of 3."""
    third = [row | {"system": "copy"} for row in untold_rows() if row["system"] == "good"]
    labels = {"good": [0, 0, 0], "bad": [1, 1, 1], "copy": [1, 1, 0]}
    rows = [*untold_rows(), *third]
    rows = [row | {"label": of.pop()} for row in rows for of in [labels[row["system"]]]]
    report = genqa_metrics.compare(rows, resamples=200)
    assert report.metrics["ava"]["deciding"] == {"bad": 1, "copy": 0}


def test_rows_without_a_label_count_by_verdicts_and_the_screen_says_so():
    rows = [row | {"question": f"{row['question']} ({n})", "label": None} for row in untold_rows() for n in range(5)]
    some = [row | {"label": int(row["system"] == "good")} if row["question"][-2] in "01" else row for row in rows]
    shown = " ".join(str(genqa_metrics.compare(some, resamples=200)).split())
    assert "differ, by people's labels, else the judge's verdicts: good better on 15, bad on 0" in shown


def test_a_system_without_an_estimate_is_not_tested_and_the_others_are_named():
    """Two of three systems have labels, so one test is made; the third one's answers are too long for an estimate."""
    texts = {"right": "in {n}", "wrong": "in 3{n}", "long": " ".join(["word"] * 300)}
    rows = [
        {"question": f"when was race {n}?", "references": [f"in {n}"], "system": system}
        | {"prediction": text.format(n=n), "label": {"right": 1, "wrong": 0}.get(system)}
        for n in range(1000, 1020)
        for system, text in texts.items()
    ]
    report = genqa_metrics.compare(rows, "ava", resamples=200)
    shown = " ".join(str(report).split())
    assert (
        "right is significantly better than wrong, by 100 points. 95% interval: +66 to +100 points, p <0.001. "
        in shown
    )
    assert "The accuracy of long cannot be told, so long may be better." in shown
    assert "corrected" not in shown.partition("p below 0.05")[2]
    assert "wrong leads long" not in shown
    assert report.settings["tests"] == 1


def test_a_large_lead_that_can_be_chance_is_not_called_close():
    def finding(**right):
        rows = [
            {"question": f"q{n}", "references": ["four"], "prediction": "four", "system": system}
            | {"label": int(n in of)}
            for n in range(40)
            for system, of in right.items()
        ]
        return genqa_metrics.compare(rows, "ava", resamples=200).findings[0]

    good, fair, bad = range(24), range(20, 36), range(34, 36)
    assert finding(good=good, fair=fair).startswith("good leads fair by 20 points, but this could be chance. 95% ")
    assert "). good and fair are significantly better than bad." in finding(good=good, fair=fair, bad=bad)
    assert "Too close to call: good is ahead of near" in finding(good=good, near=range(1, 24))
    assert "No two of the 3 systems differ significantly. good leads fair" in finding(good=good, fair=fair, near=good)


@pytest.mark.parametrize(
    ("labelled", "step"),
    [
        (
            {"a": range(12), "b": range(12)},
            "Label 30 answers of every system: genqa-metrics label FILE --number 30 -o labels.jsonl, then: "
            "genqa-metrics compare FILE --labels labels.jsonl.",
        ),
        (
            {"a": range(25), "b": range(20, 40)},
            "Label the other 35 answers: genqa-metrics label FILE --number 40 -o labels.jsonl",
        ),
        ({"a": range(40), "b": range(40)}, "Add questions: with 40, a lead below about 28 points is hardly ever "),
    ],
)
def test_the_next_step_is_labels_where_answers_have_none(labelled, step):
    rows = [
        {"question": f"q{n}", "references": ["four"], "prediction": "four" if n % 3 else "five", "system": system}
        | {"label": int((n + (system == "b")) % 3 > 0) if n in labelled[system] else None}
        for n in range(40)
        for system in labelled
    ]
    (found,) = genqa_metrics.compare(rows, "ava", resamples=200).next_steps
    assert found.startswith(step)


@pytest.mark.parametrize("by_label", [True, False])
def test_the_next_step_goes_on_with_a_file_that_label_wrote(by_label, tmp_path):
    """Its name is quoted; `label` refuses a file of labels that it did not write, so no command names one."""
    rows = [
        {"id": str(n), "question": f"What is {n} plus 1?", "references": [str(n + 1)], "system": system}
        | {"prediction": str(n + 1 + (n % 3 == 0 if system == "a" else n % 4 == 0))}
        for system in "ab"
        for n in range(20)
    ]
    labels = [row | {"label": int(row["prediction"] == row["references"][0])} for row in rows if int(row["id"]) < 12]
    if by_label:
        labels = [row | {"item": row["id"], "rater": "me"} for row in labels]
    file = save(tmp_path / "my labels.jsonl", labels)
    report = genqa_metrics.compare(save(tmp_path / "rows.jsonl", rows), "ava", labels=str(file), resamples=100)
    assert any(f"label FILE --number 20 -o '{file}'" in step for step in report.next_steps) == by_label


def test_a_page_begins_with_one_finding():
    """A second metric's stands with its table; ranks and clusters are left to the other forms."""
    report = genqa_metrics.compare(untold_rows(), ["ava", "aev"], resamples=200)
    (before, after), (first, second) = report.to_html().split("</header>"), report.conclusions
    assert f'<p class="finding">{first.sentence}</p>\n<p class="sure">{first.certainty}' in before
    assert str(second) in after
    assert str(second) not in before
    assert "luster" not in after
    assert first.sentence not in replace(report, conclusions=report.conclusions[1:]).to_html()


def test_verdicts_rank_no_system_where_the_accuracy_cannot_be_told():
    third = [row | {"system": "third"} for row in untold_rows() if row["system"] == "good"]
    rows = [row | {"question": f"{row['question']} ({n})"} for row in [*untold_rows(), *third] for n in range(3)]
    report = genqa_metrics.compare(rows, resamples=200)
    table = report.tables()[0]
    assert "ranks" not in table.header
    assert not table.marked
    assert "differences of all pairs" not in report.to_html()


def compared(means, **options):
    """60 questions on which systems have these mean scores; the noise of each is its own, and its mean is 0."""
    noise = np.random.default_rng(0).normal(0, 0.1, (60, len(means)))
    scores = noise - noise.mean(axis=0) + list(means.values())
    rows = [
        {"id": str(n), "system": system, "points": score}
        for n, of_row in enumerate(scores.tolist())
        for system, score in zip(means, of_row, strict=True)
    ]
    return genqa_metrics.compare(rows, score_columns="points", **options), scores


@with_cases
def test_a_finding_names_what_is_decided_and_what_is_not(means, said):
    assert compared(dict(zip("abcd", means, strict=False)))[0].findings[0].endswith(said)


def test_nothing_is_bold_where_no_system_is_significantly_worse():
    close, clear = (
        compared(dict(zip("abc", means, strict=True)))[0] for means in ([0.51, 0.5, 0.505], [0.9, 0.5, 0.2])
    )
    assert [close.tables()[0].marked, clear.tables()[0].marked] == [set(), {0}]
    assert "Bold: the first" not in close.tables()[0].explanation
    assert ["Bold: the first" in report.to_html() for report in (close, clear)] == [False, True]


def test_a_finding_of_many_systems_with_long_names_is_short():
    names = [f"a model with a long name and a version, number {n:02}" for n in range(20)]
    (finding,) = compared({name: 0.5 + 0.06 * (n // 4) + n / 1e4 for n, name in enumerate(names)})[0].findings
    assert "too close to call" in finding
    assert "further pairs differ significantly" in finding
    assert len(finding) < 3 * 95


def test_the_rows_shown_are_of_the_closest_pair_that_may_be_the_best():
    """Of a, b and c, which may be the best, b and c are the closest; d and e, which are closer, are worse."""
    report, scores = compared({"a": 0.53, "b": 0.505, "c": 0.5, "d": 0.1, "e": 0.1}, rows=2)
    shown = str(report).partition("Where b and c differ")[2]
    assert [line.split()[1] for line in shown.splitlines() if line.startswith("  ")][:2] in (["b", "c"], ["c", "b"])
    apart = scores[:, 1] - scores[:, 2]
    assert {row["row"] - 1 for row in report.rows["points"]} == {apart.argmax(), apart.argmin()}


def test_verdicts_that_differ_significantly_are_said_with_what_cannot_be_told():
    rows = [row | {"question": f"{row['question']} ({n})"} for row in untold_rows() for n in range(8)]
    for n, row in enumerate(rows):
        row["references"] = [f"{row['references'][0]} {'word ' * 60}"] if n % 2 else row["references"]
    assert genqa_metrics.compare(rows, resamples=400).findings == [
        "No winner: the accuracy cannot be told. 24 of 48 references have an unusual length for this "
        "judge. Judged right: good 24 of 24, bad 0 of 24.",
        "By verdicts alone good is significantly ahead of bad, but the judge can err more on one system than on "
        "another.",
    ]


def test_the_screen_has_every_tested_pair_and_says_how_many_rows_decide():
    """Of three systems that of b and c, which the table leaves out; of eight the first significant ones."""
    report, scores = compared({"a": 0.51, "b": 0.5, "c": 0.2}, rows=4)
    shown = str(report)
    (pair,) = (pair for pair in report.tests["points"]["points"]["pairs"] if pair["first"] == "b")
    value, low, high = pair["difference"].values()
    assert f"b leads c by {value:.3f} [{low:.3f}, {high:.3f}], p <0.001" in shown
    wins, losses = (scores[:, 0] > scores[:, 1]).sum(), (scores[:, 0] < scores[:, 1]).sum()
    said = f"a better on {wins}, b on {losses} (4 of {wins + losses} shown"
    assert f"Where a and b, the two closest, differ, by points: {said}" in shown
    heights = {"a": 0.51, "b": 0.5, "c": 0.2}
    fits, every = (str(compared(heights, rows=rows)[0]).splitlines() for rows in (None, 20))
    assert len(fits) <= 30 < len(every)
    assert f"of {wins + losses} shown; all: --rows {wins + losses})" in " ".join(fits)
    many, _ = compared({f"s{place}": 0.9 - 0.1 * place for place in range(8)}, rows=0)
    said = [line for line in str(many).splitlines() if " leads s" in line]
    assert [line.split(" by ")[0] for line in said] == [f"s1 leads s{place}" for place in (2, 3, 4)]
    assert "18 more pairs: --verbose" in str(many)
    assert "1 more pair, none significant: --verbose" in str(compared({"a": 0.5, "b": 0.2, "c": 0.2})[0])


def test_the_screen_says_where_the_judge_does_not_help():
    """A judge that accepts every answer of a moves no estimate of it; of b it knows each answer."""
    rows = [
        {"question": f"how many steps has {n}?", "references": ["four steps"], "system": system, "id": f"{n}"}
        | {"prediction": "four steps" if system == "a" or n % 2 else "seven steps"}
        | {"label": (int(n % 3 > 0) if system == "a" else n % 2) if n < 40 else None}
        for n in range(80)
        for system in ("a", "b")
    ]
    report = genqa_metrics.compare(rows, "ava", rows=0)
    assert report.metrics["ava"]["accuracy"]["systems"]["b"]["basis"] == "labels and judge"
    assert "(a: labels alone)" in report.tables()[0].explanation
    assert "Agresti-Caffo" in report.settings["interval"]
    labelled = [row for row in rows if row["label"] is not None]
    assert "labels alone" not in genqa_metrics.compare(labelled, "ava").tables()[0].explanation


@pytest.mark.parametrize(
    ("labelled", "said"), [(20, "people's labels"), (14, "people's labels, else the judge's verdicts")]
)
def test_rows_say_whose_verdicts_they_show(labelled, said):
    shown = str(genqa_metrics.compare(labelled_rows(labelled), "ava", resamples=200, rows=20))
    assert "(judge" not in "".join(shown.partition("Where ")[2].splitlines()[:4]), "people's labels first"
    assert f" differ, by {said}: " in shown
    assert ("wrong (judge, <0.01)  b" in shown) == (labelled < 20)


@pytest.mark.parametrize("number", [0, 5, 6])
def test_too_few_rows_that_differ_are_not_tested(number):
    """Of 40 rows: the sign test of 5 rows cannot be below .0625, that of 6 rows can."""
    lines = [
        {"id": n, "system": system, "f1": float(system == "a" or n >= number), "other": float(system == "a")}
        for n in range(40)
        for system in "ab"
    ]
    report = genqa_metrics.compare(lines, score_columns=["f1", "other"], resamples=200, rows=0)
    said = f"too few ({number})"
    (pair,) = report.tests["f1"]["f1"]["pairs"]
    assert (pair["differing"], report.tests["other"]["other"]["pairs"][0]["differing"]) == (number, 40)
    assert pair["p_corrected"] > 0.05 or number == 6
    verbose = on_console(report.show_all)
    texts = [str(report), verbose, report.to_markdown(), report.to_html(), report.to_latex()]
    for text in [" ".join(text.split()) for text in texts]:
        assert (said in text) == (number < 6)
    said = "a is ahead of b, but only 5 questions differ; a test needs 6."
    assert report.findings[0].endswith(said) == (number == 5)
    assert not any("a test needs" in text for text in report.findings[1:])


def test_rows_of_one_question_differ_once():
    """Five questions of eight rows, of 40 rows each."""
    lines = [
        {"id": n, "question": f"q{n // 8}", "system": system, "f1": 1 - "abc".index(system) * (n // 8 < 5) / 2}
        | {"references": ["x"], "prediction": "x"}
        for n in range(80)
        for system in "abc"
    ]
    report = genqa_metrics.compare(lines, score_columns=["f1"], resamples=200, rows=0)
    assert report.to_html().count("too few (5)") == 3, "the table of tests"
    assert "Too few: questions on which the two differ; a test needs 6." in " ".join(str(report).split())
