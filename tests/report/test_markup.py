"""Escaping: no text from outside becomes markup."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markup_reader import HOSTILE, read

from kmcf.report.markup import data_script, element, text


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_text_stays_text(hostile):
    reader = read(element("p", text(hostile), title=hostile))
    assert reader.tags == ["p"]
    assert "".join(reader.words) == hostile
    assert reader.attributes[0]["title"] == hostile


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_any_text_comes_back(words):
    assert "".join(read(element("p", text(words))).words) == words


@pytest.mark.parametrize("hostile", HOSTILE)
def test_data_comes_back_and_cannot_leave_its_element(hostile):
    written = data_script({hostile: [hostile, 1.5, None]})
    reader = read(written)
    assert reader.tags == ["script"]
    assert json.loads("".join(reader.words)) == {hostile: [hostile, 1.5, None]}
    assert written.count("<") == 2


def test_data_that_json_does_not_know_is_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        data_script([math.nan])
