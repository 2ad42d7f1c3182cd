"""NumPy's side of the seam that :mod:`kmcf.bayes_rule.core` is written against."""

from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.greedy import greedy_loop
from kmcf.numerics.linalg import solve_factorised, solve_lower, solve_regularised_square


class _HostAlgebra:
    """LAPACK through SciPy, and the loop compiled by Numba where it is installed."""

    solve_lower = staticmethod(solve_lower)
    solve_factorised = staticmethod(solve_factorised)
    solve_regularised_square = staticmethod(solve_regularised_square)

    @staticmethod
    def greedy(mean_values: FloatArray, gram: FloatArray, size: int) -> tuple[IntArray, FloatArray]:
        return greedy_loop()(mean_values, gram, size)


HostAlgebra = _HostAlgebra()
