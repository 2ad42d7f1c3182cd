"""Axes, scales and ticks."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kmcf.report.scale import Axis, Scale, linear_ticks, log_ticks

FINITE = st.floats(-1e9, 1e9)


@given(FINITE, st.floats(1e-6, 1e9), st.integers(3, 10))
def test_linear_ticks_are_few_inside_and_evenly_spaced(low, width, most):
    assume(width > 1e-9 * abs(low))
    ticks = [value for value, _ in linear_ticks(low, low + width, most)]
    assert 1 <= len(ticks) <= most + 1
    assert all(low - 1e-6 * width <= value <= low + width * (1 + 1e-6) for value in ticks)
    if len(ticks) > 1:
        step = ticks[1] - ticks[0]
        digits = step / 10.0 ** math.floor(math.log10(step) + 1e-6)
        assert min(abs(digits - nice) for nice in (1, 2, 5, 10)) < 1e-3


@given(st.floats(-12, 9), st.floats(0.01, 15), st.integers(3, 8))
def test_log_ticks_are_inside(low, decades, most):
    start, end = 10.0**low, 10.0 ** (low + decades)
    ticks = log_ticks(start, end, most)
    assert len(ticks) <= 3 * most
    assert all(start * (1 - 1e-6) <= value <= end * (1 + 1e-6) for value, _ in ticks)
    assert len({label for _, label in ticks}) == len(ticks)


@pytest.mark.parametrize("log", [False, True])
def test_a_scale_is_straight_in_values_or_logarithms(log):
    scale = Scale(1.0, 100.0, 50.0, 250.0, log)
    assert scale([1.0, 100.0]) == pytest.approx([50.0, 250.0])
    assert scale(10.0) == pytest.approx(150.0 if log else 50.0 + 200.0 * 9 / 99)


@pytest.mark.parametrize(
    ("axis", "values", "good"),
    [
        (Axis("x"), [1.0, math.nan, math.inf, 0.0, -1.0], [True, False, False, True, True]),
        (Axis("x", log=True), [1.0, math.nan, math.inf, 0.0, -1.0], [True, False, False, False, False]),
    ],
)
def test_what_has_a_place(axis, values, good):
    assert axis.showable(values).tolist() == good
    low, high = axis.span(np.array(values))
    assert low < high
    assert all(low < value < high for value, fits in zip(values, good, strict=True) if fits)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("values", [[], [math.nan], [3.0], [3.0, 3.0], [0.0], [-2.0]])
def test_every_span_has_a_width(log, values):
    low, high = Axis("x", log=log).span(np.array(values))
    assert math.isfinite(low)
    assert low < high
    assert low > 0 or not log


@pytest.mark.parametrize(
    ("limits", "log"), [((1.0, 1.0), False), ((2.0, 1.0), False), ((0.0, 1.0), True), ((0.0, math.inf), False)]
)
def test_bad_limits_are_refused(limits, log):
    with pytest.raises(ValueError, match=r"limits = .* of the axis 'error'"):
        Axis("error", log=log, limits=limits)
