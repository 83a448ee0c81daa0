"""The tables of the study of F-meta, as Markdown."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from training.question_generation.measures import BASES, DIVERSITY, PAIRS, SYSTEMS


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
