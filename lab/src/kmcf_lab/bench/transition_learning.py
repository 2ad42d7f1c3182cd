"""Parameters of transitions from observations alone, beside methods that are told the observation model."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import kmcf
from kmcf.baselines import ParticleFilter
from kmcf.datasets import mrclam, paper_model, recent_landmarks
from kmcf.filter import KernelMonteCarloFilter, ParticleLikelihoodFilter
from kmcf.kernels import LandmarkSet, Pose
from kmcf.numerics.arrays import FloatArray
from kmcf.transitions import OdometryMotion
from kmcf_lab.quiet import quiet

LENGTH = 300
EDGE = 3.0
TRUTH = {"1": {"scale": 1.0, "drift": 0.9}, "2": {"scale": 1.0, "drift": 0.9}, "4": {"scale": np.sqrt(2.0)}}
BOUNDS = {"scale": (0.1, 5.0), "drift": (0.3, 1.0)}
WHEELS = "MRCLAM, wheels of the wrong size"
WHEEL = 1.2
"""The odometry of the robots is divided by this; the wheels are that much larger than it believes."""


@dataclass(frozen=True)
class LearningCell:
    """One parameter learnt from one data set."""

    problem: str
    method: str
    parameter: str
    seed: int
    truth: float
    found: float
    lower: float
    upper: float


@dataclass(frozen=True)
class LearningRow:
    """The average over data sets."""

    problem: str
    method: str
    parameter: str
    truth: float
    mean: float
    sd: float
    rmse: float
    inside: float
    """Share of 95 % intervals that hold the truth; NaN where there are none."""
    data_sets: int


class Regression:
    """x' = drift x + scale noise, as models 1 and 2 without control move."""

    def __init__(self, scale: float, drift: float) -> None:
        self.scale = scale
        self.drift = drift

    def __call__(self, states: FloatArray, control: Any, rng: np.random.Generator) -> FloatArray:
        """Draw the next states."""
        return self.drift * states + self.scale * rng.normal(size=states.shape)

    def log_density(
        self, after: FloatArray, before: FloatArray, control: Any = None, elapsed: Any = None
    ) -> FloatArray:
        """Return the log density of moves."""
        off = (after - self.drift * before) / self.scale
        return -0.5 * np.sum(off**2, axis=1) - off.shape[1] * np.log(self.scale)


class Turning:
    """Odometry whose translation is multiplied with the size of the wheels."""

    def __init__(self, motion: OdometryMotion, wheel: float) -> None:
        self.motion = motion
        self.factors = np.array([1.0, wheel, 1.0])

    def __call__(self, states: FloatArray, control: Any, rng: np.random.Generator) -> FloatArray:
        """Draw the next poses."""
        return np.asarray(self.motion(states, self.factors * np.asarray(control), rng))

    def log_density(
        self, after: FloatArray, before: FloatArray, control: Any = None, elapsed: Any = None
    ) -> FloatArray:
        """Return the log density of moves."""
        return self.motion.log_density(after, before, self.factors * np.asarray(control))


def maker(name: str) -> Callable[..., Any]:
    """Return what makes the transition of one of the paper's models without control for given numbers."""
    if not name.startswith("4"):
        return Regression

    def jump(scale: float) -> Any:
        def move(states: FloatArray, control: Any, rng: np.random.Generator) -> FloatArray:
            moved = states + scale * rng.normal(size=states.shape)
            return np.where(np.abs(moved) <= EDGE, moved, -EDGE)

        return move

    return jump


def learn_models(name: str, n: int, seed: int) -> list[LearningCell]:
    """Learn the numbers of one of the paper's models, by kmcf and by filters that know the observation model."""
    model, truth = paper_model(name), TRUTH[name[0]]
    train, seen = model.simulate(n, random_state=(seed, 0)), model.simulate(LENGTH, random_state=(seed, 1))
    bounds, make = {key: BOUNDS[key] for key in truth}, maker(name)
    examples = KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=seed)
    examples.fit(train.states, train.observations)
    knowing = ParticleFilter(model.transition, model.log_likelihood, initial=model.initial, random_state=seed)
    knowing.fit(train.states, train.observations)
    cells = []
    with quiet(), warnings.catch_warnings():
        warnings.simplefilter("ignore", kmcf.LearningWarning)
        for label, flt, method, objective in (
            ("kmcf", examples, "evidence", "score"),
            ("kmcf, by the log evidence", examples, "evidence", "evidence"),
            ("kmcf, by EM", examples, "em", "score"),
            ("particle filter, knows p(y | x)", knowing, "evidence", "evidence"),
        ):
            if method == "em" and make is not Regression:  # jumps to a single place have no density
                continue
            found = kmcf.learn_transition(flt, seen.observations, bounds, make=make, method=method, objective=objective)
            intervals = found.intervals
            cells += [
                LearningCell(f"model {name}", label, key, seed, truth[key], found.estimates[key], *intervals[key])
                for key in truth
            ]
        if name[0] in "12":
            cells += by_particles(name, seen.observations, seed)
    return cells


def by_particles(name: str, observations: FloatArray, seed: int) -> list[LearningCell]:
    """Maximise the likelihood that the package ``particles`` estimates, by its bootstrap filter; none if not there."""
    try:
        import particles
        from particles import distributions as dists
        from particles import state_space_models as ssm
    except ImportError:
        return []
    from scipy.optimize import minimize

    class Model(ssm.StateSpaceModel):
        def PX0(self) -> Any:  # noqa: N802 - the package's name
            return dists.Normal(scale=1.0 / np.sqrt(1.0 - 0.9**2))

        def PX(self, t: int, xp: FloatArray) -> Any:  # noqa: N802
            return dists.Normal(loc=self.drift * xp, scale=self.scale)

        def PY(self, t: int, xp: FloatArray, x: FloatArray) -> Any:  # noqa: N802
            return dists.Normal(loc=x, scale=1.0) if name[0] == "1" else dists.Normal(scale=0.5 * np.exp(x / 2.0))

    data = list(observations[:, 0])

    def less_probable(place: FloatArray) -> float:
        np.random.seed(seed)  # noqa: NPY002 - the package draws from the global generator
        chosen = Model(scale=float(np.exp(place[0])), drift=float(np.clip(place[1], 0.3, 1.0)))
        run = particles.SMC(fk=ssm.Bootstrap(ssm=chosen, data=data), N=1000)
        run.run()
        return -float(run.logLt)

    corners = [[-0.5, 0.7], [0.3, 0.7], [-0.5, 0.95]]  # a start of its own would make the first step tiny
    options = {"maxfev": 80, "xatol": 0.01, "initial_simplex": corners}
    best = minimize(less_probable, corners[0], method="Nelder-Mead", options=options).x
    numbers = {"scale": float(np.exp(best[0])), "drift": float(np.clip(best[1], 0.3, 1.0))}
    return [
        LearningCell(
            f"model {name}", "particles, knows p(y | x)", key, seed, TRUTH[name[0]][key], value, np.nan, np.nan
        )
        for key, value in numbers.items()
    ]


def learn_wheels(folder: Path, robot: int, length: int = 400) -> list[LearningCell]:
    """Learn how large a robot's wheels are, from the posts that it sees and odometry that is wrong by a fifth."""
    robots = [recent_landmarks(one, 10.0) for one in mrclam(folder, step=1.0)]
    test, others = robots[robot], [one for k, one in enumerate(robots) if k != robot]
    motion = OdometryMotion().fit(others)
    states = np.concatenate([one.states[::8] for one in others])
    observations = [y for one in others for y in list(one.observations)[::8]]
    seen_at = [k for k, y in enumerate(observations) if y is not None]
    flt = ParticleLikelihoodFilter(
        motion, state_kernel=Pose(multiplier=0.15), observation_kernel=LandmarkSet(absent=0.8, multiplier=0.5),
        n_particles=250, angles=(2,), random_state=0, background=0.2,
    )  # fmt: skip
    used = [y if t % 10 == 0 else None for t, y in enumerate(list(test.observations)[:length])]
    controls = np.array(test.controls[:length], dtype=np.float64)
    controls[:, 1] /= WHEEL

    cells = []
    given: dict[str, Any] = {"make": partial(Turning, motion), "start": {"wheel": 1.0}, "controls": [controls]}
    with quiet(), warnings.catch_warnings():
        warnings.simplefilter("ignore", kmcf.LearningWarning)
        flt.fit(states[seen_at], [observations[k] for k in seen_at])
        for label, method in (("kmcf", "evidence"), ("kmcf, by EM", "em")):
            found = kmcf.learn_transition(flt, [used], {"wheel": (0.8, 1.6)}, method=method, **given)
            ends = found.intervals["wheel"]
            cells.append(LearningCell(WHEELS, label, "wheel", robot, WHEEL, found.estimates["wheel"], *ends))
    return cells


def summarise_learning(cells: Sequence[dict[str, Any]]) -> list[LearningRow]:
    """Average over data sets, problem by problem, method by method."""
    rows = []
    for key in dict.fromkeys((cell["problem"], cell["parameter"], cell["method"]) for cell in cells):
        some = [cell for cell in cells if (cell["problem"], cell["parameter"], cell["method"]) == key]
        found = np.array([cell["found"] for cell in some])
        truth = some[0]["truth"]
        known = [cell for cell in some if cell["lower"] is not None and cell["lower"] == cell["lower"]]
        inside = np.mean([cell["lower"] <= truth <= cell["upper"] for cell in known]) if known else np.nan
        rmse = float(np.sqrt(np.mean((found - truth) ** 2)))
        sd = float(found.std(ddof=1)) if len(found) > 1 else np.nan
        rows.append(LearningRow(key[0], key[2], key[1], truth, float(found.mean()), sd, rmse, float(inside), len(some)))
    return rows
