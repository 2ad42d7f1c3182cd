"""A kernel on observations learnt from the examples."""

from kmcf.kernels.learned.kernel import Learned

__all__ = ["Learned"]
