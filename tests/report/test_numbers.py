"""Numbers as people and programs read them."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmcf.report.numbers import compact, pixel, power_of_ten, shown


@given(st.floats(-1e300, 1e300))
def test_shown_numbers_are_right_to_three_digits(value):
    back = float(shown(value).replace("−", "-"))
    assert back == pytest.approx(value, rel=5.1e-3, abs=0)


@given(st.lists(st.floats()))
def test_compact_numbers_are_json_and_right_to_four_digits(values):
    back = json.loads(json.dumps(compact(values), allow_nan=False))
    for value, number in zip(values, back, strict=True):
        assert (number is None) == (not math.isfinite(value))
        assert number is None or number == pytest.approx(value, rel=6e-4, abs=0)


@pytest.mark.parametrize(("exponent", "written"), [(-12, "10⁻¹²"), (3, "10³"), (20, "10²⁰")])
def test_powers(exponent, written):
    assert power_of_ten(exponent) == written


@given(st.floats(-1e4, 1e4))
def test_pixels_have_one_decimal(value):
    assert float(pixel(value)) == pytest.approx(value, abs=0.0501)
    assert len(pixel(value).partition(".")[2]) <= 1
