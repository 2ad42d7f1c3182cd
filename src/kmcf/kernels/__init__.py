"""Kernels: the similarity of two states or two observations."""

from kmcf.kernels.adapters import FromCallable, FromSklearn, Precomputed, as_kernel
from kmcf.kernels.base import ExampleKernel, Kernel
from kmcf.kernels.circular import Circular
from kmcf.kernels.composition import AsinhScaled, Columns, Product, Scaled, Sum
from kmcf.kernels.elementary import Constant, Linear
from kmcf.kernels.learned import Learned
from kmcf.kernels.stationary import Gaussian, Laplace, Matern

__all__ = [
    "AsinhScaled",
    "Circular",
    "Columns",
    "Constant",
    "ExampleKernel",
    "FromCallable",
    "FromSklearn",
    "Gaussian",
    "Kernel",
    "Laplace",
    "Learned",
    "Linear",
    "Matern",
    "Precomputed",
    "Product",
    "Scaled",
    "Sum",
    "as_kernel",
]
