"""Two sensors, recorded on two days.

WiFi was recorded on Monday at some places, a camera on Tuesday at others. One filter learns from both; later WiFi
speaks at every step and the camera only at every fifth.

Data: simulated: seven signal strengths that vary slowly over a hall, and a camera that knows the place to 0.4 m.
"""

import os

import matplotlib.pyplot as plt
import numpy as np

import kmcf

QUICK = bool(os.environ.get("KMCF_QUICK"))
rng = np.random.default_rng(0)
waves = np.random.default_rng(5).normal(size=(2, 7)) * 0.4


def hear(places):
    """Return seven strengths."""
    return np.cos(places @ waves) + 0.5 * rng.normal(size=(len(places), 7))


def look(places):
    """Return where the camera believes to be."""
    return places + 0.4 * rng.normal(size=places.shape)


size = 100 if QUICK else 300
monday, tuesday = rng.uniform(0, 10, size=(size, 2)), rng.uniform(0, 10, size=(size, 2))
turns = np.linspace(0, 2 * np.pi, 30 if QUICK else 80)
truth = np.column_stack([5 + 4 * np.sin(turns), 5 + 4 * np.sin(2 * turns)])
heard, seen = hear(truth), look(truth)
seen[np.arange(len(truth)) % 5 != 0] = np.nan  # the camera is silent at four steps of five

walk = kmcf.transitions.GaussianRandomWalk(0.5)
kernel = kmcf.kernels.Gaussian()
both = kmcf.KernelMonteCarloFilter(walk, observation_kernel=kernel, random_state=0)
both.fit({"wifi": (monday, hear(monday)), "camera": (tuesday, look(tuesday))})
runs = {"both": both.filter({"wifi": heard, "camera": seen})}
for name, (places, observe, observed) in {"wifi": (monday, hear, heard), "camera": (tuesday, look, seen)}.items():
    alone = kmcf.KernelMonteCarloFilter(walk, observation_kernel=kernel, random_state=0)
    runs[name] = alone.fit(places, observe(places)).filter(observed)
errors = {name: np.linalg.norm(run.mean - truth, axis=1).mean() for name, run in runs.items()}
print("mean errors:", ", ".join(f"{name} {error:.2f} m" for name, error in errors.items()))

figure, axes = plt.subplots(1, 3, figsize=(10, 3.7), sharex=True, sharey=True, layout="constrained")
for one, name in zip(axes, ("wifi", "camera", "both"), strict=True):
    one.plot(*truth.T, "k-", linewidth=1, label="true path")
    one.plot(*runs[name].mean.T, "C0.-", linewidth=1, label="filter")
    one.set(title=f"{name}: mean error {errors[name]:.2f} m", xlabel="x (m)", aspect="equal")
axes[0].set_ylabel("y (m)")
axes[0].legend(fontsize=8)
figure.savefig("two_sensors.png", dpi=80)
