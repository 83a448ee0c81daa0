"""Question answering data sets of the Hugging Face Hub as rows with SQuAD's columns."""

from collections.abc import Iterator


def hub_rows(source: str) -> Iterator[dict]:
    """Yield rows of the training split of a data set on the Hub.

    Args:
        source: SQuAD's, HotpotQA's or MS MARCO's Hub name, or any data set with SQuAD's columns; a configuration can
            follow a colon (`hotpotqa/hotpot_qa:distractor`).

    Yields:
        Rows with `question`, `context`, `answers`; `whole` is true where all of the context is the answer's sentences.
    """
    from datasets import load_dataset

    name, _, configuration = source.partition(":")
    rows = load_dataset(name, configuration or None, split="train", streaming=True)
    convert = {"hotpot_qa": hotpot_row, "ms_marco": marco_row}.get(name.split("/")[-1], lambda row: row)
    yield from (row for row in map(convert, rows) if row)


def located(question: str, context: str, answer: str, whole: bool) -> dict | None:
    """Return a row in which the answer is a span of the context, or None if it is none."""
    start = context.lower().find(answer.lower()) if answer.strip() else -1
    if start < 0 or len(context.lower()) != len(context):  # a few letters change length in lower case
        return None
    span = context[start : start + len(answer)]
    return {
        "question": question,
        "context": context,
        "answers": {"text": [span], "answer_start": [start]},
        "whole": whole,
    }


def hotpot_row(row: dict) -> dict | None:
    """Return a HotpotQA row with all supporting sentences as context; None for yes and no."""
    sentences = dict(zip(row["context"]["title"], row["context"]["sentences"], strict=True))
    facts = zip(row["supporting_facts"]["title"], row["supporting_facts"]["sent_id"], strict=True)
    context = " ".join(sentences[title][i].strip() for title, i in facts if i < len(sentences.get(title, ())))
    return None if row["answer"].lower() in ("yes", "no") else located(row["question"], context, row["answer"], True)


def marco_row(row: dict) -> dict | None:
    """Return an MS MARCO row with a passage that holds an answer, a selected one if possible; None if none does."""
    passages = sorted(zip(row["passages"]["is_selected"], row["passages"]["passage_text"], strict=True), reverse=True)
    for answer in row["answers"]:
        if answer.strip().lower().rstrip(".") in ("", "yes", "no", "no answer present"):
            continue
        for _, passage in passages:
            result = located(row["query"], passage, answer.strip(), False)
            if result:
                return result
    return None
