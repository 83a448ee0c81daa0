"""The page of results of the studies of question generation, made of their result files."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from training.common import markdown_table
from training.studies.harness import Table, rendered
from training.studies.question_generation import held_out
from training.studies.question_generation.measures import BASES, DIVERSITY, MODELS, SYSTEMS, pairs_of

STUDIES = {  # result file of study.py -> title of the study
    "large": "600 units, the paper's objective",
    "full_weight_small": "320 units, KL weight up to 1, no free bits",
    "printed": "Network as printed",
    "free_bits": "Free bits, 320 units",
    "all_pairs": "Free bits, twice the pairs",
    "qamr": "Free bits, trained on QAMR too",
}


def table(report: Mapping, base: str) -> str:
    """Return a table as tables 1, 3 and 4, in percent, with intervals; that of BLEU begins with corpus BLEU."""
    has_corpus = base == "bleu" and all("corpus" in scores for scores in report["systems"].values())
    columns = ["cBLEU"] * has_corpus + ["conventional", "precision", "recall", "F"]
    rows = []
    for system, scores in report["systems"].items():
        cells = []
        if has_corpus:
            low, high = scores["corpus"]["interval"]
            cells.append(f"{100 * scores['corpus']['bleu']:.2f} ({100 * low:.2f}, {100 * high:.2f})")
        for part in ("conventional", "precision", "recall", "f"):
            low, high = scores[base]["intervals"][part]
            cells.append(f"{100 * scores[base][part]:.2f} ({100 * low:.2f}, {100 * high:.2f})")
        rows.append([title(system), *cells])
    return markdown_table([BASES[base], *columns], rows, "---:")


def title(system: str) -> str:
    """Return a system's name as the paper writes it.

    >>> title("cvae_100_rbs"), title("baseline")
    ('CVAE 100 + RBS', 'baseline')
    """
    name, rbs = system.removesuffix("_rbs"), system.endswith("_rbs")
    return name.replace("cvae_", "CVAE ") + (" + RBS" if rbs else "")


def diversity_table(report: Mapping, active: Mapping[str, Sequence[int]], facts: Mapping[str, Mapping]) -> str:
    """Return the diversity numbers beside the latent variable's and the loss of the held-out part."""
    columns = [
        "distinct-1",
        "distinct-2",
        "self-BLEU",
        "different questions",
        "active dimensions",
        "KL, nats",
        "perplexity",
    ]
    rows = []
    for system, scores in report["systems"].items():
        cells = [f"{100 * scores['diversity'][part]:.1f}" for part in DIVERSITY]
        dev = [fact["dev"] for fact in facts[SYSTEMS[system][0]].values()]
        cells.append(", ".join(map(str, active[system])) if any(active[system]) else "-")
        cells.append(f"{np.mean([d['kl'] for d in dev]):.1f}" if any(active[system]) else "-")
        cells.append(f"{np.mean([d['perplexity'] for d in dev]):.1f}")
        rows.append([title(system), *cells])
    return markdown_table(["", *columns], rows, "---:")


def points(values: Sequence[float]) -> str:
    """Return a difference with its interval, in points.

    >>> points([0.0165, 0.013, 0.0198])
    '+1.65 (+1.30, +1.98)'
    """
    return "{:+.2f} ({:+.2f}, {:+.2f})".format(*(100 * x for x in values))


def difference_table(report: Mapping, bases: Sequence[str]) -> str:
    """Return the differences of recall, F and the conventional score, in points, with intervals."""
    lines = ["| | base | conventional | recall | F |", "| --- | --- | ---: | ---: | ---: |"]
    for first, second in pairs_of(report["systems"]):
        for base in bases:
            values = report["differences"][base][f"{first} - {second}"]
            cells = [points(values[part]) for part in ("conventional", "recall", "f")]
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
    lines = [
        [text, *("yes" if found[base][name] else "no" for base in found)]
        for name, text in rows.items()
        if all(name in of_base for of_base in found.values())
    ]
    return markdown_table(["", *(BASES[base] for base in found)], lines)


def studies_table(found: Mapping[str, Mapping]) -> str:
    """Return what F-meta sees in every study, on the contexts with several references."""
    columns = ["contexts", "", "conventional", "recall", "F", "recall and F rise with d", "RBS adds"]
    lines = ["| study | " + " | ".join(columns) + " |", "| --- | ---: | --- | ---: | ---: | ---: | --- | --- |"]
    for name, results in found.items():
        report, answers_by_base = results["several_references"], results["findings"]["several"]
        first = [name, f"{report['contexts']:,}"]
        for base, answers in answers_by_base.items():
            values = report["differences"][base]["cvae_100 - baseline"]
            cells = [points(values[part]) for part in ("conventional", "recall", "f")]
            said = {True: "yes", False: "no", None: "-"}
            cells += [said[answers.get(finding)] for finding in ("rise_with_d", "rbs_adds")]
            lines.append("| " + " | ".join([*first, BASES[base], *cells]) + " |")
            first = ["", ""]
    return "\n".join(lines)


def information_table(found: Mapping[str, Mapping]) -> str:
    """Return what the latent variable knows of a question in every study, and what METEOR says beside the baseline."""
    parts = ("conventional", "recall", "f")
    columns = ["d", "KL, nats", "different questions", "conventional", "recall", "F"]
    rows = []
    for name, results in found.items():
        report, first = results["several_references"], name
        for model in [model for model, size in MODELS.items() if size and model in results["training"]]:
            kl = np.mean([fact["dev"]["kl"] for fact in results["training"][model].values()])
            different = report["systems"][model]["diversity"]["different"]
            changes = report["differences"]["meteor"][f"{model} - baseline"]
            cells = [str(MODELS[model]), f"{kl:.1f}", f"{100 * different:.1f}", *(points(changes[p]) for p in parts)]
            rows.append([first, *cells])
            first = ""
    return markdown_table(["study", *columns], rows, "---:")


def kl_weight(arguments: Mapping, steps: int) -> float:
    """Return the weight of the KL term after some training steps: it rises by `kl_rate` every `kl_steps`, up to 1.

    >>> round(kl_weight({"kl_rate": 0.03, "kl_steps": 534}, 2000), 2)
    0.09
    """
    return min(1.0, arguments["kl_rate"] * (steps // arguments["kl_steps"]))


def study_section(title: str, results: Mapping) -> str:
    """Return the section of one study under a title."""
    arguments, several = results["arguments"], results["several_references"]
    runs = results["training"]["cvae_100"].values()
    kept = max(run.get("kept_step") or run["steps"] for run in runs)
    functions = (findings_table, table, difference_table, diversity_table)
    seeds = [f"{len(known)} of {model.replace('cvae_', 'CVAE ')}" for model, known in results["seeds_of"].items()]
    text = rendered(
        Path(__file__).with_name("study.md.j2"),
        **{**results, "seeds": ", ".join(seeds), "title": title, "results": results, "several": several},
        **{function.__name__: function for function in functions},
        pairs=max(run["pairs"] for run in runs),
        steps=max(run["steps"] for run in runs),
        kept=kept,
        weight=kl_weight(arguments, kept),
        is_part=several["contexts"] < results["contexts"],
        bases=list(results["findings"]["several"]),
    )
    return text.rstrip()


def page(drawn: Mapping, *studies: Mapping) -> str:
    """Return the page, without the parts of results that are missing."""
    values = {title: results for title, results in zip(STUDIES.values(), studies, strict=True) if results}
    return rendered(
        Path(__file__).with_name("page.md.j2"),
        studies=studies_table(values),
        information=information_table(
            {t: r for t, r in values.items() if "meteor" in r["several_references"]["differences"]}
        ),
        drawn=drawn,
        held_out=held_out.table(drawn["runs"]),
        sections=[study_section(title, results) for title, results in values.items()],
    )


FILES = " ".join(f"studies/question_generation/results/{name}" for name in ("held_out", *STUDIES))
TABLES = [Table(None, FILES, page)]
