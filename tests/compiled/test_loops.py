import jax
import jax.numpy as jnp
import numpy as np
import pytest
from herding_by_hand import algorithm_4
from hypothesis import given
from hypothesis import strategies as st
from jax import export
from kernels_by_hand import gaussian_matrix

from kmcf.compiled.loops import fused_loop, padded_gram, plain_loop


def problem(seed, count=12, batch=3):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(count, 2))
    gram = gaussian_matrix(points, points, 0.8)
    weights = rng.dirichlet(np.ones(count), size=batch)
    return gram, weights


@jax.jit
def both_loops(means, gram):
    plain = jax.vmap(lambda m: plain_loop(m, gram, 6))(means)
    return plain, jax.vmap(lambda m: fused_loop(m, gram, 6, interpret=True))(means)


@given(seed=st.integers(0, 10_000))
def test_both_loops_pick_what_the_algorithm_picks(seed):
    gram, weights = problem(seed)
    means = weights @ gram
    (plain, score), (fused, fused_score) = both_loops(means, gram)
    for b, mean in enumerate(means):
        literal = algorithm_4(lambda z, mean=mean: mean[z], lambda a, c: gram[a, c], list(range(len(gram))), 6)
        assert plain[b].tolist() == literal
        assert fused[b].tolist() == literal
        np.testing.assert_allclose(score[b], 7 * mean - gram[:, literal].sum(axis=1), atol=1e-12)
    np.testing.assert_array_equal(score, fused_score[:, : len(gram)])


@pytest.mark.parametrize("count", [1, 2, 31, 33])
def test_any_number_of_candidates(count):
    gram, weights = problem(0, count)
    picks, _ = fused_loop(jnp.asarray(weights[0] @ gram), jnp.asarray(gram), 5, interpret=True)
    expected, _ = plain_loop(jnp.asarray(weights[0] @ gram), jnp.asarray(gram), 5)
    assert picks.tolist() == expected.tolist()
    assert max(picks.tolist()) < count


def test_the_fused_loop_translates_for_a_gpu():
    """Nothing can run here, but what Triton does not support is refused already at translation."""
    gram, weights = problem(0, 40)
    compiled = jax.jit(jax.vmap(lambda m: fused_loop(m, padded_gram(gram), 6)))
    check = export.DisabledSafetyCheck.custom_call("__gpu$xla.gpu.triton")
    module = export.export(compiled, platforms=["cuda"], disabled_checks=[check])(weights @ gram).mlir_module()
    assert "triton" in module


@pytest.mark.skipif(jax.default_backend() != "gpu", reason="needs a GPU: only the interpreted kernel was tested")
def test_the_fused_loop_on_a_gpu():
    gram, weights = problem(1, 1000, batch=64)
    fused, _ = jax.jit(jax.vmap(lambda m: fused_loop(m, padded_gram(gram), 64)))(weights @ gram)
    plain, _ = jax.jit(jax.vmap(lambda m: plain_loop(m, jnp.asarray(gram), 64)))(weights @ gram)
    np.testing.assert_array_equal(fused, plain)
