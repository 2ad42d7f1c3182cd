"""Default regularisers; ``kernels/defaults.py`` says where they come from."""

EPSILON = 1e-3
EPSILON_COUNTS = 1e-2
"""For vectors of counts: along a recorded track (spikes of 31 neurons) filters with ten times the usual ε were lost
less often, with either rule and whichever kernel, and in simulations of place cells they did as well."""
DELTA_PLAIN = {"kbr": 9e-6, "importance": 1e-3}
DELTA_OTHER = {"kbr": 1e-4, "importance": 1e-2}
PARTICLE_DELTA = 1e-2


def default_epsilon(mean_diagonal: float, *, counts: bool = False) -> float:
    """ε in units of the state kernel's mean diagonal, so that rescaling the kernel changes nothing.

    Parameters
    ----------
    mean_diagonal : float
        Of the state kernel.
    counts : bool
        Whether observations are vectors of counts.
    """
    return (EPSILON_COUNTS if counts else EPSILON) * (mean_diagonal or 1.0)


def default_delta(rule: str, *, plain: bool, mean_diagonal: float) -> float:
    """δ for the default observation kernel (``plain``) or any other, in units of the kernel's mean diagonal.

    The regularised operator is C² for "kbr" and C for "importance", hence the square.
    """
    delta = DELTA_PLAIN[rule] if plain else DELTA_OTHER[rule]
    return delta * (mean_diagonal or 1.0) ** (2 if rule == "kbr" else 1)
