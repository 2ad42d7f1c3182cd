"""A room of 10 m by 10 m in which examples cover 6 m, and a walk that leaves them; strengths of eight beacons."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from kmcf.filter import FilterRun
from kmcf.numerics.arrays import FloatArray
from kmcf_lab.figures import BLUE, GREY, ORANGE, canvas, save_figure

SIZE, COVERED, BEACONS = 10.0, 6.0, 8
NOISE = 2.0
"""Standard deviation of the strengths, in dB."""
STEP = 0.35
EXAMPLES, INSIDE, STEPS = 400, 30, 70


@dataclass(frozen=True)
class Room:
    """The examples, and a walk: for 30 steps inside what they cover, then straight on out of it."""

    states: FloatArray
    observations: FloatArray
    path: FloatArray
    heard: FloatArray
    turns: int
    """The step from which the walk goes straight on."""
    leaves: int
    """The first step that is beyond the examples."""

    @classmethod
    def of(cls, seed: int) -> Self:
        """Draw a room."""
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(16,)))
        beacons = rng.uniform(0.0, SIZE, size=(BEACONS, 2))

        def strengths(places: FloatArray) -> FloatArray:
            distances = np.linalg.norm(places[:, None] - beacons, axis=2)
            return -20.0 * np.log10(distances + 0.5) + NOISE * rng.normal(size=distances.shape)

        states = rng.uniform(size=(EXAMPLES, 2)) * np.array([COVERED, SIZE])
        path = [rng.uniform([1.0, 2.0], [COVERED - 1.5, SIZE - 2.0])]
        for t in range(1, STEPS):
            drift = np.array([0.0 if t < INSIDE else 0.25, 0.0])
            noise = rng.normal(scale=STEP if t < INSIDE else 0.1, size=2)
            edge = COVERED - 0.7 if t < INSIDE else SIZE - 0.2
            path.append(np.clip(path[-1] + drift + noise, 0.5, [edge, SIZE - 0.5]))
        places = np.array(path)
        leaves = int(np.argmax(places[:, 0] > COVERED))
        return cls(states, strengths(states), places, strengths(places), INSIDE, leaves)


def room_walk(states: Any, _control: Any, rng: np.random.Generator) -> Any:
    """Move as the walk does."""
    return states + rng.normal(scale=STEP, size=states.shape)


def draw_room(room: Room, runs: dict[str, FilterRun], folder: Path) -> list[Path]:
    """Draw the walk, what the filters made of it, and where they raised an alarm."""
    with canvas(1, len(runs), (5.2 * len(runs), 5.0), sharey=True) as (figure, axes):
        for ax, (label, run) in zip(axes[0], runs.items(), strict=True):
            ax.scatter(*room.states.T, s=4, color=GREY, alpha=0.5, linewidths=0, label="examples")
            ax.axvline(COVERED, color=GREY, linewidth=0.8, linestyle="--")
            ax.plot(*room.path.T, color=GREY, linewidth=1.5, label="walk")
            ax.plot(*run.mean.T, color=BLUE, linewidth=1.2, label="estimate")
            ax.plot(*run.mean[run.alarm].T, "o", color=ORANGE, markersize=4, label="alarm")
            first = np.flatnonzero(run.alarm[room.turns :])
            if len(first):
                place = room.path[first[0] + room.turns]
                ax.plot(*place, "*", color=ORANGE, markersize=13, label="walker at the first alarm")
            ax.set(title=f"posterior on {label}", xlabel="x [m]", xlim=(-0.3, SIZE), ylim=(-0.3, SIZE + 0.3))
        axes[0, 0].set_ylabel("y [m]")
        axes[0, -1].legend(loc="lower right", scatterpoints=3, handlelength=1.2, borderaxespad=0.1)
        return save_figure(figure, folder, "bench_alarms")
