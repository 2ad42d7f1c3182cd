"""Axes: what has a place on them, and how far they reach."""

import math

import numpy as np
import pytest

from kmcf.report import Axis


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
