"""What a run calls while it works: functions of its caller."""

from collections.abc import Callable

Message = Callable[[str], None]  # called with one sentence
Progress = Callable[[str, int, int], None]  # called with what is scored, and the numbers of rows done and of all rows


def ignore(*given: object) -> None:
    """Do nothing; the default of every callback."""
