"""The Kernel Bayes' Rule filter with moves of its own, wherever it is fitted."""

from __future__ import annotations

from typing import Any

from kmcf.baselines import KernelBayesFilter


def knowing_moves(moves: tuple[Any, ...]) -> type[KernelBayesFilter]:
    """Return a class of Kernel Bayes' Rule filters that learn the transition from given moves, also while tuned.

    Parameters
    ----------
    moves : tuple
        States before and after a move, and perhaps its control.
    """

    class WithMoves(KernelBayesFilter):
        def fit(self, states: Any, observations: Any = None, controls: Any = None, transitions: Any = None) -> Any:
            """Learn the observation model from the examples and the transition from the moves."""
            return super().fit(states, observations, transitions=moves)

    return WithMoves
