"""Every baseline comes back from a file, and from a pickle, as it was: bit for bit."""

import pickle

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern, WhiteKernel
from store_cases import OBSERVATIONS, RNG, STATES, TEST, VECTORS, assert_same_run, begin, cauchy, move

import kmcf
from kmcf.baselines import GPParticleFilter, KernelBayesFilter, KNNParticleFilter, KNNRegression, NearestNeighbor
from kmcf.baselines import ParticleFilter as Oracle
from kmcf.kernels import Gaussian, Learned
from kmcf.transitions import GaussianRandomWalk

WALK = GaussianRandomWalk(0.4)
CONTROLS = RNG.normal(size=(90, 1))


def log_likelihood(states, y):
    return -0.5 * (y[0] - np.sin(states[:, 0]) - states[:, 0]) ** 2 / 0.09


def manhattan(a, b):
    return float(np.abs(np.asarray(a) - b).sum())


CASES = {
    "kNN particles": KNNParticleFilter(WALK, n_particles=50, random_state=0),
    "kNN particles, kernel": KNNParticleFilter(WALK, observation_kernel=Gaussian(), n_particles=50, random_state=0),
    "kNN particles, density": KNNParticleFilter(WALK, divide_by_density=True, n_particles=50, random_state=0),
    "kNN, named metric": KNNRegression(WALK, metric="cosine", n_neighbors=3, random_state=0),
    "kNN, learnt kernel": KNNRegression(WALK, observation_kernel=Learned(folds=3), random_state=0),
    "nearest": NearestNeighbor(WALK, random_state=0),
    "Gaussian process": GPParticleFilter(WALK, n_particles=50, random_state=0),
    "kernel Bayes": KernelBayesFilter(random_state=0),
    "kernel Bayes, few pairs": KernelBayesFilter(n_transitions=20, engine="lowrank", random_state=0),
}


@pytest.mark.slow
@pytest.mark.parametrize("flt", CASES.values(), ids=CASES)
def test_baselines_come_back_without_anything_passed(flt, tmp_path):
    flt.fit(STATES, VECTORS)
    flt.save(tmp_path / "model.kmcf")
    twin = kmcf.load(tmp_path / "model.kmcf")
    test = np.array(VECTORS[:9]) * 1.01
    test[4] = np.nan
    run = flt.filter(test)
    assert run.missing[4]
    assert_same_run(run, twin.filter(test))
    assert_same_run(run, pickle.loads(pickle.dumps(flt)).filter(test))


def test_controls_of_the_kernel_bayes_filter(tmp_path):
    flt = KernelBayesFilter(random_state=0).fit(STATES, OBSERVATIONS, CONTROLS)
    flt.save(tmp_path / "model.kmcf")
    assert_same_run(flt.filter(TEST, CONTROLS[:9]), kmcf.load(tmp_path / "model.kmcf").filter(TEST, CONTROLS[:9]))


@pytest.mark.parametrize(
    ("flt", "passed"),
    [
        (Oracle(move, log_likelihood, begin, n_particles=60, random_state=0),
         {"transition": move, "log_likelihood": log_likelihood, "initial": begin}),
        (KNNRegression(WALK, metric=manhattan, random_state=0), {"metric": manhattan}),
        (KNNParticleFilter(WALK, observation_kernel=cauchy, random_state=0), {"observation_kernel": cauchy}),
        (GPParticleFilter(WALK, kernel=RBF() + WhiteKernel(), random_state=0), {"kernel": RBF() + WhiteKernel()}),
        (GPParticleFilter(WALK, kernel=Matern() + WhiteKernel(), random_state=0), {"kernel": Matern() + WhiteKernel()}),
    ],
    ids=["oracle", "metric", "kernel", "covariance", "another covariance"],
)  # fmt: skip
def test_the_users_own_functions_are_passed_again_by_name(flt, passed, tmp_path):
    flt.fit(STATES, OBSERVATIONS).save(tmp_path / "model.kmcf")
    with pytest.raises(kmcf.store.PassedAgainError, match=next(iter(passed))):
        kmcf.load(tmp_path / "model.kmcf")
    twin = kmcf.load(tmp_path / "model.kmcf", **passed)
    assert_same_run(flt.filter(TEST), twin.filter(TEST))


@pytest.mark.parametrize("flt", [kmcf.KernelMonteCarloFilter(WALK), KNNRegression(WALK)], ids=["kmcf", "kNN"])
def test_the_filter_that_a_study_found(flt, tmp_path):
    flt.set_params(random_state=0)
    best = kmcf.tune(flt, STATES, OBSERVATIONS, n_trials=3, random_state=0).best_filter
    best.save(tmp_path / "best.kmcf")
    assert_same_run(best.filter(TEST), kmcf.load(tmp_path / "best.kmcf").filter(TEST))
