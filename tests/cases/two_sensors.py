"""A walk that two sensors see, each with examples of its own."""

import numpy as np

NOISES = (0.5, 0.7)


def move(states, control, rng):
    pushed = 0.9 * states + 0.6 * rng.normal(size=states.shape)
    return pushed if control is None else pushed + control


def initial(size, rng):
    return 1.2 * rng.normal(size=(size, 1))


def examples(n, seed, names=("wifi", "camera")):
    """Examples of both sensors, at different states."""
    found = {}
    for number, (name, noise) in enumerate(zip(names, NOISES, strict=True)):
        rng = np.random.default_rng((seed, number))
        states = 1.4 * rng.normal(size=(n - 10 * number, 1))
        found[name] = states, states + noise * rng.normal(size=states.shape)
    return found


def joint_examples(n, seed):
    """States, and what both sensors said there side by side."""
    rng = np.random.default_rng((seed, 5))
    states = 1.4 * rng.normal(size=(n, 1))
    return states, states + np.array(NOISES) * rng.normal(size=(n, 2))


def walk(length, seed, every=1):
    """What both sensors say along a walk; the second at every so many steps only."""
    return walk_with_states(length, seed, every)[1]


def walk_with_states(length, seed, every=1):
    """The states of a walk, and what both sensors say along it."""
    rng = np.random.default_rng((seed, 9))
    states = np.empty(length)
    states[0] = 1.2 * rng.normal()
    for t in range(1, length):
        states[t] = 0.9 * states[t - 1] + 0.6 * rng.normal()
    wifi, camera = (states + noise * rng.normal(size=length) for noise in NOISES)
    camera[np.arange(length) % every != 0] = np.nan
    return states[:, None], {"wifi": wifi, "camera": camera}
