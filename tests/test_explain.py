"""The command `explain`: the numbers of the metrics, marks, the terminal, and the row viewer's page."""

import itertools
import math
import re
from contextlib import nullcontext
from functools import partial

import numpy as np
import pytest
from genqa_metrics import terminal
from genqa_metrics.kpqa import loading
from genqa_metrics.kpqa.explaining import in_heaviest_subsequence, marks
from genqa_metrics.kpqa.scorer import KpqaScorer
from genqa_metrics.kpqa.scoring import Tokens, heaviest_common_subsequence
from genqa_metrics.registry import make_scorer
from genqa_metrics.reports.report import Finding
from genqa_metrics.rows.cells import NO_ANSWER
from genqa_metrics.verbs.explain.report import Explainer
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import files
from tests.factories.cases import with_cases
from tests.factories.explained import explainer, judged, printed

run = partial(files.run, "explain")


@pytest.fixture
def command(tiny_checkpoint, tiny_encoder, monkeypatch):
    """Arguments of a good call, with the tiny encoder in the place of the base encoder."""
    monkeypatch.setattr(loading, "base_encoder", lambda: tiny_encoder)
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    texts = ["--prediction", "there are seven xyz", "--reference", "four xyz", "--reference", "seven are there"]
    return ["how many steps are in a test", *texts, "--metric", "kpqa", "--checkpoint", tiny_checkpoint]


token_ids = st.lists(st.integers(0, 3), max_size=7)


@given(st.data())
def test_the_heaviest_subsequence_is_common_and_heaviest(data):
    """Against every subset of the tokens, and against the sum that the scores use."""
    ids, others = data.draw(token_ids), data.draw(token_ids)
    weights = data.draw(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=len(ids), max_size=len(ids)))

    def is_common(chosen):
        rest = iter(others)
        return all(ids[i] in rest for i in chosen)

    subsets = itertools.chain.from_iterable(itertools.combinations(range(len(ids)), n) for n in range(len(ids) + 1))
    heaviest = max(sum(weights[i] for i in chosen) for chosen in subsets if is_common(chosen))
    chosen = np.flatnonzero(in_heaviest_subsequence(ids, weights, others))
    assert is_common(chosen)
    assert sum(weights[i] for i in chosen) == heaviest
    if ids and others:
        arrays = np.array([ids]), np.array([weights]), np.array([others])
        assert heaviest_common_subsequence(*arrays)[0] == heaviest


def tokens(ids, weights):
    return Tokens(np.array(ids), np.array(weights), np.zeros((len(ids), 2)))


def test_marks_of_word_pieces():
    """Ids 7 and 8 are shared; 8 comes before 7 there, and 7 is heavier; two pieces of one emoji are one mark."""
    here, there = tokens([7, 8, 1, 2, 9], [0.9, 0.3, 0.1, 0.7, 0.01]), tokens([8, 7], [1.0, 1.0])
    assert marks([(0, 1), (2, 3), (4, 5), (4, 5), (6, 7)], here, there) == [
        (0, 1, "weight5", "0.90 BL"), (2, 3, "weight2", "0.30 B"), (4, 5, "weight4", "0.70")
    ]  # fmt: skip


def test_the_numbers_of_an_explanation_are_those_of_the_metric(command, tiny_checkpoint):
    scorer = KpqaScorer(checkpoint=str(tiny_checkpoint))
    references = ["four xyz", "seven are there"]
    answer = Explainer(scorer).explained(command[0], "there are seven xyz", references)
    columns = {"questions": [command[0]], "predictions": ["there are seven xyz"], "references": [references]}
    statistics = scorer.statistics(columns, explain=True)
    scores, details = scorer.row_scores(statistics.values), statistics.details
    for (label, text), name in zip(answer.evidence, ("bleu1", "rougeL", "bertscore"), strict=True):
        weighted = f"{name}_kpqa"
        assert text.startswith(f"{scores[weighted][0]:.3f}, without weights {scores[name][0]:.3f}"), label
        assert text.endswith(f"; reference {details[f'{weighted}_reference'][0] + 1}")
    weights = {(start, end): weight for _, weight, start, end in details["explanation"][0]["prediction"]}
    assert answer.marks
    assert all(float(text.split()[0]) == round(weights[start, end], 2) for start, end, _, text in answer.marks)


def test_odd_texts(command, tiny_checkpoint):
    explain = Explainer(KpqaScorer(checkpoint=str(tiny_checkpoint)))
    empty = explain.explained("who", "", ["it \x00 is 😀"])
    assert (empty.answer, empty.references, empty.marks) == ("", ["it is 😀"], [])  # as it is read
    long = explain.explained("who", "seven " * 300, ["seven"])
    assert long.marks[-1][1] < len(long.answer)
    assert any("longer than the model reads" in warning for warning in explain.warnings)
    for references in ([], [" ", "it"]):
        with pytest.raises(ValueError, match="references, row 0"):
            explain.explained("who", "it", references)


def test_the_command(command, tmp_path):
    """Everything that is printed stands on the page, which is the row viewer's with one answer."""
    file = tmp_path / "page.html"
    out, err = run(*command, "--html", file)
    assert err == ""
    shown = dict(re.findall(r"^(\S+(?: \d)?) {2,}(\S.*)", out, re.MULTILINE))
    assert list(shown)[:4] == ["Question", "Answer", "Reference 1", "Reference 2"]
    assert "x(" in out  # the pieces of xyz
    assert "##" not in out
    ((asked,), text) = files.questions_of(file.read_text()), file.read_text(encoding="utf-8")
    (row,) = asked["rows"]
    assert [label for label, _ in row["evidence"]] == ["BLEU-1-KPQA", "ROUGE-L-KPQA", "BERTScore-KPQA"]
    assert all(value.split(";")[0] in " ".join(out.split()) for _, value in row["evidence"])
    assert '"single": true' in text
    assert "script-src 'sha256-" in text
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_answers_of_files_are_shown_when_they_are_explained(tmp_path, monkeypatch):
    """A bar is there before the models are loaded."""
    calls, order = [], []
    monkeypatch.setattr(terminal, "progress_bars", lambda: nullcontext(lambda *told: calls.append(told)))
    monkeypatch.setattr(Explainer, "explained", lambda *texts: order.append("explained") or judged())
    monkeypatch.setattr(Explainer, "show", lambda *texts: order.append("shown"))
    rows = [{"question": "Who?", "prediction": text, "references": ["Ann"]} for text in ("Bob", "Carla")]
    run(files.save(tmp_path / "rows.jsonl", rows), "--metric", "kpqa")
    assert calls[0] == ("scoring", 0, None)
    assert order == ["explained", "shown"] * 2


def test_rarity_of_words_in_a_file(command, tmp_path):
    """Of two texts both have "are", one has "seven", none "there": log(3/3), log(3/2), log(3/1), over the largest."""
    file = tmp_path / "rows.jsonl"
    file.write_text('{"references": ["seven are", "are"]}\n')
    seven = math.log(1.5) / math.log(3)
    shown = " ".join(run(*command, "--idf", file)[0].split())
    assert f"Rarity (IDF), answer there (1.00) are (0.00) seven ({seven:.2f})" in shown
    file.write_text('{"prediction": "seven"}\n')
    assert "--idf" in run(*command, "--idf", file, status=1)[1]
    assert "only kpqa weighs" in run(*command, "--idf", file, "--metric", "ava", status=2)[1]


@with_cases
def test_bad_usage(command, place, text, message):
    command[place] = text
    _, err = run(*command, status=2)
    assert message in err
    assert "--help" in err


def test_no_checkpoint(command, tmp_path):
    command[-1] = "nobody/nothing"
    _, err = run(*command, status=1)
    assert "checkpoint: none found. Tried: nobody/nothing on the Hub" in err
    command[-1] = tmp_path
    _, err = run(*command, status=1)
    assert "checkpoint: expected a folder with a config" in err


def test_an_answer_in_the_terminal():
    lines = printed(judged(references=("later", "1945")), explainer()).splitlines()
    assert lines == [
        "Judged wrong, but unsure (probability of being right: 0.12)",
        'Why       "1944" instead of "1945".',
        "Question  When?",
        "Answer    In 1944(-0.50).",
        "Accepted  1945",
        "or        later",
        "",
        "What marks mean.",
    ]
    plain = explainer()
    plain.shows_effects = False
    assert printed(judged(), plain).splitlines()[3:] == ["Answer    In 1944.", "Accepted  1945", "or        later"]
    long = printed(judged(question=" ".join(f"word{n}" for n in range(60))), explainer()).splitlines()
    assert max(map(len, long)) <= 100
    assert {line[:10] for line in long[3:6]} == {" " * 10}  # wrapped beside the label
    coloured = printed(judged(), explainer(), force_terminal=True, color_system="truecolor")
    assert "\x1b[38;2;0;0;0;48;2;253;186;116m1944" in coloured
    assert "Blue is good. What marks mean." in coloured
    assert "Blue is good." in explainer().page([judged()])


def test_neither_terminal_nor_page_is_controlled_by_a_text():
    script = "<script>alert('x')</script>\"'&amp;<img src=http://evil onerror=alert(1)>"
    nasty = f"{script}\x1b[31mred\x1b]0;title\x07\u202eevil\u2066\x9b5A[bold]\r"
    answer = judged(
        question=nasty, answer=nasty, references=(nasty,), reason=nasty, evidence=((nasty, nasty),), marks=()
    )
    explain = explainer(legend=nasty, signature=nasty)
    page = explain.page([answer], nasty, conclusions=[Finding(nasty)], notes=[nasty])
    coloured = printed(answer, explain, force_terminal=True, color_system="standard")
    for out in (printed(answer, explain), page):
        assert not set("\x1b\x07\u202e\u2066\x9b\r") & set(out)
        assert "]0;title" in out
        assert "[bold]" in out
    assert not re.search(r"\x1b\]|\x07", coloured)
    assert not re.search("<(script>alert|img)", page)
    assert "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" in page


ROWS = [
    {"id": "far", "question": "How far is it?", "prediction": "About forty steps.", "references": ["20 steps"]},
    {"id": "near", "question": "Who keeps the key?", "prediction": "The porter.", "references": ["the janitor"]},
]


@pytest.mark.parametrize("metric", ["ava", "kpqa", "aev"])
def test_answers_of_files_on_a_page(metric, tmp_path):
    """Every answer that the terminal explains stands in the row viewer, under the id of its row, with its reason."""
    rows, file = files.save(tmp_path / "rows.jsonl", ROWS), tmp_path / "page.html"
    out, _ = run(rows, "--metric", metric, "--html", file)
    shown = files.questions_of(file.read_text(encoding="utf-8"))
    assert {asked["rows"][0]["id"]: asked["question"] for asked in shown} == {
        row["id"]: row["question"] for row in ROWS
    }
    for asked in shown:
        (row,) = asked["rows"]
        assert f"{row['id']} of rows" in out
        reason = row["reason"].removeprefix("Unsure: ").partition("; accepted: ")[0]  # which stand beside it
        assert reason.lower() in " ".join(out.split()).lower()
        assert ("verdict" in row) == (metric == "ava")
    without_scripts = file.read_text(encoding="utf-8").partition("<noscript>")[2].partition("</noscript>")[0]
    assert all(row["prediction"] in without_scripts and row["question"] in without_scripts for row in ROWS)


def test_a_page_says_what_to_read_and_where_label_and_judge_disagree(tmp_path):
    """A label against the judge is named first; of a right answer stands which words it has."""
    right = {
        "id": "same",
        "question": "Where is it?",
        "prediction": "It is in Bern, they say.",
        "references": ["Bern"],
    }
    rows = files.save(tmp_path / "rows.jsonl", [ROWS[0] | {"label": 1}, ROWS[1], right]), tmp_path / "page.html"
    out, _ = run(rows[0], "--html", rows[1], "--worst", "2")
    disagree = "Label and judge disagree."
    assert f"Why       {disagree}" in out
    page = rows[1].read_text(encoding="utf-8")
    assert files.questions_of(page)[0]["rows"][0]["reason"].startswith(disagree)
    assert '<p class="finding">Label and judge disagree on 1 answer.</p>' in page
    assert "These are 3 of 3 answers" in page
    assert "<h2 data-heading>2 of 3 answers to read</h2>" in page
    assert "<b>Next:</b> Label the other 2 answers" in page
    assert out.startswith("Label and judge disagree on 1 answer.\n")
    assert "Next: label the other 2 answers, which shows" in out
    assert "--worst</span> 3" in page
    assert "It has all telling words of the accepted answer, or forms of them." in run(rows[0], "--worst", "9")[0]


@pytest.mark.parametrize(
    ("question", "accepted", "answer", "reason"),
    [
        (
            "When does it open?",
            "On 15 February, at 9 am",
            "It opens on 15 May at 9 am.",
            '"15 May" instead of "15 February".',
        ),
        ("What does it cost?", "$1,299.50", "It costs $1,299 a month.", '"$1,299" instead of "$1,299.50".'),
        ("Who built it?", "Ann Lee built it.", "It was built by Bo Ray.", '"Bo Ray" instead of "Ann Lee".'),
        ("When did it end?", "1945", "1944", "'1944' is not '1945' (checked by rule)."),
    ],
)
def test_the_bundled_judge_says_which_number_date_or_name_is_wrong(question, accepted, answer, reason):
    explained = Explainer(make_scorer("ava")).explained(question, answer, [accepted])
    assert explained.reason.removeprefix("Unsure: ") == reason


def test_rejected_answers_without_a_reason_in_words_are_counted(tmp_path):
    """Neither those that decline or whose words are in another order, nor right ones are among them."""
    question = {"question": "Why did it close?", "references": ["The owner of the shop sued the bank."]}
    answers = ["Its roof leaked badly in every rain of the winter.", "The bank of the shop sued the owner."]
    answers += ["I don't know.", "The owner of the shop sued the bank.", "The owner of the shop sued the town."]
    rows = files.save(tmp_path / "rows.jsonl", [question | {"prediction": text} for text in answers])
    out = " ".join(run(rows, "--worst", "9")[0].split())
    assert out.count("gives no reason in words") == 1
    note = "Note: answers shown here that are judged wrong without a reason in words: 1; --set ava.checkpoint=large"
    assert note in out, out


def test_words_of_an_answer_that_declines_by_a_rule_have_no_effect():
    """Where a rule says that it may decline no word counts; where the model reads it, what the model says of words."""
    explain = Explainer(make_scorer("ava"))
    right, wrong = (explain.explained("Who wrote Hamlet?", "I don't know.", [text]) for text in (NO_ANSWER, "Marlowe"))
    assert right.reason.startswith("It declines, and the question has no answer")
    assert right.marks == []
    assert wrong.reason == "It declines to answer; accepted: 'Marlowe'."
