"""Truths are independent: nothing in ``tests/oracles`` knows the package it is a truth for."""

import ast
from pathlib import Path

import pytest

ORACLES = sorted((Path(__file__).parent / "oracles").glob("*.py"))


@pytest.mark.parametrize("path", ORACLES, ids=lambda path: path.stem)
def test_oracles_import_nothing_from_the_package(path):
    imported = {
        name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module])
    }
    allowed = {"math", "typing", "numpy"} | {other.stem for other in ORACLES}
    assert {name.partition(".")[0] for name in imported} <= allowed
