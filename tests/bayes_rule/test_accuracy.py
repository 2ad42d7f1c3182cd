"""How accurate features are where the user does not say: against the exact engine, and by what a step would cost."""

import dataclasses

import numpy as np
import pytest
from rule_cases import make_examples

from kmcf.bayes_rule import ExactRule, Examples, Sample, fit_rule
from kmcf.bayes_rule.accuracy import AFFORDABLE_NANOSECONDS, fewer_pivots
from kmcf.bayes_rule.choice import RuleSettings
from kmcf.bayes_rule.factors import KernelFeatures
from kmcf.bayes_rule.probes import Probes
from kmcf.herding.resampling import KeepAll
from kmcf.kernels import Gaussian

REGULARISERS = {"epsilon": 1e-3, "delta": 1e-4}
SETTINGS = RuleSettings(
    "auto", "kbr", 1e-3, 1e-4, None, (None, None), 200, KeepAll(), KeepAll(), tight_if_cheap=True
)  # fmt: skip


def world(n, columns, seed=0, noise=1.0):
    """A point in the plane, seen by sensors whose answers bend and are noisy."""
    rng = np.random.default_rng(seed)
    states = rng.uniform(-3.0, 3.0, size=(n, 2))
    directions, phases = rng.normal(size=(2, columns)), rng.uniform(0, 6, size=columns)
    observations = np.cos(states @ directions + phases) + noise * rng.normal(size=(n, columns))
    return states, observations


def examples_of(states, observations):
    return Examples(states, *(Gaussian().fit(part).on_examples(part) for part in (states, observations)))


@pytest.mark.slow
@pytest.mark.parametrize(("columns", "rule", "noise"), [(10, "kbr", 0.3), (31, "kbr", 1.0), (20, "importance", 0.3)])
def test_the_default_has_the_errors_of_the_exact_engine(columns, rule, noise):
    """Posterior means move little in units of their sd, unless a posterior is narrower than its error by far."""
    states, observations = world(440, columns, noise=noise)
    examples, known = examples_of(states[:400], observations[:400]), states[:400]
    delta = 1e-4 if rule == "kbr" else 1e-2
    fitted = fit_rule(examples, dataclasses.replace(SETTINGS, rule=rule, delta=delta))
    exact = ExactRule.fit(examples, epsilon=1e-3, delta=delta, rule=rule, resampler=KeepAll())
    assert fitted.why.tolerance is None
    rng, changes, errors = np.random.default_rng(1), [], []
    for x, y in zip(states[400:], observations[400:], strict=True):
        prior = Sample(x + rng.normal(scale=0.7, size=(200, 2)), np.full(200, 0.005))
        w, v = (rule.correct(prior, y[None]).weights() for rule in (exact, fitted.rule))
        sd = np.sqrt(np.maximum(w @ (known - w @ known) ** 2, 0.02))
        changes.append(np.max(np.abs((v - w) @ known) / sd))
        errors.append([np.linalg.norm(weights @ known - x) for weights in (w, v)])
    of_exact, of_default = np.sqrt(np.mean(np.square(errors), axis=0))
    assert of_default < 1.02 * of_exact
    assert np.median(changes) < (0.01 if fitted.why.change < 0.01 else 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("n", [300, 900])
def test_no_size_is_a_cliff(n):
    """By the cost model, since clocks are noisy; at 1e-8 the kernel matrix has full rank, and steps cost n³."""
    fitted = fit_rule(examples_of(*world(n, 12)), SETTINGS)
    assert fitted.why.nanoseconds[fitted.engine] < 1.5 * AFFORDABLE_NANOSECONDS


def test_tight_features_are_kept_where_they_are_cheap():
    states, observations = make_examples(300)
    fitted = fit_rule(examples_of(states, observations), SETTINGS)
    assert fitted.why.tolerance == (1e-8, 1e-8)
    tight = fit_rule(
        examples_of(states, observations), dataclasses.replace(SETTINGS, tolerance=(1e-8, 1e-8), tight_if_cheap=False)
    )
    assert fitted.ranks == tight.ranks
    assert fitted.trace_errors == tight.trace_errors


def test_the_first_pivots_are_what_a_looser_tolerance_finds():
    states, _ = world(200, 3)
    kernel = Gaussian(1.0).on_examples(states)
    fine, coarse = (KernelFeatures.fit(kernel, tolerance=tolerance) for tolerance in (1e-8, 1e-3))
    cut = fine.truncated(fine.needed(1e-3))
    np.testing.assert_array_equal(cut.pivots, coarse.pivots)
    np.testing.assert_allclose(cut.rows, coarse.rows)
    assert cut.trace_error == pytest.approx(coarse.trace_error)
    np.testing.assert_allclose(cut.of_one(states[:1])[0], coarse.of_one(states[:1])[0])


def test_probes_see_no_change_in_the_same_features_and_a_large_one_in_few():
    states, observations = world(200, 10)
    _, on_states, on_observations = examples_of(states, observations)
    U, V = (KernelFeatures.fit(kernel, tolerance=1e-8) for kernel in (on_states, on_observations))
    probes = Probes.of(states, U, V, rule="kbr", **REGULARISERS)
    assert probes.change(U.rows, V.rows).means < 1e-8
    assert not probes.change(U.rows, V.rows[:, :3]).within()
    assert not probes.change(U.rows[:, :3], V.rows).within()


def test_left_out_examples_are_not_among_the_known():
    states, observations = world(120, 4)
    _, on_states, on_observations = examples_of(states, observations)
    U, V = (KernelFeatures.fit(kernel, tolerance=1e-8) for kernel in (on_states, on_observations))
    probes = Probes.of(states, U, V, rule="kbr", **REGULARISERS)
    assert not np.intersect1d(probes.rows, probes.left_out).size
    for prior in probes.priors:
        assert prior.sum() == pytest.approx(1.0)
        assert len(prior) == len(probes.rows)


def test_memory_limits_the_pivots():
    for n in (10, 5000, 100_000, 3_000_000):
        assert fewer_pivots(n) <= n
        assert fewer_pivots(n) * n <= max(50_000_000, 200 * n)
