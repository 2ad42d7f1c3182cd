"""A weighted sample as an element of the RKHS, and everything that can be read off it."""

from kmcf.embedding.embedding import Embedding
from kmcf.embedding.kernel_mean import KernelMean

__all__ = ["Embedding", "KernelMean"]
