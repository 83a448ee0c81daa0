"""The tables of the studies of F-meta, as Markdown; run as a program, renews all of them from their result files."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from training.common import put_between_markers
from training.studies.question_generation.measures import BASES, DIVERSITY, MODELS, PAIRS, SYSTEMS

FOLDER = Path(__file__).parent
STUDIES = {  # results of study.py -> its page, what was studied
    "large.json": ("STUDY.md", "the study (`STUDY.md`)"),
    "printed.json": ("PRINTED.md", "network as printed (`PRINTED.md`)"),
    "free_bits.json": ("FREE_BITS.md", "free bits, 320 units (`FREE_BITS.md`)"),
    "all_pairs.json": ("ALL_PAIRS.md", "free bits, twice the pairs (`ALL_PAIRS.md`)"),
    "qamr.json": ("QAMR.md", "free bits, QAMR (`QAMR.md`)"),
}
GROUPS = {"several": "Contexts with several references", "all": "All contexts"}


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


def points(values: Sequence[float]) -> str:
    """Return a difference with its interval, in points.

    >>> points([0.0165, 0.013, 0.0198])
    '+1.65 (+1.30, +1.98)'
    """
    return "{:+.2f} ({:+.2f}, {:+.2f})".format(*(100 * x for x in values))


def difference_table(report: Mapping, bases: Sequence[str]) -> str:
    """Return the differences of recall, F and the conventional score, in points, with intervals."""
    lines = ["| | base | conventional | recall | F |", "| --- | --- | ---: | ---: | ---: |"]
    for first, second in PAIRS:
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
    lines = ["| | " + " | ".join(BASES[base] for base in found) + " |", "| --- |" + " --- |" * len(found)]
    for name, text in rows.items():
        lines.append(f"| {text} | " + " | ".join("yes" if found[base][name] else "no" for base in found) + " |")
    return "\n".join(lines)


def studies_table(found: Mapping[str, Mapping]) -> str:
    """Return what F-meta sees in every study, on the contexts with several references.

    Args:
        found: name of a study -> what study.py wrote.
    """
    columns = ["contexts", "", "conventional", "recall", "F", "recall and F rise with d", "RBS adds"]
    lines = ["| study | " + " | ".join(columns) + " |", "| --- | ---: | --- | ---: | ---: | ---: | --- | --- |"]
    for name, results in found.items():
        report, said = results["several_references"], results["findings"]["several"]
        first = [name, f"{report['contexts']:,}"]
        for base, answers in said.items():
            values = report["differences"][base]["cvae_100 - baseline"]
            cells = [points(values[part]) for part in ("conventional", "recall", "f")]
            cells += ["yes" if answers[finding] else "no" for finding in ("rise_with_d", "rbs_adds")]
            lines.append("| " + " | ".join([*first, BASES[base], *cells]) + " |")
            first = ["", ""]
    return "\n".join(lines)


def information_table(found: Mapping[str, Mapping]) -> str:
    """Return what the latent variable knows of a question in every study, and what METEOR says beside the baseline.

    Args:
        found: name of a study -> what study.py wrote.
    """
    parts = ("conventional", "recall", "f")
    columns = ["d", "KL, nats", "different questions", "conventional", "recall", "F"]
    lines = ["| study | " + " | ".join(columns) + " |", "| --- |" + " ---: |" * len(columns)]
    for name, results in found.items():
        report, first = results["several_references"], name
        for model in [model for model, size in MODELS.items() if size]:
            kl = np.mean([fact["dev"]["kl"] for fact in results["training"][model].values()])
            different = report["systems"][model]["diversity"]["different"]
            changes = report["differences"]["meteor"][f"{model} - baseline"]
            cells = [str(MODELS[model]), f"{kl:.1f}", f"{100 * different:.1f}", *(points(changes[p]) for p in parts)]
            lines.append("| " + " | ".join([first, *cells]) + " |")
            first = ""
    return "\n".join(lines)


def page_tables(results: Mapping) -> dict[str, str]:
    """Return name of a marked place -> its table, for the page of one study.

    Args:
        results: what study.py writes.
    """
    several, found = results["several_references"], results["findings"]
    bases = list(found["several"])
    groups = GROUPS if results["one_reference"] else {"several": "All contexts, each with several references"}
    tables = {
        "findings": "\n\n".join(f"{name}:\n\n{findings_table(found[group])}" for group, name in groups.items()),
        "several references": "\n\n".join(table(several, base) for base in bases),
        "differences": difference_table(several, bases),
        "diversity": diversity_table(several, results["active_latent_dimensions_per_seed"], results["training"]),
        "transfer": "\n\n".join(table(results["transfer"], base) for base in bases),
    }
    if "all" in groups:
        tables["all contexts"] = "\n\n".join(table(results, base) for base in bases)
    return tables


def renew(page: str | Path, tables: Mapping[str, str]) -> None:
    """Write tables to the places of a page that are marked with their names."""
    for name, text in tables.items():
        put_between_markers(page, name, text)


def main() -> None:
    """Renew the page of every study, and the tables of all of them."""
    found = {}
    for name, (page, title_of_study) in STUDIES.items():
        results = json.loads((FOLDER / "results" / name).read_text(encoding="utf-8"))
        renew(FOLDER / page, page_tables(results))
        found[title_of_study] = results
        print(FOLDER / page)
    renew(FOLDER / "results/tables.md", {"studies": studies_table(found), "information": information_table(found)})


if __name__ == "__main__":
    main()
