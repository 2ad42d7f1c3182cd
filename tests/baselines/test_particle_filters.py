"""The particle filters against the Kalman filter, another package, literal formulas and scikit-learn's predictions."""

import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

import kmcf
from kmcf.baselines import GPParticleFilter, KNNParticleFilter, ParticleFilter
from kmcf.baselines.gp_prediction import FastPrediction
from kmcf.datasets import paper_model

MODEL = paper_model("1a")


def kalman(observations):
    """x' = 0.9 x + noise, y = x + noise, started in the stationary law; NaN is missing."""
    mean, variance, found = 0.0, 1.0 / (1.0 - 0.81), []
    for t, y in enumerate(np.ravel(observations)):
        if t:
            mean, variance = 0.9 * mean, 0.81 * variance + 1.0
        if not np.isnan(y):
            gain = variance / (variance + 1.0)
            mean, variance = mean + gain * (y - mean), (1.0 - gain) * variance
        found.append((mean, variance))
    return np.array(found).T


def oracle(**settings):
    settings = {"n_particles": 20_000, "random_state": 0} | settings
    return ParticleFilter(MODEL.transition, MODEL.log_likelihood, MODEL.initial, **settings)


# --- the oracle -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("resampling", ["systematic", "stratified", "multinomial"])
@pytest.mark.parametrize("threshold", [0.5, 1.0])
def test_the_oracle_is_the_kalman_filter(resampling, threshold):
    observations = MODEL.simulate(30, random_state=0).observations.copy()
    observations[[7, 8, 20]] = np.nan
    means, variances = kalman(observations)
    run = oracle(resampling=resampling, resample_threshold=threshold).filter(observations)
    np.testing.assert_allclose(run.mean[:, 0], means, atol=0.05)
    np.testing.assert_allclose(run.covariance[:, 0, 0], variances, rtol=0.08)
    assert run.missing.sum() == 3


def test_the_weight_sum_is_the_likelihood_of_the_observation():
    observations = MODEL.simulate(15, random_state=0).observations
    mean, variance, expected = 0.0, 1.0 / (1.0 - 0.81), []
    for t, y in enumerate(observations[:, 0]):
        if t:
            mean, variance = 0.9 * mean, 0.81 * variance + 1.0
        expected.append(stats.norm.pdf(y, mean, np.sqrt(variance + 1.0)))
        gain = variance / (variance + 1.0)
        mean, variance = mean + gain * (y - mean), (1.0 - gain) * variance
    np.testing.assert_allclose(oracle().filter(observations).weight_sum, expected, rtol=0.05)


def test_the_oracle_agrees_with_another_package():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        particles = pytest.importorskip("particles")
        from particles import distributions, state_space_models

    class Volatility(state_space_models.StateSpaceModel):
        """Model 2a."""

        def PX0(self):  # noqa: N802
            return distributions.Normal(scale=1.0 / np.sqrt(1.0 - 0.81))

        def PX(self, t, xp):  # noqa: N802
            return distributions.Normal(loc=0.9 * xp)

        def PY(self, t, xp, x):  # noqa: N802
            return distributions.Normal(scale=0.5 * np.exp(x / 2.0))

    model = paper_model("2a")
    observations = model.simulate(40, random_state=0).observations
    state = np.random.get_state()  # noqa: NPY002  # that package draws from the global generator
    np.random.seed(0)  # noqa: NPY002
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = particles.SMC(
            fk=state_space_models.Bootstrap(ssm=Volatility(), data=observations[:, 0]),
            N=20_000,
            collect=[particles.collectors.Moments()],
        )
        other.run()
    np.random.set_state(state)  # noqa: NPY002
    theirs = np.array([moments["mean"] for moments in other.summaries.moments])
    flt = ParticleFilter(model.transition, model.log_likelihood, model.initial, n_particles=20_000, random_state=0)
    run = flt.filter(observations)
    np.testing.assert_allclose(run.mean[:, 0], theirs, atol=0.06)
    assert np.log(run.weight_sum).sum() == pytest.approx(other.logLt, abs=0.2)


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


def test_the_oracle_needs_examples_only_for_drawing_initial_states():
    flt = ParticleFilter(MODEL.transition, MODEL.log_likelihood, n_particles=50, random_state=0)
    with pytest.raises(kmcf.filter.sequential.NotFittedError, match=r"pass initial=\.\.\., or call fit"):
        flt.start()
    X = np.array([[1.0], [5.0]])
    assert set(flt.fit(X, X).start().states.ravel()) == {1.0, 5.0}
    assert oracle(n_particles=50).step(oracle(n_particles=50).start(), 0.3).mean().shape == (1,)


def test_objects_can_be_states():
    def likelihood(states, y):
        return np.array([0.0 if state == y else -3.0 for state in states])

    flt = ParticleFilter(
        lambda states, control, rng: states,
        likelihood,
        lambda size, rng: [("left", "right")[i] for i in rng.integers(2, size=size)],
        n_particles=100,
        random_state=0,
    )
    assert flt.filter(["left", "left", None, "left"]).mode == ["left"] * 4


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


@pytest.mark.parametrize(("result", "message"), [(np.zeros((3, 2)), r"shape \(3, 2\)"), (np.full(50, np.nan), "NaN")])
def test_bad_likelihoods(result, message):
    flt = oracle(n_particles=50)
    flt.log_likelihood = lambda states, y: result
    with pytest.raises(ValueError, match=message):
        flt.filter([0.0])
    flt = oracle()
    flt.log_likelihood = "normal"
    with pytest.raises(TypeError, match="log_likelihood must be a function"):
        flt.start()


# --- kNN-PF -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("divide", [False, True])
def test_the_nearest_neighbour_likelihood_is_its_formula(divide):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 2)), rng.normal(size=(40, 3))
    flt = KNNParticleFilter(
        lambda states, control, rng: states,
        n_neighbors=5,
        state_kernel=kmcf.kernels.Gaussian(0.4),
        divide_by_density=divide,
        n_particles=60,
        resample_threshold=0.0,
        random_state=0,
    ).fit(X, Y)
    y = rng.normal(size=3)
    start = flt.start()
    nearest = sorted(range(40), key=lambda i: np.sum((Y[i] - y) ** 2))[:5]

    def smooth(a, b):
        return np.exp(-np.sum((a - b) ** 2) / (2 * 0.4**2))

    density = [sum((5 - r) / 15 * smooth(p, X[i]) for r, i in enumerate(nearest)) for p in start.states]
    if divide:
        density = [d / sum(smooth(p, x) for x in X) for d, p in zip(density, start.states, strict=True)]
    np.testing.assert_allclose(flt.step(start, y).weights, np.array(density) / np.sum(density), atol=1e-12)


def test_dividing_by_the_density_undoes_uneven_examples():
    """Examples crowd at one end; the state is uniform. Undivided, the estimate leans towards the crowd."""
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(scale=0.7, size=(2000, 1)))
    Y = X + 0.5 * rng.normal(size=X.shape)
    errors = {}
    for divide in (False, True):
        flt = KNNParticleFilter(
            lambda states, control, rng: states,
            lambda size, rng: rng.uniform(0, 2, size=(size, 1)),
            n_neighbors=150,
            divide_by_density=divide,
            random_state=0,
        ).fit(X, Y)
        errors[divide] = abs(float(flt.step(flt.start(), 1.0).mean()[0]) - 1.0)  # flat prior: the mean is y
    assert errors[True] < 0.5 * errors[False]


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize(
    "kernel",
    [
        ConstantKernel(2.0) * RBF(0.7) + WhiteKernel(0.1),
        Matern(1.0, nu=1.5) + WhiteKernel(0.3),
        ConstantKernel(5.0) * RBF(2.0) + WhiteKernel(1e-3),
    ],
)
@pytest.mark.parametrize(("tolerance", "in_sd"), [(1e-8, 1e-3), (1e-12, 1e-4)])
def test_fast_predictions_are_scikit_learns(columns, kernel, tolerance, in_sd):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, columns))
    y = 30.0 + 5.0 * np.sin(2 * X[:, 0]) + rng.normal(size=120)
    points = 2.0 * rng.normal(size=(300, columns))
    theirs = GaussianProcessRegressor(kernel, alpha=1e-10, normalize_y=True, optimizer=None).fit(X, y)
    means, variances = FastPrediction(theirs, X, y, jitter=1e-10, tolerance=tolerance)(points)
    expected, sd = theirs.predict(points, return_std=True)
    np.testing.assert_array_less(np.abs(means - expected), in_sd * sd)
    np.testing.assert_allclose(variances, sd**2, rtol=in_sd)


def test_the_gaussian_process_likelihood_is_the_predictive_density():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1))
    Y = np.hstack([np.sin(X), X**2]) + 0.2 * rng.normal(size=(60, 2))
    flt = GPParticleFilter(
        lambda states, control, rng: states, n_particles=80, resample_threshold=0.0, random_state=0
    ).fit(X, Y)
    start, y = flt.start(), np.array([0.3, 0.5])
    rows = (start.states - X.mean(axis=0)) / X.std(axis=0)
    logs = np.zeros(80)
    for j in range(2):
        mean, sd = flt.regressors_[j].predict(rows, return_std=True)
        logs += stats.norm.logpdf(y[j], mean, sd)
    weights = np.exp(logs - logs.max())
    np.testing.assert_allclose(flt.step(start, y).weights, weights / weights.sum(), rtol=1e-3, atol=1e-8)


def test_the_gaussian_process_filter_is_nearly_the_kalman_filter_on_its_own_ground():
    train, test = MODEL.simulate(300, random_state=0), MODEL.simulate(60, random_state=1)
    flt = GPParticleFilter(MODEL.transition, MODEL.initial, random_state=0).fit(train.states, train.observations)
    means, _ = kalman(test.observations)
    assert np.sqrt(np.mean((flt.filter(test.observations).mean[:, 0] - means) ** 2)) < 0.25


def test_dimensions_that_say_nothing_are_left_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 1))
    Y = np.hstack([X + 0.1 * rng.normal(size=X.shape), np.full((40, 1), 3.0)])
    Y[5, 0] = np.nan
    flt = GPParticleFilter(MODEL.transition, n_particles=200, random_state=0).fit(X, Y)
    assert list(flt.regressors_) == [0]
    run = flt.filter(np.array([[0.5, 3.0], [0.5, 9.0], [0.5, np.nan], [np.nan, 3.0]]))
    assert (np.abs(run.mean[:3, 0] - 0.5) < 0.3).all()
    assert not run.missing.any()
    assert abs(run.mean[3, 0] - 0.9 * run.mean[2, 0]) < 0.3  # nothing learnt from the constant dimension


def test_subsets_are_what_they_say():
    train = MODEL.simulate(200, random_state=0)
    flt = GPParticleFilter(MODEL.transition, n_examples=50, n_hyperparameter_examples=20, random_state=0)
    flt.fit(train.states, train.observations)
    assert flt.regressors_[0].X_train_.shape == (20, 1)
    test = MODEL.simulate(30, random_state=1)
    assert np.sqrt(np.mean((flt.filter(test.observations).mean - test.states) ** 2)) < 1.3


def test_restarts_find_no_worse_hyperparameters_and_all_examples_may_be_used():
    rng = np.random.default_rng(3)
    X = rng.uniform(-3, 3, size=(600, 1))
    Y = np.sin(6 * X) + 0.3 * rng.normal(size=X.shape)  # a long length scale with much noise is a second optimum
    found = []
    for restarts in (0, 3):
        flt = GPParticleFilter(
            MODEL.transition, n_hyperparameter_examples=None, n_restarts=restarts, n_particles=50, random_state=2**40
        ).fit(X, Y)
        assert flt.regressors_[0].X_train_.shape == (600, 1)
        found.append(flt.regressors_[0].log_marginal_likelihood_value_)
    assert found[1] >= found[0] - 1e-6
    assert GPParticleFilter(MODEL.transition).n_hyperparameter_examples == 500


@pytest.mark.parametrize("restarts", [-1, 1.5, True, None])
def test_restarts_are_counted(restarts):
    train = MODEL.simulate(20, random_state=0)
    with pytest.raises(ValueError, match=r"n_restarts = .*0 or a positive integer"):
        GPParticleFilter(MODEL.transition, n_restarts=restarts).fit(train.states, train.observations)


def test_the_variance_multiplier_widens():
    train = MODEL.simulate(100, random_state=0)
    spread = [
        GPParticleFilter(MODEL.transition, variance_multiplier=m, n_particles=2000, random_state=0)
        .fit(train.states, train.observations)
        .filter([0.0])
        .covariance[0, 0, 0]
        for m in (1.0, 4.0)
    ]
    assert spread[1] > 1.5 * spread[0]


def test_gaussian_processes_need_vectors():
    with pytest.raises(TypeError, match=r"the observations are a list.*need vectors of numbers"):
        GPParticleFilter(MODEL.transition).fit(np.zeros((3, 1)), ["a", "b", "c"])
