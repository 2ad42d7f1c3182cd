"""Several ways to move, each with its probability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kmcf.numerics.arrays import Array, BoolArray, FloatArray, array_namespace
from kmcf.numerics.random_numbers import Randomness, split, uniform
from kmcf.transitions.base import Transition
from kmcf.transitions.elapsed import moved, takes_elapsed
from kmcf.transitions.jump import Jump
from kmcf.transitions.pairs import Pairs
from kmcf.transitions.states import states_of

_ROUNDS = 30
_FEWEST = 5


class Mixture(Transition):
    r"""A mixture: each state independently moves by transition i with probability π_i.

    :meth:`fit` learns the probabilities and the parts' parameters by an EM algorithm: probabilities from the
    responsibilities, parameters from the moves that a part explains best (a part that explains fewer than five keeps
    its own). Parts that do not depend on the previous state (:class:`Jump`) are fitted once, to all moves.

    The probabilities are those of a move that takes a time ``step``. A jump may come at any moment, so over a time Δ
    there is none with probability :math:`(1 - \pi_{jump})^{\Delta / step}`; the other parts share this as they are.

    Parameters
    ----------
    transitions : sequence of transitions
        The parts. Any callable ``(states, control, rng) -> states`` works for drawing.
    probabilities : sequence of float
        π, adding up to 1.
    step : float, optional
        Time to which the probabilities refer. None: the usual step of the first part that has one, otherwise 1; learnt
        from recordings with times, as the median interval.

    Examples
    --------
    >>> from kmcf.transitions import GaussianRandomWalk
    >>> motion = Mixture([GaussianRandomWalk(0.1), Jump([[0.0], [50.0]])], [0.9, 0.1])
    >>> float(np.mean(motion(np.full((1000, 1), 20.0), None, np.random.default_rng(0)) > 40).round(2))
    0.05
    """

    name = "mixture"

    def __init__(
        self, transitions: Sequence[Any], probabilities: Sequence[float] | FloatArray, step: float | None = None
    ) -> None:
        self.transitions = transitions
        self.probabilities = probabilities
        self.step = step

    @property
    def takes_elapsed(self) -> bool:
        """Whether all parts can be told the time that passed."""
        return all(takes_elapsed(part) for part in self._parts())

    def __call__(self, states: Array, control: Any, rng: Randomness, elapsed: Any = None) -> Array:
        """Move every state in every way, and choose one of the results for each."""
        xp = array_namespace(states, rng)
        states = xp.asarray(states)
        shares = self._shares(elapsed)
        choice, *sources = split(rng, 1 + len(shares))
        part = xp.searchsorted(xp.asarray(xp.cumsum(shares)[:-1]), uniform(choice, states.shape[:1]), side="right")
        results = [
            moved(move, states, control, source, elapsed) for move, source in zip(self._parts(), sources, strict=True)
        ]
        return xp.stack(results)[part, xp.arange(states.shape[0])]

    def log_density(self, next: Any, previous: Any, control: Any = None, elapsed: Any = None) -> FloatArray:
        """Return the log of the parts' densities, weighted with their probabilities."""
        return np.asarray(np.logaddexp.reduce(self._weighted(next, previous, control, elapsed), axis=0))

    def _weighted(self, next: Any, previous: Any, control: Any, elapsed: Any) -> FloatArray:
        with np.errstate(divide="ignore"):
            logs = np.log(self._shares(elapsed))
        densities = [moved(part.log_density, next, previous, control, elapsed) for part in self._parts()]
        return np.stack(densities) + (logs if logs.ndim == 2 else logs[:, None])

    def _learn(self, pairs: Pairs, trim: float) -> dict[str, Any]:
        step = self._learnt_step(pairs).get("step", self.step)
        current = Mixture([_started(part, pairs, trim) for part in self._parts()], self._shares(), step)
        owners = np.full(len(pairs.previous), -1)
        for _ in range(_ROUNDS):
            weighted = current._weighted(*_arguments(pairs))
            best = np.argmax(weighted, axis=0)
            shares = np.exp(weighted - np.logaddexp.reduce(weighted, axis=0)).mean(axis=1)
            shares = current._per_step(shares / shares.sum(), pairs.elapsed)
            settled = np.array_equal(best, owners) and np.allclose(shares, current.probabilities, atol=1e-6)
            owners = best
            parts = [_refitted(part, pairs.chosen(best == i), trim) for i, part in enumerate(current.transitions)]
            current = Mixture(parts, shares, current.step)
            if settled:
                break
        return {"transitions": current.transitions, "probabilities": np.asarray(current.probabilities)}

    def _parts(self) -> list[Any]:
        return list(self._value("transitions"))

    def _usual_step(self) -> float:
        if self._value("step") is not None:
            return super()._usual_step()
        return next((part._usual_step() for part in self._parts() if hasattr(part, "step")), 1.0)

    def _jumping(self) -> BoolArray:
        return np.array([bool(getattr(part, "memoryless", False)) for part in self._parts()])

    def _shares(self, elapsed: Any = None) -> Array:
        """Return the probabilities of the parts, (k,), or (k, m) for m times."""
        shares, jumping = self._given_shares(), self._jumping()
        often = shares[jumping].sum()
        if elapsed is None or not 0 < often < 1:
            return shares if elapsed is None or not np.ndim(elapsed) else np.tile(shares[:, None], len(elapsed))
        xp = array_namespace(elapsed)
        stays = (1.0 - often) ** (xp.asarray(elapsed) / self._usual_step())
        jumps = 1.0 - stays
        return xp.stack(
            [
                share * (jumps / often if jump else stays / (1.0 - often))
                for share, jump in zip(shares, jumping, strict=True)
            ]
        )

    def _per_step(self, shares: FloatArray, elapsed: FloatArray | None) -> FloatArray:
        """Return the probabilities per step that lead to these shares of moves that took these times."""
        jumping = self._jumping()
        often = float(shares[jumping].sum())
        if elapsed is None or not 0 < often < 1:
            return shares
        steps = elapsed / self._usual_step()
        from scipy.optimize import brentq

        stays = brentq(lambda log: float(np.mean(np.exp(log * steps))) - (1.0 - often), -700.0 / steps.min(), 0.0)
        found = -np.expm1(stays)
        return np.where(jumping, shares * found / often, shares * (1.0 - found) / (1.0 - often))

    def _given_shares(self) -> FloatArray:
        shares = self._noise("probabilities")
        if shares.shape != (len(self._parts()),) or not np.isclose(shares.sum(), 1.0):
            raise ValueError(
                f"Mixture has {len(self._parts())} transitions and probabilities = {shares}; there must be "
                "one probability per transition, and they must add up to 1."
            )
        return shares


def with_recovery(transition: Any, states: Any, probability: float = 0.01, scale: Any = None) -> Mixture:
    """Return a transition that now and then jumps to one of the given states, so that a lost filter recovers.

    Parameters
    ----------
    transition : callable
        How states usually move.
    states : array (n, d)
        Where jumps lead, for instance the example states.
    probability : float
        Probability of a jump, per state and usual step of the transition.
    scale : float or array, optional
        Standard deviation of noise added to the place of arrival.

    Examples
    --------
    >>> from kmcf.transitions import GaussianRandomWalk
    >>> with_recovery(GaussianRandomWalk(0.1), np.zeros((100, 2)), probability=0.02).probabilities
    [0.98, 0.02]
    """
    if not 0 <= probability <= 1:
        raise ValueError(f"probability = {probability!r}; it must be between 0 and 1.")
    return Mixture([transition, Jump(states_of(states, "states"), scale)], [1.0 - probability, probability])


def _arguments(pairs: Pairs) -> tuple[FloatArray, FloatArray, FloatArray | None, FloatArray | None]:
    return pairs.next, pairs.previous, pairs.controls, pairs.elapsed


def _started(part: Any, pairs: Pairs, trim: float) -> Any:
    """Return a copy of a part to start from; memoryless parts are fitted here, once and for all."""
    if not isinstance(part, Transition):
        raise TypeError(f"{part!r} cannot be learnt; only the classes of kmcf.transitions can.")
    copied = part.__sklearn_clone__()
    return copied._learnt_from(pairs, trim) if copied.memoryless else copied


def _refitted(part: Transition, pairs: Pairs, trim: float) -> Transition:
    if part.memoryless or len(pairs.previous) < _FEWEST:
        return part
    return part.__sklearn_clone__()._learnt_from(pairs, trim)
