"""The methods the Kernel Monte Carlo Filter is compared with, as filters with the same interface."""

from kmcf.baselines.gaussian_process import GPParticleFilter
from kmcf.baselines.kernel_bayes import KernelBayesFilter
from kmcf.baselines.knn_particles import KNNParticleFilter
from kmcf.baselines.nearest import KNNRegression, NearestNeighbor
from kmcf.baselines.oracle import ParticleFilter
from kmcf.baselines.poisson import PoissonParticleFilter
from kmcf.baselines.registry import rivals

__all__ = [
    "GPParticleFilter",
    "KNNParticleFilter",
    "KNNRegression",
    "KernelBayesFilter",
    "NearestNeighbor",
    "ParticleFilter",
    "PoissonParticleFilter",
    "rivals",
]
