"""Signal strengths: features by hand, and a width that predicts."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.exceptions import NotFittedError

import kmcf
from kmcf.kernels import SignalStrength, named
from kmcf.numerics.arrays import array_namespace

FLOOR = -100.0


def hall(n=600, transmitters=80, seed=0):
    """Strengths of transmitters along a walk through a hall; those further away than 15 m are not heard."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(0, 60, size=(transmitters, 2))
    states = np.clip(30 + np.cumsum(rng.normal(size=(n, 2)), axis=0), 0, 60)
    distances = np.linalg.norm(states[:, None] - places[None], axis=2)
    strengths = -40.0 - 25.0 * np.log10(np.maximum(distances, 1.0)) + 3.0 * rng.normal(size=distances.shape)
    return states, np.where(distances < 15.0, strengths, FLOOR)


STATES, STRENGTHS = hall()


def test_few_columns_are_powers_of_scaled_strengths():
    rows = np.array([[-100.0, -60.0, -100.0], [-80.0, -120.0, -100.0], [-20.0, -90.0, -100.0]])
    kernel = SignalStrength(exponent=2.0, bandwidth=0.5).fit(rows)
    by_hand = np.array([[0.0, 0.25], [0.0625, 0.0], [1.0, 0.015625]])  # the third column is never heard
    expected = np.exp(-(squareform(pdist(by_hand)) ** 2) / (2 * 0.5**2))
    np.testing.assert_allclose(kernel(rows), expected, rtol=1e-12)


def test_many_columns_are_reduced_to_components_that_keep_most_of_the_distances():
    kernel = SignalStrength(exponent=1.0).fit(STRENGTHS)
    scaled = np.clip((STRENGTHS - FLOOR) / (STRENGTHS.max() - FLOOR), 0, None)
    assert kernel.rows(STRENGTHS).shape == (600, 30)
    full, reduced = pdist(scaled), pdist(kernel.rows(STRENGTHS))
    assert (reduced <= full + 1e-9).all()
    assert np.corrcoef(full, reduced)[0, 1] > 0.99


def test_columns_that_are_never_heard_change_nothing():
    silent = np.concatenate([STRENGTHS, np.full((600, 5), FLOOR)], axis=1)
    with_silence, without = SignalStrength().fit(silent, STATES), SignalStrength().fit(STRENGTHS, STATES)
    np.testing.assert_allclose(with_silence(silent[:20]), without(STRENGTHS[:20]), atol=1e-9)


def test_the_width_chosen_predicts_states_better_than_the_median_distance():
    other_states, other = hall(seed=0, n=900)
    train, test = slice(0, 600), slice(620, 900)
    kernel = SignalStrength().fit(other[train], other_states[train])

    def error(kernel):
        weights = kernel(other[test], other[train])
        predicted = weights @ other_states[train] / weights.sum(axis=1, keepdims=True)
        return np.linalg.norm(predicted - other_states[test], axis=1).mean()

    assert error(kernel) < 0.8 * error(SignalStrength(exponent=1.0, multiplier=1.0).fit(other[train]))
    assert kernel.exponent_ in (1.0, 1.5, 2.0, 2.5)


def test_several_scans_are_compared_one_by_one():
    single = SignalStrength(exponent=1.5).fit(STRENGTHS)
    pairs = np.concatenate([STRENGTHS[1:], STRENGTHS[:-1]], axis=1)
    double = SignalStrength(exponent=1.5, scans=2, bandwidth=single.bandwidth_).fit(pairs)
    now, before = single.rows(STRENGTHS[1:]), single.rows(STRENGTHS[:-1])
    apart = (squareform(pdist(now)) ** 2 + squareform(pdist(before)) ** 2) / 2  # the mean over scans
    expected = np.exp(-apart / (2 * single.bandwidth_**2))
    np.testing.assert_allclose(double(pairs[:50]), expected[:50, :50], atol=0.02)  # components of other rows


def test_older_scans_fade():
    single = SignalStrength(exponent=1.5).fit(STRENGTHS)
    triples = np.concatenate([STRENGTHS[2:], STRENGTHS[1:-1], STRENGTHS[:-2]], axis=1)
    triple = SignalStrength(exponent=1.5, scans=3, fading=0.5, bandwidth=single.bandwidth_).fit(triples)
    scans = [single.rows(STRENGTHS[2 - k : 600 - k]) for k in range(3)]
    apart = sum(0.25**k * squareform(pdist(scan)) ** 2 for k, scan in enumerate(scans)) / (1 + 0.25 + 0.0625)
    expected = np.exp(-apart / (2 * single.bandwidth_**2))
    np.testing.assert_allclose(triple(triples[:50]), expected[:50, :50], atol=0.02)  # components of other rows


def test_given_values_are_kept():
    kernel = SignalStrength(exponent=2.0, bandwidth=0.4).fit(STRENGTHS, STATES)
    assert (kernel.exponent_, kernel.bandwidth_) == (2.0, pytest.approx(0.4))
    half, one = (SignalStrength(exponent=2.0, multiplier=m).fit(STRENGTHS, STATES).bandwidth_ for m in (0.5, 1.0))
    assert half == pytest.approx(0.5 * one)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"floor": np.nan}, "floor = nan; it must be a finite number"),
        ({"exponent": -1.0}, "exponent = -1.0; it must be positive"),
        ({"components": 0}, "components = 0; it must be a positive integer"),
        ({"scans": 0}, "scans = 0; it must be a positive integer"),
        ({"fading": 0.0}, "fading = 0.0; it must be above 0 and at most 1"),
        ({"fading": 1.5}, "fading = 1.5; it must be above 0 and at most 1"),
        ({"scans": 3}, "scans = 3, but 80 columns do not split evenly"),
        ({"multiplier": 0.0}, "multiplier = 0.0; it must be positive"),
    ],
)
def test_impossible_settings_are_named(settings, match):
    with pytest.raises(ValueError, match=match):
        SignalStrength(**settings).fit(STRENGTHS)


def test_use_before_fit_and_other_columns_are_errors():
    with pytest.raises(NotFittedError, match="call fit"):
        SignalStrength()(STRENGTHS[:2])
    with pytest.raises(ValueError, match="fitted on 80 columns but got 3"):
        SignalStrength().fit(STRENGTHS)(STRENGTHS[:2, :3])


def test_silence_everywhere_is_no_information():
    rows = np.full((5, 3), FLOOR)
    np.testing.assert_array_equal(SignalStrength().fit(rows)(rows), np.ones((5, 5)))


def test_a_filter_with_it_survives_a_file(tmp_path):
    flt = kmcf.KernelMonteCarloFilter(
        kmcf.transitions.GaussianRandomWalk(1.5),
        observation_kernel=named("signal-strength", floor=FLOOR),
        tolerance="auto",
        n_particles=50,
        random_state=0,
    )
    flt.fit(STATES[:150], STRENGTHS[:150])
    run = flt.filter(STRENGTHS[70:76] + 1.0)
    flt.save(tmp_path / "model.kmcf")
    np.testing.assert_array_equal(kmcf.load(tmp_path / "model.kmcf").filter(STRENGTHS[70:76] + 1.0).mean, run.mean)


def test_the_same_on_jax_arrays():
    jax = pytest.importorskip("jax")
    kernel = SignalStrength().fit(STRENGTHS, STATES)
    with jax.enable_x64(True):
        rows = jax.numpy.asarray(STRENGTHS[:20])
        assert array_namespace(rows) is not np
        np.testing.assert_allclose(np.asarray(kernel(rows)), kernel(STRENGTHS[:20]), atol=1e-9)


def test_examples_that_do_not_say_what_was_heard_are_refused():
    with pytest.raises(ValueError, match="contain NaN; silence is the floor, -100"):
        SignalStrength().fit(np.where(STRENGTHS == FLOOR, np.nan, STRENGTHS), STATES)
    with pytest.raises(ValueError, match="given 50 states for 600 examples"):
        SignalStrength().fit(STRENGTHS, STATES[:50])
    changed = SignalStrength(scans=2).fit(STRENGTHS, STATES).set_params(scans=4)
    with pytest.raises(ValueError, match="fitted with scans = 2, now it is 4: fit it again"):
        changed(STRENGTHS[:2])


def test_part_of_several_scans_is_no_observation():
    """Of the columns that are left nobody knows which scan they are of, so they are not compared as if they were."""
    walk = kmcf.transitions.GaussianRandomWalk(1.5)
    newer_lost = np.where(np.arange(80) < 40, np.nan, STRENGTHS[:1])
    single = kmcf.KernelMonteCarloFilter(walk, observation_kernel=SignalStrength(), random_state=0)
    assert np.isfinite(single.fit(STATES[:150], STRENGTHS[:150]).filter(newer_lost).mean).all()
    double = kmcf.KernelMonteCarloFilter(walk, observation_kernel=SignalStrength(scans=2), random_state=0)
    with pytest.raises(ValueError, match="partly NaN"):
        double.fit(STATES[:150], STRENGTHS[:150]).filter(newer_lost)
