"""Transitions by name, so that a file can say which one it means without holding code."""

from __future__ import annotations

from typing import Any

from kmcf.support.named import made_by_name
from kmcf.transitions.base import Transition
from kmcf.transitions.constant_velocity import ConstantVelocity
from kmcf.transitions.jump import Jump
from kmcf.transitions.linear_gaussian import LinearGaussian
from kmcf.transitions.mixture import Mixture
from kmcf.transitions.odometry import OdometryMotion
from kmcf.transitions.random_walk import GaussianRandomWalk
from kmcf.transitions.recorded_moves import RecordedMoves
from kmcf.transitions.velocity import VelocityMotion

CLASSES: dict[str, type[Transition]] = {
    kind.name: kind
    for kind in (
        GaussianRandomWalk,
        ConstantVelocity,
        LinearGaussian,
        OdometryMotion,
        VelocityMotion,
        RecordedMoves,
        Jump,
        Mixture,
    )
}
"""All ready-made transitions by name."""


def named(name: str, **parameters: Any) -> Transition:
    """Return a transition by its name.

    Parameters
    ----------
    name : str
        One of the keys of ``CLASSES``.
    **parameters
        What its class takes.

    Examples
    --------
    >>> named("random-walk", scale=0.5)
    GaussianRandomWalk(angles=(), scale=0.5, step=None)
    """
    return made_by_name("transition", CLASSES, name, parameters)


def from_dict(data: dict[str, Any]) -> Transition:
    """Return the transition that :meth:`Transition.to_dict` described. Only plain values are read from the data.

    Parameters
    ----------
    data : dict
        The name and the parameters.

    Examples
    --------
    >>> from_dict({"name": "odometry", "alpha1": 0.2}).alpha1
    0.2
    """
    if not isinstance(data, dict) or "name" not in data:
        raise ValueError(f"{data!r} does not describe a transition: it has no name.")
    return named(data["name"], **{key: _restored(value) for key, value in data.items() if key != "name"})


def _restored(value: Any) -> Any:
    if isinstance(value, dict):
        return from_dict(value)
    return [_restored(item) for item in value] if isinstance(value, list) else value
