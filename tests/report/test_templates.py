"""Escaping: no text from outside becomes markup."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markup_reader import HOSTILE, read
from sample_report import tiny_png

from kmcf.report import Image, Text
from kmcf.report.templates import embedded, fill


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_text_stays_text(hostile):
    reader = read(Image(tiny_png(), hostile, caption=hostile).html("i"))
    assert reader.tags == ["figure", "img", "p"]
    assert "".join(reader.words).strip() == hostile.strip()
    assert reader.attributes[1]["alt"] == hostile


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"], exclude_characters="`")))
def test_any_text_comes_back(words):
    assert "".join(read(Text(words).html("t")).words) == words


@pytest.mark.parametrize("hostile", HOSTILE)
def test_data_comes_back_and_cannot_leave_its_element(hostile):
    written = str(embedded({hostile: [hostile, 1.5, None]}))
    assert json.loads(written) == {hostile: [hostile, 1.5, None]}
    assert not set("<>&") & set(written)


def test_data_that_json_does_not_know_is_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        embedded([math.nan])


def test_a_forgotten_value_is_an_error():
    with pytest.raises(Exception, match="'paragraphs' is undefined"):
        fill("text.html", name="t")
