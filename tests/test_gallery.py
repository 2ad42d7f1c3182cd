"""The gallery's scripts run, do better than what they compare with, and are listed with their pictures."""

import ast
import importlib.util
import runpy
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

GALLERY = Path(__file__).parent.parent / "docs" / "gallery"
MOST_BYTES = 100_000
NEEDS = {"fleet": "jax", "camera_corridor": "cv2"}


def guessing(states, truth):
    """Return the median distance of true states from the middle of the examples."""
    return np.median(np.linalg.norm(truth - states.mean(axis=0), axis=1))


# What must hold after a quick run. `error` is the filter's, `rival` that of what it is compared with.
CLAIMS = {
    "camera_corridor": lambda names: names["error"] < 1.5,
    "changed_sensor": lambda names: names["error"] < names["rival"],
    "fleet": lambda names: names["error"] < names["rival"],
    "indoor_radio": lambda names: names["error"] < names["rival"],
    "laser_scans": lambda names: names["error"] < 0.5,
    "learn_transition": lambda names: 0.5 < names["found"].estimates["noise"] < 2.0,
    "robot_landmarks": lambda names: names["error"] < names["rival"],
    "smoothing": lambda names: names["error"] < names["rival"],
    "spikes": lambda names: names["error"] < 0.5 * guessing(names["states"][:, :2], names["test"].states),
    "stochastic_volatility": lambda names: names["error"] < 1.3 * names["rival"],
    "strings": lambda names: names["error"] < names["rival"],
    "two_sensors": lambda names: names["errors"]["both"] < names["errors"]["camera"],
    "wifi_building": lambda names: names["error"] < 3.0 and names["right"] > 0.9,
}
spec = importlib.util.spec_from_file_location("write_index", GALLERY / "write_index.py")
index = importlib.util.module_from_spec(spec)
spec.loader.exec_module(index)


def png_width(path):
    content = path.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    return int.from_bytes(content[16:20])


def test_every_script_has_a_claim():
    assert {script.stem for script in index.scripts()} == set(CLAIMS)
    assert len(CLAIMS) >= 10


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:compiling the loop")  # a busy machine compiles slowly
@pytest.mark.parametrize("name", sorted(CLAIMS))
def test_script_runs_and_keeps_its_promise(name, tmp_path, monkeypatch):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"the extra with {NEEDS[name]} is not installed")
    monkeypatch.chdir(tmp_path)  # where it leaves its picture
    monkeypatch.setenv("KMCF_QUICK", "1")
    mpl.use("agg")
    try:
        names = runpy.run_path(str(GALLERY / f"{name}.py"))
    finally:
        plt.close("all")
    assert CLAIMS[name](names)
    assert png_width(tmp_path / f"{name}.png") > 400
    for axes in names["figure"].axes:
        pictured = not axes.axison or not axes.get_xticks().size
        assert pictured or axes.get_ylabel() or axes.get_xlabel(), f"{name}: axes without a label"


@pytest.mark.parametrize("name", sorted(CLAIMS))
def test_script_is_short_and_has_a_small_picture(name):
    text = (GALLERY / f"{name}.py").read_text()
    code = text.split('"""', 2)[2]
    assert sum(bool(line.strip()) for line in code.splitlines()) <= 60
    assert len((ast.get_docstring(ast.parse(text)) or "").split("\n\n")) == 3  # title, problem, data
    assert png_width(GALLERY / f"{name}.png") > 400
    assert (GALLERY / f"{name}.png").stat().st_size < MOST_BYTES


def test_the_index_is_what_the_scripts_say():
    """Fails where a docstring was changed: run ``python docs/gallery/write_index.py``."""
    assert (GALLERY / "README.md").read_text() == index.index()
