"""Rows of long answers with a known verdict: a causal language model is told what to say, right or wrong.

It answers from a passage of extractive QA, in which a wrong answer may have taken the place of the right one, or it
tells a judged answer in other words. An answer that may not say so is left out, see `doubt`.
"""

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from training.ava import wrong_answers as wa
from training.ava.triples import Triple, judged_triples
from training.common import json_rows, named_rows, option, parsed, share, weighted, write_rows
from training.kpqa import data as extractive

SYSTEM = "You write answers for a test of question answering. You follow the instructions exactly."
PASSAGE = (
    "Text:\n{passage}\n\nQuestion: {question}\n\nThe answer is: {answer}\n\n"
    '{style} Write only from the text, and use the words "{answer}".'
)
NOTE = "A customer asked: {question}\n\nNote:\n{note}\n\n{style} Do not mention the note."
PASSAGE_WORDS, BEFORE = 170, 500  # words of a passage, and characters of it before the answer
SHORT_NOTE, LONGEST_NOTE = 60, 200  # words
SHORT = 8  # words of a short answer
LEAST, MOST = 6, 300  # words of an answer
TOKENS, BATCH = 210, 256  # tokens of an answer, one that has more is left out; answers that are written at a time
_NEGATION = re.compile(r"\b(?:not|never|no|none|without|cannot|nor)\b|n't", re.IGNORECASE)
_TASK = re.compile(r"\b(?:the note|this note|rewrit|as an ai|the customer asked)\b", re.IGNORECASE)


@dataclass
class Arguments:
    """Which model writes how many answers, and the files that they are made of."""

    model: Path = option("GGUF file of an instructed causal language model, which has a chat template")
    output: Path = option("NAME.jsonl[.gz]; all texts are in OUTPUT.texts, from which a stopped run goes on")
    spans: list[str] = option("NAME=WEIGHT: extractive QA files to take passages of", [])
    spans_dir: str | None = option("folder of the extractive QA files", None)
    judged: list[str] = option("NAME=WEIGHT: files of verdicts whose answers are told in other words", [])
    judged_dir: list[str] = option("folders of the files of verdicts", [])
    passages: int = option("answers from passages, at most", 5000)
    notes: int = option("answers told in other words, at most", 5000)
    device: str | None = option("torch device; default the best available", None)
    dtype: str = option("floating type of the model", "bfloat16")
    seed: int = option("of the prompts and the answers", 0)


@dataclass(frozen=True)
class Prompt:
    """A prompt: `text` is read by the model, and the candidate of `row` is the answer that it has to express.

    `denied` are answers that it must not give, none if it tells a judged answer; `neighbours` are question and
    references of other questions about the same passage.
    """

    text: str
    row: Triple
    denied: tuple[str, ...] = ()
    neighbours: tuple[tuple[str, tuple[str, ...]], ...] = ()


def passage_prompts(rows: Sequence[dict], count: int, rng: random.Random) -> list[Prompt]:
    """Return at most `count` prompts of passages, half with a wrong answer of the same type for the right one."""
    answered, same_passage = [], defaultdict(list)
    for row in rows:
        references = tuple(dict.fromkeys(text.strip() for text in row["answers"]["text"] if text.strip()))[:3]
        if references and len(references[0].split()) <= SHORT and references[0].lower() not in ("yes", "no"):
            answered.append((row["question"].strip(), references, row["context"].strip()))
            same_passage[answered[-1][2]].append(answered[-1][:2])
    answers, prompts = wa.Answers((question, references[0]) for question, references, _ in answered), []
    for question, references, context in rng.sample(answered, len(answered)):
        match = wa.occurrence(references[:1], context)
        start = context.rfind(". ", 0, max(0, match.start() - BEFORE)) if match else -1
        passage = " ".join(context[start + 2 if start >= 0 else 0 :].split()[:PASSAGE_WORDS])
        right = Triple(question, references, references[0], 1.0, "passage")
        change = wa.CHANGES[rng.choice(["wrong_number", "wrong_answer"])]
        wrong = change(right, answers, rng) or wa.with_wrong_answer(right, answers, rng)
        if not wrong or not wa.occurrence(references[:1], passage):
            continue
        pattern = rf"(?<!\w){re.escape(references[0])}(?!\w)"
        changed = re.sub(pattern, lambda _, wrong=wrong: wrong, passage, flags=re.IGNORECASE)
        same = any(text.lower() in wrong.lower() or wrong.lower() in text.lower() for text in references)
        if same or wa.occurrence(references, changed):
            continue
        neighbours = tuple(other for other in same_passage[context] if other[0] != question)[:2]
        for row, denied, text, others in (
            (right, (wrong,), passage, neighbours),
            (replace(right, candidate=wrong, label=0.0), references, changed, ()),
        ):
            style = rng.choice(wa.WORDS["passage_styles"])
            asked = PASSAGE.format(passage=text, question=question, answer=row.candidate, style=style)
            prompts.append(Prompt(asked, row, denied, others))
        if len(prompts) >= count:
            break
    return prompts[:count]


def note_prompts(rows: Sequence[Triple], count: int, rng: random.Random) -> Iterator[Prompt]:
    """Yield at most `count` prompts to rephrase judged answers; short answers are to be told at length."""
    usable = [row for row in rows if row.label in (0, 1) and 2 <= len(row.candidate.split()) <= LONGEST_NOTE]
    for row in rng.sample(usable, min(count, len(usable))):
        size = "short" if len(row.candidate.split()) < SHORT_NOTE else "long"
        style = rng.choice(wa.WORDS[f"{size}_note_styles"])
        asked = NOTE.format(question=row.question, note=row.candidate, style=style)
        yield Prompt(asked, replace(row, kind="note"))


def _stems(text: str) -> set[str]:
    words = re.findall(r"[^\W\d_]{3,}", text.lower())
    return {word[:6] for word in words if word not in extractive.FUNCTION_WORDS and not _NEGATION.fullmatch(word)}


def _numbers(text: str) -> set[str]:
    return {number.replace(",", "") for number in re.findall(r"\d+(?:[.,]\d+)*", text)}


def doubt(prompt: Prompt, text: str) -> str | None:
    """Return the reason why a text may not have the verdict of its prompt, or None if it surely has this verdict."""
    row, asked = prompt.row, prompt.row.question.lower()
    if not LEAST <= len(text.split()) <= MOST:
        return "length"
    if _TASK.search(text):
        return "speaks of the task"
    if prompt.denied:
        if not wa.occurrence([row.candidate], text):
            return "answer missing"
        named = wa.occurrence(prompt.denied, text) and not any(answer.lower() in asked for answer in prompt.denied)
        return "other answer" if named else None
    new = _stems(row.candidate) - _stems(row.question)
    if len(new & _stems(text)) < (0.75 if row.label else 0.85) * len(new):
        return "words lost"
    if not _numbers(row.candidate) <= _numbers(text):
        return "numbers lost"
    before, after = (len(_NEGATION.findall(words)) for words in (row.candidate, text))
    if (before and not after) or (after and not before and (not row.label or after > 1)):
        return "negation"
    short = [text for text in row.references if len(text.split()) <= SHORT and text.lower() not in asked]
    corrected = [answer for answer in short if wa.occurrence([answer], text)]
    if not row.label and any(not wa.occurrence([answer], row.candidate) for answer in corrected):
        return "corrected"
    return None


def sure_rows(
    prompts: Sequence[Prompt], texts: Mapping[str, str | None], rng: random.Random
) -> tuple[list[Triple], Counter]:
    """Return rows with sure verdicts, balanced, and counts of reasons. A text of None did not end."""
    rows, reasons = [], Counter()
    for prompt in prompts:
        text = texts[prompt.text]
        reason = "unfinished" if text is None else doubt(prompt, text)
        reasons[reason or "kept"] += 1
        if reason:
            continue
        rows.append(replace(prompt.row, candidate=text))
        for question, references in prompt.neighbours:  # which it does not answer
            if not wa.occurrence(references, text) and rng.random() < 0.35:
                rows.append(Triple(question, references, text, 0.0, "neighbour"))
    rng.shuffle(rows)
    right, wrong = ([row for row in rows if row.label == label] for label in (1, 0))
    most = round(1.3 * min(len(right), len(wrong)))
    return right[:most] + wrong[:most], reasons


def written(model, tokenizer, prompts: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """Yield prompts and their answers, prompts of similar length together; None for an answer that did not end."""
    import torch

    chats = {}
    for prompt in prompts:
        chat = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": prompt}]
        chats[prompt] = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    ordered, end = sorted(chats, key=lambda prompt: len(chats[prompt])), tokenizer.eos_token_id
    sampling = {"do_sample": True, "temperature": 0.6, "top_p": 0.95, "top_k": 0, "repetition_penalty": 1.05}
    sampling |= {"max_new_tokens": TOKENS, "eos_token_id": end, "pad_token_id": tokenizer.pad_token_id}
    for start in range(0, len(ordered), BATCH):
        chosen = ordered[start : start + BATCH]
        settings = {"padding": True, "padding_side": "left", "add_special_tokens": False, "return_tensors": "pt"}
        inputs = tokenizer([chats[prompt] for prompt in chosen], **settings).to(model.device)
        with torch.inference_mode():
            answers = model.generate(**inputs, **sampling)[:, inputs["input_ids"].shape[1] :].tolist()
        for prompt, answer in zip(chosen, answers, strict=True):
            yield prompt, tokenizer.decode(answer, skip_special_tokens=True).strip() if end in answer else None
        print(f"{start + len(chosen):,} of {len(ordered):,} answers", flush=True)


def main() -> None:
    """Ask the model, and write the rows whose verdicts are sure."""
    args = parsed(Arguments)
    if not args.spans and not args.judged:
        raise ValueError("spans, judged: expected files to take passages or answers of, got neither; name some")
    if not args.model.is_file():
        raise ValueError(f"model: expected a GGUF file, got {args.model}, which is none; download one")
    rng = random.Random(args.seed)
    spans, judged = [], []
    for name, weight in weighted(args.spans):
        spans += share(list(named_rows("spans", name, args.spans_dir)), weight, rng)
    for name, weight in weighted(args.judged):
        judged += share(judged_triples(named_rows("judged", name, args.judged_dir), name), weight, rng)
    prompts = [*passage_prompts(spans, args.passages, rng), *note_prompts(judged, args.notes, rng)]
    prompts = list({prompt.text: prompt for prompt in prompts}.values())

    args.output.parent.mkdir(parents=True, exist_ok=True)
    path = Path(f"{args.output}.texts")
    texts = dict(json_rows(path)) if path.is_file() else {}
    if missing := [prompt.text for prompt in prompts if prompt.text not in texts]:
        import torch
        from genqa_metrics.core.inference import checked_device
        from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

        torch.manual_seed(args.seed + len(texts))
        source = {"pretrained_model_name_or_path": args.model.parent, "gguf_file": args.model.name}
        settings = {"quantization_config": GgufConfig(dequantize=True), "dtype": getattr(torch, args.dtype)}
        tokenizer = AutoTokenizer.from_pretrained(**source)
        model = AutoModelForCausalLM.from_pretrained(**source, **settings).to(checked_device(args.device))
        with path.open("a", encoding="utf-8", buffering=1) as file:
            for prompt, text in written(model, tokenizer, missing):
                file.write(json.dumps([prompt, text], ensure_ascii=False) + "\n")
                texts[prompt] = text

    rows, reasons = sure_rows(prompts, texts, rng)
    if not rows:
        problem = f"expected right and wrong answers whose verdict is sure, got {dict(reasons)}"
        raise ValueError(f"no rows: {problem}; ask for more")
    write_rows(args.output, (row.as_verdict() for row in rows))
    print(f"{len(rows):,} rows in {args.output}; texts: {dict(reasons)}")


if __name__ == "__main__":
    main()
