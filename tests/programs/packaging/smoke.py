"""The modules compute what they should, in whatever environment this runs; it needs nothing but the package.

python tests/programs/packaging/smoke.py                 # all modules of the installed package whose model is in it
python tests/programs/packaging/smoke.py aev f_meta      # those that need no model
"""

import importlib.metadata
import sys

ANSWERS = {
    "predictions": ["There are seven steps involved in a hypothesis test.", "They were held in Athens, the capital."],
    "references": ["Four steps are involved in a hypothesis test.", ["Athens", "in Athens, Greece"]],
}
QUESTIONS = ["How many steps are involved in a hypothesis test?", "Where were the first games held?"]
SETS = {
    "predictions": [["who won the 2014 world cup", "who won the world cup in 2014"]],
    "references": [["who won the 2014 world cup", "which event did Germany win in 2014"]],
}
# Those of the README, where tests hold them to the code.
EXPECTED = {
    "aev": (ANSWERS, "aev_per_example", [0.775, 0.0]),
    "f_meta": (SETS, "f_meta_covered_per_example", [0.5]),
    "kpqa": (ANSWERS | {"questions": QUESTIONS}, "rougeL_per_example", [0.737, 0.462]),
    "ava": (ANSWERS | {"questions": QUESTIONS}, "ava_label_per_example", [0, 1]),
}


def main(names: list[str]) -> None:
    """Load and compute modules, none for all; SystemExit where a number is another one."""
    import genqa_metrics

    found = {}
    for name in names or EXPECTED:
        rows, key, expected = EXPECTED[name]
        found[name] = genqa_metrics.load(name).compute(**rows, per_example=True)[key]
        if any(abs(a - b) > 0.001 for a, b in zip(found[name], expected, strict=True)):
            raise SystemExit(f"{name}: expected {expected}, got {found[name]}")
    report = genqa_metrics.score([{"prediction": "four steps", "references": "four steps"}], metrics=["aev"])
    if report.systems["rows"]["aev"] != 1.0:
        raise SystemExit(f"score: expected 1.0, got {report.systems}")
    versions = {name: importlib.metadata.version(name) for name in ("evaluate", "datasets", "transformers") if
                any(name == it.name for it in importlib.metadata.distributions())}  # fmt: skip
    versions = ", ".join(f"{name} {version}" for name, version in versions.items())
    print(f"{', '.join(found)}: as expected, with {versions}; {genqa_metrics.__file__}")


if __name__ == "__main__":
    main(sys.argv[1:])
