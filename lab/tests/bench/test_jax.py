"""The study of the compiled loop."""

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="JAX (the extra kmcf[jax]) is not installed")
jax.config.update("jax_enable_x64", True)

from kmcf_lab.bench import jax as bench_jax  # noqa: E402
from kmcf_lab.bench import jax_variants  # noqa: E402


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(bench_jax, "PARTICLES", 40)
    monkeypatch.setattr(bench_jax, "PICKS", 8)


@pytest.mark.slow
def test_speeds_are_of_the_sizes_asked_for():
    said = []
    (row,) = bench_jax.measure_speed([60], [3], steps=4, dtypes=("float64",), report=said.append)
    assert (row.n, row.batch, row.dtype) == (60, 3, "float64")
    assert row.compile_seconds > 0
    assert row.steps_per_second * row.milliseconds_per_step == pytest.approx(1000.0 * row.batch)
    assert row.through_filter > 0
    assert row.numpy_steps_per_second > 0
    assert len(said) == 1


@pytest.mark.slow
def test_the_variants_are_measured(monkeypatch):
    monkeypatch.setattr(jax_variants, "NUMPY_STEPS", 3)
    said = []
    rows = jax_variants.measure_variants([60], [2], steps=4, report=said.append)
    assert [row.what for row in rows] == ["posterior on particles", "smoothing"]
    for row in rows:
        assert (row.n, row.batch, row.steps, row.particles) == (60, 2, 4, 40)
        assert row.steps_per_second == pytest.approx(8 / row.later_seconds)
        assert row.first_seconds > row.later_seconds > 0
        assert row.numpy_steps_per_second > 0
    assert len(said) == 2


def test_the_parts_of_a_step_are_timed():
    parts = bench_jax.measure_parts(60, 2, report=lambda line: None)
    assert {"kernel mean", "solve", "herding"} <= {part.part for part in parts}
    assert all(part.milliseconds > 0 for part in parts)


@pytest.mark.slow
def test_single_precision_changes_little(monkeypatch):
    original = bench_jax.fitted

    def cheaper(n, dtype, transition=None):
        """Free runs, of which nothing is asked here, by NumPy: compiling takes longer than everything else."""
        return original(n, dtype if transition else None, transition)

    monkeypatch.setattr(bench_jax, "fitted", cheaper)
    row = bench_jax.measure_precision(60, steps=6)
    assert 0 < row.median_difference <= row.largest_difference < 0.1
    assert np.isfinite([row.error_double, row.error_single]).all()


def test_the_environment_names_device_and_versions():
    found = bench_jax.environment("kmcf bench jax")
    assert found["device"]
    assert found["versions"]["jax"] == jax.__version__
