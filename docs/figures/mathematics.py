"""Draw the pictures of docs/mathematics.md.

python docs/figures/mathematics.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("agg")
import matplotlib.pyplot as plt
import numpy as np

import kmcf
from kmcf.kernels import Gaussian

IMAGES = Path(__file__).parent.parent / "images" / "mathematics"
NOISE, SEEN = 0.3, 0.9


def bumps(x: np.ndarray) -> np.ndarray:
    """Return what the sensor shows without noise: the same at several places."""
    return np.sin(2.0 * x) + 0.3 * x


def kernel_bayes() -> None:
    """Draw examples, prior and the weights that Kernel Bayes' Rule gives them, beside the true posterior."""
    rng = np.random.default_rng(0)
    states = rng.uniform(-3.0, 3.0, size=(300, 1))
    observations = bumps(states) + NOISE * rng.normal(size=states.shape)
    flt = kmcf.KernelMonteCarloFilter(
        kmcf.transitions.GaussianRandomWalk(0.1),
        initial=lambda size, rng: rng.normal(0.0, 1.0, size=(size, 1)),
        observation_kernel=Gaussian(),
        engine="exact",
        n_particles=1000,
        random_state=0,
    ).fit(states, observations)
    belief = flt.step(flt.start(), [SEEN])
    line = np.linspace(-3.0, 3.0, 400)
    prior = np.exp(-(line**2) / 2.0)
    posterior = prior * np.exp(-((bumps(line) - SEEN) ** 2) / (2.0 * NOISE**2))
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.2), layout="constrained")
    left.scatter(states, observations, s=6, color="0.6", label="examples $(X_i, Y_i)$")
    left.fill_between(line, -2.6, -2.6 + 0.9 * prior, color="tab:orange", alpha=0.4, label="prior")
    left.axhline(SEEN, color="tab:blue", lw=1.2, label="observed $y$")
    left.set(xlabel="x", ylabel="y", title="what is known")
    left.legend(fontsize=7, loc="upper left")
    right.vlines(
        belief.states[:, 0], 0.0, belief.weights, color="tab:blue", lw=1.0, label="weights $w_i$ of the examples"
    )
    scaled = posterior / posterior.max() * belief.weights.max()
    right.plot(line, scaled, color="black", lw=1.2, label="true posterior density, scaled")
    right.axhline(0.0, color="0.7", lw=0.8)
    right.set(xlabel="x", title="what follows")
    right.legend(fontsize=7)
    figure.savefig(IMAGES / "kernel-bayes.png", dpi=80)
    print("posterior mean:", belief.mean(), "true:", line @ posterior / posterior.sum())
    plt.close(figure)


def ranks() -> None:
    """Draw how fast the eigenvalues of kernel matrices fall, and where the regulariser drowns them."""
    rng = np.random.default_rng(0)
    figure, axes = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
    for dimension, colour in ((1, "tab:blue"), (2, "tab:orange"), (10, "tab:green")):
        for n, style in ((300, ":"), (1000, "-")):
            points = rng.normal(size=(n, dimension))
            kernel = Gaussian().fit(points)
            values = np.linalg.eigvalsh(kernel(points, points))[::-1] / n
            axes.plot(np.arange(1, n + 1), np.maximum(values, 1e-18), style, color=colour, lw=1.3,
                      label=f"d = {dimension}, n = {n}")  # fmt: skip
    axes.axhline(1e-3, color="black", lw=0.8)
    axes.text(150, 1.5e-3, "ε = 0.001", fontsize=8)
    axes.set(
        xscale="log", yscale="log", ylim=(1e-17, 2), xlabel="number of the eigenvalue", ylabel="eigenvalue of $G_X / n$"
    )
    axes.legend(fontsize=7)
    figure.savefig(IMAGES / "ranks.png", dpi=80)
    plt.close(figure)


if __name__ == "__main__":
    kernel_bayes()
    ranks()
