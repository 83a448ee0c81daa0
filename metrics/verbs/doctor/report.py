"""What files of rows support: what `genqa-metrics doctor` prints."""

from collections.abc import Mapping

from ...reports.report import Report, say
from ...reports.table import Table, print_table
from .run import MAX_ROWS


class DoctorReport(Report):
    """What files of rows support, and the commands to run.

    Args:
        report: what `analysis.doctor.diagnose` returns.

    Attributes:
        can: [{"what", "why", "command"}].
        cannot: [{"what", "why"}].
        notes: what to know before a command is run.
    """

    title = "What the rows support"

    def __init__(self, report: Mapping):
        self._report = report
        self.can, self.cannot, self.notes = report["can"], report["cannot"], report["notes"]

    def tables(self) -> list[Table]:
        """Return the tables."""
        report = self._report
        rows = [
            [column["name"], column["read_as"] or "-", f"{column['filled']:,}", column["values"]]
            for column in report["columns"]
        ]
        tables = [Table("Columns", ["column", "read as", "filled rows", "values"], rows)]
        can = [[value["what"], value["why"], value["command"]] for value in self.can]
        tables += [Table("What you can do", ["what", "why", "command"], can)] if can else []
        cannot = [[value["what"], value["why"]] for value in self.cannot]
        return tables + ([Table("What is missing", ["what", "why"], cannot)] if cannot else [])

    def facts(self) -> list[str]:
        """Return the files, one line each."""
        files = [
            f"{file['name']}: {file['format']}, {file['rows']:,} row{'s' * (file['rows'] != 1)}"
            for file in self._report["files"]
        ]
        systems = self._report["systems"]
        few = ", ".join(list(systems)[:5]) + ", ..." * (len(systems) > 5)
        cut = [f"the first {MAX_ROWS:,} rows of each file"] if self._report["rows"] >= MAX_ROWS else []
        return [*files, *([f"systems: {few}"] if systems else []), *cut]

    def show(self, console) -> None:
        """Print the report; commands are lines of their own, which can be copied.

        Args:
            console: a `rich.console.Console`.
        """
        say(console, self.facts())
        console.print()
        print_table(self.tables()[0], console)
        say(console, [f"note: {note}" for note in self.notes], "bold yellow")
        for value in self.can:
            say(console, [f"{value['what']} ({value['why']}):"], "")
            say(console, [f"  {value['command']}"], "bold green")
        if self.cannot:
            say(console, ["", "missing:"], "bold")
        say(console, [f"  {value['what']}: {value['why']}" for value in self.cannot], "")
