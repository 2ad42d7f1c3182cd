"""The kernel for counts, and the Poisson rates behind it, against formulas written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import poisson
from sklearn.base import clone

import kmcf
from kmcf.filter.fitting.kernel_choice import choose_observation_kernel
from kmcf.kernels import Counts, Hellinger, named
from kmcf.kernels.learned import poisson as module
from kmcf.kernels.learned.counts import look_like_counts

CENTRES = np.linspace(0.0, 1.0, 8)


def rates_at(places):
    return 0.05 + 3.0 * np.exp(-0.5 * ((places - CENTRES) / 0.08) ** 2)


@pytest.fixture(scope="module")
def examples():
    rng = np.random.default_rng(0)
    places = rng.uniform(size=(250, 1))
    return places, rng.poisson(rates_at(places)).astype(float)


@pytest.fixture(scope="module")
def fitted(examples):
    return Counts().fit(examples[1], examples[0])


def test_new_observations_get_the_tempered_posterior_over_the_places(monkeypatch, examples):
    monkeypatch.setattr(module, "PLACES", 7)
    states, counts = examples
    profile = module.PoissonProfile(counts, states)
    rows = (states - states.mean()) / states.std()
    np.testing.assert_array_equal(profile.places, rows[np.linspace(0, 249, 7).astype(int)])
    y = np.array([[1.0, 0, 2, 0, 0, 0, 0, 3]])
    expected = []
    for place in profile.places:
        near = [np.exp(-0.5 * float(np.sum((place - row) ** 2)) / profile.width**2) for row in rows]
        rate = (np.array(near) @ counts + counts.mean(axis=0)) / (sum(near) + 1.0)
        expected.append(np.prod(poisson.pmf(y[0], rate)) ** profile.temper)
    np.testing.assert_allclose(profile.predict(y)[0] ** 2, np.array(expected) / sum(expected), rtol=1e-9)


def test_examples_have_summaries_from_which_their_part_of_the_sequence_was_left_out(monkeypatch, examples):
    monkeypatch.setattr(module, "PLACES", 5)
    states, counts = examples
    profile = module.PoissonProfile(counts, states)
    left_out = np.array_split(np.arange(250), 10)[3]
    others = np.setdiff1d(np.arange(250), left_out)
    rows = (states - states.mean()) / states.std()
    near = np.exp(-0.5 * (profile.places - rows[others].T) ** 2 / profile.width**2)
    rates = (near @ counts[others] + counts[others].mean(axis=0)) / (near.sum(axis=1, keepdims=True) + 1.0)
    logs = np.array([poisson.logpmf(counts[left_out], rate).sum(axis=1) for rate in rates]).T * profile.temper
    posterior = np.exp(logs - logs.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(profile.out_of_sample[left_out] ** 2, posterior, atol=1e-10)


def test_the_smoothing_follows_the_true_rates():
    rng = np.random.default_rng(1)
    places = rng.uniform(size=(600, 1))
    smooth = module.PoissonProfile(rng.poisson(1.0 + 4.0 * np.hstack([places, 1.0 - places])) * 1.0, places)
    rough = module.PoissonProfile(rng.poisson(4.0 * (np.sin(40.0 * places) > 0)) * 1.0, places)
    assert rough.width < smooth.width


@settings(max_examples=20, deadline=None)
@given(arrays(np.float64, (6, 8), elements=st.integers(0, 12).map(float)))
def test_it_is_a_kernel_with_unit_diagonal(fitted, rows):
    matrix = fitted(rows)
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-12)
    np.testing.assert_allclose(np.diag(matrix), 1.0)
    assert np.linalg.eigvalsh(matrix).min() > -1e-9


def test_it_is_deterministic_clonable_storable_and_has_a_name(examples, fitted, tmp_path):
    states, counts = examples
    again = clone(Counts(random_state=3)).fit(counts, states)
    np.testing.assert_array_equal(again(counts[:5], counts), fitted(counts[:5], counts))
    assert isinstance(named("counts"), Counts)
    walk = kmcf.transitions.GaussianRandomWalk(0.05)
    flt = kmcf.KernelMonteCarloFilter(walk, observation_kernel=Counts(), random_state=0).fit(states, counts)
    flt.save(tmp_path / "model.kmcf")
    loaded = kmcf.load(tmp_path / "model.kmcf")
    new = np.random.default_rng(2).poisson(rates_at(np.full((6, 1), 0.3))) * 1.0
    np.testing.assert_array_equal(loaded.filter(new).mean, flt.filter(new).mean)


def test_silent_bins_are_used_and_say_what_silence_says():
    rng = np.random.default_rng(4)
    places = rng.uniform(size=(300, 1))
    loud = 6.0 * (places < 0.6) * np.ones((1, 4))  # beyond 0.6 all are silent
    counts = rng.poisson(loud) * 1.0
    flt = kmcf.KernelMonteCarloFilter(
        kmcf.transitions.GaussianRandomWalk(0.05), observation_kernel=Counts(), random_state=0
    ).fit(places, counts)
    run = flt.filter(np.zeros((8, 4)))
    assert not run.rejected.any()
    assert run.mean[-1, 0] > 0.65


def test_hellinger_has_a_similarity_of_histograms_of_zeros_if_asked_to():
    empty, full = [[0.0, 0.0]], [[1.0, 3.0]]
    assert Hellinger()(empty, empty)[0, 0] == 0.0
    shifted = Hellinger(offset=1.0)
    np.testing.assert_allclose(shifted(empty, full), [[np.sqrt(2.0) + 2.0]])
    assert shifted(empty, empty)[0, 0] == pytest.approx(2.0)


@pytest.mark.parametrize("offset", [-1.0, np.nan, "some"])
def test_a_bad_offset_gets_a_sentence(offset):
    with pytest.raises((TypeError, ValueError), match="offset"):
        Hellinger(offset=offset)([[1.0]], [[1.0]])


def test_counts_are_recognised():
    rng = np.random.default_rng(0)
    assert look_like_counts(rng.poisson(2.0, size=(50, 3)))
    assert not look_like_counts(rng.normal(size=(50, 3)))
    assert not look_like_counts(rng.integers(0, 2, size=(50, 3)))  # yes and no are not counts
    assert not look_like_counts(-rng.poisson(2.0, size=(50, 3)))
    assert not look_like_counts(rng.poisson(200.0, size=(50, 3)))
    assert not look_like_counts(np.array([["a"]]))


def test_the_default_prefers_it_where_it_predicts_better(examples):
    choice = choose_observation_kernel(*examples)
    assert set(choice.scores) == {"plain", "learnt", "counts"}
    assert choice.name == min(choice.scores, key=choice.scores.get)
    noise = np.random.default_rng(0).normal(size=(60, 3))
    assert "counts" not in choose_observation_kernel(noise[:, :1], noise).scores


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["kbr", "importance"])
def test_a_filter_tries_it_under_both_rules_and_regularises_the_prior_more(examples, rule):
    walk = kmcf.transitions.GaussianRandomWalk(0.05)
    flt = kmcf.KernelMonteCarloFilter(walk, rule=rule, random_state=0).fit(*examples)
    assert "counts" in flt.kernel_choice_.scores
    assert flt.epsilon_ == pytest.approx(1e-2)
    places, counts = examples
    assert flt.set_params(epsilon=1e-4).fit(*examples).epsilon_ == 1e-4  # what is given stays
    assert flt.set_params(epsilon=None).fit(places, counts + 0.5).epsilon_ == pytest.approx(1e-3)  # no counts
    assert flt.fit(places, counts[:, :1]).epsilon_ == pytest.approx(1e-3)  # one number: nothing was measured


def test_tuning_compares_the_two_kernels_that_predict_best(examples):
    walk = kmcf.transitions.GaussianRandomWalk(0.05)
    flt = kmcf.KernelMonteCarloFilter(walk, random_state=0)
    variants = flt.variants(*examples)
    scores = choose_observation_kernel(*examples).scores
    assert set(variants.filters) == set(sorted(scores, key=scores.get)[:2])
    assert {one.epsilon for one in variants.filters.values()} == {1e-2}


@pytest.mark.parametrize("bad", [-1.0, np.inf])
def test_what_is_no_count_gets_a_sentence(examples, fitted, bad):
    states, counts = examples
    wrong = counts.copy()
    wrong[2, 1] = bad
    for attempt in (lambda: Counts().fit(wrong, states), lambda: fitted(wrong)):
        with pytest.raises(ValueError, match=r"Counts compares counts|NaN or infinity"):
            attempt()
    with pytest.raises(ValueError, match="Counts learns from pairs"):
        Counts().fit(counts)
