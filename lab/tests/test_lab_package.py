"""The distribution as a whole: its version, its modules, the commands it adds."""

import ast
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer

import kmcf
import kmcf_lab
from kmcf.cli.plugins import GROUP, LABORATORY
from kmcf_lab._version import __version__

PACKAGE = Path(kmcf_lab.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
FOLDERS = sorted({path.parent for path in MODULES})
DECLARED = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())


def name_of(path):
    return str(path.relative_to(PACKAGE.parent))


def test_the_version_is_that_of_the_library():
    assert __version__ == kmcf.__version__


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_every_module_has_a_docstring(path):
    docstring = ast.get_docstring(ast.parse(path.read_text()))
    assert docstring
    assert docstring.splitlines()[0].endswith(".")


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_every_folder_has_a_readme_that_lists_its_modules_and_folders(folder):
    words = (folder / "README.md").read_text()
    listed = [path.name for path in folder.glob("*.py") if not path.name.startswith("_")]
    listed += [f"{path.name}/" for path in FOLDERS if path.parent == folder]
    assert [name for name in listed if f"`{name}`" not in words] == []
    assert "Not here" in words


def test_the_entry_point_is_declared_and_adds_the_commands():
    (name,) = DECLARED["project"]["entry-points"][GROUP].items()
    entry = importlib.metadata.EntryPoint(*name, GROUP)
    app = typer.Typer()
    entry.load()(app)
    added = {command.callback.__name__ for command in app.registered_commands}
    added |= {group.name for group in app.registered_groups}
    assert added == set(LABORATORY)


def test_the_entry_point_is_installed():
    (entry,) = [one for one in importlib.metadata.entry_points(group=GROUP) if one.name == "lab"]
    assert entry.value == DECLARED["project"]["entry-points"][GROUP]["lab"]


def test_registering_the_commands_imports_nothing_heavy():
    code = "import sys, kmcf_lab.commands; print({'numpy', 'scipy', 'sklearn', 'matplotlib', 'jax'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "set()"


def test_the_library_never_imports_the_laboratory():
    for path in Path(kmcf.__file__).parent.rglob("*.py"):
        assert not re.search(r"^\s*(from|import) kmcf_lab\b", path.read_text(), flags=re.MULTILINE), path


def test_links_in_the_readmes_lead_somewhere():
    pages = [PACKAGE.parents[1] / "README.md", *PACKAGE.rglob("README.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page}: {target}"
