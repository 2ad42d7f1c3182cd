"""Several sensors against truths: Bayes' rule by counting, the Kalman filter, a joint filter, another order."""

import numpy as np
import pytest
from finite import DiscreteProblem, posterior_by_counting
from known_models import two_sensors_filtered
from two_sensors import NOISES, examples, initial, joint_examples, move, walk

import kmcf
from kmcf.kernels import Gaussian

FILTERS = [kmcf.KernelMonteCarloFilter, kmcf.ParticleLikelihoodFilter]


def made(kind):
    return kind(move, initial, observation_kernel=Gaussian(multiplier=0.7), random_state=0)


def deviation(means, expected, variances):
    """Average distance of means, in posterior standard deviations."""
    return float(np.mean(np.abs(means[:, 0] - expected) / np.sqrt(variances)))


class OtherSensor(DiscreteProblem):
    """The same states seen in another way."""

    COUNTS = np.array([[1, 4, 2], [3, 3, 3], [6, 1, 2]])


def discrete_filter(kind, **settings):
    """A filter that starts from the prior exactly, and hardly regularises."""
    starts = np.repeat([0.0, 1.0, 2.0], np.round(10 * DiscreteProblem.PRIOR).astype(int))[:, None]
    return kind(
        lambda states, control, rng: states,
        initial=lambda size, rng: starts,
        state_kernel=DiscreteProblem.same,
        observation_kernel=DiscreteProblem.same,
        delta=1e-12,
        n_particles=10,
        random_state=0,
        **settings,
    )


@pytest.mark.parametrize("order", [("first", "second"), ("second", "first")])
@pytest.mark.parametrize(
    "make",
    [
        lambda: discrete_filter(kmcf.KernelMonteCarloFilter, engine="exact", epsilon=1e-10),
        lambda: discrete_filter(kmcf.KernelMonteCarloFilter, engine="compressed", epsilon=1e-10),
        lambda: discrete_filter(kmcf.KernelMonteCarloFilter, rule="importance", epsilon=1e-10),
        lambda: discrete_filter(kmcf.ParticleLikelihoodFilter),
    ],
    ids=["exact", "compressed", "importance", "particles"],
)
def test_with_discrete_states_two_sensors_are_bayes_rule_twice(make, order):
    problems = {"first": DiscreteProblem(), "second": OtherSensor()}
    flt = make().fit({name: (problems[name].states, problems[name].observations) for name in order})
    for first, second in [(0, 1), (2, 0), (1, None), (None, 2)]:
        belief = flt.step(flt.start(), {"first": first, "second": second})
        expected = DiscreteProblem.PRIOR
        for name, y in (("first", first), ("second", second)):
            if y is not None:
                problem = problems[name]
                known = problem.states[:, 0], problem.observations, np.array([float(y)])
                expected = posterior_by_counting(expected, *known)
        mass = [belief.weights[belief.states[:, 0] == x].sum() for x in range(3)]
        np.testing.assert_allclose(mass, expected, atol=1e-6)


@pytest.mark.parametrize("kind", FILTERS)
def test_two_sensors_are_close_to_the_kalman_filter_and_a_joint_filter(kind):
    """Averaged over data sets; the second sensor adds what it knows."""
    several, joint, alone = [], [], []
    for seed in range(3):
        given, seen = examples(300, seed), walk(30, seed)
        expected = two_sensors_filtered(seen["wifi"], seen["camera"], NOISES)
        runs = (
            made(kind).fit(given).filter(seen),
            made(kind).fit(*joint_examples(300, seed)).filter(np.column_stack([seen["wifi"], seen["camera"]])),
            made(kind).fit(*given["wifi"]).filter(seen["wifi"]),
        )
        for found, run in zip((several, joint, alone), runs, strict=True):
            found.append(deviation(run.mean, *expected))
    assert np.mean(several) < 0.35
    assert np.mean(several) < np.mean(joint) + 0.2
    assert np.mean(several) < 0.7 * np.mean(alone)


@pytest.mark.parametrize("kind", FILTERS)
def test_a_sensor_that_speaks_at_every_fifth_step(kind):
    deviations = []
    for seed in range(3):
        seen = walk(30, seed, every=5)
        run = made(kind).fit(examples(200, seed)).filter(seen)
        deviations.append(deviation(run.mean, *two_sensors_filtered(seen["wifi"], seen["camera"], NOISES)))
        spoke = [belief.report.sensors.used == ("wifi", "camera") for belief in run]
        np.testing.assert_array_equal(np.flatnonzero(spoke), np.arange(0, 30, 5))
    assert np.mean(deviations) < 0.3


@pytest.mark.parametrize("kind", FILTERS)
def test_another_order_changes_the_estimate_by_less_than_other_examples_would(kind):
    """The examples are a Monte Carlo sample, too: other ones of the same number change the estimate by its error."""
    by_order, by_examples = [], []
    for seed in range(4):
        seen, given = walk(30, seed), examples(150, seed)
        _, variances = two_sensors_filtered(seen["wifi"], seen["camera"], NOISES)
        this, reverse, other = (
            made(kind).fit(pairs).filter(seen).mean
            for pairs in (given, dict(reversed(given.items())), examples(150, seed + 100))
        )
        by_order.append(deviation(this, reverse[:, 0], variances))
        by_examples.append(deviation(this, other[:, 0], variances))
    assert np.mean(by_order) < np.mean(by_examples)
    assert np.mean(by_order) < 0.45


def test_the_compressed_engine_hands_on_the_same_kernel_mean_on_few_points():
    """Its weights on the pivots give the kernel mean of the posterior's weights on all examples."""
    given = examples(300, 1)
    flt = kmcf.KernelMonteCarloFilter(move, initial, engine="compressed", random_state=0).fit(given)
    belief = flt.step(flt.start(), {"wifi": 0.4})
    handed = belief.source.last.embedded()
    assert len(handed.states) < 60
    points = np.linspace(-4.0, 4.0, 33)[:, None]
    value = flt.state_kernel_(points, handed.states) @ handed.weights
    np.testing.assert_allclose(value, belief.evaluate(points), atol=1e-6)
    exact = kmcf.KernelMonteCarloFilter(move, initial, engine="exact", random_state=0).fit(given)
    for said in ({"wifi": 0.4, "camera": -0.3}, {"wifi": -1.5, "camera": -1.0}):
        one, other = (each.step(each.start(), said) for each in (flt, exact))
        np.testing.assert_allclose(one.mean(), other.mean(), atol=1e-3)
        assert one.report.state_coverage == pytest.approx(other.report.state_coverage, abs=0.1)


def test_the_evidence_of_a_step_is_that_of_each_sensor_given_those_before():
    given = examples(80, 0)
    flt = kmcf.KernelMonteCarloFilter(move, initial, engine="exact", random_state=0).fit(given)
    first = flt.step(flt.start(), {"wifi": 0.4})
    second = flt.sensors_["camera"].rule_.correct(first, np.array([[-0.3]])).evidence.predicted
    both = flt.step(flt.start(), {"wifi": 0.4, "camera": -0.3}).report.log_evidence
    assert both == pytest.approx(first.report.log_evidence + float(second))


def test_the_prior_of_each_sensor_is_the_signed_posterior_of_the_one_before():
    """One step by hand: the second sensor alone, started from the first one's weighted posterior."""
    given, seen = examples(80, 0), {"wifi": [0.4], "camera": [-0.3]}
    flt = kmcf.KernelMonteCarloFilter(move, initial, engine="exact", random_state=0).fit(given)
    middle = flt.step(flt.start(), {"wifi": [0.4]})
    assert middle.weights.min() < 0.0
    by_hand = flt.sensors_["camera"].rule_.correct(middle, np.array([[-0.3]]))
    belief = flt.step(flt.start(), seen)
    np.testing.assert_allclose(belief.weights, by_hand.weights(), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(belief.states, given["camera"][0])
