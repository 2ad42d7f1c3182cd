import numpy as np
import pytest
from scipy import stats

from kmcf.datasets.synthetic import PAPER_MODELS, paper_model

DRAWS = 40_000
EACH_MODEL = pytest.mark.parametrize("name", PAPER_MODELS)


def assert_sample(sample, distribution):
    assert stats.kstest(np.ravel(sample), distribution.cdf).pvalue > 1e-3


def generator():
    return np.random.default_rng(12)


# --- Table 2: transitions and initial distributions -----------------------------------------------------------------


@pytest.mark.parametrize("name", ["1a", "2a", "3a"])
def test_autoregression(name):
    moved = paper_model(name).transition(np.full((DRAWS, 1), 2.0), None, generator())
    assert moved.shape == (DRAWS, 1)
    assert_sample(moved, stats.norm(0.9 * 2.0, 1.0))


@pytest.mark.parametrize("name", ["1b", "2b", "3b"])
def test_autoregression_with_control(name):
    moved = paper_model(name).transition(np.full((DRAWS, 1), 2.0), 3.0, generator())
    assert_sample(moved, stats.norm(0.9 * 2.0 + 3.0 / np.sqrt(2.0), np.sqrt(0.5)))


@pytest.mark.parametrize(("name", "control", "centre", "sd"), [("4a", None, 2.0, np.sqrt(2.0)), ("4b", 0.5, 2.5, 1.0)])
def test_jumping_walk_puts_everything_outside_on_the_lower_edge(name, control, centre, sd):
    moved = paper_model(name).transition(np.full((DRAWS, 1), 2.0), control, generator())[:, 0]
    step = stats.norm(centre, sd)
    inside_probability = step.cdf(3.0) - step.cdf(-3.0)
    on_edge = moved == -3.0
    assert np.abs(moved).max() <= 3.0
    assert on_edge.mean() == pytest.approx(1.0 - inside_probability, abs=4 * np.sqrt(0.25 / DRAWS))
    assert_sample(moved[~on_edge], stats.truncnorm((-3 - centre) / sd, (3 - centre) / sd, centre, sd))


@EACH_MODEL
def test_initial_distribution(name):
    start = paper_model(name).initial(DRAWS, generator())
    assert start.shape == (DRAWS, 1)
    expected = stats.uniform(-3, 6) if name[0] == "4" else stats.norm(0, 1 / np.sqrt(1 - 0.81))
    assert_sample(start, expected)


@EACH_MODEL
def test_transitions_treat_states_one_by_one_and_do_not_change_them(name):
    states = np.linspace(-2, 2, 5)[:, None]
    before = states.copy()
    moved = paper_model(name).transition(states, 0.3, generator())
    assert moved.shape == (5, 1)
    assert len(np.unique(moved - 0.9 * states)) == 5  # independent noise
    np.testing.assert_array_equal(states, before)


# --- Table 2: observations ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("letter", "ab")
def test_linear_observation(letter):
    y = paper_model(f"1{letter}").observe(np.full((DRAWS, 1), 1.5), generator())
    assert_sample(y, stats.norm(1.5, 1.0))


@pytest.mark.parametrize(("name", "columns"), [("2a", 1), ("2b", 1), ("3a", 10), ("3b", 10)])
def test_volatility_observation(name, columns):
    y = paper_model(name).observe(np.full((DRAWS // columns, 1), 1.5), generator())
    assert y.shape == (DRAWS // columns, columns)
    assert_sample(y, stats.norm(0, 0.5 * np.exp(0.75)))
    if columns == 10:
        assert np.abs(np.corrcoef(y.T) - np.eye(10)).max() < 0.1


@pytest.mark.parametrize("letter", "ab")
def test_folded_observation(letter):
    states = np.full((DRAWS, 1), 2.5)
    y = paper_model(f"4{letter}").observe(states, generator())[:, 0]
    b = states[:, 0] + generator().normal(size=(DRAWS, 1))[:, 0]
    expected = [v if abs(v) <= 3 else v - 6 * v / abs(v) for v in b]
    np.testing.assert_allclose(y, expected, atol=1e-14)
    assert (y < -1.5).mean() > 0.2  # the upper tail reappears below


# --- likelihoods ----------------------------------------------------------------------------------------------------


def test_linear_likelihood_equals_scipy():
    states = np.array([[-1.0], [0.0], [2.5]])
    for y in (0.7, [0.7], np.array([[0.7]])):
        expected = stats.norm.logpdf(0.7, states[:, 0], 1.0)
        np.testing.assert_allclose(paper_model("1a").log_likelihood(states, np.asarray(y)), expected, rtol=1e-13)


@pytest.mark.parametrize(("name", "columns"), [("2b", 1), ("3a", 10)])
def test_volatility_likelihood_equals_scipy(name, columns):
    states = np.array([[-4.0], [0.0], [2.5]])
    y = np.random.default_rng(0).normal(size=columns)
    expected = [stats.norm.logpdf(y, 0.0, 0.5 * np.exp(x / 2)).sum() for x in states[:, 0]]
    np.testing.assert_allclose(paper_model(name).log_likelihood(states, y), expected, rtol=1e-12)


@pytest.mark.parametrize("y", [-9.5, -4.0, -3.0, -2.9, 0.0, 2.9, 3.0, 3.1, 8.0])
def test_folded_likelihood_sums_over_all_sources(y):
    def fold(b):
        return b if abs(b) <= 3 else b - 6 * np.sign(b)

    sources = [b for b in (y - 6, y, y + 6) if fold(b) == pytest.approx(y, abs=1e-12)]
    states = np.array([[-3.0], [0.5], [2.8]])
    expected = np.log(sum(stats.norm.pdf(b, states[:, 0], 1.0) for b in sources))
    np.testing.assert_allclose(paper_model("4a").log_likelihood(states, np.array([y])), expected, rtol=1e-10)


def test_folded_likelihood_survives_where_the_density_underflows():
    value = paper_model("4b").log_likelihood(np.array([[0.0]]), np.array([60.0]))
    assert value[0] == pytest.approx(-0.5 * 66.0**2 - 0.5 * np.log(2 * np.pi))


@pytest.mark.parametrize("name", ["1a", "2a", "4a"])
@pytest.mark.parametrize("x", [-2.9, 0.0, 2.0])
def test_likelihood_integrates_to_one_over_observations(name, x):
    model = paper_model(name)
    edges = np.linspace(-15.0, 15.0, 6001)
    middle = 0.5 * (edges[1:] + edges[:-1])  # midpoints: no point lies on an edge of the folding
    values = [np.exp(model.log_likelihood(np.array([[x]]), np.array([y]))[0]) for y in middle]
    assert np.sum(values) * (edges[1] - edges[0]) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("name", ["1a", "2a", "4a"])
def test_likelihood_is_the_density_of_the_observations(name):
    model = paper_model(name)
    y = model.observe(np.full((DRAWS, 1), 2.0), generator())[:, 0]
    edges = np.linspace(-5.0, 5.0, 21)
    fine = np.linspace(-5.0, 5.0, 2001)
    middle = 0.5 * (fine[1:] + fine[:-1])
    density = np.array([np.exp(model.log_likelihood(np.array([[2.0]]), np.array([v]))[0]) for v in middle])
    expected = density.reshape(20, 100).sum(axis=1) * (fine[1] - fine[0])
    observed = np.histogram(y, edges)[0] / DRAWS
    np.testing.assert_allclose(observed, expected, atol=5 * np.sqrt(expected.max() / DRAWS))


# --- simulation -----------------------------------------------------------------------------------------------------


@EACH_MODEL
def test_simulated_shapes_and_determinism(name):
    model = paper_model(name)
    assert model.name == name
    assert model.controlled == (name[1] == "b")
    run, again, other = (model.simulate(30, random_state=seed) for seed in (1, 1, 2))
    assert run.states.shape == (30, 1)
    assert run.observations.shape == (30, 10 if name[0] == "3" else 1)
    assert (run.controls is None) == (name[1] == "a")
    np.testing.assert_array_equal(run.states, again.states)
    np.testing.assert_array_equal(run.observations, again.observations)
    assert not np.array_equal(run.states, other.states)
    if run.controls is not None:
        assert run.controls.shape == (30,)
        np.testing.assert_array_equal(run.controls, again.controls)


@pytest.mark.parametrize("name", ["1a", "1b"])
def test_simulated_moves_and_observations_have_the_noise_of_the_model(name):
    run = paper_model(name).simulate(20_000, random_state=3)
    drift = 0.9 * run.states[:-1, 0]
    if run.controls is not None:
        assert_sample(run.controls, stats.norm())
        drift = drift + run.controls[1:] / np.sqrt(2.0)
    assert_sample(run.states[1:, 0] - drift, stats.norm(0, 1 if name == "1a" else np.sqrt(0.5)))
    assert_sample(run.observations - run.states, stats.norm())


def test_stationary_models_stay_stationary():
    run = paper_model("1a").simulate(40_000, random_state=0)
    assert run.states.var() == pytest.approx(1.0 / (1.0 - 0.81), rel=0.06)


def test_a_sequence_may_have_length_one():
    run = paper_model("4b").simulate(1, random_state=0)
    assert run.states.shape == run.observations.shape == (1, 1)


@pytest.mark.parametrize("name", ["5a", "1c", "1", "", "A1"])
def test_unknown_models_are_an_error_that_lists_the_known_ones(name):
    with pytest.raises(ValueError, match=rf"unknown model '{name}'; the paper's models are 1a, 1b, .*4b"):
        paper_model(name)
