"""Other packages on the same data: what filters that know the observation model reach, and what they cost.

Two of them are compared where they are installed; neither learns an observation model from examples, so both are told
what ours is not: ``particles`` the likelihood, Stone Soup's adaptive kernel Kalman filter the mean of an observation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from importlib.util import find_spec
from time import process_time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from kmcf.baselines import KNNParticleFilter, ParticleFilter
from kmcf.datasets import StateSpaceModel, Trajectory, paper_model
from kmcf.filter import KernelMonteCarloFilter, SequentialFilter
from kmcf.numerics.arrays import FloatArray
from kmcf_lab.bench.baselines import BaselineRow, summary_row
from kmcf_lab.quiet import quiet
from kmcf_lab.statistics import rmse

LENGTH = 100
PARTICLES = 1000
"""Of all particle filters: the default of ours."""
POINTS = 100
"""Of the adaptive kernel Kalman filter, whose cost is cubic in them; as many as ours resamples."""
LOCATED = "14"
"""Models whose observations move with the state on average. Those of 2 and 3 have mean zero wherever the state is."""

Peer = Callable[[StateSpaceModel, Trajectory, Trajectory, int], tuple[FloatArray, float]]
"""Takes the model, the examples, what is to be filtered and a seed; returns posterior means and seconds."""


def measure_peers(
    models: Sequence[str], n: int, repetitions: int, report: Callable[[str], None] = print
) -> list[BaselineRow]:
    """Measure ours, its rivals and the other packages on the paper's models.

    Parameters
    ----------
    models : sequence of str
        Names of the paper's models.
    n : int
        Number of examples, for those that learn from them.
    repetitions : int
        Number of data sets.
    report : callable
        Called with what is being measured.
    """
    rows: list[BaselineRow] = []
    with threadpool_limits(limits=1), quiet():
        for name in models:
            report(f"model {name}, n = {n}")
            model, measured = paper_model(name), dict[str, list[tuple[float, float]]]()
            peers = installed_peers(model)
            for seed in range(repetitions):
                train, test = model.simulate(n, random_state=(seed, 0)), model.simulate(LENGTH, random_state=(seed, 1))
                for method, peer in peers.items():
                    means, seconds = peer(model, train, test, seed)
                    one = rmse(means, test.states), 1000.0 * seconds / LENGTH
                    measured.setdefault(method, []).append(one)
            rows += [summary_row(name, method, n, values) for method, values in measured.items()]
    return rows


def installed_peers(model: StateSpaceModel) -> dict[str, Peer]:
    """Return what can be compared on a model, by name.

    Examples
    --------
    >>> list(installed_peers(paper_model("2a")))[:3]
    ['KMCF', 'kNN-PF', 'particle filter, knows the likelihood']
    """
    peers: dict[str, Peer] = {
        "KMCF": _ours(lambda model, draws: KernelMonteCarloFilter(model.transition, **draws)),
        "kNN-PF": _ours(lambda model, draws: KNNParticleFilter(model.transition, n_particles=PARTICLES, **draws)),
        "particle filter, knows the likelihood": _ours(
            lambda model, draws: ParticleFilter(model.transition, model.log_likelihood, n_particles=PARTICLES, **draws)
        ),
    }
    if find_spec("particles"):
        peers["particles: bootstrap, knows the likelihood"] = bootstrap
    if find_spec("stonesoup") and model.name[0] in LOCATED:
        peers["Stone Soup: AKKF, knows the mean"] = adaptive_kernel_kalman
    return peers


def _ours(make: Callable[[StateSpaceModel, dict[str, Any]], SequentialFilter]) -> Peer:
    def peer(model: StateSpaceModel, train: Trajectory, test: Trajectory, seed: int) -> tuple[FloatArray, float]:
        flt = make(model, {"initial": model.initial, "random_state": seed})
        flt.fit(train.states, train.observations)
        began = process_time()
        means = flt.filter(test.observations, test.controls, keep_beliefs=False).mean
        return means, process_time() - began

    return peer


def bootstrap(model: StateSpaceModel, _train: Trajectory, test: Trajectory, seed: int) -> tuple[FloatArray, float]:
    """Run the bootstrap filter of the package ``particles``, which is told the likelihood."""
    import particles

    rng = np.random.default_rng(seed)
    np.random.seed(seed)  # noqa: NPY002  (its resampling draws from there)

    class Known(particles.FeynmanKac):
        def M0(self, size: int) -> FloatArray:  # noqa: N802
            return np.asarray(model.initial(size, rng))

        def M(self, t: int, before: FloatArray) -> FloatArray:  # noqa: N802
            return np.asarray(model.transition(before, _control(test, t), rng))

        def logG(self, t: int, _before: FloatArray, states: FloatArray) -> FloatArray:  # noqa: N802
            return model.log_likelihood(states, test.observations[t])

    began, means = process_time(), []
    run = particles.SMC(fk=Known(T=LENGTH), N=PARTICLES)
    for _ in range(LENGTH):
        next(run)
        means.append(run.W @ run.X)
    return np.array(means), process_time() - began


def adaptive_kernel_kalman(
    model: StateSpaceModel, _train: Trajectory, test: Trajectory, seed: int
) -> tuple[FloatArray, float]:
    """Run Stone Soup's adaptive kernel Kalman filter with its default kernels, which is told an observation's mean.

    It takes states of two columns and more: the second is standard normal noise that nothing depends on.
    """
    from stonesoup.predictor.kernel import AdaptiveKernelKalmanPredictor
    from stonesoup.types.array import StateVectors
    from stonesoup.types.detection import Detection
    from stonesoup.types.hypothesis import SingleHypothesis
    from stonesoup.types.state import KernelParticleState
    from stonesoup.updater.kernel import AdaptiveKernelKalmanUpdater

    rng = np.random.default_rng(seed)
    np.random.seed(seed)  # noqa: NPY002  (its proposals are drawn from there)
    start, second = datetime(2000, 1, 1), timedelta(seconds=1)

    def beside_noise(states: FloatArray) -> Any:
        return StateVectors(np.stack([states[:, 0], rng.normal(size=POINTS)]))

    class Motion:
        """The model's moves, in the form that the predictor asks for."""

        ndim_state = 2

        def function(self, state: Any, **_: Any) -> Any:
            states = np.asarray(state.state_vector, dtype=np.float64).T[:, :1]
            return beside_noise(np.asarray(model.transition(states, _control(test, t), rng)))

    class Mean:
        """The mean of an observation, which in models 1 and 4 is the state (until it folds)."""

        def function(self, state: Any, **_: Any) -> Any:
            return state.state_vector[:1]

    began, means = process_time(), []
    predictor, updater = AdaptiveKernelKalmanPredictor(Motion()), AdaptiveKernelKalmanUpdater(Mean())
    points = beside_noise(np.asarray(model.initial(POINTS, rng)))
    belief = KernelParticleState(points, start, np.full(POINTS, 1.0 / POINTS))
    for t in range(LENGTH):
        when = start + t * second
        predicted = belief if t == 0 else predictor.predict(belief, timestamp=when)
        belief = updater.update(SingleHypothesis(predicted, Detection(test.observations[t][:, None], when)))
        means.append(np.asarray(belief.mean, dtype=np.float64)[0])
    return np.array(means).reshape(LENGTH, 1), process_time() - began


def _control(test: Trajectory, t: int) -> float | None:
    return None if test.controls is None else float(test.controls[t])
