"""Bayes' rules fitted to examples: a prior sample and an observation give posterior weights on the example states."""

from kmcf.bayes_rule.base import BayesRule, Correction
from kmcf.bayes_rule.exact import ExactRule
from kmcf.bayes_rule.literal import LiteralRule

__all__ = ["BayesRule", "Correction", "ExactRule", "LiteralRule"]
