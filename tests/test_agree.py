"""The command `agree`: rows with human scores in, tables, JSON, Markdown and a page out."""

import genqa_metrics
import numpy as np
import pytest
from genqa_metrics.rows.errors import FileError
from genqa_metrics.statistics.intervals import wilson
from genqa_metrics.verbs.agree.measures import against_best, best_first
from genqa_metrics.verbs.agree.question_types import question_type
from scipy import stats
from sklearn.metrics import roc_auc_score

from tests.factories.cases import with_cases
from tests.factories.files import run, save


def agreed(inputs, **options):
    """Return the numbers of a run in types that JSON has."""
    return genqa_metrics.agree(inputs, **options).to_dict()


@pytest.fixture
def rows():
    """40 questions, each answered by two systems; `good` follows the humans, `weak` hardly, `flat` is constant."""
    rng = np.random.default_rng(4)
    made = []
    for number in range(40):
        easy = rng.random()
        for system in ("one", "two"):
            human = round(float(np.clip(0.6 * easy + 0.4 * rng.random(), 0, 1)), 2)
            asked = f"{('who', 'when', 'why')[number % 3]} is number {number}"
            row = {"question": asked, "prediction": "word " * (1 + number % 8), "references": ["word word", "other"]}
            row |= {"system": system, "source": "first" if number < 20 else "second", "score": human, "flat": 0.5}
            row["good"] = round(float(np.clip(human + 0.1 * rng.normal(), 0, 1)), 3)
            made.append(row | {"weak": round(float(rng.random() + 0.2 * human), 3)})
    return made


@pytest.fixture
def file(tmp_path, rows):
    return save(tmp_path / "rows.jsonl", rows)


@pytest.fixture
def report(file):
    return agreed([str(file)], score_columns=["weak", "good"], resamples=200)


def test_numbers_are_those_of_scipy_and_scikit_learn(report, rows):
    human, good = (np.array([row[name] for row in rows]) for name in ("score", "good"))
    found = report["metrics"]["good"]
    for kind, value in {
        "pearson": stats.pearsonr(good, human).statistic,
        "spearman": stats.spearmanr(good, human).statistic,
        "kendall": stats.kendalltau(good, human).statistic,
    }.items():
        assert found[kind]["value"] == pytest.approx(value, rel=1e-5)
        assert found[kind]["low"] < value < found[kind]["high"]
    correct = human >= (human.min() + human.max()) / 2
    assert report["human"]["share_correct"] == pytest.approx(correct.mean(), rel=1e-5)
    assert found["classifier"]["auc"]["value"] == pytest.approx(roc_auc_score(correct, good), rel=1e-5)
    assert best_first(report["metrics"]) == ["good", "weak"]
    assert report["worst"] == {}  # columns have no verdicts
    test = against_best(report["metrics"], report["differences"])["weak"]
    assert test["permutation_p"] < 0.01
    assert test["permutation_p"] == test["permutation_p_holm"]  # one pair of metrics, nothing to correct
    [pair] = report["differences"]
    for kind in ("pearson", "spearman"):
        weak, better = (report["metrics"][name][kind]["value"] for name in (pair["first"], pair["second"]))
        assert pair[kind]["value"] == pytest.approx(weak - better, abs=1e-5)
        assert -1 < pair[kind]["low"] < pair[kind]["value"] < pair[kind]["high"] < 0


def test_pairs_of_answers_and_of_systems(rows):
    """Counted by plain loops: the two answers to each question, and the two systems."""
    for row in rows[::4]:
        row["score"] = 0.0
    report = agreed(rows, score_columns=["weak", "good"], resamples=100)
    both, gap = zip(rows[::2], rows[1::2], strict=True), np.ptp([row["score"] for row in rows]) / 2
    pairs = [(a, b) for a, b in both if abs(a["score"] - b["score"]) > gap]
    assert report["rank_pairs"]["pairs"] == len(pairs) > 5
    for metric in ("weak", "good"):
        right = sum((a["score"] - b["score"]) * (a[metric] - b[metric]) > 0 for a, b in pairs)
        found = report["rank_pairs"]["metrics"][metric]
        assert found["value"] == pytest.approx(right / len(pairs), rel=1e-5)
        assert found["low"] < found["value"] < found["high"]
    means = {s: np.mean([row["score"] for row in rows if row["system"] == s]) for s in ("one", "two")}
    assert report["systems"]["human"] == pytest.approx(means, rel=1e-5)
    scores = report["systems"]["metrics"]["good"]
    agrees = (means["one"] - means["two"]) * (scores["one"] - scores["two"]) > 0
    assert report["systems"]["pairs"]["good"]["right"] == int(agrees)


def test_groups(report, rows):
    groups = report["groups"]
    assert set(groups) == {"question_type, by rule", "system", "source", "length"}
    by_rule = groups["question_type, by rule"]
    assert {label: found["rows"] for label, found in by_rule.items()} == {
        "DESCRIPTION": 26,
        "NUMERIC": 26,
        "PERSON": 28,
    }
    assert list(groups["length"]) == ["1 to 3 words", "4 to 10 words"]
    mine = [row for row in rows if row["source"] == "second"]
    expected = np.corrcoef([row["good"] for row in mine], [row["score"] for row in mine])[0, 1]
    assert groups["source"]["second"]["metrics"]["good"]["pearson"]["value"] == pytest.approx(expected, rel=1e-5)


def test_given_question_types_and_further_columns(rows):
    for number, row in enumerate(rows):
        row |= {"question_type": "easy" if number % 3 else "hard", "module": "m", "few": "a" if number < 9 else "b"}
        row |= {"most": f"g{number % 50}", "many": f"g{number % 51}"}
    columns = ["module", "few", "most", "many"]
    found = agreed(rows, score_columns=["good"], group_columns=columns, resamples=100)
    groups = found["groups"]
    assert (len(groups["most"]), "many" in groups) == (50, False)
    assert "many: 51 groups are too many to report; at most 50 are" in found["notes"]
    assert set(groups["question_type"]) == {"easy", "hard"}
    assert "module" not in groups  # one group says nothing
    assert groups["few"]["a"] == {"rows": 9, "questions": 5, "metrics": None, "agreement": {}}
    assert groups["few"]["b"]["metrics"]["good"]["pearson"]["value"] is not None


def test_metrics_are_those_of_the_modules(tmp_path, rows):
    """AEv of rows is that of `score`; AEv of a system is that of its answers as one corpus, not a mean."""
    file = save(tmp_path / "rows.jsonl", rows)
    report = agreed([str(file)], metrics=["aev"], resamples=100)
    texts = {"predictions": [row["prediction"] for row in rows], "references": [row["references"] for row in rows]}
    results = genqa_metrics.load("aev").compute(**texts, per_example=True)
    human = [row["score"] for row in rows]
    expected = np.corrcoef(results["aev_per_example"], human)[0, 1]
    assert report["metrics"]["aev"]["pearson"]["value"] == pytest.approx(expected, rel=1e-4)
    own = [(p, r) for p, r, row in zip(*texts.values(), rows, strict=True) if row["system"] == "one"]
    corpus = genqa_metrics.load("aev").compute(predictions=[p for p, _ in own], references=[r for _, r in own])["aev"]
    assert report["systems"]["metrics"]["aev"]["one"] == pytest.approx(corpus, rel=1e-5)
    assert report["signatures"]["aev"].startswith("aev|alpha:0.5|")


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_constant_scores_missing_scores_and_human_scores(rows):
    rows[0]["good"] = None
    rows[1]["good"] = float("nan")
    rows[2]["score"] = None
    shown = genqa_metrics.agree(rows, score_columns=["flat", "good"], resamples=100)
    report, pages = shown.to_dict(), (shown.to_html(), shown.to_markdown(), shown.to_json())
    assert report["left_out"] == {"bad rows": 0, "without a human score": 1, "without a score of every metric": 2}
    assert report["rows"] == 77
    nothing = {"value": None, "low": None, "high": None}
    assert report["metrics"]["flat"]["pearson"] == report["metrics"]["flat"]["kendall"] == nothing
    assert "flat: all its scores are equal: no correlation is defined" in report["notes"]
    assert report["differences"] == []
    assert best_first(report["metrics"]) == ["good", "flat"]
    assert all("nan" not in page.lower().replace("nance", "") for page in pages[1:])


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_all_human_scores_equal(rows):
    report = genqa_metrics.agree([row | {"score": 1} for row in rows], score_columns=["good"], resamples=100)
    assert "all human scores are equal: no correlation is defined" in report.notes
    assert report.metrics["good"].keys() == {"pearson", "spearman", "kendall"}
    assert report.metrics["good"]["spearman"]["value"] is None
    assert "no correlation is defined" in report.to_html()


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_few_rows_and_few_questions(rows):
    with pytest.raises(FileError, match="rows: expected 3 or more with a human score and all metric scores, got 2"):
        genqa_metrics.agree(rows[:2], score_columns=["good"], resamples=100)
    assert agreed(rows[:3], score_columns=["good"], resamples=100)["rows"] == 3
    few = agreed(rows[:12], score_columns=["good"], resamples=100)
    assert "only 6 questions: too few for intervals, which need 10" in few["notes"]
    assert few["metrics"]["good"]["pearson"]["low"] is None
    assert few["rank_pairs"]["metrics"]["good"]["low"] is None


def test_labels_thresholds_and_ranges(rows):
    """Labels decide where every row has one; else the middle of the range; --correct wins."""
    labelled = [row | {"label": int(row["score"] > 0.7)} for row in rows]
    only = [{name: value for name, value in row.items() if name != "score"} for row in labelled]
    for given, correct, column, rule in (
        (labelled, None, "score", "label = 1"),
        (labelled, 0.2, "score", "score >= 0.2"),
        (only, None, "label", "label = 1"),
    ):
        human = agreed(given, score_columns=["good"], correct=correct, resamples=100)["human"]
        assert (human["column"], human["correct"]) == (column, rule)
    assert human["share_correct"] == pytest.approx(np.mean([row["score"] > 0.7 for row in rows]))


@with_cases
def test_bad_usage(file, arguments, said):
    assert said in run("agree", file, *arguments, status=2)[1]


def test_bad_rows(tmp_path, rows):
    rows[3] = rows[3] | {"good": "high"}
    file = save(tmp_path / "bad.jsonl", rows)
    for column, problem in (
        ("good", "line 4: good: expected a number, got 'high'; write it as a number"),
        ("missing", "no column 'missing', which --column names as a score; columns found: question, prediction"),
        ("score", "column: 'score' has the human scores, with which metrics are compared; name another"),
    ):
        assert problem in run("agree", file, "--column", column, "--column", "weak", status=1)[1]


def test_rows_without_judgments_and_sets_of_questions(tmp_path, rows):
    file = save(tmp_path / "none.jsonl", [row | {"score": None} for row in rows])
    assert "no row has a human score" in run("agree", file, status=1)[1]
    sets = [{"context": "c", "predictions": ["who is it", "why"], "references": ["who"], "score": i} for i in range(4)]
    path = save(tmp_path / "sets.jsonl", sets)
    assert "aev: scores one answer, got rows with sets of predictions" in run("agree", path, status=1)[1]
    run("agree", path, "-m", "f_meta", "-s", "f_meta.base=rouge", "--resamples", 100)


@with_cases
def test_question_types(question, kind):
    assert question_type(question) == kind


@pytest.fixture
def judged():
    """12 questions with two answers each: the reference itself, which people accept but for one, and another city."""
    rows = []
    for number, city in enumerate(("Paris", "Rome", "Oslo", "Bern", "Lima", "Cairo", "Quito", "Tunis", "Riga") * 2):
        question = f"What is the capital in text {number}?"
        for prediction in (city, "Atlantis, the sunken city"):
            label = int(prediction == city and number != 3)
            rows.append({"question": question, "references": [city], "prediction": prediction, "label": label})
    return rows


def test_a_judge_is_measured_at_its_own_threshold(judged):
    found = genqa_metrics.agree(judged, metrics="ava", settings={"ava": {"threshold": 0.5}}, resamples=200)
    verdicts = found.metrics["ava_score"]["verdicts"]
    counts = {name: verdicts[name] for name in ("accepted", "missed", "rejected", "let_through")}
    assert counts == {"accepted": 17, "missed": 0, "rejected": 18, "let_through": 1}
    assert verdicts["threshold"] == 0.5
    assert verdicts["specificity"] == pytest.approx(18 / 19, abs=1e-5)
    low, value, high = (verdicts["agreement"][end] for end in ("low", "value", "high"))
    assert low < value < high
    assert value == pytest.approx(35 / 36, abs=1e-5)
    assert verdicts["kappa"] == pytest.approx((35 / 36 - 0.5) / 0.5, abs=1e-5)  # half of the answers are accepted
    (worst,) = found.worst["ava_score"]
    assert (worst["question"], worst["prediction"], worst["human"]) == ("What is the capital in text 3?", "Bern", 0)
    assert "What is the capital in text 3? | Bern | Bern |" in found.to_markdown()


def test_each_system_has_the_share_of_verdicts_that_are_peoples_with_its_interval(judged):
    """18 answers of each; of `a` one label differs. Of 8 questions no interval is shown, and the table says why."""
    rows = [row | {"system": "ab"[place % 2]} for place, row in enumerate(judged)]
    report = genqa_metrics.agree(rows, metrics="ava", resamples=100)
    shares = {name: group["agreement"]["ava_score"] for name, group in report.groups["system"].items()}
    assert (shares["a"]["value"], shares["b"]["value"]) == (pytest.approx(17 / 18, abs=1e-5), 1)
    assert shares["a"]["low"] == pytest.approx(wilson(17 / 18, 18, 1.959964)[0], abs=1e-3)
    [of_systems] = [table for table in report.tables() if table.title == "Scores of the systems"]
    assert "[" in of_systems.rows[0][of_systems.header.index("same verdict: ava_score")]
    [by_system] = [table for table in report.tables() if table.title == "By system"]
    assert [row[0] for row in by_system.rows] == ["ava_score", "same verdict: ava_score"]
    assert by_system.rows[1][1].startswith("0.944 [")
    few = genqa_metrics.agree(rows[:16], metrics="ava", resamples=100).tables()
    assert any("(too few)" in cell and "Too few: an interval" in t.explanation for t in few for cell in t.rows[0])


def test_findings_of_a_judge_count_right_and_wrong_answers(judged):
    many, few = (genqa_metrics.agree(rows, metrics="ava", resamples=100).findings for rows in (judged, judged[:16]))
    counts = "It rejects 0 right answers and accepts 1 wrong answer. A judge that accepts every answer would agree on "
    assert many[0].endswith(f"{counts}17.")
    assert few[0].endswith(f"{counts}7.")
    assert few[1].startswith("Too few questions to tell how well ava_score agrees with people (Pearson r ")


def test_the_screen_lists_the_metrics_that_were_asked_for(rows):
    """Scores without weights, which KPQA is compared with, stand in one line; AEv is not cut off."""
    report = genqa_metrics.agree(rows[:24], metrics=["kpqa", "aev"], resamples=100)
    first = [line.split()[0] for line in str(report).splitlines() if "[" in line and not line.startswith("->")]
    assert set(first) == {"bleu1_kpqa", "rougeL_kpqa", "bertscore_kpqa", "aev"}
    assert "Without weights: Pearson r of " in str(report)
    assert {"bleu1", "rougeL", "bertscore"} <= {row[0] for row in report.tables()[0].rows}


def test_where_no_limit_is_named_it_is_said_and_so_are_answers_at_it(rows):
    """Grades 0 to 4: the middle is 2, which counts as right."""
    graded = [row | {"score": number % 5, "label": None} for number, row in enumerate(rows[:20])]
    report = genqa_metrics.agree(graded, metrics="aev", resamples=100)
    limit = "right by people: score >= 2, the middle from 0 to 4; 4 answers are at 2 and count as right"
    assert report.notes[0] == f"{limit}; --correct sets another limit"
    assert report.human["share_correct"] == 0.6
    named = genqa_metrics.agree(graded, metrics="aev", resamples=100, correct=3)
    assert not any("the middle" in note for note in named.notes)
    judged = genqa_metrics.agree(graded, metrics="ava", resamples=100)
    assert judged.next_steps[0].endswith("where score >= 2, else 0; then `genqa-metrics accuracy FILE`")


def test_only_commands_that_read_such_labels_are_proposed(judged):
    graded = [{**row, "score": 1 + 4 * row["label"], "label": None} for row in judged]
    for rows, proposed in ((judged, True), (graded, False), (judged[:18], False)):  # 18 labels are too few
        assert ("genqa-metrics calibrate" in str(genqa_metrics.agree(rows, metrics="ava", resamples=100))) == proposed


def test_metrics_in_the_place_of_the_human_column_are_refused(rows):
    with pytest.raises(ValueError, match=r"human: expected the name of a column, got \['aev'\]; metrics are named by"):
        genqa_metrics.agree(rows, ["aev"])


def test_without_agreement_no_metric_agrees_best_and_questions_are_judged_by_default():
    asked = {"prediction": "Ann", "references": ["Ann"]}
    rows = [asked | {"question": f"Who won in {1900 + i}?", "score": i % 3} for i in range(24)]
    for row in rows[::2]:
        row["references"] = ["Bob"]
    report = genqa_metrics.agree(rows, resamples=100)
    assert list(report.metrics) == ["ava_score"]
    assert report.findings[1].startswith("No metric is shown to agree with people: Pearson r of ava_score")
