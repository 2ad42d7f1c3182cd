"""What all particle filters share: weights of any size, resampling, impossible observations, settings."""

import numpy as np
import pytest

import kmcf
from kmcf.baselines import ParticleFilter
from kmcf.datasets import paper_model

MODEL = paper_model("1a")


def oracle(**settings):
    settings = {"n_particles": 20_000, "random_state": 0} | settings
    return ParticleFilter(MODEL.transition, MODEL.log_likelihood, MODEL.initial, **settings)


def test_resampling_follows_the_effective_sample_size():
    observations = MODEL.simulate(20, random_state=0).observations
    never, always, usual = (
        oracle(n_particles=500, resample_threshold=t).filter(observations, keep_beliefs=True) for t in (0.0, 1.0, 0.5)
    )
    assert all(belief.resampled is None for belief in never)
    assert all(len(belief.resampled) == 500 for belief in always)
    for belief in usual:
        assert (belief.resampled is not None) == (belief.ess < 250)
    assert never.ess[-1] < 20 < always.ess[-1]


def test_likelihoods_of_any_size_can_be_used():
    observations = MODEL.simulate(10, random_state=0).observations
    usual = oracle(n_particles=300).filter(observations)
    for shift in (-1e5, 1e5):
        flt = oracle(n_particles=300)
        flt.log_likelihood = lambda x, y, shift=shift: MODEL.log_likelihood(x, y) + shift
        np.testing.assert_allclose(flt.filter(observations).mean, usual.mean, atol=1e-6)


def test_an_impossible_observation_keeps_the_prediction():
    def within_one(states, y):
        return np.where(np.abs(states[:, 0] - y[0]) < 1.0, 0.0, -np.inf)

    flt = ParticleFilter(MODEL.transition, within_one, MODEL.initial, n_particles=400, random_state=0)
    with pytest.warns(kmcf.RejectedStepWarning, match="no particle explains it"):
        run = flt.filter([0.0, 1e3, 0.5])
    unseen = flt.filter([0.0, None, 0.5])
    np.testing.assert_array_equal(run.rejected, [False, True, False])
    np.testing.assert_array_equal(run.mean, unseen.mean)
    assert np.isnan(run.weight_sum[1])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_particles": 0}, "n_particles = 0"),
        ({"resampling": "herding"}, "resampling = 'herding'"),
        ({"resample_threshold": 2.0}, "resample_threshold = 2.0"),
        ({"resample_threshold": -1}, "resample_threshold = -1"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        oracle(**settings).start()
