"""Which engine is taken, and how well it reproduces the kernel matrices."""

import dataclasses
import warnings

import numpy as np
import pytest
from rule_cases import fitted_kernels, make_examples

import kmcf
from kmcf.bayes_rule import CompressedRule, ExactRule, Examples, LiteralRule, LowRankRule, Sample, fit_rule
from kmcf.bayes_rule.choice import RuleSettings, cheapest, neighbours
from kmcf.bayes_rule.costs import tolerances_for
from kmcf.herding.resampling import KeepAll
from kmcf.kernels import Gaussian
from kmcf.support.alerts import HighRankWarning

SETTINGS = RuleSettings("auto", "kbr", 1e-3, 1e-4, (1e-8, 1e-8), (None, None), 200, KeepAll(), KeepAll())


def fit(columns=1, n=150, **changes):
    states, observations = make_examples(n, columns)
    return fit_rule(Examples(states, *fitted_kernels(states, observations)), dataclasses.replace(SETTINGS, **changes))


@pytest.mark.parametrize(
    ("engine", "kind"),
    [("literal", LiteralRule), ("exact", ExactRule), ("lowrank", LowRankRule), ("compressed", CompressedRule)],
)
def test_the_engine_asked_for_is_used(engine, kind):
    fitted = fit(engine=engine)
    assert isinstance(fitted.rule, kind)
    assert fitted.engine == engine


def test_auto_takes_the_cheapest_and_respects_what_is_possible():
    assert fit().engine == "compressed"
    assert fit(rule="importance").engine in ("lowrank", "exact")
    assert fit(always_resampler=None).engine in ("lowrank", "exact")
    assert cheapest(1000, 40, 40, SETTINGS) == "compressed"
    assert cheapest(100_000, 2000, 2000, SETTINGS) == "lowrank"
    assert cheapest(150, 150, 150, SETTINGS) == "exact"
    assert cheapest(150, 150, 150, dataclasses.replace(SETTINGS, rank=(150, 150))) != "exact"


def test_ranks_and_errors_are_reported():
    fitted = fit(engine="lowrank", rank=(6, 9))
    assert fitted.ranks == (6, 9)
    assert 0.0 < fitted.trace_errors[0] < 0.5
    tight = fit(engine="lowrank")
    assert max(tight.trace_errors) < 1e-7


def test_automatic_tolerance_scales_with_regularisers_and_kernels():
    states, observations = make_examples(50)
    kernels = fitted_kernels(states, observations)
    settings = dataclasses.replace(SETTINGS, tolerance=None)
    base = tolerances_for(settings, *kernels)
    assert base == pytest.approx((0.5 * 1e-3, 0.05 * 1e-2))
    smaller = tolerances_for(dataclasses.replace(settings, epsilon=1e-5, delta=1e-8), *kernels)
    assert smaller == pytest.approx((base[0] / 100, base[1] / 100))
    large = (4 * kernels[0].kernel).fit(states).on_examples(states)
    assert tolerances_for(settings, large, kernels[1])[0] == pytest.approx(base[0] / 4)


@pytest.mark.parametrize("columns", [1, 10])
def test_automatic_tolerance_changes_posterior_means_by_less_than_a_hundredth_sd(columns):
    states, observations = make_examples(300, columns)
    kernels = fitted_kernels(states, observations)
    settings = dataclasses.replace(SETTINGS, delta=9e-6, tolerance=None)
    auto = fit_rule(Examples(states, *kernels), settings)
    literal = fit_rule(Examples(states, *kernels), dataclasses.replace(settings, engine="literal"))
    rng = np.random.default_rng(1)
    changes = []
    for centre in rng.normal(scale=1.5, size=25):
        particles = rng.normal(centre, 1.0, size=(200, 1))
        y = 0.5 * np.exp(centre / 2) * rng.normal(size=(1, columns))
        w = literal.rule.correct(Sample(particles, np.full(200, 0.005)), y).weights()
        v = auto.rule.correct(Sample(particles, np.full(200, 0.005)), y).weights()
        variance = float(w @ (states[:, 0] - w @ states[:, 0]) ** 2)
        changes.append(abs(float((v - w) @ states[:, 0])) / np.sqrt(max(variance, 0.05)))
    assert np.median(changes) < 5e-3
    assert max(changes) < 5e-2
    if columns == 10:
        assert auto.ranks[1] < 250


def test_many_examples_of_high_rank_are_approximated_with_a_warning(monkeypatch):
    monkeypatch.setattr("kmcf.bayes_rule.accuracy.LARGEST_GRAM", 200)
    monkeypatch.setattr("kmcf.bayes_rule.choice.LARGEST_GRAM", 200)
    monkeypatch.setattr("kmcf.bayes_rule.accuracy.MOST_PIVOTS", 120)
    with pytest.warns(HighRankWarning, match="observations needs more than 120 features"):
        fitted = fit(columns=10, n=400)
    assert fitted.ranks[1] <= 120
    assert 0.0 < fitted.trace_errors[1] < 1.0
    assert fitted.engine in ("lowrank", "compressed")


def test_few_examples_of_full_rank_give_no_warning():
    assert fit(columns=10, n=60).ranks[1] <= 60


def test_a_compressed_engine_that_cannot_fit_in_memory_is_refused(monkeypatch):
    monkeypatch.setattr("kmcf.bayes_rule.choice.LARGEST_TENSOR", 100)
    with pytest.raises(ValueError, match="GiB"):
        fit(columns=10, n=60, engine="compressed")


N = 240


def corridor(width):
    rng = np.random.default_rng(0)
    states = np.sort(rng.uniform(0, 60, size=(N, 1)), axis=0)
    observations = np.concatenate([np.sin(states), states % 7], axis=1) + 0.1 * rng.normal(size=(N, 2))
    examples = Examples(states, Gaussian(width).on_examples(states), Gaussian(0.5).on_examples(observations))
    particles = 20.0 + rng.normal(size=(50, 1))
    return examples, particles, np.full(50, 0.02), observations[80:81]


def test_auto_knows_that_few_examples_are_near():
    narrow, wide = corridor(0.5)[0].state_kernel, corridor(30.0)[0].state_kernel
    assert neighbours(narrow, 1e-6) < N / 3 < neighbours(wide, 1e-6)
    settings = RuleSettings("auto", "kbr", 1e-3, 1e-4, (1e-8, 1e-8), (None, None), 400, KeepAll(), KeepAll())
    assert cheapest(3000, 3000, 3000, settings, near=100) == "exact"
    assert cheapest(3000, 40, 40, settings, near=100) == "compressed"


@pytest.mark.slow
def test_advice_about_ranks_fits_the_kernel(monkeypatch):
    """Nobody is told to learn a kernel that is learnt, or that a cap was too low which left twice what was used."""
    monkeypatch.setattr("kmcf.bayes_rule.accuracy.LARGEST_GRAM", 200)
    monkeypatch.setattr("kmcf.bayes_rule.accuracy.MOST_PIVOTS", 120)
    rng = np.random.default_rng(0)
    states = rng.normal(size=(400, 1))
    seen = states + 0.3 * rng.normal(size=(400, 8))
    flt = kmcf.KernelMonteCarloFilter(kmcf.transitions.GaussianRandomWalk(0.3), engine="lowrank", random_state=0)
    narrow = kmcf.kernels.Learned(kernel=kmcf.kernels.Gaussian(multiplier=0.003))
    with pytest.warns(HighRankWarning, match="A wider kernel has a lower rank"):
        flt.set_params(observation_kernel=narrow, rule="importance").fit(states, seen)
    with warnings.catch_warnings():
        warnings.simplefilter("error", HighRankWarning)
        flt.set_params(observation_kernel=None, rule="kbr").fit(states, seen)
    assert flt.ranks_[1] <= 60


def test_a_kernel_of_nan_is_named():
    states, observations = make_examples(20)
    broken = kmcf.kernels.FromCallable(lambda a, b: np.full((len(a), len(b)), np.nan))
    flt = kmcf.KernelMonteCarloFilter(lambda x, u, rng: x, observation_kernel=broken, random_state=0)
    with pytest.raises(ValueError, match="observation kernel returned NaN or infinity"):
        flt.fit(states, observations)
