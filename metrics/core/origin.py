"""Where `evaluate.load` takes a module from.

`evaluate` copies the code of a module into its cache, once for each content, with a note of where it came from. A
second folder with the same code, or the same one after it was moved, gets the first one's copy and note.
"""

import sys
from pathlib import Path


def loaded_from() -> Path | None:
    """Return the script that a running `evaluate.load` was given, None if there is none or it is on the Hub."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "load" and frame.f_globals.get("__name__") == "evaluate.loading":
            path = Path(str(frame.f_locals.get("path")))
            script = path / f"{path.name}.py" if path.is_dir() else path
            return script.resolve() if script.is_file() else None
        frame = frame.f_back
    return None
