"""The page of results of the studies of question generation, made of their result files."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from training.studies.harness import Table, rendered
from training.studies.question_generation.measures import BASES, DIVERSITY, MODELS, SYSTEMS, pairs_of

STUDIES = {  # result file of study.py -> title of the study
    "large": "600 units, the paper's objective",
    "full_weight_small": "320 units, KL weight up to 1, no free bits",
    "printed": "Network as printed",
    "free_bits": "Free bits, 320 units",
    "all_pairs": "Free bits, twice the pairs",
    "qamr": "Free bits, trained on QAMR too",
}
FINDINGS = {  # of `measures.findings`: what tables call them
    "flat": "conventional score changes less than F (CVAE 100 against the baseline)",
    "recall_and_f_rise": "recall and F of every CVAE above the baseline, intervals above 0",
    "rise_with_d": "recall and F rise with d, in the means",
    "rise_with_d_surely": "recall and F rise with d, intervals above 0",
    "rbs_adds": "random beam selection adds to recall and F of both, intervals above 0",
}


def named(system: str) -> str:
    """Return a system's name as the paper writes it.

    >>> named("cvae_100_rbs"), named("baseline")
    ('CVAE 100 + RBS', 'baseline')
    """
    name, rbs = system.removesuffix("_rbs"), system.endswith("_rbs")
    return name.replace("cvae_", "CVAE ") + (" + RBS" if rbs else "")


def points(ends: Sequence[float]) -> str:
    """Return a difference with its interval, in points.

    >>> points([0.0165, 0.013, 0.0198])
    '+1.65 (+1.30, +1.98)'
    """
    return "{:+.2f} ({:+.2f}, {:+.2f})".format(*(100 * x for x in ends))


def mean(rows: Sequence[Mapping], name: str) -> float:
    """Return the mean of a value of some rows."""
    return fmean(row[name] for row in rows)


def kl_weight(arguments: Mapping, steps: int) -> float:
    """Return the weight of the KL term after some training steps: it rises by `kl_rate` every `kl_steps`, up to 1.

    >>> round(kl_weight({"kl_rate": 0.03, "kl_steps": 534}, 2000), 2)
    0.09
    """
    return min(1.0, arguments["kl_rate"] * (steps // arguments["kl_steps"]))


def study_section(title: str, results: Mapping) -> str:
    """Return the section of one study under a title."""
    runs = results["training"]["cvae_100"].values()
    kept = max(run.get("kept_step") or run["steps"] for run in runs)
    seeds = [f"{len(trained)} of {model.replace('cvae_', 'CVAE ')}" for model, trained in results["seeds_of"].items()]
    text = rendered(
        "question_generation/study.md.j2",
        **CONTEXT,
        **{**results, "seeds": ", ".join(seeds), "title": title, "results": results},
        several=results["several_references"],
        pairs=max(run["pairs"] for run in runs),
        steps=max(run["steps"] for run in runs),
        kept=kept,
        weight=kl_weight(results["arguments"], kept),
    )
    return text.strip()


CONTEXT = {"BASES": BASES, "DIVERSITY": DIVERSITY, "FINDINGS": FINDINGS, "MODELS": MODELS, "SYSTEMS": SYSTEMS}
CONTEXT |= {"named": named, "points": points, "mean": mean, "pairs_of": pairs_of, "study_section": study_section}


def page(*studies: Mapping) -> str:
    """Return the page, without the parts of results that are missing."""
    sections = {title: results for title, results in zip(STUDIES.values(), studies, strict=True) if results}
    words = {True: "yes", False: "no", None: "-"}
    return rendered("question_generation/page.md.j2", **CONTEXT, studies=sections, words=words)


FILES = " ".join(f"studies/question_generation/results/{name}" for name in STUDIES)
TABLES = [Table(None, FILES, page)]
