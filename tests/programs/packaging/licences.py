"""The licences of everything that an installation with extras brings, as SPDX expressions where a package says one.

python -m tests.programs.packaging.licences models agree
"""

import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement

from .requirements import required

# What packages write that have no SPDX expression in their metadata.
SPDX = {
    "Apache": "Apache-2.0",
    "MIT": "MIT",
    "BSD": "BSD-3-Clause",
    "ISC": "ISC",
    "Mozilla": "MPL-2.0",
    "MPL": "MPL-2.0",
    "Python Software Foundation": "PSF-2.0",
    "PSF": "PSF-2.0",
    "Unlicense": "Unlicense",
}


def licence(found: Distribution) -> str:
    """Return the licence of an installed package; "?" and what it says where that is no SPDX expression."""
    facts = found.metadata
    if facts.get("License-Expression"):
        return facts["License-Expression"]
    kinds = [line.split(" :: ")[-1] for line in facts.get_all("Classifier", []) if line.startswith("License ::")]
    said = [*kinds, (facts.get("License") or "").strip().split("\n")[0]]
    known = dict.fromkeys(SPDX[word] for text in said for word in SPDX if re.search(rf"\b{word}", text))
    return " AND ".join(known) or f"? {' / '.join(filter(None, said))[:60]}".strip()


def installed(requirements: list[str]) -> dict[str, Distribution]:
    """Return the installed packages that requirements lead to, by name, and what they require themselves."""
    found: dict[str, Distribution] = {}
    pending = [Requirement(line) for line in requirements]
    while pending:
        requirement = pending.pop()
        extras = [{"extra": extra} for extra in (*requirement.extras, "")]
        name = requirement.name.lower().replace("_", "-")
        if name in found or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        try:
            found[name] = distribution(requirement.name)
        except PackageNotFoundError:
            continue
        inner = [Requirement(line) for line in found[name].requires or ()]
        pending += [it for it in inner if it.marker is None or any(it.marker.evaluate(extra) for extra in extras)]
        for it in inner:
            it.marker = None
    return dict(sorted(found.items()))


if __name__ == "__main__":
    print("| package | version | licence |\n|---|---|---|")
    for package, dist in installed(required(*(sys.argv[1:] or ["all"]))).items():
        print(f"| {package} | {dist.version} | {licence(dist)} |")
