"""What a filter learns in use, without states: its transition's parameters, and how its sensor has changed."""

from kmcf.adaptation.adapting import Adaptation, adapt
from kmcf.adaptation.affine import Affine
from kmcf.adaptation.change import ChangeVerdict, sensor_changed
from kmcf.adaptation.transition_learning import learn_transition
from kmcf.adaptation.transition_result import TransitionFit

__all__ = ["Adaptation", "Affine", "ChangeVerdict", "TransitionFit", "adapt", "learn_transition", "sensor_changed"]
