"""Every command that a verb prints runs on the file that it was printed for, with the options that this file needs."""

import csv
import json
import re
import shlex
from pathlib import Path

import pytest
import typer
from genqa_metrics.cli import app
from genqa_metrics.core.judge_model import JudgeReader
from genqa_metrics.terminal import names_of_files
from typer.testing import CliRunner

from tests.factories.files import run, save

VERBS = typer.main.get_command(app).commands
ROWS = [
    {"id": f"q{number}", "system": system, "question": f"Who won race {number} in Orléans?", "prediction": answer}
    | {"references": [f"Élan {number}"], "topic": "ab"[number % 2]}
    for number in range(6)
    for system, answer in (("brief", f"Élan {number}"), ("long", f"I think it was Élan {number + number % 2}."))
]
LABELS = [{"id": row["id"], "system": row["system"], "label": int("think" not in row["prediction"])} for row in ROWS]


def semicolons(path):
    """Write CSV as a spreadsheet in Europe does: cp1252, semicolons, other names, two references in a cell."""
    with open(path, "w", encoding="cp1252", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(["Query", "Expected", "Answer", "Model"])
        for row in ROWS:
            writer.writerow(
                [row["question"], f"{row['references'][0]}|Elan {row['id'][1:]}", row["prediction"], row["system"]]
            )
    return ["--encoding", "cp1252", "--split-references", "|", "--column", "system=Model"]


def nested(path):
    path.write_text(json.dumps({"run": {"cases": [{"row": row} for row in ROWS], "more": [{"items": ROWS}]}}))
    return ["--rows-at", "run.more[*].items"]


def plain(path):
    save(path, ROWS)
    return []


def labelled(path):
    rows = (row | {"label": label["label"]} for row, label in zip(ROWS, LABELS, strict=True))
    save(path, [{"answer_text": row.pop("prediction")} | row for row in rows])
    return ["--column", "prediction=answer_text"]


def beside(path):
    save(path, ROWS)
    save(path.parent / "people.jsonl", LABELS)
    return ["--labels", "people.jsonl"]


def judged(path):
    save(path.parent / "rows.jsonl", ROWS)
    run("score", "rows.jsonl", "-o", path, "--set", "ava.threshold=0.7", "--set", "ava.rules=false")
    return []


FILES = {
    "semicolons.csv": semicolons,
    "nested.json": nested,
    "plain.jsonl": plain,
    "labelled rows.jsonl": labelled,
    "beside.jsonl": beside,
    "judged.jsonl": judged,
}


def commands_in(text):
    """Return the commands of a text, as lists of words: each ends before the first word that is no argument of it."""
    found = []
    for start in re.finditer(r"genqa-metrics ([a-z]+) (?=\S)", text):
        if start[1] not in VERBS:
            continue
        options = {name: option for option in VERBS[start[1]].params for name in option.opts if name[:1] == "-"}
        rest, words = text[start.end() :].split("\n")[0], [start[1]]
        while match := re.match(r"\s*('[^']*'|[^\s`]+)(`?)", rest):
            word = shlex.split(match[1] if match[1][:1] == "'" else shlex.quote(match[1]))[0]
            bare = word.rstrip(".,;:)`")
            after_option = words[-1] in options and not options[words[-1]].is_flag
            is_file = bare and (Path(bare).exists() or bare.endswith(".jsonl"))
            if not (after_option or bare in options or is_file):
                break
            words.append(bare)
            rest = rest[match.end() :]
            if bare != word or match[2]:
                break
        if len(words) > 1:
            found.append(words)
    return found


def test_commands_in_sentences():
    text = "Next: genqa-metrics label tests -o l.jsonl --number 3. Then run `genqa-metrics accuracy tests --labels "
    assert commands_in(
        text + "l.jsonl`, or genqa-metrics explain 'a b.jsonl'. genqa-metrics compare tests tells more."
    ) == [
        ["label", "tests", "-o", "l.jsonl", "--number", "3"],
        ["accuracy", "tests", "--labels", "l.jsonl"],
        ["explain", "a b.jsonl"],
        ["compare", "tests"],
    ]


@pytest.mark.parametrize("name", FILES)
def test_every_printed_command_runs_on_its_file(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = FILES[name](tmp_path / name)
    reading = [] if "--labels" in options else options
    printed = {"doctor": run("doctor", name, *([] if name == "semicolons.csv" else reading))[0]}
    for verb in ("score", "compare", "accuracy"):
        more = options if verb != "score" or "--labels" not in options else []
        printed[verb] = run(verb, name, *more, *(["--resamples", "100"] if verb == "compare" else []))[0]
    commands = [command for text in printed.values() for command in commands_in(text)]
    assert len(commands) > 1, printed
    order = ("score", "label", *VERBS)  # what a command writes is there for the next one
    for words in sorted({tuple(command) for command in commands}, key=lambda words: order.index(words[0])):
        more = ["--resamples", "100"] if words[0] in ("compare", "agree") else []
        result = CliRunner().invoke(app, [*words, *more], input="y\nn\n" * 40)
        too_few = words[0] == "calibrate" and "label more" in result.output
        assert result.exit_code == 0 or too_few, (words, result.output, result.exception)
        of_input = words[1] == name
        lacks = [option for option in reading if option not in words]
        assert not of_input or not lacks, (words, lacks)


def test_commands_of_a_page_name_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(tmp_path / "my rows.jsonl", ROWS)
    run("score", "my rows.jsonl", "--set", "ava.threshold=0.6", "--html", "page.html")
    page = (tmp_path / "page.html").read_text()
    command = "genqa-metrics explain &#39;my rows.jsonl&#39;"
    assert f'<code>{command} <span class="option">--set</span> ava.threshold=0.6</code>' in page
    assert " FILE" not in page


def test_doctor_proposes_how_a_file_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = semicolons(tmp_path / "a.csv")
    report = json.loads(run("doctor", "a.csv", "-f", "json")[0])
    first = shlex.split(report["can"][0]["command"])
    assert {*options} <= {*first}
    assert report["systems"] == {"brief": 6, "long": 6}
    assert report["bad_rows"] == 0
    for note in ("is read as cp1252", "references hold '|'", "column 'Model' is read as the system"):
        assert any(note in told for told in report["notes"]), note
    run(*first[1:], "-m", "aev")
    references = [json.loads(line)["references"] for line in (tmp_path / "judged.jsonl").read_text().splitlines()]
    assert references[0] == ["Élan 0", "Elan 0"]


def test_commands_keep_the_judge_unless_the_file_carries_it():
    given = {"metrics": ["ava"], "settings": {"ava": {"checkpoint": "large"}}, "on_error": "skip"}
    assert names_of_files(["a.csv"], given, ["--encoding", "cp1252"]) == {
        "FILE": "a.csv --encoding cp1252 --set ava.checkpoint=large --on-error skip"
    }
    assert names_of_files(["a.csv"], given | {"output": "b.jsonl"}, ["--encoding", "cp1252"]) == {"FILE": "b.jsonl"}
    assert names_of_files(["a.csv"], {"settings": {"threshold": 0.6}, "calibration": "c.json"}) == {
        "FILE": "a.csv --set ava.threshold=0.6 --set ava.calibration=c.json"
    }


def test_every_verb_reads_the_judge_of_a_judged_file(tmp_path, monkeypatch):
    """No row is judged again where no setting is named; another checkpoint, or another setting, is taken."""
    monkeypatch.chdir(tmp_path)
    judged(tmp_path / "judged.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "judged.jsonl").read_text().splitlines()]
    assert json.loads(rows[0]["ava_settings"]) == {"threshold": 0.7, "rules": False}
    beside(tmp_path / "rows.jsonl")
    save(tmp_path / "labelled.jsonl", [row | label for row, label in zip(rows, LABELS, strict=True)])
    triples, whole = [], JudgeReader.logits
    monkeypatch.setattr(JudgeReader, "logits", lambda reader, some: triples.extend(some) or whole(reader, some))
    few = ["--resamples", "100"]
    for words in (
        ["score", "judged.jsonl"],
        ["accuracy", "judged.jsonl", "--labels", "people.jsonl"],
        ["compare", "judged.jsonl", "--labels", "people.jsonl", *few],
        ["agree", "labelled.jsonl", "-m", "ava", *few],
    ):
        told = run(*words)[1]
        assert "ava: settings as the rows were judged before: rules=False, threshold=0.7" in told, words
        assert "12 rows judged before, by the same judge" in told, words
        assert not triples, words
    told = run("accuracy", "judged.jsonl", "--set", "ava.threshold=0.6")[1]
    assert "judged anew: the judge differs (threshold 0.7 -> 0.6)" in told
    assert triples


@pytest.mark.parametrize(
    "settings", ['{"checkpoint": "org/other"}', "[1]", "{", '{"device": "cuda", "batch_tokens": 1}']
)
def test_a_judged_file_makes_nothing_be_downloaded(settings, tmp_path):
    """The settings of a file from elsewhere: an unknown checkpoint, no object, and settings of its machine."""
    path = tmp_path / "judged.jsonl"
    save(path, ROWS[:6])
    run("score", path, "-o", tmp_path / "first.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "first.jsonl").read_text().splitlines()]
    save(path, [row | {"ava_settings": settings} for row in rows])
    told = run("accuracy", path)[1]
    assert ("which is not on this machine" in told) == ("other" in settings)
    assert "6 rows judged before, by the same judge" in told
