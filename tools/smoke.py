"""Check that an installed kmcf works: ``python smoke.py [base|full]``, in a clean environment."""

import csv
import importlib.metadata
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import kmcf


def check_library() -> None:
    """Fit and filter, with the base dependencies alone."""
    assert kmcf.__version__ == importlib.metadata.version("kmcf")
    assert "site-packages" in kmcf.__file__, f"{kmcf.__file__} is not the installed package"
    model = kmcf.datasets.paper_model("1a")
    train, test = model.simulate(200, random_state=0), model.simulate(50, random_state=1)
    flt = kmcf.KernelMonteCarloFilter(model.transition, random_state=0).fit(train.states, train.observations)
    error = np.sqrt(np.mean((flt.filter(test.observations).mean - test.states) ** 2))
    assert error < 1.2, f"the error is {error}"
    assert len(kmcf.datasets.ble_tracks()) == 9  # the data came along
    print(f"library {kmcf.__version__}: error {error:.2f}")


def check_command_line(folder: Path) -> None:
    """Fit a model on a CSV file, filter another, and ask the laboratory for its commands."""
    rng = np.random.default_rng(0)
    for name in ("old", "new"):
        places = np.cumsum(rng.normal(size=150) * 0.3)
        with (folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["time", "x", "seen"])
            writer.writerows(zip(range(150), places, places + 0.3 * rng.normal(size=150), strict=True))
    kmcf_command = Path(sys.executable).parent / "kmcf"
    for arguments in (
        ["--version"],
        ["fit", "old.csv", "-s", "x", "-y", "seen", "-t", "time", "-o", "model.kmcf"],
        ["filter", "model.kmcf", "new.csv", "-o", "states.csv"],
        ["bench", "--help"],
        ["demo", "--help"],
    ):
        subprocess.run([kmcf_command, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    assert len((folder / "states.csv").read_text().splitlines()) == 151
    print("command line and laboratory: fine")


if __name__ == "__main__":
    check_library()
    if sys.argv[1:] == ["full"]:
        with tempfile.TemporaryDirectory() as folder:
            check_command_line(Path(folder))
