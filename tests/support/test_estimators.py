"""Parameters and copies, as scikit-learn's own base class has them."""

import pickle

import numpy as np
import pytest
import sklearn.base
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.utils.validation import check_is_fitted

from kmcf.kernels import Gaussian, Linear
from kmcf.support.estimators import Estimator, clone


def classes(base):
    """Return the same class on either base."""

    class Leaf(base):
        def __init__(self, b=1.0, a=None):
            self.b, self.a = b, a

    class Tree(base):
        def __init__(self, leaf, other=3, *, named="x"):
            self.leaf, self.other, self.named = leaf, other, named

    return Leaf, Tree


OURS, THEIRS = classes(Estimator), classes(sklearn.base.BaseEstimator)


def pair(**changes):
    return [tree(leaf(2.0), **changes) for leaf, tree in (OURS, THEIRS)]


@pytest.mark.parametrize("deep", [True, False])
def test_parameters_are_those_of_scikit_learn(deep):
    ours, theirs = pair(other=7)
    assert list(ours.get_params(deep)) == list(theirs.get_params(deep))
    assert ours.get_params()["leaf__b"] == theirs.get_params()["leaf__b"] == 2.0


@pytest.mark.parametrize("changes", [{}, {"other": 7}, {"named": "y", "other": None}])
def test_it_prints_as_in_scikit_learn(changes):
    ours, theirs = pair(**changes)
    assert repr(ours) == repr(theirs)


def test_setting_reaches_inside():
    ours, theirs = pair()
    for one in (ours, theirs):
        assert one.set_params(leaf__b=5.0, other=1) is one
    assert (ours.leaf.b, ours.other) == (theirs.leaf.b, theirs.other) == (5.0, 1)
    with pytest.raises(ValueError, match="Invalid parameter 'oter' for estimator Tree"):
        ours.set_params(oter=1)


@pytest.mark.parametrize("copied", [clone, sklearn.base.clone], ids=["ours", "scikit-learn's"])
def test_copies_have_the_parameters_and_nothing_learnt(copied):
    leaf = OURS[0](np.arange(3.0), a=Ridge(alpha=2.0))
    leaf.learnt_ = 1
    twin = copied(leaf)
    assert type(twin) is OURS[0]
    assert not hasattr(twin, "learnt_")
    assert twin.b is not leaf.b
    assert twin.a is not leaf.a
    assert twin.a.alpha == 2.0
    np.testing.assert_array_equal(twin.b, leaf.b)


def test_collections_are_copied_item_by_item():
    kernels = {"a": [Gaussian(2.0)], "b": (Linear(),)}
    twins = clone(kernels)
    assert repr(twins) == repr(kernels)
    assert twins["a"][0] is not kernels["a"][0]


def test_what_has_no_parameters_is_refused_or_copied():
    with pytest.raises(TypeError, match="cannot be copied"):
        clone(3.0)
    assert clone([1.0, "x"], safe=False) == [1.0, "x"]


def test_a_constructor_that_changes_its_arguments_is_named():
    class Rounding(Estimator):
        def __init__(self, value=1.5):
            self.value = float(round(value))

    with pytest.raises(RuntimeError, match="constructor of Rounding changes its argument 'value'"):
        clone(Rounding())


def test_long_representations_wrap_and_are_cut():
    class Long(Estimator):
        def __init__(self, first=0, second=0, third=0):
            self.first, self.second, self.third = first, second, third

    lines = repr(Long("a" * 40, "b" * 40, "c" * 40)).splitlines()
    assert len(lines) == 3
    assert all(line.startswith(" " * len("Long(")) for line in lines[1:])
    assert "..." in repr(Long("a" * 2000))
    assert len(repr(Long("a" * 2000))) < 750


def test_kernels_show_a_table_and_travel():
    assert "bandwidth" in Gaussian(2.0)._repr_html_()
    assert repr(pickle.loads(pickle.dumps(Gaussian(2.0) + Linear()))) == repr(Gaussian(2.0) + Linear())


def test_tools_of_scikit_learn_know_what_is_fitted():
    fitted = Gaussian().fit([[0.0], [1.0]])
    check_is_fitted(fitted)
    with pytest.raises(NotFittedError):
        check_is_fitted(sklearn.base.clone(fitted))
