"""Renew the script that report pages carry: `make vendor` gets DataTables from the npm registry and checks its digest.

Compared by what a page that works offline needs: DataTables 3 (124 KB, MIT, no dependency, a real table whose headers
sort by keyboard), Tabulator 6 (about 430 KB, MIT, a grid of blocks), AG Grid Community 36 (over 1 MB, MIT).
"""

import hashlib
import subprocess
import tarfile
import tempfile
from pathlib import Path

PACKAGE = "datatables.net@3.1.5"
FOLDER = Path(__file__).resolve().parents[3] / "metrics/reports/vendor"
DIGESTS = {  # SHA-256 by file of the package
    "js/dataTables.min.js": "38017a5586acd9c6eb6bbfe8b6938e1a25bdc717c5acfcb07e0c9d663282c59d",
    "License.txt": "62b5fdd54371b4f6bd07a60dbc78b38814f49a8028213f540dc2733cad605382",
}
NAMES = {"js/dataTables.min.js": "datatables.min.js", "License.txt": "datatables.LICENSE"}


def main() -> None:
    """Write the files of the package that pages carry; a file of another digest is an error."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=folder, check=True)
        (archive,) = Path(folder).glob("*.tgz")
        with tarfile.open(archive) as packed:
            files = {name: packed.extractfile(f"package/{name}").read() for name in DIGESTS}
    for name, content in files.items():
        digest = hashlib.sha256(content).hexdigest()
        if digest != DIGESTS[name]:
            raise SystemExit(
                f"{PACKAGE}: {name} has the SHA-256 {digest}, expected {DIGESTS[name]}; nothing was written"
            )
    FOLDER.mkdir(exist_ok=True)
    for name, content in files.items():
        (FOLDER / NAMES[name]).write_bytes(content)


if __name__ == "__main__":
    main()
