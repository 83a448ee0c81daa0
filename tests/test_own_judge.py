"""A judge of one's own, from labels: calibrated for other data, trained, and what intervals then say."""

import json
import math
import re
import shlex
import shutil

import genqa_metrics
import numpy as np
import pytest
from genqa_metrics.ava.calibration import content_digest, log_odds, read_calibration
from genqa_metrics.core import judge_model
from genqa_metrics.registry import make_scorer
from genqa_metrics.verbs.calibrate import calibration
from genqa_metrics.verbs.judge_errors import measured_for
from genqa_metrics.verbs.label.labelling import Session, tasks_of
from safetensors.torch import load_file

from tests.factories.ava import measured
from tests.factories.cases import with_cases
from tests.factories.files import run, save
from tests.factories.kpqa import WORDS
from tests.factories.modules import run_program
from tests.factories.pages import PAGES
from tests.programs.level_simulations import calibrated_at_random
from training.ava import train_ava

PAGE = PAGES / "how-to/5-judge.md"


def written(number, seed=0):
    """Answers of two systems to the same questions, right if they have the number of the reference."""
    rng = np.random.default_rng(seed)
    rows = []
    for place in range(number):
        right = bool(rng.random() < 0.6)
        days = place // 2 + 2
        answer = f"it is {days if right else days + 1} {rng.choice(WORDS)}"
        row = {"question": f"what is {place // 2}?", "references": [f"{days} {WORDS[0]}"], "prediction": answer}
        rows.append(row | {"system": "ab"[place % 2], "label": int(right)})
    return rows


def columns_of(rows):
    names = {"questions": "question", "predictions": "prediction", "references": "references"}
    return {column: [row[name] for row in rows] for column, name in names.items()}


@pytest.fixture
def settings(judges):
    return {"checkpoint": str(judges())}


@pytest.fixture
def calibrated(tmp_path, settings):
    """A calibration of a tiny judge on 80 labels."""
    path = tmp_path / "mine.json"
    report = genqa_metrics.calibrate(save(tmp_path / "rows.jsonl", written(80)), settings=settings)
    report.write(path)
    return report, path


def test_a_calibration_is_used_by_score_compare_and_accuracy_and_named_by_them(calibrated, settings):
    report, path = calibrated
    rows = [{name: value for name, value in row.items() if name != "label"} for row in written(40, seed=1)]
    scored = genqa_metrics.score(rows, "ava", {"ava": settings}, calibration=str(path))
    compared = genqa_metrics.compare(rows, "ava", {"ava": settings}, calibration=str(path), resamples=100)
    found = genqa_metrics.accuracy(rows, settings=settings, calibration=str(path))
    for shown in (scored.to_markdown(), compared.to_markdown(), compared.to_html(), str(found)):
        assert "calibrated on 80 labels of yours" in " ".join(shown.split())
    digest = report.calibration["digest"][:12]
    assert f"|calibration:{digest}|" in scored.signatures["ava"]
    assert f"|calibration:{digest}|" in found.judge
    for system, values in scored.accuracy["systems"].items():
        assert values.items() <= found.systems[system].items()
    plain = make_scorer("ava", settings)
    assert "calibration" not in plain.signature
    assert make_scorer("ava", settings | {"calibration": str(path)}).threshold == 0.5


def test_settings_of_the_judge_have_one_form(calibrated, settings):
    """{"checkpoint": C}, {"ava.checkpoint": C} and {"ava": {"checkpoint": C}} are the same; others are refused."""
    rows = written(12)
    forms = settings, {f"ava.{name}": setting for name, setting in settings.items()}, {"ava": settings}
    first, *others = (genqa_metrics.accuracy(rows, settings=form).judge for form in forms)
    assert others == [first, first]
    assert {genqa_metrics.score(rows, "ava", form).signatures["ava"] for form in forms} == {first}
    with pytest.raises(ValueError, match="settings: expected those of ava, got those of kpqa"):
        genqa_metrics.accuracy(rows, settings={"kpqa.beta": 2})
    with pytest.raises(ValueError, match=r"settings: expected \{'METRIC.beta': value\}, got \{'beta': 2\}"):
        genqa_metrics.score(rows, ["ava", "kpqa"], {"beta": 2})


def test_verdicts_are_those_of_the_scale(calibrated, settings):
    """By hand: log-odds times the slope plus the intercept, a verdict from 0.5 on; an empty answer stays at 0."""
    report, path = calibrated
    rows = [*written(20, seed=2), {"question": "what?", "references": ["x"], "prediction": "", "system": "a"}]
    columns = columns_of(rows)
    plain, *_ = make_scorer("ava", settings).statistics(columns)
    scorer = make_scorer("ava", settings | {"calibration": str(path)})
    found, more, _ = scorer.statistics(columns, explain=True)
    odds = log_odds(plain[:-1, 1])
    expected = 1 / (1 + np.exp(-(report.calibration["slope"] * odds + report.calibration["intercept"])))
    assert found[:-1, 1] == pytest.approx(expected)
    assert found[-1, :2].tolist() == [0, 0]
    assert (found[:, 0] == (found[:, 1] >= 0.5)).all()
    assert more["explanation"][0]["probability"] == pytest.approx(found[0, 1])


def test_it_is_found_beside_a_checkpoint_and_left_out_on_request(calibrated, judges, tmp_path):
    folder = shutil.copytree(judges(), tmp_path / "judge")
    shutil.copy(calibrated[1], folder / "calibration.json")
    assert "|calibration:" in make_scorer("ava", {"checkpoint": str(folder)}).signature
    assert "|calibration:" not in make_scorer("ava", {"checkpoint": str(folder), "calibration": False}).signature


@with_cases
def test_a_bad_file_is_refused(calibrated, change, message):
    path = calibrated[1]
    if isinstance(change, dict):
        path.write_text(json.dumps(json.loads(path.read_text()) | change))
    elif change is None:
        path.unlink()
    else:
        path.write_text(change)
    with pytest.raises(ValueError, match=f"^calibration: .*{message}"):
        read_calibration(path)


@pytest.mark.parametrize(
    "change",
    [{"errors": {}}, {"labels": "80"}, {"systems": [{}]}, {"profile": [1]}, {"profile": {"unsure": "x"}}, {"data": 1}]
    + [{"errors": {"accepted": 9, "correct": 10, "rejected": 9, "incorrect": n}} for n in (math.nan, math.inf, 10**9)]
    + [{"labels": 10**9}, {"profile": {"unsure": math.nan}}, {"slope": math.nan}, {"threshold": math.inf}],
)
def test_a_file_with_a_digest_but_without_its_parts_is_refused(calibrated, settings, change):
    path = calibrated[1]
    content = json.loads(path.read_text()) | change
    path.write_text(json.dumps(content | {"digest": content_digest(content)}))
    with pytest.raises(ValueError, match=r"^ava.calibration: .* cannot be used: .*; write it again with genqa"):
        make_scorer("ava", settings | {"calibration": str(path)})


def test_it_holds_for_one_judge(calibrated, settings, judges):
    other = {"checkpoint": str(judges("a0-qt")), "calibration": str(calibrated[1])}
    start = "calibration: .* is of a judge with"
    with pytest.raises(ValueError, match=f"{start} checkpoint .*, this one has .*calibrate"):
        make_scorer("ava", other)
    with pytest.raises(ValueError, match=f"{start} references max, this one has joined"):
        make_scorer("ava", settings | {"calibration": str(calibrated[1]), "reference_aggregation": "joined"})
    at_another = make_scorer("ava", settings | {"calibration": str(calibrated[1]), "threshold": 0.9})
    assert measured_for(at_another) is None


@with_cases
def test_labels_that_do_not_do_are_named(number, change, message, settings):
    with pytest.raises(ValueError, match=message):
        genqa_metrics.calibrate([row | change for row in written(number)], settings=settings)


def test_raters_who_differ_are_named_without_an_interval_that_is_not_shown(settings):
    """Two raters differ on 3 of 30 answers: 90%; the file has no intervals that could be wider."""
    ann = [row | {"rater": "ann"} for row in written(30)]
    bob = [row | {"rater": "bob", "label": abs(row["label"] - (place < 3))} for place, row in enumerate(ann)]
    notes = genqa_metrics.calibrate([*ann, *bob], settings=settings).notes
    assert any(note.startswith("30 rows were rated by several raters: they agree in 90%") for note in notes)
    assert not any("wider" in note for note in notes)


def test_the_command_prints_both_judges_and_writes_the_file(tmp_path, settings):
    mostly_right = [row | {"label": int(place % 10 > 0)} for place, row in enumerate(written(60))]
    rows = save(tmp_path / "rows.jsonl", mostly_right)
    arguments = f"calibrate {rows} -o {tmp_path}/mine.json -s ava.checkpoint={settings['checkpoint']}".split()
    out, _ = run(*arguments)
    for text in ("as it is", "Calibration helps. On questions", "Written to"):
        assert text in out
    assert "(better on " in out
    assert read_calibration(tmp_path / "mine.json").content["labels"] == 60
    assert "threshold is what calibrate finds" in run(*arguments, "-s", "ava.threshold=0.3", status=2)[1]


def simulated(rng, number, slope=1.0, intercept=0.0):
    """Return probabilities of a judge and labels that follow from them by a scale of their own."""
    odds = rng.normal(0.5, 2.5, number)
    labels = (rng.random(number) < 1 / (1 + np.exp(-(slope * odds + intercept)))).astype(float)
    return 1 / (1 + np.exp(-odds)), labels


def test_weights_undo_the_draw():
    """Unsure answers drawn four times as often, each with a quarter of the weight, give the same scale and shares."""
    rng = np.random.default_rng(1)
    probabilities, labels = simulated(rng, 60_000, 0.6, -0.8)
    odds = np.where(abs(probabilities - 0.5) < 0.3, 0.2, 0.05)
    drawn = rng.random(len(odds)) < odds
    weights = (1 / odds[drawn]) / (1 / odds[drawn]).mean()
    whole = calibration.fitted_scale(probabilities, labels, np.ones(len(labels)))
    part = calibration.fitted_scale(probabilities[drawn], labels[drawn], weights)
    assert part == pytest.approx(whole, abs=0.12)
    verdicts = (probabilities >= 0.7).astype(float)
    names = [str(place) for place in range(len(labels))]
    every = calibration.error_counts(verdicts, labels)
    some = calibration.effective_counts(
        verdicts[drawn], labels[drawn], weights, [name for name, own in zip(names, drawn, strict=True) if own],
        ["x"] * int(drawn.sum())
    )  # fmt: skip
    for hit, number in (("accepted", "correct"), ("rejected", "incorrect")):
        assert some[hit] / some[number] == pytest.approx(every[hit] / every[number], abs=0.03)
        assert some[number] < drawn.sum()


def test_no_answer_is_judged_by_its_own_label():
    """Labels at random: errors on the answers that a scale was fitted on look better than chance, cross-fitted not."""
    rng, gain, honest = np.random.default_rng(3), [], []
    for _ in range(30):
        probabilities, labels = rng.random(30), (rng.random(30) < 0.5).astype(float)
        names = [str(place // 2) for place in range(30)]
        folds = calibration.folds_of(names)
        assert all(folds[place] == folds[place + 1] for place in range(0, 30, 2))
        found = calibration.cross_fitted(probabilities, labels, np.ones(30), names)
        slope, intercept = calibration.fitted_scale(probabilities, labels, np.ones(30))
        own = calibration.scaled(probabilities, slope, intercept)
        gain.append(((own >= 0.5) == labels).mean())
        honest.append(((found >= 0.5) == labels).mean())
    assert np.mean(gain) > 0.52
    assert np.mean(honest) < 0.5


def test_data_unlike_those_of_the_measurement_tell_no_accuracy(judges, tmp_path):
    """The judge was measured on short answers; the rows have long ones."""
    profile = {"profiled": 200, "unsure": 200, "answer_words:3": 200, "reference_words:2": 200}
    settings = {"checkpoint": str(measured(judges(), tmp_path / "judge", profile=profile))}
    rows = [row | {"label": None} for row in written(60)]
    like = genqa_metrics.score(rows, "ava", {"ava": settings})
    rows = [row | {"prediction": row["prediction"] + " and so on" * 20} for row in rows]
    unlike = genqa_metrics.score(rows, "ava", {"ava": settings})
    assert like.accuracy["unlike"] == {}
    assert {*map(tuple, unlike.accuracy["unlike"].values())} == {
        ("all 30 answers have an unusual length for this judge",)
    }
    assert all(values["low"] is not None for values in like.accuracy["systems"].values())
    assert all(values["low"] is None for values in unlike.accuracy["systems"].values())
    accuracy = genqa_metrics.accuracy(rows, settings=settings)
    assert "cannot be told from these rows" in str(accuracy)
    shown = [unlike.to_markdown(), accuracy.to_html()]
    shown.append(genqa_metrics.compare(rows, "ava", {"ava": settings}, resamples=100).to_html())
    for text in shown:
        assert "cannot be told" in text
        assert "unusual length for this judge" in text
    assert "unusual length" not in like.to_markdown()
    assert accuracy.to_dict()["unlike"]


def test_labels_in_the_rows_that_contradict_the_measurement_are_believed(judges, tmp_path):
    """Every label of these rows says the opposite of the judge."""
    settings = {"ava": {"checkpoint": str(measured(judges(), tmp_path / "judge"))}}
    rows = written(60)
    columns = columns_of(rows)
    verdicts = make_scorer("ava", settings["ava"]).statistics(columns)[0][:, 0]
    wrong = [{**row, "label": 1 - int(verdict)} for row, verdict in zip(rows, verdicts, strict=True)]
    right = [{**row, "label": int(verdict)} for row, verdict in zip(rows, verdicts, strict=True)]
    for labelled in (right, wrong):
        found = genqa_metrics.score(labelled, "ava", settings)
        assert {values["basis"] for values in found.accuracy["systems"].values()} == {"labels"}
        labels = {system: [row["label"] for row in labelled if row["system"] == system] for system in found.rows}
        shares = {system: values["accuracy"] for system, values in found.accuracy["systems"].items()}
        assert shares == pytest.approx({system: sum(some) / len(some) for system, some in labels.items()})


@pytest.fixture
def start(tiny_encoder, tmp_path):
    """A tiny judge that is an adapter, as the bundled one is."""
    import torch
    from genqa_metrics.core.judge_model import judge_model

    torch.manual_seed(5)
    options = {"configuration": "a1-r_qt", "lora_rank": 2, "max_length": 48, "marks": "valued"}
    args = train_ava.Arguments(encoder=str(tiny_encoder), **options)
    model = train_ava.judge_adapter(judge_model(tiny_encoder, "a1-r_qt", "valued"), args, 2, 4)
    folder = tmp_path / "start"
    folder.mkdir()
    train_ava.write_checkpoint(model, None, args, folder, long_answer=100, passage=50, reference_aggregation="joined")
    return folder


def label_all(rows, path):
    """Label rows as `genqa-metrics label` does; people know the truth."""
    truth = {(row["system"], row["question"], row["prediction"]): row["label"] for row in rows}
    tasks = tasks_of([{**row, "label": None} for row in rows], number=200, uniform_share=1.0)
    session = Session(path, tasks, "me")
    for task in tasks:
        session.label(task, truth[task.columns["system"], task.question, task.answer])


def test_the_page_train_your_own_judge(tmp_path, start, monkeypatch, capsys):
    """200 labelled rows, the commands of the page in their order, and a tiny model."""
    monkeypatch.chdir(tmp_path)
    rows = written(200)
    save(tmp_path / "rows.jsonl", [{**row, "label": None} for row in rows])
    label_all(rows, tmp_path / "labels.jsonl")
    text = PAGE.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for block in re.findall(r"```bash\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    trains, calibrates, scores = (
        next(shlex.split(line) for line in lines if part in line)
        for part in ("train_ava", "calibrate judge", "score rows.jsonl")
    )
    quick = "--max_steps 4 --use_cpu --report_to none --disable_tqdm 1 --per_device_train_batch_size 4"
    quick += " --learning_rate 1e-2"
    place = trains.index("--max_steps")
    trains[place : place + 2] = quick.split()
    trains[trains.index("small")] = str(start)
    run_program(monkeypatch, train_ava, trains[2:])
    assert "not calibrated" in capsys.readouterr().out
    final = tmp_path / "judge/final"
    before, after = (load_file(folder / "adapter_model.safetensors") for folder in (start, final))
    assert before.keys() == after.keys()
    assert any("lora_B" in name and not np.array_equal(before[name], after[name]) for name in before)
    made = judge_model.read_settings(final)
    inherited = {"max_length": 48, "marks": "valued", "long_answer": 100, "reference_aggregation": "joined"}
    assert made.items() >= inherited.items()
    held_out = (tmp_path / "judge/rows/own.dev.jsonl").read_text()
    asked = {json.loads(line)["question"] for line in held_out.splitlines()}
    trained_on = (tmp_path / "judge/rows/own.train.jsonl").read_text().splitlines()
    assert len(trained_on) > 120
    assert not asked & {json.loads(line)["question"] for line in trained_on}
    assert "| own.train |" in (final / "README.md").read_text()

    labels = len(held_out.splitlines())
    out, _ = run(*calibrates[1:])
    assert f"{labels} labels of {labels} answers" in out
    helps = (final / "calibration.json").is_file()
    assert helps == ("Nothing was written" not in out)
    assert (f"calibrated on {labels} labels of yours" in run(*scores[1:], "--verbose")[0]) == helps


def test_a_calibration_that_agrees_with_as_many_labels_does_not_help(settings, tmp_path, monkeypatch):
    monkeypatch.setattr("genqa_metrics.verbs.calibrate.report.sign_test", lambda *_: (5, 5, 1.0))
    path = tmp_path / "mine.json"
    rows = save(tmp_path / "rows.jsonl", written(60))
    report = genqa_metrics.calibrate(rows, str(path), settings)
    assert report.findings[0].startswith("Calibration ")
    assert "help. On questions that it was not fitted to" in report.findings[0]
    assert report.next_steps == ["take the accuracy of these answers from their labels: genqa-metrics accuracy FILE"]
    assert not path.exists()
    assert not any("intervals will be" in note for note in report.notes)  # none are made with it
    options = [word for name, value in settings.items() for word in ("--set", f"ava.{name}={value}")]
    out, _ = run("calibrate", rows, "--output", path, *options)
    assert f"genqa-metrics accuracy {path}" not in " ".join(out.split())
    assert "genqa-metrics accuracy" in out


@pytest.mark.parametrize(("worse", "said"), [(23, "worse on 23; p 0.410)"), (0, "worse on 0; p <0.001)")])
def test_a_gain_that_can_be_chance_writes_nothing(settings, monkeypatch, tmp_path, worse, said):
    """30 answers better and 23 worse are a net gain of 7, and the exact sign test has p .41."""
    rows = [row | {"question": f"what is {n}?"} for n, row in enumerate(written(53))]
    labels = np.array([row["label"] for row in rows])
    before = np.where(np.arange(53) < 30, 1 - labels, labels)
    after = np.where(np.arange(53) < 53 - worse, labels, 1 - labels)
    statistics = {"ava": np.stack([before, before], 1)}
    monkeypatch.setattr("genqa_metrics.scale.run.item_statistics", lambda *_: (statistics, {}))
    monkeypatch.setattr("genqa_metrics.verbs.calibrate.report.cross_fitted", lambda *_: after.astype(float))
    report = genqa_metrics.calibrate(rows, str(tmp_path / "mine.json"), settings)
    assert said in report.findings[0]
    assert (tmp_path / "mine.json").exists() == report.helps == (worse == 0)


def test_the_counts_are_those_of_the_labels_also_where_shares_are_weighted(settings, monkeypatch):
    """Answers drawn with probability 0.25 weigh four times as much; 12 of 40 verdicts are wrong, all among those.

    Before: 28 of 40 labels, and (20 + 4 * 8) of (20 + 4 * 20) answers. After calibration all labels agree.
    """
    chances = {True: 1.0, False: 0.25}
    rows = [row | {"genqa_probability": chances[n < 20]} for n, row in enumerate(written(40))]
    rows = [row | {"question": f"what is {n}?"} for n, row in enumerate(rows)]
    labels = np.array([row["label"] for row in rows], dtype=float)
    before = np.where(np.arange(40) < 28, labels, 1 - labels)
    monkeypatch.setattr(
        "genqa_metrics.scale.run.item_statistics", lambda *_: ({"ava": np.stack([before, before], 1)}, {})
    )
    monkeypatch.setattr("genqa_metrics.verbs.calibrate.report.cross_fitted", lambda *_: labels)
    report = genqa_metrics.calibrate(rows, settings=settings)
    assert "agrees with 40 of 40 labels, without calibration with 28 (better on 12" in report.findings[0]
    assert report.before["agreement"] == pytest.approx(52 / 100)
    (table,) = report.tables()
    assert [row[2] for row in table.rows] == ["28 of 40", "40 of 40"]
    assert [row[-1] for row in table.rows] == ["52.0%", "100.0%"]


def test_labels_at_random_write_nothing():
    """Where the better share of labels decided, 42% of such runs wrote a file."""
    assert calibrated_at_random(40, repeats=60) <= 0.05


def test_agreement_on_rows_that_calibrated_the_judge_says_so(settings, tmp_path):
    rows = save(tmp_path / "rows.jsonl", [row | {"score": row["label"]} for row in written(80)])
    report = genqa_metrics.calibrate(rows, settings=settings)
    report.write(tmp_path / "mine.json")
    own = {"ava": settings | {"calibration": str(tmp_path / "mine.json")}}
    said = "the judge was calibrated on 80 of these 80 answers, and errs less on them than on others"
    assert any(said in note for note in genqa_metrics.agree(str(rows), metrics="ava", settings=own).notes)
    unlabelled = [{name: row[name] for name in row if name not in ("score", "label")} for row in written(80)]
    scored = genqa_metrics.score(unlabelled, "ava", own)
    for screen in (scored, genqa_metrics.compare(unlabelled, "ava", own, resamples=100)):
        assert "judged right" in str(screen).lower()
        of_each = said.replace("80 of these 80", "40 of these 40")  # systems are compared one by one
        assert of_each.removeprefix("the ") in " ".join(screen.to_markdown().split())
    assert genqa_metrics.accuracy(unlabelled, settings=own["ava"]).systems["a"]["low"] is None
    assert "accuracy FILE --labels LABELS" in str(scored)
    assert genqa_metrics.accuracy(str(rows), settings=own["ava"]).systems["a"]["low"] is not None, "by labels"
    out, _ = run(
        "score", rows, "-s", f"ava.checkpoint={settings['checkpoint']}", "--calibration", tmp_path / "mine.json"
    )
    why = re.search(r"Why: genqa-metrics (explain .*?)\. All", " ".join(out.split()))[1]
    assert f"ava.calibration={tmp_path}/mine.json" in why
    explained, _ = run(*shlex.split(why.replace("FILE", str(rows))), "--worst", 1)
    assert "right from" not in explained, "the calibrated threshold is 0.5, as in the scores"
    threshold = f"mine.json; right from 0.50, on its old scale {report.to_dict()['threshold_after']:.2f}"
    assert threshold in " ".join(str(scored).split())
    others = [row | {"score": row["label"], "prediction": f"No, {row['prediction']}"} for row in written(80)]
    other = save(tmp_path / "other.jsonl", others)
    assert not any(said in note for note in genqa_metrics.agree(str(other), metrics="ava", settings=own).notes)


def test_errors_of_few_questions_are_those_of_few_answers():
    """100 labels of 10 questions, all answers to a question alike: 9 right and 1 wrong question."""
    groups = [f"q{n}" for n in range(10) for _ in range(10)]
    labels = np.repeat([1.0, 0.0], [90, 10])
    counts = calibration.effective_counts(labels, labels, np.ones(100), groups, ["x"] * 100)
    assert (counts["correct"], counts["incorrect"]) == (9, 1)
