"""Every public name has a docstring with an example, and says what its parameters are."""

import ast
import importlib
import inspect
import textwrap
from itertools import pairwise
from pathlib import Path

import pytest

import kmcf

# Rooms that are contracts between rooms, not for users; their docstrings say what they are, mostly without examples.
INTERNAL = {"bayes_rule", "cli", "compiled", "numerics", "report", "support"}
ROOMS = sorted(path.parent.name for path in Path(kmcf.__file__).parent.glob("*/__init__.py"))
PUBLIC = [None, *(room for room in ROOMS if room not in INTERNAL)]


def public_names():
    for room in PUBLIC:
        module = importlib.import_module("kmcf" if room is None else f"kmcf.{room}")
        for name in module.__all__:
            if not inspect.ismodule(thing := getattr(module, name)) and callable(thing):
                yield f"{module.__name__}.{name}", thing


NAMES = dict(public_names())
SHOWN = {name: thing for name, thing in NAMES.items() if not getattr(thing, "_is_protocol", False)}


def described_fields(cls):
    """Return the fields of a class below which a string says what they are."""
    body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0].body
    pairs = pairwise(body)
    return {
        first.target.id
        for first, second in pairs
        if isinstance(first, ast.AnnAssign) and isinstance(second, ast.Expr) and isinstance(second.value, ast.Constant)
    }


def parameters_of(thing):
    if isinstance(thing, type) and (issubclass(thing, Warning) or inspect.isabstract(thing)):
        return set()
    return {name for name in inspect.signature(thing).parameters if not name.startswith("_")}


def test_rooms_are_public_or_internal():
    assert set(ROOMS) >= INTERNAL
    assert {name for name in kmcf.__all__ if name in ROOMS} <= set(PUBLIC[1:])


@pytest.mark.parametrize("name", NAMES)
def test_public_names_have_a_docstring(name):
    assert len(inspect.getdoc(NAMES[name]) or "") > 20


@pytest.mark.parametrize("name", SHOWN)
def test_public_names_have_an_example(name):
    doc = inspect.getdoc(SHOWN[name])
    assert "\nExamples\n--------\n" in doc
    assert ">>> " in doc.partition("\nExamples\n--------\n")[2]


@pytest.mark.parametrize("name", SHOWN)
def test_public_names_say_what_their_parameters_are(name):
    thing, doc = SHOWN[name], inspect.getdoc(SHOWN[name])
    missing = {parameter for parameter in parameters_of(thing) if parameter not in doc}
    if missing and isinstance(thing, type):
        missing -= described_fields(thing)
    assert not missing, f"{name} does not say what {', '.join(sorted(missing))} is"
    if parameters_of(thing) and not (isinstance(thing, type) and described_fields(thing)):
        assert "\nParameters\n-----" in doc or "\nAttributes\n-----" in doc


def test_the_reference_has_a_page_for_every_public_room():
    pages = Path(__file__).parent.parent / "docs" / "reference"
    index = (pages / "index.rst").read_text()
    for room in PUBLIC[1:]:
        assert f"automodule:: kmcf.{room}\n" in (pages / f"{room}.rst").read_text()
        assert f"   {room}\n" in index
