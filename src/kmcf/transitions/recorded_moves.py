"""States that move as recorded ones did nearby."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from kmcf.numerics.arrays import Array, FloatArray, array_namespace
from kmcf.numerics.circles import wrapped_columns
from kmcf.numerics.random_numbers import Randomness, normal, split, uniform
from kmcf.transitions.base import Transition
from kmcf.transitions.move_search import Moves, neighbours_left_out
from kmcf.transitions.pairs import Pairs
from kmcf.transitions.random_walk import log_steps
from kmcf.transitions.states import check_angle_columns, states_of

_ROUNDS = 200
_SETTLED = 1e-3
_SMALLEST = 1e-6
"""Noise is at least so many standard deviations of the moves."""


class RecordedMoves(Transition):
    r"""Moves as recorded: each state takes the move of one of the nearest recorded states, plus normal noise.

    With k neighbours :math:`x_j` among the recorded states, which then went to :math:`x_j'`, all equally likely,

    .. math:: x' = x + (x_j' - x_j) + \sigma \circ v .

    No form of motion is assumed: where recorded states turned, ran or paused, drawn ones do. The state must say where
    it is going, so give it velocities (:func:`kmcf.datasets.with_velocity_columns`) or a heading. :meth:`fit` keeps the
    recorded moves and learns σ, under which moves are most probable given their neighbours at other times; with
    ``trim``, σ is that of the moves that are left, not scaled up.

    Near are states at a small Euclidean distance, every column in its standard deviations, angles on the circle. Where
    the recordings have times, a time of e times as long counts as one standard deviation, so that a state moves as
    recorded ones did nearby *in about as long a time*. Over a time Δ outside the recorded ones, moves of the longest
    (or shortest), Δ₀, are stretched by Δ/Δ₀, and σ by its root. Controls are not used.

    Parameters
    ----------
    neighbours : int
        k; all moves where there are fewer.
    noise : float or array (d,), optional
        σ. None: 0 until learnt.
    angles : sequence of int
        Columns that are angles in radians; they stay in (−π, π].
    states, moves : array (n, d), optional
        Where recorded moves began, and :math:`x_j' - x_j`; learnt.
    durations : array (n,), optional
        How long they took; learnt from recordings with times. None: one ``step`` each.
    step : float, optional
        Δ where no times are given. None: 1 until learnt, then the median interval.

    Examples
    --------
    >>> turns = 100.0 * np.sin(np.arange(400) / 20.0)
    >>> there_and_back = np.stack([turns, np.gradient(turns)], axis=1)     # a position and its velocity
    >>> motion = RecordedMoves().fit(there_and_back)
    >>> motion(np.array([[0.0, 5.0], [0.0, -5.0]]), None, np.random.default_rng(0)).round()
    array([[ 5.,  5.],
           [-5., -5.]])
    """

    name = "recorded-moves"

    def __init__(
        self,
        neighbours: int = 10,
        noise: float | FloatArray | Sequence[float] | None = None,
        angles: Sequence[int] = (),
        states: Any = None,
        moves: Any = None,
        durations: Any = None,
        step: float | None = None,
    ) -> None:
        self.neighbours = neighbours
        self.noise = noise
        self.angles = angles
        self.states = states
        self.moves = moves
        self.durations = durations
        self.step = step

    def __call__(self, states: Array, control: Any, rng: Randomness, elapsed: Any = None) -> Array:
        """Choose a neighbour for each state, take its move, and add noise."""
        xp = array_namespace(states, rng)
        states = xp.asarray(states)
        if states.ndim != 2:
            raise ValueError(f"states have the shape {states.shape}; RecordedMoves moves rows of states, (m, d).")
        known, time = self._known(states.shape[1]), self._time(elapsed)
        stretched = known.stretched(time)
        choice, blur = split(rng, 2)
        nearest = known.nearest(states, time, self._count())
        column = (uniform(choice, states.shape[:1]) * nearest.shape[1]).astype(int)
        moves = xp.asarray(known.moves)[nearest[xp.arange(len(states)), column]]
        noise = self._sigma(states.shape[1]) * normal(blur, states.shape)
        return wrapped_columns(states + stretched * moves + xp.sqrt(stretched) * noise, self.angles)

    def log_density(self, next: Any, previous: Any, control: Any = None, elapsed: Any = None) -> FloatArray:
        """Return the log of the mean of the normal densities around the moves of the neighbours."""
        before, after = states_of(previous, "previous"), states_of(next, "next")
        if before.shape != after.shape:
            raise ValueError(f"previous has the shape {before.shape} and next {after.shape}; they must be alike.")
        known, time = self._known(before.shape[1]), self._time(elapsed)
        stretched = np.broadcast_to(np.asarray(known.stretched(time), dtype=np.float64), (len(before), 1))
        scale = self._sigma(before.shape[1]) * np.sqrt(stretched)
        nearest = known.nearest(before, time, self._count())
        logs = [log_steps(after - before - stretched * known.moves[chosen], scale, self.angles) for chosen in nearest.T]
        return np.asarray(np.logaddexp.reduce(logs, axis=0) - np.log(len(logs)))

    def _learn(self, pairs: Pairs, trim: float) -> dict[str, Any]:
        if len(pairs.previous) < 2:
            raise ValueError("RecordedMoves learns from several moves, but there is one.")
        check_angle_columns(self.angles, pairs.previous.shape[1], "RecordedMoves")
        rows = np.arange(len(pairs.previous))
        noise, logs = self._learnt_noise(pairs)
        if trim:
            rows = np.sort(np.argsort(-logs, kind="stable")[: max(2, len(rows) - int(trim * len(rows)))])
            noise, _ = self._learnt_noise(pairs.chosen(np.isin(np.arange(len(pairs.previous)), rows)))
        moves = wrapped_columns(pairs.next - pairs.previous, self.angles)
        learnt = {"states": pairs.previous[rows], "moves": moves[rows]}
        if pairs.elapsed is not None:
            learnt["durations"] = pairs.elapsed[rows]
        else:
            self.__dict__.pop("durations_", None)  # of an earlier recording
        return learnt if self.noise is not None else learnt | {"noise": noise}

    def _learnt_noise(self, pairs: Pairs) -> tuple[FloatArray, FloatArray]:
        """Return σ under which moves are most probable given those of their neighbours at other times; log densities.

        An EM algorithm: a move may be that of any of its neighbours, all equally likely, plus noise.
        """
        moves = wrapped_columns(pairs.next - pairs.previous, self.angles)
        known = Moves(pairs.previous, moves, pairs.elapsed, tuple(self.angles))
        nearest = neighbours_left_out(known, self._count())
        missed = wrapped_columns((moves[:, None] - moves[nearest]).reshape(-1, moves.shape[1]), self.angles).reshape(
            *nearest.shape, -1
        )
        least = _SMALLEST * np.where(moves.std(axis=0) > 0, moves.std(axis=0), 1.0)
        sigma = np.maximum(np.sqrt(np.mean(missed**2, axis=(0, 1))), least)
        for _ in range(_ROUNDS):
            logs = -0.5 * np.sum((missed / sigma) ** 2, axis=2) - np.log(sigma).sum()
            total = np.logaddexp.reduce(logs, axis=1)
            shares = np.exp(logs - total[:, None])
            better = np.maximum(np.sqrt(np.mean(np.sum(shares[:, :, None] * missed**2, axis=1), axis=0)), least)
            settled = np.allclose(better, sigma, rtol=_SETTLED)
            sigma = better
            if settled:
                break
        return sigma, total

    def check_usable(self) -> None:
        """Raise an error if there are no recorded moves, or no number of neighbours to choose from."""
        self._count()
        self._sigma(self._prepared().states.shape[1])

    def _known(self, width: int) -> Moves:
        """Return the recorded moves, prepared for searching, for states of so many columns."""
        known = self._prepared()
        if known.states.shape[1] != width:
            raise ValueError(f"RecordedMoves knows states of {known.states.shape[1]} columns, but got {width}.")
        return known

    def _prepared(self) -> Moves:
        """Return the recorded moves, prepared for searching."""
        given = tuple(self._value(name) for name in ("states", "moves", "durations", "angles", "step"))
        if given[0] is None or given[1] is None:
            raise ValueError("RecordedMoves has no recorded moves: call fit(sequences), or give states and moves.")
        search = _SEARCHES.get(self)
        if search is None or any(one is not other for one, other in zip(search[0], given, strict=True)):
            states = states_of(given[0], "RecordedMoves's states")
            moves = states_of(given[1], "RecordedMoves's moves")
            if not (np.isfinite(states).all() and np.isfinite(moves).all()):
                raise ValueError("the states and moves of RecordedMoves must be finite; leave unknown ones out.")
            check_angle_columns(self.angles, states.shape[1], "RecordedMoves")
            search = given, Moves(states, moves, self._durations(given[2], len(states)), tuple(self.angles))
            _SEARCHES[self] = search
        known: Moves = search[1]
        return known

    def _durations(self, given: Any, count: int) -> FloatArray:
        if given is None:
            return np.full(count, self._usual_step())
        durations = np.asarray(given, dtype=np.float64)
        if durations.shape != (count,) or not (np.isfinite(durations) & (durations > 0)).all():
            raise ValueError(f"durations must be {count} positive numbers, one for each of the states.")
        return durations

    def _count(self) -> int:
        count = self.neighbours
        if not isinstance(count, int | np.integer) or isinstance(count, bool) or count < 1:
            raise ValueError(f"neighbours = {count!r}; it must be a whole number, at least 1.")
        return int(count)

    def _sigma(self, width: int) -> FloatArray:
        sigma = np.zeros(1) if self._value("noise") is None else self._noise("noise")
        if sigma.ndim > 1 or (sigma.ndim == 1 and len(sigma) not in (1, width)):
            raise ValueError(f"RecordedMoves has {sigma.size} noises, but states have {width} columns.")
        return np.broadcast_to(sigma, (width,))


_SEARCHES: WeakKeyDictionary[RecordedMoves, tuple[tuple[Any, ...], Moves]] = WeakKeyDictionary()
"""What was prepared for searching, and from what; not in the transitions themselves, since files need not have it."""
