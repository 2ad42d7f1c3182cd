"""Fast predictions of Gaussian processes against scikit-learn's."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

from kmcf.baselines.gp_prediction import FastPrediction


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize(
    "kernel",
    [
        ConstantKernel(2.0) * RBF(0.7) + WhiteKernel(0.1),
        Matern(1.0, nu=1.5) + WhiteKernel(0.3),
        ConstantKernel(5.0) * RBF(2.0) + WhiteKernel(1e-3),
    ],
)
@pytest.mark.parametrize(("tolerance", "in_sd"), [(1e-8, 1e-3), (1e-12, 1e-4)])
def test_fast_predictions_are_scikit_learns(columns, kernel, tolerance, in_sd):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, columns))
    y = 30.0 + 5.0 * np.sin(2 * X[:, 0]) + rng.normal(size=120)
    points = 2.0 * rng.normal(size=(300, columns))
    theirs = GaussianProcessRegressor(kernel, alpha=1e-10, normalize_y=True, optimizer=None).fit(X, y)
    means, variances = FastPrediction(theirs, X, y, jitter=1e-10, tolerance=tolerance)(points)
    expected, sd = theirs.predict(points, return_std=True)
    np.testing.assert_array_less(np.abs(means - expected), in_sd * sd)
    np.testing.assert_allclose(variances, sd**2, rtol=in_sd)
