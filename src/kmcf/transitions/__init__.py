"""Ready-made motion models, ``(states, control, rng) -> states``, whose noise can be learnt from recordings."""

from kmcf.numerics.poses import chained, moved, odometry_controls, relative_motion
from kmcf.transitions.base import Transition
from kmcf.transitions.constant_velocity import ConstantVelocity, with_velocities
from kmcf.transitions.jump import Jump
from kmcf.transitions.linear_gaussian import LinearGaussian, lagged
from kmcf.transitions.mixture import Mixture, with_recovery
from kmcf.transitions.odometry import OdometryMotion
from kmcf.transitions.random_walk import GaussianRandomWalk
from kmcf.transitions.recorded_moves import RecordedMoves
from kmcf.transitions.registry import CLASSES, from_dict, named
from kmcf.transitions.velocity import VelocityMotion

__all__ = [
    "CLASSES",
    "ConstantVelocity",
    "GaussianRandomWalk",
    "Jump",
    "LinearGaussian",
    "Mixture",
    "OdometryMotion",
    "RecordedMoves",
    "Transition",
    "VelocityMotion",
    "chained",
    "from_dict",
    "lagged",
    "moved",
    "named",
    "odometry_controls",
    "relative_motion",
    "with_recovery",
    "with_velocities",
]
