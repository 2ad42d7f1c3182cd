"""Resampling where Theorem 1's bound says that it pays."""

import numpy as np
import pytest

import kmcf
from kmcf.bayes_rule import Examples
from kmcf.filter.support import move_variance
from kmcf.herding.herding import HerdByBound

RNG = np.random.default_rng(0)
STATES = RNG.uniform(-3, 3, size=(200, 1))
OBSERVATIONS = STATES + 0.2 * RNG.normal(size=STATES.shape)


def walk(spread):
    return lambda states, control, rng: 0.9 * states + spread * rng.normal(size=states.shape)


def run(spread):
    flt = kmcf.KernelMonteCarloFilter(walk(spread), resample_threshold="bound", augment=False, random_state=0)
    flt.fit(STATES, OBSERVATIONS)
    return flt, flt.filter(np.full((6, 1), 0.3))


def test_the_variance_is_that_of_the_transition():
    """For a Gaussian move of spread s and a Gaussian kernel of width σ, E k(x', x̃') = σ / √(σ² + 2 s²)."""
    for spread, width in ((0.5, 1.0), (0.1, 0.3)):
        kernel = kmcf.kernels.Gaussian(width).on_examples(STATES)
        found = move_variance(
            lambda x, rng, s=spread: x + s * rng.normal(size=x.shape), Examples(STATES, kernel, kernel)
        )
        assert found == pytest.approx(1.0 - width / np.sqrt(width**2 + 2 * spread**2), rel=0.25)


def test_a_nearly_deterministic_transition_never_resamples_and_a_wide_one_does():
    still, narrow = run(1e-6)
    moving, wide = run(0.8)
    assert isinstance(still.rule_.resampler, HerdByBound)
    assert np.isnan(narrow.herding_loss).all()
    assert np.isfinite(wide.herding_loss).all()
    assert moving.rule_.resampler.variance > 1e3 * still.rule_.resampler.variance


def test_the_decision_is_the_comparison_of_the_two_bounds():
    flt, found = run(0.05)
    variance, size = flt.rule_.resampler.variance, flt.n_particles_
    for belief in found:
        herded = flt.rule_.herd(belief.source, min(100, size))
        pays = (np.sum(belief.weights**2) - 1 / size) * variance > herded.loss**2
        assert (belief.resampled is not None) == pays


def test_what_it_does_not_go_with():
    with pytest.raises(ValueError, match="always resamples"):
        kmcf.KernelMonteCarloFilter(walk(1.0), engine="compressed", resample_threshold="bound").fit(
            STATES, OBSERVATIONS
        )
    with pytest.raises(ValueError, match="resample_threshold = 'bound'"):
        kmcf.KernelMonteCarloFilter(walk(1.0), resampling="multinomial", resample_threshold="bound").fit(
            STATES, OBSERVATIONS
        )
    with pytest.raises(ValueError, match="resample_threshold = 'bound'"):
        kmcf.KernelMonteCarloFilter(walk(1.0), support="particles", resample_threshold="bound").fit(
            STATES, OBSERVATIONS
        )
    with pytest.raises(TypeError) as error:
        kmcf.KernelMonteCarloFilter(lambda x, u, rng: x + u, resample_threshold="bound").fit(STATES, OBSERVATIONS)
    assert "no controls were given" in error.value.__notes__[0]
    assert "moved the example states without a control" in error.value.__notes__[1]
