"""Tables and estimates."""

import re

import pytest
from markup_reader import read

from kmcf.report import Estimate, Table


def best(table):
    return re.findall(r"<strong>(.*?)</strong>", table.html("t"))


ROWS = [["a", 3.0, 2.0], ["b", 1.0, Estimate(5.0, 0.1)], ["c", float("nan"), 2.0]]


@pytest.mark.parametrize(
    ("kind", "within", "expected"),
    [
        ("lowest", "column", ["2", "1", "2"]),
        ("highest", "column", ["3", "5.00 ± 0.10"]),
        ("lowest", "row", ["2", "1"]),
        ("highest", "row", ["3", "5.00 ± 0.10"]),
        (None, "row", []),
    ],
)
def test_the_best_numbers_are_marked(kind, within, expected):
    assert best(Table(["name", "x", "y"], ROWS, best=kind, within=within)) == expected


def test_numbers_carry_the_value_to_sort_by():
    cells = read(Table(["n", "x"], [["a", Estimate(0.5, 0.25)], ["b", None]]).html("t")).attributes
    assert [one["data-value"] for one in cells if "data-value" in one] == ["0.5"]


@pytest.mark.parametrize("rows", [[], [[float("nan")]], [[None]], [[float("inf")]]])
def test_tables_without_numbers(rows):
    assert best(Table(["x"], rows, best="lowest")) == []


def test_rows_of_another_length_are_refused():
    with pytest.raises(ValueError, match=r"a row has 1 cells but the table has 2 columns"):
        Table(["a", "b"], [["only one"]])


@pytest.mark.parametrize(
    ("estimate", "written"),
    [
        (Estimate(1.23456, 0.0123), "1.235 ± 0.012"),
        (Estimate(-123.4, 12.0), "−123 ± 12"),
        (Estimate(1e-9, 1e-10), "1.00e-9 ± 1.0e-10"),
        (Estimate(float("nan"), 0.1), "– ± 0.1"),
        (Estimate(5.0, 0.0), "5"),
    ],
)
def test_estimates_show_two_digits_of_their_error(estimate, written):
    assert str(estimate) == written
