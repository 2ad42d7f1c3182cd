"""What import-linter cannot see: private names stay inside their room, and every folder's README lists its modules."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = [ROOT / "src" / "kmcf", ROOT / "lab" / "src" / "kmcf_lab"]
OWN = {"self", "cls", "other", "twin", "super"}


def room_of(path, package):
    parts = path.relative_to(package).parts
    return f"{package.name}.{parts[0]}" if len(parts) > 1 else package.name


def sources():
    return [(path, room_of(path, package)) for package in PACKAGES for path in sorted(package.rglob("*.py"))]


def private(name):
    return name.startswith("_") and not name.startswith("__") and name != "_"


def defined(tree):
    """Private names that a file gives to functions, classes and attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and private(node.name):
            yield node.name
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and private(node.attr):
            yield node.attr
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and private(node.id):
            yield node.id


def test_private_names_stay_inside_their_room():
    trees = {path: ast.parse(path.read_text()) for path, _ in sources()}
    known = {}
    for path, room in sources():
        known.setdefault(room, set()).update(defined(trees[path]))
    everywhere = set().union(*known.values())
    strangers = []
    for path, room in sources():
        for node in ast.walk(trees[path]):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("kmcf.", "kmcf_lab.")):
                parts = node.module.split(".")
                home = ".".join(parts[:2])
                used = [alias.name for alias in node.names if private(alias.name)] if home != room else []
            elif isinstance(node, ast.Attribute) and private(node.attr):
                own = isinstance(node.value, ast.Name) and node.value.id in OWN
                used = [] if own or node.attr in known[room] or node.attr not in everywhere else [node.attr]
            else:
                continue
            strangers += [f"{path.relative_to(ROOT)}:{node.lineno}: {name}" for name in used]
    assert not strangers, "\n".join(strangers)


FOLDERS = sorted({path.parent for path, _ in sources()})


@pytest.mark.parametrize("folder", FOLDERS, ids=[str(folder.relative_to(ROOT)) for folder in FOLDERS])
def test_readmes_list_every_module(folder):
    text = (folder / "README.md").read_text()
    modules = {path.name for path in folder.glob("*.py")} - {"__init__.py", "__main__.py", "_version.py"}
    folders = {path.name for path in folder.iterdir() if (path / "__init__.py").exists()}
    missing = [name for name in sorted(modules) if name not in text and f"`{name.removesuffix('.py')}`" not in text]
    missing += [name for name in sorted(folders) if not re.search(rf"\b{name}\b", text)]
    assert not missing, f"{folder.relative_to(ROOT)}/README.md does not mention {', '.join(missing)}"
