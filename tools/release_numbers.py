"""Measure what a new user meets first: time to import the filter, sizes of the distributions.

    make dist release-numbers      # prints a table and writes docs/results/release

Times are processor times of fresh interpreters that take turns, so that a busy machine slows all alike: ratios are
meaningful, seconds are not portable.
"""

import json
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from statistics import median

import kmcf

ROOT = Path(__file__).parent.parent
OUT = ROOT / "docs" / "results" / "release"
STATEMENTS = {
    "import numpy": "import numpy",
    "import scipy.linalg": "import scipy.linalg",
    "import kmcf": "import kmcf",
    "kmcf.KernelMonteCarloFilter": "import kmcf; kmcf.KernelMonteCarloFilter",
    "fit and filter 100 examples": (
        "import numpy as np, kmcf; x = np.linspace(0, 1, 100);"
        "kmcf.KernelMonteCarloFilter(lambda s, u, r: s, random_state=0).fit(x, x).filter(x[:5]).mean"
    ),
    "import sklearn.base": "import sklearn.base",
}
REPEATS = 7


def seconds(statement: str) -> float:
    """Return the processor time that a statement takes in a fresh interpreter, without the interpreter's own start."""
    code = f"import time; t = time.process_time(); {statement}; print(time.process_time() - t)"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def measured() -> dict[str, object]:
    """Return times and sizes by name."""
    rounds = [{name: seconds(code) for name, code in STATEMENTS.items()} for _ in range(REPEATS)]
    return {
        "seconds": {name: round(median(one[name] for one in rounds), 3) for name in STATEMENTS},
        "kilobytes": {path.name: round(path.stat().st_size / 1000) for path in sorted((ROOT / "dist").glob("kmcf*"))},
        "versions": {"kmcf": kmcf.__version__} | {name: version(name) for name in ("numpy", "scipy", "scikit-learn")},
        "python": platform.python_version(),
    }


def page(numbers: dict) -> str:
    """Return the numbers as a page."""
    base = numbers["seconds"]["import numpy"]
    times = [f"| {name} | {value:.2f} | {value / base:.1f} |" for name, value in numbers["seconds"].items()]
    sizes = [f"| {name} | {size} |" for name, size in numbers["kilobytes"].items()]
    versions = ", ".join(f"{name} {number}" for name, number in numbers["versions"].items())
    return "\n".join(
        [
            "# What a new user meets first\n",
            "    make dist release-numbers\n",
            f"Medians of {REPEATS} fresh interpreters that took turns (Python {numbers['python']}, {versions}).\n",
            "| statement | seconds of processor time | times `import numpy` |\n|---|---|---|",
            *times,
            "\n| distribution | kB |\n|---|---|",
            *sizes,
            "",
        ]
    )


if __name__ == "__main__":
    numbers = measured()
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "release.json").write_text(json.dumps(numbers, indent=1) + "\n")
    (OUT / "README.md").write_text(page(numbers))
    print(page(numbers))
