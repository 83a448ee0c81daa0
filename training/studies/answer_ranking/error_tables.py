"""Where a judge errs: Tables 8 and 9 of Vu & Moschitti (2021) in numbers.

`RUNS` is the folder of `rank_systems.py` and `overfitted.py`, whose rankers are used. The paper shows examples; here
all are counted, and `--rows` of them are printed, but never written into the file.

- Table 8: the first answer of the adapted ranker for each test question. Where does the judge, which has references,
  know better than the ranker, which has none? Only references other than the answer are read, their mean counts, and
  the threshold is the one with the least RMSE of P@1 on dev.
- Table 9: what the judge and the ranker that was fitted to one correct answer choose among the answers that neither
  has seen, and how many words that choice shares with the correct answer.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from genqa_metrics.ava.loading import load_judge

from training import common
from training.ava.triples import as2_rows
from training.studies.answer_ranking import overfitted, rank_systems
from training.studies.answer_ranking.candidates import Question, questions_of
from training.studies.answer_ranking.rankers import cross_encoder
from training.studies.harness import Output, Study, digests
from training.studies.judges.compare_judges import token_f1

SURE = 0.5  # probability from which the ranker takes its first answer for right


def first_answers(questions: Sequence[Question], scores: list[np.ndarray], judge: Callable) -> list[dict]:
    """Return the first answer of every question with what ranker, judge and people say of it."""
    result, asked = [], []
    for question, own in zip(questions, scores, strict=True):
        best = int(np.argmax(own))
        row = {"question": question.text, "references": rank_systems.references_of(question)[best]}
        row |= {"candidate": question.candidates[best], "label": question.labels[best], "ranker": float(own[best])}
        result.append(row)
        asked += [(question.text, reference, row["candidate"]) for reference in row["references"]]
    values = iter(judge(*map(list, zip(*asked, strict=True))))
    return [row | {"judge": float(np.mean([next(values) for _ in row["references"]]))} for row in result]


def opinions(rows: Sequence[dict], threshold: float) -> list[dict]:
    """Return how many first answers ranker and judge take for right or wrong, and how many of them are right."""
    answers = pd.DataFrame(rows)
    sure, accepted = answers["ranker"] >= SURE, answers["judge"] >= threshold
    return [
        {"ranker": ranker, "judge": judge, "answers": int(own.sum()), "right": int(answers["label"][own].sum())}
        for ranker in (True, False)
        for judge in (True, False)
        for own in [(sure == ranker) & (accepted == judge)]
    ]


def choices(halves: Sequence[tuple[Question, Question]], judge: list[np.ndarray], ranker: list) -> list[dict]:
    """Return what judge and ranker choose for every question, whether it is right, and how near to the reference."""
    result = []
    for (known, unseen), *both in zip(halves, judge, ranker, strict=True):
        row = {"question": unseen.text, "reference": known.candidates[0]}
        for name, scores in zip(("judge", "ranker"), both, strict=True):
            best = int(np.argmax(scores))
            text = unseen.candidates[best]
            row[name] = {"answer": text, "label": unseen.labels[best], "f1": token_f1([row["reference"]], text)}
        result.append(row)
    return result


def choice_counts(rows: Sequence[dict]) -> dict:
    """Return how often judge and ranker choose right answers, and the mean F1 of words with the reference."""
    pairs = [(bool(row["judge"]["label"]), bool(row["ranker"]["label"])) for row in rows]
    names = {(True, True): "both", (True, False): "judge alone", (False, True): "ranker alone", (False, False): "none"}
    near = {name: float(np.mean([row[name]["f1"] for row in rows])) for name in ("judge", "ranker")}
    return {"questions": len(rows), "right": {name: pairs.count(pair) for pair, name in names.items()}, "f1": near}


def tables(result: dict) -> str:
    """Return the counts as Markdown."""
    corpora = result["first answers"]
    rows = []
    for cells in zip(*(value["opinions"] for value in corpora.values()), strict=True):
        says = ["right" if cells[0][side] else "wrong" for side in ("ranker", "judge")]
        numbers = [cell[name] for cell in cells for name in ("answers", "right")]
        rows.append([f"ranker says {says[0]}, judge says {says[1]}", *numbers])
    head = [title for name in corpora for title in (f"{name}: answers", "right")]
    parts = [common.markdown_table(["first answer", *head], rows)]
    value, rows = result["choices"], []
    for name, title in (("judge", "judge with the reference"), ("ranker", "ranker fitted to the reference")):
        right, alone = value["right"], value["right"][f"{name} alone"]
        rows.append([title, value["questions"], right["both"] + alone, alone, f"{value['f1'][name]:.3f}"])
    head = ["answer chosen", "questions", "right", "only this one right", "words shared with the reference, F1"]
    parts.append(common.markdown_table(head, rows))
    return "\n\n".join(parts)


def show(title: str, rows: Sequence[dict]) -> None:
    """Print example rows."""
    print(f"\n{title}", *(json.dumps(row, ensure_ascii=False) for row in rows), sep="\n")


@dataclass
class Arguments(Output):
    """What is counted."""

    data_dir: str = common.option("folder of the answer-sentence selection files")
    output_dir: str = common.option("folder of the rankers of rank_systems.py")
    judge: str | None = common.option("folder or Hub id of the judge; default: bundled", None)
    rows: int = common.option("example rows printed of each kind", 5)
    seed: int = common.option("of the halves of answers, as given to overfitted.py", 0)
    dtype: str | None = common.option("floating type of the judge; default float32", None)


def study(args: Arguments) -> dict:
    """Return all counts, and print example rows on the way; see the head of this file."""
    overfitted.need(args.output_dir, overfitted.TANDA, overfitted.FITTED)
    begun, loaded = common.clocks(), load_judge(args.judge, device="cpu", dtype=args.dtype)
    judge, folder = rank_systems.probabilities_of(loaded), Path(args.output_dir)
    result: dict = {"first answers": {}}
    tests = []
    for corpus, name in rank_systems.CORPORA.items():
        rows = {}
        for split in rank_systems.SPLITS:
            questions = questions_of(as2_rows(f"{name}.{split}", args.data_dir))
            questions = [question for question in questions if rank_systems.references_of(question)]
            tests += questions if split == "test" else []
            scores = cross_encoder(questions, args.seed, folder / overfitted.TANDA)
            rows[split] = first_answers(questions, scores, judge)
        tops, true = ([row[value] for row in rows["dev"]] for value in ("judge", "label"))
        threshold = rank_systems.best_threshold(np.array([tops]), np.array([np.mean(true)]))
        result["first answers"][corpus] = {"threshold": threshold, "opinions": opinions(rows["test"], threshold)}
        differ = [r for r in rows["test"] if (r["ranker"] >= SURE) != (r["judge"] >= threshold)]
        show(f"{corpus}: ranker and judge differ", differ[: args.rows])
    halves = overfitted.known_and_unseen(tests, args.seed)
    fitted = cross_encoder([unseen for _, unseen in halves], args.seed, folder / overfitted.FITTED)
    chosen = choices(halves, overfitted.judge_of_unseen(halves, judge), fitted)
    result["choices"] = choice_counts(chosen)
    differ = [row for row in chosen if row["judge"]["label"] != row["ranker"]["label"]]
    show("judge and fitted ranker: one of them right", differ[: args.rows])
    names = [f"{name}.{split}" for name in rank_systems.CORPORA.values() for split in rank_systems.SPLITS]
    facts = {"judge": loaded.signature, "seed": args.seed, "hours": common.hours_since(begun)}
    return facts | {"data": digests(names, args.data_dir)} | result


STUDY = Study(__spec__.name, Arguments, study, tables, {"errors": "errors"})

if __name__ == "__main__":
    STUDY.main()
