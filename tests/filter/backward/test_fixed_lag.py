"""Answering late: online and over a whole sequence the same, and nothing that was handed out changes."""

import numpy as np
import pytest
from every_filter import TEST, fitted
from smoothers import rauch_tung_striebel

import kmcf

SEEN = [*TEST.observations[:5], None, *TEST.observations[6:]]


@pytest.mark.parametrize("lag", [0, 1, 3, 20])
def test_online_is_what_the_whole_sequence_gives(lag):
    flt = fitted("KMCF")
    run = flt.smooth(SEEN, TEST.controls, lag=lag)
    late, answers = flt.smooth_lag(lag), []
    for y, control in zip(SEEN, TEST.controls, strict=True):
        late = late.step(y, control)
        if late.smoothed is not None:
            answers.append(late.smoothed)
    assert len(answers) == max(0, len(SEEN) - lag)
    answers += late.rest()
    assert [belief.time for belief in answers] == list(range(1, 13))
    np.testing.assert_allclose([belief.mean() for belief in answers], run.mean, rtol=1e-9)
    np.testing.assert_array_equal(late.filtered.mean(), run.filtered.mean[-1])
    if lag == 20:
        np.testing.assert_array_equal(run.mean, flt.smooth(SEEN, TEST.controls).mean)
    if lag == 0:
        np.testing.assert_allclose(run.mean, run.filtered.mean, rtol=1e-9)


def test_nothing_changes_behind_the_users_back():
    flt = fitted("KMCF")
    first = flt.smooth_lag(1).step([0.5]).step([1.0])
    before = first.smoothed.mean()
    one, other = first.step([3.0]), first.step([-3.0])
    assert one.smoothed.mean() > other.smoothed.mean()
    np.testing.assert_array_equal(first.smoothed.mean(), before)
    assert flt.smooth_lag(1).smoothed is None
    assert flt.smooth_lag(1).rest() == ()


def test_a_longer_lag_is_closer_to_the_smoother_that_knows_all():
    model = kmcf.datasets.paper_model("1a")
    train, test = model.simulate(300, random_state=0), model.simulate(120, random_state=1)
    flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=0)
    flt.fit(train.states, train.observations)
    exact = rauch_tung_striebel(test.observations)[0]
    errors = [np.mean((flt.smooth(test.observations, lag=lag).mean[:, 0] - exact) ** 2) for lag in (0, 1, 4)]
    assert errors[0] > errors[1] > 0.9 * errors[2]


def test_times_and_errors():
    def walk(states, control, rng, elapsed=1.0):
        return states + np.sqrt(elapsed) * rng.normal(size=states.shape)

    states = np.random.default_rng(0).normal(size=(60, 1))
    flt = kmcf.KernelMonteCarloFilter(walk, random_state=0).fit(states, states)
    late = flt.smooth_lag(1).step([0.0], time=1.0).step([1.0], time=3.0)
    assert late.smoothed.clock == 1.0
    run = flt.smooth([[0.0], [1.0]], times=[1.0, 3.0], lag=1)
    np.testing.assert_array_equal(run.mean[0], late.smoothed.mean())
    with pytest.raises(ValueError, match="does not come after"):
        late.step([0.0], time=2.0)
    with pytest.raises(ValueError, match="lag = 'two'"):
        flt.smooth_lag("two")
    with pytest.raises(ValueError, match="after how many steps"):
        flt.smooth_lag(None)
