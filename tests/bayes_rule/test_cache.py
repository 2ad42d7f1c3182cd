"""What a file keeps of a rule: it comes back bit for bit, or it is refused."""

import copy

import numpy as np
import pytest
from rule_cases import fitted_kernels, make_examples

from kmcf.bayes_rule import (
    Examples,
    ParticleSettings,
    RuleSettings,
    Sample,
    fit_particle_rule,
    fit_rule,
)
from kmcf.bayes_rule.cache import from_cache, particles_from_cache, to_cache
from kmcf.herding.herding import Herd
from kmcf.herding.resampling import Draw

N = 60
STATES, OBSERVATIONS = make_examples(N, columns=3)
EXAMPLES = Examples(STATES, *fitted_kernels(STATES, OBSERVATIONS))
PRIOR = Sample(1.1 * STATES[:7], np.full(7, 1 / 7))


def cube(states):
    return states[:, 0] ** 3


class OnExamples:
    """A rule on examples: how it is fitted and restored."""

    def __init__(self, engine, rule="kbr", rank=(None, None)):
        herd = Herd(20)
        self.settings = RuleSettings(engine, rule, 1e-3, 1e-4, (1e-6, 1e-6), rank, 50, herd, herd)
        self.extent = {"functions": [cube]}

    def fit(self, examples=EXAMPLES):
        return fit_rule(examples, self.settings, **self.extent)

    def restore(self, cache, examples=EXAMPLES):
        return from_cache(cache, examples, self.settings, **self.extent)


class OnParticles:
    """The rule on particles, likewise."""

    def __init__(self, **settings):
        chosen = {"delta": 1e-2, "tolerance": 1e-8, "rank": None, "resampler": Draw("systematic")} | settings
        self.settings = ParticleSettings(**chosen)

    def fit(self, examples=EXAMPLES):
        return fit_particle_rule(examples, self.settings)

    def restore(self, cache, examples=EXAMPLES):
        return particles_from_cache(cache, examples, self.settings)


KEPT = {
    "exact": OnExamples("exact"),
    "exact, importance": OnExamples("exact", "importance"),
    "lowrank": OnExamples("lowrank"),
    "lowrank, importance": OnExamples("lowrank", "importance"),
    "lowrank, directions": OnExamples("lowrank", rank=(5, 7)),
    "compressed": OnExamples("compressed"),
    "compressed, directions": OnExamples("compressed", rank=(5, 6)),
    "particles": OnParticles(background=0.1),
    "particles, directions": OnParticles(rank=6),
}
FITTED_AGAIN = {
    "literal": OnExamples("literal"),
    "literal, low rank": OnExamples("literal", rank=(5, 5)),
    "particles, infinite delta": OnParticles(delta=np.inf),
}

every_kept = pytest.mark.parametrize("case", KEPT.values(), ids=KEPT)


def answers(rule):
    """Everything that a filter reads off two posteriors, the second of one that herding had to represent."""
    found = []
    for y in (OBSERVATIONS[:1], 1.01 * OBSERVATIONS[5:6]):
        posterior = rule.correct(PRIOR, y)
        resampled = posterior.resample(30, np.random.default_rng(0))
        found += [posterior.weights(), posterior.weight_sum, posterior.observation_coverage, posterior.state_coverage]
        found += [posterior.support, resampled.indices, resampled.loss, posterior.expectation(cube), posterior.mean()]
    return found


@every_kept
def test_posteriors_of_a_restored_rule_are_bit_identical(case):
    fitted = case.fit()
    restored = case.restore(to_cache(fitted))
    assert type(restored.rule) is type(fitted.rule)
    assert restored[1:] == fitted[1:]
    for found, expected in zip(answers(restored.rule), answers(fitted.rule), strict=True):
        np.testing.assert_array_equal(found, expected)


@every_kept
def test_restored_rules_take_other_regularisers_like_the_fitted_ones(case):
    fitted = case.fit()
    rules = [one.rule.regularised(1e-2, 1e-3) for one in (fitted, case.restore(to_cache(fitted)))]
    for found, expected in zip(*(answers(rule) for rule in rules), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("case", [KEPT["compressed"], KEPT["compressed, directions"]], ids=["full", "directions"])
def test_a_rule_that_learnt_more_comes_back_with_pivots_that_no_fit_would_choose(case):
    more = make_examples(20, columns=3, seed=1)
    extended = case.fit()._replace(rule=case.fit().rule.extended(*more))
    states, observations = np.concatenate([STATES, more[0]]), np.concatenate([OBSERVATIONS, more[1]])
    kernels = (EXAMPLES.state_kernel.kernel, EXAMPLES.observation_kernel.kernel)
    longer = Examples(states, kernels[0].on_examples(states), kernels[1].on_examples(observations))
    restored = case.restore(to_cache(extended), longer)
    assert restored.rule.size == N + 20
    for found, expected in zip(answers(restored.rule), answers(extended.rule), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("case", FITTED_AGAIN.values(), ids=FITTED_AGAIN)
def test_what_costs_little_is_fitted_again(case):
    assert case.restore(to_cache(case.fit())) is None


@every_kept
def test_writing_changes_nothing_and_reading_changes_no_cache(case):
    fitted = case.fit()
    cache = to_cache(fitted)
    before = copy.deepcopy(cache)
    answers(case.restore(cache).rule)
    for path, value in leaves(before):
        np.testing.assert_array_equal(get(cache, path), value)


# --- damage -----------------------------------------------------------------------------------------------------------

ANY_LENGTH = ("candidates",)
"""Herding may choose from as many examples as there were room for."""
NOT_USED = ("factor", 2)
"""Residuals of the factor, which say how good it is."""


def leaves(node, path=()):
    """All numbers and arrays of a cache with the way to each."""
    if isinstance(node, dict | list):
        for key, part in node.items() if isinstance(node, dict) else enumerate(node):
            yield from leaves(part, (*path, key))
    else:
        yield path, node


def get(node, path):
    for key in path:
        node = node[key]
    return node


def changed(cache, path, value):
    """The cache with another value in one place."""
    cache = copy.deepcopy(cache)
    get(cache, path[:-1])[path[-1]] = value
    return cache


def arrays(cache):
    return [(path, value) for path, value in leaves(cache) if isinstance(value, np.ndarray) and path != NOT_USED]


def wrong_shapes(array):
    yield array[None]
    yield np.float64(3.0) if array.ndim == 1 else array.ravel()
    if array.ndim > 1:
        yield array[..., :-1]
        yield np.concatenate([array, array[..., :1]], axis=-1)


def wrong_lengths(array):
    yield array[:-1]
    yield np.concatenate([array, array[:1]])


@every_kept
def test_other_shapes_are_refused(case):
    cache = to_cache(case.fit())
    for path, array in arrays(cache):
        bad = [*wrong_shapes(array), *(() if path == ANY_LENGTH else wrong_lengths(array))]
        for value in bad:
            with pytest.raises(ValueError, match="do not match the examples"):
                case.restore(changed(cache, path, value))


@every_kept
def test_indices_that_are_none_of_the_examples_are_refused(case):
    cache = to_cache(case.fit())
    indices = [(path, array) for path, array in arrays(cache) if array.dtype.kind == "i"]
    assert indices
    for path, array in indices:
        for place, index in ((0, -1), (-1, N), (0, 10**9), (-1, np.iinfo(np.intp).min)):
            bad = array.copy()
            bad[place] = index
            with pytest.raises(ValueError, match="some indices are out of range"):
                case.restore(changed(cache, path, bad))
        for dtype in (float, bool, complex, object, str):
            with pytest.raises(ValueError, match="some indices are out of range"):
                case.restore(changed(cache, path, array.astype(dtype)))


def checked_types(cache):
    """Arrays of numbers that must be 64-bit floats."""
    return [(path, array) for path, array in arrays(cache) if path[-1] in ("lower", "rows") or path[0] == "tensors"]


@pytest.mark.parametrize("case", [case for name, case in KEPT.items() if "exact" not in name])
def test_other_types_are_refused(case):
    cache = to_cache(case.fit())
    assert checked_types(cache)
    for path, array in checked_types(cache):
        for dtype in (np.float32, int, bool, complex, object, str):
            with pytest.raises(ValueError, match="do not match the examples"):
                case.restore(changed(cache, path, array.astype(dtype)))


@every_kept
def test_the_cache_of_other_examples_is_refused(case):
    fewer = EXAMPLES.subset(np.arange(N - 1))
    with pytest.raises(ValueError, match="do not match the examples"):
        case.restore(to_cache(case.fit()), fewer)


def test_tensors_over_another_number_of_examples_are_refused():
    case = KEPT["compressed"]
    cache = to_cache(case.fit())
    for count in (N - 1, 10**16):
        with pytest.raises(ValueError, match=f"the sums are over {count} examples"):
            case.restore(changed(cache, ("tensors", "n"), count))


def test_tensors_for_other_functions_are_refused():
    case = KEPT["compressed"]
    with pytest.raises(ValueError, match="the tensor moments has another size"):
        from_cache(to_cache(case.fit()), EXAMPLES, case.settings)


@pytest.mark.parametrize("part", ["directions", "mapped"])
def test_directions_come_in_pairs(part):
    case = KEPT["lowrank, directions"]
    with pytest.raises(ValueError, match="do not match the examples"):
        case.restore(changed(to_cache(case.fit()), ("states", part), None))


@every_kept
def test_every_array_of_numbers_must_be_64_bit_floats(case):
    cache = to_cache(case.fit())
    for path, array in arrays(cache):
        if array.dtype.kind == "f":
            for dtype in (np.float32, int, bool, complex, object, str):
                with pytest.raises(ValueError, match="do not match the examples"):
                    case.restore(changed(cache, path, array.astype(dtype)))


def test_herding_needs_candidates():
    case = KEPT["compressed"]
    with pytest.raises(ValueError, match="do not match the examples"):
        case.restore(changed(to_cache(case.fit()), ("candidates",), np.zeros(0, dtype=np.intp)))


@every_kept
def test_numbers_that_are_none_are_refused(case):
    cache = to_cache(case.fit())
    for path, value in leaves(cache):
        if isinstance(value, float | int) and not isinstance(value, bool):
            for bad in (None, "x", [], {}):
                with pytest.raises(ValueError, match="do not match the examples"):
                    case.restore(changed(cache, path, bad))
