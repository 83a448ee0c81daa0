"""Labels of people that stand in the rows, or in files with ids alone: accuracy, score and agree use them."""

import genqa_metrics
import pytest

from tests.factories.files import lines, run, save

QUESTIONS = [f"What is the capital in text {n}?" for n in range(40)]


@pytest.fixture
def rows():
    """40 rows of two systems; people call 3 of 4 answers correct, and the judge in column `by` errs on every tenth."""
    return [
        {"id": f"r{n}", "system": system, "question": asked, "prediction": "Bern", "references": "Bern",
         "label": int(n % 4 != 0), "by": int((n % 4 != 0) != (n % 10 == 0))}
        for system in ("one", "two")
        for n, asked in enumerate(QUESTIONS)
    ]  # fmt: skip


def without_labels(rows):
    return [{name: value for name, value in row.items() if name != "label"} for row in rows]


def test_accuracy_uses_the_labels_in_the_rows(rows):
    """All rows are labelled: the estimate is their share, 30 of 40. The judge errs on 0, 10, 20, 30 of the numbers."""
    found = genqa_metrics.accuracy(rows, columns={"judge": "by"})
    one = found.systems["one"]
    assert one["labelled"] == 40
    assert one["accuracy"] == pytest.approx(0.75, abs=0.01)
    # 0 and 20 are wrong answers that it accepts; 10 and 30 correct ones that it rejects.
    assert one["confusion"] == {"accepted": 28, "missed": 2, "rejected": 8, "let_through": 2}
    assert one["agreement"] == pytest.approx(0.9)
    # Expected agreement: .75 * .75 + .25 * .25 = .625
    assert one["kappa"] == pytest.approx((0.9 - 0.625) / (1 - 0.625))
    assert "column label was read as labels of people, which 80 of 80 rows have" in found.notes
    assert "people's labels" in one["method"]
    assert "| one | 40 | 0.900 | 0.733 | 28 | 2 | 8 | 2 |" in found.to_markdown()


def by_accuracy(rows, labels=None):
    return genqa_metrics.accuracy(rows, labels, columns={"judge": "by"}).systems


def by_agree(rows, labels=None):
    return genqa_metrics.agree(rows, score_columns=["by"], labels=labels, resamples=100).metrics


def by_compare(rows, labels=None):
    report = genqa_metrics.compare(rows, "ava", labels=labels, resamples=100)
    return report.tests, report.scores


def by_calibrate(rows, labels=None):
    return {**genqa_metrics.calibrate(rows, labels=labels).calibration, "digest": "", "data": {}}


@pytest.mark.parametrize("verb", [by_accuracy, by_agree, by_compare, by_calibrate])
def test_labels_in_a_file_of_their_own_count_as_those_in_the_rows(rows, verb):
    """Also where the rows have others. Of some rows only the labels in the file count, or none."""
    for row in rows[::3]:
        row["prediction"] = "Rome"
    expected = verb(rows)
    assert verb(without_labels(rows), rows) == verb([row | {"label": 0} for row in rows], rows) == expected
    some = [row | ({} if place % 3 == 1 else {"label": None}) for place, row in enumerate(rows[:70])] + rows[70:]
    assert verb(without_labels(rows), [row for row in some if row["label"] is not None]) == verb(some) != expected


@pytest.mark.parametrize("systems", [("one", "two"), ("one", "two", "three")])
@pytest.mark.parametrize("labelled", [40, 24])
def test_compare_and_accuracy_have_the_same_differences(rows, systems, labelled):
    """Of labels in the rows and beside them, corrected alike; where all rows have labels, also those of a column."""
    rows += [row | {"system": "three", "label": int(n % 5 < 2)} for n, row in enumerate(rows[:40])]
    rows = [row | {"label": row["label"] if n % 40 < labelled else None} for n, row in enumerate(rows)]
    rows = [row for row in rows if row["system"] in systems]
    labels = [row for row in rows if row["label"] is not None]

    def differences(pairs):
        return [(pair["first"], pair["second"], *map("{:.6g}".format, pair["difference"].values())) for pair in pairs]

    expected = genqa_metrics.accuracy(rows)
    tests = genqa_metrics.compare(rows, "ava").tests["ava"]["accuracy"]["pairs"]
    assert differences(tests) == differences(expected.differences)
    leads = genqa_metrics.score(rows, "ava").leads
    of_pairs = {frozenset((pair["first"], pair["second"])): pair["difference"] for pair in tests}
    first = next(system for system in systems if system not in leads)
    for system, (value, low, high) in leads.items():
        pair = of_pairs[frozenset((first, system))]
        assert (value, high - low) == pytest.approx((abs(pair["value"]), pair["high"] - pair["low"]), abs=1e-5)
    assert expected.settings["correction"] == ("holm" if len(systems) > 2 else "none")
    assert differences(genqa_metrics.accuracy(without_labels(rows), labels).differences) == differences(tests)
    beside = genqa_metrics.compare(without_labels(rows), "ava", labels=labels).tests["ava"]["accuracy"]["pairs"]
    assert differences(beside) == differences(tests)
    if labelled == 40:
        column = genqa_metrics.compare(rows, score_columns="label").tests["label"]["label"]["pairs"]
        assert differences(column) == differences(tests)


def test_labels_that_compare_cannot_use(rows):
    assert any(
        "assumes that the labelled answers" in n for n in genqa_metrics.compare(rows, "ava", labels=rows[:12]).notes
    )
    with pytest.raises(ValueError, match="none of the 1 labels belongs to one of the rows"):
        genqa_metrics.compare(rows, "ava", labels=[rows[0] | {"prediction": "another"}])
    with pytest.raises(ValueError, match="labels: expected the judge ava"):
        genqa_metrics.compare(rows, "aev", labels=rows)


def test_labels_may_be_words_as_pandas_and_people_write_them(rows, tmp_path):
    """A CSV of pandas has True and False; both words and numbers give the same numbers."""
    numbers = genqa_metrics.accuracy(rows, columns={"judge": "by"}).systems
    for right, wrong in (("correct", "Wrong"), ("True", "False"), ("yes", "no"), (True, False)):
        words = [row | {"label": right if row["label"] else wrong} for row in rows]
        assert genqa_metrics.accuracy(words, columns={"judge": "by"}).systems == numbers
        beside = genqa_metrics.accuracy(without_labels(rows), words, columns={"judge": "by"}).systems
        assert beside == numbers
    words = save(tmp_path / "words.csv", [row | {"label": str(bool(row["label"]))} for row in rows])
    told = run("agree", words, "--metric", "aev", "--verbose")
    assert "column label, from 0 to 1" in told[0]
    assert "label: words were read as labels: 'True' as 1 and 'False' as 0" in told[1]


def test_labels_that_are_no_verdicts_are_counted(rows):
    partly = [row | {"label": "partly"} for row in rows[:10]] + rows[10:]
    found = genqa_metrics.accuracy(partly, columns={"judge": "by"})
    assert found.systems["one"]["labelled"] == 30
    said = "10 values of score or label are no numbers, nor words such as"
    assert any(note.startswith(said) for note in found.notes)


@pytest.mark.parametrize("value", [0, 2, -1, "often"])
def test_a_bad_probability_of_a_labelled_row_is_named(rows, value):
    rows[3]["genqa_probability"] = value
    with pytest.raises(ValueError, match="row 4: genqa_probability: expected a probability"):
        genqa_metrics.accuracy(rows, columns={"judge": "by"})
    rows[3]["label"] = None  # of an unlabelled row it is not read
    assert genqa_metrics.accuracy(rows, columns={"judge": "by"}).systems["one"]["labelled"] == 39


def test_the_judge_is_not_compared_with_itself(rows):
    with pytest.raises(ValueError, match="judge: column 'label' has the labels of people"):
        genqa_metrics.accuracy(rows, columns={"judge": "label"})
    found = genqa_metrics.accuracy(rows, columns={"judge": "label", "label": ""})
    assert found.systems["one"]["labelled"] == 0


def test_a_file_of_labels_with_ids_alone(rows, tmp_path):
    one, bare = [row for row in rows if row["system"] == "one"], [{"id": "r3", "label": 1}, {"id": "r4", "label": 0}]
    found = genqa_metrics.accuracy(without_labels(one), bare, columns={"judge": "by"}).systems["one"]
    assert (found["labelled"], found["confusion"]["accepted"], found["confusion"]["rejected"]) == (2, 1, 1)
    with pytest.raises(ValueError, match=r"id: 'r3' is the id of answers of 2 systems, such as one, two; add"):
        genqa_metrics.accuracy(without_labels(rows), bare, columns={"judge": "by"})
    named = [label | {"system": "two"} for label in bare]
    found = genqa_metrics.accuracy(without_labels(rows), named, columns={"judge": "by"}).systems
    assert (found["one"]["labelled"], found["two"]["labelled"]) == (0, 2)
    (tmp_path / "rows.jsonl").write_text(lines(without_labels(one)))
    (tmp_path / "labels.jsonl").write_text(lines([{"id": "r3"}]))
    told = run("accuracy", tmp_path / "rows.jsonl", "-l", tmp_path / "labels.jsonl", "-c", "judge=by", status=1)[1]
    assert "expected a label, 0 or 1 in a column label, and id, or question and prediction" in told


def test_score_says_how_the_judge_agrees_with_labels_in_the_rows():
    """Of 3 answers 1 is correct and 2 are accepted: expected are 1/3 * 2/3 + 2/3 * 1/3 = 4/9."""
    rows = [
        {"question": asked, "prediction": text, "references": "Bern", "label": label}
        for asked, text, label in zip(QUESTIONS[:4], ("Bern", "Rome", "Bern", "Rome"), (1, 0, 0, None), strict=True)
    ]
    labels = genqa_metrics.score(rows, "ava").to_dict()["labels"]["rows"]
    counts = {"accepted": 1, "missed": 0, "rejected": 1, "let_through": 1}
    assert {name: labels[name] for name in counts} == counts
    assert labels["agreement"] == pytest.approx(2 / 3)
    assert labels["kappa"] == pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))
    assert not genqa_metrics.score([row | {"label": None} for row in rows], "ava").labels
