"""Kernels on observations learnt from the examples."""

from kmcf.kernels.learned.counts import Counts
from kmcf.kernels.learned.kernel import Learned

__all__ = ["Counts", "Learned"]
