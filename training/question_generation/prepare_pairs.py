"""Make (sentence, question) pairs from rows of extractive question answering, none of them near the test part.

A row of span QA has a passage, a question and the place of the answer. Du et al. (2017) ask about the one sentence
that holds the answer, in lower-case tokens of the Penn treebank; so do the files written here.
"""

import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from genqa_metrics.core.checkpoints import file_digest

from training.common import json_rows, named_file, option, parsed, write_rows
from training.question_generation.contexts import treebank

# Names of files, and whether the titles in them are names of articles: "Filtered_Reddit_Comments" is not one.
SOURCES = {
    name: name in ("squad.train", "squadshifts_new_wiki", "quoref_contrast", "nq_oracle")
    for name in (
        "squad_du2017.dev squad.train squad_para.dev squadshifts_new_wiki squadshifts_amazon squadshifts_reddit "
        "quoref_contrast hotpot musique.train nq_oracle sciq.train tweetqa.train fairytaleqa.train friendsqa.dev "
        "covidqa bioasq_factoid paper_abstract_qa trecqa.train wikiqa_ans.train subjqa.train"
    ).split()
}
LICENCES = Path(__file__).with_name("licences.json")  # sources with a stated licence that allows every use
NOT_STATED = "not stated, or non-commercial"
SHORTEST = 3  # words of a sentence and of a question that are worth learning
LONGEST = 100  # words of a sentence; what is longer is a table or a list
EVIDENCE = 20  # letters of a test sentence below which finding it in a passage says nothing
BLOCK = 100  # neighbouring sentences of the dev part that go together
RUN = 13  # words in a row that count as a copied passage in the report


@dataclass
class Arguments:
    """What is read and written."""

    data_dir: str = option("folder with the folders span_qa and question_generation")
    output_dir: str = option("folder that NAME.train, NAME.dev and NAME.json are written to")
    sources: list[str] = option("files that pairs are made of", list(SOURCES))
    licensed: bool = option("in place of `sources` those of licences.json", False)
    test: list[str] = option("sets that nothing may come near", ["squad_du2017.test"])
    name: str = option("begin of the names of the files written", "sentences")
    dev_of: str = option("source that the dev part is taken from", "squad_du2017.dev")
    dev_contexts: int = option("contexts of the dev part, whole articles where known", 700)
    seed: int = option("of the dev part", 0)


def letters(text: str) -> str:
    """Return the letters and digits of a text, however it is tokenised.

    >>> letters("Bell -LRB- 1847 -RRB- didn 't"), letters("Bell (1847) didn't")
    ('bell1847didnt', 'bell1847didnt')
    """
    return re.sub(r"[\W_]", "", re.sub(r"-[lr][rsc]b-", "", text.lower()))


def sentence_of(passage: str, start: int, length: int) -> str:
    """Return the sentence of a passage that holds a span, or the sentences that do together.

    >>> sentence_of("It rained. Ada won the cup in 1843. All were glad.", 11, 3)
    'Ada won the cup in 1843.'
    """
    from sentencex import get_sentence_boundaries

    bounds = [(bound["start_index"], bound["end_index"]) for bound in get_sentence_boundaries("en", passage)]
    inside = [(first, last) for first, last in bounds if first < start + max(length, 1) and last > start]
    return passage[inside[0][0] : inside[-1][1]].strip() if inside else passage.strip()


def pairs_of(rows: Iterable[Mapping], articles: bool = False) -> list[dict]:
    """Return `sentence`, `question`, `passage` and `article`: None, or the title if `articles` says so."""
    result = []
    for row in rows:
        if "references" in row:
            common = {"sentence": row["context"], "passage": row["context"], "article": None}
            result += [{**common, "question": text} for text in row["references"]]
            continue
        start, span = row["answers"]["answer_start"][0], row["answers"]["text"][0]
        texts = {"sentence": sentence_of(row["context"], start, len(span)), "question": row["question"]}
        article = (row.get("title") or None) if articles else None
        plain = {name: treebank(text) for name, text in texts.items()}
        result.append({**plain, "passage": row["context"], "article": article})
    return result


def unusable(pair: Mapping) -> str | None:
    """Return why a pair is no example of a question about a sentence, or None."""
    sentence, question = pair["sentence"].split(), pair["question"].split()
    if not SHORTEST <= len(sentence) <= LONGEST:
        return "sentence too short or too long"
    return None if len(question) >= SHORTEST else "question too short"


class LeakCheck:
    """Finds pairs that tell something of a test set: by article, by sentence, by question.

    An article is near the test set when one of its pairs is. The test part of Du et al. has whole articles, so an
    article of which no question and no sentence is in the test part is not one of them.
    """

    def __init__(self, test: Iterable[Mapping]):
        test = list(test)
        self.questions = {letters(text) for row in test for text in row["references"]}
        self.sentences = {letters(row["context"]) for row in test}
        self._by_start: dict[str, list[str]] = {}
        for text in (text for text in self.sentences if len(text) >= EVIDENCE):
            self._by_start.setdefault(text[:EVIDENCE], []).append(text)
        self.runs = {run for row in test for run in runs(row["context"])}
        self._is_near: dict[str, bool] = {}

    def in_passage(self, passage: str) -> bool:
        """Return whether a passage holds a sentence of the test set."""
        if passage not in self._is_near:
            text = letters(passage)
            starts = (text[i : i + EVIDENCE] for i in range(len(text) - EVIDENCE + 1))
            self._is_near[passage] = any(near in text for start in starts for near in self._by_start.get(start, ()))
        return self._is_near[passage]

    def reason(self, pair: Mapping) -> str | None:
        """Return why a pair is near the test set, or None."""
        if letters(pair["sentence"]) in self.sentences or self.in_passage(pair["passage"]):
            return "sentence of the test set"
        return "question of the test set" if letters(pair["question"]) in self.questions else None

    def split(self, pairs: Sequence[Mapping]) -> tuple[list[Mapping], Counter]:
        """Return the pairs that are not near the test set, and how many others there are by reason."""
        reasons = [self.reason(pair) for pair in pairs]
        articles = {p["article"] for p, reason in zip(pairs, reasons, strict=True) if reason and p["article"]}
        articles = ["article of the test set" if pair["article"] in articles else "" for pair in pairs]
        reasons = [article or reason for article, reason in zip(articles, reasons, strict=True)]
        kept = [pair for pair, reason in zip(pairs, reasons, strict=True) if not reason]
        return kept, Counter(filter(None, reasons))

    def copied(self, pairs: Sequence[Mapping]) -> int:
        """Return how many sentences share `RUN` words in a row with the test set: quotations, formulas."""
        return sum(bool(runs(text) & self.runs) for text in {pair["sentence"] for pair in pairs})


def runs(text: str) -> set[tuple[str, ...]]:
    """Return all sequences of `RUN` words of a text."""
    words = text.lower().split()
    return {tuple(words[i : i + RUN]) for i in range(len(words) - RUN + 1)}


def prepare(args: Arguments) -> dict:
    """Write NAME.train.jsonl.gz, NAME.dev.jsonl.gz and NAME.json, and return what NAME.json says."""
    folder, output = Path(args.data_dir), Path(args.output_dir)
    output.mkdir(parents=True, exist_ok=True)
    licences = json.loads(LICENCES.read_text(encoding="utf-8"))
    if args.licensed:
        args.sources = list(licences)
    # What both folders have is learned from with the places of the answers, and kept away with all its questions.
    spans_first = [str(folder / split) for split in ("span_qa", "question_generation")]
    paths = {name: named_file("sources", name, spans_first) for name in args.sources}
    tests = [named_file("test", name, spans_first[::-1]) for name in args.test]
    check = LeakCheck(row for path in tests for row in json_rows(path))
    kept, report = [], {}
    for name in args.sources:
        pairs = pairs_of(json_rows(paths[name]), SOURCES.get(name, False))
        clean, dropped = check.split(pairs)
        dropped += Counter(filter(None, map(unusable, clean)))
        clean = [{**pair, "source": name} for pair in clean if not unusable(pair)]
        report[name] = {"rows": len(pairs), "pairs": len(clean), "dropped": dict(sorted(dropped.items()))}
        print(f"{name}: {len(pairs)} rows, {len(clean)} pairs, dropped {dict(dropped)}", file=sys.stderr, flush=True)
        kept += clean
    kept = list({(letters(p["sentence"]), letters(p["question"])): p for p in kept[::-1]}.values())[::-1]  # the first
    sentences = list(dict.fromkeys(pair["sentence"] for pair in kept if pair["source"] == args.dev_of))
    blocks = [sentences[i : i + BLOCK] for i in range(0, len(sentences), BLOCK)]  # in Du's files of one article
    random.Random(args.seed).shuffle(blocks)
    chosen = set(list(chain(*blocks))[: args.dev_contexts])
    dev = [pair for pair in kept if pair["source"] == args.dev_of and pair["sentence"] in chosen]
    others = [pair for pair in kept if pair["source"] != args.dev_of or pair["sentence"] not in chosen]
    near_dev = LeakCheck({"context": pair["sentence"], "references": [pair["question"]]} for pair in dev)
    train, near = near_dev.split(others)
    facts = {
        "command": "python -m training.question_generation.prepare_pairs --data_dir DATA --output_dir FOLDER",
        "arguments": {n: v for n, v in vars(args).items() if n not in ("data_dir", "output_dir")},
        "sources": report,
        "licences": {name: licences.get(name, NOT_STATED) for name in args.sources},
        "pairs": {
            "train": len(train),
            "dev": len(dev),
            "by source": dict(Counter(pair["source"] for pair in train)),
            "left out of train, near dev": dict(sorted(near.items())),
        },
        "sentences": {"train": len({p["sentence"] for p in train}), "dev": len({p["sentence"] for p in dev})},
        f"train sentences that share {RUN} words in a row with the test set": check.copied(train),
    }
    for split, pairs in (("train", train), ("dev", dev)):
        rows = ({name: pair[name] for name in ("sentence", "question", "source")} for pair in pairs)
        write_rows(output / f"{args.name}.{split}.jsonl.gz", (row | {"tokenized": True} for row in rows))
    written = [output / f"{args.name}.{split}.jsonl.gz" for split in ("train", "dev")]
    facts["data_digests"] = {path.name: file_digest(path) for path in [*paths.values(), *tests, *written]}
    (output / f"{args.name}.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    return facts


def main() -> None:
    """Print how many pairs are written."""
    print(json.dumps(prepare(parsed(Arguments))["pairs"], indent=1))


if __name__ == "__main__":
    main()
