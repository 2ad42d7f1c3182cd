"""Kernels: the similarity of two states or two observations."""

from kmcf.kernels.adapters import FromCallable, FromSklearn, Precomputed, as_kernel
from kmcf.kernels.base import ExampleKernel, Kernel
from kmcf.kernels.circular import Circular
from kmcf.kernels.composition import AsinhScaled, Columns, Product, Scaled, Sum
from kmcf.kernels.elementary import Constant, Linear
from kmcf.kernels.histograms import ChiSquared, Hellinger, HistogramIntersection
from kmcf.kernels.landmarks import LandmarkSet
from kmcf.kernels.learned import Learned
from kmcf.kernels.pose import Pose
from kmcf.kernels.registry import NAMED, named
from kmcf.kernels.scans import LaserScan
from kmcf.kernels.sequences import Spectrum
from kmcf.kernels.spatial_pyramid import SpatialPyramid
from kmcf.kernels.stationary import Gaussian, Laplace, Matern

__all__ = [
    "NAMED",
    "AsinhScaled",
    "ChiSquared",
    "Circular",
    "Columns",
    "Constant",
    "ExampleKernel",
    "FromCallable",
    "FromSklearn",
    "Gaussian",
    "Hellinger",
    "HistogramIntersection",
    "Kernel",
    "LandmarkSet",
    "Laplace",
    "LaserScan",
    "Learned",
    "Linear",
    "Matern",
    "Pose",
    "Precomputed",
    "Product",
    "Scaled",
    "SpatialPyramid",
    "Spectrum",
    "Sum",
    "as_kernel",
    "named",
]
