"""From regularisers found on folds to regularisers for all examples.

Algorithm 1 depends on the examples through their empirical distribution alone: doubling every example leaves all
posteriors as they are at the same ε and δ, because the matrices contain nε and a Λ whose trace does not grow. So ε and
δ need no change of *scale*. What changes with n is the noise that they must suppress. The rates of Fukumizu, Song and
Gretton (2013) balance it against the bias: an error ε + n^(−1/2) ε^(−1/2) of the prior step is least for ε ∝ n^(−1/3)
and is then η ∝ n^(−1/3); an error δ + η δ^(−5/4) of the correction is least for δ ∝ η^(4/9) ∝ n^(−4/27).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EPSILON_EXPONENT = -1.0 / 3.0
DELTA_EXPONENT = {"kbr": -4.0 / 27.0, "importance": -2.0 / 27.0}
"""The importance-weighted rule regularises C where "kbr" regularises C²: its δ plays the role of √δ."""


def size_exponents(rule: str = "kbr") -> dict[str, float]:
    """Return the power of the number of examples with which the best value of each parameter grows.

    Parameters
    ----------
    rule : {"kbr", "importance"}
        Which Bayes' rule.
    """
    return {"epsilon": EPSILON_EXPONENT, "delta": DELTA_EXPONENT.get(rule, DELTA_EXPONENT["kbr"])}


def transferred(settings: Mapping[str, Any], fold_size: float, size: int, rule: str = "kbr") -> dict[str, Any]:
    """Return settings found on folds of one size as they should be for all examples.

    Parameters
    ----------
    settings : mapping
        Names and values.
    fold_size : float
        How many examples the filters were trained on.
    size : int
        How many there are in all.
    rule : str
        Which Bayes' rule.

    Examples
    --------
    >>> transferred({"epsilon": 1e-3, "n_resample": 100}, fold_size=100, size=800)
    {'epsilon': 0.0005, 'n_resample': 100}
    """
    exponents = size_exponents(rule)
    growth = size / fold_size
    return {name: value * growth ** exponents[name] if name in exponents else value for name, value in settings.items()}
