"""A room of 10 m by 10 m with eight beacons: states are places, observations the strengths of the beacons."""

import numpy as np

import kmcf
from kmcf.kernels import AsinhScaled, Gaussian

BEACONS = np.random.default_rng(7).uniform(0, 10, size=(8, 2))


def heard(places, rng, shift=0.0):
    distance = np.linalg.norm(places[:, None] - BEACONS, axis=2)
    return -20 * np.log10(distance + 0.5) + rng.normal(scale=2.0, size=distance.shape) + shift


def walk(states, _control, rng):
    return states + rng.normal(scale=0.4, size=states.shape)


def controlled(states, control, rng):
    return states + control + rng.normal(scale=0.4, size=states.shape)


def examples(n=120, width=10.0, seed=0):
    rng = np.random.default_rng(seed)
    places = rng.uniform(0, 10, size=(n, 2)) * np.array([width / 10, 1.0])
    return places, heard(places, rng)


def path(steps, seed=1, low=1.0, high=9.0):
    rng = np.random.default_rng(seed)
    places = [np.array([5.0, 5.0])]
    for _ in range(steps - 1):
        places.append(np.clip(places[-1] + rng.normal(scale=0.4, size=2), low, high))
    return np.array(places), rng


def fitted(make=kmcf.KernelMonteCarloFilter, transition=walk, n=120, width=10.0, **settings):
    """A filter with a plain kernel, so that fitting takes no time."""
    if make in (kmcf.KernelMonteCarloFilter, kmcf.ParticleLikelihoodFilter):
        settings.setdefault("observation_kernel", AsinhScaled(Gaussian(multiplier=0.7)))
    return make(transition, random_state=0, **settings).fit(*examples(n, width))
