"""The command `doctor`: what files of rows support, and which command to run."""

from ... import terminal


def doctor(
    inputs: terminal.inputs("FILE", "Files as for `score`."),
    column: terminal.Column = None,
    from_: terminal.From = None,
    systems: terminal.Systems = None,
    encoding: terminal.Encoding = None,
    rows_at: terminal.RowsAt = None,
    sheet: terminal.Sheet = None,
    split_references: terminal.SplitReferences = None,
    form: terminal.PrintAs = "table",
) -> None:
    """Say what files of rows support, what they lack, and which command to run.

    Reads the first 10,000 rows of each file and loads no model: columns and what each is read as, bad rows, systems,
    human labels and scores, numbers that may be another judge's, and columns that `--by` can use.

    **Exit status**: 0 done, 1 failed, 2 bad usage.
    """
    from ...scale.options import checked_columns
    from .report import diagnose

    with terminal.usage("doctor"):
        columns = checked_columns(terminal.name_values("--column", column))
        texts = from_, systems, encoding, rows_at, sheet, split_references
        names = map(terminal.flag, terminal.READING)
        reading = [word for pair in zip(names, texts, strict=True) if pair[1] for word in pair]
        sources = terminal.read_inputs(inputs, *texts)
    with terminal.failures("doctor"):
        report = diagnose(sources, columns, reading)
    terminal.print_result(form, report)
