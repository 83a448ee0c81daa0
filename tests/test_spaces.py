"""The demos without a browser: reading of input, limits, and the folder that becomes a Space."""

import ast
import csv
import doctest
import gzip
import html
import importlib
import importlib.metadata
import json
import os
import re
import shutil
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from genqa_metrics.ava.scorer import RIGHT_ON_LONG
from genqa_metrics.core.checkpoints import checkpoint_digest
from gradio.processing_utils import move_files_to_cache
from markupsafe import Markup
from packaging.utils import canonicalize_name

from tests.factories.cases import with_cases
from tests.factories.files import save
from tests.factories.modules import printed_by
from tests.factories.spaces import BASES, CALLS, assert_same_scores, load_app
from tests.programs.packaging.licences import installed
from tests.test_viewer import Elements
from training.publish import space as publish_space

ROOT = Path(__file__).parent.parent

# An app in its Space: run from that folder, with the package of the Space and without Java.
IN_A_SPACE = """
import json, pathlib, runpy, sys

app = runpy.run_path(sys.argv[1], run_name="demo")
space, demo = pathlib.Path(sys.argv[1]).parent, app["DEMO"]
events = demo.page.fns.values()
limits = [function.concurrency_limit for function in events if function.inputs]
queues = {(f.concurrency_id, f.concurrency_limit) for f in events if f.fn and f.inputs}
named = [name for name, _ in queues if name in ("page", "file")]
assert len(named) == len(set(named)), "the lowest limit of a queue is that of all its events"
tabs = [block for block in demo.page.blocks.values() if block.get_block_name() == "tabs"]
assert tabs and all(each.overflow_behavior == "wrap" for each in tabs), "Gradio's menu hides tabs on phones"
call = app.get("compare", app.get("score"))(*json.loads(sys.argv[2]))
uploads, path = sys.modules["common.uploads"], str(demo.example_file)
names = uploads.peek(path)[0]
columns = uploads.guessed(names)
columns.setdefault("prediction", [name for name in names if name not in columns.values()])  # a column for each system
assert uploads.read(path, columns, sys.argv[3]).rows
files = sorted({module.__file__ for name, module in sys.modules.items() if getattr(module, "__file__", None)
               and (name.partition(".")[0] in ("genqa_metrics", "common", "training")
                    or module.__file__.startswith(str(space)))})
print(json.dumps([call, limits, files, app.get("METEOR_NOTE"), list(app.get("BASES", []))]))
"""
FACTS = ("evouna_nq", "evouna_tq")
MODULES = ("checks", "demo", "events", "html", "server", "uploads")


@pytest.fixture(scope="module")
def spaces():
    """The files that demos share, by name."""
    sys.path.append(str(ROOT / "spaces"))
    return SimpleNamespace(**{name: importlib.import_module(f"common.{name}") for name in MODULES})


@pytest.fixture
def word_judge_in_demo(word_judge, monkeypatch):
    monkeypatch.setenv("GENQA_CHECKPOINT", "words")


def test_a_demo_without_its_judge_opens_and_says_what_to_run(spaces, monkeypatch):
    demo = load_app("grounding").DEMO
    with pytest.raises(spaces.checks.Problem, match=r"not on this machine \(1,117 MB, once\). Run: genqa-metri"):
        demo.score("Who?", "Ann won.", "Ann won.")
    monkeypatch.setattr(spaces.server, "launch", lambda *_: None)
    demo.launch()
    assert "Run: genqa-metrics download --metric grounding" in demo.area.status.value
    assert not demo.area.results.visible
    assert [field.value for field in demo.inputs] == list(demo.first)


@pytest.fixture
def read(spaces, tmp_path):
    """Read a file as the demo of AVA does."""

    def read_file(content, name="answers.csv", columns=None, metric="ava"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return spaces.uploads.read(
            str(path), columns or spaces.uploads.guessed(spaces.uploads.peek(str(path))[0]), metric
        )

    return read_file


def test_examples_in_docstrings(spaces):
    found = [doctest.testmod(getattr(spaces, name)) for name in MODULES]
    assert sum(one.failed for one in found) == 0
    assert sum(one.attempted for one in found) >= 10
    runner, finder = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE), doctest.DocTestFinder()
    for app in map(load_app, ("aev", "f_meta", "kpqa")):
        for function in filter(callable, vars(app).values()):
            if getattr(function, "__module__", "") == app.show.__module__:
                for example in finder.find(function, function.__name__, module=False, globs=vars(app)):
                    runner.run(example)
    assert runner.summarize().failed == 0
    assert runner.tries > 10


def test_labels_of_people_in_a_file_are_used(read):
    rows = read("question,prediction,references,label\nWho?,me,me,1\nWhen?,now,later,0\nWhere?,here,there,\n").rows
    assert [row.get("label") for row in rows] == [1, 0, None]


@pytest.mark.parametrize("chosen", [["gpt", "claude"], ["gpt"]])
def test_one_column_for_each_system(read, chosen):
    columns = {"question": "question", "prediction": chosen, "references": "references", "system": "(none)"}
    rows = read("question,gpt,claude,references\nWho?,I,you,me\n", columns=columns).rows
    answers = [(row["system"], row["prediction"]) for row in rows]
    assert answers == ([("gpt", "I"), ("claude", "you")] if len(chosen) == 2 else [("answers", "I")])


def test_a_form_proposes_the_column_accepted_where_it_holds_answers(read, spaces, tmp_path):
    (tmp_path / "a.csv").write_text("question,answer,accepted\nWho?,I,me\n")
    (tmp_path / "b.csv").write_text("question,answer,gold,accepted\nWho?,I,me,1\n")
    for name, column in (("a.csv", "accepted"), ("b.csv", "gold")):
        proposed = spaces.uploads.guessed(*spaces.uploads.peek(str(tmp_path / name)))
        assert proposed == {"question": "question", "prediction": "answer", "references": column}
        assert read((tmp_path / name).read_bytes(), columns=proposed).rows[0]["references"] == ["me"]
    assert "references" not in spaces.uploads.guessed(["question", "accepted"]), "nobody sees what a program guesses"


HEADER = "question,prediction,references\n"


def test_bad_rows_are_listed_and_left_out(read, tmp_path):
    upload = read(HEADER + "Who?,I,me\n,I,me\nWho?,I,\nWho?,me,me\n")
    assert [row["id"] for row in upload.rows] == ["line 2", "line 5"]
    said = str(upload.problems_html())
    assert "2 rows were left out" in said
    assert "File, line 3: question: expected a question" in said
    assert "File, line 4: references: expected at least one reference" in said
    assert str(tmp_path) not in said
    assert "--" not in said, "options of the command line are no help here"


BAD_FILES = [
    (HEADER, "answers.csv", "File: it holds no rows"),
    ("x", "answers.txt", "File: expected a name that ends in .csv, .tsv, .json, .jsonl, .xlsx, .parquet, .eval; save"),
    (b"PK\x03\x04\x00", "answers.xlsx", "File: not a file that can be read: File is not a zip file; save the rows"),
    (gzip.compress(HEADER.encode() * 10), "answers.csv", "File: it is compressed; unpack it first."),
    ("question,said,references\nx,y,z\n", "answers.csv", "File, line 2: no prediction (a column named prediction or"),
    (HEADER + "x,y\n", "answers.csv", "File, line 2: expected 3 cells as in the header, got 2"),
    (HEADER + "x,y,z\n" * 2001, "answers.csv", "File: 2,001 rows are too many for this page; the limit is 2,000"),
    (HEADER + 'x,y,"[' + ", ".join(['""z""'] * 10_001) + ']"\n', "answers.csv", "File: 10,001 pairs of an answer"),
    (HEADER + f"x,y,{'z ' * 1_000_000}z\n", "answers.csv", "File: 2,000,003 characters are too many"),
    ("{not json}\n", "answers.jsonl", "File, line 1: not JSON"),
    ('{"question": "x", "prediction": ["y"], "references": "z"}\n', "a.jsonl", "expected one answer in each row"),
]


@pytest.mark.parametrize(("content", "name", "message"), BAD_FILES, ids=[message for *_, message in BAD_FILES])
def test_bad_files(read, spaces, tmp_path, content, name, message):
    with pytest.raises(spaces.checks.Problem, match=re.escape(message)) as error:
        read(content, name)
    assert str(tmp_path) not in str(error.value), "where the server keeps uploads is nobody's business"


def test_sets_are_bounded_by_their_pairs(spaces, read):
    """120 KB of questions would be 100,000,000 scores."""
    questions = [f"Q{i}?" for i in range(10_000)]
    row = json.dumps({"predictions": questions, "references": questions})
    with pytest.raises(spaces.checks.Problem, match="100,000,000 pairs of an answer and a reference are too many"):
        read(row, "sets.jsonl", {"prediction": "predictions"}, "f_meta")


def test_gradio_deletes_what_was_written_for_download(spaces):
    """What a button offers lies in Gradio's own folder, and among the files that it deletes after an hour."""
    import gradio as gr

    path = spaces.uploads.saved("scores.csv", "a,b")
    assert Path(path).read_text() == "a,b"
    button = gr.DownloadButton()
    offered = move_files_to_cache(button.postprocess(path), button, postprocess=True)
    assert {path, offered.path if hasattr(offered, "path") else offered["path"]} == button.temp_files == {path}


def test_no_file_and_a_file_that_is_gone(spaces, tmp_path):
    for path, message in (
        (None, "no file yet"),
        (str(tmp_path / "gone.csv"), "are kept for 60 minutes. Upload it ag"),
    ):
        with pytest.raises(spaces.checks.Problem, match=message):
            spaces.uploads.read(path, {}, "ava")


@with_cases
def test_bad_values(spaces, check, value, message):
    with pytest.raises(spaces.checks.Problem, match=re.escape(message)):
        getattr(spaces.checks, check)("name", value)


def test_an_unexpected_error_tells_nothing_of_the_server(spaces, capsys):
    def broken():
        raise RuntimeError("/secret/place")

    message = str(spaces.events.outcome(broken, 1)[0])
    assert "An error occurred on the server, not in your input. Please try again." in message
    assert "/secret/place" not in message
    assert "/secret/place" in capsys.readouterr().err


def test_long_work_says_how_far_it_is(spaces, monkeypatch):
    monkeypatch.setattr(spaces.events, "STEP", 0.01)
    shown = threading.Event()

    def work(tick):
        tick("Judging", 3, 5)
        shown.wait(60)
        return ["done", "result"]

    updates = spaces.events.LongWork(work, 1).run(None)
    assert any("Judging: 3 of 5" in update[0] and "visible" not in update[1] for update in updates), "the result stays"
    shown.set()
    *_, last = updates
    assert [last[0], last[-1]] == ["done", "result"]


def test_f_meta_names_what_is_not_asked():
    generated, references = "When was the 2014 world cup?", "Where was the final played?\nWhen was the 2014 world cup?"
    app = load_app("f_meta")
    scores, sentences, (_, tables), *_ = app.show([generated], references.splitlines(), app.DEFAULT)
    assert sentences[0] == "Covers **1 of 2** reference questions."
    assert re.match(r'Not asked: "Where was the final played\?" \(\d\.\d\d\). Recall counts', sentences[-2])
    assert 'data-label="asked by">none<' in tables
    alike = "R1 and R2 are too alike for this base metric"
    near = ["What is photosynthesis?", "What does photosynthesis need?"]
    _, sentences, (_, tables), *_ = app.show(near[:1], [*near, "Where was the final played?"], app.DEFAULT)
    assert sentences[0] == "**Cannot tell** how many of 3 reference questions are covered."
    assert alike in sentences[1]
    assert sentences[2].startswith('Not asked: "Where was the final played?" (')
    assert re.findall(r'data-label="asked by">([^<]*)<', tables) == ["cannot tell", "cannot tell", "none"]
    assert re.findall(r'data-label="asks">([^<]*)<', tables) == ["cannot tell"]
    assert app.show(["Who won?"], near, app.DEFAULT).sentences[0] == "Covers **0 of 2** reference questions."
    assert alike not in " ".join(app.show(near[:1], [near[0], "Where was the final played?"], app.DEFAULT).sentences)
    assert scores["f_meta_covered"] == 0.5


def test_aev_says_why_an_answer_with_the_right_words_scores_low():
    app = load_app("aev")
    answer = f"Press reset password in the security settings. {'We send an e-mail with a link. ' * 20}"
    sentences = app.show("Red and blue.", "red, yellow and blue", *app.IN_BETWEEN).sentences
    assert sentences[2].startswith("Low because the texts share no phrase of 2 words that count.")
    assert not any("-gram" in sentence for sentence in sentences)
    nothing = app.show("A train.", "red, yellow and blue", *app.IN_BETWEEN)
    assert nothing.sentences[2] == app.NOTHING
    assert nothing.outputs[0] == "", "a plane of zeros shows nothing"
    assert "/ava" in nothing.after
    for name, low in (("In between", True), ("Content", False)):
        result = app.show(answer, "Press reset password in the security settings.", *app.CORNERS[name])
        assert any("Low because the answer is" in sentence for sentence in result.sentences) == low


def test_aev_shows_what_is_shared_before_a_penalty_and_names_the_penalties_that_count():
    app = load_app("aev")
    for name, is_named in (("In between", True), ("Content", False)):
        result = app.show(
            "Black Sea", "The river Danube flows through ten countries into the Black Sea.", *app.CORNERS[name]
        )
        assert any("so the brevity penalty is 0.082" in sentence for sentence in result.sentences) == is_named
        cells = re.findall(r"<td[^>]*>([\d.]+)</td>", result.outputs[1])
        assert cells[:3] == ["1.000", "0.082", "0.082"], "all that the answer says is in the reference"


def test_the_front_door_shows_every_score_of_two_answers(spaces):
    """Its examples show what their notes say: words and judge on opposite sides, and an error of the judge."""
    app = load_app("home")
    equal = dict.fromkeys(app.SHOWN, 0.5)
    assert app.preferred([equal, dict.fromkeys(app.SHOWN, 0.55)]) == "All other scores prefer **B**."
    assert app.preferred([equal, dict.fromkeys(app.SHOWN, 0.54)]) == "All other scores see little difference."
    sentence = app.preferred([{**equal, "rougeL": 0.9, "aev": 0.4}, {**equal, "bertscore": 0.46}])
    assert sentence.startswith("ROUGE-L prefers **A**, AEv for content prefers **B**, BERTScore, ROUGE-L-KPQA and")
    assert app.doubt(0.88) == " (unsure: probability 0.88)"
    assert app.doubt(0.95) == ""
    assert app.NOT_ENGLISH in app.show("Wer schrieb den Faust?", ["Goethe"], "Das war Goethe.").sentences
    for example in app.DEMO.examples:
        status, bars, _ = app.DEMO.scored(spaces.events.ignore, *example.entries)
        calls = re.search(r"The judge calls <b>A (\w+)</b>.* and <b>B (\w+)</b>", status).groups()
        people = example.note.replace("Both are right", "A is right. B is right")
        truth = [*re.findall(r"\bA is (\w+)", people), *re.findall(r"\bB is (\w+)", people)]
        is_wrong_on_both = "The judge is wrong on both" in example.note
        assert [call != said for call, said in zip(calls, truth, strict=True)] == [is_wrong_on_both] * 2, example.label
        assert len(re.findall(r'<tr><th scope="row">', bars)) == len(app.SHOWN)
    assert any("The judge is wrong on both" in example.note for example in app.DEMO.examples)
    scores = app.DEMO.score(*app.DEMO.first)["scores"]
    page = (ROOT / "spaces/docs/pages/index.md").read_text(encoding="utf-8")
    for name, (title, _, fails) in app.SHOWN.items():
        line = next((line for line in page.splitlines() if line.startswith(f"| {title}") and fails in line), "")
        values = [float(number) for number in re.findall(r"\d\.\d+", line)]
        assert values in ([], [pytest.approx(score[name], abs=0.006) for score in scores]), name
    assert f'href="{spaces.demo.link_to("ava")}"' in bars
    question, references, first, _ = app.DEMO.first
    assert "B" not in re.findall(r'class="bar (\w)"', app.show(question, [references], first, "").outputs[0])


def test_the_headline_of_a_file_is_said_once_and_ends_with_one_full_stop(spaces, tmp_path):
    rows = [{"question": f"Who won {n}?", "prediction": "Ann.", "references": ["Ann"], "label": 1} for n in range(16)]
    path = save(tmp_path / "rows.jsonl", rows)
    demo = load_app("ava").DEMO
    columns = spaces.uploads.guessed(spaces.uploads.peek(str(path))[0])
    names = [columns.get(name, spaces.uploads.NONE) for name in demo.description["file"]["columns"]]
    status, frame, *_ = demo.scored_file(spaces.events.ignore, str(path), *names, "small")
    assert "All 16 answers have labels, which decide.<" in status
    assert frame.startswith('<iframe title="Report"')
    assert "class=&#34;embedded headed&#34;" in frame, "which hides the headline in the report"


@pytest.mark.parametrize("name", ["aev", "f_meta"])
def test_a_page_links_the_documentation_and_every_file_that_it_names(spaces, name):
    """The text of a card is read beside other files; on a page all its links lead to the repository."""
    blocks, repository = load_app(name).DEMO.page.blocks.values(), spaces.demo.REPOSITORY
    text = "\n".join(block.value for block in blocks if block.get_block_name() == "markdown")
    assert not re.findall(r"\]\((?!https:|#)[^)]*\)", text)
    assert not re.findall(r"(?<!\[)`training/[\w./]+`", text)
    for path in re.findall(rf"{repository}/(?:blob|tree)/main/([^)#]+)", text):
        assert (ROOT / path).resolve().exists(), path
    assert {spaces.demo.link_to(name) in text for name in ("home", "docs")} == {True}


def test_a_table_of_short_cells_stays_a_table_on_phones(spaces):
    rows = [["a", "0 of 12", spaces.html.fill("<b>{x}</b>", x="12 of 12")]]
    assert '<table class="texts">' in spaces.html.table(["", "echo", "own"], rows, "", {1})
    for name, more in (("own", ["b" * 40, "", ""]), ("a-system-with-a-long-name-2026-11", rows[0])):
        assert 'class="texts cards"' in spaces.html.table(["", "echo", name], [*rows, more], "")


def test_the_example_of_an_error_is_one_and_the_picture_has_its_probability():
    """A person calls the answer wrong; if a new judge does too, the example must go."""
    demo = load_app("ava").DEMO
    about = " ".join((ROOT / "spaces/ava/about.md").read_text(encoding="utf-8").split())
    assert f"on long answers of assistants with the labels on {RIGHT_ON_LONG['small']}" in about
    example = next(each for each in demo.examples if each.label.startswith("Judge's error"))
    result = demo.show(*demo.checked(example.entries, ["question", "answer", "references", "judge"]))
    score = result.scores["ava_score"]
    assert result.scores["ava_label"] == 1
    assert f'aria-label="Probability {score:.2f}; right from 0.50; unsure from 0.1 to 0.9"' in result.after
    assert f'<circle cx="{10 + 320 * score:.1f}"' in result.after


@pytest.mark.usefixtures("word_judge_in_demo")
@pytest.mark.parametrize("name", ["ava", "grounding", "kpqa"])
def test_a_demo_shows_the_report_of_explain(spaces, name):
    """As it is, in a frame, with no text of a visitor that is HTML outside of it or in it."""
    demo = load_app(name).DEMO
    nasty = '<b>x</b>"><script>window.hacked=1</script>${1}{{2}}'
    entries = [nasty, f"{nasty} They met in Rome.", "They met in Rome.", *demo.first[3:]]
    status, *outputs = map(str, demo.scored(spaces.events.ignore, *entries))
    page = "".join([status, *outputs])
    (shown,) = re.findall(r'<iframe title="[^"]+" onload="fitFrame\(this\)" srcdoc="([^"]*)"></iframe>', page)
    assert "<script" not in page
    assert not {"$", "{", "`"} & {*shown}, "Gradio would read a template"
    page = html.unescape(shown)
    assert page.startswith("<!DOCTYPE html>")
    assert [tag for tag, _ in Elements(page).found].count("script") == 2, "the row viewer and its rows"
    assert "\\u003cscript>window.hacked=1" in page
    assert f"{status}{page}".count("counts as right") == (name == "ava")  # the verdict is said once


def test_the_judge_of_a_demo_is_that_of_the_setting(spaces, judges, monkeypatch):
    other = str(judges())
    monkeypatch.setattr(spaces.server, "CHECKPOINT", other)
    digest = checkpoint_digest(Path(other))[:12]
    app = load_app("ava")
    assert app.JUDGES[:2] == [other, "small"]
    _, report, _, code = app.DEMO.scored(spaces.events.ignore, *app.DEMO.first)
    assert f"checkpoint:{digest}" in html.unescape(report).replace("<wbr>", "")
    assert f'evaluate.load("metrics/ava", checkpoint={other!r})' in html.unescape(code)
    assert "checkpoint" not in spaces.demo.metric_code("ava", predictions=["Six."])
    monkeypatch.delitem(sys.modules, "comparing", raising=False)  # it reads the setting when it is imported
    app = load_app("compare")
    del sys.modules["comparing"]  # monkeypatch would put it back, with this judge
    report = app.comparing.compared(spaces.events.ignore, CALLS["compare"][0])
    assert digest in report.signatures["ava"]
    columns = dict.fromkeys(("questions", "references", "answers", "labels"))
    for template, values in (("code_of_a_file.txt", {}), ("code_of_texts.txt", columns)):
        assert repr({"ava": {"checkpoint": other}}) in html.unescape(app.python_code(template, **values))


def test_a_larger_judge_is_offered_where_its_base_model_is(spaces, tmp_path, monkeypatch):
    """What is missing is named with the command that gets it, and nothing is downloaded."""
    only_here = []
    monkeypatch.setattr(
        "huggingface_hub.snapshot_download", lambda *_, **asked: only_here.append(asked["local_files_only"]) or 1 / 0
    )
    app = load_app("ava")
    assert app.JUDGES == ["small"]
    assert only_here == [True, True]
    assert "genqa-metrics download --metric ava --checkpoint SIZE" in app.JUDGE_NOTE
    with pytest.raises(spaces.checks.Problem, match="Judge: expected one of small, got large"):
        app.DEMO.score(*app.DEMO.first[:3], "large")
    monkeypatch.setattr("genqa_metrics.core.checkpoints.PinnedEncoder.matches", lambda *_: True)
    monkeypatch.setattr("genqa_metrics.core.checkpoints.cached_folder", lambda *_: tmp_path)
    app = load_app("ava")
    assert app.JUDGES == ["small", "base", "large"]
    assert "download" not in app.JUDGE_NOTE


@pytest.mark.parametrize("name", CALLS)
def test_no_click_is_dropped_while_the_one_before_is_answered(name):
    """Gradio's "once", the default, drops it: the page would show what was chosen before."""
    functions = load_app(name).DEMO.page.fns.values()
    asked = [one for one in functions if one.fn and any(event not in ("load", None) for _, event in one.targets)]
    assert asked
    assert [(one.name, one.targets) for one in asked if one.trigger_mode == "once"] == []


def test_a_comparison_opens_with_labelled_rows_and_a_finding_that_is_decided(spaces):
    """Words alone prefer the system with the wrong facts; people, the judge and weighted words the other one."""
    app = load_app("compare")
    rows = app.comparing.pasted(*app.DEMO.first)
    assert [row["label"] for row in rows] == 12 * [0] + 12 * [1]
    status, _, sides, framed, *_, code = app.DEMO.scored(spaces.events.ignore, *app.DEMO.first)
    assert "labels = {'echo': [0, 0, 0" in html.unescape(code)
    assert "Accuracy by labels: own words is significantly better than echo, by 100 points. 95% interval: " in status
    assert "accuracy: own words is significantly better" not in html.unescape(framed), "the finding is said once"
    assert app.comparing.LABEL_THEM not in status
    marked = re.findall(r'<th scope="row"[^>]*>([^<]*)</th>(?:<td[^>]*>(<b>)?.*?</td>){2}</tr>', sides)
    cells = [re.findall(r"<td[^>]*>(<b>)?", row) for row in re.findall(r'<tr><th scope="row".*?</tr>', sides)]
    assert [name for (name, _), (echo, _) in zip(marked, cells, strict=True) if echo] == ["ROUGE-L", "BERTScore"]
    assert [bool(echo) + bool(own_words) for echo, own_words in cells] == [1] * 6
    status, _, sides, *_ = app.DEMO.scored(spaces.events.ignore, *app.DEMO.examples[2].entries)
    said = "Accuracy by labels: too close to call: A is ahead of B by [0-9]+ points, but only 5 questions"
    assert re.search(said, status), "the finding is about chance"
    assert "<b>" not in sides, "6 and 5 of 8 are right: no system is marked as better"
    assert app.comparing.NO_WINNER in sides
    for row in rows:
        del row["label"]
    report = app.comparing.compared(spaces.events.ignore, rows)
    assert report.matched_by == "question and references", "pasted answers have no ids"
    assert any("genqa-metrics label" in note for note in report.notes)
    status, _, _, framed, *_ = app.shown_of(spaces.events.ignore, rows, Markup())
    framed = Markup(html.unescape(framed)).striptags()
    assert "genqa-metrics label" not in framed, "a page names no command, but what the page can do"
    assert "No winner: the accuracy cannot be told. 12 answers are too few" in status
    assert app.comparing.LABEL_THEM in status
    assert "By verdicts alone" not in status


def test_pasted_answers_are_lines_or_blocks_and_labels_one_for_each_question(spaces):
    comparing = load_app("compare").comparing
    asked = "Who wrote Hamlet?\nWhat do bees make?", "Shakespeare\nhoney"
    rows = comparing.pasted(*asked, "a", "- Shakespeare,\n- William\n\nhoney\n", "0\n1", "b", "Marlowe\nhoney", "")
    assert [row["prediction"] for row in rows] == ["- Shakespeare,\n- William", "honey", "Marlowe", "honey"]
    assert [row.get("label") for row in rows] == [0, 1, None, None]
    for labels in ("0\n1\n1", "0\nright"):
        with pytest.raises(spaces.checks.Problem, match=r"Labels of a: . lines for 2 questions; write 1"):
            comparing.pasted(*asked, "a", "Marlowe\nhoney", labels)


@pytest.mark.parametrize("base", BASES)
def test_a_base_of_f_meta_is_that_of_the_module(base):
    arguments = (["Who won it?", "When was it?"], ["Who won the cup?", "Which year was it?"], base)
    assert_same_scores("f_meta", load_app("f_meta").DEMO.score(*arguments), arguments)


def assert_installed(files, space):
    """Check that what these files import is in the requirements of their Space, or is installed with those."""
    lines = (space / "requirements.txt").read_text().splitlines()
    wanted = [line for line in lines if not line.startswith("--")]
    found = {canonicalize_name(name) for name in installed([*wanted, "gradio"])}
    at_top = [node for path in files for node in ast.parse(Path(path).read_text()).body]
    imported = {alias.name for node in at_top if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module for node in at_top if isinstance(node, ast.ImportFrom) and not node.level}
    modules = importlib.metadata.packages_distributions()
    own = {path.stem for path in space.iterdir()}
    for name in {name.partition(".")[0] for name in imported} - sys.stdlib_module_names - own:
        assert {canonicalize_name(each) for each in modules[name]} & found, name


# The comparison's Space has ava and kpqa; that of aev needs no model.
@pytest.mark.parametrize(
    "name", ["compare", *(pytest.param(name, marks=pytest.mark.slow) for name in ("aev", "f_meta"))]
)
def test_a_space_alone_gives_the_numbers_of_the_module(name, tmp_path):
    """The folder of `training.publish`, with the checkpoints that the Hub has otherwise, and without Java."""
    space = tmp_path / "space"
    publish_space.write_space(name, "ns", "v0", space)
    for metric in publish_space.WITH_CHECKPOINT:
        shutil.copytree(ROOT / "metrics" / metric / "checkpoint", space / "genqa_metrics" / metric / "checkpoint")
    clash = {path.stem for path in space.iterdir()} & sys.stdlib_module_names
    assert not clash, f"{clash}: the folder of an app is the first on its path, so others would import these files"
    (tmp_path / "bin").mkdir()
    environment = {**os.environ, "PATH": str(tmp_path / "bin")}
    metric = "ava" if name == "compare" else name
    command = [sys.executable, "-c", IN_A_SPACE, str(space / "app.py"), json.dumps(CALLS[name]), metric]
    out = printed_by(command, cwd=space, env=environment)
    scores, limits, files, note, bases = json.loads(out.splitlines()[-1])
    assert_same_scores(name, scores)
    assert limits
    assert set(limits) <= {1, 6, "default"}, "every event has a limit; the default is 1"
    assert files
    assert all(path.startswith(str(space)) for path in files)
    assert_installed(files, space)
    if name == "f_meta":
        assert "METEOR is not offered: it needs Java" in note
        assert bases == ["Same question", "ROUGE-L", "BLEU-4"]


@pytest.mark.parametrize("systems", [("=1+1", "b"), ("=1+1",)])
def test_the_file_of_all_scores_holds_no_formula(spaces, systems):
    """Names, questions and answers of a file could be run by a spreadsheet; `read` of the package gets them back."""
    app = load_app("compare")
    rows = [
        {"question": f"@SUM({n})?", "references": ["+1"], "prediction": "=HYPERLINK(1)", "system": system}
        for n in range(6)
        for system in systems
    ]
    *_, path = app.shown_of(spaces.events.ignore, rows, Markup())
    with open(path, encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    assert len(lines) == len(rows) + 1
    assert not any(re.match(r"[=+@-]", cell) for line in lines[1:] for cell in line)
    assert sum("'=HYPERLINK(1)" in line for line in lines) == len(rows)


def test_the_agreement_that_pages_name_is_measured():
    sets = json.loads((ROOT / "training/studies/meta_evaluation/results/meta_evaluation.json").read_text())["sets"]

    def correlation(data, metric):
        return f"{sets[data]['metrics'][metric]['pearson']['value']:.2f}"

    names = ("kpqa/intro.md", "aev/intro.md", "docs/pages/explanation/1-which-metric.md")
    kpqa, aev, which = (" ".join((ROOT / "spaces" / name).read_text().split()) for name in names)
    with_weights, without = (correlation("kpqa_marco", name) for name in ("ROUGE-L-KPQA", "ROUGE-L"))
    assert f"people's scores is {with_weights} with weights and {without} without" in kpqa
    names = ("AEv, content", "ROUGE-L", "AVA")
    content, plain, judge = ([correlation(data, metric) for data in FACTS] for metric in names)
    assert "Pearson's r of {} and {} (EVOUNA), where ROUGE-L has {} and {}.".format(*content, *plain) in aev
    assert "reaches {} and {} without a model".format(*content) in which
    assert "Pearson's r is {} and {}.".format(*judge) in which
    assert f"leads the judge, {with_weights} against {correlation('kpqa_marco', 'AVA')}" in which
    ours = ("AVA", "AEv, content", "ROUGE-L-KPQA", "BLEU-1-KPQA", "BERTScore-KPQA")
    pupils = max(correlation(data, metric) for data in ("beetle", "scientsbank", "mohler") for metric in ours)
    assert f"no metric of this table reaches more than {pupils}" in which
