"""The kernel sum rule: a transition learnt from pairs of states (and controls) instead of simulated.

From N pairs (X_i, U_i) → X'_i, weights α on states Z become the weights

    β = (G_X ∘ G_U + NεI)⁻¹ (k_X(X, Z) α ∘ k_U(U, u))

on the successors X' (Fukumizu, Song and Gretton 2013, section 4.3); without controls the factors of U are absent.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kmcf.kernels import ExampleKernel, Kernel
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.linalg import cholesky
from kmcf.numerics.objects import Objects, as_objects, describe, is_numeric, take

LEAST_SUM = 1e-3
LARGEST_CROSS = 20_000_000
"""Similarities between pairs and example states are kept up to this many numbers (160 MB)."""


class TransitionPairs(NamedTuple):
    """N observed moves."""

    before: Objects
    after: Objects
    controls: Objects | None

    def some(self, most: int) -> TransitionPairs:
        """Return at most ``most`` pairs, evenly spread."""
        if len(self.before) <= most:
            return self
        chosen = np.linspace(0, len(self.before) - 1, most).round().astype(np.intp)
        controls = None if self.controls is None else take(self.controls, chosen)
        return TransitionPairs(take(self.before, chosen), take(self.after, chosen), controls)


class SumRule:
    """The kernel sum rule fitted to transition pairs.

    Parameters
    ----------
    pairs : TransitionPairs
        The observed moves.
    state_kernel : Kernel
        Fitted kernel on states.
    control_kernel : Kernel or None
        Fitted kernel on controls, if there are any.
    epsilon : float
        Regulariser ε.
    examples : array or list
        States from which weights will often come: their similarities are computed once.
    """

    def __init__(
        self,
        pairs: TransitionPairs,
        state_kernel: Kernel,
        control_kernel: Kernel | None,
        *,
        epsilon: float,
        examples: Objects,
    ) -> None:
        self.successors = pairs.after
        self._before = state_kernel.on_examples(pairs.before)
        self._controls: ExampleKernel | None = None
        gram = self._before.matrix()
        if control_kernel is not None:
            self._controls = control_kernel.on_examples(pairs.controls)
            gram = gram * self._controls.matrix()
        size = len(pairs.before)
        self._factor = cholesky(gram, shift=size * epsilon, name="G + N epsilon I", remedy="transition_epsilon")
        small = size * len(examples) <= LARGEST_CROSS
        self._examples = examples
        self._cross = self._before.against(examples) if small else None

    @property
    def controlled(self) -> bool:
        """Whether the pairs came with controls."""
        return self._controls is not None

    def predict(self, states: Objects, weights: FloatArray, control: Objects | None) -> FloatArray:
        """Return the weights of the successors, normalised; equal ones where they nearly cancel."""
        known = states is self._examples and self._cross is not None
        similarities = self._cross if known else self._before.against(states)
        mean_values = np.asarray(similarities) @ weights
        if self._controls is not None:
            mean_values = mean_values * self._controls.against(control)[:, 0]
        found = self._factor.solve(mean_values)
        total = float(found.sum())
        if not total > LEAST_SUM * float(np.abs(found).sum()):
            return np.full(len(found), 1.0 / len(found))
        return found / total


def consecutive(states: Objects, controls: Any) -> TransitionPairs:
    """Take each example as the successor of the one before; ``controls[t]`` drove the move to example t."""
    if controls is None:
        return TransitionPairs(states[:-1], states[1:], None)
    read = as_objects(controls, "controls")
    if len(read) != len(states):
        raise ValueError(
            f"{len(read)} controls for {len(states)} examples: controls[t] drove the move to example t, so there must "
            "be one per example (the first is ignored)."
        )
    return TransitionPairs(states[:-1], states[1:], finite(read[1:], "controls"))


def read_pairs(transitions: Any, states: Objects, *, structured: bool) -> TransitionPairs:
    """Read transition pairs ``(before, after)`` or ``(before, after, controls)``."""
    if not isinstance(transitions, tuple | list) or len(transitions) not in (2, 3):
        raise TypeError("transitions must be a tuple (before, after) or (before, after, controls).")
    before, after = (
        finite(as_objects(part, f"transitions[{k}]", structured=structured), f"transitions[{k}]")
        for k, part in enumerate(transitions[:2])
    )
    controls = None if len(transitions) == 2 else finite(as_objects(transitions[2], "transitions[2]"), "transitions[2]")
    sizes = [len(before), len(after), len(before) if controls is None else len(controls)]
    if len(set(sizes)) > 1 or sizes[0] < 1:
        raise ValueError(f"transitions hold {sizes} states before, states after and controls; they must match.")
    for part in (before, after):
        if is_numeric(states) and np.shape(part)[1:] != states.shape[1:]:
            raise ValueError(f"the transitions' states are {describe(part)}, the example states {describe(states)}.")
    return TransitionPairs(before, after, controls)


def finite(objects: Objects, name: str) -> Objects:
    """Return objects as they are; an error if they are numbers and not all finite."""
    if is_numeric(objects) and not np.isfinite(objects).all():
        raise ValueError(f"{name} contain NaN or infinity.")
    return objects
