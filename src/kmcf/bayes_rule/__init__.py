"""Bayes' rules fitted to examples: a prior sample and an observation give a posterior."""

from kmcf.bayes_rule.base import BayesRule, DensePosterior, ExampleRule, Examples, Posterior, Prior, Sample
from kmcf.bayes_rule.both import EitherRule
from kmcf.bayes_rule.choice import fit_particle_rule, fit_rule
from kmcf.bayes_rule.compressed import CompressedPosterior, CompressedRule
from kmcf.bayes_rule.exact import ExactRule
from kmcf.bayes_rule.fitted import FittedRule, ParticleSettings, RuleSettings
from kmcf.bayes_rule.literal import LiteralRule
from kmcf.bayes_rule.literal_lowrank import LiteralLowRankRule
from kmcf.bayes_rule.local import LocalPosterior, LocalRule
from kmcf.bayes_rule.lowrank import LowRankRule
from kmcf.bayes_rule.particles import ParticleRule

__all__ = [
    "BayesRule",
    "CompressedPosterior",
    "CompressedRule",
    "DensePosterior",
    "EitherRule",
    "ExactRule",
    "ExampleRule",
    "Examples",
    "FittedRule",
    "LiteralLowRankRule",
    "LiteralRule",
    "LocalPosterior",
    "LocalRule",
    "LowRankRule",
    "ParticleRule",
    "ParticleSettings",
    "Posterior",
    "Prior",
    "RuleSettings",
    "Sample",
    "fit_particle_rule",
    "fit_rule",
]
