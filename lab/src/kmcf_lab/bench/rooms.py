"""Untuned filters on recorded and simulated signal strengths, and where examples cover the states poorly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from threadpoolctl import threadpool_limits

from kmcf.datasets import Trajectory, ble_tracks, paper_model
from kmcf.kernels import Gaussian, Learned
from kmcf.numerics.arrays import FloatArray
from kmcf_lab.bench.kernels import KernelRow, compared_settings, filtered_means, kernel_row, oracle_means
from kmcf_lab.statistics import rmse

LENGTH = 400
ROOM_EXAMPLES, ROOM_STEPS = 400, 200
STEP, DROPPED = 0.8, 5
"""Metres per second of the random walk; seconds at the start of a track that do not count."""


def measure_ble(report: Callable[[str], None] = print) -> list[KernelRow]:
    """Return the mean position error on each BLE track, with the other tracks as examples."""
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
            for method, settings in {**compared_settings(12), "learnt, forest": _forest()}.items():
                means = filtered_means(_walk, train, test, settings, seed=0)
                distances = np.linalg.norm(means - track.states, axis=1)[DROPPED:]
                errors.setdefault(method, []).append(float(distances.mean()))
    return [kernel_row("BLE, mean error in m", method, values) for method, values in errors.items()]


def measure_dependent(repetitions: int, report: Callable[[str], None] = print) -> list[KernelRow]:
    """Return the position RMSE in a simulated room: 12 dependent signal strengths, two coordinates."""
    errors: dict[str, list[float]] = {}
    with threadpool_limits(limits=1):
        for seed in range(repetitions):
            report(f"data set {seed}")
            train, test = simulate_room(ROOM_EXAMPLES, (seed, 0)), simulate_room(ROOM_STEPS, (seed, 1))
            compared = {**compared_settings(12), "learnt, forest": _forest()}
            for multiplier in (0.3, 0.5, 1.0):
                compared[f"plain, bandwidth {multiplier}"] = {"observation_kernel": Gaussian(multiplier=multiplier)}
            for method, settings in compared.items():
                means = filtered_means(_walk, train, test, settings, seed)
                errors.setdefault(method, []).append(rmse(means, test.states))
    return [kernel_row("dependent strengths, RMSE in m", method, values) for method, values in errors.items()]


def measure_uncovered(repetitions: int, report: Callable[[str], None] = print) -> list[KernelRow]:
    """Return RMSE ÷ oracle RMSE where all examples lie at |x| ≤ 2 while the state roams three times as far."""
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
                for support in ("examples", "particles", "both"):
                    settings = {"support": support}
                    means = filtered_means(model.transition, train, test, settings, seed, initial=model.initial)
                    ratios.setdefault(f"on {support}", []).append(rmse(means, test.states) / oracle)
            rows += [kernel_row(f"{name}, |x| <= 2", method, values) for method, values in ratios.items()]
    return rows


def simulate_room(length: int, seed: tuple[int, int]) -> Trajectory:
    """Walk through a 15 m × 15 m room with 12 receivers, whose noise is shared: a turning body shadows several."""
    rng = np.random.default_rng(seed)
    receivers = np.random.default_rng(7).uniform(0, 15, size=(12, 2))
    states = np.empty((length, 2))
    position = rng.uniform(0, 15, size=2)
    for t in range(length):
        position = np.abs(15 - np.abs(15 - (position + STEP * rng.normal(size=2))))  # walls reflect
        states[t] = position
    distances = np.linalg.norm(states[:, None] - receivers, axis=2)
    heading = rng.uniform(0, 2 * np.pi, size=(length, 1))
    shadow = 6.0 * np.cos(heading - np.arctan2(*(receivers - 7.5).T[::-1]))
    strengths = -55.0 - 22.0 * np.log10(distances + 0.3) + shadow + 3.0 * rng.normal(size=(length, 1))
    return Trajectory(states, strengths + 2.0 * rng.normal(size=strengths.shape), None)


def _forest() -> dict[str, Any]:
    forest = RandomForestRegressor(100, min_samples_leaf=3, max_features=0.5, random_state=0)
    return {"observation_kernel": Learned(forest)}


def _walk(states: FloatArray, control: Any, rng: np.random.Generator) -> FloatArray:
    return states + STEP * rng.normal(size=states.shape)
