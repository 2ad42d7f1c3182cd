"""What CONTRIBUTING.md and the release tools promise."""

import doctest
import importlib.util
import re
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import kmcf

ROOT = Path(__file__).parent.parent
TOOLS = sorted((ROOT / "tools").glob("*.py"))


@pytest.fixture(scope="module")
def example():
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), flags=re.DOTALL)
    names = {"__name__": "contributing"}
    exec(compile(code, "CONTRIBUTING.md", "exec"), names)
    return names


def test_the_kernel_of_the_guide_is_its_formula(example):
    kernel = example["Rational"](0.7, alpha=1.5)
    a, b = np.random.default_rng(0).normal(size=(2, 9, 3))
    literal = [[(1 + sum((x - y) ** 2) / (2 * 1.5 * 0.7**2)) ** -1.5 for y in b] for x in a]
    np.testing.assert_allclose(kernel(a, b), literal)
    assert np.linalg.eigvalsh(kernel(a)).min() > -1e-12
    assert clone(kernel).get_params() == {"alpha": 1.5, "bandwidth": 0.7}


def test_the_kernel_of_the_guide_filters(example):
    assert np.sqrt(np.mean((example["run"].mean - example["test"].states) ** 2)) < example["test"].states.std()


def test_its_docstring_runs(example):
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    results = [runner.run(test) for test in finder.find(example["Rational"], globs=dict(example))]
    assert sum(result.attempted for result in results) == 1
    assert not any(result.failed for result in results)


def test_targets_that_are_named_exist():
    makefile = (ROOT / "Makefile").read_text()
    for page in ("CONTRIBUTING.md", "tools/README.md", "docs/gallery/README.md"):
        for target in re.findall(r"`make ([\w-]+)", (ROOT / page).read_text()):
            assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), f"{page}: make {target}"


@pytest.mark.parametrize("path", TOOLS, ids=lambda path: path.stem)
def test_tools_are_listed_and_their_examples_run(path, monkeypatch):
    assert f"`{path.name}`" in (ROOT / "tools" / "README.md").read_text()
    spec = importlib.util.spec_from_file_location(path.stem, path)
    tool = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, path.stem, tool)
    spec.loader.exec_module(tool)
    assert doctest.testmod(tool).failed == 0


def test_one_version_everywhere():
    changelog = (ROOT / "CHANGELOG.md").read_text()
    assert re.search(r"^## (\d\S+)", changelog, flags=re.MULTILINE)[1] == kmcf.__version__
    assert f"\nversion: {kmcf.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f'"{kmcf.__version__}"' in (ROOT / "lab/src/kmcf_lab/_version.py").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["dynamic"] == ["version"]
