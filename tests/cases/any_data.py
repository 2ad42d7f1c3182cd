"""A filter for any examples, and what must hold for its runs whatever they are."""

import numpy as np
import pytest

import kmcf


def push(states, control, rng):
    return 0.9 * states + 0.5 * rng.normal(size=states.shape)


def make(transition=push, **chosen):
    return kmcf.KernelMonteCarloFilter(transition, random_state=0, **chosen)


def assert_sound(run):
    """Weights sum to one; nothing is NaN that need not be."""
    for belief in run:
        assert belief.weights.sum() == pytest.approx(1.0, abs=1e-9)
        assert np.isfinite(belief.weights).all()
        assert np.isfinite(belief.states).all()
    for name in ("mean", "covariance", "mode", "ess", "negative_mass", "state_coverage"):
        assert np.isfinite(getattr(run, name)).all(), name
    corrected = ~(run.missing | run.rejected)
    assert np.isfinite(run.weight_sum[corrected]).all()
    assert np.isnan(run.weight_sum[~corrected]).all()
    assert ((run.coverage >= 0) & (run.coverage <= 1)).all()
    assert (run.ess > 0).all()
    assert (run.negative_mass >= 0).all()
    assert not (run.herding_loss < 0).any()


def planar(**settings):
    """A filter fitted to sixty places in the plane that are seen themselves, with noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    Y = X + 0.2 * rng.normal(size=X.shape)
    settings = {"random_state": 0, "augment": False} | settings
    flt = kmcf.KernelMonteCarloFilter(lambda s, u, rng: s + 0.2 * rng.normal(size=s.shape), **settings)
    return flt.fit(X, Y)
