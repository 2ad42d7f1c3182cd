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


HOW_TO = blocks("docs/how-to.md")


@pytest.mark.parametrize("number", range(1, len(HOW_TO)))
def test_recipe_runs(number):
    names = {}
    exec(compile(HOW_TO[0], "docs/how-to.md, first block", "exec"), names)
    exec(compile(HOW_TO[number], f"docs/how-to.md, block {number + 1}", "exec"), names)


def test_links_between_the_pages_lead_somewhere():
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"
