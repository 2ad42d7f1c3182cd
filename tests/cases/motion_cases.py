"""Sequences simulated with a transition, and random numbers that are known."""

import numpy as np


class KnownNormals(np.random.Generator):
    """A generator whose normal numbers are known."""

    def __new__(cls, numbers):
        return super().__new__(cls, np.random.PCG64(0))

    def __init__(self, numbers):
        super().__init__(np.random.PCG64(0))
        self.numbers = np.asarray(numbers, dtype=float)

    def standard_normal(self, shape):
        return self.numbers.reshape(shape)


def simulated(transition, start, controls, seed=0, length=None):
    """Return a sequence of states simulated with a transition."""
    rng = np.random.default_rng(seed)
    states = [np.asarray(start, dtype=float)]
    for t in range(1, length or len(controls)):
        states.append(transition(states[-1][None], None if controls is None else controls[t], rng)[0])
    return np.array(states)
