"""What every filter asks of its callers, in which order."""

import pytest
from sklearn.exceptions import NotFittedError
from vector_examples import X, Y, fitted, make


@pytest.mark.parametrize(
    "call",
    [
        lambda flt, belief: flt.start(),
        lambda flt, belief: flt.step(belief, Y[0]),
        lambda flt, belief: flt.filter(Y),
        lambda flt, belief: flt.filter_many([Y]),
        lambda flt, belief: flt.forecast(belief, 2),
    ],
)
def test_everything_needs_fit_first(call):
    with pytest.raises(NotFittedError, match=r"call fit\(states, observations\) first"):
        call(make(), fitted().start())


@pytest.mark.parametrize("belief", [None, Y[0], "belief"])
def test_step_needs_a_belief(belief):
    with pytest.raises(TypeError, match=r"step needs a belief from start\(\)"):
        fitted().step(belief, Y[0])


def test_a_belief_of_another_filter():
    other = make().fit(X[:, :1], Y)
    with pytest.raises(ValueError, match=r"shape \(1,\).*shape \(2,\).*filter that made it"):
        fitted().step(other.start(), Y[0])


@pytest.mark.parametrize("stream", [-1, 1.5, "a"])
def test_streams_are_counted_from_zero(stream):
    with pytest.raises(ValueError, match=r"stream = .*non-negative integer"):
        fitted().start(stream=stream)


@pytest.mark.parametrize("steps", [0, -2, 2.5, None])
def test_forecasts_need_a_step(steps):
    flt = fitted()
    with pytest.raises(ValueError, match=r"steps = .*at least one step"):
        flt.forecast(flt.start(), steps)
