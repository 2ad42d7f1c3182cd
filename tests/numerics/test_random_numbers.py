import numpy as np
import pytest

from kmcf.numerics.random_numbers import normal, uniform


def sources():
    yield np.random.default_rng(0)
    jax = pytest.importorskip("jax", reason="JAX (the extra kmcf[jax]) is not installed")
    yield jax.random.key(0)


def test_the_numbers_have_the_right_distribution():
    for source in sources():
        draws = np.asarray(normal(source, (20_000,)))
        assert abs(draws.mean()) < 0.03
        assert abs(draws.std() - 1.0) < 0.03
        flat = np.asarray(uniform(source, (20_000, 1), -3.0, 1.0))
        assert flat.shape == (20_000, 1)
        assert flat.min() >= -3.0
        assert flat.max() <= 1.0
        assert abs(flat.mean() + 1.0) < 0.05
