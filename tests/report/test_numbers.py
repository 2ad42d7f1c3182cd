"""Numbers as people read them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmcf.report.numbers import shown


@given(st.floats(-1e300, 1e300))
def test_shown_numbers_are_right_to_three_digits(value):
    back = float(shown(value).replace("−", "-"))
    assert back == pytest.approx(value, rel=5.1e-3, abs=0)
