"""A finite problem, where Bayes' rule is a table."""

import numpy as np


class DiscreteProblem:
    """A finite state and observation space where Bayes' rule is a table.

    The examples are all pairs (x, y), repeated ``COUNTS[x, y]`` times, so that p(y | x) is known exactly; the prior
    differs from the frequencies of the states among the examples. The kernels are 1[x = x'] and 1[y = y'].
    """

    COUNTS = np.array([[6, 3, 1], [2, 5, 5], [1, 0, 7]])
    PRIOR = np.array([0.2, 0.7, 0.1])

    def __init__(self):
        pairs = [(x, y) for x in range(3) for y in range(3) for _ in range(self.COUNTS[x, y])]
        self.states = np.array([[float(x)] for x, _ in pairs])
        self.observations = np.array([[float(y)] for _, y in pairs])
        self.size = len(pairs)
        self.likelihood = self.COUNTS / self.COUNTS.sum(axis=1, keepdims=True)

    @staticmethod
    def same(a, b):
        """1[a = b]."""
        return (a == b.T).astype(float)

    def posterior(self, y):
        """Bayes' rule."""
        joint = self.PRIOR * self.likelihood[:, y]
        return joint / joint.sum()

    def regularised(self, y, epsilon, delta, rule):
        """What the kernel rules give in closed form at finite ε and δ, summed over the examples of each state."""
        counts = self.COUNTS.sum(axis=1)
        prior = self.PRIOR * counts / (counts + self.size * epsilon)
        joint = prior * self.likelihood[:, y]
        evidence = float(np.sum(joint))
        return joint * (evidence / (evidence**2 + delta) if rule == "kbr" else 1.0 / (evidence + delta))

    def mass(self, weights):
        """Total weight of each state."""
        return np.array([weights[self.states[:, 0] == x].sum() for x in range(3)])


def posterior_by_counting(prior, states, observations, y):
    """Bayes' rule where states are 0, 1, … and examples are counted, with NaN for what is missing.

    p(y | x) is the share, among the examples of state x that have all the numbers which y has, of those that agree
    with y in all of them.
    """
    known = ~np.isnan(y)
    complete = ~np.isnan(observations[:, known]).any(axis=1)
    agrees = complete & (observations[:, known] == y[known]).all(axis=1)
    likelihood = np.array([np.sum(agrees[states == x]) / np.sum(complete[states == x]) for x in range(len(prior))])
    return prior * likelihood / np.sum(prior * likelihood)
