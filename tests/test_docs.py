"""The documentation's Python blocks run as written."""

import re
from pathlib import Path

import matplotlib as mpl
import pytest

ROOT = Path(__file__).parent.parent
mpl.use("agg")


def blocks(name):
    return re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), flags=re.DOTALL)


def test_the_readme_example_runs_and_is_about_fifteen_lines(capsys):
    (example,) = blocks("README.md")
    assert len([line for line in example.splitlines() if line.strip()]) <= 16
    exec(compile(example, "README.md", "exec"), {})
    assert len(capsys.readouterr().out.splitlines()) >= 4


RUN = (
    "docs/how-to.md",
    "docs/calibration.md",
    "docs/smoothing.md",
    "docs/alarms.md",
    "docs/learning-transitions.md",
    "docs/changed-sensors.md",
    "docs/abc.md",
    "docs/kernels.md",
    "docs/building.md",
    "docs/saving.md",
    "docs/tuning.md",
    "docs/baselines.md",
    "docs/transitions.md",
    "docs/datasets.md",
    "docs/localize.md",
    "docs/spikes.md",
    "docs/jax.md",
    "docs/cluster.md",
    "docs/live.md",
)
# Blocks marked "python not-run" need files that are not here.
PAGES = {page: blocks(page) for page in RUN}
RECIPES = [(page, number) for page, code in PAGES.items() for number in range(1, len(code))]


@pytest.mark.parametrize(("page", "number"), RECIPES)
def test_recipe_runs(page, number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where recipes may write files
    first, recipe = PAGES[page][0], PAGES[page][number]
    if page == "docs/jax.md":
        pytest.importorskip("jax", reason="JAX (the extra kmcf[jax]) is not installed")
    if page == "docs/cluster.md":
        pytest.importorskip("distributed", reason="Dask (the extra kmcf[distributed]) is not installed")
    if "grakel" in recipe:
        pytest.importorskip("grakel", reason="GraKeL, which is no dependency of this package, is not installed")
    names = {}
    exec(compile(first, f"{page}, first block", "exec"), names)
    exec(compile(recipe, f"{page}, block {number + 1}", "exec"), names)


def test_links_between_the_pages_lead_somewhere():
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"
