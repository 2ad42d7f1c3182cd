"""Print the lowest declared versions of dependencies as pins for pip: ``python tools/lowest.py [EXTRA ...]``."""

import re
import sys
import tomllib
from pathlib import Path


def pins(requirements: list[str]) -> list[str]:
    """Return ``name==version`` for each ``name>=version``; others, such as extras of kmcf itself, are left out.

    Examples
    --------
    >>> pins(["numpy>=2.0", "dask[array]>=2025.1", "kmcf[plot]"])
    ['numpy==2.0', 'dask[array]==2025.1']
    """
    found = [re.fullmatch(r"([\w.-]+(?:\[[\w,]+\])?)>=([\w.]+)", requirement) for requirement in requirements]
    return [f"{match[1]}=={match[2]}" for match in found if match]


if __name__ == "__main__":
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
    wanted = list(project["dependencies"])
    for extra in sys.argv[1:]:
        wanted += project["optional-dependencies"][extra]
    print("\n".join(pins(wanted)))
