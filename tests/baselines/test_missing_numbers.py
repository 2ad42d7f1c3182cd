"""All baselines use observations that lack numbers, as if fitted on the columns that were observed."""

import numpy as np
import pytest
from gappy_cases import YS, X, Y, assert_same, move, start, with_gaps, without

import kmcf
from kmcf.baselines import GPParticleFilter, KernelBayesFilter, KNNParticleFilter, KNNRegression, NearestNeighbor
from kmcf.kernels import AsinhScaled, Gaussian

SHARED = {"initial": start, "n_particles": 80, "random_state": 3}
MAKERS = {
    "KBR": lambda **more: KernelBayesFilter(**SHARED, observation_kernel=AsinhScaled(Gaussian()), **more),
    "kNN-PF": lambda **more: KNNParticleFilter(move, **SHARED, **more),
    "kNN-PF, kernel": lambda **more: KNNParticleFilter(
        move, **SHARED, observation_kernel=Gaussian(), divide_by_density=True, **more
    ),
    "kNN regression": lambda **more: KNNRegression(move, **SHARED, **more),
    "NAI": lambda **more: NearestNeighbor(move, **SHARED, **more),
    "NAI, other metric": lambda **more: NearestNeighbor(
        move, metric="minkowski", metric_params={"p": 3}, **SHARED, **more
    ),
    "GP-PF": lambda **more: GPParticleFilter(move, **SHARED, **more),
}
each = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@each
def test_the_answer_is_that_of_a_filter_on_the_observed_columns(make):
    found = make().fit(X, Y).filter(without(YS, 1, 3))
    assert_same(found, make().fit(X, Y[:, [0, 2]]).filter(YS[:, [0, 2]]))


@each
def test_a_column_that_is_always_missing_changes_nothing(make):
    plain, padded = make().fit(X, Y), make().fit(X, np.insert(Y, 1, np.nan, axis=1))
    ys = np.concatenate([YS[:6], without(YS[6:], 2)])
    for value in (np.nan, 7.0):
        assert_same(padded.filter(np.insert(ys, 1, value, axis=1)), plain.filter(ys))


@pytest.mark.parametrize("name", ["kNN-PF", "kNN-PF, kernel", "kNN regression", "NAI"])
def test_neighbours_are_examples_that_have_what_was_observed(name):
    gappy = with_gaps(Y, 0.15, seed=4)
    flt = MAKERS[name](state_kernel=Gaussian(0.5)).fit(X, gappy)
    for columns in ([0, 1, 2, 3], [1, 2]):
        complete = ~np.isnan(gappy[:, columns]).any(axis=1)
        part = MAKERS[name](state_kernel=Gaussian(0.5)).fit(X[complete], Y[complete][:, columns])
        assert_same(flt.filter(without(YS, *set(range(4)) - set(columns))), part.filter(YS[:, columns]))


def test_moves_are_learnt_from_examples_without_observations_too():
    """The KBR filter learns moves from consecutive states; a gap in the observations is no gap in the states."""
    gappy = with_gaps(Y, 0.1, seed=4)
    gappy[10] = np.nan
    flt = MAKERS["KBR"]().fit(X, gappy)
    np.testing.assert_array_equal(flt._transitions.before, X[:-1])
    assert np.isfinite(flt.filter(with_gaps(YS, 0.3, seed=1)).mean).all()


@each
def test_a_floor_is_a_number_in_place_of_nan(make):
    low = float(Y.min()) - 1.0
    gappy, ys = with_gaps(Y, 0.2, seed=0), with_gaps(YS[:6], 0.4, seed=1)
    found = make(floor=low).fit(X, gappy)
    expected = make().fit(X, np.where(np.isnan(gappy), low, gappy))
    assert_same(found.filter(ys), expected.filter(np.where(np.isnan(ys), low, ys)))
    with pytest.raises(ValueError, match="floor = 'low'"):
        make(floor="low").fit(X, Y)


@pytest.mark.parametrize("name", ["KBR", "kNN-PF, kernel", "NAI"])
def test_files_keep_gaps(name, tmp_path):
    flt = MAKERS[name](floor=[-9.0, None, None, None]).fit(X, with_gaps(Y, 0.1, seed=2))
    flt.set_params(initial=None)
    if name != "KBR":
        flt.set_params(transition=kmcf.transitions.GaussianRandomWalk(0.3))
    ys = with_gaps(YS[:5], 0.4, seed=5)
    expected = flt.filter(ys)
    flt.save(tmp_path / "filter.kmcf")
    assert_same(kmcf.load(tmp_path / "filter.kmcf").filter(ys), expected)
