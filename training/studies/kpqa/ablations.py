"""Ablations of the keyphrase predictor as in Table 4 of Lee et al. (2021): no question, no source of one kind.

Every run is train_kpqa.py with the recipe of the bundled checkpoint for the same number of steps; finished runs are
not repeated, an interrupted one is resumed. Each is measured with evaluate_kpqa.py on all the judgments.
"""

from dataclasses import dataclass
from pathlib import Path

from genqa_metrics.core.checkpoints import file_digest

from training.common import option, prepared, train_once
from training.kpqa import evaluate_kpqa, train_kpqa
from training.studies.harness import Output, Study, digests, filled

RECIPES = Path(__file__).parents[2] / "kpqa"
RECIPE = RECIPES / "bundled.args"
GROUPS = {
    "language-model answers": ("evouna", "llm_response"),
    "SQuAD": ("squad",),
    "QAMR, QA-SRL, QANom": ("qamr", "qasrl_gs", "qanom"),
    "Natural Questions, TREC": ("nq_oracle", "nq_swap", "qed", "trecqa"),
    "stories, talks, COVID-QA": ("fairytaleqa", "friendsqa", "covidqa"),
}


@dataclass
class Arguments(Output):
    """What is trained and measured; all other arguments are train_kpqa.py's and go to every run."""

    data_dir: str = option("folder of the training rows")
    judgments: str = option("folder of the judgments, see evaluate_kpqa.py")
    output_dir: str = option("folder of the runs, one folder each")
    only: list[str] = option("names of runs; by default all", [])
    max_steps: int = option("steps of every run", 450)
    recipe: str = option("file of train_kpqa.py's arguments", str(RECIPE))
    resamples: int = option("bootstrap samples for the 95%% intervals", 1000)


def runs(sources: list[str]) -> dict[str, list[str]]:
    """Return run -> what it adds to the arguments of training; a source's name up to its first dot says its group.

    >>> runs(["squad.train=0.8", "qed.dev"])["without SQuAD"]
    ['--exclude', 'squad.train']
    """
    names = [source.partition("=")[0] for source in sources]
    added = {"full": [], "without the question": ["--no_question"], "without yes/no rows": ["--yes_no", "0"]}
    for group, members in GROUPS.items():
        if excluded := [name for name in names if name.split(".")[0] in members]:
            added[f"without {group}"] = ["--exclude", *excluded]
    return added


def study(args: Arguments, more: list[str]) -> dict:
    """Return the agreement of all runs; they are trained if they are not there."""
    where = ["--config", args.recipe, "--data_dir", args.data_dir]
    settings = ["--max_steps", str(args.max_steps), *more]
    digest = file_digest(Path(args.recipe))
    recipe, training = prepared(train_kpqa.Arguments, [*where, *settings, "--output_dir", "-"])
    chosen = runs(recipe.sources)
    if not set(args.only) <= set(chosen):
        raise ValueError(f"only: expected names out of {', '.join(chosen)}, got {', '.join(args.only)}")
    chosen = {name: added for name, added in chosen.items() if name in (args.only or chosen)}
    judgments = evaluate_kpqa.read_judgments(args.judgments, evaluate_kpqa.SETS)
    scores, signatures = {}, {}
    for name, added in chosen.items():
        output = Path(args.output_dir) / name.replace(",", "").replace("/", "_").replace(" ", "_")
        train_once("kpqa.train_kpqa", output, where, [*settings, *added], digest)
        scores[name], signatures[name] = evaluate_kpqa.measured(output / "final", judgments)
    result = {
        "ablations": evaluate_kpqa.compared(scores, judgments, args.resamples),
        "runs": chosen,
        "steps": args.max_steps,
        "training_seed": training.seed,
        "recipe": {"file": Path(args.recipe).name, "SHA-256": digest},
        "checkpoints": signatures,
    }
    result |= evaluate_kpqa.facts(args.judgments, judgments)
    result["data"] |= digests([source.partition("=")[0] for source in recipe.sources], args.data_dir)
    return result


TEXT = filled("kpqa/ablations.md.j2", WEIGHTED=evaluate_kpqa.WEIGHTED)
STUDY = Study(__spec__.name, Arguments, study, TEXT, {"ablations": "ablations"}, more=True)

if __name__ == "__main__":
    STUDY.main()
