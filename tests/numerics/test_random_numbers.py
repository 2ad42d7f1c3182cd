import numpy as np
import pytest

from kmcf.numerics.random_numbers import generator, normal, uniform


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


@pytest.mark.parametrize("seed", [0, 7, 2**32, 2**63 - 1, 2**200 + 5])
@pytest.mark.parametrize("key", [(0, 0), (3, 2**32 - 1), (2**32, 1), (5,)])
def test_the_generator_of_a_key_is_the_one_that_numpy_seeds(seed, key):
    usual = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
    own = generator(seed, *key)
    np.testing.assert_array_equal(own.normal(size=5), usual.normal(size=5))
    np.testing.assert_array_equal(own.spawn(2)[1].random(3), usual.spawn(2)[1].random(3))


def test_a_negative_seed_is_refused_rather_than_divided_for_ever():
    with pytest.raises(ValueError, match="a seed is -1; it must not be negative"):
        generator(-1, 0)
