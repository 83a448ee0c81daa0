"""The command `agree`: rows with human scores in, tables, JSON, Markdown and a page out."""

import json
import re
import warnings

import genqa_metrics
import numpy as np
import pytest
from genqa_metrics.cli import app
from genqa_metrics.rows.errors import FileError
from genqa_metrics.verbs.agree.measures import Judgments, analyse
from genqa_metrics.verbs.agree.question_types import question_type
from genqa_metrics.verbs.agree.report import AgreeReport, against_best, ordered
from genqa_metrics.verbs.agree.run import Agreement, AgreeRun, length_group
from typer.testing import CliRunner


def run(*arguments):
    return CliRunner().invoke(app, ["agree", *map(str, arguments)])


def agreed(inputs, **options):
    """Return the numbers of a run in types that JSON has."""
    return AgreeRun(inputs, **options).report().to_dict()


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def rows():
    """40 questions, each answered by two systems; `good` follows the humans, `weak` hardly, `flat` is constant."""
    rng = np.random.default_rng(4)
    made = []
    for number in range(40):
        easy = rng.random()
        for system in ("one", "two"):
            human = round(float(np.clip(0.6 * easy + 0.4 * rng.random(), 0, 1)), 2)
            made.append(
                {
                    "question": f"{('who', 'when', 'why')[number % 3]} is number {number}",
                    "prediction": "word " * (1 + number % 8),
                    "references": ["word word", "other"],
                    "system": system,
                    "source": "first" if number < 20 else "second",
                    "score": human,
                    "good": round(float(np.clip(human + 0.1 * rng.normal(), 0, 1)), 3),
                    "weak": round(float(rng.random() + 0.2 * human), 3),
                    "flat": 0.5,
                }
            )
    return made


@pytest.fixture
def file(tmp_path, rows):
    return write(tmp_path / "rows.jsonl", rows)


@pytest.fixture
def report(file):
    return agreed([str(file)], score_columns=["weak", "good"], resamples=200)


def test_numbers_are_those_of_scipy_and_scikit_learn(report, rows):
    from scipy import stats
    from sklearn.metrics import average_precision_score, roc_auc_score

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
    assert found["classifier"]["average_precision"] == pytest.approx(average_precision_score(correct, good), rel=1e-5)
    assert ordered(report["metrics"]) == ["good", "weak"]
    test = against_best(report["metrics"], report["differences"])["weak"]
    assert test["permutation_p"] < 0.01
    assert test["permutation_p"] == test["permutation_p_holm"]  # one pair of metrics, nothing to correct


def test_pairs_of_answers_and_of_systems(file, rows):
    """Counted by plain loops: the two answers to each question, and the two systems."""
    report = agreed([str(file)], score_columns=["weak", "good"], gap=0.1, resamples=100)
    pairs = [
        pair for pair in zip(rows[::2], rows[1::2], strict=True) if abs(pair[0]["score"] - pair[1]["score"]) > 0.1
    ]
    assert report["rank_pairs"]["pairs"] == len(pairs) > 10
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


def test_given_question_types_and_further_columns(tmp_path, rows):
    for number, row in enumerate(rows):
        row |= {"question_type": "easy" if number % 3 else "hard", "module": "m", "few": "a" if number < 9 else "b"}
    file = write(tmp_path / "typed.jsonl", rows)
    groups = agreed([str(file)], score_columns=["good"], group_columns=["module", "few"], resamples=100)["groups"]
    assert set(groups["question_type"]) == {"easy", "hard"}
    assert "module" not in groups  # one group says nothing
    assert groups["few"]["a"] == {"rows": 9, "questions": 5, "metrics": None}
    assert groups["few"]["b"]["metrics"]["good"]["pearson"]["value"] is not None


def test_metrics_are_those_of_the_modules(tmp_path, rows):
    """AEv of rows is that of `score`; AEv of a system is that of its answers as one corpus, not a mean."""
    import genqa_metrics

    file = write(tmp_path / "rows.jsonl", rows)
    report = agreed([str(file)], metrics=["aev"], resamples=100)
    texts = {name: [row[name] for row in rows] for name in ("prediction", "references")}
    results = genqa_metrics.load("aev").compute(
        predictions=texts["prediction"], references=texts["references"], per_example=True
    )
    human = [row["score"] for row in rows]
    expected = np.corrcoef(results["aev_per_example"], human)[0, 1]
    assert report["metrics"]["aev"]["pearson"]["value"] == pytest.approx(expected, rel=1e-4)
    own = [(p, r) for p, r, row in zip(*texts.values(), rows, strict=True) if row["system"] == "one"]
    corpus = genqa_metrics.load("aev").compute(predictions=[p for p, _ in own], references=[r for _, r in own])["aev"]
    assert report["systems"]["metrics"]["aev"]["one"] == pytest.approx(corpus, rel=1e-5)
    assert report["signatures"]["aev"].startswith("aev|alpha:0.5|")


def test_twice_the_same_bytes_and_another_seed_other_intervals(tmp_path, file, repository):
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        done = run(
            file, "--column", "good", "--column", "weak", "--resamples", 100, "--seed", seed, "--json",
            tmp_path / f"{name}.json", "--html", tmp_path / f"{name}.html", "--markdown", tmp_path / f"{name}.md",
        )  # fmt: skip
        assert done.exit_code == 0, done.output
    for ending in ("json", "html", "md"):
        assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()
        assert (tmp_path / f"a.{ending}").read_bytes() != (tmp_path / f"c.{ending}").read_bytes()
    first, other = (json.loads((tmp_path / f"{name}.json").read_text()) for name in "ac")
    assert first["metrics"]["good"]["pearson"]["value"] == other["metrics"]["good"]["pearson"]["value"]
    assert first["settings"]["seed"] == 0
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".part")]


def test_report_names_versions_digests_and_signatures(tmp_path, file):
    import hashlib

    import genqa_metrics

    done = run(file, "-m", "aev", "--set", "aev.alpha=0.25", "--resamples", 100, "--format", "json")
    report = json.loads(done.stdout)
    assert report["genqa_metrics"] == genqa_metrics.__version__
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert report["inputs"] == [{"name": "rows.jsonl", "sha256": digest, "rows": 80}]
    assert "alpha:0.25" in report["signatures"]["aev"]
    for shown in (done.stdout, run(file, "-s", "aev.alpha=0.25", "--resamples", 100, "--verbose").stdout):
        assert digest in shown


def test_constant_scores_missing_scores_and_human_scores(tmp_path, rows):
    rows[0]["good"] = None
    rows[1]["good"] = float("nan")
    rows[2]["score"] = None
    file = write(tmp_path / "gaps.jsonl", rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = agreed([str(file)], score_columns=["flat", "good"], resamples=100)
        shown = AgreeReport(Agreement(**report))
        pages = shown.to_html(), shown.to_markdown(), shown.to_json()
    assert report["left_out"] == {
        "bad rows": 0,
        "without a human score": 1,
        "without a score of every metric": 2,
    }
    assert report["rows"] == 77
    nothing = {"value": None, "low": None, "high": None}
    assert report["metrics"]["flat"]["pearson"] == report["metrics"]["flat"]["kendall"] == nothing
    assert "flat: all its scores are equal: no correlation is defined" in report["notes"]
    assert report["differences"] == []
    assert ordered(report["metrics"]) == ["good", "flat"]
    assert all("nan" not in page.lower().replace("nance", "") for page in pages[1:])


def test_all_human_scores_equal(tmp_path, rows):
    file = write(tmp_path / "same.jsonl", [row | {"score": 1} for row in rows])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = agreed([str(file)], score_columns=["good"], resamples=100)
        assert "no correlation is defined" in AgreeReport(Agreement(**report)).to_html()
    assert report["metrics"]["good"]["spearman"]["value"] is None
    assert "classifier" not in report["metrics"]["good"]
    assert any("all human scores are equal" in note for note in report["notes"])


def test_few_rows_and_few_questions(tmp_path, rows):
    with pytest.raises(FileError, match="2 rows have a human score and all metric scores; 3 are the least"):
        agreed([str(write(tmp_path / "two.jsonl", rows[:2]))], score_columns=["good"], resamples=100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        three = agreed([str(write(tmp_path / "three.jsonl", rows[:3]))], score_columns=["good"], resamples=100)
    assert three["rows"] == 3
    few = agreed([str(write(tmp_path / "few.jsonl", rows[:12]))], score_columns=["good"], resamples=100)
    assert "only 6 questions: too few for intervals, which need 10" in few["notes"]
    assert few["metrics"]["good"]["pearson"]["low"] is None
    assert few["rank_pairs"]["metrics"]["good"]["low"] is None


def test_labels_thresholds_and_ranges(tmp_path, rows):
    """Labels decide where every row has one; else the middle of the range; --correct wins."""
    labelled = write(tmp_path / "l.jsonl", [row | {"label": int(row["score"] > 0.7)} for row in rows])
    found = agreed([str(labelled)], score_columns=["good"], resamples=100)["human"]
    assert (found["correct"], found["column"]) == ("label = 1", "score")
    assert found["share_correct"] == np.mean([row["score"] > 0.7 for row in rows])
    found = agreed([str(labelled)], score_columns=["good"], correct=0.2, resamples=100)["human"]
    assert found["correct"] == "score >= 0.2"
    only = [{k: v for k, v in row.items() if k != "score"} | {"label": int(row["score"] > 0.7)} for row in rows]
    found = agreed([str(write(tmp_path / "o.jsonl", only))], score_columns=["good"], resamples=100)["human"]
    assert (found["column"], found["correct"]) == ("label", "label = 1")


def test_scores_outside_0_to_1_have_no_calibration(tmp_path, rows):
    file = write(tmp_path / "wide.jsonl", [row | {"wide": 100 * row["good"]} for row in rows])
    report = agreed([str(file)], score_columns=["wide", "good"], resamples=100)
    assert report["metrics"]["wide"]["classifier"]["calibration"] is None
    assert "wide: has scores outside 0 to 1: no calibration" in report["notes"]
    assert report["metrics"]["good"]["classifier"]["calibration"]["ece"] > 0


def test_a_question_in_several_files_is_one(tmp_path, rows):
    a, b = (write(tmp_path / f"{name}.jsonl", [dict(row) for row in rows]) for name in "ab")
    for row in rows:
        del row["source"]
    report = agreed([str(write(a, rows)), str(write(b, rows))], score_columns=["good"], resamples=100)
    assert (report["rows"], report["questions"]) == (160, 40)
    assert set(report["groups"]["source"]) == {"a", "b"}


def test_page_is_one_file_and_shows_what_users_wrote(tmp_path, rows):
    for row in rows:
        row["<b>&bold</b>"] = row["good"]
        row["system"] = f"<i>{row['system']}</i>"
    file = write(tmp_path / "rows.jsonl", rows)
    report = agreed([str(file)], score_columns=["<b>&bold</b>"], resamples=100)
    page = AgreeReport(Agreement(**report)).to_html()
    assert "<b>&bold" not in page
    assert "<i>" not in page
    assert page.count("&lt;b&gt;&amp;bold&lt;/b&gt;") > 3
    assert page.count("<svg") == 1 + 4 + 4  # correlations, four groupings, three kinds of curves and their legend
    links = re.findall(r"""(?:src|href)=["']([^"']+)""", page)
    assert all(link.startswith("#") for link in links)
    assert "<script" not in page
    assert AgreeReport(Agreement(**report)).to_markdown().count("\n| --- |") == 3 + 4 + 1


def test_pages_of_real_judgments(shared_data, tmp_path):
    """Numbers of Table 3's kind on the paper's own MS MARCO rows, as scipy has them."""
    file = shared_data / "judgments" / "kpqa_marco.dev.jsonl.gz"
    done = run(file, "--resamples", 100, "--html", tmp_path / "page.html", "--json", tmp_path / "all.json")
    assert done.exit_code == 0, done.output
    report = json.loads((tmp_path / "all.json").read_text())
    assert (report["rows"], report["questions"]) == (486, 243)
    assert 0.3 < report["metrics"]["aev"]["pearson"]["value"] < 0.5
    assert {"NUMERIC", "DESCRIPTION", "ENTITY", "LOCATION", "PERSON"} <= set(
        report["groups"]["question_type, by rule"]
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--metric", "blue"], "--metric: expected one of"),
        (["--column", "rating=x"], "column: expected one of"),
        (["--resamples", "99"], "resamples: expected a number of at least 100, got 99"),
        (["--seed", "-1"], "seed: expected a number of at least 0"),
        (["--gap", "-0.5"], "gap: expected a number of at least 0"),
        (["--html", "nowhere/page.html"], "--html nowhere/page.html: there is no folder"),
        (["-m", "aev", "--column", "aev"], "is also the name of a score of --metric"),
        (["-m", "aev", "--set", "f_meta.base=bleu"], "f_meta: has settings but is not computed"),
    ],
)
def test_bad_usage(file, arguments, said):
    done = run(file, *arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert not done.stdout


def test_standard_input_and_double_files_are_refused(file):
    assert run("-").exit_code == run(file, file).exit_code == 2


def test_bad_rows(tmp_path, rows):
    rows[3] = rows[3] | {"good": "high"}
    file = write(tmp_path / "bad.jsonl", rows)
    done = run(file, "--column", "good", "--resamples", 100)
    assert done.exit_code == 1
    assert "line 4: good: expected a number, got 'high'; write it as a number" in done.stderr
    assert "--on-error skip leaves bad rows out" in done.stderr
    done = run(file, "--column", "good", "--resamples", 100, "--on-error", "skip", "--format", "json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["left_out"]["bad rows"] == 1
    assert "skipped: " in done.stderr
    done = run(file, "--column", "missing")
    assert done.exit_code == 1
    assert "no column 'missing', which --column names as a score; columns found: question, prediction" in done.stderr


def test_rows_without_judgments_and_sets_of_questions(tmp_path, rows):
    file = write(tmp_path / "none.jsonl", [row | {"score": None} for row in rows])
    done = run(file)
    assert done.exit_code == 1
    assert "no row has a human score" in done.stderr
    sets = [{"context": "c", "predictions": ["who is it", "why"], "references": ["who"], "score": i} for i in range(4)]
    done = run(write(tmp_path / "sets.jsonl", sets))
    assert done.exit_code == 1
    assert "aev: scores one answer, got rows with sets of predictions" in done.stderr
    done = run(write(tmp_path / "sets.jsonl", sets), "-m", "f_meta", "--resamples", 100)
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who was president in 1912?", "PERSON"),
        ("In which year did it end?", "NUMERIC"),
        ("how many steps are there", "NUMERIC"),
        ("What is the capital of Peru?", "LOCATION"),
        ("which American state is the smallest", "LOCATION"),
        ("What does a capacitor do?", "DESCRIPTION"),
        ("what is a quadrilateral", "DESCRIPTION"),
        ("How do you boil an egg?", "DESCRIPTION"),
        ("What is the name of his dog?", "ENTITY"),
        ("Which bourbon was named in 1933?", "ENTITY"),
        ("Does he leave the room ?", "YES/NO"),
        ("define mitochondrial", "DESCRIPTION"),
        ("hodge name meaning", "DESCRIPTION"),
        ("average rent in omaha", "NUMERIC"),
        ("cyst on back of shoulder", "OTHER"),
        ("", "OTHER"),
    ],
)
def test_question_types(question, kind):
    assert question_type(question) == kind


def test_length_groups_have_no_gaps():
    expected = ["1 to 3 words"] * 4 + ["4 to 10 words"] * 7 + ["11 to 25 words"] * 15 + ["26 words or more"] * 3
    assert [length_group("w " * words) for words in range(29)] == expected


def test_analyse_takes_arrays():
    rng = np.random.default_rng(0)
    human = rng.random(30)
    judgments = Judgments(human, human > 0.5, {"m": human + 0.1 * rng.random(30)}, list(range(30)))
    report = analyse(judgments, number=100)
    assert report["metrics"]["m"]["spearman"]["value"] > 0.9
    assert report["systems"] is None
    assert report["rank_pairs"] == {
        "gap": pytest.approx(np.ptp(human) / 2, rel=1e-5),
        "pairs": 0,
        "metrics": {"m": None},
    }


def test_commands_of_the_page(repository, tmp_path, monkeypatch, rows):
    """As they stand there, in the order in which one needs them."""
    (tmp_path / "answers.jsonl").symlink_to(repository / "metrics/examples/answers.jsonl")
    monkeypatch.chdir(tmp_path)
    ratings = ["item,rater,score,question,prediction,references,my_metric"]
    ratings += [f"{n},{rater},{1 + (n + rater) % 5},who is {n},one,one,0.{n}" for n in range(9) for rater in range(3)]
    (tmp_path / "ratings.csv").write_text("\n".join(ratings), encoding="utf-8")
    write(tmp_path / "rated.jsonl", [row | {"my_metric": row["good"], "stars": row["score"]} for row in rows])
    commands = re.findall(
        r"^genqa-metrics ((?:agree|raters) .*)$",
        (repository / "spaces/docs/pages/how-to/9-agree.md").read_text(),
        re.MULTILINE,
    )
    assert len(commands) == 3
    for command in commands:
        done = CliRunner().invoke(app, command.split())
        assert done.exit_code == 0, done.output
    assert {"agreement.html", "agreement.json", "rated.jsonl"} <= {path.name for path in tmp_path.iterdir()}


def test_python_gives_what_the_command_line_prints(tmp_path, rows):
    import genqa_metrics
    import pandas

    path = write(tmp_path / "rows.jsonl", [{**row, "stars": row["score"]} for row in rows])
    printed = run(path, "-m", "aev", "-c", "good", "-c", "score=stars", "--resamples", 100, "--format", "json").stdout
    options = {"metrics": "aev", "score_columns": ["good"], "resamples": 100}
    found = genqa_metrics.agree(str(path), "stars", **options)
    assert found.to_json() == printed
    assert "95% expanded percentile bootstrap interval, questions resampled" in found.to_markdown()
    table = genqa_metrics.agree(pandas.DataFrame(rows), **options)
    assert table.metrics == found.metrics
    assert table.to_pandas().loc["good", "pearson"] == found.metrics["good"]["pearson"]["value"]
    assert list(found.to_pandas().index) == ordered(found.metrics)
    assert len(repr(found)) < 200
    assert "<table" in found._repr_html_()


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
    assert "| What is the capital in text 3? Bern [Bern] |" in found.to_markdown()


def test_the_page_begins_with_what_was_found_and_has_the_texts_of_the_worst_rows_as_they_are(judged):
    """A group too small for correlations is left out, and said to be."""
    long = "which the atlas names on its third page beside the rivers"
    for row in judged:
        row["question"] += f" {long}?"
    rows = [{**row, "noise": float(place % 3)} for place, row in enumerate(judged)]
    found = genqa_metrics.agree(rows, metrics="ava", score_columns=["noise"], resamples=200)
    first, second = found.findings
    assert re.fullmatch(
        r"ava_score agrees best with the humans: Pearson r 0\.\d+ \[.*\]; chance is unlikely to explain it\.", first
    )
    assert re.fullmatch(r"ava_score and the humans give the same verdict on 0\.972 \[.*\] of the answers\.", second)
    page = found.to_html()
    assert f'<p class="finding">{first}</p>' in page
    assert f"What is the capital in text 3? {long}?</th>" in page.replace("<wbr>", "")
    assert page.count('<td class="text" dir="auto"') == 2, "the answer and its references"
    assert "<dt>AUC</dt><dd>Probability that a correct answer scores above a wrong one" in page
    alone = genqa_metrics.agree(rows[:8], score_columns=["noise"], metrics=[], resamples=100)
    assert not [table.title for table in alone.tables() if table.title.startswith("By ")]
    assert "not shown by length: all groups have fewer than 10 answers, or equal scores" in alone.facts()


def test_the_rows_that_are_listed_can_be_fewer(judged):
    for row in judged:
        row["label"] = 1 - row["label"]
    found = genqa_metrics.agree(judged, metrics="ava", worst=2, resamples=100).worst["ava_score"]
    differences = [abs(row["ava_score"] - row["human"]) for row in found]
    assert len(found) == 2
    assert differences == sorted(differences, reverse=True)
    with pytest.raises(ValueError, match="worst: expected a number of at least 0, got -1"):
        genqa_metrics.agree(judged, metrics="ava", worst=-1)


def test_metrics_in_the_place_of_the_human_column_are_refused(rows):
    with pytest.raises(ValueError, match=r"human: expected the name of a column, got \['aev'\]; metrics are named by"):
        genqa_metrics.agree(rows, ["aev"])


def test_a_metric_without_verdicts_lists_no_rows(report):
    assert report["worst"] == {}
    assert "verdicts" not in report["metrics"]["good"]


def test_the_human_scores_are_not_compared_with_themselves(file):
    found = run(file, "--column", "score", "--column", "good")
    assert found.exit_code == 1
    assert "column: 'score' has the human scores, with which metrics are compared; name another" in found.stderr


def test_the_first_screen_has_the_finding_first_and_at_most_30_lines(repository):
    example = repository / "metrics/examples/answers.jsonl"
    short = run(example, "-m", "aev", "-m", "ava", "--resamples", 100).stdout.splitlines()
    whole = run(example, "-m", "aev", "-m", "ava", "--resamples", 100, "--verbose").stdout
    assert short[1].startswith("-> ava_score agrees best with the humans: Pearson r ")
    assert len(short) <= 30
    assert "Where ava_score and the humans differ most (5 of 9)" in short
    assert "Kendall" in whole
    assert "SHA-256" in whole
    assert not {"Kendall", "SHA-256"} & set(" ".join(short).split())
