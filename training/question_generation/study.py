"""What F-meta sees: train the six systems of the paper, let them ask, score their questions (tables 1, 3 and 4)."""

import json
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
MODELS = {"baseline": 0, "cvae_25": 25, "cvae_50": 50, "cvae_100": 100}  # name -> size of the latent variable
SYSTEMS = {  # name -> model, beams that a question is drawn from
    "baseline": ("baseline", 1),
    "cvae_25": ("cvae_25", 1),
    "cvae_50": ("cvae_50", 1),
    "cvae_100": ("cvae_100", 1),
    "baseline_rbs": ("baseline", 2),
    "cvae_100_rbs": ("cvae_100", 2),
}
BASES = {"meteor": "METEOR 1.5", "rouge": "ROUGE-L", "bleu": "BLEU-4", "cosine": "encoder cosine"}
GROUPS = {"several": "Contexts with several references", "all": "All contexts"}
PARTS = ("precision", "recall", "f", "conventional")  # in the order of f_meta.scoring.NAMES
DIVERSITY = ("distinct_1", "distinct_2", "self_bleu", "different")
OTHERS = {"diversity": DIVERSITY, "answers": ("answers_covered",)}  # what is measured beside the bases
MANY = ("baseline", "cvae_100")  # the models that the findings are about are trained with all seeds
COVERED = 0.5  # F1 of the words of two answers from which on they count as the same answer
CHUNK = 2000  # pairs of question and context that KPQA's predictor reads in one call
PAIRS = (  # differences that the paper's findings are about
    ("cvae_25", "baseline"),
    ("cvae_50", "baseline"),
    ("cvae_100", "baseline"),
    ("cvae_50", "cvae_25"),
    ("cvae_100", "cvae_50"),
    ("baseline_rbs", "baseline"),
    ("cvae_100_rbs", "cvae_100"),
)


@dataclass
class Arguments:
    """What is trained, asked and scored."""

    data_dir: str = field(metadata={"help": "folder of squad_du2017.dev, squad_du2017.test and the other sets"})
    work: str = field(metadata={"help": "folder of the trained models and of the generated questions"})
    train_dir: str | None = field(default=None, metadata={"help": "folder of the training sources; default data_dir"})
    config: str = field(default=str(FOLDER / "squad.args"), metadata={"help": "arguments of train_generator.py"})
    seeds: list[int] = field(default_factory=lambda: [1, 2, 3], metadata={"help": "one training each"})
    seeds_of_others: int = field(
        default=0, metadata={"help": "seeds of CVAE 25 and 50, the first of `seeds`; 0: all of them"}
    )
    test: str = field(default="squad_du2017.test", metadata={"help": "set that the results are of"})
    transfer: str = field(default="fairytaleqa.test", metadata={"help": "second set, nothing is trained on"})
    contexts: int = field(default=500, metadata={"help": "contexts of the test set asked about, by chance; 0: all"})
    transfer_contexts: int = field(default=60, metadata={"help": "contexts of the second set, likewise"})
    bases: list[str] = field(default_factory=lambda: list(BASES), metadata={"help": f"some of {', '.join(BASES)}"})
    answers: bool = field(default=False, metadata={"help": "measure the answers covered, with KPQA's predictor"})
    resamples: int = field(default=1000, metadata={"help": "bootstrap samples"})
    use_cpu: bool = field(default=False, metadata={"help": "train on the CPU also where there is another device"})
    train_only: bool = field(default=False, metadata={"help": "stop after the trainings"})
    results: str = field(default=str(FOLDER / "results.json"), metadata={"help": "file that is written"})
    readme: str = field(default=str(FOLDER / "README.md"), metadata={"help": "file whose marked tables are renewed"})


def seeds_of(args: Arguments, model: str) -> list[int]:
    """Return the seeds that a model is trained with."""
    return args.seeds if model in MANY else args.seeds[: args.seeds_of_others or None]


def trained(args: Arguments, model: str, seed: int) -> Path:
    """Return the folder of a trained model; train it, or go on with its training, if it is not there."""
    from transformers import HfArgumentParser, TrainingArguments

    from training.question_generation.train_generator import Arguments as TrainingFacts
    from training.question_generation.train_generator import train

    folder = Path(args.work) / "models" / f"{model}_{seed}"
    words = [
        "--config",
        args.config,
        "--data_dir",
        args.train_dir or args.data_dir,
        "--cache",
        str(Path(args.work) / "cache"),
    ]
    words += ["--latent", str(MODELS[model]), "--seed", str(seed), "--output_dir", str(folder)]
    words += ["--use_cpu", str(args.use_cpu)]
    parser = HfArgumentParser((TrainingFacts, TrainingArguments))
    facts, training = parser.parse_args_into_dataclasses(words, args_file_flag="--config")
    path = folder / "final" / "train.json"
    if path.is_file():
        known = json.loads(path.read_text(encoding="utf-8"))["arguments"]
        other = [n for n, value in vars(facts).items() if n not in ("data_dir", "cache") and known[n] != value]
        if other:
            raise ValueError(f"work: {folder} was trained with another {', '.join(other)}; choose another folder")
    else:
        print(f"training {model}, seed {seed}", file=sys.stderr, flush=True)
        train(facts, training)
    return folder / "final"


def sampled(source: str, folder: str, number: int) -> list:
    """Return contexts of a set drawn by chance, the same in every run, in the order of the file; 0: all of them."""
    from training.question_generation.contexts import read_contexts

    contexts = read_contexts(source, folder)
    picks = random.Random(0).sample(range(len(contexts)), min(number or len(contexts), len(contexts)))
    return [contexts[i] for i in sorted(picks)]


def asked(args: Arguments, contexts: Sequence, seed: int) -> dict[str, list[list[str]]]:
    """Return system -> as many questions for every context as there are references."""
    from training.question_generation.contexts import Examples, WordVectors
    from training.question_generation.decoding import generate
    from training.question_generation.generator import load
    from training.question_generation.train_generator import encoder_folder

    counts = [len(context.references) for context in contexts]
    texts = [context.text for context in contexts]
    said, vectors = {}, None
    for system, (name, top) in SYSTEMS.items():
        if seed not in seeds_of(args, name):
            continue
        folder = trained(args, name, seed)
        model = load(folder)
        config = model.config
        if vectors is None:
            facts = json.loads((folder / "train.json").read_text(encoding="utf-8"))
            vectors = WordVectors(encoder_folder(facts["arguments"]["encoder"]), config.vector)
        examples = Examples(
            config.words, vectors, config.max_context, config.max_question, config.contextual, config.copies
        )
        said[system] = generate(model, examples, texts, counts, seed=seed, top=top)
    return said


def write_questions(path: Path, contexts: Sequence, said: Mapping[str, Sequence[Sequence[str]]]) -> None:
    """Write JSON lines that `genqa-metrics score --metric f_meta` reads, one row per context."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        for i, context in enumerate(contexts):
            row = {"context": context.text, "references": context.references}
            row["predictions"] = {system: questions[i] for system, questions in said.items()}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def cosine_base():
    """Return the cosine of sentence vectors of the bundled encoder as a base of F-meta."""
    from genqa_metrics.f_meta.bases import Base
    from genqa_metrics.kpqa.models import base_encoder
    from sentence_transformers import SentenceTransformer

    def pairs(predictions: list[str], references: list[str]) -> np.ndarray:
        model = SentenceTransformer(str(base_encoder()), device="cpu")
        place = {text: i for i, text in enumerate(dict.fromkeys([*predictions, *references]))}
        vectors = model.encode(list(place), normalize_embeddings=True, show_progress_bar=False)
        left, right = (vectors[[place[text] for text in side]] for side in (predictions, references))
        return (left * right).sum(axis=1)

    return Base("cosine", "base:cosine", pairs)


def base_of(name: str):
    """Return a base by its name in `BASES`."""
    from genqa_metrics.f_meta.bases import base_function

    if name not in BASES:
        raise ValueError(f"bases: expected some of {', '.join(BASES)}, got {name!r}")
    return cosine_base() if name == "cosine" else base_function(name)


def diversity(questions: Sequence[Sequence[str]]) -> np.ndarray:
    """Return how different the questions of every context are, one row of `DIVERSITY` per context.

    distinct-n is the share of a context's n-grams that are different (Li et al. 2016), self-BLEU the mean BLEU-4 of a
    question against the others of its context (Zhu et al. 2018), the last the share of questions that are different.

    Returns:
        (contexts, 4); NaN for contexts with fewer than two questions, where there is no diversity.

    >>> diversity([["who won the cup ?"] * 2, ["who won ?"]]).round(2).tolist()
    [[0.5, 0.5, 1.0, 0.5], [nan, nan, nan, nan]]
    """
    from genqa_metrics.f_meta.bases import base_function

    rows = [(i, j) for i, texts in enumerate(questions) if len(texts) > 1 for j in range(len(texts))]
    result = np.full((len(questions), len(DIVERSITY)), np.nan)
    if not rows:
        return result
    others = [[*questions[i][:j], *questions[i][j + 1 :]] for i, j in rows]
    self_bleu = base_function("bleu").multiple([questions[i][j] for i, j in rows], others)
    for i in dict.fromkeys(i for i, _ in rows):
        words = [text.split() for text in questions[i]]
        for column, n in ((0, 1), (1, 2)):
            grams = [tuple(w[k : k + n]) for w in words for k in range(len(w) - n + 1)]
            result[i, column] = len(set(grams)) / max(len(grams), 1)
        result[i, 2] = np.mean([score for (row, _), score in zip(rows, self_bleu, strict=True) if row == i])
        result[i, 3] = len(set(questions[i])) / len(questions[i])
    return result


def corpus_bleu(sums: np.ndarray) -> np.ndarray:
    """Return corpus BLEU-4 without smoothing.

    Args:
        sums: (..., 10) matches and n-grams of the orders 1 to 4, tokens of candidates and of references; also means.

    >>> round(float(corpus_bleu(np.array([7, 5, 3, 1, 7, 6, 5, 4, 7.0, 6.0]))), 4)
    0.5946
    """
    matches, ngrams, length, reference_length = sums[..., :4], sums[..., 4:8], sums[..., 8], sums[..., 9]
    precision = np.prod(matches / np.maximum(ngrams, 1e-9), axis=-1) ** 0.25
    return precision * np.exp(np.minimum(0, 1 - reference_length / np.maximum(length, 1e-9)))


def corpus_counts(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> np.ndarray:
    """Return what corpus BLEU is made of for every context, (contexts, 10), see `corpus_bleu`."""
    from genqa_metrics.f_meta.overlap import MAX_ORDER, Rows, bleu_counts

    matches, length, reference_length = bleu_counts(
        Rows.of_lists(str.split, list(predictions), list(map(list, references)))
    )
    ngrams = np.maximum(length[:, None] - np.arange(MAX_ORDER), 0)
    return np.column_stack([matches, ngrams, length, reference_length]).astype(float)


def answers_of(pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], frozenset[int]]:
    """Return the words of a context that answer a question, by the keyphrase weights of KPQA's predictor.

    Args:
        pairs: context and question.

    Returns:
        Pair -> where the word pieces begin whose weight is at least half of the largest.
    """
    import genqa_metrics

    kpqa = genqa_metrics.load("kpqa", progress=False)
    found = {}
    pairs = list(dict.fromkeys(pair for pair in pairs if pair[1].strip()))
    for start in range(0, len(pairs), CHUNK):
        part = pairs[start : start + CHUNK]
        contexts = [context for context, _ in part]
        results = kpqa.compute(
            questions=[question for _, question in part], predictions=contexts, references=contexts, explain=True
        )
        for pair, row in zip(part, results["explanation"], strict=True):
            top = max((weight for _, weight, *_ in row["prediction"]), default=0)
            found[pair] = frozenset(place for _, weight, place, _ in row["prediction"] if weight >= top / 2)
    return found


def covered(
    predictions: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    contexts: Sequence[str],
    answers: Mapping,
) -> np.ndarray:
    """Return the share of the references' answers that a generated question asks for too, one number per context.

    Args:
        predictions: questions per context.
        references: questions per context.
        contexts: texts.
        answers: what `answers_of` returned.

    >>> answers = {("c", "who"): frozenset([1]), ("c", "when"): frozenset([5, 6]), ("c", "what year"): frozenset([6])}
    >>> covered([["what year"]], [["who", "when"]], ["c"], answers).tolist()
    [0.5]
    """
    shares = []
    for asked, wanted, context in zip(predictions, references, contexts, strict=True):
        sets = [answers[context, question] for question in asked if question.strip()]
        hits = [
            any(2 * len(target & other) >= COVERED * (len(target) + len(other)) for other in sets)
            for target in (answers[context, question] for question in wanted)
        ]
        shares.append(np.mean(hits))
    return np.array(shares)


def statistics_of(
    said: Mapping[int, Mapping[str, list]], contexts: Sequence, bases: Sequence[str], answers: bool = False
) -> dict:
    """Return arrays of (contexts, systems, seeds, k) numbers.

    Args:
        said: seed -> system -> questions of every context. A system that has fewer seeds than others is put down
            several times with each, so that its mean is that of its own seeds.
        contexts: the contexts.
        bases: bases of F-meta.
        answers: measure the answers covered.

    Returns:
        Base -> columns `PARTS`, "corpus" -> `corpus_counts` of the first question of every context, "diversity" ->
        columns `DIVERSITY`, and if wanted "answers" -> one column, see `covered`.
    """
    from genqa_metrics.f_meta.scoring import statistics

    seeds, names = list(said), list(SYSTEMS)
    own = {system: [seed for seed in seeds if system in said[seed]] for system in names}
    columns = [said[own[system][k % len(own[system])]][system] for system in names for k in range(len(seeds))]
    references = [list(context.references) for context in contexts]
    predictions = [list(questions) for column in columns for questions in column]
    shape = len(names), len(seeds), len(contexts), -1
    found = {}
    for name in bases:  # one call: a pair that several systems ask is scored once, Java starts once
        print(f"scoring with {name}", file=sys.stderr, flush=True)
        found[name] = statistics(predictions, references * len(columns), base_of(name))
    found["corpus"] = corpus_counts([texts[0] for texts in predictions], references * len(columns))
    found["diversity"] = diversity(predictions)
    if answers:
        texts = [context.text for context in contexts] * len(columns)
        asked = [*zip(texts, predictions, strict=True), *zip(texts, references * len(columns), strict=True)]
        print("reading the answers", file=sys.stderr, flush=True)
        known = answers_of([(text, question) for text, questions in asked for question in questions])
        found["answers"] = covered(predictions, references * len(columns), texts, known)
    return {name: np.moveaxis(rows.reshape(shape), 2, 0) for name, rows in found.items()}


def resampled_means(rows: np.ndarray, samples: int, seed: int) -> np.ndarray:
    """Return the means of systems in bootstrap samples of contexts and of seeds.

    Contexts are drawn once for all systems, and seeds once for all systems of one model, so that differences of
    systems are paired where they share something.

    Args:
        rows: (contexts, systems, seeds, k), systems in the order of `SYSTEMS`.
        samples: number of samples.
        seed: the same seed gives the same samples.

    Returns:
        (samples, systems, k).
    """
    from genqa_metrics.toolkit.analysis.resampling import bootstrap_counts, resampled_sums

    contexts, systems, seeds, k = rows.shape
    flat = rows.reshape(contexts, systems * seeds, k)
    sums = resampled_sums(bootstrap_counts(contexts, samples, seed), flat).reshape(samples, systems, seeds, k)
    rng = np.random.default_rng([seed, 2])
    draws = {model: rng.integers(seeds, size=(samples, seeds)) for model in MODELS}
    chosen = np.stack([draws[model] for model, _ in SYSTEMS.values()], axis=1)[..., None]
    return np.take_along_axis(sums, chosen, axis=2).mean(axis=2) / contexts


def measured(rows: np.ndarray, samples: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, dict]:
    """Return means, intervals and differences of systems.

    Args:
        rows: (contexts, systems, seeds, k).
        samples: bootstrap samples.
        seed: of the bootstrap.

    Returns:
        (systems, k) means, (2, systems, k) ends of their 95% intervals, and per pair of `PAIRS` (3, k): difference,
        low, high.
    """
    from genqa_metrics.toolkit.analysis.resampling import interval

    means = rows.mean(axis=(0, 2))
    resampled = resampled_means(rows, samples, seed)
    ends = np.stack(interval(resampled, len(rows)))
    place = {name: i for i, name in enumerate(SYSTEMS)}
    differences = {}
    for first, second in PAIRS:
        a, b = place[first], place[second]
        low, high = interval(resampled[:, a] - resampled[:, b], len(rows))
        differences[f"{first} - {second}"] = np.stack([means[a] - means[b], low, high])
    return means, ends, differences


def report_of(statistics: Mapping[str, np.ndarray], kept: np.ndarray, samples: int) -> dict:
    """Return the scores of some contexts in the form of results.json.

    Args:
        statistics: what `statistics_of` returned.
        kept: (contexts,) booleans.
        samples: bootstrap samples.
    """
    from genqa_metrics.toolkit.analysis.resampling import interval

    report: dict = {"contexts": int(kept.sum()), "systems": {name: {} for name in SYSTEMS}, "differences": {}}
    for base, rows in statistics.items():
        if base == "corpus":
            means = corpus_bleu(rows[kept].mean(axis=(0, 2)))
            ends = interval(corpus_bleu(resampled_means(rows[kept], samples, 0)), int(kept.sum()))
            for i, system in enumerate(SYSTEMS):
                value = {"bleu": round(float(means[i]), 5), "interval": [round(float(end[i]), 5) for end in ends]}
                report["systems"][system][base] = value
            continue
        parts = OTHERS.get(base, PARTS)
        used = kept & ~np.isnan(rows).any(axis=(1, 2, 3))
        if not used.any():
            continue
        means, ends, differences = measured(rows[used], samples)
        for i, system in enumerate(SYSTEMS):
            values = {part: round(float(means[i, j]), 5) for j, part in enumerate(parts)}
            values["intervals"] = {p: [round(float(x), 5) for x in ends[:, i, j]] for j, p in enumerate(parts)}
            values["seeds"] = {
                p: [round(float(x), 5) for x in rows[used, i, :, j].mean(axis=0)] for j, p in enumerate(parts)
            }
            report["systems"][system][base] = values
        report["differences"][base] = {
            pair: {part: [round(float(x), 5) for x in values[:, j]] for j, part in enumerate(parts)}
            for pair, values in differences.items()
        }
    return report


def findings(report: Mapping) -> dict[str, dict]:
    """Return which findings of the paper come out, per base.

    "flat": the conventional score of CVAE 100 differs from the baseline's by a smaller share of it than F does.
    "recall_and_f_rise": recall and F of every CVAE are above the baseline's, with intervals above 0.
    "rise_with_d": recall and F of CVAE 25, 50, 100 rise; "..._surely" with intervals above 0.
    "rbs_adds": recall and F with random beam selection are above those without, for both, with intervals above 0.
    """
    found = {}
    for base, differences in report["differences"].items():
        if base in OTHERS:
            continue
        start = report["systems"]["baseline"][base]

        def change(part, differences=differences, start=start):
            return abs(differences["cvae_100 - baseline"][part][0]) / max(start[part], 1e-9)

        def rises(pairs, place, differences=differences):
            return all(differences[pair][part][place] > 0 for pair in pairs for part in ("recall", "f"))

        more = [f"cvae_{d} - baseline" for d in (25, 50, 100)]
        larger = ["cvae_50 - cvae_25", "cvae_100 - cvae_50"]
        beams = ["baseline_rbs - baseline", "cvae_100_rbs - cvae_100"]
        found[base] = {
            "flat": change("conventional") < change("f"),
            "recall_and_f_rise": rises(more, 1),
            "rise_with_d": rises(larger, 0),
            "rise_with_d_surely": rises(larger, 1),
            "rbs_adds": rises(beams, 1),
        }
    return found


def table(report: Mapping, base: str) -> str:
    """Return a table as tables 1, 3 and 4, in percent, with intervals; that of BLEU begins with corpus BLEU."""
    has_corpus = base == "bleu" and all("corpus" in scores for scores in report["systems"].values())
    columns = ["cBLEU"] * has_corpus + ["conventional", "precision", "recall", "F"]
    lines = [f"| {BASES[base]} | " + " | ".join(columns) + " |", "| --- |" + " ---: |" * len(columns)]
    for system, scores in report["systems"].items():
        cells = []
        if has_corpus:
            low, high = scores["corpus"]["interval"]
            cells.append(f"{100 * scores['corpus']['bleu']:.2f} ({100 * low:.2f}, {100 * high:.2f})")
        for part in ("conventional", "precision", "recall", "f"):
            low, high = scores[base]["intervals"][part]
            cells.append(f"{100 * scores[base][part]:.2f} ({100 * low:.2f}, {100 * high:.2f})")
        lines.append(f"| {title(system)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def title(system: str) -> str:
    """Return a system's name as the paper writes it.

    >>> title("cvae_100_rbs"), title("baseline")
    ('CVAE 100 + RBS', 'baseline')
    """
    name, rbs = system.removesuffix("_rbs"), system.endswith("_rbs")
    return name.replace("cvae_", "CVAE ") + (" + RBS" if rbs else "")


def diversity_table(report: Mapping, active: Mapping[str, Sequence[int]], facts: Mapping[str, Mapping]) -> str:
    """Return the diversity numbers beside the latent variable's and the loss of the held-out part."""
    has_answers = all("answers" in scores for scores in report["systems"].values())
    columns = ["distinct-1", "distinct-2", "self-BLEU", "different questions", *["answers covered"] * has_answers]
    columns += ["active dimensions", "KL, nats", "perplexity"]
    lines = ["| | " + " | ".join(columns) + " |", "| --- |" + " ---: |" * len(columns)]
    for system, scores in report["systems"].items():
        cells = [f"{100 * scores['diversity'][part]:.1f}" for part in DIVERSITY]
        if has_answers:
            value, (low, high) = (
                scores["answers"]["answers_covered"],
                scores["answers"]["intervals"]["answers_covered"],
            )
            cells.append(f"{100 * value:.1f} ({100 * low:.1f}, {100 * high:.1f})")
        dev = [fact["dev"] for fact in facts[SYSTEMS[system][0]].values()]
        cells.append(", ".join(map(str, active[system])) if any(active[system]) else "-")
        cells.append(f"{np.mean([d['kl'] for d in dev]):.1f}" if any(active[system]) else "-")
        cells.append(f"{np.mean([d['perplexity'] for d in dev]):.1f}")
        lines.append(f"| {title(system)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def difference_table(report: Mapping, bases: Sequence[str]) -> str:
    """Return the differences of recall, F and the conventional score, in points, with intervals."""
    lines = ["| | base | conventional | recall | F |", "| --- | --- | ---: | ---: | ---: |"]
    for first, second in PAIRS:
        for base in bases:
            values = report["differences"][base][f"{first} - {second}"]
            cells = [
                "{:+.2f} ({:+.2f}, {:+.2f})".format(*(100 * x for x in values[p]))
                for p in ("conventional", "recall", "f")
            ]
            lines.append(f"| {title(first)} − {title(second)} | {BASES[base]} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def findings_table(found: Mapping[str, Mapping[str, bool]]) -> str:
    """Return which findings come out, per base."""
    rows = {
        "flat": "conventional score changes less than F (CVAE 100 against the baseline)",
        "recall_and_f_rise": "recall and F of every CVAE above the baseline, intervals above 0",
        "rise_with_d": "recall and F rise with d, in the means",
        "rise_with_d_surely": "recall and F rise with d, intervals above 0",
        "rbs_adds": "random beam selection adds to recall and F of both, intervals above 0",
    }
    lines = ["| | " + " | ".join(BASES[base] for base in found) + " |", "| --- |" + " --- |" * len(found)]
    for name, text in rows.items():
        lines.append(f"| {text} | " + " | ".join("yes" if found[base][name] else "no" for base in found) + " |")
    return "\n".join(lines)


def renew(readme: Path, name: str, text: str) -> None:
    """Write a text between the marks of its name in a README.

    Raises:
        ValueError: if the marks are missing.
    """
    content = readme.read_text(encoding="utf-8")
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    if start not in content or end not in content:
        raise ValueError(f"readme: expected the marks {start} and {end} in {readme}")
    before, rest = content.split(start, 1)
    content = f"{before}{start}\n\n{text}\n\n{end}{rest.split(end, 1)[1]}"
    readme.write_text(content, encoding="utf-8")


def main() -> None:
    """Train, ask, score, write."""
    from genqa_metrics.kpqa.models import file_digest
    from transformers import HfArgumentParser

    (args,) = HfArgumentParser(Arguments).parse_args_into_dataclasses()
    if not args.seeds:
        raise ValueError("seeds: expected at least one number")
    for name in args.bases:
        base_of(name)
    numbers = {args.test: args.contexts, args.transfer: args.transfer_contexts}
    sets = {source: sampled(source, args.data_dir, number) for source, number in numbers.items()}
    # Seed by seed, the models of the findings first: a run that ends early has the most telling ones.
    order = [*MANY, *(model for model in MODELS if model not in MANY)]
    folders: dict = {model: {} for model in MODELS}
    for seed in args.seeds:
        for model in order:
            if seed in seeds_of(args, model):
                folders[model][seed] = trained(args, model, seed)
    if args.train_only:
        return
    facts = {
        model: {seed: json.loads((f / "train.json").read_text(encoding="utf-8")) for seed, f in found.items()}
        for model, found in folders.items()
    }
    active = {
        system: [found["dev"].get("active_dimensions", 0) if MODELS[model] else 0 for found in facts[model].values()]
        for system, (model, _) in SYSTEMS.items()
    }
    reports = {}
    for source, contexts in sets.items():
        said = {}
        for seed in args.seeds:
            print(f"questions on {source}, seed {seed}", file=sys.stderr, flush=True)
            said[seed] = asked(args, contexts, seed)
            write_questions(Path(args.work) / "questions" / f"{source}.seed_{seed}.jsonl", contexts, said[seed])
        statistics = statistics_of(said, contexts, args.bases, args.answers)
        several = np.array([len(context.references) > 1 for context in contexts])
        for group, kept in (("all", several | True), ("several", several), ("one", ~several)):
            if kept.any():
                reports[source, group] = report_of(statistics, kept, args.resamples)
    main_report = reports[args.test, "all"]
    results = {
        "systems": main_report["systems"],
        "active_latent_dimensions": {system: min(values) for system, values in active.items()},
        "command": "python -m training.question_generation.study --data_dir DATA/question_generation --work FOLDER",
        "seeds": args.seeds,
        "seeds_of": {model: seeds_of(args, model) for model in MODELS},
        "data_digests": {
            path.name: file_digest(path)
            for path in sorted(Path(args.data_dir).glob("*.jsonl.gz"))
            if path.name.startswith(("squad_du2017", args.transfer))
        },
        "test": args.test,
        "contexts": main_report["contexts"],
        "resamples": args.resamples,
        "findings": {group: findings(reports[args.test, group]) for group in GROUPS},
        "differences": main_report["differences"],
        "several_references": reports[args.test, "several"],
        "one_reference": reports.get((args.test, "one")),
        "transfer": {"set": args.transfer, **reports[args.transfer, "all"]},
        "active_latent_dimensions_per_seed": active,
        "training": {
            model: {
                seed: {name: fact.get(name) for name in ("dev", "steps", "pairs", "kl_per_dimension")}
                for seed, fact in found.items()
            }
            for model, found in facts.items()
        },
        "arguments": {n: v for n, v in next(iter(facts["cvae_100"].values()))["arguments"].items() if n != "data_dir"},
    }
    del results["arguments"]["cache"]
    Path(args.results).write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    readme = Path(args.readme)
    several = reports[args.test, "several"]
    tables = [f"{name}:\n\n{findings_table(results['findings'][group])}" for group, name in GROUPS.items()]
    renew(readme, "findings", "\n\n".join(tables))
    renew(readme, "all contexts", "\n\n".join(table(main_report, base) for base in args.bases))
    renew(readme, "several references", "\n\n".join(table(several, base) for base in args.bases))
    renew(readme, "differences", difference_table(several, args.bases))
    renew(readme, "diversity", diversity_table(several, active, facts))
    renew(readme, "transfer", "\n\n".join(table(reports[args.transfer, "all"], base) for base in args.bases))
    print(args.results)


if __name__ == "__main__":
    main()
