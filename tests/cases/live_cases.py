"""What the tests of the live rooms share: fitted models, and requests."""

from functools import cache

import numpy as np

import kmcf
from kmcf.live.model import LiveModel
from kmcf.live.objects import Request
from kmcf.live.requests import Observed


def observe(name, observation, time=None):
    return Request("observe", Observed(name, observation, None, time))


@cache
def walk_model(n=120):
    """Return model 1a, fitted and calibrated, with a test sequence (T, 1)."""
    model = kmcf.datasets.paper_model("1a")
    train, test = model.simulate(n, random_state=0), model.simulate(40, random_state=1)
    flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=0)
    flt.fit(train.states, train.observations)
    live = LiveModel(flt, "1a", ("x",), ("y",))
    live.warm()
    return live, test.observations


POSTS = np.array([[0.0, 3.0], [3.0, -1.0], [-3.0, -2.0]])


def plane_walk(steps, seed):
    """Return a random walk in the plane and three noisy distances to it."""
    rng = np.random.default_rng(seed)
    states = np.cumsum(rng.normal(scale=0.3, size=(steps, 2)), axis=0)
    distances = np.linalg.norm(states[:, None] - POSTS, axis=2)
    return states, distances + 0.1 * rng.normal(size=distances.shape)


@cache
def plane_model(case="plane"):
    """Return a model of a walk in the plane, and observations: plain, seen in windows, or by two sensors."""
    states, observations = plane_walk(120, 0)
    test = plane_walk(20, 1)[1]
    walk = kmcf.transitions.GaussianRandomWalk().fit([states], times=[0.5 * np.arange(120)])
    settings = {"random_state": 0, "n_particles": 60}
    if case == "line":
        return walk_model()
    if case == "window":
        window = kmcf.Window(2, fill="repeat")
        flt = kmcf.KernelMonteCarloFilter(walk, **settings).fit(states, kmcf.windows(observations, window))
        return LiveModel(flt, "window", ("x", "y"), window=window), test
    if case == "sensors":
        flt = kmcf.KernelMonteCarloFilter(walk, **settings)
        flt.fit({"left": (states, observations[:, :2]), "right": (states, observations[:, 2:])})
        return LiveModel(flt, "sensors", ("x", "y")), Spoken(test)
    flt = kmcf.KernelMonteCarloFilter(walk, **settings).fit(states, observations)
    return LiveModel(flt, "plane", ("x", "y"), ("d0", "d1", "d2")), test


class Spoken(list):
    """Observations of two sensors, which can be shifted like numbers."""

    def __init__(self, rows):
        super().__init__(Said(row) for row in rows)


class Said:
    def __init__(self, row):
        self._row = row

    def __add__(self, shift):
        return Said(self._row + shift)

    def tolist(self):
        return {"left": self._row[:2].tolist(), "right": self._row[2:].tolist()}
