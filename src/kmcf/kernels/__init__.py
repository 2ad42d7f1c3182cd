"""Kernels: the similarity of two states or two observations."""

from kmcf.kernels.circular import Circular
from kmcf.kernels.columns import AsinhScaled, Columns
from kmcf.kernels.elementary import Constant, Linear, Same
from kmcf.kernels.examples import ExampleKernel
from kmcf.kernels.foreign import FromCallable, FromSklearn, as_kernel
from kmcf.kernels.histograms import ChiSquared, Hellinger, HistogramIntersection
from kmcf.kernels.kernel import Kernel, Product, Scaled, Sum
from kmcf.kernels.landmarks import LandmarkSet
from kmcf.kernels.learned import Counts, Learned
from kmcf.kernels.placed_landmarks import PlacedLandmarks
from kmcf.kernels.placed_scans import PlacedScan
from kmcf.kernels.pose import Pose
from kmcf.kernels.precomputed import Precomputed
from kmcf.kernels.registry import NAMED, named
from kmcf.kernels.scans import LaserScan
from kmcf.kernels.sequences import Spectrum
from kmcf.kernels.signals import SignalStrength
from kmcf.kernels.spatial_pyramid import SpatialPyramid
from kmcf.kernels.stationary import Gaussian, Laplace, Matern

__all__ = [
    "NAMED",
    "AsinhScaled",
    "ChiSquared",
    "Circular",
    "Columns",
    "Constant",
    "Counts",
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
    "PlacedLandmarks",
    "PlacedScan",
    "Pose",
    "Precomputed",
    "Product",
    "Same",
    "Scaled",
    "SignalStrength",
    "SpatialPyramid",
    "Spectrum",
    "Sum",
    "as_kernel",
    "named",
]
