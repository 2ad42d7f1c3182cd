"""Filters on JAX arrays are smoothed by the same backward pass, on the host."""

import jax.numpy as jnp
import numpy as np
from jax_cases import MODEL, TEST, TRAIN
from known_models import rmse
from smoothers import rauch_tung_striebel

import kmcf


def test_a_compiled_filter_is_smoothed(flt):
    run = flt.smooth(TEST.observations)
    exact, _, _ = rauch_tung_striebel(TEST.observations)
    host = kmcf.KernelMonteCarloFilter(MODEL.transition, initial=MODEL.initial, n_resample=30, random_state=3)
    other = host.fit(TRAIN.states, TRAIN.observations).smooth(TEST.observations)
    assert rmse(run.mean[:, 0], exact) < rmse(run.filtered.mean[:, 0], exact)
    assert rmse(run.mean, other.mean) < 0.2  # other random numbers, the same algorithm
    assert run.sample_paths(3).shape == (3, 25, 1)
    late = flt.smooth_lag(2)
    for y in TEST.observations[:6]:
        late = late.step(y)
    np.testing.assert_allclose(late.smoothed.mean(), flt.smooth(TEST.observations[:6], lag=2).mean[3], rtol=1e-9)


def test_batches_are_smoothed(flt, batch):
    seen = jnp.asarray(np.stack([TEST.observations[:8], TEST.observations[8:16]]))
    run = flt.smooth(seen)
    assert run.mean.shape == (2, 8, 1)
    np.testing.assert_allclose(run[0].mean, flt.smooth(TEST.observations[:8]).mean, rtol=1e-9)
