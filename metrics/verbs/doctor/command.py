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
        named = {
            "--from": from_,
            "--systems": systems,
            "--encoding": encoding,
            "--rows-at": rows_at,
            "--sheet": sheet,
            "--split-references": split_references,
        }
        reading = [word for option, value in named.items() if value for word in (option, value)]
        sources = options.read_inputs(inputs, from_, systems, encoding, rows_at, sheet, split_references)
    with console.failures("doctor"):
        report = diagnose(sources, columns, reading)
    console.print_result(form, report.to_json, report.to_markdown, report.show)
