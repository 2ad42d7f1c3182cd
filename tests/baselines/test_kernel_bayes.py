"""The Kernel Bayes' Rule filter against its formulas written out with explicit inverses."""

import numpy as np
import pytest
from kernels_by_hand import gaussian
from literal_filters import kernel_bayes_filter

import kmcf
from kmcf.baselines import KernelBayesFilter
from kmcf.datasets import paper_model
from kmcf.kernels import Gaussian

MODEL = paper_model("1b")
TRAIN, TEST = MODEL.simulate(40, random_state=0), MODEL.simulate(6, random_state=1)


SETTINGS = {
    "state_kernel": Gaussian(0.8),
    "observation_kernel": Gaussian(1.1),
    "epsilon": 1e-2,
    "delta": 1e-3,
    "transition_epsilon": 2e-2,
    "n_particles": 25,
    "random_state": 0,
}


def expected_means(flt, observations, before, after, pair_controls):
    """The formulas written out, with the settings above, from where the filter starts."""
    start = flt.start()
    return kernel_bayes_filter(
        TRAIN.states,
        TRAIN.observations,
        observations,
        k_X=gaussian(0.8),
        k_Y=gaussian(1.1),
        k_U=gaussian(0.7),
        epsilon=1e-2,
        delta=1e-3,
        transition_epsilon=2e-2,
        start=(start.states, start.weights),
        pairs=(before, after, pair_controls),
        controls=TEST.controls,
    )


@pytest.mark.parametrize("engine", ["literal", "exact", "lowrank", "auto"])
@pytest.mark.parametrize("controlled", [False, True])
def test_the_filter_is_its_formulas(engine, controlled):
    flt = KernelBayesFilter(engine=engine, control_kernel=Gaussian(0.7), **SETTINGS)
    controls = TRAIN.controls if controlled else None
    flt.fit(TRAIN.states, TRAIN.observations, controls)
    observations = [*TEST.observations[:3], None, *TEST.observations[4:]]
    pairs = TRAIN.states[:-1], TRAIN.states[1:], None if controls is None else controls[1:]
    expected = expected_means(flt, observations, *pairs)
    np.testing.assert_allclose(flt.filter(observations, TEST.controls).mean, expected, atol=1e-4)


def test_transition_pairs_can_be_given():
    more = MODEL.simulate(31, random_state=5)
    pairs = more.states[:-1], more.states[1:], more.controls[1:]
    flt = KernelBayesFilter(engine="exact", control_kernel=Gaussian(0.7), **SETTINGS)
    flt.fit(TRAIN.states, TRAIN.observations, transitions=pairs)
    expected = expected_means(flt, list(TEST.observations), *pairs)
    np.testing.assert_allclose(flt.filter(TEST.observations, TEST.controls).mean, expected, atol=1e-6)
    np.testing.assert_array_equal(flt.forecast(flt.start(), 2, [0, 0])[1].states, pairs[1])


def test_a_far_observation_is_rejected():
    flt = KernelBayesFilter(**SETTINGS).fit(TRAIN.states, TRAIN.observations)
    with pytest.warns(kmcf.RejectedStepWarning):
        run = flt.filter([0.1, 1e4, 0.2])
    np.testing.assert_array_equal(run.rejected, [False, True, False])
    np.testing.assert_array_equal(run.mean, flt.filter([0.1, None, 0.2]).mean)


@pytest.mark.parametrize(
    ("engine", "reject", "kept"),
    [("literal", None, False), ("exact", None, True), ("exact", False, False), ("literal", True, True)],
)
def test_as_printed_it_uses_what_resembles_no_example(engine, reject, kept):
    """An observation 6.3 bandwidths beyond the examples has similarities of at most 2e-9."""
    flt = KernelBayesFilter(engine=engine, reject=reject, **SETTINGS).fit(TRAIN.states, TRAIN.observations)
    observations = [0.1, float(TRAIN.observations.max()) + 6.3 * 1.1, 0.2]
    if kept:
        with pytest.warns(kmcf.RejectedStepWarning):
            run = flt.filter(observations)
        expected = flt.filter([0.1, None, 0.2]).mean
    else:
        run = flt.filter(observations)
        expected = expected_means(flt, observations, TRAIN.states[:-1], TRAIN.states[1:], None)
    assert run.rejected[1] == kept
    np.testing.assert_allclose(run.mean, expected, rtol=1e-4)


def test_objects_as_states_and_vector_controls():
    rooms = ["hall", "yard"] * 15
    signals = [[0.0], [1.0]] * 15

    def same(a, b):
        return np.array([[float(x == y) for y in b] for x in a])

    flt = KernelBayesFilter(state_kernel=same, random_state=0)
    flt.fit(rooms, signals, controls=np.ones((30, 2)))
    run = flt.filter([0.0, None, None], np.ones((3, 2)))
    assert run.mode == ["hall", "yard", "hall"]


def test_bad_input():
    states, observations, controls = TRAIN.states, TRAIN.observations, TRAIN.controls
    flt = KernelBayesFilter(random_state=0)
    with pytest.raises(ValueError, match="3 controls for 40 examples"):
        flt.fit(states, observations, controls[:3])
    with pytest.raises(ValueError, match=r"transitions=\(before, after, controls\)"):
        flt.fit(states, observations, controls, transitions=(states, states))
    with pytest.raises(TypeError, match="transitions must be a tuple"):
        flt.fit(states, observations, transitions=states)
    with pytest.raises(ValueError, match="they must match"):
        flt.fit(states, observations, transitions=(states, states[1:]))
    with pytest.raises(ValueError, match="the example states"):
        flt.fit(states, observations, transitions=(np.zeros((4, 2)), np.zeros((4, 2))))
    with pytest.raises(ValueError, match="controls contain NaN"):
        flt.fit(states, observations, np.full(40, np.nan))
    with pytest.raises(ValueError, match="transition_epsilon = -1"):
        KernelBayesFilter(transition_epsilon=-1).fit(states, observations)
    flt.fit(states, observations, controls)
    with pytest.raises(ValueError, match="fitted with controls, but step 2 has none"):
        flt.filter(TEST.observations)


def test_the_search_space_names_what_is_in_use():
    assert {"epsilon", "delta", "transition_epsilon", "state_multiplier", "control_multiplier"} == set(
        KernelBayesFilter().search_space()
    )
    given = KernelBayesFilter(state_kernel=Gaussian(multiplier=0.3), observation_kernel=Gaussian(2.0))
    assert given.search_space()["state_kernel__multiplier"].center == 0.3
    assert "observation_kernel__multiplier" not in given.search_space()
