"""What is learnt of a transition: names, elements of vectors, bounds; what is refused."""

from types import SimpleNamespace

import numpy as np
import pytest

from kmcf.adaptation.parameters import read_parameters
from kmcf.transitions import GaussianRandomWalk, Mixture, OdometryMotion


def read(transition, parameters, **more):
    return read_parameters(SimpleNamespace(transition=transition), parameters, more.get("make"), more.get("start"))


def test_a_vector_is_learnt_element_by_element_and_the_rest_stays():
    walk = GaussianRandomWalk(scale=[0.5, 2.0], angles=(1,))
    found = read(walk, "scale")
    assert [one.name for one in found.ranges] == ["scale[0]", "scale[1]"]
    made = found.transition(np.array([0.5, 1.0]))
    np.testing.assert_allclose(made.scale, [0.5, 20.0])
    assert made.angles == (1,)
    assert walk.scale == [0.5, 2.0]
    (only,) = read(walk, ["scale[1]"]).ranges
    assert (only.low, only.high, only.start) == (0.2, 20.0, 2.0)


def test_learnt_values_are_where_the_search_starts_and_are_replaced():
    walk = GaussianRandomWalk().fit([[0.0, 2.0, 0.0, -2.0]])
    found = read(walk, {"scale[0]": (0.1, 10.0)})
    assert found.ranges[0].start == pytest.approx(2.0)
    np.testing.assert_allclose(found.transition(found.ranges[0].unit(0.3) * np.ones(1)).parameters()["scale"], [0.3])


def test_parts_of_a_mixture_have_names_of_their_own():
    mixture = Mixture([GaussianRandomWalk(1.0), GaussianRandomWalk(0.1)], [0.5, 0.5])
    with pytest.raises(ValueError, match="cannot be learnt"):
        read(mixture, {"transitions": (0.0, 1.0)})


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ("speed", "has no parameter 'speed'; it has"),
        ([], "nothing to learn"),
        ({"alpha1": (1.0, 0.5)}, "the first the smaller"),
        ({"alpha1": "wide"}, "give two numbers"),
        ("rotation_floor", "say between which bounds"),
        ("alpha1[3]", "there is no"),
        (5, "give names"),
    ],
)
def test_bad_parameters_get_a_sentence(parameters, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        read(OdometryMotion(), parameters)


def test_ones_own_transition_needs_a_way_to_make_it():
    with pytest.raises(TypeError, match="make="):
        read(lambda states, control, rng: states, {"scale": (0.1, 1.0)})
    found = read(None, {"scale": (0.1, 10.0)}, make=lambda scale: scale, start={"scale": 2.0})
    assert found.transition(found.start) == pytest.approx(2.0)
    with pytest.raises(ValueError, match="start names 'speed'"):
        read(None, {"scale": (0.1, 10.0)}, make=lambda scale: scale, start={"speed": 2.0})
