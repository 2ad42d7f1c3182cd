"""The user's functions: when they are called, with what, and what they may return."""

import numpy as np
import pytest
from controlled_walk import data, fitted, push
from vector_examples import Y, make, with_bad
from vector_examples import fitted as fitted_to_vectors

import kmcf

# --- when and with what -----------------------------------------------------------------------------------------------


def test_a_transition_that_works_in_place_corrupts_nothing():
    def in_place(states, control, rng):
        states *= 0.9
        states += rng.normal(size=states.shape)
        return states

    def careful(states, control, rng):
        return 0.9 * states + rng.normal(size=states.shape)

    observations, _ = data()
    observations[[4, 5, 6]] = np.nan
    runs = [fitted(transition=move, resampling="none").filter(observations) for move in (in_place, careful)]
    np.testing.assert_array_equal(runs[0].mean, runs[1].mean)
    for a, b in zip(*runs, strict=True):
        np.testing.assert_array_equal(a.states, b.states)


def test_functions_that_return_the_same_array_every_time_corrupt_nothing():
    kept = {}

    def reusing(states, control, rng):
        buffer = kept.setdefault(len(states), np.empty_like(states))
        buffer[:] = 0.9 * states + rng.normal(size=states.shape)
        return buffer

    start = np.linspace(-2, 2, 40)[:, None]
    flt = fitted(transition=reusing, initial=lambda size, rng: start)
    first = flt.start()
    second = flt.step(flt.step(first, None), None)
    was = second.states.copy()
    flt.step(flt.step(second, None), [1.0])
    np.testing.assert_array_equal(second.states, was)
    start[:] = 99.0
    assert np.abs(first.states).max() <= 2.0


def test_the_first_step_makes_no_transition():
    calls = []

    def recording(states, control, rng):
        calls.append(control)
        return push(states, control, rng)

    flt = fitted(transition=recording)
    flt.filter(data(4)[0], controls=["never used", 0.1, 0.2, 0.3])
    assert calls == [0.1, 0.2, 0.3]


@pytest.mark.parametrize("control", [None, 100.0])
def test_a_missing_first_observation_makes_no_transition_and_ignores_the_control(control):
    flt = fitted()
    start = flt.start()
    first = flt.step(start, None, control)
    np.testing.assert_array_equal(first.states, start.states)
    np.testing.assert_array_equal(first.weights, start.weights)
    assert first.time == 1
    assert first.report.missing
    second = flt.step(first, None, 100.0)
    assert (second.states > 50).all()


def test_before_the_first_correction_the_states_are_the_particles():
    flt = fitted(n_particles=25)
    start = flt.start()
    assert start.time == 0
    assert len(start) == 25
    np.testing.assert_array_equal(start.weights, np.full(25, 1 / 25))
    assert np.isnan(start.report.weight_sum)
    after = flt.step(flt.step(start, None), [0.3])
    np.testing.assert_array_equal(after.states, flt.states_)


def test_controls_reach_the_transition_in_order():
    flt = fitted()
    observations, controls = data()
    shifted = flt.filter(observations, np.roll(controls, 1))
    assert np.abs(shifted.mean - flt.filter(observations, controls).mean).max() > 0.05
    listed = flt.filter(observations, list(controls))
    np.testing.assert_array_equal(listed.mean, flt.filter(observations, controls).mean)


def test_controls_may_be_anything():
    seen = []

    def transition(states, control, rng):
        seen.append(control)
        return push(states, control["turn"], rng)

    controls = [{"turn": 0.1 * t} for t in range(4)]
    fitted(transition=transition).filter(data(4)[0], controls)
    assert seen == controls[1:]


def test_a_transition_that_depends_on_time_gets_the_time_through_the_control():
    """A state that moves by known, changing steps: the forecast's mean is exact."""

    def timetable(states, time, rng):
        return states + np.sin(time)

    flt = fitted(transition=timetable)
    belief = flt.step(flt.step(flt.start(), None), None, control=1)
    ahead = flt.forecast(belief, 5, controls=[2, 3, 4, 5, 6])
    expected = belief.mean() + np.cumsum(np.sin([2, 3, 4, 5, 6]))[:, None]
    np.testing.assert_allclose(ahead.mean, expected, atol=1e-12)


# --- what they may not return -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("transition", "error", "sentence"),
    [
        (
            lambda s, u, rng: s[:-1],
            ValueError,
            r"transition.* at step 2 returned .*\(19, 2\).*must have shape \(20, 2\)",
        ),
        (lambda s, u, rng: s[:, 0], ValueError, r"transition.* returned .*\(20,\).*must have shape \(20, 2\)"),
        (lambda s, u, rng: np.hstack([s, s]), ValueError, r"transition.* returned .*\(20, 4\)"),
        (lambda s, u, rng: s * np.nan, ValueError, "transition.* returned NaN or infinity for 20 of 20 states"),
        (lambda s, u, rng: with_bad(s, np.inf), ValueError, "transition.* returned NaN or infinity for 1 of 20"),
        (lambda s, u, rng: None, TypeError, "transition.* returned None; it must return the 20 states"),
        (lambda s, u, rng: 1.0, TypeError, "transition.* returned 1.0; it must return the 20 states"),
        (lambda s, u, rng: ["moved"] * len(s), TypeError, "transition.* returned list, not an array of states"),
    ],
)
def test_transitions_that_return_nonsense(transition, error, sentence):
    flt = fitted_to_vectors(transition)
    with pytest.raises(error, match=sentence):
        flt.filter(Y[:3])


@pytest.mark.parametrize(
    ("initial", "error", "sentence"),
    [
        (lambda size, rng: rng.normal(size=(size, 3)), ValueError, r"initial.* \(20, 3\).*must have shape \(20, 2\)"),
        (lambda size, rng: rng.normal(size=(size + 1, 2)), ValueError, r"initial.* \(21, 2\)"),
        (lambda size, rng: np.full((size, 2), np.nan), ValueError, "initial.* returned NaN or infinity"),
        (lambda size, rng: None, TypeError, "initial.* not NoneType"),
    ],
)
def test_initial_distributions_that_return_nonsense(initial, error, sentence):
    flt = fitted_to_vectors(initial=initial)
    with pytest.raises(error, match=sentence):
        flt.start()


def test_object_states_need_as_many_objects_back():
    def same(A, B):
        return np.array([[float(a == b) for b in B] for a in A])

    flt = make(lambda s, u, rng: s[:3], state_kernel=same).fit(["x", "y"] * 10, Y)
    with pytest.raises(ValueError, match="returned 3 states, not 20"):
        flt.filter(Y[:2])


def test_ctrl_c_in_a_compiled_transition_is_ctrl_c():
    def move(states, control, rng):
        raise SystemError("odd") from KeyboardInterrupt()

    flt = kmcf.KernelMonteCarloFilter(move, random_state=0).fit(np.linspace(0, 1, 20), np.linspace(0, 1, 20))
    for call in (flt.filter, lambda sequence: flt.filter_many([sequence])):
        with pytest.raises(KeyboardInterrupt):
            call([0.1, 0.2])
