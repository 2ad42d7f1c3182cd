"""The simulated data sets of Section 6.2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kmcf.datasets import StateSpaceModel, Trajectory, paper_model
from kmcf_lab.cells import Cell, Coordinate

TRANSITIONS = 1000
"""Examples of transitions that the Kernel Bayes' Rule filter learns from, as in the paper."""


@dataclass(frozen=True)
class SimulatedData:
    """One data set: examples, a test sequence, and moves for the filter that learns the transition too."""

    model: StateSpaceModel
    train: Trajectory
    test: Trajectory
    moves: Trajectory
    seed: int
    """Of the random numbers inside the filters and of the tuning trials; the same for all methods."""

    @property
    def transitions(self) -> tuple[Any, ...]:
        """The moves as pairs, with their controls where the model has some."""
        pairs = (self.moves.states[:-1], self.moves.states[1:])
        return pairs if self.moves.controls is None else (*pairs, self.moves.controls[1:])


def simulate_data(
    name: str, n: int, repetition: int, steps: int, seed: int, transitions: int = TRANSITIONS
) -> SimulatedData:
    """Simulate a data set; the test sequence and the moves are the same for every number of examples.

    Parameters
    ----------
    name : str
        One of the paper's models.
    n : int
        Number of examples.
    repetition, seed : int
        Other numbers give independent data sets.
    steps : int
        Length of the test sequence.
    transitions : int
        Number of moves.
    """
    model = paper_model(name)
    common: dict[str, Coordinate] = {"model": name, "repetition": repetition, "seed": seed}
    return SimulatedData(
        model,
        model.simulate(n, random_state=Cell("train", {**common, "n": n}).seed),
        model.simulate(steps, random_state=Cell("test", {**common, "steps": steps}).seed),
        model.simulate(transitions + 1, random_state=Cell("moves", common).seed),
        Cell("filters", {**common, "n": n}).seed % 2**32,
    )
