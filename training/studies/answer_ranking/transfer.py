"""Answer sentences made of extractive QA, and encoders that have read a question beside a sentence.

Garg, Vu & Moschitti, "TANDA: Transfer and Adapt Pre-Trained Transformer Models for Answer Sentence Selection", AAAI
2020: a model first learns from a large set of answer sentences made by rule, then from the small one that was judged.
Theirs is made of Natural Questions; here the sentence of a paragraph that holds the answer is right, all others wrong.
"""

import copy
import random
from collections.abc import Iterable
from pathlib import Path

from training.studies.answer_ranking.candidates import Question

SOURCES = ("squad.train", "nq_oracle", "squadshifts_new_wiki")  # questions about Wikipedia
QUESTIONS = 3000  # of each source at most: about 28,000 pairs, ten minutes on one core
LONGEST = 60  # words of a sentence


def sentence_questions(rows: Iterable[dict], rng: random.Random, sentences: int = 6) -> list[Question]:
    """Return the sentences of the paragraphs of extractive QA (rows as SQuAD's) as candidate answers.

    A sentence is right that holds the first answer's span, wrong if no answer's text is in it; others are left out,
    and questions without both kinds. Of more than `sentences` candidates the wrong ones are drawn at random.

    >>> answers = {"text": ["Ann"], "answer_start": [0]}
    >>> rows = [{"question": "Who won?", "context": "Ann won. It rained.", "answers": answers}]
    >>> sentence_questions(rows, random.Random(0))
    [Question(text='Who won?', candidates=('Ann won.', 'It rained.'), labels=(1, 0))]
    """
    from sentencex import get_sentence_boundaries

    found = []
    for row in rows:
        context, answers = row["context"], row["answers"]
        start, right, wrong = answers["answer_start"][0], [], []
        for bounds in get_sentence_boundaries("en", context):
            begin, end = bounds["start_index"], bounds["end_index"]
            text = " ".join(context[begin:end].split())
            if not 0 < len(text.split()) <= LONGEST:
                continue
            if begin <= start < end:
                right.append(text)
            elif not any(answer.lower() in text.lower() for answer in answers["text"]):
                wrong.append(text)
        if right and wrong:
            wrong = rng.sample(wrong, min(sentences - 1, len(wrong)))
            texts = dict.fromkeys((*right, *wrong))
            found.append(Question(row["question"], tuple(texts), tuple(int(text in right) for text in texts)))
    return found


def reading_encoder(folder: str | Path, checkpoint: str | None = None) -> Path:
    """Write the encoder of KPQA's predictor, which has read questions beside sentences, and return its folder.

    A MiniLM that was made for the vectors of single texts has to learn first to compare two; on few rows it does not.
    """
    folder = Path(folder)
    if (folder / "model.safetensors").is_file():
        return folder

    from genqa_metrics.kpqa.loading import load_models
    from transformers import AutoModel, set_seed

    set_seed(0)  # of the pooler, which a predictor of words has not
    models = load_models(checkpoint, device="cpu")
    encoder = AutoModel.from_config(copy.deepcopy(models.predictor.config))
    encoder.load_state_dict(models.predictor.base_model.state_dict(), strict=False)
    encoder.save_pretrained(folder)
    models.tokenizer.save_pretrained(folder)
    return folder


def transfer_questions(spans_dir: str | Path, seed: int) -> list[Question]:
    """Return the answer sentences of `SOURCES` that a ranker learns from before those of WikiQA and TREC-QA."""
    from training.kpqa.data import read_rows

    rng, found = random.Random(seed), []
    for source in SOURCES:
        rows = list(read_rows(source, spans_dir))
        found += sentence_questions(rng.sample(rows, min(QUESTIONS, len(rows))), rng)
    return found
