"""What the commands of the verbs do with the values of their options: they call the verb's Python function."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ..rows.inputs import files_of_runs
from . import console, options


def carry_out(
    verb: str,
    arguments: Mapping[str, Any],
    *,
    scores: bool = False,
    demanded: Callable[[dict, list], Sequence[str] | None] = lambda given, sources: (),
    after: Callable[[Any], None] = lambda report: None,
    **more: Any,
) -> None:
    """Call the Python function of a verb, write the files that were requested, and print the report.

    Args:
        verb: its name.
        arguments: the arguments of the command: `inputs`, the paths, and the values of its options.
        scores: --column may name columns of scores, and two folders are two runs.
        demanded: gets the arguments and the sources; returns the names that --fail-under knows, None where they are
            known only afterwards.
        after: gets the report before it is printed.
        **more: further arguments of the function.
    """
    import genqa_metrics

    from ..scale.parts import is_folder

    given = dict(arguments)
    inputs, forms = given.pop("inputs"), ("json", "markdown", "latex", "html")
    files = {f"--{kind}": given.pop(kind) for kind in forms if kind in given}
    verbose = given.pop("verbose", False)
    form, reading = given.pop("form"), [given.pop(name, None) for name in options.READING]
    column, pairs = given.pop("column"), given.pop("set_")
    with console.usage(verb):
        runs = (files_of_runs(inputs) if scores else None) or {}
        inputs = [path for paths in runs.values() for path in paths] or inputs
        read = [*inputs, *(given.get("labels") or []), given.get("calibration"), given.get("settings_file")]
        output = given.get("output")
        folder = output if output and is_folder(output) else None
        is_file = output not in (None, "-") and not folder and "://" not in output
        console.check_outputs({"--output": output if is_file else None, **files}, read, folder)
        if "metric" in given:
            given["metrics"] = given.pop("metric") or []
            for name in given["metrics"]:
                if name not in options.METRICS:
                    raise ValueError(f"--metric: expected one of {', '.join(options.METRICS)}, got {name!r}")
            given["settings"] = options.read_settings(given.pop("settings_file"), pairs, given["metrics"])
        else:
            given["settings"] = options.read_settings_of("ava", pairs)
        console.check_outputs(files, [value for value in _values(given["settings"]) if isinstance(value, str)])
        if scores:  # without '=' it is a column of scores
            given["score_columns"] = [value for value in column or () if "=" not in value]
            column = [value for value in column or () if "=" in value]
        given["columns"] = options.name_values("--column", column)
        as_paths = given.get("engine") == "ray" and not any(reading)
        sources = inputs if as_paths else options.read_inputs(inputs, *reading)
        if runs:
            given["runs"] = True
            named = {path: name for name, paths in runs.items() for path in paths}
            by_run = {name: [source for source in sources if named[source.path] == name] for name in runs}
        asked = given.pop("fail_under", None)
        demands = options.demands(asked, demanded(given, [] if as_paths else sources)) if asked else {}
    with console.failures(verb), console.noted_warnings():
        with console.skipped_rows() as problem, console.progress_bars() as progress:
            report = getattr(genqa_metrics, verb)(
                by_run if runs else sources, **given, **more, problem=problem, progress=progress
            )
    console.say_forms(() if as_paths else sources)
    after(report)
    console.write_outputs({option: (path, partial(_text, report, option)) for option, path in files.items()})
    console.print_result(form, report.to_json, report.to_markdown, report.show_all if verbose else report.show)
    if demands:
        console.check_demands(demands, report.systems)


def _values(settings: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the values of settings, also of those of several metrics; some are files."""
    for value in settings.values():
        if isinstance(value, Mapping):
            yield from _values(value)
        else:
            yield value


def _text(report: Any, option: str) -> str:
    return getattr(report, f"to_{option[2:]}")() + ("\n" if option == "--markdown" else "")
