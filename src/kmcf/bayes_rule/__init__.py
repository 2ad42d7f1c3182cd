"""Bayes' rules fitted to examples: a prior sample and an observation give posterior weights on the example states."""

from kmcf.bayes_rule.base import BayesRule, DensePosterior, Posterior
from kmcf.bayes_rule.choice import fit_rule
from kmcf.bayes_rule.compressed import CompressedPosterior, CompressedRule
from kmcf.bayes_rule.exact import ExactRule
from kmcf.bayes_rule.literal import LiteralRule
from kmcf.bayes_rule.lowrank import LowRankRule

__all__ = [
    "BayesRule",
    "CompressedPosterior",
    "CompressedRule",
    "DensePosterior",
    "ExactRule",
    "LiteralRule",
    "LowRankRule",
    "Posterior",
    "fit_rule",
]
