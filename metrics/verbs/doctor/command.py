"""The command `doctor`: what files of rows support, and which command to run."""

from ...terminal import console, options


def doctor(
    inputs: options.inputs("FILE", "Files as for `score`."),
    column: options.Column = None,
    from_: options.From = None,
    systems: options.Systems = None,
    encoding: options.Encoding = None,
    rows_at: options.RowsAt = None,
    sheet: options.Sheet = None,
    split_references: options.SplitReferences = None,
    form: options.PrintAs = "table",
) -> None:
    """Say what files of rows support, what they lack, and which command to run.

    Reads the first 10,000 rows of each file and loads no model: columns and what each is read as, bad rows, systems,
    human labels and scores, numbers that may be another judge's, and columns that `--by` can use.

    **Exit status**: 0 done, 1 failed, 2 bad usage.
    """
    from ...scale.options import checked_columns
    from .report import diagnose

    with console.usage("doctor"):
        columns = checked_columns(options.name_values("--column", column))
        values = from_, systems, encoding, rows_at, sheet, split_references
        names = (f"--{name.strip('_').replace('_', '-')}" for name in options.READING)
        reading = [word for pair in zip(names, values, strict=True) if pair[1] for word in pair]
        sources = options.read_inputs(inputs, *values)
    with console.failures("doctor"):
        report = diagnose(sources, columns, reading)
    console.print_result(form, report.to_json, report.to_markdown, report.show)
