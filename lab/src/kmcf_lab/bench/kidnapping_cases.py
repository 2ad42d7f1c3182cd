"""Sequences in which the state jumps where no move leads, and the same problems without a jump."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kmcf.baselines import ParticleFilter
from kmcf.datasets import ble_tracks, paper_model
from kmcf.filter import FilterRun
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.transitions import GaussianRandomWalk
from kmcf_lab.localize.landmarks import MRCLAM_SETTINGS, WINDOWED, load_robots
from kmcf_lab.localize.methods import kernels_of
from kmcf_lab.localize.motion import fitted_motion
from kmcf_lab.localize.problem import LocalizationFold
from kmcf_lab.localize.splits import leave_one_out

BEFORE, AFTER = 40, 30
"""Steps before the jump, and observations after it in which a filter may find itself again."""
FAR_JUMP = 4.5
"""How far a jump of the paper's models leads at least, in units of the noise of a move."""
FAR_WALK = 4.0
"""How far a jump of a walker leads at least, in metres."""
FAR_ROBOT = 3.0
"""How far a jump of a robot leads at least, in metres."""
ROBOT_BEFORE, ROBOT_EVERY = 30, 10
"""Observations of a robot before the jump, and steps from one to the next."""
ROBOT_PARTICLES = 500
ROBOT_JUMPS = 3
"""Jumps per robot."""
ROBOT_PLACED = 0.01
"""The background where posts are placed: of 0.001 to 0.05 it had the smallest mean error inside the training robots,
three of them as examples and the fourth followed without a jump."""
ROBOT_CALM, ROBOT_START = 900, 60
"""Steps of a robot without a jump, and those at the beginning that do not count, since the start is unknown."""


@dataclass(frozen=True)
class Track:
    """True states, what was observed, and what drove the moves."""

    states: FloatArray
    observations: Any
    controls: Any = None
    judged: int = 0
    """The first step that counts."""

    def run(self, flt: Any) -> FilterRun:
        """Filter it."""
        run: FilterRun = flt.filter(self.observations, self.controls)
        return run

    def errors_of(self, run: FilterRun, axes: int | None) -> FloatArray:
        """Return how far a run's means are from the true places, at the steps that count."""
        return self.counted(run, np.linalg.norm((run.mean - self.states)[:, :axes], axis=1))

    def counted(self, run: FilterRun, values: Any) -> Any:
        """Return the values of the steps that count and have an observation."""
        return values[self.judged :][~run.missing[self.judged :]]


@dataclass(frozen=True)
class Case:
    """Examples, sequences with a jump, which leads to their first judged step, and one without."""

    transition: Any
    examples: tuple[FloatArray, Any]
    jumping: tuple[Track, ...]
    calm: Track
    initial: Any = None
    oracle: Any = None
    """A particle filter that knows the likelihood, where there is one."""
    axes: int | None = None
    """How many state columns make the place."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Further settings of all filters."""
    on_particles: Mapping[str, Any] = field(default_factory=dict)
    """Further settings of the filter on particles."""
    placed: Mapping[str, Any] = field(default_factory=dict)
    """Settings of a filter on particles that places observations in the world, where there is one."""


def model_cases(name: str, n: int, repetitions: int) -> Iterator[Case]:
    """Yield sequences of a model into which the end of another was spliced, far from where a move could lead."""
    model = paper_model(name)
    for seed in range(repetitions):
        train, calm = (model.simulate(size, random_state=(seed, part)) for part, size in ((0, n), (1, 300)))
        start = model.simulate(BEFORE, random_state=(seed, 2))
        reach = np.abs(train.states).max()
        for attempt in range(100):
            other = model.simulate(2 * AFTER, random_state=(seed, 3, attempt))
            places = other.states[:AFTER, 0]
            far = np.flatnonzero((np.abs(places - start.states[-1, 0]) > FAR_JUMP) & (np.abs(places) <= reach))
            if len(far):
                rest = slice(int(far[0]), int(far[0]) + AFTER)
                oracle = ParticleFilter(model.transition, model.log_likelihood, model.initial, random_state=seed)
                examples, pair = (train.states, train.observations), Track(calm.states, calm.observations)
                yield Case(model.transition, examples, (_spliced(start, other, rest),), pair, model.initial, oracle)
                break


def ble_cases(tracks: int) -> Iterator[Case]:
    """Yield tracks out of which a part was cut, so that the walker jumps by several metres."""
    recordings = ble_tracks()
    for track in recordings[:tracks]:
        others = [other for other in recordings if other is not track]
        states, observations = (
            np.concatenate([getattr(o, role) for o in others]) for role in ("states", "observations")
        )
        walk = GaussianRandomWalk(2.0 * np.asarray(GaussianRandomWalk().fit([o.states for o in others]).scale_))
        for before in range(min(BEFORE, len(track.states) // 2), 5, -5):
            distances = np.linalg.norm(track.states - track.states[before - 1], axis=1)
            far = [j for j in np.flatnonzero(distances > FAR_WALK) if before + 5 <= j <= len(distances) - 8]
            if far:
                rest = slice(int(far[0]), int(far[0]) + AFTER)
                kept = np.r_[np.arange(before), np.arange(len(distances))[rest]]
                padding = np.zeros(BEFORE - before, dtype=np.intp)  # the walker stands still first
                jumping = _picked(track, np.concatenate([padding, kept]), BEFORE)
                yield Case(walk, (states, observations), (jumping,), Track(track.states, track.observations))
                break


def robot_cases(path: Path, robots: int, jumps: int = ROBOT_JUMPS) -> Iterator[Case]:
    """Yield drives of robots among posts (an MRCLAM folder) that go on elsewhere; examples are of the other robots."""
    settings = MRCLAM_SETTINGS.changed(WINDOWED["posts of 10 s"])
    folds = leave_one_out(load_robots(path, **settings.load), **settings.split)
    particles = {"background": 0.2, "rank": (None, 300)}
    placed = {name: value for name, value in settings.kmcf.items() if name != "support"} | {"background": ROBOT_PLACED}
    for fold in folds[:robots]:
        shared = {**kernels_of(settings), "angles": fold.test.angles, "n_particles": ROBOT_PARTICLES}
        calm = _picked(fold.test, np.arange(min(len(fold.test), ROBOT_CALM)), ROBOT_START)
        jumping = tuple(_picked(fold.test, one, ROBOT_BEFORE * ROBOT_EVERY) for one in robot_jumps(fold, jumps))
        examples = fold.states, fold.observations
        yield Case(
            fitted_motion(settings, fold),
            examples,
            jumping,
            calm,
            axes=2,
            settings=shared,
            on_particles=particles,
            placed=placed,
        )


def robot_jumps(fold: LocalizationFold, jumps: int) -> Iterator[IntArray]:
    """Yield steps of a drive, the second half of which begins far from where the first half ends."""
    before, after = ROBOT_BEFORE * ROBOT_EVERY, AFTER * ROBOT_EVERY
    places, rng = np.asarray(fold.test.states)[:, :2], np.random.default_rng(0)
    starts = np.linspace(0, len(places) - before - after - ROBOT_EVERY, jumps).astype(int) // ROBOT_EVERY * ROBOT_EVERY
    for start in starts:
        distances = np.linalg.norm(places - places[start + before - 1], axis=1)
        further = range(0, len(places) - after, ROBOT_EVERY)  # the same steps are shown as in the drive
        far = [j for j in further if distances[j] > FAR_ROBOT and not start <= j < start + before]
        if far:
            there = int(rng.choice(far))
            yield np.r_[start : start + before, there : there + after]


def _picked(recording: Any, places: IntArray, judged: int) -> Track:
    """Return some steps of a recording."""
    observations, controls = recording.observations, recording.controls
    seen = observations[places] if isinstance(observations, np.ndarray) else [observations[k] for k in places]
    return Track(np.asarray(recording.states)[places], seen, None if controls is None else controls[places], judged)


def _spliced(start: Any, other: Any, rest: slice) -> Track:
    pairs = ((getattr(start, role), getattr(other, role)[rest]) for role in ("states", "observations"))
    states, observations = (np.concatenate(pair) for pair in pairs)
    return Track(states, observations, judged=BEFORE)
