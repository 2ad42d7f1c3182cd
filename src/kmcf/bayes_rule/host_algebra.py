"""NumPy's side of the seam that :mod:`kmcf.bayes_rule.core` is written against."""

from kmcf.herding.herding import herd
from kmcf.numerics.linalg import solve_factorised, solve_lower, solve_regularised_square, solve_shifted, weighted_gram


class _HostAlgebra:
    """LAPACK through SciPy, and the greedy loop compiled by Numba where it is installed."""

    solve_lower = staticmethod(solve_lower)
    solve_factorised = staticmethod(solve_factorised)
    solve_regularised_square = staticmethod(solve_regularised_square)
    solve_shifted = staticmethod(solve_shifted)
    weighted_gram = staticmethod(weighted_gram)
    herd = staticmethod(herd)


HostAlgebra = _HostAlgebra()
