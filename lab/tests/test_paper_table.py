"""The table of the paper's rows in docs/reproduce.md: complete, and its files exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "reproduce.md").read_text()
TABLE = PAGE.split("## Every row of the paper")[1].split("\n## ")[0]
ROWS = [
    [cell.strip() for cell in line.strip("| ").split(" | ")]
    for line in TABLE.splitlines()
    if line.startswith("| ") and not line.startswith("| row")
]
PLACES = (("src/kmcf", "lab/src/kmcf_lab"), ("tests", "lab/tests"))


def found(name, roots):
    candidates = [path for root in roots for path in (ROOT / root).rglob(Path(name).name)]
    return [path for path in candidates if f"/{path.relative_to(ROOT)}".endswith(f"/{name}")]


def test_every_file_named_is_one_file():
    for row in ROWS:
        for column, roots in enumerate(PLACES, start=1):
            for name in re.findall(r"`([\w/]+\.py)`", row[column]):
                assert len(found(name, roots)) == 1, f"{row[0]}: {name}"


def test_every_row_says_what_came_out():
    assert len(ROWS) > 90
    assert all(len(row) == 4 and row[3] for row in ROWS)
    for row in ROWS:
        assert row[1] or "missing" in row[3], row[0]


@pytest.mark.parametrize(
    "name",
    [
        *(f"Algorithm {k}" for k in range(1, 7)),
        *(f"Theorem {k}" for k in range(1, 4)),
        *(f"Corollary {k}" for k in range(1, 4)),
        *(f"Assumption {k}" for k in range(1, 4)),
        "Lemma B1",
        "Table 1",
        "Table 2",
    ],
)
def test_every_numbered_part_has_a_row(name):
    assert any(name in row[0] for row in ROWS)


def numbers(words, letter):
    """The numbers of equations in "(2), (3)", "(10) to (15)" or "(30)–(32)"; those of appendices have a letter."""
    found = set()
    for first, last in re.findall(rf"\({letter}(\d+)\)(?:(?: to |–)\({letter}(\d+)\))?", words):
        found |= set(range(int(first), int(last or first) + 1))
    return found


@pytest.mark.parametrize(
    ("letter", "first", "last"), [("", 1, 32), ("A", 1, 7), ("B", 8, 19), ("C", 20, 21)]
)  # the appendices go on counting
def test_every_equation_has_a_row(letter, first, last):
    assert set().union(*(numbers(row[0], letter) for row in ROWS)) == set(range(first, last + 1))


def test_every_row_says_where_it_is_tested():
    for row in ROWS:
        assert row[2] or "missing" in row[3], row[0]


def test_every_figure_has_a_row():
    words = " ".join(row[0] for row in ROWS)
    listed = {int(number) for group in re.findall(r"Figures? ([\d, ]+)", words) for number in re.findall(r"\d+", group)}
    assert listed == set(range(1, 13))
