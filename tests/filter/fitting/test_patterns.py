"""Observations that lack numbers are used with those they have, as by a filter fitted on these columns alone."""

import pickle
import time

import numpy as np
import pytest
from finite import posterior_by_counting
from gappy_cases import SIZE, YS, X, Y, assert_same, make, move, start, with_gaps, without
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import kmcf
from kmcf.kernels import AsinhScaled, Circular, Columns, Constant, Gaussian, Hellinger, Laplace, Learned, Linear

PLAIN = AsinhScaled(Gaussian(multiplier=0.7))
"""Saves choosing a kernel for every pattern."""
SETTINGS = {
    "defaults": {},
    "literal": {"engine": "literal", "reject": True, "observation_kernel": PLAIN},
    "exact": {"engine": "exact", "observation_kernel": PLAIN},
    "lowrank": {"engine": "lowrank", "observation_kernel": PLAIN},
    "compressed": {"engine": "compressed", "observation_kernel": PLAIN},
    "importance": {"rule": "importance", "observation_kernel": PLAIN},
    "particles": {"support": "particles"},
    "learnt kernel": {"observation_kernel": Learned()},
    "learnt kernel, compressed": {"observation_kernel": Learned(), "engine": "compressed"},
    "other kernel": {"observation_kernel": 0.5 * AsinhScaled(Laplace()) + Linear() * Constant(0.1)},
    "few examples": {"n_examples": 40, "observation_kernel": PLAIN},
    "not resampled": {"resampling": "none", "observation_kernel": PLAIN},
}


@pytest.mark.parametrize("chosen", SETTINGS.values(), ids=SETTINGS)
def test_the_answer_is_that_of_a_filter_on_the_observed_columns(chosen):
    found = make(**chosen).fit(X, Y).filter(without(YS, 1, 3))
    assert_same(found, make(**chosen).fit(X, Y[:, [0, 2]]).filter(YS[:, [0, 2]]))


def test_the_rest_of_a_filter_stays():
    """Between different patterns, particles and random numbers are those of one filter."""
    whole = make().fit(X, Y)
    part = make().fit(X, Y[:, [1, 2]])
    belief, expected = whole.start(), whole.start()
    for t, y in enumerate(YS):
        gaps = np.where(np.isin(np.arange(4), [1, 2]), y, np.nan) if t % 2 else y
        belief = whole.step(belief, gaps)
        expected = part.step(expected, y[[1, 2]]) if t % 2 else whole.step(expected, y)
        np.testing.assert_allclose(belief.mean(), expected.mean(), rtol=1e-7)
        np.testing.assert_allclose(belief.weights, expected.weights, atol=1e-9)


def test_runs_of_several_patterns_summarise_each_by_its_own_rule():
    flt = make(engine="compressed", observation_kernel=PLAIN).fit(X, with_gaps(Y, 0.1, seed=1))
    ys = np.where(np.arange(12)[:, None] % 3 == np.arange(4), np.nan, YS)
    run, belief = flt.filter(ys, keep_beliefs=False), flt.start()
    assert len({len(flt.step(belief, y).states) for y in ys}) > 2
    for t, y in enumerate(ys):
        belief = flt.step(belief, y)
        weights = belief.weights
        np.testing.assert_allclose(run.ess[t], 1.0 / np.sum(weights**2), rtol=1e-7)
        np.testing.assert_allclose(run.negative_mass[t], -np.minimum(weights, 0.0).sum(), atol=1e-9)
        np.testing.assert_array_equal(run.mode[t], belief.states[np.argmax(weights)])


@pytest.mark.parametrize(("engine", "n_examples"), [("exact", None), ("exact", 50), ("compressed", None)])
def test_a_column_that_is_always_missing_changes_nothing(engine, n_examples):
    chosen = {"engine": engine, "n_examples": n_examples, "n_particles": None, "observation_kernel": PLAIN}
    plain, padded = make(**chosen).fit(X, Y), make(**chosen).fit(X, np.insert(Y, 1, np.nan, axis=1))
    ys = np.concatenate([YS[:6], without(YS[6:], 2)])
    for value in (np.nan, 7.0):
        assert_same(padded.filter(np.insert(ys, 1, value, axis=1)), plain.filter(ys))
    only_there = np.insert(np.full((2, 4), np.nan), 1, 7.0, axis=1)
    assert padded.filter(only_there).missing.all()


def test_the_examples_that_were_kept_are_counted_as_they_were_given(tmp_path):
    gappy = with_gaps(Y, 0.1, seed=2)
    gappy[:4] = np.nan
    flt = make(n_examples=20, observation_kernel=PLAIN).fit(X, gappy)
    np.testing.assert_array_equal(flt.states_, X[flt.example_indices_])
    assert not np.isnan(gappy[flt.example_indices_]).any()
    flt.set_params(transition=kmcf.transitions.GaussianRandomWalk(0.3), initial=None).save(tmp_path / "few.kmcf")
    np.testing.assert_array_equal(kmcf.load(tmp_path / "few.kmcf").example_indices_, flt.example_indices_)


@pytest.mark.parametrize("support", ["examples", "particles"])
def test_examples_that_lack_numbers(support):
    """Those that have what was observed are used; the state kernel is learnt from all of them."""
    gappy = with_gaps(Y, 0.2, seed=4)
    gappy[5] = np.nan  # an example that has nothing is none
    flt = make(support=support, observation_kernel=PLAIN).fit(X, gappy)
    rest = np.delete(np.arange(SIZE), 5)
    for columns in ([0, 1, 2, 3], [0, 3], [2]):
        complete = ~np.isnan(gappy[:, columns]).any(axis=1)
        part = make(support=support, observation_kernel=PLAIN, state_kernel=Gaussian(flt.state_kernel_.bandwidth_))
        part.fit(X[complete], Y[complete][:, columns])
        assert_same(flt.filter(without(YS, *set(range(4)) - set(columns))), part.filter(YS[:, columns]))
    drawn = make(initial=None, n_particles=None, observation_kernel=PLAIN).fit(X, gappy).start()
    assert len(drawn.states) == len(rest)
    known, drawn_from = ({tuple(state) for state in some} for some in (flt.states_, X[rest]))
    assert {tuple(state) for state in drawn.states} <= drawn_from
    assert not {tuple(state) for state in drawn.states} <= known


def test_exact_bayes_with_missing_numbers():
    """Discrete states that move in a circle and two discrete sensors, with gaps in examples and in use."""
    rng = np.random.default_rng(0)
    states = np.repeat([0.0, 1.0, 2.0], 60)
    table = np.array([[[6, 3, 1], [1, 1, 2]], [[2, 5, 5], [0, 3, 1]], [[1, 0, 7], [4, 1, 1]]]).reshape(3, -1)
    cells = [rng.choice(6, p=table[int(x)] / table[int(x)].sum()) for x in states]
    observations = np.column_stack([np.array(cells) // 3, np.array(cells) % 3]).astype(float)
    observations = with_gaps(observations, 0.15, seed=2)
    prior = np.array([0.2, 0.7, 0.1])
    flt = kmcf.KernelMonteCarloFilter(
        lambda states, control, rng: (states + 1.0) % 3.0,
        initial=lambda size, rng: np.repeat([[0.0], [1.0], [2.0]], [2, 7, 1], axis=0),
        state_kernel=Gaussian(0.05),  # equal or not
        observation_kernel=Gaussian(0.05),
        epsilon=1e-8,
        delta=1e-8,
        resampling="none",
        n_particles=10,
    ).fit(states, observations)
    belief, nan = flt.start(), np.nan
    for t, y in enumerate(np.array([[0, nan], [nan, 2], [1, 0], [nan, nan], [0, 1], [nan, 1]], dtype=float)):
        belief = flt.step(belief, y)
        prior = prior if t == 0 else np.roll(prior, 1)
        prior = prior if np.isnan(y).all() else posterior_by_counting(prior, states, observations, y)
        found = [belief.weights[belief.states[:, 0] == x].sum() for x in range(3)]
        np.testing.assert_allclose(found, prior, atol=1e-5)


@pytest.mark.filterwarnings("ignore::kmcf.RejectedStepWarning", "ignore::kmcf.FewExamplesWarning")
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_any_pattern(data):
    """Any gaps anywhere: sound weights, and the answer of the filter on the columns that are ever there."""
    absent = np.array(data.draw(st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=14, max_size=14)))
    y = np.array(data.draw(st.lists(st.sampled_from([np.nan, 0.3, -0.4]), min_size=3, max_size=3)))
    observations = np.where(absent, np.nan, Y[:14, :3])
    flt = make(engine="exact", observation_kernel=PLAIN, epsilon=1e-2, delta=1e-2, state_kernel=Gaussian(1.0))
    if ((~np.isnan(observations)).sum(axis=0) < 2).all():
        with pytest.raises(ValueError, match="nothing to learn"):
            flt.fit(X[:14], observations)
        return
    whole = clone(flt).fit(X[:14], observations)
    belief = whole.step(whole.start(), y)
    assert np.isclose(belief.weights.sum(), 1.0)
    known = ~np.isnan(y) & ((~np.isnan(observations)).sum(axis=0) >= 2)
    assert belief.report.missing == (not known.any())
    if known.any():
        part = clone(flt).fit(X[:14], observations[:, known])
        expected = part.step(part.start(), y[known])
        np.testing.assert_allclose(belief.mean(), expected.mean(), rtol=1e-8, atol=1e-10)


# --- what else a filter does ------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::kmcf.StalePivotsWarning")
@pytest.mark.parametrize("engine", ["exact", "compressed"])
@pytest.mark.parametrize("refresh", [False, True])
def test_further_examples(engine, refresh):
    """As for a filter on the observed columns: kernels stay those of the fit."""
    gappy, columns = with_gaps(Y, 0.15, seed=6), [1, 3]
    chosen = {"engine": engine, "state_kernel": Gaussian(0.8), "observation_kernel": PLAIN}
    flt = make(**chosen).fit(X[:60], gappy[:60])
    part = make(**chosen).fit(X[:60], gappy[:60, columns])
    before = flt.filter(without(YS, 0, 2)).mean
    for some in (slice(60, 75), slice(75, 90)):
        for changed, seen in ((flt, gappy[some]), (part, gappy[some][:, columns])):
            changed.partial_fit(X[some], seen)
            if refresh and some.start == 60:
                changed.refresh()
    assert_same(flt.filter(without(YS, 0, 2)), part.filter(YS[:, columns]), rtol=1e-5, atol=1e-6)
    assert not np.allclose(flt.filter(without(YS, 0, 2)).mean, before)
    whole = make(**chosen).fit(X[:60], Y[:60]).partial_fit(X[60:], gappy[60:])  # gaps only later
    assert whole.learnt_.examples[0].shape == X.shape
    with pytest.raises(ValueError, match="none of the new examples has a number"):
        whole.partial_fit(X[:2], np.full((2, 4), np.nan))


@pytest.mark.filterwarnings("ignore::kmcf.StalePivotsWarning")
def test_copies_of_a_filter_give_the_same_answers(tmp_path):
    flt = make(engine="compressed", observation_kernel=PLAIN, floor=[None, -3.0, None, None]).fit(
        X[:70], with_gaps(Y, 0.2, seed=8)[:70]
    )
    flt.partial_fit(X[70:], with_gaps(Y, 0.2, seed=8)[70:])
    ys = np.concatenate([YS[:2], without(YS[2:4], 0, 1), without(YS[4:6], 3)])
    expected = flt.filter(ys)
    flt.set_params(transition=kmcf.transitions.GaussianRandomWalk(0.3), initial=None)
    random_walk = flt.filter(ys)
    flt.save(tmp_path / "filter.kmcf")
    assert_same(kmcf.load(tmp_path / "filter.kmcf").filter(ys), random_walk)
    flt.set_params(transition=move, initial=start)
    assert_same(pickle.loads(pickle.dumps(flt)).filter(ys), expected)
    again = clone(flt).fit(X[:70], with_gaps(Y, 0.2, seed=8)[:70])
    assert_same(again.partial_fit(X[70:], with_gaps(Y, 0.2, seed=8)[70:]).filter(ys), expected)
    other = flt.refitted(X, with_gaps(Y, 0.2, seed=8), epsilon=0.1)
    fresh = clone(flt).set_params(epsilon=0.1).fit(X[:70], with_gaps(Y, 0.2, seed=8)[:70])
    fresh.partial_fit(X[70:], with_gaps(Y, 0.2, seed=8)[70:])
    assert_same(other.filter(ys), fresh.filter(ys))


def test_batches_are_sequences():
    flt = make(observation_kernel=PLAIN).fit(X, with_gaps(Y, 0.1, seed=1))
    ys = with_gaps(YS, 0.3, seed=3).reshape(3, 4, 4)
    runs = flt.filter(ys)
    for b, run in enumerate(flt.filter_many(list(ys))):
        np.testing.assert_array_equal(runs.mean[b], run.mean)


def test_tuning_on_examples_that_lack_numbers():
    result = kmcf.tune(
        make(observation_kernel=PLAIN), X, with_gaps(Y, 0.1, seed=2), n_trials=2, folds=2, random_state=0
    )
    assert np.isfinite([trial.value for trial in result.trials]).all()


def test_patterns_are_fitted_once_and_the_oldest_forgotten(monkeypatch):
    from kmcf.filter.fitting import patterns

    fits = []
    learn_from = patterns.learn_from
    monkeypatch.setattr(patterns, "learn_from", lambda *words: fits.append(1) or learn_from(*words))
    monkeypatch.setattr(patterns.Patterns, "most", 2)
    flt = make(observation_kernel=PLAIN).fit(X, Y)
    for columns in ([0], [1], [0], [1], [0]):
        flt.step(flt.start(), without(YS[:1], *columns)[0])
    assert len(fits) == 2
    flt.step(flt.start(), without(YS[:1], 2)[0])  # the pattern used longest ago, [1], makes room
    flt.step(flt.start(), without(YS[:1], 0)[0])
    assert len(fits) == 3
    flt.step(flt.start(), without(YS[:1], 1)[0])
    assert len(fits) == 4


def test_a_known_pattern_costs_a_plain_step():
    """Against a filter on the observed columns; the best of many, since other programs run as well."""
    flt, part = make(engine="compressed").fit(X, Y), make(engine="compressed").fit(X, Y[:, [0, 2]])
    belief, gaps, y = flt.start(), without(YS[:1], 1, 3)[0], YS[0, [0, 2]]
    flt.step(belief, gaps)
    costs = []
    for one, seen in ((flt, gaps), (part, y)) * 30:
        began = time.perf_counter()
        one.step(belief, seen)
        costs.append(time.perf_counter() - began)
    assert min(costs[::2]) < 1.5 * min(costs[1::2])


# --- limits -----------------------------------------------------------------------------------------------------------


def test_too_few_examples_have_everything():
    """The column that examples lack most often is left out, with a warning, until ten examples are left."""
    gappy = np.array(Y)
    gappy[5:, 1] = np.nan
    with pytest.warns(kmcf.FewExamplesWarning, match="4 columns.* 1 were left out, and 90 examples have the others"):
        flt = make(observation_kernel=PLAIN).fit(X, gappy)
    assert_same(flt.filter(YS), make(observation_kernel=PLAIN).fit(X, Y[:, [0, 2, 3]]).filter(YS[:, [0, 2, 3]]))
    with pytest.warns(kmcf.FewExamplesWarning, match="an observation has 2 columns"):
        found = flt.filter(without(YS, 2, 3))
    assert_same(found, make(observation_kernel=PLAIN).fit(X, Y[:, [0]]).filter(YS[:, [0]]))
    assert flt.filter(without(YS, 0, 2, 3)).missing.sum() == 0  # nothing else is there, so five examples must do


KERNELS = {
    "per column": (Gaussian([1.0, 2.0, 3.0, 4.0]), Gaussian([1.0, 3.0])),
    "groups": (Columns(Gaussian(1.0), [0, 1]) * Columns(Laplace(2.0), [3, 2]), Gaussian(1.0) * Constant(1.0)),
    "angles": (Circular([0.5, 1.0, 2.0, 3.0, 1.5, 2.5, 3.5, 4.5]), Circular([0.5, 2.0, 1.5, 3.5])),
}


def test_kernels_with_parameters_per_column():
    kernel, expected = KERNELS["per column"]
    found = make(observation_kernel=kernel).fit(X, Y).filter(without(YS, 1, 3))
    assert_same(found, make(observation_kernel=expected).fit(X, Y[:, [0, 2]]).filter(YS[:, [0, 2]]))
    kernel, expected = KERNELS["angles"]
    found = make(observation_kernel=kernel).fit(X, Y).filter(without(YS, 1, 3))
    assert_same(found, make(observation_kernel=expected).fit(X, Y[:, [0, 2]]).filter(YS[:, [0, 2]]))
    kernel = KERNELS["groups"][0]
    found = make(observation_kernel=kernel).fit(X, Y).filter(without(YS, 1, 3))
    expected = Columns(Gaussian(1.0), 0) * Columns(Laplace(2.0), 1)
    assert_same(found, make(observation_kernel=expected).fit(X, Y[:, [0, 2]]).filter(YS[:, [0, 2]]))
    found = make(observation_kernel=kernel).fit(X, Y).filter(without(YS, 2, 3))  # one group is gone
    assert_same(found, make(observation_kernel=Gaussian(1.0)).fit(X, Y[:, [0, 1]]).filter(YS[:, [0, 1]]))


def test_observations_that_are_arrays_and_histograms():
    shaped = make(observation_kernel=PLAIN).fit(X, Y.reshape(-1, 2, 2)).filter(without(YS, 1).reshape(-1, 2, 2))
    assert_same(shaped, make(observation_kernel=PLAIN).fit(X, Y).filter(without(YS, 1)))
    counts, seen = np.abs(Y), np.abs(YS)
    found = make(observation_kernel=Hellinger()).fit(X, counts).filter(without(seen, 3))
    assert_same(found, make(observation_kernel=Hellinger()).fit(X, counts[:, :3]).filter(seen[:, :3]))


def test_what_a_kernel_cannot_compare():
    flt = make(observation_kernel=Columns(Gaussian(1.0), 0)).fit(X, Y)
    with pytest.raises(ValueError, match="none of the columns that its kernel compares"):
        flt.step(flt.start(), without(YS[:1], 0)[0])
    from_the_right = make(observation_kernel=Columns(Gaussian(1.0), -1)).fit(X, Y)
    with pytest.raises(ValueError, match="partly NaN"):
        from_the_right.step(from_the_right.start(), without(YS[:1], 0)[0])
    with pytest.raises(ValueError, match="nothing to learn"):
        make().fit(X, np.full_like(Y, np.nan))
