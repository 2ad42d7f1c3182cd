"""Runs to draw, and what was drawn."""

import numpy as np

import kmcf


def line(ax, label):
    """The line or dots with a label."""
    (found,) = (drawn for drawn in ax.get_lines() if drawn.get_label() == label)
    return found


def several(d, **settings):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, d))
    flt = kmcf.KernelMonteCarloFilter(lambda s, u, rng: s + 0.1, random_state=0, **settings)
    return flt.fit(X, X).filter(rng.normal(size=(6, d)))
