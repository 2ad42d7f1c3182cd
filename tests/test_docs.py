"""The documentation's Python blocks run as written."""

import re
from pathlib import Path

import matplotlib as mpl
import pytest

ROOT = Path(__file__).parent.parent
mpl.use("agg")


PAGES = ["README.md", *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if "_build" not in page]

# Blocks marked "python not-run": how many a page has, and why they cannot run here.
NOT_RUN = {
    "docs/datasets.md": (4, "recordings that must be downloaded"),
    "docs/live.md": (1, "a server that runs elsewhere"),
}
# Pages whose blocks, also those of the shell, run one after the other: tests/cli/test_tutorial.py.
IN_ORDER = ("docs/command-line.md", "docs/tutorial.md")
NEEDS = {"docs/jax.md": "jax", "docs/cluster.md": "distributed"}


def fenced(page):
    """Return the fenced blocks of a page as pairs (words behind the fence, content)."""
    return re.findall(r"^```([^\n`]*)\n(.*?)^```$", (ROOT / page).read_text(), flags=re.DOTALL | re.MULTILINE)


def blocks(page):
    return [content for words, content in fenced(page) if words == "python"]


@pytest.mark.parametrize("page", PAGES)
def test_every_block_is_run_or_listed(page):
    kinds = [words for words, _ in fenced(page)]
    assert (ROOT / page).read_text().count("\n```") == 2 * len(kinds), "a fence is not closed, or not at the margin"
    assert kinds.count("python not-run") == NOT_RUN.get(page, (0, ""))[0]
    assert page in IN_ORDER or "sh" not in kinds
    others = {words for words in kinds if not words.startswith("{")} - {"python", "python not-run", "sh", "text"}
    assert not others, "blocks of these kinds are run by no test"


def test_the_readme_example_runs_and_is_about_fifteen_lines(capsys):
    (example,) = blocks("README.md")
    assert len([line for line in example.splitlines() if line.strip()]) <= 16
    exec(compile(example, "README.md", "exec"), {})
    assert len(capsys.readouterr().out.splitlines()) >= 4


# The first block of a page prepares the others, each of which runs after it alone.
CODE = {page: blocks(page) for page in PAGES if page not in (*IN_ORDER, "README.md")}
# Processes of their own, rendered images, compiled loops, evidence over grids, thousands of particles: seconds each.
SLOW_PAGES = ("cluster", "building", "live", "jax", "learning-transitions", "spikes", "baselines")
SLOW = {f"docs/{name}.md" for name in SLOW_PAGES}
RECIPES = [(page, number) for page, code in CODE.items() for number in range(min(1, len(code) - 1), len(code)) if code]


@pytest.mark.parametrize(
    ("page", "number"),
    [pytest.param(*recipe, marks=[pytest.mark.slow] * (recipe[0] in SLOW)) for recipe in RECIPES],
)
def test_recipe_runs(page, number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where recipes may write files
    first, recipe = CODE[page][0], CODE[page][number]
    if page in NEEDS:
        pytest.importorskip(NEEDS[page], reason=f"{NEEDS[page]}, which an extra of kmcf brings, is not installed")
    if "grakel" in recipe:
        pytest.importorskip("grakel", reason="GraKeL, which is no dependency of this package, is not installed")
    names = {}
    if number > 0:
        exec(compile(first, f"{page}, first block", "exec"), names)
    exec(compile(recipe, f"{page}, block {number + 1}", "exec"), names)


def anchors(page):
    """Return the names under which a repository browser, and the site, know the headings of a page."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#{1,6} (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


FOLDERS = [ROOT / name for name in ("docs", "lab", "src", "tests")]  # not .venv, which takes long to look through
WRITTEN = sorted([*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in folder.rglob("*.md"))])
WRITTEN = [page for page in WRITTEN if "_build" not in page.parts]


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path) if path else page
        assert file.exists(), f"{page.name}: {target}"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), f"{page.name}: {target}"


def test_every_page_is_in_the_navigation():
    listed = set(re.findall(r"^([\w/*-]+)$", (ROOT / "docs" / "index.md").read_text(), flags=re.MULTILINE))
    for page in PAGES:
        name = page.removeprefix("docs/").removesuffix(".md")
        assert name in listed | {"README.md", "index", "README"} or name.startswith("gallery/"), page
