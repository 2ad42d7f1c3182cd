"""All filters that the package has, for one small problem."""

from sklearn.base import clone

import kmcf
from kmcf.baselines import (
    GPParticleFilter,
    KernelBayesFilter,
    KNNParticleFilter,
    KNNRegression,
    NearestNeighbor,
    ParticleFilter,
)
from kmcf.datasets import paper_model

MODEL = paper_model("1b")
TRAIN, TEST = MODEL.simulate(60, random_state=0), MODEL.simulate(12, random_state=1)


def push(states, control, rng):
    return 0.9 * states + (0.0 if control is None else control) + rng.normal(size=states.shape)


def log_likelihood(states, y):
    return -0.5 * (states[:, 0] - y[0]) ** 2


FILTERS = {
    "KMCF": kmcf.KernelMonteCarloFilter(push, random_state=3),
    "likelihood": kmcf.ParticleLikelihoodFilter(push, n_particles=150, random_state=3),
    "kNN-PF": KNNParticleFilter(push, n_particles=150, random_state=3),
    "kNN-PF, kernel": KNNParticleFilter(
        push, n_particles=150, observation_kernel=kmcf.kernels.Gaussian(), divide_by_density=True, random_state=3
    ),
    "GP-PF": GPParticleFilter(push, n_particles=150, random_state=3),
    "KBR": KernelBayesFilter(push, random_state=3),
    "kNN regression": KNNRegression(push, n_particles=150, random_state=3),
    "NAI": NearestNeighbor(push, n_particles=150, random_state=3),
    "oracle": ParticleFilter(push, log_likelihood, n_particles=150, random_state=3),
}
MOVING = [name for name in FILTERS if name not in ("kNN regression", "NAI")]
"""Filters whose estimates depend on the transition or on the initial draws even while observations come."""


def fitted(name, **settings):
    """One of them, with some settings changed."""
    return clone(FILTERS[name]).set_params(**settings).fit(TRAIN.states, TRAIN.observations)
