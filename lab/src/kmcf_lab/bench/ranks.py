"""How the error grows as the rank shrinks, on the paper's eight models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kmcf.bayes_rule import DensePosterior, LowRankRule, Posterior
from kmcf.datasets import PAPER_MODELS, paper_model
from kmcf.filter import KernelMonteCarloFilter
from kmcf.kernels import ExampleKernel
from kmcf.kernels.defaults import default_observation_kernel
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.linalg import solve_regularised_square, weighted_gram
from kmcf.numerics.objects import Objects
from kmcf_lab.quiet import quiet
from kmcf_lab.statistics import estimate, rmse

N_EXAMPLES, LENGTH = 200, 300


@dataclass(frozen=True)
class RankRow:
    """Root mean squared errors on one model, over data sets."""

    model: str
    rank: int | None
    """None: the exact engine."""
    reading: str
    """"features": the observation enters by its features; "Algorithm 5": by its similarities with all examples."""
    mean: float
    standard_error: float


def measure_ranks(ranks: Sequence[int], *, repetitions: int, report: Callable[[str], None] = print) -> list[RankRow]:
    """Filter each model with the exact engine and with low ranks of both kernel matrices, untuned."""
    rows = []
    for name in PAPER_MODELS:
        report(f"model {name}")
        for rank in (None, *ranks):
            for reading in ("features",) if rank is None else ("features", "Algorithm 5"):
                mean = estimate(_error(name, rank, reading, seed) for seed in range(repetitions))
                rows.append(RankRow(name, rank, reading, mean.value, mean.error))
    return rows


class AlgorithmFiveReading(LowRankRule):
    """The low-rank rule with VᵀΛk_Y in place of Cψ(y), as Algorithm 5 has it (but solved stably)."""

    def __init__(self, rule: LowRankRule, observation_kernel: ExampleKernel) -> None:
        self.__dict__.update(rule.__dict__)
        self._observation_kernel = observation_kernel

    def correct(self, particles: Objects, particle_weights: FloatArray, observation: Objects) -> Posterior:
        """Apply the rule to all n similarities of the observation."""
        mean, state_coverage = self.states.of_mean(particles, particle_weights)
        _, observation_coverage = self.observations.of_one(observation)
        prior = self.states.rows @ self._prior_factor.solve(mean)
        V = self.observations.rows
        k_y = self._observation_kernel.against(observation)[:, 0]
        weights = prior * (V @ solve_regularised_square(weighted_gram(V, prior), self._delta, V.T @ (prior * k_y)))
        return DensePosterior(float(weights.sum()), observation_coverage, state_coverage, weights)


def _error(name: str, rank: int | None, reading: str, seed: int) -> float:
    model = paper_model(name)
    train = model.simulate(N_EXAMPLES, random_state=(seed, 0))
    test = model.simulate(LENGTH, random_state=(seed, 1))
    flt = KernelMonteCarloFilter(
        model.transition,
        initial=model.initial,
        engine="exact" if rank is None else "lowrank",
        rank=rank,
        observation_kernel=default_observation_kernel(train.observations),
        delta=9e-6,
        random_state=seed,
    )
    with quiet():
        flt.fit(train.states, train.observations)
        if reading == "Algorithm 5" and isinstance(flt.rule_, LowRankRule):
            flt.rule_ = AlgorithmFiveReading(flt.rule_, flt.observation_kernel_.on_examples(train.observations))
        run = flt.filter(test.observations, test.controls)
    return rmse(run.mean, test.states)
