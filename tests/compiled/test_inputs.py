"""Observations and controls as JAX arrays: what is understood, and what gets a sentence."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax_cases import MODEL, TEST, TRAIN, fitted

import kmcf
from kmcf.kernels import Gaussian


def test_wrong_shapes(flt):
    with pytest.raises(ValueError, match=r"transition.*\(150,\).*must have shape \(150, 1\)"):
        fitted(transition=lambda states, control, key: states[:, 0]).filter(TEST.observations[:2])
    with pytest.raises(ValueError, match=r"shape \(2,\)"):
        flt.step(flt.start(), jnp.ones(2))
    with pytest.raises(ValueError, match=r"shape \(2,\)"):
        jax.jit(flt.step)(flt.start(), jnp.ones(2))
    with pytest.raises(ValueError, match=r"\(3, 4\)"):
        flt.filter(jnp.ones((3, 4, 1)), jnp.ones((3, 5)))
    with pytest.raises(TypeError, match="not one dict"):
        flt.filter(jnp.ones((3, 4, 1)), {"speed": np.ones((3, 4))})
    with pytest.raises(ValueError, match="some sequences have controls"):
        flt.filter_many([TEST.observations[:2]] * 2, [np.ones(2), None])
    with pytest.raises(ValueError, match="infinity"):
        flt.filter(jnp.full((1, 2, 1), jnp.inf))
    with pytest.raises(TypeError, match="mesh = 1"):
        flt.filter(TEST.observations[:2], mesh=1)
    with pytest.raises(IndexError, match="sequence 4 of a batch of 3"):
        flt.filter(jnp.full((3, 8, 1), jnp.nan))[4]
    with pytest.raises(ValueError, match="fitted on NumPy arrays"):
        kmcf.KernelMonteCarloFilter(MODEL.transition).fit(TRAIN.states, TRAIN.observations).filter([1.0], mesh=1)


def test_partly_missing_vectors():
    observations = np.concatenate([TRAIN.observations, TRAIN.observations**2], axis=1)
    flt = fitted(
        TRAIN._replace(observations=observations),
        observation_kernel=lambda a, b: 1.0 / (1.0 + ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)),
    )
    with pytest.raises(ValueError, match="1 observations are partly NaN"):
        flt.filter(jnp.array([[1.0, jnp.nan], [jnp.nan, jnp.nan]]))


def test_precomputed_similarities():
    kernel = Gaussian(1.5)
    train = TRAIN._replace(states=TRAIN.states[:60], observations=TRAIN.observations[:60])
    settings = {"delta": 1e-4, "n_particles": 30, "n_resample": 5}
    rows = train._replace(observations=kernel(train.observations))
    flt = fitted(rows, observation_kernel="precomputed", **settings)
    direct = fitted(train, observation_kernel=kernel, **settings)
    found, expected = flt.start(), direct.start()
    for y in TEST.observations[:3]:
        found = flt.step(found, kernel(y[None], train.observations)[0])
        expected = direct.step(expected, y)
        np.testing.assert_allclose(found.mean(), expected.mean(), atol=1e-8)
