"""Tables and the plain blocks."""

import base64
import re

import pytest
from markup_reader import HOSTILE, read
from sample_report import tiny_png

from kmcf.report import Estimate, Image, SideBySide, Statement, Statements, Table, Text, Verdict


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


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_words_stay_words(hostile):
    statements = Statements([Statement(hostile, Verdict.HOLDS, hostile, hostile)])
    blocks = [
        Table([hostile], [[hostile]], hostile),
        Text(hostile),
        statements,
        Image(tiny_png(), hostile, hostile, hostile),
    ]
    reader = read(SideBySide(blocks).html("b"))
    assert "script" not in reader.tags
    assert reader.tags.count("img") == 1


def test_statements_are_counted():
    kinds = [Verdict.HOLDS, Verdict.HOLDS, Verdict.FAILS]
    words = "".join(read(Statements([Statement("c", kind, "n") for kind in kinds]).html("s")).words)
    assert words.startswith("2 ✓ holds1 ✗ does not hold")
    assert "not distinguishable" not in words


def test_paragraphs_and_code():
    assert Text("a `b`\n\n\n<c>").html("t").count("<p>") == 2
    assert "<code>&lt;x&gt;</code>" in Text("`<x>`").html("t")


def test_images_are_embedded(tmp_path):
    (tmp_path / "i.png").write_bytes(tiny_png())
    source = next(one["src"] for one in read(Image(tmp_path / "i.png", "words").html("i")).attributes if "src" in one)
    assert base64.b64decode(source.removeprefix("data:image/png;base64,")) == tiny_png()


def test_other_files_are_no_images():
    with pytest.raises(ValueError, match="no PNG, JPEG or GIF"):
        Image(b"<svg onload=alert(1)>", "words").html("i")
