"""More particles and more recorded moves than the paper gives its rivals; it says that these did not gain from them."""

from __future__ import annotations

from typing import Any

from kmcf.filter import SequentialFilter
from kmcf_lab.synthetic.data import TRANSITIONS, SimulatedData
from kmcf_lab.synthetic.methods import METHODS, PARTICLES

TIMES = 4
"""How many times as many."""
GIVEN = {"kNN-PF": f"{PARTICLES} particles", "GP-PF": f"{PARTICLES} particles", "KBR": f"{TRANSITIONS} moves"}
"""The methods for which the paper says so, and what it gives them."""


def enlarged(name: str, tuned: SequentialFilter, data: SimulatedData, times: int) -> SequentialFilter:
    """Fit a method anew, with the settings of a tuned filter, but given so many times as much.

    Parameters
    ----------
    name : str
        One of ``GIVEN``.
    tuned : SequentialFilter
        The method as in the paper.
    data : SimulatedData
        The same data set, with so many times as many moves.
    times : int
        How many times as many particles or moves.
    """
    more = {"n_particles": PARTICLES} if GIVEN[name].endswith("particles") else {"n_transitions": TRANSITIONS}
    settings: dict[str, Any] = tuned.get_params(deep=False) | {what: times * count for what, count in more.items()}
    flt: SequentialFilter = METHODS[name].make(data).set_params(**settings)
    return flt.fit(data.train.states, data.train.observations)
