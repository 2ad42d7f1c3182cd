"""Fitting, measured in a process of its own."""

import pytest

from kmcf_lab.bench.fit import measure_fit


@pytest.mark.slow
def test_fitting_is_measured_in_its_own_process():
    row = measure_fit(500)
    assert row.n == 500
    assert 0.01 < row.peak_gigabytes < 4
    assert row.seconds > 0
    assert row.products_seconds > 0
