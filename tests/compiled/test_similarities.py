import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export
from kernels_by_hand import gaussian_matrix

from kmcf.compiled.algebra import DeviceAlgebra
from kmcf.compiled.similarities import LARGEST_BLOCK, can_be_fused, fused_similarities, plain_similarities
from kmcf.kernels import Gaussian, Laplace

WIDTH = 0.7


def problem(count, columns, pivots=9, batch=3):
    rng = np.random.default_rng(count)
    centres, points = rng.normal(size=(pivots, columns)), rng.normal(size=(batch, count, columns))
    return centres, points, Gaussian(WIDTH).on_examples(jnp.asarray(centres))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "columns"), [(1, 1), (7, 2), (300, 3), (1000, 1), (LARGEST_BLOCK, 2), (LARGEST_BLOCK + 1, 1), (2500, 8)]
)
def test_both_are_the_means_of_the_kernel_matrix(count, columns):
    centres, points, pivots = problem(count, columns)
    plain = jax.vmap(lambda x: plain_similarities(pivots, x))(jnp.asarray(points))
    fused = jax.vmap(lambda x: fused_similarities(pivots, x, interpret=True))(jnp.asarray(points))
    for b, some in enumerate(points):
        matrix = gaussian_matrix(centres, some, WIDTH)
        for mean, closest in (plain, fused):
            np.testing.assert_allclose(mean[b], matrix.mean(axis=1), rtol=1e-12, atol=1e-14)
            np.testing.assert_allclose(closest[b], matrix.max(axis=0).mean(), rtol=1e-12)


def test_far_particles_are_similar_to_nothing():
    _, points, pivots = problem(5, 2)
    mean, closest = fused_similarities(pivots, jnp.asarray(points[0]) + 1e200, interpret=True)
    np.testing.assert_array_equal(mean, 0.0)
    assert closest == 0.0


@pytest.mark.slow
def test_derivatives_are_those_of_the_plain_formulas():
    _, points, pivots = problem(6, 2)

    def total(x, similarities):
        mean, closest = similarities(pivots, x)
        return (mean**2).sum() + closest

    expected = jax.grad(total)(jnp.asarray(points[0]), plain_similarities)
    found = jax.grad(lambda x: total(x, lambda p, y: fused_similarities(p, y, interpret=True)))(jnp.asarray(points[0]))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_other_kernels_and_long_states_take_the_plain_formulas():
    centres, points, _ = problem(6, 2)
    laplace = Laplace(1.0).on_examples(jnp.asarray(centres))
    assert not can_be_fused(laplace, points[0])
    assert not can_be_fused(Gaussian(1.0).on_examples(jnp.zeros((2, 9))), jnp.zeros((3, 9)))
    np.testing.assert_array_equal(
        DeviceAlgebra("fused").similarities(laplace, jnp.asarray(points[0]))[0],
        plain_similarities(laplace, jnp.asarray(points[0]))[0],
    )


@pytest.mark.parametrize("pivots", [1, 39])
def test_the_fused_kernel_translates_for_a_gpu(pivots):
    """Nothing can run here, but what Triton does not support is refused already at translation."""
    _, points, some = problem(1500, 2, pivots)
    check = export.DisabledSafetyCheck.custom_call("__gpu$xla.gpu.triton")
    compiled = jax.jit(jax.vmap(lambda x: fused_similarities(some, x)))
    module = export.export(compiled, platforms=["cuda"], disabled_checks=[check])(jnp.asarray(points)).mlir_module()
    assert "triton" in module


@pytest.mark.skipif(jax.default_backend() != "gpu", reason="needs a GPU: only the interpreted kernel was tested")
@pytest.mark.parametrize("count", [1000, 1500])
def test_the_fused_kernel_on_a_gpu(count):
    _, points, pivots = problem(count, 2, 39)
    fused = jax.jit(jax.vmap(lambda x: fused_similarities(pivots, x)))(jnp.asarray(points))
    plain = jax.vmap(lambda x: fused_similarities(pivots, x, interpret=True))(jnp.asarray(points))
    for found, expected in zip(fused, plain, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
