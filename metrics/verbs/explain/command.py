"""The command `explain`: show in the terminal, or on a page, why a metric scored an answer as it did."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Literal

from ... import terminal
from ...registry import JUDGE, OF_PASSAGES, SCORERS, make_scorer, scorer_class

WORST = 10  # answers of files on a page, as many as `score` lists
_WORST = f"Files: answers to show, worst first. Default: those that `score` shows; with --html {WORST}."
_VERBOSE = f"{JUDGE}: mark the words by how much the probability falls (+) or rises (-) without each of them."
ABOUT, LEAST_ANSWERS = 3, 3  # lines above and below the answers; answers on a first screen, however long
_SAME_WORDS = "with the words of an accepted answer, but for words of the question"
_METRIC = (
    "ava: how a wrong answer differs from the accepted one. kpqa: what it weighs and matches. "
    "grounding: which sentences no passage supports. aev, f_meta: of files, a sentence. Default: ava, as for score; "
    "kpqa with --idf; grounding with --context."
)
_IDF = "kpqa: show beside the weights how rare each word piece is in the references of this file of rows."
_CHECKPOINT = "Checkpoint of the metric: a folder, or its name on the Hub. Default: the one of the package."
_OUTPUT = "Files: write every sentence that no passage supports, one a line, to FILE (.csv, .tsv, .jsonl or .parquet)."


def explain(
    texts: terminal.inputs("QUESTION", "The question of one answer; or files of rows as for score."),
    prediction: terminal.option(str | None, "--prediction", metavar="TEXT", help="The answer to be explained.") = None,
    reference: terminal.repeated(
        "--reference", metavar="TEXT", help="A reference answer, once for each.", group=None
    ) = None,
    context: terminal.repeated(
        "--context", metavar="TEXT", help="grounding: a retrieved passage, once for each.", group=None
    ) = None,
    metric: terminal.option(Literal[*SCORERS] | None, "--metric", "-m", help=_METRIC) = None,
    idf: terminal.option(Path | None, "--idf", metavar="FILE", help=_IDF) = None,
    html: terminal.SamePage = None,
    checkpoint: terminal.option(str | None, "--checkpoint", metavar="FOLDER_OR_ID", help=_CHECKPOINT) = None,
    set_: terminal.Set = None,
    worst: terminal.option(int | None, "--worst", metavar="N", help=_WORST, min=1) = None,
    output: terminal.option(str | None, "--output", "-o", metavar="FILE", help=_OUTPUT, group=terminal.OUTPUT) = None,
    verbose: terminal.option(bool, "--verbose", "-v", help=_VERBOSE, group=terminal.OUTPUT) = False,
    column: terminal.Column = None,
    from_: terminal.From = None,
    systems: terminal.Systems = None,
    encoding: terminal.Encoding = None,
    rows_at: terminal.RowsAt = None,
    sheet: terminal.Sheet = None,
    split_references: terminal.SplitReferences = None,
    on_error: terminal.SkipOrFailOrNone = None,
) -> None:
    """Show why a metric scored an answer as it did; of files, the answers that a person should read first.

    **ava** prints the verdict and the reason: what a wrong answer lacks, adds, or has instead of what is accepted,
    where the texts show it. With `--verbose` words are marked by what the probability is without them.

    **kpqa** prints the answer and every reference with the keyphrase weight of each word piece, and marks the pieces
    that match. Below stand the weighted scores beside the unweighted ones and, with several references, which one
    gave each score.

    **grounding** prints the sentences of one answer, each with its probability and the evidence. Of files it prints
    the worst answers: the sentences that no passage supports, with the nearest sentence of a passage.

    **aev** and **f_meta** say of files, in a sentence each, why the rows with the lowest scores have them.

    **Examples**

    - `genqa-metrics explain "Who won?" --prediction "It was Ann." --reference Ann`

    - `genqa-metrics explain answers.jsonl --worst 3`

    - `genqa-metrics explain rag.jsonl -m grounding --worst 10 -o unsupported.csv`

    An empty prediction is explained (it scores 0); an empty question or reference is bad usage.

    **Exit status**: 0 done, 1 failed, 2 bad usage.
    """
    arguments = dict(locals())  # the arguments, by name
    from ...reports.report import SCREEN, WIDTH, Finding, as_sentence, say, say_next
    from ...rows.errors import bad_usage
    from .report import Explainer

    reading = [arguments[name] for name in terminal.READING]
    file_options = {name: arguments[name] for name in ("worst", "output", "column", "on_error", *terminal.READING)}
    with terminal.usage("explain"):
        if checkpoint == "":
            raise ValueError("--checkpoint: expected a folder or a name, got an empty one; is a shell variable unset?")
        metric = metric or ("kpqa" if idf else OF_PASSAGES if context else JUDGE)
        by_passages = scorer_class(metric).evidence == "contexts"
        judges = bool(scorer_class(metric).verdict)
        if idf and (judges or by_passages):
            raise ValueError("--idf: only kpqa weighs word pieces; leave it out, or take --metric kpqa")
        settings = terminal.read_settings_of(metric, set_)
        if checkpoint and settings.setdefault("checkpoint", checkpoint) != checkpoint:
            raise ValueError("--checkpoint: given twice, as an option and as a setting; drop one of the two")
        sources, texts_of_one = None, (prediction, context, reference)
        are_files = all(map(os.path.exists, texts))
        if not scorer_class(metric).explains_answers and (texts_of_one != (None, None, None) or not are_files):
            fix = "name files, without --prediction, --reference and --context"
            raise ValueError(f"--metric: {metric} says why of rows of files; {fix}")
        if texts_of_one == (None, None, None) and (by_passages or are_files):
            if output and not by_passages:
                raise ValueError(f"--output: only {OF_PASSAGES} writes its sentences; leave it out, or see `score -o`")
            terminal.check_outputs({"--html": html, "--output": output and Path(output)}, [*texts, idf])
            sources = terminal.read_inputs(texts, *reading)
        else:
            _check_one_answer(texts, metric, by_passages, prediction, reference, context, file_options)
            terminal.check_outputs({"--html": html}, [idf])
        row_options = {"columns": terminal.name_values("--column", column), "worst": worst or WORST}
        row_options["on_error"] = on_error or "fail"
        if sources:
            from ...rows.reading import recorded_settings
            from ...scale.options import with_recorded

            recorded, _ = recorded_settings(sources)
            settings = with_recorded(metric, settings, recorded.get(metric, {}), sources)
    out = terminal.output_console()
    out.width = min(out.width, WIDTH)
    words = terminal.reading_words(reading, column)
    out.names = names = terminal.names_of_files(texts, {"metrics": [metric], "settings": {metric: settings}}, words)
    headline, title, lines, explained, are_few, page_texts = "", "", [], [], False, {}
    with terminal.failures("explain" if sources else ""):
        corpus = _references_of(idf) if idf else ()
        if sources and not by_passages:
            answers_to_read, total, labelled = _answers_to_read(sources, row_options, metric, settings)
            every, to_read = sum(answers_to_read.counts.values()), answers_to_read.first
            if are_few := judges and not (worst or html):
                to_read = answers_to_read.examples
            kind, how = "sets" if scorer_class(metric).takes_sets else "answers", "judged" if judges else "scored"
            headline = title = f"Why these {kind} were {how} so"
            shown = f"{len(to_read):,} of {every:,}" if every > len(to_read) else f"All {every:,}"
            page_texts["answers_title"] = f"{shown} {kind} to read"
            page_texts |= _texts_of_page(answers_to_read, total, labelled) if judges else {}
            if not are_few:
                more = f" of {every:,}; all: --worst {every}" * (every > len(to_read))
                headline += f" (the {len(to_read)} to read first{more})"
            if not to_read:
                how = "as labelled or " * bool(labelled) + _SAME_WORDS
                terminal.say(f"no answer to read: all are judged right, {how}")
                return
        with bad_usage() if sources else nullcontext():
            scorer = make_scorer(metric, settings)
            if judges:
                scorer.word_effects = bool(verbose or html)
            explainer = Explainer(scorer, corpus, verbose)
        if not sources:
            answers = iter([explainer.explained(texts[0], prediction, context if by_passages else reference)])
        elif by_passages:
            answers, headline, lines = _unsupported(sources, explainer, row_options, output)
        else:
            answers = _explained(explainer, to_read)
        with out.capture() as captured:
            say(out, [*page_texts.get("conclusions", ())[:1], *[headline] * bool(headline)], "bold")
        out.file.write(captured.get())
        error_rate = [as_sentence(explainer.scorer.error_rate)] * bool(explainer.scorer.error_rate)
        say(out, error_rate, "bold yellow")
        say(out, lines, "")
        steps = [step for step in page_texts.get("next_steps", ()) if "--worst" not in step]  # which the last line has
        printed, counts = captured.get().count("\n") + 3 * len(steps), explainer.counts
        for answer in answers:  # each is shown when it is done
            with out.capture() as captured:
                say(out, [""] * bool(sources), "")
                explainer.show(answer, out, _name(answer) * bool(sources))
            printed += captured.get().count("\n")
            if are_few and len(explained) >= LEAST_ANSWERS and printed > SCREEN - ABOUT:
                explainer.counts = counts  # without this answer
                break
            explained.append(answer)
            counts = explainer.counts.copy()
            out.file.write(captured.get())
            out.file.flush()
    explainer.show_legend(explained, out)
    if are_few:
        first = f"{len(explained):,} of {every:,} answers to read"
        out.print()
        say_next(out, steps)
        say(out, [f"{first}; all: --worst {every}. The effect of each word: --verbose"], "dim")
    else:
        say(out, [""] * bool(steps))
        say_next(out, steps)
    verdict = explainer.verdict(explained[0]) if explained and not sources else ""
    findings = [*page_texts.get("conclusions", ()), *[as_sentence(verdict)] * bool(verdict), *lines]
    page_texts["conclusions"] = list(map(Finding, findings))
    page_texts["notes"] = [*filter(None, [explainer.scorer.error_rate]), *explainer.warnings]
    terminal.write_outputs(
        {"--html": (html, partial(explainer.page, explained, title or headline, names, **page_texts))}
    )


def _name(answer: Any) -> str:
    """Return the name and the system of an answer of a file."""
    return answer.id if answer.system in answer.id else f"{answer.id} of {answer.system}"


def _explained(explainer: Any, to_read: Iterable[Any]) -> Iterator[Any]:
    """Yield answers of files explained, each when it is done."""
    from .report import of_row

    for row in to_read:
        yield of_row(explainer.explained(row.question or "", row.prediction, row.references), row)


def _answers_to_read(
    sources: Sequence[Any], row_options: Mapping[str, Any], metric: str, settings: Mapping[str, Any]
) -> tuple[Any, int, int]:
    """Return the answers of files to read, an `AnswersToRead`, the number of all answers, and of labelled ones."""
    from ...rows.errors import bad_usage
    from ...scale.options import ScoreOptions
    from ...scale.run import Run
    from ...scale.scoring import CONFUSION

    with terminal.skipped_rows() as problem, terminal.progress_bars() as progress:
        progress("scoring", 0, None)  # while models are loaded
        with bad_usage():
            run = Run(sources, ScoreOptions([metric], {metric: settings}, **row_options))
        scores = run.score(terminal.say, problem, partial(progress, "scoring"))
    terminal.say_forms(sources)
    labelled = sum(counts[case] for counts in scores.judge.labels.values() for case in CONFUSION)
    return scores.to_read, sum(scores.counts.predictions.values()), labelled


def _texts_of_page(answers_to_read: Any, total: int, labelled: int) -> dict[str, Any]:
    """Return the finding of a page of judged answers, in which order they are, and what to do next."""
    from ...reports.report import as_sentence
    from ...scale.scoring import AGREED, DISAGREE, UNSURE

    counts, first = {kind: count for kind, count in answers_to_read.counts.items() if count}, answers_to_read.first
    shown = {kind: f"{count:,} answer{'s' * (count != 1)}" for kind, count in counts.items()}
    disagree = [f"label and judge disagree on {shown[DISAGREE]}"] if DISAGREE in shown else []
    without = " without a label" * bool(labelled)
    unsure = [f"the judge is unsure about {shown[UNSURE]}{without}"] if UNSURE in shown else []
    others = [f"{counts[kind]:,} {kind}" for kind in counts if kind not in (DISAGREE, UNSURE, AGREED)]
    others = [f"Others{without}: {', '.join(others)}"] * bool(others)
    others += [f"{shown[AGREED]} {AGREED}"] if AGREED in shown else []
    every, order = sum(counts.values()), Counter(answer.kind for answer in first)
    shown_first = [f"{count} {kind}" for kind, count in order.items()]
    as_labelled = "as labelled or " * bool(labelled)
    rest = f"; the others are judged right, {as_labelled}{_SAME_WORDS}" * (every < total)
    left = f"label the other {total - labelled:,} answers" if labelled else "label answers"
    label = f"{left}, which shows how often the judge is right: genqa-metrics label FILE -o labels.jsonl"
    more = f"See all {every:,}: genqa-metrics explain FILE --worst {every} --html all.html."
    return {
        "conclusions": [
            *map(as_sentence, filter(None, [" and ".join([*disagree, *unsure]), *others])),
            f"These are {every:,} of {total:,} answers{rest}.",
        ],
        "headline": f"Listed: {'; '.join(shown_first)}",
        "next_steps": [
            *[as_sentence(label)] * (labelled < total),
            *[more] * (every > len(first)),
        ],
    }


def _unsupported(
    sources: Sequence[Any], explainer: Any, row_options: Mapping[str, Any], output: str | None
) -> tuple[list[Any], str, list[str]]:
    """Return the worst answers of files, how many there are, and what else is known; messages go to standard error."""
    from .unsupported import unsupported_answers

    with terminal.skipped_rows() as problem, terminal.progress_bars() as progress:
        progress(explainer.scorer.name, 0, None)  # while models are loaded
        messages = {"notify": terminal.say, "problem": problem, "progress": progress}
        answers, counts, skips = unsupported_answers(sources, explainer, output=output, **row_options, **messages)
    terminal.say_forms(sources)
    if skips.skipped:
        terminal.warn(f"skipped {skips.skipped:,} bad rows")
    how_to_read = ["Read each sentence beside the passage under it: does the passage say so?"] * bool(answers)
    return answers, counts.headline(explainer.scorer.threshold, len(answers)), [*counts.lines(), *how_to_read]


def _check_one_answer(
    texts: list[str],
    metric: str,
    by_passages: bool,
    prediction: str | None,
    reference: list[str] | None,
    context: list[str] | None,
    file_options: Mapping[str, Any],
) -> None:
    """Raise a ValueError if the texts of one answer are missing or bad, or an option of files is given with them."""
    evidence, wrong = ("--context", "--reference") if by_passages else ("--reference", "--context")
    wanted, other = (context, reference) if by_passages else (reference, context)
    if other:
        raise ValueError(f"{wrong}: {metric} reads no such text; give {evidence}, or another --metric")
    for option, chosen in (("--prediction", prediction), (evidence, wanted)):
        if chosen is None:
            needed = f"{metric} explains one answer with --prediction and {evidence}"
            raise ValueError(f"{option}: missing; {needed}. Files of rows are named alone; there is none of this name")
    if len(texts) > 1:
        raise ValueError(f"QUESTION: expected one text, got {len(texts)}; put it into quotation marks")
    for option, chosen in file_options.items():
        if chosen:
            flag = "--" + option.rstrip("_").replace("_", "-")
            raise ValueError(f"{flag}: only for files of rows; leave it out")
    for option, chosen in {"QUESTION": texts, "--prediction": [prediction], evidence: wanted}.items():
        if any("\ud800" <= letter <= "\udfff" for text in chosen for letter in text):
            raise ValueError(f"{option}: expected valid Unicode text, got bytes that are not UTF-8")
        may_be_empty = option == "--prediction" or (option == "QUESTION" and by_passages)
        if not may_be_empty and not all(text.strip() for text in chosen):
            raise ValueError(f"{option}: expected a text, got an empty one; is a shell variable unset?")


def _references_of(path: Path) -> list[str]:
    """Return the references of all rows of a file."""
    from ...rows.sources import Source

    texts: list[str] = []
    for row in Source(str(path)).rows():
        result = row.values.get("references", row.values.get("reference")) or []
        texts += [result] if isinstance(result, str) else [text for text in result if isinstance(text, str)]
    if not texts:
        raise ValueError(f"--idf: {path} has no references; give a file of rows with a column references")
    return texts
