"""What a filter learns in use, without states: its transition's parameters, and how its sensor has changed."""

from kmcf.adaptation.transition_learning import learn_transition
from kmcf.adaptation.transition_result import TransitionFit

__all__ = ["TransitionFit", "learn_transition"]
