"""Times of kernels."""

from kmcf_lab.bench.speeds import measure_speeds


def test_every_kernel_is_timed():
    rows = measure_speeds(20, report=lambda message: None)
    assert {row.kernel for row in rows} >= {"Learned()", "LaserScan()", "Spectrum(5)"}
    assert all(row.matrix_seconds > 0 and row.step_milliseconds > 0 for row in rows)
