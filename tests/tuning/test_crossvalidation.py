"""Cross validation on recordings: everything is left out once, and nothing is learnt from what is left out."""

import numpy as np
import pytest

import kmcf
from kmcf.datasets import Recording
from kmcf.tuning.crossvalidation import cross_validate, divide


def recording(name, steps, start=0.0):
    rows = start + np.arange(float(steps))[:, None]
    return Recording(name, np.arange(float(steps)), rows, rows + 0.5)


@pytest.mark.parametrize(
    ("recordings", "folds", "expected"),
    [
        ([recording("a", 5), recording("b", 7, 100), recording("c", 6, 200)], None, 3),
        ([recording("a", 5), recording("b", 7, 100), recording("c", 6, 200)], 2, 2),
        ([recording("a", 20)], None, 5),
        ([recording("a", 9), recording("a", 11, 100)], 4, 4),
        ([recording(str(k), 3, 100 * k) for k in range(12)], None, 10),
    ],
)
def test_everything_is_left_out_exactly_once(recordings, folds, expected):
    divided = divide(recordings, folds)
    rows = np.sort(np.concatenate([one.states[:, 0] for one in recordings]))
    assert len(divided) == expected
    left_out = np.concatenate([one.states[:, 0] for fold in divided for one in fold.test])
    np.testing.assert_array_equal(np.sort(left_out), rows)
    for fold in divided:
        trained = np.concatenate([one.states[:, 0] for one in fold.training])
        tested = np.concatenate([one.states[:, 0] for one in fold.test])
        np.testing.assert_array_equal(np.sort(np.concatenate([trained, tested])), rows)


def test_too_few():
    recordings = [recording("a", 3)]
    with pytest.raises(ValueError, match="3 rows cannot be divided into 5 blocks"):
        divide(recordings)
    with pytest.raises(ValueError, match="at least two"):
        divide(recordings, 1)


def fitted(recordings):
    walk = kmcf.transitions.GaussianRandomWalk().fit(recordings)
    flt = kmcf.KernelMonteCarloFilter(walk, engine="exact", n_particles=40, random_state=0)
    return flt.fit(*kmcf.datasets.examples(recordings))


def noisy(name, seed):
    rng = np.random.default_rng(seed)
    states = np.cumsum(rng.normal(size=(30, 1)), axis=0)
    return Recording(name, np.arange(30.0), states, states + rng.normal(size=(30, 1)))


def test_runs_are_those_of_filters_fitted_by_hand():
    walks = [noisy("a", 0), noisy("b", 1)]
    result = cross_validate(walks, fitted, compare=["nearest", "kbr"])
    by_hand = fitted([walks[1]]).filter(walks[0].observations)
    np.testing.assert_array_equal(result.runs[0].mean, by_hand.mean)
    nearest = np.abs(walks[1].observations - walks[0].observations.T).argmin(axis=0)
    np.testing.assert_allclose(result.rivals["nearest"][0].mode[:, 0], walks[1].states[nearest, 0])
    errors = [np.abs(run.mean - walk.states).ravel() for run, walk in zip(result.runs, walks, strict=True)]
    assert result.scores["this filter"].mean_error == pytest.approx(np.concatenate(errors).mean())
    assert list(result.scores) == ["this filter", "nearest", "kbr"]


def test_an_interrupt_says_how_far_it_got():
    calls = []

    def stopped(recordings):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return fitted(recordings)

    with pytest.raises(KeyboardInterrupt) as error:
        cross_validate([noisy("a", 0), noisy("b", 1)], stopped)
    assert "1 of 2 folds were finished" in error.value.__notes__[0]


def test_unknown_rivals():
    with pytest.raises(ValueError, match="no method 'knnpf' to compare with; did you mean 'knn-pf'"):
        cross_validate([noisy("a", 0), noisy("b", 1)], fitted, compare=["knnpf"])
