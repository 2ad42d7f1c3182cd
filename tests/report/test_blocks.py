"""The plain blocks of a page."""

import base64

import pytest
from markup_reader import HOSTILE, read
from sample_report import tiny_png

from kmcf.report import Image, SideBySide, Statement, Statements, Table, Text, Verdict


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
