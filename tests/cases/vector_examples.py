"""Twenty examples of a state in the plane and a vector of three numbers, for tests of what filters refuse."""

import numpy as np

import kmcf

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 2))
Y = np.column_stack([X[:, 0], X[:, 1], X[:, 0] * X[:, 1]]) + 0.1 * RNG.normal(size=(20, 3))


def stay(states, control, rng):
    return states


def make(transition=stay, **settings):
    """A filter that is not fitted."""
    return kmcf.KernelMonteCarloFilter(transition, random_state=0, **settings)


def fitted(transition=stay, **settings):
    return make(transition, **settings).fit(X, Y)


def with_bad(array, value, row=3):
    """The array with another value in one place."""
    changed = array.copy()
    changed[row, 0] = value
    return changed
