"""How long visitors of the demos wait: the first answer of a warm demo, and 200 rows of the comparison.

    python -m tests.programs.benchmarks.bench_demos --rows 200 --output demos.json

Each demo runs as on the Hub, one after the other, on the loopback interface, and gradio_client calls its named
endpoint (`/score`, `/plane`, `/compare`): that is what its button runs, without drawing. A demo is warm when it
answers its page, for it has loaded its models by then. The first answer is the first call after that, on texts that
it has not seen; the times are of the wall, from the call to its result, queue and transport included. Rows of the
comparison are the bundled example; in further rounds a number stands behind question and answer, so that nothing is
encoded once for two.
"""

import argparse
import json
import time
from importlib import resources
from pathlib import Path
from statistics import median

from gradio_client import Client

from tests.programs.benchmarks.report import facts, machine, table
from tests.programs.pictures import NAMES, running

GOALS = {"first": 1.0, "rows": 6.0}  # seconds; the second one is of ROWS rows
ROWS = 200
QUESTION, REFERENCES = "Which river flows through Vienna?", ["the Danube", "Vienna lies on the Danube."]
ANSWER = "Vienna lies on the Danube, the second longest river of Europe."
PAIR = [
    {"question": QUESTION, "references": REFERENCES, "prediction": answer, "system": system}
    for system, answer in (("long", ANSWER), ("short", "Danube"))
]
KEPT = ("ROUGE-L",)  # settings among the arguments
# Demo -> endpoint and arguments
FIRST = {
    "compare": ("/compare", (PAIR,)),
    "ava": ("/score", (QUESTION, ANSWER, REFERENCES)),
    "grounding": ("/score", (QUESTION, ANSWER, ["Vienna is the capital of Austria. It lies on the Danube."])),
    "kpqa": ("/score", (QUESTION, ANSWER, REFERENCES)),
    "f_meta": ("/score", (["Which river flows through Vienna?", "Where is Vienna?"], [QUESTION], "ROUGE-L")),
    "aev": ("/plane", (ANSWER, REFERENCES[1], 0.5, 2)),
}


def changed(value: object, mark: str) -> object:
    """Return a value in which every answer, question and reference is another one.

    >>> changed([{"system": "a", "prediction": "six"}], " 2")
    [{'system': 'a', 'prediction': 'six 2'}]
    """
    if isinstance(value, dict):
        return {key: each if key == "system" else changed(each, mark) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(changed(each, mark) for each in value)
    return f"{value}{mark}" if isinstance(value, str) and value not in KEPT else value


def example_rows(count: int) -> list[dict]:
    """Return rows of the bundled example, of two systems; further rounds have a number in question and answer."""
    path = resources.files("genqa_metrics").joinpath("examples", "answers.jsonl")
    keys = ("question", "prediction", "references", "system")
    rows = [{key: row[key] for key in keys} for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())]
    made = []
    for place in range(count):
        turn, row = place // len(rows), rows[place % len(rows)]
        more = {name: f"{row[name]} {turn}" for name in ("question", "prediction")} if turn else {}
        made.append(row | more)
    return made


def seconds_of(client: Client, endpoint: str, arguments: tuple) -> float:
    """Return how long a call takes, on the clock of the wall."""
    start = time.perf_counter()
    client.predict(*arguments, api_name=endpoint)
    return time.perf_counter() - start


def measured(name: str, repeats: int, rows: int) -> dict:
    """Return the times of one demo.

    Returns:
        "first", seconds of the first answer; "later", the median of further ones, each on texts of its own; of the
        comparison also "rows" seconds.
    """
    endpoint, arguments = FIRST[name]
    with running(name) as address:
        client = Client(address, verbose=False, analytics_enabled=False)
        first = seconds_of(client, endpoint, arguments)
        later = [seconds_of(client, endpoint, changed(arguments, f" {turn}")) for turn in range(repeats)]
        found = {"first": first, "later": median(later)}
        if name == "compare":
            found["rows"] = seconds_of(client, endpoint, (example_rows(rows),))
        client.close()
    return found


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=NAMES, metavar="DEMO", help=f"of {', '.join(NAMES)}; all")
    parser.add_argument("--rows", type=int, default=ROWS, help="rows of the comparison")
    parser.add_argument("--repeats", type=int, default=5, help="further answers, whose median is shown")
    parser.add_argument("--output", type=Path, help="also write the numbers here as JSON")
    given = parser.parse_args()
    if unknown := set(given.names) - set(NAMES):
        parser.error(f"no demo is named {', '.join(sorted(unknown))}; choose from {', '.join(NAMES)}")
    begun = machine()
    found = {name: measured(name, given.repeats, given.rows) for name in given.names}
    lines = []
    for name, times in found.items():
        what = {"first": "first answer", "later": f"later answers, median of {given.repeats}"}
        what |= {"rows": f"{given.rows} rows compared"}
        for key, seconds in times.items():
            goal = GOALS.get(key) if key != "rows" or given.rows == ROWS else None
            verdict = "" if goal is None else "yes" if seconds < goal else "**no**"
            lines.append([name, what[key], f"{seconds:.2f}", f"under {goal:g}" if goal else "", verdict])
    print("\n".join(table(["demo", "what", "seconds", "goal", "reached"], lines)))
    print(f"\n{begun['cpu']}, {begun['cores']} cores; load {begun['load'][0]} at the beginning.")
    if given.output:
        result = {"demos": found, "rows": given.rows, "machine": begun}
        result |= facts([], ["genqa-metrics", "gradio", "torch", "transformers"])
        given.output.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
