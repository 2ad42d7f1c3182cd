"""Untuned filters with plain and learnt observation kernels: the paper's models, real and made-up radio data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from threadpoolctl import threadpool_limits

from kmcf.baselines import ParticleFilter
from kmcf.datasets import PAPER_MODELS, StateSpaceModel, Trajectory, ble_tracks, paper_model
from kmcf.filter import KernelMonteCarloFilter
from kmcf.kernels import Gaussian, Learned
from kmcf.kernels.defaults import default_observation_kernel
from kmcf.numerics.arrays import FloatArray
from kmcf.support.alerts import HighRankWarning, RejectedStepWarning
from kmcf_lab.statistics import estimate, rmse

LENGTH, ORACLE_PARTICLES = 400, 3000
BLE_STEP, BLE_DROPPED = 0.8, 5


@dataclass(frozen=True)
class KernelRow:
    """The error of one method on one problem."""

    problem: str
    method: str
    mean: float
    standard_error: float


def methods(columns: int) -> dict[str, dict[str, Any]]:
    """Return the settings compared, by name; with one column there is nothing to learn."""
    learnt: dict[str, Any] = {"observation_kernel": Learned()} if columns > 1 else {}
    return {
        "default": {},
        "plain": {"observation_kernel": "plain"},
        "learnt": learnt,
        "learnt, importance-weighted rule": {**learnt, "rule": "importance"},
        "on particles": {"support": "particles", **learnt},
    }


def measure_models(n: int, repetitions: int, report: Callable[[str], None] = print) -> list[KernelRow]:
    """Return RMSE ÷ oracle RMSE on the eight models, and their geometric mean over models."""
    rows: list[KernelRow] = []
    with threadpool_limits(limits=1):
        for name in PAPER_MODELS:
            report(f"model {name}")
            model = paper_model(name)
            ratios: dict[str, list[float]] = {}
            for seed in range(repetitions):
                train = model.simulate(n, random_state=(seed, 0))
                test = model.simulate(LENGTH, random_state=(seed, 1))
                oracle = rmse(oracle_means(model, test, seed), test.states)
                for method, settings in methods(train.observations.shape[1]).items():
                    run = _run(model.transition, train, test, settings, seed, initial=model.initial)
                    ratios.setdefault(method, []).append(rmse(run, test.states) / oracle)
            rows += [_row(name, method, values) for method, values in ratios.items()]
    for method in dict.fromkeys(row.method for row in rows):
        logs = np.log([row.mean for row in rows if row.method == method])
        rows.append(KernelRow("geometric mean", method, float(np.exp(logs.mean())), np.nan))
    return rows


def measure_ble(report: Callable[[str], None] = print) -> list[KernelRow]:
    """Return the mean position error on each BLE track, leaving it out; untuned, random walk of 0.8 m per second."""
    tracks = ble_tracks()
    errors: dict[str, list[float]] = {}
    with threadpool_limits(limits=1):
        for track in tracks:
            report(track.name)
            others = [other for other in tracks if other is not track]
            train = Trajectory(
                np.concatenate([other.states for other in others]),
                np.concatenate([other.observations for other in others]),
                None,
            )
            test = Trajectory(track.states, track.observations, None)
            for method, settings in {**methods(12), "learnt, forest": _forest()}.items():
                means = _run(_walk, train, test, settings, seed=0)
                distances = np.linalg.norm(means - track.states, axis=1)[BLE_DROPPED:]
                errors.setdefault(method, []).append(float(distances.mean()))
    return [_row("BLE, mean error in m", method, values) for method, values in errors.items()]


def measure_dependent(repetitions: int, report: Callable[[str], None] = print) -> list[KernelRow]:
    """Return the position RMSE on a made-up room: 12 dependent signal strengths, 2-d position."""
    errors: dict[str, list[float]] = {}
    with threadpool_limits(limits=1):
        for seed in range(repetitions):
            report(f"data set {seed}")
            train, test = _room(400, (seed, 0)), _room(200, (seed, 1))
            compared = {**methods(12), "learnt, forest": _forest()}
            for multiplier in (0.3, 0.5, 1.0):
                compared[f"plain, bandwidth {multiplier}"] = {"observation_kernel": Gaussian(multiplier=multiplier)}
            for method, settings in compared.items():
                means = _run(_walk, train, test, settings, seed)
                errors.setdefault(method, []).append(rmse(means, test.states))
    return [_row("dependent strengths, RMSE in m", method, values) for method, values in errors.items()]


def measure_uncovered(repetitions: int, report: Callable[[str], None] = print) -> list[KernelRow]:
    """Return RMSE ÷ oracle RMSE where examples were taken only at |x| ≤ 2 while the state roams three times as far."""
    rows: list[KernelRow] = []
    with threadpool_limits(limits=1):
        for name in ("1a", "1b", "2a", "2b"):
            report(f"model {name}, examples at |x| <= 2 only")
            model = paper_model(name)
            ratios: dict[str, list[float]] = {}
            for seed in range(repetitions):
                everything = model.simulate(600, random_state=(seed, 0))
                inside = np.flatnonzero(np.abs(everything.states[:, 0]) <= 2.0)[:200]
                train = Trajectory(everything.states[inside], everything.observations[inside], None)
                test = model.simulate(LENGTH, random_state=(seed, 1))
                oracle = rmse(oracle_means(model, test, seed), test.states)
                for method, settings in {"on examples": {}, "on particles": {"support": "particles"}}.items():
                    means = _run(model.transition, train, test, settings, seed, initial=model.initial)
                    ratios.setdefault(method, []).append(rmse(means, test.states) / oracle)
            rows += [_row(f"{name}, |x| <= 2", method, values) for method, values in ratios.items()]
    return rows


def oracle_means(model: StateSpaceModel, test: Trajectory, seed: int) -> FloatArray:
    """Filter with the true likelihood."""
    oracle = ParticleFilter(
        model.transition, model.log_likelihood, model.initial, n_particles=ORACLE_PARTICLES, random_state=seed
    )
    return oracle.filter(test.observations, test.controls, keep_beliefs=False).mean


def _run(
    transition: Any, train: Trajectory, test: Trajectory, settings: dict[str, Any], seed: int, initial: Any = None
) -> FloatArray:
    settings = dict(settings)
    if settings.get("observation_kernel") == "plain":
        settings |= {"observation_kernel": default_observation_kernel(train.observations), "delta": 9e-6}
    flt = KernelMonteCarloFilter(transition, initial=initial, random_state=seed, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RejectedStepWarning)
        warnings.simplefilter("ignore", HighRankWarning)
        run = flt.fit(train.states, train.observations).filter(test.observations, test.controls, keep_beliefs=False)
    return run.mean


def _forest() -> dict[str, Any]:
    forest = RandomForestRegressor(100, min_samples_leaf=3, max_features=0.5, random_state=0)
    return {"observation_kernel": Learned(forest)}


def _walk(states: FloatArray, control: Any, rng: np.random.Generator) -> FloatArray:
    return states + BLE_STEP * rng.normal(size=states.shape)


def _room(length: int, seed: tuple[int, int]) -> Trajectory:
    """Walk through a 15 m × 15 m room with 12 receivers and shared noise: a turning body shadows several at once."""
    rng = np.random.default_rng(seed)
    receivers = np.random.default_rng(7).uniform(0, 15, size=(12, 2))
    states = np.empty((length, 2))
    position = rng.uniform(0, 15, size=2)
    for t in range(length):
        position = np.abs(15 - np.abs(15 - (position + BLE_STEP * rng.normal(size=2))))  # walls reflect
        states[t] = position
    distances = np.linalg.norm(states[:, None] - receivers, axis=2)
    heading = rng.uniform(0, 2 * np.pi, size=(length, 1))
    shadow = 6.0 * np.cos(heading - np.arctan2(*(receivers - 7.5).T[::-1]))
    strengths = -55.0 - 22.0 * np.log10(distances + 0.3) + shadow + 3.0 * rng.normal(size=(length, 1))
    return Trajectory(states, strengths + 2.0 * rng.normal(size=strengths.shape), None)


def _row(problem: str, method: str, values: Iterable[float]) -> KernelRow:
    mean = estimate(values)
    return KernelRow(problem, method, mean.value, mean.error)
