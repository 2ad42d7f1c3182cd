"""The posterior on particles, on JAX arrays, against the NumPy path on the same particles."""

import warnings

import jax.numpy as jnp
import numpy as np
import pytest
from jax_cases import MODEL, TRAIN
from known_models import rmse

import kmcf
from kmcf.compiled import CompiledFilter
from kmcf.filter.backward.smoothing import smoothed_run
from kmcf.support.estimators import clone

STEPS, PARTICLES = 8, 90
COLUMNS = (
    "mean",
    "covariance",
    "ess",
    "weight_sum",
    "log_evidence",
    "prediction_score",
    "observation_coverage",
    "state_coverage",
    "mode",
    "interval",
)


def both_runs(name, make, **settings):
    model = kmcf.datasets.paper_model(name)
    train, test = model.simulate(80, random_state=0), model.simulate(STEPS, random_state=1)
    particles = np.random.default_rng(0).normal(size=(STEPS, PARTICLES, 1)) + test.states[:, None]
    seen = np.array(test.observations)
    seen[4] = np.nan
    flt = make(
        lambda states, control, rng: control,  # the particles of every step come in through the control
        initial=lambda size, rng: particles[0],
        n_particles=PARTICLES,
        random_state=0,
        **settings,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kmcf.RejectedStepWarning)
        expected = flt.fit(train.states, train.observations).filter(seen, particles)
        flt.fit(jnp.asarray(train.states), jnp.asarray(train.observations))
        return expected, flt.filter(jnp.asarray(seen), particles)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "make", "settings"),
    [
        ("2b", kmcf.ParticleLikelihoodFilter, {"background": 0.2, "resample_threshold": 0.0}),
        # Weights are carried from step to step.
        ("3a", kmcf.KernelMonteCarloFilter, {"support": "particles", "delta": np.inf, "resampling": "none"}),
    ],
)
def test_the_same_posteriors_on_the_same_particles(name, make, settings):
    expected, found = both_runs(name, make, **settings)
    np.testing.assert_array_equal(found.rejected, expected.rejected)
    np.testing.assert_array_equal(found.alarm, expected.alarm)
    assert not found.rejected.all()
    for column in COLUMNS:
        np.testing.assert_allclose(getattr(found, column), getattr(expected, column), rtol=1e-7, atol=1e-7)
    for t in (3, 4):
        np.testing.assert_allclose(found[t].weights, expected[t].weights, atol=1e-10)
        np.testing.assert_allclose(found[t].states, expected[t].states, atol=1e-12)
        assert (found[t].resampled is None) == (expected[t].resampled is None)


@pytest.fixture(scope="module")
def flt():
    """A filter on particles, on JAX arrays."""
    made = kmcf.ParticleLikelihoodFilter(MODEL.transition, MODEL.initial, resample_threshold=1.1, n_particles=200)
    return made.set_params(random_state=0).fit(jnp.asarray(TRAIN.states), jnp.asarray(TRAIN.observations))


@pytest.fixture(scope="module")
def sequences():
    """Three sequences, one with a gap."""
    seen = np.stack([MODEL.simulate(60, random_state=k).observations for k in (5, 6, 7)])
    seen[1, 2:5] = np.nan
    return seen


@pytest.fixture(scope="module")
def runs(flt, sequences):
    """Its runs over them."""
    return flt.filter(jnp.asarray(sequences))


def test_resampled_particles_represent_the_posterior(runs):
    belief = next(belief for belief in runs[0] if belief.resampled is not None)
    counts = np.bincount(belief.resampled, minlength=200)
    assert (np.abs(counts - 200 * belief.weights) < 1.0 + 1e-9).all()  # what systematic resampling promises
    assert (counts == 0).any()


def test_steps_batches_and_beliefs_agree(flt, runs, sequences):
    belief = flt.start(1)
    for t, y in enumerate(sequences[1, :8]):
        belief = flt.step(belief, y)
        np.testing.assert_allclose(belief.mean(), runs.mean[1, t], rtol=1e-9)
    np.testing.assert_allclose(runs[1][7].states, belief.states, rtol=1e-9)
    np.testing.assert_allclose([b.mean() for b in runs[1]], runs.mean[1], rtol=1e-9)
    np.testing.assert_allclose([b.ess for b in runs[1]], runs.ess[1], rtol=1e-9)
    ahead = flt.step(runs[1][4], sequences[1, 5])  # a belief of the host goes on where it was
    np.testing.assert_allclose(ahead.mean(), runs.mean[1, 5], rtol=1e-9)
    assert runs.missing[1, 2:5].all()
    assert np.isnan(runs.herding_loss).all()


def test_free_runs_are_as_accurate_as_with_numpy(flt, runs, sequences):
    host = clone(flt).fit(TRAIN.states, TRAIN.observations).filter(sequences)
    states = np.stack([MODEL.simulate(60, random_state=k).states for k in (5, 6, 7)])
    errors = [rmse(run.mean, states) for run in (host, runs)]
    assert abs(errors[1] / errors[0] - 1) < 0.06


@pytest.mark.slow
def test_the_backward_pass_is_the_one_of_the_host(flt, runs, sequences):
    found = flt.smooth(jnp.asarray(sequences))
    host = smoothed_run(flt._smoother(), runs[0], None, None)  # without a gap; there the host moves fewer states
    for column in ("mean", "covariance", "ess", "mode", "interval", "log_evidence"):
        np.testing.assert_allclose(getattr(found[0], column), getattr(host, column), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found[0][3].weights, host[3].weights, atol=1e-10)
    states = np.stack([MODEL.simulate(60, random_state=k).states for k in (5, 6, 7)])
    assert rmse(found.mean, states) < rmse(runs.mean, states)
    assert found.sample_paths(2).shape == (3, 2, 60, 1)


def test_saved_and_loaded(flt, tmp_path):
    flt.save(tmp_path / "f.kmcf")
    again = kmcf.load(tmp_path / "f.kmcf", transition=MODEL.transition, initial=MODEL.initial)
    assert isinstance(again.backend_, CompiledFilter)
    assert again.backend_.settings.support == flt.backend_.settings.support


def test_angles():
    rng = np.random.default_rng(0)
    angles = rng.uniform(-np.pi, np.pi, size=(150, 1))
    observations = np.concatenate([np.cos(angles), np.sin(angles)], axis=1) + 0.05 * rng.normal(size=(150, 2))
    particles = np.pi + 0.3 * rng.normal(size=(4, 100, 1))
    flt = kmcf.ParticleLikelihoodFilter(
        lambda states, control, rng: control,
        initial=lambda size, rng: particles[0],
        n_particles=100,
        angles=(0,),
        observation_kernel=kmcf.kernels.Gaussian(0.5),
        random_state=0,
    )
    seen = np.array([[-1.0, 0.0], [-1.0, 0.1], [np.nan, np.nan], [-1.0, 0.05]])
    expected = flt.fit(angles, observations).filter(seen, particles)
    found = flt.fit(jnp.asarray(angles), jnp.asarray(observations)).filter(seen, particles)
    gap = np.angle(np.exp(1j * (found.mean - expected.mean)))
    np.testing.assert_allclose(gap, 0.0, atol=1e-8)
    np.testing.assert_allclose(found.covariance, expected.covariance, atol=1e-8)
    assert abs(found.mean[0, 0]) > 3.0


def test_relocation_is_for_numpy_only():
    flt = kmcf.ParticleLikelihoodFilter(MODEL.transition, relocate=True)
    with pytest.raises(ValueError, match="relocate=True is computed by NumPy only"):
        flt.fit(jnp.asarray(TRAIN.states), jnp.asarray(TRAIN.observations))
